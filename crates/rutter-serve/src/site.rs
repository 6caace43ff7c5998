//! A site: the folder, what is known of it, who may have what.
//!
//! A request's way: is it one ([`Site::decide`]) → who asks, how often → the
//! shelf, or [`Site::resolve`] where the shelf does not know → conditions →
//! headers and bytes of one [`Ready`](crate::ready::Ready) (`answer.rs`).
//!
//! `served.json` and tokens are read again when they change, each for itself.
//! A `served.json` that is gone or broken leaves the old one in force; a file
//! of tokens that is gone leaves no token in force.
//!
//! Refuses: bodies, and methods but GET and HEAD.

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

use crate::access::AccessSink;
use crate::announced;
use crate::beneath::{Identity, Links, Opened, Root};
use crate::body::Pool;
use crate::catalog::{Catalog, CatalogError};
use crate::facts::{self, Facts, Known, Need};
use crate::kind;
use crate::limiter::{Limiter, Whose};
use crate::metrics::{Metrics, lost_text};
use crate::monitor::Monitor;
use crate::network;
use crate::path;
use crate::refusal::Refusal;
use crate::report::Listeners;
use crate::settings::{Limits, Settings, Unknown};
use crate::shelf::{Resolved, Shelf};
use crate::token::{Grant, TokenError, Tokens};

/// How often it is looked whether there is a new `served.json`, root or file
/// of tokens, in milliseconds.
const LOOK_EVERY: u64 = 250;

/// Large files that are hashed at once, and answers of the partner API that
/// are made at once: fewer than a worker has threads that may wait.
const MOST_AT_ONCE: usize = 4;

/// Locks for those who want to know the same of a file.
const N_TURNS: usize = 16;

/// Why a site cannot be opened or read again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The tokens.
    #[error(transparent)]
    Tokens(#[from] TokenError),
    /// Both.
    #[error("{0}; {1}")]
    Both(CatalogError, TokenError),
}

/// A folder that is served; cheap to clone.
#[derive(Clone)]
pub struct Site(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    pub(crate) root: Root,
    pub(crate) shelf: Shelf,
    pub(crate) known: Known,
    catalog: RwLock<Arc<Catalog>>,
    /// The catalog of a publication under way.
    pub(crate) next: Mutex<Vec<(Identity, Arc<Catalog>)>>,
    pub(crate) generation: AtomicU64,
    tokens: RwLock<Option<Arc<Tokens>>>,
    tried: Mutex<Tried>,
    on_failure: OnceLock<Tell>,
    /// Who hashes a large file, and who waits for that.
    pub(crate) turns: [Arc<tokio::sync::Mutex<()>>; N_TURNS],
    pub(crate) hashing: Arc<Semaphore>,
    pub(crate) api: Arc<Semaphore>,
    limiter: Limiter,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) listeners: Arc<Listeners>,
    pub(crate) pool: Arc<Pool>,
    start: Instant,
    looked: AtomicU64,
    /// When the tokens were last looked at. Held while they are read, so that
    /// an older file never comes after a newer one.
    tokens_looked: Mutex<u64>,
    is_loading: AtomicBool,
}

/// Is told of a reload that failed.
type Tell = Box<dyn Fn(&SiteError) + Send + Sync>;

/// The states of files that were read last, whether they could be used or not.
#[derive(Debug, Default)]
struct Tried {
    served: Option<Identity>,
    announced: announced::States,
    tokens: Option<Identity>,
    /// What was told last of a failure, and of tokens alone.
    told: Option<String>,
    told_of_tokens: Option<String>,
}

/// What changed and is to be read again.
#[derive(Debug, Clone, Copy)]
struct New {
    catalog: bool,
    tokens: bool,
}

/// What of a site is closed, and to whom it opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// Who says what is closed.
    pub by: ClosedBy,
    /// Paths that are closed: files, and beginnings of names.
    pub paths: usize,
    /// Tokens there are.
    pub tokens: usize,
}

/// Who says what is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosedBy {
    /// `served.json`.
    Served,
    /// The ARC sitemap of the folder.
    Announced,
    /// Nobody.
    Nobody,
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").field("root", &self.0.settings.root).finish_non_exhaustive()
    }
}

