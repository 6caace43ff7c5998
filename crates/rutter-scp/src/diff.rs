//! Compares two snapshots of a section: what came, what changed, what went.
//!
//! Both are walked in key order at once. What is found goes to the caller as
//! it is found; it may be believed only when [`diff`] returns, because only
//! then have both files verified.

use std::path::Path;

use rutter_page::LineDigest;

use crate::cursor::{self, Cursor, Input, Order, WalkError};
use crate::error::{ReadError, WriteError};
use crate::header::{Chain, Header, Kind, Version};
use crate::merge;
use crate::reader::{Options, Receipt};
use crate::sort::Entry;
use crate::state::{Hashing, State};
use crate::writer::Track;

/// One difference.
#[derive(Debug, Clone, Copy)]
pub enum Change<'e> {
    /// Only the new snapshot has the page.
    Added(&'e Entry),
    /// Both have it, and their lines differ: the old one, the new one.
    Changed(&'e Entry, &'e Entry),
    /// Only the old snapshot has the page.
    Removed(&'e Entry),
}

/// Why two or more collections could not be brought together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// Input number so-and-so is not sorted by key; sort and begin again.
    #[error("input {0} is not sorted by page address")]
    Unsorted(usize),
    /// Input number so-and-so could not be read.
    #[error("input {0} cannot be used")]
    Read(usize, #[source] ReadError),
    /// The result could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// An input is of the wrong kind.
    #[error("input {0} is a {1}, wanted a {2}")]
    Kind(usize, &'static str, &'static str),
    /// Inputs belong to different sections.
    #[error("input {0} is of section `{1}`, the first of `{2}`")]
    Section(usize, String, String),
    /// A delta does not reach back to where the others end (D25).
    #[error("gap: changes between {mark} and {since} are missing; a newer snapshot is needed")]
    Gap {
        /// Number of the input.
        input: usize,
        /// Up to where everything is known.
        mark: rutter_page::Timestamp,
        /// Where the delta begins.
        since: rutter_page::Timestamp,
    },
    /// The pages do not add up to the state the publisher names (D95).
    #[error("pages add up to state {found}, line 1 says {claimed}; a snapshot is needed")]
    State {
        /// Number of the input.
        input: usize,
        /// What line 1 says.
        claimed: State,
        /// What the pages give.
        found: State,
    },
    /// Pages of a chained collection cannot be used, so no state that counts
    /// them can be reached (D95).
    #[error("{skipped} of its pages cannot be used, so its state cannot be reached")]
    Skipped {
        /// Number of the input.
        input: usize,
        /// How many.
        skipped: u64,
    },
    /// Changed pages whose time did not move would be ignored by every reader
    /// of a delta (SCP-133).
    #[error("{0} changed pages have no later `modified`; readers of a delta would ignore them")]
    Stuck(u64),
    /// The newer snapshot is not newer.
    #[error("generated {1}, not later than {2}")]
    NotLater(usize, rutter_page::Timestamp, rutter_page::Timestamp),
    /// There is nothing to pack or to apply: an empty snapshot would delete a
    /// section.
    #[error("there are no pages")]
    Empty,
    /// Too many pages would go at once (D23).
    #[error("would delete {deleted} of {pages} pages at once")]
    MassDeletion {
        /// Number of the input.
        input: usize,
        /// Pages that would go.
        deleted: u64,
        /// Pages there were.
        pages: u64,
    },
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

/// What a comparison found, once both files have verified.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The old snapshot.
    pub old: Receipt,
    /// The new snapshot.
    pub new: Receipt,
    /// Pages only in the new one.
    pub added: u64,
    /// Pages whose lines differ.
    pub changed: u64,
    /// Pages that changed although their `modified` did not move forward;
    /// readers of a delta will not take them (SCP-133).
    pub stuck: u64,
    /// Pages only in the old one, by key; at most one more than
    /// [`Chain::MOST_REMOVED`] are kept.
    pub removed: Vec<String>,
    /// How many there were.
    pub n_removed: u64,
    /// Pages that are the same in both.
    pub unchanged: u64,
    /// State of both; `None` where it was not tracked.
    pub states: Option<(State, State)>,
}

impl Difference {
    /// Tells whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.added + self.changed + self.n_removed == 0
    }

    /// Line 1 of the delta that leads from the old snapshot to the new one.
    ///
    /// Fails where no delta can lead there: the new snapshot is not later, or
    /// it changed pages without moving their time, or, where the delta names
    /// its states, it lost more pages than a delta may list (D95).
    pub fn delta_header(&self, id: String) -> Result<Header, MergeError> {
        let (old, new) = (self.old.header.generated, self.new.header.generated);
        if new <= old {
            return Err(MergeError::NotLater(1, new, old));
        }
        if self.states.is_some() && 0 < self.stuck {
            return Err(MergeError::Stuck(self.stuck));
        }
        let chain = match self.states {
            None => None,
            Some(_) if Chain::MOST_REMOVED < self.removed.len() => {
                let n_removed = usize::try_from(self.n_removed).unwrap_or(usize::MAX);
                return Err(WriteError::TooManyRemoved(n_removed).into());
            }
            Some((from, state)) => Some(Chain {
                from: Some(from),
                state,
                pages: self.added + self.changed + self.unchanged + self.new.tally.skipped,
                removed: self.removed.clone(),
            }),
        };
        let kind = Kind::Delta { since: self.old.header.generated };
        let extra = Vec::new();
        let section = self.new.header.section.clone();
        let version = Version::CURRENT;
        Ok(Header { id, section, kind, generated: new, version, chain, checksum: None, extra })
    }
}

