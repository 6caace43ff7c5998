//! What is measured, each in a process of its own so that its memory is its own.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rutter_finding::Mode;
use rutter_scp::{
    Applying, Change, Coding, Empty, Header, Input, Kind, Limits, MassDeletion, Options, Order,
    Packing, Reader, Target, Threads, Track, Version, Writer, apply, collection_id, diff,
    folder_of, pack,
};
use sha2::{Digest, Sha256};

/// Runs a role and gives what it counted.
pub(crate) fn run(role: &str, paths: &[PathBuf]) -> anyhow::Result<u64> {
    match (role, paths) {
        ("read-1", [file]) => read(file, Threads::One),
        ("read-2", [file]) => read(file, Threads::Two),
        ("bare-read", [file]) => bare_read(file),
        ("write", [text, out]) => write(text, out),
        ("bare-write", [text, out]) => bare_write(text, out),
        ("pack", [lines, out]) => pack_lines(lines, out),
        ("diff", [old, new, out]) => compare(old, new, out),
        ("extract", files) => Ok(crate::extract::extract(&crate::extract::listed(files)?)),
        ("extract-once", files) => {
            Ok(crate::extract::extract_once(&crate::extract::listed(files)?))
        }
        ("build", [site, state]) => Ok(crate::build::build_site(site, state, None)?.pages),
        ("build-out", [site, state, out]) => {
            Ok(crate::build::build_site(site, state, Some(out.clone()))?.pages)
        }
        ("check", [site]) => crate::check::check_site(site, None),
        ("check", [site, state]) => crate::check::check_site(site, Some(state)),
        ("apply", [snapshot, delta, out]) => merge(snapshot, delta, out),
        (role, [file]) if role.starts_with("arc-") => {
            crate::arc::run_role(role.trim_start_matches("arc-"), file)
        }
        (role, [file]) if role.starts_with("logs-") => {
            crate::logs::run_role(role.trim_start_matches("logs-"), file)
        }
        (role, [file]) if role.starts_with("sitemap-") => {
            crate::sitemap::run_role(role.trim_start_matches("sitemap-"), file)
        }
        (role, paths) if role.starts_with("store-") => {
            crate::store::run_role(role.trim_start_matches("store-"), paths)
        }
        _ => bail!("no role {role} with {} paths", paths.len()),
    }
}

fn options(threads: Threads) -> Options {
    Options { limits: Limits::SPEC, size: None, threads }
}

/// Reads, verifies and fully parses a collection.
fn read(file: &Path, threads: Threads) -> anyhow::Result<u64> {
    let mut findings = Vec::new();
    let mut reader = Reader::open(File::open(file)?, options(threads), &mut findings)?;
    let mut n_blocks = 0;
    while let Some(mut batch) = reader.batch(&mut findings)? {
        while let Some(record) = batch.next_page(&mut findings)? {
            n_blocks += record.page.content.len() as u64;
        }
    }
    let receipt = reader.finish(&mut findings)?;
    anyhow::ensure!(findings.is_empty() && receipt.form.is_some(), "the corpus is not clean");
    Ok(n_blocks)
}

/// The limit on one thread: decodes and hashes, nothing else.
fn bare_read(file: &Path) -> anyhow::Result<u64> {
    let mut decoder = zstd::stream::read::Decoder::new(File::open(file)?)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 256 << 10];
    let mut total = 0;
    loop {
        let n = decoder.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
        total += n as u64;
    }
    anyhow::ensure!(hash.finalize()[0] < u8::MAX || 0 < total);
    Ok(total)
}

fn header(kind: Kind, generated: &str) -> anyhow::Result<Header> {
    let generated = rutter_page::Timestamp::parse(generated)?;
    Ok(Header {
        id: collection_id("docs", kind, generated),
        section: "docs".to_owned(),
        kind,
        generated,
        version: Version::CURRENT,
        checksum: None,
        chain: None,
        extra: Vec::new(),
    })
}

/// Writes ready lines as a snapshot with its state.
fn write(text: &Path, out: &Path) -> anyhow::Result<u64> {
    let mut writer = Writer::new(folder_of(out), Track::State, Limits::SPEC)?;
    let mut input = BufReader::with_capacity(256 << 10, File::open(text)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let end = line.len() - usize::from(line.ends_with(b"\n"));
        if line.starts_with(b"{\"url\":\"") {
            let rest = &line[8..end];
            let key = rest.split(|byte| *byte == b'"').next().unwrap_or_default();
            writer.line(std::str::from_utf8(key)?, &line[..end])?;
        }
    }
    let spooled = writer.close()?;
    let chain = spooled.snapshot_chain();
    let header = Header { chain, ..header(Kind::Snapshot, "2026-06-01T00:00:00Z")? };
    let target = Target::of_name(out).context("name without coding")?;
    let written = spooled.finish(header, &[target])?;
    Ok(written[0].pages)
}

