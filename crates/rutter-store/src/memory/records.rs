//! Records about sites in memory, and the erasure of a site.

use rutter_page::{LineDigest, Timestamp};

use super::MemoryStore;
use crate::error::{QueryError, WriteError};
use crate::model::{Change, ChangeKind, Lease, PublisherId};
use crate::records::{ErasedSite, ErasureResult, SiteRecords, VisitRecord};
use crate::store::LeasedWrites;

impl SiteRecords for MemoryStore {
    fn note_visit(&self, publisher: PublisherId, visit: &VisitRecord) -> Result<(), WriteError> {
        if let Some(data) = self.lock().publishers.get_mut(&publisher) {
            data.visit = Some(visit.clone());
        }
        Ok(())
    }

    fn last_visit(&self, publisher: PublisherId) -> Result<Option<VisitRecord>, QueryError> {
        Ok(self.lock().publishers.get(&publisher).and_then(|data| data.visit.clone()))
    }

    fn forgotten(&self) -> Result<Vec<ErasedSite>, QueryError> {
        let inner = self.lock();
        let is_here =
            |origin: &str| inner.publishers.values().any(|data| data.publisher.origin == origin);
        let gone = inner.forgotten.values().filter(|it| !is_here(&it.origin));
        Ok(gone.cloned().collect())
    }

    fn erase(&self, lease: Lease, now: Timestamp) -> Result<ErasureResult, WriteError> {
        let (publisher, origin, pages) = {
            let mut inner = self.lock();
            let data = inner.idle_data(&lease)?;
            (lease.publisher, data.publisher.origin.clone(), data.publisher.pages)
        };
        self.forget(lease, now)?;
        let mut inner = self.lock();
        for change in inner.changes.iter_mut().filter(|change| change.publisher == publisher) {
            let (seq, at) = (change.seq, change.at);
            *change = Change { seq, at, ..empty(ChangeKind::Erased, "", now) };
        }
        inner.seq += 1;
        let seq = inner.seq;
        let event = Change { seq, publisher, ..empty(ChangeKind::Forgotten, &origin, now) };
        inner.changes.push(event);
        let record = ErasedSite { origin: origin.clone(), at: now, pages };
        inner.forgotten.insert(origin, record);
        inner.indexed.retain(|(id, _)| *id != publisher);
        Ok(ErasureResult { pages, is_scrubbed: true })
    }

    fn scrub(&self) -> Result<bool, WriteError> {
        Ok(true)
    }
}

/// Returns a change that concerns no page; its digest is zero.
fn empty(kind: ChangeKind, url: &str, now: Timestamp) -> Change {
    Change {
        seq: 0,
        at: now,
        publisher: PublisherId(0),
        kind,
        url: url.to_owned(),
        modified: now,
        digest: LineDigest([0; 16]),
    }
}
