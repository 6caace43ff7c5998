//! Queries about the history in memory.

use super::MemoryStore;
use crate::error::QueryError;
use crate::model::{
    Change, ChangeBatch, ChangeCounts, ChangeCursor, ChangeKind, HistorySummary, PublisherId,
};
use crate::store::HistoryQueries;

impl HistoryQueries for MemoryStore {
    fn changes_since(
        &self,
        cursor: Option<ChangeCursor>,
        most: usize,
    ) -> Result<ChangeBatch, QueryError> {
        let inner = self.lock();
        if cursor.is_some_and(|cursor| cursor.store != Self::ID) {
            return Err(QueryError::ForeignCursor);
        }
        if let Some(ChangeCursor { seq, .. }) = cursor.filter(|cursor| inner.seq < cursor.seq) {
            return Err(QueryError::CursorAhead { seq, end: inner.seq });
        }
        let seq = cursor.map_or(0, |cursor| cursor.seq);
        if seq < inner.pruned {
            return Err(QueryError::ExpiredCursor);
        }
        let behind = inner.changes.iter().filter(|change| seq < change.seq);
        let has_more = most < behind.clone().count();
        let mut events: Vec<Change> = behind.take(most).cloned().collect();
        let seq = events.last().map_or(seq, |last| last.seq);
        events.retain(|event| event.kind != ChangeKind::Erased);
        let next = ChangeCursor { store: Self::ID, seq };
        Ok(ChangeBatch { events, next, has_more, damaged: Vec::new() })
    }

    fn change_counts_since(
        &self,
        publisher: PublisherId,
        cursor: ChangeCursor,
    ) -> Result<ChangeCounts, QueryError> {
        let inner = self.lock();
        let is_meant = |it: &&Change| cursor.seq < it.seq && it.publisher == publisher;
        let mut happened = ChangeCounts::default();
        for change in inner.changes.iter().filter(is_meant) {
            happened.count(change.kind, 1);
        }
        Ok(happened)
    }

    fn cursor(&self) -> Result<ChangeCursor, QueryError> {
        Ok(ChangeCursor { store: Self::ID, seq: self.lock().seq })
    }

    fn history(&self) -> Result<HistorySummary, QueryError> {
        let inner = self.lock();
        let oldest = inner.changes.first().map(|change| change.at);
        let events = inner.seq - inner.pruned;
        Ok(HistorySummary {
            oldest,
            events,
            cursor: ChangeCursor { store: Self::ID, seq: inner.seq },
        })
    }
}