/// The limit: the codec alone, on the same bytes, at the same level.
fn bare_write(text: &Path, out: &Path) -> anyhow::Result<u64> {
    let mut input = File::open(text)?;
    let size = input.metadata()?.len();
    let file = File::create(out)?;
    match Coding::of_name(out) {
        Some(Coding::Gzip) => {
            let level = flate2::Compression::new(6);
            let mut gzip = flate2::write::GzEncoder::new(&file, level);
            copy(&mut input, &mut gzip)?;
            gzip.finish()?;
        }
        Some(Coding::Zstd) => {
            let mut zstd = zstd::stream::write::Encoder::new(&file, 9)?;
            zstd.multithread(2)?;
            zstd.include_checksum(true)?;
            zstd.set_pledged_src_size(Some(size))?;
            copy(&mut input, &mut zstd)?;
            zstd.finish()?;
        }
        _ => bail!("name without coding"),
    }
    file.sync_all()?;
    Ok(size)
}

fn copy(from: &mut dyn Read, to: &mut dyn io::Write) -> io::Result<()> {
    let mut buffer = vec![0; 256 << 10];
    loop {
        let n = from.read(&mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..n])?;
    }
}

type Opened = io::Result<(Box<dyn Read + Send>, Option<u64>)>;

fn open(path: &Path) -> Opened {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    Ok((Box::new(file), Some(size)))
}

/// Packs JSON Lines, judged page by page, as `rutter scp pack` does.
fn pack_lines(lines: &Path, out: &Path) -> anyhow::Result<u64> {
    let opener = || open(lines);
    let mut findings = Vec::new();
    let inputs = vec![Input { open: &opener, sink: &mut findings }];
    let second = out.to_string_lossy().contains("new");
    let generated = if second { "2026-06-02T00:00:00Z" } else { "2026-06-01T00:00:00Z" };
    let how = Packing {
        limits: Limits::SPEC,
        order: Order::Given,
        mode: Mode::Strict,
        track: Track::State,
        empty: Empty::Refused,
    };
    let target = Target::of_name(out).context("name without coding")?;
    let written = pack(inputs, header(Kind::Snapshot, generated)?, how, &[target], folder_of(out))?;
    Ok(written[0].pages)
}

/// Compares two snapshots and writes the delta, as `rutter scp diff -o` does.
fn compare(old: &Path, new: &Path, out: &Path) -> anyhow::Result<u64> {
    let (open_old, open_new) = (|| open(old), || open(new));
    let (mut old_findings, mut new_findings) = (Vec::new(), Vec::new());
    let mut writer = Writer::new(folder_of(out), Track::Nothing, Limits::SPEC)?;
    let difference = diff(
        Input { open: &open_old, sink: &mut old_findings },
        Input { open: &open_new, sink: &mut new_findings },
        options(Threads::Two),
        Order::Given,
        Track::State,
        folder_of(out),
        &mut |change| match change {
            Change::Added(new) | Change::Changed(_, new) => writer.line(&new.key, &new.line),
            Change::Removed(_) => Ok(()),
        },
    )?;
    let target = Target::of_name(out).context("name without coding")?;
    let written =
        writer.close()?.finish(difference.delta_header("docs-delta".to_owned())?, &[target])?;
    Ok(written[0].pages)
}

/// Applies a delta to a snapshot, as `rutter scp apply` does.
fn merge(snapshot: &Path, delta: &Path, out: &Path) -> anyhow::Result<u64> {
    let (open_old, open_new) = (|| open(snapshot), || open(delta));
    let (mut old_findings, mut new_findings) = (Vec::new(), Vec::new());
    let inputs = vec![
        Input { open: &open_old, sink: &mut old_findings },
        Input { open: &open_new, sink: &mut new_findings },
    ];
    let how = Applying {
        options: options(Threads::Two),
        order: Order::Given,
        track: Track::State,
        mass_deletion: MassDeletion::Refused,
    };
    let target = Target::of_name(out).context("name without coding")?;
    Ok(apply(inputs, how, &target, folder_of(out))?.written.pages)
}

/// Most memory this process ever held, in bytes.
pub(crate) fn peak_memory() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB"));
    let kilobytes: u64 = kilobytes.context("no VmHWM")?.trim().parse()?;
    Ok(kilobytes * 1024)
}
