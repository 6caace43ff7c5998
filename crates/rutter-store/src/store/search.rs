//! Full-text search.

use crate::error::{QueryError, WriteError};
use crate::model::{IndexProgress, PublisherId, SearchResults};
use crate::words::SearchQuery;

/// Indexes pages and searches them. A replica can be used without an index.
pub trait SearchIndex {
    /// Returns the pages that contain all words of a query, best match first. If no page contains
    /// all of them, searches for corrected words, then for fewer words.
    ///
    /// The search finds only pages that [`SearchIndex::index`] has indexed, and never a removed page.
    fn search(&self, query: &SearchQuery, most: usize) -> Result<SearchResults, QueryError>;

    /// Searches the pages of one publisher; see [`SearchIndex::search`].
    fn search_of(
        &self,
        publisher: PublisherId,
        query: &SearchQuery,
        most: usize,
    ) -> Result<SearchResults, QueryError>;

    /// Returns the number of events that are not in the full-text index yet; `None` if there is no
    /// complete index.
    fn unindexed(&self) -> Result<Option<u64>, QueryError>;

    /// Adds at most `most` pages to the full-text index.
    fn index(&self, most: u64) -> Result<IndexProgress, WriteError>;
}
