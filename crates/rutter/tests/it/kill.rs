//! Tests that a build that is killed, or whose disk fails, leaves the old or the new site, and that
//! the next build completes it.
//!
//! `KILLS=200 cargo test -p rutter kill` kills it more often. `STRACE=1` kills
//! it at system calls that move or remove files, one after another, and makes
//! every k-th call that changes a file fail (`EVERY` is k, default 1); without
//! it, a few failures are tried where strace is installed.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rutter_scp::advert::{Advert, AdvertisedCollection};
use rutter_scp::{CollectionReader, ReadOptions};
use rutter_sitemap::{SitemapItem, SitemapLimits, SitemapReader};

const BASE: &str = "https://harbour.example/";
const KILLS: u32 = 20;
/// The times of the two builds.
const FIRST: &str = "1793491200";
const SECOND: &str = "1793577600";

type Files = BTreeMap<PathBuf, Vec<u8>>;

#[test]
fn killed_build_leaves_old_or_new_site_without_dangling_references() {
    let n_kills = std::env::var("KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let [site, out, state] = ["site", "out", "state"].map(|name| root.join(name));
    for n in 0..120 {
        write(&site, &format!("docs/{n:03}.html"), &page(n, n));
    }
    write(&site, "index.html", &page(0, 1));
    assert!(build(root, FIRST).status().unwrap().success());
    let (old, old_state) = (files(&out), files(&state));
    for n in 0..40 {
        write(&site, &format!("docs/{:03}.html", n * 2), &page(n * 2, n + 1000));
        write(&site, &format!("blog/{n:03}.html"), &page(n, n + 2000));
    }
    fs::remove_file(site.join("docs/001.html")).unwrap();
    fs::remove_file(site.join("docs/003.html")).unwrap();
    let started = Instant::now();
    assert!(build(root, SECOND).status().unwrap().success());
    let longest = started.elapsed();
    let new = files(&out);
    check_references(&out);

    let scene = Scene { root, old, old_state, new };
    let mut sum = Sum::default();
    let mut random = 88_172_645_463_325_252_u64;
    for _ in 0..n_kills {
        // At any time from the start to after the end.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let share = f64::from(u32::try_from(random % 2000).unwrap()) / 1000.0;
        scene.kill(&mut sum, || kill_after(build(root, SECOND), longest.mul_f64(share)));
    }
    assert_eq!(sum.old + sum.new, n_kills);
    println!("{n_kills} kills: {sum:?}");
    if std::env::var_os("STRACE").is_some() {
        let mut sum = Sum::default();
        for calls in ["rename,renameat,renameat2", "unlink,unlinkat"] {
            // Until the build succeeds.
            for step in 0.. {
                let when = 1 + step * 5;
                let inject = format!("inject={calls}:signal=SIGKILL:when={when}");
                let is_through = scene.kill(&mut sum, || traced(root, SECOND, &inject));
                if is_through {
                    break;
                }
            }
        }
        println!("kills at system calls: {sum:?}");
        assert!(0 < sum.between, "no kill hit a publication");
    }
}

/// Calls that change files, and the number of steps between two failures when
/// all of them are tried.
const MUTATING: [(&str, usize); 7] = [
    ("rename,renameat,renameat2", 1),
    ("unlink,unlinkat,rmdir", 1),
    ("mkdir,mkdirat", 1),
    ("fsync,fdatasync,syncfs", 1),
    ("copy_file_range,sendfile,utimensat,ftruncate,chmod,fchmod", 1),
    ("write,pwrite64", 3),
    // Also opens files that are only read.
    ("openat", 7),
];

/// Start of a build whose disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Empty,
    Built,
}

/// Start and expected result of builds whose disk fails.
struct FailingDisk<'s> {
    root: &'s Path,
    old: [Files; 2],
    /// Output and state of builds without failures.
    wanted: [[Files; 2]; 2],
}

#[derive(Debug, Default)]
struct Failures {
    points: u32,
    /// Builds that failed.
    failed: u32,
    /// Failed builds that had started to publish.
    half: u32,
}

