//! Resumed downloads: parts are joined correctly, or the file is fetched again.

use std::path::PathBuf;

use proptest::test_runner::{Config, TestRunner};
use rutter_fetch::{
    ClientSettings, Clock as _, FailureCause, FetchEvent, FetchedResponse, NetworkFault, Request,
    ResourceKind, ResponseBody,
};
use rutter_page::Digest;
use rutter_testkit::server::{Fault, RecordedRequest, Reply};

use crate::{TestSite, settings, url};

const TAG: &str = "\"v1\"";

/// Returns bytes that differ from their neighbors.
fn content(length: u32, salt: u32) -> Vec<u8> {
    (0..length)
        .map(|n| (n.wrapping_mul(2_654_435_761).wrapping_add(salt) >> 13).to_le_bytes()[0])
        .collect()
}

struct ResumedDownload {
    test: TestSite,
    folder: tempfile::TempDir,
}

impl ResumedDownload {
    fn new() -> Self {
        Self { test: TestSite::new(), folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("all.scp")
    }

    fn request(&self) -> Request {
        let ask = Request::new(url("http://harbour.example/all.scp"), ResourceKind::Collection);
        Request { spool: Some(self.path()), ..ask }
    }

    async fn fetch(&self) -> FetchedResponse {
        self.test.client.fetch(&self.request()).await.unwrap()
    }

    fn assert_is(&self, answer: &FetchedResponse, wanted: &[u8]) {
        let bytes = std::fs::read(self.path()).unwrap();
        assert!(bytes == wanted, "{} bytes, wanted {}", bytes.len(), wanted.len());
        assert_eq!(answer.digest, Some(Digest::of(wanted)));
        let length = wanted.len() as u64;
        assert_eq!(answer.body, ResponseBody::Spooled { path: self.path(), length });
        assert_eq!(answer.status, 200);
        assert_eq!(std::fs::read_dir(self.folder.path()).unwrap().count(), 1);
    }

    fn ranges(&self) -> Vec<Option<String>> {
        let seen = self.test.server.seen();
        let files = seen.iter().filter(|seen| seen.path == "/all.scp");
        files.map(|seen| seen.header("range").map(str::to_owned)).collect()
    }
}

fn whole(bytes: &[u8]) -> Reply {
    Reply::file("application/scp", TAG, bytes)
}

#[tokio::test] // D11, N07
async fn resumes_after_fifty_broken_connections() {
    let download = ResumedDownload::new();
    let bytes = content(1_000_000, 0);
    let copy = bytes.clone();
    let n = std::sync::atomic::AtomicU32::new(0);
    download.test.server.route_by("/all.scp", move |_| {
        let n = n.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let some = usize::try_from(1 + n.wrapping_mul(7919) % 17_000).unwrap();
        let fault =
            if n.is_multiple_of(2) { Fault::CutAfter(some) } else { Fault::ResetAfter(some) };
        if n < 50 { whole(&copy).but(fault) } else { whole(&copy) }
    });
    let answer = download.fetch().await;
    download.assert_is(&answer, &bytes);
    assert!(answer.wire_bytes <= 1_100_000, "{}", answer.wire_bytes);
    assert_eq!(download.test.server.seen().len(), 52);
    assert!(download.test.events().iter().any(|event| matches!(event, FetchEvent::Resumed { .. })));
}

#[tokio::test] // N06
async fn gives_up_a_collection_below_the_minimum_rate_and_resumes_it_later() {
    let download = ResumedDownload::new();
    let bytes = content(100_000, 0);
    let n_slow = 3;
    let copy = bytes.clone();
    let n = std::sync::atomic::AtomicU32::new(0);
    download.test.server.route_by("/all.scp", move |_| {
        let n = n.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if n < n_slow { whole(&copy).but(Fault::Dribble(1, crate::s(1))) } else { whole(&copy) }
    });
    let begun = download.test.clock.monotonic();
    for n_asked in 1..=n_slow {
        let error = download.test.client.fetch(&download.request()).await.unwrap_err();
        let FailureCause::Network(fault) = &error.cause else { panic!("{error:?}") };
        assert_eq!(fault.to_string(), "the body arrived at less than 1 KiB/s for 30 s");
        assert_eq!(download.ranges().len(), usize::try_from(n_asked).unwrap());
    }
    let took = download.test.clock.monotonic().checked_sub(begun).unwrap();
    assert!(took < crate::s(n_slow.into()) * 40, "{took:?}");
    let answer = download.fetch().await;
    download.assert_is(&answer, &bytes);
    assert!(download.ranges().iter().skip(1).all(Option::is_some), "{:?}", download.ranges());
}

#[test] // D11, N07
fn resumes_from_any_offset() {
    let mut runner = TestRunner::new_with_rng(
        Config { cases: 50, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runner
        .run(&(0usize..5000), |at| {
            runtime.block_on(async {
                let download = ResumedDownload::new();
                let bytes = content(5000, 3);
                let cut = whole(&bytes).but(Fault::CutAfter(at));
                download.test.server.route("/all.scp", [cut, whole(&bytes)]);
                let answer = download.fetch().await;
                download.assert_is(&answer, &bytes);
                assert!(answer.wire_bytes <= 5000);
            });
            Ok(())
        })
        .unwrap();
}

/// Responses to a range request, and the number of requests each one causes.
#[tokio::test] // N08
async fn handles_every_response_to_a_range_request() {
    let bytes = content(100, 0);
    let part = |range: &str, body: &[u8]| {
        let mut reply =
            Reply::ok("application/scp", body).with("ETag", TAG).with("Content-Range", range);
        reply.status = 206;
        reply
    };
    let unsatisfied = |range: &str| Reply::status(416).with("Content-Range", range);
    let rest = &bytes[40..];
    let mut plain = Reply::ok("application/scp", bytes.clone()).with("ETag", TAG);
    plain = plain.with("Content-Range", "bytes 40-99/100");
    let mut many = part("bytes 40-99/100", rest);
    many.headers[0].1 = "multipart/byteranges; boundary=x".into();
    for (name, second, n_asked) in [
        ("honoured", part("bytes 40-99/100", rest), 2),
        ("ignored", whole(&bytes), 2),
        ("from an earlier byte", part("bytes 30-99/100", &bytes[30..]), 3),
        ("from a later byte", part("bytes 50-99/100", &bytes[50..]), 3),
        ("another total", part("bytes 40-109/110", &content(70, 9)), 3),
        ("not to the end", part("bytes 40-59/100", &bytes[40..60]), 3),
        ("of unknown size", part("bytes 40-99/*", rest), 3),
        ("another length", part("bytes 40-99/100", &bytes[40..90]), 3),
        ("unreadable", part("bytes 40-99", rest), 3),
        (
            "without range",
            {
                let mut reply = whole(rest);
                reply.status = 206;
                reply.is_file = false;
                reply
            },
            3,
        ),
        ("200 with range", plain, 3),
        ("in many parts", many, 3),
        ("416 short", unsatisfied("bytes */30"), 3),
        ("416 without size", Reply::status(416), 3),
        (
            "another tag",
            {
                let mut reply = part("bytes 40-99/100", rest);
                reply.headers[1].1 = "\"v2\"".into();
                reply
            },
            3,
        ),
    ] {
        let download = ResumedDownload::new();
        let cut = whole(&bytes).but(Fault::CutAfter(40));
        download.test.server.route("/all.scp", [cut, second, whole(&bytes)]);
        let answer = download.fetch().await;
        download.assert_is(&answer, &bytes);
        let ranges = download.ranges();
        assert_eq!(ranges.len(), n_asked, "{name}");
        assert_eq!(ranges[1].as_deref(), Some("bytes=40-"), "{name}");
        assert!(ranges[2..].iter().all(Option::is_none), "{name}");
    }
}

#[tokio::test] // N08
async fn accepts_416_for_a_complete_file() {
    let bytes = content(100, 0);
    let download = ResumedDownload::new();
    // With chunks, the size is unknown: all bytes arrived, but not the last chunk.
    let chunks = Reply::ok("application/scp", bytes.clone()).with("ETag", TAG);
    let chunks = chunks.framed(rutter_testkit::server::Framing::Chunked).but(Fault::CutAfter(100));
    download.test.server.route("/all.scp", [chunks, whole(&bytes)]);
    let answer = download.fetch().await;
    download.assert_is(&answer, &bytes);
    assert_eq!(download.ranges(), [None, Some("bytes=100-".into())]);
    assert_eq!(answer.validators.etag.as_deref(), Some(TAG));
}

#[tokio::test] // N09, D11
async fn restarts_when_the_file_changes_between_parts() {
    let (old, new) = (content(100, 0), content(100, 77));
    let date = "Thu, 31 Dec 2026 23:00:00 GMT";
    for (name, first, second, is_ranged) in [
        (
            "strong tags",
            Reply::file("a/b", "\"1\"", old.clone()),
            Reply::file("a/b", "\"2\"", new.clone()),
            true,
        ),
        (
            "weak tags",
            Reply::file("a/b", "W/\"1\"", old.clone()),
            Reply::file("a/b", "W/\"1\"", new.clone()),
            false,
        ),
        (
            "a date alone",
            Reply::ok("a/b", old.clone()).with("Last-Modified", date),
            Reply::ok("a/b", new.clone()).with("Last-Modified", date),
            false,
        ),
        ("nothing", Reply::ok("a/b", old.clone()), Reply::ok("a/b", new.clone()), false),
        (
            "one tag, another size",
            Reply::file("a/b", "\"1\"", old.clone()),
            Reply::file("a/b", "\"1\"", content(101, 77)),
            true,
        ),
    ] {
        let download = ResumedDownload::new();
        let wanted = second.body.clone();
        download.test.server.route("/all.scp", [first.but(Fault::CutAfter(40)), second]);
        let answer = download.fetch().await;
        download.assert_is(&answer, &wanted);
        assert_eq!(download.ranges()[1].is_some(), is_ranged, "{name}");
    }
}

#[tokio::test] // K9
async fn resumes_a_killed_download_in_the_next_run() {
    let bytes = content(100_000, 0);
    for is_swapped in [false, true] {
        let download = ResumedDownload::new();
        let swapped = content(100_000, 5);
        let then =
            if is_swapped { Reply::file("a/b", "\"v2\"", swapped.clone()) } else { whole(&bytes) };
        // The first run has one attempt.
        download.test.server.route(
            "/all.scp",
            [
                whole(&bytes).but(Fault::CutAfter(60_000)),
                Reply::status(200).but(Fault::HangUp),
                then,
            ],
        );
        let hasty = download.test.fresh_client(ClientSettings { attempts: 1, ..settings() });
        let error = hasty.fetch(&download.request()).await.unwrap_err();
        assert!(matches!(error.cause, FailureCause::Network(NetworkFault::Broken(_))), "{error:?}");
        assert_eq!(std::fs::read_dir(download.folder.path()).unwrap().count(), 2);
        let answer = download.fetch().await;
        download.assert_is(&answer, if is_swapped { &swapped } else { &bytes });
        assert_eq!(answer.wire_bytes, if is_swapped { 100_000 } else { 40_000 });
        let seen = download.test.server.seen();
        let last: &RecordedRequest = seen.last().unwrap();
        assert_eq!(last.header("range"), Some("bytes=60000-"));
        assert_eq!(last.header("if-range"), Some(TAG));
        assert_eq!(last.header("if-none-match"), None);
    }
}

#[tokio::test] // D11
async fn deletes_the_spool_file_of_a_missing_file() {
    let download = ResumedDownload::new();
    download
        .test
        .server
        .route("/all.scp", [whole(&content(100, 0)).but(Fault::CutAfter(40)), Reply::status(410)]);
    let answer = download.fetch().await;
    assert_eq!((answer.status, answer.body), (410, ResponseBody::Absent));
    assert_eq!(std::fs::read_dir(download.folder.path()).unwrap().count(), 0);
}

#[tokio::test] // N08
async fn gives_up_on_repeated_wrong_ranges() {
    let download = ResumedDownload::new();
    let bytes = content(100, 0);
    let mut odd = Reply::ok("a/b", "x").with("ETag", TAG).with("Content-Range", "bytes 1-1/2");
    odd.status = 206;
    let cut = whole(&bytes).but(Fault::CutAfter(40));
    let list: Vec<Reply> = (0..10).flat_map(|_| [cut.clone(), odd.clone()]).collect();
    download.test.server.route("/all.scp", list);
    let error = download.test.client.fetch(&download.request()).await.unwrap_err();
    assert!(matches!(error.cause, FailureCause::Response(_)), "{error:?}");
    assert!(download.ranges().len() <= 12);
}
