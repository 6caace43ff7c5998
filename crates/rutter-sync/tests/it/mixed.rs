//! Sites with collections for some of their pages, sites that change their offer, and
//! invalid responses.

use std::time::Duration;

use rutter_scp::MassDeletionPolicy;
use rutter_store::prelude::*;
use rutter_store::{ChangeKind, RemovalCause};
use rutter_sync::discover::AccessMethod;
use rutter_sync::{ProblemKind, SyncOptions};
use rutter_testkit::server::{Fault, Reply};

use crate::test_site::{TestSite, advert, body, page, snapshot, synced_collection, urlset};

fn line(site: &TestSite, path: &str) -> String {
    site.store.line(&format!("http://harbour.example{path}")).unwrap().unwrap()
}

/// Pages `/00` to `/29`, as a sitemap lists them.
fn many(site: &TestSite) -> Vec<String> {
    let paths: Vec<String> = (0..30).map(|n| format!("/{n:02}")).collect();
    for path in &paths {
        site.html(path, &body(path, "Words of this page."));
    }
    paths
}

fn names(paths: &[String]) -> Vec<&str> {
    paths.iter().map(String::as_str).collect()
}

#[tokio::test] // D24 D39
async fn partial_collection_removes_no_other_page() {
    let site = TestSite::new();
    let paths = many(&site);
    site.sitemap(&[], &names(&paths));
    assert_eq!(site.sync().await.added, 30);
    // The site starts to offer collections, with two pages so far.
    let first = site.snapshot(2, &[("/00", "a"), ("/01", "b")]);
    site.sitemap(std::slice::from_ref(&first), &names(&paths));
    let report = site.sync().await;
    assert_eq!((report.method, report.worst()), (AccessMethod::Scp, None));
    assert_eq!((report.changed, report.removed, report.pages), (2, 0, 30));
    assert_eq!(line(&site, "/00"), page("/00", "a"));
    assert!(line(&site, "/02").contains("Words of this page."));
    // Pages outside of the collection are still crawled.
    site.html("/02", &body("/02", "Other words of this page."));
    site.server.route("/03", [Reply::status(410)]);
    let report = site.sync().await;
    assert_eq!((report.changed, report.removed), (1, 1));
    assert_eq!(line(&site, "/00"), page("/00", "a"));
    // A page that no list contains is removed.
    site.sitemap(&[first], &names(&paths[..20]));
    assert_eq!(site.sync().await.removed, 10);
    let events = site.store.changes_since(None, 1000).unwrap().events;
    let url = "http://harbour.example/00";
    let of_first: Vec<ChangeKind> =
        events.iter().filter(|event| event.url == url).map(|event| event.kind).collect();
    assert_eq!(of_first, [ChangeKind::Added, ChangeKind::Changed]);
}

#[tokio::test] // D24
async fn crawls_uncovered_pages_from_the_first_sync_on() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    site.sitemap(&[first], &["/a", "/b", "/c.pdf"]);
    site.html("/b", &body("B", "Words of B."));
    let report = site.sync().await;
    assert_eq!((report.method, report.added), (AccessMethod::Scp, 2));
    assert_eq!(site.paths(), ["/a", "/b"]);
    // No change: the sitemap is requested, and the page without a date.
    let n = site.server.seen().len();
    let report = site.sync().await;
    assert!(report.is_quiet() && report.bytes == 0, "{report:?}");
    assert_eq!(site.asked(n).iter().filter(|path| *path == "/a").count(), 0);
}

#[tokio::test] // D39
async fn crawls_single_invalid_page_of_a_collection() {
    let site = TestSite::new();
    let good = snapshot(1, &[("/a", "a"), ("/b", "b")]);
    let broken = page("/b", "b").replace(&crate::test_site::at(1), "the day before yesterday");
    let text = good.replace(&page("/b", "b"), &broken);
    // The checksum is removed from the comparison.
    let start = text.find(",\"checksum\"").unwrap();
    let text = format!("{}{}", &text[..start], &text[start + 85..]);
    let first = advert("/all.scp", 1, None, 2, text.len());
    site.file("/all.scp", "application/scp", text).sitemap(&[first], &["/a", "/b"]);
    site.html("/a", &body("A", "As it is read.")).html("/b", &body("B", "As it is read."));
    let report = site.sync().await;
    assert_eq!((report.worst(), report.added), (None, 2), "{report:?}");
    assert_eq!(line(&site, "/a"), page("/a", "a"));
    assert!(line(&site, "/b").contains("As it is read."));
    assert!(!site.server.paths().contains(&"/a".to_owned()));
}

