//! What was kept back, was not there or was not ours, and is by now: it comes,
//! and nothing is forgotten meanwhile.

use std::time::Duration;

use rutter_discover::Rung;
use rutter_fetch::{Settings, Url};
use rutter_scp::MassDeletion;
use rutter_store::{Quota, Store};
use rutter_sync::{Kind, Options, Report};
use rutter_testkit::server::Reply;

use crate::bay::{Bay, HARBOUR, SITE, advert, at, body, snapshot, urlset};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);
const NOINDEX: &str = "<meta name=robots content=noindex>";

fn words(bay: &Bay, path: &str) -> Option<String> {
    bay.store.line(&format!("http://harbour.example{path}")).unwrap()
}

fn html(bay: &Bay, paths: &[&str]) {
    for path in paths {
        bay.html(path, &body(path, "Words of this page."));
    }
}

/// A visit that asks for one page after the other.
async fn in_turn(bay: &Bay, options: Options) -> Report {
    let settings = Settings { connections: 1, ..Bay::settings() };
    bay.visitor_with(settings, options).visit(&Url::parse(SITE).unwrap(), &()).await.unwrap()
}

/// After how many days a page is here, at most so many.
async fn days_until(bay: &Bay, path: &str, most: u32) -> Option<u32> {
    for day in 1..=most {
        bay.clock.advance(DAY);
        bay.visit().await;
        if words(bay, path).is_some() {
            return Some(day);
        }
    }
    None
}

fn aliases(aliases: &[&str]) -> Options {
    let aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
    Options { aliases, ..Options::default() }
}

fn quota(pages: u64, bytes: u64) -> Options {
    Options { quota: Quota { pages, bytes }, ..Options::default() }
}

#[tokio::test]
async fn ours_a_link_that_failed_once_is_followed_again() {
    // The home page does not change, so it tells no links after the first time.
    for (answer, day) in [(500, 1), (503, 1), (403, 1), (404, 7), (410, 7)] {
        let bay = Bay::new();
        bay.html("/", &body("Home", "Words. <a href=/a>a</a> <a href=/b>b</a>"));
        html(&bay, &["/a"]);
        bay.server.route("/b", [Reply::status(answer)]);
        bay.visit().await;
        assert_eq!(bay.paths(), ["/", "/a"]);
        html(&bay, &["/b"]);
        assert_eq!(days_until(&bay, "/b", 10).await, Some(day), "{answer}");
    }
    // One that was here, went, and came back; and one behind an empty page.
    let bay = Bay::new();
    bay.html("/", "<meta http-equiv=refresh content='0; /en/'><a href=/de/></a>");
    html(&bay, &["/de/", "/en/"]);
    bay.visit().await;
    bay.server.route("/en/", [Reply::status(404)]);
    bay.clock.advance(DAY);
    bay.visit().await;
    assert_eq!(bay.paths(), ["/de/"]);
    html(&bay, &["/en/"]);
    assert_eq!(days_until(&bay, "/en/", 10).await, Some(7));
}

#[tokio::test]
async fn ours_a_larger_quota_brings_what_had_no_room() {
    let bay = Bay::new();
    let first = bay.snapshot(5, &[("/a", "a"), ("/b", "b")]);
    bay.sitemap(&[first], &[]);
    bay.visit_with(quota(100, 10)).await.unwrap();
    assert_eq!(words(&bay, "/a"), None);
    assert_eq!(days_until(&bay, "/a", 3).await, Some(1));
    // Of pages one by one, however old lists say they are.
    let bay = Bay::new();
    let entry =
        format!("<url><loc>http://harbour.example/a</loc><lastmod>{}</lastmod></url>", at(1));
    bay.file("/sitemap.xml", "application/xml", urlset(&entry));
    html(&bay, &["/a"]);
    bay.visit_with(quota(100, 10)).await.unwrap();
    assert_eq!(words(&bay, "/a"), None);
    assert_eq!(days_until(&bay, "/a", 3).await, Some(1));
    // And by links.
    let bay = Bay::new();
    bay.html("/", &body("Home", "Words. <a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a>"));
    html(&bay, &["/a", "/b", "/c"]);
    bay.visit_with(quota(2, 1 << 30)).await.unwrap();
    assert_eq!(bay.paths().len(), 2);
    bay.clock.advance(DAY);
    bay.visit().await;
    assert_eq!(bay.paths(), ["/", "/a", "/b", "/c"]);
}

