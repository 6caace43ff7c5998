//! Built, served, synced: the replica is what was published, after every sync.
//!
//! `STEPS=1000 cargo test -p rutter sync` follows a longer history.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rutter_build::{Base, Listener, Plan, build};
use rutter_fetch::rehearse::{ManualClock, Names, Switchboard};
use rutter_fetch::{Clock, Means, Settings, Url};
use rutter_finding::Finding;
use rutter_page::Timestamp;
use rutter_serve::{Handle, Listening, Server, Site};
use rutter_store::{Depth, MemoryStore, Options as StoreOptions, Selection, SqliteStore, Store};
use rutter_sync::{Options, Report, Visitor};

const ADDRESS: &str = "93.184.216.34";
const SITE: &str = "http://harbour.example/";
const STEPS: u64 = 60;

struct Deaf;

impl Listener for Deaf {
    fn finding(&mut self, _: &str, _: &Finding) {}
    fn says(&mut self, _: &str) {}
    fn progress(&mut self, _: usize, _: usize) {}
}

/// A site that is built and served, and somebody who visits it.
struct Harbour {
    folder: tempfile::TempDir,
    clock: ManualClock,
    lines: Switchboard,
    names: Names,
    serving: Option<(Handle, JoinHandle<()>)>,
}

impl Harbour {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::new(Timestamp::parse("2026-05-01T12:00:00Z").unwrap());
        let (lines, names) = (Switchboard::default(), Names::default());
        names.add("harbour.example", &[ADDRESS]);
        Self { folder, clock, lines, names, serving: None }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.path("site").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn build(&self) {
        let base = Base::parse(SITE).unwrap();
        let mut plan = Plan::new(self.path("site"), self.path("state"), base, self.clock.now());
        plan.out = Some(self.path("public"));
        build(&plan, &mut Deaf).unwrap();
    }

    fn serve(&mut self) {
        if let Some((handle, _)) = &self.serving {
            handle.reload().unwrap();
            return;
        }
        let settings = rutter_serve::Settings {
            state: Some(self.path("state")),
            rate: None,
            ..rutter_serve::Settings::new(self.path("public"))
        };
        let site = Site::open(settings, Vec::new()).unwrap();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let server = Server::bind(site, Listening { workers: 1, ..Listening::new(any) }).unwrap();
        let (address, handle) = (server.address().unwrap(), server.handle());
        self.lines.lead(&format!("{ADDRESS}:80"), address);
        self.serving = Some((handle, std::thread::spawn(move || server.run().unwrap())));
    }

    fn visitor(&self, store: &Arc<dyn Store>) -> Visitor {
        let settings = Settings {
            allow_http: true,
            pace: Duration::ZERO,
            seed: Some(1),
            ..Settings::default()
        };
        let means = Means {
            clock: Arc::new(self.clock.clone()),
            resolver: Arc::new(self.names.clone()),
            dialer: Arc::new(self.lines.clone()),
            log: Arc::new(()),
        };
        Visitor::new(settings, means, Arc::clone(store), self.path("spools"), Options::default())
    }

