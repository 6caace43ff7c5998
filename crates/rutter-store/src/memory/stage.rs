//! Staging of a replica in memory.
//!
//! The staging keeps its pages until the commit. The commit applies them to a copy of the
//! publisher's data and then replaces the data with the copy.

use std::collections::{BTreeMap, BTreeSet};

use rutter_page::{LineDigest, Timestamp};
use rutter_scp::SectionState;

use super::{MemoryStore, PageData, PublisherData, SectionData, SectionMembership};
use crate::decide::{self, DeletionCheck, IncomingVersion, StoredVersion};
use crate::error::{CommitError, StageError};
use crate::model::{
    ChangeKind, ClaimedState, CommitOptions, CommitSummary, DownloadRecord, Lease, PageRow,
    PageSource, Quota, RemovalCause, Section, StagedPage, StagingMode, StagingOptions, Tombstone,
    WithheldReason,
};
use crate::store::Staging;

/// A staged page with owned data.
#[derive(Debug, Clone)]
struct OwnedStagedPage {
    modified: Timestamp,
    digest: LineDigest,
    title: String,
    language: String,
    line: String,
    withheld: Option<WithheldReason>,
}

/// A staging in memory.
// More than 12 fields: the parameters of a staging, and the changes so far.
pub(super) struct MemoryStaging<'s> {
    store: &'s MemoryStore,
    lease: Lease,
    name: String,
    mode: StagingMode,
    generated: Timestamp,
    source: PageSource,
    quota: Quota,
    now: Timestamp,
    lines: u64,
    /// Number of staged pages that the publisher did not have.
    n_new: u64,
    staged: BTreeMap<String, OwnedStagedPage>,
    removed: BTreeMap<String, RemovalCause>,
    unfollowed: Vec<String>,
}

impl<'s> MemoryStaging<'s> {
    pub(super) fn new(store: &'s MemoryStore, lease: &Lease, begin: StagingOptions<'_>) -> Self {
        Self {
            store,
            lease: lease.clone(),
            name: begin.section.to_owned(),
            mode: begin.mode,
            generated: begin.generated,
            source: begin.source,
            quota: begin.quota,
            now: begin.now,
            lines: 0,
            n_new: 0,
            staged: BTreeMap::new(),
            removed: BTreeMap::new(),
            unfollowed: Vec::new(),
        }
    }

    /// Applies the staged changes to `data`, a copy of the publisher's data. Returns the copy, the
    /// expected result of the commit, and the changes for the history.
    fn apply(
        &self,
        mut data: PublisherData,
        is_state_named: bool,
    ) -> (PublisherData, CommitSummary, Vec<(ChangeKind, PageRow)>) {
        let mut outlook = CommitSummary { lines: self.lines, ..CommitSummary::default() };
        let mut events = Vec::new();
        let part = data.parts.entry(self.name.clone()).or_insert_with(|| self.empty());
        outlook.before = part.section.pages;
        let mut members = std::mem::take(&mut part.members);
        let left = self.unfollowed.iter().filter_map(|name| data.parts.get(name));
        let left = left.flat_map(|part| part.members.keys());
        let left: BTreeSet<_> = left.filter(|url| !members.contains_key(*url)).collect();
        outlook.before += left.len() as u64;
        let by_delta = (self.mode == StagingMode::Delta).then_some(self.generated);
        let mut n_bytes = data.publisher.bytes;
        for (url, staged) in &self.staged {
            if self.removed.contains_key(url) {
                continue;
            }
            let before = data.pages.get(url);
            let known = before.map(|PageData { row, .. }| StoredVersion {
                modified: row.modified,
                digest: row.digest,
                withheld: row.withheld,
                is_verified: row.source == PageSource::Scp,
                delivered: members.get(url).map(|member| member.delivered),
            });
            let OwnedStagedPage { modified, digest, withheld, .. } = *staged;
            let is_verified = self.source == PageSource::Scp;
            let coming = IncomingVersion { modified, digest, withheld, is_verified };
            let fate = decide::decide(self.mode, known.as_ref(), coming);
            if fate.content {
                outlook.added += u64::from(known.is_none());
                outlook.changed += u64::from(known.is_some());
                let mut withheld = withheld;
                let size = staged.line.len() as u64;
                let is_over = self.quota.bytes < n_bytes + size;
                if withheld.is_none() && is_over {
                    withheld = Some(WithheldReason::Quota);
                    outlook.over_quota += 1;
                }
                n_bytes += if withheld.is_none() { size } else { 0 };
                outlook.withheld += u64::from(withheld.is_some());
                let row = PageRow {
                    publisher: self.lease.publisher,
                    url: url.clone(),
                    modified,
                    digest,
                    title: staged.title.clone(),
                    language: staged.language.clone(),
                    source: self.source,
                    withheld,
                    first_seen: before.map_or(self.now, |before| before.row.first_seen),
                    changed: self.now,
                };
                let was_shown = before.is_some_and(|before| before.line.is_some());
                match (was_shown, withheld.is_none()) {
                    (false, true) => events.push((ChangeKind::Added, row.clone())),
                    (true, true) => events.push((ChangeKind::Changed, row.clone())),
                    (true, false) => events.push((ChangeKind::Withheld, row.clone())),
                    (false, false) => {}
                }
                let line = withheld.is_none().then(|| staged.line.clone());
                data.pages.insert(url.clone(), PageData { row, line });
                data.tombstones.remove(url);
            } else {
                outlook.kept += 1;
            }
            if !fate.is_nothing() {
                members.insert(url.clone(), SectionMembership { by_delta, delivered: digest });
            }
        }
        self.remove_leaving(&mut data, members, is_state_named, &mut outlook, &mut events);
        data.update_totals();
        (data, outlook, events)
    }

