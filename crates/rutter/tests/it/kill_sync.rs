//! A sync that is killed, or that finds no room, leaves the old pages or the
//! new ones.
//!
//! `KILLS=200 cargo test -p rutter kill` kills more often; `STRACE=1` kills at
//! system calls that change files, one after another, which needs strace.
//! A full disk is a small tmpfs, which only root can mount; others skip it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rutter_page::LineDigest;
use rutter_store::{Access, Depth, Options, Selection, SqliteStore, Store};

const KILLS: u32 = 12;
const PAGES: usize = 120;
/// When the two builds are said to happen.
const FIRST: &str = "1793491200";
const SECOND: &str = "1793577600";

/// Key and digest of every page that can be read.
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
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for n in 0..PAGES {
            write_page(root, n, n);
        }
        // The pages name their own address, so a port comes first.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let origin = format!("http://127.0.0.1:{port}");
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
        assert_eq!(scene.old.len(), PAGES);
        for n in 0..PAGES / 3 {
            write_page(scene.folder.path(), n * 3, n + 1000);
            write_page(scene.folder.path(), PAGES + n, n);
        }
        fs::remove_file(scene.path("site/docs/001.html")).unwrap();
        build(scene.folder.path(), &scene.origin, SECOND);
        assert!(scene.sync("new.db").status().unwrap().success());
        scene.new = pages(&scene.path("new.db"));
        assert_eq!(scene.new.len(), PAGES + PAGES / 3 - 1);
        scene
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

    /// How long a sync takes that nobody kills: the shortest of three, so that
    /// kills come in time.
    fn duration(&self, start: Start) -> Duration {
        let once = || {
            self.lay(start, "replica.db");
            let started = Instant::now();
            assert!(self.sync("replica.db").status().unwrap().success());
            started.elapsed()
        };
        [once(), once(), once()].into_iter().min().unwrap_or_default()
    }

    /// Looks at what an attempt left behind, and lets another one finish it.
    fn look(&self, start: Start, database: &str, sum: &mut Sum) {
        let path = self.path(database);
        let before = if start == Start::Old { self.old.clone() } else { Pages::new() };
        let found = if path.exists() { pages(&path) } else { Pages::new() };
        assert!(found == before || found == self.new, "a mixture of {} pages", found.len());
        sum.old += u32::from(found == before);
        sum.new += u32::from(found == self.new);
        let output = self.sync(database).stderr(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(pages(&path) == self.new, "another sync does not get through");
        // What the attempt left half done is gone, too.
        let store = SqliteStore::open(&path, Options::default()).unwrap();
        assert_eq!(store.check(Depth::Bodies).unwrap(), Vec::<String>::new());
    }
}

/// What an attempt begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Empty,
    Old,
}

/// How attempts ended.
#[derive(Debug, Default)]
struct Sum {
    old: u32,
    new: u32,
}

