//! Parts of a file: put together right, or fetched again, never spliced.

use std::path::PathBuf;

use proptest::test_runner::{Config, TestRunner};
use rutter_fetch::{
    Body, Cause, Clock as _, Event, Fetched, NetworkFault, Request, Settings, What,
};
use rutter_page::Digest;
use rutter_testkit::server::{Fault, Reply, Seen};

use crate::{Bay, settings, url};

const TAG: &str = "\"v1\"";

/// Bytes that are all different from their neighbours.
fn content(length: u32, salt: u32) -> Vec<u8> {
    (0..length)
        .map(|n| (n.wrapping_mul(2_654_435_761).wrapping_add(salt) >> 13).to_le_bytes()[0])
        .collect()
}

struct Berth {
    bay: Bay,
    folder: tempfile::TempDir,
}

impl Berth {
    fn new() -> Self {
        Self { bay: Bay::new(), folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("all.scp")
    }

    fn request(&self) -> Request {
        let ask = Request::new(url("http://harbour.example/all.scp"), What::Collection);
        Request { spool: Some(self.path()), ..ask }
    }

    async fn fetch(&self) -> Fetched {
        self.bay.client.fetch(&self.request()).await.unwrap()
    }

    fn assert_is(&self, answer: &Fetched, wanted: &[u8]) {
        let bytes = std::fs::read(self.path()).unwrap();
        assert!(bytes == wanted, "{} bytes, wanted {}", bytes.len(), wanted.len());
        assert_eq!(answer.digest, Some(Digest::of(wanted)));
        let length = wanted.len() as u64;
        assert_eq!(answer.body, Body::Spooled { path: self.path(), length });
        assert_eq!(answer.status, 200);
        assert_eq!(std::fs::read_dir(self.folder.path()).unwrap().count(), 1);
    }

    fn ranges(&self) -> Vec<Option<String>> {
        let seen = self.bay.server.seen();
        let files = seen.iter().filter(|seen| seen.path == "/all.scp");
        files.map(|seen| seen.header("range").map(str::to_owned)).collect()
    }
}

fn whole(bytes: &[u8]) -> Reply {
    Reply::file("application/scp", TAG, bytes)
}

#[tokio::test] // D11, D07 of reliability.md
async fn ours_fifty_broken_connections() {
    let berth = Berth::new();
    let bytes = content(1_000_000, 0);
    let copy = bytes.clone();
    let n = std::sync::atomic::AtomicU32::new(0);
    berth.bay.server.route_by("/all.scp", move |_| {
        let n = n.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let some = usize::try_from(1 + n.wrapping_mul(7919) % 17_000).unwrap();
        let fault =
            if n.is_multiple_of(2) { Fault::CutAfter(some) } else { Fault::ResetAfter(some) };
        if n < 50 { whole(&copy).but(fault) } else { whole(&copy) }
    });
    let answer = berth.fetch().await;
    berth.assert_is(&answer, &bytes);
    assert!(answer.wire_bytes <= 1_100_000, "{}", answer.wire_bytes);
    assert_eq!(berth.bay.server.seen().len(), 52);
    assert!(berth.bay.events().iter().any(|event| matches!(event, Event::Resumed { .. })));
}

#[tokio::test] // D06 of reliability.md
async fn gives_up_a_collection_below_the_minimum_rate_and_resumes_it_later() {
    let berth = Berth::new();
    let bytes = content(100_000, 0);
    let n_slow = 3;
    let copy = bytes.clone();
    let n = std::sync::atomic::AtomicU32::new(0);
    berth.bay.server.route_by("/all.scp", move |_| {
        let n = n.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        if n < n_slow { whole(&copy).but(Fault::Dribble(1, crate::s(1))) } else { whole(&copy) }
    });
    let begun = berth.bay.clock.moment();
    for n_asked in 1..=n_slow {
        let error = berth.bay.client.fetch(&berth.request()).await.unwrap_err();
        let Cause::Network(fault) = &error.cause else { panic!("{error:?}") };
        assert_eq!(fault.to_string(), "the body came at less than 1 KiB/s for 30 s");
        assert_eq!(berth.ranges().len(), usize::try_from(n_asked).unwrap());
    }
    let took = berth.bay.clock.moment().checked_sub(begun).unwrap();
    assert!(took < crate::s(n_slow.into()) * 40, "{took:?}");
    let answer = berth.fetch().await;
    berth.assert_is(&answer, &bytes);
    assert!(berth.ranges().iter().skip(1).all(Option::is_some), "{:?}", berth.ranges());
}

#[test] // D11, D07 of reliability.md
fn ours_wherever_it_breaks() {
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
                let berth = Berth::new();
                let bytes = content(5000, 3);
                let cut = whole(&bytes).but(Fault::CutAfter(at));
                berth.bay.server.route("/all.scp", [cut, whole(&bytes)]);
                let answer = berth.fetch().await;
                berth.assert_is(&answer, &bytes);
                assert!(answer.wire_bytes <= 5000);
            });
            Ok(())
        })
        .unwrap();
}

