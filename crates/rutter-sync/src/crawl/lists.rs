//! Fills the frontier of a crawl with the URLs of pages, and finds out whether the lists of
//! URLs are complete.
//!
//! Input: the lists that discovery read, the ARC entries in the replica, llms.txt, and
//! links that earlier crawls stored. Output: URLs in the [`Frontier`], and a
//! [`ListCoverage`].

use std::collections::{BTreeMap, HashSet};

use rutter_fetch::{Url, redact_url};
use rutter_page::Timestamp;
use rutter_store::NoteKind;

use crate::consent::page_policy::key_of;
use crate::context::SiteContext;
use crate::crawl::page;
use crate::crawl::queue::Frontier;
use crate::discover::{
    AccessMethod, Discovery, DiscoveryLimits, DiscoverySource, LookupOutcome, ParsedFile,
};
use crate::discovered_entries::{DiscoveredEntries, ListedUrl};
use crate::error::SyncError;
use crate::limits::WEB_SECTION;
use crate::report::ProblemKind;
use crate::report::left_out::LeftOutReason;
use crate::run::SyncRun;
use crate::run::files_fetched_by_sync;
use crate::state::url_note::{is_gone, known_note, known_validator};
use crate::state::url_set::UrlSet;

/// Name of the file with the URLs of all sitemaps, in the spool directory.
const LISTED: &str = "sitemaps.json";

/// Name of the file with links that no crawl has fetched yet, in the spool directory.
pub(crate) const LEFT: &str = "left.json";
/// Maximum number of pages without a sitemap entry that a report lists.
const MOST_UNLISTED: usize = 1_000;
/// Minimum seconds between two requests for a stored page that no list contains any more.
const UNLISTED_FOR: i64 = 7 * 86_400;

/// The URLs that each sitemap lists, by the URL of the sitemap.
pub(crate) type Lists = BTreeMap<String, Vec<ListedUrl>>;

/// Returns the URLs of all sitemaps, and whether every sitemap was read to its end. Only
/// complete sitemaps prove that a page without an entry no longer exists (B03).
pub(crate) async fn of_sitemaps(
    run: &mut SyncRun<'_>,
    discovery: &mut Discovery,
    discovered: DiscoveredEntries,
) -> Result<(Lists, ListCoverage), SyncError> {
    let kept: Lists = run.context.spool_dir.read(LISTED).unwrap_or_default();
    let mut lists = merge(discovery, discovered.listed, &kept);
    let (mut n_over, mut over) = (discovered.n_over, discovered.over);
    let is_short = |discovery: &Discovery, lists: &Lists| {
        let short = |url: &str, n: u64| lists.get(url).map_or(0, Vec::len) as u64 != n;
        discovery.offer.sitemaps.iter().any(|it| short(&it.url, it.n_urls))
    };
    let has_adverts = !discovery.offer.scp.collections.is_empty();
    if n_over == 0 && (is_short(discovery, &lists) || has_adverts) {
        // A list is missing or incomplete, or discovery stopped reading at the first
        // adverts, so discovery runs again without that limit.
        let mut cache = discovery.cache.clone();
        cache.files.retain(|url, file| match &file.parsed {
            Some(ParsedFile::Sitemap(said)) => {
                let list = lists.get(url).or_else(|| kept.get(url));
                let n_listed = list.map_or(0, Vec::len) as u64;
                0 < said.n_children || n_listed == said.n_urls
            }
            _ => true,
        });
        cache.fetched_by_caller =
            cache.files.keys().filter(|url| lists.contains_key(*url)).cloned().collect();
        // ARC and SPXI files, which this sync has requested already, are not requested
        // again.
        cache.fetched_by_caller.extend(files_fetched_by_sync(&cache));
        let mut again = DiscoveredEntries::new(&run.context.options.limits);
        let bounds = DiscoveryLimits { reads_all: true, ..DiscoveryLimits::FULL };
        let whole = run.discover(&cache, bounds, &mut again).await?;
        // Lists of the first discovery run take precedence over stored lists.
        let mut known = kept.clone();
        known.extend(lists);
        lists = merge(&whole, again.listed, &known);
        (n_over, over) = (again.n_over, again.over);
        *discovery = whole;
    }
    if lists != kept {
        run.context.spool_dir.write(LISTED, &lists)?;
    }
    if 0 < n_over {
        run.report.count_left_out(LeftOutReason::SITEMAP_LIMIT, n_over);
        for url in over {
            run.report.list_left_out(&url, LeftOutReason::SITEMAP_LIMIT);
        }
    }
    if let Some(url) = &run.foreign_arc {
        // The second discovery run found the ARC sitemap of other sites again, so it is
        // ignored again.
        discovery.cache.files.remove(url);
        discovery.offer.arc = None;
    }
    let failures = failures(run, discovery);
    let has_failed = failures.iter().any(|(_, kind, _)| kind.is_some());
    let is_every_list_here =
        failures.is_empty() && !is_cut(discovery) && !is_short(discovery, &lists);
    for (url, kind, text) in failures {
        run.report.add_problem_once(&url, kind, &text);
    }
    let is_whole = n_over == 0 && is_every_list_here;
    Ok((lists, ListCoverage { is_whole, has_failed }))
}

