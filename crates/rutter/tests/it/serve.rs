//! `rutter serve` as a program: every file of the built example, and signals.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rutter_page::{Digest, Timestamp};
use serde_json::Value;

/// A server that ends with its guard.
struct Serving {
    child: Child,
    address: SocketAddr,
    /// What it said at its start.
    said: BufReader<std::process::ChildStderr>,
}

fn rutter() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    command.env("NO_COLOR", "1").env("SOURCE_DATE_EPOCH", "1767225600");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("RUTTER_") {
            command.env_remove(name);
        }
    }
    command
}

impl Serving {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut command = rutter();
        command.args(["serve", "public", "--state", "state", "--listen", "127.0.0.1:0"]);
        command.args(args).current_dir(folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.trim_end().trim_end_matches('/').rsplit('/').next().unwrap();
        let address = address.parse().unwrap_or_else(|_| panic!("{line}"));
        Self { child, address, said }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        ask(self.address, "GET", path, headers)
    }

    /// Waits for a line that begins so.
    fn hear(&mut self, start: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.said.read_line(&mut line).unwrap(), 0, "never said {start}");
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// Its exit code, and what it wrote.
    fn end(mut self) -> (Option<i32>, String) {
        let end = Instant::now() + Duration::from_secs(20);
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(Instant::now() < end, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut text = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        (code, text)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

fn ask(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut text =
        format!("{method} {path} HTTP/1.1\r\nHost: harbour.example\r\nConnection: close\r\n");
    for &(name, value) in headers {
        text.extend([name, ": ", value, "\r\n"]);
    }
    stream.write_all((text + "\r\n").as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_owned(), value.to_owned())
    });
    Answer { status, headers: headers.collect(), body: bytes[end + 4..].to_vec() }
}

/// The example, built into a folder.
fn built() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let site = super::root().canonicalize().unwrap().join("examples/harbour");
    let status = rutter()
        .args(["build", "--base-url", "https://harbour.example", "--out", "public"])
        .args(["--state", "state"])
        .arg(site)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    folder
}

/// All files below a folder, by their names.
fn files(root: &Path) -> Vec<String> {
    let (mut found, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap();
                found.push(name.to_owned());
            }
        }
    }
    found.sort();
    found
}

/// What the specifications want of a file by its ending: type, coding, cache.
fn wanted(name: &str) -> (&'static str, Option<&'static str>, &'static str) {
    let entry = "public, max-age=3600";
    let snapshot = "public, max-age=604800, stale-while-revalidate=3600";
    let page = "public, max-age=0, must-revalidate";
    for (ending, kind, coding, cache) in [
        (".scp.gz", "application/scp", Some("gzip"), snapshot),
        (".scp.zst", "application/scp", Some("zstd"), snapshot),
        (".json.gz", "application/json", Some("gzip"), entry),
        (".jsonld.gz", "application/ld+json", Some("gzip"), entry),
        (".yaml.gz", "application/yaml", Some("gzip"), entry),
        (".json", "application/json", None, entry),
        (".jsonld", "application/ld+json", None, entry),
        (".yaml", "application/yaml", None, entry),
        (".xml", "application/xml", None, entry),
        (".txt", "text/plain; charset=utf-8", None, entry),
        (".md", "text/markdown; charset=utf-8", None, entry),
        (".html", "text/html", None, page),
        (".css", "text/css; charset=utf-8", None, entry),
        (".svg", "image/svg+xml", None, entry),
    ] {
        if name.ends_with(ending) {
            return (kind, coding, cache);
        }
    }
    panic!("the example has a new kind of file: {name}");
}

