//! Lists the pages and other files of a site.
//!
//! Input: the site's folder, the address scheme and the ledger. Output: the pages in the order of
//! their URLs, the other files, and findings. An unreadable folder is reported, and the pages that
//! were published from it stay listed: an unreadable page keeps its published version, and only a
//! missing page is removed.

pub(crate) mod address_scheme;
pub(crate) mod site_sitemap;
pub(crate) mod sources;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rutter_finding::{Finding, Place};
use rutter_site::{FileRecord, Owner, Publication, Sections, file_marks};
use rutter_site::{LedgerReader, Manifest, StatePaths, Visibility, absolute_path, is_below};

use self::site_sitemap::{PreviousSitemap, SitemapDecision};
use self::sources::{LoadedLines, PageSources};
use crate::address::{decoded, file_address, twin};
use crate::error::{BuildError, IoErrorContext};
use crate::exclusion;
use crate::finding_counter::FindingCounter;
use crate::plan::{BuildPlan, SourceKind};
use crate::rules;
use crate::section::{self, SegmentCounts};
use crate::stages::inventory::address_scheme::AddressScheme;
use crate::stages::inventory::address_scheme::AddressVotes;
use crate::stages::inventory::site_sitemap::SiteSitemap;
use crate::state::{SavedState, rebuild};

/// URL and file of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PageFile<'n> {
    pub(crate) url: &'n str,
    /// Path relative to the site's folder, with `/` as separator.
    pub(crate) path: &'n str,
}

/// URLs and file paths of all pages, sorted by URL. All URLs and paths are in one string, because a
/// build keeps this list in memory for the whole site.
#[derive(Debug, Default)]
pub(crate) struct PageFiles {
    text: String,
    spans: Vec<PageSpan>,
}

/// Position of a page's URL and path in the shared string; the path follows the URL.
#[derive(Debug, Clone, Copy)]
struct PageSpan {
    at: usize,
    url: u32,
    path: u32,
}

impl PageFiles {
    fn push(&mut self, url: &str, path: &str) {
        // No URL or path is longer than `u32::MAX` bytes.
        let len = |text: &str| u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.spans.push(PageSpan { at: self.text.len(), url: len(url), path: len(path) });
        self.text.push_str(url);
        self.text.push_str(path);
    }

