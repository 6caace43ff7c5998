//! The contract: one test suite that runs for every kind of store.

use rutter_page::Timestamp;
use rutter_scp::MassDeletionPolicy;
use rutter_store::prelude::*;
use rutter_store::{
    ChangeCursor, ChangeKind, CheckDepth, ClaimedState, CommitError, CommitOptions, LeaseError,
    MemoryStore, PageRow, PageSelection, QueryError, Quota, RemovalCause, SqliteStore, StageError,
    StagedPage, StagingBuffer, StagingMode, StoreOptions, WithheldReason, WriteError,
};

use crate::site::{
    Draft, ORIGIN, add_all, all_lines, at, begin, claim, keys, publisher, put, state_of, url,
};
use crate::{records, site_data, unfollow};

/// A function that creates an empty store for a test.
type Test = fn(&dyn Store);

const SUITE: &[(&str, Test)] = &[
    ("two stagings at once", two_stagings_at_once),
    ("nothing is seen before the commit", staged_pages_are_invisible_before_the_commit),
    ("delta pages win by being later", delta_pages_replace_only_older_versions),
    ("a snapshot deletes what it lacks", snapshot_deletes_missing_pages),
    ("later deltas protect pages", later_deltas_protect_pages),
    ("what is known writes nothing", unchanged_pages_write_nothing),
    ("sections overlap", sections_overlap),
    ("states are proved", states_are_proved),
    ("states of overlapping sections", states_of_overlapping_sections),
    ("removals", removals),
    ("mass deletions are held back", mass_deletions_are_held_back),
    ("withheld pages", withheld_pages),
    ("consent is taken back", withdrawn_consent_deletes_content),
    ("quotas", quotas),
    ("a page that comes twice", duplicate_pages),
    ("replays", replays),
    ("leases exclude and fence", leases_exclude_other_writers_and_fence),
    ("history and cursors", history_and_cursors),
    ("unfollowed sections", unfollowed_sections),
    ("unfollowed sections are guarded", unfollow::is_guarded),
    ("visits take what differs", visits_replace_differing_pages),
    ("counts of the receipt", counts_of_the_receipt),
    ("validators and the ledger", site_data::validators_and_download_records),
    ("page snapshots are deleted with the content", site_data::page_snapshots),
    ("site states", site_data::site_states),
    ("arc entries", site_data::arc_entries),
    ("entities", site_data::entities),
    ("search", site_data::search),
    ("search of one", site_data::search_of_one_publisher),
    ("search of a sentence", records::sentence_queries_find_pages),
    ("visits", records::visits),
    ("erasing a site", records::erasing_a_site),
    ("questions about the whole", site_data::queries_about_a_whole_publisher),
    ("forgetting a publisher", site_data::forgetting_a_publisher),
    ("listing in pieces", site_data::listing_in_batches),
];

#[test] // SCP-030 SCP-052 SCP-131 SCP-132 SCP-133 SCP-134 SCP-135 SCP-154 SCP-155 SCP-166 SCP-184
fn memory_store_fulfils_the_contract() {
    for (name, test) in SUITE {
        println!("{name}");
        test(&MemoryStore::new());
    }
}

#[test] // SCP-030 SCP-052 SCP-131 SCP-132 SCP-133 SCP-134 SCP-135 SCP-154 SCP-155 SCP-166 SCP-184
fn sqlite_store_fulfils_the_contract() {
    run_sqlite(StagingBuffer::DEFAULT);
}

#[test]
fn sqlite_store_fulfils_the_contract_with_small_batches() {
    run_sqlite(StagingBuffer { held: 0, held_bytes: 0, batch: 2 });
}

fn run_sqlite(tuning: StagingBuffer) {
    let folder = tempfile::tempdir().unwrap();
    for (n, (name, test)) in SUITE.iter().enumerate() {
        println!("{name}");
        let path = folder.path().join(format!("{n}.db"));
        let options = StoreOptions { tuning, ..StoreOptions::default() };
        let store = SqliteStore::open(&path, options.clone()).unwrap();
        test(&store);
        drop(store);
        // The file is valid after every test, also when it is opened again.
        let store = SqliteStore::open(&path, options).unwrap();
        assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0], "{name}");
    }
}

fn page(store: &dyn Store, n: usize) -> Option<PageRow> {
    store.page(&url(n)).unwrap()
}

fn is_here(store: &dyn Store, draft: &Draft) -> bool {
    store.line(&draft.key).unwrap().as_ref() == Some(&draft.line)
}

pub(crate) fn drafts(hour: i64, numbers: impl IntoIterator<Item = usize>) -> Vec<Draft> {
    numbers.into_iter().map(|n| Draft::new(n, hour, "calm")).collect()
}

