//! Judges an index together with the site it describes, from the folder that
//! is published: the mode "build output" of D65.
//!
//! An address stands for a file below the folder, as static hosts have it.
//! Nothing is fetched; an address of another host is not looked at.
//!
//! Refuses: to leave the folder, whatever an address says.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use rutter_extract::{Facts, Options, html};
use rutter_finding::{Finding, FindingSink, Report};
use rutter_page::{PageUrl, Timestamp};
use rutter_signpost::robots::Robots;
use rutter_signpost::sitemap::{Entry, Item, Limits, Reader, SitemapError};
use rutter_spxi::{
    AGENTS, AgentSignals, Asked, Given, INDEX, Index, Link, Listed, Look, MarkerStatus, Modified,
    PACKET, PageFacts, Pages, SPXI, Signals, Site, judge_index, judge_packet, packet_addresses,
    read_index,
};

use crate::{Judgement, Judging, Kind, Subject, check};

/// Finds markers in the bytes of a page.
pub type MarkerFinder<'f> = dyn Fn(&[u8], &[String]) -> Vec<MarkerStatus> + 'f;

/// Largest page that is read, in bytes (D89).
pub(crate) const LARGEST_PAGE: u64 = 10_000_000;
/// Most pages whose heads are looked at.
const MOST_PAGES: usize = 100_000;
/// Most sitemaps that an index of sitemaps leads to.
const MOST_CHILDREN: usize = 1000;

/// A published folder.
#[expect(missing_debug_implementations, reason = "it holds a function")]
pub struct SpxiFolder<'f> {
    /// Where it lies.
    pub dir: &'f Path,
    /// Names of own types that are documented somewhere (D66).
    pub types: &'f [String],
    /// Finds markers on pages; without it rule 4 is not checked.
    pub markers: Option<&'f MarkerFinder<'f>>,
}

/// Judges the index of a folder with everything that lies beside it: sitemap,
/// robots.txt, llms.txt, pages and packets. The index comes first, then each
/// other file with what is wrong with it alone. Where there is no page at all,
/// what needs pages is not checked.
///
/// An error is a folder without an index, or one that cannot be read.
pub fn check_spxi_folder(
    folder: &SpxiFolder<'_>,
    judging: &Judging,
) -> Result<Vec<Judgement>, io::Error> {
    let bytes = fs::read(folder.dir.join(INDEX))?;
    let index = read_index(&bytes, &mut ()).unwrap_or_default();
    let home = home_of(&index);
    let (listed, foreign) = sitemap(folder.dir, home.as_deref())?;
    let named = match &listed {
        Look::Found(listed) => Some(listed.iter().map(|it| it.url.clone()).collect()),
        _ => None,
    };
    let pages = FolderPages { folder, home: home.as_deref(), now: judging.now, named };
    let given = Given {
        address: None,
        types: folder.types,
        now: judging.now,
        site: Site {
            sitemap: listed,
            foreign,
            robots: if is_root(home.as_deref()) {
                look(&folder.dir.join("robots.txt"))?.map_found(|it| signals(&Robots::parse(&it)))
            } else {
                Look::NotChecked
            },
            llms: look(&folder.dir.join("llms.txt"))?
                .map_found(|it| String::from_utf8_lossy(&it).into_owned()),
            // Without any page it is a handful of files, not a site.
            pages: (home.is_some() && has_page(folder.dir)).then_some(&pages as &dyn Pages),
        },
    };
    let mut judgements = Vec::new();
    let mut judgement = empty(INDEX, Kind::SpxiIndex, judging);
    match judge_index(&bytes, &given, &mut judgement.report) {
        Ok(judged) => judgement.entries = Some(judged.index.entities.len() as u64),
        Err(refusal) => {
            judgement.refused = Some(refusal.rule);
            judgement.report.report(Finding::from(refusal));
        }
    }
    judgements.push(judgement);
    for name in ["sitemap.xml", "robots.txt", "llms.txt"] {
        let path = folder.dir.join(name);
        if path.is_file() {
            let open = || {
                let file = File::open(&path)?;
                let size = file.metadata()?.len();
                let input: Box<dyn io::Read + Send> = Box::new(file);
                Ok((input, Some(size)))
            };
            judgements.push(check(&Subject { name: name.to_owned(), open: &open }, judging)?);
        }
    }
    packets(folder, &index, &given, home.as_deref(), judging, &mut judgements)?;
    Ok(judgements)
}

