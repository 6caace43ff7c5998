//! Merge rules of replicas, as pure functions (D21 to D27, D95).
//!
//! Input: times, counts and headers. Output: decisions. No file, clock or store is accessed.

use rutter_page::Timestamp;

use crate::header::{CollectionHeader, CollectionKind};

/// What to do with an incoming page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeDecision {
    /// The page is new: insert it.
    Insert,
    /// The page is newer than the local copy: replace the copy.
    Replace,
    /// The page is not newer than the local copy: keep the copy.
    Keep,
}

/// Decides about a page of a delta by its modification time alone. If the times are equal, the
/// local copy is kept.
///
/// ```
/// # use rutter_page::Timestamp;
/// # use rutter_scp::merge::{MergeDecision, decide_delta_page};
/// let noon = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
/// assert_eq!(decide_delta_page(Some(noon), noon), MergeDecision::Keep);
/// ```
pub fn decide_delta_page(local: Option<Timestamp>, incoming: Timestamp) -> MergeDecision {
    match local {
        None => MergeDecision::Insert,
        Some(local) if local < incoming => MergeDecision::Replace,
        Some(_) => MergeDecision::Keep,
    }
}

/// Decides about a page of a snapshot, which also replaces at equal times (D23).
///
/// `same_content` says whether both lines are identical. An equal time with different content is
/// an error of the publisher; the snapshot wins.
pub fn decide_snapshot_page(
    local: Option<Timestamp>,
    incoming: Timestamp,
    same_content: bool,
) -> MergeDecision {
    match local {
        None => MergeDecision::Insert,
        Some(local) if local < incoming => MergeDecision::Replace,
        Some(local) if local == incoming && !same_content => MergeDecision::Replace,
        Some(_) => MergeDecision::Keep,
    }
}

/// Returns whether a page that is absent from a snapshot is deleted.
///
/// The page is kept if a delta newer than the snapshot wrote it.
pub fn is_deleted_by(snapshot_generated: Timestamp, last_delta: Option<Timestamp>) -> bool {
    last_delta.is_none_or(|delta| delta <= snapshot_generated)
}

/// How a delta relates to a replica that knows all changes up to a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeltaFit {
    /// The delta continues from the time of the replica.
    Applies,
    /// The replica has everything in the delta already.
    Covered,
    /// Changes between the time of the replica and the `since` of the delta would be lost.
    Gap,
}

/// Compares the period of a delta with `mark`, the time up to which the replica is complete (D25).
pub fn fit_delta(mark: Timestamp, since: Timestamp, generated: Timestamp) -> DeltaFit {
    if generated <= mark {
        DeltaFit::Covered
    } else if mark < since {
        DeltaFit::Gap
    } else {
        DeltaFit::Applies
    }
}

/// Returns the sort key of deltas: `generated`, then `since`, then the id.
pub fn delta_order(header: &CollectionHeader) -> (Timestamp, Option<Timestamp>, String) {
    (header.generated, header.kind.since(), header.id.clone())
}

/// Returns whether a snapshot is older than the newest accepted one (D23, D26).
pub fn is_replay(generated: Timestamp, newest_accepted: Option<Timestamp>) -> bool {
    newest_accepted.is_some_and(|newest| generated < newest)
}

/// Returns whether a deletion needs confirmation: more than half of a section of more than 20
/// pages (D23).
pub fn is_mass_deletion(pages_before: u64, deleted: u64) -> bool {
    20 < pages_before && pages_before / 2 < deleted
}

/// Returns whether a snapshot is held back until a second snapshot confirms it, because it is empty
/// or would delete too many pages (D23).
pub fn is_held_back(pages_before: u64, deleted: u64, pages_after: u64) -> bool {
    (0 < pages_before && pages_after == 0) || is_mass_deletion(pages_before, deleted)
}

/// Age of a collection compared with the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionAge {
    /// The age is within the accepted range.
    Fine,
    /// The collection was generated later than clock skew can explain.
    Future,
    /// The collection is so old that it may be a replay.
    Past,
}

