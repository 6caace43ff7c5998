//! What holds for every plan, whatever is offered and whatever is here.
//!
//! Two kinds of input: *anything*, adverts and replicas thrown together, and
//! *worlds*, in which a publisher has a history and a visitor follows it by
//! plans alone.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rutter_page::Timestamp;
use rutter_scp::Kind;
use rutter_scp::advert::Collection as Advert;
use rutter_sync::plan::{
    ALL, Following, Held, Learned, Offer, Pick, Plan, Policy, Replica, Step, Way, plan,
};

/// `CASES=20000 cargo test -p rutter-sync` tries more.
fn cases() -> u32 {
    std::env::var("CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

fn day(n: i64) -> Timestamp {
    Timestamp::from_unix_seconds(1_790_000_000 + n * 86_400).unwrap()
}

fn advert(section: &str, since: Option<i64>, generated: i64, size: u64, name: &str) -> Advert {
    Advert {
        section: section.to_owned(),
        kind: since.map_or(Kind::Snapshot, |since| Kind::Delta { since: day(since) }),
        period: None,
        url: format!("https://h.example/{section}-{name}-{generated}.scp"),
        generated: day(generated),
        expires: day(generated + 400),
        pages: size / 100,
        size,
        checksum: None,
    }
}

/// Everything a plan is made from.
#[derive(Debug, Clone)]
struct Scene {
    now: Timestamp,
    policy: Policy,
    adverts: Vec<Advert>,
    replica: Replica,
    learned: Learned,
}

impl Scene {
    fn plan(&self) -> Plan {
        let offer = Offer::of_adverts(&self.adverts);
        plan(self.now, &self.policy, &offer, &self.replica, &self.learned)
    }

    fn cost(&self, step: &Step) -> u64 {
        self.policy.cost(step.bytes(), step.requests())
    }
}

fn some_adverts() -> impl Strategy<Value = Vec<Advert>> {
    let section = prop::sample::select(vec![ALL, "blog", "docs"]);
    let span = prop::option::weighted(0.7, 1..6_i64);
    let one = (section, span, 0..25_i64, 1..2_000_000_u64, 0..40_i64).prop_map(
        |(section, span, generated, size, life)| {
            let since = span.map(|span| generated - span);
            let name = format!("{}-{size}", span.unwrap_or(0));
            let advert = advert(section, since, generated, size, &name);
            Advert { expires: day(generated + 2 + life), ..advert }
        },
    );
    prop::collection::vec(one, 0..14)
}

fn some_held() -> impl Strategy<Value = Held> {
    let mended = prop::option::weighted(0.2, 0..20_i64);
    (0..20_i64, 0..8_i64, 0..40_u64, any::<bool>(), mended).prop_map(
        |(mark, back, deltas_since, is_chained, mended)| Held {
            mark: day(mark),
            snapshot_at: (back < 7).then(|| day(mark - back)),
            deltas_since,
            pages: 100,
            is_chained,
            mended: mended.map(day),
        },
    )
}

prop_compose! {
    fn anything()(
        adverts in some_adverts(),
        held in prop::collection::btree_map(
            prop::sample::select(vec![ALL.to_owned(), "blog".to_owned(), "docs".to_owned()]),
            some_held(), 0..4),
        following in prop::option::of(prop::sample::select(
            vec![Following::All, Following::Sections, Following::Both])),
        bad in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        broken in any::<bool>(),
        now in 0..30_i64,
        second in 0..86_400_i64,
        largest in prop::sample::select(vec![u64::MAX, 1_000_000]),
    ) -> Scene {
        let urls = bad.iter().filter(|_| !adverts.is_empty());
        let bad = urls.map(|index| index.get(&adverts).url.clone()).collect();
        let broken = if broken { BTreeSet::from(["blog".to_owned()]) } else { BTreeSet::new() };
        Scene {
            now: day(now).plus_seconds(second),
            policy: Policy { largest, ..Policy::USUAL },
            adverts,
            replica: Replica { sections: held, following },
            learned: Learned { bad, broken, ..Learned::default() },
        }
    }
}

fn is_gapless(mark: Timestamp, deltas: &[Pick]) -> bool {
    let mut mark = mark;
    deltas.iter().all(|delta| {
        let fits = delta.since <= Some(mark) && mark < delta.generated;
        mark = delta.generated;
        fits
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn ours_the_order_of_adverts_does_not_matter(
        scene in anything(), seed in prop::collection::vec(any::<u32>(), 14),
    ) {
        let mut other = scene.clone();
        let mut order: Vec<_> = other.adverts.drain(..).zip(seed).collect();
        order.sort_by_key(|(_, key)| *key);
        other.adverts = order.into_iter().map(|(advert, _)| advert).collect();
        prop_assert_eq!(scene.plan(), other.plan());
    }

    #[test] // SCP-139 D25
    fn spec_every_run_of_deltas_is_gapless(scene in anything()) {
        for (name, step) in scene.plan().steps {
            let (mark, deltas) = match &step.way {
                Way::Deltas(deltas) => (scene.replica.sections[&name].mark, deltas),
                Way::Snapshot(snapshot, then) => (snapshot.generated, then),
                Way::Nothing | Way::Fallback => continue,
            };
            prop_assert!(is_gapless(mark, deltas), "{name}: {deltas:?}");
        }
    }

    #[test] // SCP-140
    fn spec_never_dearer_than_a_snapshot_that_is_as_new(scene in anything()) {
        for (name, step) in &scene.plan().steps {
            let reach = match &step.way {
                Way::Deltas(deltas) => deltas.last().unwrap().generated,
                Way::Snapshot(snapshot, then) => {
                    then.last().unwrap_or(snapshot).generated
                }
                Way::Nothing | Way::Fallback => continue,
            };
            let alone = scene.adverts.iter().filter(|it| {
                it.section == *name && it.kind == Kind::Snapshot && it.generated == reach
                    && scene.now <= it.expires && it.size <= scene.policy.largest
                    && !scene.learned.is_refused(&it.url)
                    && scene.replica.sections.get(name).is_none_or(|held| {
                        Some(it.generated) != held.mended && held.mark <= it.generated
                    })
            });
            for alone in alone {
                let cost = scene.policy.cost(alone.size, 1);
                prop_assert!(scene.cost(step) <= cost, "{name}: {step:?}");
            }
        }
    }

    #[test] // SCP-166 D26 D28
    fn spec_what_is_dropped_is_never_asked_for(scene in anything()) {
        let plan = scene.plan();
        for (name, step) in &plan.steps {
            for pick in step.files() {
                prop_assert!(!scene.learned.is_refused(&pick.url));
                prop_assert!(pick.size <= scene.policy.largest);
                prop_assert!(pick.generated <= scene.now.plus_seconds(scene.policy.skew));
                let offered = scene.adverts.iter().filter(|it| it.url == pick.url);
                let is_expired = offered.clone().any(|it| it.expires < scene.now);
                if is_expired {
                    // Only where nothing else of the section can be had.
                    let live = scene.adverts.iter().find(|it| {
                        it.section == *name && scene.now <= it.expires
                            && it.size <= scene.policy.largest
                            && it.generated <= scene.now.plus_seconds(scene.policy.skew)
                            && !scene.learned.is_refused(&it.url)
                    });
                    prop_assert!(live.is_none(), "{pick:?} beside {live:?}");
                }
                let held = scene.replica.sections.get(name);
                let replay = held.and_then(|held| held.snapshot_at);
                let is_fresh = plan.following != scene.replica.following.unwrap_or(plan.following);
                if pick.since.is_none() && !is_fresh {
                    prop_assert!(replay <= Some(pick.generated));
                }
            }
        }
    }

    #[test]
    fn ours_a_second_changes_nothing_but_at_a_threshold(scene in anything()) {
        let later = Scene { now: scene.now.plus_seconds(1), ..scene.clone() };
        let policy = &scene.policy;
        let offered = scene.adverts.iter().flat_map(|it| [
            it.expires,
            it.generated.plus_seconds(-policy.skew - 1),
            it.generated.plus_seconds(policy.oldest),
        ]);
        let held = scene.replica.sections.values().filter_map(|held| held.snapshot_at);
        let held = held.map(|time| time.plus_seconds(policy.plain_refresh - 1));
        let is_threshold = offered.chain(held).any(|time| time == scene.now);
        prop_assert!(is_threshold || scene.plan() == later.plan());
    }

    #[test]
    fn ours_another_way_to_the_same_place_never_costs_more(
        scene in anything(), held in some_held(), at in any::<prop::sample::Index>(),
        size in 1..2_000_000_u64, back in 0..8_i64,
    ) {
        if scene.adverts.is_empty() {
            return Ok(());
        }
        // Everything can be had, one section, and a plain publisher: where
        // links are chained, each must be taken.
        let mut scene = Scene { learned: Learned::default(), policy: Policy::USUAL, ..scene };
        scene.now = day(30);
        for advert in &mut scene.adverts {
            advert.section = "blog".into();
            advert.expires = day(500);
        }
        let snapshot_at = Some(held.mark);
        let held = Held { is_chained: false, deltas_since: 0, snapshot_at, ..held };
        scene.replica.sections = BTreeMap::from([("blog".to_owned(), held)]);
        scene.replica.following = Some(Following::Sections);
        let policy = Policy { plain_refresh: i64::MAX, ..Policy::USUAL };
        scene.policy = policy;
        let before = scene.plan();
        let mut more = scene.clone();
        let end = at.get(&scene.adverts).generated;
        let end = end.seconds_since(day(0)) / 86_400;
        let since = (0 < back).then_some(end - back);
        more.adverts.push(advert("blog", since, end, size, "another"));
        let after = more.plan();
        let (before, after) = (&before.steps["blog"], &after.steps["blog"]);
        // Where there was no way before, there may be one now.
        let had_way = |step: &Step| {
            let newest = scene.adverts.iter().map(|it| it.generated).max();
            let last = step.files().last().map(|pick| pick.generated);
            step.way == Way::Nothing || last == newest
        };
        if had_way(before) {
            prop_assert!(scene.cost(after) <= scene.cost(before), "{before:?} {after:?}");
        }
    }

    #[test]
    fn ours_what_is_learned_never_brings_a_file_back(scene in anything()) {
        let mut scene = scene;
        let mut n_rounds = 0;
        // Every file that is asked for turns out to be bad.
        loop {
            let plan = scene.plan();
            let urls: Vec<String> = plan
                .steps
                .values()
                .flat_map(|step| step.files().into_iter().map(|pick| pick.url.clone()))
                .collect();
            if urls.is_empty() {
                break;
            }
            for url in urls {
                prop_assert!(scene.learned.bad.insert(url));
            }
            n_rounds += 1;
            prop_assert!(n_rounds <= scene.adverts.len());
        }
        scene.learned.hosts.insert("h.example".into());
        prop_assert!(scene.plan().total() == (0, 0));
    }

    #[test] // D24: switching sides deletes nothing that was not read anew
    fn ours_no_side_is_left_before_the_other_is_read(scene in anything()) {
        let plan = scene.plan();
        if !plan.unfollow.is_empty() {
            let is_kept = scene.replica.following == Some(plan.following);
            // What is followed is here already, or everything is read anew.
            let is_read = |(name, step): (&String, &Step)| match &step.way {
                Way::Snapshot(..) => true,
                Way::Nothing | Way::Deltas(_) => {
                    is_kept && scene.replica.sections.contains_key(name)
                }
                Way::Fallback => false,
            };
            prop_assert!(!plan.steps.is_empty() && plan.steps.iter().all(is_read), "{plan:?}");
            prop_assert!(plan.unfollow.iter().all(|name| !plan.steps.contains_key(name)));
        }
    }
}

/// A publisher with a history: what it had on each day, and what it offers.
#[derive(Debug, Clone)]
struct World {
    is_chained: bool,
    /// Pages and the day of their last edit, by day.
    days: Vec<BTreeMap<u8, i64>>,
    snapshots: BTreeSet<i64>,
    /// Deltas by their beginning and end.
    deltas: BTreeSet<(i64, i64)>,
    /// Files that cannot be had, by address.
    lost: BTreeSet<String>,
    /// Days on which the visitor comes.
    visits: BTreeSet<i64>,
}

type Day = (Vec<u8>, Vec<u8>, bool, bool, bool);

prop_compose! {
    fn world()(
        is_chained in any::<bool>(),
        days in prop::collection::vec((
            prop::collection::vec(0..12_u8, 0..4),
            prop::collection::vec(0..12_u8, 0..2),
            prop::bool::weighted(0.3),
            prop::bool::weighted(0.1),
            prop::bool::weighted(0.1),
        ), 3..16),
        merged in prop::collection::vec((0..14_i64, 2..6_i64), 0..3),
        visits in prop::collection::btree_set(0..16_i64, 1..6),
    ) -> World {
        build(is_chained, &days, &merged, visits)
    }
}

fn build(is_chained: bool, plans: &[Day], merged: &[(i64, i64)], visits: BTreeSet<i64>) -> World {
    let mut world = World {
        is_chained,
        days: Vec::new(),
        snapshots: BTreeSet::from([0]),
        deltas: BTreeSet::new(),
        lost: BTreeSet::new(),
        visits,
    };
    let mut pages: BTreeMap<u8, i64> = (0..4).map(|page| (page, 0)).collect();
    for (n, (edited, removed, has_snapshot, is_delta_lost, is_snapshot_lost)) in
        plans.iter().enumerate()
    {
        let n = i64::try_from(n).unwrap();
        if 0 < n {
            for page in removed {
                pages.remove(page);
            }
            for page in edited {
                pages.insert(*page, n);
            }
            world.deltas.insert((n - 1, n));
            if *is_delta_lost {
                world.lost.insert(delta_name(n - 1, n));
            }
        }
        if *has_snapshot {
            world.snapshots.insert(n);
            if *is_snapshot_lost {
                world.lost.insert(snapshot_name(n));
            }
        }
        world.days.push(pages.clone());
    }
    let last = i64::try_from(plans.len()).unwrap() - 1;
    for (start, length) in merged {
        if start + length <= last {
            world.deltas.insert((*start, start + length));
        }
    }
    world
}

fn snapshot_name(n: i64) -> String {
    advert("blog", None, n, 0, "s").url
}

fn delta_name(start: i64, end: i64) -> String {
    advert("blog", Some(start), end, 0, &format!("d{start}")).url
}

impl World {
    fn offer(&self, today: i64) -> Vec<Advert> {
        let snapshots = self.snapshots.iter().filter(|n| **n <= today);
        let snapshots = snapshots.map(|n| {
            let size = 10_000 * self.days[usize::try_from(*n).unwrap()].len() as u64 + 100;
            advert("blog", None, *n, size, "s")
        });
        let deltas = self.deltas.iter().filter(|(_, end)| *end <= today);
        let deltas = deltas.map(|(start, end)| {
            let size = 10_000 * self.changed(*start, *end).len() as u64 + 100;
            advert("blog", Some(*start), *end, size, &format!("d{start}"))
        });
        snapshots.chain(deltas).collect()
    }

    fn on(&self, n: i64) -> &BTreeMap<u8, i64> {
        &self.days[usize::try_from(n).unwrap()]
    }

    fn changed(&self, start: i64, end: i64) -> BTreeMap<u8, i64> {
        self.on(end).iter().filter(|(_, edit)| start < **edit).map(|(p, e)| (*p, *e)).collect()
    }
}

/// What follows a publisher by plans alone.
#[derive(Debug, Default)]
struct Visitor {
    held: Option<Held>,
    pages: BTreeMap<u8, i64>,
    /// Whether a delta was applied that did not start from our state.
    is_doubtful: bool,
}

fn number(time: Timestamp) -> i64 {
    time.seconds_since(day(0)) / 86_400
}

impl Visitor {
    fn scene(&self, world: &World, today: i64, learned: &Learned) -> Scene {
        let held = self.held.clone().map(|held| ("blog".to_owned(), held));
        Scene {
            now: day(today).plus_seconds(3600),
            policy: Policy::USUAL,
            adverts: world.offer(today),
            replica: Replica {
                sections: held.into_iter().collect(),
                following: self.held.as_ref().map(|_| Following::Sections),
            },
            learned: learned.clone(),
        }
    }

    /// Takes one file; tells what was wrong with it.
    fn take(&mut self, world: &World, pick: &Pick, learned: &mut Learned) -> bool {
        if world.lost.contains(&pick.url) {
            learned.bad.insert(pick.url.clone());
            return false;
        }
        let end = number(pick.generated);
        let Some(since) = pick.since.map(number) else {
            // A page that is later here stays; what is absent goes.
            let pages = world
                .on(end)
                .iter()
                .map(|(page, edit)| (*page, *self.pages.get(page).unwrap_or(edit).max(edit)));
            self.pages = pages.collect();
            self.is_doubtful = false;
            let mended = learned.broken.contains("blog").then_some(pick.generated);
            learned.broken.remove("blog");
            self.held = Some(Held {
                mark: pick.generated,
                snapshot_at: Some(pick.generated),
                deltas_since: 0,
                pages: self.pages.len() as u64,
                is_chained: world.is_chained,
                mended,
            });
            return true;
        };
        let is_linked = world.is_chained && self.pages == *world.on(since);
        // The second time around, the plan has nothing better (D95, D25).
        if world.is_chained && !is_linked && learned.broken.insert("blog".into()) {
            return false;
        }
        self.is_doubtful |= world.is_chained && !is_linked;
        for (page, edit) in world.changed(since, end) {
            let ours = self.pages.entry(page).or_insert(edit);
            *ours = edit.max(*ours);
        }
        if is_linked {
            self.pages.retain(|page, _| world.on(end).contains_key(page));
        }
        let held = self.held.as_mut().unwrap();
        held.mark = held.mark.max(pick.generated);
        held.deltas_since += 1;
        held.is_chained = world.is_chained;
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test] // SCP-127 SCP-130 SCP-136 SCP-168 D95
    fn spec_following_plans_leads_to_the_publishers_pages(world in world()) {
        let mut visitor = Visitor::default();
        let last = i64::try_from(world.days.len()).unwrap() - 1;
        for today in world.visits.iter().copied().filter(|visit| *visit <= last) {
            let mut learned = Learned::default();
            let mut step = None;
            // Rounds end because what is learned grows; here files fail one by one.
            for _ in 0..40 {
                let plan = visitor.scene(&world, today, &learned).plan();
                let next = plan.steps["blog"].clone();
                let mut is_done = true;
                for pick in next.files() {
                    if !visitor.take(&world, pick, &mut learned) {
                        is_done = false;
                        break;
                    }
                }
                if is_done {
                    step = Some(next);
                    break;
                }
            }
            let step = step.expect("asking again ends");
            if step.way == Way::Fallback {
                continue;
            }
            let held = visitor.held.clone().unwrap();
            let there = world.on(number(held.mark));
            if world.is_chained && !visitor.is_doubtful {
                prop_assert_eq!(&visitor.pages, there);
            } else {
                // Deltas of plain publishers do not tell deletions (SCP-137).
                for (page, edit) in there {
                    prop_assert_eq!(visitor.pages.get(page), Some(edit));
                }
                let is_fresh = matches!(&step.way, Way::Snapshot(_, then) if then.is_empty());
                if is_fresh {
                    prop_assert_eq!(&visitor.pages, there);
                }
            }
            // Done is done.
            let again = visitor.scene(&world, today, &learned);
            let is_newest = again.adverts.iter().all(|it| {
                it.generated <= held.mark || learned.is_refused(&it.url)
            });
            if is_newest {
                let again = again.plan();
                prop_assert!(again.is_nothing(), "{:?} after {:?}", again, step);
            }
        }
    }

    #[test]
    fn ours_where_everything_can_be_had_every_visit_ends_at_the_newest(world in world()) {
        let world = World { lost: BTreeSet::new(), ..world };
        let mut visitor = Visitor::default();
        let last = i64::try_from(world.days.len()).unwrap() - 1;
        for today in world.visits.iter().copied().filter(|visit| *visit <= last) {
            let mut learned = Learned::default();
            for _ in 0..3 {
                let plan = visitor.scene(&world, today, &learned).plan();
                let step = plan.steps["blog"].clone();
                let picks = step.files();
                if picks.iter().all(|pick| visitor.take(&world, pick, &mut learned)) {
                    break;
                }
            }
            prop_assert_eq!(visitor.held.as_ref().unwrap().mark, day(today));
            if world.is_chained {
                prop_assert_eq!(&visitor.pages, world.on(today));
            }
        }
    }
}