#[tokio::test] // D23
async fn mass_deletion_by_a_list_needs_a_second_sync() {
    let site = TestSite::new();
    let paths = many(&site);
    site.sitemap(&[], &names(&paths));
    site.sync().await;
    site.sitemap(&[], &names(&paths[..2]));
    site.clock.advance(Duration::from_hours(1));
    let report = site.sync().await;
    assert_eq!((report.worst(), report.removed), (Some(ProblemKind::Policy), 0));
    // It was a mistake: that sync confirms nothing later.
    site.sitemap(&[], &names(&paths));
    site.clock.advance(Duration::from_hours(1));
    assert_eq!(site.sync().await.worst(), None);
    site.sitemap(&[], &names(&paths[..2]));
    site.clock.advance(Duration::from_hours(1));
    assert_eq!(site.sync().await.worst(), Some(ProblemKind::Policy));
    // A sync shortly after is no confirmation.
    site.clock.advance(Duration::from_hours(1));
    assert_eq!(site.sync().await.worst(), Some(ProblemKind::Policy));
    site.clock.advance(Duration::from_hours(24));
    let report = site.sync().await;
    assert_eq!((report.worst(), report.removed), (None, 28));
    // The next time it needs confirmation again.
    site.sitemap(&[], &names(&paths));
    site.sync().await;
    site.sitemap(&[], &names(&paths[..2]));
    site.clock.advance(Duration::from_hours(1));
    assert_eq!(site.sync().await.worst(), Some(ProblemKind::Policy));
    let options =
        SyncOptions { mass_deletion: MassDeletionPolicy::Allowed, ..SyncOptions::default() };
    assert_eq!(site.sync_with(options).await.unwrap().removed, 28);
}

#[tokio::test]
async fn redirected_page_survives_a_network_fault() {
    let site = TestSite::new();
    site.sitemap(&[], &["/old", "/b"]);
    site.server.route("/old", [Reply::redirect(301, "http://harbour.example/new")]);
    site.html("/new", &body("New", "Words.")).html("/b", &body("B", "Words of B."));
    site.sync().await;
    assert_eq!(site.paths(), ["/b", "/new"]);
    for wrong in [Reply::status(500), Reply::status(200).but(Fault::HangUp)] {
        site.server.route("/old", [wrong]);
        assert_eq!(site.sync().await.removed, 0);
        assert_eq!(site.paths(), ["/b", "/new"]);
    }
    // A permanent redirect.
    site.server.route("/old", [Reply::redirect(301, "http://harbour.example/newer")]);
    site.html("/newer", &body("Newer", "Words."));
    site.sync().await;
    assert_eq!(site.paths(), ["/b", "/newer"]);
}

#[tokio::test]
async fn downloads_non_page_only_once() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/map"]);
    site.html("/a", &body("A", "Words of A."));
    site.file("/map", "application/pdf", "%PDF and many bytes more");
    let report = site.sync().await;
    assert_eq!(report.left_out_by_code()["media-type"], 1);
    let report = site.sync().await;
    // Left out for the same reason, without a download.
    assert_eq!((report.left_out_by_code()["media-type"], report.bytes), (1, 0));
    // It becomes a page.
    site.html("/map", &body("Map", "Words of the map."));
    assert_eq!(site.sync().await.added, 1);
    // A page that was removed and restored unchanged is a page.
    site.server.route("/map", [Reply::status(404)]);
    assert_eq!(site.sync().await.removed, 1);
    site.html("/map", &body("Map", "Words of the map."));
    assert_eq!(site.sync().await.added, 1);
}

