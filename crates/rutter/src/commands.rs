//! One module per command, with its arguments and its `run` function.
//!
//! This module has the code that several commands share: size limits, times, output files and the
//! printing of findings.

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
pub(crate) mod odd_clients;
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
use rutter_finding::{FindingSink, Report, Strictness, counted};
use rutter_page::Timestamp;
use rutter_report::RuleRegistry;
use rutter_scp::{
    CollectionInput, CollectionOpener, InputOrder, Limits, MergeError, OutputTarget, is_name,
    parent_folder,
};

use crate::exit::ExitStatus;
use crate::input::InputFile;
use crate::output::Output;

/// Subcommands of `rutter scp`.
#[derive(Debug, Subcommand)]
pub(crate) enum ScpCommand {
    /// Create a collection from JSON Lines
    Pack(pack::PackArgs),
    /// Show the header, statistics and pages of collections
    Inspect(inspect::InspectArgs),
    /// Show added, changed and removed pages between two snapshots
    Diff(diff::DiffArgs),
    /// Apply deltas to a snapshot
    Apply(apply::ApplyArgs),
}

pub(crate) fn run_scp(command: &ScpCommand, out: &mut Output) -> anyhow::Result<ExitStatus> {
    match command {
        ScpCommand::Pack(args) => pack::run(args, out),
        ScpCommand::Inspect(args) => inspect::run(args, out),
        ScpCommand::Diff(args) => diff::run(args, out),
        ScpCommand::Apply(args) => apply::run(args, out),
    }
}

/// Arguments that limit the size of inputs.
#[derive(Debug, clap::Args)]
struct SizeLimitArgs {
    /// Maximum size of an input file
    #[arg(long, value_enum, default_value_t = SizeLimit::Usual)]
    sizes: SizeLimit,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SizeLimit {
    /// 2 GB, or 20 GB decompressed
    Usual,
    /// 50 GB, or 500 GB decompressed, as in the specification
    Spec,
}

impl SizeLimitArgs {
    fn limits(&self) -> Limits {
        match self.sizes {
            SizeLimit::Usual => Limits::DEFAULT,
            SizeLimit::Spec => Limits::SPEC,
        }
    }
}

/// Rejects arguments that name standard input more than once.
pub(crate) fn reject_second_stdin(paths: &[PathBuf]) -> anyhow::Result<()> {
    let n_stdin = paths.iter().filter(|path| path.as_os_str() == "-").count();
    anyhow::ensure!(n_stdin <= 1, "only one input can be standard input");
    Ok(())
}

/// Rejects an output file that is also an input.
fn refuse_overwriting(inputs: &[PathBuf], output: &Path) -> anyhow::Result<()> {
    let real = |path: &Path| path.canonicalize().ok();
    let is_input = inputs.iter().any(|input| real(input).is_some() && real(input) == real(output));
    anyhow::ensure!(
        !is_input,
        "cannot write {}: it is also an input; choose another output file",
        output.display()
    );
    Ok(())
}

/// Parses a collection id or the name of a section.
fn parse_name(text: &str) -> Result<String, String> {
    let wanted = || "expected at most 255 letters, digits, hyphens and underscores".to_owned();
    is_name(text).then(|| text.to_owned()).ok_or_else(wanted)
}

/// Parses a time given as an argument.
fn parse_time(text: &str) -> Result<Timestamp, String> {
    let parsed = Timestamp::parse_lenient(text).map(|(time, _)| time);
    parsed.map_err(|error| format!("{error}; example: 2026-05-01T12:00:00Z"))
}

/// Returns the current time, or `SOURCE_DATE_EPOCH` if it is set.
fn now() -> anyhow::Result<Timestamp> {
    let seconds = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text.parse().context("`SOURCE_DATE_EPOCH` is not a number of seconds")?,
        Err(_) => {
            let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
            i64::try_from(since.as_secs())?
        }
    };
    Timestamp::from_unix_seconds(seconds).context("the current time is out of range")
}

/// Returns the collection file to write; the file extension selects the compression.
fn parse_target(path: &Path, level: Option<u8>) -> anyhow::Result<OutputTarget> {
    let folder = parent_folder(path);
    anyhow::ensure!(folder.is_dir(), "folder {} does not exist", folder.display());
    let mut target = OutputTarget::from_file_name(path).with_context(|| {
        format!("{}: the file name must end in .scp, .scp.gz or .scp.zst", path.display())
    })?;
    if let Some(level) = level {
        let highest = target.coding.max_level();
        let name = target.coding.name().context("--level: a .scp file is not compressed")?;
        let is_known = (1..=highest).contains(&level);
        anyhow::ensure!(is_known, "--level {level}: {name} has levels 1 to {highest}");
        target.level = level;
    }
    Ok(target)
}