// SCP-144 SCP-145 SCP-147 SCP-148 SCP-149 SCP-150 SCP-151 SCP-152 SCP-156 SCP-157 SCP-158 SCP-202
// SCP-213 ARC-022 ARC-023 SPX-049 SPX-050
#[test]
fn spec_every_file_of_the_example_has_its_headers() {
    let folder = built();
    let public = folder.path().join("public");
    let served: Value =
        serde_json::from_slice(&fs::read(folder.path().join("state/served.json")).unwrap())
            .unwrap();
    let served: BTreeMap<String, Value> = served["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap().to_owned(), file.clone()))
        .collect();
    let serving = Serving::start(folder.path(), &["--rate", "off", "--access-log", "off"]);
    let names = files(&public);
    let has = |name: &str| names.iter().any(|other| other == name);
    let (mut n_described, mut n_twins, mut n_coded) = (0, 0, 0);
    for name in &names {
        let path = format!("/{name}");
        let bytes = fs::read(public.join(name)).unwrap();
        let (kind, coding, cache) = wanted(name);
        let file = served.get(name);
        n_described += usize::from(file.is_some());
        if file.is_some_and(|file| file.get("access").is_some()) {
            let answer = serving.get(&path, &[]);
            assert_eq!((answer.status, answer.header("etag")), (401, None), "{name}");
            continue;
        }
        let answer = serving.get(&path, &[]);
        assert_eq!((answer.status, &answer.body), (200, &bytes), "{name}");
        assert_eq!(answer.header("content-type"), Some(kind), "{name}");
        assert_eq!(answer.header("content-encoding"), coding, "{name}");
        assert_eq!(answer.header("cache-control"), Some(cache), "{name}");
        assert_eq!(answer.header("content-length"), Some(bytes.len().to_string().as_str()));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("accept-ranges"), Some("bytes"));
        let digest = match file.and_then(|file| file["digest"].as_str()) {
            Some(digest) => digest.to_owned(),
            None => Digest::of(&bytes).to_string(),
        };
        let tag = format!("\"{digest}\"");
        assert_eq!(answer.header("etag"), Some(tag.as_str()), "{name}");
        if let Some(modified) = file.and_then(|file| file["modified"].as_str()) {
            // Dates of the example lie between the day it was built for and now.
            let (time, _) = Timestamp::parse_lenient(modified).unwrap();
            let found = answer.header("last-modified").unwrap();
            let day = time.to_string();
            assert!(found.contains(&day[..4]) && found.contains(&day[11..19]), "{found} {day}");
        }
        let coded = format!("{name}.gz");
        let is_negotiated = coding.is_none() && has(&coded);
        let vary = match (is_negotiated, kind) {
            (true, _) => Some("accept-encoding"),
            (false, "text/html") => Some("accept"),
            _ => None,
        };
        assert_eq!(answer.header("vary"), vary, "{name}");
        let head = ask(serving.address, "HEAD", &path, &[]);
        let undated = |answer: &Answer| {
            let mut headers = answer.headers.clone();
            headers.remove("date");
            headers
        };
        assert_eq!((head.status, undated(&head)), (200, undated(&answer)), "{name}");
        assert!(head.body.is_empty());
        let modified = answer.header("last-modified").unwrap();
        for condition in [("If-None-Match", tag.as_str()), ("If-Modified-Since", modified)] {
            let current = serving.get(&path, &[condition]);
            assert_eq!((current.status, current.body.len()), (304, 0), "{name}");
            for same in ["etag", "cache-control", "last-modified", "vary"] {
                assert_eq!(current.header(same), answer.header(same), "{name}");
            }
        }
        if is_negotiated {
            n_coded += 1;
            let answer = serving.get(&path, &[("Accept-Encoding", "gzip, br")]);
            assert_eq!(answer.body, fs::read(public.join(&coded)).unwrap(), "{name}");
            assert_eq!(answer.header("content-encoding"), Some("gzip"));
            assert_eq!(answer.header("content-type"), Some(kind));
            assert_eq!(answer.header("etag"), Some(format!("\"{digest}-gzip\"").as_str()));
            assert_eq!(answer.header("vary"), Some("accept-encoding"));
        }
        if let Some(twin) = file.and_then(|file| file["twin"].as_str()) {
            n_twins += 1;
            let text = fs::read(public.join(twin)).unwrap();
            check_twin(&serving, &path, &text);
        }
    }
    assert!(40 < n_described && 10 < n_twins && 3 < n_coded, "{n_described} {n_twins} {n_coded}");
    let index = serving.get("/spxi-index.jsonld", &[]);
    assert_eq!(index.header("content-type"), Some("application/ld+json"));
}

