//! A site: its directory, catalog, tokens, cache and limits.
//!
//! A request passes [`Site::decide`] (validity, client, rate limit), then the response cache or
//! [`Site::resolve`], then the conditions, and gets the header fields and bytes of one
//! [`Representation`](crate::respond::representation::Representation) (`answer.rs`).
//!
//! `served.json` and the token file are reloaded separately when they change. If `served.json` is
//! missing or invalid, the previous one stays in force; if the token file is deleted, no token is
//! valid.
//!
//! Rejects: request bodies, and methods except GET and HEAD.

pub(crate) mod answer;
pub(crate) mod service;

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Instant, SystemTime};

use http::Method;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use tokio::sync::Semaphore;

use crate::admission::limiter::{ClientKey, RateLimiter};
use crate::admission::network;
use crate::admission::token::{Grant, TokenError, Tokens};
use crate::monitor::access::AccessSink;
use crate::monitor::clients::Monitor;
use crate::monitor::metrics::{Metrics, lost_text};
use crate::monitor::report::RequestObservers;
use crate::resolve::announced;
use crate::resolve::catalog::{Catalog, CatalogError};
use crate::resolve::facts::{self, FactsCache, FactsScope, FileFacts};
use crate::resolve::kind;
use crate::resolve::path;
use crate::resolve::root_dir::{Identity, LinkPolicy, OpenedEntry, RootDir};
use crate::respond::body::BufferPool;
use crate::respond::refusal::Refusal;
use crate::respond::response_cache::{ResolvedPath, ResponseCache};
use crate::settings::{Limits, SiteSettings, UnknownAccess};

/// How often the root, `served.json` and the token file are checked for changes, in milliseconds.
const CHECK_INTERVAL: u64 = 250;

/// Maximum number of large files that are hashed at once, and of responses of the partner API that
/// are produced at once: fewer than the blocking threads of a worker.
const MAX_CONCURRENT: usize = 4;

/// Number of locks for requests that hash the same large file.
const N_TURNS: usize = 16;

/// Why a site could not be opened or reloaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// The catalog could not be loaded.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The tokens could not be loaded.
    #[error(transparent)]
    Tokens(#[from] TokenError),
    /// Both failed.
    #[error("{0}; {1}")]
    Both(CatalogError, TokenError),
}

/// A directory that is served; cheap to clone.
#[derive(Clone)]
pub struct Site(pub(crate) Arc<SiteState>);

pub(crate) struct SiteState {
    pub(crate) settings: SiteSettings,
    pub(crate) root: RootDir,
    pub(crate) cache: ResponseCache,
    pub(crate) known: FactsCache,
    catalog: RwLock<Arc<Catalog>>,
    /// Catalogs that are not in force yet, such as the one of a running publication.
    pub(crate) next: Mutex<Vec<(Identity, Arc<Catalog>)>>,
    pub(crate) generation: AtomicU64,
    tokens: RwLock<Option<Arc<Tokens>>>,
    reload_state: Mutex<ReloadState>,
    on_failure: OnceLock<FailureCallback>,
    /// Locks of requests that hash a large file or wait for it.
    pub(crate) turns: [Arc<tokio::sync::Mutex<()>>; N_TURNS],
    pub(crate) hashing: Arc<Semaphore>,
    pub(crate) api: Arc<Semaphore>,
    limiter: RateLimiter,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) listeners: Arc<RequestObservers>,
    pub(crate) pool: Arc<BufferPool>,
    start: Instant,
    looked: AtomicU64,
    /// When the tokens were last checked. Locked while the token file is read, so that old tokens
    /// never replace newer ones.
    tokens_looked: Mutex<u64>,
    is_loading: AtomicBool,
}

/// Callback for failed reloads.
type FailureCallback = Box<dyn Fn(&SiteError) + Send + Sync>;

/// Identities of the files that were read last, successfully or not.
#[derive(Debug, Default)]
struct ReloadState {
    served: Option<Identity>,
    announced: announced::SitemapIdentities,
    tokens: Option<Identity>,
    /// The last reported failures, of the catalog and of the tokens.
    reported: Option<String>,
    reported_of_tokens: Option<String>,
}

/// Which files changed and must be reloaded.
#[derive(Debug, Clone, Copy)]
struct ChangedFiles {
    catalog: bool,
    tokens: bool,
}