#[tokio::test] // SCP-104 D39
async fn restores_verified_pages_when_collections_return() {
    let site = TestSite::new();
    let first = synced_collection(&site).await;
    site.sitemap(&[], &["/a", "/b"]);
    let report = site.sync().await;
    assert_eq!((report.method, report.changed, report.removed), (AccessMethod::Sitemap, 2, 0));
    // A delta that was published in between is applied, too.
    let second = site.delta(2, &[("/b", "bb")]);
    site.sitemap(&[first, second], &["/a", "/b"]);
    let report = site.sync().await;
    assert_eq!(report.worst(), None, "{report:?}");
    assert_eq!(line(&site, "/a"), page("/a", "a"));
    assert_eq!(line(&site, "/b"), page("/b", "bb"));
}

#[tokio::test] // SCP-104 D39
async fn waits_for_a_failing_sitemap_with_collections() {
    for (wrong, kind) in [
        (Reply::status(500), ProblemKind::Network),
        (Reply::status(404), ProblemKind::Network),
        (Reply::ok("text/html", "<title>Sorry</title>"), ProblemKind::Integrity),
    ] {
        let site = TestSite::new();
        let first = synced_collection(&site).await;
        let before = site.stored_pages();
        site.server.route("/sitemap.xml", [wrong]);
        for _ in 0..2 {
            let n = site.server.seen().len();
            let report = site.sync().await;
            assert_eq!(report.worst(), Some(kind), "{report:?}");
            assert_eq!(site.stored_pages(), before);
            assert!(!site.asked(n).contains(&"/a".to_owned()));
        }
        // The waiting time is limited.
        site.clock.advance(Duration::from_hours(25));
        site.sync().await;
        assert!(line(&site, "/a").contains("As it is read."));
        site.sitemap(&[first], &["/a", "/b"]);
        let report = site.sync().await;
        assert_eq!((report.method, report.worst()), (AccessMethod::Scp, None), "{report:?}");
        assert_eq!(site.stored_pages(), before);
    }
}

#[tokio::test] // B03 B05
async fn missing_child_sitemap_removes_no_page() {
    let index = |children: &[&str]| {
        let children: String = children
            .iter()
            .map(|child| format!("<sitemap><loc>http://harbour.example{child}</loc></sitemap>"))
            .collect();
        format!(
            "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{children}\
             </sitemapindex>"
        )
    };
    let list = |path: &str| urlset(&format!("<url><loc>http://harbour.example{path}</loc></url>"));
    let site = TestSite::new();
    site.file("/sitemap.xml", "application/xml", index(&["/1.xml", "/2.xml"]));
    site.file("/1.xml", "application/xml", list("/a"));
    site.file("/2.xml", "application/xml", list("/b"));
    site.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    site.sync().await;
    assert_eq!(site.paths(), ["/a", "/b"]);
    for wrong in [Reply::status(404), Reply::status(500), Reply::ok("text/html", "<p>no")] {
        site.server.route("/2.xml", [wrong]);
        assert_eq!(site.sync().await.removed, 0);
        assert_eq!(site.paths(), ["/a", "/b"]);
    }
    // An index that is truncated after its first child.
    site.file("/2.xml", "application/xml", list("/b"));
    let whole = index(&["/1.xml", "/2.xml"]);
    let cut = whole.split("<sitemap><loc>http://harbour.example/2").next().unwrap().to_owned();
    site.file("/sitemap.xml", "application/xml", cut);
    assert_eq!(site.sync().await.removed, 0);
    assert_eq!(site.paths(), ["/a", "/b"]);
    // A complete index with one child less is authoritative.
    site.file("/sitemap.xml", "application/xml", index(&["/1.xml"]));
    assert_eq!(site.sync().await.removed, 1);
}

