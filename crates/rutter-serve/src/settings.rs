//! Settings of a site, as plain structs with named defaults.

use std::path::PathBuf;

use rutter_logs::OddClientThresholds;

pub(crate) mod limits;
pub(crate) mod network;

pub use limits::{ConnectionLimits, Limits, RateLimit};
pub use network::{ForwardingHeader, Network, NetworkError, TrustedProxies};

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
    pub watch: Option<OddClientThresholds>,
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
            watch: Some(OddClientThresholds::DEFAULT),
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
