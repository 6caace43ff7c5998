//! A visit, from what is remembered to what is remembered next time.
//!
//! `Visit::go` is the whole way on one screen. The replica keeps its
//! state whatever happens here: every change to pages is a commit of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rutter_discover::{Bounds, Clue, Discovery, Memory, Outcome, Rung, Said, discover};
use rutter_fetch::{
    Cause, Client, FetchError, LONGEST_DELAY, Means, RobotsFile, RobotsRules, Settings, Url, shown,
};
use rutter_finding::Report as Findings;
use rutter_page::Timestamp;
use rutter_store::{Cursor, Publisher, PublisherId, Store};

use crate::collect::{self, Ended, adverts, told};
use crate::consent::Signals;
use crate::damage::DamagedRows;
use crate::error::VisitError;
use crate::gate::{Gate, origin_of};
use crate::hold::Hold;
use crate::keys::Keys;
use crate::layers::Gathered;
use crate::left_out::LeftOut;
use crate::memo::Memo;
use crate::options::{Event, Options, Watcher};
use crate::plan::{Held, Learned, Offer, Plan, Policy, Replica, plan};
use crate::record::record;
use crate::report::{Kind, Report};
use crate::rest::{Brought, has_rest};
use crate::scope::ScopeRules;
use crate::shelf::Shelf;
use crate::tally::{Counting, Tally, counted};
use crate::{arc, crawl, left_out, rest, urls};

/// The section of pages that were read one by one. No collection can have it:
/// names of sections have no such sign.
pub(crate) const WEB: &str = "@web";
/// Rows of the replica that are looked at together.
pub(crate) const PIECE: usize = 10_000;
/// How long collections are waited for that can no longer be found, in
/// seconds, before pages are read in their place.
const OFFER_AWAITED: i64 = 86_400;
/// How long it is remembered what happened, in seconds (D26).
const HISTORY_KEPT: i64 = 400 * 86_400;

/// Visits sites and keeps a replica of them.
pub struct Visitor {
    pub(crate) client: Client,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) spools: PathBuf,
    pub(crate) options: Options,
}

impl std::fmt::Debug for Visitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Visitor").field("spools", &self.spools).finish_non_exhaustive()
    }
}

/// What a visit would do.
#[derive(Debug, Clone)]
pub struct Preview {
    /// Scheme, host and port.
    pub origin: String,
    /// How the site would be read.
    pub rung: Rung,
    /// Why in this way.
    pub why: String,
    /// What would be taken; `None` where there are no collections.
    pub plan: Option<Plan>,
    /// Pages that would be asked for one by one, where it is known.
    pub pages: Option<u64>,
    /// Requests that looking cost.
    pub requests: u64,
    /// Bytes that looking cost.
    pub bytes: u64,
}

/// What is otherwise than in the visit before.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts")]
pub(crate) struct News {
    /// The site was never visited.
    is_first: bool,
    /// Other hosts belong to it.
    pub(crate) has_other_hosts: bool,
    /// There is more room than when pages lost their words for want of it.
    pub(crate) has_more_room: bool,
    /// Other pages are wanted.
    pub(crate) has_other_scope: bool,
}

/// One visit under way: the nouns of the picture.
pub(crate) struct Visit<'v> {
    pub(crate) visitor: &'v Visitor,
    pub(crate) watcher: &'v dyn Watcher,
    pub(crate) site: Url,
    pub(crate) origin: String,
    pub(crate) publisher: PublisherId,
    pub(crate) hold: Hold,
    pub(crate) shelf: Shelf,
    pub(crate) memo: Memo,
    pub(crate) gate: Arc<Gate>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) now: Timestamp,
    /// What is otherwise than in the visit before.
    pub(crate) news: News,
    /// Whether pages were asked for one by one, and not as far as wanted.
    has_walked: bool,
    pub(crate) is_cut_short: bool,
    /// An ARC sitemap that speaks of other sites only.
    pub(crate) foreign_arc: Option<String>,
    /// Where the history of the replica stood.
    pub(crate) since: Cursor,
    /// What collections brought.
    pub(crate) brought: Brought,
    /// The pages that sitemaps list, where links are followed beside them.
    pub(crate) listed: Option<Keys>,
    /// Rows of the replica that could not be read.
    pub(crate) damaged_rows: DamagedRows,
    /// What was held back in the visit before, and since when.
    pub(crate) held: BTreeMap<String, Timestamp>,
    pub(crate) report: Report,
}

