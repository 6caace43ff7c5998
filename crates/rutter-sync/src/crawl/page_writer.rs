//! Writes crawled pages into the replica, on a separate thread.
//!
//! Input: [`WriteCommand`]s of the crawl. Pages are committed in batches, so that an
//! interrupted sync loses only the pages since the last commit. Validators and notes are
//! stored after the commit of their pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rutter_page::Timestamp;
use rutter_store::{
    CommitOptions, Lease, NoteKind, PageSource, Quota, StageError, StagingMode, StagingOptions,
    Store, UrlNote, UrlRecords, WithheldReason,
};
use tokio::sync::mpsc::Receiver;

use crate::consent::page_policy::PagePolicy;
use crate::crawl::page::ExtractedPage;
use crate::error::SyncError;
use crate::limits::WEB_SECTION;

/// Number of pages, and size in bytes of their lines, from which a batch is committed.
pub(crate) const BATCH: usize = 1_000;
pub(crate) const BATCH_BYTES: usize = 2 << 20;
/// Maximum number of listed keys of pages beyond the page quota.
const MOST_BEYOND: usize = 100_000;
/// Number of waiting validators and notes from which the writer commits.
const MOST_RECORDS: usize = 5_000;

/// A command for the page writer.
#[derive(Debug)]
pub(crate) enum WriteCommand {
    /// Store a page.
    Page(Box<ExtractedPage>),
    /// Store the notes of a URL whose page is unchanged, or that has no page.
    Records(UrlRecords),
    /// Withhold the content of a page, then store the notes.
    Withhold(String, WithheldReason, UrlRecords),
    /// Commit all pages that are not committed yet.
    Commit,
}

/// Writes crawled pages of one site, under the conditions in its fields.
pub(crate) struct PageWriter {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) lease: Lease,
    pub(crate) quota: Quota,
    pub(crate) now: Timestamp,
    /// Whether only [`WriteCommand::Commit`] commits pages. A crawl by links needs this,
    /// because it must store the links of pages before the pages.
    pub(crate) commits_on_demand: bool,
    /// Rules that decide which pages are stored with content.
    pub(crate) page_policy: Arc<PagePolicy>,
}

/// Counts of written pages that the history of the replica does not contain.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriteSummary {
    /// Number of pages that were stored without content.
    pub(crate) withheld: u64,
    /// Number of new pages beyond the page quota, and the first [`MOST_BEYOND`] of their
    /// keys.
    pub(crate) over_quota: u64,
    pub(crate) beyond: Vec<String>,
    /// Number of pages that were stored without content because of the byte quota.
    pub(crate) over_byte_quota: u64,
}

impl PageWriter {
    /// Executes commands until all senders of `input` are dropped. Returns the counts.
    pub(crate) fn run(&self, mut input: Receiver<WriteCommand>) -> Result<WriteSummary, SyncError> {
        let mut sum = WriteSummary::default();
        let mut batch: Vec<ExtractedPage> = Vec::new();
        let mut n_bytes = 0;
        let mut records = UrlRecords::default();
        let mut withheld: Vec<(String, WithheldReason)> = Vec::new();
        while let Some(write) = input.blocking_recv() {
            let is_requested = matches!(write, WriteCommand::Commit);
            let is_time = match write {
                WriteCommand::Page(page) => {
                    n_bytes += page.line.len();
                    batch.push(*page);
                    BATCH <= batch.len() || BATCH_BYTES <= n_bytes
                }
                WriteCommand::Records(more) => {
                    records.append(more);
                    MOST_RECORDS <= records.len()
                }
                WriteCommand::Withhold(key, why, more) => {
                    withheld.push((key, why));
                    records.append(more);
                    BATCH <= withheld.len()
                }
                WriteCommand::Commit => true,
            };
            if is_time && (!self.commits_on_demand || is_requested) {
                self.withhold(&mut withheld, &mut sum)?;
                self.commit(&mut batch, &mut records, &mut sum)?;
                n_bytes = 0;
            }
        }
        if !self.commits_on_demand {
            self.withhold(&mut withheld, &mut sum)?;
            self.commit(&mut batch, &mut records, &mut sum)?;
        }
        Ok(sum)
    }

    /// Withholds the content of pages. Call this before the notes of these pages are
    /// stored.
    fn withhold(
        &self,
        withheld: &mut Vec<(String, WithheldReason)>,
        sum: &mut WriteSummary,
    ) -> Result<(), SyncError> {
        let pages: Vec<(&str, WithheldReason)> =
            withheld.iter().map(|(key, why)| (key.as_str(), *why)).collect();
        if !pages.is_empty() {
            sum.withheld += self.store.withhold(&self.lease, &pages, self.now)?;
        }
        withheld.clear();
        Ok(())
    }

    fn commit(
        &self,
        batch: &mut Vec<ExtractedPage>,
        records: &mut UrlRecords,
        sum: &mut WriteSummary,
    ) -> Result<(), SyncError> {
        let mut by_source: BTreeMap<PageSource, Vec<&ExtractedPage>> = BTreeMap::new();
        for page in batch.iter() {
            by_source.entry(page.source).or_default().push(page);
        }
        for (source, pages) in by_source {
            let mut staging = self.store.stage(
                &self.lease,
                StagingOptions {
                    section: WEB_SECTION,
                    mode: StagingMode::Visit,
                    generated: self.now,
                    source,
                    quota: self.quota,
                    now: self.now,
                },
            )?;
            for page in pages {
                let mut item = page.item();
                let scope = self.page_policy.scope();
                if !scope.has_url(item.key) || !scope.has_language(item.language) {
                    item.withheld = item.withheld.or(Some(WithheldReason::Scope));
                }
                match staging.add(&item) {
                    // A new page beyond the quota is skipped; known pages are still
                    // updated.
                    Err(StageError::Quota { .. }) => {
                        sum.over_quota += 1;
                        if sum.beyond.len() < MOST_BEYOND {
                            sum.beyond.push(page.key.clone());
                        }
                    }
                    added => added?,
                }
            }
            let outlook = staging.commit(&CommitOptions::plain())?;
            sum.withheld += outlook.withheld;
            sum.over_byte_quota += outlook.over_quota;
        }
        for page in batch.drain(..) {
            records.append(page.records);
        }
        self.skip_withheld_snapshots(records)?;
        self.store.store_url_records(&self.lease, &std::mem::take(records))?;
        Ok(())
    }

    /// Removes the ARC snapshots of withheld pages from the notes to store. The scope or a
    /// quota may have withheld the content of these pages.
    fn skip_withheld_snapshots(&self, records: &mut UrlRecords) -> Result<(), SyncError> {
        let mut skipped = BTreeSet::new();
        for note in records.notes.iter().filter(|note| note.kind() == NoteKind::ArcSnapshot) {
            if self.store.page(&note.url)?.is_none_or(|row| row.withheld.is_some()) {
                skipped.insert(note.url.clone());
            }
        }
        let is_skipped = |note: &UrlNote| skipped.contains(&note.url);
        records.notes.retain(|it| it.kind() != NoteKind::ArcSnapshot || !is_skipped(it));
        Ok(())
    }
}
