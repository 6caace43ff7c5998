//! Writes the report of a check: filters the findings by settings and baseline, formats them and
//! returns the exit code.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use rutter_finding::{Finding, Severity, Strictness};
use rutter_report::baseline::{Baseline, BaselineCounts, FileNaming};
use rutter_report::excerpt::excerpts;
use rutter_report::format::ReportFormat;
use rutter_report::{CheckedFile, DetailLevel, FileReport, Outcome, Overview, quota};

use crate::commands::check::checked_files::CheckedFiles;
use crate::commands::check::file_names;
use crate::commands::check::finding_filter::{FindingFilter, parse_selector};
use crate::config::{self, Config, Setting, SettingSource, SettingsError, flags::Flags};
use crate::exit::ExitStatus;
use crate::output::{Output, Verbosity};

/// Default name of the baseline file.
const BASELINE: &str = "rutter-baseline.json";

/// Arguments about the report of findings.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Format of the report
    ///
    /// Default: human, or the format that matches the file extension of --output.
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// File to write the report to
    ///
    /// Default: standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Minimum severity that fails the run with exit code 1
    ///
    /// Default: `fail-on` of rutter.toml, else error.
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<FailThreshold>,
    /// Report only findings of these rules
    ///
    /// Codes, names, or layers such as SC, separated by commas. Default: `select` of rutter.toml,
    /// else all rules. Example: SC021,unknown-block.
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = parse_selector)]
    select: Vec<String>,
    /// Do not report findings of these rules
    ///
    /// Codes, names, or layers, separated by commas. Rules that rutter.toml ignores are ignored,
    /// too.
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = parse_selector)]
    ignore: Vec<String>,
    /// File of known findings, which do not fail the run
    ///
    /// Default: `baseline` of rutter.toml.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all current findings to the baseline
    ///
    /// The findings are written to the file of --baseline, else to rutter-baseline.json.
    #[arg(long)]
    write_baseline: bool,
}

#[derive(Debug, Clone, Copy)]
struct FormatArg(ReportFormat);

impl ValueEnum for FormatArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [FormatArg; ReportFormat::ALL.len()] = {
            let mut all = [FormatArg(ReportFormat::Human); ReportFormat::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = FormatArg(ReportFormat::ALL[at].1);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, _) = ReportFormat::ALL.iter().find(|(_, format)| *format == self.0)?;
        let value = PossibleValue::new(*name);
        // `json-lines` is the former name of `jsonl`.
        Some(if self.0 == ReportFormat::JsonLines { value.alias("json-lines") } else { value })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailThreshold {
    Note,
    Warning,
    Error,
}

impl From<FailThreshold> for Severity {
    fn from(fail_on: FailThreshold) -> Self {
        match fail_on {
            FailThreshold::Note => Self::Note,
            FailThreshold::Warning => Self::Warning,
            FailThreshold::Error => Self::Error,
        }
    }
}

/// Options of a report, from arguments and settings.
#[derive(Debug)]
pub(crate) struct ReportOptions {
    format: ReportFormat,
    output: Option<PathBuf>,
    fail_on: Severity,
    filter: FindingFilter,
    baseline: Option<PathBuf>,
    writes_baseline: bool,
}

impl ReportOptions {
    /// Returns whether the report has charts, which need the survival of markers, too.
    pub(crate) fn draws(&self) -> bool {
        self.format == ReportFormat::Html
    }
}

impl ReportArgs {
    /// Returns the paths of the files that the check will write.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Path> {
        let baseline = self.baseline.as_deref().filter(|_| self.write_baseline);
        self.output.as_deref().into_iter().chain(baseline)
    }

    /// Merges the arguments with the settings for the checked site. Arguments take precedence over
    /// settings.
    pub(crate) fn settle(
        &self,
        file: Option<&Path>,
        site: Option<&Path>,
    ) -> anyhow::Result<ReportOptions> {
        let site = site.map(|site| ("site", site.as_os_str().to_owned()));
        // No variable sets a key of `[check]`.
        let config = config::load(&Flags::of(site.into_iter()), file, &|_| None)?;
        let baseline = self.baseline.clone().or_else(|| in_file(&config));
        let settings = config.settings;
        let by_name = || {
            let name = self.output.as_deref()?.to_str()?;
            ReportFormat::of_name(name)
        };
        let format = match (self.format, &self.output) {
            (Some(format), _) => format.0,
            (None, None) => ReportFormat::Human,
            (None, Some(output)) => by_name().ok_or_else(|| {
                let what = format!("--output {}: unknown file extension", output.display());
                SettingsError::missing(what, "choose a format with --format")
            })?,
        };
        let select = match settings.check.select {
            Some(Setting { value, by }) if self.select.is_empty() => {
                let read = value.iter().map(|text| parse_selector(text)).collect::<Result<_, _>>();
                read.map_err(|what| SettingsError::new(&by, format_args!("select: {what}")))?
            }
            _ => self.select.clone(),
        };
        let fail_on = self.fail_on.map(Severity::from);
        let fail_on = fail_on.or(settings.check.fail_on.map(Setting::value));
        Ok(ReportOptions {
            format,
            output: self.output.clone(),
            fail_on: fail_on.unwrap_or(Severity::Error),
            filter: FindingFilter::new(select, &self.ignore, settings.check.ignore),
            baseline: match baseline {
                None if self.write_baseline => Some(BASELINE.into()),
                baseline => baseline,
            },
            writes_baseline: self.write_baseline,
        })
    }
}

