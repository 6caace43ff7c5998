//! Reads an access log as a stream of records, in constant memory.
//!
//! Input: bytes, plain or compressed with gzip or zstd. The reader recognizes the compression by
//! the first bytes, and reads several gzip members or zstd frames as one log. It holds one line at
//! a time, and reports every line that cannot be parsed as [`LogItem::Broken`].
//!
//! Rejects: bzip2 and xz input, with an error. Lines longer than [`ReadLimits::line`] are reported
//! as [`LogItem::Broken`] and skipped.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use rutter_page::Timestamp;

use crate::parse::{LineError, TimeCache, parse_after};
use crate::record::AccessRecord;

/// Memory limits of a [`LogReader`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Maximum length of a line, in bytes.
    pub line: usize,
}

impl ReadLimits {
    /// Default limits: four times the header size that servers accept, because a server may write
    /// each byte as an escape of four characters.
    pub const DEFAULT: Self = Self { line: 256 << 10 };
}

/// One line of an access log: a request, or a line that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly all are records, and none is kept")]
pub enum LogItem<'i> {
    /// A line with a request: the line number and the record.
    Record(u64, AccessRecord<'i>),
    /// A line that cannot be parsed: the line number, the reason, and the bytes (only the first
    /// bytes of a line that is too long).
    Broken(u64, LineError, &'i [u8]),
}

/// Reads an access log line by line.
pub struct LogReader {
    input: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// Start and end of the unread bytes in `buffer`.
    start: usize,
    end: usize,
    line: u64,
    limits: ReadLimits,
    is_done: bool,
    last: TimeCache,
    /// Line that was found and not returned yet: start, end, and whether the line is complete.
    held: Option<(usize, usize, bool)>,
}

/// Maximum window of a zstd frame, as a power of two: the window that `zstd --long` uses.
const WINDOW: u32 = 27;

/// Compression of the input.
enum Compression {
    Gzip,
    Zstd,
    Other(&'static str),
}

impl Compression {
    fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', b'1', ..] => Some(Self::Other("bzip2")),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Some(Self::Other("xz")),
            _ => None,
        }
    }
}

impl std::fmt::Debug for LogReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("line", &self.line).finish_non_exhaustive()
    }
}

impl LogReader {
    /// Opens a log that is plain or compressed with gzip or zstd.
    pub fn open(input: impl Read + Send + 'static, limits: ReadLimits) -> io::Result<Self> {
        let mut input = BufReader::with_capacity(64 << 10, input);
        let input: Box<dyn Read + Send> = match Compression::of(input.fill_buf()?) {
            None => Box::new(input),
            Some(Compression::Gzip) => Box::new(MultiGzDecoder::new(input)),
            Some(Compression::Zstd) => {
                let mut decoder = zstd::Decoder::with_buffer(input)?;
                decoder.window_log_max(WINDOW)?;
                Box::new(decoder)
            }
            Some(Compression::Other(name)) => {
                let why = format!("{name} compression is not supported; decompress the file first");
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        };
        let buffer = vec![0; 64 << 10];
        Ok(Self {
            input,
            buffer,
            start: 0,
            end: 0,
            line: 0,
            limits,
            is_done: false,
            last: TimeCache::default(),
            held: None,
        })
    }

    /// Returns the time of the next line without consuming the line; `None` at the end of the log,
    /// and if the line is not a request.
    pub fn next_time(&mut self) -> io::Result<Option<Timestamp>> {
        loop {
            let found = match self.held {
                Some(held) => Some(held),
                None => self.advance()?,
            };
            self.held = found;
            let Some((from, to, is_whole)) = found else { return Ok(None) };
            let line = self.buffer.get(from..to).unwrap_or_default();
            if is_whole && line.trim_ascii().is_empty() {
                (self.held, self.line) = (None, self.line + 1);
                continue;
            }
            let record = if is_whole { parse_after(line, &mut self.last).ok() } else { None };
            return Ok(record.map(|record| record.time));
        }
    }

    /// Returns the next line that is not empty; `None` at the end of the log.
    pub fn next_item(&mut self) -> io::Result<Option<LogItem<'_>>> {
        loop {
            let found = match self.held.take() {
                Some(held) => Some(held),
                None => self.advance()?,
            };
            let Some((from, to, is_whole)) = found else { return Ok(None) };
            self.line += 1;
            let line = self.buffer.get(from..to).unwrap_or_default();
            if is_whole && line.trim_ascii().is_empty() {
                continue;
            }
            // The line is borrowed again, because the borrow checker does not let the first borrow
            // leave the loop.
            let line = self.buffer.get(from..to).unwrap_or_default();
            if !is_whole {
                return Ok(Some(LogItem::Broken(self.line, LineError::TooLong, line)));
            }
            return Ok(Some(match parse_after(line, &mut self.last) {
                Ok(record) => LogItem::Record(self.line, record),
                Err(why) => LogItem::Broken(self.line, why, line),
            }));
        }
    }

    /// Finds the next line; returns its start, its end, and whether the line is complete.
    fn advance(&mut self) -> io::Result<Option<(usize, usize, bool)>> {
        // Number of bytes of the line that are already searched for a line end.
        let mut seen = 0;
        loop {
            let held = self.buffer.get(self.start..self.end).unwrap_or_default();
            let found = held.get(seen..).and_then(|fresh| memchr::memchr(b'\n', fresh));
            if let Some(at) = found {
                let (from, to) = (self.start, self.start + seen + at);
                self.start = to + 1;
                return Ok(Some((from, to, to - from <= self.limits.line)));
            }
            seen = held.len();
            if self.limits.line < seen {
                return self.pass_over();
            }
            if self.is_done {
                let (from, to) = (self.start, self.end);
                self.start = self.end;
                return Ok((from < to).then_some((from, to, true)));
            }
            self.fill()?;
        }
    }

    /// Skips to the end of a line that is too long, and keeps the first `KEPT` bytes of the line.
    fn pass_over(&mut self) -> io::Result<Option<(usize, usize, bool)>> {
        const KEPT: usize = 256;
        self.buffer.copy_within(self.start..self.end.min(self.start + KEPT), 0);
        let kept = KEPT.min(self.end - self.start);
        loop {
            let n = match self.buffer.get_mut(KEPT..) {
                Some(space) => read(&mut *self.input, space)?,
                None => 0,
            };
            let fresh = self.buffer.get(KEPT..KEPT + n).unwrap_or_default();
            let found = memchr::memchr(b'\n', fresh);
            (self.start, self.end) = (KEPT + found.map_or(n, |at| at + 1), KEPT + n);
            self.is_done = n == 0;
            if found.is_some() || self.is_done {
                return Ok(Some((0, kept, false)));
            }
        }
    }

    /// Reads more bytes into the buffer; enlarges a full buffer.
    fn fill(&mut self) -> io::Result<()> {
        if 0 < self.start {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            let larger = (self.buffer.len() * 2).min(self.limits.line + (64 << 10));
            self.buffer.resize(larger.max(self.buffer.len() + 1024), 0);
        }
        let Some(space) = self.buffer.get_mut(self.end..) else { return Ok(()) };
        let n = read(&mut *self.input, space)?;
        self.end += n;
        self.is_done = n == 0;
        Ok(())
    }
}

/// Reads once from `input`; repeats a read that a signal interrupted.
fn read(input: &mut dyn Read, space: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(space) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
