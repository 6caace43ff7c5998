//! Registration of sites, deletion of old records, and the check of a replica.

use rusqlite::{Connection, TransactionBehavior, params};
use rutter_page::Timestamp;

use super::{SqliteStore, check, records, sites};
use crate::error::{QueryError, StorageError, WriteError};
use crate::model::{CheckDepth, PublisherId};
use crate::store::StoreMaintenance;

impl StoreMaintenance for SqliteStore {
    fn register(&self, origin: &str, aliases: &[&str]) -> Result<PublisherId, WriteError> {
        sites::register(&*self.writer()?, origin, aliases)
    }

    fn maintain(&self, oldest: Timestamp) -> Result<(), WriteError> {
        maintain(&mut *self.writer()?, oldest)
    }

    fn check(&self, depth: CheckDepth) -> Result<Vec<String>, QueryError> {
        Ok(check::check(&mut *self.reader()?, &self.dictionaries, depth)?)
    }
}

/// Maximum number of download records per publisher.
const MOST_TAKEN: i64 = 1_000;

/// Number of free database pages that one statement returns to the file system.
const SLICE: u32 = 1_000;

/// Deletes history and records from before `oldest`, and returns free space to the file system.
pub(super) fn maintain(connection: &mut Connection, oldest: Timestamp) -> Result<(), WriteError> {
    let oldest = oldest.to_string();
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Only the start of the history can be deleted, because cursors are positions in the history.
    // The plus sign in `+at` prevents the use of the index on `at`, which would visit every event
    // that is kept.
    let last: Option<i64> = transaction.query_row(
        "SELECT coalesce((SELECT seq - 1 FROM change WHERE ?1 <= +at ORDER BY seq LIMIT 1),
            (SELECT max(seq) FROM change))",
        [&oldest],
        |row| row.get(0),
    )?;
    if let Some(last) = last {
        transaction.execute("DELETE FROM change WHERE seq <= ?1", [last])?;
        transaction
            .execute("UPDATE meta SET value = max(value, ?1) WHERE key = 'pruned'", [last])?;
    }
    transaction.execute("DELETE FROM tombstone WHERE at < ?1", [&oldest])?;
    transaction.execute(
        "DELETE FROM taken WHERE at < ?1 AND id NOT IN (SELECT id FROM taken t
            WHERE t.publisher = taken.publisher ORDER BY id DESC LIMIT ?2)",
        params![oldest, MOST_TAKEN],
    )?;
    // Delete old validators and notes of URLs that are not stored pages.
    for (table, time) in [("validator", "checked"), ("url_note", "noted")] {
        transaction.execute(
            &format!(
                "DELETE FROM {table} WHERE {time} < ?1 AND NOT EXISTS (SELECT 1 FROM page p
                    WHERE p.publisher = {table}.publisher AND p.url = {table}.url)"
            ),
            [&oldest],
        )?;
    }
    transaction.commit()?;
    // Up to a quarter of the file stays free, so that the next snapshot can use that space.
    let count = |name: &str| -> Result<u32, StorageError> {
        Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
    };
    while count("page_count")? / 4 < count("freelist_count")? {
        let before = count("freelist_count")?;
        connection.execute_batch(&format!("PRAGMA incremental_vacuum({SLICE})"))?;
        if before <= count("freelist_count")? {
            break;
        }
    }
    records::scrub_if_due(connection)?;
    connection.execute_batch("PRAGMA optimize")?;
    Ok(())
}
