//! Who we say we are, how often we come, and when we stay away.

use rutter_fetch::{Cause, Event, Refused, Request, Settings, What};
use rutter_testkit::server::Reply;

use crate::{Bay, cause, gaps, page, request, s, settings, url};

#[tokio::test] // ARC-034
async fn spec_one_user_agent_that_can_be_recognised() {
    let contact = Some("https://rutter.example/bot".to_owned());
    let bay = Bay::with(Settings { contact, ..settings() });
    bay.server.route("/a", [page("a")]);
    bay.get("http://harbour.example/a").await.unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let wanted = format!("Rutter/{version} (+https://rutter.example/bot)");
    let seen = bay.server.seen();
    assert_eq!(seen.len(), 2);
    for seen in seen {
        assert_eq!(seen.header("user-agent"), Some(wanted.as_str()));
        for secret in ["cookie", "authorization", "referer"] {
            assert_eq!(seen.header(secret), None);
        }
    }
}

/// Every request came at least `delay` after the answer before it.
fn assert_pace(bay: &Bay, delay: u64) {
    let seen = bay.server.seen();
    assert!(1 < seen.len());
    let waits = gaps(seen.iter().map(|seen| seen.moment));
    assert!(waits.iter().all(|wait| s(delay) <= *wait), "{waits:?}");
}

#[tokio::test] // ARC-036 D52
async fn spec_the_slowest_of_three_wishes() {
    for (robots, asked, own, wanted) in [
        (None, None, 2, 2),
        (Some("5"), None, 2, 5),
        (Some("5"), Some(7), 2, 7),
        (Some("0.5"), Some(1), 9, 9),
    ] {
        let bay = Bay::with(Settings { pace: s(own), ..settings() });
        let text = robots.map_or(String::new(), |n| format!("user-agent: *\ncrawl-delay: {n}\n"));
        bay.server.route("/robots.txt", [Reply::ok("text/plain", text)]).fallback(page("a"));
        if let Some(asked) = asked {
            bay.client.slow_down("harbour.example", s(asked));
        }
        for n in 0..4 {
            bay.get(&format!("http://harbour.example/{n}")).await.unwrap();
        }
        assert_pace(&bay, own.max(asked.unwrap_or(0)));
        let seen = bay.server.seen();
        assert_eq!(gaps(seen.iter().map(|seen| seen.moment)), vec![s(wanted); 4]);
        // The log says the same as the server.
        let asked: Vec<_> = bay
            .log
            .lock()
            .unwrap()
            .iter()
            .filter(|record| matches!(record.event, Event::Asked { .. }))
            .map(|record| record.moment)
            .collect();
        assert_eq!(asked, seen.iter().map(|seen| seen.moment).collect::<Vec<_>>());
    }
}

#[tokio::test] // D52
async fn ours_hosts_without_time_give_collections_but_no_pages() {
    let bay = Bay::new();
    let text = "user-agent: rutter\ncrawl-delay: 3600\n";
    bay.server.route("/robots.txt", [Reply::ok("text/plain", text)]).fallback(page("a"));
    let refused = cause(bay.get("http://harbour.example/a").await);
    assert!(matches!(refused, Cause::Refused(Refused::TooSlow(wait)) if wait == s(3600)));
    let sitemap = Request::new(url("http://harbour.example/sitemap.xml"), What::Sitemap);
    bay.client.fetch(&sitemap).await.unwrap();
    assert_eq!(bay.asked(), ["/sitemap.xml"]);
    assert_pace(&bay, 30);
}

#[tokio::test]
async fn ours_one_connection_and_one_request_at_a_time() {
    let bay = Bay::new();
    bay.server.fallback(page("a"));
    let (one, two) = (request("http://harbour.example/1"), request("http://harbour.example/2"));
    let (one, two) = tokio::join!(bay.client.fetch(&one), bay.client.fetch(&two));
    one.unwrap();
    two.unwrap();
    bay.get("http://harbour.example/3").await.unwrap();
    assert_eq!(bay.server.n_connections(), 1);
    assert_eq!(bay.server.most_at_once(), 1);
    assert_eq!(bay.lines.dialled().len(), 1);
}