impl FailingDisk<'_> {
    fn lay(&self, start: Start) {
        for (name, files) in ["out", "state"].iter().zip(&self.old) {
            let folder = self.root.join(name);
            match start {
                Start::Built => restore(&folder, files),
                Start::Empty => drop(fs::remove_dir_all(&folder)),
            }
        }
    }

    /// Fails one call or all later calls, and checks the result. Returns whether the build succeeded.
    fn fail(&self, start: Start, inject: &str, sum: &mut Failures) -> bool {
        let [out, state] = ["out", "state"].map(|name| self.root.join(name));
        // Printed if an assertion below fails.
        println!("{start:?} {inject}");
        self.lay(start);
        let is_through = traced(self.root, SECOND, inject);
        check_references(&out);
        sum.points += 1;
        sum.failed += u32::from(!is_through);
        sum.half += u32::from(state.join("journal.json").exists());
        // Recovery as in a server start succeeds after any failure.
        if state.exists() {
            rutter_site::recover(&state).unwrap_or_else(|error| panic!("{inject}: {error}"));
        }
        let output = build(self.root, SECOND).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{start:?} {inject}: {said}");
        check_references(&out);
        // A build that could not read a page publishes it later.
        if !is_through || !inject.contains("openat") {
            let [wanted, wanted_state] = &self.wanted[usize::from(start == Start::Built)];
            let is_same = files(&out) == *wanted;
            assert!(is_same, "{start:?} {inject}: {:?}", difference(&files(&out), wanted));
            for name in ["ledger.tsv", "chain.json"].map(Path::new) {
                let found = fs::read(state.join(name)).unwrap();
                assert!(found == wanted_state[name], "{start:?} {inject}: {}", name.display());
            }
        }
        is_through
    }
}

fn difference(found: &Files, wanted: &Files) -> Vec<PathBuf> {
    let names = found.keys().chain(wanted.keys());
    let mut names: Vec<PathBuf> =
        names.filter(|name| found.get(*name) != wanted.get(*name)).cloned().collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn next_build_repeats_build_with_failed_disk() {
    if Command::new("strace").arg("-V").output().is_err() {
        println!("skipped: strace is not installed");
        return;
    }
    let is_full = std::env::var_os("STRACE").is_some();
    let every = std::env::var("EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let [site, out, state] = ["site", "out", "state"].map(|name| root.join(name));
    for n in 0..6 {
        write(&site, &format!("docs/{n:03}.html"), &page(n, n));
    }
    write(&site, "index.html", &page(0, 1));
    write(&site, "style.css", "p { margin: 0 }");
    assert!(build(root, FIRST).status().unwrap().success());
    let old = [files(&out), files(&state)];
    write(&site, "docs/000.html", &page(0, 1000));
    write(&site, "blog/000.html", &page(7, 2000));
    write(&site, "style.css", "p { margin: 1em }");
    fs::remove_file(site.join("docs/001.html")).unwrap();
    assert!(build(root, SECOND).status().unwrap().success());
    let rebuilt = [files(&out), files(&state)];
    for folder in [&out, &state] {
        fs::remove_dir_all(folder).unwrap();
    }
    assert!(build(root, SECOND).status().unwrap().success());
    let first = [files(&out), files(&state)];
    let disk = FailingDisk { root, old, wanted: [first, rebuilt] };
    let mut sum = Failures::default();
    for start in [Start::Built, Start::Empty] {
        for (calls, steps) in MUTATING {
            for (error, sticky) in [("EIO", ""), ("ENOSPC", "+"), ("EACCES", "+"), ("EACCES", "")] {
                // All points, or the middle of a publication.
                let points: Vec<usize> = if is_full {
                    // Once at all of them, in other ways at some.
                    let is_usual = error == "EIO" && start == Start::Built;
                    let step = steps * every * if is_usual { 1 } else { 4 };
                    (0..5_000).map(|n| 1 + n * step).collect()
                } else if calls.starts_with("rename") && error == "EACCES" {
                    vec![1, 2, 5, 12]
                } else {
                    Vec::new()
                };
                for when in points {
                    let inject = format!("inject={calls}:error={error}:when={when}{sticky}");
                    if disk.fail(start, &inject, &mut sum) && is_full && 30 < when {
                        break;
                    }
                }
            }
        }
    }
    println!("{sum:?}");
    assert!(0 < sum.half && sum.half < sum.failed, "{sum:?}");
}

/// Runs a build under strace and returns whether it succeeded.
fn traced(root: &Path, now: &str, inject: &str) -> bool {
    let inner = build(root, now);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", inject]);
    strace.arg(inner.get_program()).args(inner.get_args());
    strace.current_dir(root).env("SOURCE_DATE_EPOCH", now).env_remove("UPDATE_EXPECTED");
    strace.stdout(Stdio::null()).stderr(Stdio::null());
    strace.status().unwrap().success()
}

/// The old and the new site between which builds are killed.
struct Scene<'s> {
    root: &'s Path,
    old: Files,
    old_state: Files,
    new: Files,
}

/// Results of kills.
#[derive(Debug, Default)]
struct Sum {
    old: u32,
    new: u32,
    /// Neither, before recovery.
    between: u32,
}

impl Scene<'_> {
    /// Restores the old site, kills a build of the new one, and checks the result.
    fn kill<T>(&self, sum: &mut Sum, attempt: impl FnOnce() -> T) -> T {
        let [out, state] = ["out", "state"].map(|name| self.root.join(name));
        restore(&out, &self.old);
        restore(&state, &self.old_state);
        let ended = attempt();
        check_references(&out);
        let found = files(&out);
        sum.between += u32::from(found != self.old && found != self.new);
        rutter_site::recover(&state).unwrap();
        let found = files(&out);
        assert!(found == self.old || found == self.new, "a mixture after recovery");
        sum.old += u32::from(found == self.old);
        sum.new += u32::from(found == self.new);
        check_references(&out);
        assert!(build(self.root, SECOND).status().unwrap().success());
        assert_eq!(files(&out), self.new);
        ended
    }
}