    fn sync(&self, store: &Arc<dyn Store>) -> Report {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let site = Url::parse(SITE).unwrap();
        let report = runtime.block_on(self.visitor(store).visit(&site, &())).unwrap();
        assert_eq!(report.worst(), None, "{:?}", report.troubles);
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
    let rows = store.lines(&Selection::default(), None, 100_000).unwrap();
    rows.into_iter()
        .map(|(row, line)| {
            let digest = rutter_page::LineDigest::of(line.as_bytes());
            assert_eq!(digest, row.digest);
            (row.url, digest.to_string())
        })
        .collect()
}

#[test] // D95 ARC-035
fn ours_the_example_comes_back_exactly_and_costs_little_after_that() {
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
    let audit = harbour.visitor(&store);
    let audit = runtime.block_on(audit.audit(&Url::parse(SITE).unwrap())).unwrap();
    assert!(!audit.is_bad(), "{audit:?}");
}

#[test] // D95 SCP-135
fn ours_random_histories_are_followed_exactly() {
    let n_steps = std::env::var("STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(STEPS);
    let mut harbour = Harbour::new();
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(&harbour.path("replica.db"), StoreOptions::default()).unwrap());
    let mut random = Random(7);
    let mut pages: BTreeSet<u64> = (0..24).collect();
    harbour.put("index.html", &page(1000, 0));
    for n in &pages {
        harbour.put(&name(*n), &page(*n, 0));
    }
    let mut n_syncs = 0;
    for step in 1..=n_steps {
        for _ in 0..random.below(4) {
            let n = random.below(40);
            if random.below(4) == 0 && 12 < pages.len() {
                // One that goes; it may come back as it was, or otherwise.
                if pages.remove(&n) {
                    fs::remove_file(harbour.path("site").join(name(n))).unwrap();
                }
            } else {
                pages.insert(n);
                harbour.put(&name(n), &page(n, random.below(5)));
            }
        }
        harbour.clock.advance(Duration::from_secs(3600 * (1 + random.below(30))));
        harbour.build();
        harbour.serve();
        if random.below(5) < 3 {
            harbour.sync(&store);
            n_syncs += 1;
            assert_eq!(replicated(store.as_ref()), harbour.published(), "step {step}");
        }
    }
    assert!(n_steps / 3 <= n_syncs);
    assert_eq!(store.check(Depth::Bodies).unwrap(), Vec::<String>::new());
}

/// `KILLS=200` kills more often.
#[test]
fn ours_a_killed_sync_leaves_the_old_replica_or_the_new_one() {
    let n_kills = std::env::var("KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let site = root.join("site");
    let put = |n: u64, version: u64| {
        let path = site.join(name(n));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, page(n, version)).unwrap();
    };
    (0..200).for_each(|n| put(n, 0));
    // The address must be known before the site is built.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let base = format!("http://127.0.0.1:{port}/");
    let build = || {
        let mut command = rutter(root);
        command.args(["build", "site", "--out", "public", "--state", "state", "--base-url", &base]);
        assert!(command.status().unwrap().success());
    };
    build();
    let mut server = rutter(root);
    let listen = format!("127.0.0.1:{port}");
    server.args(["serve", "public", "--state", "state", "--listen", &listen, "--rate", "off"]);
    let mut server = server.spawn().unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < end, "the server does not start");
        std::thread::yield_now();
    }
    let sync = || {
        let mut command = rutter(root);
        command.args(["sync", &base, "--allow-loopback", "--pace", "0"]);
        command
    };
    let seen = || {
        let path = root.join(".rutter/replica.db");
        if !path.exists() {
            return BTreeMap::new();
        }
        let store = SqliteStore::open(&path, StoreOptions::default()).unwrap();
        assert_eq!(store.check(Depth::Books).unwrap(), Vec::<String>::new());
        replicated(&store)
    };
    // The first snapshot, then a delta.
    let mut old = BTreeMap::new();
    for round in 0..2 {
        let kept = root.join("kept.db");
        let replica = root.join(".rutter/replica.db");
        drop(fs::copy(&replica, &kept));
        let started = Instant::now();
        assert!(sync().status().unwrap().success());
        let longest = started.elapsed();
        let new = seen();
        assert_ne!(old, new);
        let mut random = Random(round + 1);
        for _ in 0..n_kills {
            drop(fs::remove_dir_all(root.join(".rutter")));
            fs::create_dir_all(root.join(".rutter")).unwrap();
            drop(fs::copy(&kept, &replica));
            let mut child = sync().spawn().unwrap();
            let delay =
                longest.mul_f64(f64::from(u32::try_from(random.below(1200)).unwrap()) / 1000.0);
            let started = Instant::now();
            while started.elapsed() < delay && child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            drop(child.kill());
            child.wait().unwrap();
            let found = seen();
            assert!(found == old || found == new, "a mixture");
            assert!(sync().status().unwrap().success());
            assert_eq!(seen(), new);
        }
        old = new;
        (0..30).for_each(|n| put(n * 3, 1));
        fs::remove_file(site.join(name(1))).unwrap_or_default();
        build();
        let hup = server.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &hup]).status().unwrap().success());
    }
    server.kill().unwrap();
    server.wait().unwrap();
}

fn rutter(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RUTTER_") {
            command.env_remove(name);
        }
    }
    command.env_remove("SOURCE_DATE_EPOCH");
    command
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

fn name(n: u64) -> String {
    let folder = if n.is_multiple_of(2) { "docs" } else { "blog" };
    format!("{folder}/{n:03}.html")
}

fn page(n: u64, version: u64) -> String {
    format!(
        "<!doctype html><html lang=en><title>Page {n}</title>\
         <meta name=description content='About {n}'><main><h1>Page {n}</h1>\
         <p>This is version {version} of page {n}, and it has words enough to be a page.</p>\
         <p>A second paragraph says {n} times {version}.</p></main></html>"
    )
}

/// Numbers by chance, the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}
