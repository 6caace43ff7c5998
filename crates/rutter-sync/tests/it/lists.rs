//! Lists that fail, move, shrink or say only a part, and what follows for
//! pages: nothing goes on the strength of a list that was not read.

use std::time::Duration;

use rutter_store::{Store, Withheld};
use rutter_sync::{Kind, Options};
use rutter_testkit::server::{Fault, Reply};

use crate::bay::{Bay, advert, at, body, page, urlset};

fn list(paths: &[&str]) -> String {
    let urls: String = paths
        .iter()
        .map(|path| format!("<url><loc>http://harbour.example{path}</loc></url>"))
        .collect();
    urlset(&urls)
}

fn pages(bay: &Bay, paths: &[&str]) {
    for path in paths {
        bay.html(path, &body(path, "Words of this page."));
    }
}

fn line(bay: &Bay, path: &str) -> Option<String> {
    bay.store.line(&format!("http://harbour.example{path}")).unwrap()
}

const ARC: &str = r#"{"arc_sitemap_version":"2.1","site":"http://harbour.example",
    "generated_at":"2027-01-02T00:00:00Z","pages":[
    {"url":"http://harbour.example/a","ai_indexable":true}]}"#;

#[tokio::test]
async fn ours_a_sitemap_behind_a_redirect_is_read() {
    let bay = Bay::new();
    bay.server.route("/sitemap.xml", [Reply::redirect(301, "http://harbour.example/real.xml")]);
    bay.file("/real.xml", "application/xml", list(&["/a", "/b"]));
    pages(&bay, &["/a", "/b"]);
    assert_eq!(bay.visit().await.added, 2);
    assert_eq!(bay.server.paths().iter().filter(|path| *path == "/real.xml").count(), 1);
    bay.file("/real.xml", "application/xml", list(&["/a"]));
    assert_eq!(bay.visit().await.removed, 1);
}

#[tokio::test] // B03
async fn ours_a_list_that_fails_beside_others_takes_nothing_away() {
    // Beside ARC, beside collections, and at a place that nothing announces.
    let announced = "user-agent: *\nallow: /\nsitemap: http://harbour.example/scp.xml\n\
                     sitemap: http://harbour.example/sitemap.xml\n";
    for beside in ["arc", "scp", "head"] {
        for wrong in [Reply::status(500), Reply::status(404), Reply::ok("text/html", "<p>no")] {
            let bay = Bay::new();
            bay.sitemap(&[], &["/a", "/b", "/c"]);
            pages(&bay, &["/a", "/b", "/c", "/k"]);
            match beside {
                "arc" => bay.file("/arc-sitemap.json", "application/json", ARC),
                "scp" => {
                    let first = bay.snapshot(1, &[("/a", "a")]);
                    bay.robots(announced).file("/scp.xml", "application/xml", urlset(&first))
                }
                _ => {
                    let head = "<link rel=sitemap href=/two.xml><title>H</title><p>Home words.";
                    bay.html("/", head).file("/two.xml", "application/xml", list(&["/k"]))
                }
            };
            bay.visit().await;
            let before = bay.paths();
            bay.server.route("/sitemap.xml", [wrong]);
            let report = bay.visit().await;
            assert_eq!(report.removed, 0, "{beside}: {report:?}");
            assert_eq!(bay.paths(), before, "{beside}");
        }
    }
}

#[tokio::test] // D13
async fn ours_collections_that_may_not_be_used_are_no_offer() {
    let bay = Bay::new();
    bay.html("/", "<title>H</title><main><p>Home words.</p><a href=/a>a</a></main>");
    pages(&bay, &["/a"]);
    assert_eq!(bay.visit().await.added, 2);
    let first = bay.snapshot(2, &[("/a", "a")]).replace("harbour.example", "elsewhere.example");
    bay.sitemap(&[first], &[]);
    for _ in 0..3 {
        bay.clock.advance(Duration::from_hours(25));
        assert_eq!(bay.visit().await.removed, 0);
    }
    assert_eq!(bay.paths(), ["/", "/a"]);
}

