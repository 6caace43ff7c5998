//! HTTP client that checks every request and limits the request rate of each host.
//!
//! For each URL, the client checks scheme, port and host, checks robots.txt, waits for the host's
//! delay, and sends the request. After a redirect, it repeats all steps with the new URL; after a
//! pause, it waits and sends the request again. Each host has its own state, so clones of one
//! client can fetch from many hosts at once.
//!
//! Rejects: redirects to URLs that fail the checks, and partial responses of different versions of
//! a file. The number of retries is limited.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hyper::header::HeaderName;
use rustls::pki_types::CertificateDer;
use tokio::sync::Semaphore;
use url::Url;

use crate::address_policy::AddressPolicy;
use crate::connect::{Connection, Connector};
use crate::environment::Environment;
use crate::error::{BadResponse, FailureCause, FetchError, RequestRefusal};
use crate::log::{FetchEvent, FetchRecord};
use crate::pace::{HostPace, MAX_CRAWL_DELAY};
use crate::proxy::Proxies;
use crate::redact::redact_url;
use crate::redirect_history::RedirectHistory;
use crate::request::{FetchedResponse, RedirectHop, Request, ResponseBody};
use crate::resource_kind::{ResourceKind, Timeouts};
use crate::robots::{CachedRobots, RobotsFile, RobotsRules};
use crate::spool::SpoolFile;
use crate::target::{HostPolicy, Origin, PortPolicy, Target, UrlRules};

/// Maximum number of redirects that the client follows for one request.
pub const MAX_REDIRECTS: usize = 5;

/// Settings of a [`Client`].
// More than 12 fields: independent settings, which callers set by name.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    /// Product token and version, the first part of `User-Agent`. The client obeys the robots.txt
    /// groups that match the token.
    pub agent: String,
    /// A URL or mail address for contact, added to `User-Agent`.
    pub contact: Option<String>,
    /// Minimum time between a response and the next request to the same host.
    pub pace: Duration,
    /// Maximum number of parallel connections to one host.
    pub connections: usize,
    /// Which IP addresses the client may connect to.
    pub address_policy: AddressPolicy,
    /// Whether plain http is allowed. If [`AddressPolicy::allow_loopback`] is set, it is always
    /// allowed for loopback addresses.
    pub allow_http: bool,
    /// Which ports the client may connect to.
    pub ports: PortPolicy,
    /// Which hosts may serve files of a site.
    pub hosts: HostPolicy,
    /// Proxies that the client connects through.
    pub proxies: Proxies,
    /// Whether a proxy may resolve names that the local resolver cannot resolve.
    pub trust_proxy: bool,
    /// Timeouts of the phases of a request.
    pub timeouts: Timeouts,
    /// Maximum number of attempts per request (D11).
    pub attempts: u32,
    /// Maximum time that a call waits for a host. If the wait would be longer, the call fails with
    /// [`FailureCause::RetryLater`].
    pub max_wait: Duration,
    /// Root certificates that are trusted in addition to those of the operating system.
    pub roots: Vec<CertificateDer<'static>>,
    /// Seed of the random numbers; `None` for a random seed.
    pub seed: Option<u64>,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            agent: concat!("Rutter/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: None,
            pace: Duration::from_secs(1),
            connections: 1,
            address_policy: AddressPolicy::default(),
            allow_http: false,
            ports: PortPolicy::default(),
            hosts: HostPolicy::default(),
            proxies: Proxies::default(),
            trust_proxy: false,
            timeouts: Timeouts::DEFAULT,
            attempts: 5,
            max_wait: Duration::from_mins(10),
            roots: Vec::new(),
            seed: None,
        }
    }
}

impl ClientSettings {
    /// Returns the value of `User-Agent` (ARC-034).
    pub fn user_agent(&self) -> String {
        match &self.contact {
            Some(contact) => format!("{} (+{contact})", self.agent),
            None => self.agent.clone(),
        }
    }

    /// Returns whether the scheme of a URL is allowed: https, or plain http under
    /// [`ClientSettings::allow_http`].
    pub fn allows_scheme(&self, url: &Url) -> bool {
        self.rules().allows_scheme(url)
    }

