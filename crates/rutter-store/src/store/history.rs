//! Queries about the history of a replica.

use crate::error::QueryError;
use crate::model::{ChangeBatch, ChangeCounts, ChangeCursor, HistorySummary, PublisherId};

/// Reads the history, from a cursor.
pub trait HistoryQueries {
    /// Returns at most `most` changes after a cursor; without a cursor, from the beginning of the
    /// history.
    fn changes_since(
        &self,
        cursor: Option<ChangeCursor>,
        most: usize,
    ) -> Result<ChangeBatch, QueryError>;

    /// Returns the number of changes of a publisher after a cursor, by kind.
    fn change_counts_since(
        &self,
        publisher: PublisherId,
        cursor: ChangeCursor,
    ) -> Result<ChangeCounts, QueryError>;

    /// Returns the cursor at the end of the history.
    fn cursor(&self) -> Result<ChangeCursor, QueryError>;

    /// Returns the extent of the history.
    fn history(&self) -> Result<HistorySummary, QueryError>;
}
