//! Reads and writes what a sync stores for its next run.

use rusqlite::{Connection, Row, Transaction, params};

use super::SqliteStore;
use super::columns::{BROKEN_SEAL, collect, time, word};
use crate::error::{QueryError, StorageError, WriteError};
use crate::model::DamagedPage;
use crate::model::{Lease, NoteKind, NoteValue, PublisherId, UrlNote, UrlRecords, Validator};
use crate::store::SyncRecords;

impl SyncRecords for SqliteStore {
    fn site_state(&self, publisher: PublisherId) -> Result<Option<String>, QueryError> {
        Ok(site_state(&*self.reader()?, publisher)?)
    }

    fn store_site_state(&self, publisher: PublisherId, state: &str) -> Result<(), WriteError> {
        // The statement writes nothing if the publisher does not exist or the state is unchanged.
        self.writer()?.execute(
            "INSERT INTO site_state (publisher, state, seal)
             SELECT id, ?2, row_seal(id, ?2) FROM publisher WHERE id = ?1
             ON CONFLICT (publisher) DO UPDATE SET state = excluded.state, seal = excluded.seal
             WHERE state != excluded.state OR seal != excluded.seal",
            params![publisher.0, state],
        )?;
        Ok(())
    }

    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError> {
        Ok(validator(&*self.reader()?, url)?)
    }

    fn url_note(&self, kind: NoteKind, url: &str) -> Result<Option<UrlNote>, QueryError> {
        Ok(url_note(&*self.reader()?, kind, url)?)
    }

    fn url_notes(
        &self,
        publisher: PublisherId,
        kind: NoteKind,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Result<UrlNote, DamagedPage>>, QueryError> {
        Ok(url_notes(&*self.reader()?, publisher, kind, after, most)?)
    }

    fn store_url_records(&self, lease: &Lease, records: &UrlRecords) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            for validator in &records.validators {
                store_validator(transaction, lease.publisher, validator)?;
            }
            for note in &records.notes {
                store_url_note(transaction, lease.publisher, note)?;
            }
            Ok(())
        })
    }

    fn delete_url_notes(
        &self,
        lease: &Lease,
        kind: NoteKind,
        urls: &[String],
    ) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            let mut statement = transaction.prepare_cached(
                "DELETE FROM url_note WHERE kind = ?1 AND url = ?2 AND publisher = ?3",
            )?;
            for url in urls {
                statement.execute(params![kind.word(), url, lease.publisher.0])?;
            }
            Ok(())
        })
    }
}

fn site_state(
    connection: &Connection,
    publisher: PublisherId,
) -> Result<Option<String>, StorageError> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT {SITE_STATE} FROM site_state WHERE publisher = ?1"))?;
    Ok(collect(statement.query([publisher.0])?, site_state_of)?.pop())
}

pub(super) const SITE_STATE: &str = "publisher, state, seal = row_seal(publisher, state)";

/// Converts a row to the state of a site; returns an error if its seal does not match.
pub(super) fn site_state_of(row: &Row<'_>) -> Result<String, StorageError> {
    if row.get(2).ok() != Some(true) {
        let publisher: i64 = row.get(0).unwrap_or_default();
        return Err(StorageError::damaged(format!("the state of site {publisher}: {BROKEN_SEAL}")));
    }
    Ok(row.get(1)?)
}

pub(super) fn store_validator(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    validator: &Validator,
) -> Result<(), StorageError> {
    let Validator { url, etag, last_modified, checked } = validator;
    transaction.execute(
        "INSERT OR REPLACE INTO validator (url, publisher, etag, last_modified, checked, seal)
         VALUES (?1, ?2, ?3, ?4, ?5, row_seal(?1, ?2, ?3, ?4, ?5))",
        params![url, publisher.0, etag, last_modified, checked.to_string()],
    )?;
    Ok(())
}

fn validator(connection: &Connection, url: &str) -> Result<Option<Validator>, StorageError> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {VALIDATOR} FROM validator WHERE url = ?1"))?;
    Ok(collect(statement.query([url])?, validator_of)?.pop())
}

pub(super) const VALIDATOR: &str = "url, etag, last_modified, checked,
    seal = row_seal(url, publisher, etag, last_modified, checked)";

/// Converts a row to a validator; returns an error if its seal does not match.
pub(super) fn validator_of(row: &Row<'_>) -> Result<Validator, StorageError> {
    if row.get(4).ok() != Some(true) {
        let url = row.get(0).unwrap_or_else(|_| "a validator".to_owned());
        return Err(StorageError::damaged(format!("{url}: {BROKEN_SEAL}")));
    }
    let checked: String = row.get(3)?;
    Ok(Validator {
        url: row.get(0)?,
        etag: row.get(1)?,
        last_modified: row.get(2)?,
        checked: time(&checked)?,
    })
}

fn store_url_note(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    note: &UrlNote,
) -> Result<(), StorageError> {
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO url_note (kind, url, publisher, value, noted, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, row_seal(?1, ?2, ?3, ?4, ?5))",
        )?
        .execute(params![
            note.kind().word(),
            note.url,
            publisher.0,
            note.value.to_column(),
            note.noted.to_string()
        ])?;
    Ok(())
}

fn url_note(
    connection: &Connection,
    kind: NoteKind,
    url: &str,
) -> Result<Option<UrlNote>, StorageError> {
    let mut statement = connection
        .prepare_cached(&format!("SELECT {URL_NOTE} FROM url_note WHERE kind = ?1 AND url = ?2"))?;
    Ok(collect(statement.query([kind.word(), url])?, url_note_of)?.pop())
}

pub(super) const URL_NOTE: &str = "url, kind, value, noted,
    seal = row_seal(kind, url, publisher, value, noted)";

/// Converts a row to a note; returns an error if its seal does not match.
pub(super) fn url_note_of(row: &Row<'_>) -> Result<UrlNote, StorageError> {
    let url: String = row.get(0).unwrap_or_else(|_| "a note".to_owned());
    if row.get(4).ok() != Some(true) {
        return Err(StorageError::damaged(format!("{url}: {BROKEN_SEAL}")));
    }
    let (kind, noted): (String, String) = (row.get(1)?, row.get(3)?);
    let value = NoteValue::of_column(word(&kind, NoteKind::of_word)?, row.get(2)?);
    let value = value.ok_or_else(|| {
        StorageError::damaged(format!("{url}: the value of its note `{kind}` is invalid"))
    })?;
    Ok(UrlNote { url, value, noted: time(&noted)? })
}

fn url_notes(
    connection: &Connection,
    publisher: PublisherId,
    kind: NoteKind,
    after: Option<&str>,
    most: usize,
) -> Result<Vec<Result<UrlNote, DamagedPage>>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {URL_NOTE} FROM url_note
         WHERE kind = ?1 AND ?2 < url AND publisher = ?3 ORDER BY url LIMIT ?4"
    ))?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut last = after.unwrap_or_default().to_owned();
    let mut rows = statement.query(params![kind.word(), last, publisher.0, most])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let url: String = row.get(0)?;
        if url <= last {
            return Err(StorageError::damaged(format!("URL notes are not in order after {last}")));
        }
        last.clone_from(&url);
        let damaged = |_| DamagedPage { publisher, url, what: BROKEN_SEAL.to_owned() };
        found.push(url_note_of(row).map_err(damaged));
    }
    Ok(found)
}
