//! Sites that offer collections of a part of their pages, sites that change
//! how they offer them, and answers that are wrong for once.

use std::time::Duration;

use rutter_discover::Rung;
use rutter_scp::MassDeletion;
use rutter_store::{Cause, ChangeKind, Store};
use rutter_sync::{Kind, Options};
use rutter_testkit::server::{Fault, Reply};

use crate::bay::{Bay, advert, body, page, snapshot, urlset, verified};

fn line(bay: &Bay, path: &str) -> String {
    bay.store.line(&format!("http://harbour.example{path}")).unwrap().unwrap()
}

/// Pages `/00` to `/29`, as a sitemap lists them.
fn many(bay: &Bay) -> Vec<String> {
    let paths: Vec<String> = (0..30).map(|n| format!("/{n:02}")).collect();
    for path in &paths {
        bay.html(path, &body(path, "Words of this page."));
    }
    paths
}

fn names(paths: &[String]) -> Vec<&str> {
    paths.iter().map(String::as_str).collect()
}

#[tokio::test] // D24 D39
async fn ours_a_collection_of_a_part_takes_nothing_else_away() {
    let bay = Bay::new();
    let paths = many(&bay);
    bay.sitemap(&[], &names(&paths));
    assert_eq!(bay.visit().await.added, 30);
    // The site begins to offer collections, of two pages so far.
    let first = bay.snapshot(2, &[("/00", "a"), ("/01", "b")]);
    bay.sitemap(std::slice::from_ref(&first), &names(&paths));
    let report = bay.visit().await;
    assert_eq!((report.rung, report.worst()), (Rung::Scp, None));
    assert_eq!((report.changed, report.removed, report.pages), (2, 0, 30));
    assert_eq!(line(&bay, "/00"), page("/00", "a"));
    assert!(line(&bay, "/02").contains("Words of this page."));
    // Pages beside the collection are still looked after.
    bay.html("/02", &body("/02", "Other words of this page."));
    bay.server.route("/03", [Reply::status(410)]);
    let report = bay.visit().await;
    assert_eq!((report.changed, report.removed), (1, 1));
    assert_eq!(line(&bay, "/00"), page("/00", "a"));
    // What no list has any more goes.
    bay.sitemap(&[first], &names(&paths[..20]));
    assert_eq!(bay.visit().await.removed, 10);
    let events = bay.store.changes_since(None, 1000).unwrap().events;
    let url = "http://harbour.example/00";
    let of_first: Vec<ChangeKind> =
        events.iter().filter(|event| event.url == url).map(|event| event.kind).collect();
    assert_eq!(of_first, [ChangeKind::Added, ChangeKind::Changed]);
}

#[tokio::test] // D24
async fn ours_what_collections_do_not_bring_is_read_from_the_first_visit_on() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    bay.sitemap(&[first], &["/a", "/b", "/c.pdf"]);
    bay.html("/b", &body("B", "Words of B."));
    let report = bay.visit().await;
    assert_eq!((report.rung, report.added), (Rung::Scp, 2));
    assert_eq!(bay.paths(), ["/a", "/b"]);
    // Nothing changed: the sitemap, and the page whose date no list tells.
    let n = bay.server.seen().len();
    let report = bay.visit().await;
    assert!(report.is_quiet() && report.bytes == 0, "{report:?}");
    assert_eq!(bay.asked(n).iter().filter(|path| *path == "/a").count(), 0);
}

#[tokio::test] // D39
async fn spec_one_page_that_is_wrong_is_read_alone() {
    let bay = Bay::new();
    let good = snapshot(1, &[("/a", "a"), ("/b", "b")]);
    let broken = page("/b", "b").replace(&crate::bay::at(1), "the day before yesterday");
    let text = good.replace(&page("/b", "b"), &broken);
    // Its own words do not count: the checksum is taken out.
    let start = text.find(",\"checksum\"").unwrap();
    let text = format!("{}{}", &text[..start], &text[start + 85..]);
    let first = advert("/all.scp", 1, None, 2, text.len());
    bay.file("/all.scp", "application/scp", text).sitemap(&[first], &["/a", "/b"]);
    bay.html("/a", &body("A", "As it is read.")).html("/b", &body("B", "As it is read."));
    let report = bay.visit().await;
    assert_eq!((report.worst(), report.added), (None, 2), "{report:?}");
    assert_eq!(line(&bay, "/a"), page("/a", "a"));
    assert!(line(&bay, "/b").contains("As it is read."));
    assert!(!bay.server.paths().contains(&"/a".to_owned()));
}

