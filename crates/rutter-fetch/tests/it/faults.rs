//! Broken servers, each row of N06, and size limits.

use rutter_fetch::{
    BadResponse, ClientSettings, FailureCause, NetworkFault, Request, RequestPhase, ResourceKind,
    ResponseBody,
};
use rutter_testkit::server::{Fault, Framing, Reply};

use crate::{TestSite, body, cause, gaps, page, request, s, settings, url};

/// Settings with one attempt, so that a fault is not hidden by a retry.
fn once() -> TestSite {
    TestSite::with(ClientSettings { attempts: 1, ..settings() })
}

async fn fault(reply: Reply) -> FailureCause {
    let test = once();
    test.server.route("/a", [reply]);
    cause(test.get("http://harbour.example/a").await)
}

#[tokio::test] // N06
async fn applies_a_timeout_to_every_phase() {
    let late = |phase| move |cause: &FailureCause| matches!(cause, FailureCause::Network(NetworkFault::Timeout(it, _)) if *it == phase);
    let silent = fault(page("a").but(Fault::Silence)).await;
    assert!(late(RequestPhase::Headers)(&silent), "{silent:?}");
    let stalled = fault(page("abc").but(Fault::StallAfter(1))).await;
    assert!(late(RequestPhase::Idle)(&stalled), "{stalled:?}");
    // A byte every ten seconds is too slow.
    let drip = fault(page(&"x".repeat(100)).but(Fault::Dribble(1, s(10)))).await;
    assert!(late(RequestPhase::Crawl)(&drip), "{drip:?}");
    // Fast enough for the minimum speed, but not for the whole request.
    let long = page(&"x".repeat(4_000_000)).but(Fault::Dribble(40_000, s(20)));
    let long = fault(long).await;
    assert!(late(RequestPhase::Whole)(&long), "{long:?}");
}

#[tokio::test] // N06
async fn waits_for_a_slow_large_file() {
    let test = once();
    let long = page(&"x".repeat(1_600_000)).but(Fault::Dribble(16_000, s(20)));
    test.server.route("/all.scp", [long]);
    let ask = Request::new(url("http://harbour.example/all.scp"), ResourceKind::Collection);
    assert_eq!(test.client.fetch(&ask).await.unwrap().wire_bytes, 1_600_000);
}

#[tokio::test] // N06
async fn rejects_oversized_and_invalid_heads() {
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
            matches!(
                cause,
                FailureCause::Response(BadResponse::Head(_)) | FailureCause::Network(_)
            ),
            "{name}: {cause:?}"
        );
    }
}

#[tokio::test] // N06
async fn handles_wrong_content_lengths() {
    for (name, reply) in [
        ("shorter", page("abc").framed(Framing::Claimed(vec!["Content-Length: 10".into()]))),
        ("cut", page("abcdef").but(Fault::CutAfter(3))),
        ("reset", page("abcdef").but(Fault::ResetAfter(3))),
        ("chunks cut", page("abcdef").framed(Framing::Chunked).but(Fault::CutAfter(3))),
        ("hung up", page("abcdef").but(Fault::HangUp)),
    ] {
        let cause = fault(reply).await;
        assert!(matches!(cause, FailureCause::Network(_)), "{name}: {cause:?}");
    }
    // The bytes after the announced length are dropped.
    let test = once();
    let long = page("abcdef").framed(Framing::Claimed(vec!["Content-Length: 3".into()]));
    test.server.route("/a", [long]).route("/b", [page("b")]);
    assert_eq!(body(&test.get("http://harbour.example/a").await.unwrap()), b"abc");
    assert_eq!(body(&test.get("http://harbour.example/b").await.unwrap()), b"b");
    // Without a length, the body may have been cut off, which is reported.
    test.server.route("/c", [page("c").framed(Framing::Close)]);
    assert!(!test.get("http://harbour.example/c").await.unwrap().is_length_known);
    test.server.route("/d", [page("d")]).route("/e", [page("e").framed(Framing::Chunked)]);
    for path in ["d", "e"] {
        let answer = test.get(&format!("http://harbour.example/{path}")).await.unwrap();
        assert!(answer.is_length_known, "{path}");
    }
}

