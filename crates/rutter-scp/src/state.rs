//! State of a section: a sum over its pages that proves that two copies are equal (D95).

use std::fmt;

use rutter_page::LineDigest;
use sha2::{Digest as _, Sha256};

use crate::writer::StateTracking;

/// Order-independent sum over the pages of a section.
///
/// Adding or removing a page costs one hash, so keeping a state up to date takes time proportional
/// to the number of changes. A state does not protect against a dishonest publisher: the checksum
/// protects the file, the state detects bookkeeping errors.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct SectionState(u128);

impl SectionState {
    /// The state of a section without pages.
    pub const EMPTY: Self = Self(0);

    /// Adds a page to the state.
    pub fn add(&mut self, key: &str, digest: LineDigest) {
        self.0 = self.0.wrapping_add(weight(key, digest));
    }

    /// Removes a page from the state.
    pub fn remove(&mut self, key: &str, digest: LineDigest) {
        self.0 = self.0.wrapping_sub(weight(key, digest));
    }

    /// Adds the states of two disjoint sets of pages or changes.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Parses a state, written as 32 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 32 || !text.bytes().all(is_hex) {
            return None;
        }
        u128::from_str_radix(text, 16).ok().map(Self)
    }
}

/// Which lines must be hashed to compute the states of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinesToHash {
    /// No lines, because no state is requested.
    Nothing,
    /// Only the lines of changed pages, because the state before the changes is known.
    Changes,
    /// The lines of all pages.
    Everything,
}

impl LinesToHash {
    pub(crate) fn needed(is_asked_for: bool, is_start_named: bool) -> Self {
        match (is_asked_for, is_start_named) {
            (false, _) => Self::Nothing,
            (true, true) => Self::Changes,
            (true, false) => Self::Everything,
        }
    }

    /// Returns whether the writer computes the state.
    pub(crate) fn tracking(self) -> StateTracking {
        if self == Self::Nothing { StateTracking::Nothing } else { StateTracking::State }
    }
}

fn weight(key: &str, digest: LineDigest) -> u128 {
    let mut hash = Sha256::new();
    hash.update(key.as_bytes());
    hash.update(b"\n");
    hash.update(digest.to_string().as_bytes());
    let sum: [u8; 32] = hash.finalize().into();
    sum.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte))
}

impl fmt::Display for SectionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for SectionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D95
    fn state_is_independent_of_order_and_removal_undoes_addition() {
        let page = |n: u8| (format!("https://h.example/{n}"), LineDigest::of(&[n]));
        let mut forward = SectionState::EMPTY;
        let mut backward = SectionState::EMPTY;
        for n in 0..10 {
            let (key, digest) = page(n);
            forward.add(&key, digest);
            let (key, digest) = page(9 - n);
            backward.add(&key, digest);
        }
        assert_eq!(forward, backward);
        for n in 0..10 {
            let (key, digest) = page(n);
            forward.remove(&key, digest);
        }
        assert_eq!(forward, SectionState::EMPTY);
        assert_eq!(SectionState::parse(&backward.to_string()), Some(backward));
        assert_eq!(SectionState::parse("00"), None);
    }

    #[test] // D95: a fixed vector for comparison with other implementations
    fn state_of_one_page_matches_the_fixed_vector() {
        let mut state = SectionState::EMPTY;
        state.add("https://h.example/", LineDigest::of(b"{}"));
        // printf 'https://h.example/\n44136fa355b3678a1146ad16f7e8649e' | sha256sum
        assert_eq!(LineDigest::of(b"{}").to_string(), "44136fa355b3678a1146ad16f7e8649e");
        assert_eq!(state.to_string(), "371537b954d725ebebc2b8537f8cef46");
    }
}