// Two publishers can be written at the same time.
fn two_stagings_at_once(store: &dyn Store) {
    let [one, two] = ["https://one.example", "https://two.example"].map(|origin| {
        let publisher = store.register(origin, &[]).unwrap();
        (publisher, store.lease(publisher, at(0), at(100)).unwrap())
    });
    let mut first = store.stage(&one.1, begin("all", StagingMode::Snapshot, 5)).unwrap();
    let mut second = store.stage(&two.1, begin("all", StagingMode::Snapshot, 6)).unwrap();
    let draft = |origin: &str, n: usize| {
        let draft = Draft::new(n, 1, origin);
        Draft {
            key: draft.key.replace(ORIGIN, origin),
            line: draft.line.replace(ORIGIN, origin),
            ..draft
        }
    };
    for n in 0..50 {
        draft("https://one.example", n).add(&mut *first);
        draft("https://two.example", n).add(&mut *second);
    }
    // Both have a page with the same URL: each keeps its own version.
    Draft::new(7, 1, "one says").add(&mut *first);
    Draft::new(7, 1, "two says").add(&mut *second);
    second.commit(&CommitOptions::plain()).unwrap();
    assert_eq!(all_lines(store).len(), 51);
    first.commit(&CommitOptions::plain()).unwrap();
    assert_eq!(all_lines(store).len(), 102);
    for (id, says) in [(one.0, "one says"), (two.0, "two says")] {
        let selection = PageSelection { publisher: Some(id), ..PageSelection::default() };
        let lines = store.lines(&selection, None, 100).unwrap();
        assert!(
            lines.into_iter().flatten().any(|(row, line)| row.url == url(7) && line.contains(says))
        );
    }
    // Removing it from one publisher keeps the other's version.
    let mut third = store.stage(&one.1, begin("all", StagingMode::Delta, 7)).unwrap();
    third.remove(&url(7), RemovalCause::Removed).unwrap();
    third.commit(&CommitOptions::plain()).unwrap();
    assert!(store.line(&url(7)).unwrap().unwrap().contains("two says"));
}

// SCP-030: pages of a collection that failed verification are never used.
fn staged_pages_are_invisible_before_the_commit(store: &dyn Store) {
    let (_, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..30)).unwrap();
    let before = (all_lines(store), store.cursor().unwrap());
    let mut staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 2)).unwrap();
    for draft in drafts(2, 5..40) {
        draft.add(&mut *staging);
        assert!(page(store, 39).is_none());
    }
    let outlook = staging.preview(None).unwrap();
    assert_eq!((outlook.added, outlook.changed, outlook.removed), (10, 25, 5));
    assert_eq!((outlook.before, outlook.after), (30, 35));
    assert_eq!((all_lines(store), store.cursor().unwrap()), before);
    drop(staging);
    assert_eq!((all_lines(store), store.cursor().unwrap()), before);
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
    put(store, &lease, begin("all", StagingMode::Snapshot, 2), &drafts(2, 5..40)).unwrap();
    assert_eq!(all_lines(store).len(), 35);
}

// SCP-131 SCP-132 SCP-133 SCP-134
fn delta_pages_replace_only_older_versions(store: &dyn Store) {
    let (_, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 5), &drafts(3, 0..4)).unwrap();
    let delta = [
        Draft::new(0, 4, "later"),
        Draft::new(1, 3, "equal"),
        Draft::new(2, 2, "earlier"),
        Draft::new(9, 1, "unknown"),
    ];
    let outlook = put(store, &lease, begin("all", StagingMode::Delta, 6), &delta).unwrap();
    assert_eq!((outlook.added, outlook.changed, outlook.kept), (1, 1, 2));
    let here = delta.each_ref().map(|draft| is_here(store, draft));
    assert_eq!(here, [true, false, false, true]);
}

