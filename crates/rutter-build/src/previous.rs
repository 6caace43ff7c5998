//! Rebuilds lost truth from what was published: the ledger from the lines of
//! the collections, the chain from their first lines and the sitemap.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use rutter_arc::delta;
use rutter_arc::{ArcError, Entry, Limits as ArcLimits, Policy, Reader as ArcReader, Receipt};
use rutter_page::{LineDigest, Timestamp};
use rutter_scp::advert::{self, Advert, Collection};
use rutter_scp::{Header, Kind, Options, Reader};
use rutter_signpost::robots::Robots;
use rutter_signpost::sitemap::{Item, Limits as SitemapLimits, Reader as SitemapReader};

use crate::arc::Said;
use crate::chain::{CodedFile, Offered, Published};
use crate::error::{At, BuildError};
use crate::feed::{self, Issue};
use crate::inventory;
use crate::ledger::{Dated, Row, RowsWriter, Sight, UNKNOWN};
use crate::plan::{Plan, SectionRule};
use crate::section::{ALL, MAIN, Sections};
use crate::site_sitemap;
use crate::state::Paths;

/// A version of a page: its line's digest, its date, when it first appeared.
#[derive(Debug, Clone, Copy)]
struct Seen {
    digest: LineDigest,
    modified: Timestamp,
    recorded: Timestamp,
}

/// Writes ledger and chain into the state; tells how many pages there are.
pub(crate) fn rebuild(plan: &Plan, folder: &Path, paths: &Paths) -> Result<usize, BuildError> {
    let offers = offers(plan, folder)?;
    if offers.is_empty() {
        let why = "no sitemap there announces collections";
        return Err(BuildError::Previous(folder.to_owned(), why.into()));
    }
    let mut groups: BTreeMap<(Timestamp, String, bool), Vec<(Collection, PathBuf)>> =
        BTreeMap::new();
    for (offer, path) in offers {
        let key = (offer.generated, offer.section.clone(), offer.kind == Kind::Snapshot);
        groups.entry(key).or_default().push((offer, path));
    }
    let store = paths.collections();
    fs::create_dir_all(&store).at(&store)?;
    let mut chain = Published::new(plan.base.as_str());
    let mut versions: BTreeMap<String, Vec<Seen>> = BTreeMap::new();
    let mut sections: BTreeMap<String, BTreeMap<String, Seen>> = BTreeMap::new();
    let mut gone: BTreeMap<String, (Timestamp, String)> = BTreeMap::new();
    for files in groups.values() {
        let Some((offer, path)) = files.first() else { continue };
        let members = sections.entry(offer.section.clone()).or_default();
        if offer.kind == Kind::Snapshot {
            members.clear();
        }
        let header = read(path, offer.generated, &mut versions, members)?;
        let removed = header.chain.as_ref().map_or(&[][..], |chain| &chain.removed);
        for url in removed {
            members.remove(url);
            gone.insert(url.clone(), (offer.generated, offer.section.clone()));
        }
        chain.collections.push(entry(files, &header));
        for (_, path) in files {
            let Some(name) = path.file_name() else { continue };
            fs::copy(path, store.join(name)).at(path)?;
        }
    }
    supersede(&mut chain);
    let only_all = sections.keys().all(|name| name == ALL);
    chain.sections = if plan.sections.is_empty() {
        found(plan, &sections)
    } else {
        Sections::given(&plan.base, &plan.sections)
    };
    chain.is_given = !plan.sections.is_empty();
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for (section, members) in &sections {
        if section == ALL && !only_all {
            continue;
        }
        let section = if only_all { MAIN } else { section };
        for (url, seen) in members {
            rows.insert(url.clone(), row(url, section, *seen, None));
        }
    }
    for (url, (at, section)) in gone {
        let Some(last) = versions.get(&url).and_then(|seen| seen.last()) else { continue };
        let section = if section == ALL { MAIN } else { &section };
        rows.entry(url.clone()).or_insert_with(|| row(&url, section, *last, Some(at)));
    }
    chain.arc = arc(plan, folder, paths, &mut rows)?;
    let ledger = paths.folder.join("ledger.previous");
    let mut out = RowsWriter::create(&ledger)?;
    for row in rows.values() {
        out.push(row)?;
    }
    out.finish()?;
    let chain_path = paths.folder.join("chain.previous");
    chain.save(&chain_path)?;
    fs::rename(&chain_path, paths.chain()).at(&chain_path)?;
    fs::rename(&ledger, paths.ledger()).at(&ledger)?;
    Ok(rows.values().filter(|row| row.is_public()).count())
}

