//! Holds the pages of a replica against the rules of this visit: robots.txt,
//! consent, hosts, quota, scope.
//!
//! Pages that are no longer allowed or wanted lose their content and keep their
//! row (D87, D93). Rejects a scope that would take the content of most pages.

use std::sync::Arc;

use rutter_page::Digest;
use rutter_scp::{MassDeletion, merge};
use rutter_store::{PageRow, Selection, Source, Store, Validator, Withheld};

use crate::damage::remembered;
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
            self.check_scope()?;
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
            let (mut past, mut damaged) = (Vec::new(), Vec::new());
            for mark in marks {
                let (url, is_past) = match mark {
                    Ok(mark) => {
                        let is_past = Expiry::of_mark(&mark).is_past(self.now);
                        (mark.url, Some(is_past))
                    }
                    Err(damaged) => (damaged.url, None),
                };
                let key = url.split_once(':').map(|(_, key)| key.to_owned()).unwrap_or_default();
                after = Some(key.clone());
                match is_past {
                    Some(true) => past.push(key),
                    Some(false) => {}
                    // The page is fetched again and says its date anew.
                    None => {
                        self.memo.again.insert(key);
                        damaged.push(url);
                    }
                }
            }
            store.drop_marks(self.hold.lease(), &damaged)?;
            self.withhold_expired(store.as_ref(), &past)?;
            if is_last {
                return Ok(());
            }
        }
    }

    fn withhold_expired(&mut self, store: &dyn Store, keys: &[String]) -> Result<(), VisitError> {
        let (mut known, mut pages) = (Vec::new(), Vec::new());
        for key in keys {
            let is_due = |row: &PageRow| {
                let is_crawled = matches!(row.source, Source::Html | Source::Markdown);
                is_crawled && row.withheld.is_none()
            };
            if !self.row(key)?.as_ref().is_some_and(is_due) {
                continue;
            }
            pages.push((key.as_str(), Withheld::Consent));
            // What is known of the page as a withheld one: while its list or
            // server says that it is unchanged, it is not fetched.
            if let Some(mark) = remembered(store, key)? {
                known.push(Validator { url: Mark::Withheld.of(key), checked: self.now, ..mark });
            }
        }
        store.remember_all(self.hold.lease(), &known)?;
        self.report.withheld += store.withhold(self.hold.lease(), &pages, self.now)?;
        Ok(())
    }

    /// Refuses a scope that would take the content of more than half of more
    /// than 20 pages, unless that is allowed.
    fn check_scope(&self) -> Result<(), VisitError> {
        let is_allowed = self.visitor.options.mass_deletion == MassDeletion::Allowed;
        if !self.news.has_other_scope || is_allowed {
            return Ok(());
        }
        let publisher = Some(self.publisher);
        let selection = Selection { publisher, section: None, with_withheld: false };
        let (mut pages, mut outside) = (0, 0);
        self.for_each_piece(&selection, |rows| {
            pages += rows.len() as u64;
            let is_outside = |row: &&PageRow| {
                let scope = self.gate.scope();
                !scope.has_url(&row.url) || !scope.has_language(&row.language)
            };
            outside += rows.iter().filter(is_outside).count() as u64;
            Ok(())
        })?;
        if merge::is_mass_deletion(pages, outside) {
            return Err(VisitError::Scope { origin: self.origin.clone(), outside, pages });
        }
        Ok(())
    }

    /// Holds every page against the rules as they are now.
    fn judge_again(&mut self, store: &dyn Store) -> Result<(), VisitError> {
        let selection =
            Selection { publisher: Some(self.publisher), section: None, with_withheld: true };
        let mut has_more = false;
        let mut again = std::mem::take(&mut self.memo.again);
        let mut n_withheld = 0;
        let judged = self.for_each_piece(&selection, |rows| {
            let mut forbidden: Vec<(&str, Withheld)> = Vec::new();
            for row in &rows {
                match (row.withheld, self.gate.judge_page(&row.url, &row.language)) {
                    (None, Some(why)) => forbidden.push((&row.url, why)),
                    (Some(Withheld::Quota), None) if !self.news.has_more_room => {}
                    (Some(Withheld::Fault | Withheld::Shell), None) => {}
                    (Some(_), None) => {
                        if row.source == Source::Scp {
                            has_more = true;
                        } else if again.len() < MOST_AGAIN {
                            again.insert(row.url.clone());
                        }
                    }
                    _ => {}
                }
            }
            n_withheld += store.withhold(self.hold.lease(), &forbidden, self.now)?;
            Ok(())
        });
        self.memo.again = again;
        self.report.withheld += n_withheld;
        judged?;
        if has_more {
            let sections = store.sections(self.publisher)?.into_iter().map(|section| section.name);
            self.memo.stale.extend(sections.filter(|name| name != WEB));
        }
        Ok(())
    }
}
