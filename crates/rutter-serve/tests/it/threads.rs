//! Nobody's slowness takes the threads that others need.

use std::fs::File;
use std::io::Write;

use rutter_serve::{NewToken, Scope, new_token};

use crate::client::{Running, put, wait_for};

/// More than all workers of a test have threads that may wait.
const MANY: usize = 18;

#[test]
fn ours_partners_who_take_nothing_keep_no_page_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let served = r#"{"version":2,"base":"https://harbour.example/","files":[]}"#;
    put(&folder.path().join("state/served.json"), served.as_bytes());
    let page = "x".repeat(40_000);
    let lines = (0..300).map(|n| {
        let url = format!("https://harbour.example/{n:04}");
        let entry = serde_json::json!({ "url": url });
        serde_json::json!({ "url": url, "entry": entry, "page": { "text": page } }).to_string()
            + "\n"
    });
    let lines: String = lines.collect();
    put(&folder.path().join("state/private/pages.jsonl"), lines.as_bytes());
    for n in 0..20 {
        put(&folder.path().join(format!("public/{n}.txt")), b"text");
    }
    let path = folder.path().join("tokens.toml");
    let scopes = [Scope::Entries, Scope::Content];
    let new = NewToken { name: "one", scopes: &scopes, rate: "1000/s", expires: None };
    let token = new_token(&path, &new).unwrap();
    let running = Running::start(folder, |settings| settings.tokens = Some(path), None);
    let request = format!(
        "GET /arc-api/v1/pages?limit=1000 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    let mut idle = Vec::new();
    for _ in 0..MANY {
        let mut stream = running.connect();
        stream.write_all(request.as_bytes()).unwrap();
        // It has begun, and is not taken any further.
        assert_eq!(stream.peek(&mut [0]).unwrap(), 1);
        idle.push(stream);
    }
    for n in 0..20 {
        assert_eq!(running.get(&format!("/{n}.txt")).status, 200);
    }
    let mut answer = crate::client::Client::new(idle.pop().unwrap());
    let pages = answer.answer(false).unwrap().json()["pages"].as_array().unwrap().len();
    assert_eq!(pages, 300, "whoever goes on gets everything");
}

#[test]
fn ours_many_who_ask_for_a_cold_file_keep_no_page_waiting() {
    let running = Running::new(&[("a.txt", b"a"), ("b.txt", b"b")], |_| {});
    // Its bytes are nowhere, and take a while to be hashed.
    for n in 0..3 {
        let file = File::create(running.public(&format!("{n}.bin"))).unwrap();
        file.set_len(3 << 30).unwrap();
    }
    let mut waiting: Vec<_> = (0..MANY).map(|_| running.connect()).collect();
    for (n, stream) in waiting.iter_mut().enumerate() {
        let request = format!("HEAD /{}.bin HTTP/1.1\r\nHost: a\r\n\r\n", n % 3);
        stream.write_all(request.as_bytes()).unwrap();
    }
    wait_for("all requests", || {
        running.site.metrics().open_connections() == i64::try_from(MANY).unwrap()
    });
    for path in ["/a.txt", "/b.txt", "/none"] {
        running.get(path);
    }
    wait_for("records", || 3 <= running.records.0.lock().unwrap().len());
    let records = running.records.0.lock().unwrap();
    let targets: Vec<&str> = records.iter().map(|record| &*record.target).collect();
    assert_eq!(targets, ["/a.txt", "/b.txt", "/none"], "they did not wait");
}
