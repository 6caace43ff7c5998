//! One page of a sitemap: the fields of E.4 and whatever else was there.
//!
//! Made by a [`Reader`](crate::Reader) or by whoever publishes; goes to a
//! writer. Strings borrow from what they were read from.

use rutter_page::{Extra, Object, Own, PageUrl, Str, Timestamp};
use serde_json::value::RawValue;

use crate::limits::Limits;
use crate::strict::Strict;
use crate::tolerant;

/// Most tags of one entry; further ones are not read.
pub const MOST_TAGS: usize = 1000;

/// An entry.
///
/// What was wrong when it was read is `None` here, and never consent: ask
/// [`Entry::consent`], not the flag.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'a> {
    /// Canonical address of the page.
    pub url: PageUrl<'a>,
    /// When the page changed.
    pub lastmod: Option<Timestamp>,
    /// Whether AI consumers may ingest the page; `None` where it is not said.
    /// Written as false then.
    pub ai_indexable: Option<bool>,
    /// Whether the page needs a login.
    pub auth_required: Option<bool>,
    /// Comma list of words for crawlers.
    pub robots_directive: Option<Str<'a>>,
    /// Whether the page is gone: a tombstone in a delta (D60).
    pub removed: bool,
    /// From 0 to 1, 1 is highest.
    pub crawl_priority: Option<f64>,
    /// Short summary.
    pub ai_summary: Option<Str<'a>>,
    /// Topics.
    pub ai_tags: Vec<Str<'a>>,
    /// Checksum of the content, such as `sha256:…`.
    pub ai_checksum: Option<Str<'a>>,
    /// Snapshot of the page.
    pub ai_snapshot: Option<Object<'a>>,
    /// Members this version does not know, in the order they came.
    pub extra: Extra<'a>,
    /// Set by readers where a restriction was there that could not be read.
    pub is_doubtful: bool,
}

impl<'a> Entry<'a> {
    /// An entry that says of a page whether it may be ingested, and no more.
    pub fn new(url: PageUrl<'a>, ai_indexable: Option<bool>) -> Self {
        Self {
            url,
            lastmod: None,
            ai_indexable,
            auth_required: None,
            robots_directive: None,
            removed: false,
            crawl_priority: None,
            ai_summary: None,
            ai_tags: Vec::new(),
            ai_checksum: None,
            ai_snapshot: None,
            extra: Vec::new(),
            is_doubtful: false,
        }
    }

    /// The entry of a page that is gone: obeyed also by readers that do not
    /// know `removed` (D60).
    pub fn tombstone(url: PageUrl<'a>) -> Self {
        Self {
            robots_directive: Some(Str::borrowed("noindex")),
            removed: true,
            ..Self::new(url, Some(false))
        }
    }

    /// The same entry without anything that was made from the page's content:
    /// what is public of a page that is restricted (D56, D57).
    #[must_use]
    pub fn bare(self) -> Self {
        let Self { url, lastmod, ai_indexable, auth_required, robots_directive, removed, .. } =
            self;
        // When a page behind a login changed is nobody's business.
        let lastmod = lastmod.filter(|_| auth_required != Some(true));
        let new = Self::new(url, ai_indexable);
        Self { lastmod, auth_required, robots_directive, removed, ..new }
    }

    /// Tells whether it carries something that was made from the page.
    pub fn has_content(&self) -> bool {
        self.ai_summary.is_some()
            || !self.ai_tags.is_empty()
            || self.ai_checksum.is_some()
            || self.ai_snapshot.is_some()
    }

    /// Reads one entry, such as [`Entry::to_json`] gives it; `None` where it
    /// cannot be used. What is wrong with foreign entries a
    /// [`Reader`](crate::Reader) tells.
    pub fn from_json(text: &str) -> Option<Entry<'static>> {
        if let Ok(Strict(entry)) = serde_json::from_str(text) {
            return Some(entry.own());
        }
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        tolerant::read(raw.get(), 0, Limits::DEEPEST, &mut ()).ok()?.map(Own::own)
    }

    /// The entry as one line of JSON, the way writers write it.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        crate::write::push_entry(self, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

impl Own for Entry<'_> {
    type Owned = Entry<'static>;
    fn own(self) -> Entry<'static> {
        Entry {
            url: self.url.own(),
            lastmod: self.lastmod,
            ai_indexable: self.ai_indexable,
            auth_required: self.auth_required,
            robots_directive: self.robots_directive.own(),
            removed: self.removed,
            crawl_priority: self.crawl_priority,
            ai_summary: self.ai_summary.own(),
            ai_tags: self.ai_tags.own(),
            ai_checksum: self.ai_checksum.own(),
            ai_snapshot: self.ai_snapshot.own(),
            extra: self.extra.own(),
            is_doubtful: self.is_doubtful,
        }
    }
}
