//! Tokens: the partner API, and restricted pages.

use std::path::Path;

use rutter_arc::{ArcReader, Limits};
use rutter_serve::{NewToken, SiteSettings, TokenScope, create_token};
use serde_json::json;

use crate::client::{Answer, Running, put, swap};

const N: usize = 250;

fn url(n: usize) -> String {
    format!("https://harbour.example/log/{n:04}.html")
}

fn store() -> String {
    let lines = (0..N).map(|n| {
        let entry = json!({ "url": url(n), "ai_indexable": true, "auth_required": true,
            "ai_summary": format!("Entry {n} {}", "x".repeat(n % 40)) });
        let page = if n % 2 == 0 { json!({ "url": url(n), "title": "Log" }) } else { json!(null) };
        json!({ "url": url(n), "entry": entry, "page": page }).to_string() + "\n"
    });
    lines.collect()
}

struct Case {
    running: Running,
    entries: String,
    content: String,
    slow: String,
}

fn token(path: &Path, name: &str, scopes: &[TokenScope], rate: &str) -> String {
    let new = NewToken { name, scopes, rate, expires: None };
    format!("Bearer {}", create_token(path, &new).unwrap())
}

fn case() -> Case {
    case_with(&store(), |_| {})
}

fn case_with(store: &str, change: impl FnOnce(&mut SiteSettings)) -> Case {
    let folder = tempfile::tempdir().unwrap();
    put(&folder.path().join("public/log/0001.html"), b"<p>members only");
    put(&folder.path().join("public/a.html"), b"<p>all");
    put(&folder.path().join("public/scp/a.scp"), b"{}");
    let served = r#"{"version":2,"base":"https://harbour.example","files":[
{"path":"a.html","type":"text/html","cache":"page"},
{"path":"log/0001.html","type":"text/html","cache":"page","twin":"log/0001.md","access":"token"}]}"#;
    put(&folder.path().join("state/served.json"), served.as_bytes());
    put(&folder.path().join("state/private/pages.jsonl"), store.as_bytes());
    let path = folder.path().join("tokens.toml");
    let entries = token(&path, "entries", &[TokenScope::Entries], "1000/s");
    let content = token(&path, "content", &[TokenScope::Entries, TokenScope::Content], "1000/s");
    let slow = token(&path, "slow", &[TokenScope::Content], "2/h");
    let change = |settings: &mut SiteSettings| {
        settings.tokens = Some(path);
        change(settings);
    };
    let running = Running::start(folder, change, None);
    Case { running, entries, content, slow }
}

impl Case {
    fn ask(&self, query: &str, token: &str) -> Answer {
        let path = format!("/arc-api/v1/pages{query}");
        self.running.ask("GET", &path, &[("Authorization", token)])
    }
}

