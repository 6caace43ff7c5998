//! Tables whose memory does not grow with the length of a log.
//!
//! [`RecentTable`] keeps recently used values and counts the values that it dropped.
//! [`DistinctCounter`] counts distinct values: exactly up to a limit, approximately above the
//! limit. Both types identify a value by its fingerprint of 64 bits. A [`RecentTable`] uses a
//! random seed, so a log cannot be crafted to cause collisions; a [`DistinctCounter`] uses a fixed
//! seed, so the same log gives the same figures.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

/// Seed that turns texts into fingerprints of 64 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HashSeed(u64);

impl HashSeed {
    /// A fixed seed, for fingerprints that are the same in every run.
    pub(crate) const FIXED: Self = Self(0x243f_6a88_85a3_08d3);

    /// Returns a random seed, for fingerprints that a log cannot predict.
    pub(crate) fn random() -> Self {
        Self(RandomState::new().hash_one(0))
    }

    /// Returns the fingerprint of a list of texts.
    pub(crate) fn of(self, parts: &[&str]) -> u64 {
        let mut state = self.0;
        for part in parts {
            let (words, rest) = part.as_bytes().as_chunks::<8>();
            for word in words {
                state = mix(state ^ u64::from_le_bytes(*word));
            }
            let mut last = [0; 8];
            for (byte, to) in rest.iter().zip(&mut last) {
                *to = *byte;
            }
            // The length distinguishes texts that differ only in trailing zeros.
            state = mix(state ^ u64::from_le_bytes(last) ^ ((part.len() as u64) << 56));
            state = mix(state.wrapping_add(part.len() as u64));
        }
        mix(state)
    }
}

/// Mixes the bits of a hash state: multiplies it to 128 bits and combines both halves.
fn mix(state: u64) -> u64 {
    let wide = u128::from(state ^ 0x9e37_79b9_7f4a_7c15) * 0xd1b5_4a32_d192_ed03_u128;
    let [low, high] = [wide, wide >> 64]
        .map(|half| u64::try_from(half & u128::from(u64::MAX)).unwrap_or_default());
    low ^ high
}

/// Hasher that returns a fingerprint unchanged, because the fingerprint is already a hash.
#[derive(Debug, Default)]
pub(crate) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = mix(self.0 ^ u64::from(*byte));
        }
    }
    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint;
    }
}

/// A hash map from fingerprints to values.
pub(crate) type FingerprintMap<V> = HashMap<u64, V, BuildHasherDefault<IdentityHasher>>;

#[derive(Debug)]
struct TableSlot<V> {
    key: u64,
    value: V,
    /// Whether the value was used since the clock hand last passed this slot.
    is_used: bool,
}

/// A table of bounded size that drops values with the clock algorithm.
///
/// When the table is full, a clock hand moves over the slots. The hand skips a value that was used
/// since its last pass, and replaces the first value that was not used.
#[derive(Debug)]
pub(crate) struct RecentTable<V> {
    most: usize,
    places: FingerprintMap<u32>,
    slots: Vec<TableSlot<V>>,
    hand: usize,
    /// Number of values that were dropped because the table was full.
    pub(crate) dropped: u64,
}

impl<V> RecentTable<V> {
    pub(crate) fn new(most: usize) -> Self {
        let most = most.clamp(1, u32::MAX as usize);
        Self { most, places: FingerprintMap::default(), slots: Vec::new(), hand: 0, dropped: 0 }
    }

    /// Returns the value of a key; calls `make` to create a missing value.
    pub(crate) fn get(&mut self, key: u64, make: impl FnOnce() -> V) -> &mut V {
        let (at, is_used) = match self.places.get(&key) {
            Some(at) => (*at as usize, true),
            None => (self.put(key, make()), false),
        };
        let slot = self.slots.get_mut(at).expect("every index refers to a slot");
        slot.is_used = is_used;
        &mut slot.value
    }

    /// Returns all values of the table, in an unspecified but stable order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.slots.iter().map(|slot| &slot.value)
    }

    fn put(&mut self, key: u64, value: V) -> usize {
        let slot = TableSlot { key, value, is_used: false };
        let at = if self.slots.len() < self.most {
            self.slots.push(slot);
            self.slots.len() - 1
        } else {
            let at = self.unused();
            if let Some(old) = self.slots.get_mut(at) {
                self.places.remove(&old.key);
                *old = slot;
            }
            self.dropped += 1;
            at
        };
        self.places.insert(key, u32::try_from(at).unwrap_or(u32::MAX));
        at
    }

    /// Moves the clock hand to a slot whose value can be replaced, and returns its index.
    fn unused(&mut self) -> usize {
        loop {
            let at = self.hand;
            self.hand = if at + 1 < self.slots.len() { at + 1 } else { 0 };
            match self.slots.get_mut(at) {
                Some(slot) if slot.is_used => slot.is_used = false,
                _ => return at,
            }
        }
    }
}

/// Counts distinct fingerprints, approximately if there are many.
///
/// Up to the limit, the counter stores every fingerprint and its count is exact. Above the limit,
/// the counter repeatedly drops the fingerprints in the upper half of their range; each remaining
/// fingerprint then represents 2, 4, 8… values. The relative standard error is about one divided by
/// the square root of the limit.
#[derive(Debug, Clone, Default)]
pub(crate) struct DistinctCounter {
    /// The stored fingerprints, in a hash table with open addressing; 0 marks an empty slot.
    places: Vec<u64>,
    n: usize,
    n_halvings: u32,
}

