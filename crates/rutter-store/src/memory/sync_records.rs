//! What a sync stores for its next run, in memory.

use std::ops::Bound;

use super::MemoryStore;
use crate::error::{DamagedPage, QueryError, WriteError};
use crate::model::{Lease, PublisherId, Validator};
use crate::store::SyncRecords;

impl SyncRecords for MemoryStore {
    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError> {
        Ok(self.lock().validators.get(url).map(|(_, validator)| validator.clone()))
    }

    fn url_notes(
        &self,
        publisher: PublisherId,
        word: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Result<Validator, DamagedPage>>, QueryError> {
        let inner = self.lock();
        let start = format!("{word}:{}", after.unwrap_or_default());
        let behind =
            inner.validators.range::<str, _>((Bound::Excluded(start.as_str()), Bound::Unbounded));
        let marks = behind
            .take_while(|(url, _)| url.strip_prefix(word).is_some_and(|it| it.starts_with(':')))
            .filter(|(_, (of, _))| *of == publisher);
        Ok(marks.take(most).map(|(_, (_, validator))| Ok(validator.clone())).collect())
    }

    fn store_validator(&self, lease: &Lease, validator: &Validator) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.idle_data(lease)?;
        let entry = (lease.publisher, validator.clone());
        inner.validators.insert(validator.url.clone(), entry);
        Ok(())
    }

    fn delete_url_notes(&self, lease: &Lease, marks: &[String]) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.idle_data(lease)?;
        for mark in marks {
            let is_theirs = |(of, _): &(PublisherId, Validator)| *of == lease.publisher;
            if inner.validators.get(mark).is_some_and(is_theirs) {
                inner.validators.remove(mark);
            }
        }
        Ok(())
    }
}
