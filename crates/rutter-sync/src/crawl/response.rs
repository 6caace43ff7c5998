//! Handles the responses of a crawl, by their class.
//!
//! Input: the response, its crawl target, and the stored row of the page. Output: jobs for
//! the worker pool, URL notes, and left-out URLs.

use std::collections::BTreeSet;

use rutter_fetch::{
    FailureCause, FetchError, FetchedResponse, RequestRefusal, ResourceKind, Validators,
};
use rutter_page::PageUrl;
use rutter_store::{
    Expiry, NoteKind, NoteValue, PageRow, ResponseValidators, UrlNote, UrlRecords, Validator,
    WithheldReason,
};

use super::classify::{KnownPage, ResponseClass, classify};
use super::crawler::{CrawlRun, MOST_FAULTS};
use crate::consent;
use crate::consent::page_policy::key_of;
use crate::crawl::page::FetchedPage;
use crate::crawl::page_writer::WriteCommand;
use crate::crawl::queue::CrawlTarget;
use crate::crawl::variants::KnownSpelling;
use crate::crawl::worker_pool::FailedPage;
use crate::error::SyncError;
use crate::report::ProblemKind;
use crate::report::left_out::LeftOutReason;
use crate::run::damage;
use crate::state::url_note::{is_lost, known_note, known_validator, redirect_target};
use rutter_finding::error_chain;

/// Maximum number of stored URLs of pages that ended a crawl.
const MOST_STOPS: usize = 100;

