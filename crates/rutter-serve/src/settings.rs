//! Everything that can be set, as plain structs with named defaults.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use rutter_logs::Thresholds;

use crate::network::Network;

/// What is served and how.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The public folder.
    pub root: PathBuf,
    /// The folder of the state, with `served.json` and the private store. One
    /// without `served.json`, or of another folder, is refused; `None` serves
    /// the folder by what the names of its files say, and closes what its ARC
    /// sitemap marks as needing a login.
    pub state: Option<PathBuf>,
    /// What is shown where neither `served.json` nor an ARC sitemap that can
    /// be read says what is closed.
    pub unknown: Unknown,
    /// The file of tokens; without one there is no partner API, and pages that
    /// need a login are shown to nobody.
    pub tokens: Option<PathBuf>,
    /// How long each kind of file may be kept.
    pub lifetimes: Lifetimes,
    /// Seconds between two snapshots; `None` for what `served.json` says, or
    /// [`Lifetimes::snapshot`] where it says nothing.
    pub update: Option<u64>,
    /// How many requests a client may make.
    pub rate: Option<Rate>,
    /// Most bytes a second of one download; `None` for as fast as it goes.
    pub bandwidth: Option<u64>,
    /// Whose word about the client's address counts.
    pub proxies: Proxies,
    /// From when on a client is odd; `None` watches nobody.
    pub watch: Option<Thresholds>,
    /// Ceilings.
    pub limits: Limits,
}

impl Settings {
    /// The usual settings for a folder.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            state: None,
            unknown: Unknown::Refused,
            tokens: None,
            lifetimes: Lifetimes::USUAL,
            update: None,
            rate: Some(Rate::USUAL),
            bandwidth: None,
            proxies: Proxies::default(),
            watch: Some(Thresholds::USUAL),
            limits: Limits::USUAL,
        }
    }
}

/// What becomes of a folder of which it is not known what is closed in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// It is not served where its ARC sitemap cannot be read, or where tokens
    /// are given and nothing says what for.
    Refused,
    /// Everything in it is shown to everybody.
    Open,
}

/// How long files may be kept, in seconds (D10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// Snapshots: the interval of updates.
    pub snapshot: u64,
    /// How long a stale snapshot may be shown while a new one is fetched.
    pub stale: u64,
    /// Deltas.
    pub delta: u64,
    /// Sitemaps, index, policy, robots.txt: they announce everything else.
    pub entry: u64,
    /// Markdown of pages.
    pub twin: u64,
    /// Pages; 0 lets clients keep them and ask each time.
    pub page: u64,
    /// Pictures, styles and the rest.
    pub other: u64,
}

impl Lifetimes {
    /// Weekly snapshots, an hour for what changes more often.
    pub const USUAL: Self = Self {
        snapshot: 604_800,
        stale: 3600,
        delta: 3600,
        entry: 3600,
        twin: 3600,
        page: 0,
        other: 3600,
    };
}

/// A number of requests in a time, and how many may come at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Time after which one more is allowed.
    pub every: Duration,
    /// How many may come at once.
    pub burst: u32,
}

impl Rate {
    /// 50 requests a second, 500 at once: a polite crawler never notices.
    pub const USUAL: Self = Self { every: Duration::from_millis(20), burst: 500 };
}

/// Ceilings, each with a default in [`Limits::USUAL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Connections of one address at once (IPv6: of one /64).
    pub per_address: usize,
    /// Bytes of the request line; longer ones get 414.
    pub request_line: usize,
    /// Bytes of a request's head; longer ones get 431.
    pub head: usize,
    /// Fields of a request's head; more get 431.
    pub fields: usize,
    /// Time for a head, from its first byte to its last, and for TLS.
    pub head_time: Duration,
    /// How long a connection may wait between requests.
    pub idle: Duration,
    /// How long a client may take nothing of an answer.
    pub stall: Duration,
    /// How long a stop waits for answers under way.
    pub drain: Duration,
    /// How long what is known of a file counts before it is looked at again.
    pub recheck: Duration,
    /// Largest file that is kept in memory.
    pub small: u64,
    /// Bytes of answers kept in memory.
    pub shelf: usize,
    /// Clients whose rate is remembered.
    pub clients: usize,
    /// Most entries in one answer of the partner API.
    pub entries: usize,
    /// Longest line of the private store.
    pub line: usize,
}

impl Limits {
    /// The usual ceilings.
    pub const USUAL: Self = Self {
        connections: 4096,
        per_address: 256,
        request_line: 8 << 10,
        head: 16 << 10,
        fields: 100,
        head_time: Duration::from_secs(10),
        idle: Duration::from_mins(1),
        stall: Duration::from_secs(30),
        drain: Duration::from_secs(10),
        recheck: Duration::from_millis(100),
        small: 128 << 10,
        shelf: 16 << 20,
        clients: 65_536,
        entries: 1000,
        line: 16 << 20,
    };
}

/// Whose word about the client's address counts.
#[derive(Debug, Clone, Default)]
pub struct Proxies {
    /// Networks of proxies of ours; from nobody else the header is read.
    pub trusted: Vec<Network>,
    /// The header they write. Only one is read: a proxy that writes one lets
    /// the other through as the client wrote it.
    pub header: Forwarding,
}

impl Proxies {
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(address))
    }
}

/// The header a proxy writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Forwarding {
    /// `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}
