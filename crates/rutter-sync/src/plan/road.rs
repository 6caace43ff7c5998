//! The way of one section.
//!
//! Rules in this order: drop what cannot be used; see whether it must be a
//! snapshot; otherwise compare. Of all ways the one that reaches furthest wins,
//! then the cheaper one, then deltas.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rutter_page::Timestamp;
use rutter_scp::merge;

use super::offer::{Collection, Offer};
use super::{Held, Learned, Pick, Policy, Reason, Replica, Step, Way};

/// Newest snapshots that are considered to begin with.
const MOST_SNAPSHOTS: usize = 16;

/// Everything a plan is made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground<'g> {
    pub(super) now: Timestamp,
    pub(super) policy: &'g Policy,
    pub(super) offer: &'g Offer,
    pub(super) replica: &'g Replica,
    pub(super) learned: &'g Learned,
}

/// A way, how far it leads, and what it costs.
#[derive(Debug, Clone)]
struct Road {
    picks: Vec<Pick>,
    reach: Timestamp,
    cost: u64,
}

impl Road {
    /// Whether this one is to be preferred to another of its kind: it leads
    /// further, or costs less, or asks less often.
    fn is_better(&self, other: &Self) -> bool {
        let rank = |road: &Self| (road.reach, Reverse(road.cost), Reverse(road.picks.len()));
        rank(other) < rank(self)
    }
}

/// Plans one section for a replica that has `held` of it.
pub(super) fn step(ground: &Ground<'_>, section: &str, held: Option<&Held>) -> Step {
    let usable = match usable(ground, section) {
        Ok(usable) => usable,
        Err(reason) => return fallback(reason),
    };
    let snapshots: Vec<&Pick> = usable.iter().filter(|pick| pick.since.is_none()).collect();
    let deltas: Vec<&Pick> = usable.iter().filter(|pick| pick.since.is_some()).collect();
    let Some(held) = held.filter(|held| held.snapshot_at.is_some()) else {
        // Who has nothing may have a chained publisher before it: every link.
        let road = best_snapshot(ground, &snapshots, &deltas, Links::All);
        return match road {
            Some(road) => by_snapshot(road, Reason::Empty),
            None => fallback(Reason::NoSnapshot),
        };
    };
    let links = if held.is_chained { Links::All } else { Links::Cheapest };
    let newer: Vec<&Pick> = snapshots
        .iter()
        .copied()
        .filter(|pick| !merge::is_replay(pick.generated, held.snapshot_at))
        .collect();
    let by_snapshots = best_snapshot(ground, &newer, &deltas, links)
        // What is here already is not given up for something older.
        .filter(|road| held.mark <= road.reach);
    let by_deltas = run(ground.policy, held.mark, 0, &deltas, links);
    let newest = usable.iter().map(|pick| pick.generated).max().unwrap_or(held.mark);

    if ground.learned.broken.contains(section) {
        let is_new = |road: &Road| {
            road.picks.first().is_some_and(|snapshot| Some(snapshot.generated) != held.mended)
        };
        return match by_snapshots.filter(is_new) {
            Some(road) => by_snapshot(road, Reason::Broken),
            // That snapshot was tried for the same trouble; deltas as they are.
            None if held.mended.is_some() => plain(by_deltas, held),
            None => fallback(Reason::Broken),
        };
    }
    if let Some(reason) = refresh(ground, held) {
        // The same one once more tells nothing, and one that is old itself only
        // asks for the next: the newest, whatever it costs.
        let is_later = |pick: &&Pick| held.snapshot_at < Some(pick.generated);
        let later: Vec<&Pick> = newer.iter().copied().filter(is_later).collect();
        let ages = later.chunk_by(|a, b| a.generated == b.generated).rev();
        let mut roads = ages.filter_map(|age| best_snapshot(ground, age, &deltas, links));
        if let Some(road) = roads.find(|road| held.mark <= road.reach) {
            return by_snapshot(road, reason);
        }
    }
    if newest <= held.mark {
        return nothing();
    }
    match by_snapshots {
        Some(road) if by_deltas.reach < road.reach => by_snapshot(road, Reason::Gap),
        Some(road) if by_deltas.reach == road.reach && road.cost < by_deltas.cost => {
            by_snapshot(road, Reason::SnapshotCheaper)
        }
        Some(_) => deltas_or_gap(by_deltas, held, Reason::DeltasCheaper),
        None => deltas_or_gap(by_deltas, held, Reason::OnlyDeltas),
    }
}

