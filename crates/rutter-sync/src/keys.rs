//! A set of addresses, eight bytes each.
//!
//! Sets of all pages of a site are asked one question only: is this one in
//! it. Two addresses are taken for one in about one of 10¹³ sites of a
//! hundred thousand pages.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use std::io;

use crate::error::VisitError;
use crate::shelf::Shelf;

/// A set of addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Keys(HashSet<u64>);

/// The number of an address.
fn number(address: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(address.as_bytes());
    hasher.finish()
}

impl Keys {
    /// Adds an address; tells whether it is new.
    pub(crate) fn insert(&mut self, address: &str) -> bool {
        self.0.insert(number(address))
    }

    pub(crate) fn has(&self, address: &str) -> bool {
        self.0.contains(&number(address))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// A set that an earlier visit kept; an empty one where it is lost, which
    /// costs questions to the replica and nothing else.
    pub(crate) fn read(shelf: &Shelf, name: &str) -> Self {
        let bytes = std::fs::read(shelf.path(name)).unwrap_or_default();
        let (numbers, rest) = bytes.as_chunks::<8>();
        let numbers = numbers.iter().filter(|_| rest.is_empty());
        Self(numbers.map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    /// Keeps the set for a later visit.
    pub(crate) fn write(&self, shelf: &Shelf, name: &str) -> Result<(), VisitError> {
        let mut numbers: Vec<u64> = self.0.iter().copied().collect();
        numbers.sort_unstable();
        let bytes: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
        let put = |bytes: &[u8]| -> io::Result<()> {
            let fresh = shelf.path(&format!("{name}.new"));
            std::fs::write(&fresh, bytes)?;
            std::fs::rename(fresh, shelf.path(name))
        };
        put(&bytes).map_err(|error| VisitError::Spool(shelf.path(name), error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_a_set_comes_back_as_it_was_kept() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::open(folder.path(), "https://harbour.example").unwrap();
        let mut keys = Keys::default();
        assert!(keys.insert("https://harbour.example/a") && keys.insert("b"));
        assert!(!keys.insert("b"));
        keys.write(&shelf, "covered").unwrap();
        assert_eq!(Keys::read(&shelf, "covered"), keys);
        assert!(keys.has("https://harbour.example/a") && !keys.has("c"));
        assert_eq!((keys.len(), Keys::read(&shelf, "nothing").len()), (2, 0));
        // A file that was cut is no set.
        std::fs::write(shelf.path("covered"), b"123456789").unwrap();
        assert_eq!(Keys::read(&shelf, "covered"), Keys::default());
    }
}
