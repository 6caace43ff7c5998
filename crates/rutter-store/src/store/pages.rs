//! Queries about pages: records, lines, and records of removed pages.

use crate::error::{PageLine, QueryError, StorageError};
use crate::model::DamagedPage;
use crate::model::{
    PageCount, PagePosition, PageRow, PageSelection, PageTotals, PublisherId, Tombstone,
};

/// Reads pages. Queries that may return many pages return them in batches.
pub trait PageQueries {
    /// Returns the page with this key. If several publishers have the page, returns that of the
    /// publisher whose origin matches the key, otherwise that of the first publisher.
    fn page(&self, key: &str) -> Result<Option<PageRow>, QueryError>;

    /// Returns the line of a page, after verifying that it matches the digest; `None` if the page
    /// is withheld or unknown.
    fn line(&self, key: &str) -> Result<Option<String>, QueryError>;

    /// Returns at most `most` pages after the position `after`, sorted by publisher and key. One
    /// call returns at most 100,000 pages. A damaged page record is an error item; the listing
    /// continues after it.
    fn rows(
        &self,
        selection: &PageSelection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<Result<PageRow, DamagedPage>>, QueryError>;

    /// Returns pages like [`PageQueries::rows`], but fails at the first damaged page.
    fn list(
        &self,
        selection: &PageSelection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<PageRow>, QueryError> {
        let rows = self.rows(selection, after, most)?.into_iter();
        rows.map(|row| row.map_err(|damaged| StorageError::from(damaged).into())).collect()
    }

    /// Returns pages with their lines, each verified against its digest. Withheld pages are
    /// skipped.
    ///
    /// A batch may have fewer than `most` pages if their lines are long; only an empty batch means
    /// that the listing has ended.
    fn lines(
        &self,
        selection: &PageSelection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<PageLine>, QueryError>;

    /// Returns at most `most` removed pages of a publisher, sorted by key.
    fn tombstones(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Tombstone>, QueryError>;

    /// Returns the record of a removed page. If several publishers had the page, returns that of
    /// the publisher whose origin matches the key.
    fn tombstone(&self, key: &str) -> Result<Option<Tombstone>, QueryError>;

    /// Returns the number of pages of a publisher, by source and withheld reason. The cost is O(n)
    /// in pages.
    fn page_counts(&self, publisher: PublisherId) -> Result<Vec<PageCount>, QueryError>;

    /// Returns consistent page totals of a publisher; `None` if the publisher is unknown.
    fn page_totals(&self, publisher: PublisherId) -> Result<Option<PageTotals>, QueryError>;
}
