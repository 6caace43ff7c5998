//! Reads the facts about the bytes of a file: digest, `ETag`, dates.
//!
//! The first line of a collection contains its checksum and date. Every file is hashed, because the
//! same content may be compressed to different bytes, and one `ETag` must not identify both (D08).
//! Results are cached by the identity of the file, so a replaced file is read again.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

use rutter_page::{Digest, Timestamp};
use rutter_scp::identifying_checksum;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::bounded_map::BoundedMap;
use crate::resolve::charset;
use crate::resolve::kind::{ContentCoding, HTML, SCP};
use crate::resolve::root_dir::FileIdentity;

/// Maximum length of the first line of a collection, in bytes: the limit of the writer for a delta
/// with many removals (D95), plus the rest of the header.
const MAX_FIRST_LINE: u64 = 1_000_000 + (64 << 10);

/// Base-2 logarithm of the maximum window of a zstd frame (RFC 9659).
const WINDOW: u32 = 23;

/// Maximum number of files in the cache.
pub(crate) const MAX_ENTRIES: usize = 65_536;

/// Facts about the bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FileFacts {
    /// Content of the `ETag`: the checksum of a collection, else the digest of the stored bytes.
    pub(crate) tag: Option<Digest>,
    /// Whether the `ETag` of a collection identifies its stored bytes.
    pub(crate) is_identified: bool,
    /// Digest of the stored bytes.
    pub(crate) stored: Option<Digest>,
    /// Digest of the decompressed content of a compressed file (D08).
    pub(crate) text: Option<Digest>,
    /// When a collection was generated, in seconds since 1970.
    pub(crate) generated: Option<i64>,
    /// When a collection expires, in seconds since 1970.
    pub(crate) expires: Option<i64>,
    /// Whether the collection is a delta.
    pub(crate) is_delta: bool,
    /// Whether a page is UTF-8 and declares no other charset.
    pub(crate) is_utf8: bool,
}

/// Which facts are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum FactsScope {
    Collection(Option<ContentCoding>),
    Bytes,
    /// The bytes, and whether they are UTF-8.
    Page,
    /// The bytes and their decompressed content.
    Gzip,
}

impl FactsScope {
    pub(crate) fn of(media_type: &str, coding: Option<ContentCoding>) -> Self {
        match media_type {
            SCP => Self::Collection(coding),
            HTML => Self::Page,
            _ => Self::Bytes,
        }
    }
}

/// Cache of the facts about files.
#[derive(Debug)]
pub(crate) struct FactsCache {
    table: Mutex<BoundedMap<(FileIdentity, FactsScope), FileFacts>>,
}

impl FactsCache {
    pub(crate) fn new() -> Self {
        Self { table: Mutex::new(BoundedMap::new(MAX_ENTRIES)) }
    }

    pub(crate) fn get(&self, identity: FileIdentity, need: FactsScope) -> Option<FileFacts> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.get(&(identity, need)).copied()
    }

    /// Returns the facts from the cache, or reads the file; `None` if the file changed while it was
    /// read.
    pub(crate) fn find(
        &self,
        file: &File,
        identity: FileIdentity,
        need: FactsScope,
    ) -> io::Result<Option<FileFacts>> {
        if let Some(facts) = self.get(identity, need) {
            return Ok(Some(facts));
        }
        let facts = find(|| PositionedReader { file, at: 0 }, need)?;
        self.keep(file, identity, need, facts)
    }

    fn keep(
        &self,
        file: &File,
        identity: FileIdentity,
        need: FactsScope,
        facts: FileFacts,
    ) -> io::Result<Option<FileFacts>> {
        if !identity.is_unwritten(file)? {
            return Ok(None);
        }
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.insert((identity, need), facts, 1);
        Ok(Some(facts))
    }
}

/// Reads the facts; each call of `open` returns a reader that starts at the first byte.
pub(crate) fn find<R: Read>(open: impl Fn() -> R, need: FactsScope) -> io::Result<FileFacts> {
    match need {
        FactsScope::Collection(coding) => {
            let facts = first_line(open(), coding).unwrap_or_default();
            let stored = Some(digest(open())?);
            // The checksum of a compressed collection does not identify its stored bytes.
            let is_identified = coding.is_none()
                && facts.tag.is_some()
                && identifying_checksum(BufReader::new(open()))? == facts.tag;
            // A collection without a checksum is identified by its bytes (D08).
            Ok(FileFacts { tag: facts.tag.or(stored), stored, is_identified, ..facts })
        }
        FactsScope::Bytes => {
            let stored = Some(digest(open())?);
            Ok(FileFacts { tag: stored, stored, ..FileFacts::default() })
        }
        FactsScope::Page => {
            let mut text = charset::Utf8Checker::new(open());
            let stored = Some(digest(&mut text)?);
            Ok(FileFacts { tag: stored, stored, is_utf8: text.is_utf8(), ..FileFacts::default() })
        }
        FactsScope::Gzip => {
            let stored = Some(digest(open())?);
            let text = digest(flate2::read::MultiGzDecoder::new(open())).ok();
            Ok(FileFacts { tag: text.or(stored), stored, text, ..FileFacts::default() })
        }
    }
}

