//! Fills the frontier of a crawl: finds the URLs of pages, and whether they are complete.
//!
//! Input: the lists of discovery, the ARC entries in the replica, llms.txt, and links that
//! earlier crawls stored. Output: URLs in the [`Frontier`], and a [`ListCoverage`].

use std::collections::{BTreeMap, HashSet};

use rutter_arc::ArcEntry;
use rutter_discover::{
    AccessMethod, Discovery, DiscoveryLimits, DiscoverySource, LookupOutcome, ParsedFile,
};
use rutter_fetch::{Url, redact_url};
use rutter_page::Timestamp;
use rutter_store::Selection;

use crate::damage::remembered;
use crate::discovered_entries::{DiscoveredEntries, ListedUrl};
use crate::error::SyncError;
use crate::frontier::Frontier;
use crate::left_out::LeftOutReason;
use crate::page;
use crate::page_policy::key_of;
use crate::report::ProblemKind;
use crate::syncer::{SyncRun, WEB_SECTION, files_fetched_by_sync};
use crate::url_note::{UrlNote, is_gone};
use crate::url_set::UrlSet;

/// Number of ARC entries that are processed together; they may be long.
const ENTRIES: usize = 500;
/// Name of the file with the URLs of sitemaps.
const LISTED: &str = "sitemaps.json";

/// Name of the file with links that no crawl fetched.
pub(crate) const LEFT: &str = "left.json";
/// Maximum number of unlisted pages that a report names.
const MOST_UNLISTED: usize = 1_000;
/// Seconds between two requests for a page that no list contains any more.
const UNLISTED_FOR: i64 = 7 * 86_400;

/// URLs by sitemap.
pub(crate) type Lists = BTreeMap<String, Vec<ListedUrl>>;

/// Returns the URLs of all sitemaps, and whether every sitemap was read to its end: only
/// then does a missing URL mean something (B03).
pub(crate) async fn of_sitemaps(
    run: &mut SyncRun<'_>,
    discovery: &mut Discovery,
    discovered: DiscoveredEntries,
) -> Result<(Lists, ListCoverage), SyncError> {
    let kept: Lists = run.spool_dir.read(LISTED).unwrap_or_default();
    let mut lists = merge(discovery, discovered.listed, &kept);
    let (mut n_over, mut over) = (discovered.n_over, discovered.over);
    let is_short = |discovery: &Discovery, lists: &Lists| {
        let short = |url: &str, n: u64| lists.get(url).map_or(0, Vec::len) as u64 != n;
        discovery.offer.sitemaps.iter().any(|it| short(&it.url, it.n_urls))
    };
    let has_adverts = !discovery.offer.scp.collections.is_empty();
    if n_over == 0 && (is_short(discovery, &lists) || has_adverts) {
        // A list is missing, or discovery stopped at the first adverts.
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
        // Files that this sync requests itself are not requested twice.
        cache.fetched_by_caller.extend(files_fetched_by_sync(&cache));
        let mut again = DiscoveredEntries::new(&run.syncer.options.limits);
        let bounds = DiscoveryLimits { reads_all: true, ..DiscoveryLimits::FULL };
        let whole = run.discover(&cache, bounds, &mut again).await?;
        // Lists of the first run take precedence over stored ones.
        let mut known = kept.clone();
        known.extend(lists);
        lists = merge(&whole, again.listed, &known);
        (n_over, over) = (again.n_over, again.over);
        *discovery = whole;
    }
    if lists != kept {
        run.spool_dir.write(LISTED, &lists)?;
    }
    if 0 < n_over {
        run.report.count_left_out(LeftOutReason::SITEMAP_LIMIT, n_over);
        for url in over {
            run.report.list_left_out(&url, LeftOutReason::SITEMAP_LIMIT);
        }
    }
    if let Some(url) = &run.foreign_arc {
        // Discovery found the file again.
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

/// How completely lists were read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ListCoverage {
    /// Whether they contain every page.
    pub(crate) is_whole: bool,
    /// Whether some failed and may succeed in a later sync.
    pub(crate) has_failed: bool,
}

/// Returns announced or previously read sitemaps that could not be read. Those that a later
/// sync may be able to read have a kind (D64).
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
            // A refusal is lasting: robots.txt, a blocked port, plain http.
            LookupOutcome::Refused(text) => (None, text.clone()),
            // The pages of an announced file that is not a sitemap are not known.
            LookupOutcome::Absent(status) => (None, format!("status {status}")),
            LookupOutcome::Other(text) => (None, text.clone()),
            _ => return None,
        };
        let text = format!("{text}; the pages that it lists are not known");
        (is_announced || was_list(&look.url)).then(|| (look.url.clone(), kind, text))
    });
    failed.collect()
}

