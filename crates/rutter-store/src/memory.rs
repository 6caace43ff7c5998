//! A replica without a file, for tests and for short visits.
//!
//! It is also the plainest reading of the contract: everything is worked out
//! at commit, from maps, under one lock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rutter_arc::{Consent, Entry};
use rutter_page::{LineDigest, PageUrl, Timestamp};
use rutter_scp::{State, merge};
use rutter_spxi::Entity;

use crate::decide::{self, Coming, Guard, Known};
use crate::error::{CommitError, LeaseError, QueryError, StageError, WriteError};
use crate::model::{
    After, ArcRow, Begin, Cause, Change, ChangeKind, Changes, Cursor, Depth, Finish, Hit, Indexed,
    Item, Lease, Mode, Outlook, PageRow, Publisher, PublisherId, Quota, Section, Selection, Source,
    Taken, Tombstone, Validator, Withheld,
};
use crate::sqlite::{origin_of, search_in};
use crate::store::{Staging, Store};
use crate::words::Query;

/// A page and the line it has, if it may be shown.
#[derive(Debug, Clone)]
struct Kept {
    row: PageRow,
    line: Option<String>,
}

/// What a section knows of a page.
#[derive(Debug, Clone, Copy)]
struct Member {
    by_delta: Option<Timestamp>,
    delivered: LineDigest,
}

#[derive(Debug, Clone)]
struct Part {
    section: Section,
    members: BTreeMap<String, Member>,
}

/// Everything of one publisher.
#[derive(Debug, Clone)]
struct House {
    publisher: Publisher,
    epoch: u64,
    is_leased: bool,
    is_staging: bool,
    pages: BTreeMap<String, Kept>,
    parts: BTreeMap<String, Part>,
    tombstones: BTreeMap<String, Tombstone>,
    taken: Vec<Taken>,
    arc: BTreeMap<String, ArcRow>,
    entities: Vec<Entity>,
}

#[derive(Debug, Default)]
struct Inner {
    last_publisher: i64,
    houses: BTreeMap<PublisherId, House>,
    changes: Vec<Change>,
    seq: u64,
    pruned: u64,
    validators: BTreeMap<String, (PublisherId, Validator)>,
    /// Pages that may be found, and where in the history that was.
    indexed: BTreeSet<(PublisherId, String)>,
    index_cursor: u64,
}

/// A replica in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    inner: Mutex<Inner>,
}

impl MemoryStore {
    /// An empty replica.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is one of these in a process that matters.
    const ID: u64 = 0x6d65_6d6f_7279;
}

impl Inner {
    fn house(&mut self, lease: &Lease) -> Option<&mut House> {
        let house = self.houses.get_mut(&lease.publisher)?;
        (house.is_leased && house.epoch == lease.epoch).then_some(house)
    }

    /// The same, where nothing is being staged.
    fn quiet(&mut self, lease: &Lease) -> Result<&mut House, WriteError> {
        let house = self.house(lease).ok_or(WriteError::Lost)?;
        if house.is_staging { Err(WriteError::Staging) } else { Ok(house) }
    }

    fn event(&mut self, at: Timestamp, kind: ChangeKind, row: &PageRow) {
        self.seq += 1;
        if kind != ChangeKind::Added {
            self.indexed.remove(&(row.publisher, row.url.clone()));
        }
        self.changes.push(Change {
            seq: self.seq,
            at,
            publisher: row.publisher,
            kind,
            url: row.url.clone(),
            modified: row.modified,
            digest: row.digest,
        });
    }

    fn find(&self, key: &str) -> Option<&Kept> {
        let key = PageUrl::parse(key).map_or_else(|_| key.to_owned(), |url| url.key().to_owned());
        let origin = origin_of(&key);
        let own = self.houses.values().find(|house| house.publisher.origin == origin);
        let own = own.and_then(|house| house.pages.get(&key));
        own.or_else(|| self.houses.values().find_map(|house| house.pages.get(&key)))
    }