impl CrawlRun<'_, '_, '_> {
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
        let mut known = KnownPage {
            key: &key,
            found: found.as_deref(),
            is_fresh: target.is_fresh,
            is_home: key_of(self.run.context.site.as_str()).as_ref() == Some(&key),
            row: row.as_ref(),
            is_damaged: false,
        };
        if !known.is_other_validator(&response) {
            known.is_damaged = self.is_damaged(row.as_ref())?;
        }
        if known.is_damaged && (response.is_not_modified() || response.is_success()) {
            // The damaged content is withheld first, because the store skips a page that is
            // equal to a stored one.
            let (reason, records) = (WithheldReason::Fault, UrlRecords::default());
            self.workers.write(WriteCommand::Withhold(key.clone(), reason, records)).await?;
        }
        let class = classify(&response, &known, || self.is_soft_404(&response, row.as_ref()));
        let report = &mut self.run.report;
        match class {
            ResponseClass::AskAgain => {
                self.frontier.again(target);
                Ok(())
            }
            ResponseClass::Unchanged => {
                self.run.state.crawl.refetch.remove(&key);
                let records = self.records_of(&target, found.unwrap_or(key.clone()), &response);
                self.handle_unchanged(&key, row.as_ref(), &response, records).await
            }
            ResponseClass::Gone | ResponseClass::Soft404 => {
                let is_gone = class == ResponseClass::Gone;
                let status = LeftOutReason::status(response.status);
                let why = if is_gone { status } else { LeftOutReason::SOFT_404 };
                report.leave_out(&key, why);
                self.found.gone.insert(key.clone());
                self.progress.n_without_page += 1;
                self.record_no_page(&key).await
            }
            ResponseClass::Failed { is_closed } => {
                if is_closed {
                    self.found.closed.insert(key.clone());
                }
                self.progress.n_failed += 1;
                report.leave_out(&key, LeftOutReason::status(response.status));
                self.record_failed_request(&key).await
            }
            ResponseClass::RedirectsElsewhere => {
                report.leave_out(&key, LeftOutReason::REDIRECT_ELSEWHERE);
                self.progress.n_without_page += 1;
                self.record_no_page(&key).await
            }
            ResponseClass::TemporaryRedirect => {
                self.run.state.crawl.refetch.remove(&key);
                report.leave_out(&key, LeftOutReason::TEMPORARY_REDIRECT);
                self.record_failed_request(&key).await
            }
            ResponseClass::Page { key: found } => {
                self.run.state.crawl.refetch.remove(&key);
                self.handle_page(target, found, row, response).await
            }
        }
    }

    /// Returns the validators and notes to store with a page. The validators are stored for
    /// the URL that responded, which may differ after a redirect.
    fn records_of(
        &self,
        target: &CrawlTarget,
        url: String,
        response: &FetchedResponse,
    ) -> UrlRecords {
        let now = self.run.context.now;
        let mut records = UrlRecords::from(Validator {
            url,
            etag: response.validators.etag.clone(),
            last_modified: response.validators.last_modified.clone(),
            checked: now,
        });
        let checksum = target.checksum.clone().map(|it| NoteValue::ArcChecksum(Some(it)));
        let notes = checksum.into_iter().chain(target.lastmod.map(NoteValue::Lastmod));
        records.notes.extend(notes.map(|value| UrlNote::new(target.url.as_str(), value, now)));
        records
    }

    /// Handles a response that is the page `found`, which may have another URL than the
    /// target.
    async fn handle_page(
        &mut self,
        target: CrawlTarget,
        found: String,
        mut row: Option<PageRow>,
        response: FetchedResponse,
    ) -> Result<(), SyncError> {
        let key = target.url.as_str();
        let mut records = self.records_of(&target, found.clone(), &response);
        if found != key {
            // The page has moved: its new URL replaces the old URL.
            let note = |value: NoteValue| UrlNote::new(key, value, self.run.context.now);
            records.notes.push(note(NoteValue::MovedTo(found.clone())));
            if self.links.keep_without_page(key) {
                records.notes.push(note(NoteValue::MissingSince(None)));
            }
            self.list_target(key, &found);
            self.found.gone.insert(key.to_owned());
            self.frontier.note(&found);
            if self.links.follows {
                self.links.pending.insert(found.clone(), self.links.depth);
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
        let Ok(url) = PageUrl::parse(found) else { return Ok(()) };
        self.progress.n_new += u64::from(row.is_none());
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
            let why = self.run.context.reason_left_out(key)?;
            self.leave_out_known(key, why);
            self.progress.n_without_page += 1;
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
        self.progress.n_without_page += 1;
        if let Some(Validators { etag, last_modified }) = known {
            let known = NoteValue::NoPage(ResponseValidators { etag, last_modified });
            let notes = [known, NoteValue::NoPageReason(why.key())];
            let notes = notes.map(|value| UrlNote::new(url.key(), value, self.run.context.now));
            let notes: Vec<UrlNote> = notes.into_iter().chain(lastmod).collect();
            self.workers.write(WriteCommand::Records(notes.into())).await?;
        }
        if is_gone {
            self.found.gone.insert(url.key().to_owned());
        }
        self.links.depth = depth;
        self.progress.n_new = self.progress.n_new.saturating_sub(u64::from(!had_row));
        self.record_no_page(url.key()).await?;
        self.leave_out_known(url.key(), why);
        Ok(())
    }

    /// Handles a request that failed. If the URL redirected to a page earlier, that page
    /// still counts as listed.
    pub(super) async fn record_failed_request(&mut self, key: &str) -> Result<(), SyncError> {
        self.progress.n_without_page += 1;
        self.links.keep_without_page(key);
        if let Some((found, _)) = redirect_target(self.run.context.store.as_ref(), key)? {
            self.list_target(key, &found);
            self.frontier.note(&found);
        }
        self.record_attempt(key).await
    }

    /// Handles a URL that has no page and will probably not have one at the next request.
    pub(super) async fn record_no_page(&mut self, key: &str) -> Result<(), SyncError> {
        if self.links.keep_without_page(key) {
            // The note keeps the time when the page was first missing; after some months
            // the URL is dropped.
            let store = self.run.context.store.as_ref();
            let first = match known_note(store, NoteKind::MissingSince, key)?.map(|it| it.value) {
                Some(NoteValue::MissingSince(Some(first))) => first,
                _ => self.run.context.now,
            };
            if is_lost(self.run.context.now, first) {
                self.links.open.remove(key);
            }
            self.record(key, NoteValue::MissingSince(Some(first))).await?;
        }
        self.record_attempt(key).await
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
                self.progress.is_stopped = true;
                record_stop(&mut self.run.state.crawl.stop_urls, key);
                report.add_problem(&error.url, ProblemKind::Policy, text);
            }
            FailureCause::Refused(_) => report.leave_out(key, LeftOutReason::refused(&text)),
            FailureCause::RetryLater { until, .. } => {
                self.progress.is_stopped = true;
                record_stop(&mut self.run.state.crawl.stop_urls, key);
                self.progress.pause = self.progress.pause.max(Some(*until));
                report.add_problem(&error.url, ProblemKind::Network, text);
            }
            FailureCause::Response(_) => report.leave_out(key, LeftOutReason::bad_response(&text)),
            _ => {
                self.progress.n_faults += 1;
                self.progress.n_failed += 1;
                record_stop(&mut self.run.state.crawl.stop_urls, key);
                report.leave_out(key, LeftOutReason::NETWORK);
                if MOST_FAULTS <= self.progress.n_faults {
                    self.progress.is_stopped = true;
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
