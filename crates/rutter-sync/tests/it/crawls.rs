//! Crawls that need several syncs, or meet pages that are unavailable for now.

use std::time::Duration;

use rutter_fetch::Url;
use rutter_store::WithheldReason;
use rutter_store::prelude::*;
use rutter_sync::discover::AccessMethod;
use rutter_sync::{ProblemKind, SyncError, SyncOptions};
use rutter_testkit::server::Reply;

use crate::test_site::{SITE, TestSite, body};

const DAY: Duration = Duration::from_hours(24);

fn content(site: &TestSite, path: &str) -> Option<String> {
    site.store.line(&format!("http://harbour.example{path}")).unwrap()
}

/// Publishes pages with these names, `/0` and so on.
fn pages(site: &TestSite, n: usize) -> Vec<String> {
    let paths: Vec<String> = (0..n).map(|n| format!("/{n}")).collect();
    for path in &paths {
        site.html(path, &body(path, "Words of this page."));
    }
    paths
}

fn listed(site: &TestSite, paths: &[String]) {
    site.sitemap(&[], &paths.iter().map(String::as_str).collect::<Vec<_>>());
}

#[tokio::test]
async fn page_that_ended_a_crawl_comes_last() {
    let site = TestSite::new();
    let paths = pages(&site, 6);
    listed(&site, &paths);
    site.server.route("/0", [Reply::status(503).with("Retry-After", "7200")]);
    let first = site.sync().await;
    assert_eq!(first.worst(), Some(ProblemKind::Network));
    site.clock.advance(DAY);
    let report = site.sync().await;
    // It is still requested, but last.
    assert_eq!(report.worst(), Some(ProblemKind::Network));
    assert_eq!(site.paths(), ["/1", "/2", "/3", "/4", "/5"]);
    site.html("/0", &body("/0", "Words of this page."));
    site.clock.advance(DAY);
    assert_eq!(site.sync().await.worst(), None);
    assert_eq!(site.paths().len(), 6);
}

#[tokio::test]
async fn preview_and_explain_respect_a_pause() {
    let site = TestSite::new();
    let paths = pages(&site, 2);
    listed(&site, &paths);
    site.server.route("/0", [Reply::status(503).with("Retry-After", "7200")]);
    site.sync().await;
    let n_asked = site.server.seen().len();
    let syncer = site.syncer_with(TestSite::settings(), SyncOptions::default());
    let home = Url::parse(SITE).unwrap();
    let is_paused = |error: &SyncError| matches!(error, SyncError::Paused { .. });
    assert!(is_paused(&syncer.preview(&home).await.unwrap_err()));
    assert!(is_paused(&syncer.explain(&home.join("/1").unwrap()).await.unwrap_err()));
    assert!(is_paused(&site.try_sync().await.unwrap_err()));
    assert_eq!(site.server.seen().len(), n_asked);
    site.clock.advance(DAY);
    assert!(syncer.preview(&home).await.is_ok());
}

#[tokio::test]
async fn limited_syncs_take_turns() {
    let few = SyncOptions { most_pages: 2, ..SyncOptions::default() };
    // By an ARC sitemap, by links, by a sitemap.
    for way in [AccessMethod::Arc, AccessMethod::Links, AccessMethod::Sitemap] {
        let site = TestSite::new();
        let paths = pages(&site, 5);
        match way {
            AccessMethod::Arc => {
                let entries: Vec<String> = paths
                    .iter()
                    .map(|path| {
                        let sum = "a".repeat(64);
                        format!(
                            r#"{{"url":"http://harbour.example{path}","ai_indexable":true,
                            "ai_checksum":"sha256:{sum}"}}"#
                        )
                    })
                    .collect();
                let text = format!(
                    r#"{{"arc_sitemap_version":"2.1","site":"http://harbour.example",
                    "generated_at":"2027-01-02T00:00:00Z","pages":[{}]}}"#,
                    entries.join(",")
                );
                site.file("/arc-sitemap.json", "application/json", text);
            }
            AccessMethod::Links => {
                let links: Vec<String> =
                    paths.iter().map(|path| format!("<a href={path}>{path}</a>")).collect();
                site.html("/", &body("Home", &format!("Words. {}", links.join(" "))));
            }
            _ => listed(&site, &paths),
        }
        for n in 1..=6 {
            let report = site.sync_with(few.clone()).await.unwrap();
            assert_eq!(report.method, way);
            let there = site.paths();
            if paths.iter().all(|path| there.contains(path)) {
                break;
            }
            assert!(report.left_out_by_code().contains_key("page-limit"), "{n}: {way:?}");
            site.clock.advance(Duration::from_hours(1));
        }
        let there = site.paths();
        assert!(paths.iter().all(|path| there.contains(path)), "{way:?}: {there:?}");
    }
}

