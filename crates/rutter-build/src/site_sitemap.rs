//! The sitemap that the site's generator or its owner wrote.
//!
//! Input: sitemaps at the usual names and those that robots.txt names, with their children.
//! Output: what they say of each page, which files they are, and whether ours takes their place.
//! Ours takes the place of a sitemap that lists pages of this folder only and says nothing that
//! ours cannot carry; in the site's own folder, only where the generator is known.
//! Any other sitemap is kept. A broken one is kept too, and nothing more is read from it.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rutter_page::seal::{Sealed, check_json, seal_json};
use rutter_page::{Digest, PageUrl, Timestamp};
use rutter_signpost::robots::Robots;
use rutter_signpost::sitemap::{AlternateLink, ChangeFreq, Entry, Item, Limits, Reader};
use serde::{Deserialize, Serialize};

use crate::address_scheme::{self, Votes};
use crate::error::{At, BuildError};
use crate::inventory;
use crate::plan::{Plan, Source};
use crate::state::Paths;
use crate::table::{Table, hash_of};

/// Where sitemaps begin, beside what robots.txt names.
const ENTRIES: [&str; 6] = [
    "sitemap.xml",
    "sitemap-index.xml",
    "sitemap_index.xml",
    "sitemap.xml.gz",
    "sitemap-index.xml.gz",
    "sitemap_index.xml.gz",
];

/// Behind every sitemap of ours, so that it is recognised without the state.
pub(crate) const MARK: &str = "<!-- rutter:whole -->";

/// How far into a sitemap its announcements begin.
const START: usize = 4096;

/// Sitemaps of an index that are read.
const MOST_CHILDREN: usize = 1000;

/// The name of the list beside the copies in the state.
const LIST: &str = "list.json";

/// The sitemap of a site, as others wrote it.
#[derive(Debug, Default)]
pub(crate) struct SiteSitemap {
    /// Entry files first.
    pub(crate) files: Vec<SitemapFile>,
    pub(crate) standing: Standing,
    pub(crate) before: Before,
    /// In which form it names pages.
    pub(crate) votes: Votes,
    /// Of all its bytes.
    pub(crate) digest: String,
    /// Whether the copies in the state are up to date.
    has_copies: bool,
}

/// One file of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SitemapFile {
    /// Below the site's folder.
    pub(crate) name: String,
    /// Whether readers begin here.
    pub(crate) is_entry: bool,
    /// Pages it lists itself.
    pub(crate) n_pages: u64,
}

/// What becomes of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Standing {
    /// There is none.
    #[default]
    Absent,
    /// Ours takes its place and says what it said.
    Replaced,
    /// It stays, for this reason.
    Kept(String),
}

/// What a sitemap says, by address.
#[derive(Debug, Default)]
pub(crate) struct Before {
    pub(crate) dates: Table<Timestamp>,
    /// Of entries with more than an address and a date.
    pub(crate) more: Table<More>,
}

/// What an entry says beside its address and its date.
#[derive(Debug)]
pub(crate) struct More {
    pub(crate) changefreq: Option<ChangeFreq>,
    pub(crate) priority: Option<f32>,
    /// Few sites have these, but on every page.
    pub(crate) rest: Option<Box<(Vec<AlternateLink>, Vec<String>)>>,
}

/// Whether the dates of a sitemap are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// It is one of ours.
    Always,
    /// One date for nearly all pages is the time of a build.
    UnlessAlike,
}

impl Before {
    /// Reads the sitemap that Rutter published in a folder.
    pub(crate) fn of_folder(plan: &Plan, folder: &Path) -> Self {
        let mut gathered = Gathered::default();
        gathered.queue("sitemap.xml", true);
        gathered.read_all(plan, folder, &|_| false);
        gathered.settle(Trust::Always)
    }
}

/// In which form a sitemap of ours names pages, where the state is lost.
pub(crate) fn published_votes(plan: &Plan, folder: &Path, name: &str) -> Votes {
    let mut gathered = Gathered::default();
    gathered.queue(name, true);
    gathered.read_all(plan, folder, &|_| false);
    gathered.votes
}

