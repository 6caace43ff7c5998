//! Things by name, for as many names as a site has pages: a hash stands for
//! the name, and everything lies in one sorted list.

use sha2::{Digest as _, Sha256};

/// Things by name; complete when it is made.
#[derive(Debug)]
pub(crate) struct Table<T> {
    /// Sorted by hash.
    entries: Vec<(u128, T)>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T> Table<T> {
    /// Of things with the same name the first stays.
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
        self.entries.get(at).map(|(_, thing)| thing)
    }

    /// Everything, in an order of no meaning that is always the same.
    pub(crate) fn things(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(_, thing)| thing)
    }
}

/// A name as a number that no other name has.
pub(crate) fn hash_of(name: &str) -> u128 {
    let digest: [u8; 32] = Sha256::digest(name).into();
    digest.first_chunk::<16>().map_or(0, |half| u128::from_le_bytes(*half))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_the_first_of_a_name_stays() {
        let names = ["quay", "mole", "quay", "lamp"];
        let table = Table::of((0..).zip(names).map(|(n, name)| (hash_of(name), n)).collect());
        assert_eq!(
            names.map(|name| table.get(name).copied()),
            [Some(0), Some(1), Some(0), Some(3)]
        );
        assert_eq!(table.get("rope"), None::<&u32>);
    }
}
