//! Content that was withheld, missing or foreign, and is available now: it is stored, and
//! nothing is forgotten meanwhile.

use std::time::Duration;

use rutter_fetch::{ClientSettings, Url};
use rutter_scp::MassDeletionPolicy;
use rutter_store::Quota;
use rutter_store::prelude::*;
use rutter_sync::discover::AccessMethod;
use rutter_sync::{ProblemKind, SyncOptions, SyncReport};
use rutter_testkit::server::Reply;

use crate::test_site::{HARBOUR, SITE, TestSite, advert, at, body, snapshot, urlset};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const NOINDEX: &str = "<meta name=robots content=noindex>";

fn content(site: &TestSite, path: &str) -> Option<String> {
    site.store.line(&format!("http://harbour.example{path}")).unwrap()
}

fn html(site: &TestSite, paths: &[&str]) {
    for path in paths {
        site.html(path, &body(path, "Words of this page."));
    }
}

/// Syncs with one request at a time.
async fn in_turn(site: &TestSite, options: SyncOptions) -> SyncReport {
    let settings = ClientSettings { connections: 1, ..TestSite::settings() };
    site.syncer_with(settings, options).sync(&Url::parse(SITE).unwrap(), &()).await.unwrap()
}

/// Returns after how many days a page is stored, up to a limit.
async fn days_until(site: &TestSite, path: &str, most: u32) -> Option<u32> {
    for day in 1..=most {
        site.clock.advance(DAY);
        site.sync().await;
        if content(site, path).is_some() {
            return Some(day);
        }
    }
    None
}

fn aliases(aliases: &[&str]) -> SyncOptions {
    let aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
    SyncOptions { aliases, ..SyncOptions::default() }
}

fn quota(pages: u64, bytes: u64) -> SyncOptions {
    SyncOptions { quota: Quota { pages, bytes }, ..SyncOptions::default() }
}

#[tokio::test]
async fn follows_a_failed_link_again() {
    // The home page is unchanged, so it shows no links after the first time.
    for (answer, day) in [(500, 1), (503, 1), (403, 1), (404, 7), (410, 7)] {
        let site = TestSite::new();
        site.html("/", &body("Home", "Words. <a href=/a>a</a> <a href=/b>b</a>"));
        html(&site, &["/a"]);
        site.server.route("/b", [Reply::status(answer)]);
        site.sync().await;
        assert_eq!(site.paths(), ["/", "/a"]);
        html(&site, &["/b"]);
        assert_eq!(days_until(&site, "/b", 10).await, Some(day), "{answer}");
    }
    // A page that was stored, removed and restored; and one behind an empty page.
    let site = TestSite::new();
    site.html("/", "<meta http-equiv=refresh content='0; /en/'><a href=/de/></a>");
    html(&site, &["/de/", "/en/"]);
    site.sync().await;
    site.server.route("/en/", [Reply::status(404)]);
    site.clock.advance(DAY);
    site.sync().await;
    assert_eq!(site.paths(), ["/de/"]);
    html(&site, &["/en/"]);
    assert_eq!(days_until(&site, "/en/", 10).await, Some(7));
}

#[tokio::test]
async fn larger_quota_stores_remaining_content() {
    let site = TestSite::new();
    let first = site.snapshot(5, &[("/a", "a"), ("/b", "b")]);
    site.sitemap(&[first], &[]);
    site.sync_with(quota(100, 10)).await.unwrap();
    assert_eq!(content(&site, "/a"), None);
    assert_eq!(days_until(&site, "/a", 3).await, Some(1));
    // The same for crawled pages, regardless of old dates in lists.
    let site = TestSite::new();
    let entry =
        format!("<url><loc>http://harbour.example/a</loc><lastmod>{}</lastmod></url>", at(1));
    site.file("/sitemap.xml", "application/xml", urlset(&entry));
    html(&site, &["/a"]);
    site.sync_with(quota(100, 10)).await.unwrap();
    assert_eq!(content(&site, "/a"), None);
    assert_eq!(days_until(&site, "/a", 3).await, Some(1));
    // The same by links.
    let site = TestSite::new();
    site.html("/", &body("Home", "Words. <a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a>"));
    html(&site, &["/a", "/b", "/c"]);
    site.sync_with(quota(2, 1 << 30)).await.unwrap();
    assert_eq!(site.paths().len(), 2);
    site.clock.advance(DAY);
    site.sync().await;
    assert_eq!(site.paths(), ["/", "/a", "/b", "/c"]);
}

