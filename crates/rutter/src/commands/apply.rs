//! `rutter scp apply`: the merge rule on files.

use std::path::PathBuf;

use rutter_finding::Mode;
use rutter_scp::{Applying, Fate, MassDeletion, Options, Threads, Track, apply, folder_of};

use crate::commands::{LimitArgs, bytes, counted, target, with_inputs};
use crate::exit::Exit;
use crate::input::sources;
use crate::output::Output;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The snapshot to start from; `-` is standard input
    #[arg(value_name = "SNAPSHOT")]
    snapshot: PathBuf,
    /// Deltas, in any order; they are applied by their `generated`
    #[arg(value_name = "DELTA", required = true)]
    deltas: Vec<PathBuf>,
    /// The snapshot that results; the name decides the coding
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// How hard to compress [default: 6 for gzip, 9 for zstd]
    #[arg(long, value_name = "N")]
    level: Option<u8>,
    /// Let more than half of a section go at once
    #[arg(long)]
    allow_mass_delete: bool,
    /// Leave out the `rutter` member that names the section's state
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let target = target(&args.output, args.level)?;
    let paths: Vec<PathBuf> = [&args.snapshot].into_iter().chain(&args.deltas).cloned().collect();
    let sources = sources(&paths)?;
    let mass_deletion =
        if args.allow_mass_delete { MassDeletion::Allowed } else { MassDeletion::Refused };
    let track = if args.plain { Track::Nothing } else { Track::State };
    let limits = args.limits.limits();
    let options = Options { limits, threads: Threads::Two, ..Options::default() };
    let applied = with_inputs(&sources, Mode::Lenient, out, &mut |inputs, order| {
        let how = Applying { options, order, track, mass_deletion };
        apply(inputs, how, &target, folder_of(&target.path))
    })?;
    for (number, fate) in &applied.deltas {
        let name = sources.get(*number).map_or("?", |source| source.name());
        let what = match fate {
            Fate::Chained => "applied, state proved",
            Fate::Plain => "applied",
            Fate::Unlinked => {
                "applied without its removals: it does not start from the state we are in"
            }
            Fate::Covered => "skipped, everything in it is there already",
        };
        out.say(format_args!("{name}: {what}"));
    }
    let written = &applied.written;
    out.say(format_args!(
        "{}: {} ({} inserted, {} replaced, {} removed), {} from {}",
        written.path.display(),
        counted(written.pages, "page"),
        applied.inserted,
        applied.replaced,
        applied.removed,
        bytes(written.coded),
        bytes(written.decoded),
    ));
    Ok(Exit::Clean)
}
