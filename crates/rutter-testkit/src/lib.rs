//! Helpers for tests: small collections made by other means than the code
//! under test, inputs that come in odd pieces, and a server that misbehaves.
//!
//! The checksum here is computed over text put together by hand, so that a
//! reader that agrees with it agrees with the decision and not with itself.

pub mod fidelity;
#[cfg(feature = "server")]
pub mod server;

use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

/// The line of page number `n`; `hour` of the day moves `modified`.
pub fn page(n: usize, hour: u32) -> String {
    format!(
        "{{\"url\":\"https://harbour.example/{n:04}\",\"title\":\"Page {n}\",\
         \"description\":\"About {n}\",\"modified\":\"2026-05-01T{hour:02}:00:00Z\",\
         \"language\":\"en\",\"content\":[{{\"type\":\"text\",\"text\":\"Berth {n} at {hour}\"}}]}}"
    )
}

/// The text of a snapshot with these lines and a right checksum, no line end
/// at the end.
pub fn snapshot(lines: &[String]) -> String {
    let members = "\"id\":\"harbour-1\",\"section\":\"all\",\"type\":\"snapshot\",\
                   \"generated\":\"2026-05-02T00:00:00Z\",\"version\":\"0.1\"";
    with_checksum(members, lines)
}

/// A collection with these metadata members, the checksum after them.
pub fn with_checksum(members: &str, lines: &[String]) -> String {
    let body: String = lines.iter().flat_map(|line| ["\n", line]).collect();
    let bare = format!("{{\"collection\":{{{members}}}}}{body}");
    let digest = Sha256::digest(bare.as_bytes());
    let digits = digest.iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
    format!("{{\"collection\":{{{members},\"checksum\":\"sha256:{digits}\"}}}}{body}")
}

/// One gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(bytes).expect("memory takes everything");
    encoder.finish().expect("memory takes everything")
}

/// One zstd frame.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 3).expect("memory takes everything")
}

/// Bytes that come in pieces of the given sizes, over and over.
#[derive(Debug)]
pub struct Dribble {
    bytes: io::Cursor<Vec<u8>>,
    sizes: Vec<usize>,
    turn: usize,
}

impl Dribble {
    /// Gives `bytes` in pieces; a size of 0 counts as 1.
    pub fn new(bytes: Vec<u8>, sizes: Vec<usize>) -> Self {
        Self { bytes: io::Cursor::new(bytes), sizes, turn: 0 }
    }
}

impl Read for Dribble {
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

/// Fails after so many bytes, as a disk does.
#[derive(Debug)]
pub struct Failing {
    /// What can be read.
    pub bytes: io::Cursor<Vec<u8>>,
}

impl Read for Failing {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self.bytes.read(buf)? {
            0 => Err(io::Error::other("disk on fire")),
            n => Ok(n),
        }
    }
}
