//! Where nobody goes, and how often.

use std::time::Duration;

use rutter_fetch::{Settings, Url};
use rutter_sync::{Kind, Options, VisitError};
use rutter_testkit::server::Reply;

use crate::bay::{Bay, SITE, advert, urlset};

#[tokio::test] // SCP-187 D13 of the cases for fetching
async fn spec_no_forbidden_connection_is_opened() {
    for inside in [
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://metadata.example/",
        "http://mixed.example/",
    ] {
        let bay = Bay::new();
        bay.names.add("metadata.example", &["169.254.169.254"]);
        bay.names.add("mixed.example", &["93.184.216.34", "10.0.0.1"]);
        let visitor = bay.visitor_with(Bay::settings(), Options::default());
        let error = visitor.visit(&Url::parse(inside).unwrap(), &()).await.unwrap_err();
        let VisitError::Fetch(error) = &error else { panic!("{inside}: {error}") };
        assert!(matches!(error.cause, rutter_fetch::Cause::Refused(_)), "{inside}: {error:?}");
        assert!(bay.lines.dialled().is_empty(), "{inside}");
    }
}

#[tokio::test]
async fn ours_a_collection_leads_nowhere_forbidden() {
    for target in ["http://127.0.0.1/all.scp", "http://inside.harbour.example/all.scp"] {
        let bay = Bay::new();
        bay.names.add("inside.harbour.example", &["10.0.0.1"]);
        // By the advert, and by a redirect.
        let direct = advert("/x", 1, None, 1, 100).replace("http://harbour.example/x", target);
        let moved = advert("/moved.scp", 2, None, 1, 90);
        bay.server.route("/moved.scp", [Reply::redirect(302, target)]);
        bay.file("/sitemap.xml", "application/xml", urlset(&format!("{direct}{moved}")));
        let report = bay.visit().await;
        assert_eq!(report.worst(), Some(Kind::Policy), "{target}: {:?}", report.troubles);
        let dialled = bay.lines.dialled();
        assert!(dialled.iter().all(|it| it.ip().to_string() == crate::bay::HARBOUR), "{dialled:?}");
        assert!(bay.seen().is_empty());
    }
}

#[tokio::test] // ARC-034 ARC-036 SCP-207
async fn spec_no_request_comes_before_its_time() {
    let bay = Bay::new();
    bay.robots("user-agent: *\ncrawl-delay: 3\n");
    let paths: Vec<String> = (0..8).map(|n| format!("/{n}")).collect();
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    bay.sitemap(&[], &names);
    for path in &paths {
        bay.html(path, "<title>t</title><main><p>Words of this page.</p></main>");
    }
    let settings = Settings { pace: Duration::from_secs(2), ..Bay::settings() };
    let visitor = bay.visitor_with(settings, Options::default());
    let report = visitor.visit(&Url::parse(SITE).unwrap(), &()).await.unwrap();
    assert_eq!(report.added, 8);
    let seen = bay.server.seen();
    // From the first answer on, at least what robots.txt asks for.
    let late = seen
        .windows(2)
        .skip(1)
        .all(|two| Duration::from_secs(3) <= two[1].moment.saturating_sub(two[0].moment));
    assert!(late, "{seen:?}");
    assert_eq!(bay.server.most_at_once(), 1);
    let agents = seen.iter().all(|it| it.header("user-agent").unwrap().starts_with("Rutter/"));
    assert!(agents);
}

#[tokio::test] // D26
async fn ours_a_slow_host_is_asked_for_one_large_file_before_many_small_ones() {
    for (robots, n_files) in [("", 3), ("user-agent: *\ncrawl-delay: 20\n", 1)] {
        let bay = Bay::new();
        bay.robots(robots);
        let long = "x".repeat(200_000);
        let pages = [("/a", "a"), ("/long", &*long)];
        let first = bay.snapshot(5, &pages);
        bay.sitemap(std::slice::from_ref(&first), &[]);
        bay.visit().await;
        let deltas = [6, 7, 8].map(|day| bay.delta(day, &[("/a", &*format!("on day {day}"))]));
        let last = bay.snapshot(8, &[("/a", "on day 8"), ("/long", &long)]);
        bay.sitemap(&[&deltas[..], &[last]].concat(), &[]);
        let report = bay.visit().await;
        assert_eq!(report.sections["all"].files, n_files, "{report:?}");
        assert_eq!(bay.paths(), ["/a", "/long"]);
    }
}
