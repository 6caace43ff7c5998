//! The data types of a replica.
//!
//! A [`Store`](crate::Store) returns them from queries, and a sync passes them to a
//! [`Staging`](crate::Staging).

use std::fmt;
use std::ops::RangeInclusive;

use rutter_page::{LineDigest, Page, Timestamp};
use rutter_scp::{MassDeletionPolicy, PageRecord, ReadReceipt, SectionState, StateChain};

use crate::decide::continues_section;
use crate::error::DamagedPage;

/// Defines an enumeration whose values are stored by name in the database.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $( $(#[$about:meta])* $value:ident = $word:literal, )* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$about])* $value, )* }

        impl $name {
            /// All values.
            pub const ALL: &[Self] = &[ $( Self::$value, )* ];

            /// Returns the name of the value.
            pub fn word(self) -> &'static str {
                match self { $( Self::$value => $word, )* }
            }

            /// Returns the value with this name.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}

words! {
    /// The source of a page.
    PageSource {
        /// A verified SCP collection.
        Scp = "scp",
        /// The snapshot of an ARC sitemap.
        Arc = "arc",
        /// HTML, converted by the extractor.
        Html = "html",
        /// A Markdown twin.
        Markdown = "markdown",
    }
}

words! {
    /// Why a page is stored without its content (D95). Its digest is kept, so that section states
    /// can be compared.
    WithheldReason {
        /// robots.txt disallows the URL (D93).
        Robots = "robots",
        /// The site does not allow AI use of the page, or the page requires a login (D87).
        Consent = "consent",
        /// The publisher has used up its quota (SCP-184).
        Quota = "quota",
        /// The URL is outside of the publisher's hosts (D88).
        Foreign = "foreign",
        /// The line is invalid (D32).
        Fault = "fault",
        /// The page has no content without running scripts or logging in.
        Shell = "shell",
        /// The page is outside of the scope of the sync.
        Scope = "scope",
    }
}

words! {
    /// Why a page was removed.
    RemovalCause {
        /// A newer snapshot does not have it (SCP-135).
        Absent = "absent",
        /// A delta names it as removed (D95).
        Removed = "removed",
        /// The site responds that the page is gone.
        Gone = "gone",
        /// Its section is no longer followed.
        Unfollowed = "unfollowed",
    }
}

words! {
    /// The kind of a change, from the point of view of readers of the replica.
    ChangeKind {
        /// The page is now readable and was not before.
        Added = "added",
        /// The content of the page changed.
        Changed = "changed",
        /// The page was removed; its tombstone has the cause.
        Removed = "removed",
        /// The content of the page was deleted, because it must no longer be shown.
        Withheld = "withheld",
        /// The whole site was deleted; the URL is its origin.
        Forgotten = "forgotten",
        /// An event of a deleted site, of which only the number is kept; never part of a query
        /// result.
        Erased = "erased",
    }
}

impl ChangeKind {
    /// Returns whether a copy of the replica must store the page; otherwise it must delete it.
    pub fn is_upsert(self) -> bool {
        matches!(self, Self::Added | Self::Changed)
    }
}

words! {
    /// How staged pages are combined with the stored ones.
    StagingMode {
        /// The staged pages are the whole section; all others are deleted (D23).
        Snapshot = "snapshot",
        /// The staged pages are changes: newer pages replace older ones, and only named pages are
        /// removed (D21, D95).
        Delta = "delta",
        /// The staged pages were fetched one by one; each page that differs is replaced.
        Visit = "visit",
    }
}

/// The identifier of a publisher in one replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublisherId(pub i64);

/// One synced site: the unit of leases, quotas and deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publisher {
    /// The identifier in this replica.
    pub id: PublisherId,
    /// Scheme, host and port.
    pub origin: String,
    /// Other origins of the same site (D88).
    pub aliases: Vec<String>,
    /// State that the sync stores for itself; opaque to the replica.
    pub policy: String,
    /// Time until which no requests are sent.
    pub paused_until: Option<Timestamp>,
    /// Number of pages, including withheld ones.
    pub pages: u64,
    /// Stored size of the content of all pages, in bytes.
    pub bytes: u64,
    /// Holder and end of the current lease.
    pub lease: Option<(String, Timestamp)>,
}

