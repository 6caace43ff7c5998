//! Where addresses of pages come from, and whether they are all there are.

use std::collections::{BTreeMap, HashSet};

use rutter_arc::Entry as ArcEntry;
use rutter_discover::{Bounds, Clue, Discovery, Outcome, Rung, Said};
use rutter_fetch::{Url, shown};
use rutter_page::Timestamp;
use rutter_store::Selection;

use crate::damage::remembered;
use crate::error::VisitError;
use crate::frontier::Frontier;
use crate::gate::key_of;
use crate::keys::Keys;
use crate::layers::{Gathered, Listed};
use crate::left_out::LeftOut;
use crate::mark::{Mark, is_gone};
use crate::page;
use crate::report::Kind;
use crate::visit::{Visit, WEB, mine};

/// ARC entries that are looked at together: they may be long.
const ENTRIES: usize = 500;
/// The file of a publisher that remembers what sitemaps list.
const LISTED: &str = "sitemaps.json";

/// The file of a publisher that remembers links which no walk reached.
pub(crate) const LEFT: &str = "left.json";
/// Pages that no sitemap lists and that are named in a report.
const MOST_UNLISTED: usize = 1_000;
/// How long a page is left alone that no list names any more, in seconds.
const UNLISTED_FOR: i64 = 7 * 86_400;

/// What sitemaps list, by sitemap.
pub(crate) type Lists = BTreeMap<String, Vec<Listed>>;

/// The addresses of all sitemaps, and whether every sitemap was read to its
/// end: only then an address that is missing means something (B03).
pub(crate) async fn of_sitemaps(
    visit: &mut Visit<'_>,
    found: &mut Discovery,
    gathered: Gathered,
) -> Result<(Lists, Filled), VisitError> {
    let kept: Lists = visit.shelf.read(LISTED).unwrap_or_default();
    let mut lists = merge(found, gathered.listed, &kept);
    let (mut n_over, mut over) = (gathered.n_over, gathered.over);
    let is_short = |found: &Discovery, lists: &Lists| {
        let short = |url: &str, n: u64| lists.get(url).map_or(0, Vec::len) as u64 != n;
        found.offer.sitemaps.iter().any(|it| short(&it.url, it.n_urls))
    };
    let has_adverts = !found.offer.scp.collections.is_empty();
    if n_over == 0 && (is_short(found, &lists) || has_adverts) {
        // A list is lost, or reading stopped at the first adverts.
        let mut memory = found.memory.clone();
        memory.files.retain(|url, file| match &file.said {
            Some(Said::Sitemap(said)) => {
                let list = lists.get(url).or_else(|| kept.get(url));
                let n_listed = list.map_or(0, Vec::len) as u64;
                0 < said.n_children || n_listed == said.n_urls
            }
            _ => true,
        });
        memory.mine = memory.files.keys().filter(|url| lists.contains_key(*url)).cloned().collect();
        // Whatever else this visit asks for itself is not asked for twice.
        memory.mine.extend(mine(&memory));
        let mut again = Gathered::new(&visit.visitor.options.limits);
        let bounds = Bounds { reads_all: true, ..Bounds::ALL };
        let whole = visit.discover(&memory, bounds, &mut again).await?;
        // What was read first comes before what was kept.
        let mut known = kept.clone();
        known.extend(lists);
        lists = merge(&whole, again.listed, &known);
        (n_over, over) = (again.n_over, again.over);
        *found = whole;
    }
    if lists != kept {
        visit.shelf.write(LISTED, &lists)?;
    }
    if 0 < n_over {
        visit.report.count_left_out(LeftOut::SITEMAP_LIMIT, n_over);
        for url in over {
            visit.report.list_left_out(&url, LeftOut::SITEMAP_LIMIT);
        }
    }
    if let Some(url) = &visit.foreign_arc {
        // It was found once more.
        found.memory.files.remove(url);
        found.offer.arc = None;
    }
    let failures = failures(visit, found);
    let has_failed = failures.iter().any(|(_, kind, _)| kind.is_some());
    let is_every_list_here = failures.is_empty() && !is_cut(found) && !is_short(found, &lists);
    for (url, kind, text) in failures {
        visit.report.trouble_once(&url, kind, &text);
    }
    let is_whole = n_over == 0 && is_every_list_here;
    Ok((lists, Filled { is_whole, has_failed }))
}

/// How far lists of pages were read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Filled {
    /// Whether they are all there is.
    pub(crate) is_whole: bool,
    /// Whether some could not be had, which may be otherwise next time.
    pub(crate) has_failed: bool,
}