/// A function that reads collections, whose pages are sorted or must be sorted first.
type InputReader<'j, T> =
    dyn FnMut(Vec<CollectionInput<'_>>, InputOrder) -> Result<T, MergeError> + 'j;

/// Runs `job` over collections, assuming that the pages of each are sorted. If a collection is not
/// sorted, runs `job` again and sorts the pages first. Prints the findings of the last run only.
fn with_inputs<T>(
    sources: &[InputFile],
    mode: Strictness,
    out: &mut Output,
    job: &mut InputReader<'_, T>,
) -> anyhow::Result<T> {
    let mut order = InputOrder::Given;
    loop {
        let mut reports: Vec<Report> = sources.iter().map(|_| Report::new(mode)).collect();
        let openers: Vec<Box<CollectionOpener<'_>>> = sources
            .iter()
            .map(|source| Box::new(|| source.open()) as Box<CollectionOpener<'_>>)
            .collect();
        let inputs = openers
            .iter()
            .zip(&mut reports)
            .map(|(open, report)| CollectionInput { open, sink: report as &mut dyn FindingSink })
            .collect();
        let result = job(inputs, order);
        if matches!(result, Err(MergeError::Unsorted(_))) && order == InputOrder::Given {
            order = InputOrder::Sort;
            continue;
        }
        for (source, report) in sources.iter().zip(&reports) {
            print_findings(source.name(), report, out);
        }
        return result.map_err(|error| with_file_name(error, sources));
    }
}

/// Prints findings to stderr, for commands other than `check`.
fn print_findings(name: &str, report: &Report, out: &mut Output) {
    for (severity, finding) in report.findings() {
        let mut line = Vec::new();
        rutter_report::format::concise::write_finding(&mut line, name, severity, finding)
            .expect("writing to memory does not fail");
        out.warn(String::from_utf8_lossy(&line).trim_end());
    }
    if 0 < report.not_kept() {
        out.warn(format_args!("{name}: {} more findings of the same rules", report.not_kept()));
    }
}

/// Adds the name of the input file to an error that has only the number of the file.
fn with_file_name(error: MergeError, sources: &[InputFile]) -> anyhow::Error {
    let name = |number: usize| sources.get(number).map_or("?", |source| source.name()).to_owned();
    match error {
        MergeError::Read(number, error) => anyhow::Error::from(error).context(name(number)),
        MergeError::Write(error) => error.into(),
        MergeError::Kind(number, kind, wanted) => {
            anyhow::anyhow!("{} is a {kind}, expected a {wanted}", name(number))
        }
        MergeError::Section(number, section, first) => {
            anyhow::anyhow!(
                "{} belongs to section `{section}`, but {} to `{first}`",
                name(number),
                name(0)
            )
        }
        MergeError::Gap { input, .. }
        | MergeError::Skipped { input, .. }
        | MergeError::NotLater(input, ..)
        | MergeError::State { input, .. }
        | MergeError::MassDeletion { input, .. } => anyhow::Error::from(error).context(name(input)),
        other => other.into(),
    }
}

/// Returns all rules of all crates.
fn rule_registry() -> RuleRegistry {
    let of_commands =
        [rutter_build::rules::ALL, rutter_logs::rules::ALL, rutter_sync::discover::rules::ALL];
    RuleRegistry::new(rutter_check::rule_tables().into_iter().chain(of_commands))
}

/// Returns the name of an access method for text output, by its name in JSON output.
fn method_text(name: &str) -> &str {
    match name {
        "scp" => "SCP collections",
        "arc" => "ARC sitemap",
        "sitemap" => "XML sitemap",
        "links" => "links from the home page",
        "llms" => "llms.txt",
        "nothing" => "no access method",
        other => other,
    }
}

/// Formats a number of bytes, such as `15.63 KiB`.
fn format_bytes(n: u64) -> String {
    indicatif::HumanBytes(n).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rutter_report::layer::LAYERS;

    use super::rule_registry;

    #[test]
    fn every_rule_is_complete_and_unique() {
        let registry = rule_registry();
        let rules = registry.rules();
        let codes: BTreeSet<&str> = rules.iter().map(|rule| rule.code).collect();
        let names: BTreeSet<&str> = rules.iter().map(|rule| rule.name).collect();
        assert_eq!((codes.len(), names.len()), (rules.len(), rules.len()));
        for rule in rules {
            let is_layer = LAYERS.iter().any(|(layer, _)| rule.layer() == *layer);
            assert!(rule.code.len() == 5 && is_layer, "{}", rule.code);
            let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            assert!(rule.name.bytes().all(is_plain), "{}", rule.name);
            for text in [rule.title, rule.why, rule.fix, rule.example.wrong, rule.example.right] {
                assert!(!text.is_empty(), "{}", rule.code);
            }
        }
    }
}