#[tokio::test] // D23
async fn ours_a_list_that_shrinks_waits_for_a_second_look() {
    let bay = Bay::new();
    let paths = many(&bay);
    bay.sitemap(&[], &names(&paths));
    bay.visit().await;
    bay.sitemap(&[], &names(&paths[..2]));
    bay.clock.advance(Duration::from_hours(1));
    let report = bay.visit().await;
    assert_eq!((report.worst(), report.removed), (Some(Kind::Policy), 0));
    // It was a mistake: the word of that visit is worth nothing later.
    bay.sitemap(&[], &names(&paths));
    bay.clock.advance(Duration::from_hours(1));
    assert_eq!(bay.visit().await.worst(), None);
    bay.sitemap(&[], &names(&paths[..2]));
    bay.clock.advance(Duration::from_hours(1));
    assert_eq!(bay.visit().await.worst(), Some(Kind::Policy));
    // Whoever asks again at once has seen nothing new.
    bay.clock.advance(Duration::from_hours(1));
    assert_eq!(bay.visit().await.worst(), Some(Kind::Policy));
    bay.clock.advance(Duration::from_hours(24));
    let report = bay.visit().await;
    assert_eq!((report.worst(), report.removed), (None, 28));
    // And the next time it is asked for anew.
    bay.sitemap(&[], &names(&paths));
    bay.visit().await;
    bay.sitemap(&[], &names(&paths[..2]));
    bay.clock.advance(Duration::from_hours(1));
    assert_eq!(bay.visit().await.worst(), Some(Kind::Policy));
    let options = Options { mass_deletion: MassDeletion::Allowed, ..Options::default() };
    assert_eq!(bay.visit_with(options).await.unwrap().removed, 28);
}

#[tokio::test]
async fn ours_a_page_behind_a_redirect_outlives_a_fault() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/old", "/b"]);
    bay.server.route("/old", [Reply::redirect(301, "http://harbour.example/new")]);
    bay.html("/new", &body("New", "Words.")).html("/b", &body("B", "Words of B."));
    bay.visit().await;
    assert_eq!(bay.paths(), ["/b", "/new"]);
    for wrong in [Reply::status(500), Reply::status(200).but(Fault::HangUp)] {
        bay.server.route("/old", [wrong]);
        assert_eq!(bay.visit().await.removed, 0);
        assert_eq!(bay.paths(), ["/b", "/new"]);
    }
    // It leads elsewhere, for good.
    bay.server.route("/old", [Reply::redirect(301, "http://harbour.example/newer")]);
    bay.html("/newer", &body("Newer", "Words."));
    bay.visit().await;
    assert_eq!(bay.paths(), ["/b", "/newer"]);
}

#[tokio::test]
async fn ours_what_is_no_page_is_not_taken_again_and_again() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/map"]);
    bay.html("/a", &body("A", "Words of A."));
    bay.file("/map", "application/pdf", "%PDF and many bytes more");
    let report = bay.visit().await;
    assert_eq!(report.left_out_by_code()["media-type"], 1);
    let report = bay.visit().await;
    // For the same reason, which is not looked for again.
    assert_eq!((report.left_out_by_code()["media-type"], report.bytes), (1, 0));
    // It becomes one.
    bay.html("/map", &body("Map", "Words of the map."));
    assert_eq!(bay.visit().await.added, 1);
    // A page that went and came back as it was is a page.
    bay.server.route("/map", [Reply::status(404)]);
    assert_eq!(bay.visit().await.removed, 1);
    bay.html("/map", &body("Map", "Words of the map."));
    assert_eq!(bay.visit().await.added, 1);
}

