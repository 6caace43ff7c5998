//! The input and output of a staging: options, pages, quotas, download records,
//! and the result of a commit.

use rutter_page::{LineDigest, Page, Timestamp};
use rutter_scp::{MassDeletionPolicy, PageRecord, ReadReceipt, SectionState, StateChain};

use super::page::{PageSource, WithheldReason};
use super::site::Section;
use super::url::Validator;

rutter_page::named_values! {
    /// How staged pages are combined with the stored ones.
    StagingMode {
        /// The staged pages are the whole section; other pages of the section are deleted (D23).
        Snapshot = "snapshot",
        /// The staged pages are changes: newer versions replace older ones, and only pages that the
        /// delta lists as removed are deleted (D21, D95).
        Delta = "delta",
        /// The staged pages were fetched one by one; each staged page that differs from the stored
        /// one replaces it.
        Visit = "visit",
    }
}

/// The parameters of a staging.
#[derive(Debug, Clone, Copy)]
pub struct StagingOptions<'a> {
    /// Name of the section.
    pub section: &'a str,
    /// How the staged pages are combined with the stored pages.
    pub mode: StagingMode,
    /// When the collection was generated, or when the visit started.
    pub generated: Timestamp,
    /// Source of the staged pages.
    pub source: PageSource,
    /// Quota of the publisher.
    pub quota: Quota,
    /// The current time.
    pub now: Timestamp,
}

/// The storage quota of one publisher (SCP-184).
///
/// A collection that exceeds the quota of pages is rejected, because even a withheld page needs a
/// record. Pages that exceed the quota of bytes are withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Maximum number of pages.
    pub pages: u64,
    /// Maximum stored size of the content, in bytes.
    pub bytes: u64,
}

impl Quota {
    /// Five million pages and 20 GB.
    pub const DEFAULT: Self = Self { pages: 5_000_000, bytes: 20_000_000_000 };
    /// No limit.
    pub const NONE: Self = Self { pages: u64::MAX, bytes: u64::MAX };
}

/// A page for [`Staging::add`](crate::Staging::add), with its verified line.
#[derive(Debug, Clone, Copy)]
pub struct StagedPage<'a> {
    /// Key of the page (D30).
    pub key: &'a str,
    /// Time of the last change of the content.
    pub modified: Timestamp,
    /// Digest of the line.
    pub digest: LineDigest,
    /// Title of the page.
    pub title: &'a str,
    /// Language of the page.
    pub language: &'a str,
    /// Line of the page.
    pub line: &'a str,
    /// Why the line must not be stored; `None` if it may be stored.
    pub withheld: Option<WithheldReason>,
}

impl<'a> StagedPage<'a> {
    /// Creates a staged page from a page and its line. Computes the digest of the line.
    pub fn of_page(page: &'a Page<'_>, line: &'a str) -> Self {
        Self {
            key: page.url.key(),
            modified: page.modified,
            digest: LineDigest::of(line.as_bytes()),
            title: &page.title,
            language: page.language.as_str(),
            line,
            withheld: None,
        }
    }

    /// Creates a staged page from a record of a collection reader.
    pub fn of_record(record: &'a PageRecord<'_>) -> Self {
        Self::of_page(&record.page, record.text)
    }
}

/// The record of one download: of a collection, or of single pages in a crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownloadRecord {
    /// Name of the section.
    pub section: String,
    /// URL of the downloaded file.
    pub url: String,
    /// Whether the download was a snapshot, a delta or a visit.
    pub mode: StagingMode,
    /// When the collection was generated, or when the visit started.
    pub generated: Timestamp,
    /// `since` of a delta: the time from which it contains the changes.
    pub since: Option<Timestamp>,
    /// Checksum of the collection, as its header states it.
    pub checksum: Option<String>,
    /// State of the section before the delta.
    pub from: Option<SectionState>,
    /// State of the section after the collection.
    pub state: Option<SectionState>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// When the file was downloaded.
    pub at: Timestamp,
    /// Result of the download: `applied`, or why the file was not applied.
    pub outcome: String,
}

