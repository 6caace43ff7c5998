//! Tests of commands that read a replica, with the example pages.
//!
//! Sessions that mention `replica.db` get it from [`make`].

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use rutter_arc::ArcEntry;
use rutter_page::{LineDigest, PageLimits, PageReader, PageUrl, Timestamp};
use rutter_spxi::{Collision, CollisionRisk, Entity};
use rutter_store::prelude::*;
use rutter_store::{
    CommitOptions, PageSource, Quota, RemovalCause, SqliteStore, StagedPage, StagingMode,
    StagingOptions, StoreOptions, WithheldReason,
};

const ORIGIN: &str = "https://harbour.example";

fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn lines() -> Vec<String> {
    let text = fs::read_to_string(crate::root().join("examples/harbour.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn begin(mode: StagingMode, now: &str) -> StagingOptions<'static> {
    let now = time(now);
    let (section, source, quota) = ("all", PageSource::Scp, Quota::DEFAULT);
    StagingOptions { section, mode, generated: now, source, quota, now }
}

fn add(staging: &mut dyn Staging, line: &str, withheld: Option<WithheldReason>) {
    let page = PageReader::new(PageLimits::SPEC).read(line, 1, &mut ()).unwrap().unwrap();
    staging.add(&StagedPage { withheld, ..StagedPage::of_page(&page, line) }).unwrap();
}

/// Creates a replica with two days of the example: a snapshot, then a changed, a removed and a
/// withheld page; and a second site.
pub(crate) fn make(path: &Path) -> SqliteStore {
    let store = SqliteStore::open(path, StoreOptions::default()).unwrap();
    let monday = "2026-10-05T18:00:00Z";
    let tuesday = "2026-10-06T18:00:00Z";
    let publisher = store.register(ORIGIN, &[]).unwrap();
    let lease = store.lease(publisher, time(monday), time("2026-10-09T00:00:00Z")).unwrap();
    let mut staging = store.stage(&lease, begin(StagingMode::Snapshot, monday)).unwrap();
    for line in lines() {
        add(&mut *staging, &line, None);
    }
    staging.commit(&CommitOptions::plain()).unwrap();
    let mut staging = store.stage(&lease, begin(StagingMode::Delta, tuesday)).unwrap();
    for line in lines() {
        if line.contains("/docs/tides-api.html\",\"title") {
            let line = line.replace("2026-10-05T15:00:00Z", "2026-10-06T07:30:00Z");
            add(&mut *staging, &line, None);
        }
    }
    staging.remove(&format!("{ORIGIN}/shop/rope-doormat.html"), RemovalCause::Removed).unwrap();
    staging.commit(&CommitOptions::plain()).unwrap();
    let shop = format!("{ORIGIN}/shop/");
    assert_eq!(
        store.withhold(&lease, &[(&shop, WithheldReason::Consent)], time(tuesday)).unwrap(),
        1
    );
    let entry = |path: &str, open| {
        let url = PageUrl::parse(format!("{ORIGIN}{path}")).unwrap();
        ArcEntry { auth_required: Some(false), ..ArcEntry::new(url, Some(open)) }
    };
    let mut entries = [entry("/", true), entry("/shop/", false)].into_iter();
    store.replace_arc(&lease, &mut entries).unwrap();
    let entity = Entity {
        id: Some(format!("{ORIGIN}/#town")),
        entity_type: Some("City".into()),
        name: Some("Port Selk".into()),
        description: Some("Tidal harbour town at the mouth of the river Selk.".into()),
        negative_tags: vec!["NOT a band".into()],
        markers: vec!["behind a granite mole 412 metres long".into()],
        collisions: vec![Collision {
            with: Some("Port Selk (band)".into()),
            attribute: Some("a town, not a group of musicians".into()),
            risk: CollisionRisk::of_word("HIGH").or(CollisionRisk::of_word("high")),
        }],
        ..Entity::default()
    };
    store.replace_entities(&lease, &[entity]).unwrap();
    store.release(lease).unwrap();

    let publisher = store.register("https://pier.example", &[]).unwrap();
    let lease = store.lease(publisher, time(tuesday), time("2026-10-09T00:00:00Z")).unwrap();
    let mut staging = store
        .stage(
            &lease,
            StagingOptions { source: PageSource::Html, ..begin(StagingMode::Visit, tuesday) },
        )
        .unwrap();
    add(&mut *staging, &page("https://pier.example/", PIER, "The pier is closed at ebb."), None);
    staging.commit(&CommitOptions::plain()).unwrap();
    store.release(lease).unwrap();
    store
}

/// A title with a formula and with terminal control characters.
const PIER: &str = "=2+5\\u001b]0;pier\\u0007";

fn page(url: &str, title: &str, text: &str) -> String {
    format!(
        "{{\"url\":\"{url}\",\"title\":\"{title}\",\"description\":\"About it\",\
         \"modified\":\"2026-10-04T08:00:00Z\",\"language\":\"en\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}"
    )
}

pub(crate) fn rutter(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rutter"))
        .args(args)
        .current_dir(folder)
        .env("SOURCE_DATE_EPOCH", "1793491200")
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

pub(crate) fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn missing_replica_is_reported_and_not_created() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("other.db"), "words").unwrap();
    for command in [
        &["status"][..],
        &["get", "https://harbour.example/"],
        &["list"],
        &["changes"],
        &["search", "tide"],
        &["export", "--format", "jsonl"],
        &["entities"],
    ] {
        let (code, data, talk) = said(&rutter(folder.path(), command));
        assert_eq!((code, data.as_str()), (2, ""), "{command:?}");
        assert!(talk.starts_with("error: .rutter/replica.db: there is no replica\n"), "{talk}");
        let other = [command, &["--store", "other.db"]].concat();
        let (code, _, talk) = said(&rutter(folder.path(), &other));
        assert_eq!(code, 4, "{command:?}");
        assert!(
            talk.starts_with("error: other.db: the file is not a replica\nhint: "),
            "{command:?}: {talk}"
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test] // G02
fn escapes_foreign_text_in_terminal_and_csv() {
    let folder = tempfile::tempdir().unwrap();
    drop(make(&folder.path().join("replica.db")));
    let store = ["--store", "replica.db"];
    for command in [
        &["list"][..],
        &["search", "pier"],
        &["get", "pier.example/"],
        &["get", "pier.example/", "--format", "text"],
        &["get", "pier.example/", "--format", "json"],
        &["export", "--format", "csv"],
        &["export", "--format", "jsonl"],
        &["status"],
        &["changes", "--content", "markdown"],
    ] {
        let (code, data, _) = said(&rutter(folder.path(), &[command, &store].concat()));
        assert_eq!(code, 0, "{command:?}");
        assert!(!data.contains(['\u{1b}', '\u{7}']), "{command:?}: {data}");
    }
    let (_, data, _) =
        said(&rutter(folder.path(), &[&["export", "--format", "csv"], &store[..]].concat()));
    assert!(
        data.contains("\r\nhttps://pier.example/,https://pier.example,'=2+5]0;pier,en,"),
        "{data}"
    );
}

#[test]
fn raw_output_equals_stored_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let store = SqliteStore::open(&path, StoreOptions::default()).unwrap();
    let publisher = store.register(ORIGIN, &[]).unwrap();
    let lease = store.lease(publisher, time("2026-10-05T00:00:00Z"), time("2026-10-06T00:00:00Z"));
    let lease = lease.unwrap();
    // Characters that text output removes, and space between members.
    let odd = page(&format!("{ORIGIN}/odd"), "a\u{7f}b\u{9b}1mc\u{202e}", "ok")
        .replace(",\"language\"", " ,\t\"language\"");
    let mut staging =
        store.stage(&lease, begin(StagingMode::Visit, "2026-10-05T00:00:00Z")).unwrap();
    add(&mut *staging, &odd, None);
    staging.commit(&CommitOptions::plain()).unwrap();
    drop(store);
    let args = ["get", "harbour.example/odd", "--format", "json", "--store", "replica.db"];
    assert_eq!(said(&rutter(folder.path(), &args)).1, format!("{odd}\n"));
    let args = ["export", "--format", "jsonl", "--store", "replica.db"];
    let (_, data, _) = said(&rutter(folder.path(), &args));
    assert!(data.ends_with(&format!("\"page\":{odd}}}\n")), "{data}");
}

#[test] // D95
fn exported_collection_has_state_of_its_section() {
    let folder = tempfile::tempdir().unwrap();
    let store = make(&folder.path().join("replica.db"));
    let publisher = store.publisher(ORIGIN).unwrap().unwrap();
    let mut state = rutter_scp::SectionState::EMPTY;
    let selection =
        rutter_store::PageSelection { publisher: Some(publisher.id), ..Default::default() };
    for (row, line) in store.lines(&selection, None, 100).unwrap().into_iter().map(Result::unwrap) {
        state.add(&row.url, LineDigest::of(line.as_bytes()));
    }
    let args = ["export", "--format", "scp", "--site", "harbour.example", "-o", "all.scp.zst"];
    let (code, _, talk) =
        said(&rutter(folder.path(), &[&args[..], &["--store", "replica.db"]].concat()));
    assert_eq!(code, 0, "{talk}");
    let (code, data, _) = said(&rutter(folder.path(), &["check", "all.scp.zst"]));
    assert_eq!((code, data.as_str()), (0, "all.scp.zst: accepted, 15 pages, checksum verified\n"));
    let (_, data, _) = said(&rutter(folder.path(), &["scp", "inspect", "all.scp.zst"]));
    assert!(data.contains(&format!("state      {state}")), "{data}");
}

#[test] // SCP-180 SCP-188
fn exported_collection_is_valid_for_any_replica() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        SqliteStore::open(&folder.path().join("replica.db"), StoreOptions::default()).unwrap();
    let now = "2026-10-05T18:00:00Z";
    let publisher = store.register(ORIGIN, &[]).unwrap();
    let lease = store.lease(publisher, time(now), time("2026-10-09T00:00:00Z")).unwrap();
    let begun = StagingOptions { source: PageSource::Html, ..begin(StagingMode::Visit, now) };
    let mut staging = store.stage(&lease, begun).unwrap();
    let limits = PageLimits { blocks: usize::MAX, ..PageLimits::SPEC };
    let blocks = "{\"type\":\"text\",\"text\":\"Berth.\"},".repeat(1500);
    let heading = "\"content\":[{\"type\":\"heading\",\"level\":9,\"text\":\"Berths\"},";
    let unknown = "\"content\":[{\"type\":\"widget\",\"href\":\"javascript:alert(1)\"},\
        {\"type\":\"widget\",\"label\":\"javascript: the good parts\"},";
    let plain = page("https://harbour.example/a", "A", "The quay.");
    for line in [
        plain.replace("/a\"", "/long\"").replace("\"content\":[", &format!("{heading}{blocks}")),
        plain.replace("/a\"", "/widget\"").replace("\"content\":[", unknown),
        plain.replace("\"language\"", "\"schema\":{\"url\":\"data:text/html,x\"},\"language\""),
    ] {
        let page = PageReader::new(limits).read(&line, 1, &mut ()).unwrap().unwrap();
        staging.add(&StagedPage::of_page(&page, &line)).unwrap();
    }
    staging.commit(&CommitOptions::plain()).unwrap();
    store.release(lease).unwrap();
    drop(store);
    let args = ["export", "--format", "scp", "-o", "all.scp", "--store", "replica.db"];
    let (code, _, talk) = said(&rutter(folder.path(), &args));
    assert_eq!((code, talk.contains("3 pages corrected")), (0, true), "{talk}");
    let (_, data, _) = said(&rutter(folder.path(), &["check", "--format", "jsonl", "all.scp"]));
    // A block type of a later version is passed on (SCP-100); a check of version 0.1 reports it.
    assert_eq!(
        data.matches("\"code\":").count(),
        data.matches("\"code\":\"SC021\"").count(),
        "{data}"
    );
    let text = fs::read_to_string(folder.path().join("all.scp")).unwrap();
    assert!(!text.contains("alert") && !text.contains("data:text"), "{text}");
    assert!(text.contains("the good parts") && text.contains("Berths"), "{text}");
}

#[test]
fn export_is_complete_or_absent() {
    let folder = tempfile::tempdir().unwrap();
    drop(make(&folder.path().join("replica.db")));
    let export = |args: &[&str]| {
        let base = ["export", "--store", "replica.db", "--format"];
        said(&rutter(folder.path(), &[&base[..], args].concat()))
    };
    let names = || {
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with("replica.db"))
            .collect();
        names.sort();
        names
    };
    // A collection needs one site, and a folder that is not empty is kept.
    let (code, _, talk) = export(&["scp", "-o", "all.scp"]);
    assert_eq!((code, talk.contains("--site")), (2, true), "{talk}");
    fs::create_dir(folder.path().join("full")).unwrap();
    fs::write(folder.path().join("full/mine"), "mine").unwrap();
    let (code, _, talk) = export(&["markdown", "-o", "full"]);
    assert_eq!(
        (code, talk.as_str()),
        (2, "error: folder full is not empty; choose a new folder\n")
    );
    let (code, _, talk) = export(&["csv", "-o", "replica.db"]);
    assert_eq!((code, talk.contains("is the replica")), (2, true), "{talk}");
    assert_eq!(export(&["csv", "-o", "nowhere/x.csv"]).0, 2);
    assert_eq!(names(), ["full"]);
    assert_eq!(fs::read_dir(folder.path().join("full")).unwrap().count(), 1);

    assert_eq!(export(&["markdown", "-o", "pages"]).0, 0);
    assert_eq!(export(&["csv", "-o", "pages.csv", "--withheld"]).0, 0);
    assert_eq!(names(), ["full", "pages", "pages.csv"]);
    let csv = fs::read_to_string(folder.path().join("pages.csv")).unwrap();
    assert!(csv.contains(",consent,refused,false,false,,\r\n"), "{csv}");
    let index = fs::read_to_string(folder.path().join("pages/index.jsonl")).unwrap();
    assert_eq!(index.lines().count(), 16);
    for line in index.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text =
            fs::read_to_string(folder.path().join("pages").join(row["file"].as_str().unwrap()));
        let text = text.unwrap();
        assert!(text.contains(&format!("\nurl: {}\n", row["url"])), "{line}");
        assert!(text.contains(&format!("\nconsent: {}\n", row["consent"])), "{line}");
    }
}

