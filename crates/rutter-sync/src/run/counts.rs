//! Counts the changes of a sync and the pages without content.
//!
//! Input: the history of the replica since the sync began. Output: the counts in the
//! report. Pages without content are counted one by one only if the history does not
//! explain how their number changed.

use rutter_store::{ChangeCounts, ChangeCursor, PageSelection, QueryError, StorageError};

use crate::error::SyncError;
use crate::run::SyncRun;
use crate::state::site_state::WithheldCount;

impl SyncRun<'_> {
    /// Counts the changes of this sync as `rutter changes` lists them: a page that was
    /// added and removed again counts, a page that only moved between sections does not
    /// count.
    pub(crate) fn count(&mut self) -> Result<(), SyncError> {
        let store = &self.context.store;
        let happened = store.change_counts_since(self.context.publisher, self.since)?;
        (self.report.added, self.report.changed) = (happened.added, happened.changed);
        self.report.removed = happened.removed;
        let publisher = store.publisher(&self.context.origin)?;
        self.report.pages = publisher.map_or(0, |publisher| publisher.pages);
        // Counting pages without content reads every page. The count is skipped if the site
        // has not changed since the last count, or if all pages had content and the history
        // explains the difference.
        let (pages, cursor) = (self.report.pages, store.cursor()?);
        let holds = |known: &WithheldCount| -> Result<bool, SyncError> {
            let then = ChangeCursor::parse(&known.cursor).filter(|then| then.store == cursor.store);
            let Some(then) = then else { return Ok(false) };
            let since = store.change_counts_since(self.context.publisher, then)?;
            let is_quiet = since == ChangeCounts::default() && known.pages == pages;
            let has_all = known.withheld + self.report.withheld + since.withheld == 0
                && known.pages + since.added == pages + since.removed;
            Ok(is_quiet || has_all)
        };
        let n = match &self.state.withheld_count {
            Some(known) if holds(known)? => known.withheld,
            _ => self.count_withheld()?,
        };
        self.report.withheld = n;
        self.state.withheld_count =
            Some(WithheldCount { cursor: cursor.to_string(), pages, withheld: n });
        Ok(())
    }

    fn count_withheld(&self) -> Result<u64, SyncError> {
        match self.context.store.page_counts(self.context.publisher) {
            Ok(census) => {
                let withheld = census.iter().filter(|it| it.withheld.is_some());
                Ok(withheld.map(|it| it.pages).sum())
            }
            // The grouped count fails if a row is damaged, so the rows are counted one by
            // one.
            Err(QueryError::Storage(StorageError::Damaged(_))) => {
                let publisher = Some(self.context.publisher);
                let selection = PageSelection { publisher, section: None, with_withheld: true };
                let mut n = 0;
                self.context.for_each_batch(&selection, |rows| {
                    n += rows.iter().filter(|row| row.withheld.is_some()).count() as u64;
                    Ok(())
                })?;
                Ok(n)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Removes pages that are no longer withheld from the list of pages to fetch again.
    pub(crate) fn forget_gone(&mut self) -> Result<(), SyncError> {
        for key in std::mem::take(&mut self.state.crawl.refetch) {
            let row = self.context.row(&key)?;
            if row.is_some_and(|row| row.withheld.is_some()) {
                self.state.crawl.refetch.insert(key);
            }
        }
        Ok(())
    }
}