/// Reads at an offset of its own, independent of other readers of the file.
struct PositionedReader<'f> {
    file: &'f File,
    at: u64,
}

impl Read for PositionedReader<'_> {
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
struct FirstLine {
    collection: CollectionHeader,
}

#[derive(Deserialize)]
struct CollectionHeader {
    #[serde(rename = "type")]
    kind: Option<String>,
    generated: Option<String>,
    expires: Option<String>,
    checksum: Option<String>,
}

/// Parses the first line of a collection.
fn first_line(mut input: impl Read, coding: Option<ContentCoding>) -> Option<FileFacts> {
    let mut line = Vec::new();
    let mut read = |input: &mut dyn Read| {
        BufReader::new(input.take(MAX_FIRST_LINE)).read_until(b'\n', &mut line).ok()
    };
    match coding {
        None => read(&mut input),
        Some(ContentCoding::Gzip) => read(&mut flate2::read::MultiGzDecoder::new(input)),
        Some(ContentCoding::Zstd) => {
            let mut decoder = zstd::Decoder::new(input).ok()?;
            decoder.window_log_max(WINDOW).ok()?;
            read(&mut decoder)
        }
    }?;
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
    let FirstLine { collection } = serde_json::from_slice(line).ok()?;
    let time = |text: Option<String>| {
        let (time, _) = Timestamp::parse_lenient(&text?).ok()?;
        // Truncated to seconds (D09).
        Some(time.unix_seconds())
    };
    Some(FileFacts {
        tag: collection.checksum.as_deref().and_then(Digest::parse),
        generated: time(collection.generated),
        expires: time(collection.expires),
        is_delta: collection.kind.as_deref() == Some("delta"),
        ..FileFacts::default()
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
    fn reads_etag_and_date_from_a_collection() {
        let sum = format!("sha256:{}", "ab".repeat(32));
        let line = format!(
            r#"{{"collection":{{"id":"a","type":"delta","generated":"2026-05-01T00:00:09.9Z","expires":"2026-06-01T00:00:00Z","checksum":"{sum}","version":"0.1"}}}}"#
        );
        let text = format!("{line}\n{}\n", "x".repeat(100_000));
        let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
        for (coding, bytes) in [
            (None, text.clone().into_bytes()),
            (Some(ContentCoding::Gzip), gzip(text.as_bytes())),
            (Some(ContentCoding::Zstd), zstd),
        ] {
            let facts = find(|| bytes.as_slice(), FactsScope::Collection(coding)).unwrap();
            assert_eq!(facts.tag, Digest::parse(&sum), "{coding:?}");
            assert_eq!(facts.generated, Some(1_777_593_609));
            assert!(facts.is_delta && facts.expires == Some(1_780_272_000));
        }
        // A collection without a checksum is identified by its bytes (D08).
        for bytes in [&b"nonsense"[..], b"", b"{\"collection\":{}}\n", &gzip(b"x")] {
            let facts = find(|| bytes, FactsScope::Collection(Some(ContentCoding::Gzip))).unwrap();
            assert_eq!((facts.tag, facts.generated), (Some(Digest::of(bytes)), None));
        }
    }

    #[test] // SCP-150 D95
    fn reads_a_long_first_line() {
        let sum = format!("sha256:{}", "cd".repeat(32));
        let removed = format!("\"https://harbour.example/{}\",", "a".repeat(70)).repeat(10_000);
        let line = format!(
            r#"{{"collection":{{"type":"delta","removed":[{}],"checksum":"{sum}"}}}}"#,
            removed.trim_end_matches(',')
        );
        assert!((900_000..1_000_000).contains(&line.len()));
        let bytes = gzip(format!("{line}\n{{}}\n").as_bytes());
        let facts =
            find(|| bytes.as_slice(), FactsScope::Collection(Some(ContentCoding::Gzip))).unwrap();
        assert_eq!(facts.tag, Digest::parse(&sum));
    }

    #[test] // D08
    fn identifies_a_compressed_file_by_its_content() {
        let bytes = gzip(b"text");
        let facts = find(|| bytes.as_slice(), FactsScope::Gzip).unwrap();
        assert_eq!(facts.tag, Some(Digest::of(b"text")));
        assert_eq!(facts.stored, Some(Digest::of(&bytes)));
        let facts = find(|| &b"no gzip"[..], FactsScope::Gzip).unwrap();
        assert_eq!(facts.tag, Some(Digest::of(b"no gzip")));
    }

    #[test]
    fn caches_facts_by_file_identity() {
        let known = FactsCache::new();
        let mut one = file(b"one");
        let identity = FileIdentity::of(&one).unwrap().unwrap();
        let facts = known.find(&one, identity, FactsScope::Bytes).unwrap().unwrap();
        assert_eq!(known.get(identity, FactsScope::Bytes), Some(facts));
        one.write_all(b"more").unwrap();
        let other = FileIdentity::of(&one).unwrap().unwrap();
        assert_ne!(identity, other);
        assert_eq!(known.get(other, FactsScope::Bytes), None);
        // A file that changed while it was read is not cached.
        let odd = FileIdentity { size: 1, ..other };
        assert_eq!(known.find(&one, odd, FactsScope::Bytes).unwrap(), None);
    }
}