/// The stored state of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The name.
    pub name: String,
    /// The state: the sum over the pages that the section delivered (D95).
    pub state: SectionState,
    /// Whether the last collection claimed a state and the section has it.
    pub is_proved: bool,
    /// Time up to which all changes are stored.
    pub mark: Timestamp,
    /// `generated` of the newest snapshot.
    pub snapshot_at: Option<Timestamp>,
    /// Number of deltas applied after the snapshot.
    pub deltas_since: u64,
    /// Number of pages, including withheld ones.
    pub pages: u64,
    /// `generated` of a collection that is held back: it would delete too many pages and waits for
    /// a later one to confirm it (D23).
    pub held: Option<Timestamp>,
}

/// The metadata of a stored page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRow {
    /// The publisher.
    pub publisher: PublisherId,
    /// The key (D30).
    pub url: String,
    /// The time of the last change of the content, according to the page.
    pub modified: Timestamp,
    /// The digest of the line.
    pub digest: LineDigest,
    /// The title.
    pub title: String,
    /// The language.
    pub language: String,
    /// The source of this version.
    pub source: PageSource,
    /// Why the content is not stored; `None` if it is.
    pub withheld: Option<WithheldReason>,
    /// When the replica first stored the page.
    pub first_seen: Timestamp,
    /// When the replica stored this version.
    pub changed: Timestamp,
}

/// Selects the pages of a query.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    /// Only pages of this publisher.
    pub publisher: Option<PublisherId>,
    /// Only pages of the section with this name; requires a publisher.
    pub section: Option<&'a str>,
    /// Whether to include withheld pages.
    pub with_withheld: bool,
}

/// A position in a listing of pages: after this page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePosition<'a> {
    /// The publisher of the page.
    pub publisher: PublisherId,
    /// The key of the page.
    pub url: &'a str,
}

impl PageRow {
    /// Returns the position from which a listing continues after this page.
    pub fn after(&self) -> PagePosition<'_> {
        PagePosition { publisher: self.publisher, url: &self.url }
    }
}

/// The record of a removed page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// The publisher.
    pub publisher: PublisherId,
    /// The key of the page.
    pub url: String,
    /// When the page was removed.
    pub at: Timestamp,
    /// Why the page was removed.
    pub cause: RemovalCause,
    /// The modification time of the last stored version.
    pub modified: Timestamp,
}

/// An event in the history of the replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The number of the event.
    pub seq: u64,
    /// When the change was committed.
    pub at: Timestamp,
    /// The publisher.
    pub publisher: PublisherId,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The key of the page.
    pub url: String,
    /// The modification time of the page at that time.
    pub modified: Timestamp,
    /// The digest of the page at that time.
    pub digest: LineDigest,
}

/// A position in the history of one replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChangeCursor {
    /// The identifier of the replica.
    pub store: u64,
    /// The last event before the position.
    pub seq: u64,
}

impl ChangeCursor {
    /// Parses the form that [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (store, seq) = text.split_once('-')?;
        let is_number = !seq.is_empty() && seq.bytes().all(|byte| byte.is_ascii_digit());
        if store.len() != 16 || !is_number {
            return None;
        }
        Some(Self { store: u64::from_str_radix(store, 16).ok()?, seq: seq.parse().ok()? })
    }
}

impl fmt::Display for ChangeCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.store, self.seq)
    }
}

/// The number of pages of a publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageTotals {
    /// Number of all pages, according to the record of the publisher.
    pub pages: u64,
    /// Number of withheld pages, counted.
    pub withheld: u64,
}

/// Consecutive changes of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeBatch {
    /// The changes, in order.
    pub events: Vec<Change>,
    /// The cursor from which to continue.
    pub next: ChangeCursor,
    /// Whether more changes follow.
    pub has_more: bool,
    /// Numbers of damaged or missing events, in order.
    pub damaged: Vec<RangeInclusive<u64>>,
}

