//! Checks a whole site: every file, and whether all layers agree about each page.
//!
//! Files come from a folder, or from a live site that was downloaded. The machine-readable files
//! are read first, then the pages in parallel. All statements of the layers about a page are joined
//! in one row, and the rules in `cross` compare the rows. Findings are collected by file.
//!
//! Files outside the folder are never read, pages are not kept in memory, and all limits are fixed.

mod built_page;
pub(crate) mod files;
mod findings_by_file;
pub(crate) mod machine_files;
pub(crate) mod page;
mod page_links;
mod page_rows;
mod page_signals;
pub(crate) mod pages;
mod site_base;
pub(crate) mod spxi;
mod text_match;

use std::io::{self, Read as _};
use std::path::Path;

use rutter_extract::{CoverageTally, SiteExtractSettings};
use rutter_finding::{Finding, Place, quoted};
use rutter_report::{FileReport, Overview};

pub use built_page::BuiltPage;
pub(crate) use files::{LARGEST_PAGE, MediaKind, SiteFile, SiteFiles};
pub(crate) use findings_by_file::FindingsByFile;
pub(crate) use machine_files::{CollectionAdvert, CollectionFile, MachineFiles, stem};
pub(crate) use page_links::TargetKind;
pub use page_rows::RestrictionReason;
pub(crate) use page_rows::{PageRow, PageRows};
pub use site_base::SiteBase;
pub(crate) use text_match::runs;

use crate::{CheckOptions, rules};

rutter_finding::rules! {
    ADDRESS_UNKNOWN = "XL005" "address-unknown" (hint, "D92") {
        title: "URL of the site is unknown, so links were not checked",
        why: "Without the URL of the site, layers cannot be compared with each other.",
        fix: "Set `base-url` in rutter.toml, for example to `https://example.com`.",
        wrong: "`rutter check public/` on a site whose files do not contain its URL.",
        right: "`rutter check public/ --base-url https://harbour.example`",
    }
    LOW_COVERAGE = "XL089" "low-coverage" (warning, "D45") {
        title: "extracted share of the main text is below the required minimum",
        why: "Machine-readable layers lack text that people can read in the `<main>` element.",
        fix: "Let `rutter extract` explain which text is dropped, and mark or configure this text as described in docs/extraction.md.",
        wrong: "A page of which 82 % of the main text is extracted, with a minimum of 95 %.",
        right: "Content inside one `<main>` element, with comments and related links outside it.",
    }
    NOT_HTTPS = "HP010" "not-https" (advice, "SCP-196") {
        title: "base URL does not use https",
        why: "Readers reject sitemaps and collections over plain http, because others on the network can change them.",
        fix: "Publish the site over https, and use its https URL as base URL.",
        wrong: "`http://harbour.example/`",
        right: "`https://harbour.example/`",
    }
}

/// Options for checking a site.
#[derive(Debug, Clone, Default)]
pub struct SiteCheckOptions {
    /// Options for checking each file.
    pub check_options: CheckOptions,
    /// The number of threads that read pages; at least one.
    pub threads: usize,
    /// Names of custom entity types that are documented (D66).
    pub types: Vec<String>,
    /// The minimum share of the main text of a page that must be extracted, if any.
    pub min_coverage: Option<f32>,
    /// Extraction selectors of the site owner.
    pub extract: SiteExtractSettings,
}

/// The result of checking a site.
#[derive(Debug)]
pub struct SiteOutcome {
    /// The reports of all checked files, sorted by name. The report with the name `.` is about the
    /// site.
    pub file_reports: Vec<FileReport>,
    /// The base URL of the site, as given or as found in its files.
    pub home: Option<SiteBase>,
    /// The number of checked pages.
    pub pages: u64,
    /// The number of pages that the sitemaps list.
    pub listed: u64,
    /// The number of pages that are unchanged since the build.
    pub known: u64,
    /// The number of files of the site.
    pub files: u64,
    /// The extracted share of the main text of public pages.
    pub coverage: CoverageTally,
}

impl SiteOutcome {
    /// Adds the numbers of files and pages, and the coverage, to the overview of a run.
    pub fn add_to(&self, overview: &mut Overview) {
        overview.files += self.files;
        overview.pages += self.pages;
        overview.coverage.merge(&self.coverage);
    }
}

/// All data about a site that the rules compare.
pub(crate) struct SiteView<'v> {
    pub(crate) files: &'v SiteFiles,
    pub(crate) home: Option<&'v SiteBase>,
    pub(crate) options: &'v SiteCheckOptions,
    pub(crate) rows: PageRows,
    pub(crate) machine_files: MachineFiles,
    pub(crate) known: Vec<BuiltPage>,
    pub(crate) findings: FindingsByFile<'v>,
}

/// Checks a published folder.
///
/// `known` contains the pages of the last build sorted by URL; it may be empty.
/// Returns an error only if the folder cannot be read at all.
pub fn check_folder(
    dir: &Path,
    home: Option<SiteBase>,
    known: Vec<BuiltPage>,
    check_options: &SiteCheckOptions,
) -> Result<SiteOutcome, io::Error> {
    let mut found = Vec::new();
    let files = SiteFiles::walk(dir, &mut found)?;
    let home = home.or_else(|| home_of(&files));
    Ok(check_files(&files, home, known, check_options, found))
}