#[test]
fn rejects_expired_and_foreign_cursors() {
    let folder = tempfile::tempdir().unwrap();
    let store = make(&folder.path().join("replica.db"));
    let start = rutter_store::ChangeCursor { seq: 0, ..store.cursor().unwrap() }.to_string();
    let changes = |cursor: &str| {
        said(&rutter(folder.path(), &["changes", "--store", "replica.db", "--since", cursor]))
    };
    let (code, data, _) = changes(&start);
    assert_eq!((code, data.lines().count()), (0, 17 + 3 + 1 + 1));
    store.maintain(time("2026-10-06T00:00:00Z")).unwrap();
    let (code, data, talk) = changes(&start);
    assert_eq!((code, data.as_str()), (4, ""));
    assert!(
        talk.starts_with("error: the history does not reach back to the cursor\nhint: "),
        "{talk}"
    );
    let (code, _, talk) = changes("00000000000000ff-3");
    assert_eq!(code, 4);
    assert!(talk.starts_with("error: the cursor belongs to another replica\n"), "{talk}");
    let (code, _, talk) = changes("yesterday");
    assert_eq!(code, 2, "{talk}");
}

/// A copy that follows the changes has the pages of the replica.
#[test]
fn changes_reproduce_the_pages() {
    let folder = tempfile::tempdir().unwrap();
    let store = make(&folder.path().join("replica.db"));
    let mut copy = std::collections::BTreeMap::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut args = vec!["changes", "--limit", "4", "--store", "replica.db"];
        args.extend(cursor.iter().flat_map(|cursor| ["--since", cursor.as_str()]));
        let (code, data, _) = said(&rutter(folder.path(), &args));
        assert_eq!(code, 0);
        let mut has_more = false;
        for line in data.lines() {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| event[name].as_str().unwrap().to_owned();
            match event["event"].as_str().unwrap() {
                "upsert" => drop(copy.insert(text("url"), text("digest"))),
                "delete" => drop(copy.remove(&text("url"))),
                _ => has_more = event["more"].as_bool().unwrap(),
            }
            cursor = Some(text("cursor"));
        }
        if !has_more {
            break;
        }
    }
    let rows = store.list(&rutter_store::PageSelection::default(), None, 100).unwrap();
    let rows = rows.into_iter().map(|row| (row.url, row.digest.to_string()));
    assert_eq!(copy, rows.collect());
}

