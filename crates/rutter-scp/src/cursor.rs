//! Walks a collection in key order, whatever order it is in.
//!
//! Collections that are sorted by key, as ours are, are read once and
//! directly. Others are sorted on disk first. Two pages of one key count as
//! one (D30).

use std::io::Read;
use std::path::Path;

use rutter_finding::FindingSink;

use crate::error::ReadError;
use crate::lines::Next;
use crate::merge::{self, Merge};
use crate::reader::{Options, Reader, Receipt};
use crate::sort::{Entry, Sorted, Sorter};

/// Opens an input from its beginning, as often as it is asked.
pub type Opener<'i> = dyn Fn() -> std::io::Result<(Box<dyn Read + Send>, Option<u64>)> + 'i;

/// A collection to be walked, and where its findings go.
#[expect(missing_debug_implementations, reason = "it is two references to functions")]
pub struct Input<'i> {
    /// Opens it.
    pub open: &'i Opener<'i>,
    /// Takes its findings.
    pub sink: &'i mut dyn FindingSink,
}

/// Whether a collection is taken to be sorted by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As it is; found unsorted, the walk fails and is begun again.
    Given,
    /// Sorted on disk before the walk.
    Sort,
}

/// Why a walk stopped.
#[derive(Debug)]
pub(crate) enum WalkError {
    /// The collection turned out not to be sorted by key.
    Unsorted,
    /// It could not be read, or sorted.
    Read(ReadError),
}

impl<E: Into<ReadError>> From<E> for WalkError {
    fn from(error: E) -> Self {
        Self::Read(error.into())
    }
}

/// Opens a collection for reading.
pub(crate) fn open(input: &mut Input<'_>, options: Options) -> Result<Reader, ReadError> {
    let (bytes, size) = (input.open)()?;
    Reader::open(bytes, Options { size, ..options }, input.sink)
}

/// A walk through a collection in key order.
pub(crate) struct Cursor<'i> {
    input: Input<'i>,
    source: Source,
    entry: Entry,
    next: Entry,
    /// Whether the line of `entry`, and of `next`, is the other walk's line
    /// with this key; it is not copied then.
    is_known: [bool; 2],
    has_next: bool,
}

enum Source {
    Direct(Box<Reader>),
    Sorted(Sorted, Box<Receipt>),
}

impl<'i> Cursor<'i> {
    /// Goes on with a reader that has just been opened.
    pub(crate) fn new(
        mut input: Input<'i>,
        reader: Reader,
        order: Order,
        folder: &Path,
    ) -> Result<Self, WalkError> {
        let source = match order {
            Order::Given => Source::Direct(Box::new(reader)),
            Order::Sort => sort(&mut input, reader, folder)?,
        };
        let (entry, next) = (Entry::empty(), Entry::empty());
        let mut cursor = Self { input, source, entry, next, is_known: [false; 2], has_next: false };
        cursor.has_next = cursor.pull(None)?;
        Ok(cursor)
    }

    /// Moves on; false behind the last page.
    pub(crate) fn advance(&mut self) -> Result<bool, WalkError> {
        self.advance_beside(None)
    }

    /// Moves on beside another walk, most of whose lines are the same: a line
    /// that equals the other's coming one has been judged there.
    pub(crate) fn advance_beside(&mut self, other: Option<&Cursor<'_>>) -> Result<bool, WalkError> {
        if !self.has_next {
            return Ok(false);
        }
        self.swap();
        loop {
            self.has_next = self.pull(other.filter(|other| other.has_next))?;
            if !self.has_next || self.entry.key < self.next.key {
                return Ok(true);
            }
            // A page that comes twice is a matter for the sorter, too: another
            // walk may have relied on the first of the two.
            if self.next.key < self.entry.key || matches!(self.source, Source::Direct(_)) {
                return Err(WalkError::Unsorted);
            }
            // The same page again: the later one counts, then the first.
            if merge::delta(Some(self.entry.modified), self.next.modified) == Merge::Replace {
                self.swap();
            }
        }
    }

    /// The page at hand.
    pub(crate) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Whether the page at hand has the line that the other walk has for its
    /// key; the entry's own line is empty then.
    pub(crate) fn is_known(&self) -> bool {
        let [entry, _] = self.is_known;
        entry
    }

    fn swap(&mut self) {
        std::mem::swap(&mut self.entry, &mut self.next);
        self.is_known.reverse();
    }

    fn pull(&mut self, other: Option<&Cursor<'_>>) -> Result<bool, WalkError> {
        match &mut self.source {
            Source::Direct(reader) => {
                let next = &mut self.next;
                let known = other.map_or(&[][..], |other| &other.next.line);
                let taken = reader.next_unless(known, self.input.sink, |record| {
                    next.set(record.page.url.key(), record.page.modified, record.text.as_bytes());
                })?;
                let [_, is_known] = &mut self.is_known;
                *is_known = matches!(taken, Some(Next::Known));
                if let Some(other) = other.filter(|_| *is_known) {
                    next.set(&other.next.key, other.next.modified, &[]);
                }
                Ok(taken.is_some())
            }
            Source::Sorted(sorted, _) => Ok(sorted.next(&mut self.next).map_err(ReadError::Io)?),
        }
    }

    /// Verifies the collection that was walked.
    pub(crate) fn finish(self) -> Result<Receipt, ReadError> {
        match self.source {
            Source::Direct(reader) => verify(*reader, self.input.open, self.input.sink),
            Source::Sorted(_, receipt) => Ok(*receipt),
        }
    }
}

/// Ends a reading; opens the input again for the rarer checksum forms.
pub(crate) fn verify(
    reader: Reader,
    open: &Opener<'_>,
    sink: &mut dyn FindingSink,
) -> Result<Receipt, ReadError> {
    reader.finish_again(|| open().map(|(bytes, _)| bytes), sink)
}

fn sort(input: &mut Input<'_>, mut reader: Reader, folder: &Path) -> Result<Source, ReadError> {
    let mut sorter = Sorter::new(folder);
    while let Some(pushed) = reader.next(input.sink, |record| {
        sorter.push(record.page.url.key(), record.page.modified, record.text.as_bytes())
    })? {
        pushed?;
    }
    let receipt = verify(reader, input.open, input.sink)?;
    Ok(Source::Sorted(sorter.finish()?, Box::new(receipt)))
}
