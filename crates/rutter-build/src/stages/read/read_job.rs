//! The jobs of the threads that read pages, and their results.

use rutter_extract::TemplateVersionId;
use rutter_page::{LineDigest, Timestamp};
use rutter_site::{CacheEntry, DateSource, ExclusionReason, LedgerRow, PageRecord, VisibilityKey};

use crate::stages::inventory::sources::PageInput;
use crate::stages::read::dates;

/// A page that must be read, with all inputs for reading it.
#[derive(Debug)]
pub(crate) struct ReadJob {
    /// Position of the page in the order of pages.
    pub(crate) at: usize,
    pub(crate) url: String,
    pub(crate) from: PageInput,
    /// Published version of the page according to the ledger; `None` if the page is new.
    pub(crate) known: Option<LedgerPage>,
    /// Index entry of the page in the page cache.
    pub(crate) cached: Option<CacheEntry>,
    /// Cached record of the page; set only if its visibility key differs from that of this build.
    pub(crate) stored: Option<PageRecord>,
    /// Visibility key of the page in this build.
    pub(crate) visibility_key: VisibilityKey,
    /// Reason to exclude the page that follows from its URL.
    pub(crate) exclusion: Option<ExclusionReason>,
    pub(crate) hints: dates::DateHints,
}

/// Published version of a page according to the ledger.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LedgerPage {
    pub(crate) digest: LineDigest,
    pub(crate) modified: Timestamp,
    pub(crate) template: Option<TemplateVersionId>,
}

impl LedgerPage {
    pub(crate) fn of(row: &LedgerRow) -> Self {
        Self { digest: row.digest, modified: row.modified, template: row.template }
    }
}

/// Result of reading a page.
#[derive(Debug)]
pub(crate) struct ReadResult {
    pub(crate) at: usize,
    /// Size of the page's source in bytes.
    pub(crate) bytes: u64,
    pub(crate) outcome: ReadOutcome,
}

#[derive(Debug)]
pub(crate) enum ReadOutcome {
    /// The cached record can be used as it is.
    Same,
    /// The page was read again.
    Read(Box<ReadPage>),
    /// The cached content is used; only the visibility of the page was decided again.
    Reevaluated(Box<ReadPage>),
    /// The page could not be read, for the given reason.
    Failed(String),
}

/// A page that was read, or a cached page with a new visibility decision.
#[derive(Debug)]
pub(crate) struct ReadPage {
    pub(crate) record: PageRecord,
    pub(crate) digest: LineDigest,
    pub(crate) modified: Timestamp,
    pub(crate) date_source: DateSource,
    pub(crate) template: Option<TemplateVersionId>,
    pub(crate) exclusion: Option<ExclusionReason>,
    /// Whether the page's source is the same as that of the cached record.
    pub(crate) is_same_source: bool,
}
