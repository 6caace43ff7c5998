//! Chooses whether a replica follows the section `all` or the other sections.
//!
//! The first sync makes the choice. Later syncs keep it, because another choice means that
//! all pages are downloaded again. The choice changes only if the site no longer offers the
//! chosen sections, or if the other choice has enough pages and costs less than a third.

use std::collections::{BTreeMap, BTreeSet};

use super::route::{PlanInput, fallback, pages, step};
use super::{
    ALL, LocalSection, PlanPolicy, PlanReason, SectionAction, SectionChoice, SectionPlan, SyncPlan,
};

/// Factor by which the other choice must be cheaper to replace the current one.
const CHEAPER: u64 = 3;
/// Percentage of the other choice's number of pages that a choice must have.
const ENOUGH: u64 = 98;

type SectionPlans = BTreeMap<String, SectionPlan>;

/// Chooses the sections to follow and plans them.
pub(super) fn choose_sections(input: &PlanInput<'_>) -> SyncPlan {
    let has_all = input.offer.names().any(|name| name == ALL);
    let has_sections = input.offer.names().any(|name| name != ALL);
    let Some(following) = input.replica.following else {
        return first(input, has_all, has_sections);
    };
    let other = match following {
        SectionChoice::All => SectionChoice::Sections,
        SectionChoice::Sections => SectionChoice::All,
        SectionChoice::Both => return settle(input, following, steps(input, following, true)),
    };
    let stay = steps(input, following, true);
    let is_there = |side| if side == SectionChoice::All { has_all } else { has_sections };
    if is_there(other) {
        let switch = steps(input, other, false);
        // The replica may stop following sections, which removes their pages, only if all
        // new sections are read completely, by snapshots.
        let is_whole = switch.values().all(|step| matches!(step.way, SectionAction::Snapshot(..)));
        let is_enough = covers(input, other);
        let (stay_cost, switch_cost) = (cost(input.policy, &stay), cost(input.policy, &switch));
        let is_cheaper = switch_cost.saturating_mul(CHEAPER) < stay_cost && is_enough;
        if is_whole && (!is_there(following) || is_cheaper) {
            return settle(input, other, switch);
        }
    }
    settle(input, following, stay)
}

fn first(input: &PlanInput<'_>, has_all: bool, has_sections: bool) -> SyncPlan {
    let [all, sections] =
        [SectionChoice::All, SectionChoice::Sections].map(|side| steps(input, side, true));
    let following = match (has_all, has_sections) {
        (true, false) => SectionChoice::All,
        (false, _) => SectionChoice::Sections,
        (true, true) => {
            let is_usable = all.values().all(|step| step.way != SectionAction::Fallback);
            let is_cheap = cost(input.policy, &all) <= cost(input.policy, &sections);
            let (whole, parts) = (pages(input, ALL), parts(input));
            if is_usable && is_cheap && covers(input, SectionChoice::All) {
                SectionChoice::All
            } else if is_usable && whole.is_some_and(|whole| parts < whole) {
                SectionChoice::Both
            } else {
                SectionChoice::Sections
            }
        }
    };
    let steps = match following {
        SectionChoice::All => all,
        SectionChoice::Sections => sections,
        SectionChoice::Both => all.into_iter().chain(sections).collect(),
    };
    settle(input, following, steps)
}

/// Returns the advertised number of pages of all sections except `all`.
fn parts(input: &PlanInput<'_>) -> u64 {
    let names = input.offer.names().filter(|name| *name != ALL);
    names.filter_map(|name| pages(input, name)).fold(0, u64::saturating_add)
}

/// Returns whether a choice has at least [`ENOUGH`] percent of the number of pages of the
/// other choice.
fn covers(input: &PlanInput<'_>, side: SectionChoice) -> bool {
    let (whole, parts) = (pages(input, ALL).unwrap_or(0), parts(input));
    let (own, other) = match side {
        SectionChoice::All => (whole, parts),
        SectionChoice::Sections | SectionChoice::Both => (parts, whole),
    };
    other.saturating_mul(ENOUGH) <= own.saturating_mul(100)
}

fn cost(policy: &PlanPolicy, steps: &SectionPlans) -> u64 {
    let costs = steps.values().map(|step| policy.cost(step.bytes(), step.requests()));
    costs.fold(0, u64::saturating_add)
}

/// Plans every section of a choice. If `has_replica` is false, the sections are planned for
/// an empty replica.
fn steps(input: &PlanInput<'_>, side: SectionChoice, has_replica: bool) -> SectionPlans {
    let is_of_side = |name: &str| match side {
        SectionChoice::All => name == ALL,
        SectionChoice::Sections => name != ALL,
        SectionChoice::Both => true,
    };
    let held = |name: &str| -> Option<&LocalSection> {
        input.replica.sections.get(name).filter(|_| has_replica)
    };
    let offered: BTreeSet<&str> = input.offer.names().filter(|name| is_of_side(name)).collect();
    let mut steps: SectionPlans =
        offered.iter().map(|name| ((*name).to_owned(), step(input, name, held(name)))).collect();
    // A section that is no longer offered stays in the replica, and its pages are crawled.
    let kept = input.replica.sections.keys().filter(|name| is_of_side(name) && has_replica);
    for name in kept {
        steps.entry(name.clone()).or_insert_with(|| fallback(PlanReason::NotOffered));
    }
    steps
}

/// Completes the plan for a choice. The replica stops following sections of the other
/// choice if the choice changes in this plan, or if all planned sections are complete. The
/// second case removes sections that remain after an interrupted change of the choice.
fn settle(input: &PlanInput<'_>, following: SectionChoice, steps: SectionPlans) -> SyncPlan {
    let has_changed = input.replica.following.is_some_and(|before| before != following);
    let is_kept = input.replica.following == Some(following);
    let is_here = |(name, step): (&String, &SectionPlan)| {
        step.way != SectionAction::Fallback && input.replica.sections.contains_key(name)
    };
    let is_whole = is_kept && !steps.is_empty() && steps.iter().all(is_here);
    let held = input.replica.sections.keys();
    let others = held.filter(|name| (has_changed || is_whole) && !steps.contains_key(*name));
    let unfollow = others.cloned().collect();
    let order = order(input, &steps);
    SyncPlan { following, unfollow, steps, order }
}

/// Orders the sections with files by the product of cost and update interval (SCP-185): a
/// section that costs twice as much comes first only if it is updated more than twice as
/// often. With this order, an interrupted sync has completed as many sections as possible.
fn order(input: &PlanInput<'_>, steps: &SectionPlans) -> Vec<String> {
    let busy = steps.iter().filter(|(_, step)| step.requests() != 0);
    let mut order: Vec<(u64, &String)> = busy
        .map(|(name, step)| {
            let cost = input.policy.cost(step.bytes(), step.requests());
            (cost.saturating_mul(input.offer.interval(name)), name)
        })
        .collect();
    order.sort();
    order.into_iter().map(|(_, name)| name.clone()).collect()
}