fn deltas_or_gap(road: Road, held: &Held, reason: Reason) -> Step {
    if road.reach <= held.mark {
        return fallback(Reason::Gap);
    }
    Step { way: Way::Deltas(road.picks), reason }
}

/// Deltas of a chain that cannot be mended.
fn plain(road: Road, held: &Held) -> Step {
    if road.reach <= held.mark {
        nothing()
    } else {
        Step { way: Way::Deltas(road.picks), reason: Reason::OnlyDeltas }
    }
}

fn nothing() -> Step {
    Step { way: Way::Nothing, reason: Reason::UpToDate }
}

pub(super) fn fallback(reason: Reason) -> Step {
    Step { way: Way::Fallback, reason }
}

fn by_snapshot(road: Road, reason: Reason) -> Step {
    let mut picks = road.picks.into_iter();
    match picks.next() {
        Some(snapshot) => Step { way: Way::Snapshot(snapshot, picks.collect()), reason },
        None => fallback(Reason::NoSnapshot),
    }
}

/// Whether only a snapshot can report deletions (D27).
///
/// A section whose state is proved needs no refresh, however old its snapshot
/// is: its deltas name their removals, and the state proves that none is missing.
fn refresh(ground: &Ground<'_>, held: &Held) -> Option<Reason> {
    let snapshot_at = held.snapshot_at.filter(|_| !held.is_chained)?;
    let Policy { plain_refresh, plain_deltas, .. } = *ground.policy;
    if plain_refresh <= ground.now.seconds_since(snapshot_at) {
        return Some(Reason::RefreshByAge);
    }
    (plain_deltas <= held.deltas_since).then_some(Reason::RefreshByDeltas)
}

/// The newest snapshot of a section that can be used, for its number of pages.
pub(super) fn pages(ground: &Ground<'_>, section: &str) -> Option<u64> {
    let usable = usable(ground, section).ok()?;
    let newest = usable.iter().rev().find(|pick| pick.since.is_none())?.generated;
    let same = ground.offer.collections(section);
    same.filter(|it| it.since.is_none() && it.generated == newest).map(|it| it.pages).max()
}

/// The collections that may be asked for, oldest first, each in its smallest
/// coding; else why there are none.
fn usable(ground: &Ground<'_>, section: &str) -> Result<Vec<Pick>, Reason> {
    let Ground { now, policy, offer, learned, .. } = *ground;
    let mut found = Vec::new();
    let mut reason = Reason::NotOffered;
    for collection in offer.collections(section) {
        let age = now.seconds_since(collection.generated);
        let pick = if age < -policy.skew {
            Err(Reason::FromFuture)
        } else if policy.oldest < age {
            Err(Reason::TooOld)
        } else if collection.since.is_some_and(|since| collection.generated < since) {
            // A span that ends before it begins covers nothing.
            Err(Reason::Gap)
        } else {
            smallest(collection, policy, learned)
        };
        match pick {
            Ok(pick) => found.push((now <= collection.expires, pick)),
            Err(why) => reason = reason.max(why),
        }
    }
    // What expired is asked for only where there is nothing else (D28).
    let has_live = found.iter().any(|(is_live, _)| *is_live);
    found.retain(|(is_live, _)| *is_live || !has_live);
    if found.is_empty() {
        return Err(reason);
    }
    Ok(found.into_iter().map(|(_, pick)| pick).collect())
}

fn smallest(collection: &Collection, policy: &Policy, learned: &Learned) -> Result<Pick, Reason> {
    let fits = collection.files.iter().filter(|(_, file)| file.size <= policy.largest);
    let mut fits = fits.peekable();
    if fits.peek().is_none() {
        return Err(Reason::TooLarge);
    }
    let asked = fits.filter(|(url, _)| !learned.is_refused(url));
    let (url, file) = asked.min_by_key(|(url, file)| (file.size, *url)).ok_or(Reason::Refused)?;
    Ok(Pick {
        url: url.clone(),
        size: file.size,
        generated: collection.generated,
        since: collection.since,
    })
}

/// How deltas may be put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    /// Any gapless run: the cheapest.
    Cheapest,
    /// Each names the state it starts from: all of them, in order.
    All,
}

