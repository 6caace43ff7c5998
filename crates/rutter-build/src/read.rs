//! Pass 1: every page is read or recognised, compared with the ledger, and
//! written into a new ledger and a new pack.
//!
//! Sources, ledger and pack are walked together in the order of URLs. Workers
//! read out of order behind a window; their answers are taken in order, so
//! that the result does not depend on who was faster.

mod tally;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use rutter_extract::{Templates, VersionId};
use rutter_finding::{Finding, Place, Rule};
use rutter_page::Timestamp;
use rutter_signpost::robots::Robots;

pub(crate) use self::tally::Tally;
use crate::arc::{self, Said};
use crate::chain::{Offered, Published};
use crate::dates;
use crate::error::{At, BuildError};
use crate::gate::{self, Bar};
use crate::guard::Guarded;
use crate::ledger::{REMEMBERED_DAYS, Row, Rows, RowsWriter, Sight, UNKNOWN};
use crate::outcome::{ExcludedPage, Listener, Outcome};
use crate::pack::{Keys, PackWriter, Records};
use crate::plan::{Oversize, Plan};
use crate::rules;
use crate::section::{ALL, Sections};
use crate::sources::{Sourced, Sources};
use crate::table::Table;
use crate::worker::{Answer, Fresh, Job, Known, What, Worker};

/// Pages that may be under way at once.
const WINDOW: usize = 128;

/// What pass 1 starts from.
#[derive(Debug)]
pub(crate) struct Start<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) robots: &'p Robots,
    pub(crate) sections: &'p Sections,
    pub(crate) templates: Arc<Templates>,
    /// When what is published now is said to be published.
    pub(crate) stamp: Timestamp,
    pub(crate) old_ledger: PathBuf,
    pub(crate) old_pack: PathBuf,
    pub(crate) new_ledger: PathBuf,
    pub(crate) new_pack: PathBuf,
    pub(crate) changes: PathBuf,
    /// Dates of the sitemap that was there before us.
    pub(crate) sitemap_dates: &'p Table<Timestamp>,
    pub(crate) git_dates: Table<Timestamp>,
    pub(crate) n_pages: usize,
    /// Which entries for AI agents are made.
    pub(crate) arc: Entries,
}

/// Which entries for AI agents are made and compared with the last ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entries {
    /// The layer is off.
    Off,
    /// Those of pages that changed.
    Changed,
    /// All: what decides about them is another than before.
    All,
}

/// What pass 1 found.
#[derive(Debug)]
pub(crate) struct Reading {
    /// One for each section, `all` last.
    pub(crate) tallies: Vec<Tally>,
    pub(crate) pages: u64,
    pub(crate) new: u64,
    pub(crate) changed: u64,
    pub(crate) removed: u64,
    pub(crate) read: u64,
    pub(crate) read_differently: u64,
    pub(crate) failed: u64,
    /// Of those, pages that keep what was published of them before.
    pub(crate) kept: u64,
    /// The newest time in the ledger before this build.
    pub(crate) newest: Option<Timestamp>,
    /// What the guard against mass deletion looks at.
    pub(crate) guarded: Guarded,
    pub(crate) source_bytes: u64,
    pub(crate) excluded: BTreeMap<&'static str, u64>,
    /// Of those, pages that need a login, and the first of them.
    pub(crate) closed: u64,
    pub(crate) closed_pages: Vec<String>,
    pub(crate) password_pages: Vec<String>,
    pub(crate) used: BTreeSet<VersionId>,
    pub(crate) findings: BTreeMap<&'static str, u64>,
    /// Secrets that nobody has acknowledged, and personal data where that stops.
    pub(crate) private: u64,
    /// Whether the ledger is another than before.
    pub(crate) is_other: bool,
    /// When an entry for AI agents last changed.
    pub(crate) said: Option<Timestamp>,
    /// Whether the ledger knows of entries from before.
    pub(crate) was_said: bool,
    /// Whether something may no longer be said of a page that is still there.
    pub(crate) is_taken_back: bool,
}