/// Where the restrictions of a site come from, and the numbers of restricted paths and tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessSummary {
    /// The source of the restrictions.
    pub by: RestrictionSource,
    /// Number of restricted paths: files and name prefixes.
    pub paths: usize,
    /// Number of tokens.
    pub tokens: usize,
}

/// The source of the restrictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestrictionSource {
    /// `served.json`.
    Served,
    /// The ARC sitemap of the directory.
    Announced,
    /// None: everything is public.
    None,
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("root", &self.0.settings.root).finish_non_exhaustive()
    }
}

/// The client of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestClient {
    pub(crate) address: Option<IpAddr>,
    pub(crate) grant: Option<Arc<Grant>>,
    /// Whether the client sent an unknown token.
    pub(crate) has_bad_token: bool,
}

impl Site {
    /// Opens a site; `sinks` receive a record of each request.
    pub fn open(
        settings: SiteSettings,
        sinks: Vec<Arc<dyn AccessSink>>,
    ) -> Result<Self, SiteError> {
        let limits = settings.limits;
        let monitor = settings.watch.clone().map(Monitor::new);
        let site = Self(Arc::new(SiteState {
            root: RootDir::new(&settings.root),
            cache: ResponseCache::new(limits.cache),
            known: FactsCache::new(),
            catalog: RwLock::default(),
            next: Mutex::default(),
            generation: AtomicU64::new(0),
            tokens: RwLock::default(),
            reload_state: Mutex::default(),
            on_failure: OnceLock::new(),
            turns: Default::default(),
            hashing: Arc::new(Semaphore::new(MAX_CONCURRENT)),
            api: Arc::new(Semaphore::new(MAX_CONCURRENT)),
            limiter: RateLimiter::new(limits.clients),
            metrics: Arc::default(),
            listeners: Arc::new(RequestObservers { sinks, monitor }),
            pool: Arc::default(),
            start: Instant::now(),
            looked: AtomicU64::new(0),
            tokens_looked: Mutex::default(),
            is_loading: AtomicBool::new(false),
            settings,
        }));
        // At the first load, no previous version can stay in force, so a failure is an error.
        let result = site.load(true);
        site.0.metrics.reloaded(result.is_ok());
        result.map(|()| site)
    }

    /// Reloads `served.json` and the tokens. If a file cannot be read, its previous version stays
    /// in force. If the token file was deleted, no token is valid.
    pub fn reload(&self) -> Result<(), SiteError> {
        let result = self.load(false);
        self.0.metrics.reloaded(result.is_ok());
        result
    }

    /// Calls `tell` if a changed file cannot be loaded, once per failure. Only the first callback
    /// is used.
    pub fn on_failed_reload(&self, tell: impl Fn(&SiteError) + Send + Sync + 'static) {
        drop(self.0.on_failure.set(Box::new(tell)));
    }

    fn load(&self, is_first: bool) -> Result<(), SiteError> {
        self.0.root.reopen();
        let catalog = self.load_described(is_first);
        let tokens = self.load_tokens(is_first);
        match (catalog, tokens) {
            (Ok(()), Ok(())) => Ok(()),
            (Err(error), Ok(())) => Err(error.into()),
            (Ok(()), Err(error)) => Err(error.into()),
            (Err(one), Err(other)) => Err(SiteError::Both(one, other)),
        }
    }

    /// Loads the restrictions from `served.json` or from the ARC sitemap.
    fn load_described(&self, is_first: bool) -> Result<(), CatalogError> {
        match &self.0.settings.state {
            Some(state) => self.load_catalog(state),
            None => self.load_announced(is_first),
        }
    }

    fn load_catalog(&self, state: &Path) -> Result<(), CatalogError> {
        let path = state.join("served.json");
        let before = identity_of(&path);
        let loaded = Catalog::load(&path).and_then(|catalog| {
            catalog.check_output_dir(&self.0.settings.root, state)?;
            Ok(catalog)
        });
        match &loaded {
            Ok(catalog) => self.reload_state().served = catalog.identity,
            Err(CatalogError::Io(error)) if is_passing(error) => {}
            // The failure is permanent until the file or its permissions change.
            Err(_) => self.reload_state().served = before,
        }
        let catalog = loaded?;
        if catalog.has_collections()
            && let Some(monitor) = &self.0.listeners.monitor
        {
            monitor.expect_collections();
        }
        self.enforce(catalog);
        Ok(())
    }

