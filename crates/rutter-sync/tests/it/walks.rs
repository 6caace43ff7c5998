//! Walks from page to page that cannot be done at once, or meet doors that
//! are closed for now.

use std::time::Duration;

use rutter_discover::Rung;
use rutter_fetch::Url;
use rutter_store::{Store, Withheld};
use rutter_sync::{Kind, Options, VisitError};
use rutter_testkit::server::Reply;

use crate::bay::{Bay, SITE, body};

const DAY: Duration = Duration::from_hours(24);

fn words(bay: &Bay, path: &str) -> Option<String> {
    bay.store.line(&format!("http://harbour.example{path}")).unwrap()
}

/// A site with pages of this name, `/0` and so on.
fn pages(bay: &Bay, n: usize) -> Vec<String> {
    let paths: Vec<String> = (0..n).map(|n| format!("/{n}")).collect();
    for path in &paths {
        bay.html(path, &body(path, "Words of this page."));
    }
    paths
}

fn listed(bay: &Bay, paths: &[String]) {
    bay.sitemap(&[], &paths.iter().map(String::as_str).collect::<Vec<_>>());
}

#[tokio::test]
async fn ours_a_page_that_ends_a_walk_does_not_end_the_next_one_before_the_others() {
    let bay = Bay::new();
    let paths = pages(&bay, 6);
    listed(&bay, &paths);
    bay.server.route("/0", [Reply::status(503).with("Retry-After", "7200")]);
    let first = bay.visit().await;
    assert_eq!(first.worst(), Some(Kind::Network));
    bay.clock.advance(DAY);
    let report = bay.visit().await;
    // It is still asked for, but last.
    assert_eq!(report.worst(), Some(Kind::Network));
    assert_eq!(bay.paths(), ["/1", "/2", "/3", "/4", "/5"]);
    bay.html("/0", &body("/0", "Words of this page."));
    bay.clock.advance(DAY);
    assert_eq!(bay.visit().await.worst(), None);
    assert_eq!(bay.paths().len(), 6);
}

#[tokio::test]
async fn ours_whoever_waits_is_not_asked_by_those_who_only_look_either() {
    let bay = Bay::new();
    let paths = pages(&bay, 2);
    listed(&bay, &paths);
    bay.server.route("/0", [Reply::status(503).with("Retry-After", "7200")]);
    bay.visit().await;
    let n_asked = bay.server.seen().len();
    let visitor = bay.visitor_with(Bay::settings(), Options::default());
    let site = Url::parse(SITE).unwrap();
    let is_paused = |error: &VisitError| matches!(error, VisitError::Paused { .. });
    assert!(is_paused(&visitor.preview(&site).await.unwrap_err()));
    assert!(is_paused(&visitor.explain(&site.join("/1").unwrap()).await.unwrap_err()));
    assert!(is_paused(&bay.try_visit().await.unwrap_err()));
    assert_eq!(bay.server.seen().len(), n_asked);
    bay.clock.advance(DAY);
    assert!(visitor.preview(&site).await.is_ok());
}

#[tokio::test]
async fn ours_bounded_visits_go_on_where_the_last_one_ended() {
    let few = Options { most_pages: 2, ..Options::default() };
    // By an ARC sitemap, by links, by a sitemap.
    for way in [Rung::Arc, Rung::Links, Rung::Sitemap] {
        let bay = Bay::new();
        let paths = pages(&bay, 5);
        match way {
            Rung::Arc => {
                let entries: Vec<String> = paths
                    .iter()
                    .map(|path| {
                        let sum = "a".repeat(64);
                        format!(
                            r#"{{"url":"http://harbour.example{path}","ai_indexable":true,
                            "ai_checksum":"sha256:{sum}"}}"#
                        )
                    })
                    .collect();
                let text = format!(
                    r#"{{"arc_sitemap_version":"2.1","site":"http://harbour.example",
                    "generated_at":"2027-01-02T00:00:00Z","pages":[{}]}}"#,
                    entries.join(",")
                );
                bay.file("/arc-sitemap.json", "application/json", text);
            }
            Rung::Links => {
                let links: Vec<String> =
                    paths.iter().map(|path| format!("<a href={path}>{path}</a>")).collect();
                bay.html("/", &body("Home", &format!("Words. {}", links.join(" "))));
            }
            _ => listed(&bay, &paths),
        }
        for n in 1..=6 {
            let report = bay.visit_with(few.clone()).await.unwrap();
            assert_eq!(report.rung, way);
            let there = bay.paths();
            if paths.iter().all(|path| there.contains(path)) {
                break;
            }
            assert!(report.left_out_by_code().contains_key("page-limit"), "{n}: {way:?}");
            bay.clock.advance(Duration::from_hours(1));
        }
        let there = bay.paths();
        assert!(paths.iter().all(|path| there.contains(path)), "{way:?}: {there:?}");
    }
}

