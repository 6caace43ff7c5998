//! A replica in memory, for tests and for syncs without a file.
//!
//! [`MemoryStore`] is also the reference implementation of [`Store`]: a commit computes its result
//! from maps, under one lock.

mod records;
mod stage;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rutter_arc::{ArcEntry, Consent};
use rutter_page::{LineDigest, PageUrl, Timestamp};
use rutter_scp::{SectionState, merge};
use rutter_spxi::Entity;

use crate::error::{DamagedPage, LeaseError, PageLine, QueryError, StageError, WriteError};
use crate::model::{
    ArcRow, Change, ChangeBatch, ChangeCounts, ChangeCursor, ChangeKind, CheckDepth,
    DownloadRecord, HistorySummary, IndexProgress, Lease, PageCount, PagePosition, PageRow,
    PageTotals, Publisher, PublisherId, SearchResults, Section, Selection, StagingMode,
    StagingOptions, Tombstone, Validator, WithheldReason,
};
use crate::records::{ErasedSite, VisitRecord};
use crate::sqlite::{origin_of, search_in};
use crate::store::{Staging, Store};
use crate::words::SearchQuery;
use stage::MemoryStaging;

/// The record of a page, and its line; the line is `None` if the page is withheld.
#[derive(Debug, Clone)]
struct PageData {
    row: PageRow,
    line: Option<String>,
}

/// The membership of a page in a section.
#[derive(Debug, Clone, Copy)]
struct Membership {
    by_delta: Option<Timestamp>,
    delivered: LineDigest,
}

#[derive(Debug, Clone)]
struct SectionData {
    section: Section,
    members: BTreeMap<String, Membership>,
}

/// All data of one publisher.
#[derive(Debug, Clone)]
struct PublisherData {
    publisher: Publisher,
    epoch: u64,
    is_leased: bool,
    is_staging: bool,
    pages: BTreeMap<String, PageData>,
    parts: BTreeMap<String, SectionData>,
    tombstones: BTreeMap<String, Tombstone>,
    taken: Vec<DownloadRecord>,
    arc: BTreeMap<String, ArcRow>,
    entities: Vec<Entity>,
    visit: Option<VisitRecord>,
}

#[derive(Debug, Default)]
struct MemoryState {
    last_publisher: i64,
    publishers: BTreeMap<PublisherId, PublisherData>,
    changes: Vec<Change>,
    seq: u64,
    pruned: u64,
    validators: BTreeMap<String, (PublisherId, Validator)>,
    /// Pages in the search index, and (`index_cursor`) the number of the last indexed event.
    indexed: BTreeSet<(PublisherId, String)>,
    index_cursor: u64,
    forgotten: BTreeMap<String, ErasedSite>,
}

/// A replica in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    inner: Mutex<MemoryState>,
}

impl MemoryStore {
    /// Creates an empty replica.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn search_among(
        &self,
        publisher: Option<PublisherId>,
        query: &SearchQuery,
        most: usize,
    ) -> Result<SearchResults, QueryError> {
        let inner = self.lock();
        let indexed = inner.indexed.iter();
        let wanted = indexed.filter(|(id, _)| publisher.is_none_or(|publisher| publisher == *id));
        let found = wanted.filter_map(|(publisher, url)| {
            let kept = inner.publishers.get(publisher)?.pages.get(url)?;
            Some((kept.row.clone(), kept.line.clone()?))
        });
        Ok(search_in(&mut { found }, query, most)?)
    }

    /// Identifier of every replica in memory; cursors contain it.
    const ID: u64 = 0x6d65_6d6f_7279;
}

impl MemoryState {
    fn data(&mut self, lease: &Lease) -> Option<&mut PublisherData> {
        let data = self.publishers.get_mut(&lease.publisher)?;
        (data.is_leased && data.epoch == lease.epoch).then_some(data)
    }

    /// Returns the data of the lease's publisher; an error if a staging of the publisher is open.
    fn idle_data(&mut self, lease: &Lease) -> Result<&mut PublisherData, WriteError> {
        let data = self.data(lease).ok_or(WriteError::Lost)?;
        if data.is_staging { Err(WriteError::Staging) } else { Ok(data) }
    }

