//! A site: its directory, catalog, tokens, cache and limits.
//!
//! [`SiteState`] is the only state of a running site. The stages of a request take values from it
//! and return values: `answer.rs` shows the way of a request, `reloading.rs` the way of new files.
//!
//! Rejects: request bodies, and methods except GET and HEAD.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use crate::admission::limiter::RateLimiter;
use crate::monitor::access::AccessSink;
use crate::monitor::clients::TrafficMonitor;
use crate::monitor::metrics::{Metrics, lost_text};
use crate::monitor::report::RequestObservers;
use crate::partner::PartnerApi;
use crate::reload::failure::SiteError;
use crate::reload::{LoadAttempt, ReloadState};
use crate::resolve::catalog::Catalog;
use crate::resolve::resolver::Resolver;
use crate::resolve::{facts, kind, path};
use crate::respond::body::buffer_pool::BufferPool;
use crate::respond::response_cache::ResponseCache;
use crate::settings::SiteSettings;

pub(crate) mod answer;
pub(crate) mod lookup;
pub(crate) mod reloading;
pub(crate) mod response_future;
pub(crate) mod service;

use lookup::HashingQueue;

/// A directory that is served; cheap to clone.
#[derive(Clone)]
pub struct Site(pub(crate) Arc<SiteState>);

/// The state of a site, one field for each stage of a request.
pub(crate) struct SiteState {
    pub(crate) settings: SiteSettings,
    start: Instant,
    reload: ReloadState,
    limiter: RateLimiter,
    resolver: Resolver,
    hashing: HashingQueue,
    cache: ResponseCache,
    partner: PartnerApi,
    pool: Arc<BufferPool>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) listeners: Arc<RequestObservers>,
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

impl Site {
    /// Opens a site; `sinks` receive a record of each request.
    pub fn open(
        settings: SiteSettings,
        sinks: Vec<Arc<dyn AccessSink>>,
    ) -> Result<Self, SiteError> {
        let limits = settings.limits;
        let monitor = settings.watch.clone().map(TrafficMonitor::new);
        let metrics = Arc::default();
        let site = Self(Arc::new(SiteState {
            start: Instant::now(),
            reload: ReloadState::new(&settings, &metrics),
            limiter: RateLimiter::new(limits.clients),
            resolver: Resolver::new(&settings, &metrics),
            hashing: HashingQueue::new(),
            cache: ResponseCache::new(limits.cache),
            partner: PartnerApi::new(settings.state.as_deref(), &limits),
            pool: Arc::default(),
            metrics,
            listeners: Arc::new(RequestObservers { sinks, monitor }),
            settings,
        }));
        let result = site.load(LoadAttempt::First);
        site.0.metrics.reloaded(result.is_ok());
        result.map(|()| site)
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
                    Ok(_) => n += usize::from(self.0.resolver.warm(&name).is_some()),
                    Err(_) => {}
                }
            }
        }
        n
    }

    /// Returns all counters in the Prometheus text format.
    pub fn metrics_text(&self) -> String {
        let monitor = self.0.listeners.monitor.as_ref().map(TrafficMonitor::text);
        let n_lost: u64 = self.0.listeners.sinks.iter().map(|sink| sink.lost()).sum();
        format!("{}{}{}", self.0.metrics.text(), lost_text(n_lost), monitor.unwrap_or_default())
    }

    /// Returns the counters.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.0.metrics
    }

    /// Returns the source and number of restrictions, and the number of tokens.
    pub fn closed(&self) -> AccessSummary {
        let catalog = self.catalog();
        let by = match (&self.0.settings.state, catalog.is_there()) {
            (Some(_), _) => RestrictionSource::Served,
            (None, true) => RestrictionSource::Announced,
            (None, false) => RestrictionSource::None,
        };
        let tokens = self.0.reload.tokens.get().map_or(0, |tokens| tokens.len());
        AccessSummary { by, paths: catalog.n_closed(), tokens }
    }

    fn catalog(&self) -> Arc<Catalog> {
        self.0.reload.catalog.get()
    }

    /// Returns the milliseconds since the start.
    pub(crate) fn clock(&self) -> u64 {
        u64::try_from(self.0.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
