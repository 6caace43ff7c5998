//! The contract, third part: records about sites, erasure, and sentence queries.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rutter_store::prelude::*;
use rutter_store::{
    ChangeKind, CheckDepth, MatchKind, SearchQuery, SearchResults, SqliteStore, StagingMode,
    StoreOptions, VisitRecord, WithheldReason,
};

use crate::contract::drafts;
use crate::site::{Draft, ORIGIN, all_lines, at, begin, publisher, put, url};

pub(crate) fn visits(store: &dyn Store) {
    let (id, _) = publisher(store);
    assert_eq!(store.last_visit(id).unwrap(), None);
    let mut visit = VisitRecord {
        at: at(1),
        result: "failed".into(),
        method: String::new(),
        error: Some("the host does not answer".into()),
        requests: 1,
        bytes: 0,
        left_out: BTreeMap::from([("robots".into(), 7)]),
    };
    store.note_visit(id, &visit).unwrap();
    assert_eq!(store.last_visit(id).unwrap().as_ref(), Some(&visit));
    (visit.result, visit.error, visit.at) = ("synced".into(), None, at(2));
    store.note_visit(id, &visit).unwrap();
    assert_eq!(store.last_visit(id).unwrap(), Some(visit.clone()));
    // An unknown site has no visit.
    let other = rutter_store::PublisherId(77);
    store.note_visit(other, &visit).unwrap();
    assert_eq!(store.last_visit(other).unwrap(), None);
}

pub(crate) fn erasing_a_site(store: &dyn Store) {
    let (id, lease) = publisher(store);
    let other = store.register("https://other.example", &[]).unwrap();
    let other = store.lease(other, at(0), at(100)).unwrap();
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &drafts(0, 0..3)).unwrap();
    put(store, &other, begin("all", StagingMode::Snapshot, 1), &drafts(0, 8..9)).unwrap();
    while !store.index(100).unwrap().is_current {}
    let cursor = store.cursor().unwrap();
    let erased = store.erase(lease, at(2)).unwrap();
    assert_eq!((erased.pages, erased.is_scrubbed), (3, true));
    assert_eq!(store.publisher(ORIGIN).unwrap(), None);
    assert_eq!(all_lines(store).len(), 1);
    let forgotten = store.forgotten().unwrap();
    assert_eq!((forgotten[0].origin.as_str(), forgotten[0].pages), (ORIGIN, 3));
    // One event of its history is kept, for copies of the replica.
    let events = store.changes_since(None, 100).unwrap().events;
    let of_it: Vec<_> = events.iter().filter(|event| event.publisher == id).collect();
    assert_eq!((of_it.len(), of_it[0].kind), (1, ChangeKind::Forgotten));
    assert_eq!((of_it[0].url.as_str(), events.len()), (ORIGIN, 2));
    let events = store.changes_since(Some(cursor), 100).unwrap().events;
    assert_eq!(events.len(), 1);
    while !store.index(100).unwrap().is_current {}
    assert_eq!(store.search(&SearchQuery::parse("berth").unwrap(), 9).unwrap().hits.len(), 1);
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
    // The site can be synced again.
    let (_, lease) = publisher(store);
    put(store, &lease, begin("all", StagingMode::Snapshot, 3), &drafts(3, 0..2)).unwrap();
    assert_eq!(store.forgotten().unwrap(), []);
    assert_eq!(all_lines(store).len(), 3);
}

fn search(store: &dyn Store, text: &str) -> SearchResults {
    store.search(&SearchQuery::parse(text).unwrap(), 10).unwrap()
}

pub(crate) fn sentence_queries_find_pages(store: &dyn Store) {
    let (_, lease) = publisher(store);
    let mut pages = vec![
        Draft::new(0, 0, "Vacuum reclaims storage; analyze collects statistics."),
        Draft::new(1, 0, "How to run vacuum after a large delete."),
        Draft::new(2, 0, "Backups and restores."),
        Draft::new(3, 0, "vacuum secrets").withheld(WithheldReason::Consent),
    ];
    pages.extend((4..20).map(|n| Draft::new(n, 0, "the boats of the harbour")));
    put(store, &lease, begin("all", StagingMode::Snapshot, 1), &pages).unwrap();
    while !store.index(100).unwrap().is_current {}
    let urls = |found: &SearchResults| -> Vec<String> {
        found.hits.iter().map(|hit| hit.page.url.clone()).collect()
    };
    let found = search(store, "vacuum analyze");
    assert_eq!((found.matched, urls(&found)), (MatchKind::All, vec![url(0)]));
    let found = search(store, "vacum analyze");
    assert_eq!((found.matched, urls(&found)), (MatchKind::Corrected, vec![url(0)]));
    assert_eq!(found.corrections, [("vacum".to_owned(), "vacuum".to_owned())]);
    assert!(found.hits[0].snippet.contains("[Vacuum]"), "{}", found.hits[0].snippet);
    let found = search(store, "how do I make the vacuum analyze my large statistics faster?");
    assert_eq!(found.matched, MatchKind::Some);
    assert_eq!(urls(&found)[..2], [url(0), url(1)]);
    assert!(found.hits[0].missing.contains(&"faster?".to_owned()), "{:?}", found.hits[0].missing);
    assert!(!found.hits[0].missing.contains(&"vacuum".to_owned()));
    // A phrase that no page contains is searched word by word.
    let found = search(store, "\"analyze vacuum\"");
    assert_eq!((found.matched, urls(&found)[0].clone()), (MatchKind::Some, url(0)));
    // Common words are searched if no page contains the others.
    assert!(!search(store, "the zzyzx harbour").hits.is_empty());
    assert_eq!(search(store, "zzyzx qqqq").hits, []);
    assert_eq!(search(store, &"vacuum ".repeat(2_000)).hits.len(), 2);
}

