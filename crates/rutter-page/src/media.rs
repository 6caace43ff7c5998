//! Video and audio blocks: `ActivityStreams` properties plus captions, chapters and a transcript.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Serialize, Serializer};

use crate::rules;
use crate::text::{CowStr, NameField};
use crate::url::HttpUrl;
use crate::wire::{
    FieldFault, FieldValue, IntoOwned, ObjectError, ObjectMembers, TolerantField,
    impl_into_owned_copy, wire, wire_deserialize,
};

wire! {
    /// A video.
    VideoBlock = "video" {
        /// The title.
        required name: CowStr<'a> = "name",
        /// The URLs of the recording.
        required url: RecordingUrls<'a> = "url",
        /// The running time.
        optional duration: MediaDuration<'a> = "duration",
        /// The width in pixels.
        optional width: PixelLength = "width",
        /// The height in pixels.
        optional height: PixelLength = "height",
        /// A preview image.
        optional icon: Icon<'a> = "icon",
        /// A summary of the content.
        optional summary: CowStr<'a> = "summary",
        /// The subtitle files.
        optional captions: Vec<Caption<'a>> = "captions",
        /// The chapter marks.
        optional chapters: Vec<Chapter<'a>> = "chapters",
        /// The full transcript.
        optional transcript: CowStr<'a> = "transcript",
    }
}

wire! {
    /// An audio recording.
    AudioBlock = "audio" {
        /// The title.
        required name: CowStr<'a> = "name",
        /// The URLs of the recording.
        required url: RecordingUrls<'a> = "url",
        /// The running time.
        optional duration: MediaDuration<'a> = "duration",
        /// A preview image.
        optional icon: Icon<'a> = "icon",
        /// A summary of the content.
        optional summary: CowStr<'a> = "summary",
        /// The author; if it is an object, the object's `name` (D43).
        optional attributed_to: NameField<'a> = "attributedTo",
        /// The album or series; if it is an object, the object's `name` (D43).
        optional part_of: NameField<'a> = "partOf",
        /// The chapter marks.
        optional chapters: Vec<Chapter<'a>> = "chapters",
        /// The full transcript.
        optional transcript: CowStr<'a> = "transcript",
    }
}

wire! {
    /// One of several URLs of a recording.
    MediaLink {
        /// The URL.
        required href: HttpUrl<'a> = "href",
        /// The media type.
        required media_type: CowStr<'a> = "mediaType",
        /// The relation to the recording, such as `alternate`.
        optional rel: CowStr<'a> = "rel",
    }
}

wire! {
    /// The preview image of a recording.
    Icon {
        /// Always `Image`.
        optional kind: IconType = "type",
        /// The URL of the image.
        optional url: HttpUrl<'a> = "url",
    }
}

wire! {
    /// A subtitle file.
    Caption {
        /// The language.
        required language: CowStr<'a> = "language",
        /// The URL of the `WebVTT` file.
        required url: HttpUrl<'a> = "url",
        /// The label that players show.
        required label: CowStr<'a> = "label",
    }
}

wire! {
    /// A chapter mark.
    Chapter {
        /// The start, in seconds from the beginning.
        required time: WholeSeconds = "time",
        /// The title of the chapter.
        required title: CowStr<'a> = "title",
    }
}

wire_deserialize!(MediaLink, Icon, Caption, Chapter);

