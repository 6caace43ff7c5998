//! The contract, second part: records besides pages, and queries. Run by `contract`.

use rutter_arc::ArcEntry;
use rutter_page::PageUrl;
use rutter_spxi::{Collision, CollisionRisk, Entity};
use rutter_store::prelude::*;
use rutter_store::{
    ChangeKind, CommitOptions, DownloadRecord, MatchKind, NoteKind, NoteValue, PageSelection,
    PublisherId, RemovalCause, SearchQuery, StagingMode, UrlNote, UrlRecords, Validator,
    WithheldReason,
};

use crate::contract::drafts;
use crate::site::{Draft, ORIGIN, all_lines, at, begin, publisher, put, state_of, url};

// SCP-154 SCP-155
pub(crate) fn validators_and_download_records(store: &dyn Store) {
    let (id, lease) = publisher(store);
    let file = format!("{ORIGIN}/all.scp.zst");
    let validator = Validator {
        url: file.clone(),
        etag: Some("\"a\"".into()),
        last_modified: None,
        checked: at(1),
    };
    let taken = DownloadRecord {
        section: "all".into(),
        url: file.clone(),
        mode: StagingMode::Snapshot,
        generated: at(1),
        since: None,
        checksum: Some("sha256:00".into()),
        from: None,
        state: Some(state_of(&drafts(0, 0..1))),
        bytes: 77,
        at: at(1),
        outcome: "applied".into(),
    };
    let finish = CommitOptions {
        taken: Some(taken.clone()),
        validator: Some(validator.clone()),
        ..CommitOptions::plain()
    };
    // The validator is stored only if the pages are committed.
    let mut staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 1)).unwrap();
    Draft::new(0, 0, "calm").add(&mut *staging);
    let bad = CommitOptions { lines: Some(9), ..finish.clone() };
    assert!(staging.commit(&bad).is_err());
    assert_eq!(store.validator(&file).unwrap(), None);
    let mut staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 1)).unwrap();
    Draft::new(0, 0, "calm").add(&mut *staging);
    staging.commit(&finish).unwrap();
    assert_eq!(store.validator(&file).unwrap(), Some(validator.clone()));
    let refused =
        DownloadRecord { outcome: "checksum mismatch".into(), since: Some(at(1)), ..taken.clone() };
    store.record_download(&lease, &refused).unwrap();
    assert_eq!(store.downloads(id, 9).unwrap(), [refused, taken]);
    let later =
        Validator { etag: None, last_modified: Some("Mon".into()), checked: at(2), ..validator };
    store.store_url_records(&lease, &later.clone().into()).unwrap();
    assert_eq!(store.validator(&file).unwrap(), Some(later.clone()));
    // Validators and URL notes are deleted some time after their pages.
    let (here, gone) = (url(0), url(9));
    let kinds = [NoteKind::Requested, NoteKind::ArcChecksum];
    for key in [&here, &gone] {
        let values = [NoteValue::Requested, NoteValue::ArcChecksum(Some("a".into()))];
        let notes = values.map(|value| UrlNote::new(key, value, at(2)));
        let validators = vec![Validator { url: key.clone(), ..later.clone() }];
        let records = UrlRecords { validators, notes: notes.into() };
        store.store_url_records(&lease, &records).unwrap();
    }
    // URL notes are listed and deleted by kind and URL.
    let requested = |after: Option<&str>| -> Vec<String> {
        let notes = store.url_notes(id, NoteKind::Requested, after, 9).unwrap();
        notes.into_iter().map(|note| note.unwrap().url).collect()
    };
    assert_eq!(requested(None), [here.clone(), gone.clone()]);
    assert_eq!(requested(Some(&here)), std::slice::from_ref(&gone));
    assert_eq!(store.url_notes(id, NoteKind::Requested, None, 1).unwrap().len(), 1);
    assert_eq!(store.url_notes(id, NoteKind::Lastmod, None, 9).unwrap(), []);
    let note = store.url_note(NoteKind::Requested, &here).unwrap().unwrap();
    store.delete_url_notes(&lease, NoteKind::Requested, std::slice::from_ref(&here)).unwrap();
    assert_eq!(requested(None).len(), 1);
    store.store_url_records(&lease, &note.into()).unwrap();
    let new = UrlNote::new(&gone, NoteValue::MissingSince(Some(at(5))), at(5));
    store.store_url_records(&lease, &new.clone().into()).unwrap();
    let kept = || {
        let files = [&here, &gone, &file];
        let n_files = files.into_iter().filter(|it| store.validator(it).unwrap().is_some()).count();
        let notes = kinds.into_iter().flat_map(|kind| [(kind, &here), (kind, &gone)]);
        let notes = notes.chain([(new.kind(), &gone)]);
        n_files + notes.filter(|(kind, url)| store.url_note(*kind, url).unwrap().is_some()).count()
    };
    store.maintain(at(2)).unwrap();
    assert_eq!(kept(), 8);
    store.maintain(at(3)).unwrap();
    assert_eq!(kept(), 4);
    assert!(store.validator(&here).unwrap().is_some());
    assert_eq!(store.url_note(new.kind(), &gone).unwrap(), Some(new));
}

