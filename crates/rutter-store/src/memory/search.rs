//! Full-text search in memory.

use super::MemoryStore;
use crate::error::{QueryError, WriteError};
use crate::model::{Change, IndexProgress, PublisherId, SearchResults};
use crate::sqlite::search_in;
use crate::store::SearchIndex;
use crate::words::SearchQuery;

impl SearchIndex for MemoryStore {
    fn search(&self, query: &SearchQuery, most: usize) -> Result<SearchResults, QueryError> {
        self.search_among(None, query, most)
    }

    fn search_of(
        &self,
        publisher: PublisherId,
        query: &SearchQuery,
        most: usize,
    ) -> Result<SearchResults, QueryError> {
        self.search_among(Some(publisher), query, most)
    }

    fn unindexed(&self) -> Result<Option<u64>, QueryError> {
        let inner = self.lock();
        Ok((inner.index_cursor != 0).then_some(inner.seq - inner.index_cursor))
    }

    fn index(&self, most: u64) -> Result<IndexProgress, WriteError> {
        let mut inner = self.lock();
        let cursor = inner.index_cursor;
        let behind = inner.changes.iter().filter(|change| cursor < change.seq);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let taken: Vec<Change> = behind.take(most).cloned().collect();
        for change in &taken {
            if change.kind.is_upsert() {
                inner.indexed.insert((change.publisher, change.url.clone()));
            }
            inner.index_cursor = change.seq;
        }
        let is_current = inner.index_cursor == inner.seq;
        Ok(IndexProgress { pages: taken.len() as u64, is_current, damaged: Vec::new() })
    }
}

impl MemoryStore {
    fn search_among(
        &self,
        publisher: Option<PublisherId>,
        query: &SearchQuery,
        most: usize,
    ) -> Result<SearchResults, QueryError> {
        let inner = self.lock();
        let indexed = inner.indexed.iter();
        let wanted = indexed.filter(|(id, _)| publisher.is_none_or(|publisher| publisher == *id));
        let found = wanted.filter_map(|(publisher, url)| {
            let kept = inner.publishers.get(publisher)?.pages.get(url)?;
            Some((kept.row.clone(), kept.line.clone()?))
        });
        Ok(search_in(&mut { found }, query, most)?)
    }
}
