//! How sites are visited, and who watches.

use std::time::Duration;

use rutter_scp::MassDeletion;
use rutter_store::Quota;

use crate::limits::CrawlLimits;
use crate::plan::{Plan, Policy};
use crate::scope::Scope;

/// How sites are visited.
#[derive(Debug, Clone)]
pub struct Options {
    /// What the planner goes by.
    pub policy: Policy,
    /// What one publisher may fill (SCP-184).
    pub quota: Quota,
    /// Whether more than half of a section may go at once (D23).
    pub mass_deletion: MassDeletion,
    /// Other origins that are the same site (D88).
    pub aliases: Vec<String>,
    /// Which pages are wanted.
    pub scope: Scope,
    /// Whether links are followed beside a sitemap.
    pub follows_links: bool,
    /// Whether pages that robots.txt forbids us are used when a collection
    /// delivers them (D93). Off unless somebody says so.
    pub ignores_robots_on_delivered: bool,
    /// Pages that are asked for one by one in a visit, where there are no
    /// collections.
    pub most_pages: u64,
    /// Bounds of a crawl beside the number of pages.
    pub limits: CrawlLimits,
    /// Seconds after which a spool that nobody finished is taken away.
    pub spools_kept: i64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            policy: Policy::USUAL,
            quota: Quota::USUAL,
            mass_deletion: MassDeletion::Refused,
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

/// What happens in a visit, for whoever watches.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'e> {
    /// The site is being looked at.
    Looking,
    /// The host asks for more seconds between requests than we wait: pages
    /// are not fetched one by one, only collections are looked for (D52).
    Slow {
        /// How many it asks for.
        delay: Duration,
    },
    /// This is going to be done.
    Planned(&'e Plan),
    /// A file is being fetched.
    Fetching {
        /// Where.
        url: &'e str,
        /// Its size, as advertised.
        size: u64,
    },
    /// A collection is being verified and taken over.
    Applying {
        /// Of which section.
        section: &'e str,
    },
    /// Pages are fetched one by one.
    Pages {
        /// How many are done.
        done: u64,
        /// How many are known.
        known: u64,
    },
}

/// Watches visits; never fails.
pub trait Watcher: Send + Sync {
    /// Something happens at a site.
    fn event(&self, site: &str, event: Event<'_>);
}

/// Looks away.
impl Watcher for () {
    fn event(&self, _site: &str, _event: Event<'_>) {}
}
