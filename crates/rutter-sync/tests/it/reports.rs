//! Reports of syncs: counts and reasons match what happened, also for sites without
//! content.

use std::time::Duration;

use rutter_fetch::Url;
use rutter_store::ChangeKind;
use rutter_store::prelude::*;
use rutter_sync::discover::AccessMethod;
use rutter_sync::{ProblemKind, SyncOptions};
use rutter_testkit::server::{Fault, Reply};

use crate::test_site::{SITE, TestSite, at, body, urlset};

const DAY: Duration = Duration::from_hours(24);
const NOINDEX: &str = "<meta name=robots content=noindex>";

/// Changes of the replica by kind: added, changed, removed, withheld.
fn events(site: &TestSite) -> [usize; 4] {
    let events = site.store.changes_since(None, 1_000).unwrap().events;
    [ChangeKind::Added, ChangeKind::Changed, ChangeKind::Removed, ChangeKind::Withheld]
        .map(|kind| events.iter().filter(|event| event.kind == kind).count())
}

#[tokio::test]
async fn report_counts_match_the_history() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/b", "/hidden"]);
    site.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    site.html("/hidden", &format!("{NOINDEX}{}", body("H", "Words.")));
    let report = site.sync().await;
    // A page without content is not counted as added.
    assert_eq!((report.added, report.withheld, report.pages), (2, 1, 3));
    assert_eq!(events(&site), [2, 0, 0, 0]);
    site.html("/a", &body("A", "Other words."));
    site.html("/b", &format!("{NOINDEX}{}", body("B", "Words.")));
    let report = site.sync().await;
    assert_eq!((report.added, report.changed, report.withheld), (0, 1, 2));
    assert_eq!(events(&site), [2, 1, 0, 1]);
    // Nor is it counted as removed.
    site.sitemap(&[], &["/a"]);
    site.server.route("/b", [Reply::status(404)]);
    let options = SyncOptions {
        mass_deletion: rutter_scp::MassDeletionPolicy::Allowed,
        ..SyncOptions::default()
    };
    let report = site.sync_with(options).await.unwrap();
    assert_eq!((report.removed, report.pages, report.withheld), (0, 1, 0));
    assert_eq!(events(&site), [2, 1, 0, 1]);
}

#[tokio::test]
async fn withheld_page_is_not_downloaded_in_every_sync() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/hidden"]);
    site.html("/a", &body("A", "Words."));
    let hidden = format!("{NOINDEX}{}", body("H", "Words."));
    site.html("/hidden", &hidden);
    site.sync().await;
    // The status codes of conditional requests, as the server saw them.
    let asked = |site: &TestSite, from: usize| {
        let seen = site.server.seen().split_off(from);
        let asked = seen.into_iter().find(|asked| asked.path == "/hidden").unwrap();
        asked.header("if-none-match").is_some()
    };
    for (days, is_conditional) in [(1, true), (5, true), (2, false), (1, true)] {
        site.clock.advance(days * DAY);
        let n = site.server.seen().len();
        site.sync().await;
        assert_eq!(asked(&site, n), is_conditional, "after {days} days more");
        assert_eq!(site.store.line("http://harbour.example/hidden").unwrap(), None);
    }
    // A change of the page takes effect at once.
    site.html("/hidden", &body("H", "Words."));
    site.sync().await;
    assert!(site.store.line("http://harbour.example/hidden").unwrap().is_some());
}

#[tokio::test]
async fn follows_home_page_that_only_redirects() {
    for refresh in ["0; url=/en/", "5;URL='/en/'", "0, url=http://harbour.example/en/", "0;/en/"] {
        let site = TestSite::new();
        // With a title it is still not a page.
        site.html(
            "/",
            &format!("<meta http-equiv=refresh content=\"{refresh}\"><title>Go on</title>"),
        );
        site.html("/en/", &body("Home", "Words of the home page. <a href=/a>A</a>"));
        site.html("/a", &body("A", "Words of A."));
        let report = site.sync().await;
        assert_eq!(
            (report.method, report.left_out_by_code()["redirect-page"]),
            (AccessMethod::Links, 1)
        );
        assert_eq!(site.paths(), ["/a", "/en/"], "{refresh}");
    }
}

