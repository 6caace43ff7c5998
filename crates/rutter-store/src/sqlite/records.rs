//! Records about sites in the file, and the erasure of a site.
//!
//! Erasing deletes every row of the site, empties its events (their numbers are kept, because
//! cursors contain them), drops the full-text index (the next indexing creates it again), empties
//! the site's compression dictionary, and rewrites the file, so that no deleted data remains in
//! free database pages.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use rutter_page::Timestamp;

use super::body::{Dictionaries, LineCompressor};
use super::columns::collect;
use super::columns::time;
use super::{SqliteStore, flip};
use crate::error::{QueryError, StorageError, WriteError};
use crate::model::{ChangeKind, Lease, PublisherId};
use crate::records::{ErasedSite, ErasureResult, SiteRecords, VisitRecord};

impl SiteRecords for SqliteStore {
    fn note_visit(&self, publisher: PublisherId, visit: &VisitRecord) -> Result<(), WriteError> {
        let left_out = serde_json::to_string(&visit.left_out)
            .map_err(|error| StorageError::Other(Box::new(error)))?;
        // The statement writes nothing if the publisher does not exist.
        self.writer()?.execute(
            "INSERT OR REPLACE INTO visit
                (publisher, at, result, method, error, requests, bytes, left_out)
             SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8 FROM publisher WHERE id = ?1",
            params![
                publisher.0,
                visit.at.to_string(),
                visit.result,
                visit.method,
                visit.error,
                visit.requests,
                visit.bytes,
                left_out,
            ],
        )?;
        Ok(())
    }

    fn last_visit(&self, publisher: PublisherId) -> Result<Option<VisitRecord>, QueryError> {
        let reader = self.reader()?;
        let mut statement = reader.prepare_cached(
            "SELECT at, result, method, error, requests, bytes, left_out FROM visit
             WHERE publisher = ?1",
        )?;
        let found = collect(statement.query([publisher.0])?, |row| {
            let (at, left_out): (String, String) = (row.get(0)?, row.get(6)?);
            let left_out: BTreeMap<String, u64> = serde_json::from_str(&left_out)
                .map_err(|_| StorageError::damaged("the counts of a visit are not JSON"))?;
            Ok(VisitRecord {
                at: time(&at)?,
                result: row.get(1)?,
                method: row.get(2)?,
                error: row.get(3)?,
                requests: row.get(4)?,
                bytes: row.get(5)?,
                left_out,
            })
        })?;
        Ok(found.into_iter().next())
    }

    fn forgotten(&self) -> Result<Vec<ErasedSite>, QueryError> {
        let reader = self.reader()?;
        let mut statement = reader.prepare_cached(
            "SELECT origin, at, pages FROM forgotten
             WHERE origin NOT IN (SELECT origin FROM publisher) ORDER BY origin",
        )?;
        Ok(collect(statement.query([])?, |row| {
            let at: String = row.get(1)?;
            Ok(ErasedSite { origin: row.get(0)?, at: time(&at)?, pages: row.get(2)? })
        })?)
    }

    fn erase(&self, lease: Lease, now: Timestamp) -> Result<ErasureResult, WriteError> {
        let pages = self.write(&lease, |transaction| {
            erase(transaction, &self.dictionaries, lease.publisher, now)
        })?;
        Ok(ErasureResult { pages, is_scrubbed: scrub_if_due(&*self.writer()?)? })
    }

    fn scrub(&self) -> Result<bool, WriteError> {
        Ok(scrub_if_due(&*self.writer()?)?)
    }
}