#[tokio::test] // D89
async fn limits_the_size_of_each_kind_of_file() {
    for (kind, max_bytes) in [
        (ResourceKind::Llms, 1_000_000),
        (ResourceKind::Policy, 256_000),
        (ResourceKind::SpxiIndex, 5_000_000),
        (ResourceKind::SpxiPacket, 1_000_000),
        (ResourceKind::Page, 10_000_000),
    ] {
        let test = once();
        let text = |n: u64| vec![b'x'; usize::try_from(n).unwrap()];
        // With a length, without a length, and endless.
        test.server
            .route("/fits", [Reply::ok("text/plain", text(max_bytes))])
            .route("/declared", [Reply::ok("text/plain", text(max_bytes + 1))])
            .route(
                "/chunks",
                [Reply::ok("text/plain", text(max_bytes + 1)).framed(Framing::Chunked)],
            )
            .route(
                "/endless",
                [Reply::ok("text/plain", text(65_536))
                    .framed(Framing::Chunked)
                    .but(Fault::Endless)],
            );
        let ask = |path: &str| Request::new(url(&format!("http://harbour.example/{path}")), kind);
        assert_eq!(test.client.fetch(&ask("fits")).await.unwrap().wire_bytes, max_bytes);
        for path in ["declared", "chunks", "endless"] {
            let cause = cause(test.client.fetch(&ask(path)).await);
            let limit = BadResponse::TooLarge { limit: max_bytes };
            assert!(
                matches!(&cause, FailureCause::Response(bad) if *bad == limit),
                "{path}: {cause:?}"
            );
        }
    }
}

#[tokio::test] // SCP-177 N10, D20
async fn limits_a_collection_to_its_advertised_size() {
    let test = once();
    test.server.route("/all.scp", [page("abcdef")]);
    let ask = Request::new(url("http://harbour.example/all.scp"), ResourceKind::Collection);
    let cause = cause(test.client.fetch(&Request { max_bytes: Some(5), ..ask.clone() }).await);
    assert!(matches!(cause, FailureCause::Response(BadResponse::TooLarge { .. })), "{cause:?}");
    let fine = test.client.fetch(&Request { max_bytes: Some(6), ..ask }).await.unwrap();
    // Each of the three sizes is reported.
    assert_eq!((fine.fields.length, fine.wire_bytes), (Some(6), 6));
    assert!(ResourceKind::Collection.size_limits().wire <= 50_000_000_000);
    assert!(ResourceKind::Collection.size_limits().decoded <= 500_000_000_000);
}

#[tokio::test] // D11
async fn retries_after_a_broken_connection() {
    let test = TestSite::new();
    test.server.route(
        "/a",
        [page("abc").but(Fault::CutAfter(1)), page("abc").but(Fault::HangUp), page("abc")],
    );
    let request = Request::new(url("http://harbour.example/a"), ResourceKind::Llms);
    let answer = test.client.fetch(&request).await.unwrap();
    assert_eq!(body(&answer), b"abc");
    // Bytes of failed attempts are counted, too.
    assert_eq!(answer.wire_bytes, 4);
    let seen = test.server.seen();
    let waits = gaps(seen.iter().filter(|seen| seen.path == "/a").map(|seen| seen.moment));
    assert!(s(30) <= waits[0] && s(60) <= waits[1], "{waits:?}");
}

#[tokio::test]
async fn does_not_pause_the_host_for_a_broken_page() {
    let test = TestSite::new();
    test.server.route("/once", [page("abc").but(Fault::CutAfter(1)), page("abc")]);
    test.server.route("/cut", [page("abc").but(Fault::CutAfter(1))]).route("/b", [page("b")]);
    assert_eq!(body(&test.get("http://harbour.example/once").await.unwrap()), b"abc");
    let cause = cause(test.get("http://harbour.example/cut").await);
    assert!(matches!(cause, FailureCause::Network(_)), "{cause:?}");
    assert_eq!(body(&test.get("http://harbour.example/b").await.unwrap()), b"b");
    let seen = test.server.seen();
    assert_eq!(seen.iter().filter(|seen| seen.path == "/cut").count(), 2);
    // At the usual delay, not slower.
    assert!(gaps(seen.iter().map(|seen| seen.moment)).iter().all(|gap| *gap < s(30)), "{seen:?}");
}

#[tokio::test]
async fn reconnects_after_an_idle_close_without_an_attempt() {
    let test = once();
    let quiet = page("a").with("Connection", "close");
    test.server.route("/a", [quiet]).route("/b", [page("b")]);
    test.get("http://harbour.example/a").await.unwrap();
    assert_eq!(body(&test.get("http://harbour.example/b").await.unwrap()), b"b");
}

