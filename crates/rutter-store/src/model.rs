//! What a replica holds, as plain data.
//!
//! Made by a [`Store`](crate::Store) for whoever asks, and by whoever syncs
//! for a [`Staging`](crate::Staging). Nothing here does anything.

use std::fmt;
use std::ops::RangeInclusive;

use rutter_page::{LineDigest, Page, Timestamp};
use rutter_scp::{Chain, MassDeletion, Receipt, Record, State};

use crate::decide::links;
use crate::error::DamagedPage;

/// Makes an enumeration whose values are words in the database.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $( $(#[$about:meta])* $value:ident = $word:literal, )* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[$about])* $value, )* }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[ $( Self::$value, )* ];

            /// Its word.
            pub fn word(self) -> &'static str {
                match self { $( Self::$value => $word, )* }
            }

            /// The value of a word.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}

words! {
    /// Where a page came from.
    Source {
        /// A verified SCP collection.
        Scp = "scp",
        /// The snapshot of an ARC sitemap.
        Arc = "arc",
        /// HTML, read by the extractor.
        Html = "html",
        /// A Markdown twin.
        Markdown = "markdown",
    }
}

words! {
    /// Why a page has a row and no body (D95): its digest is kept so that
    /// states can be equal, its words are not.
    Withheld {
        /// robots.txt forbids the address to us (D93).
        Robots = "robots",
        /// The site says that the page is not for AI, or needs a login (D87).
        Consent = "consent",
        /// The publisher has used up its quota (SCP-184).
        Quota = "quota",
        /// The address is outside the publisher's hosts (D88).
        Foreign = "foreign",
        /// The line is at fault by itself (D32).
        Fault = "fault",
        /// The page has no content of its own: it comes by a script or after a
        /// login.
        Shell = "shell",
        /// The page is outside the scope of the sync.
        Scope = "scope",
    }
}

words! {
    /// Why a page went away.
    Cause {
        /// A newer snapshot does not have it (SCP-135).
        Absent = "absent",
        /// A delta names it as removed (D95).
        Removed = "removed",
        /// The site answers that it is gone.
        Gone = "gone",
        /// Its section is no longer followed.
        Unfollowed = "unfollowed",
    }
}

words! {
    /// What happened to a page, as those see it who read the replica.
    ChangeKind {
        /// It can be read now and could not before.
        Added = "added",
        /// It says something else.
        Changed = "changed",
        /// It is gone; a tombstone tells why.
        Removed = "removed",
        /// Its words may no longer be shown.
        Withheld = "withheld",
        /// The whole site was forgotten; the URL is its origin.
        Forgotten = "forgotten",
        /// An event of a forgotten site, of which only its number is left;
        /// never in an answer.
        Erased = "erased",
    }
}

impl ChangeKind {
    /// Whether a copy elsewhere takes the page; otherwise it drops it.
    pub fn is_upsert(self) -> bool {
        matches!(self, Self::Added | Self::Changed)
    }
}

words! {
    /// How what is staged meets what is there.
    Mode {
        /// All pages of a section: those it lacks are deleted (D23).
        Snapshot = "snapshot",
        /// Changes: later pages win, only named pages are removed (D21, D95).
        Delta = "delta",
        /// Pages that were looked at one by one: what differs is taken.
        Visit = "visit",
    }
}

/// Names a publisher within one replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublisherId(pub i64);

/// A site that is replicated: the unit of lease, quota and deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publisher {
    /// Its number here.
    pub id: PublisherId,
    /// Scheme, host and port.
    pub origin: String,
    /// Other origins that are the same site (D88).
    pub aliases: Vec<String>,
    /// What whoever syncs remembers about it; opaque here.
    pub policy: String,
    /// Not to be asked before.
    pub paused_until: Option<Timestamp>,
    /// Pages, those without body included.
    pub pages: u64,
    /// Bytes of all bodies as they lie on disk.
    pub bytes: u64,
    /// Who syncs it now, if anybody, and until when.
    pub lease: Option<(String, Timestamp)>,
}

