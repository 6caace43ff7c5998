//! Shows what a sync would do, without changing the replica.

use std::sync::Arc;

use rutter_fetch::{Url, redact_url};
use rutter_page::Timestamp;

use super::Syncer;
use crate::collections::{self, adverts};
use crate::consent::page_policy::origin_of;
use crate::discover::{AccessMethod, discover};
use crate::discovered_entries::DiscoveredEntries;
use crate::error::SyncError;
use crate::plan::{KnownFailures, PlanOffer, PlanPolicy, ReplicaSections, SyncPlan, plan};
use crate::run::DISCOVERY_LIMITS;
use crate::run::replica;
use crate::state::site_state::SiteState;
use crate::traffic::{TrafficCounter, counted};

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

pub(crate) fn plan_of(
    now: Timestamp,
    policy: &PlanPolicy,
    offer: &PlanOffer,
    replica: &ReplicaSections,
) -> SyncPlan {
    plan(now, policy, offer, replica, &KnownFailures::default())
}

impl Syncer {
    /// Returns what a sync would do, without changing the replica.
    pub async fn preview(&self, site: &Url) -> Result<SyncPreview, SyncError> {
        let traffic = Arc::new(TrafficCounter::default());
        Box::pin(counted(&traffic, self.preview_counted(site, &traffic))).await
    }

    pub(crate) async fn preview_counted(
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
}