/// Walks two snapshots and hands every difference to `on_change`.
pub fn diff(
    mut old: Input<'_>,
    mut new: Input<'_>,
    options: Options,
    order: Order,
    track: Track,
    folder: &Path,
    on_change: &mut dyn FnMut(Change<'_>) -> Result<(), WriteError>,
) -> Result<Difference, MergeError> {
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
    // Where both name their state, the changes alone prove one from the other.
    let named = old_header.chain.as_ref().zip(new_header.chain.as_ref());
    let named = named.map(|(old, new)| (old.state, new.state));
    let hashing = Hashing::needed(track == Track::State, named.is_some());
    let mut walk = Walk {
        old: Cursor::new(old, old_reader, order, folder).map_err(MergeError::walk(0))?,
        new: Cursor::new(new, new_reader, order, folder).map_err(MergeError::walk(1))?,
        hashing,
        counts: Counts { from: named.unwrap_or_default().0, ..Counts::default() },
    };
    walk.counts.state = walk.counts.from;
    walk.run(on_change)?;
    let Walk { old, new, counts, .. } = walk;
    let old = old.finish().map_err(MergeError::read(0))?;
    let new = new.finish().map_err(MergeError::read(1))?;
    let Counts { added, changed, stuck, removed, n_removed, unchanged, from, state } = counts;
    if let Some((_, claimed)) = named.filter(|_| track == Track::State)
        && claimed != state
    {
        return Err(MergeError::State { input: 1, claimed, found: state });
    }
    let states = (track == Track::State).then_some((from, state));
    Ok(Difference { old, new, added, changed, stuck, removed, n_removed, unchanged, states })
}

#[derive(Default)]
struct Counts {
    added: u64,
    changed: u64,
    stuck: u64,
    removed: Vec<String>,
    n_removed: u64,
    unchanged: u64,
    from: State,
    state: State,
}

struct Walk<'o, 'n> {
    old: Cursor<'o>,
    new: Cursor<'n>,
    hashing: Hashing,
    counts: Counts,
}

impl Walk<'_, '_> {
    fn run(
        &mut self,
        on_change: &mut dyn FnMut(Change<'_>) -> Result<(), WriteError>,
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
                (Some(old), None) => on_change(Change::Removed(old))?,
                (None, Some(new)) => on_change(Change::Added(new))?,
                (Some(old), Some(new)) if !is_same => on_change(Change::Changed(old, new))?,
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

impl Counts {
    /// Counts a page that both have, line for line.
    fn same(&mut self, page: &Entry, hashing: Hashing) {
        self.unchanged += 1;
        if hashing == Hashing::Everything {
            let digest = LineDigest::of(&page.line);
            self.from.add(&page.key, digest);
            self.state.add(&page.key, digest);
        }
    }

    /// Counts a page that only one has, or both with different lines.
    fn different(&mut self, old: Option<&Entry>, new: Option<&Entry>, hashing: Hashing) {
        if let Some(old) = old.filter(|_| hashing != Hashing::Nothing) {
            let digest = LineDigest::of(&old.line);
            match hashing {
                Hashing::Everything => self.from.add(&old.key, digest),
                _ => self.state.remove(&old.key, digest),
            }
        }
        if let Some(new) = new.filter(|_| hashing != Hashing::Nothing) {
            self.state.add(&new.key, LineDigest::of(&new.line));
        }
        match (old, new) {
            (Some(old), Some(new)) => {
                self.changed += 1;
                self.stuck += u64::from(new.modified <= old.modified);
            }
            (None, Some(_)) => self.added += 1,
            (Some(old), None) => {
                self.n_removed += 1;
                if self.removed.len() <= Chain::MOST_REMOVED {
                    self.removed.push(old.key.clone());
                }
            }
            (None, None) => {}
        }
    }
}
