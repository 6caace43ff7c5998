//! Tests of `rutter sync` on the command line: files of sites, dry runs, audits, JSON, concurrent
//! syncs, signals and damaged replicas.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rutter_testkit::server::{Fault, Reply, Server, TestClock};
use serde_json::Value;

/// Maximum time to wait for an event.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) fn server() -> Server {
    let start = Instant::now();
    Server::start(TestClock {
        now: Arc::new(move || start.elapsed()),
        advance: Arc::new(|_| {}),
        armed: Arc::new(|| u64::MAX),
    })
}

/// A site with a sitemap and two pages of HTML.
pub(crate) fn harbour() -> (Server, String) {
    let server = server();
    let site = format!("http://{}", server.address());
    let entry = |path: &str| format!("<url><loc>{site}{path}</loc></url>");
    let sitemap = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{}{}</urlset>",
        entry("/a"),
        entry("/b")
    );
    server.route("/sitemap.xml", [Reply::file("application/xml", "\"1\"", sitemap)]);
    for path in ["/a", "/b"] {
        server.route(path, [Reply::file("text/html", "\"1\"", page(path, "calm"))]);
    }
    (server, site)
}

pub(crate) fn page(path: &str, words: &str) -> String {
    format!(
        "<!doctype html><html lang=en><head><title>Page {path}</title></head><body><main>\
         <h1>Page {path}</h1><p>The tide at {path} is {words} today, and the harbour master says \
         that it will stay so until the evening, when the boats come back.</p></main></body></html>"
    )
}

pub(crate) fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rutter"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().to_ascii_lowercase();
        if text.ends_with("_proxy") || text.starts_with("rutter_") {
            command.env_remove(name);
        }
    }
    command.args(args).current_dir(folder).env("NO_COLOR", "1");
    command
}

fn run(folder: &Path, args: &[&str]) -> (i32, String, String) {
    said(&command(folder, args).output().unwrap())
}

/// `rutter sync` of sites on this machine, without pauses.
fn sync(folder: &Path, args: &[&str]) -> (i32, String, String) {
    run(folder, &[&["sync", "--allow-loopback", "--pace", "0"], args].concat())
}

fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

fn start(folder: &Path, args: &[&str]) -> Child {
    command(folder, &[&["sync", "--allow-loopback", "--pace", "0"], args].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

fn ended(mut child: Child) -> (i32, String) {
    let mut talk = String::new();
    child.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), talk)
}

/// Waits until a path was requested.
fn wait_for(server: &Server, path: &str) {
    let end = Instant::now() + PATIENCE;
    while !server.paths().iter().any(|asked| asked == path) {
        assert!(Instant::now() < end, "{path} is not requested");
        std::thread::yield_now();
    }
}

#[test]
fn prints_json_for_sites_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let ((first, one), (second, two)) = (harbour(), harbour());
    let list = format!("# two sites\n{one}\n\n{two}/ # the other\n{one}/\n");
    fs::write(folder.path().join("sites.txt"), list).unwrap();
    let (code, data, talk) = sync(folder.path(), &["-f", "sites.txt", "--format", "jsonl"]);
    assert_eq!(code, 0, "{talk}");
    let mut reports: Vec<Value> = data.lines().map(json).collect();
    reports.sort_by_key(|report| report["site"] != one.as_str());
    let sites: Vec<_> = reports.iter().map(|report| report["site"].as_str().unwrap()).collect();
    assert_eq!(sites, [&one, &two]);
    for report in &reports {
        assert_eq!((&report["rung"], &report["version"]), (&"sitemap".into(), &1.into()));
        assert_eq!((&report["pages"], &report["added"]), (&2.into(), &2.into()), "{report}");
        assert_eq!(report["troubles"], Value::Array(Vec::new()));
    }
    let n_seen = [&first, &second].map(|server| server.seen().len() as u64);
    let n_said = reports.iter().map(|report| report["requests"].as_u64().unwrap());
    assert_eq!(n_said.collect::<Vec<_>>(), n_seen);
    // A missing file, and a file without sites.
    let (code, _, talk) = sync(folder.path(), &["-f", "none.txt"]);
    assert!(code == 2 && talk.contains("none.txt"), "{talk}");
    fs::write(folder.path().join("empty.txt"), "# nothing\n").unwrap();
    let (code, _, talk) = sync(folder.path(), &["-f", "empty.txt"]);
    assert!(code == 2 && talk.contains("no site is given"), "{talk}");
}

