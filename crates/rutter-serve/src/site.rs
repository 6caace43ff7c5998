//! A site: the folder, what is known of it, who may have what.
//!
//! A request's way: is it one ([`Site::decide`]) → who asks, how often → the
//! shelf, or [`Site::resolve`] where the shelf does not know → conditions →
//! headers and bytes of one [`Ready`] (`answer.rs`).
//!
//! Refuses: bodies, methods but GET and HEAD, and to show a restricted page
//! while it is not known whether it is one.

use std::fmt;
use std::fs::File;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Instant, SystemTime};

use bytes::Bytes;
use http::Method;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use http::request::Parts;

use crate::access::AccessSink;
use crate::beneath::{Identity, Links, Opened, Root};
use crate::body::Pool;
use crate::catalog::{Catalog, CatalogError, Fact};
use crate::facts::{self, Facts, Known, Need};
use crate::kind::{self, HTML, Kind};
use crate::limiter::{Limiter, Whose};
use crate::metrics::Metrics;
use crate::monitor::Monitor;
use crate::network;
use crate::path::{self, PathFault};
use crate::ready::{About, Ready, Role, read_small};
use crate::refusal::Refusal;
use crate::report::Listeners;
use crate::settings::Settings;
use crate::shelf::{Resolved, Shelf};
use crate::token::{Grant, TokenError, Tokens};

/// How often it is looked whether there is a new `served.json`, root or file
/// of tokens, in milliseconds.
const LOOK_EVERY: u64 = 250;

/// Tries of a file that changes while it is read.
const TRIES: usize = 8;

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
}

/// A folder that is served; cheap to clone.
#[derive(Clone)]
pub struct Site(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    pub(crate) root: Root,
    pub(crate) shelf: Shelf,
    known: Known,
    catalog: RwLock<Arc<Catalog>>,
    generation: AtomicU64,
    tokens: RwLock<Option<Arc<Tokens>>>,
    tokens_seen: RwLock<Option<SystemTime>>,
    limiter: Limiter,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) listeners: Arc<Listeners>,
    pub(crate) pool: Arc<Pool>,
    start: Instant,
    looked: AtomicU64,
    is_loading: AtomicBool,
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

/// What an address leads to.
#[derive(Debug)]
pub(crate) enum Found {
    /// With the files that were opened to find out.
    Files(Arc<Resolved>, AtHand),
    /// The address of a folder, with its slash.
    Moved(String),
}

/// Open files and their states.
pub(crate) type AtHand = Vec<(Identity, Arc<File>)>;

