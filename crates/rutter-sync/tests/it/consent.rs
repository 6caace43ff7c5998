//! Consent that is given and taken back, in every place where it is said.

use std::time::Duration;

use rutter_discover::Rung;
use rutter_fetch::Url;
use rutter_store::{Store, Withheld};
use rutter_sync::{Kind, Options, VisitError};
use rutter_testkit::server::Reply;

use crate::bay::{Bay, SITE, at, body, page, urlset};

fn words(bay: &Bay, path: &str) -> Option<String> {
    bay.store.line(&format!("http://harbour.example{path}")).unwrap()
}

fn withheld(bay: &Bay, path: &str) -> Option<Withheld> {
    bay.store.page(&format!("http://harbour.example{path}")).unwrap().unwrap().withheld
}

/// A sitemap whose pages say when they changed.
fn dated(bay: &Bay, paths: &[&str]) {
    let urls: String = paths
        .iter()
        .map(|path| {
            let lastmod = at(1);
            format!(
                "<url><loc>http://harbour.example{path}</loc><lastmod>{lastmod}</lastmod></url>"
            )
        })
        .collect();
    bay.file("/sitemap.xml", "application/xml", urlset(&urls));
}

#[tokio::test] // ARC-033 D58
async fn spec_an_answer_without_a_body_may_take_consent_back() {
    for (field, value) in [("X-Robots-Tag", "noai"), ("Content-Signal", "ai-input=no")] {
        let bay = Bay::new();
        bay.sitemap(&[], &["/a", "/b"]);
        bay.html("/a", &body("A", "Words of A.")).html("/b", &body("B", "Words of B."));
        bay.visit().await;
        let unchanged = Reply::status(304).with("ETag", "\"1\"");
        bay.server.route("/a", [unchanged.with(field, value)]);
        let report = bay.visit().await;
        assert_eq!(report.withheld, 1, "{field}");
        assert_eq!(withheld(&bay, "/a"), Some(Withheld::Consent), "{field}");
        assert!(words(&bay, "/a").is_none() && words(&bay, "/b").is_some(), "{field}");
    }
}

#[tokio::test] // D87 D93
async fn spec_signals_in_robots_txt_hold_for_delivered_pages() {
    let bay = Bay::new();
    bay.robots("user-agent: *\ncontent-signal: /b ai-input=no\n");
    let first = bay.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    bay.sitemap(&[first], &[]);
    let report = bay.visit().await;
    assert_eq!((report.added, report.withheld), (1, 1));
    assert_eq!(withheld(&bay, "/b"), Some(Withheld::Consent));
    // Given again, and taken back for all.
    bay.robots("user-agent: *\ncontent-signal: ai-input=yes\n");
    bay.clock.advance(Duration::from_hours(25));
    bay.visit().await;
    assert!(words(&bay, "/b").is_some());
    bay.robots("user-agent: *\ncontent-signal: ai-input=no\n");
    bay.clock.advance(Duration::from_hours(25));
    assert_eq!(bay.visit().await.withheld, 2);
    assert!(words(&bay, "/a").is_none() && words(&bay, "/b").is_none());
}

#[tokio::test] // D58
async fn ours_pages_that_were_read_get_their_words_again_when_they_may() {
    let bay = Bay::new();
    dated(&bay, &["/a", "/private/b"]);
    bay.html("/a", &body("A", "Words of A.")).html("/private/b", &body("B", "Words of B."));
    bay.visit().await;
    bay.robots("user-agent: *\ndisallow: /private\n");
    bay.clock.advance(Duration::from_hours(25));
    bay.visit().await;
    assert_eq!(withheld(&bay, "/private/b"), Some(Withheld::Robots));
    // The list says that nothing changed; the rules did.
    bay.robots("user-agent: *\nallow: /\n");
    bay.clock.advance(Duration::from_hours(25));
    bay.visit().await;
    assert!(words(&bay, "/private/b").unwrap().contains("Words of B."));
}

fn arc(entries: &str) -> String {
    format!(
        "{{\"arc_sitemap_version\":\"2.1\",\"site\":\"http://harbour.example\",\
         \"generated_at\":\"{}\",\"pages\":[{entries}]}}",
        at(2)
    )
}

fn entry(path: &str, more: &str) -> String {
    format!("{{\"url\":\"http://harbour.example{path}\",{more}}}")
}