fn empty(name: &str, kind: Kind, judging: &Judging) -> Judgement {
    Judgement {
        name: name.to_owned(),
        kind,
        report: Report::new(judging.mode),
        refused: None,
        receipt: None,
        entries: None,
    }
}

/// The address of the folder, without a last slash: where the index says it
/// lies, else the host of its first entity.
pub(crate) fn home_of(index: &Index) -> Option<String> {
    let own = index.id.as_deref().and_then(|id| PageUrl::parse(id).ok());
    let folder = own.and_then(|url| url.key().strip_suffix(INDEX).map(str::to_owned));
    if let Some(folder) = folder {
        return folder.strip_suffix('/').map(str::to_owned);
    }
    let mut ids = index.id.iter().chain(index.entities.iter().filter_map(|it| it.id.as_ref()));
    let url = ids.find_map(|id| PageUrl::parse(id.as_str()).ok())?;
    let key = url.key();
    let start = key.find("://")? + 3;
    let end = key.get(start..)?.find('/').map_or(key.len(), |at| start + at);
    key.get(..end).map(str::to_owned)
}

/// Whether the folder is all of its host: robots.txt counts nowhere else.
fn is_root(home: Option<&str>) -> bool {
    home.and_then(|home| home.split_once("://")).is_none_or(|(_, rest)| !rest.contains('/'))
}

/// Says what came of looking for a file.
fn look(path: &Path) -> io::Result<Look<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Look::Found(bytes)),
        Err(error) if is_absent(&error) => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            Ok(Look::Unreachable(format!("there is no {name}")))
        }
        Err(error) => Err(error),
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

trait MapFound<T> {
    fn map_found<U>(self, make: impl FnOnce(T) -> U) -> Look<U>;
}

impl<T> MapFound<T> for Look<T> {
    fn map_found<U>(self, make: impl FnOnce(T) -> U) -> Look<U> {
        match self {
            Self::NotChecked => Look::NotChecked,
            Self::Unreachable(why) => Look::Unreachable(why),
            Self::Found(found) => Look::Found(make(found)),
        }
    }
}

/// Elements that sitemaps do not know: line and namespace.
type Strange = Vec<(u64, String)>;

