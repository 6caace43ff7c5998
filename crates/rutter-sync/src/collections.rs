//! Brings sections up to date by collections: makes a plan, downloads and applies its
//! files, and plans again without the files that failed, at most three times.
//!
//! Input: the collections that a site offers. Output: the sections that collections cannot
//! update. A failure of a file becomes a problem in the report; an error of the replica or
//! the disk ends the sync.

pub(crate) mod apply;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::discover::Discovery;
use crate::error::error_chain;
use crate::run::replica;
use rutter_fetch::{FailureCause, Request, ResourceKind, ResponseBody, Url, Validators};
use rutter_page::Digest;
use rutter_scp::CollectionKind;
use rutter_scp::advert::AdvertisedCollection;
use rutter_store::{CommitError, DownloadRecord, StageError, StagingMode};

use crate::collections::apply::{ApplyError, ApplyJob, ApplyResult, apply};
use crate::consent::page_policy::PagePolicy;
use crate::context::SiteContext;
use crate::discover::AccessMethod;
use crate::error::SyncError;
use crate::options::SyncEvent;
use crate::plan::{
    KnownFailures, PlanOffer, PlanReason, PlannedFile, SectionAction, SyncPlan, plan,
};
use crate::report::SyncReport;
use crate::report::{ProblemKind, SectionReport};
use crate::state::delivered_pages::DeliveredPages;
use crate::state::site_state::CollectionState;
use crate::state::site_state::RejectedFile;
use crate::state::spool_dir::{SpoolDir, SpooledFile};
use crate::state::url_note::known_validator;

/// Maximum number of plans that are executed in one sync.
const ROUNDS: usize = 3;

/// Seconds for which a file that failed verification is only requested conditionally. After
/// this time, the file is downloaded again, because the transfer may have damaged it.
const REFUSED_FOR: i64 = 86_400;

/// Sections that collections did not bring up to date.
#[derive(Debug, Default)]
pub(crate) struct SectionFailures {
    /// Sections that no collection can bring up to date, with the reason.
    pub(crate) failed: BTreeMap<String, PlanReason>,
    /// Sections of `failed` whose pages should not be crawled either, because the server
    /// does not respond, or because a mass deletion waits for confirmation.
    pub(crate) unrecoverable: BTreeSet<String>,
}

/// What the collections of a site need to be brought into the replica.
pub(crate) struct CollectionsInput<'a> {
    pub(crate) context: &'a SiteContext<'a>,
    pub(crate) page_policy: &'a Arc<PagePolicy>,
    /// What the previous sync left.
    pub(crate) state: CollectionState,
}

/// What became of the collections of a site.
pub(crate) struct CollectionResult {
    pub(crate) failures: SectionFailures,
    /// The state for the next sync.
    pub(crate) state: CollectionState,
    /// Sections, problems and findings.
    pub(crate) report: SyncReport,
    /// Pages that the collections delivered and removed.
    pub(crate) delivered: DeliveredPages,
    /// Whether the byte quota withheld content.
    pub(crate) is_over_quota: bool,
}

impl CollectionResult {
    fn new(origin: &str, state: CollectionState) -> Self {
        Self {
            failures: SectionFailures::default(),
            state,
            report: SyncReport::new(origin, AccessMethod::Scp),
            delivered: DeliveredPages::default(),
            is_over_quota: false,
        }
    }
}

