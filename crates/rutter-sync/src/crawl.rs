//! Crawls pages one by one, if the site offers no usable collection, or if a list contains
//! pages that the collections do not deliver.
//!
//! ```text
//! Frontier ─→ fetch (one connection, or several if the pace is 0) ─→ FetchedPage ─→ WorkerPool ─→ replica
//!     ↑                                                                                │
//!     └──────────────────────────────────── links ─────────────────────────────────────┘
//! ```
//!
//! A page is removed only if the site reports that the page does not exist, or if every
//! list was read to its end and none contains the page. Every URL that is left out is
//! counted. Crawled pages never replace pages that a collection keeps up to date.

mod arc_snapshot;
mod canonical;
mod classify;
pub(crate) mod lists;
mod markdown_twin;
mod open_links;
pub(crate) mod page;
pub(crate) mod page_snapshot;
mod page_writer;
mod progress;
pub(crate) mod queue;
mod removal;
mod response;
mod shell;
mod templates;
mod traps;
pub(crate) mod uncovered_pages;
pub(crate) mod variants;
mod worker_pool;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use crate::context::SiteContext;
use crate::discover::{AccessMethod, Discovery};
use rutter_extract::{Templates, Use};
use rutter_fetch::{
    FetchError, FetchedResponse, MissingPageProbe, Request, ResourceKind, Validators,
};
use rutter_page::PageUrl;
use rutter_store::{NoteKind, NoteValue, PageRow, PageSource, UrlRecords, WithheldReason};
use tokio::task::JoinSet;

use crate::collections::SectionFailures;
use crate::crawl::canonical::WaitingPages;
use crate::crawl::open_links::OpenLinks;
use crate::crawl::page::FetchedPage;
use crate::crawl::page_writer::{BATCH, BATCH_BYTES, PageWriter, WriteCommand};
use crate::crawl::progress::{CrawlProgress, NextStep};
use crate::crawl::queue::{CrawlTarget, Frontier};
use crate::crawl::templates::SiteTemplates;
use crate::crawl::worker_pool::{WorkerPool, WorkerResult};
use crate::discovered_entries::DiscoveredEntries;
use crate::error::SyncError;
use crate::limits::WEB_SECTION;
use crate::options::SyncEvent;
use crate::plan::PlanReason;
use crate::report::left_out::LeftOutReason;
use crate::report::{BetterMethod, ProblemKind};
use crate::run::SyncRun;
use crate::state::url_note::{
    fetched_lastmod, is_current, is_older_lastmod, is_recent, is_still_withheld, known_note,
    known_response, known_validator,
};
use crate::state::url_set::UrlSet;
use crate::traffic::counted;

/// Number of consecutive network faults that end a crawl.
const MOST_FAULTS: u32 = 5;
/// Maximum time between two commits.
const COMMITTED_EVERY: Duration = Duration::from_secs(10);
/// Maximum time that fetched pages wait for the templates. An interrupted sync loses at
/// most the pages of this time.
const SAMPLE_FOR: Duration = Duration::from_mins(1);
/// Minimum number of pages to crawl from which learning templates is useful on a site with
/// collections.
const WORTH_LEARNING: u64 = 20;
/// Name of the file with the templates of a site.
const TEMPLATES: &str = "templates.json";

/// The response to the request for a page.
struct PageResponse {
    target: CrawlTarget,
    row: Option<PageRow>,
    /// The page that this response may replace, if the response is its Markdown twin.
    instead_of: Option<Box<page::ExtractedPage>>,
    response: Result<FetchedResponse, FetchError>,
}

