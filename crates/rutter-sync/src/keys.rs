//! A set of addresses, eight bytes each.
//!
//! Sets of all pages of a site are asked one question only: is this one in
//! it. Of sites with a hundred thousand pages, one in about 4·10⁹ has two
//! addresses that are taken for one.

use std::collections::HashSet;
use std::io;

use crate::error::VisitError;
use crate::shelf::Shelf;

/// A set of addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Keys(HashSet<u64>);

/// The number of an address: FNV-1a, because numbers are kept in a file and
/// must not change with a library.
pub(crate) fn number(address: &str) -> u64 {
    let mut number: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in address.bytes() {
        number = (number ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    number
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

    pub(crate) fn remove(&mut self, address: &str) {
        self.0.remove(&number(address));
    }

    /// Takes addresses out; tells whether there were any of them.
    pub(crate) fn take_out(&mut self, others: &Self) -> bool {
        let before = self.0.len();
        self.0.retain(|number| !others.0.contains(number));
        self.0.len() < before
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// A set that an earlier visit kept under a stamp; `None` where it is lost
    /// or of another stamp.
    pub(crate) fn read(shelf: &Shelf, name: &str, stamp: u64) -> Option<Self> {
        let bytes = std::fs::read(shelf.path(name)).ok()?;
        let (numbers, rest) = bytes.as_chunks::<8>();
        let mut numbers = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let is_ours = rest.is_empty() && numbers.next() == Some(stamp);
        is_ours.then(|| Self(numbers.collect()))
    }

    /// Keeps the set for a later visit.
    pub(crate) fn write(&self, shelf: &Shelf, name: &str, stamp: u64) -> Result<(), VisitError> {
        let mut numbers: Vec<u64> = self.0.iter().copied().collect();
        numbers.sort_unstable();
        let numbers = std::iter::once(stamp).chain(numbers);
        let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
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
        keys.write(&shelf, "covered", 7).unwrap();
        assert_eq!(Keys::read(&shelf, "covered", 7), Some(keys.clone()));
        assert!(keys.has("https://harbour.example/a") && !keys.has("c") && keys.len() == 2);
        let mut others = Keys::default();
        others.insert("c");
        assert!(!keys.take_out(&others));
        others.insert("b");
        assert!(keys.take_out(&others) && !keys.has("b"));
        // Another stamp, no file, and one that was cut, are no set.
        assert_eq!(Keys::read(&shelf, "covered", 8), None);
        assert_eq!(Keys::read(&shelf, "nothing", 7), None);
        std::fs::write(shelf.path("covered"), b"123456789").unwrap();
        assert_eq!(Keys::read(&shelf, "covered", 7), None);
    }

    #[test]
    fn ours_numbers_are_the_same_in_every_release() {
        assert_eq!(number(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(number("a"), 0xaf63_dc4c_8601_ec8c);
    }
}
