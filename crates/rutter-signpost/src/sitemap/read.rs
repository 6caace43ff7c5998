//! Reads a sitemap of any kind, a window at a time.
//!
//! Bytes come from [`Feed`], are cut behind the last `>` (or line end) that is
//! there, and go to the [`Machine`]; what it makes of them waits in a queue
//! until it is asked for. The window grows only for a tag that does not fit,
//! and only up to the limit.

use std::collections::VecDeque;
use std::fmt;
use std::io::BufRead;

use rutter_finding::{Finding, FindingSink, Place, Refusal, quoted};
use rutter_page::{Own as _, PageUrl};

use super::address::is_address;
use super::bytes::{End, Feed};
use super::machine::{Machine, Out, Progress};
use super::{Entry, Item, Kind, Limits, SitemapError};
use crate::rules;

/// How much is read at once.
const WINDOW: usize = 64 << 10;

/// Reads the items of a sitemap one by one, in constant memory.
///
/// Takes a `urlset`, a `sitemapindex`, an RSS or Atom feed, and a plain list
/// of addresses; each of them compressed with gzip or not, with a byte order
/// mark or not, in UTF-8, UTF-16 or the encoding it declares.
///
/// ```
/// # use rutter_signpost::sitemap::{Item, Limits, Reader};
/// let text = "https://harbour.example/\nhttps://harbour.example/tides\n";
/// let mut reader = Reader::new(text.as_bytes(), Limits::USUAL);
/// let mut findings = Vec::new();
/// let mut n_urls = 0;
/// while let Some(Item::Url(entry)) = reader.next(&mut findings).unwrap() {
///     assert!(entry.loc.starts_with("https://"));
///     n_urls += 1;
/// }
/// assert_eq!((n_urls, findings.len()), (2, 0));
/// ```
pub struct Reader<R: BufRead> {
    feed: Feed<R>,
    limits: Limits,
    window: Vec<u8>,
    /// Where the next piece begins.
    start: usize,
    /// How much more the window should hold.
    want: usize,
    phase: Phase,
    machine: Machine,
    kind: Option<Kind>,
    ready: VecDeque<Out>,
    error: Option<Refusal>,
    /// Where the last item stands.
    line: u64,
    /// For plain lists: lines and addresses so far.
    n_lines: u64,
    n_urls: u64,
    is_truncated: bool,
    is_lossy: bool,
    /// The bytes that end a part that is too long to be read.
    skipped_to: Option<&'static [u8]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Xml,
    Text,
    Over,
}

impl<R: BufRead> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("kind", &self.kind()).finish_non_exhaustive()
    }
}

impl<R: BufRead> Reader<R> {
    /// Begins to read; nothing is looked at before the first item is wanted.
    pub fn new(input: R, limits: Limits) -> Self {
        Self {
            feed: Feed::new(input, limits.bytes),
            limits,
            window: Vec::new(),
            start: 0,
            want: WINDOW,
            phase: Phase::New,
            machine: Machine::new(limits),
            kind: None,
            ready: VecDeque::new(),
            error: None,
            line: 0,
            n_lines: 0,
            n_urls: 0,
            is_truncated: false,
            is_lossy: false,
            skipped_to: None,
        }
    }

    /// Resolves relative addresses against `base`, the sitemap's own URL.
    ///
    /// Each is still reported. Without a base they are reported and skipped.
    #[must_use]
    pub fn with_base(mut self, base: PageUrl<'_>) -> Self {
        self.machine.set_base(base.own());
        self
    }

    /// The next item; `None` at the end.
    ///
    /// A file that is cut, or larger than the limits, ends early, with a
    /// finding and [`Reader::is_truncated`]. After an error there is nothing
    /// more to be had.
    pub fn next(&mut self, sink: &mut dyn FindingSink) -> Result<Option<Item>, SitemapError> {
        loop {
            match self.ready.pop_front() {
                Some(Out::Item(item, line)) => {
                    self.line = line;
                    return Ok(Some(item));
                }
                Some(Out::Finding(finding)) => sink.report(finding),
                None => {
                    if let Some(refusal) = self.error.take() {
                        return Err(refusal.into());
                    }
                    if self.phase == Phase::Over {
                        return Ok(None);
                    }
                    if let Err(error) = self.advance() {
                        self.stop();
                        match error {
                            // What was read before it comes first.
                            SitemapError::Refused(refusal) => self.error = Some(refusal),
                            SitemapError::Io(error) => return Err(error.into()),
                        }
                    }
                }
            }
        }
    }

