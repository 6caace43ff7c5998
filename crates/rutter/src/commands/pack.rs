//! `rutter scp pack`: JSON Lines of pages in, a collection out.

use std::path::PathBuf;

use clap::ValueEnum;
use rutter_finding::Mode;
use rutter_page::Timestamp;
use rutter_scp::{Empty, Header, Kind, Packing, Track, Version, collection_id, folder_of, pack};

use crate::commands::{
    LimitArgs, bytes, counted, now, parse_name, parse_time, refuse_overwriting, target, with_inputs,
};
use crate::exit::Exit;
use crate::input::sources;
use crate::output::Output;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// JSON Lines of pages, plain, gzip or zstd; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
    /// The collection; .scp, .scp.gz or .scp.zst decides the coding
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Section the pages belong to
    #[arg(long, default_value = "all", value_parser = parse_name)]
    section: String,
    /// Name of this one collection [default: SECTION-TYPE-TIME]
    #[arg(long, value_parser = parse_name)]
    id: Option<String>,
    /// All pages of the section, or changes only
    #[arg(long = "type", value_enum, default_value_t = Type::Snapshot, requires_if("delta", "since"))]
    kind: Type,
    /// Changes from this time on are in the delta
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// When the collection was made [default: now, or `SOURCE_DATE_EPOCH`]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    generated: Option<Timestamp>,
    /// How hard to compress [default: 6 for gzip, 9 for zstd]
    #[arg(long, value_name = "N")]
    level: Option<u8>,
    /// Mend what a reader would mend, with a warning, instead of stopping
    #[arg(long)]
    lenient: bool,
    /// Leave out the `rutter` member that names the section's state
    #[arg(long)]
    plain: bool,
    /// Write a collection without pages, which deletes a section
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Type {
    Snapshot,
    Delta,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let kind = match (args.kind, args.since) {
        (Type::Snapshot, None) => Kind::Snapshot,
        (Type::Snapshot, Some(_)) => anyhow::bail!("--since goes with --type delta"),
        (Type::Delta, Some(since)) => Kind::Delta { since },
        (Type::Delta, None) => anyhow::bail!("--type delta needs --since"),
    };
    let generated = match args.generated {
        Some(time) => time,
        None => now()?,
    };
    let id = args.id.clone().unwrap_or_else(|| collection_id(&args.section, kind, generated));
    let header = Header {
        id,
        section: args.section.clone(),
        kind,
        generated,
        version: Version::CURRENT,
        checksum: None,
        chain: None,
        extra: Vec::new(),
    };
    let target = target(&args.output, args.level)?;
    let mode = if args.lenient { Mode::Lenient } else { Mode::Strict };
    let track = if args.plain { Track::Nothing } else { Track::State };
    let empty = if args.allow_empty { Empty::Allowed } else { Empty::Refused };
    anyhow::ensure!(
        args.since.is_none_or(|since| since <= generated),
        "--since is later than the collection is generated ({generated})"
    );
    let sources = sources(&args.files)?;
    refuse_overwriting(&args.files, &args.output)?;
    let written = with_inputs(&sources, mode, out, &mut |inputs, order| {
        let how = Packing { limits: args.limits.limits(), order, mode, track, empty };
        let folder = folder_of(&target.path);
        pack(inputs, header.clone(), how, std::slice::from_ref(&target), folder)
    })?;
    for written in written {
        out.say(format_args!(
            "{}: {}, {} from {}",
            written.path.display(),
            counted(written.pages, "page"),
            bytes(written.coded),
            bytes(written.decoded),
        ));
    }
    Ok(Exit::Clean)
}
