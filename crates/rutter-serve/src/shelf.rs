//! Where an address leads, remembered: which files, in which states, and the
//! answers that are ready for them.
//!
//! What is remembered counts for [`Limits::recheck`](crate::Limits); then the
//! files are looked at, and where one is another, everything is made anew. So
//! an answer may be that old, but never one file's headers with another's
//! bytes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::beneath::{Identity, Root};
use crate::generations::Generations;
use crate::ready::Ready;

/// Tables, so that threads seldom wait for each other.
const N_TABLES: usize = 8;

/// Where an address leads.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) plain: Ready,
    /// For those who want it compressed.
    pub(crate) gzip: Option<Ready>,
    /// For those who want Markdown.
    pub(crate) markdown: Option<Ready>,
    pub(crate) is_restricted: bool,
    /// Names that were looked at, and what was there.
    pub(crate) seen: Vec<(String, Option<Identity>)>,
    /// Which catalog it was made from.
    pub(crate) generation: u64,
    /// When it was last found to be so, in milliseconds of the site's clock.
    pub(crate) checked: AtomicU64,
}

impl Resolved {
    /// Looks whether everything is as it was.
    pub(crate) fn is_current(&self, root: &Root) -> bool {
        self.seen.iter().all(|(name, was)| root.glance(name) == *was)
    }

    fn weight(&self) -> usize {
        let others = [self.gzip.as_ref(), self.markdown.as_ref()];
        self.plain.weight() + others.into_iter().flatten().map(Ready::weight).sum::<usize>()
    }
}

type Table = RwLock<Generations<Box<str>, Arc<Resolved>>>;

/// What is remembered.
#[derive(Debug)]
pub(crate) struct Shelf {
    first: Table,
    others: [Table; N_TABLES - 1],
}

impl Shelf {
    /// Of at most so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let table = || RwLock::new(Generations::new(bytes / N_TABLES));
        Self { first: table(), others: std::array::from_fn(|_| table()) }
    }

    fn table(&self, path: &str) -> &Table {
        let mixed = path
            .bytes()
            .fold(0_usize, |mixed, byte| mixed.wrapping_mul(31).wrapping_add(usize::from(byte)));
        self.others.get(mixed % N_TABLES).unwrap_or(&self.first)
    }

    pub(crate) fn get(&self, path: &str) -> Option<Arc<Resolved>> {
        let table = self.table(path);
        let shared = table.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(young) = shared.peek(path) {
            return Some(Arc::clone(young));
        }
        let is_old = shared.is_old(path);
        drop(shared);
        if !is_old {
            return None;
        }
        let mut table = table.write().unwrap_or_else(PoisonError::into_inner);
        table.get(path).map(|found| Arc::clone(found))
    }

    pub(crate) fn put(&self, path: &str, resolved: &Arc<Resolved>) {
        let weight = resolved.weight() + 2 * path.len();
        let mut table = self.table(path).write().unwrap_or_else(PoisonError::into_inner);
        table.insert(path.into(), Arc::clone(resolved), weight);
    }

    pub(crate) fn clear(&self) {
        for table in self.others.iter().chain([&self.first]) {
            table.write().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }
}

impl Resolved {
    /// Whether it was looked at less than `age` milliseconds before `now`.
    pub(crate) fn is_fresh(&self, now: u64, age: u64) -> bool {
        now.saturating_sub(self.checked.load(Ordering::Relaxed)) < age
    }
}
