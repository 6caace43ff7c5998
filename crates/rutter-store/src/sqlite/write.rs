//! Writes under a lease.

use rusqlite::Transaction;
use rutter_arc::ArcEntry;
use rutter_page::Timestamp;
use rutter_spxi::Entity;

use super::{SqliteStore, arc, entities, flip, lease, sites, stage};
use crate::error::{LeaseError, StageError, StorageError, WriteError};
use crate::model::{DownloadRecord, Lease, PublisherId, StagingOptions, WithheldReason};
use crate::store::{LeaseControl, LeasedWrites, Staging};

impl LeaseControl for SqliteStore {
    fn lease(
        &self,
        publisher: PublisherId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Lease, LeaseError> {
        self.take_lease(publisher, now, until)
    }

    fn renew(&self, lease: &Lease, until: Timestamp) -> Result<(), LeaseError> {
        self.renew_lease(lease, until)
    }

    fn release(&self, lease: Lease) -> Result<(), LeaseError> {
        self.release_lease(&lease)
    }
}

impl LeasedWrites for SqliteStore {
    fn stage<'s>(
        &'s self,
        lease: &Lease,
        begin: StagingOptions<'_>,
    ) -> Result<Box<dyn Staging + 's>, StageError> {
        Ok(Box::new(stage::SqliteStaging::begin(self, lease, begin)?))
    }

    fn withhold(
        &self,
        lease: &Lease,
        pages: &[(&str, WithheldReason)],
        now: Timestamp,
    ) -> Result<u64, WriteError> {
        self.write(lease, |transaction| flip::withhold(transaction, lease.publisher, pages, now))
    }

    fn replace_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError> {
        self.write(lease, |transaction| arc::replace_arc(transaction, lease.publisher, entries))
    }

    fn merge_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError> {
        self.write(lease, |transaction| arc::merge_arc(transaction, lease.publisher, entries))
    }

    fn replace_entities(&self, lease: &Lease, entities: &[Entity]) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            entities::replace_entities(transaction, lease.publisher, entities)
        })
    }

    fn record_download(&self, lease: &Lease, taken: &DownloadRecord) -> Result<(), WriteError> {
        self.write(lease, |transaction| sites::record_download(transaction, lease.publisher, taken))
    }

    fn pause(&self, lease: &Lease, until: Option<Timestamp>) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            transaction.execute(
                "UPDATE publisher SET paused_until = ?1 WHERE id = ?2",
                (until.map(|until| until.to_string()), lease.publisher.0),
            )?;
            Ok(())
        })
    }

    fn forget(&self, lease: Lease, now: Timestamp) -> Result<(), WriteError> {
        self.write(&lease, |transaction| flip::forget(transaction, lease.publisher, now))
    }
}

impl SqliteStore {
    /// Runs `work` in a transaction, after checking that the lease is valid.
    pub(super) fn write<T>(
        &self,
        lease: &Lease,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StorageError>,
    ) -> Result<T, WriteError> {
        let mut writer = self.writer()?;
        let transaction = writer.begin()?;
        if !lease::holds(&transaction, lease)? {
            return Err(WriteError::Lost);
        }
        let is_staging: bool = transaction.query_row(
            "SELECT EXISTS (SELECT 1 FROM run WHERE publisher = ?1)",
            [lease.publisher.0],
            |row| row.get(0),
        )?;
        if is_staging {
            return Err(WriteError::Staging);
        }
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}