impl SiteSitemap {
    /// Reads the sitemap of the site's folder. `is_ours` tells which files an
    /// earlier build wrote there. Where those have taken its place, its copy in
    /// the state is read.
    pub(crate) fn read(
        plan: &Plan,
        paths: &Paths,
        is_ours: &dyn Fn(&str) -> bool,
    ) -> Result<Self, BuildError> {
        if plan.source == Source::Lines {
            return Ok(Self::default());
        }
        let copies = copies(paths);
        let is_ours = |name: &str| {
            is_ours(name) || plain_file(&plan.site, name).is_some_and(|path| is_marked(&path))
        };
        let mut gathered = Gathered::default();
        let mut has_ours = false;
        for name in entries(plan) {
            if is_ours(&name) {
                has_ours = true;
            } else {
                gathered.queue(&name, true);
            }
        }
        let has_copies = gathered.waiting.is_empty() && has_ours && plan.out.is_none();
        if has_copies {
            gathered.queue_copies(&copies)?;
            gathered.read_all(plan, &plan.site, &|_| false);
        } else {
            gathered.read_all(plan, &plan.site, &is_ours);
        }
        let mut theirs = Self { has_copies, ..gathered.finish(plan) };
        // Ours took its place in an earlier build: a page that was removed since
        // does not bring it back.
        if has_copies && theirs.standing != Standing::Absent {
            theirs.standing = Standing::Replaced;
        }
        Ok(theirs)
    }

    /// Keeps its files in the state, for builds that find ours in their place.
    pub(crate) fn save(&self, plan: &Plan, paths: &Paths) -> Result<(), BuildError> {
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
        fs::write(&list, seal_json(&text, self.files.len() as u64)).at(&list)
    }

    /// Whether a file of the site is not copied because ours takes its place.
    pub(crate) fn is_replaced(&self, name: &str) -> bool {
        self.standing == Standing::Replaced && self.files.iter().any(|file| file.name == name)
    }

    /// Whether it stays where it is.
    pub(crate) fn is_kept(&self) -> bool {
        matches!(self.standing, Standing::Kept(_))
    }
}

/// The files whose copies are in the state; none where there is no list.
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
    let damaged = || BuildError::State(path.to_owned(), 1);
    // Earlier versions wrote a list without a seal.
    if text.starts_with(b"[") {
        return serde_json::from_slice(&text).map_err(|_| damaged());
    }
    match check_json(&*text) {
        Ok(Sealed::Whole(_)) => {}
        _ => return Err(damaged()),
    }
    serde_json::from_slice::<List>(&text).map(|list| list.files).map_err(|_| damaged())
}

/// The folder of the state that holds its files.
fn copies(paths: &Paths) -> PathBuf {
    paths.folder.join("sitemaps")
}

/// The name of a copy; its ending says whether it is compressed.
fn copy_name(n: usize, name: &str) -> String {
    if is_gzip(Path::new(name)) { format!("{n}.gz") } else { n.to_string() }
}

pub(crate) fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gz")
}

/// Names of the site's files where its sitemaps begin.
fn entries(plan: &Plan) -> Vec<String> {
    let robots = rutter_root::read(&plan.site, "robots.txt").unwrap_or_default();
    let robots = Robots::parse(&robots);
    let named = robots.sitemaps().filter_map(|(_, url)| inventory::inside(&plan.base, url));
    let named = named.filter(|name| name.contains(".xml"));
    let mut names: Vec<String> = ENTRIES.into_iter().chain(named).map(str::to_owned).collect();
    names.retain(|name| plain_file(&plan.site, name).is_some());
    let mut seen = Vec::new();
    names.retain(|name| {
        let is_new = !seen.contains(name);
        seen.push(name.clone());
        is_new
    });
    names
}

/// The path of a file below a folder; `None` where no file is there, or where a
/// link is on the way to it: what lies behind belongs to others.
pub(crate) fn plain_file(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    let mut kind = None;
    for part in name.split('/') {
        path.push(part);
        kind = Some(fs::symlink_metadata(&path).ok().filter(|it| !it.is_symlink())?);
    }
    kind?.is_file().then_some(path)
}

/// Whether a sitemap is one of ours: by the mark at its end alone, because
/// others publish collections, too.
pub(crate) fn is_marked(path: &Path) -> bool {
    ends_of(path).is_some_and(|(_, end)| end.trim_ascii_end().ends_with(MARK.as_bytes()))
}

