//! `rutter scp pack`: creates a collection from JSON Lines of pages.

use std::path::PathBuf;

use clap::ValueEnum;
use rutter_finding::Strictness;
use rutter_page::Timestamp;
use rutter_scp::{
    CollectionHeader, CollectionKind, EmptyInputPolicy, FormatVersion, PackOptions, StateTracking,
    collection_id, pack, parent_folder,
};

use crate::commands::{
    SizeLimitArgs, counted, format_bytes, now, parse_name, parse_target, parse_time,
    refuse_overwriting, with_inputs,
};
use crate::exit::ExitStatus;
use crate::input::sources;
use crate::output::Output;

/// Arguments of `rutter scp pack`.
#[derive(Debug, clap::Args)]
pub(crate) struct PackArgs {
    /// JSON Lines of pages, - for standard input
    ///
    /// One page object per line, optionally compressed with gzip or zstd.
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
    /// Collection to write: .scp, .scp.gz or .scp.zst
    ///
    /// The file extension selects the compression.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Section that the pages belong to
    #[arg(long, default_value = "all", value_parser = parse_name)]
    section: String,
    /// Id of the collection [default: SECTION-TYPE-TIME]
    #[arg(long, value_parser = parse_name)]
    id: Option<String>,
    /// Type of the collection
    ///
    /// A delta requires --since.
    #[arg(long = "type", value_enum, default_value_t = CollectionType::Snapshot, requires_if("delta", "since"))]
    kind: CollectionType,
    /// Start time of the changes in a delta
    ///
    /// Example: 2026-05-01T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Creation time of the collection [default: now or `SOURCE_DATE_EPOCH`]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    generated: Option<Timestamp>,
    /// Compression level [default: 6 for gzip, 9 for zstd]
    #[arg(long, value_name = "N")]
    level: Option<u8>,
    /// Correct small errors in pages, with a warning
    ///
    /// By default, an error in a page stops the command.
    #[arg(long)]
    lenient: bool,
    /// Omit the state of the section from the header
    ///
    /// Without the state, readers cannot verify later deltas.
    #[arg(long)]
    plain: bool,
    /// Write a collection even if there are no pages
    ///
    /// An empty snapshot deletes all pages of the section at its readers. By default, an empty
    /// input is an error.
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    limits: SizeLimitArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CollectionType {
    /// All pages of the section
    Snapshot,
    /// Pages that changed since a time
    Delta,
}

pub(crate) fn run(args: &PackArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let kind = match (args.kind, args.since) {
        (CollectionType::Snapshot, None) => CollectionKind::Snapshot,
        (CollectionType::Snapshot, Some(_)) => anyhow::bail!("--since requires --type delta"),
        (CollectionType::Delta, Some(since)) => CollectionKind::Delta { since },
        (CollectionType::Delta, None) => anyhow::bail!("--type delta requires --since"),
    };
    let generated = match args.generated {
        Some(time) => time,
        None => now()?,
    };
    let id = args.id.clone().unwrap_or_else(|| collection_id(&args.section, kind, generated));
    let header = CollectionHeader {
        id,
        section: args.section.clone(),
        kind,
        generated,
        version: FormatVersion::CURRENT,
        checksum: None,
        chain: None,
        extra: Vec::new(),
    };
    let target = parse_target(&args.output, args.level)?;
    let mode = if args.lenient { Strictness::Lenient } else { Strictness::Strict };
    let track = if args.plain { StateTracking::Nothing } else { StateTracking::State };
    let empty =
        if args.allow_empty { EmptyInputPolicy::Allowed } else { EmptyInputPolicy::Refused };
    anyhow::ensure!(
        args.since.is_none_or(|since| since <= generated),
        "--since is later than the creation time of the collection, {generated}"
    );
    let sources = sources(&args.files)?;
    refuse_overwriting(&args.files, &args.output)?;
    let written = with_inputs(&sources, mode, out, &mut |inputs, order| {
        let how = PackOptions { limits: args.limits.limits(), order, mode, track, empty };
        let folder = parent_folder(&target.path);
        pack(inputs, header.clone(), how, std::slice::from_ref(&target), folder)
    })?;
    for written in written {
        out.say(format_args!(
            "{}: {}, {} from {}",
            written.path.display(),
            counted(written.pages, "page"),
            format_bytes(written.coded),
            format_bytes(written.decoded),
        ));
    }
    Ok(ExitStatus::Clean)
}
