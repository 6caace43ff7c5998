//! Handles the responses of a crawl: a page, a missing page, a blocked page, a redirect, an
//! error.
//!
//! Input: the response, its crawl target, and the stored row of the page. Output: jobs for
//! the worker pool, URL notes, and left-out URLs.

use std::collections::BTreeSet;

use rutter_fetch::{
    FailureCause, FetchError, FetchedResponse, RequestRefusal, ResourceKind, ResponseBody,
    Validators,
};
use rutter_page::PageUrl;
use rutter_store::{
    Expiry, NoteKind, NoteValue, PageRow, ResponseValidators, UrlNote, UrlRecords, Validator,
    WithheldReason,
};

use super::{Crawl, MOST_FAULTS, reason_left_out};
use crate::consent;
use crate::consent::page_policy::key_of;
use crate::crawl::page::FetchedPage;
use crate::crawl::page_writer::WriteCommand;
use crate::crawl::queue::CrawlTarget;
use crate::crawl::variants::KnownSpelling;
use crate::crawl::worker_pool::FailedPage;
use crate::error::SyncError;
use crate::error::error_chain;
use crate::report::ProblemKind;
use crate::report::left_out::LeftOutReason;
use crate::run::damage;
use crate::state::url_note::{is_lost, known_note, known_validator, redirect_target};

/// Maximum number of stored URLs of pages that ended a crawl.
const MOST_STOPS: usize = 100;

