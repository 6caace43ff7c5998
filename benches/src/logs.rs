//! Measures access logs: a million lines are read, counted and watched in bounded memory.
//!
//! Compared with a loop that only searches line ends.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use rutter_logs::{
    AccessRecord, AccessTally, ClientMonitor, LogItem, LogReader, OddClientThresholds, ReadLimits,
    RequestFilter, TallySettings, agents,
};
use rutter_page::Timestamp;

use crate::table::{Job, Table, role, seconds};

/// Memory limit of a process that streams a log of hundreds of megabytes.
const MEMORY: u64 = 64_000_000;
/// Minimum speed of counting, relative to splitting lines. That loop reads several gigabytes per
/// second; counting does four lookups in large tables for each line.
const GOAL: f64 = 0.03;

/// Prints every figure with its goal; fails if a goal is missed.
pub(crate) fn run(n_lines: u64, n_rounds: usize) -> anyhow::Result<()> {
    let folder = PathBuf::from("target/bench/logs");
    fs::create_dir_all(&folder)?;
    let mut missed = 0;
    for shape in ["combined", "json"] {
        let file = folder.join(format!("{shape}-{n_lines}.log"));
        write(&file, n_lines, shape == "json")?;
        let size = fs::metadata(&file)?.len();
        println!("\n{shape}: {n_lines} lines, {:.1} MB", size as f64 / 1e6);
        let mut jobs: Vec<Job<'_>> = vec![
            ("read and count", Box::new(|| role("logs-read", &[&file]))),
            ("parse only", Box::new(|| role("logs-parse", &[&file]))),
            ("split lines", Box::new(|| role("logs-bare", &[&file]))),
        ];
        let mut table = Table::new(n_rounds);
        let runs = table.rotate(&mut jobs)?;
        drop(jobs);
        let [read, parse, bare] = runs.as_slice() else { bail!("a measurement is missing") };
        let bare = seconds(bare);
        table.compare("read, count and watch", read, "memchr, line ends only", &bare, (GOAL, None));
        // For comparison only.
        table.compare("parse only", parse, "memchr, line ends only", &bare, (0.0, None));
        table.remember_peak("read, count and watch", read);
        table.print(size);
        let middle = crate::table::middle(seconds(read));
        println!("{:.2} million lines per second", n_lines as f64 / 1e6 / middle);
        table.print_peaks("of a whole process", MEMORY);
        missed += table.missed;
        fs::remove_file(&file)?;
    }
    ensure!(missed == 0, "{missed} figures miss their goal");
    Ok(())
}

pub(crate) fn run_role(role: &str, file: &Path) -> anyhow::Result<u64> {
    match role {
        "read" => read(file),
        "parse" => parse(file),
        "bare" => split(file),
        _ => bail!("no role {role}"),
    }
}

/// Does everything that `rutter logs` does, except printing.
fn read(file: &Path) -> anyhow::Result<u64> {
    let mut reader = LogReader::open(File::open(file)?, ReadLimits::DEFAULT)?;
    let mut tally = AccessTally::new(TallySettings::DEFAULT, RequestFilter::default());
    let mut watch = ClientMonitor::new(OddClientThresholds::DEFAULT);
    let mut n_findings = 0;
    while let Some(item) = reader.next_item()? {
        let LogItem::Record(_, record) = item else { bail!("a line is broken") };
        tally.add(&record);
        n_findings += watch.observe(&record).len();
    }
    let summary = tally.finish();
    ensure!(100 < summary.agents.len() && 0 < n_findings, "the log is not as it was made");
    Ok(summary.requests)
}

fn parse(file: &Path) -> anyhow::Result<u64> {
    let mut reader = LogReader::open(File::open(file)?, ReadLimits::DEFAULT)?;
    let mut bytes = 0;
    while let Some(item) = reader.next_item()? {
        let LogItem::Record(_, record) = item else { bail!("a line is broken") };
        bytes += record.bytes;
    }
    Ok(bytes)
}

/// The limit: reads the same bytes through a buffer of the same size and searches line ends.
fn split(file: &Path) -> anyhow::Result<u64> {
    let mut input = File::open(file)?;
    let mut buffer = vec![0; 64 << 10];
    let mut n_lines = 0;
    loop {
        let n = input.read(&mut buffer)?;
        if n == 0 {
            return Ok(n_lines);
        }
        n_lines += memchr::memchr_iter(b'\n', &buffer[..n]).count() as u64;
    }
}

/// Writes a realistic log: a few hundred programs, thousands of clients, tens of thousands of
/// pages, most of them rarely requested.
fn write(file: &Path, n_lines: u64, is_json: bool) -> anyhow::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    };
    let programs: Vec<String> = agents::all()
        .iter()
        .map(|agent| format!("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; {}/1.{}; +https://bots.example/about)", agent.name, agent.name.len()))
        .chain((0..200).map(|n| format!("Mozilla/5.0 (X11; Linux x86_64; rv:{n}.0) Gecko/20100101 Firefox/{n}.0")))
        .collect();
    let mut target = String::new();
    for n in 0..n_lines {
        let time = Timestamp::from_unix_seconds(1_777_636_800 + i64::try_from(n / 20)?)
            .ok_or_else(|| anyhow::anyhow!("no such time"))?;
        // The product of two uniform numbers is usually small.
        let client = random(5000) * random(5000) / 5000;
        let page = random(30_000) * random(30_000) / 30_000;
        target.clear();
        match random(20) {
            0 => target.push_str("/scp/all-snapshot-20260501T000000Z.scp.zst"),
            1 => target.push_str("/robots.txt"),
            2..5 => write!(target, "/assets/picture-{}.webp", page % 500)?,
            5 => write!(target, "/guide/page-{page}.html.md")?,
            _ => write!(target, "/guide/section-{}/page-{page}.html", page % 97)?,
        }
        let program = &programs[(client as usize * 7 + random(2) as usize) % programs.len()];
        let status = match random(20) {
            0 => 304,
            1 => 404,
            _ => 200,
        };
        let record = AccessRecord {
            method: "GET".into(),
            target: target.as_str().into(),
            protocol: "HTTP/1.1".into(),
            bytes: if status == 200 { 4000 + page * 7 % 9000 } else { 0 },
            user_agent: Some(program.as_str().into()),
            ..AccessRecord::new(time, format!("192.0.{}.{}", client / 250, client % 250), status)
        };
        let line = if is_json { record.to_json() } else { record.to_combined() };
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(())
}
