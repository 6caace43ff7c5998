//! `rutter check`: judge collections, signposts, ARC and SPXI files against their specifications.

mod reopen;
mod sieve;
mod tell;

use std::path::{Path, PathBuf};

use anyhow::Context;
use rutter_check::overview::{Overview, Size};
use rutter_check::{Judgement, Judging, Subject};
use rutter_finding::Mode;

use crate::commands::check::reopen::Reopen;
pub(crate) use crate::commands::check::sieve::parse_selector;
use crate::commands::check::tell::{Found, TellArgs};
use crate::commands::{LimitArgs, now, one_stdin};
use crate::exit::Exit;
use crate::input::Source;
use crate::output::Output;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Collections, sitemaps, robots.txt, llms.txt, files of ARC and SPXI to judge; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Judge as a reader would, who copes with small faults
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    tell: TellArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    one_stdin(&args.files)?;
    let judging = Judging {
        mode: if args.lenient { Mode::Lenient } else { Mode::Strict },
        now: Some(now()?),
        limits: args.limits.limits(),
        ..Judging::default()
    };
    let asked = args.tell.settle()?;
    let mut judgements: Vec<Judgement> = Vec::new();
    let mut reopen = Reopen::default();
    let mut overview = Overview { now: judging.now, ..Overview::default() };
    let mut has_failed = false;
    for path in &args.files {
        // A file that cannot be had does not keep the others from their verdict.
        let (source, judgement) = match judge(path, &judging) {
            Ok(judged) => judged,
            Err(error) => {
                has_failed = true;
                out.error(&error);
                continue;
            }
        };
        if let Ok((_, Some(bytes))) = source.open() {
            overview.sizes.push(Size { name: source.name().to_owned(), bytes });
        }
        overview.see(&judgement);
        reopen.add_source(source);
        judgements.push(judgement);
    }
    if let [only] = judgements.as_slice() {
        overview.subject.clone_from(&only.name);
    }
    let found = Found { judgements, overview, mode: judging.mode, has_failed };
    tell::tell(&asked, found, &reopen, out)
}

fn judge(path: &Path, judging: &Judging) -> anyhow::Result<(Source, Judgement)> {
    let source = Source::new(path)?;
    let open = || source.open();
    let subject = Subject { name: source.name().to_owned(), open: &open };
    let judgement =
        rutter_check::check(&subject, judging).with_context(|| source.name().to_owned())?;
    Ok((source, judgement))
}
