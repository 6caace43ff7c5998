//! Opens replicas for commands, selects sites, and iterates over pages.
//!
//! Pages are read in batches by key, each in a short transaction, so that a long export does not
//! block checkpoints of the database. Commands that only read never create a replica. Rejects sites
//! that the replica does not have.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use rutter_arc::{ArcEntry, Consent};
use rutter_fetch::Url;
use rutter_finding::{quoted, shown, visible};
use rutter_page::ReaderView;
use rutter_store::prelude::*;
use rutter_store::{
    AccessMode, ArcRow, DamagedPage, MemoryStore, OpenError, PagePosition, PageRow, PageSelection,
    Publisher, PublisherId, SqliteStore, StoreOptions, WithheldReason,
};

use crate::exit::{ExitStatus, is_damage};
use crate::output::Output;

/// Arguments that select a replica.
#[derive(Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// File of the replica
    #[arg(long, value_name = "FILE", default_value = ".rutter/replica.db")]
    store: PathBuf,
}

impl StoreArgs {
    pub(crate) fn path(&self) -> &Path {
        &self.store
    }

    /// Opens an existing replica for reading. A replica of an older format is converted first.
    pub(crate) fn open(&self) -> anyhow::Result<SqliteStore> {
        let opened = self.open_for(AccessMode::Read);
        let is_older =
            |error: &anyhow::Error| matches!(error.downcast_ref(), Some(OpenError::Older { .. }));
        if !opened.as_ref().is_err_and(is_older) {
            return opened;
        }
        drop(self.open_for(AccessMode::Write)?);
        self.open_for(AccessMode::Read)
    }

    /// Opens an existing replica for writing.
    pub(crate) fn open_to_write(&self) -> anyhow::Result<SqliteStore> {
        // Opening for reading fails if the file does not exist.
        drop(self.open()?);
        self.open_for(AccessMode::Write)
    }

    /// Opens a replica for writing and creates it if it does not exist. Also returns which files
    /// were created.
    pub(crate) fn make(&self) -> anyhow::Result<(Arc<dyn Store>, CreatedFiles)> {
        let folder = rutter_scp::parent_folder(&self.store);
        let made = CreatedFiles { file: !self.store.exists(), folder: !folder.exists() };
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        Ok((Arc::new(self.open_for(AccessMode::Write)?), made))
    }

    /// Deletes a replica that was created and is still empty, so that later commands report that
    /// there is no replica.
    pub(crate) fn unmake(&self, made: CreatedFiles) {
        // The replica file is kept if another process has it open or if it cannot be deleted.
        if !made.file || !rutter_store::remove_unused(&self.store).unwrap_or(false) {
            return;
        }
        // Only empty folders are deleted.
        let spools = self.spools();
        for folder in std::fs::read_dir(&spools).into_iter().flatten().flatten() {
            drop(std::fs::remove_dir(folder.path()));
        }
        drop(std::fs::remove_dir(spools));
        if made.folder {
            drop(std::fs::remove_dir(rutter_scp::parent_folder(&self.store)));
        }
    }

    /// Adds the name of the replica to an error that reports damage.
    pub(crate) fn named(&self, error: anyhow::Error) -> anyhow::Error {
        let name = self.store.display().to_string();
        let is_named = error.chain().any(|cause| cause.to_string() == name);
        if is_damage(&error) && !is_named { error.context(name) } else { error }
    }

    /// Opens a replica for reading; if the file does not exist, returns an empty replica in memory.
    pub(crate) fn look(&self) -> anyhow::Result<Arc<dyn Store>> {
        if !self.store.exists() {
            return Ok(Arc::new(MemoryStore::new()));
        }
        Ok(Arc::new(self.open()?))
    }

    /// Returns the folder that contains the spools of all sites.
    pub(crate) fn spools(&self) -> PathBuf {
        let mut name = self.store.file_name().unwrap_or_default().to_owned();
        name.push(".spool");
        self.store.with_file_name(name)
    }

    fn open_for(&self, access: AccessMode) -> anyhow::Result<SqliteStore> {
        let options = StoreOptions { access, ..StoreOptions::default() };
        SqliteStore::open(&self.store, options).with_context(|| self.store.display().to_string())
    }
}