#[tokio::test]
async fn non_pages_do_not_block_other_urls() {
    for is_pdf in [true, false] {
        let site = TestSite::new();
        site.sitemap(&[], &["/p1", "/p2", "/q1", "/q2"]);
        for path in ["/p1", "/p2"] {
            if is_pdf {
                site.file(path, "application/pdf", path);
            } else {
                site.html(path, &format!("{NOINDEX}{}", body(path, "Words.")));
            }
        }
        html(&site, &["/q1", "/q2"]);
        let two = SyncOptions { most_pages: 2, ..SyncOptions::default() };
        // The first two are no pages, and the state of the site is kept all the same.
        for _ in 0..2 {
            in_turn(&site, two.clone()).await;
            site.clock.advance(HOUR);
        }
        assert!(content(&site, "/q1").is_some() && content(&site, "/q2").is_some(), "{is_pdf}");
        for path in ["/q1", "/q2"] {
            site.html(path, &body(path, "Other words."));
        }
        for _ in 0..2 {
            in_turn(&site, two.clone()).await;
            site.clock.advance(HOUR);
        }
        assert!(content(&site, "/q1").unwrap().contains("Other"), "{is_pdf}");
        assert!(content(&site, "/q2").unwrap().contains("Other"), "{is_pdf}");
    }
}

#[tokio::test] // D87
async fn notices_restored_consent_despite_validators() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/b", "/c", "/h"]);
    html(&site, &["/a", "/b", "/c"]);
    let text = format!("<!doctype html><html lang=en>{}</html>", body("H", "Words."));
    // The same ETag with other headers.
    let open = Reply::file("text/html", "\"h\"", text);
    site.server.route("/h", [open.clone().with("X-Robots-Tag", "noindex")]);
    site.sync().await;
    // The page left the lists, and came back open.
    site.sitemap(&[], &["/a", "/b", "/c"]);
    site.clock.advance(DAY);
    site.sync().await;
    assert_eq!(site.paths(), ["/a", "/b", "/c"]);
    site.sitemap(&[], &["/a", "/b", "/c", "/h"]);
    site.server.route("/h", [open.clone()]);
    assert_eq!(days_until(&site, "/h", 10).await, Some(1));
    // It was closed, and opened.
    site.server.route("/h", [Reply::status(403)]);
    site.clock.advance(HOUR);
    site.sync().await;
    assert_eq!(content(&site, "/h"), None);
    site.server.route("/h", [open.clone()]);
    assert_eq!(days_until(&site, "/h", 10).await, Some(1));
    // Headers alone, together with the rules of the site.
    site.server.route("/h", [open.clone().with("X-Robots-Tag", "noindex")]);
    site.clock.advance(HOUR);
    site.sync().await;
    assert_eq!(content(&site, "/h"), None);
    site.server.route("/h", [open]);
    site.robots("user-agent: *\nallow: /\n");
    assert!(days_until(&site, "/h", 10).await <= Some(2));
}

#[tokio::test] // D87
async fn non_page_response_may_withdraw_consent() {
    let many: String = (0..70_000).map(|n| format!("<h2>h{n}</h2><pre>c{n}</pre>")).collect();
    let long = format!("<html lang=en>{NOINDEX}<title>A</title><main>{many}</main></html>");
    for reply in [
        Reply::file("application/pdf", "\"1\"", "xx").with("X-Robots-Tag", "noindex"),
        Reply::ok("text/html", "no gzip")
            .with("Content-Encoding", "gzip")
            .with("X-Robots-Tag", "noai"),
        Reply::ok("text/html", long),
    ] {
        let site = TestSite::new();
        site.sitemap(&[], &["/a", "/b", "/c"]);
        html(&site, &["/a", "/b", "/c"]);
        site.sync().await;
        assert!(content(&site, "/a").is_some());
        site.server.route("/a", [reply]);
        site.clock.advance(DAY);
        site.sync().await;
        assert_eq!(content(&site, "/a"), None);
    }
}

#[tokio::test] // D88
async fn aliases_add_and_remove_hosts() {
    let site = TestSite::new();
    let pages = snapshot(5, &[("/a", "a"), ("/x", "x")])
        .replace("harbour.example/a\"", "elsewhere.example/a\"");
    // The checksum is of the previous lines.
    let checksum = pages.find(",\"checksum\"").unwrap();
    let pages = format!("{}{}", &pages[..checksum], &pages[checksum + 85..]);
    let first = advert("/all.scp", 5, None, 2, pages.len());
    site.file("/all.scp", "application/scp", pages).sitemap(&[first], &[]);
    site.sync().await;
    let line = || site.store.line("http://elsewhere.example/a").unwrap();
    assert_eq!(line(), None);
    site.clock.advance(DAY);
    site.sync_with(aliases(&["http://elsewhere.example"])).await.unwrap();
    assert!(line().is_some());
    // An alias stays until another one replaces it.
    site.clock.advance(DAY);
    site.sync().await;
    assert!(line().is_some());
    site.sync_with(aliases(&["http://third.example"])).await.unwrap();
    assert_eq!(line(), None);
}

