//! Sorts page lines by key on disk, in bounded memory.
//!
//! Lines are collected into runs; each run is sorted and written to an anonymous file, and the
//! runs are merged. Lines with the same key keep their order.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rutter_page::Timestamp;

/// Size in bytes of the lines that are held in memory before they are written as a run.
const RUN: usize = 24 << 20;
/// Maximum number of runs that are merged at once. More runs are first merged into one.
const MAX_RUNS: usize = 48;

/// A page line with the key and the time that merging needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyedLine {
    /// Key that identifies the page.
    pub key: String,
    /// Modification time of the page.
    pub modified: Timestamp,
    /// The page line as it was read.
    pub line: Vec<u8>,
}

impl KeyedLine {
    /// Returns an empty line, to be filled by [`SortedLines::next`].
    pub fn empty() -> Self {
        let modified = Timestamp::from_unix_seconds(0).expect("1970 is in the calendar");
        Self { key: String::new(), modified, line: Vec::new() }
    }

    /// Overwrites the content and keeps the allocations.
    pub(crate) fn set(&mut self, key: &str, modified: Timestamp, line: &[u8]) {
        self.key.clear();
        self.key.push_str(key);
        self.modified = modified;
        self.line.clear();
        self.line.extend_from_slice(line);
    }
}

/// Sorts page lines by key. Accepts the lines in any order.
#[derive(Debug)]
pub struct LineSorter {
    folder: PathBuf,
    run_size: usize,
    bytes: Vec<u8>,
    slots: Vec<RunEntry>,
    /// Runs grouped into levels by how often they have been merged; within a level, the oldest run
    /// comes first. A line is written at most once per level.
    levels: Vec<Vec<File>>,
}

/// Position of a key and its line in the bytes of a run.
#[derive(Debug, Clone, Copy)]
struct RunEntry {
    start: usize,
    key_end: usize,
    end: usize,
    modified: Timestamp,
}

impl LineSorter {
    /// Returns a sorter that stores its runs in `folder`.
    pub fn new(folder: &Path) -> Self {
        Self::with_run_size(folder, RUN)
    }

    fn with_run_size(folder: &Path, run_size: usize) -> Self {
        let folder = folder.to_owned();
        Self { folder, run_size, bytes: Vec::new(), slots: Vec::new(), levels: Vec::new() }
    }

    /// Adds a page line.
    pub fn push(&mut self, key: &str, modified: Timestamp, line: &[u8]) -> io::Result<()> {
        // Sorting needs additional memory of half the size of the slots.
        let slots = self.slots.len() * size_of::<RunEntry>() * 3 / 2;
        let size = key.len() + line.len() + slots;
        if !self.slots.is_empty() && self.run_size < self.bytes.len() + size {
            self.write_run()?;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key.as_bytes());
        self.bytes.extend_from_slice(line);
        let (key_end, end) = (start + key.len(), self.bytes.len());
        self.slots.push(RunEntry { start, key_end, end, modified });
        Ok(())
    }

    /// Returns all lines in the order of their keys.
    pub fn finish(mut self) -> io::Result<SortedLines> {
        if !self.slots.is_empty() {
            self.write_run()?;
        }
        self.bytes = Vec::new();
        // Runs that were merged most often are the oldest.
        SortedLines::open(self.levels.into_iter().rev().flatten().collect())
    }

    fn write_run(&mut self) -> io::Result<()> {
        let bytes = &self.bytes;
        let part = |from, to| bytes.get(from..to).unwrap_or_default();
        // A stable sort keeps the order of lines with the same key.
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

    /// Adds a run to a level. A full level is merged into one run of the next level.
    fn add_run(&mut self, run: File, level: usize) -> io::Result<()> {
        if self.levels.len() <= level {
            self.levels.resize_with(level + 1, Vec::new);
        }
        let Some(runs) = self.levels.get_mut(level) else { return Ok(()) };
        runs.push(run);
        if runs.len() < MAX_RUNS {
            return Ok(());
        }
        let runs = std::mem::take(runs);
        let mut sorted = SortedLines::open(runs)?;
        let mut out = BufWriter::with_capacity(64 << 10, tempfile::tempfile_in(&self.folder)?);
        let mut entry = KeyedLine::empty();
        while sorted.next(&mut entry)? {
            write_entry(&mut out, entry.key.as_bytes(), entry.modified, &entry.line)?;
        }
        self.add_run(out.into_inner().map_err(io::IntoInnerError::into_error)?, level + 1)
    }
}

/// Returns the lines of all runs one by one, sorted by key.
#[derive(Debug)]
pub struct SortedLines {
    heap: BinaryHeap<Reverse<RunHead>>,
}

/// The next entry of one run; its line has not been read from the file yet.
#[derive(Debug)]
struct RunHead {
    key: String,
    modified: Timestamp,
    line_len: u64,
    run_idx: usize,
    rest: BufReader<File>,
}

impl SortedLines {
    fn open(runs: Vec<File>) -> io::Result<Self> {
        let mut heap = BinaryHeap::new();
        for (run_idx, mut run) in runs.into_iter().enumerate() {
            run.seek(SeekFrom::Start(0))?;
            let rest = BufReader::with_capacity(64 << 10, run);
            let KeyedLine { key, modified, .. } = KeyedLine::empty();
            let mut front = RunHead { key, modified, line_len: 0, run_idx, rest };
            if front.read_head()? {
                heap.push(Reverse(front));
            }
        }
        Ok(Self { heap })
    }

    /// Fills `entry` with the next line. Returns false after the last line.
    pub fn next(&mut self, entry: &mut KeyedLine) -> io::Result<bool> {
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

impl Ord for RunHead {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.key, self.run_idx).cmp(&(&other.key, other.run_idx))
    }
}
impl PartialOrd for RunHead {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for RunHead {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for RunHead {}

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

impl RunHead {
    /// Reads the next entry of the run except its line. Returns false at the end of the run.
    fn read_head(&mut self) -> io::Result<bool> {
        let mut number = [0; 8];
        // If the file ends before the first byte of an entry, the run is complete.
        match self.rest.read(&mut number)? {
            0 => return Ok(false),
            n => self.rest.read_exact(number.get_mut(n..).unwrap_or_default())?,
        }
        let key_len = u64::from_le_bytes(number);
        self.rest.read_exact(&mut number)?;
        self.line_len = u64::from_le_bytes(number);
        let mut nanos = [0; 16];
        self.rest.read_exact(&mut nanos)?;
        let broken = || io::Error::new(io::ErrorKind::InvalidData, "a sort run on disk is corrupt");
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
        fn sorting_on_disk_is_a_stable_sort(
            keys in prop::collection::vec("[a-c]{1,3}", 0..200), run_size in 1_usize..400,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorter = LineSorter::with_run_size(folder.path(), run_size);
            let mut wanted = Vec::new();
            for (position, key) in keys.into_iter().enumerate() {
                let modified = Timestamp::from_unix_seconds(i64::try_from(position).unwrap()).unwrap();
                let line = position.to_string().into_bytes();
                sorter.push(&key, modified, &line).unwrap();
                wanted.push(KeyedLine { key, modified, line });
            }
            wanted.sort_by(|a, b| a.key.cmp(&b.key));
            let mut sorted = sorter.finish().unwrap();
            let mut entry = KeyedLine::empty();
            for wanted in wanted {
                prop_assert!(sorted.next(&mut entry).unwrap());
                prop_assert_eq!(&entry, &wanted);
            }
            prop_assert!(!sorted.next(&mut entry).unwrap());
        }
    }
}
