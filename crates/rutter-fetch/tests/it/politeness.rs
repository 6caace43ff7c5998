//! User agent, delays, pauses.

use rutter_fetch::{
    ClientSettings, FailureCause, FetchEvent, Request, RequestRefusal, ResourceKind,
};
use rutter_testkit::server::Reply;

use crate::{TestSite, cause, gaps, page, request, s, settings, url};

#[tokio::test] // ARC-034
async fn sends_a_recognizable_user_agent() {
    let contact = Some("https://rutter.example/bot".to_owned());
    let test = TestSite::with(ClientSettings { contact, ..settings() });
    test.server.route("/a", [page("a")]);
    test.get("http://harbour.example/a").await.unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let wanted = format!("Rutter/{version} (+https://rutter.example/bot)");
    let seen = test.server.seen();
    assert_eq!(seen.len(), 2);
    for seen in seen {
        assert_eq!(seen.header("user-agent"), Some(wanted.as_str()));
        for secret in ["cookie", "authorization", "referer"] {
            assert_eq!(seen.header(secret), None);
        }
    }
}

/// Checks that every request was sent at least `delay` after the previous response.
fn assert_pace(test: &TestSite, delay: u64) {
    let seen = test.server.seen();
    assert!(1 < seen.len());
    let waits = gaps(seen.iter().map(|seen| seen.moment));
    assert!(waits.iter().all(|wait| s(delay) <= *wait), "{waits:?}");
}

#[tokio::test] // ARC-036 D52
async fn obeys_the_longest_of_three_delays() {
    for (robots, asked, own, wanted) in [
        (None, None, 2, 2),
        (Some("5"), None, 2, 5),
        (Some("5"), Some(7), 2, 7),
        (Some("0.5"), Some(1), 9, 9),
    ] {
        let test = TestSite::with(ClientSettings { pace: s(own), ..settings() });
        let text = robots.map_or(String::new(), |n| format!("user-agent: *\ncrawl-delay: {n}\n"));
        test.server.route("/robots.txt", [Reply::ok("text/plain", text)]).fallback(page("a"));
        if let Some(asked) = asked {
            test.client.set_min_delay("harbour.example", s(asked));
        }
        for n in 0..4 {
            test.get(&format!("http://harbour.example/{n}")).await.unwrap();
        }
        assert_pace(&test, own.max(asked.unwrap_or(0)));
        let seen = test.server.seen();
        assert_eq!(gaps(seen.iter().map(|seen| seen.moment)), vec![s(wanted); 4]);
        // The log agrees with the server.
        let asked: Vec<_> = test
            .log
            .lock()
            .unwrap()
            .iter()
            .filter(|record| matches!(record.event, FetchEvent::Sent { .. }))
            .map(|record| record.monotonic)
            .collect();
        assert_eq!(asked, seen.iter().map(|seen| seen.moment).collect::<Vec<_>>());
    }
}

#[tokio::test] // D52
async fn fetches_collections_but_no_pages_from_slow_hosts() {
    let test = TestSite::new();
    let text = "user-agent: rutter\ncrawl-delay: 3600\n";
    test.server.route("/robots.txt", [Reply::ok("text/plain", text)]).fallback(page("a"));
    let refused = cause(test.get("http://harbour.example/a").await);
    assert!(
        matches!(refused, FailureCause::Refused(RequestRefusal::TooSlow(wait)) if wait == s(3600))
    );
    let sitemap = Request::new(url("http://harbour.example/sitemap.xml"), ResourceKind::Sitemap);
    test.client.fetch(&sitemap).await.unwrap();
    assert_eq!(test.requested_paths(), ["/sitemap.xml"]);
    assert_pace(&test, 30);
}

#[tokio::test]
async fn sends_one_request_at_a_time_on_one_connection() {
    let test = TestSite::new();
    test.server.fallback(page("a"));
    let (one, two) = (request("http://harbour.example/1"), request("http://harbour.example/2"));
    let (one, two) = tokio::join!(test.client.fetch(&one), test.client.fetch(&two));
    one.unwrap();
    two.unwrap();
    test.get("http://harbour.example/3").await.unwrap();
    assert_eq!(test.server.n_connections(), 1);
    assert_eq!(test.server.most_at_once(), 1);
    assert_eq!(test.lines.dialed().len(), 1);
}

