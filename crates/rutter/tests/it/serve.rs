//! Tests of `rutter serve` with all files of the built example, and with signals.

mod closed;
mod running;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rutter_page::{Digest, Timestamp};
use serde_json::Value;

/// A server that is stopped when it is dropped.
pub(crate) struct Serving {
    child: Child,
    address: SocketAddr,
    /// Its first messages.
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
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Self {
        Self::of(folder, &[&["public", "--state", "state"], args].concat())
    }

    /// Starts a server with exactly these arguments.
    fn of(folder: &Path, args: &[&str]) -> Self {
        let mut command = rutter();
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(args).current_dir(folder);
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.trim_end().trim_end_matches('/').rsplit('/').next().unwrap();
        let address = address.parse().unwrap_or_else(|_| panic!("{line}"));
        Self { child, address, said }
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    pub(crate) fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        ask(self.address, "GET", path, headers)
    }

    /// Waits for a line with this start.
    pub(crate) fn hear(&mut self, start: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.said.read_line(&mut line).unwrap(), 0, "never said {start}");
            if line.starts_with(start) {
                return line;
            }
        }
    }

    /// Stops the server and returns its exit code and its output.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
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
pub(crate) struct Answer {
    pub(crate) status: u16,
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

/// Copies the example to a folder.
fn copied() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy("examples/harbour", &folder.path().join("site"));
    folder
}

/// Copies a folder of ours.
fn copy(from: &str, to: &Path) {
    let from = super::root().canonicalize().unwrap().join(from);
    for name in files(&from) {
        let to = to.join(&name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from.join(&name), to).unwrap();
    }
}

/// Builds the site of a folder at a time.
fn build(folder: &Path, time: i64, args: &[&str]) {
    let output = rutter()
        .args(["build", "site", "--base-url", "https://harbour.example", "--out", "public"])
        .args(["--state", "state"])
        .args(args)
        .env("SOURCE_DATE_EPOCH", time.to_string())
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

/// The example, built into a folder.
pub(crate) fn built() -> tempfile::TempDir {
    let folder = copied();
    build(folder.path(), now() - 60, &[]);
    folder
}

/// Returns the entries of `served.json` by file.
fn served(folder: &Path) -> BTreeMap<String, Value> {
    let served = fs::read(folder.join("state/served.json")).unwrap();
    let served: Value = serde_json::from_slice(&served).unwrap();
    let files = served["files"].as_array().unwrap().iter();
    files.map(|file| (file["path"].as_str().unwrap().to_owned(), file.clone())).collect()
}

/// The example with deltas and a collection without any coding, and what is
/// known of its files.
fn built_twice() -> (tempfile::TempDir, BTreeMap<String, Value>) {
    let folder = copied();
    let public = folder.path().join("public");
    copy("examples/entities", &folder.path().join("entities"));
    fs::copy(super::root().join("examples/rutter.toml"), folder.path().join("rutter.toml"))
        .unwrap();
    build(folder.path(), now() - 86_400, &[]);
    let page = folder.path().join("site/docs/tides-api.html");
    let text = fs::read_to_string(&page).unwrap();
    fs::write(&page, text.replace("</main>", "<p>Times are those of the inner basin.</p></main>"))
        .unwrap();
    build(folder.path(), now() - 60, &[]);
    let mut served = served(folder.path());
    let is_snapshot = |name: &&String| name.ends_with(".scp.gz") && !name.contains("-delta-");
    let coded = served.keys().find(is_snapshot).unwrap().clone();
    let mut text = Vec::new();
    let bytes = fs::read(public.join(&coded)).unwrap();
    flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut text).unwrap();
    let plain = coded.trim_end_matches(".gz").to_owned();
    fs::write(public.join(&plain), text).unwrap();
    served.insert(plain, served[&coded].clone());
    (folder, served)
}

