//! A replica of an older format is converted, and synced as if it had been written by this version.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rutter_fetch::{AddressPolicy, ClientSettings, Url};
use rutter_page::Digest;
use rutter_store::prelude::*;
use rutter_store::{CheckDepth, PageSelection, SqliteStore, StoreOptions};
use rutter_sync::SyncOptions;
use rutter_testkit::server::Reply;

use crate::test_site::TestSite;

/// `fixtures/format-3/README.md` of `rutter-store` says how the replica was made.
fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../rutter-store/fixtures/format-3")
}

/// Serves the routes from which the replica was made.
fn serve(site: &TestSite) {
    let text = fs::read_to_string(fixtures().join("site.json")).unwrap();
    let routes: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/harbour");
    for route in &routes {
        let text = |name: &str| route[name].as_str();
        let path = text("path").unwrap();
        if let Some(to) = text("to") {
            site.server.route(path, [Reply::redirect(301, to)]);
            continue;
        }
        let (media, body) = match text("file") {
            Some(file) => ("text/html", fs::read(example.join(file)).unwrap()),
            None => (text("type").unwrap(), text("body").unwrap().as_bytes().to_vec()),
        };
        let tag = format!("\"{}\"", &Digest::of(&body).to_string()[7..23]);
        let mut reply = Reply::file(media, &tag, body);
        if let Some(header) = route["header"].as_array() {
            reply = reply.with(header[0].as_str().unwrap(), header[1].as_str().unwrap());
        }
        site.server.route(path, [reply]);
    }
}

#[tokio::test] // F09
async fn sync_of_a_converted_replica_changes_no_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("replica.db");
    let stored = fs::File::open(fixtures().join("replica.db.zst")).unwrap();
    fs::write(&path, zstd::decode_all(stored).unwrap()).unwrap();
    let store = Arc::new(SqliteStore::open(&path, StoreOptions::default()).unwrap());
    let pages = || -> Vec<_> {
        let selection = PageSelection { with_withheld: true, ..PageSelection::default() };
        let rows = store.list(&selection, None, 1_000).unwrap().into_iter();
        rows.map(|row| (store.line(&row.url).unwrap(), row)).collect()
    };
    let before = pages();
    let events = store.cursor().unwrap();
    let publisher = store.publishers().unwrap()[0].id;
    let left_out = rutter_sync::list_left_out(store.as_ref(), publisher, None, 99).unwrap();
    assert_eq!((before.len(), left_out.len()), (10, 2));
    let site = TestSite::on_loopback(8137, "2026-11-20T12:00:00Z");
    serve(&site);
    let address_policy = AddressPolicy { allow_loopback: true, ..AddressPolicy::default() };
    let settings = ClientSettings { address_policy, ..TestSite::settings() };
    let options = SyncOptions { follows_links: true, ..SyncOptions::default() };
    let syncer = site.syncer_of(Arc::clone(&store) as Arc<dyn Store>, settings, options);
    let report = syncer.sync(&Url::parse("http://127.0.0.1:8137/").unwrap(), &()).await.unwrap();
    assert_eq!((report.worst(), report.is_quiet()), (None, true), "{report:?}");
    assert_eq!(pages(), before);
    assert_eq!(store.cursor().unwrap(), events);
    let still = rutter_sync::list_left_out(store.as_ref(), publisher, None, 99).unwrap();
    let urls = |list: &[rutter_sync::LeftOutUrl]| -> Vec<_> {
        list.iter().map(|it| (it.url.clone(), it.why.clone())).collect()
    };
    assert_eq!(urls(&still), urls(&left_out));
    // The notes are in use: the picture is not requested again, and pages are not sent again.
    let asked = site.server.paths();
    assert!(asked.contains(&"/berths".to_owned()), "{asked:?}");
    assert!(!asked.contains(&"/picture".to_owned()), "{asked:?}");
    assert!(report.bytes < 3_000, "{report:?}");
    assert_eq!(store.check(CheckDepth::Content).unwrap(), [""; 0]);
}
