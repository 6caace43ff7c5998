//! `rutter scp diff`: prints the differences between two snapshots and writes the delta.
//!
//! Nothing is printed before both snapshots are verified. Rejects a delta with pages that
//! `rutter check` reports as errors.

use std::fs::File;
use std::io::{self, BufRead, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rutter_finding::{Finding, FindingSink, Refusal, Severity, Strictness};
use rutter_page::Timestamp;
use rutter_scp::{
    CollectionHeader, CollectionInput, CollectionKind, CollectionWriter, Limits, MergeError,
    OutputTarget, PageChange, ReadOptions, ReaderThreads, SnapshotDiff, StateTracking, WriteError,
    collection_id, diff, parent_folder,
};
use serde_json::json;

use crate::commands::{
    SizeLimitArgs, counted, format_bytes, parse_name, parse_target, refuse_overwriting,
    with_file_name, with_inputs,
};
use crate::exit::ExitStatus;
use crate::input::sources;
use crate::output::Output;
use crate::records::RecordArgs;

/// Arguments of `rutter scp diff`.
#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// Older snapshot, `-` for standard input
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// Newer snapshot, `-` for standard input
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Delta to write: .scp, .scp.gz or .scp.zst
    ///
    /// The file extension selects the compression. By default, no delta is written.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Id of the delta [default: SECTION-delta-TIME]
    #[arg(long, value_parser = parse_name)]
    id: Option<String>,
    /// Compression level [default: 6 for gzip, 9 for zstd]
    #[arg(long, value_name = "N", requires = "output")]
    level: Option<u8>,
    /// Omit states and removed pages from the delta
    ///
    /// Readers of a plain delta do not learn which pages were removed.
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    rows: RecordArgs,
    #[command(flatten)]
    limits: SizeLimitArgs,
}

pub(crate) fn run(args: &DiffArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let target = args.output.as_ref().map(|path| parse_target(path, args.level)).transpose()?;
    let inputs = [args.old.clone(), args.new.clone()];
    let sources = sources(&inputs)?;
    if let Some(output) = &args.output {
        refuse_overwriting(&inputs, output)?;
    }
    let folder =
        target.as_ref().map_or_else(std::env::temp_dir, |t| parent_folder(&t.path).to_owned());
    let limits = args.limits.limits();
    let track =
        if target.is_some() && !args.plain { StateTracking::State } else { StateTracking::Nothing };

    let mut invalid = None;
    let (difference, writer, mut listing) =
        with_inputs(&sources, Strictness::Lenient, out, &mut |inputs, order| {
            let listing = tempfile::tempfile_in(&folder).map_err(at(&folder))?;
            let mut lines = io::BufWriter::new(&listing);
            let mut writer = match &target {
                Some(_) => {
                    Some(CollectionWriter::new(&folder, StateTracking::Nothing, Limits::SPEC)?)
                }
                None => None,
            };
            let options =
                ReadOptions { limits, threads: ReaderThreads::Two, ..ReadOptions::default() };
            let mut on_change = |change: PageChange<'_>| {
                list(&mut lines, change, args.rows.is_text()).map_err(at(&folder))?;
                match (change, &mut writer) {
                    (PageChange::Added(new) | PageChange::Changed(_, new), Some(writer)) => {
                        writer.line(&new.key, &new.line)
                    }
                    _ => Ok(()),
                }
            };
            let Ok([old, new]) = <[CollectionInput<'_>; 2]>::try_from(inputs) else {
                unreachable!("two sources give two inputs")
            };
            let mut judge = PageJudge { inner: new.sink, first_error: None };
            let new = CollectionInput { open: new.open, sink: &mut judge };
            let difference = diff(old, new, options, order, track, &folder, &mut on_change)?;
            invalid = judge.first_error;
            lines.flush().map_err(at(&folder))?;
            drop(lines);
            Ok((difference, writer, listing))
        })?;

    // Both snapshots are verified now.
    print_changes(&mut listing, args, out)?;
    summary(&difference, args.plain && target.is_some(), out);
    let (Some(target), Some(writer)) = (target, writer) else { return Ok(ExitStatus::Clean) };
    if difference.is_empty() {
        out.say("no changes; no delta was written");
        return Ok(ExitStatus::Clean);
    }
    if let Some(refusal) = invalid {
        return Err(with_file_name(MergeError::Read(1, refusal.into()), &sources));
    }
    let header = &difference.new.header;
    let kind = CollectionKind::Delta { since: difference.old.header.generated };
    let id = args.id.clone();
    let id = id.unwrap_or_else(|| collection_id(&header.section, kind, header.generated));
    let header = difference.delta_header(id).map_err(|error| with_file_name(error, &sources))?;
    write_delta(writer, header, target, out)?;
    Ok(ExitStatus::Clean)
}

