//! Jobs that are measured, each in a process of its own so that its memory is measured alone.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rutter_finding::Strictness;
use rutter_scp::{
    ApplyOptions, Coding, CollectionHeader, CollectionInput, CollectionKind, CollectionReader,
    CollectionWriter, EmptyInputPolicy, FormatVersion, InputOrder, Limits, MassDeletionPolicy,
    OutputTarget, PackOptions, PageChange, ReadOptions, ReaderThreads, StateTracking, apply,
    collection_id, diff, pack, parent_folder,
};
use sha2::{Digest, Sha256};

/// Runs a role and returns its count.
pub(crate) fn run(role: &str, paths: &[PathBuf]) -> anyhow::Result<u64> {
    match (role, paths) {
        ("read-1", [file]) => read(file, ReaderThreads::One),
        ("read-2", [file]) => read(file, ReaderThreads::Two),
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
        ("sync-bare", [collection, file]) => crate::sync::bare(collection, file),
        _ => bail!("no role {role} with {} paths", paths.len()),
    }
}

fn options(threads: ReaderThreads) -> ReadOptions {
    ReadOptions { limits: Limits::SPEC, size: None, threads }
}

/// Reads, verifies and fully parses a collection.
fn read(file: &Path, threads: ReaderThreads) -> anyhow::Result<u64> {
    let mut findings = Vec::new();
    let mut reader = CollectionReader::open(File::open(file)?, options(threads), &mut findings)?;
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

/// The limit on one thread: only decodes and hashes.
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

fn header(kind: CollectionKind, generated: &str) -> anyhow::Result<CollectionHeader> {
    let generated = rutter_page::Timestamp::parse(generated)?;
    Ok(CollectionHeader {
        id: collection_id("docs", kind, generated),
        section: "docs".to_owned(),
        kind,
        generated,
        version: FormatVersion::CURRENT,
        checksum: None,
        chain: None,
        extra: Vec::new(),
    })
}

/// Writes finished lines as a snapshot with its state.
fn write(text: &Path, out: &Path) -> anyhow::Result<u64> {
    let mut writer = CollectionWriter::new(parent_folder(out), StateTracking::State, Limits::SPEC)?;
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
    let header =
        CollectionHeader { chain, ..header(CollectionKind::Snapshot, "2026-06-01T00:00:00Z")? };
    let target = OutputTarget::from_file_name(out).context("name without coding")?;
    let written = spooled.finish(header, &[target])?;
    Ok(written[0].pages)
}

/// The limit: the codec alone, on the same bytes, at the same level.
fn bare_write(text: &Path, out: &Path) -> anyhow::Result<u64> {
    let mut input = File::open(text)?;
    let size = input.metadata()?.len();
    let file = File::create(out)?;
    match Coding::from_file_name(out) {
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

/// Packs JSON Lines, validating each page, as `rutter scp pack` does.
fn pack_lines(lines: &Path, out: &Path) -> anyhow::Result<u64> {
    let opener = || open(lines);
    let mut findings = Vec::new();
    let inputs = vec![CollectionInput { open: &opener, sink: &mut findings }];
    let second = out.to_string_lossy().contains("new");
    let generated = if second { "2026-06-02T00:00:00Z" } else { "2026-06-01T00:00:00Z" };
    let how = PackOptions {
        limits: Limits::SPEC,
        order: InputOrder::Given,
        mode: Strictness::Strict,
        track: StateTracking::State,
        empty: EmptyInputPolicy::Refused,
    };
    let target = OutputTarget::from_file_name(out).context("name without coding")?;
    let written = pack(
        inputs,
        header(CollectionKind::Snapshot, generated)?,
        how,
        &[target],
        parent_folder(out),
    )?;
    Ok(written[0].pages)
}

/// Compares two snapshots and writes the delta, as `rutter scp diff -o` does.
fn compare(old: &Path, new: &Path, out: &Path) -> anyhow::Result<u64> {
    let (open_old, open_new) = (|| open(old), || open(new));
    let (mut old_findings, mut new_findings) = (Vec::new(), Vec::new());
    let mut writer =
        CollectionWriter::new(parent_folder(out), StateTracking::Nothing, Limits::SPEC)?;
    let difference = diff(
        CollectionInput { open: &open_old, sink: &mut old_findings },
        CollectionInput { open: &open_new, sink: &mut new_findings },
        options(ReaderThreads::Two),
        InputOrder::Given,
        StateTracking::State,
        parent_folder(out),
        &mut |change| match change {
            PageChange::Added(new) | PageChange::Changed(_, new) => {
                writer.line(&new.key, &new.line)
            }
            PageChange::Removed(_) => Ok(()),
        },
    )?;
    let target = OutputTarget::from_file_name(out).context("name without coding")?;
    let written =
        writer.close()?.finish(difference.delta_header("docs-delta".to_owned())?, &[target])?;
    Ok(written[0].pages)
}

/// Applies a delta to a snapshot, as `rutter scp apply` does.
fn merge(snapshot: &Path, delta: &Path, out: &Path) -> anyhow::Result<u64> {
    let (open_old, open_new) = (|| open(snapshot), || open(delta));
    let (mut old_findings, mut new_findings) = (Vec::new(), Vec::new());
    let inputs = vec![
        CollectionInput { open: &open_old, sink: &mut old_findings },
        CollectionInput { open: &open_new, sink: &mut new_findings },
    ];
    let how = ApplyOptions {
        options: options(ReaderThreads::Two),
        order: InputOrder::Given,
        track: StateTracking::State,
        mass_deletion: MassDeletionPolicy::Refused,
    };
    let target = OutputTarget::from_file_name(out).context("name without coding")?;
    Ok(apply(inputs, how, &target, parent_folder(out))?.written.pages)
}

/// Returns the peak memory of this process in bytes.
pub(crate) fn peak_memory() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB"));
    let kilobytes: u64 = kilobytes.context("no VmHWM")?.trim().parse()?;
    Ok(kilobytes * 1024)
}
