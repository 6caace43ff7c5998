//! What becomes of an answer: a page to be read, one that is gone, closed or
//! somewhere else, or nothing at all.

use std::collections::BTreeSet;

use rutter_fetch::{Body, Cause, FetchError, Fetched, Refused, Validators, What};
use rutter_page::{PageUrl, Timestamp};
use rutter_store::{PageRow, Validator, Withheld};

use super::{MOST_FAULTS, Walk, why_left};
use crate::collect::told;
use crate::crew::Failed;
use crate::damage::remembered;
use crate::error::VisitError;
use crate::frontier::Target;
use crate::gate::key_of;
use crate::left_out::LeftOut;
use crate::mark::{Expiry, Mark, expiry_mark, is_lost, lastmod_mark, training_mark};
use crate::page::Raw;
use crate::report::Kind;
use crate::variants::Twin;
use crate::writer::Write;
use crate::{consent, damage};

/// Pages that are remembered to have ended a walk.
const MOST_STOPS: usize = 100;

impl Walk<'_, '_, '_> {
    /// Whether an answer is the page for unknown addresses (D74). A page that
    /// is known by the same title is one all the same, unless not a byte of it
    /// is another: there are sites with one title for all.
    pub(super) fn is_lost(&self, answer: &Fetched, row: Option<&PageRow>) -> bool {
        let Some(probe) = self.probe.as_ref().filter(|probe| probe.is_soft()) else { return false };
        let text = answer.text(What::Page).unwrap_or_default();
        let is_known = || row.is_some_and(|row| probe.title().as_deref() == Some(&row.title));
        probe.is_same_page(&text) || (probe.is_lost_page(&text) && !is_known())
    }

    pub(super) async fn take_answer(
        &mut self,
        target: Target,
        row: Option<PageRow>,
        answer: Fetched,
    ) -> Result<(), VisitError> {
        let key = target.url.as_str().to_owned();
        let found = key_of(answer.url.as_str()).filter(|key| self.visit.gate.is_ours(key));
        if answer.is_unchanged() && found.as_deref() != Some(&key) && !target.is_fresh {
            // Conditions were about another address than the one it led to.
            self.frontier.again(target);
            return Ok(());
        }
        if self.is_damaged(row.as_ref())? && (answer.is_unchanged() || answer.is_new()) {
            // The same page is stored again only where its content is missing.
            let write = Write::Withhold(key, Withheld::Fault, Vec::new());
            self.crew.write(write).await?;
            if answer.is_unchanged() {
                self.frontier.again(target);
                return Ok(());
            }
        }
        let key = target.url.as_str().to_owned();
        let now = self.visit.now;
        let mark = |url: String| Validator {
            url,
            etag: answer.validators.etag.clone(),
            last_modified: answer.validators.last_modified.clone(),
            checked: now,
        };
        // What a server says is of the address that answered.
        let mut marks = vec![mark(found.clone().unwrap_or_else(|| key.clone()))];
        if let Some(checksum) = target.checksum {
            let url = Mark::Arc.of(&key);
            marks.push(Validator { etag: Some(checksum), last_modified: None, ..mark(url) });
        }
        marks.extend(target.lastmod.map(|lastmod| lastmod_mark(&key, lastmod, now)));
        if answer.is_unchanged() {
            self.visit.memo.again.remove(&key);
            return self.take_unchanged(&key, row.as_ref(), &answer, marks).await;
        }
        if matches!(answer.status, 404 | 410) {
            self.visit.report.leave_out(&key, LeftOut::status(answer.status));
            self.gone.insert(key.clone());
            self.n_open += 1;
            return self.settled(&key).await;
        }
        if is_closed(answer.status) && row.as_ref().is_some_and(|row| row.withheld.is_none()) {
            self.closed.insert(key.clone());
        }
        if !answer.is_new() || answer.body == Body::Nothing {
            self.n_failed += 1;
            self.visit.report.leave_out(&key, LeftOut::status(answer.status));
            return self.in_vain(&key).await;
        }
        let Some(found) = found else {
            self.visit.report.leave_out(&key, LeftOut::REDIRECT_ELSEWHERE);
            self.n_open += 1;
            return self.settled(&key).await;
        };
        // Lost visitors are often shown the home page, which is a page itself.
        let is_home = key_of(self.visit.site.as_str()).as_ref() == Some(&key);
        if !is_home && self.is_lost(&answer, row.as_ref()) {
            // This is how the site says that a page is gone.
            self.visit.report.leave_out(&key, LeftOut::SOFT_404);
            self.gone.insert(key.clone());
            self.n_open += 1;
            return self.settled(&key).await;
        }
        self.visit.memo.again.remove(&key);
        let mut row = row;
        if found != key && row.is_some() && !answer.is_moved_for_good() {
            // A page for logins or for repairs says nothing about this one.
            self.visit.report.leave_out(&key, LeftOut::TEMPORARY_REDIRECT);
            return self.in_vain(&key).await;
        }
        if found != key {
            // It moved: the new address stands for it.
            let url = Mark::Moved.of(&key);
            marks.push(Validator { etag: Some(found.clone()), last_modified: None, ..mark(url) });
            if self.ends_without_page(&key) {
                let url = Mark::Gone.of(&key);
                marks.push(Validator { etag: None, last_modified: None, ..mark(url) });
            }
            self.stands_for(&key, &found);
            self.gone.insert(key);
            self.frontier.note(&found);
            if self.follows {
                self.pending.insert(found.clone(), self.depth);
            }
            row = self.visit.row(&found)?;
            if self.healthy.has(&found) || self.visit.damaged_rows.has(&found) {
                return Ok(());
            }
            if self.visit.gate.judge(&found) == Some(Withheld::Consent) {
                self.visit.report.leave_out(&found, LeftOut::CONSENT);
                return Ok(());
            }
        }
        let Ok(url) = PageUrl::parse(found.clone()) else { return Ok(()) };
        self.n_new += u64::from(row.is_none());
        let twin_of = self.twin_of(target.spelling_of)?;
        let raw = self.raw(url, answer, row, marks);
        self.hand_over(Raw { twin_of, ..raw }, target.depth).await
    }

    /// Whether a page has content in the replica that is damaged.
    fn is_damaged(&self, row: Option<&PageRow>) -> Result<bool, VisitError> {
        let Some(row) = row.filter(|row| row.withheld.is_none()) else { return Ok(false) };
        Ok(damage::is_damaged(self.visit.visitor.store.as_ref(), &row.url)?)
    }

    /// The page that a URL is another spelling of, with its content.
    fn twin_of(&self, spelling_of: Option<String>) -> Result<Option<Twin>, VisitError> {
        let Some(of) = spelling_of else { return Ok(None) };
        let content = self.stored_content(&of)?;
        Ok(content.map(|content| Twin { of, content }))
    }

    /// Takes a page for listed where a listed address stands for it.
    fn stands_for(&mut self, key: &str, page: &str) {
        if let Some(listed) = self.visit.listed.as_mut().filter(|listed| listed.has(key)) {
            listed.insert(page);
        }
    }

    /// Leaves an address out that is no page. The page that an alias is of is
    /// fetched, whether it is listed or not.
    pub(super) fn leave_out_known(&mut self, key: &str, why: LeftOut) {
        if let Some(page) = why.alias_of() {
            self.frontier.add(page, None, None);
            self.stands_for(key, page);
        }
        self.visit.report.leave_out(key, why);
    }

    /// A page is as it was; whether it may be used is said anew each time.
    pub(super) async fn take_unchanged(
        &mut self,
        key: &str,
        row: Option<&PageRow>,
        answer: &Fetched,
        mut marks: Vec<Validator>,
    ) -> Result<(), VisitError> {
        if row.is_none_or(|row| row.withheld == Some(Withheld::Consent)) {
            let lastmod = Mark::Lastmod.of(key);
            let lastmod = marks.iter().filter(|mark| mark.url == lastmod).cloned().collect();
            self.crew.write(Write::Mark(lastmod)).await?;
        }
        let Some(row) = row else {
            // Its mark is not renewed: after a while it is asked for anew.
            let why = why_left(self.visit, key)?;
            self.leave_out_known(key, why);
            self.n_open += 1;
            return self.settled(key).await;
        };
        self.list_canonical(key)?;
        if row.withheld == Some(Withheld::Consent) {
            // The page still says so. Its mark is not renewed either.
            return self.tried(key).await;
        }
        for mark in &mut marks {
            // What an answer without a body leaves out is as it was.
            let known = remembered(self.visit.visitor.store.as_ref(), &mark.url)?;
            let known = known.map(|known| (known.etag, known.last_modified)).unwrap_or_default();
            mark.etag = mark.etag.take().or(known.0);
            mark.last_modified = mark.last_modified.take().or(known.1);
        }
        let token = self.visit.visitor.client.settings().token();
        let said = consent::of_fields(&answer.fields, token, self.visit.now);
        if let Some(trains) = consent::training(&said) {
            marks.push(training_mark(key, Some(trains), self.visit.now));
        }
        if !answer.fields.robots_tags.is_empty() {
            let known = remembered(self.visit.visitor.store.as_ref(), &Mark::Expiry.of(key))?;
            let known = known.as_ref().map(Expiry::of_mark).unwrap_or_default();
            let header = consent::expiry_of_tags(&answer.fields.robots_tags, token);
            if known.header != header {
                marks.push(expiry_mark(key, Expiry { header, ..known }, self.visit.now));
            }
        }
        let verdict = consent::join(&said);
        let write = match verdict.withheld.filter(|_| row.withheld.is_none()) {
            Some(why) => Write::Withhold(key.to_owned(), why, marks),
            None => Write::Mark(marks),
        };
        self.crew.write(write).await
    }

    /// An answer is no page, or no page of its own.
    pub(super) async fn take_failed(
        &mut self,
        failed: Failed,
        depth: u32,
    ) -> Result<(), VisitError> {
        let Failed { url, why, known, lastmod, had_row, is_gone } = failed;
        self.n_open += 1;
        if let Some(Validators { etag, last_modified }) = known {
            let (key, checked) = (url.key(), self.visit.now);
            let (left, told) = (Mark::Left.of(key), Mark::Why.of(key));
            let left = Validator { url: left, etag, last_modified, checked };
            let etag = Some(why.key());
            let told = Validator { url: told, etag, last_modified: None, checked };
            let marks = [left, told].into_iter().chain(lastmod).collect();
            self.crew.write(Write::Mark(marks)).await?;
        }
        if is_gone {
            self.gone.insert(url.key().to_owned());
        }
        self.depth = depth;
        self.n_new = self.n_new.saturating_sub(u64::from(!had_row));
        self.settled(url.key()).await?;
        self.leave_out_known(url.key(), why);
        Ok(())
    }

    /// An address was asked for and told nothing. Where it led before is still
    /// listed by it.
    pub(super) async fn in_vain(&mut self, key: &str) -> Result<(), VisitError> {
        self.n_open += 1;
        self.ends_without_page(key);
        let moved = remembered(self.visit.visitor.store.as_ref(), &Mark::Moved.of(key))?;
        if let Some(found) = moved.and_then(|mark| mark.etag) {
            self.stands_for(key, &found);
            self.frontier.note(&found);
        }
        self.tried(key).await
    }

    /// There is nothing to be had at an address, and that will be so for a
    /// while.
    pub(super) async fn settled(&mut self, key: &str) -> Result<(), VisitError> {
        if self.ends_without_page(key) {
            // With the first time it was so: after some months it is let go.
            let (url, checked) = (Mark::Gone.of(key), self.visit.now);
            let known = remembered(self.visit.visitor.store.as_ref(), &url)?;
            let known = known.and_then(|mark| mark.etag);
            let first = known.unwrap_or_else(|| checked.to_string());
            if Timestamp::parse(&first).is_ok_and(|first| is_lost(checked, first)) {
                self.open.remove(key);
            }
            let mark = Validator { url, etag: Some(first), last_modified: None, checked };
            self.crew.write(Write::Mark(vec![mark])).await?;
        }
        self.tried(key).await
    }

    /// Keeps an address in mind for later walks by links: the page that links
    /// to it may never tell again. Tells whether there are any.
    fn ends_without_page(&mut self, key: &str) -> bool {
        let is_kept = self.follows;
        if is_kept {
            self.pending.remove(key);
            self.open.insert(key.to_owned(), self.depth);
        }
        is_kept
    }

    /// Remembers that an address was asked for, so that others come before it
    /// where not all of them can be.
    pub(super) async fn tried(&mut self, key: &str) -> Result<(), VisitError> {
        let (url, checked) = (Mark::Tried.of(key), self.visit.now);
        let mark = Validator { url, etag: None, last_modified: None, checked };
        self.crew.write(Write::Mark(vec![mark])).await
    }

    pub(super) async fn take_error(
        &mut self,
        key: &str,
        row: Option<&PageRow>,
        error: &FetchError,
    ) -> Result<(), VisitError> {
        let text = told(&error.cause);
        let report = &mut self.visit.report;
        match &error.cause {
            Cause::Refused(Refused::Robots(reason)) => {
                report.leave_out(key, LeftOut::ROBOTS);
                let is_rule = matches!(reason, rutter_fetch::RobotsReason::Rule { .. });
                if is_rule && row.is_some_and(|row| row.withheld.is_none()) {
                    let write = Write::Withhold(key.to_owned(), Withheld::Robots, Vec::new());
                    self.crew.write(write).await?;
                }
            }
            Cause::Refused(Refused::TooSlow(_)) => {
                self.is_stopped = true;
                stops_at(&mut self.visit.memo.stops, key);
                report.trouble(&error.url, Kind::Policy, text);
            }
            Cause::Refused(_) => report.leave_out(key, LeftOut::refused(&text)),
            Cause::Later { until, .. } => {
                self.is_stopped = true;
                stops_at(&mut self.visit.memo.stops, key);
                self.pause = self.pause.max(Some(*until));
                report.trouble(&error.url, Kind::Network, text);
            }
            Cause::Answer(_) => report.leave_out(key, LeftOut::bad_response(&text)),
            _ => {
                self.n_faults += 1;
                self.n_failed += 1;
                stops_at(&mut self.visit.memo.stops, key);
                report.leave_out(key, LeftOut::NETWORK);
                if MOST_FAULTS <= self.n_faults {
                    self.is_stopped = true;
                    report.trouble(&error.url, Kind::Network, text);
                }
            }
        }
        Ok(())
    }
}

/// Remembers a page that ended a walk, or helped to.
fn stops_at(stops: &mut BTreeSet<String>, key: &str) {
    if stops.len() < MOST_STOPS {
        stops.insert(key.to_owned());
    }
}

/// Whether a status says that a page is not, or no longer, for everybody.
fn is_closed(status: u16) -> bool {
    matches!(status, 401 | 402 | 403 | 451)
}
