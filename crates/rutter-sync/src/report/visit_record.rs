//! Records the result of a sync in the replica, from which `rutter status` reads it.
//!
//! Input: the result of a sync. Output: one [`VisitRecord`] for the site, if the replica
//! has the site.

use rutter_page::Timestamp;
use rutter_store::{CommitError, StageError, Store, VisitRecord};

use crate::error::SyncError;
use crate::report::{ProblemKind, SyncReport};
use crate::traffic::TrafficCounter;

/// Maximum length of an error text, in characters.
const LONGEST: usize = 300;

/// Records the result of a sync. Nothing is recorded for a site that is not in the replica,
/// or for a sync that did not start because another process syncs the site.
pub(crate) fn record(
    store: &dyn Store,
    origin: &str,
    now: Timestamp,
    traffic: &TrafficCounter,
    result: &Result<SyncReport, SyncError>,
) -> Result<(), SyncError> {
    if matches!(result, Err(SyncError::Lease(_))) {
        return Ok(());
    }
    let Some(publisher) = store.publisher(origin)? else { return Ok(()) };
    let record = match result {
        Ok(report) => VisitRecord {
            at: now,
            result: code_of(report).to_owned(),
            method: report.method.name().to_owned(),
            error: worst_problem(report),
            requests: report.requests,
            bytes: report.bytes,
            left_out: by_code(report),
        },
        Err(error) => VisitRecord {
            at: now,
            result: if is_policy(error) { "refused" } else { "failed" }.to_owned(),
            method: String::new(),
            error: Some(short(&rutter_finding::error_chain(error))),
            requests: traffic.requests(),
            bytes: traffic.bytes(),
            left_out: store.last_visit(publisher.id)?.map(|last| last.left_out).unwrap_or_default(),
        },
    };
    Ok(store.note_visit(publisher.id, &record)?)
}

fn code_of(report: &SyncReport) -> &'static str {
    match report.worst() {
        None => "synced",
        Some(ProblemKind::Policy) => "refused",
        Some(ProblemKind::Network | ProblemKind::Integrity) if 0 < report.pages => "partial",
        Some(ProblemKind::Network | ProblemKind::Integrity) => "failed",
    }
}

fn is_policy(error: &SyncError) -> bool {
    match error {
        SyncError::Scope { .. }
        | SyncError::Stage(StageError::Quota { .. })
        | SyncError::Commit(CommitError::Quota { .. } | CommitError::MassDeletion { .. }) => true,
        SyncError::Fetch(error) => matches!(error.cause, rutter_fetch::FailureCause::Refused(_)),
        _ => false,
    }
}

/// Returns the place and text of the first unresolved problem of the most severe kind.
fn worst_problem(report: &SyncReport) -> Option<String> {
    let worst = report.worst()?;
    let add_problem = report.problems.iter().find(|it| !it.is_resolved && it.kind == worst)?;
    Some(short(&format!("{}: {}", add_problem.place, add_problem.text)))
}

fn by_code(report: &SyncReport) -> std::collections::BTreeMap<String, u64> {
    let counts = report.left_out_by_code().into_iter();
    counts.map(|(code, n)| (code.to_owned(), n)).collect()
}

fn short(text: &str) -> String {
    rutter_fetch::redact(text).chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_scope_is_recorded_as_refused() {
        let error = SyncError::Scope { origin: String::new(), outside: 1, pages: 1 };
        assert!(is_policy(&error));
    }
}
