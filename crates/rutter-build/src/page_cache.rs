//! The page cache (`pages.pack`): extracted pages, so that unchanged pages are not read again.
//!
//! Records are sorted by URL and stored in chunks. A chunk consists of an index (keys and URLs) and
//! a zstd frame with the records, so that keys are compared without decompression, and a chunk of
//! unchanged pages is copied as it is. A missing or damaged cache counts as empty; deleting the
//! cache costs time but changes no date.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rutter_extract::Coverage;
use serde::{Deserialize, Serialize};

use crate::arc_entry::ArcFields;
use crate::error::{BuildError, IoErrorContext};

const MAGIC: &[u8; 8] = b"RUTPACK5";
/// First bytes of a cache of format 4, which has no visibility keys in its index; Rutter reads this
/// format but does not write it.
const MAGIC_4: &[u8; 8] = b"RUTPACK4";
/// Size in bytes at which a chunk is closed; a chunk with `CHUNK_PAGES` pages is closed, too.
const CHUNK_BYTES: usize = 1 << 20;
const CHUNK_PAGES: usize = 256;
/// Maximum length in bytes of the index or frame of a chunk; a greater length means that the file
/// is damaged.
const LONGEST: u32 = 1 << 30;
const LEVEL: i32 = 1;

/// Cache key of a page record: a hash of the page's source and of the settings that decide how the
/// source is read. The visibility of the page is not part of the key.
pub(crate) type Key = [u8; 16];

/// Hash of the rules and settings that decided the visibility of a page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct VisibilityKey(pub(crate) [u8; 8]);

impl VisibilityKey {
    /// Key of a page whose visibility depends on the time, so that every build decides it again.
    pub(crate) const EVERY_BUILD: Self = Self([0; 8]);

    /// Key that marks an entry of format 4, in which the cache key also covers the visibility.
    pub(crate) const IN_KEY: Self = Self([0xff; 8]);
}

/// Index entry of a page in the page cache, without its URL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CacheEntry {
    pub(crate) key: Key,
    pub(crate) visibility_key: VisibilityKey,
    /// Fingerprint of the source file: its size, its modification time and the settings that decide
    /// how it is read; 0 if there is no fingerprint.
    pub(crate) stat: u64,
}

/// Record of a page in the page cache: index entry, metadata, line and Markdown.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PageRecord {
    pub(crate) cached: CacheEntry,
    pub(crate) meta: PageMetadata,
    /// JSON line of the page; empty if the page is not public.
    pub(crate) line: Vec<u8>,
    /// Markdown of the page's twin; empty if the page is not public.
    pub(crate) markdown: Vec<u8>,
}

/// Metadata of a page for all layers except collections.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PageMetadata {
    pub(crate) title: String,
    pub(crate) description: String,
    /// Translations of the page, each with language tag and URL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) languages: Vec<(String, String)>,
    /// Reason why the page is excluded; `None` if it is not. The JSON member keeps its former name.
    #[serde(rename = "barred", default, skip_serializing_if = "Option::is_none")]
    pub(crate) exclusion: Option<String>,
    /// Evidence for the exclusion, such as `meta date 2030-01-01T00:00:00Z`.
    #[serde(rename = "barred_by", default, skip_serializing_if = "Option::is_none")]
    pub(crate) exclusion_source: Option<String>,
    /// Findings about the page, each with rule code and detail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<(String, String)>,
    /// Those of the site owner's selectors to keep or drop content that match an element of the
    /// page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) matched: Vec<String>,
    /// Size of the page's source in bytes.
    pub(crate) bytes: u64,
    /// Digest of the page's source.
    #[serde(default)]
    pub(crate) source: String,
    /// Members of the page's ARC entry.
    #[serde(default)]
    pub(crate) arc: ArcFields,
    /// Share of the main text that the extraction kept; `None` if the share was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) coverage: Option<Coverage>,
    /// Content of the page that only partners may read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) withheld: Option<Box<WithheldPage>>,
}

/// Content of a page that needs a login, for partners.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct WithheldPage {
    #[serde(rename = "words")]
    pub(crate) fields: ArcFields,
    pub(crate) line: String,
}

/// Index entry of a page in a chunk, with its URL.
#[derive(Debug, Clone)]
struct ChunkEntry {
    url: String,
    cached: CacheEntry,
}

/// Index of a chunk, and the position of its frame in the file.
#[derive(Debug, Clone)]
struct ChunkHead {
    /// Bit mask of the sections to which the chunk's pages belong.
    sections: u64,
    entries: Vec<ChunkEntry>,
    frame_at: u64,
    frame_len: u32,
}