fn build(root: &Path, now: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    command
        .args(["build", "site", "--out", "out", "--state", "state", "--base-url", BASE])
        .current_dir(root)
        .env("SOURCE_DATE_EPOCH", now)
        // Renews the texts of other tests; to a build it is how often a site changes.
        .env_remove("UPDATE_EXPECTED")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn kill_after(mut command: Command, delay: Duration) {
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    while started.elapsed() < delay {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        std::thread::yield_now();
    }
    // The process may have ended already.
    drop(child.kill());
    child.wait().unwrap();
}

fn page(n: usize, seed: usize) -> String {
    format!(
        "<!doctype html><html lang=en><head><title>Page {n}</title></head><body><main><h1>Page {n}</h1>\
         <p>Entry {seed} of the log: {} boats, wind from the west at {} knots, the gate open for {} minutes.\
         </p></main></body></html>",
        seed * 7 % 91,
        seed * 13 % 40,
        seed * 31 % 180,
    )
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(here) = folders.pop() {
        for entry in fs::read_dir(&here).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn restore(folder: &Path, wanted: &Files) {
    fs::remove_dir_all(folder).unwrap();
    for (name, bytes) in wanted {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// Checks that all URLs in robots.txt, sitemap, ARC files and llms.txt exist, and that all
/// collections are valid.
fn check_references(out: &Path) {
    let there = |url: &str| {
        let inside = url.strip_prefix(BASE).unwrap_or_else(|| panic!("{url} is elsewhere"));
        let path = out.join(inside);
        let path =
            if inside.is_empty() || inside.ends_with('/') { path.join("index.html") } else { path };
        assert!(path.is_file(), "{url} is named but does not exist");
        path
    };
    // Before the first publication has finished, some of these may be missing.
    let robots = fs::read_to_string(out.join("robots.txt")).unwrap_or_default();
    for line in robots.lines() {
        if let Some(url) = line.strip_prefix("Sitemap: ") {
            there(url);
        }
    }
    let llms = fs::read_to_string(out.join("llms.txt")).unwrap_or_default();
    for link in rutter_llms::parse(&llms).links() {
        there(&link.url);
    }
    let arc = out.join("arc-sitemap.json");
    if arc.exists() {
        let head = read_arc(&arc, &mut |url| drop(there(url)));
        let deltas = head.deltas.unwrap();
        let days = [&deltas.from, &deltas.to].map(|day| deltas.template.replace("YYYY-MM-DD", day));
        for url in days {
            assert!(read_arc(&there(&url), &mut |_| {}).is_delta());
        }
    }
    let Ok(file) = fs::File::open(out.join("sitemap.xml")) else { return };
    let file = BufReader::new(file);
    let mut reader = SitemapReader::new(file, SitemapLimits::USUAL);
    while let Some(item) = reader.next(&mut ()).unwrap() {
        match item {
            SitemapItem::Url(entry) => drop(there(&entry.loc)),
            SitemapItem::Foreign(foreign) => {
                let attributes: Vec<(&str, &str)> =
                    foreign.attributes.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
                let advert = Advert::read(&foreign.name, &attributes, &foreign.text).unwrap();
                if let Advert::Collection(offer) = advert.unwrap() {
                    verify(&there(&offer.url), &offer);
                }
            }
            SitemapItem::Child(_) => panic!("a small site has no index"),
        }
    }
}

fn read_arc(path: &Path, each: &mut dyn FnMut(&str)) -> rutter_arc::SitemapHeader {
    let file = BufReader::new(fs::File::open(path).unwrap());
    let mut reader = rutter_arc::ArcReader::new(file, rutter_arc::Limits::DEFAULT);
    while reader.next(&mut (), |entry| each(entry.url.as_str())).unwrap().is_some() {}
    reader.finish(&mut ()).unwrap().head
}

fn verify(path: &Path, offer: &AdvertisedCollection) {
    assert_eq!(fs::metadata(path).unwrap().len(), offer.size);
    let file = fs::File::open(path).unwrap();
    let mut reader = CollectionReader::open(file, ReadOptions::default(), &mut ()).unwrap();
    while reader.next(&mut (), |_| ()).unwrap().is_some() {}
    let receipt = reader.finish(&mut ()).unwrap();
    assert_eq!(receipt.tally.pages, offer.pages);
}