/// A section as it is here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Sum over what it delivered (D95).
    pub state: State,
    /// Whether the last collection named its state, and it came out.
    pub is_proved: bool,
    /// Everything up to this moment is here.
    pub mark: Timestamp,
    /// `generated` of the newest snapshot.
    pub snapshot_at: Option<Timestamp>,
    /// Deltas taken since then.
    pub deltas_since: u64,
    /// Pages in it, those without body included.
    pub pages: u64,
    /// `generated` of a collection that would delete too much and waits for
    /// a later one to say the same (D23).
    pub held: Option<Timestamp>,
}

/// A page without its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRow {
    /// Whose page it is.
    pub publisher: PublisherId,
    /// Its key (D30).
    pub url: String,
    /// When its content changed, by its own account.
    pub modified: Timestamp,
    /// Digest of its line.
    pub digest: LineDigest,
    /// Its title.
    pub title: String,
    /// Its language.
    pub language: String,
    /// Where it came from.
    pub source: Source,
    /// Why its words are not here; `None` where they are.
    pub withheld: Option<Withheld>,
    /// When it was first seen here.
    pub first_seen: Timestamp,
    /// When this version came here.
    pub changed: Timestamp,
}

/// Which pages are asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    /// Of this publisher only.
    pub publisher: Option<PublisherId>,
    /// Of its section of this name only; needs a publisher.
    pub section: Option<&'a str>,
    /// Pages without words too.
    pub with_withheld: bool,
}

/// Where a listing goes on: behind this page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct After<'a> {
    /// Of this publisher.
    pub publisher: PublisherId,
    /// This page.
    pub url: &'a str,
}

impl PageRow {
    /// Where a listing goes on behind this page.
    pub fn after(&self) -> After<'_> {
        After { publisher: self.publisher, url: &self.url }
    }
}

/// A page that went away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// Whose page it was.
    pub publisher: PublisherId,
    /// Its key.
    pub url: String,
    /// When it went.
    pub at: Timestamp,
    /// Why.
    pub cause: Cause,
    /// The version that was here last.
    pub modified: Timestamp,
}

/// An event in the history of the replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its place in the history.
    pub seq: u64,
    /// When it was committed.
    pub at: Timestamp,
    /// Whose page it is.
    pub publisher: PublisherId,
    /// What happened.
    pub kind: ChangeKind,
    /// To which page.
    pub url: String,
    /// Its version then.
    pub modified: Timestamp,
    /// Its digest then.
    pub digest: LineDigest,
}

/// A place in the history of one replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// Which replica.
    pub store: u64,
    /// Behind which event.
    pub seq: u64,
}

impl Cursor {
    /// Reads what [`fmt::Display`] wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let (store, seq) = text.split_once('-')?;
        let is_number = !seq.is_empty() && seq.bytes().all(|byte| byte.is_ascii_digit());
        if store.len() != 16 || !is_number {
            return None;
        }
        Some(Self { store: u64::from_str_radix(store, 16).ok()?, seq: seq.parse().ok()? })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{}", self.store, self.seq)
    }
}

/// Numbers of pages of a publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageTotals {
    /// All pages, as the record of the publisher says.
    pub pages: u64,
    /// Pages without content, as counted.
    pub withheld: u64,
}

/// A piece of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// Events in order.
    pub events: Vec<Change>,
    /// Where to go on.
    pub next: Cursor,
    /// Whether there is more at once.
    pub has_more: bool,
    /// Numbers of events that are damaged or missing, in order.
    pub damaged: Vec<RangeInclusive<u64>>,
}

/// Events of a history, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Happened {
    /// Pages that can be read now and could not before.
    pub added: u64,
    /// Pages that say something else.
    pub changed: u64,
    /// Pages that are gone.
    pub removed: u64,
    /// Pages whose words may no longer be shown.
    pub withheld: u64,
}

impl Happened {
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

/// How far a history reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    /// When the oldest event happened that is still known.
    pub oldest: Option<Timestamp>,
    /// Events that are still known.
    pub events: u64,
    /// Its end.
    pub cursor: Cursor,
}

/// Pages of a publisher that have something in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Census {
    /// Where they came from.
    pub source: Source,
    /// Why their words are not here; `None` where they are.
    pub withheld: Option<Withheld>,
    /// How many.
    pub pages: u64,
}