/// What the ARC files of a folder tell: when entries changed, which pages are
/// listed by their addresses alone, which went away.
fn arc(
    plan: &Plan,
    folder: &Path,
    paths: &Paths,
    rows: &mut BTreeMap<String, Row>,
) -> Result<Option<Issue>, BuildError> {
    let store = paths.deltas();
    fs::create_dir_all(&store).at(&store)?;
    let mut days: Vec<String> = Vec::new();
    // When each entry was said last, by day.
    let mut said: BTreeMap<String, (Timestamp, bool)> = BTreeMap::new();
    // A delta that begins later than its day is that of the first publication.
    let mut begun = None;
    let deltas = folder.join(feed::DELTAS);
    let mut names: Vec<PathBuf> = fs::read_dir(&deltas)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    names.sort();
    for path in names {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(day) = name.strip_suffix(".json").filter(|day| delta::day(day).is_some()) else {
            continue;
        };
        let mut entries: Vec<(String, bool)> = Vec::new();
        // One that cannot be read tells nothing.
        let receipt = read_arc(&path, &mut |entry| {
            entries.push((entry.url.key().to_owned(), entry.removed));
        });
        let Some(head) = receipt.ok().map(|receipt| receipt.head) else { continue };
        let Some(until) = head.until else { continue };
        if delta::day(day) < head.since {
            begun = head.since;
        }
        said.extend(entries.into_iter().map(|(key, is_removed)| (key, (until, is_removed))));
        fs::copy(&path, store.join(feed::file(day))).at(&path)?;
        days.push(day.to_owned());
    }
    feed::close_up(&mut days);
    let path = folder.join(feed::SITEMAP);
    if !path.exists() {
        return Ok(None);
    }
    // Before the first day that is kept.
    let first = days.first().and_then(|day| delta::day(day));
    let before = first.unwrap_or(plan.now).plus_seconds(-1);
    let receipt = read_arc(&path, &mut |entry| {
        let key = entry.url.key().to_owned();
        let (at, _) = said.remove(&key).unwrap_or((before, false));
        let digest = Some(LineDigest::of(entry.to_json().as_bytes()));
        let modified = entry.lastmod.unwrap_or(at);
        let row = rows.entry(key).or_insert_with_key(|url| Row {
            sight: Sight::Bare,
            ..row(url, MAIN, Seen { digest: UNKNOWN, modified, recorded: at }, None)
        });
        row.arc = Said { digest, at }.to_string();
    })?;
    for (key, (at, is_removed)) in said {
        if !is_removed {
            continue;
        }
        let row = rows.entry(key).or_insert_with_key(|url| {
            row(url, MAIN, Seen { digest: UNKNOWN, modified: at, recorded: at }, Some(at))
        });
        row.arc = Said { digest: None, at }.to_string();
    }
    let Some(changed) = receipt.head.generated_at else { return Ok(None) };
    let policy = File::open(folder.join(feed::POLICY)).ok();
    let policy = policy.and_then(|file| Policy::read(file, &mut ()).ok().flatten());
    let policy_changed = policy.as_ref().and_then(|policy| policy.updated_at).unwrap_or(changed);
    let policy = policy.map_or_else(String::new, |policy| {
        feed::policy_digest(&Policy { updated_at: None, ..policy })
    });
    Ok(Some(Issue {
        entries: String::new(),
        head: feed::head_of(&receipt.head),
        changed,
        policy,
        policy_changed,
        days,
        begun,
    }))
}

/// Reads an ARC file to its end.
fn read_arc(path: &Path, take: &mut dyn FnMut(&Entry<'_>)) -> Result<Receipt, BuildError> {
    let wrong = |error: ArcError| BuildError::Previous(path.to_owned(), Box::new(error));
    let file = BufReader::new(File::open(path).at(path)?);
    let mut reader = ArcReader::new(file, ArcLimits::USUAL);
    while reader.next(&mut (), |entry| take(&entry)).map_err(wrong)?.is_some() {}
    reader.finish(&mut ()).map_err(wrong)
}

fn row(url: &str, section: &str, seen: Seen, removed: Option<Timestamp>) -> Row {
    Row {
        url: url.to_owned(),
        sight: if removed.is_some() { Sight::Gone } else { Sight::Public },
        section: section.to_owned(),
        digest: seen.digest,
        modified: seen.modified,
        recorded: seen.recorded,
        first_seen: seen.recorded,
        removed,
        template: None,
        dated: Dated::Collection,
        arc: "-".to_owned(),
    }
}

/// Names of the sitemaps of a folder: the usual ones, and those of robots.txt.
fn sitemap_names(plan: &Plan, folder: &Path) -> Vec<String> {
    let robots = Robots::parse(&rutter_root::read(folder, "robots.txt").unwrap_or_default());
    let named = robots.sitemaps().filter_map(|(_, url)| inventory::inside(&plan.base, url));
    // An ARC sitemap is named there, too.
    let named = named.filter(|name| name.contains(".xml"));
    let usual = ["sitemap.xml", "sitemap-scp.xml", "sitemap-rutter.xml"];
    usual.into_iter().chain(named).map(str::to_owned).collect()
}

/// The name of a sitemap in a folder that a build wrote.
pub(crate) fn built_sitemap(plan: &Plan, folder: &Path) -> Option<String> {
    let mut names = sitemap_names(plan, folder).into_iter();
    names.find(|name| {
        let path = site_sitemap::plain_file(folder, name);
        path.is_some_and(|path| site_sitemap::may_be_ours(&path))
    })
}

/// What the sitemaps of a folder announce, with the files that are there.
fn offers(plan: &Plan, folder: &Path) -> Result<Vec<(Collection, PathBuf)>, BuildError> {
    let mut waiting = sitemap_names(plan, folder);
    let mut seen = BTreeSet::new();
    let mut offers = Vec::new();
    while let Some(name) = waiting.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let Ok(file) = rutter_root::open(folder, &name) else { continue };
        let path = folder.join(&name);
        let mut reader = SitemapReader::new(BufReader::new(file), SitemapLimits::USUAL);
        let wrong = |error| BuildError::Previous(path.clone(), Box::new(error));
        while let Some(item) = reader.next(&mut ()).map_err(wrong)? {
            match item {
                Item::Child(child) => {
                    let inside = inventory::inside(&plan.base, &child.loc);
                    waiting.extend(inside.map(str::to_owned));
                }
                Item::Foreign(foreign) if foreign.namespace == advert::NAMESPACE => {
                    let attributes: Vec<(&str, &str)> = foreign
                        .attributes
                        .iter()
                        .map(|(name, value)| (name.as_str(), value.as_str()))
                        .collect();
                    let advert = Advert::read(&foreign.name, &attributes, &foreign.text);
                    if let Some(Ok(Advert::Collection(offer))) = advert
                        && let Some(inside) = inventory::inside(&plan.base, &offer.url)
                    {
                        let path = folder.join(inside);
                        offers.push((offer, path));
                    }
                }
                Item::Url(_) | Item::Foreign(_) => {}
            }
        }
    }
    Ok(offers)
}

