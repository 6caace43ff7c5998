//! Syncs one site: reads its stored state, brings its replica up to date, and stores the
//! next state.
//!
//! Input: a site URL, the replica and [`SyncOptions`]. Output: a [`SyncReport`] or a
//! [`SyncError`]. `SyncRun::execute` shows the order of the steps. Changes of pages are
//! separate commits, so the replica is valid after an interrupted sync.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::discover::{
    AccessMethod, Discovery, DiscoveryLimits, DiscoverySource, LookupOutcome, discover,
};
use rutter_fetch::{Client, ClientSettings, Environment, Url, redact_url};
use rutter_page::Timestamp;
use rutter_store::{Publisher, Store};

use crate::arc;
use crate::collections::{self, CollectionResult, CollectionsInput, SectionFailures, adverts};
use crate::consent::page_policy::{PagePolicy, origin_of};
use crate::consent::scope::ScopeRules;
use crate::context::{DamagedRows, SiteContext};
use crate::crawl;
use crate::crawl::lists;
use crate::crawl::uncovered_pages;
use crate::crawl::uncovered_pages::has_uncovered_pages;
use crate::discovered_entries::DiscoveredEntries;
use crate::error::SyncError;
use crate::limits::WEB_SECTION;
use crate::options::{SyncEvent, SyncObserver, SyncOptions};
use crate::plan::{KnownFailures, PlanOffer, PlanPolicy, ReplicaSections, SyncPlan, plan};
use crate::report::left_out::LeftOutReason;
use crate::report::visit_record::record;
use crate::report::{ProblemKind, SyncReport};
use crate::run::{SettingChanges, SyncRun, files_fetched_by_sync, replica};
use crate::state::delivered_pages::DeliveredPages;
use crate::state::lease_guard::LeaseGuard;
use crate::state::site_state::SiteState;
use crate::state::spool_dir::SpoolDir;
use crate::traffic::{CountingLog, TrafficCounter, counted};

/// Seconds for which a sync waits for the sitemap with the collections if the sitemap
/// cannot be read. After this time, pages are crawled instead.
const OFFER_AWAITED: i64 = 86_400;
/// Seconds for which the change history is kept (D26).
const HISTORY_KEPT: i64 = 400 * 86_400;

/// Syncs sites into a replica, with one HTTP client.
pub struct Syncer {
    pub(crate) client: Client,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) spools: PathBuf,
    pub(crate) options: SyncOptions,
}

impl std::fmt::Debug for Syncer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Syncer").field("spools", &self.spools).finish_non_exhaustive()
    }
}

/// What a sync of a site would do.
#[derive(Debug, Clone)]
pub struct SyncPreview {
    /// The site: scheme, host and port.
    pub origin: String,
    /// The access method that would be used.
    pub method: AccessMethod,
    /// The reason why this access method would be used.
    pub why: String,
    /// The plan for the collections; `None` if the site offers none.
    pub plan: Option<SyncPlan>,
    /// Number of pages in the sitemaps, if they would be crawled; `None` if the number is
    /// not known.
    pub pages: Option<u64>,
    /// Number of requests that the preview sent.
    pub requests: u64,
    /// Number of bytes that the preview downloaded.
    pub bytes: u64,
}

impl Syncer {
    /// Creates a syncer that stores pages in `store`, and downloaded files in directory
    /// `spools`.
    pub fn new(
        settings: ClientSettings,
        environment: Environment,
        store: Arc<dyn Store>,
        spools: PathBuf,
        options: SyncOptions,
    ) -> Self {
        let environment =
            Environment { log: Arc::new(CountingLog(Arc::clone(&environment.log))), ..environment };
        Self { client: Client::new(settings, environment), store, spools, options }
    }

    /// Returns the options of this syncer.
    pub fn options(&self) -> &SyncOptions {
        &self.options
    }

