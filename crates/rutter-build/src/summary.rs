//! Events during a build, and its summary.
//!
//! Input: what [`build`](crate::build) did. Output: a [`BuildSummary`] for the caller, and calls of
//! [`BuildEvents`] while the build runs.

use rutter_extract::CoverageTally;
use rutter_finding::Finding;

/// A receiver of the events of a build.
pub trait BuildEvents {
    /// Reports a finding about a file or a page.
    fn finding(&mut self, place: &str, finding: &Finding);

    /// Reports a message for the site owner.
    fn message(&mut self, message: &str);

    /// Reports that `done` of `of` pages have been read.
    fn progress(&mut self, done: usize, of: usize);

    /// Reports an excluded page.
    fn excluded(&mut self, page: &ExcludedPage<'_>) {
        let _ = page;
    }
}

/// A page that is left out of at least one layer, with the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExcludedPage<'a> {
    /// File of the page, or its URL if it has no file.
    pub page: &'a str,
    /// Reason why the page is excluded, as in [`ExclusionCount::reason`].
    pub reason: &'static str,
    /// Evidence for the reason, such as `meta article:published_time 2030-01-01T00:00:00Z`; empty
    /// for a page that an older version of Rutter read.
    pub source: &'a str,
}

/// Number of pages that are excluded for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExclusionCount {
    /// Reason for the exclusion in a few words, such as `noindex` or `needs scripts`.
    pub reason: &'static str,
    /// Number of pages that are excluded for this reason.
    pub pages: u64,
}

/// Size of a collection that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CollectionSize {
    /// Number of pages in the collection.
    pub pages: u64,
    /// Size of the collection in bytes, in its preferred coding.
    pub bytes: u64,
}

/// What a build wrote for one section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionSummary {
    /// Name of the section.
    pub name: String,
    /// Number of pages in the section.
    pub pages: u64,
    /// Size of the new snapshot; `None` if no snapshot was due.
    pub snapshot: Option<CollectionSize>,
    /// Size of the new delta; `None` if no delta was due.
    pub delta: Option<CollectionSize>,
    /// Number of removals in the new delta.
    pub removed: u64,
}

/// Result of a build.
// More than 12 fields: one for each number that the caller prints.
#[derive(Debug, Clone, Default)]
pub struct BuildSummary {
    /// Number of public pages, which are in the collections.
    pub pages: u64,
    /// Number of public pages that are new.
    pub new: u64,
    /// Number of public pages with changed content.
    pub changed: u64,
    /// Number of pages that were removed or are no longer public.
    pub removed: u64,
    /// Number of changed pages with an unchanged source, which a newer version of Rutter or a new
    /// template version extracts differently.
    pub read_differently: u64,
    /// Number of pages that were read and not taken from the page cache.
    pub read: u64,
    /// Number of cached pages whose visibility was decided again, because rules or settings
    /// changed. The content and date of these pages are unchanged.
    pub judged: u64,
    /// Numbers of excluded pages by reason.
    pub excluded: Vec<ExclusionCount>,
    /// Number of excluded pages that need a login.
    pub closed: u64,
    /// The first pages that need a login, at most [`BuildSummary::CLOSED_NAMED`].
    pub closed_pages: Vec<String>,
    /// The first pages that ask for a password, at most [`BuildSummary::CLOSED_NAMED`]. The site
    /// owner can publish such pages with the setting `approved`.
    pub password_pages: Vec<String>,
    /// Number of pages that could not be read.
    pub failed: u64,
    /// Number of unreadable folders and files of the site; their published files are kept.
    pub unreadable: u64,
    /// Total size of the pages' sources in bytes.
    pub source_bytes: u64,
    /// Summaries of the sections with collections; `all` is last.
    pub sections: Vec<SectionSummary>,
    /// Number of template versions that this build learned.
    pub learned: usize,
    /// Number of files that were written or replaced.
    pub written: u64,
    /// Number of files that were deleted.
    pub deleted: u64,
    /// Whether no Markdown twins are written because the site has too many pages.
    pub is_without_twins: bool,
    /// Share of the main text that the extraction kept, by file or URL of each public page.
    pub coverage: CoverageTally,
    /// Number of findings by rule code.
    pub findings: Vec<(&'static str, u64)>,
}

impl BuildSummary {
    /// Maximum number of pages in `closed_pages` and in `password_pages`.
    pub const CLOSED_NAMED: usize = 3;

    /// Returns whether the build wrote and deleted nothing.
    pub fn is_unchanged(&self) -> bool {
        self.written == 0 && self.deleted == 0
    }
}
