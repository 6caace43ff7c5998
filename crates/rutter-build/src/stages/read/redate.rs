//! Corrects ledger rows whose times are in the future.

use rutter_page::Timestamp;
use rutter_site::{ArcEntryVersion, LedgerRow, NO_ARC_ENTRY, UNKNOWN_DIGEST};

use crate::plan::BuildPlan;

/// Returns a ledger row. If the plan sets `redate`, times that are later than the time of the build
/// are replaced, and the line of a page with such a modification date is written again.
pub(super) fn redated(
    plan: &BuildPlan,
    newest: &mut Option<Timestamp>,
    mut row: LedgerRow,
) -> LedgerRow {
    *newest = (*newest).max(Some(row.recorded));
    let now = plan.now;
    if plan.redate {
        if now < row.modified {
            row.modified = now.plus_seconds(-1);
            row.digest = UNKNOWN_DIGEST;
        }
        row.recorded = row.recorded.min(now);
        row.first_seen = row.first_seen.min(now);
        row.removed = row.removed.map(|at| at.min(now));
        if ArcEntryVersion::parse(&row.arc).is_some_and(|version| now < version.at) {
            NO_ARC_ENTRY.clone_into(&mut row.arc);
        }
    }
    row
}