/// What a server says to a part that is asked for, and how often it is asked.
#[tokio::test] // D08 of reliability.md
async fn ours_every_answer_to_a_range() {
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
        let berth = Berth::new();
        let cut = whole(&bytes).but(Fault::CutAfter(40));
        berth.bay.server.route("/all.scp", [cut, second, whole(&bytes)]);
        let answer = berth.fetch().await;
        berth.assert_is(&answer, &bytes);
        let ranges = berth.ranges();
        assert_eq!(ranges.len(), n_asked, "{name}");
        assert_eq!(ranges[1].as_deref(), Some("bytes=40-"), "{name}");
        assert!(ranges[2..].iter().all(Option::is_none), "{name}");
    }
}

#[tokio::test] // D08 of reliability.md
async fn ours_416_for_what_is_complete() {
    let bytes = content(100, 0);
    let berth = Berth::new();
    // In chunks, the size is not known; all of it came, but not its end.
    let chunks = Reply::ok("application/scp", bytes.clone()).with("ETag", TAG);
    let chunks = chunks.framed(rutter_testkit::server::Framing::Chunked).but(Fault::CutAfter(100));
    berth.bay.server.route("/all.scp", [chunks, whole(&bytes)]);
    let answer = berth.fetch().await;
    berth.assert_is(&answer, &bytes);
    assert_eq!(berth.ranges(), [None, Some("bytes=100-".into())]);
    assert_eq!(answer.validators.etag.as_deref(), Some(TAG));
}

#[tokio::test] // D09 of reliability.md, T5, D11
async fn ours_a_file_that_is_replaced_between_two_parts() {
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
        let berth = Berth::new();
        let wanted = second.body.clone();
        berth.bay.server.route("/all.scp", [first.but(Fault::CutAfter(40)), second]);
        let answer = berth.fetch().await;
        berth.assert_is(&answer, &wanted);
        assert_eq!(berth.ranges()[1].is_some(), is_ranged, "{name}");
    }
}

#[tokio::test] // K9 of reliability.md
async fn ours_a_killed_download_goes_on_in_the_next_run() {
    let bytes = content(100_000, 0);
    for is_swapped in [false, true] {
        let berth = Berth::new();
        let swapped = content(100_000, 5);
        let then =
            if is_swapped { Reply::file("a/b", "\"v2\"", swapped.clone()) } else { whole(&bytes) };
        // The first run gives up after one try.
        berth.bay.server.route(
            "/all.scp",
            [
                whole(&bytes).but(Fault::CutAfter(60_000)),
                Reply::status(200).but(Fault::HangUp),
                then,
            ],
        );
        let hasty = berth.bay.fresh_client(Settings { tries: 1, ..settings() });
        let error = hasty.fetch(&berth.request()).await.unwrap_err();
        assert!(matches!(error.cause, Cause::Network(NetworkFault::Broken(_))), "{error:?}");
        assert_eq!(std::fs::read_dir(berth.folder.path()).unwrap().count(), 2);
        let answer = berth.fetch().await;
        berth.assert_is(&answer, if is_swapped { &swapped } else { &bytes });
        assert_eq!(answer.wire_bytes, if is_swapped { 100_000 } else { 40_000 });
        let seen = berth.bay.server.seen();
        let last: &Seen = seen.last().unwrap();
        assert_eq!(last.header("range"), Some("bytes=60000-"));
        assert_eq!(last.header("if-range"), Some(TAG));
        assert_eq!(last.header("if-none-match"), None);
    }
}

#[tokio::test] // D11
async fn ours_nothing_stays_of_what_is_gone() {
    let berth = Berth::new();
    berth
        .bay
        .server
        .route("/all.scp", [whole(&content(100, 0)).but(Fault::CutAfter(40)), Reply::status(410)]);
    let answer = berth.fetch().await;
    assert_eq!((answer.status, answer.body), (410, Body::Nothing));
    assert_eq!(std::fs::read_dir(berth.folder.path()).unwrap().count(), 0);
}

#[tokio::test] // D08 of reliability.md
async fn ours_a_server_that_never_gets_it_right() {
    let berth = Berth::new();
    let bytes = content(100, 0);
    let mut odd = Reply::ok("a/b", "x").with("ETag", TAG).with("Content-Range", "bytes 1-1/2");
    odd.status = 206;
    let cut = whole(&bytes).but(Fault::CutAfter(40));
    let list: Vec<Reply> = (0..10).flat_map(|_| [cut.clone(), odd.clone()]).collect();
    berth.bay.server.route("/all.scp", list);
    let error = berth.bay.client.fetch(&berth.request()).await.unwrap_err();
    assert!(matches!(error.cause, Cause::Answer(_)), "{error:?}");
    assert!(berth.ranges().len() <= 12);
}
