//! A build that is killed leaves the old site or the new one.
//!
//! `KILLS=200 cargo test -p rutter kill` kills it more often; `STRACE=1` kills
//! it at system calls that move or remove files, one after another, which
//! needs strace.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rutter_scp::advert::{Advert, Collection};
use rutter_scp::{Options, Reader};
use rutter_signpost::sitemap::{Item, Limits, Reader as SitemapReader};

const BASE: &str = "https://harbour.example/";
const KILLS: u32 = 20;
/// When the two builds are said to happen.
const FIRST: &str = "1793491200";
const SECOND: &str = "1793577600";

type Files = BTreeMap<PathBuf, Vec<u8>>;

#[test]
fn ours_a_killed_build_is_old_or_new_and_never_names_what_is_not_there() {
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
        // Any moment from the start to beyond the end.
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
            // Until the build gets through.
            for step in 0.. {
                let when = 1 + step * 5;
                let inject = format!("inject={calls}:signal=SIGKILL:when={when}");
                let is_through = scene.kill(&mut sum, || {
                    let inner = build(root, SECOND);
                    let mut strace = Command::new("strace");
                    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", &inject]);
                    strace.arg(inner.get_program()).args(inner.get_args());
                    strace.current_dir(root).env("SOURCE_DATE_EPOCH", SECOND);
                    strace.stdout(Stdio::null()).stderr(Stdio::null());
                    strace.status().unwrap().success()
                });
                if is_through {
                    break;
                }
            }
        }
        println!("kills at system calls: {sum:?}");
        assert!(0 < sum.between, "no kill hit a publication");
    }
}

/// What builds are killed between.
struct Scene<'s> {
    root: &'s Path,
    old: Files,
    old_state: Files,
    new: Files,
}

/// How kills ended.
#[derive(Debug, Default)]
struct Sum {
    old: u32,
    new: u32,
    /// Neither, before recovery.
    between: u32,
}

impl Scene<'_> {
    /// Lays the old site out, kills a build of the new one, and looks.
    fn kill<T>(&self, sum: &mut Sum, attempt: impl FnOnce() -> T) -> T {
        let [out, state] = ["out", "state"].map(|name| self.root.join(name));
        restore(&out, &self.old);
        restore(&state, &self.old_state);
        let ended = attempt();
        check_references(&out);
        let found = files(&out);
        sum.between += u32::from(found != self.old && found != self.new);
        rutter_build::recover(&state).unwrap();
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
        .env_remove("RUTTER_UPDATE")
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
    // It may have ended by itself in the meantime.
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

/// Every address that robots.txt, sitemap, ARC and llms.txt name is there, and
/// every collection verifies.
fn check_references(out: &Path) {
    let there = |url: &str| {
        let inside = url.strip_prefix(BASE).unwrap_or_else(|| panic!("{url} is elsewhere"));
        let path = out.join(inside);
        let path =
            if inside.is_empty() || inside.ends_with('/') { path.join("index.html") } else { path };
        assert!(path.is_file(), "{url} is named and not there");
        path
    };
    let robots = fs::read_to_string(out.join("robots.txt")).unwrap();
    for line in robots.lines() {
        if let Some(url) = line.strip_prefix("Sitemap: ") {
            there(url);
        }
    }
    let llms = fs::read_to_string(out.join("llms.txt")).unwrap();
    for link in rutter_signpost::llms::parse(&llms).links() {
        there(&link.url);
    }
    let head = read_arc(&out.join("arc-sitemap.json"), &mut |url| drop(there(url)));
    let deltas = head.deltas.unwrap();
    let days = [&deltas.from, &deltas.to].map(|day| deltas.template.replace("YYYY-MM-DD", day));
    for url in days {
        assert!(read_arc(&there(&url), &mut |_| {}).is_delta());
    }
    let file = BufReader::new(fs::File::open(out.join("sitemap.xml")).unwrap());
    let mut reader = SitemapReader::new(file, Limits::USUAL);
    while let Some(item) = reader.next(&mut ()).unwrap() {
        match item {
            Item::Url(entry) => drop(there(&entry.loc)),
            Item::Foreign(foreign) => {
                let attributes: Vec<(&str, &str)> =
                    foreign.attributes.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
                let advert = Advert::read(&foreign.name, &attributes, &foreign.text).unwrap();
                if let Advert::Collection(offer) = advert.unwrap() {
                    verify(&there(&offer.url), &offer);
                }
            }
            Item::Child(_) => panic!("a small site has no index"),
        }
    }
}

fn read_arc(path: &Path, each: &mut dyn FnMut(&str)) -> rutter_arc::Head {
    let file = BufReader::new(fs::File::open(path).unwrap());
    let mut reader = rutter_arc::Reader::new(file, rutter_arc::Limits::USUAL);
    while reader.next(&mut (), |entry| each(entry.url.as_str())).unwrap().is_some() {}
    reader.finish(&mut ()).unwrap().head
}

fn verify(path: &Path, offer: &Collection) {
    assert_eq!(fs::metadata(path).unwrap().len(), offer.size);
    let file = fs::File::open(path).unwrap();
    let mut reader = Reader::open(file, Options::default(), &mut ()).unwrap();
    while reader.next(&mut (), |_| ()).unwrap().is_some() {}
    let receipt = reader.finish(&mut ()).unwrap();
    assert_eq!(receipt.tally.pages, offer.pages);
}
