//! Files that are full, locked, foreign, damaged, older or newer.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rutter_page::Timestamp;
use rutter_store::prelude::*;
use rutter_store::{
    AccessMode, CheckDepth, CommitError, CommitOptions, Expiry, LeaseError, NoteKind, NoteValue,
    OpenError, PageSelection, QueryError, ResponseValidators, SearchQuery, SqliteStore, StageError,
    StagingBuffer, StagingMode, StorageError, StoreOptions, UrlNote, WriteError, remove_unused,
};

use crate::site::{Draft, all_lines, at, begin, keys, publisher, put, url};

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, StoreOptions::default()).unwrap()
}

fn many(hour: i64, n: usize) -> Vec<Draft> {
    // Content that does not compress well.
    (0..n).map(|n| Draft::new(n, hour, &format!("{:x}", n * 2_654_435_761))).collect()
}

fn filled(path: &Path, n: usize) -> SqliteStore {
    let store = open(path);
    let (_, lease) = publisher(&store);
    put(&store, &lease, begin("all", StagingMode::Snapshot, 1), &many(0, n)).unwrap();
    store.release(lease).unwrap();
    store
}

#[test] // F08
fn rejects_foreign_files_without_changing_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    for bytes in [&b"not a database at all, but long enough to look at"[..], b"SQLite format", b"x"]
    {
        fs::write(&path, bytes).unwrap();
        for access in [AccessMode::Read, AccessMode::Write] {
            let error =
                SqliteStore::open(&path, StoreOptions { access, ..StoreOptions::default() });
            assert!(matches!(error, Err(OpenError::NotAReplica)), "{error:?}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    // A database of another program.
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE notes (x)").unwrap();
    let before = fs::read(&path).unwrap();
    let error = SqliteStore::open(&path, StoreOptions::default());
    assert!(matches!(error, Err(OpenError::NotAReplica)), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
    // A folder, and a missing file.
    assert!(SqliteStore::open(folder.path(), StoreOptions::default()).is_err());
    let reading = StoreOptions { access: AccessMode::Read, ..StoreOptions::default() };
    let error = SqliteStore::open(&folder.path().join("none"), reading);
    assert!(matches!(error, Err(OpenError::Missing)));
    assert!(!folder.path().join("none").exists());
}

#[test] // F08
fn rejects_newer_formats() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    drop(filled(&path, 3));
    let database = Connection::open(&path).unwrap();
    database.execute("UPDATE meta SET value = 99 WHERE key = 'format'", []).unwrap();
    drop(database);
    for access in [AccessMode::Read, AccessMode::Write] {
        let error = SqliteStore::open(&path, StoreOptions { access, ..StoreOptions::default() });
        assert!(matches!(error, Err(OpenError::Newer { found: 99, known: 4 })), "{error:?}");
    }
}

/// `cargo test -p rutter-store reads_stored_file` with `UPDATE_EXPECTED=1` writes the file of the newest
/// format; files of older formats are never written again.
#[test] // F09
fn reads_stored_file_of_format_1() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format-1.db.zst");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        let store = open(&path);
        let (_, lease) = publisher(&store);
        put(&store, &lease, begin("all", StagingMode::Snapshot, 1), &many(0, 30)).unwrap();
        put(&store, &lease, begin("all", StagingMode::Delta, 2), &[Draft::new(3, 2, "changed")])
            .unwrap();
        put(&store, &lease, begin("all", StagingMode::Snapshot, 3), &many(3, 25)).unwrap();
        while !store.index(100).unwrap().is_current {}
        store.release(lease).unwrap();
        drop(store);
        let bytes = zstd::encode_all(fs::File::open(&path).unwrap(), 19).unwrap();
        fs::create_dir_all(stored.parent().unwrap()).unwrap();
        fs::write(&stored, bytes).unwrap();
    }
    let bytes = zstd::decode_all(fs::File::open(&stored).unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    let store = open(&path);
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
    let expected: Vec<_> = many(3, 25).into_iter().map(|draft| (draft.key, draft.line)).collect();
    assert_eq!(all_lines(&store), expected);
    assert_eq!(store.changes_since(None, 1000).unwrap().events.len(), 61);
    let hits = store.search(&SearchQuery::parse("berth 7").unwrap(), 5).unwrap().hits;
    assert_eq!(hits[0].page.url, url(7));
    // The file can be written again.
    let (id, lease) = publisher(&store);
    put(&store, &lease, begin("all", StagingMode::Delta, 4), &[Draft::new(77, 4, "new")]).unwrap();
    assert_eq!(keys(&store, id, "all").len(), 26);
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
}

/// The file was written by format 2, which sealed neither entities nor validators.
#[test] // F09
fn reads_and_seals_stored_file_of_format_2() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format-2.db.zst");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let note = UrlNote::new(&url(40), NoteValue::LeftOut("status:404".into()), at(1));
    let entity = rutter_spxi::Entity {
        name: Some("Port Selk".into()),
        negative_tags: vec!["NOT a band".into()],
        bdr: Some(1.0),
        ..rutter_spxi::Entity::default()
    };
    let bytes = zstd::decode_all(fs::File::open(&stored).unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    let store = open(&path);
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
    let id = store.publishers().unwrap()[0].id;
    assert_eq!(store.entities(id).unwrap(), [entity]);
    assert_eq!(store.url_note(note.kind(), &note.url).unwrap().as_ref(), Some(&note));
    for damage in ["UPDATE entity SET name = 'Selk'", "UPDATE url_note SET value = 'status:410'"] {
        let database = Connection::open(&path).unwrap();
        assert_eq!(database.execute(damage, []).unwrap(), 1);
    }
    let is_damage =
        |error: QueryError| matches!(error, QueryError::Storage(StorageError::Damaged(_)));
    assert!(is_damage(store.entities(id).unwrap_err()));
    assert!(is_damage(store.url_note(note.kind(), &note.url).unwrap_err()));
    let faults = store.check(CheckDepth::Content).unwrap();
    assert_eq!(faults.len(), 2, "{faults:?}");
}

/// `fixtures/format-3/README.md` says how the file was made: it has a note of every kind.
#[test] // F09
fn converts_site_state_and_notes_of_stored_file_of_format_3() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/format-3/replica.db.zst");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    fs::write(&path, zstd::decode_all(fs::File::open(&stored).unwrap()).unwrap()).unwrap();
    let read = StoreOptions { access: AccessMode::Read, ..StoreOptions::default() };
    let older = SqliteStore::open(&path, read);
    assert!(matches!(older, Err(OpenError::Older { found: 3, known: 4 })), "{older:?}");
    // One note and one validator were damaged before the conversion.
    let database = Connection::open(&path).unwrap();
    let rows = |query: &str| -> BTreeMap<String, String> {
        let mut statement = database.prepare(query).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    };
    // One bit turns a text into a blob, which no JSON function accepts.
    let blob = "INSERT INTO validator (url, publisher, etag, checked, seal)
        SELECT 'left:http://127.0.0.1:8137/blob', publisher, x'6e6f', checked, 0
        FROM validator LIMIT 1";
    assert_eq!(database.execute(blob, []).unwrap(), 1);
    let before = rows("SELECT url, checked FROM validator");
    let policy = rows("SELECT origin, policy FROM publisher");
    for damage in [
        "UPDATE validator SET etag = 'no' WHERE url = 'ai-train:http://127.0.0.1:8137/trained'",
        "UPDATE validator SET etag = 'x' WHERE url = 'http://127.0.0.1:8137/de/'",
    ] {
        assert_eq!(database.execute(damage, []).unwrap(), 1);
    }
    let store = open(&path);
    let id = store.publishers().unwrap()[0].id;
    assert_eq!(store.site_state(id).unwrap().as_ref(), policy.values().next());
    let [is_page, is_prefixed] = [true, false]
        .map(|is_page| before.keys().filter(|url| url.starts_with("http") == is_page).count());
    assert_eq!(rows("SELECT url, checked FROM validator").len(), is_page);
    let after = rows("SELECT kind || ':' || url, noted FROM url_note");
    assert_eq!(after.len(), is_prefixed);
    let mut times: [Vec<&String>; 2] = [before.values().collect(), after.values().collect()];
    for times in &mut times {
        times.sort();
    }
    assert!(times[1].iter().all(|time| times[0].contains(time)));
    let url = |path: &str| format!("http://127.0.0.1:8137{path}");
    let value = |kind: NoteKind, path: &str| {
        store.url_note(kind, &url(path)).unwrap().map(|note| note.value)
    };
    let damaged = store.url_note(NoteKind::NoPage, &url("/blob"));
    assert!(matches!(damaged, Err(QueryError::Storage(StorageError::Damaged(_)))), "{damaged:?}");
    let known = |etag: &str| ResponseValidators { etag: Some(etag.into()), last_modified: None };
    let time = |text: &str| Timestamp::parse(text).unwrap();
    let expected = [
        ("/docs/berthing.html", NoteValue::ArcChecksum(Some(format!("sha256:{}", "a".repeat(64))))),
        ("/picture", NoteValue::NoPage(known("\"f4dc1c96a30fbdeb\""))),
        ("/picture", NoteValue::NoPageReason("media-type:image/jpeg".into())),
        ("/closed", NoteValue::WithheldPage(known("\"0dfc8391d83d025b\""))),
        ("/old", NoteValue::MissingSince(None)),
        ("/old", NoteValue::MovedTo(url("/berths"))),
        ("/lost", NoteValue::Requested),
        ("/picture", NoteValue::Lastmod(time("2026-09-02T00:00:00Z"))),
        (
            "/expiring",
            NoteValue::Expiry(Expiry {
                page: Some(time("2027-11-01T00:00:00Z")),
                header: Some(time("2027-12-01T00:00:00Z")),
            }),
        ),
        ("/lost", NoteValue::LeftOut("http-status:404".into())),
    ];
    for (path, expected) in expected {
        assert_eq!(value(expected.kind(), path), Some(expected), "{path}");
    }
    let snapshot = value(NoteKind::ArcSnapshot, "/berths");
    assert!(
        matches!(snapshot, Some(NoteValue::ArcSnapshot(Some(json))) if json.contains("berths"))
    );
    assert!(matches!(
        value(NoteKind::MissingSince, "/lost"),
        Some(NoteValue::MissingSince(Some(_)))
    ));
    // Damaged rows stay damaged; all others are sound.
    assert!(store.url_note(NoteKind::Training, &url("/trained")).is_err());
    assert!(store.validator(&url("/de/")).is_err());
    assert_eq!(store.check(CheckDepth::Content).unwrap().len(), 3);
    drop(store);
    drop(open(&path));
}

