//! Pass 1: reads all pages and compares them with the ledger.
//!
//! Input: the pages, the old ledger and the old page cache, all in the order of URLs. Output: a new
//! ledger, a new page cache and the totals. Threads read the pages of a window in any order; the
//! results are used in the order of URLs, so that the output does not depend on timing.

pub(crate) mod cache_match;
pub(crate) mod dates;
pub(crate) mod git;
pub(crate) mod markers;
pub(crate) mod mass_change_guard;
pub(crate) mod page_reader;
mod redate;
pub(crate) mod schema_org;
mod tally;
pub(crate) mod templates;
mod totals;
pub(crate) mod unmatched_selectors;
pub(crate) mod visibility;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use rutter_extract::{CoverageTally, Templates};
use rutter_finding::{Finding, Place, Rule};
use rutter_page::Timestamp;
use rutter_robots::Robots;
use rutter_site::{
    ALL, ArcEntryVersion, CacheEntry, CacheIndex, ExclusionReason, LedgerReader, LedgerRow,
    LedgerWriter, NO_ARC_ENTRY, PageCacheReader, PageCacheWriter, REMEMBERED_DAYS, Sections,
    Visibility,
};

use self::redate::redated;
pub(crate) use self::tally::SectionTally;
pub(crate) use self::totals::ReadTotals;
use crate::arc_publication::{ArcChanges, ArcEntryScope};
use crate::error::{BuildError, IoErrorContext};
use crate::name_table::NameTable;
use crate::plan::SourceKind;
use crate::plan::{BuildPlan, OversizePolicy};
use crate::stages::inventory::Inventory;
use crate::stages::inventory::sources::{PageSources, SourcePage};
use crate::stages::read::git::GitDates;
use crate::stages::read::mass_change_guard::MassChangeGuard;
use crate::stages::read::page_reader::{
    KnownPage, PageReader, ReadAnswer, ReadJob, ReadOutcome, ReadPage,
};
use crate::stages::read::unmatched_selectors::UnmatchedSelectors;
use crate::state::{SavedState, saved_state};
use crate::summary::{BuildEvents, BuildSummary, ExcludedPage};
use crate::{arc_entry, exclusion, rules, section};
use crate::{arc_publication, entities};

/// Maximum number of pages that are read at the same time or wait for earlier pages.
const WINDOW: usize = 128;

/// Inputs of the stage.
#[derive(Debug)]
pub(crate) struct ReadInput<'p> {
    pub(crate) plan: &'p BuildPlan,
    pub(crate) state: &'p SavedState<'p>,
    pub(crate) inventory: &'p Inventory,
    pub(crate) sections: &'p Sections,
    pub(crate) templates: &'p Templates,
    /// Publication time of this build.
    pub(crate) stamp: Timestamp,
}

/// Inputs of one pass over all pages.
#[derive(Debug)]
struct PassInput<'p> {
    plan: &'p BuildPlan,
    state: &'p SavedState<'p>,
    inventory: &'p Inventory,
    sections: &'p Sections,
    templates: Arc<Templates>,
    stamp: Timestamp,
    robots: &'p Robots,
    git_dates: NameTable<Timestamp>,
    /// Which ARC entries this build must make.
    arc: ArcEntryScope,
}

/// Reads all pages. A damaged page cache is deleted, and all pages are read again.
pub(crate) fn pages(
    input: &ReadInput<'_>,
    sources: PageSources,
    events: &mut dyn BuildEvents,
) -> Result<ReadTotals, BuildError> {
    let pack = input.state.paths.pack();
    match read_once(input, sources, events) {
        Err(BuildError::DamagedState(path, _)) if path == pack => {
            fs::remove_file(&path).at(&path)?;
            events.message("the page cache is damaged; reading all pages again");
            let sources = match input.plan.source {
                SourceKind::Html | SourceKind::Markdown => {
                    PageSources::files(Arc::clone(&input.inventory.pages))
                }
                // The findings of the lines are already reported.
                SourceKind::Lines => PageSources::lines(input.plan, &mut |_, _| {})?.sources,
            };
            read_once(input, sources, events)
        }
        other => other,
    }
}

