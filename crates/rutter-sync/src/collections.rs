//! Brings sections up to date by collections: makes a plan, downloads and applies its
//! files, and plans again without the files that failed, at most three times.
//!
//! Input: the collections that a site offers. Output: the sections that collections cannot
//! update. A failure of a file becomes a problem in the report; an error of the replica or
//! the disk ends the sync.

pub(crate) mod apply;
mod download;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rutter_fetch::{Url, redact};
use rutter_page::Digest;
use rutter_scp::CollectionKind;
use rutter_scp::advert::AdvertisedCollection;
use rutter_store::{DownloadRecord, StagingMode};
use tracing::{Instrument as _, info, info_span};

use self::download::{CollectionDownload, FileOutcome, fetch_and_apply};
use crate::consent::page_policy::PagePolicy;
use crate::context::SiteContext;
use crate::discover::AccessMethod;
use crate::discover::Discovery;
use crate::error::SyncError;
use crate::options::SyncEvent;
use crate::plan::{
    KnownFailures, PlanOffer, PlanReason, PlannedFile, SectionAction, SyncPlan, plan,
};
use crate::report::SyncReport;
use crate::report::{ProblemKind, SectionReport};
use crate::run::replica;
use crate::state::delivered_pages::DeliveredPages;
use crate::state::site_state::CollectionState;

/// Maximum number of plans that are executed in one sync.
const ROUNDS: usize = 3;

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
///
/// Returns what was reached, also if an error stopped it.
pub(crate) async fn collect(
    input: CollectionsInput<'_>,
    offer: &PlanOffer,
    adverts: &BTreeMap<String, AdvertisedCollection>,
) -> (CollectionResult, Result<(), SyncError>) {
    let CollectionsInput { context, page_policy, state } = input;
    let mut round = CollectRound {
        context,
        page_policy,
        failures: KnownFailures::default(),
        result: CollectionResult::new(&context.origin, state),
        problems: vec![],
        waiting: BTreeSet::new(),
    };
    let outcome = collect_rounds(&mut round, offer, adverts).await;
    (round.result, outcome)
}

/// Plans and executes until no further plan is useful.
async fn collect_rounds(
    round: &mut CollectRound<'_>,
    offer: &PlanOffer,
    adverts: &BTreeMap<String, AdvertisedCollection>,
) -> Result<(), SyncError> {
    let context = round.context;
    report_future_collections(round, adverts);
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
        is_over = !execute(round, &plan, adverts).await?;
    }
    Ok(())
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
// More than 80 lines: one file after another, with the outcomes of each in the order of their severity.
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
            let mut download = CollectionDownload {
                context: round.context,
                page_policy: round.page_policy,
                rejected_files: &mut round.result.state.rejected_files,
            };
            let span = info_span!("section", name = %section, url = redact(&planned_file.url));
            info!(parent: &span, reason = %step.reason, "applying a collection");
            let outcome =
                fetch_and_apply(&mut download, advert, planned_file, is_plain, is_known, leave)
                    .instrument(span)
                    .await?;
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
        outcome: redact(&text),
    };
    round.context.store.record_download(round.context.lease_guard.lease(), &taken)?;
    let may_resolve = may_resolve || kind != ProblemKind::Policy;
    round.problems.push((section.to_owned(), round.result.report.problems.len(), may_resolve));
    round.result.report.add_problem(url, kind, text);
    Ok(())
}

/// Adds the result for each section to the report.
fn report_sections(
    round: &mut CollectRound<'_>,
    plan: &SyncPlan,
    reasons: &BTreeMap<String, PlanReason>,
) -> Result<(), SyncError> {
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
    Ok(())
}
