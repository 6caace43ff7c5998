//! Projects the pages onto the layers: one scan of the new ledger and page cache writes all outputs.
//!
//! Input: the inventory, the new ledger and page cache, and the next publication record. Output: the staged files.
//! Rejects a publication that would replace files whose owner is unknown.

use std::path::PathBuf;

use rutter_finding::Rule;
use rutter_site::file_marks::{self, FileMarks};
use rutter_site::{
    FindingsLogWriter, LedgerReader, PageCacheReader, Publication, SitemapPart, Visibility,
};

use crate::entities;
use crate::error::BuildError;
use crate::finding_counter::FindingCounter;
use crate::layers::served::ServedWriter;
use crate::layers::{
    self, Entry, LayerInput, LayerOutput, OpenLayer, PageEntry, PageLinks, ReportFinding,
    SiteLinks, pages,
};
use crate::plan::{BuildPlan, SourceKind};
use crate::rules;
use crate::stages::inventory::Inventory;
use crate::stages::inventory::site_sitemap::SitemapDecision;
use crate::stages::read::ReadTotals;
use crate::staging::{ReplacePolicy, StagingArea};
use crate::state::SavedState;

/// Inputs of the stage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProjectInput<'p> {
    pub(crate) plan: &'p BuildPlan,
    pub(crate) state: &'p SavedState<'p>,
    pub(crate) inventory: &'p Inventory,
    pub(crate) published: &'p Publication,
    pub(crate) reading: &'p ReadTotals,
}

/// The staged files of all layers.
#[derive(Debug)]
pub(crate) struct Projection {
    pub(crate) stage: StagingArea,
    /// Files of the main sitemap.
    pub(crate) sitemap_parts: Vec<SitemapPart>,
}

/// Writes all layers into the staging folder.
pub(crate) fn layers(
    input: ProjectInput<'_>,
    findings: &mut FindingCounter<'_>,
) -> Result<Projection, BuildError> {
    let ProjectInput { plan, state, inventory, published, reading } = input;
    // An existing ledger shows that this is not the first build.
    let has_lost_manifest = state.manifest.is_empty() && state.paths.ledger().exists();
    let marks = if state.manifest.is_empty() {
        FileMarks::read(plan.base.as_str(), plan.target(), &state.paths.deltas())
    } else {
        FileMarks::default()
    };
    let is_manifest_lost = !marks.is_empty();
    let may_replace = replace_policy(plan, state, inventory);
    let mut stage =
        StagingArea::open(&state.paths, plan.target(), state.manifest.clone(), may_replace)?;
    stage.recognise(marks);
    let mut unrecognised: Vec<String> = Vec::new();
    let mut log = FindingsLogWriter::create(&state.draft.findings_log())?;
    let mut report = |place: &str, rule: &'static Rule, detail: String| {
        log.push(rule.code, place, &detail);
        let is_in_the_way = is_manifest_lost && rule == &rules::FOREIGN_FILE;
        // A file of a kind that Rutter never writes belongs to the site owner.
        if is_in_the_way && file_marks::may_be_unmarked(plan.target(), place) {
            unrecognised.push(place.to_owned());
        }
        findings.report(place, rule, detail);
    };
    let entity_pages = entities::public_pages(plan, &state.draft.ledger())?;
    let input = LayerInput {
        plan,
        inventory,
        published,
        tallies: &reading.tallies,
        paths: &state.paths,
        draft: &state.draft,
        n_public: usize::try_from(reading.counts.pages).unwrap_or(usize::MAX),
        entity_pages: &entity_pages,
    };
    let sitemap_parts = write_layers(&input, &mut stage, &mut report)?;
    if has_lost_manifest {
        stage.remove_strays(unlisted_twins(plan));
    }
    log.finish()?;
    // A sitemap of the site's generator belongs to the site owner.
    unrecognised.retain(|name| inventory.site_sitemap.files.iter().all(|file| file.name != *name));
    if let Some(first) = unrecognised.first() {
        let (folder, n) = (plan.target().to_owned(), unrecognised.len() as u64);
        return Err(BuildError::Unrecognised { folder, n, first: first.clone() });
    }
    Ok(Projection { stage, sitemap_parts })
}

