//! Compresses staged rows, keeps them in memory, and writes them to the file in batches.

use std::collections::BTreeMap;

use super::super::body::{self};
use super::super::pipeline::pack;
use super::super::rows::{StagedRow, put};
use super::super::train::{self, DictionaryTraining};
use super::super::{lease, pages};
use super::SqliteStaging;
use super::StagingStatus;
use crate::error::StorageError;
use crate::model::{PageSelection, WithheldReason};

/// Maximum number, and maximum total size in bytes, of the lines in one compression job.
const BATCH_ROWS: usize = 256;
const BATCH_BYTES: usize = 1 << 20;

impl SqliteStaging<'_> {
    /// Sends new rows to compression if a batch is full.
    pub(super) fn send_if_full(&mut self) -> Result<(), StorageError> {
        if self.dictionary.is_untrained {
            let is_enough = body::ENOUGH_PAGES < self.totals.pages;
            if is_enough {
                self.begin_training()?;
            } else if self.buffer.fresh_bytes < train::MOST_WAITING {
                return Ok(());
            }
        }
        if let Some(training) = &self.dictionary.training {
            if !training.is_over() && self.buffer.fresh_bytes < train::MOST_WAITING {
                return Ok(());
            }
            self.end_training()?;
        }
        if BATCH_ROWS <= self.buffer.fresh.len() || BATCH_BYTES <= self.buffer.fresh_bytes {
            self.send()?;
        }
        while let Some(rows) = self.buffer.pipeline.pull(false)? {
            self.keep_rows(rows)?;
        }
        Ok(())
    }

    /// Starts training a dictionary from the publisher's lines.
    pub(super) fn begin_training(&mut self) -> Result<(), StorageError> {
        self.dictionary.is_untrained = false;
        let selection =
            PageSelection { publisher: Some(self.lease.publisher), ..Default::default() };
        let (reader, dictionaries) = (&mut self.reader, &self.store.dictionaries);
        let samples = train::samples(&self.buffer.fresh, |missing| {
            let most = if self.totals.has_pages { missing } else { 0 };
            let lines = pages::lines(reader, dictionaries, &selection, None, most)?;
            // Damaged pages cannot be samples; queries report them.
            Ok(lines.into_iter().flatten().collect())
        })?;
        self.dictionary.training = Some(DictionaryTraining::start(samples));
        Ok(())
    }

    /// If a dictionary is being trained, waits for it and stores it.
    pub(super) fn end_training(&mut self) -> Result<(), StorageError> {
        let Some(training) = self.dictionary.training.take() else { return Ok(()) };
        if let Some(bytes) = training.end() {
            let mut writer = self.store.writer()?;
            let transaction = writer.begin()?;
            let dictionary = body::add(&transaction, self.lease.publisher.0, &bytes)?;
            transaction.commit()?;
            self.dictionary.current = Some(dictionary);
        }
        // Send the rows that waited for the dictionary in batches, to keep all threads busy.
        let mut waiting = std::mem::take(&mut self.buffer.fresh);
        while BATCH_ROWS <= waiting.len() {
            let rest = waiting.split_off(BATCH_ROWS);
            self.buffer.fresh = std::mem::replace(&mut waiting, rest);
            self.send()?;
        }
        self.buffer.fresh = waiting;
        let lines = self.buffer.fresh.iter().filter_map(|row| row.line.as_ref());
        self.buffer.fresh_bytes = lines.map(String::len).sum();
        Ok(())
    }

    pub(super) fn send(&mut self) -> Result<(), StorageError> {
        self.buffer.fresh_bytes = 0;
        let rows = std::mem::take(&mut self.buffer.fresh);
        self.buffer.pipeline.push(rows, self.dictionary.current.as_ref())
    }

    /// Waits until all added rows are compressed, and in memory or in the file.
    pub(super) fn finish_pending(&mut self) -> Result<(), StorageError> {
        self.end_training()?;
        while let Some(rows) = self.buffer.pipeline.pull(true)? {
            self.keep_rows(rows)?;
        }
        self.buffer.fresh_bytes = 0;
        let rows = std::mem::take(&mut self.buffer.fresh);
        let rows = pack(rows, self.dictionary.current.as_ref())?;
        self.keep_rows(rows)
    }

    /// Keeps compressed rows in memory. Rows that exceed the quota of bytes are withheld (SCP-184).
    pub(super) fn keep_rows(&mut self, rows: Vec<StagedRow>) -> Result<(), StorageError> {
        for mut row in rows {
            let n_bytes = row.packed.as_ref().map_or(0, |packed| packed.z.len());
            let is_over = self.options.quota.bytes
                < self.totals.bytes + self.buffer.staged_bytes + n_bytes as u64;
            if row.packed.is_some() && is_over {
                row.packed = None;
                row.withheld = Some(WithheldReason::Quota);
                self.changes.tally.over_quota += 1;
            }
            if row.content && row.withheld.is_some() {
                self.changes.tally.withheld += 1;
            }
            let n_bytes = row.packed.as_ref().map_or(0, |packed| packed.z.len());
            self.buffer.held_bytes += n_bytes;
            self.buffer.staged_bytes += n_bytes as u64;
            self.buffer.held.insert(row.url.clone(), row);
        }
        let tuning = self.store.options.tuning;
        let is_much =
            tuning.held < self.buffer.held.len() || tuning.held_bytes < self.buffer.held_bytes;
        if is_much || (self.buffer.is_spilled && tuning.batch <= self.buffer.held.len()) {
            self.spill(tuning.batch)?;
        }
        Ok(())
    }

    /// Writes the rows in memory to the file, in batches that readers do not see.
    pub(super) fn spill(&mut self, batch: usize) -> Result<(), StorageError> {
        while !self.buffer.held.is_empty() {
            let mut writer = self.store.writer()?;
            let transaction = writer.begin()?;
            if !lease::holds(&transaction, &self.lease)? {
                self.standing = StagingStatus::Lost;
                return Err(StorageError::Busy);
            }
            // Split off the rows after the first `batch` rows, in the order of their keys.
            let rest = self.buffer.held.keys().nth(batch).cloned();
            let rest = rest.map_or_else(BTreeMap::new, |key| self.buffer.held.split_off(&key));
            let rows = std::mem::replace(&mut self.buffer.held, rest);
            put(&transaction, self.run, &rows)?;
            transaction.commit()?;
            self.buffer.is_spilled = true;
        }
        self.buffer.held_bytes = 0;
        Ok(())
    }
}