#[test]
fn invalid_line_does_not_stop_other_sites() {
    let folder = tempfile::tempdir().unwrap();
    let ((_first, one), (second, two), empty) = (harbour(), harbour(), server());
    second.route("/robots.txt", [Reply::ok("text/plain", "User-agent: *\nDisallow: /\n")]);
    let list = format!("{one}/a\n{two}\nhttp://{}\n{two} depth=3\n", empty.address());
    fs::write(folder.path().join("sites.txt"), list).unwrap();
    let (code, data, talk) = sync(folder.path(), &["-f", "sites.txt", "--log", "log.jsonl"]);
    assert_eq!(code, 5, "{talk}");
    assert!(talk.contains("skipped: sites.txt:4: `depth` is not a setting"), "{talk}");
    let line = "3 sites: 1 synced, 1 failed, 1 refused, 1 line skipped";
    assert!(talk.lines().any(|it| it == line), "{talk}");
    // The path in the file limits the site.
    assert!(
        data.contains("1 page in the replica: 1 added") && data.contains("outside the scope"),
        "{data}"
    );
    let log = fs::read_to_string(folder.path().join("log.jsonl")).unwrap();
    let mut answers = log.lines().map(json).filter(|it| it["event"] == "answered");
    let page = answers.find(|it| it["url"] == format!("{one}/a").as_str()).unwrap();
    assert_eq!(page["status"], 200);
    assert_eq!(page["bytes"], page_of("/a").len());
    // The exit code is that of an invalid argument.
    fs::write(folder.path().join("sites.txt"), format!("{one}\nhttps://\n")).unwrap();
    let (code, _, talk) = sync(folder.path(), &["-f", "sites.txt"]);
    assert!(code == 2 && talk.contains("`https://` has no host"), "{talk}");
}

/// The hint of a failed command; there is exactly one.
fn hint(talk: &str) -> String {
    let hints: Vec<&str> = talk.lines().filter_map(|line| line.strip_prefix("hint: ")).collect();
    let [hint] = hints.as_slice() else { panic!("{talk}") };
    (*hint).to_owned()
}

#[test]
fn port_without_tls_and_address_without_host_get_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    // One server answers in plain text, one closes the connection.
    for answer in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b""] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut hello = [0; 16];
            stream.read_exact(&mut hello).unwrap();
            std::io::Write::write_all(&mut stream, answer).unwrap();
        });
        let (code, _, talk) = sync(folder.path(), &[&format!("https://{address}/")]);
        server.join().unwrap();
        assert!(code == 3 && talk.contains("cannot establish a TLS connection: "), "{code} {talk}");
        assert!(talk.contains(&format!("port {}", address.port())), "{talk}");
        assert!(hint(&talk).contains(&format!("http://{address}")), "{talk}");
    }
    for command in [
        &["sync", "https://:80/"][..],
        &["discover", "https://:80/"],
        &["policy", "explain", "https://:80/"],
    ] {
        let (code, _, talk) = run(folder.path(), command);
        assert!(code == 2 && talk.contains("`https://:80/`"), "{command:?}: {talk}");
        assert!(hint(&talk).contains("https://example.org"), "{command:?}: {talk}");
    }
    // The message about a line of a file includes the hint.
    fs::write(folder.path().join("sites.txt"), "https://:80/\n").unwrap();
    let (code, _, talk) = sync(folder.path(), &["-f", "sites.txt"]);
    let line = talk.lines().find(|line| line.contains("sites.txt:1: `https://:80/` has no host"));
    assert!(code == 2 && line.unwrap().contains("https://example.org"), "{talk}");
}

fn page_of(path: &str) -> String {
    page(path, "calm")
}

#[test]
fn watch_rereads_file_of_sites() {
    let folder = tempfile::tempdir().unwrap();
    let ((first, one), (second, two)) = (harbour(), harbour());
    let file = folder.path().join("sites.txt");
    fs::write(&file, format!("{one}\n")).unwrap();
    let child = start(folder.path(), &["-f", "sites.txt", "--watch", "1"]);
    wait_for(&first, "/b");
    fs::write(&file, format!("{one}\n{two}\n")).unwrap();
    wait_for(&second, "/b");
    interrupt(&child);
    let (code, talk) = ended(child);
    assert_eq!(code, 0, "{talk}");
    assert!(talk.contains("Z: syncing 1 site\n") && talk.contains("Z: syncing 2 sites"), "{talk}");
    assert!(talk.contains("Z: finished, next sync at 20"), "{talk}");
}

