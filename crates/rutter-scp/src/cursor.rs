//! Reads a collection in key order, whether it is sorted or not.
//!
//! A collection sorted by key is read once, directly. Any other collection is sorted on disk first.
//! Two pages with the same key count as one page (D30).

use std::io::Read;
use std::path::Path;

use rutter_finding::FindingSink;

use crate::error::ReadError;
use crate::lines::NextPage;
use crate::merge::{self, MergeDecision};
use crate::reader::{CollectionReader, ReadOptions, ReadReceipt};
use crate::sort::{KeyedLine, LineSorter, SortedLines};

/// Function that opens an input from its beginning; may be called several times.
pub type CollectionOpener<'i> =
    dyn Fn() -> std::io::Result<(Box<dyn Read + Send>, Option<u64>)> + 'i;

/// A collection to read, and the destination of its findings.
#[expect(missing_debug_implementations, reason = "it is two references to functions")]
pub struct CollectionInput<'i> {
    /// Opens the collection.
    pub open: &'i CollectionOpener<'i>,
    /// Receives the findings about the collection.
    pub sink: &'i mut dyn FindingSink,
}

/// Whether a collection is assumed to be sorted by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputOrder {
    /// The collection is assumed to be sorted. If it is not sorted, the operation fails and may be
    /// retried with [`Sort`](Self::Sort).
    Given,
    /// The collection is sorted on disk first.
    Sort,
}

/// Reasons why reading in key order stopped.
#[derive(Debug)]
pub(crate) enum WalkError {
    /// The collection is not sorted by key.
    Unsorted,
    /// Reading or sorting failed.
    Read(ReadError),
}

impl<E: Into<ReadError>> From<E> for WalkError {
    fn from(error: E) -> Self {
        Self::Read(error.into())
    }
}

/// Opens a collection for reading.
pub(crate) fn open(
    input: &mut CollectionInput<'_>,
    options: ReadOptions,
) -> Result<CollectionReader, ReadError> {
    let (bytes, size) = (input.open)()?;
    CollectionReader::open(bytes, ReadOptions { size, ..options }, input.sink)
}

/// Position in a collection that is read in key order.
pub(crate) struct PageCursor<'i> {
    input: CollectionInput<'i>,
    source: CursorSource,
    entry: KeyedLine,
    next: KeyedLine,
    /// Whether the line of `entry`, and the line of `next`, equal the line that the other cursor
    /// has for the same key. An equal line is not copied.
    is_known: [bool; 2],
    has_next: bool,
}

enum CursorSource {
    Direct(Box<CollectionReader>),
    Sorted(SortedLines, Box<ReadReceipt>),
}

impl<'i> PageCursor<'i> {
    /// Continues with a reader that was just opened.
    pub(crate) fn new(
        mut input: CollectionInput<'i>,
        reader: CollectionReader,
        order: InputOrder,
        folder: &Path,
    ) -> Result<Self, WalkError> {
        let source = match order {
            InputOrder::Given => CursorSource::Direct(Box::new(reader)),
            InputOrder::Sort => sort(&mut input, reader, folder)?,
        };
        let (entry, next) = (KeyedLine::empty(), KeyedLine::empty());
        let mut cursor = Self { input, source, entry, next, is_known: [false; 2], has_next: false };
        cursor.has_next = cursor.pull(None)?;
        Ok(cursor)
    }

    /// Advances to the next page. Returns false after the last one.
    pub(crate) fn advance(&mut self) -> Result<bool, WalkError> {
        self.advance_beside(None)
    }

    /// Advances like [`advance`](Self::advance). `other` reads a collection whose lines are mostly
    /// the same; a line that equals the next line of `other` is not checked again.
    pub(crate) fn advance_beside(
        &mut self,
        other: Option<&PageCursor<'_>>,
    ) -> Result<bool, WalkError> {
        if !self.has_next {
            return Ok(false);
        }
        self.swap();
        loop {
            self.has_next = self.pull(other.filter(|other| other.has_next))?;
            if !self.has_next || self.entry.key < self.next.key {
                return Ok(true);
            }
            // Duplicate pages need sorting too: the other cursor may have used the first one of
            // them.
            if self.next.key < self.entry.key || matches!(self.source, CursorSource::Direct(_)) {
                return Err(WalkError::Unsorted);
            }
            // The collection contains this page twice: the later version is used; on a tie, the
            // first one.
            if merge::decide_delta_page(Some(self.entry.modified), self.next.modified)
                == MergeDecision::Replace
            {
                self.swap();
            }
        }
    }

    /// Returns the current page.
    pub(crate) fn entry(&self) -> &KeyedLine {
        &self.entry
    }

    /// Returns whether the current line equals the line of the other cursor. If so, the line in
    /// `entry` is empty.
    pub(crate) fn is_known(&self) -> bool {
        let [entry, _] = self.is_known;
        entry
    }

    fn swap(&mut self) {
        std::mem::swap(&mut self.entry, &mut self.next);
        self.is_known.reverse();
    }

    fn pull(&mut self, other: Option<&PageCursor<'_>>) -> Result<bool, WalkError> {
        match &mut self.source {
            CursorSource::Direct(reader) => {
                let next = &mut self.next;
                let known = other.map_or(&[][..], |other| &other.next.line);
                let taken = reader.next_unless(known, self.input.sink, |record| {
                    next.set(record.page.url.key(), record.page.modified, record.text.as_bytes());
                })?;
                let [_, is_known] = &mut self.is_known;
                *is_known = matches!(taken, Some(NextPage::Known));
                if let Some(other) = other.filter(|_| *is_known) {
                    next.set(&other.next.key, other.next.modified, &[]);
                }
                Ok(taken.is_some())
            }
            CursorSource::Sorted(sorted, _) => {
                Ok(sorted.next(&mut self.next).map_err(ReadError::Io)?)
            }
        }
    }

    /// Verifies the collection after it was read.
    pub(crate) fn finish(self) -> Result<ReadReceipt, ReadError> {
        match self.source {
            CursorSource::Direct(reader) => verify(*reader, self.input.open, self.input.sink),
            CursorSource::Sorted(_, receipt) => Ok(*receipt),
        }
    }
}

/// Finishes reading. Opens the input again if it must try the less common forms of the checksum.
pub(crate) fn verify(
    reader: CollectionReader,
    open: &CollectionOpener<'_>,
    sink: &mut dyn FindingSink,
) -> Result<ReadReceipt, ReadError> {
    reader.finish_again(|| open().map(|(bytes, _)| bytes), sink)
}

fn sort(
    input: &mut CollectionInput<'_>,
    mut reader: CollectionReader,
    folder: &Path,
) -> Result<CursorSource, ReadError> {
    let mut sorter = LineSorter::new(folder);
    while let Some(pushed) = reader.next(input.sink, |record| {
        sorter.push(record.page.url.key(), record.page.modified, record.text.as_bytes())
    })? {
        pushed?;
    }
    let receipt = verify(reader, input.open, input.sink)?;
    Ok(CursorSource::Sorted(sorter.finish()?, Box::new(receipt)))
}
