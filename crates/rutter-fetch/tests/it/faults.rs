//! Servers that break: each row of D06 of reliability.md, and what is too much.

use rutter_fetch::{BadAnswer, Body, Cause, NetworkFault, Phase, Request, Settings, What};
use rutter_testkit::server::{Fault, Framing, Reply};

use crate::{Bay, body, cause, gaps, page, request, s, settings, url};

/// One try, so that a fault is seen and not mended.
fn once() -> Bay {
    Bay::with(Settings { tries: 1, ..settings() })
}

async fn fault(reply: Reply) -> Cause {
    let bay = once();
    bay.server.route("/a", [reply]);
    cause(bay.get("http://harbour.example/a").await)
}

#[tokio::test] // D06 of reliability.md
async fn ours_every_phase_has_its_deadline() {
    let late = |phase| move |cause: &Cause| matches!(cause, Cause::Network(NetworkFault::Deadline(it, _)) if *it == phase);
    let silent = fault(page("a").but(Fault::Silence)).await;
    assert!(late(Phase::Headers)(&silent), "{silent:?}");
    let stalled = fault(page("abc").but(Fault::StallAfter(1))).await;
    assert!(late(Phase::Idle)(&stalled), "{stalled:?}");
    // A byte every ten seconds never stops, and is stopped.
    let drip = fault(page(&"x".repeat(100)).but(Fault::Dribble(1, s(10)))).await;
    assert!(late(Phase::Crawl)(&drip), "{drip:?}");
    // Fast enough for its window, and yet for ever.
    let long = page(&"x".repeat(4_000_000)).but(Fault::Dribble(40_000, s(20)));
    let long = fault(long).await;
    assert!(late(Phase::Whole)(&long), "{long:?}");
}

#[tokio::test] // D06 of reliability.md
async fn ours_a_slow_large_file_is_waited_for() {
    let bay = once();
    let long = page(&"x".repeat(1_600_000)).but(Fault::Dribble(16_000, s(20)));
    bay.server.route("/all.scp", [long]);
    let ask = Request::new(url("http://harbour.example/all.scp"), What::Collection);
    assert_eq!(bay.client.fetch(&ask).await.unwrap().wire_bytes, 1_600_000);
}

#[tokio::test] // D06 of reliability.md
async fn ours_heads_without_measure() {
    let raw = |text: String| Reply::status(200).but(Fault::Raw(text.into_bytes()));
    let line = |n: usize| format!("X-{n}: {}\r\n", "y".repeat(100));
    for (name, text) in [
        ("one field without end", format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(10_000_000))),
        (
            "many fields",
            format!("HTTP/1.1 200 OK\r\n{}\r\n", (0..100_000).map(line).collect::<String>()),
        ),
        ("no http", "SSH-2.0-OpenSSH\r\n\r\n".to_owned()),
        ("bad status", "HTTP/1.1 abc OK\r\n\r\n".to_owned()),
        (
            "two lengths",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab".to_owned(),
        ),
        ("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nab".to_owned()),
        (
            "a length beyond all",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nab".to_owned(),
        ),
        (
            "a chunk beyond all",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\nab"
                .to_owned(),
        ),
        (
            "a chunk that is none",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nab".to_owned(),
        ),
        ("nothing", String::new()),
    ] {
        let cause = fault(raw(text)).await;
        assert!(
            matches!(cause, Cause::Answer(BadAnswer::Head(_)) | Cause::Network(_)),
            "{name}: {cause:?}"
        );
    }
}

#[tokio::test] // D06 of reliability.md
async fn ours_bodies_that_are_not_what_they_promise() {
    for (name, reply) in [
        ("shorter", page("abc").framed(Framing::Claimed(vec!["Content-Length: 10".into()]))),
        ("cut", page("abcdef").but(Fault::CutAfter(3))),
        ("reset", page("abcdef").but(Fault::ResetAfter(3))),
        ("chunks cut", page("abcdef").framed(Framing::Chunked).but(Fault::CutAfter(3))),
        ("hung up", page("abcdef").but(Fault::HangUp)),
    ] {
        let cause = fault(reply).await;
        assert!(matches!(cause, Cause::Network(_)), "{name}: {cause:?}");
    }
    // Longer than promised: the rest is nobody's.
    let bay = once();
    let long = page("abcdef").framed(Framing::Claimed(vec!["Content-Length: 3".into()]));
    bay.server.route("/a", [long]).route("/b", [page("b")]);
    assert_eq!(body(&bay.get("http://harbour.example/a").await.unwrap()), b"abc");
    assert_eq!(body(&bay.get("http://harbour.example/b").await.unwrap()), b"b");
    // Without any length it may have been cut, and that is told.
    bay.server.route("/c", [page("c").framed(Framing::Close)]);
    assert!(!bay.get("http://harbour.example/c").await.unwrap().is_length_known);
    bay.server.route("/d", [page("d")]).route("/e", [page("e").framed(Framing::Chunked)]);
    for path in ["d", "e"] {
        let answer = bay.get(&format!("http://harbour.example/{path}")).await.unwrap();
        assert!(answer.is_length_known, "{path}");
    }
}

