//! Pages on their way into a replica in memory: kept until the commit, played
//! through on a copy of the publisher, and put in its place.

use std::collections::{BTreeMap, BTreeSet};

use rutter_page::{LineDigest, Timestamp};
use rutter_scp::State;

use super::{House, Kept, Member, MemoryStore, Part};
use crate::decide::{self, Coming, Guard, Known};
use crate::error::{CommitError, StageError};
use crate::model::{
    Begin, Cause, ChangeKind, Claim, Finish, Item, Lease, Mode, Outlook, PageRow, Quota, Section,
    Source, Taken, Tombstone, Withheld,
};
use crate::store::Staging;

/// A page that was staged.
#[derive(Debug, Clone)]
struct Staged {
    modified: Timestamp,
    digest: LineDigest,
    title: String,
    language: String,
    line: String,
    withheld: Option<Withheld>,
}

/// A staging in memory.
pub(super) struct MemoryStaging<'s> {
    store: &'s MemoryStore,
    lease: Lease,
    name: String,
    mode: Mode,
    generated: Timestamp,
    source: Source,
    quota: Quota,
    now: Timestamp,
    lines: u64,
    /// Staged pages that are not here.
    n_new: u64,
    staged: BTreeMap<String, Staged>,
    removed: BTreeMap<String, Cause>,
    unfollowed: Vec<String>,
}

