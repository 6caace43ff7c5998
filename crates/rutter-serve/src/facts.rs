//! What is said about a file's bytes, found in these very bytes.
//!
//! A collection says in its first line what its tag and its date are; every
//! file is hashed, because the same text may be compressed to other bytes, and
//! a tag must not stand for both (D08). What was found is remembered by the file's
//! identity, so a file that is replaced is looked at anew, and nothing is ever
//! said of one file that was found in another.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

use rutter_page::{Digest, Timestamp};
use rutter_scp::identifying_checksum;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::beneath::Identity;
use crate::charset;
use crate::generations::Generations;
use crate::kind::{Coding, HTML, SCP};

/// Longest first line of a collection: what our writer allows for a delta with
/// many removals (D95), and what stands around them.
const LONGEST_LINE: u64 = 1_000_000 + (64 << 10);

/// Largest window a zstd frame may ask for, as a power of two (RFC 9659).
const WINDOW: u32 = 23;

/// Files that are remembered.
pub(crate) const MOST: usize = 65_536;

/// What the bytes of a file say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Facts {
    /// What the tag is made of: the checksum a collection has, else the digest
    /// of the stored bytes.
    pub(crate) tag: Option<Digest>,
    /// Whether the tag of a collection identifies its stored bytes.
    pub(crate) is_identified: bool,
    /// Digest of the stored bytes.
    pub(crate) stored: Option<Digest>,
    /// Of a compressed twin: the digest of its text (D08).
    pub(crate) text: Option<Digest>,
    /// When a collection was generated, in seconds.
    pub(crate) generated: Option<i64>,
    /// When a collection expires, in seconds.
    pub(crate) expires: Option<i64>,
    /// Whether a collection is a delta.
    pub(crate) is_delta: bool,
    /// Whether a page is UTF-8 and says nothing else of itself.
    pub(crate) is_utf8: bool,
}

/// What is to be found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Need {
    Collection(Option<Coding>),
    Bytes,
    /// The bytes, and whether they are UTF-8.
    Page,
    /// The bytes and the text they hold.
    Gzip,
}

impl Need {
    pub(crate) fn of(media_type: &str, coding: Option<Coding>) -> Self {
        match media_type {
            SCP => Self::Collection(coding),
            HTML => Self::Page,
            _ => Self::Bytes,
        }
    }
}

/// What was found out before.
#[derive(Debug)]
pub(crate) struct Known {
    table: Mutex<Generations<(Identity, Need), Facts>>,
}

impl Known {
    pub(crate) fn new() -> Self {
        Self { table: Mutex::new(Generations::new(MOST)) }
    }

    pub(crate) fn get(&self, identity: Identity, need: Need) -> Option<Facts> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.get(&(identity, need)).copied()
    }

    /// Reads the file; `None` where it changed while it was read.
    pub(crate) fn find(
        &self,
        file: &File,
        identity: Identity,
        need: Need,
    ) -> io::Result<Option<Facts>> {
        if let Some(facts) = self.get(identity, need) {
            return Ok(Some(facts));
        }
        let facts = find(|| At { file, at: 0 }, need)?;
        self.keep(file, identity, need, facts)
    }

    fn keep(
        &self,
        file: &File,
        identity: Identity,
        need: Need,
        facts: Facts,
    ) -> io::Result<Option<Facts>> {
        if !identity.is_unwritten(file)? {
            return Ok(None);
        }
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.insert((identity, need), facts, 1);
        Ok(Some(facts))
    }
}

/// Finds out what is needed; `open` starts from the first byte each time.
pub(crate) fn find<R: Read>(open: impl Fn() -> R, need: Need) -> io::Result<Facts> {
    match need {
        Need::Collection(coding) => {
            let facts = first_line(open(), coding).unwrap_or_default();
            let stored = Some(digest(open())?);
            // A compressed text may have other bytes with the same checksum.
            let is_identified = coding.is_none()
                && facts.tag.is_some()
                && identifying_checksum(BufReader::new(open()))? == facts.tag;
            // One that says nothing about itself is known by its bytes (D08).
            Ok(Facts { tag: facts.tag.or(stored), stored, is_identified, ..facts })
        }
        Need::Bytes => {
            let stored = Some(digest(open())?);
            Ok(Facts { tag: stored, stored, ..Facts::default() })
        }
        Need::Page => {
            let mut text = charset::Text::new(open());
            let stored = Some(digest(&mut text)?);
            Ok(Facts { tag: stored, stored, is_utf8: text.is_utf8(), ..Facts::default() })
        }
        Need::Gzip => {
            let stored = Some(digest(open())?);
            let text = digest(flate2::read::MultiGzDecoder::new(open())).ok();
            Ok(Facts { tag: text.or(stored), stored, text, ..Facts::default() })
        }
    }
}

