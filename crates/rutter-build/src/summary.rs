//! Events during a build, and its summary.
//!
//! Input: what [`build`](crate::build) did. Output: a [`BuildSummary`] for the caller, and calls of
//! [`BuildEvents`] while the build runs.

use rutter_extract::CoverageTally;
use rutter_finding::Finding;

/// Receives the events of a build.
pub trait BuildEvents {
    /// Reports a finding about a file or a page.
    fn finding(&mut self, place: &str, finding: &Finding);

    /// Reports a message for the site owner.
    fn message(&mut self, message: &str);

    /// Reports how many pages have been read.
    fn progress(&mut self, done: usize, of: usize);

    /// Reports an excluded page.
    fn excluded(&mut self, page: &ExcludedPage<'_>) {
        let _ = page;
    }
}

/// A page that is not published in every layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExcludedPage<'a> {
    /// File of the page, or its URL where it has no file.
    pub page: &'a str,
    /// The reason, as in [`ExclusionCount::reason`].
    pub reason: &'static str,
    /// The evidence, such as `meta article:published_time 2030-01-01T00:00:00Z`. Empty for a page
    /// that an older version read.
    pub source: &'a str,
}

/// Number of pages that are excluded for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExclusionCount {
    /// The reason in a few words, such as `noindex` or `needs a login`.
    pub reason: &'static str,
    /// Number of pages.
    pub pages: u64,
}

/// Size of a collection that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CollectionSize {
    /// Number of pages in it.
    pub pages: u64,
    /// Size in bytes in its preferred coding.
    pub bytes: u64,
}

/// What a build wrote for one section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionSummary {
    /// Name of the section.
    pub name: String,
    /// Number of pages in the section.
    pub pages: u64,
    /// The snapshot, if one was due.
    pub snapshot: Option<CollectionSize>,
    /// The delta, if one was due.
    pub delta: Option<CollectionSize>,
    /// Number of removals in the delta.
    pub removed: u64,
}

/// Result of a build.
#[derive(Debug, Clone, Default)]
pub struct BuildSummary {
    /// Number of pages in the collections.
    pub pages: u64,
    /// Of those, pages that are new.
    pub new: u64,
    /// Of those, pages with changed content.
    pub changed: u64,
    /// Pages that were removed or are no longer public.
    pub removed: u64,
    /// Of the changed pages, those with an unchanged source: a newer version of Rutter or a new
    /// template version extracts them differently.
    pub read_differently: u64,
    /// Pages that were read, not taken from the page cache.
    pub read: u64,
    /// Cached pages whose visibility was decided again because the rules or settings changed. Their
    /// content and date are unchanged.
    pub judged: u64,
    /// Number of excluded pages by reason.
    pub excluded: Vec<ExclusionCount>,
    /// Of the excluded pages, those that need a login.
    pub closed: u64,
    /// The first of them, at most [`BuildSummary::CLOSED_NAMED`].
    pub closed_pages: Vec<String>,
    /// The first pages that ask for a password, at most [`BuildSummary::CLOSED_NAMED`]. The setting
    /// `approved` publishes them.
    pub password_pages: Vec<String>,
    /// Files that could not be read.
    pub failed: u64,
    /// Unreadable folders and files of the site whose published files are kept.
    pub unreadable: u64,
    /// Total size of the sources in bytes.
    pub source_bytes: u64,
    /// One entry per section; `all` is last.
    pub sections: Vec<SectionSummary>,
    /// Number of template versions learned in this build.
    pub learned: usize,
    /// Files written or replaced.
    pub written: u64,
    /// Files deleted.
    pub deleted: u64,
    /// Whether Markdown twins are off because the site has too many pages.
    pub is_without_twins: bool,
    /// Share of the main text that the extraction kept, by file or URL of each public page.
    pub coverage: CoverageTally,
    /// Number of findings by rule code.
    pub findings: Vec<(&'static str, u64)>,
}

impl BuildSummary {
    /// How many pages that need a login are listed by name.
    pub const CLOSED_NAMED: usize = 3;

    /// Returns whether the build wrote and deleted nothing.
    pub fn is_unchanged(&self) -> bool {
        self.written == 0 && self.deleted == 0
    }
}
