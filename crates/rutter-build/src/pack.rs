//! The pack: pages as they were read, so that what did not change is not read
//! again. A cache: losing it costs time, no date.
//!
//! Records lie sorted by URL in chunks. A chunk is its index (keys, URLs) and
//! one zstd frame with the records, so that keys are compared without
//! decompressing, and a chunk of unchanged pages is copied as it is.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::arc::Words;
use crate::error::{At, BuildError};

const MAGIC: &[u8; 8] = b"RUTPACK4";
/// A chunk is closed when it has this many bytes or pages.
const CHUNK_BYTES: usize = 1 << 20;
const CHUNK_PAGES: usize = 256;
/// Largest parts a chunk of ours has; a longer one is broken.
const LONGEST: u32 = 1 << 30;
const LEVEL: i32 = 1;

/// Names the source of a record: its bytes, and everything else that decided
/// how they were read.
pub(crate) type Key = [u8; 16];

/// A key no source has: such a page is read again every time.
pub(crate) const NEVER: Key = [0; 16];

/// A page as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Record {
    pub(crate) key: Key,
    /// Size and time of the source file; 0 where there is none.
    pub(crate) stat: u64,
    pub(crate) meta: Meta,
    /// Its line; empty where the page may not leave.
    pub(crate) line: Vec<u8>,
    /// Its twin; empty likewise.
    pub(crate) markdown: Vec<u8>,
}

/// What layers besides collections need of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub(crate) title: String,
    pub(crate) description: String,
    /// Other languages of the page: tag and address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) languages: Vec<(String, String)>,
    /// Why the page may not leave, as far as it says so itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) barred: Option<String>,
    /// What says so: `meta date 2030-01-01T00:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) barred_by: Option<String>,
    /// What was found wrong: code and detail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<(String, String)>,
    /// Bytes of the source.
    pub(crate) bytes: u64,
    /// Digest of the source.
    #[serde(default)]
    pub(crate) source: String,
    /// What it gives to its entry for AI agents.
    #[serde(default)]
    pub(crate) arc: Words,
    /// What only partners may read of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) withheld: Option<Box<Withheld>>,
}

/// What is kept of a page that needs a login.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Withheld {
    pub(crate) words: Words,
    pub(crate) line: String,
}

/// A page in the index of a chunk.
#[derive(Debug, Clone)]
struct Entry {
    url: String,
    key: Key,
    stat: u64,
}

/// The head of a chunk and where its frame lies.
#[derive(Debug, Clone)]
struct Head {
    /// Sections its pages belong to, one bit each.
    sections: u64,
    entries: Vec<Entry>,
    frame_at: u64,
    frame_len: u32,
}

/// Reads heads, chunk by chunk.
#[derive(Debug)]
struct Chunks {
    path: PathBuf,
    input: BufReader<File>,
    at: u64,
}

impl Chunks {
    /// `None` for a pack that is missing or not one of ours: a cache may be lost.
    fn open(path: &Path) -> Result<Option<Self>, BuildError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(BuildError::Io(path.to_owned(), error)),
        };
        let mut input = BufReader::with_capacity(64 << 10, file);
        let mut magic = [0; 8];
        if input.read_exact(&mut magic).is_err() || &magic != MAGIC {
            return Ok(None);
        }
        Ok(Some(Self { path: path.to_owned(), input, at: 8 }))
    }

    /// The next head; `None` at the end, or where the file is cut off.
    fn next(&mut self) -> Option<Head> {
        let mut fixed = [0; 20];
        self.input.seek(SeekFrom::Start(self.at)).ok()?;
        self.input.read_exact(&mut fixed).ok()?;
        let number = |at: usize| {
            fixed.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes)
        };
        let sections = u64::from_le_bytes(fixed.get(..8)?.try_into().ok()?);
        let (n_pages, index_len, frame_len) = (number(8)?, number(12)?, number(16)?);
        if LONGEST < index_len || LONGEST < frame_len {
            return None;
        }
        let mut index = vec![0; index_len as usize];
        self.input.read_exact(&mut index).ok()?;
        let mut entries = Vec::with_capacity((n_pages as usize).min(CHUNK_PAGES));
        let mut rest = index.as_slice();
        for _ in 0..n_pages {
            let (key, behind) = rest.split_first_chunk::<16>()?;
            let (stat, behind) = behind.split_first_chunk::<8>()?;
            let (len, behind) = behind.split_first_chunk::<2>()?;
            let (url, behind) = behind.split_at_checked(u16::from_le_bytes(*len).into())?;
            let url = String::from_utf8(url.to_vec()).ok()?;
            entries.push(Entry { url, key: *key, stat: u64::from_le_bytes(*stat) });
            rest = behind;
        }
        let frame_at = self.at + 20 + u64::from(index_len);
        self.at = frame_at + u64::from(frame_len);
        Some(Head { sections, entries, frame_at, frame_len })
    }

    fn frame(&mut self, head: &Head) -> Result<Vec<u8>, BuildError> {
        let mut frame = vec![0; head.frame_len as usize];
        self.input.seek(SeekFrom::Start(head.frame_at)).at(&self.path)?;
        self.input.read_exact(&mut frame).at(&self.path)?;
        Ok(frame)
    }
}

