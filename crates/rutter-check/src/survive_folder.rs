//! Follows the SPXI markers of a site through all published layers.
//!
//! Input: a published folder with the semantic index, pages, Markdown twins, collections and ARC
//! sitemap. Output: the markers that survive in each layer. A missing or invalid layer counts as
//! absent. Files outside the folder are never read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader};
use std::path::Path;

use rutter_extract::{ExtractOptions, Extraction, decoded, html};
use rutter_finding::Refusal;
use rutter_page::{IntoOwned, Page, PageUrl, Timestamp};
use rutter_report::Overview;
use rutter_report::overview::EntitySurvival;
use rutter_scp::advert::{self, Advert, AdvertisedCollection};
use rutter_sitemap::{SitemapItem, SitemapLimits, SitemapReader};
use rutter_spxi::survival::{MarkerSearch, PageTexts, PathStage, PathTexts, SiteSurvival, trace};
use rutter_spxi::{INDEX_FILE, MAX_INDEX_BYTES, SemanticIndex, read_index, without_fragment};

use crate::site::{LARGEST_PAGE, SiteBase, SiteFiles, stem};

/// The maximum number of collections that are read.
const MOST_COLLECTIONS: usize = 1000;

/// The survival of the markers in a published folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderSurvival {
    /// The survival of each entity.
    pub survivals: SiteSurvival,
    /// URLs of entities whose page is not in the folder.
    pub missing: Vec<String>,
}

impl FolderSurvival {
    /// Adds the survival of each entity to the overview of a run.
    pub fn add_to(&self, overview: &mut Overview) {
        for entity in &self.survivals.entities {
            let step = |stage: PathStage| {
                let share = entity.share(stage)?;
                Some((stage.word(), share.kept as u64, share.of as u64))
            };
            overview.survival.push(EntitySurvival {
                entity: entity.name.clone(),
                steps: PathStage::ALL.into_iter().filter_map(step).collect(),
            });
        }
    }
}