#[test]
fn dry_run_creates_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let (server, site) = harbour();
    let (code, data, talk) = sync(folder.path(), &[&site, "--dry-run"]);
    assert_eq!(code, 0, "{talk}");
    assert!(data.contains("would be synced by XML sitemap"), "{data}");
    assert!(data.contains("single pages: at most 2 requests"), "{data}");
    let (_, data, _) = sync(folder.path(), &[&site, "--dry-run", "--format", "jsonl"]);
    let preview = json(&data);
    assert_eq!((&preview["rung"], &preview["pages"]), (&"sitemap".into(), &2.into()));
    assert_eq!(preview["plan"], Value::Null);
    assert!(!server.paths().contains(&"/a".to_owned()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // An existing replica is not changed.
    assert_eq!(sync(folder.path(), &[&site]).0, 0);
    let before = fs::read(folder.path().join(".rutter/replica.db")).unwrap();
    assert_eq!(sync(folder.path(), &[&site, "--dry-run"]).0, 0);
    assert_eq!(fs::read(folder.path().join(".rutter/replica.db")).unwrap(), before);
}

#[test]
fn audit_requires_replica_and_verifies_it() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, site) = harbour();
    let (code, _, talk) = sync(folder.path(), &[&site, "--audit"]);
    assert!(code != 0 && !folder.path().join(".rutter/replica.db").exists(), "{talk}");
    // An existing folder does not change that.
    fs::create_dir(folder.path().join(".rutter")).unwrap();
    let (code, _, talk) = sync(folder.path(), &[&site, "--audit"]);
    assert!(code == 2 && talk.contains("there is no replica"), "{talk}");
    assert!(!folder.path().join(".rutter/replica.db").exists(), "{talk}");
    assert_eq!(sync(folder.path(), &[&site]).0, 0);
    let (code, data, talk) = sync(folder.path(), &[&site, "--audit", "--format", "jsonl"]);
    assert_eq!(code, 0, "{talk}");
    let audit = json(&data);
    assert_eq!((&audit["site"], &audit["faults"]), (&site.as_str().into(), &Value::Array(vec![])));
    let (code, data, _) = sync(folder.path(), &[&site, "--audit"]);
    assert!(code == 0 && data.starts_with(&site), "{data}");
}

#[test]
fn refused_first_sync_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let (server, site) = harbour();
    for (args, wanted) in [
        // A private address, and plain http.
        (vec!["sync", &*site, "--allow-http", "--pace", "0"], 5),
        (vec!["sync", &*site, "--pace", "0"], 5),
        (vec!["sync", &*site, "--store", "deep/er/replica.db"], 5),
        (vec!["sync", "https://"], 2),
    ] {
        let (code, _, talk) = run(folder.path(), &args);
        assert_eq!(code, wanted, "{args:?}: {talk}");
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
        // Parent folders may be created.
        let is_fine = |entry: &fs::DirEntry| entry.file_name() == "deep";
        assert!(left.iter().all(is_fine), "{args:?}: {left:?}");
    }
    assert!(!folder.path().join("deep/er").exists());
    // A closed port.
    drop(server);
    assert_eq!(sync(folder.path(), &[&site]).0, 3);
    assert!(!folder.path().join(".rutter").exists());
    let (code, _, talk) = run(folder.path(), &["status"]);
    assert!(code == 2 && talk.contains("there is no replica"), "{talk}");
    // An existing replica and its pages are kept.
    let (_server, site) = harbour();
    assert_eq!(sync(folder.path(), &[&site]).0, 0);
    assert_eq!(run(folder.path(), &["sync", &site]).0, 5);
    assert_eq!(run(folder.path(), &["list"]).1.lines().count(), 2);
}

#[test] // D88
fn aliases_require_one_site_and_persist() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, site) = harbour();
    let alias = ["--alias", "https://www.harbour.example"];
    let (code, _, talk) = sync(folder.path(), &[&[&*site, "evil.example"], &alias[..]].concat());
    assert!(code == 2 && talk.contains("exactly one SITE"), "{talk}");
    fs::write(folder.path().join("sites.txt"), format!("{site} www.harbour.example\n")).unwrap();
    let (code, _, talk) = sync(folder.path(), &[&["-f", "sites.txt"], &alias[..]].concat());
    assert!(code == 2 && talk.contains("exactly one SITE"), "{talk}");
    for args in [&["-f", "sites.txt"][..], &[&site]] {
        assert_eq!(sync(folder.path(), args).0, 0);
        let status = json(&run(folder.path(), &["status", "--json"]).1);
        let wanted: Value = vec!["https://www.harbour.example"].into();
        assert_eq!(status["sites"][0]["aliases"], wanted, "{status}");
    }
    // The alias selects the site.
    let (code, data, _) = run(folder.path(), &["list", "--site", "www.harbour.example"]);
    assert_eq!((code, data.lines().count()), (0, 2));
}

