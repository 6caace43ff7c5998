//! Reads and writes ARC entries.

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use rutter_arc::{ArcEntry, Consent};

use super::columns::{collect, origin_of};
use super::rows::PageIdSet;
use crate::error::StorageError;
use crate::model::{ArcRow, PublisherId};

const ARC: &str = "SELECT publisher, url, allowed, entry,
    seal = row_seal(publisher, url, allowed, entry) FROM arc_entry";

fn arc_of(row: &rusqlite::Row<'_>) -> Result<ArcRow, StorageError> {
    if !row.get::<_, bool>(4)? {
        let url: String = row.get(1)?;
        return Err(StorageError::damaged(format!(
            "the seal of the ARC entry of {url} does not match"
        )));
    }
    Ok(ArcRow {
        publisher: PublisherId(row.get(0)?),
        url: row.get(1)?,
        is_allowed: row.get(2)?,
        json: row.get(3)?,
    })
}

pub(super) fn arc_entry(
    connection: &Connection,
    key: &str,
) -> Result<Option<ArcRow>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "{ARC} WHERE url = ?1 AND publisher IN (SELECT id FROM publisher)
         ORDER BY publisher != coalesce((SELECT id FROM publisher WHERE origin = ?2), 0), publisher
         LIMIT 1"
    ))?;
    Ok(collect(statement.query([key, origin_of(key)])?, arc_of)?.pop())
}

pub(super) fn arc_entries(
    connection: &Connection,
    publisher: PublisherId,
    after: Option<&str>,
    most: usize,
) -> Result<Vec<ArcRow>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "{ARC} WHERE publisher = ?1 AND ?2 < url ORDER BY url LIMIT ?3"
    ))?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    collect(statement.query(params![publisher.0, after.unwrap_or(""), most])?, arc_of)
}

pub(super) fn arc_forbidden(
    connection: &Connection,
    publisher: PublisherId,
    after: Option<&str>,
    most: usize,
) -> Result<Vec<String>, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT url FROM arc_entry WHERE publisher = ?1 AND ?2 < url AND NOT allowed
         ORDER BY url LIMIT ?3",
    )?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = statement.query(params![publisher.0, after.unwrap_or(""), most])?;
    collect(rows, |row| Ok(row.get(0)?))
}

/// Writes an ARC entry if it differs from the stored one; returns its id.
fn put_arc(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    entry: &ArcEntry<'_>,
) -> Result<i64, StorageError> {
    let is_allowed = entry.consent() == Consent::Given;
    let id: i64 = transaction
        .prepare_cached(
            "INSERT INTO arc_entry (publisher, url, allowed, entry, seal)
             VALUES (?1, ?2, ?3, ?4, row_seal(?1, ?2, ?3, ?4))
             ON CONFLICT (publisher, url) DO UPDATE SET
                allowed = excluded.allowed, entry = excluded.entry, seal = excluded.seal
             WHERE allowed != excluded.allowed OR entry != excluded.entry
             RETURNING id",
        )?
        .query_row(params![publisher.0, entry.url.key(), is_allowed, entry.to_json()], |row| {
            row.get(0)
        })
        .optional()?
        .map_or_else(
            || {
                // The statement wrote nothing, because the entry is unchanged.
                transaction
                    .prepare_cached("SELECT id FROM arc_entry WHERE publisher = ?1 AND url = ?2")?
                    .query_row(params![publisher.0, entry.url.key()], |row| row.get(0))
            },
            Ok,
        )?;
    Ok(id)
}

pub(super) fn replace_arc(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
) -> Result<(), StorageError> {
    let mut seen = PageIdSet::default();
    for entry in entries.filter(|entry| !entry.removed) {
        seen.set(put_arc(transaction, publisher, &entry)?);
    }
    let mut statement =
        transaction.prepare_cached("SELECT id FROM arc_entry WHERE publisher = ?1")?;
    let all: Vec<i64> = collect(statement.query([publisher.0])?, |row| Ok(row.get(0)?))?;
    let mut delete = transaction.prepare_cached("DELETE FROM arc_entry WHERE id = ?1")?;
    for id in all.into_iter().filter(|id| !seen.has(*id)) {
        delete.execute([id])?;
    }
    Ok(())
}

pub(super) fn merge_arc(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
) -> Result<(), StorageError> {
    for entry in entries {
        if entry.removed {
            transaction
                .prepare_cached("DELETE FROM arc_entry WHERE publisher = ?1 AND url = ?2")?
                .execute(params![publisher.0, entry.url.key()])?;
        } else {
            put_arc(transaction, publisher, &entry)?;
        }
    }
    Ok(())
}
