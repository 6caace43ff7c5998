//! An announced sitemap that fails is waited for; one that is refused is not.

use std::time::Duration;

use rutter_sync::Kind;
use rutter_testkit::server::{Fault, Reply};

use crate::bay::{Bay, body};

const ANNOUNCED: &str = "user-agent: *\nallow: /\nsitemap: http://harbour.example/list.xml\n";

/// A site with links from its home page to two pages.
fn linked(bay: &Bay) {
    bay.robots(ANNOUNCED);
    bay.html("/", &body("Home", "Text of the home page. <a href=/a>a</a> <a href=/b>b</a>"));
    for path in ["/a", "/b"] {
        bay.html(path, &body(path, "Text of this page."));
    }
}

#[tokio::test]
async fn announced_sitemap_that_fails_starts_no_crawl_by_links() {
    for wrong in [Reply::status(500), Reply::status(200).but(Fault::HangUp)] {
        let bay = Bay::new();
        linked(&bay);
        bay.server.route("/list.xml", [wrong]);
        for _ in 0..3 {
            let report = bay.visit().await;
            assert_eq!(report.worst(), Some(Kind::Network), "{report:?}");
            assert!(bay.paths().is_empty() && !bay.server.paths().contains(&"/a".to_owned()));
            bay.clock.advance(Duration::from_hours(25));
        }
        let list = crate::bay::urlset("<url><loc>http://harbour.example/a</loc></url>");
        bay.file("/list.xml", "application/xml", list);
        let report = bay.visit().await;
        assert_eq!((report.worst(), report.removed), (None, 0), "{report:?}");
        assert_eq!(bay.paths(), ["/a"]);
        // It fails later: nothing is added, nothing removed.
        bay.server.route("/list.xml", [Reply::status(500)]);
        bay.clock.advance(Duration::from_hours(25));
        let report = bay.visit().await;
        assert_eq!((report.worst(), report.is_quiet()), (Some(Kind::Network), true));
        assert_eq!(bay.paths(), ["/a"]);
    }
}

#[tokio::test]
async fn announced_sitemap_that_is_not_there_is_not_waited_for() {
    let bay = Bay::new();
    linked(&bay);
    bay.server.route("/list.xml", [Reply::status(404)]);
    bay.visit().await;
    assert_eq!(bay.paths(), ["/", "/a", "/b"]);
}

/// The reason that the report gives for a sitemap that was not read.
fn reason<'r>(report: &'r rutter_sync::Report, url: &str) -> &'r str {
    let trouble = report.troubles.iter().find(|trouble| trouble.place == url);
    &trouble.unwrap_or_else(|| panic!("{report:?}")).text
}

#[tokio::test] // D64
async fn announced_sitemap_that_is_refused_is_not_waited_for() {
    for (robots, url, wanted) in [
        (
            "user-agent: *\ndisallow: /list.xml\nsitemap: http://harbour.example/list.xml\n",
            "http://harbour.example/list.xml",
            "robots.txt forbids it",
        ),
        (
            "user-agent: *\nallow: /\nsitemap: http://harbour.example:25/list.xml\n",
            "http://harbour.example:25/list.xml",
            "port 25 is blocked",
        ),
    ] {
        let bay = Bay::new();
        linked(&bay);
        bay.robots(robots);
        let report = bay.visit().await;
        assert_eq!(bay.paths(), ["/", "/a", "/b"], "{report:?}");
        assert_eq!(report.worst(), None, "{report:?}");
        assert!(reason(&report, url).starts_with(wanted), "{report:?}");
    }
}

#[tokio::test] // D64
async fn usual_sitemap_is_read_where_every_announced_one_is_refused() {
    let bay = Bay::new();
    linked(&bay);
    bay.robots("user-agent: *\nallow: /\nsitemap: http://harbour.example:25/list.xml\n");
    bay.sitemap(&[], &["/b"]);
    let report = bay.visit().await;
    assert_eq!(bay.paths(), ["/b"], "{report:?}");
    assert!(reason(&report, "http://harbour.example:25/list.xml").starts_with("port 25"));
}

#[tokio::test] // D64
async fn announced_sitemap_that_answers_4xx_is_not_waited_for() {
    let bay = Bay::new();
    linked(&bay);
    bay.server.route("/list.xml", [Reply::status(403)]);
    let report = bay.visit().await;
    assert_eq!(bay.paths(), ["/", "/a", "/b"], "{report:?}");
    assert_eq!(reason(&report, "http://harbour.example/list.xml"), NOT_READ);
    // One that was read before may come back.
    let bay = Bay::new();
    linked(&bay);
    let list = crate::bay::urlset("<url><loc>http://harbour.example/a</loc></url>");
    bay.file("/list.xml", "application/xml", list);
    bay.visit().await;
    bay.server.route("/list.xml", [Reply::status(403)]);
    bay.clock.advance(Duration::from_hours(25));
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Network), "{report:?}");
    assert_eq!(bay.paths(), ["/a"]);
}

const NOT_READ: &str = "status 403; it is not known which pages it lists";

#[tokio::test] // D64
async fn sitemap_of_an_https_site_is_requested_by_https() {
    let bay = Bay::with_tls();
    linked(&bay);
    bay.robots("user-agent: *\nallow: /\nsitemap: http://harbour.example/list.xml\n");
    let list = crate::bay::urlset("<url><loc>https://harbour.example/a</loc></url>");
    bay.file("/list.xml", "application/xml", list);
    let report = bay.visit_by_tls().await;
    let pages: Vec<String> = bay.seen().into_iter().map(|(url, ..)| url).collect();
    assert_eq!(pages, ["https://harbour.example/a"], "{report:?}");
    assert_eq!(report.worst(), None, "{report:?}");
    let (url, finding) = &report.findings[0];
    assert_eq!((url.as_str(), finding.rule.code), ("http://harbour.example/list.xml", "DC001"));
    assert_eq!(finding.detail, "plain http; requested by https instead");
}
