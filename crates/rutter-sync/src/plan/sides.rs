//! `all`, or the sections: which side a replica follows.
//!
//! The side is chosen on the first visit and kept: changing it means to read
//! everything again. It is changed where the other side is all there is, or
//! costs a third.

use std::collections::{BTreeMap, BTreeSet};

use super::road::{Ground, fallback, pages, step};
use super::{ALL, Following, Held, Plan, Policy, Reason, Step, Way};

/// How many times cheaper the other side must be.
const CHEAPER: u64 = 3;
/// Per cent of the other side's pages that a side must have.
const ENOUGH: u64 = 98;

type Steps = BTreeMap<String, Step>;

/// Chooses a side and plans its sections.
pub(super) fn choose(ground: &Ground<'_>) -> Plan {
    let has_all = ground.offer.names().any(|name| name == ALL);
    let has_sections = ground.offer.names().any(|name| name != ALL);
    let Some(following) = ground.replica.following else {
        return first(ground, has_all, has_sections);
    };
    let other = match following {
        Following::All => Following::Sections,
        Following::Sections => Following::All,
        Following::Both => return settle(ground, following, steps(ground, following, true)),
    };
    let stay = steps(ground, following, true);
    let is_there = |side| if side == Following::All { has_all } else { has_sections };
    if is_there(other) {
        let leave = steps(ground, other, false);
        // Pages may go only for sections that are read completely.
        let is_whole = leave.values().all(|step| matches!(step.way, Way::Snapshot(..)));
        let is_enough = covers(ground, other);
        let (ours, theirs) = (cost(ground.policy, &stay), cost(ground.policy, &leave));
        let is_cheaper = theirs.saturating_mul(CHEAPER) < ours && is_enough;
        if is_whole && (!is_there(following) || is_cheaper) {
            return settle(ground, other, leave);
        }
    }
    settle(ground, following, stay)
}

fn first(ground: &Ground<'_>, has_all: bool, has_sections: bool) -> Plan {
    let [all, sections] =
        [Following::All, Following::Sections].map(|side| steps(ground, side, true));
    let following = match (has_all, has_sections) {
        (true, false) => Following::All,
        (false, _) => Following::Sections,
        (true, true) => {
            let is_usable = all.values().all(|step| step.way != Way::Fallback);
            let is_cheap = cost(ground.policy, &all) <= cost(ground.policy, &sections);
            let (whole, parts) = (pages(ground, ALL), parts(ground));
            if is_usable && is_cheap && covers(ground, Following::All) {
                Following::All
            } else if is_usable && whole.is_some_and(|whole| parts < whole) {
                Following::Both
            } else {
                Following::Sections
            }
        }
    };
    let steps = match following {
        Following::All => all,
        Following::Sections => sections,
        Following::Both => all.into_iter().chain(sections).collect(),
    };
    settle(ground, following, steps)
}

/// Pages of the sections, as far as they say.
fn parts(ground: &Ground<'_>) -> u64 {
    let names = ground.offer.names().filter(|name| *name != ALL);
    names.filter_map(|name| pages(ground, name)).fold(0, u64::saturating_add)
}

/// Whether a side has about as many pages as the other.
fn covers(ground: &Ground<'_>, side: Following) -> bool {
    let (whole, parts) = (pages(ground, ALL).unwrap_or(0), parts(ground));
    let (ours, theirs) = match side {
        Following::All => (whole, parts),
        Following::Sections | Following::Both => (parts, whole),
    };
    theirs.saturating_mul(ENOUGH) <= ours.saturating_mul(100)
}

fn cost(policy: &Policy, steps: &Steps) -> u64 {
    let costs = steps.values().map(|step| policy.cost(step.bytes(), step.requests()));
    costs.fold(0, u64::saturating_add)
}

/// Plans every section of a side; from nothing, or from what the replica has.
fn steps(ground: &Ground<'_>, side: Following, has_replica: bool) -> Steps {
    let is_of_side = |name: &str| match side {
        Following::All => name == ALL,
        Following::Sections => name != ALL,
        Following::Both => true,
    };
    let held =
        |name: &str| -> Option<&Held> { ground.replica.sections.get(name).filter(|_| has_replica) };
    let offered: BTreeSet<&str> = ground.offer.names().filter(|name| is_of_side(name)).collect();
    let mut steps: Steps =
        offered.iter().map(|name| ((*name).to_owned(), step(ground, name, held(name)))).collect();
    // What is here and no longer offered stays, and is looked after by its pages.
    let kept = ground.replica.sections.keys().filter(|name| is_of_side(name) && has_replica);
    for name in kept {
        steps.entry(name.clone()).or_insert_with(|| fallback(Reason::NotOffered));
    }
    steps
}

/// Drops the sections of the other side, once everything of this one is read;
/// also those that were left behind by a change which did not come to its end.
fn settle(ground: &Ground<'_>, following: Following, steps: Steps) -> Plan {
    let has_changed = ground.replica.following.is_some_and(|before| before != following);
    let is_kept = ground.replica.following == Some(following);
    let is_here = |(name, step): (&String, &Step)| {
        step.way != Way::Fallback && ground.replica.sections.contains_key(name)
    };
    let is_whole = is_kept && !steps.is_empty() && steps.iter().all(is_here);
    let held = ground.replica.sections.keys();
    let others = held.filter(|name| (has_changed || is_whole) && !steps.contains_key(*name));
    let unfollow = others.cloned().collect();
    let order = order(ground, &steps);
    Plan { following, unfollow, steps, order }
}

/// Sections with files, by the product of cost and update interval (SCP-185):
/// a section that is twice as large must be updated twice as often to come
/// first. A run that is interrupted or out of quota has the most sections then.
fn order(ground: &Ground<'_>, steps: &Steps) -> Vec<String> {
    let busy = steps.iter().filter(|(_, step)| step.requests() != 0);
    let mut order: Vec<(u64, &String)> = busy
        .map(|(name, step)| {
            let cost = ground.policy.cost(step.bytes(), step.requests());
            (cost.saturating_mul(ground.offer.interval(name)), name)
        })
        .collect();
    order.sort();
    order.into_iter().map(|(_, name)| name.clone()).collect()
}
