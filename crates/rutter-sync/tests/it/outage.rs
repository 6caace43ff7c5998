//! An announced sitemap that fails is waited for.

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
