//! One page of a sitemap: the fields of section E.4 and unknown members.
//!
//! Created by an [`ArcReader`](crate::ArcReader) or by a publisher, consumed by a writer. Strings
//! borrow from the input.

use rutter_page::{CowStr, IntoOwned, PageUrl, RawObject, Timestamp, UnknownMembers};
use serde_json::value::RawValue;

use crate::limits::Limits;
use crate::strict::StrictEntry;
use crate::tolerant;

/// Maximum number of tags of one entry. Further tags of the entry are not read.
pub const MAX_TAGS: usize = 1000;

/// One page of a sitemap.
///
/// A malformed value is read as `None` and never counts as consent. Use [`ArcEntry::consent`]
/// instead of reading `ai_indexable`.
// More than 12 fields: one for each member of the format.
#[derive(Debug, Clone, PartialEq)]
pub struct ArcEntry<'a> {
    /// Canonical URL of the page.
    pub url: PageUrl<'a>,
    /// Time of the last change of the page.
    pub lastmod: Option<Timestamp>,
    /// Whether AI consumers may index the page; `None` if not stated, which is written as false.
    pub ai_indexable: Option<bool>,
    /// Whether the page needs a login.
    pub auth_required: Option<bool>,
    /// Comma-separated robots directives for crawlers.
    pub robots_directive: Option<CowStr<'a>>,
    /// Whether the page was removed: a tombstone in a delta (D60).
    pub removed: bool,
    /// Priority from 0 to 1; 1 is the highest.
    pub crawl_priority: Option<f64>,
    /// Short summary of the page.
    pub ai_summary: Option<CowStr<'a>>,
    /// Topics of the page.
    pub ai_tags: Vec<CowStr<'a>>,
    /// Checksum of the content, such as `sha256:…`.
    pub ai_checksum: Option<CowStr<'a>>,
    /// Snapshot of the page.
    pub ai_snapshot: Option<RawObject<'a>>,
    /// Unknown members, in input order.
    pub extra: UnknownMembers<'a>,
    /// Whether the input has a restriction that could not be read. Set by readers.
    pub is_doubtful: bool,
}

impl<'a> ArcEntry<'a> {
    /// Creates an entry that only states whether AI consumers may index the page.
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

    /// Creates a tombstone. It also forbids readers that do not know `removed` to use the page
    /// (D60).
    pub fn tombstone(url: PageUrl<'a>) -> Self {
        Self {
            robots_directive: Some(CowStr::borrowed("noindex")),
            removed: true,
            ..Self::new(url, Some(false))
        }
    }

    /// Removes all data derived from the content of the page.
    ///
    /// The remaining data may be published about a restricted page (D56, D57).
    #[must_use]
    pub fn without_content(self) -> Self {
        let Self { url, lastmod, ai_indexable, auth_required, robots_directive, removed, .. } =
            self;
        // The time at which a page behind a login changed is private.
        let lastmod = lastmod.filter(|_| auth_required != Some(true));
        let new = Self::new(url, ai_indexable);
        Self { lastmod, auth_required, robots_directive, removed, ..new }
    }

    /// Returns whether the entry has data derived from the content of the page.
    pub fn has_content(&self) -> bool {
        self.ai_summary.is_some()
            || !self.ai_tags.is_empty()
            || self.ai_checksum.is_some()
            || self.ai_snapshot.is_some()
    }

    /// Parses an entry written by [`ArcEntry::to_json`]. Returns `None` if it is not valid.
    ///
    /// [`ArcReader`](crate::ArcReader) reports the problems of entries from other writers.
    pub fn from_json(text: &str) -> Option<ArcEntry<'static>> {
        if let Ok(StrictEntry(entry)) = serde_json::from_str(text) {
            return Some(entry.into_owned());
        }
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        tolerant::read(raw.get(), 0, Limits::MAX_DEPTH, &mut ()).ok()?.map(IntoOwned::into_owned)
    }

    /// Returns the entry as one line of JSON, as writers write it.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        crate::write::push_entry(self, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

impl IntoOwned for ArcEntry<'_> {
    type Owned = ArcEntry<'static>;
    fn into_owned(self) -> ArcEntry<'static> {
        ArcEntry {
            url: self.url.into_owned(),
            lastmod: self.lastmod,
            ai_indexable: self.ai_indexable,
            auth_required: self.auth_required,
            robots_directive: self.robots_directive.into_owned(),
            removed: self.removed,
            crawl_priority: self.crawl_priority,
            ai_summary: self.ai_summary.into_owned(),
            ai_tags: self.ai_tags.into_owned(),
            ai_checksum: self.ai_checksum.into_owned(),
            ai_snapshot: self.ai_snapshot.into_owned(),
            extra: self.extra.into_owned(),
            is_doubtful: self.is_doubtful,
        }
    }
}
