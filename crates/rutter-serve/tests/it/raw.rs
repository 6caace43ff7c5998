//! Invalid and ambiguous requests: one response, then the end of the connection, and a server that
//! keeps running.

use std::io::{Read, Write};
use std::time::Duration;

use rutter_serve::RateLimit;

use crate::client::{Client, Running};

fn running() -> Running {
    Running::new(&[("index.html", b"<h1>Home"), ("a.txt", b"a")], |_| {})
}

/// Returns the statuses of all responses.
fn statuses(answer: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(answer);
    let heads = text.split("HTTP/1.").skip(1);
    heads.filter_map(|head| head.split(' ').nth(1)?.parse().ok()).collect()
}

#[test] // E05
fn rejects_ambiguous_requests_once() {
    let running = running();
    let smuggled = "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n";
    let head = |fields: &str| format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
    for (what, bytes) in [
        (
            "TE and CL",
            head("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n") + "0\r\n\r\n" + smuggled,
        ),
        (
            "CL and TE",
            head("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n" + smuggled,
        ),
        ("TE alone", head("Transfer-Encoding: chunked\r\n") + "0\r\n\r\n" + smuggled),
        ("unknown TE", head("Transfer-Encoding: xchunked\r\n") + smuggled),
        ("TE with a tab", head("Transfer-Encoding:\tchunked\r\n") + "0\r\n\r\n" + smuggled),
        ("two CL", head("Content-Length: 0\r\nContent-Length: 5\r\n") + smuggled),
        ("the same CL twice", head("Content-Length: 0\r\nContent-Length: 0\r\n") + smuggled),
        ("a list of CL", head("Content-Length: 0, 0\r\n") + smuggled),
        ("a CL with a sign", head("Content-Length: +0\r\n") + smuggled),
        ("a CL below nothing", head("Content-Length: -1\r\n") + smuggled),
        ("a CL too large", head("Content-Length: 99999999999999999999\r\n") + smuggled),
        ("a bare LF", "GET / HTTP/1.1\nHost: a\n\n".to_owned() + smuggled),
        ("a bare LF later", head("A: b\n") + smuggled),
        ("a bare CR", head("A: b\rC: d\r\n") + smuggled),
        ("a folded line", head("A: b\r\n c\r\n") + smuggled),
        ("a blank before the colon", head("Content-Length : 5\r\n") + smuggled),
        (
            "a chunk size that overflows",
            head("Transfer-Encoding: chunked\r\n") + "fffffffffffffffff\r\n" + smuggled,
        ),
        ("HTTP/0.9", "GET /\r\n".to_owned() + smuggled),
        ("HTTP/3.7", "GET / HTTP/3.7\r\nHost: a\r\n\r\n".to_owned() + smuggled),
        ("no host", "GET / HTTP/1.1\r\n\r\n".to_owned() + smuggled),
        ("two hosts", head("Host: b\r\n") + smuggled),
        ("a strange host", "GET / HTTP/1.1\r\nHost: a/../b\r\n\r\n".to_owned() + smuggled),
        ("another host", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n".to_owned() + smuggled),
        ("NUL in a field", head("A: \0\r\n") + smuggled),
        ("no method", " / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned() + smuggled),
        ("an empty name", head(": b\r\n") + smuggled),
        ("no request", "\u{16}\u{3}\u{1}\r\n\r\n".to_owned()),
    ] {
        let found = statuses(&running.raw(bytes.as_bytes()));
        assert_eq!(found, [400], "{what}");
    }
    // Earlier requests are answered, in order, and nothing follows.
    let bytes = format!("{smuggled}{}{smuggled}", head("Transfer-Encoding: chunked\r\n"));
    assert_eq!(statuses(&running.raw(bytes.as_bytes())), [200, 400]);
    assert_eq!(running.get("/a.txt").status, 200);
}

#[test] // E06
fn returns_a_status_for_each_kind_of_invalid_request() {
    let running = running();
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "BREW"] {
        let target = if method == "CONNECT" { "harbour.example:80" } else { "/a.txt" };
        let answer = running.ask(method, target, &[("Connection", "close")]);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
    let body = b"POST /a.txt HTTP/1.1\r\nHost: a\r\nContent-Length: 37\r\n\r\nGET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n     ";
    assert_eq!(statuses(&running.raw(body)), [405], "a body is not a request");
    let body = b"GET /a.txt HTTP/1.1\r\nHost: a\r\nContent-Length: 37\r\n\r\nGET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n     ";
    assert_eq!(statuses(&running.raw(body)), [413]);
    let long = |n: usize| format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(n));
    assert_eq!(statuses(&running.raw(long(64 << 10).as_bytes())), [414]);
    assert_eq!(statuses(&running.raw(long(9000).as_bytes())), [414]);
    let fields = |text: String| format!("GET / HTTP/1.1\r\nHost: a\r\n{text}\r\n");
    let many = fields("A: b\r\n".repeat(100));
    assert_eq!(statuses(&running.raw(many.as_bytes())), [431], "101 fields");
    let enough = fields("A: b\r\n".repeat(98) + "Connection: close\r\n");
    assert_eq!(statuses(&running.raw(enough.as_bytes())), [200], "100 fields");
    let large = fields(format!("A: {}\r\n", "a".repeat(17 << 10)));
    assert_eq!(statuses(&running.raw(large.as_bytes())), [431]);
    for (path, status) in [
        ("/%2e%2e/x", 400),
        ("/a%00", 400),
        ("/%c0%ae", 400),
        ("/.git/config", 404),
        ("//a.txt", 404),
    ] {
        assert_eq!(running.get(path).status, status, "{path}");
    }
    // The absolute form is accepted if it names the host.
    let absolute = b"GET http://a/a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    assert_eq!(statuses(&running.raw(absolute)), [200]);
    assert_eq!(statuses(&running.raw(b"GET /a.txt HTTP/1.0\r\n\r\n")), [200]);
}

/// The bytes after a head with a body are not checked, so the connection must be closed, even if
/// the client is above its rate.
#[test] // E05
fn a_body_closes_the_connection_of_a_limited_client() {
    let running = Running::new(&[("a.txt", b"a")], |settings| {
        settings.rate = Some(RateLimit { every: Duration::from_hours(1), burst: 1 });
    });
    let fine = "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n";
    let bare = "GET /a.txt HTTP/1.1\nHost: a\n\n";
    let body = |method| format!("{method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
    let found = |text: String| statuses(&running.raw(text.as_bytes()));
    assert_eq!(found(format!("{fine}{}{bare}{fine}", body("GET"))), [200, 413]);
    assert_eq!(found(format!("{}{bare}", body("POST"))), [405]);
    assert_eq!(found(format!("{fine}{bare}{fine}")), [429, 400], "it counted all of them");
}

#[test]
fn answers_pipelined_requests_in_order() {
    let running = running();
    let one = "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n";
    let two = "HEAD /none HTTP/1.1\r\nHost: a\r\n\r\n";
    let end = "GET /a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let bytes = format!("{}{end}{one}", format!("{one}{two}").repeat(50));
    let found = statuses(&running.raw(bytes.as_bytes()));
    let mut wanted = [200, 404].repeat(50);
    wanted.push(200);
    assert_eq!(found, wanted);
}

#[test] // E11
fn records_every_request_without_secrets() {
    let running = running();
    let headers =
        [("User-Agent", "Bot\u{202e}"), ("Authorization", "Bearer hush"), ("Referer", "r")];
    running.ask("GET", "/a.txt?b", &headers);
    running.raw(b"nonsense\n");
    crate::client::wait_for("two records", || running.records.0.lock().unwrap().len() == 2);
    let records = running.records.0.lock().unwrap();
    let (one, two) = (&records[0], &records[1]);
    assert_eq!((&*one.method, &*one.target, one.status), ("GET", "/a.txt?b", 200));
    assert_eq!((one.bytes, one.referer.as_deref(), &*one.protocol), (1, Some("r"), "HTTP/1.1"));
    assert_eq!(&*one.client, "127.0.0.1");
    assert_eq!((&*two.method, two.status), ("", 400));
    for record in records.iter() {
        assert!(!format!("{record:?}").contains("hush"));
        let line = record.to_combined();
        assert!(!line.contains('\u{202e}') && !line.contains('\n'), "{line}");
    }
}

#[test]
fn closes_connections_with_a_slow_or_missing_head() {
    let running = Running::new(&[("a.txt", b"a")], |settings| {
        settings.limits.connection.head_time = Duration::from_millis(200);
    });
    let mut slow = running.connect();
    slow.write_all(b"GET / HTTP/1.1\r\nHost").unwrap();
    let mut silent = running.connect();
    let mut answer = Vec::new();
    slow.read_to_end(&mut answer).unwrap();
    assert_eq!(statuses(&answer), [408]);
    answer.clear();
    silent.read_to_end(&mut answer).unwrap();
    assert!(answer.is_empty());
    let text = running.site.metrics().text();
    assert!(text.contains("why=\"head\"} 2"), "{text}");
}

#[test]
fn closes_idle_connections() {
    let running = Running::new(&[("a.txt", b"a")], |settings| {
        settings.limits.connection.idle = Duration::from_millis(300);
    });
    let mut kept = Client::new(running.connect());
    assert_eq!(kept.ask("GET", "/a.txt", &[]).status, 200);
    assert!(kept.answer(false).is_err(), "it was kept long enough");
    let text = running.site.metrics().text();
    assert!(text.contains("why=\"idle\"} 1"), "{text}");
}

#[test]
fn closes_connections_that_do_not_read() {
    let bytes = vec![7; 64 << 20];
    let running = Running::new(&[("large.bin", &bytes)], |settings| {
        settings.limits.connection.stall = Duration::from_millis(300);
    });
    let mut stream = running.connect();
    stream.write_all(b"GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    crate::client::wait_for("a cut", || running.site.metrics().text().contains("why=\"stall\"} 1"));
    crate::client::wait_for("the end", || running.site.metrics().open_connections() == 0);
}

#[test]
fn records_rejected_requests_with_their_first_line() {
    let running = running();
    let long = "a".repeat(9000);
    for (bytes, target) in [
        (format!("GET /{long} HTTP/1.1\r\n\r\n"), "/aaa"),
        (
            format!("GET /b?token=hush HTTP/1.1\r\nHost: a\r\nA: {long}{long}\r\n\r\n"),
            "/b?token=***",
        ),
        ("GET /c HTTP/1.1\nHost: a\r\n\r\n".to_owned(), "/c"),
        ("GET /d HTTP/1.1\r\nHost: a\r\nb\x01c: d\r\n\r\n".to_owned(), "/d"),
    ] {
        let mut client = running.connect();
        client.write_all(bytes.as_bytes()).unwrap();
        let mut answer = Vec::new();
        drop(client.read_to_end(&mut answer));
        let is_on_record = || {
            let records = running.records.0.lock().unwrap();
            let found = records.iter().find(|record| record.target.starts_with(target));
            found.is_some_and(|record| &*record.method == "GET" && 400 <= record.status)
        };
        crate::client::wait_for(target, is_on_record);
    }
    let records = running.records.0.lock().unwrap();
    assert!(records.iter().all(|record| record.target.len() <= 256));
}