/// What was taken from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Section it belongs to.
    pub section: String,
    /// Where it came from.
    pub url: String,
    /// Snapshot, delta or visit.
    pub mode: Mode,
    /// When it was made.
    pub generated: Timestamp,
    /// Lower bound of a delta.
    pub since: Option<Timestamp>,
    /// Its checksum, as written.
    pub checksum: Option<String>,
    /// State it starts from.
    pub from: Option<State>,
    /// State it leads to.
    pub state: Option<State>,
    /// Bytes of the file.
    pub bytes: u64,
    /// When it was taken.
    pub at: Timestamp,
    /// What became of it: `applied`, or why not.
    pub outcome: String,
}

impl Taken {
    /// What a verified collection says of itself.
    pub fn of_receipt(url: &str, receipt: &Receipt, at: Timestamp) -> Self {
        let header = &receipt.header;
        let since = header.kind.since();
        Self {
            section: header.section.clone(),
            url: url.to_owned(),
            mode: if since.is_some() { Mode::Delta } else { Mode::Snapshot },
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

/// What a server said by which a file can be asked for again (SCP-154).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validator {
    /// The file.
    pub url: String,
    /// `ETag`, as written.
    pub etag: Option<String>,
    /// `Last-Modified`, as written.
    pub last_modified: Option<String>,
    /// When the server said so last.
    pub checked: Timestamp,
}

/// The right to write one publisher's pages, for a while.
///
/// `epoch` is the fence: whoever slept beyond the lease finds another epoch
/// and cannot commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Which publisher.
    pub publisher: PublisherId,
    /// Number of the lease.
    pub epoch: u64,
}

/// What is about to be staged.
#[derive(Debug, Clone, Copy)]
pub struct Begin<'a> {
    /// The section it belongs to.
    pub section: &'a str,
    /// How it meets what is there.
    pub mode: Mode,
    /// When it was made; of a visit, when it began.
    pub generated: Timestamp,
    /// Where its pages come from.
    pub source: Source,
    /// What the publisher may fill.
    pub quota: Quota,
    /// The time of day.
    pub now: Timestamp,
}

/// What one publisher may fill (SCP-184).
///
/// A collection with more pages is refused: each would be a row, whether it
/// has words or not. Pages whose words no longer fit are withheld.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// Pages.
    pub pages: u64,
    /// Bytes of bodies on disk.
    pub bytes: u64,
}

impl Quota {
    /// Five million pages, 20 GB.
    pub const USUAL: Self = Self { pages: 5_000_000, bytes: 20_000_000_000 };
    /// As much as there is.
    pub const NONE: Self = Self { pages: u64::MAX, bytes: u64::MAX };
}

/// A page that comes in, with its verified line.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// Its key (D30).
    pub key: &'a str,
    /// When its content changed.
    pub modified: Timestamp,
    /// Digest of the line.
    pub digest: LineDigest,
    /// Its title.
    pub title: &'a str,
    /// Its language.
    pub language: &'a str,
    /// The line.
    pub line: &'a str,
    /// Why the line is not to be kept, if so.
    pub withheld: Option<Withheld>,
}

impl<'a> Item<'a> {
    /// A page and its line; hashes the line.
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

    /// A page as a collection's reader lends it.
    pub fn of_record(record: &'a Record<'_>) -> Self {
        Self::of_page(&record.page, record.text)
    }
}

/// What would be there after a commit: a question asked before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outlook {
    /// Lines that were added, pages that came twice included.
    pub lines: u64,
    /// Pages before, in the section and in those no longer followed.
    pub before: u64,
    /// Pages in the section after.
    pub after: u64,
    /// Pages that were not here.
    pub added: u64,
    /// Pages whose content is replaced, or which become or cease to be withheld.
    pub changed: u64,
    /// Pages whose content stays as it is.
    pub kept: u64,
    /// Pages that leave the section, and those that no section has any more
    /// because others are no longer followed.
    pub removed: u64,
    /// Of the added and changed ones, those without words.
    pub withheld: u64,
    /// Of those, the ones that are beyond the quota.
    pub over_quota: u64,
    /// The section's state after (D95).
    pub state: State,
}

/// What a collection says the section is, once it was applied (D95).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The state.
    pub state: State,
    /// Pages in the section.
    pub pages: u64,
}

