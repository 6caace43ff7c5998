//! Test helpers: small collections, readers whose reads are short or fail, and an HTTP server that
//! can send invalid replies.
//!
//! The helpers build collections and their checksums from text, without the code under test.

pub mod fidelity;
#[cfg(feature = "server")]
pub mod server;

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

/// Returns the JSON line of page number `n`; `hour` is the hour of its member `modified`.
pub fn page(n: usize, hour: u32) -> String {
    format!(
        "{{\"url\":\"https://harbour.example/{n:04}\",\"title\":\"Page {n}\",\
         \"description\":\"About {n}\",\"modified\":\"2026-05-01T{hour:02}:00:00Z\",\
         \"language\":\"en\",\"content\":[{{\"type\":\"text\",\"text\":\"Berth {n} at {hour}\"}}]}}"
    )
}

/// Returns the text of a snapshot with these page lines and a valid checksum, without a final line
/// end.
pub fn snapshot(lines: &[String]) -> String {
    let members = "\"id\":\"harbour-1\",\"section\":\"all\",\"type\":\"snapshot\",\
                   \"generated\":\"2026-05-02T00:00:00Z\",\"version\":\"0.1\"";
    with_checksum(members, lines)
}

/// Returns the text of a collection whose first line has these members and a valid checksum.
pub fn with_checksum(members: &str, lines: &[String]) -> String {
    let body: String = lines.iter().flat_map(|line| ["\n", line]).collect();
    let bare = format!("{{\"collection\":{{{members}}}}}{body}");
    let digest = Sha256::digest(bare.as_bytes());
    let digits = digest.iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
    format!("{{\"collection\":{{{members},\"checksum\":\"sha256:{digits}\"}}}}{body}")
}

/// Compresses bytes into one gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(bytes).expect("writing to memory cannot fail");
    encoder.finish().expect("writing to memory cannot fail")
}

/// Compresses bytes into one zstd frame.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 3).expect("writing to memory cannot fail")
}

/// Reader that returns its bytes in pieces of the given sizes and starts again at the first size
/// after the last one.
#[derive(Debug)]
pub struct ChunkedReader {
    bytes: io::Cursor<Vec<u8>>,
    sizes: Vec<usize>,
    turn: usize,
}

impl ChunkedReader {
    /// Creates a reader of `bytes`; a size of 0 counts as 1.
    pub fn new(bytes: Vec<u8>, sizes: Vec<usize>) -> Self {
        Self { bytes: io::Cursor::new(bytes), sizes, turn: 0 }
    }
}

impl Read for ChunkedReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes.get(self.turn % self.sizes.len().max(1)).copied().unwrap_or(1);
        self.turn += 1;
        let end = size.max(1).min(buf.len());
        match buf.get_mut(..end) {
            Some(part) => self.bytes.read(part),
            None => Ok(0),
        }
    }
}

/// Reader that returns an error after its last byte.
#[derive(Debug)]
pub struct FailingReader {
    /// Bytes that the reader returns before the error.
    pub bytes: io::Cursor<Vec<u8>>,
}

impl Read for FailingReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.bytes.read(buf)? {
            0 => Err(io::Error::other("disk failure")),
            n => Ok(n),
        }
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