/// Whether a sitemap may be one of ours: it has our mark or announces
/// collections, as those of earlier versions do.
pub(crate) fn may_be_ours(path: &Path) -> bool {
    let announces = |start: &[u8]| memchr::memmem::find(start, b"<scp:version>").is_some();
    is_marked(path) || ends_of(path).is_some_and(|(start, _)| announces(&start))
}

/// The first and the last bytes of a sitemap, compressed or not.
fn ends_of(path: &Path) -> Option<(Vec<u8>, Vec<u8>)> {
    let (mut start, mut end) = (Vec::new(), Vec::new());
    if is_gzip(path) {
        open(path)?.take(Limits::USUAL.bytes).read_to_end(&mut end).ok()?;
        start.extend_from_slice(end.get(..START.min(end.len())).unwrap_or_default());
    } else {
        read_ends(path, &mut start, &mut end).ok()?;
    }
    Some((start, end))
}

/// The first and the last bytes of a file.
fn read_ends(path: &Path, start: &mut Vec<u8>, end: &mut Vec<u8>) -> io::Result<()> {
    let mut file = File::open(path)?;
    (&mut file).take(START as u64).read_to_end(start)?;
    let len = file.metadata()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(64)))?;
    file.take(64).read_to_end(end)?;
    Ok(())
}

