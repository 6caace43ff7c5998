//! Plans the route of one section: a run of deltas, or a snapshot with the deltas after it.
//!
//! Rules, in this order: drop unusable files; check whether only a snapshot will do;
//! otherwise compare. The route that reaches furthest wins, then the cheaper one, then
//! deltas.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rutter_page::Timestamp;
use rutter_scp::merge;

use super::offer::{OfferedCollection, PlanOffer};
use super::{
    HeldSection, KnownFailures, PlanPolicy, PlanReason, PlannedFile, ReplicaSections,
    SectionAction, SectionPlan,
};

/// Maximum number of snapshots that are considered, newest first.
const MOST_SNAPSHOTS: usize = 16;

/// Input of the planner.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlanInput<'g> {
    pub(super) now: Timestamp,
    pub(super) policy: &'g PlanPolicy,
    pub(super) offer: &'g PlanOffer,
    pub(super) replica: &'g ReplicaSections,
    pub(super) failures: &'g KnownFailures,
}

/// A sequence of files, the time it reaches, and its cost.
#[derive(Debug, Clone)]
struct Route {
    planned_files: Vec<PlannedFile>,
    reach: Timestamp,
    cost: u64,
}

impl Route {
    /// Returns whether this route is better: it reaches further, costs less, or has fewer
    /// files.
    fn is_better(&self, other: &Self) -> bool {
        let rank =
            |route: &Self| (route.reach, Reverse(route.cost), Reverse(route.planned_files.len()));
        rank(other) < rank(self)
    }
}

/// Plans one section for a replica in state `held`.
pub(super) fn step(
    input: &PlanInput<'_>,
    section: &str,
    held: Option<&HeldSection>,
) -> SectionPlan {
    let usable = match usable(input, section) {
        Ok(usable) => usable,
        Err(reason) => return fallback(reason),
    };
    let snapshots: Vec<&PlannedFile> =
        usable.iter().filter(|planned_file| planned_file.since.is_none()).collect();
    let deltas: Vec<&PlannedFile> =
        usable.iter().filter(|planned_file| planned_file.since.is_some()).collect();
    let Some(held) = held.filter(|held| held.snapshot_at.is_some()) else {
        // The publisher may be chained: take every delta.
        let route = best_snapshot(input, &snapshots, &deltas, DeltaSelection::All);
        return match route {
            Some(route) => by_snapshot(route, PlanReason::Empty),
            None => fallback(PlanReason::NoSnapshot),
        };
    };
    let links = if held.is_chained { DeltaSelection::All } else { DeltaSelection::Cheapest };
    let newer: Vec<&PlannedFile> = snapshots
        .iter()
        .copied()
        .filter(|planned_file| !merge::is_replay(planned_file.generated, held.snapshot_at))
        .collect();
    let by_snapshots = best_snapshot(input, &newer, &deltas, links)
        // Do not replace the replica's state by an older one.
        .filter(|route| held.mark <= route.reach);
    let by_deltas = run(input.policy, held.mark, 0, &deltas, links);
    let newest =
        usable.iter().map(|planned_file| planned_file.generated).max().unwrap_or(held.mark);

    if input.failures.broken_sections.contains(section) {
        let is_new = |route: &Route| {
            route
                .planned_files
                .first()
                .is_some_and(|snapshot| Some(snapshot.generated) != held.mended)
        };
        return match by_snapshots.filter(is_new) {
            Some(route) => by_snapshot(route, PlanReason::Broken),
            // The same repair was tried before; apply the deltas as they are.
            None if held.mended.is_some() => plain(by_deltas, held),
            None => fallback(PlanReason::Broken),
        };
    }
    if let Some(reason) = refresh(input, held) {
        // Applying the same snapshot again gains nothing, and an old one would be due again
        // soon: take the newest at any cost.
        let is_later =
            |planned_file: &&PlannedFile| held.snapshot_at < Some(planned_file.generated);
        let later: Vec<&PlannedFile> = newer.iter().copied().filter(is_later).collect();
        let ages = later.chunk_by(|a, b| a.generated == b.generated).rev();
        let mut routes = ages.filter_map(|age| best_snapshot(input, age, &deltas, links));
        if let Some(route) = routes.find(|route| held.mark <= route.reach) {
            return by_snapshot(route, reason);
        }
    }
    if newest <= held.mark {
        return nothing();
    }
    match by_snapshots {
        Some(route) if by_deltas.reach < route.reach => by_snapshot(route, PlanReason::Gap),
        Some(route) if by_deltas.reach == route.reach && route.cost < by_deltas.cost => {
            by_snapshot(route, PlanReason::SnapshotCheaper)
        }
        Some(_) => deltas_or_gap(by_deltas, held, PlanReason::DeltasCheaper),
        None => deltas_or_gap(by_deltas, held, PlanReason::OnlyDeltas),
    }
}

fn deltas_or_gap(route: Route, held: &HeldSection, reason: PlanReason) -> SectionPlan {
    if route.reach <= held.mark {
        return fallback(PlanReason::Gap);
    }
    SectionPlan { way: SectionAction::Deltas(route.planned_files), reason }
}

