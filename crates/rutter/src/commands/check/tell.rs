//! What becomes of judgements: sifted by settings and baseline, written in a
//! format, turned into an exit code.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use rutter_check::baseline::{Baseline, Naming, Sifted};
use rutter_check::excerpt::excerpts;
use rutter_check::format::Format;
use rutter_check::{Detail, Judged, Judgement, Outcome, Overview, quota};
use rutter_finding::{Finding, Mode, Severity};

use crate::commands::check::place;
use crate::commands::check::reopen::Reopen;
use crate::commands::check::sieve::{Sieve, parse_selector};
use crate::config::{self, By, Config, Fault, Given, flags::Flags};
use crate::exit::Exit;
use crate::output::{Chatter, Output};

/// What the baseline is called where nobody names it.
const BASELINE: &str = "rutter-baseline.json";

/// How findings are told.
#[derive(Debug, clap::Args)]
pub(crate) struct TellArgs {
    /// How to write what was found [default: human, or by the ending of --output]
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// File to write it to, instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The least severity that makes the exit code 1 [default: `fail-on` of rutter.toml, else error]
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
    /// Speak of these rules only: codes, names, or layers such as SC
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = parse_selector)]
    select: Vec<String>,
    /// Do not speak of these rules, beside those that rutter.toml ignores
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = parse_selector)]
    ignore: Vec<String>,
    /// File of known findings, which do not fail [default: `baseline` of rutter.toml]
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Take everything that is found for known: write the baseline, rutter-baseline.json unless
    /// another is named
    #[arg(long)]
    write_baseline: bool,
}

#[derive(Debug, Clone, Copy)]
struct FormatArg(Format);

impl ValueEnum for FormatArg {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [FormatArg; Format::ALL.len()] = {
            let mut all = [FormatArg(Format::Human); Format::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = FormatArg(Format::ALL[at].1);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, _) = Format::ALL.iter().find(|(_, format)| *format == self.0)?;
        let value = PossibleValue::new(*name);
        // The name before all commands said `jsonl`.
        Some(if self.0 == Format::JsonLines { value.alias("json-lines") } else { value })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Note,
    Warning,
    Error,
}

impl From<FailOn> for Severity {
    fn from(fail_on: FailOn) -> Self {
        match fail_on {
            FailOn::Note => Self::Note,
            FailOn::Warning => Self::Warning,
            FailOn::Error => Self::Error,
        }
    }
}

/// What arguments and settings come to.
#[derive(Debug)]
pub(crate) struct Asked {
    format: Format,
    output: Option<PathBuf>,
    fail_on: Severity,
    sieve: Sieve,
    baseline: Option<PathBuf>,
    writes_baseline: bool,
}

impl Asked {
    /// Whether charts are drawn, for which more is read.
    pub(crate) fn draws(&self) -> bool {
        self.format == Format::Html
    }
}

impl TellArgs {
    /// Files that will be written.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &Path> {
        let baseline = self.baseline.as_deref().filter(|_| self.write_baseline);
        self.output.as_deref().into_iter().chain(baseline)
    }

    /// Reads the settings and lets arguments win. They are looked for from a
    /// site's folder, where one is judged.
    pub(crate) fn settle(&self, file: Option<&Path>, site: Option<&Path>) -> anyhow::Result<Asked> {
        let site = site.map(|site| ("site", site.as_os_str().to_owned()));
        // Variables are settings of a build; none is one of `[check]`.
        let config = config::load(&Flags::of(site.into_iter()), file, &|_| None)?;
        let baseline = self.baseline.clone().or_else(|| in_file(&config));
        let written = config.written;
        let by_name = || {
            let name = self.output.as_deref()?.to_str()?;
            Format::of_name(name)
        };
        let format = match (self.format, &self.output) {
            (Some(format), _) => format.0,
            (None, None) => Format::Human,
            (None, Some(output)) => by_name().ok_or_else(|| {
                let what = format!("--output {}: its ending names no format", output.display());
                Fault::missing(what, "name one with --format")
            })?,
        };
        let select = match written.check_select {
            Some(Given { value, by }) if self.select.is_empty() => {
                let read = value.iter().map(|text| parse_selector(text)).collect::<Result<_, _>>();
                read.map_err(|what| Fault::new(&by, format_args!("select: {what}")))?
            }
            _ => self.select.clone(),
        };
        let fail_on = self.fail_on.map(Severity::from);
        let fail_on = fail_on.or(written.check_fail_on.map(Given::value));
        Ok(Asked {
            format,
            output: self.output.clone(),
            fail_on: fail_on.unwrap_or(Severity::Error),
            sieve: Sieve::new(select, &self.ignore, written.check_ignore),
            baseline: match baseline {
                None if self.write_baseline => Some(BASELINE.into()),
                baseline => baseline,
            },
            writes_baseline: self.write_baseline,
        })
    }
}

/// A path of the settings file starts from there.
fn in_file(config: &Config) -> Option<PathBuf> {
    let given = config.written.check_baseline.as_ref()?;
    let folder = config.file.as_deref().and_then(Path::parent);
    Some(match (&given.by, folder) {
        (By::File(_), Some(folder)) => folder.join(&given.value),
        _ => given.value.clone(),
    })
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) judgements: Vec<Judgement>,
    /// Folders that were judged from end to end, as judgements call them.
    pub(crate) folders: Vec<String>,
    pub(crate) overview: Overview,
    pub(crate) mode: Mode,
    /// Something could not be judged at all; that was said already.
    pub(crate) has_failed: bool,
}

/// Tells what was found, and says how the program ends.
pub(crate) fn tell(
    asked: &Asked,
    found: Found,
    reopen: &Reopen,
    out: &mut Output,
) -> anyhow::Result<Exit> {
    let Found { mut judgements, folders, overview, mode, has_failed } = found;
    let (ignored, idle) = asked.sieve.sift(&mut judgements);
    for message in idle {
        out.warn(message);
    }
    let sifted = match &asked.baseline {
        None => Sifted::default(),
        Some(path) => {
            let name = |file: &str| place::seen_from(path, file);
            let naming = Naming { name: &name, whole: folders };
            baseline(asked, path, &judgements, &naming, out)?.sift(&mut judgements, &naming)
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
                Judged { judgement, excerpts }
            })
            .collect(),
        overview,
        mode,
        fail_on: asked.fail_on,
        ignored,
        known: sifted.known,
        gone: sifted.gone,
        detail: match out.chatter() {
            Chatter::Full => Detail::Full,
            Chatter::Quiet => Detail::FindingsOnly,
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
        return Ok(Exit::Failure);
    }
    Ok(if outcome.fails() { Exit::Findings } else { Exit::Clean })
}

/// The lines that the findings of a file speak of.
fn excerpts_of(
    judgement: &Judgement,
    reopen: &Reopen,
) -> Vec<Option<rutter_check::excerpt::Excerpt>> {
    let findings: Vec<&Finding> = judgement.report.findings().map(|(_, finding)| finding).collect();
    let open = || reopen.open(&judgement.root, &judgement.name);
    if findings.is_empty() { Vec::new() } else { excerpts(&open, &findings) }
}

/// Writes the baseline where that is asked for, and reads it.
fn baseline(
    asked: &Asked,
    path: &Path,
    judgements: &[Judgement],
    naming: &Naming<'_>,
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
            let hint = "--write-baseline writes it";
            return Err(Fault::missing(format!("{name}: there is no such baseline"), hint).into());
        }
        bytes => bytes.with_context(|| name.clone())?,
    };
    Baseline::parse(&bytes).with_context(|| name.clone())
}
