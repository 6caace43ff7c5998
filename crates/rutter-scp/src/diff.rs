//! Compares two snapshots of a section: added, changed and removed pages.
//!
//! Input: two snapshots, read in key order in parallel. Output: changes for the caller as they are
//! found. The changes are valid only if [`diff`] returns without an error, because only then were
//! both files verified.

use rutter_finding::{Classify, ErrorClass};
use std::path::Path;

use rutter_page::LineDigest;

use crate::cursor::{self, CollectionInput, InputOrder, PageCursor, WalkError};
use crate::error::{ReadError, WriteError};
use crate::header::{CollectionHeader, CollectionKind, FormatVersion, StateChain};
use crate::merge;
use crate::reader::{ReadOptions, ReadReceipt};
use crate::sort::KeyedLine;
use crate::state::{LinesToHash, SectionState};
use crate::writer::StateTracking;

/// One difference between two snapshots.
#[derive(Debug, Clone, Copy)]
pub enum PageChange<'e> {
    /// Only the new snapshot has the page.
    Added(&'e KeyedLine),
    /// Both snapshots have the page, but its lines differ: the old line, then the new line.
    Changed(&'e KeyedLine, &'e KeyedLine),
    /// Only the old snapshot has the page.
    Removed(&'e KeyedLine),
}

/// Reasons why collections could not be packed, compared or applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// The input with this number is not sorted by key. The caller may sort it and retry.
    #[error("input {0} is not sorted by page URL")]
    Unsorted(usize),
    /// The input with this number could not be read.
    #[error("cannot use input {0}")]
    Read(usize, #[source] ReadError),
    /// The result could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// An input has the wrong type.
    #[error("input {0} is a {1}, expected a {2}")]
    Kind(usize, &'static str, &'static str),
    /// An input belongs to another section than the first one.
    #[error("input {0} belongs to section `{1}`, the first input to `{2}`")]
    Section(usize, String, String),
    /// Changes are missing between the covered time and the start of a delta (D25).
    #[error("no input has the changes between {mark} and {since}; use a newer snapshot")]
    Gap {
        /// Number of the input, counted from 0.
        input: usize,
        /// Time up to which all changes are known.
        mark: rutter_page::Timestamp,
        /// Start of the delta.
        since: rutter_page::Timestamp,
    },
    /// The state computed from the pages differs from the state in line 1 (D95).
    #[error("the pages have state {found}, but line 1 states {claimed}; use a snapshot")]
    State {
        /// Number of the input, counted from 0.
        input: usize,
        /// State in line 1.
        claimed: SectionState,
        /// State computed from the pages.
        found: SectionState,
    },
    /// Pages of a chained collection were skipped, so its state cannot be computed (D95).
    #[error("{skipped} pages of input {input} are not usable, so its state cannot be verified")]
    Skipped {
        /// Number of the input, counted from 0.
        input: usize,
        /// Number of skipped pages.
        skipped: u64,
    },
    /// Pages changed without a later `modified`, so every reader of a delta would ignore them
    /// (SCP-133).
    #[error(
        "readers of a delta would ignore {0} changed pages: their `modified` is not later than before"
    )]
    StaleModified(u64),
    /// The newer snapshot was not generated later than the older one.
    #[error("the new snapshot ({1}) was not generated later than the old one ({2})")]
    NotLater(usize, rutter_page::Timestamp, rutter_page::Timestamp),
    /// There are no pages to pack or to apply. An empty snapshot would delete the whole section.
    #[error("the input has no pages")]
    Empty,
    /// Too many pages would be deleted at once (D23).
    #[error("input {input} would delete {deleted} of {pages} pages at once")]
    MassDeletion {
        /// Number of the input, counted from 0.
        input: usize,
        /// Number of pages to delete.
        deleted: u64,
        /// Number of pages of the section before the deletion.
        pages: u64,
    },
}

impl Classify for MergeError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Read(_, error) => error.class(),
            Self::Write(error) => error.class(),
            Self::Gap { .. }
            | Self::State { .. }
            | Self::Skipped { .. }
            | Self::StaleModified(_) => ErrorClass::Integrity,
            Self::MassDeletion { .. } | Self::Empty => ErrorClass::Policy,
            _ => ErrorClass::Usage,
        }
    }
}

impl MergeError {
    pub(crate) fn walk(input: usize) -> impl Fn(WalkError) -> Self {
        move |error| match error {
            WalkError::Unsorted => Self::Unsorted(input),
            WalkError::Read(error) => Self::Read(input, error),
        }
    }

