//! A log as a stream of records, in constant memory.
//!
//! Bytes come from any input; gzip and zstd are recognised by their first
//! bytes, several members in a row are read as one log. One line is held at a
//! time.
//!
//! Refuses: what bzip2 or xz packed, which would only look like noise; a line beyond [`Limits::line`], which is passed over and counted;
//! and to hide what it could not read: every such line is an [`Item::Broken`].

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use rutter_page::Timestamp;

use crate::parse::{Broken, Last, parse_after};
use crate::record::Record;

/// How much is held at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest line, in bytes.
    pub line: usize,
}

impl Limits {
    /// Four times what servers let a client send in its headers, because each
    /// byte may be escaped.
    pub const USUAL: Self = Self { line: 256 << 10 };
}

/// What a line of a log is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "nearly all are records, and none is kept")]
pub enum Item<'i> {
    /// A request, and the number of its line.
    Record(u64, Record<'i>),
    /// A line that is none, its number and its beginning.
    Broken(u64, Broken, &'i [u8]),
}

/// Reads a log line by line.
pub struct Reader {
    input: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// Where the bytes not yet given begin and end.
    start: usize,
    end: usize,
    line: u64,
    limits: Limits,
    is_done: bool,
    last: Last,
    /// A line that was found and not yet given.
    held: Option<(usize, usize, bool)>,
}

/// Largest window a zstd frame may ask for, as a power of two; rotated logs
/// are packed with the usual settings, or with `--long`.
const WINDOW: u32 = 27;

/// How an input is packed.
enum Packed {
    Gzip,
    Zstd,
    Other(&'static str),
}

impl Packed {
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

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("line", &self.line).finish_non_exhaustive()
    }
}

impl Reader {
    /// Takes an input from its beginning, plain, gzip or zstd.
    pub fn open(input: impl Read + Send + 'static, limits: Limits) -> io::Result<Self> {
        let mut input = BufReader::with_capacity(64 << 10, input);
        let input: Box<dyn Read + Send> = match Packed::of(input.fill_buf()?) {
            None => Box::new(input),
            Some(Packed::Gzip) => Box::new(MultiGzDecoder::new(input)),
            Some(Packed::Zstd) => {
                let mut decoder = zstd::Decoder::with_buffer(input)?;
                decoder.window_log_max(WINDOW)?;
                Box::new(decoder)
            }
            Some(Packed::Other(name)) => {
                let why = format!("packed with {name}, which is not read; unpack it first");
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
            last: Last::default(),
            held: None,
        })
    }

    /// The time of the next item, which stays the next; `None` at the end, and
    /// where it is no request.
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

    /// The next line that is not empty; `None` at the end.
    pub fn next_item(&mut self) -> io::Result<Option<Item<'_>>> {
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
            // Asked again because the borrow of the loop cannot leave it.
            let line = self.buffer.get(from..to).unwrap_or_default();
            if !is_whole {
                return Ok(Some(Item::Broken(self.line, Broken::TooLong, line)));
            }
            return Ok(Some(match parse_after(line, &mut self.last) {
                Ok(record) => Item::Record(self.line, record),
                Err(why) => Item::Broken(self.line, why, line),
            }));
        }
    }

    /// Finds the next line: where it lies, and whether that is all of it.
    fn advance(&mut self) -> io::Result<Option<(usize, usize, bool)>> {
        // Bytes of the line that were looked at before.
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

    /// Goes to the end of a line that is too long; its beginning stays.
    fn pass_over(&mut self) -> io::Result<Option<(usize, usize, bool)>> {
        const KEPT: usize = 256;
        self.buffer.copy_within(self.start..self.end.min(self.start + KEPT), 0);
        let kept = KEPT.min(self.end - self.start);
        loop {
            let n = match self.buffer.get_mut(KEPT..) {
                Some(room) => read(&mut *self.input, room)?,
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

    /// Reads more behind what is held, in a larger buffer where it is full.
    fn fill(&mut self) -> io::Result<()> {
        if 0 < self.start {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            let larger = (self.buffer.len() * 2).min(self.limits.line + (64 << 10));
            self.buffer.resize(larger.max(self.buffer.len() + 1024), 0);
        }
        let Some(room) = self.buffer.get_mut(self.end..) else { return Ok(()) };
        let n = read(&mut *self.input, room)?;
        self.end += n;
        self.is_done = n == 0;
        Ok(())
    }
}

/// Reads once; what interrupts is no error.
fn read(input: &mut dyn Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