    fn select(
        &self,
        selection: &Selection<'_>,
        after: Option<After<'_>>,
        most: usize,
    ) -> Vec<&Kept> {
        let is_behind = |row: &PageRow| {
            after.is_none_or(|after| (after.publisher, after.url) < (row.publisher, &row.url))
        };
        let houses = self.houses.values().filter(|house| {
            selection.publisher.is_none_or(|publisher| house.publisher.id == publisher)
        });
        let pages = houses.flat_map(|house| {
            let part = selection.section.map(|name| house.parts.get(name));
            house.pages.values().filter(move |kept| {
                part.is_none_or(|part| {
                    part.is_some_and(|part| part.members.contains_key(&kept.row.url))
                })
            })
        });
        let pages = pages.filter(|kept| selection.with_withheld || kept.line.is_some());
        pages.filter(|kept| is_behind(&kept.row)).take(most).collect()
    }
}

impl House {
    fn weigh(&mut self) {
        self.publisher.pages = self.pages.len() as u64;
        let lines = self.pages.values().filter_map(|kept| kept.line.as_ref());
        self.publisher.bytes = lines.map(|line| line.len() as u64).sum();
    }
}

impl Store for MemoryStore {
    fn publishers(&self) -> Result<Vec<Publisher>, QueryError> {
        Ok(self.lock().houses.values().map(|house| house.publisher.clone()).collect())
    }

    fn publisher(&self, origin: &str) -> Result<Option<Publisher>, QueryError> {
        let inner = self.lock();
        let all = || inner.houses.values().map(|house| &house.publisher);
        let own = all().find(|publisher| publisher.origin == origin);
        let alias = || all().find(|publisher| publisher.aliases.iter().any(|it| it == origin));
        Ok(own.or_else(alias).cloned())
    }

    fn sections(&self, publisher: PublisherId) -> Result<Vec<Section>, QueryError> {
        let inner = self.lock();
        let parts = inner.houses.get(&publisher).into_iter().flat_map(|house| house.parts.values());
        Ok(parts.map(|part| part.section.clone()).collect())
    }

    fn page(&self, key: &str) -> Result<Option<PageRow>, QueryError> {
        Ok(self.lock().find(key).map(|kept| kept.row.clone()))
    }

    fn line(&self, key: &str) -> Result<Option<String>, QueryError> {
        Ok(self.lock().find(key).and_then(|kept| kept.line.clone()))
    }

    fn list(
        &self,
        selection: &Selection<'_>,
        after: Option<After<'_>>,
        most: usize,
    ) -> Result<Vec<PageRow>, QueryError> {
        let inner = self.lock();
        let pages = inner.select(selection, after, most);
        Ok(pages.into_iter().map(|kept| kept.row.clone()).collect())
    }

    fn lines(
        &self,
        selection: &Selection<'_>,
        after: Option<After<'_>>,
        most: usize,
    ) -> Result<Vec<(PageRow, String)>, QueryError> {
        let inner = self.lock();
        let selection = Selection { with_withheld: false, ..*selection };
        let pages = inner.select(&selection, after, most).into_iter();
        Ok(pages.filter_map(|kept| Some((kept.row.clone(), kept.line.clone()?))).collect())
    }

