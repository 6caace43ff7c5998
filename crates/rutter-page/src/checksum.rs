//! Checksums of state files: the number of records and the digest of all bytes, at the end of the
//! file.
//!
//! A writer passes every byte through a [`RecordChecksum`] and writes the result last; a reader
//! computes the checksum again and compares. [`verify_checksum`] does so for an object whose last
//! members are `records` and `digest`. A file without a checksum was written by an earlier version;
//! the caller decides whether to accept it.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use crate::Digest;

/// Maximum length of the checksum at the end of a file.
const MAX_LEN: usize = 160;

/// The start of the checksum of a JSON object.
const JSON_START: &[u8] = b",\"records\":";

/// Computes a checksum: counts records and hashes bytes.
#[derive(Debug, Clone, Default)]
pub struct RecordChecksum {
    hash: Sha256,
    records: u64,
}

impl RecordChecksum {
    /// Adds bytes that are not a record.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// Adds the bytes of a record.
    pub fn record(&mut self, bytes: &[u8]) {
        self.records += 1;
        self.hash.update(bytes);
    }

    /// Returns the number of records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Returns the digest of the bytes and the number of records.
    fn digest(&self) -> Digest {
        let mut hash = self.hash.clone();
        hash.update(self.records.to_le_bytes());
        Digest(hash.finalize().into())
    }

    /// Formats the checksum of a file of lines: `12 sha256:…`.
    pub fn to_text(&self) -> String {
        let digest = self.digest();
        format!("{} {digest}", self.records)
    }

    /// Formats the end of a JSON object: the checksum members and the closing brace.
    pub fn to_json(&self) -> String {
        let digest = self.digest();
        format!(",\"records\":{},\"digest\":\"{digest}\"}}\n", self.records)
    }
}

/// Returns a JSON object with its checksum members appended.
pub fn append_checksum(text: &str, records: u64) -> String {
    let body = text.trim_end();
    let body = body.strip_suffix('}').unwrap_or(body).trim_end();
    let mut checksum = RecordChecksum { records, ..RecordChecksum::default() };
    checksum.update(body.as_bytes());
    format!("{body}{}", checksum.to_json())
}

/// The result of [`verify_checksum`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumStatus {
    /// The digest matches; the file has this number of records.
    Valid(u64),
    /// The file has no checksum.
    Missing,
    /// The digest does not match.
    Mismatch,
}

/// Reads a JSON object to its end and verifies its checksum.
pub fn verify_checksum(mut input: impl Read) -> io::Result<ChecksumStatus> {
    let mut hash = Sha256::new();
    let mut held: Vec<u8> = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let n = input.read(&mut buffer)?;
        held.extend_from_slice(buffer.get(..n).unwrap_or_default());
        if n == 0 {
            break;
        }
        let ready = held.len().saturating_sub(MAX_LEN);
        hash.update(held.get(..ready).unwrap_or_default());
        held.drain(..ready);
    }
    let Some(at) = held.windows(JSON_START.len()).rposition(|part| part == JSON_START) else {
        return Ok(ChecksumStatus::Missing);
    };
    let (body, end) = held.split_at(at);
    hash.update(body);
    let digits = end.get(JSON_START.len()..).unwrap_or_default();
    let records: String =
        digits.iter().map_while(|b| b.is_ascii_digit().then(|| char::from(*b))).collect();
    let Ok(records) = records.parse() else { return Ok(ChecksumStatus::Mismatch) };
    let checksum = RecordChecksum { hash, records };
    Ok(if checksum.to_json().as_bytes() == end {
        ChecksumStatus::Valid(records)
    } else {
        ChecksumStatus::Mismatch
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_every_changed_byte_and_every_truncation() {
        for text in ["{\"a\":[\n{\"b\":1}\n]\n}\n".to_owned(), {
            let long = vec!["\"x\""; 60_000].join(",");
            format!("{{\"records\":[{long}],\"b\":2}}")
        }] {
            assert_eq!(verify_checksum(text.as_bytes()).unwrap(), ChecksumStatus::Missing);
            let checked = append_checksum(&text, 7);
            assert!(checked.ends_with("\"}\n"));
            assert_eq!(verify_checksum(checked.as_bytes()).unwrap(), ChecksumStatus::Valid(7));
            let step = (checked.len() / 40).max(1);
            for at in (0..checked.len())
                .step_by(step)
                .chain(checked.len().saturating_sub(150)..checked.len())
            {
                let mut other = checked.clone().into_bytes();
                other.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
                assert_ne!(verify_checksum(&*other).unwrap(), ChecksumStatus::Valid(7), "{at}");
                let cut: Vec<u8> = checked.bytes().take(at).collect();
                assert_ne!(verify_checksum(&*cut).unwrap(), ChecksumStatus::Valid(7), "{at}");
            }
        }
    }
}