/// Outcome of downloading and applying one collection file.
enum FileOutcome {
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

/// Returns the adverts of collections that may be fetched, by the URL of the file.
pub(crate) fn adverts(found: &Discovery) -> BTreeMap<String, AdvertisedCollection> {
    let mut adverts = BTreeMap::new();
    for offer in &found.offer.scp.collections {
        let kind =
            offer.since.map_or(CollectionKind::Snapshot, |since| CollectionKind::Delta { since });
        for file in offer.files.iter().filter(|file| file.is_allowed) {
            let advert = AdvertisedCollection {
                section: offer.section.clone(),
                kind,
                period: offer.period.clone(),
                url: file.url.clone(),
                generated: offer.generated,
                expires: offer.expires,
                pages: offer.pages,
                size: file.size,
                checksum: offer.checksum.as_deref().and_then(Digest::parse),
            };
            adverts.insert(file.url.clone(), advert);
        }
    }
    adverts
}

/// Returns the offered collections as input of the planner.
pub(crate) fn offer_of(
    found: &Discovery,
    adverts: &BTreeMap<String, AdvertisedCollection>,
) -> PlanOffer {
    let mut offer = PlanOffer::of_adverts(adverts.values());
    for section in &found.offer.scp.sections {
        offer.note_update(&section.name, &section.update);
    }
    offer
}

/// Brings the sections of a site up to date by collections.
pub(crate) async fn collect(
    input: CollectionsInput<'_>,
    offer: &PlanOffer,
    adverts: &BTreeMap<String, AdvertisedCollection>,
) -> Result<CollectionResult, SyncError> {
    let CollectionsInput { context, page_policy, state } = input;
    let mut round = CollectRound {
        context,
        page_policy,
        failures: KnownFailures::default(),
        result: CollectionResult::new(&context.origin, state),
        problems: vec![],
        waiting: BTreeSet::new(),
    };
    report_future_collections(&mut round, adverts);
    round.result.state.rejected_files.retain(|url, _| adverts.contains_key(url));
    let mut reasons: BTreeMap<String, PlanReason> = BTreeMap::new();
    if !round.result.state.stale_sections.is_empty() {
        // In a stale section, crawled pages replaced verified lines. So the difference of
        // its state does not mean that an earlier repair failed.
        let stale = round.result.state.stale_sections.clone();
        round.result.state.repairs.retain(|section, _| !stale.contains(section));
        let known = replica(context.store.as_ref(), context.publisher, &round.result.state)?
            .sections
            .into_keys();
        round.failures.broken_sections.extend(known.filter(|section| stale.contains(section)));
    }
    let mut is_over = false;
    for number in 0.. {
        let replica = replica(context.store.as_ref(), context.publisher, &round.result.state)?;
        let plan =
            plan(round.context.now, &context.plan_policy(), offer, &replica, &round.failures);
        if number == 0 {
            round.context.observer.event(&round.context.origin, SyncEvent::Planned(&plan));
        }
        for (section, step) in &plan.steps {
            let is_first = !reasons.contains_key(section);
            if is_first || !matches!(step.way, SectionAction::Nothing | SectionAction::Fallback) {
                reasons.insert(section.clone(), step.reason);
            }
        }
        // The last plan is not executed: it only shows which sections are still not up to
        // date.
        if is_over || number == ROUNDS {
            return report_sections(round, &plan, &reasons);
        }
        is_over = !execute(&mut round, &plan, adverts).await?;
    }
    Ok(round.result)
}

/// The plans and files of one sync so far.
struct CollectRound<'a> {
    context: &'a SiteContext<'a>,
    page_policy: &'a Arc<PagePolicy>,
    failures: KnownFailures,
    result: CollectionResult,
    /// Problems of this sync: section, index in the report, and whether another file may
    /// resolve the problem.
    problems: Vec<(String, usize, bool)>,
    /// Sections with a change that waits for confirmation or quota.
    waiting: BTreeSet<String>,
}

/// Reports collections that are dated in the future. These collections are not fetched, so
/// their sections are not up to date (D26).
fn report_future_collections(
    round: &mut CollectRound<'_>,
    adverts: &BTreeMap<String, AdvertisedCollection>,
) {
    let latest = round.context.now.plus_seconds(round.context.options.policy.skew);
    let mut newest: BTreeMap<&str, &AdvertisedCollection> = BTreeMap::new();
    for advert in adverts.values().filter(|advert| latest < advert.generated) {
        let known = newest.entry(&advert.section).or_insert(advert);
        if known.generated < advert.generated {
            *known = advert;
        }
    }
    for advert in newest.into_values() {
        let generated = advert.generated;
        let text = format!(
            "not fetched: the collection was generated at {generated}, which is in the future"
        );
        round.result.report.add_problem(&advert.url, ProblemKind::Integrity, text);
    }
}