    fn tombstones(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Tombstone>, QueryError> {
        let inner = self.lock();
        let all = inner.houses.get(&publisher).into_iter().flat_map(|it| it.tombstones.values());
        let behind = all.filter(|it| after.is_none_or(|after| after < it.url.as_str()));
        Ok(behind.take(most).cloned().collect())
    }

    fn changes_since(&self, cursor: Option<Cursor>, most: usize) -> Result<Changes, QueryError> {
        let inner = self.lock();
        let is_foreign = |cursor: Cursor| cursor.store != Self::ID || inner.seq < cursor.seq;
        if cursor.is_some_and(is_foreign) {
            return Err(QueryError::ForeignCursor);
        }
        let seq = cursor.map_or(0, |cursor| cursor.seq);
        if seq < inner.pruned {
            return Err(QueryError::ExpiredCursor);
        }
        let behind = inner.changes.iter().filter(|change| seq < change.seq);
        let has_more = most < behind.clone().count();
        let events: Vec<Change> = behind.take(most).cloned().collect();
        let seq = events.last().map_or(seq, |last| last.seq);
        Ok(Changes { events, next: Cursor { store: Self::ID, seq }, has_more })
    }

    fn cursor(&self) -> Result<Cursor, QueryError> {
        Ok(Cursor { store: Self::ID, seq: self.lock().seq })
    }

    fn arc_entry(&self, key: &str) -> Result<Option<ArcRow>, QueryError> {
        let inner = self.lock();
        let origin = origin_of(key);
        let own = inner.houses.values().find(|house| house.publisher.origin == origin);
        let own = own.and_then(|house| house.arc.get(key));
        let any = || inner.houses.values().find_map(|house| house.arc.get(key));
        Ok(own.or_else(any).cloned())
    }

    fn arc_entries(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<ArcRow>, QueryError> {
        let inner = self.lock();
        let all = inner.houses.get(&publisher).into_iter().flat_map(|house| house.arc.values());
        let behind = all.filter(|row| after.is_none_or(|after| after < row.url.as_str()));
        Ok(behind.take(most).cloned().collect())
    }

    fn entities(&self, publisher: PublisherId) -> Result<Vec<Entity>, QueryError> {
        let inner = self.lock();
        Ok(inner.houses.get(&publisher).map_or_else(Vec::new, |house| house.entities.clone()))
    }

    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError> {
        Ok(self.lock().validators.get(url).map(|(_, validator)| validator.clone()))
    }

    fn taken(&self, publisher: PublisherId, most: usize) -> Result<Vec<Taken>, QueryError> {
        let inner = self.lock();
        let all = inner.houses.get(&publisher).into_iter().flat_map(|it| it.taken.iter().rev());
        Ok(all.take(most).cloned().collect())
    }

    fn search(&self, query: &Query, most: usize) -> Result<Vec<Hit>, QueryError> {
        let inner = self.lock();
        let found = inner.indexed.iter().filter_map(|(publisher, url)| {
            let kept = inner.houses.get(publisher)?.pages.get(url)?;
            Some((kept.row.clone(), kept.line.clone()?))
        });
        Ok(search_in(&mut { found }, query, most)?)
    }

    fn check(&self, _: Depth) -> Result<Vec<String>, QueryError> {
        let inner = self.lock();
        let mut faults = Vec::new();
        for house in inner.houses.values() {
            for Part { section, members } in house.parts.values() {
                let mut state = State::EMPTY;
                for (url, member) in members {
                    state.add(url, member.delivered);
                    if !house.pages.contains_key(url) {
                        faults.push(format!("membership of a page that is not there: {url}"));
                    }
                }
                if state != section.state || members.len() as u64 != section.pages {
                    faults.push(format!("section is not what it says: {}", section.name));
                }
            }
            for kept in house.pages.values() {
                let Kept { row, line } = kept;
                let is_right =
                    line.as_ref().is_none_or(|it| LineDigest::of(it.as_bytes()) == row.digest);
                if !is_right || line.is_some() == row.withheld.is_some() {
                    faults.push(format!("{}: the body is not what it should be", row.url));
                }
            }
        }
        Ok(faults)
    }

    fn register(
        &self,
        origin: &str,
        aliases: &[&str],
        policy: &str,
    ) -> Result<PublisherId, WriteError> {
        let mut inner = self.lock();
        let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
        let known = inner.houses.values_mut().find(|house| house.publisher.origin == origin);
        if let Some(house) = known {
            house.publisher.aliases = aliases;
            policy.clone_into(&mut house.publisher.policy);
            return Ok(house.publisher.id);
        }
        inner.last_publisher += 1;
        let id = PublisherId(inner.last_publisher);
        let publisher = Publisher {
            id,
            origin: origin.to_owned(),
            aliases,
            policy: policy.to_owned(),
            paused_until: None,
            pages: 0,
            bytes: 0,
            lease: None,
        };
        let house = House {
            publisher,
            epoch: 0,
            is_leased: false,
            is_staging: false,
            pages: BTreeMap::new(),
            parts: BTreeMap::new(),
            tombstones: BTreeMap::new(),
            taken: Vec::new(),
            arc: BTreeMap::new(),
            entities: Vec::new(),
        };
        inner.houses.insert(id, house);
        Ok(id)
    }

    fn lease(
        &self,
        publisher: PublisherId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Lease, LeaseError> {
        let mut inner = self.lock();
        let house = inner.houses.get_mut(&publisher).ok_or(LeaseError::Unknown)?;
        if let Some((holder, until)) =
            house.publisher.lease.clone().filter(|(_, until)| now < *until)
        {
            return Err(LeaseError::Held { holder, until });
        }
        house.publisher.lease = Some((format!("process {}", std::process::id()), until));
        (house.is_leased, house.is_staging) = (true, false);
        house.epoch += 1;
        Ok(Lease { publisher, epoch: house.epoch })
    }

    fn renew(&self, lease: &Lease, until: Timestamp) -> Result<(), LeaseError> {
        let mut inner = self.lock();
        let house = inner.house(lease).ok_or(LeaseError::Lost)?;
        if let Some((_, end)) = &mut house.publisher.lease {
            *end = until;
        }
        Ok(())
    }

    fn release(&self, lease: Lease) -> Result<(), LeaseError> {
        if let Some(house) = self.lock().house(&lease) {
            house.is_leased = false;
            house.publisher.lease = None;
        }
        Ok(())
    }

    fn stage<'s>(
        &'s self,
        lease: &Lease,
        begin: Begin<'_>,
    ) -> Result<Box<dyn Staging + 's>, StageError> {
        let mut inner = self.lock();
        let house = inner.house(lease).ok_or(StageError::Lost)?;
        if house.is_staging {
            return Err(StageError::Staging);
        }
        let newest = house.parts.get(begin.section).and_then(|part| part.section.snapshot_at);
        if let (Mode::Snapshot, true, Some(newest)) =
            (begin.mode, merge::is_replay(begin.generated, newest), newest)
        {
            return Err(StageError::Replay { generated: begin.generated, newest });
        }
        house.is_staging = true;
        Ok(Box::new(MemoryStaging {
            store: self,
            lease: lease.clone(),
            name: begin.section.to_owned(),
            mode: begin.mode,
            generated: begin.generated,
            source: begin.source,
            quota: begin.quota,
            now: begin.now,
            lines: 0,
            staged: BTreeMap::new(),
            removed: BTreeMap::new(),
            unfollowed: Vec::new(),
        }))
    }

    fn withhold(
        &self,
        lease: &Lease,
        pages: &[(&str, Withheld)],
        now: Timestamp,
    ) -> Result<u64, WriteError> {
        let mut inner = self.lock();
        let house = inner.quiet(lease)?;
        let mut rows = Vec::new();
        for (url, reason) in pages {
            let Some(kept) = house.pages.get_mut(*url) else { continue };
            if kept.line.take().is_some() {
                (kept.row.withheld, kept.row.changed) = (Some(*reason), now);
                rows.push(kept.row.clone());
            }
        }
        house.weigh();
        for row in &rows {
            inner.event(now, ChangeKind::Withheld, row);
        }
        Ok(rows.len() as u64)
    }

    fn replace_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = Entry<'_>>,
    ) -> Result<(), WriteError> {
        self.lock().quiet(lease)?.arc.clear();
        self.merge_arc(lease, entries)
    }

