//! `rutter scp apply`: applies deltas to a snapshot and writes the resulting snapshot.
//!
//! Rejects deltas that leave a gap, and deltas that delete more than half of the pages unless
//! `--allow-mass-delete` is given.

use std::path::PathBuf;

use rutter_finding::Strictness;
use rutter_scp::{
    ApplyOptions, DeltaOutcome, MassDeletionPolicy, ReadOptions, ReaderThreads, StateTracking,
    apply, parent_folder,
};

use crate::commands::{SizeLimitArgs, counted, format_bytes, parse_target, with_inputs};
use crate::exit::ExitStatus;
use crate::input::sources;
use crate::output::Output;

/// Arguments of `rutter scp apply`.
#[derive(Debug, clap::Args)]
pub(crate) struct ApplyArgs {
    /// Snapshot to start from, `-` for standard input
    #[arg(value_name = "SNAPSHOT")]
    snapshot: PathBuf,
    /// Deltas to apply, in any order
    ///
    /// Deltas are applied in the order of their `generated` times.
    #[arg(value_name = "DELTA", required = true)]
    deltas: Vec<PathBuf>,
    /// Snapshot to write: .scp, .scp.gz or .scp.zst
    ///
    /// The file extension selects the compression.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Compression level [default: 6 for gzip, 9 for zstd]
    #[arg(long, value_name = "N")]
    level: Option<u8>,
    /// Allow deltas to delete more than half of the pages
    ///
    /// By default, a delta that deletes more than half of the pages is rejected.
    #[arg(long)]
    allow_mass_delete: bool,
    /// Omit the state of the section from the header
    ///
    /// Without the state, readers cannot verify later deltas.
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    limits: SizeLimitArgs,
}

pub(crate) fn run(args: &ApplyArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let target = parse_target(&args.output, args.level)?;
    let paths: Vec<PathBuf> = [&args.snapshot].into_iter().chain(&args.deltas).cloned().collect();
    let sources = sources(&paths)?;
    let mass_deletion = if args.allow_mass_delete {
        MassDeletionPolicy::Allowed
    } else {
        MassDeletionPolicy::Refused
    };
    let track = if args.plain { StateTracking::Nothing } else { StateTracking::State };
    let limits = args.limits.limits();
    let options = ReadOptions { limits, threads: ReaderThreads::Two, ..ReadOptions::default() };
    let applied = with_inputs(&sources, Strictness::Lenient, out, &mut |inputs, order| {
        let how = ApplyOptions { options, order, track, mass_deletion };
        apply(inputs, how, &target, parent_folder(&target.path))
    })?;
    for (number, fate) in &applied.deltas {
        let name = sources.get(*number).map_or("?", |source| source.name());
        let what = match fate {
            DeltaOutcome::Chained => "applied, state verified",
            DeltaOutcome::Plain => "applied",
            DeltaOutcome::Unlinked => {
                "applied without its removals: it starts from a different state than the snapshot"
            }
            DeltaOutcome::Covered => "skipped: the snapshot already contains its changes",
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
        format_bytes(written.coded),
        format_bytes(written.decoded),
    ));
    Ok(ExitStatus::Clean)
}
