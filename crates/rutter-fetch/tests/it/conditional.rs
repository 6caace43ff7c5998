//! Validators: kept, sent, and what their answers mean.

use rutter_fetch::{BadAnswer, Body, Cause, Method, Request, Validators, What};
use rutter_testkit::server::Reply;

use crate::{Bay, body, cause, page, request, url};

const DATE: &str = "Thu, 31 Dec 2026 23:00:00 GMT";

fn file() -> Reply {
    Reply::file("application/scp", "\"v1\"", "abc").with("Last-Modified", DATE)
}

#[tokio::test] // SCP-153 SCP-154 SCP-155 ARC-035 ARC-061
async fn spec_both_validators_are_kept_and_sent() {
    let bay = Bay::new();
    bay.server.route("/all.scp", [file()]);
    let first = bay.get("http://harbour.example/all.scp").await.unwrap();
    let wanted = Validators { etag: Some("\"v1\"".into()), last_modified: Some(DATE.into()) };
    assert_eq!(first.validators, wanted);
    assert!(first.is_new());
    let again = Request { known: first.validators, ..request("http://harbour.example/all.scp") };
    let second = bay.client.fetch(&again).await.unwrap();
    assert!(second.is_unchanged());
    assert_eq!((second.body, second.wire_bytes), (Body::Nothing, 0));
    let seen = bay.server.seen();
    assert_eq!(seen[2].header("if-none-match"), Some("\"v1\""));
    assert_eq!(seen[2].header("if-modified-since"), Some(DATE));
    // All on one connection, the 304 too.
    bay.get("http://harbour.example/all.scp").await.unwrap();
    assert_eq!(bay.server.n_connections(), 1);
}

#[tokio::test] // SCP-141
async fn spec_a_plain_get() {
    let bay = Bay::new();
    bay.server.route("/all.scp", [file()]);
    let request = Request::new(url("http://harbour.example/all.scp"), What::Collection);
    bay.client.fetch(&request).await.unwrap();
    let seen = bay.server.seen().pop().unwrap();
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("GET", "/all.scp"));
    assert_eq!(seen.header("accept-encoding"), Some("zstd, gzip, identity"));
    assert_eq!(seen.header("range"), None);
}

#[tokio::test]
async fn head_gives_validators_without_a_body() {
    let bay = Bay::new();
    bay.server.route("/all.scp", [file()]);
    let head = Request { method: Method::Head, ..request("http://harbour.example/all.scp") };
    let answer = bay.client.fetch(&head).await.unwrap();
    assert_eq!(answer.validators.etag.as_deref(), Some("\"v1\""));
    assert_eq!((answer.status, answer.body, answer.wire_bytes), (200, Body::Nothing, 0));
    assert_eq!(bay.server.seen().pop().unwrap().method, "HEAD");
    // The next answer is not mixed up with what a server sent behind the head.
    assert_eq!(body(&bay.get("http://harbour.example/all.scp").await.unwrap()), b"abc");
}

#[tokio::test] // D11 of reliability.md
async fn ours_strange_304s_and_dates() {
    let bay = Bay::new();
    // 304 although nothing was known.
    bay.server.route("/a", [Reply::status(304)]);
    let cause = cause(bay.get("http://harbour.example/a").await);
    assert!(matches!(cause, Cause::Answer(BadAnswer::NotModified)), "{cause:?}");
    // 304 with a body that looks like an answer.
    let mut loud = Reply::status(304);
    loud.body = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil".to_vec();
    bay.server.route("/b", [loud]).route("/c", [page("c")]);
    let known = Validators { etag: Some("\"v1\"".into()), last_modified: None };
    let b = Request { known: known.clone(), ..request("http://harbour.example/b") };
    assert!(bay.client.fetch(&b).await.unwrap().is_unchanged());
    assert_eq!(body(&bay.get("http://harbour.example/c").await.unwrap()), b"c");
    // 200 with the tag we know: taken as it is.
    let same =
        page("d").with("ETag", "\"v1\"").with("Last-Modified", "Fri, 01 Jan 2100 00:00:00 GMT");
    bay.server.route("/d", [same]);
    let d = Request { known, ..request("http://harbour.example/d") };
    let d = bay.client.fetch(&d).await.unwrap();
    assert!(d.is_new());
    assert_eq!(d.validators.etag.as_deref(), Some("\"v1\""));
    // Validators that are none are not kept.
    bay.server.route("/e", [page("e").with("ETag", "bare").with("Last-Modified", "yesterday")]);
    let e = bay.get("http://harbour.example/e").await.unwrap();
    assert!(e.validators.is_empty());
    // Nor those of an error.
    bay.server.route("/f", [Reply::status(404).with("ETag", "\"x\"")]);
    let f = bay.get("http://harbour.example/f").await.unwrap();
    assert_eq!((f.status, f.validators.is_empty(), f.body), (404, true, Body::Nothing));
}

#[tokio::test] // SCP-192
async fn spec_what_the_head_says_is_told() {
    let bay = Bay::new();
    let reply = Reply::ok("Text/HTML; charset=\"utf-8\"", "a")
        .with("Cache-Control", "public, max-age=60")
        .with("X-Robots-Tag", "noai")
        .with("X-Robots-Tag", "noindex")
        .with("Content-Signal", "ai-train=no")
        .with("Link", "</llms.txt>; rel=describedby")
        .with("Date", DATE);
    bay.server.route("/a", [reply]);
    let fields = bay.get("http://harbour.example/a").await.unwrap().fields;
    assert_eq!(fields.media_type(), "text/html");
    assert_eq!(fields.charset().as_deref(), Some("utf-8"));
    assert_eq!(fields.freshness.max_age, Some(60));
    assert_eq!(fields.robots_tags, ["noai", "noindex"]);
    assert_eq!(fields.content_signals, ["ai-train=no"]);
    assert_eq!(fields.links, ["</llms.txt>; rel=describedby"]);
    assert_eq!(fields.date.unwrap().to_string(), "2026-12-31T23:00:00Z");
    assert_eq!(fields.length, Some(1));
}