#[tokio::test]
async fn ours_what_left_an_incomplete_list_is_still_looked_after() {
    let bay = Bay::new();
    let llms = |paths: &[&str]| {
        let links: String = paths.iter().map(|path| format!("- [Page]({path})\n")).collect();
        bay.file("/llms.txt", "text/plain", format!("# Harbour\n\n## Pages\n\n{links}"));
    };
    pages(&bay, 3);
    llms(&["/0", "/1", "/2"]);
    assert_eq!(bay.visit().await.added, 3);
    llms(&["/0"]);
    bay.server.route("/1", [Reply::status(410)]);
    let noindex = format!("<meta name=robots content=noindex>{}", body("/2", "Words."));
    bay.html("/2", &noindex);
    bay.clock.advance(8 * DAY);
    let report = bay.visit().await;
    assert_eq!((report.removed, bay.paths()), (1, vec!["/0".to_owned(), "/2".to_owned()]));
    assert_eq!(words(&bay, "/2"), None);
    // Now and then, and not at every visit.
    let n = bay.server.seen().len();
    bay.clock.advance(DAY);
    bay.visit().await;
    let asked = bay.asked(n);
    assert!(asked.contains(&"/0".to_owned()) && !asked.contains(&"/2".to_owned()), "{asked:?}");
}

#[tokio::test]
async fn ours_a_page_that_is_closed_loses_its_words_until_it_opens() {
    for status in [401, 402, 403, 451] {
        let bay = Bay::new();
        let paths = pages(&bay, 4);
        listed(&bay, &paths);
        bay.visit().await;
        bay.server.route("/1", [Reply::status(status)]);
        let report = bay.visit().await;
        assert_eq!((report.withheld, report.removed), (1, 0), "{status}");
        let row = bay.store.page("http://harbour.example/1").unwrap().unwrap();
        assert_eq!((row.withheld, words(&bay, "/1")), (Some(Withheld::Consent), None));
        bay.html("/1", &body("/1", "Words of this page."));
        bay.visit().await;
        assert!(words(&bay, "/1").is_some(), "{status}");
    }
}

#[tokio::test]
async fn ours_a_site_that_turns_us_away_keeps_its_words() {
    let bay = Bay::new();
    let paths = pages(&bay, 4);
    listed(&bay, &paths);
    bay.visit().await;
    let before = bay.seen();
    for path in &paths {
        bay.server.route(path, [Reply::status(403)]);
    }
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Policy));
    assert_eq!(bay.seen(), before);
}

#[tokio::test]
async fn ours_a_detour_for_a_day_removes_nothing_and_a_move_does() {
    let bay = Bay::new();
    let paths = pages(&bay, 4);
    listed(&bay, &paths);
    bay.html("/closed-today", &body("Repairs", "Come again tomorrow."));
    bay.visit().await;
    let before = bay.seen();
    for status in [302, 303, 307] {
        bay.server.route("/1", [Reply::status(status).with("Location", "/closed-today")]);
        let report = bay.visit().await;
        assert_eq!(report.left_out_by_code()["temporary-redirect"], 1);
        assert_eq!(bay.seen(), before, "{status}");
    }
    bay.server.route("/1", [Reply::status(301).with("Location", "/moved")]);
    bay.html("/moved", &body("/1", "Words of this page."));
    let report = bay.visit().await;
    assert_eq!((report.added, report.removed), (1, 1));
    assert_eq!(bay.paths(), ["/0", "/2", "/3", "/moved"]);
}