/// The entries of sitemap.xml and of the sitemaps it leads to, and what else
/// stands there.
fn sitemap(dir: &Path, home: Option<&str>) -> io::Result<(Look<Vec<Listed>>, Strange)> {
    let mut listed = Vec::new();
    let mut strange: Strange = Vec::new();
    let mut files = vec![dir.join("sitemap.xml")];
    if !files.iter().all(|file| file.is_file()) {
        return Ok((Look::Unreachable("there is no sitemap.xml".to_owned()), strange));
    }
    let mut n_read = 0;
    while let Some(path) = files.pop() {
        let is_first = n_read == 0;
        n_read += 1;
        let mut reader = Reader::new(BufReader::new(File::open(&path)?), Limits::USUAL);
        loop {
            match reader.next(&mut ()) {
                Ok(Some(Item::Url(entry))) => {
                    // What we keep for rewriting declares its own namespaces.
                    if entry.extensions.iter().any(|xml| xml.contains(SPXI)) {
                        strange.push((entry.line, SPXI.to_owned()));
                    }
                    listed.push(listed_of(entry));
                }
                Ok(Some(Item::Foreign(foreign))) => {
                    strange.push((reader.line(), foreign.namespace));
                }
                Ok(Some(Item::Child(child))) if is_first && files.len() < MOST_CHILDREN => {
                    files.extend(home.and_then(|home| file_of(dir, home, &child.loc)));
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(SitemapError::Io(error)) => return Err(error),
                // Its own judgement says why; half a list proves nothing.
                Err(_) => return Ok((Look::NotChecked, strange)),
            }
        }
    }
    Ok((Look::Found(listed), strange))
}

fn listed_of(entry: Entry) -> Listed {
    let links = entry.alternates.into_iter().map(|link| Link {
        hreflang: link.hreflang,
        media_type: link.media_type,
        href: link.href,
    });
    Listed {
        modified: entry.lastmod.map(|time| Modified { time, is_day: entry.is_day }),
        links: links.collect(),
        url: entry.loc,
        line: entry.line,
    }
}

/// What robots.txt says about the index to each agent.
pub(crate) fn signals(robots: &Robots) -> Signals {
    let names = |agent: &str, path: &str, word: &str| {
        let rule = robots.verdict(agent, path).rule;
        rule.is_some_and(|rule| rule.is_allow && rule.pattern.contains(word))
    };
    let agents = AGENTS.map(|agent| AgentSignals {
        name: agent.to_owned(),
        may_fetch: robots.is_allowed(agent, &format!("/{INDEX}")),
        names_index: names(agent, &format!("/{INDEX}"), INDEX),
        names_packets: names(agent, &format!("/page/{PACKET}"), PACKET),
        names_home_packet: names(agent, &format!("/{PACKET}"), PACKET),
    });
    let sitemaps = robots.sitemaps().map(|(_, url)| url.to_owned()).collect();
    Signals { sitemaps, agents: agents.to_vec() }
}

/// Judges the packets that the entities lead to.
fn packets(
    folder: &SpxiFolder<'_>,
    index: &Index,
    given: &Given<'_>,
    home: Option<&str>,
    judging: &Judging,
    judgements: &mut Vec<Judgement>,
) -> io::Result<()> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for entity in &index.entities {
        let addresses = packet_addresses(entity, None);
        let found =
            addresses.iter().find_map(|url| Some((url.as_str(), file_of(folder.dir, home?, url)?)));
        let Some((url, path)) = found.filter(|(_, path)| !seen.contains(path)) else { continue };
        let name = path.strip_prefix(folder.dir).unwrap_or(&path).display().to_string();
        let mut judgement = empty(&name, Kind::SpxiPacket, judging);
        let asked = Asked { page: entity.id.as_deref(), packet: Some(url) };
        let alone = Given { site: Site::default(), ..given.clone() };
        match judge_packet(&fs::read(&path)?, &asked, &alone, &mut judgement.report) {
            Ok(packet) => judgement.entries = Some(packet.about.len() as u64),
            Err(refusal) => {
                judgement.refused = Some(refusal.rule);
                judgement.report.report(Finding::from(refusal));
            }
        }
        judgements.push(judgement);
        seen.push(path);
    }
    Ok(())
}

/// The file that an address of the site stands for.
pub(crate) fn file_of(dir: &Path, home: &str, url: &str) -> Option<PathBuf> {
    let url = PageUrl::parse(url).ok()?;
    let path = url.key().strip_prefix(home)?;
    let path = path.split(['?', '#']).next().unwrap_or_default().strip_prefix('/')?;
    let mut file = dir.to_owned();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let part = decoded(part)?;
        if part == "." || part == ".." || part.contains(['/', '\\', '\0', ':']) {
            return None;
        }
        file.push(part);
    }
    if path.is_empty() || path.ends_with('/') {
        return Some(file.join("index.html")).filter(|file| file.is_file());
    }
    let mut with_ending = file.clone().into_os_string();
    with_ending.push(".html");
    let all = [file.clone(), PathBuf::from(with_ending), file.join("index.html")];
    all.into_iter().find(|file| file.is_file())
}

/// A part of a path without its escapes.
fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
    }
    String::from_utf8(bytes).ok()
}

struct FolderPages<'f> {
    folder: &'f SpxiFolder<'f>,
    home: Option<&'f str>,
    now: Option<Timestamp>,
    /// Addresses of the sitemap; pages that it does not name are not meant to
    /// be found.
    named: Option<Vec<String>>,
}

impl FolderPages<'_> {
    fn facts(&self, url: &str, bytes: &[u8]) -> Option<Facts> {
        let url = PageUrl::parse(url.to_owned()).ok()?;
        let seen = self.now.or_else(|| Timestamp::from_unix_seconds(0))?;
        Some(html(bytes, &Options::new(url, seen)).facts)
    }

    fn read(&self, url: &str) -> Option<Vec<u8>> {
        let path = file_of(self.folder.dir, self.home?, url)?;
        let is_small = fs::metadata(&path).is_ok_and(|it| it.len() <= LARGEST_PAGE);
        if is_small { fs::read(path).ok() } else { None }
    }
}

