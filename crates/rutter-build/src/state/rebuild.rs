//! Rebuilds a lost state from the published files.
//!
//! Input: a folder with the published files. Output: the ledger, from the lines of the collections
//! and the ARC files; the publication record, from the headers of the collections and the sitemap.
//! A folder without announced collections and a damaged collection are rejected.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use rutter_arc::delta;
use rutter_arc::{ArcEntry, ArcError, ArcPolicy, ArcReader, ArcReceipt, Limits as ArcLimits};
use rutter_page::{LineDigest, Timestamp};
use rutter_robots::RobotsTxt;
use rutter_scp::advert::{self, Advert, AdvertisedCollection};
use rutter_scp::{CollectionHeader, CollectionKind, CollectionReader, ReadOptions};
use rutter_site::{
    ALL, ArcEntryVersion, ArcPublication, DateSource, EncodedFile, LedgerRow, LedgerWriter, MAIN,
    Publication, PublishedCollection, Sections, StatePaths, UNKNOWN_DIGEST, Visibility,
};
use rutter_sitemap::{SitemapItem, SitemapLimits, SitemapReader};

use crate::error::{BuildError, IoErrorContext};
use crate::plan::{BuildPlan, SectionRule};
use crate::{address, arc_publication, section};

/// A published version of a page: digest of its line, modification date, and time of the first
/// publication.
#[derive(Debug, Clone, Copy)]
struct PageVersion {
    digest: LineDigest,
    modified: Timestamp,
    recorded: Timestamp,
}

