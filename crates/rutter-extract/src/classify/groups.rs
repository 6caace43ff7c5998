//! Counts segments that share a key, such as the same text or the same tags and classes.
//!
//! Input: one key per segment. Output: the number of the group of that key.

/// Maximum number of slots that a search visits. A key that finds no slot is in group 0, so that no
/// page makes the search slow.
const MOST_STEPS: usize = 12;

/// A hash table that numbers distinct keys.
pub(crate) struct KeyNumbering {
    slots: Vec<(u32, u32)>,
    pub(crate) len: u32,
}

impl KeyNumbering {
    /// Creates a table for the keys of `n` segments.
    pub(crate) fn new(n: usize) -> Self {
        Self { slots: vec![(0, 0); (2 * n + 2).next_power_of_two()], len: 1 }
    }

    /// Returns the number of a key, from 1; 0 if the search finds no free slot.
    pub(crate) fn number(&mut self, key: u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = (key.wrapping_mul(0x9e37_79b1) >> 7) as usize & mask;
        for _ in 0..MOST_STEPS {
            let Some((found, number)) = self.slots.get_mut(slot) else { return 0 };
            if *number == 0 {
                (*found, *number) = (key, self.len);
                self.len += 1;
                return *number;
            }
            if *found == key {
                return *number;
            }
            slot = (slot + 1) & mask;
        }
        0
    }
}
