//! Runs discovery: decides which URLs of a site to request, and in which order.
//!
//! Input: a client, a site and the cache of an earlier run. Output: a [`Discovery`].
//! Announced files are requested first. Default paths are requested last, after a probe of
//! a URL that does not exist. If the cache has a file, an announced file is requested
//! conditionally, and a default path at most once a week.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read;
use std::time::Duration;

use rutter_fetch::{
    Client, FailureCause, FetchError, FetchedResponse, MAX_CRAWL_DELAY, MissingPageProbe, Request,
    RequestRefusal, ResourceKind, RobotsReason, RobotsRules, Url, redact_url,
};
use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};
use rutter_page::Timestamp;
use rutter_robots::rules as robots_rules;
use serde::Serialize;

use crate::discover::budget::{Budget, CappedFindings};
use crate::discover::cache::{CachedFile, DiscoveryCache, is_recent};
use crate::discover::limits::DiscoveryLimits;
use crate::discover::offer::{OfferBuilder, SiteOffer};
use crate::discover::parse::{self, BodyLength, FileFormat, SPXI};
use crate::discover::parsed_file::{DiscoverySource, ParsedFile, kind_name};
use crate::discover::rules;
use crate::discover::sink::{PageSink, RenamedSink};

/// Text of [`LookupOutcome::Other`] for the page that a host sends for every unknown URL.
const CATCH_ALL_PAGE: &str = "the page for unknown URLs";
/// Maximum size in bytes of a file that is kept in memory because no temporary directory
/// can be created.
const MAX_BYTES_IN_MEMORY: u64 = 16 << 20;

/// Result of a discovery run for one site.
#[derive(Debug, Clone)]
pub struct Discovery {
    /// URL of the home page: scheme, host and port of the site.
    pub site: Url,
    /// All URLs that the run looked up, in order.
    pub lookups: Vec<Lookup>,
    /// What the site offers to machines.
    pub offer: SiteOffer,
    /// Findings, each with the URL of the file that it concerns.
    pub findings: Vec<(String, Finding)>,
    /// Cache for the next discovery run.
    pub cache: DiscoveryCache,
    /// Number of bytes of all response bodies, as transferred.
    pub wire_bytes: u64,
    /// Number of child sitemaps that were not read because an earlier one has collections.
    pub n_unread: u64,
}

impl Discovery {
    /// Returns why a policy refused a request; `None` if no request was refused. The reason
    /// for the home page takes precedence over the reasons for other URLs.
    pub fn refusal(&self) -> Option<&str> {
        let refused = self.lookups.iter().filter_map(|lookup| match &lookup.outcome {
            LookupOutcome::Refused(why) => Some((lookup.url != self.site.as_str(), why.as_str())),
            _ => None,
        });
        refused.min_by_key(|(is_other, _)| *is_other).map(|(_, why)| why)
    }
}

/// One URL that discovery looked up, by a request or in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lookup {
    /// The URL; secrets in it are redacted.
    pub url: String,
    /// How the URL was discovered.
    #[serde(rename = "by")]
    pub source: DiscoverySource,
    /// What discovery found at the URL.
    #[serde(flatten)]
    pub outcome: LookupOutcome,
    /// Status code of the response, if there was one.
    #[serde(skip)]
    pub status: Option<u16>,
}

