//! HTTP/2 frames written by hand, which a client library would never send.
//!
//! The cases that h2spec 2.6 reports (5.1/8, 5.1/9, 6.9.1/3, 8.1/1) are
//! written with all frames in one TLS record, so that the server reads them
//! together. Sent apart, the server may finish its response between two
//! frames; then the stream is closed, and RFC 9113 section 5.1 lets the server
//! ignore the later frame.

use std::io::{Read, Write};
use std::net::TcpStream;

use tokio_rustls::rustls::{ClientConnection, StreamOwned};

use crate::client::Running;
use crate::tls::{config, name, running};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

const NO_ERROR: u32 = 0;
const PROTOCOL_ERROR: u32 = 1;
const FLOW_CONTROL_ERROR: u32 = 3;
const STREAM_CLOSED: u32 = 5;

/// One frame in its wire format (RFC 9113, section 4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

impl Frame {
    fn new(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Self {
        Self { kind, flags, stream, payload: payload.to_vec() }
    }

    fn bytes(&self) -> Vec<u8> {
        let length = u32::try_from(self.payload.len()).unwrap().to_be_bytes();
        let mut bytes = length[1..].to_vec();
        bytes.extend([self.kind, self.flags]);
        bytes.extend(self.stream.to_be_bytes());
        bytes.extend(&self.payload);
        bytes
    }

    /// The error code of a `RST_STREAM` or GOAWAY frame.
    fn error_code(&self) -> Option<u32> {
        let at = match self.kind {
            RST_STREAM => 0,
            GOAWAY => 4,
            _ => return None,
        };
        Some(u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap()))
    }
}

/// A request head in HPACK: static entries and literals without an index.
fn head(path: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = vec![0x82, 0x87, 0x04];
    put_literal(&mut block, path);
    for (name, value) in fields {
        block.push(0);
        put_literal(&mut block, name);
        put_literal(&mut block, value);
    }
    block
}

fn put_literal(block: &mut Vec<u8>, text: &str) {
    block.push(u8::try_from(text.len()).unwrap());
    block.extend(text.as_bytes());
}

const AUTHORITY: (&str, &str) = (":authority", "harbour.example");

/// A connection with hand-written frames.
struct Connection(StreamOwned<ClientConnection, TcpStream>);

impl Connection {
    /// Connects and exchanges settings; streams start with `window` bytes.
    fn open(running: &Running, window: u32) -> Self {
        let client = ClientConnection::new(config(&["h2"]), name()).unwrap();
        let mut connection = Self(StreamOwned::new(client, running.connect()));
        let mut settings = vec![0, 4];
        settings.extend(window.to_be_bytes());
        let mut first = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        first.extend(Frame::new(SETTINGS, 0, 0, &settings).bytes());
        first.extend(Frame::new(SETTINGS, ACK, 0, &[]).bytes());
        connection.0.write_all(&first).unwrap();
        connection.until(|frame| frame.kind == SETTINGS && frame.flags == ACK);
        connection
    }

    /// Sends the frames in one write.
    fn send(&mut self, frames: &[Frame]) {
        let bytes: Vec<u8> = frames.iter().flat_map(Frame::bytes).collect();
        self.0.write_all(&bytes).unwrap();
        self.0.flush().unwrap();
    }

    /// Returns the next frame; `None` at the end of the connection.
    fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).ok()?;
        let stream = u32::from_be_bytes(head[5..9].try_into().unwrap());
        Some(Frame { kind: head[3], flags: head[4], stream, payload })
    }

    /// Reads frames up to the first match, or to the end.
    fn until(&mut self, fits: impl Fn(&Frame) -> bool) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.next() {
            let is_last = fits(&frame);
            frames.push(frame);
            if is_last {
                break;
            }
        }
        frames
    }

    /// Returns all frames that respond to the frames sent before.
    fn answers(&mut self) -> Vec<Frame> {
        // The ping fails on a closed connection.
        let ping = Frame::new(PING, 0, 0, b"the-last");
        drop(self.0.write_all(&ping.bytes()));
        self.until(|frame| frame.kind == PING && frame.flags == ACK)
    }
}

fn get(path: &str, flags: u8, stream: u32, fields: &[(&str, &str)]) -> Frame {
    Frame::new(HEADERS, flags | END_HEADERS, stream, &head(path, fields))
}

/// The error codes of `RST_STREAM` and GOAWAY frames, in order.
fn error_codes(frames: &[Frame]) -> Vec<u32> {
    frames.iter().filter_map(Frame::error_code).collect()
}