#[tokio::test] // SCP-207 D11, N12
async fn retry_after_pauses_the_whole_host() {
    let date = "Fri, 01 Jan 2027 00:01:00 GMT";
    for (status, field, wanted) in [
        (429, Some("5"), 5),
        (503, Some("5"), 5),
        (503, Some(date), 60),
        (429, Some("soon"), 30),
        (503, None, 30),
    ] {
        let test = TestSite::new();
        let busy = Reply::status(status);
        let busy = field.map_or(busy.clone(), |value| busy.with("Retry-After", value));
        test.server.route("/a", [busy, page("a")]).fallback(page("b"));
        test.get("http://harbour.example/b").await.unwrap();
        let two = request("http://harbour.example/c");
        let one = request("http://harbour.example/a");
        let (one, two) = tokio::join!(test.client.fetch(&one), test.client.fetch(&two));
        assert_eq!((one.unwrap().status, two.unwrap().status), (200, 200));
        let seen = test.server.seen();
        let first = seen.iter().find(|seen| seen.path == "/a").unwrap().moment;
        let later: Vec<_> = seen.iter().filter(|seen| first < seen.moment).collect();
        // Both the retry and the other URL waited.
        assert_eq!(later.len(), 2, "{field:?}");
        assert!(later.iter().all(|seen| first + s(wanted) <= seen.moment), "{field:?}");
        assert!(later.iter().all(|seen| seen.moment < first + s(wanted * 2)), "{field:?}");
    }
}

#[tokio::test] // SCP-207 D11
async fn gives_up_after_five_attempts() {
    let test = TestSite::with(ClientSettings { max_wait: s(100_000), ..settings() });
    test.server.route("/a", [Reply::status(503)]);
    let busy = cause(test.get("http://harbour.example/a").await);
    assert!(matches!(busy, FailureCause::RetryLater { status: Some(503), .. }), "{busy:?}");
    let seen: Vec<_> = test.server.seen().into_iter().filter(|seen| seen.path == "/a").collect();
    assert_eq!(seen.len(), 5);
    let waits = gaps(seen.iter().map(|seen| seen.moment));
    for (gap, wanted) in waits.iter().zip([30, 60, 120, 240]) {
        assert!(s(wanted) <= *gap && *gap <= s(wanted + wanted / 4), "{waits:?}");
    }
}

#[tokio::test] // D11, N12
async fn reports_a_long_pause_without_waiting() {
    let test = TestSite::new();
    test.server.route("/a", [Reply::status(429).with("Retry-After", "315360000")]);
    let busy = cause(test.get("http://harbour.example/a").await);
    // Ten years are limited to one day.
    let FailureCause::RetryLater { until, .. } = busy else { panic!("{busy:?}") };
    assert_eq!(until.to_string(), "2027-01-02T00:00:00Z");
    let n_before = test.server.seen().len();
    let busy = cause(test.get("http://harbour.example/b").await);
    assert!(matches!(busy, FailureCause::RetryLater { .. }), "{busy:?}");
    assert_eq!(test.server.seen().len(), n_before);
    assert!(test.events().contains(&FetchEvent::Paused { wait: s(86_400), status: Some(429) }));
    test.clock.advance(s(86_400));
    assert_eq!(test.get("http://harbour.example/b").await.unwrap().status, 404);
}

#[tokio::test] // F07
async fn pauses_do_not_depend_on_the_time_of_day() {
    let test = TestSite::with(ClientSettings { pace: s(10), ..settings() });
    test.server.fallback(page("a"));
    for day in ["1970-01-01T00:00:00Z", "2040-01-01T00:00:00Z", "2026-12-31T23:00:00Z"] {
        test.clock.set_day(rutter_page::Timestamp::parse(day).unwrap());
        test.get("http://harbour.example/a").await.unwrap();
    }
    assert_pace(&test, 10);
    assert_eq!(test.server.seen().len(), 4);
}

#[tokio::test]
async fn a_stale_connection_costs_a_delay_but_no_attempt() {
    let test = TestSite::with(ClientSettings { pace: s(10), attempts: 1, ..settings() });
    let hang_up = page("").but(rutter_testkit::server::Fault::HangUp);
    test.server.route("/a", [page("a")]).route("/b", [hang_up, page("b")]);
    test.get("http://harbour.example/a").await.unwrap();
    assert_eq!(test.get("http://harbour.example/b").await.unwrap().status, 200);
    // Two requests, the second one after the delay.
    assert_eq!(test.requested_paths(), ["/a", "/b", "/b"]);
    assert_pace(&test, 10);
}

#[tokio::test]
async fn a_dropped_request_frees_the_host() {
    let test = TestSite::new();
    let slow = page("abc").but(rutter_testkit::server::Fault::StallAfter(1));
    test.server.route("/slow", [slow]).route("/a", [page("a")]);
    let stuck = request("http://harbour.example/slow");
    {
        let fetch = test.client.fetch(&stuck);
        tokio::pin!(fetch);
        let seen = async {
            while !test.server.paths().contains(&"/slow".to_owned()) {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = seen => {}
            _ = &mut fetch => panic!("it cannot be done"),
        }
    }
    assert_eq!(test.get("http://harbour.example/a").await.unwrap().status, 200);
}
