//! Options of a sync, and the events that a sync sends to an observer.

use std::time::Duration;

use rutter_scp::MassDeletionPolicy;
use rutter_store::Quota;

use crate::consent::scope::Scope;
use crate::limits::CrawlLimits;
use crate::plan::{PlanPolicy, SyncPlan};

/// Options of a sync.
#[derive(Debug, Clone)]
pub struct SyncOptions {
    /// Limits and costs for the planner.
    pub policy: PlanPolicy,
    /// Quota of pages and bytes per publisher (SCP-184).
    pub quota: Quota,
    /// Whether a sync may delete more than half of a section at once (D23).
    pub mass_deletion: MassDeletionPolicy,
    /// Other origins of the same site (D88); if empty, the stored ones remain.
    pub aliases: Vec<String>,
    /// The part of the site that is synced.
    pub scope: Scope,
    /// Whether a crawl by sitemaps also follows the links of pages.
    pub follows_links: bool,
    /// Whether pages of a collection are stored with content even if robots.txt disallows
    /// them (D93). Off by default.
    pub ignores_robots_on_delivered: bool,
    /// Maximum number of pages that one sync crawls.
    pub most_pages: u64,
    /// Limits of a crawl, in addition to `most_pages`.
    pub limits: CrawlLimits,
    /// Seconds after which a spooled file that was not applied is deleted.
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

/// An event that a sync sends to its observer, such as progress.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum SyncEvent<'e> {
    /// Discovery starts.
    Discovering,
    /// The crawl delay in robots.txt exceeds the maximum. The sync only uses collections
    /// and crawls no pages (D52).
    Slow {
        /// The crawl delay that the host requests.
        delay: Duration,
    },
    /// The planner returned a plan.
    Planned(&'e SyncPlan),
    /// The download of a file starts.
    Fetching {
        /// URL of the file.
        url: &'e str,
        /// Advertised size of the file in bytes.
        size: u64,
    },
    /// The verification of a downloaded collection starts.
    Applying {
        /// Section of the collection.
        section: &'e str,
    },
    /// The number of crawled pages changed.
    Pages {
        /// Number of pages that are finished.
        done: u64,
        /// Number of pages to crawl that are known so far.
        known: u64,
    },
}

/// Receives the events of syncs.
pub trait SyncObserver: Send + Sync {
    /// Receives one event of the sync of `site`.
    fn event(&self, site: &str, event: SyncEvent<'_>);
}

/// Ignores all events.
impl SyncObserver for () {
    fn event(&self, _site: &str, _event: SyncEvent<'_>) {}
}