/// Returns whether a status code is lasting: a client error, except timeouts and rate
/// limits.
fn is_lasting(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 408 | 425 | 429)
}

/// Returns whether a list may be incomplete. For an index, some of its sitemaps are not
/// known.
fn is_cut(discovery: &Discovery) -> bool {
    let is_truncated =
        discovery.cache.files.values().any(
            |file| matches!(&file.parsed, Some(ParsedFile::Sitemap(said)) if said.is_truncated),
        );
    let is_bounded = discovery.findings.iter().any(|(_, finding)| {
        let rule = finding.rule;
        *rule == rutter_discover::rules::TOO_MANY_SITEMAPS
            || *rule == rutter_discover::rules::OUT_OF_BOUNDS
            // A feed contains the newest pages only.
            || *rule == rutter_signpost::rules::IS_FEED
    });
    is_truncated || is_bounded
}

/// Returns the URLs of the offered sitemaps: as read now, otherwise as stored.
fn merge(discovery: &Discovery, mut fresh: Lists, kept: &Lists) -> Lists {
    let mut lists = Lists::new();
    for sitemap in &discovery.offer.sitemaps {
        let list = fresh.remove(&sitemap.url).or_else(|| kept.get(&sitemap.url).cloned());
        lists.insert(sitemap.url.clone(), list.unwrap_or_default());
    }
    lists
}

/// Fills a frontier for an access method. Returns whether its lists are complete.
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
            while let Some(entries) = entries(run, &mut after)? {
                for entry in entries.iter().filter(|entry| !collection_urls.has(entry.url.key())) {
                    // A page with a snapshot needs no request.
                    if page::snapshot_text(entry).is_some() {
                        frontier.note(entry.url.key());
                        continue;
                    }
                    let checksum = entry.ai_checksum.as_ref().map(ToString::to_string);
                    frontier.add(entry.url.as_str(), entry.lastmod, checksum);
                }
            }
            // A page that ARC does not list is not forbidden (D56).
            let filled = listed(run, discovery, discovered, collection_urls, frontier).await?;
            linked(run, frontier, filled)
        }
        AccessMethod::Llms => {
            add_llms_links(discovery, frontier);
            // llms.txt is a selection of pages.
            Ok(ListCoverage::default())
        }
        AccessMethod::Links | AccessMethod::Nothing => {
            run.listed = None;
            add_llms_links(discovery, frontier);
            for key in &run.state.stop_urls {
                frontier.add(key, None, None);
            }
            for prefix in &run.syncer.options.scope.rules().prefixes {
                frontier.start_from(&format!("{}{prefix}", run.origin));
            }
            frontier.start_from(run.site.as_str());
            known_links(run, frontier)?;
            // A page without links to it may still exist.
            Ok(ListCoverage::default())
        }
        AccessMethod::Scp | AccessMethod::Sitemap => {
            let filled = listed(run, discovery, discovered, collection_urls, frontier).await?;
            linked(run, frontier, filled)
        }
    }
}

/// Adds URLs from earlier links if links are followed in addition to lists. Then a page
/// that no list contains is not missing.
fn linked(
    run: &SyncRun<'_>,
    frontier: &mut Frontier<'_>,
    filled: ListCoverage,
) -> Result<ListCoverage, SyncError> {
    if !run.syncer.options.follows_links {
        return Ok(filled);
    }
    known_links(run, frontier)?;
    Ok(ListCoverage { is_whole: false, ..filled })
}

/// Adds crawled pages, and links that no crawl fetched or that had no page.
fn known_links(run: &SyncRun<'_>, frontier: &mut Frontier<'_>) -> Result<(), SyncError> {
    for_each_key(run, WEB_SECTION, |key| frontier.add(&key, None, None))?;
    let left: Vec<(String, u32)> = run.spool_dir.read(LEFT).unwrap_or_default();
    for (key, depth) in left.iter().filter(|(key, _)| !frontier.has(key)).collect::<Vec<_>>() {
        let gone = remembered(run.syncer.store.as_ref(), &UrlNote::Gone.of(key))?;
        if gone.is_some_and(|gone| is_gone(run.now, &gone)) {
            frontier.keep(key, *depth);
        } else {
            frontier.follow(key, *depth);
        }
    }
    Ok(())
}

