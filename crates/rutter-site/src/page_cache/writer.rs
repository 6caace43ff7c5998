//! Writes a page cache; a chunk of unchanged pages is copied from the previous cache as it is.

use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::chunk::{CHUNK_BYTES, CHUNK_PAGES, LEVEL, MAGIC};
use super::reader::PageCacheReader;
use super::{CacheEntry, PageRecord};
use crate::error::{IoErrorContext, StateError};

/// Writes a page cache. Each record is new or is copied from the previous page cache.
pub struct PageCacheWriter {
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

impl fmt::Debug for PageCacheWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageCacheWriter").field("path", &self.path).finish_non_exhaustive()
    }
}

impl PageCacheWriter {
    /// Creates a page cache.
    pub fn create(path: &Path) -> Result<Self, StateError> {
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
    pub fn push(
        &mut self,
        url: &str,
        section: u64,
        record: &PageRecord,
        old: &mut PageCacheReader,
    ) -> Result<(), StateError> {
        self.flush_kept(old)?;
        self.append(url, section, record)
    }

    fn append(&mut self, url: &str, section: u64, record: &PageRecord) -> Result<(), StateError> {
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
        // URLs are at most `PageUrl::MAX_PART_BYTES` bytes long.
        let len = u16::try_from(url.len()).unwrap_or(u16::MAX);
        self.index.extend_from_slice(&len.to_le_bytes());
        self.index.extend_from_slice(url.as_bytes());
        self.sections |= section;
        self.n_pages += 1;
    }

    /// Adds the unchanged record of a page from the previous page cache.
    pub fn keep(
        &mut self,
        url: &str,
        section: u64,
        old: &mut PageCacheReader,
    ) -> Result<(), StateError> {
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
    fn copy(&mut self, old: &mut PageCacheReader) -> Result<(), StateError> {
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
    fn flush_kept(&mut self, old: &mut PageCacheReader) -> Result<(), StateError> {
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

    fn close(&mut self) -> Result<(), StateError> {
        if self.n_pages == 0 {
            return Ok(());
        }
        let frame = self.compressor.compress(&self.text).at(&self.path)?;
        self.put(&frame)
    }

    fn put(&mut self, frame: &[u8]) -> Result<(), StateError> {
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

    /// Writes the last chunk and closes the file. `old` is the previous page cache.
    pub fn finish(mut self, old: &mut PageCacheReader) -> Result<(), StateError> {
        self.flush_kept(old)?;
        self.close()?;
        self.out.flush().at(&self.path)
    }
}
