//! Reads and checks the machine-readable layers of a site once, and stores their
//! statements about pages in the rows.

pub(crate) mod arc;
pub(crate) mod scp;
pub(crate) mod sitemaps;

use std::collections::HashMap;

use rutter_page::Timestamp;
use rutter_robots::RobotsTxt;
use rutter_scp::advert::{AdvertisedCollection, AdvertisedSection};
use rutter_scp::{CollectionHeader, ReadReceipt};
use rutter_spxi::{SemanticIndex, SitemapEntry};

use super::SiteView;
use super::files::SiteFiles;

/// The maximum size in bytes of a file that is read as a whole.
pub(crate) const LARGEST_TEXT: u64 = 64 << 20;

/// The data of machine-readable files that does not belong to a single page.
#[derive(Debug, Default)]
pub(crate) struct MachineFiles {
    pub(crate) robots: Option<(u32, RobotsTxt)>,
    pub(crate) sitemaps: SitemapFiles,
    pub(crate) collections: Vec<CollectionFile>,
    /// Whether a snapshot was read completely.
    pub(crate) has_pages: bool,
    pub(crate) arc: Option<ArcFile>,
    pub(crate) days: Vec<ArcDelta>,
    pub(crate) index: Option<(u32, SemanticIndex)>,
    pub(crate) llms: Vec<(u32, String)>,
    places: FileIndices,
}

/// The data of the sitemaps.
#[derive(Debug, Default)]
pub(crate) struct SitemapFiles {
    /// The sitemap files in the order in which they were read.
    pub(crate) files: Vec<u32>,
    /// Every sitemap entry with the index of its file.
    pub(crate) listed: Vec<(u32, SitemapEntry)>,
    /// Elements of other namespaces: index of the file, line, namespace.
    pub(crate) foreign: Vec<(u32, u64, String)>,
    /// Whether a sitemap could not be read completely.
    pub(crate) is_cut: bool,
    pub(crate) adverts: Vec<CollectionAdvert>,
    pub(crate) sections: Vec<(u32, u64, AdvertisedSection)>,
    pub(crate) codings: Option<(u32, u64, Vec<String>)>,
}

/// Lookup tables of collections and their `scp:` elements by file.
#[derive(Debug, Default)]
struct FileIndices {
    /// The index of the first `scp:` element of each file.
    adverts: HashMap<u32, usize>,
    /// The indices of the collection files that have the same name in different codings.
    codings: HashMap<String, Vec<usize>>,
}

/// Returns the path of a collection without its extensions.
pub(crate) fn stem(path: &str) -> &str {
    path.find(".scp").and_then(|at| path.get(..at)).unwrap_or(path)
}

impl MachineFiles {
    /// Fills the lookup tables once all collections are known.
    fn note_places(&mut self, files: &SiteFiles) {
        let mut places = FileIndices::default();
        for (idx, one) in self.sitemaps.adverts.iter().enumerate() {
            if let Some(file) = one.file {
                places.adverts.entry(file).or_insert(idx);
            }
        }
        for (idx, held) in self.collections.iter().enumerate() {
            let stem = stem(files.path(held.file)).to_owned();
            places.codings.entry(stem).or_default().push(idx);
        }
        self.places = places;
    }

    /// Returns the `scp:` element of a collection.
    fn advert_of(&self, file: u32) -> Option<&CollectionAdvert> {
        self.sitemaps.adverts.get(*self.places.adverts.get(&file)?)
    }

    /// Returns the file of the same collection in another coding, if that file was verified.
    fn other_coding(&self, files: &SiteFiles, file: u32) -> Option<&CollectionFile> {
        let codings = self.places.codings.get(stem(files.path(file)))?;
        let mut held = codings.iter().filter_map(|idx| self.collections.get(*idx));
        held.find(|other| other.file != file && other.receipt.is_some())
    }
}

/// A collection that a sitemap advertises.
#[derive(Debug)]
pub(crate) struct CollectionAdvert {
    pub(crate) advert: AdvertisedCollection,
    pub(crate) sitemap: u32,
    pub(crate) line: u64,
    pub(crate) file: Option<u32>,
}

/// A collection file of the site.
#[derive(Debug)]
pub(crate) struct CollectionFile {
    pub(crate) file: u32,
    pub(crate) header: Option<CollectionHeader>,
    pub(crate) receipt: Option<ReadReceipt>,
}

/// The ARC sitemap of the site.
#[derive(Debug)]
pub(crate) struct ArcFile {
    pub(crate) file: u32,
    pub(crate) head: rutter_arc::SitemapHeader,
    /// The latest date of the entries.
    pub(crate) latest: Option<Timestamp>,
    /// A hash of all entries.
    pub(crate) sum: u64,
}

/// A dated ARC delta.
#[derive(Debug)]
pub(crate) struct ArcDelta {
    pub(crate) file: u32,
    pub(crate) name: String,
    /// For each entry: URL, hash, whether the page is removed, and index.
    pub(crate) entries: Vec<(Box<str>, u64, bool, u64)>,
}

impl SiteView<'_> {
    /// Reads every layer.
    pub(crate) fn read_layers(&mut self) {
        self.read_robots();
        self.read_sitemaps();
        let left = self.read_collections();
        let twofold: Vec<scp::CodingPair> =
            left.iter().filter_map(|idx| self.twofold(*idx)).collect();
        // Compare the files in other codings while the other layers are read.
        let files = self.files;
        let same = std::thread::scope(|scope| {
            let comparing = scope.spawn(|| {
                let size = |it: &scp::CodingPair| Some((it.file, it.size_if_same(files)?));
                twofold.iter().filter_map(size).collect::<HashMap<u32, u64>>()
            });
            self.read_arc();
            self.read_index();
            self.read_llms();
            self.find_twins();
            comparing.join().unwrap_or_default()
        });
        self.read_rest(left, &same);
    }
}
