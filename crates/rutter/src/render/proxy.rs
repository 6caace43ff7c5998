//! The HTTP proxy for rendered pages, which is their only network access.
//!
//! The proxy listens on loopback and opens no connections: it serves the page at its URL, and the
//! files of one folder. The proxy rejects all other URLs (including private addresses and
//! loopback), TLS tunnels, methods other than GET and HEAD, and requests and bytes beyond the
//! limits.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::RenderLimits;

/// Maximum size of a request head in bytes.
const MAX_HEAD_BYTES: u64 = 64 << 10;
/// Timeout for reading a request and for writing a response.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of concurrent connections.
const MAX_CONNECTIONS: usize = 32;

/// The page and the folder to serve.
#[derive(Debug)]
pub(super) struct ServedFiles {
    pub(super) page: Vec<u8>,
    pub(super) url: String,
    pub(super) folder: Option<PathBuf>,
    pub(super) base: String,
    pub(super) limits: RenderLimits,
}

/// A proxy that serves until it is dropped.
#[derive(Debug)]
pub(super) struct RenderProxy {
    port: u16,
    is_over: Arc<AtomicBool>,
}

/// State that all connections share.
#[derive(Debug)]
struct ProxyState {
    served: ServedFiles,
    n_requests: AtomicUsize,
    n_bytes: AtomicU64,
    n_open: AtomicUsize,
}

impl RenderProxy {
    pub(super) fn start(served: ServedFiles) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let is_over = Arc::new(AtomicBool::new(false));
        let (ends, n_requests) = (Arc::clone(&is_over), AtomicUsize::new(0));
        let (n_bytes, n_open) = (AtomicU64::new(0), AtomicUsize::new(0));
        let shared = Arc::new(ProxyState { served, n_requests, n_bytes, n_open });
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::Acquire) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                if MAX_CONNECTIONS <= shared.n_open.fetch_add(1, Ordering::AcqRel) {
                    shared.n_open.fetch_sub(1, Ordering::AcqRel);
                    continue;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || {
                    // The browser may close a connection at any time.
                    drop(shared.connection(&stream));
                    drop(stream.shutdown(Shutdown::Both));
                    shared.n_open.fetch_sub(1, Ordering::AcqRel);
                });
            }
        });
        Ok(Self { port, is_over })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for RenderProxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        // This connection wakes the thread that listens, so that it sees `is_over` and ends.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
    }
}

impl ProxyState {
    fn connection(&self, stream: &TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let mut head = BufReader::new(stream.take(MAX_HEAD_BYTES));
        let mut first = String::new();
        head.read_line(&mut first)?;
        let mut line = String::new();
        while 2 < head.read_line(&mut line)? {
            line.clear();
        }
        let mut words = first.split_ascii_whitespace();
        let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let answer = match method {
            "GET" | "HEAD" => self.answer(target),
            _ => Err("403 Forbidden"),
        };
        let mut out = stream;
        match answer {
            Ok((kind, bytes)) => {
                write!(
                    out,
                    "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\
                     connection: close\r\n\r\n",
                    bytes.len()
                )?;
                if method == "GET" {
                    out.write_all(&bytes)?;
                }
            }
            Err(status) => {
                write!(out, "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")?;
            }
        }
        out.flush()
    }

