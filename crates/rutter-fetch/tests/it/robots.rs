//! robots.txt: the effect of each response and failure.

use rutter_fetch::{FailureCause, RequestRefusal, RobotsReason, RobotsRules};
use rutter_testkit::server::{Fault, Reply};

use crate::{TestSite, cause, page, s, url};

const NO: &str = "user-agent: *\ndisallow: /\n";

async fn is_open(test: &TestSite) -> bool {
    match test.get("http://harbour.example/a").await {
        Ok(answer) => answer.status == 200,
        Err(error) => {
            // A host that cannot be reached reports its own error the first time.
            let is_robots = matches!(error.cause, FailureCause::Refused(RequestRefusal::Robots(_)));
            assert!(is_robots || matches!(error.cause, FailureCause::Network(_)), "{error:?}");
            false
        }
    }
}

#[tokio::test] // ARC-033, N14, RFC 9309 2.3.1
async fn evaluates_every_status() {
    let text = |text: &str| Reply::ok("text/plain", text);
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(NO.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let long = format!("#{}\n{NO}", "x".repeat(501_675));
    let beyond = format!("{}{NO}", "# nothing\n".repeat(60_000));
    for (name, reply, wanted) in [
        ("rules", text(NO), false),
        ("rules for others", text("user-agent: other\ndisallow: /\n"), true),
        (
            "rules for us",
            text("user-agent: *\nallow: /\n\nuser-agent: RUTTER\ndisallow: /a"),
            false,
        ),
        ("absent", Reply::status(404), true),
        ("forbidden", Reply::status(403), true),
        ("gone", Reply::status(410), true),
        ("broken", Reply::status(500), false),
        ("bad gateway", Reply::status(502), false),
        ("silent", Reply::status(200).but(Fault::Silence), false),
        ("hung up", Reply::status(200).but(Fault::HangUp), false),
        ("cut", text(NO).but(Fault::CutAfter(5)), false),
        ("a page", page("<!doctype html><p>Disallow: /</p>"), true),
        (
            "gzip",
            Reply::ok("text/plain", rutter_testkit::gzip(NO.as_bytes()))
                .with("Content-Encoding", "gzip"),
            false,
        ),
        ("utf-16", Reply::ok("text/plain", utf16), false),
        ("NUL", text(&format!("\0\0\n{NO}")), false),
        ("a long line", text(&long), false),
        ("beyond 500 KiB", text(&beyond), true),
        ("unknown coding", text(NO).with("Content-Encoding", "br"), false),
    ] {
        let test = TestSite::new();
        test.server.route("/robots.txt", [reply]).route("/a", [page("a")]);
        assert_eq!(is_open(&test).await, wanted, "{name}");
        assert_eq!(test.requested_paths().len(), usize::from(wanted), "{name}");
    }
}

#[tokio::test] // RFC 9309 2.3.1.2
async fn follows_redirects_of_robots() {
    for (hops, wanted) in [(5, false), (6, true)] {
        let test = TestSite::new();
        test.server.route("/a", [page("a")]);
        for n in 0..hops {
            let from = if n == 0 { "/robots.txt".to_owned() } else { format!("/r{n}") };
            test.server.route(&from, [Reply::redirect(302, &format!("/r{}", n + 1))]);
        }
        test.server.route(&format!("/r{hops}"), [Reply::ok("text/plain", NO)]);
        assert_eq!(is_open(&test).await, wanted, "{hops}");
    }
    // A redirect to another host: its file applies to the requested host.
    let test = TestSite::new();
    test.names.add("cdn.harbour.example", &[crate::HARBOUR]);
    test.server
        .route("harbour.example/robots.txt", [Reply::redirect(301, "http://cdn.harbour.example/r")])
        .route("cdn.harbour.example/r", [Reply::ok("text/plain", NO)])
        .route("/a", [page("a")]);
    assert!(!is_open(&test).await);
    assert!(test.get("http://cdn.harbour.example/a").await.is_ok());
}

#[tokio::test] // N14 N15, RFC 9309 2.4
async fn caches_robots_for_a_day() {
    let test = TestSite::new();
    let open = Reply::ok("text/plain", "user-agent: *\nallow: /\n");
    test.server.route("/robots.txt", [open, Reply::ok("text/plain", NO)]).route("/a", [page("a")]);
    assert!(is_open(&test).await);
    test.clock.advance(s(86_399));
    assert!(is_open(&test).await);
    test.clock.advance(s(1));
    // The file changes during the crawl and is obeyed within a day.
    assert!(!is_open(&test).await);
    assert_eq!(test.server.paths().iter().filter(|path| *path == "/robots.txt").count(), 2);
}

#[tokio::test] // N14, RFC 9309 2.3.1.4
async fn uses_the_copy_for_a_day_during_failures() {
    let test = TestSite::new();
    let open = Reply::ok("text/plain", "user-agent: *\ndisallow: /b\n")
        .with("Cache-Control", "max-age=7200");
    test.server
        .route("/robots.txt", [open, Reply::status(500)])
        .route("/a", [page("a")])
        .route("/b", [page("b")]);
    assert!(is_open(&test).await);
    test.clock.advance(s(7201));
    // The new request fails; the copy still applies.
    assert!(is_open(&test).await);
    let b = cause(test.get("http://harbour.example/b").await);
    let rule = RobotsReason::Rule { line: 2, pattern: "/b".into() };
    assert!(matches!(b, FailureCause::Refused(RequestRefusal::Robots(reason)) if reason == rule));
    test.clock.advance(s(86_400 - 7201));
    assert!(!is_open(&test).await);
    // The file is not requested for every page.
    let n = test.server.paths().len();
    assert!(!is_open(&test).await);
    assert_eq!(test.server.paths().len(), n);
    test.server.route("/robots.txt", [Reply::status(404)]);
    test.clock.advance(s(300));
    assert!(is_open(&test).await);
}

#[tokio::test]
async fn restores_a_copy_from_the_previous_run() {
    let test = TestSite::new();
    let file = Reply::file("text/plain", "\"r1\"", NO);
    test.server.route("/robots.txt", [file]).route("/a", [page("a")]);
    assert!(!is_open(&test).await);
    let site = url("http://harbour.example/");
    let kept = test.client.robots_file(&site).await.unwrap();
    let next = test.fresh_client(test.settings.clone());
    next.restore_robots(&site, kept.clone()).await;
    assert!(matches!(next.robots_rules(&site).await.unwrap(), RobotsRules::Rules(_)));
    assert_eq!(test.server.seen().len(), 1);
    // After a day it is requested again, with its validator.
    test.clock.advance(s(86_400));
    let next = test.fresh_client(test.settings.clone());
    next.restore_robots(&site, kept).await;
    assert!(next.check_allowed(&url("http://harbour.example/a")).await.is_err());
    let seen = test.server.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1].header("if-none-match"), Some("\"r1\""));
    // A copy with a future date is ignored.
    let mut odd = next.robots_file(&site).await.unwrap();
    odd.fetched = odd.fetched.plus_seconds(86_400 * 365);
    let next = test.fresh_client(test.settings.clone());
    next.restore_robots(&site, odd).await;
    next.robots_rules(&site).await.unwrap();
    assert_eq!(test.server.seen().len(), 3);
}

#[tokio::test] // D13
async fn keeps_robots_per_host_and_port() {
    let test = TestSite::new();
    test.names.add("cdn.harbour.example", &[crate::HARBOUR]);
    test.lines.route(&format!("{}:8080", crate::HARBOUR), test.server.address());
    test.server
        .route("cdn.harbour.example/robots.txt", [Reply::ok("text/plain", NO)])
        .route("/a", [page("a")]);
    assert!(is_open(&test).await);
    assert!(test.get("http://harbour.example:8080/a").await.is_ok());
    let collection = rutter_fetch::Request::new(
        url("http://cdn.harbour.example/all.scp"),
        rutter_fetch::ResourceKind::Collection,
    );
    let refused = cause(test.client.fetch(&collection).await);
    assert!(matches!(refused, FailureCause::Refused(RequestRefusal::Robots(_))));
    let hosts: Vec<_> = test
        .server
        .seen()
        .iter()
        .filter(|seen| seen.path == "/robots.txt")
        .map(|seen| seen.header("host").unwrap().to_owned())
        .collect();
    assert_eq!(hosts, ["harbour.example", "harbour.example:8080", "cdn.harbour.example"]);
}