/// What a commit needs besides the pages.
#[derive(Debug, Clone)]
pub struct Finish {
    /// Lines of pages the collection had; `None` where nobody counted.
    pub lines: Option<u64>,
    /// What must come out; `None` for plain publishers, and for a delta that
    /// does not start from our state.
    pub claim: Option<Claim>,
    /// Whether more than half of a section may go at once (D23).
    pub mass_deletion: MassDeletion,
    /// For the ledger.
    pub taken: Option<Taken>,
    /// What the server said, to be believed only together with the pages.
    pub validator: Option<Validator>,
}

impl Finish {
    /// Ends a staging with the receipt of the collection it was filled from.
    ///
    /// `before` is the section as it was when the staging began: a delta
    /// proves its state where it starts from ours ([`links`](crate::links)), a
    /// snapshot always.
    pub fn of_receipt(
        url: &str,
        receipt: &Receipt,
        before: Option<&Section>,
        at: Timestamp,
    ) -> Self {
        let chain = receipt.header.chain.as_ref();
        let is_snapshot = receipt.header.kind.since().is_none();
        let is_linked = |chain: &Chain| before.is_some_and(|before| links(before, chain));
        let chain = chain.filter(|chain| is_snapshot || is_linked(chain));
        Self {
            lines: Some(receipt.tally.pages),
            claim: chain.map(|chain| Claim { state: chain.state, pages: chain.pages }),
            mass_deletion: MassDeletion::Refused,
            taken: Some(Taken::of_receipt(url, receipt, at)),
            validator: None,
        }
    }

    /// Ends a staging that no collection stands behind.
    pub fn plain() -> Self {
        Self {
            lines: None,
            claim: None,
            mass_deletion: MassDeletion::Refused,
            taken: None,
            validator: None,
        }
    }
}

/// An ARC entry as it lies in the replica.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArcRow {
    /// Whose page it speaks of.
    pub publisher: PublisherId,
    /// The page's key.
    pub url: String,
    /// Whether it gives consent.
    pub is_allowed: bool,
    /// The entry, as [`rutter_arc::Entry::to_json`] writes it.
    pub json: String,
}

/// How thoroughly a replica is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The bookkeeping.
    Books,
    /// Every body too: unpacked, and its digest taken.
    Bodies,
}

/// A page that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The page.
    pub page: PageRow,
    /// Words around what was looked for, which stands between `[` and `]`.
    pub snippet: String,
    /// Lower is better.
    pub rank: f64,
    /// Words of the query that the page does not have.
    pub missing: Vec<String>,
}

words! {
    /// Which words the pages of an answer have.
    Matched {
        /// All words as they were typed.
        All = "all",
        /// All words, some of them corrected.
        Corrected = "corrected",
        /// Some of the words: no page has all of them.
        Some = "some",
    }
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Pages, best first.
    pub hits: Vec<Hit>,
    /// Which words they have.
    pub matched: Matched,
    /// Words that no page has, each with the word that was looked for instead.
    pub corrections: Vec<(String, String)>,
    /// Pages that match and cannot be read.
    pub damaged: Vec<DamagedPage>,
}

impl Default for Found {
    fn default() -> Self {
        let (hits, damaged, corrections) = (Vec::new(), Vec::new(), Vec::new());
        Self { hits, matched: Matched::All, corrections, damaged }
    }
}

/// How a full-text index is coming along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// Pages that were looked at this time.
    pub pages: u64,
    /// Whether it knows everything now.
    pub is_current: bool,
    /// Pages that cannot be read, and are not in the index.
    pub damaged: Vec<DamagedPage>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_cursor_reads_what_it_writes() {
        let cursor = Cursor { store: 0x1f, seq: 42 };
        assert_eq!(cursor.to_string(), "000000000000001f-42");
        assert_eq!(Cursor::parse(&cursor.to_string()), Some(cursor));
        for bad in
            ["", "42", "1f-42", "000000000000001f-", "000000000000001f-+1", "g00000000000001f-1"]
        {
            assert_eq!(Cursor::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn ours_words_come_back() {
        for cause in Cause::ALL {
            assert_eq!(Cause::of_word(cause.word()), Some(*cause));
        }
        assert_eq!(Source::of_word("pdf"), None);
    }
}