#[test] // F08: what is wrong is said, never a panic, never silence about bodies
fn flipped_bits_are_detected_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let expected = {
        let store = filled(&path, 60);
        all_lines(&store)
    };
    let good = fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.db");
    let mut random = 88_172_645_463_325_252_u64;
    let mut n_seen = 0;
    for _ in 0..300 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut bytes = good.clone();
        let at = usize::try_from(random).unwrap() % bytes.len();
        bytes[at] ^= 1 << (random >> 60 & 7);
        for name in ["damaged.db-wal", "damaged.db-shm"] {
            drop(fs::remove_file(folder.path().join(name)));
        }
        fs::write(&damaged, bytes).unwrap();
        let reading = StoreOptions { access: AccessMode::Read, ..StoreOptions::default() };
        let Ok(store) = SqliteStore::open(&damaged, reading) else {
            n_seen += 1;
            continue;
        };
        let said = store.check(CheckDepth::Content);
        let lines = store.lines(&PageSelection::default(), None, 1000);
        // If the check finds nothing, every page is unchanged.
        if said.as_ref().is_ok_and(Vec::is_empty) {
            let lines = lines.unwrap().into_iter().map(Result::unwrap);
            let lines: Vec<_> = lines.map(|(row, line)| (row.url, line)).collect();
            assert_eq!(lines, expected, "byte {at}");
        } else {
            n_seen += 1;
        }
    }
    assert!(30 < n_seen, "{n_seen}");
}