/// Who asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    pub(crate) address: Option<IpAddr>,
    pub(crate) grant: Option<Arc<Grant>>,
    /// Whether a token was shown that is nobody's.
    pub(crate) has_bad_token: bool,
}

impl Site {
    /// Opens a folder; `sinks` are told of each request.
    pub fn open(settings: Settings, sinks: Vec<Arc<dyn AccessSink>>) -> Result<Self, SiteError> {
        let limits = settings.limits;
        let monitor = settings.watch.clone().map(Monitor::new);
        let site = Self(Arc::new(Inner {
            root: Root::new(&settings.root),
            shelf: Shelf::new(limits.shelf),
            known: Known::new(),
            catalog: RwLock::default(),
            next: Mutex::default(),
            generation: AtomicU64::new(0),
            tokens: RwLock::default(),
            tried: Mutex::default(),
            on_failure: OnceLock::new(),
            turns: Default::default(),
            hashing: Arc::new(Semaphore::new(MOST_AT_ONCE)),
            api: Arc::new(Semaphore::new(MOST_AT_ONCE)),
            limiter: Limiter::new(limits.clients),
            metrics: Arc::default(),
            listeners: Arc::new(Listeners { sinks, monitor }),
            pool: Arc::default(),
            start: Instant::now(),
            looked: AtomicU64::new(0),
            tokens_looked: Mutex::default(),
            is_loading: AtomicBool::new(false),
            settings,
        }));
        // Nothing is known yet that could stay in force.
        let result = site.load(true);
        site.0.metrics.reloaded(result.is_ok());
        result.map(|()| site)
    }

    /// Reads `served.json` and the tokens again. Where one cannot be read, the
    /// old one stays; where the file of tokens is gone, there are none.
    pub fn reload(&self) -> Result<(), SiteError> {
        let result = self.load(false);
        self.0.metrics.reloaded(result.is_ok());
        result
    }

    /// Calls `tell` where something was found to have changed and cannot be
    /// read, once for each fault. The first that is given counts.
    pub fn on_failed_reload(&self, tell: impl Fn(&SiteError) + Send + Sync + 'static) {
        drop(self.0.on_failure.set(Box::new(tell)));
    }

    fn load(&self, is_first: bool) -> Result<(), SiteError> {
        self.0.root.look_again();
        let catalog = self.load_described(is_first);
        let tokens = self.load_tokens(is_first);
        match (catalog, tokens) {
            (Ok(()), Ok(())) => Ok(()),
            (Err(error), Ok(())) => Err(error.into()),
            (Ok(()), Err(error)) => Err(error.into()),
            (Err(one), Err(other)) => Err(SiteError::Both(one, other)),
        }
    }

