//! Lists that fail, move, shrink or are incomplete: no page is removed because of a list
//! that was not read.

use std::time::Duration;

use rutter_store::WithheldReason;
use rutter_store::prelude::*;
use rutter_sync::{ProblemKind, SyncOptions};
use rutter_testkit::server::{Fault, Reply};

use crate::test_site::{TestSite, advert, at, body, page, urlset};

fn list(paths: &[&str]) -> String {
    let urls: String = paths
        .iter()
        .map(|path| format!("<url><loc>http://harbour.example{path}</loc></url>"))
        .collect();
    urlset(&urls)
}

fn pages(site: &TestSite, paths: &[&str]) {
    for path in paths {
        site.html(path, &body(path, "Words of this page."));
    }
}

fn line(site: &TestSite, path: &str) -> Option<String> {
    site.store.line(&format!("http://harbour.example{path}")).unwrap()
}

const ARC: &str = r#"{"arc_sitemap_version":"2.1","site":"http://harbour.example",
    "generated_at":"2027-01-02T00:00:00Z","pages":[
    {"url":"http://harbour.example/a","ai_indexable":true}]}"#;

#[tokio::test]
async fn reads_redirected_sitemap() {
    let site = TestSite::new();
    site.server.route("/sitemap.xml", [Reply::redirect(301, "http://harbour.example/real.xml")]);
    site.file("/real.xml", "application/xml", list(&["/a", "/b"]));
    pages(&site, &["/a", "/b"]);
    assert_eq!(site.sync().await.added, 2);
    assert_eq!(site.server.paths().iter().filter(|path| *path == "/real.xml").count(), 1);
    site.file("/real.xml", "application/xml", list(&["/a"]));
    assert_eq!(site.sync().await.removed, 1);
}

#[tokio::test] // B03
async fn failed_list_removes_no_page() {
    // With ARC, with collections, and at a path that is not announced.
    let announced = "user-agent: *\nallow: /\nsitemap: http://harbour.example/scp.xml\n\
                     sitemap: http://harbour.example/sitemap.xml\n";
    for beside in ["arc", "scp", "head"] {
        for wrong in [Reply::status(500), Reply::status(404), Reply::ok("text/html", "<p>no")] {
            let site = TestSite::new();
            site.sitemap(&[], &["/a", "/b", "/c"]);
            pages(&site, &["/a", "/b", "/c", "/k"]);
            match beside {
                "arc" => site.file("/arc-sitemap.json", "application/json", ARC),
                "scp" => {
                    let first = site.snapshot(1, &[("/a", "a")]);
                    site.robots(announced).file("/scp.xml", "application/xml", urlset(&first))
                }
                _ => {
                    let head = "<link rel=sitemap href=/two.xml><title>H</title><p>Home words.";
                    site.html("/", head).file("/two.xml", "application/xml", list(&["/k"]))
                }
            };
            site.sync().await;
            let before = site.paths();
            site.server.route("/sitemap.xml", [wrong]);
            let report = site.sync().await;
            assert_eq!(report.removed, 0, "{beside}: {report:?}");
            assert_eq!(site.paths(), before, "{beside}");
        }
    }
}

#[tokio::test] // D13
async fn ignores_collections_that_may_not_be_fetched() {
    let site = TestSite::new();
    site.html("/", "<title>H</title><main><p>Home words.</p><a href=/a>a</a></main>");
    pages(&site, &["/a"]);
    assert_eq!(site.sync().await.added, 2);
    let first = site.snapshot(2, &[("/a", "a")]).replace("harbour.example", "elsewhere.example");
    site.sitemap(&[first], &[]);
    for _ in 0..3 {
        site.clock.advance(Duration::from_hours(25));
        assert_eq!(site.sync().await.removed, 0);
    }
    assert_eq!(site.paths(), ["/", "/a"]);
}