#[tokio::test] // D39
async fn ours_a_page_beside_collections_that_was_gone_once_comes_back() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    bay.sitemap(std::slice::from_ref(&first), &["/a", "/b"]);
    pages(&bay, &["/b"]);
    bay.visit().await;
    bay.sitemap(std::slice::from_ref(&first), &["/a", "/b", "/x.pdf"]);
    bay.server.route("/b", [Reply::status(404)]);
    assert_eq!(bay.visit().await.removed, 1);
    pages(&bay, &["/b"]);
    let second = bay.delta(2, &[("/a", "aa")]);
    bay.sitemap(&[first, second], &["/a", "/b"]);
    let report = bay.visit().await;
    assert_eq!((report.added, report.changed), (1, 1));
}

#[tokio::test] // D39
async fn ours_what_a_visit_that_failed_saw_in_lists_is_not_forgotten() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    bay.sitemap(std::slice::from_ref(&first), &["/a"]);
    pages(&bay, &["/b"]);
    bay.visit().await;
    let second = bay.delta(2, &[("/a", "aa")]);
    let broken = Reply::status(200).but(Fault::HangUp);
    bay.server.route("/all-2-delta.scp", [broken]);
    bay.sitemap(&[first, second], &["/a", "/b"]);
    assert_eq!(bay.visit().await.worst(), Some(Kind::Network));
    bay.delta(2, &[("/a", "aa")]);
    bay.clock.advance(Duration::from_hours(2));
    bay.visit().await;
    assert_eq!(bay.paths(), ["/a", "/b"]);
}

#[tokio::test] // D24
async fn ours_each_sitemap_is_known_by_itself() {
    let bay = Bay::new();
    bay.robots(
        "user-agent: *\nallow: /\nsitemap: http://harbour.example/scp.xml\n\
         sitemap: http://harbour.example/more.xml\n",
    );
    let first = bay.snapshot(1, &[("/a", "a")]);
    let scp = |more: &str| {
        urlset(&format!("{first}<url><loc>http://harbour.example/a</loc></url>{more}"))
    };
    bay.file("/scp.xml", "application/xml", scp(""));
    bay.file("/more.xml", "application/xml", list(&["/b"]));
    bay.server.route("/b", [Reply::status(503).with("Retry-After", "0")]);
    bay.visit().await;
    // One list changes, the other keeps the page that could not be had.
    bay.file("/scp.xml", "application/xml", scp("<!-- changed -->"));
    bay.clock.advance(Duration::from_hours(2));
    pages(&bay, &["/b"]);
    bay.visit().await;
    assert_eq!(bay.paths(), ["/a", "/b"]);
}

#[tokio::test] // D95
async fn ours_a_page_that_collections_drop_and_a_list_keeps_is_read() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    bay.sitemap(std::slice::from_ref(&first), &["/a", "/b"]);
    bay.visit().await;
    pages(&bay, &["/b"]);
    let second = bay.snapshot(2, &[("/a", "a")]);
    bay.sitemap(&[second], &["/a", "/b"]);
    bay.visit().await;
    assert_eq!(bay.paths(), ["/a", "/b"]);
    assert!(line(&bay, "/b").unwrap().contains("Words of this page."));
    assert_eq!(line(&bay, "/a").unwrap(), page("/a", "a"));
}

#[tokio::test]
async fn ours_pages_that_move_with_their_tags_are_seen_to_move() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/old", "/b"]);
    let tagged = |text: &str| {
        let page = format!("<!doctype html><html lang=en>{}</html>", body("T", text));
        Reply::file("text/html", "\"same\"", page)
    };
    bay.server.route("/old", [tagged("Words.")]);
    pages(&bay, &["/b"]);
    bay.visit().await;
    bay.server.route("/old", [Reply::redirect(301, "http://harbour.example/new")]);
    bay.server.route("/new", [tagged("Words.")]);
    bay.clock.advance(Duration::from_hours(1));
    bay.visit().await;
    assert_eq!(bay.paths(), ["/b", "/new"]);
    // And a page that is only reached in this way is not new each time.
    for _ in 0..2 {
        bay.clock.advance(Duration::from_hours(1));
        let report = bay.visit().await;
        assert!(report.is_quiet(), "{report:?}");
    }
}

