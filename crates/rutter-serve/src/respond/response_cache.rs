//! Response cache: the representations of recently requested paths.
//!
//! An entry is used for [`Limits::recheck`](crate::Limits) without a check. After that, the
//! identities of its files are compared, and a changed file makes the entry invalid. A response may
//! thus be outdated for that time, but it never combines the header fields of one file with the
//! bytes of another.

use std::sync::{Arc, PoisonError, RwLock};

use crate::bounded_map::BoundedMap;
use crate::respond::representation_set::RepresentationSet;

/// Number of tables. Each has its own lock, so that threads seldom wait.
const N_TABLES: usize = 8;

type Table = RwLock<BoundedMap<Box<str>, Arc<RepresentationSet>>>;

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

    pub(crate) fn get(&self, path: &str) -> Option<Arc<RepresentationSet>> {
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

    pub(crate) fn put(&self, path: &str, resolved: &Arc<RepresentationSet>) {
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