#[tokio::test] // SCP-104 D39
async fn spec_verified_pages_come_back_where_collections_were_left_out_once() {
    let bay = Bay::new();
    let first = verified(&bay).await;
    bay.sitemap(&[], &["/a", "/b"]);
    let report = bay.visit().await;
    assert_eq!((report.rung, report.changed, report.removed), (Rung::Sitemap, 2, 0));
    // A delta that came in between is not lost either.
    let second = bay.delta(2, &[("/b", "bb")]);
    bay.sitemap(&[first, second], &["/a", "/b"]);
    let report = bay.visit().await;
    assert_eq!(report.worst(), None, "{report:?}");
    assert_eq!(line(&bay, "/a"), page("/a", "a"));
    assert_eq!(line(&bay, "/b"), page("/b", "bb"));
}

#[tokio::test] // SCP-104 D39
async fn spec_a_sitemap_that_cannot_be_had_is_waited_for() {
    for (wrong, kind) in [
        (Reply::status(500), Kind::Network),
        (Reply::status(404), Kind::Network),
        (Reply::ok("text/html", "<title>Sorry</title>"), Kind::Integrity),
    ] {
        let bay = Bay::new();
        let first = verified(&bay).await;
        let before = bay.seen();
        bay.server.route("/sitemap.xml", [wrong]);
        for _ in 0..2 {
            let n = bay.server.seen().len();
            let report = bay.visit().await;
            assert_eq!(report.worst(), Some(kind), "{report:?}");
            assert_eq!(bay.seen(), before);
            assert!(!bay.asked(n).contains(&"/a".to_owned()));
        }
        // But not for ever.
        bay.clock.advance(Duration::from_hours(25));
        bay.visit().await;
        assert!(line(&bay, "/a").contains("As it is read."));
        bay.sitemap(&[first], &["/a", "/b"]);
        let report = bay.visit().await;
        assert_eq!((report.rung, report.worst()), (Rung::Scp, None), "{report:?}");
        assert_eq!(bay.seen(), before);
    }
}

#[tokio::test] // B03 B05
async fn ours_a_child_sitemap_that_is_lost_takes_no_page_away() {
    let index = |children: &[&str]| {
        let children: String = children
            .iter()
            .map(|child| format!("<sitemap><loc>http://harbour.example{child}</loc></sitemap>"))
            .collect();
        format!(
            "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{children}\
             </sitemapindex>"
        )
    };
    let list = |path: &str| urlset(&format!("<url><loc>http://harbour.example{path}</loc></url>"));
    let bay = Bay::new();
    bay.file("/sitemap.xml", "application/xml", index(&["/1.xml", "/2.xml"]));
    bay.file("/1.xml", "application/xml", list("/a"));
    bay.file("/2.xml", "application/xml", list("/b"));
    bay.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    bay.visit().await;
    assert_eq!(bay.paths(), ["/a", "/b"]);
    for wrong in [Reply::status(404), Reply::status(500), Reply::ok("text/html", "<p>no")] {
        bay.server.route("/2.xml", [wrong]);
        assert_eq!(bay.visit().await.removed, 0);
        assert_eq!(bay.paths(), ["/a", "/b"]);
    }
    // An index that is cut behind its first child.
    bay.file("/2.xml", "application/xml", list("/b"));
    let whole = index(&["/1.xml", "/2.xml"]);
    let cut = whole.split("<sitemap><loc>http://harbour.example/2").next().unwrap().to_owned();
    bay.file("/sitemap.xml", "application/xml", cut);
    assert_eq!(bay.visit().await.removed, 0);
    assert_eq!(bay.paths(), ["/a", "/b"]);
    // One that names a child less means it.
    bay.file("/sitemap.xml", "application/xml", index(&["/1.xml"]));
    assert_eq!(bay.visit().await.removed, 1);
}

#[tokio::test] // D56
async fn ours_an_arc_sitemap_beside_a_sitemap_is_no_list_of_all() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/b"]);
    bay.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    let arc = r#"{"arc_sitemap_version":"2.1","site":"http://harbour.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {"url":"http://harbour.example/a","ai_indexable":true}]}"#;
    bay.visit().await;
    bay.file("/arc-sitemap.json", "application/json", arc);
    bay.clock.advance(Duration::from_hours(24 * 8));
    let report = bay.visit().await;
    assert_eq!((report.rung, report.removed), (Rung::Arc, 0));
    assert_eq!(bay.paths(), ["/a", "/b"]);
    // The sitemap says when one goes.
    bay.sitemap(&[], &["/a"]);
    assert_eq!(bay.visit().await.removed, 1);
    let publisher = bay.store.publishers().unwrap()[0].id;
    let tombs = bay.store.tombstones(publisher, None, 10).unwrap();
    assert_eq!((tombs.len(), tombs[0].cause), (1, Cause::Absent));
}

