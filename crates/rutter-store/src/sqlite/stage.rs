//! Staging of a replica in a file.
//!
//! Each page is looked up when it is added. An unchanged page is only marked in a bit set. Other
//! pages are compressed and kept in memory. If they exceed the limits of
//! [`StagingBuffer`](super::StagingBuffer), they are written to the file in batches. Readers do not
//! see these batches, because no `page` row refers to them. [`flip`](super::flip) makes them
//! visible.
//!
//! The lease prevents other processes from changing the publisher's pages, so the results of
//! lookups stay valid. The epoch of the lease is compared again before every write.

mod ahead;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use rusqlite::{OptionalExtension, params};
use rutter_page::{LineDigest, Timestamp};
use rutter_scp::{SectionState, merge};

use super::body::{self, Dictionary};
use super::columns::{digest, time, word};
use super::connection::ReadConnection;
use super::pipeline::{Pipeline, pack};
use super::rows::{PageIdSet, RemovedStageRow, StagedRow, put};
use super::train::{self, Training};
use super::{SqliteStore, flip, lease, pages, sites};
use crate::decide::{self, DeletionCheck, IncomingVersion, StoredVersion};
use crate::error::{CommitError, StageError, StorageError};
use crate::model::{
    ClaimedState, CommitOptions, CommitSummary, Lease, PageSource, Quota, RemovalCause, Section,
    Selection, StagedPage, StagingMode, StagingOptions, WithheldReason,
};
use crate::store::Staging;

/// Maximum number, and maximum total size in bytes, of the lines in one compression job.
const BATCH_ROWS: usize = 256;
const BATCH_BYTES: usize = 1 << 20;

/// Whether a staging is open, lost or committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StagingStatus {
    Open,
    /// Another process took over the lease, so the staging cannot be committed.
    Lost,
    Committed,
}

/// The columns of a stored page: id, `modified`, digest, withheld reason, source, whether the page
/// is in the section, and the digest that the section delivered.
type StoredRow = (i64, String, Vec<u8>, Option<String>, String, bool, Option<Vec<u8>>);

/// A staging in a file.
pub(super) struct SqliteStaging<'s> {
    store: &'s SqliteStore,
    reader: ReadConnection<'s>,
    lease: Lease,
    run: i64,
    name: String,
    section: Option<(i64, Section)>,
    mode: StagingMode,
    generated: Timestamp,
    source: PageSource,
    quota: Quota,
    now: Timestamp,
    /// Whether the publisher had pages when the staging was opened.
    has_pages: bool,
    /// Number of pages of the publisher, and size of their bodies, including the staged pages.
    pages: u64,
    bytes: u64,
    seen: PageIdSet,
    /// `modified` of staged versions that are older than the stored version, by page id. Such
    /// versions occur only if sections overlap.
    behind: HashMap<i64, Timestamp>,
    hasher: RandomState,
    /// Hashes of all added keys, to detect duplicates.
    keys: HashSet<u64>,
    fresh: Vec<StagedRow>,
    fresh_bytes: usize,
    pipeline: Pipeline,
    held: BTreeMap<String, StagedRow>,
    held_bytes: usize,
    /// Whether some staged rows were already written to the file.
    is_spilled: bool,
    /// Size of the staged bodies, in bytes.
    staged_bytes: u64,
    removed: BTreeMap<String, RemovalCause>,
    unfollowed: Vec<String>,
    dictionary: Option<Dictionary>,
    /// Whether the publisher has no dictionary of its own yet.
    is_untrained: bool,
    training: Option<Training>,
    tally: CommitSummary,
    /// Number of staged pages that were not in the section.
    joined: u64,
    /// The contribution of the staged pages to the state of the section.
    state: SectionState,
    standing: StagingStatus,
}

