//! Map from names to values that holds as many names as a site has pages in little memory.
//!
//! The map stores a 128-bit hash instead of each name, in one sorted vector, and does not change
//! after its construction.

use sha2::{Digest as _, Sha256};

/// Map from names to values that stores only hashes of the names.
#[derive(Debug)]
pub(crate) struct NameTable<T> {
    /// Hashes of the names with their values, sorted by hash.
    entries: Vec<(u128, T)>,
}

impl<T> Default for NameTable<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T> NameTable<T> {
    /// Builds a table from hashes and values. Of several values with the same hash, the first is
    /// kept.
    pub(crate) fn of(mut entries: Vec<(u128, T)>) -> Self {
        entries.sort_by_key(|(name, _)| *name);
        entries.dedup_by_key(|(name, _)| *name);
        Self { entries }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        if self.entries.is_empty() {
            return None;
        }
        let hash = hash_of(name);
        let at = self.entries.binary_search_by_key(&hash, |(name, _)| *name).ok()?;
        self.entries.get(at).map(|(_, value)| value)
    }

    /// Iterates over all values in the order of the hashes of their names.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(_, value)| value)
    }
}

/// Returns the first 128 bits of the SHA-256 digest of a name.
pub(crate) fn hash_of(name: &str) -> u128 {
    let digest: [u8; 32] = Sha256::digest(name).into();
    digest.first_chunk::<16>().map_or(0, |half| u128::from_le_bytes(*half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_first_value_of_a_name() {
        let names = ["quay", "mole", "quay", "lamp"];
        let table = NameTable::of((0..).zip(names).map(|(n, name)| (hash_of(name), n)).collect());
        assert_eq!(
            names.map(|name| table.get(name).copied()),
            [Some(0), Some(1), Some(0), Some(3)]
        );
        assert_eq!(table.get("rope"), None::<&u32>);
    }
}