    /// Returns a syncer with other options. Both syncers share the client, including its
    /// delays between requests to a host.
    #[must_use]
    pub fn with_options(&self, options: SyncOptions) -> Self {
        Self {
            client: self.client.clone(),
            store: Arc::clone(&self.store),
            spools: self.spools.clone(),
            options,
        }
    }

    /// Sets the minimum time between two requests to the host of a site.
    pub fn set_min_delay(&self, site: &Url, pace: Duration) {
        if let Some(host) = site.host_str() {
            self.client.set_min_delay(host, pace);
        }
    }

    /// Brings the replica of a site up to date by the cheapest access method.
    ///
    /// # Errors
    ///
    /// Returns an error if the site could not be synced at all. Failures of single files
    /// are problems in the report.
    pub async fn sync(
        &self,
        site: &Url,
        observer: &dyn SyncObserver,
    ) -> Result<SyncReport, SyncError> {
        let traffic = Arc::new(TrafficCounter::default());
        let result = Box::pin(counted(&traffic, self.sync_counted(site, observer, &traffic))).await;
        if let Some(origin) = origin_of(site) {
            let now = self.client.environment().clock.now();
            // An error of the sync takes precedence over an error of recording it.
            let recorded = record(self.store.as_ref(), &origin, now, &traffic, &result);
            if let (Ok(_), Err(error)) = (&result, recorded) {
                return Err(error);
            }
        }
        result
    }

    async fn sync_counted(
        &self,
        site: &Url,
        observer: &dyn SyncObserver,
        traffic: &Arc<TrafficCounter>,
    ) -> Result<SyncReport, SyncError> {
        let mut run = self.begin(site, observer, traffic)?;
        let spool_dir = run.context.spool_dir.clone();
        let collected = match run.execute().await {
            Ok(discovery) => run.end(discovery),
            Err(error) => {
                // The error of the sync takes precedence over an error of `unregister`.
                drop(run.unregister());
                Err(error)
            }
        };
        spool_dir.tidy();
        collected
    }

    /// Deletes old changes from the history and frees disk space. Call this function after
    /// syncs.
    pub fn maintain(&self) -> Result<(), SyncError> {
        let now = self.client.environment().clock.now();
        Ok(self.store.maintain(now.plus_seconds(-HISTORY_KEPT))?)
    }

    /// Returns what a sync would do, without changing the replica.
    pub async fn preview(&self, site: &Url) -> Result<SyncPreview, SyncError> {
        let traffic = Arc::new(TrafficCounter::default());
        Box::pin(counted(&traffic, self.preview_counted(site, &traffic))).await
    }

    async fn preview_counted(
        &self,
        site: &Url,
        traffic: &Arc<TrafficCounter>,
    ) -> Result<SyncPreview, SyncError> {
        let origin = origin_of(site).ok_or_else(|| SyncError::Site(redact_url(site)))?;
        let now = self.client.environment().clock.now();
        let publisher = self.store.publisher(&origin)?;
        let paused = publisher.as_ref().and_then(|known| known.paused_until);
        if let Some(until) = paused.filter(|until| now < *until) {
            return Err(SyncError::Paused { origin, until });
        }
        let state = match &publisher {
            Some(publisher) => {
                let state = self.store.site_state(publisher.id)?.unwrap_or_default();
                SiteState::read(&origin, &state)?
            }
            None => SiteState::default(),
        };
        let mut discovered = DiscoveredEntries::new(&self.options.limits);
        let discovery =
            discover(&self.client, site, &state.discovery_cache, DISCOVERY_LIMITS, &mut discovered)
                .await?;
        let (method, why) = discovery.offer.choose_method(now);
        let adverts = adverts(&discovery);
        let plan = match &publisher {
            _ if adverts.is_empty() => None,
            Some(publisher) => {
                Some(replica(self.store.as_ref(), publisher.id, &state.collections)?)
            }
            None => Some(ReplicaSections::default()),
        };
        let offer = collections::offer_of(&discovery, &adverts);
        let plan = plan.map(|replica| plan_of(now, &self.policy(site), &offer, &replica));
        let n_urls = discovery.offer.sitemaps.iter().map(|sitemap| sitemap.n_urls).sum();
        let pages = (plan.is_none() && 0 < n_urls).then_some(n_urls);
        traffic.add_bytes(discovery.wire_bytes);
        let (requests, bytes) = (traffic.requests(), traffic.bytes());
        Ok(SyncPreview { origin, method, why, plan, pages, requests, bytes })
    }

