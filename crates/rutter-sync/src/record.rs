//! Records the result of a sync in the replica, where `status` reads it.
//!
//! Input: what a visit returned. Output: one [`VisitRecord`] for the site, if the replica has it.

use std::error::Error;

use rutter_page::Timestamp;
use rutter_store::{CommitError, StageError, Store, VisitRecord};

use crate::error::VisitError;
use crate::report::{Kind, Report};
use crate::tally::Tally;

/// Longest error text, in characters.
const LONGEST: usize = 300;

/// Records a result. A site that is not in the replica has no record, nor has a sync that did not
/// begin because another one runs.
pub(crate) fn record(
    store: &dyn Store,
    origin: &str,
    now: Timestamp,
    tally: &Tally,
    result: &Result<Report, VisitError>,
) -> Result<(), VisitError> {
    if matches!(result, Err(VisitError::Lease(_))) {
        return Ok(());
    }
    let Some(publisher) = store.publisher(origin)? else { return Ok(()) };
    let record = match result {
        Ok(report) => VisitRecord {
            at: now,
            result: code_of(report).to_owned(),
            method: report.rung.name().to_owned(),
            error: first_trouble(report),
            requests: report.requests,
            bytes: report.bytes,
            left_out: by_code(report),
        },
        Err(error) => VisitRecord {
            at: now,
            result: if is_policy(error) { "refused" } else { "failed" }.to_owned(),
            method: String::new(),
            error: Some(short(&chain(error))),
            requests: tally.requests(),
            bytes: tally.bytes(),
            left_out: store.last_visit(publisher.id)?.map(|last| last.left_out).unwrap_or_default(),
        },
    };
    Ok(store.note_visit(publisher.id, &record)?)
}

fn code_of(report: &Report) -> &'static str {
    match report.worst() {
        None => "synced",
        Some(Kind::Policy) => "refused",
        Some(Kind::Network | Kind::Integrity) if 0 < report.pages => "partial",
        Some(Kind::Network | Kind::Integrity) => "failed",
    }
}

fn is_policy(error: &VisitError) -> bool {
    match error {
        VisitError::Scope { .. }
        | VisitError::Stage(StageError::Quota { .. })
        | VisitError::Commit(CommitError::Quota { .. } | CommitError::MassDeletion { .. }) => true,
        VisitError::Fetch(error) => matches!(error.cause, rutter_fetch::Cause::Refused(_)),
        _ => false,
    }
}

/// The gravest trouble that nothing mended, in one line.
fn first_trouble(report: &Report) -> Option<String> {
    let worst = report.worst()?;
    let trouble = report.troubles.iter().find(|it| !it.is_mended && it.kind == worst)?;
    Some(short(&format!("{}: {}", trouble.place, trouble.text)))
}

fn by_code(report: &Report) -> std::collections::BTreeMap<String, u64> {
    let counts = report.left_out_by_code().into_iter();
    counts.map(|(code, n)| (code.to_owned(), n)).collect()
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

fn short(text: &str) -> String {
    rutter_fetch::redacted(text).chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_scope_is_recorded_as_refused() {
        let error = VisitError::Scope { origin: String::new(), outside: 1, pages: 1 };
        assert!(is_policy(&error));
    }
}