fn arc(site: &TestSite, origin: &str) {
    let text = format!(
        r#"{{"arc_sitemap_version":"2.1","site":"{origin}","generated_at":"2027-01-02T00:00:00Z",
        "pages":[{{"url":"{origin}/a","ai_indexable":false}},
        {{"url":"{origin}/b","ai_indexable":true}}]}}"#
    );
    site.file("/arc-sitemap.json", "application/json", text);
}

#[tokio::test] // D88 ARC-056
async fn arc_sitemap_of_another_site_gives_no_consent() {
    let site = TestSite::new();
    site.names.add("www.harbour.example", &[HARBOUR]);
    site.sitemap(&[], &["/a", "/b"]);
    html(&site, &["/a", "/b"]);
    arc(&site, "http://harbour.example");
    site.sync().await;
    assert!(content(&site, "/a").is_none() && content(&site, "/b").is_some());
    // The ARC file of another site; it is reported in every sync.
    arc(&site, "http://www.harbour.example");
    for _ in 0..3 {
        site.clock.advance(DAY);
        let report = site.sync().await;
        assert_eq!(report.worst(), Some(ProblemKind::Integrity), "{report:?}");
        assert_eq!(report.left_out_by_code()["arc-other-site"], 2);
        assert_eq!(content(&site, "/a"), None, "it stays closed");
    }
    // Also if discovery runs again, together with collections.
    let first = site.snapshot(5, &[("/a", "a")]);
    site.sitemap(&[first], &["/a", "/b"]);
    for _ in 0..3 {
        site.clock.advance(DAY);
        let report = site.sync().await;
        assert_eq!(
            (report.method, report.worst()),
            (AccessMethod::Scp, Some(ProblemKind::Integrity))
        );
        assert_eq!(content(&site, "/a"), None, "it stays closed");
    }
    // It is the same site.
    site.clock.advance(DAY);
    let report = site.sync_with(aliases(&["http://www.harbour.example"])).await.unwrap();
    assert_eq!((report.arc, report.worst()), (Some(2), None), "{report:?}");
}

#[tokio::test]
async fn reports_failed_sitemap_and_requests_it_again() {
    for has_collections in [false, true] {
        let site = TestSite::new();
        let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
                     <sitemap><loc>http://harbour.example/1.xml</loc></sitemap>\
                     <sitemap><loc>http://harbour.example/2.xml</loc></sitemap></sitemapindex>";
        site.file("/sitemap.xml", "application/xml", index);
        let first = if has_collections { site.snapshot(5, &[("/a", "a")]) } else { String::new() };
        let list = |path: &str| format!("<url><loc>http://harbour.example{path}</loc></url>");
        site.file("/1.xml", "application/xml", urlset(&format!("{first}{}", list("/a"))));
        html(&site, &["/a", "/b"]);
        site.server.route("/2.xml", [Reply::status(500)]);
        let report = site.sync().await;
        assert_eq!(report.worst(), Some(ProblemKind::Network), "{report:?}");
        assert_eq!(report.problems[0].place, "http://harbour.example/2.xml");
        site.file("/2.xml", "application/xml", urlset(&list("/b")));
        assert_eq!(days_until(&site, "/b", 10).await, Some(1), "{has_collections}");
        // A missing sitemap is reported, and is not a failure.
        site.server.route("/2.xml", [Reply::status(404)]);
        site.clock.advance(8 * DAY);
        let report = site.sync().await;
        assert_eq!(report.worst(), None, "{report:?}");
        assert!(report.problems.iter().any(|it| it.place.ends_with("/2.xml")), "{report:?}");
        assert_eq!(site.paths(), ["/a", "/b"]);
    }
}

