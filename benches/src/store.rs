//! Measures the replica: inserting pages compared with a plain insert of the same lines, the cost of
//! a delta, opening a very large replica, and memory.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use rusqlite::Connection;
use rutter_page::{LineDigest, Timestamp};
use rutter_store::prelude::*;
use rutter_store::{
    CheckDepth, CommitOptions, PageSource, Quota, SqliteStore, StagedPage, StagingMode,
    StagingOptions, StoreOptions,
};
use serde::Deserialize;

use crate::corpus::{Language, Rng, page};
use crate::table::{Job, Table, role, seconds};

/// Memory limit at a hundred thousand pages.
const MEMORY: u64 = 128_000_000;
/// Minimum speed of inserting pages, relative to the plain insert.
const GOAL: f64 = 0.5;
/// Default number of pages of the large replica.
pub(crate) const USUAL_LARGE: u64 = 1_000_000;
/// Time limits for the large replica, in seconds.
pub(crate) const OPEN: f64 = 1.0;
pub(crate) const LOOKUP: f64 = 0.005;
/// Number of pages of a delta.
const DELTA: u64 = 1_000;
/// Number of pages that are looked up in the large replica.
const LOOKUPS: u32 = 200;
const ORIGIN: &str = "https://docs.example";

/// Prints every figure with its goal; fails if a goal is missed.
pub(crate) fn run(n_pages: u64, n_rounds: usize, n_large: Option<u64>) -> anyhow::Result<()> {
    let folder = PathBuf::from("target/bench/store");
    fs::create_dir_all(&folder)?;
    let lines = folder.join(format!("lines-{n_pages}"));
    let changes = folder.join(format!("changes-{n_pages}"));
    write_lines(&lines, (0..n_pages).map(|n| (n, 0)))?;
    let step = (n_pages / DELTA).max(1);
    write_lines(&changes, (0..DELTA).map(|n| (n * step, 1)))?;
    let size = fs::metadata(&lines)?.len();
    println!("{n_pages} pages, {:.1} MB", size as f64 / 1e6);
    let [ours, bare] = ["ours.db", "bare.db"].map(|name| folder.join(name));
    let fresh = |file: &Path| {
        for ending in ["", "-wal", "-shm"] {
            drop(fs::remove_file(beside(file, ending)));
        }
    };
    let mut jobs: Vec<Job<'_>> = vec![
        (
            "ingest",
            Box::new(|| {
                fresh(&ours);
                role("store-ingest", &[&lines, &ours])
            }),
        ),
        (
            "bare insert",
            Box::new(|| {
                fresh(&bare);
                role("store-bare", &[&lines, &bare])
            }),
        ),
        ("the same again", Box::new(|| role("store-ingest", &[&lines, &ours]))),
        ("delta", Box::new(|| role("store-delta", &[&changes, &ours]))),
    ];
    let mut table = Table::new(n_rounds);
    let runs = table.rotate(&mut jobs)?;
    drop(jobs);
    let [ingest, insert, again, delta] = runs.as_slice() else { bail!("a measurement is missing") };
    let theirs = seconds(insert);
    table.compare("ingest", ingest, "bare insert", &theirs, (GOAL, None));
    table.compare("the same again", again, "bare insert", &theirs, (0.0, None));
    table.compare("delta of 1,000 pages", delta, "bare insert", &theirs, (0.0, None));
    for (name, runs) in [("ingest", ingest), ("the same again", again), ("delta", delta)] {
        table.remember_peak(name, runs);
    }
    table.print(size);
    table.print_peaks("of a whole process", MEMORY);
    let on_disk = |file: &Path| fs::metadata(file).map_or(0, |it| it.len()) as f64 / 1e6;
    println!("on disk: {:.1} MB, bare {:.1} MB", on_disk(&ours), on_disk(&bare));
    let mut missed = table.missed;
    if let Some(n_large) = n_large {
        missed += large(&folder, n_large)?;
    }
    ensure!(missed == 0, "{missed} figures miss their goal");
    Ok(())
}

