//! Runs discovery: decides which URLs of a site to request, and in which order.
//!
//! Input: a client, a site and the cache of an earlier run. Output: a [`Discovery`].
//! Announced files are requested first. Default paths are requested last, after a probe of
//! a URL that does not exist. If the cache has a file, an announced file is requested
//! conditionally, and a default path at most once a week.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use rutter_fetch::{Client, FetchError, MAX_CRAWL_DELAY, ResourceKind, RobotsRules, Url};
use rutter_finding::{Finding, Place, Rule, quoted};
use rutter_page::Timestamp;
use rutter_robots::rules as robots_rules;

use crate::discover::budget::{AdvertBudget, CappedFindings};
use crate::discover::cache::DiscoveryCache;
use crate::discover::limits::DiscoveryLimits;
use crate::discover::lookup::{CheckInterval, Discovery, LookupOutcome, UrlLookup};
use crate::discover::offer::{OfferBuilder, SiteOffer};
use crate::discover::parse::{self, SPXI};
use crate::discover::parsed_file::{DiscoverySource, ParsedFile};
use crate::discover::rules;
use crate::discover::sink::PageSink;

/// Text of [`LookupOutcome::Other`] for the page that a host sends for every unknown URL.
pub(super) const CATCH_ALL_PAGE: &str = "the page for unknown URLs";
/// Maximum size in bytes of a file that is kept in memory because no temporary directory
/// can be created.
pub(super) const MAX_BYTES_IN_MEMORY: u64 = 16 << 20;

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
        budget: AdvertBudget::DEFAULT,
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

// More than 12 fields: limits, cache and result of one run.
pub(super) struct DiscoveryRun<'w> {
    pub(super) client: &'w Client,
    pub(super) now: Timestamp,
    pub(super) previous: &'w DiscoveryCache,
    pub(super) limits: DiscoveryLimits,
    pub(super) discovery: Discovery,
    /// Parsed content by URL; `None` if the URL has no usable file.
    pub(super) parsed: BTreeMap<String, Option<ParsedFile>>,
    /// URLs in the order of their discovery.
    pub(super) order: Vec<(String, DiscoverySource)>,
    /// Number of sitemaps with known content, and whether one of these sitemaps has
    /// adverts.
    pub(super) n_sitemaps: usize,
    pub(super) has_adverts: bool,
    pub(super) budget: AdvertBudget,
    pub(super) findings: CappedFindings,
    /// First error of writing a response to disk, with which the run fails.
    pub(super) spool_error: Option<FetchError>,
    /// The crawl delay of robots.txt, if it exceeds the maximum. With such a delay,
    /// discovery requests only announced files and sitemap.xml (D52).
    pub(super) long_delay: Option<Duration>,
}

impl DiscoveryRun<'_> {
    pub(super) fn report(&mut self, url: &str, rule: &'static Rule, detail: impl Into<String>) {
        if !self.findings.admit(rule) {
            return;
        }
        self.discovery.findings.push((url.to_owned(), Finding::new(rule, Place::WHOLE, detail)));
    }

    pub(super) fn record_robots(&mut self, rules: &RobotsRules) {
        let outcome = match rules {
            RobotsRules::Rules(_) => LookupOutcome::Found("robots.txt"),
            RobotsRules::AllowAll(status) => LookupOutcome::Absent(*status),
            RobotsRules::DisallowAll(reason) => LookupOutcome::Failed(reason.to_string()),
        };
        let url = format!("{}robots.txt", self.discovery.site);
        self.discovery.lookups.push(UrlLookup {
            url,
            source: DiscoverySource::Given,
            outcome,
            status: None,
        });
    }

    /// Reads the sitemaps that robots.txt announces; if it announces none, reads the
    /// sitemap at the default path.
    pub(super) async fn read_announced_sitemaps(
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
    pub(super) fn https_url(&self, url: &Url) -> Option<Url> {
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
    pub(super) async fn read_sitemaps_of_home_page(&mut self, pages: &mut (dyn PageSink + Send)) {
        let queue = self.parsed_home().map(|home| home.sitemaps.clone()).unwrap_or_default();
        let queue = queue.iter().filter_map(|url| Url::parse(url).ok());
        let queue = queue.map(|url| (url, DiscoverySource::HeadLink, 0)).collect();
        self.read_sitemaps(queue, pages).await;
    }

    pub(super) async fn read_sitemaps(
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

    pub(super) async fn read_home_page(&mut self) {
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

    pub(super) fn parsed_home(&self) -> Option<&crate::discover::parsed_file::ParsedHomePage> {
        match self.parsed.get(self.discovery.site.as_str()) {
            Some(Some(ParsedFile::Home(home))) => Some(home),
            _ => None,
        }
    }

    /// Looks up llms.txt, ARC and SPXI files: announced URLs before default paths.
    pub(super) async fn read_default_paths(
        &mut self,
        rules: &RobotsRules,
        pages: &mut (dyn PageSink + Send),
    ) {
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
    pub(super) fn spxi_places(&self, rules: &RobotsRules) -> Vec<(Url, DiscoverySource)> {
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
    pub(super) async fn find_first(
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
                let is_odd = |lookup: &UrlLookup| matches!(&lookup.outcome, LookupOutcome::Other(why) if why != CATCH_ALL_PAGE);
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

    pub(super) fn site_url(&self, path: &str) -> Url {
        let mut url = self.discovery.site.clone();
        url.set_path(path);
        url
    }

    pub(super) fn is_parsed(&self, url: &Url) -> bool {
        matches!(self.parsed.get(url.as_str()), Some(Some(_)))
    }

    /// Computes the offer of the site from the parsed files, and returns the result of the
    /// run.
    pub(super) fn finish(mut self) -> Discovery {
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
