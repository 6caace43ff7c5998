//! A test server on a port of its own, and a client that sends and receives raw bytes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rutter_finding::Finding;
use rutter_logs::AccessRecord;
use rutter_serve::{AccessSink, ListenConfig, Server, ServerHandle, Site, SiteSettings};
use tempfile::TempDir;

/// A site in a temporary directory, and a server for it.
pub(crate) struct Running {
    pub(crate) folder: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) site: Site,
    pub(crate) handle: ServerHandle,
    pub(crate) records: Arc<Records>,
    thread: Option<JoinHandle<()>>,
}

/// Stores records and findings.
#[derive(Default)]
pub(crate) struct Records(
    pub(crate) Mutex<Vec<AccessRecord<'static>>>,
    pub(crate) Mutex<Vec<String>>,
);

impl AccessSink for Records {
    fn access(&self, record: &AccessRecord<'_>) {
        self.0.lock().unwrap().push(record.clone().into_owned());
    }

    fn odd(&self, finding: &Finding) {
        self.1.lock().unwrap().push(format!("{}: {}", finding.rule.code, finding.detail));
    }
}

impl Running {
    /// Serves the files, optionally with a `served.json`.
    pub(crate) fn new(files: &[(&str, &[u8])], change: impl FnOnce(&mut SiteSettings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            put(&folder.path().join("public").join(name), bytes);
        }
        fs::create_dir_all(folder.path().join("public")).unwrap();
        Self::start(folder, change, None)
    }

    pub(crate) fn start(
        folder: TempDir,
        change: impl FnOnce(&mut SiteSettings),
        listening: Option<ListenConfig>,
    ) -> Self {
        let state = folder.path().join("state");
        let mut settings = SiteSettings::new(folder.path().join("public"));
        settings.state = state.is_dir().then_some(state);
        settings.rate = None;
        settings.limits.connection.per_address = 4096;
        settings.limits.recheck = Duration::ZERO;
        change(&mut settings);
        let records = Arc::new(Records::default());
        let site = Site::open(settings, vec![Arc::clone(&records) as _]).unwrap();
        let listening = listening.unwrap_or_else(|| ListenConfig {
            workers: 2,
            ..ListenConfig::new("127.0.0.1:0".parse().unwrap())
        });
        let server = Server::bind(site.clone(), listening).unwrap();
        let (address, handle) = (server.address().unwrap(), server.handle());
        let thread = std::thread::spawn(move || server.run().unwrap());
        Self { folder, address, site, handle, records, thread: Some(thread) }
    }

    pub(crate) fn public(&self, name: &str) -> PathBuf {
        self.folder.path().join("public").join(name)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes, and returns everything received until the end.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The server may close the connection first.
        drop(stream.write_all(bytes));
        drop(stream.shutdown(std::net::Shutdown::Write));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        answer
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[])
    }

    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut client = Client::new(self.connect());
        client.ask(method, path, headers)
    }

    pub(crate) fn stop(&mut self) {
        self.handle.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.stop();
        if let Some(thread) = self.thread.take() {
            let result = thread.join();
            assert!(result.is_ok() || std::thread::panicking(), "the server panicked");
        }
    }
}

/// Writes a file and creates its directories.
pub(crate) fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Replaces a file as a publication does.
pub(crate) fn swap(path: &Path, bytes: &[u8]) {
    let beside = path.with_extension("beside");
    let beside =
        beside.with_file_name(format!(".{}", beside.file_name().unwrap().to_string_lossy()));
    fs::write(&beside, bytes).unwrap();
    fs::rename(beside, path).unwrap();
}

/// Waits until a condition holds.
pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Header names are in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A persistent connection.
pub(crate) struct Client<S: Read + Write> {
    stream: BufReader<S>,
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream: BufReader::new(stream) }
    }

    pub(crate) fn stream(&self) -> &S {
        self.stream.get_ref()
    }

    pub(crate) fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.try_ask(method, path, headers).unwrap()
    }

    pub(crate) fn try_ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> std::io::Result<Answer> {
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: harbour.example\r\n");
        for &(name, value) in headers {
            text.extend([name, ": ", value, "\r\n"]);
        }
        text.push_str("\r\n");
        self.stream.get_mut().write_all(text.as_bytes())?;
        self.answer(method == "HEAD")
    }

    /// Reads one response.
    pub(crate) fn answer(&mut self, is_head: bool) -> std::io::Result<Answer> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let bad = || std::io::Error::other(format!("no status: {line:?}"));
        let status: u16 =
            line.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or_else(bad)?;
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line)?;
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap();
            let before = headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
            assert_eq!(before, None, "{name} came twice");
        }
        let mut body = Vec::new();
        if is_head || status == 304 {
        } else if headers.get("transfer-encoding").is_some_and(|value| value == "chunked") {
            loop {
                let mut line = String::new();
                self.stream.read_line(&mut line)?;
                let size = usize::from_str_radix(line.trim(), 16).map_err(std::io::Error::other)?;
                let mut piece = vec![0; size + 2];
                self.stream.read_exact(&mut piece)?;
                piece.truncate(size);
                body.extend(piece);
                if size == 0 {
                    break;
                }
            }
        } else {
            let length: usize = headers.get("content-length").map_or(0, |n| n.parse().unwrap());
            body = vec![0; length];
            self.stream.read_exact(&mut body)?;
        }
        Ok(Answer { status, headers, body })
    }
}
