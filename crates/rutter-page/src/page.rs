//! The page: one line of a collection.

use serde_json::value::RawValue;

use crate::block::Block;
use crate::language::LanguageTag;
use crate::rules;
use crate::text::{Object, Raw, Str};
use crate::time::Timestamp;
use crate::url::{HttpUrl, PageUrl};
use crate::wire::{Field, Read, read_text, wire, wire_deserialize};

wire! {
    /// One page of a site: what it is called, when it changed, what it says.
    Page {
        /// Its address, which is its identity.
        required url: PageUrl<'a> = "url",
        /// Its title.
        required title: Str<'a> = "title",
        /// What it is about, in a sentence.
        required description: Str<'a> = "description",
        /// Who wrote it.
        optional author: Str<'a> = "author",
        /// When it first appeared.
        optional published: Timestamp = "published",
        /// When its content last changed.
        required modified: Timestamp = "modified",
        /// The language it is written in.
        required language: LanguageTag<'a> = "language",
        /// The address it wants to be known by.
        optional canonical: HttpUrl<'a> = "canonical",
        /// Schema.org data, an object, as it was written.
        optional schema: Object<'a> = "schema",
        /// What it says, in reading order.
        required content: Vec<Block<'a>> = "content",
    }
}

wire_deserialize!(Page);

impl Page<'_> {
    /// The same page with every URL as a URI of RFC 3986, for writers.
    #[must_use]
    pub fn with_uris(self) -> Self {
        let content = self.content.into_iter().map(Block::with_uris).collect();
        let canonical = self.canonical.map(HttpUrl::into_uri);
        Self { url: self.url.into_uri(), canonical, content, ..self }
    }

    /// The page as one line of JSON, without line end.
    ///
    /// Known members in the order of the specification, unknown ones after
    /// them, no white space, nothing escaped that need not be.
    pub fn to_line(&self) -> String {
        // Writing to memory cannot fail, and no map key here is not a string.
        serde_json::to_string(self).expect("a page is always JSON")
    }
}

impl<'a> Field<'a> for Block<'a> {
    const USUAL: usize = 32;
}

impl<'a> Field<'a> for PageUrl<'a> {
    fn take<A: serde::de::MapAccess<'a>>(map: &mut A) -> Result<Self, A::Error> {
        let url = map.next_value::<Self>()?;
        if url.is_uri() { Ok(url) } else { Err(serde::de::Error::custom("not a URI")) }
    }

    fn read(raw: &'a str) -> Read<Self> {
        read_text(raw, |text| match Self::parse(text) {
            Ok(url) if url.is_uri() => Read::Good(url),
            Ok(url) => Read::Mended(url, &rules::URL_FORM),
            Err(_) => Read::Bad(&rules::PAGE_URL),
        })
    }
}

impl<'a> Field<'a> for Timestamp {
    fn read(raw: &'a str) -> Read<Self> {
        read_text(raw, |text| match Self::parse_lenient(&text) {
            Ok((time, true)) => Read::Good(time),
            Ok((time, false)) => Read::Mended(time, &rules::TIME_FORM),
            Err(_) => Read::Bad(&rules::PAGE_MODIFIED),
        })
    }
}

impl<'a> Field<'a> for LanguageTag<'a> {
    fn read(raw: &'a str) -> Read<Self> {
        read_text(raw, |text| {
            let hyphened = text.contains('_').then(|| text.replace('_', "-"));
            if let Some(tag) = Self::parse(text) {
                return Read::Good(tag);
            }
            match hyphened.and_then(Self::parse) {
                Some(tag) => Read::Mended(tag, &rules::LANGUAGE_UNDERSCORE),
                None => Read::Mended(Self::UNDETERMINED, &rules::LANGUAGE_MALFORMED),
            }
        })
    }
}

impl<'a> Field<'a> for Object<'a> {
    fn read(raw: &'a str) -> Read<Self> {
        let value = serde_json::from_str::<&RawValue>(raw).ok();
        match value.and_then(|value| Self::new(Raw::from(value))) {
            Some(object) => Read::Good(object),
            None => Read::Bad(&rules::PAGE_FIELD),
        }
    }
}