/// Reads a collection to its verified end.
fn read(
    path: &Path,
    generated: Timestamp,
    versions: &mut BTreeMap<String, Vec<Seen>>,
    members: &mut BTreeMap<String, Seen>,
) -> Result<Header, BuildError> {
    let wrong =
        |error: rutter_scp::ReadError| BuildError::Previous(path.to_owned(), Box::new(error));
    let file = File::open(path).at(path)?;
    let mut reader = Reader::open(file, Options::default(), &mut ()).map_err(wrong)?;
    let header = reader.header().clone();
    loop {
        let taken = reader.next(&mut (), |record| {
            let key = record.page.url.key().to_owned();
            (key, record.digest(), record.page.modified)
        });
        let Some((url, digest, modified)) = taken.map_err(wrong)? else { break };
        let known = versions.entry(url.clone()).or_default();
        let seen = match known.iter().find(|seen| seen.digest == digest) {
            Some(seen) => *seen,
            None => {
                let seen = Seen { digest, modified, recorded: generated };
                known.push(seen);
                seen
            }
        };
        members.insert(url, seen);
    }
    reader.finish(&mut ()).map_err(wrong)?;
    Ok(header)
}

fn entry(files: &[(Collection, PathBuf)], header: &Header) -> Offered {
    let (offer, _) = files.first().expect("a group is never empty");
    let name = |path: &Path| {
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    };
    let mut coded: Vec<CodedFile> = files
        .iter()
        .map(|(offer, path)| CodedFile { name: name(path), bytes: offer.size })
        .collect();
    // zstd first, as it was.
    coded.sort_by(|one, other| other.name.cmp(&one.name));
    Offered {
        id: header.id.clone(),
        section: header.section.clone(),
        since: header.kind.since(),
        generated: header.generated,
        expires: offer.expires,
        superseded: None,
        pages: offer.pages,
        state: header.chain.as_ref().map_or_else(String::new, |chain| chain.state.to_string()),
        checksum: header.checksum.map_or_else(String::new, |sum| sum.to_string()),
        files: coded,
    }
}

/// What a later snapshot of its section took the place of.
fn supersede(chain: &mut Published) {
    let snapshots: Vec<(String, Timestamp)> = chain
        .collections
        .iter()
        .filter(|one| one.is_snapshot())
        .map(|one| (one.section.clone(), one.generated))
        .collect();
    for one in &mut chain.collections {
        let later = snapshots
            .iter()
            .filter(|(section, at)| *section == one.section && one.generated < *at)
            .map(|(_, at)| *at);
        one.superseded = later.min();
    }
}

/// The sections as their pages show them: the first segment they share.
fn found(plan: &Plan, sections: &BTreeMap<String, BTreeMap<String, Seen>>) -> Sections {
    let mut rules = Vec::new();
    for (name, members) in sections {
        if name == ALL || name == MAIN {
            continue;
        }
        // The index page of the folder may be there without a final slash.
        let mut inside = members.keys().filter_map(|url| plan.base.strip(url)?.split_once('/'));
        if let Some((segment, _)) = inside.next() {
            let prefix = format!("{}{segment}/", plan.base.path());
            rules.push(SectionRule { name: name.clone(), prefix });
        }
    }
    Sections::given(&plan.base, &rules)
}