#[tokio::test]
async fn ours_what_was_no_page_is_asked_anew_after_a_while() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/m"]);
    pages(&bay, &["/a"]);
    let text = format!("<!doctype html><html lang=en>{}</html>", body("M", "Words of M."));
    bay.file("/m", "application/x-nothing", text.clone());
    bay.visit().await;
    // The server's types are mended; bytes and tag are the same.
    bay.file("/m", "text/html", text);
    bay.clock.advance(Duration::from_hours(24));
    assert_eq!(bay.visit().await.added, 0);
    bay.clock.advance(Duration::from_hours(24 * 31));
    assert_eq!(bay.visit().await.added, 1);
}

#[tokio::test]
async fn ours_a_bounded_visit_takes_no_moved_page_away() {
    let bay = Bay::new();
    let paths: Vec<String> = (0..10).map(|n| format!("/{n}")).collect();
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    bay.sitemap(&[], &names);
    pages(&bay, &names);
    bay.server.route("/3", [Reply::redirect(301, "http://harbour.example/new")]);
    pages(&bay, &["/new"]);
    for _ in 0..6 {
        bay.clock.advance(Duration::from_hours(1));
        let options = Options { most_pages: 4, ..Options::default() };
        assert_eq!(bay.visit_with(options).await.unwrap().removed, 0);
    }
    assert_eq!(bay.seen().len(), 10);
}

#[tokio::test] // D27
async fn ours_one_section_that_is_broken_costs_the_others_nothing() {
    let bay = Bay::new();
    let docs = bay.snapshot(1, &[("/d1", "a"), ("/d2", "b")]);
    let blog = advert("/blog.scp", 1, None, 2, 500).replace("section=\"all\"", "section=\"blog\"");
    bay.file("/blog.scp", "application/scp", "garbage");
    bay.sitemap(&[docs, blog], &["/d1", "/d2", "/b1"]);
    pages(&bay, &["/b1"]);
    bay.visit().await;
    assert_eq!(bay.paths(), ["/b1", "/d1", "/d2"]);
    for _ in 0..2 {
        bay.clock.advance(Duration::from_hours(1));
        let n = bay.server.seen().len();
        bay.visit().await;
        assert!(!bay.asked(n).contains(&"/all-1.scp".to_owned()));
    }
}

#[tokio::test]
async fn ours_no_file_is_asked_for_twice_in_a_visit() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    bay.sitemap(&[first], &["/a", "/b"]);
    bay.file("/arc-sitemap.json", "application/json", ARC);
    pages(&bay, &["/b"]);
    for _ in 0..3 {
        let n = bay.server.seen().len();
        bay.visit().await;
        let mut asked = bay.asked(n);
        let n_asked = asked.len();
        asked.dedup();
        assert_eq!(asked.len(), n_asked, "{asked:?}");
        bay.clock.advance(Duration::from_hours(1));
    }
}

#[tokio::test]
async fn ours_a_site_whose_pages_all_fail_is_told() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/b", "/c"]);
    pages(&bay, &["/a", "/b", "/c"]);
    bay.visit().await;
    for path in ["/a", "/b", "/c"] {
        bay.server.route(path, [Reply::status(500)]);
    }
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Network), "{report:?}");
    assert_eq!(bay.seen().len(), 3);
}

#[tokio::test] // D58
async fn ours_words_that_may_be_kept_again_are_asked_for_until_they_come() {
    let bay = Bay::new();
    let urls: String = ["/a", "/private/b"]
        .iter()
        .map(|path| {
            format!(
                "<url><loc>http://harbour.example{path}</loc><lastmod>{}</lastmod></url>",
                at(1)
            )
        })
        .collect();
    bay.file("/sitemap.xml", "application/xml", urlset(&urls));
    pages(&bay, &["/a", "/private/b"]);
    bay.visit().await;
    bay.robots("user-agent: *\ndisallow: /private\n");
    bay.clock.advance(Duration::from_hours(25));
    bay.visit().await;
    let row = bay.store.page("http://harbour.example/private/b").unwrap().unwrap();
    assert_eq!(row.withheld, Some(Withheld::Robots));
    bay.robots("user-agent: *\nallow: /\n");
    bay.server.route("/private/b", [Reply::status(500)]);
    bay.clock.advance(Duration::from_hours(25));
    bay.visit().await;
    assert_eq!(line(&bay, "/private/b"), None);
    pages(&bay, &["/private/b"]);
    bay.clock.advance(Duration::from_hours(1));
    bay.visit().await;
    assert!(line(&bay, "/private/b").is_some());
}