#[tokio::test] // D88
async fn reports_arc_sitemap_of_another_site() {
    let site = TestSite::new();
    // The file as built for another site.
    let arc = |origin: &str| {
        let text = format!(
            r#"{{"arc_sitemap_version":"2.1","site":"{origin}","generated_at":"2027-01-02T00:00:00Z",
            "pages":[{{"url":"{origin}/a","ai_indexable":true}},
            {{"url":"{origin}/b","ai_indexable":true}}]}}"#
        );
        site.file("/arc-sitemap.json", "application/json", text);
    };
    site.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    arc("https://other.example");
    let report = site.sync().await;
    assert_eq!((report.arc, report.worst()), (Some(0), Some(ProblemKind::Integrity)), "{report:?}");
    assert_eq!(report.left_out_by_code()["arc-other-site"], 2);
    assert!(report.problems[0].text.contains("https://other.example"), "{report:?}");
    arc("http://harbour.example");
    let report = site.sync().await;
    assert_eq!((report.arc, report.worst(), report.added), (Some(2), None, 2));
}

#[tokio::test]
async fn forgets_new_site_without_content() {
    let site = TestSite::new();
    site.server.fallback(Reply::status(404));
    let report = site.sync().await;
    assert_eq!((report.method, report.pages), (AccessMethod::Nothing, 0));
    assert!(site.store.publishers().unwrap().is_empty());
    // Nor is a site that cannot be reached.
    site.server.route("/robots.txt", [Reply::status(500)]);
    site.clock.advance(2 * DAY);
    assert!(site.try_sync().await.is_err());
    assert!(site.store.publishers().unwrap().is_empty());
    // A site that asked for a pause is not requested.
    site.server.route("/robots.txt", [Reply::status(429).with("Retry-After", "7200")]);
    site.clock.advance(DAY);
    assert!(site.try_sync().await.is_err());
    let known = site.store.publishers().unwrap();
    assert!(known.iter().all(|publisher| publisher.paused_until.is_some()) && known.len() == 1);
    // A site with stored pages is kept.
    site.clock.advance(DAY);
    site.robots("").sitemap(&[], &["/a"]);
    site.html("/a", &body("A", "Words."));
    site.sync().await;
    site.server.route("/robots.txt", [Reply::status(500)]);
    site.clock.advance(2 * DAY);
    assert!(site.try_sync().await.is_err());
    assert_eq!(site.store.publishers().unwrap()[0].pages, 1);
}

#[tokio::test]
async fn explains_missing_page() {
    let site = TestSite::new();
    site.html("/a", &body("A", "Words."));
    let syncer = site.syncer_with(TestSite::settings(), SyncOptions::default());
    let home = Url::parse(SITE).unwrap();
    let found = syncer.explain(&home.join("/a").unwrap()).await.unwrap();
    assert_eq!((found.no_page, found.verdict.withheld), (None, None));
    site.file("/map", "application/pdf", "%PDF").html("/empty", "<p></p>");
    for (path, why) in [
        ("/none", "status 404"),
        ("/map", "the response has the media type application/pdf"),
        ("/empty", "the page has no text"),
    ] {
        let found = syncer.explain(&home.join(path).unwrap()).await.unwrap();
        assert_eq!((found.no_page.as_deref(), found.fetch_failure), (Some(why), None));
    }
    // A failed request says nothing about the page.
    site.server.route("/cut", [Reply::ok("text/html", "x").but(Fault::HangUp)]);
    let found = syncer.explain(&home.join("/cut").unwrap()).await.unwrap();
    assert!(found.no_page.is_none() && found.fetch_failure.is_some());
}