// SCP-135 D23: a snapshot also replaces versions of equal time.
fn snapshot_deletes_missing_pages(store: &dyn Store) {
    let (id, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 5), &drafts(3, 0..10)).unwrap();
    let next = [
        Draft::new(0, 3, "equal, other words"),
        Draft::new(1, 2, "older"),
        Draft::new(2, 3, "calm"),
    ];
    let rest = drafts(3, 3..8);
    let outlook =
        put(store, &lease, begin("all", StagingMode::Snapshot, 6), &[&next[..], &rest].concat())
            .unwrap();
    assert_eq!((outlook.removed, outlook.changed, outlook.kept), (2, 1, 7));
    assert!(is_here(store, &next[0]) && !is_here(store, &next[1]));
    assert!(page(store, 8).is_none() && page(store, 9).is_none());
    let tombstones = store.tombstones(id, None, 10).unwrap();
    assert_eq!(tombstones.len(), 2);
    assert_eq!((tombstones[0].url.as_str(), tombstones[0].cause), (&*url(8), RemovalCause::Absent));
    assert_eq!((tombstones[0].at, tombstones[0].modified), (at(6), at(3)));
    // A page that exists again has no tombstone.
    put(store, &lease, begin("all", StagingMode::Delta, 7), &drafts(7, [8])).unwrap();
    assert_eq!(store.tombstones(id, None, 10).unwrap().len(), 1);
    let kinds: Vec<_> = store.changes_since(None, 100).unwrap().events;
    let kinds: Vec<_> = kinds.iter().filter(|it| it.url == url(8)).map(|it| it.kind).collect();
    assert_eq!(kinds, [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Added]);
}

// D23 (3)
fn later_deltas_protect_pages(store: &dyn Store) {
    let (id, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..3)).unwrap();
    put(store, &lease, begin("all", StagingMode::Delta, 5), &drafts(5, [7])).unwrap();
    put(store, &lease, begin("all", StagingMode::Delta, 9), &drafts(9, [8])).unwrap();
    // The snapshot was generated between the two deltas.
    put(store, &lease, begin("all", StagingMode::Snapshot, 6), &drafts(0, 0..3)).unwrap();
    assert_eq!(keys(store, id, "all"), [0, 1, 2, 8].map(url));
    let section = &store.sections(id).unwrap()[0];
    assert_eq!((section.mark, section.snapshot_at, section.deltas_since), (at(6), Some(at(6)), 0));
    // A snapshot that claims a state is applied exactly.
    let all = drafts(0, 0..3);
    let mut staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 6)).unwrap();
    add_all(&all, &mut *staging);
    staging.commit(&CommitOptions { claim: Some(claim(&all)), ..CommitOptions::plain() }).unwrap();
    assert_eq!(keys(store, id, "all"), [0, 1, 2].map(url));
}

fn unchanged_pages_write_nothing(store: &dyn Store) {
    let (_, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..40)).unwrap();
    let before = (store.cursor().unwrap(), page(store, 3).unwrap());
    let outlook =
        put(store, &lease, begin("all", StagingMode::Snapshot, 2), &drafts(0, 0..40)).unwrap();
    assert_eq!((outlook.added, outlook.changed, outlook.kept, outlook.removed), (0, 0, 40, 0));
    assert_eq!((store.cursor().unwrap(), page(store, 3).unwrap()), before);
    let mut edited = drafts(0, 0..40);
    edited[3] = Draft::new(3, 2, "rough");
    put(store, &lease, begin("all", StagingMode::Snapshot, 3), &edited).unwrap();
    let row = page(store, 3).unwrap();
    assert_eq!((row.first_seen, row.changed, row.modified), (at(1), at(3), at(2)));
    assert_eq!(store.cursor().unwrap().seq, before.0.seq + 1);
}

// D24: a page moves, is in two sections, and is deleted when it is in none.
fn sections_overlap(store: &dyn Store) {
    let (id, lease) = publisher(store);
    put(store, &lease, begin("blog", StagingMode::Snapshot, 1), &drafts(0, [1, 2])).unwrap();
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, [1, 2, 3])).unwrap();
    assert_eq!(all_lines(store).len(), 3);
    // Equal `modified`: the content is kept, and the membership is added.
    put(store, &lease, begin("blog", StagingMode::Delta, 2), &drafts(0, [3])).unwrap();
    assert_eq!(keys(store, id, "blog"), [1, 2, 3].map(url));
    assert_eq!(store.sections_of(id, &url(3)).unwrap(), ["all", "blog"]);
    put(store, &lease, begin("all", StagingMode::Snapshot, 3), &drafts(0, [1, 2])).unwrap();
    assert!(page(store, 3).is_some());
    assert_eq!(store.sections_of(id, &url(3)).unwrap(), ["blog"]);
    put(store, &lease, begin("blog", StagingMode::Snapshot, 3), &drafts(0, [1, 2])).unwrap();
    assert!(page(store, 3).is_none());
    let names: Vec<_> = store.sections(id).unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["all", "blog"]);
}

