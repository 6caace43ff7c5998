//! Load tests of `rutter serve`: slow clients, new builds under load, and kills.
//!
//! Each has a time limit. Fails if a response is wrong or a limit is exceeded.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use rutter_page::Digest;

use crate::serve::{Running, rutter, wrk};

/// Numbers of new builds, clients, slow clients and kills.
const SWAPS: usize = 200;
const CLIENTS: usize = 100;
const SLOW: usize = 1000;
const KILLS: usize = 20;

/// Time limit for clients that read nothing.
const CUT: Duration = Duration::from_mins(1);

pub(crate) fn run(program: &Path, seconds: u64) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("rutter-bench-load-{}", std::process::id()));
    let public = folder.join("public");
    fs::create_dir_all(&public)?;
    let result = all(program, &public, seconds);
    drop(fs::remove_dir_all(&folder));
    result
}

fn all(program: &Path, public: &Path, seconds: u64) -> anyhow::Result<()> {
    write_build(public, 0)?;
    slow_heads(program, public, seconds)?;
    slow_readers(program, public)?;
    kills(program, public)?;
    let site = public.with_file_name("built");
    fs::create_dir_all(&site)?;
    swaps(program, &site)
}

/// Content of a build; every line names the build, so that a mixture is noticed.
fn bytes(build: usize, size: usize) -> Vec<u8> {
    let mut bytes = vec![(build % 251) as u8; size + build];
    bytes.splice(..8, (build as u64).to_le_bytes());
    bytes
}

const FILES: [(&str, usize); 3] =
    [("small.json", 12_000), ("large.json", 1_000_000), ("page.html", 3000)];

/// Publishes a build by renaming, as `rutter build` does.
fn write_build(public: &Path, build: usize) -> anyhow::Result<()> {
    for (name, size) in FILES {
        let beside = public.join(format!(".{name}"));
        fs::write(&beside, bytes(build, size))?;
        fs::rename(beside, public.join(name))?;
    }
    Ok(())
}

/// One request.
struct Answer {
    status: u16,
    tag: String,
    is_gzip: bool,
    body: Vec<u8>,
}

/// One response: status, `ETag` and body.
fn ask(
    stream: &mut BufReader<TcpStream>,
    path: &str,
    tag: &str,
) -> anyhow::Result<(u16, String, Vec<u8>)> {
    let Answer { status, tag, body, .. } = ask_with(stream, path, tag, "Accept: */*")?;
    Ok((status, tag, body))
}

fn ask_with(
    stream: &mut BufReader<TcpStream>,
    path: &str,
    tag: &str,
    header: &str,
) -> anyhow::Result<Answer> {
    let request =
        format!("GET /{path} HTTP/1.1\r\nHost: a\r\n{header}\r\nIf-None-Match: {tag}\r\n\r\n");
    stream.get_mut().write_all(request.as_bytes())?;
    let (mut status, mut tag, mut length, mut is_gzip) = (0, String::new(), 0, false);
    loop {
        let mut line = String::new();
        ensure!(stream.read_line(&mut line)? != 0, "the connection ended");
        let line = line.trim_end();
        if status == 0 {
            status =
                line.split(' ').nth(1).and_then(|word| word.parse().ok()).context("no status")?;
        } else if let Some(value) = line.strip_prefix("etag: ") {
            value.clone_into(&mut tag);
        } else if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse()?;
        } else if line == "content-encoding: gzip" {
            is_gzip = true;
        } else if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Answer { status, tag, is_gzip, body })
}

/// Returns whether body and `ETag` belong to one build.
fn is_whole(tag: &str, body: &[u8]) -> bool {
    let Some(head) = body.first_chunk::<8>() else { return false };
    let build = u64::from_le_bytes(*head) % 251;
    body.iter().skip(8).all(|byte| u64::from(*byte) == build)
        && tag == format!("\"{}\"", Digest::of(body))
}

fn connect(address: &str, from: Option<u8>) -> anyhow::Result<TcpStream> {
    let to: SocketAddr = address.parse()?;
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
    if let Some(from) = from {
        socket.bind(&SocketAddr::from(([127, 0, 0, from], 0)).into())?;
    }
    socket.connect(&to.into())?;
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    Ok(stream)
}