/// The state of a site is stored without a lease, and deleted with the site.
pub(crate) fn site_states(store: &dyn Store) {
    let (id, lease) = publisher(store);
    assert_eq!(store.site_state(id).unwrap(), None);
    for state in ["{}", "{\"version\":1}"] {
        store.store_site_state(id, state).unwrap();
        assert_eq!(store.site_state(id).unwrap().as_deref(), Some(state));
    }
    store.store_site_state(PublisherId(99), "{}").unwrap();
    assert_eq!(store.site_state(PublisherId(99)).unwrap(), None);
    let note = UrlNote::new(&url(1), NoteValue::Requested, at(1));
    store.store_url_records(&lease, &note.into()).unwrap();
    store.forget(lease, at(2)).unwrap();
    assert_eq!(store.site_state(id).unwrap(), None);
    assert_eq!(store.url_note(NoteKind::Requested, &url(1)).unwrap(), None);
}

fn entry(n: usize, allowed: bool) -> ArcEntry<'static> {
    ArcEntry::new(PageUrl::parse(url(n)).unwrap(), Some(allowed))
}

// D60
pub(crate) fn arc_entries(store: &dyn Store) {
    let (id, lease) = publisher(store);
    store.replace_arc(&lease, &mut [entry(1, true), entry(2, false)].into_iter()).unwrap();
    let row = store.arc_entry(&url(2)).unwrap().unwrap();
    assert!(!row.is_allowed && row.json == entry(2, false).to_json());
    assert_eq!(store.arc_forbidden(id, None, 9).unwrap(), [url(2)]);
    assert!(store.arc_forbidden(id, Some(&url(2)), 9).unwrap().is_empty());
    let delta =
        [ArcEntry::tombstone(PageUrl::parse(url(1)).unwrap()), entry(2, true), entry(3, true)];
    store.merge_arc(&lease, &mut delta.into_iter()).unwrap();
    let rows = store.arc_entries(id, None, 9).unwrap();
    let told: Vec<_> = rows.iter().map(|row| (row.url.clone(), row.is_allowed)).collect();
    assert_eq!(told, [(url(2), true), (url(3), true)]);
    assert_eq!(store.arc_entries(id, Some(&url(2)), 9).unwrap().len(), 1);
    store.replace_arc(&lease, &mut [entry(3, true)].into_iter()).unwrap();
    assert_eq!(store.arc_entry(&url(2)).unwrap(), None);
}

pub(crate) fn entities(store: &dyn Store) {
    let (id, lease) = publisher(store);
    let pilot = Entity {
        id: Some(format!("{ORIGIN}/pilot#it")),
        name: Some("The Pilot".into()),
        negative_tags: vec!["NOT an aircraft pilot".into(), "NOT \"a\" pilot light".into()],
        markers: vec!["leads ships in".into()],
        bdr: Some(0.25),
        collisions: vec![Collision {
            with: Some("Autopilot".into()),
            attribute: None,
            risk: CollisionRisk::ALL.first().copied(),
        }],
        extra: vec![("x".into(), rutter_page::JsonTree::Number("7".into()))],
        ..Entity::default()
    };
    let two = [pilot, Entity { name: Some("Tide".into()), ..Entity::default() }];
    store.replace_entities(&lease, &two).unwrap();
    assert_eq!(store.entities(id).unwrap(), two);
    store.replace_entities(&lease, &two[1..]).unwrap();
    assert_eq!(store.entities(id).unwrap(), two[1..]);
}

fn found(store: &dyn Store, words: &str) -> Vec<String> {
    let answer = store.search(&SearchQuery::parse(words).unwrap(), 10).unwrap();
    let hits = if answer.matched == MatchKind::All { answer.hits } else { Vec::new() };
    hits.into_iter().map(|hit| hit.page.url).collect()
}

