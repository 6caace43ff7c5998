//! Consent that is given and withdrawn, in every source.

use std::time::Duration;

use rutter_fetch::Url;
use rutter_store::WithheldReason;
use rutter_store::prelude::*;
use rutter_sync::discover::AccessMethod;
use rutter_sync::{ProblemKind, SyncError, SyncOptions};
use rutter_testkit::server::Reply;

use crate::test_site::{SITE, TestSite, at, body, page, urlset};

fn content(site: &TestSite, path: &str) -> Option<String> {
    site.store.line(&format!("http://harbour.example{path}")).unwrap()
}

fn withheld(site: &TestSite, path: &str) -> Option<WithheldReason> {
    site.store.page(&format!("http://harbour.example{path}")).unwrap().unwrap().withheld
}

/// A sitemap with `lastmod` for every page.
fn dated(site: &TestSite, paths: &[&str]) {
    let urls: String = paths
        .iter()
        .map(|path| {
            let lastmod = at(1);
            format!(
                "<url><loc>http://harbour.example{path}</loc><lastmod>{lastmod}</lastmod></url>"
            )
        })
        .collect();
    site.file("/sitemap.xml", "application/xml", urlset(&urls));
}

#[tokio::test] // ARC-033 D58
async fn withdraws_consent_by_a_response_without_body() {
    for (field, value) in [("X-Robots-Tag", "noai"), ("Content-Signal", "ai-input=no")] {
        let site = TestSite::new();
        site.sitemap(&[], &["/a", "/b"]);
        site.html("/a", &body("A", "Words of A.")).html("/b", &body("B", "Words of B."));
        site.sync().await;
        let unchanged = Reply::status(304).with("ETag", "\"1\"");
        site.server.route("/a", [unchanged.with(field, value)]);
        let report = site.sync().await;
        assert_eq!(report.withheld, 1, "{field}");
        assert_eq!(withheld(&site, "/a"), Some(WithheldReason::Consent), "{field}");
        assert!(content(&site, "/a").is_none() && content(&site, "/b").is_some(), "{field}");
    }
}

#[tokio::test] // D87 D93
async fn robots_signals_apply_to_delivered_pages() {
    let site = TestSite::new();
    site.robots("user-agent: *\ncontent-signal: /b ai-input=no\n");
    let first = site.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    site.sitemap(&[first], &[]);
    let report = site.sync().await;
    assert_eq!((report.added, report.withheld), (1, 1));
    assert_eq!(withheld(&site, "/b"), Some(WithheldReason::Consent));
    // Given again, and withdrawn for all.
    site.robots("user-agent: *\ncontent-signal: ai-input=yes\n");
    site.clock.advance(Duration::from_hours(25));
    site.sync().await;
    assert!(content(&site, "/b").is_some());
    site.robots("user-agent: *\ncontent-signal: ai-input=no\n");
    site.clock.advance(Duration::from_hours(25));
    assert_eq!(site.sync().await.withheld, 2);
    assert!(content(&site, "/a").is_none() && content(&site, "/b").is_none());
}

#[tokio::test] // D58
async fn stores_content_again_when_consent_returns() {
    let site = TestSite::new();
    dated(&site, &["/a", "/private/b"]);
    site.html("/a", &body("A", "Words of A.")).html("/private/b", &body("B", "Words of B."));
    site.sync().await;
    site.robots("user-agent: *\ndisallow: /private\n");
    site.clock.advance(Duration::from_hours(25));
    site.sync().await;
    assert_eq!(withheld(&site, "/private/b"), Some(WithheldReason::Robots));
    // The list is unchanged, the rules are not.
    site.robots("user-agent: *\nallow: /\n");
    site.clock.advance(Duration::from_hours(25));
    site.sync().await;
    assert!(content(&site, "/private/b").unwrap().contains("Words of B."));
}

fn arc(entries: &str) -> String {
    format!(
        "{{\"arc_sitemap_version\":\"2.1\",\"site\":\"http://harbour.example\",\
         \"generated_at\":\"{}\",\"pages\":[{entries}]}}",
        at(2)
    )
}

fn entry(path: &str, more: &str) -> String {
    format!("{{\"url\":\"http://harbour.example{path}\",{more}}}")
}

