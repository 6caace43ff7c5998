//! Decides which collections are due, superseded and expired (D25 to D29, D95).
//!
//! Pure functions of the tally of a section, the publication record and the time.

use rutter_page::Timestamp;
use rutter_scp::StateChain;
use rutter_site::{Publication, PublishedCollection};

use crate::plan::BuildPlan;
use crate::stages::read::SectionTally;

/// Number of deltas of a section after which a snapshot is due.
const MAX_DELTAS: usize = 30;
/// Number of days after which a collection expires.
const OFFERED_DAYS: i64 = 400;
/// Number of days after which an unchanged snapshot is written again (D28).
const STALE_DAYS: i64 = 180;
const DAY: i64 = 86_400;
/// Maximum size in bytes of a snapshot that is written again after each removal of a page.
const CHEAP_SNAPSHOT_BYTES: u64 = 1 << 20;
/// Maximum total size in bytes of the removed URLs in the first line of a delta (D95).
const MAX_REMOVED_BYTES: usize = 800_000;

/// Which collections a build must write for a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DueCollections {
    pub(crate) snapshot: bool,
    pub(crate) delta: bool,
}

/// Decides which collections of a section are due, by its changes and its published collections.
pub(crate) fn due_collections(
    tally: &SectionTally,
    published: &Publication,
    plan: &BuildPlan,
    stamp: Timestamp,
) -> DueCollections {
    let Some(last) = published.last(&tally.name) else {
        return DueCollections { snapshot: tally.pages != 0, delta: false };
    };
    let Some(snapshot) = published.last_snapshot(&tally.name) else {
        return DueCollections { snapshot: true, delta: false };
    };
    // Readers cannot apply a delta that starts from a state which was never published.
    let is_chained = last.state() == Some(tally.before);
    let n_bytes: usize = tally.removed.iter().map(|url| url.len() + 3).sum();
    let fits = tally.removed.len() <= StateChain::MAX_REMOVED
        && n_bytes <= MAX_REMOVED_BYTES
        && (plan.layers.chain || tally.removed.is_empty());
    let age = stamp.seconds_since(snapshot.generated);
    let deltas = published.deltas(&tally.name);
    if !tally.is_changed() && is_chained {
        let is_late = !deltas.is_empty() && plan.update.seconds() <= age;
        return DueCollections {
            snapshot: is_late || tally.holds_excluded || STALE_DAYS * DAY < age,
            delta: false,
        };
    }
    let bytes = |one: &PublishedCollection| one.files.first().map_or(0, |file| file.bytes);
    let delta_bytes: u64 = deltas.iter().map(|delta| bytes(delta)).sum();
    // Readers without support for removals in deltas learn of a removal only from a snapshot
    // (SCP-137), and a small snapshot costs little.
    let is_cheap = bytes(snapshot) <= CHEAP_SNAPSHOT_BYTES;
    let is_due = plan.update.seconds() <= age
        || (is_cheap && !tally.removed.is_empty())
        || tally.holds_excluded
        || MAX_DELTAS <= deltas.len()
        || bytes(snapshot) < 2 * delta_bytes
        || !fits
        || !is_chained;
    DueCollections { snapshot: is_due, delta: is_chained && fits }
}

/// Returns the time when a collection that is written now expires.
pub(crate) fn expiry(plan: &BuildPlan, stamp: Timestamp) -> Timestamp {
    stamp.plus_seconds((2 * plan.update.seconds()).max(OFFERED_DAYS * DAY))
}

/// Minimum number of days that a superseded collection stays published.
const GRACE_DAYS: i64 = 7;

/// Marks collections as superseded. They stay published for two update intervals, at least seven
/// days, and their `expires` is set accordingly.
pub(crate) fn supersede(
    published: &mut Publication,
    plan: &BuildPlan,
    stamp: Timestamp,
    is_superseded: &dyn Fn(&PublishedCollection) -> bool,
) {
    let until = stamp.plus_seconds((2 * plan.update.seconds()).max(GRACE_DAYS * DAY));
    for one in &mut published.collections {
        if one.superseded.is_none() && is_superseded(one) {
            one.superseded = Some(stamp);
            one.expires = one.expires.min(until);
        }
    }
}

/// Removes superseded collections that have expired from the publication record. Returns whether
/// there were any.
pub(crate) fn expire(published: &mut Publication, plan: &BuildPlan) -> bool {
    let n_before = published.collections.len();
    let is_over = |one: &PublishedCollection| one.superseded.is_some() && one.expires < plan.now;
    published.collections.retain(|one| !is_over(one));
    published.collections.len() != n_before
}