/// Reads from a place of its own, whoever else reads the file.
struct At<'f> {
    file: &'f File,
    at: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read_at(buffer, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

fn digest(mut input: impl Read) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 128 << 10];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(Digest(hash.finalize().into())),
            Ok(n) => hash.update(buffer.get(..n).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[derive(Deserialize)]
struct First {
    collection: Told,
}

#[derive(Deserialize)]
struct Told {
    #[serde(rename = "type")]
    kind: Option<String>,
    generated: Option<String>,
    expires: Option<String>,
    checksum: Option<String>,
}

/// What line 1 of a collection says.
fn first_line(mut input: impl Read, coding: Option<Coding>) -> Option<Facts> {
    let mut line = Vec::new();
    let mut read = |input: &mut dyn Read| {
        BufReader::new(input.take(LONGEST_LINE)).read_until(b'\n', &mut line).ok()
    };
    match coding {
        None => read(&mut input),
        Some(Coding::Gzip) => read(&mut flate2::read::MultiGzDecoder::new(input)),
        Some(Coding::Zstd) => {
            let mut decoder = zstd::Decoder::new(input).ok()?;
            decoder.window_log_max(WINDOW).ok()?;
            read(&mut decoder)
        }
    }?;
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
    let First { collection } = serde_json::from_slice(line).ok()?;
    let time = |text: Option<String>| {
        let (time, _) = Timestamp::parse_lenient(&text?).ok()?;
        // Down to the second (D09).
        Some(time.unix_seconds())
    };
    Some(Facts {
        tag: collection.checksum.as_deref().and_then(Digest::parse),
        generated: time(collection.generated),
        expires: time(collection.expires),
        is_delta: collection.kind.as_deref() == Some("delta"),
        ..Facts::default()
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    #[test] // SCP-150 SCP-151
    fn spec_a_collection_says_its_tag_and_date_itself() {
        let sum = format!("sha256:{}", "ab".repeat(32));
        let line = format!(
            r#"{{"collection":{{"id":"a","type":"delta","generated":"2026-05-01T00:00:09.9Z","expires":"2026-06-01T00:00:00Z","checksum":"{sum}","version":"0.1"}}}}"#
        );
        let text = format!("{line}\n{}\n", "x".repeat(100_000));
        let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
        for (coding, bytes) in [
            (None, text.clone().into_bytes()),
            (Some(Coding::Gzip), gzip(text.as_bytes())),
            (Some(Coding::Zstd), zstd),
        ] {
            let facts = find(|| bytes.as_slice(), Need::Collection(coding)).unwrap();
            assert_eq!(facts.tag, Digest::parse(&sum), "{coding:?}");
            assert_eq!(facts.generated, Some(1_777_593_609));
            assert!(facts.is_delta && facts.expires == Some(1_780_272_000));
        }
        // One that says nothing is known by its bytes.
        for bytes in [&b"nonsense"[..], b"", b"{\"collection\":{}}\n", &gzip(b"x")] {
            let facts = find(|| bytes, Need::Collection(Some(Coding::Gzip))).unwrap();
            assert_eq!((facts.tag, facts.generated), (Some(Digest::of(bytes)), None));
        }
    }

    #[test] // SCP-150 D95
    fn spec_a_long_first_line_is_read_to_its_end() {
        let sum = format!("sha256:{}", "cd".repeat(32));
        let removed = format!("\"https://harbour.example/{}\",", "a".repeat(70)).repeat(10_000);
        let line = format!(
            r#"{{"collection":{{"type":"delta","removed":[{}],"checksum":"{sum}"}}}}"#,
            removed.trim_end_matches(',')
        );
        assert!((900_000..1_000_000).contains(&line.len()));
        let bytes = gzip(format!("{line}\n{{}}\n").as_bytes());
        let facts = find(|| bytes.as_slice(), Need::Collection(Some(Coding::Gzip))).unwrap();
        assert_eq!(facts.tag, Digest::parse(&sum));
    }

    #[test] // D08
    fn spec_a_compressed_twin_is_known_by_its_text() {
        let bytes = gzip(b"text");
        let facts = find(|| bytes.as_slice(), Need::Gzip).unwrap();
        assert_eq!(facts.tag, Some(Digest::of(b"text")));
        assert_eq!(facts.stored, Some(Digest::of(&bytes)));
        let facts = find(|| &b"no gzip"[..], Need::Gzip).unwrap();
        assert_eq!(facts.tag, Some(Digest::of(b"no gzip")));
    }

    #[test]
    fn ours_what_is_known_belongs_to_one_state_of_a_file() {
        let known = Known::new();
        let mut one = file(b"one");
        let identity = Identity::of(&one).unwrap().unwrap();
        let facts = known.find(&one, identity, Need::Bytes).unwrap().unwrap();
        assert_eq!(known.get(identity, Need::Bytes), Some(facts));
        one.write_all(b"more").unwrap();
        let other = Identity::of(&one).unwrap().unwrap();
        assert_ne!(identity, other);
        assert_eq!(known.get(other, Need::Bytes), None);
        // What changed while it was read is not known.
        let odd = Identity { size: 1, ..other };
        assert_eq!(known.find(&one, odd, Need::Bytes).unwrap(), None);
    }
}