impl<'s> MemoryStaging<'s> {
    pub(super) fn new(store: &'s MemoryStore, lease: &Lease, begin: Begin<'_>) -> Self {
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

    /// What the publisher would be after a commit, with the events on the way.
    fn play(
        &self,
        mut house: House,
        is_state_named: bool,
    ) -> (House, Outlook, Vec<(ChangeKind, PageRow)>) {
        let mut outlook = Outlook { lines: self.lines, ..Outlook::default() };
        let mut events = Vec::new();
        let part = house.parts.entry(self.name.clone()).or_insert_with(|| self.empty());
        outlook.before = part.section.pages;
        let mut members = std::mem::take(&mut part.members);
        let left = self.unfollowed.iter().filter_map(|name| house.parts.get(name));
        let left = left.flat_map(|part| part.members.keys());
        let left: BTreeSet<_> = left.filter(|url| !members.contains_key(*url)).collect();
        outlook.before += left.len() as u64;
        let by_delta = (self.mode == Mode::Delta).then_some(self.generated);
        let mut n_bytes = house.publisher.bytes;
        for (url, staged) in &self.staged {
            if self.removed.contains_key(url) {
                continue;
            }
            let before = house.pages.get(url);
            let known = before.map(|Kept { row, .. }| Known {
                modified: row.modified,
                digest: row.digest,
                withheld: row.withheld,
                is_verified: row.source == Source::Scp,
                delivered: members.get(url).map(|member| member.delivered),
            });
            let Staged { modified, digest, withheld, .. } = *staged;
            let is_verified = self.source == Source::Scp;
            let coming = Coming { modified, digest, withheld, is_verified };
            let fate = decide::decide(self.mode, known.as_ref(), coming);
            if fate.content {
                outlook.added += u64::from(known.is_none());
                outlook.changed += u64::from(known.is_some());
                let mut withheld = withheld;
                let size = staged.line.len() as u64;
                let is_over = self.quota.bytes < n_bytes + size;
                if withheld.is_none() && is_over {
                    withheld = Some(Withheld::Quota);
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
                house.pages.insert(url.clone(), Kept { row, line });
                house.tombstones.remove(url);
            } else {
                outlook.kept += 1;
            }
            if !fate.is_nothing() {
                members.insert(url.clone(), Member { by_delta, delivered: digest });
            }
        }
        self.let_go(&mut house, members, is_state_named, &mut outlook, &mut events);
        house.weigh();
        (house, outlook, events)
    }

    /// Takes out what leaves the section, and what no section has any more.
    fn let_go(
        &self,
        house: &mut House,
        mut members: BTreeMap<String, Member>,
        is_state_named: bool,
        outlook: &mut Outlook,
        events: &mut Vec<(ChangeKind, PageRow)>,
    ) {
        let leaving: BTreeMap<String, Cause> = members
            .iter()
            .filter_map(|(url, member)| {
                let named = self.removed.get(url).copied();
                let is_absent = self.mode == Mode::Snapshot
                    && !self.staged.contains_key(url)
                    && decide::goes(self.generated, member.by_delta, is_state_named);
                let cause = named.or(is_absent.then_some(Cause::Absent))?;
                Some((url.clone(), cause))
            })
            .collect();
        members.retain(|url, _| !leaving.contains_key(url));
        outlook.removed = leaving.len() as u64;
        outlook.after = members.len() as u64;
        for (url, member) in &members {
            outlook.state.add(url, member.delivered);
        }
        if let Some(part) = house.parts.get_mut(&self.name) {
            part.members = members;
        }
        let mut leaving = leaving;
        let parts = self.unfollowed.iter().filter_map(|name| house.parts.remove(name));
        let left: BTreeSet<String> = parts.flat_map(|part| part.members.into_keys()).collect();
        for url in left {
            let stays = house.parts.values().any(|part| part.members.contains_key(&url));
            if !stays && !leaving.contains_key(&url) {
                outlook.removed += 1;
                leaving.insert(url, Cause::Unfollowed);
            }
        }
        for (url, cause) in leaving {
            if house.parts.values().any(|part| part.members.contains_key(&url)) {
                continue;
            }
            let Some(Kept { row, line }) = house.pages.remove(&url) else { continue };
            let PageRow { publisher, modified, .. } = row;
            let at = self.now;
            house.tombstones.insert(url.clone(), Tombstone { publisher, url, at, cause, modified });
            if line.is_some() {
                events.push((ChangeKind::Removed, row));
            }
        }
    }

    fn empty(&self) -> Part {
        let section = Section {
            name: self.name.clone(),
            state: State::EMPTY,
            is_proved: false,
            mark: self.generated,
            snapshot_at: None,
            deltas_since: 0,
            pages: 0,
            held: None,
        };
        Part { section, members: BTreeMap::new() }
    }

    fn current(&self) -> Option<House> {
        self.store.lock().house(&self.lease).cloned()
    }
}

impl Staging for MemoryStaging<'_> {
    fn add(&mut self, item: &Item<'_>) -> Result<(), StageError> {
        self.lines += 1;
        // The later one counts, then the first (D30).
        if self.staged.get(item.key).is_some_and(|before| item.modified <= before.modified) {
            return Ok(());
        }
        if !self.staged.contains_key(item.key) {
            let mut inner = self.store.lock();
            let house = inner.house(&self.lease).ok_or(StageError::Lost)?;
            let is_new = !house.pages.contains_key(item.key);
            let n_pages = match self.mode {
                Mode::Snapshot => self.staged.len() as u64,
                Mode::Delta | Mode::Visit => house.pages.len() as u64 + self.n_new,
            };
            if is_new && self.quota.pages <= n_pages {
                return Err(StageError::Quota { most: self.quota.pages });
            }
            self.n_new += u64::from(is_new);
        }
        let staged = Staged {
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

    fn remove(&mut self, key: &str, cause: Cause) -> Result<(), StageError> {
        self.removed.entry(key.to_owned()).or_insert(cause);
        Ok(())
    }

    fn unfollow(&mut self, section: &str) -> Result<(), StageError> {
        if section != self.name {
            self.unfollowed.push(section.to_owned());
        }
        Ok(())
    }

    fn outlook(&mut self, claim: Option<&Claim>) -> Result<Outlook, StageError> {
        let house = self.current().ok_or(StageError::Lost)?;
        Ok(self.play(house, claim.is_some()).1)
    }

    fn commit(self: Box<Self>, finish: &Finish) -> Result<Outlook, CommitError> {
        let house = self.current().ok_or(CommitError::Lost)?;
        let section = |name: &String| house.parts.get(name).map(|part| &part.section);
        let held = decide::held(section(&self.name), self.unfollowed.iter().filter_map(section));
        let (mut house, outlook, events) = self.play(house, finish.claim.is_some());
        decide::prove(&outlook, finish)?;
        decide::fits(&outlook, house.pages.len() as u64, self.quota)?;
        let mut inner = self.store.lock();
        let guard = decide::guard(&outlook, self.mode, self.generated, held, finish.mass_deletion);
        if guard == Guard::HeldBack {
            let now = inner.house(&self.lease).ok_or(CommitError::Lost)?;
            for name in self.unfollowed.iter().chain([&self.name]) {
                if let Some(part) = now.parts.get_mut(name) {
                    part.section.held.get_or_insert(self.generated);
                }
            }
            let taken = finish.taken.iter().cloned();
            now.taken.extend(taken.map(|taken| Taken { outcome: "held back".into(), ..taken }));
            let (deleted, pages) = (outlook.removed, outlook.before);
            return Err(CommitError::MassDeletion { deleted, pages });
        }
        if let Some(part) = house.parts.get_mut(&self.name) {
            let section = &mut part.section;
            section.state = outlook.state;
            section.is_proved = finish.claim.is_some();
            section.pages = outlook.after;
            match self.mode {
                Mode::Snapshot => {
                    section.mark = self.generated;
                    section.snapshot_at = Some(self.generated);
                    section.deltas_since = 0;
                    section.held = None;
                }
                Mode::Delta => {
                    if finish.mass_deletion == rutter_scp::MassDeletion::Allowed {
                        section.held = None;
                    }
                    section.mark = section.mark.max(self.generated);
                    section.deltas_since += 1;
                }
                Mode::Visit if section.snapshot_at.is_some() => {}
                Mode::Visit => section.mark = section.mark.max(self.generated),
            }
        }
        house.taken.extend(finish.taken.clone());
        *inner.house(&self.lease).ok_or(CommitError::Lost)? = house;
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
        if let Some(house) = self.store.lock().house(&self.lease) {
            house.is_staging = false;
        }
    }
}
