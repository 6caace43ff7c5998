//! Writes the rows of staged pages to the file.

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Transaction, params};
use rutter_page::{LineDigest, Timestamp};

use super::body::CompressedLine;
use crate::error::StorageError;
use crate::model::{RemovalCause, WithheldReason};

/// A staged page that the commit must write.
#[derive(Debug)]
pub(super) struct StagedRow {
    pub(super) url: String,
    /// The id of the page, if it is already stored.
    pub(super) page: Option<i64>,
    pub(super) content: bool,
    pub(super) modified: Timestamp,
    pub(super) digest: LineDigest,
    pub(super) title: String,
    pub(super) language: String,
    pub(super) withheld: Option<WithheldReason>,
    pub(super) line: Option<String>,
    pub(super) packed: Option<CompressedLine>,
}

/// A page that the commit removes from the section.
#[derive(Debug, Clone, Copy)]
pub(super) struct RemovedPage {
    pub(super) page: i64,
    pub(super) cause: RemovalCause,
}

/// The columns of a staged row that a later line replaces: digest, whether the content changes,
/// withheld reason, id of the body, size of the body.
pub(super) type RemovedStageRow = (Vec<u8>, bool, Option<String>, Option<i64>, Option<u64>);

/// Inserts rows into the tables `body` and `stage`.
pub(super) fn put(
    transaction: &Transaction<'_>,
    run: i64,
    rows: &BTreeMap<String, StagedRow>,
) -> Result<(), StorageError> {
    let mut body =
        transaction.prepare_cached("INSERT INTO body (dict, size, z) VALUES (?1, ?2, ?3)")?;
    let mut stage = transaction.prepare_cached(
        "INSERT INTO stage (run, url, page, content, modified, digest, title, language, withheld, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for row in rows.values() {
        let id = match &row.packed {
            Some(packed) => Some(body.insert(params![packed.dict, packed.size, packed.z])?),
            None => None,
        };
        stage.execute(params![
            run,
            row.url,
            row.page,
            row.content,
            row.modified.to_string(),
            row.digest.0,
            row.title,
            row.language,
            row.withheld.map(WithheldReason::word),
            id,
        ])?;
    }
    Ok(())
}

/// A set of page ids, with one bit per id.
#[derive(Debug, Default)]
pub(super) struct PageIdSet {
    near: Vec<u64>,
    /// Ids of [`Self::NEAR`] or more, which occur only in a damaged file.
    far: HashSet<i64>,
}

impl PageIdSet {
    /// Ids below this number are stored as bits.
    const NEAR: i64 = 1 << 32;

    fn place(page: i64) -> Option<(usize, u64)> {
        let page = usize::try_from(page).ok().filter(|_| page < Self::NEAR)?;
        Some((page / 64, 1 << (page % 64)))
    }

    pub(super) fn set(&mut self, page: i64) {
        let Some((word, bit)) = Self::place(page) else {
            self.far.insert(page);
            return;
        };
        if self.near.len() <= word {
            self.near.resize(word + 1, 0);
        }
        if let Some(word) = self.near.get_mut(word) {
            *word |= bit;
        }
    }

    pub(super) fn clear(&mut self, page: i64) {
        match Self::place(page) {
            Some((word, bit)) => {
                if let Some(word) = self.near.get_mut(word) {
                    *word &= !bit;
                }
            }
            None => {
                self.far.remove(&page);
            }
        }
    }

    pub(super) fn has(&self, page: i64) -> bool {
        match Self::place(page) {
            Some((word, bit)) => self.near.get(word).is_some_and(|word| word & bit != 0),
            None => self.far.contains(&page),
        }
    }
}
