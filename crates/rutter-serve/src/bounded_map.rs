//! A bounded map with two generations: when the young generation is full, the old one is dropped
//! and the young one becomes the old one.
//!
//! A lookup moves an old entry to the young generation, so entries that are not used for a whole
//! generation are dropped. Reading a young entry changes nothing, so a shared lock is enough.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// The entries of both generations, with their weights.
#[derive(Debug)]
pub(crate) struct BoundedMap<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    weight: usize,
    /// Maximum weight of one generation.
    most: usize,
}

impl<K: Eq + Hash, V> BoundedMap<K, V> {
    /// Creates a map of at most this weight in both generations together.
    pub(crate) fn new(most: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), weight: 0, most: (most / 2).max(1) }
    }

    /// Returns an entry of the young generation; needs only a shared lock.
    pub(crate) fn peek<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.young.get(key).map(|(value, _)| value)
    }

    /// Returns whether an entry is in the old generation.
    pub(crate) fn is_old<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.old.contains_key(key)
    }

    /// Returns an entry and moves it to the young generation.
    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        if !self.young.contains_key(key) {
            let (key, (value, weight)) = self.old.remove_entry(key)?;
            self.insert(key, value, weight);
        }
        self.young.get_mut(key).map(|(value, _)| value)
    }

    /// Inserts or replaces an entry. An entry heavier than a generation is not kept.
    pub(crate) fn insert(&mut self, key: K, value: V, weight: usize) {
        if let Some((_, before)) = self.young.remove(&key) {
            self.weight -= before;
        }
        self.old.remove(&key);
        if self.most < weight {
            return;
        }
        if self.most < self.weight + weight {
            self.old = std::mem::take(&mut self.young);
            self.weight = 0;
        }
        self.weight += weight;
        self.young.insert(key, (value, weight));
    }

    pub(crate) fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
        self.weight = 0;
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_bounded_and_keeps_used_entries() {
        let mut table = BoundedMap::new(20);
        for n in 0..1000_u32 {
            table.insert(n, n, 1);
            assert!(table.len() <= 20);
            assert_eq!(table.get(&0), Some(&mut 0), "{n}");
        }
        assert!(table.peek(&0).is_some() && table.get(&500).is_none());
        table.insert(7, 7, 11);
        assert_eq!(table.get(&7), None, "too heavy");
        table.insert(0, 1, 1);
        assert_eq!(table.peek(&0), Some(&1));
        table.clear();
        assert_eq!((table.len(), table.get(&0)), (0, None));
    }
}