/// Times measured at a very large replica, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looks {
    pub(crate) open: f64,
    pub(crate) mean: f64,
    pub(crate) worst: f64,
}

/// Opens a very large replica and looks pages up; the file is built once and kept.
pub(crate) fn look(folder: &Path, n_pages: u64) -> anyhow::Result<Looks> {
    let file = folder.join(format!("large-{n_pages}.db"));
    if !file.exists() {
        let started = Instant::now();
        let building = folder.join("building.db");
        drop(fs::remove_file(&building));
        let run = role("store-large", &[&building, &PathBuf::from(n_pages.to_string())])?;
        fs::rename(&building, &file)?;
        println!(
            "\n{n_pages} small pages built in {:.0} s, {:.1} MB of memory",
            started.elapsed().as_secs_f64(),
            run.peak as f64 / 1e6
        );
    }
    let started = Instant::now();
    let store = SqliteStore::open(&file, StoreOptions::default())?;
    let open = started.elapsed().as_secs_f64();
    let mut rng = Rng::new(7);
    let mut worst: f64 = 0.0;
    let started = Instant::now();
    for _ in 0..LOOKUPS {
        let began = Instant::now();
        let line = store.line(&small_url(rng.below(n_pages)))?;
        ensure!(line.is_some(), "a page is missing");
        worst = worst.max(began.elapsed().as_secs_f64());
    }
    let mean = started.elapsed().as_secs_f64() / f64::from(LOOKUPS);
    Ok(Looks { open, mean, worst })
}

/// Prints the figures of a very large replica; returns the number of missed goals.
fn large(folder: &Path, n_pages: u64) -> anyhow::Result<usize> {
    let looks = look(folder, n_pages)?;
    let mut missed = 0;
    for (name, value, goal) in
        [("open", looks.open, OPEN), ("look a page up, mean", looks.mean, LOOKUP)]
    {
        let is_fine = value < goal;
        missed += usize::from(!is_fine);
        let verdict = if is_fine { "ok" } else { "MISSED" };
        println!(
            "{n_pages} pages: {name}: {:.2} ms, at most {:.0} ms {verdict}",
            value * 1e3,
            goal * 1e3
        );
    }
    println!("{n_pages} pages: look a page up, worst: {:.2} ms", looks.worst * 1e3);
    Ok(missed)
}

