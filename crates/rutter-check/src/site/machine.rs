//! What the machine-readable layers of a site say, read once: each file is
//! judged on the way, and what it says of pages goes to their rows.

mod arc;
mod scp;
mod signs;

use std::collections::HashMap;

use rutter_page::Timestamp;
use rutter_scp::advert::{Collection, Section};
use rutter_scp::{Header, Receipt};
use rutter_signpost::robots::Robots;
use rutter_spxi::{Index, Listed};

use super::View;
use super::files::Files;

/// Largest file of signposts that is read as a whole, in bytes.
pub(crate) const LARGEST_TEXT: u64 = 64 << 20;

/// What was read beside rows.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub(crate) robots: Option<(u32, Robots)>,
    /// Files of sitemaps that were read, in the order they were.
    pub(crate) sitemaps: Vec<u32>,
    /// Every entry of every sitemap, and the file it stands in.
    pub(crate) listed: Vec<(u32, Listed)>,
    /// Elements of other namespaces: file, line, namespace.
    pub(crate) foreign: Vec<(u32, u64, String)>,
    /// Whether a sitemap could not be read to its end.
    pub(crate) is_cut: bool,
    pub(crate) adverts: Vec<Advertised>,
    pub(crate) sections: Vec<(u32, u64, Section)>,
    pub(crate) codings: Option<(u32, u64, Vec<String>)>,
    pub(crate) collections: Vec<Held>,
    /// Whether any snapshot was read to its end.
    pub(crate) has_pages: bool,
    pub(crate) arc: Option<ArcFile>,
    pub(crate) days: Vec<Day>,
    pub(crate) index: Option<(u32, Index)>,
    pub(crate) llms: Vec<(u32, String)>,
    places: Places,
}

/// Where to find collections and what is said of them without going through
/// all of them.
#[derive(Debug, Default)]
struct Places {
    /// The first advert of each file.
    adverts: HashMap<u32, usize>,
    /// The codings of each collection.
    codings: HashMap<String, Vec<usize>>,
}

/// The path of a collection without its endings.
pub(crate) fn stem(path: &str) -> &str {
    path.find(".scp").and_then(|at| path.get(..at)).unwrap_or(path)
}

impl Machine {
    /// Notes where everything stands, once all collections are known.
    fn note_places(&mut self, files: &Files) {
        let mut places = Places::default();
        for (idx, one) in self.adverts.iter().enumerate() {
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

    /// What the sitemap says of a collection.
    fn advert_of(&self, file: u32) -> Option<&Advertised> {
        self.adverts.get(*self.places.adverts.get(&file)?)
    }

    /// The same collection in another coding, if that was verified.
    fn other_coding(&self, files: &Files, file: u32) -> Option<&Held> {
        let codings = self.places.codings.get(stem(files.path(file)))?;
        let mut held = codings.iter().filter_map(|idx| self.collections.get(*idx));
        held.find(|other| other.file != file && other.receipt.is_some())
    }
}

/// A collection that a sitemap names.
#[derive(Debug)]
pub(crate) struct Advertised {
    pub(crate) advert: Collection,
    pub(crate) sitemap: u32,
    pub(crate) line: u64,
    pub(crate) file: Option<u32>,
}

/// A file that is a collection.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) file: u32,
    pub(crate) header: Option<Header>,
    pub(crate) receipt: Option<Receipt>,
}

/// The ARC sitemap.
#[derive(Debug)]
pub(crate) struct ArcFile {
    pub(crate) file: u32,
    pub(crate) head: rutter_arc::Head,
    /// The latest date in it.
    pub(crate) latest: Option<Timestamp>,
    /// A number of everything it says of pages.
    pub(crate) sum: u64,
}

/// The changes of a day.
#[derive(Debug)]
pub(crate) struct Day {
    pub(crate) file: u32,
    pub(crate) name: String,
    /// What it says: address, number of the entry, whether it is gone, where.
    pub(crate) said: Vec<(Box<str>, u64, bool, u64)>,
}

impl View<'_> {
    /// Reads every layer.
    pub(crate) fn read_layers(&mut self) {
        self.read_robots();
        self.read_sitemaps();
        let left = self.read_collections();
        let twofold: Vec<scp::Twofold> = left.iter().filter_map(|idx| self.twofold(*idx)).collect();
        // Other codings are compared while other layers are read.
        let files = self.files;
        let same = std::thread::scope(|scope| {
            let comparing = scope.spawn(|| {
                let size = |it: &scp::Twofold| Some((it.file, it.size_if_same(files)?));
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
