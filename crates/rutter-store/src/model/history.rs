//! The history of a replica: changes, cursors, and records of removed pages.

use std::fmt;
use std::ops::RangeInclusive;

use rutter_page::{LineDigest, Timestamp};

use super::site::PublisherId;

rutter_page::named_values! {
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

rutter_page::named_values! {
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
    fn parses_names_of_causes() {
        for cause in RemovalCause::ALL {
            assert_eq!(RemovalCause::of_word(cause.word()), Some(*cause));
        }
    }
}
