//! A running sync of one site: what the stages have found out so far.
//!
//! [`SyncRun`] is created and completed by the [`Syncer`](crate::Syncer). Stages that read only
//! what is fixed take its [`SiteContext`].

mod counts;
pub(crate) mod damage;
mod enforce;
mod left_out_list;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rutter_fetch::{
    FailureCause, FetchError, MAX_CRAWL_DELAY, RobotsFile, RobotsRules, redact_url,
};
use rutter_page::Timestamp;
use rutter_store::{ChangeCursor, PublisherId, Store};

use crate::consent::RobotsSignals;
use crate::consent::page_policy::PagePolicy;
use crate::context::SiteContext;
use crate::discover::{Discovery, DiscoveryCache, DiscoveryLimits, ParsedFile, discover};
use crate::discovered_entries::DiscoveredEntries;
use crate::error::SyncError;
use crate::limits::WEB_SECTION;
use crate::options::SyncEvent;
use crate::plan::{LocalSection, ReplicaSections};
use crate::report::{ProblemKind, SyncReport};
use crate::state::delivered_pages::DeliveredPages;
use crate::state::site_state::{CollectionState, SiteState};
use crate::state::url_set::UrlSet;
use rutter_finding::error_chain;

/// Settings of a sync that changed since the previous sync of the site.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts")]
pub(crate) struct SettingChanges {
    /// The site was not synced before.
    pub(crate) is_first: bool,
    /// The hosts of the site changed.
    pub(crate) has_other_hosts: bool,
    /// The byte quota is larger than the quota because of which content was withheld.
    pub(crate) has_larger_quota: bool,
    /// The scope changed.
    pub(crate) has_other_scope: bool,
}

/// State of a running sync of one site.
pub(crate) struct SyncRun<'v> {
    pub(crate) context: SiteContext<'v>,
    pub(crate) state: SiteState,
    pub(crate) page_policy: Arc<PagePolicy>,
    /// Settings that changed since the previous sync.
    pub(crate) changes: SettingChanges,
    /// Whether pages were crawled, and whether the sync ended before all pages were
    /// handled.
    pub(crate) has_crawled: bool,
    pub(crate) is_cut_short: bool,
    /// URL of an ARC sitemap that has only entries of other sites.
    pub(crate) foreign_arc: Option<String>,
    /// End of the replica's history before this sync.
    pub(crate) since: ChangeCursor,
    /// Pages that collections delivered in this sync.
    pub(crate) delivered: DeliveredPages,
    /// Keys of the pages that sitemaps list, if the crawl also follows links.
    pub(crate) listed: Option<UrlSet>,
    /// Sections with a mass deletion that the previous sync held back, and the time since
    /// when.
    pub(crate) held: BTreeMap<String, Timestamp>,
    pub(crate) report: SyncReport,
}

