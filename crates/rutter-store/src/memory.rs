//! A replica without a file, for tests and for short visits.
//!
//! It is also the plainest reading of the contract: everything is worked out
//! at commit, from maps, under one lock.

mod records;
mod stage;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rutter_arc::{Consent, Entry};
use rutter_page::{LineDigest, PageUrl, Timestamp};
use rutter_scp::{State, merge};
use rutter_spxi::Entity;

use crate::error::{DamagedPage, LeaseError, PageLine, QueryError, StageError, WriteError};
use crate::model::{
    After, ArcRow, Begin, Census, Change, ChangeKind, Changes, Cursor, Depth, Found, Happened,
    History, Indexed, Lease, Mode, PageRow, PageTotals, Publisher, PublisherId, Section, Selection,
    Taken, Tombstone, Validator, Withheld,
};
use crate::records::{Forgotten, VisitRecord};
use crate::sqlite::{origin_of, search_in};
use crate::store::{Staging, Store};
use crate::words::Query;
use stage::MemoryStaging;

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
    visit: Option<VisitRecord>,
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
    forgotten: BTreeMap<String, Forgotten>,
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

    fn search_among(
        &self,
        publisher: Option<PublisherId>,
        query: &Query,
        most: usize,
    ) -> Result<Found, QueryError> {
        let inner = self.lock();
        let indexed = inner.indexed.iter();
        let wanted = indexed.filter(|(id, _)| publisher.is_none_or(|publisher| publisher == *id));
        let found = wanted.filter_map(|(publisher, url)| {
            let kept = inner.houses.get(publisher)?.pages.get(url)?;
            Some((kept.row.clone(), kept.line.clone()?))
        });
        Ok(search_in(&mut { found }, query, most)?)
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
        if !kind.is_upsert() {
            // The ARC snapshot that was made from the page is content.
            self.validators.remove(&format!("snapshot:{}", row.url));
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
        let mut all = inner.houses.values().map(|house| &house.publisher);
        Ok(all.find(|publisher| publisher.origin == origin).cloned())
    }

    fn sections(&self, publisher: PublisherId) -> Result<Vec<Section>, QueryError> {
        let inner = self.lock();
        let parts = inner.houses.get(&publisher).into_iter().flat_map(|house| house.parts.values());
        Ok(parts.map(|part| part.section.clone()).collect())
    }

    fn sections_of(&self, publisher: PublisherId, key: &str) -> Result<Vec<String>, QueryError> {
        let inner = self.lock();
        let parts = inner.houses.get(&publisher).into_iter().flat_map(|house| house.parts.values());
        let having = parts.filter(|part| part.members.contains_key(key));
        Ok(having.map(|part| part.section.name.clone()).collect())
    }

    fn page(&self, key: &str) -> Result<Option<PageRow>, QueryError> {
        Ok(self.lock().find(key).map(|kept| kept.row.clone()))
    }

    fn line(&self, key: &str) -> Result<Option<String>, QueryError> {
        Ok(self.lock().find(key).and_then(|kept| kept.line.clone()))
    }

    fn rows(
        &self,
        selection: &Selection<'_>,
        after: Option<After<'_>>,
        most: usize,
    ) -> Result<Vec<Result<PageRow, DamagedPage>>, QueryError> {
        let inner = self.lock();
        let pages = inner.select(selection, after, most);
        Ok(pages.into_iter().map(|kept| Ok(kept.row.clone())).collect())
    }

    fn lines(
        &self,
        selection: &Selection<'_>,
        after: Option<After<'_>>,
        most: usize,
    ) -> Result<Vec<PageLine>, QueryError> {
        let inner = self.lock();
        let selection = Selection { with_withheld: false, ..*selection };
        let pages = inner.select(&selection, after, most).into_iter();
        Ok(pages.filter_map(|kept| Some(Ok((kept.row.clone(), kept.line.clone()?)))).collect())
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

    fn tombstone(&self, key: &str) -> Result<Option<Tombstone>, QueryError> {
        let inner = self.lock();
        let key = PageUrl::parse(key).map_or_else(|_| key.to_owned(), |url| url.key().to_owned());
        let origin = origin_of(&key);
        let own = inner.houses.values().find(|house| house.publisher.origin == origin);
        let own = own.and_then(|house| house.tombstones.get(&key));
        let any = || inner.houses.values().find_map(|house| house.tombstones.get(&key));
        Ok(own.or_else(any).cloned())
    }

    fn census(&self, publisher: PublisherId) -> Result<Vec<Census>, QueryError> {
        let inner = self.lock();
        let mut counts: BTreeMap<_, u64> = BTreeMap::new();
        for kept in inner.houses.get(&publisher).into_iter().flat_map(|house| house.pages.values())
        {
            let Kept { row, .. } = kept;
            let words = (row.source.word(), row.withheld.map(Withheld::word));
            *counts.entry((words, row.source, row.withheld)).or_default() += 1;
        }
        let counts = counts.into_iter();
        Ok(counts
            .map(|((_, source, withheld), pages)| Census { source, withheld, pages })
            .collect())
    }

    fn page_totals(&self, publisher: PublisherId) -> Result<Option<PageTotals>, QueryError> {
        let inner = self.lock();
        let totals = inner.houses.get(&publisher).map(|house| PageTotals {
            pages: house.pages.len() as u64,
            withheld: house.pages.values().filter(|it| it.row.withheld.is_some()).count() as u64,
        });
        Ok(totals)
    }

    fn changes_since(&self, cursor: Option<Cursor>, most: usize) -> Result<Changes, QueryError> {
        let inner = self.lock();
        if cursor.is_some_and(|cursor| cursor.store != Self::ID) {
            return Err(QueryError::ForeignCursor);
        }
        if let Some(Cursor { seq, .. }) = cursor.filter(|cursor| inner.seq < cursor.seq) {
            return Err(QueryError::CursorAhead { seq, end: inner.seq });
        }
        let seq = cursor.map_or(0, |cursor| cursor.seq);
        if seq < inner.pruned {
            return Err(QueryError::ExpiredCursor);
        }
        let behind = inner.changes.iter().filter(|change| seq < change.seq);
        let has_more = most < behind.clone().count();
        let mut events: Vec<Change> = behind.take(most).cloned().collect();
        let seq = events.last().map_or(seq, |last| last.seq);
        events.retain(|event| event.kind != ChangeKind::Erased);
        let next = Cursor { store: Self::ID, seq };
        Ok(Changes { events, next, has_more, damaged: Vec::new() })
    }

    fn happened_since(
        &self,
        publisher: PublisherId,
        cursor: Cursor,
    ) -> Result<Happened, QueryError> {
        let inner = self.lock();
        let is_meant = |it: &&Change| cursor.seq < it.seq && it.publisher == publisher;
        let mut happened = Happened::default();
        for change in inner.changes.iter().filter(is_meant) {
            happened.count(change.kind, 1);
        }
        Ok(happened)
    }

    fn cursor(&self) -> Result<Cursor, QueryError> {
        Ok(Cursor { store: Self::ID, seq: self.lock().seq })
    }

    fn history(&self) -> Result<History, QueryError> {
        let inner = self.lock();
        let oldest = inner.changes.first().map(|change| change.at);
        let events = inner.seq - inner.pruned;
        Ok(History { oldest, events, cursor: Cursor { store: Self::ID, seq: inner.seq } })
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

    fn arc_closed(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<String>, QueryError> {
        let inner = self.lock();
        let arc = inner.houses.get(&publisher).into_iter().flat_map(|house| house.arc.values());
        let behind = arc.filter(|row| after.is_none_or(|after| after < row.url.as_str()));
        let closed = behind.filter(|row| !row.is_allowed);
        Ok(closed.take(most).map(|row| row.url.clone()).collect())
    }

    fn entities(&self, publisher: PublisherId) -> Result<Vec<Entity>, QueryError> {
        let inner = self.lock();
        Ok(inner.houses.get(&publisher).map_or_else(Vec::new, |house| house.entities.clone()))
    }

    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError> {
        Ok(self.lock().validators.get(url).map(|(_, validator)| validator.clone()))
    }

    fn marks(
        &self,
        publisher: PublisherId,
        word: &str,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<Result<Validator, DamagedPage>>, QueryError> {
        let inner = self.lock();
        let start = format!("{word}:{}", after.unwrap_or_default());
        let behind =
            inner.validators.range::<str, _>((Bound::Excluded(start.as_str()), Bound::Unbounded));
        let marks = behind
            .take_while(|(url, _)| url.strip_prefix(word).is_some_and(|it| it.starts_with(':')))
            .filter(|(_, (of, _))| *of == publisher);
        Ok(marks.take(most).map(|(_, (_, validator))| Ok(validator.clone())).collect())
    }

    fn taken(&self, publisher: PublisherId, most: usize) -> Result<Vec<Taken>, QueryError> {
        let inner = self.lock();
        let all = inner.houses.get(&publisher).into_iter().flat_map(|it| it.taken.iter().rev());
        Ok(all.take(most).cloned().collect())
    }

    fn search(&self, query: &Query, most: usize) -> Result<Found, QueryError> {
        self.search_among(None, query, most)
    }

    fn search_of(
        &self,
        publisher: PublisherId,
        query: &Query,
        most: usize,
    ) -> Result<Found, QueryError> {
        self.search_among(Some(publisher), query, most)
    }

    fn unindexed(&self) -> Result<Option<u64>, QueryError> {
        let inner = self.lock();
        Ok((inner.index_cursor != 0).then_some(inner.seq - inner.index_cursor))
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
        let has_aliases = !aliases.is_empty();
        let aliases = aliases.iter().map(|alias| (*alias).to_owned()).collect();
        let known = inner.houses.values_mut().find(|house| house.publisher.origin == origin);
        if let Some(house) = known {
            if has_aliases {
                house.publisher.aliases = aliases;
            }
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
            visit: None,
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
        Ok(Box::new(MemoryStaging::new(self, lease, begin)))
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

    fn drop_marks(&self, lease: &Lease, marks: &[String]) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.quiet(lease)?;
        for mark in marks {
            let is_theirs = |(of, _): &(PublisherId, Validator)| *of == lease.publisher;
            if inner.validators.get(mark).is_some_and(is_theirs) {
                inner.validators.remove(mark);
            }
        }
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
        Ok(Indexed { pages: taken.len() as u64, is_current, damaged: Vec::new() })
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
        let Inner { houses, validators, .. } = &mut *inner;
        validators.retain(|url, (publisher, validator)| {
            // A mark has a word and a colon before its address.
            let mark = url.split_once(':').map_or("", |(_, key)| key);
            let key = if url.starts_with("http") { url } else { mark };
            let is_here = houses.get(publisher).is_some_and(|house| house.pages.contains_key(key));
            oldest <= validator.checked || is_here
        });
        Ok(())
    }
}
