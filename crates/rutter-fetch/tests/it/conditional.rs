//! Validators: stored, sent, and the responses they cause.

use rutter_fetch::{
    BadResponse, FailureCause, Request, RequestMethod, ResourceKind, ResponseBody, Validators,
};
use rutter_testkit::server::Reply;

use crate::{TestSite, body, cause, page, request, url};

const DATE: &str = "Thu, 31 Dec 2026 23:00:00 GMT";

fn file() -> Reply {
    Reply::file("application/scp", "\"v1\"", "abc").with("Last-Modified", DATE)
}

#[tokio::test] // SCP-153 SCP-154 SCP-155 ARC-035 ARC-061
async fn sends_both_validators() {
    let test = TestSite::new();
    test.server.route("/all.scp", [file()]);
    let first = test.get("http://harbour.example/all.scp").await.unwrap();
    let wanted = Validators { etag: Some("\"v1\"".into()), last_modified: Some(DATE.into()) };
    assert_eq!(first.validators, wanted);
    assert!(first.is_success());
    let again =
        Request { validators: first.validators, ..request("http://harbour.example/all.scp") };
    let second = test.client.fetch(&again).await.unwrap();
    assert!(second.is_not_modified());
    assert_eq!((second.body, second.wire_bytes), (ResponseBody::Absent, 0));
    let seen = test.server.seen();
    assert_eq!(seen[2].header("if-none-match"), Some("\"v1\""));
    assert_eq!(seen[2].header("if-modified-since"), Some(DATE));
    // All requests use one connection, also after the 304.
    test.get("http://harbour.example/all.scp").await.unwrap();
    assert_eq!(test.server.n_connections(), 1);
}

#[tokio::test] // SCP-141
async fn sends_a_minimal_get_request() {
    let test = TestSite::new();
    test.server.route("/all.scp", [file()]);
    let request = Request::new(url("http://harbour.example/all.scp"), ResourceKind::Collection);
    test.client.fetch(&request).await.unwrap();
    let seen = test.server.seen().pop().unwrap();
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("GET", "/all.scp"));
    assert_eq!(seen.header("accept-encoding"), Some("zstd, gzip, identity"));
    assert_eq!(seen.header("range"), None);
}

#[tokio::test]
async fn head_gives_validators_without_a_body() {
    let test = TestSite::new();
    test.server.route("/all.scp", [file()]);
    let head = Request { method: RequestMethod::Head, ..request("http://harbour.example/all.scp") };
    let answer = test.client.fetch(&head).await.unwrap();
    assert_eq!(answer.validators.etag.as_deref(), Some("\"v1\""));
    assert_eq!((answer.status, answer.body, answer.wire_bytes), (200, ResponseBody::Absent, 0));
    assert_eq!(test.server.seen().pop().unwrap().method, "HEAD");
    // Bytes that a server sends after the head are not read as the next response.
    assert_eq!(body(&test.get("http://harbour.example/all.scp").await.unwrap()), b"abc");
}

#[tokio::test] // N11
async fn handles_unexpected_304_and_invalid_validators() {
    let test = TestSite::new();
    // 304 for an unconditional request.
    test.server.route("/a", [Reply::status(304)]);
    let cause = cause(test.get("http://harbour.example/a").await);
    assert!(matches!(cause, FailureCause::Response(BadResponse::NotModified)), "{cause:?}");
    // 304 with a body that looks like a response.
    let mut loud = Reply::status(304);
    loud.body = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".to_vec();
    test.server.route("/b", [loud]).route("/c", [page("c")]);
    let known = Validators { etag: Some("\"v1\"".into()), last_modified: None };
    let b = Request { validators: known.clone(), ..request("http://harbour.example/b") };
    assert!(test.client.fetch(&b).await.unwrap().is_not_modified());
    assert_eq!(body(&test.get("http://harbour.example/c").await.unwrap()), b"c");
    // 200 with the known entity tag is accepted.
    let same =
        page("d").with("ETag", "\"v1\"").with("Last-Modified", "Fri, 01 Jan 2100 00:00:00 GMT");
    test.server.route("/d", [same]);
    let d = Request { validators: known, ..request("http://harbour.example/d") };
    let d = test.client.fetch(&d).await.unwrap();
    assert!(d.is_success());
    assert_eq!(d.validators.etag.as_deref(), Some("\"v1\""));
    // Invalid validators are dropped.
    test.server.route("/e", [page("e").with("ETag", "bare").with("Last-Modified", "yesterday")]);
    let e = test.get("http://harbour.example/e").await.unwrap();
    assert!(e.validators.is_empty());
    // Validators of an error are dropped, too.
    test.server.route("/f", [Reply::status(404).with("ETag", "\"x\"")]);
    let f = test.get("http://harbour.example/f").await.unwrap();
    assert_eq!((f.status, f.validators.is_empty(), f.body), (404, true, ResponseBody::Absent));
}

#[tokio::test] // SCP-192
async fn returns_header_fields() {
    let test = TestSite::new();
    let reply = Reply::ok("Text/HTML; charset=\"utf-8\"", "a")
        .with("Cache-Control", "public, max-age=60")
        .with("X-Robots-Tag", "noai")
        .with("X-Robots-Tag", "noindex")
        .with("Content-Signal", "ai-train=no")
        .with("Link", "</llms.txt>; rel=describedby")
        .with("Date", DATE);
    test.server.route("/a", [reply]);
    let fields = test.get("http://harbour.example/a").await.unwrap().fields;
    assert_eq!(fields.media_type(), "text/html");
    assert_eq!(fields.charset().as_deref(), Some("utf-8"));
    assert_eq!(fields.freshness.max_age, Some(60));
    assert_eq!(fields.robots_tags, ["noai", "noindex"]);
    assert_eq!(fields.content_signals, ["ai-train=no"]);
    assert_eq!(fields.links, ["</llms.txt>; rel=describedby"]);
    assert_eq!(fields.date.unwrap().to_string(), "2026-12-31T23:00:00Z");
    assert_eq!(fields.length, Some(1));
}