/// A time as a header has it.
fn http_date(seconds: i64) -> String {
    let text = Timestamp::from_unix_seconds(seconds).unwrap().to_string();
    let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let day = days[usize::try_from(seconds.div_euclid(86_400).rem_euclid(7)).unwrap()];
    let month = months[text[5..7].parse::<usize>().unwrap() - 1];
    format!("{day}, {} {month} {} {} GMT", &text[8..10], &text[..4], &text[11..19])
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

/// Returns the required media type, content coding and caching of a file.
fn wanted(name: &str) -> (&'static str, Option<&'static str>, &'static str) {
    let entry = "public, max-age=3600";
    let snapshot = "public, max-age=604800, stale-while-revalidate=3600";
    let page = "public, max-age=0, must-revalidate";
    let delta = "public, max-age=3600, must-revalidate";
    let scp = if name.contains("-delta-") { delta } else { snapshot };
    for (ending, kind, coding, cache) in [
        (".scp.gz", "application/scp", Some("gzip"), scp),
        (".scp.zst", "application/scp", Some("zstd"), scp),
        (".scp", "application/scp", None, scp),
        (".json.gz", "application/json", Some("gzip"), entry),
        (".jsonld.gz", "application/ld+json", Some("gzip"), entry),
        (".yaml.gz", "application/yaml", Some("gzip"), entry),
        (".json", "application/json", None, entry),
        (".jsonld", "application/ld+json", None, entry),
        (".yaml", "application/yaml", None, entry),
        (".xml", "application/xml", None, entry),
        (".txt", "text/plain; charset=utf-8", None, entry),
        (".md", "text/markdown; charset=utf-8", None, entry),
        (".html", "text/html; charset=utf-8", None, page),
        (".css", "text/css; charset=utf-8", None, entry),
        (".svg", "image/svg+xml", None, entry),
        (".jpg", "image/jpeg", None, entry),
    ] {
        if name.ends_with(ending) {
            return (kind, coding, cache);
        }
    }
    panic!("the example has a new kind of file: {name}");
}

fn base64(bytes: &[u8]) -> String {
    let digits: Vec<char> =
        ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let bits: Vec<String> = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    let bits = bits.concat();
    let groups = bits.as_bytes().chunks(6).map(|group| {
        let text = format!("{:0<6}", std::str::from_utf8(group).unwrap());
        digits[usize::from_str_radix(&text, 2).unwrap()]
    });
    let mut text: String = groups.collect();
    text.extend(std::iter::repeat_n('=', (4 - text.len() % 4) % 4));
    text
}

// SCP-142 SCP-144 SCP-145 SCP-147 SCP-148 SCP-149 SCP-150 SCP-151 SCP-152 SCP-156 SCP-157 SCP-158
// SCP-159 SCP-202 SCP-213 ARC-022 ARC-023 SPX-049 SPX-050
#[test]
fn each_file_of_the_example_has_correct_headers() {
    let (folder, served) = built_twice();
    let public = folder.path().join("public");
    let serving = Serving::start(folder.path(), &["--rate", "off", "--access-log", "off"]);
    let names = files(&public);
    let has = |name: &str| names.iter().any(|other| other == name);
    let (mut n_described, mut n_twins, mut n_coded, mut n_deltas) = (0, 0, 0, 0);
    for name in &names {
        let path = format!("/{name}");
        let bytes = fs::read(public.join(name)).unwrap();
        let (kind, coding, cache) = wanted(name);
        let file = served.get(name);
        n_described += usize::from(file.is_some());
        n_deltas += usize::from(name.contains("-delta-") && kind == "application/scp");
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
        let stored = format!("sha-256=:{}:", base64(&Digest::of(&bytes).0));
        assert_eq!(answer.header("repr-digest"), Some(stored.as_str()), "{name}");
        // The time of the build, else that of the file, but never a future time.
        let modified = match file.and_then(|file| file["modified"].as_str()) {
            Some(told) => Timestamp::parse_lenient(told).unwrap().0.unix_seconds(),
            None => fs::metadata(public.join(name)).unwrap().mtime(),
        };
        let modified = http_date(modified.min(now()));
        assert_eq!(answer.header("last-modified"), Some(modified.as_str()), "{name}");
        let coded = format!("{name}.gz");
        // A collection is sent in the requested form, even if other forms exist.
        let is_text =
            ["xml", "json", "plain", "css", "svg", "yaml"].iter().any(|it| kind.contains(it));
        let is_compressed = is_text && (1 << 10..=16 << 20).contains(&bytes.len());
        let is_negotiated =
            coding.is_none() && (has(&coded) || is_compressed) && kind != "application/scp";
        let vary = match (is_negotiated, kind) {
            (true, _) => Some("accept-encoding"),
            (false, "text/html; charset=utf-8") => Some("accept"),
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
            if has(&coded) {
                assert_eq!(answer.body, fs::read(public.join(&coded)).unwrap(), "{name}");
            }
            let mut text = Vec::new();
            Read::read_to_end(&mut flate2::read::GzDecoder::new(&*answer.body), &mut text).unwrap();
            assert_eq!(text, bytes, "{name}");
            assert_eq!(answer.header("content-encoding"), Some("gzip"));
            assert_eq!(answer.header("content-type"), Some(kind));
            // Files that the build did not write have an ETag of their own digest.
            let tag = answer.header("etag").unwrap_or_default();
            let end = if has(&coded) { "-gzip\"" } else { "-gzip-" };
            assert!(tag.starts_with(&format!("\"{digest}{end}")), "{name}: {tag}");
            assert_eq!(answer.header("vary"), Some("accept-encoding"));
        }
        if let Some(twin) = file.and_then(|file| file["twin"].as_str()) {
            n_twins += 1;
            let text = fs::read(public.join(twin)).unwrap();
            check_twin(&serving, &path, &text);
        }
    }
    assert!(40 < n_described && 10 < n_twins, "{n_described} {n_twins}");
    assert!(3 < n_coded && 2 <= n_deltas, "{n_coded} {n_deltas}");
    let index = serving.get("/spxi-index.jsonld", &[]);
    assert_eq!(index.header("content-type"), Some("application/ld+json"));
    check_announced(&public, &names);
}

/// Checks that each announced collection is one of the files.
fn check_announced(public: &Path, names: &[String]) {
    let sitemap = fs::read_to_string(public.join("sitemap.xml")).unwrap();
    let announced: Vec<&str> = sitemap
        .lines()
        .filter(|line| line.starts_with("<scp:collection ") || line.starts_with("<scp:delta "))
        .map(|line| line.split_once("url=\"https://harbour.example/").unwrap().1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(4 <= announced.len(), "{announced:?}");
    let has = |name: &&str| names.iter().any(|other| other == name);
    assert!(announced.iter().all(has), "{announced:?}");
}

/// Checks that the twin of a page is available.
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

#[test] // E13
fn signals_reload_and_stop_the_server() {
    let folder = built();
    let mut serving = Serving::start(folder.path(), &["--log-form", "json"]);
    assert_eq!(serving.get("/", &[("User-Agent", "a \"bot\"")]).status, 200);
    serving.signal("-HUP");
    serving.hear("reloaded");
    fs::write(folder.path().join("state/served.json"), "{").unwrap();
    serving.signal("-HUP");
    let line = serving.hear("reload failed");
    assert!(line.contains("served.json"), "{line}");
    assert_eq!(serving.get("/", &[]).status, 200);
    serving.signal("-TERM");
    serving.hear("stopping");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0));
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert_eq!((&lines[0]["target"], &lines[0]["status"]), (&"/".into(), &200.into()));
    assert_eq!(lines[0]["user_agent"], "a \"bot\"");
}