/// How completely the lists of a site were read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ListCoverage {
    /// Whether the lists contain every page of the site.
    pub(crate) is_whole: bool,
    /// Whether a list could not be read, and a later sync may be able to read it.
    pub(crate) has_failed: bool,
}

/// Returns the sitemaps that could not be read, if they are announced or an earlier sync
/// read them, with the kind and text of the problem. The kind is `None` if no later sync is
/// likely to be able to read the sitemap (D64).
pub(crate) fn failures(
    run: &SyncRun<'_>,
    discovery: &Discovery,
) -> Vec<(String, Option<ProblemKind>, String)> {
    let was_list = |url: &str| {
        let before = run.state.discovery_cache.files.iter();
        let lists = before.filter(|(_, file)| matches!(file.parsed, Some(ParsedFile::Sitemap(_))));
        lists
            .into_iter()
            .any(|(known, _)| Url::parse(known).is_ok_and(|known| redact_url(&known) == url))
    };
    let failed = discovery.lookups.iter().filter_map(|look| {
        let is_announced =
            matches!(look.source, DiscoverySource::SitemapLine | DiscoverySource::SitemapIndex);
        let (kind, text) = match &look.outcome {
            LookupOutcome::Failed(text) => {
                let is_lasting = look.status.is_some_and(is_lasting) && !was_list(&look.url);
                (Some(ProblemKind::Network).filter(|_| !is_lasting), text.clone())
            }
            // A refusal is lasting: its cause is robots.txt, a blocked port, or plain http.
            LookupOutcome::Refused(text) => (None, text.clone()),
            // A file that is missing or not a sitemap is not expected to become one.
            LookupOutcome::Absent(status) => (None, format!("status {status}")),
            LookupOutcome::Other(text) => (None, text.clone()),
            _ => return None,
        };
        let text = format!("{text}; the pages in this sitemap are not known");
        (is_announced || was_list(&look.url)).then(|| (look.url.clone(), kind, text))
    });
    failed.collect()
}

/// Returns whether the error that a status code reports is lasting: a client error other
/// than a timeout or a rate limit.
fn is_lasting(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 408 | 425 | 429)
}

/// Returns whether the list of a sitemap, or the list of sitemaps in an index, may be
/// incomplete.
fn is_cut(discovery: &Discovery) -> bool {
    let is_truncated =
        discovery.cache.files.values().any(
            |file| matches!(&file.parsed, Some(ParsedFile::Sitemap(said)) if said.is_truncated),
        );
    let is_bounded = discovery.findings.iter().any(|(_, finding)| {
        let rule = finding.rule;
        *rule == crate::discover::rules::TOO_MANY_SITEMAPS
            || *rule == crate::discover::rules::OUT_OF_BOUNDS
            // A feed contains only the newest pages.
            || *rule == rutter_sitemap::rules::IS_FEED
    });
    is_truncated || is_bounded
}

/// Returns the URLs of the offered sitemaps: as this sync read them, otherwise as an
/// earlier sync stored them.
fn merge(discovery: &Discovery, mut fresh: Lists, kept: &Lists) -> Lists {
    let mut lists = Lists::new();
    for sitemap in &discovery.offer.sitemaps {
        let list = fresh.remove(&sitemap.url).or_else(|| kept.get(&sitemap.url).cloned());
        lists.insert(sitemap.url.clone(), list.unwrap_or_default());
    }
    lists
}

