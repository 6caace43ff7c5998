//! Downloads one collection into the spool directory, and applies it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rutter_fetch::{FailureCause, Request, ResourceKind, ResponseBody, Url, Validators};
use rutter_scp::advert::AdvertisedCollection;
use rutter_store::{CommitError, StageError};

use crate::collections::apply::{ApplyError, ApplyJob, ApplyResult, apply};
use crate::consent::page_policy::PagePolicy;
use crate::context::SiteContext;
use crate::error::SyncError;
use crate::options::SyncEvent;
use crate::plan::PlannedFile;
use crate::report::ProblemKind;
use crate::state::site_state::RejectedFile;
use crate::state::spool_dir::{SpoolDir, SpooledFile};
use crate::state::url_note::known_validator;
use rutter_finding::error_chain;

/// Seconds for which a file that failed verification is only requested conditionally. After
/// this time, the file is downloaded again, because the transfer may have damaged it.
pub(super) const REFUSED_FOR: i64 = 86_400;

/// What the download of a collection depends on.
pub(super) struct CollectionDownload<'a> {
    pub(super) context: &'a SiteContext<'a>,
    pub(super) page_policy: &'a Arc<PagePolicy>,
    /// Collections that failed verification, by URL.
    pub(super) rejected_files: &'a mut BTreeMap<String, RejectedFile>,
}

/// Outcome of downloading and applying one collection file.
pub(super) enum FileOutcome {
    Applied(Box<ApplyResult>),
    /// The file cannot be used: kind of the problem and its description.
    Rejected(ProblemKind, String),
    /// The host asked for a pause, with `Retry-After` for example.
    RetryLater(String),
    /// The section needs a snapshot.
    NeedsSnapshot(String),
    /// A mass deletion needs confirmation.
    NeedsConfirmation(String),
    /// The page quota is exhausted.
    OverQuota(String),
}

/// Applies one collection. Downloads the file first, unless the spool directory has it.
pub(super) async fn fetch_and_apply(
    download: &mut CollectionDownload<'_>,
    advert: &AdvertisedCollection,
    planned_file: &PlannedFile,
    is_plain: bool,
    is_known: bool,
    unfollow: Vec<String>,
) -> Result<FileOutcome, SyncError> {
    let place = download.context.spool_dir.place(&planned_file.url, planned_file.generated);
    let complete = match SpoolDir::complete(&place, &planned_file.url) {
        Some(complete) => complete,
        None => match fetch(download, planned_file, is_known).await? {
            Ok(complete) => complete,
            Err(outcome) => return Ok(outcome),
        },
    };
    download
        .context
        .observer
        .event(&download.context.origin, SyncEvent::Applying { section: &advert.section });
    let store = Arc::clone(download.context.store);
    let (lease, page_policy) =
        (download.context.lease_guard.lease().clone(), Arc::clone(download.page_policy));
    let options = download.context.options.clone();
    let (advert, now, path) = (advert.clone(), download.context.now, place.clone());
    let validators = complete.validators.clone();
    let applied = tokio::task::spawn_blocking(move || {
        apply(&ApplyJob {
            store: store.as_ref(),
            lease: &lease,
            page_policy: &page_policy,
            advert: &advert,
            path: &path,
            length: complete.length,
            validators: &complete.validators,
            quota: options.quota,
            mass_deletion: options.mass_deletion,
            unfollow: &unfollow,
            is_plain,
            now,
        })
    })
    .await
    .map_err(|_| SyncError::Worker)?;
    // Only a damaged file is recorded as rejected: a file that contradicts its advert or
    // the clock may be valid later.
    let is_damaged = matches!(applied, Err(ApplyError::Read(_)));
    let outcome = outcome_of(applied)?;
    match &outcome {
        // The file is valid, and stays in the spool directory until the deletion is
        // confirmed or the quota is larger.
        FileOutcome::NeedsConfirmation(_) | FileOutcome::OverQuota(_) => return Ok(outcome),
        FileOutcome::Rejected(_, why) if is_damaged && validators != Validators::default() => {
            let (generated, why, at) = (planned_file.generated, why.clone(), download.context.now);
            let refused = RejectedFile { generated, validators, why, at };
            download.rejected_files.insert(planned_file.url.clone(), refused);
        }
        _ => drop(download.rejected_files.remove(&planned_file.url)),
    }
    SpoolDir::discard(&place);
    Ok(outcome)
}

