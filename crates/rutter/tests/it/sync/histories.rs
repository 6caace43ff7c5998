//! Random histories of a site, and a replica that follows them.
//!
//! Pages come, change, go, come back as they were or otherwise, move, are
//! closed to machines and opened again; builds are missed, old collections
//! are taken off the server, months pass, the replica or the publisher's state
//! is lost. A reader of the history of the replica has the same pages.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use rutter_build::SectionRule;
use rutter_scp::MassDeletionPolicy;
use rutter_store::prelude::*;
use rutter_store::{
    ChangeCursor, ChangeKind, CheckDepth, PageSelection, SqliteStore, StoreOptions,
};
use rutter_sync::plan::PlanPolicy;
use rutter_sync::{SyncOptions, SyncReport};

use super::{Harbour, replicated};

/// Default number of steps of a history.
const STEPS: u64 = 100;
/// Steps from which on a history is long.
const LONG: u64 = 500;
/// Events of each long history, with any offer.
const HAPPENS: [&str; 14] = [
    "added",
    "written",
    "removed",
    "moved",
    "closed",
    "opened",
    "months passed",
    "collection lost",
    "replica lost",
    "state lost",
    "nothing taken",
    "snapshot taken",
    "delta taken",
    "chain taken",
];
/// Addresses a site may have.
const ADDRESSES: u64 = 40;
/// Pages it has at least, so that no removal takes half of them.
const FEWEST: usize = 14;
const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

/// Pages by address, with the digest of their line.
type Pages = BTreeMap<String, String>;

/// How a site is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offer {
    /// All pages in one collection, with states and removals (D95).
    Whole,
    /// Sections alone, likewise.
    Sections,
    /// Plain SCP: deltas have no removals, so each has a snapshot, too.
    Plain,
}

/// Whether a page may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consent {
    Given,
    /// Not to be found, by anybody.
    NoIndex,
    /// Not for AI, also in the ARC sitemap.
    NoAi,
}

/// A site, its past, and a replica of it.
struct History {
    harbour: Harbour,
    offer: Offer,
    random: Random,
    pages: BTreeMap<u64, (u64, Consent)>,
    store: Arc<dyn Store>,
    n_replicas: u64,
    /// The pages of a reader who follows the history of the replica.
    follower: (Option<ChangeCursor>, Pages),
    /// Whether the server lacks collections that are announced.
    is_torn: bool,
    /// What happened, by name: a history that lacks something proves nothing.
    told: BTreeMap<&'static str, u64>,
}

impl History {
    fn new(offer: Offer, seed: u64) -> Self {
        let mut harbour = Harbour::new();
        harbour.layers.all = offer != Offer::Sections;
        harbour.layers.chain = offer != Offer::Plain;
        // The guard against mass deletion is not the subject; where a section
        // is cut in two, it would speak.
        let mass_deletion = match offer {
            Offer::Sections => MassDeletionPolicy::Allowed,
            _ => MassDeletionPolicy::Refused,
        };
        // Where requests cost nothing, long chains of deltas are taken; where
        // they do, snapshots.
        let request = if seed.is_multiple_of(2) { PlanPolicy::DEFAULT.request } else { 0 };
        harbour.options = SyncOptions {
            mass_deletion,
            policy: PlanPolicy { request, ..PlanPolicy::DEFAULT },
            ..SyncOptions::default()
        };
        let store = open(&harbour, 0);
        let mut history = Self {
            harbour,
            offer,
            random: Random::new(seed),
            pages: BTreeMap::new(),
            store,
            n_replicas: 1,
            follower: (None, Pages::new()),
            is_torn: false,
            told: BTreeMap::new(),
        };
        history.harbour.put("index.html", &page(1000, 0, Consent::Given));
        for n in 0..24 {
            history.write(n, 0, Consent::Given);
        }
        history.arrange();
        history
    }

    fn tell(&mut self, what: &'static str) {
        *self.told.entry(what).or_default() += 1;
    }

    fn write(&mut self, n: u64, version: u64, consent: Consent) {
        self.harbour.put(&name(n), &page(n, version, consent));
        self.pages.insert(n, (version, consent));
    }

    fn remove(&mut self, n: u64) -> Option<(u64, Consent)> {
        let old = self.pages.remove(&n)?;
        fs::remove_file(self.harbour.path("site").join(name(n))).unwrap();
        Some(old)
    }

    fn is_small(&self) -> bool {
        let open = self.pages.values().filter(|(_, consent)| *consent == Consent::Given);
        open.count() <= FEWEST
    }

