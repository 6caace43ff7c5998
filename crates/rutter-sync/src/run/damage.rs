//! Repairs damaged content in a replica by fetching the pages again, and skips damaged
//! rows.
//!
//! An audit lists damaged pages in the state of the site. The next sync deletes their
//! content and fetches it again: crawled pages by requests without validators, pages of
//! collections by a snapshot of their section. A crawl also verifies the content of every
//! page that it requests. A page whose row is damaged is not repaired, because its URL and
//! time cannot be trusted. Damaged rows are skipped, reported and counted.

use rutter_finding::counted;
use rutter_store::{
    PagePosition, PageSelection, PageSource, PublisherId, QueryError, StorageError, Store,
    WithheldReason,
};

use crate::error::SyncError;
use crate::limits::BATCH_ROWS;
use crate::limits::WEB_SECTION;
use crate::report::ProblemKind;
use crate::run::SyncRun;

/// Maximum number of damaged pages that are listed for the next sync. A later audit finds
/// the pages that do not fit.
const MOST_DAMAGED: usize = 10_000;

/// Maximum number of damaged rows that a report names; the report counts all damaged rows.
const MOST_NAMED: usize = 20;

/// Returns whether the stored content of a page differs from its digest.
pub(crate) fn is_damaged(store: &dyn Store, key: &str) -> Result<bool, QueryError> {
    match store.line(key) {
        Ok(_) => Ok(false),
        Err(QueryError::Storage(StorageError::Damaged(_))) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Lists the pages of a publisher that have a valid row and damaged content.
pub(crate) fn list_damaged(
    store: &dyn Store,
    publisher: PublisherId,
) -> Result<Vec<String>, QueryError> {
    let selection =
        PageSelection { publisher: Some(publisher), section: None, with_withheld: false };
    let mut damaged = Vec::new();
    let mut last: Option<String> = None;
    loop {
        let after = last.as_deref().map(|url| PagePosition { publisher, url });
        let lines = store.lines(&selection, after, BATCH_ROWS)?;
        for line in &lines {
            if let Err(page) = line
                && damaged.len() < MOST_DAMAGED
                && store.page(&page.url).is_ok_and(|row| row.is_some())
            {
                damaged.push(page.url.clone());
            }
        }
        last = match lines.last() {
            Some(Ok((row, _))) => Some(row.url.clone()),
            Some(Err(page)) => Some(page.url.clone()),
            None => return Ok(damaged),
        };
    }
}

impl SyncRun<'_> {
    /// Reports the damaged rows that this sync skipped.
    pub(crate) fn report_damaged_rows(&mut self) {
        let keys = self.context.damaged_rows.take();
        if keys.is_empty() {
            return;
        }
        for key in keys.iter().take(MOST_NAMED) {
            let text = "the record of this page in the replica is damaged; the page was skipped";
            self.report.add_problem(key, ProblemKind::Integrity, text);
        }
        let records = counted(keys.len() as u64, "damaged record");
        let verb = if keys.len() == 1 { "was" } else { "were" };
        let text = format!("{records} of the replica {verb} skipped");
        let origin = self.context.origin.clone();
        self.report.add_problem(&origin, ProblemKind::Integrity, text);
    }

    /// Deletes the content of pages that an audit found damaged, so that this sync fetches
    /// these pages again.
    ///
    /// The list of pages to fetch is stored before their content is deleted, so that the
    /// next sync continues after an interruption.
    pub(crate) fn repair_damaged(&mut self) -> Result<(), SyncError> {
        if self.state.damaged_pages.is_empty() {
            return Ok(());
        }
        let store = &self.context.store;
        let mut dropped = Vec::new();
        for key in &self.state.damaged_pages {
            if !is_damaged(store.as_ref(), key)? {
                continue;
            }
            let Ok(Some(row)) = store.page(key) else { continue };
            if row.publisher != self.context.publisher {
                continue;
            }
            if row.source == PageSource::Scp {
                let sections = store.sections_of(self.context.publisher, key)?.into_iter();
                self.state
                    .collections
                    .stale_sections
                    .extend(sections.filter(|name| name != WEB_SECTION));
            } else {
                self.state.crawl.refetch.insert(key.clone());
                // No collection delivers this page, so a crawl is needed.
                self.state.crawl.uncovered_lists.insert(String::new());
            }
            dropped.push((key.clone(), WithheldReason::Fault));
        }
        self.save_state()?;
        let pages: Vec<(&str, WithheldReason)> =
            dropped.iter().map(|(key, why)| (key.as_str(), *why)).collect();
        for batch in pages.chunks(BATCH_ROWS) {
            self.context.store.withhold(
                self.context.lease_guard.lease(),
                batch,
                self.context.now,
            )?;
        }
        self.state.damaged_pages.clear();
        Ok(())
    }
}
