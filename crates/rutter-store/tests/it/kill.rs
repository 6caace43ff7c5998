//! A killed staging leaves either the old pages or the new ones.
//!
//! The child process is this test program itself; environment variables make it stage and commit.
//! `KILLS=200 cargo test -p rutter-store kill` kills it more often.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rutter_store::prelude::*;
use rutter_store::{
    CheckDepth, CommitOptions, SqliteStore, StagingBuffer, StagingMode, StoreOptions,
};

use crate::site::{Draft, all_lines, at, begin, claim, publisher, put};

const KILLS: u32 = 20;
/// Environment variables with the file of a child and its task.
const FILE: &str = "RUTTER_STORE_FILE";
const DEED: &str = "RUTTER_STORE_DEED";
const PAGES: usize = 900;

/// Small batches, so that kills hit them and the flip.
fn options() -> StoreOptions {
    StoreOptions {
        tuning: StagingBuffer { held: 100, batch: 50, ..StagingBuffer::DEFAULT },
        ..StoreOptions::default()
    }
}

fn old_pages() -> Vec<Draft> {
    (0..PAGES).map(|n| Draft::new(n, 0, &format!("old {n}"))).collect()
}

/// A tenth of the pages is new, a tenth is removed, and a third is changed.
fn new_pages() -> Vec<Draft> {
    let kept = (PAGES / 10)..PAGES;
    let fresh = PAGES..(PAGES + PAGES / 10);
    let draft = |n: usize| match n % 3 {
        0 => Draft::new(n, 2, &format!("new {n}")),
        _ => Draft::new(n, 0, &format!("old {n}")),
    };
    kept.map(draft).chain(fresh.map(|n| Draft::new(n, 2, "fresh"))).collect()
}

fn apply(path: &Path, deed: &str) {
    let store = SqliteStore::open(path, options()).unwrap();
    let id = store.register(crate::site::ORIGIN, &[]).unwrap();
    // The lease of a killed process is taken over.
    let lease = store.lease(id, at(0), at(100)).unwrap();
    let (old, new) = (old_pages(), new_pages());
    let mode = if deed == "snapshot" { StagingMode::Snapshot } else { StagingMode::Delta };
    let mut staging = store.stage(&lease, begin("all", mode, 2)).unwrap();
    let wanted: BTreeMap<&str, &Draft> = new.iter().map(|it| (it.key.as_str(), it)).collect();
    let known: BTreeMap<&str, &Draft> = old.iter().map(|it| (it.key.as_str(), it)).collect();
    for draft in &new {
        if mode == StagingMode::Snapshot || known.get(draft.key.as_str()) != Some(&draft) {
            draft.add(&mut *staging);
        }
    }
    if mode == StagingMode::Delta {
        for draft in old.iter().filter(|it| !wanted.contains_key(it.key.as_str())) {
            staging.remove(&draft.key, rutter_store::RemovalCause::Removed).unwrap();
        }
    }
    staging.commit(&CommitOptions { claim: Some(claim(&new)), ..CommitOptions::plain() }).unwrap();
    store.release(lease).unwrap();
}

/// The task of the child process; without a parent it tests the task itself.
#[test]
fn child_process_of_the_kill_test() {
    if let (Some(file), Ok(deed)) = (std::env::var_os(FILE), std::env::var(DEED)) {
        return apply(Path::new(&file), &deed);
    }
    let folder = tempfile::tempdir().unwrap();
    for deed in ["snapshot", "delta"] {
        let path = folder.path().join(deed);
        lay_out(&path);
        apply(&path, deed);
        assert_eq!(look(&path).0, lines_of(new_pages()));
    }
}

#[test] // K1 K2
fn killed_staging_leaves_old_or_new_pages() {
    let n_kills = std::env::var("KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS);
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("base.db");
    lay_out(&base);
    let (old, new) = (lines_of(old_pages()), lines_of(new_pages()));
    for deed in ["snapshot", "delta"] {
        let path = folder.path().join("replica.db");
        copy(&base, &path);
        let started = Instant::now();
        assert!(child(&path, deed).status().unwrap().success());
        let longest = started.elapsed();
        let mut random = 88_172_645_463_325_252_u64;
        let (mut n_old, mut n_new, mut n_runs) = (0, 0, 0);
        for _ in 0..n_kills {
            copy(&base, &path);
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let share = f64::from(u32::try_from(random % 1200).unwrap()) / 1000.0;
            kill_after(child(&path, deed), longest.mul_f64(share));
            n_runs += u32::from(has_run(&path));
            let (found, faults) = look(&path);
            assert_eq!(faults, [""; 0]);
            assert!(found == old || found == new, "a mixture after a kill");
            n_old += u32::from(found == old);
            n_new += u32::from(found == new);
            assert!(!has_run(&path), "opening leaves nothing half done");
            if found == old {
                apply(&path, deed);
                assert_eq!(look(&path).0, new);
            }
        }
        println!("{deed}: {n_kills} kills, {n_old} old, {n_new} new, {n_runs} in the middle");
        assert_eq!(n_old + n_new, n_kills);
        assert!(0 < n_runs, "no kill hit a staging");
    }
}

fn lines_of(drafts: Vec<Draft>) -> Vec<(String, String)> {
    drafts.into_iter().map(|draft| (draft.key, draft.line)).collect()
}

fn lay_out(path: &Path) {
    let store = SqliteStore::open(path, options()).unwrap();
    let (_, lease) = publisher(&store);
    put(&store, &lease, begin("all", StagingMode::Snapshot, 1), &old_pages()).unwrap();
    store.release(lease).unwrap();
}

fn look(path: &Path) -> (Vec<(String, String)>, Vec<String>) {
    let store = SqliteStore::open(path, options()).unwrap();
    (all_lines(&store), store.check(CheckDepth::Content).unwrap())
}

fn has_run(path: &Path) -> bool {
    let database = rusqlite::Connection::open(path).unwrap();
    database.query_row("SELECT EXISTS (SELECT 1 FROM run)", [], |row| row.get(0)).unwrap()
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn copy(from: &Path, to: &Path) {
    for ending in ["", "-wal", "-shm"] {
        drop(fs::remove_file(beside(to, ending)));
        if beside(from, ending).exists() {
            fs::copy(beside(from, ending), beside(to, ending)).unwrap();
        }
    }
}

fn child(path: &Path, deed: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "kill::child_process_of_the_kill_test"])
        .env(FILE, path)
        .env(DEED, deed)
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
    // The child may have exited by itself.
    drop(child.kill());
    child.wait().unwrap();
}