#[tokio::test]
async fn checks_pages_that_left_an_incomplete_list() {
    let site = TestSite::new();
    let llms = |paths: &[&str]| {
        let links: String = paths.iter().map(|path| format!("- [Page]({path})\n")).collect();
        site.file("/llms.txt", "text/plain", format!("# Harbour\n\n## Pages\n\n{links}"));
    };
    pages(&site, 3);
    llms(&["/0", "/1", "/2"]);
    assert_eq!(site.sync().await.added, 3);
    llms(&["/0"]);
    site.server.route("/1", [Reply::status(410)]);
    let noindex = format!("<meta name=robots content=noindex>{}", body("/2", "Words."));
    site.html("/2", &noindex);
    site.clock.advance(8 * DAY);
    let report = site.sync().await;
    assert_eq!((report.removed, site.paths()), (1, vec!["/0".to_owned(), "/2".to_owned()]));
    assert_eq!(content(&site, "/2"), None);
    // Now and then, and not in every sync.
    let n = site.server.seen().len();
    site.clock.advance(DAY);
    site.sync().await;
    let asked = site.asked(n);
    assert!(asked.contains(&"/0".to_owned()) && !asked.contains(&"/2".to_owned()), "{asked:?}");
}

#[tokio::test]
async fn closed_page_is_withheld_until_it_opens() {
    for status in [401, 402, 403, 451] {
        let site = TestSite::new();
        let paths = pages(&site, 4);
        listed(&site, &paths);
        site.sync().await;
        site.server.route("/1", [Reply::status(status)]);
        let report = site.sync().await;
        assert_eq!((report.withheld, report.removed), (1, 0), "{status}");
        let row = site.store.page("http://harbour.example/1").unwrap().unwrap();
        assert_eq!((row.withheld, content(&site, "/1")), (Some(WithheldReason::Consent), None));
        site.html("/1", &body("/1", "Words of this page."));
        site.sync().await;
        assert!(content(&site, "/1").is_some(), "{status}");
    }
}

#[tokio::test]
async fn site_that_blocks_us_keeps_its_content() {
    let site = TestSite::new();
    let paths = pages(&site, 4);
    listed(&site, &paths);
    site.sync().await;
    let before = site.stored_pages();
    for path in &paths {
        site.server.route(path, [Reply::status(403)]);
    }
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Policy));
    assert_eq!(site.stored_pages(), before);
}

#[tokio::test]
async fn permanent_redirect_moves_page_and_temporary_does_not() {
    let site = TestSite::new();
    let paths = pages(&site, 4);
    listed(&site, &paths);
    site.html("/closed-today", &body("Repairs", "Come again tomorrow."));
    site.sync().await;
    let before = site.stored_pages();
    for status in [302, 303, 307] {
        site.server.route("/1", [Reply::status(status).with("Location", "/closed-today")]);
        let report = site.sync().await;
        assert_eq!(report.left_out_by_code()["temporary-redirect"], 1);
        assert_eq!(site.stored_pages(), before, "{status}");
    }
    site.server.route("/1", [Reply::status(301).with("Location", "/moved")]);
    site.html("/moved", &body("/1", "Words of this page."));
    let report = site.sync().await;
    assert_eq!((report.added, report.removed), (1, 1));
    assert_eq!(site.paths(), ["/0", "/2", "/3", "/moved"]);
}

