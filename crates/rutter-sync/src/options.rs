//! Options of a sync, and the events it sends to an observer.

use std::time::Duration;

use rutter_scp::MassDeletionPolicy;
use rutter_store::Quota;

use crate::limits::CrawlLimits;
use crate::plan::{PlanPolicy, SyncPlan};
use crate::scope::Scope;

/// Options of a sync.
#[derive(Debug, Clone)]
pub struct SyncOptions {
    /// Policy of the planner.
    pub policy: PlanPolicy,
    /// Quota of pages and bytes per publisher (SCP-184).
    pub quota: Quota,
    /// Whether a sync may delete more than half of a section at once (D23).
    pub mass_deletion: MassDeletionPolicy,
    /// Other origins of the same site (D88).
    pub aliases: Vec<String>,
    /// Pages that are synced.
    pub scope: Scope,
    /// Whether links are followed in addition to sitemaps.
    pub follows_links: bool,
    /// Whether to use pages of a collection that robots.txt disallows (D93). Off by
    /// default.
    pub ignores_robots_on_delivered: bool,
    /// Maximum number of pages that one sync crawls.
    pub most_pages: u64,
    /// Limits of a crawl, in addition to the number of pages.
    pub limits: CrawlLimits,
    /// Seconds after which unused downloads are deleted.
    pub spools_kept: i64,
}

impl Default for SyncOptions {
    fn default() -> Self {
        Self {
            policy: PlanPolicy::DEFAULT,
            quota: Quota::DEFAULT,
            mass_deletion: MassDeletionPolicy::Refused,
            aliases: Vec::new(),
            scope: Scope::default(),
            follows_links: false,
            ignores_robots_on_delivered: false,
            most_pages: 100_000,
            limits: CrawlLimits::default(),
            spools_kept: 7 * 86_400,
        }
    }
}

/// Progress of a sync.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum SyncEvent<'e> {
    /// Discovery started.
    Discovering,
    /// The crawl delay of the host exceeds the maximum: pages are not crawled, only
    /// collections are synced (D52).
    Slow {
        /// The requested delay.
        delay: Duration,
    },
    /// The plan was made.
    Planned(&'e SyncPlan),
    /// A file is being downloaded.
    Fetching {
        /// Its URL.
        url: &'e str,
        /// Its advertised size in bytes.
        size: u64,
    },
    /// A collection is being verified and applied.
    Applying {
        /// Its section.
        section: &'e str,
    },
    /// Pages are being crawled.
    Pages {
        /// Pages that are finished.
        done: u64,
        /// Pages that are known so far.
        known: u64,
    },
}

/// Receives the events of syncs.
pub trait SyncObserver: Send + Sync {
    /// Receives one event of a site.
    fn event(&self, site: &str, event: SyncEvent<'_>);
}

/// Ignores all events.
impl SyncObserver for () {
    fn event(&self, _site: &str, _event: SyncEvent<'_>) {}
}
