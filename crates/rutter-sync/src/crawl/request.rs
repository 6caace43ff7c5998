//! Decides whether a page is requested, and starts the request.

use std::sync::Arc;

use rutter_fetch::{FetchedResponse, Request, ResourceKind, Validators};
use rutter_page::PageUrl;
use rutter_store::{
    NoteKind, NoteValue, PageRow, PageSource, UrlRecords, Validator, WithheldReason,
};
use tokio::task::JoinSet;

use super::canonical;
use super::crawler::{CrawlRun, PageResponse};
use super::page;
use crate::context::SiteContext;
use crate::crawl::page::FetchedPage;
use crate::crawl::queue::CrawlTarget;
use crate::error::SyncError;
use crate::report::left_out::LeftOutReason;
use crate::run::SyncRun;
use crate::state::url_note::{
    fetched_lastmod, is_current, is_older_lastmod, is_recent, is_still_withheld, known_note,
    known_response, known_validator,
};
use crate::traffic::counted;

impl CrawlRun<'_, '_, '_> {
    /// Starts a request for a page, unless the stored page is known to be current. Returns
    /// whether a request was started.
    // More than 80 lines: the reasons for not requesting a page, in the order of their precedence.
    pub(crate) fn request_page(
        &mut self,
        target: &CrawlTarget,
        in_flight: &mut JoinSet<PageResponse>,
    ) -> Result<bool, SyncError> {
        let run = &mut *self.run;
        let key = target.url.as_str();
        if self.collection_urls.has(key) {
            return Ok(false);
        }
        if run.page_policy.judge(key) == Some(WithheldReason::Consent) {
            run.report.leave_out(key, LeftOutReason::CONSENT);
            self.links.keep_unasked(key, target.depth);
            return Ok(false);
        }
        let store = &run.context.store;
        let row = run.context.row(key)?;
        if run.context.damaged_rows.has(key) {
            return Ok(false);
        }
        let is_withheld =
            row.as_ref().is_some_and(|row| row.withheld == Some(WithheldReason::Consent));
        let known = known_version(&run.context, key, row.as_ref())?;
        let is_again = is_fetched_again(run, key, row.as_ref());
        let fetched_with = fetched_lastmod(store.as_ref(), key)?;
        let lastmod = target.lastmod.filter(|_| target.checksum.is_none());
        let is_current =
            is_current(run.context.now, lastmod, row.as_ref(), known.as_ref(), fetched_with);
        if !is_again && is_current {
            self.progress.n_done += 1;
            if row.is_none() {
                let why = run.context.reason_left_out(key)?;
                self.leave_out_known(key, why);
            } else {
                self.list_canonical(key)?;
            }
            return Ok(false);
        }
        if row.is_none() && self.progress.n_admitted <= self.progress.n_new {
            // A new page would exceed the page quota.
            self.progress.n_beyond += 1;
            self.progress.n_without_page += 1;
            run.report.list_left_out(key, LeftOutReason::QUOTA);
            self.links.keep_unasked(key, target.depth);
            return Ok(false);
        }
        if target.checksum.is_some() && row.as_ref().is_some_and(|row| row.withheld.is_none()) {
            let known = known_note(store.as_ref(), NoteKind::ArcChecksum, key)?;
            let known = known.filter(|note| is_recent(run.context.now, note.noted));
            if known.is_some_and(|it| it.value == NoteValue::ArcChecksum(target.checksum.clone())) {
                self.progress.n_done += 1;
                return Ok(false);
            }
        }
        let is_conditional = !target.is_fresh
            && !is_again
            && row.as_ref().is_none_or(|row| {
                let is_asked_by_tag = matches!(
                    row.withheld,
                    None | Some(WithheldReason::Shell | WithheldReason::Scope)
                );
                row.source != PageSource::Scp && (is_withheld || is_asked_by_tag)
            });
        let is_older_lastmod = is_older_lastmod(target.lastmod, fetched_with);
        let known = known.filter(|_| is_conditional).map(|known| Validators {
            etag: known.etag,
            last_modified: known.last_modified.filter(|_| !is_older_lastmod),
        });
        let request = Request {
            validators: known.unwrap_or_default(),
            site: Some(run.context.site.clone()),
            ..Request::new(target.url.clone(), ResourceKind::Page)
        };
        self.progress.n_asked += 1;
        if self.links.follows && row.is_none() {
            self.links.pending.insert(key.to_owned(), target.depth);
        }
        let (client, traffic) = (run.context.client.clone(), Arc::clone(&run.context.traffic));
        let target = target.clone();
        in_flight.spawn(async move {
            let response = counted(&traffic, client.fetch(&request)).await;
            PageResponse { target, row, instead_of: None, response }
        });
        Ok(true)
    }

    pub(crate) fn fetched_page(
        &self,
        url: PageUrl<'static>,
        response: FetchedResponse,
        row: Option<PageRow>,
        records: UrlRecords,
    ) -> FetchedPage {
        let token = self.run.context.client.settings().robots_token().to_owned();
        let said = self.run.page_policy.signals(url.key());
        let (template, now) = (self.templates.template.clone(), self.run.context.now);
        let most_links = self.run.context.options.limits.links_per_page;
        let has_note = |kind: NoteKind| {
            // A damaged note counts as present, so that it is written again.
            let known = self.run.context.store.url_note(kind, url.key());
            known.map_or(true, |known| known.is_some_and(|note| note.value.has_value()))
        };
        let has = page::StoredNotes {
            training: has_note(NoteKind::Training),
            snapshot: has_note(NoteKind::ArcSnapshot),
            expiry: has_note(NoteKind::Expiry),
        };
        FetchedPage {
            url,
            response,
            row,
            said,
            template,
            token,
            now,
            records,
            most_links,
            has,
            known_spelling: None,
            merges_variants: self.run.context.options.limits.merges_variants,
            instead_of: None,
        }
    }
}

/// Returns the validators for the request for a page. URLs without a page and withheld
/// pages have separate notes with validators, because the validators of an earlier page do
/// not fit the current response.
fn known_version(
    context: &SiteContext<'_>,
    key: &str,
    row: Option<&PageRow>,
) -> Result<Option<Validator>, SyncError> {
    let response = |kind: NoteKind| known_response(context.store.as_ref(), kind, key);
    Ok(match row {
        Some(row) if row.withheld == Some(WithheldReason::Consent) => {
            response(NoteKind::WithheldPage)?.filter(|it| is_still_withheld(context.now, row, it))
        }
        Some(_) => known_validator(context.store.as_ref(), key)?,
        None if canonical::has_lost_canonical(context, key)? => None,
        None => response(NoteKind::NoPage)?.filter(|it| is_recent(context.now, it.checked)),
    })
}

/// Returns whether a page was withheld by a rule that no longer applies, so that it is
/// fetched again.
fn is_fetched_again(run: &SyncRun<'_>, key: &str, row: Option<&PageRow>) -> bool {
    run.state.crawl.refetch.contains(key)
        || row.is_some_and(|row| match row.withheld {
            Some(WithheldReason::Robots | WithheldReason::Foreign) => true,
            // The stored content of a crawled page was damaged.
            Some(WithheldReason::Fault) => row.source != PageSource::Scp,
            Some(WithheldReason::Quota) => run.changes.has_larger_quota,
            Some(WithheldReason::Scope) => run.changes.has_other_scope,
            _ => false,
        })
}
