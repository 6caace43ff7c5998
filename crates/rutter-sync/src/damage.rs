//! Repairs damaged bodies of a replica by fetching their pages again.
//!
//! An audit lists damaged pages with the site. The next sync drops their
//! content and fetches it again: a page that was crawled without its
//! validators, a page of a collection by a snapshot of its sections. A crawl
//! also verifies the body of every page that it requests. Rows whose own
//! record is damaged are not repaired: their URL and time cannot be trusted.

use rutter_store::{After, PublisherId, QueryError, Selection, Source, Storage, Store, Withheld};

use crate::error::VisitError;
use crate::visit::{PIECE, Visit, WEB};

/// Damaged pages that are listed for the next sync; an audit after it finds
/// the others.
const MOST_DAMAGED: usize = 10_000;

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
