//! The file itself: what can be seen of it before it is opened, and when it
//! may go again.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::Access;
use crate::error::{OpenError, Storage};

const MAGIC: &[u8] = b"SQLite format 3\0";
/// Bytes of the head of a database.
const HEAD: u64 = 100;

/// Refuses what is not there, what is plainly something else, and what is
/// shorter than it says.
pub(super) fn look_at(path: &Path, access: Access) -> Result<(), OpenError> {
    let other = |error: std::io::Error| OpenError::Storage(Storage::Other(Box::new(error)));
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return if access == Access::Write { Ok(()) } else { Err(OpenError::Missing) };
        }
        Err(error) => return Err(other(error)),
    };
    let mut head = Vec::new();
    Read::by_ref(&mut &file).take(HEAD).read_to_end(&mut head).map_err(other)?;
    // An empty file is a replica to be; so is one whose first pages are still
    // in the log.
    if head.is_empty() && access == Access::Write {
        return Ok(());
    }
    if !head.starts_with(MAGIC) {
        return Err(OpenError::NotAReplica);
    }
    // Pages that are in the log only make the file shorter than it will be.
    let length = file.metadata().map_err(other)?.len();
    if !has_log(path) && said_length(&head).is_some_and(|said| length < said) {
        return Err(Storage::damaged("the file was cut off").into());
    }
    Ok(())
}

/// The length that the head of a database says; `None` where it says none that
/// counts.
fn said_length(head: &[u8]) -> Option<u64> {
    let number = |at: usize| -> Option<u64> {
        let bytes = head.get(at..at + 4)?.try_into().ok()?;
        Some(u64::from(u32::from_be_bytes(bytes)))
    };
    let size = u16::from_be_bytes(head.get(16..18)?.try_into().ok()?);
    let size = if size == 1 { 65_536 } else { u64::from(size) };
    // The count is that of the last change only where both numbers agree.
    (number(24)? == number(92)?).then_some(number(28)? * size)
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Whether something lies beside the file that is not in it yet. Readers may
/// leave an empty log behind.
pub(super) fn has_log(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).is_ok_and(|log| 0 < log.len())
}

/// Whether something is kept in a replica.
fn is_used(connection: &Connection) -> Result<bool, Storage> {
    Ok(connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM publisher WHERE policy != '' OR paused_until IS NOT NULL)
            OR EXISTS (SELECT 1 FROM page) OR EXISTS (SELECT 1 FROM section)
            OR EXISTS (SELECT 1 FROM taken) OR EXISTS (SELECT 1 FROM change)
            OR EXISTS (SELECT 1 FROM entity) OR EXISTS (SELECT 1 FROM arc_entry)",
        [],
        |row| row.get(0),
    )?)
}

/// Removes a replica in which nothing is kept: publishers of which nothing is
/// known at most, and nobody else who has it open. Tells whether it is gone.
pub fn remove_unused(path: &Path) -> Result<bool, Storage> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // Whoever has it keeps it; there is nothing to wait for.
    connection.busy_timeout(Duration::ZERO)?;
    // A replica that is used stays as it is, log and all.
    if is_used(&connection)? {
        return Ok(false);
    }
    // Leaving the log succeeds only where nobody else has the file open.
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "delete", |row| row.get(0))?;
    if mode != "delete" {
        return Ok(false);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    if is_used(&transaction)? {
        return Ok(false);
    }
    fs::remove_file(path).map_err(|error| Storage::Other(Box::new(error)))?;
    drop(transaction);
    drop(connection);
    // Usually gone by now.
    for end in ["-journal", "-wal", "-shm"] {
        drop(fs::remove_file(beside(path, end)));
    }
    Ok(true)
}
