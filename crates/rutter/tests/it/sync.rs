//! Tests that a replica equals the published site after each sync.
//!
//! `STEPS=1000 SEED=7 cargo test -p rutter histories` follows longer histories,
//! or others.

mod histories;
mod wire;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rutter_build::{BaseUrl, BuildEvents, BuildPlan, Layers, SectionRule, build};
use rutter_fetch::test_util::{FakeNetwork, FakeResolver, ManualClock};
use rutter_fetch::{ClientSettings, Clock, Environment, Url};
use rutter_finding::Finding;
use rutter_page::Timestamp;
use rutter_serve::{ListenConfig, Server, ServerHandle, Site};
use rutter_store::prelude::*;
use rutter_store::{MemoryStore, PageSelection};
use rutter_sync::{SyncOptions, SyncReport, Syncer};

const ADDRESS: &str = "93.184.216.34";
const SITE: &str = "http://harbour.example/";

struct Deaf;

impl BuildEvents for Deaf {
    fn finding(&mut self, _: &str, _: &Finding) {}
    fn message(&mut self, _: &str) {}
    fn progress(&mut self, _: usize, _: usize) {}
}

/// A site that is built, served and synced.
struct Harbour {
    folder: tempfile::TempDir,
    clock: ManualClock,
    lines: FakeNetwork,
    names: FakeResolver,
    serving: Option<(ServerHandle, JoinHandle<()>)>,
    layers: Layers,
    sections: Vec<SectionRule>,
    options: SyncOptions,
}

impl Harbour {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::new(Timestamp::parse("2026-05-01T12:00:00Z").unwrap());
        let (lines, names) = (FakeNetwork::default(), FakeResolver::default());
        names.add("harbour.example", &[ADDRESS]);
        let (layers, sections) = (Layers::default(), Vec::new());
        let options = SyncOptions::default();
        Self { folder, clock, lines, names, serving: None, layers, sections, options }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.path("site").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Builds the site; from what was published where the state is lost.
    fn build(&self) {
        let base = BaseUrl::parse(SITE).unwrap();
        let mut plan =
            BuildPlan::new(self.path("site"), self.path("state"), base, self.clock.now());
        plan.out = Some(self.path("public"));
        plan.layers = self.layers.clone();
        plan.sections.clone_from(&self.sections);
        let is_lost = !self.path("state").exists() && self.path("public").exists();
        plan.previous = is_lost.then(|| self.path("public"));
        // Another test that starts a process shares the lock file with it until the process runs.
        let mut result = build(&plan, &mut Deaf);
        for _ in 0..10_000 {
            if !matches!(result, Err(rutter_build::BuildError::Busy(_))) {
                break;
            }
            std::thread::yield_now();
            result = build(&plan, &mut Deaf);
        }
        result.unwrap();
    }

    fn serve(&mut self) {
        if let Some((handle, _)) = &self.serving {
            handle.reload().unwrap();
            return;
        }
        let settings = rutter_serve::SiteSettings {
            state: Some(self.path("state")),
            rate: None,
            ..rutter_serve::SiteSettings::new(self.path("public"))
        };
        let site = Site::open(settings, Vec::new()).unwrap();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let server =
            Server::bind(site, ListenConfig { workers: 1, ..ListenConfig::new(any) }).unwrap();
        let (address, handle) = (server.address().unwrap(), server.handle());
        self.lines.route(&format!("{ADDRESS}:80"), address);
        self.serving = Some((handle, std::thread::spawn(move || server.run().unwrap())));
    }

    fn syncer(&self, store: &Arc<dyn Store>) -> Syncer {
        let settings = ClientSettings {
            allow_http: true,
            pace: Duration::ZERO,
            seed: Some(1),
            ..ClientSettings::default()
        };
        let means = Environment {
            clock: Arc::new(self.clock.clone()),
            resolver: Arc::new(self.names.clone()),
            dialer: Arc::new(self.lines.clone()),
            log: Arc::new(()),
        };
        Syncer::new(settings, means, Arc::clone(store), self.path("spools"), self.options.clone())
    }

    fn sync(&self, store: &Arc<dyn Store>) -> SyncReport {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let site = Url::parse(SITE).unwrap();
        let report = runtime.block_on(self.syncer(store).sync(&site, &())).unwrap();
        assert_eq!(report.worst(), None, "{:?}", report.problems);
        report
    }

    /// Address and digest of every public page, by the publisher's own ledger.
    fn published(&self) -> BTreeMap<String, String> {
        let ledger = fs::read_to_string(self.path("state").join("ledger.tsv")).unwrap();
        let rows = ledger.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let public = rows.filter(|row| row.get(1) == Some(&"public"));
        public.map(|row| (row[0].to_owned(), row[3].to_owned())).collect()
    }
}

impl Drop for Harbour {
    fn drop(&mut self) {
        if let Some((handle, thread)) = self.serving.take() {
            handle.stop();
            drop(thread.join());
        }
    }
}

/// Address and digest of every page in a replica, each held against its line.
fn replicated(store: &dyn Store) -> BTreeMap<String, String> {
    let rows = store.lines(&PageSelection::default(), None, 100_000).unwrap();
    rows.into_iter()
        .map(Result::unwrap)
        .map(|(row, line)| {
            let digest = rutter_page::LineDigest::of(line.as_bytes());
            assert_eq!(digest, row.digest);
            (row.url, digest.to_string())
        })
        .collect()
}

#[test] // D95 ARC-035
fn example_is_replicated_exactly_and_cheaply() {
    let mut harbour = Harbour::new();
    copy(&crate::root().join("examples/harbour"), &harbour.path("site"));
    harbour.build();
    harbour.serve();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let first = harbour.sync(&store);
    assert_eq!(first.sections.values().filter(|section| section.is_proved).count(), 1);
    assert_eq!(replicated(store.as_ref()), harbour.published());
    // SCP and ARC: the sitemap and the ARC sitemap.
    harbour.clock.advance(Duration::from_mins(10));
    let second = harbour.sync(&store);
    assert!(second.requests <= 2 && second.bytes == 0 && second.is_quiet(), "{second:?}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let audit = harbour.syncer(&store);
    let audit = runtime.block_on(audit.audit(&Url::parse(SITE).unwrap())).unwrap();
    assert!(!audit.is_bad(), "{audit:?}");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, target).unwrap();
        }
    }
}