impl Reading {
    /// Withdraws earlier collections of sections in which they hold pages that
    /// were removed since, and deltas for AI agents likewise.
    pub(crate) fn purge(&mut self, published: &Published) {
        let names: Vec<String> = self.tallies.iter().map(|tally| tally.name.clone()).collect();
        let is_known = |section: &String| names.contains(section);
        for tally in &mut self.tallies {
            let Some(removed) = tally.last_removed else { continue };
            // A section without a tally is no longer there, but its files may be.
            let holds = |one: &Offered| {
                (one.section == tally.name || !is_known(&one.section)) && one.generated < removed
            };
            if published.collections.iter().any(holds) {
                tally.is_barred = true;
                self.is_taken_back = true;
            }
        }
    }
}

/// A row of the ledger; with `redate`, times that are later than now become
/// now, and a page whose line says such a time is written again.
fn redated(start: &Start<'_>, newest: &mut Option<Timestamp>, mut row: Row) -> Row {
    *newest = (*newest).max(Some(row.recorded));
    let now = start.plan.now;
    if start.plan.redate {
        if now < row.modified {
            row.modified = now.plus_seconds(-1);
            row.digest = UNKNOWN;
        }
        row.recorded = row.recorded.min(now);
        row.first_seen = row.first_seen.min(now);
        row.removed = row.removed.map(|at| at.min(now));
        if Said::parse(&row.arc).is_some_and(|said| now < said.at) {
            arc::NOTHING.clone_into(&mut row.arc);
        }
    }
    row
}

/// An address on its way through the window.
struct Pending {
    url: String,
    path: Option<Box<str>>,
    old: Option<Row>,
    answer: Option<Answer>,
    /// What its address alone says.
    bar: Option<Bar>,
    /// Nothing is read: the page went away.
    is_gone: bool,
}

