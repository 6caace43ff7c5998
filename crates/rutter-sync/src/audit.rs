//! Audits the replica of a site against the publisher's collections.
//!
//! The store and every stored line are checked. Then the newest collection of each section
//! is downloaded: if it names a state, that must equal the state of the replica (D95); if
//! it is a snapshot, every line must be equal. No page is changed. Damaged pages are
//! listed, so that the next sync fetches them again.

use std::collections::BTreeMap;
use std::sync::Arc;

use rutter_fetch::{Request, ResourceKind, ResponseBody, Url, redact_url};
use rutter_finding::{Report as Findings, Strictness as Judging};
use rutter_scp::advert::AdvertisedCollection;
use rutter_store::{
    CheckDepth, PageSource, QueryError, Section, StagingMode, StagingOptions, StorageError,
};

use crate::apply::{ApplyJob, open, stage_pages};
use crate::collect::{adverts, error_chain};
use crate::damage::list_damaged;
use crate::discovered_entries::DiscoveredEntries;
use crate::error::SyncError;
use crate::page_policy::origin_of;
use crate::scope::Scope;
use crate::site_state::SiteState;
use crate::spool_dir::SpoolDir;
use crate::syncer::{DISCOVERY_LIMITS, SyncRun, Syncer, WEB_SECTION};
use crate::traffic::{TrafficCounter, counted};

/// Result of an audit.
#[derive(Debug, Clone)]
pub struct AuditReport {
    /// The site: scheme, host and port.
    pub origin: String,
    /// Results by section.
    pub sections: BTreeMap<String, SectionProof>,
    /// Faults of the replica itself.
    pub faults: Vec<String>,
    /// Number of damaged pages that the next sync fetches again.
    pub marked: u64,
    /// Requests sent.
    pub requests: u64,
    /// Bytes downloaded.
    pub bytes: u64,
}

/// Whether a section is equal to the publisher's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionProof {
    /// Equal, by the state that the newest collection names.
    ByState,
    /// Equal, by every line of the newest snapshot.
    ByLines,
    /// Different, with a description.
    Differs(String),
    /// Not verifiable, with the reason.
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
    /// Audits the replica of a site.
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
        if let Some(rules) = run.state.scope.clone().filter(|_| self.options.scope.is_everything())
        {
            // Use the scope of the last sync.
            let scope = Scope::new(rules).unwrap_or_default();
            Arc::make_mut(&mut run.page_policy).set_scope(scope);
        }
        let marked = if faults.is_empty() { 0 } else { self.mark_damaged(&run)? };
        let cache = run.state.discovery_cache.clone();
        let mut discovered = DiscoveredEntries::new(&self.options.limits);
        let discovery = run.discover(&cache, DISCOVERY_LIMITS, &mut discovered).await?;
        // Pages that ARC withholds have no content, and count as in a sync.
        let mut faults = faults;
        Arc::make_mut(&mut run.page_policy).load_arc(self.store.as_ref(), run.publisher)?;
        for key in run.page_policy.closed() {
            // A damaged page is among the faults already.
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
        for section in self.store.sections(run.publisher)? {
            let proof = if section.name == WEB_SECTION {
                SectionProof::Unproven("crawled pages have no state".to_owned())
            } else {
                prove(&mut run, &section, &adverts).await?
            };
            sections.insert(section.name, proof);
        }
        let origin = run.origin.clone();
        Ok(AuditReport { origin, sections, faults, marked, requests: 0, bytes: 0 })
    }

    /// Stores the list of damaged pages for the next sync. Returns their number.
    fn mark_damaged(&self, run: &SyncRun<'_>) -> Result<u64, SyncError> {
        let damaged = list_damaged(self.store.as_ref(), run.publisher)?;
        if damaged.is_empty() {
            return Ok(0);
        }
        // Change the stored state, not the one of this audit.
        let known = self.store.publisher(&run.origin)?;
        let policy = known.as_ref().map_or("", |publisher| publisher.policy.as_str());
        let mut state = SiteState::read(&run.origin, policy)?;
        let n_damaged = damaged.len() as u64;
        state.damaged_pages.extend(damaged);
        self.store.register(&run.origin, &[], &state.write())?;
        Ok(n_damaged)
    }
}

async fn prove(
    run: &mut SyncRun<'_>,
    section: &Section,
    adverts: &BTreeMap<String, AdvertisedCollection>,
) -> Result<SectionProof, SyncError> {
    let ours = adverts.values().filter(|it| it.section == section.name);
    // The newest collection; of several, the smallest, which is a delta if there is one.
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
    let place = run.spool_dir.place(&advert.url, advert.generated);
    let request = Request {
        site: Some(run.site.clone()),
        spool: Some(place.clone()),
        ..Request::new(url, ResourceKind::Collection)
    };
    let response = match run.syncer.client.fetch(&request).await {
        Ok(response) => response,
        Err(error) => return Ok(SectionProof::Unproven(error_chain(&error.cause))),
    };
    run.traffic.add_bytes(response.wire_bytes);
    let ResponseBody::Spooled { length, .. } = response.body else {
        return Ok(SectionProof::Unproven(format!("status {}", response.status)));
    };
    let (store, page_policy) = (Arc::clone(&run.syncer.store), Arc::clone(&run.page_policy));
    let lease = run.lease_guard.lease().clone();
    let options = run.syncer.options.clone();
    let (advert, section, now, path) = (advert.clone(), section.clone(), run.now, place.clone());
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
