//! robots.txt: what each way of failing means.

use rutter_fetch::{Cause, Refused, RobotsReason, RobotsRules};
use rutter_testkit::server::{Fault, Reply};

use crate::{Bay, cause, page, s, url};

const NO: &str = "user-agent: *\ndisallow: /\n";

async fn is_open(bay: &Bay) -> bool {
    match bay.get("http://harbour.example/a").await {
        Ok(answer) => answer.status == 200,
        Err(error) => {
            // A host that cannot be reached says so itself, the first time.
            let is_robots = matches!(error.cause, Cause::Refused(Refused::Robots(_)));
            assert!(is_robots || matches!(error.cause, Cause::Network(_)), "{error:?}");
            false
        }
    }
}

#[tokio::test] // ARC-033, D14 of reliability.md, RFC 9309 2.3.1
async fn spec_what_each_answer_means() {
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
        let bay = Bay::new();
        bay.server.route("/robots.txt", [reply]).route("/a", [page("a")]);
        assert_eq!(is_open(&bay).await, wanted, "{name}");
        assert_eq!(bay.asked().len(), usize::from(wanted), "{name}");
    }
}

#[tokio::test] // RFC 9309 2.3.1.2
async fn spec_redirects_of_robots() {
    for (hops, wanted) in [(5, false), (6, true)] {
        let bay = Bay::new();
        bay.server.route("/a", [page("a")]);
        for n in 0..hops {
            let from = if n == 0 { "/robots.txt".to_owned() } else { format!("/r{n}") };
            bay.server.route(&from, [Reply::redirect(302, &format!("/r{}", n + 1))]);
        }
        bay.server.route(&format!("/r{hops}"), [Reply::ok("text/plain", NO)]);
        assert_eq!(is_open(&bay).await, wanted, "{hops}");
    }
    // To another host: its file speaks for the host that was asked.
    let bay = Bay::new();
    bay.names.add("cdn.harbour.example", &[crate::HARBOUR]);
    bay.server
        .route("harbour.example/robots.txt", [Reply::redirect(301, "http://cdn.harbour.example/r")])
        .route("cdn.harbour.example/r", [Reply::ok("text/plain", NO)])
        .route("/a", [page("a")]);
    assert!(!is_open(&bay).await);
    assert!(bay.get("http://cdn.harbour.example/a").await.is_ok());
}

#[tokio::test] // D14 D15 of reliability.md, RFC 9309 2.4
async fn spec_a_copy_is_kept_for_a_day() {
    let bay = Bay::new();
    let open = Reply::ok("text/plain", "user-agent: *\nallow: /\n");
    bay.server.route("/robots.txt", [open, Reply::ok("text/plain", NO)]).route("/a", [page("a")]);
    assert!(is_open(&bay).await);
    bay.clock.advance(s(86_399));
    assert!(is_open(&bay).await);
    bay.clock.advance(s(1));
    // It changed in mid-crawl, and is obeyed within a day.
    assert!(!is_open(&bay).await);
    assert_eq!(bay.server.paths().iter().filter(|path| *path == "/robots.txt").count(), 2);
}

#[tokio::test] // D14 of reliability.md, RFC 9309 2.3.1.4
async fn spec_while_it_cannot_be_had_the_copy_counts_for_a_day() {
    let bay = Bay::new();
    let open = Reply::ok("text/plain", "user-agent: *\ndisallow: /b\n")
        .with("Cache-Control", "max-age=7200");
    bay.server
        .route("/robots.txt", [open, Reply::status(500)])
        .route("/a", [page("a")])
        .route("/b", [page("b")]);
    assert!(is_open(&bay).await);
    bay.clock.advance(s(7201));
    // Asked again, broken; the copy still tells.
    assert!(is_open(&bay).await);
    let b = cause(bay.get("http://harbour.example/b").await);
    let rule = RobotsReason::Rule { line: 2, pattern: "/b".into() };
    assert!(matches!(b, Cause::Refused(Refused::Robots(reason)) if reason == rule));
    bay.clock.advance(s(86_400 - 7201));
    assert!(!is_open(&bay).await);
    // And it is not asked for at every turn.
    let n = bay.server.paths().len();
    assert!(!is_open(&bay).await);
    assert_eq!(bay.server.paths().len(), n);
    bay.server.route("/robots.txt", [Reply::status(404)]);
    bay.clock.advance(s(300));
    assert!(is_open(&bay).await);
}

#[tokio::test]
async fn ours_a_copy_goes_from_one_run_to_the_next() {
    let bay = Bay::new();
    let file = Reply::file("text/plain", "\"r1\"", NO);
    bay.server.route("/robots.txt", [file]).route("/a", [page("a")]);
    assert!(!is_open(&bay).await);
    let site = url("http://harbour.example/");
    let kept = bay.client.robots_file(&site).await.unwrap();
    let next = bay.fresh_client(bay.settings.clone());
    next.keep_robots(&site, kept.clone()).await;
    assert!(matches!(next.robots(&site).await.unwrap(), RobotsRules::Rules(_)));
    assert_eq!(bay.server.seen().len(), 1);
    // After a day it is asked for again, with its validator.
    bay.clock.advance(s(86_400));
    let next = bay.fresh_client(bay.settings.clone());
    next.keep_robots(&site, kept).await;
    assert!(next.may_fetch(&url("http://harbour.example/a")).await.is_err());
    let seen = bay.server.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[1].header("if-none-match"), Some("\"r1\""));
    // A copy from the future is not believed.
    let mut odd = next.robots_file(&site).await.unwrap();
    odd.fetched = odd.fetched.plus_seconds(86_400 * 365);
    let next = bay.fresh_client(bay.settings.clone());
    next.keep_robots(&site, odd).await;
    next.robots(&site).await.unwrap();
    assert_eq!(bay.server.seen().len(), 3);
}

#[tokio::test] // D13
async fn ours_each_host_and_port_has_its_own() {
    let bay = Bay::new();
    bay.names.add("cdn.harbour.example", &[crate::HARBOUR]);
    bay.lines.lead(&format!("{}:8080", crate::HARBOUR), bay.server.address());
    bay.server
        .route("cdn.harbour.example/robots.txt", [Reply::ok("text/plain", NO)])
        .route("/a", [page("a")]);
    assert!(is_open(&bay).await);
    assert!(bay.get("http://harbour.example:8080/a").await.is_ok());
    let collection = rutter_fetch::Request::new(
        url("http://cdn.harbour.example/all.scp"),
        rutter_fetch::What::Collection,
    );
    let refused = cause(bay.client.fetch(&collection).await);
    assert!(matches!(refused, Cause::Refused(Refused::Robots(_))));
    let hosts: Vec<_> = bay
        .server
        .seen()
        .iter()
        .filter(|seen| seen.path == "/robots.txt")
        .map(|seen| seen.header("host").unwrap().to_owned())
        .collect();
    assert_eq!(hosts, ["harbour.example", "harbour.example:8080", "cdn.harbour.example"]);
}
