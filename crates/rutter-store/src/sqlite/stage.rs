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
mod buffer;
mod duplicates;
mod parts;

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use rusqlite::{OptionalExtension, params};
use rutter_page::LineDigest;
use rutter_scp::{SectionState, merge};
use tracing::debug;

use self::parts::{
    AddedPages, PublisherTotals, RowBuffer, StagedChanges, StagingDictionary, StagingParameters,
};
use super::body::{self};
use super::columns::{digest, time, word};
use super::connection::ReadConnection;
use super::rows::{StagedRow, put};
use super::{SqliteStore, flip, lease, sites};
use crate::decide::{self, DeletionCheck, IncomingVersion, StoredVersion};
use crate::error::{CommitError, StageError, StorageError};
use crate::model::{
    ClaimedState, CommitOptions, CommitSummary, Lease, PageSource, RemovalCause, Section,
    StagedPage, StagingMode, StagingOptions, WithheldReason,
};
use crate::store::Staging;

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
    options: StagingParameters,
    section: Option<(i64, Section)>,
    totals: PublisherTotals,
    added: AddedPages,
    buffer: RowBuffer,
    dictionary: StagingDictionary,
    changes: StagedChanges,
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
            options: StagingParameters {
                name: begin.section.to_owned(),
                mode: begin.mode,
                generated: begin.generated,
                source: begin.source,
                quota: begin.quota,
                now: begin.now,
            },
            section: None,
            totals: PublisherTotals::default(),
            added: AddedPages::default(),
            buffer: RowBuffer::default(),
            dictionary: StagingDictionary::default(),
            changes: StagedChanges {
                removed: BTreeMap::new(),
                unfollowed: Vec::new(),
                tally: CommitSummary::default(),
                joined: 0,
                state: SectionState::EMPTY,
            },
            standing: StagingStatus::Open,
        };
        // From here on, dropping `staging` deletes the run from the file.
        staging.load_section()?;
        Ok(staging)
    }

    fn load_section(&mut self) -> Result<(), StageError> {
        let publisher = self.lease.publisher;
        let sections = sites::sections(&self.reader, publisher)?;
        self.section = sections.into_iter().find(|(_, section)| section.name == self.options.name);
        if let Some((_, section)) = &self.section {
            if self.options.mode == StagingMode::Snapshot
                && merge::is_replay(self.options.generated, section.snapshot_at)
            {
                let newest = section.snapshot_at.unwrap_or(self.options.generated);
                return Err(StageError::Replay { generated: self.options.generated, newest });
            }
            self.changes.tally.before = section.pages;
        }
        (self.totals.pages, self.totals.bytes) = self.reader.query_row(
            "SELECT pages, bytes FROM publisher WHERE id = ?1",
            [publisher.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        self.totals.has_pages = 0 < self.totals.pages;
        self.dictionary.current = body::dictionary(&self.reader, publisher.0)?;
        self.dictionary.is_untrained = !body::has_own(&self.reader, publisher.0)?;
        Ok(())
    }

    fn lookup(&self, key: &str) -> Result<Option<(i64, StoredVersion)>, StorageError> {
        if !self.totals.has_pages {
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
                step(&mut self.changes.tally.added);
                step(&mut self.totals.pages);
            }
            (Some(_), true) => step(&mut self.changes.tally.changed),
            (Some(_), false) => step(&mut self.changes.tally.kept),
        }
        let delivered = known.and_then(|known| known.delivered);
        if delivered.is_none() {
            step(&mut self.changes.joined);
        }
        if is_in {
            if let Some(old) = delivered {
                self.changes.state.remove(key, old);
            }
            self.changes.state.add(key, digest);
        } else {
            self.changes.state.remove(key, digest);
            if let Some(old) = delivered {
                self.changes.state.add(key, old);
            }
        }
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
        self.changes.tally.lines += 1;
        let found = self.lookup(item.key)?;
        let is_new = self.added.keys.insert(self.added.hasher.hash_one(item.key));
        if !is_new {
            let is_superseded = self.is_superseded(item, found.as_ref());
            if is_superseded.map_err(|error| self.explain(error))? {
                return Ok(());
            }
        }
        if let Some((page, _)) = found {
            self.added.seen.set(page);
        }
        let known = found.map(|(_, known)| known);
        let StagedPage { modified, digest, withheld, .. } = *item;
        let is_verified = self.options.source == PageSource::Scp;
        let coming = IncomingVersion { modified, digest, withheld, is_verified };
        let fate = decide::decide(self.options.mode, known.as_ref(), coming);
        if fate.is_nothing() {
            self.changes.tally.kept += 1;
            if let Some((page, known)) = found
                && known.digest != item.digest
            {
                self.added.behind.insert(page, item.modified);
            }
            return Ok(());
        }
        // Pages of a snapshot may replace all stored pages; pages of other stagings are added to
        // the stored ones.
        let n_pages = match self.options.mode {
            StagingMode::Snapshot => {
                self.changes.tally.added + self.changes.tally.changed + self.changes.tally.kept
            }
            StagingMode::Delta | StagingMode::Visit => self.totals.pages,
        };
        if known.is_none() && self.options.quota.pages <= n_pages {
            return Err(StageError::Quota { most: self.options.quota.pages });
        }
        self.count(item.key, known.as_ref(), item.digest, fate.content, true);
        let line = (fate.content && item.withheld.is_none()).then(|| item.line.to_owned());
        self.buffer.fresh_bytes += line.as_ref().map_or(0, String::len);
        self.buffer.fresh.push(StagedRow {
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
        self.changes.removed.entry(key.to_owned()).or_insert(cause);
        Ok(())
    }

    fn unfollow(&mut self, section: &str) -> Result<(), StageError> {
        if section != self.options.name {
            self.changes.unfollowed.push(section.to_owned());
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
        let pages = self.totals.pages.saturating_sub(outlook.removed);
        decide::check_quota(&outlook, pages, self.options.quota)?;
        let held = self.held_back()?;
        let allowed = finish.mass_deletion;
        let guard = decide::check_deletions(
            &outlook,
            self.options.mode,
            self.options.generated,
            held,
            allowed,
        );
        if guard == DeletionCheck::HeldBack {
            let mut writer = self.store.writer()?;
            let transaction = writer.begin()?;
            if lease::holds(&transaction, &self.lease)? {
                let publisher = self.lease.publisher;
                let sections = [&self.options.name].into_iter().chain(&self.changes.unfollowed);
                flip::hold_back(&transaction, publisher, sections, self.options.generated, finish)?;
                transaction.commit()?;
            }
            let (deleted, pages) = (outlook.removed, outlook.before);
            return Err(CommitError::MassDeletion { deleted, pages });
        }
        let held_rows = std::mem::take(&mut self.buffer.held);
        let mut writer = self.store.writer()?;
        // Committed collections must survive a power failure.
        writer.pragma_update(None, "synchronous", "full")?;
        let done = (|| {
            let transaction = writer.begin()?;
            if !lease::holds(&transaction, &self.lease)? {
                return Err(CommitError::Lost);
            }
            put(&transaction, self.run, &held_rows)?;
            let flip = flip::CommitInput {
                publisher: self.lease.publisher.0,
                run: self.run,
                section: self.section.as_ref(),
                name: &self.options.name,
                mode: self.options.mode,
                generated: self.options.generated,
                source: self.options.source,
                now: self.options.now,
                staged_bytes: self.buffer.staged_bytes,
                leaving: &leaving,
                unfollowed: &self.changes.unfollowed,
                outlook: &outlook,
                finish,
            };
            flip::flip(&transaction, &flip)?;
            Ok(transaction.commit()?)
        })();
        // The data is committed, so an error of resetting the pragma is ignored.
        drop(writer.pragma_update(None, "synchronous", "normal"));
        drop(writer);
        debug!(
            section = %self.options.name,
            added = outlook.added,
            changed = outlook.changed,
            removed = outlook.removed,
            is_committed = done.is_ok(),
            "commit finished"
        );
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