    /// Removes pages from the section, and deletes pages that are no longer in any section.
    fn remove_leaving(
        &self,
        data: &mut PublisherData,
        mut members: BTreeMap<String, SectionMembership>,
        is_state_named: bool,
        outlook: &mut CommitSummary,
        events: &mut Vec<(ChangeKind, PageRow)>,
    ) {
        let leaving: BTreeMap<String, RemovalCause> = members
            .iter()
            .filter_map(|(url, member)| {
                let named = self.removed.get(url).copied();
                let is_absent = self.mode == StagingMode::Snapshot
                    && !self.staged.contains_key(url)
                    && decide::is_deleted_by_snapshot(
                        self.generated,
                        member.by_delta,
                        is_state_named,
                    );
                let cause = named.or(is_absent.then_some(RemovalCause::Absent))?;
                Some((url.clone(), cause))
            })
            .collect();
        members.retain(|url, _| !leaving.contains_key(url));
        outlook.removed = leaving.len() as u64;
        outlook.after = members.len() as u64;
        for (url, member) in &members {
            outlook.state.add(url, member.delivered);
        }
        if let Some(part) = data.parts.get_mut(&self.name) {
            part.members = members;
        }
        let mut leaving = leaving;
        let parts = self.unfollowed.iter().filter_map(|name| data.parts.remove(name));
        let left: BTreeSet<String> = parts.flat_map(|part| part.members.into_keys()).collect();
        for url in left {
            let stays = data.parts.values().any(|part| part.members.contains_key(&url));
            if !stays && !leaving.contains_key(&url) {
                outlook.removed += 1;
                leaving.insert(url, RemovalCause::Unfollowed);
            }
        }
        for (url, cause) in leaving {
            if data.parts.values().any(|part| part.members.contains_key(&url)) {
                continue;
            }
            let Some(PageData { row, line }) = data.pages.remove(&url) else { continue };
            let PageRow { publisher, modified, .. } = row;
            let at = self.now;
            data.tombstones.insert(url.clone(), Tombstone { publisher, url, at, cause, modified });
            if line.is_some() {
                events.push((ChangeKind::Removed, row));
            }
        }
    }

    fn empty(&self) -> SectionData {
        let section = Section {
            name: self.name.clone(),
            state: SectionState::EMPTY,
            is_proved: false,
            mark: self.generated,
            snapshot_at: None,
            deltas_since: 0,
            pages: 0,
            held: None,
        };
        SectionData { section, members: BTreeMap::new() }
    }

    fn current(&self) -> Option<PublisherData> {
        self.store.lock().data(&self.lease).cloned()
    }
}

