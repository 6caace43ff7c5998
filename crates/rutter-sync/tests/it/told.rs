//! What visits tell, and whether it is so: counts, reasons, and sites of which
//! nothing came.

use std::time::Duration;

use rutter_discover::Rung;
use rutter_fetch::Url;
use rutter_store::{ChangeKind, Store};
use rutter_sync::{Kind, Options};
use rutter_testkit::server::{Fault, Reply};

use crate::bay::{Bay, SITE, at, body, urlset};

const DAY: Duration = Duration::from_hours(24);
const NOINDEX: &str = "<meta name=robots content=noindex>";

/// Events of the replica by kind: added, changed, removed, withheld.
fn events(bay: &Bay) -> [usize; 4] {
    let events = bay.store.changes_since(None, 1_000).unwrap().events;
    [ChangeKind::Added, ChangeKind::Changed, ChangeKind::Removed, ChangeKind::Withheld]
        .map(|kind| events.iter().filter(|event| event.kind == kind).count())
}

#[tokio::test]
async fn ours_a_report_counts_what_the_history_tells() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/b", "/hidden"]);
    bay.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    bay.html("/hidden", &format!("{NOINDEX}{}", body("H", "Words.")));
    let report = bay.visit().await;
    // A page that nobody can read is not added for anybody.
    assert_eq!((report.added, report.withheld, report.pages), (2, 1, 3));
    assert_eq!(events(&bay), [2, 0, 0, 0]);
    bay.html("/a", &body("A", "Other words."));
    bay.html("/b", &format!("{NOINDEX}{}", body("B", "Words.")));
    let report = bay.visit().await;
    assert_eq!((report.added, report.changed, report.withheld), (0, 1, 2));
    assert_eq!(events(&bay), [2, 1, 0, 1]);
    // Nor is it removed for anybody.
    bay.sitemap(&[], &["/a"]);
    bay.server.route("/b", [Reply::status(404)]);
    let options =
        Options { mass_deletion: rutter_scp::MassDeletion::Allowed, ..Options::default() };
    let report = bay.visit_with(options).await.unwrap();
    assert_eq!((report.removed, report.pages, report.withheld), (0, 1, 0));
    assert_eq!(events(&bay), [2, 1, 0, 1]);
}

#[tokio::test]
async fn ours_a_page_that_keeps_its_words_back_is_not_taken_whole_at_every_visit() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/hidden"]);
    bay.html("/a", &body("A", "Words."));
    let hidden = format!("{NOINDEX}{}", body("H", "Words."));
    bay.html("/hidden", &hidden);
    bay.visit().await;
    // Its answers to conditions, as the server saw them.
    let asked = |bay: &Bay, from: usize| {
        let seen = bay.server.seen().split_off(from);
        let asked = seen.into_iter().find(|asked| asked.path == "/hidden").unwrap();
        asked.header("if-none-match").is_some()
    };
    for (days, is_conditional) in [(1, true), (5, true), (2, false), (1, true)] {
        bay.clock.advance(days * DAY);
        let n = bay.server.seen().len();
        bay.visit().await;
        assert_eq!(asked(&bay, n), is_conditional, "after {days} days more");
        assert_eq!(bay.store.line("http://harbour.example/hidden").unwrap(), None);
    }
    // What the page says now, it says at once.
    bay.html("/hidden", &body("H", "Words."));
    bay.visit().await;
    assert!(bay.store.line("http://harbour.example/hidden").unwrap().is_some());
}

#[tokio::test]
async fn ours_a_home_page_that_only_leads_on_is_followed() {
    for refresh in ["0; url=/en/", "5;URL='/en/'", "0, url=http://harbour.example/en/", "0;/en/"] {
        let bay = Bay::new();
        // With a title it is still no page.
        bay.html(
            "/",
            &format!("<meta http-equiv=refresh content=\"{refresh}\"><title>Go on</title>"),
        );
        bay.html("/en/", &body("Home", "Words of the home page. <a href=/a>A</a>"));
        bay.html("/a", &body("A", "Words of A."));
        let report = bay.visit().await;
        assert_eq!((report.rung, report.left_out_by_code()["redirect-page"]), (Rung::Links, 1));
        assert_eq!(bay.paths(), ["/a", "/en/"], "{refresh}");
    }
}

