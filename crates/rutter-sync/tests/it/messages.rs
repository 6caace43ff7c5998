//! Messages if nothing can be fetched: they name the cause.

use std::sync::Mutex;
use std::time::Duration;

use rutter_fetch::{ClientSettings, Clock as _, Url};
use rutter_sync::{ProblemKind, SyncEvent, SyncObserver, SyncOptions};

use crate::test_site::{SITE, TestSite, body};

#[tokio::test]
async fn a_ban_names_its_line_in_robots_txt() {
    let site = TestSite::new();
    site.robots("User-agent: *\nDisallow: /\n");
    site.html("/", &body("Home", "Text."));
    let report = site.sync().await;
    assert_eq!(report.worst(), Some(ProblemKind::Policy));
    let text = &report.problems[0].text;
    let expected =
        "nothing may be fetched: robots.txt forbids the URL: line 2 has the rule `Disallow: /`";
    assert_eq!(text, expected);
    assert_eq!(site.server.paths(), ["/robots.txt"]);
}

/// Records the events of slow hosts and the number of requests before.
#[derive(Default)]
struct Slow(Mutex<Vec<Duration>>);

impl SyncObserver for Slow {
    fn event(&self, _site: &str, event: SyncEvent<'_>) {
        if let SyncEvent::Slow { delay } = event {
            self.0.lock().unwrap().push(delay);
        }
    }
}

#[tokio::test] // D52
async fn a_crawl_delay_above_the_maximum_is_reported_before_anything_is_fetched() {
    let site = TestSite::new();
    site.robots("User-agent: *\nCrawl-delay: 300\n");
    site.html("/", &body("Home", "Text <a href=/a>a</a>."));
    let settings = ClientSettings { pace: Duration::from_secs(1), ..TestSite::settings() };
    let slow = Slow::default();
    let syncer = site.syncer_with(settings, SyncOptions::default());
    let report = syncer.sync(&Url::parse(SITE).unwrap(), &slow).await.unwrap();
    assert_eq!(*slow.0.lock().unwrap(), [Duration::from_mins(5)]);
    assert_eq!(report.worst(), Some(ProblemKind::Policy));
    let wanted = "nothing may be fetched: the host asks for 300 s between requests; the maximum \
                  is 30 s";
    assert_eq!(report.problems[0].text, wanted);
    // Only the sitemap is requested, as it may announce collections.
    assert_eq!(site.server.paths(), ["/robots.txt", "/sitemap.xml"]);
    assert!(site.clock.monotonic() <= Duration::from_secs(31), "{:?}", site.clock.monotonic());
}
