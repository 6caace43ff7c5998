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

mod answer;
mod snapshot;
mod twin;
mod variant;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use rutter_discover::{Discovery, Rung};
use rutter_extract::{Templates, Use};
use rutter_fetch::{Body, FetchError, Fetched, Probe, Request, Validators, What};
use rutter_page::{PageUrl, Timestamp};
use rutter_store::{PageRow, Source, Validator, Withheld};
use tokio::task::JoinSet;

use crate::collect::Ended;
use crate::crew::{Crew, Note, Variant};
use crate::damage::remembered;
use crate::error::VisitError;
use crate::frontier::{Frontier, Target};
use crate::keys::Keys;
use crate::layers::Gathered;
use crate::left_out::LeftOut;
use crate::mark::{Mark, goes_back, is_current, is_recent, is_still_withheld};
use crate::options::Event;
use crate::page::{self, Raw};
use crate::plan::Reason;
use crate::report::{Better, Kind};
use crate::tally::counted;
use crate::visit::{Visit, WEB};
use crate::writer::{BATCH, BATCH_BYTES, Write, Writer};
use crate::{leave, left_out, urls};

/// Faults of the network in a row after which a host is left alone.
const MOST_FAULTS: u32 = 5;
/// How often what was read is committed, at the latest.
const COMMITTED_EVERY: Duration = Duration::from_secs(10);
/// How long pages wait for the templates: a visit that is killed has lost no
/// more than that.
const SAMPLE_FOR: Duration = Duration::from_mins(1);
/// Bytes of pages that wait for the templates.
const SAMPLE_BYTES: usize = 16 << 20;
/// Pages beside collections from which on it is worth to learn from them.
const WORTH_LEARNING: u64 = 20;
/// The file of a publisher's templates.
const TEMPLATES: &str = "templates.json";

/// A page that is being asked for.
struct Asked {
    target: Target,
    row: Option<PageRow>,
    /// The page as it was read, where its twin is asked for.
    instead_of: Option<Box<page::Ready>>,
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
    let most = visit.visitor.options.most_pages;
    let limits = visit.visitor.options.limits.clone();
    let mut frontier = Frontier::new(&gate, &limits, most);
    let healthy = healthy(visit, ended)?;
    let filled = urls::fill(visit, found, gathered, rung, &healthy, &mut frontier).await?;
    let urls::Filled { is_whole, has_failed } = filled;
    for (section, reason) in &ended.failed {
        // Of a section that is no more, lists tell what is left.
        if !is_whole || *reason != Reason::NotOffered {
            urls::for_each_key(visit, section, |key| frontier.add(&key, None, None))?;
        }
    }
    if !is_whole {
        urls::unlisted(visit, &healthy, &mut frontier)?;
    }
    // Not all of them can be asked for: those that were asked for least
    // lately, so that the next visit goes on where this one ends.
    let most_sure = if limits.time.is_some() { 0 } else { most };
    frontier.sort_by_age(most_sure, |key| urls::checked(visit, key))?;
    // What ended a walk must not keep the next one from going on.
    frontier.put_last(&visit.memo.stops);
    let probe = found.memory.probe.as_ref().map(|(_, probe)| probe.clone());
    let mut walk = Walk::start(visit, rung, frontier, healthy, probe)?;
    if rung == Rung::Arc {
        walk.take_snapshots().await?;
    }
    walk.run().await?;
    walk.save().await?;
    let mut walked = walk.end().await?;
    let is_whole = is_whole && !walked.is_stopped && !walked.frontier.is_bounded();
    let is_short = walked.is_stopped || walked.frontier.is_bounded();
    if walked.is_stopped {
        walked.frontier.close(LeftOut::STOPPED);
    }
    if follows(visit, rung) {
        // Links that a walk found and did not follow are found by no other.
        let over = urls::keep_left(visit, &walked.frontier, [&walked.pending, &walked.open])?;
        for key in over {
            visit.report.leave_out(&key, LeftOut::REMEMBERED_LIMIT);
        }
    }
    let store = visit.visitor.store.clone();
    let is_stored = |key: &str| matches!(store.page(key), Ok(Some(_)));
    walked.frontier.report(&mut visit.report, &is_stored);
    visit.is_cut_short |= is_short;
    if !is_short && !has_failed {
        visit.memo.whole = Some(visit.now);
        if walked.n_open == 0 {
            visit.memo.rest.clear();
        } else if walked.n_failed == 0 {
            // What is no page is known; lists that are not read every time are
            // read again before long.
            visit.memo.rest.remove("");
        }
    }
    leave::leave(visit, ended, &walked.frontier, &walked.healthy, &walked.gone, is_whole)?;
    leave::close(visit, &walked.closed, walked.n_asked)?;
    urls::report_unlisted(visit, &walked.healthy)?;
    left_out::keep(visit, !is_short)?;
    let publisher = visit.visitor.store.publisher(&visit.origin)?;
    let (pages, bytes) = publisher.map_or((0, 0), |it| (it.pages, it.bytes));
    if 0 < pages && visit.report.rung != Rung::Scp {
        // robots.txt, the sitemap, one collection.
        visit.report.better = Some(Better { rung: Rung::Scp, requests: 3, bytes });
    }
    Ok(())
}

