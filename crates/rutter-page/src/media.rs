//! Video and audio blocks: `ActivityStreams` properties plus what search and
//! accessibility need (captions, chapters, transcript).

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

use crate::rules;
use crate::text::{Name, Str};
use crate::url::HttpUrl;
use crate::wire::{Fault, Field, Lost, Members, Own, Read, own_copy, wire, wire_deserialize};

wire! {
    /// A film.
    Video = "video" {
        /// Its title.
        required name: Str<'a> = "name",
        /// Where it can be had.
        required url: MediaUrl<'a> = "url",
        /// How long it runs.
        optional duration: Duration<'a> = "duration",
        /// Width in pixels.
        optional width: Pixels = "width",
        /// Height in pixels.
        optional height: Pixels = "height",
        /// A picture that stands for it.
        optional icon: Icon<'a> = "icon",
        /// What it is about.
        optional summary: Str<'a> = "summary",
        /// Subtitles.
        optional captions: Vec<Caption<'a>> = "captions",
        /// Chapter marks.
        optional chapters: Vec<Chapter<'a>> = "chapters",
        /// Everything that is said in it.
        optional transcript: Str<'a> = "transcript",
    }
}

wire! {
    /// A sound recording.
    Audio = "audio" {
        /// Its title.
        required name: Str<'a> = "name",
        /// Where it can be had.
        required url: MediaUrl<'a> = "url",
        /// How long it runs.
        optional duration: Duration<'a> = "duration",
        /// A picture that stands for it.
        optional icon: Icon<'a> = "icon",
        /// What it is about.
        optional summary: Str<'a> = "summary",
        /// Who made it; an object is read by its `name` (D43).
        optional attributed_to: Name<'a> = "attributedTo",
        /// Album or series; an object is read by its `name` (D43).
        optional part_of: Name<'a> = "partOf",
        /// Chapter marks.
        optional chapters: Vec<Chapter<'a>> = "chapters",
        /// Everything that is said in it.
        optional transcript: Str<'a> = "transcript",
    }
}

wire! {
    /// One of several addresses of a recording.
    MediaLink {
        /// The address.
        required href: HttpUrl<'a> = "href",
        /// Its media type.
        required media_type: Str<'a> = "mediaType",
        /// How it relates to the recording, such as `alternate`.
        optional rel: Str<'a> = "rel",
    }
}

wire! {
    /// A picture that stands for a recording.
    Icon {
        /// `Image`.
        optional kind: ImageKind = "type",
        /// Its address.
        optional url: HttpUrl<'a> = "url",
    }
}

wire! {
    /// A subtitle file.
    Caption {
        /// Its language.
        required language: Str<'a> = "language",
        /// Address of the `WebVTT` file.
        required url: HttpUrl<'a> = "url",
        /// What to call it.
        required label: Str<'a> = "label",
    }
}

wire! {
    /// A chapter mark.
    Chapter {
        /// Seconds from the beginning.
        required time: Seconds = "time",
        /// What begins there.
        required title: Str<'a> = "title",
    }
}

wire_deserialize!(MediaLink, Icon, Caption, Chapter);

