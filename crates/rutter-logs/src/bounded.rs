//! Tables that do not grow with the log.
//!
//! [`Recent`] keeps what was used last and counts what it let go. [`Distinct`]
//! counts different things: exactly up to a number, about right beyond it.
//! Both work on [`fingerprint`]s, 64 bits of `SipHash` with fixed keys, so the
//! same log gives the same figures.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hasher};

/// Stands for texts in a table; two different ones collide by accident only.
pub(crate) fn fingerprint(parts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for part in parts {
        hasher.write(part.as_bytes());
        hasher.write_u8(0xff);
    }
    hasher.finish()
}

/// No neighbour.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Slot<V> {
    key: u64,
    value: V,
    older: u32,
    newer: u32,
}

/// A table of at most so many values; the one not used for longest goes first.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    most: usize,
    places: HashMap<u64, u32>,
    slots: Vec<Slot<V>>,
    oldest: u32,
    newest: u32,
    /// How many values were let go.
    pub(crate) dropped: u64,
}

impl<V> Recent<V> {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most: most.clamp(1, NONE as usize),
            places: HashMap::new(),
            slots: Vec::new(),
            oldest: NONE,
            newest: NONE,
            dropped: 0,
        }
    }

    /// The value of a key, made where there is none, and now the newest.
    pub(crate) fn get(&mut self, key: u64, make: impl FnOnce() -> V) -> &mut V {
        let at = match self.places.entry(key) {
            Entry::Occupied(place) => {
                let at = *place.get();
                if at != self.newest {
                    self.unlink(at);
                    self.link(at);
                }
                at
            }
            Entry::Vacant(place) if self.slots.len() < self.most => {
                let at = u32::try_from(self.slots.len()).unwrap_or(NONE);
                place.insert(at);
                self.slots.push(Slot { key, value: make(), older: NONE, newer: NONE });
                self.link(at);
                at
            }
            Entry::Vacant(place) => {
                let at = self.oldest;
                place.insert(at);
                self.unlink(at);
                if let Some(slot) = self.slots.get_mut(at as usize) {
                    let old = std::mem::replace(&mut slot.key, key);
                    slot.value = make();
                    self.places.remove(&old);
                }
                self.dropped += 1;
                self.link(at);
                at
            }
        };
        let slot = self.slots.get_mut(at as usize);
        &mut slot.expect("every place is that of a slot").value
    }

    /// All values, in no order that means anything but always the same one.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.slots.iter().map(|slot| &slot.value)
    }

    fn unlink(&mut self, at: u32) {
        let Some(slot) = self.slots.get(at as usize) else { return };
        let (older, newer) = (slot.older, slot.newer);
        match self.slots.get_mut(older as usize) {
            Some(slot) => slot.newer = newer,
            None => self.oldest = newer,
        }
        match self.slots.get_mut(newer as usize) {
            Some(slot) => slot.older = older,
            None => self.newest = older,
        }
    }

    fn link(&mut self, at: u32) {
        let older = std::mem::replace(&mut self.newest, at);
        if let Some(slot) = self.slots.get_mut(at as usize) {
            (slot.older, slot.newer) = (older, NONE);
        }
        match self.slots.get_mut(older as usize) {
            Some(slot) => slot.newer = at,
            None => self.oldest = at,
        }
    }
}

/// Counts different fingerprints.
///
/// Keeps the `most` smallest: with fewer the count is exact, with more it
/// follows from how close together they lie, with a standard error of one by
/// the square root of `most`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distinct {
    smallest: BTreeSet<u64>,
    is_full: bool,
}

impl Distinct {
    /// Takes one; tells whether it was certainly new.
    pub(crate) fn add(&mut self, fingerprint: u64, most: usize) -> bool {
        if self.is_full && self.smallest.last().is_some_and(|last| *last <= fingerprint) {
            return false;
        }
        let is_new = self.smallest.insert(fingerprint);
        if most < self.smallest.len() {
            self.smallest.pop_last();
            self.is_full = true;
        }
        is_new
    }

    pub(crate) fn is_exact(&self) -> bool {
        !self.is_full
    }

    pub(crate) fn count(&self) -> u64 {
        let n = self.smallest.len() as u64;
        match self.smallest.last() {
            Some(&last) if self.is_full && 0 < last => {
                let estimate = u128::from(n - 1) * (u128::from(u64::MAX) + 1) / u128::from(last);
                u64::try_from(estimate).unwrap_or(u64::MAX)
            }
            _ => n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_what_was_not_used_for_longest_goes_first() {
        let mut table = Recent::new(3);
        for key in [1, 2, 3, 1, 4, 5] {
            *table.get(key, || 0) += 1;
        }
        // 2 went for 4, 3 for 5; 1 had been used again.
        assert_eq!(table.dropped, 2);
        assert_eq!(*table.get(1, || 0), 2);
        assert_eq!((*table.get(4, || 0), *table.get(5, || 0)), (1, 1));
        assert_eq!(*table.get(2, || 0), 0);
        assert_eq!(table.values().count(), 3);
        assert_eq!(table.places.len(), 3);
    }

    #[test]
    fn ours_a_table_agrees_with_a_plain_list() {
        let mut table = Recent::new(7);
        let mut list: Vec<u64> = Vec::new();
        let mut state = 1_u64;
        for _ in 0..5000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let key = (state >> 33) % 12;
            let is_known = list.contains(&key);
            list.retain(|other| *other != key);
            list.push(key);
            if 7 < list.len() {
                list.remove(0);
            }
            let mut is_made = false;
            table.get(key, || is_made = true);
            assert_eq!(is_made, !is_known);
        }
    }

    #[test]
    fn ours_a_table_of_one_works() {
        let mut table = Recent::new(0);
        for key in 0..5_u64 {
            *table.get(key, || 0) += 1;
        }
        assert_eq!((table.dropped, table.values().count()), (4, 1));
    }

    #[test]
    fn ours_counts_are_exact_at_first_and_about_right_later() {
        let mut distinct = Distinct::default();
        for n in 0..1000 {
            distinct.add(fingerprint(&[&n.to_string()]), 1024);
            distinct.add(fingerprint(&[&(n / 2).to_string()]), 1024);
        }
        assert!(distinct.is_exact());
        assert_eq!(distinct.count(), 1000);
        for n in 0..100_000 {
            distinct.add(fingerprint(&[&n.to_string()]), 1024);
        }
        assert!(!distinct.is_exact());
        // Three standard errors.
        assert!((90_000..110_000).contains(&distinct.count()), "{}", distinct.count());
    }

    #[test]
    fn ours_parts_are_kept_apart() {
        assert_ne!(fingerprint(&["ab", "c"]), fingerprint(&["a", "bc"]));
    }
}
