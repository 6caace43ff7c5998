//! The interface of a replica, which is the same for a file and for memory.
//!
//! Each trait is one use of a replica. [`Store`] is all of them: `&dyn Store` is also a `&dyn` of
//! each trait. Writes need a [`Lease`](crate::Lease), and pages are written only through a
//! [`Staging`]. Uncommitted changes are never visible, and only one process can write a publisher's
//! pages at a time.

mod history;
mod pages;
mod search;
mod sites;
mod sync_records;
mod write;

pub use history::HistoryQueries;
pub use pages::PageQueries;
pub use search::SearchIndex;
pub use sites::SiteQueries;
pub use sync_records::SyncRecords;
pub use write::{LeaseControl, LeasedWrites, Staging, StoreMaintenance};

use crate::records::SiteRecords;

/// A replica: queries, search, leases and writes.
///
/// All methods may be called concurrently from several threads. Queries never wait for a staging.
pub trait Store:
    PageQueries
    + SiteQueries
    + HistoryQueries
    + SearchIndex
    + SyncRecords
    + SiteRecords
    + LeaseControl
    + LeasedWrites
    + StoreMaintenance
    + Send
    + Sync
{
}

impl<S> Store for S where
    S: PageQueries
        + SiteQueries
        + HistoryQueries
        + SearchIndex
        + SyncRecords
        + SiteRecords
        + LeaseControl
        + LeasedWrites
        + StoreMaintenance
        + Send
        + Sync
{
}
