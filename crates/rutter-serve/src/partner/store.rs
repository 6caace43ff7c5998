//! The private store: a file of lines sorted by URL, which a binary search reads.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::resolve::root_dir::FileIdentity;

/// A line of the store.
#[derive(Deserialize)]
pub(super) struct StoreLine<'l> {
    #[serde(borrow)]
    pub(super) url: Cow<'l, str>,
    #[serde(borrow)]
    pub(super) entry: &'l RawValue,
    #[serde(borrow, default)]
    pub(super) page: Option<&'l RawValue>,
}

/// A range of lines of the store.
#[derive(Debug)]
pub(super) struct EntryRange {
    pub(super) from: u64,
    pub(super) n_lines: usize,
    /// URL of the last line.
    pub(super) last: Option<String>,
    pub(super) has_more: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchEdge {
    /// The first line at or after a URL.
    At,
    /// The first line after a URL.
    Behind,
}

/// The open private store.
pub(super) struct PrivateStore {
    pub(super) input: BufReader<File>,
    pub(super) identity: FileIdentity,
    longest: usize,
    line: Vec<u8>,
}

impl PrivateStore {
    pub(super) fn open(path: &Path, longest: usize) -> io::Result<Self> {
        let file = File::open(path)?;
        let identity = FileIdentity::of(&file)?.ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { input: BufReader::new(file), identity, longest, line: Vec::new() })
    }

    /// Reads the next line that is not too long; `None` at the end. An oversized line is skipped.
    pub(super) fn line(&mut self) -> io::Result<Option<&[u8]>> {
        use io::Read as _;
        let most = self.longest as u64 + 1;
        let n = loop {
            self.line.clear();
            let n = self.input.by_ref().take(most).read_until(b'\n', &mut self.line)?;
            if n <= self.longest {
                break n;
            }
            if !self.line.ends_with(b"\n") {
                self.skip_line()?;
            }
        };
        Ok((0 < n).then(|| self.line.trim_ascii_end()))
    }

    fn url(&mut self) -> io::Result<Option<String>> {
        let Some(line) = self.line()? else { return Ok(None) };
        let line: StoreLine<'_> = serde_json::from_slice(line)?;
        Ok(Some(line.url.into_owned()))
    }

    /// Returns the offset of the first line at or after a URL.
    pub(super) fn find(&mut self, url: &str, edge: SearchEdge) -> io::Result<u64> {
        let is_before = |found: &str| match edge {
            SearchEdge::At => found < url,
            SearchEdge::Behind => found <= url,
        };
        // Invariant: lines before `low` sort before the URL, lines from `high` on do not.
        let (mut low, mut high) = (0, self.identity.size);
        while low < high {
            let middle = low + (high - low) / 2;
            // The first line that starts at or after the middle.
            let start = if middle == 0 {
                self.input.seek(SeekFrom::Start(0))?;
                0
            } else {
                self.input.seek(SeekFrom::Start(middle - 1))?;
                self.skip_line()?;
                self.input.stream_position()?
            };
            if high <= start {
                high = middle;
                continue;
            }
            match self.url()? {
                Some(found) if is_before(&found) => low = self.input.stream_position()?,
                _ => high = middle,
            }
        }
        Ok(low)
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                return Ok(());
            }
            match memchr::memchr(b'\n', bytes) {
                Some(at) => {
                    self.input.consume(at + 1);
                    return Ok(());
                }
                None => {
                    let n = bytes.len();
                    self.input.consume(n);
                }
            }
        }
    }

    /// Counts the lines of a response, without keeping them in memory.
    pub(super) fn span(&mut self, from: u64, limit: usize) -> io::Result<EntryRange> {
        self.input.seek(SeekFrom::Start(from))?;
        let mut span = EntryRange { from, n_lines: 0, last: None, has_more: false };
        while let Some(url) = self.url()? {
            if span.n_lines == limit {
                span.has_more = true;
                break;
            }
            span.n_lines += 1;
            span.last = Some(url);
        }
        Ok(span)
    }

    pub(super) fn is_unwritten(&self) -> io::Result<bool> {
        self.identity.is_unwritten(self.input.get_ref())
    }
}
