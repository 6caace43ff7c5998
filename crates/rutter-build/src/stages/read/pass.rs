//! One pass over all pages in the order of URLs.
//!
//! Threads read the pages of a window in any order; the results are used in the order of URLs, so that the output does
//! not depend on timing.

mod findings;
mod rows;

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use rutter_extract::TemplateSet;
use rutter_page::Timestamp;
use rutter_robots::RobotsTxt;
use rutter_site::{
    ALL, CacheEntry, CacheIndexReader, ExclusionReason, LedgerReader, LedgerRow, LedgerWriter,
    PageCacheReader, PageCacheWriter, Sections, Visibility,
};

use crate::arc_publication::ArcEntryScope;
use crate::error::{BuildError, IoErrorContext};
use crate::name_table::NameTable;
use crate::plan::BuildPlan;
use crate::stages::inventory::Inventory;
use crate::stages::inventory::sources::{PageSources, SourcePage};
use crate::stages::read::dates;
use crate::stages::read::page_reader::PageReader;
use crate::stages::read::read_job::{LedgerPage, ReadJob, ReadOutcome, ReadResult};
use crate::stages::read::redate::redated;
use crate::stages::read::tally::SectionTally;
use crate::stages::read::totals::ReadTotals;
use crate::stages::read::unmatched_selectors::UnmatchedSelectors;
use crate::state::SavedState;
use crate::summary::BuildEvents;
use crate::{exclusion, rules};

/// Maximum number of pages that are read at the same time or wait for earlier pages.
const WINDOW: usize = 128;

/// Inputs of one pass over all pages.
#[derive(Debug)]
pub(super) struct PassInput<'p> {
    pub(super) plan: &'p BuildPlan,
    pub(super) state: &'p SavedState<'p>,
    pub(super) inventory: &'p Inventory,
    pub(super) sections: &'p Sections,
    pub(super) templates: Arc<TemplateSet>,
    pub(super) stamp: Timestamp,
    pub(super) robots: &'p RobotsTxt,
    pub(super) git_dates: NameTable<Timestamp>,
    /// Which ARC entries this build must make.
    pub(super) arc: ArcEntryScope,
}

/// A page of the window, with its old ledger row and the result of reading it.
struct PendingPage {
    url: String,
    path: Option<Box<str>>,
    old: Option<LedgerRow>,
    answer: Option<ReadResult>,
    /// Reason to exclude the page that follows from its URL.
    exclusion: Option<ExclusionReason>,
    /// Whether the page is in the ledger but no longer in the site.
    is_removed: bool,
}

pub(super) fn read_all(
    input: &PassInput<'_>,
    sources: PageSources,
    events: &mut dyn BuildEvents,
) -> Result<ReadTotals, BuildError> {
    let reader = PageReader::new(input.plan, Arc::clone(&input.templates));
    let (jobs, job_queue) = mpsc::channel::<ReadJob>();
    let (answers, results) = mpsc::channel::<ReadResult>();
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
    old_rows: OldRows,
    old_cache: OldCache,
    new: NewFiles,
    /// Position and bit of each section, by name.
    bits: BTreeMap<String, (usize, u64)>,
    events: &'l mut dyn BuildEvents,
    n_done: usize,
    unmatched: UnmatchedSelectors<'s>,
    reading: ReadTotals,
}

/// The ledger of the last build, with its next row.
struct OldRows {
    reader: LedgerReader,
    next: Option<LedgerRow>,
}

/// Readers of the page cache of the last build; each one reads forward only.
struct OldCache {
    keys: CacheIndexReader,
    /// For records that are copied to the new cache.
    copied: PageCacheReader,
    /// For the findings of unchanged pages.
    findings: PageCacheReader,
    /// For pages that need a new visibility decision.
    visibility: PageCacheReader,
}

/// The files that the pass writes.
struct NewFiles {
    pack: PageCacheWriter,
    ledger: LedgerWriter,
    changes: BufWriter<File>,
}