#[tokio::test] // D39
async fn restores_crawled_page_that_was_gone_once() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    site.sitemap(std::slice::from_ref(&first), &["/a", "/b"]);
    pages(&site, &["/b"]);
    site.sync().await;
    site.sitemap(std::slice::from_ref(&first), &["/a", "/b", "/x.pdf"]);
    site.server.route("/b", [Reply::status(404)]);
    assert_eq!(site.sync().await.removed, 1);
    pages(&site, &["/b"]);
    let second = site.delta(2, &[("/a", "aa")]);
    site.sitemap(&[first, second], &["/a", "/b"]);
    let report = site.sync().await;
    assert_eq!((report.added, report.changed), (1, 1));
}

#[tokio::test] // D39
async fn failed_sync_keeps_its_knowledge_of_lists() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    site.sitemap(std::slice::from_ref(&first), &["/a"]);
    pages(&site, &["/b"]);
    site.sync().await;
    let second = site.delta(2, &[("/a", "aa")]);
    let broken = Reply::status(200).but(Fault::HangUp);
    site.server.route("/all-2-delta.scp", [broken]);
    site.sitemap(&[first, second], &["/a", "/b"]);
    assert_eq!(site.sync().await.worst(), Some(ProblemKind::Network));
    site.delta(2, &[("/a", "aa")]);
    site.clock.advance(Duration::from_hours(2));
    site.sync().await;
    assert_eq!(site.paths(), ["/a", "/b"]);
}

#[tokio::test] // D24
async fn tracks_each_sitemap_separately() {
    let site = TestSite::new();
    site.robots(
        "user-agent: *\nallow: /\nsitemap: http://harbour.example/scp.xml\n\
         sitemap: http://harbour.example/more.xml\n",
    );
    let first = site.snapshot(1, &[("/a", "a")]);
    let scp = |more: &str| {
        urlset(&format!("{first}<url><loc>http://harbour.example/a</loc></url>{more}"))
    };
    site.file("/scp.xml", "application/xml", scp(""));
    site.file("/more.xml", "application/xml", list(&["/b"]));
    site.server.route("/b", [Reply::status(503).with("Retry-After", "0")]);
    site.sync().await;
    // One list changes, the other lists the page that failed.
    site.file("/scp.xml", "application/xml", scp("<!-- changed -->"));
    site.clock.advance(Duration::from_hours(2));
    pages(&site, &["/b"]);
    site.sync().await;
    assert_eq!(site.paths(), ["/a", "/b"]);
}

#[tokio::test] // D95
async fn crawls_listed_page_that_collections_dropped() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    site.sitemap(std::slice::from_ref(&first), &["/a", "/b"]);
    site.sync().await;
    pages(&site, &["/b"]);
    let second = site.snapshot(2, &[("/a", "a")]);
    site.sitemap(&[second], &["/a", "/b"]);
    site.sync().await;
    assert_eq!(site.paths(), ["/a", "/b"]);
    assert!(line(&site, "/b").unwrap().contains("Words of this page."));
    assert_eq!(line(&site, "/a").unwrap(), page("/a", "a"));
}

#[tokio::test]
async fn notices_moved_page_with_equal_etag() {
    let site = TestSite::new();
    site.sitemap(&[], &["/old", "/b"]);
    let tagged = |text: &str| {
        let page = format!("<!doctype html><html lang=en>{}</html>", body("T", text));
        Reply::file("text/html", "\"same\"", page)
    };
    site.server.route("/old", [tagged("Words.")]);
    pages(&site, &["/b"]);
    site.sync().await;
    site.server.route("/old", [Reply::redirect(301, "http://harbour.example/new")]);
    site.server.route("/new", [tagged("Words.")]);
    site.clock.advance(Duration::from_hours(1));
    site.sync().await;
    assert_eq!(site.paths(), ["/b", "/new"]);
    // A page that is only reached this way is not counted as new each time.
    for _ in 0..2 {
        site.clock.advance(Duration::from_hours(1));
        let report = site.sync().await;
        assert!(report.is_quiet(), "{report:?}");
    }
}

#[tokio::test]
async fn requests_non_page_again_without_validators_later() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/m"]);
    pages(&site, &["/a"]);
    let text = format!("<!doctype html><html lang=en>{}</html>", body("M", "Words of M."));
    site.file("/m", "application/x-nothing", text.clone());
    site.sync().await;
    // The server sends the correct type now; bytes and ETag are the same.
    site.file("/m", "text/html", text);
    site.clock.advance(Duration::from_hours(24));
    assert_eq!(site.sync().await.added, 0);
    site.clock.advance(Duration::from_hours(24 * 31));
    assert_eq!(site.sync().await.added, 1);
}

