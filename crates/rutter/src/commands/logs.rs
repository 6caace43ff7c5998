//! `rutter logs`: which AI agents read what of a site, by its access logs.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_finding::{FindingSink, Mode, Place, Report, quoted};
use rutter_logs::summary::{json, svg, text};
use rutter_logs::{
    Collections, Filter, Input, Item, Limits, Merged, Reader, Settings, Tally, Thresholds, Watch,
    agents,
};
use rutter_page::Timestamp;
use rutter_scp::{Kind, Options};

use crate::commands::odd::Watching;
use crate::commands::{counted, one_stdin, parse_time};
use crate::exit::Exit;
use crate::input::Source;
use crate::output::Output;

/// Lines that could not be read and are shown, of each file.
const SHOWN: u64 = 3;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Access logs of nginx, Apache, Caddy or `rutter serve`, also gzip or zstd,
    /// in any order: they are read by their times; `-` is standard input, which
    /// comes last
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write a chart of the requests of AI agents
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Count only requests from this time on, such as 2026-05-01 or
    /// 2026-05-01T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Count only requests before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Timestamp>,
    /// Count only this agent (`GPTBot`) or kind of client (`ai`, `browser`)
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Snapshot of the site as it is published, to tell what collections would
    /// save; once for each section
    #[arg(long, value_name = "FILE")]
    collection: Vec<PathBuf>,
    /// Hours for which an answer of the same size counts as the same
    #[arg(long, value_name = "HOURS", default_value_t = 168, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
    #[command(flatten)]
    odd: Watching,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let collections = collections(&args.collection)?;
    if let Some(name) = args.agent.as_deref().filter(|name| !agents::is_known(name)) {
        let name = quoted(name);
        out.warn(format_args!("hint: no agent and no kind of client is called {name}"));
    }
    let thresholds = Thresholds { has_collections: collections.is_some(), ..args.odd.thresholds() };
    let window = i64::from(args.window) * 3600;
    let settings = Settings { window, collections, ..Settings::USUAL };
    let filter = Filter { since: args.since, until: args.until, agent: args.agent.clone() };
    let mut reading = Reading {
        tally: Tally::new(settings, filter),
        watch: Watch::new(thresholds),
        odd: Report::new(Mode::Lenient),
        lines: Vec::new(),
        logs: Vec::new(),
    };
    let n_failed = reading.read(&args.logs, out)?;
    let Reading { tally, watch, odd, lines, .. } = reading;
    let summary = tally.finish();
    let n_read = summary.requests + summary.left_out;
    anyhow::ensure!(n_failed == 0 || 0 < n_read, "nothing could be read");
    if 0 < watch.late() {
        let late = counted(watch.late(), "request");
        out.warn(format_args!("{late} came too far out of order to be watched for odd clients"));
    }
    if let Some(path) = &args.svg {
        std::fs::write(path, svg::chart(&summary)).with_context(|| path.display().to_string())?;
    }
    if args.json {
        json::write(out.data(), &summary, &odd)?;
    } else {
        text::write(out.data(), &summary)?;
        if !lines.is_empty() {
            writeln!(out.data())?;
            out.data().write_all(&lines)?;
        }
        if 0 < odd.not_kept() {
            writeln!(out.data(), "{} more findings of the same kinds", odd.not_kept())?;
        }
    }
    Ok(match (n_failed, odd.worst()) {
        (0, None) => Exit::Clean,
        (0, Some(_)) => Exit::Findings,
        // What is missing from the report is worse than what is odd in it.
        _ => Exit::Failure,
    })
}

/// A log by its name, and what was seen of it.
struct Log {
    name: String,
    n_records: u64,
    n_broken: u64,
}

/// Everything that comes of the logs.
struct Reading {
    tally: Tally,
    watch: Watch,
    odd: Report,
    /// Findings as they are shown.
    lines: Vec<u8>,
    logs: Vec<Log>,
}