/// Looks up keys, in the order of URLs.
#[derive(Debug)]
pub(crate) struct Keys {
    chunks: Option<Chunks>,
    head: Option<Head>,
    next: usize,
}

impl Keys {
    pub(crate) fn open(path: &Path) -> Result<Self, BuildError> {
        let mut chunks = Chunks::open(path)?;
        let head = chunks.as_mut().and_then(Chunks::next);
        Ok(Self { chunks, head, next: 0 })
    }

    /// The key of a URL and what is known of its file; later calls must ask
    /// for later URLs.
    pub(crate) fn get(&mut self, url: &str) -> Option<(Key, u64)> {
        loop {
            let head = self.head.as_ref()?;
            let Some(entry) = head.entries.get(self.next) else {
                self.head = self.chunks.as_mut().and_then(Chunks::next);
                self.next = 0;
                continue;
            };
            match entry.url.as_str().cmp(url) {
                std::cmp::Ordering::Less => self.next += 1,
                std::cmp::Ordering::Equal => return Some((entry.key, entry.stat)),
                std::cmp::Ordering::Greater => return None,
            }
        }
    }
}

/// A chunk with its records.
#[derive(Debug)]
struct Open {
    head: Head,
    records: Option<Vec<Record>>,
}

/// Gives records in the order of URLs, decompressing only what is asked for.
#[derive(Debug)]
pub(crate) struct Records {
    chunks: Option<Chunks>,
    open: Option<Open>,
    next: usize,
}

impl Records {
    pub(crate) fn open(path: &Path) -> Result<Self, BuildError> {
        Ok(Self { chunks: Chunks::open(path)?, open: None, next: 0 })
    }

    fn advance(&mut self) -> bool {
        let head = self.chunks.as_mut().and_then(Chunks::next);
        self.open = head.map(|head| Open { head, records: None });
        self.next = 0;
        self.open.is_some()
    }

    /// Moves to a URL that is there.
    fn seek(&mut self, url: &str) -> Option<(usize, usize)> {
        loop {
            if self.open.is_none() && !self.advance() {
                return None;
            }
            let open = self.open.as_ref()?;
            match open.head.entries.get(self.next) {
                Some(entry) if entry.url == url => {
                    return Some((self.next, open.head.entries.len()));
                }
                Some(entry) if entry.url.as_str() < url => self.next += 1,
                Some(_) => return None,
                None => self.open = None,
            }
        }
    }

    fn records(&mut self) -> Result<&mut Vec<Record>, BuildError> {
        let (Some(chunks), Some(open)) = (&mut self.chunks, &mut self.open) else {
            return Err(BuildError::State(PathBuf::from("pages.pack"), 0));
        };
        if open.records.is_none() {
            let path = chunks.path.clone();
            let broken = || BuildError::State(path.clone(), open.head.frame_at);
            let frame = chunks.frame(&open.head).map_err(|_| broken())?;
            let text = zstd::bulk::decompress(&frame, LONGEST as usize).map_err(|_| broken())?;
            open.records = Some(unpack(&text, &open.head.entries).ok_or_else(broken)?);
        }
        Ok(open.records.as_mut().expect("it was made above"))
    }

    /// The record of a URL; later calls must ask for later URLs.
    pub(crate) fn get(&mut self, url: &str) -> Result<Option<&Record>, BuildError> {
        match self.seek(url) {
            Some((at, _)) => Ok(self.records()?.get(at)),
            None => Ok(None),
        }
    }

    /// All records, one by one.
    pub(crate) fn every(&mut self, take: &mut dyn FnMut(&str, &Record)) -> Result<(), BuildError> {
        while self.advance() {
            let Some(open) = &self.open else { break };
            let urls: Vec<String> =
                open.head.entries.iter().map(|entry| entry.url.clone()).collect();
            for (url, record) in urls.iter().zip(self.records()?.iter()) {
                take(url, record);
            }
        }
        Ok(())
    }

