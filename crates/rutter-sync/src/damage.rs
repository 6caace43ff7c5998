//! Repairs damaged bodies of a replica by fetching their pages again, and
//! skips damaged rows.
//!
//! An audit lists damaged pages with the site. The next sync drops their
//! content and fetches it again: a page that was crawled without its
//! validators, a page of a collection by a snapshot of its sections. A crawl
//! also verifies the body of every page that it requests. Rows whose own
//! record is damaged are not repaired: their URL and time cannot be trusted.
//! They are skipped, named in the report and counted.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rutter_finding::counted;
use rutter_store::{
    After, PageRow, PublisherId, QueryError, Selection, Source, Storage, Store, Validator, Withheld,
};

use crate::error::VisitError;
use crate::report::Kind;
use crate::visit::{PIECE, Visit, WEB};

/// Damaged pages that are listed for the next sync; an audit after it finds
/// the others.
const MOST_DAMAGED: usize = 10_000;

/// Damaged rows that a report names; all of them are counted.
const MOST_NAMED: usize = 20;

/// Keys of damaged rows that a sync met.
#[derive(Debug, Default)]
pub(crate) struct DamagedRows(Mutex<BTreeSet<String>>);

impl DamagedRows {
    fn note(&self, key: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned());
    }

    /// Whether the row of a page was found damaged in this sync.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }
}

/// What is remembered of an address. A damaged record counts as none: losing it
/// costs a request, and the next one that is written replaces it.
pub(crate) fn remembered(store: &dyn Store, url: &str) -> Result<Option<Validator>, QueryError> {
    match store.validator(url) {
        Err(QueryError::Storage(Storage::Damaged(_))) => Ok(None),
        known => known,
    }
}

/// Whether the stored content of a page differs from its digest.
pub(crate) fn is_damaged(store: &dyn Store, key: &str) -> Result<bool, QueryError> {
    match store.line(key) {
        Ok(_) => Ok(false),
        Err(QueryError::Storage(Storage::Damaged(_))) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Lists pages of a publisher whose row is sound and whose content is damaged.
pub(crate) fn list_damaged(
    store: &dyn Store,
    publisher: PublisherId,
) -> Result<Vec<String>, QueryError> {
    let selection = Selection { publisher: Some(publisher), section: None, with_withheld: false };
    let mut damaged = Vec::new();
    let mut last: Option<String> = None;
    loop {
        let after = last.as_deref().map(|url| After { publisher, url });
        let lines = store.lines(&selection, after, PIECE)?;
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

impl Visit<'_> {
    /// The row of a page of this site; a damaged one is noted and counts as
    /// none. See [`DamagedRows::has`].
    pub(crate) fn row(&self, key: &str) -> Result<Option<PageRow>, VisitError> {
        match self.visitor.store.page(key) {
            Ok(row) => Ok(row.filter(|row| row.publisher == self.publisher)),
            Err(QueryError::Storage(Storage::Damaged(_))) => {
                self.damaged_rows.note(key);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Hands over the rows of a selection in pieces, in order. Damaged rows are
    /// noted and left out.
    pub(crate) fn for_each_piece(
        &self,
        selection: &Selection<'_>,
        mut take: impl FnMut(Vec<PageRow>) -> Result<(), VisitError>,
    ) -> Result<(), VisitError> {
        let publisher = self.publisher;
        let mut after: Option<String> = None;
        loop {
            let place = after.as_deref().map(|url| After { publisher, url });
            let rows = self.visitor.store.rows(selection, place, PIECE)?;
            let is_last = rows.len() < PIECE;
            after = rows.last().map(|row| match row {
                Ok(row) => row.url.clone(),
                Err(damaged) => damaged.url.clone(),
            });
            let mut sound = Vec::with_capacity(rows.len());
            for row in rows {
                match row {
                    Ok(row) => sound.push(row),
                    Err(damaged) => self.damaged_rows.note(&damaged.url),
                }
            }
            take(sound)?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Reports the damaged rows that this sync skipped.
    pub(crate) fn report_damaged_rows(&mut self) {
        let keys = std::mem::take(&mut self.damaged_rows);
        let keys = keys.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        if keys.is_empty() {
            return;
        }
        for key in keys.iter().take(MOST_NAMED) {
            let text = "its record in the replica is damaged; the page was skipped";
            self.report.trouble(key, Kind::Integrity, text);
        }
        let records = counted(keys.len() as u64, "damaged record");
        let verb = if keys.len() == 1 { "was" } else { "were" };
        let text = format!("{records} of the replica {verb} skipped");
        let origin = self.origin.clone();
        self.report.trouble(&origin, Kind::Integrity, text);
    }

    /// Drops the content of pages that an audit found damaged, and has it
    /// fetched in this visit.
    ///
    /// What is to be fetched is stored first: a sync that is killed in between
    /// leaves the rest to the next one.
    pub(crate) fn repair_damaged(&mut self) -> Result<(), VisitError> {
        if self.memo.damaged.is_empty() {
            return Ok(());
        }
        let store = &self.visitor.store;
        let mut dropped = Vec::new();
        for key in &self.memo.damaged {
            if !is_damaged(store.as_ref(), key)? {
                continue;
            }
            let Ok(Some(row)) = store.page(key) else { continue };
            if row.publisher != self.publisher {
                continue;
            }
            if row.source == Source::Scp {
                let sections = store.sections_of(self.publisher, key)?.into_iter();
                self.memo.stale.extend(sections.filter(|name| name != WEB));
            } else {
                self.memo.again.insert(key.clone());
                // The page is not among those that collections bring.
                self.memo.rest.insert(String::new());
            }
            dropped.push((key.clone(), Withheld::Fault));
        }
        self.keep_memo()?;
        let pages: Vec<(&str, Withheld)> =
            dropped.iter().map(|(key, why)| (key.as_str(), *why)).collect();
        for piece in pages.chunks(PIECE) {
            self.visitor.store.withhold(self.hold.lease(), piece, self.now)?;
        }
        self.memo.damaged.clear();
        Ok(())
    }
}