    /// What the file is; known once the first item is.
    pub fn kind(&self) -> Option<Kind> {
        self.kind.or(self.machine.kind())
    }

    /// Line of the last item, counted from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Tells whether the file ended early, so that entries may be missing.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    fn stop(&mut self) {
        self.phase = Phase::Over;
        self.is_truncated = true;
    }

    /// Reads one more window.
    fn advance(&mut self) -> Result<(), SitemapError> {
        self.window.drain(..self.start.min(self.window.len()));
        self.start = 0;
        self.feed.fill(&mut self.window, self.want)?;
        self.want = WINDOW;
        if self.phase == Phase::New {
            self.open()?;
        }
        if self.feed.take_lossy() {
            self.report_lossy();
        }
        match self.phase {
            Phase::Xml => self.advance_xml()?,
            Phase::Text => self.advance_text()?,
            Phase::New | Phase::Over => {}
        }
        Ok(())
    }

    /// Looks at the first bytes.
    fn open(&mut self) -> Result<(), Refusal> {
        let charset = self.feed.sniff(&mut self.window);
        self.start = charset.mark;
        if !charset.fault.is_empty() {
            let finding = Finding::new(&rules::NOT_UTF8, Place::line(1), charset.fault);
            self.ready.push_back(Out::Finding(finding));
        }
        let text = self.window.get(self.start..).unwrap_or_default().trim_ascii_start();
        self.phase = match text.first() {
            Some(b'<') => Phase::Xml,
            Some(b'{' | b'[') => {
                let detail = "it looks like JSON";
                return Err(Refusal::new(&rules::NOT_A_SITEMAP, Place::WHOLE, detail));
            }
            // Nothing but white space so far; it is no sitemap either way.
            None => return Err(Refusal::new(&rules::NOT_A_SITEMAP, Place::WHOLE, "it is empty")),
            Some(_) => {
                self.kind = Some(Kind::Text);
                Phase::Text
            }
        };
        Ok(())
    }

    fn advance_xml(&mut self) -> Result<(), Refusal> {
        let is_last = self.feed.end().is_some();
        if !self.skip_part() {
            return if is_last { self.finish() } else { Ok(()) };
        }
        let end = if is_last {
            self.window.len()
        } else {
            memchr::memrchr(b'>', &self.window).map_or(0, |at| at + 1)
        };
        let piece = self.window.get(self.start..end).unwrap_or_default();
        if piece.is_empty() && !is_last {
            return self.grow();
        }
        let (progress, used) = self.machine.run(piece, is_last, &mut self.ready)?;
        self.start += used;
        match progress {
            Progress::Whole if is_last => self.finish(),
            Progress::Whole => Ok(()),
            Progress::Cut => self.grow(),
            Progress::NotUtf8 => {
                self.report_lossy();
                let bad = self.window.get(self.start..end).unwrap_or_default();
                let mended = String::from_utf8_lossy(bad).into_owned();
                self.window.splice(self.start..end, mended.bytes());
                // The mended piece is read again; nothing more is needed.
                self.want = 0;
                Ok(())
            }
        }
    }

    /// Asks for a larger window, up to the limit of one part.
    ///
    /// A longer text or comment is skipped. A longer tag is refused: without it
    /// nobody knows what its end tag closes.
    fn grow(&mut self) -> Result<(), Refusal> {
        let part = self.window.get(self.start..).unwrap_or_default();
        if part.len() <= self.limits.text {
            // Doubling keeps the work in proportion to the length.
            self.want = part.len().max(WINDOW);
            return Ok(());
        }
        let end: &[u8] = match part {
            _ if self.phase == Phase::Text => b"\n",
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'!', b'[', ..] => b"]]>",
            [b'<', ..] => {
                let line = self.machine.line();
                return Err(Refusal::new(&rules::TOO_LONG, Place::line(line), ""));
            }
            _ => b"<",
        };
        self.skipped_to = Some(end);
        if self.phase == Phase::Text {
            self.n_lines += 1;
            self.report_at_end(&rules::LOC_TOO_LONG, String::new());
        } else {
            self.machine.leave_out_part(&mut self.ready);
        }
        Ok(())
    }

    /// Skips to the end of a part that is too long; false where it is not in
    /// the window yet.
    fn skip_part(&mut self) -> bool {
        let Some(end) = self.skipped_to else { return true };
        let rest = self.window.get(self.start..).unwrap_or_default();
        let found = memchr::memmem::find(rest, end);
        let skipped = match found {
            // A tag belongs to what follows.
            Some(at) if end == b"<" => at,
            Some(at) => at + end.len(),
            // The end may have begun.
            None => rest.len().saturating_sub(end.len() - 1),
        };
        self.machine.count_lines(rest.get(..skipped).unwrap_or_default());
        self.start += skipped;
        if found.is_some() {
            self.skipped_to = None;
        }
        found.is_some()
    }

    /// The bytes are over.
    fn finish(&mut self) -> Result<(), Refusal> {
        let end = self.feed.end().cloned();
        if self.machine.is_empty() && end == Some(End::Whole) {
            return Err(Refusal::new(&rules::NOT_A_SITEMAP, Place::WHOLE, "it has no root"));
        }
        self.report_end();
        self.is_truncated |= self.machine.has_many_urls();
        if end == Some(End::Whole) && !self.machine.is_complete() {
            self.report_at_end(&rules::TRUNCATED, String::new());
            self.is_truncated = true;
        }
        self.phase = Phase::Over;
        Ok(())
    }

    /// Says why the bytes ended where they should not.
    fn report_end(&mut self) {
        match self.feed.end().cloned() {
            None | Some(End::Whole) => return,
            Some(End::TooLarge) => {
                let detail = format!("reading stopped after {}", self.limits.bytes);
                self.report_at_end(&rules::SITEMAP_TOO_LARGE, detail);
            }
            Some(End::Damaged(why)) => self.report_at_end(&rules::GZIP_DAMAGED, why),
        }
        self.is_truncated = true;
    }

    fn report_at_end(&mut self, rule: &'static rutter_finding::Rule, detail: String) {
        let line = if self.phase == Phase::Text { self.n_lines } else { self.machine.line() };
        let finding = Finding::new(rule, Place::line(line.max(1)), detail);
        self.ready.push_back(Out::Finding(finding));
    }

    fn report_lossy(&mut self) {
        if !std::mem::replace(&mut self.is_lossy, true) {
            let detail = "some bytes could not be decoded".to_owned();
            self.report_at_end(&rules::NOT_UTF8, detail);
        }
    }

    /// Reads the lines of a plain list.
    fn advance_text(&mut self) -> Result<(), Refusal> {
        let is_last = self.feed.end().is_some();
        if !self.skip_part() {
            if is_last {
                self.report_end();
                self.phase = Phase::Over;
            }
            return Ok(());
        }
        let end = if is_last {
            self.window.len()
        } else {
            memchr::memrchr2(b'\n', b'\r', &self.window).map_or(0, |at| at + 1)
        };
        let piece = self.window.get(self.start..end).unwrap_or_default().to_vec();
        if piece.is_empty() && !is_last {
            return self.grow();
        }
        self.start = end;
        let mut rest = piece.as_slice();
        while !rest.is_empty() {
            let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let (line, after) = rest.split_at(length);
            rest = match after {
                [b'\r', b'\n', after @ ..] | [_, after @ ..] => after,
                [] => after,
            };
            self.n_lines += 1;
            if self.take_line(line) {
                let detail = format!("reading stopped after {}", self.limits.urls);
                self.report_at_end(&rules::TOO_MANY_URLS, detail);
                self.stop();
                return Ok(());
            }
        }
        if is_last {
            self.report_end();
            self.phase = Phase::Over;
        }
        Ok(())
    }

    /// Takes one line of a list; true where there are too many.
    fn take_line(&mut self, line: &[u8]) -> bool {
        let line = String::from_utf8_lossy(line);
        let loc = line.trim();
        if loc.is_empty() {
            return false;
        }
        let place = Place::line(self.n_lines);
        let mut found = |rule, detail| {
            self.ready.push_back(Out::Finding(Finding::new(rule, place.clone(), detail)));
        };
        if loc.starts_with('#') {
            found(&rules::LINE_COMMENT, quoted(loc));
            return false;
        }
        if self.limits.loc < loc.chars().count() {
            found(&rules::LOC_TOO_LONG, quoted(loc));
            return false;
        }
        if !is_address(loc) {
            found(&rules::LINE_BAD, quoted(loc));
            return false;
        }
        self.n_urls += 1;
        if self.limits.urls < self.n_urls {
            return true;
        }
        let entry = Entry { loc: loc.to_owned(), line: self.n_lines, ..Entry::default() };
        self.ready.push_back(Out::Item(Item::Url(entry), self.n_lines));
        false
    }
}