impl DownloadRecord {
    /// Creates the record of a verified collection.
    pub fn of_receipt(url: &str, receipt: &ReadReceipt, at: Timestamp) -> Self {
        let header = &receipt.header;
        let since = header.kind.since();
        Self {
            section: header.section.clone(),
            url: url.to_owned(),
            mode: if since.is_some() { StagingMode::Delta } else { StagingMode::Snapshot },
            generated: header.generated,
            since,
            checksum: header.checksum.map(|checksum| checksum.to_string()),
            from: header.chain.as_ref().and_then(|chain| chain.from),
            state: header.chain.as_ref().map(|chain| chain.state),
            bytes: receipt.coded,
            at,
            outcome: "applied".into(),
        }
    }
}

/// The numbers of pages that a commit changes, and the resulting state of the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommitSummary {
    /// Number of lines that were staged, including several lines for one page.
    pub lines: u64,
    /// Number of pages before the commit, in the section and in the sections that the commit stops
    /// to follow.
    pub before: u64,
    /// Number of pages in the section after the commit.
    pub after: u64,
    /// Number of pages that the publisher did not have.
    pub added: u64,
    /// Number of pages whose content is replaced, and of pages that become or cease to be withheld.
    pub changed: u64,
    /// Number of pages with unchanged content.
    pub kept: u64,
    /// Number of pages removed from the section, and of pages that are in no section any more
    /// because their section is no longer followed.
    pub removed: u64,
    /// Number of withheld pages among the added and the changed pages.
    pub withheld: u64,
    /// Number of pages among the withheld pages that exceed the quota.
    pub over_quota: u64,
    /// State of the section after the commit (D95).
    pub state: SectionState,
}

/// The state that a section has after a collection was applied, as the collection claims it (D95).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimedState {
    /// State of the section.
    pub state: SectionState,
    /// Number of pages in the section.
    pub pages: u64,
}

/// The parameters of a commit.
#[derive(Debug, Clone)]
pub struct CommitOptions {
    /// Number of page lines in the collection; `None` if it is unknown.
    pub lines: Option<u64>,
    /// The state that the section must have after the commit. `None` if the publisher does not
    /// claim states, or if a delta does not start from the stored state.
    pub claim: Option<ClaimedState>,
    /// Whether a mass deletion may be committed (D23).
    pub mass_deletion: MassDeletionPolicy,
    /// The download record that is written with the commit.
    pub taken: Option<DownloadRecord>,
    /// Validator of the file, which is stored only if its pages are committed.
    pub validator: Option<Validator>,
}

impl CommitOptions {
    /// Creates the parameters for a staging that was filled from a collection.
    ///
    /// `before` is the section when the staging was opened. A snapshot always proves the state that
    /// it claims. A delta proves it only if it starts from the stored state
    /// ([`continues_section`](crate::continues_section)).
    pub fn of_receipt(
        url: &str,
        receipt: &ReadReceipt,
        before: Option<&Section>,
        at: Timestamp,
    ) -> Self {
        let chain = receipt.header.chain.as_ref();
        let is_snapshot = receipt.header.kind.since().is_none();
        let is_linked =
            |chain: &StateChain| before.is_some_and(|before| continues_section(before, chain));
        let chain = chain.filter(|chain| is_snapshot || is_linked(chain));
        Self {
            lines: Some(receipt.tally.pages),
            claim: chain.map(|chain| ClaimedState { state: chain.state, pages: chain.pages }),
            mass_deletion: MassDeletionPolicy::Refused,
            taken: Some(DownloadRecord::of_receipt(url, receipt, at)),
            validator: None,
        }
    }

    /// Creates the parameters for a staging without a collection.
    pub fn plain() -> Self {
        Self {
            lines: None,
            claim: None,
            mass_deletion: MassDeletionPolicy::Refused,
            taken: None,
            validator: None,
        }
    }
}

/// Returns whether a delta starts from the state of the section (D95).
pub fn continues_section(section: &Section, chain: &StateChain) -> bool {
    chain.from == Some(section.state)
}
