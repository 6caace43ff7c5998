//! Follows the markers of a site through everything that is published of it.
//!
//! From a folder come the index, the pages, their Markdown twins, the blocks of
//! the collections the sitemap names, and the summaries of the ARC sitemap.
//! What is not there is a step that does not exist; what is broken is judged
//! elsewhere, and counts as not there.
//!
//! Refuses: to leave the folder, whatever an address says.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use rutter_extract::{Extraction, Options, decoded, html};
use rutter_finding::Refusal;
use rutter_page::{Own, Page, PageUrl, Timestamp};
use rutter_scp::advert::{self, Advert, Collection};
use rutter_signpost::sitemap::{Item, Limits, Reader};
use rutter_spxi::{INDEX, Index, LARGEST_INDEX, read_index, without_fragment};
use rutter_survival::{Markers, Places, Survivals, Texts, trace};

use crate::spxi_folder::{LARGEST_PAGE, file_of, home_of};

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
fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST_INDEX as u64 + 1).read_to_end(&mut bytes)?;
    if LARGEST_INDEX < bytes.len() { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

/// Looks for the markers of every entity of a published folder.
pub fn survive_folder(dir: &Path, now: Timestamp) -> Result<Survived, SurviveError> {
    let bytes = read_bounded(&dir.join(INDEX)).map_err(SurviveError::Io)?;
    let index = read_index(&bytes, &mut ()).map_err(SurviveError::Index)?;
    let home = home_of(&index).unwrap_or_default();
    let mut pages: BTreeMap<String, Published> = BTreeMap::new();
    for url in index.entities.iter().filter_map(|entity| page_of(entity.id.as_deref()?)) {
        if let Some(published) = Published::read(dir, &home, &url, now) {
            pages.insert(url, published);
        }
    }
    blocks(dir, &home, &mut pages);
    summaries(dir, &mut pages);
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
    fn read(dir: &Path, home: &str, url: &str, now: Timestamp) -> Option<Self> {
        let path = file_of(dir, home, url)?;
        let bytes = small(&path)?;
        let options = Options::new(PageUrl::parse(url.to_owned()).ok()?, now);
        let twin = small(&path.with_extension("md"));
        Some(Self {
            document: decoded(&bytes).into_owned(),
            seen: html(&bytes, &options),
            twin: twin.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            blocks: None,
            summary: None,
        })
    }
}

fn small(path: &Path) -> Option<Vec<u8>> {
    let is_small = fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= LARGEST_PAGE);
    if is_small { fs::read(path).ok() } else { None }
}

/// Takes the pages of the collections that the sitemap names, the newest last.
fn blocks(dir: &Path, home: &str, pages: &mut BTreeMap<String, Published>) {
    let mut offered = offers(&dir.join("sitemap.xml"));
    offered.sort_by_key(|offer| offer.generated);
    let mut read: Vec<PathBuf> = Vec::new();
    for offer in offered {
        let Some(path) = file_of(dir, home, &offer.url) else { continue };
        // The same collection in two codings is one.
        let stem = path.with_extension("");
        if read.contains(&stem) {
            continue;
        }
        if let Some(found) = pages_of(&path, pages) {
            for page in found {
                if let Some(published) = pages.get_mut(page.url.key()) {
                    published.blocks = Some(page);
                }
            }
            read.push(stem);
        }
    }
}

fn offers(sitemap: &Path) -> Vec<Collection> {
    let mut offered = Vec::new();
    let Ok(file) = File::open(sitemap) else { return offered };
    let mut reader = Reader::new(BufReader::new(file), Limits::USUAL);
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
fn pages_of(path: &Path, wanted: &BTreeMap<String, Published>) -> Option<Vec<Page<'static>>> {
    let file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let options = rutter_scp::Options { size: Some(size), ..rutter_scp::Options::default() };
    let mut reader = rutter_scp::Reader::open(file, options, &mut ()).ok()?;
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
fn summaries(dir: &Path, pages: &mut BTreeMap<String, Published>) {
    let Ok(file) = File::open(dir.join("arc-sitemap.json")) else { return };
    let mut reader = rutter_arc::Reader::new(BufReader::new(file), rutter_arc::Limits::USUAL);
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