/// At every address of a page its twin is to be had.
fn check_twin(serving: &Serving, path: &str, text: &[u8]) {
    let short = match path.strip_suffix("index.html") {
        Some(folder) => folder,
        None => path.trim_end_matches(".html"),
    };
    for path in [path, short] {
        let answer = serving.get(path, &[("Accept", "text/markdown")]);
        let kind = answer.header("content-type");
        assert_eq!(kind, Some("text/markdown; charset=utf-8"), "{path}");
        let tokens = text.len().div_ceil(4).to_string();
        assert_eq!(answer.header("x-markdown-tokens"), Some(tokens.as_str()));
        assert_eq!((answer.header("vary"), answer.body.as_slice()), (Some("accept"), text));
    }
}

#[test] // reliability E13
fn ours_signals_reload_and_end_the_server() {
    let folder = built();
    let mut serving = Serving::start(folder.path(), &["--log-form", "json"]);
    assert_eq!(serving.get("/", &[("User-Agent", "a \"bot\"")]).status, 200);
    serving.signal("-HUP");
    serving.hear("read again");
    fs::write(folder.path().join("state/served.json"), "{").unwrap();
    serving.signal("-HUP");
    let line = serving.hear("not read again");
    assert!(line.contains("served.json"), "{line}");
    assert_eq!(serving.get("/", &[]).status, 200);
    serving.signal("-TERM");
    serving.hear("ending");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0));
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert_eq!((&lines[0]["target"], &lines[0]["status"]), (&"/".into(), &200.into()));
    assert_eq!(lines[0]["user_agent"], "a \"bot\"");
}

#[test]
fn ours_a_port_in_use_is_one_line_and_exit_2() {
    let folder = built();
    let serving = Serving::start(folder.path(), &[]);
    let output = rutter()
        .args(["serve", "public", "--listen", &serving.address.to_string()])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, format!("error: {} is in use\n", serving.address));
    let output = rutter().args(["serve", "nowhere"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn ours_a_journal_is_finished_before_anything_is_served() {
    let folder = built();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    fs::create_dir_all(at("state/stage")).unwrap();
    fs::write(at("state/stage/1"), "new").unwrap();
    let step = serde_json::json!({ "move": { "from": at("state/stage/1"), "to": at("public/new.txt"), "before": null } });
    fs::write(at("state/journal.json"), format!("{{\"format\":3}}\n{step}\n")).unwrap();
    let mut command = rutter();
    command.args(["serve", "public", "--state", "state", "--listen", "127.0.0.1:0"]);
    let mut child = command.current_dir(folder.path()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    drop(child.kill());
    drop(child.wait());
    assert_eq!(line, "finished a publication that was interrupted\n");
    assert_eq!(fs::read_to_string(at("public/new.txt")).unwrap(), "new");
}

#[test] // ARC-064 ARC-066
fn spec_a_token_is_printed_once_and_opens_the_api() {
    let folder = built();
    let private = folder.path().join("state/private");
    fs::create_dir_all(&private).unwrap();
    let entry = r#"{"url":"https://harbour.example/museum/members.html","ai_indexable":true,"auth_required":true,"ai_summary":"Members"}"#;
    let line = format!(
        "{{\"url\":\"https://harbour.example/museum/members.html\",\"entry\":{entry},\"page\":null}}\n"
    );
    fs::write(private.join("pages.jsonl"), line).unwrap();
    let make = |name: &str| {
        let output = rutter()
            .args(["token", "new", name, "--scope", "entries", "--rate", "10/m"])
            .args(["--file", "tokens.toml"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, token) = make("partner");
    assert_eq!((code, token.lines().count()), (Some(0), 1));
    assert_eq!(make("partner").0, Some(2), "a name is given once");
    let text = fs::read_to_string(folder.path().join("tokens.toml")).unwrap();
    assert!(!text.contains(token.trim()));
    let serving = Serving::start(folder.path(), &["--tokens", "tokens.toml"]);
    let path = "/arc-api/v1/pages";
    assert_eq!(serving.get(path, &[]).status, 401);
    let bearer = format!("Bearer {}", token.trim());
    let answer = serving.get(path, &[("Authorization", &bearer)]);
    assert_eq!(answer.status, 200);
    assert!(String::from_utf8(answer.body).unwrap().contains("\"ai_summary\":\"Members\""));
    serving.signal("-INT");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0));
    assert!(log.contains(" - partner [") && !log.contains(token.trim()), "{log}");
}
