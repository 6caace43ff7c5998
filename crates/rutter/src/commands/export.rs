//! `rutter export`: the pages of a replica as JSON Lines, CSV, Markdown or an
//! SCP collection, each with what the site says AI may do with it.
//!
//! Pages come in pieces (`crate::replica`). A file or folder appears complete
//! or not at all; where a sync commits in the meantime, it is begun anew, so
//! that it shows one moment.
//!
//! Refuses: to write over a folder that has something in it.

mod collection;
mod columns;
mod csv;
mod markdown;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use rutter_page::Timestamp;
use rutter_scp::folder_of;
use rutter_store::{
    Cursor, DamagedPage, PageTotals, Publisher, PublisherId, QueryError, Selection, Storage, Store,
};
use rutter_sync::TrainingTerms;
use tempfile::NamedTempFile;

use crate::commands::{counted, now, parse_time, target};
use crate::exit::Exit;
use crate::output::{self, Output};
use crate::replica::{ArcLane, Damages, Pages, SiteArgs, StoreArgs, Terms, view_of};
use collection::Collection;
use columns::{Body, Columns, JsonLines};
use csv::Csv;
use markdown::Markdown;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to write
    #[arg(long, value_enum)]
    format: Format,
    /// File to write, or folder for Markdown [default: standard output for
    /// jsonl and csv]; the name of a collection decides its coding
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Only pages of this section of the site
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// Pages without words too, with the reason; not for Markdown and SCP
    #[arg(long)]
    withheld: bool,
    /// Content of each page in jsonl and csv [default: the page object, in csv
    /// its text]
    #[arg(long, value_enum, value_name = "FORM")]
    content: Option<Content>,
    /// Write stored lines byte for byte, unsafe URLs included; for jsonl
    #[arg(long, conflicts_with = "content")]
    raw: bool,
    /// When a collection was made [default: now, or `SOURCE_DATE_EPOCH`]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    generated: Option<Timestamp>,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One JSON object per page, with the page object as `page`
    Jsonl,
    /// A folder with a Markdown file per page, and an index
    Markdown,
    /// A collection, as a site would publish it
    Scp,
    /// A table with the text of each page
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Content {
    /// The page object
    Json,
    /// Plain text
    Text,
    /// Markdown with front matter
    Markdown,
}

/// Takes pages, in their order.
trait Sink {
    fn page(&mut self, columns: &Columns<'_>) -> anyhow::Result<()>;
}

/// How often an export is begun anew.
const TRIES: u32 = 3;

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    answer(args, out).map_err(|error| args.store.named(error))
}

fn answer(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let is_table = matches!(args.format, Format::Jsonl | Format::Csv);
    anyhow::ensure!(is_table || !args.withheld, "--withheld: goes with jsonl and csv");
    anyhow::ensure!(
        args.generated.is_none() || args.format == Format::Scp,
        "--generated: goes with scp"
    );
    anyhow::ensure!(!args.raw || args.format == Format::Jsonl, "--raw is only for jsonl");
    anyhow::ensure!(args.content.is_none() || is_table, "--content is only for jsonl and csv");
    anyhow::ensure!(
        args.content != Some(Content::Json) || args.format == Format::Jsonl,
        "--content json is only for jsonl"
    );
    let store = args.store.open()?;
    let publishers = args.site.publishers(&store)?;
    let job = Job { args, store: &store, publishers: &publishers };
    let mut damages = Damages::default();
    let output = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let Some(path) = output else {
        anyhow::ensure!(is_table, "--output: wanted for this format");
        let (_, cursor, is_still) = job.print(&mut damages, out)?;
        if !is_still {
            out.warn("warning: pages changed meanwhile, so this is not one moment of the replica");
        }
        say_cursor(cursor, out);
        return Ok(damages.exit(out));
    };
    job.refuse_path(path)?;
    for _ in 0..TRIES {
        damages = Damages::default();
        let (n_pages, cursor, is_still) = job.write(path, &mut damages, out)?;
        if is_still {
            out.say(format_args!("{}: {}", path.display(), counted(n_pages, "page")));
            say_cursor(cursor, out);
            return Ok(damages.exit(out));
        }
    }
    anyhow::bail!("{}: the replica changes while it is read; try again", path.display())
}

fn say_cursor(cursor: Cursor, out: &mut Output) {
    out.say(format_args!("changes from here on: rutter changes --since {cursor}"));
}

/// What is exported.
struct Job<'j> {
    args: &'j Args,
    store: &'j dyn Store,
    publishers: &'j [Publisher],
}

/// Pages written, where in the history that was, and whether nothing happened
/// to them meanwhile.
type Done = (u64, Cursor, bool);

