//! Measures sitemaps: reading compared with a loop over XML events, writing with another writer,
//! both in constant memory.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, ensure};
use quick_xml::events::Event;
use rutter_page::Timestamp;
use rutter_sitemap::{
    AlternateLink, ChangeFreq, ForeignElement, PushOutcome, SitemapEntry, SitemapItem,
    SitemapLimits, SitemapReader, UrlsetWriter,
};

use crate::table::{Job, Run, Table, role, seconds, timed};

/// Entries of the file, and how often it is read or written in one measurement.
const ENTRIES: u64 = 50_000;
const PASSES: usize = 20;
/// Memory limit of a process that streams a file of 15 MB.
const MEMORY: u64 = 10_000_000;

/// Prints every figure with its goal; fails if a goal is missed.
pub(crate) fn run(peer: Option<&Path>, n_rounds: usize) -> anyhow::Result<()> {
    let folder = PathBuf::from("target/bench/sitemap");
    fs::create_dir_all(&folder)?;
    let mut missed = 0;
    for (shape, n_links) in [("fields", 0), ("links", 1)] {
        let file = folder.join(format!("{shape}.xml"));
        write_to(BufWriter::new(File::create(&file)?), n_links)?;
        let size = fs::metadata(&file)?.len();
        println!("\n{shape}: {ENTRIES} entries, {:.1} MB, {PASSES} passes", size as f64 / 1e6);
        let mut jobs: Vec<Job<'_>> = vec![
            ("read", Box::new(|| role("sitemap-read", &[&file]))),
            ("bare events", Box::new(|| role("sitemap-bare", &[&file]))),
            ("bare events, buffered", Box::new(|| role("sitemap-bare-buffered", &[&file]))),
            ("write", Box::new(|| role("sitemap-write", &[&file]))),
            ("read a file", Box::new(|| role("sitemap-read-file", &[&file]))),
            ("write a file", Box::new(|| role("sitemap-write-file", &[&file]))),
        ];
        if let Some(peer) = peer {
            let run = move || {
                let mut command = Command::new(peer);
                timed(command.arg("sitemap-rs").arg(n_links.to_string()).arg(PASSES.to_string()))
            };
            jobs.push(("sitemap-rs", Box::new(run)));
        }
        let mut table = Table::new(n_rounds);
        let runs = table.rotate(&mut jobs)?;
        drop(jobs);
        let [read, bare, buffered, write, read_file, write_file, peers @ ..] = runs.as_slice()
        else {
            bail!("a measurement is missing")
        };
        // A loop that parses no attributes has less to do.
        let goal = if n_links == 0 { 0.7 } else { 0.5 };
        let times = |runs: &[Run]| seconds(runs);
        table.compare("read", read, "bare events", &times(bare), (goal, None));
        table.compare("read", read, "bare events, buffered", &times(buffered), (goal, None));
        for peer in peers {
            table.compare("write", write, "sitemap-rs", &times(peer), (1.0, None));
        }
        table.remember_peak("read a file", read_file);
        table.remember_peak("write a file", write_file);
        table.print(size * PASSES as u64);
        table.print_peaks("of a whole process", MEMORY);
        missed += table.missed;
    }
    if peer.is_none() {
        println!("sitemap-rs: not there, not measured");
    }
    ensure!(missed == 0, "{missed} figures miss their goal");
    Ok(())
}

/// Runs a role; the name of its path tells the shape of the file.
pub(crate) fn run_role(role: &str, file: &Path) -> anyhow::Result<u64> {
    let n_links = u64::from(file.ends_with("links.xml"));
    match role {
        "read" => {
            let bytes = fs::read(file)?;
            (0..PASSES).map(|_| read(bytes.as_slice())).sum()
        }
        "read-file" => read(BufReader::new(File::open(file)?)),
        "bare" => {
            let bytes = fs::read(file)?;
            (0..PASSES).map(|_| bare(&bytes)).sum()
        }
        "bare-buffered" => {
            let bytes = fs::read(file)?;
            (0..PASSES).map(|_| bare_buffered(&bytes)).sum()
        }
        "write" => {
            let entries: Vec<SitemapEntry> = (0..ENTRIES).map(|n| entry(n, n_links)).collect();
            let mut out = Vec::new();
            for _ in 0..PASSES {
                out.clear();
                let mut writer = UrlsetWriter::new(&mut out, &adverts())?;
                for entry in &entries {
                    ensure!(writer.push(entry)? == PushOutcome::Written, "the file is full");
                }
                writer.finish()?;
            }
            Ok(out.len() as u64)
        }
        "write-file" => {
            write_to(io::sink(), n_links)?;
            Ok(ENTRIES)
        }
        _ => bail!("no role {role}"),
    }
}

