//! Reads the sitemap that the site's generator or the site owner wrote.
//!
//! Input: sitemaps with common names and sitemaps that robots.txt names, with the files that they
//! list. Output: the entries and files of these sitemaps, and whether Rutter's sitemap replaces
//! them.
//!
//! A sitemap is replaced if it lists only pages of the site's folder and contains nothing that
//! Rutter's sitemap cannot contain. If the output goes to the site's own folder, the generator must
//! also be known. Any other sitemap is kept. A damaged sitemap is kept, too, and is read only up to
//! the damage.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use rutter_page::{Digest, PageUrl, Timestamp};
use rutter_robots::RobotsTxt;
use rutter_site::{SitemapCopies, SitemapFile, StatePaths, is_marked_sitemap, open_sitemap};
use rutter_sitemap::{
    AlternateLink, ChangeFreq, SitemapEntry, SitemapItem, SitemapLimits, SitemapReader,
};

use crate::address;
use crate::address::regular_file;
use crate::error::BuildError;
use crate::name_table::{NameTable, hash_of};
use crate::plan::{BuildPlan, SourceKind};
use crate::stages::inventory::address_scheme;
use crate::stages::inventory::address_scheme::AddressVotes;

/// Common names of sitemaps, which are read in addition to the sitemaps that robots.txt names.
const ENTRIES: [&str; 6] = [
    "sitemap.xml",
    "sitemap-index.xml",
    "sitemap_index.xml",
    "sitemap.xml.gz",
    "sitemap-index.xml.gz",
    "sitemap_index.xml.gz",
];

/// Maximum number of sitemap files that are read.
const MOST_CHILDREN: usize = 1000;

/// The sitemap of a site that the generator or the site owner wrote.
#[derive(Debug, Default)]
pub(crate) struct SiteSitemap {
    /// Files of the sitemap; entry files are first.
    pub(crate) files: Vec<SitemapFile>,
    pub(crate) decision: SitemapDecision,
    pub(crate) previous_sitemap: PreviousSitemap,
    /// Counts of the forms of the URLs in the sitemap.
    pub(crate) votes: AddressVotes,
    /// Digest of all files of the sitemap.
    pub(crate) digest: String,
    /// Whether the sitemap was read from its copies in the state, which are then up to date.
    has_copies: bool,
}

/// Whether Rutter's sitemap replaces the sitemap of the generator or site owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum SitemapDecision {
    /// The site has no sitemap of its own.
    #[default]
    Absent,
    /// Rutter's sitemap replaces the site's sitemap and takes over its entries.
    Replaced,
    /// The site's sitemap is kept, for this reason.
    Kept(String),
}

/// Dates and other members of the entries of a sitemap, by URL.
#[derive(Debug, Default)]
pub(crate) struct PreviousSitemap {
    pub(crate) dates: NameTable<Timestamp>,
    /// Other members of the entries that have more than URL and date.
    pub(crate) more: NameTable<EntryExtras>,
}

/// Members of a sitemap entry other than URL and date.
#[derive(Debug)]
pub(crate) struct EntryExtras {
    pub(crate) changefreq: Option<ChangeFreq>,
    pub(crate) priority: Option<f32>,
    /// Alternate links and extension elements; boxed, because few sites have any.
    pub(crate) rest: Option<Box<(Vec<AlternateLink>, Vec<String>)>>,
}

/// Whether the dates of a sitemap are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DateTrust {
    /// The dates are always used, because Rutter wrote the sitemap.
    Always,
    /// The dates are not used if most pages have the same date, which is probably a build time.
    UnlessUniform,
}

impl PreviousSitemap {
    /// Reads the entries of the sitemap that Rutter published in a folder.
    pub(crate) fn of_folder(plan: &BuildPlan, folder: &Path) -> Self {
        let mut scan = SitemapScan::default();
        scan.add("sitemap.xml", true);
        scan.read_all(plan, folder, &|_| false);
        scan.into_entries(DateTrust::Always)
    }
}

/// Counts the forms of the URLs in a published sitemap, for builds that have lost the state.
pub(crate) fn published_votes(plan: &BuildPlan, folder: &Path, name: &str) -> AddressVotes {
    let mut scan = SitemapScan::default();
    scan.add(name, true);
    scan.read_all(plan, folder, &|_| false);
    scan.votes
}