/// Deletes all data of a publisher; writes one event and one record about the erasure.
fn erase(
    transaction: &Transaction<'_>,
    dictionaries: &Dictionaries,
    publisher: PublisherId,
    now: Timestamp,
) -> Result<u64, StorageError> {
    let (origin, pages, dict): (String, u64, Option<i64>) = transaction.query_row(
        "SELECT origin, pages, dict FROM publisher WHERE id = ?1",
        [publisher.0],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    flip::forget(transaction, publisher, now)?;
    let now = now.to_string();
    // Cursors contain event numbers, so the rows of the events are kept without their content.
    transaction.execute(
        "UPDATE change SET publisher = 0, kind = ?1, url = '', modified = ?2,
            digest = zeroblob(16), at = at,
            seal = row_seal(at, 0, ?1, '', ?2, zeroblob(16))
         WHERE publisher = ?3",
        params![ChangeKind::Erased.word(), now, publisher.0],
    )?;
    transaction.execute(
        "INSERT INTO change (at, publisher, kind, url, modified, digest, seal)
         VALUES (?1, ?2, ?3, ?4, ?1, zeroblob(16),
            row_seal(?1, ?2, ?3, ?4, ?1, zeroblob(16)))",
        params![now, publisher.0, ChangeKind::Forgotten.word(), origin],
    )?;
    transaction.execute(
        "INSERT OR REPLACE INTO forgotten (origin, at, pages) VALUES (?1, ?2, ?3)",
        params![origin, now, pages],
    )?;
    if let Some(dict) = dict {
        drop_dictionary(transaction, dictionaries, dict)?;
    }
    // Drop the index: it would keep the words of deleted pages until its segments are merged.
    transaction.execute_batch(
        "DROP TABLE IF EXISTS page_text;
         DELETE FROM meta WHERE key IN ('text_cursor', 'text_page');",
    )?;
    // Free database pages contain deleted data until the file is rewritten; this row requests that.
    transaction.execute("INSERT OR REPLACE INTO meta VALUES ('scrub', 1)", [])?;
    Ok(pages)
}

/// Empties a dictionary, because it consists of text of the erased publisher. Bodies of other
/// publishers that use the dictionary are compressed again without one; damaged bodies are emptied.
/// The id of the dictionary is not reused, because other processes may have the dictionary in
/// memory.
fn drop_dictionary(
    transaction: &Transaction<'_>,
    dictionaries: &Dictionaries,
    dict: i64,
) -> Result<(), StorageError> {
    let is_staging: bool =
        transaction.query_row("SELECT EXISTS (SELECT 1 FROM run)", [], |row| row.get(0))?;
    if is_staging {
        // Another process may have the dictionary in memory and write bodies with it.
        return Err(StorageError::Busy);
    }
    let mut packer = LineCompressor::new(None)?;
    let mut last = 0;
    loop {
        let mut statement = transaction.prepare_cached(
            "SELECT id, size, z FROM body WHERE ?1 < id AND dict = ?2 ORDER BY id LIMIT 500",
        )?;
        let rows = statement.query([last, dict])?;
        let piece: Vec<(i64, usize, Vec<u8>)> =
            collect(rows, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        drop(statement);
        if piece.is_empty() {
            break;
        }
        for (id, size, z) in piece {
            let z = match dictionaries.unpack(transaction, Some(dict), size, &z) {
                Ok(line) => packer.pack(&line)?.z,
                // The content was already damaged; readers still report it as damaged.
                Err(StorageError::Damaged(_)) => Vec::new(),
                Err(error) => return Err(error),
            };
            transaction
                .execute("UPDATE body SET dict = NULL, z = ?1 WHERE id = ?2", params![z, id])?;
            last = id;
        }
    }
    transaction.execute(
        "UPDATE publisher SET bytes = (SELECT coalesce(sum(length(z)), 0)
            FROM page p JOIN body y ON y.id = p.body WHERE p.publisher = publisher.id)",
        [],
    )?;
    transaction.execute("UPDATE dict SET bytes = x'' WHERE id = ?1", [dict])?;
    transaction.execute("UPDATE publisher SET dict = NULL WHERE dict = ?1", [dict])?;
    transaction.execute("DELETE FROM meta WHERE key = 'dictionary' AND value = ?1", [dict])?;
    Ok(())
}

/// Rewrites a file from which a site was erased; returns whether no deleted data remains.
pub(super) fn scrub_if_due(connection: &Connection) -> Result<bool, StorageError> {
    let is_due: bool = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'scrub')",
        [],
        |row| row.get(0),
    )?;
    if is_due {
        if !scrub(connection)? {
            return Ok(false);
        }
        connection.execute("DELETE FROM meta WHERE key = 'scrub'", [])?;
    }
    Ok(true)
}

/// Rewrites the file without free pages and empties the write-ahead log; returns whether that was
/// possible.
fn scrub(connection: &Connection) -> Result<bool, StorageError> {
    let fold = || -> Result<bool, StorageError> {
        let is_busy: Option<bool> = connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .optional()?;
        Ok(is_busy != Some(true))
    };
    let vacuum = connection.execute_batch("VACUUM").map_err(StorageError::from);
    match vacuum {
        Ok(()) => fold(),
        // The rows are deleted, but their bytes remain in the file until a later maintenance
        // overwrites them.
        Err(StorageError::Full | StorageError::Busy) => Ok(false),
        Err(error) => Err(error),
    }
}
