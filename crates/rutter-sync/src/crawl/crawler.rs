//! The loop of a crawl: requests pages, and passes them to the workers.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use rutter_extract::{TemplateChoice, TemplateSet};
use rutter_fetch::{FetchError, FetchedResponse, MissingPageProbe};
use rutter_store::PageRow;
use tokio::task::JoinSet;

use super::follows;
use super::lists;
use super::page;
use crate::crawl::open_links::OpenLinks;
use crate::crawl::page::FetchedPage;
use crate::crawl::page_writer::{BATCH, BATCH_BYTES, PageWriter, WriteCommand};
use crate::crawl::progress::{CrawlProgress, CrawlStep};
use crate::crawl::queue::{CrawlTarget, Frontier};
use crate::crawl::templates::SiteTemplates;
use crate::crawl::waiting_pages::WaitingPages;
use crate::crawl::worker_pool::{WorkerPool, WorkerResult};
use crate::discover::AccessMethod;
use crate::error::SyncError;
use crate::options::SyncEvent;
use crate::report::ProblemKind;
use crate::report::left_out::LeftOutReason;
use crate::run::SyncRun;
use crate::state::url_set::UrlSet;

/// Number of consecutive network faults that end a crawl.
pub(super) const MOST_FAULTS: u32 = 5;

/// Maximum time between two commits.
pub(super) const COMMITTED_EVERY: Duration = Duration::from_secs(10);

/// Maximum time that fetched pages wait for the templates. An interrupted sync loses at
/// most the pages of this time.
pub(super) const SAMPLE_FOR: Duration = Duration::from_mins(1);

/// Minimum number of pages to crawl from which learning templates is useful on a site with
/// collections.
pub(super) const WORTH_LEARNING: u64 = 20;

/// Name of the file with the templates of a site.
pub(super) const TEMPLATES: &str = "templates.json";

/// The response to the request for a page.
pub(super) struct PageResponse {
    pub(super) target: CrawlTarget,
    pub(super) row: Option<PageRow>,
    /// The page that this response may replace, if the response is its Markdown twin.
    pub(super) instead_of: Option<Box<page::ExtractedPage>>,
    pub(super) response: Result<FetchedResponse, FetchError>,
}

/// What a crawl found out about pages.
#[derive(Debug, Default)]
pub(super) struct CrawlFindings {
    /// Keys of stored pages that do not exist any more.
    pub(super) gone: BTreeSet<String>,
    /// Keys of stored pages that are no longer public.
    pub(super) closed: BTreeSet<String>,
    /// Content hashes of extracted pages, by the hash of the page key.
    pub(super) contents: HashMap<u64, u64>,
}

pub(super) struct CrawlRun<'w, 'v, 'g> {
    pub(super) run: &'w mut SyncRun<'v>,
    pub(super) frontier: Frontier<'g>,
    pub(super) collection_urls: UrlSet,
    pub(super) probe: Option<MissingPageProbe>,
    pub(super) templates: SiteTemplates,
    pub(super) workers: WorkerPool,
    pub(super) progress: CrawlProgress,
    pub(super) links: OpenLinks,
    pub(super) found: CrawlFindings,
    pub(super) waiting: WaitingPages,
}

/// Result of a crawl that ended.
pub(super) struct CrawlResult<'g> {
    pub(super) frontier: Frontier<'g>,
    pub(super) collection_urls: UrlSet,
    pub(super) progress: CrawlProgress,
    pub(super) links: OpenLinks,
    pub(super) found: CrawlFindings,
}

impl<'w, 'v, 'g> CrawlRun<'w, 'v, 'g> {
    pub(super) fn start(
        run: &'w mut SyncRun<'v>,
        method: AccessMethod,
        mut frontier: Frontier<'g>,
        collection_urls: UrlSet,
        probe: Option<MissingPageProbe>,
    ) -> Result<Self, SyncError> {
        let templates: TemplateSet = run.context.spool_dir.read(TEMPLATES).unwrap_or_default();
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
            store: Arc::clone(run.context.store),
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

    pub(super) async fn run(&mut self) -> Result<(), SyncError> {
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
            match CrawlStep::of(in_flight.len(), has_sample, self.workers.is_extracting()) {
                CrawlStep::AwaitResponse => {
                    if let Some(asked) = in_flight.join_next().await {
                        self.handle_response(asked.map_err(|_| SyncError::Worker)?).await?;
                    }
                }
                CrawlStep::LearnTemplates => self.learn().await?,
                CrawlStep::AwaitWorker => {
                    if let Some(note) = self.workers.next_result().await? {
                        self.handle_result(note, &mut in_flight).await?;
                    }
                }
                CrawlStep::ReleaseWaiting => {
                    let has_more = !self.progress.is_stopped && self.frontier.release_spellings();
                    if !has_more && !self.settle_variants(&mut in_flight).await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Returns whether the crawl reached its time limit.
    pub(super) fn is_late(&self) -> bool {
        let time = self.run.context.options.limits.time;
        let moment = self.run.context.client.environment().clock.monotonic();
        time.is_some_and(|time| self.progress.began + time <= moment)
    }

    /// Closes the frontier, so that the crawl requests no further pages.
    pub(super) fn close(&mut self, why: LeftOutReason) {
        self.frontier.close(why);
        self.templates.close();
    }

    /// Ends the worker and writer threads, adds their counts to the report, and stores the
    /// pause.
    pub(super) async fn end(self) -> Result<CrawlResult<'g>, SyncError> {
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

    pub(super) async fn handle_response(&mut self, page: PageResponse) -> Result<(), SyncError> {
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

    /// Passes a fetched page to the workers, or keeps it until the templates of the site
    /// are known.
    pub(super) async fn hand_over(
        &mut self,
        raw: FetchedPage,
        depth: u32,
    ) -> Result<(), SyncError> {
        let Some(raw) = self.templates.hold(raw, depth) else { return Ok(()) };
        self.workers.extract(raw, depth).await
    }

    /// Learns the templates of the site, and passes the waiting pages to the workers.
    pub(super) async fn learn(&mut self) -> Result<(), SyncError> {
        let Some(sample) = self.templates.sample.take() else { return Ok(()) };
        let (waiting, templates) = self.workers.learn(sample.pages).await?;
        if !templates.is_empty() {
            self.run.context.spool_dir.write(TEMPLATES, &templates)?;
            self.templates.template = TemplateChoice::Fitting(Arc::new(templates));
        }
        for (mut raw, depth) in waiting {
            raw.template = self.templates.template.clone();
            self.hand_over(raw, depth).await?;
        }
        Ok(())
    }

    pub(super) async fn handle_result(
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
    pub(super) async fn keep_page(
        &mut self,
        page: Box<page::ExtractedPage>,
    ) -> Result<(), SyncError> {
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
    pub(super) async fn save(&mut self) -> Result<(), SyncError> {
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
    pub(super) async fn commit_if_due(&mut self) -> Result<(), SyncError> {
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
