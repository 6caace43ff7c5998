//! Where addresses of pages come from, and whether they are all there are.

use std::collections::{BTreeMap, BTreeSet};

use rutter_arc::Entry as ArcEntry;
use rutter_discover::{Bounds, Clue, Discovery, Outcome, Rung, Said};
use rutter_store::{After, Selection, Store};

use crate::error::VisitError;
use crate::frontier::Frontier;
use crate::layers::{Gathered, Listed};
use crate::visit::{Visit, WEB};

/// Rows of the replica that are looked at together.
const PIECE: usize = 10_000;
/// The file of a publisher that remembers what sitemaps list.
const LISTED: &str = "sitemaps.json";

/// What sitemaps list, by sitemap.
pub(crate) type Lists = BTreeMap<String, Vec<Listed>>;

/// The addresses of all sitemaps, and whether every sitemap was read to its
/// end: only then an address that is missing means something (B03).
pub(crate) async fn of_sitemaps(
    visit: &mut Visit<'_>,
    found: &mut Discovery,
    gathered: Gathered,
) -> Result<(Lists, bool), VisitError> {
    let kept: Lists = visit.shelf.read(LISTED).unwrap_or_default();
    let mut lists = merge(found, gathered.listed, &kept);
    let mut n_over = gathered.n_over;
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
                let n_listed = lists.get(url).map_or(0, Vec::len) as u64;
                0 < said.n_children || n_listed == said.n_urls
            }
            _ => true,
        });
        memory.mine = memory.files.keys().filter(|url| lists.contains_key(*url)).cloned().collect();
        let mut again = Gathered::default();
        let bounds = Bounds { reads_all: true, ..Bounds::ALL };
        let whole = visit.discover(&memory, bounds, &mut again).await?;
        let fresh = merge(&whole, again.listed, &lists);
        n_over = again.n_over;
        lists = fresh;
        *found = whole;
    }
    visit.shelf.write(LISTED, &lists)?;
    // Also of an index: then some of its sitemaps are not known.
    let is_cut = found
        .memory
        .files
        .values()
        .any(|file| matches!(&file.said, Some(Said::Sitemap(said)) if said.is_truncated));
    let has_failed = found.looks.iter().any(|look| {
        let is_named = !matches!(look.by, Clue::UsualPlace | Clue::WellKnown);
        match look.outcome {
            Outcome::Failed(_) | Outcome::Refused(_) => is_named,
            // A sitemap that is announced and is none hides what it listed.
            Outcome::Absent(_) | Outcome::Other(_) => {
                matches!(look.by, Clue::SitemapLine | Clue::SitemapIndex)
            }
            _ => false,
        }
    });
    let is_bounded = found.findings.iter().any(|(_, finding)| {
        let rule = finding.rule;
        *rule == rutter_discover::rules::TOO_MANY_SITEMAPS
            || *rule == rutter_discover::rules::OUT_OF_BOUNDS
    });
    let is_whole = !is_cut && !has_failed && !is_bounded && n_over == 0 && !is_short(found, &lists);
    if 0 < n_over {
        *visit.report.left_out.entry("beyond what is listed".to_owned()).or_default() += n_over;
    }
    Ok((lists, is_whole))
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
    frontier: &mut Frontier<'_>,
) -> Result<bool, VisitError> {
    match rung {
        Rung::Arc => {
            for_each_entry(visit, |entry| {
                // What has a snapshot need not be asked for.
                if entry.ai_snapshot.is_some() {
                    return frontier.note(entry.url.key());
                }
                let checksum = entry.ai_checksum.as_ref().map(ToString::to_string);
                frontier.add(entry.url.as_str(), entry.lastmod, checksum);
            })?;
            // What a sitemap lists beside it was not looked at.
            Ok(found.offer.sitemaps.is_empty())
        }
        Rung::Llms => {
            for file in found.memory.files.values() {
                if let Some(Said::Llms(said)) = &file.said {
                    said.links.iter().for_each(|link| frontier.add(link, None, None));
                }
            }
            // A choice of pages, not a list of all.
            Ok(false)
        }
        Rung::Links | Rung::Nothing => {
            frontier.add(visit.site.as_str(), None, None);
            keys(visit, WEB)?.iter().for_each(|key| frontier.add(key, None, None));
            // A page that nothing links to any more may still be there.
            Ok(false)
        }
        Rung::Scp | Rung::Sitemap => {
            let (lists, is_whole) = of_sitemaps(visit, found, gathered).await?;
            for listed in lists.values().flatten() {
                frontier.add(&listed.url, listed.lastmod, None);
            }
            Ok(is_whole)
        }
    }
}

/// The open entries of the ARC sitemap.
pub(crate) fn for_each_entry(
    visit: &Visit<'_>,
    mut take: impl FnMut(ArcEntry<'static>),
) -> Result<(), VisitError> {
    let mut after: Option<String> = None;
    loop {
        let rows = visit.visitor.store.arc_entries(visit.publisher, after.as_deref(), PIECE)?;
        let is_last = rows.len() < PIECE;
        after = rows.last().map(|row| row.url.clone());
        let open = rows.iter().filter(|row| row.is_allowed);
        open.filter_map(|row| ArcEntry::from_json(&row.json)).for_each(&mut take);
        if is_last {
            return Ok(());
        }
    }
}

/// The keys of a section.
pub(crate) fn keys(visit: &Visit<'_>, section: &str) -> Result<BTreeSet<String>, VisitError> {
    let store: &dyn Store = visit.visitor.store.as_ref();
    let publisher = visit.publisher;
    let selection =
        Selection { publisher: Some(publisher), section: Some(section), with_withheld: true };
    let mut keys = BTreeSet::new();
    let mut after: Option<String> = None;
    loop {
        let place = after.as_deref().map(|url| After { publisher, url });
        let rows = store.list(&selection, place, PIECE)?;
        let is_last = rows.len() < PIECE;
        after = rows.last().map(|row| row.url.clone());
        keys.extend(rows.into_iter().map(|row| row.url));
        if is_last {
            return Ok(keys);
        }
    }
}
