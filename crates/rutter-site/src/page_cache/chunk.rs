//! The chunks of a page cache: index, frame, and their reader.
//!
//! Input: the bytes of `pages.pack`. Output: the index of one chunk after the other, and the records of a frame. A
//! truncated file ends at its last complete chunk.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{CacheEntry, PageRecord, VisibilityKey};
use crate::error::{IoErrorContext, StateError};

pub(super) const MAGIC: &[u8; 8] = b"RUTPACK5";
/// First bytes of a cache of format 4, which has no visibility keys in its index; Rutter reads this
/// format but does not write it.
const MAGIC_4: &[u8; 8] = b"RUTPACK4";
/// Size in bytes at which a chunk is closed; a chunk with `CHUNK_PAGES` pages is closed, too.
pub(super) const CHUNK_BYTES: usize = 1 << 20;
pub(super) const CHUNK_PAGES: usize = 256;
/// Maximum length in bytes of the index or frame of a chunk; a greater length means that the file
/// is damaged.
pub(super) const MAX_PART_BYTES: u32 = 1 << 30;
pub(super) const LEVEL: i32 = 1;

/// Index entry of a page in a chunk, with its URL.
#[derive(Debug, Clone)]
pub(super) struct ChunkEntry {
    pub(super) url: String,
    pub(super) cached: CacheEntry,
}

/// Index of a chunk, and the position of its frame in the file.
#[derive(Debug, Clone)]
pub(super) struct ChunkHead {
    /// Bit mask of the sections to which the chunk's pages belong.
    pub(super) sections: u64,
    pub(super) entries: Vec<ChunkEntry>,
    pub(super) frame_at: u64,
    pub(super) frame_len: u32,
}

/// Reads the indexes and frames of the chunks of a page cache.
#[derive(Debug)]
pub(super) struct CacheChunkReader {
    pub(super) path: PathBuf,
    input: BufReader<File>,
    at: u64,
    /// Whether the indexes contain visibility keys, which format 4 lacks.
    has_visibility_keys: bool,
}

impl CacheChunkReader {
    /// Opens a page cache; `None` if the file is missing or has an unknown format.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, StateError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StateError::Io(path.to_owned(), error)),
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
    pub(super) fn next(&mut self) -> Option<ChunkHead> {
        let mut fixed = [0; 20];
        self.input.seek(SeekFrom::Start(self.at)).ok()?;
        self.input.read_exact(&mut fixed).ok()?;
        let number = |at: usize| {
            fixed.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes)
        };
        let sections = u64::from_le_bytes(fixed.get(..8)?.try_into().ok()?);
        let (n_pages, index_len, frame_len) = (number(8)?, number(12)?, number(16)?);
        if MAX_PART_BYTES < index_len || MAX_PART_BYTES < frame_len {
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

    pub(super) fn frame(&mut self, head: &ChunkHead) -> Result<Vec<u8>, StateError> {
        let mut frame = vec![0; head.frame_len as usize];
        self.input.seek(SeekFrom::Start(head.frame_at)).at(&self.path)?;
        self.input.read_exact(&mut frame).at(&self.path)?;
        Ok(frame)
    }
}

pub(super) fn unpack(text: &[u8], entries: &[ChunkEntry]) -> Option<Vec<PageRecord>> {
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
