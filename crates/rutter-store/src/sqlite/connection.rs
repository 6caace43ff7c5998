//! The connections to a replica file: one for writing, and a pool for reading.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::{SqliteStore, StoreOptions, lease, schema, seal};
use crate::error::{OpenError, StorageError};

/// Size of a database page, in bytes.
const PAGE_SIZE: u32 = 8192;

/// The locked connection for writing.
pub(super) struct WriteConnection<'s>(pub(super) MutexGuard<'s, Option<Connection>>);

impl WriteConnection<'_> {
    pub(super) fn begin(&mut self) -> Result<Transaction<'_>, StorageError> {
        Ok(self.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }
}

impl Deref for WriteConnection<'_> {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        self.0.as_ref().expect("a writer is given out only where there is one")
    }
}

impl DerefMut for WriteConnection<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.0.as_mut().expect("a writer is given out only where there is one")
    }
}

/// A connection for reading, which returns to the pool when this value is dropped.
pub(super) struct ReadConnection<'s> {
    pub(super) store: &'s SqliteStore,
    pub(super) connection: Option<Connection>,
}

/// Maximum number of idle connections in the pool.
const MOST_READERS: usize = 8;

impl Deref for ReadConnection<'_> {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("taken only when dropped")
    }
}

impl DerefMut for ReadConnection<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect("taken only when dropped")
    }
}

impl Drop for ReadConnection<'_> {
    fn drop(&mut self) {
        let mut readers = self.store.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < MOST_READERS {
            readers.extend(self.connection.take());
        }
    }
}

/// Opens the file for writing. Retries while another process creates the file, because `SQLite` does
/// not wait while that process switches to the write-ahead log.
pub(super) fn open_writer_in_time(
    path: &Path,
    options: &StoreOptions,
) -> Result<Connection, OpenError> {
    let started = Instant::now();
    loop {
        match open_writer(path, options) {
            Err(OpenError::Storage(StorageError::Busy)) if started.elapsed() < options.wait => {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened,
        }
    }
}

fn open_writer(path: &Path, options: &StoreOptions) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection, options)?;
    // Check that the file is a replica before changing it.
    if schema::format(&connection)? == 0 {
        connection.pragma_update(None, "page_size", PAGE_SIZE)?;
        connection.pragma_update(None, "auto_vacuum", "incremental")?;
    }
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(StorageError::ReadOnly.into());
    }
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    // Checkpoint seldom: a database page that is written twice within 32 MB of the log is copied
    // once.
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    connection.pragma_update(None, "cache_size", -8_000)?;
    if let Some(ceiling) = options.ceiling {
        let n_pages = (ceiling / u64::from(PAGE_SIZE)).max(1);
        connection.pragma_update_and_check(
            None,
            "max_page_count",
            n_pages.cast_signed(),
            |_| Ok(()),
        )?;
    }
    schema::migrate(&mut connection, schema::STEPS)?;
    lease::recover(&mut connection)?;
    Ok(connection)
}

pub(super) fn open_reader(
    path: &Path,
    options: &StoreOptions,
    is_immutable: bool,
) -> Result<Connection, StorageError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if is_immutable {
        let mut name = String::from("file:");
        for byte in path.as_os_str().as_encoded_bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                    name.push(char::from(*byte));
                }
                _ => name.extend(format!("%{byte:02x}").chars()),
            }
        }
        name.push_str("?immutable=1");
        Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_URI)?
    } else {
        Connection::open_with_flags(path, flags)?
    };
    prepare(&connection, options)?;
    connection.pragma_update(None, "cache_size", -4_000)?;
    Ok(connection)
}

/// Configures a connection; the settings assume that the file comes from an untrusted source.
pub(super) fn prepare(connection: &Connection, options: &StoreOptions) -> Result<(), StorageError> {
    connection.busy_timeout(options.wait)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // SQLite does not enforce the foreign keys of the schema; `check` verifies them.
    connection.pragma_update(None, "foreign_keys", false)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.set_prepared_statement_cache_capacity(64);
    seal::register(connection)
}
