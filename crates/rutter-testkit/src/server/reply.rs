//! The replies of the test server and their faults.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use super::{RecordedRequest, ServerStream, TestClock};

/// HTTP reply that the test server sends, with an optional fault.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Status code of the reply.
    pub status: u16,
    /// Header fields of the reply, without those that mark the end of the body.
    pub headers: Vec<(String, String)>,
    /// Body of the reply.
    pub body: Vec<u8>,
    /// How the reply marks the end of its body.
    pub framing: Framing,
    /// Fault that the server adds to the reply.
    pub fault: Fault,
    /// Whether the server answers range and conditional requests with status 206, 304 or 416.
    pub is_file: bool,
}

/// How a reply marks the end of its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Framing {
    /// By a `Content-Length` field.
    Length,
    /// By the last chunk of the chunked transfer coding.
    Chunked,
    /// By closing the connection.
    Close,
    /// By these header lines, which may be invalid.
    Claimed(Vec<String>),
}

/// Fault of a reply of the test server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The reply has no fault.
    None,
    /// The connection is closed after this number of bytes of the body.
    CutAfter(usize),
    /// The connection is reset after this number of bytes of the body.
    ResetAfter(usize),
    /// The server stops sending after this number of bytes of the body and advances the time of the
    /// test until the client disconnects.
    StallAfter(usize),
    /// The body is sent in pieces of this number of bytes, with this delay before each piece except
    /// the first.
    Dribble(usize, Duration),
    /// The body is sent repeatedly until the client disconnects.
    Endless,
    /// These bytes are sent instead of a reply.
    Raw(Vec<u8>),
    /// The server sends nothing and advances the time of the test until the client disconnects.
    Silence,
    /// The connection is closed before anything is sent.
    HangUp,
    /// The server answers `200` and then forwards all bytes to and from this address, like a proxy.
    Tunnel(SocketAddr),
}

impl Reply {
    /// Creates a reply with status 200 and a body.
    pub fn ok(media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type".to_owned(), media_type.to_owned())];
        Self { headers, body: body.into(), ..Self::status(200) }
    }