/// Crawls the pages of a site by one access method.
pub(crate) async fn crawl(
    run: &mut SyncRun<'_>,
    discovery: &mut Discovery,
    discovered: DiscoveredEntries,
    collected: &SectionFailures,
    method: AccessMethod,
) -> Result<(), SyncError> {
    let page_policy = Arc::clone(&run.page_policy);
    let most = run.context.options.most_pages;
    let limits = run.context.options.limits.clone();
    let mut frontier = Frontier::new(&page_policy, &limits, most);
    let collection_urls = collection_urls(&run.context, collected)?;
    let filled =
        lists::fill(run, discovery, discovered, method, &collection_urls, &mut frontier).await?;
    let lists::ListCoverage { is_whole, has_failed } = filled;
    for (section, reason) in &collected.failed {
        // If a section is no longer offered, complete lists decide which of its pages
        // remain.
        if !is_whole || *reason != PlanReason::NotOffered {
            run.context.for_each_key(section, |key| frontier.add(&key, None, None))?;
        }
    }
    if !is_whole {
        lists::unlisted(&run.context, &collection_urls, &mut frontier)?;
    }
    // If not all pages can be fetched, the pages with the oldest request come first, so
    // that every page is fetched within a few syncs.
    let most_sure = if limits.time.is_some() { 0 } else { most };
    frontier.sort_by_age(most_sure, |key| lists::checked(&run.context, key))?;
    // Pages that ended the previous crawl are fetched last.
    frontier.put_last(&run.state.crawl.stop_urls);
    let probe = discovery.cache.probe.as_ref().map(|(_, probe)| probe.clone());
    let mut crawl = Crawl::start(run, method, frontier, collection_urls, probe)?;
    if method == AccessMethod::Arc {
        crawl.store_arc_snapshots().await?;
    }
    crawl.run().await?;
    crawl.save().await?;
    let mut result = crawl.end().await?;
    let is_whole = is_whole && !result.progress.is_stopped && !result.frontier.is_bounded();
    let is_short = result.progress.is_stopped || result.frontier.is_bounded();
    if result.progress.is_stopped {
        result.frontier.close(LeftOutReason::STOPPED);
    }
    if follows(&run.context, method) {
        // Links that this crawl found and did not follow are stored, because no other crawl
        // may find them.
        let over = lists::keep_left(
            &run.context,
            &result.frontier,
            [&result.links.pending, &result.links.open],
        )?;
        for key in over {
            run.report.leave_out(&key, LeftOutReason::REMEMBERED_LIMIT);
        }
    }
    let store = run.context.store.clone();
    let is_stored = |key: &str| matches!(store.page(key), Ok(Some(_)));
    result.frontier.report(&mut run.report, &is_stored);
    run.is_cut_short |= is_short;
    if !is_short && !has_failed {
        run.state.crawl.lists_read = Some(run.context.now);
        if result.progress.n_without_page == 0 {
            run.state.crawl.uncovered_lists.clear();
        } else if result.progress.n_failed == 0 {
            // All missing pages are explained, so lists that are not read in every sync
            // need not be read again soon.
            run.state.crawl.uncovered_lists.remove("");
        }
    }
    removal::remove_pages(
        run,
        collected,
        &result.frontier,
        &result.collection_urls,
        &result.found.gone,
        is_whole,
    )?;
    removal::withhold_closed(run, &result.found.closed, result.progress.n_asked)?;
    lists::report_unlisted(run, &result.collection_urls)?;
    run.store_left_out(!is_short)?;
    let publisher = run.context.store.publisher(&run.context.origin)?;
    let (pages, bytes) = publisher.map_or((0, 0), |it| (it.pages, it.bytes));
    if 0 < pages && run.report.method != AccessMethod::Scp {
        // A sync by collections sends three requests: for robots.txt, the sitemap and one
        // collection.
        run.report.better_method =
            Some(BetterMethod { method: AccessMethod::Scp, requests: 3, bytes });
    }
    Ok(())
}

/// Returns whether a crawl by this access method follows the links of pages.
fn follows(context: &SiteContext<'_>, method: AccessMethod) -> bool {
    matches!(method, AccessMethod::Links | AccessMethod::Nothing) || context.options.follows_links
}

/// Returns the URLs of the pages that collections keep up to date.
pub(crate) fn collection_urls(
    context: &SiteContext<'_>,
    collected: &SectionFailures,
) -> Result<UrlSet, SyncError> {
    let mut collection_urls = UrlSet::default();
    for section in context.sections()? {
        if section.name != WEB_SECTION && !collected.failed.contains_key(&section.name) {
            context.for_each_key(&section.name, |key| {
                collection_urls.insert(&key);
            })?;
        }
    }
    Ok(collection_urls)
}

/// What a crawl found out about pages.
#[derive(Debug, Default)]
struct CrawlFindings {
    /// Keys of stored pages that do not exist any more.
    gone: BTreeSet<String>,
    /// Keys of stored pages that are no longer public.
    closed: BTreeSet<String>,
    /// Content hashes of extracted pages, by the hash of the page key.
    contents: HashMap<u64, u64>,
}

struct Crawl<'w, 'v, 'g> {
    run: &'w mut SyncRun<'v>,
    frontier: Frontier<'g>,
    collection_urls: UrlSet,
    probe: Option<MissingPageProbe>,
    templates: SiteTemplates,
    workers: WorkerPool,
    progress: CrawlProgress,
    links: OpenLinks,
    found: CrawlFindings,
    waiting: WaitingPages,
}