/// What discovery found at one URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", content = "detail", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LookupOutcome {
    /// The URL has a file of the type that this name describes.
    Found(&'static str),
    /// The file, with this type, has not changed since the last run.
    Unchanged(&'static str),
    /// The file, with this type, is taken from the cache without a request.
    #[serde(rename = "remembered")]
    Cached(&'static str),
    /// The file does not exist: the server answered with this status code.
    Absent(u16),
    /// The response is not a file of the expected type; the text describes its content.
    Other(String),
    /// A policy refused the request, for the reason in the text.
    Refused(String),
    /// The request failed, for the reason in the text.
    Failed(String),
}

/// Finds out what a site offers to machines.
///
/// # Errors
///
/// Fails if the host of the site cannot be reached, if its robots.txt cannot be requested,
/// or if a response cannot be written to disk.
pub async fn discover(
    client: &Client,
    site: &Url,
    cache: &DiscoveryCache,
    limits: DiscoveryLimits,
    pages: &mut (dyn PageSink + Send),
) -> Result<Discovery, FetchError> {
    let mut root = site.clone();
    root.set_path("/");
    root.set_query(None);
    root.set_fragment(None);
    if let Some(file) = &cache.robots {
        client.restore_robots(&root, file.clone()).await;
    }
    let rules = client.robots_rules(&root).await?;
    let now = client.environment().clock.now();
    let mut run = DiscoveryRun {
        client,
        now,
        previous: cache,
        limits,
        discovery: Discovery {
            site: root.clone(),
            lookups: Vec::new(),
            offer: SiteOffer::default(),
            findings: Vec::new(),
            cache: DiscoveryCache { probe: cache.probe.clone(), ..DiscoveryCache::default() },
            wire_bytes: 0,
            n_unread: 0,
        },
        parsed: BTreeMap::new(),
        order: Vec::new(),
        n_sitemaps: 0,
        has_adverts: false,
        budget: Budget::DEFAULT,
        findings: CappedFindings::default(),
        spool_error: None,
        long_delay: rules
            .delay(client.settings().robots_token())
            .filter(|delay| MAX_CRAWL_DELAY < *delay),
    };
    run.record_robots(&rules);
    run.read_announced_sitemaps(&rules, pages).await;
    run.read_home_page().await;
    run.read_sitemaps_of_home_page(pages).await;
    run.read_default_paths(&rules, pages).await;
    if let Some(error) = run.spool_error.take() {
        return Err(error);
    }
    run.discovery.cache.robots = client.robots_file(&root).await;
    Ok(run.finish())
}

struct DiscoveryRun<'w> {
    client: &'w Client,
    now: Timestamp,
    previous: &'w DiscoveryCache,
    limits: DiscoveryLimits,
    discovery: Discovery,
    /// Parsed content by URL; `None` if the URL has no usable file.
    parsed: BTreeMap<String, Option<ParsedFile>>,
    /// URLs in the order of their discovery.
    order: Vec<(String, DiscoverySource)>,
    /// Number of sitemaps with known content, and whether one of these sitemaps has
    /// adverts.
    n_sitemaps: usize,
    has_adverts: bool,
    budget: Budget,
    findings: CappedFindings,
    /// First error of writing a response to disk, with which the run fails.
    spool_error: Option<FetchError>,
    /// The crawl delay of robots.txt, if it exceeds the maximum. With such a delay,
    /// discovery requests only announced files and sitemap.xml (D52).
    long_delay: Option<Duration>,
}

/// How often discovery requests a URL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckInterval {
    /// The URL is requested in every run: an announced file, or the default sitemap.
    Always,
    /// The URL is requested at most once a week: the home page, or a default path.
    Weekly,
}