#[tokio::test] // D24 D95
async fn ours_a_section_that_is_no_more_leaves_what_others_and_lists_have() {
    let bay = Bay::new();
    let named = |name: &str, day: u32, pages: &[(&str, &str)]| {
        let text = crate::bay::snapshot(day, pages);
        let start = text.find(",\"checksum\"").unwrap();
        let text = format!("{}{}", &text[..start], &text[start + 85..]);
        let text = text.replace("\"section\":\"all\"", &format!("\"section\":\"{name}\""));
        let path = format!("/{name}-{day}.scp");
        let advert = advert(&path, day, None, pages.len(), text.len());
        bay.file(&path, "application/scp", text);
        advert.replace("section=\"all\"", &format!("section=\"{name}\""))
    };
    let docs = named("docs", 1, &[("/d", "d")]);
    let notes = named("notes", 1, &[("/n1", "a"), ("/n2", "b"), ("/n3", "c")]);
    bay.sitemap(&[docs.clone(), notes], &["/d", "/n1", "/n2", "/n3"]);
    bay.visit().await;
    // One moves to another section, one is only listed, one is deleted.
    let news = named("news", 2, &[("/n1", "a")]);
    bay.sitemap(&[docs, news], &["/d", "/n1", "/n2"]);
    pages(&bay, &["/n2"]);
    let report = bay.visit().await;
    assert_eq!((report.worst(), report.removed), (None, 1), "{report:?}");
    assert_eq!(bay.paths(), ["/d", "/n1", "/n2"]);
    // Then nothing is left of it.
    let publisher = bay.store.publishers().unwrap()[0].id;
    let sections = bay.store.sections(publisher).unwrap();
    let left: Vec<u64> =
        sections.iter().filter(|it| it.name == "notes").map(|it| it.pages).collect();
    assert!(left.iter().sum::<u64>() == 0, "{left:?}");
    let n = bay.server.seen().len();
    let report = bay.visit().await;
    assert!(report.is_quiet() && bay.asked(n).len() <= 2, "{report:?} {:?}", bay.asked(n));
}

#[tokio::test]
async fn ours_a_validator_that_a_304_leaves_out_is_kept() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a"]);
    let page = format!("<!doctype html><html lang=en>{}</html>", body("A", "Words of A."));
    let dated = "Fri, 01 Jan 2027 00:00:00 GMT";
    bay.server.route("/a", [Reply::ok("text/html", page).with("Last-Modified", dated)]);
    bay.visit().await;
    bay.server.route("/a", [Reply::status(304)]);
    for _ in 0..3 {
        bay.clock.advance(Duration::from_hours(1));
        let report = bay.visit().await;
        assert!(report.is_quiet() && report.bytes == 0, "{report:?}");
        let seen = bay.server.seen();
        let last = seen.iter().rev().find(|it| it.path == "/a").unwrap();
        assert_eq!(last.header("if-modified-since"), Some(dated));
    }
}

#[tokio::test]
async fn ours_what_llms_txt_names_is_read_where_there_are_links_too() {
    let bay = Bay::new();
    bay.html("/", "<title>H</title><main><p>Home words.</p><a href=/a>a</a></main>");
    pages(&bay, &["/a"]);
    bay.file("/llms.txt", "text/plain", "# Harbour\n\n## Pages\n\n- [Tides](/tides.md)\n");
    bay.file("/tides.md", "text/markdown", "# Tides\n\nHigh water is at noon.\n");
    bay.visit().await;
    assert_eq!(bay.paths(), ["/", "/a", "/tides.md"]);
}

#[tokio::test] // D13 of the cases for fetching
async fn ours_a_host_that_is_no_more_is_given_up_at_once() {
    let bay = Bay::new();
    bay.html("/", "<title>H</title><main><p>Home words.</p><a href=/a>a</a></main>");
    pages(&bay, &["/a"]);
    bay.visit().await;
    bay.lines.cut(&format!("{}:80", crate::bay::HARBOUR));
    let before = rutter_fetch::Clock::moment(&bay.clock);
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Network), "{report:?}");
    assert_eq!(bay.paths(), ["/", "/a"]);
    let waited = rutter_fetch::Clock::moment(&bay.clock).saturating_sub(before);
    assert!(waited < Duration::from_mins(1), "{waited:?}");
}