#[tokio::test] // D58 D93
async fn checks_robots_for_snapshots_and_redirect_targets() {
    let site = TestSite::new();
    site.robots("user-agent: *\ndisallow: /private\n");
    let snapshot = "\"ai_indexable\":true,\"ai_snapshot\":{\"page\":\"p\",\"summary\":\"Words\"}";
    let entries = [
        entry("/open", snapshot),
        entry("/private/s", snapshot),
        entry("/moved", "\"ai_indexable\":true"),
        entry("/closed", "\"ai_indexable\":false"),
    ];
    site.file("/arc-sitemap.json", "application/json", arc(&entries.join(",")));
    site.server.route("/moved", [Reply::redirect(301, "http://harbour.example/closed")]);
    site.html("/closed", &body("C", "Words that must not be used."));
    let report = site.sync().await;
    assert_eq!((report.method, report.added), (AccessMethod::Arc, 1));
    assert_eq!(site.paths(), ["/open"]);
    assert_eq!(report.left_out_by_code()["robots"], 1);
    assert_eq!(report.left_out_by_code()["consent"], 1);
}

#[tokio::test] // D60 ARC-056
async fn notices_consent_withdrawn_on_a_later_day() {
    let site = TestSite::new();
    let document = |closed: Option<usize>, day: u32, pages: std::ops::Range<usize>| {
        let entries: Vec<String> = pages
            .map(|n| {
                let flag = if Some(n) == closed { "false" } else { "true" };
                entry(&format!("/{n:03}"), &format!("\"ai_indexable\":{flag}"))
            })
            .collect();
        let deltas = "http://harbour.example/arc-sitemap-deltas/YYYY-MM-DD.json";
        arc(&entries.join(",")).replace(&at(2), &at(day)).replace(
            "\"pages\":",
            &format!(
                "\"deltas\":{{\"template\":\"{deltas}\",\"from\":\"2027-01-01\",\
                 \"to\":\"2027-01-{day:02}\"}},\"pages\":"
            ),
        )
    };
    let pages: Vec<String> = (0..520).map(|n| format!("/{n:03}")).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|path| (path.as_str(), "words")).collect();
    let first = site.snapshot(1, &pages);
    site.sitemap(std::slice::from_ref(&first), &[]);
    site.file("/arc-sitemap.json", "application/json", document(None, 10, 0..520));
    site.sync().await;
    // A change on the day of the sync, shown by the sitemap: read by a delta.
    site.sitemap(&[first], &["/000"]);
    let today = document(Some(7), 10, 7..8);
    site.file("/arc-sitemap-deltas/2027-01-10.json", "application/json", today);
    site.file("/arc-sitemap.json", "application/json", document(Some(7), 10, 0..520));
    let n = site.server.seen().len();
    let report = site.sync().await;
    assert!(site.asked(n).contains(&"/arc-sitemap-deltas/2027-01-10.json".to_owned()));
    assert_eq!((report.withheld, content(&site, "/007")), (1, None));
    // One conditional request shows that the whole sitemap is unchanged.
    let n = site.server.seen().len();
    assert_eq!(site.sync().await.bytes, 0);
    assert_eq!(site.asked(n), ["/arc-sitemap.json", "/sitemap.xml"]);
    // Two days later another page is withheld. Neither the sitemap nor the delta of the
    // last known day changes.
    site.clock.advance(Duration::from_hours(48));
    let whole = document(Some(7), 12, 0..520)
        .replace(&entry("/009", "\"ai_indexable\":true"), &entry("/009", "\"ai_indexable\":false"));
    site.file("/arc-sitemap.json", "application/json", whole);
    let report = site.sync().await;
    assert_eq!((report.withheld, content(&site, "/009")), (2, None));
}

