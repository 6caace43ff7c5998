//! The client: every rule of politeness and safety around one request.
//!
//! An address is checked, then robots.txt of its host, then the host's turn is
//! waited for, then the question is sent. Redirects come back to the first
//! step, pauses to the third. All state is per host, so many hosts can be
//! visited at once by clones of one client.
//!
//! Refuses: to ask before the time, to follow where it was not checked, to
//! splice two versions of a file, to try for ever.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hyper::header::HeaderName;
use rustls::pki_types::CertificateDer;
use tokio::sync::Semaphore;
use url::Url;

use crate::address::Guard;
use crate::connect::{Connector, Link};
use crate::endless::Endless;
use crate::error::{BadAnswer, Cause, FetchError, Refused};
use crate::log::{Event, Record};
use crate::means::Means;
use crate::pace::{LONGEST_DELAY, Pace};
use crate::proxy::Proxies;
use crate::redact::shown;
use crate::request::{Body, Fetched, Hop, Request};
use crate::robots::{Kept, RobotsFile, RobotsRules};
use crate::spool::Spool;
use crate::target::{Hosts, Origin, Ports, Rules, Target};
use crate::what::{Deadlines, What};

/// Redirects that are followed.
pub const MOST_HOPS: usize = 5;

/// How a client behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Product token and version: what robots.txt calls us, and who we say we
    /// are.
    pub agent: String,
    /// An address that tells people who we are; part of the `User-Agent`.
    pub contact: Option<String>,
    /// Shortest time from one answer to the next question to a host.
    pub pace: Duration,
    /// Connections to one host.
    pub connections: usize,
    /// Which addresses may be connected to.
    pub guard: Guard,
    /// Whether plain http is allowed; where loopback is, it is allowed there
    /// in any case.
    pub allow_http: bool,
    /// Which ports may be asked.
    pub ports: Ports,
    /// Which hosts may serve what belongs to a site.
    pub hosts: Hosts,
    /// Proxies on the way.
    pub proxies: Proxies,
    /// Whether a proxy may resolve names that we cannot.
    pub trust_proxy: bool,
    /// How long each phase may take.
    pub deadlines: Deadlines,
    /// Tries of one question (D11).
    pub tries: u32,
    /// The longest a call waits for a host by itself; beyond, it says when.
    pub patience: Duration,
    /// Certificates that are trusted beside those of the machine.
    pub roots: Vec<CertificateDer<'static>>,
    /// Where chance begins; `None` for real chance.
    pub seed: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            agent: concat!("Rutter/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: None,
            pace: Duration::from_secs(1),
            connections: 1,
            guard: Guard::default(),
            allow_http: false,
            ports: Ports::default(),
            hosts: Hosts::default(),
            proxies: Proxies::default(),
            trust_proxy: false,
            deadlines: Deadlines::USUAL,
            tries: 5,
            patience: Duration::from_mins(10),
            roots: Vec::new(),
            seed: None,
        }
    }
}

impl Settings {
    /// The value of `User-Agent` (ARC-034).
    pub fn user_agent(&self) -> String {
        match &self.contact {
            Some(contact) => format!("{} (+{contact})", self.agent),
            None => self.agent.clone(),
        }
    }

    /// Tells whether the scheme of an address may be used: https, or plain
    /// http where that is allowed.
    pub fn allows_scheme(&self, url: &Url) -> bool {
        self.rules().allows_scheme(url)
    }

    fn rules(&self) -> Rules {
        Rules {
            allow_http: self.allow_http,
            allow_loopback: self.guard.allow_loopback,
            ports: self.ports.clone(),
        }
    }

    /// What robots.txt calls us.
    pub fn token(&self) -> &str {
        self.agent.split('/').next().unwrap_or_default()
    }
}

/// Fetches politely. Clones share everything they know.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) settings: Settings,
    rules: Rules,
    pub(crate) connector: Connector,
    hosts: Mutex<BTreeMap<String, Arc<Host>>>,
    robots: Mutex<BTreeMap<Origin, Arc<tokio::sync::Mutex<Kept>>>>,
    /// Which hosts were asked for which site.
    seen: Mutex<BTreeSet<(String, String)>>,
    chance: Mutex<u64>,
}