/// Reads the indexes and frames of the chunks of a page cache.
#[derive(Debug)]
struct ChunkReader {
    path: PathBuf,
    input: BufReader<File>,
    at: u64,
    /// Whether the indexes contain visibility keys, which format 4 lacks.
    has_visibility_keys: bool,
}

impl ChunkReader {
    /// Opens a page cache; `None` if the file is missing or has an unknown format.
    fn open(path: &Path) -> Result<Option<Self>, BuildError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(BuildError::Io(path.to_owned(), error)),
        };
        let mut input = BufReader::with_capacity(64 << 10, file);
        let mut magic = [0; 8];
        if input.read_exact(&mut magic).is_err() || (&magic != MAGIC && &magic != MAGIC_4) {
            return Ok(None);
        }
        let has_visibility_keys = &magic == MAGIC;
        Ok(Some(Self { path: path.to_owned(), input, at: 8, has_visibility_keys }))
    }

    /// Returns the index of the next chunk; `None` at the end, and if the file is truncated.
    fn next(&mut self) -> Option<ChunkHead> {
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
            let (visibility_key, behind) = if self.has_visibility_keys {
                let (visibility_key, behind) = behind.split_first_chunk::<8>()?;
                (VisibilityKey(*visibility_key), behind)
            } else {
                (VisibilityKey::IN_KEY, behind)
            };
            let (stat, behind) = behind.split_first_chunk::<8>()?;
            let (len, behind) = behind.split_first_chunk::<2>()?;
            let (url, behind) = behind.split_at_checked(u16::from_le_bytes(*len).into())?;
            let url = String::from_utf8(url.to_vec()).ok()?;
            let cached = CacheEntry { key: *key, visibility_key, stat: u64::from_le_bytes(*stat) };
            entries.push(ChunkEntry { url, cached });
            rest = behind;
        }
        let frame_at = self.at + 20 + u64::from(index_len);
        self.at = frame_at + u64::from(frame_len);
        Some(ChunkHead { sections, entries, frame_at, frame_len })
    }

    fn frame(&mut self, head: &ChunkHead) -> Result<Vec<u8>, BuildError> {
        let mut frame = vec![0; head.frame_len as usize];
        self.input.seek(SeekFrom::Start(head.frame_at)).at(&self.path)?;
        self.input.read_exact(&mut frame).at(&self.path)?;
        Ok(frame)
    }
}

/// Looks up the index entries of pages in the order of their URLs.
#[derive(Debug)]
pub(crate) struct CacheIndex {
    chunks: Option<ChunkReader>,
    head: Option<ChunkHead>,
    next: usize,
}

impl CacheIndex {
    pub(crate) fn open(path: &Path) -> Result<Self, BuildError> {
        let mut chunks = ChunkReader::open(path)?;
        let head = chunks.as_mut().and_then(ChunkReader::next);
        Ok(Self { chunks, head, next: 0 })
    }

    /// Returns the index entry of the page with this URL. URLs must be requested in ascending
    /// order.
    pub(crate) fn get(&mut self, url: &str) -> Option<CacheEntry> {
        loop {
            let head = self.head.as_ref()?;
            let Some(entry) = head.entries.get(self.next) else {
                self.head = self.chunks.as_mut().and_then(ChunkReader::next);
                self.next = 0;
                continue;
            };
            match entry.url.as_str().cmp(url) {
                std::cmp::Ordering::Less => self.next += 1,
                std::cmp::Ordering::Equal => return Some(entry.cached),
                std::cmp::Ordering::Greater => return None,
            }
        }
    }
}

/// The current chunk of a reader: its index, and its records if they were decompressed.
#[derive(Debug)]
struct OpenChunk {
    head: ChunkHead,
    records: Option<Vec<PageRecord>>,
}

/// Reads page records in the order of URLs and decompresses only the chunks that are needed.
#[derive(Debug)]
pub(crate) struct PageCacheReader {
    chunks: Option<ChunkReader>,
    open: Option<OpenChunk>,
    next: usize,
}

impl PageCacheReader {
    pub(crate) fn open(path: &Path) -> Result<Self, BuildError> {
        Ok(Self { chunks: ChunkReader::open(path)?, open: None, next: 0 })
    }

    fn advance(&mut self) -> bool {
        let head = self.chunks.as_mut().and_then(ChunkReader::next);
        self.open = head.map(|head| OpenChunk { head, records: None });
        self.next = 0;
        self.open.is_some()
    }

    /// Moves to the page with this URL. Returns the position of the page in its chunk and the
    /// number of pages of the chunk.
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