/// The reason why a folder cannot be checked for markers.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurviveError {
    /// The index cannot be read.
    #[error("cannot read {INDEX_FILE}")]
    Io(#[source] io::Error),
    /// The index is invalid.
    #[error("{INDEX_FILE} is not a valid index")]
    Index(#[source] Refusal),
}

/// Reads the semantic index, which must be a regular file within the size limit (D89).
fn read_bounded(files: &SiteFiles) -> io::Result<Vec<u8>> {
    let absent = || io::Error::new(io::ErrorKind::NotFound, "no such file");
    let at = files.find(INDEX_FILE).ok_or_else(absent)?;
    files.read(at, MAX_INDEX_BYTES as u64)?.ok_or_else(|| io::ErrorKind::FileTooLarge.into())
}

/// Finds the markers of every entity in the layers of a published folder.
pub fn survive_folder(dir: &Path, now: Timestamp) -> Result<FolderSurvival, SurviveError> {
    let files = SiteFiles::walk(dir, &mut Vec::new()).map_err(SurviveError::Io)?;
    let bytes = read_bounded(&files).map_err(SurviveError::Io)?;
    let index = read_index(&bytes, &mut ()).map_err(SurviveError::Index)?;
    let Some(home) = SiteBase::of_index(&index) else {
        return Ok(followed(&index, &BTreeMap::new()));
    };
    let mut pages: BTreeMap<String, PublishedPage> = BTreeMap::new();
    for url in index.entities.iter().filter_map(|entity| page_of(entity.id.as_deref()?)) {
        if let Some(published) = PublishedPage::read(&files, &home, &url, now) {
            pages.insert(url, published);
        }
    }
    blocks(&files, &home, &mut pages);
    summaries(&files, &mut pages);
    Ok(followed(&index, &pages))
}

/// Returns the URL of the page of an entity.
fn page_of(id: &str) -> Option<String> {
    PageUrl::parse(without_fragment(id)).ok().map(|url| url.key().to_owned())
}

fn followed(index: &SemanticIndex, pages: &BTreeMap<String, PublishedPage>) -> FolderSurvival {
    let all = index.entities.iter().flat_map(|entity| &entity.markers);
    let markers = MarkerSearch::new(all.map(String::as_str));
    let kernel = index.kernel.as_ref().and_then(|kernel| kernel.summary.as_deref());
    let mut survived = FolderSurvival::default();
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
        let places = PageTexts {
            visible: &shown,
            metas: metas.chain([page.seen.page.title.as_ref()]).collect(),
            json_ld: page.seen.facts.json_ld.iter().map(String::as_str).collect(),
        };
        let texts = PathTexts {
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

/// The published forms of a page.
struct PublishedPage {
    document: String,
    seen: Extraction,
    twin: Option<String>,
    blocks: Option<Page<'static>>,
    summary: Option<String>,
}

impl PublishedPage {
    fn read(files: &SiteFiles, home: &SiteBase, url: &str, now: Timestamp) -> Option<Self> {
        let at = files.resolve(home, url)?;
        let small = |at: u32| files.read(at, LARGEST_PAGE).ok().flatten();
        let bytes = small(at)?;
        let options = ExtractOptions::new(PageUrl::parse(url.to_owned()).ok()?, now);
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

/// Reads the pages of the collections that the sitemap lists, the newest collection last.
fn blocks(files: &SiteFiles, home: &SiteBase, pages: &mut BTreeMap<String, PublishedPage>) {
    let mut offered = offers(files);
    offered.sort_by_key(|offer| offer.generated);
    let mut read: BTreeSet<&str> = BTreeSet::new();
    for offer in offered {
        let Some(at) = files.resolve(home, &offer.url) else { continue };
        // Two codings of one collection contain the same pages.
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

fn offers(files: &SiteFiles) -> Vec<AdvertisedCollection> {
    let mut offered = Vec::new();
    let sitemap = files.find("sitemap.xml").and_then(|at| files.open(at).ok());
    let Some((sitemap, _)) = sitemap else { return offered };
    let mut reader = SitemapReader::new(BufReader::new(sitemap), SitemapLimits::USUAL);
    while let Ok(Some(item)) = reader.next(&mut ()) {
        let SitemapItem::Foreign(foreign) = item else { continue };
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

/// Returns the pages of a valid collection that are wanted.
fn pages_of(
    files: &SiteFiles,
    at: u32,
    wanted: &BTreeMap<String, PublishedPage>,
) -> Option<Vec<Page<'static>>> {
    let (input, size) = files.open(at).ok()?;
    let options = rutter_scp::ReadOptions { size, ..rutter_scp::ReadOptions::default() };
    let mut reader = rutter_scp::CollectionReader::open(input, options, &mut ()).ok()?;
    let mut found = Vec::new();
    let take = |record: rutter_scp::PageRecord<'_>| {
        wanted.contains_key(record.page.url.key()).then(|| record.page.into_owned())
    };
    while let Some(page) = reader.next(&mut (), take).ok()? {
        found.extend(page);
    }
    reader.finish(&mut ()).ok()?;
    Some(found)
}

/// Reads the summaries of pages from the ARC sitemap.
fn summaries(files: &SiteFiles, pages: &mut BTreeMap<String, PublishedPage>) {
    let arc = files.find("arc-sitemap.json").and_then(|at| files.open(at).ok());
    let Some((arc, _)) = arc else { return };
    let mut reader = rutter_arc::ArcReader::new(BufReader::new(arc), rutter_arc::Limits::DEFAULT);
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
            // A sitemap that is incomplete or invalid is ignored.
            Err(_) => return,
        }
    }
    for (url, summary) in found {
        if let Some(page) = pages.get_mut(&url) {
            page.summary = Some(summary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overview_omits_steps_that_do_not_exist() {
        let markers = MarkerSearch::new(["built in 1890", "tide clock"]);
        let places = PageTexts { visible: "It was built in 1890.", ..PageTexts::default() };
        let texts =
            PathTexts { places: Some(places), summary: Some("Old."), ..PathTexts::default() };
        let entity = trace(&markers, ("Low Light", "https://a.example/"), &[0, 1], &texts);
        let survivals = SiteSurvival { entities: vec![entity] };
        let mut overview = Overview::default();
        FolderSurvival { survivals, missing: Vec::new() }.add_to(&mut overview);
        let steps = &overview.survival.first().unwrap().steps;
        let of = |name: &str| steps.iter().find(|(step, ..)| step == name).map(|it| (it.1, it.2));
        assert_eq!((of("visible"), of("summary"), of("twin")), (Some((1, 2)), Some((0, 2)), None));
    }
}
