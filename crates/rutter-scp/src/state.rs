//! The state of a section: one number that two sides can compare (D95).

use std::fmt;

use rutter_page::LineDigest;
use sha2::{Digest as _, Sha256};

/// Order-free sum over the pages of a section.
///
/// Adding and taking away a page are each one hash, so both sides keep it up
/// to date in the number of changes. It is no defence against a lying
/// publisher; the checksum guards the file, the state guards the bookkeeping.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct State(u128);

impl State {
    /// The section without pages.
    pub const EMPTY: Self = Self(0);

    /// Counts a page in.
    pub fn add(&mut self, key: &str, digest: LineDigest) {
        self.0 = self.0.wrapping_add(weight(key, digest));
    }

    /// Counts a page out.
    pub fn remove(&mut self, key: &str, digest: LineDigest) {
        self.0 = self.0.wrapping_sub(weight(key, digest));
    }

    /// Joins what two parts of a section, or two sets of changes, add up to.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Reads 32 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 32 || !text.bytes().all(is_hex) {
            return None;
        }
        u128::from_str_radix(text, 16).ok().map(Self)
    }
}

/// Which lines are hashed to know the states that a merge leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hashing {
    /// None: nobody asks for a state.
    Nothing,
    /// Those that change: the state they start from is named.
    Changes,
    /// All of them.
    Everything,
}

impl Hashing {
    pub(crate) fn needed(is_asked_for: bool, is_start_named: bool) -> Self {
        match (is_asked_for, is_start_named) {
            (false, _) => Self::Nothing,
            (true, true) => Self::Changes,
            (true, false) => Self::Everything,
        }
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

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D95
    fn ours_state_forgets_the_order_and_undoes_itself() {
        let page = |n: u8| (format!("https://h.example/{n}"), LineDigest::of(&[n]));
        let mut forward = State::EMPTY;
        let mut backward = State::EMPTY;
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
        assert_eq!(forward, State::EMPTY);
        assert_eq!(State::parse(&backward.to_string()), Some(backward));
        assert_eq!(State::parse("00"), None);
    }

    #[test] // D95: a fixed vector another implementation can compare with
    fn ours_state_of_one_page() {
        let mut state = State::EMPTY;
        state.add("https://h.example/", LineDigest::of(b"{}"));
        // printf 'https://h.example/\n44136fa355b3678a1146ad16f7e8649e' | sha256sum
        assert_eq!(LineDigest::of(b"{}").to_string(), "44136fa355b3678a1146ad16f7e8649e");
        assert_eq!(state.to_string(), "371537b954d725ebebc2b8537f8cef46");
    }
}
