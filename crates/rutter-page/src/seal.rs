//! Seals of state files: how many records a file has, and the digest of its
//! bytes, at its end.
//!
//! A writer passes every byte through a [`Seal`] and puts the result last; a
//! reader does the same and compares. [`check_json`] does it for a JSON object
//! whose last members are `records` and `digest`. A file without a seal is one
//! of an earlier version; its reader decides whether that is enough.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

use crate::Digest;

/// Longest end of a file that can hold a seal.
const LONGEST: usize = 160;

/// What begins the seal of a JSON object.
const JSON: &[u8] = b",\"records\":";

/// Counts records and hashes bytes.
#[derive(Debug, Clone, Default)]
pub struct Seal {
    hash: Sha256,
    records: u64,
}

impl Seal {
    /// Takes bytes that are no record.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// Takes the bytes of a record.
    pub fn record(&mut self, bytes: &[u8]) {
        self.records += 1;
        self.hash.update(bytes);
    }

    /// Records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Of the bytes and of the number of records.
    fn digest(&self) -> Digest {
        let mut hash = self.hash.clone();
        hash.update(self.records.to_le_bytes());
        Digest(hash.finalize().into())
    }

    /// The seal of a file of lines: `12 sha256:…`.
    pub fn to_text(&self) -> String {
        let digest = self.digest();
        format!("{} {digest}", self.records)
    }

    /// The end of a JSON object, with its brace.
    pub fn to_json(&self) -> String {
        let digest = self.digest();
        format!(",\"records\":{},\"digest\":\"{digest}\"}}\n", self.records)
    }
}

/// Seals a JSON object that is held in memory.
pub fn seal_json(text: &str, records: u64) -> String {
    let body = text.trim_end();
    let body = body.strip_suffix('}').unwrap_or(body).trim_end();
    let mut seal = Seal { records, ..Seal::default() };
    seal.update(body.as_bytes());
    format!("{body}{}", seal.to_json())
}

/// What the end of a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sealed {
    /// The digest is that of the bytes before it; the file has so many records.
    Whole(u64),
    /// There is no seal.
    Without,
    /// The bytes are not those that were sealed.
    Broken,
}

/// Compares the seal of a JSON object with its bytes; reads to the end.
pub fn check_json(mut input: impl Read) -> io::Result<Sealed> {
    let mut hash = Sha256::new();
    let mut held: Vec<u8> = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let n = input.read(&mut buffer)?;
        held.extend_from_slice(buffer.get(..n).unwrap_or_default());
        if n == 0 {
            break;
        }
        let ready = held.len().saturating_sub(LONGEST);
        hash.update(held.get(..ready).unwrap_or_default());
        held.drain(..ready);
    }
    let Some(at) = held.windows(JSON.len()).rposition(|part| part == JSON) else {
        return Ok(Sealed::Without);
    };
    let (body, end) = held.split_at(at);
    hash.update(body);
    let digits = end.get(JSON.len()..).unwrap_or_default();
    let records: String =
        digits.iter().map_while(|b| b.is_ascii_digit().then(|| char::from(*b))).collect();
    let Ok(records) = records.parse() else { return Ok(Sealed::Broken) };
    let seal = Seal { hash, records };
    Ok(if seal.to_json().as_bytes() == end { Sealed::Whole(records) } else { Sealed::Broken })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_and_every_cut_breaks_a_seal() {
        for text in ["{\"a\":[\n{\"b\":1}\n]\n}\n".to_owned(), {
            let long = vec!["\"x\""; 60_000].join(",");
            format!("{{\"records\":[{long}],\"b\":2}}")
        }] {
            assert_eq!(check_json(text.as_bytes()).unwrap(), Sealed::Without);
            let sealed = seal_json(&text, 7);
            assert!(sealed.ends_with("\"}\n"));
            assert_eq!(check_json(sealed.as_bytes()).unwrap(), Sealed::Whole(7));
            let step = (sealed.len() / 40).max(1);
            for at in (0..sealed.len())
                .step_by(step)
                .chain(sealed.len().saturating_sub(150)..sealed.len())
            {
                let mut other = sealed.clone().into_bytes();
                other.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1);
                assert_ne!(check_json(&*other).unwrap(), Sealed::Whole(7), "{at}");
                let cut: Vec<u8> = sealed.bytes().take(at).collect();
                assert_ne!(check_json(&*cut).unwrap(), Sealed::Whole(7), "{at}");
            }
        }
    }
}