#[tokio::test]
async fn ours_a_visit_that_is_bounded_is_gone_on_with() {
    let bay = Bay::new();
    let paths = many(&bay);
    bay.sitemap(&[], &names(&paths));
    for (pages, n_left) in [(12, 18), (24, 6), (30, 0)] {
        bay.clock.advance(Duration::from_hours(1));
        let options = Options { most_pages: 12, ..Options::default() };
        let report = bay.visit_with(options).await.unwrap();
        assert_eq!((report.pages, report.removed), (pages, 0));
        let left_out = report.left_out_by_code();
        assert_eq!(left_out.get("page-limit").copied().unwrap_or_default(), n_left);
    }
}

#[tokio::test] // D24
async fn ours_a_site_that_was_walked_by_links_is_what_its_collections_say() {
    let bay = Bay::new();
    bay.html(
        "/",
        "<title>H</title><main><p>Home words.</p><a href=/a>a</a><a href=/b>b</a></main>",
    );
    bay.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    assert_eq!(bay.visit().await.added, 3);
    let first = bay.snapshot(2, &[("/", "home"), ("/a", "a")]);
    bay.sitemap(&[first], &[]);
    let report = bay.visit().await;
    assert_eq!((report.worst(), report.changed, report.removed), (None, 2, 1));
    assert_eq!(bay.paths(), ["/", "/a"]);
}

#[tokio::test]
async fn ours_sitemaps_behind_the_one_with_collections_are_read_now_and_then() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    let list = |paths: &[&str]| {
        paths
            .iter()
            .map(|path| format!("<url><loc>http://harbour.example{path}</loc></url>"))
            .collect::<String>()
    };
    let place = |path: &str, inner: &str| {
        bay.file(path, "application/xml", urlset(inner));
    };
    let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
                 <sitemap><loc>http://harbour.example/1.xml</loc></sitemap>\
                 <sitemap><loc>http://harbour.example/2.xml</loc></sitemap></sitemapindex>";
    bay.file("/sitemap.xml", "application/xml", index);
    place("/1.xml", &format!("{first}{}", list(&["/a"])));
    place("/2.xml", &list(&["/a"]));
    bay.html("/b", &body("B", "Words of B."));
    let report = bay.visit().await;
    assert_eq!((report.rung, bay.paths()), (Rung::Scp, vec!["/a".to_owned()]));
    assert!(bay.server.paths().contains(&"/2.xml".to_owned()), "read once");
    // Not at every visit: a site that did not change costs what it says.
    let n = bay.server.seen().len();
    place("/2.xml", &list(&["/a", "/b"]));
    bay.clock.advance(Duration::from_hours(24));
    bay.visit().await;
    assert!(!bay.asked(n).contains(&"/2.xml".to_owned()), "{:?}", bay.asked(n));
    bay.clock.advance(Duration::from_hours(7 * 24));
    let report = bay.visit().await;
    assert_eq!((report.rung, report.added), (Rung::Scp, 1));
    assert_eq!(bay.paths(), ["/a", "/b"]);
    // A list that did not change is not taken again, and takes nothing away.
    bay.clock.advance(Duration::from_hours(8 * 24));
    let report = bay.visit().await;
    assert!(report.is_quiet() && report.bytes == 0, "{report:?}");
    assert_eq!(bay.paths(), ["/a", "/b"]);
    // What it no longer lists goes.
    place("/2.xml", &list(&["/a"]));
    let allowed = Options { mass_deletion: MassDeletion::Allowed, ..Options::default() };
    let report = bay.visit_with(allowed).await.unwrap();
    assert_eq!((report.removed, bay.paths()), (1, vec!["/a".to_owned()]));
}