/// Which files `make` created for a replica.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CreatedFiles {
    file: bool,
    folder: bool,
}

/// Arguments that select a site of a replica.
#[derive(Debug, clap::Args)]
pub(crate) struct SiteArgs {
    /// Select one site of the replica
    ///
    /// A host, such as harbour.example, or an origin with its scheme. By default, all sites are
    /// selected.
    #[arg(long, value_name = "SITE")]
    pub(crate) site: Option<String>,
}

impl SiteArgs {
    /// Returns the selected publishers: one, or all.
    pub(crate) fn publishers(&self, store: &dyn Store) -> anyhow::Result<Vec<Publisher>> {
        Ok(match self.publisher(store)? {
            Some(publisher) => vec![publisher],
            None => store.publishers()?,
        })
    }

    /// Returns the selected publisher. A section requires one site: if no site is selected, the
    /// replica must have only one site.
    pub(crate) fn publisher_of(
        &self,
        store: &dyn Store,
        section: Option<&str>,
    ) -> anyhow::Result<Option<Publisher>> {
        let Some(name) = section else { return self.publisher(store) };
        let only = match self.publisher(store)? {
            Some(named) => named,
            None => Self::only(store)?,
        };
        let has_it = store.sections(only.id)?.iter().any(|section| section.name == name);
        anyhow::ensure!(has_it, "--section: the site has no section {}", quoted(name));
        Ok(Some(only))
    }

    /// Returns the only site of a replica.
    fn only(store: &dyn Store) -> anyhow::Result<Publisher> {
        let mut publishers = store.publishers()?;
        anyhow::ensure!(
            publishers.len() < 2,
            "--section: the replica has several sites; select one with --site"
        );
        publishers.pop().context("--section: the replica has no site")
    }

    /// Returns the publisher that `--site` selects.
    pub(crate) fn publisher(&self, store: &dyn Store) -> anyhow::Result<Option<Publisher>> {
        self.site.as_deref().map(|text| Self::find(text, store, "--site: ")).transpose()
    }

    /// Returns the publisher of a site, given as a required argument.
    pub(crate) fn named(text: &str, store: &dyn Store) -> anyhow::Result<Publisher> {
        Self::find(text, store, "")
    }

    fn find(text: &str, store: &dyn Store, argument: &str) -> anyhow::Result<Publisher> {
        for scheme in ["", "https://", "http://"] {
            let Ok(url) = Url::parse(&format!("{scheme}{text}")) else { continue };
            let origin = url.origin().ascii_serialization();
            if let Some(found) = store.publisher(&origin)? {
                return Ok(found);
            }
            // An origin takes precedence over an alias of another site.
            let claims = |it: &Publisher| it.aliases.contains(&origin);
            if let Some(found) = store.publishers()?.into_iter().find(claims) {
                return Ok(found);
            }
        }
        anyhow::bail!("{argument}the replica has no site {}", quoted(text))
    }
}

/// Iterates over the pages of a replica, sorted by publisher and key.
pub(crate) struct PageIter<'s> {
    store: &'s dyn Store,
    selection: PageSelection<'s>,
    lines: PageBatch<Result<(PageRow, String), DamagedPage>>,
    rows: PageBatch<Result<PageRow, DamagedPage>>,
}

/// The pages of a batch that are not returned yet, and the position of the next batch.
struct PageBatch<T> {
    piece: VecDeque<T>,
    last: Option<(PublisherId, String)>,
    is_over: bool,
}

impl<T> PageBatch<T> {
    fn new(is_over: bool) -> Self {
        Self { piece: VecDeque::new(), last: None, is_over }
    }

    fn after(&self) -> Option<PagePosition<'_>> {
        self.last.as_ref().map(|(publisher, url)| PagePosition { publisher: *publisher, url })
    }

    fn fill<E>(
        &mut self,
        ask: impl FnOnce(Option<PagePosition<'_>>) -> Result<Vec<T>, E>,
        place: impl Fn(&T) -> PagePosition<'_>,
    ) -> Result<(), E> {
        let piece = ask(self.after())?;
        let last = piece.last().map(place);
        self.is_over = last.is_none();
        self.last = last.map(owned);
        self.piece = piece.into();
        Ok(())
    }
}