impl Reading {
    /// Reads all logs in the order of time, because who came again is seen by
    /// what came before; gives how many of them could not be read.
    fn read(&mut self, paths: &[PathBuf], out: &mut Output) -> anyhow::Result<u64> {
        one_stdin(paths)?;
        let mut n_failed = 0;
        let mut inputs = Vec::new();
        for path in paths {
            let name = match path.to_str() {
                Some("-") => "<stdin>".to_owned(),
                _ => path.display().to_string(),
            };
            match input(path) {
                Ok(input) => inputs.push(input),
                Err(error) => {
                    // Some causes name the file already.
                    let why = format!("{error:#}");
                    let why = why.strip_prefix(&format!("{name}: ")).unwrap_or(&why);
                    out.warn(format_args!("{name}: {why}"));
                    n_failed += 1;
                    continue;
                }
            }
            self.logs.push(Log { name, n_records: 0, n_broken: 0 });
        }
        let mut merged = Merged::new(inputs);
        let mut result = Ok(());
        loop {
            let step = merged.next(&mut |idx, item| {
                if result.is_ok() {
                    result = self.see(idx, &item, out);
                }
            });
            std::mem::replace(&mut result, Ok(()))?;
            match step {
                Ok(true) => {}
                Ok(false) => break,
                Err((idx, error)) => {
                    let name = self.logs.get(idx).map_or("", |log| log.name.as_str());
                    out.warn(format_args!("{name}: {error}; what came before is counted"));
                    n_failed += 1;
                }
            }
        }
        for Log { name, n_records, n_broken } in &self.logs {
            if SHOWN < *n_broken {
                let more = counted(n_broken - SHOWN, "more line");
                out.warn(format_args!("{name}: {more} that could not be read"));
            }
            if *n_records == 0 && 0 < *n_broken {
                out.warn(format_args!("{name}: no line is a request"));
                n_failed += 1;
            }
        }
        Ok(n_failed)
    }

    /// Takes one line of a log.
    fn see(&mut self, idx: usize, item: &Item<'_>, out: &mut Output) -> anyhow::Result<()> {
        let Some(log) = self.logs.get_mut(idx) else { return Ok(()) };
        match item {
            Item::Record(line, record) => {
                log.n_records += 1;
                let is_counted = self.tally.see(record);
                // A client is watched before the time that is asked for, too.
                let found = self.watch.see(record).into_iter().filter(|_| is_counted);
                for mut finding in found {
                    finding.place = Place::line(*line);
                    let severity = finding.rule.severity(Mode::Lenient);
                    let is_kept = is_kept(&self.odd, finding.rule.code);
                    if let Some(severity) = severity.filter(|_| is_kept) {
                        rutter_check::format::concise::write_finding(
                            &mut self.lines,
                            &log.name,
                            severity,
                            &finding,
                        )?;
                    }
                    self.odd.report(finding);
                }
            }
            Item::Broken(line, why, bytes) => {
                self.tally.broken(*why);
                log.n_broken += 1;
                if log.n_broken <= SHOWN {
                    let start = String::from_utf8_lossy(bytes.get(..240).unwrap_or(bytes));
                    out.warn(format_args!("{}: line {line}: {why}: {}", log.name, quoted(&start)));
                }
            }
        }
        Ok(())
    }
}

/// Tells whether one more finding of this rule is among those that are kept.
fn is_kept(odd: &Report, code: &str) -> bool {
    odd.counts().get(code).copied().unwrap_or(0) < Report::KEPT_PER_RULE
}

/// How many files of a site there are, and how large they are together.
fn collections(files: &[PathBuf]) -> anyhow::Result<Option<Collections>> {
    let mut bytes = 0;
    for file in files {
        bytes += snapshot(file).with_context(|| file.display().to_string())?;
    }
    Ok((!files.is_empty()).then_some(Collections { files: files.len() as u64, bytes }))
}

/// The size of a snapshot; anything else would make up figures.
fn snapshot(file: &Path) -> anyhow::Result<u64> {
    let metadata = file.metadata()?;
    anyhow::ensure!(metadata.is_file(), "is no file");
    let mut findings = Report::new(Mode::Lenient);
    let options = Options { size: Some(metadata.len()), ..Options::default() };
    let opened = rutter_scp::Reader::open(std::fs::File::open(file)?, options, &mut findings);
    let reader = opened.map_err(|_| anyhow::anyhow!("is no SCP collection"))?;
    anyhow::ensure!(reader.header().kind == Kind::Snapshot, "is a delta, wanted a snapshot");
    Ok(metadata.len())
}

/// A log that can be opened, and when it begins; standard input is read as it
/// flows, so that is not known of it.
fn input(path: &Path) -> anyhow::Result<Input> {
    if path.as_os_str() == "-" {
        let open = || Reader::open(io::stdin(), Limits::USUAL);
        return Ok(Input { begins: None, open: Box::new(open) });
    }
    let source = Source::new(path)?;
    let begins = begins(&source)?;
    Ok(Input { begins, open: Box::new(move || Reader::open(source.open()?.0, Limits::USUAL)) })
}

/// The time of the first line that can be read, among the first thousand.
fn begins(source: &Source) -> io::Result<Option<Timestamp>> {
    let mut reader = Reader::open(source.open()?.0, Limits::USUAL)?;
    for _ in 0..1000 {
        match reader.next_item()? {
            Some(Item::Record(_, record)) => return Ok(Some(record.time)),
            Some(Item::Broken(..)) => {}
            None => break,
        }
    }
    Ok(None)
}