impl Pages for FolderPages<'_> {
    fn look(&self, url: &str) -> Look<PageFacts> {
        let is_own = self.home.is_some_and(|home| {
            PageUrl::parse(url).is_ok_and(|url| {
                url.key().strip_prefix(home).is_some_and(|rest| rest.starts_with('/'))
            })
        });
        if !is_own {
            return Look::NotChecked;
        }
        let Some(bytes) = self.read(url) else {
            return Look::Unreachable("the folder has no such file".to_owned());
        };
        Look::Found(PageFacts {
            moved_to: self.facts(url, &bytes).and_then(|facts| facts.refresh),
            fragments: Some(names_of(&String::from_utf8_lossy(&bytes))),
        })
    }

    fn markers(&self, url: &str, markers: &[String]) -> Option<Vec<MarkerStatus>> {
        let find = self.folder.markers?;
        Some(find(&self.read(url)?, markers))
    }

    fn head_links(&self) -> Option<Vec<(String, bool)>> {
        let home = self.home?;
        let mut found = Vec::new();
        for (url, path) in self.files(home) {
            let is_small = fs::metadata(&path).is_ok_and(|it| it.len() <= LARGEST_PAGE);
            let bytes = if is_small { fs::read(&path).unwrap_or_default() } else { continue };
            let Some(facts) = self.facts(&url, &bytes) else { continue };
            let has_link = facts.head_links.iter().any(|link| {
                link.has("alternate")
                    && link.media_type.as_deref() == Some("application/ld+json")
                    && link.href.split(['?', '#']).next() == Some(&format!("{home}/{INDEX}"))
            });
            found.push((url, has_link));
        }
        Some(found)
    }
}

impl FolderPages<'_> {
    /// The pages of the sitemap that are files, else every page of the folder.
    fn files(&self, home: &str) -> Vec<(String, PathBuf)> {
        let dir = self.folder.dir;
        if let Some(named) = &self.named {
            let files =
                named.iter().filter_map(|url| Some((url.clone(), file_of(dir, home, url)?)));
            return files.filter(|(_, path)| is_html(path)).collect();
        }
        let mut files = Vec::new();
        for path in pages_below(dir) {
            let Ok(name) = path.strip_prefix(dir) else { continue };
            let parts: Vec<String> =
                name.iter().map(|part| part.to_string_lossy().replace(' ', "%20")).collect();
            files.push((format!("{home}/{}", parts.join("/")), path));
        }
        files
    }
}

fn is_html(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "html" || it == "htm" || it == "xhtml")
}

fn has_page(dir: &Path) -> bool {
    !pages_below(dir).is_empty()
}

/// Every page of a folder, in order.
fn pages_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            // A link could lead out of the folder, or around in it.
            let Ok(kind) = entry.file_type() else { continue };
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            if kind.is_dir() && !is_hidden {
                folders.push(path);
            } else if kind.is_file() && is_html(&path) && found.len() < MOST_PAGES {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The values of `id` and `name` in the tags of a page.
pub(crate) fn names_of(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for tag in text.split('<').skip(1) {
        let tag = tag.split('>').next().unwrap_or_default();
        for (at, _) in tag.match_indices('=') {
            let (before, after) = (tag.get(..at), tag.get(at + 1..));
            let (Some(before), Some(after)) = (before, after) else { continue };
            let attribute = before.trim_end().rsplit(char::is_whitespace).next();
            let is_name = attribute
                .is_some_and(|it| it.eq_ignore_ascii_case("id") || it.eq_ignore_ascii_case("name"));
            if !is_name {
                continue;
            }
            let after = after.trim_start();
            let value = match after.chars().next() {
                Some(quote @ ('"' | '\'')) => after.split(quote).nth(1),
                _ => after.split(char::is_whitespace).next(),
            };
            names.extend(value.map(str::to_owned));
        }
    }
    names
}