fn owned(after: PagePosition<'_>) -> (PublisherId, String) {
    (after.publisher, after.url.to_owned())
}

fn place_of_line(line: &Result<(PageRow, String), DamagedPage>) -> PagePosition<'_> {
    match line {
        Ok((row, _)) => row.after(),
        Err(damaged) => damaged.after(),
    }
}

fn place_of_row(row: &Result<PageRow, DamagedPage>) -> PagePosition<'_> {
    match row {
        Ok(row) => row.after(),
        Err(damaged) => damaged.after(),
    }
}

/// Number of pages in a batch.
const BATCH_SIZE: usize = 500;

impl<'s> PageIter<'s> {
    pub(crate) fn new(store: &'s dyn Store, selection: PageSelection<'s>) -> Self {
        let rows = PageBatch::new(!selection.with_withheld);
        Self { store, selection, lines: PageBatch::new(false), rows }
    }

    /// Returns the next page, with its verified line unless it is withheld, or an error for a
    /// damaged page.
    pub(crate) fn next_page(&mut self) -> anyhow::Result<Option<NextPage>> {
        while self.lines.piece.is_empty() && !self.lines.is_over {
            let ask = |after: Option<PagePosition<'_>>| {
                self.store.lines(&self.selection, after, BATCH_SIZE)
            };
            self.lines.fill(ask, place_of_line)?;
        }
        while self.rows.piece.is_empty() && !self.rows.is_over {
            let ask = |after: Option<PagePosition<'_>>| {
                self.store.rows(&self.selection, after, BATCH_SIZE)
            };
            self.rows.fill(ask, place_of_row)?;
            // Pages with content are read together with their lines.
            let is_other = |row: &PageRow| row.withheld.is_none();
            self.rows.piece.retain(|row| !row.as_ref().is_ok_and(is_other));
        }
        let line = self.lines.piece.front().map(place_of_line).map(owned);
        let row = self.rows.piece.front().map(place_of_row).map(owned);
        if row.is_some() && row == line {
            // Both batches have the same damaged page.
            self.rows.piece.pop_front();
            return Ok(self.lines.piece.pop_front().map(with_line));
        }
        let is_row_first = row.is_some() && (line.is_none() || row < line);
        Ok(if is_row_first {
            self.rows.piece.pop_front().map(|row| row.map(|row| (row, None)))
        } else {
            self.lines.piece.pop_front().map(with_line)
        })
    }
}

/// A page with its line (`None` if the page is withheld), or the error for a damaged page.
pub(crate) type NextPage = Result<(PageRow, Option<String>), DamagedPage>;

fn with_line(page: Result<(PageRow, String), DamagedPage>) -> NextPage {
    page.map(|(row, line)| (row, Some(line)))
}

/// Reports the damaged pages that a command finds: each damaged page is printed, the command reads
/// all other pages, and the exit code is 4.
#[derive(Debug, Default)]
pub(crate) struct DamageReport {
    count: u64,
}

impl DamageReport {
    /// Maximum number of damaged pages to print; further damaged pages are only counted.
    const MOST: u64 = 20;

    pub(crate) fn note(&mut self, damaged: &DamagedPage, out: &mut Output) {
        self.count += 1;
        if self.count <= Self::MOST {
            let (url, what) = (shown(&damaged.url), shown(&damaged.what));
            out.error(&anyhow::anyhow!("cannot read {url} from the replica: {what}"));
        }
    }

    /// Prints the number of further damaged pages and returns the exit code.
    pub(crate) fn exit(&self, out: &mut Output) -> ExitStatus {
        if self.count == 0 {
            return ExitStatus::Clean;
        }
        if Self::MOST < self.count {
            out.warn(format_args!("{} more pages are damaged", self.count - Self::MOST));
        }
        out.warn("hint: restore a backup of the replica, or delete it and sync again");
        ExitStatus::Integrity
    }
}

/// Returns the origins of the sites of a replica.
pub(crate) fn site_names(store: &dyn Store) -> anyhow::Result<BTreeMap<PublisherId, String>> {
    let publishers = store.publishers()?.into_iter();
    Ok(publishers.map(|publisher| (publisher.id, publisher.origin)).collect())
}

