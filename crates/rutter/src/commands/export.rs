//! `rutter export`: writes the pages of a replica as JSON Lines, CSV, Markdown or an SCP collection,
//! each with its usage terms.
//!
//! Pages are read in batches (`crate::replica`). A file or folder is written completely or not at
//! all. If a sync commits during the export, the export starts again, so that its output shows one
//! point in time. Rejects output folders that are not empty.

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
use rutter_scp::parent_folder;
use rutter_store::prelude::*;
use rutter_store::{
    ChangeCursor, DamagedPage, PageSelection, PageTotals, Publisher, PublisherId, QueryError,
    StorageError,
};
use rutter_sync::TrainingTerms;
use tempfile::NamedTempFile;

use crate::commands::{counted, now, parse_target, parse_time};
use crate::exit::ExitStatus;
use crate::output::{self, Output};
use crate::replica::{
    ArcEntryIter, DamageReport, PageIter, SiteArgs, StoreArgs, UsageTerms, view_of,
};
use collection::CollectionSink;
use columns::{BodyFormat, JsonLinesSink, PageColumns};
use csv::CsvSink;
use markdown::MarkdownSink;

/// Arguments of `rutter export`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Output format
    #[arg(long, value_enum)]
    format: ExportFormat,
    /// File to write, or folder for Markdown
    ///
    /// Default: standard output for jsonl and csv. The file extension of a collection selects its
    /// compression: .scp, .scp.gz or .scp.zst.
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Export only pages of this section
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// Include pages without content, with the reason
    ///
    /// The option applies to jsonl and csv. By default, pages without content are left out.
    #[arg(long)]
    withheld: bool,
    /// Format of the content of each page, in jsonl and csv
    ///
    /// Default: json in jsonl, text in csv.
    #[arg(long, value_enum, value_name = "FORM")]
    content: Option<ContentFormat>,
    /// Write stored lines byte for byte, including unsafe URLs
    ///
    /// The option applies to jsonl. By default, unsafe URLs are removed.
    #[arg(long, conflicts_with = "content")]
    raw: bool,
    /// Creation time of a collection [default: now or `SOURCE_DATE_EPOCH`]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    generated: Option<Timestamp>,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// One JSON object per page, with the page object as `page`
    Jsonl,
    /// A folder with one Markdown file per page and an index
    Markdown,
    /// An SCP snapshot
    Scp,
    /// A table with one row per page
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ContentFormat {
    /// The page object
    Json,
    /// Plain text
    Text,
    /// Markdown with front matter
    Markdown,
}

/// A destination of exported pages, which arrive in the order of the replica.
trait PageSink {
    fn page(&mut self, columns: &PageColumns<'_>) -> anyhow::Result<()>;
}

/// Maximum number of attempts to export while syncs change the replica.
const TRIES: u32 = 3;

pub(crate) fn run(args: &ExportArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    execute(args, out).map_err(|error| args.store.named(error))
}

fn execute(args: &ExportArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let is_table = matches!(args.format, ExportFormat::Jsonl | ExportFormat::Csv);
    anyhow::ensure!(is_table || !args.withheld, "--withheld requires --format jsonl or csv");
    anyhow::ensure!(
        args.generated.is_none() || args.format == ExportFormat::Scp,
        "--generated requires --format scp"
    );
    anyhow::ensure!(
        !args.raw || args.format == ExportFormat::Jsonl,
        "--raw requires --format jsonl"
    );
    anyhow::ensure!(args.content.is_none() || is_table, "--content requires --format jsonl or csv");
    anyhow::ensure!(
        args.content != Some(ContentFormat::Json) || args.format == ExportFormat::Jsonl,
        "--content json requires --format jsonl"
    );
    let store = args.store.open()?;
    let publishers = args.site.publishers(&store)?;
    let job = Export { args, store: &store, publishers: &publishers };
    let mut damages = DamageReport::default();
    let output = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let Some(path) = output else {
        anyhow::ensure!(is_table, "this format requires --output");
        let (_, cursor, is_still) = job.print(&mut damages, out)?;
        if !is_still {
            out.warn(
                "warning: the replica changed during the export; the output mixes two versions",
            );
        }
        say_cursor(cursor, out);
        return Ok(damages.exit(out));
    };
    job.refuse_path(path)?;
    for _ in 0..TRIES {
        damages = DamageReport::default();
        let (n_pages, cursor, is_still) = job.write(path, &mut damages, out)?;
        if is_still {
            out.say(format_args!("{}: {}", path.display(), counted(n_pages, "page")));
            say_cursor(cursor, out);
            return Ok(damages.exit(out));
        }
    }
    anyhow::bail!(
        "cannot export to {}: the replica changed during each of {TRIES} attempts",
        path.display()
    )
}

fn say_cursor(cursor: ChangeCursor, out: &mut Output) {
    out.say(format_args!("for later changes, run `rutter changes --since {cursor}`"));
}

/// A run of `rutter export`: its arguments, the replica and the selected sites.
struct Export<'j> {
    args: &'j ExportArgs,
    store: &'j dyn Store,
    publishers: &'j [Publisher],
}