/// Converts the result of applying a file. Errors of the replica or the disk are returned
/// as errors; after such an error, the spool file is kept for the next sync.
pub(super) fn outcome_of(
    applied: Result<ApplyResult, ApplyError>,
) -> Result<FileOutcome, SyncError> {
    let error = match applied {
        Ok(applied) => return Ok(FileOutcome::Applied(Box::new(applied))),
        Err(error) => error,
    };
    let text = error_chain(&error);
    Ok(match error {
        ApplyError::Read(rutter_scp::ReadError::Io(error)) => {
            return Err(SyncError::Spool("the spool".into(), error));
        }
        ApplyError::Query(error) => return Err(error.into()),
        ApplyError::Stage(StageError::Replay { .. }) => {
            FileOutcome::Rejected(ProblemKind::Integrity, text)
        }
        ApplyError::Stage(StageError::Quota { .. })
        | ApplyError::Commit(CommitError::Quota { .. }) => FileOutcome::OverQuota(text),
        ApplyError::Stage(error) => return Err(error.into()),
        ApplyError::Commit(CommitError::MassDeletion { .. }) => {
            FileOutcome::NeedsConfirmation(text)
        }
        ApplyError::Commit(CommitError::State { .. } | CommitError::Count { .. })
        | ApplyError::Broken
        | ApplyError::Gap(_) => FileOutcome::NeedsSnapshot(text),
        ApplyError::Commit(error) => return Err(error.into()),
        ApplyError::Read(_)
        | ApplyError::Refused(_)
        | ApplyError::Future(_)
        | ApplyError::Past(_) => FileOutcome::Rejected(ProblemKind::Integrity, text),
    })
}

/// Downloads one collection into its spool file.
pub(super) async fn fetch(
    download: &mut CollectionDownload<'_>,
    planned_file: &PlannedFile,
    is_known: bool,
) -> Result<Result<SpooledFile, FileOutcome>, SyncError> {
    let Ok(url) = Url::parse(&planned_file.url) else {
        return Ok(Err(FileOutcome::Rejected(
            ProblemKind::Integrity,
            "the advertised address is not a URL".to_owned(),
        )));
    };
    download.context.observer.event(
        &download.context.origin,
        SyncEvent::Fetching { url: &planned_file.url, size: planned_file.size },
    );
    let place = download.context.spool_dir.place(&planned_file.url, planned_file.generated);
    // Files that were applied before, and files that failed verification, are requested
    // conditionally (SCP-153).
    let refused = download.rejected_files.get(&planned_file.url);
    let is_same = |refused: &&RejectedFile| {
        let age = download.context.now.seconds_since(refused.at);
        refused.generated == planned_file.generated && age < REFUSED_FOR
    };
    let refused = refused.filter(is_same).cloned();
    let known = match known_validator(download.context.store.as_ref(), &planned_file.url)?
        .filter(|_| is_known)
    {
        _ if let Some(refused) = &refused => refused.validators.clone(),
        Some(known) => Validators { etag: known.etag, last_modified: known.last_modified },
        None => Validators::default(),
    };
    let request = Request {
        validators: known,
        site: Some(download.context.site.clone()),
        spool: Some(place.clone()),
        ..Request::new(url, ResourceKind::Collection)
    };
    let response = match download.context.client.fetch(&request).await {
        Ok(response) => response,
        Err(error) => {
            let text = error_chain(&error.cause);
            return Ok(Err(match error.cause {
                FailureCause::Spool(error) => return Err(SyncError::Spool(place, error)),
                FailureCause::Refused(_) => FileOutcome::Rejected(ProblemKind::Policy, text),
                FailureCause::Response(_) => FileOutcome::Rejected(ProblemKind::Integrity, text),
                FailureCause::RetryLater { until, .. } => {
                    download.context.pause(until)?;
                    FileOutcome::RetryLater(text)
                }
                _ => FileOutcome::Rejected(ProblemKind::Network, text),
            }));
        }
    };
    download.context.traffic.add_bytes(response.wire_bytes);
    let media = response.fields.media_type();
    let bad = |kind, text: String| Ok(Err(FileOutcome::Rejected(kind, text)));
    let ResponseBody::Spooled { length, .. } = response.body else {
        let text = match response.status {
            304 if let Some(refused) = refused => {
                format!("{}; the file has not changed", refused.why)
            }
            304 => "the server sent 304: the file is the one that was applied before".to_owned(),
            status => format!("not found, status {status}"),
        };
        return bad(ProblemKind::Integrity, text);
    };
    // An HTML page is never a collection (D05, SCP-192).
    if media == "text/html" || media == "application/xhtml+xml" {
        SpoolDir::discard(&place);
        return bad(
            ProblemKind::Integrity,
            format!("the server sent HTML, status {}", response.status),
        );
    }
    let complete =
        SpooledFile { url: planned_file.url.clone(), length, validators: response.validators };
    SpoolDir::seal(&place, &complete)?;
    Ok(Ok(complete))
}