impl Staging for MemoryStaging<'_> {
    fn add(&mut self, item: &StagedPage<'_>) -> Result<(), StageError> {
        self.lines += 1;
        // Of two lines for one page, the one with the later `modified` is used; if both are equal,
        // the first (D30).
        if self.staged.get(item.key).is_some_and(|before| item.modified <= before.modified) {
            return Ok(());
        }
        if !self.staged.contains_key(item.key) {
            let mut inner = self.store.lock();
            let data = inner.data(&self.lease).ok_or(StageError::Lost)?;
            let is_new = !data.pages.contains_key(item.key);
            let n_pages = match self.mode {
                StagingMode::Snapshot => self.staged.len() as u64,
                StagingMode::Delta | StagingMode::Visit => data.pages.len() as u64 + self.n_new,
            };
            if is_new && self.quota.pages <= n_pages {
                return Err(StageError::Quota { most: self.quota.pages });
            }
            self.n_new += u64::from(is_new);
        }
        let staged = OwnedStagedPage {
            modified: item.modified,
            digest: item.digest,
            title: item.title.to_owned(),
            language: item.language.to_owned(),
            line: item.line.to_owned(),
            withheld: item.withheld,
        };
        self.staged.insert(item.key.to_owned(), staged);
        Ok(())
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
        let data = self.current().ok_or(StageError::Lost)?;
        Ok(self.apply(data, claim.is_some()).1)
    }

    fn commit(self: Box<Self>, finish: &CommitOptions) -> Result<CommitSummary, CommitError> {
        let data = self.current().ok_or(CommitError::Lost)?;
        let section = |name: &String| data.parts.get(name).map(|part| &part.section);
        let held = decide::held_back_since(
            section(&self.name),
            self.unfollowed.iter().filter_map(section),
        );
        let (mut data, outlook, events) = self.apply(data, finish.claim.is_some());
        decide::verify_claim(&outlook, finish)?;
        decide::check_quota(&outlook, data.pages.len() as u64, self.quota)?;
        let mut inner = self.store.lock();
        let guard = decide::check_deletions(
            &outlook,
            self.mode,
            self.generated,
            held,
            finish.mass_deletion,
        );
        if guard == DeletionCheck::HeldBack {
            let now = inner.data(&self.lease).ok_or(CommitError::Lost)?;
            for name in self.unfollowed.iter().chain([&self.name]) {
                if let Some(part) = now.parts.get_mut(name) {
                    part.section.held.get_or_insert(self.generated);
                }
            }
            let taken = finish.taken.iter().cloned();
            now.taken
                .extend(taken.map(|taken| DownloadRecord { outcome: "held back".into(), ..taken }));
            let (deleted, pages) = (outlook.removed, outlook.before);
            return Err(CommitError::MassDeletion { deleted, pages });
        }
        if let Some(part) = data.parts.get_mut(&self.name) {
            let section = &mut part.section;
            section.state = outlook.state;
            section.is_proved = finish.claim.is_some();
            section.pages = outlook.after;
            match self.mode {
                StagingMode::Snapshot => {
                    section.mark = self.generated;
                    section.snapshot_at = Some(self.generated);
                    section.deltas_since = 0;
                    section.held = None;
                }
                StagingMode::Delta => {
                    if finish.mass_deletion == rutter_scp::MassDeletionPolicy::Allowed {
                        section.held = None;
                    }
                    section.mark = section.mark.max(self.generated);
                    section.deltas_since += 1;
                }
                StagingMode::Visit if section.snapshot_at.is_some() => {}
                StagingMode::Visit => section.mark = section.mark.max(self.generated),
            }
        }
        data.taken.extend(finish.taken.clone());
        *inner.data(&self.lease).ok_or(CommitError::Lost)? = data;
        for (kind, row) in &events {
            inner.event(self.now, *kind, row);
        }
        if let Some(validator) = &finish.validator {
            let entry = (self.lease.publisher, validator.clone());
            inner.validators.insert(validator.url.clone(), entry);
        }
        Ok(outlook)
    }
}

impl Drop for MemoryStaging<'_> {
    fn drop(&mut self) {
        if let Some(data) = self.store.lock().data(&self.lease) {
            data.is_staging = false;
        }
    }
}