// SCP-052: full-text search covers the content.
pub(crate) fn search(store: &dyn Store) {
    let (_, lease) = publisher(store);
    assert!(found(store, "slack").is_empty());
    let pages = [
        Draft::new(0, 0, "slack water at noon, then the ebb"),
        Draft::new(1, 0, "the water of a slack rope"),
        Draft::new(2, 0, "Höhe der Flut"),
        Draft::new(3, 0, "slack secrets").withheld(WithheldReason::Consent),
    ];
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &pages).unwrap();
    while !store.index(2).unwrap().is_current {}
    let mut both = found(store, "slack water");
    both.sort();
    assert_eq!(both, [0, 1].map(url));
    assert_eq!(found(store, "\"slack water\""), [url(0)]);
    assert_eq!(found(store, "hoh*"), [url(2)]);
    assert!(found(store, "secrets").is_empty());
    // Text that is only in the schema is not searched (SCP-052).
    let with_schema = "\"schema\":{\"@type\":\"Article\",\"headline\":\"zephyr\"},\"content\"";
    let mut page = Draft::new(4, 0, "a breeze");
    page.line = page.line.replacen("\"content\"", with_schema, 1);
    put(store, &lease, begin("more", StagingMode::Snapshot, 1), &[page]).unwrap();
    while !store.index(2).unwrap().is_current {}
    assert_eq!(found(store, "breeze"), [url(4)]);
    assert!(found(store, "zephyr").is_empty());
    assert!(store.line(&url(4)).unwrap().unwrap().contains("zephyr"), "it is kept");
    let hit = store.search(&SearchQuery::parse("ebb").unwrap(), 1).unwrap().hits.remove(0);
    assert!(hit.snippet.contains("then the [ebb]"), "{}", hit.snippet);
    // Removed and changed pages are not found, even before the next indexing.
    put(
        store,
        &lease,
        begin("all", StagingMode::Snapshot, 2),
        &[Draft::new(1, 2, "a tight rope"), pages[2].clone()],
    )
    .unwrap();
    assert!(found(store, "slack").is_empty());
    store.withhold(&lease, &[(&url(2), WithheldReason::Consent)], at(3)).unwrap();
    assert!(found(store, "flut").is_empty());
    while !store.index(100).unwrap().is_current {}
    assert_eq!(found(store, "tight"), [url(1)]);
    assert!(store.index(100).unwrap().pages == 0);
}

pub(crate) fn forgetting_a_publisher(store: &dyn Store) {
    let (id, lease) = publisher(store);
    let other = store.register("https://other.example", &[]).unwrap();
    let other = store.lease(other, at(0), at(100)).unwrap();
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..3)).unwrap();
    put(store, &other, begin("all", StagingMode::Snapshot, 1), &drafts(0, 8..9)).unwrap();
    store.replace_arc(&lease, &mut [entry(1, true)].into_iter()).unwrap();
    store.forget(lease.clone(), at(2)).unwrap();
    assert_eq!(store.publishers().unwrap().len(), 1);
    assert_eq!(all_lines(store).len(), 1);
    assert_eq!(store.arc_entry(&url(1)).unwrap(), None);
    assert!(
        store.sections(id).unwrap().is_empty() && store.tombstones(id, None, 9).unwrap().is_empty()
    );
    let events = store.changes_since(None, 99).unwrap().events;
    assert_eq!(events.iter().filter(|event| event.kind == ChangeKind::Removed).count(), 3);
    assert!(store.stage(&lease, begin("all", StagingMode::Delta, 3)).is_err());
    // Its id is not reused.
    assert_ne!(store.register("https://third.example", &[]).unwrap(), id);
}

pub(crate) fn listing_in_batches(store: &dyn Store) {
    let (id, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..23)).unwrap();
    put(
        store,
        &lease,
        begin("odd", StagingMode::Snapshot, 1),
        &drafts(0, (0..23).filter(|n| n % 2 == 1)),
    )
    .unwrap();
    assert_eq!(all_lines(store).len(), 23);
    let selection =
        PageSelection { publisher: Some(id), section: Some("odd"), ..PageSelection::default() };
    let first = store.list(&selection, None, 4).unwrap();
    let next = store.list(&selection, Some(first[3].after()), 100).unwrap();
    assert_eq!((first.len(), next.len(), next[0].url.clone()), (4, 7, url(9)));
    let none = PageSelection { section: Some("none"), ..selection };
    assert!(store.list(&none, None, 9).unwrap().is_empty());
    // A URL is looked up by its key (D30).
    assert!(store.page("https://HARBOUR.example:443/./00003#top").unwrap().is_some());
    assert_eq!(store.page("not an address").unwrap(), None);
}