#[test]
fn port_in_use_gives_one_error_and_exit_code_2() {
    let folder = built();
    let serving = Serving::start(folder.path(), &[]);
    let output = rutter()
        .args(["serve", "public", "--state", "state", "--listen", &serving.address.to_string()])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, format!("error: {} is already in use\n", serving.address));
    let output = rutter().args(["serve", "nowhere"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn journal_is_completed_before_serving() {
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
    assert_eq!(line, "completed an interrupted publication\n");
    assert_eq!(fs::read_to_string(at("public/new.txt")).unwrap(), "new");
}

#[test] // ARC-064 ARC-066
fn token_is_printed_once_and_opens_the_api() {
    let folder = copied();
    let at = |name: &str| folder.path().join("site/museum").join(name);
    // Files that the build does not read, or only copies, are closed, too.
    for name in ["data.json", "members.html.gz", "members.md", "list.pdf", "notes"] {
        fs::write(at(name), "for friends").unwrap();
    }
    fs::write(at("broken.html"), b"<p>\xff\xfe for friends").unwrap();
    fs::write(at("left-out.html"), "<p>for friends").unwrap();
    let args = ["--restricted", "/museum/", "--arc-private", "--exclude", "museum/left-out.html"];
    build(folder.path(), now() - 60, &args);
    let make = |name: &str| {
        let output = rutter()
            .args(["token", "new", name, "--scope", "entries", "--rate", "9999/m"])
            .args(if name == "content" { &["--scope", "content"][..] } else { &[] })
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
    let body = String::from_utf8(answer.body).unwrap();
    assert!(body.contains("https://harbour.example/museum/members.html"), "{body}");
    assert!(body.contains("\"auth_required\":true") && !body.contains("scp_page"), "{body}");
    let full = format!("Bearer {}", make("content").1.trim());
    let is_full = || serving.get(path, &[("Authorization", &full)]).body;
    wait_for("the new token", || String::from_utf8(is_full()).unwrap().contains("\"scp_page\":"));
    let closed: Vec<String> = files(&folder.path().join("public"))
        .into_iter()
        .filter(|name| name.starts_with("museum/"))
        .collect();
    for name in ["data.json", "members.html", "members.html.gz", "members.md", "list.pdf", "notes"]
    {
        assert!(closed.contains(&format!("museum/{name}")), "{name}: {closed:?}");
    }
    for name in &closed {
        let path = format!("/{name}");
        assert_eq!(serving.get(&path, &[]).status, 401, "{name}");
        let scope = serving.get(&path, &[("Authorization", &bearer)]).status;
        assert_eq!(scope, 403, "{name}");
        let answer = serving.get(&path, &[("Authorization", &full)]);
        assert_eq!(answer.body, fs::read(folder.path().join("public").join(name)).unwrap());
        assert_eq!(answer.header("cache-control"), Some("private, no-cache"), "{name}");
    }
    fs::write(folder.path().join("public/museum/new.txt"), "for friends").unwrap();
    assert_eq!(serving.get("/museum/new.txt", &[]).status, 401);
    assert_eq!(serving.get("/docs/", &[]).status, 200);
    serving.signal("-INT");
    let (code, log) = serving.end();
    assert_eq!(code, Some(0));
    assert!(log.contains(" - partner [") && !log.contains(token.trim()), "{log}");
}

/// Waits for something that happens soon.
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the exit code and the message of a server that does not start.
fn refused(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let args = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
    let output = rutter().args(args).current_dir(folder).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn folder_is_served_with_its_own_state_only() {
    let folder = copied();
    let here = folder.path();
    build(here, now() - 60, &["--restricted", "/docs/"]);
    // A typo in the name of the state does not open closed pages.
    let (code, said) = refused(here, &["public", "--state", "stat"]);
    assert_eq!((code, said.contains("folder stat has no served.json")), (Some(2), true), "{said}");
    // The state of another folder, named or found.
    fs::create_dir_all(here.join("other/public")).unwrap();
    fs::write(here.join("other/public/index.html"), "<p>other").unwrap();
    let (code, said) = refused(here, &["other/public", "--state", "state"]);
    assert_eq!((code, said.contains("describes state/../public")), (Some(2), true), "{said}");
    fs::rename(here.join("state"), here.join(".rutter")).unwrap();
    let (code, said) = refused(here, &["other/public"]);
    assert_eq!((code, said.contains(" describes ")), (Some(2), true), "{said}");
    // Its own state is found first, from any folder, and both can be moved.
    fs::create_dir(here.join("moved")).unwrap();
    fs::rename(here.join("public"), here.join("moved/public")).unwrap();
    fs::rename(here.join(".rutter"), here.join("moved/.rutter")).unwrap();
    fs::create_dir(here.join(".rutter")).unwrap();
    let foreign = r#"{"version":2,"base":"https://other.example/","files":[]}"#;
    fs::write(here.join(".rutter/served.json"), foreign).unwrap();
    let mut serving = Serving::of(here, &["moved/public", "--rate", "off", "--access-log", "off"]);
    let line = serving.hear("using ");
    assert!(line.contains("moved/.rutter/served.json"), "{line}");
    assert_eq!(serving.get("/docs/", &[]).status, 401);
    assert_eq!(serving.get("/blog/", &[]).status, 200);
    // A changed file that cannot be read is reported once.
    fs::write(here.join("moved/.rutter/served.json"), "{").unwrap();
    let (address, is_over) = (serving.address, AtomicBool::new(false));
    std::thread::scope(|scope| {
        // The change is noticed at the next request.
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                assert_eq!(ask(address, "GET", "/docs/", &[]).status, 401);
            }
        });
        let line = serving.hear("reload failed; keeping the previous version");
        is_over.store(true, Ordering::Relaxed);
        assert!(line.contains("served.json"), "{line}");
    });
}

#[test] // SCP-160 D10
fn cache_lifetimes_are_those_of_the_build() {
    for (time, update, wanted) in [
        (now() - 60, "daily", "public, max-age=86400, stale-while-revalidate=3600"),
        // It ended long ago.
        (1_577_836_800, "weekly", "public, max-age=0, stale-while-revalidate=0"),
    ] {
        let folder = copied();
        build(folder.path(), time, &["--update", update]);
        let serving = Serving::start(folder.path(), &["--access-log", "off"]);
        let collections: Vec<String> =
            served(folder.path()).into_keys().filter(|name| name.contains(".scp.")).collect();
        assert!(!collections.is_empty());
        for name in collections {
            let answer = serving.get(&format!("/{name}"), &[]);
            assert_eq!(answer.header("cache-control"), Some(wanted), "{name}");
        }
    }
}

/// A server with few files to open.
fn strained(folder: &Path, limit: &str) -> Serving {
    let program = env!("CARGO_BIN_EXE_rutter");
    let script = format!("{limit}; exec {program} serve public --listen 127.0.0.1:0 --workers 1");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(folder);
    Serving::spawn(command)
}

#[test] // E13
fn no_404_without_free_file_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("public")).unwrap();
    for n in 0..200 {
        fs::write(folder.path().join(format!("public/{n}.html")), "<p>page").unwrap();
    }
    let serving = strained(folder.path(), "ulimit -n 40");
    let mut streams: Vec<BufReader<TcpStream>> = Vec::new();
    let mut statuses = BTreeMap::new();
    // Each connection uses a file descriptor, until none is left for a page.
    for n in 0..100 {
        let stream = TcpStream::connect(serving.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut stream = BufReader::new(stream);
        let request = format!("GET /{n}.html HTTP/1.1\r\nHost: a\r\n\r\n");
        stream.get_mut().write_all(request.as_bytes()).unwrap();
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let status: u16 = line.split(' ').nth(1).unwrap().parse().unwrap();
        *statuses.entry(status).or_insert(0) += 1;
        streams.push(stream);
        if status != 200 {
            break;
        }
    }
    assert_eq!(statuses.remove(&503), Some(1), "{statuses:?}");
    assert_eq!(statuses.keys().collect::<Vec<_>>(), [&200], "{statuses:?}");
    // The server raises the limit of the shell.
    let serving = strained(folder.path(), "ulimit -Sn 40");
    let streams: Vec<Answer> = (0..200).map(|n| serving.get(&format!("/{n}.html"), &[])).collect();
    assert!(streams.iter().all(|answer| answer.status == 200));
    let kept: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(serving.address).unwrap()).collect();
    assert_eq!(serving.get("/7.html", &[]).status, 200);
    drop(kept);
}
