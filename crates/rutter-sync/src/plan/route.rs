//! Plans the route of one section: a sequence of deltas, or a snapshot with the deltas
//! after it.
//!
//! The planner first drops unusable files. Then it checks whether the section needs a
//! snapshot. Otherwise it compares the routes: the route that reaches the latest time wins;
//! of routes that reach the same time, the cheaper one; of routes with the same cost, the
//! one with deltas only.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rutter_page::Timestamp;
use rutter_scp::merge;

use super::offer::{OfferedCollection, PlanOffer};
use super::{
    KnownFailures, LocalSection, PlanPolicy, PlanReason, PlannedFile, ReplicaSections,
    SectionAction, SectionPlan,
};

/// Maximum number of snapshots that the planner considers, newest first.
const MOST_SNAPSHOTS: usize = 16;

/// The input of the planner for one site.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlanInput<'g> {
    pub(super) now: Timestamp,
    pub(super) policy: &'g PlanPolicy,
    pub(super) offer: &'g PlanOffer,
    pub(super) replica: &'g ReplicaSections,
    pub(super) failures: &'g KnownFailures,
}

/// A sequence of files, the time up to which they make the section complete (`reach`), and
/// their cost.
#[derive(Debug, Clone)]
struct SectionRoute {
    planned_files: Vec<PlannedFile>,
    reach: Timestamp,
    cost: u64,
}

impl SectionRoute {
    /// Returns whether this route is better than another one: it reaches a later time; or
    /// the same time at a lower cost; or the same time at the same cost with fewer files.
    fn is_better(&self, other: &Self) -> bool {
        let rank =
            |route: &Self| (route.reach, Reverse(route.cost), Reverse(route.planned_files.len()));
        rank(other) < rank(self)
    }
}

