//! `rutter arc`: prints the ARC snapshot of a page, and the delta between two ARC sitemaps.

use std::io::Read;
use std::path::PathBuf;

use anyhow::Context;
use clap::Subcommand;
use rutter_arc::delta::{DeltaCounts, diff};
use rutter_arc::{
    ArcDocumentKind, ArcEntry, ArcError, ArcReceipt, JsonWriter, Limits, SitemapHeader,
    detect_format, open_sitemap,
};
use rutter_extract::ExtractOptions;
use rutter_finding::{FindingSink, Place, Refusal, Report, Strictness};
use rutter_page::{PageUrl, Timestamp};
use rutter_scp::{KeyedLine as Line, LineSorter, SortedLines};

use crate::commands::{now, print_findings};
use crate::exit::ExitStatus;
use crate::input::{InputFile, sources};
use crate::output::Output;

/// Maximum size of a page in bytes.
const MAX_PAGE_BYTES: u64 = 100_000_000;

/// Subcommands of `rutter arc`.
#[derive(Debug, Subcommand)]
pub(crate) enum ArcCommand {
    /// Print the ARC snapshot of a page with data-ai-* attributes
    Snapshot(ArcSnapshotArgs),
    /// Print the delta between two ARC sitemaps
    Diff(ArcDiffArgs),
}

/// Arguments of `rutter arc snapshot`.
#[derive(Debug, clap::Args)]
pub(crate) struct ArcSnapshotArgs {
    /// HTML file of the page, `-` for standard input
    #[arg(value_name = "PAGE")]
    page: PathBuf,
    /// URL of the page
    #[arg(long, value_name = "URL", default_value = "http://localhost/")]
    url: String,
    /// Print the snapshot as prose instead of JSON
    #[arg(long)]
    narrative: bool,
}

/// Arguments of `rutter arc diff`.
#[derive(Debug, clap::Args)]
pub(crate) struct ArcDiffArgs {
    /// Older ARC sitemap, `-` for standard input
    ///
    /// JSON or YAML, optionally compressed with gzip.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// Newer ARC sitemap, `-` for standard input
    #[arg(value_name = "NEW")]
    new: PathBuf,
}

pub(crate) fn run(command: &ArcCommand, out: &mut Output) -> anyhow::Result<ExitStatus> {
    match command {
        ArcCommand::Snapshot(args) => run_snapshot(args, out),
        ArcCommand::Diff(args) => run_diff(args, out),
    }
}

fn run_snapshot(args: &ArcSnapshotArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let url = PageUrl::parse(args.url.clone()).with_context(|| format!("--url {}", args.url))?;
    let source = InputFile::new(&args.page)?;
    let name = source.name().to_owned();
    let mut bytes = Vec::new();
    let (input, _) = source.open().with_context(|| name.clone())?;
    input.take(MAX_PAGE_BYTES + 1).read_to_end(&mut bytes).with_context(|| name.clone())?;
    anyhow::ensure!(
        bytes.len() as u64 <= MAX_PAGE_BYTES,
        "{name} has more than {MAX_PAGE_BYTES} bytes"
    );
    if !rutter_extract::is_text(&bytes) {
        let refusal = Refusal::new(&rutter_extract::rules::NOT_TEXT, Place::WHOLE, "");
        return Err(anyhow::Error::new(refusal).context(name));
    }
    let extraction = rutter_extract::html(&bytes, &ExtractOptions::new(url, now()?));
    let mut report = Report::new(Strictness::Strict);
    let snapshot = rutter_extract::arc_snapshot(&extraction, &mut report);
    print_findings(&name, &report, out);
    let Some(snapshot) = snapshot else {
        out.warn(format_args!("{name}: the page has no data-ai-* attributes"));
        return Ok(ExitStatus::Findings);
    };
    if snapshot.needs_auth() {
        out.warn(format_args!(
            "{name}: marked sensitive; a public ARC sitemap does not include this snapshot"
        ));
    }
    let text = if args.narrative { snapshot.narrative() } else { snapshot.to_pretty() };
    out.data().write_all(text.as_bytes())?;
    Ok(ExitStatus::Clean)
}

