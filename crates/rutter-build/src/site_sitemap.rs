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

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rutter_page::checksum::{ChecksumStatus, append_checksum, verify_checksum};
use rutter_page::{Digest, PageUrl, Timestamp};
use rutter_robots::Robots;
use rutter_sitemap::{
    AlternateLink, ChangeFreq, SitemapEntry, SitemapItem, SitemapLimits, SitemapReader,
};
use serde::{Deserialize, Serialize};

use crate::address_scheme::{self, AddressVotes};
use crate::error::{BuildError, IoErrorContext};
use crate::inventory;
use crate::name_table::{NameTable, hash_of};
use crate::plan::{BuildPlan, SourceKind};
use crate::state::StatePaths;

/// Common names of sitemaps, which are read in addition to the sitemaps that robots.txt names.
const ENTRIES: [&str; 6] = [
    "sitemap.xml",
    "sitemap-index.xml",
    "sitemap_index.xml",
    "sitemap.xml.gz",
    "sitemap-index.xml.gz",
    "sitemap_index.xml.gz",
];

/// Last line of every sitemap that Rutter writes. It identifies the sitemap if the state is lost.
pub(crate) const MARK: &str = "<!-- rutter:whole -->";

/// Number of bytes at the start of a sitemap that are searched for announcements of collections.
const START: usize = 4096;

/// Maximum number of sitemap files that are read.
const MOST_CHILDREN: usize = 1000;

/// Name of the file in the state that lists the copies of sitemap files.
const LIST: &str = "list.json";

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

/// One file of the generator's sitemap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SitemapFile {
    /// Path of the sitemap file, relative to the site's folder.
    pub(crate) name: String,
    /// Whether the file is an entry file, with which readers of the sitemap start.
    pub(crate) is_entry: bool,
    /// Number of pages that the file itself lists.
    pub(crate) n_pages: u64,
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
        let copies = copies(paths);
        let is_own_file = |name: &str| {
            is_own_file(name) || regular_file(&plan.site, name).is_some_and(|path| is_marked(&path))
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
        let copies = copies(paths);
        if self.has_copies {
            return Ok(());
        }
        drop(fs::remove_dir_all(&copies));
        if self.files.is_empty() || plan.out.is_some() {
            return Ok(());
        }
        fs::create_dir_all(&copies).at(&copies)?;
        for (n, file) in self.files.iter().enumerate() {
            let copy = copies.join(copy_name(n, &file.name));
            fs::copy(plan.site.join(&file.name), &copy).at(&copy)?;
        }
        let list = copies.join(LIST);
        let text = serde_json::json!({ "files": &self.files }).to_string();
        fs::write(&list, append_checksum(&text, self.files.len() as u64)).at(&list)
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

/// Returns the sitemap files that have a copy in the state; empty if the list of copies is missing.
fn list_copies(path: &Path) -> Result<Vec<SitemapFile>, BuildError> {
    #[derive(serde::Deserialize)]
    struct List {
        files: Vec<SitemapFile>,
    }
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(BuildError::Io(path.to_owned(), error)),
    };
    let damaged = || BuildError::DamagedState(path.to_owned(), 1);
    // Earlier versions of Rutter wrote this list without a checksum.
    if text.starts_with(b"[") {
        return serde_json::from_slice(&text).map_err(|_| damaged());
    }
    match verify_checksum(&*text) {
        Ok(ChecksumStatus::Valid(_)) => {}
        _ => return Err(damaged()),
    }
    serde_json::from_slice::<List>(&text).map(|list| list.files).map_err(|_| damaged())
}

/// Returns the folder of the state that holds the copies of sitemap files.
fn copies(paths: &StatePaths) -> PathBuf {
    paths.folder.join("sitemaps")
}

/// Returns the name of the copy of a sitemap file; its extension shows whether it is compressed.
fn copy_name(n: usize, name: &str) -> String {
    if is_gzip(Path::new(name)) { format!("{n}.gz") } else { n.to_string() }
}

pub(crate) fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

/// Returns the paths of the site's entry sitemaps, with which readers start.
fn entries(plan: &BuildPlan) -> Vec<String> {
    let robots = rutter_root::read(&plan.site, "robots.txt").unwrap_or_default();
    let robots = Robots::parse(&robots);
    let named = robots.sitemaps().filter_map(|(_, url)| inventory::path_inside(&plan.base, url));
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

/// Returns the path of a file below a folder; `None` if there is no file or a symbolic link is part
/// of the path.
pub(crate) fn regular_file(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    let mut kind = None;
    for part in name.split('/') {
        path.push(part);
        kind = Some(fs::symlink_metadata(&path).ok().filter(|it| !it.is_symlink())?);
    }
    kind?.is_file().then_some(path)
}

/// Returns whether Rutter wrote a sitemap, which the mark at its end shows. Announcements of
/// collections do not show it, because other programs write them, too.
pub(crate) fn is_marked(path: &Path) -> bool {
    first_and_last_bytes(path)
        .is_some_and(|(_, end)| end.trim_ascii_end().ends_with(MARK.as_bytes()))
}

/// Returns whether Rutter may have written a sitemap: it has the mark, or it announces collections,
/// as sitemaps of earlier versions without a mark do.
pub(crate) fn may_be_own_sitemap(path: &Path) -> bool {
    let announces = |start: &[u8]| memchr::memmem::find(start, b"<scp:version>").is_some();
    is_marked(path) || first_and_last_bytes(path).is_some_and(|(start, _)| announces(&start))
}

/// Returns the first and the last bytes of a sitemap after decompression.
fn first_and_last_bytes(path: &Path) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    if is_gzip(path) {
        open(path)?.take(SitemapLimits::USUAL.bytes).read_to_end(&mut end).ok()?;
        start.extend_from_slice(end.get(..START.min(end.len())).unwrap_or_default());
    } else {
        read_ends(path, &mut start, &mut end).ok()?;
    }
    Some((start, end))
}

/// Reads the first and the last bytes of a file.
fn read_ends(path: &Path, start: &mut Vec<u8>, end: &mut Vec<u8>) -> io::Result<()> {
    let mut file = File::open(path)?;
    (&mut file).take(START as u64).read_to_end(start)?;
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(64)))?;
    file.take(64).read_to_end(end)?;
    Ok(())
}

/// Opens a sitemap and decompresses it if needed.
fn open(path: &Path) -> Option<Box<dyn Read>> {
    let file = BufReader::new(File::open(path).ok()?);
    Some(if is_gzip(path) {
        Box::new(flate2::bufread::MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    })
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
    fn queue_copies(&mut self, copies: &Path) -> Result<(), BuildError> {
        for (n, file) in list_copies(&copies.join(LIST))?.into_iter().enumerate() {
            let copy = Some(copies.join(copy_name(n, &file.name)));
            self.queue.push(QueuedFile { name: file.name, is_entry: file.is_entry, copy });
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
        let Some((path, input)) = path.and_then(|path| Some((path, open(path)?))) else {
            self.problem = Some("one of its files is missing or behind a symbolic link");
            return;
        };
        let digest = crate::manifest::digest_of(path).map(|digest| digest.to_string());
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
            SitemapItem::Child(child) => match inventory::path_inside(&plan.base, &child.loc) {
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