impl<'s> SqliteStaging<'s> {
    pub(super) fn begin(
        store: &'s SqliteStore,
        lease: &Lease,
        begin: StagingOptions<'_>,
    ) -> Result<Self, StageError> {
        let run = {
            let mut writer = store.writer()?;
            let transaction = writer.begin()?;
            if !lease::holds(&transaction, lease)? {
                return Err(StageError::Lost);
            }
            let n_rows = transaction.execute(
                "INSERT OR IGNORE INTO run (publisher, section, kind, epoch, started)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    lease.publisher.0,
                    begin.section,
                    begin.mode.word(),
                    lease.epoch,
                    begin.now.to_string()
                ],
            )?;
            if n_rows == 0 {
                return Err(StageError::Staging);
            }
            let run = transaction.last_insert_rowid();
            transaction.commit()?;
            run
        };
        let reader = store.reader()?;
        let mut staging = Self {
            store,
            reader,
            lease: lease.clone(),
            run,
            name: begin.section.to_owned(),
            section: None,
            mode: begin.mode,
            generated: begin.generated,
            source: begin.source,
            quota: begin.quota,
            now: begin.now,
            has_pages: false,
            pages: 0,
            bytes: 0,
            seen: PageIdSet::default(),
            behind: HashMap::new(),
            hasher: RandomState::new(),
            keys: HashSet::new(),
            fresh: Vec::new(),
            fresh_bytes: 0,
            pipeline: Pipeline::default(),
            held: BTreeMap::new(),
            held_bytes: 0,
            is_spilled: false,
            staged_bytes: 0,
            removed: BTreeMap::new(),
            unfollowed: Vec::new(),
            dictionary: None,
            is_untrained: false,
            training: None,
            tally: CommitSummary::default(),
            joined: 0,
            state: SectionState::EMPTY,
            standing: StagingStatus::Open,
        };
        // From here on, dropping `staging` deletes the run from the file.
        staging.load_section()?;
        Ok(staging)
    }

    fn load_section(&mut self) -> Result<(), StageError> {
        let publisher = self.lease.publisher;
        let sections = sites::sections(&self.reader, publisher)?;
        self.section = sections.into_iter().find(|(_, section)| section.name == self.name);
        if let Some((_, section)) = &self.section {
            if self.mode == StagingMode::Snapshot
                && merge::is_replay(self.generated, section.snapshot_at)
            {
                let newest = section.snapshot_at.unwrap_or(self.generated);
                return Err(StageError::Replay { generated: self.generated, newest });
            }
            self.tally.before = section.pages;
        }
        (self.pages, self.bytes) = self.reader.query_row(
            "SELECT pages, bytes FROM publisher WHERE id = ?1",
            [publisher.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        self.has_pages = 0 < self.pages;
        self.dictionary = body::dictionary(&self.reader, publisher.0)?;
        self.is_untrained = !body::has_own(&self.reader, publisher.0)?;
        Ok(())
    }

    fn lookup(&self, key: &str) -> Result<Option<(i64, StoredVersion)>, StorageError> {
        if !self.has_pages {
            return Ok(None);
        }
        let section = self.section.as_ref().map_or(0, |(id, _)| *id);
        let mut statement = self.reader.prepare_cached(
            "SELECT p.id, p.modified, p.digest, p.withheld, p.source, m.page IS NOT NULL, m.digest
             FROM page p LEFT JOIN member m ON m.section = ?1 AND m.page = p.id
             WHERE p.publisher = ?2 AND p.url = ?3",
        )?;
        let found: Option<StoredRow> = statement
            .query_row(params![section, self.lease.publisher.0, key], |row| {
                let (id, modified, digest) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok((id, modified, digest, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
            })
            .optional()?;
        let Some((id, modified, page_digest, withheld, source, is_member, delivered)) = found
        else {
            return Ok(None);
        };
        let page_digest = digest(&page_digest)?;
        let delivered = delivered.map(|bytes| digest(&bytes)).transpose()?;
        let known = StoredVersion {
            modified: time(&modified)?,
            digest: page_digest,
            withheld: withheld.map(|text| word(&text, WithheldReason::of_word)).transpose()?,
            is_verified: source == PageSource::Scp.word(),
            delivered: is_member.then_some(delivered.unwrap_or(page_digest)),
        };
        Ok(Some((id, known)))
    }

    /// Adds a staged page to the totals; if `is_in` is false, subtracts the page from them.
    fn count(
        &mut self,
        key: &str,
        known: Option<&StoredVersion>,
        digest: LineDigest,
        content: bool,
        is_in: bool,
    ) {
        let step = |number: &mut u64| {
            if is_in { *number += 1 } else { *number = number.saturating_sub(1) }
        };
        match (known, content) {
            (None, _) => {
                step(&mut self.tally.added);
                step(&mut self.pages);
            }
            (Some(_), true) => step(&mut self.tally.changed),
            (Some(_), false) => step(&mut self.tally.kept),
        }
        let delivered = known.and_then(|known| known.delivered);
        if delivered.is_none() {
            step(&mut self.joined);
        }
        if is_in {
            if let Some(old) = delivered {
                self.state.remove(key, old);
            }
            self.state.add(key, digest);
        } else {
            self.state.remove(key, digest);
            if let Some(old) = delivered {
                self.state.add(key, old);
            }
        }
    }

    /// Handles a page that may have been added before. The version with the later `modified` is
    /// used; if both are equal, the first (D30). Returns whether the new version is ignored.
    fn is_superseded(
        &mut self,
        item: &StagedPage<'_>,
        found: Option<&(i64, StoredVersion)>,
    ) -> Result<bool, StorageError> {
        self.finish_pending()?;
        let known = found.map(|(_, known)| known);
        if let Some(row) = self.held.get(item.key) {
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
            && self.seen.has(*page)
        {
            // The page was added before, and its content was unchanged.
            let modified = self.behind.get(page).copied().unwrap_or(known.modified);
            if item.modified <= modified {
                return Ok(true);
            }
            self.tally.kept = self.tally.kept.saturating_sub(1);
        }
        Ok(false)
    }

    /// Returns `modified` of a staged page that was already written to the file; `None` for other
    /// pages.
    fn spilled(&self, key: &str) -> Result<Option<Timestamp>, StorageError> {
        if !self.is_spilled {
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
    fn unstage(&mut self, key: &str, known: Option<&StoredVersion>) -> Result<(), StorageError> {
        if let Some(row) = self.held.remove(key) {
            let n_bytes = row.packed.as_ref().map_or(0, |packed| packed.z.len());
            self.held_bytes -= n_bytes;
            self.staged_bytes -= n_bytes as u64;
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
        self.staged_bytes -= n_bytes.unwrap_or(0);
        if content && withheld.is_some() {
            self.tally.withheld -= 1;
            self.tally.over_quota -=
                u64::from(withheld.as_deref() == Some(WithheldReason::Quota.word()));
        }
        self.count(key, known, digest(&bytes)?, content, false);
        Ok(())
    }

    fn uncount_withheld(&mut self, row: &StagedRow) {
        if row.content && row.withheld.is_some() {
            self.tally.withheld -= 1;
            self.tally.over_quota -= u64::from(row.withheld == Some(WithheldReason::Quota));
        }
    }

    /// Sends new rows to compression if a batch is full.
    fn send_if_full(&mut self) -> Result<(), StorageError> {
        if self.is_untrained {
            let is_enough = body::ENOUGH_PAGES < self.pages;
            if is_enough {
                self.begin_training()?;
            } else if self.fresh_bytes < train::MOST_WAITING {
                return Ok(());
            }
        }
        if let Some(training) = &self.training {
            if !training.is_over() && self.fresh_bytes < train::MOST_WAITING {
                return Ok(());
            }
            self.end_training()?;
        }
        if BATCH_ROWS <= self.fresh.len() || BATCH_BYTES <= self.fresh_bytes {
            self.send()?;
        }
        while let Some(rows) = self.pipeline.pull(false)? {
            self.keep_rows(rows)?;
        }
        Ok(())
    }

    /// Starts training a dictionary from the publisher's lines.
    fn begin_training(&mut self) -> Result<(), StorageError> {
        self.is_untrained = false;
        let selection = Selection { publisher: Some(self.lease.publisher), ..Default::default() };
        let (reader, dictionaries) = (&mut self.reader, &self.store.dictionaries);
        let samples = train::samples(&self.fresh, |missing| {
            let most = if self.has_pages { missing } else { 0 };
            let lines = pages::lines(reader, dictionaries, &selection, None, most)?;
            // Damaged pages cannot be samples; queries report them.
            Ok(lines.into_iter().flatten().collect())
        })?;
        self.training = Some(Training::start(samples));
        Ok(())
    }

    /// If a dictionary is being trained, waits for it and stores it.
    fn end_training(&mut self) -> Result<(), StorageError> {
        let Some(training) = self.training.take() else { return Ok(()) };
        if let Some(bytes) = training.end() {
            let mut writer = self.store.writer()?;
            let transaction = writer.begin()?;
            let dictionary = body::add(&transaction, self.lease.publisher.0, &bytes)?;
            transaction.commit()?;
            self.dictionary = Some(dictionary);
        }
        // Send the rows that waited for the dictionary in batches, to keep all threads busy.
        let mut waiting = std::mem::take(&mut self.fresh);
        while BATCH_ROWS <= waiting.len() {
            let rest = waiting.split_off(BATCH_ROWS);
            self.fresh = std::mem::replace(&mut waiting, rest);
            self.send()?;
        }
        self.fresh = waiting;
        let lines = self.fresh.iter().filter_map(|row| row.line.as_ref());
        self.fresh_bytes = lines.map(String::len).sum();
        Ok(())
    }

    fn send(&mut self) -> Result<(), StorageError> {
        self.fresh_bytes = 0;
        let rows = std::mem::take(&mut self.fresh);
        self.pipeline.push(rows, self.dictionary.as_ref())
    }

    /// Waits until all added rows are compressed, and in memory or in the file.
    fn finish_pending(&mut self) -> Result<(), StorageError> {
        self.end_training()?;
        while let Some(rows) = self.pipeline.pull(true)? {
            self.keep_rows(rows)?;
        }
        self.fresh_bytes = 0;
        let rows = std::mem::take(&mut self.fresh);
        let rows = pack(rows, self.dictionary.as_ref())?;
        self.keep_rows(rows)
    }

    /// Keeps compressed rows in memory. Rows that exceed the quota of bytes are withheld (SCP-184).
    fn keep_rows(&mut self, rows: Vec<StagedRow>) -> Result<(), StorageError> {
        for mut row in rows {
            let n_bytes = row.packed.as_ref().map_or(0, |packed| packed.z.len());
            let is_over = self.quota.bytes < self.bytes + self.staged_bytes + n_bytes as u64;
            if row.packed.is_some() && is_over {
                row.packed = None;
                row.withheld = Some(WithheldReason::Quota);
                self.tally.over_quota += 1;
            }
            if row.content && row.withheld.is_some() {
                self.tally.withheld += 1;
            }
            let n_bytes = row.packed.as_ref().map_or(0, |packed| packed.z.len());
            self.held_bytes += n_bytes;
            self.staged_bytes += n_bytes as u64;
            self.held.insert(row.url.clone(), row);
        }
        let tuning = self.store.options.tuning;
        let is_much = tuning.held < self.held.len() || tuning.held_bytes < self.held_bytes;
        if is_much || (self.is_spilled && tuning.batch <= self.held.len()) {
            self.spill(tuning.batch)?;
        }
        Ok(())
    }

    /// Writes the rows in memory to the file, in batches that readers do not see.
    fn spill(&mut self, batch: usize) -> Result<(), StorageError> {
        while !self.held.is_empty() {
            let mut writer = self.store.writer()?;
            let transaction = writer.begin()?;
            if !lease::holds(&transaction, &self.lease)? {
                self.standing = StagingStatus::Lost;
                return Err(StorageError::Busy);
            }
            // Split off the rows after the first `batch` rows, in the order of their keys.
            let rest = self.held.keys().nth(batch).cloned();
            let rest = rest.map_or_else(BTreeMap::new, |key| self.held.split_off(&key));
            let rows = std::mem::replace(&mut self.held, rest);
            put(&transaction, self.run, &rows)?;
            transaction.commit()?;
            self.is_spilled = true;
        }
        self.held_bytes = 0;
        Ok(())
    }

    /// Converts a storage error; returns [`StageError::Lost`] if the lease was lost.
    fn explain(&self, error: StorageError) -> StageError {
        if self.standing == StagingStatus::Lost {
            StageError::Lost
        } else {
            StageError::Storage(error)
        }
    }
}

impl Staging for SqliteStaging<'_> {
    fn add(&mut self, item: &StagedPage<'_>) -> Result<(), StageError> {
        self.tally.lines += 1;
        let found = self.lookup(item.key)?;
        let is_new = self.keys.insert(self.hasher.hash_one(item.key));
        if !is_new {
            let is_superseded = self.is_superseded(item, found.as_ref());
            if is_superseded.map_err(|error| self.explain(error))? {
                return Ok(());
            }
        }
        if let Some((page, _)) = found {
            self.seen.set(page);
        }
        let known = found.map(|(_, known)| known);
        let StagedPage { modified, digest, withheld, .. } = *item;
        let is_verified = self.source == PageSource::Scp;
        let coming = IncomingVersion { modified, digest, withheld, is_verified };
        let fate = decide::decide(self.mode, known.as_ref(), coming);
        if fate.is_nothing() {
            self.tally.kept += 1;
            if let Some((page, known)) = found
                && known.digest != item.digest
            {
                self.behind.insert(page, item.modified);
            }
            return Ok(());
        }
        // Pages of a snapshot may replace all stored pages; pages of other stagings are added to
        // the stored ones.
        let n_pages = match self.mode {
            StagingMode::Snapshot => self.tally.added + self.tally.changed + self.tally.kept,
            StagingMode::Delta | StagingMode::Visit => self.pages,
        };
        if known.is_none() && self.quota.pages <= n_pages {
            return Err(StageError::Quota { most: self.quota.pages });
        }
        self.count(item.key, known.as_ref(), item.digest, fate.content, true);
        let line = (fate.content && item.withheld.is_none()).then(|| item.line.to_owned());
        self.fresh_bytes += line.as_ref().map_or(0, String::len);
        self.fresh.push(StagedRow {
            url: item.key.to_owned(),
            page: found.map(|(page, _)| page),
            content: fate.content,
            modified: item.modified,
            digest: item.digest,
            title: item.title.to_owned(),
            language: item.language.to_owned(),
            withheld: item.withheld,
            line,
            packed: None,
        });
        self.send_if_full().map_err(|error| self.explain(error))
    }

    fn remove(&mut self, key: &str, cause: RemovalCause) -> Result<(), StageError> {
        self.removed.entry(key.to_owned()).or_insert(cause);
        Ok(())
    }

    fn unfollow(&mut self, section: &str) -> Result<(), StageError> {
        if section != self.name {
            self.unfollowed.push(section.to_owned());
        }
        Ok(())
    }

    fn preview(&mut self, claim: Option<&ClaimedState>) -> Result<CommitSummary, StageError> {
        let ahead = self.look_ahead(claim.is_some());
        ahead.map(|(outlook, _)| outlook).map_err(|error| self.explain(error))
    }

    fn commit(mut self: Box<Self>, finish: &CommitOptions) -> Result<CommitSummary, CommitError> {
        let ahead = self.look_ahead(finish.claim.is_some());
        let (outlook, leaving) = ahead.map_err(|error| {
            if self.standing == StagingStatus::Lost {
                CommitError::Lost
            } else {
                CommitError::Storage(error)
            }
        })?;
        decide::verify_claim(&outlook, finish)?;
        let pages = self.pages.saturating_sub(outlook.removed);
        decide::check_quota(&outlook, pages, self.quota)?;
        let held = self.held_back()?;
        let allowed = finish.mass_deletion;
        let guard = decide::check_deletions(&outlook, self.mode, self.generated, held, allowed);
        if guard == DeletionCheck::HeldBack {
            let mut writer = self.store.writer()?;
            let transaction = writer.begin()?;
            if lease::holds(&transaction, &self.lease)? {
                let publisher = self.lease.publisher;
                let sections = [&self.name].into_iter().chain(&self.unfollowed);
                flip::hold_back(&transaction, publisher, sections, self.generated, finish)?;
                transaction.commit()?;
            }
            let (deleted, pages) = (outlook.removed, outlook.before);
            return Err(CommitError::MassDeletion { deleted, pages });
        }
        let held_rows = std::mem::take(&mut self.held);
        let mut writer = self.store.writer()?;
        // Committed collections must survive a power failure.
        writer.pragma_update(None, "synchronous", "full")?;
        let done = (|| {
            let transaction = writer.begin()?;
            if !lease::holds(&transaction, &self.lease)? {
                return Err(CommitError::Lost);
            }
            put(&transaction, self.run, &held_rows)?;
            let flip = flip::FlipInput {
                publisher: self.lease.publisher.0,
                run: self.run,
                section: self.section.as_ref(),
                name: &self.name,
                mode: self.mode,
                generated: self.generated,
                source: self.source,
                now: self.now,
                staged_bytes: self.staged_bytes,
                leaving: &leaving,
                unfollowed: &self.unfollowed,
                outlook: &outlook,
                finish,
            };
            flip::flip(&transaction, &flip)?;
            Ok(transaction.commit()?)
        })();
        // The data is committed, so an error of resetting the pragma is ignored.
        drop(writer.pragma_update(None, "synchronous", "normal"));
        drop(writer);
        done?;
        self.standing = StagingStatus::Committed;
        Ok(outlook)
    }
}

impl Drop for SqliteStaging<'_> {
    fn drop(&mut self) {
        if self.standing == StagingStatus::Committed {
            return;
        }
        // If deleting the run fails, the next lease or the next opening of the file deletes it.
        let undo = || -> Result<(), StorageError> {
            let mut writer = self.store.writer()?;
            let transaction = writer.begin()?;
            if lease::holds(&transaction, &self.lease)? {
                lease::drop_run(&transaction, self.lease.publisher.0)?;
            }
            Ok(transaction.commit()?)
        };
        drop(undo());
    }
}
