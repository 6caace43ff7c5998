//! A set of URLs that stores a hash of eight bytes for each URL.
//!
//! A set cannot list its URLs; it only answers whether a URL is a member. The answer may be
//! wrong if two URLs have equal hashes. Of sites with 100,000 pages, about one in 4·10⁹ has
//! two such URLs.

use std::collections::HashSet;
use std::io;

use crate::error::SyncError;
use crate::state::spool_dir::SpoolDir;

/// A set of URLs, stored as hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UrlSet(HashSet<u64>);

/// Returns the FNV-1a hash of a text. Hashes are stored in files, so they must not change
/// with the version of a library.
pub(crate) fn stable_hash(address: &str) -> u64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in address.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

impl UrlSet {
    /// Adds a URL and returns whether the set did not contain it.
    pub(crate) fn insert(&mut self, address: &str) -> bool {
        self.0.insert(stable_hash(address))
    }

    pub(crate) fn has(&self, address: &str) -> bool {
        self.0.contains(&stable_hash(address))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn remove(&mut self, address: &str) {
        self.0.remove(&stable_hash(address));
    }

    /// Removes all members of another set, and returns whether the set contained any of
    /// them.
    pub(crate) fn remove_all(&mut self, others: &Self) -> bool {
        let before = self.0.len();
        self.0.retain(|number| !others.0.contains(number));
        self.0.len() < before
    }

    pub(crate) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Reads a set that an earlier sync stored. Returns `None` if the file is missing or
    /// invalid, or was stored with another stamp.
    pub(crate) fn read(spool_dir: &SpoolDir, name: &str, stamp: u64) -> Option<Self> {
        let bytes = std::fs::read(spool_dir.path(name)).ok()?;
        let (numbers, rest) = bytes.as_chunks::<8>();
        let mut numbers = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let is_valid = rest.is_empty() && numbers.next() == Some(stamp);
        is_valid.then(|| Self(numbers.collect()))
    }

    /// Stores the set for a later sync, with a stamp that [`UrlSet::read`] compares.
    pub(crate) fn write(
        &self,
        spool_dir: &SpoolDir,
        name: &str,
        stamp: u64,
    ) -> Result<(), SyncError> {
        let mut numbers: Vec<u64> = self.0.iter().copied().collect();
        numbers.sort_unstable();
        let numbers = std::iter::once(stamp).chain(numbers);
        let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        let put = |bytes: &[u8]| -> io::Result<()> {
            let fresh = spool_dir.path(&format!("{name}.new"));
            std::fs::write(&fresh, bytes)?;
            std::fs::rename(fresh, spool_dir.path(name))
        };
        put(&bytes).map_err(|error| SyncError::Spool(spool_dir.path(name), error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_round_trips_through_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let spool_dir = SpoolDir::open(folder.path(), "https://harbour.example").unwrap();
        let mut keys = UrlSet::default();
        assert!(keys.insert("https://harbour.example/a") && keys.insert("b"));
        assert!(!keys.insert("b"));
        keys.write(&spool_dir, "covered", 7).unwrap();
        assert_eq!(UrlSet::read(&spool_dir, "covered", 7), Some(keys.clone()));
        assert!(keys.has("https://harbour.example/a") && !keys.has("c") && keys.len() == 2);
        let mut others = UrlSet::default();
        others.insert("c");
        assert!(!keys.remove_all(&others));
        others.insert("b");
        assert!(keys.remove_all(&others) && !keys.has("b"));
        // A file with another stamp, a missing file and a truncated file give no set.
        assert_eq!(UrlSet::read(&spool_dir, "covered", 8), None);
        assert_eq!(UrlSet::read(&spool_dir, "nothing", 7), None);
        std::fs::write(spool_dir.path("covered"), b"123456789").unwrap();
        assert_eq!(UrlSet::read(&spool_dir, "covered", 7), None);
    }

    #[test]
    fn hashes_never_change() {
        assert_eq!(stable_hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(stable_hash("a"), 0xaf63_dc4c_8601_ec8c);
    }
}