/// The number of changes by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// Pages that became readable.
    pub added: u64,
    /// Pages with changed content.
    pub changed: u64,
    /// Pages that were removed.
    pub removed: u64,
    /// Pages whose content was deleted.
    pub withheld: u64,
}

impl ChangeCounts {
    pub(crate) fn count(&mut self, kind: ChangeKind, events: u64) {
        match kind {
            ChangeKind::Added => self.added += events,
            ChangeKind::Changed => self.changed += events,
            ChangeKind::Removed => self.removed += events,
            ChangeKind::Withheld => self.withheld += events,
            ChangeKind::Forgotten | ChangeKind::Erased => {}
        }
    }
}

/// The extent of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistorySummary {
    /// Time of the oldest event that is still stored.
    pub oldest: Option<Timestamp>,
    /// Number of stored events.
    pub events: u64,
    /// The end of the history.
    pub cursor: ChangeCursor,
}

/// The number of pages with the same source and withheld reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCount {
    /// The source.
    pub source: PageSource,
    /// The withheld reason; `None` for pages with content.
    pub withheld: Option<WithheldReason>,
    /// Number of pages.
    pub pages: u64,
}

/// The record of one download: a collection, or a crawl of single pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownloadRecord {
    /// The section.
    pub section: String,
    /// The URL of the file.
    pub url: String,
    /// Snapshot, delta or visit.
    pub mode: StagingMode,
    /// When the collection was generated.
    pub generated: Timestamp,
    /// The lower time bound of a delta.
    pub since: Option<Timestamp>,
    /// The checksum in its original form.
    pub checksum: Option<String>,
    /// The state from which a delta starts.
    pub from: Option<SectionState>,
    /// The state to which the collection leads.
    pub state: Option<SectionState>,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// When the file was downloaded.
    pub at: Timestamp,
    /// The result: `applied`, or the reason why not.
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

/// The cache validators of a file, for conditional requests (SCP-154).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validator {
    /// The URL of the file.
    pub url: String,
    /// The `ETag` header.
    pub etag: Option<String>,
    /// The `Last-Modified` header.
    pub last_modified: Option<String>,
    /// When the server last sent or confirmed them.
    pub checked: Timestamp,
}

/// The exclusive right to write the pages of one publisher for a limited time.
///
/// `epoch` is a fencing number: a process whose lease expired finds a newer epoch and cannot
/// commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The publisher.
    pub publisher: PublisherId,
    /// The fencing number of the lease.
    pub epoch: u64,
}

/// The parameters of a staging.
#[derive(Debug, Clone, Copy)]
pub struct StagingOptions<'a> {
    /// The section.
    pub section: &'a str,
    /// How the pages are combined with the stored ones.
    pub mode: StagingMode,
    /// When the collection was generated, or when the visit started.
    pub generated: Timestamp,
    /// The source of the pages.
    pub source: PageSource,
    /// The quota of the publisher.
    pub quota: Quota,
    /// The current time.
    pub now: Timestamp,
}

/// The storage quota of one publisher (SCP-184).
///
/// A collection with too many pages is rejected, because even a withheld page needs a record. Pages
/// whose content exceeds the quota of bytes are withheld.
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

/// A page to be staged, with its verified line.
#[derive(Debug, Clone, Copy)]
pub struct StagedPage<'a> {
    /// The key (D30).
    pub key: &'a str,
    /// The time of the last change of the content.
    pub modified: Timestamp,
    /// The digest of the line.
    pub digest: LineDigest,
    /// The title.
    pub title: &'a str,
    /// The language.
    pub language: &'a str,
    /// The line.
    pub line: &'a str,
    /// Why the line must not be stored; `None` if it may.
    pub withheld: Option<WithheldReason>,
}