/// Downloads and applies the files of a plan. Returns whether a file failed, so that
/// planning again is useful.
async fn execute(
    round: &mut CollectRound<'_>,
    plan: &SyncPlan,
    adverts: &BTreeMap<String, AdvertisedCollection>,
) -> Result<bool, SyncError> {
    let busy: Vec<_> =
        plan.order.iter().filter_map(|name| plan.steps.get_key_value(name)).collect();
    let mut unfollow: Vec<String> = plan.unfollow.iter().cloned().collect();
    let mut has_failed = false;
    let n_busy = busy.len();
    for (at, (section, step)) in busy.into_iter().enumerate() {
        let files = step.files();
        for (n, planned_file) in files.iter().enumerate() {
            let Some(advert) = adverts.get(&planned_file.url) else { continue };
            let is_last = at + 1 == n_busy && n + 1 == files.len() && !has_failed;
            let leave = if is_last { std::mem::take(&mut unfollow) } else { Vec::new() };
            let is_plain = round.failures.broken_sections.contains(section);
            let is_known = !matches!(step.reason, PlanReason::Broken | PlanReason::Empty);
            let outcome =
                fetch_and_apply(round, advert, planned_file, is_plain, is_known, leave).await?;
            let FileOutcome::Applied(mut applied) = outcome else {
                has_failed = true;
                // Files that would fail for the same reason are not tried: other codings of
                // a collection with a mass deletion, or other files of this kind if the
                // quota is exhausted.
                let is_same = |it: &&AdvertisedCollection| match &outcome {
                    FileOutcome::NeedsConfirmation(_) => {
                        it.generated == advert.generated && it.kind == advert.kind
                    }
                    FileOutcome::OverQuota(_) => {
                        it.kind.since().is_some() == advert.kind.since().is_some()
                    }
                    _ => false,
                };
                let of_section = adverts.values().filter(|it| it.section == advert.section);
                let same = of_section.filter(is_same).map(|it| it.url.clone());
                round.failures.files.extend(same);
                record_failure(round, section, planned_file, outcome)?;
                break;
            };
            if 0 < applied.n_ignored {
                let text = format!(
                    "{} removals ignored: neither `from` nor `state` of the delta matches this replica",
                    applied.n_ignored
                );
                round.result.report.add_problem(&planned_file.url, ProblemKind::Integrity, text);
            }
            let [keys, removed] =
                [&mut applied.delivered, &mut applied.removed].map(std::mem::take);
            round.result.delivered.add(keys, removed, applied.is_snapshot);
            if let Some(outlook) = &applied.outlook {
                round.result.report.withheld += outlook.withheld;
                round.result.is_over_quota |= 0 < outlook.over_quota;
                round.result.report.add_quota_problem(outlook.over_quota);
                if step.reason == PlanReason::Broken && planned_file.since.is_none() {
                    round.result.state.repairs.insert(section.clone(), planned_file.generated);
                }
                let files =
                    round.result.report.sections.entry(section.clone()).or_insert(SectionReport {
                        reason: step.reason,
                        files: 0,
                        pages: 0,
                        is_proved: false,
                    });
                files.files += 1;
            }
            round.result.report.add_findings(&planned_file.url, &applied.findings);
        }
    }
    if !has_failed {
        round.result.state.section_choice = Some(plan.following);
    }
    Ok(has_failed)
}

