//! The page object of SCP 0.1, one line of a collection.

use serde_json::value::RawValue;

use crate::block::Block;
use crate::language::LanguageTag;
use crate::rules;
use crate::text::{CowStr, RawJson, RawObject};
use crate::time::Timestamp;
use crate::url::{HttpUrl, PageUrl};
use crate::wire::{FieldValue, TolerantField, read_text, wire, wire_deserialize};

wire! {
    /// One page of a site: its metadata and its content.
    Page {
        /// The URL, which identifies the page.
        required url: PageUrl<'a> = "url",
        /// The title.
        required title: CowStr<'a> = "title",
        /// A short description.
        required description: CowStr<'a> = "description",
        /// The author.
        optional author: CowStr<'a> = "author",
        /// The time of the first publication.
        optional published: Timestamp = "published",
        /// The time of the last change of the content.
        required modified: Timestamp = "modified",
        /// The language of the content.
        required language: LanguageTag<'a> = "language",
        /// The canonical URL.
        optional canonical: HttpUrl<'a> = "canonical",
        /// Schema.org data: a JSON object, kept unchanged.
        optional schema: RawObject<'a> = "schema",
        /// The content blocks, in reading order.
        required content: Vec<Block<'a>> = "content",
    }
}

wire_deserialize!(Page);

impl Page<'_> {
    /// Returns the page with every URL written as a URI of RFC 3986, for publishing.
    #[must_use]
    pub fn with_uris(self) -> Self {
        let content = self.content.into_iter().map(Block::with_uris).collect();
        let canonical = self.canonical.map(HttpUrl::into_uri);
        Self { url: self.url.into_uri(), canonical, content, ..self }
    }

    /// Writes the page as one line of JSON, without the line end.
    ///
    /// Known members are written in the order of the specification, unknown members after them.
    /// There is no white space, and only characters that must be escaped are escaped.
    pub fn to_line(&self) -> String {
        // Writing to memory cannot fail, and all keys are strings.
        serde_json::to_string(self).expect("a page is always JSON")
    }
}

impl<'a> TolerantField<'a> for Block<'a> {
    const USUAL: usize = 32;
}

impl<'a> TolerantField<'a> for PageUrl<'a> {
    fn take<A: serde::de::MapAccess<'a>>(map: &mut A) -> Result<Self, A::Error> {
        let url = map.next_value::<Self>()?;
        if url.is_uri() { Ok(url) } else { Err(serde::de::Error::custom("not a URI")) }
    }

    fn read(raw: &'a str) -> FieldValue<Self> {
        read_text(raw, |text| match Self::parse(text) {
            Ok(url) if url.is_uri() => FieldValue::Valid(url),
            Ok(url) => FieldValue::Repaired(url, &rules::URL_FORM),
            Err(_) => FieldValue::Invalid(&rules::PAGE_URL),
        })
    }
}

impl<'a> TolerantField<'a> for Timestamp {
    fn read(raw: &'a str) -> FieldValue<Self> {
        read_text(raw, |text| match Self::parse_lenient(&text) {
            Ok((time, true)) => FieldValue::Valid(time),
            Ok((time, false)) => FieldValue::Repaired(time, &rules::TIME_FORM),
            Err(_) => FieldValue::Invalid(&rules::PAGE_MODIFIED),
        })
    }
}

impl<'a> TolerantField<'a> for LanguageTag<'a> {
    fn read(raw: &'a str) -> FieldValue<Self> {
        read_text(raw, |text| {
            let hyphened = text.contains('_').then(|| text.replace('_', "-"));
            if let Some(tag) = Self::parse(text) {
                return FieldValue::Valid(tag);
            }
            match hyphened.and_then(Self::parse) {
                Some(tag) => FieldValue::Repaired(tag, &rules::LANGUAGE_UNDERSCORE),
                None => FieldValue::Repaired(Self::UNDETERMINED, &rules::LANGUAGE_MALFORMED),
            }
        })
    }
}

impl<'a> TolerantField<'a> for RawObject<'a> {
    fn read(raw: &'a str) -> FieldValue<Self> {
        let value = serde_json::from_str::<&RawValue>(raw).ok();
        match value.and_then(|value| Self::new(RawJson::from(value))) {
            Some(object) => FieldValue::Valid(object),
            None => FieldValue::Invalid(&rules::PAGE_FIELD),
        }
    }
}
