//! Tests that a sync that is killed, or whose disk is full, leaves the old or the new pages.
//!
//! `KILLS=200 KILL_PAGES=4000 cargo test --release -p rutter kill_sync` kills
//! more often, and in a collection that is taken in by batches; `STRACE=1`
//! kills at system calls that change files, one after another, which needs
//! strace. A full disk is a small tmpfs, which only root can mount; others
//! skip it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rutter_page::LineDigest;
use rutter_store::prelude::*;
use rutter_store::{
    AccessMode, CheckDepth, PagePosition, PageSelection, PublisherId, SqliteStore, StoreOptions,
};

const KILLS: usize = 10;
/// Pages of a site whose disk is full, and of one whose sync is killed.
const FEW: usize = 120;
const PAGES: usize = 600;
/// Words per page: enough that applying pages dominates the time.
const WORDS: usize = 1200;
/// The times of the two builds.
const FIRST: &str = "1793491200";
const SECOND: &str = "1793577600";
/// Origin of the example.
const EXAMPLE: &str = "https://harbour.example";

/// Calls that change files.
const CALLS: [&str; 3] =
    ["write,pwrite64", "fsync,fdatasync,ftruncate", "unlink,unlinkat,rename,mkdir"];

/// Key and digest of each readable page.
type Pages = BTreeMap<String, LineDigest>;

fn rutter(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    command.current_dir(folder).env("NO_COLOR", "1").stdout(Stdio::null()).stderr(Stdio::null());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RUTTER_") {
            command.env_remove(name);
        }
    }
    command
}

/// A site in its second version, and its server.
struct Scene {
    folder: tempfile::TempDir,
    server: Child,
    origin: String,
    old: Pages,
    new: Pages,
}

fn build(root: &Path, origin: &str, now: &str) {
    let mut command = rutter(root);
    command.args(["build", "site", "--out", "public", "--state", "state"]);
    command.args(["--base-url", origin]).env("SOURCE_DATE_EPOCH", now);
    assert!(command.status().unwrap().success());
}