    /// One thing an author does.
    fn edit(&mut self) {
        let n = self.random.below(ADDRESSES);
        let old = self.pages.get(&n).copied();
        match (self.random.below(12), old) {
            (0..=2, Some(_)) if !self.is_small() => {
                self.remove(n);
                self.tell("removed");
            }
            (3, Some((version, consent))) if !self.is_small() => {
                let consent = match (consent, self.random.below(2)) {
                    (Consent::Given, 0) => Consent::NoIndex,
                    (Consent::Given, _) => Consent::NoAi,
                    _ => Consent::Given,
                };
                self.write(n, version, consent);
                self.tell(if consent == Consent::Given { "opened" } else { "closed" });
            }
            (4, Some(_)) => {
                // The same text at another address, in another section.
                let other = (n + 1) % ADDRESSES;
                if let Some((version, consent)) = self.remove(n) {
                    self.write(other, version, consent);
                    self.tell("moved");
                }
            }
            (_, old) => {
                // Few versions, so that some come back as they were.
                let version = self.random.below(5);
                let consent = old.map_or(Consent::Given, |(_, consent)| consent);
                self.write(n, version, consent);
                self.tell(if old.is_some() { "written" } else { "added" });
            }
        }
    }

    /// Cuts the site into sections, one way or another: a page moves from one
    /// to another and keeps its address.
    fn arrange(&mut self) {
        if self.offer != Offer::Sections {
            return;
        }
        // The names stay: what becomes of a section that is given up is another
        // question.
        let cuts: [(&str, &str); 2] = match self.random.below(4) {
            0 => [("manual", "/docs/"), ("news", "/blog/")],
            1 => [("manual", "/docs/0"), ("news", "/docs/01")],
            2 => [("manual", "/docs/02"), ("news", "/blog/00")],
            _ => [("manual", "/blog/01"), ("news", "/docs/00")],
        };
        let rule = |(name, prefix): &(&str, &str)| SectionRule {
            name: (*name).to_owned(),
            prefix: (*prefix).to_owned(),
        };
        self.harbour.sections = cuts.iter().map(rule).collect();
        self.tell("arranged");
    }

    /// Takes collections off the server that a newer snapshot replaces, and
    /// that are announced nevertheless.
    fn lose_collections(&mut self) {
        let folder = self.harbour.path("public/scp");
        let names = fs::read_dir(&folder).unwrap();
        let names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        // `all-snapshot-20260501T120000Z.scp.zst`: the time sorts.
        let parts = |name: &str| {
            let (section, rest) = name.split_once('-')?;
            let (kind, time) = rest.split_once('-')?;
            Some((section.to_owned(), kind == "snapshot", time.get(..16)?.to_owned()))
        };
        let mut newest: BTreeMap<String, String> = BTreeMap::new();
        for (section, _, time) in names.iter().filter_map(|it| parts(it)).filter(|it| it.1) {
            let known = newest.entry(section).or_default();
            *known = time.max(known.clone());
        }
        for name in &names {
            let Some((section, is_snapshot, time)) = parts(name) else { continue };
            let Some(newest) = newest.get(&section) else { continue };
            let is_old = time < *newest || (time == *newest && !is_snapshot);
            if is_old && self.random.below(2) == 0 {
                fs::remove_file(folder.join(name)).unwrap();
                self.is_torn = true;
                self.tell("collection lost");
            }
        }
    }

    /// Rare events.
    fn mishap(&mut self) {
        match self.random.below(30) {
            0 => {
                self.store = open(&self.harbour, self.n_replicas);
                self.n_replicas += 1;
                self.follower = (None, Pages::new());
                self.tell("replica lost");
            }
            // The complete published files can replace the state.
            1 if !self.is_torn && self.harbour.path("state").exists() => {
                fs::remove_dir_all(self.harbour.path("state")).unwrap();
                self.tell("state lost");
            }
            2 | 3 => self.arrange(),
            4 => {
                let days = 20 + self.random.below(150);
                self.harbour.clock.advance(Duration::from_secs(days * DAY));
                self.tell("months passed");
            }
            _ => {}
        }
    }

    fn build(&mut self) {
        for _ in 0..self.random.below(4) {
            self.edit();
        }
        let hours = 1 + self.random.below(30);
        self.harbour.clock.advance(Duration::from_secs(hours * HOUR));
        self.harbour.build();
        self.is_torn = false;
        self.tell("built");
    }

    /// Syncs the replica and compares it with the site.
    fn sync(&mut self) {
        self.harbour.serve();
        let report = self.harbour.sync(&self.store);
        self.tell("synced");
        self.note_ways(&report);
        let (found, wanted) = (replicated(self.store.as_ref()), self.harbour.published());
        self.follow(&found);
        let sections = self.sections();
        // A plain publisher has no states to verify.
        let is_chained = self.offer != Offer::Plain;
        assert!(sections.iter().all(|it| it.is_proved == is_chained), "{sections:?}");
        assert_eq!(found, wanted, "{sections:?}");
    }