/// Sitemaps that are announced, or were there before, and could not be read.
/// Those that may be read by a later sync have a kind (D64).
pub(crate) fn failures(
    visit: &Visit<'_>,
    found: &Discovery,
) -> Vec<(String, Option<Kind>, String)> {
    let was_list = |url: &str| {
        let before = visit.memo.memory.files.iter();
        let lists = before.filter(|(_, file)| matches!(file.said, Some(Said::Sitemap(_))));
        lists
            .into_iter()
            .any(|(known, _)| Url::parse(known).is_ok_and(|known| shown(&known) == url))
    };
    let failed = found.looks.iter().filter_map(|look| {
        let is_announced = matches!(look.by, Clue::SitemapLine | Clue::SitemapIndex);
        let (kind, text) = match &look.outcome {
            Outcome::Failed(text) => {
                let is_lasting = look.status.is_some_and(is_lasting) && !was_list(&look.url);
                (Some(Kind::Network).filter(|_| !is_lasting), text.clone())
            }
            // A refusal lasts: robots.txt, a blocked port, plain http.
            Outcome::Refused(text) => (None, text.clone()),
            // A sitemap that is announced and is none hides what it listed.
            Outcome::Absent(status) => (None, format!("status {status}")),
            Outcome::Other(text) => (None, text.clone()),
            _ => return None,
        };
        let text = format!("{text}; it is not known which pages it lists");
        (is_announced || was_list(&look.url)).then(|| (look.url.clone(), kind, text))
    });
    failed.collect()
}

/// Whether a status code will not change by itself: a client error, except
/// timeouts and rate limits.
fn is_lasting(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 408 | 425 | 429)
}

/// Whether a list is not known to be read to its end. Also an index: then some
/// of its sitemaps are not known.
fn is_cut(found: &Discovery) -> bool {
    let is_truncated = found
        .memory
        .files
        .values()
        .any(|file| matches!(&file.said, Some(Said::Sitemap(said)) if said.is_truncated));
    let is_bounded = found.findings.iter().any(|(_, finding)| {
        let rule = finding.rule;
        *rule == rutter_discover::rules::TOO_MANY_SITEMAPS
            || *rule == rutter_discover::rules::OUT_OF_BOUNDS
            // It names the newest pages only.
            || *rule == rutter_signpost::rules::IS_FEED
    });
    is_truncated || is_bounded
}

/// What sitemaps on offer list: as they were read now, else as they were kept.
fn merge(found: &Discovery, mut fresh: Lists, kept: &Lists) -> Lists {
    let mut lists = Lists::new();
    for sitemap in &found.offer.sitemaps {
        let list = fresh.remove(&sitemap.url).or_else(|| kept.get(&sitemap.url).cloned());
        lists.insert(sitemap.url.clone(), list.unwrap_or_default());
    }
    lists
}

/// Fills a frontier with what there is on a rung; tells whether it is all.
pub(crate) async fn fill(
    visit: &mut Visit<'_>,
    found: &mut Discovery,
    gathered: Gathered,
    rung: Rung,
    healthy: &Keys,
    frontier: &mut Frontier<'_>,
) -> Result<Filled, VisitError> {
    match rung {
        Rung::Arc => {
            let mut after: Option<String> = None;
            while let Some(entries) = entries(visit, &mut after)? {
                for entry in entries.iter().filter(|entry| !healthy.has(entry.url.key())) {
                    // What has a snapshot need not be asked for.
                    if page::told(entry).is_some() {
                        frontier.note(entry.url.key());
                        continue;
                    }
                    let checksum = entry.ai_checksum.as_ref().map(ToString::to_string);
                    frontier.add(entry.url.as_str(), entry.lastmod, checksum);
                }
            }
            // A page that ARC does not list is not forbidden (D56).
            let filled = listed(visit, found, gathered, healthy, frontier).await?;
            linked(visit, frontier, filled)
        }
        Rung::Llms => {
            hinted(found, frontier);
            // A choice of pages, not a list of all.
            Ok(Filled::default())
        }
        Rung::Links | Rung::Nothing => {
            visit.listed = None;
            hinted(found, frontier);
            for key in &visit.memo.stops {
                frontier.add(key, None, None);
            }
            for prefix in &visit.visitor.options.scope.rules().prefixes {
                frontier.start_from(&format!("{}{prefix}", visit.origin));
            }
            frontier.start_from(visit.site.as_str());
            known_links(visit, frontier)?;
            // A page that nothing links to any more may still be there.
            Ok(Filled::default())
        }
        Rung::Scp | Rung::Sitemap => {
            let filled = listed(visit, found, gathered, healthy, frontier).await?;
            linked(visit, frontier, filled)
        }
    }
}

/// Adds what links led to before, where links are followed beside lists. Then
/// a page that no list names is not absent.
fn linked(
    visit: &Visit<'_>,
    frontier: &mut Frontier<'_>,
    filled: Filled,
) -> Result<Filled, VisitError> {
    if !visit.visitor.options.follows_links {
        return Ok(filled);
    }
    known_links(visit, frontier)?;
    Ok(Filled { is_whole: false, ..filled })
}

/// Adds pages that were read one by one before, and links that no walk reached
/// or found nothing at.
fn known_links(visit: &Visit<'_>, frontier: &mut Frontier<'_>) -> Result<(), VisitError> {
    for_each_key(visit, WEB, |key| frontier.add(&key, None, None))?;
    let left: Vec<(String, u32)> = visit.shelf.read(LEFT).unwrap_or_default();
    for (key, depth) in left.iter().filter(|(key, _)| !frontier.has(key)).collect::<Vec<_>>() {
        let gone = remembered(visit.visitor.store.as_ref(), &Mark::Gone.of(key))?;
        if gone.is_some_and(|gone| is_gone(visit.now, &gone)) {
            frontier.keep(key, *depth);
        } else {
            frontier.follow(key, *depth);
        }
    }
    Ok(())
}