#[tokio::test]
async fn requests_page_with_empty_arc_snapshot() {
    let site = TestSite::new();
    let text = r#"{"arc_sitemap_version":"2.1","site":"http://harbour.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {"url":"http://harbour.example/0","ai_indexable":true,"ai_snapshot":{}}]}"#;
    site.file("/arc-sitemap.json", "application/json", text);
    pages(&site, 1);
    assert_eq!(site.sync().await.added, 1);
    assert!(content(&site, "/0").unwrap().contains("Words of this page."));
}

#[tokio::test] // D87
async fn crawls_pages_that_only_arc_lists() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/0", "a")]);
    site.sitemap(&[first], &["/0"]);
    pages(&site, 2);
    let arc = |more: &str| {
        let text = format!(
            r#"{{"arc_sitemap_version":"2.1","site":"http://harbour.example",
            "generated_at":"2027-01-02T00:00:00Z","pages":[
            {{"url":"http://harbour.example/0","ai_indexable":true}}{more}]}}"#
        );
        site.file("/arc-sitemap.json", "application/json", text);
    };
    arc("");
    let report = site.sync().await;
    assert_eq!((report.method, site.paths()), (AccessMethod::Scp, vec!["/0".to_owned()]));
    arc(r#",{"url":"http://harbour.example/1","ai_indexable":true}"#);
    site.clock.advance(DAY);
    let report = site.sync().await;
    assert_eq!((report.method, report.added), (AccessMethod::Scp, 1));
    assert!(content(&site, "/1").unwrap().contains("Words of this page."));
    // The verified line stays.
    assert!(content(&site, "/0").unwrap().contains("\"a\""));
}

/// A page that is extracted with low confidence, because all its text is in a footer; with a
/// Markdown twin.
fn unsure(text: &str) -> String {
    let links: String = (0..8).map(|n| format!("<li><a href=/x{n}>{text} {n}</a>")).collect();
    format!(
        "<head><title>T</title><link rel=alternate type=text/markdown href=/t.md></head>\
         <body><footer><ul>{links}</ul></footer></body>"
    )
}

#[tokio::test]
async fn markdown_twin_replaces_page_at_once() {
    let site = TestSite::new();
    site.sitemap(&[], &["/t"]);
    site.server.route("/t", [Reply::ok("text/html", unsure("Berth"))]);
    let twin = |field: &str, value: &str| {
        let text = "# Tides\n\nHigh water is at noon.\n";
        site.server.route("/t.md", [Reply::ok("text/markdown", text).with(field, value)]);
    };
    twin("X-Any", "thing");
    let report = site.sync().await;
    assert_eq!((report.added, report.changed), (1, 0));
    assert!(content(&site, "/t").unwrap().contains("High water is at noon."));
    let before = site.stored_pages();
    // Neither has a date or an ETag; both are unchanged.
    site.clock.advance(DAY);
    let report = site.sync().await;
    assert!(report.is_quiet(), "{report:?}");
    assert_eq!(site.stored_pages(), before);
    // Usage statements of the twin concern only the twin.
    twin("X-Robots-Tag", "noindex");
    site.sync().await;
    assert!(content(&site, "/t").unwrap().contains("Berth 7"));
    // Without the twin, the page stays.
    site.server.route("/t.md", [Reply::status(404)]);
    site.sync().await;
    assert!(content(&site, "/t").unwrap().contains("Berth 7"));
}

