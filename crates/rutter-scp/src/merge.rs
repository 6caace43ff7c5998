//! How a replica is kept: the rules as pure functions.
//!
//! No file, no clock, no store: whoever has pages and times asks here what to
//! do with them (D21 to D27, D95).

use rutter_page::Timestamp;

use crate::header::{Header, Kind};

/// What to do with a page that comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// Not known here: take it.
    Insert,
    /// Later than ours: take it instead.
    Replace,
    /// As old as ours or older: ours stays.
    Keep,
}

/// Decides by modification time alone; an equal time keeps the local copy.
///
/// ```
/// # use rutter_page::Timestamp;
/// # use rutter_scp::merge::{Merge, delta};
/// let noon = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
/// assert_eq!(delta(Some(noon), noon), Merge::Keep);
/// ```
pub fn delta(local: Option<Timestamp>, incoming: Timestamp) -> Merge {
    match local {
        None => Merge::Insert,
        Some(local) if local < incoming => Merge::Replace,
        Some(_) => Merge::Keep,
    }
}

/// The same for a page of a snapshot, which also wins at equal times (D23).
///
/// `same_content` tells whether both are the same line; an equal time with
/// different content is the publisher's error, and the snapshot is believed.
pub fn snapshot(local: Option<Timestamp>, incoming: Timestamp, same_content: bool) -> Merge {
    match local {
        None => Merge::Insert,
        Some(local) if local < incoming => Merge::Replace,
        Some(local) if local == incoming && !same_content => Merge::Replace,
        Some(_) => Merge::Keep,
    }
}

/// Tells whether a page that a snapshot does not have is deleted.
///
/// It stays where a delta younger than the snapshot wrote it.
pub fn is_deleted_by(snapshot_generated: Timestamp, last_delta: Option<Timestamp>) -> bool {
    last_delta.is_none_or(|delta| delta <= snapshot_generated)
}

/// What a delta can do for a replica that knows everything up to a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// It goes on where the replica stands.
    Applies,
    /// It holds nothing the replica does not have.
    Covered,
    /// Changes between the mark and the delta's `since` would be lost.
    Gap,
}

/// Compares a delta's span with the replica's high-water mark (D25).
pub fn fit(mark: Timestamp, since: Timestamp, generated: Timestamp) -> Fit {
    if generated <= mark {
        Fit::Covered
    } else if mark < since {
        Fit::Gap
    } else {
        Fit::Applies
    }
}

/// The order in which deltas are applied: by `generated`, ties by `since`,
/// then by id.
pub fn order(header: &Header) -> (Timestamp, Option<Timestamp>, String) {
    (header.generated, header.kind.since(), header.id.clone())
}

/// Tells whether a snapshot may replace what was accepted before: it must not
/// be older than the newest one (D23, D26).
pub fn is_replay(generated: Timestamp, newest_accepted: Option<Timestamp>) -> bool {
    newest_accepted.is_some_and(|newest| generated < newest)
}

/// Tells whether so many deletions at once need somebody's word: more than
/// half of a section of more than 20 pages (D23).
pub fn is_mass_deletion(pages_before: u64, deleted: u64) -> bool {
    20 < pages_before && pages_before / 2 < deleted
}

/// Tells whether a snapshot is held back until another confirms it: it has no
/// pages, or it would delete too many (D23).
pub fn is_held_back(pages_before: u64, deleted: u64, pages_after: u64) -> bool {
    (0 < pages_before && pages_after == 0) || is_mass_deletion(pages_before, deleted)
}

/// How old a collection is in a reader's eyes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// Neither too young nor too old.
    Fine,
    /// Generated later than clocks can disagree.
    Future,
    /// So old that it may be a replay.
    Past,
}

/// Clock skew that is tolerated, in seconds.
pub const SKEW: i64 = 600;
/// Age beyond which a collection is taken for a replay, in seconds.
pub const OLDEST: i64 = 400 * 86_400;

/// Compares `generated` with the clock (D26).
pub fn age(generated: Timestamp, now: Timestamp) -> Age {
    let seconds = now.seconds_since(generated);
    if seconds < -SKEW {
        Age::Future
    } else if OLDEST < seconds {
        Age::Past
    } else {
        Age::Fine
    }
}

/// Tells whether a header is a delta's.
pub fn is_delta(header: &Header) -> bool {
    matches!(header.kind, Kind::Delta { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_unix_seconds(1_700_000_000 + hour * 3600).unwrap()
    }

    #[test] // SCP-132
    fn spec_later_delta_page_replaces() {
        assert_eq!(delta(Some(at(1)), at(2)), Merge::Replace);
    }

    #[test] // SCP-133
    fn spec_equal_or_earlier_delta_page_is_ignored() {
        assert_eq!(delta(Some(at(2)), at(2)), Merge::Keep);
        assert_eq!(delta(Some(at(2)), at(1)), Merge::Keep);
    }

    #[test] // SCP-134
    fn spec_unknown_delta_page_is_inserted() {
        assert_eq!(delta(None, at(1)), Merge::Insert);
    }

    #[test] // SCP-135 D23
    fn spec_absent_from_a_newer_snapshot_is_deleted() {
        assert!(is_deleted_by(at(5), None));
        assert!(is_deleted_by(at(5), Some(at(5))));
        assert!(!is_deleted_by(at(5), Some(at(6))));
    }

    #[test] // D23
    fn ours_snapshot_wins_at_equal_times() {
        assert_eq!(snapshot(Some(at(2)), at(2), false), Merge::Replace);
        assert_eq!(snapshot(Some(at(2)), at(2), true), Merge::Keep);
        assert_eq!(snapshot(Some(at(3)), at(2), false), Merge::Keep);
        assert_eq!(snapshot(Some(at(1)), at(2), true), Merge::Replace);
        assert_eq!(snapshot(None, at(2), false), Merge::Insert);
    }

    #[test] // SCP-139 D25
    fn spec_deltas_are_used_when_they_reach_back_far_enough() {
        assert_eq!(fit(at(5), at(4), at(6)), Fit::Applies);
        assert_eq!(fit(at(5), at(5), at(6)), Fit::Applies);
        assert_eq!(fit(at(5), at(6), at(7)), Fit::Gap);
        assert_eq!(fit(at(5), at(3), at(5)), Fit::Covered);
    }

    #[test] // SCP-166 D26
    fn spec_age_is_judged_by_the_clock_it_is_given() {
        let now = at(0);
        assert_eq!(age(now.plus_seconds(600), now), Age::Fine);
        assert_eq!(age(now.plus_seconds(601), now), Age::Future);
        assert_eq!(age(now.plus_seconds(-OLDEST), now), Age::Fine);
        assert_eq!(age(now.plus_seconds(-OLDEST - 1), now), Age::Past);
        assert!(is_replay(at(1), Some(at(2))) && !is_replay(at(2), Some(at(2))));
        assert!(!is_replay(at(1), None));
    }

    #[test] // D23
    fn ours_mass_deletion_needs_a_word() {
        assert!(!is_mass_deletion(20, 20));
        assert!(!is_mass_deletion(100, 50));
        assert!(is_mass_deletion(100, 51));
        assert!(is_mass_deletion(21, 21));
        assert!(is_held_back(5, 5, 0) && !is_held_back(0, 0, 0));
        assert!(is_held_back(100, 51, 49) && !is_held_back(100, 50, 50));
    }
}