#[tokio::test]
async fn limited_crawl_keeps_moved_page() {
    let site = TestSite::new();
    let paths: Vec<String> = (0..10).map(|n| format!("/{n}")).collect();
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    site.sitemap(&[], &names);
    pages(&site, &names);
    site.server.route("/3", [Reply::redirect(301, "http://harbour.example/new")]);
    pages(&site, &["/new"]);
    for _ in 0..6 {
        site.clock.advance(Duration::from_hours(1));
        let options = SyncOptions { most_pages: 4, ..SyncOptions::default() };
        assert_eq!(site.sync_with(options).await.unwrap().removed, 0);
    }
    assert_eq!(site.stored_pages().len(), 10);
}

#[tokio::test] // D27
async fn broken_section_does_not_affect_others() {
    let site = TestSite::new();
    let docs = site.snapshot(1, &[("/d1", "a"), ("/d2", "b")]);
    let blog = advert("/blog.scp", 1, None, 2, 500).replace("section=\"all\"", "section=\"blog\"");
    site.file("/blog.scp", "application/scp", "garbage");
    site.sitemap(&[docs, blog], &["/d1", "/d2", "/b1"]);
    pages(&site, &["/b1"]);
    site.sync().await;
    assert_eq!(site.paths(), ["/b1", "/d1", "/d2"]);
    for _ in 0..2 {
        site.clock.advance(Duration::from_hours(1));
        let n = site.server.seen().len();
        site.sync().await;
        assert!(!site.asked(n).contains(&"/all-1.scp".to_owned()));
    }
}

#[tokio::test]
async fn requests_each_file_once_per_sync() {
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a")]);
    site.sitemap(&[first], &["/a", "/b"]);
    site.file("/arc-sitemap.json", "application/json", ARC);
    pages(&site, &["/b"]);
    for _ in 0..3 {
        let n = site.server.seen().len();
        site.sync().await;
        let mut asked = site.asked(n);
        let n_asked = asked.len();
        asked.dedup();
        assert_eq!(asked.len(), n_asked, "{asked:?}");
        site.clock.advance(Duration::from_hours(1));
    }
}

#[tokio::test]
async fn reports_site_whose_pages_all_fail() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a", "/b", "/c"]);
    pages(&site, &["/a", "/b", "/c"]);
    site.sync().await;
    for path in ["/a", "/b", "/c"] {
        site.server.route(path, [Reply::status(500)]);
    }
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Network), "{report:?}");
    assert_eq!(site.stored_pages().len(), 3);
}

#[tokio::test] // D58
async fn requests_readmitted_content_until_it_arrives() {
    let site = TestSite::new();
    let urls: String = ["/a", "/private/b"]
        .iter()
        .map(|path| {
            format!(
                "<url><loc>http://harbour.example{path}</loc><lastmod>{}</lastmod></url>",
                at(1)
            )
        })
        .collect();
    site.file("/sitemap.xml", "application/xml", urlset(&urls));
    pages(&site, &["/a", "/private/b"]);
    site.sync().await;
    site.robots("user-agent: *\ndisallow: /private\n");
    site.clock.advance(Duration::from_hours(25));
    site.sync().await;
    let row = site.store.page("http://harbour.example/private/b").unwrap().unwrap();
    assert_eq!(row.withheld, Some(WithheldReason::Robots));
    site.robots("user-agent: *\nallow: /\n");
    site.server.route("/private/b", [Reply::status(500)]);
    site.clock.advance(Duration::from_hours(25));
    site.sync().await;
    assert_eq!(line(&site, "/private/b"), None);
    pages(&site, &["/private/b"]);
    site.clock.advance(Duration::from_hours(1));
    site.sync().await;
    assert!(line(&site, "/private/b").is_some());
}

