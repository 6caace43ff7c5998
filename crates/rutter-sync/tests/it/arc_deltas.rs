//! Consent that is withdrawn in ARC after a sync followed dated deltas (D53, D60).
//!
//! Each test starts from the same state: the ARC sitemap was read whole, then one delta was
//! applied. A withdrawal must take effect in the next sync.

use std::collections::BTreeSet;
use std::time::Duration;

use rutter_store::prelude::*;
use rutter_sync::SyncReport;
use rutter_testkit::server::Reply;

use crate::test_site::TestSite;

const PAGES: usize = 300;
const ARC: &str = "/arc-sitemap.json";

/// A site with 300 pages in a collection, an ARC sitemap and its deltas.
struct Site {
    site: TestSite,
    /// Pages that the ARC sitemap withholds.
    closed: BTreeSet<usize>,
}

fn time(day: u32, hour: u32) -> String {
    format!("2027-01-{day:02}T{hour:02}:00:00Z")
}

fn delta_path(day: u32) -> String {
    format!("/arc-sitemap-deltas/2027-01-{day:02}.json")
}

impl Site {
    /// The replica followed the delta of 10 January at 06:00.
    async fn followed(has_pointer: bool) -> Self {
        let mut site = Self { site: TestSite::new(), closed: BTreeSet::new() };
        let paths: Vec<String> = (0..PAGES).map(|n| format!("/{n:03}")).collect();
        let pages: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "text")).collect();
        let snapshot = site.site.snapshot(1, &pages);
        site.site.sitemap(std::slice::from_ref(&snapshot), &[]);
        site.publish_whole(&time(9, 12));
        if has_pointer {
            site.publish_pointer(&time(9, 12));
        }
        site.site.sync().await;
        site.site.clock.advance(Duration::from_hours(7));
        site.closed.insert(1);
        site.publish_whole(&time(10, 6));
        site.publish_delta(9, &[], &time(9, 12), &time(9, 12));
        site.publish_delta(10, &[1], &time(10, 0), &time(10, 6));
        if has_pointer {
            site.publish_pointer(&time(10, 6));
        } else {
            // The XML sitemap shows a change.
            site.site.sitemap(&[snapshot], &["/000"]);
        }
        let n = site.site.server.seen().len();
        site.site.sync().await;
        let asked = site.site.asked(n);
        assert!(asked.contains(&delta_path(10)), "{asked:?}");
        assert!(!site.gets(n).contains(&ARC.to_owned()), "{asked:?}");
        assert_eq!(site.withheld(), [1]);
        // Without a change, nothing is downloaded.
        assert_eq!(site.site.sync().await.bytes, 0);
        site
    }

    /// Paths that were requested with GET and answered with a body.
    fn gets(&self, from: usize) -> Vec<String> {
        let seen = self.site.server.seen().split_off(from);
        let gets = seen.into_iter().filter(|seen| seen.method == "GET");
        gets.map(|seen| seen.path).collect()
    }

    fn document(&self, head: &str, pages: impl IntoIterator<Item = usize>) -> String {
        let entries: Vec<String> = pages
            .into_iter()
            .map(|n| {
                let is_open = !self.closed.contains(&n);
                format!("{{\"url\":\"http://harbour.example/{n:03}\",\"ai_indexable\":{is_open}}}")
            })
            .collect();
        format!(
            "{{\"arc_sitemap_version\":\"2.1\",\"site\":\"http://harbour.example\",{head},\
             \"pages\":[{}]}}",
            entries.join(",")
        )
    }

    fn publish_whole(&self, generated: &str) {
        let head = format!(
            "\"generated_at\":\"{generated}\",\"deltas\":{{\"template\":\
             \"http://harbour.example/arc-sitemap-deltas/YYYY-MM-DD.json\",\
             \"from\":\"2027-01-01\",\"to\":\"{}\"}}",
            &generated[..10]
        );
        self.site.file(ARC, "application/json", self.document(&head, 0..PAGES));
    }

    fn publish_delta(&self, day: u32, pages: &[usize], since: &str, until: &str) {
        let head =
            format!("\"generated_at\":\"{until}\",\"since\":\"{since}\",\"until\":\"{until}\"");
        let document = self.document(&head, pages.iter().copied());
        self.site.file(&delta_path(day), "application/json", document);
    }

    fn publish_pointer(&self, modified: &str) {
        let pointer = format!(
            "{{\"@context\":\"https://schema.org\",\"@type\":\"Dataset\",\"name\":\"ARC Sitemap\",\
             \"url\":\"http://harbour.example{ARC}\",\"dateModified\":\"{modified}\",\
             \"distribution\":[{{\"@type\":\"DataDownload\",\
             \"encodingFormat\":\"application/json\",\
             \"contentUrl\":\"http://harbour.example{ARC}\"}}]}}"
        );
        self.site.file("/arc-sitemap.jsonld", "application/ld+json", pointer);
    }

    /// Pages without content.
    fn withheld(&self) -> Vec<usize> {
        let line = |n: usize| self.site.store.line(&format!("http://harbour.example/{n:03}"));
        (0..PAGES).filter(|n| line(*n).unwrap().is_none()).collect()
    }

    async fn sync(&self) -> SyncReport {
        self.site.sync().await
    }
}