impl SiteSitemap {
    /// Reads the site's own sitemap. `is_own_file` returns whether an earlier build wrote a file.
    /// If Rutter's sitemap has replaced the site's sitemap, its copy in the state is read.
    pub(crate) fn read(
        plan: &BuildPlan,
        paths: &StatePaths,
        is_own_file: &dyn Fn(&str) -> bool,
    ) -> Result<Self, BuildError> {
        if plan.source == SourceKind::Lines {
            return Ok(Self::default());
        }
        let copies = SitemapCopies::new(paths);
        let is_own_file = |name: &str| {
            is_own_file(name)
                || regular_file(&plan.site, name).is_some_and(|path| is_marked_sitemap(&path))
        };
        let mut scan = SitemapScan::default();
        let mut has_ours = false;
        for name in entries(plan) {
            if is_own_file(&name) {
                has_ours = true;
            } else {
                scan.add(&name, true);
            }
        }
        let has_copies = scan.queue.is_empty() && has_ours && plan.out.is_none();
        if has_copies {
            scan.queue_copies(&copies)?;
            scan.read_all(plan, &plan.site, &|_| false);
        } else {
            scan.read_all(plan, &plan.site, &is_own_file);
        }
        let mut site_sitemap = Self { has_copies, ..scan.finish(plan) };
        // An earlier build replaced the site's sitemap. The decision stays the same, even if a page
        // in it was removed in the meantime.
        if has_copies && site_sitemap.decision != SitemapDecision::Absent {
            site_sitemap.decision = SitemapDecision::Replaced;
        }
        Ok(site_sitemap)
    }

    /// Stores copies of the sitemap's files in the state, for later builds, in which Rutter's
    /// sitemap has replaced them.
    pub(crate) fn save(&self, plan: &BuildPlan, paths: &StatePaths) -> Result<(), BuildError> {
        if self.has_copies {
            return Ok(());
        }
        let copies = SitemapCopies::new(paths);
        copies.clear();
        if self.files.is_empty() || plan.out.is_some() {
            return Ok(());
        }
        Ok(copies.store(&plan.site, &self.files)?)
    }

    /// Returns whether a file is part of the site's sitemap and Rutter's sitemap replaces it.
    pub(crate) fn is_replaced(&self, name: &str) -> bool {
        self.decision == SitemapDecision::Replaced
            && self.files.iter().any(|file| file.name == name)
    }

    /// Returns whether the site's sitemap is kept.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(self.decision, SitemapDecision::Kept(_))
    }
}

/// Returns the paths of the site's entry sitemaps, with which readers start.
fn entries(plan: &BuildPlan) -> Vec<String> {
    let robots = rutter_root::read(&plan.site, "robots.txt").unwrap_or_default();
    let robots = RobotsTxt::parse(&robots);
    let named = robots.sitemaps().filter_map(|(_, url)| address::path_inside(&plan.base, url));
    let named = named.filter(|name| name.contains(".xml"));
    let mut names: Vec<String> = ENTRIES.into_iter().chain(named).map(str::to_owned).collect();
    names.retain(|name| regular_file(&plan.site, name).is_some());
    let mut seen = Vec::new();
    names.retain(|name| {
        let is_new = !seen.contains(name);
        seen.push(name.clone());
        is_new
    });
    names
}

/// A sitemap file that must be read.
#[derive(Debug)]
struct QueuedFile {
    name: String,
    is_entry: bool,
    /// Path of the copy in the state from which the file is read; `None` if the file itself is
    /// read.
    copy: Option<PathBuf>,
}

/// Queue and results of a scan that reads all files of a sitemap.
#[derive(Debug, Default)]
struct SitemapScan {
    queue: Vec<QueuedFile>,
    dates: Vec<(u128, Timestamp)>,
    more: Vec<(u128, EntryExtras)>,
    votes: AddressVotes,
    files: Vec<SitemapFile>,
    digests: Vec<String>,
    n_pages: u64,
    /// Number of listed URLs without a page in the site's folder; `foreign_url` is the first of
    /// them.
    n_foreign_urls: u64,
    foreign_url: Option<String>,
    /// Reason why the sitemap cannot be replaced, apart from the pages that it lists.
    problem: Option<&'static str>,
}

impl SitemapScan {
    fn add(&mut self, name: &str, is_entry: bool) {
        self.queue.push(QueuedFile { name: name.to_owned(), is_entry, copy: None });
    }

    /// Queues the copies that an earlier build stored in the state.
    fn queue_copies(&mut self, copies: &SitemapCopies) -> Result<(), BuildError> {
        for (file, copy) in copies.list()? {
            let SitemapFile { name, is_entry, .. } = file;
            self.queue.push(QueuedFile { name, is_entry, copy: Some(copy) });
        }
        Ok(())
    }

    fn read_all(&mut self, plan: &BuildPlan, folder: &Path, is_own_file: &dyn Fn(&str) -> bool) {
        let mut at = 0;
        while at < self.queue.len() && at < MOST_CHILDREN {
            let Some(QueuedFile { name, is_entry, copy }) = self.queue.get(at) else { break };
            let (name, is_entry) = (name.clone(), *is_entry);
            let path = copy.clone().or_else(|| regular_file(folder, &name));
            at += 1;
            if !is_own_file(&name) {
                self.file(plan, (name, is_entry), path.as_deref());
            }
        }
        if MOST_CHILDREN < self.queue.len() {
            self.problem = Some("it has too many files");
        }
    }

