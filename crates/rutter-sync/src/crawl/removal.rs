//! Removes pages from sections after a crawl: pages that the site reports as missing, pages
//! that no list contains any more, and pages that collections deliver by now.
//!
//! A mass deletion is held back until a later sync confirms it.

use std::collections::{BTreeMap, BTreeSet};

use rutter_scp::{MassDeletionPolicy, merge};
use rutter_store::{
    CommitError, CommitOptions, PageSource, RemovalCause, StagingMode, StagingOptions,
    WithheldReason,
};

use crate::collections::SectionFailures;
use crate::context::SiteContext;
use crate::crawl::queue::Frontier;
use crate::error::SyncError;
use crate::limits::BATCH_ROWS;
use crate::limits::WEB_SECTION;
use crate::plan::PlanReason;
use crate::report::ProblemKind;
use crate::run::SyncRun;
use crate::state::url_set::UrlSet;

/// Minimum seconds between a held-back mass deletion and its confirmation. An earlier sync
/// does not count as a confirmation, because it probably sees the same temporary fault.
const HELD_FOR: i64 = 20 * 3600;

/// Number of pages with refused access below which their share of the requested pages is
/// not considered.
const FEW: u64 = 5;

/// Removes the pages in `gone`, and pages that the lists no longer contain if the lists are
/// complete (`is_whole`). Pages that another section delivers are only removed from their
/// old section.
pub(crate) fn remove_pages(
    run: &mut SyncRun<'_>,
    collected: &SectionFailures,
    frontier: &Frontier<'_>,
    collection_urls: &UrlSet,
    gone: &BTreeSet<String>,
    is_whole: bool,
) -> Result<(), SyncError> {
    let sections = run.context.sections()?;
    // Of the sections of collections, only those that are no longer offered are handled.
    // For a section with an invalid collection, the next valid collection reports the
    // removals.
    let is_over = |name: &str| collected.failed.get(name) == Some(&PlanReason::NotOffered);
    let mut read = UrlSet::default();
    if sections.iter().any(|section| is_over(&section.name)) {
        run.context.for_each_key(WEB_SECTION, |key| {
            read.insert(&key);
        })?;
    }
    for section in sections {
        let is_web = section.name == WEB_SECTION;
        if !is_web && !is_over(&section.name) {
            continue;
        }
        let mut covered: BTreeMap<String, RemovalCause> = BTreeMap::new();
        let mut leaving: BTreeMap<String, RemovalCause> = BTreeMap::new();
        run.context.for_each_key(&section.name, |key| {
            let is_elsewhere = collection_urls.has(&key) || (!is_web && read.has(&key));
            if is_elsewhere {
                covered.insert(key, RemovalCause::Absent);
            } else if gone.contains(&key) {
                leaving.insert(key, RemovalCause::Gone);
            } else if is_whole && !frontier.has(&key) {
                leaving.insert(key, RemovalCause::Absent);
            }
        })?;
        // These pages stay in the replica, because other sections contain them.
        commit(&run.context, &section.name, &covered)?;
        let pages = section.pages.saturating_sub(covered.len() as u64);
        remove_from_section(run, &section.name, pages, &leaving)?;
    }
    Ok(())
}

/// Removes pages from a section. A mass deletion, or a deletion of all pages of the site,
/// is held back until it is confirmed (D23).
fn remove_from_section(
    run: &mut SyncRun<'_>,
    section: &str,
    pages: u64,
    leaving: &BTreeMap<String, RemovalCause>,
) -> Result<(), SyncError> {
    // A sync on another day with a mass deletion in the same section confirms the deletion;
    // a sync without one cancels it.
    let held = run.held.get(section).copied();
    let is_confirmed = held.is_some_and(|held| HELD_FOR <= run.context.now.seconds_since(held));
    let is_allowed = run.context.options.mass_deletion == MassDeletionPolicy::Allowed;
    let deleted = leaving.len() as u64;
    let publisher = run.context.store.publisher(&run.context.origin)?;
    let is_all = publisher.is_some_and(|publisher| 0 < deleted && publisher.pages <= deleted);
    let is_much = is_all || merge::is_mass_deletion(pages, deleted);
    if is_much && !is_confirmed && !is_allowed {
        run.state.held_deletions.insert(section.to_owned(), held.unwrap_or(run.context.now));
        let error = CommitError::MassDeletion { deleted, pages };
        let origin = run.context.origin.clone();
        run.report.add_problem(&origin, ProblemKind::Policy, error.to_string());
        return Ok(());
    }
    commit(&run.context, section, leaving)
}

fn commit(
    context: &SiteContext<'_>,
    section: &str,
    leaving: &BTreeMap<String, RemovalCause>,
) -> Result<(), SyncError> {
    if leaving.is_empty() {
        return Ok(());
    }
    let mut staging = context.store.stage(
        context.lease_guard.lease(),
        StagingOptions {
            section,
            mode: StagingMode::Visit,
            generated: context.now,
            source: PageSource::Html,
            quota: context.options.quota,
            now: context.now,
        },
    )?;
    for (key, cause) in leaving {
        staging.remove(key, *cause)?;
    }
    // The callers have checked for a mass deletion.
    let mass_deletion = MassDeletionPolicy::Allowed;
    staging.commit(&CommitOptions { mass_deletion, ..CommitOptions::plain() })?;
    Ok(())
}

/// Withholds the content of the pages in `closed`, for which the server refuses access. If
/// the server refuses access to most of the stored or requested pages, it probably blocks
/// this client: then the content is kept, and a problem is reported.
pub(crate) fn withhold_closed(
    run: &mut SyncRun<'_>,
    closed: &BTreeSet<String>,
    n_asked: u64,
) -> Result<(), SyncError> {
    let store = &run.context.store;
    let pages = store.publisher(&run.context.origin)?.map_or(0, |publisher| publisher.pages);
    let n_closed = closed.len() as u64;
    let is_much = |of: u64| of < 2 * n_closed;
    if (is_much(pages) && 1 < pages) || (is_much(n_asked) && FEW <= n_closed) {
        let text =
            format!("{n_closed} of {n_asked} pages refuse access; keeping their stored content");
        let origin = run.context.origin.clone();
        run.report.add_problem(&origin, ProblemKind::Policy, text);
        return Ok(());
    }
    let pages: Vec<(&str, WithheldReason)> =
        closed.iter().map(|key| (key.as_str(), WithheldReason::Consent)).collect();
    for batch in pages.chunks(BATCH_ROWS) {
        run.report.withheld +=
            store.withhold(run.context.lease_guard.lease(), batch, run.context.now)?;
    }
    Ok(())
}