    /// Returns the plan policy, with the delay between requests to the host of the site.
    pub(crate) fn policy(&self, site: &Url) -> PlanPolicy {
        let wait = self.client.request_delay(site).as_secs();
        PlanPolicy { wait, ..self.options.policy.clone() }
    }

    pub(crate) fn begin<'v>(
        &'v self,
        site: &Url,
        observer: &'v dyn SyncObserver,
        traffic: &Arc<TrafficCounter>,
    ) -> Result<SyncRun<'v>, SyncError> {
        let origin = origin_of(site).ok_or_else(|| SyncError::Site(redact_url(site)))?;
        let clock = &self.client.environment().clock;
        let now = clock.now();
        let paused = |known: &Publisher| known.paused_until.filter(|until| now < *until);
        let known = self.store.publisher(&origin)?;
        if let Some(until) = known.as_ref().and_then(paused) {
            return Err(SyncError::Paused { origin, until });
        }
        let aliases: Vec<&str> = self.options.aliases.iter().map(String::as_str).collect();
        let publisher = match &known {
            Some(known) => known.id,
            None => self.store.register(&origin, &aliases)?,
        };
        let lease_guard = LeaseGuard::take(&self.store, publisher, clock)?;
        // The publisher is read again, because the previous holder of the lease may have
        // changed the state.
        let known = self.store.publisher(&origin)?;
        let state = self.store.site_state(publisher)?;
        let is_first = state.is_none();
        let mut state = SiteState::read(&origin, &state.unwrap_or_default())?;
        // A mass deletion that this sync does not encounter again is no longer held back.
        let held = std::mem::take(&mut state.held_deletions);
        // The stored aliases stay in use until the options name others.
        let named = Some(&self.options.aliases).filter(|aliases| !aliases.is_empty());
        let known_aliases = known.as_ref().map(|publisher| &publisher.aliases);
        let aliases = named.or(known_aliases).cloned().unwrap_or_default();
        let mut page_policy = PagePolicy::new(&origin, &aliases);
        page_policy.set_scope(self.options.scope.clone());
        let page_policy = Arc::new(page_policy);
        let has_other_hosts = state.update_hosts(page_policy.hosts());
        let has_larger_quota =
            state.settings.exceeded_quota.is_some_and(|quota| quota < self.options.quota.bytes);
        let has_other_scope = state.settings.scope.as_ref().unwrap_or(&ScopeRules::default())
            != self.options.scope.rules();
        let since = self.store.cursor()?;
        let delivered = DeliveredPages::since(&self.store.sections(publisher)?);
        let spool_dir = SpoolDir::open(&self.spools, &origin)?;
        spool_dir.sweep(now.plus_seconds(-self.options.spools_kept));
        let report = SyncReport::new(&origin, AccessMethod::Nothing);
        let context = SiteContext {
            client: &self.client,
            store: &self.store,
            options: &self.options,
            observer,
            site: site.clone(),
            origin,
            publisher,
            lease_guard,
            spool_dir,
            traffic: Arc::clone(traffic),
            now,
            damaged_rows: DamagedRows::default(),
        };
        Ok(SyncRun {
            context,
            state,
            page_policy,
            changes: SettingChanges {
                is_first,
                has_other_hosts,
                has_larger_quota,
                has_other_scope,
            },
            has_crawled: false,
            is_cut_short: false,
            foreign_arc: None,
            since,
            delivered,
            listed: None,
            held,
            report,
        })
    }
}

