//! Properties of every plan, for any offer and any replica.
//!
//! There are two kinds of input: *anything*, random adverts and replicas; and *worlds*, in
//! which a publisher has a history and a client follows it by plans alone.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rutter_page::Timestamp;
use rutter_scp::CollectionKind;
use rutter_scp::advert::AdvertisedCollection as Advert;
use rutter_sync::plan::{
    ALL, KnownFailures, LocalSection, PlanOffer, PlanPolicy, PlannedFile, ReplicaSections,
    SectionAction, SectionChoice, SectionPlan, SyncPlan, plan,
};

/// `CASES=20000 cargo test -p rutter-sync` tests more cases.
fn cases() -> u32 {
    std::env::var("CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(400)
}

fn day(n: i64) -> Timestamp {
    Timestamp::from_unix_seconds(1_790_000_000 + n * 86_400).unwrap()
}

fn advert(section: &str, since: Option<i64>, generated: i64, size: u64, name: &str) -> Advert {
    Advert {
        section: section.to_owned(),
        kind: since
            .map_or(CollectionKind::Snapshot, |since| CollectionKind::Delta { since: day(since) }),
        period: None,
        url: format!("https://h.example/{section}-{name}-{generated}.scp"),
        generated: day(generated),
        expires: day(generated + 400),
        pages: size / 100,
        size,
        checksum: None,
    }
}

/// Input of the planner.
#[derive(Debug, Clone)]
struct Scene {
    now: Timestamp,
    policy: PlanPolicy,
    adverts: Vec<Advert>,
    replica: ReplicaSections,
    failures: KnownFailures,
}

impl Scene {
    fn plan(&self) -> SyncPlan {
        let offer = PlanOffer::of_adverts(&self.adverts);
        plan(self.now, &self.policy, &offer, &self.replica, &self.failures)
    }

    fn cost(&self, step: &SectionPlan) -> u64 {
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

fn some_held() -> impl Strategy<Value = LocalSection> {
    let mended = prop::option::weighted(0.2, 0..20_i64);
    (0..20_i64, 0..8_i64, 0..40_u64, any::<bool>(), mended).prop_map(
        |(mark, back, deltas_since, is_chained, mended)| LocalSection {
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
            vec![SectionChoice::All, SectionChoice::Sections, SectionChoice::Both])),
        bad in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        broken in any::<bool>(),
        now in 0..30_i64,
        second in 0..86_400_i64,
        largest in prop::sample::select(vec![u64::MAX, 1_000_000]),
    ) -> Scene {
        let urls = bad.iter().filter(|_| !adverts.is_empty());
        let files = urls.map(|index| index.get(&adverts).url.clone()).collect();
        let broken_sections = if broken { BTreeSet::from(["blog".to_owned()]) } else { BTreeSet::new() };
        Scene {
            now: day(now).plus_seconds(second),
            policy: PlanPolicy { largest, ..PlanPolicy::DEFAULT },
            adverts,
            replica: ReplicaSections { sections: held, following },
            failures: KnownFailures { files, broken_sections, ..KnownFailures::default() },
        }
    }
}

fn is_gapless(mark: Timestamp, deltas: &[PlannedFile]) -> bool {
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
    fn plan_does_not_depend_on_the_order_of_adverts(
        scene in anything(), seed in prop::collection::vec(any::<u32>(), 14),
    ) {
        let mut other = scene.clone();
        let mut order: Vec<_> = other.adverts.drain(..).zip(seed).collect();
        order.sort_by_key(|(_, key)| *key);
        other.adverts = order.into_iter().map(|(advert, _)| advert).collect();
        prop_assert_eq!(scene.plan(), other.plan());
    }

    #[test] // SCP-139 D25
    fn planned_deltas_have_no_gap(scene in anything()) {
        for (name, step) in scene.plan().steps {
            let (mark, deltas) = match &step.way {
                SectionAction::Deltas(deltas) => (scene.replica.sections[&name].mark, deltas),
                SectionAction::Snapshot(snapshot, then) => (snapshot.generated, then),
                SectionAction::Nothing | SectionAction::Fallback => continue,
            };
            prop_assert!(is_gapless(mark, deltas), "{name}: {deltas:?}");
        }
    }

    #[test] // SCP-140
    fn plan_costs_no_more_than_an_equally_new_snapshot(scene in anything()) {
        for (name, step) in &scene.plan().steps {
            let reach = match &step.way {
                SectionAction::Deltas(deltas) => deltas.last().unwrap().generated,
                SectionAction::Snapshot(snapshot, then) => {
                    then.last().unwrap_or(snapshot).generated
                }
                SectionAction::Nothing | SectionAction::Fallback => continue,
            };
            let alone = scene.adverts.iter().filter(|it| {
                it.section == *name && it.kind == CollectionKind::Snapshot && it.generated == reach
                    && scene.now <= it.expires && it.size <= scene.policy.largest
                    && !scene.failures.is_refused(&it.url)
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
    fn never_plans_an_unusable_file(scene in anything()) {
        let plan = scene.plan();
        for (name, step) in &plan.steps {
            for planned_file in step.files() {
                prop_assert!(!scene.failures.is_refused(&planned_file.url));
                prop_assert!(planned_file.size <= scene.policy.largest);
                prop_assert!(planned_file.generated <= scene.now.plus_seconds(scene.policy.skew));
                let offered = scene.adverts.iter().filter(|it| it.url == planned_file.url);
                let is_expired = offered.clone().any(|it| it.expires < scene.now);
                if is_expired {
                    // Only if there is nothing else for the section.
                    let live = scene.adverts.iter().find(|it| {
                        it.section == *name && scene.now <= it.expires
                            && it.size <= scene.policy.largest
                            && it.generated <= scene.now.plus_seconds(scene.policy.skew)
                            && !scene.failures.is_refused(&it.url)
                    });
                    prop_assert!(live.is_none(), "{planned_file:?} beside {live:?}");
                }
                let held = scene.replica.sections.get(name);
                let replay = held.and_then(|held| held.snapshot_at);
                let is_fresh = plan.following != scene.replica.following.unwrap_or(plan.following);
                if planned_file.since.is_none() && !is_fresh {
                    prop_assert!(replay <= Some(planned_file.generated));
                }
            }
        }
    }

    #[test]
    fn one_second_changes_the_plan_only_at_a_threshold(scene in anything()) {
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
    fn additional_advert_never_raises_the_cost(
        scene in anything(), held in some_held(), at in any::<prop::sample::Index>(),
        size in 1..2_000_000_u64, back in 0..8_i64,
    ) {
        if scene.adverts.is_empty() {
            return Ok(());
        }
        // One section without failures, of a plain publisher: for a chained one, every
        // delta must be applied.
        let mut scene = Scene { failures: KnownFailures::default(), policy: PlanPolicy::DEFAULT, ..scene };
        scene.now = day(30);
        for advert in &mut scene.adverts {
            advert.section = "blog".into();
            advert.expires = day(500);
        }
        let snapshot_at = Some(held.mark);
        let held = LocalSection { is_chained: false, deltas_since: 0, snapshot_at, ..held };
        scene.replica.sections = BTreeMap::from([("blog".to_owned(), held)]);
        scene.replica.following = Some(SectionChoice::Sections);
        let policy = PlanPolicy { plain_refresh: i64::MAX, ..PlanPolicy::DEFAULT };
        scene.policy = policy;
        let before = scene.plan();
        let mut more = scene.clone();
        let end = at.get(&scene.adverts).generated;
        let end = end.seconds_since(day(0)) / 86_400;
        let since = (0 < back).then_some(end - back);
        more.adverts.push(advert("blog", since, end, size, "another"));
        let after = more.plan();
        let (before, after) = (&before.steps["blog"], &after.steps["blog"]);
        // A section without a route before may have one now.
        let had_way = |step: &SectionPlan| {
            let newest = scene.adverts.iter().map(|it| it.generated).max();
            let last = step.files().last().map(|planned_file| planned_file.generated);
            step.way == SectionAction::Nothing || last == newest
        };
        if had_way(before) {
            prop_assert!(scene.cost(after) <= scene.cost(before), "{before:?} {after:?}");
        }
    }

    #[test]
    fn planning_terminates_as_failures_grow(scene in anything()) {
        let mut scene = scene;
        let mut n_rounds = 0;
        // Every requested file fails.
        loop {
            let plan = scene.plan();
            let urls: Vec<String> = plan
                .steps
                .values()
                .flat_map(|step| step.files().into_iter().map(|planned_file| planned_file.url.clone()))
                .collect();
            if urls.is_empty() {
                break;
            }
            for url in urls {
                prop_assert!(scene.failures.files.insert(url));
            }
            n_rounds += 1;
            prop_assert!(n_rounds <= scene.adverts.len());
        }
        scene.failures.hosts.insert("h.example".into());
        prop_assert!(scene.plan().total() == (0, 0));
    }

    #[test] // D24
    fn unfollows_sections_only_after_the_others_are_read(scene in anything()) {
        let plan = scene.plan();
        if !plan.unfollow.is_empty() {
            let is_kept = scene.replica.following == Some(plan.following);
            // The followed sections are here already, or everything is read again.
            let is_read = |(name, step): (&String, &SectionPlan)| match &step.way {
                SectionAction::Snapshot(..) => true,
                SectionAction::Nothing | SectionAction::Deltas(_) => {
                    is_kept && scene.replica.sections.contains_key(name)
                }
                SectionAction::Fallback => false,
            };
            prop_assert!(!plan.steps.is_empty() && plan.steps.iter().all(is_read), "{plan:?}");
            prop_assert!(plan.unfollow.iter().all(|name| !plan.steps.contains_key(name)));
        }
    }
}

/// A publisher with a history: its pages on each day, and its offer.
#[derive(Debug, Clone)]
struct World {
    is_chained: bool,
    /// Pages with the day of their last edit, by day.
    days: Vec<BTreeMap<u8, i64>>,
    snapshots: BTreeSet<i64>,
    /// Deltas by start and end.
    deltas: BTreeSet<(i64, i64)>,
    /// URLs of files that fail.
    lost: BTreeSet<String>,
    /// Days on which the client syncs.
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

/// A client that follows a publisher by plans alone.
#[derive(Debug, Default)]
struct Client0 {
    held: Option<LocalSection>,
    pages: BTreeMap<u8, i64>,
    /// Whether a delta was applied that did not start from the client's state.
    is_doubtful: bool,
}

fn number(time: Timestamp) -> i64 {
    time.seconds_since(day(0)) / 86_400
}

impl Client0 {
    fn scene(&self, world: &World, today: i64, failures: &KnownFailures) -> Scene {
        let held = self.held.clone().map(|held| ("blog".to_owned(), held));
        Scene {
            now: day(today).plus_seconds(3600),
            policy: PlanPolicy::DEFAULT,
            adverts: world.offer(today),
            replica: ReplicaSections {
                sections: held.into_iter().collect(),
                following: self.held.as_ref().map(|_| SectionChoice::Sections),
            },
            failures: failures.clone(),
        }
    }

    /// Applies one file and returns what is wrong with it.
    fn take(
        &mut self,
        world: &World,
        planned_file: &PlannedFile,
        failures: &mut KnownFailures,
    ) -> bool {
        if world.lost.contains(&planned_file.url) {
            failures.files.insert(planned_file.url.clone());
            return false;
        }
        let end = number(planned_file.generated);
        let Some(since) = planned_file.since.map(number) else {
            // A page with a later date stays; a missing one is removed.
            let pages = world
                .on(end)
                .iter()
                .map(|(page, edit)| (*page, *self.pages.get(page).unwrap_or(edit).max(edit)));
            self.pages = pages.collect();
            self.is_doubtful = false;
            let mended =
                failures.broken_sections.contains("blog").then_some(planned_file.generated);
            failures.broken_sections.remove("blog");
            self.held = Some(LocalSection {
                mark: planned_file.generated,
                snapshot_at: Some(planned_file.generated),
                deltas_since: 0,
                pages: self.pages.len() as u64,
                is_chained: world.is_chained,
                mended,
            });
            return true;
        };
        let is_linked = world.is_chained && self.pages == *world.on(since);
        // At the second attempt, the plan has nothing better (D95, D25).
        if world.is_chained && !is_linked && failures.broken_sections.insert("blog".into()) {
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
        held.mark = held.mark.max(planned_file.generated);
        held.deltas_since += 1;
        held.is_chained = world.is_chained;
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test] // SCP-127 SCP-130 SCP-136 SCP-168 D95
    fn executing_plans_reproduces_the_publishers_pages(world in world()) {
        let mut syncer = Client0::default();
        let last = i64::try_from(world.days.len()).unwrap() - 1;
        for today in world.visits.iter().copied().filter(|sync| *sync <= last) {
            let mut failures = KnownFailures::default();
            let mut step = None;
            // The loop ends because failures grow; here files fail one by one.
            for _ in 0..40 {
                let plan = syncer.scene(&world, today, &failures).plan();
                let next = plan.steps["blog"].clone();
                let mut is_done = true;
                for planned_file in next.files() {
                    if !syncer.take(&world, planned_file, &mut failures) {
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
            if step.way == SectionAction::Fallback {
                continue;
            }
            let held = syncer.held.clone().unwrap();
            let there = world.on(number(held.mark));
            if world.is_chained && !syncer.is_doubtful {
                prop_assert_eq!(&syncer.pages, there);
            } else {
                // Deltas of plain publishers report no removals (SCP-137).
                for (page, edit) in there {
                    prop_assert_eq!(syncer.pages.get(page), Some(edit));
                }
                let is_fresh = matches!(&step.way, SectionAction::Snapshot(_, then) if then.is_empty());
                if is_fresh {
                    prop_assert_eq!(&syncer.pages, there);
                }
            }
            // A second plan has nothing to do.
            let again = syncer.scene(&world, today, &failures);
            let is_newest = again.adverts.iter().all(|it| {
                it.generated <= held.mark || failures.is_refused(&it.url)
            });
            if is_newest {
                let again = again.plan();
                prop_assert!(again.is_nothing(), "{:?} after {:?}", again, step);
            }
        }
    }

    #[test]
    fn every_sync_reaches_the_newest_state_without_failures(world in world()) {
        let world = World { lost: BTreeSet::new(), ..world };
        let mut syncer = Client0::default();
        let last = i64::try_from(world.days.len()).unwrap() - 1;
        for today in world.visits.iter().copied().filter(|sync| *sync <= last) {
            let mut failures = KnownFailures::default();
            for _ in 0..3 {
                let plan = syncer.scene(&world, today, &failures).plan();
                let step = plan.steps["blog"].clone();
                let planned_files = step.files();
                if planned_files.iter().all(|planned_file| syncer.take(&world, planned_file, &mut failures)) {
                    break;
                }
            }
            prop_assert_eq!(syncer.held.as_ref().unwrap().mark, day(today));
            if world.is_chained {
                prop_assert_eq!(&syncer.pages, world.on(today));
            }
        }
    }
}