#[tokio::test] // D89
async fn ours_each_kind_of_file_has_its_size() {
    for (what, most) in [
        (What::Llms, 1_000_000),
        (What::Policy, 256_000),
        (What::SpxiIndex, 5_000_000),
        (What::SpxiPacket, 1_000_000),
        (What::Page, 10_000_000),
    ] {
        let bay = once();
        let text = |n: u64| vec![b'x'; usize::try_from(n).unwrap()];
        // Declared, undeclared, and without end.
        bay.server
            .route("/fits", [Reply::ok("text/plain", text(most))])
            .route("/declared", [Reply::ok("text/plain", text(most + 1))])
            .route("/chunks", [Reply::ok("text/plain", text(most + 1)).framed(Framing::Chunked)])
            .route(
                "/endless",
                [Reply::ok("text/plain", text(65_536))
                    .framed(Framing::Chunked)
                    .but(Fault::Endless)],
            );
        let ask = |path: &str| Request::new(url(&format!("http://harbour.example/{path}")), what);
        assert_eq!(bay.client.fetch(&ask("fits")).await.unwrap().wire_bytes, most);
        for path in ["declared", "chunks", "endless"] {
            let cause = cause(bay.client.fetch(&ask(path)).await);
            let limit = BadAnswer::TooLarge { limit: most };
            assert!(matches!(&cause, Cause::Answer(bad) if *bad == limit), "{path}: {cause:?}");
        }
    }
}

#[tokio::test] // SCP-177 D10 of reliability.md, D20
async fn spec_an_advertised_size_bounds_a_collection() {
    let bay = once();
    bay.server.route("/all.scp", [page("abcdef")]);
    let ask = Request::new(url("http://harbour.example/all.scp"), What::Collection);
    let cause = cause(bay.client.fetch(&Request { most: Some(5), ..ask.clone() }).await);
    assert!(matches!(cause, Cause::Answer(BadAnswer::TooLarge { .. })), "{cause:?}");
    let fine = bay.client.fetch(&Request { most: Some(6), ..ask }).await.unwrap();
    // The three that may differ are all told.
    assert_eq!((fine.fields.length, fine.wire_bytes), (Some(6), 6));
    assert!(What::Collection.sizes().wire <= 50_000_000_000);
    assert!(What::Collection.sizes().decoded <= 500_000_000_000);
}

#[tokio::test] // D11
async fn ours_a_broken_connection_is_tried_again() {
    let bay = Bay::new();
    bay.server.route(
        "/a",
        [page("abc").but(Fault::CutAfter(1)), page("abc").but(Fault::HangUp), page("abc")],
    );
    let request = Request::new(url("http://harbour.example/a"), What::Llms);
    let answer = bay.client.fetch(&request).await.unwrap();
    assert_eq!(body(&answer), b"abc");
    // What came in vain is counted, too.
    assert_eq!(answer.wire_bytes, 4);
    let seen = bay.server.seen();
    let waits = gaps(seen.iter().filter(|seen| seen.path == "/a").map(|seen| seen.moment));
    assert!(s(30) <= waits[0] && s(60) <= waits[1], "{waits:?}");
}

#[tokio::test]
async fn ours_a_page_that_breaks_off_holds_no_other_up() {
    let bay = Bay::new();
    bay.server.route("/once", [page("abc").but(Fault::CutAfter(1)), page("abc")]);
    bay.server.route("/cut", [page("abc").but(Fault::CutAfter(1))]).route("/b", [page("b")]);
    assert_eq!(body(&bay.get("http://harbour.example/once").await.unwrap()), b"abc");
    let cause = cause(bay.get("http://harbour.example/cut").await);
    assert!(matches!(cause, Cause::Network(_)), "{cause:?}");
    assert_eq!(body(&bay.get("http://harbour.example/b").await.unwrap()), b"b");
    let seen = bay.server.seen();
    assert_eq!(seen.iter().filter(|seen| seen.path == "/cut").count(), 2);
    // At the usual pace, and no slower.
    assert!(gaps(seen.iter().map(|seen| seen.moment)).iter().all(|gap| *gap < s(30)), "{seen:?}");
}

#[tokio::test]
async fn ours_a_server_that_closed_meanwhile_costs_no_try() {
    let bay = once();
    let quiet = page("a").with("Connection", "close");
    bay.server.route("/a", [quiet]).route("/b", [page("b")]);
    bay.get("http://harbour.example/a").await.unwrap();
    assert_eq!(body(&bay.get("http://harbour.example/b").await.unwrap()), b"b");
}

