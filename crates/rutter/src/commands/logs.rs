//! `rutter logs`: reports which AI agents read which pages, from access logs.
//!
//! Input: logs in any order, merged by time. Output: a summary as text or JSON, findings about odd
//! clients, and optionally a chart. A log that cannot be read is reported, and all other logs are
//! read.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_finding::{FindingSink, Place, Report, Strictness, quoted};
use rutter_logs::summary::{json, svg, text};
use rutter_logs::{
    AccessTally, ClientMonitor, CollectionTotals, LogInput, LogItem, LogReader, MergedLogs,
    OddClientThresholds, ReadLimits, RequestFilter, TallySettings, agents,
};
use rutter_page::Timestamp;
use rutter_scp::{CollectionKind, ReadOptions};

use crate::commands::odd_clients::OddClientArgs;
use crate::commands::{counted, parse_time, reject_second_stdin};
use crate::exit::ExitStatus;
use crate::input::InputFile;
use crate::output::Output;

/// Maximum number of unreadable lines to print for each file.
const SHOWN: u64 = 3;

/// Arguments of `rutter logs`.
#[derive(Debug, clap::Args)]
pub(crate) struct LogsArgs {
    /// Access logs to read, `-` for standard input
    ///
    /// The command reads logs of nginx, Apache, Caddy and `rutter serve`, optionally compressed
    /// with gzip or zstd. The order of the files does not matter: requests are sorted by time.
    /// Standard input is read last.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// SVG file to write a chart of AI agent requests to
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Count only requests at or after this time
    ///
    /// Examples: 2026-05-01, 2026-05-01T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Count only requests before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Timestamp>,
    /// Count only this agent or type of client
    ///
    /// Examples: `GPTBot` for an agent, ai or browser for a type.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Published snapshot, to estimate what collections would save
    ///
    /// Repeat the option for each section. By default, savings are not estimated.
    #[arg(long, value_name = "FILE")]
    collection: Vec<PathBuf>,
    /// Hours after which an equal response does not count as repeated
    #[arg(long, value_name = "HOURS", default_value_t = 168, value_parser = clap::value_parser!(u32).range(1..))]
    window: u32,
    #[command(flatten)]
    odd: OddClientArgs,
}

pub(crate) fn run(args: &LogsArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let collections = collections(&args.collection)?;
    if let Some(name) = args.agent.as_deref().filter(|name| !agents::is_known(name)) {
        let name = quoted(name);
        out.warn(format_args!("warning: {name} is not a known agent or type of client"));
    }
    let thresholds =
        OddClientThresholds { has_collections: collections.is_some(), ..args.odd.thresholds() };
    let window = i64::from(args.window) * 3600;
    let settings = TallySettings { window, collections, ..TallySettings::DEFAULT };
    let filter = RequestFilter { since: args.since, until: args.until, agent: args.agent.clone() };
    let mut reading = LogAnalysis {
        tally: AccessTally::new(settings, filter),
        watch: ClientMonitor::new(thresholds),
        odd: Report::new(Strictness::Lenient),
        lines: Vec::new(),
        logs: Vec::new(),
    };
    let n_failed = reading.read(&args.logs, out)?;
    let LogAnalysis { tally, watch, odd, lines, .. } = reading;
    let summary = tally.finish();
    let n_read = summary.requests + summary.filtered_out;
    anyhow::ensure!(n_failed == 0 || 0 < n_read, "cannot read any of the logs");
    if 0 < watch.late() {
        let late = counted(watch.late(), "request");
        out.warn(format_args!(
            "warning: {late} too far out of order to be checked for odd clients"
        ));
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
            writeln!(out.data(), "{} more findings of the same rules", odd.not_kept())?;
        }
    }
    Ok(match (n_failed, odd.worst()) {
        (0, None) => ExitStatus::Clean,
        (0, Some(_)) => ExitStatus::Findings,
        // A log that cannot be read takes precedence over findings.
        _ => ExitStatus::Failure,
    })
}

/// A log file, with the numbers of its valid and unreadable lines.
struct LogFile {
    name: String,
    n_records: u64,
    n_broken: u64,
}

/// The results of reading the logs.
struct LogAnalysis {
    tally: AccessTally,
    watch: ClientMonitor,
    odd: Report,
    /// Findings about odd clients, as formatted text.
    lines: Vec<u8>,
    logs: Vec<LogFile>,
}

