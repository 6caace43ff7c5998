//! Language tags (BCP 47).

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::CowStr;
use crate::wire::IntoOwned;

/// A well-formed BCP 47 language tag in its original spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageTag<'a>(CowStr<'a>);

impl<'a> LanguageTag<'a> {
    /// The tag of an unknown language, `und`.
    pub const UNDETERMINED: LanguageTag<'static> = LanguageTag(CowStr::borrowed("und"));

    /// Parses a well-formed tag of any case; returns `None` for anything else.
    ///
    /// ```
    /// # use rutter_page::LanguageTag;
    /// assert!(LanguageTag::parse("zh-Hans-CN").is_some());
    /// assert!(LanguageTag::parse("i-klingon").is_some());
    /// assert!(LanguageTag::parse("e_n").is_none());
    /// ```
    pub fn parse(text: impl Into<CowStr<'a>>) -> Option<Self> {
        let text = text.into();
        let is_common = matches!(text.as_bytes(), [b'a'..=b'z', b'a'..=b'z']);
        (is_common || oxilangtag::LanguageTag::parse(&*text).is_ok()).then_some(Self(text))
    }

    /// Returns the tag in its original spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the tag matches the pattern of SCP's page schema: language in lower case,
    /// script in title case, region in upper case.
    pub fn is_regular(&self) -> bool {
        let mut subtags = self.0.split('-').peekable();
        let is = |class: fn(&u8) -> bool, tag: &str| tag.as_bytes().iter().all(class);
        let Some(language) = subtags.next() else { return false };
        if !matches!(language.len(), 2 | 3) || !is(u8::is_ascii_lowercase, language) {
            return false;
        }
        subtags.all(|tag| !tag.is_empty() && is(u8::is_ascii_alphanumeric, tag))
    }

    /// Returns the tag in its canonical case, such as `zh-Hans-CN`.
    pub fn canonical(&self) -> LanguageTag<'static> {
        let normal = oxilangtag::LanguageTag::parse_and_normalize(&self.0);
        let text = normal.map_or_else(|_| self.0.to_string(), oxilangtag::LanguageTag::into_inner);
        LanguageTag(CowStr::from(text))
    }
}

impl Serialize for LanguageTag<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for LanguageTag<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(CowStr::deserialize(deserializer)?)
            .ok_or_else(|| serde::de::Error::custom("not a BCP 47 language tag"))
    }
}

impl IntoOwned for LanguageTag<'_> {
    type Owned = LanguageTag<'static>;
    fn into_owned(self) -> LanguageTag<'static> {
        LanguageTag(self.0.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-038 SCP-079 D42
    fn parses_well_formed_tags_and_checks_the_schema_pattern() {
        for (text, is_well_formed, is_regular) in [
            ("en", true, true),
            ("en-US", true, true),
            ("zh-Hans", true, true),
            ("zh-Hans-CN", true, true),
            ("es-419", true, true),
            ("de-CH-1901", true, true),
            ("pt-br", true, true),
            ("EN-us", true, false),
            ("i-klingon", true, false),
            ("x-private", true, false),
            ("english", true, false),
            ("en_US", false, false),
            ("e", false, false),
            ("en-", false, false),
            ("", false, false),
            ("日本", false, false),
        ] {
            let tag = LanguageTag::parse(text);
            assert_eq!(tag.is_some(), is_well_formed, "{text}");
            assert_eq!(tag.is_some_and(|tag| tag.is_regular()), is_regular, "{text}");
        }
        let canonical = LanguageTag::parse("ZH-hans-cn").unwrap().canonical();
        assert_eq!(canonical.as_str(), "zh-Hans-CN");
    }
}
