//! Verifies a downloaded collection and commits it, completely or not at all.
//!
//! Input: a spool file and its advert. Output: an [`ApplyResult`]. [`apply`] compares line
//! 1 with the advert, stages pages while it reads them, and commits only with the receipt
//! of the reader. The function blocks: call it on a separate thread. Rejects collections
//! that contradict their advert, are dated in the future, are a replay, do not continue
//! from the state of the section, or delete too many pages at once.

use std::fs::File;
use std::path::Path;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Report, Strictness as Judging, quoted};
use rutter_page::{PageUrl, Timestamp};
use rutter_scp::advert::{self, AdvertisedCollection};
use rutter_scp::merge::{self, CollectionAge, DeltaFit};
use rutter_scp::{
    CollectionReader, Limits, MassDeletionPolicy, ReadError, ReadOptions, ReadReceipt,
    ReaderThreads, rules,
};
use rutter_store::{
    ClaimedState, CommitError, CommitOptions, CommitSummary, Lease, PageSource, Quota,
    RemovalCause, Section, StageError, StagedPage, Staging, StagingMode, StagingOptions, Store,
    Validator, continues_section,
};

use crate::consent::page_policy::PagePolicy;
use crate::state::url_set::UrlSet;

/// A collection to apply, and the conditions under which it is applied.
pub(crate) struct ApplyJob<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) lease: &'a Lease,
    pub(crate) page_policy: &'a PagePolicy,
    /// The advert of the collection in the sitemap.
    pub(crate) advert: &'a AdvertisedCollection,
    pub(crate) path: &'a Path,
    pub(crate) length: u64,
    pub(crate) validators: &'a rutter_fetch::Validators,
    pub(crate) quota: Quota,
    pub(crate) mass_deletion: MassDeletionPolicy,
    /// Sections that the replica no longer follows after this commit.
    pub(crate) unfollow: &'a [String],
    /// Whether the chain of deltas is known to be broken. Deltas of a broken chain are
    /// applied like deltas without a stated state.
    pub(crate) is_plain: bool,
    pub(crate) now: Timestamp,
}

/// Result of applying one collection to the replica.
#[derive(Debug)]
pub(crate) struct ApplyResult {
    /// Summary of the commit; `None` if the replica already had all changes of the
    /// collection.
    pub(crate) outlook: Option<CommitSummary>,
    pub(crate) findings: Report,
    /// Keys of the pages that the collection contains, and of the pages that it removes.
    pub(crate) delivered: UrlSet,
    pub(crate) removed: UrlSet,
    pub(crate) is_snapshot: bool,
    /// Number of removals that were ignored because no state proves them.
    pub(crate) n_ignored: u64,
}

impl ApplyResult {
    /// Returns the result for a collection without new changes.
    fn nothing(findings: Report) -> Self {
        Self {
            outlook: None,
            findings,
            delivered: UrlSet::default(),
            removed: UrlSet::default(),
            is_snapshot: false,
            n_ignored: 0,
        }
    }
}

/// How pages that a delta names as removed are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RemovalMode {
    /// The pages are removed. A delta that does not start from the state of the section is
    /// applied only if the section then has the state that the delta names.
    Apply,
    /// The pages are kept, because no state proves that they were removed.
    Ignore,
}

/// Reason why a collection was not applied.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApplyError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("the collection was generated at {0}, which is in the future")]
    Future(Timestamp),
    #[error("the collection was generated at {0}, so long ago that it may be a replay")]
    Past(Timestamp),
    #[error("the replica lacks changes before {0}, the start of the delta: a snapshot is needed")]
    Gap(Timestamp),
    #[error("the delta does not start from the stored state of the section: a snapshot is needed")]
    Broken,
    #[error(transparent)]
    Stage(#[from] StageError),
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error(transparent)]
    Query(#[from] rutter_store::QueryError),
}

/// Verifies a spool file and commits it.
///
/// If `from` of a delta is not the state of the section in the replica, the delta is
/// applied like one without a state, which removes no pages. Exception: if the section
/// reaches `state` of the delta with the removals, the pages are removed (D95).
pub(crate) fn apply(job: &ApplyJob<'_>) -> Result<ApplyResult, ApplyError> {
    match apply_with(job, RemovalMode::Apply)? {
        Some(applied) => Ok(applied),
        None => apply_with(job, RemovalMode::Ignore)?.ok_or(ApplyError::Broken),
    }
}

