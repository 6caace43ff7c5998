//! A replica in one `SQLite` file.
//!
//! One connection writes, protected by a lock. Readers take connections from a pool, each for one
//! short statement, so that no reader blocks a checkpoint of the write-ahead log.
//! [`SqliteStaging`](stage::SqliteStaging) stages pages, and [`flip`](flip::flip) makes them
//! visible in one transaction.
//!
//! Rejects files that are not replicas, unknown formats and invalid values.

mod arc;
mod body;
mod check;
mod columns;
mod connection;
mod entities;
mod file;
mod find;
mod flip;
mod history;
mod lease;
mod maintain;
mod pages;
mod pipeline;
mod records;
mod rows;
mod schema;
mod seal;
mod search;
mod sites;
mod stage;
mod sync_records;
mod train;
mod write;

pub(crate) use columns::origin_of;
pub use file::remove_unused;
pub(crate) use search::search_in;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use connection::{ReadConnection, WriteConnection, open_reader, open_writer_in_time};
use rusqlite::{Connection, OptionalExtension};

use crate::error::{OpenError, StorageError};

/// Options for opening a replica.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Whether the replica is opened for writing.
    pub access: AccessMode,
    /// How much a staging keeps in memory.
    pub tuning: StagingBuffer,
    /// Maximum size of the file in bytes; `None` for no limit.
    pub ceiling: Option<u64>,
    /// How long a write waits for the lock of another process.
    pub wait: Duration,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            access: AccessMode::Write,
            tuning: StagingBuffer::DEFAULT,
            ceiling: None,
            wait: Duration::from_secs(5),
        }
    }
}

/// The access mode of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessMode {
    /// Reading and writing; the replica is created if it does not exist.
    Write,
    /// Reading only.
    Read,
}

/// How much a staging keeps in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StagingBuffer {
    /// Maximum number of changed pages that a staging keeps in memory until the commit. A staging
    /// with more pages writes them to the file in batches.
    pub held: usize,
    /// Maximum size of the pages in memory, in bytes.
    pub held_bytes: usize,
    /// Number of pages in one batch.
    pub batch: usize,
}

impl StagingBuffer {
    /// Up to 20,000 pages and 16 MiB are kept in memory; larger stagings write batches of 2,000
    /// pages.
    pub const DEFAULT: Self = Self { held: 20_000, held_bytes: 16 << 20, batch: 2_000 };
}

/// A replica in a file.
pub struct SqliteStore {
    path: PathBuf,
    options: StoreOptions,
    /// Idle connections for reading.
    readers: Mutex<Vec<Connection>>,
    /// Connection for writing; `None` if the replica is read-only. It is closed after the readers,
    /// because closing it checkpoints the write-ahead log.
    writer: Mutex<Option<Connection>>,
    dictionaries: body::Dictionaries,
    /// Identifier of the replica, which cursors contain.
    id: u64,
    /// Whether the file is opened as immutable, without a write-ahead log.
    is_immutable: bool,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens a replica, or creates it if it does not exist and `options` allow writing.
    ///
    /// Unfinished stagings of processes that have exited are deleted.
    pub fn open(path: &Path, options: StoreOptions) -> Result<Self, OpenError> {
        file::check_file(path, options.access)?;
        let mut is_immutable = false;
        let writer = match options.access {
            AccessMode::Write => Some(open_writer_in_time(path, &options)?),
            AccessMode::Read => {
                is_immutable = !file::has_log(path) && is_unwritable(path);
                let reader = open_reader(path, &options, is_immutable)?;
                let known = u32::try_from(schema::STEPS.len()).unwrap_or(u32::MAX);
                let found = schema::format(&reader)?;
                if known < found {
                    return Err(OpenError::Newer { found, known });
                }
                if found < known {
                    // A file of an older format must be opened for writing once, which converts it.
                    return Err(if found == 0 {
                        OpenError::NotAReplica
                    } else {
                        OpenError::Older { found, known }
                    });
                }
                None
            }
        };
        let reader = open_reader(path, &options, is_immutable)?;
        let question = "SELECT m.value, s.value = row_seal(m.value) FROM meta m
             JOIN meta s ON s.key = 'store_seal' WHERE m.key = 'store'";
        let nameless = || StorageError::damaged("the identifier of the replica is missing");
        let found = reader.query_row(question, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let (id, is_sealed): (Vec<u8>, bool) = found.optional()?.ok_or_else(nameless)?;
        let id: [u8; 8] = id.try_into().ok().filter(|_| is_sealed).ok_or_else(nameless)?;
        Ok(Self {
            path: path.to_owned(),
            options,
            writer: Mutex::new(writer),
            readers: Mutex::new(vec![reader]),
            dictionaries: body::Dictionaries::default(),
            id: u64::from_be_bytes(id),
            is_immutable,
        })
    }

    fn writer(&self) -> Result<WriteConnection<'_>, StorageError> {
        let guard = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if guard.is_none() { Err(StorageError::ReadOnly) } else { Ok(WriteConnection(guard)) }
    }

    fn reader(&self) -> Result<ReadConnection<'_>, StorageError> {
        let spare = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match spare {
            Some(connection) => connection,
            None => open_reader(&self.path, &self.options, self.is_immutable)?,
        };
        Ok(ReadConnection { store: self, connection: Some(connection) })
    }
}

fn is_unwritable(path: &Path) -> bool {
    fs::OpenOptions::new().append(true).open(path).is_err()
}