/// Returns the folder of downloads of a site.
fn spool_of(folder: &Path, origin: &str) -> std::path::PathBuf {
    let name = rutter_page::Digest::of(origin.as_bytes()).to_string();
    let name = name.rsplit(':').next().unwrap();
    folder.join("replica.db.spool").join(&name[..32])
}

#[test]
fn second_forget_removes_downloads_that_an_interrupted_one_left() {
    let folder = tempfile::tempdir().unwrap();
    drop(make(&folder.path().join("replica.db")));
    let spool = spool_of(folder.path(), "https://pier.example");
    let forget =
        || said(&rutter(folder.path(), &["forget", "pier.example", "--store", "replica.db"]));
    fs::create_dir_all(&spool).unwrap();
    let (code, data, talk) = forget();
    assert!(code == 0 && data.contains("forgotten, 1 page deleted"), "{data}{talk}");
    assert!(!spool.exists());
    // Simulate a first command that was killed before it deleted them.
    fs::create_dir_all(&spool).unwrap();
    fs::write(spool.join("all-1.scp"), "a download").unwrap();
    let (code, data, talk) = forget();
    assert_eq!((code, talk.as_str()), (0, ""), "{data}");
    assert!(data.starts_with("https://pier.example: already forgotten"), "{data}");
    assert!(!spool.exists());
    // A site that the replica never had is still an error.
    let (code, _, talk) =
        said(&rutter(folder.path(), &["forget", "buoy.example", "--store", "replica.db"]));
    assert!(code == 2 && talk.contains("the replica has no site"), "{code} {talk}");
}