/// Tolerated clock skew in seconds.
pub const MAX_CLOCK_SKEW: i64 = 600;
/// Age in seconds beyond which a collection is treated as a replay.
pub const MAX_AGE: i64 = 400 * 86_400;

/// Compares `generated` with the clock (D26).
pub fn classify_age(generated: Timestamp, now: Timestamp) -> CollectionAge {
    let seconds = now.seconds_since(generated);
    if seconds < -MAX_CLOCK_SKEW {
        CollectionAge::Future
    } else if MAX_AGE < seconds {
        CollectionAge::Past
    } else {
        CollectionAge::Fine
    }
}

/// Returns whether a header belongs to a delta.
pub fn is_delta(header: &CollectionHeader) -> bool {
    matches!(header.kind, CollectionKind::Delta { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_unix_seconds(1_700_000_000 + hour * 3600).unwrap()
    }

    #[test] // SCP-132
    fn later_delta_page_replaces_local_page() {
        assert_eq!(decide_delta_page(Some(at(1)), at(2)), MergeDecision::Replace);
    }

    #[test] // SCP-133
    fn equal_or_earlier_delta_page_is_ignored() {
        assert_eq!(decide_delta_page(Some(at(2)), at(2)), MergeDecision::Keep);
        assert_eq!(decide_delta_page(Some(at(2)), at(1)), MergeDecision::Keep);
    }

    #[test] // SCP-134
    fn unknown_delta_page_is_inserted() {
        assert_eq!(decide_delta_page(None, at(1)), MergeDecision::Insert);
    }

    #[test] // SCP-135 D23
    fn page_absent_from_newer_snapshot_is_deleted() {
        assert!(is_deleted_by(at(5), None));
        assert!(is_deleted_by(at(5), Some(at(5))));
        assert!(!is_deleted_by(at(5), Some(at(6))));
    }

    #[test] // D23
    fn snapshot_wins_at_equal_times() {
        assert_eq!(decide_snapshot_page(Some(at(2)), at(2), false), MergeDecision::Replace);
        assert_eq!(decide_snapshot_page(Some(at(2)), at(2), true), MergeDecision::Keep);
        assert_eq!(decide_snapshot_page(Some(at(3)), at(2), false), MergeDecision::Keep);
        assert_eq!(decide_snapshot_page(Some(at(1)), at(2), true), MergeDecision::Replace);
        assert_eq!(decide_snapshot_page(None, at(2), false), MergeDecision::Insert);
    }

    #[test] // SCP-139 D25
    fn delta_applies_when_it_reaches_back_to_the_mark() {
        assert_eq!(fit_delta(at(5), at(4), at(6)), DeltaFit::Applies);
        assert_eq!(fit_delta(at(5), at(5), at(6)), DeltaFit::Applies);
        assert_eq!(fit_delta(at(5), at(6), at(7)), DeltaFit::Gap);
        assert_eq!(fit_delta(at(5), at(3), at(5)), DeltaFit::Covered);
    }

    #[test] // SCP-166 D26
    fn age_is_classified_by_the_given_clock() {
        let now = at(0);
        assert_eq!(classify_age(now.plus_seconds(600), now), CollectionAge::Fine);
        assert_eq!(classify_age(now.plus_seconds(601), now), CollectionAge::Future);
        assert_eq!(classify_age(now.plus_seconds(-MAX_AGE), now), CollectionAge::Fine);
        assert_eq!(classify_age(now.plus_seconds(-MAX_AGE - 1), now), CollectionAge::Past);
        assert!(is_replay(at(1), Some(at(2))) && !is_replay(at(2), Some(at(2))));
        assert!(!is_replay(at(1), None));
    }

    #[test] // D23
    fn mass_deletion_is_more_than_half_of_over_20_pages() {
        assert!(!is_mass_deletion(20, 20));
        assert!(!is_mass_deletion(100, 50));
        assert!(is_mass_deletion(100, 51));
        assert!(is_mass_deletion(21, 21));
        assert!(is_held_back(5, 5, 0) && !is_held_back(0, 0, 0));
        assert!(is_held_back(100, 51, 49) && !is_held_back(100, 50, 50));
    }
}