fn record_failure(
    round: &mut CollectRound<'_>,
    section: &str,
    planned_file: &PlannedFile,
    outcome: FileOutcome,
) -> Result<(), SyncError> {
    let url = &planned_file.url;
    let mut may_resolve = false;
    let (kind, text) = match outcome {
        FileOutcome::Applied(_) => return Ok(()),
        FileOutcome::Rejected(kind, text) => {
            round.failures.files.insert(url.clone());
            if kind == ProblemKind::Network {
                round.result.failures.unrecoverable.insert(section.to_owned());
            }
            (kind, text)
        }
        FileOutcome::RetryLater(text) => {
            let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
            round.failures.hosts.extend(host);
            round.result.failures.unrecoverable.insert(section.to_owned());
            (ProblemKind::Network, text)
        }
        FileOutcome::NeedsSnapshot(text) => {
            if !round.failures.broken_sections.insert(section.to_owned()) {
                // The section was already known to be broken, and this file does not repair
                // it.
                round.failures.files.insert(url.clone());
            }
            (ProblemKind::Integrity, text)
        }
        // A delta may exceed the quota although a newer snapshot, with fewer pages, does
        // not.
        FileOutcome::OverQuota(text) if planned_file.since.is_some() => {
            round.failures.files.insert(url.clone());
            may_resolve = true;
            (ProblemKind::Policy, text)
        }
        FileOutcome::NeedsConfirmation(text) | FileOutcome::OverQuota(text) => {
            round.failures.files.insert(url.clone());
            // A crawl would reach the same number of pages at a higher cost.
            round.result.failures.unrecoverable.insert(section.to_owned());
            round.waiting.insert(section.to_owned());
            (ProblemKind::Policy, text)
        }
    };
    let taken = DownloadRecord {
        section: section.to_owned(),
        url: url.clone(),
        mode: if planned_file.since.is_some() { StagingMode::Delta } else { StagingMode::Snapshot },
        generated: planned_file.generated,
        since: planned_file.since,
        checksum: None,
        from: None,
        state: None,
        bytes: planned_file.size,
        at: round.context.now,
        outcome: rutter_fetch::redact(&text),
    };
    round.context.store.record_download(round.context.lease_guard.lease(), &taken)?;
    let may_resolve = may_resolve || kind != ProblemKind::Policy;
    round.problems.push((section.to_owned(), round.result.report.problems.len(), may_resolve));
    round.result.report.add_problem(url, kind, text);
    Ok(())
}

/// Adds the result for each section to the report.
fn report_sections(
    mut round: CollectRound<'_>,
    plan: &SyncPlan,
    reasons: &BTreeMap<String, PlanReason>,
) -> Result<CollectionResult, SyncError> {
    let sections = round.context.sections()?;
    for (name, step) in &plan.steps {
        let held = sections.iter().find(|section| section.name == *name);
        let is_here = step.way == SectionAction::Nothing && held.is_some();
        let known = round.result.report.sections.get(name).map_or(0, |report| report.files);
        let is_resolved = is_here && !round.result.failures.unrecoverable.contains(name);
        let is_waiting = round.waiting.contains(name);
        let reason = reasons.get(name).copied().unwrap_or(step.reason);
        round.result.report.sections.insert(
            name.clone(),
            SectionReport {
                reason: if is_waiting { PlanReason::Waiting } else { reason },
                files: known,
                pages: held.map_or(0, |section| section.pages),
                // A section that waits keeps its old state, which differs from the offered
                // one even if it was proved earlier.
                is_proved: !is_waiting && held.is_some_and(|section| section.is_proved),
            },
        );
        // A section that is no longer offered and has no pages in the replica needs no
        // crawl.
        let is_over = step.reason == PlanReason::NotOffered && held.is_none_or(|it| it.pages == 0);
        if !is_here && step.way != SectionAction::Nothing && !is_over {
            round.result.failures.failed.insert(name.clone(), step.reason);
        }
        // For these reasons no file was requested, so no problem was reported yet.
        let unasked = match step.reason {
            PlanReason::TooOld => Some(ProblemKind::Integrity),
            PlanReason::TooLarge => Some(ProblemKind::Policy),
            _ => None,
        };
        if let Some(kind) = unasked.filter(|_| step.way == SectionAction::Fallback) {
            let text = format!("section {}: {}", rutter_finding::quoted(name), step.reason);
            let origin = round.context.origin.clone();
            round.result.report.add_problem(&origin, kind, text);
        }
        if is_here && 0 < known {
            round.result.state.stale_sections.remove(name);
        }
        // If the section is up to date, another file replaced the failed one.
        let is_current = is_here && (is_resolved || 0 < known);
        for (section, at, may_resolve) in &round.problems {
            if section == name
                && is_current
                && let Some(add_problem) = round.result.report.problems.get_mut(*at)
            {
                add_problem.is_resolved = *may_resolve;
            }
        }
    }
    round.result.state.stale_sections.retain(|name| plan.steps.contains_key(name));
    Ok(round.result)
}