impl Drop for Scene {
    fn drop(&mut self) {
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

impl Scene {
    /// Creates a site and builds it twice, each time into the given folder.
    fn new(first: impl Fn(&Path, &str), second: impl Fn(&Path, &str)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        // The pages name their own address, so a port comes first.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let origin = format!("http://127.0.0.1:{port}");
        first(&root.join("site"), &origin);
        build(root, &origin, FIRST);
        let mut server = rutter(root)
            .args(["serve", "public", "--state", "state", "--listen"])
            .arg(format!("127.0.0.1:{port}"))
            .args(["--access-log", "off", "--rate", "off"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(server.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        assert!(line.starts_with("serving"), "{line}");
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        let mut scene = Self { origin, server, old: Pages::new(), new: Pages::new(), folder };
        let output = scene.sync("old.db").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        scene.old = pages(&scene.path("old.db"));
        second(&scene.path("site"), &scene.origin);
        build(scene.folder.path(), &scene.origin, SECOND);
        assert!(scene.sync("new.db").status().unwrap().success());
        scene.new = pages(&scene.path("new.db"));
        assert!(!scene.old.is_empty() && scene.old != scene.new);
        scene
    }

    /// So many pages; then a third of them changed, as many again, and one
    /// less.
    fn of(n_pages: usize, n_words: usize) -> Self {
        let scene = Self::new(
            |site, _| (0..n_pages).for_each(|n| write_page(site, n, n, n_words)),
            |site, _| {
                for n in 0..n_pages / 3 {
                    write_page(site, n * 3, n + 100_000, n_words);
                    write_page(site, n_pages + n, n, n_words);
                }
                fs::remove_file(site.join("docs/00001.html")).unwrap();
            },
        );
        assert_eq!((scene.old.len(), scene.new.len()), (n_pages, n_pages + n_pages / 3 - 1));
        scene
    }

    /// The example site with every layer; then a page changed, one more, and
    /// one less.
    fn example() -> Self {
        let change = |path: PathBuf, from: &str, to: &str| {
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(from), "{}", path.display());
            fs::write(path, text.replace(from, to)).unwrap();
        };
        Self::new(
            |site, origin| {
                lay_out(&crate::root().join("examples/harbour"), site, origin);
                let beside = site.parent().unwrap();
                lay_out(&crate::root().join("examples/entities"), &beside.join("entities"), origin);
                let settings = crate::root().join("examples/rutter.toml");
                let text = fs::read_to_string(settings).unwrap().replace(EXAMPLE, origin);
                fs::write(beside.join("rutter.toml"), text.replace("\"harbour\"", "\"site\""))
                    .unwrap();
            },
            |site, _| {
                change(
                    site.join("docs/berthing.html"),
                    "</main>",
                    "<p>Ask at the gate.</p></main>",
                );
                fs::copy(site.join("blog/herring-count.html"), site.join("blog/second-count.html"))
                    .unwrap();
                change(site.join("blog/second-count.html"), "herring-count", "second-count");
                fs::remove_file(site.join("shop/rope-doormat.html")).unwrap();
            },
        )
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sync(&self, database: &str) -> Command {
        let mut command = rutter(self.folder.path());
        command.args(["sync", &self.origin, "--store", database, "--allow-loopback"]);
        command.args(["--pace", "0"]);
        command
    }

    /// Lays out the replica that an attempt begins with: an empty one takes a
    /// snapshot, the old one a delta.
    fn lay(&self, start: Start, database: &str) {
        remove(&self.path(database));
        if start == Start::Old {
            copy(&self.path("old.db"), &self.path(database));
        }
    }

    /// Returns whether a downloaded collection is being applied.
    fn is_applying(&self) -> bool {
        let shelves = fs::read_dir(beside(&self.path("replica.db"), ".spool"));
        let files = shelves.into_iter().flatten().flatten();
        let mut files = files.flat_map(|shelf| fs::read_dir(shelf.path()).into_iter().flatten());
        files.any(|file| {
            file.is_ok_and(|file| file.path().extension().is_some_and(|ending| ending == "ok"))
        })
    }

    /// Returns how long applying a collection takes without interruption: the
    /// middle of three.
    fn applying(&self, start: Start) -> Duration {
        let once = |_| {
            self.lay(start, "replica.db");
            let mut child = self.sync("replica.db").spawn().unwrap();
            assert!(self.wait_for(&mut child, true), "no collection was taken");
            let started = Instant::now();
            self.wait_for(&mut child, false);
            let took = started.elapsed();
            assert!(child.wait().unwrap().success());
            took
        };
        let mut spans: Vec<Duration> = (0..3).map(once).collect();
        spans.sort();
        spans[1]
    }

    /// Waits until a collection is being applied, or no longer is.
    fn wait_for(&self, child: &mut Child, is_applying: bool) -> bool {
        while self.is_applying() != is_applying {
            if child.try_wait().unwrap().is_some() {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    /// Kills at every k-th of these calls until an attempt succeeds.
    fn kill_at(&self, calls: &str, every: usize, start: Start) -> Sum {
        let mut sum = Sum::default();
        for step in 0..2_000 {
            self.lay(start, "replica.db");
            let inject = format!("inject={calls}:signal=SIGKILL:when={}", 1 + step * every);
            let is_through = self.traced(&inject).status().unwrap().success();
            sum.applying += usize::from(self.is_applying());
            self.look(start, "replica.db", &mut sum);
            if is_through {
                break;
            }
        }
        sum
    }

    /// Returns a sync under strace with an injection.
    fn traced(&self, inject: &str) -> Command {
        let inner = self.sync("replica.db");
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-o", "/dev/null", "-e", inject]);
        strace.arg(inner.get_program()).args(inner.get_args());
        strace.current_dir(self.folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        strace
    }

    /// Checks the result of an attempt, and completes it with another sync.
    fn look(&self, start: Start, database: &str, sum: &mut Sum) {
        let path = self.path(database);
        let before = if start == Start::Old { self.old.clone() } else { Pages::new() };
        let found = if path.exists() { pages(&path) } else { Pages::new() };
        // An empty replica may apply the first version, then the delta.
        let is_between = start == Start::Empty && found == self.old;
        let is_whole = found == before || is_between || found == self.new;
        assert!(is_whole, "a mixture of {} pages, from {start:?}", found.len());
        sum.old += usize::from(found == before);
        sum.between += usize::from(is_between);
        sum.new += usize::from(found == self.new);
        let output = self.sync(database).stderr(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(pages(&path) == self.new, "another sync does not succeed");
        // Incomplete data of the attempt is deleted, too.
        let store = SqliteStore::open(&path, StoreOptions::default()).unwrap();
        assert_eq!(store.check(CheckDepth::Content).unwrap(), Vec::<String>::new());
    }
}

/// Start of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Empty,
    Old,
}

/// Results of attempts.
#[derive(Debug, Default)]
struct Sum {
    /// Attempts that left what was there before, what was to be, and the
    /// version between nothing and that.
    old: usize,
    new: usize,
    between: usize,
    /// Attempts that were killed while a collection was taken in.
    applying: usize,
    /// Attempts whose log held pages that were not in the replica.
    writing: usize,
}

fn write_page(site: &Path, n: usize, seed: usize, n_words: usize) {
    let mut text = format!(
        "<!doctype html><html lang=en><head><title>Page {n}</title></head><body><main><h1>Page {n}</h1>\
         <p>Entry {seed} of the log: {} boats, wind from the west at {} knots.</p>",
        seed * 7 % 91,
        seed * 13 % 40,
    );
    // Random words, which do not compress.
    let mut state = seed as u64 + 1;
    for word in 0..n_words {
        if word % 100 == 0 {
            text.push_str("<p>");
        }
        write!(text, "{} ", radix(next(&mut state) >> 30)).unwrap();
    }
    text.push_str("</main></body></html>");
    let path = site.join(format!("docs/{n:05}.html"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A number in letters.
fn radix(mut number: u64) -> String {
    let mut text = String::new();
    while 0 < number {
        text.push(char::from(b'a' + u8::try_from(number % 26).unwrap()));
        number /= 26;
    }
    text
}

/// Returns the next pseudo-random number.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state ^ (*state >> 29)
}

/// Copies a folder; files name `origin` where they named the example.
fn lay_out(from: &Path, to: &Path, origin: &str) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            lay_out(&path, &target, origin);
            continue;
        }
        match fs::read_to_string(&path) {
            Ok(text) => fs::write(target, text.replace(EXAMPLE, origin)).unwrap(),
            Err(_) => drop(fs::copy(&path, target).unwrap()),
        }
    }
}

/// Returns the pages of a replica, opened for reading.
fn pages(path: &Path) -> Pages {
    let options = StoreOptions { access: AccessMode::Read, ..StoreOptions::default() };
    // Without a first commit, the file is not a replica.
    let Ok(store) = SqliteStore::open(path, options) else { return Pages::new() };
    let mut pages = Pages::new();
    let mut last: Option<(PublisherId, String)> = None;
    loop {
        let after =
            last.as_ref().map(|(publisher, url)| PagePosition { publisher: *publisher, url });
        let lines = store.lines(&PageSelection::default(), after, 10_000).unwrap();
        let lines: Vec<_> = lines.into_iter().map(Result::unwrap).collect();
        last = lines.last().map(|(row, _)| (row.publisher, row.url.clone()));
        for (row, line) in lines {
            let digest = LineDigest::of(line.as_bytes());
            assert_eq!(digest, row.digest, "{}", row.url);
            pages.insert(row.url, digest);
        }
        if last.is_none() {
            return pages;
        }
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn remove(path: &Path) {
    for ending in ["", "-wal", "-shm"] {
        drop(fs::remove_file(beside(path, ending)));
    }
    drop(fs::remove_dir_all(beside(path, ".spool")));
}

fn copy(from: &Path, to: &Path) {
    for ending in ["", "-wal"] {
        if beside(from, ending).exists() {
            fs::copy(beside(from, ending), beside(to, ending)).unwrap();
        }
    }
}

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

#[test]
fn killed_sync_leaves_old_or_new_pages() {
    let n_kills = number("KILLS", KILLS);
    let scene = Scene::of(number("KILL_PAGES", PAGES), WORDS);
    let mut random = 88_172_645_463_325_252_u64;
    for start in [Start::Empty, Start::Old] {
        let mut sum = Sum::default();
        let span = scene.applying(start);
        for _ in 0..n_kills {
            let share = f64::from(u32::try_from(next(&mut random) >> 33 & 1023).unwrap()) / 1024.0;
            scene.lay(start, "replica.db");
            let mut child = scene.sync("replica.db").spawn().unwrap();
            // While a downloaded collection exists.
            scene.wait_for(&mut child, true);
            let started = Instant::now();
            let delay = span.mul_f64(share * 1.05);
            while started.elapsed() < delay && child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            // The process may have ended already.
            drop(child.kill());
            child.wait().unwrap();
            sum.applying += usize::from(scene.is_applying());
            let log = fs::metadata(beside(&scene.path("replica.db"), "-wal"));
            sum.writing += usize::from(log.is_ok_and(|log| 256 << 10 < log.len()));
            scene.look(start, "replica.db", &mut sum);
        }
        println!("{n_kills} kills from {start:?} within {span:?}: {sum:?}");
        assert_eq!(sum.old + sum.between + sum.new, n_kills);
        assert!(n_kills <= 2 * sum.applying, "most kills came too late: {sum:?}");
    }
}

/// Kills at every k-th call that changes a file, until one gets through;
/// `EVERY` is k. Calls are counted by thread, so the site with more pages is
/// there for the thread that takes collections in.
#[test]
fn sync_killed_at_system_call_leaves_old_or_new_pages() {
    if std::env::var_os("STRACE").is_none() {
        return;
    }
    let every = number("EVERY", 5);
    let mut n_applying = 0;
    for (name, scene) in [("example", Scene::example()), ("pages", Scene::of(FEW, 200))] {
        for start in [Start::Empty, Start::Old] {
            for calls in CALLS {
                let sum = scene.kill_at(calls, every, start);
                println!("{name}, every {every}th of {calls} from {start:?}: {sum:?}");
                n_applying += sum.applying;
            }
        }
    }
    assert!(0 < n_applying);
}

/// Calls of the database that a disk can fail at, and how many steps of `EVERY`
/// are between two of them. (`write` also wakes threads, without using the disk.)
const FAILING: [(&str, usize); 3] =
    [("pwrite64", 3), ("fsync,fdatasync", 0), ("ftruncate,unlink,rename", 0)];

#[test] // F02
fn failing_disk_leaves_old_or_new_pages() {
    if std::env::var_os("STRACE").is_none() {
        return;
    }
    let mut n_failed = 0;
    let scene = Scene::of(FEW, 200);
    for start in [Start::Empty, Start::Old] {
        for (calls, steps) in FAILING {
            let every = (steps * number("EVERY", 5)).max(1);
            for (error, sticky) in [("EIO", ""), ("EIO", "+"), ("ENOSPC", "+"), ("EDQUOT", "")] {
                let mut sum = Sum::default();
                for step in 0..2_000 {
                    scene.lay(start, "replica.db");
                    let when = 1 + step * every;
                    let inject = format!("inject={calls}:error={error}:when={when}{sticky}");
                    let output = scene.traced(&inject).stderr(Stdio::piped()).output().unwrap();
                    let (code, said) = (output.status.code(), talk(&output));
                    // Maintenance may fail.
                    assert!(matches!(code, Some(0 | 2 | 4)), "{inject}: {code:?} {said}");
                    assert!(!said.contains("panicked"), "{inject}: {said}");
                    n_failed += usize::from(code != Some(0));
                    scene.look(start, "replica.db", &mut sum);
                    if said.is_empty() && code == Some(0) && 0 < step {
                        break;
                    }
                }
                println!("{error}{sticky} at every {every}th of {calls} from {start:?}: {sum:?}");
            }
        }
    }
    assert!(0 < n_failed);
}

/// A small file system that ends with its guard.
struct Tmpfs(PathBuf);

impl Tmpfs {
    fn mount(path: &Path, options: &str) -> Option<Self> {
        fs::create_dir_all(path).unwrap();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(path);
        let is_mounted = command.output().is_ok_and(|output| output.status.success());
        is_mounted.then(|| Self(path.to_owned()))
    }

    /// Returns whether the options apply: a full disk cannot be made smaller.
    fn remount(&self, options: &str) -> bool {
        let options = format!("remount,{options}");
        let mut command = Command::new("mount");
        command.args(["-o", &options]).arg(&self.0).stderr(Stdio::null());
        command.status().unwrap().success()
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

fn talk(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test] // F01
fn full_disk_keeps_old_pages() {
    let scene = Scene::of(FEW, 0);
    let Some(disk) = Tmpfs::mount(&scene.path("disk"), "size=64m") else {
        println!("skipped: only root can mount a small file system");
        return;
    };
    let size = fs::metadata(scene.path("old.db")).unwrap().len();
    let mut n_full = 0;
    // From no free space to enough.
    for extra in (0..40).map(|step| step * 24 * 1024) {
        assert!(disk.remount("size=64m"));
        remove(&scene.path("disk/replica.db"));
        copy(&scene.path("old.db"), &scene.path("disk/replica.db"));
        if !disk.remount(&format!("size={}", size + extra)) {
            continue;
        }
        let output = scene.sync("disk/replica.db").stderr(Stdio::piped()).output().unwrap();
        if output.status.success() {
            break;
        }
        n_full += 1;
        assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
        // Reading needs some free space for the index of the log.
        assert!(disk.remount("size=64m"));
        let found = pages(&scene.path("disk/replica.db"));
        assert!(found == scene.old || found == scene.new, "a mixture of {} pages", found.len());
        let mut sum = Sum::default();
        scene.look(Start::Old, "disk/replica.db", &mut sum);
    }
    println!("{n_full} syncs found the disk full");
    assert!(0 < n_full);
}

#[test] // F01
fn full_spool_disk_is_not_an_error_of_the_site() {
    let scene = Scene::of(FEW, 0);
    let Some(disk) = Tmpfs::mount(&scene.path("disk"), "size=64k") else {
        println!("skipped: only root can mount a small file system");
        return;
    };
    // The disk is full.
    drop(fs::write(disk.0.join("ballast"), vec![0; 1 << 20]));
    let mut sync = scene.sync("fresh.db");
    let output = sync.env("TMPDIR", &disk.0).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
    assert!(!scene.path("fresh.db").exists(), "{}", talk(&output));
    let output = scene.sync("fresh.db").output().unwrap();
    assert!(output.status.success() && pages(&scene.path("fresh.db")) == scene.new);
}

#[test] // F05
fn read_only_replica_is_unchanged() {
    let scene = Scene::of(FEW, 0);
    let Some(disk) = Tmpfs::mount(&scene.path("disk"), "size=64m") else {
        println!("skipped: only root can mount a file system to read only");
        return;
    };
    copy(&scene.path("old.db"), &scene.path("disk/replica.db"));
    let before = fs::read(scene.path("disk/replica.db")).unwrap();
    assert!(disk.remount("ro"));
    let output = scene.sync("disk/replica.db").stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
    assert_eq!(talk(&output).lines().filter(|line| line.starts_with("error: ")).count(), 1);
    assert_eq!(fs::read(scene.path("disk/replica.db")).unwrap(), before);
    assert!(pages(&scene.path("disk/replica.db")) == scene.old);
    // Reading still works without a log file.
    let mut command = rutter(scene.folder.path());
    command.args(["list", "--store", "disk/replica.db"]).stdout(Stdio::piped());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), FEW);
}