impl LogAnalysis {
    /// Reads the lines of all logs, sorted by time: the detection of repeated requests needs this
    /// order. Returns the number of logs that could not be read.
    fn read(&mut self, paths: &[PathBuf], out: &mut Output) -> anyhow::Result<u64> {
        reject_second_stdin(paths)?;
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
                    // Some errors already start with the name of the file.
                    let why = format!("{error:#}");
                    let why = why.strip_prefix(&format!("{name}: ")).unwrap_or(&why);
                    out.warn(format_args!("{name}: {why}"));
                    n_failed += 1;
                    continue;
                }
            }
            self.logs.push(LogFile { name, n_records: 0, n_broken: 0 });
        }
        let mut merged = MergedLogs::new(inputs);
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
                    out.warn(format_args!("{name}: {error}; the lines before it are counted"));
                    n_failed += 1;
                }
            }
        }
        for LogFile { name, n_records, n_broken } in &self.logs {
            if SHOWN < *n_broken {
                let more = counted(n_broken - SHOWN, "more line");
                out.warn(format_args!("{name}: {more} cannot be read"));
            }
            if *n_records == 0 && 0 < *n_broken {
                out.warn(format_args!("{name}: no line is a request"));
                n_failed += 1;
            }
        }
        Ok(n_failed)
    }

    /// Counts one line of a log.
    fn see(&mut self, idx: usize, item: &LogItem<'_>, out: &mut Output) -> anyhow::Result<()> {
        let Some(log) = self.logs.get_mut(idx) else { return Ok(()) };
        match item {
            LogItem::Record(line, record) => {
                log.n_records += 1;
                let is_counted = self.tally.add(record);
                // Requests before the selected period affect the detection of odd clients, too.
                let found = self.watch.observe(record).into_iter().filter(|_| is_counted);
                for mut finding in found {
                    finding.place = Place::line(*line);
                    let severity = finding.rule.severity(Strictness::Lenient);
                    let is_kept = is_kept(&self.odd, finding.rule.code);
                    if let Some(severity) = severity.filter(|_| is_kept) {
                        rutter_report::format::concise::write_finding(
                            &mut self.lines,
                            &log.name,
                            severity,
                            &finding,
                        )?;
                    }
                    self.odd.report(finding);
                }
            }
            LogItem::Broken(line, why, bytes) => {
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

/// Returns whether the report stores one more finding of this rule.
fn is_kept(odd: &Report, code: &str) -> bool {
    odd.counts().get(code).copied().unwrap_or(0) < Report::KEPT_PER_RULE
}

/// Returns the number and the total size of the published snapshots.
fn collections(files: &[PathBuf]) -> anyhow::Result<Option<CollectionTotals>> {
    let mut bytes = 0;
    for file in files {
        bytes += snapshot(file).with_context(|| file.display().to_string())?;
    }
    Ok((!files.is_empty()).then_some(CollectionTotals { files: files.len() as u64, bytes }))
}

/// Returns the size of a snapshot. Rejects other files.
fn snapshot(file: &Path) -> anyhow::Result<u64> {
    let metadata = file.metadata()?;
    anyhow::ensure!(metadata.is_file(), "the path is not a file");
    let mut findings = Report::new(Strictness::Lenient);
    let options = ReadOptions { size: Some(metadata.len()), ..ReadOptions::default() };
    let opened =
        rutter_scp::CollectionReader::open(std::fs::File::open(file)?, options, &mut findings);
    let reader = opened.map_err(|_| anyhow::anyhow!("the file is not an SCP collection"))?;
    anyhow::ensure!(
        reader.header().kind == CollectionKind::Snapshot,
        "the file is a delta, expected a snapshot"
    );
    Ok(metadata.len())
}

/// Returns a log with its start time. The start time of standard input is unknown, because it can
/// be read only once.
fn input(path: &Path) -> anyhow::Result<LogInput> {
    if path.as_os_str() == "-" {
        let open = || LogReader::open(io::stdin(), ReadLimits::DEFAULT);
        return Ok(LogInput { begins: None, open: Box::new(open) });
    }
    let source = InputFile::new(path)?;
    let begins = begins(&source)?;
    Ok(LogInput {
        begins,
        open: Box::new(move || LogReader::open(source.open()?.0, ReadLimits::DEFAULT)),
    })
}

/// Returns the time of the first valid line among the first thousand lines.
fn begins(source: &InputFile) -> io::Result<Option<Timestamp>> {
    let mut reader = LogReader::open(source.open()?.0, ReadLimits::DEFAULT)?;
    for _ in 0..1000 {
        match reader.next_item()? {
            Some(LogItem::Record(_, record)) => return Ok(Some(record.time)),
            Some(LogItem::Broken(..)) => {}
            None => break,
        }
    }
    Ok(None)
}