/// Rebuilds the ledger and the publication record from the published files in a folder, and returns
/// the number of public pages.
pub(crate) fn rebuild(
    plan: &BuildPlan,
    folder: &Path,
    paths: &StatePaths,
) -> Result<usize, BuildError> {
    let offers = announced_collections(plan, folder)?;
    if offers.is_empty() {
        let why = "no sitemap in the folder announces collections";
        return Err(BuildError::UnusablePrevious(folder.to_owned(), why.into()));
    }
    let mut groups: BTreeMap<(Timestamp, String, bool), Vec<(AdvertisedCollection, PathBuf)>> =
        BTreeMap::new();
    for (offer, path) in offers {
        let key = (offer.generated, offer.section.clone(), offer.kind == CollectionKind::Snapshot);
        groups.entry(key).or_default().push((offer, path));
    }
    let store = paths.collections();
    fs::create_dir_all(&store).at(&store)?;
    let mut chain = Publication::new(plan.base.as_str());
    let mut versions: BTreeMap<String, Vec<PageVersion>> = BTreeMap::new();
    let mut sections: BTreeMap<String, BTreeMap<String, PageVersion>> = BTreeMap::new();
    let mut removed_pages: BTreeMap<String, (Timestamp, String)> = BTreeMap::new();
    for files in groups.values() {
        let Some((offer, path)) = files.first() else { continue };
        let members = sections.entry(offer.section.clone()).or_default();
        if offer.kind == CollectionKind::Snapshot {
            members.clear();
        }
        let header = read(path, offer.generated, &mut versions, members)?;
        let removed = header.chain.as_ref().map_or(&[][..], |chain| &chain.removed);
        for url in removed {
            members.remove(url);
            removed_pages.insert(url.clone(), (offer.generated, offer.section.clone()));
        }
        chain.collections.push(published_collection(files, &header));
        for (_, path) in files {
            let Some(name) = path.file_name() else { continue };
            fs::copy(path, store.join(name)).at(path)?;
        }
    }
    supersede(&mut chain);
    let only_all = sections.keys().all(|name| name == ALL);
    chain.sections = if plan.sections.is_empty() {
        sections_of_pages(plan, &sections)
    } else {
        section::from_rules(&plan.base, &plan.sections)
    };
    chain.is_given = !plan.sections.is_empty();
    let mut rows: BTreeMap<String, LedgerRow> = BTreeMap::new();
    for (section, members) in &sections {
        if section == ALL && !only_all {
            continue;
        }
        let section = if only_all { MAIN } else { section };
        for (url, version) in members {
            rows.insert(url.clone(), row(url, section, *version, None));
        }
    }
    for (url, (at, section)) in removed_pages {
        let Some(last) = versions.get(&url).and_then(|version| version.last()) else { continue };
        let section = if section == ALL { MAIN } else { &section };
        rows.entry(url.clone()).or_insert_with(|| row(&url, section, *last, Some(at)));
    }
    chain.arc = read_arc_layer(plan, folder, paths, &mut rows)?;
    let ledger = paths.folder.join("ledger.previous");
    let mut out = LedgerWriter::create(&ledger)?;
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

/// Reads the ARC files of a folder and adds to the ledger rows when ARC entries changed, which
/// pages are listed without content, and which pages were removed.
fn read_arc_layer(
    plan: &BuildPlan,
    folder: &Path,
    paths: &StatePaths,
    rows: &mut BTreeMap<String, LedgerRow>,
) -> Result<Option<ArcPublication>, BuildError> {
    let ArcDeltas { days, mut changes, first_published } = read_deltas(folder, paths)?;
    let path = folder.join(arc_publication::SITEMAP);
    if !path.exists() {
        return Ok(None);
    }
    // Entries in no delta count as changed one second before the day of the first stored delta.
    let first = days.first().and_then(|day| delta::parse_day(day));
    let before = first.unwrap_or(plan.now).plus_seconds(-1);
    let receipt = read_arc(&path, &mut |entry| {
        let key = entry.url.key().to_owned();
        let (at, _) = changes.remove(&key).unwrap_or((before, false));
        let digest = Some(LineDigest::of(entry.to_json().as_bytes()));
        let modified = entry.lastmod.unwrap_or(at);
        let row = rows.entry(key).or_insert_with_key(|url| LedgerRow {
            visibility: Visibility::AddressOnly,
            ..row(url, MAIN, PageVersion { digest: UNKNOWN_DIGEST, modified, recorded: at }, None)
        });
        row.arc = ArcEntryVersion { digest, at }.to_string();
    })?;
    for (key, (at, is_removed)) in changes {
        if !is_removed {
            continue;
        }
        let row = rows.entry(key).or_insert_with_key(|url| {
            row(
                url,
                MAIN,
                PageVersion { digest: UNKNOWN_DIGEST, modified: at, recorded: at },
                Some(at),
            )
        });
        row.arc = ArcEntryVersion { digest: None, at }.to_string();
    }
    let Some(changed) = receipt.head.generated_at else { return Ok(None) };
    let policy = File::open(folder.join(arc_publication::POLICY)).ok();
    let policy = policy.and_then(|file| ArcPolicy::read(file, &mut ()).ok().flatten());
    let policy_changed = policy.as_ref().and_then(|policy| policy.updated_at).unwrap_or(changed);
    let policy = policy.map_or_else(String::new, |policy| {
        arc_publication::policy_digest(&ArcPolicy { updated_at: None, ..policy })
    });
    Ok(Some(ArcPublication {
        entries: String::new(),
        head: arc_publication::head_digest(&receipt.head),
        changed,
        policy,
        policy_changed,
        days,
        first_published,
    }))
}

/// The published ARC deltas.
struct ArcDeltas {
    /// Days with a delta, without gaps.
    days: Vec<String>,
    /// Time of the last delta entry for each URL, and whether that entry is a removal.
    changes: BTreeMap<String, (Timestamp, bool)>,
    /// Time of the first publication, which a delta that starts later than its day shows.
    first_published: Option<Timestamp>,
}

/// Reads the ARC deltas of a folder and copies them into the state.
fn read_deltas(folder: &Path, paths: &StatePaths) -> Result<ArcDeltas, BuildError> {
    let store = paths.deltas();
    fs::create_dir_all(&store).at(&store)?;
    let mut days: Vec<String> = Vec::new();
    let mut changes: BTreeMap<String, (Timestamp, bool)> = BTreeMap::new();
    // A delta that starts later than its day was written by the first publication.
    let mut first_published = None;
    let deltas = folder.join(arc_publication::DELTAS);
    let mut names: Vec<PathBuf> = fs::read_dir(&deltas)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    names.sort();
    for path in names {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(day) = name.strip_suffix(".json").filter(|day| delta::parse_day(day).is_some())
        else {
            continue;
        };
        let mut entries: Vec<(String, bool)> = Vec::new();
        // Damaged ARC deltas are ignored.
        let receipt = read_arc(&path, &mut |entry| {
            entries.push((entry.url.key().to_owned(), entry.removed));
        });
        let Some(head) = receipt.ok().map(|receipt| receipt.head) else { continue };
        let Some(until) = head.until else { continue };
        if delta::parse_day(day) < head.since {
            first_published = head.since;
        }
        changes.extend(entries.into_iter().map(|(key, is_removed)| (key, (until, is_removed))));
        fs::copy(&path, store.join(arc_publication::delta_file(day))).at(&path)?;
        days.push(day.to_owned());
    }
    arc_publication::remove_days_before_gap(&mut days);
    Ok(ArcDeltas { days, changes, first_published })
}

/// Reads an ARC file to its end and passes each entry to `take`.
fn read_arc(path: &Path, take: &mut dyn FnMut(&ArcEntry<'_>)) -> Result<ArcReceipt, BuildError> {
    let read_error =
        |error: ArcError| BuildError::UnusablePrevious(path.to_owned(), Box::new(error));
    let file = BufReader::new(File::open(path).at(path)?);
    let mut reader = ArcReader::new(file, ArcLimits::DEFAULT);
    while reader.next(&mut (), |entry| take(&entry)).map_err(read_error)?.is_some() {}
    reader.finish(&mut ()).map_err(read_error)
}

fn row(url: &str, section: &str, version: PageVersion, removed: Option<Timestamp>) -> LedgerRow {
    LedgerRow {
        url: url.to_owned(),
        visibility: if removed.is_some() { Visibility::Removed } else { Visibility::Public },
        section: section.to_owned(),
        digest: version.digest,
        modified: version.modified,
        recorded: version.recorded,
        first_seen: version.recorded,
        removed,
        template: None,
        date_source: DateSource::Collection,
        arc: "-".to_owned(),
    }
}

/// Returns the names of a folder's sitemaps: the usual names and the names in robots.txt.
fn sitemap_names(plan: &BuildPlan, folder: &Path) -> Vec<String> {
    let robots = RobotsTxt::parse(&rutter_root::read(folder, "robots.txt").unwrap_or_default());
    let named = robots.sitemaps().filter_map(|(_, url)| address::path_inside(&plan.base, url));
    // Only XML files are sitemaps; robots.txt also names the ARC sitemap.
    let named = named.filter(|name| name.contains(".xml"));
    let usual = ["sitemap.xml", "sitemap-scp.xml", "sitemap-rutter.xml"];
    usual.into_iter().chain(named).map(str::to_owned).collect()
}

/// Returns the name of a sitemap in the folder that Rutter may have written.
pub(crate) fn built_sitemap(plan: &BuildPlan, folder: &Path) -> Option<String> {
    let mut names = sitemap_names(plan, folder).into_iter();
    names.find(|name| {
        let path = address::regular_file(folder, name);
        path.is_some_and(|path| rutter_site::may_be_own_sitemap(&path))
    })
}

/// Returns the collections that the sitemaps of a folder announce, each with the path of its file.
fn announced_collections(
    plan: &BuildPlan,
    folder: &Path,
) -> Result<Vec<(AdvertisedCollection, PathBuf)>, BuildError> {
    let mut queue = sitemap_names(plan, folder);
    let mut version = BTreeSet::new();
    let mut offers = Vec::new();
    while let Some(name) = queue.pop() {
        if !version.insert(name.clone()) {
            continue;
        }
        let Ok(file) = rutter_root::open(folder, &name) else { continue };
        let path = folder.join(&name);
        let mut reader = SitemapReader::new(BufReader::new(file), SitemapLimits::USUAL);
        let read_error = |error| BuildError::UnusablePrevious(path.clone(), Box::new(error));
        while let Some(item) = reader.next(&mut ()).map_err(read_error)? {
            match item {
                SitemapItem::Child(child) => {
                    let inside = address::path_inside(&plan.base, &child.loc);
                    queue.extend(inside.map(str::to_owned));
                }
                SitemapItem::Foreign(foreign) if foreign.namespace == advert::NAMESPACE => {
                    let attributes: Vec<(&str, &str)> = foreign
                        .attributes
                        .iter()
                        .map(|(name, value)| (name.as_str(), value.as_str()))
                        .collect();
                    let advert = Advert::read(&foreign.name, &attributes, &foreign.text);
                    if let Some(Ok(Advert::Collection(offer))) = advert
                        && let Some(inside) = address::path_inside(&plan.base, &offer.url)
                    {
                        let path = folder.join(inside);
                        offers.push((offer, path));
                    }
                }
                SitemapItem::Url(_) | SitemapItem::Foreign(_) => {}
            }
        }
    }
    Ok(offers)
}

/// Reads a collection to its end, verifies it, and adds its pages to `versions` and `members`.
fn read(
    path: &Path,
    generated: Timestamp,
    versions: &mut BTreeMap<String, Vec<PageVersion>>,
    members: &mut BTreeMap<String, PageVersion>,
) -> Result<CollectionHeader, BuildError> {
    let read_error = |error: rutter_scp::ReadError| {
        BuildError::UnusablePrevious(path.to_owned(), Box::new(error))
    };
    let file = File::open(path).at(path)?;
    let mut reader =
        CollectionReader::open(file, ReadOptions::default(), &mut ()).map_err(read_error)?;
    let header = reader.header().clone();
    loop {
        let taken = reader.next(&mut (), |record| {
            let key = record.page.url.key().to_owned();
            (key, record.digest(), record.page.modified)
        });
        let Some((url, digest, modified)) = taken.map_err(read_error)? else { break };
        let known = versions.entry(url.clone()).or_default();
        let version = match known.iter().find(|version| version.digest == digest) {
            Some(version) => *version,
            None => {
                let version = PageVersion { digest, modified, recorded: generated };
                known.push(version);
                version
            }
        };
        members.insert(url, version);
    }
    reader.finish(&mut ()).map_err(read_error)?;
    Ok(header)
}

fn published_collection(
    files: &[(AdvertisedCollection, PathBuf)],
    header: &CollectionHeader,
) -> PublishedCollection {
    let (offer, _) = files.first().expect("a group is never empty");
    let name = |path: &Path| {
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    };
    let mut coded: Vec<EncodedFile> = files
        .iter()
        .map(|(offer, path)| EncodedFile { name: name(path), bytes: offer.size })
        .collect();
    // The zstd file comes first, as in the publication record of a build.
    coded.sort_by(|one, other| other.name.cmp(&one.name));
    PublishedCollection {
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

/// Sets `superseded` of each collection that is older than a snapshot of its section.
fn supersede(chain: &mut Publication) {
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

/// Returns the sections of the collections, each with the first path segment of its pages as
/// prefix.
fn sections_of_pages(
    plan: &BuildPlan,
    sections: &BTreeMap<String, BTreeMap<String, PageVersion>>,
) -> Sections {
    let mut rules = Vec::new();
    for (name, members) in sections {
        if name == ALL || name == MAIN {
            continue;
        }
        // The index page of the section's folder may have a URL without a final slash, so pages
        // without a segment are skipped.
        let mut inside = members.keys().filter_map(|url| plan.base.strip(url)?.split_once('/'));
        if let Some((segment, _)) = inside.next() {
            let prefix = format!("{}{segment}/", plan.base.path());
            rules.push(SectionRule { name: name.clone(), prefix });
        }
    }
    section::from_rules(&plan.base, &rules)
}