#[tokio::test]
async fn reports_left_out_urls_in_unchanged_syncs() {
    let site = TestSite::new();
    let first = site.snapshot(5, &[("/a", "a")]);
    let list = |paths: &[&str], adverts: &[String]| {
        let urls: String = paths
            .iter()
            .map(|path| {
                format!(
                    "<url><loc>http://harbour.example{path}</loc><lastmod>{}</lastmod></url>",
                    at(2)
                )
            })
            .collect();
        site.file(
            "/sitemap.xml",
            "application/xml",
            urlset(&format!("{}{urls}", adverts.concat())),
        );
    };
    site.robots("user-agent: *\ndisallow: /private\n");
    site.file("/map", "application/pdf", "%PDF");
    list(&["/a", "/map", "/private/x"], std::slice::from_ref(&first));
    let wanted = |report: &rutter_sync::SyncReport, n_visit: u32| {
        assert_eq!(report.left_out_by_code().get("media-type"), Some(&1), "{n_visit}");
        assert_eq!(report.left_out_by_code().get("robots"), Some(&1), "{n_visit}");
    };
    wanted(&site.sync().await, 0);
    site.clock.advance(DAY);
    wanted(&site.sync().await, 1);
    // After a change of the list, too.
    let second = site.delta(6, &[("/a", "other words")]);
    list(&["/a", "/map", "/private/x"], &[first, second]);
    site.clock.advance(DAY);
    let report = site.sync().await;
    assert_eq!(report.changed, 1);
    wanted(&report, 2);
    site.clock.advance(DAY);
    wanted(&site.sync().await, 3);
}

#[tokio::test]
async fn reports_unreadable_arc_sitemap() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a"]);
    site.html("/a", &body("A", "Words."));
    let text = r#"{"pages":[{"url":"http://harbour.example/a","ai_indexable":false}]}"#;
    site.file("/arc-sitemap.json", "application/json", text);
    let report = site.sync().await;
    let places: Vec<&str> = report.findings.iter().map(|(place, _)| place.as_str()).collect();
    assert!(places.contains(&"http://harbour.example/arc-sitemap.json"), "{report:?}");
}

#[tokio::test]
async fn page_quota_avoids_useless_downloads() {
    let none = SyncOptions {
        quota: rutter_store::Quota { pages: 1, ..rutter_store::Quota::DEFAULT },
        ..SyncOptions::default()
    };
    // A collection beyond the quota is not replaced by the same number of requests.
    let site = TestSite::new();
    let first = site.snapshot(5, &[("/a", "a"), ("/b", "b"), ("/c", "c")]);
    site.sitemap(&[first], &["/a", "/b", "/c"]);
    for path in ["/a", "/b", "/c"] {
        site.html(path, &body(path, "Words."));
    }
    let report = site.sync_with(none.clone()).await.unwrap();
    assert_eq!((report.worst(), report.pages), (Some(ProblemKind::Policy), 0));
    assert!(!site.server.paths().contains(&"/a".to_owned()), "{:?}", site.server.paths());
    // It is stored once the quota allows it.
    assert_eq!(site.sync().await.added, 3);
    // Pages are not crawled beyond the quota.
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/b", "/c"]);
    for path in ["/a", "/b", "/c"] {
        site.html(path, &body(path, "Words."));
    }
    let settings = rutter_fetch::ClientSettings { connections: 1, ..TestSite::settings() };
    let syncer = site.syncer_with(settings, none);
    let report = syncer.sync(&Url::parse(SITE).unwrap(), &()).await.unwrap();
    assert_eq!((report.worst(), report.pages), (Some(ProblemKind::Policy), 1));
    let asked = site.asked(0);
    let n_pages = ["/a", "/b", "/c"].iter().filter(|path| asked.contains(&(**path).to_owned()));
    assert_eq!(n_pages.count(), 1);
    assert!(report.problems[0].text.ends_with(": 2"), "{report:?}");
}

#[tokio::test]
async fn page_quota_counts_every_page_once() {
    // More pages than the template sample, and as many as the quota allows.
    let site = TestSite::new();
    let paths: Vec<String> = (0..230).map(|n| format!("/{n}")).collect();
    for path in &paths {
        site.html(path, &body(path, "Words of this page."));
    }
    site.sitemap(&[], &paths.iter().map(String::as_str).collect::<Vec<_>>());
    let quota = rutter_store::Quota { pages: 230, ..rutter_store::Quota::DEFAULT };
    let report = site.sync_with(SyncOptions { quota, ..SyncOptions::default() }).await.unwrap();
    assert_eq!((report.worst(), report.added), (None, 230));
}