#[tokio::test] // D74
async fn ours_hosts_that_have_everything() {
    let bay = Bay::new();
    bay.server
        .fallback(page("<title>Home</title>"))
        .route("/robots.txt", [Reply::status(404)])
        .route("/x.json", [Reply::ok("application/json", "{}")]);
    let site = url("http://harbour.example/deep/page?q=1");
    let probe = bay.client.probe(&site).await.unwrap();
    assert!(probe.is_soft());
    let lost = bay.get("http://harbour.example/arc-sitemap.json").await.unwrap();
    assert!(!probe.believes(&lost, &body(&lost)));
    assert!(probe.is_lost_page(&body(&lost)));
    let real = bay.get("http://harbour.example/x.json").await.unwrap();
    assert!(probe.believes(&real, &body(&real)));
    let asked = bay.asked();
    assert!(asked[0].starts_with("/rutter-") && asked[0].len() == 24, "{asked:?}");
    // Two probes ask for two addresses.
    bay.client.probe(&site).await.unwrap();
    assert_ne!(bay.asked().last(), asked.first());
    bay.server.fallback(Reply::status(404));
    assert!(!bay.client.probe(&site).await.unwrap().is_soft());
}

#[tokio::test] // D74
async fn ours_the_page_for_lost_visitors_is_known_by_what_it_calls_itself() {
    let html = |title: &str, canonical: &str, rest: &str| {
        format!(
            "<!doctype html><html><head><meta name=nonce content={rest}><title>{title}</title>\
             <link rel=\"canonical\" href=\"{canonical}\"></head><body>{rest}</body></html>"
        )
    };
    let bay = Bay::new();
    bay.server
        .fallback(page(&html("Harbour", "https://harbour.example/", "one")))
        .route("/robots.txt", [Reply::status(404)]);
    let probe = bay.client.probe(&url("http://harbour.example/")).await.unwrap();
    let is_lost =
        |title, canonical, rest| probe.is_lost_page(html(title, canonical, rest).as_bytes());
    // A nonce, a date, an address that is repeated: still the same page.
    assert!(is_lost("Harbour", "https://harbour.example/", "two"));
    assert!(!is_lost("Tides", "https://harbour.example/", "one"));
    assert!(!is_lost("Harbour", "https://harbour.example/tides", "one"));
    // A feed that is called like the site is no page.
    assert!(!probe.is_lost_page(b"<rss><channel><title>Harbour</title></channel></rss>"));
    // A probe from an earlier version knows no path.
    let old = serde_json::json!({ "status": 200, "page": probe.page });
    let old: rutter_fetch::Probe = serde_json::from_value(old).unwrap();
    assert!(old.is_lost_page(html("Harbour", "https://harbour.example/", "two").as_bytes()));

    // One that repeats the address in everything it says.
    let path = bay.asked().remove(0);
    let echo = |path: &str| {
        html(&format!("Harbour: no {path}"), &format!("https://harbour.example{path}"), path)
    };
    let probe = rutter_fetch::Probe { status: 200, page: echo(&path).into(), path };
    assert!(probe.is_lost_page(echo("/arc-sitemap.json").as_bytes()));
    let real = html("Tides of the bay", "https://harbour.example/tides", "");
    assert!(!probe.is_lost_page(real.as_bytes()));
}

#[tokio::test] // F01 F05 of reliability.md
async fn ours_a_disk_that_says_no() {
    let bay = Bay::new();
    let folder = tempfile::tempdir().unwrap();
    bay.server.route("/all.scp", [Reply::file("application/scp", "\"1\"", vec![b'x'; 200_000])]);
    let full = folder.path().join("full");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let ask = Request::new(url("http://harbour.example/all.scp"), What::Collection);
    let cause_of = |spool: std::path::PathBuf| {
        let ask = Request { spool: Some(spool), ..ask.clone() };
        let client = bay.client.clone();
        async move { cause(client.fetch(&ask).await) }
    };
    let cause = cause_of(full.clone()).await;
    assert!(matches!(cause, Cause::Spool(_)), "{cause:?}");
    // Nothing stays behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    for bad in [folder.path().join("no/such/folder"), folder.path().to_owned()] {
        let cause = cause_of(bad).await;
        assert!(matches!(cause, Cause::Spool(_)), "{cause:?}");
    }
    assert!(folder.path().is_dir());
    let good = Request { spool: Some(folder.path().join("good")), ..ask.clone() };
    let answer = bay.client.fetch(&good).await.unwrap();
    assert!(matches!(answer.body, Body::Spooled { length: 200_000, .. }));
}

#[tokio::test] // SCP-209
async fn ours_addresses_are_shown_without_secrets() {
    let bay = once();
    let error = bay.client.fetch(&request("http://u:p@harbour.example/a?token=t&b=c")).await;
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "http://harbour.example/a?token=…&b=c");
    assert!(!format!("{error:?} {:?}", bay.events()).contains("=t"));
}