#[tokio::test] // D58 D93
async fn spec_snapshots_and_places_that_others_lead_to_are_asked_about_too() {
    let bay = Bay::new();
    bay.robots("user-agent: *\ndisallow: /private\n");
    let snapshot = "\"ai_indexable\":true,\"ai_snapshot\":{\"page\":\"p\",\"summary\":\"Words\"}";
    let entries = [
        entry("/open", snapshot),
        entry("/private/s", snapshot),
        entry("/moved", "\"ai_indexable\":true"),
        entry("/closed", "\"ai_indexable\":false"),
    ];
    bay.file("/arc-sitemap.json", "application/json", arc(&entries.join(",")));
    bay.server.route("/moved", [Reply::redirect(301, "http://harbour.example/closed")]);
    bay.html("/closed", &body("C", "Words that nobody may use."));
    let report = bay.visit().await;
    assert_eq!((report.rung, report.added), (Rung::Arc, 1));
    assert_eq!(bay.paths(), ["/open"]);
    assert_eq!(report.left_out_by_code()["robots"], 1);
    assert_eq!(report.left_out_by_code()["consent"], 1);
}

#[tokio::test] // D60 ARC-056
async fn spec_consent_taken_back_on_a_later_day_is_heard_of() {
    let bay = Bay::new();
    let document = |closed: Option<usize>, day: u32, pages: std::ops::Range<usize>| {
        let entries: Vec<String> = pages
            .map(|n| {
                let flag = if Some(n) == closed { "false" } else { "true" };
                entry(&format!("/{n:03}"), &format!("\"ai_indexable\":{flag}"))
            })
            .collect();
        let deltas = "http://harbour.example/arc-sitemap-deltas/YYYY-MM-DD.json";
        arc(&entries.join(",")).replace(&at(2), &at(day)).replace(
            "\"pages\":",
            &format!(
                "\"deltas\":{{\"template\":\"{deltas}\",\"from\":\"2027-01-01\",\
                 \"to\":\"2027-01-{day:02}\"}},\"pages\":"
            ),
        )
    };
    let pages: Vec<String> = (0..520).map(|n| format!("/{n:03}")).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|path| (path.as_str(), "words")).collect();
    let first = bay.snapshot(1, &pages);
    bay.sitemap(std::slice::from_ref(&first), &[]);
    bay.file("/arc-sitemap.json", "application/json", document(None, 10, 0..520));
    bay.visit().await;
    // A change on the day of the visit, and the sitemap says so: by a delta.
    bay.sitemap(&[first], &["/000"]);
    let today = document(Some(7), 10, 7..8);
    bay.file("/arc-sitemap-deltas/2027-01-10.json", "application/json", today);
    bay.file("/arc-sitemap.json", "application/json", document(Some(7), 10, 0..520));
    let n = bay.server.seen().len();
    let report = bay.visit().await;
    assert!(bay.asked(n).contains(&"/arc-sitemap-deltas/2027-01-10.json".to_owned()));
    assert_eq!((report.withheld, words(&bay, "/007")), (1, None));
    // One conditional request says that the whole sitemap is unchanged.
    let n = bay.server.seen().len();
    assert_eq!(bay.visit().await.bytes, 0);
    assert_eq!(bay.asked(n), ["/arc-sitemap.json", "/sitemap.xml"]);
    // Two days later another page is closed. Nothing else changes: neither the
    // sitemap, nor the file of the day that was read last.
    bay.clock.advance(Duration::from_hours(48));
    let whole = document(Some(7), 12, 0..520)
        .replace(&entry("/009", "\"ai_indexable\":true"), &entry("/009", "\"ai_indexable\":false"));
    bay.file("/arc-sitemap.json", "application/json", whole);
    let report = bay.visit().await;
    assert_eq!((report.withheld, words(&bay, "/009")), (2, None));
}

