//! A replica file with one flipped bit: readers report the damage and never print a wrong byte.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rutter_store::{Options, SqliteStore};

use crate::replica::{make, rutter, said};

const READERS: [&[&str]; 6] = [
    &["export", "--format", "jsonl"],
    &["export", "--format", "csv"],
    &["get", "https://harbour.example/docs/tides-api.html", "--format", "json"],
    &["changes", "--content", "text"],
    &["list", "--format", "jsonl", "--withheld"],
    &["search", "tide"],
];

fn read(folder: &Path, reader: &[&str]) -> (i32, String, String) {
    said(&rutter(folder, &[reader, &["--store", "replica.db"]].concat()))
}

#[test]
fn a_flipped_bit_never_reaches_an_output_with_exit_0() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    drop(make(&path));
    // The index is part of the file; it is made before the damage.
    read(folder.path(), READERS[5]);
    // Whoever writes last folds the log in.
    drop(SqliteStore::open(&path, Options::default()).unwrap());
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
            // What is printed beside the error is right.
            let known: BTreeSet<&str> = expected.lines().collect();
            for line in data.lines() {
                assert!(known.contains(line), "{reader:?}, byte {at}: {line}\n{talk}");
            }
        }
    }
    assert!(20 < n_seen, "{n_seen}");
}
