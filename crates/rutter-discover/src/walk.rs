//! The walk: which places are asked, in which order, and when it is enough.
//!
//! Announced places come first, usual places last, and the latter only after
//! the host was asked for an address that nobody has. A visit that remembers
//! an earlier one asks announced files whether they changed, and leaves the
//! other places alone for a week.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read;
use std::time::Duration;

use rutter_fetch::{
    Cause, Client, FetchError, Fetched, LONGEST_DELAY, Probe, Refused, Request, RobotsReason,
    RobotsRules, Url, What, shown,
};
use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};
use rutter_page::Timestamp;
use rutter_signpost::rules as signpost_rules;
use serde::Serialize;

use crate::bounds::Bounds;
use crate::memory::{Memory, Remembered, is_recent};
use crate::offer::{Gathered, Offer};
use crate::read::{self, Ending, SPXI, Sort};
use crate::room::{Capped, Room};
use crate::rules;
use crate::said::{Clue, Said, kind_of};
use crate::sink::{Named, PageSink};

/// What a host answers that has every file.
const NOBODY: &str = "the page for unknown addresses";
/// What is held in memory where there is no place for files.
const MOST_IN_MEMORY: u64 = 16 << 20;

/// What is known of a site after a walk.
#[derive(Debug, Clone)]
pub struct Discovery {
    /// The address of the site: scheme, host, port.
    pub site: Url,
    /// Every place that was looked at, in order.
    pub looks: Vec<Look>,
    /// What it all amounts to.
    pub offer: Offer,
    /// What is wrong with it, and where.
    pub findings: Vec<(String, Finding)>,
    /// For the next visit.
    pub memory: Memory,
    /// Bytes of bodies that came over the wire.
    pub wire_bytes: u64,
    /// Sitemaps of indexes that were not read, because others before them have
    /// the collections.
    pub n_unread: u64,
}

impl Discovery {
    /// Why a policy kept places from being read: the home page's reason, else
    /// that of the first place. `None` where nothing was refused.
    pub fn refusal(&self) -> Option<&str> {
        let refused = self.looks.iter().filter_map(|look| match &look.outcome {
            Outcome::Refused(why) => Some((look.url != self.site.as_str(), why.as_str())),
            _ => None,
        });
        refused.min_by_key(|(is_other, _)| *is_other).map(|(_, why)| why)
    }
}

/// One place that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Look {
    /// Where, fit to be shown.
    pub url: String,
    /// Why.
    pub by: Clue,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Status code of the response, where there was one.
    #[serde(skip)]
    pub status: Option<u16>,
}

/// What came of looking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", content = "detail", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Outcome {
    /// It is there, and this is what it is.
    Found(&'static str),
    /// It is there and has not changed.
    Unchanged(&'static str),
    /// It was known from a visit not long ago, and not asked for.
    Remembered(&'static str),
    /// It is not there.
    Absent(u16),
    /// Something is there, and it is not what was looked for.
    Other(String),
    /// A policy forbids to look.
    Refused(String),
    /// It could not be had.
    Failed(String),
}

/// Looks around a site.
///
/// Fails only where the site cannot be visited at all: its host is not there,
/// or may not be asked, or what it says cannot be kept for reading.
pub async fn discover(
    client: &Client,
    site: &Url,
    memory: &Memory,
    bounds: Bounds,
    pages: &mut (dyn PageSink + Send),
) -> Result<Discovery, FetchError> {
    let mut root = site.clone();
    root.set_path("/");
    root.set_query(None);
    root.set_fragment(None);
    if let Some(file) = &memory.robots {
        client.keep_robots(&root, file.clone()).await;
    }
    let rules = client.robots(&root).await?;
    let now = client.means().clock.now();
    let mut walk = Walk {
        client,
        now,
        old: memory,
        bounds,
        found: Discovery {
            site: root.clone(),
            looks: Vec::new(),
            offer: Offer::default(),
            findings: Vec::new(),
            memory: Memory { probe: memory.probe.clone(), ..Memory::default() },
            wire_bytes: 0,
            n_unread: 0,
        },
        said: BTreeMap::new(),
        order: Vec::new(),
        n_sitemaps: 0,
        has_adverts: false,
        room: Room::USUAL,
        findings: Capped::default(),
        lost: None,
        slow: rules.delay(client.settings().token()).filter(|delay| LONGEST_DELAY < *delay),
    };
    walk.robots(&rules);
    walk.sitemaps(&rules, pages).await;
    walk.home().await;
    walk.late_sitemaps(pages).await;
    walk.usual_places(&rules, pages).await;
    if let Some(error) = walk.lost.take() {
        return Err(error);
    }
    walk.found.memory.robots = client.robots_file(&root).await;
    Ok(walk.finish())
}

struct Walk<'w> {
    client: &'w Client,
    now: Timestamp,
    old: &'w Memory,
    bounds: Bounds,
    found: Discovery,
    /// What each address said, once.
    said: BTreeMap<String, Option<Said>>,
    /// In which order, and by which clue.
    order: Vec<(String, Clue)>,
    /// Sitemaps that were read or are remembered, and whether one of them has
    /// adverts.
    n_sitemaps: usize,
    has_adverts: bool,
    room: Room,
    findings: Capped,
    /// Why nothing can be kept here.
    lost: Option<FetchError>,
    /// The delay that robots.txt asks for, where it is longer than we wait:
    /// then only announced places and sitemap.xml are asked (D52).
    slow: Option<Duration>,
}

/// Whether a place is asked at every visit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Announced, or known to be there.
    Entry,
    /// Not more than a hint: once a week is enough.
    Hint,
}