#[test]
fn check_finds_manual_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    for change in [
        "UPDATE page SET title = 'Buoy' WHERE id = 3",
        "UPDATE page SET language = 'fr' WHERE id = 3",
        "UPDATE page SET modified = '2020-01-01T00:00:00Z' WHERE id = 3",
        "UPDATE page SET digest = (SELECT digest FROM page WHERE id = 4) WHERE id = 3",
        "UPDATE page SET body = NULL WHERE id = 3",
        "DELETE FROM member WHERE page = 3",
        "UPDATE body SET z = zeroblob(20) WHERE id = (SELECT body FROM page WHERE id = 3)",
    ] {
        drop(fs::remove_file(&path));
        assert_eq!(filled(&path, 5).check(CheckDepth::Content).unwrap(), [""; 0]);
        let connection = Connection::open(&path).unwrap();
        assert_eq!(connection.execute(change, []).unwrap(), 1, "{change}");
        drop(connection);
        assert_ne!(open(&path).check(CheckDepth::Content).unwrap(), [""; 0], "{change}");
    }
}

#[test] // F08
fn rejects_truncated_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    drop(filled(&path, 300));
    let length = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    let reading = StoreOptions { access: AccessMode::Read, ..StoreOptions::default() };
    for access in [AccessMode::Read, AccessMode::Write] {
        let error = SqliteStore::open(&path, StoreOptions { access, ..reading.clone() });
        let is_seen = matches!(error, Err(OpenError::Storage(StorageError::Damaged(_))));
        assert!(is_seen, "{error:?}");
    }
}

