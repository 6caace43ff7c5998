//! Limits of a crawl: each is counted, listed with its code, and configurable.

use std::time::Duration;

use rutter_store::prelude::*;
use rutter_sync::{CrawlLimits, SyncOptions, SyncReport, list_left_out};
use rutter_testkit::server::Reply;

use crate::test_site::{TestSite, body};

fn limited(limits: CrawlLimits) -> SyncOptions {
    SyncOptions { limits, ..SyncOptions::default() }
}

/// Left-out paths with their codes.
fn left(site: &TestSite) -> Vec<(String, &'static str)> {
    let publisher = site.store.publishers().unwrap()[0].id;
    let listed = list_left_out(site.store.as_ref(), publisher, None, 1_000_000).unwrap();
    listed
        .into_iter()
        .map(|it| (it.url.replace("http://harbour.example", ""), it.why.code()))
        .collect()
}

fn count(report: &SyncReport, code: &str) -> u64 {
    report.left_out_by_code().get(code).copied().unwrap_or_default()
}

/// A chain of chapters starting at the home page, each with a link to the next.
fn chain(site: &TestSite, n: usize) {
    site.html("/", &body("Home", "Text of the home page. <a href=/1>1</a>"));
    for at in 1..=n {
        let link = format!("Text of chapter {at}. <a href=/{}>next</a>", at + 1);
        let link = if at < n { link } else { format!("Text of chapter {at}.") };
        site.html(&format!("/{at}"), &body(&format!("Chapter {at}"), &link));
    }
}

#[tokio::test]
async fn chain_of_sixty_chapters_is_read_to_its_end() {
    let site = TestSite::new();
    chain(&site, 60);
    let report = site.sync().await;
    assert_eq!((report.added, count(&report, "depth-limit")), (61, 0));
}

#[tokio::test]
async fn stored_page_skipped_by_a_limit_is_not_left_out() {
    let site = TestSite::new();
    let links: String = (1..=9).map(|at| format!("<a href=/{at}>{at}</a> ")).collect();
    site.html("/", &body("Home", &format!("Text of the home page. {links}")));
    for at in 1..=9 {
        site.html(&format!("/{at}"), &body(&format!("Chapter {at}"), "Text of a chapter."));
    }
    for _ in 0..5 {
        let few = SyncOptions { most_pages: 4, ..SyncOptions::default() };
        let report = site.sync_with(few).await.unwrap();
        let (stored, left) = (site.paths(), left(&site));
        assert_eq!(stored.len() + left.len(), 10, "{stored:?} {left:?}");
        assert_eq!(count(&report, "page-limit"), left.len() as u64);
        site.clock.advance(Duration::from_hours(1));
    }
    assert_eq!((site.paths().len(), left(&site).len()), (10, 0));
}

#[tokio::test]
async fn depth_limit_is_counted_and_lists_what_it_cut() {
    let site = TestSite::new();
    chain(&site, 8);
    let limits = CrawlLimits { depth: 5, ..CrawlLimits::default() };
    for _ in 0..2 {
        // In the second sync the pages are unchanged and show no links.
        let report = site.sync_with(limited(limits.clone())).await.unwrap();
        assert_eq!((site.paths().len(), count(&report, "depth-limit")), (6, 1));
        assert_eq!(left(&site), [("/6".to_owned(), "depth-limit")]);
        site.clock.advance(Duration::from_hours(1));
    }
    // With a wider limit the crawl continues.
    let report = site.sync().await;
    assert_eq!((site.paths().len(), count(&report, "depth-limit")), (9, 0));
    assert_eq!(left(&site), []);
}