#[tokio::test] // SCP-207 D11, D12 of reliability.md
async fn spec_retry_after_pauses_the_whole_host() {
    let date = "Fri, 01 Jan 2027 00:01:00 GMT";
    for (status, field, wanted) in [
        (429, Some("5"), 5),
        (503, Some("5"), 5),
        (503, Some(date), 60),
        (429, Some("soon"), 30),
        (503, None, 30),
    ] {
        let bay = Bay::new();
        let busy = Reply::status(status);
        let busy = field.map_or(busy.clone(), |value| busy.with("Retry-After", value));
        bay.server.route("/a", [busy, page("a")]).fallback(page("b"));
        bay.get("http://harbour.example/b").await.unwrap();
        let two = request("http://harbour.example/c");
        let one = request("http://harbour.example/a");
        let (one, two) = tokio::join!(bay.client.fetch(&one), bay.client.fetch(&two));
        assert_eq!((one.unwrap().status, two.unwrap().status), (200, 200));
        let seen = bay.server.seen();
        let first = seen.iter().find(|seen| seen.path == "/a").unwrap().moment;
        let later: Vec<_> = seen.iter().filter(|seen| first < seen.moment).collect();
        // Both the retry and the other address waited.
        assert_eq!(later.len(), 2, "{field:?}");
        assert!(later.iter().all(|seen| first + s(wanted) <= seen.moment), "{field:?}");
        assert!(later.iter().all(|seen| seen.moment < first + s(wanted * 2)), "{field:?}");
    }
}

#[tokio::test] // SCP-207 D11
async fn spec_five_tries_then_later() {
    let bay = Bay::with(Settings { patience: s(100_000), ..settings() });
    bay.server.route("/a", [Reply::status(503)]);
    let busy = cause(bay.get("http://harbour.example/a").await);
    assert!(matches!(busy, Cause::Later { status: Some(503), .. }), "{busy:?}");
    let seen: Vec<_> = bay.server.seen().into_iter().filter(|seen| seen.path == "/a").collect();
    assert_eq!(seen.len(), 5);
    let waits = gaps(seen.iter().map(|seen| seen.moment));
    for (gap, wanted) in waits.iter().zip([30, 60, 120, 240]) {
        assert!(s(wanted) <= *gap && *gap <= s(wanted + wanted / 4), "{waits:?}");
    }
}

#[tokio::test] // D11, D12 of reliability.md
async fn ours_a_long_pause_is_told_and_not_waited_for() {
    let bay = Bay::new();
    bay.server.route("/a", [Reply::status(429).with("Retry-After", "315360000")]);
    let busy = cause(bay.get("http://harbour.example/a").await);
    // Ten years are held to a day.
    let Cause::Later { until, .. } = busy else { panic!("{busy:?}") };
    assert_eq!(until.to_string(), "2027-01-02T00:00:00Z");
    let n_before = bay.server.seen().len();
    let busy = cause(bay.get("http://harbour.example/b").await);
    assert!(matches!(busy, Cause::Later { .. }), "{busy:?}");
    assert_eq!(bay.server.seen().len(), n_before);
    assert!(bay.events().contains(&Event::Paused { wait: s(86_400), status: Some(429) }));
    bay.clock.advance(s(86_400));
    assert_eq!(bay.get("http://harbour.example/b").await.unwrap().status, 404);
}

#[tokio::test] // F07 of reliability.md
async fn ours_a_clock_set_by_hand_changes_no_pause() {
    let bay = Bay::with(Settings { pace: s(10), ..settings() });
    bay.server.fallback(page("a"));
    for day in ["1970-01-01T00:00:00Z", "2040-01-01T00:00:00Z", "2026-12-31T23:00:00Z"] {
        bay.clock.set_day(rutter_page::Timestamp::parse(day).unwrap());
        bay.get("http://harbour.example/a").await.unwrap();
    }
    assert_pace(&bay, 10);
    assert_eq!(bay.server.seen().len(), 4);
}

#[tokio::test]
async fn ours_an_old_connection_that_is_gone_costs_a_turn_but_no_try() {
    let bay = Bay::with(Settings { pace: s(10), tries: 1, ..settings() });
    let hang_up = page("").but(rutter_testkit::server::Fault::HangUp);
    bay.server.route("/a", [page("a")]).route("/b", [hang_up, page("b")]);
    bay.get("http://harbour.example/a").await.unwrap();
    assert_eq!(bay.get("http://harbour.example/b").await.unwrap().status, 200);
    // Asked twice, and the second time not before its time.
    assert_eq!(bay.asked(), ["/a", "/b", "/b"]);
    assert_pace(&bay, 10);
}

#[tokio::test]
async fn ours_a_dropped_request_frees_the_host() {
    let bay = Bay::new();
    let slow = page("abc").but(rutter_testkit::server::Fault::StallAfter(1));
    bay.server.route("/slow", [slow]).route("/a", [page("a")]);
    let stuck = request("http://harbour.example/slow");
    {
        let fetch = bay.client.fetch(&stuck);
        tokio::pin!(fetch);
        let seen = async {
            while !bay.server.paths().contains(&"/slow".to_owned()) {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = seen => {}
            _ = &mut fetch => panic!("it cannot be done"),
        }
    }
    assert_eq!(bay.get("http://harbour.example/a").await.unwrap().status, 200);
}