#[tokio::test] // D56
async fn arc_sitemap_beside_a_sitemap_is_not_complete() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/b"]);
    site.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    let arc = r#"{"arc_sitemap_version":"2.1","site":"http://harbour.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {"url":"http://harbour.example/a","ai_indexable":true}]}"#;
    site.sync().await;
    site.file("/arc-sitemap.json", "application/json", arc);
    site.clock.advance(Duration::from_hours(24 * 8));
    let report = site.sync().await;
    assert_eq!((report.method, report.removed), (AccessMethod::Arc, 0));
    assert_eq!(site.paths(), ["/a", "/b"]);
    // The sitemap shows when a page is removed.
    site.sitemap(&[], &["/a"]);
    assert_eq!(site.sync().await.removed, 1);
    let publisher = site.store.publishers().unwrap()[0].id;
    let tombs = site.store.tombstones(publisher, None, 10).unwrap();
    assert_eq!((tombs.len(), tombs[0].cause), (1, RemovalCause::Absent));
}

#[tokio::test]
async fn next_sync_continues_a_limited_one() {
    let site = TestSite::new();
    let paths = many(&site);
    site.sitemap(&[], &names(&paths));
    for (pages, n_left) in [(12, 18), (24, 6), (30, 0)] {
        site.clock.advance(Duration::from_hours(1));
        let options = SyncOptions { most_pages: 12, ..SyncOptions::default() };
        let report = site.sync_with(options).await.unwrap();
        assert_eq!((report.pages, report.removed), (pages, 0));
        let left_out = report.left_out_by_code();
        assert_eq!(left_out.get("page-limit").copied().unwrap_or_default(), n_left);
    }
}

#[tokio::test] // D24
async fn collections_replace_pages_of_a_crawl_by_links() {
    let site = TestSite::new();
    site.html(
        "/",
        "<title>H</title><main><p>Home words.</p><a href=/a>a</a><a href=/b>b</a></main>",
    );
    site.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    assert_eq!(site.sync().await.added, 3);
    let first = site.snapshot(2, &[("/", "home"), ("/a", "a")]);
    site.sitemap(&[first], &[]);
    let report = site.sync().await;
    assert_eq!((report.worst(), report.changed, report.removed), (None, 2, 1));
    assert_eq!(site.paths(), ["/", "/a"]);
}

#[tokio::test]
async fn reads_remaining_sitemaps_periodically() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    let list = |paths: &[&str]| {
        paths
            .iter()
            .map(|path| format!("<url><loc>http://harbour.example{path}</loc></url>"))
            .collect::<String>()
    };
    let place = |path: &str, inner: &str| {
        site.file(path, "application/xml", urlset(inner));
    };
    let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
                 <sitemap><loc>http://harbour.example/1.xml</loc></sitemap>\
                 <sitemap><loc>http://harbour.example/2.xml</loc></sitemap></sitemapindex>";
    site.file("/sitemap.xml", "application/xml", index);
    place("/1.xml", &format!("{first}{}", list(&["/a"])));
    place("/2.xml", &list(&["/a"]));
    site.html("/b", &body("B", "Words of B."));
    let report = site.sync().await;
    assert_eq!((report.method, site.paths()), (AccessMethod::Scp, vec!["/a".to_owned()]));
    assert!(site.server.paths().contains(&"/2.xml".to_owned()), "read once");
    // Not in every sync: an unchanged site costs as much as its announced files.
    let n = site.server.seen().len();
    place("/2.xml", &list(&["/a", "/b"]));
    site.clock.advance(Duration::from_hours(24));
    site.sync().await;
    assert!(!site.asked(n).contains(&"/2.xml".to_owned()), "{:?}", site.asked(n));
    site.clock.advance(Duration::from_hours(7 * 24));
    let report = site.sync().await;
    assert_eq!((report.method, report.added), (AccessMethod::Scp, 1));
    assert_eq!(site.paths(), ["/a", "/b"]);
    // An unchanged list is not downloaded and removes nothing.
    site.clock.advance(Duration::from_hours(8 * 24));
    let report = site.sync().await;
    assert!(report.is_quiet() && report.bytes == 0, "{report:?}");
    assert_eq!(site.paths(), ["/a", "/b"]);
    // A page that it no longer lists is removed.
    place("/2.xml", &list(&["/a"]));
    let allowed =
        SyncOptions { mass_deletion: MassDeletionPolicy::Allowed, ..SyncOptions::default() };
    let report = site.sync_with(allowed).await.unwrap();
    assert_eq!((report.removed, site.paths()), (1, vec!["/a".to_owned()]));
}