#[test]
fn request_log_has_all_requests() {
    let folder = tempfile::tempdir().unwrap();
    let (server, site) = harbour();
    assert_eq!(sync(folder.path(), &[&site, "--log", "asked.jsonl", "--connections", "2"]).0, 0);
    let text = fs::read_to_string(folder.path().join("asked.jsonl")).unwrap();
    let records: Vec<Value> = text.lines().map(json).collect();
    let asked: Vec<_> = records.iter().filter(|record| record["event"] == "asked").collect();
    assert_eq!(asked.len(), server.seen().len());
    assert!(asked.iter().any(|record| record["url"] == format!("{site}/a").as_str()));
    assert!(asked.iter().all(|record| record["waited"].is_number() && record["at"].is_string()));
    assert!(records.iter().any(|record| record["event"] == "robots"));
    // A refusal is appended, too.
    assert_eq!(run(folder.path(), &["discover", &site, "--log", "asked.jsonl"]).0, 5);
    let text = fs::read_to_string(folder.path().join("asked.jsonl")).unwrap();
    assert_eq!(text.lines().count(), records.len() + 1);
    assert_eq!(json(text.lines().last().unwrap())["event"], "refused");
    assert_eq!(sync(folder.path(), &[&site, "--connections", "0"]).0, 2);
}

#[test] // SCP-184
fn quota_refuses_more_pages() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, site) = harbour();
    let (code, _, talk) = sync(folder.path(), &[&site, "--quota-pages", "1"]);
    assert_eq!(code, 5, "{talk}");
    assert!(talk.contains("new pages beyond the page quota: 1"), "{talk}");
    assert_eq!(sync(folder.path(), &[&site, "--quota-pages", "2"]).0, 0);
}

#[test] // F06
fn concurrent_sync_is_refused_and_signal_interrupts() {
    let folder = tempfile::tempdir().unwrap();
    let ((slow, site), (_other, second)) = (harbour(), harbour());
    slow.route("/a", [Reply::status(200).but(Fault::Silence)]);
    let child = start(folder.path(), &[&site]);
    wait_for(&slow, "/a");
    // The same site is locked, with the name of the holder; another site is not.
    let (code, _, talk) = sync(folder.path(), &[&site]);
    assert_eq!(code, 2, "{talk}");
    let hint = "hint: wait until the other sync has finished";
    assert!(talk.contains("busy: ") && talk.contains(hint), "{talk}");
    let (code, _, talk) = sync(folder.path(), &[&second]);
    assert_eq!(code, 0, "{talk}");
    interrupt(&child);
    let (code, talk) = ended(child);
    assert_eq!(code, 2);
    assert!(talk.contains("interrupted: committed pages are kept"), "{talk}");
    // The lease of a process that has ended does not block.
    slow.route("/a", [Reply::file("text/html", "\"1\"", page("/a", "calm"))]);
    let (code, data, talk) = sync(folder.path(), &[&site, "--format", "jsonl"]);
    assert_eq!(code, 0, "{talk}");
    assert_eq!(json(&data)["pages"], 2);
}

#[test]
fn second_signal_ends_process_immediately() {
    let folder = tempfile::tempdir().unwrap();
    let server = server();
    let site = format!("http://{}", server.address());
    // Writing this redirect and the request behind it down fills the pipe, and
    // the main thread blocks until the pipe is read.
    let far = format!("/{}", "a".repeat(50_000));
    server.route("/sitemap.xml", [Reply::redirect(302, &far)]);
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = start(folder.path(), &[&site, "--log", "pipe"]);
    let mut log = fs::File::open(&pipe).unwrap();
    let (mut read, mut piece) = (Vec::new(), [0; 64]);
    while !String::from_utf8_lossy(&read).contains("redirected") {
        let n_bytes = log.read(&mut piece).unwrap();
        assert_ne!(n_bytes, 0);
        read.extend_from_slice(&piece[..n_bytes]);
    }
    // Signals in quick succession may be merged.
    let end = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < end, "signals do not end the process");
        interrupt(&child);
    }
    assert_eq!(ended(child).0, 2);
    drop(log);
    // The replica is intact.
    let (code, _, talk) = run(folder.path(), &["status"]);
    assert_eq!(code, 0, "{talk}");
}

