//! Holds the pages of a replica against the rules of this visit: robots.txt,
//! consent, hosts, quota, scope.
//!
//! Pages that are no longer allowed or wanted lose their content and keep their
//! row (D87, D93). Rejects a scope that would take the content of most pages.

use std::sync::Arc;

use rutter_page::Digest;
use rutter_scp::{MassDeletion, merge};
use rutter_store::{Selection, Source, Store, Validator, Withheld};

use crate::error::VisitError;
use crate::mark::{Expiry, Mark};
use crate::visit::{PIECE, Visit, WEB};

/// Pages that are remembered to be asked for again.
const MOST_AGAIN: usize = 10_000;

impl Visit<'_> {
    /// Takes away the words of pages that the site no longer wants used, and
    /// sees whether some may be kept again (D87, D93).
    pub(crate) async fn enforce(&mut self, has_arc_changed: bool) -> Result<(), VisitError> {
        let file = self.visitor.client.robots_file(&self.site).await;
        let robots = file.map(|file| Digest::of(&file.body).to_string());
        let has_robots_changed = robots != self.memo.robots;
        let store = Arc::clone(&self.visitor.store);
        Arc::make_mut(&mut self.gate).ask_arc(store.as_ref(), self.publisher)?;
        let closed: Vec<(&str, Withheld)> =
            self.gate.closed().map(|key| (key, Withheld::Consent)).collect();
        for piece in closed.chunks(PIECE).filter(|_| has_arc_changed) {
            self.report.withheld += store.withhold(self.hold.lease(), piece, self.now)?;
        }
        if has_robots_changed
            || has_arc_changed
            || self.news.has_other_hosts
            || self.news.has_more_room
            || self.news.has_other_scope
        {
            self.check_scope(store.as_ref())?;
            self.judge_again(store.as_ref())?;
        }
        let has_other_rules = has_robots_changed && self.memo.robots.is_some();
        if has_other_rules || self.news.has_other_hosts || self.news.has_other_scope {
            // Lists may have what was not to be asked for before.
            self.memo.rest.insert(String::new());
        }
        self.memo.robots = robots;
        Ok(())
    }

    /// Withholds the content of crawled pages whose `unavailable_after` has
    /// passed since they were read. Sends no request: the page said so before.
    pub(crate) fn expire(&mut self) -> Result<(), VisitError> {
        let store = Arc::clone(&self.visitor.store);
        let mut after: Option<String> = None;
        loop {
            let marks = store.marks(self.publisher, "expiry", after.as_deref(), PIECE)?;
            let is_last = marks.len() < PIECE;
            let key_of = |mark: &Validator| mark.url.split_once(':').map(|(_, key)| key.to_owned());
            after = marks.last().and_then(key_of);
            let past = marks.iter().filter(|mark| Expiry::of_mark(mark).is_past(self.now));
            self.withhold_expired(store.as_ref(), past.filter_map(key_of).collect())?;
            if is_last {
                return Ok(());
            }
        }
    }

    fn withhold_expired(
        &mut self,
        store: &dyn Store,
        mut keys: Vec<String>,
    ) -> Result<(), VisitError> {
        let mut known = Vec::new();
        let mut has_failed = None;
        keys.retain(|key| match store.page(key) {
            Ok(Some(row)) => {
                let is_crawled = matches!(row.source, Source::Html | Source::Markdown);
                row.publisher == self.publisher && is_crawled && row.withheld.is_none()
            }
            Ok(None) => false,
            Err(error) => {
                has_failed.get_or_insert(error);
                false
            }
        });
        if let Some(error) = has_failed {
            return Err(error.into());
        }
        for key in &keys {
            // What is known of the page as a withheld one: while its list or
            // server says that it is unchanged, it is not fetched.
            if let Some(mark) = store.validator(key)? {
                known.push(Validator { url: Mark::Withheld.of(key), checked: self.now, ..mark });
            }
        }
        store.remember_all(self.hold.lease(), &known)?;
        let pages: Vec<(&str, Withheld)> =
            keys.iter().map(|key| (key.as_str(), Withheld::Consent)).collect();
        self.report.withheld += store.withhold(self.hold.lease(), &pages, self.now)?;
        Ok(())
    }

    /// Refuses a scope that would take the content of more than half of more
    /// than 20 pages, unless that is allowed.
    fn check_scope(&self, store: &dyn Store) -> Result<(), VisitError> {
        let is_allowed = self.visitor.options.mass_deletion == MassDeletion::Allowed;
        if !self.news.has_other_scope || is_allowed {
            return Ok(());
        }
        let publisher = Some(self.publisher);
        let selection = Selection { publisher, section: None, with_withheld: false };
        let (mut pages, mut outside) = (0, 0);
        let mut after: Option<String> = None;
        loop {
            let place =
                after.as_deref().map(|url| rutter_store::After { publisher: self.publisher, url });
            let rows = store.list(&selection, place, PIECE)?;
            pages += rows.len() as u64;
            let is_outside = |row: &&rutter_store::PageRow| {
                let scope = self.gate.scope();
                !scope.has_url(&row.url) || !scope.has_language(&row.language)
            };
            outside += rows.iter().filter(is_outside).count() as u64;
            let Some(last) = rows.last().filter(|_| rows.len() == PIECE) else { break };
            after = Some(last.url.clone());
        }
        if merge::is_mass_deletion(pages, outside) {
            return Err(VisitError::Scope { origin: self.origin.clone(), outside, pages });
        }
        Ok(())
    }

    /// Holds every page against the rules as they are now.
    fn judge_again(&mut self, store: &dyn Store) -> Result<(), VisitError> {
        let selection =
            Selection { publisher: Some(self.publisher), section: None, with_withheld: true };
        let mut after: Option<String> = None;
        let mut has_more = false;
        loop {
            let place =
                after.as_deref().map(|url| rutter_store::After { publisher: self.publisher, url });
            let rows = store.list(&selection, place, PIECE)?;
            let is_last = rows.len() < PIECE;
            let mut forbidden: Vec<(&str, Withheld)> = Vec::new();
            for row in &rows {
                match (row.withheld, self.gate.judge_page(&row.url, &row.language)) {
                    (None, Some(why)) => forbidden.push((&row.url, why)),
                    (Some(Withheld::Quota), None) if !self.news.has_more_room => {}
                    (Some(Withheld::Fault | Withheld::Shell), None) => {}
                    (Some(_), None) => {
                        if row.source == Source::Scp {
                            has_more = true;
                        } else if self.memo.again.len() < MOST_AGAIN {
                            self.memo.again.insert(row.url.clone());
                        }
                    }
                    _ => {}
                }
            }
            self.report.withheld += store.withhold(self.hold.lease(), &forbidden, self.now)?;
            after = rows.last().map(|row| row.url.clone());
            if is_last {
                break;
            }
        }
        if has_more {
            let sections = store.sections(self.publisher)?.into_iter().map(|section| section.name);
            self.memo.stale.extend(sections.filter(|name| name != WEB));
        }
        Ok(())
    }
}