    /// Creates a reply with a status and no body.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            framing: Framing::Length,
            fault: Fault::None,
            is_file: false,
        }
    }

    /// Creates a redirect to a URL.
    pub fn redirect(status: u16, to: &str) -> Self {
        Self::status(status).with("Location", to)
    }

    /// Creates a reply that supports range and conditional requests, with an `ETag`.
    pub fn file(media_type: &str, etag: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { is_file: true, ..Self::ok(media_type, body) }.with("ETag", etag)
    }

    /// Adds a header field to the reply.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the fault of the reply.
    #[must_use]
    pub fn but(mut self, fault: Fault) -> Self {
        self.fault = fault;
        self
    }

    /// Sets how the reply marks the end of its body.
    #[must_use]
    pub fn framed(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Sends the reply; returns whether the connection can be reused.
    pub(super) fn send(
        mut self,
        wire: &mut dyn ServerStream,
        raw: &TcpStream,
        clock: &TestClock,
        seen: &RecordedRequest,
        mut armed: u64,
    ) -> io::Result<bool> {
        match &self.fault {
            Fault::Raw(bytes) => {
                wire.write_all(bytes)?;
                wire.flush()?;
                return Ok(false);
            }
            Fault::Silence => {
                stall(raw, clock);
                return Ok(false);
            }
            Fault::HangUp => return Ok(false),
            Fault::Tunnel(to) => {
                wire.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
                wire.flush()?;
                return tunnel(raw, *to).map(|()| false);
            }
            _ => {}
        }
        if self.is_file {
            self.apply_conditions(seen);
        }
        wire.write_all(&self.head())?;
        let body = std::mem::take(&mut self.body);
        match self.fault {
            Fault::CutAfter(n) => {
                self.write_piece(wire, body.get(..n).unwrap_or(&body))?;
                wire.flush()?;
                drop(raw.shutdown(Shutdown::Both));
                return Ok(false);
            }
            Fault::ResetAfter(n) => {
                self.write_piece(wire, body.get(..n).unwrap_or(&body))?;
                wire.flush()?;
                socket2::SockRef::from(raw).set_linger(Some(Duration::ZERO))?;
                return Ok(false);
            }
            Fault::StallAfter(n) => {
                self.write_piece(wire, body.get(..n).unwrap_or(&body))?;
                wire.flush()?;
                settle(raw, clock, armed);
                stall(raw, clock);
                return Ok(false);
            }
            Fault::Dribble(size, wait) => {
                for (n, piece) in body.chunks(size.max(1)).enumerate() {
                    if 0 < n {
                        settle(raw, clock, armed);
                        (clock.advance)(wait);
                        armed = (clock.armed)();
                    }
                    self.write_piece(wire, piece)?;
                    wire.flush()?;
                }
            }
            Fault::Endless => loop {
                self.write_piece(wire, &body)?;
            },
            _ => self.write_piece(wire, &body)?,
        }
        if self.framing == Framing::Chunked {
            wire.write_all(b"0\r\n\r\n")?;
        }
        wire.flush()?;
        Ok(matches!(self.framing, Framing::Length | Framing::Chunked))
    }

    fn head(&self) -> Vec<u8> {
        let mut lines = vec![format!("HTTP/1.1 {} Reason", self.status)];
        lines.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        match &self.framing {
            // A reply with status 304 has no body and no `Content-Length`.
            Framing::Length if self.status == 304 && self.body.is_empty() => {}
            Framing::Length => lines.push(format!("Content-Length: {}", self.body.len())),
            Framing::Chunked => lines.push("Transfer-Encoding: chunked".to_owned()),
            Framing::Close => lines.push("Connection: close".to_owned()),
            Framing::Claimed(claims) => lines.extend(claims.iter().cloned()),
        }
        format!("{}\r\n\r\n", lines.join("\r\n")).into_bytes()
    }

    fn write_piece(&self, wire: &mut dyn ServerStream, piece: &[u8]) -> io::Result<()> {
        if self.framing == Framing::Chunked && !piece.is_empty() {
            wire.write_all(format!("{:x}\r\n", piece.len()).as_bytes())?;
            wire.write_all(piece)?;
            return wire.write_all(b"\r\n");
        }
        wire.write_all(piece)
    }

    /// Changes the reply to status 304, 206 or 416 if the request is conditional or asks for a
    /// range.
    fn apply_conditions(&mut self, seen: &RecordedRequest) {
        let tag = self.header("etag").unwrap_or_default().to_owned();
        let date = self.header("last-modified").map(str::to_owned);
        let weak = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let is_same = match seen.header("if-none-match") {
            Some(tags) => tags.split(',').any(|theirs| weak(theirs) == weak(&tag)),
            None => date.is_some() && seen.header("if-modified-since") == date.as_deref(),
        };
        if is_same {
            (self.status, self.body) = (304, Vec::new());
            return;
        }
        let Some(range) = seen.header("range").and_then(|range| range.strip_prefix("bytes="))
        else {
            return;
        };
        if seen.header("if-range").is_some_and(|theirs| theirs != tag) {
            return;
        }
        let first: usize = range.trim_end_matches('-').parse().unwrap_or(0);
        let total = self.body.len();
        let range = if total <= first {
            (self.status, self.body) = (416, Vec::new());
            format!("bytes */{total}")
        } else {
            self.status = 206;
            self.body.drain(..first);
            format!("bytes {first}-{}/{total}", total - 1)
        };
        self.headers.push(("Content-Range".to_owned(), range));
    }
}

/// Advances the time of the test until the client disconnects.
fn stall(raw: &TcpStream, clock: &TestClock) {
    while !is_gone(raw) {
        (clock.advance)(Duration::from_secs(2));
    }
}

/// Waits until the client starts a new wait with a deadline or disconnects.
fn settle(raw: &TcpStream, clock: &TestClock, armed: u64) {
    while (clock.armed)() <= armed && !is_gone(raw) {}
}

/// Returns whether the client has closed the connection.
fn is_gone(raw: &TcpStream) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    let before = raw.read_timeout().ok().flatten();
    drop(raw.set_read_timeout(Some(Duration::from_millis(1))));
    let peeked = raw.peek(&mut [0]);
    drop(raw.set_read_timeout(before));
    match peeked {
        Ok(n) => n == 0,
        Err(error) => !matches!(error.kind(), WouldBlock | TimedOut | Interrupted),
    }
}

/// Forwards bytes in both directions until one side closes.
fn tunnel(raw: &TcpStream, to: SocketAddr) -> io::Result<()> {
    let far = TcpStream::connect(to)?;
    let (mut near_in, mut far_out) = (raw.try_clone()?, far.try_clone()?);
    let there = thread::spawn(move || {
        drop(io::copy(&mut near_in, &mut far_out));
        drop(far_out.shutdown(Shutdown::Write));
    });
    let (mut far_in, mut near_out) = (far, raw.try_clone()?);
    drop(io::copy(&mut far_in, &mut near_out));
    drop(raw.shutdown(Shutdown::Both));
    drop(there.join());
    Ok(())
}
