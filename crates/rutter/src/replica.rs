//! A replica as the commands see it: where it lies, which site is meant, its
//! pages one after the other.
//!
//! Pages come in pieces by key, each piece a short look of its own, so that a
//! long reading never keeps the log of the database from being folded in.
//!
//! Refuses: to make a replica for somebody who only asks, and to guess a site.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use rutter_arc::{Consent, Entry};
use rutter_fetch::Url;
use rutter_finding::{quoted, shown, visible};
use rutter_page::ReaderView;
use rutter_store::{
    Access, After, ArcRow, DamagedPage, MemoryStore, OpenError, Options, PageRow, Publisher,
    PublisherId, Selection, SqliteStore, Store, Withheld,
};

use crate::exit::{Exit, is_damage};
use crate::output::Output;

/// Which replica.
#[derive(Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// The replica
    #[arg(long, value_name = "FILE", default_value = ".rutter/replica.db")]
    store: PathBuf,
}

impl StoreArgs {
    pub(crate) fn path(&self) -> &Path {
        &self.store
    }

    /// Opens it for questions; one that is not there is not made. One of an
    /// older format is converted first.
    pub(crate) fn open(&self) -> anyhow::Result<SqliteStore> {
        let opened = self.open_for(Access::Read);
        let is_older =
            |error: &anyhow::Error| matches!(error.downcast_ref(), Some(OpenError::Older { .. }));
        if !opened.as_ref().is_err_and(is_older) {
            return opened;
        }
        drop(self.open_for(Access::Write)?);
        self.open_for(Access::Read)
    }

    /// Opens one that is there for writing.
    pub(crate) fn open_to_write(&self) -> anyhow::Result<SqliteStore> {
        // Whoever reads makes none.
        drop(self.open()?);
        self.open_for(Access::Write)
    }

    /// Opens it to be written; makes one where there is none, and says what
    /// was made.
    pub(crate) fn make(&self) -> anyhow::Result<(Arc<dyn Store>, Made)> {
        let folder = rutter_scp::folder_of(&self.store);
        let made = Made { file: !self.store.exists(), folder: !folder.exists() };
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        Ok((Arc::new(self.open_for(Access::Write)?), made))
    }

    /// Takes away what was made, where nothing came into it: whoever asks
    /// later should hear that there is no replica.
    pub(crate) fn unmake(&self, made: Made) {
        // Where somebody else has it open, or it cannot go, it stays.
        if !made.file || !rutter_store::remove_unused(&self.store).unwrap_or(false) {
            return;
        }
        // Only empty folders go.
        let spools = self.spools();
        for folder in std::fs::read_dir(&spools).into_iter().flatten().flatten() {
            drop(std::fs::remove_dir(folder.path()));
        }
        drop(std::fs::remove_dir(spools));
        if made.folder {
            drop(std::fs::remove_dir(rutter_scp::folder_of(&self.store)));
        }
    }

    /// Says which file an error is about, where that is damaged.
    pub(crate) fn named(&self, error: anyhow::Error) -> anyhow::Error {
        let name = self.store.display().to_string();
        let is_named = error.chain().any(|cause| cause.to_string() == name);
        if is_damage(&error) && !is_named { error.context(name) } else { error }
    }

    /// Opens it for questions; an empty one in memory where there is none.
    pub(crate) fn look(&self) -> anyhow::Result<Arc<dyn Store>> {
        if !self.store.exists() {
            return Ok(Arc::new(MemoryStore::new()));
        }
        Ok(Arc::new(self.open()?))
    }

    /// Where files on their way to it lie.
    pub(crate) fn spools(&self) -> PathBuf {
        let mut name = self.store.file_name().unwrap_or_default().to_owned();
        name.push(".spool");
        self.store.with_file_name(name)
    }

    fn open_for(&self, access: Access) -> anyhow::Result<SqliteStore> {
        let options = Options { access, ..Options::default() };
        SqliteStore::open(&self.store, options).with_context(|| self.store.display().to_string())
    }
}

/// What was made for a replica.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Made {
    file: bool,
    folder: bool,
}

/// Which site of a replica.
#[derive(Debug, clap::Args)]
pub(crate) struct SiteArgs {
    /// Only this site: `harbour.example`, or with its scheme
    #[arg(long, value_name = "SITE")]
    pub(crate) site: Option<String>,
}