#[tokio::test] // D53 D60 ARC-056
async fn hears_of_consent_taken_back_while_the_pointer_is_unchanged() {
    let site = TestSite::new();
    let document = |closed: Option<usize>| {
        let entries: Vec<String> = (0..300)
            .map(|n| {
                let flag = if Some(n) == closed { "false" } else { "true" };
                entry(&format!("/{n:03}"), &format!("\"ai_indexable\":{flag}"))
            })
            .collect();
        let deltas = "\"deltas\":{\"template\":\"http://harbour.example/arc-sitemap-deltas/\
                      YYYY-MM-DD.json\",\"from\":\"2027-01-01\",\"to\":\"2027-01-10\"},\"pages\":";
        arc(&entries.join(",")).replace("\"pages\":", deltas)
    };
    let pages: Vec<String> = (0..300).map(|n| format!("/{n:03}")).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|path| (path.as_str(), "words")).collect();
    let first = site.snapshot(1, &pages);
    site.sitemap(&[first], &[]);
    site.file("/arc-sitemap.json", "application/json", document(None));
    let pointer = format!(
        "{{\"@context\":\"https://schema.org\",\"@type\":\"Dataset\",\"name\":\"ARC Sitemap\",\
         \"url\":\"http://harbour.example/arc-sitemap.json\",\"dateModified\":\"{}\",\
         \"distribution\":[{{\"@type\":\"DataDownload\",\"encodingFormat\":\"application/json\",\
         \"contentUrl\":\"http://harbour.example/arc-sitemap.json\"}}]}}",
        at(2)
    );
    site.file("/arc-sitemap.jsonld", "application/ld+json", pointer);
    site.sync().await;
    site.sync().await;
    // An unchanged site answers 304.
    site.clock.advance(Duration::from_hours(24));
    let n = site.server.seen().len();
    assert_eq!(site.sync().await.bytes, 0);
    assert!(site.asked(n).contains(&"/arc-sitemap.jsonld".to_owned()), "{:?}", site.asked(n));
    // The sitemap changes, its pointer does not.
    site.file("/arc-sitemap.json", "application/json", document(Some(7)));
    site.clock.advance(Duration::from_hours(24));
    let report = site.sync().await;
    assert_eq!((report.withheld, content(&site, "/007")), (1, None));
}

#[tokio::test] // ARC-056
async fn audit_treats_arc_like_a_sync() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    site.sitemap(&[first], &[]);
    site.file("/arc-sitemap.json", "application/json", arc(&entry("/b", "\"ai_indexable\":false")));
    site.sync().await;
    let syncer = site.syncer_with(TestSite::settings(), SyncOptions::default());
    let audit = syncer.audit(&Url::parse(SITE).unwrap()).await.unwrap();
    assert!(!audit.is_bad(), "{audit:?}");
}

#[tokio::test] // SCP-207 D11
async fn retry_after_during_a_crawl_keeps_fetched_pages() {
    let site = TestSite::new();
    let paths: Vec<String> = (0..9).map(|n| format!("/{n}")).collect();
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    site.sitemap(&[], &names);
    for path in &paths {
        site.html(path, &body(path, "Words of this page."));
    }
    site.server.route("/4", [Reply::status(429).with("Retry-After", "7200")]);
    let settings = rutter_fetch::ClientSettings { connections: 1, ..TestSite::settings() };
    let syncer = site.syncer_with(settings, SyncOptions::default());
    let report = syncer.sync(&Url::parse(SITE).unwrap(), &()).await.unwrap();
    assert_eq!(report.worst(), Some(ProblemKind::Network));
    assert!(0 < report.added && report.added < 9, "{report:?}");
    assert_eq!(site.stored_pages().len() as u64, report.added);
    let n = site.server.seen().len();
    assert!(matches!(site.try_sync().await, Err(SyncError::Paused { .. })));
    assert_eq!(site.server.seen().len(), n);
    site.clock.advance(Duration::from_hours(3));
    site.html("/4", &body("/4", "Words of this page."));
    site.sync().await;
    assert_eq!(site.stored_pages().len(), 9);
}

#[tokio::test] // D87
async fn crawled_page_beside_a_collection_may_withdraw_consent() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    site.sitemap(&[first], &["/a", "/b"]);
    site.html("/b", &format!("<meta name=robots content=noai>{}", body("B", "Words.")));
    let report = site.sync().await;
    assert_eq!((report.method, report.added, report.withheld), (AccessMethod::Scp, 1, 1));
    assert_eq!(content(&site, "/a").unwrap(), page("/a", "a"));
    assert_eq!(content(&site, "/b"), None);
}