/// Applies one collection. Downloads the file first, unless the spool directory has it.
async fn fetch_and_apply(
    round: &mut CollectRound<'_>,
    advert: &AdvertisedCollection,
    planned_file: &PlannedFile,
    is_plain: bool,
    is_known: bool,
    unfollow: Vec<String>,
) -> Result<FileOutcome, SyncError> {
    let place = round.context.spool_dir.place(&planned_file.url, planned_file.generated);
    let complete = match SpoolDir::complete(&place, &planned_file.url) {
        Some(complete) => complete,
        None => match fetch(round, planned_file, is_known).await? {
            Ok(complete) => complete,
            Err(outcome) => return Ok(outcome),
        },
    };
    round
        .context
        .observer
        .event(&round.context.origin, SyncEvent::Applying { section: &advert.section });
    let store = Arc::clone(&round.context.store);
    let (lease, page_policy) =
        (round.context.lease_guard.lease().clone(), Arc::clone(&round.page_policy));
    let options = round.context.options.clone();
    let (advert, now, path) = (advert.clone(), round.context.now, place.clone());
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
            let (generated, why, at) = (planned_file.generated, why.clone(), round.context.now);
            let refused = RejectedFile { generated, validators, why, at };
            round.result.state.rejected_files.insert(planned_file.url.clone(), refused);
        }
        _ => drop(round.result.state.rejected_files.remove(&planned_file.url)),
    }
    SpoolDir::discard(&place);
    Ok(outcome)
}

/// Converts the result of applying a file. Errors of the replica or the disk are returned
/// as errors; after such an error, the spool file is kept for the next sync.
fn outcome_of(applied: Result<ApplyResult, ApplyError>) -> Result<FileOutcome, SyncError> {
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
async fn fetch(
    round: &mut CollectRound<'_>,
    planned_file: &PlannedFile,
    is_known: bool,
) -> Result<Result<SpooledFile, FileOutcome>, SyncError> {
    let Ok(url) = Url::parse(&planned_file.url) else {
        return Ok(Err(FileOutcome::Rejected(
            ProblemKind::Integrity,
            "the advertised address is not a URL".to_owned(),
        )));
    };
    round.context.observer.event(
        &round.context.origin,
        SyncEvent::Fetching { url: &planned_file.url, size: planned_file.size },
    );
    let place = round.context.spool_dir.place(&planned_file.url, planned_file.generated);
    // Files that were applied before, and files that failed verification, are requested
    // conditionally (SCP-153).
    let refused = round.result.state.rejected_files.get(&planned_file.url);
    let is_same = |refused: &&RejectedFile| {
        let age = round.context.now.seconds_since(refused.at);
        refused.generated == planned_file.generated && age < REFUSED_FOR
    };
    let refused = refused.filter(is_same).cloned();
    let known = match known_validator(round.context.store.as_ref(), &planned_file.url)?
        .filter(|_| is_known)
    {
        _ if let Some(refused) = &refused => refused.validators.clone(),
        Some(known) => Validators { etag: known.etag, last_modified: known.last_modified },
        None => Validators::default(),
    };
    let request = Request {
        validators: known,
        site: Some(round.context.site.clone()),
        spool: Some(place.clone()),
        ..Request::new(url, ResourceKind::Collection)
    };
    let response = match round.context.client.fetch(&request).await {
        Ok(response) => response,
        Err(error) => {
            let text = error_chain(&error.cause);
            return Ok(Err(match error.cause {
                FailureCause::Spool(error) => return Err(SyncError::Spool(place, error)),
                FailureCause::Refused(_) => FileOutcome::Rejected(ProblemKind::Policy, text),
                FailureCause::Response(_) => FileOutcome::Rejected(ProblemKind::Integrity, text),
                FailureCause::RetryLater { until, .. } => {
                    round.context.pause(until)?;
                    FileOutcome::RetryLater(text)
                }
                _ => FileOutcome::Rejected(ProblemKind::Network, text),
            }));
        }
    };
    round.context.traffic.add_bytes(response.wire_bytes);
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
