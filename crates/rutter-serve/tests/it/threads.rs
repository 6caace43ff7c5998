//! Slow clients do not block the threads of others.

use std::io::Write;

use rutter_serve::{NewToken, TokenScope, create_token};

use crate::client::{Running, put};

/// More than the blocking threads of all workers in a test.
const MANY: usize = 18;

#[test]
fn slow_api_clients_do_not_delay_pages() {
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
    let scopes = [TokenScope::Entries, TokenScope::Content];
    let new = NewToken { name: "one", scopes: &scopes, rate: "1000/s", expires: None };
    let token = create_token(&path, &new).unwrap();
    let running = Running::start(folder, |settings| settings.tokens = Some(path), None);
    let request = format!(
        "GET /arc-api/v1/pages?limit=1000 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    let mut idle = Vec::new();
    for _ in 0..MANY {
        let mut stream = running.connect();
        stream.write_all(request.as_bytes()).unwrap();
        // The response has begun and is not read further.
        assert_eq!(stream.peek(&mut [0]).unwrap(), 1);
        idle.push(stream);
    }
    for n in 0..20 {
        assert_eq!(running.get(&format!("/{n}.txt")).status, 200);
    }
    let mut answer = crate::client::Client::new(idle.pop().unwrap());
    let pages = answer.answer(false).unwrap().json()["pages"].as_array().unwrap().len();
    assert_eq!(pages, 300, "all pages are served");
}
