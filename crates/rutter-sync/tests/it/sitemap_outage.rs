//! Announced sitemaps: one that fails is waited for, one that is refused is not.

use std::time::Duration;

use rutter_sync::ProblemKind;
use rutter_testkit::server::{Fault, Reply};

use crate::test_site::{TestSite, body};

const ANNOUNCED: &str = "user-agent: *\nallow: /\nsitemap: http://harbour.example/list.xml\n";

/// A site with links from its home page to two pages.
fn linked(site: &TestSite) {
    site.robots(ANNOUNCED);
    site.html("/", &body("Home", "Text of the home page. <a href=/a>a</a> <a href=/b>b</a>"));
    for path in ["/a", "/b"] {
        site.html(path, &body(path, "Text of this page."));
    }
}

#[tokio::test]
async fn announced_sitemap_that_fails_starts_no_crawl_by_links() {
    for wrong in [Reply::status(500), Reply::status(200).but(Fault::HangUp)] {
        let site = TestSite::new();
        linked(&site);
        site.server.route("/list.xml", [wrong]);
        for _ in 0..3 {
            let report = site.sync().await;
            assert_eq!(report.worst(), Some(ProblemKind::Network), "{report:?}");
            assert!(site.paths().is_empty() && !site.server.paths().contains(&"/a".to_owned()));
            site.clock.advance(Duration::from_hours(25));
        }
        let list = crate::test_site::urlset("<url><loc>http://harbour.example/a</loc></url>");
        site.file("/list.xml", "application/xml", list);
        let report = site.sync().await;
        assert_eq!((report.worst(), report.removed), (None, 0), "{report:?}");
        assert_eq!(site.paths(), ["/a"]);
        // It fails later: nothing is added or removed.
        site.server.route("/list.xml", [Reply::status(500)]);
        site.clock.advance(Duration::from_hours(25));
        let report = site.sync().await;
        assert_eq!((report.worst(), report.is_quiet()), (Some(ProblemKind::Network), true));
        assert_eq!(site.paths(), ["/a"]);
    }
}

#[tokio::test]
async fn announced_sitemap_that_is_not_there_is_not_waited_for() {
    let site = TestSite::new();
    linked(&site);
    site.server.route("/list.xml", [Reply::status(404)]);
    site.sync().await;
    assert_eq!(site.paths(), ["/", "/a", "/b"]);
}

/// Returns the reason in the report for a sitemap that was not read.
fn reason<'r>(report: &'r rutter_sync::SyncReport, url: &str) -> &'r str {
    let trouble = report.problems.iter().find(|trouble| trouble.place == url);
    &trouble.unwrap_or_else(|| panic!("{report:?}")).text
}

#[tokio::test] // D64
async fn announced_sitemap_that_is_refused_is_not_waited_for() {
    for (robots, url, wanted) in [
        (
            "user-agent: *\ndisallow: /list.xml\nsitemap: http://harbour.example/list.xml\n",
            "http://harbour.example/list.xml",
            "robots.txt forbids the URL",
        ),
        (
            "user-agent: *\nallow: /\nsitemap: http://harbour.example:25/list.xml\n",
            "http://harbour.example:25/list.xml",
            "port 25 is blocked",
        ),
    ] {
        let site = TestSite::new();
        linked(&site);
        site.robots(robots);
        let report = site.sync().await;
        assert_eq!(site.paths(), ["/", "/a", "/b"], "{report:?}");
        assert_eq!(report.worst(), None, "{report:?}");
        assert!(reason(&report, url).starts_with(wanted), "{report:?}");
    }
}

#[tokio::test] // D64
async fn usual_sitemap_is_read_where_every_announced_one_is_refused() {
    let site = TestSite::new();
    linked(&site);
    site.robots("user-agent: *\nallow: /\nsitemap: http://harbour.example:25/list.xml\n");
    site.sitemap(&[], &["/b"]);
    let report = site.sync().await;
    assert_eq!(site.paths(), ["/b"], "{report:?}");
    assert!(reason(&report, "http://harbour.example:25/list.xml").starts_with("port 25"));
}

#[tokio::test] // D64
async fn announced_sitemap_that_answers_4xx_is_not_waited_for() {
    let site = TestSite::new();
    linked(&site);
    site.server.route("/list.xml", [Reply::status(403)]);
    let report = site.sync().await;
    assert_eq!(site.paths(), ["/", "/a", "/b"], "{report:?}");
    assert_eq!(reason(&report, "http://harbour.example/list.xml"), NOT_READ);
    // A sitemap that was read before may come back.
    let site = TestSite::new();
    linked(&site);
    let list = crate::test_site::urlset("<url><loc>http://harbour.example/a</loc></url>");
    site.file("/list.xml", "application/xml", list);
    site.sync().await;
    site.server.route("/list.xml", [Reply::status(403)]);
    site.clock.advance(Duration::from_hours(25));
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Network), "{report:?}");
    assert_eq!(site.paths(), ["/a"]);
}

const NOT_READ: &str = "status 403; the pages in this sitemap are not known";

#[tokio::test] // D64
async fn sitemap_of_an_https_site_is_requested_by_https() {
    let site = TestSite::with_tls();
    linked(&site);
    site.robots("user-agent: *\nallow: /\nsitemap: http://harbour.example/list.xml\n");
    let list = crate::test_site::urlset("<url><loc>https://harbour.example/a</loc></url>");
    site.file("/list.xml", "application/xml", list);
    let report = site.sync_by_tls().await;
    let pages: Vec<String> = site.stored_pages().into_iter().map(|(url, ..)| url).collect();
    assert_eq!(pages, ["https://harbour.example/a"], "{report:?}");
    assert_eq!(report.worst(), None, "{report:?}");
    let (url, finding) = &report.findings[0];
    assert_eq!((url.as_str(), finding.rule.code), ("http://harbour.example/list.xml", "DC001"));
    assert_eq!(finding.detail, "plain http; requested over https instead");
}