impl<'a> StagedPage<'a> {
    /// Creates a staged page from a page and its line; hashes the line.
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

/// The result of a commit, or the expected result before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CommitSummary {
    /// Lines that were staged, including duplicate pages.
    pub lines: u64,
    /// Pages before the commit, in the section and in sections no longer followed.
    pub before: u64,
    /// Pages in the section after the commit.
    pub after: u64,
    /// New pages.
    pub added: u64,
    /// Pages with replaced content, and pages that become or cease to be withheld.
    pub changed: u64,
    /// Pages with unchanged content.
    pub kept: u64,
    /// Pages removed from the section, and pages that are in no section any more because a section
    /// is no longer followed.
    pub removed: u64,
    /// Withheld pages among the added and changed ones.
    pub withheld: u64,
    /// Pages among the withheld ones that exceed the quota.
    pub over_quota: u64,
    /// The state of the section after the commit (D95).
    pub state: SectionState,
}

/// The state that a collection claims the section has after it was applied (D95).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimedState {
    /// The state.
    pub state: SectionState,
    /// Number of pages in the section.
    pub pages: u64,
}

/// The parameters of a commit.
#[derive(Debug, Clone)]
pub struct CommitOptions {
    /// Number of page lines in the collection; `None` if it is unknown.
    pub lines: Option<u64>,
    /// The state that the section must have after the commit; `None` if the publisher does not
    /// claim states, or for a delta that does not start from the stored state.
    pub claim: Option<ClaimedState>,
    /// Whether more than half of a section may be deleted at once (D23).
    pub mass_deletion: MassDeletionPolicy,
    /// The download to record.
    pub taken: Option<DownloadRecord>,
    /// The validator of the file, valid only if its pages are committed.
    pub validator: Option<Validator>,
}

impl CommitOptions {
    /// Creates the parameters for a staging that was filled from a collection.
    ///
    /// `before` is the section when the staging was opened. A snapshot always proves its state; a
    /// delta proves it only if it starts from the stored state
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

/// A stored ARC entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArcRow {
    /// The publisher.
    pub publisher: PublisherId,
    /// The key of the page.
    pub url: String,
    /// Whether the entry gives consent.
    pub is_allowed: bool,
    /// The entry as JSON, written by [`rutter_arc::ArcEntry::to_json`].
    pub json: String,
}

/// How thoroughly a replica is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// Checks all records.
    Records,
    /// Also decompresses the content of every page and verifies its digest.
    Content,
}

/// One page of a search result.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// The page.
    pub page: PageRow,
    /// Text around the matches, which are enclosed in `[` and `]`.
    pub snippet: String,
    /// The rank; lower is better.
    pub rank: f64,
    /// Words of the query that the page does not contain.
    pub missing: Vec<String>,
}

words! {
    /// Which words of a query the found pages contain.
    MatchKind {
        /// All words of the query.
        All = "all",
        /// All words, some of them corrected.
        Corrected = "corrected",
        /// Some of the words; no page contains all of them.
        Some = "some",
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// The found pages, best first.
    pub hits: Vec<SearchHit>,
    /// Which words of the query they contain.
    pub matched: MatchKind,
    /// Words that no page contains, each with the word that was searched instead.
    pub corrections: Vec<(String, String)>,
    /// Matching pages that cannot be read.
    pub damaged: Vec<DamagedPage>,
}

impl Default for SearchResults {
    fn default() -> Self {
        let (hits, damaged, corrections) = (Vec::new(), Vec::new(), Vec::new());
        Self { hits, matched: MatchKind::All, corrections, damaged }
    }
}

/// The progress of full-text indexing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexProgress {
    /// Number of pages processed by this call.
    pub pages: u64,
    /// Whether the index is up to date now.
    pub is_current: bool,
    /// Unreadable pages, which are not in the index.
    pub damaged: Vec<DamagedPage>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_displayed_cursors() {
        let cursor = ChangeCursor { store: 0x1f, seq: 42 };
        assert_eq!(cursor.to_string(), "000000000000001f-42");
        assert_eq!(ChangeCursor::parse(&cursor.to_string()), Some(cursor));
        for bad in
            ["", "42", "1f-42", "000000000000001f-", "000000000000001f-+1", "g00000000000001f-1"]
        {
            assert_eq!(ChangeCursor::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn parses_names_of_enumerations() {
        for cause in RemovalCause::ALL {
            assert_eq!(RemovalCause::of_word(cause.word()), Some(*cause));
        }
        assert_eq!(PageSource::of_word("pdf"), None);
    }
}