impl SiteArgs {
    /// The publishers that are meant: one, or all of them.
    pub(crate) fn publishers(&self, store: &dyn Store) -> anyhow::Result<Vec<Publisher>> {
        Ok(match self.publisher(store)? {
            Some(publisher) => vec![publisher],
            None => store.publishers()?,
        })
    }

    /// The publisher that is meant where a section may be: a section is of
    /// one site, and where there is one only, it is that.
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
        anyhow::ensure!(has_it, "--section {}: the site has no such section", quoted(name));
        Ok(Some(only))
    }

    /// The one site of a replica, where a section is named without one.
    fn only(store: &dyn Store) -> anyhow::Result<Publisher> {
        let mut publishers = store.publishers()?;
        anyhow::ensure!(
            publishers.len() < 2,
            "--section: the replica has several sites; --site names the one that is meant"
        );
        publishers.pop().context("--section: the replica has no site")
    }

    /// The publisher that is meant, if one is.
    pub(crate) fn publisher(&self, store: &dyn Store) -> anyhow::Result<Option<Publisher>> {
        self.site.as_deref().map(|text| Self::find(text, store, "--site ")).transpose()
    }

    /// The publisher of a site that a command cannot do without.
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
            // A name of its own goes before one that another claims.
            let claims = |it: &Publisher| it.aliases.contains(&origin);
            if let Some(found) = store.publishers()?.into_iter().find(claims) {
                return Ok(found);
            }
        }
        anyhow::bail!("{argument}{}: the replica has no such site", quoted(text))
    }
}

/// Pages of a replica, by publisher and key.
pub(crate) struct Pages<'s> {
    store: &'s dyn Store,
    selection: Selection<'s>,
    lines: Lane<Result<(PageRow, String), DamagedPage>>,
    rows: Lane<Result<PageRow, DamagedPage>>,
}

/// What is left of a piece, and where the next one begins.
struct Lane<T> {
    piece: VecDeque<T>,
    last: Option<(PublisherId, String)>,
    is_over: bool,
}

impl<T> Lane<T> {
    fn new(is_over: bool) -> Self {
        Self { piece: VecDeque::new(), last: None, is_over }
    }

    fn after(&self) -> Option<After<'_>> {
        self.last.as_ref().map(|(publisher, url)| After { publisher: *publisher, url })
    }

    fn fill<E>(
        &mut self,
        ask: impl FnOnce(Option<After<'_>>) -> Result<Vec<T>, E>,
        place: impl Fn(&T) -> After<'_>,
    ) -> Result<(), E> {
        let piece = ask(self.after())?;
        let last = piece.last().map(place);
        self.is_over = last.is_none();
        self.last = last.map(owned);
        self.piece = piece.into();
        Ok(())
    }
}

fn owned(after: After<'_>) -> (PublisherId, String) {
    (after.publisher, after.url.to_owned())
}

fn place_of_line(line: &Result<(PageRow, String), DamagedPage>) -> After<'_> {
    match line {
        Ok((row, _)) => row.after(),
        Err(damaged) => damaged.after(),
    }
}

fn place_of_row(row: &Result<PageRow, DamagedPage>) -> After<'_> {
    match row {
        Ok(row) => row.after(),
        Err(damaged) => damaged.after(),
    }
}

/// Pages of one piece.
const PIECE: usize = 500;

impl<'s> Pages<'s> {
    pub(crate) fn new(store: &'s dyn Store, selection: Selection<'s>) -> Self {
        let rows = Lane::new(!selection.with_withheld);
        Self { store, selection, lines: Lane::new(false), rows }
    }