#[tokio::test]
async fn ours_an_entry_whose_snapshot_says_nothing_is_asked_for() {
    let bay = Bay::new();
    let text = r#"{"arc_sitemap_version":"2.1","site":"http://harbour.example",
        "generated_at":"2027-01-02T00:00:00Z","pages":[
        {"url":"http://harbour.example/0","ai_indexable":true,"ai_snapshot":{}}]}"#;
    bay.file("/arc-sitemap.json", "application/json", text);
    pages(&bay, 1);
    assert_eq!(bay.visit().await.added, 1);
    assert!(words(&bay, "/0").unwrap().contains("Words of this page."));
}

#[tokio::test] // D87
async fn ours_pages_that_only_an_arc_sitemap_lists_are_read_beside_collections() {
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/0", "a")]);
    bay.sitemap(&[first], &["/0"]);
    pages(&bay, 2);
    let arc = |more: &str| {
        let text = format!(
            r#"{{"arc_sitemap_version":"2.1","site":"http://harbour.example",
            "generated_at":"2027-01-02T00:00:00Z","pages":[
            {{"url":"http://harbour.example/0","ai_indexable":true}}{more}]}}"#
        );
        bay.file("/arc-sitemap.json", "application/json", text);
    };
    arc("");
    let report = bay.visit().await;
    assert_eq!((report.rung, bay.paths()), (Rung::Scp, vec!["/0".to_owned()]));
    arc(r#",{"url":"http://harbour.example/1","ai_indexable":true}"#);
    bay.clock.advance(DAY);
    let report = bay.visit().await;
    assert_eq!((report.rung, report.added), (Rung::Scp, 1));
    assert!(words(&bay, "/1").unwrap().contains("Words of this page."));
    // The verified line stays.
    assert!(words(&bay, "/0").unwrap().contains("\"a\""));
}

/// A page whose words cannot be told from the rest, with a twin.
fn unsure(text: &str) -> String {
    let links: String =
        (0..60).map(|n| format!("<div><a href=/x{n}>{text} {n}</a> and more</div>")).collect();
    format!(
        "<head><title>T</title>\
         <link rel=alternate type=text/markdown href=/t.md></head><body>{links}</body>"
    )
}

#[tokio::test]
async fn ours_a_twin_takes_the_place_of_its_page_at_once() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/t"]);
    bay.server.route("/t", [Reply::ok("text/html", unsure("Berth"))]);
    let twin = |field: &str, value: &str| {
        let text = "# Tides\n\nHigh water is at noon.\n";
        bay.server.route("/t.md", [Reply::ok("text/markdown", text).with(field, value)]);
    };
    twin("X-Any", "thing");
    let report = bay.visit().await;
    assert_eq!((report.added, report.changed), (1, 0));
    assert!(words(&bay, "/t").unwrap().contains("High water is at noon."));
    let before = bay.seen();
    // Neither has a date or a tag; both say the same: nothing changed.
    bay.clock.advance(DAY);
    let report = bay.visit().await;
    assert!(report.is_quiet(), "{report:?}");
    assert_eq!(bay.seen(), before);
    // What the twin says of its own use is about the twin.
    twin("X-Robots-Tag", "noindex");
    bay.visit().await;
    assert!(words(&bay, "/t").unwrap().contains("Berth 7"));
    // A twin that is gone leaves the page.
    bay.server.route("/t.md", [Reply::status(404)]);
    bay.visit().await;
    assert!(words(&bay, "/t").unwrap().contains("Berth 7"));
}

