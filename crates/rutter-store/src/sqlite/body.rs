//! Bodies: the stored content of pages, each a line compressed with a dictionary.
//!
//! A dictionary is trained from the lines of a publisher and never deleted, because bodies refer to
//! it. Each body can be decompressed without the other bodies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};

use crate::error::StorageError;

/// zstd compression level; higher levels need more time and save little space.
const LEVEL: i32 = 3;
/// Maximum and minimum size of a dictionary, in bytes.
const DICTIONARY: usize = 112_640;
const SMALLEST: usize = 8_192;
/// Number of pages from which a publisher gets its own dictionary.
pub(super) const ENOUGH_PAGES: u64 = 1_000;
/// Maximum number, and maximum total size in bytes, of the lines from which a dictionary is
/// trained.
pub(super) const MOST_SAMPLES: usize = 500;
pub(super) const MOST_SAMPLE_BYTES: usize = 4 << 20;
/// Maximum length of a line, in bytes (D35).
const LONGEST: usize = 100_000_000;

/// A compression dictionary, with its id in the table `dict`.
#[derive(Clone)]
pub(super) struct Dictionary {
    pub(super) id: i64,
    encoder: Arc<EncoderDictionary<'static>>,
}

/// A compressed line.
#[derive(Debug, Clone)]
pub(super) struct CompressedLine {
    pub(super) dict: Option<i64>,
    pub(super) size: usize,
    pub(super) z: Vec<u8>,
}

/// Compresses lines one by one with the same dictionary.
pub(super) struct LineCompressor<'d> {
    compressor: Compressor<'d>,
    dict: Option<i64>,
    /// Buffer for the longest possible compressed line; each body is copied out of it in its exact
    /// size.
    buffer: Vec<u8>,
}

impl<'d> LineCompressor<'d> {
    pub(super) fn new(dictionary: Option<&'d Dictionary>) -> Result<Self, StorageError> {
        let compressor = match dictionary {
            Some(dictionary) => Compressor::with_prepared_dictionary(&dictionary.encoder),
            None => Compressor::new(LEVEL),
        };
        let compressor = compressor.map_err(other)?;
        let dict = dictionary.map(|dictionary| dictionary.id);
        Ok(Self { compressor, dict, buffer: Vec::new() })
    }

    pub(super) fn pack(&mut self, line: &str) -> Result<CompressedLine, StorageError> {
        self.buffer.clear();
        self.buffer.reserve(zstd::zstd_safe::compress_bound(line.len()));
        self.compressor.compress_to_buffer(line.as_bytes(), &mut self.buffer).map_err(other)?;
        Ok(CompressedLine { dict: self.dict, size: line.len(), z: self.buffer.clone() })
    }
}

/// The dictionaries of a store that were loaded from the file.
#[derive(Default)]
pub(super) struct Dictionaries {
    decoders: Mutex<HashMap<i64, Arc<DecoderDictionary<'static>>>>,
}

impl Dictionaries {
    /// Decompresses a body.
    pub(super) fn unpack(
        &self,
        connection: &Connection,
        dict: Option<i64>,
        size: usize,
        z: &[u8],
    ) -> Result<String, StorageError> {
        if LONGEST < size {
            return Err(StorageError::damaged(
                "the content of a page is longer than a line can be",
            ));
        }
        let bytes = match dict {
            None => Decompressor::new().and_then(|mut it| it.decompress(z, size)),
            Some(id) => {
                let decoder = self.decoder(connection, id)?;
                let decompressor = Decompressor::with_prepared_dictionary(&decoder);
                decompressor.and_then(|mut it| it.decompress(z, size))
            }
        };
        let bytes =
            bytes.map_err(|_| StorageError::damaged("cannot decompress the content of a page"))?;
        if bytes.len() != size {
            return Err(StorageError::damaged("the content of a page has a wrong size"));
        }
        String::from_utf8(bytes)
            .map_err(|_| StorageError::damaged("the content of a page is not UTF-8"))
    }

    fn decoder(
        &self,
        connection: &Connection,
        id: i64,
    ) -> Result<Arc<DecoderDictionary<'static>>, StorageError> {
        let mut decoders = self.decoders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(decoder) = decoders.get(&id) {
            return Ok(Arc::clone(decoder));
        }
        let bytes = bytes_of(connection, id)?
            .ok_or_else(|| StorageError::damaged("the dictionary of a page is missing"))?;
        let decoder = Arc::new(DecoderDictionary::copy(&bytes));
        decoders.insert(id, Arc::clone(&decoder));
        Ok(decoder)
    }
}

fn bytes_of(connection: &Connection, id: i64) -> Result<Option<Vec<u8>>, StorageError> {
    let bytes =
        connection.query_row("SELECT bytes FROM dict WHERE id = ?1", [id], |row| row.get(0));
    Ok(bytes.optional()?)
}

/// Returns the dictionary that compresses the lines of a publisher: the publisher's own, otherwise
/// the default dictionary of the store; `None` if neither exists.
pub(super) fn dictionary(
    connection: &Connection,
    publisher: i64,
) -> Result<Option<Dictionary>, StorageError> {
    let id: Option<i64> = connection.query_row(
        "SELECT coalesce(dict, (SELECT value FROM meta WHERE key = 'dictionary'))
         FROM publisher WHERE id = ?1",
        [publisher],
        |row| row.get(0),
    )?;
    let Some(id) = id else { return Ok(None) };
    let bytes = bytes_of(connection, id)?;
    Ok(bytes.map(|bytes| prepared(id, &bytes)))
}

fn prepared(id: i64, bytes: &[u8]) -> Dictionary {
    Dictionary { id, encoder: Arc::new(EncoderDictionary::copy(bytes, LEVEL)) }
}

/// Returns whether a publisher has its own dictionary.
pub(super) fn has_own(connection: &Connection, publisher: i64) -> Result<bool, StorageError> {
    let has_own: bool = connection.query_row(
        "SELECT dict IS NOT NULL FROM publisher WHERE id = ?1",
        [publisher],
        |row| row.get(0),
    )?;
    Ok(has_own)
}

/// Trains a dictionary from sample lines; returns `None` if the lines have too little in common.
pub(super) fn train(samples: &[impl AsRef<[u8]>]) -> Option<Vec<u8>> {
    let n_bytes: usize = samples.iter().map(|sample| sample.as_ref().len()).sum();
    // A large dictionary trained from few lines costs more than it saves.
    let size = DICTIONARY.min(n_bytes / 10);
    if size < SMALLEST {
        return None;
    }
    zstd::dict::from_samples(samples, size).ok()
}

/// Adds a dictionary for a publisher. The first dictionary of a store becomes the default for
/// publishers without their own.
pub(super) fn add(
    connection: &Connection,
    publisher: i64,
    bytes: &[u8],
) -> Result<Dictionary, StorageError> {
    connection.execute("INSERT INTO dict (bytes) VALUES (?1)", [bytes])?;
    let id = connection.last_insert_rowid();
    connection.execute("UPDATE publisher SET dict = ?1 WHERE id = ?2", [id, publisher])?;
    connection.execute("INSERT OR IGNORE INTO meta VALUES ('dictionary', ?1)", [id])?;
    Ok(prepared(id, bytes))
}

fn other(error: std::io::Error) -> StorageError {
    StorageError::Other(Box::new(error))
}
