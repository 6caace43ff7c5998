//! Follows the markers of a site through everything that is published of it.
//!
//! From a folder come the index, the pages, their Markdown twins, the blocks of
//! the collections the sitemap names, and the summaries of the ARC sitemap.
//! What is not there is a step that does not exist; what is broken is judged
//! elsewhere, and counts as not there.
//!
//! Refuses: to leave the folder, whatever an address says.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader};
use std::path::Path;

use rutter_extract::{Extraction, Options, decoded, html};
use rutter_finding::Refusal;
use rutter_page::{Own, Page, PageUrl, Timestamp};
use rutter_scp::advert::{self, Advert, Collection};
use rutter_signpost::sitemap::{Item, Limits, Reader};
use rutter_spxi::{INDEX, Index, LARGEST_INDEX, read_index, without_fragment};
use rutter_survival::{Markers, Places, Survivals, Texts, trace};

use crate::site::{Files, Home, LARGEST_PAGE, stem};

/// Most collections that are read.
const MOST_COLLECTIONS: usize = 1000;

/// What became of the markers of a published folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survived {
    /// Entity by entity.
    pub survivals: Survivals,
    /// Addresses of entities whose page is not in the folder.
    pub missing: Vec<String>,
}

/// Why a folder cannot be looked through.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurviveError {
    /// The index cannot be read.
    #[error("{INDEX} cannot be read")]
    Io(#[source] io::Error),
    /// The index is none.
    #[error("{INDEX} cannot be used")]
    Index(#[source] Refusal),
}

/// Reads an index; a pipe is none, nor is what is larger than one may be (D89).
fn read_bounded(files: &Files) -> io::Result<Vec<u8>> {
    let absent = || io::Error::new(io::ErrorKind::NotFound, "there is no such file");
    let at = files.find(INDEX).ok_or_else(absent)?;
    files.read(at, LARGEST_INDEX as u64)?.ok_or_else(|| io::ErrorKind::FileTooLarge.into())
}

/// Looks for the markers of every entity of a published folder.
pub fn survive_folder(dir: &Path, now: Timestamp) -> Result<Survived, SurviveError> {
    let files = Files::walk(dir, &mut Vec::new()).map_err(SurviveError::Io)?;
    let bytes = read_bounded(&files).map_err(SurviveError::Io)?;
    let index = read_index(&bytes, &mut ()).map_err(SurviveError::Index)?;
    let Some(home) = Home::of_index(&index) else {
        return Ok(followed(&index, &BTreeMap::new()));
    };
    let mut pages: BTreeMap<String, Published> = BTreeMap::new();
    for url in index.entities.iter().filter_map(|entity| page_of(entity.id.as_deref()?)) {
        if let Some(published) = Published::read(&files, &home, &url, now) {
            pages.insert(url, published);
        }
    }
    blocks(&files, &home, &mut pages);
    summaries(&files, &mut pages);
    Ok(followed(&index, &pages))
}

/// The address of an entity's page.
fn page_of(id: &str) -> Option<String> {
    PageUrl::parse(without_fragment(id)).ok().map(|url| url.key().to_owned())
}

fn followed(index: &Index, pages: &BTreeMap<String, Published>) -> Survived {
    let all = index.entities.iter().flat_map(|entity| &entity.markers);
    let markers = Markers::new(all.map(String::as_str));
    let kernel = index.kernel.as_ref().and_then(|kernel| kernel.summary.as_deref());
    let mut survived = Survived::default();
    let mut first = 0;
    for entity in &index.entities {
        let wanted: Vec<usize> = (first..first + entity.markers.len()).collect();
        first += entity.markers.len();
        let id = entity.id.as_deref().unwrap_or_default();
        let name = entity.name.as_deref().unwrap_or(id);
        let Some(page) = page_of(id).and_then(|url| pages.get(&url)) else {
            survived.missing.push(id.to_owned());
            continue;
        };
        let shown = page.seen.shown_text();
        let metas = page.seen.facts.metas.iter().map(|(_, content)| content.as_str());
        let places = Places {
            visible: &shown,
            metas: metas.chain([page.seen.page.title.as_ref()]).collect(),
            json_ld: page.seen.facts.json_ld.iter().map(String::as_str).collect(),
        };
        let texts = Texts {
            document: Some(&page.document),
            places: Some(places),
            page: page.blocks.as_ref(),
            twin: page.twin.as_deref(),
            summary: page.summary.as_deref(),
            kernel,
        };
        survived.survivals.entities.push(trace(&markers, (name, id), &wanted, &texts));
    }
    survived
}

/// What is published of a page.
struct Published {
    document: String,
    seen: Extraction,
    twin: Option<String>,
    blocks: Option<Page<'static>>,
    summary: Option<String>,
}

impl Published {
    fn read(files: &Files, home: &Home, url: &str, now: Timestamp) -> Option<Self> {
        let at = files.resolve(home, url)?;
        let small = |at: u32| files.read(at, LARGEST_PAGE).ok().flatten();
        let bytes = small(at)?;
        let options = Options::new(PageUrl::parse(url.to_owned()).ok()?, now);
        let twin = files.twin_of(at).and_then(small);
        Some(Self {
            document: decoded(&bytes).into_owned(),
            seen: html(&bytes, &options),
            twin: twin.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            blocks: None,
            summary: None,
        })
    }
}

/// Takes the pages of the collections that the sitemap names, the newest last.
fn blocks(files: &Files, home: &Home, pages: &mut BTreeMap<String, Published>) {
    let mut offered = offers(files);
    offered.sort_by_key(|offer| offer.generated);
    let mut read: BTreeSet<&str> = BTreeSet::new();
    for offer in offered {
        let Some(at) = files.resolve(home, &offer.url) else { continue };
        // The same collection in two codings is one.
        let stem = stem(files.path(at));
        if read.contains(stem) {
            continue;
        }
        if let Some(found) = pages_of(files, at, pages) {
            for page in found {
                if let Some(published) = pages.get_mut(page.url.key()) {
                    published.blocks = Some(page);
                }
            }
            read.insert(stem);
        }
    }
}

fn offers(files: &Files) -> Vec<Collection> {
    let mut offered = Vec::new();
    let sitemap = files.find("sitemap.xml").and_then(|at| files.open(at).ok());
    let Some((sitemap, _)) = sitemap else { return offered };
    let mut reader = Reader::new(BufReader::new(sitemap), Limits::USUAL);
    while let Ok(Some(item)) = reader.next(&mut ()) {
        let Item::Foreign(foreign) = item else { continue };
        if foreign.namespace != advert::NAMESPACE || MOST_COLLECTIONS <= offered.len() {
            continue;
        }
        let attributes = foreign.attributes.iter();
        let attributes: Vec<(&str, &str)> =
            attributes.map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let advert = Advert::read(&foreign.name, &attributes, &foreign.text);
        if let Some(Ok(Advert::Collection(offer))) = advert {
            offered.push(offer);
        }
    }
    offered
}

/// The wanted pages of a collection that is whole.
fn pages_of(
    files: &Files,
    at: u32,
    wanted: &BTreeMap<String, Published>,
) -> Option<Vec<Page<'static>>> {
    let (input, size) = files.open(at).ok()?;
    let options = rutter_scp::Options { size, ..rutter_scp::Options::default() };
    let mut reader = rutter_scp::Reader::open(input, options, &mut ()).ok()?;
    let mut found = Vec::new();
    let take = |record: rutter_scp::Record<'_>| {
        wanted.contains_key(record.page.url.key()).then(|| record.page.own())
    };
    while let Some(page) = reader.next(&mut (), take).ok()? {
        found.extend(page);
    }
    reader.finish(&mut ()).ok()?;
    Some(found)
}

/// Takes the summaries of the ARC sitemap.
fn summaries(files: &Files, pages: &mut BTreeMap<String, Published>) {
    let arc = files.find("arc-sitemap.json").and_then(|at| files.open(at).ok());
    let Some((arc, _)) = arc else { return };
    let mut reader = rutter_arc::Reader::new(BufReader::new(arc), rutter_arc::Limits::USUAL);
    let mut found = Vec::new();
    loop {
        let next = reader.next(&mut (), |entry| {
            let url = entry.url.key().to_owned();
            let summary = entry.ai_summary.as_deref()?.to_owned();
            pages.contains_key(&url).then_some((url, summary))
        });
        match next {
            Ok(Some(entry)) => found.extend(entry),
            Ok(None) => break,
            // Half a sitemap is none.
            Err(_) => return,
        }
    }
    for (url, summary) in found {
        if let Some(page) = pages.get_mut(&url) {
            page.summary = Some(summary);
        }
    }
}
