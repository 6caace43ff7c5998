//! Sites in a replica: publishers, their sections and leases.

use rutter_page::Timestamp;
use rutter_scp::SectionState;

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