    /// The next page, with its verified line unless it is withheld; a damaged
    /// page is an error in its place.
    pub(crate) fn next_page(&mut self) -> anyhow::Result<Option<NextPage>> {
        while self.lines.piece.is_empty() && !self.lines.is_over {
            let ask = |after: Option<After<'_>>| self.store.lines(&self.selection, after, PIECE);
            self.lines.fill(ask, place_of_line)?;
        }
        while self.rows.piece.is_empty() && !self.rows.is_over {
            let ask = |after: Option<After<'_>>| self.store.rows(&self.selection, after, PIECE);
            self.rows.fill(ask, place_of_row)?;
            // The others come with their lines.
            let is_other = |row: &PageRow| row.withheld.is_none();
            self.rows.piece.retain(|row| !row.as_ref().is_ok_and(is_other));
        }
        let line = self.lines.piece.front().map(place_of_line).map(owned);
        let row = self.rows.piece.front().map(place_of_row).map(owned);
        if row.is_some() && row == line {
            // The same damaged page in both.
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

/// A page with its line unless it is withheld, or what is wrong with it.
pub(crate) type NextPage = Result<(PageRow, Option<String>), DamagedPage>;

fn with_line(page: Result<(PageRow, String), DamagedPage>) -> NextPage {
    page.map(|(row, line)| (row, Some(line)))
}

/// Damaged pages that a command met: each is reported, the others are read, and
/// the command ends with exit code 4.
#[derive(Debug, Default)]
pub(crate) struct Damages {
    count: u64,
}

impl Damages {
    /// Damaged pages that are named; more are only counted.
    const MOST: u64 = 20;

    pub(crate) fn note(&mut self, damaged: &DamagedPage, out: &mut Output) {
        self.count += 1;
        if self.count <= Self::MOST {
            let (url, what) = (shown(&damaged.url), shown(&damaged.what));
            out.error(&anyhow::anyhow!("cannot read {url} from the replica: {what}"));
        }
    }

    /// Says how many there were, and gives the exit code.
    pub(crate) fn exit(&self, out: &mut Output) -> Exit {
        if self.count == 0 {
            return Exit::Clean;
        }
        if Self::MOST < self.count {
            out.warn(format_args!("{} more pages are damaged", self.count - Self::MOST));
        }
        out.warn("hint: restore a backup of the replica, or delete it and sync again");
        Exit::Integrity
    }
}

/// Origins of the sites of a replica.
pub(crate) fn site_names(store: &dyn Store) -> anyhow::Result<BTreeMap<PublisherId, String>> {
    let publishers = store.publishers()?.into_iter();
    Ok(publishers.map(|publisher| (publisher.id, publisher.origin)).collect())
}

/// Rows of a replica, by publisher and key.
pub(crate) fn each_row(
    store: &dyn Store,
    selection: &Selection<'_>,
    mut most: u64,
    mut show: impl FnMut(&Result<PageRow, DamagedPage>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut lane = Lane::new(false);
    while 0 < most && !lane.is_over {
        let piece = usize::try_from(most).unwrap_or(PIECE).min(PIECE);
        lane.fill(|after| store.rows(selection, after, piece), place_of_row)?;
        for row in lane.piece.drain(..) {
            show(&row)?;
            most = most.saturating_sub(1);
        }
    }
    Ok(())
}

/// The page of a verified line, as a reader must see it (SCP-103, SCP-188).
pub(crate) fn view_of<'l>(url: &str, line: &'l str) -> anyhow::Result<ReaderView<'l>> {
    let view = ReaderView::of(line).with_context(|| visible(url))?;
    view.with_context(|| format!("{}: its line is not a page", visible(url)))
}

/// What the site says AI may do with a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terms {
    /// `given`, `login`, `refused`, `no-training` where nothing else is
    /// forbidden, or `unsaid`.
    pub(crate) consent: &'static str,
    pub(crate) ai_indexable: Option<bool>,
    pub(crate) auth_required: Option<bool>,
    pub(crate) robots_directive: Option<String>,
}

impl Terms {
    /// Joins what is known; the most restrictive wins.
    pub(crate) fn of(row: &PageRow, arc: Option<&ArcRow>, trains: Option<bool>) -> Self {
        let entry = arc.and_then(|arc| Entry::from_json(&arc.json));
        let is_barred = matches!(row.withheld, Some(Withheld::Robots | Withheld::Consent));
        let consent = match (arc, &entry) {
            _ if is_barred => "refused",
            (None, _) => "unsaid",
            // An entry that cannot be read is no consent.
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
                .map(rutter_page::Str::into_string),
        }
    }
}

/// ARC entries of a replica, in step with its pages.
pub(crate) struct ArcLane<'s> {
    store: &'s dyn Store,
    publisher: Option<PublisherId>,
    piece: VecDeque<ArcRow>,
    last: Option<String>,
    is_over: bool,
}

impl<'s> ArcLane<'s> {
    pub(crate) fn new(store: &'s dyn Store) -> Self {
        Self { store, publisher: None, piece: VecDeque::new(), last: None, is_over: true }
    }

    /// The entry of a page; pages are asked for in their order.
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
            let piece = self.store.arc_entries(row.publisher, self.last.as_deref(), PIECE)?;
            self.is_over = piece.is_empty();
            self.last = piece.last().map(|arc| arc.url.clone());
            self.piece = piece.into();
        }
        Ok(self.piece.front().filter(|arc| arc.url == row.url).cloned())
    }
}