    /// All records of chunks that hold one of these sections, one by one.
    pub(crate) fn each(
        &mut self,
        sections: u64,
        take: &mut dyn FnMut(&str, &Record) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        while self.advance() {
            let Some(open) = &self.open else { break };
            if open.head.sections & sections == 0 {
                continue;
            }
            let urls: Vec<String> =
                open.head.entries.iter().map(|entry| entry.url.clone()).collect();
            let records = self.records()?;
            for (url, record) in urls.iter().zip(records.iter()) {
                take(url, record)?;
            }
        }
        Ok(())
    }
}

fn unpack(text: &[u8], entries: &[Entry]) -> Option<Vec<Record>> {
    let mut rest = text;
    let mut part = |len: [u8; 4]| {
        let (part, behind) = rest.split_at_checked(u32::from_le_bytes(len) as usize)?;
        rest = behind;
        Some(part)
    };
    let mut records = Vec::with_capacity(entries.len());
    for Entry { key, stat, .. } in entries {
        let lengths = part(12_u32.to_le_bytes())?;
        let mut lengths = lengths.chunks_exact(4).filter_map(|four| four.try_into().ok());
        let meta = serde_json::from_slice(part(lengths.next()?)?).ok()?;
        let line = part(lengths.next()?)?.to_vec();
        let markdown = part(lengths.next()?)?.to_vec();
        records.push(Record { key: *key, stat: *stat, meta, line, markdown });
    }
    Some(records)
}

/// Writes a pack; takes records anew or from an old pack.
pub(crate) struct PackWriter {
    path: PathBuf,
    out: BufWriter<File>,
    index: Vec<u8>,
    text: Vec<u8>,
    sections: u64,
    n_pages: usize,
    /// Pages of the old chunk that were kept so far, from its first on.
    kept: Vec<(String, u64)>,
    compressor: zstd::bulk::Compressor<'static>,
}

impl PackWriter {
    pub(crate) fn create(path: &Path) -> Result<Self, BuildError> {
        let mut out = BufWriter::with_capacity(256 << 10, File::create(path).at(path)?);
        out.write_all(MAGIC).at(path)?;
        let mut compressor = zstd::bulk::Compressor::new(LEVEL).at(path)?;
        // A flipped bit must not become a page.
        compressor.include_checksum(true).at(path)?;
        Ok(Self {
            path: path.to_owned(),
            out,
            index: Vec::new(),
            text: Vec::new(),
            sections: 0,
            n_pages: 0,
            kept: Vec::new(),
            compressor,
        })
    }

    /// Adds a page that was read.
    pub(crate) fn push(
        &mut self,
        url: &str,
        section: u64,
        record: &Record,
        old: &mut Records,
    ) -> Result<(), BuildError> {
        self.settle(old)?;
        self.append(url, section, record)
    }

    fn append(&mut self, url: &str, section: u64, record: &Record) -> Result<(), BuildError> {
        let meta = serde_json::to_vec(&record.meta).expect("what we know of a page is JSON");
        for part in [&meta, &record.line, &record.markdown] {
            let len = u32::try_from(part.len()).unwrap_or(u32::MAX);
            self.text.extend_from_slice(&len.to_le_bytes());
        }
        for part in [&meta, &record.line, &record.markdown] {
            self.text.extend_from_slice(part);
        }
        self.enter(url, &record.key, record.stat, section);
        if CHUNK_BYTES <= self.text.len() || CHUNK_PAGES <= self.n_pages {
            self.close()?;
        }
        Ok(())
    }

    fn enter(&mut self, url: &str, key: &Key, stat: u64, section: u64) {
        self.index.extend_from_slice(key);
        self.index.extend_from_slice(&stat.to_le_bytes());
        // An address is never longer than this (PageUrl::LONGEST).
        let len = u16::try_from(url.len()).unwrap_or(u16::MAX);
        self.index.extend_from_slice(&len.to_le_bytes());
        self.index.extend_from_slice(url.as_bytes());
        self.sections |= section;
        self.n_pages += 1;
    }

    /// Adds a page whose record in the old pack is still right.
    pub(crate) fn keep(
        &mut self,
        url: &str,
        section: u64,
        old: &mut Records,
    ) -> Result<(), BuildError> {
        // Another chunk than before: the last one is settled first.
        let is_next = |old: &Records, n_kept: usize| {
            old.open.as_ref().is_some_and(|open| {
                open.head.entries.get(n_kept).is_some_and(|entry| entry.url == url)
            })
        };
        if !self.kept.is_empty() && !is_next(old, self.kept.len()) {
            self.settle(old)?;
        }
        let Some((at, n_entries)) = old.seek(url) else { return Ok(()) };
        if self.n_pages == 0 && at == self.kept.len() {
            self.kept.push((url.to_owned(), section));
            if self.kept.len() == n_entries {
                return self.copy(old);
            }
            return Ok(());
        }
        self.settle(old)?;
        let record = old.records()?.get(at).cloned().unwrap_or_default();
        self.append(url, section, &record)
    }