pub(crate) fn run_role(role: &str, paths: &[PathBuf]) -> anyhow::Result<u64> {
    match (role, paths) {
        ("ingest", [lines, file]) => ingest(lines, file, StagingMode::Snapshot),
        ("delta", [lines, file]) => ingest(lines, file, StagingMode::Delta),
        ("bare", [lines, file]) => bare(lines, file),
        ("large", [file, n_pages]) => build_large(file, n_pages.to_string_lossy().parse()?),
        _ => bail!("no role store-{role}"),
    }
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn write_lines(file: &Path, pages: impl Iterator<Item = (u64, u64)>) -> anyhow::Result<()> {
    let language = Language::new(&mut Rng::new(42));
    let mut out = BufWriter::new(File::create(file)?);
    let mut line = String::new();
    for (n, version) in pages {
        page(&language, n, version, &mut line);
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    Ok(out.flush()?)
}

/// Fields of a line that both need.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    url: Cow<'a, str>,
    modified: Timestamp,
    #[serde(borrow)]
    title: Cow<'a, str>,
    #[serde(borrow)]
    language: Cow<'a, str>,
}

fn each(
    lines: &Path,
    take: impl FnMut(Head<'_>, &str) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    each_of(BufReader::with_capacity(256 << 10, File::open(lines)?), take)
}

fn each_of(
    mut input: impl BufRead,
    mut take: impl FnMut(Head<'_>, &str) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let mut line = String::new();
    let mut n_lines = 0;
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(n_lines);
        }
        let text = line.trim_end();
        take(serde_json::from_str(text)?, text)?;
        n_lines += 1;
    }
}

fn time(text: &str) -> anyhow::Result<Timestamp> {
    Ok(Timestamp::parse(text)?)
}

fn ingest(lines: &Path, file: &Path, mode: StagingMode) -> anyhow::Result<u64> {
    let store = SqliteStore::open(file, StoreOptions::default())?;
    let publisher = store.register(ORIGIN, &[])?;
    let now = time("2026-11-01T00:00:00Z")?;
    let lease = store.lease(publisher, now, now.plus_seconds(3600))?;
    let begin = StagingOptions {
        section: "all",
        mode,
        generated: now,
        source: PageSource::Scp,
        quota: Quota::DEFAULT,
        now,
    };
    let mut staging = store.stage(&lease, begin)?;
    let n_lines = each(lines, |head, line| {
        let digest = LineDigest::of(line.as_bytes());
        let Head { url, modified, title, language } = head;
        Ok(staging.add(&StagedPage {
            key: &url,
            modified,
            digest,
            title: &title,
            language: &language,
            line,
            withheld: None,
        })?)
    })?;
    let outlook =
        staging.commit(&CommitOptions { lines: Some(n_lines), ..CommitOptions::plain() })?;
    store.release(lease)?;
    Ok(outlook.after)
}

/// The smallest program that stores the same lines: one table, one transaction.
fn bare(lines: &Path, file: &Path) -> anyhow::Result<u64> {
    insert(BufReader::with_capacity(256 << 10, File::open(lines)?), file)
}

/// The same with lines from anywhere.
pub(crate) fn insert(lines: impl BufRead, file: &Path) -> anyhow::Result<u64> {
    let mut database = Connection::open(file)?;
    database.execute_batch(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = wal; PRAGMA synchronous = normal;
         CREATE TABLE page (id INTEGER PRIMARY KEY, url TEXT UNIQUE, modified TEXT, title TEXT,
            language TEXT, line TEXT);",
    )?;
    let transaction = database.transaction()?;
    let n_lines = {
        let mut insert = transaction.prepare(
            "INSERT INTO page (url, modified, title, language, line) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        each_of(lines, |head, line| {
            let Head { url, modified, title, language } = head;
            insert.execute((&*url, modified.to_string(), &*title, &*language, line))?;
            Ok(())
        })?
    };
    transaction.commit()?;
    Ok(n_lines)
}

fn small_url(n: u64) -> String {
    format!("{ORIGIN}/notes/{:04}/{n:08}", n / 1000)
}

fn build_large(file: &Path, n_pages: u64) -> anyhow::Result<u64> {
    let store = SqliteStore::open(file, StoreOptions::default())?;
    let publisher = store.register(ORIGIN, &[])?;
    let now = time("2026-11-01T00:00:00Z")?;
    let lease = store.lease(publisher, now, now.plus_seconds(3600))?;
    let begin = StagingOptions {
        section: "all",
        mode: StagingMode::Snapshot,
        generated: now,
        source: PageSource::Scp,
        quota: Quota::NONE,
        now,
    };
    let mut staging = store.stage(&lease, begin)?;
    for n in 0..n_pages {
        let key = small_url(n);
        let line = format!(
            "{{\"url\":\"{key}\",\"title\":\"Note {n}\",\"description\":\"Entry {n} of the log\",\
             \"modified\":\"2026-10-01T00:00:00Z\",\"language\":\"en\",\"content\":[{{\"type\":\"text\",\
             \"text\":\"{} boats, wind at {} knots, the gate open for {} minutes; {:x}\"}}]}}",
            n * 7 % 91,
            n * 13 % 40,
            n * 31 % 180,
            n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        );
        let digest = LineDigest::of(line.as_bytes());
        let modified = time("2026-10-01T00:00:00Z")?;
        let (title, language) = ("Note", "en");
        staging.add(&StagedPage {
            key: &key,
            modified,
            digest,
            title,
            language,
            line: &line,
            withheld: None,
        })?;
    }
    let outlook = staging.commit(&CommitOptions::plain())?;
    store.release(lease)?;
    let faults = store.check(CheckDepth::Records)?;
    ensure!(faults.is_empty(), "{}", faults.first().context("no fault")?);
    Ok(outlook.after)
}