impl<'s, 'l> ReadPass<'s, 'l> {
    fn open(
        (input, reader): (&'s PassInput<'s>, &'s PageReader<'s>),
        mut sources: PageSources,
        events: &'l mut dyn BuildEvents,
    ) -> Result<Self, BuildError> {
        let mut rows = LedgerReader::open(&input.state.paths.ledger())?;
        let mut newest = None;
        let next_row = rows.next_row()?.map(|row| redated(input.plan, &mut newest, row));
        let (old_pack, changes) = (input.state.paths.pack(), input.state.draft.changes());
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
            old_rows: OldRows { reader: rows, next: next_row },
            old_cache: OldCache {
                keys: CacheIndexReader::open(&old_pack)?,
                copied: PageCacheReader::open(&old_pack)?,
                findings: PageCacheReader::open(&old_pack)?,
                visibility: PageCacheReader::open(&old_pack)?,
            },
            new: NewFiles {
                pack: PageCacheWriter::create(&input.state.draft.pack())?,
                ledger: LedgerWriter::create(&input.state.draft.ledger())?,
                changes: BufWriter::new(File::create(&changes).at(&changes)?),
            },
            bits,
            events,
            n_done: 0,
            unmatched: UnmatchedSelectors::new(input.plan),
            reading: ReadTotals { tallies, newest, ..ReadTotals::default() },
            input,
            reader,
        })
    }

    fn run(
        &mut self,
        jobs: &mpsc::Sender<ReadJob>,
        results: &mpsc::Receiver<ReadResult>,
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
        let row = self.old_rows.reader.next_row()?;
        Ok(row.map(|row| redated(self.input.plan, &mut self.reading.newest, row)))
    }

    /// Returns the next page of the site or of the ledger, and the job to read it if it is in the
    /// site.
    fn entry(&mut self, at: usize) -> Result<Option<(PendingPage, Option<ReadJob>)>, BuildError> {
        let is_row_first = match (&self.next, &self.old_rows.next) {
            (None, None) => return Ok(None),
            (Some(page), Some(row)) => row.url < page.url,
            (None, Some(_)) => true,
            (Some(_), None) => false,
        };
        if is_row_first {
            let row = self.old_rows.next.take();
            self.old_rows.next = self.read_next_row()?;
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
        let old = self.old_rows.next.take_if(|row| row.url == page.url);
        if old.is_some() {
            self.old_rows.next = self.read_next_row()?;
        }
        let known = old.as_ref().map(LedgerPage::of);
        let exclusion = exclusion::by_url(self.input.plan, self.input.robots, &page.url);
        let visibility_key = self.reader.visibility_key(&page.url, exclusion);
        let cached = self.old_cache.keys.get(&page.url);
        let is_due =
            |cached: CacheEntry| cached.visibility_key != visibility_key && !self.input.plan.reread;
        let stored = match cached.filter(|it| known.is_some() && is_due(*it)) {
            Some(_) => self.old_cache.visibility.get(&page.url)?.cloned(),
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
        self.reading.counts.source_bytes += answer.bytes;
        let place = path.as_deref().unwrap_or(&url).to_owned();
        match answer.outcome {
            ReadOutcome::Same => {
                let Some(old) = old else { return Ok(()) };
                // The visibility comes from the cached record, which is current. The ledger row may
                // come from a build that could not read the page.
                let exclusion = self
                    .old_cache
                    .findings
                    .get(&url)?
                    .map(|record| record.meta.exclusion.as_deref());
                let visibility = exclusion.map_or(old.visibility, |exclusion| {
                    exclusion
                        .and_then(ExclusionReason::parse)
                        .map_or(Visibility::Public, ExclusionReason::visibility)
                });
                let new = LedgerRow { section: self.section(&url), visibility, ..old.clone() };
                self.keep_page(&place, &old, new)
            }
            ReadOutcome::Read(page) => {
                self.reading.counts.read += 1;
                self.add_page(&place, url, old.as_ref(), &page)
            }
            ReadOutcome::Reevaluated(page) => {
                self.reading.counts.judged += 1;
                self.add_page(&place, url, old.as_ref(), &page)
            }
            ReadOutcome::Failed(why) => {
                self.reading.counts.failed += 1;
                self.report(&place, &rules::UNREADABLE, &why);
                // The published version is kept if the page cache still has its record.
                let has_record = old.is_some() && self.old_cache.findings.get(&url)?.is_some();
                match old {
                    Some(old) if has_record => {
                        self.reading.counts.kept += 1;
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

    fn finish(mut self) -> Result<ReadTotals, BuildError> {
        for detail in self.unmatched.details() {
            self.report("[extract]", &rutter_extract::rules::SELECTOR_UNMATCHED, &detail);
        }
        self.new.pack.finish(&mut self.old_cache.copied)?;
        self.new.ledger.finish()?;
        self.new.changes.flush().at(&self.input.state.draft.changes())?;
        Ok(self.reading)
    }
}

fn worker_error() -> BuildError {
    BuildError::Io(
        Path::new("reading pages").to_owned(),
        io::Error::other("a worker thread exited unexpectedly"),
    )
}
