//! What `lastmod` of a sitemap decides: which pages are not fetched again.

use std::time::Duration;

use rutter_store::Store;
use rutter_testkit::server::Reply;

use crate::bay::{Bay, at, body, urlset};

fn listed(bay: &Bay, pages: &[(&str, u32)]) {
    let urls: String = pages
        .iter()
        .map(|(path, day)| {
            let (loc, lastmod) = (format!("http://harbour.example{path}"), at(*day));
            format!("<url><loc>{loc}</loc><lastmod>{lastmod}</lastmod></url>")
        })
        .collect();
    bay.file("/sitemap.xml", "application/xml", urlset(&urls));
}

/// Pages that were requested since request number `from`.
fn pages_asked(bay: &Bay, from: usize) -> Vec<String> {
    let is_page = |path: &String| !path.contains("sitemap") && !path.contains("robots");
    bay.asked(from).into_iter().filter(is_page).collect()
}

#[tokio::test]
async fn fetches_page_whose_lastmod_changed_to_a_day_before_the_last_fetch() {
    let bay = Bay::new();
    bay.html("/a", &body("A", "Old text of A.")).html("/b", &body("B", "Text of B."));
    listed(&bay, &[("/a", 1), ("/b", 1)]);
    bay.visit().await;
    // The clock stands at day 10: both values are older than the last fetch.
    bay.html("/a", &body("A", "New text of A."));
    listed(&bay, &[("/a", 2), ("/b", 1)]);
    bay.clock.advance(Duration::from_hours(24));
    let n = bay.server.seen().len();
    let report = bay.visit().await;
    assert_eq!((report.changed, pages_asked(&bay, n)), (1, vec!["/a".to_owned()]));
    // The new value is known by now.
    listed(&bay, &[("/a", 2), ("/b", 1), ("/c", 1)]);
    bay.html("/c", &body("C", "Text of C."));
    let n = bay.server.seen().len();
    bay.visit().await;
    assert_eq!(pages_asked(&bay, n), ["/c"]);
    // A value that goes back is a change too, also where the answer is 304.
    listed(&bay, &[("/a", 1), ("/b", 1), ("/c", 1)]);
    for asked in [vec!["/a".to_owned()], vec![]] {
        let n = bay.server.seen().len();
        bay.visit().await;
        assert_eq!(pages_asked(&bay, n), asked);
    }
}

#[tokio::test]
async fn fetches_page_whose_lastmod_went_back_without_asking_by_date() {
    let bay = Bay::new();
    let reply = |text: &str, dated: &str| {
        let page = format!("<!doctype html><html lang=en>{}</html>", body("A", text));
        Reply::ok("text/html", page).with("Last-Modified", dated)
    };
    bay.server.route("/a", [reply("New text of A.", "Mon, 02 Nov 2026 00:00:00 GMT")]);
    listed(&bay, &[("/a", 2)]);
    bay.visit().await;
    // A copy from a backup: page and list are older.
    bay.server.route("/a", [reply("Old text of A.", "Sun, 01 Nov 2026 00:00:00 GMT")]);
    listed(&bay, &[("/a", 1)]);
    assert_eq!(bay.visit().await.changed, 1);
    let seen = bay.server.seen();
    let last = seen.iter().rev().find(|it| it.path == "/a").unwrap();
    assert_eq!(last.header("if-modified-since"), None);
}

#[tokio::test]
async fn fetches_what_was_no_page_when_its_lastmod_changes() {
    let bay = Bay::new();
    bay.html("/a", &body("A", "Text of A.")).file("/x", "application/x-other", "no page");
    listed(&bay, &[("/a", 1), ("/x", 1)]);
    bay.visit().await;
    let n = bay.server.seen().len();
    listed(&bay, &[("/a", 1), ("/x", 2)]);
    bay.html("/x", &body("X", "Text of X."));
    assert_eq!(bay.visit().await.added, 1);
    assert_eq!(pages_asked(&bay, n), ["/x"]);
}

#[tokio::test] // D39
async fn fetches_page_beside_collections_when_its_lastmod_changes() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    let list = |day: u32| {
        let lastmod = at(day);
        let url =
            format!("<url><loc>http://harbour.example/x</loc><lastmod>{lastmod}</lastmod></url>");
        bay.file("/sitemap.xml", "application/xml", urlset(&format!("{first}{url}")));
    };
    list(1);
    bay.file("/x", "application/x-other", "no page");
    bay.visit().await;
    assert!(bay.store.page("http://harbour.example/x").unwrap().is_none());
    list(2);
    bay.html("/x", &body("X", "Text of X."));
    assert_eq!(bay.visit().await.added, 1);
}