/// Whether links of pages are followed.
fn follows(visit: &Visit<'_>, rung: Rung) -> bool {
    matches!(rung, Rung::Links | Rung::Nothing) || visit.visitor.options.follows_links
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
    /// Whether links are followed.
    follows: bool,
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
    /// Pages that are no longer for everybody.
    closed: BTreeSet<String>,
    /// Requests, those of them that came to nothing by the site's fault, and
    /// addresses that are no pages for now.
    n_asked: u64,
    n_failed: u64,
    n_open: u64,
    /// Until when the host wants to be left alone. It is written down at the
    /// end: nothing else is written while pages are staged.
    pause: Option<Timestamp>,
    is_stopped: bool,
    /// How far from the home page the address is that is dealt with.
    depth: u32,
    /// Addresses that ended without a page, on a walk by links.
    open: BTreeMap<String, u32>,
    /// Those that are under way.
    pending: BTreeMap<String, u32>,
    /// New pages for which there is room, those that came, and those that were
    /// not asked for.
    n_room: u64,
    n_new: u64,
    n_beyond: u64,
    /// The content of pages that were read, by numbers for their keys.
    contents: HashMap<u64, u64>,
    /// Pages that wait for the page they name as canonical, and their bytes.
    variants: (BTreeMap<String, Box<Variant>>, usize),
    /// Pages and bytes that were read and not committed, on a walk by links.
    unsaved: (usize, usize),
    began: Duration,
    committed: Duration,
}

/// What is left of a walk.
struct Walked<'g> {
    frontier: Frontier<'g>,
    healthy: Keys,
    gone: BTreeSet<String>,
    closed: BTreeSet<String>,
    open: BTreeMap<String, u32>,
    pending: BTreeMap<String, u32>,
    n_asked: u64,
    n_failed: u64,
    n_open: u64,
    is_stopped: bool,
}

impl<'w, 'v, 'g> Walk<'w, 'v, 'g> {
    fn start(
        visit: &'w mut Visit<'v>,
        rung: Rung,
        mut frontier: Frontier<'g>,
        healthy: Keys,
        probe: Option<Probe>,
    ) -> Result<Self, VisitError> {
        let templates: Templates = visit.shelf.read(TEMPLATES).unwrap_or_default();
        let is_listed = matches!(rung, Rung::Sitemap | Rung::Arc | Rung::Scp);
        // What collections lack of a site are a few odd pages, and long ones:
        // they have nothing in common.
        let is_little = visit.report.rung == Rung::Scp && frontier.n_known() < WORTH_LEARNING;
        let (template, sample) = if !templates.is_empty() {
            (Use::Fitting(Arc::new(templates)), None)
        } else if is_listed && !is_little {
            (Use::Nothing, Some((frontier.sample_first(&visit.memo.stops), Vec::new(), 0)))
        } else {
            (Use::Nothing, None)
        };
        let writer = Writer {
            store: Arc::clone(&visit.visitor.store),
            lease: visit.hold.lease().clone(),
            quota: visit.visitor.options.quota,
            now: visit.now,
            waits: follows(visit, rung),
            gate: Arc::clone(&visit.gate),
        };
        let known = visit.visitor.store.publisher(&visit.origin)?.map_or(0, |it| it.pages);
        let n_room = visit.visitor.options.quota.pages.saturating_sub(known);
        // At a pace, pages come one by one.
        let is_paced = !visit.visitor.client.settings().pace.is_zero();
        let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
        let crew = Crew::start(writer, if is_paced { 1 } else { n_cores })?;
        let began = visit.visitor.client.means().clock.moment();
        Ok(Self {
            follows: follows(visit, rung),
            visit,
            frontier,
            healthy,
            probe,
            template,
            sample,
            crew,
            n_done: 0,
            n_faults: 0,
            gone: BTreeSet::new(),
            closed: BTreeSet::new(),
            n_asked: 0,
            n_failed: 0,
            n_open: 0,
            pause: None,
            is_stopped: false,
            depth: 0,
            open: BTreeMap::new(),
            pending: BTreeMap::new(),
            contents: HashMap::new(),
            variants: (BTreeMap::new(), 0),
            unsaved: (0, 0),
            n_room,
            n_new: 0,
            n_beyond: 0,
            began,
            committed: began,
        })
    }

