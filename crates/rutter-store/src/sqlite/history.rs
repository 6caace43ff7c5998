//! Queries about the history.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::SqliteStore;
use super::columns::{collect, digest, limit, optional_time, time, word};
use crate::error::{QueryError, StorageError};
use crate::model::{
    Change, ChangeBatch, ChangeCounts, ChangeCursor, ChangeKind, HistorySummary, PublisherId,
};
use crate::store::HistoryQueries;

impl HistoryQueries for SqliteStore {
    fn changes_since(
        &self,
        cursor: Option<ChangeCursor>,
        most: usize,
    ) -> Result<ChangeBatch, QueryError> {
        changes(&mut *self.reader()?, self.id, cursor, most)
    }

    fn change_counts_since(
        &self,
        publisher: PublisherId,
        cursor: ChangeCursor,
    ) -> Result<ChangeCounts, QueryError> {
        Ok(happened(&*self.reader()?, publisher, cursor)?)
    }

    fn cursor(&self) -> Result<ChangeCursor, QueryError> {
        Ok(ChangeCursor { store: self.id, seq: last_change(&*self.reader()?)? })
    }

    fn history(&self) -> Result<HistorySummary, QueryError> {
        Ok(history(&mut *self.reader()?, self.id)?)
    }
}

/// Returns the number of the last event of the history, even if the event was already deleted.
pub(super) fn last_change(connection: &Connection) -> Result<u64, StorageError> {
    Ok(connection.query_row(
        "SELECT max((SELECT coalesce(max(seq), 0) FROM change),
                    (SELECT value FROM meta WHERE key = 'pruned'))",
        [],
        |row| row.get(0),
    )?)
}

pub(super) fn history(
    connection: &mut Connection,
    store: u64,
) -> Result<HistorySummary, StorageError> {
    let transaction = connection.transaction()?;
    let oldest: Option<String> = transaction
        .query_row("SELECT at FROM change ORDER BY seq LIMIT 1", [], |row| row.get(0))
        .optional()?;
    let seq = last_change(&transaction)?;
    let events = seq.saturating_sub(pruned(&transaction)?);
    Ok(HistorySummary {
        oldest: optional_time(oldest)?,
        events,
        cursor: ChangeCursor { store, seq },
    })
}

pub(super) fn pruned(connection: &Connection) -> Result<u64, StorageError> {
    Ok(connection.query_row("SELECT value FROM meta WHERE key = 'pruned'", [], |row| row.get(0))?)
}

pub(super) fn changes(
    connection: &mut Connection,
    store: u64,
    cursor: Option<ChangeCursor>,
    most: usize,
) -> Result<ChangeBatch, QueryError> {
    // The queries run in one transaction: an event written between them would look like a gap.
    let transaction = connection.transaction().map_err(StorageError::from)?;
    let connection = &*transaction;
    let seq = match cursor {
        None => 0,
        Some(cursor) if cursor.store != store => return Err(QueryError::ForeignCursor),
        Some(ChangeCursor { seq, .. }) => {
            let end = last_change(connection)?;
            // The file was probably restored from a backup.
            if end < seq {
                return Err(QueryError::CursorAhead { seq, end });
            }
            seq
        }
    };
    if seq < pruned(connection)? {
        return Err(QueryError::ExpiredCursor);
    }
    let mut rows = numbered_changes(connection, seq, limit(most).saturating_add(1))?;
    let has_more = limit(most) < i64::try_from(rows.len()).unwrap_or(i64::MAX);
    if has_more {
        rows.pop();
    }
    let ever: Option<u64> = connection
        .query_row("SELECT seq FROM sqlite_sequence WHERE name = 'change'", [], |row| row.get(0))
        .optional()?;
    let end = ever.map_or_else(|| last_change(connection), Ok)?;
    // Events are numbered without gaps, so a missing number is a lost event.
    let mut last = seq.max(pruned(connection)?);
    let next = rows.last().map_or(seq, |(last, _)| *last);
    let mut damaged = Vec::new();
    let mut events = Vec::with_capacity(rows.len());
    for (seq, event) in rows {
        if seq <= last || end < seq {
            let text = format!("the events after number {last} are not in order");
            return Err(StorageError::damaged(text).into());
        }
        if last + 1 < seq {
            damaged.push(last + 1..=seq - 1);
        }
        if event.is_none() {
            damaged.push(seq..=seq);
        }
        last = seq;
        events.extend(event);
    }
    if !has_more && last < end {
        damaged.push(last + 1..=end);
    }
    // Events of erased sites have only their numbers.
    events.retain(|event| event.kind != ChangeKind::Erased);
    Ok(ChangeBatch { next: ChangeCursor { store, seq: next }, has_more, events, damaged })
}

/// Returns the events after event `seq`, each with its number; `None` in place of a damaged event.
fn numbered_changes(
    connection: &Connection,
    seq: u64,
    most: i64,
) -> Result<Vec<(u64, Option<Change>)>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {CHANGE} FROM change WHERE ?1 < seq ORDER BY seq LIMIT ?2"
    ))?;
    collect(statement.query(params![seq, most])?, |row| match change_of(row) {
        Ok(change) => Ok((change.seq, Some(change))),
        Err(StorageError::Damaged(_)) => Ok((row.get(0)?, None)),
        Err(error) => Err(error),
    })
}

pub(super) fn changes_behind(
    connection: &Connection,
    seq: u64,
    most: i64,
) -> Result<Vec<Change>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {CHANGE} FROM change WHERE ?1 < seq ORDER BY seq LIMIT ?2"
    ))?;
    collect(statement.query(params![seq, most])?, change_of)
}

/// Counts the changes of a publisher after a cursor. The cost is O(n) in events, not in pages.
pub(super) fn happened(
    connection: &Connection,
    publisher: PublisherId,
    cursor: ChangeCursor,
) -> Result<ChangeCounts, StorageError> {
    let mut statement = connection.prepare_cached(
        "SELECT kind, count(*) FROM change WHERE ?1 < seq AND publisher = ?2 GROUP BY kind",
    )?;
    let mut rows = statement.query(params![cursor.seq, publisher.0])?;
    let mut happened = ChangeCounts::default();
    while let Some(row) = rows.next()? {
        let kind: String = row.get(0)?;
        happened.count(word(&kind, ChangeKind::of_word)?, row.get(1)?);
    }
    Ok(happened)
}

pub(super) const CHANGE: &str = "seq, at, publisher, kind, url, modified, digest,
    seal = row_seal(at, publisher, kind, url, modified, digest)";

pub(super) fn change_of(row: &Row<'_>) -> Result<Change, StorageError> {
    let text = |at: usize| -> Result<String, StorageError> { Ok(row.get(at)?) };
    if row.get(7).ok() != Some(true) {
        let seq: u64 = row.get(0)?;
        return Err(StorageError::damaged(format!(
            "the seal of event {seq} of the history does not match"
        )));
    }
    let bytes: Vec<u8> = row.get(6)?;
    Ok(Change {
        seq: row.get(0)?,
        at: time(&text(1)?)?,
        publisher: PublisherId(row.get(2)?),
        kind: word(&text(3)?, ChangeKind::of_word)?,
        url: row.get(4)?,
        modified: time(&text(5)?)?,
        digest: digest(&bytes)?,
    })
}
