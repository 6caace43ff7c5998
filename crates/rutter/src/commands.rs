//! One file per command: its arguments and its `run`.

pub(crate) mod apply;
pub(crate) mod arc;
pub(crate) mod build;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod diff;
pub(crate) mod discover;
pub(crate) mod entities;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod extract;
pub(crate) mod forget;
pub(crate) mod get;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod manual;
pub(crate) mod odd;
pub(crate) mod pack;
pub(crate) mod policy;
pub(crate) mod robots;
pub(crate) mod rules;
pub(crate) mod search;
pub(crate) mod serve;
pub(crate) mod spxi;
pub(crate) mod status;
pub(crate) mod sync;
pub(crate) mod token;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use clap::{Subcommand, ValueEnum};
use rutter_finding::{FindingSink, Mode, Report, counted};
use rutter_page::Timestamp;
use rutter_scp::{Input, Limits, MergeError, Opener, Order, Target, folder_of, is_name};

use crate::exit::Exit;
use crate::input::Source;
use crate::output::Output;

/// Commands about SCP collections.
#[derive(Debug, Subcommand)]
pub(crate) enum Scp {
    /// Pack JSON Lines of pages into a collection
    Pack(pack::Args),
    /// Show what a collection is and holds
    Inspect(inspect::Args),
    /// Say what was added, changed and removed between two snapshots
    Diff(diff::Args),
    /// Apply deltas to a snapshot and write the snapshot that results
    Apply(apply::Args),
}

pub(crate) fn run_scp(command: &Scp, out: &mut Output) -> anyhow::Result<Exit> {
    match command {
        Scp::Pack(args) => pack::run(args, out),
        Scp::Inspect(args) => inspect::run(args, out),
        Scp::Diff(args) => diff::run(args, out),
        Scp::Apply(args) => apply::run(args, out),
    }
}

/// How large inputs may be.
#[derive(Debug, clap::Args)]
struct LimitArgs {
    /// How large inputs may be: 2 GB and 20 GB decoded, or the 50 GB and
    /// 500 GB of the specification
    #[arg(long, value_enum, default_value_t = Sizes::Usual)]
    sizes: Sizes,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Sizes {
    Usual,
    Spec,
}

impl LimitArgs {
    fn limits(&self) -> Limits {
        match self.sizes {
            Sizes::Usual => Limits::DEFAULT,
            Sizes::Spec => Limits::SPEC,
        }
    }
}

/// Standard input can be given once.
pub(crate) fn one_stdin(paths: &[PathBuf]) -> anyhow::Result<()> {
    let n_stdin = paths.iter().filter(|path| path.as_os_str() == "-").count();
    anyhow::ensure!(n_stdin <= 1, "only one input can be standard input");
    Ok(())
}

/// An output that is also an input would be lost for what it was.
fn refuse_overwriting(inputs: &[PathBuf], output: &Path) -> anyhow::Result<()> {
    let real = |path: &Path| path.canonicalize().ok();
    let is_input = inputs.iter().any(|input| real(input).is_some() && real(input) == real(output));
    anyhow::ensure!(!is_input, "{}: is also an input; name another output", output.display());
    Ok(())
}

/// Reads an id or a section's name given as an argument.
fn parse_name(text: &str) -> Result<String, String> {
    let wanted = || "wanted letters, digits, hyphen and underscore, at most 255".to_owned();
    is_name(text).then(|| text.to_owned()).ok_or_else(wanted)
}

/// Reads a time given as an argument.
fn parse_time(text: &str) -> Result<Timestamp, String> {
    let parsed = Timestamp::parse_lenient(text).map(|(time, _)| time);
    parsed.map_err(|error| format!("{error}, for instance 2026-05-01T12:00:00Z"))
}

/// The time of day, or `SOURCE_DATE_EPOCH` where it is set.
fn now() -> anyhow::Result<Timestamp> {
    let seconds = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text.parse().context("SOURCE_DATE_EPOCH is not a number of seconds")?,
        Err(_) => {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
            i64::try_from(since.as_secs())?
        }
    };
    Timestamp::from_unix_seconds(seconds).context("the time is outside the calendar")
}

/// The target a path promises; a name of another kind is an error.
fn target(path: &Path, level: Option<u8>) -> anyhow::Result<Target> {
    let folder = folder_of(path);
    anyhow::ensure!(folder.is_dir(), "{}: no such folder", folder.display());
    let mut target = Target::of_name(path).with_context(|| {
        format!("{}: name decides the coding, wanted .scp, .scp.gz or .scp.zst", path.display())
    })?;
    if let Some(level) = level {
        let highest = target.coding.highest_level();
        let name = target.coding.name().context("--level: plain .scp is not compressed")?;
        let is_known = (1..=highest).contains(&level);
        anyhow::ensure!(is_known, "--level {level}: {name} knows 1 to {highest}");
        target.level = level;
    }
    Ok(target)
}

