//! Pages one by one: where no collection can be used, or none is offered.
//!
//! ```text
//! Frontier ─→ fetch (one connection, or several where the pace is 0) ─→ Raw ─→ workers ─→ Ready ─→ Writer
//!     ↑                                                                            └─ links ─┐
//!     └──────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Refuses: to remove a page unless the site says that it is gone, or every
//! list was read to its end; to leave anything out without counting it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rutter_discover::{Discovery, Rung};
use rutter_extract::{Limits, Sketch, Templates, Use};
use rutter_fetch::{
    Body, Cause, FetchError, Fetched, Probe, Refused, Request, Url, Validators, What,
};
use rutter_page::PageUrl;
use rutter_scp::MassDeletion;
use rutter_store::{
    Begin, Cause as Why, CommitError, Finish, Mode, Outlook, PageRow, Source, Validator, Withheld,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, JoinSet};

use crate::collect::{Ended, told};
use crate::consent::{Statement, signals_of_robots};
use crate::error::VisitError;
use crate::frontier::{Frontier, Target};
use crate::gate::key_of;
use crate::layers::Gathered;
use crate::options::Event;
use crate::page::{self, Raw, Ready};
use crate::plan::Reason;
use crate::report::{Better, Kind};
use crate::tally::counted;
use crate::urls;
use crate::visit::{Visit, WEB};
use crate::writer::{Write, Writer};

/// Faults of the network in a row after which a host is left alone.
const MOST_FAULTS: u32 = 5;
/// Links from the home page that are followed.
const DEEPEST: u32 = 20;
/// However fresh a list says a page is, it is asked for after this, in seconds.
const TRUSTED_FOR: i64 = 30 * 86_400;
/// How often what was read is committed, at the latest.
const COMMITTED_EVERY: Duration = Duration::from_mins(1);
/// Bytes of pages that wait for the templates.
const SAMPLE_BYTES: usize = 64 << 20;
/// The file of a publisher's templates.
const TEMPLATES: &str = "templates.json";

/// What a worker tells about a page beside the page.
struct Note {
    depth: u32,
    links: Vec<String>,
    /// The page, and where its twin is.
    twin: Option<(PageUrl<'static>, String)>,
    failed: Option<String>,
}

/// A page that is being asked for.
struct Asked {
    target: Target,
    row: Option<PageRow>,
    answer: Result<Fetched, FetchError>,
}

/// Reads pages one by one.
pub(crate) async fn crawl(
    visit: &mut Visit<'_>,
    found: &mut Discovery,
    gathered: Gathered,
    ended: &Ended,
    rung: Rung,
) -> Result<(), VisitError> {
    let gate = Arc::clone(&visit.gate);
    let mut frontier = Frontier::new(&gate, visit.visitor.options.most_pages);
    let is_whole = urls::fill(visit, found, gathered, rung, &mut frontier).await?;
    let healthy = healthy(visit, ended)?;
    for section in ended.failed.keys() {
        for key in urls::keys(visit, section)? {
            frontier.add(&key, None, None);
        }
    }
    let probe = found.memory.probe.as_ref().map(|(_, probe)| probe.clone());
    let mut walk = Walk::start(visit, rung, frontier, healthy, probe).await?;
    if rung == Rung::Arc {
        walk.take_snapshots()?;
    }
    walk.run().await?;
    let Walk { frontier, gone, is_stopped, .. } = walk.end().await?;
    let is_whole = is_whole && !is_stopped;
    remove(visit, ended, &frontier, &gone, is_whole)?;
    let publisher = visit.visitor.store.publisher(&visit.origin)?;
    let (pages, bytes) = publisher.map_or((0, 0), |it| (it.pages, it.bytes));
    if 0 < pages && visit.report.rung != Rung::Scp {
        // robots.txt, the sitemap, one collection.
        visit.report.better = Some(Better { rung: Rung::Scp, requests: 3, bytes });
    }
    Ok(())
}

/// Pages that collections keep up to date.
fn healthy(visit: &Visit<'_>, ended: &Ended) -> Result<BTreeSet<String>, VisitError> {
    let mut healthy = BTreeSet::new();
    for section in visit.visitor.store.sections(visit.publisher)? {
        if section.name != WEB && !ended.failed.contains_key(&section.name) {
            healthy.extend(urls::keys(visit, &section.name)?);
        }
    }
    Ok(healthy)
}

/// Pages that templates are learned from: those still wanted, those that
/// wait, and their bytes.
type Sample = (BTreeSet<String>, Vec<(Raw, u32)>, usize);

struct Walk<'w, 'v, 'g> {
    visit: &'w mut Visit<'v>,
    rung: Rung,
    frontier: Frontier<'g>,
    healthy: BTreeSet<String>,
    probe: Option<Probe>,
    /// robots.txt, where it has signals.
    signals: Option<String>,
    template: Use,
    /// Pages whose answers wait for the templates, and those still wanted.
    sample: Option<Sample>,
    jobs: Option<tokio::sync::mpsc::Sender<(Raw, u32)>>,
    writes: Option<SyncSender<Write>>,
    notes: UnboundedReceiver<Note>,
    writer: JoinHandle<Result<Outlook, VisitError>>,
    workers: Vec<JoinHandle<()>>,
    n_reading: u64,
    n_done: u64,
    n_faults: u32,
    gone: BTreeSet<String>,
    is_stopped: bool,
    committed: Duration,
}