#[tokio::test]
async fn every_bound_lists_what_it_cut() {
    let long = format!("/{}", "a".repeat(60));
    let links = ["/x", "/a/b/c/d", "/r/r/r", "/q?n=1", "/q?n=2", &long, "/one-too-many"];
    let anchors: String = links.iter().map(|it| format!("<a href=\"{it}\">link</a> ")).collect();
    let limits = CrawlLimits {
        url_length: 80,
        path_segments: 3,
        queries_per_path: 1,
        links_per_page: 6,
        ..CrawlLimits::default()
    };
    let site = TestSite::new();
    site.html("/", &body("Home", &format!("Text of the home page. {anchors}")));
    for path in ["/x", "/q?n=1"] {
        site.html(path, &body(path, "Text of this page."));
    }
    let report = site.sync_with(limited(limits)).await.unwrap();
    let listed = left(&site);
    for (path, code) in [
        ("/a/b/c/d", "path-depth"),
        ("/r/r/r", "path-repeats"),
        ("/q?n=2", "queries-limit"),
        (&long, "url-length"),
        ("/one-too-many", "link-limit"),
    ] {
        assert_eq!(count(&report, code), 1, "{code}: {report:?}");
        assert!(listed.contains(&(path.to_owned(), code)), "{path}: {listed:?}");
    }
}

#[tokio::test]
async fn pages_queue_and_remembered_links_list_what_they_cut() {
    let paths: Vec<String> = (0..6).map(|n| format!("/{n}")).collect();
    let anchors: String = paths.iter().map(|it| format!("<a href={it}>link</a> ")).collect();
    let new_site = || {
        let site = TestSite::new();
        site.html("/", &body("Home", &format!("Text of the home page. {anchors}")));
        for path in &paths {
            site.html(path, &body(path, "Text of this page."));
        }
        site
    };
    let site = new_site();
    let few = SyncOptions { most_pages: 3, ..SyncOptions::default() };
    let report = site.sync_with(few.clone()).await.unwrap();
    assert_eq!(count(&report, "page-limit"), 4);
    assert_eq!(left(&site).len(), 4);
    let limits = CrawlLimits { remembered_links: 1, ..CrawlLimits::default() };
    let site = new_site();
    let report = site.sync_with(SyncOptions { limits, ..few }).await.unwrap();
    assert_eq!((count(&report, "page-limit"), count(&report, "remembered-limit")), (1, 3));
    // The same for a crawl by sitemap.
    let listed: Vec<&str> = paths.iter().map(String::as_str).collect();
    for (limits, code) in [
        (CrawlLimits { queue: 2, ..CrawlLimits::default() }, "queue-limit"),
        (CrawlLimits { sitemap_urls: 2, ..CrawlLimits::default() }, "sitemap-limit"),
    ] {
        let site = new_site();
        site.sitemap(&[], &listed);
        let options = SyncOptions { most_pages: 2, limits, ..SyncOptions::default() };
        let report = site.sync_with(options).await.unwrap();
        assert_eq!(count(&report, code), 4, "{report:?}");
        let listed = left(&site).into_iter().filter(|(_, found)| *found == code).count();
        assert_eq!(listed, 4, "{code}");
    }
}

#[tokio::test]
async fn time_limit_ends_a_crawl_and_the_next_one_goes_on() {
    let site = TestSite::new();
    let paths: Vec<String> = (0..4).map(|n| format!("/{n}")).collect();
    for path in &paths {
        site.html(path, &body(path, "Text of this page."));
    }
    site.sitemap(&[], &paths.iter().map(String::as_str).collect::<Vec<_>>());
    let limits = CrawlLimits { time: Some(Duration::ZERO), ..CrawlLimits::default() };
    let report = site.sync_with(limited(limits)).await.unwrap();
    assert_eq!((report.added, count(&report, "time-limit")), (0, 4));
    assert_eq!(left(&site).len(), 4);
    let report = site.sync().await;
    assert_eq!((report.added, report.removed, left(&site)), (4, 0, vec![]));
}

#[tokio::test]
async fn pages_that_fail_are_listed_until_they_come() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/b", "/map"]);
    site.html("/a", &body("A", "Text of A.")).file("/map", "application/pdf", "%PDF");
    site.server.route("/b", [Reply::status(404)]);
    site.sync().await;
    let wanted = [("/b".to_owned(), "http-status"), ("/map".to_owned(), "media-type")];
    assert_eq!(left(&site), wanted);
    site.html("/b", &body("B", "Text of B."));
    site.clock.advance(Duration::from_hours(1));
    site.sync().await;
    assert_eq!(left(&site), wanted[1..]);
}
