//! Response cache: the representations of recently requested paths.
//!
//! An entry is used for [`Limits::recheck`](crate::Limits) without a check. After that, the
//! identities of its files are compared, and a changed file makes the entry invalid. A response may
//! thus be outdated for that time, but it never combines the header fields of one file with the
//! bytes of another.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::bounded_map::BoundedMap;
use crate::resolve::root_dir::{Identity, RootDir};
use crate::respond::representation::Representation;

/// Number of tables. Each has its own lock, so that threads seldom wait.
const N_TABLES: usize = 8;

/// The representations of a path.
#[derive(Debug)]
pub(crate) struct ResolvedPath {
    pub(crate) plain: Representation,
    /// Served if the client accepts gzip.
    pub(crate) gzip: Option<Representation>,
    /// Served if the client prefers Markdown.
    pub(crate) markdown: Option<Representation>,
    pub(crate) is_restricted: bool,
    /// Names that the result depends on, with the identity of each file.
    pub(crate) seen: Vec<(String, Option<Identity>)>,
    /// The generation of the catalog that the result was made with.
    pub(crate) generation: u64,
    /// When the files were last compared, in milliseconds of the site's clock.
    pub(crate) checked: AtomicU64,
}

impl ResolvedPath {
    /// Returns whether all files are unchanged.
    pub(crate) fn is_current(&self, root: &RootDir) -> bool {
        self.seen.iter().all(|(name, was)| root.stat_identity(name) == *was)
    }

    fn weight(&self) -> usize {
        let others = [self.gzip.as_ref(), self.markdown.as_ref()];
        self.plain.weight()
            + others.into_iter().flatten().map(Representation::weight).sum::<usize>()
    }
}

type Table = RwLock<BoundedMap<Box<str>, Arc<ResolvedPath>>>;

/// The response cache.
#[derive(Debug)]
pub(crate) struct ResponseCache {
    first: Table,
    others: [Table; N_TABLES - 1],
}

impl ResponseCache {
    /// Creates a cache of at most this many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        let table = || RwLock::new(BoundedMap::new(bytes / N_TABLES));
        Self { first: table(), others: std::array::from_fn(|_| table()) }
    }

    fn table(&self, path: &str) -> &Table {
        let mixed = path
            .bytes()
            .fold(0_usize, |mixed, byte| mixed.wrapping_mul(31).wrapping_add(usize::from(byte)));
        self.others.get(mixed % N_TABLES).unwrap_or(&self.first)
    }

    pub(crate) fn get(&self, path: &str) -> Option<Arc<ResolvedPath>> {
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

    pub(crate) fn put(&self, path: &str, resolved: &Arc<ResolvedPath>) {
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

impl ResolvedPath {
    /// Returns whether the files were compared less than `age` milliseconds before `now`.
    pub(crate) fn is_fresh(&self, now: u64, age: u64) -> bool {
        now.saturating_sub(self.checked.load(Ordering::Relaxed)) < age
    }
}