impl Visitor {
    /// Someone who visits with these means and keeps what he finds in `store`.
    /// Files on their way lie below `spools`.
    pub fn new(
        settings: Settings,
        means: Means,
        store: Arc<dyn Store>,
        spools: PathBuf,
        options: Options,
    ) -> Self {
        let means = Means { log: Arc::new(Counting(Arc::clone(&means.log))), ..means };
        Self { client: Client::new(settings, means), store, spools, options }
    }

    /// How sites are visited.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The same visitor with the options of one site. It shares the client,
    /// and with it the pace of every host.
    #[must_use]
    pub fn with_options(&self, options: Options) -> Self {
        Self {
            client: self.client.clone(),
            store: Arc::clone(&self.store),
            spools: self.spools.clone(),
            options,
        }
    }

    /// Keeps at least this time between two requests to the host of a site.
    pub fn slow_down(&self, site: &Url, pace: Duration) {
        if let Some(host) = site.host_str() {
            self.client.slow_down(host, pace);
        }
    }

    /// Brings the replica of a site up to date, by the cheapest honest way.
    pub async fn visit(&self, site: &Url, watcher: &dyn Watcher) -> Result<Report, VisitError> {
        let tally = Arc::new(Tally::default());
        let result = Box::pin(counted(&tally, self.visit_counted(site, watcher, &tally))).await;
        if let Some(origin) = origin_of(site) {
            let now = self.client.means().clock.now();
            // The result is worth more than its record.
            let recorded = record(self.store.as_ref(), &origin, now, &tally, &result);
            if let (Ok(_), Err(error)) = (&result, recorded) {
                return Err(error);
            }
        }
        result
    }

    async fn visit_counted(
        &self,
        site: &Url,
        watcher: &dyn Watcher,
        tally: &Arc<Tally>,
    ) -> Result<Report, VisitError> {
        let mut visit = self.begin(site, watcher, tally)?;
        let shelf = visit.shelf.clone();
        let ended = match visit.go().await {
            Ok(found) => visit.end(found),
            Err(error) => {
                // That is what went wrong; whether the site is remembered is
                // a small matter beside it.
                drop(visit.unregister());
                Err(error)
            }
        };
        shelf.tidy();
        ended
    }

    /// Drops history that nobody needs any more, and gives room back. To be
    /// done after visits.
    pub fn maintain(&self) -> Result<(), VisitError> {
        let now = self.client.means().clock.now();
        Ok(self.store.maintain(now.plus_seconds(-HISTORY_KEPT))?)
    }

    /// Says what a visit would do, and changes nothing.
    pub async fn preview(&self, site: &Url) -> Result<Preview, VisitError> {
        let tally = Arc::new(Tally::default());
        Box::pin(counted(&tally, self.preview_counted(site, &tally))).await
    }

    async fn preview_counted(&self, site: &Url, tally: &Arc<Tally>) -> Result<Preview, VisitError> {
        let origin = origin_of(site).ok_or_else(|| VisitError::Site(shown(site)))?;
        let now = self.client.means().clock.now();
        let publisher = self.store.publisher(&origin)?;
        let paused = publisher.as_ref().and_then(|known| known.paused_until);
        if let Some(until) = paused.filter(|until| now < *until) {
            return Err(VisitError::Paused { origin, until });
        }
        let memo = match &publisher {
            Some(publisher) => Memo::read(&origin, &publisher.policy)?,
            None => Memo::default(),
        };
        let mut gathered = Gathered::new(&self.options.limits);
        let found = discover(&self.client, site, &memo.memory, BOUNDS, &mut gathered).await?;
        let (rung, why) = found.offer.rung(now);
        let adverts = adverts(&found);
        let plan = match &publisher {
            _ if adverts.is_empty() => None,
            Some(publisher) => Some(replica(self.store.as_ref(), publisher.id, &memo)?),
            None => Some(Replica::default()),
        };
        let offer = collect::offer_of(&found, &adverts);
        let plan = plan.map(|replica| plan_of(now, &self.policy(site), &offer, &replica));
        let n_urls = found.offer.sitemaps.iter().map(|sitemap| sitemap.n_urls).sum();
        let pages = (plan.is_none() && 0 < n_urls).then_some(n_urls);
        tally.add_bytes(found.wire_bytes);
        let (requests, bytes) = (tally.requests(), tally.bytes());
        Ok(Preview { origin, rung, why, plan, pages, requests, bytes })
    }

