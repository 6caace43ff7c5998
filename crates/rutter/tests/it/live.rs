//! Tests of `rutter check URL` with a local server of the built example, and with one fault at a time.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Instant;

use rutter_testkit::server::{Reply, Server, TestClock};
use serde_json::Value;

use crate::faults::{BUILT, TIMES};

fn server() -> Server {
    let start = Instant::now();
    Server::start(TestClock {
        now: Arc::new(move || start.elapsed()),
        advance: Arc::new(|_| {}),
        armed: Arc::new(|| u64::MAX),
    })
}

/// Returns a server that serves all files correctly.
fn published() -> Server {
    let server = server();
    let dir = BUILT.folder.path().join("out");
    let mut folders = vec![dir.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&dir).unwrap().to_str().unwrap().to_owned();
            let url = match name.strip_suffix("index.html") {
                Some(folder) => format!("/{folder}"),
                None => format!("/{name}"),
            };
            server.route(&url, [reply(&path, &name)]);
        }
    }
    server
}

fn reply(path: &Path, name: &str) -> Reply {
    let bytes = std::fs::read(path).unwrap();
    let etag = format!("\"{:x}-{}\"", bytes.len(), name.len());
    let kinds = [
        (".scp.zst", "application/scp"),
        (".scp.gz", "application/scp"),
        (".jsonld", "application/ld+json"),
        (".json", "application/json"),
        (".yaml", "application/yaml"),
        (".xml", "application/xml"),
        (".txt", "text/plain; charset=utf-8"),
        (".html", "text/html"),
    ];
    let kind = kinds.iter().find(|(ending, _)| name.ends_with(ending));
    let reply =
        Reply::file(kind.map_or("application/octet-stream", |(_, kind)| kind), &etag, bytes);
    match name.rsplit('.').next() {
        Some("zst") => reply.with("Content-Encoding", "zstd"),
        Some("gz") if name.contains(".scp.") => reply.with("Content-Encoding", "gzip"),
        _ => reply,
    }
}

fn check(server: &Server, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().to_ascii_lowercase();
        if text.ends_with("_proxy") || text.starts_with("rutter_") {
            command.env_remove(name);
        }
    }
    let site = format!("http://{}/", server.address());
    command
        .args(["check", &site, "--allow-loopback", "--pace", "0", "--format", "json"])
        .args(args)
        .env("SOURCE_DATE_EPOCH", TIMES[2].to_string())
        .output()
        .unwrap()
}