    fn records(&mut self) -> Result<&mut Vec<PageRecord>, BuildError> {
        let (Some(chunks), Some(open)) = (&mut self.chunks, &mut self.open) else {
            return Err(BuildError::DamagedState(PathBuf::from("pages.pack"), 0));
        };
        if open.records.is_none() {
            let path = chunks.path.clone();
            let broken = || BuildError::DamagedState(path.clone(), open.head.frame_at);
            let frame = chunks.frame(&open.head).map_err(|_| broken())?;
            let text = zstd::bulk::decompress(&frame, LONGEST as usize).map_err(|_| broken())?;
            open.records = Some(unpack(&text, &open.head.entries).ok_or_else(broken)?);
        }
        Ok(open.records.as_mut().expect("the records were set above"))
    }

    /// Returns the record of the page with this URL. URLs must be requested in ascending order.
    pub(crate) fn get(&mut self, url: &str) -> Result<Option<&PageRecord>, BuildError> {
        match self.seek(url) {
            Some((at, _)) => Ok(self.records()?.get(at)),
            None => Ok(None),
        }
    }

    /// Passes the URL and record of every page to `take`.
    pub(crate) fn for_each(
        &mut self,
        take: &mut dyn FnMut(&str, &PageRecord),
    ) -> Result<(), BuildError> {
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

    /// Passes the pages of all chunks that contain a page of these sections to `take`.
    pub(crate) fn for_each_in_sections(
        &mut self,
        sections: u64,
        take: &mut dyn FnMut(&str, &PageRecord) -> Result<(), BuildError>,
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

fn unpack(text: &[u8], entries: &[ChunkEntry]) -> Option<Vec<PageRecord>> {
    let mut rest = text;
    let mut part = |len: [u8; 4]| {
        let (part, behind) = rest.split_at_checked(u32::from_le_bytes(len) as usize)?;
        rest = behind;
        Some(part)
    };
    let mut records = Vec::with_capacity(entries.len());
    for ChunkEntry { cached, .. } in entries {
        let lengths = part(12_u32.to_le_bytes())?;
        let mut lengths = lengths.chunks_exact(4).filter_map(|four| four.try_into().ok());
        let meta = serde_json::from_slice(part(lengths.next()?)?).ok()?;
        let line = part(lengths.next()?)?.to_vec();
        let markdown = part(lengths.next()?)?.to_vec();
        records.push(PageRecord { cached: *cached, meta, line, markdown });
    }
    Some(records)
}

/// Writes a page cache. Each record is new or is copied from the previous page cache.
pub(crate) struct PageCacheWriter {
    path: PathBuf,
    out: BufWriter<File>,
    index: Vec<u8>,
    text: Vec<u8>,
    sections: u64,
    n_pages: usize,
    /// URL and sections of the pages at the start of the previous cache's current chunk that are
    /// kept so far.
    kept: Vec<(String, u64)>,
    compressor: zstd::bulk::Compressor<'static>,
}

impl PageCacheWriter {
    pub(crate) fn create(path: &Path) -> Result<Self, BuildError> {
        let mut out = BufWriter::with_capacity(256 << 10, File::create(path).at(path)?);
        out.write_all(MAGIC).at(path)?;
        let mut compressor = zstd::bulk::Compressor::new(LEVEL).at(path)?;
        // The checksum of the frame detects damaged bytes.
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

    /// Adds the record of a page that was read in this build.
    pub(crate) fn push(
        &mut self,
        url: &str,
        section: u64,
        record: &PageRecord,
        old: &mut PageCacheReader,
    ) -> Result<(), BuildError> {
        self.flush_kept(old)?;
        self.append(url, section, record)
    }

    fn append(&mut self, url: &str, section: u64, record: &PageRecord) -> Result<(), BuildError> {
        let meta = serde_json::to_vec(&record.meta).expect("metadata serializes to JSON");
        for part in [&meta, &record.line, &record.markdown] {
            let len = u32::try_from(part.len()).unwrap_or(u32::MAX);
            self.text.extend_from_slice(&len.to_le_bytes());
        }
        for part in [&meta, &record.line, &record.markdown] {
            self.text.extend_from_slice(part);
        }
        self.index(url, record.cached, section);
        if CHUNK_BYTES <= self.text.len() || CHUNK_PAGES <= self.n_pages {
            self.close()?;
        }
        Ok(())
    }

    fn index(&mut self, url: &str, cached: CacheEntry, section: u64) {
        self.index.extend_from_slice(&cached.key);
        self.index.extend_from_slice(&cached.visibility_key.0);
        self.index.extend_from_slice(&cached.stat.to_le_bytes());
        // URLs are at most `PageUrl::LONGEST` bytes long.
        let len = u16::try_from(url.len()).unwrap_or(u16::MAX);
        self.index.extend_from_slice(&len.to_le_bytes());
        self.index.extend_from_slice(url.as_bytes());
        self.sections |= section;
        self.n_pages += 1;
    }

    /// Adds the unchanged record of a page from the previous page cache.
    pub(crate) fn keep(
        &mut self,
        url: &str,
        section: u64,
        old: &mut PageCacheReader,
    ) -> Result<(), BuildError> {
        // If the page does not follow the kept pages in the same chunk, the kept pages are written
        // first.
        let is_next = |old: &PageCacheReader, n_kept: usize| {
            old.open.as_ref().is_some_and(|open| {
                open.head.entries.get(n_kept).is_some_and(|entry| entry.url == url)
            })
        };
        if !self.kept.is_empty() && !is_next(old, self.kept.len()) {
            self.flush_kept(old)?;
        }
        let Some((at, n_entries)) = old.seek(url) else { return Ok(()) };
        if self.n_pages == 0 && at == self.kept.len() {
            self.kept.push((url.to_owned(), section));
            if self.kept.len() == n_entries {
                return self.copy(old);
            }
            return Ok(());
        }
        self.flush_kept(old)?;
        let record = old.records()?.get(at).cloned().unwrap_or_default();
        self.append(url, section, &record)
    }

    /// Copies a chunk of the previous page cache in which all pages are unchanged.
    fn copy(&mut self, old: &mut PageCacheReader) -> Result<(), BuildError> {
        let (Some(chunks), Some(open)) = (&mut old.chunks, &old.open) else { return Ok(()) };
        let frame = chunks.frame(&open.head)?;
        let cached: Vec<CacheEntry> = open.head.entries.iter().map(|entry| entry.cached).collect();
        for ((url, section), cached) in std::mem::take(&mut self.kept).iter().zip(cached) {
            self.index(url, cached, *section);
        }
        self.put(&frame)
    }

    /// Writes the kept pages of a previous chunk one by one, because the chunk cannot be copied as
    /// a whole.
    fn flush_kept(&mut self, old: &mut PageCacheReader) -> Result<(), BuildError> {
        if self.kept.is_empty() {
            return Ok(());
        }
        let kept = std::mem::take(&mut self.kept);
        let n_kept = kept.len();
        let records: Vec<PageRecord> = old.records()?.iter().take(n_kept).cloned().collect();
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

    pub(crate) fn finish(mut self, old: &mut PageCacheReader) -> Result<(), BuildError> {
        self.flush_kept(old)?;
        self.close()?;
        self.out.flush().at(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(n: u32) -> PageRecord {
        let meta =
            PageMetadata { title: format!("Page {n}"), bytes: n.into(), ..PageMetadata::default() };
        let mut key = [0; 16];
        key[..4].copy_from_slice(&n.to_le_bytes());
        let visibility_key = VisibilityKey([(n % 5) as u8; 8]);
        PageRecord {
            cached: CacheEntry { key, visibility_key, stat: n.into() },
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
        fn kept_and_new_pages_are_read_back_in_order(
            changes in prop::collection::vec(0_u8..12, 600..900),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let (first, second) = (folder.path().join("1"), folder.path().join("2"));
            let none = folder.path().join("none");
            let mut old = PageCacheReader::open(&none).unwrap();
            let mut writer = PageCacheWriter::create(&first).unwrap();
            // All pages except the pages that are added later.
            for (n, change) in (0..).zip(&changes) {
                if *change != 1 {
                    writer.push(&url(n), 1 << (n % 3), &record(n), &mut old).unwrap();
                }
            }
            writer.finish(&mut old).unwrap();

            let mut keys = CacheIndex::open(&first).unwrap();
            let mut old = PageCacheReader::open(&first).unwrap();
            let mut writer = PageCacheWriter::create(&second).unwrap();
            let mut expected = Vec::new();
            for (n, change) in (0..).zip(&changes) {
                prop_assert_eq!(keys.get(&url(n)), (*change != 1).then(|| record(n).cached));
                match change {
                    // The pages are removed, new, changed or unchanged.
                    0 => continue,
                    1 => writer.push(&url(n), 1, &record(n), &mut old).unwrap(),
                    2 => writer.push(&url(n), 1, &record(n + 1), &mut old).unwrap(),
                    _ => writer.keep(&url(n), 1, &mut old).unwrap(),
                }
                expected.push((url(n), record(if *change == 2 { n + 1 } else { n })));
            }
            writer.finish(&mut old).unwrap();
            let mut found = Vec::new();
            PageCacheReader::open(&second).unwrap().for_each_in_sections(1, &mut |url, record| {
                found.push((url.to_owned(), record.clone()));
                Ok(())
            }).unwrap();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn damaged_cache_counts_as_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pack");
        for bytes in [&b""[..], b"nonsense that is long", b"RUTPACK1\x01\x02"] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(CacheIndex::open(&path).unwrap().get("https://h.example/"), None);
            assert!(
                PageCacheReader::open(&path).unwrap().get("https://h.example/").unwrap().is_none()
            );
        }
    }
}