    /// What the planner goes by, with the pace of the host.
    pub(crate) fn policy(&self, site: &Url) -> Policy {
        let wait = self.client.pace_of(site).as_secs();
        Policy { wait, ..self.options.policy.clone() }
    }

    pub(crate) fn begin<'v>(
        &'v self,
        site: &Url,
        watcher: &'v dyn Watcher,
        tally: &Arc<Tally>,
    ) -> Result<Visit<'v>, VisitError> {
        let origin = origin_of(site).ok_or_else(|| VisitError::Site(shown(site)))?;
        let clock = &self.client.means().clock;
        let now = clock.now();
        let paused = |known: &Publisher| known.paused_until.filter(|until| now < *until);
        let known = self.store.publisher(&origin)?;
        if let Some(until) = known.as_ref().and_then(paused) {
            return Err(VisitError::Paused { origin, until });
        }
        let aliases: Vec<&str> = self.options.aliases.iter().map(String::as_str).collect();
        let publisher = match &known {
            Some(known) => known.id,
            None => self.store.register(&origin, &aliases, "")?,
        };
        let hold = Hold::take(&self.store, publisher, clock)?;
        // Whoever had the lease before may have written it anew.
        let known = self.store.publisher(&origin)?;
        let policy = known.as_ref().map_or("", |publisher| publisher.policy.as_str());
        let is_first = policy.is_empty();
        let mut memo = Memo::read(&origin, policy)?;
        // A hold that is not said again is none.
        let held = std::mem::take(&mut memo.held);
        // Those that were named once stay until others are.
        let named = Some(&self.options.aliases).filter(|aliases| !aliases.is_empty());
        let known_aliases = known.as_ref().map(|publisher| &publisher.aliases);
        let aliases = named.or(known_aliases).cloned().unwrap_or_default();
        let mut gate = Gate::new(&origin, &aliases);
        gate.limit(self.options.scope.clone());
        let gate = Arc::new(gate);
        let has_other_hosts = memo.meet(gate.hosts());
        let has_more_room = memo.quota.is_some_and(|quota| quota < self.options.quota.bytes);
        let has_other_scope =
            memo.scope.as_ref().unwrap_or(&ScopeRules::default()) != self.options.scope.rules();
        let since = self.store.cursor()?;
        let brought = Brought::since(&self.store.sections(publisher)?);
        let shelf = Shelf::open(&self.spools, &origin)?;
        shelf.sweep(now.plus_seconds(-self.options.spools_kept));
        Ok(Visit {
            visitor: self,
            watcher,
            site: site.clone(),
            publisher,
            hold,
            shelf,
            memo,
            gate,
            tally: Arc::clone(tally),
            now,
            news: News { is_first, has_other_hosts, has_more_room, has_other_scope },
            has_walked: false,
            is_cut_short: false,
            foreign_arc: None,
            since,
            brought,
            listed: None,
            damaged_rows: DamagedRows::default(),
            held,
            report: Report::new(&origin, Rung::Nothing),
            origin,
        })
    }
}

/// Every sitemap where there are no collections, else as few as possible.
pub(crate) const BOUNDS: Bounds = Bounds { reads_all: false, ..Bounds::ALL };

fn plan_of(now: Timestamp, policy: &Policy, offer: &Offer, replica: &Replica) -> Plan {
    plan(now, policy, offer, replica, &Learned::default())
}

/// What the planner is to know of a publisher.
pub(crate) fn replica(
    store: &dyn Store,
    publisher: PublisherId,
    memo: &Memo,
) -> Result<Replica, VisitError> {
    let sections = store.sections(publisher)?;
    let sections = sections.into_iter().filter(|section| section.name != WEB).map(|section| {
        let mended = memo.mended.get(&section.name).copied();
        (section.name.clone(), Held::of_section(&section, mended))
    });
    Ok(Replica { sections: sections.collect(), following: memo.following })
}