/// Result of a crawl that ended.
struct CrawlResult<'g> {
    frontier: Frontier<'g>,
    collection_urls: UrlSet,
    progress: CrawlProgress,
    links: OpenLinks,
    found: CrawlFindings,
}

impl<'w, 'v, 'g> Crawl<'w, 'v, 'g> {
    fn start(
        run: &'w mut SyncRun<'v>,
        method: AccessMethod,
        mut frontier: Frontier<'g>,
        collection_urls: UrlSet,
        probe: Option<MissingPageProbe>,
    ) -> Result<Self, SyncError> {
        let templates: Templates = run.context.spool_dir.read(TEMPLATES).unwrap_or_default();
        let is_listed =
            matches!(method, AccessMethod::Sitemap | AccessMethod::Arc | AccessMethod::Scp);
        // If collections deliver nearly all pages, the few pages to crawl are not enough to
        // learn templates.
        let is_little =
            run.report.method == AccessMethod::Scp && frontier.n_known() < WORTH_LEARNING;
        let templates = if !templates.is_empty() {
            SiteTemplates::known(templates)
        } else if is_listed && !is_little {
            SiteTemplates::learned_from(frontier.sample_first(&run.state.crawl.stop_urls))
        } else {
            SiteTemplates::unused()
        };
        let page_writer = PageWriter {
            store: Arc::clone(&run.context.store),
            lease: run.context.lease_guard.lease().clone(),
            quota: run.context.options.quota,
            now: run.context.now,
            commits_on_demand: follows(&run.context, method),
            page_policy: Arc::clone(&run.page_policy),
        };
        let known = run.context.store.publisher(&run.context.origin)?.map_or(0, |it| it.pages);
        let n_admitted = run.context.options.quota.pages.saturating_sub(known);
        // If the client waits between requests, pages arrive one by one, so one worker is
        // enough.
        let is_paced = !run.context.client.settings().pace.is_zero();
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = WorkerPool::start(page_writer, if is_paced { 1 } else { n_cores })?;
        let began = run.context.client.environment().clock.monotonic();
        Ok(Self {
            links: OpenLinks::new(follows(&run.context, method)),
            run,
            frontier,
            collection_urls,
            probe,
            templates,
            workers,
            progress: CrawlProgress::new(began, n_admitted),
            found: CrawlFindings::default(),
            waiting: WaitingPages::default(),
        })
    }