#[tokio::test] // D88
async fn ours_an_arc_sitemap_of_another_site_is_told() {
    let bay = Bay::new();
    // The file as it was built for another place.
    let arc = |site: &str| {
        let text = format!(
            r#"{{"arc_sitemap_version":"2.1","site":"{site}","generated_at":"2027-01-02T00:00:00Z",
            "pages":[{{"url":"{site}/a","ai_indexable":true}},
            {{"url":"{site}/b","ai_indexable":true}}]}}"#
        );
        bay.file("/arc-sitemap.json", "application/json", text);
    };
    bay.html("/a", &body("A", "Words.")).html("/b", &body("B", "Words."));
    arc("https://other.example");
    let report = bay.visit().await;
    assert_eq!((report.arc, report.worst()), (Some(0), Some(Kind::Integrity)), "{report:?}");
    assert_eq!(report.left_out_by_code()["arc-other-site"], 2);
    assert!(report.troubles[0].text.contains("https://other.example"), "{report:?}");
    arc("http://harbour.example");
    let report = bay.visit().await;
    assert_eq!((report.arc, report.worst(), report.added), (Some(2), None, 2));
}

#[tokio::test]
async fn ours_a_site_of_which_nothing_came_is_not_remembered() {
    let bay = Bay::new();
    bay.server.fallback(Reply::status(404));
    let report = bay.visit().await;
    assert_eq!((report.rung, report.pages), (Rung::Nothing, 0));
    assert!(bay.store.publishers().unwrap().is_empty());
    // Nor is one that cannot be visited.
    bay.server.route("/robots.txt", [Reply::status(500)]);
    bay.clock.advance(2 * DAY);
    assert!(bay.try_visit().await.is_err());
    assert!(bay.store.publishers().unwrap().is_empty());
    // Who asked to be left alone is left alone.
    bay.server.route("/robots.txt", [Reply::status(429).with("Retry-After", "7200")]);
    bay.clock.advance(DAY);
    assert!(bay.try_visit().await.is_err());
    let known = bay.store.publishers().unwrap();
    assert!(known.iter().all(|publisher| publisher.paused_until.is_some()) && known.len() == 1);
    // And one that was here before stays.
    bay.clock.advance(DAY);
    bay.robots("").sitemap(&[], &["/a"]);
    bay.html("/a", &body("A", "Words."));
    bay.visit().await;
    bay.server.route("/robots.txt", [Reply::status(500)]);
    bay.clock.advance(2 * DAY);
    assert!(bay.try_visit().await.is_err());
    assert_eq!(bay.store.publishers().unwrap()[0].pages, 1);
}

#[tokio::test]
async fn ours_a_page_that_is_not_there_is_not_used() {
    let bay = Bay::new();
    bay.html("/a", &body("A", "Words."));
    let visitor = bay.visitor_with(Bay::settings(), Options::default());
    let site = Url::parse(SITE).unwrap();
    let found = visitor.explain(&site.join("/a").unwrap()).await.unwrap();
    assert_eq!((found.no_page, found.verdict.withheld), (None, None));
    bay.file("/map", "application/pdf", "%PDF").html("/empty", "<p></p>");
    for (path, why) in [
        ("/none", "status 404"),
        ("/map", "it is of type application/pdf"),
        ("/empty", "it has no text"),
    ] {
        let found = visitor.explain(&site.join(path).unwrap()).await.unwrap();
        assert_eq!((found.no_page.as_deref(), found.unasked), (Some(why), None));
    }
    // What cannot be asked says nothing about the page.
    bay.server.route("/cut", [Reply::ok("text/html", "x").but(Fault::HangUp)]);
    let found = visitor.explain(&site.join("/cut").unwrap()).await.unwrap();
    assert!(found.no_page.is_none() && found.unasked.is_some());
}

