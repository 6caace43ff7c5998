//! Bodies: a verified line, compressed with a dictionary.
//!
//! Dictionaries are trained from a publisher's own lines and never thrown
//! away, because a body names the one it needs. A body unpacks by itself:
//! random access is what a replica is for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};

use crate::error::Storage;

/// Level of compression: beyond it, time grows and bodies hardly shrink.
const LEVEL: i32 = 3;
/// Bytes of a dictionary, at most and at least.
const DICTIONARY: usize = 112_640;
const SMALLEST: usize = 8_192;
/// Pages a publisher has before a dictionary is worth its bytes.
pub(super) const ENOUGH_PAGES: u64 = 1_000;
/// Most lines and bytes a dictionary is trained from.
pub(super) const MOST_SAMPLES: usize = 500;
pub(super) const MOST_SAMPLE_BYTES: usize = 4 << 20;
/// No line is longer (D35).
const LONGEST: usize = 100_000_000;

/// A dictionary and its number, ready to compress with.
#[derive(Clone)]
pub(super) struct Dictionary {
    pub(super) id: i64,
    encoder: Arc<EncoderDictionary<'static>>,
}

/// A line as it will lie on disk.
#[derive(Debug, Clone)]
pub(super) struct Packed {
    pub(super) dict: Option<i64>,
    pub(super) size: usize,
    pub(super) z: Vec<u8>,
}

/// Compresses lines, one after the other.
pub(super) struct Packer<'d> {
    compressor: Compressor<'d>,
    dict: Option<i64>,
    /// Room for the longest outcome: a body is kept in no more than it takes.
    room: Vec<u8>,
}

impl<'d> Packer<'d> {
    pub(super) fn new(dictionary: Option<&'d Dictionary>) -> Result<Self, Storage> {
        let compressor = match dictionary {
            Some(dictionary) => Compressor::with_prepared_dictionary(&dictionary.encoder),
            None => Compressor::new(LEVEL),
        };
        let compressor = compressor.map_err(other)?;
        let dict = dictionary.map(|dictionary| dictionary.id);
        Ok(Self { compressor, dict, room: Vec::new() })
    }

    pub(super) fn pack(&mut self, line: &str) -> Result<Packed, Storage> {
        self.room.clear();
        self.room.reserve(zstd::zstd_safe::compress_bound(line.len()));
        self.compressor.compress_to_buffer(line.as_bytes(), &mut self.room).map_err(other)?;
        Ok(Packed { dict: self.dict, size: line.len(), z: self.room.clone() })
    }
}

/// Every dictionary of the store that somebody asked for.
#[derive(Default)]
pub(super) struct Dictionaries {
    decoders: Mutex<HashMap<i64, Arc<DecoderDictionary<'static>>>>,
}

impl Dictionaries {
    /// Unpacks a body.
    pub(super) fn unpack(
        &self,
        connection: &Connection,
        dict: Option<i64>,
        size: usize,
        z: &[u8],
    ) -> Result<String, Storage> {
        if LONGEST < size {
            return Err(Storage::damaged("a body is longer than a line can be"));
        }
        let bytes = match dict {
            None => Decompressor::new().and_then(|mut it| it.decompress(z, size)),
            Some(id) => {
                let decoder = self.decoder(connection, id)?;
                let decompressor = Decompressor::with_prepared_dictionary(&decoder);
                decompressor.and_then(|mut it| it.decompress(z, size))
            }
        };
        let bytes = bytes.map_err(|_| Storage::damaged("a body does not unpack"))?;
        if bytes.len() != size {
            return Err(Storage::damaged("a body has another size than it says"));
        }
        String::from_utf8(bytes).map_err(|_| Storage::damaged("a body is not text"))
    }

    fn decoder(
        &self,
        connection: &Connection,
        id: i64,
    ) -> Result<Arc<DecoderDictionary<'static>>, Storage> {
        let mut decoders = self.decoders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(decoder) = decoders.get(&id) {
            return Ok(Arc::clone(decoder));
        }
        let bytes = bytes_of(connection, id)?
            .ok_or_else(|| Storage::damaged("a body names a dictionary that is not there"))?;
        let decoder = Arc::new(DecoderDictionary::copy(&bytes));
        decoders.insert(id, Arc::clone(&decoder));
        Ok(decoder)
    }
}

fn bytes_of(connection: &Connection, id: i64) -> Result<Option<Vec<u8>>, Storage> {
    let bytes =
        connection.query_row("SELECT bytes FROM dict WHERE id = ?1", [id], |row| row.get(0));
    Ok(bytes.optional()?)
}

/// The dictionary to compress a publisher's lines with: its own, else the
/// store's, if there is any.
pub(super) fn dictionary(
    connection: &Connection,
    publisher: i64,
) -> Result<Option<Dictionary>, Storage> {
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

/// Whether a publisher has a dictionary of its own.
pub(super) fn has_own(connection: &Connection, publisher: i64) -> Result<bool, Storage> {
    let has_own: bool = connection.query_row(
        "SELECT dict IS NOT NULL FROM publisher WHERE id = ?1",
        [publisher],
        |row| row.get(0),
    )?;
    Ok(has_own)
}

/// Trains a dictionary; `None` where the lines have nothing in common.
pub(super) fn train(samples: &[impl AsRef<[u8]>]) -> Option<Vec<u8>> {
    let n_bytes: usize = samples.iter().map(|sample| sample.as_ref().len()).sum();
    // Trained from little, a large one is more than what it saves.
    let size = DICTIONARY.min(n_bytes / 10);
    if size < SMALLEST {
        return None;
    }
    zstd::dict::from_samples(samples, size).ok()
}

/// Adds a dictionary to the store: for this publisher, and for those that
/// have none where it is the first.
pub(super) fn add(
    connection: &Connection,
    publisher: i64,
    bytes: &[u8],
) -> Result<Dictionary, Storage> {
    connection.execute("INSERT INTO dict (bytes) VALUES (?1)", [bytes])?;
    let id = connection.last_insert_rowid();
    connection.execute("UPDATE publisher SET dict = ?1 WHERE id = ?2", [id, publisher])?;
    connection.execute("INSERT OR IGNORE INTO meta VALUES ('dictionary', ?1)", [id])?;
    Ok(prepared(id, bytes))
}

fn other(error: std::io::Error) -> Storage {
    Storage::Other(Box::new(error))
}