impl<'a> TolerantField<'a> for RecordingUrls<'a> {
    fn read(raw: &'a str) -> FieldValue<Self> {
        match serde_json::from_str(raw) {
            Ok(Self::One(url)) if !url.is_uri() => {
                FieldValue::Repaired(Self::One(url), &rules::URL_FORM)
            }
            Ok(value) => FieldValue::Valid(value),
            Err(error) if error.is_syntax() => FieldValue::NotJson,
            Err(_) => match Vec::<MediaLink<'a>>::read(raw) {
                FieldValue::Repaired(links, rule) => FieldValue::Repaired(Self::Many(links), rule),
                _ if is_text_or_links(raw) => FieldValue::Invalid(&rules::BLOCK_URL),
                _ => FieldValue::Invalid(&rules::BLOCK_INCOMPLETE),
            },
        }
    }

    fn take<A: MapAccess<'a>>(map: &mut A) -> Result<Self, A::Error> {
        let url = map.next_value::<Self>()?;
        // The links of a list are checked one by one when they are read.
        let is_odd = matches!(&url, Self::One(url) if !url.is_uri());
        if is_odd { Err(de::Error::custom("not a URI")) } else { Ok(url) }
    }
}
impl<'a> TolerantField<'a> for MediaLink<'a> {
    fn read(raw: &'a str) -> FieldValue<Self> {
        read_object(raw, Self::from_members)
    }
}
impl<'a> TolerantField<'a> for Icon<'a> {
    fn read(raw: &'a str) -> FieldValue<Self> {
        read_object(raw, Self::from_members)
    }
}
impl<'a> TolerantField<'a> for Caption<'a> {
    fn read(raw: &'a str) -> FieldValue<Self> {
        read_object(raw, Self::from_members)
    }
}
impl<'a> TolerantField<'a> for Chapter<'a> {}
impl TolerantField<'_> for IconType {}
impl TolerantField<'_> for WholeSeconds {}
impl TolerantField<'_> for PixelLength {}
impl<'a> TolerantField<'a> for MediaDuration<'a> {}

/// Reads an object inside a block. A URL that is not a URI is repaired; any other fault makes the
/// object invalid.
fn read_object<'a, T: Deserialize<'a>>(
    raw: &'a str,
    make: impl FnOnce(ObjectMembers<'a>, &mut dyn FnMut(FieldFault)) -> Result<T, ObjectError>,
) -> FieldValue<T> {
    match serde_json::from_str(raw) {
        Ok(value) => return FieldValue::Valid(value),
        Err(error) if error.is_syntax() => return FieldValue::NotJson,
        Err(_) => {}
    }
    let Ok(members) = crate::page_reader::split_members(raw) else {
        return FieldValue::Invalid(&rules::BLOCK_INCOMPLETE);
    };
    let mut is_otherwise_good = true;
    let made = make(members, &mut |fault| is_otherwise_good &= *fault.rule == rules::URL_FORM);
    match made {
        Ok(value) if is_otherwise_good => FieldValue::Repaired(value, &rules::URL_FORM),
        Err(ObjectError::NotJson) => FieldValue::NotJson,
        _ => FieldValue::Invalid(&rules::BLOCK_INCOMPLETE),
    }
}

/// Returns whether the value is a string or a list of links, so that only a URL can be invalid.
fn is_text_or_links(raw: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct AnyLink<'a> {
        #[serde(borrow)]
        href: CowStr<'a>,
    }
    serde_json::from_str::<CowStr<'_>>(raw).is_ok()
        || serde_json::from_str::<Vec<AnyLink<'_>>>(raw)
            .is_ok_and(|links| links.iter().any(|link| HttpUrl::parse(&*link.href).is_err()))
}

/// The URLs of a recording: one URL, or several with their media types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordingUrls<'a> {
    /// A single URL.
    One(HttpUrl<'a>),
    /// A list of links, never empty.
    Many(Vec<MediaLink<'a>>),
}

impl Icon<'_> {
    /// Returns the icon with its URL written as a URI.
    pub(crate) fn with_uri(self) -> Self {
        Self { url: self.url.map(HttpUrl::into_uri), ..self }
    }
}

impl RecordingUrls<'_> {
    /// Converts the URLs to URIs of RFC 3986, for publishing.
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

    /// Returns the first URL.
    pub fn first(&self) -> &str {
        match self {
            Self::One(url) => url.as_str(),
            Self::Many(links) => links.first().map_or("", |link| link.href.as_str()),
        }
    }
}