/// Returns which existing files the build may overwrite.
fn replace_policy(
    plan: &BuildPlan,
    state: &SavedState<'_>,
    inventory: &Inventory,
) -> ReplacePolicy {
    if plan.force || state.owns_output {
        return ReplacePolicy::All;
    }
    let site_sitemap = &inventory.site_sitemap;
    let is_replaced = site_sitemap.decision == SitemapDecision::Replaced;
    let replaced = site_sitemap.files.iter().filter(|_| is_replaced);
    let names = replaced.map(|file| file.name.clone());
    ReplacePolicy::Own(plan.replace.iter().cloned().chain(names).collect())
}

/// Writes all layers, and returns the files of the main sitemap.
fn write_layers<'o>(
    input: &LayerInput<'_>,
    stage: &'o mut StagingArea,
    report: &'o mut ReportFinding<'o>,
) -> Result<Vec<SitemapPart>, BuildError> {
    let served = ServedWriter::create(&input.draft.served(), input.plan)?;
    let mut out = LayerOutput { stage, report, served, links: SiteLinks::default() };
    let mut layers = open_layers(input, &mut out)?;
    for_each_entry(input, &mut |entry| {
        layers.iter_mut().try_for_each(|layer| layer.entry(entry, &mut out))
    })?;
    for layer in layers {
        layer.finish(&mut out)?;
    }
    let LayerOutput { stage, mut served, links, .. } = out;
    stage.keep_below(&input.inventory.unreadable)?;
    stage.list(&mut |path, file| {
        if pages::is_page_name(path) { Ok(()) } else { served.file(path, file, input.published) }
    })?;
    served.finish()?;
    Ok(links.sitemap_parts)
}

/// Opens the layers in the order in which they get entries and stage files: a layer comes after the layers whose
/// artifacts it names.
fn open_layers<'p>(
    input: &'p LayerInput<'p>,
    out: &mut LayerOutput<'_>,
) -> Result<Vec<OpenLayer<'p>>, BuildError> {
    let scp = layers::scp::open(input, out)?;
    let all = [
        layers::arc::open(input, out.stage)?,
        layers::partner_pages::open(input)?,
        layers::spxi::packets::open(input),
        layers::twins::open(input),
        Some(pages::open(input)),
        layers::spxi::index::open(input),
        layers::sitemap::open(input),
        Some(scp),
        layers::robots::open(input),
        layers::llms::open(input)?,
        layers::headers::open(input),
    ];
    Ok(all.into_iter().flatten().collect())
}

/// Passes all rows of the ledger and all page files to `take`, in the order of their URLs.
fn for_each_entry(
    input: &LayerInput<'_>,
    take: &mut dyn FnMut(&mut Entry<'_>) -> Result<(), BuildError>,
) -> Result<(), BuildError> {
    let mut rows = LedgerReader::open(&input.draft.ledger())?;
    let mut records = PageCacheReader::open(&input.draft.pack())?;
    let mut names = input.inventory.pages.iter().peekable();
    while let Some(row) = rows.next_row()? {
        while let Some(name) = names.next_if(|name| name.url < row.url.as_str()) {
            take(&mut Entry::Unread(name.path))?;
        }
        let path = names.next_if(|name| name.url == row.url).map(|name| name.path);
        if row.visibility == Visibility::Removed {
            take(&mut Entry::Removed(&row))?;
        } else if let Some(record) = records.get(&row.url)? {
            let links = PageLinks::default();
            take(&mut Entry::Page(PageEntry { row: &row, path, record, links }))?;
        } else if let Some(path) = path {
            take(&mut Entry::Unread(path))?;
        }
    }
    names.try_for_each(|name| take(&mut Entry::Unread(name.path)))
}

/// Returns the Markdown twins in the output folder, found by their marks because the manifest
/// is lost. In the folder of a Markdown site, all Markdown files belong to the site owner.
fn unlisted_twins(plan: &BuildPlan) -> Vec<String> {
    if plan.source == SourceKind::Markdown && plan.out.is_none() {
        return Vec::new();
    }
    let kept = std::iter::once(&plan.state).chain(&plan.kept_out);
    let kept: Vec<PathBuf> = kept.filter_map(|path| path.canonicalize().ok()).collect();
    file_marks::find_twins(plan.target(), &|name, path| {
        plan.exclude.iter().any(|glob| glob.matches(name))
            || path.canonicalize().is_ok_and(|path| kept.contains(&path))
    })
}