// D95: a staging with a different state is never committed.
fn states_are_proved(store: &dyn Store) {
    let (id, lease) = publisher(store);
    let mut all = drafts(0, 0..12);
    let mut staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 1)).unwrap();
    add_all(&all, &mut *staging);
    assert_eq!(staging.preview(Some(&claim(&all))).unwrap().state, state_of(&all));
    staging.commit(&CommitOptions { claim: Some(claim(&all)), ..CommitOptions::plain() }).unwrap();
    let section = store.sections(id).unwrap().remove(0);
    assert!(section.is_proved && section.state == state_of(&all) && section.pages == 12);

    let changed = Draft::new(4, 2, "rough");
    all[4] = changed.clone();
    all.remove(0);
    for wrong in [true, false] {
        let mut staging = store.stage(&lease, begin("all", StagingMode::Delta, 2)).unwrap();
        changed.add(&mut *staging);
        staging.remove(&url(0), RemovalCause::Removed).unwrap();
        let pages = all.len() as u64 + u64::from(wrong);
        let claim = Some(ClaimedState { state: state_of(&all), pages });
        let done = staging.commit(&CommitOptions { claim, ..CommitOptions::plain() });
        assert_eq!(matches!(done, Err(CommitError::State { .. })), wrong);
        assert_eq!(page(store, 0).is_some(), wrong);
    }
    assert_eq!(store.sections(id).unwrap()[0].state, state_of(&all));
    // A delta without a claim leaves an unproved state.
    put(store, &lease, begin("all", StagingMode::Delta, 3), &drafts(0, [20])).unwrap();
    assert!(!store.sections(id).unwrap()[0].is_proved);
}

// D95: pages of one section do not change the state of another.
fn states_of_overlapping_sections(store: &dyn Store) {
    let (id, lease) = publisher(store);
    let old = drafts(0, 0..3);
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &old).unwrap();
    put(store, &lease, begin("blog", StagingMode::Snapshot, 1), &old[..1]).unwrap();
    let new = Draft::new(0, 5, "new");
    put(store, &lease, begin("blog", StagingMode::Delta, 5), std::slice::from_ref(&new)).unwrap();
    let state = |name: &str| {
        let sections = store.sections(id).unwrap();
        sections.into_iter().find(|section| section.name == name).unwrap().state
    };
    assert!(is_here(store, &new));
    assert_eq!((state("all"), state("blog")), (state_of(&old), state_of([&new])));
    // `all` delivers the same version: only its membership is written.
    let cursor = store.cursor().unwrap();
    put(store, &lease, begin("all", StagingMode::Delta, 5), std::slice::from_ref(&new)).unwrap();
    assert_eq!(state("all"), state_of([&new, &old[1], &old[2]]));
    assert_eq!(store.cursor().unwrap(), cursor);
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
}

fn removals(store: &dyn Store) {
    let (id, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..30)).unwrap();
    let mut staging = store.stage(&lease, begin("all", StagingMode::Delta, 2)).unwrap();
    Draft::new(5, 2, "changed and removed").add(&mut *staging);
    Draft::new(99, 2, "new and removed").add(&mut *staging);
    for n in [3, 5, 99, 500] {
        staging.remove(&url(n), RemovalCause::Removed).unwrap();
    }
    let outlook = staging.preview(None).unwrap();
    assert_eq!((outlook.removed, outlook.added, outlook.after), (2, 0, 28));
    staging.commit(&CommitOptions::plain()).unwrap();
    assert_eq!(keys(store, id, "all").len(), 28);
    let gone: Vec<_> =
        store.tombstones(id, None, 9).unwrap().into_iter().map(|it| it.url).collect();
    assert_eq!(gone, [3, 5].map(url));
}

// D23
fn mass_deletions_are_held_back(store: &dyn Store) {
    let (id, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..40)).unwrap();
    let few = drafts(0, 0..10);
    let is_held = |done: Result<_, CommitError>| {
        matches!(done, Err(CommitError::MassDeletion { deleted: 30, pages: 40 }))
    };
    assert!(is_held(put(store, &lease, begin("all", StagingMode::Snapshot, 2), &few)));
    // The same snapshot again does not confirm it.
    assert!(is_held(put(store, &lease, begin("all", StagingMode::Snapshot, 2), &few)));
    assert_eq!(keys(store, id, "all").len(), 40);
    assert_eq!(store.sections(id).unwrap()[0].held, Some(at(2)));
    put(store, &lease, begin("all", StagingMode::Snapshot, 3), &few).unwrap();
    assert_eq!(keys(store, id, "all").len(), 10);
    assert_eq!(store.sections(id).unwrap()[0].held, None);
    // A snapshot without pages, with permission.
    let mut staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 4)).unwrap();
    assert_eq!(staging.preview(None).unwrap().after, 0);
    let done = staging.commit(&CommitOptions::plain());
    assert!(matches!(done, Err(CommitError::MassDeletion { .. })));
    let staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 4)).unwrap();
    let word =
        CommitOptions { mass_deletion: MassDeletionPolicy::Allowed, ..CommitOptions::plain() };
    staging.commit(&word).unwrap();
    assert!(all_lines(store).is_empty());
    // Removals of a delta are checked too.
    put(store, &lease, begin("all", StagingMode::Snapshot, 5), &drafts(0, 0..40)).unwrap();
    let mut staging = store.stage(&lease, begin("all", StagingMode::Delta, 6)).unwrap();
    (0..30).for_each(|n| staging.remove(&url(n), RemovalCause::Removed).unwrap());
    assert!(is_held(staging.commit(&CommitOptions::plain())));
    assert_eq!(store.sections(id).unwrap()[0].held, Some(at(6)));
    let mut staging = store.stage(&lease, begin("all", StagingMode::Delta, 6)).unwrap();
    (0..30).for_each(|n| staging.remove(&url(n), RemovalCause::Removed).unwrap());
    staging.commit(&word).unwrap();
    assert_eq!(store.sections(id).unwrap()[0].held, None, "a permission resolves it");
}

