//! Reads and writes what a sync stores for its next run.

use rusqlite::{Connection, Transaction, params};

use super::SqliteStore;
use super::columns::{BROKEN_SEAL, collect, time};
use crate::error::{DamagedPage, QueryError, StorageError, WriteError};
use crate::model::{Lease, PublisherId, Validator};
use crate::store::SyncRecords;

impl SyncRecords for SqliteStore {
    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError> {
        Ok(validator(&*self.reader()?, url)?)
    }

    fn url_notes(
        &self,
        publisher: PublisherId,
        word: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Result<Validator, DamagedPage>>, QueryError> {
        Ok(url_notes(&*self.reader()?, publisher, word, after, most)?)
    }

    fn store_validator(&self, lease: &Lease, validator: &Validator) -> Result<(), WriteError> {
        self.write(lease, |transaction| store_validator(transaction, lease.publisher, validator))
    }

    fn store_validators(&self, lease: &Lease, validators: &[Validator]) -> Result<(), WriteError> {
        self.write(lease, |transaction| {
            let mut all = validators.iter();
            all.try_for_each(|it| store_validator(transaction, lease.publisher, it))
        })
    }

    fn delete_url_notes(&self, lease: &Lease, marks: &[String]) -> Result<(), WriteError> {
        self.write(lease, |transaction| delete_url_notes(transaction, lease.publisher, marks))
    }
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

pub(super) fn validator(
    connection: &Connection,
    url: &str,
) -> Result<Option<Validator>, StorageError> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {VALIDATOR} FROM validator WHERE url = ?1"))?;
    let found = collect(statement.query([url])?, validator_of)?;
    Ok(found.into_iter().next())
}

pub(super) const VALIDATOR: &str = "url, etag, last_modified, checked,
    seal = row_seal(url, publisher, etag, last_modified, checked)";

/// Converts a row to a validator; returns an error if its seal does not match.
pub(super) fn validator_of(row: &rusqlite::Row<'_>) -> Result<Validator, StorageError> {
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

/// Returns the URL notes with the prefix `word:` that sort after `after`. (The upper bound of the
/// query is `word;`, because the semicolon follows the colon in byte order.)
pub(super) fn url_notes(
    connection: &Connection,
    publisher: PublisherId,
    word: &str,
    after: Option<&str>,
    most: usize,
) -> Result<Vec<Result<Validator, DamagedPage>>, StorageError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {VALIDATOR} FROM validator
         WHERE ?1 < url AND url < ?2 AND publisher = ?3 ORDER BY url LIMIT ?4"
    ))?;
    let start = format!("{word}:{}", after.unwrap_or_default());
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![start, format!("{word};"), publisher.0, most])?;
    let mut last = start.clone();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let url: String = row.get(0)?;
        if url <= last {
            return Err(StorageError::damaged(format!("URL notes are not in order after {last}")));
        }
        last.clone_from(&url);
        let damaged = |_| DamagedPage { publisher, url, what: BROKEN_SEAL.to_owned() };
        found.push(validator_of(row).map_err(damaged));
    }
    Ok(found)
}

pub(super) fn delete_url_notes(
    transaction: &Transaction<'_>,
    publisher: PublisherId,
    marks: &[String],
) -> Result<(), StorageError> {
    let mut statement =
        transaction.prepare_cached("DELETE FROM validator WHERE url = ?1 AND publisher = ?2")?;
    for mark in marks {
        statement.execute(params![mark, publisher.0])?;
    }
    Ok(())
}