#[tokio::test]
async fn ours_what_is_no_page_does_not_keep_others_from_being_asked_for() {
    for is_pdf in [true, false] {
        let bay = Bay::new();
        bay.sitemap(&[], &["/p1", "/p2", "/q1", "/q2"]);
        for path in ["/p1", "/p2"] {
            if is_pdf {
                bay.file(path, "application/pdf", path);
            } else {
                bay.html(path, &format!("{NOINDEX}{}", body(path, "Words.")));
            }
        }
        html(&bay, &["/q1", "/q2"]);
        let two = Options { most_pages: 2, ..Options::default() };
        // The first two are none, and the site is remembered all the same.
        for _ in 0..2 {
            in_turn(&bay, two.clone()).await;
            bay.clock.advance(HOUR);
        }
        assert!(words(&bay, "/q1").is_some() && words(&bay, "/q2").is_some(), "{is_pdf}");
        for path in ["/q1", "/q2"] {
            bay.html(path, &body(path, "Other words."));
        }
        for _ in 0..2 {
            in_turn(&bay, two.clone()).await;
            bay.clock.advance(HOUR);
        }
        assert!(words(&bay, "/q1").unwrap().contains("Other"), "{is_pdf}");
        assert!(words(&bay, "/q2").unwrap().contains("Other"), "{is_pdf}");
    }
}

#[tokio::test] // D87
async fn ours_consent_that_was_given_again_is_seen_whatever_was_remembered() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/b", "/c", "/h"]);
    html(&bay, &["/a", "/b", "/c"]);
    let text = format!("<!doctype html><html lang=en>{}</html>", body("H", "Words."));
    // The same tag, whatever the headers are.
    let open = Reply::file("text/html", "\"h\"", text);
    bay.server.route("/h", [open.clone().with("X-Robots-Tag", "noindex")]);
    bay.visit().await;
    // It left the lists, and came back open.
    bay.sitemap(&[], &["/a", "/b", "/c"]);
    bay.clock.advance(DAY);
    bay.visit().await;
    assert_eq!(bay.paths(), ["/a", "/b", "/c"]);
    bay.sitemap(&[], &["/a", "/b", "/c", "/h"]);
    bay.server.route("/h", [open.clone()]);
    assert_eq!(days_until(&bay, "/h", 10).await, Some(1));
    // It was closed, and opened.
    bay.server.route("/h", [Reply::status(403)]);
    bay.clock.advance(HOUR);
    bay.visit().await;
    assert_eq!(words(&bay, "/h"), None);
    bay.server.route("/h", [open.clone()]);
    assert_eq!(days_until(&bay, "/h", 10).await, Some(1));
    // Headers alone, and the rules of the site with them.
    bay.server.route("/h", [open.clone().with("X-Robots-Tag", "noindex")]);
    bay.clock.advance(HOUR);
    bay.visit().await;
    assert_eq!(words(&bay, "/h"), None);
    bay.server.route("/h", [open]);
    bay.robots("user-agent: *\nallow: /\n");
    assert!(days_until(&bay, "/h", 10).await <= Some(2));
}