/// Checks the files of a folder or of a live site.
pub(crate) fn check_files(
    files: &SiteFiles,
    home: Option<SiteBase>,
    known: Vec<BuiltPage>,
    check_options: &SiteCheckOptions,
    found: Vec<(String, Finding)>,
) -> SiteOutcome {
    // Without a base URL, pages can still be checked. No layer contains the placeholder URL.
    let nowhere = SiteBase::placeholder();
    let place = home.as_ref().or(nowhere.as_ref());
    let rows = place.map_or_else(PageRows::default, |place| PageRows::of(files, place));
    let mut view = SiteView {
        files,
        home: place,
        options: check_options,
        rows,
        machine_files: MachineFiles::default(),
        known,
        findings: FindingsByFile::new(files, &check_options.check_options),
    };
    for (name, finding) in found {
        let file_report = view.findings.report_named(&name, crate::signpost::kind_by_path(&name));
        rutter_finding::FindingSink::report(&mut file_report.report, finding);
    }
    match &home {
        None => view.findings.add_about_site(&ADDRESS_UNKNOWN, ""),
        Some(home) if home.is_plain_http() => {
            view.findings.add_about_site(&NOT_HTTPS, quoted(home.as_str()));
        }
        Some(_) => {}
    }
    view.read_layers();
    let (pages, known) = view.read_pages();
    let coverage = view.check_coverage();
    view.check_spxi();
    view.check_rest();
    crate::cross::compare(&mut view);
    let listed = view.machine_files.sitemaps.listed.len() as u64;
    let file_reports = view.findings.into_reports();
    SiteOutcome { file_reports, home, pages, listed, known, files: files.len() as u64, coverage }
}

/// Returns the base URL in the semantic index or the ARC sitemap of a folder.
fn home_of(files: &SiteFiles) -> Option<SiteBase> {
    let read = |name: &str| files.read(files.find(name)?, 64 << 20).ok().flatten();
    let index =
        read(rutter_spxi::INDEX_FILE).and_then(|it| rutter_spxi::read_index(&it, &mut ()).ok());
    index.and_then(|index| SiteBase::of_index(&index)).or_else(|| {
        let text = String::from_utf8(read("arc-sitemap.json")?).ok()?;
        let (_, rest) = text.split_once("\"site\"")?;
        let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        SiteBase::parse(rest.split('"').next()?)
    })
}

impl SiteView<'_> {
    /// Checks machine-readable files that no layer references, and compares compressed copies.
    fn check_rest(&mut self) {
        let all: Vec<(u32, String)> =
            self.files.iter().map(|(at, file)| (at, file.path.to_string())).collect();
        for (at, path) in all {
            if let Some(plain) = path.strip_suffix(".gz")
                && !path.ends_with(".scp.gz")
            {
                if let Some(other) = self.files.find(plain)
                    && self.files.get(other).kind == MediaKind::Other
                {
                    self.compare_compressed(at, other);
                }
                continue;
            }
            let is_policy = path.ends_with(".well-known/arc-policy.json");
            if is_policy || path.ends_with("arc-sitemap.jsonld") {
                self.check_file(at);
            }
        }
    }

    /// Computes the extracted share of the main text of public pages, and reports
    /// pages below the minimum.
    fn check_coverage(&mut self) -> CoverageTally {
        let mut tally = CoverageTally::default();
        for row in &self.rows.list {
            let Some((file, page)) = row.file.zip(row.page.as_ref()) else { continue };
            let Some(coverage) = page.coverage.as_ref().filter(|_| page.closed.is_none()) else {
                continue;
            };
            tally.add(&self.files.get(file).path, coverage);
            let share = coverage.share();
            let Some(least) = self.options.min_coverage.filter(|least| share < *least) else {
                continue;
            };
            let largest = coverage.largest.as_ref().map(ToString::to_string).unwrap_or_default();
            let detail =
                format!("{share:.3}, minimum {least}; the largest dropped part is {largest}");
            self.findings.add(file, Finding::new(&LOW_COVERAGE, Place::WHOLE, detail));
        }
        tally
    }

    /// Returns whether two files have the same bytes.
    pub(crate) fn are_same(&self, one: u32, other: u32) -> bool {
        match (self.files.open(one), self.files.open(other)) {
            (Ok((one, _)), Ok((other, _))) => are_same(one, other),
            _ => false,
        }
    }

    /// Compares a compressed file with its uncompressed copy.
    fn compare_compressed(&mut self, at: u32, plain: u32) {
        let Ok((packed, _)) = self.files.open(at) else { return };
        let Ok((plain, _)) = self.files.open(plain) else { return };
        let unpacked = flate2::read::MultiGzDecoder::new(packed);
        if !are_same(unpacked, plain) {
            self.findings.add(at, Finding::new(&rules::CODINGS_DIFFER, Place::WHOLE, ""));
        }
    }
}

/// Returns whether two inputs have the same bytes; a read error counts as different.
pub(crate) fn are_same(mut one: impl io::Read, mut other: impl io::Read) -> bool {
    let fill = |input: &mut dyn io::Read, buffer: &mut Vec<u8>| -> Option<()> {
        buffer.clear();
        input.take(64 << 10).read_to_end(buffer).ok().map(|_| ())
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    loop {
        if fill(&mut one, &mut ours).is_none() || fill(&mut other, &mut theirs).is_none() {
            return false;
        }
        if ours != theirs {
            return false;
        }
        if ours.is_empty() {
            return true;
        }
    }
}