/// A sitemap as text, whether it is compressed or not.
fn open(path: &Path) -> Option<Box<dyn Read>> {
    let file = BufReader::new(File::open(path).ok()?);
    Some(if is_gzip(path) {
        Box::new(flate2::bufread::MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    })
}

/// A file that is to be read.
#[derive(Debug)]
struct Waiting {
    name: String,
    is_entry: bool,
    /// Where its bytes are, if not under its name.
    copy: Option<PathBuf>,
}

/// Sitemaps while they are read.
#[derive(Debug, Default)]
struct Gathered {
    waiting: Vec<Waiting>,
    dates: Vec<(u128, Timestamp)>,
    more: Vec<(u128, More)>,
    votes: Votes,
    files: Vec<SitemapFile>,
    digests: Vec<String>,
    n_pages: u64,
    /// Addresses that are no page of this folder, and the first of them.
    n_strangers: u64,
    stranger: Option<String>,
    /// Why it cannot be replaced, whatever it lists.
    fault: Option<&'static str>,
}

impl Gathered {
    fn queue(&mut self, name: &str, is_entry: bool) {
        self.waiting.push(Waiting { name: name.to_owned(), is_entry, copy: None });
    }

    /// Queues the copies that an earlier build left in the state.
    fn queue_copies(&mut self, copies: &Path) -> Result<(), BuildError> {
        for (n, file) in list_copies(&copies.join(LIST))?.into_iter().enumerate() {
            let copy = Some(copies.join(copy_name(n, &file.name)));
            self.waiting.push(Waiting { name: file.name, is_entry: file.is_entry, copy });
        }
        Ok(())
    }

    fn read_all(&mut self, plan: &Plan, folder: &Path, is_ours: &dyn Fn(&str) -> bool) {
        let mut at = 0;
        while at < self.waiting.len() && at < MOST_CHILDREN {
            let Some(Waiting { name, is_entry, copy }) = self.waiting.get(at) else { break };
            let (name, is_entry) = (name.clone(), *is_entry);
            let path = copy.clone().or_else(|| plain_file(folder, &name));
            at += 1;
            if !is_ours(&name) {
                self.file(plan, (name, is_entry), path.as_deref());
            }
        }
        if MOST_CHILDREN < self.waiting.len() {
            self.fault = Some("it has more files than are read");
        }
    }

    fn file(&mut self, plan: &Plan, (name, is_entry): (String, bool), path: Option<&Path>) {
        let Some((path, input)) = path.and_then(|path| Some((path, open(path)?))) else {
            self.fault = Some("one of its files is missing or behind a link");
            return;
        };
        let digest = crate::manifest::digest_of(path).map(|digest| digest.to_string());
        self.digests.push(digest.unwrap_or_default());
        let before = self.n_pages;
        // The same as the file beside it.
        let plain = name.strip_suffix(".gz");
        let is_coded = plain.is_some_and(|plain| self.waiting.iter().any(|it| it.name == plain));
        if !is_coded {
            let mut reader = Reader::new(BufReader::new(input), Limits::USUAL);
            loop {
                match reader.next(&mut ()) {
                    Ok(Some(item)) => self.item(plan, item),
                    Ok(None) => break,
                    Err(_) => {
                        self.fault = Some("it cannot be read to its end");
                        break;
                    }
                }
            }
        }
        let n_pages = self.n_pages - before;
        self.files.push(SitemapFile { name, is_entry, n_pages });
    }

    fn item(&mut self, plan: &Plan, item: Item) {
        match item {
            Item::Child(child) => match inventory::inside(&plan.base, &child.loc) {
                Some(name) if self.waiting.iter().all(|it| it.name != name) => {
                    self.queue(name, false);
                }
                Some(_) => {}
                None => self.fault = Some("one of its files is not below the address of the site"),
            },
            Item::Url(entry) => self.entry(plan, entry),
            Item::Foreign(_) => self.fault = Some("it holds elements that ours cannot carry"),
        }
    }

    fn entry(&mut self, plan: &Plan, entry: Entry) {
        self.n_pages += 1;
        let url = PageUrl::parse(entry.loc.as_str()).ok().map(|url| url.key().to_owned());
        let url = url.unwrap_or_else(|| entry.loc.clone());
        if plan.source == Source::Html {
            match address_scheme::resolve(&plan.site, &plan.base, &url) {
                Some(seen) => self.votes.add(&seen),
                None => {
                    self.n_strangers += 1;
                    self.stranger.get_or_insert_with(|| entry.loc.clone());
                }
            }
        }
        let url = hash_of(&url);
        let Entry { lastmod, changefreq, priority, alternates, extensions, .. } = entry;
        self.dates.extend(lastmod.map(|date| (url, date)));
        let has_rest = !extensions.is_empty() || !alternates.is_empty();
        if has_rest || changefreq.is_some() || priority.is_some() {
            let rest = has_rest.then(|| Box::new((alternates, extensions)));
            self.more.push((url, More { changefreq, priority, rest }));
        }
    }

    fn standing(&self, plan: &Plan) -> Standing {
        let mut entries = self.files.iter().filter(|file| file.is_entry);
        if self.files.is_empty() {
            return Standing::Absent;
        }
        let is_told = plan.force || entries.all(|file| plan.replace.contains(&file.name));
        if is_told || (plan.source != Source::Html && plan.out.is_some()) {
            return Standing::Replaced;
        }
        let why = if let Some(fault) = self.fault {
            fault.to_owned()
        } else if let Some(stranger) = &self.stranger {
            let n = self.n_strangers;
            format!("{n} of its addresses have no page in this folder, such as {stranger}")
        } else if self.n_pages == 0 {
            "it lists no pages".to_owned()
        } else if plan.out.is_none() && plan.generator.is_none() {
            "the generator that wrote it is not known".to_owned()
        } else {
            return Standing::Replaced;
        };
        Standing::Kept(why)
    }

    fn finish(mut self, plan: &Plan) -> SiteSitemap {
        let standing = self.standing(plan);
        let digest = Digest::of(self.digests.concat().as_bytes()).to_string();
        let mut files = std::mem::take(&mut self.files);
        files.sort_by_key(|file| !file.is_entry);
        let votes = std::mem::take(&mut self.votes);
        let before = self.settle(Trust::UnlessAlike);
        SiteSitemap { files, standing, before, votes, digest, has_copies: false }
    }

    fn settle(self, trust: Trust) -> Before {
        let Self { mut dates, mut more, .. } = self;
        // What is said last of an address counts.
        dates.reverse();
        more.reverse();
        let mut dates = Table::of(dates);
        if trust == Trust::UnlessAlike && are_alike(&dates) {
            dates = Table::default();
        }
        Before { dates, more: Table::of(more) }
    }
}

/// Whether most pages have one date.
fn are_alike(dates: &Table<Timestamp>) -> bool {
    let mut sorted: Vec<Timestamp> = dates.things().copied().collect();
    sorted.sort_unstable();
    let most = sorted.chunk_by(|one, other| one == other).map(<[_]>::len).max().unwrap_or(0);
    3 < sorted.len() && sorted.len() < most * 2
}
