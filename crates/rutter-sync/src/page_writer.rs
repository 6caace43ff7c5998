//! Writes crawled pages into the replica, on a thread of its own.
//!
//! Input: commands of the crawl. Pages are committed in batches, so that an interrupted
//! sync loses little. Validators are stored only after their pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rutter_page::Timestamp;
use rutter_store::{
    CommitOptions, Lease, PageSource, Quota, StageError, StagingMode, StagingOptions, Store,
    Validator, WithheldReason,
};

use tokio::sync::mpsc::Receiver;

use crate::error::SyncError;
use crate::page::ExtractedPage;
use crate::page_policy::PagePolicy;
use crate::snapshot;
use crate::syncer::WEB_SECTION;

/// Maximum pages and bytes of a batch.
pub(crate) const BATCH: usize = 1_000;
pub(crate) const BATCH_BYTES: usize = 2 << 20;
/// Maximum number of listed pages beyond the quota.
const MOST_BEYOND: usize = 100_000;
/// Maximum number of notes that are stored together.
const MARKS: usize = 5_000;

/// A command for the writer.
#[derive(Debug)]
pub(crate) enum WriteCommand {
    /// Store a page.
    Page(Box<ExtractedPage>),
    /// Store notes: the page is unchanged, or the URL has no page.
    Mark(Vec<Validator>),
    /// Withhold the content of a page, then store the notes.
    Withhold(String, WithheldReason, Vec<Validator>),
    /// Commit now.
    Commit,
}

/// The writer and its conditions.
pub(crate) struct PageWriter {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) lease: Lease,
    pub(crate) quota: Quota,
    pub(crate) now: Timestamp,
    /// Whether pages are committed only by [`WriteCommand::Commit`]. In a crawl by links,
    /// the links of pages must be stored before the pages.
    pub(crate) commits_on_demand: bool,
    /// Decides which pages are stored with content.
    pub(crate) page_policy: Arc<PagePolicy>,
}

/// Summary of the written pages, in addition to the history of the replica.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriteSummary {
    /// Pages stored without content.
    pub(crate) withheld: u64,
    /// New pages beyond the page quota, and some of their keys.
    pub(crate) over_quota: u64,
    pub(crate) beyond: Vec<String>,
    /// Pages without content because of the byte quota.
    pub(crate) over_byte_quota: u64,
}

impl PageWriter {
    /// Writes until all senders are dropped. Returns a summary.
    pub(crate) fn run(&self, mut input: Receiver<WriteCommand>) -> Result<WriteSummary, SyncError> {
        let mut sum = WriteSummary::default();
        let mut batch: Vec<ExtractedPage> = Vec::new();
        let mut n_bytes = 0;
        let mut marks: Vec<Validator> = Vec::new();
        let mut withheld: Vec<(String, WithheldReason)> = Vec::new();
        while let Some(write) = input.blocking_recv() {
            let is_requested = matches!(write, WriteCommand::Commit);
            let is_time = match write {
                WriteCommand::Page(page) => {
                    n_bytes += page.line.len();
                    batch.push(*page);
                    BATCH <= batch.len() || BATCH_BYTES <= n_bytes
                }
                WriteCommand::Mark(more) => {
                    marks.extend(more);
                    MARKS <= marks.len()
                }
                WriteCommand::Withhold(key, why, more) => {
                    withheld.push((key, why));
                    marks.extend(more);
                    BATCH <= withheld.len()
                }
                WriteCommand::Commit => true,
            };
            if is_time && (!self.commits_on_demand || is_requested) {
                self.withhold(&mut withheld, &mut sum)?;
                self.commit(&mut batch, &mut marks, &mut sum)?;
                n_bytes = 0;
            }
        }
        if !self.commits_on_demand {
            self.withhold(&mut withheld, &mut sum)?;
            self.commit(&mut batch, &mut marks, &mut sum)?;
        }
        Ok(sum)
    }

    /// Withholds content before the notes of these pages are stored.
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
        marks: &mut Vec<Validator>,
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
                    // The quota has no place for a new page; known pages are still updated.
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
        marks.extend(batch.drain(..).flat_map(|page| page.marks));
        self.skip_withheld_snapshots(marks)?;
        self.store.store_validators(&self.lease, marks)?;
        marks.clear();
        Ok(())
    }

    /// Drops the snapshots of pages whose content the scope or the quota withheld.
    fn skip_withheld_snapshots(&self, marks: &mut Vec<Validator>) -> Result<(), SyncError> {
        let mut skipped = BTreeSet::new();
        for key in marks.iter().filter_map(snapshot::page_of) {
            if self.store.page(key)?.is_none_or(|row| row.withheld.is_some()) {
                skipped.insert(key.to_owned());
            }
        }
        marks.retain(|mark| snapshot::page_of(mark).is_none_or(|key| !skipped.contains(key)));
        Ok(())
    }
}