    fn file(&mut self, plan: &BuildPlan, (name, is_entry): (String, bool), path: Option<&Path>) {
        let Some((path, input)) = path.and_then(|path| Some((path, open_sitemap(path)?))) else {
            self.problem = Some("one of its files is missing or behind a symbolic link");
            return;
        };
        let digest = rutter_site::digest_of(path).map(|digest| digest.to_string());
        self.digests.push(digest.unwrap_or_default());
        let before = self.n_pages;
        // A compressed file next to an uncompressed one has the same content and is not read.
        let plain = name.strip_suffix(".gz");
        let is_coded = plain.is_some_and(|plain| self.queue.iter().any(|it| it.name == plain));
        if !is_coded {
            let mut reader = SitemapReader::new(BufReader::new(input), SitemapLimits::USUAL);
            loop {
                match reader.next(&mut ()) {
                    Ok(Some(item)) => self.item(plan, item),
                    Ok(None) => break,
                    Err(_) => {
                        self.problem = Some("it is damaged");
                        break;
                    }
                }
            }
        }
        let n_pages = self.n_pages - before;
        self.files.push(SitemapFile { name, is_entry, n_pages });
    }

    fn item(&mut self, plan: &BuildPlan, item: SitemapItem) {
        match item {
            SitemapItem::Child(child) => match address::path_inside(&plan.base, &child.loc) {
                Some(name) if self.queue.iter().all(|it| it.name != name) => {
                    self.add(name, false);
                }
                Some(_) => {}
                None => {
                    self.problem = Some("one of its files is not below the base URL of the site");
                }
            },
            SitemapItem::Url(entry) => self.entry(plan, entry),
            SitemapItem::Foreign(_) => {
                self.problem = Some("it contains elements that Rutter's sitemap cannot contain");
            }
        }
    }

    fn entry(&mut self, plan: &BuildPlan, entry: SitemapEntry) {
        self.n_pages += 1;
        let url = PageUrl::parse(entry.loc.as_str()).ok().map(|url| url.key().to_owned());
        let url = url.unwrap_or_else(|| entry.loc.clone());
        if plan.source == SourceKind::Html {
            match address_scheme::resolve(&plan.site, &plan.base, &url) {
                Some(resolved) => self.votes.add(&resolved),
                None => {
                    self.n_foreign_urls += 1;
                    self.foreign_url.get_or_insert_with(|| entry.loc.clone());
                }
            }
        }
        let url = hash_of(&url);
        let SitemapEntry { lastmod, changefreq, priority, alternates, extensions, .. } = entry;
        self.dates.extend(lastmod.map(|date| (url, date)));
        let has_rest = !extensions.is_empty() || !alternates.is_empty();
        if has_rest || changefreq.is_some() || priority.is_some() {
            let rest = has_rest.then(|| Box::new((alternates, extensions)));
            self.more.push((url, EntryExtras { changefreq, priority, rest }));
        }
    }

    fn decide(&self, plan: &BuildPlan) -> SitemapDecision {
        let mut entries = self.files.iter().filter(|file| file.is_entry);
        if self.files.is_empty() {
            return SitemapDecision::Absent;
        }
        let is_configured = plan.force || entries.all(|file| plan.replace.contains(&file.name));
        if is_configured || (plan.source != SourceKind::Html && plan.out.is_some()) {
            return SitemapDecision::Replaced;
        }
        let why = if let Some(problem) = self.problem {
            problem.to_owned()
        } else if let Some(foreign_url) = &self.foreign_url {
            let n = self.n_foreign_urls;
            format!("{n} of its URLs have no page in this folder, such as {foreign_url}")
        } else if self.n_pages == 0 {
            "it lists no pages".to_owned()
        } else if plan.out.is_none() && plan.generator.is_none() {
            "the generator that wrote it is unknown".to_owned()
        } else {
            return SitemapDecision::Replaced;
        };
        SitemapDecision::Kept(why)
    }

    fn finish(mut self, plan: &BuildPlan) -> SiteSitemap {
        let decision = self.decide(plan);
        let digest = Digest::of(self.digests.concat().as_bytes()).to_string();
        let mut files = std::mem::take(&mut self.files);
        files.sort_by_key(|file| !file.is_entry);
        let votes = std::mem::take(&mut self.votes);
        let previous_sitemap = self.into_entries(DateTrust::UnlessUniform);
        SiteSitemap { files, decision, previous_sitemap, votes, digest, has_copies: false }
    }

    fn into_entries(self, trust: DateTrust) -> PreviousSitemap {
        let Self { mut dates, mut more, .. } = self;
        // If a URL has several entries, the last one applies.
        dates.reverse();
        more.reverse();
        let mut dates = NameTable::of(dates);
        if trust == DateTrust::UnlessUniform && have_one_date(&dates) {
            dates = NameTable::default();
        }
        PreviousSitemap { dates, more: NameTable::of(more) }
    }
}

/// Returns whether more than half of the pages have the same date.
fn have_one_date(dates: &NameTable<Timestamp>) -> bool {
    let mut sorted: Vec<Timestamp> = dates.values().copied().collect();
    sorted.sort_unstable();
    let most = sorted.chunk_by(|one, other| one == other).map(<[_]>::len).max().unwrap_or(0);
    3 < sorted.len() && sorted.len() < most * 2
}