fn urls(answer: &Answer) -> Vec<String> {
    let pages = answer.json()["pages"].as_array().unwrap().clone();
    pages.iter().map(|page| page["url"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn skips_only_the_oversized_page() {
    const LONG: usize = 1000;
    let long = [0, 1, 100, 101, 102, 200, N - 1];
    let lines: Vec<String> = store()
        .lines()
        .enumerate()
        .map(|(n, line)| match long.iter().position(|it| *it == n) {
            // One byte too long, and much longer.
            Some(at) => {
                let length = if at % 2 == 0 { LONG } else { 40 * LONG };
                format!("{line}{}\n", " ".repeat(length - line.len()))
            }
            None => format!("{line}\n"),
        })
        .collect();
    let case = case_with(&lines.concat(), |settings| settings.limits.line = LONG);
    let wanted: Vec<String> = (0..N).filter(|n| !long.contains(n)).map(url).collect();
    let (mut query, mut found) = ("?limit=40".to_owned(), Vec::new());
    loop {
        let answer = case.ask(&query, &case.content);
        assert_eq!(answer.status, 200, "{query}");
        found.extend(urls(&answer));
        let Some(next) = answer.json()["next"].as_str().map(str::to_owned) else { break };
        query = next.split_once('?').map(|(_, query)| format!("?{query}")).unwrap();
    }
    assert_eq!(found, wanted);
    for n in 0..N {
        let status = case.ask(&format!("?url={}", url(n)), &case.entries).status;
        assert_eq!(status, if long.contains(&n) { 404 } else { 200 }, "{n}");
        let behind = urls(&case.ask(&format!("?limit=1&after={}", url(n)), &case.entries));
        let next = (n + 1..N).find(|n| !long.contains(n)).map(url);
        assert_eq!(behind.first(), next.as_ref(), "{n}");
    }
}

#[test] // ARC-026 ARC-064 D57
fn returns_full_entries_in_pages() {
    let case = case();
    let (mut query, mut found, mut n) = ("?limit=40".to_owned(), Vec::new(), 0);
    loop {
        n += 1;
        let answer = case.ask(&query, &case.entries);
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
        assert_eq!(answer.header("vary"), Some("authorization"));
        // The response is a valid ARC sitemap.
        let mut findings = Vec::new();
        let mut reader = ArcReader::new(answer.body.as_slice(), Limits::DEFAULT);
        while reader.next(&mut findings, |entry| entry.has_content()).unwrap().is_some() {}
        found.extend(urls(&answer));
        let json = answer.json();
        assert_eq!(json["site"], "https://harbour.example");
        assert!(json["pages"][0].get("scp_page").is_none(), "that is another scope");
        let Some(next) = json["next"].as_str() else {
            assert_eq!(answer.header("link"), None);
            break;
        };
        assert_eq!(answer.header("link"), Some(format!("<{next}>; rel=\"next\"").as_str()));
        query = next.strip_prefix("/arc-api/v1/pages").unwrap().to_owned();
    }
    assert_eq!((n, found), (7, (0..N).map(url).collect::<Vec<_>>()));
}

#[test] // ARC-026
fn returns_one_page_with_content() {
    let case = case();
    for n in [0, 1, 2, 77, 248, 249] {
        let answer = case.ask(&format!("?url={}", url(n)), &case.content);
        assert_eq!(urls(&answer), [url(n)]);
        let page = answer.json()["pages"][0].clone();
        assert_eq!(page.get("scp_page").is_some(), n % 2 == 0);
        assert_eq!(answer.json().get("next"), None);
        let after = case.ask(&format!("?after={}&limit=2", url(n)), &case.entries);
        let wanted: Vec<String> = (n + 1..N).take(2).map(url).collect();
        assert_eq!(urls(&after), wanted);
    }
    for other in ["https://harbour.example/log/0001.htm", "a", "z", ""] {
        assert_eq!(case.ask(&format!("?url={other}"), &case.entries).status, 404, "{other}");
    }
    assert_eq!(urls(&case.ask("?after=z", &case.entries)).len(), 0);
    assert_eq!(urls(&case.ask("?after=a", &case.entries)).len(), 100);
    assert_eq!(urls(&case.ask("?limit=99999", &case.entries)).len(), N);
}

#[test] // ARC-064 ARC-066
fn enforces_scopes_and_rates_of_tokens() {
    let case = case();
    let challenge = |answer: &Answer| answer.header("www-authenticate").unwrap().to_owned();
    let answer = case.running.get("/arc-api/v1/pages");
    assert_eq!((answer.status, challenge(&answer).as_str()), (401, "Bearer realm=\"rutter\""));
    for wrong in ["Bearer x", "Basic eDp4", "", &case.entries.replace("Bearer", "Token")] {
        let answer = case.ask("", wrong);
        assert_eq!(answer.status, 401, "{wrong}");
        assert!(challenge(&answer).contains("invalid_token"));
    }
    let answer = case.ask("", &case.slow);
    assert_eq!(answer.status, 403);
    assert!(challenge(&answer).contains("scope=\"entries\""));
    assert_eq!(case.ask("", &case.slow).status, 403);
    let answer = case.ask("", &case.slow);
    assert_eq!(answer.status, 429);
    assert!(answer.header("retry-after").is_some());
    assert_eq!(case.ask("", &case.entries).status, 200, "others have their own rate");
    for bad in ["?limit=0", "?limit=x", "?url=a&after=b", "?url=a&url=b", "?other=1", "?url=%ff"] {
        assert_eq!(case.ask(bad, &case.entries).status, 400, "{bad}");
    }
    assert_eq!(case.running.get("/arc-api/v1/other").status, 404);
    // Public files stay public with a token, without one and with a wrong one (D86).
    for headers in [&[][..], &[("Authorization", "Bearer x")], &[("Authorization", &case.entries)]]
    {
        assert_eq!(case.running.ask("GET", "/scp/a.scp", headers).status, 200);
        assert_eq!(case.running.ask("GET", "/a.html", headers).status, 200);
    }
    // Records contain no token.
    for record in case.running.records.0.lock().unwrap().iter() {
        let text = format!("{record:?}");
        let tokens = [&case.entries, &case.content, &case.slow];
        assert!(tokens.iter().all(|token| !text.contains(token.trim_start_matches("Bearer "))));
    }
    let named = case.running.records.0.lock().unwrap();
    assert!(named.iter().any(|record| record.token.as_deref() == Some("entries")));
}

#[test] // ARC-022
fn supports_conditional_requests_to_the_api() {
    let case = case();
    let first = case.ask("?limit=5", &case.entries);
    let tag = first.header("etag").unwrap();
    let again = |token: &str| {
        let headers = [("Authorization", token), ("If-None-Match", tag)];
        case.running.ask("GET", "/arc-api/v1/pages?limit=5", &headers)
    };
    let current = again(&case.entries);
    assert_eq!((current.status, current.header("etag")), (304, Some(tag)));
    assert_eq!(again(&case.content).status, 200, "another scope is another answer");
    let head =
        case.running.ask("HEAD", "/arc-api/v1/pages?limit=5", &[("Authorization", &case.entries)]);
    assert_eq!((head.status, head.header("etag")), (200, Some(tag)));
    swap(&case.running.folder.path().join("state/private/pages.jsonl"), store().as_bytes());
    assert_eq!(again(&case.entries).status, 200);
}

#[test] // ARC-026 ARC-064
fn serves_restricted_pages_only_with_a_token() {
    let case = case();
    for path in ["/log/0001.html", "/log/0001"] {
        let ask = |token: Option<&str>| {
            let headers: Vec<(&str, &str)> =
                token.map(|token| ("Authorization", token)).into_iter().collect();
            let answer = case.running.ask("GET", path, &headers);
            assert!(answer.status == 200 || !answer.text().contains("members"));
            answer
        };
        assert_eq!(ask(None).status, 401);
        assert_eq!(ask(Some("Bearer x")).status, 401);
        assert_eq!(ask(Some(&case.entries)).status, 403);
        let answer = ask(Some(&case.content));
        assert_eq!((answer.status, answer.text().as_str()), (200, "<p>members only"));
        assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
        assert_eq!(answer.header("vary"), Some("accept, authorization"));
        let range = case.running.ask("GET", path, &[("Range", "bytes=0-3")]);
        assert_eq!((range.status, range.text().contains("<p")), (401, false));
        let tag = answer.header("etag").unwrap();
        assert_eq!(case.running.ask("GET", path, &[("If-None-Match", tag)]).status, 401);
    }
    // A page that a running publication restricts is restricted at once.
    let state = case.running.folder.path().join("state");
    let served = std::fs::read_to_string(state.join("served.json")).unwrap();
    let next = served.replace("\"a.html\",", "\"a.html\",\"access\":\"token\",");
    put(&state.join("next/served"), next.as_bytes());
    put(&state.join("journal.json"), b"{}");
    swap(&case.running.public("a.html"), b"<p>members only");
    assert_eq!(case.running.get("/a.html").status, 401);
    std::fs::rename(state.join("next/served"), state.join("served.json")).unwrap();
    assert_eq!(case.running.get("/a.html").status, 401);
    std::fs::remove_file(state.join("journal.json")).unwrap();
    assert_eq!(case.running.get("/a.html").status, 401);
}

#[test]
fn without_tokens_there_is_no_api_and_no_access() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder.path().join("public/a.html"), b"<p>members only");
    let served = r#"{"version":2,"base":"https://harbour.example","files":[
{"path":"a.html","type":"text/html","cache":"page","access":"token"}]}"#;
    put(&folder.path().join("state/served.json"), served.as_bytes());
    put(&folder.path().join("state/private/pages.jsonl"), store().as_bytes());
    let running = Running::start(folder, |_| {}, None);
    assert_eq!(running.get("/arc-api/v1/pages").status, 404);
    assert_eq!(running.get("/a.html").status, 401);
    assert_eq!(running.ask("GET", "/a.html", &[("Authorization", "Bearer x")]).status, 401);
    assert_eq!(running.get("/A.HTML").status, 404);
}
