//! Sorts page lines by key on disk, in bounded memory.
//!
//! Lines gather until they fill a run, runs are sorted and written to nameless
//! files, and the runs are merged. Lines of one key keep the order they came
//! in.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rutter_page::Timestamp;

/// Bytes held before a run is written.
const RUN: usize = 24 << 20;
/// Runs that are merged at once; more are first merged into one.
const MOST_RUNS: usize = 48;

/// A page line with what is needed to merge it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// By which pages are the same.
    pub key: String,
    /// When the page changed.
    pub modified: Timestamp,
    /// The line as it was written.
    pub line: Vec<u8>,
}

impl Entry {
    /// An entry to be filled.
    pub fn empty() -> Self {
        let modified = Timestamp::from_unix_seconds(0).expect("1970 is in the calendar");
        Self { key: String::new(), modified, line: Vec::new() }
    }

    /// Takes over another's place, keeping the allocations.
    pub(crate) fn set(&mut self, key: &str, modified: Timestamp, line: &[u8]) {
        self.key.clear();
        self.key.push_str(key);
        self.modified = modified;
        self.line.clear();
        self.line.extend_from_slice(line);
    }
}

/// Takes lines in any order.
#[derive(Debug)]
pub struct Sorter {
    folder: PathBuf,
    run_size: usize,
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    /// Runs by how often they have been merged, oldest first in each level, so
    /// that no line is written more often than there are levels.
    levels: Vec<Vec<File>>,
}

/// Where in the run's bytes an entry lies: its key, then its line.
#[derive(Debug, Clone, Copy)]
struct Slot {
    start: usize,
    key_end: usize,
    end: usize,
    modified: Timestamp,
}

impl Sorter {
    /// A sorter whose runs lie in `folder`.
    pub fn new(folder: &Path) -> Self {
        Self::with_run_size(folder, RUN)
    }

    fn with_run_size(folder: &Path, run_size: usize) -> Self {
        let folder = folder.to_owned();
        Self { folder, run_size, bytes: Vec::new(), slots: Vec::new(), levels: Vec::new() }
    }

    /// Adds a line.
    pub fn push(&mut self, key: &str, modified: Timestamp, line: &[u8]) -> io::Result<()> {
        // Sorting needs half as much again for the slots.
        let slots = self.slots.len() * size_of::<Slot>() * 3 / 2;
        let size = key.len() + line.len() + slots;
        if !self.slots.is_empty() && self.run_size < self.bytes.len() + size {
            self.write_run()?;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.extend_from_slice(line);
        let (key_end, end) = (start + key.len(), self.bytes.len());
        self.slots.push(Slot { start, key_end, end, modified });
        Ok(())
    }

    /// Gives the lines back in order.
    pub fn finish(mut self) -> io::Result<Sorted> {
        if !self.slots.is_empty() {
            self.write_run()?;
        }
        self.bytes = Vec::new();
        // The most often merged are the oldest.
        Sorted::open(self.levels.into_iter().rev().flatten().collect())
    }

    fn write_run(&mut self) -> io::Result<()> {
        let bytes = &self.bytes;
        let part = |from, to| bytes.get(from..to).unwrap_or_default();
        // Stable, so lines of one key stay in the order they came.
        self.slots.sort_by(|a, b| part(a.start, a.key_end).cmp(part(b.start, b.key_end)));
        let mut out = BufWriter::with_capacity(64 << 10, tempfile::tempfile_in(&self.folder)?);
        for slot in &self.slots {
            let (key, line) = (part(slot.start, slot.key_end), part(slot.key_end, slot.end));
            write_entry(&mut out, key, slot.modified, line)?;
        }
        let run = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        self.bytes.clear();
        self.bytes.shrink_to(self.run_size);
        self.slots.clear();
        self.add_run(run, 0)
    }

    /// Adds a run to a level; a full level becomes one run of the next.
    fn add_run(&mut self, run: File, level: usize) -> io::Result<()> {
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Vec::new);
        }
        let Some(runs) = self.levels.get_mut(level) else { return Ok(()) };
        runs.push(run);
        if runs.len() < MOST_RUNS {
            return Ok(());
        }
        let runs = std::mem::take(runs);
        let mut sorted = Sorted::open(runs)?;
        let mut out = BufWriter::with_capacity(64 << 10, tempfile::tempfile_in(&self.folder)?);
        let mut entry = Entry::empty();
        while sorted.next(&mut entry)? {
            write_entry(&mut out, entry.key.as_bytes(), entry.modified, &entry.line)?;
        }
        self.add_run(out.into_inner().map_err(io::IntoInnerError::into_error)?, level + 1)
    }
}