/// The best snapshot with the deltas after it.
fn best_snapshot(
    ground: &Ground<'_>,
    snapshots: &[&Pick],
    deltas: &[&Pick],
    links: Links,
) -> Option<Road> {
    let policy = ground.policy;
    let mut best: Option<Road> = None;
    for snapshot in snapshots.iter().rev().take(MOST_SNAPSHOTS) {
        let start = policy.cost(snapshot.size, 1);
        let Road { mut picks, reach, cost } = run(policy, snapshot.generated, start, deltas, links);
        picks.insert(0, (*snapshot).clone());
        let road = Road { picks, reach, cost };
        if best.as_ref().is_none_or(|best| road.is_better(best)) {
            best = Some(road);
        }
    }
    best
}

/// The deltas that lead furthest from a mark without a gap (D25).
fn run(policy: &Policy, mark: Timestamp, start: u64, deltas: &[&Pick], links: Links) -> Road {
    match links {
        Links::Cheapest => cheapest(policy, mark, start, deltas, Joint::Overlap),
        Links::All => {
            let every = all_links(policy, mark, start, deltas);
            // Where one is missing, a delta that begins exactly at another end
            // leads on from the state of that end.
            let newest = deltas.last().map_or(mark, |delta| delta.generated);
            if is_exact(mark, &every.picks) && newest <= every.reach {
                return every;
            }
            let exact = cheapest(policy, mark, start, deltas, Joint::Exact);
            if every.reach <= exact.reach { exact } else { every }
        }
    }
}

/// How one delta goes on from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// It begins at the other's end, or before.
    Overlap,
    /// It begins at the other's end.
    Exact,
}

fn is_exact(mark: Timestamp, picks: &[Pick]) -> bool {
    let starts = picks.iter().map(|pick| pick.since);
    let ends = std::iter::once(mark).chain(picks.iter().map(|pick| pick.generated));
    starts.zip(ends).all(|(start, end)| start == Some(end))
}

/// Takes every delta behind the mark, the tightest where two end together.
fn all_links(policy: &Policy, mark: Timestamp, start: u64, deltas: &[&Pick]) -> Road {
    let mut road = Road { picks: Vec::new(), reach: mark, cost: start };
    // In the order of their ends; where two end together, in that of their
    // beginnings.
    let mut at = 0;
    while let Some(delta) = deltas.get(at) {
        let tied = deltas.iter().skip(at).take_while(|it| it.generated == delta.generated);
        let n_tied = tied.clone().count();
        let tightest = tied
            .filter(|it| road.reach < it.generated && it.since <= Some(road.reach))
            .max_by_key(|it| (it.since, Reverse(it.size), Reverse(&it.url)));
        if let Some(delta) = tightest {
            road.reach = delta.generated;
            road.cost = road.cost.saturating_add(policy.cost(delta.size, 1));
            road.picks.push((*delta).clone());
        }
        at += n_tied;
    }
    road
}

/// The cheapest gapless run to the furthest end that can be reached.
///
/// Ends are visited in order. Where deltas may overlap, only those ends matter
/// that no later one undercuts; among them the first that lies at or behind a
/// delta's beginning is the cheapest to go on from.
fn cheapest(policy: &Policy, mark: Timestamp, start: u64, deltas: &[&Pick], joint: Joint) -> Road {
    /// An end that was reached: what it cost, in how many deltas, and by which.
    type End = (u64, usize, Option<usize>);
    let mut ends: BTreeMap<Timestamp, End> = BTreeMap::from([(mark, (start, 0, None))]);
    // Where each delta was gone on from.
    let mut before: Vec<Option<usize>> = vec![None; deltas.len()];
    let mut furthest = (mark, (start, 0, None));
    for (at, delta) in deltas.iter().enumerate() {
        let Some(since) = delta.since else { continue };
        if delta.generated <= mark {
            continue;
        }
        let from = match joint {
            Joint::Overlap => ends.range(since..delta.generated).next().map(|(_, end)| *end),
            Joint::Exact => ends.get(&since).copied(),
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
        // Ends before this one that cost more are of no use from now on.
        while joint == Joint::Overlap
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
    let mut picks = Vec::new();
    while let Some(at) = by {
        picks.extend(deltas.get(at).map(|delta| (*delta).clone()));
        by = before.get(at).copied().flatten();
    }
    picks.reverse();
    Road { picks, reach, cost }
}