    async fn run(&mut self) -> Result<(), SyncError> {
        let settings = self.run.context.client.settings();
        let most = if settings.pace.is_zero() { settings.connections.max(1) } else { 1 };
        let most_pages = self.run.context.options.most_pages;
        let mut in_flight: JoinSet<PageResponse> = JoinSet::new();
        loop {
            while let Some(note) = self.workers.try_result().await? {
                self.handle_result(note, &mut in_flight).await?;
            }
            while in_flight.len() < most && !self.progress.is_stopped {
                if most_pages <= self.progress.n_asked {
                    self.close(LeftOutReason::PAGE_LIMIT);
                } else if self.is_late() {
                    self.close(LeftOutReason::TIME_LIMIT);
                }
                let Some(target) = self.frontier.next() else { break };
                if !self.request_page(&target, &mut in_flight)? {
                    self.templates.drop_wanted(target.url.as_str());
                }
            }
            let has_sample = self.templates.sample.is_some();
            match NextStep::of(in_flight.len(), has_sample, self.workers.is_extracting()) {
                NextStep::AwaitResponse => {
                    if let Some(asked) = in_flight.join_next().await {
                        self.handle_response(asked.map_err(|_| SyncError::Worker)?).await?;
                    }
                }
                NextStep::LearnTemplates => self.learn().await?,
                NextStep::AwaitWorker => {
                    if let Some(note) = self.workers.next_result().await? {
                        self.handle_result(note, &mut in_flight).await?;
                    }
                }
                NextStep::ReleaseWaiting => {
                    let has_more = !self.progress.is_stopped && self.frontier.release_spellings();
                    if !has_more && !self.settle_variants(&mut in_flight).await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Returns whether the crawl reached its time limit.
    fn is_late(&self) -> bool {
        let time = self.run.context.options.limits.time;
        let moment = self.run.context.client.environment().clock.monotonic();
        time.is_some_and(|time| self.progress.began + time <= moment)
    }

    /// Closes the frontier, so that the crawl requests no further pages.
    fn close(&mut self, why: LeftOutReason) {
        self.frontier.close(why);
        self.templates.close();
    }

    /// Ends the worker and writer threads, adds their counts to the report, and stores the
    /// pause.
    async fn end(self) -> Result<CrawlResult<'g>, SyncError> {
        let Self {
            run, frontier, collection_urls, workers, mut progress, mut links, found, ..
        } = self;
        let written = workers.end().await;
        if let Some(until) = progress.pause {
            run.context.pause(until)?;
        }
        let written = written?;
        run.report.withheld += written.withheld;
        for key in &written.beyond {
            run.report.list_left_out(key, LeftOutReason::QUOTA);
        }
        if links.follows {
            links.open.extend(written.beyond.into_iter().map(|key| (key, 1)));
        }
        run.report_quota_exceeded(written.over_byte_quota);
        let n_beyond = written.over_quota + progress.n_beyond;
        progress.n_without_page += written.over_quota;
        if 0 < n_beyond {
            run.report.count_left_out(LeftOutReason::QUOTA, n_beyond);
            let text = format!("new pages beyond the page quota: {n_beyond}");
            let origin = run.context.origin.clone();
            run.report.add_problem(&origin, ProblemKind::Policy, text);
        }
        // A few failing pages are normal. If most requests fail, the site has a problem,
        // which is reported.
        if !progress.is_stopped && progress.has_mostly_failed() {
            let text =
                format!("{} of {} pages could not be fetched", progress.n_failed, progress.n_asked);
            let origin = run.context.origin.clone();
            run.report.add_problem(&origin, ProblemKind::Network, text);
        }
        Ok(CrawlResult { frontier, collection_urls, progress, links, found })
    }

    /// Starts a request for a page, unless the stored page is known to be current. Returns
    /// whether a request was started.
    fn request_page(
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
        // URLs without a page and withheld pages have separate notes with validators,
        // because the validators of an earlier page do not fit the current response.
        let is_withheld =
            row.as_ref().is_some_and(|row| row.withheld == Some(WithheldReason::Consent));
        let response = |kind: NoteKind| known_response(store.as_ref(), kind, key);
        let known = match &row {
            Some(row) if is_withheld => response(NoteKind::WithheldPage)?
                .filter(|it| is_still_withheld(run.context.now, row, it)),
            Some(_) => known_validator(store.as_ref(), key)?,
            None if canonical::has_lost_canonical(&run.context, key)? => None,
            None => response(NoteKind::NoPage)?.filter(|it| is_recent(run.context.now, it.checked)),
        };
        // Whether the page was withheld by a rule that no longer applies, so that it is
        // fetched again.
        let is_again = run.state.crawl.refetch.contains(key)
            || row.as_ref().is_some_and(|row| match row.withheld {
                Some(WithheldReason::Robots | WithheldReason::Foreign) => true,
                // The stored content of a crawled page was damaged.
                Some(WithheldReason::Fault) => row.source != PageSource::Scp,
                Some(WithheldReason::Quota) => run.changes.has_larger_quota,
                Some(WithheldReason::Scope) => run.changes.has_other_scope,
                _ => false,
            });
        let fetched_with = fetched_lastmod(store.as_ref(), key)?;
        let lastmod = target.lastmod.filter(|_| target.checksum.is_none());
        let is_current =
            is_current(run.context.now, lastmod, row.as_ref(), known.as_ref(), fetched_with);
        if !is_again && is_current {
            self.progress.n_done += 1;
            if row.is_none() {
                let why = reason_left_out(&run.context, key)?;
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

    async fn handle_response(&mut self, page: PageResponse) -> Result<(), SyncError> {
        let PageResponse { target, row, instead_of, response } = page;
        if let Some(page) = instead_of {
            return self.handle_twin(page, row, response).await;
        }
        self.progress.n_done += 1;
        self.links.depth = target.depth;
        let (done, known) = (self.progress.n_done, self.frontier.n_known());
        self.run.context.observer.event(&self.run.context.origin, SyncEvent::Pages { done, known });
        self.commit_if_due().await?;
        let key = target.url.as_str().to_owned();
        self.templates.drop_wanted(&key);
        match response {
            Ok(response) => {
                self.progress.n_faults = 0;
                self.run.state.crawl.stop_urls.remove(&key);
                self.run.context.traffic.add_bytes(response.wire_bytes);
                self.handle_page_response(target, row, response).await?;
            }
            Err(error) => {
                self.record_failed_request(&key).await?;
                self.handle_error(&key, row.as_ref(), &error).await?;
            }
        }
        let is_late = self.progress.began + SAMPLE_FOR
            <= self.run.context.client.environment().clock.monotonic();
        if self.templates.is_due(is_late) {
            self.learn().await?;
        }
        Ok(())
    }

    fn fetched_page(
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

    /// Passes a fetched page to the workers, or keeps it until the templates of the site
    /// are known.
    async fn hand_over(&mut self, raw: FetchedPage, depth: u32) -> Result<(), SyncError> {
        let Some(raw) = self.templates.hold(raw, depth) else { return Ok(()) };
        self.workers.extract(raw, depth).await
    }

    /// Learns the templates of the site, and passes the waiting pages to the workers.
    async fn learn(&mut self) -> Result<(), SyncError> {
        let Some(sample) = self.templates.sample.take() else { return Ok(()) };
        let (waiting, templates) = self.workers.learn(sample.pages).await?;
        if !templates.is_empty() {
            self.run.context.spool_dir.write(TEMPLATES, &templates)?;
            self.templates.template = Use::Fitting(Arc::new(templates));
        }
        for (mut raw, depth) in waiting {
            raw.template = self.templates.template.clone();
            self.hand_over(raw, depth).await?;
        }
        Ok(())
    }

    async fn handle_result(
        &mut self,
        note: WorkerResult,
        in_flight: &mut JoinSet<PageResponse>,
    ) -> Result<(), SyncError> {
        if let Some(failed) = note.failed {
            self.handle_no_page(failed, note.depth).await?;
        }
        if self.links.follows {
            for link in &note.links {
                self.frontier.follow(link, note.depth + 1);
            }
            for link in &note.more_links {
                self.frontier.leave_link(link, note.depth + 1);
            }
        }
        if let Some((page, twin)) = note.twin {
            self.request_twin(page, &twin, in_flight).await?;
        }
        if let Some((key, content)) = note.content {
            self.found.contents.insert(key, content);
        }
        if let Some(variant) = note.variant {
            self.wait_for_canonical(variant, in_flight).await?;
        }
        if let Some(page) = note.page {
            self.keep_page(page).await?;
        }
        Ok(())
    }

    /// Passes a page of a crawl by links to the writer, and commits if many pages are not
    /// committed yet.
    async fn keep_page(&mut self, page: Box<page::ExtractedPage>) -> Result<(), SyncError> {
        self.links.pending.remove(&page.key);
        self.links.unsaved.0 += 1;
        self.links.unsaved.1 += page.line.len();
        self.workers.write(WriteCommand::Page(page)).await?;
        if BATCH <= self.links.unsaved.0 || BATCH_BYTES <= self.links.unsaved.1 {
            self.save().await?;
        }
        Ok(())
    }

    /// In a crawl by links, stores the links first and then commits the pages that contain
    /// them, because a later 304 response for such a page does not contain its links.
    async fn save(&mut self) -> Result<(), SyncError> {
        if self.links.follows {
            lists::keep_left(
                &self.run.context,
                &self.frontier,
                [&self.links.pending, &self.links.open],
            )?;
            self.links.unsaved = (0, 0);
            self.workers.write(WriteCommand::Commit).await?;
        }
        Ok(())
    }

    /// Commits the extracted pages if the last commit is older than `COMMITTED_EVERY`.
    async fn commit_if_due(&mut self) -> Result<(), SyncError> {
        let moment = self.run.context.client.environment().clock.monotonic();
        if moment < self.progress.committed + COMMITTED_EVERY {
            return Ok(());
        }
        if self.links.follows {
            self.save().await?;
            self.progress.committed = moment;
        } else if self.workers.try_write(WriteCommand::Commit) {
            self.progress.committed = moment;
        }
        Ok(())
    }
}

/// Returns why a URL was not a page when it was last requested.
pub(crate) fn reason_left_out(
    context: &SiteContext<'_>,
    key: &str,
) -> Result<LeftOutReason, SyncError> {
    let note = known_note(context.store.as_ref(), NoteKind::NoPageReason, key)?;
    let why = match note.map(|note| note.value) {
        Some(NoteValue::NoPageReason(why)) => LeftOutReason::parse(&why),
        _ => None,
    };
    Ok(why.unwrap_or(LeftOutReason::UNCHANGED))
}