    async fn run(&mut self) -> Result<(), VisitError> {
        let settings = self.visit.visitor.client.settings();
        let most = if settings.pace.is_zero() { settings.connections.max(1) } else { 1 };
        let most_pages = self.visit.visitor.options.most_pages;
        let mut asking: JoinSet<Asked> = JoinSet::new();
        loop {
            while let Some(note) = self.crew.note().await? {
                self.take_note(note, &mut asking).await?;
            }
            while asking.len() < most && !self.is_stopped {
                if most_pages <= self.n_asked {
                    self.close(LeftOut::PAGE_LIMIT);
                } else if self.is_late() {
                    self.close(LeftOut::TIME_LIMIT);
                }
                let Some(target) = self.frontier.next() else { break };
                if !self.ask(&target, &mut asking)? {
                    self.unwanted(target.url.as_str());
                }
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
            if let Some(note) = self.crew.wait().await? {
                self.take_note(note, &mut asking).await?;
                continue;
            }
            let has_more = !self.is_stopped && self.frontier.release_spellings();
            if !has_more && !self.settle_variants(&mut asking).await? {
                return Ok(());
            }
        }
    }

    /// Whether the crawl took as long as it may.
    fn is_late(&self) -> bool {
        let time = self.visit.visitor.options.limits.time;
        let moment = self.visit.visitor.client.means().clock.moment();
        time.is_some_and(|time| self.began + time <= moment)
    }

    /// Nothing more is asked for.
    fn close(&mut self, why: LeftOut) {
        self.frontier.close(why);
        if let Some((wanted, ..)) = &mut self.sample {
            wanted.clear();
        }
    }

    /// Ends the threads, counts what they did, and does what waited for them.
    async fn end(self) -> Result<Walked<'g>, VisitError> {
        let Self {
            visit,
            frontier,
            healthy,
            gone,
            closed,
            mut open,
            pending,
            pause,
            is_stopped,
            ..
        } = self;
        let (crew, n_open) = (self.crew, self.n_open);
        let written = crew.end().await;
        if let Some(until) = pause {
            visit.pause(until)?;
        }
        let written = written?;
        visit.report.withheld += written.withheld;
        for key in &written.beyond {
            visit.report.list_left_out(key, LeftOut::QUOTA);
        }
        if self.follows {
            open.extend(written.beyond.into_iter().map(|key| (key, 1)));
        }
        visit.no_room(written.without_room);
        let n_beyond = written.over_quota + self.n_beyond;
        let n_open = n_open + written.over_quota;
        if 0 < n_beyond {
            visit.report.count_left_out(LeftOut::QUOTA, n_beyond);
            let text = format!("new pages beyond the quota of pages: {n_beyond}");
            let origin = visit.origin.clone();
            visit.report.trouble(&origin, Kind::Policy, text);
        }
        // Some pages always fail; where most do, it is the site.
        if !is_stopped && self.n_asked < 2 * self.n_failed {
            let text = format!("{} of {} pages could not be had", self.n_failed, self.n_asked);
            let origin = visit.origin.clone();
            visit.report.trouble(&origin, Kind::Network, text);
        }
        let (n_asked, n_failed) = (self.n_asked, self.n_failed);
        Ok(Walked {
            frontier,
            healthy,
            gone,
            closed,
            open,
            pending,
            n_asked,
            n_failed,
            n_open,
            is_stopped,
        })
    }

    /// A page is not waited for any more.
    fn unwanted(&mut self, key: &str) {
        if let Some((wanted, ..)) = &mut self.sample {
            wanted.remove(key);
        }
    }

