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

/// Defines an enumeration; the database stores its values by name.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $( $(#[$about:meta])* $value:ident = $word:literal, )* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$about])* $value, )* }

        impl $name {
            /// All values of the enumeration.
            pub const ALL: &[Self] = &[ $( Self::$value, )* ];

            /// Returns the name under which the database stores the value.
            pub fn word(self) -> &'static str {
                match self { $( Self::$value => $word, )* }
            }

            /// Returns the value with this name; `None` if the name is unknown.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}

words! {
    /// Where the stored version of a page comes from.
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
    /// Why a page is stored without its content (D95). The digest of a withheld page is stored, so
    /// that section states can be compared.
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
        /// A newer snapshot does not contain the page (SCP-135).
        Absent = "absent",
        /// A delta lists the page as removed (D95).
        Removed = "removed",
        /// The site responded that the page is gone.
        Gone = "gone",
        /// The section of the page is no longer synced.
        Unfollowed = "unfollowed",
    }
}

words! {
    /// The kind of a change, as readers of the replica see it.
    ChangeKind {
        /// The page became readable.
        Added = "added",
        /// The content of the page changed.
        Changed = "changed",
        /// The page was removed; its tombstone has the cause.
        Removed = "removed",
        /// The content of the page was deleted, because it must no longer be shown.
        Withheld = "withheld",
        /// The whole site was deleted; the URL is its origin.
        Forgotten = "forgotten",
        /// An event of an erased site: only its number is kept. No query returns such an event.
        Erased = "erased",
    }
}

impl ChangeKind {
    /// Returns whether a reader that copies the replica must store the page; otherwise the reader
    /// must delete it.
    pub fn is_upsert(self) -> bool {
        matches!(self, Self::Added | Self::Changed)
    }
}

words! {
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

/// The identifier of a publisher in one replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublisherId(pub i64);

/// One synced site: the unit of leases, quotas and deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publisher {
    /// Identifier of the publisher in this replica.
    pub id: PublisherId,
    /// Scheme, host and port of the site.
    pub origin: String,
    /// Other origins of the same site (D88).
    pub aliases: Vec<String>,
    /// Text in which a sync stores its own state of the site; the replica does not interpret it.
    pub policy: String,
    /// Time until which a sync sends no requests to the site.
    pub paused_until: Option<Timestamp>,
    /// Number of pages of the publisher, including withheld pages.
    pub pages: u64,
    /// Stored size of the content of all pages, in bytes.
    pub bytes: u64,
    /// Holder and end of the current lease.
    pub lease: Option<(String, Timestamp)>,
}

/// The stored state of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Name of the section.
    pub name: String,
    /// State of the section: the sum over the pages in its collections (D95).
    pub state: SectionState,
    /// Whether the last collection claimed a state, and the section has that state.
    pub is_proved: bool,
    /// Time up to which the replica has all changes of the section.
    pub mark: Timestamp,
    /// `generated` of the newest snapshot that was committed.
    pub snapshot_at: Option<Timestamp>,
    /// Number of deltas that were committed after the snapshot.
    pub deltas_since: u64,
    /// Number of pages in the section, including withheld pages.
    pub pages: u64,
    /// `generated` of a collection that is held back: it would delete too many pages, so it is not
    /// committed until a later snapshot confirms the deletions (D23).
    pub held: Option<Timestamp>,
}

/// The metadata of a stored page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRow {
    /// Publisher of the page.
    pub publisher: PublisherId,
    /// Key of the page (D30).
    pub url: String,
    /// Time of the last change of the content, as the page states it.
    pub modified: Timestamp,
    /// Digest of the page's line.
    pub digest: LineDigest,
    /// Title of the page.
    pub title: String,
    /// Language of the page.
    pub language: String,
    /// Source of the stored version.
    pub source: PageSource,
    /// Why the content is not stored; `None` if it is stored.
    pub withheld: Option<WithheldReason>,
    /// When the replica first stored the page.
    pub first_seen: Timestamp,
    /// When the replica stored this version.
    pub changed: Timestamp,
}

/// Which pages a query returns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    /// Only pages of this publisher.
    pub publisher: Option<PublisherId>,
    /// Only pages of the section with this name; requires a publisher.
    pub section: Option<&'a str>,
    /// Whether to include withheld pages.
    pub with_withheld: bool,
}

/// The page after which a listing of pages continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePosition<'a> {
    /// Publisher of the page.
    pub publisher: PublisherId,
    /// Key of the page (D30).
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
    /// Publisher of the page.
    pub publisher: PublisherId,
    /// Key of the removed page (D30).
    pub url: String,
    /// When the page was removed.
    pub at: Timestamp,
    /// Why the page was removed.
    pub cause: RemovalCause,
    /// `modified` of the last stored version.
    pub modified: Timestamp,
}