// D95: a withheld page keeps its digest, so that states stay equal.
fn withheld_pages(store: &dyn Store) {
    let (id, lease) = publisher(store);
    let hidden = Draft::new(1, 0, "calm").withheld(WithheldReason::Robots);
    let all = [Draft::new(0, 0, "calm"), hidden.clone()];
    let mut staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 1)).unwrap();
    add_all(&all, &mut *staging);
    let outlook = staging
        .commit(&CommitOptions { claim: Some(claim(&all)), ..CommitOptions::plain() })
        .unwrap();
    assert_eq!((outlook.withheld, outlook.over_quota), (1, 0));
    let row = page(store, 1).unwrap();
    assert_eq!((row.withheld, row.digest), (Some(WithheldReason::Robots), hidden.digest()));
    assert_eq!(store.line(&url(1)).unwrap(), None);
    assert_eq!(store.list(&PageSelection::default(), None, 9).unwrap().len(), 1);
    assert_eq!(keys(store, id, "all").len(), 2);
    assert_eq!(store.changes_since(None, 9).unwrap().events.len(), 1);
    // It may be shown now, although its line is unchanged.
    put(store, &lease, begin("all", StagingMode::Snapshot, 2), &drafts(0, 0..2)).unwrap();
    assert!(store.line(&url(1)).unwrap().is_some());
    // It must be withheld again, although the version is older than the stored one.
    let hidden = Draft::new(1, -1, "older").withheld(WithheldReason::Consent);
    put(store, &lease, begin("all", StagingMode::Delta, 3), &[hidden]).unwrap();
    assert_eq!(store.line(&url(1)).unwrap(), None);
    let events = store.changes_since(None, 9).unwrap().events;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [ChangeKind::Added, ChangeKind::Added, ChangeKind::Withheld]);
    // The removal of a page that was never readable is not an event.
    put(store, &lease, begin("all", StagingMode::Snapshot, 4), &drafts(0, [0])).unwrap();
    assert_eq!(store.changes_since(None, 9).unwrap().events.len(), 3);
    assert_eq!(store.tombstones(id, None, 9).unwrap().len(), 1);
}

// D87
fn withdrawn_consent_deletes_content(store: &dyn Store) {
    let (id, lease) = publisher(store);
    let all = drafts(0, 0..3);
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &all).unwrap();
    let pages = [(&*url(1), WithheldReason::Consent), (&*url(77), WithheldReason::Consent)];
    assert_eq!(store.withhold(&lease, &pages, at(2)).unwrap(), 1);
    assert_eq!(store.withhold(&lease, &pages, at(3)).unwrap(), 0);
    assert_eq!(store.line(&url(1)).unwrap(), None);
    assert_eq!(page(store, 1).unwrap().withheld, Some(WithheldReason::Consent));
    assert_eq!(store.sections(id).unwrap()[0].state, state_of(&all));
    let last = store.changes_since(None, 9).unwrap().events.pop().unwrap();
    assert_eq!((last.kind, last.url, last.at), (ChangeKind::Withheld, url(1), at(2)));
    assert!(!last.kind.is_upsert());
    let staging = store.stage(&lease, begin("all", StagingMode::Delta, 4)).unwrap();
    assert!(matches!(store.withhold(&lease, &pages, at(4)), Err(WriteError::Staging)));
    drop(staging);
    let (row, is_there) = (page(store, 0).unwrap(), store.line(&url(0)).unwrap().is_some());
    assert!(row.withheld.is_none() && is_there);
}