impl DistinctCounter {
    /// Adds a fingerprint; the counter stores at most `most` fingerprints.
    pub(crate) fn add(&mut self, fingerprint: u64, most: usize) {
        let fingerprint = fingerprint.max(1);
        if !self.is_sampled(fingerprint) {
            return;
        }
        if self.places.len() * 7 <= (self.n + 1) * 8 {
            self.rebuild((self.places.len() * 2).max(8));
        }
        self.put(fingerprint);
        while most.max(1) < self.n && self.n_halvings < 63 {
            self.n_halvings += 1;
            self.rebuild(self.places.len());
        }
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.n_halvings == 0
    }

    pub(crate) fn count(&self) -> u64 {
        (self.n as u64).saturating_mul(1 << self.n_halvings)
    }

    fn is_sampled(&self, fingerprint: u64) -> bool {
        fingerprint <= u64::MAX >> self.n_halvings
    }

    fn put(&mut self, fingerprint: u64) {
        let mask = self.places.len() - 1;
        let start = usize::try_from(fingerprint & mask as u64).unwrap_or(0);
        for step in 0..self.places.len() {
            let Some(place) = self.places.get_mut((start + step) & mask) else { return };
            if *place == fingerprint {
                return;
            }
            if *place == 0 {
                *place = fingerprint;
                self.n += 1;
                return;
            }
        }
    }

    /// Rehashes the fingerprints that remain in the sample into a table with `n_places` slots.
    fn rebuild(&mut self, n_places: usize) {
        let old = std::mem::replace(&mut self.places, vec![0; n_places]);
        self.n = 0;
        for fingerprint in old {
            if fingerprint != 0 && self.is_sampled(fingerprint) {
                self.put(fingerprint);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn drops_unused_values_first() {
        let mut table = RecentTable::new(3);
        for key in [1, 2, 3, 1, 4, 5] {
            *table.get(key, || 0) += 1;
        }
        // Key 4 replaced key 2, and key 5 replaced key 3; key 1 had been used again.
        assert_eq!(table.dropped, 2);
        assert_eq!(*table.get(1, || 0), 2);
        assert_eq!((*table.get(4, || 0), *table.get(5, || 0)), (1, 1));
        assert_eq!(*table.get(2, || 0), 0);
        assert_eq!(table.values().count(), 3);
        assert_eq!(table.places.len(), 3);
    }

    #[test]
    fn keeps_values_in_use() {
        let mut table = RecentTable::new(7);
        for n in 1..=5000_u64 {
            assert_eq!(*table.get(0, || 0), n - 1);
            *table.get(0, || 0) = n;
            *table.get(n, || n) += 1;
            assert!(table.places.len() <= 7 && table.slots.len() <= 7);
            // Each key refers to the slot with its own value.
            assert!(table.places.iter().all(|(key, at)| {
                table.slots.get(*at as usize).is_some_and(|slot| slot.key == *key)
            }));
        }
        assert_eq!(table.dropped, 5001 - 7);
    }

    #[test]
    fn supports_a_table_of_one() {
        let mut table = RecentTable::new(0);
        for key in 0..5_u64 {
            *table.get(key, || 0) += 1;
        }
        assert_eq!((table.dropped, table.values().count()), (4, 1));
    }

    #[test]
    fn counts_exactly_then_approximately() {
        let mut distinct = DistinctCounter::default();
        for n in 0..1000 {
            distinct.add(HashSeed::FIXED.of(&[&n.to_string()]), 1024);
            distinct.add(HashSeed::FIXED.of(&[&(n / 2).to_string()]), 1024);
        }
        assert!(distinct.is_exact());
        assert_eq!(distinct.count(), 1000);
        for n in 0..100_000 {
            distinct.add(HashSeed::FIXED.of(&[&n.to_string()]), 1024);
        }
        assert!(!distinct.is_exact());
        // The tolerance is about three standard errors.
        assert!((88_000..112_000).contains(&distinct.count()), "{}", distinct.count());
    }

    #[test]
    fn fingerprints_differ() {
        let of = |parts: &[&str]| HashSeed::FIXED.of(parts);
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a\0"]));
        assert_ne!(of(&["", "a"]), of(&["a", ""]));
        assert_ne!(of(&[]), of(&[""]));
        let texts = (0..200_000).map(|n| format!("/guide/section-{}/page-{n}.html", n % 97));
        let prints: BTreeSet<u64> = texts.map(|text| of(&[&text])).collect();
        assert_eq!(prints.len(), 200_000);
        // All bits must vary, because hash tables use the low and the high bits.
        for shift in [0, 20, 57] {
            let values: BTreeSet<u64> = prints.iter().map(|print| (print >> shift) & 127).collect();
            assert_eq!(values.len(), 128);
        }
    }

    #[test]
    fn reports_inexact_counts_beyond_the_limit() {
        let mut distinct = DistinctCounter::default();
        for n in 0..5000 {
            assert!(n < 100 || 100 <= distinct.count() * 5 / 4, "{n}");
            if n <= 100 {
                assert_eq!(distinct.count(), n);
            }
            distinct.add(HashSeed::FIXED.of(&[&n.to_string()]), 100);
        }
        assert!(!distinct.is_exact());
    }
}
