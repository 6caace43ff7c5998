//! Splits decoded text into batches of whole lines, in constant memory.
//!
//! Input: bytes from the [`Decoder`]. Output: batches for a [`BatchSource`](crate::batch_source). A
//! line longer than the limit is passed on in pieces, which are hashed but never stored as a whole
//! and never parsed.

use std::io::{self, Read};
use std::sync::Arc;

use crate::codec::{Coding, Decoder, InputMeter};
use crate::error::ReadError;

/// Size of a batch in bytes. A longer line makes one larger batch.
pub(crate) const BATCH: usize = 256 << 10;

/// What a batch contains: whole lines, or a piece of one long line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BatchContent {
    /// Whole lines. Only the last line of the text may lack its line end.
    Lines,
    /// A piece of a line that exceeds the limit.
    Piece,
    /// The last piece of a line that exceeds the limit.
    LastPiece,
}

/// A buffer and the part of it that is filled.
#[derive(Debug)]
pub(crate) struct LineBatch {
    buffer: Vec<u8>,
    end: usize,
    pub(crate) holds: BatchContent,
}

impl LineBatch {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.end).unwrap_or_default()
    }

    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }
}

/// Reads batches from a decoder.
pub(crate) struct BatchReader {
    decoder: Decoder,
    /// Start of a line whose end has not been read yet.
    carry: Vec<u8>,
    longest_line: usize,
    is_inside_long_line: bool,
    is_at_end: bool,
    decoded: u64,
}

impl BatchReader {
    pub(crate) fn new(decoder: Decoder, longest_line: usize) -> Self {
        Self {
            decoder,
            carry: Vec::new(),
            longest_line,
            is_inside_long_line: false,
            is_at_end: false,
            decoded: 0,
        }
    }

    /// Sets the maximum length of the lines that are read from now on.
    pub(crate) fn set_longest_line(&mut self, longest_line: usize) {
        self.longest_line = longest_line;
    }

    pub(crate) fn meter(&self) -> &Arc<InputMeter> {
        self.decoder.meter()
    }

    pub(crate) fn codings(&self) -> &[Coding] {
        self.decoder.codings()
    }

    pub(crate) fn decoded(&self) -> u64 {
        self.decoded
    }

    /// Fills the buffer with as many whole lines as fit. Returns `None` at the end of the text,
    /// after the compression ratio of the whole text was checked.
    pub(crate) fn next(&mut self, mut buffer: Vec<u8>) -> Result<Option<LineBatch>, ReadError> {
        if buffer.len() < BATCH {
            buffer.resize(BATCH, 0);
        }
        let mut end = self.carry.len();
        if buffer.len() < end {
            buffer.resize(end, 0);
        }
        buffer.get_mut(..end).unwrap_or_default().copy_from_slice(&self.carry);
        self.carry.clear();
        let mut searched = 0;
        loop {
            let n = self.read(buffer.get_mut(end..).unwrap_or_default())?;
            end += n;
            if self.is_at_end {
                return Ok(self.last(buffer, end));
            }
            if end < buffer.len() {
                continue;
            }
            let fresh = buffer.get(searched..end).unwrap_or_default();
            let last_newline = memchr::memrchr(b'\n', fresh).map(|at| searched + at);
            searched = end;
            if let Some(at) = last_newline {
                return Ok(Some(self.cut(buffer, end, at)));
            }
            if self.is_inside_long_line {
                return Ok(Some(LineBatch { buffer, end, holds: BatchContent::Piece }));
            }
            if self.longest_line < end {
                self.is_inside_long_line = true;
                return Ok(Some(LineBatch { buffer, end, holds: BatchContent::Piece }));
            }
            let larger = (2 * buffer.len()).min(self.longest_line + 2);
            buffer.reserve_exact(larger - buffer.len());
            buffer.resize(larger, 0);
        }
    }

    /// Ends the batch at its last newline. Inside a line that exceeds the limit, ends it at the
    /// first newline instead.
    fn cut(&mut self, buffer: Vec<u8>, end: usize, last_newline: usize) -> LineBatch {
        let (at, holds) = if self.is_inside_long_line {
            self.is_inside_long_line = false;
            let text = buffer.get(..end).unwrap_or_default();
            (memchr::memchr(b'\n', text).unwrap_or(last_newline), BatchContent::LastPiece)
        } else {
            (last_newline, BatchContent::Lines)
        };
        self.carry.extend_from_slice(buffer.get(at + 1..end).unwrap_or_default());
        LineBatch { buffer, end: at + 1, holds }
    }

    fn last(&mut self, buffer: Vec<u8>, end: usize) -> Option<LineBatch> {
        let text = buffer.get(..end).unwrap_or_default();
        if let Some(at) = memchr::memchr(b'\n', text).filter(|_| self.is_inside_long_line) {
            return Some(self.cut(buffer, end, at));
        }
        let is_long = std::mem::take(&mut self.is_inside_long_line);
        if is_long {
            return Some(LineBatch { buffer, end, holds: BatchContent::LastPiece });
        }
        (0 < end).then_some(LineBatch { buffer, end, holds: BatchContent::Lines })
    }

    /// Reads from the decoder once. At the end of the text, checks the compression ratio exactly.
    fn read(&mut self, into: &mut [u8]) -> Result<usize, ReadError> {
        if self.is_at_end || into.is_empty() {
            return Ok(0);
        }
        let n = loop {
            match self.decoder.read(into) {
                Ok(n) => break n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.meter().explain(&error)),
            }
        };
        self.decoded += n as u64;
        if n == 0 {
            self.is_at_end = true;
            self.meter().check_ratio(self.decoded, true)?;
        }
        Ok(n)
    }
}