/// What is known of one host, whatever its ports and schemes.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) turns: Semaphore,
    pub(crate) pace: Mutex<Pace>,
    pub(crate) idle: Mutex<Option<Link>>,
    /// What is known of redirects that do not end.
    pub(crate) endless: Mutex<Endless>,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Client {
    /// A client that knows nothing yet.
    pub fn new(settings: Settings, means: Means) -> Self {
        let connector = Connector {
            means,
            guard: settings.guard,
            proxies: settings.proxies.clone(),
            trust_proxy: settings.trust_proxy,
            deadlines: settings.deadlines,
            roots: settings.roots.clone(),
            tls: OnceLock::new(),
        };
        let seed = settings.seed.unwrap_or_else(|| {
            use std::hash::{BuildHasher, RandomState};
            RandomState::new().hash_one(0)
        });
        let rules = settings.rules();
        let inner = Inner {
            settings,
            rules,
            connector,
            hosts: Mutex::default(),
            robots: Mutex::default(),
            seen: Mutex::default(),
            chance: Mutex::new(seed),
        };
        Self { inner: Arc::new(inner) }
    }

    /// How it was set up.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// What it works with.
    pub fn means(&self) -> &Means {
        &self.inner.connector.means
    }

    /// Fetches one thing, whatever politeness asks for on the way.
    ///
    /// Dropping the future stops everything; a spool that was begun can be
    /// gone on with later where the server gave a strong validator.
    pub async fn fetch(&self, request: &Request) -> Result<Fetched, FetchError> {
        let mut spool = None;
        let result = self.follow(request, &mut spool).await;
        if let Some(spool) = &spool {
            let is_kept = match &result {
                Ok(answer) => answer.body != Body::Nothing,
                // A body that broke off or was too slow is resumed by a later
                // run; one that could not be written or used is deleted.
                Err(error) => error.cause.is_resumable() && spool.resume().is_some(),
            };
            if !is_kept {
                spool.discard();
            }
        }
        result
    }

    /// The rules that are in force where an address lies; fetches robots.txt
    /// where that is needed.
    pub async fn robots(&self, url: &Url) -> Result<RobotsRules, FetchError> {
        let target = self.check(url, None)?;
        self.rules_of(&target.origin).await
    }

    /// The robots.txt that is known of where an address lies, to be kept for
    /// the next run.
    pub async fn robots_file(&self, url: &Url) -> Option<RobotsFile> {
        let target = Target::check(url, &self.inner.rules).ok()?;
        let kept = self.kept(&target.origin);
        let kept = kept.lock().await;
        kept.file.clone()
    }

    /// Takes a robots.txt from an earlier run, for as long as it is good.
    pub async fn keep_robots(&self, url: &Url, file: RobotsFile) {
        let Ok(target) = Target::check(url, &self.inner.rules) else { return };
        let clock = &self.means().clock;
        let kept = self.kept(&target.origin);
        *kept.lock().await = Kept::of_file(file, clock.now(), clock.moment());
    }

    /// Says whether an address may be fetched, as far as robots.txt and what
    /// can be seen of the address tell.
    pub async fn may_fetch(&self, url: &Url) -> Result<(), FetchError> {
        let target = self.check(url, None)?;
        self.obey(&target, What::Page).await
    }

    /// Keeps at least this time between questions to a host: `crawl_rate`.
    pub fn slow_down(&self, host: &str, delay: Duration) {
        let host = self.host(host);
        let mut pace = locked(&host.pace);
        pace.asked = Some(pace.asked.unwrap_or_default().max(delay));
    }

    /// The time that lies between two questions to the host of an address, by
    /// the slowest wish that is known by now.
    pub fn pace_of(&self, url: &Url) -> Duration {
        let own = self.settings().pace;
        let Ok(target) = Target::check(url, &self.inner.rules) else { return own };
        let host = self.host(&target.origin.host);
        locked(&host.pace).delay(own)
    }

    /// The address and what it leads to, checked without asking anybody.
    fn check(&self, url: &Url, site: Option<&Url>) -> Result<Target, FetchError> {
        let checked = Target::check(url, &self.inner.rules).and_then(|target| {
            let is_fine = site.is_none_or(|site| self.inner.settings.hosts.allows(site, url));
            if is_fine { Ok(target) } else { Err(Refused::Host(target.origin.host)) }
        });
        checked.map_err(|why| self.refuse(url, why))
    }

    fn refuse(&self, url: &Url, why: Refused) -> FetchError {
        let host = url.host_str().unwrap_or_default();
        self.record(host, Event::Refused { url: shown(url), why: why.clone() });
        FetchError { url: shown(url), cause: why.into() }
    }

    pub(crate) fn record(&self, host: &str, event: Event) {
        let means = self.means();
        means.log.record(Record {
            at: means.clock.now(),
            moment: means.clock.moment(),
            host: host.to_owned(),
            event,
        });
    }

    /// Follows redirects, each hop checked anew.
    async fn follow(
        &self,
        request: &Request,
        spool: &mut Option<Spool>,
    ) -> Result<Fetched, FetchError> {
        let mut url = request.url.clone();
        let mut hops: Vec<Hop> = Vec::new();
        loop {
            let target = self.check(&url, request.site.as_ref())?;
            if let Some(site) = request.site.as_ref().and_then(Url::host_str) {
                self.notice(site, &target.origin.host);
            }
            if request.what != What::Robots {
                self.obey(&target, request.what).await?;
            }
            let error = |cause| FetchError { url: shown(&target.url), cause };
            let answer = match self.ask_patiently(&target, request, spool).await {
                Ok(answer) => answer,
                Err(Cause::Refused(why)) => return Err(self.refuse(&target.url, why)),
                Err(cause) => return Err(error(cause)),
            };
            let Some(location) = answer.redirect else {
                if !hops.is_empty() {
                    *locked(&self.host(&target.origin.host).endless) = Endless::default();
                }
                return Ok(Fetched { url: target.url, hops, ..answer.fetched });
            };
            let next = next_url(&target.url, &location).map_err(|bad| error(bad.into()))?;
            hops.push(Hop { url: target.url.clone(), status: answer.fetched.status });
            let host = self.host(&target.origin.host);
            if let Some(bad) = locked(&host.endless).judge(&hops, &next) {
                return Err(error(bad.into()));
            }
            if target.origin.is_https && next.scheme() == "http" {
                return Err(self.refuse(&next, Refused::Downgrade));
            }
            let redirected = Event::Redirected { from: shown(&target.url), to: shown(&next) };
            self.record(&target.origin.host, redirected);
            url = next;
        }
    }

    /// Tells the log when a site sends us to a host for the first time.
    fn notice(&self, site: &str, host: &str) {
        let pair = (site.to_owned(), host.to_owned());
        if site != host && locked(&self.inner.seen).insert(pair) {
            self.record(host, Event::NewHost { site: site.to_owned() });
        }
    }

    /// Asks robots.txt, and the patience the host wants.
    async fn obey(&self, target: &Target, what: What) -> Result<(), FetchError> {
        let rules = self.rules_of(&target.origin).await?;
        let token = self.inner.settings.token();
        if let Some(reason) = rules.forbids(token, target.url.as_str()) {
            return Err(self.refuse(&target.url, Refused::Robots(reason)));
        }
        let host = self.host(&target.origin.host);
        let wished = {
            let mut pace = locked(&host.pace);
            pace.robots = rules.delay(token);
            pace.wished(Duration::ZERO)
        };
        if what.is_page() && LONGEST_DELAY < wished {
            return Err(self.refuse(&target.url, Refused::TooSlow(wished)));
        }
        Ok(())
    }

    /// The rules of an origin, fetched at most once at a time.
    ///
    /// A host that cannot be reached at all, or may not be, says so itself the
    /// first time; after that it is closed for a while.
    async fn rules_of(&self, origin: &Origin) -> Result<RobotsRules, FetchError> {
        let clock = &self.means().clock;
        let kept = self.kept(origin);
        let mut kept = kept.lock().await;
        if let Some(rules) = kept.in_force(clock.moment()) {
            return Ok(rules.clone());
        }
        let url = format!("{}robots.txt", origin.root());
        let url = Url::parse(&url).expect("an origin and a path are an address");
        let request = Request { known: kept.validators(), ..Request::new(url, What::Robots) };
        let answer = Box::pin(self.fetch(&request)).await;
        let (rules, error) = kept.take(answer, clock.now(), clock.moment());
        let rules = rules.clone();
        let closed = match &rules {
            RobotsRules::Closed(reason) => Some(reason.clone()),
            _ => None,
        };
        self.record(&origin.host, Event::Robots { url: shown(&request.url), closed });
        error.map_or(Ok(rules), Err)
    }

    fn kept(&self, origin: &Origin) -> Arc<tokio::sync::Mutex<Kept>> {
        Arc::clone(locked(&self.inner.robots).entry(origin.clone()).or_default())
    }

    pub(crate) fn host(&self, name: &str) -> Arc<Host> {
        let connections = self.inner.settings.connections.max(1);
        let fresh = || {
            Arc::new(Host {
                turns: Semaphore::new(connections),
                pace: Mutex::default(),
                idle: Mutex::default(),
                endless: Mutex::default(),
            })
        };
        Arc::clone(locked(&self.inner.hosts).entry(name.to_owned()).or_insert_with(fresh))
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.inner.connector
    }

    /// A number by chance, from 0 to 1.
    pub(crate) fn chance(&self) -> f64 {
        let bits = self.random() >> 32;
        f64::from(u32::try_from(bits).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
    }

    /// The next number of a splitmix generator.
    pub(crate) fn random(&self) -> u64 {
        let mut state = locked(&self.inner.chance);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The fields of every question, in their order.
    pub(crate) fn fields(&self, what: What) -> Vec<(HeaderName, String)> {
        use hyper::header::{ACCEPT, ACCEPT_ENCODING, USER_AGENT};
        vec![
            (USER_AGENT, self.inner.settings.user_agent()),
            (ACCEPT, what.accept().to_owned()),
            (ACCEPT_ENCODING, "zstd, gzip, identity".to_owned()),
        ]
    }
}

/// Where a redirect leads.
fn next_url(from: &Url, location: &str) -> Result<Url, BadAnswer> {
    let bad = || BadAnswer::Location(rutter_finding::quoted(location));
    if location.is_empty() || location.chars().any(char::is_control) {
        return Err(bad());
    }
    let mut next = from.join(location).map_err(|_| bad())?;
    next.set_fragment(None);
    Ok(next)
}
