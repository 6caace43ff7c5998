//! Records about sites, apart from their pages: the last visit, and the sites that were erased.
//!
//! A sync and an erasure write these records; the command `status` reads them. Every
//! [`Store`](crate::Store) implements [`SiteRecords`].

use std::collections::BTreeMap;

use rutter_page::Timestamp;

use crate::error::{QueryError, WriteError};
use crate::model::{Lease, PublisherId};

/// Result of the last sync of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitRecord {
    /// End of the sync.
    pub at: Timestamp,
    /// Result of the sync: `synced`, `partial`, `failed` or `refused`.
    pub result: String,
    /// Access method of the sync: `scp`, `arc`, `markdown`, `sitemap` or `links`; empty if none was
    /// found.
    pub method: String,
    /// First error or warning of the sync, in one line.
    pub error: Option<String>,
    /// Number of requests that the sync sent.
    pub requests: u64,
    /// Number of bytes that the sync received.
    pub bytes: u64,
    /// Number of URLs that the sync did not store, by the code of the reason. Includes URLs that
    /// have no record of their own.
    pub left_out: BTreeMap<String, u64>,
}

/// A site that was erased from the replica on request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedSite {
    /// Scheme, host and port.
    pub origin: String,
    /// When the site was erased.
    pub at: Timestamp,
    /// Number of pages that the site had.
    pub pages: u64,
}

/// Result of [`SiteRecords::erase`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureResult {
    /// Number of pages that were deleted.
    pub pages: u64,
    /// Whether the freed space was overwritten and the write-ahead log emptied. If another process
    /// has the file open, or if the disk is full, deleted data may stay in the file until the next
    /// [`maintain`](crate::StoreMaintenance::maintain).
    pub is_scrubbed: bool,
}

/// Reads and writes the records about sites.
pub trait SiteRecords {
    /// Records the result of a sync. Needs no lease, because a sync may fail before it acquires
    /// one.
    fn note_visit(&self, publisher: PublisherId, visit: &VisitRecord) -> Result<(), WriteError>;

    /// Returns the result of the publisher's last sync.
    fn last_visit(&self, publisher: PublisherId) -> Result<Option<VisitRecord>, QueryError>;

    /// Returns the sites that were erased and not synced again since, sorted by origin.
    fn forgotten(&self) -> Result<Vec<ErasedSite>, QueryError>;

    /// Deletes a site with its content, history and index, and overwrites their space in the file.
    ///
    /// One event of kind [`Forgotten`](crate::ChangeKind::Forgotten) and one [`ErasedSite`] remain.
    fn erase(&self, lease: Lease, now: Timestamp) -> Result<ErasureResult, WriteError>;

    /// Overwrites the space of erased sites if an erasure was interrupted. Returns whether no
    /// deleted data remains.
    fn scrub(&self) -> Result<bool, WriteError>;
}