#[tokio::test] // D87
async fn ours_consent_is_taken_back_by_what_is_no_page_too() {
    let many: String = (0..70_000).map(|n| format!("<h2>h{n}</h2><pre>c{n}</pre>")).collect();
    let long = format!("<html lang=en>{NOINDEX}<title>A</title><main>{many}</main></html>");
    for reply in [
        Reply::file("application/pdf", "\"1\"", "xx").with("X-Robots-Tag", "noindex"),
        Reply::ok("text/html", "no gzip")
            .with("Content-Encoding", "gzip")
            .with("X-Robots-Tag", "noai"),
        Reply::ok("text/html", long),
    ] {
        let bay = Bay::new();
        bay.sitemap(&[], &["/a", "/b", "/c"]);
        html(&bay, &["/a", "/b", "/c"]);
        bay.visit().await;
        assert!(words(&bay, "/a").is_some());
        bay.server.route("/a", [reply]);
        bay.clock.advance(DAY);
        bay.visit().await;
        assert_eq!(words(&bay, "/a"), None);
    }
}

#[tokio::test] // D88
async fn ours_other_hosts_of_the_site_are_taken_in_and_let_go() {
    let bay = Bay::new();
    let pages = snapshot(5, &[("/a", "a"), ("/x", "x")])
        .replace("harbour.example/a\"", "elsewhere.example/a\"");
    // Its checksum is of the lines before.
    let checksum = pages.find(",\"checksum\"").unwrap();
    let pages = format!("{}{}", &pages[..checksum], &pages[checksum + 85..]);
    let first = advert("/all.scp", 5, None, 2, pages.len());
    bay.file("/all.scp", "application/scp", pages).sitemap(&[first], &[]);
    bay.visit().await;
    let line = || bay.store.line("http://elsewhere.example/a").unwrap();
    assert_eq!(line(), None);
    bay.clock.advance(DAY);
    bay.visit_with(aliases(&["http://elsewhere.example"])).await.unwrap();
    assert!(line().is_some());
    // Named once, it stays; another in its place takes it away.
    bay.clock.advance(DAY);
    bay.visit().await;
    assert!(line().is_some());
    bay.visit_with(aliases(&["http://third.example"])).await.unwrap();
    assert_eq!(line(), None);
}

fn arc(bay: &Bay, site: &str) {
    let text = format!(
        r#"{{"arc_sitemap_version":"2.1","site":"{site}","generated_at":"2027-01-02T00:00:00Z",
        "pages":[{{"url":"{site}/a","ai_indexable":false}},
        {{"url":"{site}/b","ai_indexable":true}}]}}"#
    );
    bay.file("/arc-sitemap.json", "application/json", text);
}

#[tokio::test] // D88 ARC-056
async fn ours_an_arc_sitemap_of_another_site_opens_nothing() {
    let bay = Bay::new();
    bay.names.add("www.harbour.example", &[HARBOUR]);
    bay.sitemap(&[], &["/a", "/b"]);
    html(&bay, &["/a", "/b"]);
    arc(&bay, "http://harbour.example");
    bay.visit().await;
    assert!(words(&bay, "/a").is_none() && words(&bay, "/b").is_some());
    // Somebody published the file of another place, and it is told every time.
    arc(&bay, "http://www.harbour.example");
    for _ in 0..3 {
        bay.clock.advance(DAY);
        let report = bay.visit().await;
        assert_eq!(report.worst(), Some(Kind::Integrity), "{report:?}");
        assert_eq!(report.left_out_by_code()["arc-other-site"], 2);
        assert_eq!(words(&bay, "/a"), None, "it stays closed");
    }
    // Also where lists are looked for once more, beside collections.
    let first = bay.snapshot(5, &[("/a", "a")]);
    bay.sitemap(&[first], &["/a", "/b"]);
    for _ in 0..3 {
        bay.clock.advance(DAY);
        let report = bay.visit().await;
        assert_eq!((report.rung, report.worst()), (Rung::Scp, Some(Kind::Integrity)));
        assert_eq!(words(&bay, "/a"), None, "it stays closed");
    }
    // It is the same site.
    bay.clock.advance(DAY);
    let report = bay.visit_with(aliases(&["http://www.harbour.example"])).await.unwrap();
    assert_eq!((report.arc, report.worst()), (Some(2), None), "{report:?}");
}