    /// Asks for a page, unless what is here is known to be right; tells
    /// whether it did.
    fn ask(&mut self, target: &Target, asking: &mut JoinSet<Asked>) -> Result<bool, VisitError> {
        let visit = &mut *self.visit;
        let key = target.url.as_str();
        if self.healthy.has(key) {
            return Ok(false);
        }
        if visit.gate.judge(key) == Some(Withheld::Consent) {
            visit.report.leave_out(key, LeftOut::CONSENT);
            if self.follows {
                self.open.insert(key.to_owned(), target.depth);
            }
            return Ok(false);
        }
        let store = &visit.visitor.store;
        let row = visit.row(key)?;
        if visit.damaged_rows.has(key) {
            return Ok(false);
        }
        // What was no page, or withheld its words, is known by a mark of its
        // own: what a page was before says nothing of what stands there now.
        let is_withheld = row.as_ref().is_some_and(|row| row.withheld == Some(Withheld::Consent));
        let marked = |mark: Mark| remembered(store.as_ref(), &mark.of(key));
        let known = match &row {
            Some(row) if is_withheld => {
                marked(Mark::Withheld)?.filter(|it| is_still_withheld(visit.now, row, it))
            }
            Some(_) => remembered(store.as_ref(), key)?,
            None if variant::is_widowed(visit, key)? => None,
            None => marked(Mark::Left)?.filter(|it| is_recent(visit.now, it)),
        };
        // Rules that kept the words from us and no longer do.
        let is_again = visit.memo.again.contains(key)
            || row.as_ref().is_some_and(|row| match row.withheld {
                Some(Withheld::Robots | Withheld::Foreign) => true,
                // The stored content was damaged.
                Some(Withheld::Fault) => row.source != Source::Scp,
                Some(Withheld::Quota) => visit.news.has_more_room,
                Some(Withheld::Scope) => visit.news.has_other_scope,
                _ => false,
            });
        let fetched_with = marked(Mark::Lastmod)?;
        let is_current =
            is_current(visit.now, target, row.as_ref(), known.as_ref(), fetched_with.as_ref());
        if !is_again && is_current {
            self.n_done += 1;
            if row.is_none() {
                let why = why_left(visit, key)?;
                self.leave_out_known(key, why);
            } else {
                self.list_canonical(key)?;
            }
            return Ok(false);
        }
        if row.is_none() && self.n_room <= self.n_new {
            // It would be thrown away.
            self.n_beyond += 1;
            self.n_open += 1;
            visit.report.list_left_out(key, LeftOut::QUOTA);
            if self.follows {
                self.open.insert(key.to_owned(), target.depth);
            }
            return Ok(false);
        }
        if target.checksum.is_some() && row.as_ref().is_some_and(|row| row.withheld.is_none()) {
            let mark = remembered(store.as_ref(), &Mark::Arc.of(key))?;
            let mark = mark.filter(|mark| is_recent(visit.now, mark));
            if mark.and_then(|mark| mark.etag) == target.checksum {
                self.n_done += 1;
                return Ok(false);
            }
        }
        let is_conditional = !target.is_fresh
            && !is_again
            && row.as_ref().is_none_or(|row| {
                let is_asked_by_tag =
                    matches!(row.withheld, None | Some(Withheld::Shell | Withheld::Scope));
                row.source != Source::Scp && (is_withheld || is_asked_by_tag)
            });
        let goes_back = goes_back(target.lastmod, fetched_with.as_ref());
        let known = known.filter(|_| is_conditional).map(|known| Validators {
            etag: known.etag,
            last_modified: known.last_modified.filter(|_| !goes_back),
        });
        let request = Request {
            known: known.unwrap_or_default(),
            site: Some(visit.site.clone()),
            ..Request::new(target.url.clone(), What::Page)
        };
        self.n_asked += 1;
        if self.follows && row.is_none() {
            self.pending.insert(key.to_owned(), target.depth);
        }
        let (client, tally) = (visit.visitor.client.clone(), Arc::clone(&visit.tally));
        let target = target.clone();
        asking.spawn(async move {
            let answer = counted(&tally, client.fetch(&request)).await;
            Asked { target, row, instead_of: None, answer }
        });
        Ok(true)
    }