    fn merge_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = Entry<'_>>,
    ) -> Result<(), WriteError> {
        let mut inner = self.lock();
        let house = inner.quiet(lease)?;
        for entry in entries {
            let url = entry.url.key().to_owned();
            if entry.removed {
                house.arc.remove(&url);
                continue;
            }
            let is_allowed = entry.consent() == Consent::Given;
            let row = ArcRow {
                publisher: lease.publisher,
                url: url.clone(),
                is_allowed,
                json: entry.to_json(),
            };
            house.arc.insert(url, row);
        }
        Ok(())
    }

    fn replace_entities(&self, lease: &Lease, entities: &[Entity]) -> Result<(), WriteError> {
        self.lock().quiet(lease)?.entities = entities.to_vec();
        Ok(())
    }

    fn remember(&self, lease: &Lease, validator: &Validator) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.quiet(lease)?;
        let entry = (lease.publisher, validator.clone());
        inner.validators.insert(validator.url.clone(), entry);
        Ok(())
    }

    fn note(&self, lease: &Lease, taken: &Taken) -> Result<(), WriteError> {
        self.lock().quiet(lease)?.taken.push(taken.clone());
        Ok(())
    }

    fn pause(&self, lease: &Lease, until: Option<Timestamp>) -> Result<(), WriteError> {
        self.lock().quiet(lease)?.publisher.paused_until = until;
        Ok(())
    }

    fn forget(&self, lease: Lease, now: Timestamp) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.quiet(&lease)?;
        let Some(house) = inner.houses.remove(&lease.publisher) else { return Ok(()) };
        for kept in house.pages.values().filter(|kept| kept.line.is_some()) {
            inner.event(now, ChangeKind::Removed, &kept.row);
        }
        inner.validators.retain(|_, (publisher, _)| *publisher != lease.publisher);
        Ok(())
    }

    fn index(&self, most: u64) -> Result<Indexed, WriteError> {
        let mut inner = self.lock();
        let cursor = inner.index_cursor;
        let behind = inner.changes.iter().filter(|change| cursor < change.seq);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let taken: Vec<Change> = behind.take(most).cloned().collect();
        for change in &taken {
            if change.kind.is_upsert() {
                inner.indexed.insert((change.publisher, change.url.clone()));
            }
            inner.index_cursor = change.seq;
        }
        let is_current = inner.index_cursor == inner.seq;
        Ok(Indexed { pages: taken.len() as u64, is_current })
    }

    fn maintain(&self, oldest: Timestamp) -> Result<(), WriteError> {
        let mut inner = self.lock();
        let young = inner.changes.iter().position(|change| oldest <= change.at);
        let n_old = young.unwrap_or(inner.changes.len());
        let old: Vec<Change> = inner.changes.drain(..n_old).collect();
        if let Some(last) = old.last() {
            inner.pruned = last.seq;
        }
        for house in inner.houses.values_mut() {
            house.tombstones.retain(|_, tombstone| oldest <= tombstone.at);
        }
        Ok(())
    }
}

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