#[tokio::test] // D53 D60 ARC-056
async fn hears_of_consent_taken_back_while_the_pointer_is_unchanged() {
    let bay = Bay::new();
    let document = |closed: Option<usize>| {
        let entries: Vec<String> = (0..300)
            .map(|n| {
                let flag = if Some(n) == closed { "false" } else { "true" };
                entry(&format!("/{n:03}"), &format!("\"ai_indexable\":{flag}"))
            })
            .collect();
        let deltas = "\"deltas\":{\"template\":\"http://harbour.example/arc-sitemap-deltas/\
                      YYYY-MM-DD.json\",\"from\":\"2027-01-01\",\"to\":\"2027-01-10\"},\"pages\":";
        arc(&entries.join(",")).replace("\"pages\":", deltas)
    };
    let pages: Vec<String> = (0..300).map(|n| format!("/{n:03}")).collect();
    let pages: Vec<(&str, &str)> = pages.iter().map(|path| (path.as_str(), "words")).collect();
    let first = bay.snapshot(1, &pages);
    bay.sitemap(&[first], &[]);
    bay.file("/arc-sitemap.json", "application/json", document(None));
    let pointer = format!(
        "{{\"@context\":\"https://schema.org\",\"@type\":\"Dataset\",\"name\":\"ARC Sitemap\",\
         \"url\":\"http://harbour.example/arc-sitemap.json\",\"dateModified\":\"{}\",\
         \"distribution\":[{{\"@type\":\"DataDownload\",\"encodingFormat\":\"application/json\",\
         \"contentUrl\":\"http://harbour.example/arc-sitemap.json\"}}]}}",
        at(2)
    );
    bay.file("/arc-sitemap.jsonld", "application/ld+json", pointer);
    bay.visit().await;
    bay.visit().await;
    // An unchanged site answers 304.
    bay.clock.advance(Duration::from_hours(24));
    let n = bay.server.seen().len();
    assert_eq!(bay.visit().await.bytes, 0);
    assert!(bay.asked(n).contains(&"/arc-sitemap.jsonld".to_owned()), "{:?}", bay.asked(n));
    // The sitemap changes, its pointer does not.
    bay.file("/arc-sitemap.json", "application/json", document(Some(7)));
    bay.clock.advance(Duration::from_hours(24));
    let report = bay.visit().await;
    assert_eq!((report.withheld, words(&bay, "/007")), (1, None));
}

#[tokio::test] // ARC-056
async fn ours_an_audit_counts_what_arc_closes_as_a_visit_does() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    bay.sitemap(&[first], &[]);
    bay.file("/arc-sitemap.json", "application/json", arc(&entry("/b", "\"ai_indexable\":false")));
    bay.visit().await;
    let visitor = bay.visitor_with(Bay::settings(), Options::default());
    let audit = visitor.audit(&Url::parse(SITE).unwrap()).await.unwrap();
    assert!(!audit.is_bad(), "{audit:?}");
}

#[tokio::test] // SCP-207 D11
async fn spec_a_host_that_wants_rest_in_between_keeps_what_was_read() {
    let bay = Bay::new();
    let paths: Vec<String> = (0..9).map(|n| format!("/{n}")).collect();
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    bay.sitemap(&[], &names);
    for path in &paths {
        bay.html(path, &body(path, "Words of this page."));
    }
    bay.server.route("/4", [Reply::status(429).with("Retry-After", "7200")]);
    let settings = rutter_fetch::Settings { connections: 1, ..Bay::settings() };
    let visitor = bay.visitor_with(settings, Options::default());
    let report = visitor.visit(&Url::parse(SITE).unwrap(), &()).await.unwrap();
    assert_eq!(report.worst(), Some(Kind::Network));
    assert!(0 < report.added && report.added < 9, "{report:?}");
    assert_eq!(bay.seen().len() as u64, report.added);
    let n = bay.server.seen().len();
    assert!(matches!(bay.try_visit().await, Err(VisitError::Paused { .. })));
    assert_eq!(bay.server.seen().len(), n);
    bay.clock.advance(Duration::from_hours(3));
    bay.html("/4", &body("/4", "Words of this page."));
    bay.visit().await;
    assert_eq!(bay.seen().len(), 9);
}

#[tokio::test] // D87
async fn ours_a_page_beside_a_collection_may_close_itself() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a")]);
    bay.sitemap(&[first], &["/a", "/b"]);
    bay.html("/b", &format!("<meta name=robots content=noai>{}", body("B", "Words.")));
    let report = bay.visit().await;
    assert_eq!((report.rung, report.added, report.withheld), (Rung::Scp, 1, 1));
    assert_eq!(words(&bay, "/a").unwrap(), page("/a", "a"));
    assert_eq!(words(&bay, "/b"), None);
}