impl<'a> Field<'a> for MediaUrl<'a> {
    fn read(raw: &'a str) -> Read<Self> {
        match serde_json::from_str(raw) {
            Ok(Self::One(url)) if !url.is_uri() => Read::Mended(Self::One(url), &rules::URL_FORM),
            Ok(value) => Read::Good(value),
            Err(error) if error.is_syntax() => Read::Broken,
            Err(_) => match Vec::<MediaLink<'a>>::read(raw) {
                Read::Mended(links, rule) => Read::Mended(Self::Many(links), rule),
                _ if is_text_or_links(raw) => Read::Bad(&rules::BLOCK_URL),
                _ => Read::Bad(&rules::BLOCK_INCOMPLETE),
            },
        }
    }

    fn take<A: MapAccess<'a>>(map: &mut A) -> Result<Self, A::Error> {
        let url = map.next_value::<Self>()?;
        // Links in a list were looked at one by one.
        let is_odd = matches!(&url, Self::One(url) if !url.is_uri());
        if is_odd { Err(de::Error::custom("not a URI")) } else { Ok(url) }
    }
}
impl<'a> Field<'a> for MediaLink<'a> {
    fn read(raw: &'a str) -> Read<Self> {
        read_object(raw, Self::from_members)
    }
}
impl<'a> Field<'a> for Icon<'a> {
    fn read(raw: &'a str) -> Read<Self> {
        read_object(raw, Self::from_members)
    }
}
impl<'a> Field<'a> for Caption<'a> {
    fn read(raw: &'a str) -> Read<Self> {
        read_object(raw, Self::from_members)
    }
}
impl<'a> Field<'a> for Chapter<'a> {}
impl Field<'_> for ImageKind {}
impl Field<'_> for Seconds {}
impl Field<'_> for Pixels {}
impl<'a> Field<'a> for Duration<'a> {}

/// Reads an object within a block: perfect, or with a URL that is no URI.
fn read_object<'a, T: Deserialize<'a>>(
    raw: &'a str,
    make: impl FnOnce(Members<'a>, &mut dyn FnMut(Fault)) -> Result<T, Lost>,
) -> Read<T> {
    match serde_json::from_str(raw) {
        Ok(value) => return Read::Good(value),
        Err(error) if error.is_syntax() => return Read::Broken,
        Err(_) => {}
    }
    let Ok(members) = crate::judge::members(raw) else {
        return Read::Bad(&rules::BLOCK_INCOMPLETE);
    };
    let mut is_otherwise_good = true;
    let made = make(members, &mut |fault| is_otherwise_good &= *fault.rule == rules::URL_FORM);
    match made {
        Ok(value) if is_otherwise_good => Read::Mended(value, &rules::URL_FORM),
        Err(Lost::Broken) => Read::Broken,
        _ => Read::Bad(&rules::BLOCK_INCOMPLETE),
    }
}

/// Tells whether only the addresses themselves can be what is wrong.
fn is_text_or_links(raw: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct AnyLink<'a> {
        #[serde(borrow)]
        href: Str<'a>,
    }
    serde_json::from_str::<Str<'_>>(raw).is_ok()
        || serde_json::from_str::<Vec<AnyLink<'_>>>(raw)
            .is_ok_and(|links| links.iter().any(|link| HttpUrl::parse(&*link.href).is_err()))
}

/// Where a recording can be had: one address, or several with their types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaUrl<'a> {
    /// One address.
    One(HttpUrl<'a>),
    /// Several, never none.
    Many(Vec<MediaLink<'a>>),
}

impl Icon<'_> {
    /// The same picture with its URL as a URI.
    pub(crate) fn with_uri(self) -> Self {
        Self { url: self.url.map(HttpUrl::into_uri), ..self }
    }
}

impl MediaUrl<'_> {
    /// The same addresses as URIs of RFC 3986, for writers.
    #[must_use]
    pub fn into_uri(self) -> Self {
        match self {
            Self::One(url) => Self::One(url.into_uri()),
            Self::Many(mut links) => {
                for link in &mut links {
                    link.href = link.href.clone().into_uri();
                }
                Self::Many(links)
            }
        }
    }

    /// The first address.
    pub fn first(&self) -> &str {
        match self {
            Self::One(url) => url.as_str(),
            Self::Many(links) => links.first().map_or("", |link| link.href.as_str()),
        }
    }
}

