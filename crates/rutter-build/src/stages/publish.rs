//! Swaps the staged files in, together with the new state, in one transaction (D90).
//!
//! Input: the projection, the next publication record and the draft of the state. Output: the numbers of written and
//! deleted files. A build that changes nothing writes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use rutter_finding::Rule;
use rutter_site::{
    Publication, StatePaths, absolute_path, for_each_finding, remove_folder, save_templates,
};

use crate::address::regular_file;
use crate::error::{BuildError, IoErrorContext};
use crate::finding_counter::FindingCounter;
use crate::layers::{pages, partner_pages};
use crate::plan::BuildPlan;
use crate::stages::inventory::Inventory;
use crate::stages::inventory::site_sitemap::SiteSitemap;
use crate::stages::project::Projection;
use crate::stages::read::ReadTotals;
use crate::stages::read::templates::LearnedVersions;
use crate::staging::StagingArea;
use crate::state::SavedState;
use crate::{arc_publication, rules};

/// Inputs of the stage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublishInput<'p> {
    pub(crate) plan: &'p BuildPlan,
    pub(crate) state: &'p SavedState<'p>,
    pub(crate) inventory: &'p Inventory,
    pub(crate) templates: &'p LearnedVersions,
    pub(crate) reading: &'p ReadTotals,
    /// Whether the pages, the settings and the state are unchanged.
    pub(crate) is_quiet: bool,
}

/// Numbers of files that a publication changed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChangedFiles {
    pub(crate) written: u64,
    pub(crate) deleted: u64,
    /// Number of the site's files, except pages, that could not be copied.
    pub(crate) n_uncopied: u64,
}

/// Copies the list of changed pages to the file that the plan names.
pub(crate) fn write_changes(plan: &BuildPlan, state: &SavedState<'_>) -> Result<(), BuildError> {
    if let Some(list) = &plan.changed_list {
        fs::copy(state.draft.changes(), list).at(list)?;
    }
    Ok(())
}

/// Returns whether all published files still exist and are unchanged.
pub(crate) fn is_in_place(plan: &BuildPlan, inventory: &Inventory, state: &SavedState<'_>) -> bool {
    let manifest = &state.manifest;
    let pages = inventory.pages.iter().map(|name| name.path);
    let others = inventory.others.iter().map(|name| &**name);
    let is_made = |name: &str| pages::is_written_by_rutter(plan, &inventory.site_sitemap, name);
    !plan.force
        && !manifest.is_empty()
        && manifest.is_in_place(plan.target())
        && are_foreign_files_unchanged(plan, &state.paths)
        && (plan.out.is_none()
            || (!plan.layers.inject
                && manifest.has_copies(&plan.site, pages.chain(others), &is_made)))
}

/// Returns whether the foreign files that blocked artifacts still exist.
fn are_foreign_files_unchanged(plan: &BuildPlan, paths: &StatePaths) -> bool {
    let mut are_unchanged = true;
    for_each_logged(&paths.findings_log(), &mut |rule, place, _| {
        let path = plan.target().join(place);
        are_unchanged &= rule != &rules::FOREIGN_FILE || fs::symlink_metadata(path).is_ok();
    });
    are_unchanged
}

/// Reports the findings of the last publication again, which still apply.
pub(crate) fn repeat_findings(paths: &StatePaths, findings: &mut FindingCounter<'_>) {
    for_each_logged(&paths.findings_log(), &mut |rule, place, detail| {
        findings.report(place, rule, detail);
    });
}