/// Returns the value of `:status` if it is one of HPACK's static entries.
fn status(frames: &[Frame]) -> Option<u16> {
    let block = &frames.iter().find(|frame| frame.kind == HEADERS)?.payload;
    match block.first()? {
        0x88 => Some(200),
        0x8c => Some(400),
        _ => None,
    }
}

#[test]
fn refuses_http2_request_without_host() {
    let running = running();
    let mut connection = Connection::open(&running, 65_535);
    connection.send(&[get("/a.txt", END_STREAM, 1, &[])]);
    assert_eq!(status(&connection.answers()), Some(400));
    connection.send(&[get("/a.txt", END_STREAM, 3, &[AUTHORITY])]);
    assert_eq!(status(&connection.answers()), Some(200));
    connection.send(&[get("/a.txt", END_STREAM, 5, &[("host", "harbour.example")])]);
    assert_eq!(status(&connection.answers()), Some(200));
}

/// Sends a request that the client resets, then `late` on the same stream;
/// returns the error codes the server answers with, sent together and apart.
fn codes_after_reset(running: &Running, late: &Frame) -> [Vec<u32>; 2] {
    let request = get("/large.bin", 0, 1, &[AUTHORITY]);
    let reset = Frame::new(RST_STREAM, 0, 1, &8_u32.to_be_bytes());
    let mut together = Connection::open(running, 65_535);
    together.send(&[request.clone(), reset.clone(), late.clone()]);
    let mut apart = Connection::open(running, 65_535);
    apart.send(&[request]);
    apart.answers();
    apart.send(&[reset]);
    apart.answers();
    apart.send(std::slice::from_ref(late));
    [error_codes(&together.answers()), error_codes(&apart.answers())]
}

#[test] // RFC 9113, section 5.1; h2spec 5.1/8
fn data_after_the_client_reset_a_stream_is_an_error() {
    let late = Frame::new(DATA, END_STREAM, 1, b"test");
    let [together, apart] = codes_after_reset(&running(), &late);
    assert_eq!(together, [STREAM_CLOSED]);
    assert_eq!(apart, [STREAM_CLOSED]);
}

#[test] // RFC 9113, section 5.1; h2spec 5.1/9
fn headers_after_the_client_reset_a_stream_are_an_error() {
    let late = get("/large.bin", END_STREAM, 1, &[AUTHORITY]);
    let [together, apart] = codes_after_reset(&running(), &late);
    // The RFC requires STREAM_CLOSED. The h2 crate reads these headers as trailers, which may not
    // name a path, and sends PROTOCOL_ERROR. The request is refused either way.
    assert_eq!(together, [PROTOCOL_ERROR]);
    assert_eq!(apart, [PROTOCOL_ERROR]);
}

#[test] // RFC 9113, section 6.9.1; h2spec 6.9.1/3
fn stream_window_above_the_limit_is_a_flow_control_error() {
    let running = running();
    // The window is closed, so that the response cannot end.
    let mut connection = Connection::open(&running, 0);
    let most = 0x7fff_ffff_u32.to_be_bytes();
    connection.send(&[
        get("/large.bin", END_STREAM, 1, &[AUTHORITY]),
        Frame::new(WINDOW_UPDATE, 0, 1, &most),
        Frame::new(WINDOW_UPDATE, 0, 1, &most),
    ]);
    let codes = error_codes(&connection.answers());
    assert_eq!(codes, [FLOW_CONTROL_ERROR]);
}

#[test] // RFC 9113, section 8.1; h2spec 8.1/1
fn second_headers_without_end_of_stream_are_a_protocol_error() {
    let running = running();
    let mut connection = Connection::open(&running, 65_535);
    connection.send(&[
        get("/large.bin", 0, 1, &[AUTHORITY]),
        Frame::new(HEADERS, END_HEADERS, 1, &[0, 1, b'a', 1, b'b']),
    ]);
    let codes = error_codes(&connection.answers());
    assert_eq!(codes, [PROTOCOL_ERROR]);
}

#[test]
fn a_response_before_the_end_of_a_request_resets_without_error() {
    let running = running();
    let mut connection = Connection::open(&running, 65_535);
    connection.send(&[get("/a.txt", 0, 1, &[AUTHORITY])]);
    let frames = connection.until(|frame| frame.kind == RST_STREAM);
    assert_eq!(status(&frames), Some(200));
    assert_eq!(error_codes(&frames), [NO_ERROR]);
    // The stream is closed: its later frames are ignored or refused, and other streams continue.
    connection.send(&[
        Frame::new(HEADERS, END_HEADERS, 1, &[0, 1, b'a', 1, b'b']),
        get("/a.txt", END_STREAM, 3, &[AUTHORITY]),
    ]);
    assert_eq!(status(&connection.answers()), Some(200));
}
