//! Counts what a sync changed and how many pages have no content.
//!
//! Input: the replica's history since the sync began. Output: the counts of
//! the report. The pages are counted one by one only where the history does
//! not account for the difference.

use rutter_store::{Cursor, Happened, QueryError, Selection, Storage};

use crate::error::VisitError;
use crate::memo::Counted;
use crate::visit::Visit;

impl Visit<'_> {
    /// Counts the changes of this sync as `changes` lists them: a page that was
    /// added and removed again counts, a page that only moved from one section
    /// to another does not.
    pub(crate) fn count(&mut self) -> Result<(), VisitError> {
        let store = &self.visitor.store;
        let happened = store.happened_since(self.publisher, self.since)?;
        (self.report.added, self.report.changed) = (happened.added, happened.changed);
        self.report.removed = happened.removed;
        let publisher = store.publisher(&self.origin)?;
        self.report.pages = publisher.map_or(0, |publisher| publisher.pages);
        // Counting looks at every page. It is not done where nothing happened
        // since, or where all had words and what happened accounts for all.
        let (pages, cursor) = (self.report.pages, store.cursor()?);
        let holds = |known: &Counted| -> Result<bool, VisitError> {
            let then = Cursor::parse(&known.cursor).filter(|then| then.store == cursor.store);
            let Some(then) = then else { return Ok(false) };
            let since = store.happened_since(self.publisher, then)?;
            let is_quiet = since == Happened::default() && known.pages == pages;
            let has_all = known.withheld + self.report.withheld + since.withheld == 0
                && known.pages + since.added == pages + since.removed;
            Ok(is_quiet || has_all)
        };
        let n = match &self.memo.withheld {
            Some(known) if holds(known)? => known.withheld,
            _ => self.count_withheld()?,
        };
        self.report.withheld = n;
        self.memo.withheld = Some(Counted { cursor: cursor.to_string(), pages, withheld: n });
        Ok(())
    }

    fn count_withheld(&self) -> Result<u64, VisitError> {
        match self.visitor.store.census(self.publisher) {
            Ok(census) => {
                let withheld = census.iter().filter(|it| it.withheld.is_some());
                Ok(withheld.map(|it| it.pages).sum())
            }
            // Damaged rows cannot be counted together with the others.
            Err(QueryError::Storage(Storage::Damaged(_))) => {
                let publisher = Some(self.publisher);
                let selection = Selection { publisher, section: None, with_withheld: true };
                let mut n = 0;
                self.for_each_piece(&selection, |rows| {
                    n += rows.iter().filter(|row| row.withheld.is_some()).count() as u64;
                    Ok(())
                })?;
                Ok(n)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Stops asking again for pages that the replica no longer withholds.
    pub(crate) fn forget_gone(&mut self) -> Result<(), VisitError> {
        for key in std::mem::take(&mut self.memo.again) {
            let row = self.row(&key)?;
            if row.is_some_and(|row| row.withheld.is_some()) {
                self.memo.again.insert(key);
            }
        }
        Ok(())
    }
}