#[tokio::test] // D53 D60 ARC-056
async fn obeys_withdrawal_in_delta_of_a_known_day() {
    for (has_pointer, has_new_date) in [(true, true), (true, false), (false, false)] {
        let mut site = Site::followed(has_pointer).await;
        site.closed.insert(2);
        site.publish_delta(10, &[1, 2], &time(10, 0), &time(10, 9));
        site.publish_whole(&time(10, 9));
        if has_new_date {
            site.publish_pointer(&time(10, 9));
        }
        site.sync().await;
        assert_eq!(site.withheld(), [1, 2], "{has_pointer} {has_new_date}");
    }
}

#[tokio::test] // D53 D60 ARC-056
async fn obeys_withdrawal_in_delta_of_a_later_day() {
    for (has_pointer, has_new_date) in [(true, true), (true, false), (false, false)] {
        let mut site = Site::followed(has_pointer).await;
        site.site.clock.advance(Duration::from_hours(48));
        site.closed.insert(2);
        site.publish_delta(11, &[2], &time(11, 0), &time(11, 9));
        site.publish_whole(&time(11, 9));
        if has_new_date {
            site.publish_pointer(&time(11, 9));
        }
        site.sync().await;
        assert_eq!(site.withheld(), [1, 2], "{has_pointer} {has_new_date}");
    }
}

#[tokio::test] // D53 D60 ARC-056
async fn obeys_withdrawal_in_whole_sitemap_without_delta() {
    // With and without a new date, on the day of the last delta and later.
    for (has_pointer, has_new_date) in [(true, true), (true, false), (false, false)] {
        for (days, day) in [(0, 10), (2, 12)] {
            let mut site = Site::followed(has_pointer).await;
            site.site.clock.advance(Duration::from_hours(24 * days));
            site.closed.insert(2);
            site.publish_whole(&time(day, 9));
            if has_new_date {
                site.publish_pointer(&time(day, 9));
            }
            site.sync().await;
            assert_eq!(site.withheld(), [1, 2], "{has_pointer} {has_new_date} {day}");
            // Only the pointer may be downloaded.
            assert!(site.sync().await.bytes < 500);
        }
    }
}

#[tokio::test] // D53 D60 ARC-056
async fn obeys_new_date_of_pointer_before_the_end_of_the_last_delta() {
    // The delta covers the whole day.
    let mut site = Site::followed(true).await;
    site.closed.insert(2);
    site.publish_delta(10, &[1, 2], &time(10, 0), "2027-01-10T23:59:59Z");
    site.publish_whole(&time(10, 8));
    site.publish_pointer(&time(10, 8));
    site.sync().await;
    assert_eq!(site.withheld(), [1, 2]);
    site.closed.insert(3);
    site.publish_whole(&time(10, 9));
    site.publish_pointer(&time(10, 9));
    site.sync().await;
    assert_eq!(site.withheld(), [1, 2, 3]);
}

#[tokio::test] // D53 D60 ARC-056
async fn obeys_withdrawal_in_delta_where_the_server_refuses_head() {
    let mut site = Site::followed(true).await;
    // From now on the ARC sitemap answers unconditional requests with 405.
    site.closed.insert(2);
    site.publish_delta(10, &[1, 2], &time(10, 0), &time(10, 9));
    site.publish_pointer(&time(10, 9));
    site.site.server.route(ARC, [Reply::status(405)]);
    site.sync().await;
    assert_eq!(site.withheld(), [1, 2]);
    site.closed.insert(3);
    site.publish_delta(10, &[1, 2, 3], &time(10, 0), &time(10, 10));
    site.sync().await;
    assert_eq!(site.withheld(), [1, 2, 3]);
}