/// Erasing leaves no data of a site in the file or its log.
#[test]
fn erased_content_is_overwritten_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let store = SqliteStore::open(&path, StoreOptions::default()).unwrap();
    let (_, lease) = publisher(&store);
    // Enough pages for a dictionary, which contains their text.
    let pages: Vec<Draft> = (0..1500)
        .map(|n| Draft::new(n, 0, &format!("moonshine {:x}", n * 2_654_435_761)))
        .collect();
    put(&store, &lease, begin("all", StagingMode::Snapshot, 1), &pages).unwrap();
    put(
        &store,
        &lease,
        begin("all", StagingMode::Delta, 2),
        &[Draft::new(3, 2, "moonshine twice")],
    )
    .unwrap();
    while !store.index(10_000).unwrap().is_current {}
    let other = store.register("https://other.example", &[]).unwrap();
    let other = store.lease(other, at(0), at(100)).unwrap();
    let kept: Vec<Draft> = (0..50).map(other_page).collect();
    put(&store, &other, begin("all", StagingMode::Snapshot, 3), &kept).unwrap();
    let holds = |folder: &Path, needle: &[u8]| {
        let files = fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()));
        let has = |bytes: Vec<u8>| bytes.windows(needle.len()).any(|window| window == needle);
        files.map(Result::unwrap).any(has)
    };
    let body: Vec<u8> = {
        let database = rusqlite::Connection::open(&path).unwrap();
        let question = "SELECT z FROM body JOIN page ON body = body.id WHERE url = ?1";
        database.query_row(question, [url(7)], |row| row.get(0)).unwrap()
    };
    assert!(holds(folder.path(), &body) && holds(folder.path(), b"moonshine"));
    assert!(holds(folder.path(), b"harbour.example/00007"));
    assert!(store.erase(lease, at(4)).unwrap().is_scrubbed);
    assert!(!holds(folder.path(), &body) && !holds(folder.path(), b"moonshine"));
    assert!(!holds(folder.path(), b"harbour.example/00007"));
    // Other sites are unchanged.
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
    assert_eq!(all_lines(&store).len(), 50);
}

fn other_page(n: usize) -> Draft {
    let draft = Draft::new(n, 1, "tides and boats");
    let origin = "https://other.example";
    Draft {
        key: draft.key.replace(ORIGIN, origin),
        line: draft.line.replace(ORIGIN, origin),
        ..draft
    }
}

/// Content of other sites may need the dictionary of the erased site.
#[test]
fn erasing_continues_despite_damaged_content_of_another_site() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let store = SqliteStore::open(&path, StoreOptions::default()).unwrap();
    let (_, lease) = publisher(&store);
    let pages: Vec<Draft> = (0..1500)
        .map(|n| Draft::new(n, 0, &format!("moonshine {:x}", n * 2_654_435_761)))
        .collect();
    put(&store, &lease, begin("all", StagingMode::Snapshot, 1), &pages).unwrap();
    let other = store.register("https://other.example", &[]).unwrap();
    let other = store.lease(other, at(0), at(100)).unwrap();
    let kept: Vec<Draft> = (0..5).map(other_page).collect();
    put(&store, &other, begin("all", StagingMode::Snapshot, 2), &kept).unwrap();
    let damaged = &kept[2].key;
    let n_damaged = rusqlite::Connection::open(&path).unwrap().execute(
        "UPDATE body SET z = zeroblob(length(z))
         WHERE dict IS NOT NULL AND id = (SELECT body FROM page WHERE url = ?1)",
        [damaged],
    );
    assert_eq!(n_damaged.unwrap(), 1);
    assert_eq!(store.erase(lease, at(3)).unwrap().pages, 1500);
    // The damaged page is reported as before, and the others are unchanged.
    for page in &kept {
        match store.line(&page.key) {
            Ok(line) => assert!(line.as_ref() == Some(&page.line) && page.key != *damaged),
            Err(error) => assert!(page.key == *damaged && error.to_string().contains(damaged)),
        }
    }
    let faults = store.check(CheckDepth::Content).unwrap();
    assert!(faults.len() == 1 && faults[0].starts_with(damaged), "{faults:?}");
}
