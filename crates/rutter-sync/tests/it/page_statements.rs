//! Usage statements of plain HTML pages are obeyed.

use std::time::Duration;

use rutter_store::prelude::*;
use rutter_store::{ChangeKind, WithheldReason};
use rutter_sync::TrainingTerms;
use rutter_testkit::server::Reply;

use crate::test_site::{TestSite, body, urlset};

fn withheld(site: &TestSite, path: &str) -> Option<WithheldReason> {
    site.store.page(&format!("http://harbour.example{path}")).unwrap().unwrap().withheld
}

#[tokio::test] // D56 D57 D58
async fn page_that_refuses_its_use_keeps_no_content() {
    let text = "<main><p>Text of this page.</p></main>";
    let cases = [
        (
            "/meta-indexable",
            format!("<meta name=ai-indexable content=false><title>T</title>{text}"),
        ),
        ("/indexable", "<title>T</title><main data-ai-indexable=false><p>Text.</p></main>".into()),
        ("/login", "<title>T</title><main data-ai-auth-required><p>Text.</p></main>".into()),
        ("/rutter", format!("<meta name=Rutter content=noindex><title>T</title>{text}")),
        ("/noarchive", format!("<meta name=robots content=noarchive><title>T</title>{text}")),
        ("/nosnippet", format!("<meta name=robots content=nosnippet><title>T</title>{text}")),
        (
            "/expired",
            format!(
                "<meta name=robots content=\"unavailable_after: 25 Jun 2010 15:00:00 GMT\">\
                 <title>T</title>{text}"
            ),
        ),
    ];
    let site = TestSite::new();
    let mut paths: Vec<&str> = cases.iter().map(|(path, _)| *path).collect();
    paths.extend(["/open", "/tag-1", "/tag-2", "/tag-3"]);
    site.sitemap(&[], &paths);
    for (path, page) in &cases {
        site.html(path, page);
    }
    let open = "<meta name=robots content=\"unavailable_after: 2040-01-01\">\
                <meta name=otherbot content=noindex><title>T</title>\
                <main data-ai-indexable=true><p>Text.</p></main>";
    site.html("/open", open);
    let reply = Reply::ok("text/html", format!("<html lang=en><title>T</title>{text}"));
    for (path, tag) in [
        ("/tag-1", "noarchive"),
        ("/tag-2", "nosnippet"),
        ("/tag-3", "unavailable_after: 25 Jun 2010 15:00:00 GMT"),
    ] {
        site.server.route(path, [reply.clone().with("X-Robots-Tag", tag)]);
    }
    let report = site.sync().await;
    assert_eq!((report.added, report.withheld), (1, 10), "{report:?}");
    for path in paths {
        let wanted = (path != "/open").then_some(WithheldReason::Consent);
        assert_eq!(withheld(&site, path), wanted, "{path}");
    }
}

#[tokio::test]
async fn training_that_is_forbidden_is_known_to_the_replica() {
    let site = TestSite::new();
    site.robots("user-agent: *\ncontent-signal: /docs/ ai-train=no\nallow: /\n");
    site.sitemap(&[], &["/a", "/docs/b", "/c"]);
    site.html("/a", &body("A", "Text of A.")).html("/docs/b", &body("B", "Text of B."));
    let page = format!("<html lang=en>{}", body("C", "Text of C."));
    let reply = Reply::ok("text/html", page);
    site.server.route("/c", [reply.clone().with("Content-Signal", "search=yes, ai-train=no")]);
    assert_eq!(site.sync().await.added, 3);
    let trains = |path: &str| {
        let publisher = site.store.publishers().unwrap().remove(0);
        let key = format!("http://harbour.example{path}");
        TrainingTerms::of(site.store.as_ref(), &publisher)
            .unwrap()
            .allows(site.store.as_ref(), &key)
            .unwrap()
    };
    assert_eq!([trains("/a"), trains("/docs/b"), trains("/c")], [None, Some(false), Some(false)]);
    // Withdrawn.
    site.server.route("/c", [reply]);
    site.robots("user-agent: *\nallow: /\n");
    site.clock.advance(Duration::from_hours(25));
    site.sync().await;
    assert_eq!([trains("/docs/b"), trains("/c")], [None, None]);
}

/// The head of a page that must not be used from a day of January 2027 on.
fn until(day: u32) -> String {
    format!("<meta name=robots content=\"unavailable_after: 2027-01-{day:02}T00:00:00Z\">")
}

#[tokio::test] // D58
async fn content_is_withheld_when_the_date_of_unavailable_after_passes() {
    let site = TestSite::new();
    let entry = |path: &str| {
        let lastmod = "<lastmod>2027-01-01T00:00:00Z</lastmod>";
        format!("<url><loc>http://harbour.example{path}</loc>{lastmod}</url>")
    };
    let urls = ["/meta", "/tag", "/open"].map(entry).concat();
    let urls = format!("{urls}<url><loc>http://harbour.example/undated</loc></url>");
    site.file("/sitemap.xml", "application/xml", urlset(&urls));
    for path in ["/meta", "/undated"] {
        site.html(path, &format!("{}{}", until(12), body("T", "Text of this page.")));
    }
    site.html("/open", &body("T", "Text of an open page."));
    let reply = Reply::ok("text/html", format!("<html lang=en>{}", body("T", "Text of a tag.")));
    let tag = "unavailable_after: 12 Jan 2027 00:00:00 GMT";
    site.server.route("/tag", [reply.with("X-Robots-Tag", tag)]);
    let paths = ["/meta", "/tag", "/undated"];
    for _ in 0..2 {
        site.sync().await;
        assert_eq!(paths.map(|path| withheld(&site, path)), [None; 3]);
        site.clock.advance(Duration::from_hours(24));
    }
    // It is the 12th. No list shows a change.
    let n = site.server.seen().len();
    let report = site.sync().await;
    assert_eq!(
        paths.map(|path| withheld(&site, path)),
        [Some(WithheldReason::Consent); 3],
        "{report:?}"
    );
    assert_eq!(withheld(&site, "/open"), None);
    assert_eq!(report.withheld, 3);
    let asked = site.asked(n);
    assert!(!asked.iter().any(|path| path == "/meta" || path == "/tag"), "{asked:?}");
    let events = site.store.changes_since(None, 100).unwrap().events;
    assert_eq!(events.iter().filter(|it| it.kind == ChangeKind::Withheld).count(), 3);
    // The next sync changes nothing.
    site.clock.advance(Duration::from_hours(1));
    assert!(site.sync().await.is_quiet());
    // A later date restores the content.
    site.html("/undated", &format!("{}{}", until(20), body("T", "Text of this page.")));
    site.sync().await;
    assert_eq!(withheld(&site, "/undated"), None);
    site.clock.advance(Duration::from_hours(24 * 9));
    site.sync().await;
    assert_eq!(withheld(&site, "/undated"), Some(WithheldReason::Consent));
}

#[tokio::test] // D58
async fn content_is_withheld_at_its_date_where_the_site_is_down() {
    let site = TestSite::new();
    site.sitemap(&[], &["/meta"]);
    site.html("/meta", &format!("{}{}", until(12), body("T", "Text of this page.")));
    site.sync().await;
    site.clock.advance(Duration::from_hours(72));
    site.server.route("/robots.txt", [Reply::status(503)]);
    site.try_sync().await.unwrap_err();
    assert_eq!(withheld(&site, "/meta"), Some(WithheldReason::Consent));
}