    pub(crate) fn read(input: usize) -> impl Fn(ReadError) -> Self {
        move |error| Self::Read(input, error)
    }
}

/// Result of a comparison; both files were verified.
#[derive(Debug, Clone)]
pub struct SnapshotDiff {
    /// Receipt of the old snapshot.
    pub old: ReadReceipt,
    /// Receipt of the new snapshot.
    pub new: ReadReceipt,
    /// Number of pages that only the new snapshot has.
    pub added: u64,
    /// Number of pages whose lines differ.
    pub changed: u64,
    /// Number of changed pages without a later `modified`. Readers of a delta ignore them
    /// (SCP-133).
    pub stale: u64,
    /// Keys of pages that only the old snapshot has; at most one more than
    /// [`StateChain::MAX_REMOVED`].
    pub removed: Vec<String>,
    /// Number of pages that only the old snapshot has.
    pub n_removed: u64,
    /// Number of pages that have the same line in both snapshots.
    pub unchanged: u64,
    /// States of both snapshots; `None` if they were not tracked.
    pub states: Option<(SectionState, SectionState)>,
}

impl SnapshotDiff {
    /// Returns whether both snapshots are equal.
    pub fn is_empty(&self) -> bool {
        self.added + self.changed + self.n_removed == 0
    }

    /// Returns line 1 of the delta that leads from the old snapshot to the new one.
    ///
    /// Fails if no delta can express the change: the new snapshot is not later; or, for a delta
    /// with states, pages changed without a later `modified`, or more pages were removed than a
    /// delta may list (D95).
    pub fn delta_header(&self, id: String) -> Result<CollectionHeader, MergeError> {
        let (old, new) = (self.old.header.generated, self.new.header.generated);
        if new <= old {
            return Err(MergeError::NotLater(1, new, old));
        }
        if self.states.is_some() && 0 < self.stale {
            return Err(MergeError::StaleModified(self.stale));
        }
        let chain = match self.states {
            None => None,
            Some(_) if StateChain::MAX_REMOVED < self.removed.len() => {
                let n_removed = usize::try_from(self.n_removed).unwrap_or(usize::MAX);
                return Err(WriteError::TooManyRemoved(n_removed).into());
            }
            Some((from, state)) => Some(StateChain {
                from: Some(from),
                state,
                pages: self.added + self.changed + self.unchanged + self.new.tally.skipped,
                removed: self.removed.clone(),
            }),
        };
        let kind = CollectionKind::Delta { since: self.old.header.generated };
        let extra = Vec::new();
        let section = self.new.header.section.clone();
        let version = FormatVersion::CURRENT;
        Ok(CollectionHeader {
            id,
            section,
            kind,
            generated: new,
            version,
            chain,
            checksum: None,
            extra,
        })
    }
}