    fn rules(&self) -> UrlRules {
        UrlRules {
            allow_http: self.allow_http,
            allow_loopback: self.address_policy.allow_loopback,
            ports: self.ports.clone(),
        }
    }

    /// Returns the product token that robots.txt groups are matched against.
    pub fn robots_token(&self) -> &str {
        self.agent.split('/').next().unwrap_or_default()
    }
}

/// An HTTP client that obeys robots.txt and the delay of each host. Clones share all state.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<ClientState>,
}

#[derive(Debug)]
pub(crate) struct ClientState {
    pub(crate) settings: ClientSettings,
    rules: UrlRules,
    pub(crate) connector: Connector,
    hosts: Mutex<BTreeMap<String, Arc<HostState>>>,
    robots: Mutex<BTreeMap<Origin, Arc<tokio::sync::Mutex<CachedRobots>>>>,
    /// Pairs of site and host that were contacted, so that each new host is logged once.
    seen: Mutex<BTreeSet<(String, String)>>,
    random_fraction: Mutex<u64>,
}

/// State of one host, shared by all its ports and schemes.
#[derive(Debug)]
pub(crate) struct HostState {
    pub(crate) turns: Semaphore,
    pub(crate) pace: Mutex<HostPace>,
    pub(crate) idle: Mutex<Option<Connection>>,
    /// Redirect chains of the host that were too long.
    pub(crate) redirect_history: Mutex<RedirectHistory>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Client {
    /// Creates a client that knows no hosts yet.
    pub fn new(settings: ClientSettings, environment: Environment) -> Self {
        let connector = Connector {
            environment,
            address_policy: settings.address_policy,
            proxies: settings.proxies.clone(),
            trust_proxy: settings.trust_proxy,
            timeouts: settings.timeouts,
            roots: settings.roots.clone(),
            tls: OnceLock::new(),
        };
        let seed = settings.seed.unwrap_or_else(|| {
            use std::hash::{BuildHasher, RandomState};
            RandomState::new().hash_one(0)
        });
        let rules = settings.rules();
        let inner = ClientState {
            settings,
            rules,
            connector,
            hosts: Mutex::default(),
            robots: Mutex::default(),
            seen: Mutex::default(),
            random_fraction: Mutex::new(seed),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the settings.
    pub fn settings(&self) -> &ClientSettings {
        &self.inner.settings
    }

    /// Returns the environment.
    pub fn environment(&self) -> &Environment {
        &self.inner.connector.environment
    }

    /// Fetches one file. Waits before the request as long as the host requires.
    ///
    /// Dropping the future stops the request. If the response had a strong validator, the partial
    /// spool file is kept, and a later request resumes the download.
    pub async fn fetch(&self, request: &Request) -> Result<FetchedResponse, FetchError> {
        let mut spool = None;
        let result = self.follow(request, &mut spool).await;
        if let Some(spool) = &spool {
            let is_kept = match &result {
                Ok(answer) => answer.body != ResponseBody::Absent,
                // A later run can resume a body that was cut off. Any other partial body is
                // deleted.
                Err(error) => error.cause.is_resumable() && spool.resume().is_some(),
            };
            if !is_kept {
                spool.discard();
            }
        }
        result
    }

    /// Returns the robots.txt rules that apply to a URL; fetches robots.txt if necessary.
    pub async fn robots_rules(&self, url: &Url) -> Result<RobotsRules, FetchError> {
        let target = self.check(url, None)?;
        self.rules_of_origin(&target.origin).await
    }

    /// Returns the cached robots.txt of a URL's origin, so that the caller can store it for the
    /// next run.
    pub async fn robots_file(&self, url: &Url) -> Option<RobotsFile> {
        let target = Target::check(url, &self.inner.rules).ok()?;
        let cached = self.cached_robots(&target.origin);
        let cached = cached.lock().await;
        cached.file.clone()
    }

    /// Adds a robots.txt file of an earlier run to the cache. The client uses it while it is fresh.
    pub async fn restore_robots(&self, url: &Url, file: RobotsFile) {
        let Ok(target) = Target::check(url, &self.inner.rules) else { return };
        let clock = &self.environment().clock;
        let cached = self.cached_robots(&target.origin);
        *cached.lock().await = CachedRobots::from_file(file, clock.now(), clock.monotonic());
    }

    /// Checks whether a URL may be fetched, according to the settings and robots.txt.
    pub async fn check_allowed(&self, url: &Url) -> Result<(), FetchError> {
        let target = self.check(url, None)?;
        self.check_robots(&target, ResourceKind::Page).await
    }

    /// Sets the minimum delay between requests to a host, such as `crawl_rate` of ARC. A longer
    /// delay from an earlier call remains in effect.
    pub fn set_min_delay(&self, host: &str, delay: Duration) {
        let host = self.host(host);
        let mut pace = lock(&host.pace);
        pace.caller = Some(pace.caller.unwrap_or_default().max(delay));
    }

    /// Returns the delay between two requests to the host of a URL: the longest of the known
    /// delays.
    pub fn request_delay(&self, url: &Url) -> Duration {
        let own = self.settings().pace;
        let Ok(target) = Target::check(url, &self.inner.rules) else { return own };
        let host = self.host(&target.origin.host);
        lock(&host.pace).delay(own)
    }

    /// Checks the URL and its host without sending a request.
    fn check(&self, url: &Url, site: Option<&Url>) -> Result<Target, FetchError> {
        let checked = Target::check(url, &self.inner.rules).and_then(|target| {
            let is_allowed = site.is_none_or(|site| self.inner.settings.hosts.allows(site, url));
            if is_allowed { Ok(target) } else { Err(RequestRefusal::Host(target.origin.host)) }
        });
        checked.map_err(|why| self.refuse(url, why))
    }

    fn refuse(&self, url: &Url, why: RequestRefusal) -> FetchError {
        let host = url.host_str().unwrap_or_default();
        self.record(host, FetchEvent::Refused { url: redact_url(url), why: why.clone() });
        FetchError { url: redact_url(url), cause: why.into() }
    }

    pub(crate) fn record(&self, host: &str, event: FetchEvent) {
        event.trace(host);
        let environment = self.environment();
        environment.log.record(FetchRecord {
            at: environment.clock.now(),
            monotonic: environment.clock.monotonic(),
            host: host.to_owned(),
            event,
        });
    }

    /// Follows redirects and checks every URL of the chain.
    async fn follow(
        &self,
        request: &Request,
        spool: &mut Option<SpoolFile>,
    ) -> Result<FetchedResponse, FetchError> {
        let mut url = request.url.clone();
        let mut hops: Vec<RedirectHop> = Vec::new();
        loop {
            let target = self.check(&url, request.site.as_ref())?;
            if let Some(site) = request.site.as_ref().and_then(Url::host_str) {
                self.log_new_host(site, &target.origin.host);
            }
            if request.kind != ResourceKind::Robots {
                self.check_robots(&target, request.kind).await?;
            }
            let error = |cause| FetchError { url: redact_url(&target.url), cause };
            let answer = match self.fetch_with_retries(&target, request, spool).await {
                Ok(answer) => answer,
                Err(FailureCause::Refused(why)) => return Err(self.refuse(&target.url, why)),
                Err(cause) => return Err(error(cause)),
            };
            let Some(location) = answer.redirect else {
                if !hops.is_empty() {
                    *lock(&self.host(&target.origin.host).redirect_history) =
                        RedirectHistory::default();
                }
                return Ok(FetchedResponse { url: target.url, hops, ..answer.fetched });
            };
            let next = next_url(&target.url, &location).map_err(|bad| error(bad.into()))?;
            hops.push(RedirectHop { url: target.url.clone(), status: answer.fetched.status });
            let host = self.host(&target.origin.host);
            if let Some(bad) = lock(&host.redirect_history).reason_to_stop(&hops, &next) {
                return Err(error(bad.into()));
            }
            if target.origin.is_https && next.scheme() == "http" {
                return Err(self.refuse(&next, RequestRefusal::Downgrade));
            }
            let redirected =
                FetchEvent::Redirected { from: redact_url(&target.url), to: redact_url(&next) };
            self.record(&target.origin.host, redirected);
            url = next;
        }
    }

    /// Logs the first request to a host other than the site's own.
    fn log_new_host(&self, site: &str, host: &str) {
        let pair = (site.to_owned(), host.to_owned());
        if site != host && lock(&self.inner.seen).insert(pair) {
            self.record(host, FetchEvent::NewHost { site: site.to_owned() });
        }
    }

    /// Checks whether robots.txt allows the URL, and whether the host asks for too long a delay.
    async fn check_robots(&self, target: &Target, kind: ResourceKind) -> Result<(), FetchError> {
        let rules = self.rules_of_origin(&target.origin).await?;
        let token = self.inner.settings.robots_token();
        if let Some(reason) = rules.forbids(token, target.url.as_str()) {
            return Err(self.refuse(&target.url, RequestRefusal::Robots(reason)));
        }
        let host = self.host(&target.origin.host);
        let requested_delay = {
            let mut pace = lock(&host.pace);
            pace.robots = rules.delay(token);
            pace.requested_delay(Duration::ZERO)
        };
        if kind.is_page() && MAX_CRAWL_DELAY < requested_delay {
            return Err(self.refuse(&target.url, RequestRefusal::TooSlow(requested_delay)));
        }
        Ok(())
    }

    /// Returns the robots.txt rules of an origin; at most one request for them is in flight.
    ///
    /// If robots.txt cannot be fetched, the first call returns the error. Later calls return
    /// [`RobotsRules::DisallowAll`] until the failure expires.
    async fn rules_of_origin(&self, origin: &Origin) -> Result<RobotsRules, FetchError> {
        let clock = &self.environment().clock;
        let cached = self.cached_robots(origin);
        let mut cached = cached.lock().await;
        if let Some(rules) = cached.in_force(clock.monotonic()) {
            return Ok(rules.clone());
        }
        let url = format!("{}robots.txt", origin.root());
        let url = Url::parse(&url).expect("an origin and a path form a URL");
        let request =
            Request { validators: cached.validators(), ..Request::new(url, ResourceKind::Robots) };
        let answer = Box::pin(self.fetch(&request)).await;
        let (rules, error) = cached.update(answer, clock.now(), clock.monotonic());
        let rules = rules.clone();
        let closed = match &rules {
            RobotsRules::DisallowAll(reason) => Some(reason.clone()),
            _ => None,
        };
        self.record(&origin.host, FetchEvent::Robots { url: redact_url(&request.url), closed });
        error.map_or(Ok(rules), Err)
    }

    fn cached_robots(&self, origin: &Origin) -> Arc<tokio::sync::Mutex<CachedRobots>> {
        Arc::clone(lock(&self.inner.robots).entry(origin.clone()).or_default())
    }

    pub(crate) fn host(&self, name: &str) -> Arc<HostState> {
        let connections = self.inner.settings.connections.max(1);
        let fresh = || {
            Arc::new(HostState {
                turns: Semaphore::new(connections),
                pace: Mutex::default(),
                idle: Mutex::default(),
                redirect_history: Mutex::default(),
            })
        };
        Arc::clone(lock(&self.inner.hosts).entry(name.to_owned()).or_insert_with(fresh))
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.inner.connector
    }

    /// Returns a random number from 0 to 1.
    pub(crate) fn random_fraction(&self) -> f64 {
        let bits = self.random() >> 32;
        f64::from(u32::try_from(bits).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
    }

    /// Returns the next number of a splitmix64 generator.
    pub(crate) fn random(&self) -> u64 {
        let mut state = lock(&self.inner.random_fraction);
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns the header fields of every request, in their order.
    pub(crate) fn fields(&self, kind: ResourceKind) -> Vec<(HeaderName, String)> {
        use hyper::header::{ACCEPT, ACCEPT_ENCODING, USER_AGENT};
        vec![
            (USER_AGENT, self.inner.settings.user_agent()),
            (ACCEPT, kind.accept().to_owned()),
            (ACCEPT_ENCODING, "zstd, gzip, identity".to_owned()),
        ]
    }
}

/// Returns the absolute URL of a redirect's `Location`.
fn next_url(from: &Url, location: &str) -> Result<Url, BadResponse> {
    let bad = || BadResponse::Location(rutter_finding::quoted(location));
    if location.is_empty() || location.chars().any(char::is_control) {
        return Err(bad());
    }
    let mut next = from.join(location).map_err(|_| bad())?;
    next.set_fragment(None);
    Ok(next)
}