impl<'w, 'v, 'g> Walk<'w, 'v, 'g> {
    async fn start(
        visit: &'w mut Visit<'v>,
        rung: Rung,
        mut frontier: Frontier<'g>,
        healthy: BTreeSet<String>,
        probe: Option<Probe>,
    ) -> Result<Self, VisitError> {
        let robots = visit.visitor.client.robots_file(&visit.site).await;
        let robots = robots.map(|file| String::from_utf8_lossy(&file.body).into_owned());
        let signals = robots.filter(|text| text.to_ascii_lowercase().contains("content-signal"));
        let templates: Templates = visit.shelf.read(TEMPLATES).unwrap_or_default();
        let is_listed = matches!(rung, Rung::Sitemap | Rung::Arc | Rung::Scp);
        let (template, sample) = if !templates.is_empty() {
            (Use::Fitting(Arc::new(templates)), None)
        } else if is_listed {
            (Use::Nothing, Some((frontier.sample_first(), Vec::new(), 0)))
        } else {
            (Use::Nothing, None)
        };
        let (jobs, jobs_in) = tokio::sync::mpsc::channel::<(Raw, u32)>(64);
        let (writes, writes_in) = sync_channel::<Write>(256);
        let (notes_out, notes) = unbounded_channel();
        let writer = Writer {
            store: Arc::clone(&visit.visitor.store),
            lease: visit.hold.lease().clone(),
            quota: visit.visitor.options.quota,
            now: visit.now,
        };
        let writer = tokio::task::spawn_blocking(move || writer.run(&writes_in));
        let jobs_in = Arc::new(Mutex::new(jobs_in));
        let n_workers = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = (0..n_workers)
            .map(|_| {
                let (jobs, writes, notes) =
                    (Arc::clone(&jobs_in), writes.clone(), notes_out.clone());
                tokio::task::spawn_blocking(move || {
                    loop {
                        let job =
                            jobs.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
                        let Some((raw, depth)) = job else { return };
                        work(raw, depth, &writes, &notes);
                    }
                })
            })
            .collect();
        let committed = visit.visitor.client.means().clock.moment();
        Ok(Self {
            visit,
            rung,
            frontier,
            healthy,
            probe,
            signals,
            template,
            sample,
            jobs: Some(jobs),
            writes: Some(writes),
            notes,
            writer,
            workers,
            n_reading: 0,
            n_done: 0,
            n_faults: 0,
            gone: BTreeSet::new(),
            is_stopped: false,
            committed,
        })
    }

