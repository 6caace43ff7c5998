//! Pass 1: reads all pages and compares them with the ledger.
//!
//! Input: the pages, the old ledger and the old page cache, all in the order of URLs. Output: a new
//! ledger, a new page cache and the totals. Threads read the pages of a window in any order; the
//! results are used in the order of URLs, so that the output does not depend on timing.

pub(crate) mod cache_match;
pub(crate) mod dates;
pub(crate) mod git;
pub(crate) mod markers;
pub(crate) mod mass_change_guard;
pub(crate) mod page_reader;
mod pass;
mod read_job;
mod redate;
pub(crate) mod schema_org;
mod tally;
pub(crate) mod templates;
mod totals;
pub(crate) mod unmatched_selectors;
pub(crate) mod visibility;

use std::fs::{self};
use std::io::{self};
use std::sync::Arc;

use rutter_extract::TemplateSet;
use rutter_finding::{Finding, Place};
use rutter_page::Timestamp;
use rutter_robots::RobotsTxt;
use rutter_site::Sections;

use self::pass::{PassInput, read_all};
pub(crate) use self::tally::SectionTally;
pub(crate) use self::totals::ReadTotals;
use crate::error::{BuildError, IoErrorContext};
use crate::name_table::NameTable;
use crate::plan::SourceKind;
use crate::plan::{BuildPlan, OversizePolicy};
use crate::rules;
use crate::stages::inventory::Inventory;
use crate::stages::inventory::sources::PageSources;
use crate::stages::read::git::GitDates;
use crate::state::{SavedState, saved_state};
use crate::summary::BuildEvents;
use crate::{arc_publication, entities};

/// Inputs of the stage.
#[derive(Debug)]
pub(crate) struct ReadInput<'p> {
    pub(crate) plan: &'p BuildPlan,
    pub(crate) state: &'p SavedState<'p>,
    pub(crate) inventory: &'p Inventory,
    pub(crate) sections: &'p Sections,
    pub(crate) templates: &'p TemplateSet,
    /// Publication time of this build.
    pub(crate) stamp: Timestamp,
}

/// Reads all pages. A damaged page cache is deleted, and all pages are read again.
pub(crate) fn pages(
    input: &ReadInput<'_>,
    sources: PageSources,
    events: &mut dyn BuildEvents,
) -> Result<ReadTotals, BuildError> {
    let pack = input.state.paths.pack();
    match read_once(input, sources, events) {
        Err(BuildError::DamagedState(path, _)) if path == pack => {
            fs::remove_file(&path).at(&path)?;
            events.message("the page cache is damaged; reading all pages again");
            let sources = match input.plan.source {
                SourceKind::Html | SourceKind::Markdown => {
                    PageSources::files(Arc::clone(&input.inventory.pages))
                }
                // The findings of the lines are already reported.
                SourceKind::Lines => PageSources::lines(input.plan, &mut |_, _| {})?.sources,
            };
            read_once(input, sources, events)
        }
        other => other,
    }
}

fn read_once(
    input: &ReadInput<'_>,
    sources: PageSources,
    events: &mut dyn BuildEvents,
) -> Result<ReadTotals, BuildError> {
    let ReadInput { plan, state, inventory, sections, templates, stamp } = *input;
    let robots = RobotsTxt::parse(&read_robots(plan)?);
    let git_dates = match plan.git_dates.then(|| git::dates(plan, &inventory.pages)) {
        Some(GitDates::Found(dates)) => dates,
        Some(GitDates::Unavailable(why)) => {
            events.message(&why);
            NameTable::default()
        }
        None => NameTable::default(),
    };
    let pass = PassInput {
        plan,
        state,
        inventory,
        sections,
        templates: Arc::new(templates.clone()),
        stamp,
        robots: &robots,
        git_dates,
        arc: arc_publication::entry_scope(plan, state.published.arc.as_ref()),
    };
    let reading = read_all(&pass, sources, events)?;
    if reading.counts.pages == 0 && plan.source == SourceKind::Lines && inventory.n_pages == 0 {
        return Err(BuildError::NoPages(plan.site.clone()));
    }
    Ok(reading)
}

/// Returns an error if the result of reading must not be published: it contains secrets, pages that are too large,
/// times in the future, or removes most pages.
pub(crate) fn check(
    plan: &BuildPlan,
    reading: &ReadTotals,
    events: &mut dyn BuildEvents,
) -> Result<(), BuildError> {
    let secrets = entities::find_secrets(plan);
    for (name, detail) in &secrets {
        events.finding(name, &Finding::new(&rules::SECRET, Place::WHOLE, detail.clone()));
    }
    let n_private = reading.private + secrets.len() as u64;
    if n_private != 0 {
        return Err(BuildError::PrivateData(n_private));
    }
    let oversize = reading.findings.get(rules::OVERSIZE.code).copied().unwrap_or(0);
    if oversize != 0 && plan.oversize == OversizePolicy::Stop {
        return Err(BuildError::Oversize(oversize));
    }
    if !plan.redate {
        saved_state::check_not_in_future(reading.newest, plan.now)?;
    }
    if !plan.allow_mass_delete {
        reading.guarded.check(reading.counts.pages, reading.counts.removed)?;
    }
    Ok(())
}

/// Returns the bytes of the site owner's robots.txt, or no bytes if it is missing. A robots.txt
/// that exists but cannot be read is an error.
fn read_robots(plan: &BuildPlan) -> Result<Vec<u8>, BuildError> {
    let path = plan.site.join("robots.txt");
    match rutter_root::read(&plan.site, "robots.txt") {
        Ok(bytes) => Ok(bytes),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(BuildError::Io(path, error)),
    }
}