struct MemoryStaging<'s> {
    store: &'s MemoryStore,
    lease: Lease,
    name: String,
    mode: Mode,
    generated: Timestamp,
    source: Source,
    quota: Quota,
    now: Timestamp,
    lines: u64,
    staged: BTreeMap<String, Staged>,
    removed: BTreeMap<String, Cause>,
    unfollowed: Vec<String>,
}

impl MemoryStaging<'_> {
    /// What the publisher would be after a commit, with the events on the way.
    fn play(
        &self,
        mut house: House,
        is_state_named: bool,
    ) -> (House, Outlook, Vec<(ChangeKind, PageRow)>) {
        let mut outlook = Outlook { lines: self.lines, ..Outlook::default() };
        let mut events = Vec::new();
        let part = house.parts.entry(self.name.clone()).or_insert_with(|| Part {
            section: Section {
                name: self.name.clone(),
                state: State::EMPTY,
                is_proved: false,
                mark: self.generated,
                snapshot_at: None,
                deltas_since: 0,
                pages: 0,
                held: None,
            },
            members: BTreeMap::new(),
        });
        outlook.before = part.section.pages;
        let mut members = std::mem::take(&mut part.members);
        let by_delta = (self.mode == Mode::Delta).then_some(self.generated);
        let mut n_pages = house.pages.len() as u64;
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
                delivered: members.get(url).map(|member| member.delivered),
            });
            let Staged { modified, digest, withheld, .. } = *staged;
            let fate =
                decide::decide(self.mode, known.as_ref(), Coming { modified, digest, withheld });
            if fate.content {
                outlook.added += u64::from(known.is_none());
                outlook.changed += u64::from(known.is_some());
                let mut withheld = withheld;
                let size = staged.line.len() as u64;
                n_pages += u64::from(known.is_none());
                let is_over = (known.is_none() && self.quota.pages < n_pages)
                    || self.quota.bytes < n_bytes + size;
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
        for part in self.unfollowed.iter().filter_map(|name| house.parts.remove(name)) {
            for url in part.members.into_keys() {
                leaving.entry(url).or_insert(Cause::Unfollowed);
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
        house.weigh();
        (house, outlook, events)
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

    fn outlook(&mut self, is_state_named: bool) -> Result<Outlook, StageError> {
        let house = self.current().ok_or(StageError::Lost)?;
        Ok(self.play(house, is_state_named).1)
    }

    fn commit(self: Box<Self>, finish: &Finish) -> Result<Outlook, CommitError> {
        let house = self.current().ok_or(CommitError::Lost)?;
        let before = house.parts.get(&self.name).map(|part| part.section.clone());
        let (mut house, outlook, events) = self.play(house, finish.claim.is_some());
        decide::prove(&outlook, finish)?;
        let held = before.as_ref().and_then(|section| section.held);
        let mut inner = self.store.lock();
        let guard = decide::guard(&outlook, self.mode, self.generated, held, finish.mass_deletion);
        if guard == Guard::HeldBack {
            let now = inner.house(&self.lease).ok_or(CommitError::Lost)?;
            if let Some(part) = now.parts.get_mut(&self.name) {
                part.section.held = held.or(Some(self.generated));
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
                    section.mark = section.mark.max(self.generated);
                    section.deltas_since += 1;
                }
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