/// Returns the codes of the findings, and the output.
fn codes(output: &Output) -> (BTreeSet<String>, String) {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{said}"));
    let mut found = BTreeSet::new();
    collect(&value, &mut found);
    (found, format!("{text}{said}"))
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            if let Some(code) = map.get("code").and_then(Value::as_str) {
                found.insert(code.to_owned());
            }
            map.values().for_each(|value| collect(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}

const AS: [&str; 2] = ["--as", "https://harbour.example"];

#[test]
fn live_site_without_faults_has_no_findings() {
    let server = published();
    let output = check(&server, &AS);
    let (found, text) = codes(&output);
    assert!(found.is_empty(), "{text}");
    assert_eq!(output.status.code(), Some(0));
    let paths = server.paths();
    assert!(paths.iter().any(|path| path.ends_with(".scp.zst")), "{paths:?}");
    assert!(paths.iter().any(|path| path == "/museum/"), "{paths:?}");
    assert!(paths.len() < 60, "{} requests", paths.len());
    assert_eq!(server.most_at_once(), 1);
}

/// A fault of the server.
type Plant<'p> = Box<dyn Fn(&Server) + 'p>;

#[expect(clippy::too_many_lines, reason = "it is a table")]
#[test] // SCP-144 SCP-145 SCP-149 SCP-152
fn server_faults_have_their_codes() {
    let dir = BUILT.folder.path().join("out");
    let file = |name: &str| std::fs::read(dir.join(name)).unwrap();
    let all = crate::faults::resolved("{all-snapshot}", &dir);
    let berthing = "/docs/berthing.html";
    let page = file("docs/berthing.html");
    let lost = || {
        Reply::ok("text/html", "<!doctype html><title>Lost</title><p>Nothing is here.")
            .with("ETag", "\"l\"")
    };
    let zst = format!("/{all}.scp.zst");
    let cases: Vec<(&str, Plant<'_>, &[&str])> = vec![
        (
            "a wrong type",
            Box::new(|server| {
                server.route(
                    "/llms.txt",
                    [Reply::file("application/octet-stream", "\"a\"", file("llms.txt"))],
                );
            }),
            &["HP001"],
        ),
        (
            "no validator",
            Box::new(|server| {
                server.route("/llms.txt", [Reply::ok("text/plain", file("llms.txt"))]);
            }),
            &["HP002"],
        ),
        (
            "everything is there",
            Box::new(move |server| {
                server.fallback(lost());
            }),
            &["HP003"],
        ),
        (
            "an announced file is a page",
            Box::new(move |server| {
                server.route("/arc-sitemap.json", [lost()]);
            }),
            &["HP004", "XL006"],
        ),
        (
            "a listed page is gone",
            Box::new(move |server| {
                server.route(berthing, [Reply::status(410)]);
            }),
            &["HP005"],
        ),
        (
            "a collection without its coding",
            Box::new(|server| {
                server.route(
                    &zst,
                    [Reply::file("application/scp", "\"a\"", file(&format!("{all}.scp.zst")))],
                );
            }),
            &["HP006"],
        ),
        (
            "a listed page moves",
            Box::new(|server| {
                server.route(berthing, [Reply::redirect(301, "/docs/moor.html")]);
                server.route("/docs/moor.html", [Reply::file("text/html", "\"a\"", page.clone())]);
            }),
            &["HP007"],
        ),
        (
            "a validator without effect",
            Box::new(|server| {
                server.route(
                    "/sitemap.xml",
                    [Reply::ok("application/xml", file("sitemap.xml")).with("ETag", "\"a\"")],
                );
            }),
            &["HP008"],
        ),
        (
            "a page that a header forbids",
            Box::new(|server| {
                server.route(
                    berthing,
                    [Reply::file("text/html", "\"a\"", page.clone())
                        .with("X-Robots-Tag", "noindex")],
                );
            }),
            &["HP009"],
        ),
        (
            "a collection that is not there",
            Box::new(|server| {
                server.route(&zst, [Reply::status(404)]);
            }),
            &["HP005"],
        ),
    ];
    for (name, plant, wanted) in &cases {
        let server = published();
        plant(&server);
        let (found, text) = codes(&check(&server, &AS));
        let wanted: BTreeSet<String> = wanted.iter().map(|code| (*code).to_owned()).collect();
        assert_eq!(found, wanted, "{name}\n{text}");
    }
}

#[test] // SCP-196
fn warns_about_a_live_base_url_that_is_not_https_unless_it_is_loopback() {
    let server = published();
    let (found, text) = codes(&check(&server, &["--base-url", "http://harbour.example"]));
    assert!(found.contains("HP010"), "{text}");
    let (found, text) = codes(&check(&server, &[]));
    assert!(!found.contains("HP010"), "{text}");
}

#[test] // D12, D74
fn check_of_host_that_answers_everything_ends() {
    let server = server();
    server.fallback(Reply::ok(
        "text/html",
        "<!doctype html><html lang=en><title>Yes</title><p>Everything you want is here for you.",
    ));
    let output = check(&server, &[]);
    let (found, text) = codes(&output);
    assert!(found.contains("HP003"), "{text}");
    assert!(!found.iter().any(|code| code.starts_with("AR")), "{text}");
    assert!(server.paths().len() < 20, "{:?}", server.paths());
}

#[test]
fn unreachable_site_gives_exit_code_3() {
    let server = server();
    let address = server.address();
    drop(server);
    let output = Command::new(env!("CARGO_BIN_EXE_rutter"))
        .args(["check", &format!("http://{address}/"), "--allow-loopback", "--pace", "0"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the details of all findings of a code.
fn details(output: &Output, code: &str) -> Vec<String> {
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let files = value["files"].as_array().unwrap().iter();
    let findings = files.flat_map(|file| file["findings"].as_array().unwrap());
    let own = findings.filter(|finding| finding["code"] == code);
    own.map(|finding| finding["detail"].as_str().unwrap().to_owned()).collect()
}

#[test] // D89
fn endless_response_is_skipped_and_not_missing() {
    let server = published();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..70 {
        std::io::Write::write_all(&mut packed, &vec![b' '; 1 << 20]).unwrap();
    }
    let packed = packed.finish().unwrap();
    let reply = Reply::file("application/json", "\"a\"", packed).with("Content-Encoding", "gzip");
    server.route("/arc-sitemap.json", [reply]);
    let output = check(&server, &AS);
    let (found, text) = codes(&output);
    assert_eq!(found, BTreeSet::from(["XL003".to_owned()]), "{text}");
    assert_eq!(details(&output, "XL003"), ["larger than 67108864 bytes"]);
}

#[test]
fn files_beyond_limit_are_reported_and_not_missing() {
    let dir = BUILT.folder.path().join("out");
    let root = |name: &str, inner: &str| {
        let namespace = "http://www.sitemaps.org/schemas/sitemap/0.9";
        format!("<{name} xmlns=\"{namespace}\">{inner}</{name}>")
    };
    let child =
        |name: &str| format!("<sitemap><loc>https://harbour.example/{name}</loc></sitemap>");
    let many = published();
    let xml = |path: &str, bytes: Vec<u8>| {
        many.route(path, [Reply::file("application/xml", "\"a\"", bytes)]);
    };
    let index = ["sitemap-1.xml", "sitemap-2.xml", "sitemap-3.xml"].map(child).concat();
    xml("/sitemap.xml", root("sitemapindex", &index).into());
    xml("/sitemap-1.xml", std::fs::read(dir.join("sitemap.xml")).unwrap());
    for path in ["/sitemap-2.xml", "/sitemap-3.xml"] {
        let home = "<url><loc>https://harbour.example/</loc></url>";
        xml(path, root("urlset", home).into());
    }
    let one = published();
    for (server, args, wanted) in [
        (&many, ["--sitemaps", "2"], "2 sitemaps over the limit were not checked"),
        (&one, ["--collections", "1"], "5 collections over the limit were not checked"),
        (&one, ["--packets", "1"], "2 packets over the limit were not checked"),
    ] {
        let output = check(server, &[&AS[..], &args].concat());
        let (mut found, text) = codes(&output);
        // An incomplete list proves nothing about the index, which is reported, too.
        assert_eq!(found.remove("SX090"), args[0] == "--sitemaps", "{args:?} {text}");
        assert_eq!(found, BTreeSet::from(["XL003".to_owned()]), "{args:?} {text}");
        assert_eq!(details(&output, "XL003"), [wanted]);
    }
}

#[test]
fn failed_responses_are_not_missing_files() {
    let server = published();
    for path in ["/llms.txt", "/arc-sitemap.json"] {
        server.route(path, [Reply::status(500)]);
    }
    let (found, text) = codes(&check(&server, &AS));
    assert!(!found.contains("XL006"), "{text}");
}
