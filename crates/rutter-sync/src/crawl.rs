//! Pages one by one: where no collection can be used, none is offered, or a
//! list has more than collections bring.
//!
//! ```text
//! Frontier ─→ fetch (one connection, or several where the pace is 0) ─→ Raw ─→ Crew ─→ replica
//!     ↑                                                                          │
//!     └─────────────────────────────── links ────────────────────────────────────┘
//! ```
//!
//! Refuses: to remove a page unless the site says that it is gone, or every
//! list was read to its end; to leave anything out without counting it; to put
//! what it reads in the place of what a collection keeps up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use rutter_discover::{Discovery, Rung};
use rutter_extract::{Limits, Sketch, Templates, Use};
use rutter_fetch::{
    Body, Cause, FetchError, Fetched, Probe, Refused, Request, Url, Validators, What,
};
use rutter_page::{PageUrl, Timestamp};
use rutter_store::{PageRow, Source, Validator, Withheld};
use tokio::task::JoinSet;

use crate::collect::{Ended, told};
use crate::consent;
use crate::crew::{Crew, Note};
use crate::error::VisitError;
use crate::frontier::{Frontier, Target};
use crate::gate::key_of;
use crate::keys::Keys;
use crate::layers::Gathered;
use crate::mark::{Mark, is_current};
use crate::options::Event;
use crate::page::{self, Raw};
use crate::report::{Better, Kind};
use crate::tally::counted;
use crate::visit::{PIECE, Visit, WEB};
use crate::writer::{Write, Writer};
use crate::{leave, urls};

/// Faults of the network in a row after which a host is left alone.
const MOST_FAULTS: u32 = 5;
/// Links from the home page that are followed.
const DEEPEST: u32 = 20;
/// How often what was read is committed, at the latest.
const COMMITTED_EVERY: Duration = Duration::from_mins(1);
/// Bytes of pages that wait for the templates.
const SAMPLE_BYTES: usize = 64 << 20;
/// The file of a publisher's templates.
const TEMPLATES: &str = "templates.json";

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
    let healthy = healthy(visit, ended)?;
    let is_whole = urls::fill(visit, found, gathered, rung, &healthy, &mut frontier).await?;
    for section in ended.failed.keys() {
        urls::for_each_key(visit, section, |key| frontier.add(&key, None, None))?;
    }
    let probe = found.memory.probe.as_ref().map(|(_, probe)| probe.clone());
    let mut walk = Walk::start(visit, rung, frontier, healthy, probe);
    if rung == Rung::Arc {
        walk.take_snapshots().await?;
    }
    walk.run().await?;
    let walked = walk.end().await?;
    let is_whole = is_whole && !walked.is_stopped;
    leave::leave(visit, ended, &walked.frontier, &walked.healthy, &walked.gone, is_whole)?;
    let publisher = visit.visitor.store.publisher(&visit.origin)?;
    let (pages, bytes) = publisher.map_or((0, 0), |it| (it.pages, it.bytes));
    if 0 < pages && visit.report.rung != Rung::Scp {
        // robots.txt, the sitemap, one collection.
        visit.report.better = Some(Better { rung: Rung::Scp, requests: 3, bytes });
    }
    Ok(())
}