/// Fills the frontier for an access method. Returns how completely the lists of the method
/// were read.
pub(crate) async fn fill(
    run: &mut SyncRun<'_>,
    discovery: &mut Discovery,
    discovered: DiscoveredEntries,
    method: AccessMethod,
    collection_urls: &UrlSet,
    frontier: &mut Frontier<'_>,
) -> Result<ListCoverage, SyncError> {
    match method {
        AccessMethod::Arc => {
            let mut after: Option<String> = None;
            while let Some(entries) = run.context.arc_entries(&mut after)? {
                for entry in entries.iter().filter(|entry| !collection_urls.has(entry.url.key())) {
                    // A page with a snapshot in its ARC entry needs no request.
                    if page::snapshot_text(entry).is_some() {
                        frontier.note(entry.url.key());
                        continue;
                    }
                    let checksum = entry.ai_checksum.as_ref().map(ToString::to_string);
                    frontier.add(entry.url.as_str(), entry.lastmod, checksum);
                }
            }
            // ARC does not forbid pages that it does not list (D56), so the pages of
            // sitemaps are added too.
            let filled = listed(run, discovery, discovered, collection_urls, frontier).await?;
            linked(&run.context, frontier, filled)
        }
        AccessMethod::Llms => {
            add_llms_links(discovery, frontier);
            // llms.txt contains only a selection of pages.
            Ok(ListCoverage::default())
        }
        AccessMethod::Links | AccessMethod::Nothing => {
            run.listed = None;
            add_llms_links(discovery, frontier);
            for key in &run.state.crawl.stop_urls {
                frontier.add(key, None, None);
            }
            for prefix in &run.context.options.scope.rules().prefixes {
                frontier.start_from(&format!("{}{prefix}", run.context.origin));
            }
            frontier.start_from(run.context.site.as_str());
            known_links(&run.context, frontier)?;
            // A page to which no other page links may still exist, so the list is not
            // complete.
            Ok(ListCoverage::default())
        }
        AccessMethod::Scp | AccessMethod::Sitemap => {
            let filled = listed(run, discovery, discovered, collection_urls, frontier).await?;
            linked(&run.context, frontier, filled)
        }
    }
}

/// Adds URLs that earlier crawls found, if this crawl also follows links. Then a page that
/// no list contains may still be found by a link, so the lists do not count as complete.
fn linked(
    context: &SiteContext<'_>,
    frontier: &mut Frontier<'_>,
    filled: ListCoverage,
) -> Result<ListCoverage, SyncError> {
    if !context.options.follows_links {
        return Ok(filled);
    }
    known_links(context, frontier)?;
    Ok(ListCoverage { is_whole: false, ..filled })
}

/// Adds crawled pages, links that no crawl has fetched yet, and links that had no page some
/// time ago.
fn known_links(context: &SiteContext<'_>, frontier: &mut Frontier<'_>) -> Result<(), SyncError> {
    context.for_each_key(WEB_SECTION, |key| frontier.add(&key, None, None))?;
    let left: Vec<(String, u32)> = context.spool_dir.read(LEFT).unwrap_or_default();
    for (key, depth) in left.iter().filter(|(key, _)| !frontier.has(key)).collect::<Vec<_>>() {
        let gone = known_note(context.store.as_ref(), NoteKind::MissingSince, key)?;
        if gone.is_some_and(|gone| is_gone(context.now, gone.noted)) {
            frontier.keep(key, *depth);
        } else {
            frontier.follow(key, *depth);
        }
    }
    Ok(())
}

/// Reports the pages that a crawl found by links and that no sitemap lists.
pub(crate) fn report_unlisted(
    run: &mut SyncRun<'_>,
    collection_urls: &UrlSet,
) -> Result<(), SyncError> {
    let Some(listed) = run.listed.take().filter(|_| run.context.options.follows_links) else {
        return Ok(());
    };
    let mut unlisted = Vec::new();
    let mut n_unlisted = 0;
    run.context.for_each_key(WEB_SECTION, |key| {
        if !listed.has(&key) && !collection_urls.has(&key) {
            n_unlisted += 1;
            if unlisted.len() < MOST_UNLISTED {
                unlisted.push(key);
            }
        }
    })?;
    (run.report.n_unlisted, run.report.unlisted) = (n_unlisted, unlisted);
    Ok(())
}

