//! The steps of a sync of one site, in their order.

use tracing::info;

use crate::arc;
use crate::collections::{self, CollectionResult, CollectionsInput, SectionFailures, adverts};
use crate::consent::scope::ScopeRules;
use crate::crawl;
use crate::crawl::lists;
use crate::crawl::uncovered_pages;
use crate::crawl::uncovered_pages::has_uncovered_pages;
use crate::discover::{AccessMethod, Discovery, DiscoverySource, LookupOutcome};
use crate::discovered_entries::DiscoveredEntries;
use crate::error::SyncError;
use crate::limits::WEB_SECTION;
use crate::options::SyncEvent;
use crate::report::left_out::LeftOutReason;
use crate::report::{ProblemKind, SyncReport};
use crate::run::DISCOVERY_LIMITS;
use crate::run::{SyncRun, files_fetched_by_sync};

/// Seconds for which a sync waits for the sitemap with the collections if the sitemap
/// cannot be read. After this time, pages are crawled instead.
pub(super) const OFFER_AWAITED: i64 = 86_400;

impl SyncRun<'_> {
    /// Runs all steps of a sync except storing the state.
    pub(super) async fn execute(&mut self) -> Result<Discovery, SyncError> {
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
            let (collected, outcome) = collections::collect(input, &offer, &adverts).await;
            // Rejected files are remembered also if an error stops the sync.
            let failures = self.take_collections(collected);
            outcome?;
            failures
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
    pub(super) fn take_collections(&mut self, collected: CollectionResult) -> SectionFailures {
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
    pub(super) async fn discover_changes(
        &mut self,
    ) -> Result<(Discovery, DiscoveredEntries), SyncError> {
        self.context.observer.event(&self.context.origin, SyncEvent::Discovering);
        let mut discovered = DiscoveredEntries::new(&self.context.options.limits);
        let mut cache = self.state.discovery_cache.clone();
        cache.fetched_by_caller = files_fetched_by_sync(&cache);
        let discovery = self.discover(&cache, DISCOVERY_LIMITS, &mut discovered).await?;
        let offer = &discovery.offer;
        info!(
            sections = offer.scp.sections.len(),
            sitemaps = offer.sitemaps.len(),
            has_arc = offer.arc.is_some(),
            "discovery finished"
        );
        Ok((discovery, discovered))
    }

    /// Handles a site that offers no collections.
    ///
    /// Pages that collections delivered earlier are crawled from now on. If a sitemap could
    /// not be read, its collections may still exist, so the sync first waits for them
    /// ([`OFFER_AWAITED`]).
    pub(super) fn without_offer(
        &mut self,
        discovery: &Discovery,
    ) -> Result<SectionFailures, SyncError> {
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
    pub(super) fn report_method(&mut self, failures: &SectionFailures) {
        if self.is_by_collections(failures) {
            self.report.method = AccessMethod::Scp;
        }
    }

    /// Returns whether a collection brought a section up to date.
    pub(super) fn is_by_collections(&self, failures: &SectionFailures) -> bool {
        self.report.sections.keys().any(|name| !failures.failed.contains_key(name))
    }

    /// Crawls pages that no collection delivers, and pages of sections whose collections
    /// cannot be used.
    pub(super) async fn fall_back(
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
    pub(super) fn awaits_sitemap(&mut self, discovery: &Discovery) -> bool {
        let failures = lists::failures(self, discovery);
        for (url, kind, text) in &failures {
            self.report.add_problem_once(url, *kind, text);
        }
        failures.iter().any(|(_, kind, _)| kind.is_some())
    }

    /// Completes the report, stores the state of the site, and returns the report.
    pub(super) fn end(mut self, discovery: Discovery) -> Result<SyncReport, SyncError> {
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
    pub(super) fn unregister(&self) -> Result<bool, SyncError> {
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
pub(super) fn find_failed_sitemap(discovery: &Discovery) -> Option<(String, ProblemKind, String)> {
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
