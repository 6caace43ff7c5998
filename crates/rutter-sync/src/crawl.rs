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
mod crawler;
mod file_type;
pub(crate) mod lists;
mod markdown_twin;
pub(crate) mod no_page;
mod open_links;
pub(crate) mod page;
pub(crate) mod page_snapshot;
mod page_writer;
mod progress;
pub(crate) mod queue;
mod removal;
mod request;
mod response;
mod shell;
mod templates;
mod traps;
pub(crate) mod uncovered_pages;
pub(crate) mod variants;
mod waiting_pages;
mod worker_pool;

use std::sync::Arc;

use crate::collections::SectionFailures;
use crate::context::SiteContext;
use crate::crawl::crawler::{CrawlResult, CrawlRun};
use crate::crawl::queue::Frontier;
use crate::discover::{AccessMethod, Discovery};
use crate::discovered_entries::DiscoveredEntries;
use crate::error::SyncError;
use crate::limits::WEB_SECTION;
use crate::plan::PlanReason;
use crate::report::BetterMethod;
use crate::report::left_out::LeftOutReason;
use crate::run::SyncRun;
use crate::state::url_set::UrlSet;

/// Crawls the pages of a site by one access method.
pub(crate) async fn crawl(
    run: &mut SyncRun<'_>,
    discovery: &mut Discovery,
    discovered: DiscoveredEntries,
    collected: &SectionFailures,
    method: AccessMethod,
) -> Result<(), SyncError> {
    let page_policy = Arc::clone(&run.page_policy);
    let limits = run.context.options.limits.clone();
    let mut frontier = Frontier::new(&page_policy, &limits, run.context.options.most_pages);
    let collection_urls = collection_urls(&run.context, collected)?;
    let coverage =
        lists::fill(run, discovery, discovered, method, &collection_urls, &mut frontier).await?;
    fill_frontier(run, collected, coverage, &collection_urls, &mut frontier)?;
    let probe = discovery.cache.probe.as_ref().map(|(_, probe)| probe.clone());
    let mut crawl = CrawlRun::start(run, method, frontier, collection_urls, probe)?;
    if method == AccessMethod::Arc {
        crawl.store_arc_snapshots().await?;
    }
    crawl.run().await?;
    crawl.save().await?;
    let result = crawl.end().await?;
    finish(run, collected, coverage, result)
}

/// Adds the stored pages that the lists do not decide about, and sorts the frontier.
fn fill_frontier(
    run: &SyncRun<'_>,
    collected: &SectionFailures,
    coverage: lists::ListCoverage,
    collection_urls: &UrlSet,
    frontier: &mut Frontier<'_>,
) -> Result<(), SyncError> {
    let is_whole = coverage.is_whole;
    for (section, reason) in &collected.failed {
        // If a section is no longer offered, complete lists decide which of its pages
        // remain.
        if !is_whole || *reason != PlanReason::NotOffered {
            run.context.for_each_key(section, |key| frontier.add(&key, None, None))?;
        }
    }
    if !is_whole {
        lists::unlisted(&run.context, collection_urls, frontier)?;
    }
    // If not all pages can be fetched, the pages with the oldest request come first, so
    // that every page is fetched within a few syncs.
    let options = run.context.options;
    let most_sure = if options.limits.time.is_some() { 0 } else { options.most_pages };
    frontier.sort_by_age(most_sure, |key| lists::checked(&run.context, key))?;
    // Pages that ended the previous crawl are fetched last.
    frontier.put_last(&run.state.crawl.stop_urls);
    Ok(())
}

/// Takes over the result of a crawl: stores the links for the next crawl, completes the
/// report, and removes and withholds pages.
fn finish(
    run: &mut SyncRun<'_>,
    collected: &SectionFailures,
    coverage: lists::ListCoverage,
    mut result: CrawlResult<'_>,
) -> Result<(), SyncError> {
    let lists::ListCoverage { is_whole, has_failed } = coverage;
    let is_whole = is_whole && !result.progress.is_stopped && !result.frontier.is_bounded();
    let is_short = result.progress.is_stopped || result.frontier.is_bounded();
    if result.progress.is_stopped {
        result.frontier.close(LeftOutReason::STOPPED);
    }
    if result.links.follows {
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