#[test]
fn removes_a_replica_only_if_it_is_empty_and_unused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let store = open(&path);
    store.register(crate::site::ORIGIN, &[]).unwrap();
    // Another connection has it open.
    assert!(!matches!(remove_unused(&path), Ok(true)));
    drop(store);
    assert!(remove_unused(&path).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(filled(&path, 1));
    assert!(!remove_unused(&path).unwrap());
    assert_eq!(all_lines(&open(&path)).len(), 1);
    // A pause that a site asked for counts as data.
    let path = folder.path().join("paused.db");
    let store = open(&path);
    let (_, lease) = publisher(&store);
    store.pause(&lease, Some(at(9))).unwrap();
    drop(store);
    assert!(!remove_unused(&path).unwrap());
    // It stays in WAL mode, so that readers do not block writers.
    assert_eq!(fs::read(&path).unwrap()[18..20], [2, 2]);
}

#[test] // F01: a full disk keeps the old state, and writing continues once there is space
fn full_disk_keeps_the_old_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let old = all_lines(&filled(&path, 50));
    let size = fs::metadata(&path).unwrap().len();
    // From no free space up to enough.
    let mut outcomes = Vec::new();
    for step in 0..40 {
        let tuning = StagingBuffer { held: 40, batch: 25, ..StagingBuffer::DEFAULT };
        let ceiling = Some(size + step * 50_000);
        let store =
            SqliteStore::open(&path, StoreOptions { ceiling, tuning, ..StoreOptions::default() });
        let store = store.unwrap();
        let (_, lease) = publisher(&store);
        let mut staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 2)).unwrap();
        let mut done = Ok(());
        for draft in many(2, 600) {
            let item = rutter_store::StagedPage {
                key: &draft.key,
                modified: draft.modified,
                digest: draft.digest(),
                title: "Berth",
                language: "en",
                line: &draft.line,
                withheld: None,
            };
            if let Err(error) = staging.add(&item) {
                assert!(matches!(error, StageError::Storage(StorageError::Full)), "{error}");
                done = Err(());
                break;
            }
        }
        if done.is_ok() {
            done = staging.commit(&CommitOptions::plain()).map(drop).map_err(|error| {
                assert!(matches!(error, CommitError::Storage(StorageError::Full)), "{error}");
            });
        } else {
            drop(staging);
        }
        outcomes.push(done.is_ok());
        let now = all_lines(&store);
        assert!(if done.is_ok() { now.len() == 600 } else { now == old });
        assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
        store.release(lease).unwrap();
        if done.is_ok() {
            break;
        }
    }
    assert!(!outcomes[0] && outcomes[outcomes.len() - 1], "{outcomes:?}");
}