impl Crawl<'_, '_, '_> {
    /// Returns whether a response is the page that the site sends for unknown URLs (D74). A
    /// stored page with the same title still counts as a page, unless its content is
    /// identical to that page, because some sites have one title for all pages.
    pub(super) fn is_soft_404(&self, response: &FetchedResponse, row: Option<&PageRow>) -> bool {
        let Some(probe) = self.probe.as_ref().filter(|probe| probe.is_soft()) else { return false };
        let text = response.decoded_body(ResourceKind::Page).unwrap_or_default();
        let is_known = || row.is_some_and(|row| probe.title().as_deref() == Some(&row.title));
        probe.is_same_page(&text) || (probe.is_missing_page(&text) && !is_known())
    }

    pub(super) async fn handle_page_response(
        &mut self,
        target: CrawlTarget,
        row: Option<PageRow>,
        response: FetchedResponse,
    ) -> Result<(), SyncError> {
        let key = target.url.as_str().to_owned();
        let found =
            key_of(response.url.as_str()).filter(|key| self.run.page_policy.is_site_url(key));
        if response.is_not_modified() && found.as_deref() != Some(&key) && !target.is_fresh {
            // The validators belong to another URL than the one that responded, so the page
            // is requested again without validators.
            self.frontier.again(target);
            return Ok(());
        }
        if self.is_damaged(row.as_ref())? && (response.is_not_modified() || response.is_success()) {
            // The damaged content is withheld first, because the store skips a page that is
            // equal to a stored one.
            let write = WriteCommand::Withhold(key, WithheldReason::Fault, UrlRecords::default());
            self.workers.write(write).await?;
            if response.is_not_modified() {
                self.frontier.again(target);
                return Ok(());
            }
        }
        let key = target.url.as_str().to_owned();
        let now = self.run.context.now;
        let note = |value: NoteValue| UrlNote::new(&key, value, now);
        // The validators are stored for the URL that responded, which may differ after a
        // redirect.
        let mut records = UrlRecords::from(Validator {
            url: found.clone().unwrap_or_else(|| key.clone()),
            etag: response.validators.etag.clone(),
            last_modified: response.validators.last_modified.clone(),
            checked: now,
        });
        let checksum = target.checksum.map(|checksum| NoteValue::ArcChecksum(Some(checksum)));
        let lastmod = target.lastmod.map(NoteValue::Lastmod);
        records.notes.extend(checksum.into_iter().chain(lastmod).map(note));
        if response.is_not_modified() {
            self.run.state.crawl.refetch.remove(&key);
            return self.handle_unchanged(&key, row.as_ref(), &response, records).await;
        }
        if matches!(response.status, 404 | 410) {
            self.run.report.leave_out(&key, LeftOutReason::status(response.status));
            self.gone.insert(key.clone());
            self.n_without_page += 1;
            return self.record_no_page(&key).await;
        }
        if is_closed(response.status) && row.as_ref().is_some_and(|row| row.withheld.is_none()) {
            self.closed.insert(key.clone());
        }
        if !response.is_success() || response.body == ResponseBody::Absent {
            self.n_failed += 1;
            self.run.report.leave_out(&key, LeftOutReason::status(response.status));
            return self.record_failed_request(&key).await;
        }
        let Some(found) = found else {
            self.run.report.leave_out(&key, LeftOutReason::REDIRECT_ELSEWHERE);
            self.n_without_page += 1;
            return self.record_no_page(&key).await;
        };
        // Sites often answer unknown URLs with their home page, but the home page itself is
        // a page.
        let is_home = key_of(self.run.context.site.as_str()).as_ref() == Some(&key);
        if !is_home && self.is_soft_404(&response, row.as_ref()) {
            // With this response, the site reports that the page does not exist.
            self.run.report.leave_out(&key, LeftOutReason::SOFT_404);
            self.gone.insert(key.clone());
            self.n_without_page += 1;
            return self.record_no_page(&key).await;
        }
        self.run.state.crawl.refetch.remove(&key);
        let mut row = row;
        if found != key && row.is_some() && !response.is_permanent_redirect() {
            // A temporary redirect, such as to a login or a maintenance page, does not show
            // that this page has moved.
            self.run.report.leave_out(&key, LeftOutReason::TEMPORARY_REDIRECT);
            return self.record_failed_request(&key).await;
        }
        if found != key {
            // The page has moved: its new URL replaces the old URL.
            records.notes.push(note(NoteValue::MovedTo(found.clone())));
            if self.keep_url_without_page(&key) {
                records.notes.push(note(NoteValue::MissingSince(None)));
            }
            self.list_target(&key, &found);
            self.gone.insert(key);
            self.frontier.note(&found);
            if self.follows {
                self.pending.insert(found.clone(), self.depth);
            }
            row = self.run.context.row(&found)?;
            if self.collection_urls.has(&found) || self.run.context.damaged_rows.has(&found) {
                return Ok(());
            }
            if self.run.page_policy.judge(&found) == Some(WithheldReason::Consent) {
                self.run.report.leave_out(&found, LeftOutReason::CONSENT);
                return Ok(());
            }
        }
        let Ok(url) = PageUrl::parse(found.clone()) else { return Ok(()) };
        self.n_new += u64::from(row.is_none());
        let known_spelling = self.known_spelling(target.spelling_of)?;
        let raw = self.fetched_page(url, response, row, records);
        self.hand_over(FetchedPage { known_spelling, ..raw }, target.depth).await
    }

    /// Returns whether the stored content of a page is damaged.
    fn is_damaged(&self, row: Option<&PageRow>) -> Result<bool, SyncError> {
        let Some(row) = row.filter(|row| row.withheld.is_none()) else { return Ok(false) };
        Ok(damage::is_damaged(self.run.context.store.as_ref(), &row.url)?)
    }

    /// Returns the URL of the page that a URL is another spelling of, and the content hash
    /// of that page.
    fn known_spelling(
        &self,
        spelling_of: Option<String>,
    ) -> Result<Option<KnownSpelling>, SyncError> {
        let Some(of) = spelling_of else { return Ok(None) };
        let content = self.stored_content(&of)?;
        Ok(content.map(|content| KnownSpelling { of, content }))
    }

    /// Treats `page` as listed if the URL `key`, which leads to it, is listed.
    fn list_target(&mut self, key: &str, page: &str) {
        if let Some(listed) = self.run.listed.as_mut().filter(|listed| listed.has(key)) {
            listed.insert(page);
        }
    }

    /// Leaves out a URL that is not a page. If the URL is an alias of a page, that page is
    /// fetched, even if no list contains it.
    pub(super) fn leave_out_known(&mut self, key: &str, why: LeftOutReason) {
        if let Some(page) = why.alias_of() {
            self.frontier.add(page, None, None);
            self.list_target(key, page);
        }
        self.run.report.leave_out(key, why);
    }

    /// Handles a response that reports an unchanged page. The usage statements in its
    /// header fields are evaluated again.
    pub(super) async fn handle_unchanged(
        &mut self,
        key: &str,
        row: Option<&PageRow>,
        response: &FetchedResponse,
        mut records: UrlRecords,
    ) -> Result<(), SyncError> {
        if row.is_none_or(|row| row.withheld == Some(WithheldReason::Consent)) {
            let is_lastmod = |note: &&UrlNote| note.kind() == NoteKind::Lastmod;
            let lastmod: Vec<UrlNote> = records.notes.iter().filter(is_lastmod).cloned().collect();
            self.workers.write(WriteCommand::Records(lastmod.into())).await?;
        }
        let Some(row) = row else {
            // The note of the URL is not renewed, so that the URL is requested without
            // validators after some time.
            let why = reason_left_out(&self.run.context, key)?;
            self.leave_out_known(key, why);
            self.n_without_page += 1;
            return self.record_no_page(key).await;
        };
        self.list_canonical(key)?;
        if row.withheld == Some(WithheldReason::Consent) {
            // The page still does not allow its content to be stored. The note about that
            // is not renewed either.
            return self.record_attempt(key).await;
        }
        let store = self.run.context.store.as_ref();
        for validator in &mut records.validators {
            // A response with status 304 may omit validators that have not changed.
            let known = known_validator(store, &validator.url)?;
            let known = known.map(|known| (known.etag, known.last_modified)).unwrap_or_default();
            validator.etag = validator.etag.take().or(known.0);
            validator.last_modified = validator.last_modified.take().or(known.1);
        }
        let note = |value: NoteValue| UrlNote::new(key, value, self.run.context.now);
        let token = self.run.context.client.settings().robots_token();
        let said = consent::of_fields(&response.fields, token, self.run.context.now);
        if let Some(allows_training) = consent::training(&said) {
            records.notes.push(note(NoteValue::Training(Some(allows_training))));
        }
        if !response.fields.robots_tags.is_empty() {
            let known = match known_note(store, NoteKind::Expiry, key)?.map(|note| note.value) {
                Some(NoteValue::Expiry(known)) => known,
                _ => Expiry::default(),
            };
            let header = consent::expiry_of_tags(&response.fields.robots_tags, token);
            if known.header != header {
                records.notes.push(note(NoteValue::Expiry(Expiry { header, ..known })));
            }
        }
        let verdict = consent::join(&said);
        let write = match verdict.withheld.filter(|_| row.withheld.is_none()) {
            Some(why) => WriteCommand::Withhold(key.to_owned(), why, records),
            None => WriteCommand::Records(records),
        };
        self.workers.write(write).await
    }

    /// Handles a response that is not a page, or that is an alias of another page.
    pub(super) async fn handle_no_page(
        &mut self,
        failed: FailedPage,
        depth: u32,
    ) -> Result<(), SyncError> {
        let FailedPage { url, why, known, lastmod, had_row, is_gone } = failed;
        self.n_without_page += 1;
        if let Some(Validators { etag, last_modified }) = known {
            let known = NoteValue::NoPage(ResponseValidators { etag, last_modified });
            let notes = [known, NoteValue::NoPageReason(why.key())];
            let notes = notes.map(|value| UrlNote::new(url.key(), value, self.run.context.now));
            let notes: Vec<UrlNote> = notes.into_iter().chain(lastmod).collect();
            self.workers.write(WriteCommand::Records(notes.into())).await?;
        }
        if is_gone {
            self.gone.insert(url.key().to_owned());
        }
        self.depth = depth;
        self.n_new = self.n_new.saturating_sub(u64::from(!had_row));
        self.record_no_page(url.key()).await?;
        self.leave_out_known(url.key(), why);
        Ok(())
    }

    /// Handles a request that failed. If the URL redirected to a page earlier, that page
    /// still counts as listed.
    pub(super) async fn record_failed_request(&mut self, key: &str) -> Result<(), SyncError> {
        self.n_without_page += 1;
        self.keep_url_without_page(key);
        if let Some((found, _)) = redirect_target(self.run.context.store.as_ref(), key)? {
            self.list_target(key, &found);
            self.frontier.note(&found);
        }
        self.record_attempt(key).await
    }

    /// Handles a URL that has no page and will probably not have one at the next request.
    pub(super) async fn record_no_page(&mut self, key: &str) -> Result<(), SyncError> {
        if self.keep_url_without_page(key) {
            // The note keeps the time when the page was first missing; after some months
            // the URL is dropped.
            let store = self.run.context.store.as_ref();
            let first = match known_note(store, NoteKind::MissingSince, key)?.map(|it| it.value) {
                Some(NoteValue::MissingSince(Some(first))) => first,
                _ => self.run.context.now,
            };
            if is_lost(self.run.context.now, first) {
                self.open.remove(key);
            }
            self.record(key, NoteValue::MissingSince(Some(first))).await?;
        }
        self.record_attempt(key).await
    }

    /// Keeps a URL without a page for later crawls by links, because a 304 response for an
    /// unchanged page does not contain its links. Returns whether this crawl follows links.
    fn keep_url_without_page(&mut self, key: &str) -> bool {
        let is_kept = self.follows;
        if is_kept {
            self.pending.remove(key);
            self.open.insert(key.to_owned(), self.depth);
        }
        is_kept
    }

    /// Records the time of the request, so that a later crawl that cannot fetch all URLs
    /// fetches other URLs first.
    pub(super) async fn record_attempt(&mut self, key: &str) -> Result<(), SyncError> {
        self.record(key, NoteValue::Requested).await
    }

    /// Stores a note about a URL.
    async fn record(&mut self, key: &str, value: NoteValue) -> Result<(), SyncError> {
        let note = UrlNote::new(key, value, self.run.context.now);
        self.workers.write(WriteCommand::Records(note.into())).await
    }

    pub(super) async fn handle_error(
        &mut self,
        key: &str,
        row: Option<&PageRow>,
        error: &FetchError,
    ) -> Result<(), SyncError> {
        let text = error_chain(&error.cause);
        let report = &mut self.run.report;
        match &error.cause {
            FailureCause::Refused(RequestRefusal::Robots(reason)) => {
                report.leave_out(key, LeftOutReason::ROBOTS);
                let is_rule = matches!(reason, rutter_fetch::RobotsReason::Rule { .. });
                if is_rule && row.is_some_and(|row| row.withheld.is_none()) {
                    let write = WriteCommand::Withhold(
                        key.to_owned(),
                        WithheldReason::Robots,
                        UrlRecords::default(),
                    );
                    self.workers.write(write).await?;
                }
            }
            FailureCause::Refused(RequestRefusal::TooSlow(_)) => {
                self.is_stopped = true;
                record_stop(&mut self.run.state.crawl.stop_urls, key);
                report.add_problem(&error.url, ProblemKind::Policy, text);
            }
            FailureCause::Refused(_) => report.leave_out(key, LeftOutReason::refused(&text)),
            FailureCause::RetryLater { until, .. } => {
                self.is_stopped = true;
                record_stop(&mut self.run.state.crawl.stop_urls, key);
                self.pause = self.pause.max(Some(*until));
                report.add_problem(&error.url, ProblemKind::Network, text);
            }
            FailureCause::Response(_) => report.leave_out(key, LeftOutReason::bad_response(&text)),
            _ => {
                self.n_faults += 1;
                self.n_failed += 1;
                record_stop(&mut self.run.state.crawl.stop_urls, key);
                report.leave_out(key, LeftOutReason::NETWORK);
                if MOST_FAULTS <= self.n_faults {
                    self.is_stopped = true;
                    report.add_problem(&error.url, ProblemKind::Network, text);
                }
            }
        }
        Ok(())
    }
}

/// Records the URL of a page that ended a crawl or contributed to its end.
fn record_stop(stops: &mut BTreeSet<String>, key: &str) {
    if stops.len() < MOST_STOPS {
        stops.insert(key.to_owned());
    }
}

/// Returns whether a status code means that the page is not public.
fn is_closed(status: u16) -> bool {
    matches!(status, 401 | 402 | 403 | 451)
}
