//! A replica in memory, for tests and for syncs without a file.
//!
//! [`MemoryStore`] is also the reference implementation of [`Store`]: a commit computes its result
//! from maps, under one lock.

mod history;
mod maintain;
mod pages;
mod records;
mod search;
mod sites;
mod stage;
mod sync_records;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rutter_page::{LineDigest, PageUrl, Timestamp};
use rutter_spxi::Entity;

use crate::error::WriteError;
use crate::model::{
    ArcRow, Change, ChangeKind, DownloadRecord, Lease, NoteKind, PagePosition, PageRow,
    PageSelection, Publisher, PublisherId, Section, Tombstone, UrlNote, Validator,
};
use crate::records::{ErasedSite, VisitRecord};
use crate::sqlite::origin_of;

/// The record of a page, and its line; the line is `None` if the page is withheld.
#[derive(Debug, Clone)]
struct PageData {
    row: PageRow,
    line: Option<String>,
}

/// The membership of a page in a section.
#[derive(Debug, Clone, Copy)]
struct SectionMembership {
    by_delta: Option<Timestamp>,
    delivered: LineDigest,
}

#[derive(Debug, Clone)]
struct SectionData {
    section: Section,
    members: BTreeMap<String, SectionMembership>,
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
    state: Option<String>,
}

#[derive(Debug, Default)]
struct MemoryState {
    last_publisher: i64,
    publishers: BTreeMap<PublisherId, PublisherData>,
    changes: Vec<Change>,
    seq: u64,
    pruned: u64,
    validators: BTreeMap<String, (PublisherId, Validator)>,
    notes: BTreeMap<(NoteKind, String), (PublisherId, UrlNote)>,
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
            self.notes.remove(&(NoteKind::ArcSnapshot, row.url.clone()));
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
        selection: &PageSelection<'_>,
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
