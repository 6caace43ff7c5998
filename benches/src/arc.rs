//! Measures ARC sitemaps: a million pages are written and read in constant memory.
//!
//! Reading is compared with a parser that streams the same bytes and keeps nothing.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use rutter_arc::{
    ArcEntry, ArcReader, ExpectedDocument, JsonWriter, Limits, SitemapChecker, SitemapHeader,
};
use rutter_finding::{Report, Strictness};
use rutter_page::{PageUrl, RawJson, RawObject, Timestamp};
use serde::de::IgnoredAny;

use crate::table::{Job, Table, role, seconds};

/// Memory limit of a process that streams a file of hundreds of megabytes.
const MEMORY: u64 = 64_000_000;
/// Minimum speed of reading with all checks, relative to plain streaming.
const GOAL: f64 = 0.5;

/// Prints every figure with its goal; fails if a goal is missed.
pub(crate) fn run(n_pages: u64, n_rounds: usize) -> anyhow::Result<()> {
    let folder = PathBuf::from("target/bench/arc");
    fs::create_dir_all(&folder)?;
    let mut missed = 0;
    for shape in ["plain", "snapshots"] {
        let file = folder.join(format!("{shape}-{n_pages}.json"));
        write(BufWriter::new(File::create(&file)?), n_pages, is_rich(&file))?;
        let size = fs::metadata(&file)?.len();
        println!("\n{shape}: {n_pages} pages, {:.1} MB", size as f64 / 1e6);
        let mut jobs: Vec<Job<'_>> = vec![
            ("read and judge", Box::new(|| role("arc-read", &[&file]))),
            ("bare stream", Box::new(|| role("arc-bare", &[&file]))),
            ("bare slice", Box::new(|| role("arc-bare-slice", &[&file]))),
            ("write", Box::new(|| role("arc-write", &[&file]))),
        ];
        let mut table = Table::new(n_rounds);
        let runs = table.rotate(&mut jobs)?;
        drop(jobs);
        let [read, bare, slice, written] = runs.as_slice() else {
            bail!("a measurement is missing")
        };
        table.compare("read and judge", read, "serde_json, stream", &seconds(bare), (GOAL, None));
        // For comparison only: this parser holds the whole document.
        table.compare("read and judge", read, "serde_json, slice", &seconds(slice), (0.0, None));
        table.compare("write", written, "serde_json, stream", &seconds(bare), (0.0, None));
        table.remember_peak("read and judge", read);
        table.remember_peak("write", written);
        table.print(size);
        table.print_peaks("of a whole process", MEMORY);
        missed += table.missed;
        fs::remove_file(&file)?;
    }
    ensure!(missed == 0, "{missed} figures miss their goal");
    Ok(())
}

fn is_rich(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("snapshots"))
}

/// The file name contains the number of pages.
fn pages_of(file: &Path) -> u64 {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    name.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or(1)
}

pub(crate) fn run_role(role: &str, file: &Path) -> anyhow::Result<u64> {
    match role {
        "read" => read(File::open(file)?),
        "bare" => {
            let mut input = serde_json::Deserializer::from_reader(BufReader::with_capacity(
                64 << 10,
                File::open(file)?,
            ));
            let _all: IgnoredAny = serde::Deserialize::deserialize(&mut input)?;
            Ok(1)
        }
        "bare-slice" => {
            let bytes = fs::read(file)?;
            let _all: IgnoredAny = serde_json::from_slice(&bytes)?;
            Ok(1)
        }
        "write" => {
            let out = file.with_extension("out");
            write(BufWriter::new(File::create(&out)?), pages_of(file), is_rich(file))?;
            fs::remove_file(out)?;
            Ok(pages_of(file))
        }
        _ => bail!("no role {role}"),
    }
}

fn read(input: impl Read) -> anyhow::Result<u64> {
    let mut reader = ArcReader::new(input, Limits::DEFAULT);
    let mut report = Report::new(Strictness::Strict);
    let mut judge = SitemapChecker::new(Timestamp::from_unix_seconds(1_800_000_000));
    while reader
        .visit(&mut report, |entry, idx, sink| judge.check_entry(&entry, idx, sink))?
        .is_some()
    {}
    let receipt = reader.finish(&mut report)?;
    judge.finish(&receipt, ExpectedDocument::Sitemap, &mut report);
    ensure!(report.worst().is_none(), "the file is not clean");
    Ok(receipt.pages)
}

fn write(out: impl Write, n_pages: u64, is_rich: bool) -> anyhow::Result<()> {
    let now = Timestamp::parse("2026-05-01T00:00:00Z")?;
    let mut writer = JsonWriter::new(out, &SitemapHeader::new("https://harbour.example", now))?;
    for n in 0..n_pages {
        writer.push(&entry(n, is_rich)?)?;
    }
    writer.finish()?;
    Ok(())
}

fn entry(n: u64, is_rich: bool) -> anyhow::Result<ArcEntry<'static>> {
    let url = PageUrl::parse(format!(
        "https://harbour.example/guide/section-{}/page-{n:07}.html",
        n / 10_000
    ))?;
    let summary = format!(
        "Page {n} of the guide tells when the water is high at berth {}, who keeps the light and \
         where the ferry \"Marie\" leaves.",
        n % 977
    );
    let snapshot = format!(
        "{{\"page\":\"guide\",\"title\":\"Page {n}\",\"sections\":[{{\"name\":\"tides\",\"type\":\"Table\",\
         \"intent\":\"read\",\"groups\":[{{\"name\":\"day\",\"high\":\"12:{:02}\"}}],\"fields\":[{{\"field\":\
         \"berth\",\"label\":\"Berth\",\"type\":\"number\"}}]}}]}}",
        n % 60
    );
    let snapshot = if is_rich { RawObject::new(RawJson::parse(&snapshot)?) } else { None };
    Ok(ArcEntry {
        lastmod: Timestamp::from_unix_seconds(1_767_225_600 + i64::try_from(n)? * 7),
        crawl_priority: Some((n % 11) as f64 / 10.0),
        ai_summary: Some(summary.into()),
        ai_tags: ["guide", "tides", "harbour"].map(Into::into).to_vec(),
        ai_checksum: Some(format!("sha256:{:064x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).into()),
        ai_snapshot: snapshot,
        ..ArcEntry::new(url, Some(true))
    })
}