/// Returns the path of the baseline that the settings name; a relative path starts at the folder of
/// the settings file.
fn in_file(config: &Config) -> Option<PathBuf> {
    let given = config.settings.check.baseline.as_ref()?;
    let folder = config.file.as_deref().and_then(Path::parent);
    Some(match (&given.by, folder) {
        (SettingSource::File(_), Some(folder)) => folder.join(&given.value),
        _ => given.value.clone(),
    })
}

/// The results of a check.
#[derive(Debug)]
pub(crate) struct CheckResults {
    pub(crate) judgements: Vec<FileReport>,
    /// Names of the completely checked folders, as in the file reports.
    pub(crate) folders: Vec<String>,
    pub(crate) overview: Overview,
    pub(crate) mode: Strictness,
    /// Whether an input could not be checked; its error was printed already.
    pub(crate) has_failed: bool,
}

/// Writes the report and returns the exit code.
pub(crate) fn write_report(
    asked: &ReportOptions,
    found: CheckResults,
    reopen: &CheckedFiles,
    out: &mut Output,
) -> anyhow::Result<ExitStatus> {
    let CheckResults { mut judgements, folders, overview, mode, has_failed } = found;
    let (ignored, idle) = asked.filter.sift(&mut judgements);
    for message in idle {
        out.warn(message);
    }
    let sifted = match &asked.baseline {
        None => BaselineCounts::default(),
        Some(path) => {
            let name = |file: &str| file_names::seen_from(path, file);
            let naming = FileNaming { name: &name, whole: folders };
            baseline(asked, path, &judgements, &naming, out)?.remove_known(&mut judgements, &naming)
        }
    };
    quota::shorten(&mut judgements);
    let shows_lines = asked.format.shows_lines();
    let outcome = Outcome {
        files: judgements
            .into_iter()
            .map(|judgement| {
                let excerpts =
                    if shows_lines { excerpts_of(&judgement, reopen) } else { Vec::new() };
                CheckedFile { file_report: judgement, excerpts }
            })
            .collect(),
        overview,
        mode,
        fail_on: asked.fail_on,
        ignored,
        known: sifted.known,
        gone: sifted.gone,
        detail: match out.verbosity() {
            Verbosity::Full => DetailLevel::Full,
            Verbosity::Quiet => DetailLevel::FindingsOnly,
        },
        version: env!("CARGO_PKG_VERSION"),
    };
    match &asked.output {
        None => asked.format.write(out.data(), &outcome)?,
        Some(path) => {
            let mut bytes = anstream::StripStream::new(Vec::new());
            asked.format.write(&mut bytes, &outcome)?;
            fs::write(path, bytes.into_inner()).with_context(|| path.display().to_string())?;
            out.say(format_args!("{}: {}", path.display(), outcome.tally()));
        }
    }
    if has_failed {
        return Ok(ExitStatus::Failure);
    }
    Ok(if outcome.fails() { ExitStatus::Findings } else { ExitStatus::Clean })
}

/// Returns the lines that the findings of a file refer to.
fn excerpts_of(
    judgement: &FileReport,
    reopen: &CheckedFiles,
) -> Vec<Option<rutter_report::excerpt::Excerpt>> {
    let findings: Vec<&Finding> = judgement.report.findings().map(|(_, finding)| finding).collect();
    let open = || reopen.open(&judgement.root, &judgement.name);
    if findings.is_empty() { Vec::new() } else { excerpts(&open, &findings) }
}

/// Reads the baseline, or writes it for `--write-baseline`.
fn baseline(
    asked: &ReportOptions,
    path: &Path,
    judgements: &[FileReport],
    naming: &FileNaming<'_>,
    out: &mut Output,
) -> anyhow::Result<Baseline> {
    let name = path.display().to_string();
    if asked.writes_baseline {
        let baseline = Baseline::of(judgements, naming);
        fs::write(path, baseline.to_json()).with_context(|| name.clone())?;
        let n = crate::commands::counted(baseline.len(), "finding");
        out.say(format_args!("{name}: {n} written"));
        return Ok(baseline);
    }
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let hint = "create it with --write-baseline";
            return Err(
                SettingsError::missing(format!("baseline {name} does not exist"), hint).into()
            );
        }
        bytes => bytes.with_context(|| name.clone())?,
    };
    Baseline::parse(&bytes).with_context(|| name.clone())
}
