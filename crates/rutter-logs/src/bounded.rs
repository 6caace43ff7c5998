//! Tables that do not grow with the log.
//!
//! [`Recent`] keeps what was used lately and counts what it let go. [`Distinct`]
//! counts different things: exactly up to a number, about right beyond it.
//! Both work on fingerprints of 64 bits. Those of a table begin with a number
//! of chance, so nobody can write a log whose lines all fall into one place;
//! those that are counted do not, so the same log gives the same figures.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};

/// Makes fingerprints: two different texts have the same by accident only.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seed(u64);

impl Seed {
    /// Always the same.
    pub(crate) const FIXED: Self = Self(0x243f_6a88_85a3_08d3);

    /// Another in every run.
    pub(crate) fn random() -> Self {
        Self(RandomState::new().hash_one(0))
    }

    /// Stands for these texts.
    pub(crate) fn of(self, parts: &[&str]) -> u64 {
        let mut state = self.0;
        for part in parts {
            let (words, rest) = part.as_bytes().as_chunks::<8>();
            for word in words {
                state = mixed(state ^ u64::from_le_bytes(*word));
            }
            let mut last = [0; 8];
            for (byte, to) in rest.iter().zip(&mut last) {
                *to = *byte;
            }
            // The length keeps texts apart that differ in zeros only.
            state = mixed(state ^ u64::from_le_bytes(last) ^ ((part.len() as u64) << 56));
            state = mixed(state.wrapping_add(part.len() as u64));
        }
        mixed(state)
    }
}

/// Multiplies into 128 bits and folds the halves together.
fn mixed(state: u64) -> u64 {
    let wide = u128::from(state ^ 0x9e37_79b9_7f4a_7c15) * 0xd1b5_4a32_d192_ed03_u128;
    let [low, high] = [wide, wide >> 64]
        .map(|half| u64::try_from(half & u128::from(u64::MAX)).unwrap_or_default());
    low ^ high
}

/// Takes a fingerprint for what it is.
#[derive(Debug, Default)]
pub(crate) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = mixed(self.0 ^ u64::from(*byte));
        }
    }
    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint;
    }
}

/// A map by fingerprints.
pub(crate) type Prints<V> = HashMap<u64, V, BuildHasherDefault<AsIs>>;

#[derive(Debug)]
struct Slot<V> {
    key: u64,
    value: V,
    /// Used since the hand came by.
    is_used: bool,
}

/// A table of at most so many values.
///
/// Where it is full, a hand goes round: what was used since it came by last is
/// spared once, the first that was not gives up its place.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    most: usize,
    places: Prints<u32>,
    slots: Vec<Slot<V>>,
    hand: usize,
    /// How many values were let go.
    pub(crate) dropped: u64,
}

impl<V> Recent<V> {
    pub(crate) fn new(most: usize) -> Self {
        let most = most.clamp(1, u32::MAX as usize);
        Self { most, places: Prints::default(), slots: Vec::new(), hand: 0, dropped: 0 }
    }

    /// The value of a key, made where there is none.
    pub(crate) fn get(&mut self, key: u64, make: impl FnOnce() -> V) -> &mut V {
        let (at, is_used) = match self.places.get(&key) {
            Some(at) => (*at as usize, true),
            None => (self.put(key, make()), false),
        };
        let slot = self.slots.get_mut(at).expect("every place is that of a slot");
        slot.is_used = is_used;
        &mut slot.value
    }

    /// All values, in no order that means anything but always the same one.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.slots.iter().map(|slot| &slot.value)
    }

    fn put(&mut self, key: u64, value: V) -> usize {
        let slot = Slot { key, value, is_used: false };
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

    /// Moves the hand on to a slot that may go.
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

/// Counts different fingerprints.
///
/// Up to a number they are kept and the count is exact. Beyond it, those of
/// the upper half are let go and no longer taken, again and again; each that
/// is left then stands for 2, 4, 8…, with a standard error of about one by the
/// square root of the number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distinct {
    /// A table with open places; 0 is an empty one.
    places: Vec<u64>,
    n: usize,
    halved: u32,
}

impl Distinct {
    /// Takes one, and keeps at most this many.
    pub(crate) fn add(&mut self, fingerprint: u64, most: usize) {
        let fingerprint = fingerprint.max(1);
        if !self.is_taken(fingerprint) {
            return;
        }
        if self.places.len() * 7 <= (self.n + 1) * 8 {
            self.rebuild((self.places.len() * 2).max(8));
        }
        self.put(fingerprint);
        while most.max(1) < self.n && self.halved < 63 {
            self.halved += 1;
            self.rebuild(self.places.len());
        }
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.halved == 0
    }

    pub(crate) fn count(&self) -> u64 {
        (self.n as u64).saturating_mul(1 << self.halved)
    }

    fn is_taken(&self, fingerprint: u64) -> bool {
        fingerprint <= u64::MAX >> self.halved
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

    /// Moves what is still taken into a table with so many places.
    fn rebuild(&mut self, n_places: usize) {
        let old = std::mem::replace(&mut self.places, vec![0; n_places]);
        self.n = 0;
        for fingerprint in old {
            if fingerprint != 0 && self.is_taken(fingerprint) {
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
    fn ours_what_was_not_used_goes_first() {
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
    fn ours_what_is_in_use_stays_whatever_passes() {
        let mut table = Recent::new(7);
        for n in 1..=5000_u64 {
            assert_eq!(*table.get(0, || 0), n - 1);
            *table.get(0, || 0) = n;
            *table.get(n, || n) += 1;
            assert!(table.places.len() <= 7 && table.slots.len() <= 7);
            // What a key leads to is the key's.
            assert!(table.places.iter().all(|(key, at)| {
                table.slots.get(*at as usize).is_some_and(|slot| slot.key == *key)
            }));
        }
        assert_eq!(table.dropped, 5001 - 7);
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
            distinct.add(Seed::FIXED.of(&[&n.to_string()]), 1024);
            distinct.add(Seed::FIXED.of(&[&(n / 2).to_string()]), 1024);
        }
        assert!(distinct.is_exact());
        assert_eq!(distinct.count(), 1000);
        for n in 0..100_000 {
            distinct.add(Seed::FIXED.of(&[&n.to_string()]), 1024);
        }
        assert!(!distinct.is_exact());
        // Three standard errors.
        assert!((88_000..112_000).contains(&distinct.count()), "{}", distinct.count());
    }

    #[test]
    fn ours_fingerprints_differ() {
        let of = |parts: &[&str]| Seed::FIXED.of(parts);
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a\0"]));
        assert_ne!(of(&["", "a"]), of(&["a", ""]));
        assert_ne!(of(&[]), of(&[""]));
        let texts = (0..200_000).map(|n| format!("/guide/section-{}/page-{n}.html", n % 97));
        let prints: BTreeSet<u64> = texts.map(|text| of(&[&text])).collect();
        assert_eq!(prints.len(), 200_000);
        // Each part of the bits is used: places in a map are taken from both ends.
        for shift in [0, 20, 57] {
            let values: BTreeSet<u64> = prints.iter().map(|print| (print >> shift) & 127).collect();
            assert_eq!(values.len(), 128);
        }
    }

    #[test]
    fn ours_counts_never_miss_the_step_beyond_a_number() {
        let mut distinct = Distinct::default();
        for n in 0..5000 {
            assert!(n < 100 || 100 <= distinct.count() * 5 / 4, "{n}");
            if n <= 100 {
                assert_eq!(distinct.count(), n);
            }
            distinct.add(Seed::FIXED.of(&[&n.to_string()]), 100);
        }
        assert!(!distinct.is_exact());
    }
}