#[tokio::test]
async fn keeps_state_of_site_with_content() {
    // A collection without pages: an older one is a replay (D26).
    let site = TestSite::new();
    let empty = site.snapshot(5, &[]);
    site.sitemap(&[empty], &[]);
    assert_eq!(site.sync().await.method, AccessMethod::Scp);
    let old = site.snapshot(3, &[("/a", "a")]);
    site.sitemap(&[old], &[]);
    site.clock.advance(DAY);
    site.sync().await;
    assert_eq!(site.paths(), [""; 0]);
    // Non-pages are not downloaded again.
    let site = TestSite::new();
    site.sitemap(&[], &["/x"]);
    site.file("/x", "application/pdf", vec![b'%'; 5_000]);
    site.sync().await;
    site.clock.advance(DAY);
    assert_eq!(site.sync().await.bytes, 0);
    // Aliases of the site stay.
    let site = TestSite::new();
    site.server.fallback(Reply::status(404));
    site.sync_with(aliases(&["http://www.harbour.example"])).await.unwrap();
    assert_eq!(site.store.publishers().unwrap()[0].aliases, ["http://www.harbour.example"]);
    // So do the pages that ARC withholds.
    let site = TestSite::new();
    let text = r#"{"arc_sitemap_version":"2.1","site":"http://harbour.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {"url":"http://harbour.example/a","ai_indexable":false}]}"#;
    site.file("/arc-sitemap.json", "application/json", text);
    site.sync().await;
    assert_eq!(site.store.publishers().unwrap().len(), 1);
    // A known site whose pages are all gone.
    let site = TestSite::new();
    site.sitemap(&[], &["/a"]);
    html(&site, &["/a"]);
    site.sync().await;
    site.server.route("/sitemap.xml", [Reply::status(404)]);
    site.server.route("/a", [Reply::status(404)]);
    let allowed =
        SyncOptions { mass_deletion: MassDeletionPolicy::Allowed, ..SyncOptions::default() };
    site.clock.advance(DAY);
    site.sync_with(allowed).await.unwrap();
    assert_eq!(site.paths(), [""; 0]);
    site.clock.advance(DAY);
    site.sync().await;
    assert_eq!(site.store.publishers().unwrap().len(), 1);
}

#[tokio::test]
async fn removes_page_that_became_a_non_page() {
    let onward = "<meta http-equiv=refresh content='0; url=/b'><title>Moved</title>";
    let pdf = Reply::file("application/pdf", "\"2\"", "%PDF");
    let html = |text: &str| Reply::ok("text/html", format!("<html lang=en>{text}</html>"));
    for reply in [html(onward), html("<p></p>"), pdf] {
        let site = TestSite::new();
        site.sitemap(&[], &["/a", "/b", "/c"]);
        self::html(&site, &["/a", "/b", "/c"]);
        site.sync().await;
        site.server.route("/a", [reply]);
        site.clock.advance(DAY);
        let report = site.sync().await;
        assert_eq!((report.removed, site.paths()), (1, vec!["/b".to_owned(), "/c".to_owned()]));
    }
    // A page that only redirects to itself is a page, however short.
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/b"]);
    for (path, to) in [("/a", "300"), ("/b", "300; url=/b")] {
        site.html(
            path,
            &format!("<meta http-equiv=refresh content='{to}'>{}", body("Tide", "High water.")),
        );
    }
    site.sync().await;
    assert_eq!(site.paths(), ["/a", "/b"]);
}

#[tokio::test]
async fn quota_admits_what_fits() {
    // The delta exceeds the quota; the snapshot fits.
    let site = TestSite::new();
    let long = "x".repeat(200_000);
    let first = site.snapshot(5, &[("/a", "a"), ("/long", &long)]);
    site.sitemap(&[first], &[]);
    site.sync_with(quota(2, 1 << 30)).await.unwrap();
    let delta = site.delta(6, &[("/c", "c")]);
    let second = site.snapshot(6, &[("/c", "c"), ("/long", &long)]);
    site.sitemap(&[delta, second], &[]);
    let report = site.sync_with(quota(2, 1 << 30)).await.unwrap();
    assert_eq!((report.worst(), site.paths()), (None, vec!["/c".to_owned(), "/long".to_owned()]));
    // With a collection: a larger quota stores the rest.
    let site = TestSite::new();
    let first = site.snapshot(5, &[("/a", "a")]);
    site.sitemap(&[first], &["/a", "/extra"]);
    html(&site, &["/extra"]);
    let report = site.sync_with(quota(1, 1 << 30)).await.unwrap();
    assert_eq!((report.worst(), site.paths().len()), (Some(ProblemKind::Policy), 1));
    assert_eq!(days_until(&site, "/extra", 3).await, Some(1));
}

#[tokio::test]
async fn fetches_listed_page_once_it_is_allowed() {
    let site = TestSite::new();
    site.robots("user-agent: *\ndisallow: /private\n");
    let first = site.snapshot(5, &[("/a", "a")]);
    site.sitemap(&[first], &["/a", "/private/x"]);
    html(&site, &["/private/x"]);
    assert_eq!(site.sync().await.left_out_by_code()["robots"], 1);
    site.robots("user-agent: *\nallow: /\n");
    assert!(days_until(&site, "/private/x", 3).await <= Some(2));
    let report = site.sync().await;
    assert_eq!(report.left_out_by_code().get("robots"), None, "{report:?}");
    // A home page that requires a login is not a failed list.
    site.robots("user-agent: *\ndisallow: /$\n");
    site.clock.advance(2 * DAY);
    let report = site.sync().await;
    assert_eq!((report.worst(), site.paths().len()), (None, 2), "{report:?}");
}
