//! Handles pages that are added to a staging more than once (D30).

use rusqlite::{OptionalExtension, params};
use rutter_page::Timestamp;

use super::super::columns::{digest, time};
use super::super::rows::{RemovedStageRow, StagedRow};
use super::SqliteStaging;
use crate::decide::StoredVersion;
use crate::error::StorageError;
use crate::model::{StagedPage, WithheldReason};

impl SqliteStaging<'_> {
    /// Handles a page that may have been added before. The version with the later `modified` is
    /// used; if both are equal, the first (D30). Returns whether the new version is ignored.
    pub(super) fn is_superseded(
        &mut self,
        item: &StagedPage<'_>,
        found: Option<&(i64, StoredVersion)>,
    ) -> Result<bool, StorageError> {
        self.finish_pending()?;
        let known = found.map(|(_, known)| known);
        if let Some(row) = self.buffer.held.get(item.key) {
            if item.modified <= row.modified {
                return Ok(true);
            }
            self.unstage(item.key, known)?;
            return Ok(false);
        }
        if let Some(modified) = self.spilled(item.key)? {
            if item.modified <= modified {
                return Ok(true);
            }
            self.unstage(item.key, known)?;
            return Ok(false);
        }
        if let Some((page, known)) = found
            && self.added.seen.has(*page)
        {
            // The page was added before, and its content was unchanged.
            let modified = self.added.behind.get(page).copied().unwrap_or(known.modified);
            if item.modified <= modified {
                return Ok(true);
            }
            self.changes.tally.kept = self.changes.tally.kept.saturating_sub(1);
        }
        Ok(false)
    }

    /// Returns `modified` of a staged page that was already written to the file; `None` for other
    /// pages.
    pub(super) fn spilled(&self, key: &str) -> Result<Option<Timestamp>, StorageError> {
        if !self.buffer.is_spilled {
            return Ok(None);
        }
        let modified: Option<String> = self
            .reader
            .query_row(
                "SELECT modified FROM stage WHERE run = ?1 AND url = ?2",
                params![self.run, key],
                |row| row.get(0),
            )
            .optional()?;
        modified.map(|text| time(&text)).transpose()
    }

    /// Removes a page from the staging, as if it had not been added.
    pub(super) fn unstage(
        &mut self,
        key: &str,
        known: Option<&StoredVersion>,
    ) -> Result<(), StorageError> {
        if let Some(row) = self.buffer.held.remove(key) {
            let n_bytes = row.packed.as_ref().map_or(0, |packed| packed.z.len());
            self.buffer.held_bytes -= n_bytes;
            self.buffer.staged_bytes -= n_bytes as u64;
            self.uncount_withheld(&row);
            self.count(key, known, row.digest, row.content, false);
            return Ok(());
        }
        let mut writer = self.store.writer()?;
        let transaction = writer.begin()?;
        let found: Option<RemovedStageRow> = transaction
            .query_row(
                "SELECT s.digest, s.content, s.withheld, s.body, length(b.z)
                 FROM stage s LEFT JOIN body b ON b.id = s.body WHERE s.run = ?1 AND s.url = ?2",
                params![self.run, key],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
            )
            .optional()?;
        let Some((bytes, content, withheld, body, n_bytes)) = found else { return Ok(()) };
        transaction.execute("DELETE FROM body WHERE id = ?1", [body])?;
        transaction
            .execute("DELETE FROM stage WHERE run = ?1 AND url = ?2", params![self.run, key])?;
        transaction.commit()?;
        drop(writer);
        self.buffer.staged_bytes -= n_bytes.unwrap_or(0);
        if content && withheld.is_some() {
            self.changes.tally.withheld -= 1;
            self.changes.tally.over_quota -=
                u64::from(withheld.as_deref() == Some(WithheldReason::Quota.word()));
        }
        self.count(key, known, digest(&bytes)?, content, false);
        Ok(())
    }

    pub(super) fn uncount_withheld(&mut self, row: &StagedRow) {
        if row.content && row.withheld.is_some() {
            self.changes.tally.withheld -= 1;
            self.changes.tally.over_quota -= u64::from(row.withheld == Some(WithheldReason::Quota));
        }
    }
}