    /// Reads what says what is closed, wherever that is said.
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
            catalog.must_be_about(&self.0.settings.root, state)?;
            Ok(catalog)
        });
        match &loaded {
            Ok(catalog) => self.tried().served = catalog.identity,
            Err(CatalogError::Io(error)) if is_passing(error) => {}
            // It stays so until it is written again.
            Err(_) => self.tried().served = before,
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

    /// Reads what the folder says of itself, where nobody else does.
    fn load_announced(&self, is_first: bool) -> Result<(), CatalogError> {
        let settings = &self.0.settings;
        let is_open = settings.unknown == Unknown::Open;
        self.tried().announced = announced::states(&settings.root);
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
        self.0.shelf.clear();
    }

    fn load_tokens(&self, is_first: bool) -> Result<(), TokenError> {
        let Some(path) = &self.0.settings.tokens else { return Ok(()) };
        let _turn = self.0.tokens_looked.lock().unwrap_or_else(PoisonError::into_inner);
        self.read_tokens(path, is_first)
    }

    /// Reads the tokens again before anybody is let in by one, where the last
    /// look is not of this moment: one that was taken back opens nothing, also
    /// where nobody has asked for a while.
    fn look_at_tokens(&self) {
        let Some(path) = &self.0.settings.tokens else { return };
        let mut looked = self.0.tokens_looked.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock();
        if now < *looked + LOOK_EVERY {
            return;
        }
        *looked = now;
        if identity_of(path) == self.tried().tokens {
            return;
        }
        let result = self.read_tokens(path, false);
        drop(looked);
        self.reloaded(result, |tried| &mut tried.told_of_tokens);
    }

    /// Only for whoever holds `tokens_looked`.
    fn read_tokens(&self, path: &Path, is_first: bool) -> Result<(), TokenError> {
        let before = identity_of(path);
        let loaded = Tokens::load(path);
        if !matches!(&loaded, Err(TokenError::Io(error)) if is_passing(error)) {
            // It stays so until it is written again, or may be read.
            self.tried().tokens = before;
        }
        let tokens = match loaded {
            // Whoever takes the file away takes all tokens back.
            Err(TokenError::Io(error)) if !is_first && error.kind() == io::ErrorKind::NotFound => {
                self.tried().tokens = None;
                Tokens::default()
            }
            loaded => loaded?,
        };
        *self.0.tokens.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(tokens));
        Ok(())
    }

    fn tried(&self) -> std::sync::MutexGuard<'_, Tried> {
        self.0.tried.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads every file once, so that the first to ask need not wait; gives how
    /// many there were. Only as many are remembered as the table holds. Where
    /// `served.json` tells of files, only collections are read: the others are
    /// small.
    pub fn warm(&self) -> usize {
        let mut folders = vec![(self.0.settings.root.clone(), String::new())];
        let mut n = 0;
        let is_described = self.0.settings.state.is_some();
        while let Some((folder, below)) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(name) = entry.file_name().into_string() else { continue };
                let name = if below.is_empty() { name } else { format!("{below}/{name}") };
                // What cannot be asked for need not be known.
                if path::read(&path::encoded(&name)).is_err() || facts::MOST / 2 <= n {
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

    fn learn(&self, name: &str) -> Option<Facts> {
        let Ok(Opened::File(file, identity)) = self.0.root.open(name, Links::Never) else {
            return None;
        };
        let (media_type, coding, _) = kind::of(name);
        self.0.known.find(&file, identity, Need::of(media_type, coding)).ok()?
    }

    /// Everything that is counted, in the text form of Prometheus.
    pub fn metrics_text(&self) -> String {
        let monitor = self.0.listeners.monitor.as_ref().map(Monitor::text);
        let n_lost: u64 = self.0.listeners.sinks.iter().map(|sink| sink.lost()).sum();
        format!("{}{}{}", self.0.metrics.text(), lost_text(n_lost), monitor.unwrap_or_default())
    }

    /// Counters.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.0.metrics
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.0.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is closed, and to whom it opens.
    pub fn closed(&self) -> Closed {
        let catalog = self.catalog();
        let by = match (&self.0.settings.state, catalog.is_there()) {
            (Some(_), _) => ClosedBy::Served,
            (None, true) => ClosedBy::Announced,
            (None, false) => ClosedBy::Nobody,
        };
        let tokens = self.0.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let tokens = tokens.as_ref().map_or(0, |tokens| tokens.len());
        Closed { by, paths: catalog.n_closed(), tokens }
    }

    pub(crate) fn has_tokens(&self) -> bool {
        self.0.tokens.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Milliseconds since the start.
    pub(crate) fn clock(&self) -> u64 {
        u64::try_from(self.0.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether this can be answered at all, and by whom it was asked.
    pub(crate) fn decide(
        &self,
        parts: &Parts,
        peer: Option<IpAddr>,
    ) -> (Client, Result<(), Refusal>) {
        let mut client = Client {
            address: peer
                .map(|peer| network::client(peer, &parts.headers, &self.0.settings.proxies)),
            ..Client::default()
        };
        self.identify(parts, &mut client);
        // Every request counts. What ends the connection comes before what lets it
        // go on: behind a head with a body, nobody screens the next bytes.
        let counted = self.count(&client);
        let fine = is_answerable(parts, &self.0.settings.limits).and(counted);
        (client, fine)
    }

    fn identify(&self, parts: &Parts, client: &mut Client) {
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

    /// Counts the request with its token, or with its address.
    fn count(&self, client: &Client) -> Result<(), Refusal> {
        let (whose, rate) = match (&client.grant, client.address, self.0.settings.rate) {
            (Some(grant), ..) => (Whose::Token(grant.key()), grant.rate),
            (None, Some(address), Some(rate)) => {
                (Whose::Address(network::household(address)), rate)
            }
            _ => return Ok(()),
        };
        self.0.limiter.take(whose, rate, Instant::now()).map_err(Refusal::Often)
    }

    /// What the shelf knows of a path, if that still counts.
    pub(crate) fn remembered(&self, path: &str) -> Option<Arc<Resolved>> {
        let found = self.0.shelf.get(&path::cache_key(path))?;
        if found.generation != self.0.generation.load(Ordering::Acquire) {
            return None;
        }
        let now = self.clock();
        let age = u64::try_from(self.0.settings.limits.recheck.as_millis()).unwrap_or(u64::MAX);
        if !found.is_fresh(now, age) {
            self.look_around(now);
            if !found.is_current(&self.0.root) {
                return None;
            }
            found.checked.store(now, Ordering::Relaxed);
        }
        self.0.metrics.remembered();
        Some(found)
    }

    /// Looks now and then whether root, `served.json` or tokens are others.
    pub(crate) fn look_around(&self, now: u64) {
        let last = self.0.looked.load(Ordering::Relaxed);
        let is_mine = last + LOOK_EVERY <= now
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
            self.0.root.look_again();
            self.0.shelf.clear();
        }
        let New { catalog, tokens } = self.new_files();
        let new = New { catalog: catalog || is_moved, tokens };
        let is_new = new.catalog || new.tokens;
        if is_new && !self.0.is_loading.swap(true, Ordering::AcqRel) {
            // A large file takes a while, and nobody waits for it here.
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

    /// Reads what changed, and nothing else.
    fn try_reload(&self, new: New) {
        if new.catalog {
            self.reloaded(self.load_described(false), |tried| &mut tried.told);
        }
        if new.tokens {
            self.reloaded(self.load_tokens(false), |tried| &mut tried.told_of_tokens);
        }
    }

    /// Counts a reload, and tells of one that failed, once for each fault.
    fn reloaded(
        &self,
        result: Result<(), impl Into<SiteError> + fmt::Debug>,
        told: impl FnOnce(&mut Tried) -> &mut Option<String>,
    ) {
        self.0.metrics.reloaded(result.is_ok());
        let fault = result.as_ref().err().map(|error| format!("{error:?}"));
        let is_known = std::mem::replace(told(&mut self.tried()), fault.clone()) == fault;
        if let (Err(error), false, Some(tell)) = (result, is_known, self.0.on_failure.get()) {
            tell(&error.into());
        }
    }

    /// Which files are others than those that were read.
    fn new_files(&self) -> New {
        let settings = &self.0.settings;
        let served = settings.state.as_ref().map(|state| identity_of(&state.join("served.json")));
        let tokens = settings.tokens.as_ref().map(|path| identity_of(path));
        let announced = settings.state.is_none().then(|| announced::states(&settings.root));
        let tried = self.tried();
        New {
            catalog: announced.is_some_and(|now| now != tried.announced)
                || served.is_some_and(|now| now != tried.served),
            tokens: tokens.is_some_and(|now| now != tried.tokens),
        }
    }
}

/// Whether an error says nothing about the file: another try may end better.
fn is_passing(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let passing = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::INTR, Errno::AGAIN, Errno::IO];
    Errno::from_io_error(error).is_some_and(|error| passing.contains(&error))
}

/// The state of a file by its name; `None` where there is none.
pub(crate) fn identity_of(path: &Path) -> Option<Identity> {
    Identity::of_metadata(&std::fs::metadata(path).ok()?)
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Whether a request is one we answer, whatever it asks for.
pub(crate) fn is_answerable(parts: &Parts, limits: &Limits) -> Result<(), Refusal> {
    let headers = &parts.headers;
    // Of HTTP/1 the guard has refused these already.
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
        // An address with another host than `Host` would be read differently
        // by a proxy in front.
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
