//! Learns the templates of a site, such as menus: the parts that its pages have in common.
//!
//! Input: a sample of the pages and the stored templates. Output: updated templates. Stored
//! templates are extended only if several pages of the sample changed and no longer match the
//! templates.

use std::collections::{BTreeMap, BinaryHeap};
use std::path::Path;
use std::sync::Arc;

use rutter_extract::{Limits, PageSketch, SAMPLE, TemplateSet, sample_key};
use rutter_site::{CacheIndexReader, LedgerReader};

use crate::error::BuildError;
use crate::plan::{BuildPlan, SourceKind};
use crate::stages::inventory::Inventory;
use crate::stages::inventory::page_files::{PageFile, PageFiles};
use crate::stages::read::page_reader::PageReader;
use crate::stages::read::read_job::LedgerPage;
use crate::state::SavedState;
use crate::summary::BuildEvents;

/// The templates of a build, and how many of their versions this build learned.
#[derive(Debug)]
pub(crate) struct LearnedVersions {
    pub(crate) templates: TemplateSet,
    pub(crate) n_new: usize,
}

/// Returns the templates of the site: the stored templates, extended if its pages changed.
pub(crate) fn learn(
    plan: &BuildPlan,
    inventory: &Inventory,
    state: &SavedState<'_>,
    events: &mut dyn BuildEvents,
) -> Result<LearnedVersions, BuildError> {
    let mut templates = state.templates.clone();
    let (ledger, pack) = (state.paths.ledger(), state.paths.pack());
    let n_new = update_templates(plan, &inventory.pages, &ledger, &pack, &mut templates)?;
    if 0 < n_new && !state.templates.is_empty() {
        events.message("the templates of the site changed and were learned again");
    }
    Ok(LearnedVersions { templates, n_new })
}

/// Updates the templates and returns the number of versions that were added.
fn update_templates(
    plan: &BuildPlan,
    names: &PageFiles,
    ledger: &Path,
    pack: &Path,
    templates: &mut TemplateSet,
) -> Result<usize, BuildError> {
    if plan.source != SourceKind::Html {
        return Ok(0);
    }
    let sample = sample(names);
    if templates.is_empty() {
        let sketches = sketches(plan, &sample);
        return Ok(templates.adapt(&sketches, &[]));
    }
    let changed = changed(plan, &sample, ledger, pack, templates)?;
    // A single changed page does not show a new design, so the rest of the sample need not be read.
    if changed.len() < 2 {
        return Ok(0);
    }
    let changed = sketches(plan, &changed);
    let sketches = sketches(plan, &sample);
    Ok(templates.adapt(&sketches, &changed))
}

/// Returns the sample of the site's pages: the pages with the smallest hashes of their URLs, in the
/// order of URLs.
fn sample(names: &PageFiles) -> Vec<PageFile<'_>> {
    let mut heap = BinaryHeap::new();
    for (at, name) in names.iter().enumerate() {
        heap.push((sample_key(name.url), at));
        if SAMPLE < heap.len() {
            heap.pop();
        }
    }
    let mut places: Vec<usize> = heap.into_iter().map(|(_, at)| at).collect();
    places.sort_unstable();
    places.into_iter().filter_map(|at| names.get(at)).collect()
}

/// Returns the pages of the sample whose source changed since the last build.
fn changed<'n>(
    plan: &BuildPlan,
    sample: &[PageFile<'n>],
    ledger: &Path,
    pack: &Path,
    templates: &TemplateSet,
) -> Result<Vec<PageFile<'n>>, BuildError> {
    let wanted: BTreeMap<&str, PageFile<'_>> =
        sample.iter().map(|name| (name.url, *name)).collect();
    let worker = PageReader::new(plan, Arc::new(templates.clone()));
    let (mut rows, mut keys) = (LedgerReader::open(ledger)?, CacheIndexReader::open(pack)?);
    let mut same = BTreeMap::new();
    while let Some(row) = rows.next_row()? {
        let Some(name) = wanted.get(row.url.as_str()) else { continue };
        let Some(cached) = keys.get(&row.url) else { continue };
        if let Ok(bytes) = PageReader::source(&plan.site, name.path) {
            let known = LedgerPage::of(&row);
            same.insert(name.url, worker.is_read_from(&row.url, cached, &bytes, known));
        }
    }
    let is_changed = |name: &&PageFile<'n>| !same.get(name.url).copied().unwrap_or(false);
    Ok(sample.iter().filter(is_changed).copied().collect())
}

fn sketches(plan: &BuildPlan, names: &[PageFile<'_>]) -> Vec<PageSketch> {
    let read = |name: &PageFile<'_>| PageReader::source(&plan.site, name.path).ok();
    let pages = names.iter().filter_map(read).filter(|bytes| rutter_extract::is_text(bytes));
    pages.map(|bytes| PageSketch::of_html(&bytes, None, &Limits::USUAL)).collect()
}