#[test] // F05
fn reads_a_read_only_replica() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let old = all_lines(&filled(&path, 5));
    let reading = StoreOptions { access: AccessMode::Read, ..StoreOptions::default() };
    let store = SqliteStore::open(&path, reading).unwrap();
    assert_eq!(all_lines(&store), old);
    assert!(matches!(
        store.register("https://x.example", &[]),
        Err(WriteError::Storage(StorageError::ReadOnly))
    ));
    let id = store.publishers().unwrap()[0].id;
    assert!(matches!(
        store.lease(id, at(0), at(1)),
        Err(LeaseError::Storage(StorageError::ReadOnly))
    ));
    assert!(matches!(store.index(1), Err(WriteError::Storage(StorageError::ReadOnly))));
}

#[test] // F06: a lock that is not given back in time is said, not waited for
fn reports_a_busy_replica() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    drop(filled(&path, 5));
    let options = StoreOptions { wait: Duration::from_millis(20), ..StoreOptions::default() };
    let store = SqliteStore::open(&path, options).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = store.register("https://x.example", &[]);
    assert!(matches!(busy, Err(WriteError::Storage(StorageError::Busy))), "{busy:?}");
    // Readers are not blocked.
    assert_eq!(all_lines(&store).len(), 5);
    other.execute_batch("ROLLBACK").unwrap();
    store.register("https://x.example", &[]).unwrap();
}

#[test] // F06: two handles on one file, as two processes have them
fn two_syncs_of_one_file_exclude_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let (one, two) = (open(&path), open(&path));
    let (id, lease) = publisher(&one);
    assert!(matches!(two.lease(id, at(1), at(2)), Err(LeaseError::Held { .. })));
    let other = two.register("https://other.example", &[]).unwrap();
    let other = two.lease(other, at(0), at(100)).unwrap();
    let tuning = 0..300;
    let mut first = one.stage(&lease, begin("all", StagingMode::Snapshot, 1)).unwrap();
    let mut second = two.stage(&other, begin("all", StagingMode::Snapshot, 1)).unwrap();
    for n in tuning {
        Draft::new(n, 0, "one").add(&mut *first);
        Draft::new(n + 1000, 0, "two").add(&mut *second);
    }
    first.commit(&CommitOptions::plain()).unwrap();
    assert_eq!(all_lines(&two).len(), 300);
    second.commit(&CommitOptions::plain()).unwrap();
    assert_eq!(all_lines(&one).len(), 600);
    // Opening the file again does not delete the staging of a running process.
    let third = one.stage(&lease, begin("all", StagingMode::Delta, 2)).unwrap();
    drop(open(&path));
    third.commit(&CommitOptions::plain()).unwrap();
}

#[test] // F06
fn many_processes_create_one_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..10 {
        let path = folder.path().join(format!("{round}.db"));
        let stores: Vec<SqliteStore> = std::thread::scope(|scope| {
            let openings: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&path))).collect();
            openings.into_iter().map(|opening| opening.join().unwrap()).collect()
        });
        let ids: std::collections::BTreeSet<u64> =
            stores.iter().map(|store| store.cursor().unwrap().store).collect();
        assert_eq!(ids.len(), 1);
    }
}

#[test]
fn readers_report_no_damage_while_a_sync_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let store = filled(&path, 1);
    let (_, lease) = publisher(&store);
    let is_done = std::sync::atomic::AtomicBool::new(false);
    let order = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        let history = scope.spawn(|| {
            let mut cursor = None;
            while !is_done.load(order) {
                cursor = Some(store.changes_since(cursor, 1000)?.next);
            }
            Ok::<_, QueryError>(())
        });
        let content = scope.spawn(|| {
            while !is_done.load(order) {
                assert!(store.line(&url(0))?.is_some());
            }
            Ok::<_, QueryError>(())
        });
        for hour in 2..400 {
            put(&store, &lease, begin("all", StagingMode::Snapshot, hour), &many(hour, 1)).unwrap();
        }
        is_done.store(true, order);
        history.join().unwrap().unwrap();
        content.join().unwrap().unwrap();
    });
}