#[tokio::test]
async fn ours_a_sitemap_that_failed_is_told_and_asked_for_again() {
    for has_collections in [false, true] {
        let bay = Bay::new();
        let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
                     <sitemap><loc>http://harbour.example/1.xml</loc></sitemap>\
                     <sitemap><loc>http://harbour.example/2.xml</loc></sitemap></sitemapindex>";
        bay.file("/sitemap.xml", "application/xml", index);
        let first = if has_collections { bay.snapshot(5, &[("/a", "a")]) } else { String::new() };
        let list = |path: &str| format!("<url><loc>http://harbour.example{path}</loc></url>");
        bay.file("/1.xml", "application/xml", urlset(&format!("{first}{}", list("/a"))));
        html(&bay, &["/a", "/b"]);
        bay.server.route("/2.xml", [Reply::status(500)]);
        let report = bay.visit().await;
        assert_eq!(report.worst(), Some(Kind::Network), "{report:?}");
        assert_eq!(report.troubles[0].place, "http://harbour.example/2.xml");
        bay.file("/2.xml", "application/xml", urlset(&list("/b")));
        assert_eq!(days_until(&bay, "/b", 10).await, Some(1), "{has_collections}");
        // One that is not there is told, and is no failure of ours.
        bay.server.route("/2.xml", [Reply::status(404)]);
        bay.clock.advance(8 * DAY);
        let report = bay.visit().await;
        assert_eq!(report.worst(), None, "{report:?}");
        assert!(report.troubles.iter().any(|it| it.place.ends_with("/2.xml")), "{report:?}");
        assert_eq!(bay.paths(), ["/a", "/b"]);
    }
}

#[tokio::test]
async fn ours_a_site_at_which_something_was_is_remembered() {
    // A collection without pages: an older one is a replay (D26).
    let bay = Bay::new();
    let empty = bay.snapshot(5, &[]);
    bay.sitemap(&[empty], &[]);
    assert_eq!(bay.visit().await.rung, Rung::Scp);
    let old = bay.snapshot(3, &[("/a", "a")]);
    bay.sitemap(&[old], &[]);
    bay.clock.advance(DAY);
    bay.visit().await;
    assert_eq!(bay.paths(), [""; 0]);
    // Files that are no pages are not downloaded again.
    let bay = Bay::new();
    bay.sitemap(&[], &["/x"]);
    bay.file("/x", "application/pdf", vec![b'%'; 5_000]);
    bay.visit().await;
    bay.clock.advance(DAY);
    assert_eq!(bay.visit().await.bytes, 0);
    // Other names of the site stay.
    let bay = Bay::new();
    bay.server.fallback(Reply::status(404));
    bay.visit_with(aliases(&["http://www.harbour.example"])).await.unwrap();
    assert_eq!(bay.store.publishers().unwrap()[0].aliases, ["http://www.harbour.example"]);
    // So does what ARC closes.
    let bay = Bay::new();
    let text = r#"{"arc_sitemap_version":"2.1","site":"http://harbour.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {"url":"http://harbour.example/a","ai_indexable":false}]}"#;
    bay.file("/arc-sitemap.json", "application/json", text);
    bay.visit().await;
    assert_eq!(bay.store.publishers().unwrap().len(), 1);
    // A site that was here, and whose pages are all gone.
    let bay = Bay::new();
    bay.sitemap(&[], &["/a"]);
    html(&bay, &["/a"]);
    bay.visit().await;
    bay.server.route("/sitemap.xml", [Reply::status(404)]);
    bay.server.route("/a", [Reply::status(404)]);
    let allowed = Options { mass_deletion: MassDeletion::Allowed, ..Options::default() };
    bay.clock.advance(DAY);
    bay.visit_with(allowed).await.unwrap();
    assert_eq!(bay.paths(), [""; 0]);
    bay.clock.advance(DAY);
    bay.visit().await;
    assert_eq!(bay.store.publishers().unwrap().len(), 1);
}