impl SyncRun<'_> {
    /// Runs discovery, and applies the rules of robots.txt to the stored pages.
    pub(crate) async fn discover(
        &mut self,
        cache: &DiscoveryCache,
        limits: DiscoveryLimits,
        discovered: &mut DiscoveredEntries,
    ) -> Result<Discovery, SyncError> {
        let client = &self.context.client;
        let discovery = match self.check_crawl_delay(cache).await {
            Ok(robots) => {
                let cache = DiscoveryCache { robots, ..cache.clone() };
                discover(client, &self.context.site, &cache, limits, discovered).await
            }
            Err(error) => Err(error),
        };
        let discovery = match discovery {
            Ok(discovery) => discovery,
            Err(error) => {
                if let FailureCause::RetryLater { until, .. } = error.cause {
                    self.context.pause(until)?;
                }
                return Err(error.into());
            }
        };
        self.context.traffic.add_bytes(discovery.wire_bytes);
        for (url, finding) in &discovery.findings {
            self.report.finding(url, finding.clone());
        }
        let rules = client.robots_rules(&self.context.site).await?;
        if let RobotsRules::DisallowAll(reason) = &rules {
            let cause = rutter_fetch::RequestRefusal::Robots(reason.clone()).into();
            return Err(FetchError { url: redact_url(&self.context.site), cause }.into());
        }
        let file = client.robots_file(&self.context.site).await;
        let text = file.map(|file| file.body).unwrap_or_default();
        let (page_policy, token) =
            (Arc::make_mut(&mut self.page_policy), client.settings().robots_token());
        let signals = RobotsSignals::of_robots(&text, token);
        let is_said = signals != RobotsSignals::default();
        let robots = String::from_utf8_lossy(&text).into_owned();
        self.state.settings.robots_signals = is_said.then(|| (robots, token.to_owned()));
        page_policy.set_signals(signals);
        if !self.context.options.ignores_robots_on_delivered {
            page_policy.set_robots(&rules, token);
        }
        self.report.method = discovery.offer.choose_method(self.context.now).0;
        Ok(discovery)
    }

    /// Fetches robots.txt for discovery, and sends an event if the crawl delay exceeds the
    /// maximum.
    async fn check_crawl_delay(
        &self,
        cache: &DiscoveryCache,
    ) -> Result<Option<RobotsFile>, FetchError> {
        let client = &self.context.client;
        if let Some(file) = &cache.robots {
            client.restore_robots(&self.context.site, file.clone()).await;
        }
        let rules = client.robots_rules(&self.context.site).await?;
        let delay = rules.delay(client.settings().robots_token()).unwrap_or_default();
        if MAX_CRAWL_DELAY < delay {
            self.context.observer.event(&self.context.origin, SyncEvent::Slow { delay });
        }
        Ok(client.robots_file(&self.context.site).await)
    }

    /// Stores the state of the site.
    pub(crate) fn save_state(&self) -> Result<(), SyncError> {
        let aliases: Vec<&str> = self.context.options.aliases.iter().map(String::as_str).collect();
        self.context.store.register(&self.context.origin, &aliases)?;
        self.context.store.store_site_state(self.context.publisher, &self.state.write())?;
        Ok(())
    }

    pub(crate) fn has_section(&self, name: &str) -> Result<bool, SyncError> {
        let sections = self.context.sections()?;
        Ok(sections.iter().any(|section| section.name == name))
    }

    /// Reports pages whose content is withheld because of the byte quota.
    pub(crate) fn report_quota_exceeded(&mut self, n_pages: u64) {
        if 0 < n_pages {
            self.state.settings.exceeded_quota = Some(self.context.options.quota.bytes);
            self.report.add_quota_problem(n_pages);
        }
    }

    /// Adds a failed request to the report as a problem, and stores the pause that the host
    /// asked for.
    pub(crate) fn add_fetch_problem(&mut self, error: &FetchError) -> Result<(), SyncError> {
        let kind = match &error.cause {
            FailureCause::Refused(_) => ProblemKind::Policy,
            FailureCause::Response(_) => ProblemKind::Integrity,
            FailureCause::RetryLater { until, .. } => {
                self.context.pause(*until)?;
                ProblemKind::Network
            }
            _ => ProblemKind::Network,
        };
        self.report.add_problem(&error.url, kind, error_chain(&error.cause));
        Ok(())
    }
}

/// Returns the sections of a publisher as input of the planner, without the section of
/// crawled pages.
pub(crate) fn replica(
    store: &dyn Store,
    publisher: PublisherId,
    state: &CollectionState,
) -> Result<ReplicaSections, SyncError> {
    let sections = store.sections(publisher)?;
    let sections =
        sections.into_iter().filter(|section| section.name != WEB_SECTION).map(|section| {
            let mended = state.repairs.get(&section.name).copied();
            (section.name.clone(), LocalSection::of_section(&section, mended))
        });
    Ok(ReplicaSections { sections: sections.collect(), following: state.section_choice })
}

/// Returns the URLs of cached files that discovery skips because a later step of the sync
/// requests them: ARC and SPXI files.
pub(crate) fn files_fetched_by_sync(cache: &DiscoveryCache) -> BTreeSet<String> {
    let files = cache.files.iter();
    let taken = files
        .filter(|(_, file)| matches!(file.parsed, Some(ParsedFile::Arc(_) | ParsedFile::Spxi)));
    taken.map(|(url, _)| url.clone()).collect()
}

/// Limits of discovery in a sync. Every sitemap is read if there are no collections;
/// otherwise discovery stops reading sitemaps at the first adverts.
pub(crate) const DISCOVERY_LIMITS: DiscoveryLimits =
    DiscoveryLimits { reads_all: false, ..DiscoveryLimits::FULL };