impl Visit<'_> {
    /// The whole way.
    async fn go(&mut self) -> Result<Discovery, VisitError> {
        self.expire()?;
        self.repair_damaged()?;
        let (mut found, mut gathered) = self.look().await?;
        let has_arc_changed = arc::take(self, &mut found, &mut gathered).await?;
        self.enforce(has_arc_changed).await?;
        let adverts = adverts(&found);
        let ended = if adverts.is_empty() {
            self.without_offer(&found)?
        } else {
            self.memo.lost = None;
            let offer = collect::offer_of(&found, &adverts);
            collect::collect(self, &offer, &adverts).await?
        };
        self.is_cut_short |= !ended.hopeless.is_empty();
        self.name_rung(&ended);
        let arc = found.offer.arc.as_ref().map(|arc| arc.url.as_str());
        let n_lists = found.offer.sitemaps.len();
        rest::look(self, &gathered, n_lists, arc.filter(|_| has_arc_changed))?;
        rest::look_further(self, &found);
        self.fall_back(&mut found, gathered, &ended, !adverts.is_empty()).await?;
        Ok(found)
    }

    /// Looks around, asking only what may have changed.
    async fn look(&mut self) -> Result<(Discovery, Gathered), VisitError> {
        self.watcher.event(&self.origin, Event::Looking);
        let mut gathered = Gathered::new(&self.visitor.options.limits);
        let mut memory = self.memo.memory.clone();
        memory.mine = mine(&memory);
        let found = self.discover(&memory, BOUNDS, &mut gathered).await?;
        Ok((found, gathered))
    }

    pub(crate) async fn discover(
        &mut self,
        memory: &Memory,
        bounds: Bounds,
        gathered: &mut Gathered,
    ) -> Result<Discovery, VisitError> {
        let client = &self.visitor.client;
        let found = match self.look_at_robots(memory).await {
            Ok(robots) => {
                let memory = Memory { robots, ..memory.clone() };
                discover(client, &self.site, &memory, bounds, gathered).await
            }
            Err(error) => Err(error),
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                if let Cause::Later { until, .. } = error.cause {
                    self.pause(until)?;
                }
                return Err(error.into());
            }
        };
        self.tally.add_bytes(found.wire_bytes);
        for (url, finding) in &found.findings {
            self.report.finding(url, finding.clone());
        }
        let rules = client.robots(&self.site).await?;
        if let RobotsRules::Closed(reason) = &rules {
            let cause = rutter_fetch::Refused::Robots(reason.clone()).into();
            return Err(FetchError { url: shown(&self.site), cause }.into());
        }
        let file = client.robots_file(&self.site).await;
        let text = file.map(|file| file.body).unwrap_or_default();
        let (gate, token) = (Arc::make_mut(&mut self.gate), client.settings().token());
        let signals = Signals::of_robots(&text, token);
        let is_said = signals != Signals::default();
        let robots = String::from_utf8_lossy(&text).into_owned();
        self.memo.signals = is_said.then(|| (robots, token.to_owned()));
        gate.heed(signals);
        if !self.visitor.options.ignores_robots_on_delivered {
            gate.obey(&rules, token);
        }
        self.report.rung = found.offer.rung(self.now).0;
        Ok(found)
    }

    /// Fetches robots.txt and reports at once where it asks for more time than
    /// we wait; gives the file for discovery.
    async fn look_at_robots(&self, memory: &Memory) -> Result<Option<RobotsFile>, FetchError> {
        let client = &self.visitor.client;
        if let Some(file) = &memory.robots {
            client.keep_robots(&self.site, file.clone()).await;
        }
        let rules = client.robots(&self.site).await?;
        let delay = rules.delay(client.settings().token()).unwrap_or_default();
        if LONGEST_DELAY < delay {
            self.watcher.event(&self.origin, Event::Slow { delay });
        }
        Ok(client.robots_file(&self.site).await)
    }

    /// There are no collections. What came by some before is looked after by
    /// its pages; but where a sitemap could not be had, it was not said that
    /// there are none, and that is waited for.
    fn without_offer(&mut self, found: &Discovery) -> Result<Ended, VisitError> {
        let mut ended = Ended::default();
        for section in self.visitor.store.sections(self.publisher)? {
            if section.name != WEB && 0 < section.pages {
                ended.failed.insert(section.name, crate::plan::Reason::NotOffered);
            }
        }
        let Some((url, kind, text)) = lost_sitemap(found) else {
            self.memo.lost = None;
            return Ok(ended);
        };
        let since = *self.memo.lost.get_or_insert(self.now);
        if !ended.failed.is_empty() && self.now.seconds_since(since) < OFFER_AWAITED {
            ended.hopeless.extend(ended.failed.keys().cloned());
            self.report.rung = Rung::Scp;
            self.report.trouble(&url, kind, text);
        }
        Ok(ended)
    }

    /// Says by which way the site was read, as far as it is known by now.
    fn name_rung(&mut self, ended: &Ended) {
        if self.is_by_collections(ended) {
            self.report.rung = Rung::Scp;
        }
    }

    /// Whether collections brought a section up to date.
    fn is_by_collections(&self, ended: &Ended) -> bool {
        self.report.sections.keys().any(|name| !ended.failed.contains_key(name))
    }

    /// Reads pages one by one, where no collection can be used or a list has
    /// more than collections bring.
    async fn fall_back(
        &mut self,
        found: &mut Discovery,
        gathered: Gathered,
        ended: &Ended,
        has_offer: bool,
    ) -> Result<(), VisitError> {
        let can_help = ended.failed.keys().any(|name| !ended.hopeless.contains(name));
        let is_fine = ended.failed.is_empty() && ended.hopeless.is_empty();
        if !is_fine && !can_help {
            return Ok(());
        }
        let is_served = has_offer && is_fine;
        if is_served && !has_rest(self)? {
            return Ok(());
        }
        let mut rest = found.offer.clone();
        rest.scp = rutter_discover::ScpOffer::default();
        let (rung, why) = rest.rung(self.now);
        // Beside collections only lists say which pages there are: links and
        // hints do not.
        let rung = if is_served && rung != Rung::Arc { Rung::Sitemap } else { rung };
        let is_listed = matches!(rung, Rung::Sitemap | Rung::Arc | Rung::Scp);
        if !is_listed && ended.failed.is_empty() && self.awaits_sitemap(found) {
            return Ok(());
        }
        let is_known = self.has_section(WEB)? || !ended.failed.is_empty();
        if rung == Rung::Nothing && !is_known {
            let (kind, text) = match found.refusal() {
                Some(refusal) => (Kind::Policy, format!("nothing may be fetched: {refusal}")),
                None => (Kind::Network, why),
            };
            let origin = self.origin.clone();
            self.report.trouble(&origin, kind, text);
            return Ok(());
        }
        let told = if self.is_by_collections(ended) { Rung::Scp } else { rung };
        self.report.rung = told;
        if !ended.failed.is_empty() {
            // Verified lines are about to be replaced by what pages say, and
            // that is remembered whatever becomes of this visit.
            self.memo.stale.extend(ended.failed.keys().cloned());
            self.keep_memo()?;
        }
        self.has_walked = true;
        crawl::crawl(self, found, gathered, ended, rung).await?;
        // Lists may have been looked for once more.
        self.report.rung = told;
        Ok(())
    }

    /// Reports announced sitemaps that were not read, or that were read before
    /// and fail now; tells whether one of them may be read by a later sync.
    /// Which pages there are is not known then: a crawl by links would add
    /// pages that the next good sitemap removes.
    fn awaits_sitemap(&mut self, found: &Discovery) -> bool {
        let failures = urls::failures(self, found);
        for (url, kind, text) in &failures {
            self.report.trouble_once(url, *kind, text);
        }
        failures.iter().any(|(_, kind, _)| kind.is_some())
    }

    /// Remembers, and says what it came to.
    fn end(mut self, found: Discovery) -> Result<Report, VisitError> {
        let lists = &found.offer.sitemaps;
        let arc = found.offer.arc.as_ref().map(|arc| arc.url.as_str());
        let is_offered =
            |name: &str| Some(name) == arc || lists.iter().any(|sitemap| sitemap.url == name);
        self.memo.rest.retain(|name| name.is_empty() || is_offered(name));
        self.memo.memory = found.memory;
        // A crawl has stored its list, with what ARC says.
        if !self.has_walked && self.report.arc.is_some() {
            left_out::keep(&self, false)?;
        }
        // What was not looked for in this visit is left out as before.
        if !self.has_walked {
            for (reason, n) in &self.memo.left_out {
                let reason = LeftOut::parse(reason).unwrap_or(LeftOut::OTHER);
                self.report.count_left_out(reason, *n);
            }
        } else if !self.is_cut_short {
            let left_out = self.report.left_out.iter();
            let left_out = left_out.filter(|(why, _)| **why != LeftOut::ARC_OTHER_SITE);
            self.memo.left_out = left_out.map(|(why, n)| (why.key(), *n)).collect();
        }
        if self.news.has_more_room && !self.is_cut_short {
            let now = self.visitor.options.quota.bytes;
            self.memo.quota = self.memo.quota.filter(|quota| *quota == now);
        }
        let scope = self.visitor.options.scope.rules();
        self.memo.scope = (*scope != ScopeRules::default()).then(|| scope.clone());
        self.forget_gone()?;
        self.count()?;
        self.report_damaged_rows();
        if !self.unregister()? {
            self.keep_memo()?;
        }
        self.report.requests = self.tally.requests();
        self.report.bytes = self.tally.bytes();
        Ok(self.report)
    }

    /// Forgets a site that was never visited before, and at which there was
    /// nothing to be taken: it is as if it had not been named. Tells whether it
    /// is forgotten.
    fn unregister(&self) -> Result<bool, VisitError> {
        let store = &self.visitor.store;
        let Some(publisher) = store.publisher(&self.origin)?.filter(|_| self.news.is_first) else {
            return Ok(false);
        };
        let is_paused = publisher.paused_until.is_some_and(|until| self.now < until);
        let is_empty = publisher.pages == 0
            && !is_paused
            && !self.has_walked
            && self.visitor.options.aliases.is_empty()
            && self.memo.refused.is_empty()
            && store.sections(self.publisher)?.is_empty()
            && store.arc_entries(self.publisher, None, 1)?.is_empty()
            && store.entities(self.publisher)?.is_empty();
        if is_empty {
            store.forget(self.hold.lease().clone(), self.now)?;
        }
        Ok(is_empty)
    }

    /// Writes down what is remembered.
    pub(crate) fn keep_memo(&self) -> Result<(), VisitError> {
        let aliases: Vec<&str> = self.visitor.options.aliases.iter().map(String::as_str).collect();
        self.visitor.store.register(&self.origin, &aliases, &self.memo.write())?;
        Ok(())
    }

    pub(crate) fn has_section(&self, name: &str) -> Result<bool, VisitError> {
        let sections = self.visitor.store.sections(self.publisher)?;
        Ok(sections.iter().any(|section| section.name == name))
    }

    /// Tells of pages that keep no words, because these would be too many.
    pub(crate) fn no_room(&mut self, n_pages: u64) {
        if 0 < n_pages {
            self.memo.quota = Some(self.visitor.options.quota.bytes);
            let text = format!("{n_pages} pages keep no words: the quota of bytes is used up");
            let origin = self.origin.clone();
            self.report.trouble(&origin, Kind::Policy, text);
        }
    }

    /// Leaves the site alone for a while.
    pub(crate) fn pause(&self, until: Timestamp) -> Result<(), VisitError> {
        Ok(self.visitor.store.pause(self.hold.lease(), Some(until))?)
    }

    /// Enters a failed request into the report.
    pub(crate) fn fetch_trouble(&mut self, error: &FetchError) -> Result<(), VisitError> {
        let kind = match &error.cause {
            Cause::Refused(_) => Kind::Policy,
            Cause::Answer(_) => Kind::Integrity,
            Cause::Later { until, .. } => {
                self.pause(*until)?;
                Kind::Network
            }
            _ => Kind::Network,
        };
        self.report.trouble(&error.url, kind, told(&error.cause));
        Ok(())
    }

    pub(crate) fn keep_findings(&mut self, url: &str, findings: &Findings) {
        for (_, finding) in findings.findings() {
            self.report.finding(url, finding.clone());
        }
    }
}

/// A sitemap that may hold the offer and could not be read.
fn lost_sitemap(found: &Discovery) -> Option<(String, Kind, String)> {
    found.looks.iter().find_map(|look| {
        let is_usual = look.by == Clue::UsualPlace && look.url.ends_with("/sitemap.xml");
        if !is_usual && !matches!(look.by, Clue::SitemapLine | Clue::SitemapIndex) {
            return None;
        }
        let (kind, text) = match &look.outcome {
            Outcome::Failed(text) => (Kind::Network, text.clone()),
            Outcome::Refused(text) => (Kind::Policy, text.clone()),
            Outcome::Absent(status) => (Kind::Network, format!("status {status}")),
            Outcome::Other(text) => (Kind::Integrity, text.clone()),
            _ => return None,
        };
        Some((look.url.clone(), kind, format!("{text}; the collections it named are waited for")))
    })
}

/// The files that a visit asks for itself, because it takes them over.
pub(crate) fn mine(memory: &Memory) -> BTreeSet<String> {
    let files = memory.files.iter();
    let taken = files.filter(|(_, file)| matches!(file.said, Some(Said::Arc(_) | Said::Spxi)));
    taken.map(|(url, _)| url.clone()).collect()
}