impl Serialize for MediaUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(url) => url.serialize(serializer),
            Self::Many(links) => links.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for MediaUrl<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UrlVisitor;
        impl<'de> Visitor<'de> for UrlVisitor {
            type Value = MediaUrl<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an address or a list of links")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                HttpUrl::parse(text).map(MediaUrl::One).map_err(E::custom)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                HttpUrl::parse(text.to_owned()).map(MediaUrl::One).map_err(E::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut links = Vec::new();
                while let Some(link) = seq.next_element()? {
                    links.push(link);
                }
                if links.is_empty() {
                    return Err(de::Error::invalid_length(0, &self));
                }
                Ok(MediaUrl::Many(links))
            }
        }
        deserializer.deserialize_any(UrlVisitor)
    }
}

impl Own for MediaUrl<'_> {
    type Owned = MediaUrl<'static>;
    fn own(self) -> MediaUrl<'static> {
        match self {
            Self::One(url) => MediaUrl::One(url.own()),
            Self::Many(links) => MediaUrl::Many(links.own()),
        }
    }
}

/// The one value an icon's `type` can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ImageKind {
    /// A picture.
    Image,
}

/// Whole seconds; a fraction is cut off when read (D44).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Seconds(pub u64);

/// A length in pixels; `1920.0` is the same as `1920`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Pixels(pub u64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor { keeps_fractions: false }).map(Self)
    }
}

impl<'de> Deserialize<'de> for Pixels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor { keeps_fractions: true }).map(Self)
    }
}

/// Reads a whole number that is not negative.
struct WholeVisitor {
    /// Whether a fraction is an error; otherwise it is cut off.
    keeps_fractions: bool,
}

impl Visitor<'_> for WholeVisitor {
    type Value = u64;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, not negative")
    }
    fn visit_u64<E>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<u64, E> {
        let has_fraction = self.keeps_fractions && number.fract() != 0.0;
        if has_fraction || !(0.0..9e15).contains(&number) {
            return Err(E::custom("not a whole number in range"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was just checked, and the fraction is meant to go"
        )]
        Ok(number as u64)
    }
}

own_copy!(Seconds, Pixels, ImageKind);

/// A running time in the form `PT1H2M3S`, at least one part present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duration<'a>(Str<'a>);

impl<'a> Duration<'a> {
    /// Accepts `PT…H…M…S` only; days have no place in the pattern (D44).
    ///
    /// ```
    /// # use rutter_page::Duration;
    /// assert!(Duration::parse("PT5M20S").is_some());
    /// assert!(Duration::parse("PT1.5S").is_some());
    /// assert!(Duration::parse("PT").is_none());
    /// assert!(Duration::parse("P1DT2H").is_none());
    /// ```
    pub fn parse(text: impl Into<Str<'a>>) -> Option<Self> {
        let text = text.into();
        let mut rest = text.strip_prefix("PT").filter(|rest| !rest.is_empty())?;
        for unit in ['H', 'M', 'S'] {
            let Some((number, after)) = rest.split_once(unit) else { continue };
            let (whole, fraction) = match number.split_once('.') {
                Some((whole, fraction)) if unit == 'S' => (whole, Some(fraction)),
                Some(_) => return None,
                None => (number, None),
            };
            let is_number = |digits: &str| {
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            };
            if !is_number(whole) || !fraction.is_none_or(is_number) {
                return None;
            }
            rest = after;
        }
        rest.is_empty().then_some(Self(text))
    }

    /// The duration as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for Duration<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Duration<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(Str::deserialize(deserializer)?)
            .ok_or_else(|| de::Error::custom("not a duration"))
    }
}

impl Own for Duration<'_> {
    type Owned = Duration<'static>;
    fn own(self) -> Duration<'static> {
        Duration(self.0.own())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-067 SCP-083
    fn spec_duration_pattern() {
        for text in ["PT1H", "PT5M20S", "PT0S", "PT1H2M3.25S", "PT90M"] {
            assert!(Duration::parse(text).is_some(), "{text}");
        }
        for text in ["", "PT", "P1D", "PT1D", "1H", "PTH", "PT1S2M", "PT1.5M", "PT1.S", "PT1H "] {
            assert!(Duration::parse(text).is_none(), "{text}");
        }
    }
}
