//! Applies the current rules to all stored pages: robots.txt, consent, hosts, quota, scope.
//!
//! If a page is no longer allowed or wanted, its content is deleted and its row is kept
//! (D87, D93). Rejects a scope that would remove the content of most pages.

use std::sync::Arc;

use rutter_page::Digest;
use rutter_scp::{MassDeletionPolicy, merge};
use rutter_store::{
    NoteKind, NoteValue, PageRow, PageSelection, PageSource, ResponseValidators, Store, UrlNote,
    Validator, WithheldReason,
};

use crate::error::SyncError;
use crate::limits::BATCH_ROWS;
use crate::limits::WEB_SECTION;
use crate::run::SyncRun;
use crate::state::url_note::known_validator;

/// Maximum number of pages in the list of pages to fetch again.
const MOST_AGAIN: usize = 10_000;

impl SyncRun<'_> {
    /// Withholds the content of pages whose use the site no longer allows, and finds
    /// withheld pages that may be stored with content again (D87, D93).
    pub(crate) async fn enforce(&mut self, has_arc_changed: bool) -> Result<(), SyncError> {
        let file = self.context.client.robots_file(&self.context.site).await;
        let robots = file.map(|file| Digest::of(&file.body).to_string());
        let has_robots_changed = robots != self.state.settings.robots;
        let store = Arc::clone(self.context.store);
        Arc::make_mut(&mut self.page_policy).load_arc(store.as_ref(), self.context.publisher)?;
        let closed: Vec<(&str, WithheldReason)> =
            self.page_policy.closed().map(|key| (key, WithheldReason::Consent)).collect();
        for batch in closed.chunks(BATCH_ROWS).filter(|_| has_arc_changed) {
            self.report.withheld +=
                store.withhold(self.context.lease_guard.lease(), batch, self.context.now)?;
        }
        if has_robots_changed
            || has_arc_changed
            || self.changes.has_other_hosts
            || self.changes.has_larger_quota
            || self.changes.has_other_scope
        {
            self.check_scope()?;
            self.judge_again(store.as_ref())?;
        }
        let has_other_rules = has_robots_changed && self.state.settings.robots.is_some();
        if has_other_rules || self.changes.has_other_hosts || self.changes.has_other_scope {
            // Sitemaps may list URLs that were not allowed before, so they are read again.
            self.state.crawl.uncovered_lists.insert(String::new());
        }
        self.state.settings.robots = robots;
        Ok(())
    }

    /// Withholds the content of crawled pages whose `unavailable_after` date has passed.
    /// This needs no request, because the date was stored when the page was fetched.
    pub(crate) fn expire(&mut self) -> Result<(), SyncError> {
        let store = Arc::clone(self.context.store);
        let mut after: Option<String> = None;
        loop {
            let kind = NoteKind::Expiry;
            let notes =
                store.url_notes(self.context.publisher, kind, after.as_deref(), BATCH_ROWS)?;
            let is_last = notes.len() < BATCH_ROWS;
            let (mut past, mut damaged) = (Vec::new(), Vec::new());
            for note in notes {
                match note {
                    Ok(UrlNote { url, value, .. }) => {
                        after = Some(url.clone());
                        if matches!(value, NoteValue::Expiry(dates) if dates.is_past(self.context.now))
                        {
                            past.push(url);
                        }
                    }
                    // The note with the date is damaged, so the page is fetched again to
                    // get the date.
                    Err(note) => {
                        after = Some(note.url.clone());
                        self.state.crawl.refetch.insert(note.url.clone());
                        damaged.push(note.url);
                    }
                }
            }
            store.delete_url_notes(self.context.lease_guard.lease(), kind, &damaged)?;
            self.withhold_expired(store.as_ref(), &past)?;
            if is_last {
                return Ok(());
            }
        }
    }

    fn withhold_expired(&mut self, store: &dyn Store, keys: &[String]) -> Result<(), SyncError> {
        let (mut known, mut pages) = (Vec::new(), Vec::new());
        for key in keys {
            let is_due = |row: &PageRow| {
                let is_crawled = matches!(row.source, PageSource::Html | PageSource::Markdown);
                is_crawled && row.withheld.is_none()
            };
            if !self.context.row(key)?.as_ref().is_some_and(is_due) {
                continue;
            }
            pages.push((key.as_str(), WithheldReason::Consent));
            // The validators of the withheld page are kept, so that the page is not
            // transferred again while it is unchanged.
            if let Some(Validator { etag, last_modified, .. }) = known_validator(store, key)? {
                let value = NoteValue::WithheldPage(ResponseValidators { etag, last_modified });
                known.push(UrlNote::new(key, value, self.context.now));
            }
        }
        store.store_url_records(self.context.lease_guard.lease(), &known.into())?;
        self.report.withheld +=
            store.withhold(self.context.lease_guard.lease(), &pages, self.context.now)?;
        Ok(())
    }

    /// Rejects a new scope that would delete the content of more than half of more than 20
    /// pages, unless the options allow mass deletions.
    fn check_scope(&self) -> Result<(), SyncError> {
        let is_allowed = self.context.options.mass_deletion == MassDeletionPolicy::Allowed;
        if !self.changes.has_other_scope || is_allowed {
            return Ok(());
        }
        let publisher = Some(self.context.publisher);
        let selection = PageSelection { publisher, section: None, with_withheld: false };
        let (mut pages, mut outside) = (0, 0);
        self.context.for_each_batch(&selection, |rows| {
            pages += rows.len() as u64;
            let is_outside = |row: &&PageRow| {
                let scope = self.page_policy.scope();
                !scope.has_url(&row.url) || !scope.has_language(&row.language)
            };
            outside += rows.iter().filter(is_outside).count() as u64;
            Ok(())
        })?;
        if merge::is_mass_deletion(pages, outside) {
            return Err(SyncError::Scope { origin: self.context.origin.clone(), outside, pages });
        }
        Ok(())
    }

    /// Applies the current rules to every stored page of the site.
    fn judge_again(&mut self, store: &dyn Store) -> Result<(), SyncError> {
        let selection = PageSelection {
            publisher: Some(self.context.publisher),
            section: None,
            with_withheld: true,
        };
        let mut has_more = false;
        let mut again = std::mem::take(&mut self.state.crawl.refetch);
        let mut n_withheld = 0;
        let judged = self.context.for_each_batch(&selection, |rows| {
            let mut forbidden: Vec<(&str, WithheldReason)> = Vec::new();
            for row in &rows {
                match (row.withheld, self.page_policy.withheld_reason_of(&row.url, &row.language)) {
                    (None, Some(why)) => forbidden.push((&row.url, why)),
                    (Some(WithheldReason::Quota), None) if !self.changes.has_larger_quota => {}
                    (Some(WithheldReason::Fault | WithheldReason::Shell), None) => {}
                    (Some(_), None) => {
                        if row.source == PageSource::Scp {
                            has_more = true;
                        } else if again.len() < MOST_AGAIN {
                            again.insert(row.url.clone());
                        }
                    }
                    _ => {}
                }
            }
            n_withheld +=
                store.withhold(self.context.lease_guard.lease(), &forbidden, self.context.now)?;
            Ok(())
        });
        self.state.crawl.refetch = again;
        self.report.withheld += n_withheld;
        judged?;
        if has_more {
            let sections =
                store.sections(self.context.publisher)?.into_iter().map(|section| section.name);
            self.state
                .collections
                .stale_sections
                .extend(sections.filter(|name| name != WEB_SECTION));
        }
        Ok(())
    }
}