/// What a name is.
enum Place {
    File(String, File, Identity),
    /// A folder with an index, asked for without its slash.
    Folder,
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
            generation: AtomicU64::new(0),
            tokens: RwLock::default(),
            tokens_seen: RwLock::default(),
            limiter: Limiter::new(limits.clients),
            metrics: Arc::default(),
            listeners: Arc::new(Listeners { sinks, monitor }),
            pool: Arc::default(),
            start: Instant::now(),
            looked: AtomicU64::new(0),
            is_loading: AtomicBool::new(false),
            settings,
        }));
        site.reload()?;
        Ok(site)
    }

    /// Reads `served.json` and the tokens again. Where one cannot be read, the
    /// old ones stay.
    pub fn reload(&self) -> Result<(), SiteError> {
        let result = self.load();
        self.0.metrics.reloaded(result.is_ok());
        result
    }

    fn load(&self) -> Result<(), SiteError> {
        self.0.root.look_again();
        if let Some(state) = &self.0.settings.state {
            let catalog = Catalog::load(&state.join("served.json"))?;
            if catalog.has_collections()
                && let Some(monitor) = &self.0.listeners.monitor
            {
                monitor.expect_collections();
            }
            *self.0.catalog.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalog);
            self.0.generation.fetch_add(1, Ordering::Release);
        }
        if let Some(path) = &self.0.settings.tokens {
            let seen = modified(path);
            let tokens = Tokens::load(path)?;
            *self.0.tokens.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(tokens));
            *self.0.tokens_seen.write().unwrap_or_else(PoisonError::into_inner) = seen;
        }
        self.0.shelf.clear();
        Ok(())
    }

    /// Reads every file once, so that the first to ask need not wait; gives how
    /// many there were. Only as many are remembered as the table holds.
    pub fn warm(&self) -> usize {
        let mut folders = vec![(self.0.settings.root.clone(), String::new())];
        let mut n = 0;
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
                    Ok(_) => n += usize::from(self.look(&name).is_some()),
                    Err(_) => {}
                }
            }
        }
        n
    }

    fn look(&self, name: &str) -> Option<Facts> {
        let Ok(Opened::File(file, identity)) = self.0.root.open(name, Links::Never) else {
            return None;
        };
        let (media_type, coding, _) = kind::of(name);
        self.0.known.find(&file, identity, Need::of(media_type, coding)).ok()?
    }

    /// Everything that is counted, in the text form of Prometheus.
    pub fn metrics_text(&self) -> String {
        let monitor = self.0.listeners.monitor.as_ref().map(Monitor::text);
        format!("{}{}", self.0.metrics.text(), monitor.unwrap_or_default())
    }

    /// Counters.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.0.metrics
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.0.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn has_tokens(&self) -> bool {
        self.0.tokens.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Milliseconds since the start.
    fn clock(&self) -> u64 {
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
        let fine = self.count(&client).and_then(|()| is_answerable(parts));
        (client, fine)
    }

    fn identify(&self, parts: &Parts, client: &mut Client) {
        if !parts.headers.contains_key(AUTHORIZATION) {
            return;
        }
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
        let found = self.0.shelf.get(path)?;
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
    fn look_around(&self, now: u64) {
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
        if !self.0.root.is_current() {
            self.0.root.look_again();
            self.0.shelf.clear();
        }
        let is_new = self.is_outdated() || self.has_new_tokens();
        if is_new && !self.0.is_loading.swap(true, Ordering::AcqRel) {
            // A large file takes a while, and nobody waits for it here.
            let site = self.clone();
            let work = move || {
                // What cannot be read is counted, and the old one stays.
                drop(site.reload());
                site.0.is_loading.store(false, Ordering::Release);
            };
            if std::thread::Builder::new().name("reload".to_owned()).spawn(work).is_err() {
                self.0.is_loading.store(false, Ordering::Release);
            }
        }
    }

    /// Whether `served.json` is another than the one that was read.
    fn is_outdated(&self) -> bool {
        let Some(state) = &self.0.settings.state else { return false };
        identity_of(&state.join("served.json")) != self.catalog().identity
    }

    fn has_new_tokens(&self) -> bool {
        let Some(path) = &self.0.settings.tokens else { return false };
        let seen = *self.0.tokens_seen.read().unwrap_or_else(PoisonError::into_inner);
        let now = modified(path);
        now.is_some() && now != seen
    }

    /// Finds out where a path leads. Reads files: not for a thread that must
    /// not wait.
    pub(crate) fn resolve(&self, path: &str) -> Result<Found, Refusal> {
        self.look_around(self.clock());
        for _ in 0..TRIES {
            let generation = self.0.generation.load(Ordering::Acquire);
            let catalog = self.catalog();
            match self.try_resolve(path, &catalog, generation)? {
                Some(found) => return Ok(found),
                // It changed while it was read.
                None => std::thread::yield_now(),
            }
        }
        Err(Refusal::Busy)
    }

    fn try_resolve(
        &self,
        path: &str,
        catalog: &Catalog,
        generation: u64,
    ) -> Result<Option<Found>, Refusal> {
        let started = self.clock();
        let below = match catalog.mount() {
            "" => path,
            mount => match path.strip_prefix(mount) {
                Some("") => return Ok(Some(Found::Moved(format!("{path}/")))),
                Some(rest) if rest.starts_with('/') => rest,
                // Files for the root of the host, such as robots.txt.
                _ => path,
            },
        };
        let links = if catalog.has_restricted() { Links::Never } else { Links::Inside };
        let (name, file, identity) = match self.find(below, links)? {
            Place::File(name, file, identity) => (name, file, identity),
            Place::Folder => return Ok(Some(Found::Moved(format!("{path}/")))),
        };
        let open = |name: &str| self.open_file(name, links);
        let fact = fact_of(catalog, &name);
        let is_restricted = fact.needs_token || self.is_restricted(&name, &identity, catalog)?;
        let mut seen = vec![(name.clone(), Some(identity))];
        let twin_name = fact.twin.clone().filter(|_| fact.kind == Kind::Page && !is_restricted);
        let twin = twin_name.as_deref().and_then(&open);
        let coded_name = format!("{name}.gz");
        let coded = (kind::has_coded_twin(&fact.media_type) && fact.coding.is_none())
            .then(|| open(&coded_name));
        if let Some(coded) = &coded {
            seen.push((coded_name.clone(), coded.as_ref().map(|(_, identity)| *identity)));
        }
        if let Some(name) = &twin_name {
            seen.push((name.clone(), twin.as_ref().map(|(_, identity)| *identity)));
        }
        let coded = coded.flatten();
        let role = match (&coded, fact.kind) {
            (Some(_), _) => Role::Plain,
            (None, Kind::Page) => Role::Page(twin_name.as_deref().filter(|_| twin.is_some())),
            _ => Role::Itself,
        };
        let mut at_hand = AtHand::new();
        let mut make = |name: &str, role, fact: &Fact, file, identity: Identity, coding| {
            let told = fact.modified.filter(|_| catalog.describes(&identity));
            let modified = told.unwrap_or_else(|| identity.modified_seconds());
            let about = About {
                name,
                media_type: &fact.media_type,
                coding,
                kind: fact.kind,
                modified,
                now: now(),
                is_restricted,
                role,
            };
            let ready = self.ready(&about, &file, identity);
            at_hand.push((identity, Arc::new(file)));
            ready
        };
        let Some(plain) = make(&name, role, &fact, file, identity, fact.coding)? else {
            return Ok(None);
        };
        let gzip = match coded {
            Some((file, identity)) => {
                let coding = Some(kind::Coding::Gzip);
                let Some(ready) = make(&coded_name, Role::Coded, &fact, file, identity, coding)?
                else {
                    return Ok(None);
                };
                Some(ready)
            }
            None => None,
        };
        let markdown = match (twin, &twin_name) {
            (Some((file, identity)), Some(name)) => {
                let fact = fact_of(catalog, name);
                let Some(ready) = make(name, Role::Twin, &fact, file, identity, None)? else {
                    return Ok(None);
                };
                Some(ready)
            }
            _ => None,
        };
        let checked = AtomicU64::new(started);
        let resolved =
            Arc::new(Resolved { plain, gzip, markdown, is_restricted, seen, generation, checked });
        self.0.shelf.put(path, &resolved);
        Ok(Some(Found::Files(resolved, at_hand)))
    }

    fn open_file(&self, name: &str, links: Links) -> Option<(File, Identity)> {
        match self.0.root.open(name, links) {
            Ok(Opened::File(file, identity)) => Some((file, identity)),
            _ => None,
        }
    }

    /// The file an address means: itself, the index of a folder, or the page
    /// whose ending was left out.
    fn find(&self, below: &str, links: Links) -> Result<Place, Refusal> {
        let asked = path::read(below).map_err(|fault| match fault {
            PathFault::Bad => Refusal::Bad,
            PathFault::Hidden => Refusal::Missing,
        })?;
        let file = |name: String| match self.open_file(&name, links) {
            Some((file, identity)) => Ok(Place::File(name, file, identity)),
            None => Err(Refusal::Missing),
        };
        let index = match asked.name.as_str() {
            "" => "index.html".to_owned(),
            name => format!("{name}/index.html"),
        };
        if asked.is_folder {
            return file(index);
        }
        match self.0.root.open(&asked.name, links) {
            Ok(Opened::File(file, identity)) => Ok(Place::File(asked.name, file, identity)),
            // A page and a folder may share a name.
            Ok(Opened::Folder) if file(index).is_ok() => Ok(Place::Folder),
            _ => file(format!("{}.html", asked.name)),
        }
    }

    /// Makes the answer for an open file; `None` where it changed meanwhile.
    fn ready(
        &self,
        about: &About<'_>,
        file: &File,
        identity: Identity,
    ) -> Result<Option<Ready>, Refusal> {
        let need = if about.role == Role::Coded {
            Need::Gzip
        } else {
            Need::of(about.media_type, about.coding)
        };
        let failed = |_| Refusal::Internal;
        let lifetimes = &self.0.settings.lifetimes;
        if identity.size <= self.0.settings.limits.small {
            // The tag is made of the very bytes that are kept.
            let Some(bytes) = read_small(file, &identity).map_err(failed)? else {
                return Ok(None);
            };
            let facts = facts::find(|| Bytes::as_ref(&bytes), need).map_err(failed)?;
            return Ok(Some(Ready::new(about, identity, &facts, Some(bytes), lifetimes)));
        }
        let Some(facts) = self.0.known.find(file, identity, need).map_err(failed)? else {
            return Ok(None);
        };
        Ok(Some(Ready::new(about, identity, &facts, None, lifetimes)))
    }

    /// Whether a page needs a token. A page that came after `served.json` may
    /// be described by the next one only, so that one is asked too.
    fn is_restricted(
        &self,
        name: &str,
        identity: &Identity,
        catalog: &Catalog,
    ) -> Result<bool, Refusal> {
        if catalog.is_restricted(name) {
            return Ok(true);
        }
        let (media_type, ..) = kind::of(name);
        let Some(state) = self.0.settings.state.as_deref().filter(|_| media_type == HTML) else {
            return Ok(false);
        };
        if !catalog.is_there() || catalog.describes(identity) {
            return Ok(false);
        }
        if identity_of(&state.join("served.json")) != catalog.identity {
            // It has come, and only has to be read.
            return coming(&state.join("served.json"), name);
        }
        if !state.join("journal.json").exists() {
            return Ok(false);
        }
        // A publication is under way; what it will say lies here.
        match coming(&state.join("next/served"), name) {
            Ok(is_restricted) => Ok(is_restricted),
            Err(_) => coming(&state.join("served.json"), name),
        }
    }
}

/// What a catalog that is not ours yet says of a page.
fn coming(path: &Path, name: &str) -> Result<bool, Refusal> {
    let next = Catalog::load(path).map_err(|_| Refusal::Busy)?;
    if next.is_there() { Ok(next.is_restricted(name)) } else { Err(Refusal::Busy) }
}

/// What is known of a file: by the build, where it knows, else by the name.
fn fact_of(catalog: &Catalog, name: &str) -> Fact {
    match catalog.get(name) {
        // Files of the owner that the build only copied.
        Some(told) if &*told.media_type == "application/octet-stream" => {
            let Fact { media_type, coding, kind, twin, .. } = guessed(name);
            Fact { media_type, coding, kind, twin, ..told }
        }
        Some(told) => told,
        None => guessed(name),
    }
}

fn guessed(name: &str) -> Fact {
    let (media_type, coding, kind) = kind::of(name);
    let twin = name.strip_suffix(".html").map(|stem| format!("{stem}.md"));
    Fact { media_type: media_type.into(), coding, kind, modified: None, twin, needs_token: false }
}

fn identity_of(path: &Path) -> Option<Identity> {
    File::open(path).ok().and_then(|file| Identity::of(&file).ok().flatten())
}

fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Whether a request is one we answer, whatever it asks for.
fn is_answerable(parts: &Parts) -> Result<(), Refusal> {
    let headers = &parts.headers;
    let mut hosts = headers.get_all(HOST).iter();
    let (host, more) = (hosts.next(), hosts.next());
    let is_old = parts.version <= http::Version::HTTP_10;
    let is_http1 = parts.version <= http::Version::HTTP_11;
    if more.is_some() || (is_http1 && !is_old && host.is_none()) {
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
