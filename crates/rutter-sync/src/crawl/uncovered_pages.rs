//! Finds pages that the lists of a site contain and its collections do not deliver.
//!
//! There are two causes: a site may offer collections for only a part of its pages, and an
//! invalid page is skipped while the rest of its collection is applied (D39). Input: the
//! lists that discovery read, and the keys of the pages that collections delivered. Output:
//! the lists whose pages need a crawl, and the reasons why the other missing pages are left
//! out.
//!
//! The URLs that collections cover are stored in a file, so that a sync looks up only
//! changed pages in the replica. The file is valid only for one state of the sections.
//! After an interrupted sync, or after a snapshot, every listed page is looked up.

use rutter_page::Timestamp;
use rutter_store::{NoteKind, PageSource, WithheldReason};

use crate::consent::page_policy::key_of;
use crate::crawl::file_type::is_file;
use crate::discover::Discovery;
use crate::discovered_entries::DiscoveredEntries;
use crate::error::SyncError;
use crate::limits::WEB_SECTION;
use crate::report::left_out::LeftOutReason;
use crate::run::SyncRun;
use crate::state::delivered_pages::stamp;
use crate::state::url_note::{fetched_lastmod, is_recent, known_note};
use crate::state::url_set::UrlSet;

/// Seconds between two syncs that read every sitemap. The second value applies if the state
/// of every section is proved.
const WHOLE_EVERY: i64 = 7 * 86_400;
const WHOLE_EVERY_PROVED: i64 = 30 * 86_400;

/// Maximum number of listed pages for which a sync records why they are not in the replica.
const MOST_UNWANTED: usize = 100_000;

/// Name of the file with the URLs that collections cover, in the spool directory.
const COVERED: &str = "covered";

/// Updates `uncovered_lists` of the site's state: the lists with pages that collections do
/// not deliver. Only lists that discovery read in this sync are updated. `n_lists` is the
/// number of sitemaps that the site offers; `arc` is the URL of an ARC sitemap that
/// changed.
pub(crate) fn find_uncovered(
    run: &mut SyncRun<'_>,
    discovered: &DiscoveredEntries,
    n_lists: usize,
    arc: Option<&str>,
) -> Result<(), SyncError> {
    let sections = run.context.sections()?;
    if sections.iter().all(|section| section.name == WEB_SECTION) {
        return Ok(());
    }
    let after = stamp(&sections);
    let is_listed = discovered.listed.values().any(|list| !list.is_empty());
    if !is_listed && arc.is_none() && after == run.delivered.stamp {
        return Ok(());
    }
    let kept = UrlSet::read(&run.context.spool_dir, COVERED, run.delivered.stamp);
    let mut covered = kept.filter(|_| !run.delivered.has_snapshot).unwrap_or_default();
    // A list that was not read in this sync may still contain removed pages.
    if covered.remove_all(&run.delivered.removed) && !is_listed {
        run.state.crawl.uncovered_lists.insert(String::new());
    }
    let (mut unwanted, mut n_unwanted) = (Vec::new(), 0);
    for (sitemap, list) in &discovered.listed {
        let mut is_more = false;
        for listed in list {
            let url = listed.url.as_str();
            // Most URLs are equal to their keys, so the key is only computed if the URL is
            // not covered.
            if covered.has(url) {
                continue;
            }
            if run.delivered.keys.has(url) {
                covered.insert(url);
                continue;
            }
            let Some(key) = key_of(url).filter(|key| !covered.has(key)) else { continue };
            if is_delivered(run, &key)? {
                covered.insert(&key);
            } else if is_wanted(run, &key, listed.lastmod)? {
                is_more = true;
            } else if n_unwanted < MOST_UNWANTED {
                n_unwanted += 1;
                unwanted.push(key);
            }
        }
        if is_more {
            run.state.crawl.uncovered_lists.insert(sitemap.clone());
        } else {
            run.state.crawl.uncovered_lists.remove(sitemap);
        }
    }
    if let Some(arc) = arc {
        find_uncovered_arc(run, &mut covered, arc)?;
    }
    // If only some lists were read, the stored counts also contain pages of the other
    // lists, so they are kept.
    if is_listed && n_lists <= discovered.listed.len() {
        run.state.crawl.left_out_counts.clear();
        for key in unwanted {
            record_reason(run, &key)?;
        }
        run.store_left_out(true)?;
    }
    covered.write(&run.context.spool_dir, COVERED, after)
}

