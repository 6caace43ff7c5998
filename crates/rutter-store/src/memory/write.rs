//! Leases and writes in memory.

use rutter_arc::{ArcEntry, Consent};
use rutter_page::Timestamp;
use rutter_scp::merge;
use rutter_spxi::Entity;

use super::MemoryStore;
use super::stage::MemoryStaging;
use crate::error::{LeaseError, StageError, WriteError};
use crate::model::{
    ArcRow, ChangeKind, DownloadRecord, Lease, PublisherId, StagingMode, StagingOptions,
    WithheldReason,
};
use crate::store::{LeaseControl, LeasedWrites, Staging};

impl LeaseControl for MemoryStore {
    fn lease(
        &self,
        publisher: PublisherId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Lease, LeaseError> {
        let mut inner = self.lock();
        let data = inner.publishers.get_mut(&publisher).ok_or(LeaseError::Unknown)?;
        if let Some((holder, until)) =
            data.publisher.lease.clone().filter(|(_, until)| now < *until)
        {
            return Err(LeaseError::Held { holder, until });
        }
        data.publisher.lease = Some((format!("process {}", std::process::id()), until));
        (data.is_leased, data.is_staging) = (true, false);
        data.epoch += 1;
        Ok(Lease { publisher, epoch: data.epoch })
    }

    fn renew(&self, lease: &Lease, until: Timestamp) -> Result<(), LeaseError> {
        let mut inner = self.lock();
        let data = inner.data(lease).ok_or(LeaseError::Lost)?;
        if let Some((_, end)) = &mut data.publisher.lease {
            *end = until;
        }
        Ok(())
    }

    fn release(&self, lease: Lease) -> Result<(), LeaseError> {
        if let Some(data) = self.lock().data(&lease) {
            data.is_leased = false;
            data.publisher.lease = None;
        }
        Ok(())
    }
}

impl LeasedWrites for MemoryStore {
    fn stage<'s>(
        &'s self,
        lease: &Lease,
        begin: StagingOptions<'_>,
    ) -> Result<Box<dyn Staging + 's>, StageError> {
        let mut inner = self.lock();
        let data = inner.data(lease).ok_or(StageError::Lost)?;
        if data.is_staging {
            return Err(StageError::Staging);
        }
        let newest = data.parts.get(begin.section).and_then(|part| part.section.snapshot_at);
        if let (StagingMode::Snapshot, true, Some(newest)) =
            (begin.mode, merge::is_replay(begin.generated, newest), newest)
        {
            return Err(StageError::Replay { generated: begin.generated, newest });
        }
        data.is_staging = true;
        Ok(Box::new(MemoryStaging::new(self, lease, begin)))
    }

    fn withhold(
        &self,
        lease: &Lease,
        pages: &[(&str, WithheldReason)],
        now: Timestamp,
    ) -> Result<u64, WriteError> {
        let mut inner = self.lock();
        let data = inner.idle_data(lease)?;
        let mut rows = Vec::new();
        for (url, reason) in pages {
            let Some(kept) = data.pages.get_mut(*url) else { continue };
            if kept.line.take().is_some() {
                (kept.row.withheld, kept.row.changed) = (Some(*reason), now);
                rows.push(kept.row.clone());
            }
        }
        data.update_totals();
        for row in &rows {
            inner.event(now, ChangeKind::Withheld, row);
        }
        Ok(rows.len() as u64)
    }

    fn replace_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError> {
        self.lock().idle_data(lease)?.arc.clear();
        self.merge_arc(lease, entries)
    }

    fn merge_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError> {
        let mut inner = self.lock();
        let data = inner.idle_data(lease)?;
        for entry in entries {
            let url = entry.url.key().to_owned();
            if entry.removed {
                data.arc.remove(&url);
                continue;
            }
            let is_allowed = entry.consent() == Consent::Given;
            let row = ArcRow {
                publisher: lease.publisher,
                url: url.clone(),
                is_allowed,
                json: entry.to_json(),
            };
            data.arc.insert(url, row);
        }
        Ok(())
    }

    fn replace_entities(&self, lease: &Lease, entities: &[Entity]) -> Result<(), WriteError> {
        self.lock().idle_data(lease)?.entities = entities.to_vec();
        Ok(())
    }

    fn record_download(&self, lease: &Lease, taken: &DownloadRecord) -> Result<(), WriteError> {
        self.lock().idle_data(lease)?.taken.push(taken.clone());
        Ok(())
    }

    fn pause(&self, lease: &Lease, until: Option<Timestamp>) -> Result<(), WriteError> {
        self.lock().idle_data(lease)?.publisher.paused_until = until;
        Ok(())
    }

    fn forget(&self, lease: Lease, now: Timestamp) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.idle_data(&lease)?;
        let Some(data) = inner.publishers.remove(&lease.publisher) else { return Ok(()) };
        for kept in data.pages.values().filter(|kept| kept.line.is_some()) {
            inner.event(now, ChangeKind::Removed, &kept.row);
        }
        inner.validators.retain(|_, (publisher, _)| *publisher != lease.publisher);
        inner.notes.retain(|_, (publisher, _)| *publisher != lease.publisher);
        Ok(())
    }
}