/// Calls `show` for the rows of a replica, sorted by publisher and key.
pub(crate) fn each_row(
    store: &dyn Store,
    selection: &PageSelection<'_>,
    mut most: u64,
    mut show: impl FnMut(&Result<PageRow, DamagedPage>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut lane = PageBatch::new(false);
    while 0 < most && !lane.is_over {
        let piece = usize::try_from(most).unwrap_or(BATCH_SIZE).min(BATCH_SIZE);
        lane.fill(|after| store.rows(selection, after, piece), place_of_row)?;
        for row in lane.piece.drain(..) {
            show(&row)?;
            most = most.saturating_sub(1);
        }
    }
    Ok(())
}

/// Returns the page of a verified line, without unsafe URLs (SCP-103, SCP-188).
pub(crate) fn view_of<'l>(url: &str, line: &'l str) -> anyhow::Result<ReaderView<'l>> {
    let view = ReaderView::of(line).with_context(|| visible(url))?;
    view.with_context(|| format!("the stored line of {} is not a page", visible(url)))
}

/// The terms of use of a page for AI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UsageTerms {
    /// `given`, `login`, `refused`, `no-training` (only training is forbidden) or `unsaid`.
    pub(crate) consent: &'static str,
    pub(crate) ai_indexable: Option<bool>,
    pub(crate) auth_required: Option<bool>,
    pub(crate) robots_directive: Option<String>,
}

impl UsageTerms {
    /// Combines all usage signals for a page; the most restrictive signal wins.
    pub(crate) fn of(row: &PageRow, arc: Option<&ArcRow>, trains: Option<bool>) -> Self {
        let entry = arc.and_then(|arc| ArcEntry::from_json(&arc.json));
        let is_barred =
            matches!(row.withheld, Some(WithheldReason::Robots | WithheldReason::Consent));
        let consent = match (arc, &entry) {
            _ if is_barred => "refused",
            (None, _) => "unsaid",
            // An ARC entry that cannot be read does not give consent.
            (Some(_), None) => "refused",
            (Some(arc), Some(entry)) => match entry.consent() {
                Consent::Given if arc.is_allowed => "given",
                Consent::WithLogin => "login",
                _ => "refused",
            },
        };
        let consent = match consent {
            "unsaid" | "given" if trains == Some(false) => "no-training",
            consent => consent,
        };
        Self {
            consent,
            ai_indexable: entry.as_ref().and_then(|entry| entry.ai_indexable),
            auth_required: entry.as_ref().and_then(|entry| entry.auth_required),
            robots_directive: entry
                .and_then(|entry| entry.robots_directive)
                .map(rutter_page::CowStr::into_string),
        }
    }
}

/// Iterates over the ARC entries of a replica, in the order of its pages.
pub(crate) struct ArcEntryIter<'s> {
    store: &'s dyn Store,
    publisher: Option<PublisherId>,
    piece: VecDeque<ArcRow>,
    last: Option<String>,
    is_over: bool,
}

impl<'s> ArcEntryIter<'s> {
    pub(crate) fn new(store: &'s dyn Store) -> Self {
        Self { store, publisher: None, piece: VecDeque::new(), last: None, is_over: true }
    }

    /// Returns the ARC entry of a page. Calls must be in the order of the pages of the replica.
    pub(crate) fn of(&mut self, row: &PageRow) -> anyhow::Result<Option<ArcRow>> {
        if self.publisher != Some(row.publisher) {
            *self =
                Self { publisher: Some(row.publisher), is_over: false, ..Self::new(self.store) };
        }
        loop {
            while self.piece.front().is_some_and(|arc| arc.url < row.url) {
                self.piece.pop_front();
            }
            if !self.piece.is_empty() || self.is_over {
                break;
            }
            let piece = self.store.arc_entries(row.publisher, self.last.as_deref(), BATCH_SIZE)?;
            self.is_over = piece.is_empty();
            self.last = piece.last().map(|arc| arc.url.clone());
            self.piece = piece.into();
        }
        Ok(self.piece.front().filter(|arc| arc.url == row.url).cloned())
    }
}