/// Stores links for the next crawl: first the links of the frontier and of `others`, then
/// links that a limit rejected. Returns the links beyond
/// [`remembered_links`](crate::CrawlLimits::remembered_links).
pub(crate) fn keep_left(
    context: &SiteContext<'_>,
    frontier: &Frontier<'_>,
    others: [&BTreeMap<String, u32>; 2],
) -> Result<Vec<String>, SyncError> {
    let most = context.options.limits.remembered_links;
    let others = others.into_iter().flatten().map(|(key, depth)| (key.clone(), *depth));
    let mut seen = HashSet::new();
    let mut over = Vec::new();
    let mut left: Vec<(String, u32)> = Vec::new();
    for (key, depth) in frontier.links().chain(others) {
        if seen.contains(&key) {
            continue;
        }
        if left.len() < most {
            seen.insert(key.clone());
            left.push((key, depth));
        } else {
            over.push(key);
        }
    }
    // Rejected links are already counted with the limit that rejected them, so they are not
    // added to `over`.
    let cut = frontier.cut_links().filter(|(key, _)| !seen.contains(key));
    left.extend(cut.take(most.saturating_sub(left.len())));
    context.spool_dir.write(LEFT, &left)?;
    Ok(over)
}

/// Adds the links in llms.txt.
fn add_llms_links(discovery: &Discovery, frontier: &mut Frontier<'_>) {
    for file in discovery.cache.files.values() {
        if let Some(ParsedFile::Llms(said)) = &file.parsed {
            said.links.iter().for_each(|link| frontier.add(link, None, None));
        }
    }
}

/// Adds the URLs in sitemaps whose pages no collection delivers.
async fn listed(
    run: &mut SyncRun<'_>,
    discovery: &mut Discovery,
    discovered: DiscoveredEntries,
    collection_urls: &UrlSet,
    frontier: &mut Frontier<'_>,
) -> Result<ListCoverage, SyncError> {
    let (lists, filled) = of_sitemaps(run, discovery, discovered).await?;
    let listed = lists.values().flatten().filter(|listed| !collection_urls.has(&listed.url));
    for page in listed {
        frontier.add(&page.url, page.lastmod, None);
    }
    let mut keys = UrlSet::default();
    for key in lists.values().flatten().filter_map(|listed| key_of(&listed.url)) {
        keys.insert(&key);
    }
    run.listed = run.context.options.follows_links.then_some(keys);
    Ok(filled)
}

/// Adds stored pages that no list contains. Call this if the lists may be incomplete: the
/// pages may be missing or not public by now, so each is requested once in [`UNLISTED_FOR`]
/// seconds.
pub(crate) fn unlisted(
    context: &SiteContext<'_>,
    collection_urls: &UrlSet,
    frontier: &mut Frontier<'_>,
) -> Result<(), SyncError> {
    let mut missing = Vec::new();
    context.for_each_key(WEB_SECTION, |key| {
        if !collection_urls.has(&key) && !frontier.has(&key) {
            missing.push(key);
        }
    })?;
    for key in missing {
        let checked = checked(context, &key)?;
        if checked.is_none_or(|checked| UNLISTED_FOR <= context.now.seconds_since(checked)) {
            frontier.add(&key, None, None);
        }
    }
    Ok(())
}

/// Returns when a URL was last requested; `None` if it was not requested.
pub(crate) fn checked(
    context: &SiteContext<'_>,
    url: &str,
) -> Result<Option<Timestamp>, SyncError> {
    let Some(key) = key_of(url) else { return Ok(None) };
    let store = context.store.as_ref();
    let mut latest = known_validator(store, &key)?.map(|known| known.checked);
    for kind in [NoteKind::NoPage, NoteKind::WithheldPage, NoteKind::Requested] {
        latest = latest.max(known_note(store, kind, &key)?.map(|note| note.noted));
    }
    Ok(latest)
}
