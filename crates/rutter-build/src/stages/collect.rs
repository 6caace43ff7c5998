//! Decides what the build publishes besides pages: collections, ARC deltas and their dates.
//!
//! Input: the totals of reading and the publication record of the last build. Output: the next publication record, and
//! the collections that are due, written into the state folder.

pub(crate) mod due;
mod settings;
mod write;

use std::fs;
use std::path::Path;

use rutter_finding::Rule;
use rutter_page::Timestamp;
use rutter_site::{ALL, EncodedFile, Publication, PublishedCollection, copy_atomically};

use self::write::{CollectionContext, SectionLines};
use crate::address::SCP;
use crate::arc_publication;
use crate::error::{BuildError, IoErrorContext};
use crate::finding_counter::FindingCounter;
use crate::plan::BuildPlan;
use crate::stages::inventory::{Inventory, SectionChoice};
use crate::stages::read::{ReadTotals, SectionTally};
use crate::state::SavedState;
use crate::summary::SectionSummary;

/// Inputs of the stage.
#[derive(Debug)]
pub(crate) struct CollectInput<'p> {
    pub(crate) plan: &'p BuildPlan,
    pub(crate) state: &'p SavedState<'p>,
    pub(crate) inventory: &'p Inventory,
    pub(crate) sections: SectionChoice,
    pub(crate) reading: &'p ReadTotals,
    /// Publication time of this build.
    pub(crate) stamp: Timestamp,
}

/// The publication record of this build.
#[derive(Debug)]
pub(crate) struct NextPublication {
    pub(crate) record: Publication,
    /// What was written for each section with collections.
    pub(crate) sections: Vec<SectionSummary>,
    /// Whether the settings, the collections or the ARC record differ from those of the last build.
    pub(crate) is_changed: bool,
}

/// Returns the next publication record, and writes the collections that are due.
pub(crate) fn next_publication(
    input: &CollectInput<'_>,
    findings: &mut FindingCounter<'_>,
) -> Result<NextPublication, BuildError> {
    let CollectInput { plan, state, inventory, reading, stamp, .. } = *input;
    let mut record = state.published.clone();
    record.sections = input.sections.sections.clone();
    record.is_given = input.sections.is_given;
    let settings = settings::digest(plan, &inventory.site_sitemap);
    let is_other_plan = record.settings != settings;
    record.settings = settings;
    let before = record.collections.clone();
    let sections = collect(input, &mut record, findings)?;
    let has_expired = due::expire(&mut record, plan);
    if let Some(arc) = &mut record.arc {
        arc_publication::restore_deltas(arc, &state.paths, plan.target())?;
    }
    let issued = record.arc.take();
    record.arc = arc_publication::next_publication(plan, issued.as_ref(), &reading.arc, stamp);
    let is_changed =
        is_other_plan || has_expired || before != record.collections || issued != record.arc;
    Ok(NextPublication { record, sections, is_changed })
}

/// Writes the collections that are due, and withdraws collections that must no longer be published.
fn collect(
    input: &CollectInput<'_>,
    record: &mut Publication,
    findings: &mut FindingCounter<'_>,
) -> Result<Vec<SectionSummary>, BuildError> {
    let CollectInput { plan, state, reading, stamp, .. } = *input;
    if !plan.layers.collections {
        // All collections are withdrawn if the site owner turns this layer off.
        record.collections.clear();
        return Ok(Vec::new());
    }
    let folder = state.paths.collections();
    fs::create_dir_all(&folder).at(&folder)?;
    restore_collections(plan, record, &folder)?;
    let (ledger, pack) = (state.draft.ledger(), state.draft.pack());
    let lines = SectionLines { ledger: &ledger, pack: &pack, sections: &input.sections.sections };
    let context = CollectionContext { plan, lines, stamp, folder: &folder };
    let mut outcomes = Vec::new();
    for tally in offered(plan, record, &reading.tallies) {
        let due = due::due_collections(tally, record, plan, stamp);
        let report = &mut |rule: &'static Rule, detail| findings.report(&tally.name, rule, detail);
        outcomes.push(write::write_due(tally, due, &context, record, report)?);
    }
    let offered: Vec<&str> = outcomes.iter().map(|outcome| outcome.name.as_str()).collect();
    withdraw_excluded(record, reading, &offered, stamp);
    // Collections of former sections expire.
    due::supersede(record, plan, stamp, &|one| !offered.contains(&one.section.as_str()));
    Ok(outcomes)
}

/// Withdraws collections that contain pages which are no longer public. A collection of a former
/// section may contain any page.
fn withdraw_excluded(
    record: &mut Publication,
    reading: &ReadTotals,
    offered: &[&str],
    stamp: Timestamp,
) {
    let any_holds_excluded = reading.tallies.iter().any(|tally| tally.holds_excluded);
    let holds_excluded = |section: &str| {
        let mut tallies = reading.tallies.iter();
        let is_own = tallies.any(|tally| tally.holds_excluded && tally.name == section);
        is_own || (any_holds_excluded && !offered.contains(&section))
    };
    let is_clean =
        |one: &PublishedCollection| one.generated == stamp || !holds_excluded(&one.section);
    record.collections.retain(is_clean);
}

/// Returns the sections that get collections. If the site has a single section, that is `all`.
fn offered<'t>(
    plan: &BuildPlan,
    record: &Publication,
    tallies: &'t [SectionTally],
) -> Vec<&'t SectionTally> {
    let n_filled = tallies.iter().filter(|tally| tally.name != ALL && tally.pages != 0).count();
    let is_single = n_filled < 2 && record.sections.names().len() < 2;
    let is_offered = |tally: &&SectionTally| {
        if tally.name == ALL {
            is_single || plan.layers.all
        } else {
            !is_single && (tally.pages != 0 || record.last(&tally.name).is_some())
        }
    };
    tallies.iter().filter(is_offered).collect()
}

/// Restores collections that are missing in the state from the output folder. A collection that
/// is in neither folder is removed from the publication record.
fn restore_collections(
    plan: &BuildPlan,
    record: &mut Publication,
    folder: &Path,
) -> Result<(), BuildError> {
    let published = plan.target().join(SCP);
    let known: Vec<String> = record
        .collections
        .iter()
        .flat_map(|one| one.files.iter().map(|file| file.name.clone()))
        .collect();
    for name in &known {
        let (kept, there) = (folder.join(name), published.join(name));
        if !kept.exists() && there.exists() {
            copy_atomically(&there, &kept)?;
        }
    }
    let is_whole = |file: &EncodedFile| {
        let found = fs::metadata(folder.join(&file.name));
        found.is_ok_and(|found| found.len() == file.bytes)
    };
    let is_there = |one: &PublishedCollection| one.files.iter().all(is_whole);
    record.collections.retain(is_there);
    // Files that the publication record does not name are left over from an interrupted build.
    for entry in fs::read_dir(folder).at(folder)? {
        let entry = entry.at(folder)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !known.contains(&name) {
            fs::remove_file(entry.path()).at(&entry.path())?;
        }
    }
    Ok(())
}