    fn event(&mut self, at: Timestamp, kind: ChangeKind, row: &PageRow) {
        self.seq += 1;
        if kind != ChangeKind::Added {
            self.indexed.remove(&(row.publisher, row.url.clone()));
        }
        if !kind.is_upsert() {
            // The ARC snapshot of the page is content, so it is deleted together with the page's
            // content.
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

    fn find(&self, key: &str) -> Option<&PageData> {
        let key = PageUrl::parse(key).map_or_else(|_| key.to_owned(), |url| url.key().to_owned());
        let origin = origin_of(&key);
        let own = self.publishers.values().find(|data| data.publisher.origin == origin);
        let own = own.and_then(|data| data.pages.get(&key));
        own.or_else(|| self.publishers.values().find_map(|data| data.pages.get(&key)))
    }

    fn select(
        &self,
        selection: &Selection<'_>,
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Vec<&PageData> {
        let is_behind = |row: &PageRow| {
            after.is_none_or(|after| (after.publisher, after.url) < (row.publisher, &row.url))
        };
        let publishers = self.publishers.values().filter(|data| {
            selection.publisher.is_none_or(|publisher| data.publisher.id == publisher)
        });
        let pages = publishers.flat_map(|data| {
            let part = selection.section.map(|name| data.parts.get(name));
            data.pages.values().filter(move |kept| {
                part.is_none_or(|part| {
                    part.is_some_and(|part| part.members.contains_key(&kept.row.url))
                })
            })
        });
        let pages = pages.filter(|kept| selection.with_withheld || kept.line.is_some());
        pages.filter(|kept| is_behind(&kept.row)).take(most).collect()
    }
}

impl PublisherData {
    fn update_totals(&mut self) {
        self.publisher.pages = self.pages.len() as u64;
        let lines = self.pages.values().filter_map(|kept| kept.line.as_ref());
        self.publisher.bytes = lines.map(|line| line.len() as u64).sum();
    }
}

impl Store for MemoryStore {
    fn publishers(&self) -> Result<Vec<Publisher>, QueryError> {
        Ok(self.lock().publishers.values().map(|data| data.publisher.clone()).collect())
    }

    fn publisher(&self, origin: &str) -> Result<Option<Publisher>, QueryError> {
        let inner = self.lock();
        let mut all = inner.publishers.values().map(|data| &data.publisher);
        Ok(all.find(|publisher| publisher.origin == origin).cloned())
    }

    fn sections(&self, publisher: PublisherId) -> Result<Vec<Section>, QueryError> {
        let inner = self.lock();
        let parts =
            inner.publishers.get(&publisher).into_iter().flat_map(|data| data.parts.values());
        Ok(parts.map(|part| part.section.clone()).collect())
    }

    fn sections_of(&self, publisher: PublisherId, key: &str) -> Result<Vec<String>, QueryError> {
        let inner = self.lock();
        let parts =
            inner.publishers.get(&publisher).into_iter().flat_map(|data| data.parts.values());
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
        after: Option<PagePosition<'_>>,
        most: usize,
    ) -> Result<Vec<Result<PageRow, DamagedPage>>, QueryError> {
        let inner = self.lock();
        let pages = inner.select(selection, after, most);
        Ok(pages.into_iter().map(|kept| Ok(kept.row.clone())).collect())
    }

    fn lines(
        &self,
        selection: &Selection<'_>,
        after: Option<PagePosition<'_>>,
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
        let all =
            inner.publishers.get(&publisher).into_iter().flat_map(|it| it.tombstones.values());
        let behind = all.filter(|it| after.is_none_or(|after| after < it.url.as_str()));
        Ok(behind.take(most).cloned().collect())
    }

    fn tombstone(&self, key: &str) -> Result<Option<Tombstone>, QueryError> {
        let inner = self.lock();
        let key = PageUrl::parse(key).map_or_else(|_| key.to_owned(), |url| url.key().to_owned());
        let origin = origin_of(&key);
        let own = inner.publishers.values().find(|data| data.publisher.origin == origin);
        let own = own.and_then(|data| data.tombstones.get(&key));
        let any = || inner.publishers.values().find_map(|data| data.tombstones.get(&key));
        Ok(own.or_else(any).cloned())
    }

    fn page_counts(&self, publisher: PublisherId) -> Result<Vec<PageCount>, QueryError> {
        let inner = self.lock();
        let mut counts: BTreeMap<_, u64> = BTreeMap::new();
        for kept in
            inner.publishers.get(&publisher).into_iter().flat_map(|data| data.pages.values())
        {
            let PageData { row, .. } = kept;
            let words = (row.source.word(), row.withheld.map(WithheldReason::word));
            *counts.entry((words, row.source, row.withheld)).or_default() += 1;
        }
        let counts = counts.into_iter();
        Ok(counts
            .map(|((_, source, withheld), pages)| PageCount { source, withheld, pages })
            .collect())
    }

    fn page_totals(&self, publisher: PublisherId) -> Result<Option<PageTotals>, QueryError> {
        let inner = self.lock();
        let totals = inner.publishers.get(&publisher).map(|data| PageTotals {
            pages: data.pages.len() as u64,
            withheld: data.pages.values().filter(|it| it.row.withheld.is_some()).count() as u64,
        });
        Ok(totals)
    }

    fn changes_since(
        &self,
        cursor: Option<ChangeCursor>,
        most: usize,
    ) -> Result<ChangeBatch, QueryError> {
        let inner = self.lock();
        if cursor.is_some_and(|cursor| cursor.store != Self::ID) {
            return Err(QueryError::ForeignCursor);
        }
        if let Some(ChangeCursor { seq, .. }) = cursor.filter(|cursor| inner.seq < cursor.seq) {
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
        let next = ChangeCursor { store: Self::ID, seq };
        Ok(ChangeBatch { events, next, has_more, damaged: Vec::new() })
    }

    fn change_counts_since(
        &self,
        publisher: PublisherId,
        cursor: ChangeCursor,
    ) -> Result<ChangeCounts, QueryError> {
        let inner = self.lock();
        let is_meant = |it: &&Change| cursor.seq < it.seq && it.publisher == publisher;
        let mut happened = ChangeCounts::default();
        for change in inner.changes.iter().filter(is_meant) {
            happened.count(change.kind, 1);
        }
        Ok(happened)
    }

    fn cursor(&self) -> Result<ChangeCursor, QueryError> {
        Ok(ChangeCursor { store: Self::ID, seq: self.lock().seq })
    }

    fn history(&self) -> Result<HistorySummary, QueryError> {
        let inner = self.lock();
        let oldest = inner.changes.first().map(|change| change.at);
        let events = inner.seq - inner.pruned;
        Ok(HistorySummary {
            oldest,
            events,
            cursor: ChangeCursor { store: Self::ID, seq: inner.seq },
        })
    }

    fn arc_entry(&self, key: &str) -> Result<Option<ArcRow>, QueryError> {
        let inner = self.lock();
        let origin = origin_of(key);
        let own = inner.publishers.values().find(|data| data.publisher.origin == origin);
        let own = own.and_then(|data| data.arc.get(key));
        let any = || inner.publishers.values().find_map(|data| data.arc.get(key));
        Ok(own.or_else(any).cloned())
    }

    fn arc_entries(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<ArcRow>, QueryError> {
        let inner = self.lock();
        let all = inner.publishers.get(&publisher).into_iter().flat_map(|data| data.arc.values());
        let behind = all.filter(|row| after.is_none_or(|after| after < row.url.as_str()));
        Ok(behind.take(most).cloned().collect())
    }

    fn arc_forbidden(
        &self,
        publisher: PublisherId,
        after: Option<&str>,
        most: usize,
    ) -> Result<Vec<String>, QueryError> {
        let inner = self.lock();
        let arc = inner.publishers.get(&publisher).into_iter().flat_map(|data| data.arc.values());
        let behind = arc.filter(|row| after.is_none_or(|after| after < row.url.as_str()));
        let closed = behind.filter(|row| !row.is_allowed);
        Ok(closed.take(most).map(|row| row.url.clone()).collect())
    }

    fn entities(&self, publisher: PublisherId) -> Result<Vec<Entity>, QueryError> {
        let inner = self.lock();
        Ok(inner.publishers.get(&publisher).map_or_else(Vec::new, |data| data.entities.clone()))
    }

    fn validator(&self, url: &str) -> Result<Option<Validator>, QueryError> {
        Ok(self.lock().validators.get(url).map(|(_, validator)| validator.clone()))
    }

    fn url_notes(
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

    fn downloads(
        &self,
        publisher: PublisherId,
        most: usize,
    ) -> Result<Vec<DownloadRecord>, QueryError> {
        let inner = self.lock();
        let all = inner.publishers.get(&publisher).into_iter().flat_map(|it| it.taken.iter().rev());
        Ok(all.take(most).cloned().collect())
    }

    fn search(&self, query: &SearchQuery, most: usize) -> Result<SearchResults, QueryError> {
        self.search_among(None, query, most)
    }

    fn search_of(
        &self,
        publisher: PublisherId,
        query: &SearchQuery,
        most: usize,
    ) -> Result<SearchResults, QueryError> {
        self.search_among(Some(publisher), query, most)
    }

    fn unindexed(&self) -> Result<Option<u64>, QueryError> {
        let inner = self.lock();
        Ok((inner.index_cursor != 0).then_some(inner.seq - inner.index_cursor))
    }

    fn check(&self, _: CheckDepth) -> Result<Vec<String>, QueryError> {
        let inner = self.lock();
        let mut faults = Vec::new();
        for data in inner.publishers.values() {
            for SectionData { section, members } in data.parts.values() {
                let mut state = SectionState::EMPTY;
                for (url, member) in members {
                    state.add(url, member.delivered);
                    if !data.pages.contains_key(url) {
                        faults.push(format!("section member without a page: {url}"));
                    }
                }
                if state != section.state || members.len() as u64 != section.pages {
                    let name = &section.name;
                    faults.push(format!("section with a wrong state or number of pages: {name}"));
                }
            }
            for kept in data.pages.values() {
                let PageData { row, line } = kept;
                let is_right =
                    line.as_ref().is_none_or(|it| LineDigest::of(it.as_bytes()) == row.digest);
                if !is_right || line.is_some() == row.withheld.is_some() {
                    faults.push(format!("{}: the content does not match the record", row.url));
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
        let known = inner.publishers.values_mut().find(|data| data.publisher.origin == origin);
        if let Some(data) = known {
            if has_aliases {
                data.publisher.aliases = aliases;
            }
            policy.clone_into(&mut data.publisher.policy);
            return Ok(data.publisher.id);
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
        let data = PublisherData {
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
        inner.publishers.insert(id, data);
        Ok(id)
    }

    fn lease(
        &self,
        publisher: PublisherId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Lease, LeaseError> {
        let mut inner = self.lock();
        let data = inner.publishers.get_mut(&publisher).ok_or(LeaseError::Unknown)?;
        if let Some((holder, until)) =
            data.publisher.lease.clone().filter(|(_, until)| now < *until)
        {
            return Err(LeaseError::Held { holder, until });
        }
        data.publisher.lease = Some((format!("process {}", std::process::id()), until));
        (data.is_leased, data.is_staging) = (true, false);
        data.epoch += 1;
        Ok(Lease { publisher, epoch: data.epoch })
    }

    fn renew(&self, lease: &Lease, until: Timestamp) -> Result<(), LeaseError> {
        let mut inner = self.lock();
        let data = inner.data(lease).ok_or(LeaseError::Lost)?;
        if let Some((_, end)) = &mut data.publisher.lease {
            *end = until;
        }
        Ok(())
    }

    fn release(&self, lease: Lease) -> Result<(), LeaseError> {
        if let Some(data) = self.lock().data(&lease) {
            data.is_leased = false;
            data.publisher.lease = None;
        }
        Ok(())
    }

    fn stage<'s>(
        &'s self,
        lease: &Lease,
        begin: StagingOptions<'_>,
    ) -> Result<Box<dyn Staging + 's>, StageError> {
        let mut inner = self.lock();
        let data = inner.data(lease).ok_or(StageError::Lost)?;
        if data.is_staging {
            return Err(StageError::Staging);
        }
        let newest = data.parts.get(begin.section).and_then(|part| part.section.snapshot_at);
        if let (StagingMode::Snapshot, true, Some(newest)) =
            (begin.mode, merge::is_replay(begin.generated, newest), newest)
        {
            return Err(StageError::Replay { generated: begin.generated, newest });
        }
        data.is_staging = true;
        Ok(Box::new(MemoryStaging::new(self, lease, begin)))
    }

    fn withhold(
        &self,
        lease: &Lease,
        pages: &[(&str, WithheldReason)],
        now: Timestamp,
    ) -> Result<u64, WriteError> {
        let mut inner = self.lock();
        let data = inner.idle_data(lease)?;
        let mut rows = Vec::new();
        for (url, reason) in pages {
            let Some(kept) = data.pages.get_mut(*url) else { continue };
            if kept.line.take().is_some() {
                (kept.row.withheld, kept.row.changed) = (Some(*reason), now);
                rows.push(kept.row.clone());
            }
        }
        data.update_totals();
        for row in &rows {
            inner.event(now, ChangeKind::Withheld, row);
        }
        Ok(rows.len() as u64)
    }

    fn replace_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError> {
        self.lock().idle_data(lease)?.arc.clear();
        self.merge_arc(lease, entries)
    }

    fn merge_arc(
        &self,
        lease: &Lease,
        entries: &mut dyn Iterator<Item = ArcEntry<'_>>,
    ) -> Result<(), WriteError> {
        let mut inner = self.lock();
        let data = inner.idle_data(lease)?;
        for entry in entries {
            let url = entry.url.key().to_owned();
            if entry.removed {
                data.arc.remove(&url);
                continue;
            }
            let is_allowed = entry.consent() == Consent::Given;
            let row = ArcRow {
                publisher: lease.publisher,
                url: url.clone(),
                is_allowed,
                json: entry.to_json(),
            };
            data.arc.insert(url, row);
        }
        Ok(())
    }

    fn replace_entities(&self, lease: &Lease, entities: &[Entity]) -> Result<(), WriteError> {
        self.lock().idle_data(lease)?.entities = entities.to_vec();
        Ok(())
    }

    fn store_validator(&self, lease: &Lease, validator: &Validator) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.idle_data(lease)?;
        let entry = (lease.publisher, validator.clone());
        inner.validators.insert(validator.url.clone(), entry);
        Ok(())
    }

    fn delete_url_notes(&self, lease: &Lease, marks: &[String]) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.idle_data(lease)?;
        for mark in marks {
            let is_theirs = |(of, _): &(PublisherId, Validator)| *of == lease.publisher;
            if inner.validators.get(mark).is_some_and(is_theirs) {
                inner.validators.remove(mark);
            }
        }
        Ok(())
    }

    fn record_download(&self, lease: &Lease, taken: &DownloadRecord) -> Result<(), WriteError> {
        self.lock().idle_data(lease)?.taken.push(taken.clone());
        Ok(())
    }

    fn pause(&self, lease: &Lease, until: Option<Timestamp>) -> Result<(), WriteError> {
        self.lock().idle_data(lease)?.publisher.paused_until = until;
        Ok(())
    }

    fn forget(&self, lease: Lease, now: Timestamp) -> Result<(), WriteError> {
        let mut inner = self.lock();
        inner.idle_data(&lease)?;
        let Some(data) = inner.publishers.remove(&lease.publisher) else { return Ok(()) };
        for kept in data.pages.values().filter(|kept| kept.line.is_some()) {
            inner.event(now, ChangeKind::Removed, &kept.row);
        }
        inner.validators.retain(|_, (publisher, _)| *publisher != lease.publisher);
        Ok(())
    }

    fn index(&self, most: u64) -> Result<IndexProgress, WriteError> {
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
        Ok(IndexProgress { pages: taken.len() as u64, is_current, damaged: Vec::new() })
    }

    fn maintain(&self, oldest: Timestamp) -> Result<(), WriteError> {
        let mut inner = self.lock();
        let young = inner.changes.iter().position(|change| oldest <= change.at);
        let n_old = young.unwrap_or(inner.changes.len());
        let old: Vec<Change> = inner.changes.drain(..n_old).collect();
        if let Some(last) = old.last() {
            inner.pruned = last.seq;
        }
        for data in inner.publishers.values_mut() {
            data.tombstones.retain(|_, tombstone| oldest <= tombstone.at);
        }
        let MemoryState { publishers, validators, .. } = &mut *inner;
        validators.retain(|url, (publisher, validator)| {
            // The name of a URL note is a prefix, a colon and a URL.
            let mark = url.split_once(':').map_or("", |(_, key)| key);
            let key = if url.starts_with("http") { url } else { mark };
            let is_here =
                publishers.get(publisher).is_some_and(|data| data.pages.contains_key(key));
            oldest <= validator.checked || is_here
        });
        Ok(())
    }
}
