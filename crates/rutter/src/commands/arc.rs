//! `rutter arc`: the snapshot of an annotated page, and what changed between
//! two sitemaps.

use std::io::Read;
use std::path::PathBuf;

use anyhow::Context;
use clap::Subcommand;
use rutter_arc::delta::{Difference, diff};
use rutter_arc::{ArcError, Entry, Form, Head, JsonWriter, Limits, Receipt, form, open};
use rutter_extract::Options;
use rutter_finding::{FindingSink, Mode, Place, Refusal, Report};
use rutter_page::{PageUrl, Timestamp};
use rutter_scp::{Entry as Line, Sorted, Sorter};

use crate::commands::{now, say_findings};
use crate::exit::Exit;
use crate::input::{Source, sources};
use crate::output::Output;

/// Largest page we read.
const LARGEST: u64 = 100_000_000;

/// Commands about ARC.
#[derive(Debug, Subcommand)]
pub(crate) enum Arc {
    /// Print the snapshot of a page with data-ai-* attributes
    Snapshot(SnapshotArgs),
    /// Print the delta that leads from one ARC sitemap to another
    Diff(DiffArgs),
}

/// What the arguments of `snapshot` say.
#[derive(Debug, clap::Args)]
pub(crate) struct SnapshotArgs {
    /// The page, as HTML; `-` is standard input
    #[arg(value_name = "PAGE")]
    page: PathBuf,
    /// Address of the page
    #[arg(long, value_name = "URL", default_value = "http://localhost/")]
    url: String,
    /// Print prose made from the same attributes
    #[arg(long)]
    narrative: bool,
}

/// What the arguments of `diff` say.
#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// The older sitemap, JSON or YAML, compressed or not; `-` is standard input
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The newer sitemap; `-` is standard input
    #[arg(value_name = "NEW")]
    new: PathBuf,
}

pub(crate) fn run(command: &Arc, out: &mut Output) -> anyhow::Result<Exit> {
    match command {
        Arc::Snapshot(args) => run_snapshot(args, out),
        Arc::Diff(args) => run_diff(args, out),
    }
}

fn run_snapshot(args: &SnapshotArgs, out: &mut Output) -> anyhow::Result<Exit> {
    let url = PageUrl::parse(args.url.clone()).with_context(|| format!("--url {}", args.url))?;
    let source = Source::new(&args.page)?;
    let name = source.name().to_owned();
    let mut bytes = Vec::new();
    let (input, _) = source.open().with_context(|| name.clone())?;
    input.take(LARGEST + 1).read_to_end(&mut bytes).with_context(|| name.clone())?;
    anyhow::ensure!(bytes.len() as u64 <= LARGEST, "{name}: more than {LARGEST} bytes");
    if !rutter_extract::is_text(&bytes) {
        let refusal = Refusal::new(&rutter_extract::rules::NOT_TEXT, Place::WHOLE, "");
        return Err(anyhow::Error::new(refusal).context(name));
    }
    let extraction = rutter_extract::html(&bytes, &Options::new(url, now()?));
    let mut report = Report::new(Mode::Strict);
    let snapshot = rutter_build::snapshot_of(&extraction, &mut report);
    say_findings(&name, &report, out);
    let Some(snapshot) = snapshot else {
        out.warn(format_args!("{name}: nothing on the page is annotated"));
        return Ok(Exit::Findings);
    };
    if snapshot.needs_auth() {
        out.warn(format_args!(
            "{name}: marked sensitive; a public sitemap does not carry this snapshot"
        ));
    }
    let text = if args.narrative { snapshot.narrative() } else { snapshot.to_pretty() };
    out.data().write_all(text.as_bytes())?;
    Ok(Exit::Clean)
}

fn run_diff(args: &DiffArgs, out: &mut Output) -> anyhow::Result<Exit> {
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
    let Difference { added, changed, removed, unchanged } = difference;
    out.say(format_args!(
        "{added} added, {changed} changed, {removed} removed, {unchanged} unchanged"
    ));
    Ok(Exit::Clean)
}

/// The head of the delta: that of the newer, and the time between the two.
fn day_head(old: &Receipt, new: &Receipt) -> Head {
    Head {
        since: old.head.generated_at,
        until: new.head.generated_at,
        extra: Vec::new(),
        ..new.head.clone()
    }
}

/// A sitemap whose entries come in the order of their addresses.
struct Ordered {
    receipt: Receipt,
    lines: Sorted,
    line: Line,
    last: Option<Line>,
}

/// Reads a sitemap to its end, and only then hands anything out.
fn sorted(source: &Source, out: &mut Output) -> anyhow::Result<Ordered> {
    let name = || source.name().to_owned();
    let mut report = Report::new(Mode::Lenient);
    let result = sort(source, &mut report);
    say_findings(source.name(), &report, out);
    let (receipt, sorter) = result.with_context(name)?;
    let lines = sorter.finish().with_context(name)?;
    Ok(Ordered { receipt, lines, line: Line::empty(), last: None })
}

fn sort(source: &Source, sink: &mut dyn FindingSink) -> Result<(Receipt, Sorter), ArcError> {
    let mut start = Vec::new();
    source.open()?.0.take(64 << 10).read_to_end(&mut start)?;
    let ending = source.name().trim_end_matches(".gz").rsplit('.').next().unwrap_or_default();
    let is_yaml = matches!(ending, "yaml" | "yml");
    let form = form(&start).unwrap_or(if is_yaml { Form::Yaml } else { Form::Json });
    let mut reader = open(source.open()?.0, form, Limits::USUAL)?;
    let mut sorter = Sorter::new(&std::env::temp_dir());
    let epoch = Line::empty().modified;
    while let Some(pushed) = reader.next(sink, |entry| {
        let modified: Timestamp = entry.lastmod.unwrap_or(epoch);
        sorter.push(entry.url.key(), modified, entry.to_json().as_bytes())
    })? {
        pushed?;
    }
    Ok((reader.finish(sink)?, sorter))
}

impl Ordered {
    /// The next page; of two entries for one page the more restrictive.
    fn next(&mut self) -> anyhow::Result<Option<Entry<'static>>> {
        let mut entry: Option<Entry<'static>> = match self.last.take() {
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

/// An entry as we wrote it.
fn parse(line: &Line) -> anyhow::Result<Entry<'static>> {
    let text = std::str::from_utf8(&line.line)?;
    Entry::from_json(text).context("an entry was lost")
}