    /// Loads the restrictions from the ARC sitemap of the directory.
    fn load_announced(&self, is_first: bool) -> Result<(), CatalogError> {
        let settings = &self.0.settings;
        let is_open = settings.unknown == UnknownAccess::Open;
        self.reload_state().announced = announced::states(&settings.root);
        match announced::load(&settings.root) {
            Ok(Some(catalog)) => self.enforce(catalog),
            Ok(None) if self.catalog().is_there() => return Err(CatalogError::Gone),
            Ok(None) if is_first && settings.tokens.is_some() && !is_open => {
                return Err(CatalogError::Unknown);
            }
            Ok(None) => {}
            Err(_) if is_first && is_open => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn enforce(&self, catalog: Catalog) {
        *self.0.catalog.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalog);
        self.0.next.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.0.generation.fetch_add(1, Ordering::Release);
        self.0.cache.clear();
    }

    fn load_tokens(&self, is_first: bool) -> Result<(), TokenError> {
        let Some(path) = &self.0.settings.tokens else { return Ok(()) };
        let _turn = self.0.tokens_looked.lock().unwrap_or_else(PoisonError::into_inner);
        self.read_tokens(path, is_first)
    }

    /// Reloads the token file before a token is accepted, unless the file was checked within
    /// [`CHECK_INTERVAL`]. A revoked token is thus rejected after that interval, even if the server
    /// was idle.
    fn look_at_tokens(&self) {
        let Some(path) = &self.0.settings.tokens else { return };
        let mut looked = self.0.tokens_looked.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock();
        if now < *looked + CHECK_INTERVAL {
            return;
        }
        *looked = now;
        if identity_of(path) == self.reload_state().tokens {
            return;
        }
        let result = self.read_tokens(path, false);
        drop(looked);
        self.reloaded(result, |reload_state| &mut reload_state.reported_of_tokens);
    }

    /// The caller must hold the lock on `tokens_looked`.
    fn read_tokens(&self, path: &Path, is_first: bool) -> Result<(), TokenError> {
        let before = identity_of(path);
        let loaded = Tokens::load(path);
        if !matches!(&loaded, Err(TokenError::Io(error)) if is_passing(error)) {
            // The failure is permanent until the file or its permissions change.
            self.reload_state().tokens = before;
        }
        let tokens = match loaded {
            // Deleting the file revokes all tokens.
            Err(TokenError::Io(error)) if !is_first && error.kind() == io::ErrorKind::NotFound => {
                self.reload_state().tokens = None;
                Tokens::default()
            }
            loaded => loaded?,
        };
        *self.0.tokens.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(tokens));
        Ok(())
    }

