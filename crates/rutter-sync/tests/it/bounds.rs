//! Bounds of a crawl: each is counted, listed with its code, and configurable.

use std::time::Duration;

use rutter_store::Store;
use rutter_sync::{CrawlLimits, Options, Report, left_out};
use rutter_testkit::server::Reply;

use crate::bay::{Bay, body};

fn limited(limits: CrawlLimits) -> Options {
    Options { limits, ..Options::default() }
}

/// Paths that are left out, with their codes.
fn left(bay: &Bay) -> Vec<(String, &'static str)> {
    let publisher = bay.store.publishers().unwrap()[0].id;
    let listed = left_out(bay.store.as_ref(), publisher, None, 1_000_000).unwrap();
    listed
        .into_iter()
        .map(|it| (it.url.replace("http://harbour.example", ""), it.why.code()))
        .collect()
}

fn count(report: &Report, code: &str) -> u64 {
    report.left_out_by_code().get(code).copied().unwrap_or_default()
}

/// A chain of chapters behind the home page, each with a link to the next.
fn chain(bay: &Bay, n: usize) {
    bay.html("/", &body("Home", "Text of the home page. <a href=/1>1</a>"));
    for at in 1..=n {
        let link = format!("Text of chapter {at}. <a href=/{}>next</a>", at + 1);
        let link = if at < n { link } else { format!("Text of chapter {at}.") };
        bay.html(&format!("/{at}"), &body(&format!("Chapter {at}"), &link));
    }
}

#[tokio::test]
async fn chain_of_sixty_chapters_is_read_to_its_end() {
    let bay = Bay::new();
    chain(&bay, 60);
    let report = bay.visit().await;
    assert_eq!((report.added, count(&report, "depth-limit")), (61, 0));
}

#[tokio::test]
async fn a_stored_page_that_a_bound_skips_is_not_left_out() {
    let bay = Bay::new();
    let links: String = (1..=9).map(|at| format!("<a href=/{at}>{at}</a> ")).collect();
    bay.html("/", &body("Home", &format!("Text of the home page. {links}")));
    for at in 1..=9 {
        bay.html(&format!("/{at}"), &body(&format!("Chapter {at}"), "Text of a chapter."));
    }
    for _ in 0..5 {
        let few = Options { most_pages: 4, ..Options::default() };
        let report = bay.visit_with(few).await.unwrap();
        let (stored, left) = (bay.paths(), left(&bay));
        assert_eq!(stored.len() + left.len(), 10, "{stored:?} {left:?}");
        assert_eq!(count(&report, "page-limit"), left.len() as u64);
        bay.clock.advance(Duration::from_hours(1));
    }
    assert_eq!((bay.paths().len(), left(&bay).len()), (10, 0));
}

#[tokio::test]
async fn depth_limit_is_counted_and_lists_what_it_cut() {
    let bay = Bay::new();
    chain(&bay, 8);
    let limits = CrawlLimits { depth: 5, ..CrawlLimits::default() };
    for _ in 0..2 {
        // The second time the pages are unchanged, and have no links to tell.
        let report = bay.visit_with(limited(limits.clone())).await.unwrap();
        assert_eq!((bay.paths().len(), count(&report, "depth-limit")), (6, 1));
        assert_eq!(left(&bay), [("/6".to_owned(), "depth-limit")]);
        bay.clock.advance(Duration::from_hours(1));
    }
    // With a wider bound the crawl goes on where it was cut.
    let report = bay.visit().await;
    assert_eq!((bay.paths().len(), count(&report, "depth-limit")), (9, 0));
    assert_eq!(left(&bay), []);
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
    let bay = Bay::new();
    bay.html("/", &body("Home", &format!("Text of the home page. {anchors}")));
    for path in ["/x", "/q?n=1"] {
        bay.html(path, &body(path, "Text of this page."));
    }
    let report = bay.visit_with(limited(limits)).await.unwrap();
    let listed = left(&bay);
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
    let site = || {
        let bay = Bay::new();
        bay.html("/", &body("Home", &format!("Text of the home page. {anchors}")));
        for path in &paths {
            bay.html(path, &body(path, "Text of this page."));
        }
        bay
    };
    let bay = site();
    let few = Options { most_pages: 3, ..Options::default() };
    let report = bay.visit_with(few.clone()).await.unwrap();
    assert_eq!(count(&report, "page-limit"), 4);
    assert_eq!(left(&bay).len(), 4);
    let limits = CrawlLimits { remembered_links: 1, ..CrawlLimits::default() };
    let bay = site();
    let report = bay.visit_with(Options { limits, ..few }).await.unwrap();
    assert_eq!((count(&report, "page-limit"), count(&report, "remembered-limit")), (1, 3));
    // By a sitemap.
    let listed: Vec<&str> = paths.iter().map(String::as_str).collect();
    for (limits, code) in [
        (CrawlLimits { queue: 2, ..CrawlLimits::default() }, "queue-limit"),
        (CrawlLimits { sitemap_urls: 2, ..CrawlLimits::default() }, "sitemap-limit"),
    ] {
        let bay = site();
        bay.sitemap(&[], &listed);
        let options = Options { most_pages: 2, limits, ..Options::default() };
        let report = bay.visit_with(options).await.unwrap();
        assert_eq!(count(&report, code), 4, "{report:?}");
        let listed = left(&bay).into_iter().filter(|(_, found)| *found == code).count();
        assert_eq!(listed, 4, "{code}");
    }
}

#[tokio::test]
async fn time_limit_ends_a_crawl_and_the_next_one_goes_on() {
    let bay = Bay::new();
    let paths: Vec<String> = (0..4).map(|n| format!("/{n}")).collect();
    for path in &paths {
        bay.html(path, &body(path, "Text of this page."));
    }
    bay.sitemap(&[], &paths.iter().map(String::as_str).collect::<Vec<_>>());
    let limits = CrawlLimits { time: Some(Duration::ZERO), ..CrawlLimits::default() };
    let report = bay.visit_with(limited(limits)).await.unwrap();
    assert_eq!((report.added, count(&report, "time-limit")), (0, 4));
    assert_eq!(left(&bay).len(), 4);
    let report = bay.visit().await;
    assert_eq!((report.added, report.removed, left(&bay)), (4, 0, vec![]));
}

#[tokio::test]
async fn pages_that_fail_are_listed_until_they_come() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/b", "/map"]);
    bay.html("/a", &body("A", "Text of A.")).file("/map", "application/pdf", "%PDF");
    bay.server.route("/b", [Reply::status(404)]);
    bay.visit().await;
    let wanted = [("/b".to_owned(), "http-status"), ("/map".to_owned(), "media-type")];
    assert_eq!(left(&bay), wanted);
    bay.html("/b", &body("B", "Text of B."));
    bay.clock.advance(Duration::from_hours(1));
    bay.visit().await;
    assert_eq!(left(&bay), wanted[1..]);
}
