//! Checks the database file before it is opened, and removes a replica without data.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::AccessMode;
use crate::error::{OpenError, StorageError};

const MAGIC: &[u8] = b"SQLite format 3\0";
/// Size of the header of an `SQLite` file, in bytes.
const HEAD: u64 = 100;

/// Returns an error if the file is missing, is not a database, or is truncated.
pub(super) fn check_file(path: &Path, access: AccessMode) -> Result<(), OpenError> {
    let other = |error: std::io::Error| OpenError::Storage(StorageError::Other(Box::new(error)));
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return if access == AccessMode::Write { Ok(()) } else { Err(OpenError::Missing) };
        }
        Err(error) => return Err(other(error)),
    };
    let mut head = Vec::new();
    Read::by_ref(&mut &file).take(HEAD).read_to_end(&mut head).map_err(other)?;
    // An empty file is a new replica, or all of its database pages are still in the write-ahead
    // log.
    if head.is_empty() && access == AccessMode::Write {
        return Ok(());
    }
    if !head.starts_with(MAGIC) {
        return Err(OpenError::NotAReplica);
    }
    // Without a write-ahead log, all database pages are in the file, so a shorter file is
    // truncated.
    let length = file.metadata().map_err(other)?.len();
    if !has_log(path) && declared_length(&head).is_some_and(|declared| length < declared) {
        return Err(StorageError::damaged("the file is truncated").into());
    }
    Ok(())
}

/// Returns the length of the file that the `SQLite` header declares; `None` if the header is not
/// valid.
fn declared_length(head: &[u8]) -> Option<u64> {
    let number = |at: usize| -> Option<u64> {
        let bytes = head.get(at..at + 4)?.try_into().ok()?;
        Some(u64::from(u32::from_be_bytes(bytes)))
    };
    let size = u16::from_be_bytes(head.get(16..18)?.try_into().ok()?);
    let size = if size == 1 { 65_536 } else { u64::from(size) };
    // SQLite defines the page count as valid only if both change counters of the header are equal.
    (number(24)? == number(92)?).then_some(number(28)? * size)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Returns whether the file has a write-ahead log that is not empty. Readers may leave an empty
/// log.
pub(super) fn has_log(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).is_ok_and(|log| 0 < log.len())
}

/// Returns whether a replica contains data; publishers without a state and without a pause do not
/// count.
fn is_used(connection: &Connection) -> Result<bool, StorageError> {
    Ok(connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM publisher WHERE paused_until IS NOT NULL)
            OR EXISTS (SELECT 1 FROM site_state)
            OR EXISTS (SELECT 1 FROM page) OR EXISTS (SELECT 1 FROM section)
            OR EXISTS (SELECT 1 FROM taken) OR EXISTS (SELECT 1 FROM change)
            OR EXISTS (SELECT 1 FROM entity) OR EXISTS (SELECT 1 FROM arc_entry)",
        [],
        |row| row.get(0),
    )?)
}

/// Removes a replica if it contains no data and no other process has it open; returns whether it
/// was removed.
///
/// Publishers without pages, records and state do not count as data.
pub fn remove_unused(path: &Path) -> Result<bool, StorageError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // If another process uses the replica, keep the replica; do not wait for that process.
    connection.busy_timeout(Duration::ZERO)?;
    // Check for data before any change of the file.
    if is_used(&connection)? {
        return Ok(false);
    }
    // Leaving WAL mode succeeds only if no other process has the file open.
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get(0))?;
    if mode != "delete" {
        return Ok(false);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    if is_used(&transaction)? {
        return Ok(false);
    }
    fs::remove_file(path).map_err(|error| StorageError::Other(Box::new(error)))?;
    drop(transaction);
    drop(connection);
    // SQLite has usually deleted its auxiliary files already, so errors are ignored.
    for end in ["-journal", "-wal", "-shm"] {
        drop(fs::remove_file(beside(path, end)));
    }
    Ok(true)
}