    fn reload_state(&self) -> std::sync::MutexGuard<'_, ReloadState> {
        self.0.reload_state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads and hashes files before the first request, so that requests need not wait for it;
    /// returns the number of files.
    ///
    /// Reads at most half as many files as the facts cache holds. With a state directory, only
    /// collections are read, because other files are small.
    pub fn warm(&self) -> usize {
        let mut folders = vec![(self.0.settings.root.clone(), String::new())];
        let mut n = 0;
        let is_described = self.0.settings.state.is_some();
        while let Some((folder, below)) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(name) = entry.file_name().into_string() else { continue };
                let name = if below.is_empty() { name } else { format!("{below}/{name}") };
                // Names that cannot be requested are skipped.
                if path::read(&path::encoded(&name)).is_err() || facts::MAX_ENTRIES / 2 <= n {
                    continue;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push((entry.path(), name)),
                    Ok(_) if is_described && !kind::is_collection(&name) => {}
                    Ok(_) => n += usize::from(self.learn(&name).is_some()),
                    Err(_) => {}
                }
            }
        }
        n
    }

    fn learn(&self, name: &str) -> Option<FileFacts> {
        let Ok(OpenedEntry::File(file, identity)) = self.0.root.open(name, LinkPolicy::Never)
        else {
            return None;
        };
        let (media_type, coding, _) = kind::of(name);
        self.0.known.find(&file, identity, FactsScope::of(media_type, coding)).ok()?
    }

    /// Returns all counters in the Prometheus text format.
    pub fn metrics_text(&self) -> String {
        let monitor = self.0.listeners.monitor.as_ref().map(Monitor::text);
        let n_lost: u64 = self.0.listeners.sinks.iter().map(|sink| sink.lost()).sum();
        format!("{}{}{}", self.0.metrics.text(), lost_text(n_lost), monitor.unwrap_or_default())
    }

    /// Returns the counters.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.0.metrics
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.0.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the source and number of restrictions, and the number of tokens.
    pub fn closed(&self) -> AccessSummary {
        let catalog = self.catalog();
        let by = match (&self.0.settings.state, catalog.is_there()) {
            (Some(_), _) => RestrictionSource::Served,
            (None, true) => RestrictionSource::Announced,
            (None, false) => RestrictionSource::None,
        };
        let tokens = self.0.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let tokens = tokens.as_ref().map_or(0, |tokens| tokens.len());
        AccessSummary { by, paths: catalog.n_closed(), tokens }
    }

    pub(crate) fn has_tokens(&self) -> bool {
        self.0.tokens.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Returns the milliseconds since the start.
    pub(crate) fn clock(&self) -> u64 {
        u64::try_from(self.0.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Checks a request and identifies its client.
    pub(crate) fn decide(
        &self,
        parts: &Parts,
        peer: Option<IpAddr>,
    ) -> (RequestClient, Result<(), Refusal>) {
        let mut client = RequestClient {
            address: peer
                .map(|peer| network::client(peer, &parts.headers, &self.0.settings.proxies)),
            ..RequestClient::default()
        };
        self.identify(parts, &mut client);
        // Every request counts against the rate limit. A refusal that closes the connection takes
        // precedence, because the bytes after a head with a body are not checked.
        let counted = self.count(&client);
        let fine = is_answerable(parts, &self.0.settings.limits).and(counted);
        (client, fine)
    }

    fn identify(&self, parts: &Parts, client: &mut RequestClient) {
        if !parts.headers.contains_key(AUTHORIZATION) {
            return;
        }
        self.look_at_tokens();
        let tokens = self.0.tokens.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(tokens) = tokens else { return };
        let mut values = parts.headers.get_all(AUTHORIZATION).iter();
        let value = values.next().map(http::HeaderValue::as_bytes).unwrap_or_default();
        let token = match value.split_at_checked(7) {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case(b"bearer ") => Some(token),
            _ => None,
        };
        let is_one = values.next().is_none();
        let token = token.filter(|_| is_one).map(<[u8]>::trim_ascii);
        client.grant = token.and_then(|token| tokens.find(token, now()));
        client.has_bad_token = client.grant.is_none();
    }

    /// Counts the request against the rate limit of its token, or of its client network.
    fn count(&self, client: &RequestClient) -> Result<(), Refusal> {
        let (whose, rate) = match (&client.grant, client.address, self.0.settings.rate) {
            (Some(grant), ..) => (ClientKey::Token(grant.key()), grant.rate),
            (None, Some(address), Some(rate)) => {
                (ClientKey::Address(network::client_network(address)), rate)
            }
            _ => return Ok(()),
        };
        self.0.limiter.take(whose, rate, Instant::now()).map_err(Refusal::Often)
    }

    /// Returns the cached representations of a path, if they are still valid.
    pub(crate) fn cached(&self, path: &str) -> Option<Arc<ResolvedPath>> {
        let found = self.0.cache.get(&path::cache_key(path))?;
        if found.generation != self.0.generation.load(Ordering::Acquire) {
            return None;
        }
        let now = self.clock();
        let age = u64::try_from(self.0.settings.limits.recheck.as_millis()).unwrap_or(u64::MAX);
        if !found.is_fresh(now, age) {
            self.check_for_changes(now);
            if !found.is_current(&self.0.root) {
                return None;
            }
            found.checked.store(now, Ordering::Relaxed);
        }
        self.0.metrics.cached();
        Some(found)
    }

    /// Checks at intervals whether the root, `served.json` or the tokens changed.
    pub(crate) fn check_for_changes(&self, now: u64) {
        let last = self.0.looked.load(Ordering::Relaxed);
        let is_mine = last + CHECK_INTERVAL <= now
            && self
                .0
                .looked
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if !is_mine {
            return;
        }
        let is_moved = !self.0.root.is_current();
        if is_moved {
            self.0.root.reopen();
            self.0.cache.clear();
        }
        let ChangedFiles { catalog, tokens } = self.new_files();
        let new = ChangedFiles { catalog: catalog || is_moved, tokens };
        let is_new = new.catalog || new.tokens;
        if is_new && !self.0.is_loading.swap(true, Ordering::AcqRel) {
            // Reading a large file takes long, so the reload runs on its own thread.
            let site = self.clone();
            let work = move || {
                site.try_reload(new);
                site.0.is_loading.store(false, Ordering::Release);
            };
            if std::thread::Builder::new().name("reload".to_owned()).spawn(work).is_err() {
                self.0.is_loading.store(false, Ordering::Release);
            }
        }
    }

    /// Reloads only the files that changed.
    fn try_reload(&self, new: ChangedFiles) {
        if new.catalog {
            self.reloaded(self.load_described(false), |reload_state| &mut reload_state.reported);
        }
        if new.tokens {
            self.reloaded(self.load_tokens(false), |reload_state| {
                &mut reload_state.reported_of_tokens
            });
        }
    }

    /// Counts a reload, and reports a failure once.
    fn reloaded(
        &self,
        result: Result<(), impl Into<SiteError> + fmt::Debug>,
        reported: impl FnOnce(&mut ReloadState) -> &mut Option<String>,
    ) {
        self.0.metrics.reloaded(result.is_ok());
        let fault = result.as_ref().err().map(|error| format!("{error:?}"));
        let is_known =
            std::mem::replace(reported(&mut self.reload_state()), fault.clone()) == fault;
        if let (Err(error), false, Some(tell)) = (result, is_known, self.0.on_failure.get()) {
            tell(&error.into());
        }
    }

    /// Returns which files have changed since they were read.
    fn new_files(&self) -> ChangedFiles {
        let settings = &self.0.settings;
        let served = settings.state.as_ref().map(|state| identity_of(&state.join("served.json")));
        let tokens = settings.tokens.as_ref().map(|path| identity_of(path));
        let announced = settings.state.is_none().then(|| announced::states(&settings.root));
        let reload_state = self.reload_state();
        ChangedFiles {
            catalog: announced.is_some_and(|now| now != reload_state.announced)
                || served.is_some_and(|now| now != reload_state.served),
            tokens: tokens.is_some_and(|now| now != reload_state.tokens),
        }
    }
}

/// Returns whether an error is temporary and not caused by the file.
fn is_passing(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let passing = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::INTR, Errno::AGAIN, Errno::IO];
    Errno::from_io_error(error).is_some_and(|error| passing.contains(&error))
}

/// Returns the identity of a file by its path; `None` if it does not exist.
pub(crate) fn identity_of(path: &Path) -> Option<Identity> {
    Identity::of_metadata(&std::fs::metadata(path).ok()?)
}

/// Returns the seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Checks whether a request is valid, independent of its path.
pub(crate) fn is_answerable(parts: &Parts, limits: &Limits) -> Result<(), Refusal> {
    let headers = &parts.headers;
    // For HTTP/1, the head screener has rejected these already.
    let target = parts.uri.path_and_query().map_or(0, |target| target.as_str().len());
    if limits.request_line < target {
        return Err(Refusal::Target);
    }
    if limits.fields < headers.len() {
        return Err(Refusal::Fields);
    }
    let mut hosts = headers.get_all(HOST).iter();
    let (host, more) = (hosts.next(), hosts.next());
    let is_old = parts.version <= http::Version::HTTP_10;
    // HTTP/2 names its host in `:authority` (RFC 9113, section 8.3.1).
    let names_host = host.is_some() || parts.uri.authority().is_some();
    let is_http1 = parts.version <= http::Version::HTTP_11;
    if more.is_some() || (is_http1 && !is_old && host.is_none()) || (!is_http1 && !names_host) {
        return Err(Refusal::Bad);
    }
    if let Some(host) = host {
        let is_host = host
            .as_bytes()
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]%".contains(byte));
        // If the host of the URL differs from `Host`, a proxy in front of the server could route
        // the request differently.
        let is_same = parts.uri.authority().is_none_or(|authority| {
            parts.method == Method::CONNECT
                || authority.as_str().as_bytes().eq_ignore_ascii_case(host.as_bytes())
        });
        if !is_host || !is_same {
            return Err(Refusal::Bad);
        }
    }
    if headers.contains_key(TRANSFER_ENCODING) {
        return Err(Refusal::Bad);
    }
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    let (length, more) = (lengths.next(), lengths.next());
    if more.is_some() {
        return Err(Refusal::Bad);
    }
    if parts.method != Method::GET && parts.method != Method::HEAD {
        return Err(Refusal::Method);
    }
    match length {
        Some(length) if length.as_bytes() != b"0" => Err(Refusal::Body),
        _ => Ok(()),
    }
}