#[tokio::test] // D24 D95
async fn dropped_section_keeps_pages_of_other_sections_and_lists() {
    let site = TestSite::new();
    let named = |name: &str, day: u32, pages: &[(&str, &str)]| {
        let text = crate::test_site::snapshot(day, pages);
        let start = text.find(",\"checksum\"").unwrap();
        let text = format!("{}{}", &text[..start], &text[start + 85..]);
        let text = text.replace("\"section\":\"all\"", &format!("\"section\":\"{name}\""));
        let path = format!("/{name}-{day}.scp");
        let advert = advert(&path, day, None, pages.len(), text.len());
        site.file(&path, "application/scp", text);
        advert.replace("section=\"all\"", &format!("section=\"{name}\""))
    };
    let docs = named("docs", 1, &[("/d", "d")]);
    let notes = named("notes", 1, &[("/n1", "a"), ("/n2", "b"), ("/n3", "c")]);
    site.sitemap(&[docs.clone(), notes], &["/d", "/n1", "/n2", "/n3"]);
    site.sync().await;
    // One page moves to another section, one is only listed, one is deleted.
    let news = named("news", 2, &[("/n1", "a")]);
    site.sitemap(&[docs, news], &["/d", "/n1", "/n2"]);
    pages(&site, &["/n2"]);
    let report = site.sync().await;
    assert_eq!((report.worst(), report.removed), (None, 1), "{report:?}");
    assert_eq!(site.paths(), ["/d", "/n1", "/n2"]);
    // Then the section is gone.
    let publisher = site.store.publishers().unwrap()[0].id;
    let sections = site.store.sections(publisher).unwrap();
    let left: Vec<u64> =
        sections.iter().filter(|it| it.name == "notes").map(|it| it.pages).collect();
    assert!(left.iter().sum::<u64>() == 0, "{left:?}");
    let n = site.server.seen().len();
    let report = site.sync().await;
    assert!(report.is_quiet() && site.asked(n).len() <= 2, "{report:?} {:?}", site.asked(n));
}

#[tokio::test]
async fn keeps_validator_that_a_304_omits() {
    let site = TestSite::new();
    site.sitemap(&[], &["/a"]);
    let page = format!("<!doctype html><html lang=en>{}</html>", body("A", "Words of A."));
    let dated = "Fri, 01 Jan 2027 00:00:00 GMT";
    site.server.route("/a", [Reply::ok("text/html", page).with("Last-Modified", dated)]);
    site.sync().await;
    site.server.route("/a", [Reply::status(304)]);
    for _ in 0..3 {
        site.clock.advance(Duration::from_hours(1));
        let report = site.sync().await;
        assert!(report.is_quiet() && report.bytes == 0, "{report:?}");
        let seen = site.server.seen();
        let last = seen.iter().rev().find(|it| it.path == "/a").unwrap();
        assert_eq!(last.header("if-modified-since"), Some(dated));
    }
}

#[tokio::test]
async fn crawls_llms_txt_links_in_addition_to_page_links() {
    let site = TestSite::new();
    site.html("/", "<title>H</title><main><p>Home words.</p><a href=/a>a</a></main>");
    pages(&site, &["/a"]);
    site.file("/llms.txt", "text/plain", "# Harbour\n\n## Pages\n\n- [Tides](/tides.md)\n");
    site.file("/tides.md", "text/markdown", "# Tides\n\nHigh water is at noon.\n");
    site.sync().await;
    assert_eq!(site.paths(), ["/", "/a", "/tides.md"]);
}

#[tokio::test]
async fn gives_up_an_unreachable_host_at_once() {
    let site = TestSite::new();
    site.html("/", "<title>H</title><main><p>Home words.</p><a href=/a>a</a></main>");
    pages(&site, &["/a"]);
    site.sync().await;
    site.lines.cut(&format!("{}:80", crate::test_site::HARBOUR));
    let before = rutter_fetch::Clock::monotonic(&site.clock);
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Network), "{report:?}");
    assert_eq!(site.paths(), ["/", "/a"]);
    let waited = rutter_fetch::Clock::monotonic(&site.clock).saturating_sub(before);
    assert!(waited < Duration::from_mins(1), "{waited:?}");
}