/// Something to do with inputs.
type Job<'j, T> = dyn FnMut(Vec<Input<'_>>, Order) -> Result<T, MergeError> + 'j;

/// Runs a job over inputs that are hoped to be sorted; where one is not, runs
/// it again and has them sorted. Findings count from the run that succeeds.
fn with_inputs<T>(
    sources: &[Source],
    mode: Mode,
    out: &mut Output,
    job: &mut Job<'_, T>,
) -> anyhow::Result<T> {
    let mut order = Order::Given;
    loop {
        let mut reports: Vec<Report> = sources.iter().map(|_| Report::new(mode)).collect();
        let openers: Vec<Box<Opener<'_>>> =
            sources.iter().map(|source| Box::new(|| source.open()) as Box<Opener<'_>>).collect();
        let inputs = openers
            .iter()
            .zip(&mut reports)
            .map(|(open, report)| Input { open, sink: report as &mut dyn FindingSink })
            .collect();
        let result = job(inputs, order);
        if matches!(result, Err(MergeError::Unsorted(_))) && order == Order::Given {
            order = Order::Sort;
            continue;
        }
        for (source, report) in sources.iter().zip(&reports) {
            say_findings(source.name(), report, out);
        }
        return result.map_err(|error| named(error, sources));
    }
}

/// Findings of a command that is not `check` are talk.
fn say_findings(name: &str, report: &Report, out: &mut Output) {
    for (severity, finding) in report.findings() {
        let mut line = Vec::new();
        rutter_check::format::concise::write_finding(&mut line, name, severity, finding)
            .expect("memory takes everything");
        out.warn(String::from_utf8_lossy(&line).trim_end());
    }
    if 0 < report.not_kept() {
        out.warn(format_args!("{name}: {} more findings of the same kinds", report.not_kept()));
    }
}

/// Puts the file's name where the library only knows its number.
fn named(error: MergeError, sources: &[Source]) -> anyhow::Error {
    let name = |number: usize| sources.get(number).map_or("?", |source| source.name()).to_owned();
    match error {
        MergeError::Read(number, error) => anyhow::Error::from(error).context(name(number)),
        MergeError::Write(error) => error.into(),
        MergeError::Kind(number, kind, wanted) => {
            anyhow::anyhow!("{}: is a {kind}, wanted a {wanted}", name(number))
        }
        MergeError::Section(number, section, first) => {
            anyhow::anyhow!("{}: is of section `{section}`, {} of `{first}`", name(number), name(0))
        }
        MergeError::Gap { input, .. }
        | MergeError::Skipped { input, .. }
        | MergeError::NotLater(input, ..)
        | MergeError::State { input, .. }
        | MergeError::MassDeletion { input, .. } => anyhow::Error::from(error).context(name(input)),
        other => other.into(),
    }
}

/// Every rule of every crate, in the order of their codes.
fn all_rules() -> Vec<&'static rutter_finding::Rule> {
    let mut rules = rutter_check::registry::all();
    rules.extend(rutter_build::rules::ALL);
    rules.extend(rutter_logs::rules::ALL);
    rules.extend(rutter_discover::rules::ALL);
    rules.sort_by_key(|rule| rule.code);
    rules
}

/// Shows a number of bytes the way people read it.
fn bytes(n: u64) -> String {
    indicatif::HumanBytes(n).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rutter_check::{explain, layer};

    use super::all_rules;

    #[test]
    fn ours_every_rule_of_every_crate_is_explained() {
        let lacks = |code: &str| {
            explain::example(code).is_none_or(|it| it.wrong.is_empty() || it.right.is_empty())
        };
        let missing: Vec<&str> =
            all_rules().into_iter().map(|rule| rule.code).filter(|code| lacks(code)).collect();
        assert!(
            missing.is_empty(),
            "no example in crates/rutter-check/src/explain for {missing:?}"
        );
    }

    #[test]
    fn ours_every_example_belongs_to_a_rule_and_every_rule_to_a_layer() {
        let rules = all_rules();
        let codes: BTreeSet<&str> = rules.iter().map(|rule| rule.code).collect();
        let names: BTreeSet<&str> = rules.iter().map(|rule| rule.name).collect();
        assert_eq!((codes.len(), names.len()), (rules.len(), rules.len()));
        // Examples of a layer whose rules are still to come may wait for them.
        let layers: BTreeSet<&str> = rules.iter().map(|rule| rule.layer()).collect();
        let is_stray = |code: &&&str| layers.contains(&code[..2]) && !codes.contains(**code);
        let stray: Vec<_> = explain::all().keys().filter(is_stray).collect();
        assert!(stray.is_empty(), "no rule is called {stray:?}");
        for rule in rules {
            assert!(layer::LAYERS.iter().any(|(layer, _)| rule.layer() == *layer), "{}", rule.code);
        }
    }
}