fn run_diff(args: &ArcDiffArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let both = sources(&[args.old.clone(), args.new.clone()])?;
    let [old, new] = both.as_slice() else { unreachable!("two paths give two sources") };
    let (mut old, mut new) = (sorted(old, out)?, sorted(new, out)?);
    let head = day_head(&old.receipt, &new.receipt);
    let mut writer = JsonWriter::new(out.data(), &head)?;
    let difference = diff::<anyhow::Error>(
        std::iter::from_fn(|| old.next().transpose()),
        std::iter::from_fn(|| new.next().transpose()),
        |entry| Ok(writer.push(&entry)?),
    )?;
    writer.finish()?;
    let DeltaCounts { added, changed, removed, unchanged } = difference;
    out.say(format_args!(
        "{added} added, {changed} changed, {removed} removed, {unchanged} unchanged"
    ));
    Ok(ExitStatus::Clean)
}

/// Returns the header of the delta: the header of the newer sitemap, with the period of the delta.
fn day_head(old: &ArcReceipt, new: &ArcReceipt) -> SitemapHeader {
    SitemapHeader {
        since: old.head.generated_at,
        until: new.head.generated_at,
        extra: Vec::new(),
        ..new.head.clone()
    }
}

/// An ARC sitemap with its entries sorted by URL.
struct SortedSitemap {
    receipt: ArcReceipt,
    lines: SortedLines,
    line: Line,
    last: Option<Line>,
}

/// Reads and verifies a whole sitemap, then returns its sorted entries.
fn sorted(source: &InputFile, out: &mut Output) -> anyhow::Result<SortedSitemap> {
    let name = || source.name().to_owned();
    let mut report = Report::new(Strictness::Lenient);
    let result = sort(source, &mut report);
    print_findings(source.name(), &report, out);
    let (receipt, sorter) = result.with_context(name)?;
    let lines = sorter.finish().with_context(name)?;
    Ok(SortedSitemap { receipt, lines, line: Line::empty(), last: None })
}

fn sort(
    source: &InputFile,
    sink: &mut dyn FindingSink,
) -> Result<(ArcReceipt, LineSorter), ArcError> {
    let mut start = Vec::new();
    source.open()?.0.take(64 << 10).read_to_end(&mut start)?;
    let ending = source.name().trim_end_matches(".gz").rsplit('.').next().unwrap_or_default();
    let is_yaml = matches!(ending, "yaml" | "yml");
    let form = detect_format(&start).unwrap_or(if is_yaml {
        ArcDocumentKind::Yaml
    } else {
        ArcDocumentKind::Json
    });
    let mut reader = open_sitemap(source.open()?.0, form, Limits::DEFAULT)?;
    let mut sorter = LineSorter::new(&std::env::temp_dir());
    let epoch = Line::empty().modified;
    while let Some(pushed) = reader.next(sink, |entry| {
        let modified: Timestamp = entry.lastmod.unwrap_or(epoch);
        sorter.push(entry.url.key(), modified, entry.to_json().as_bytes())
    })? {
        pushed?;
    }
    Ok((reader.finish(sink)?, sorter))
}

impl SortedSitemap {
    /// Returns the next entry. Of several entries for one page, returns the most restrictive.
    fn next(&mut self) -> anyhow::Result<Option<ArcEntry<'static>>> {
        let mut entry: Option<ArcEntry<'static>> = match self.last.take() {
            Some(line) => Some(parse(&line)?),
            None => None,
        };
        while self.lines.next(&mut self.line)? {
            let next = parse(&self.line)?;
            match &entry {
                Some(known) if known.url.key() != next.url.key() => {
                    self.last = Some(std::mem::replace(&mut self.line, Line::empty()));
                    return Ok(entry);
                }
                Some(known) if next.consent() < known.consent() => {}
                _ => entry = Some(next),
            }
        }
        Ok(entry)
    }
}

/// Parses an ARC entry from a line of the sorted lines.
fn parse(line: &Line) -> anyhow::Result<ArcEntry<'static>> {
    let text = std::str::from_utf8(&line.line)?;
    ArcEntry::from_json(text).context("cannot read a sorted ARC entry")
}