/// Checks that a thousand clients that never complete their request heads do not slow others down
/// and are closed in time.
fn slow_heads(program: &Path, public: &Path, seconds: u64) -> anyhow::Result<()> {
    let server = rutter(program, public, &[])?;
    wrk(&server.address, "/small.json", 64, 1, None)?;
    let calm = wrk(&server.address, "/small.json", 64, seconds, None)?;
    let started = Instant::now();
    let mut slow = Vec::new();
    for n in 0..SLOW {
        // From many addresses, because connections per address are limited.
        let mut stream = connect(&server.address, Some(2 + (n % 200) as u8))?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n")?;
        slow.push(stream);
    }
    let is_over = AtomicBool::new(false);
    let (busy, gone) = std::thread::scope(|scope| {
        let drip = scope.spawn(|| {
            // One byte at a time, until the server closes the connection.
            while !slow.is_empty() && !is_over.load(Ordering::Relaxed) {
                slow.retain_mut(|stream| {
                    stream.set_nonblocking(true).is_ok()
                        && stream.write_all(b"X").is_ok()
                        && matches!(stream.read(&mut [0; 256]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
                });
                std::thread::sleep(Duration::from_millis(500));
            }
            started.elapsed()
        });
        let busy = wrk(&server.address, "/small.json", 64, seconds.min(8), None);
        let end = Instant::now() + Duration::from_secs(20);
        while !drip.is_finished() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
        }
        is_over.store(true, Ordering::Relaxed);
        (busy, drip.join().expect("the dripping does not panic"))
    });
    let busy = busy?;
    println!(
        "slow heads: p99 {:.2} ms calm, {:.2} ms with {SLOW}; {:.0} and {:.0} requests/s; gone after {:.1} s",
        calm.p99,
        busy.p99,
        calm.requests,
        busy.requests,
        gone.as_secs_f64()
    );
    ensure!(busy.errors == 0, "{} errors", busy.errors);
    ensure!(busy.p99 < 3.0 * calm.p99, "slow clients are felt");
    ensure!(gone < Duration::from_secs(18), "slow clients are not cut");
    Ok(())
}

/// Checks that clients that read nothing of a large file cost little memory and do not slow
/// others down.
fn slow_readers(program: &Path, public: &Path) -> anyhow::Result<()> {
    fs::write(public.join("huge.bin"), vec![7; 100_000_000])?;
    let server = rutter(program, public, &[])?;
    let n_open = || {
        let files = fs::read_dir(format!("/proc/{}/fd", server.child.id()));
        files.map_or(usize::MAX, Iterator::count)
    };
    let (started, n_before) = (Instant::now(), n_open());
    let mut slow = Vec::new();
    for n in 0..SLOW {
        let mut stream = connect(&server.address, Some(2 + (n % 200) as u8))?;
        stream.write_all(b"GET /huge.bin HTTP/1.1\r\nHost: a\r\n\r\n")?;
        slow.push(stream);
    }
    let busy = wrk(&server.address, "/small.json", 64, 3, None)?;
    let (peak, most) = (server.peak(), (64 << 20) + (SLOW as u64 + 64) * (64 << 10));
    let n_most = n_open();
    // Such clients are closed after 30 seconds. The client cannot see this while its kernel has
    // data, so the open files of the server are counted.
    while n_before + SLOW / 10 < n_open() && started.elapsed() < CUT {
        std::thread::sleep(Duration::from_millis(100));
    }
    let (gone, n_left) = (started.elapsed(), n_open());
    println!(
        "slow readers: {SLOW} of them, {:.0} requests/s and p99 {:.2} ms for others, {} MB of memory, at most {} MB; gone after {:.1} s",
        busy.requests,
        busy.p99,
        peak / 1_000_000,
        most / 1_000_000,
        gone.as_secs_f64()
    );
    drop(slow);
    fs::remove_file(public.join("huge.bin"))?;
    ensure!(peak <= most, "too much memory");
    ensure!(n_before + SLOW <= n_most, "they were not all there at once: {n_most} files");
    ensure!(n_left <= n_before + SLOW / 10, "slow readers are not cut: {n_left} files");
    ensure!(busy.errors == 0, "{} errors", busy.errors);
    Ok(())
}

/// Writes a site whose pages name their build. Every second build closes the members' page and
/// puts a secret on it.
fn write_site(site: &Path, build: usize) -> anyhow::Result<()> {
    let page = |title: &str, word: &str| {
        let text = format!("<p>Text of {word} {build} for the tests.</p>\n").repeat(200);
        format!(
            "<!doctype html><html lang=\"en\"><head><title>{title}</title></head><body><main><h1>{title}</h1>\n{text}</main></body></html>"
        )
    };
    fs::create_dir_all(site.join("members"))?;
    fs::write(site.join("index.html"), page("Home", "build"))?;
    fs::write(site.join("page.html"), page("Page", "build"))?;
    let word = if is_closed(build) { "secret" } else { "build" };
    fs::write(site.join("members/log.html"), page("Log", word))?;
    Ok(())
}

fn is_closed(build: usize) -> bool {
    build % 2 == 1
}

/// Builds a site with the program itself.
fn publish(program: &Path, folder: &Path, build: usize) -> anyhow::Result<()> {
    write_site(&folder.join("site"), build)?;
    let mut command = Command::new(program);
    command.args(["build", "site", "--base-url", "https://harbour.example/", "--out", "public"]);
    command.args(["--state", "state"]);
    if is_closed(build) {
        command.args(["--restricted", "/members/"]);
    }
    // Builds are one day apart, so that each publishes.
    command.env("SOURCE_DATE_EPOCH", (1_767_225_600 + 86_400 * build).to_string());
    let output = command.current_dir(folder).output()?;
    // Findings about such a small site are no failure.
    let is_done = matches!(output.status.code(), Some(0 | 1));
    ensure!(is_done, "no build: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// A representation of a file: its path and the request headers.
const FORMS: [(&str, &str); 6] = [
    ("page.html", "Accept: text/html"),
    ("page.html", "Accept: text/markdown"),
    ("page.md", "Accept: */*"),
    ("arc-sitemap.json", "Accept-Encoding: identity"),
    ("arc-sitemap.json", "Accept-Encoding: gzip"),
    ("members/log.html", "Accept: text/html"),
];

/// Returns whether a response belongs to one build: its `ETag` is that of its bytes, and every line
/// names the same build.
fn is_of_one_build(answer: &Answer) -> anyhow::Result<bool> {
    let mut text = answer.body.clone();
    let mut tags = vec![format!("\"{}\"", Digest::of(&text))];
    if answer.is_gzip {
        text.clear();
        flate2::read::MultiGzDecoder::new(answer.body.as_slice()).read_to_end(&mut text)?;
        // Until `served.json` of the build is there, the ETag names the bytes, too.
        let stored = Digest::of(&answer.body).to_string();
        let stored = stored.strip_prefix("sha256:").and_then(|hex| hex.get(..32));
        let tag = format!("{}-gzip", Digest::of(&text));
        tags = vec![format!("\"{tag}\""), format!("\"{tag}-{}\"", stored.unwrap_or_default())];
    }
    let text = String::from_utf8(text)?;
    let mut numbers: Vec<&str> =
        text.split("Text of ").skip(1).filter_map(|rest| rest.split(' ').nth(1)).collect();
    let n_named = numbers.len();
    numbers.dedup();
    let is_json = text.starts_with('{') && text.ends_with("}\n");
    Ok(tags.contains(&answer.tag) && (is_json || (200 <= n_named && numbers.len() == 1)))
}

/// Publishes real builds while clients read every representation; every second build closes a
/// page.
fn swaps(program: &Path, folder: &Path) -> anyhow::Result<()> {
    publish(program, folder, 0)?;
    let state = folder.join("state").display().to_string();
    let server = rutter(program, &folder.join("public"), &["--state", &state])?;
    let is_over = AtomicBool::new(false);
    let counts: [AtomicU64; 6] = Default::default();
    let [n_answers, n_mixed, n_missing, n_secret, n_closed, n_busy] = &counts;
    let started = Instant::now();
    std::thread::scope(|scope| -> anyhow::Result<()> {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (is_over, address) = (&is_over, &server.address);
                scope.spawn(move || -> anyhow::Result<()> {
                    let mut stream = BufReader::new(connect(address, None)?);
                    let mut tag = String::from("\"none\"");
                    let (name, header) = FORMS[number % FORMS.len()];
                    let add = |n: &AtomicU64, is_so: bool| {
                        n.fetch_add(u64::from(is_so), Ordering::Relaxed);
                    };
                    while !is_over.load(Ordering::Relaxed) {
                        let answer = ask_with(&mut stream, name, &tag, header)?;
                        add(n_answers, matches!(answer.status, 200 | 304 | 401));
                        let is_members = name.starts_with("members/");
                        match answer.status {
                            200 => add(n_mixed, !is_of_one_build(&answer)?),
                            304 => add(n_mixed, answer.tag != tag),
                            401 if is_members => add(n_closed, true),
                            // Whether the page is closed is not known yet.
                            503 => add(n_busy, true),
                            _ => add(n_missing, true),
                        }
                        let text = String::from_utf8_lossy(&answer.body);
                        add(n_secret, text.contains("Text of secret"));
                        if matches!(answer.status, 200 | 304) {
                            tag = answer.tag;
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        let mut result = Ok(());
        for build in 1..=SWAPS {
            result = publish(program, folder, build);
            if result.is_err() {
                break;
            }
        }
        is_over.store(true, Ordering::Relaxed);
        for client in clients {
            client.join().expect("a client does not panic")?;
        }
        result
    })?;
    let load = |n: &AtomicU64| n.load(Ordering::Relaxed);
    println!(
        "swaps: {SWAPS} builds, {CLIENTS} clients, {} answers in {:.1} s, {} mixed, {} missing, {} of a closed page; it was refused {} times; {} told to come again",
        load(n_answers),
        started.elapsed().as_secs_f64(),
        load(n_mixed),
        load(n_missing),
        load(n_secret),
        load(n_closed),
        load(n_busy)
    );
    ensure!(load(n_mixed) == 0 && load(n_missing) == 0, "answers were mixed or missing");
    ensure!(load(n_secret) == 0, "a closed page was shown");
    ensure!(0 < load(n_closed), "the page was never closed");
    ensure!(1000 < load(n_answers), "too few answers to prove anything");
    // This happens during a publication only.
    ensure!(load(n_busy) * 10 <= load(n_answers), "told to come again too often");
    Ok(())
}

/// Kills the server under load and starts it again: responses are right, and an interrupted
/// response is not taken for complete.
fn kills(program: &Path, public: &Path) -> anyhow::Result<()> {
    let (mut n_answers, mut n_broken) = (0_u64, 0_u64);
    for number in 0..KILLS {
        let mut server: Running = rutter(program, public, &[])?;
        let readers: Vec<_> = (0..8)
            .map(|_| {
                let address = server.address.clone();
                std::thread::spawn(move || {
                    let mut n = 0_u64;
                    let Ok(stream) = connect(&address, None) else { return (0, 0) };
                    let mut stream = BufReader::new(stream);
                    loop {
                        match ask(&mut stream, "large.json", "\"none\"") {
                            Ok((200, tag, body)) if is_whole(&tag, &body) => n += 1,
                            Ok(_) => return (n, 1),
                            Err(_) => return (n, 0),
                        }
                    }
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(50 + 17 * number as u64 % 150));
        server.child.kill()?;
        for reader in readers {
            let (n, broken) = reader.join().expect("a client does not panic");
            n_answers += n;
            n_broken += broken;
        }
    }
    println!(
        "kills: {KILLS} of them, {n_answers} whole answers, {n_broken} that looked whole and were not"
    );
    ensure!(n_broken == 0 && 0 < n_answers, "a kill was not clean");
    Ok(())
}

/// Path of the program to measure.
pub(crate) fn program(given: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let given = given.context("serve and load need --rutter PROGRAM")?;
    given.canonicalize().with_context(|| given.display().to_string())
}
