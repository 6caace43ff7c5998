//! Audits the replica of a site against the publisher's collections.
//!
//! An audit first checks the store and every stored line. Then it downloads the newest
//! collection of each section. If the collection states a state, the section in the replica
//! must have the same state (D95); if it is a snapshot without a state, every line must be
//! equal. The audit changes no page. It stores a list of damaged pages, so that the next
//! sync fetches them again.

use std::collections::BTreeMap;
use std::sync::Arc;

use rutter_fetch::{Request, ResourceKind, ResponseBody, Url, redact_url};
use rutter_finding::{Report as Findings, Strictness as Judging};
use rutter_scp::advert::AdvertisedCollection;
use rutter_store::{
    CheckDepth, PageSource, QueryError, Section, StagingMode, StagingOptions, StorageError,
};

use crate::collections::adverts;
use crate::collections::apply::{ApplyJob, open, stage_pages};
use crate::consent::page_policy::origin_of;
use crate::consent::scope::Scope;
use crate::discovered_entries::DiscoveredEntries;
use crate::error::SyncError;
use crate::limits::WEB_SECTION;
use crate::run::DISCOVERY_LIMITS;
use crate::run::SyncRun;
use crate::run::damage::list_damaged;
use crate::state::site_state::SiteState;
use crate::state::spool_dir::SpoolDir;
use crate::syncer::Syncer;
use crate::traffic::{TrafficCounter, counted};
use rutter_finding::error_chain;

/// Result of an audit.
#[derive(Debug, Clone)]
pub struct AuditReport {
    /// The site: scheme, host and port.
    pub origin: String,
    /// Result for each section, by section name.
    pub sections: BTreeMap<String, SectionProof>,
    /// Faults of the replica that the check of the store found.
    pub faults: Vec<String>,
    /// Number of damaged pages that the next sync fetches again.
    pub marked: u64,
    /// Number of requests that the audit sent.
    pub requests: u64,
    /// Number of bytes that the audit downloaded.
    pub bytes: u64,
}

/// Whether a section in the replica is equal to the section at the publisher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionProof {
    /// The section is equal: it has the state that the newest collection states.
    ByState,
    /// The section is equal: it has exactly the lines of the newest snapshot.
    ByLines,
    /// The section is different; the text describes the difference.
    Differs(String),
    /// The section cannot be verified, for the reason in the text.
    Unproven(String),
}

impl AuditReport {
    /// Returns whether the audit found a fault or a difference.
    pub fn is_bad(&self) -> bool {
        let differs = |proof: &SectionProof| matches!(proof, SectionProof::Differs(_));
        !self.faults.is_empty() || self.sections.values().any(differs)
    }
}

impl Syncer {
    /// Audits the replica of a site against the collections of its publisher.
    ///
    /// # Errors
    ///
    /// Fails if the replica has no pages of the site, or if the site cannot be reached.
    pub async fn audit(&self, site: &Url) -> Result<AuditReport, SyncError> {
        let traffic = Arc::new(TrafficCounter::default());
        let mut audit = Box::pin(counted(&traffic, self.audit_counted(site, &traffic))).await?;
        audit.requests = traffic.requests();
        audit.bytes = traffic.bytes();
        Ok(audit)
    }

    async fn audit_counted(
        &self,
        site: &Url,
        traffic: &Arc<TrafficCounter>,
    ) -> Result<AuditReport, SyncError> {
        let origin = origin_of(site).ok_or_else(|| SyncError::Site(redact_url(site)))?;
        if self.store.publisher(&origin)?.is_none() {
            return Err(SyncError::Unknown(origin));
        }
        let store = Arc::clone(&self.store);
        let faults = tokio::task::spawn_blocking(move || store.check(CheckDepth::Content));
        let faults = faults.await.map_err(|_| SyncError::Worker)??;
        let mut run = self.begin(site, &(), traffic)?;
        if let Some(rules) =
            run.state.settings.scope.clone().filter(|_| self.options.scope.is_everything())
        {
            // Without a scope in the options, the audit uses the scope of the last sync.
            let scope = Scope::new(rules).unwrap_or_default();
            Arc::make_mut(&mut run.page_policy).set_scope(scope);
        }
        let marked = if faults.is_empty() { 0 } else { self.mark_damaged(&run)? };
        let cache = run.state.discovery_cache.clone();
        let mut discovered = DiscoveredEntries::new(&self.options.limits);
        let discovery = run.discover(&cache, DISCOVERY_LIMITS, &mut discovered).await?;
        // The audit withholds the same pages as a sync: those for which ARC does not give
        // consent.
        let mut faults = faults;
        Arc::make_mut(&mut run.page_policy).load_arc(self.store.as_ref(), run.context.publisher)?;
        for key in run.page_policy.closed() {
            // The check of the store has already reported a damaged page as a fault.
            let line = match self.store.line(key) {
                Err(QueryError::Storage(StorageError::Damaged(_))) => None,
                line => line?,
            };
            if line.is_some() {
                faults.push(format!("{key}: ARC withholds this page, but its content is stored"));
            }
        }
        let adverts = adverts(&discovery);
        let mut sections = BTreeMap::new();
        for section in self.store.sections(run.context.publisher)? {
            let proof = if section.name == WEB_SECTION {
                SectionProof::Unproven("crawled pages have no state".to_owned())
            } else {
                prove(&mut run, &section, &adverts).await?
            };
            sections.insert(section.name, proof);
        }
        let origin = run.context.origin.clone();
        Ok(AuditReport { origin, sections, faults, marked, requests: 0, bytes: 0 })
    }