/// Pages that collections keep up to date.
pub(crate) fn healthy(visit: &Visit<'_>, ended: &Ended) -> Result<Keys, VisitError> {
    let mut healthy = Keys::default();
    for section in visit.visitor.store.sections(visit.publisher)? {
        if section.name != WEB && !ended.failed.contains_key(&section.name) {
            urls::for_each_key(visit, &section.name, |key| {
                healthy.insert(&key);
            })?;
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
    healthy: Keys,
    probe: Option<Probe>,
    template: Use,
    /// Pages whose answers wait for the templates, and those still wanted.
    sample: Option<Sample>,
    crew: Crew,
    n_done: u64,
    n_faults: u32,
    gone: BTreeSet<String>,
    /// Pages whose words have to go. Not at once: nothing else is written
    /// while pages are staged.
    withheld: BTreeMap<String, Withheld>,
    /// Until when the host wants to be left alone, likewise.
    pause: Option<Timestamp>,
    is_stopped: bool,
    committed: Duration,
}

/// What is left of a walk.
struct Walked<'g> {
    frontier: Frontier<'g>,
    healthy: Keys,
    gone: BTreeSet<String>,
    is_stopped: bool,
}

impl<'w, 'v, 'g> Walk<'w, 'v, 'g> {
    fn start(
        visit: &'w mut Visit<'v>,
        rung: Rung,
        mut frontier: Frontier<'g>,
        healthy: Keys,
        probe: Option<Probe>,
    ) -> Self {
        let templates: Templates = visit.shelf.read(TEMPLATES).unwrap_or_default();
        let is_listed = matches!(rung, Rung::Sitemap | Rung::Arc | Rung::Scp);
        let (template, sample) = if !templates.is_empty() {
            (Use::Fitting(Arc::new(templates)), None)
        } else if is_listed {
            (Use::Nothing, Some((frontier.sample_first(), Vec::new(), 0)))
        } else {
            (Use::Nothing, None)
        };
        let crew = Crew::start(Writer {
            store: Arc::clone(&visit.visitor.store),
            lease: visit.hold.lease().clone(),
            quota: visit.visitor.options.quota,
            now: visit.now,
        });
        let committed = visit.visitor.client.means().clock.moment();
        Self {
            visit,
            rung,
            frontier,
            healthy,
            probe,
            template,
            sample,
            crew,
            n_done: 0,
            n_faults: 0,
            gone: BTreeSet::new(),
            withheld: BTreeMap::new(),
            pause: None,
            is_stopped: false,
            committed,
        }
    }

    /// Pages whose ARC entries have snapshots need no request (ARC-058).
    async fn take_snapshots(&mut self) -> Result<(), VisitError> {
        let mut after: Option<String> = None;
        while let Some(entries) = urls::entries(self.visit, &mut after)? {
            for entry in entries.iter().filter(|entry| entry.ai_snapshot.is_some()) {
                let key = entry.url.key();
                if self.healthy.has(key) {
                    continue;
                }
                match self.visit.gate.judge(key) {
                    None => {}
                    Some(Withheld::Robots) => {
                        self.visit.report.leave_out("robots.txt forbids it");
                        continue;
                    }
                    Some(_) => {
                        self.visit.report.leave_out("it is not for us");
                        continue;
                    }
                }
                if let Some(page) = self.snapshot(entry)? {
                    self.crew.write(Write::Page(Box::new(page))).await?;
                }
            }
        }
        Ok(())
    }

    /// The page of a snapshot, where it is not the one that is here.
    fn snapshot(&self, entry: &rutter_arc::Entry<'_>) -> Result<Option<page::Ready>, VisitError> {
        let (visit, store) = (&*self.visit, &self.visit.visitor.store);
        let key = entry.url.key();
        let checksum = entry.ai_checksum.as_ref().map(ToString::to_string);
        let mark = store.validator(&Mark::Arc.of(key))?.and_then(|mark| mark.etag);
        let row = store.page(key)?.filter(|row| row.publisher == visit.publisher);
        let has_words = row.as_ref().is_some_and(|row| row.withheld.is_none());
        if has_words && checksum.is_some() && mark == checksum {
            return Ok(None);
        }
        let page = page::of_snapshot(entry, row.as_ref(), visit.now);
        Ok(page.map(|page| {
            let url = Mark::Arc.of(key);
            let mark = Validator { url, etag: checksum, last_modified: None, checked: visit.now };
            page::Ready { marks: vec![mark], ..page }
        }))
    }

    async fn run(&mut self) -> Result<(), VisitError> {
        let settings = self.visit.visitor.client.settings();
        let most = if settings.pace.is_zero() { settings.connections.max(1) } else { 1 };
        let mut asking: JoinSet<Asked> = JoinSet::new();
        loop {
            while let Some(note) = self.crew.note() {
                self.take_note(note, &mut asking).await?;
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
            let Some(note) = self.crew.wait().await? else { return Ok(()) };
            self.take_note(note, &mut asking).await?;
        }
    }

    /// Ends the threads, counts what they did, and does what waited for them.
    async fn end(self) -> Result<Walked<'g>, VisitError> {
        let Self { visit, frontier, healthy, gone, withheld, pause, is_stopped, crew, .. } = self;
        visit.report.count(&crew.end().await?);
        for (reason, n) in &frontier.left_out {
            *visit.report.left_out.entry(reason.clone()).or_default() += n;
        }
        let withheld: Vec<(&str, Withheld)> =
            withheld.iter().map(|(key, why)| (key.as_str(), *why)).collect();
        for piece in withheld.chunks(PIECE) {
            let (store, lease) = (&visit.visitor.store, visit.hold.lease());
            visit.report.withheld += store.withhold(lease, piece, visit.now)?;
        }
        if let Some(until) = pause {
            visit.pause(until)?;
        }
        Ok(Walked { frontier, healthy, gone, is_stopped })
    }

    /// Asks for a page, unless what is here is known to be right.
    fn ask(&mut self, target: Target, asking: &mut JoinSet<Asked>) -> Result<(), VisitError> {
        let visit = &mut *self.visit;
        let key = target.url.as_str();
        if self.healthy.has(key) {
            return Ok(());
        }
        if visit.gate.judge(key) == Some(Withheld::Consent) {
            visit.report.leave_out("it is not for us");
            return Ok(());
        }
        let store = &visit.visitor.store;
        let row = store.page(key)?.filter(|row| row.publisher == visit.publisher);
        // What was no page is known by a mark of its own: what a page was
        // before it went away says nothing of what stands there now.
        let known = match &row {
            Some(_) => store.validator(key)?,
            None => store.validator(&Mark::Left.of(key))?,
        };
        if !visit.again.contains(key)
            && is_current(visit.now, &target, row.as_ref(), known.as_ref())
        {
            self.n_done += 1;
            if row.is_none() {
                visit.report.leave_out(STILL_NO_PAGE);
            }
            return Ok(());
        }
        if target.checksum.is_some() && row.as_ref().is_some_and(|row| row.withheld.is_none()) {
            let mark = store.validator(&Mark::Arc.of(key))?;
            if mark.and_then(|mark| mark.etag) == target.checksum {
                self.n_done += 1;
                return Ok(());
            }
        }
        let has_words =
            row.as_ref().is_none_or(|row| row.source != Source::Scp && row.withheld.is_none());
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
            Err(error) => {
                self.keep_moved(&key)?;
                self.take_error(&key, row.as_ref(), &error);
            }
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
        let mark = |url: String| Validator {
            url,
            etag: answer.validators.etag.clone(),
            last_modified: answer.validators.last_modified.clone(),
            checked: self.visit.now,
        };
        let mut marks = vec![mark(key.clone())];
        if let Some(checksum) = target.checksum {
            let url = Mark::Arc.of(&key);
            marks.push(Validator { etag: Some(checksum), last_modified: None, ..mark(url) });
        }
        if answer.is_unchanged() {
            return self.take_unchanged(&key, row.as_ref(), &answer, marks).await;
        }
        if matches!(answer.status, 404 | 410) {
            self.visit.report.leave_out(format!("status {}", answer.status));
            self.gone.insert(key);
            return Ok(());
        }
        if !answer.is_new() || answer.body == Body::Nothing {
            self.keep_moved(&key)?;
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
            let url = Mark::Moved.of(&key);
            marks.push(Validator { etag: Some(found.clone()), last_modified: None, ..mark(url) });
            self.gone.insert(key);
            self.frontier.note(&found);
            if self.healthy.has(&found) {
                return Ok(());
            }
            if self.visit.gate.judge(&found) == Some(Withheld::Consent) {
                self.visit.report.leave_out("it is not for us");
                return Ok(());
            }
        }
        let Ok(url) = PageUrl::parse(found.clone()) else { return Ok(()) };
        let row = row.filter(|row| row.url == found);
        let raw = self.raw(url, answer, row, marks);
        self.hand_over(raw, target.depth).await
    }

    /// A page is as it was; whether it may be used is said anew each time.
    async fn take_unchanged(
        &mut self,
        key: &str,
        row: Option<&PageRow>,
        answer: &Fetched,
        mut marks: Vec<Validator>,
    ) -> Result<(), VisitError> {
        let Some(row) = row else {
            self.visit.report.leave_out(STILL_NO_PAGE);
            for mark in marks.iter_mut().filter(|mark| mark.url == key) {
                mark.url = Mark::Left.of(key);
            }
            return self.crew.write(Write::Mark(marks)).await;
        };
        let token = self.visit.visitor.client.settings().token();
        let verdict = consent::join(&consent::of_fields(&answer.fields, token));
        if let Some(why) = verdict.withheld.filter(|_| row.withheld.is_none()) {
            self.withheld.insert(key.to_owned(), why);
        }
        self.crew.write(Write::Mark(marks)).await
    }

    fn raw(
        &self,
        url: PageUrl<'static>,
        answer: Fetched,
        row: Option<PageRow>,
        marks: Vec<Validator>,
    ) -> Raw {
        let token = self.visit.visitor.client.settings().token().to_owned();
        let said = self.visit.gate.signals(url.key());
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
        self.crew.read(raw, depth).await
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

    /// Where an address led before, that is still listed by it.
    fn keep_moved(&mut self, key: &str) -> Result<(), VisitError> {
        let moved = self.visit.visitor.store.validator(&Mark::Moved.of(key))?;
        if let Some(found) = moved.and_then(|mark| mark.etag) {
            self.frontier.note(&found);
        }
        Ok(())
    }

    fn take_error(&mut self, key: &str, row: Option<&PageRow>, error: &FetchError) {
        let text = told(&error.cause);
        let report = &mut self.visit.report;
        match &error.cause {
            Cause::Refused(Refused::Robots(reason)) => {
                report.leave_out("robots.txt forbids it");
                let is_rule = matches!(reason, rutter_fetch::RobotsReason::Rule { .. });
                if is_rule && row.is_some_and(|row| row.withheld.is_none()) {
                    self.withheld.insert(key.to_owned(), Withheld::Robots);
                }
            }
            Cause::Refused(Refused::TooSlow(_)) => {
                self.is_stopped = true;
                report.trouble(&error.url, Kind::Policy, text);
            }
            Cause::Refused(_) => report.leave_out(text),
            Cause::Later { until, .. } => {
                self.is_stopped = true;
                self.pause = self.pause.max(Some(*until));
                report.trouble(&error.url, Kind::Network, text);
            }
            Cause::Answer(_) => report.leave_out(text),
            _ => {
                self.n_faults += 1;
                report.leave_out("the network failed");
                if MOST_FAULTS <= self.n_faults {
                    self.is_stopped = true;
                    report.trouble(&error.url, Kind::Network, text);
                }
            }
        }
    }

    async fn take_note(
        &mut self,
        note: Note,
        asking: &mut JoinSet<Asked>,
    ) -> Result<(), VisitError> {
        if let Some((url, reason, validators)) = note.failed {
            self.visit.report.leave_out(reason);
            let (url, checked) = (Mark::Left.of(url.key()), self.visit.now);
            let Validators { etag, last_modified } = validators;
            let mark = Validator { url, etag, last_modified, checked };
            self.crew.write(Write::Mark(vec![mark])).await?;
        }
        if matches!(self.rung, Rung::Links | Rung::Nothing) && note.depth < DEEPEST {
            for link in &note.links {
                self.frontier.follow(link, note.depth + 1);
            }
            if 0 < note.n_more_links {
                let left_out = &mut self.visit.report.left_out;
                *left_out.entry(TOO_MANY_LINKS.to_owned()).or_default() += note.n_more_links;
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

    /// Has what was read committed, where that was long ago.
    fn commit_in_time(&mut self) {
        let moment = self.visit.visitor.client.means().clock.moment();
        if self.committed + COMMITTED_EVERY <= moment && self.crew.try_write(Write::Commit) {
            self.committed = moment;
        }
    }
}

/// Why a link is not followed.
const TOO_MANY_LINKS: &str = "the page has too many links";
/// Why a listed address is passed over without a request.
const STILL_NO_PAGE: &str = "it was no page, and has not changed";

fn sketch(raw: &Raw) -> Option<Sketch> {
    let text = raw.answer.text(What::Page).ok()?;
    let charset = raw.answer.fields.charset();
    (page::kind(&raw.answer) == Some(page::Text::Html))
        .then(|| Sketch::of_html(&text, charset.as_deref(), &Limits::USUAL))
}