impl Job<'_> {
    fn refuse_path(&self, path: &Path) -> anyhow::Result<()> {
        let name = path.display();
        let folder = folder_of(path);
        anyhow::ensure!(folder.is_dir(), "{}: no such folder", folder.display());
        let real = |path: &Path| path.canonicalize().ok();
        let is_replica = real(path).is_some() && real(path) == real(self.args.store.path());
        anyhow::ensure!(!is_replica, "{name}: is the replica; name another output");
        if self.args.format == Format::Markdown {
            return markdown::refuse_full(path);
        }
        anyhow::ensure!(!path.is_dir(), "{name}: is a folder, wanted a file");
        Ok(())
    }

    fn print(&self, damages: &mut Damages, out: &mut Output) -> anyhow::Result<Done> {
        out.flush()?;
        let to = BufWriter::with_capacity(64 << 10, output::stdout());
        let mut sink = self.table(to)?;
        let done = self.walk(&mut *sink, damages, out)?;
        sink.finish()?;
        Ok(done)
    }

    /// Writes beside the place, and moves it in where nothing happened.
    fn write(&self, path: &Path, damages: &mut Damages, out: &mut Output) -> anyhow::Result<Done> {
        let name = || path.display().to_string();
        match self.args.format {
            Format::Jsonl | Format::Csv => {
                let file = beside(path).with_context(name)?;
                let mut sink = self.table(BufWriter::new(file.as_file().try_clone()?))?;
                let done = self.walk(&mut *sink, damages, out).with_context(name)?;
                sink.finish().with_context(name)?;
                if done.2 {
                    put_in_place(file, path).with_context(name)?;
                }
                Ok(done)
            }
            Format::Markdown => {
                let mut sink = Markdown::new(path).with_context(name)?;
                let done = self.walk(&mut sink, damages, out)?;
                if done.2 {
                    sink.finish(path).with_context(name)?;
                }
                Ok(done)
            }
            Format::Scp => {
                anyhow::ensure!(
                    self.publishers.len() <= 1,
                    "a collection is of one site; name it with --site"
                );
                let target = target(path, None)?;
                let mut sink = Collection::new(folder_of(path))?;
                let done = self.walk(&mut sink, damages, out)?;
                if done.2 {
                    let section = self.args.section.as_deref().unwrap_or("all");
                    let generated = match self.args.generated {
                        Some(time) => time,
                        None => now()?,
                    };
                    sink.finish(section, generated, target, out)?;
                }
                Ok(done)
            }
        }
    }

    fn table<'w>(&self, to: impl Write + 'w) -> anyhow::Result<Box<dyn Table + 'w>> {
        Ok(match self.args.format {
            Format::Csv => Box::new(Csv::new(to, self.body())?),
            _ => Box::new(JsonLines::new(to, self.body())),
        })
    }

    fn body(&self) -> Body {
        match self.args.content {
            _ if self.args.raw => Body::Raw,
            Some(Content::Text) => Body::Text,
            Some(Content::Markdown) => Body::Markdown,
            Some(Content::Json) | None => Body::Page,
        }
    }

    /// Hands every page to a sink; damaged ones are reported.
    fn walk<S: Sink + ?Sized>(
        &self,
        sink: &mut S,
        damages: &mut Damages,
        out: &mut Output,
    ) -> anyhow::Result<Done> {
        let begun = self.store.cursor()?;
        let section = self.args.section.as_deref();
        let publisher = self.args.site.publisher_of(self.store, section)?;
        let publisher = publisher.map(|publisher| publisher.id);
        let selection = Selection { publisher, section, with_withheld: self.args.withheld };
        let mut pages = Pages::new(self.store, selection);
        let mut arc = ArcLane::new(self.store);
        let training: BTreeMap<PublisherId, TrainingTerms> =
            self.publishers.iter().map(|it| (it.id, TrainingTerms::of(it))).collect();
        let before = self.page_totals()?;
        let mut n_pages = 0;
        let mut n_damaged = 0;
        while let Some(page) = pages.next_page()? {
            let (row, line) = match page {
                Ok(page) => page,
                Err(damaged) => {
                    n_damaged += 1;
                    damages.note(&damaged, out);
                    continue;
                }
            };
            let site = self.publishers.iter().find(|publisher| publisher.id == row.publisher);
            let trains = training.get(&row.publisher);
            let trains = match trains.map(|it| it.allows(self.store, &row.url)).transpose() {
                Err(QueryError::Storage(Storage::Damaged(what))) => {
                    n_damaged += 1;
                    let (publisher, url) = (row.publisher, row.url);
                    damages.note(&DamagedPage { publisher, url, what }, out);
                    continue;
                }
                trains => trains?.flatten(),
            };
            let terms = Terms::of(&row, arc.of(&row)?.as_ref(), trains);
            let site = site.map_or("", |publisher| publisher.origin.as_str());
            let line = line.as_deref();
            let view = line.map(|line| view_of(&row.url, line)).transpose()?;
            let view = view.as_ref();
            sink.page(&Columns { site, row: &row, terms: &terms, line, view })?;
            n_pages += 1;
        }
        // Counted before the history is read: a sync that commits later is then
        // seen by one of the two.
        let after = self.page_totals()?;
        let mut is_still = before == after;
        let mut cursor = begun;
        loop {
            let changes = self.store.changes_since(Some(cursor), 1_000)?;
            let is_of_us = |id| publisher.is_none_or(|publisher| publisher == id);
            is_still &= !changes.events.iter().any(|event| is_of_us(event.publisher));
            if let Some(range) = changes.damaged.first() {
                let text =
                    format!("event {} of the history is not as it was written", range.start());
                return Err(Storage::Damaged(text).into());
            }
            cursor = changes.next;
            if changes.has_more && is_still {
                continue;
            }
            if is_still && section.is_none() {
                self.count(after, n_pages + n_damaged)?;
            }
            return Ok((n_pages, begun, is_still));
        }
    }

    /// Numbers of pages of each publisher; pages without content come and go
    /// without an event.
    fn page_totals(&self) -> anyhow::Result<Vec<Option<PageTotals>>> {
        let totals = self.publishers.iter().map(|it| self.store.page_totals(it.id));
        Ok(totals.collect::<Result<_, _>>()?)
    }

    /// Compares the number of pages that were read with the number there are:
    /// damage may hide pages.
    fn count(&self, totals: Vec<Option<PageTotals>>, n_read: u64) -> anyhow::Result<()> {
        let wanted = |it: PageTotals| {
            let withheld = if self.args.withheld { 0 } else { it.withheld };
            it.pages.saturating_sub(withheld)
        };
        let n_pages: u64 = totals.into_iter().flatten().map(wanted).sum();
        if n_read < n_pages {
            let lost =
                format!("{} of {n_pages} cannot be found", counted(n_pages - n_read, "page"));
            return Err(Storage::Damaged(lost).into());
        }
        Ok(())
    }
}