/// Plans the deltas of a chain that no snapshot can repair.
fn plain(route: Route, held: &HeldSection) -> SectionPlan {
    if route.reach <= held.mark {
        nothing()
    } else {
        SectionPlan {
            way: SectionAction::Deltas(route.planned_files),
            reason: PlanReason::OnlyDeltas,
        }
    }
}

fn nothing() -> SectionPlan {
    SectionPlan { way: SectionAction::Nothing, reason: PlanReason::UpToDate }
}

pub(super) fn fallback(reason: PlanReason) -> SectionPlan {
    SectionPlan { way: SectionAction::Fallback, reason }
}

fn by_snapshot(route: Route, reason: PlanReason) -> SectionPlan {
    let mut planned_files = route.planned_files.into_iter();
    match planned_files.next() {
        Some(snapshot) => {
            SectionPlan { way: SectionAction::Snapshot(snapshot, planned_files.collect()), reason }
        }
        None => fallback(PlanReason::NoSnapshot),
    }
}

/// Returns why a snapshot is due to find deletions (D27).
///
/// A section with a proved state needs no refresh, however old its snapshot is: its deltas
/// name the removed pages, and the state proves that none is missing.
fn refresh(input: &PlanInput<'_>, held: &HeldSection) -> Option<PlanReason> {
    let snapshot_at = held.snapshot_at.filter(|_| !held.is_chained)?;
    let PlanPolicy { plain_refresh, plain_deltas, .. } = *input.policy;
    if plain_refresh <= input.now.seconds_since(snapshot_at) {
        return Some(PlanReason::RefreshByAge);
    }
    (plain_deltas <= held.deltas_since).then_some(PlanReason::RefreshByDeltas)
}

/// Returns the number of pages of the newest usable snapshot of a section.
pub(super) fn pages(input: &PlanInput<'_>, section: &str) -> Option<u64> {
    let usable = usable(input, section).ok()?;
    let newest = usable.iter().rev().find(|planned_file| planned_file.since.is_none())?.generated;
    let same = input.offer.collections(section);
    same.filter(|it| it.since.is_none() && it.generated == newest).map(|it| it.pages).max()
}

/// Returns the usable collections, oldest first, each in its smallest coding, or the reason
/// why there are none.
fn usable(input: &PlanInput<'_>, section: &str) -> Result<Vec<PlannedFile>, PlanReason> {
    let PlanInput { now, policy, offer, failures, .. } = *input;
    let mut found = Vec::new();
    let mut reason = PlanReason::NotOffered;
    for collection in offer.collections(section) {
        let age = now.seconds_since(collection.generated);
        let planned_file = if age < -policy.skew {
            Err(PlanReason::FromFuture)
        } else if policy.oldest < age {
            Err(PlanReason::TooOld)
        } else if collection.since.is_some_and(|since| collection.generated < since) {
            // The end precedes the start.
            Err(PlanReason::Gap)
        } else {
            smallest(collection, policy, failures)
        };
        match planned_file {
            Ok(planned_file) => found.push((now <= collection.expires, planned_file)),
            Err(why) => reason = reason.max(why),
        }
    }
    // Expired files are used only if there is nothing else (D28).
    let has_live = found.iter().any(|(is_live, _)| *is_live);
    found.retain(|(is_live, _)| *is_live || !has_live);
    if found.is_empty() {
        return Err(reason);
    }
    Ok(found.into_iter().map(|(_, planned_file)| planned_file).collect())
}

fn smallest(
    collection: &OfferedCollection,
    policy: &PlanPolicy,
    failures: &KnownFailures,
) -> Result<PlannedFile, PlanReason> {
    let fits = collection.files.iter().filter(|(_, file)| file.size <= policy.largest);
    let mut fits = fits.peekable();
    if fits.peek().is_none() {
        return Err(PlanReason::TooLarge);
    }
    let asked = fits.filter(|(url, _)| !failures.is_refused(url));
    let (url, file) =
        asked.min_by_key(|(url, file)| (file.size, *url)).ok_or(PlanReason::Refused)?;
    Ok(PlannedFile {
        url: url.clone(),
        size: file.size,
        generated: collection.generated,
        since: collection.since,
    })
}

/// How deltas are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeltaSelection {
    /// The cheapest run without a gap.
    Cheapest,
    /// All of them in order, because each names the state it starts from.
    All,
}

/// Returns the best snapshot with the deltas after it.
fn best_snapshot(
    input: &PlanInput<'_>,
    snapshots: &[&PlannedFile],
    deltas: &[&PlannedFile],
    links: DeltaSelection,
) -> Option<Route> {
    let policy = input.policy;
    let mut best: Option<Route> = None;
    for snapshot in snapshots.iter().rev().take(MOST_SNAPSHOTS) {
        let start = policy.cost(snapshot.size, 1);
        let Route { mut planned_files, reach, cost } =
            run(policy, snapshot.generated, start, deltas, links);
        planned_files.insert(0, (*snapshot).clone());
        let route = Route { planned_files, reach, cost };
        if best.as_ref().is_none_or(|best| route.is_better(best)) {
            best = Some(route);
        }
    }
    best
}

