//! Lists the pages and other files of a site.
//!
//! Input: the site's folder, the address scheme and the ledger. Output: the pages in the order of
//! their URLs, the other files, and findings. An unreadable folder is reported, and the pages that
//! were published from it stay listed: an unreadable page keeps its published version, and only a
//! missing page is removed.

pub(crate) mod address_scheme;
mod listing;
pub(crate) mod page_files;
pub(crate) mod site_sitemap;
pub(crate) mod sources;

use std::path::PathBuf;
use std::sync::Arc;

use rutter_site::{FileRecord, Owner, Publication, Sections, file_marks};
use rutter_site::{Manifest, StatePaths, absolute_path};

use self::listing::{FolderListing, list_folder};
use self::page_files::{PageFile, PageFiles};
use self::site_sitemap::{PreviousSitemap, SitemapDecision};
use self::sources::{LoadedLines, PageSources};
use crate::address::twin;
use crate::error::BuildError;
use crate::exclusion;
use crate::finding_counter::FindingCounter;
use crate::plan::{BuildPlan, SourceKind};
use crate::section::{self, SegmentCounts};
use crate::stages::inventory::address_scheme::AddressScheme;
use crate::stages::inventory::address_scheme::AddressVotes;
use crate::stages::inventory::site_sitemap::SiteSitemap;
use crate::state::{SavedState, rebuild};

/// The site as a build finds it: its pages, its other files and its own sitemap.
#[derive(Debug)]
pub(crate) struct Inventory {
    /// Page files, sorted by URL.
    pub(crate) pages: Arc<PageFiles>,
    /// Paths of the site's files that are not pages, sorted.
    pub(crate) others: Vec<Box<str>>,
    /// Folders of the site that cannot be read, each with a final slash.
    pub(crate) unreadable: Vec<String>,
    /// Number of pages; a page with several lines of a JSON Lines source counts several times.
    pub(crate) n_pages: usize,
    /// Numbers of pages by first path segment, for a JSON Lines source.
    segments: Option<SegmentCounts>,
    /// The sitemap of the site's generator.
    pub(crate) site_sitemap: SiteSitemap,
    /// Entries of that sitemap, or of the sitemap from which the state was rebuilt.
    pub(crate) previous_sitemap: PreviousSitemap,
    /// Artifacts of earlier builds in the site's own folder, which are obsolete because the output
    /// now goes to another folder.
    pub(crate) obsolete: Vec<PathBuf>,
}

/// Lists the site, and returns its pages as sources to read.
pub(crate) fn list(
    plan: &BuildPlan,
    state: &SavedState<'_>,
    findings: &mut FindingCounter<'_>,
) -> Result<(Inventory, PageSources), BuildError> {
    let site_manifest = &state.site_manifest;
    // If the manifest is lost, the marks in the files identify the Markdown twins.
    let has_twins = site_manifest.is_empty() && plan.source == SourceKind::Html;
    let is_own_file = |name: &str| {
        site_manifest.is_own_file(&plan.site, name)
            || (has_twins && file_marks::is_twin(&plan.site, name))
    };
    let mut site_sitemap = SiteSitemap::read(plan, &state.paths, &is_own_file)?;
    site_sitemap.save(plan, &state.paths)?;
    let listing = list_files(plan, state, &mut site_sitemap, &is_own_file)?;
    if listing.pages.is_empty() && plan.source != SourceKind::Lines {
        return Err(BuildError::NoPages(plan.site.clone()));
    }
    if let Some(written) = exclusion::find_unused_restriction(plan) {
        return Err(BuildError::UnusedRestriction(written.clone()));
    }
    for (place, finding) in &listing.findings {
        findings.add(place, finding);
    }
    let FolderListing { pages, others, unreadable, .. } = listing;
    let pages = Arc::new(pages);
    let (sources, n_pages, segments) = match plan.source {
        SourceKind::Html | SourceKind::Markdown => {
            (PageSources::files(Arc::clone(&pages)), pages.len(), None)
        }
        SourceKind::Lines => {
            let report = &mut |place: &str, finding| findings.add(place, &finding);
            let LoadedLines { sources, n_pages, segments } = PageSources::lines(plan, report)?;
            (sources, n_pages, Some(segments))
        }
    };
    let previous_sitemap = match state.previous {
        Some(folder) if site_sitemap.decision == SitemapDecision::Absent => {
            PreviousSitemap::of_folder(plan, folder)
        }
        _ => std::mem::take(&mut site_sitemap.previous_sitemap),
    };
    let obsolete = find_obsolete(plan, site_manifest);
    let inventory = Inventory {
        pages,
        others,
        unreadable,
        n_pages,
        segments,
        site_sitemap,
        previous_sitemap,
        obsolete,
    };
    Ok((inventory, sources))
}

