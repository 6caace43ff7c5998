//! Runs a build: one call for each stage.
//!
//! Only [`build`] holds the state of the run; stages take values and return values.

use rutter_site::is_served_intact;
use tracing::info;

use crate::entities;
use crate::error::BuildError;
use crate::finding_counter::FindingCounter;
use crate::plan::BuildPlan;
use crate::stages::collect::{self, CollectInput};
use crate::stages::inventory;
use crate::stages::project::{self, ProjectInput};
use crate::stages::publish::{self, ChangedFiles, PublishInput};
use crate::stages::read::{self, ReadInput, ReadTotals, templates};
use crate::state::{self, SavedState};
use crate::summary::{BuildEvents, BuildSummary, ExclusionCount};

/// Builds a site: reads its pages, decides what changed, writes all artifacts and publishes them in
/// one transaction. The same input and time produce the same bytes.
///
/// # Errors
///
/// Returns an error if the build cannot be done or would publish what the plan forbids. The
/// published files are then unchanged, unless the error occurs while files are moved into place:
/// then the next command completes the publication.
pub fn build(plan: &BuildPlan, events: &mut dyn BuildEvents) -> Result<BuildSummary, BuildError> {
    let (paths, _lock) = state::lock(plan, events)?;
    let resolved = entities::with_published_pages(plan)?;
    let plan = resolved.as_ref().unwrap_or(plan);
    let state = SavedState::open(plan, paths, events)?;
    let mut findings = FindingCounter::new(events);
    let (inventory, sources) = inventory::list(plan, &state, &mut findings)?;
    info!(pages = inventory.n_pages, others = inventory.others.len(), "files listed");
    let sections = inventory::choose_sections(plan, &inventory, &state.published);
    let templates = templates::learn(plan, &inventory, &state, findings.events)?;
    let stamp = state.stamp(plan);
    let input = ReadInput {
        plan,
        state: &state,
        inventory: &inventory,
        sections: &sections.sections,
        templates: &templates.templates,
        stamp,
    };
    let mut reading = read::pages(&input, sources, findings.events)?;
    let counts = &reading.counts;
    info!(pages = counts.pages, read = counts.read, changed = counts.changed, "pages read");
    read::check(plan, &reading, findings.events)?;
    if plan.purge {
        reading.purge(&state.published);
    }
    let input = CollectInput {
        plan,
        state: &state,
        inventory: &inventory,
        sections,
        reading: &reading,
        stamp,
    };
    let next = collect::next_publication(&input, &mut findings)?;
    let is_quiet = is_served_intact(&state.paths.served())
        && !state.is_incomplete
        && !reading.has_changes()
        && !next.is_changed
        && templates.n_new == 0;
    info!(is_changed = next.is_changed, "collections chosen");
    publish::write_changes(plan, &state)?;
    let files = if is_quiet && publish::is_in_place(plan, &inventory, &state) {
        publish::repeat_findings(&state.paths, &mut findings);
        ChangedFiles::default()
    } else {
        let input = ProjectInput {
            plan,
            state: &state,
            inventory: &inventory,
            published: &next.record,
            reading: &reading,
        };
        let projection = project::layers(input, &mut findings)?;
        let input = PublishInput {
            plan,
            state: &state,
            inventory: &inventory,
            templates: &templates,
            reading: &reading,
            is_quiet,
        };
        publish::swap_in(input, projection, next.record)?
    };
    info!(written = files.written, deleted = files.deleted, "publication finished");
    let summary = summarize(plan, reading, files, findings);
    let unreadable = inventory.unreadable.len() as u64 + summary.unreadable;
    Ok(BuildSummary { sections: next.sections, learned: templates.n_new, unreadable, ..summary })
}

/// Returns the summary of a build, without its sections and templates.
fn summarize(
    plan: &BuildPlan,
    reading: ReadTotals,
    files: ChangedFiles,
    findings: FindingCounter<'_>,
) -> BuildSummary {
    let mut counts = reading.findings;
    for (code, n) in findings.counts {
        *counts.entry(code).or_default() += n;
    }
    let excluded = reading.exclusions.excluded.into_iter();
    BuildSummary {
        pages: reading.counts.pages,
        new: reading.counts.new,
        changed: reading.counts.changed,
        removed: reading.counts.removed,
        read_differently: reading.counts.read_differently,
        read: reading.counts.read,
        judged: reading.counts.judged,
        closed: reading.exclusions.closed,
        closed_pages: reading.exclusions.closed_pages,
        password_pages: reading.exclusions.password_pages,
        excluded: excluded.map(|(reason, pages)| ExclusionCount { reason, pages }).collect(),
        failed: reading.counts.failed,
        unreadable: reading.counts.kept + files.n_uncopied,
        source_bytes: reading.counts.source_bytes,
        written: files.written,
        deleted: files.deleted,
        is_without_twins: plan.layers.twins.are_too_many(reading.counts.pages),
        coverage: reading.coverage,
        findings: counts.into_iter().collect(),
        ..BuildSummary::default()
    }
}