    /// Returns the media type and the bytes for a URL, or the status of the error response.
    fn answer(&self, target: &str) -> Result<(&'static str, Vec<u8>), &'static str> {
        let served = &self.served;
        if served.limits.requests <= self.n_requests.fetch_add(1, Ordering::AcqRel) {
            return Err("429 Too Many Requests");
        }
        let bare = target.split(['?', '#']).next().unwrap_or(target);
        let (kind, bytes) = if target == served.url || bare == served.url {
            ("text/html", served.page.clone())
        } else {
            let name = bare.strip_prefix(served.base.as_str()).ok_or("403 Forbidden")?;
            let folder = served.folder.as_ref().ok_or("404 Not Found")?;
            let name = decoded(name).ok_or("404 Not Found")?;
            let name = if name.is_empty() || name.ends_with('/') {
                format!("{name}index.html")
            } else {
                name
            };
            let file = rutter_root::open(folder, &name).map_err(|_| "404 Not Found")?;
            let size = file.metadata().map_err(|_| "404 Not Found")?.len();
            if served.limits.answer_bytes < size {
                return Err("413 Content Too Large");
            }
            (type_of(&name), rutter_root::read_file(file).map_err(|_| "404 Not Found")?)
        };
        let n_bytes = bytes.len() as u64;
        let before = self.n_bytes.fetch_add(n_bytes, Ordering::AcqRel);
        if served.limits.answer_bytes < before + n_bytes {
            return Err("413 Content Too Large");
        }
        Ok((kind, bytes))
    }
}

/// Decodes the percent escapes of a path.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
        (bytes, rest) = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(16 * high + low).ok()?);
                (bytes, after.get(2..)?)
            }
            _ => {
                bytes.push(*first);
                (bytes, after)
            }
        };
    }
    String::from_utf8(bytes).ok().filter(|path| !path.contains('\0'))
}

/// Returns the media type of a file by its extension.
fn type_of(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or("").to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html",
        "js" | "mjs" => "text/javascript",
        "css" => "text/css",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "wasm" => "application/wasm",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(folder: Option<PathBuf>, limits: RenderLimits) -> ProxyState {
        let served = ServedFiles {
            page: b"<p>page".to_vec(),
            url: "http://h.example/docs/app".to_owned(),
            folder,
            base: "http://h.example/docs/".to_owned(),
            limits,
        };
        let (n_requests, n_bytes) = (AtomicUsize::new(0), AtomicU64::new(0));
        ProxyState { served, n_requests, n_bytes, n_open: AtomicUsize::new(0) }
    }

    #[test]
    fn serves_only_the_page_and_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a b.js"), "1").unwrap();
        std::fs::write(folder.path().join("index.html"), "home").unwrap();
        let shared = shared(Some(folder.path().to_owned()), RenderLimits::USUAL);
        for (target, wanted) in [
            ("http://h.example/docs/app", Ok("<p>page")),
            ("http://h.example/docs/app?x=1", Ok("<p>page")),
            ("http://h.example/docs/a%20b.js", Ok("1")),
            ("http://h.example/docs/", Ok("home")),
            ("http://h.example/docs/none.js", Err("404 Not Found")),
            ("http://h.example/docs/../secret", Err("404 Not Found")),
            ("http://h.example/docs/%2e%2e/secret", Err("404 Not Found")),
            ("http://h.example/docs//etc/passwd", Err("404 Not Found")),
            ("http://h.example/other.js", Err("403 Forbidden")),
            ("http://h.example.evil.example/docs/", Err("403 Forbidden")),
            ("http://127.0.0.1/docs/", Err("403 Forbidden")),
            ("http://169.254.169.254/latest/meta-data/", Err("403 Forbidden")),
        ] {
            let answer = shared.answer(target).map(|(_, bytes)| String::from_utf8(bytes).unwrap());
            assert_eq!(answer, wanted.map(str::to_owned), "{target}");
        }
    }

    #[test]
    fn limits_requests_and_bytes() {
        let few = RenderLimits { requests: 2, ..RenderLimits::USUAL };
        let shared_few = shared(None, few);
        let page = "http://h.example/docs/app";
        assert!(shared_few.answer(page).is_ok() && shared_few.answer(page).is_ok());
        assert_eq!(shared_few.answer(page), Err("429 Too Many Requests"));
        let small = RenderLimits { answer_bytes: 10, ..RenderLimits::USUAL };
        let shared_small = shared(None, small);
        assert!(shared_small.answer(page).is_ok());
        assert_eq!(shared_small.answer(page), Err("413 Content Too Large"));
    }
}