/// Lists the files of the site's folder; a JSON Lines source has none.
fn list_files(
    plan: &BuildPlan,
    state: &SavedState<'_>,
    site_sitemap: &mut SiteSitemap,
    is_own_file: &dyn Fn(&str) -> bool,
) -> Result<FolderListing, BuildError> {
    let ledger = state.paths.ledger();
    let mut votes = std::mem::take(&mut site_sitemap.votes);
    if votes.is_empty() && !ledger.exists() {
        votes = published_votes(plan);
    }
    let scheme = AddressScheme::of_site(plan, votes, &ledger)?;
    let mut listing = match plan.source {
        SourceKind::Lines => FolderListing::default(),
        SourceKind::Html | SourceKind::Markdown => list_folder(plan, &scheme, is_own_file)?,
    };
    listing.keep_unreadable((plan, &scheme), &ledger, &state.manifest)?;
    Ok(listing)
}

/// Returns the artifacts of earlier builds in the site's own folder, if the output now goes to another folder.
fn find_obsolete(plan: &BuildPlan, site_manifest: &Manifest) -> Vec<PathBuf> {
    let (target, site) = (absolute_path(plan.target()), absolute_path(&plan.site));
    let is_obsolete = |(name, record): &(&str, FileRecord)| {
        record.owner == Owner::Rutter && target != site && site_manifest.is_own_file(&site, name)
    };
    site_manifest.iter().filter(is_obsolete).map(|(name, _)| site.join(name)).collect()
}

/// The sections of a site.
#[derive(Debug, Clone)]
pub(crate) struct SectionChoice {
    pub(crate) sections: Sections,
    /// Whether the site owner configured them.
    pub(crate) is_given: bool,
}

/// Returns the sections of the plan, else the sections of the last build, else the sections that
/// follow from the page URLs.
pub(crate) fn choose_sections(
    plan: &BuildPlan,
    inventory: &Inventory,
    published: &Publication,
) -> SectionChoice {
    if !plan.sections.is_empty() {
        let sections = section::from_rules(&plan.base, &plan.sections);
        return SectionChoice { sections, is_given: true };
    }
    if !published.is_given && !published.collections.is_empty() {
        return SectionChoice { sections: published.sections.clone(), is_given: false };
    }
    let mut of_files = SegmentCounts::default();
    for name in inventory.pages.iter() {
        of_files.count(&plan.base, name.url);
    }
    let segments = inventory.segments.as_ref().unwrap_or(&of_files);
    SectionChoice { sections: section::from_segments(&plan.base, segments), is_given: false }
}

/// Counts the forms of the URLs in the sitemap that Rutter published. They are the only evidence if
/// the state is lost and cannot be rebuilt.
fn published_votes(plan: &BuildPlan) -> AddressVotes {
    let folders = [plan.target(), &plan.site];
    let found = folders.iter().find_map(|folder| {
        let name = rebuild::built_sitemap(plan, folder)?;
        Some(site_sitemap::published_votes(plan, folder, &name))
    });
    found.unwrap_or_default()
}

/// A page file in a site's folder, with its URL and the path of its Markdown twin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitePage {
    /// URL of the page.
    pub url: String,
    /// Path of the page's file, relative to the site's folder.
    pub path: String,
    /// Path of the page's Markdown twin, relative to the output folder; `None` if the page can have
    /// none.
    pub twin: Option<String>,
}

impl BuildPlan {
    /// Lists the pages of the site's folder in the order of their URLs. Artifacts of earlier builds
    /// are not listed.
    pub fn list_pages(&self) -> Result<Vec<SitePage>, BuildError> {
        let paths = StatePaths::new(&self.state);
        let manifest = Manifest::load(&paths.files());
        let manifest = manifest.filter(|(folder, _)| *folder == absolute_path(&self.site));
        let manifest = manifest.map(|(_, manifest)| manifest).unwrap_or_default();
        let is_own_file = |name: &str| manifest.is_own_file(&self.site, name);
        let site_sitemap = SiteSitemap::read(self, &paths, &is_own_file)?;
        let scheme = AddressScheme::of_site(self, site_sitemap.votes, &paths.ledger())?;
        let inventory = list_folder(self, &scheme, &is_own_file)?;
        let page = |name: PageFile<'_>| SitePage {
            url: name.url.to_owned(),
            path: name.path.to_owned(),
            twin: twin(&self.base, name.url, Some(name.path)),
        };
        Ok(inventory.pages.iter().map(page).collect())
    }
}