/// Reports pages that links led to and no sitemap lists.
pub(crate) fn report_unlisted(visit: &mut Visit<'_>, healthy: &Keys) -> Result<(), VisitError> {
    let Some(listed) = visit.listed.take().filter(|_| visit.visitor.options.follows_links) else {
        return Ok(());
    };
    let mut unlisted = Vec::new();
    let mut n_unlisted = 0;
    for_each_key(visit, WEB, |key| {
        if !listed.has(&key) && !healthy.has(&key) {
            n_unlisted += 1;
            if unlisted.len() < MOST_UNLISTED {
                unlisted.push(key);
            }
        }
    })?;
    (visit.report.n_unlisted, visit.report.unlisted) = (n_unlisted, unlisted);
    Ok(())
}

/// Remembers links for the next walk, the more likely pages first; gives those
/// that are too many.
pub(crate) fn keep_left(
    visit: &Visit<'_>,
    frontier: &Frontier<'_>,
    others: [&BTreeMap<String, u32>; 2],
) -> Result<Vec<String>, VisitError> {
    let most = visit.visitor.options.limits.remembered_links;
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
    // These are counted by the bound that cut them.
    let cut = frontier.cut_links().filter(|(key, _)| !seen.contains(key));
    left.extend(cut.take(most.saturating_sub(left.len())));
    visit.shelf.write(LEFT, &left)?;
    Ok(over)
}

/// Adds what llms.txt names.
fn hinted(found: &Discovery, frontier: &mut Frontier<'_>) {
    for file in found.memory.files.values() {
        if let Some(Said::Llms(said)) = &file.said {
            said.links.iter().for_each(|link| frontier.add(link, None, None));
        }
    }
}

/// Adds what sitemaps list and no collection brings.
async fn listed(
    visit: &mut Visit<'_>,
    found: &mut Discovery,
    gathered: Gathered,
    healthy: &Keys,
    frontier: &mut Frontier<'_>,
) -> Result<Filled, VisitError> {
    let (lists, filled) = of_sitemaps(visit, found, gathered).await?;
    let listed = lists.values().flatten().filter(|listed| !healthy.has(&listed.url));
    for page in listed {
        frontier.add(&page.url, page.lastmod, None);
    }
    let mut keys = Keys::default();
    for key in lists.values().flatten().filter_map(|listed| key_of(&listed.url)) {
        keys.insert(&key);
    }
    visit.listed = visit.visitor.options.follows_links.then_some(keys);
    Ok(filled)
}

/// Adds pages that are here and that no list names, where lists are not known
/// to be whole: they may be gone or closed by now. Now and then is enough.
pub(crate) fn unlisted(
    visit: &Visit<'_>,
    healthy: &Keys,
    frontier: &mut Frontier<'_>,
) -> Result<(), VisitError> {
    let mut missing = Vec::new();
    for_each_key(visit, WEB, |key| {
        if !healthy.has(&key) && !frontier.has(&key) {
            missing.push(key);
        }
    })?;
    for key in missing {
        let checked = checked(visit, &key)?;
        if checked.is_none_or(|checked| UNLISTED_FOR <= visit.now.seconds_since(checked)) {
            frontier.add(&key, None, None);
        }
    }
    Ok(())
}

/// When an address was asked for last.
pub(crate) fn checked(visit: &Visit<'_>, url: &str) -> Result<Option<Timestamp>, VisitError> {
    let Some(key) = key_of(url) else { return Ok(None) };
    let store = &visit.visitor.store;
    let mut latest = None;
    let marks = [Mark::Left, Mark::Withheld, Mark::Tried].map(|mark| mark.of(&key));
    for url in marks.into_iter().chain([key]) {
        latest = latest.max(remembered(store.as_ref(), &url)?.map(|mark| mark.checked));
    }
    Ok(latest)
}

/// The next open entries of the ARC sitemap, behind `after`; `None` at the end.
pub(crate) fn entries(
    visit: &Visit<'_>,
    after: &mut Option<String>,
) -> Result<Option<Vec<ArcEntry<'static>>>, VisitError> {
    let rows = visit.visitor.store.arc_entries(visit.publisher, after.as_deref(), ENTRIES)?;
    let Some(last) = rows.last() else { return Ok(None) };
    *after = Some(last.url.clone());
    let open = rows.iter().filter(|row| row.is_allowed);
    Ok(Some(open.filter_map(|row| ArcEntry::from_json(&row.json)).collect()))
}

/// Hands over the keys of a section, in order, except those of damaged rows.
pub(crate) fn for_each_key(
    visit: &Visit<'_>,
    section: &str,
    mut take: impl FnMut(String),
) -> Result<(), VisitError> {
    let (publisher, section) = (Some(visit.publisher), Some(section));
    let selection = Selection { publisher, section, with_withheld: true };
    visit.for_each_piece(&selection, |rows| {
        for row in rows {
            take(row.url);
        }
        Ok(())
    })
}