/// Records why a listed page is not in the replica.
fn record_reason(run: &mut SyncRun<'_>, key: &str) -> Result<(), SyncError> {
    let why = match run.page_policy.judge(key) {
        Some(WithheldReason::Robots) => LeftOutReason::ROBOTS,
        Some(WithheldReason::Scope) => LeftOutReason::SCOPE,
        Some(_) => LeftOutReason::CONSENT,
        None if rutter_fetch::Url::parse(key).is_ok_and(|url| is_file(&url)) => LeftOutReason::FILE,
        None => run.context.reason_left_out(key)?,
    };
    *run.state.crawl.left_out_counts.entry(why.key()).or_default() += 1;
    run.report.list_left_out(key, why);
    Ok(())
}

/// Updates `uncovered_lists` for an ARC sitemap: looks up whether collections deliver the
/// pages of all stored ARC entries.
fn find_uncovered_arc(
    run: &mut SyncRun<'_>,
    covered: &mut UrlSet,
    arc: &str,
) -> Result<(), SyncError> {
    let mut is_more = false;
    let mut after: Option<String> = None;
    while let Some(entries) = run.context.arc_entries(&mut after)? {
        for entry in &entries {
            let key = entry.url.key();
            if covered.has(key) {
                continue;
            }
            if is_delivered(run, key)? {
                covered.insert(key);
            } else {
                is_more = is_more || is_wanted(run, key, entry.lastmod)?;
            }
        }
    }
    if is_more {
        run.state.crawl.uncovered_lists.insert(arc.to_owned());
    } else {
        run.state.crawl.uncovered_lists.remove(arc);
    }
    Ok(())
}

/// Schedules a crawl if discovery did not read all sitemaps, because it found adverts
/// first.
///
/// The other sitemaps may list pages that no collection delivers. They are read in the
/// first sync and then once a week, or once a month if the state of every section is
/// proved.
pub(crate) fn schedule_full_read(run: &mut SyncRun<'_>, discovery: &Discovery) {
    let sections = &run.report.sections;
    let is_proved = !sections.is_empty() && sections.values().all(|section| section.is_proved);
    let every = if is_proved { WHOLE_EVERY_PROVED } else { WHOLE_EVERY };
    let is_due = |whole: Timestamp| every <= run.context.now.seconds_since(whole);
    if 0 < discovery.n_unread && run.state.crawl.lists_read.is_none_or(is_due) {
        run.state.crawl.uncovered_lists.insert(String::new());
    }
}

/// Returns whether pages have to be crawled even if collections bring every section up to
/// date.
pub(crate) fn has_uncovered_pages(run: &SyncRun<'_>) -> Result<bool, SyncError> {
    let sections = run.context.sections()?;
    let has_web = sections.iter().any(|section| section.name == WEB_SECTION && 0 < section.pages);
    Ok(has_web || !run.state.crawl.uncovered_lists.is_empty())
}

/// Returns whether a collection delivered a page, in this sync or earlier.
fn is_delivered(run: &SyncRun<'_>, key: &str) -> Result<bool, SyncError> {
    if run.delivered.keys.has(key) {
        return Ok(true);
    }
    Ok(run.context.row(key)?.is_some_and(|row| row.source == PageSource::Scp))
}

/// Returns whether a crawl would request a URL. A URL that was not a page when last
/// requested is not requested again while its `lastmod` has not changed.
fn is_wanted(run: &SyncRun<'_>, key: &str, lastmod: Option<Timestamp>) -> Result<bool, SyncError> {
    let is_page = rutter_fetch::Url::parse(key).is_ok_and(|url| !is_file(&url));
    if !is_page || run.page_policy.judge(key).is_some() {
        return Ok(false);
    }
    let left = known_note(run.context.store.as_ref(), NoteKind::NoPage, key)?.map(|it| it.noted);
    let left = left.filter(|noted| is_recent(run.context.now, *noted));
    let fetched_with = fetched_lastmod(run.context.store.as_ref(), key)?;
    let is_same = |noted: Timestamp| {
        lastmod.is_some_and(|lastmod| lastmod <= noted && fetched_with == Some(lastmod))
    };
    Ok(!left.is_some_and(is_same))
}