impl DiscoveryRun<'_> {
    fn report(&mut self, url: &str, rule: &'static Rule, detail: impl Into<String>) {
        if !self.findings.admit(rule) {
            return;
        }
        self.discovery.findings.push((url.to_owned(), Finding::new(rule, Place::WHOLE, detail)));
    }

    fn record_robots(&mut self, rules: &RobotsRules) {
        let outcome = match rules {
            RobotsRules::Rules(_) => LookupOutcome::Found("robots.txt"),
            RobotsRules::AllowAll(status) => LookupOutcome::Absent(*status),
            RobotsRules::DisallowAll(reason) => LookupOutcome::Failed(reason.to_string()),
        };
        let url = format!("{}robots.txt", self.discovery.site);
        self.discovery.lookups.push(Lookup {
            url,
            source: DiscoverySource::Given,
            outcome,
            status: None,
        });
    }

    /// Reads the sitemaps that robots.txt announces; if it announces none, reads the
    /// sitemap at the default path.
    async fn read_announced_sitemaps(
        &mut self,
        rules: &RobotsRules,
        pages: &mut (dyn PageSink + Send),
    ) {
        let mut queue = VecDeque::new();
        if let RobotsRules::Rules(robots) = rules {
            let robots_txt = format!("{}robots.txt", self.discovery.site);
            let mut seen = BTreeSet::new();
            for (line, text) in robots.sitemaps() {
                let finding = |rule| Finding::new(rule, Place::line(line), quoted(text));
                match Url::parse(text) {
                    Ok(url) if matches!(url.scheme(), "http" | "https") => {
                        if seen.insert(url.clone()) {
                            queue.push_back((url, DiscoverySource::SitemapLine, 0));
                        }
                    }
                    _ => {
                        let finding = finding(&robots_rules::RELATIVE_SITEMAP);
                        self.discovery.findings.push((robots_txt.clone(), finding));
                    }
                }
                if self.limits.lines <= queue.len() {
                    let finding = finding(&rules::TOO_MANY_SITEMAPS);
                    self.discovery.findings.push((robots_txt, finding));
                    break;
                }
            }
        }
        self.read_sitemaps(queue, pages).await;
        // If a policy refuses all announced sitemaps, the site counts as one that announces
        // no sitemap (D64).
        let mut lines = self
            .discovery
            .lookups
            .iter()
            .filter(|lookup| lookup.source == DiscoverySource::SitemapLine);
        if lines.all(|lookup| matches!(lookup.outcome, LookupOutcome::Refused(_))) {
            let usual = (self.site_url("sitemap.xml"), DiscoverySource::DefaultPath, 0);
            self.read_sitemaps(VecDeque::from([usual]), pages).await;
        }
    }

    /// Returns the https URL of a sitemap that an https site announces with plain http;
    /// `None` for any other sitemap.
    fn https_url(&self, url: &Url) -> Option<Url> {
        let site = &self.discovery.site;
        let is_upgrade = site.scheme() == "https" && url.scheme() == "http";
        if !is_upgrade || site.host() != url.host() || site.port() != url.port() {
            return None;
        }
        let mut https = url.clone();
        https.set_scheme("https").ok()?;
        Some(https)
    }

    /// Reads sitemaps that only the home page announces.
    async fn read_sitemaps_of_home_page(&mut self, pages: &mut (dyn PageSink + Send)) {
        let queue = self.parsed_home().map(|home| home.sitemaps.clone()).unwrap_or_default();
        let queue = queue.iter().filter_map(|url| Url::parse(url).ok());
        let queue = queue.map(|url| (url, DiscoverySource::HeadLink, 0)).collect();
        self.read_sitemaps(queue, pages).await;
    }

    async fn read_sitemaps(
        &mut self,
        mut queue: VecDeque<(Url, DiscoverySource, usize)>,
        pages: &mut (dyn PageSink + Send),
    ) {
        while let Some((url, source, depth)) = queue.pop_front() {
            let url = match self.https_url(&url) {
                Some(https) => {
                    let detail = "plain http; requested over https instead";
                    self.report(url.as_str(), &rules::SITEMAP_LINE_UNUSABLE, detail);
                    https
                }
                None => url,
            };
            if self.parsed.contains_key(url.as_str()) {
                continue;
            }
            if self.limits.sitemaps <= self.n_sitemaps {
                let left = queue.len() + 1;
                let detail = format!("{left} not read");
                self.report(url.as_str(), &rules::TOO_MANY_SITEMAPS, detail);
                return;
            }
            if source == DiscoverySource::SitemapIndex && self.has_adverts && !self.limits.reads_all
            {
                self.discovery.n_unread += 1;
                // Keep the cache entry of this sitemap for a later run that reads it.
                let known = self.previous.files.get_key_value(url.as_str());
                self.discovery
                    .cache
                    .files
                    .extend(known.map(|(url, previous)| (url.clone(), previous.clone())));
                continue;
            }
            self.check(&url, source, parse::file_kind_of_path(&url), CheckInterval::Always, pages)
                .await;
            let Some(Some(ParsedFile::Sitemap(parsed))) = self.parsed.get(url.as_str()) else {
                if source == DiscoverySource::SitemapLine && !self.is_parsed(&url) {
                    self.report(url.as_str(), &rules::SITEMAP_LINE_UNUSABLE, "");
                }
                continue;
            };
            let children = parsed.children.clone();
            for child in children {
                let Ok(next) = Url::parse(&child) else { continue };
                let https = self.https_url(&next);
                let is_known =
                    self.parsed.contains_key(https.as_ref().map_or(child.as_str(), Url::as_str));
                if is_known || self.limits.depth <= depth + 1 {
                    self.report(url.as_str(), &rules::SITEMAP_CYCLE, quoted(&child));
                    continue;
                }
                // Further child sitemaps would exceed the maximum number of sitemaps.
                if self.limits.sitemaps < queue.len() {
                    let detail = format!("reading stopped after {}", queue.len());
                    self.report(url.as_str(), &rules::TOO_MANY_SITEMAPS, detail);
                    break;
                }
                queue.push_back((next, DiscoverySource::SitemapIndex, depth + 1));
            }
        }
    }

    async fn read_home_page(&mut self) {
        let home = self.discovery.site.clone();
        self.check(
            &home,
            DiscoverySource::Given,
            ResourceKind::Page,
            CheckInterval::Weekly,
            &mut (),
        )
        .await;
    }

    fn parsed_home(&self) -> Option<&crate::discover::parsed_file::ParsedHomePage> {
        match self.parsed.get(self.discovery.site.as_str()) {
            Some(Some(ParsedFile::Home(home))) => Some(home),
            _ => None,
        }
    }

    /// Looks up llms.txt, ARC and SPXI files: announced URLs before default paths.
    async fn read_default_paths(&mut self, rules: &RobotsRules, pages: &mut (dyn PageSink + Send)) {
        let home = self.parsed_home().cloned().unwrap_or_default();
        let llms = home
            .llms
            .iter()
            .filter_map(|url| Some((Url::parse(url).ok()?, DiscoverySource::HeadLink)));
        let llms: Vec<_> =
            llms.chain([(self.site_url("llms.txt"), DiscoverySource::DefaultPath)]).collect();
        self.find_first(
            llms,
            ResourceKind::Llms,
            |parsed| matches!(parsed, ParsedFile::Llms(_)),
            pages,
        )
        .await;

        if !self.parsed.values().any(|parsed| matches!(parsed, Some(ParsedFile::Arc(_)))) {
            let mut arc: Vec<(Url, DiscoverySource)> = Vec::new();
            let pointers = self.parsed.values().filter_map(|parsed| match parsed {
                Some(ParsedFile::ArcPointer { url }) => Some(url),
                _ => None,
            });
            for url in pointers.chain(&home.arc) {
                arc.extend(Url::parse(url).ok().map(|url| (url, DiscoverySource::JsonLd)));
            }
            arc.push((self.site_url("arc-sitemap.json"), DiscoverySource::DefaultPath));
            arc.push((self.site_url(".well-known/arc-sitemap.json"), DiscoverySource::WellKnown));
            self.find_first(
                arc,
                ResourceKind::Arc,
                |parsed| matches!(parsed, ParsedFile::Arc(_)),
                pages,
            )
            .await;
        }
        if self.parsed.values().any(|parsed| matches!(parsed, Some(ParsedFile::Arc(_)))) {
            let policy =
                vec![(self.site_url(".well-known/arc-policy.json"), DiscoverySource::WellKnown)];
            self.find_first(
                policy,
                ResourceKind::Policy,
                |parsed| *parsed == ParsedFile::Policy,
                pages,
            )
            .await;
        }

        let spxi = self.spxi_places(rules);
        self.find_first(spxi, ResourceKind::SpxiIndex, |parsed| *parsed == ParsedFile::Spxi, pages)
            .await;
    }

    /// Returns the announced URLs of the SPXI index, followed by its default paths.
    fn spxi_places(&self, rules: &RobotsRules) -> Vec<(Url, DiscoverySource)> {
        let mut places: Vec<(Url, DiscoverySource)> = Vec::new();
        let mut add = |urls: &[String], source| {
            places.extend(urls.iter().filter_map(|url| Some((Url::parse(url).ok()?, source))));
        };
        for (url, _) in &self.order {
            if let Some(Some(ParsedFile::Sitemap(parsed))) = self.parsed.get(url) {
                add(&parsed.spxi, DiscoverySource::SitemapLink);
            }
        }
        for parsed in self.parsed.values() {
            match parsed {
                Some(ParsedFile::Home(home)) => add(&home.spxi, DiscoverySource::HeadLink),
                Some(ParsedFile::Llms(llms)) => add(&llms.spxi, DiscoverySource::LlmsTxt),
                _ => {}
            }
        }
        if parse::is_index_allowed(rules) {
            places.push((self.site_url(SPXI), DiscoverySource::AllowLine));
        }
        places.sort_by_key(|(_, source)| *source);
        places.push((self.site_url(SPXI), DiscoverySource::DefaultPath));
        places.push((self.site_url(&format!(".well-known/{SPXI}")), DiscoverySource::WellKnown));
        places
    }

    /// Looks up URLs until one has the expected content. If further sources announce the
    /// same URL, records these sources.
    async fn find_first(
        &mut self,
        places: Vec<(Url, DiscoverySource)>,
        what: ResourceKind,
        is_right: impl Fn(&ParsedFile) -> bool,
        pages: &mut (dyn PageSink + Send),
    ) {
        let mut right: Option<Url> = None;
        for (url, source) in places {
            let is_guess =
                matches!(source, DiscoverySource::DefaultPath | DiscoverySource::WellKnown);
            if let Some(right) = &right {
                if *right == url && !is_guess {
                    self.order.push((url.into(), source));
                }
                continue;
            }
            if !self.parsed.contains_key(url.as_str()) {
                let need = if is_guess { CheckInterval::Weekly } else { CheckInterval::Always };
                self.check(&url, source, what, need, pages).await;
                // An unreadable ARC file at a default path is reported too, because its
                // restrictions on use cannot be obeyed.
                let is_odd = |lookup: &Lookup| matches!(&lookup.outcome, LookupOutcome::Other(why) if why != CATCH_ALL_PAGE);
                let is_odd =
                    what == ResourceKind::Arc && self.discovery.lookups.last().is_some_and(is_odd);
                if (!is_guess || is_odd) && !self.is_parsed(&url) {
                    self.report(url.as_str(), &rules::NOT_WHAT_IT_SAYS, source.name());
                }
            }
            let parsed = self.parsed.get(url.as_str()).and_then(Option::as_ref);
            if parsed.is_some_and(&is_right) {
                right = Some(url);
            }
        }
    }

    fn site_url(&self, path: &str) -> Url {
        let mut url = self.discovery.site.clone();
        url.set_path(path);
        url
    }

    fn is_parsed(&self, url: &Url) -> bool {
        matches!(self.parsed.get(url.as_str()), Some(Some(_)))
    }

    /// Looks up one URL, by a request or in the cache.
    #[expect(
        clippy::too_many_lines,
        reason = "one step after another, in the order of the protocol"
    )]
    async fn check(
        &mut self,
        url: &Url,
        source: DiscoverySource,
        what: ResourceKind,
        need: CheckInterval,
        pages: &mut (dyn PageSink + Send),
    ) {
        let key = url.as_str().to_owned();
        let previous = self.previous.files.get(&key).cloned();
        // Sitemaps, ARC sitemaps and SPXI indexes are requested in every run once they are
        // known, because their content changes.
        let is_entry = need == CheckInterval::Always
            || previous.as_ref().and_then(|previous| previous.parsed.as_ref()).is_some_and(
                |parsed| {
                    matches!(parsed, ParsedFile::Sitemap(_) | ParsedFile::Arc(_) | ParsedFile::Spxi)
                },
            );
        // The caller of discovery requests this file itself.
        let is_theirs = self.previous.fetched_by_caller.contains(&key);
        let is_known = |previous: &&CachedFile| {
            if is_theirs {
                previous.parsed.is_some()
            } else {
                !is_entry && previous.is_recent(self.now)
            }
        };
        if let Some(previous) = previous.as_ref().filter(is_known) {
            let outcome = match &previous.parsed {
                Some(parsed) => LookupOutcome::Cached(kind_name(parsed)),
                None => LookupOutcome::Cached("nothing"),
            };
            self.record_cached(url, source, outcome, previous.clone());
            return;
        }
        if self.limits.bytes <= self.discovery.wire_bytes {
            self.report(&key, &rules::OUT_OF_BOUNDS, "");
            self.parsed.insert(key, None);
            return;
        }
        let is_guess = matches!(source, DiscoverySource::DefaultPath | DiscoverySource::WellKnown);
        if let Some(delay) = self.long_delay.filter(|_| is_guess && what != ResourceKind::Sitemap) {
            let text = RequestRefusal::TooSlow(delay).to_string();
            self.record(url, source, LookupOutcome::Refused(text), None, previous);
            return;
        }
        let probe = if is_guess && self.long_delay.is_none() { self.probe().await } else { None };
        let left = self.limits.bytes - self.discovery.wire_bytes;
        let known = previous.as_ref().filter(|previous| previous.parsed.is_some());
        let request = Request {
            site: Some(self.discovery.site.clone()),
            validators: known.map(|previous| previous.validators.clone()).unwrap_or_default(),
            ..Request::new(url.clone(), what)
        };
        // Large files are written to a temporary directory, which is deleted at the end of
        // this function.
        let is_large = matches!(what, ResourceKind::Arc | ResourceKind::Sitemap);
        let folder = if is_large { tempfile::tempdir().ok() } else { None };
        let request = Request {
            spool: folder.as_ref().map(|folder| folder.path().join("entry")),
            max_bytes: Some(if is_large && folder.is_none() {
                left.min(MAX_BYTES_IN_MEMORY)
            } else {
                left
            }),
            ..request
        };
        let answer = match self.client.fetch(&request).await {
            Ok(answer) => answer,
            Err(error) if matches!(error.cause, FailureCause::Spool(_)) => {
                // The local disk failed, so nothing is known about the file of the site.
                self.parsed.insert(key, None);
                self.spool_error.get_or_insert(error);
                return;
            }
            Err(error) => {
                let outcome = self.failed(url, &error.cause);
                // A failed request does not prove that the file no longer exists, so its
                // cache entry is kept.
                self.record(url, source, outcome, None, previous);
                return;
            }
        };
        self.discovery.wire_bytes += answer.wire_bytes;
        if let Some(previous) = known.filter(|_| answer.is_not_modified()) {
            let outcome = LookupOutcome::Unchanged(previous.parsed.as_ref().map_or("", kind_name));
            self.record_cached(
                url,
                source,
                outcome,
                CachedFile { requested: self.now, ..previous.clone() },
            );
            return;
        }
        let (outcome, parsed) = match answer.status {
            200..=299 => {
                let mut named = RenamedSink { url: &key, pages };
                let mut findings = std::mem::take(&mut self.findings);
                let read = self.read(&answer, what, probe.as_ref(), &mut named, &mut findings);
                let of_file = findings.next_file().into_iter();
                self.discovery.findings.extend(of_file.map(|it| (redact_url(url), it)));
                self.findings = findings;
                read
            }
            404 | 410 => (LookupOutcome::Absent(answer.status), None),
            status => (LookupOutcome::Failed(format!("status {status}")), None),
        };
        let status = Some(answer.status);
        let is_failed = matches!(outcome, LookupOutcome::Failed(_));
        // After a failure, the file may still exist, so the previous cache entry is kept.
        // Only a 4xx response for a file that was never known is cached as a missing file.
        let is_trouble = is_failed && (known.is_some() || !matches!(answer.status, 400..=499));
        let kept = if is_trouble {
            previous
        } else {
            let (requested, validators) = (self.now, answer.validators);
            Some(CachedFile { requested, validators, parsed: parsed.clone() })
        };
        self.record(url, source, outcome, parsed, kept);
        if let Some(lookup) = self.discovery.lookups.last_mut() {
            lookup.status = status;
        }
    }

    /// Returns the outcome of a request without a response.
    fn failed(&self, url: &Url, cause: &FailureCause) -> LookupOutcome {
        let text = cause.to_string();
        let is_other_host = url.origin() != self.discovery.site.origin();
        match cause {
            // The robots.txt of the other host may be available in the next run, so this is
            // a failure and not a refusal.
            FailureCause::Refused(RequestRefusal::Robots(RobotsReason::Unreachable(_)))
                if is_other_host =>
            {
                LookupOutcome::Failed(text)
            }
            FailureCause::Refused(_) => LookupOutcome::Refused(text),
            _ => LookupOutcome::Failed(text),
        }
    }

    /// Records a lookup that the cache answered; drops cached content that exceeds the
    /// budget.
    fn record_cached(
        &mut self,
        url: &Url,
        source: DiscoverySource,
        outcome: LookupOutcome,
        mut previous: CachedFile,
    ) {
        if let Some(parsed) = &mut previous.parsed
            && !self.budget.trim(parsed)
        {
            self.report(url.as_str(), &rules::OUT_OF_BOUNDS, "");
        }
        self.record(url, source, outcome, previous.parsed.clone(), Some(previous));
    }

    fn record(
        &mut self,
        url: &Url,
        source: DiscoverySource,
        outcome: LookupOutcome,
        parsed: Option<ParsedFile>,
        kept: Option<CachedFile>,
    ) {
        self.discovery.lookups.push(Lookup { url: redact_url(url), source, outcome, status: None });
        self.order.push((url.as_str().to_owned(), source));
        if let Some(ParsedFile::Arc(arc)) = &parsed
            && let Some(rate) = arc.crawl_rate.as_deref().and_then(rutter_arc::CrawlRate::parse)
            && let Some(host) = self.discovery.site.host_str()
        {
            self.client.set_min_delay(host, rate.delay);
        }
        if let Some(ParsedFile::Sitemap(sitemap)) = &parsed {
            self.n_sitemaps += 1;
            self.has_adverts |= !sitemap.adverts.is_empty();
        }
        self.parsed.insert(url.as_str().to_owned(), parsed);
        if let Some(kept) = kept {
            self.discovery.cache.files.insert(url.as_str().to_owned(), kept);
        }
    }

    /// Returns how the host answers a request for a URL that does not exist. Sends such a
    /// request at most once a week.
    async fn probe(&mut self) -> Option<MissingPageProbe> {
        if let Some((requested, probe)) = &self.discovery.cache.probe
            && is_recent(*requested, self.now)
        {
            return Some(probe.clone());
        }
        let site = self.discovery.site.clone();
        let probe = self.client.probe_missing_page(&site).await.ok()?;
        if probe.is_soft() {
            self.report(site.as_str(), &rules::SOFT_404, "");
        }
        self.discovery.cache.probe = Some((self.now, probe.clone()));
        Some(probe)
    }

    /// Detects the format of a response and parses its content.
    fn read(
        &mut self,
        answer: &FetchedResponse,
        what: ResourceKind,
        probe: Option<&MissingPageProbe>,
        pages: &mut dyn PageSink,
        sink: &mut dyn FindingSink,
    ) -> (LookupOutcome, Option<ParsedFile>) {
        let failed =
            |error: &dyn std::fmt::Display| (LookupOutcome::Failed(error.to_string()), None);
        let mut start = Vec::new();
        let begun = parse::open(answer, what)
            .and_then(|input| input.take(64 << 10).read_to_end(&mut start).map(|_| ()));
        if let Err(error) = begun {
            return failed(&error);
        }
        if let Some(probe) = probe
            && !probe.accepts(answer, &start)
        {
            return (LookupOutcome::Other(CATCH_ALL_PAGE.to_owned()), None);
        }
        let input = match parse::open(answer, what) {
            Ok(input) => input,
            Err(error) => return failed(&error),
        };
        let url = &answer.url;
        let is_compressed = answer.fields.content_encoding.is_some();
        let is_sure = answer.is_length_known || is_compressed || start.starts_with(&[0x1f, 0x8b]);
        let ending = if is_sure { BodyLength::Known } else { BodyLength::Unknown };
        let parsed = match what {
            ResourceKind::Sitemap | ResourceKind::Arc => match parse::detect_format(&start) {
                FileFormat::Sitemap => {
                    let budget = &mut self.budget;
                    parse::sitemap(input, url, ending, budget, pages, sink).map(ParsedFile::Sitemap)
                }
                FileFormat::Arc(form) => parse::arc(input, form, url, pages, sink),
                FileFormat::Other => None,
            },
            _ => {
                let mut text = Vec::new();
                let mut input = input;
                if let Err(error) = input.read_to_end(&mut text) {
                    return failed(&error);
                }
                match what {
                    ResourceKind::Llms => parse::llms(&text, url).map(ParsedFile::Llms),
                    ResourceKind::SpxiIndex => parse::is_spxi_index(&text).then(|| {
                        pages.spxi(url.as_str(), &text);
                        ParsedFile::Spxi
                    }),
                    ResourceKind::Policy => parse::is_policy(&text).then_some(ParsedFile::Policy),
                    _ => {
                        let charset = answer.fields.charset();
                        Some(ParsedFile::Home(parse::home(&text, url, charset, self.now)))
                    }
                }
            }
        };
        match parsed {
            Some(parsed) => (LookupOutcome::Found(kind_name(&parsed)), Some(parsed)),
            None => {
                let media = answer.fields.media_type();
                (
                    LookupOutcome::Other(format!("unexpected content of type {}", quoted(&media))),
                    None,
                )
            }
        }
    }

    /// Computes the offer of the site from the parsed files, and returns the result of the
    /// run.
    fn finish(mut self) -> Discovery {
        let client = self.client;
        let site = self.discovery.site.clone();
        let is_allowed = |text: &str| {
            let settings = client.settings();
            Url::parse(text)
                .is_ok_and(|url| settings.allows_scheme(&url) && settings.hosts.allows(&site, &url))
        };
        let mut whole = OfferBuilder::default();
        let mut done = BTreeSet::new();
        for (url, source) in &self.order {
            let Some(Some(parsed)) = self.parsed.get(url) else { continue };
            // Only the offer of an SPXI index lists all sources of a URL; any other file is
            // added once.
            if !done.insert(url.clone()) && *parsed != ParsedFile::Spxi {
                continue;
            }
            whole.add_file(url, *source, parsed, &is_allowed, &mut self.findings);
            let of_file = self.findings.next_file().into_iter();
            self.discovery.findings.extend(of_file.map(|it| (url.clone(), it)));
        }
        self.discovery.offer = whole.finish();
        self.discovery
    }
}
