//! What is said when nothing can be fetched: the cause, and at once.

use std::sync::Mutex;
use std::time::Duration;

use rutter_fetch::{Clock as _, Settings, Url};
use rutter_sync::{Event, Kind, Options, Watcher};

use crate::bay::{Bay, SITE, body};

#[tokio::test]
async fn a_ban_names_its_line_in_robots_txt() {
    let bay = Bay::new();
    bay.robots("User-agent: *\nDisallow: /\n");
    bay.html("/", &body("Home", "Text."));
    let report = bay.visit().await;
    assert_eq!(report.worst(), Some(Kind::Policy));
    let text = &report.troubles[0].text;
    assert_eq!(text, "nothing may be fetched: robots.txt forbids it: line 2: Disallow: /");
    assert_eq!(bay.server.paths(), ["/robots.txt"]);
}

/// Keeps the events of slow hosts, with the requests sent before.
#[derive(Default)]
struct Slow(Mutex<Vec<Duration>>);

impl Watcher for Slow {
    fn event(&self, _site: &str, event: Event<'_>) {
        if let Event::Slow { delay } = event {
            self.0.lock().unwrap().push(delay);
        }
    }
}

#[tokio::test] // D52
async fn a_crawl_delay_above_the_maximum_is_reported_before_anything_is_fetched() {
    let bay = Bay::new();
    bay.robots("User-agent: *\nCrawl-delay: 300\n");
    bay.html("/", &body("Home", "Text <a href=/a>a</a>."));
    let settings = Settings { pace: Duration::from_secs(1), ..Bay::settings() };
    let slow = Slow::default();
    let visitor = bay.visitor_with(settings, Options::default());
    let report = visitor.visit(&Url::parse(SITE).unwrap(), &slow).await.unwrap();
    assert_eq!(*slow.0.lock().unwrap(), [Duration::from_mins(5)]);
    assert_eq!(report.worst(), Some(Kind::Policy));
    let wanted = "nothing may be fetched: host asks for 300 s between requests; pages are fetched \
                  only up to 30 s";
    assert_eq!(report.troubles[0].text, wanted);
    // Only the sitemap is looked for: it may name collections.
    assert_eq!(bay.server.paths(), ["/robots.txt", "/sitemap.xml"]);
    assert!(bay.clock.moment() <= Duration::from_secs(31), "{:?}", bay.clock.moment());
}