    fn sections(&self) -> Vec<rutter_store::Section> {
        let publisher = self.store.publishers().unwrap().remove(0);
        self.store.sections(publisher.id).unwrap()
    }

    fn note_ways(&mut self, report: &SyncReport) {
        let n_files: u64 = report.sections.values().map(|section| section.files).sum();
        let is_snapshot = self.sections().iter().any(|it| it.deltas_since == 0);
        match n_files {
            0 => self.tell("nothing taken"),
            _ if is_snapshot => self.tell("snapshot taken"),
            1 => self.tell("delta taken"),
            _ => self.tell("chain taken"),
        }
        if !report.problems.is_empty() {
            self.tell("trouble mended");
        }
    }

    /// A reader of the changes has the same pages.
    fn follow(&mut self, found: &Pages) {
        let (cursor, pages) = &mut self.follower;
        loop {
            let changes = self.store.changes_since(*cursor, 1000).unwrap();
            for change in changes.events {
                match change.kind {
                    ChangeKind::Added | ChangeKind::Changed => {
                        pages.insert(change.url, change.digest.to_string());
                    }
                    ChangeKind::Forgotten | ChangeKind::Erased => panic!("nothing is forgotten"),
                    ChangeKind::Removed | ChangeKind::Withheld => {
                        assert!(
                            pages.remove(&change.url).is_some(),
                            "{} was removed twice",
                            change.url
                        );
                    }
                }
            }
            *cursor = Some(changes.next);
            if !changes.has_more {
                break;
            }
        }
        assert_eq!(pages, found, "by its history");
    }

    fn run(mut self, n_steps: u64) {
        for step in 0..n_steps {
            self.mishap();
            // Some syncs follow many builds.
            let n_builds = if self.random.below(10) == 0 { 3 + self.random.below(6) } else { 1 };
            for _ in 0..n_builds {
                self.build();
            }
            if self.random.below(20) == 0 {
                self.lose_collections();
            }
            if self.random.below(5) < 4 {
                println!("step {step}");
                self.sync();
            }
        }
        self.sync();
        assert_eq!(self.store.check(CheckDepth::Content).unwrap(), Vec::<String>::new());
        let rows = PageSelection { with_withheld: true, ..PageSelection::default() };
        assert_eq!(self.store.list(&rows, None, 1000).unwrap().len(), self.sections_pages());
        println!("{:?}, {n_steps} steps: {:?}", self.offer, self.told);
        // In a long history, all events occur.
        if LONG <= n_steps {
            for what in HAPPENS {
                assert!(self.told.contains_key(what), "{what} did not occur");
            }
        }
    }

    /// Pages that are in at least one section.
    fn sections_pages(&self) -> usize {
        let publisher = self.store.publishers().unwrap().remove(0);
        usize::try_from(publisher.pages).unwrap()
    }
}

fn open(harbour: &Harbour, number: u64) -> Arc<dyn Store> {
    let path = harbour.path(&format!("replica-{number}.db"));
    Arc::new(SqliteStore::open(&path, StoreOptions::default()).unwrap())
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test] // D95 SCP-135
fn random_histories_are_replicated_exactly() {
    History::new(Offer::Whole, number("SEED", 7)).run(number("STEPS", STEPS));
}

#[test] // D24 D95
fn random_histories_of_sections_are_replicated_exactly() {
    History::new(Offer::Sections, number("SEED", 7)).run(number("STEPS", STEPS));
}

#[test] // SCP-135 SCP-137
fn random_histories_without_states_are_replicated_exactly() {
    History::new(Offer::Plain, number("SEED", 7)).run(number("STEPS", STEPS));
}

fn name(n: u64) -> String {
    let folder = if n.is_multiple_of(2) { "docs" } else { "blog" };
    format!("{folder}/{n:03}.html")
}

fn page(n: u64, version: u64, consent: Consent) -> String {
    let robots = match consent {
        Consent::Given => "",
        Consent::NoIndex => "<meta name=robots content=noindex>",
        Consent::NoAi => "<meta name=robots content=noai>",
    };
    format!(
        "<!doctype html><html lang=en><title>Page {n}</title>{robots}\
         <meta name=description content='About {n}'><main><h1>Page {n}</h1>\
         <p>This is version {version} of page {n}, and it has words enough to be a page.</p>\
         <p>A second paragraph says {n} times {version}.</p></main></html>"
    )
}

/// Pseudo-random numbers with a fixed seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let mut random = Self(seed);
        random.below(2);
        random
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}