fn read_once(
    input: &ReadInput<'_>,
    sources: PageSources,
    events: &mut dyn BuildEvents,
) -> Result<ReadTotals, BuildError> {
    let ReadInput { plan, state, inventory, sections, templates, stamp } = *input;
    let robots = Robots::parse(&read_robots(plan)?);
    let git_dates = match plan.git_dates.then(|| git::dates(plan, &inventory.pages)) {
        Some(GitDates::Found(dates)) => dates,
        Some(GitDates::Unavailable(why)) => {
            events.message(&why);
            NameTable::default()
        }
        None => NameTable::default(),
    };
    let pass = PassInput {
        plan,
        state,
        inventory,
        sections,
        templates: Arc::new(templates.clone()),
        stamp,
        robots: &robots,
        git_dates,
        arc: arc_publication::entry_scope(plan, state.published.arc.as_ref()),
    };
    let reading = read_all(&pass, sources, events)?;
    if reading.pages == 0 && plan.source == SourceKind::Lines && inventory.n_pages == 0 {
        return Err(BuildError::NoPages(plan.site.clone()));
    }
    Ok(reading)
}

/// Returns an error if the result of reading must not be published: it contains secrets, pages that are too large,
/// times in the future, or removes most pages.
pub(crate) fn check(
    plan: &BuildPlan,
    reading: &ReadTotals,
    events: &mut dyn BuildEvents,
) -> Result<(), BuildError> {
    let secrets = entities::find_secrets(plan);
    for (name, detail) in &secrets {
        events.finding(name, &Finding::new(&rules::SECRET, Place::WHOLE, detail.clone()));
    }
    let n_private = reading.private + secrets.len() as u64;
    if n_private != 0 {
        return Err(BuildError::PrivateData(n_private));
    }
    let oversize = reading.findings.get(rules::OVERSIZE.code).copied().unwrap_or(0);
    if oversize != 0 && plan.oversize == OversizePolicy::Stop {
        return Err(BuildError::Oversize(oversize));
    }
    if !plan.redate {
        saved_state::check_not_in_future(reading.newest, plan.now)?;
    }
    if !plan.allow_mass_delete {
        reading.guarded.check(reading.pages, reading.removed)?;
    }
    Ok(())
}

/// Returns the bytes of the site owner's robots.txt, or no bytes if it is missing. A robots.txt
/// that exists but cannot be read is an error.
fn read_robots(plan: &BuildPlan) -> Result<Vec<u8>, BuildError> {
    let path = plan.site.join("robots.txt");
    match rutter_root::read(&plan.site, "robots.txt") {
        Ok(bytes) => Ok(bytes),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(BuildError::Io(path, error)),
    }
}

/// A page of the window, with its old ledger row and the result of reading it.
struct PendingPage {
    url: String,
    path: Option<Box<str>>,
    old: Option<LedgerRow>,
    answer: Option<ReadAnswer>,
    /// Reason to exclude the page that follows from its URL.
    exclusion: Option<ExclusionReason>,
    /// Whether the page is in the ledger but no longer in the site.
    is_removed: bool,
}

