//! A replica file with one flipped bit: readers report the damage and never print a wrong byte.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rutter_page::Timestamp;
use rutter_store::prelude::*;
use rutter_store::{NoteValue, SqliteStore, StoreOptions, UrlNote};

use crate::replica::{make, rutter, said};

const READERS: [&[&str]; 8] = [
    &["export", "--format", "jsonl"],
    &["export", "--format", "csv"],
    &["get", "https://harbour.example/docs/tides-api.html", "--format", "json"],
    &["changes", "--content", "text"],
    &["list", "--format", "jsonl", "--withheld"],
    &["search", "tide"],
    &["entities", "--format", "jsonl"],
    &["list", "--left-out", "--format", "jsonl"],
];

/// Records URLs that were not stored, as a crawl does.
fn note_left_out(store: &SqliteStore) {
    let time = |text| Timestamp::parse(text).unwrap();
    let publisher = store.publisher("https://harbour.example").unwrap().unwrap().id;
    let (now, until) = (time("2026-10-07T00:00:00Z"), time("2026-10-08T00:00:00Z"));
    let lease = store.lease(publisher, now, until).unwrap();
    for n in 0..40 {
        let url = format!("https://harbour.example/files/{n}.pdf");
        let value = NoteValue::LeftOut("media-type:application/pdf".to_owned());
        store.store_url_records(&lease, &UrlNote::new(&url, value, now).into()).unwrap();
    }
    store.release(lease).unwrap();
}

/// Damages a table with an SQL statement.
fn hurt(path: &Path, damage: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    assert_eq!(connection.execute(damage, []).unwrap(), 1, "{damage}");
}

#[test]
fn damaged_entities_and_unstored_urls_are_reported() {
    for (reader, damage) in [
        (READERS[6], "UPDATE entity SET description = 'A band.'"),
        (READERS[6], "UPDATE entity SET negative_tags = '[]'"),
        (READERS[6], "DELETE FROM entity"),
        (READERS[7], "UPDATE url_note SET value = 'status:404' WHERE url LIKE '%/7.pdf'"),
        (
            READERS[7],
            "UPDATE url_note SET url = replace(url, '/7.', '/x.') WHERE url LIKE '%/7.pdf'",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replica.db");
        note_left_out(&make(&path));
        let (code, data, _) = read(folder.path(), reader);
        assert!(code == 0 && !data.is_empty(), "{reader:?}");
        hurt(&path, damage);
        let (code, _, talk) = read(folder.path(), reader);
        assert_eq!(code, 4, "{damage}: {talk}");
    }
}

#[test]
fn changes_continue_after_damaged_event() {
    for damage in [
        "UPDATE change SET url = 'https://harbour.example/other' WHERE seq = 3",
        "UPDATE change SET kind = 'unknown' WHERE seq = 3",
        "DELETE FROM change WHERE seq = 3",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replica.db");
        drop(make(&path));
        let (_, all, _) = read(folder.path(), &["changes"]);
        hurt(&path, damage);
        let (code, data, talk) = read(folder.path(), &["changes"]);
        assert_eq!(code, 4, "{damage}: {talk}");
        assert!(talk.contains("event 3"), "{damage}: {talk}");
        let expected: Vec<&str> =
            all.lines().enumerate().filter(|(at, _)| *at != 2).map(|(_, line)| line).collect();
        assert_eq!(data.lines().collect::<Vec<_>>(), expected, "{damage}");
        // A reader after the damaged event does not report it.
        let last: serde_json::Value = serde_json::from_str(expected[2]).unwrap();
        let cursor = last["cursor"].as_str().unwrap();
        assert_eq!(read(folder.path(), &["changes", "--since", cursor]).0, 0);
    }
}

fn read(folder: &Path, reader: &[&str]) -> (i32, String, String) {
    said(&rutter(folder, &[reader, &["--store", "replica.db"]].concat()))
}

#[test]
fn flipped_bit_never_gives_wrong_output_with_exit_code_0() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    note_left_out(&make(&path));
    // Create the full-text index before the damage.
    read(folder.path(), READERS[5]);
    // The last writer checkpoints the log.
    drop(SqliteStore::open(&path, StoreOptions::default()).unwrap());
    let good = fs::read(&path).unwrap();
    assert!(!folder.path().join("replica.db-wal").exists());
    let expected: Vec<String> = READERS
        .iter()
        .map(|reader| {
            let (code, data, _) = read(folder.path(), reader);
            assert_eq!(code, 0, "{reader:?}");
            data
        })
        .collect();
    let mut n_seen = 0;
    for place in 0..150 {
        let mut bytes = good.clone();
        let at = (place * 2 + 1) * bytes.len() / 300;
        bytes[at] ^= 1 << (place % 8);
        for (reader, expected) in READERS.iter().zip(&expected) {
            for end in ["-wal", "-shm", "-journal"] {
                drop(fs::remove_file(folder.path().join(format!("replica.db{end}"))));
            }
            fs::write(&path, &bytes).unwrap();
            let (code, data, talk) = read(folder.path(), reader);
            if code == 0 {
                assert_eq!(&data, expected, "{reader:?} with bit {} of byte {at}", place % 8);
                continue;
            }
            n_seen += 1;
            assert!(matches!(code, 1 | 4), "{reader:?}, byte {at}: {code} {talk}");
            assert!(!talk.contains("panicked"), "{reader:?}, byte {at}: {talk}");
            // All printed lines are correct.
            let known: BTreeSet<&str> = expected.lines().collect();
            for line in data.lines() {
                assert!(known.contains(line), "{reader:?}, byte {at}: {line}\n{talk}");
            }
        }
    }
    assert!(20 < n_seen, "{n_seen}");
}
