//! Writes: leases, stagings and maintenance.

use rutter_arc::ArcEntry;
use rutter_page::Timestamp;
use rutter_spxi::Entity;

use crate::error::{CommitError, LeaseError, QueryError, StageError, WriteError};
use crate::model::{
    CheckDepth, ClaimedState, CommitOptions, CommitSummary, DownloadRecord, Lease, PublisherId,
    RemovalCause, StagedPage, StagingOptions, WithheldReason,
};

/// Gives one process the exclusive right to write the pages of a publisher.
pub trait LeaseControl {
    /// Acquires the lease of a publisher, the exclusive right to write its pages.
    ///
    /// A lease is taken over if it has expired, or if its holder is a process of this machine that
    /// has exited.
    fn lease(
        &self,
        publisher: PublisherId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Lease, LeaseError>;

    /// Extends a lease until a later time.
    fn renew(&self, lease: &Lease, until: Timestamp) -> Result<(), LeaseError>;

    /// Releases a lease. Has no effect if the lease was lost.
    fn release(&self, lease: Lease) -> Result<(), LeaseError>;
}

/// Writes the data of one publisher under a [`Lease`]. Pages are written only through a [`Staging`].
pub trait LeasedWrites {
    /// Opens a staging. Dropping the staging discards its changes.
    fn stage<'s>(
        &'s self,
        lease: &Lease,
        begin: StagingOptions<'_>,
    ) -> Result<Box<dyn Staging + 's>, StageError>;

    /// Deletes the content of pages without a staging, for a site that withdrew its consent without
    /// publishing a collection. Returns the number of pages that had content.
    fn withhold(
        &self,
        lease: &Lease,
        pages: &[(&str, WithheldReason)],
        now: Timestamp,
    ) -> Result<u64, WriteError>;

    /// Replaces all ARC entries of a publisher.
    fn replace_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError>;

    /// Applies an ARC delta: a tombstone removes the stored entry, any other entry replaces it
    /// (D60).
    fn merge_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError>;

    /// Replaces all entities of a publisher.
    fn replace_entities(&self, lease: &Lease, entities: &[Entity]) -> Result<(), WriteError>;

    /// Records a download that was not committed.
    fn record_download(&self, lease: &Lease, taken: &DownloadRecord) -> Result<(), WriteError>;

    /// Sets the time until which a sync sends no requests to a publisher; `None` ends the pause.
    fn pause(&self, lease: &Lease, until: Option<Timestamp>) -> Result<(), WriteError>;

    /// Deletes a publisher with all of its data, including the lease.
    fn forget(&self, lease: Lease, now: Timestamp) -> Result<(), WriteError>;
}

/// Writes and checks that concern the whole replica and need no lease.
pub trait StoreMaintenance {
    /// Adds a publisher, or updates its aliases. Existing aliases are kept if `aliases`
    /// is empty.
    fn register(&self, origin: &str, aliases: &[&str]) -> Result<PublisherId, WriteError>;

    /// Deletes the history, the tombstones, and the validators and URL notes of removed pages from
    /// before `oldest`, and returns free space to the file system.
    fn maintain(&self, oldest: Timestamp) -> Result<(), WriteError>;

    /// Checks the replica and returns a description of each problem.
    fn check(&self, depth: CheckDepth) -> Result<Vec<String>, QueryError>;
}

/// Uncommitted changes to one section of one publisher.
///
/// [`Staging::commit`] makes all changes visible at once.
pub trait Staging {
    /// Adds a page; returns an error if the publisher would exceed its quota of pages.
    fn add(&mut self, item: &StagedPage<'_>) -> Result<(), StageError>;

    /// Removes a page from the section when the staging is committed.
    fn remove(&mut self, key: &str, cause: RemovalCause) -> Result<(), StageError>;

    /// Stops following another section of the publisher: the commit deletes that section, and its
    /// pages that are in no other section.
    fn unfollow(&mut self, section: &str) -> Result<(), StageError>;

    /// Computes the expected result of a commit without committing. `claim` is
    /// [`CommitOptions::claim`].
    fn preview(&mut self, claim: Option<&ClaimedState>) -> Result<CommitSummary, StageError>;

    /// Commits all changes in one transaction.
    fn commit(self: Box<Self>, finish: &CommitOptions) -> Result<CommitSummary, CommitError>;
}
