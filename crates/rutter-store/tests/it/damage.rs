//! Damaged rows and bodies are reported one by one, and the other pages can be read.

use std::path::Path;

use rusqlite::Connection;
use rutter_store::prelude::*;
use rutter_store::{
    AccessMode, ChangeBatch, CheckDepth, PageSelection, QueryError, SearchQuery, SqliteStore,
    StagingMode, StorageError, StoreOptions,
};

use crate::site::{Draft, begin, publisher, put, url};

fn filled(path: &Path) -> SqliteStore {
    let store = SqliteStore::open(path, StoreOptions::default()).unwrap();
    let (_, lease) = publisher(&store);
    let pages: Vec<Draft> = (0..6).map(|n| Draft::new(n, 0, &format!("boat {n}"))).collect();
    put(&store, &lease, begin("all", StagingMode::Snapshot, 1), &pages).unwrap();
    while !store.index(100).unwrap().is_current {}
    store.release(lease).unwrap();
    store
}

fn hurt(path: &Path, damage: &str) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    assert_eq!(connection.execute(damage, []).unwrap(), 1, "{damage}");
}

#[test]
fn reports_damaged_page_and_reads_the_others() {
    for damage in [
        "UPDATE page SET title = 'Buoy' WHERE id = 3",
        "UPDATE page SET first_seen = '2020-01-01T00:00:00Z' WHERE id = 3",
        "UPDATE page SET source = 'html' WHERE id = 3",
        "UPDATE page SET modified = 'noon' WHERE id = 3",
        "UPDATE page SET digest = x'00' WHERE id = 3",
        "UPDATE body SET z = (SELECT z FROM body WHERE id = 4),
            size = (SELECT size FROM body WHERE id = 4) WHERE id = 3",
        "UPDATE body SET z = zeroblob(20) WHERE id = 3",
        "UPDATE body SET id = 99 WHERE id = 3",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replica.db");
        drop(filled(&path));
        hurt(&path, damage);
        let reading = StoreOptions { access: AccessMode::Read, ..StoreOptions::default() };
        let store = SqliteStore::open(&path, reading).unwrap();
        // Also in batches of one: a damaged page does not end a listing.
        for most in [1, 100] {
            let (mut good, mut bad) = (Vec::new(), Vec::new());
            let mut last: Option<(rutter_store::PublisherId, String)> = None;
            loop {
                let after = last.as_ref().map(|(publisher, url)| rutter_store::PagePosition {
                    publisher: *publisher,
                    url,
                });
                let piece = store.lines(&PageSelection::default(), after, most).unwrap();
                if piece.is_empty() {
                    break;
                }
                for page in piece {
                    let after = match &page {
                        Ok((row, _)) => row.after(),
                        Err(damaged) => damaged.after(),
                    };
                    last = Some((after.publisher, after.url.to_owned()));
                    match page {
                        Ok((row, _)) => good.push(row.url),
                        Err(damaged) => bad.push(damaged.url),
                    }
                }
            }
            assert_eq!(good, [0, 1, 3, 4, 5].map(url), "{damage}");
            assert_eq!(bad, [url(2)], "{damage}");
        }
        let error = store.line(&url(2)).unwrap_err();
        let QueryError::Storage(StorageError::Damaged(text)) = error else { panic!("{error:?}") };
        assert!(text.starts_with(&url(2)), "{damage}: {text}");
        assert!(store.line(&url(3)).unwrap().is_some());
        let found = store.search(&SearchQuery::parse("boat").unwrap(), 9).unwrap();
        assert_eq!((found.hits.len(), found.damaged.len()), (5, 1), "{damage}");
        let faults = store.check(CheckDepth::Content);
        assert!(faults.is_err() || faults.is_ok_and(|faults| !faults.is_empty()), "{damage}");
    }
}

#[test]
fn reports_damaged_history_and_sites() {
    for damage in [
        "UPDATE change SET url = 'https://harbour.example/x' WHERE seq = 3",
        "UPDATE change SET kind = 'removed' WHERE seq = 3",
        "DELETE FROM change WHERE seq = 3",
        "DELETE FROM change WHERE seq = 6",
        "UPDATE publisher SET origin = 'https://harbor.example'",
        "UPDATE meta SET value = x'0102030405060708' WHERE key = 'store'",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replica.db");
        drop(filled(&path));
        hurt(&path, damage);
        let Ok(store) = SqliteStore::open(&path, StoreOptions::default()) else { continue };
        let is_whole = |changes: &ChangeBatch| changes.damaged.is_empty();
        let is_seen = !store.changes_since(None, 100).as_ref().is_ok_and(is_whole)
            || store.publishers().is_err();
        assert!(is_seen, "{damage}");
    }
}

#[test]
fn reads_events_around_damaged_and_missing_ones() {
    for (damage, lost) in [
        ("UPDATE change SET kind = 'removed' WHERE seq = 3", 3..=3),
        ("UPDATE change SET kind = 'damaged' WHERE seq = 3", 3..=3),
        ("DELETE FROM change WHERE seq = 3", 3..=3),
        ("DELETE FROM change WHERE seq = 6", 6..=6),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replica.db");
        drop(filled(&path));
        hurt(&path, damage);
        let store = SqliteStore::open(&path, StoreOptions::default()).unwrap();
        // Also in batches of one: a damaged event does not end a listing.
        for most in [1, 100] {
            let (mut seen, mut damaged, mut cursor) = (Vec::new(), Vec::new(), None);
            loop {
                let changes = store.changes_since(cursor, most).unwrap();
                seen.extend(changes.events.iter().map(|event| event.seq));
                damaged.extend(changes.damaged);
                cursor = Some(changes.next);
                if !changes.has_more {
                    break;
                }
            }
            let expected: Vec<u64> = (1..=6).filter(|seq| !lost.contains(seq)).collect();
            assert_eq!((seen, damaged), (expected, vec![lost.clone()]), "{damage}");
        }
    }
    // A cursor with an unknown event number is rejected.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    drop(filled(&path));
    hurt(&path, "UPDATE change SET seq = 1000 WHERE seq = 3");
    hurt(&path, "UPDATE sqlite_sequence SET seq = 6 WHERE name = 'change'");
    let store = SqliteStore::open(&path, StoreOptions::default()).unwrap();
    assert!(store.changes_since(None, 100).is_err());
}