impl Walk<'_> {
    fn report(&mut self, url: &str, rule: &'static Rule, detail: impl Into<String>) {
        if !self.findings.has_room(rule) {
            return;
        }
        self.found.findings.push((url.to_owned(), Finding::new(rule, Place::WHOLE, detail)));
    }

    fn robots(&mut self, rules: &RobotsRules) {
        let outcome = match rules {
            RobotsRules::Rules(_) => Outcome::Found("robots.txt"),
            RobotsRules::Open(status) => Outcome::Absent(*status),
            RobotsRules::Closed(reason) => Outcome::Failed(reason.to_string()),
        };
        let url = format!("{}robots.txt", self.found.site);
        self.found.looks.push(Look { url, by: Clue::Given, outcome, status: None });
    }

    /// Sitemaps that robots.txt names; else the usual place.
    async fn sitemaps(&mut self, rules: &RobotsRules, pages: &mut (dyn PageSink + Send)) {
        let mut queue = VecDeque::new();
        if let RobotsRules::Rules(robots) = rules {
            let robots_txt = format!("{}robots.txt", self.found.site);
            let mut seen = BTreeSet::new();
            for (line, text) in robots.sitemaps() {
                let finding = |rule| Finding::new(rule, Place::line(line), quoted(text));
                match Url::parse(text) {
                    Ok(url) if matches!(url.scheme(), "http" | "https") => {
                        if seen.insert(url.clone()) {
                            queue.push_back((url, Clue::SitemapLine, 0));
                        }
                    }
                    _ => {
                        let finding = finding(&signpost_rules::RELATIVE_SITEMAP);
                        self.found.findings.push((robots_txt.clone(), finding));
                    }
                }
                if self.bounds.lines <= queue.len() {
                    let finding = finding(&rules::TOO_MANY_SITEMAPS);
                    self.found.findings.push((robots_txt, finding));
                    break;
                }
            }
        }
        self.read_sitemaps(queue, pages).await;
        // A sitemap that may not be requested is as good as none (D64).
        let mut lines = self.found.looks.iter().filter(|look| look.by == Clue::SitemapLine);
        if lines.all(|look| matches!(look.outcome, Outcome::Refused(_))) {
            let usual = (self.place("sitemap.xml"), Clue::UsualPlace, 0);
            self.read_sitemaps(VecDeque::from([usual]), pages).await;
        }
    }

    /// The https URL of a sitemap that an https site announces by plain http.
    fn https_url(&self, url: &Url) -> Option<Url> {
        let site = &self.found.site;
        let is_upgrade = site.scheme() == "https" && url.scheme() == "http";
        if !is_upgrade || site.host() != url.host() || site.port() != url.port() {
            return None;
        }
        let mut https = url.clone();
        https.set_scheme("https").ok()?;
        Some(https)
    }

    /// Sitemaps that only the home page names.
    async fn late_sitemaps(&mut self, pages: &mut (dyn PageSink + Send)) {
        let queue = self.home_said().map(|home| home.sitemaps.clone()).unwrap_or_default();
        let queue = queue.iter().filter_map(|url| Url::parse(url).ok());
        let queue = queue.map(|url| (url, Clue::HeadLink, 0)).collect();
        self.read_sitemaps(queue, pages).await;
    }

    async fn read_sitemaps(
        &mut self,
        mut queue: VecDeque<(Url, Clue, usize)>,
        pages: &mut (dyn PageSink + Send),
    ) {
        while let Some((url, by, depth)) = queue.pop_front() {
            let url = match self.https_url(&url) {
                Some(https) => {
                    let detail = "plain http; requested by https instead";
                    self.report(url.as_str(), &rules::SITEMAP_LINE_UNUSABLE, detail);
                    https
                }
                None => url,
            };
            if self.said.contains_key(url.as_str()) {
                continue;
            }
            if self.bounds.sitemaps <= self.n_sitemaps {
                let left = queue.len() + 1;
                let detail = format!("{left} not read");
                self.report(url.as_str(), &rules::TOO_MANY_SITEMAPS, detail);
                return;
            }
            if by == Clue::SitemapIndex && self.has_adverts && !self.bounds.reads_all {
                self.found.n_unread += 1;
                // Whoever reads it later need not take it again.
                let known = self.old.files.get_key_value(url.as_str());
                self.found.memory.files.extend(known.map(|(url, old)| (url.clone(), old.clone())));
                continue;
            }
            self.look(&url, by, read::kind_of_path(&url), Need::Entry, pages).await;
            let Some(Some(Said::Sitemap(said))) = self.said.get(url.as_str()) else {
                if by == Clue::SitemapLine && !self.has_said(&url) {
                    self.report(url.as_str(), &rules::SITEMAP_LINE_UNUSABLE, "");
                }
                continue;
            };
            let children = said.children.clone();
            for child in children {
                let Ok(next) = Url::parse(&child) else { continue };
                let https = self.https_url(&next);
                let is_known =
                    self.said.contains_key(https.as_ref().map_or(child.as_str(), Url::as_str));
                if is_known || self.bounds.depth <= depth + 1 {
                    self.report(url.as_str(), &rules::SITEMAP_CYCLE, quoted(&child));
                    continue;
                }
                // Beyond this, none of them would be read.
                if self.bounds.sitemaps < queue.len() {
                    let detail = format!("reading stopped after {}", queue.len());
                    self.report(url.as_str(), &rules::TOO_MANY_SITEMAPS, detail);
                    break;
                }
                queue.push_back((next, Clue::SitemapIndex, depth + 1));
            }
        }
    }

    async fn home(&mut self) {
        let home = self.found.site.clone();
        self.look(&home, Clue::Given, What::Page, Need::Hint, &mut ()).await;
    }

    fn home_said(&self) -> Option<&crate::said::HomeSaid> {
        match self.said.get(self.found.site.as_str()) {
            Some(Some(Said::Home(home))) => Some(home),
            _ => None,
        }
    }

    /// Places where files of each kind lie, announced ones before usual ones.
    async fn usual_places(&mut self, rules: &RobotsRules, pages: &mut (dyn PageSink + Send)) {
        let home = self.home_said().cloned().unwrap_or_default();
        let llms = home.llms.iter().filter_map(|url| Some((Url::parse(url).ok()?, Clue::HeadLink)));
        let llms: Vec<_> = llms.chain([(self.place("llms.txt"), Clue::UsualPlace)]).collect();
        self.first_of(llms, What::Llms, |said| matches!(said, Said::Llms(_)), pages).await;

        if !self.said.values().any(|said| matches!(said, Some(Said::Arc(_)))) {
            let mut arc: Vec<(Url, Clue)> = Vec::new();
            let pointers = self.said.values().filter_map(|said| match said {
                Some(Said::ArcPointer { url }) => Some(url),
                _ => None,
            });
            for url in pointers.chain(&home.arc) {
                arc.extend(Url::parse(url).ok().map(|url| (url, Clue::JsonLd)));
            }
            arc.push((self.place("arc-sitemap.json"), Clue::UsualPlace));
            arc.push((self.place(".well-known/arc-sitemap.json"), Clue::WellKnown));
            self.first_of(arc, What::Arc, |said| matches!(said, Said::Arc(_)), pages).await;
        }
        if self.said.values().any(|said| matches!(said, Some(Said::Arc(_)))) {
            let policy = vec![(self.place(".well-known/arc-policy.json"), Clue::WellKnown)];
            self.first_of(policy, What::Policy, |said| *said == Said::Policy, pages).await;
        }

        let spxi = self.spxi_places(rules);
        self.first_of(spxi, What::SpxiIndex, |said| *said == Said::Spxi, pages).await;
    }

    /// Every place where the SPXI index is said to be, then its usual one.
    fn spxi_places(&self, rules: &RobotsRules) -> Vec<(Url, Clue)> {
        let mut places: Vec<(Url, Clue)> = Vec::new();
        let mut add = |urls: &[String], by| {
            places.extend(urls.iter().filter_map(|url| Some((Url::parse(url).ok()?, by))));
        };
        for (url, _) in &self.order {
            if let Some(Some(Said::Sitemap(said))) = self.said.get(url) {
                add(&said.spxi, Clue::SitemapLink);
            }
        }
        for said in self.said.values() {
            match said {
                Some(Said::Home(home)) => add(&home.spxi, Clue::HeadLink),
                Some(Said::Llms(llms)) => add(&llms.spxi, Clue::LlmsTxt),
                _ => {}
            }
        }
        if read::is_index_allowed(rules) {
            places.push((self.place(SPXI), Clue::AllowLine));
        }
        places.sort_by_key(|(_, by)| *by);
        places.push((self.place(SPXI), Clue::UsualPlace));
        places.push((self.place(&format!(".well-known/{SPXI}")), Clue::WellKnown));
        places
    }

    /// Looks at one place after the other until one is right. Other clues to
    /// the same place are kept.
    async fn first_of(
        &mut self,
        places: Vec<(Url, Clue)>,
        what: What,
        is_right: impl Fn(&Said) -> bool,
        pages: &mut (dyn PageSink + Send),
    ) {
        let mut right: Option<Url> = None;
        for (url, by) in places {
            let is_guess = matches!(by, Clue::UsualPlace | Clue::WellKnown);
            if let Some(right) = &right {
                if *right == url && !is_guess {
                    self.order.push((url.into(), by));
                }
                continue;
            }
            if !self.said.contains_key(url.as_str()) {
                let need = if is_guess { Need::Hint } else { Need::Entry };
                self.look(&url, by, what, need, pages).await;
                // Also where nobody names it: a file with this name that cannot
                // be read may say what nobody hears.
                let is_odd =
                    |look: &Look| matches!(&look.outcome, Outcome::Other(why) if why != NOBODY);
                let is_odd = what == What::Arc && self.found.looks.last().is_some_and(is_odd);
                if (!is_guess || is_odd) && !self.has_said(&url) {
                    self.report(url.as_str(), &rules::NOT_WHAT_IT_SAYS, by.name());
                }
            }
            let said = self.said.get(url.as_str()).and_then(Option::as_ref);
            if said.is_some_and(&is_right) {
                right = Some(url);
            }
        }
    }

    fn place(&self, path: &str) -> Url {
        let mut url = self.found.site.clone();
        url.set_path(path);
        url
    }

    fn has_said(&self, url: &Url) -> bool {
        matches!(self.said.get(url.as_str()), Some(Some(_)))
    }

    /// Looks at one place, or remembers it.
    async fn look(
        &mut self,
        url: &Url,
        by: Clue,
        what: What,
        need: Need,
        pages: &mut (dyn PageSink + Send),
    ) {
        let key = url.as_str().to_owned();
        let old = self.old.files.get(&key).cloned();
        // Files that hold what changes are asked every time they are known.
        let is_entry = need == Need::Entry
            || old
                .as_ref()
                .and_then(|old| old.said.as_ref())
                .is_some_and(|said| matches!(said, Said::Sitemap(_) | Said::Arc(_) | Said::Spxi));
        // Whoever asks for it himself does not want it asked twice.
        let is_theirs = self.old.mine.contains(&key);
        let is_known = |old: &&Remembered| {
            if is_theirs { old.said.is_some() } else { !is_entry && old.is_recent(self.now) }
        };
        if let Some(old) = old.as_ref().filter(is_known) {
            let outcome = match &old.said {
                Some(said) => Outcome::Remembered(kind_of(said)),
                None => Outcome::Remembered("nothing"),
            };
            self.note_remembered(url, by, outcome, old.clone());
            return;
        }
        if self.bounds.bytes <= self.found.wire_bytes {
            self.report(&key, &rules::OUT_OF_BOUNDS, "");
            self.said.insert(key, None);
            return;
        }
        let is_guess = matches!(by, Clue::UsualPlace | Clue::WellKnown);
        if let Some(delay) = self.slow.filter(|_| is_guess && what != What::Sitemap) {
            let text = Refused::TooSlow(delay).to_string();
            self.note(url, by, Outcome::Refused(text), None, old);
            return;
        }
        let probe = if is_guess && self.slow.is_none() { self.probe().await } else { None };
        let left = self.bounds.bytes - self.found.wire_bytes;
        let known = old.as_ref().filter(|old| old.said.is_some());
        let request = Request {
            site: Some(self.found.site.clone()),
            known: known.map(|old| old.validators.clone()).unwrap_or_default(),
            ..Request::new(url.clone(), what)
        };
        // What may be large goes to a file, which goes with its folder.
        let is_large = matches!(what, What::Arc | What::Sitemap);
        let folder = if is_large { tempfile::tempdir().ok() } else { None };
        let request = Request {
            spool: folder.as_ref().map(|folder| folder.path().join("entry")),
            most: Some(if is_large && folder.is_none() { left.min(MOST_IN_MEMORY) } else { left }),
            ..request
        };
        let answer = match self.client.fetch(&request).await {
            Ok(answer) => answer,
            Err(error) if matches!(error.cause, Cause::Spool(_)) => {
                // It is our disk that fails, and says nothing of the site.
                self.said.insert(key, None);
                self.lost.get_or_insert(error);
                return;
            }
            Err(error) => {
                let outcome = self.failed(url, &error.cause);
                // What is known stays known; it was not said that it is gone.
                self.note(url, by, outcome, None, old);
                return;
            }
        };
        self.found.wire_bytes += answer.wire_bytes;
        if let Some(old) = known.filter(|_| answer.is_unchanged()) {
            let outcome = Outcome::Unchanged(old.said.as_ref().map_or("", kind_of));
            self.note_remembered(url, by, outcome, Remembered { asked: self.now, ..old.clone() });
            return;
        }
        let (outcome, said) = match answer.status {
            200..=299 => {
                let mut named = Named { url: &key, pages };
                let mut findings = std::mem::take(&mut self.findings);
                let read = self.read(&answer, what, probe.as_ref(), &mut named, &mut findings);
                let of_file = findings.next_file().into_iter();
                self.found.findings.extend(of_file.map(|it| (shown(url), it)));
                self.findings = findings;
                read
            }
            404 | 410 => (Outcome::Absent(answer.status), None),
            status => (Outcome::Failed(format!("status {status}")), None),
        };
        let status = Some(answer.status);
        let is_failed = matches!(outcome, Outcome::Failed(_));
        // Not that it is gone; a ban on what was never there is no news either.
        let is_trouble = is_failed && (known.is_some() || !matches!(answer.status, 400..=499));
        let kept = if is_trouble {
            old
        } else {
            let (asked, validators) = (self.now, answer.validators);
            Some(Remembered { asked, validators, said: said.clone() })
        };
        self.note(url, by, outcome, said, kept);
        if let Some(look) = self.found.looks.last_mut() {
            look.status = status;
        }
    }

    /// The outcome of a request without a response.
    fn failed(&self, url: &Url, cause: &Cause) -> Outcome {
        let text = cause.to_string();
        let is_other_host = url.origin() != self.found.site.origin();
        match cause {
            // The robots.txt of another host may be there next time.
            Cause::Refused(Refused::Robots(RobotsReason::Unreachable(_))) if is_other_host => {
                Outcome::Failed(text)
            }
            Cause::Refused(_) => Outcome::Refused(text),
            _ => Outcome::Failed(text),
        }
    }

    /// Notes what an earlier visit learned, as far as there is room for it.
    fn note_remembered(&mut self, url: &Url, by: Clue, outcome: Outcome, mut old: Remembered) {
        if let Some(said) = &mut old.said
            && !self.room.remember(said)
        {
            self.report(url.as_str(), &rules::OUT_OF_BOUNDS, "");
        }
        self.note(url, by, outcome, old.said.clone(), Some(old));
    }

    fn note(
        &mut self,
        url: &Url,
        by: Clue,
        outcome: Outcome,
        said: Option<Said>,
        kept: Option<Remembered>,
    ) {
        self.found.looks.push(Look { url: shown(url), by, outcome, status: None });
        self.order.push((url.as_str().to_owned(), by));
        if let Some(Said::Arc(arc)) = &said
            && let Some(rate) = arc.crawl_rate.as_deref().and_then(rutter_arc::CrawlRate::parse)
            && let Some(host) = self.found.site.host_str()
        {
            self.client.slow_down(host, rate.delay);
        }
        if let Some(Said::Sitemap(sitemap)) = &said {
            self.n_sitemaps += 1;
            self.has_adverts |= !sitemap.adverts.is_empty();
        }
        self.said.insert(url.as_str().to_owned(), said);
        if let Some(kept) = kept {
            self.found.memory.files.insert(url.as_str().to_owned(), kept);
        }
    }

    /// What the host says to an address that nobody has; asked once a week.
    async fn probe(&mut self) -> Option<Probe> {
        if let Some((asked, probe)) = &self.found.memory.probe
            && is_recent(*asked, self.now)
        {
            return Some(probe.clone());
        }
        let site = self.found.site.clone();
        let probe = self.client.probe(&site).await.ok()?;
        if probe.is_soft() {
            self.report(site.as_str(), &rules::SOFT_404, "");
        }
        self.found.memory.probe = Some((self.now, probe.clone()));
        Some(probe)
    }

    /// Sees what a body is, whatever it was asked for as.
    fn read(
        &mut self,
        answer: &Fetched,
        what: What,
        probe: Option<&Probe>,
        pages: &mut dyn PageSink,
        sink: &mut dyn FindingSink,
    ) -> (Outcome, Option<Said>) {
        let failed = |error: &dyn std::fmt::Display| (Outcome::Failed(error.to_string()), None);
        let mut start = Vec::new();
        let begun = read::open(answer, what)
            .and_then(|input| input.take(64 << 10).read_to_end(&mut start).map(|_| ()));
        if let Err(error) = begun {
            return failed(&error);
        }
        if let Some(probe) = probe
            && !probe.believes(answer, &start)
        {
            return (Outcome::Other(NOBODY.to_owned()), None);
        }
        let input = match read::open(answer, what) {
            Ok(input) => input,
            Err(error) => return failed(&error),
        };
        let url = &answer.url;
        let is_coded = answer.fields.content_encoding.is_some();
        let is_sure = answer.is_length_known || is_coded || start.starts_with(&[0x1f, 0x8b]);
        let ending = if is_sure { Ending::Known } else { Ending::Unknown };
        let said = match what {
            What::Sitemap | What::Arc => match read::sort(&start) {
                Sort::Sitemap => {
                    let room = &mut self.room;
                    read::sitemap(input, url, ending, room, pages, sink).map(Said::Sitemap)
                }
                Sort::Arc(form) => read::arc(input, form, url, pages, sink),
                Sort::Other => None,
            },
            _ => {
                let mut text = Vec::new();
                let mut input = input;
                if let Err(error) = input.read_to_end(&mut text) {
                    return failed(&error);
                }
                match what {
                    What::Llms => read::llms(&text, url).map(Said::Llms),
                    What::SpxiIndex => read::is_spxi_index(&text).then(|| {
                        pages.spxi(url.as_str(), &text);
                        Said::Spxi
                    }),
                    What::Policy => read::is_policy(&text).then_some(Said::Policy),
                    _ => {
                        let charset = answer.fields.charset();
                        Some(Said::Home(read::home(&text, url, charset, self.now)))
                    }
                }
            }
        };
        match said {
            Some(said) => (Outcome::Found(kind_of(&said)), Some(said)),
            None => {
                let media = answer.fields.media_type();
                (Outcome::Other(format!("something else, of type {}", quoted(&media))), None)
            }
        }
    }

    /// Puts the offer together.
    fn finish(mut self) -> Discovery {
        let client = self.client;
        let site = self.found.site.clone();
        let is_allowed = |text: &str| {
            let settings = client.settings();
            Url::parse(text)
                .is_ok_and(|url| settings.allows_scheme(&url) && settings.hosts.allows(&site, &url))
        };
        let mut whole = Gathered::default();
        let mut done = BTreeSet::new();
        for (url, by) in &self.order {
            let Some(Some(said)) = self.said.get(url) else { continue };
            // One clue is enough, but for what lists all of them.
            if !done.insert(url.clone()) && *said != Said::Spxi {
                continue;
            }
            whole.take(url, *by, said, &is_allowed, &mut self.findings);
            let of_file = self.findings.next_file().into_iter();
            self.found.findings.extend(of_file.map(|it| (url.clone(), it)));
        }
        self.found.offer = whole.finish();
        self.found
    }
}
