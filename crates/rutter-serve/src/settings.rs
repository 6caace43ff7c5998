//! Settings of a site, as plain structs with named defaults.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use rutter_logs::Thresholds;

use crate::admission::network::Network;

/// Settings of a [`Site`](crate::Site).
#[derive(Debug, Clone)]
pub struct SiteSettings {
    /// The public directory.
    pub root: PathBuf,
    /// The state directory, with `served.json` and the private store. A state directory without
    /// `served.json`, or with one that describes another directory, is rejected. With `None`, media
    /// types come from the file names, and restrictions from the ARC sitemap of the public
    /// directory.
    pub state: Option<PathBuf>,
    /// What to do if neither `served.json` nor a readable ARC sitemap defines the restrictions.
    pub unknown: UnknownAccess,
    /// The token file; without it there is no partner API, and restricted pages are not served.
    pub tokens: Option<PathBuf>,
    /// Cache lifetimes by class of file.
    pub lifetimes: CacheLifetimes,
    /// Seconds between two snapshots; `None` for the value in `served.json`, or
    /// [`CacheLifetimes::snapshot`] without one.
    pub update: Option<u64>,
    /// Maximum request rate of a client without a token; `None` for no limit.
    pub rate: Option<RateLimit>,
    /// Maximum speed of one download in bytes per second; `None` for no limit.
    pub bandwidth: Option<u64>,
    /// Which proxies may set the client's address.
    pub proxies: TrustedProxies,
    /// Thresholds for unusual clients; `None` disables monitoring.
    pub watch: Option<Thresholds>,
    /// Resource limits.
    pub limits: Limits,
}

impl SiteSettings {
    /// Returns the default settings for a directory.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            state: None,
            unknown: UnknownAccess::Refused,
            tokens: None,
            lifetimes: CacheLifetimes::DEFAULT,
            update: None,
            rate: Some(RateLimit::DEFAULT),
            bandwidth: None,
            proxies: TrustedProxies::default(),
            watch: Some(Thresholds::DEFAULT),
            limits: Limits::DEFAULT,
        }
    }
}

/// What to do with a directory whose restrictions are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownAccess {
    /// Refuse to serve the directory if its ARC sitemap cannot be read, or if tokens are configured
    /// and no restrictions are defined.
    Refused,
    /// Serve all files of the directory publicly.
    Open,
}

/// Cache lifetimes of files, in seconds (D10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLifetimes {
    /// Snapshots: the update interval.
    pub snapshot: u64,
    /// How long a stale snapshot may be served while a new one is fetched.
    pub stale: u64,
    /// Deltas.
    pub delta: u64,
    /// Files that describe the site or list other files: sitemaps, indexes, policies, robots.txt.
    pub entry: u64,
    /// Markdown twins.
    pub twin: u64,
    /// Pages; with 0, caches store them and revalidate each time.
    pub page: u64,
    /// Images, style sheets and other files.
    pub other: u64,
}

impl CacheLifetimes {
    /// Weekly snapshots, one hour for other files, 0 for pages.
    pub const DEFAULT: Self = Self {
        snapshot: 604_800,
        stale: 3600,
        delta: 3600,
        entry: 3600,
        twin: 3600,
        page: 0,
        other: 3600,
    };
}

/// A request rate with a burst size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimit {
    /// Interval after which one more request is allowed.
    pub every: Duration,
    /// Number of requests that are allowed at once.
    pub burst: u32,
}

impl RateLimit {
    /// 50 requests per second with bursts of 500, which a polite crawler does not reach.
    pub const DEFAULT: Self = Self { every: Duration::from_millis(20), burst: 500 };
}

/// Resource limits, with defaults in [`Limits::DEFAULT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of open connections of one address (IPv6: of one /64).
    pub per_address: usize,
    /// Maximum length of a request line in bytes; longer lines get status 414.
    pub request_line: usize,
    /// Maximum size of a request head in bytes; larger heads get status 431.
    pub head: usize,
    /// Maximum number of header fields of a request; requests with more get status 431.
    pub fields: usize,
    /// Maximum time for a request head, from its first byte to its last, and for the TLS handshake.
    pub head_time: Duration,
    /// How long a connection may be idle between requests.
    pub idle: Duration,
    /// How long a client may leave a response unread.
    pub stall: Duration,
    /// How long shutdown waits for running responses.
    pub drain: Duration,
    /// How long a cached response is used before its files are checked for changes.
    pub recheck: Duration,
    /// Maximum size of a file that is kept in memory, in bytes.
    pub small: u64,
    /// Size of the response cache in bytes.
    pub cache: usize,
    /// Maximum number of clients in the rate limiter.
    pub clients: usize,
    /// Maximum number of entries in one response of the partner API.
    pub entries: usize,
    /// Maximum length of a line of the private store, in bytes.
    pub line: usize,
}

impl Limits {
    /// The default limits.
    pub const DEFAULT: Self = Self {
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
        cache: 16 << 20,
        clients: 65_536,
        entries: 1000,
        line: 16 << 20,
    };
}

/// Which proxies may set the client's address.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies {
    /// Networks of trusted proxies; the header of other clients is ignored.
    pub trusted: Vec<Network>,
    /// The header that the proxies set. Other forwarding headers are ignored, because a proxy that
    /// sets one header passes on the others as the client sent them.
    pub header: ForwardingHeader,
}

impl TrustedProxies {
    pub(crate) fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|network| network.contains(address))
    }
}

/// A header with the client's address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ForwardingHeader {
    /// `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}
