//! The server never panics or hangs, never sends a hidden byte or one from outside the root, and
//! never sends another range than it names; and it answers the next client.
//!
//! If the first byte is odd, a valid request line is added, so that fields such as `Range` and
//! `If-None-Match` are reached.
#![no_main]

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::time::Duration;

use rutter_serve::{ListenConfig, Server, SiteSettings, Site};

const SECRET: &str = "must not be served";

/// Content of a file in which each byte identifies its position.
fn bytes() -> Vec<u8> {
    (b'0'..=b'z').collect()
}

fn server() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("rutter-fuzz-serve-{}", std::process::id()));
        let public = folder.join("public");
        fs::create_dir_all(public.join("a")).expect("a folder");
        for (path, text) in [
            (folder.join("outside"), SECRET.as_bytes()),
            (public.join(".hidden"), SECRET.as_bytes()),
            (public.join("a/index.html"), b"<p>page"),
            (public.join("b.bin"), &bytes()),
        ] {
            fs::write(path, text).expect("a file");
        }
        std::os::unix::fs::symlink("../outside", public.join("link")).expect("a link");
        let mut settings = SiteSettings::new(public);
        settings.rate = None;
        // Some responses come from memory, others from files.
        settings.limits.small = 10;
        settings.limits.connection.per_address = 4096;
        let site = Site::open(settings, Vec::new()).expect("a site");
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let listening = ListenConfig { workers: 1, ..ListenConfig::new(any) };
        let server = Server::bind(site, listening).expect("a port");
        let address = server.address().expect("an address");
        std::thread::spawn(move || {
            server.run().expect("it runs");
            std::process::abort();
        });
        address
    })
}

/// Returns the whole response.
fn ask(request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(server()).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(15))).expect("a clock");
    // It may be done before we are.
    drop(stream.write_all(request));
    drop(stream.shutdown(Shutdown::Write));
    let mut answer = Vec::new();
    if let Err(error) = stream.read_to_end(&mut answer) {
        let is_reset = error.kind() == std::io::ErrorKind::ConnectionReset;
        assert!(is_reset, "it hangs: {error}");
    }
    answer
}

/// The fields of the first answer, and what follows them.
fn first(answer: &[u8]) -> Option<(String, &[u8])> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    Some((head, &answer[end + 4..]))
}

fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else { return };
    let is_head = kind % 2 == 1;
    let mut request = Vec::new();
    if is_head {
        request.extend_from_slice(b"GET /b.bin HTTP/1.1\r\nHost: a\r\n");
        for line in rest.split(|byte| *byte == b'\n') {
            request.extend_from_slice(line);
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
    } else {
        request.extend_from_slice(rest);
    }
    let answer = ask(&request);
    assert!(!answer.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()));
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."));
    if let Some((head, body)) = first(&answer) {
        let status = head.split(' ').nth(1).unwrap_or_default();
        let known =
            ["200", "206", "304", "308", "400", "404", "405", "412", "413", "414", "416", "431"];
        assert!(known.contains(&status), "{head}");
        if status == "206" && is_head {
            let range = field(&head, "content-range").expect("it says which part");
            let range = range.strip_prefix("bytes ").and_then(|range| range.split_once('/'));
            let (range, length) = range.expect("it is of bytes");
            let (from, to) = range.split_once('-').expect("from and to");
            let (from, to): (usize, usize) =
                (from.parse().expect("a number"), to.parse().expect("a number"));
            let whole = bytes();
            assert_eq!(length, whole.len().to_string());
            let part = &whole[from..=to];
            assert_eq!(field(&head, "content-length"), Some(part.len().to_string().as_str()));
            assert!(body.starts_with(part), "{head}");
        }
        if status == "200" && is_head {
            assert!(body.starts_with(&bytes()), "{head}");
        }
    }
    let next = ask(b"GET /a/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert!(next.starts_with(b"HTTP/1.1 200") && next.ends_with(b"<p>page"));
});