/// Passes the rule, place and detail of each finding of the last publication to `take`.
fn for_each_logged(path: &Path, take: &mut dyn FnMut(&'static Rule, &str, String)) {
    for_each_finding(path, &mut |code, place, detail| {
        if let Some(rule) = rules::ALL.iter().find(|rule| rule.code == code) {
            take(rule, place, detail);
        }
    });
}

/// Publishes the staged files and the new state, unless nothing changes.
pub(crate) fn swap_in(
    input: PublishInput<'_>,
    projection: Projection,
    mut record: Publication,
) -> Result<ChangedFiles, BuildError> {
    let PublishInput { plan, state, inventory, .. } = input;
    let Projection { stage, sitemap_parts } = projection;
    let n_uncopied = stage.n_uncopied();
    record.sitemaps = sitemap_parts;
    let mut obsolete = inventory.obsolete.clone();
    obsolete.extend(replaced_files(plan, &inventory.site_sitemap, &stage));
    if input.is_quiet && stage.has_no_changes() && obsolete.is_empty() {
        stage.discard();
        return Ok(ChangedFiles { n_uncopied, ..ChangedFiles::default() });
    }
    let files = state_files(input, &record)?;
    let (written, deleted) = stage.publish(&state.paths, files, &obsolete)?;
    if state.is_incomplete {
        let incomplete = state.paths.incomplete();
        fs::remove_file(&incomplete).at(&incomplete)?;
    }
    if let Some(folder) = state.paths.private().parent().filter(|_| !plan.arc.private) {
        remove_folder(folder)?;
    }
    remove_expired(&record, &state.paths)?;
    Ok(ChangedFiles { written, deleted, n_uncopied })
}

/// Writes the state files to temporary paths and returns the temporary and the final path of each.
fn state_files(
    input: PublishInput<'_>,
    record: &Publication,
) -> Result<Vec<(PathBuf, PathBuf)>, BuildError> {
    let PublishInput { plan, state, templates, reading, .. } = input;
    let (paths, draft) = (&state.paths, &state.draft);
    record.save(&draft.chain())?;
    let mut kept = templates.templates.clone();
    if 0 < templates.n_new {
        kept.retain(&reading.used);
    }
    save_templates(&draft.templates(), &kept)?;
    let mut files = Vec::new();
    if record.arc.is_some() {
        let (made, kept) = (draft.deltas(), paths.deltas());
        fs::create_dir_all(&kept).at(&kept)?;
        for entry in fs::read_dir(&made).at(&made)? {
            let path = entry.at(&made)?.path();
            let name = path.file_name().map(|name| kept.join(name));
            files.extend(name.map(|to| (path, to)));
        }
    }
    if plan.arc.private {
        partner_pages::prepare(&paths.private())?;
        files.push((draft.private(), paths.private()));
        // The page cache contains the same private content as the partner pages.
        partner_pages::restrict_permissions(&draft.pack())?;
    }
    files.extend([
        (draft.ledger(), paths.ledger()),
        (draft.pack(), paths.pack()),
        (draft.templates(), paths.templates()),
        (draft.served(), paths.served()),
        (draft.findings_log(), paths.findings_log()),
        (draft.chain(), paths.chain()),
    ]);
    Ok(files)
}

/// Returns the files of the generator's sitemap in the site's own folder that are obsolete,
/// because Rutter's sitemap replaces them under other names.
fn replaced_files(
    plan: &BuildPlan,
    site_sitemap: &SiteSitemap,
    stage: &StagingArea,
) -> Vec<PathBuf> {
    if plan.out.is_some() || !plan.layers.sitemap {
        return Vec::new();
    }
    // If Rutter wrote no sitemap, the generator's sitemap is the only one and must stay.
    if !stage.has("sitemap.xml") && !stage.has("sitemap-rutter.xml") {
        return Vec::new();
    }
    let replaced = site_sitemap.files.iter().map(|file| file.name.as_str());
    let replaced = replaced.filter(|name| site_sitemap.is_replaced(name) && !stage.has(name));
    let site = absolute_path(&plan.site);
    replaced.filter_map(|name| regular_file(&site, name)).collect()
}

/// Deletes stored collections and ARC deltas that are no longer published.
fn remove_expired(record: &Publication, paths: &StatePaths) -> Result<(), BuildError> {
    let names: Vec<String> = record
        .collections
        .iter()
        .flat_map(|one| one.files.iter().map(|file| file.name.clone()))
        .chain(
            record
                .arc
                .iter()
                .flat_map(|arc| arc.days.iter().map(|day| arc_publication::delta_file(day))),
        )
        .collect();
    for folder in [paths.collections(), paths.deltas()] {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries {
            let entry = entry.at(&folder)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !names.contains(&name) {
                fs::remove_file(entry.path()).at(&entry.path())?;
            }
        }
    }
    Ok(())
}