/// An event in the history of the replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Number of the event; events of a replica are numbered without gaps.
    pub seq: u64,
    /// When the change was committed.
    pub at: Timestamp,
    /// Publisher of the page.
    pub publisher: PublisherId,
    /// Kind of the change.
    pub kind: ChangeKind,
    /// Key of the page (D30), or the origin of an erased site.
    pub url: String,
    /// `modified` of the page when the change was committed.
    pub modified: Timestamp,
    /// Digest of the page's line when the change was committed.
    pub digest: LineDigest,
}

/// A position in the history of one replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChangeCursor {
    /// Identifier of the replica.
    pub store: u64,
    /// Number of the last event before the position.
    pub seq: u64,
}

impl ChangeCursor {
    /// Parses the text form of a cursor, as [`fmt::Display`] writes it.
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

/// The number of all pages and of withheld pages of a publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageTotals {
    /// Number of all pages, read from the record of the publisher.
    pub pages: u64,
    /// Number of withheld pages, counted from the page records.
    pub withheld: u64,
}

/// Consecutive changes of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeBatch {
    /// The changes, in the order in which they were committed.
    pub events: Vec<Change>,
    /// Cursor at which the next batch starts.
    pub next: ChangeCursor,
    /// Whether the history has more changes after this batch.
    pub has_more: bool,
    /// Ranges of the numbers of damaged or missing events, in order.
    pub damaged: Vec<RangeInclusive<u64>>,
}

/// The number of changes of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// Number of pages that became readable.
    pub added: u64,
    /// Number of changes of page content.
    pub changed: u64,
    /// Number of pages that were removed.
    pub removed: u64,
    /// Number of pages whose content was deleted, because it must no longer be shown.
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
    /// Number of events that are still stored.
    pub events: u64,
    /// Cursor at the end of the history.
    pub cursor: ChangeCursor,
}

/// The number of pages with one source and one withheld reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCount {
    /// Source of the pages.
    pub source: PageSource,
    /// Withheld reason of the pages; `None` for pages with content.
    pub withheld: Option<WithheldReason>,
    /// Number of pages with this source and withheld reason.
    pub pages: u64,
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

/// The cache validators of a file, for conditional requests (SCP-154).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validator {
    /// URL of the file.
    pub url: String,
    /// Value of the `ETag` header.
    pub etag: Option<String>,
    /// Value of the `Last-Modified` header.
    pub last_modified: Option<String>,
    /// When the server last sent or confirmed the validator.
    pub checked: Timestamp,
}

/// The exclusive right to write the pages of one publisher for a limited time.
///
/// `epoch` is a fencing number: a process whose lease expired finds a newer epoch and cannot
/// commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Publisher whose pages the holder may write.
    pub publisher: PublisherId,
    /// Fencing number of the lease.
    pub epoch: u64,
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

/// A stored ARC entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArcRow {
    /// Publisher of the page.
    pub publisher: PublisherId,
    /// Key of the page (D30).
    pub url: String,
    /// Whether the entry allows the use of the page.
    pub is_allowed: bool,
    /// The entry as JSON, in the form of [`rutter_arc::ArcEntry::to_json`].
    pub json: String,
}

/// How thoroughly a replica is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// The check reads all records.
    Records,
    /// The check also decompresses the content of every page and verifies its digest.
    Content,
}

/// One page of a search result.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// Record of the page.
    pub page: PageRow,
    /// Excerpt of the page's text; the matches are enclosed in `[` and `]`.
    pub snippet: String,
    /// Rank of the page; a lower number is a better match.
    pub rank: f64,
    /// Words of the query that the page does not contain.
    pub missing: Vec<String>,
}

words! {
    /// Which words of a query the found pages contain.
    MatchKind {
        /// All words of the query.
        All = "all",
        /// All words of the query, some of them corrected.
        Corrected = "corrected",
        /// Some of the words of the query; no page contains all of them.
        Some = "some",
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// The found pages, best match first.
    pub hits: Vec<SearchHit>,
    /// Which words of the query the found pages contain.
    pub matched: MatchKind,
    /// Words that no page contains, each with the word that was searched instead.
    pub corrections: Vec<(String, String)>,
    /// Pages that match and cannot be read.
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
    /// Number of pages that the call indexed.
    pub pages: u64,
    /// Whether the index contains all events of the history.
    pub is_current: bool,
    /// Damaged pages, which are not in the index.
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