/// Reports pages that were found by links and are in no sitemap.
pub(crate) fn report_unlisted(
    run: &mut SyncRun<'_>,
    collection_urls: &UrlSet,
) -> Result<(), SyncError> {
    let Some(listed) = run.listed.take().filter(|_| run.syncer.options.follows_links) else {
        return Ok(());
    };
    let mut unlisted = Vec::new();
    let mut n_unlisted = 0;
    for_each_key(run, WEB_SECTION, |key| {
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

/// Stores links for the next crawl, the more likely pages first. Returns those beyond the
/// limit.
pub(crate) fn keep_left(
    run: &SyncRun<'_>,
    frontier: &Frontier<'_>,
    others: [&BTreeMap<String, u32>; 2],
) -> Result<Vec<String>, SyncError> {
    let most = run.syncer.options.limits.remembered_links;
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
    // These are counted by the limit that rejected them.
    let cut = frontier.cut_links().filter(|(key, _)| !seen.contains(key));
    left.extend(cut.take(most.saturating_sub(left.len())));
    run.spool_dir.write(LEFT, &left)?;
    Ok(over)
}

/// Adds the links of llms.txt.
fn add_llms_links(discovery: &Discovery, frontier: &mut Frontier<'_>) {
    for file in discovery.cache.files.values() {
        if let Some(ParsedFile::Llms(said)) = &file.parsed {
            said.links.iter().for_each(|link| frontier.add(link, None, None));
        }
    }
}

/// Adds the URLs of sitemaps that no collection delivers.
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
    run.listed = run.syncer.options.follows_links.then_some(keys);
    Ok(filled)
}

/// Adds stored pages that no list contains, if the lists may be incomplete: the pages may
/// be gone or closed by now. Requesting them now and then is enough.
pub(crate) fn unlisted(
    run: &SyncRun<'_>,
    collection_urls: &UrlSet,
    frontier: &mut Frontier<'_>,
) -> Result<(), SyncError> {
    let mut missing = Vec::new();
    for_each_key(run, WEB_SECTION, |key| {
        if !collection_urls.has(&key) && !frontier.has(&key) {
            missing.push(key);
        }
    })?;
    for key in missing {
        let checked = checked(run, &key)?;
        if checked.is_none_or(|checked| UNLISTED_FOR <= run.now.seconds_since(checked)) {
            frontier.add(&key, None, None);
        }
    }
    Ok(())
}

/// Returns when a URL was last requested.
pub(crate) fn checked(run: &SyncRun<'_>, url: &str) -> Result<Option<Timestamp>, SyncError> {
    let Some(key) = key_of(url) else { return Ok(None) };
    let store = &run.syncer.store;
    let mut latest = None;
    let marks = [UrlNote::Left, UrlNote::Withheld, UrlNote::Tried].map(|mark| mark.of(&key));
    for url in marks.into_iter().chain([key]) {
        latest = latest.max(remembered(store.as_ref(), &url)?.map(|mark| mark.checked));
    }
    Ok(latest)
}

/// Returns the next entries of the ARC sitemap that may be used, after `after`; `None` at
/// the end.
pub(crate) fn entries(
    run: &SyncRun<'_>,
    after: &mut Option<String>,
) -> Result<Option<Vec<ArcEntry<'static>>>, SyncError> {
    let rows = run.syncer.store.arc_entries(run.publisher, after.as_deref(), ENTRIES)?;
    let Some(last) = rows.last() else { return Ok(None) };
    *after = Some(last.url.clone());
    let open = rows.iter().filter(|row| row.is_allowed);
    Ok(Some(open.filter_map(|row| ArcEntry::from_json(&row.json)).collect()))
}

/// Passes the keys of a section to `take`, in order, without damaged rows.
pub(crate) fn for_each_key(
    run: &SyncRun<'_>,
    section: &str,
    mut take: impl FnMut(String),
) -> Result<(), SyncError> {
    let (publisher, section) = (Some(run.publisher), Some(section));
    let selection = Selection { publisher, section, with_withheld: true };
    run.for_each_batch(&selection, |rows| {
        for row in rows {
            take(row.url);
        }
        Ok(())
    })
}