/// Number of written pages, cursor at the start of the export, and whether the replica did not
/// change during the export.
type ExportOutcome = (u64, ChangeCursor, bool);

impl Export<'_> {
    fn refuse_path(&self, path: &Path) -> anyhow::Result<()> {
        let name = path.display();
        let folder = parent_folder(path);
        anyhow::ensure!(folder.is_dir(), "folder {} does not exist", folder.display());
        let real = |path: &Path| path.canonicalize().ok();
        let is_replica = real(path).is_some() && real(path) == real(self.args.store.path());
        anyhow::ensure!(!is_replica, "{name} is the replica; choose another output");
        if self.args.format == ExportFormat::Markdown {
            return markdown::refuse_full(path);
        }
        anyhow::ensure!(!path.is_dir(), "{name} is a folder, expected a file");
        Ok(())
    }

    fn print(&self, damages: &mut DamageReport, out: &mut Output) -> anyhow::Result<ExportOutcome> {
        out.flush()?;
        let to = BufWriter::with_capacity(64 << 10, output::stdout());
        let mut sink = self.table(to)?;
        let done = self.walk(&mut *sink, damages, out)?;
        sink.finish()?;
        Ok(done)
    }

    /// Writes a temporary file or folder, and renames it if the replica did not change during the
    /// export.
    fn write(
        &self,
        path: &Path,
        damages: &mut DamageReport,
        out: &mut Output,
    ) -> anyhow::Result<ExportOutcome> {
        let name = || path.display().to_string();
        match self.args.format {
            ExportFormat::Jsonl | ExportFormat::Csv => {
                let file = beside(path).with_context(name)?;
                let mut sink = self.table(BufWriter::new(file.as_file().try_clone()?))?;
                let done = self.walk(&mut *sink, damages, out).with_context(name)?;
                sink.finish().with_context(name)?;
                if done.2 {
                    put_in_place(file, path).with_context(name)?;
                }
                Ok(done)
            }
            ExportFormat::Markdown => {
                let mut sink = MarkdownSink::new(path).with_context(name)?;
                let done = self.walk(&mut sink, damages, out)?;
                if done.2 {
                    sink.finish(path).with_context(name)?;
                }
                Ok(done)
            }
            ExportFormat::Scp => {
                anyhow::ensure!(
                    self.publishers.len() <= 1,
                    "a collection has the pages of one site; choose it with --site"
                );
                let target = parse_target(path, None)?;
                let mut sink = CollectionSink::new(parent_folder(path))?;
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

    fn table<'w>(&self, to: impl Write + 'w) -> anyhow::Result<Box<dyn StreamSink + 'w>> {
        Ok(match self.args.format {
            ExportFormat::Csv => Box::new(CsvSink::new(to, self.body())?),
            _ => Box::new(JsonLinesSink::new(to, self.body())),
        })
    }

    fn body(&self) -> BodyFormat {
        match self.args.content {
            _ if self.args.raw => BodyFormat::Raw,
            Some(ContentFormat::Text) => BodyFormat::Text,
            Some(ContentFormat::Markdown) => BodyFormat::Markdown,
            Some(ContentFormat::Json) | None => BodyFormat::Page,
        }
    }

    /// Writes all pages to a sink, and reports damaged pages.
    fn walk<S: PageSink + ?Sized>(
        &self,
        sink: &mut S,
        damages: &mut DamageReport,
        out: &mut Output,
    ) -> anyhow::Result<ExportOutcome> {
        let begun = self.store.cursor()?;
        let section = self.args.section.as_deref();
        let publisher = self.args.site.publisher_of(self.store, section)?;
        let publisher = publisher.map(|publisher| publisher.id);
        let selection = PageSelection { publisher, section, with_withheld: self.args.withheld };
        let mut pages = PageIter::new(self.store, selection);
        let mut arc = ArcEntryIter::new(self.store);
        let mut training: BTreeMap<PublisherId, TrainingTerms> = BTreeMap::new();
        for publisher in self.publishers {
            training.insert(publisher.id, TrainingTerms::of(self.store, publisher)?);
        }
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
                Err(QueryError::Storage(StorageError::Damaged(what))) => {
                    n_damaged += 1;
                    let (publisher, url) = (row.publisher, row.url);
                    damages.note(&DamagedPage { publisher, url, what }, out);
                    continue;
                }
                trains => trains?.flatten(),
            };
            let terms = UsageTerms::of(&row, arc.of(&row)?.as_ref(), trains);
            let site = site.map_or("", |publisher| publisher.origin.as_str());
            let line = line.as_deref();
            let view = line.map(|line| view_of(&row.url, line)).transpose()?;
            let view = view.as_ref();
            sink.page(&PageColumns { site, row: &row, terms: &terms, line, view })?;
            n_pages += 1;
        }
        // Pages are counted before the history is read, so that a sync that commits in between is
        // noticed.
        let after = self.page_totals()?;
        let mut is_still = before == after;
        let mut cursor = begun;
        loop {
            let changes = self.store.changes_since(Some(cursor), 1_000)?;
            let is_of_us = |id| publisher.is_none_or(|publisher| publisher == id);
            is_still &= !changes.events.iter().any(|event| is_of_us(event.publisher));
            if let Some(range) = changes.damaged.first() {
                let text = format!("event {} of the history is damaged", range.start());
                return Err(StorageError::Damaged(text).into());
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

    /// Returns the page totals of each publisher. The history has no event for a change of a page
    /// without content, but the totals differ.
    fn page_totals(&self) -> anyhow::Result<Vec<Option<PageTotals>>> {
        let totals = self.publishers.iter().map(|it| self.store.page_totals(it.id));
        Ok(totals.collect::<Result<_, _>>()?)
    }

    /// Checks that all pages were read, because a damaged replica may hide pages.
    fn count(&self, totals: Vec<Option<PageTotals>>, n_read: u64) -> anyhow::Result<()> {
        let wanted = |it: PageTotals| {
            let withheld = if self.args.withheld { 0 } else { it.withheld };
            it.pages.saturating_sub(withheld)
        };
        let n_pages: u64 = totals.into_iter().flatten().map(wanted).sum();
        if n_read < n_pages {
            let lost = format!("{} of {n_pages} are missing", counted(n_pages - n_read, "page"));
            return Err(StorageError::Damaged(lost).into());
        }
        Ok(())
    }
}

/// A page sink that writes to a stream.
trait StreamSink: PageSink {
    fn finish(&mut self) -> io::Result<()>;
}

/// Creates a temporary file in the folder of the output.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".rutter-");
    // By default, only the owner can read a temporary file; the output has the usual permissions.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(parent_folder(path))
}