/// A sink that is a stream.
trait Table: Sink {
    fn finish(&mut self) -> io::Result<()>;
}

/// A file without a name of its own, in the folder it is meant for.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rutter-");
    // A temporary file is private by default; this one is as any other.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder_of(path))
}

fn put_in_place(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    #[cfg(unix)]
    File::open(folder_of(path))?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use rutter_page::{Judge, PageLimits};
    use rutter_store::{
        Begin, Finish, Item, Lease, Mode, Options, Quota, Source, SqliteStore, Withheld,
    };

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn add(store: &dyn Store, lease: &Lease, day: u32, path: &str, withheld: Option<Withheld>) {
        let now = Timestamp::parse(&format!("2027-01-{day:02}T00:00:00Z")).unwrap();
        let (section, mode, source) = ("all", Mode::Visit, Source::Html);
        let begin = Begin { section, mode, generated: now, source, quota: Quota::USUAL, now };
        let mut staging = store.stage(lease, begin).unwrap();
        let line = format!(
            "{{\"url\":\"https://harbour.example{path}\",\"title\":\"T\",\"description\":\"D\",\
             \"modified\":\"2027-01-01T00:00:00Z\",\"language\":\"en\",\
             \"content\":[{{\"type\":\"text\",\"text\":\"Text.\"}}]}}"
        );
        let page = Judge::new(PageLimits::SPEC).read(&line, 1, &mut ()).unwrap().unwrap();
        staging.add(&Item { withheld, ..Item::of_page(&page, &line) }).unwrap();
        staging.commit(&Finish::plain()).unwrap();
    }

    /// A sink beside which a sync commits when it gets its last page.
    struct Interrupted<'i> {
        left: u32,
        commit: &'i dyn Fn(),
    }

    impl Sink for Interrupted<'_> {
        fn page(&mut self, _columns: &Columns<'_>) -> anyhow::Result<()> {
            self.left -= 1;
            if self.left == 0 {
                (self.commit)();
            }
            Ok(())
        }
    }

    #[test]
    fn pages_that_a_sync_adds_meanwhile_are_no_damage() {
        // A page without content is in no event of the history.
        for (withheld, arguments) in [
            (Some(Withheld::Consent), &["export", "--format", "jsonl", "--withheld"][..]),
            (None, &["export", "--format", "jsonl"][..]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("replica.db");
            let store = SqliteStore::open(&path, Options::default()).unwrap();
            let publisher = store.register("https://harbour.example", &[], "").unwrap();
            let time = |text| Timestamp::parse(text).unwrap();
            let until = time("2027-02-01T00:00:00Z");
            let lease = store.lease(publisher, time("2027-01-01T00:00:00Z"), until).unwrap();
            add(&store, &lease, 1, "/m", None);
            add(&store, &lease, 1, "/n", None);
            let args = Line::parse_from(arguments).args;
            let publishers = store.publishers().unwrap();
            let job = Job { args: &args, store: &store, publishers: &publishers };
            let commit = || add(&store, &lease, 2, "/a", withheld);
            let mut sink = Interrupted { left: 2, commit: &commit };
            let (mut damages, mut out) = (Damages::default(), Output::new(output::Chatter::Quiet));
            let (n_pages, _, is_still) = job.walk(&mut sink, &mut damages, &mut out).unwrap();
            assert_eq!((n_pages, is_still), (2, false), "{arguments:?}");
        }
    }
}
