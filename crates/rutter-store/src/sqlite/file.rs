//! The database file: checks before opening it, and removal of an unused replica.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::AccessMode;
use crate::error::{OpenError, StorageError};

const MAGIC: &[u8] = b"SQLite format 3\0";
/// Size of the header of a database file, in bytes.
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
    // An empty file is a new replica, or its first pages are still in the write-ahead log.
    if head.is_empty() && access == AccessMode::Write {
        return Ok(());
    }
    if !head.starts_with(MAGIC) {
        return Err(OpenError::NotAReplica);
    }
    // Pages that are only in the write-ahead log do not count for the length of the file.
    let length = file.metadata().map_err(other)?.len();
    if !has_log(path) && declared_length(&head).is_some_and(|declared| length < declared) {
        return Err(StorageError::damaged("the file is truncated").into());
    }
    Ok(())
}

/// Returns the length that the header of a database declares, if it is valid.
fn declared_length(head: &[u8]) -> Option<u64> {
    let number = |at: usize| -> Option<u64> {
        let bytes = head.get(at..at + 4)?.try_into().ok()?;
        Some(u64::from(u32::from_be_bytes(bytes)))
    };
    let size = u16::from_be_bytes(head.get(16..18)?.try_into().ok()?);
    let size = if size == 1 { 65_536 } else { u64::from(size) };
    // The page count is valid only if both change counters are equal.
    (number(24)? == number(92)?).then_some(number(28)? * size)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Returns whether the file has a write-ahead log with content. Readers may leave an empty one.
pub(super) fn has_log(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).is_ok_and(|log| 0 < log.len())
}

/// Returns whether a replica contains data.
fn is_used(connection: &Connection) -> Result<bool, StorageError> {
    Ok(connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM publisher WHERE policy != '' OR paused_until IS NOT NULL)
            OR EXISTS (SELECT 1 FROM page) OR EXISTS (SELECT 1 FROM section)
            OR EXISTS (SELECT 1 FROM taken) OR EXISTS (SELECT 1 FROM change)
            OR EXISTS (SELECT 1 FROM entity) OR EXISTS (SELECT 1 FROM arc_entry)",
        [],
        |row| row.get(0),
    )?)
}

/// Removes a replica without data that no other process has open; returns whether it was removed.
///
/// Publishers without any data do not count.
pub fn remove_unused(path: &Path) -> Result<bool, StorageError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // If another process uses the replica, keep it; do not wait.
    connection.busy_timeout(Duration::ZERO)?;
    // Do not change a replica with data.
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
    // These files usually do not exist any more.
    for end in ["-journal", "-wal", "-shm"] {
        drop(fs::remove_file(beside(path, end)));
    }
    Ok(true)
}