// SCP-184
fn quotas(store: &dyn Store) {
    let (id, lease) = publisher(store);
    let all = drafts(0, 0..30);
    let within = |pages, mode, hour| rutter_store::StagingOptions {
        quota: Quota { pages, ..Quota::NONE },
        ..begin("all", mode, hour)
    };
    // Withheld pages count: a collection with too many pages is rejected.
    let mut staging = store.stage(&lease, within(10, StagingMode::Snapshot, 1)).unwrap();
    add_all(&all[..10], &mut *staging);
    let many = staging.add(&all[10].item()).unwrap_err();
    assert!(matches!(many, StageError::Quota { most: 10 }), "{many}");
    drop(staging);
    assert!(all_lines(store).is_empty() && store.sections(id).unwrap().is_empty());
    put(store, &lease, within(30, StagingMode::Snapshot, 2), &all).unwrap();
    assert_eq!(all_lines(store).len(), 30);
    // A snapshot that replaces the other may have as many pages.
    put(store, &lease, within(30, StagingMode::Snapshot, 2), &drafts(0, 10..40)).unwrap();
    put(store, &lease, within(30, StagingMode::Snapshot, 2), &all).unwrap();
    // New pages of deltas count; stored pages may change and be removed regardless of the quota.
    let mut staging = store.stage(&lease, within(30, StagingMode::Delta, 3)).unwrap();
    assert!(matches!(staging.add(&drafts(3, [40])[0].item()), Err(StageError::Quota { .. })));
    drop(staging);
    put(store, &lease, within(5, StagingMode::Delta, 3), &drafts(3, 0..10)).unwrap();
    // Pages of another section count too.
    let other =
        rutter_store::StagingOptions { section: "blog", ..within(30, StagingMode::Snapshot, 3) };
    let done = put(store, &lease, other, &drafts(3, 50..55));
    let is_refused = matches!(done, Err(CommitError::Quota { pages: 35, most: 30 }));
    assert!(is_refused, "{done:?}");
    assert_eq!(all_lines(store).len(), 30);
    // Content beyond the quota of bytes is withheld.
    let used = store.publishers().unwrap()[0].bytes;
    assert!(0 < used);
    let full = rutter_store::StagingOptions {
        quota: Quota { bytes: used + 10, ..Quota::NONE },
        ..begin("all", StagingMode::Delta, 3)
    };
    let outlook = put(store, &lease, full, &drafts(3, 40..43)).unwrap();
    assert_eq!(outlook.over_quota, 3);
    assert_eq!(store.publisher(ORIGIN).unwrap().unwrap().id, id);
}

// D30: the later version counts; of equal ones, the first.
fn duplicate_pages(store: &dyn Store) {
    let (id, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..2)).unwrap();
    let lines = [
        Draft::new(0, 0, "calm"),
        Draft::new(0, 3, "later than ours"),
        Draft::new(1, 4, "first"),
        Draft::new(1, 4, "second of the same time"),
        Draft::new(1, 0, "calm"),
        Draft::new(2, 1, "new"),
        Draft::new(2, 2, "new, later"),
        Draft::new(2, 1, "new, earlier again"),
    ];
    let outlook = put(store, &lease, begin("all", StagingMode::Snapshot, 5), &lines).unwrap();
    assert_eq!((outlook.lines, outlook.after, outlook.added, outlook.changed), (8, 3, 1, 2));
    let winners = [&lines[1], &lines[2], &lines[6]];
    assert!(winners.iter().all(|draft| is_here(store, draft)));
    assert_eq!(store.sections(id).unwrap()[0].state, state_of(winners));
}

// SCP-166 D26
fn replays(store: &dyn Store) {
    let (_, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 5), &drafts(0, 0..2)).unwrap();
    let again = store.stage(&lease, begin("all", StagingMode::Snapshot, 4)).err();
    assert!(matches!(again, Some(StageError::Replay { generated, newest })
        if (generated, newest) == (at(4), at(5))));
    // The rejected staging has no effect.
    put(store, &lease, begin("all", StagingMode::Snapshot, 5), &drafts(0, 0..2)).unwrap();
}