#[tokio::test] // D74
async fn detects_soft_404_hosts() {
    let test = TestSite::new();
    test.server
        .fallback(page("<title>Home</title>"))
        .route("/robots.txt", [Reply::status(404)])
        .route("/x.json", [Reply::ok("application/json", "{}")]);
    let site = url("http://harbour.example/deep/page?q=1");
    let probe = test.client.probe_missing_page(&site).await.unwrap();
    assert!(probe.is_soft());
    let lost = test.get("http://harbour.example/arc-sitemap.json").await.unwrap();
    assert!(!probe.accepts(&lost, &body(&lost)));
    assert!(probe.is_missing_page(&body(&lost)));
    let real = test.get("http://harbour.example/x.json").await.unwrap();
    assert!(probe.accepts(&real, &body(&real)));
    let asked = test.requested_paths();
    assert!(asked[0].starts_with("/rutter-") && asked[0].len() == 24, "{asked:?}");
    // Two probes use two paths.
    test.client.probe_missing_page(&site).await.unwrap();
    assert_ne!(test.requested_paths().last(), asked.first());
    test.server.fallback(Reply::status(404));
    assert!(!test.client.probe_missing_page(&site).await.unwrap().is_soft());
}

#[tokio::test] // D74
async fn recognizes_the_missing_page_by_title_and_canonical_link() {
    let html = |title: &str, canonical: &str, rest: &str| {
        format!(
            "<!doctype html><html><head><meta name=nonce content={rest}><title>{title}</title>\
             <link rel=\"canonical\" href=\"{canonical}\"></head><body>{rest}</body></html>"
        )
    };
    let test = TestSite::new();
    test.server
        .fallback(page(&html("Harbour", "https://harbour.example/", "one")))
        .route("/robots.txt", [Reply::status(404)]);
    let probe = test.client.probe_missing_page(&url("http://harbour.example/")).await.unwrap();
    let is_lost =
        |title, canonical, rest| probe.is_missing_page(html(title, canonical, rest).as_bytes());
    // A nonce, a date, a repeated URL: still the same page.
    assert!(is_lost("Harbour", "https://harbour.example/", "two"));
    assert!(!is_lost("Tides", "https://harbour.example/", "one"));
    assert!(!is_lost("Harbour", "https://harbour.example/tides", "one"));
    // A feed with the title of the site is not a page.
    assert!(!probe.is_missing_page(b"<rss><channel><title>Harbour</title></channel></rss>"));
    // A probe of an earlier version has no path.
    let old = serde_json::json!({ "status": 200, "page": probe.page });
    let old: rutter_fetch::MissingPageProbe = serde_json::from_value(old).unwrap();
    assert!(old.is_missing_page(html("Harbour", "https://harbour.example/", "two").as_bytes()));

    // A page that repeats the URL in its title and its canonical link.
    let path = test.requested_paths().remove(0);
    let echo = |path: &str| {
        html(&format!("Harbour: no {path}"), &format!("https://harbour.example{path}"), path)
    };
    let probe = rutter_fetch::MissingPageProbe { status: 200, page: echo(&path).into(), path };
    assert!(probe.is_missing_page(echo("/arc-sitemap.json").as_bytes()));
    let real = html("Tides of the bay", "https://harbour.example/tides", "");
    assert!(!probe.is_missing_page(real.as_bytes()));
}

#[tokio::test] // F01 F05
async fn reports_disk_errors() {
    let test = TestSite::new();
    let folder = tempfile::tempdir().unwrap();
    test.server.route("/all.scp", [Reply::file("application/scp", "\"1\"", vec![b'x'; 200_000])]);
    let full = folder.path().join("full");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let ask = Request::new(url("http://harbour.example/all.scp"), ResourceKind::Collection);
    let cause_of = |spool: std::path::PathBuf| {
        let ask = Request { spool: Some(spool), ..ask.clone() };
        let client = test.client.clone();
        async move { cause(client.fetch(&ask).await) }
    };
    let cause = cause_of(full.clone()).await;
    assert!(matches!(cause, FailureCause::Spool(_)), "{cause:?}");
    // No file is left behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    for bad in [folder.path().join("no/such/folder"), folder.path().to_owned()] {
        let cause = cause_of(bad).await;
        assert!(matches!(cause, FailureCause::Spool(_)), "{cause:?}");
    }
    assert!(folder.path().is_dir());
    let good = Request { spool: Some(folder.path().join("good")), ..ask.clone() };
    let answer = test.client.fetch(&good).await.unwrap();
    assert!(matches!(answer.body, ResponseBody::Spooled { length: 200_000, .. }));
}

#[tokio::test] // SCP-209
async fn shows_urls_without_secrets() {
    let test = once();
    let error = test.client.fetch(&request("http://u:p@harbour.example/a?token=t&b=c")).await;
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "http://harbour.example/a?token=…&b=c");
    assert!(!format!("{error:?} {:?}", test.events()).contains("=t"));
}