#[tokio::test]
async fn ours_what_is_left_out_is_told_also_where_nothing_is_looked_for() {
    let bay = Bay::new();
    let first = bay.snapshot(5, &[("/a", "a")]);
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
        bay.file("/sitemap.xml", "application/xml", urlset(&format!("{}{urls}", adverts.concat())));
    };
    bay.robots("user-agent: *\ndisallow: /private\n");
    bay.file("/map", "application/pdf", "%PDF");
    list(&["/a", "/map", "/private/x"], std::slice::from_ref(&first));
    let wanted = |report: &rutter_sync::Report, n_visit: u32| {
        assert_eq!(report.left_out_by_code().get("media-type"), Some(&1), "{n_visit}");
        assert_eq!(report.left_out_by_code().get("robots"), Some(&1), "{n_visit}");
    };
    wanted(&bay.visit().await, 0);
    bay.clock.advance(DAY);
    wanted(&bay.visit().await, 1);
    // After a change to the list too.
    let second = bay.delta(6, &[("/a", "other words")]);
    list(&["/a", "/map", "/private/x"], &[first, second]);
    bay.clock.advance(DAY);
    let report = bay.visit().await;
    assert_eq!(report.changed, 1);
    wanted(&report, 2);
    bay.clock.advance(DAY);
    wanted(&bay.visit().await, 3);
}

#[tokio::test]
async fn ours_an_arc_sitemap_that_cannot_be_read_is_told() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/a"]);
    bay.html("/a", &body("A", "Words."));
    let text = r#"{"pages":[{"url":"http://harbour.example/a","ai_indexable":false}]}"#;
    bay.file("/arc-sitemap.json", "application/json", text);
    let report = bay.visit().await;
    let places: Vec<&str> = report.findings.iter().map(|(place, _)| place.as_str()).collect();
    assert!(places.contains(&"http://harbour.example/arc-sitemap.json"), "{report:?}");
}

#[tokio::test]
async fn ours_a_quota_of_pages_costs_no_more_than_it_lets_in() {
    let none = Options {
        quota: rutter_store::Quota { pages: 1, ..rutter_store::Quota::USUAL },
        ..Options::default()
    };
    // A collection that is too large is not replaced by as many requests.
    let bay = Bay::new();
    let first = bay.snapshot(5, &[("/a", "a"), ("/b", "b"), ("/c", "c")]);
    bay.sitemap(&[first], &["/a", "/b", "/c"]);
    for path in ["/a", "/b", "/c"] {
        bay.html(path, &body(path, "Words."));
    }
    let report = bay.visit_with(none.clone()).await.unwrap();
    assert_eq!((report.worst(), report.pages), (Some(Kind::Policy), 0));
    assert!(!bay.server.paths().contains(&"/a".to_owned()), "{:?}", bay.server.paths());
    // And is here once there is room.
    assert_eq!(bay.visit().await.added, 3);
    // Pages one by one are not asked for where there is no room.
    let bay = Bay::new();
    bay.sitemap(&[], &["/a", "/b", "/c"]);
    for path in ["/a", "/b", "/c"] {
        bay.html(path, &body(path, "Words."));
    }
    let settings = rutter_fetch::Settings { connections: 1, ..Bay::settings() };
    let visitor = bay.visitor_with(settings, none);
    let report = visitor.visit(&Url::parse(SITE).unwrap(), &()).await.unwrap();
    assert_eq!((report.worst(), report.pages), (Some(Kind::Policy), 1));
    let asked = bay.asked(0);
    let n_pages = ["/a", "/b", "/c"].iter().filter(|path| asked.contains(&(**path).to_owned()));
    assert_eq!(n_pages.count(), 1);
    assert!(report.troubles[0].text.ends_with(": 2"), "{report:?}");
}

#[tokio::test]
async fn ours_a_quota_counts_every_page_once() {
    // More than templates are learned from, and as many as there is room for.
    let bay = Bay::new();
    let paths: Vec<String> = (0..230).map(|n| format!("/{n}")).collect();
    for path in &paths {
        bay.html(path, &body(path, "Words of this page."));
    }
    bay.sitemap(&[], &paths.iter().map(String::as_str).collect::<Vec<_>>());
    let quota = rutter_store::Quota { pages: 230, ..rutter_store::Quota::USUAL };
    let report = bay.visit_with(Options { quota, ..Options::default() }).await.unwrap();
    assert_eq!((report.worst(), report.added), (None, 230));
}
