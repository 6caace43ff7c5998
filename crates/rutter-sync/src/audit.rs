//! Proves the replica of a site against what the publisher says it is.
//!
//! The books and every body are checked; then the newest collection of each
//! section is read again. Where it names a state, that must be ours (D95);
//! where it is a snapshot, every line must be ours. No page is changed; damaged
//! ones are listed for the next sync, which fetches them again.

use std::collections::BTreeMap;
use std::sync::Arc;

use rutter_fetch::{Body, Request, Url, What, shown};
use rutter_finding::{Mode as Judging, Report as Findings};
use rutter_scp::advert::Collection;
use rutter_store::{Begin, Depth, Mode, QueryError, Section, Source, Storage};

use crate::apply::{Applying, fill, open};
use crate::collect::{adverts, told};
use crate::damage::list_damaged;
use crate::error::VisitError;
use crate::gate::origin_of;
use crate::layers::Gathered;
use crate::memo::Memo;
use crate::scope::Scope;
use crate::shelf::Shelf;
use crate::tally::{Tally, counted};
use crate::visit::{BOUNDS, Visit, Visitor, WEB};

/// What an audit came to.
#[derive(Debug, Clone)]
pub struct Audit {
    /// Scheme, host and port.
    pub origin: String,
    /// By section.
    pub sections: BTreeMap<String, Proof>,
    /// What is wrong with the replica itself.
    pub faults: Vec<String>,
    /// Damaged pages that the next sync fetches again.
    pub marked: u64,
    /// Requests it cost.
    pub requests: u64,
    /// Bytes it cost.
    pub bytes: u64,
}

/// Whether a section is what the publisher says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// It is, by the state that the newest collection names.
    ByState,
    /// It is, by every line of the newest snapshot.
    ByLines,
    /// It is not.
    Differs(String),
    /// Nothing tells.
    Open(String),
}

impl Audit {
    /// Whether something is wrong.
    pub fn is_bad(&self) -> bool {
        let differs = |proof: &Proof| matches!(proof, Proof::Differs(_));
        !self.faults.is_empty() || self.sections.values().any(differs)
    }
}

impl Visitor {
    /// Audits the replica of a site.
    pub async fn audit(&self, site: &Url) -> Result<Audit, VisitError> {
        let tally = Arc::new(Tally::default());
        let mut audit = Box::pin(counted(&tally, self.audit_counted(site, &tally))).await?;
        audit.requests = tally.requests();
        audit.bytes = tally.bytes();
        Ok(audit)
    }

    async fn audit_counted(&self, site: &Url, tally: &Arc<Tally>) -> Result<Audit, VisitError> {
        let origin = origin_of(site).ok_or_else(|| VisitError::Site(shown(site)))?;
        if self.store.publisher(&origin)?.is_none() {
            return Err(VisitError::Unknown(origin));
        }
        let store = Arc::clone(&self.store);
        let faults = tokio::task::spawn_blocking(move || store.check(Depth::Bodies));
        let faults = faults.await.map_err(|_| VisitError::Worker)??;
        let mut visit = self.begin(site, &(), tally)?;
        if let Some(rules) = visit.memo.scope.clone().filter(|_| self.options.scope.is_everything())
        {
            // The pages are judged as the last sync did.
            let scope = Scope::new(rules).unwrap_or_default();
            Arc::make_mut(&mut visit.gate).limit(scope);
        }
        let marked = if faults.is_empty() { 0 } else { self.mark_damaged(&visit)? };
        let memory = visit.memo.memory.clone();
        let mut gathered = Gathered::new(&self.options.limits);
        let found = visit.discover(&memory, BOUNDS, &mut gathered).await?;
        // What ARC closes has no words here, and counts as it does in a visit.
        let mut faults = faults;
        Arc::make_mut(&mut visit.gate).ask_arc(self.store.as_ref(), visit.publisher)?;
        for key in visit.gate.closed() {
            // A damaged page is among the faults already.
            let line = match self.store.line(key) {
                Err(QueryError::Storage(Storage::Damaged(_))) => None,
                line => line?,
            };
            if line.is_some() {
                faults.push(format!("{key}: ARC closes it, and its words are here"));
            }
        }
        let adverts = adverts(&found);
        let mut sections = BTreeMap::new();
        for section in self.store.sections(visit.publisher)? {
            let proof = if section.name == WEB {
                Proof::Open("pages that were read one by one have no state".to_owned())
            } else {
                prove(&mut visit, &section, &adverts).await?
            };
            sections.insert(section.name, proof);
        }
        let origin = visit.origin.clone();
        Ok(Audit { origin, sections, faults, marked, requests: 0, bytes: 0 })
    }