    /// Copies a chunk all of whose pages are kept.
    fn copy(&mut self, old: &mut Records) -> Result<(), BuildError> {
        let (Some(chunks), Some(open)) = (&mut old.chunks, &old.open) else { return Ok(()) };
        let frame = chunks.frame(&open.head)?;
        let keys: Vec<(Key, u64)> =
            open.head.entries.iter().map(|entry| (entry.key, entry.stat)).collect();
        for ((url, section), (key, stat)) in std::mem::take(&mut self.kept).iter().zip(&keys) {
            self.enter(url, key, *stat, *section);
        }
        self.put(&frame)
    }

    /// Writes out pages that were kept from a chunk that is not kept whole.
    fn settle(&mut self, old: &mut Records) -> Result<(), BuildError> {
        if self.kept.is_empty() {
            return Ok(());
        }
        let kept = std::mem::take(&mut self.kept);
        let n_kept = kept.len();
        let records: Vec<Record> = old.records()?.iter().take(n_kept).cloned().collect();
        for ((url, section), record) in kept.iter().zip(&records) {
            self.append(url, *section, record)?;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), BuildError> {
        if self.n_pages == 0 {
            return Ok(());
        }
        let frame = self.compressor.compress(&self.text).at(&self.path)?;
        self.put(&frame)
    }

    fn put(&mut self, frame: &[u8]) -> Result<(), BuildError> {
        let mut head = Vec::with_capacity(20);
        head.extend_from_slice(&self.sections.to_le_bytes());
        for number in [self.n_pages, self.index.len(), frame.len()] {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            head.extend_from_slice(&number.to_le_bytes());
        }
        for part in [head.as_slice(), &self.index, frame] {
            self.out.write_all(part).at(&self.path)?;
        }
        self.index.clear();
        self.text.clear();
        (self.sections, self.n_pages) = (0, 0);
        Ok(())
    }

    pub(crate) fn finish(mut self, old: &mut Records) -> Result<(), BuildError> {
        self.settle(old)?;
        self.close()?;
        self.out.flush().at(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(n: u32) -> Record {
        let meta = Meta { title: format!("Page {n}"), bytes: n.into(), ..Meta::default() };
        let mut key = NEVER;
        key[..4].copy_from_slice(&n.to_le_bytes());
        Record {
            key,
            stat: n.into(),
            meta,
            line: vec![b'x'; (n % 700) as usize],
            markdown: b"# y".to_vec(),
        }
    }

    fn url(n: u32) -> String {
        format!("https://h.example/{n:06}")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn ours_kept_and_new_pages_come_back_in_order(
            fates in prop::collection::vec(0_u8..12, 600..900),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let (first, second) = (folder.path().join("1"), folder.path().join("2"));
            let none = folder.path().join("none");
            let mut old = Records::open(&none).unwrap();
            let mut writer = PackWriter::create(&first).unwrap();
            // Every page but those that come later.
            for (n, fate) in (0..).zip(&fates) {
                if *fate != 1 {
                    writer.push(&url(n), 1 << (n % 3), &record(n), &mut old).unwrap();
                }
            }
            writer.finish(&mut old).unwrap();

            let mut keys = Keys::open(&first).unwrap();
            let mut old = Records::open(&first).unwrap();
            let mut writer = PackWriter::create(&second).unwrap();
            let mut expected = Vec::new();
            for (n, fate) in (0..).zip(&fates) {
                prop_assert_eq!(keys.get(&url(n)), (*fate != 1).then(|| (record(n).key, record(n).stat)));
                match fate {
                    // Gone, new, changed, and the many that stay.
                    0 => continue,
                    1 => writer.push(&url(n), 1, &record(n), &mut old).unwrap(),
                    2 => writer.push(&url(n), 1, &record(n + 1), &mut old).unwrap(),
                    _ => writer.keep(&url(n), 1, &mut old).unwrap(),
                }
                expected.push((url(n), record(if *fate == 2 { n + 1 } else { n })));
            }
            writer.finish(&mut old).unwrap();
            let mut found = Vec::new();
            Records::open(&second).unwrap().each(1, &mut |url, record| {
                found.push((url.to_owned(), record.clone()));
                Ok(())
            }).unwrap();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn ours_a_broken_pack_is_only_a_lost_cache() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pack");
        for bytes in [&b""[..], b"nonsense that is long", b"RUTPACK1\x01\x02"] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(Keys::open(&path).unwrap().get("https://h.example/"), None);
            assert!(Records::open(&path).unwrap().get("https://h.example/").unwrap().is_none());
        }
    }
}