/// Prints the changes that were collected while the snapshots were compared.
fn print_changes(listing: &mut File, args: &DiffArgs, out: &mut Output) -> anyhow::Result<()> {
    listing.seek(SeekFrom::Start(0))?;
    let mut rows = args.rows.rows("changes");
    if rows.is_text() {
        io::copy(listing, out.data())?;
    } else {
        for line in io::BufReader::new(&*listing).lines() {
            rows.push(line?, out)?;
        }
    }
    rows.finish(out)
}

/// Writes the delta, and prints its path and size.
fn write_delta(
    writer: CollectionWriter,
    header: CollectionHeader,
    target: OutputTarget,
    out: &mut Output,
) -> anyhow::Result<()> {
    for written in writer.close()?.finish(header, &[target])? {
        let (path, coded) = (written.path.display(), format_bytes(written.coded));
        let pages = counted(written.pages, "page");
        out.say(format_args!("{path}: {pages}, {coded}"));
    }
    Ok(())
}

fn at(folder: &Path) -> impl Fn(io::Error) -> WriteError {
    move |error| WriteError::Io(folder.to_owned(), error)
}

/// Forwards findings and keeps the first error about a page: a delta must not contain a page with
/// an error.
struct PageJudge<'s> {
    inner: &'s mut dyn FindingSink,
    first_error: Option<Refusal>,
}

impl FindingSink for PageJudge<'_> {
    fn report(&mut self, finding: Finding) {
        let is_error = finding.rule.severity(Strictness::Strict) == Some(Severity::Error)
            && rutter_page::rules::ALL.iter().any(|rule| rule.code == finding.rule.code);
        if is_error && self.first_error.is_none() {
            let Finding { rule, place, detail } = finding.clone();
            self.first_error = Some(Refusal::new(rule, place, detail));
        }
        self.inner.report(finding);
    }
}

fn list(lines: &mut dyn Write, change: PageChange<'_>, is_text: bool) -> io::Result<()> {
    let (sign, word, entry) = match change {
        PageChange::Added(new) => ('+', "added", new),
        PageChange::Changed(_, new) => ('~', "changed", new),
        PageChange::Removed(old) => ('-', "removed", old),
    };
    if is_text {
        return writeln!(lines, "{sign} {}", entry.key);
    }
    let before: Option<Timestamp> = match change {
        PageChange::Changed(old, _) => Some(old.modified),
        _ => None,
    };
    let object = json!({
        "change": word, "url": entry.key, "modified": entry.modified, "modified_before": before,
    });
    writeln!(lines, "{object}")
}

fn summary(difference: &SnapshotDiff, is_plain: bool, out: &mut Output) {
    out.say(format_args!(
        "{} added, {} changed, {} removed, {} unchanged",
        difference.added, difference.changed, difference.n_removed, difference.unchanged
    ));
    if 0 < difference.stale {
        out.say(format_args!(
            "warning: {} without a later `modified`: readers of a delta ignore these changes",
            counted(difference.stale, "changed page")
        ));
    }
    if is_plain && 0 < difference.n_removed {
        out.warn("warning: a plain delta does not include removed pages");
    }
}
