//! What came of a build, for whoever asked for it.

use rutter_finding::Finding;

/// Hears what happens while a site is built.
pub trait Listener {
    /// Something is wrong with a file or a page.
    fn finding(&mut self, place: &str, finding: &Finding);

    /// Something the owner may want to know.
    fn says(&mut self, message: &str);

    /// How many of the pages are read.
    fn progress(&mut self, done: usize, of: usize);

    /// A page is left out.
    fn excluded(&mut self, page: &ExcludedPage<'_>) {
        let _ = page;
    }
}

/// A page that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExcludedPage<'a> {
    /// Its file, or its address.
    pub page: &'a str,
    /// As in [`Excluded::reason`].
    pub reason: &'static str,
    /// What says so: `meta article:published_time 2030-01-01T00:00:00Z`; empty
    /// for a page that was read by an older version.
    pub source: &'a str,
}

/// Why pages are left out, with their number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excluded {
    /// In a few words: `noindex`, `needs a login`.
    pub reason: &'static str,
    /// How many pages.
    pub pages: u64,
}

/// A file that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Made {
    /// Pages in it.
    pub pages: u64,
    /// Its size in the first coding on offer.
    pub bytes: u64,
}

/// What a build made for a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionOutcome {
    /// Its name.
    pub name: String,
    /// Pages in it now.
    pub pages: u64,
    /// The snapshot, where one was due.
    pub snapshot: Option<Made>,
    /// The delta, where something changed.
    pub delta: Option<Made>,
    /// Removals the delta tells of.
    pub removed: u64,
}

/// What came of a build.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Pages in the collections.
    pub pages: u64,
    /// Of those, pages that were not there before.
    pub new: u64,
    /// Of those, pages whose content is another than before.
    pub changed: u64,
    /// Pages that went away, or may no longer be shown.
    pub removed: u64,
    /// Of the changed ones, those whose source is the same: another version of
    /// Rutter or another template reads them differently.
    pub read_differently: u64,
    /// Pages that were read rather than taken from the cache.
    pub read: u64,
    /// Why other pages are left out.
    pub excluded: Vec<Excluded>,
    /// Of those, pages that need a login.
    pub closed: u64,
    /// The first of them by name, at most [`Outcome::CLOSED_NAMED`].
    pub closed_pages: Vec<String>,
    /// The first pages that ask for a password, at most
    /// [`Outcome::CLOSED_NAMED`]. The setting `approved` publishes them.
    pub password_pages: Vec<String>,
    /// Files that could not be read.
    pub failed: u64,
    /// Folders and files of the site that cannot be read and whose published
    /// files are kept as they were.
    pub unreadable: u64,
    /// Bytes of the sources.
    pub source_bytes: u64,
    /// By section, `all` last.
    pub sections: Vec<SectionOutcome>,
    /// Template versions learned in this build.
    pub learned: usize,
    /// Files written or replaced.
    pub written: u64,
    /// Files taken away.
    pub deleted: u64,
    /// Whether there are no twins because there are too many pages.
    pub is_without_twins: bool,
    /// Findings, by code, with their number.
    pub findings: Vec<(&'static str, u64)>,
}

impl Outcome {
    /// How many pages that need a login are named.
    pub const CLOSED_NAMED: usize = 3;

    /// Whether nothing was written at all.
    pub fn is_unchanged(&self) -> bool {
        self.written == 0 && self.deleted == 0
    }
}