#[tokio::test]
async fn ours_a_page_that_became_something_else_goes() {
    let onward = "<meta http-equiv=refresh content='0; url=/b'><title>Moved</title>";
    let pdf = Reply::file("application/pdf", "\"2\"", "%PDF");
    let html = |text: &str| Reply::ok("text/html", format!("<html lang=en>{text}</html>"));
    for reply in [html(onward), html("<p></p>"), pdf] {
        let bay = Bay::new();
        bay.sitemap(&[], &["/a", "/b", "/c"]);
        self::html(&bay, &["/a", "/b", "/c"]);
        bay.visit().await;
        bay.server.route("/a", [reply]);
        bay.clock.advance(DAY);
        let report = bay.visit().await;
        assert_eq!((report.removed, bay.paths()), (1, vec!["/b".to_owned(), "/c".to_owned()]));
    }
    // One that only reads itself again is a page, however short.
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/b"]);
    for (path, to) in [("/a", "300"), ("/b", "300; url=/b")] {
        bay.html(
            path,
            &format!("<meta http-equiv=refresh content='{to}'>{}", body("Tide", "High water.")),
        );
    }
    bay.visit().await;
    assert_eq!(bay.paths(), ["/a", "/b"]);
}

#[tokio::test]
async fn ours_a_quota_lets_in_what_fits() {
    // Changes would be too many; the snapshot has as many as may be.
    let bay = Bay::new();
    let long = "x".repeat(200_000);
    let first = bay.snapshot(5, &[("/a", "a"), ("/long", &long)]);
    bay.sitemap(&[first], &[]);
    bay.visit_with(quota(2, 1 << 30)).await.unwrap();
    let delta = bay.delta(6, &[("/c", "c")]);
    let second = bay.snapshot(6, &[("/c", "c"), ("/long", &long)]);
    bay.sitemap(&[delta, second], &[]);
    let report = bay.visit_with(quota(2, 1 << 30)).await.unwrap();
    assert_eq!((report.worst(), bay.paths()), (None, vec!["/c".to_owned(), "/long".to_owned()]));
    // Beside a collection: what had no room comes with a larger quota.
    let bay = Bay::new();
    let first = bay.snapshot(5, &[("/a", "a")]);
    bay.sitemap(&[first], &["/a", "/extra"]);
    html(&bay, &["/extra"]);
    let report = bay.visit_with(quota(1, 1 << 30)).await.unwrap();
    assert_eq!((report.worst(), bay.paths().len()), (Some(Kind::Policy), 1));
    assert_eq!(days_until(&bay, "/extra", 3).await, Some(1));
}

#[tokio::test]
async fn ours_rules_that_open_a_listed_page_bring_it() {
    let bay = Bay::new();
    bay.robots("user-agent: *\ndisallow: /private\n");
    let first = bay.snapshot(5, &[("/a", "a")]);
    bay.sitemap(&[first], &["/a", "/private/x"]);
    html(&bay, &["/private/x"]);
    assert_eq!(bay.visit().await.left_out_by_code()["robots"], 1);
    bay.robots("user-agent: *\nallow: /\n");
    assert!(days_until(&bay, "/private/x", 3).await <= Some(2));
    let report = bay.visit().await;
    assert_eq!(report.left_out_by_code().get("robots"), None, "{report:?}");
    // A home page that is closed is no list that failed.
    bay.robots("user-agent: *\ndisallow: /$\n");
    bay.clock.advance(2 * DAY);
    let report = bay.visit().await;
    assert_eq!((report.worst(), bay.paths().len()), (None, 2), "{report:?}");
}