#[tokio::test] // D74
async fn spec_a_page_that_is_lost_goes_and_the_home_page_stays() {
    let bay = Bay::new();
    // Whatever is not there is answered with the home page, and a nonce.
    let home = |nonce: u32| {
        format!("<title>Harbour</title><main><p>Words of the home page, {nonce}.</p></main>")
    };
    bay.server.fallback(Reply::ok("text/html", home(1)));
    let paths = pages(&bay, 3);
    bay.html("/", &home(2));
    let all: Vec<&str> = paths.iter().map(String::as_str).chain(["/"]).collect();
    bay.sitemap(&[], &all);
    bay.visit().await;
    assert_eq!(bay.paths(), ["/", "/0", "/1", "/2"]);
    bay.html("/1", &home(3));
    let report = bay.visit().await;
    assert_eq!((report.removed, bay.paths().len()), (1, 3));
    assert!(words(&bay, "/").is_some() && words(&bay, "/1").is_none());
}

#[tokio::test]
async fn ours_links_that_a_stopped_walk_found_are_followed_by_the_next() {
    let bay = Bay::new();
    let paths = pages(&bay, 6);
    let links: String = paths.iter().map(|path| format!("<a href={path}>{path}</a> ")).collect();
    bay.html("/", &body("Home", &format!("Words. {links}")));
    bay.server.route("/0", [Reply::status(429).with("Retry-After", "7200")]);
    bay.visit().await;
    bay.html("/0", &body("/0", "Words of this page."));
    bay.clock.advance(DAY);
    // The home page did not change, so it tells no links any more.
    assert_eq!(bay.visit().await.worst(), None);
    assert_eq!(bay.paths().len(), 7);
}

#[tokio::test] // SCP-184
async fn ours_pages_beyond_the_quota_stop_nothing_else() {
    let bay = Bay::new();
    let paths = pages(&bay, 4);
    listed(&bay, &paths[..3]);
    bay.visit().await;
    let quota = rutter_store::Quota { pages: 3, ..rutter_store::Quota::USUAL };
    let few = Options { quota, ..Options::default() };
    listed(&bay, &paths[1..]);
    bay.html("/1", &body("/1", "Other words of this page."));
    let report = bay.visit_with(few).await.unwrap();
    assert_eq!((report.worst(), report.changed, report.removed), (Some(Kind::Policy), 1, 1));
    assert_eq!(bay.paths(), ["/1", "/2"]);
}

#[tokio::test]
async fn ours_what_stands_at_the_address_of_a_twin_must_be_one() {
    let bay = Bay::new();
    bay.sitemap(&[], &["/t"]);
    bay.server.route("/t", [Reply::ok("text/html", unsure("Berth"))]);
    bay.server.route("/t.md", [Reply::redirect(302, "/login")]);
    bay.html("/login", &body("Login", "Please sign in to read this page of the harbour."));
    bay.visit().await;
    assert!(words(&bay, "/t").unwrap().contains("Berth 7"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ours_a_walk_by_links_that_is_broken_off_is_gone_on_with() {
    // Page n leads to 4n + 1 to 4n + 4; what was committed tells no links later.
    for is_committed in [false, true] {
        let bay = std::sync::Arc::new(Bay::new());
        let path = |n: usize| if n == 0 { "/".to_owned() } else { format!("/{n}") };
        for n in 0..80 {
            let links: String = (4 * n + 1..=4 * n + 4)
                .filter(|next| *next < 80)
                .map(|next| format!("<a href={}>{next}</a> ", path(next)))
                .collect();
            bay.html(&path(n), &body(&format!("Page {n}"), &format!("Words. {links}")));
        }
        let theirs = std::sync::Arc::clone(&bay);
        let visit = tokio::spawn(async move { theirs.try_visit().await.map(|_| ()) });
        let n_asked = |wanted: usize| bay.server.seen().len() >= wanted;
        while !n_asked(12) {
            tokio::task::yield_now().await;
        }
        if is_committed {
            // What was read so far is committed with the next answer.
            bay.clock.advance(Duration::from_secs(11));
        }
        while !n_asked(30) {
            tokio::task::yield_now().await;
        }
        visit.abort();
        let is_cancelled = visit.await.is_err_and(|error| error.is_cancelled());
        assert!(is_cancelled, "it was too fast");
        bay.clock.advance(DAY);
        bay.visit().await;
        let paths = bay.paths();
        let missing = (0..80).filter(|n| !paths.contains(&path(*n))).count();
        assert_eq!(missing, 0, "committed: {is_committed}");
    }
}