pub(crate) fn read(
    start: &Start<'_>,
    sources: Sources,
    listener: &mut dyn Listener,
) -> Result<Reading, BuildError> {
    let worker = Worker::new(start.plan, Arc::clone(&start.templates));
    let (jobs, waiting) = mpsc::channel::<Job>();
    let (answers, arriving) = mpsc::channel::<Answer>();
    let waiting = Mutex::new(waiting);
    thread::scope(|scope| {
        for _ in 0..start.plan.threads.max(1) {
            let (worker, waiting, answers) = (&worker, &waiting, answers.clone());
            scope.spawn(move || {
                loop {
                    let job = match waiting.lock() {
                        Ok(waiting) => waiting.recv(),
                        Err(_) => return,
                    };
                    let Ok(job) = job else { return };
                    if answers.send(worker.read(&job)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(answers);
        let mut pass = Pass::open(start, sources, listener)?;
        pass.run(&jobs, &arriving)?;
        drop(jobs);
        pass.finish()
    })
}

struct Pass<'s, 'l> {
    start: &'s Start<'s>,
    sources: Sources,
    next: Option<Sourced>,
    rows: Rows,
    next_row: Option<Row>,
    keys: Keys,
    /// For the pack, which copies from it.
    old: Records,
    /// For what was found when a page was read.
    notes: Records,
    pack: PackWriter,
    ledger: RowsWriter,
    changes: BufWriter<File>,
    bits: BTreeMap<String, (usize, u64)>,
    listener: &'l mut dyn Listener,
    n_done: usize,
    reading: Reading,
}

impl<'s, 'l> Pass<'s, 'l> {
    fn open(
        start: &'s Start<'s>,
        mut sources: Sources,
        listener: &'l mut dyn Listener,
    ) -> Result<Self, BuildError> {
        let mut rows = Rows::open(&start.old_ledger)?;
        let mut newest = None;
        let next_row = rows.next()?.map(|row| redated(start, &mut newest, row));
        let names = start.sections.names();
        let bits = names
            .iter()
            .enumerate()
            .map(|(at, name)| ((*name).to_owned(), (at, start.sections.bit(name))))
            .collect();
        let tallies = names.iter().copied().chain([ALL]).map(Tally::new).collect();
        Ok(Self {
            next: sources.next()?,
            sources,
            next_row,
            rows,
            keys: Keys::open(&start.old_pack)?,
            old: Records::open(&start.old_pack)?,
            notes: Records::open(&start.old_pack)?,
            pack: PackWriter::create(&start.new_pack)?,
            ledger: RowsWriter::create(&start.new_ledger)?,
            changes: BufWriter::new(File::create(&start.changes).at(&start.changes)?),
            bits,
            listener,
            n_done: 0,
            reading: Reading {
                tallies,
                pages: 0,
                new: 0,
                changed: 0,
                removed: 0,
                read: 0,
                read_differently: 0,
                failed: 0,
                kept: 0,
                newest,
                guarded: Guarded::default(),
                source_bytes: 0,
                excluded: BTreeMap::new(),
                closed: 0,
                closed_pages: Vec::new(),
                password_pages: Vec::new(),
                used: BTreeSet::new(),
                findings: BTreeMap::new(),
                private: 0,
                is_other: false,
                said: None,
                was_said: false,
                is_taken_back: false,
            },
            start,
        })
    }

    fn run(
        &mut self,
        jobs: &mpsc::Sender<Job>,
        arriving: &mpsc::Receiver<Answer>,
    ) -> Result<(), BuildError> {
        let mut pending: VecDeque<Pending> = VecDeque::new();
        // The place in the order of the first that is pending.
        let mut first = 0;
        loop {
            while pending.len() < WINDOW {
                let Some((entry, job)) = self.entry(first + pending.len())? else { break };
                pending.push_back(entry);
                if let Some(job) = job
                    && jobs.send(job).is_err()
                {
                    return Err(stopped());
                }
            }
            let Some(front) = pending.front() else { return Ok(()) };
            if front.is_gone || front.answer.is_some() {
                if let Some(entry) = pending.pop_front() {
                    first += 1;
                    self.take(entry)?;
                }
                continue;
            }
            let answer = arriving.recv().map_err(|_| stopped())?;
            let at = answer.at - first;
            if let Some(entry) = pending.get_mut(at) {
                entry.answer = Some(answer);
            }
        }
    }

    fn next_old(&mut self) -> Result<Option<Row>, BuildError> {
        let row = self.rows.next()?;
        Ok(row.map(|row| redated(self.start, &mut self.reading.newest, row)))
    }

    /// Notes when pages of a section were last removed.
    fn note_removed(&mut self, row: &Row) {
        let all = self.reading.tallies.len() - 1;
        let of = self.bits.get(&row.section).map(|(at, _)| *at);
        for at in of.into_iter().chain([all]) {
            if let Some(tally) = self.reading.tallies.get_mut(at) {
                tally.last_removed = tally.last_removed.max(row.removed);
            }
        }
    }

    /// The next address, of the site or of the ledger, with what is to be read.
    fn entry(&mut self, at: usize) -> Result<Option<(Pending, Option<Job>)>, BuildError> {
        let is_row_first = match (&self.next, &self.next_row) {
            (None, None) => return Ok(None),
            (Some(page), Some(row)) => row.url < page.url,
            (None, Some(_)) => true,
            (Some(_), None) => false,
        };
        if is_row_first {
            let row = self.next_row.take();
            self.next_row = self.next_old()?;
            let url = row.as_ref().map_or_else(String::new, |row| row.url.clone());
            let gone =
                Pending { url, path: None, old: row, answer: None, bar: None, is_gone: true };
            return Ok(Some((gone, None)));
        }
        let Some(page) = self.next.take() else { return Ok(None) };
        self.next = self.sources.next()?;
        let old = self.next_row.take_if(|row| row.url == page.url);
        if old.is_some() {
            self.next_row = self.next_old()?;
        }
        let known = old.as_ref().map(|row| Known {
            digest: row.digest,
            modified: row.modified,
            template: row.template,
        });
        let date = |dates: &Table<Timestamp>, name: &str| dates.get(name).copied();
        let job = Job {
            at,
            key: self.keys.get(&page.url),
            bar: gate::of_address(self.start.plan, self.start.robots, &page.url),
            hints: dates::Hints {
                own: None,
                sitemap: date(self.start.sitemap_dates, &page.url),
                git: page.path.as_deref().and_then(|path| date(&self.start.git_dates, path)),
            },
            url: page.url.clone(),
            from: page.from,
            known,
        };
        let (url, path, bar) = (page.url, page.path, job.bar);
        let pending = Pending { url, path, old, answer: None, bar, is_gone: false };
        Ok(Some((pending, Some(job))))
    }

    fn take(&mut self, entry: Pending) -> Result<(), BuildError> {
        let Pending { url, path, old, answer, bar, .. } = entry;
        let Some(answer) = answer else {
            return old.as_ref().map_or(Ok(()), |row| self.gone(row));
        };
        self.n_done += 1;
        self.listener.progress(self.n_done, self.start.n_pages);
        self.reading.source_bytes += answer.bytes;
        let place = path.as_deref().unwrap_or(&url).to_owned();
        match answer.what {
            What::Same => {
                let Some(old) = old else { return Ok(()) };
                // The record is right; the row may be of a day on which the
                // page could not be read.
                let barred = self.notes.get(&url)?.map(|record| record.meta.barred.as_deref());
                let sight = barred.map_or(old.sight, |barred| {
                    barred.and_then(Bar::of_reason).map_or(Sight::Public, Bar::sight)
                });
                let new = Row { section: self.section(&url), sight, ..old.clone() };
                self.keep(&place, &old, new)
            }
            What::Fresh(fresh) => self.fresh(&place, url, old.as_ref(), &fresh),
            What::Failed(why) => {
                self.reading.failed += 1;
                self.find(&place, &rules::UNREADABLE, &why);
                // What was published of it stays, where we still have it.
                let has_record = old.is_some() && self.notes.get(&url)?.is_some();
                match old {
                    Some(old) if has_record => {
                        self.reading.kept += 1;
                        let sight = bar.map_or(old.sight, Bar::sight);
                        let new = Row { section: self.section(&url), sight, ..old.clone() };
                        self.keep(&place, &old, new)
                    }
                    // Its text is nowhere: neither kept nor removed.
                    Some(old) if old.is_public() => Err(BuildError::Unreadable(place, why)),
                    Some(old) => self.gone(&old),
                    None => Ok(()),
                }
            }
        }
    }

    fn section(&self, url: &str) -> String {
        self.start.sections.of(&self.start.plan.base, url).to_owned()
    }

    fn bit(&self, section: &str) -> u64 {
        self.bits.get(section).map_or(1, |(_, bit)| *bit)
    }

    /// A page whose record is right.
    fn keep(&mut self, place: &str, old: &Row, new: Row) -> Result<(), BuildError> {
        let bit = self.bit(&new.section);
        self.repeat(place, old, &new)?;
        self.pack.keep(&new.url, bit, &mut self.old)?;
        let is_due = match self.start.arc {
            Entries::Off => false,
            Entries::Changed => {
                old.arc == arc::NOTHING || old.sight != new.sight || old.section != new.section
            }
            Entries::All => true,
        };
        let mut new = new;
        if is_due {
            let record = self.notes.get(&new.url)?;
            let entry = record.and_then(|record| arc::entry(self.start.plan, &new, record));
            let said = Said::next(Said::parse(&old.arc), entry.as_ref(), self.start.stamp);
            new.arc = arc::column(said);
        }
        self.settle(Some(old), new, false)
    }

    /// Says again what was found when the page was read.
    fn repeat(&mut self, place: &str, old: &Row, row: &Row) -> Result<(), BuildError> {
        // Most pages have nothing to say, but only their record knows.
        let Some(record) = self.notes.get(&row.url)? else { return Ok(()) };
        let (findings, barred) = (record.meta.findings.clone(), record.meta.barred.clone());
        let by = record.meta.barred_by.clone();
        self.say(place, &findings);
        if let Some(bar) = barred.as_deref().and_then(Bar::of_reason) {
            self.guard(bar, &row.url, Some(old));
            self.exclude(place, bar, by.as_deref());
        }
        Ok(())
    }

    /// Counts an excluded page for the guard against mass deletion, unless the
    /// owner restricted its path.
    fn guard(&mut self, bar: Bar, url: &str, old: Option<&Row>) {
        let is_setting = bar == Bar::Restricted && gate::is_restricted(self.start.plan, url);
        if !is_setting {
            self.reading.guarded.exclude(bar, old);
        }
    }

    fn exclude(&mut self, place: &str, bar: Bar, by: Option<&str>) {
        let (reason, source) = (bar.reason(), by.unwrap_or_default());
        self.listener.excluded(&ExcludedPage { page: place, reason, source });
        let reading = &mut self.reading;
        *reading.excluded.entry(reason).or_default() += 1;
        if bar == Bar::Login && reading.password_pages.len() < Outcome::CLOSED_NAMED {
            reading.password_pages.push(place.to_owned());
        }
        if bar.needs_login() {
            reading.closed += 1;
            if reading.closed_pages.len() < Outcome::CLOSED_NAMED {
                reading.closed_pages.push(place.to_owned());
            }
        }
        if bar == Bar::Oversize {
            self.find(place, &rules::OVERSIZE, "");
        }
    }

    fn fresh(
        &mut self,
        place: &str,
        url: String,
        old: Option<&Row>,
        fresh: &Fresh,
    ) -> Result<(), BuildError> {
        self.reading.read += 1;
        let section = self.section(&url);
        self.say(place, &fresh.record.meta.findings);
        if let Some(bar) = fresh.bar {
            self.guard(bar, &url, old);
            self.exclude(place, bar, fresh.record.meta.barred_by.as_deref());
        }
        self.pack.push(&url, self.bit(&section), &fresh.record, &mut self.old)?;
        let stamp = self.start.stamp;
        let new = Row {
            sight: fresh.bar.map_or(Sight::Public, Bar::sight),
            section,
            digest: fresh.digest,
            modified: fresh.modified,
            template: fresh.template,
            recorded: old.map_or(stamp, |old| old.recorded),
            first_seen: old.map_or(stamp, |old| old.first_seen),
            removed: old.and_then(|old| old.removed),
            dated: old.map_or(fresh.dated, |old| old.dated),
            arc: old.map_or_else(|| "-".to_owned(), |old| old.arc.clone()),
            url,
        };
        let mut new = new;
        if self.start.arc != Entries::Off {
            let entry = arc::entry(self.start.plan, &new, &fresh.record);
            let old = old.and_then(|old| Said::parse(&old.arc));
            new.arc = arc::column(Said::next(old, entry.as_ref(), stamp));
        }
        self.settle(old, new, fresh.is_same_source)
    }

    /// A page that is no longer there.
    fn gone(&mut self, old: &Row) -> Result<(), BuildError> {
        if old.sight == Sight::Gone {
            let age = old.removed.map_or(0, |at| self.start.plan.now.seconds_since(at));
            if REMEMBERED_DAYS * 86_400 < age {
                self.reading.is_other = true;
                return Ok(());
            }
            // It may have gone while nothing was said.
            let mut kept = old.clone();
            if self.start.arc != Entries::Off {
                kept.arc = arc::column(Said::next(Said::parse(&old.arc), None, self.start.stamp));
            }
            self.reading.is_other |= kept != *old;
            self.reading.was_said |= old.arc != arc::NOTHING;
            self.reading.said = self.reading.said.max(Said::parse(&kept.arc).map(|said| said.at));
            self.note_removed(&kept);
            return self.ledger.push(&kept);
        }
        let stamp = self.start.stamp;
        let mut new = Row { sight: Sight::Gone, removed: Some(stamp), ..old.clone() };
        if self.start.arc != Entries::Off {
            new.arc = arc::column(Said::next(Said::parse(&old.arc), None, stamp));
        }
        self.settle(Some(old), new, false)
    }

    /// Enters a row, and what it means for the sections.
    fn settle(
        &mut self,
        old: Option<&Row>,
        mut new: Row,
        is_same_source: bool,
    ) -> Result<(), BuildError> {
        let stamp = self.start.stamp;
        let was = old.filter(|old| old.is_public());
        let is_public = new.is_public();
        self.reading.guarded.before += u64::from(was.is_some());
        let is_edited = old.is_some_and(|old| old.digest != new.digest);
        let is_moved = was.is_some_and(|was| was.section != new.section);
        if old.is_none() || is_edited || is_moved || (is_public && was.is_none()) {
            new.recorded = stamp;
        }
        if is_public {
            new.removed = None;
        } else if was.is_some() {
            new.removed = Some(stamp);
        }
        self.note_removed(&new);
        let all = self.reading.tallies.len() - 1;
        // A section that is no longer there has no tally.
        let place = |section: &str| self.bits.get(section).map(|(at, _)| *at);
        let (from, to) = (was.and_then(|was| place(&was.section)), place(&new.section));
        if let Some(was) = was {
            let is_barred = !is_public && new.sight != Sight::Gone;
            for at in from.into_iter().chain([all]) {
                let tally = &mut self.reading.tallies[at];
                tally.before.add(&was.url, was.digest);
                tally.is_barred |= is_barred;
                if !is_public || (is_moved && at != all) {
                    tally.remove(&was.url);
                }
            }
        }
        if is_public {
            for at in to.into_iter().chain([all]) {
                let tally = &mut self.reading.tallies[at];
                tally.state.add(&new.url, new.digest);
                tally.pages += 1;
                // For whoever follows all pages, a move is no change.
                let is_new = new.recorded == stamp && (at != all || is_edited || !is_moved);
                tally.changed += u64::from(is_new);
            }
        }
        self.count(was.is_some(), is_edited && is_public, is_same_source, &new)?;
        self.reading.is_other |= old != Some(&new);
        self.reading.used.extend(new.template);
        // What was said before must not be there any longer.
        let is_taken_back = new.sight != Sight::Gone
            && old.is_some_and(|old| {
                let had = |row: &Row| Said::parse(&row.arc).is_some_and(|it| it.digest.is_some());
                old.sight.is_full() && !new.sight.is_full() || had(old) && !had(&new)
            });
        self.reading.is_taken_back |= is_taken_back;
        self.reading.was_said |= old.is_some_and(|old| old.arc != arc::NOTHING);
        self.reading.said = self.reading.said.max(Said::parse(&new.arc).map(|said| said.at));
        self.ledger.push(&new)
    }

    fn count(
        &mut self,
        was_public: bool,
        is_edited: bool,
        is_same_source: bool,
        new: &Row,
    ) -> Result<(), BuildError> {
        let is_public = new.is_public();
        let what = match (was_public, is_public) {
            (false, true) => {
                self.reading.new += 1;
                "new"
            }
            (true, true) if is_edited => {
                self.reading.changed += 1;
                self.reading.read_differently += u64::from(is_same_source);
                "changed"
            }
            (true, false) => {
                self.reading.removed += 1;
                "removed"
            }
            _ => "",
        };
        self.reading.pages += u64::from(is_public);
        if !what.is_empty() {
            writeln!(self.changes, "{what}\t{}", new.url).at(&self.start.changes)?;
        }
        Ok(())
    }

    fn say(&mut self, place: &str, findings: &[(String, String)]) {
        for (code, detail) in findings {
            let tables = [
                rules::ALL,
                rutter_extract::rules::ALL,
                rutter_extract::safety::ALL,
                rutter_page::rules::ALL,
                rutter_arc::rules::ALL,
            ];
            let rule = tables.into_iter().flatten().find(|rule| rule.code == code);
            let is_off = self.start.arc == Entries::Off && code.starts_with("AR");
            if let Some(rule) = rule.filter(|_| !is_off) {
                self.find(place, rule, detail);
            }
            let is_merged = *code == rutter_extract::rules::MERGED.code;
            if is_merged && self.start.plan.oversize == Oversize::Stop {
                self.find(place, &rules::OVERSIZE, detail);
            }
        }
    }

    fn find(&mut self, place: &str, rule: &'static Rule, detail: &str) {
        let privacy = &self.start.plan.privacy;
        let is_acknowledged = || {
            let mark = detail.rsplit(' ').next().unwrap_or_default();
            privacy.acknowledged.iter().any(|known| known == mark)
        };
        let is_private = rule == &rules::SECRET || (rule == &rules::PERSONAL && privacy.strict);
        if is_private {
            if is_acknowledged() {
                return;
            }
            self.reading.private += 1;
        }
        *self.reading.findings.entry(rule.code).or_default() += 1;
        self.listener.finding(place, &Finding::new(rule, Place::WHOLE, detail));
    }

    fn finish(mut self) -> Result<Reading, BuildError> {
        self.pack.finish(&mut self.old)?;
        self.ledger.finish()?;
        self.changes.flush().at(&self.start.changes)?;
        Ok(self.reading)
    }
}

fn stopped() -> BuildError {
    BuildError::Io(Path::new("reading").to_owned(), std::io::Error::other("a reader stopped"))
}