/// Tombstones, the extent of the history, and page counts.
pub(crate) fn queries_about_a_whole_publisher(store: &dyn Store) {
    assert_eq!(store.history().unwrap().events, 0);
    let (id, lease) = publisher(store);
    let mut all = drafts(0, 0..4);
    all.push(Draft::new(4, 0, "calm").withheld(WithheldReason::Consent));
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &all).unwrap();
    let counted = |store: &dyn Store| -> Vec<(Option<WithheldReason>, u64)> {
        store.page_counts(id).unwrap().iter().map(|it| (it.withheld, it.pages)).collect()
    };
    assert_eq!(counted(store), [(None, 4), (Some(WithheldReason::Consent), 1)]);
    let totals = store.page_totals(id).unwrap().unwrap();
    assert_eq!((totals.pages, totals.withheld), (5, 1));
    assert_eq!(store.page_totals(PublisherId(99)).unwrap(), None);
    assert_eq!(store.tombstone(&url(3)).unwrap(), None);
    all.remove(3);
    put(store, &lease, begin("all", StagingMode::Snapshot, 2), &all).unwrap();
    let gone = store.tombstone(&format!("{}#top", url(3))).unwrap().unwrap();
    assert_eq!((gone.url, gone.at), (url(3), at(2)));
    assert_eq!(counted(store), [(None, 3), (Some(WithheldReason::Consent), 1)]);
    let history = store.history().unwrap();
    assert_eq!((history.events, history.oldest), (5, Some(at(1))));
    assert_eq!(history.cursor, store.cursor().unwrap());
    store.maintain(at(2)).unwrap();
    let history = store.history().unwrap();
    assert_eq!((history.events, history.oldest), (1, Some(at(2))));
}

/// A search can be limited to one publisher, and the index reports its progress.
pub(crate) fn search_of_one_publisher(store: &dyn Store) {
    assert_eq!(store.unindexed().unwrap(), None);
    let (id, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..3)).unwrap();
    let other = store.register("https://pier.example", &[]).unwrap();
    let lease = store.lease(other, at(0), at(10_000)).unwrap();
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 3..5)).unwrap();
    store.index(u64::MAX).unwrap();
    assert_eq!(store.unindexed().unwrap(), Some(0));
    let query = SearchQuery::parse("berth").unwrap();
    assert_eq!(store.search(&query, 10).unwrap().hits.len(), 5);
    let hits = store.search_of(id, &query, 10).unwrap().hits;
    assert_eq!(hits.len(), 3);
    assert!(hits.iter().all(|hit| hit.page.publisher == id));
    assert_eq!(store.search_of(other, &query, 1).unwrap().hits.len(), 1);
    put(store, &lease, begin("all", StagingMode::Snapshot, 2), &drafts(0, 3..6)).unwrap();
    assert_eq!(store.unindexed().unwrap(), Some(1));
}

// ARC-060
pub(crate) fn page_snapshots(store: &dyn Store) {
    let (id, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..5)).unwrap();
    for key in (0..5).map(url) {
        let values = [NoteValue::ArcSnapshot(Some("{}".to_owned())), NoteValue::Lastmod(at(1))];
        let notes = values.map(|value| UrlNote::new(&key, value, at(1)));
        store.store_url_records(&lease, &notes.to_vec().into()).unwrap();
    }
    let snapshots = || -> Vec<String> {
        let notes = store.url_notes(id, NoteKind::ArcSnapshot, None, 9).unwrap();
        notes.into_iter().map(|note| note.unwrap().url).collect()
    };
    // The site withdraws its consent.
    store.withhold(&lease, &[(&url(0), WithheldReason::Consent)], at(2)).unwrap();
    assert_eq!(snapshots(), [url(1), url(2), url(3), url(4)]);
    // A new version is withheld, one page is removed, one changes.
    let mut staging = store.stage(&lease, begin("all", StagingMode::Delta, 3)).unwrap();
    Draft::new(1, 3, "closed").withheld(WithheldReason::Consent).add(&mut *staging);
    Draft::new(3, 3, "open").add(&mut *staging);
    staging.remove(&url(2), RemovalCause::Removed).unwrap();
    staging.commit(&CommitOptions::plain()).unwrap();
    assert_eq!(snapshots(), [url(3), url(4)]);
    // A snapshot lacks a page. Notes that are not content are kept.
    put(store, &lease, begin("all", StagingMode::Snapshot, 4), &drafts(0, [0, 1, 4])).unwrap();
    assert_eq!(snapshots(), [url(4)]);
    assert_eq!(store.url_notes(id, NoteKind::Lastmod, None, 9).unwrap().len(), 5);
}
