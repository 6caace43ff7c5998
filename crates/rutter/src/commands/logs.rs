//! `rutter logs`: which AI agents read what of a site, by its access logs.

use std::io::{self, Read};
use std::path::PathBuf;

use anyhow::Context;
use rutter_finding::{FindingSink, Mode, Place, Report, quoted};
use rutter_logs::summary::{json, svg, text};
use rutter_logs::{Collections, Filter, Item, Limits, Reader, Settings, Tally, Thresholds, Watch};
use rutter_page::Timestamp;

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
    /// Access logs of nginx, Apache, Caddy or `rutter serve`, also gzip, in any
    /// order; `-` is standard input
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write a chart of the requests of AI agents
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Count only requests from this time on
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
    let thresholds = Thresholds { has_collections: collections.is_some(), ..args.odd.thresholds() };
    let window = i64::from(args.window) * 3600;
    let settings = Settings { window, collections, ..Settings::USUAL };
    let filter = Filter { since: args.since, until: args.until, agent: args.agent.clone() };
    let mut tally = Tally::new(settings, filter);
    let mut watch = Watch::new(thresholds);
    let mut odd = Report::new(Mode::Lenient);
    let mut lines = Vec::new();
    for log in in_order(&args.logs)? {
        read(&log, &mut tally, &mut watch, &mut odd, &mut lines, out)
            .with_context(|| log.name.clone())?;
    }
    let summary = tally.finish();
    let n_broken: u64 = summary.broken.values().sum();
    let n_read = summary.requests + summary.left_out;
    anyhow::ensure!(n_broken == 0 || 0 < n_read, "no line could be read as a request");
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
    Ok(if odd.worst().is_some() { Exit::Findings } else { Exit::Clean })
}

/// Reads one log to its end.
fn read(
    log: &Log,
    tally: &mut Tally,
    watch: &mut Watch,
    odd: &mut Report,
    lines: &mut Vec<u8>,
    out: &mut Output,
) -> anyhow::Result<()> {
    let mut n_broken = 0;
    let mut reader = Reader::open(log.input()?, Limits::USUAL)?;
    while let Some(item) = reader.next_item()? {
        match item {
            Item::Record(line, record) => {
                let is_counted = tally.see(&record);
                // A client is watched before the time that is asked for, too.
                let found = watch.see(&record).into_iter().filter(|_| is_counted);
                for mut finding in found {
                    finding.place = Place::line(line);
                    let severity = finding.rule.severity(Mode::Lenient);
                    if let Some(severity) = severity.filter(|_| is_kept(odd, finding.rule.code)) {
                        rutter_check::format::human::write_finding(
                            lines, &log.name, severity, &finding,
                        )?;
                    }
                    odd.report(finding);
                }
            }
            Item::Broken(line, why, bytes) => {
                tally.broken(why);
                n_broken += 1;
                if n_broken <= SHOWN {
                    let start = String::from_utf8_lossy(bytes.get(..240).unwrap_or(bytes));
                    out.say(format_args!("{}: line {line}: {why}: {}", log.name, quoted(&start)));
                }
            }
        }
    }
    if SHOWN < n_broken {
        let more = counted(n_broken - SHOWN, "more line");
        out.say(format_args!("{}: {more} that could not be read", log.name));
    }
    Ok(())
}

/// Tells whether one more finding of this rule is among those that are kept.
fn is_kept(odd: &Report, code: &str) -> bool {
    odd.counts().get(code).copied().unwrap_or(0) < Report::KEPT_PER_RULE
}

/// How many files of a site there are, and how large they are together.
fn collections(files: &[PathBuf]) -> anyhow::Result<Option<Collections>> {
    let mut bytes = 0;
    for file in files {
        let metadata = file.metadata().with_context(|| file.display().to_string())?;
        anyhow::ensure!(metadata.is_file(), "{}: is no file", file.display());
        bytes += metadata.len();
    }
    Ok((!files.is_empty()).then_some(Collections { files: files.len() as u64, bytes }))
}

/// A log and when it begins.
struct Log {
    name: String,
    source: Option<Source>,
    begins: Option<Timestamp>,
}

impl Log {
    fn input(&self) -> anyhow::Result<Box<dyn Read + Send>> {
        Ok(match &self.source {
            Some(source) => source.open()?.0,
            None => Box::new(io::stdin()),
        })
    }
}

/// All logs, the oldest first, because who came again is seen by what came
/// before; standard input comes last and is read as it flows.
fn in_order(paths: &[PathBuf]) -> anyhow::Result<Vec<Log>> {
    one_stdin(paths)?;
    let mut logs = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            logs.push(Log { name: "<stdin>".to_owned(), source: None, begins: None });
            continue;
        }
        let source = Source::new(path)?;
        let name = source.name().to_owned();
        let begins = begins(&source).with_context(|| name.clone())?;
        logs.push(Log { name, source: Some(source), begins });
    }
    logs.sort_by_key(|log| (log.source.is_none(), log.begins));
    Ok(logs)
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