    /// Stores the list of damaged pages for the next sync. Returns the number of damaged
    /// pages.
    fn mark_damaged(&self, run: &SyncRun<'_>) -> Result<u64, SyncError> {
        let damaged = list_damaged(self.store.as_ref(), run.context.publisher)?;
        if damaged.is_empty() {
            return Ok(0);
        }
        // The list is added to the stored state of the site, because the state of this
        // audit is not stored.
        let state = self.store.site_state(run.context.publisher)?.unwrap_or_default();
        let mut state = SiteState::read(&run.context.origin, &state)?;
        let n_damaged = damaged.len() as u64;
        state.damaged_pages.extend(damaged);
        self.store.store_site_state(run.context.publisher, &state.write())?;
        Ok(n_damaged)
    }
}

async fn prove(
    run: &mut SyncRun<'_>,
    section: &Section,
    adverts: &BTreeMap<String, AdvertisedCollection>,
) -> Result<SectionProof, SyncError> {
    let ours = adverts.values().filter(|it| it.section == section.name);
    // Several collections may be equally new: the smallest is chosen, which is usually a
    // delta.
    let newest = ours.max_by_key(|it| (it.generated, std::cmp::Reverse(it.size)));
    let Some(advert) = newest else {
        return Ok(SectionProof::Unproven("no collection is offered".to_owned()));
    };
    if section.mark < advert.generated {
        return Ok(SectionProof::Unproven("a newer collection is offered: sync first".to_owned()));
    }
    let Ok(url) = Url::parse(&advert.url) else {
        return Ok(SectionProof::Unproven("the collection has an invalid URL".to_owned()));
    };
    let place = run.context.spool_dir.place(&advert.url, advert.generated);
    let request = Request {
        site: Some(run.context.site.clone()),
        spool: Some(place.clone()),
        ..Request::new(url, ResourceKind::Collection)
    };
    let response = match run.context.client.fetch(&request).await {
        Ok(response) => response,
        Err(error) => return Ok(SectionProof::Unproven(error_chain(&error.cause))),
    };
    run.context.traffic.add_bytes(response.wire_bytes);
    let ResponseBody::Spooled { length, .. } = response.body else {
        return Ok(SectionProof::Unproven(format!("status {}", response.status)));
    };
    let (store, page_policy) = (Arc::clone(run.context.store), Arc::clone(&run.page_policy));
    let lease = run.context.lease_guard.lease().clone();
    let options = run.context.options.clone();
    let (advert, section, now, path) =
        (advert.clone(), section.clone(), run.context.now, place.clone());
    let proof = tokio::task::spawn_blocking(move || {
        let job = ApplyJob {
            store: store.as_ref(),
            lease: &lease,
            page_policy: &page_policy,
            advert: &advert,
            path: &path,
            length,
            validators: &response.validators,
            quota: options.quota,
            mass_deletion: options.mass_deletion,
            unfollow: &[],
            is_plain: false,
            now,
        };
        compare(&job, &section)
    });
    let proof = proof.await.map_err(|_| SyncError::Worker)?;
    SpoolDir::discard(&place);
    Ok(proof)
}

fn compare(job: &ApplyJob<'_>, section: &Section) -> SectionProof {
    let differs = |error: &dyn std::error::Error| SectionProof::Differs(error_chain(error));
    let mut findings = Findings::new(Judging::Lenient);
    let mut reader = match open(job, &mut findings) {
        Ok(reader) => reader,
        Err(error) => return differs(&error),
    };
    let header = reader.header().clone();
    if let Some(chain) = &header.chain {
        if let Err(error) = reader.finish(&mut findings) {
            return differs(&error);
        }
        if (chain.state, chain.pages) == (section.state, section.pages) {
            return SectionProof::ByState;
        }
        let (ours, theirs) = (section.state, chain.state);
        return SectionProof::Differs(format!(
            "state {ours} in the replica, {theirs} at the publisher"
        ));
    }
    if header.kind.since().is_some() {
        return SectionProof::Unproven("the deltas of this publisher name no state".to_owned());
    }
    let begin = StagingOptions {
        section: &section.name,
        mode: StagingMode::Snapshot,
        generated: header.generated,
        source: PageSource::Scp,
        quota: job.quota,
        now: job.now,
    };
    let mut staging = match job.store.stage(job.lease, begin) {
        Ok(staging) => staging,
        Err(error) => return differs(&error),
    };
    if let Err(error) = stage_pages(job, &mut reader, staging.as_mut(), &mut findings) {
        return differs(&error);
    }
    if let Err(error) = reader.finish(&mut findings) {
        return differs(&error);
    }
    match staging.preview(None) {
        Err(error) => differs(&error),
        Ok(outlook) if outlook.added + outlook.changed + outlook.removed == 0 => {
            SectionProof::ByLines
        }
        Ok(outlook) => SectionProof::Differs(format!(
            "{} pages missing in the replica, {} different, {} extra",
            outlook.added, outlook.changed, outlook.removed
        )),
    }
}
