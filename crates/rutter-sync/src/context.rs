//! What is fixed while a sync of one site runs, and queries of its part of the replica.
//!
//! The stages of a sync read a [`SiteContext`] and cannot change it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rutter_arc::ArcEntry;
use rutter_fetch::{Client, Url};
use rutter_page::Timestamp;
use rutter_store::{
    NoteKind, NoteValue, PagePosition, PageRow, PageSelection, PublisherId, QueryError, Section,
    StorageError, Store,
};

use crate::error::SyncError;
use crate::limits::BATCH_ROWS;
use crate::options::{SyncObserver, SyncOptions};
use crate::plan::PlanPolicy;
use crate::report::left_out::LeftOutReason;
use crate::state::lease_guard::LeaseGuard;
use crate::state::spool_dir::SpoolDir;
use crate::state::url_note::known_note;
use crate::traffic::TrafficCounter;

/// Number of ARC entries that are read together. The number is small, because entries may
/// be long.
const ENTRIES: usize = 500;

/// What is fixed while a sync of one site runs.
pub(crate) struct SiteContext<'v> {
    pub(crate) client: &'v Client,
    pub(crate) store: &'v Arc<dyn Store>,
    pub(crate) options: &'v SyncOptions,
    pub(crate) observer: &'v dyn SyncObserver,
    pub(crate) site: Url,
    pub(crate) origin: String,
    pub(crate) publisher: PublisherId,
    pub(crate) lease_guard: LeaseGuard,
    pub(crate) spool_dir: SpoolDir,
    pub(crate) traffic: Arc<TrafficCounter>,
    pub(crate) now: Timestamp,
    /// Keys of the damaged rows that this sync encountered.
    pub(crate) damaged_rows: DamagedRows,
}

/// Page keys of the damaged rows that a sync encountered.
#[derive(Debug, Default)]
pub(crate) struct DamagedRows(Mutex<BTreeSet<String>>);

impl DamagedRows {
    /// Returns the keys and empties the list.
    pub(crate) fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, key: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned());
    }

    /// Returns whether the row of a page was found damaged in this sync.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }
}

impl SiteContext<'_> {
    /// Returns the row of a page, if the page belongs to this site. A damaged row is
    /// recorded in [`DamagedRows`] and counts as missing.
    pub(crate) fn row(&self, key: &str) -> Result<Option<PageRow>, SyncError> {
        match self.store.page(key) {
            Ok(row) => Ok(row.filter(|row| row.publisher == self.publisher)),
            Err(QueryError::Storage(StorageError::Damaged(_))) => {
                self.damaged_rows.note(key);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Passes the rows of a selection to `take` in batches, in order. Damaged rows are
    /// recorded in [`DamagedRows`] and skipped.
    pub(crate) fn for_each_batch(
        &self,
        selection: &PageSelection<'_>,
        mut take: impl FnMut(Vec<PageRow>) -> Result<(), SyncError>,
    ) -> Result<(), SyncError> {
        let publisher = self.publisher;
        let mut after: Option<String> = None;
        loop {
            let place = after.as_deref().map(|url| PagePosition { publisher, url });
            let rows = self.store.rows(selection, place, BATCH_ROWS)?;
            let is_last = rows.len() < BATCH_ROWS;
            after = rows.last().map(|row| match row {
                Ok(row) => row.url.clone(),
                Err(damaged) => damaged.url.clone(),
            });
            let mut sound = Vec::with_capacity(rows.len());
            for row in rows {
                match row {
                    Ok(row) => sound.push(row),
                    Err(damaged) => self.damaged_rows.note(&damaged.url),
                }
            }
            take(sound)?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Returns the next batch of ARC entries in the replica, without those that give no
    /// consent; `None` at the end. `after` is the URL of the last entry of the previous batch,
    /// and is updated.
    pub(crate) fn arc_entries(
        &self,
        after: &mut Option<String>,
    ) -> Result<Option<Vec<ArcEntry<'static>>>, SyncError> {
        let rows = self.store.arc_entries(self.publisher, after.as_deref(), ENTRIES)?;
        let Some(last) = rows.last() else { return Ok(None) };
        *after = Some(last.url.clone());
        let open = rows.iter().filter(|row| row.is_allowed);
        Ok(Some(open.filter_map(|row| ArcEntry::from_json(&row.json)).collect()))
    }

    /// Passes the page keys of a section to `take`, in order. Damaged rows are skipped.
    pub(crate) fn for_each_key(
        &self,
        section: &str,
        mut take: impl FnMut(String),
    ) -> Result<(), SyncError> {
        let (publisher, section) = (Some(self.publisher), Some(section));
        let selection = PageSelection { publisher, section, with_withheld: true };
        self.for_each_batch(&selection, |rows| {
            for row in rows {
                take(row.url);
            }
            Ok(())
        })
    }

    /// Stores a pause: the site is not synced until the given time.
    pub(crate) fn pause(&self, until: Timestamp) -> Result<(), SyncError> {
        Ok(self.store.pause(self.lease_guard.lease(), Some(until))?)
    }

    /// Returns the plan policy, with the delay between requests to the host of the site.
    pub(crate) fn plan_policy(&self) -> PlanPolicy {
        let wait = self.client.request_delay(&self.site).as_secs();
        PlanPolicy { wait, ..self.options.policy.clone() }
    }

    /// Returns why a URL was not a page when it was last requested.
    pub(crate) fn reason_left_out(&self, key: &str) -> Result<LeftOutReason, SyncError> {
        let note = known_note(self.store.as_ref(), NoteKind::NoPageReason, key)?;
        let why = match note.map(|note| note.value) {
            Some(NoteValue::NoPageReason(why)) => LeftOutReason::parse(&why),
            _ => None,
        };
        Ok(why.unwrap_or(LeftOutReason::UNCHANGED))
    }

    /// Returns the sections of the site.
    pub(crate) fn sections(&self) -> Result<Vec<Section>, QueryError> {
        self.store.sections(self.publisher)
    }
}