#[tokio::test] // D74
async fn soft_404_removes_page_but_not_the_home_page() {
    let site = TestSite::new();
    // Unknown URLs are answered with the home page and a nonce.
    let home = |nonce: u32| {
        format!("<title>Harbour</title><main><p>Words of the home page, {nonce}.</p></main>")
    };
    site.server.fallback(Reply::ok("text/html", home(1)));
    let paths = pages(&site, 3);
    site.html("/", &home(2));
    let all: Vec<&str> = paths.iter().map(String::as_str).chain(["/"]).collect();
    site.sitemap(&[], &all);
    site.sync().await;
    assert_eq!(site.paths(), ["/", "/0", "/1", "/2"]);
    site.html("/1", &home(3));
    let report = site.sync().await;
    assert_eq!((report.removed, site.paths().len()), (1, 3));
    assert!(content(&site, "/").is_some() && content(&site, "/1").is_none());
}

#[tokio::test]
async fn next_crawl_follows_links_of_a_stopped_one() {
    let site = TestSite::new();
    let paths = pages(&site, 6);
    let links: String = paths.iter().map(|path| format!("<a href={path}>{path}</a> ")).collect();
    site.html("/", &body("Home", &format!("Words. {links}")));
    site.server.route("/0", [Reply::status(429).with("Retry-After", "7200")]);
    site.sync().await;
    site.html("/0", &body("/0", "Words of this page."));
    site.clock.advance(DAY);
    // The home page is unchanged, so it shows no links.
    assert_eq!(site.sync().await.worst(), None);
    assert_eq!(site.paths().len(), 7);
}

#[tokio::test] // SCP-184
async fn pages_beyond_the_quota_do_not_stop_the_crawl() {
    let site = TestSite::new();
    let paths = pages(&site, 4);
    listed(&site, &paths[..3]);
    site.sync().await;
    let quota = rutter_store::Quota { pages: 3, ..rutter_store::Quota::DEFAULT };
    let few = SyncOptions { quota, ..SyncOptions::default() };
    listed(&site, &paths[1..]);
    site.html("/1", &body("/1", "Other words of this page."));
    let report = site.sync_with(few).await.unwrap();
    assert_eq!((report.worst(), report.changed, report.removed), (Some(ProblemKind::Policy), 1, 1));
    assert_eq!(site.paths(), ["/1", "/2"]);
}

#[tokio::test]
async fn ignores_markdown_twin_of_another_type() {
    let site = TestSite::new();
    site.sitemap(&[], &["/t"]);
    site.server.route("/t", [Reply::ok("text/html", unsure("Berth"))]);
    site.server.route("/t.md", [Reply::redirect(302, "/login")]);
    site.html("/login", &body("Login", "Please sign in to read this page of the harbour."));
    site.sync().await;
    assert!(content(&site, "/t").unwrap().contains("Berth 7"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_crawl_by_links_is_continued() {
    // Page n links to 4n + 1 to 4n + 4; committed pages show no links later.
    for is_committed in [false, true] {
        let site = std::sync::Arc::new(TestSite::new());
        let path = |n: usize| if n == 0 { "/".to_owned() } else { format!("/{n}") };
        for n in 0..80 {
            let links: String = (4 * n + 1..=4 * n + 4)
                .filter(|next| *next < 80)
                .map(|next| format!("<a href={}>{next}</a> ", path(next)))
                .collect();
            site.html(&path(n), &body(&format!("Page {n}"), &format!("Words. {links}")));
        }
        let theirs = std::sync::Arc::clone(&site);
        let sync = tokio::spawn(async move { theirs.try_sync().await.map(|_| ()) });
        let n_asked = |wanted: usize| site.server.seen().len() >= wanted;
        while !n_asked(12) {
            tokio::task::yield_now().await;
        }
        if is_committed {
            // Fetched pages are committed with the next response.
            site.clock.advance(Duration::from_secs(11));
        }
        while !n_asked(30) {
            tokio::task::yield_now().await;
        }
        sync.abort();
        let is_cancelled = sync.await.is_err_and(|error| error.is_cancelled());
        assert!(is_cancelled, "it was too fast");
        site.clock.advance(DAY);
        site.sync().await;
        let paths = site.paths();
        let missing = (0..80).filter(|n| !paths.contains(&path(*n))).count();
        assert_eq!(missing, 0, "committed: {is_committed}");
    }
}
