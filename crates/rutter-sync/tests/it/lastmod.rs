//! `lastmod` of sitemaps: which pages are not fetched again.

use std::time::Duration;

use rutter_store::prelude::*;
use rutter_testkit::server::Reply;

use crate::test_site::{TestSite, at, body, urlset};

fn listed(site: &TestSite, pages: &[(&str, u32)]) {
    let urls: String = pages
        .iter()
        .map(|(path, day)| {
            let (loc, lastmod) = (format!("http://harbour.example{path}"), at(*day));
            format!("<url><loc>{loc}</loc><lastmod>{lastmod}</lastmod></url>")
        })
        .collect();
    site.file("/sitemap.xml", "application/xml", urlset(&urls));
}

/// Paths that were requested since request number `from`.
fn pages_asked(site: &TestSite, from: usize) -> Vec<String> {
    let is_page = |path: &String| !path.contains("sitemap") && !path.contains("robots");
    site.asked(from).into_iter().filter(is_page).collect()
}

#[tokio::test]
async fn fetches_page_whose_lastmod_changed_to_a_day_before_the_last_fetch() {
    let site = TestSite::new();
    site.html("/a", &body("A", "Old text of A.")).html("/b", &body("B", "Text of B."));
    listed(&site, &[("/a", 1), ("/b", 1)]);
    site.sync().await;
    // It is day 10: both values are older than the last fetch.
    site.html("/a", &body("A", "New text of A."));
    listed(&site, &[("/a", 2), ("/b", 1)]);
    site.clock.advance(Duration::from_hours(24));
    let n = site.server.seen().len();
    let report = site.sync().await;
    assert_eq!((report.changed, pages_asked(&site, n)), (1, vec!["/a".to_owned()]));
    // The new value is stored by now.
    listed(&site, &[("/a", 2), ("/b", 1), ("/c", 1)]);
    site.html("/c", &body("C", "Text of C."));
    let n = site.server.seen().len();
    site.sync().await;
    assert_eq!(pages_asked(&site, n), ["/c"]);
    // An older value is a change too, even if the response is 304.
    listed(&site, &[("/a", 1), ("/b", 1), ("/c", 1)]);
    for asked in [vec!["/a".to_owned()], vec![]] {
        let n = site.server.seen().len();
        site.sync().await;
        assert_eq!(pages_asked(&site, n), asked);
    }
}

#[tokio::test]
async fn fetches_page_whose_lastmod_went_back_without_asking_by_date() {
    let site = TestSite::new();
    let reply = |text: &str, dated: &str| {
        let page = format!("<!doctype html><html lang=en>{}</html>", body("A", text));
        Reply::ok("text/html", page).with("Last-Modified", dated)
    };
    site.server.route("/a", [reply("New text of A.", "Mon, 02 Nov 2026 00:00:00 GMT")]);
    listed(&site, &[("/a", 2)]);
    site.sync().await;
    // A restored backup: page and list are older.
    site.server.route("/a", [reply("Old text of A.", "Sun, 01 Nov 2026 00:00:00 GMT")]);
    listed(&site, &[("/a", 1)]);
    assert_eq!(site.sync().await.changed, 1);
    let seen = site.server.seen();
    let last = seen.iter().rev().find(|it| it.path == "/a").unwrap();
    assert_eq!(last.header("if-modified-since"), None);
}

#[tokio::test]
async fn fetches_what_was_no_page_when_its_lastmod_changes() {
    let site = TestSite::new();
    site.html("/a", &body("A", "Text of A.")).file("/x", "application/x-other", "no page");
    listed(&site, &[("/a", 1), ("/x", 1)]);
    site.sync().await;
    let n = site.server.seen().len();
    listed(&site, &[("/a", 1), ("/x", 2)]);
    site.html("/x", &body("X", "Text of X."));
    assert_eq!(site.sync().await.added, 1);
    assert_eq!(pages_asked(&site, n), ["/x"]);
}

#[tokio::test] // D39
async fn fetches_page_beside_collections_when_its_lastmod_changes() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    let list = |day: u32| {
        let lastmod = at(day);
        let url =
            format!("<url><loc>http://harbour.example/x</loc><lastmod>{lastmod}</lastmod></url>");
        site.file("/sitemap.xml", "application/xml", urlset(&format!("{first}{url}")));
    };
    list(1);
    site.file("/x", "application/x-other", "no page");
    site.sync().await;
    assert!(site.store.page("http://harbour.example/x").unwrap().is_none());
    list(2);
    site.html("/x", &body("X", "Text of X."));
    assert_eq!(site.sync().await.added, 1);
}