    /// Sorts the pages by URL. Of several pages with the same URL, only the first is kept; `take`
    /// receives that page and each removed one.
    fn sort(&mut self, take: &mut dyn FnMut(PageFile<'_>, PageFile<'_>)) {
        let Self { text, spans } = self;
        spans.sort_unstable_by(|one, other| name_of(text, *one).cmp(&name_of(text, *other)));
        spans.dedup_by(|later, first| {
            let (first, later) = (name_of(text, *first), name_of(text, *later));
            let is_second = first.url == later.url;
            if is_second {
                take(first, later);
            }
            is_second
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns whether a page has this URL. The pages must be sorted.
    fn has_url(&self, url: &str) -> bool {
        self.spans.binary_search_by(|span| name_of(&self.text, *span).url.cmp(url)).is_ok()
    }

    pub(crate) fn get(&self, at: usize) -> Option<PageFile<'_>> {
        self.spans.get(at).map(|span| name_of(&self.text, *span))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = PageFile<'_>> {
        self.spans.iter().map(|span| name_of(&self.text, *span))
    }
}

fn name_of(text: &str, span: PageSpan) -> PageFile<'_> {
    let path_at = span.at + span.url as usize;
    PageFile {
        url: text.get(span.at..path_at).unwrap_or_default(),
        path: text.get(path_at..path_at + span.path as usize).unwrap_or_default(),
    }
}

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

/// Pages and other files of a site's folder.
#[derive(Debug, Default)]
struct FolderListing {
    /// Pages of the site, sorted by URL.
    pages: PageFiles,
    /// Paths of the site's files that are not pages, sorted.
    others: Vec<Box<str>>,
    findings: Vec<(String, Finding)>,
    /// Folders of the site that cannot be read, each with a final slash.
    unreadable: Vec<String>,
}

impl FolderListing {
    /// Adds the published pages below unreadable folders, so that the build does not remove them.
    /// Their paths come from the manifest, else from their URLs.
    fn keep_unreadable(
        &mut self,
        (plan, scheme): (&BuildPlan, &AddressScheme),
        ledger: &Path,
        published: &Manifest,
    ) -> Result<(), BuildError> {
        if self.unreadable.is_empty() {
            return Ok(());
        }
        let is_lost = |name: &str| self.unreadable.iter().any(|folder| name.starts_with(folder));
        let pages = published.iter().map(|(name, _)| name);
        let pages = pages.filter(|name| is_lost(name) && is_page(plan.source, name));
        let paths: HashMap<String, &str> =
            pages.filter_map(|name| Some((scheme.address(&plan.base, name)?, name))).collect();
        let prefixes: Vec<String> =
            self.unreadable.iter().map(|folder| file_address(&plan.base, folder)).collect();
        let mut rows = LedgerReader::open(ledger)?;
        let mut kept = Vec::new();
        while let Some(row) = rows.next()? {
            let is_kept = row.visibility != Visibility::Removed
                && prefixes.iter().any(|prefix| is_below(&row.url, prefix))
                && !self.pages.has_url(&row.url);
            if !is_kept {
                continue;
            }
            let known = paths.get(&row.url).map(|path| (*path).to_owned());
            let mut folders = self.unreadable.iter().zip(&prefixes);
            let index = folders.find(|(_, prefix)| prefix.strip_suffix('/') == Some(&row.url));
            let index = index.map(|(folder, _)| format!("{folder}index.html"));
            if let Some(path) = known.or(index).or_else(|| default_path(plan, &row.url)) {
                kept.push((row.url, path));
            }
        }
        for (url, path) in &kept {
            self.pages.push(url, path);
        }
        self.pages.sort(&mut |_, _| {});
        Ok(())
    }
}

/// Returns the default path of the page file of a URL.
fn default_path(plan: &BuildPlan, url: &str) -> Option<String> {
    let inside = decoded(plan.base.strip(url)?);
    Some(match (inside.strip_suffix('/'), plan.source) {
        (Some(folder), SourceKind::Markdown) => format!("{folder}.md"),
        (Some(folder), _) => format!("{folder}/index.html"),
        (None, _) => inside,
    })
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

/// Lists the pages and other files of the site's folder, without files for which `is_own_file`
/// returns true, which are artifacts of earlier builds.
fn list_folder(
    plan: &BuildPlan,
    scheme: &AddressScheme,
    is_own_file: &dyn Fn(&str) -> bool,
) -> Result<FolderListing, BuildError> {
    let mut found = FolderListing::default();
    let skipped: Vec<PathBuf> = [Some(&plan.state), plan.out.as_ref()]
        .into_iter()
        .flatten()
        .chain(&plan.kept_out)
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    // Each folder has a flag: whether a pattern of the site owner excludes it. Excluded files are
    // not listed as pages, but they are copied.
    let mut folders = vec![(String::new(), false)];
    while let Some((inside, is_excluded)) = folders.pop() {
        let folder = plan.site.join(&inside);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if inside.is_empty() => return Err(BuildError::Io(folder, error)),
            // An unreadable folder is reported and does not stop the listing.
            Err(error) => {
                let finding = Finding::new(&rules::UNREADABLE, Place::WHOLE, error.to_string());
                found.findings.push((inside.clone(), finding));
                found.unreadable.push(inside);
                continue;
            }
        };
        for entry in entries {
            let entry = entry.at(&folder)?;
            let name = entry.file_name().to_str().map(str::to_owned);
            let Some(name) = name.filter(|name| !name.contains(char::is_control)) else {
                let shown = entry.path().display().to_string();
                found.findings.push((shown, Finding::new(&rules::ODD_NAME, Place::WHOLE, "")));
                continue;
            };
            let is_hidden = name.starts_with('.') && name != ".well-known";
            let path = format!("{inside}{name}");
            let kind = entry.file_type().at(&entry.path())?;
            let is_excluded = is_excluded || plan.exclude.iter().any(|glob| glob.matches(&path));
            if kind.is_dir() {
                let real = entry.path().canonicalize().at(&entry.path())?;
                if !is_hidden && !skipped.contains(&real) {
                    folders.push((format!("{path}/"), is_excluded));
                }
            } else if is_own_file(&path) {
                // The file is an artifact of an earlier build, and this build writes it again.
            } else if kind.is_symlink() && is_outside_link(plan, &path) {
                let detail = "a symbolic link out of the site is not published";
                let finding = Finding::new(&rules::ODD_NAME, Place::WHOLE, detail);
                found.findings.push((path, finding));
            } else if kind.is_symlink() && entry.path().is_dir() {
                let detail = "a symbolic link to a folder is not followed";
                let finding = Finding::new(&rules::ODD_NAME, Place::WHOLE, detail);
                found.findings.push((path, finding));
            } else if !kind.is_file() && !entry.path().is_file() && !is_denied(&entry.path()) {
                // The entry is a broken link or not a regular file, and is skipped.
            } else if matches!(name.as_str(), "rutter.toml" | ".gitignore")
                || (is_hidden && !matches!(name.as_str(), ".htaccess" | ".nojekyll"))
            {
                // Hidden files are skipped, except `.htaccess` and `.nojekyll`.
            } else if is_hidden || is_excluded {
                found.others.push(path.into());
            } else {
                add_file(plan, scheme, path, &mut found);
            }
        }
    }
    let FolderListing { pages, others, findings, .. } = &mut found;
    pages.sort(&mut |first, later| {
        let detail = format!("{}: `{}` is used", first.url, first.path);
        let finding = Finding::new(&rules::TWO_FILES, Place::WHOLE, detail);
        findings.push((later.path.to_owned(), finding));
        others.push(later.path.into());
    });
    found.others.sort_unstable();
    Ok(found)
}

/// Returns whether a symbolic link leads out of the site's folder. A broken link does not count.
fn is_outside_link(plan: &BuildPlan, path: &str) -> bool {
    rutter_root::resolve(&plan.site, path).is_err_and(|error| rutter_root::is_outside_link(&error))
}

/// Returns whether the process has no permission to read a file. Such a file counts as an
/// unreadable page, not as a missing one.
fn is_denied(path: &Path) -> bool {
    fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

/// Returns whether a file is a page according to its name.
fn is_page(source: SourceKind, path: &str) -> bool {
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
    let ending = ending.unwrap_or_default().to_ascii_lowercase();
    let is_page = match source {
        SourceKind::Html => matches!(ending.as_str(), "html" | "htm" | "xhtml"),
        SourceKind::Markdown => matches!(ending.as_str(), "md" | "markdown"),
        SourceKind::Lines => false,
    };
    // Error pages of the web server, such as `404.html`, do not count as pages.
    let name = path.rsplit('/').next().unwrap_or(path);
    is_page && !matches!(name, "404.html" | "50x.html" | "500.html" | "404.md")
}

fn add_file(plan: &BuildPlan, scheme: &AddressScheme, path: String, found: &mut FolderListing) {
    if !is_page(plan.source, &path) {
        found.others.push(path.into());
        return;
    }
    match scheme.address(&plan.base, &path) {
        Some(url) => found.pages.push(&url, &path),
        None => {
            found.findings.push((path, Finding::new(&rules::ODD_NAME, Place::WHOLE, "")));
        }
    }
}