fn read_all(
    input: &PassInput<'_>,
    sources: PageSources,
    events: &mut dyn BuildEvents,
) -> Result<ReadTotals, BuildError> {
    let reader = PageReader::new(input.plan, Arc::clone(&input.templates));
    let (jobs, job_queue) = mpsc::channel::<ReadJob>();
    let (answers, results) = mpsc::channel::<ReadAnswer>();
    let job_queue = Mutex::new(job_queue);
    thread::scope(|scope| {
        for _ in 0..input.plan.threads.max(1) {
            let (reader, job_queue, answers) = (&reader, &job_queue, answers.clone());
            scope.spawn(move || {
                loop {
                    let job = match job_queue.lock() {
                        Ok(job_queue) => job_queue.recv(),
                        Err(_) => return,
                    };
                    let Ok(job) = job else { return };
                    if answers.send(reader.read(&job)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(answers);
        let mut pass = ReadPass::open((input, &reader), sources, events)?;
        pass.run(&jobs, &results)?;
        drop(jobs);
        pass.finish()
    })
}

struct ReadPass<'s, 'l> {
    input: &'s PassInput<'s>,
    reader: &'s PageReader<'s>,
    sources: PageSources,
    next: Option<SourcePage>,
    rows: LedgerReader,
    next_row: Option<LedgerRow>,
    keys: CacheIndex,
    /// Reader of the old page cache for records that are copied to the new one.
    old: PageCacheReader,
    /// Reader of the old page cache for the findings of unchanged pages.
    finding_cache: PageCacheReader,
    /// Reader of the old page cache for pages that need a new visibility decision.
    visibility_cache: PageCacheReader,
    pack: PageCacheWriter,
    ledger: LedgerWriter,
    changes: BufWriter<File>,
    bits: BTreeMap<String, (usize, u64)>,
    events: &'l mut dyn BuildEvents,
    n_done: usize,
    unmatched: UnmatchedSelectors<'s>,
    reading: ReadTotals,
}

impl<'s, 'l> ReadPass<'s, 'l> {
    fn open(
        (input, reader): (&'s PassInput<'s>, &'s PageReader<'s>),
        mut sources: PageSources,
        events: &'l mut dyn BuildEvents,
    ) -> Result<Self, BuildError> {
        let mut rows = LedgerReader::open(&input.state.paths.ledger())?;
        let mut newest = None;
        let next_row = rows.next()?.map(|row| redated(input, &mut newest, row));
        let names = input.sections.names();
        let bits = names
            .iter()
            .enumerate()
            .map(|(at, name)| ((*name).to_owned(), (at, input.sections.bit(name))))
            .collect();
        let tallies = names.iter().copied().chain([ALL]).map(SectionTally::new).collect();
        Ok(Self {
            next: sources.next()?,
            sources,
            next_row,
            rows,
            keys: CacheIndex::open(&input.state.paths.pack())?,
            old: PageCacheReader::open(&input.state.paths.pack())?,
            finding_cache: PageCacheReader::open(&input.state.paths.pack())?,
            visibility_cache: PageCacheReader::open(&input.state.paths.pack())?,
            pack: PageCacheWriter::create(&input.state.draft.pack())?,
            ledger: LedgerWriter::create(&input.state.draft.ledger())?,
            changes: BufWriter::new(
                File::create(&input.state.draft.changes()).at(&input.state.draft.changes())?,
            ),
            bits,
            events,
            n_done: 0,
            unmatched: UnmatchedSelectors::new(input.plan),
            reading: ReadTotals {
                tallies,
                pages: 0,
                new: 0,
                changed: 0,
                removed: 0,
                read: 0,
                judged: 0,
                read_differently: 0,
                failed: 0,
                kept: 0,
                newest,
                guarded: MassChangeGuard::default(),
                source_bytes: 0,
                excluded: BTreeMap::new(),
                closed: 0,
                closed_pages: Vec::new(),
                password_pages: Vec::new(),
                used: BTreeSet::new(),
                findings: BTreeMap::new(),
                coverage: CoverageTally::default(),
                private: 0,
                is_ledger_changed: false,
                arc: ArcChanges::default(),
            },
            input,
            reader,
        })
    }

    fn run(
        &mut self,
        jobs: &mpsc::Sender<ReadJob>,
        results: &mpsc::Receiver<ReadAnswer>,
    ) -> Result<(), BuildError> {
        let mut pending: VecDeque<PendingPage> = VecDeque::new();
        // Position of the window's first page in the order of pages.
        let mut first = 0;
        loop {
            while pending.len() < WINDOW {
                let Some((entry, job)) = self.entry(first + pending.len())? else { break };
                pending.push_back(entry);
                if let Some(job) = job
                    && jobs.send(job).is_err()
                {
                    return Err(worker_error());
                }
            }
            let Some(front) = pending.front() else { return Ok(()) };
            if front.is_removed || front.answer.is_some() {
                if let Some(entry) = pending.pop_front() {
                    first += 1;
                    self.finish_page(entry)?;
                }
                continue;
            }
            let answer = results.recv().map_err(|_| worker_error())?;
            let at = answer.at - first;
            if let Some(entry) = pending.get_mut(at) {
                entry.answer = Some(answer);
            }
        }
    }

    fn read_next_row(&mut self) -> Result<Option<LedgerRow>, BuildError> {
        let row = self.rows.next()?;
        Ok(row.map(|row| redated(self.input, &mut self.reading.newest, row)))
    }

    /// Records the time of a page's removal in the tallies of its section and of `all`.
    fn record_removal(&mut self, row: &LedgerRow) {
        let all = self.reading.tallies.len() - 1;
        let of = self.bits.get(&row.section).map(|(at, _)| *at);
        for at in of.into_iter().chain([all]) {
            if let Some(tally) = self.reading.tallies.get_mut(at) {
                tally.last_removed = tally.last_removed.max(row.removed);
            }
        }
    }

    /// Returns the next page of the site or of the ledger, and the job to read it if it is in the
    /// site.
    fn entry(&mut self, at: usize) -> Result<Option<(PendingPage, Option<ReadJob>)>, BuildError> {
        let is_row_first = match (&self.next, &self.next_row) {
            (None, None) => return Ok(None),
            (Some(page), Some(row)) => row.url < page.url,
            (None, Some(_)) => true,
            (Some(_), None) => false,
        };
        if is_row_first {
            let row = self.next_row.take();
            self.next_row = self.read_next_row()?;
            let url = row.as_ref().map_or_else(String::new, |row| row.url.clone());
            let removed = PendingPage {
                url,
                path: None,
                old: row,
                answer: None,
                exclusion: None,
                is_removed: true,
            };
            return Ok(Some((removed, None)));
        }
        let Some(page) = self.next.take() else { return Ok(None) };
        self.next = self.sources.next()?;
        let old = self.next_row.take_if(|row| row.url == page.url);
        if old.is_some() {
            self.next_row = self.read_next_row()?;
        }
        let known = old.as_ref().map(KnownPage::of);
        let exclusion = exclusion::by_url(self.input.plan, self.input.robots, &page.url);
        let visibility_key = self.reader.visibility_key(&page.url, exclusion);
        let cached = self.keys.get(&page.url);
        let is_due =
            |cached: CacheEntry| cached.visibility_key != visibility_key && !self.input.plan.reread;
        let stored = match cached.filter(|it| known.is_some() && is_due(*it)) {
            Some(_) => self.visibility_cache.get(&page.url)?.cloned(),
            None => None,
        };
        let date = |dates: &NameTable<Timestamp>, name: &str| dates.get(name).copied();
        let job = ReadJob {
            at,
            cached,
            stored,
            visibility_key,
            exclusion,
            hints: dates::DateHints {
                own: None,
                sitemap: date(&self.input.inventory.previous_sitemap.dates, &page.url),
                git: page.path.as_deref().and_then(|path| date(&self.input.git_dates, path)),
            },
            url: page.url.clone(),
            from: page.from,
            known,
        };
        let (url, path, exclusion) = (page.url, page.path, job.exclusion);
        let pending = PendingPage { url, path, old, answer: None, exclusion, is_removed: false };
        Ok(Some((pending, Some(job))))
    }

    fn finish_page(&mut self, entry: PendingPage) -> Result<(), BuildError> {
        let PendingPage { url, path, old, answer, exclusion, .. } = entry;
        let Some(answer) = answer else {
            return old.as_ref().map_or(Ok(()), |row| self.remove_page(row));
        };
        self.n_done += 1;
        self.events.progress(self.n_done, self.input.inventory.n_pages);
        self.reading.source_bytes += answer.bytes;
        let place = path.as_deref().unwrap_or(&url).to_owned();
        match answer.outcome {
            ReadOutcome::Same => {
                let Some(old) = old else { return Ok(()) };
                // The visibility comes from the cached record, which is current. The ledger row may
                // come from a build that could not read the page.
                let exclusion =
                    self.finding_cache.get(&url)?.map(|record| record.meta.exclusion.as_deref());
                let visibility = exclusion.map_or(old.visibility, |exclusion| {
                    exclusion
                        .and_then(ExclusionReason::parse)
                        .map_or(Visibility::Public, ExclusionReason::visibility)
                });
                let new = LedgerRow { section: self.section(&url), visibility, ..old.clone() };
                self.keep_page(&place, &old, new)
            }
            ReadOutcome::Read(page) => {
                self.reading.read += 1;
                self.add_page(&place, url, old.as_ref(), &page)
            }
            ReadOutcome::Reevaluated(page) => {
                self.reading.judged += 1;
                self.add_page(&place, url, old.as_ref(), &page)
            }
            ReadOutcome::Failed(why) => {
                self.reading.failed += 1;
                self.report(&place, &rules::UNREADABLE, &why);
                // The published version is kept if the page cache still has its record.
                let has_record = old.is_some() && self.finding_cache.get(&url)?.is_some();
                match old {
                    Some(old) if has_record => {
                        self.reading.kept += 1;
                        let visibility =
                            exclusion.map_or(old.visibility, ExclusionReason::visibility);
                        let new =
                            LedgerRow { section: self.section(&url), visibility, ..old.clone() };
                        self.keep_page(&place, &old, new)
                    }
                    // The page cache does not have the content, so the page can neither be kept nor
                    // removed.
                    Some(old) if old.is_public() => Err(BuildError::Unreadable(place, why)),
                    Some(old) => self.remove_page(&old),
                    None => Ok(()),
                }
            }
        }
    }

    fn section(&self, url: &str) -> String {
        section::of_url(self.input.sections, &self.input.plan.base, url).to_owned()
    }

    fn bit(&self, section: &str) -> u64 {
        self.bits.get(section).map_or(1, |(_, bit)| *bit)
    }

    /// Adds a page whose cached record is kept.
    fn keep_page(
        &mut self,
        place: &str,
        old: &LedgerRow,
        new: LedgerRow,
    ) -> Result<(), BuildError> {
        let bit = self.bit(&new.section);
        self.report_cached_findings(place, old, &new)?;
        self.pack.keep(&new.url, bit, &mut self.old)?;
        let is_due = match self.input.arc {
            ArcEntryScope::Off => false,
            ArcEntryScope::Changed => {
                old.arc == NO_ARC_ENTRY
                    || old.visibility != new.visibility
                    || old.section != new.section
            }
            ArcEntryScope::All => true,
        };
        let mut new = new;
        if is_due {
            let record = self.finding_cache.get(&new.url)?;
            let entry = record.and_then(|record| arc_entry::entry(self.input.plan, &new, record));
            let version = ArcEntryVersion::next(
                ArcEntryVersion::parse(&old.arc),
                entry.as_ref().map(arc_entry::digest),
                self.input.stamp,
            );
            new.arc = ArcEntryVersion::to_column(version);
        }
        self.write_row(Some(old), new, false)
    }

    /// Reports the findings of an unchanged page again.
    fn report_cached_findings(
        &mut self,
        place: &str,
        old: &LedgerRow,
        row: &LedgerRow,
    ) -> Result<(), BuildError> {
        // The findings of a page are stored only in its record.
        let Some(record) = self.finding_cache.get(&row.url)? else { return Ok(()) };
        let (findings, exclusion) = (record.meta.findings.clone(), record.meta.exclusion.clone());
        let by = record.meta.exclusion_source.clone();
        if let Some(coverage) = record.meta.coverage.as_ref().filter(|_| exclusion.is_none()) {
            self.reading.coverage.add(place, coverage);
        }
        self.unmatched.note(&row.url, &record.meta.matched);
        self.report_findings(place, &findings);
        if let Some(exclusion) = exclusion.as_deref().and_then(ExclusionReason::parse) {
            self.guard(exclusion, &row.url, Some(old));
            self.exclude(place, exclusion, by.as_deref());
        }
        Ok(())
    }

    /// Counts an excluded page for the guard against mass changes, unless the site owner restricted
    /// its path.
    fn guard(&mut self, exclusion: ExclusionReason, url: &str, old: Option<&LedgerRow>) {
        let is_setting = exclusion == ExclusionReason::Restricted
            && exclusion::is_restricted(self.input.plan, url);
        if !is_setting {
            self.reading.guarded.exclude(exclusion, old);
        }
    }

    fn exclude(&mut self, place: &str, exclusion: ExclusionReason, by: Option<&str>) {
        let (reason, source) = (exclusion.as_str(), by.unwrap_or_default());
        self.events.excluded(&ExcludedPage { page: place, reason, source });
        let reading = &mut self.reading;
        *reading.excluded.entry(reason).or_default() += 1;
        if exclusion == ExclusionReason::Login
            && reading.password_pages.len() < BuildSummary::CLOSED_NAMED
        {
            reading.password_pages.push(place.to_owned());
        }
        if exclusion.needs_login() {
            reading.closed += 1;
            if reading.closed_pages.len() < BuildSummary::CLOSED_NAMED {
                reading.closed_pages.push(place.to_owned());
            }
        }
        if exclusion == ExclusionReason::Oversize {
            self.report(place, &rules::OVERSIZE, "");
        }
    }

    fn add_page(
        &mut self,
        place: &str,
        url: String,
        old: Option<&LedgerRow>,
        page: &ReadPage,
    ) -> Result<(), BuildError> {
        let section = self.section(&url);
        self.unmatched.note(&url, &page.record.meta.matched);
        self.report_findings(place, &page.record.meta.findings);
        if let Some(exclusion) = page.exclusion {
            self.guard(exclusion, &url, old);
            self.exclude(place, exclusion, page.record.meta.exclusion_source.as_deref());
        } else if let Some(coverage) = &page.record.meta.coverage {
            self.reading.coverage.add(place, coverage);
        }
        self.pack.push(&url, self.bit(&section), &page.record, &mut self.old)?;
        let stamp = self.input.stamp;
        let new = LedgerRow {
            visibility: page.exclusion.map_or(Visibility::Public, ExclusionReason::visibility),
            section,
            digest: page.digest,
            modified: page.modified,
            template: page.template,
            recorded: old.map_or(stamp, |old| old.recorded),
            first_seen: old.map_or(stamp, |old| old.first_seen),
            removed: old.and_then(|old| old.removed),
            date_source: old.map_or(page.date_source, |old| old.date_source),
            arc: old.map_or_else(|| "-".to_owned(), |old| old.arc.clone()),
            url,
        };
        let mut new = new;
        if self.input.arc != ArcEntryScope::Off {
            let entry = arc_entry::entry(self.input.plan, &new, &page.record);
            let old = old.and_then(|old| ArcEntryVersion::parse(&old.arc));
            new.arc = ArcEntryVersion::to_column(ArcEntryVersion::next(
                old,
                entry.as_ref().map(arc_entry::digest),
                stamp,
            ));
        }
        self.write_row(old, new, page.is_same_source)
    }

    /// Writes the ledger row of a page that is no longer part of the site.
    fn remove_page(&mut self, old: &LedgerRow) -> Result<(), BuildError> {
        if old.visibility == Visibility::Removed {
            let age = old.removed.map_or(0, |at| self.input.plan.now.seconds_since(at));
            if REMEMBERED_DAYS * 86_400 < age {
                self.reading.is_ledger_changed = true;
                return Ok(());
            }
            // The ARC version is updated here, because the ARC layer may have been off when the
            // page was removed.
            let mut kept = old.clone();
            if self.input.arc != ArcEntryScope::Off {
                kept.arc = ArcEntryVersion::to_column(ArcEntryVersion::next(
                    ArcEntryVersion::parse(&old.arc),
                    None,
                    self.input.stamp,
                ));
            }
            self.reading.is_ledger_changed |= kept != *old;
            self.reading.arc.had_entries |= old.arc != NO_ARC_ENTRY;
            self.reading.arc.last = self
                .reading
                .arc
                .last
                .max(ArcEntryVersion::parse(&kept.arc).map(|version| version.at));
            self.record_removal(&kept);
            return Ok(self.ledger.push(&kept)?);
        }
        let stamp = self.input.stamp;
        let mut new =
            LedgerRow { visibility: Visibility::Removed, removed: Some(stamp), ..old.clone() };
        if self.input.arc != ArcEntryScope::Off {
            new.arc = ArcEntryVersion::to_column(ArcEntryVersion::next(
                ArcEntryVersion::parse(&old.arc),
                None,
                stamp,
            ));
        }
        self.write_row(Some(old), new, false)
    }

    /// Writes the row of a page and counts the page in its sections.
    fn write_row(
        &mut self,
        old: Option<&LedgerRow>,
        mut new: LedgerRow,
        is_same_source: bool,
    ) -> Result<(), BuildError> {
        let stamp = self.input.stamp;
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
        self.record_removal(&new);
        let all = self.reading.tallies.len() - 1;
        // A section that no longer exists has no tally.
        let place = |section: &str| self.bits.get(section).map(|(at, _)| *at);
        let (from, to) = (was.and_then(|was| place(&was.section)), place(&new.section));
        if let Some(was) = was {
            let holds_excluded = !is_public && new.visibility != Visibility::Removed;
            for at in from.into_iter().chain([all]) {
                let tally = &mut self.reading.tallies[at];
                tally.before.add(&was.url, was.digest);
                tally.holds_excluded |= holds_excluded;
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
                // For the section `all`, a page that only moved to another section is unchanged.
                let is_new = new.recorded == stamp && (at != all || is_edited || !is_moved);
                tally.changed += u64::from(is_new);
            }
        }
        self.count(was.is_some(), is_edited && is_public, is_same_source, &new)?;
        self.reading.is_ledger_changed |= old != Some(&new);
        self.reading.used.extend(new.template);
        // Published ARC entries that contain more than the page now allows must be withdrawn.
        let withdraws_arc_entries = new.visibility != Visibility::Removed
            && old.is_some_and(|old| {
                let had = |row: &LedgerRow| {
                    ArcEntryVersion::parse(&row.arc).is_some_and(|it| it.digest.is_some())
                };
                old.visibility.shows_content() && !new.visibility.shows_content()
                    || had(old) && !had(&new)
            });
        self.reading.arc.withdraws_entries |= withdraws_arc_entries;
        self.reading.arc.had_entries |= old.is_some_and(|old| old.arc != NO_ARC_ENTRY);
        self.reading.arc.last =
            self.reading.arc.last.max(ArcEntryVersion::parse(&new.arc).map(|version| version.at));
        Ok(self.ledger.push(&new)?)
    }

    fn count(
        &mut self,
        was_public: bool,
        is_edited: bool,
        is_same_source: bool,
        new: &LedgerRow,
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
            writeln!(self.changes, "{what}\t{}", new.url).at(&self.input.state.draft.changes())?;
        }
        Ok(())
    }

    fn report_findings(&mut self, place: &str, findings: &[(String, String)]) {
        for (code, detail) in findings {
            let tables = [
                rules::ALL,
                rutter_extract::rules::ALL,
                rutter_extract::safety::ALL,
                rutter_page::rules::ALL,
                rutter_arc::rules::ALL,
            ];
            let rule = tables.into_iter().flatten().find(|rule| rule.code == code);
            let is_off = self.input.arc == ArcEntryScope::Off && code.starts_with("AR");
            if let Some(rule) = rule.filter(|_| !is_off) {
                self.report(place, rule, detail);
            }
            let is_merged = *code == rutter_extract::rules::MERGED.code;
            if is_merged && self.input.plan.oversize == OversizePolicy::Stop {
                self.report(place, &rules::OVERSIZE, detail);
            }
        }
    }

    fn report(&mut self, place: &str, rule: &'static Rule, detail: &str) {
        let privacy = &self.input.plan.privacy;
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
        self.events.finding(place, &Finding::new(rule, Place::WHOLE, detail));
    }

    fn finish(mut self) -> Result<ReadTotals, BuildError> {
        for detail in self.unmatched.details() {
            self.report("[extract]", &rutter_extract::rules::SELECTOR_UNMATCHED, &detail);
        }
        self.pack.finish(&mut self.old)?;
        self.ledger.finish()?;
        self.changes.flush().at(&self.input.state.draft.changes())?;
        Ok(self.reading)
    }
}

fn worker_error() -> BuildError {
    BuildError::Io(
        Path::new("reading pages").to_owned(),
        io::Error::other("a worker thread exited unexpectedly"),
    )
}