// F06
fn leases_exclude_other_writers_and_fence(store: &dyn Store) {
    let id = store.register(ORIGIN, &["https://www.harbour.example"]).unwrap();
    let first = store.lease(id, at(0), at(10)).unwrap();
    let busy = store.lease(id, at(1), at(11)).unwrap_err();
    assert!(matches!(busy, LeaseError::Held { until, .. } if until == at(10)), "{busy}");
    store.renew(&first, at(20)).unwrap();
    assert!(matches!(store.lease(id, at(11), at(30)), Err(LeaseError::Held { .. })));
    let mut slow = store.stage(&first, begin("all", StagingMode::Snapshot, 1)).unwrap();
    add_all(&drafts(0, 0..5), &mut *slow);
    assert!(matches!(
        store.stage(&first, begin("blog", StagingMode::Snapshot, 1)).err(),
        Some(StageError::Staging)
    ));
    // The lease expired and was taken over.
    let second = store.lease(id, at(21), at(40)).unwrap();
    assert!(matches!(slow.commit(&CommitOptions::plain()), Err(CommitError::Lost)));
    assert!(all_lines(store).is_empty());
    assert!(matches!(store.renew(&first, at(99)), Err(LeaseError::Lost)));
    assert!(matches!(store.pause(&first, None), Err(WriteError::Lost)));
    store.release(first).unwrap();
    put(store, &second, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..5)).unwrap();
    store.pause(&second, Some(at(50))).unwrap();
    store.release(second.clone()).unwrap();
    assert!(store.stage(&second, begin("all", StagingMode::Delta, 2)).is_err());
    let alias = "https://www.harbour.example";
    assert_eq!(store.publisher(alias).unwrap(), None);
    let found = store.publisher(ORIGIN).unwrap().unwrap();
    // Registering without aliases keeps the existing ones.
    assert_eq!(found.aliases, [alias]);
    store.register(ORIGIN, &[]).unwrap();
    assert_eq!(store.publisher(ORIGIN).unwrap().unwrap().aliases, [alias]);
    store.register(ORIGIN, &["https://harbour.test"]).unwrap();
    assert_eq!(store.publisher(ORIGIN).unwrap().unwrap().aliases, ["https://harbour.test"]);
    // An alias does not hide a publisher with that origin.
    let own = store.register("https://harbour.test", &[]).unwrap();
    assert_eq!(store.publisher("https://harbour.test").unwrap().unwrap().id, own);
    assert_eq!((found.id, found.paused_until, found.lease), (id, Some(at(50)), None));
    let unknown = store.lease(rutter_store::PublisherId(99), at(0), at(1));
    assert!(matches!(unknown, Err(LeaseError::Unknown)));
}

fn history_and_cursors(store: &dyn Store) {
    let (_, lease) = publisher(store);
    let start = store.cursor().unwrap();
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..5)).unwrap();
    put(store, &lease, begin("all", StagingMode::Delta, 2), &drafts(2, [1, 7])).unwrap();
    let first = store.changes_since(Some(start), 3).unwrap();
    assert!(first.has_more && first.events.len() == 3);
    let rest = store.changes_since(Some(first.next), 100).unwrap();
    assert!(!rest.has_more);
    let told: Vec<_> = rest.events.iter().map(|it| (it.kind, it.url.clone())).collect();
    let kinds = [ChangeKind::Added, ChangeKind::Added, ChangeKind::Changed, ChangeKind::Added];
    let pages = [3, 4, 1, 7].map(url);
    assert_eq!(told, kinds.into_iter().zip(pages).collect::<Vec<_>>());
    assert_eq!(rest.next, store.cursor().unwrap());
    let happened = |since| store.change_counts_since(lease.publisher, since).unwrap();
    let (whole, half) = (happened(start), happened(first.next));
    assert_eq!((whole.added, whole.changed, whole.removed, whole.withheld), (6, 1, 0, 0));
    assert_eq!((half.added, half.changed), (3, 1));
    let other = store.register("https://other.example", &[]).unwrap();
    assert_eq!(
        store.change_counts_since(other, start).unwrap(),
        rutter_store::ChangeCounts::default()
    );
    store.withhold(&lease, &[(&url(3), WithheldReason::Consent)], at(3)).unwrap();
    assert_eq!(happened(rest.next).withheld, 1);
    let rest = rutter_store::ChangeBatch { next: store.cursor().unwrap(), ..rest };
    let digest = Draft::new(7, 2, "calm").digest();
    assert_eq!(rest.events[3].digest, digest);
    assert!(store.changes_since(Some(rest.next), 9).unwrap().events.is_empty());
    let foreign = ChangeCursor { store: 1, ..rest.next };
    let error = store.changes_since(Some(foreign), 9).unwrap_err();
    assert!(matches!(error, QueryError::ForeignCursor));
    let ahead = ChangeCursor { seq: 99, ..rest.next };
    let error = store.changes_since(Some(ahead), 9).unwrap_err();
    assert!(matches!(error, QueryError::CursorAhead { seq: 99, end } if end == rest.next.seq));
    // Old history is deleted from its start.
    store.maintain(at(2)).unwrap();
    let error = store.changes_since(Some(start), 9).unwrap_err();
    assert!(matches!(error, QueryError::ExpiredCursor));
    assert!(matches!(store.changes_since(None, 9), Err(QueryError::ExpiredCursor)));
    let five = ChangeCursor { seq: start.seq + 5, ..start };
    assert_eq!(store.changes_since(Some(five), 9).unwrap().events.len(), 3);
    store.maintain(at(3)).unwrap();
    assert_eq!(store.cursor().unwrap(), rest.next);
    put(store, &lease, begin("all", StagingMode::Delta, 4), &drafts(4, [1])).unwrap();
    assert_eq!(store.changes_since(Some(rest.next), 9).unwrap().events.len(), 1);
}