impl Serialize for RecordingUrls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(url) => url.serialize(serializer),
            Self::Many(links) => links.serialize(serializer),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RecordingUrls<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UrlVisitor;
        impl<'de> Visitor<'de> for UrlVisitor {
            type Value = RecordingUrls<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a URL or a list of links")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                HttpUrl::parse(text).map(RecordingUrls::One).map_err(E::custom)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                HttpUrl::parse(text.to_owned()).map(RecordingUrls::One).map_err(E::custom)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut links = Vec::new();
                while let Some(link) = seq.next_element()? {
                    links.push(link);
                }
                if links.is_empty() {
                    return Err(de::Error::invalid_length(0, &self));
                }
                Ok(RecordingUrls::Many(links))
            }
        }
        deserializer.deserialize_any(UrlVisitor)
    }
}

impl IntoOwned for RecordingUrls<'_> {
    type Owned = RecordingUrls<'static>;
    fn into_owned(self) -> RecordingUrls<'static> {
        match self {
            Self::One(url) => RecordingUrls::One(url.into_owned()),
            Self::Many(links) => RecordingUrls::Many(links.into_owned()),
        }
    }
}

/// The only valid value of the `type` of an icon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum IconType {
    /// An image.
    Image,
}

/// A number of whole seconds; a fraction is truncated when it is read (D44).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct WholeSeconds(pub u64);

/// A length in pixels; `1920.0` is read as `1920`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct PixelLength(pub u64);

impl<'de> Deserialize<'de> for WholeSeconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor { rejects_fractions: false }).map(Self)
    }
}

impl<'de> Deserialize<'de> for PixelLength {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor { rejects_fractions: true }).map(Self)
    }
}

/// Reads a non-negative whole number.
struct WholeVisitor {
    /// Whether a fraction is an error; otherwise it is truncated.
    rejects_fractions: bool,
}

impl Visitor<'_> for WholeVisitor {
    type Value = u64;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a non-negative number")
    }
    fn visit_u64<E>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }
    fn visit_f64<E: de::Error>(self, number: f64) -> Result<u64, E> {
        let has_fraction = self.rejects_fractions && number.fract() != 0.0;
        if has_fraction || !(0.0..9e15).contains(&number) {
            return Err(E::custom("not a whole number in range"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was just checked, and the fraction is truncated on purpose"
        )]
        Ok(number as u64)
    }
}

impl_into_owned_copy!(WholeSeconds, PixelLength, IconType);

/// A running time in the form `PT1H2M3S`, with at least one of the three components.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaDuration<'a>(CowStr<'a>);

impl<'a> MediaDuration<'a> {
    /// Parses `PT…H…M…S`; returns `None` for anything else, days included (D44).
    ///
    /// ```
    /// # use rutter_page::MediaDuration;
    /// assert!(MediaDuration::parse("PT5M20S").is_some());
    /// assert!(MediaDuration::parse("PT1.5S").is_some());
    /// assert!(MediaDuration::parse("PT").is_none());
    /// assert!(MediaDuration::parse("P1DT2H").is_none());
    /// ```
    pub fn parse(text: impl Into<CowStr<'a>>) -> Option<Self> {
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

    /// Returns the duration in its original form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for MediaDuration<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for MediaDuration<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(CowStr::deserialize(deserializer)?)
            .ok_or_else(|| de::Error::custom("not a duration"))
    }
}

impl IntoOwned for MediaDuration<'_> {
    type Owned = MediaDuration<'static>;
    fn into_owned(self) -> MediaDuration<'static> {
        MediaDuration(self.0.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-067 SCP-083
    fn parses_durations_of_hours_minutes_and_seconds() {
        for text in ["PT1H", "PT5M20S", "PT0S", "PT1H2M3.25S", "PT90M"] {
            assert!(MediaDuration::parse(text).is_some(), "{text}");
        }
        for text in ["", "PT", "P1D", "PT1D", "1H", "PTH", "PT1S2M", "PT1.5M", "PT1.S", "PT1H "] {
            assert!(MediaDuration::parse(text).is_none(), "{text}");
        }
    }
}