/// Applies the collection and handles removals as `removals` says. Returns `None` if no
/// state proves the removals, so that they have to be ignored.
// More than 80 lines: one transaction, whose steps depend on each other in this order.
fn apply_with(
    job: &ApplyJob<'_>,
    removals: RemovalMode,
) -> Result<Option<ApplyResult>, ApplyError> {
    let mut findings = Report::new(Judging::Lenient);
    let mut reader = open(job, &mut findings)?;
    let header = reader.header().clone();
    advert::compare(job.advert, &header, None, &mut findings)?;
    match merge::classify_age(header.generated, job.now) {
        CollectionAge::Fine => {}
        CollectionAge::Future => return Err(ApplyError::Future(header.generated)),
        CollectionAge::Past => return Err(ApplyError::Past(header.generated)),
    }
    let before = find_section(job, &header.section)?;
    let chain = header.chain.as_ref();
    let is_linked =
        before.as_ref().zip(chain).is_some_and(|(before, chain)| continues_section(before, chain));
    if let Some(since) = header.kind.since() {
        let Some(before) = &before else { return Err(ApplyError::Gap(since)) };
        match merge::fit_delta(before.mark, since, header.generated) {
            DeltaFit::Covered => {
                return Ok(Some(ApplyResult::nothing(findings)));
            }
            DeltaFit::Gap => return Err(ApplyError::Gap(since)),
            DeltaFit::Applies => {}
        }
        if chain.is_some() && before.is_proved && !is_linked && !job.is_plain {
            return Err(ApplyError::Broken);
        }
    }
    let mut staging = job.store.stage(
        job.lease,
        StagingOptions {
            section: &header.section,
            mode: if header.kind.since().is_some() {
                StagingMode::Delta
            } else {
                StagingMode::Snapshot
            },
            generated: header.generated,
            source: PageSource::Scp,
            quota: job.quota,
            now: job.now,
        },
    )?;
    let delivered = stage_pages(job, &mut reader, staging.as_mut(), &mut findings)?;
    let mut removed = UrlSet::default();
    let gone = chain.map_or(&[][..], |chain| &chain.removed);
    let taken = if removals == RemovalMode::Apply { gone } else { &[] };
    for url in taken {
        match PageUrl::parse(url.as_str()) {
            Ok(url) if job.page_policy.is_site_url(url.key()) => {
                removed.insert(url.key());
                staging.remove(url.key(), RemovalCause::Removed)?;
            }
            _ => findings.report(Finding::new(&rules::ADVERT_DIFFERS, Place::line(1), quoted(url))),
        }
    }
    for section in job.unfollow {
        staging.unfollow(section)?;
    }
    let receipt = reader.finish_again(|| File::open(job.path), &mut findings)?;
    advert::compare(job.advert, &header, Some(&receipt), &mut findings)?;
    check_etag(job, &receipt, &mut findings);
    let mut finish = CommitOptions::of_receipt(&job.advert.url, &receipt, before.as_ref(), job.now);
    finish.mass_deletion = job.mass_deletion;
    finish.validator = Some(Validator {
        url: job.advert.url.clone(),
        etag: job.validators.etag.clone(),
        last_modified: job.validators.last_modified.clone(),
        checked: job.now,
    });
    // If lines were skipped, the pages in the replica cannot have the stated state.
    if 0 < receipt.tally.skipped {
        finish.claim = None;
    }
    let is_snapshot = header.kind.since().is_none();
    if let Some(chain) = chain.filter(|_| !is_snapshot && !is_linked) {
        let claim = ClaimedState { state: chain.state, pages: chain.pages };
        let outlook = staging.preview(Some(&claim))?;
        let is_proved = outlook.state == claim.state && outlook.after == claim.pages;
        if is_proved && receipt.tally.skipped == 0 {
            finish.claim = Some(claim);
        } else if !taken.is_empty() {
            return Ok(None);
        }
    }
    let outlook = staging.commit(&finish)?;
    let n_ignored = (gone.len() - taken.len()) as u64;
    Ok(Some(ApplyResult {
        outlook: Some(outlook),
        findings,
        delivered,
        removed,
        is_snapshot,
        n_ignored,
    }))
}

/// Opens the spool file of a collection for reading.
pub(crate) fn open(
    job: &ApplyJob<'_>,
    sink: &mut dyn FindingSink,
) -> Result<CollectionReader, ReadError> {
    let file = File::open(job.path)?;
    let limits = Limits::DEFAULT;
    CollectionReader::open(
        file,
        ReadOptions { limits, size: Some(job.length), threads: ReaderThreads::Two },
        sink,
    )
}

fn find_section(job: &ApplyJob<'_>, name: &str) -> Result<Option<Section>, ApplyError> {
    let sections = job.store.sections(job.lease.publisher)?;
    Ok(sections.into_iter().find(|section| section.name == name))
}

/// Stages every page of a collection, without content if the page policy withholds it.
/// Returns the keys of the pages.
pub(crate) fn stage_pages(
    job: &ApplyJob<'_>,
    reader: &mut CollectionReader,
    staging: &mut dyn Staging,
    sink: &mut dyn FindingSink,
) -> Result<UrlSet, ApplyError> {
    let mut keys = UrlSet::default();
    while let Some(mut batch) = reader.batch(sink)? {
        while let Some(record) = batch.next_page(sink)? {
            let mut item = StagedPage::of_record(&record);
            item.withheld = job.page_policy.withheld_reason_of(item.key, item.language);
            if !keys.insert(item.key) {
                let place = Place::pointer(record.line, "/url");
                sink.report(Finding::new(&rules::DUPLICATE_PAGE, place, quoted(item.key)));
            }
            staging.add(&item)?;
        }
    }
    Ok(keys)
}

/// Compares a checksum in the `ETag` with the checksum in line 1 (SCP-165). A difference is
/// only reported, because a server may use other entity tags.
fn check_etag(job: &ApplyJob<'_>, receipt: &ReadReceipt, sink: &mut dyn FindingSink) {
    let claimed = job.validators.digest();
    if claimed.is_some_and(|claimed| Some(claimed) != receipt.header.checksum) {
        let detail = "the ETag holds another checksum than line 1";
        sink.report(Finding::new(&rules::ADVERT_DIFFERS, Place::line(1), detail));
    }
}