// Switching from sections to `all` is one commit.
fn unfollowed_sections(store: &dyn Store) {
    let (id, lease) = publisher(store);
    put(store, &lease, begin("blog", StagingMode::Snapshot, 1), &drafts(0, 0..3)).unwrap();
    put(store, &lease, begin("docs", StagingMode::Snapshot, 1), &drafts(0, 3..6)).unwrap();
    let mut staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 2)).unwrap();
    add_all(&drafts(0, 1..5), &mut *staging);
    for name in ["blog", "docs", "none"] {
        staging.unfollow(name).unwrap();
    }
    staging.commit(&CommitOptions::plain()).unwrap();
    assert_eq!(store.sections(id).unwrap().len(), 1);
    assert_eq!(all_lines(store).len(), 4);
    let causes: Vec<_> =
        store.tombstones(id, None, 9).unwrap().into_iter().map(|it| it.cause).collect();
    assert_eq!(causes, [RemovalCause::Unfollowed; 2]);
}

fn visits_replace_differing_pages(store: &dyn Store) {
    let (id, lease) = publisher(store);
    let visit = |hour| rutter_store::StagingOptions {
        source: rutter_store::PageSource::Html,
        ..begin("html", StagingMode::Visit, hour)
    };
    put(store, &lease, visit(1), &drafts(0, 0..3)).unwrap();
    // Other content with the same time, and with an older time.
    let next = [Draft::new(0, 0, "edited in silence"), Draft::new(1, -5, "dated back")];
    put(store, &lease, visit(2), &next).unwrap();
    assert!(next.iter().all(|draft| is_here(store, draft)));
    assert_eq!(all_lines(store).len(), 3);
    assert_eq!(page(store, 0).unwrap().source, rutter_store::PageSource::Html);
    let mut staging = store.stage(&lease, visit(3)).unwrap();
    staging.remove(&url(2), RemovalCause::Gone).unwrap();
    staging.commit(&CommitOptions::plain()).unwrap();
    assert_eq!(store.tombstones(id, None, 9).unwrap()[0].cause, RemovalCause::Gone);
    assert_eq!(store.sections(id).unwrap()[0].snapshot_at, None);
}

fn counts_of_the_receipt(store: &dyn Store) {
    let (_, lease) = publisher(store);
    let mut staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 1)).unwrap();
    Draft::new(0, 0, "calm").add(&mut *staging);
    let done = staging.commit(&CommitOptions { lines: Some(2), ..CommitOptions::plain() });
    assert!(matches!(done, Err(CommitError::Count { staged: 1, counted: 2 })));
    assert!(all_lines(store).is_empty());
}

#[test] // SCP-030: the receipt counts the lines
fn commit_compares_the_number_of_lines_with_the_receipt() {
    let lines: Vec<String> = (0..3).map(|n| rutter_testkit::page(n, 1)).collect();
    let text = rutter_testkit::snapshot(&lines);
    let store = MemoryStore::new();
    let (_, lease) = publisher(&store);
    let mut reader = rutter_scp::CollectionReader::open(
        std::io::Cursor::new(text.into_bytes()),
        rutter_scp::ReadOptions::default(),
        &mut (),
    )
    .unwrap();
    let generated: Timestamp = reader.header().generated;
    let start =
        rutter_store::StagingOptions { generated, ..begin("all", StagingMode::Snapshot, 0) };
    let mut staging = store.stage(&lease, start).unwrap();
    while let Some(added) =
        reader.next(&mut (), |record| staging.add(&StagedPage::of_record(&record))).unwrap()
    {
        added.unwrap();
    }
    let receipt = reader.finish(&mut ()).unwrap();
    let finish =
        CommitOptions::of_receipt("https://harbour.example/all.scp", &receipt, None, at(1));
    staging.commit(&finish).unwrap();
    assert_eq!(all_lines(&store).into_iter().map(|(_, line)| line).collect::<Vec<_>>(), lines);
}