/// Compares two snapshots and passes every change to `on_change`.
pub fn diff(
    mut old: CollectionInput<'_>,
    mut new: CollectionInput<'_>,
    options: ReadOptions,
    order: InputOrder,
    track: StateTracking,
    folder: &Path,
    on_change: &mut dyn FnMut(PageChange<'_>) -> Result<(), WriteError>,
) -> Result<SnapshotDiff, MergeError> {
    let old_reader = cursor::open(&mut old, options).map_err(MergeError::read(0))?;
    let new_reader = cursor::open(&mut new, options).map_err(MergeError::read(1))?;
    let headers = [old_reader.header(), new_reader.header()];
    for (input, header) in headers.into_iter().enumerate() {
        if merge::is_delta(header) {
            return Err(MergeError::Kind(input, "delta", "snapshot"));
        }
    }
    let [old_header, new_header] = headers;
    if old_header.section != new_header.section {
        let (old, new) = (old_header.section.clone(), new_header.section.clone());
        return Err(MergeError::Section(1, new, old));
    }
    // If line 1 of both snapshots contains their states, the changes alone prove that the old
    // snapshot leads to the new one.
    let named = old_header.chain.as_ref().zip(new_header.chain.as_ref());
    let named = named.map(|(old, new)| (old.state, new.state));
    let hashing = LinesToHash::needed(track == StateTracking::State, named.is_some());
    let mut walk = SnapshotWalk {
        old: PageCursor::new(old, old_reader, order, folder).map_err(MergeError::walk(0))?,
        new: PageCursor::new(new, new_reader, order, folder).map_err(MergeError::walk(1))?,
        hashing,
        counts: DiffCounts { from: named.unwrap_or_default().0, ..DiffCounts::default() },
    };
    walk.counts.state = walk.counts.from;
    walk.run(on_change)?;
    let SnapshotWalk { old, new, counts, .. } = walk;
    let old = old.finish().map_err(MergeError::read(0))?;
    let new = new.finish().map_err(MergeError::read(1))?;
    let DiffCounts { added, changed, stale, removed, n_removed, unchanged, from, state } = counts;
    if let Some((_, claimed)) = named.filter(|_| track == StateTracking::State)
        && claimed != state
    {
        return Err(MergeError::State { input: 1, claimed, found: state });
    }
    let states = (track == StateTracking::State).then_some((from, state));
    Ok(SnapshotDiff { old, new, added, changed, stale, removed, n_removed, unchanged, states })
}

#[derive(Default)]
struct DiffCounts {
    added: u64,
    changed: u64,
    stale: u64,
    removed: Vec<String>,
    n_removed: u64,
    unchanged: u64,
    from: SectionState,
    state: SectionState,
}

struct SnapshotWalk<'o, 'n> {
    old: PageCursor<'o>,
    new: PageCursor<'n>,
    hashing: LinesToHash,
    counts: DiffCounts,
}

impl SnapshotWalk<'_, '_> {
    fn run(
        &mut self,
        on_change: &mut dyn FnMut(PageChange<'_>) -> Result<(), WriteError>,
    ) -> Result<(), MergeError> {
        let mut has_new = self.new.advance().map_err(MergeError::walk(1))?;
        let mut has_old = self.old.advance_beside(Some(&self.new)).map_err(MergeError::walk(0))?;
        while has_old || has_new {
            let (old, new) = (self.old.entry(), self.new.entry());
            let takes_old = has_old && (!has_new || old.key <= new.key);
            let takes_new = has_new && (!has_old || new.key <= old.key);
            let is_same = takes_old && takes_new && (self.old.is_known() || old.line == new.line);
            let (old, new) = (takes_old.then_some(old), takes_new.then_some(new));
            match (old, new) {
                (Some(_), Some(new)) if is_same => self.counts.same(new, self.hashing),
                (old, new) => self.counts.different(old, new, self.hashing),
            }
            match (old, new) {
                (Some(old), None) => on_change(PageChange::Removed(old))?,
                (None, Some(new)) => on_change(PageChange::Added(new))?,
                (Some(old), Some(new)) if !is_same => on_change(PageChange::Changed(old, new))?,
                _ => {}
            }
            if takes_new {
                has_new = self.new.advance().map_err(MergeError::walk(1))?;
            }
            if takes_old {
                let beside = Some(&self.new);
                has_old = self.old.advance_beside(beside).map_err(MergeError::walk(0))?;
            }
        }
        Ok(())
    }
}

impl DiffCounts {
    /// Counts a page with the same line in both snapshots.
    fn same(&mut self, page: &KeyedLine, hashing: LinesToHash) {
        self.unchanged += 1;
        if hashing == LinesToHash::Everything {
            let digest = LineDigest::of(&page.line);
            self.from.add(&page.key, digest);
            self.state.add(&page.key, digest);
        }
    }

    /// Counts a page that was added, removed or changed.
    fn different(
        &mut self,
        old: Option<&KeyedLine>,
        new: Option<&KeyedLine>,
        hashing: LinesToHash,
    ) {
        if let Some(old) = old.filter(|_| hashing != LinesToHash::Nothing) {
            let digest = LineDigest::of(&old.line);
            match hashing {
                LinesToHash::Everything => self.from.add(&old.key, digest),
                _ => self.state.remove(&old.key, digest),
            }
        }
        if let Some(new) = new.filter(|_| hashing != LinesToHash::Nothing) {
            self.state.add(&new.key, LineDigest::of(&new.line));
        }
        match (old, new) {
            (Some(old), Some(new)) => {
                self.changed += 1;
                self.stale += u64::from(new.modified <= old.modified);
            }
            (None, Some(_)) => self.added += 1,
            (Some(old), None) => {
                self.n_removed += 1;
                if self.removed.len() <= StateChain::MAX_REMOVED {
                    self.removed.push(old.key.clone());
                }
            }
            (None, None) => {}
        }
    }
}
