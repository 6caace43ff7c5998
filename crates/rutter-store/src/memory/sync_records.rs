//! What a sync stores for its next run, in memory.

use std::ops::Bound;

use super::MemoryStore;
use crate::error::{QueryError, WriteError};
use crate::model::DamagedPage;
use crate::model::{Lease, NoteKind, PublisherId, UrlNote, UrlRecords, Validator};
use crate::store::SyncRecords;

impl SyncRecords for MemoryStore {
    fn site_state(&self, publisher: PublisherId) -> Result<Option<String>, QueryError> {
        Ok(self.lock().publishers.get(&publisher).and_then(|data| data.state.clone()))
    }

    fn store_site_state(&self, publisher: PublisherId, state: &str) -> Result<(), WriteError> {
        if let Some(data) = self.lock().publishers.get_mut(&publisher) {
            data.state = Some(state.to_owned());
        }
        Ok(())
    }

    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError> {
        Ok(self.lock().validators.get(url).map(|(_, validator)| validator.clone()))
    }

    fn url_note(&self, kind: NoteKind, url: &str) -> Result<Option<UrlNote>, QueryError> {
        let inner = self.lock();
        Ok(inner.notes.get(&(kind, url.to_owned())).map(|(_, note)| note.clone()))
    }

    fn url_notes(
        &self,
        publisher: PublisherId,
        kind: NoteKind,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Result<UrlNote, DamagedPage>>, QueryError> {
        let inner = self.lock();
        let start = (kind, after.unwrap_or_default().to_owned());
        let behind = inner.notes.range((Bound::Excluded(start), Bound::Unbounded));
        let notes = behind
            .take_while(|((of, _), _)| *of == kind)
            .filter(|(_, (owner, _))| *owner == publisher);
        Ok(notes.take(most).map(|(_, (_, note))| Ok(note.clone())).collect())
    }

    fn store_url_records(&self, lease: &Lease, records: &UrlRecords) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.idle_data(lease)?;
        for validator in &records.validators {
            let entry = (lease.publisher, validator.clone());
            inner.validators.insert(validator.url.clone(), entry);
        }
        for note in &records.notes {
            let entry = (lease.publisher, note.clone());
            inner.notes.insert((note.kind(), note.url.clone()), entry);
        }
        Ok(())
    }

    fn delete_url_notes(
        &self,
        lease: &Lease,
        kind: NoteKind,
        urls: &[String],
    ) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.idle_data(lease)?;
        for url in urls {
            let key = (kind, url.clone());
            if inner.notes.get(&key).is_some_and(|(owner, _)| *owner == lease.publisher) {
                inner.notes.remove(&key);
            }
        }
        Ok(())
    }
}