fn write_page(root: &Path, n: usize, seed: usize) {
    let text = format!(
        "<!doctype html><html lang=en><head><title>Page {n}</title></head><body><main><h1>Page {n}</h1>\
         <p>Entry {seed} of the log: {} boats, wind from the west at {} knots, the gate open for {} minutes.\
         </p></main></body></html>",
        seed * 7 % 91,
        seed * 13 % 40,
        seed * 31 % 180,
    );
    let path = root.join(format!("site/docs/{n:03}.html"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The pages of a replica as those see them who only read.
fn pages(path: &Path) -> Pages {
    let options = Options { access: Access::Read, ..Options::default() };
    // One whose first commit never came is no replica yet.
    let Ok(store) = SqliteStore::open(path, options) else { return Pages::new() };
    let lines = store.lines(&Selection::default(), None, 10_000).unwrap();
    let pages = lines.into_iter().map(|(row, line)| {
        let digest = LineDigest::of(line.as_bytes());
        assert_eq!(digest, row.digest, "{}", row.url);
        (row.url, digest)
    });
    pages.collect()
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

#[test]
fn ours_a_killed_sync_leaves_old_pages_or_new_ones() {
    let n_kills = std::env::var("KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS);
    let scene = Scene::new();
    let mut random = 88_172_645_463_325_252_u64;
    for start in [Start::Empty, Start::Old] {
        let mut sum = Sum::default();
        let duration = scene.duration(start);
        for _ in 0..n_kills {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let share = f64::from(u32::try_from(random % 1200).unwrap()) / 1000.0;
            scene.lay(start, "replica.db");
            kill_after(scene.sync("replica.db"), duration.mul_f64(share));
            scene.look(start, "replica.db", &mut sum);
        }
        println!("{n_kills} kills from {start:?}: {sum:?}");
        assert_eq!(sum.old + sum.new, n_kills);
    }
    if std::env::var_os("STRACE").is_some() {
        at_system_calls(&scene);
    }
}

/// Kills at every k-th call that changes a file, until one gets through;
/// `EVERY` is k.
fn at_system_calls(scene: &Scene) {
    let every = std::env::var("EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(25);
    for start in [Start::Empty, Start::Old] {
        for calls in ["write,pwrite64", "fsync,fdatasync,ftruncate", "unlink,unlinkat,rename,mkdir"]
        {
            let mut sum = Sum::default();
            for step in 0..2_000 {
                scene.lay(start, "replica.db");
                let when = 1 + step * every;
                let inject = format!("inject={calls}:signal=SIGKILL:when={when}");
                let inner = scene.sync("replica.db");
                let mut strace = Command::new("strace");
                strace.args(["-f", "-qq", "-o", "/dev/null", "-e", &inject]);
                strace.arg(inner.get_program()).args(inner.get_args());
                strace.current_dir(scene.folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
                let is_through = strace.status().unwrap().success();
                scene.look(start, "replica.db", &mut sum);
                if is_through {
                    break;
                }
            }
            println!("kills at {calls} from {start:?}: {sum:?}");
        }
    }
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

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(
            Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap().success()
        );
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
fn ours_a_full_disk_keeps_the_old_pages() {
    let scene = Scene::new();
    let Some(disk) = Tmpfs::mount(&scene.path("disk"), "size=64m") else {
        println!("skipped: only root can mount a small file system");
        return;
    };
    let size = fs::metadata(scene.path("old.db")).unwrap().len();
    let mut n_full = 0;
    // From no room at all to enough.
    for extra in (0..40).map(|step| step * 24 * 1024) {
        disk.remount("size=64m");
        remove(&scene.path("disk/replica.db"));
        copy(&scene.path("old.db"), &scene.path("disk/replica.db"));
        disk.remount(&format!("size={}", size + extra));
        let output = scene.sync("disk/replica.db").stderr(Stdio::piped()).output().unwrap();
        if output.status.success() {
            break;
        }
        n_full += 1;
        assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
        // Looking needs a little room for the index of the log.
        disk.remount("size=64m");
        let found = pages(&scene.path("disk/replica.db"));
        assert!(found == scene.old || found == scene.new, "a mixture of {} pages", found.len());
        let mut sum = Sum::default();
        scene.look(Start::Old, "disk/replica.db", &mut sum);
    }
    println!("{n_full} syncs found the disk full");
    assert!(0 < n_full);
}

#[test] // F05
fn ours_a_replica_that_may_only_be_read_stays_as_it_is() {
    let scene = Scene::new();
    let Some(disk) = Tmpfs::mount(&scene.path("disk"), "size=64m") else {
        println!("skipped: only root can mount a file system to read only");
        return;
    };
    copy(&scene.path("old.db"), &scene.path("disk/replica.db"));
    let before = fs::read(scene.path("disk/replica.db")).unwrap();
    disk.remount("ro");
    let output = scene.sync("disk/replica.db").stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", talk(&output));
    assert_eq!(talk(&output).lines().filter(|line| line.starts_with("error: ")).count(), 1);
    assert_eq!(fs::read(scene.path("disk/replica.db")).unwrap(), before);
    assert!(pages(&scene.path("disk/replica.db")) == scene.old);
    // What only reads goes on, from a file that has no log beside it.
    let mut command = rutter(scene.folder.path());
    command.args(["list", "--store", "disk/replica.db"]).stdout(Stdio::piped());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), PAGES);
}