/// Returns the deltas that reach furthest from a time without a gap (D25).
fn run(
    policy: &PlanPolicy,
    mark: Timestamp,
    start: u64,
    deltas: &[&PlannedFile],
    links: DeltaSelection,
) -> Route {
    match links {
        DeltaSelection::Cheapest => cheapest(policy, mark, start, deltas, DeltaJoin::Overlap),
        DeltaSelection::All => {
            let every = all_links(policy, mark, start, deltas);
            // If one is missing, a delta that starts exactly at the end of another
            // continues from its state.
            let newest = deltas.last().map_or(mark, |delta| delta.generated);
            if is_exact(mark, &every.planned_files) && newest <= every.reach {
                return every;
            }
            let exact = cheapest(policy, mark, start, deltas, DeltaJoin::Exact);
            if every.reach <= exact.reach { exact } else { every }
        }
    }
}

/// How a delta continues another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeltaJoin {
    /// It starts at the other's end or before.
    Overlap,
    /// It starts at the other's end.
    Exact,
}

fn is_exact(mark: Timestamp, planned_files: &[PlannedFile]) -> bool {
    let starts = planned_files.iter().map(|planned_file| planned_file.since);
    let ends = std::iter::once(mark)
        .chain(planned_files.iter().map(|planned_file| planned_file.generated));
    starts.zip(ends).all(|(start, end)| start == Some(end))
}

/// Takes every delta after the time; of deltas with the same end, the one that starts last.
fn all_links(policy: &PlanPolicy, mark: Timestamp, start: u64, deltas: &[&PlannedFile]) -> Route {
    let mut route = Route { planned_files: Vec::new(), reach: mark, cost: start };
    // Sorted by end, then by start.
    let mut at = 0;
    while let Some(delta) = deltas.get(at) {
        let tied = deltas.iter().skip(at).take_while(|it| it.generated == delta.generated);
        let n_tied = tied.clone().count();
        let tightest = tied
            .filter(|it| route.reach < it.generated && it.since <= Some(route.reach))
            .max_by_key(|it| (it.since, Reverse(it.size), Reverse(&it.url)));
        if let Some(delta) = tightest {
            route.reach = delta.generated;
            route.cost = route.cost.saturating_add(policy.cost(delta.size, 1));
            route.planned_files.push((*delta).clone());
        }
        at += n_tied;
    }
    route
}

/// Returns the cheapest run without a gap to the furthest reachable end.
///
/// Ends are visited in order. If deltas may overlap, only those ends matter that no later
/// end undercuts; of these, the first one at or after the start of a delta is the cheapest
/// to continue from.
fn cheapest(
    policy: &PlanPolicy,
    mark: Timestamp,
    start: u64,
    deltas: &[&PlannedFile],
    joint: DeltaJoin,
) -> Route {
    /// A reached end: its cost, its number of deltas, and the last delta.
    type ReachedEnd = (u64, usize, Option<usize>);
    let mut ends: BTreeMap<Timestamp, ReachedEnd> = BTreeMap::from([(mark, (start, 0, None))]);
    // The delta that each one continues.
    let mut before: Vec<Option<usize>> = vec![None; deltas.len()];
    let mut furthest = (mark, (start, 0, None));
    for (at, delta) in deltas.iter().enumerate() {
        let Some(since) = delta.since else { continue };
        if delta.generated <= mark {
            continue;
        }
        let from = match joint {
            DeltaJoin::Overlap => ends.range(since..delta.generated).next().map(|(_, end)| *end),
            DeltaJoin::Exact => ends.get(&since).copied(),
        };
        let Some((cost, n_deltas, by)) = from else { continue };
        let end = (cost.saturating_add(policy.cost(delta.size, 1)), n_deltas + 1, Some(at));
        if let Some(slot) = before.get_mut(at) {
            *slot = by;
        }
        let is_worse = ends
            .get(&delta.generated)
            .is_some_and(|(cost, n_deltas, _)| (*cost, *n_deltas) <= (end.0, end.1));
        if is_worse {
            continue;
        }
        // Earlier ends that cost more are no longer needed.
        while joint == DeltaJoin::Overlap
            && let Some((&time, &(cost, n_deltas, _))) = ends.range(..delta.generated).next_back()
            && (end.0, end.1) <= (cost, n_deltas)
        {
            ends.remove(&time);
        }
        ends.insert(delta.generated, end);
        if furthest.0 <= delta.generated {
            furthest = (delta.generated, end);
        }
    }
    let (reach, (cost, _, mut by)) = furthest;
    let mut planned_files = Vec::new();
    while let Some(at) = by {
        planned_files.extend(deltas.get(at).map(|delta| (*delta).clone()));
        by = before.get(at).copied().flatten();
    }
    planned_files.reverse();
    Route { planned_files, reach, cost }
}
