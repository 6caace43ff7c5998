//! `rutter check`: judge sites, collections, signposts, ARC and SPXI files against their specifications.

mod fix;
mod site;

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use rutter_check::{Judgement, Judging, Subject, format};
use rutter_finding::{Mode, Severity};

use crate::commands::{LimitArgs, now, one_stdin};
use crate::exit::Exit;
use crate::input::Source;
use crate::output::Output;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folders of built sites, addresses of live ones, or single collections, sitemaps, robots.txt, llms.txt, files of ARC and SPXI; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    files: Vec<PathBuf>,
    /// How to write what was found
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Judge as a reader would, who copes with small faults
    #[arg(long)]
    lenient: bool,
    /// The least severity that makes the exit code 1
    #[arg(long, value_enum, default_value_t = FailOn::Error)]
    fail_on: FailOn,
    #[command(flatten)]
    site: site::SiteArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
    Sarif,
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

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    one_stdin(&args.files)?;
    let judging = Judging {
        mode: if args.lenient { Mode::Lenient } else { Mode::Strict },
        now: Some(now()?),
        limits: args.limits.limits(),
        ..Judging::default()
    };
    let mut judgements: Vec<Judgement> = Vec::new();
    let mut worst = None;
    let mut failed = None;
    for path in &args.files {
        // A file that cannot be had does not keep the others from their verdict.
        let judged = match judge(path, args, &judging, out) {
            Ok(judged) => judged,
            Err(error) => {
                failed = failed.max(Some(Exit::of(&error)));
                out.error(&error);
                continue;
            }
        };
        for judgement in judged {
            worst = worst.max(judgement.report.worst());
            if args.format == Format::Human {
                format::human::write(out.data(), &judgement)?;
            } else {
                judgements.push(judgement);
            }
        }
    }
    match args.format {
        Format::Human => {}
        Format::Json => format::json::write(out.data(), &judgements)?,
        Format::Sarif => format::sarif::write(out.data(), &judgements, env!("CARGO_PKG_VERSION"))?,
    }
    if let Some(exit) = failed {
        return Ok(exit);
    }
    let fails = worst.is_some_and(|worst| Severity::from(args.fail_on) <= worst);
    Ok(if fails { Exit::Findings } else { Exit::Clean })
}

fn judge(
    path: &Path,
    args: &Args,
    judging: &Judging,
    out: &mut Output,
) -> anyhow::Result<Vec<Judgement>> {
    if let Some(url) = site::address(path) {
        return Ok(site::live(&url, &args.site, judging.clone(), out)?.judgements);
    }
    if path.is_dir() {
        return Ok(site::folder(path, &args.site, judging, out)?.judgements);
    }
    let source = Source::new(path)?;
    let open = || source.open();
    let subject = Subject { name: source.name().to_owned(), open: &open };
    let judged =
        rutter_check::check(&subject, judging).with_context(|| source.name().to_owned())?;
    Ok(vec![judged])
}
