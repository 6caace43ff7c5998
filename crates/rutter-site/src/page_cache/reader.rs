//! Reads a page cache in the order of URLs.
//!
//! Input: `pages.pack`. Output: index entries without decompression, and the records of the chunks that are needed.

use std::path::{Path, PathBuf};

use super::chunk::{CacheChunkReader, ChunkHead, MAX_PART_BYTES, unpack};
use super::{CacheEntry, PageRecord};
use crate::error::StateError;

/// Looks up the index entries of pages in the order of their URLs.
#[derive(Debug)]
pub struct CacheIndexReader {
    chunks: Option<CacheChunkReader>,
    head: Option<ChunkHead>,
    next: usize,
}

impl CacheIndexReader {
    /// Opens a page cache; a missing one counts as empty.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let mut chunks = CacheChunkReader::open(path)?;
        let head = chunks.as_mut().and_then(CacheChunkReader::next);
        Ok(Self { chunks, head, next: 0 })
    }

    /// Returns the index entry of the page with this URL. URLs must be requested in ascending
    /// order.
    pub fn get(&mut self, url: &str) -> Option<CacheEntry> {
        loop {
            let head = self.head.as_ref()?;
            let Some(entry) = head.entries.get(self.next) else {
                self.head = self.chunks.as_mut().and_then(CacheChunkReader::next);
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
pub(super) struct OpenChunk {
    pub(super) head: ChunkHead,
    records: Option<Vec<PageRecord>>,
}

/// Reads page records in the order of URLs and decompresses only the chunks that are needed.
#[derive(Debug)]
pub struct PageCacheReader {
    pub(super) chunks: Option<CacheChunkReader>,
    pub(super) open: Option<OpenChunk>,
    next: usize,
}

impl PageCacheReader {
    /// Opens a page cache; a missing one counts as empty.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        Ok(Self { chunks: CacheChunkReader::open(path)?, open: None, next: 0 })
    }

    fn advance(&mut self) -> bool {
        let head = self.chunks.as_mut().and_then(CacheChunkReader::next);
        self.open = head.map(|head| OpenChunk { head, records: None });
        self.next = 0;
        self.open.is_some()
    }

    /// Moves to the page with this URL. Returns the position of the page in its chunk and the
    /// number of pages of the chunk.
    pub(super) fn seek(&mut self, url: &str) -> Option<(usize, usize)> {
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

    pub(super) fn records(&mut self) -> Result<&mut Vec<PageRecord>, StateError> {
        let (Some(chunks), Some(open)) = (&mut self.chunks, &mut self.open) else {
            return Err(StateError::Damaged(PathBuf::from("pages.pack"), 0));
        };
        if open.records.is_none() {
            let path = chunks.path.clone();
            let broken = || StateError::Damaged(path.clone(), open.head.frame_at);
            let frame = chunks.frame(&open.head).map_err(|_| broken())?;
            let text =
                zstd::bulk::decompress(&frame, MAX_PART_BYTES as usize).map_err(|_| broken())?;
            open.records = Some(unpack(&text, &open.head.entries).ok_or_else(broken)?);
        }
        Ok(open.records.as_mut().expect("the records were set above"))
    }

    /// Returns the record of the page with this URL. URLs must be requested in ascending order.
    pub fn get(&mut self, url: &str) -> Result<Option<&PageRecord>, StateError> {
        match self.seek(url) {
            Some((at, _)) => Ok(self.records()?.get(at)),
            None => Ok(None),
        }
    }

    /// Passes the URL and record of every page to `take`.
    pub fn for_each(&mut self, take: &mut dyn FnMut(&str, &PageRecord)) -> Result<(), StateError> {
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
    pub fn for_each_in_sections<E: From<StateError>>(
        &mut self,
        sections: u64,
        take: &mut dyn FnMut(&str, &PageRecord) -> Result<(), E>,
    ) -> Result<(), E> {
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