#[test] // readers are never blocked, and see one moment
fn readers_see_old_or_new_pages_during_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let store = filled(&path, 200);
    let (id, lease) = publisher(&store);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let selection = PageSelection { publisher: Some(id), ..PageSelection::default() };
            let mut seen = Vec::new();
            while seen.last() != Some(&at(9)) {
                let lines = store.lines(&selection, None, 1000).unwrap();
                let lines: Vec<_> = lines.into_iter().map(Result::unwrap).collect();
                let first = lines[0].0.modified;
                assert!(lines.iter().all(|(row, _)| row.modified == first));
                if seen.last() != Some(&first) {
                    seen.push(first);
                }
            }
            seen
        });
        for hour in 2..10 {
            put(&store, &lease, begin("all", StagingMode::Snapshot, hour), &many(hour, 200))
                .unwrap();
        }
        let seen = reader.join().unwrap();
        assert!(seen.is_sorted());
    });
}

#[test]
fn large_publisher_gets_its_own_dictionary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let store = open(&path);
    let (_, lease) = publisher(&store);
    let long = |n: usize, hour: i64| {
        let words: Vec<String> =
            (0..120).map(|at| format!("word{}", (n * 31 + at * 17) % 400)).collect();
        Draft::new(n, hour, &words.join(" "))
    };
    let some: Vec<Draft> = (0..900).map(|n| long(n, 0)).collect();
    put(&store, &lease, begin("all", StagingMode::Snapshot, 1), &some).unwrap();
    let ask = |question: &str| -> i64 {
        Connection::open(&path).unwrap().query_row(question, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(ask("SELECT count(*) FROM dict"), 0);
    let more: Vec<Draft> = (900..1200).map(|n| long(n, 2)).collect();
    put(&store, &lease, begin("all", StagingMode::Delta, 2), &more).unwrap();
    assert_eq!(ask("SELECT count(*) FROM dict"), 1);
    assert_eq!(ask("SELECT count(*) FROM body WHERE dict IS NULL"), 900);
    let average = |dict: &str| {
        ask(&format!("SELECT CAST(avg(length(z)) AS INTEGER) FROM body WHERE dict IS {dict}"))
    };
    assert!(average("NOT NULL") < average("NULL") * 3 / 4);
    // Other publishers use it until they have their own; it is never trained again.
    let other = store.register("https://other.example", &[]).unwrap();
    let other = store.lease(other, at(0), at(100)).unwrap();
    let few: Vec<Draft> = (0..5).map(|n| long(n, 0)).collect();
    put(&store, &other, begin("all", StagingMode::Snapshot, 1), &few).unwrap();
    put(&store, &lease, begin("all", StagingMode::Delta, 3), &[long(3, 3)]).unwrap();
    assert_eq!(ask("SELECT count(*) FROM dict"), 1);
    assert_eq!(ask("SELECT count(*) FROM body WHERE dict IS NOT NULL"), 306);
    assert_eq!(store.line(&url(1100)).unwrap(), Some(more[200].line.clone()));
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
}

#[test]
fn maintenance_releases_free_space() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let store = filled(&path, 3000);
    let (_, lease) = publisher(&store);
    let word = CommitOptions {
        mass_deletion: rutter_scp::MassDeletionPolicy::Allowed,
        ..CommitOptions::plain()
    };
    let mut staging = store.stage(&lease, begin("all", StagingMode::Snapshot, 2)).unwrap();
    Draft::new(0, 0, "alone").add(&mut *staging);
    staging.commit(&word).unwrap();
    let pages = || -> i64 {
        let database = Connection::open(&path).unwrap();
        database.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap()
    };
    let before = pages();
    store.maintain(at(100)).unwrap();
    assert!(pages() < before / 2, "{} of {before}", pages());
    assert!(matches!(store.changes_since(None, 1), Err(QueryError::ExpiredCursor)));
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
}