/// Plans one section; `held` is the section in the replica.
pub(super) fn step(
    input: &PlanInput<'_>,
    section: &str,
    held: Option<&LocalSection>,
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
        // The deltas may form a chain, in which each delta starts from the state of the one
        // before, so none is skipped.
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
        // A snapshot that would replace the section by an older state is not used.
        .filter(|route| held.mark <= route.reach);
    let by_deltas = run(input.policy, held.mark, 0, &deltas, links);
    let newest =
        usable.iter().map(|planned_file| planned_file.generated).max().unwrap_or(held.mark);

    if input.failures.broken_sections.contains(section) {
        let is_new = |route: &SectionRoute| {
            route
                .planned_files
                .first()
                .is_some_and(|snapshot| Some(snapshot.generated) != held.mended)
        };
        return match by_snapshots.filter(is_new) {
            Some(route) => by_snapshot(route, PlanReason::Broken),
            // The snapshot was already applied as a repair, so the deltas are applied
            // without it.
            None if held.mended.is_some() => plain(by_deltas, held),
            None => fallback(PlanReason::Broken),
        };
    }
    if let Some(reason) = refresh(input, held) {
        // The newest later snapshot is used at any cost: the same snapshot again would
        // change nothing, and an older one would soon be due for a refresh again.
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

fn deltas_or_gap(route: SectionRoute, held: &LocalSection, reason: PlanReason) -> SectionPlan {
    if route.reach <= held.mark {
        return fallback(PlanReason::Gap);
    }
    SectionPlan { way: SectionAction::Deltas(route.planned_files), reason }
}

/// Plans the deltas of a section with a wrong state that no snapshot can repair.
fn plain(route: SectionRoute, held: &LocalSection) -> SectionPlan {
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

fn by_snapshot(route: SectionRoute, reason: PlanReason) -> SectionPlan {
    let mut planned_files = route.planned_files.into_iter();
    match planned_files.next() {
        Some(snapshot) => {
            SectionPlan { way: SectionAction::Snapshot(snapshot, planned_files.collect()), reason }
        }
        None => fallback(PlanReason::NoSnapshot),
    }
}

/// Returns the reason why a section needs a snapshot to find deletions (D27); `None` if it
/// needs none.
///
/// A section with a proved state needs no such snapshot: its deltas name the removed pages,
/// and the state proves that no removal is missing.
fn refresh(input: &PlanInput<'_>, held: &LocalSection) -> Option<PlanReason> {
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

/// Returns the usable collections, oldest first, each as the file of its smallest coding;
/// or the reason why no collection is usable.
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
            // The delta ends before it starts.
            Err(PlanReason::Gap)
        } else {
            smallest(collection, policy, failures)
        };
        match planned_file {
            Ok(planned_file) => found.push((now <= collection.expires, planned_file)),
            Err(why) => reason = reason.max(why),
        }
    }
    // Expired files are used only if all files are expired (D28).
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

/// Which deltas of a section are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeltaSelection {
    /// The cheapest sequence of deltas without a gap.
    Cheapest,
    /// All deltas in order, because each delta may state the state that it starts from.
    All,
}

/// Returns the best route that starts with a snapshot; `None` if there is no snapshot.
fn best_snapshot(
    input: &PlanInput<'_>,
    snapshots: &[&PlannedFile],
    deltas: &[&PlannedFile],
    links: DeltaSelection,
) -> Option<SectionRoute> {
    let policy = input.policy;
    let mut best: Option<SectionRoute> = None;
    for snapshot in snapshots.iter().rev().take(MOST_SNAPSHOTS) {
        let start = policy.cost(snapshot.size, 1);
        let SectionRoute { mut planned_files, reach, cost } =
            run(policy, snapshot.generated, start, deltas, links);
        planned_files.insert(0, (*snapshot).clone());
        let route = SectionRoute { planned_files, reach, cost };
        if best.as_ref().is_none_or(|best| route.is_better(best)) {
            best = Some(route);
        }
    }
    best
}

/// Returns the route of deltas that starts at `mark`, has no gap, and reaches the latest
/// time (D25). `start` is the cost of the files before these deltas.
fn run(
    policy: &PlanPolicy,
    mark: Timestamp,
    start: u64,
    deltas: &[&PlannedFile],
    links: DeltaSelection,
) -> SectionRoute {
    match links {
        DeltaSelection::Cheapest => cheapest(policy, mark, start, deltas, DeltaJoin::Overlap),
        DeltaSelection::All => {
            let every = all_links(policy, mark, start, deltas);
            // If a delta of the chain is missing, a route of deltas that each start exactly
            // at the end of the one before may reach a later time.
            let newest = deltas.last().map_or(mark, |delta| delta.generated);
            if is_exact(mark, &every.planned_files) && newest <= every.reach {
                return every;
            }
            let exact = cheapest(policy, mark, start, deltas, DeltaJoin::Exact);
            if every.reach <= exact.reach { exact } else { every }
        }
    }
}

/// How a delta must continue the delta before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeltaJoin {
    /// The delta starts at or before the end of the one before.
    Overlap,
    /// The delta starts exactly at the end of the one before.
    Exact,
}

fn is_exact(mark: Timestamp, planned_files: &[PlannedFile]) -> bool {
    let starts = planned_files.iter().map(|planned_file| planned_file.since);
    let ends = std::iter::once(mark)
        .chain(planned_files.iter().map(|planned_file| planned_file.generated));
    starts.zip(ends).all(|(start, end)| start == Some(end))
}

/// Returns the route with every delta after `mark`; of deltas with the same end, the one
/// with the latest start.
fn all_links(
    policy: &PlanPolicy,
    mark: Timestamp,
    start: u64,
    deltas: &[&PlannedFile],
) -> SectionRoute {
    let mut route = SectionRoute { planned_files: Vec::new(), reach: mark, cost: start };
    // `deltas` is sorted by end, then by start.
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

/// Returns the cheapest route of deltas without a gap to the latest reachable end.
///
/// The deltas are visited in the order of their ends. If deltas may overlap, an end is
/// dropped as soon as a later end has a lower or equal cost. So the first remaining end at
/// or after the start of a delta is the cheapest one from which the delta can continue.
fn cheapest(
    policy: &PlanPolicy,
    mark: Timestamp,
    start: u64,
    deltas: &[&PlannedFile],
    joint: DeltaJoin,
) -> SectionRoute {
    /// A reachable end: cost, number of deltas, and index of the last delta of the route to
    /// it.
    type ReachedEnd = (u64, usize, Option<usize>);
    let mut ends: BTreeMap<Timestamp, ReachedEnd> = BTreeMap::from([(mark, (start, 0, None))]);
    // For each delta, the index of the delta before it in its route.
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
        // Earlier ends with a higher or equal cost are no longer needed.
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
    SectionRoute { planned_files, reach, cost }
}
