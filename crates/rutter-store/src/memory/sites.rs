//! Queries about sites in memory.

use rutter_spxi::Entity;

use super::MemoryStore;
use crate::error::QueryError;
use crate::model::{ArcRow, DownloadRecord, Publisher, PublisherId, Section};
use crate::sqlite::origin_of;
use crate::store::SiteQueries;

impl SiteQueries for MemoryStore {
    fn publishers(&self) -> Result<Vec<Publisher>, QueryError> {
        Ok(self.lock().publishers.values().map(|data| data.publisher.clone()).collect())
    }

    fn publisher(&self, origin: &str) -> Result<Option<Publisher>, QueryError> {
        let inner = self.lock();
        let mut all = inner.publishers.values().map(|data| &data.publisher);
        Ok(all.find(|publisher| publisher.origin == origin).cloned())
    }

    fn sections(&self, publisher: PublisherId) -> Result<Vec<Section>, QueryError> {
        let inner = self.lock();
        let parts =
            inner.publishers.get(&publisher).into_iter().flat_map(|data| data.parts.values());
        Ok(parts.map(|part| part.section.clone()).collect())
    }

    fn sections_of(&self, publisher: PublisherId, key: &str) -> Result<Vec<String>, QueryError> {
        let inner = self.lock();
        let parts =
            inner.publishers.get(&publisher).into_iter().flat_map(|data| data.parts.values());
        let having = parts.filter(|part| part.members.contains_key(key));
        Ok(having.map(|part| part.section.name.clone()).collect())
    }

    fn arc_entry(&self, key: &str) -> Result<Option<ArcRow>, QueryError> {
        let inner = self.lock();
        let origin = origin_of(key);
        let own = inner.publishers.values().find(|data| data.publisher.origin == origin);
        let own = own.and_then(|data| data.arc.get(key));
        let any = || inner.publishers.values().find_map(|data| data.arc.get(key));
        Ok(own.or_else(any).cloned())
    }

    fn arc_entries(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<ArcRow>, QueryError> {
        let inner = self.lock();
        let all = inner.publishers.get(&publisher).into_iter().flat_map(|data| data.arc.values());
        let behind = all.filter(|row| after.is_none_or(|after| after < row.url.as_str()));
        Ok(behind.take(most).cloned().collect())
    }

    fn arc_forbidden(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<String>, QueryError> {
        let inner = self.lock();
        let arc = inner.publishers.get(&publisher).into_iter().flat_map(|data| data.arc.values());
        let behind = arc.filter(|row| after.is_none_or(|after| after < row.url.as_str()));
        let closed = behind.filter(|row| !row.is_allowed);
        Ok(closed.take(most).map(|row| row.url.clone()).collect())
    }

    fn entities(&self, publisher: PublisherId) -> Result<Vec<Entity>, QueryError> {
        let inner = self.lock();
        Ok(inner.publishers.get(&publisher).map_or_else(Vec::new, |data| data.entities.clone()))
    }

    fn downloads(
        &self,
        publisher: PublisherId,
        most: usize,
    ) -> Result<Vec<DownloadRecord>, QueryError> {
        let inner = self.lock();
        let all = inner.publishers.get(&publisher).into_iter().flat_map(|it| it.taken.iter().rev());
        Ok(all.take(most).cloned().collect())
    }
}