/// Limits of discovery in a sync. Every sitemap is read if there are no collections;
/// otherwise discovery stops reading sitemaps at the first adverts.
pub(crate) const DISCOVERY_LIMITS: DiscoveryLimits =
    DiscoveryLimits { reads_all: false, ..DiscoveryLimits::FULL };

fn plan_of(
    now: Timestamp,
    policy: &PlanPolicy,
    offer: &PlanOffer,
    replica: &ReplicaSections,
) -> SyncPlan {
    plan(now, policy, offer, replica, &KnownFailures::default())
}

impl SyncRun<'_> {
    /// Runs all steps of a sync except storing the state.
    async fn execute(&mut self) -> Result<Discovery, SyncError> {
        self.expire()?;
        self.repair_damaged()?;
        let (mut discovery, mut discovered) = self.discover_changes().await?;
        let has_arc_changed = arc::sync_arc_and_spxi(self, &mut discovery, &mut discovered).await?;
        self.enforce(has_arc_changed).await?;
        let adverts = adverts(&discovery);
        let failures = if adverts.is_empty() {
            self.without_offer(&discovery)?
        } else {
            self.state.collections.sitemap_lost_since = None;
            let offer = collections::offer_of(&discovery, &adverts);
            let input = CollectionsInput {
                context: &self.context,
                page_policy: &self.page_policy,
                state: self.state.collections.clone(),
            };
            let collected = collections::collect(input, &offer, &adverts).await?;
            self.take_collections(collected)
        };
        self.is_cut_short |= !failures.unrecoverable.is_empty();
        self.report_method(&failures);
        let arc = discovery.offer.arc.as_ref().map(|arc| arc.url.as_str());
        let n_lists = discovery.offer.sitemaps.len();
        uncovered_pages::find_uncovered(
            self,
            &discovered,
            n_lists,
            arc.filter(|_| has_arc_changed),
        )?;
        uncovered_pages::schedule_full_read(self, &discovery);
        self.fall_back(&mut discovery, discovered, &failures, !adverts.is_empty()).await?;
        Ok(discovery)
    }

    /// Takes over what the collections changed. Returns the sections that need a crawl.
    fn take_collections(&mut self, collected: CollectionResult) -> SectionFailures {
        let CollectionResult { failures, state, report, delivered, is_over_quota } = collected;
        self.state.collections = state;
        self.report.add_stage(report);
        self.delivered.add_all(delivered);
        if is_over_quota {
            self.state.settings.exceeded_quota = Some(self.context.options.quota.bytes);
        }
        failures
    }

    /// Runs discovery. ARC and SPXI files that discovery found before are skipped, because
    /// a later step requests them with their validators.
    async fn discover_changes(&mut self) -> Result<(Discovery, DiscoveredEntries), SyncError> {
        self.context.observer.event(&self.context.origin, SyncEvent::Discovering);
        let mut discovered = DiscoveredEntries::new(&self.context.options.limits);
        let mut cache = self.state.discovery_cache.clone();
        cache.fetched_by_caller = files_fetched_by_sync(&cache);
        let discovery = self.discover(&cache, DISCOVERY_LIMITS, &mut discovered).await?;
        Ok((discovery, discovered))
    }

    /// Handles a site that offers no collections.
    ///
    /// Pages that collections delivered earlier are crawled from now on. If a sitemap could
    /// not be read, its collections may still exist, so the sync first waits for them
    /// ([`OFFER_AWAITED`]).
    fn without_offer(&mut self, discovery: &Discovery) -> Result<SectionFailures, SyncError> {
        let mut failures = SectionFailures::default();
        for section in self.context.sections()? {
            if section.name != WEB_SECTION && 0 < section.pages {
                failures.failed.insert(section.name, crate::plan::PlanReason::NotOffered);
            }
        }
        let Some((url, kind, text)) = find_failed_sitemap(discovery) else {
            self.state.collections.sitemap_lost_since = None;
            return Ok(failures);
        };
        let since = *self.state.collections.sitemap_lost_since.get_or_insert(self.context.now);
        if !failures.failed.is_empty() && self.context.now.seconds_since(since) < OFFER_AWAITED {
            failures.unrecoverable.extend(failures.failed.keys().cloned());
            self.report.method = AccessMethod::Scp;
            self.report.add_problem(&url, kind, text);
        }
        Ok(failures)
    }

    /// Sets the access method in the report to SCP if a collection brought a section up to
    /// date.
    fn report_method(&mut self, failures: &SectionFailures) {
        if self.is_by_collections(failures) {
            self.report.method = AccessMethod::Scp;
        }
    }

    /// Returns whether a collection brought a section up to date.
    fn is_by_collections(&self, failures: &SectionFailures) -> bool {
        self.report.sections.keys().any(|name| !failures.failed.contains_key(name))
    }

    /// Crawls pages that no collection delivers, and pages of sections whose collections
    /// cannot be used.
    async fn fall_back(
        &mut self,
        discovery: &mut Discovery,
        discovered: DiscoveredEntries,
        failures: &SectionFailures,
        has_offer: bool,
    ) -> Result<(), SyncError> {
        let can_help = failures.failed.keys().any(|name| !failures.unrecoverable.contains(name));
        let is_fine = failures.failed.is_empty() && failures.unrecoverable.is_empty();
        if !is_fine && !can_help {
            return Ok(());
        }
        let is_served = has_offer && is_fine;
        if is_served && !has_uncovered_pages(self)? {
            return Ok(());
        }
        let mut rest = discovery.offer.clone();
        rest.scp = crate::discover::ScpOffer::default();
        let (method, why) = rest.choose_method(self.context.now);
        // If collections are in use, only pages of a sitemap or an ARC sitemap are added,
        // because links and llms.txt do not define which pages a site has.
        let method =
            if is_served && method != AccessMethod::Arc { AccessMethod::Sitemap } else { method };
        let is_listed =
            matches!(method, AccessMethod::Sitemap | AccessMethod::Arc | AccessMethod::Scp);
        if !is_listed && failures.failed.is_empty() && self.awaits_sitemap(discovery) {
            return Ok(());
        }
        let is_known = self.has_section(WEB_SECTION)? || !failures.failed.is_empty();
        if method == AccessMethod::Nothing && !is_known {
            let (kind, text) = match discovery.refusal() {
                Some(refusal) => {
                    (ProblemKind::Policy, format!("nothing may be fetched: {refusal}"))
                }
                None => (ProblemKind::Network, why),
            };
            let origin = self.context.origin.clone();
            self.report.add_problem(&origin, kind, text);
            return Ok(());
        }
        let final_method =
            if self.is_by_collections(failures) { AccessMethod::Scp } else { method };
        self.report.method = final_method;
        if !failures.failed.is_empty() {
            // Crawled pages will replace verified lines of these sections. The sections are
            // stored as stale before the crawl, in case this sync is interrupted.
            self.state.collections.stale_sections.extend(failures.failed.keys().cloned());
            self.save_state()?;
        }
        self.has_crawled = true;
        crawl::crawl(self, discovery, discovered, failures, method).await?;
        // The crawl may have run discovery again, which changes the method in the report.
        self.report.method = final_method;
        Ok(())
    }

    /// Reports sitemaps that could not be read, if they are announced or an earlier sync
    /// read them. Returns whether a later sync may be able to read one of them.
    ///
    /// If so, the caller must not crawl by links: the crawl would add pages that the next
    /// sync with a valid sitemap removes.
    fn awaits_sitemap(&mut self, discovery: &Discovery) -> bool {
        let failures = lists::failures(self, discovery);
        for (url, kind, text) in &failures {
            self.report.add_problem_once(url, *kind, text);
        }
        failures.iter().any(|(_, kind, _)| kind.is_some())
    }

    /// Completes the report, stores the state of the site, and returns the report.
    fn end(mut self, discovery: Discovery) -> Result<SyncReport, SyncError> {
        let lists = &discovery.offer.sitemaps;
        let arc = discovery.offer.arc.as_ref().map(|arc| arc.url.as_str());
        let is_offered =
            |name: &str| Some(name) == arc || lists.iter().any(|sitemap| sitemap.url == name);
        self.state.crawl.uncovered_lists.retain(|name| name.is_empty() || is_offered(name));
        self.state.discovery_cache = discovery.cache;
        // A crawl has already stored the left-out URLs, including those of ARC entries.
        if !self.has_crawled && self.report.arc.is_some() {
            self.store_left_out(false)?;
        }
        // Without a crawl, the counts of the previous sync are still valid.
        if !self.has_crawled {
            for (reason, n) in &self.state.crawl.left_out_counts {
                let reason = LeftOutReason::parse(reason).unwrap_or(LeftOutReason::OTHER);
                self.report.count_left_out(reason, *n);
            }
        } else if !self.is_cut_short {
            let left_out = self.report.left_out.iter();
            let left_out = left_out.filter(|(why, _)| **why != LeftOutReason::ARC_OTHER_SITE);
            self.state.crawl.left_out_counts = left_out.map(|(why, n)| (why.key(), *n)).collect();
        }
        if self.changes.has_larger_quota && !self.is_cut_short {
            let now = self.context.options.quota.bytes;
            self.state.settings.exceeded_quota =
                self.state.settings.exceeded_quota.filter(|quota| *quota == now);
        }
        let scope = self.context.options.scope.rules();
        self.state.settings.scope = (*scope != ScopeRules::default()).then(|| scope.clone());
        self.forget_gone()?;
        self.count()?;
        self.report_damaged_rows();
        if !self.unregister()? {
            self.save_state()?;
        }
        self.report.requests = self.context.traffic.requests();
        self.report.bytes = self.context.traffic.bytes();
        Ok(self.report)
    }

    /// Removes a new site from the replica if this sync stored nothing for it. Returns
    /// whether the site was removed.
    fn unregister(&self) -> Result<bool, SyncError> {
        let store = &self.context.store;
        let Some(publisher) =
            store.publisher(&self.context.origin)?.filter(|_| self.changes.is_first)
        else {
            return Ok(false);
        };
        let is_paused = publisher.paused_until.is_some_and(|until| self.context.now < until);
        let is_empty = publisher.pages == 0
            && !is_paused
            && !self.has_crawled
            && self.context.options.aliases.is_empty()
            && self.state.collections.rejected_files.is_empty()
            && store.sections(self.context.publisher)?.is_empty()
            && store.arc_entries(self.context.publisher, None, 1)?.is_empty()
            && store.entities(self.context.publisher)?.is_empty();
        if is_empty {
            store.forget(self.context.lease_guard.lease().clone(), self.context.now)?;
        }
        Ok(is_empty)
    }
}

/// Returns a sitemap that may announce collections and could not be read, with the kind and
/// text of the problem.
fn find_failed_sitemap(discovery: &Discovery) -> Option<(String, ProblemKind, String)> {
    discovery.lookups.iter().find_map(|look| {
        let is_usual =
            look.source == DiscoverySource::DefaultPath && look.url.ends_with("/sitemap.xml");
        if !is_usual
            && !matches!(look.source, DiscoverySource::SitemapLine | DiscoverySource::SitemapIndex)
        {
            return None;
        }
        let (kind, text) = match &look.outcome {
            LookupOutcome::Failed(text) => (ProblemKind::Network, text.clone()),
            LookupOutcome::Refused(text) => (ProblemKind::Policy, text.clone()),
            LookupOutcome::Absent(status) => (ProblemKind::Network, format!("status {status}")),
            LookupOutcome::Other(text) => (ProblemKind::Integrity, text.clone()),
            _ => return None,
        };
        Some((look.url.clone(), kind, format!("{text}; waiting for the sitemap's collections")))
    })
}
