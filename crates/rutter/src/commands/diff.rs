//! `rutter scp diff`: what was added, changed and removed.

use std::io::{self, BufRead, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rutter_finding::{Finding, FindingSink, Mode, Refusal, Severity};
use rutter_page::Timestamp;
use rutter_scp::{
    Change, Difference, Input, Kind, Limits, MergeError, Options, Threads, Track, WriteError,
    Writer, collection_id, diff, folder_of,
};
use serde_json::json;

use crate::commands::{
    LimitArgs, bytes, counted, named, parse_name, refuse_overwriting, target, with_inputs,
};
use crate::exit::Exit;
use crate::input::sources;
use crate::output::Output;
use crate::rows::RowArgs;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The older snapshot; `-` is standard input
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The newer snapshot; `-` is standard input
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Also write the delta that leads from one to the other
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Name of the delta [default: SECTION-delta-TIME]
    #[arg(long, value_parser = parse_name)]
    id: Option<String>,
    /// How hard to compress [default: 6 for gzip, 9 for zstd]
    #[arg(long, value_name = "N", requires = "output")]
    level: Option<u8>,
    /// Leave out the `rutter` member that names states and removed pages
    #[arg(long)]
    plain: bool,
    #[command(flatten)]
    rows: RowArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let target = args.output.as_ref().map(|path| target(path, args.level)).transpose()?;
    let inputs = [args.old.clone(), args.new.clone()];
    let sources = sources(&inputs)?;
    if let Some(output) = &args.output {
        refuse_overwriting(&inputs, output)?;
    }
    let folder = target.as_ref().map_or_else(std::env::temp_dir, |t| folder_of(&t.path).to_owned());
    let limits = args.limits.limits();
    let track = if target.is_some() && !args.plain { Track::State } else { Track::Nothing };

    let mut invalid = None;
    let (difference, writer, mut listing) =
        with_inputs(&sources, Mode::Lenient, out, &mut |inputs, order| {
            let listing = tempfile::tempfile_in(&folder).map_err(at(&folder))?;
            let mut lines = io::BufWriter::new(&listing);
            let mut writer = match &target {
                Some(_) => Some(Writer::new(&folder, Track::Nothing, Limits::SPEC)?),
                None => None,
            };
            let options = Options { limits, threads: Threads::Two, ..Options::default() };
            let mut on_change = |change: Change<'_>| {
                list(&mut lines, change, args.rows.is_text()).map_err(at(&folder))?;
                match (change, &mut writer) {
                    (Change::Added(new) | Change::Changed(_, new), Some(writer)) => {
                        writer.line(&new.key, &new.line)
                    }
                    _ => Ok(()),
                }
            };
            let Ok([old, new]) = <[Input<'_>; 2]>::try_from(inputs) else {
                unreachable!("two sources give two inputs")
            };
            let mut judge = PageJudge { inner: new.sink, first_error: None };
            let new = Input { open: new.open, sink: &mut judge };
            let difference = diff(old, new, options, order, track, &folder, &mut on_change)?;
            invalid = judge.first_error;
            lines.flush().map_err(at(&folder))?;
            drop(lines);
            Ok((difference, writer, listing))
        })?;

    // Only now are both files known to be what they claim to be.
    listing.seek(SeekFrom::Start(0))?;
    let mut rows = args.rows.rows("changes");
    if rows.is_text() {
        io::copy(&mut listing, out.data())?;
    } else {
        for line in io::BufReader::new(&listing).lines() {
            rows.push(line?, out)?;
        }
    }
    rows.finish(out)?;
    summary(&difference, args.plain && target.is_some(), out);
    if let (Some(target), Some(writer)) = (target, writer) {
        if difference.is_empty() {
            out.say("nothing changed, no delta written");
            return Ok(Exit::Clean);
        }
        if let Some(refusal) = invalid {
            return Err(named(MergeError::Read(1, refusal.into()), &sources));
        }
        let header = &difference.new.header;
        let kind = Kind::Delta { since: difference.old.header.generated };
        let id = args.id.clone();
        let id = id.unwrap_or_else(|| collection_id(&header.section, kind, header.generated));
        let header = difference.delta_header(id).map_err(|error| named(error, &sources))?;
        let written = writer.close()?.finish(header, &[target])?;
        for written in written {
            let (path, coded) = (written.path.display(), bytes(written.coded));
            let pages = counted(written.pages, "page");
            out.say(format_args!("{path}: {pages}, {coded}"));
        }
    }
    Ok(Exit::Clean)
}

fn at(folder: &Path) -> impl Fn(io::Error) -> WriteError {
    move |error| WriteError::Io(folder.to_owned(), error)
}

/// Passes findings on and keeps the first one about a page that `check` calls
/// an error: a delta to publish must not carry such a page.
struct PageJudge<'s> {
    inner: &'s mut dyn FindingSink,
    first_error: Option<Refusal>,
}

impl FindingSink for PageJudge<'_> {
    fn report(&mut self, finding: Finding) {
        let is_error = finding.rule.severity(Mode::Strict) == Some(Severity::Error)
            && rutter_page::rules::ALL.iter().any(|rule| rule.code == finding.rule.code);
        if is_error && self.first_error.is_none() {
            let Finding { rule, place, detail } = finding.clone();
            self.first_error = Some(Refusal::new(rule, place, detail));
        }
        self.inner.report(finding);
    }
}

fn list(lines: &mut dyn Write, change: Change<'_>, is_text: bool) -> io::Result<()> {
    let (sign, word, entry) = match change {
        Change::Added(new) => ('+', "added", new),
        Change::Changed(_, new) => ('~', "changed", new),
        Change::Removed(old) => ('-', "removed", old),
    };
    if is_text {
        return writeln!(lines, "{sign} {}", entry.key);
    }
    let before: Option<Timestamp> = match change {
        Change::Changed(old, _) => Some(old.modified),
        _ => None,
    };
    let object = json!({
        "change": word, "url": entry.key, "modified": entry.modified, "modified_before": before,
    });
    writeln!(lines, "{object}")
}

fn summary(difference: &Difference, is_plain: bool, out: &mut Output) {
    out.say(format_args!(
        "{} added, {} changed, {} removed, {} unchanged",
        difference.added, difference.changed, difference.n_removed, difference.unchanged
    ));
    if 0 < difference.stuck {
        out.say(format_args!(
            "warning: {} without a later `modified`; readers of a delta ignore what changed",
            counted(difference.stuck, "changed page")
        ));
    }
    if is_plain && 0 < difference.n_removed {
        out.warn("warning: a plain delta cannot say which pages were removed");
    }
}