/// Gives lines back sorted by key.
#[derive(Debug)]
pub struct Sorted {
    heap: BinaryHeap<Reverse<Front>>,
}

/// The next entry of one run; its line is still in the file.
#[derive(Debug)]
struct Front {
    key: String,
    modified: Timestamp,
    line_len: u64,
    run_idx: usize,
    rest: BufReader<File>,
}

impl Sorted {
    fn open(runs: Vec<File>) -> io::Result<Self> {
        let mut heap = BinaryHeap::new();
        for (run_idx, mut run) in runs.into_iter().enumerate() {
            run.seek(SeekFrom::Start(0))?;
            let rest = BufReader::with_capacity(64 << 10, run);
            let Entry { key, modified, .. } = Entry::empty();
            let mut front = Front { key, modified, line_len: 0, run_idx, rest };
            if front.read_head()? {
                heap.push(Reverse(front));
            }
        }
        Ok(Self { heap })
    }

    /// Fills `entry` with the next line; false when there is none.
    pub fn next(&mut self, entry: &mut Entry) -> io::Result<bool> {
        let Some(mut front) = self.heap.pop() else { return Ok(false) };
        std::mem::swap(&mut entry.key, &mut front.0.key);
        entry.modified = front.0.modified;
        entry.line.clear();
        front.0.rest.by_ref().take(front.0.line_len).read_to_end(&mut entry.line)?;
        if front.0.read_head()? {
            self.heap.push(front);
        }
        Ok(true)
    }
}

impl Ord for Front {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.key, self.run_idx).cmp(&(&other.key, other.run_idx))
    }
}
impl PartialOrd for Front {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Front {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Front {}

fn write_entry(
    out: &mut impl Write,
    key: &[u8],
    modified: Timestamp,
    line: &[u8],
) -> io::Result<()> {
    out.write_all(&(key.len() as u64).to_le_bytes())?;
    out.write_all(&(line.len() as u64).to_le_bytes())?;
    out.write_all(&modified.as_nanos().to_le_bytes())?;
    out.write_all(key)?;
    out.write_all(line)
}

impl Front {
    /// Reads everything about the next entry but its line; false at the end.
    fn read_head(&mut self) -> io::Result<bool> {
        let mut number = [0; 8];
        // An end before the first byte is the end of the run.
        match self.rest.read(&mut number)? {
            0 => return Ok(false),
            n => self.rest.read_exact(number.get_mut(n..).unwrap_or_default())?,
        }
        let key_len = u64::from_le_bytes(number);
        self.rest.read_exact(&mut number)?;
        self.line_len = u64::from_le_bytes(number);
        let mut nanos = [0; 16];
        self.rest.read_exact(&mut nanos)?;
        let broken = || io::Error::new(io::ErrorKind::InvalidData, "sort run is damaged");
        self.modified = Timestamp::from_nanos(i128::from_le_bytes(nanos)).ok_or_else(broken)?;
        self.key.clear();
        self.rest.by_ref().take(key_len).read_to_string(&mut self.key)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ours_sorting_on_disk_is_a_stable_sort(
            keys in prop::collection::vec("[a-c]{1,3}", 0..200), run_size in 1_usize..400,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::with_run_size(folder.path(), run_size);
            let mut wanted = Vec::new();
            for (position, key) in keys.into_iter().enumerate() {
                let modified = Timestamp::from_unix_seconds(i64::try_from(position).unwrap()).unwrap();
                let line = position.to_string().into_bytes();
                sorter.push(&key, modified, &line).unwrap();
                wanted.push(Entry { key, modified, line });
            }
            wanted.sort_by(|a, b| a.key.cmp(&b.key));
            let mut sorted = sorter.finish().unwrap();
            let mut entry = Entry::empty();
            for wanted in wanted {
                prop_assert!(sorted.next(&mut entry).unwrap());
                prop_assert_eq!(&entry, &wanted);
            }
            prop_assert!(!sorted.next(&mut entry).unwrap());
        }
    }
}