    /// Pages whose ARC entries have snapshots need no request (ARC-058).
    fn take_snapshots(&mut self) -> Result<(), VisitError> {
        let visit = &*self.visit;
        let (store, writes) = (&visit.visitor.store, &self.writes);
        let mut failed = None;
        urls::for_each_entry(visit, |entry| {
            let key = entry.url.key().to_owned();
            let checksum = entry.ai_checksum.as_ref().map(ToString::to_string);
            let known = store.validator(&arc_mark(&key)).and_then(|mark| {
                let row = store.page(&key)?.filter(|row| row.publisher == visit.publisher);
                Ok((mark.and_then(|mark| mark.etag), row))
            });
            let (mark, row) = match known {
                Ok(known) => known,
                Err(error) => return failed = Some(error),
            };
            if row.is_some() && checksum.is_some() && mark == checksum {
                return;
            }
            if let Some(mut page) = page::of_snapshot(&entry, row.as_ref(), visit.now) {
                let url = arc_mark(&key);
                let (etag, checked) = (checksum, visit.now);
                page.marks = vec![Validator { url, etag, last_modified: None, checked }];
                if let Some(writes) = writes {
                    // Where the writer has gone, it says why at the end.
                    drop(writes.send(Write::Page(Box::new(page))));
                }
            }
        })?;
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    async fn run(&mut self) -> Result<(), VisitError> {
        let settings = self.visit.visitor.client.settings();
        let most = if settings.pace.is_zero() { settings.connections.max(1) } else { 1 };
        let mut asking: JoinSet<Asked> = JoinSet::new();
        loop {
            while let Ok(note) = self.notes.try_recv() {
                self.take_note(note, &mut asking)?;
            }
            while asking.len() < most && !self.is_stopped {
                let Some(target) = self.frontier.next() else { break };
                self.ask(target, &mut asking)?;
            }
            if let Some(asked) = asking.join_next().await {
                let asked = asked.map_err(|_| VisitError::Worker)?;
                self.take(asked).await?;
                continue;
            }
            if self.sample.is_some() {
                self.learn().await?;
                continue;
            }
            if self.n_reading == 0 {
                return Ok(());
            }
            let Some(note) = self.notes.recv().await else { return Err(VisitError::Worker) };
            self.take_note(note, &mut asking)?;
        }
    }

    /// Ends the threads, and counts what they did.
    async fn end(mut self) -> Result<Self, VisitError> {
        self.jobs = None;
        for worker in std::mem::take(&mut self.workers) {
            worker.await.map_err(|_| VisitError::Worker)?;
        }
        self.writes = None;
        let outlook = (&mut self.writer).await.map_err(|_| VisitError::Worker)??;
        self.visit.report.count(&outlook);
        for (reason, n) in &self.frontier.left_out {
            *self.visit.report.left_out.entry(reason.clone()).or_default() += n;
        }
        Ok(self)
    }

    /// Asks for a page, unless what is here is known to be right.
    fn ask(&mut self, target: Target, asking: &mut JoinSet<Asked>) -> Result<(), VisitError> {
        let visit = &mut *self.visit;
        let key = target.url.as_str();
        if self.healthy.contains(key) {
            return Ok(());
        }
        if visit.gate.judge(key) == Some(Withheld::Consent) {
            visit.report.leave_out("ARC says that it is not for us");
            return Ok(());
        }
        let store = &visit.visitor.store;
        let row = store.page(key)?.filter(|row| row.publisher == visit.publisher);
        let known = store.validator(key)?;
        if row.as_ref().is_some_and(|row| is_current(visit, &target, row, known.as_ref())) {
            self.n_done += 1;
            return Ok(());
        }
        if target.checksum.is_some() && row.is_some() {
            let mark = store.validator(&arc_mark(key))?;
            if mark.and_then(|mark| mark.etag) == target.checksum {
                self.n_done += 1;
                return Ok(());
            }
        }
        let has_words =
            row.as_ref().is_some_and(|row| row.source != Source::Scp && row.withheld.is_none());
        let known = known
            .filter(|_| has_words)
            .map(|known| Validators { etag: known.etag, last_modified: known.last_modified });
        let request = Request {
            known: known.unwrap_or_default(),
            site: Some(visit.site.clone()),
            ..Request::new(target.url.clone(), What::Page)
        };
        let (client, tally) = (visit.visitor.client.clone(), Arc::clone(&visit.tally));
        asking.spawn(async move {
            let answer = counted(&tally, client.fetch(&request)).await;
            Asked { target, row, answer }
        });
        Ok(())
    }

    async fn take(&mut self, asked: Asked) -> Result<(), VisitError> {
        let Asked { target, row, answer } = asked;
        self.n_done += 1;
        let (done, known) = (self.n_done, self.frontier.n_known());
        self.visit.watcher.event(&self.visit.origin, Event::Pages { done, known });
        self.commit_in_time();
        let key = target.url.as_str().to_owned();
        if let Some((wanted, ..)) = &mut self.sample {
            wanted.remove(&key);
        }
        match answer {
            Ok(answer) => {
                self.n_faults = 0;
                self.visit.tally.add_bytes(answer.wire_bytes);
                self.take_answer(target, row, answer).await?;
            }
            Err(error) => self.take_error(&key, row.as_ref(), &error)?,
        }
        if self
            .sample
            .as_ref()
            .is_some_and(|(wanted, _, size)| wanted.is_empty() || SAMPLE_BYTES < *size)
        {
            self.learn().await?;
        }
        Ok(())
    }

    async fn take_answer(
        &mut self,
        target: Target,
        row: Option<PageRow>,
        answer: Fetched,
    ) -> Result<(), VisitError> {
        let key = target.url.as_str().to_owned();
        let now = self.visit.now;
        let mut marks = vec![Validator {
            url: key.clone(),
            etag: answer.validators.etag.clone(),
            last_modified: answer.validators.last_modified.clone(),
            checked: now,
        }];
        if let Some(checksum) = target.checksum {
            let url = arc_mark(&key);
            marks.push(Validator { url, etag: Some(checksum), last_modified: None, checked: now });
        }
        if answer.is_unchanged() {
            return self.write(Write::Mark(marks)).await;
        }
        if matches!(answer.status, 404 | 410) {
            self.visit.report.leave_out(format!("status {}", answer.status));
            self.gone.insert(key);
            return Ok(());
        }
        if !answer.is_new() || answer.body == Body::Nothing {
            self.visit.report.leave_out(format!("status {}", answer.status));
            return Ok(());
        }
        let Some(found) = key_of(answer.url.as_str()).filter(|key| self.visit.gate.is_ours(key))
        else {
            self.visit.report.leave_out("it leads to another site");
            return Ok(());
        };
        let is_lost = |probe: &Probe| {
            probe.is_soft() && probe.is_lost_page(&answer.text(What::Page).unwrap_or_default())
        };
        if self.probe.as_ref().is_some_and(is_lost) {
            self.visit.report.leave_out("it is the page for unknown addresses");
            return Ok(());
        }
        if let Some(page) = target.stands_for {
            let raw = self.raw(page, answer, None, Vec::new());
            return self.hand_over(raw, target.depth).await;
        }
        if found != key {
            // It moved: the new address stands for it.
            self.gone.insert(key);
            self.frontier.note(&found);
        }
        let Ok(url) = PageUrl::parse(found.clone()) else { return Ok(()) };
        let row = row.filter(|row| row.url == found);
        let raw = self.raw(url, answer, row, marks);
        self.hand_over(raw, target.depth).await
    }

    fn raw(
        &self,
        url: PageUrl<'static>,
        answer: Fetched,
        row: Option<PageRow>,
        marks: Vec<Validator>,
    ) -> Raw {
        let token = self.visit.visitor.client.settings().token().to_owned();
        let path = answer.url.path();
        let said = self
            .signals
            .as_deref()
            .map_or_else(Vec::<Statement>::new, |robots| signals_of_robots(robots, &token, path));
        let (template, now) = (self.template.clone(), self.visit.now);
        Raw { url, answer, row, said, template, token, now, marks }
    }

    /// Gives a page to the workers, or keeps it until the templates are known.
    async fn hand_over(&mut self, raw: Raw, depth: u32) -> Result<(), VisitError> {
        if let Some((_, waiting, size)) = &mut self.sample {
            if let Body::Memory(bytes) = &raw.answer.body {
                *size += bytes.len();
            }
            waiting.push((raw, depth));
            return Ok(());
        }
        self.n_reading += 1;
        let Some(jobs) = &self.jobs else { return Err(VisitError::Worker) };
        jobs.send((raw, depth)).await.map_err(|_| VisitError::Worker)
    }

    /// Learns what the pages of the site have in common, and lets those go
    /// that waited for it.
    async fn learn(&mut self) -> Result<(), VisitError> {
        let Some((_, waiting, _)) = self.sample.take() else { return Ok(()) };
        let (waiting, templates) = tokio::task::spawn_blocking(move || {
            let sketches: Vec<Sketch> = waiting.iter().filter_map(|(raw, _)| sketch(raw)).collect();
            let mut templates = Templates::default();
            templates.adapt(&sketches, &[]);
            (waiting, templates)
        })
        .await
        .map_err(|_| VisitError::Worker)?;
        if !templates.is_empty() {
            self.visit.shelf.write(TEMPLATES, &templates)?;
            self.template = Use::Fitting(Arc::new(templates));
        }
        for (mut raw, depth) in waiting {
            raw.template = self.template.clone();
            self.hand_over(raw, depth).await?;
        }
        Ok(())
    }

    fn take_error(
        &mut self,
        key: &str,
        row: Option<&PageRow>,
        error: &FetchError,
    ) -> Result<(), VisitError> {
        let text = told(&error.cause);
        match &error.cause {
            Cause::Refused(Refused::Robots(reason)) => {
                self.visit.report.leave_out("robots.txt forbids it");
                let is_rule = matches!(reason, rutter_fetch::RobotsReason::Rule { .. });
                if is_rule && row.is_some_and(|row| row.withheld.is_none()) {
                    let lease = self.visit.hold.lease();
                    let pages = [(key, Withheld::Robots)];
                    let n = self.visit.visitor.store.withhold(lease, &pages, self.visit.now)?;
                    self.visit.report.withheld += n;
                }
            }
            Cause::Refused(Refused::TooSlow(_)) => {
                self.is_stopped = true;
                self.visit.report.trouble(&error.url, Kind::Policy, text);
            }
            Cause::Refused(_) => self.visit.report.leave_out(text),
            Cause::Later { .. } => {
                self.is_stopped = true;
                self.visit.fetch_trouble(error)?;
            }
            Cause::Answer(_) => self.visit.report.leave_out(text),
            _ => {
                self.n_faults += 1;
                self.visit.report.leave_out("the network failed");
                if MOST_FAULTS <= self.n_faults {
                    self.is_stopped = true;
                    self.visit.fetch_trouble(error)?;
                }
            }
        }
        Ok(())
    }

    fn take_note(&mut self, note: Note, asking: &mut JoinSet<Asked>) -> Result<(), VisitError> {
        self.n_reading = self.n_reading.saturating_sub(1);
        if let Some(reason) = note.failed {
            self.visit.report.leave_out(reason);
        }
        if matches!(self.rung, Rung::Links | Rung::Nothing) && note.depth < DEEPEST {
            for link in &note.links {
                self.frontier.follow(link, note.depth + 1);
            }
        }
        if let Some((page, twin)) = note.twin
            && let Ok(url) = Url::parse(&twin)
            && key_of(&twin).is_some_and(|key| self.visit.gate.is_ours(&key))
            && !self.is_stopped
        {
            let (lastmod, checksum, stands_for) = (None, None, Some(page));
            let target = Target { url, lastmod, checksum, depth: DEEPEST, stands_for };
            self.ask(target, asking)?;
        }
        Ok(())
    }

    async fn write(&mut self, write: Write) -> Result<(), VisitError> {
        let Some(writes) = self.writes.clone() else { return Err(VisitError::Worker) };
        let sent = tokio::task::spawn_blocking(move || writes.send(write).is_ok());
        if sent.await.map_err(|_| VisitError::Worker)? { Ok(()) } else { Err(VisitError::Worker) }
    }

    /// Has what was read committed, where that was long ago.
    fn commit_in_time(&mut self) {
        let moment = self.visit.visitor.client.means().clock.moment();
        if self.committed + COMMITTED_EVERY <= moment
            && let Some(writes) = &self.writes
            && writes.try_send(Write::Commit).is_ok()
        {
            self.committed = moment;
        }
    }
}

/// Reads one page and hands it on.
fn work(raw: Raw, depth: u32, writes: &SyncSender<Write>, notes: &UnboundedSender<Note>) {
    let url = raw.url.clone();
    let note = match page::read(raw) {
        Ok(mut page) => {
            let links = std::mem::take(&mut page.links);
            let twin = page.twin.take().map(|twin| (url, twin));
            let page: Box<Ready> = Box::new(page);
            let failed = writes.send(Write::Page(page)).err().map(|_| "it was not written".into());
            Note { depth, links, twin, failed }
        }
        Err(reason) => Note { depth, links: Vec::new(), twin: None, failed: Some(reason) },
    };
    // Whoever has gone does not want to know.
    drop(notes.send(note));
}

fn sketch(raw: &Raw) -> Option<Sketch> {
    let text = raw.answer.text(What::Page).ok()?;
    let charset = raw.answer.fields.charset();
    (page::kind(&raw.answer) == Some(page::Text::Html))
        .then(|| Sketch::of_html(&text, charset.as_deref(), &Limits::USUAL))
}

/// Where the checksum of an ARC entry is kept for which a page was read.
fn arc_mark(key: &str) -> String {
    format!("arc:{key}")
}

/// Whether a list says that a page is as it was when we read it.
fn is_current(
    visit: &Visit<'_>,
    target: &Target,
    row: &PageRow,
    known: Option<&Validator>,
) -> bool {
    let Some(lastmod) = target.lastmod.filter(|_| target.checksum.is_none()) else { return false };
    if row.source == Source::Scp {
        return lastmod <= row.modified;
    }
    known.is_some_and(|known| {
        lastmod <= known.checked && visit.now.seconds_since(known.checked) < TRUSTED_FOR
    })
}

/// Takes away what is gone, and what no list has any more.
fn remove(
    visit: &mut Visit<'_>,
    ended: &Ended,
    frontier: &Frontier<'_>,
    gone: &BTreeSet<String>,
    is_whole: bool,
) -> Result<(), VisitError> {
    let sections = visit.visitor.store.sections(visit.publisher)?;
    // Where only a file is broken, the next good one tells what went away.
    let is_over = |name: &str| ended.failed.get(name) == Some(&Reason::NotOffered);
    let is_ours = |name: &str| name == WEB || is_over(name);
    for section in sections.iter().filter(|section| is_ours(&section.name)) {
        let mut leaving: BTreeMap<String, Why> = BTreeMap::new();
        for key in urls::keys(visit, &section.name)? {
            if gone.contains(&key) {
                leaving.insert(key, Why::Gone);
            } else if is_whole && section.name == WEB && !frontier.has(&key) {
                leaving.insert(key, Why::Absent);
            }
        }
        if leaving.is_empty() {
            continue;
        }
        let mut staging = visit.visitor.store.stage(
            visit.hold.lease(),
            Begin {
                section: &section.name,
                mode: Mode::Visit,
                generated: visit.now,
                source: Source::Html,
                quota: visit.visitor.options.quota,
                now: visit.now,
            },
        )?;
        for (key, why) in &leaving {
            staging.remove(key, *why)?;
        }
        // A second visit that finds the same confirms the first (D23).
        let is_confirmed = section.held.is_some_and(|held| held < visit.now);
        let mass_deletion =
            if is_confirmed { MassDeletion::Allowed } else { visit.visitor.options.mass_deletion };
        match staging.commit(&Finish { mass_deletion, ..Finish::plain() }) {
            Ok(outlook) => visit.report.removed += outlook.removed,
            Err(error @ CommitError::MassDeletion { .. }) => {
                let origin = visit.origin.clone();
                visit.report.trouble(&origin, Kind::Policy, error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