#[test]
fn watch_continues_after_failed_round() {
    let folder = tempfile::tempdir().unwrap();
    let (server, site) = harbour();
    server.route("/b", [Reply::status(500), Reply::file("text/html", "\"1\"", page("/b", "calm"))]);
    // A pause of 0 seconds is rejected.
    assert_eq!(sync(folder.path(), &[&site, "--watch", "0"]).0, 2);
    let mut child = start(folder.path(), &[&site, "--watch", "1", "--format", "jsonl"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut reports = (&mut lines).map(|line| json(&line.unwrap()));
    let first = reports.next().unwrap();
    assert_eq!(first["pages"], 1, "{first}");
    // Later rounds fetch the missing pages.
    assert!(reports.take(100).any(|report| report["pages"] == 2));
    interrupt(&child);
    std::thread::spawn(move || lines.count());
    assert_eq!(ended(child).0, 0);
}

/// Returns all commands that read or write a replica.
fn every_command(site: &str) -> Vec<Vec<String>> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let page = format!("get {site}/a");
    let policy = format!("policy explain {site}/a --allow-loopback --pace 0");
    let sync = format!("sync {site} --allow-loopback --pace 0");
    let audit = format!("{sync} --audit");
    let lines = ["status", "list", "changes", "search tide", "export --format jsonl", "entities"];
    let lines = lines.into_iter().map(words);
    lines.chain([page, policy, sync, audit].iter().map(|line| words(line))).collect()
}

#[test] // F08
fn damaged_replica_gives_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let (server, site) = harbour();
    for n in 0..60 {
        server.route(&format!("/{n}"), [Reply::ok("text/html", page(&format!("/{n}"), "calm"))]);
    }
    let urls: Vec<String> = (0..60).map(|n| format!("<url><loc>{site}/{n}</loc></url>")).collect();
    let sitemap = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{}</urlset>",
        urls.concat()
    );
    server.route("/sitemap.xml", [Reply::file("application/xml", "\"1\"", sitemap)]);
    let (code, _, talk) = sync(folder.path(), &[&site]);
    assert_eq!(code, 0, "{talk}");
    assert_eq!(run(folder.path(), &["search", "tide"]).0, 0);
    let good = fs::read(folder.path().join(".rutter/replica.db")).unwrap();
    let half = good.len() / 2;
    assert!(4 * 8192 < good.len(), "everything is in the file, nothing beside it");
    let overwritten = |from: usize, to: usize| {
        let mut bytes = good.clone();
        bytes[from..to].fill(0xa5);
        bytes
    };
    let size = 8192;
    for (name, bytes, is_seen_by_all) in [
        ("cut", good[..half].to_vec(), true),
        ("cut in the head", good[..50].to_vec(), true),
        ("head", overwritten(0, 100), true),
        ("first page", overwritten(100, size), true),
        ("middle pages", overwritten(size, good.len() - size), true),
        ("one page", overwritten(half / size * size, (half / size + 1) * size), false),
    ] {
        for args in every_command(&site) {
            let damaged = tempfile::tempdir().unwrap();
            fs::create_dir(damaged.path().join(".rutter")).unwrap();
            let file = damaged.path().join(".rutter/replica.db");
            fs::write(&file, &bytes).unwrap();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let (code, _, talk) = run(damaged.path(), &args);
            let what = format!("{name}: {args:?}: {code}: {talk}");
            if is_seen_by_all {
                assert_eq!(code, 4, "{what}");
            } else {
                assert!([0, 1, 4].contains(&code), "{what}");
            }
            if code == 4 && talk.contains("error:") {
                let line = talk.lines().find(|line| line.starts_with("error:")).unwrap();
                let is_told = line.contains("not a replica") || line.contains("damaged");
                assert!(is_told && line.contains(".rutter/replica.db"), "{what}");
                assert!(talk.contains("hint: "), "{what}");
            }
            assert!(!talk.contains("panicked"), "{what}");
            if name != "one page" && args[0] != "sync" {
                assert_eq!(fs::read(&file).unwrap(), bytes, "{what}");
            }
        }
    }
}
