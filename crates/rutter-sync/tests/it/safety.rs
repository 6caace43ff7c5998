//! Forbidden addresses, and the pace of requests.

use std::time::Duration;

use rutter_fetch::{ClientSettings, Url};
use rutter_sync::{ProblemKind, SyncError, SyncOptions};
use rutter_testkit::server::Reply;

use crate::test_site::{SITE, TestSite, advert, urlset};

#[tokio::test] // SCP-187
async fn opens_no_forbidden_connection() {
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
        let site = TestSite::new();
        site.names.add("metadata.example", &["169.254.169.254"]);
        site.names.add("mixed.example", &["93.184.216.34", "10.0.0.1"]);
        let syncer = site.syncer_with(TestSite::settings(), SyncOptions::default());
        let error = syncer.sync(&Url::parse(inside).unwrap(), &()).await.unwrap_err();
        let SyncError::Fetch(error) = &error else { panic!("{inside}: {error}") };
        assert!(
            matches!(error.cause, rutter_fetch::FailureCause::Refused(_)),
            "{inside}: {error:?}"
        );
        assert!(site.lines.dialed().is_empty(), "{inside}");
    }
}

#[tokio::test]
async fn collection_url_cannot_lead_to_a_forbidden_address() {
    for target in ["http://127.0.0.1/all.scp", "http://inside.harbour.example/all.scp"] {
        let site = TestSite::new();
        site.names.add("inside.harbour.example", &["10.0.0.1"]);
        // By the advert, and by a redirect.
        let direct = advert("/x", 1, None, 1, 100).replace("http://harbour.example/x", target);
        let moved = advert("/moved.scp", 2, None, 1, 90);
        site.server.route("/moved.scp", [Reply::redirect(302, target)]);
        site.file("/sitemap.xml", "application/xml", urlset(&format!("{direct}{moved}")));
        let report = site.sync().await;
        assert_eq!(report.worst(), Some(ProblemKind::Policy), "{target}: {:?}", report.problems);
        let dialed = site.lines.dialed();
        assert!(
            dialed.iter().all(|it| it.ip().to_string() == crate::test_site::HARBOUR),
            "{dialed:?}"
        );
        assert!(site.stored_pages().is_empty());
    }
}

#[tokio::test] // ARC-034 ARC-036 SCP-207
async fn sends_no_request_before_the_crawl_delay() {
    let site = TestSite::new();
    site.robots("user-agent: *\ncrawl-delay: 3\n");
    let paths: Vec<String> = (0..8).map(|n| format!("/{n}")).collect();
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    site.sitemap(&[], &names);
    for path in &paths {
        site.html(path, "<title>t</title><main><p>Words of this page.</p></main>");
    }
    let settings = ClientSettings { pace: Duration::from_secs(2), ..TestSite::settings() };
    let syncer = site.syncer_with(settings, SyncOptions::default());
    let report = syncer.sync(&Url::parse(SITE).unwrap(), &()).await.unwrap();
    assert_eq!(report.added, 8);
    let seen = site.server.seen();
    // From the first response on, at least the delay of robots.txt.
    let late = seen
        .windows(2)
        .skip(1)
        .all(|two| Duration::from_secs(3) <= two[1].moment.saturating_sub(two[0].moment));
    assert!(late, "{seen:?}");
    assert_eq!(site.server.most_at_once(), 1);
    let agents = seen.iter().all(|it| it.header("user-agent").unwrap().starts_with("Rutter/"));
    assert!(agents);
}

#[tokio::test] // D26
async fn slow_host_gets_one_large_request_instead_of_many() {
    for (robots, n_files) in [("", 3), ("user-agent: *\ncrawl-delay: 20\n", 1)] {
        let site = TestSite::new();
        site.robots(robots);
        let long = "x".repeat(200_000);
        let pages = [("/a", "a"), ("/long", &*long)];
        let first = site.snapshot(5, &pages);
        site.sitemap(std::slice::from_ref(&first), &[]);
        site.sync().await;
        let deltas = [6, 7, 8].map(|day| site.delta(day, &[("/a", &*format!("on day {day}"))]));
        let last = site.snapshot(8, &[("/a", "on day 8"), ("/long", &long)]);
        site.sitemap(&[&deltas[..], &[last]].concat(), &[]);
        let report = site.sync().await;
        assert_eq!(report.sections["all"].files, n_files, "{report:?}");
        assert_eq!(site.paths(), ["/a", "/long"]);
    }
}