/// Reads and counts all fields.
fn read(input: impl io::BufRead) -> anyhow::Result<u64> {
    let mut findings = Vec::new();
    let mut reader = SitemapReader::new(input, SitemapLimits::USUAL);
    let mut n = 0;
    while let Some(item) = reader.next(&mut findings)? {
        n += match item {
            SitemapItem::Url(entry) => {
                entry.loc.len() as u64 + u64::from(entry.lastmod.is_some()) + entry.line % 2
            }
            SitemapItem::Foreign(foreign) => foreign.attributes.len() as u64,
            SitemapItem::Child(_) => 0,
        };
    }
    ensure!(findings.is_empty() && !reader.is_truncated(), "the file is not clean");
    Ok(n)
}

/// The limit: XML events only, borrowed from memory.
fn bare(bytes: &[u8]) -> anyhow::Result<u64> {
    let mut reader = quick_xml::Reader::from_reader(bytes);
    let mut n = 0;
    loop {
        match reader.read_event()? {
            Event::Eof => return Ok(n),
            Event::Text(text) => n += text.len() as u64,
            _ => n += 1,
        }
    }
}

/// The same through a buffer, as a stream is read.
fn bare_buffered(bytes: &[u8]) -> anyhow::Result<u64> {
    let mut reader = quick_xml::Reader::from_reader(BufReader::new(bytes));
    let mut buffer = Vec::new();
    let mut n = 0;
    loop {
        match reader.read_event_into(&mut buffer)? {
            Event::Eof => return Ok(n),
            Event::Text(text) => n += text.len() as u64,
            _ => n += 1,
        }
        buffer.clear();
    }
}

fn write_to(out: impl Write, n_links: u64) -> anyhow::Result<()> {
    let mut writer = UrlsetWriter::new(out, &adverts())?;
    for n in 0..ENTRIES {
        ensure!(writer.push(&entry(n, n_links))? == PushOutcome::Written, "the file is full");
    }
    writer.finish()?.flush()?;
    Ok(())
}

fn adverts() -> Vec<ForeignElement> {
    let element = |name: &str, attributes: &[(&str, &str)], text: &str| ForeignElement {
        namespace: "https://scp-protocol.org/schemas/sitemap/1.0".to_owned(),
        name: name.to_owned(),
        attributes: attributes.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        text: text.to_owned(),
    };
    vec![
        element("version", &[], "0.1"),
        element("section", &[("name", "docs"), ("updateFreq", "daily"), ("pages", "50000")], ""),
    ]
}

/// The same entries as `benches/peers` writes.
fn entry(n: u64, n_links: u64) -> SitemapEntry {
    let link = |_| AlternateLink {
        hreflang: "de".to_owned(),
        href: format!("https://harbour.example/de/section-{}/page-{n}.html", n % 97),
        media_type: None,
    };
    SitemapEntry {
        loc: format!(
            "https://harbour.example/guide/section-{}/page-{n}.html?lang=en&v={}",
            n % 97,
            n % 7
        ),
        lastmod: Timestamp::from_unix_seconds(1_767_225_600 + i64::try_from(n).unwrap() * 37),
        changefreq: Some(if n.is_multiple_of(3) { ChangeFreq::Daily } else { ChangeFreq::Monthly }),
        priority: Some((n % 11) as f32 / 10.0),
        alternates: (0..n_links).map(link).collect(),
        ..SitemapEntry::default()
    }
}
