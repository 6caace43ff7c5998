//! Computes the expected result of a staging before its commit.

use std::collections::HashSet;

use rutter_page::Timestamp;
use rutter_scp::SectionState;

use super::super::columns::{digest, time};
use super::super::rows::{PageIdSet, RemovedPage};
use super::super::sites;
use super::SqliteStaging;
use crate::decide::{self, StoredVersion};
use crate::error::StorageError;
use crate::model::{CommitSummary, RemovalCause, Section, StagingMode};

/// Numbers of pages in the sections that the staging stops to follow.
#[derive(Debug, Clone, Copy, Default)]
struct UnfollowedPages {
    /// Number of their pages that are not in the staged section.
    only_there: u64,
    /// Number of their pages that will be in no section after the commit.
    lost: u64,
}

impl SqliteStaging<'_> {
    /// Returns the expected result of the commit, and the pages that it removes from the section.
    pub(super) fn look_ahead(
        &mut self,
        is_state_named: bool,
    ) -> Result<(CommitSummary, Vec<RemovedPage>), StorageError> {
        self.finish_pending()?;
        let mut leaving = Vec::new();
        let mut n_kept_and_removed = 0;
        for (key, cause) in std::mem::take(&mut self.changes.removed) {
            let found = self.lookup(&key)?;
            // A page that is both staged and removed is removed (D95).
            let is_staged = self.buffer.held.contains_key(&key) || self.spilled(&key)?.is_some();
            if is_staged {
                self.unstage(&key, found.as_ref().map(|(_, known)| known))?;
            }
            if let Some((page, _)) = found {
                if is_staged {
                    self.added.seen.clear(page);
                }
                n_kept_and_removed += u64::from(self.added.seen.has(page));
            }
            if let Some((page, StoredVersion { delivered: Some(_), .. })) = found {
                leaving.push(RemovedPage { page, cause });
            }
            self.changes.removed.insert(key, cause);
        }
        if let (StagingMode::Snapshot, Some((section, _))) = (self.options.mode, &self.section) {
            let named: HashSet<i64> = leaving.iter().map(|leaving| leaving.page).collect();
            let mut statement = self
                .reader
                .prepare_cached("SELECT page, by_delta FROM member WHERE section = ?1")?;
            let mut rows = statement.query([section])?;
            while let Some(row) = rows.next()? {
                let page: i64 = row.get(0)?;
                if self.added.seen.has(page) || named.contains(&page) {
                    continue;
                }
                let by_delta: Option<String> = row.get(1)?;
                let by_delta = by_delta.map(|text| time(&text)).transpose()?;
                if decide::is_deleted_by_snapshot(self.options.generated, by_delta, is_state_named)
                {
                    leaving.push(RemovedPage { page, cause: RemovalCause::Absent });
                }
            }
        }
        let mut outlook = self.changes.tally;
        outlook.kept = outlook.kept.saturating_sub(n_kept_and_removed);
        outlook.removed = leaving.len() as u64;
        outlook.after = outlook.before + self.changes.joined - outlook.removed;
        let before =
            self.section.as_ref().map_or(SectionState::EMPTY, |(_, section)| section.state);
        outlook.state = before.plus(self.changes.state);
        let section = self.section.as_ref().map_or(0, |(id, _)| *id);
        let mut statement = self.reader.prepare_cached(
            "SELECT p.url, coalesce(m.digest, p.digest) FROM member m JOIN page p ON p.id = m.page
             WHERE m.section = ?1 AND m.page = ?2",
        )?;
        for RemovedPage { page, .. } in &leaving {
            let (url, bytes): (String, Vec<u8>) =
                statement.query_row([section, *page], |row| Ok((row.get(0)?, row.get(1)?)))?;
            outlook.state.remove(&url, digest(&bytes)?);
        }
        let unfollowed = self.unfollowed_pages(&leaving)?;
        outlook.before += unfollowed.only_there;
        outlook.removed += unfollowed.lost;
        Ok((outlook, leaving))
    }

    /// Counts the pages in the sections that the staging stops to follow.
    fn unfollowed_pages(&self, leaving: &[RemovedPage]) -> Result<UnfollowedPages, StorageError> {
        let mut counted = UnfollowedPages::default();
        if self.changes.unfollowed.is_empty() {
            return Ok(counted);
        }
        let own = self.section.as_ref().map(|(id, _)| *id);
        let sections = sites::sections(&self.reader, self.lease.publisher)?;
        let is_left = |section: &Section| self.changes.unfollowed.contains(&section.name);
        let left = sections.iter().filter(|(_, section)| is_left(section));
        let left: HashSet<i64> = left.map(|(id, _)| *id).collect();
        let leaving: HashSet<i64> = leaving.iter().map(|leaving| leaving.page).collect();
        let mut pages = self.reader.prepare_cached("SELECT page FROM member WHERE section = ?1")?;
        let mut homes = self.reader.prepare_cached("SELECT section FROM member WHERE page = ?1")?;
        let mut looked_at = PageIdSet::default();
        for (section, _) in sections.iter().filter(|(_, section)| is_left(section)) {
            let mut rows = pages.query([section])?;
            while let Some(row) = rows.next()? {
                let page: i64 = row.get(0)?;
                if looked_at.has(page) {
                    continue;
                }
                looked_at.set(page);
                let homes: Vec<i64> =
                    homes.query_map([page], |row| row.get(0))?.collect::<Result<_, _>>()?;
                let is_own = homes.iter().any(|home| own == Some(*home));
                counted.only_there += u64::from(!is_own);
                // `look_ahead` already counts the pages that leave the staged section.
                let stays =
                    self.added.seen.has(page) || homes.iter().any(|home| !left.contains(home));
                counted.lost += u64::from(!stays && !leaving.contains(&page));
            }
        }
        Ok(counted)
    }

    /// Returns `generated` of the collection that is held back and that this staging could confirm.
    pub(super) fn held_back(&self) -> Result<Option<Timestamp>, StorageError> {
        let own = self.section.as_ref().map(|(_, section)| section);
        if self.changes.unfollowed.is_empty() {
            return Ok(decide::held_back_since(own, []));
        }
        let sections = sites::sections(&self.reader, self.lease.publisher)?;
        let left = sections.iter().map(|(_, section)| section);
        Ok(decide::held_back_since(
            own,
            left.filter(|section| self.changes.unfollowed.contains(&section.name)),
        ))
    }
}