fn put_in_place(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    #[cfg(unix)]
    File::open(parent_folder(path))?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use rutter_page::{PageLimits, PageReader};
    use rutter_store::{
        CommitOptions, Lease, PageSource, Quota, SqliteStore, StagedPage, StagingMode,
        StagingOptions, StoreOptions, WithheldReason,
    };

    use super::*;

    #[derive(Debug, Parser)]
    struct CommandLine {
        #[command(flatten)]
        args: ExportArgs,
    }

    fn add(
        store: &dyn Store,
        lease: &Lease,
        day: u32,
        path: &str,
        withheld: Option<WithheldReason>,
    ) {
        let now = Timestamp::parse(&format!("2027-01-{day:02}T00:00:00Z")).unwrap();
        let (section, mode, source) = ("all", StagingMode::Visit, PageSource::Html);
        let begin =
            StagingOptions { section, mode, generated: now, source, quota: Quota::DEFAULT, now };
        let mut staging = store.stage(lease, begin).unwrap();
        let line = format!(
            "{{\"url\":\"https://harbour.example{path}\",\"title\":\"T\",\"description\":\"D\",\
             \"modified\":\"2027-01-01T00:00:00Z\",\"language\":\"en\",\
             \"content\":[{{\"type\":\"text\",\"text\":\"Text.\"}}]}}"
        );
        let page = PageReader::new(PageLimits::SPEC).read(&line, 1, &mut ()).unwrap().unwrap();
        staging.add(&StagedPage { withheld, ..StagedPage::of_page(&page, &line) }).unwrap();
        staging.commit(&CommitOptions::plain()).unwrap();
    }

    /// A page sink: while it receives the last page, a sync commits.
    struct InterruptedSink<'i> {
        left: u32,
        commit: &'i dyn Fn(),
    }

    impl PageSink for InterruptedSink<'_> {
        fn page(&mut self, _columns: &PageColumns<'_>) -> anyhow::Result<()> {
            self.left -= 1;
            if self.left == 0 {
                (self.commit)();
            }
            Ok(())
        }
    }

    #[test]
    fn pages_added_by_concurrent_sync_are_not_damage() {
        // A page without content has no event in the history.
        for (withheld, arguments) in [
            (Some(WithheldReason::Consent), &["export", "--format", "jsonl", "--withheld"][..]),
            (None, &["export", "--format", "jsonl"][..]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("replica.db");
            let store = SqliteStore::open(&path, StoreOptions::default()).unwrap();
            let publisher = store.register("https://harbour.example", &[]).unwrap();
            let time = |text| Timestamp::parse(text).unwrap();
            let until = time("2027-02-01T00:00:00Z");
            let lease = store.lease(publisher, time("2027-01-01T00:00:00Z"), until).unwrap();
            add(&store, &lease, 1, "/m", None);
            add(&store, &lease, 1, "/n", None);
            let args = CommandLine::parse_from(arguments).args;
            let publishers = store.publishers().unwrap();
            let job = Export { args: &args, store: &store, publishers: &publishers };
            let commit = || add(&store, &lease, 2, "/a", withheld);
            let mut sink = InterruptedSink { left: 2, commit: &commit };
            let (mut damages, mut out) = (
                DamageReport::default(),
                Output::new(output::Verbosity::Quiet, output::Detail::Shortened),
            );
            let (n_pages, _, is_still) = job.walk(&mut sink, &mut damages, &mut out).unwrap();
            assert_eq!((n_pages, is_still), (2, false), "{arguments:?}");
        }
    }
}
