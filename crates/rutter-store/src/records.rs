//! Records about sites beside their pages: the last visit, forgotten sites.
//!
//! A sync and an erasure write them, `status` reads them.
//! [`SiteRecords`] is part of every [`Store`](crate::Store).

use std::collections::BTreeMap;

use rutter_page::Timestamp;

use crate::error::{QueryError, WriteError};
use crate::model::{Lease, PublisherId};

/// Result of the last sync of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitRecord {
    /// End of the sync.
    pub at: Timestamp,
    /// Result as a code: `synced`, `partial`, `failed` or `refused`.
    pub result: String,
    /// Access method: `scp`, `arc`, `markdown`, `sitemap` or `links`; empty where none was found.
    pub method: String,
    /// First error or warning, in one line.
    pub error: Option<String>,
    /// Requests sent.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// URLs left out by reason, those included that are not recorded one by one.
    pub left_out: BTreeMap<String, u64>,
}

/// A site that was erased from the replica on request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedSite {
    /// Scheme, host and port.
    pub origin: String,
    /// Time of the request.
    pub at: Timestamp,
    /// Pages it had.
    pub pages: u64,
}

/// Result of [`SiteRecords::erase`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureResult {
    /// Pages that were deleted.
    pub pages: u64,
    /// Whether the freed space was overwritten and the log emptied. Where another process has the
    /// file open or the disk is full, remains may be left until the next
    /// [`maintain`](crate::Store::maintain).
    pub is_scrubbed: bool,
}

/// Records about sites.
pub trait SiteRecords {
    /// Records the result of a sync. Needs no lease, because a sync may fail before it has one.
    fn note_visit(&self, publisher: PublisherId, visit: &VisitRecord) -> Result<(), WriteError>;

    /// Result of the last sync.
    fn last_visit(&self, publisher: PublisherId) -> Result<Option<VisitRecord>, QueryError>;

    /// Sites that were erased and did not return, by origin.
    fn forgotten(&self) -> Result<Vec<ErasedSite>, QueryError>;

    /// Deletes a site with its content, history and index, and overwrites the space they had.
    ///
    /// One event of kind [`ErasedSite`](crate::ChangeKind::Forgotten) and one record stay behind.
    fn erase(&self, lease: Lease, now: Timestamp) -> Result<ErasureResult, WriteError>;

    /// Overwrites the space of erased sites, where an erasure was interrupted. Returns whether
    /// nothing is left to do.
    fn scrub(&self) -> Result<bool, WriteError>;
}
