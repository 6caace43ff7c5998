//! Conversions between columns of the database and values, shared by all queries.

use rusqlite::Row;
use rutter_page::{LineDigest, PageUrl, Timestamp};

use crate::error::StorageError;

/// Parses a time column.
pub(super) fn time(text: &str) -> Result<Timestamp, StorageError> {
    Timestamp::parse(text).map_err(|_| StorageError::damaged(format!("`{text}` is not a time")))
}

pub(super) fn optional_time(text: Option<String>) -> Result<Option<Timestamp>, StorageError> {
    text.map(|text| time(&text)).transpose()
}

/// Parses a digest column.
pub(super) fn digest(bytes: &[u8]) -> Result<LineDigest, StorageError> {
    let bytes =
        bytes.try_into().map_err(|_| StorageError::damaged("a digest has a wrong length"))?;
    Ok(LineDigest(bytes))
}

/// Parses a column with the name of an enumeration value.
pub(super) fn word<T>(
    text: &str,
    of_word: impl FnOnce(&str) -> Option<T>,
) -> Result<T, StorageError> {
    of_word(text).ok_or_else(|| StorageError::damaged(format!("`{text}` is not a known value")))
}

/// Maximum number of rows that one query returns; callers read further rows with more queries.
const MOST: usize = 100_000;

pub(super) fn limit(most: usize) -> i64 {
    i64::try_from(most.min(MOST)).unwrap_or(0)
}

/// Converts all rows of a statement with a function that can return a [`StorageError`].
pub(super) fn collect<T>(
    mut rows: rusqlite::Rows<'_>,
    read: impl Fn(&Row<'_>) -> Result<T, StorageError>,
) -> Result<Vec<T>, StorageError> {
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// Error text for a row whose seal does not match.
pub(super) const BROKEN_SEAL: &str = "the record is damaged: its seal does not match";

/// Returns the origin of a page key: everything before the path.
pub(crate) fn origin_of(key: &str) -> &str {
    let Some((scheme, rest)) = key.split_once("://") else { return key };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    key.get(..scheme.len() + 3 + end).unwrap_or(key)
}

/// Returns the page key of a URL.
pub(super) fn key_of(text: &str) -> String {
    PageUrl::parse(text).map_or_else(|_| text.to_owned(), |url| url.key().to_owned())
}
