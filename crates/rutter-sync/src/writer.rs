//! Pages that were read one by one, on their way into the replica.
//!
//! A thread of its own gathers pages and commits them in batches, so that a
//! visit that is killed has lost little, and remembers validators only after
//! the pages they speak of are in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rutter_page::Timestamp;
use rutter_store::{
    Begin, Finish, Lease, Mode, Quota, Source, StageError, Store, Validator, Withheld,
};

use tokio::sync::mpsc::Receiver;

use crate::error::VisitError;
use crate::gate::Gate;
use crate::page::Ready;
use crate::snapshot;
use crate::visit::WEB;

/// Pages and bytes that are committed together.
pub(crate) const BATCH: usize = 1_000;
pub(crate) const BATCH_BYTES: usize = 2 << 20;
/// Pages beyond the quota that are named.
const MOST_BEYOND: usize = 100_000;
/// Validators that are remembered together.
const MARKS: usize = 5_000;

/// What the thread is told.
#[derive(Debug)]
pub(crate) enum Write {
    /// Here is a page.
    Page(Box<Ready>),
    /// A page is as it was, or is none.
    Mark(Vec<Validator>),
    /// The words of a page have to go; then it counts as looked at.
    Withhold(String, Withheld, Vec<Validator>),
    /// Some time has passed: what is there is to be kept.
    Commit,
}

/// What is written, and for whom.
pub(crate) struct Writer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) lease: Lease,
    pub(crate) quota: Quota,
    pub(crate) now: Timestamp,
    /// Whether nothing is committed but when that is said: on a walk by links,
    /// what pages lead to has to be kept before the pages are.
    pub(crate) waits: bool,
    /// Which pages are wanted.
    pub(crate) gate: Arc<Gate>,
}

/// What it came to, beside what the history of the replica tells.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    /// Pages whose words may not be kept.
    pub(crate) withheld: u64,
    /// New pages for which there was no room, and some of them.
    pub(crate) over_quota: u64,
    pub(crate) beyond: Vec<String>,
    /// Pages that keep no words because these would be too many.
    pub(crate) without_room: u64,
}

impl Writer {
    /// Writes until nobody sends any more; gives what it came to.
    pub(crate) fn run(&self, mut input: Receiver<Write>) -> Result<Written, VisitError> {
        let mut sum = Written::default();
        let mut batch: Vec<Ready> = Vec::new();
        let mut n_bytes = 0;
        let mut marks: Vec<Validator> = Vec::new();
        let mut withheld: Vec<(String, Withheld)> = Vec::new();
        while let Some(write) = input.blocking_recv() {
            let is_told = matches!(write, Write::Commit);
            let is_time = match write {
                Write::Page(page) => {
                    n_bytes += page.line.len();
                    batch.push(*page);
                    BATCH <= batch.len() || BATCH_BYTES <= n_bytes
                }
                Write::Mark(more) => {
                    marks.extend(more);
                    MARKS <= marks.len()
                }
                Write::Withhold(key, why, more) => {
                    withheld.push((key, why));
                    marks.extend(more);
                    BATCH <= withheld.len()
                }
                Write::Commit => true,
            };
            if is_time && (!self.waits || is_told) {
                self.withhold(&mut withheld, &mut sum)?;
                self.commit(&mut batch, &mut marks, &mut sum)?;
                n_bytes = 0;
            }
        }
        if !self.waits {
            self.withhold(&mut withheld, &mut sum)?;
            self.commit(&mut batch, &mut marks, &mut sum)?;
        }
        Ok(sum)
    }

    /// Takes words away, before anything remembers that their pages were
    /// looked at.
    fn withhold(
        &self,
        withheld: &mut Vec<(String, Withheld)>,
        sum: &mut Written,
    ) -> Result<(), VisitError> {
        let pages: Vec<(&str, Withheld)> =
            withheld.iter().map(|(key, why)| (key.as_str(), *why)).collect();
        if !pages.is_empty() {
            sum.withheld += self.store.withhold(&self.lease, &pages, self.now)?;
        }
        withheld.clear();
        Ok(())
    }

    fn commit(
        &self,
        batch: &mut Vec<Ready>,
        marks: &mut Vec<Validator>,
        sum: &mut Written,
    ) -> Result<(), VisitError> {
        let mut by_source: BTreeMap<Source, Vec<&Ready>> = BTreeMap::new();
        for page in batch.iter() {
            by_source.entry(page.source).or_default().push(page);
        }
        for (source, pages) in by_source {
            let mut staging = self.store.stage(
                &self.lease,
                Begin {
                    section: WEB,
                    mode: Mode::Visit,
                    generated: self.now,
                    source,
                    quota: self.quota,
                    now: self.now,
                },
            )?;
            for page in pages {
                let mut item = page.item();
                let scope = self.gate.scope();
                if !scope.has_url(item.key) || !scope.has_language(item.language) {
                    item.withheld = item.withheld.or(Some(Withheld::Scope));
                }
                match staging.add(&item) {
                    // There is no room for a new page; those that are here
                    // are looked after all the same.
                    Err(StageError::Quota { .. }) => {
                        sum.over_quota += 1;
                        if sum.beyond.len() < MOST_BEYOND {
                            sum.beyond.push(page.key.clone());
                        }
                    }
                    added => added?,
                }
            }
            let outlook = staging.commit(&Finish::plain())?;
            sum.withheld += outlook.withheld;
            sum.without_room += outlook.over_quota;
        }
        marks.extend(batch.drain(..).flat_map(|page| page.marks));
        self.skip_withheld_snapshots(marks)?;
        self.store.remember_all(&self.lease, marks)?;
        marks.clear();
        Ok(())
    }

    /// Drops snapshots of pages whose content the scope or the quota withheld.
    fn skip_withheld_snapshots(&self, marks: &mut Vec<Validator>) -> Result<(), VisitError> {
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