    /// Lists damaged pages with the site, for the next sync; gives their number.
    fn mark_damaged(&self, visit: &Visit<'_>) -> Result<u64, VisitError> {
        let damaged = list_damaged(self.store.as_ref(), visit.publisher)?;
        if damaged.is_empty() {
            return Ok(0);
        }
        // What is stored, and not what this audit makes of it.
        let known = self.store.publisher(&visit.origin)?;
        let policy = known.as_ref().map_or("", |publisher| publisher.policy.as_str());
        let mut memo = Memo::read(&visit.origin, policy)?;
        let n_damaged = damaged.len() as u64;
        memo.damaged.extend(damaged);
        self.store.register(&visit.origin, &[], &memo.write())?;
        Ok(n_damaged)
    }
}

async fn prove(
    visit: &mut Visit<'_>,
    section: &Section,
    adverts: &BTreeMap<String, Collection>,
) -> Result<Proof, VisitError> {
    let ours = adverts.values().filter(|it| it.section == section.name);
    // The newest; of two at once the smallest, which is a delta where there is one.
    let newest = ours.max_by_key(|it| (it.generated, std::cmp::Reverse(it.size)));
    let Some(advert) = newest else { return Ok(Proof::Open("nothing is offered".to_owned())) };
    if section.mark < advert.generated {
        return Ok(Proof::Open("there is something newer; sync first".to_owned()));
    }
    let Ok(url) = Url::parse(&advert.url) else {
        return Ok(Proof::Open("its address is none".to_owned()));
    };
    let place = visit.shelf.place(&advert.url, advert.generated);
    let request = Request {
        site: Some(visit.site.clone()),
        spool: Some(place.clone()),
        ..Request::new(url, What::Collection)
    };
    let answer = match visit.visitor.client.fetch(&request).await {
        Ok(answer) => answer,
        Err(error) => return Ok(Proof::Open(told(&error.cause))),
    };
    visit.tally.add_bytes(answer.wire_bytes);
    let Body::Spooled { length, .. } = answer.body else {
        return Ok(Proof::Open(format!("status {}", answer.status)));
    };
    let (store, gate) = (Arc::clone(&visit.visitor.store), Arc::clone(&visit.gate));
    let lease = visit.hold.lease().clone();
    let options = visit.visitor.options.clone();
    let (advert, section, now, path) = (advert.clone(), section.clone(), visit.now, place.clone());
    let proof = tokio::task::spawn_blocking(move || {
        let job = Applying {
            store: store.as_ref(),
            lease: &lease,
            gate: &gate,
            advert: &advert,
            path: &path,
            length,
            validators: &answer.validators,
            quota: options.quota,
            mass_deletion: options.mass_deletion,
            unfollow: &[],
            is_plain: false,
            now,
        };
        compare(&job, &section)
    });
    let proof = proof.await.map_err(|_| VisitError::Worker)?;
    Shelf::discard(&place);
    Ok(proof)
}

fn compare(job: &Applying<'_>, section: &Section) -> Proof {
    let differs = |error: &dyn std::error::Error| Proof::Differs(told(error));
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
            return Proof::ByState;
        }
        let (ours, theirs) = (section.state, chain.state);
        return Proof::Differs(format!("state {ours} here, {theirs} there"));
    }
    if header.kind.since().is_some() {
        return Proof::Open("deltas of this publisher name no state".to_owned());
    }
    let begin = Begin {
        section: &section.name,
        mode: Mode::Snapshot,
        generated: header.generated,
        source: Source::Scp,
        quota: job.quota,
        now: job.now,
    };
    let mut staging = match job.store.stage(job.lease, begin) {
        Ok(staging) => staging,
        Err(error) => return differs(&error),
    };
    if let Err(error) = fill(job, &mut reader, staging.as_mut(), &mut findings) {
        return differs(&error);
    }
    if let Err(error) = reader.finish(&mut findings) {
        return differs(&error);
    }
    match staging.outlook(None) {
        Err(error) => differs(&error),
        Ok(outlook) if outlook.added + outlook.changed + outlook.removed == 0 => Proof::ByLines,
        Ok(outlook) => Proof::Differs(format!(
            "{} pages more there, {} different, {} more here",
            outlook.added, outlook.changed, outlook.removed
        )),
    }
}