    async fn take(&mut self, asked: Asked) -> Result<(), VisitError> {
        let Asked { target, row, instead_of, answer } = asked;
        if let Some(page) = instead_of {
            return self.take_twin(page, row, answer).await;
        }
        self.n_done += 1;
        self.depth = target.depth;
        let (done, known) = (self.n_done, self.frontier.n_known());
        self.visit.watcher.event(&self.visit.origin, Event::Pages { done, known });
        self.commit_in_time().await?;
        let key = target.url.as_str().to_owned();
        self.unwanted(&key);
        match answer {
            Ok(answer) => {
                self.n_faults = 0;
                self.visit.memo.stops.remove(&key);
                self.visit.tally.add_bytes(answer.wire_bytes);
                self.take_answer(target, row, answer).await?;
            }
            Err(error) => {
                self.in_vain(&key).await?;
                self.take_error(&key, row.as_ref(), &error).await?;
            }
        }
        let is_late = self.began + SAMPLE_FOR <= self.visit.visitor.client.means().clock.moment();
        if self
            .sample
            .as_ref()
            .is_some_and(|(wanted, _, size)| wanted.is_empty() || SAMPLE_BYTES < *size || is_late)
        {
            self.learn().await?;
        }
        Ok(())
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
        let most_links = self.visit.visitor.options.limits.links_per_page;
        let has_mark = |mark: Mark| {
            let has_value = |it: Validator| it.etag.is_some() || it.last_modified.is_some();
            // A damaged mark is written anew.
            let known = self.visit.visitor.store.validator(&mark.of(url.key()));
            known.map_or(true, |known| known.is_some_and(has_value))
        };
        let has = page::StoredMarks {
            training: has_mark(Mark::Training),
            snapshot: has_mark(Mark::Snapshot),
            expiry: has_mark(Mark::Expiry),
        };
        Raw {
            url,
            answer,
            row,
            said,
            template,
            token,
            now,
            marks,
            most_links,
            has,
            twin_of: None,
            merges_variants: self.visit.visitor.options.limits.merges_variants,
            instead_of: None,
        }
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
        let (waiting, templates) = self.crew.learn(waiting).await?;
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

    async fn take_note(
        &mut self,
        note: Note,
        asking: &mut JoinSet<Asked>,
    ) -> Result<(), VisitError> {
        if let Some(failed) = note.failed {
            self.take_failed(failed, note.depth).await?;
        }
        if self.follows {
            for link in &note.links {
                self.frontier.follow(link, note.depth + 1);
            }
            for link in &note.more_links {
                self.frontier.leave_link(link, note.depth + 1);
            }
        }
        if let Some((page, twin)) = note.twin {
            self.ask_twin(page, &twin, asking).await?;
        }
        if let Some((key, content)) = note.content {
            self.contents.insert(key, content);
        }
        if let Some(variant) = note.variant {
            self.take_variant(variant, asking).await?;
        }
        if let Some(page) = note.page {
            self.keep_page(page).await?;
        }
        Ok(())
    }

    /// Has a page written whose links are known.
    async fn keep_page(&mut self, page: Box<page::Ready>) -> Result<(), VisitError> {
        self.pending.remove(&page.key);
        self.unsaved.0 += 1;
        self.unsaved.1 += page.line.len();
        self.crew.write(Write::Page(page)).await?;
        if BATCH <= self.unsaved.0 || BATCH_BYTES <= self.unsaved.1 {
            self.save().await?;
        }
        Ok(())
    }

    /// On a walk by links: keeps what is still to be followed, and only then
    /// the pages that lead there. They may never tell again.
    async fn save(&mut self) -> Result<(), VisitError> {
        if self.follows {
            urls::keep_left(self.visit, &self.frontier, [&self.pending, &self.open])?;
            self.unsaved = (0, 0);
            self.crew.write(Write::Commit).await?;
        }
        Ok(())
    }

    /// Has what was read committed, where that was long ago.
    async fn commit_in_time(&mut self) -> Result<(), VisitError> {
        let moment = self.visit.visitor.client.means().clock.moment();
        if moment < self.committed + COMMITTED_EVERY {
            return Ok(());
        }
        if self.follows {
            self.save().await?;
            self.committed = moment;
        } else if self.crew.try_write(Write::Commit) {
            self.committed = moment;
        }
        Ok(())
    }
}

/// Why a listed address is passed over that was no page and is as it was.
pub(crate) fn why_left(visit: &Visit<'_>, key: &str) -> Result<LeftOut, VisitError> {
    let why =
        remembered(visit.visitor.store.as_ref(), &Mark::Why.of(key))?.and_then(|mark| mark.etag);
    Ok(why.and_then(|why| LeftOut::parse(&why)).unwrap_or(LeftOut::UNCHANGED))
}
