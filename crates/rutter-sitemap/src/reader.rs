//! Reads a sitemap in any format, one window of bytes at a time.
//!
//! The window is filled from the [`ByteSource`], cut after its last `>` (or line end), and passed
//! to the [`SitemapParser`]. Its items and findings are queued until the caller asks for them. The
//! window grows only for a tag that does not fit, up to the limit.

use std::collections::VecDeque;
use std::fmt;
use std::io::BufRead;

use rutter_finding::{Finding, FindingSink, Place, Refusal, quoted};
use rutter_page::{IntoOwned as _, PageUrl};

use crate::byte_source::{ByteSource, EndReason};
use crate::parser::{ParserOutput, PieceProgress, SitemapParser};
use crate::rules;
use crate::url::is_url;
use crate::{SitemapEntry, SitemapError, SitemapItem, SitemapKind, SitemapLimits};

/// The number of bytes that are read at once.
const WINDOW: usize = 64 << 10;

/// Reads the items of a sitemap one by one in constant memory.
///
/// Accepts a `urlset`, a `sitemapindex`, an RSS or Atom feed, and a plain list
/// of URLs. The input may be compressed with gzip, begin with a byte order mark,
/// and be in UTF-8, UTF-16 or the encoding that the XML declaration names.
///
/// ```
/// # use rutter_sitemap::{SitemapItem, SitemapLimits, SitemapReader};
/// let text = "https://harbour.example/\nhttps://harbour.example/tides\n";
/// let mut reader = SitemapReader::new(text.as_bytes(), SitemapLimits::USUAL);
/// let mut findings = Vec::new();
/// let mut n_urls = 0;
/// while let Some(SitemapItem::Url(entry)) = reader.next(&mut findings).unwrap() {
///     assert!(entry.loc.starts_with("https://"));
///     n_urls += 1;
/// }
/// assert_eq!((n_urls, findings.len()), (2, 0));
/// ```
pub struct SitemapReader<R: BufRead> {
    source: ByteSource<R>,
    limits: SitemapLimits,
    window: ReadWindow,
    phase: ReaderState,
    parser: SitemapParser,
    kind: Option<SitemapKind>,
    queue: VecDeque<ParserOutput>,
    error: Option<Refusal>,
    /// The line of the last item.
    line: u64,
    list: ListCount,
    is_truncated: bool,
    is_lossy: bool,
}

/// The part of the file that is in memory.
struct ReadWindow {
    bytes: Vec<u8>,
    /// The start of the next piece in the window.
    start: usize,
    /// The number of bytes to read into the window next.
    fill_target: usize,
    /// The bytes that end the part that is being skipped; `None` if no part is being skipped.
    skip_until: Option<&'static [u8]>,
}

/// The number of lines and of URLs of a plain list that were read.
#[derive(Default)]
struct ListCount {
    lines: u64,
    urls: u64,
}

/// What is being read: nothing yet, XML, a plain list of URLs, or nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReaderState {
    New,
    Xml,
    Text,
    Over,
}

impl<R: BufRead> fmt::Debug for SitemapReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("kind", &self.kind()).finish_non_exhaustive()
    }
}

impl<R: BufRead> SitemapReader<R> {
    /// Creates a reader; the input is not read before the first call of [`SitemapReader::next`].
    pub fn new(input: R, limits: SitemapLimits) -> Self {
        Self {
            source: ByteSource::new(input, limits.bytes),
            limits,
            window: ReadWindow {
                bytes: Vec::new(),
                start: 0,
                fill_target: WINDOW,
                skip_until: None,
            },
            phase: ReaderState::New,
            parser: SitemapParser::new(limits),
            kind: None,
            queue: VecDeque::new(),
            error: None,
            line: 0,
            list: ListCount::default(),
            is_truncated: false,
            is_lossy: false,
        }
    }

    /// Resolves relative URLs against `base`, the URL of the sitemap.
    ///
    /// Relative URLs are reported in any case. Without a base URL, their entries are skipped.
    #[must_use]
    pub fn with_base(mut self, base: PageUrl<'_>) -> Self {
        self.parser.set_base(base.into_owned());
        self
    }

    /// Returns the next item; `None` after the last item.
    ///
    /// A truncated file, or a file over the limits, ends early with a finding, and
    /// [`SitemapReader::is_truncated`] returns true. After an error, no more items are returned.
    pub fn next(
        &mut self,
        sink: &mut dyn FindingSink,
    ) -> Result<Option<SitemapItem>, SitemapError> {
        loop {
            match self.queue.pop_front() {
                Some(ParserOutput::SitemapItem(item, line)) => {
                    self.line = line;
                    return Ok(Some(item));
                }
                Some(ParserOutput::Finding(finding)) => sink.report(finding),
                None => {
                    if let Some(refusal) = self.error.take() {
                        return Err(refusal.into());
                    }
                    if self.phase == ReaderState::Over {
                        return Ok(None);
                    }
                    if let Err(error) = self.advance() {
                        self.stop();
                        match error {
                            // Return the items that were parsed before the error first.
                            SitemapError::Refused(refusal) => self.error = Some(refusal),
                            SitemapError::Io(error) => return Err(error.into()),
                        }
                    }
                }
            }
        }
    }

    /// Returns the format of the file; known after the first item.
    pub fn kind(&self) -> Option<SitemapKind> {
        self.kind.or(self.parser.kind())
    }

    /// Returns the line of the last item, counted from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns whether the file ended early, so that entries may be missing.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    fn stop(&mut self) {
        self.phase = ReaderState::Over;
        self.is_truncated = true;
    }

    /// Fills and parses one window.
    fn advance(&mut self) -> Result<(), SitemapError> {
        self.window.bytes.drain(..self.window.start.min(self.window.bytes.len()));
        self.window.start = 0;
        self.source.fill(&mut self.window.bytes, self.window.fill_target)?;
        self.window.fill_target = WINDOW;
        if self.phase == ReaderState::New {
            self.open()?;
        }
        if self.source.take_lossy() {
            self.report_lossy();
        }
        match self.phase {
            ReaderState::Xml => self.advance_xml()?,
            ReaderState::Text => self.advance_text()?,
            ReaderState::New | ReaderState::Over => {}
        }
        Ok(())
    }

    /// Detects encoding and format from the first bytes.
    fn open(&mut self) -> Result<(), Refusal> {
        let charset = self.source.sniff(&mut self.window.bytes);
        self.window.start = charset.mark;
        if !charset.fault.is_empty() {
            let finding = Finding::new(&rules::NOT_UTF8, Place::line(1), charset.fault);
            self.queue.push_back(ParserOutput::Finding(finding));
        }
        let text =
            self.window.bytes.get(self.window.start..).unwrap_or_default().trim_ascii_start();
        self.phase = match text.first() {
            Some(b'<') => ReaderState::Xml,
            Some(b'{' | b'[') => {
                let detail = "the file looks like JSON";
                return Err(Refusal::new(&rules::NOT_A_SITEMAP, Place::WHOLE, detail));
            }
            // The first window contains only white space, so the file is not a sitemap in any
            // format.
            None => {
                return Err(Refusal::new(&rules::NOT_A_SITEMAP, Place::WHOLE, "the file is empty"));
            }
            Some(_) => {
                self.kind = Some(SitemapKind::Text);
                ReaderState::Text
            }
        };
        Ok(())
    }

    fn advance_xml(&mut self) -> Result<(), Refusal> {
        let is_last = self.source.end().is_some();
        if !self.skip_part() {
            return if is_last { self.finish() } else { Ok(()) };
        }
        let end = if is_last {
            self.window.bytes.len()
        } else {
            memchr::memrchr(b'>', &self.window.bytes).map_or(0, |at| at + 1)
        };
        let piece = self.window.bytes.get(self.window.start..end).unwrap_or_default();
        if piece.is_empty() && !is_last {
            return self.grow();
        }
        let (progress, used) = self.parser.run(piece, is_last, &mut self.queue)?;
        self.window.start += used;
        match progress {
            PieceProgress::Complete if is_last => self.finish(),
            PieceProgress::Complete => Ok(()),
            PieceProgress::Cut => self.grow(),
            PieceProgress::NotUtf8 => {
                self.report_lossy();
                let bad = self.window.bytes.get(self.window.start..end).unwrap_or_default();
                let corrected = String::from_utf8_lossy(bad).into_owned();
                self.window.bytes.splice(self.window.start..end, corrected.bytes());
                // The piece was corrected; parse it again without reading more bytes.
                self.window.fill_target = 0;
                Ok(())
            }
        }
    }

    /// Requests a larger window, up to the limit for one part.
    ///
    /// A text or comment over the limit is skipped. A tag over the limit is an error, because
    /// without the tag the element structure is unknown.
    fn grow(&mut self) -> Result<(), Refusal> {
        let part = self.window.bytes.get(self.window.start..).unwrap_or_default();
        if part.len() <= self.limits.text {
            // Doubling the window keeps the total work linear in the length of the part.
            self.window.fill_target = part.len().max(WINDOW);
            return Ok(());
        }
        let end: &[u8] = match part {
            _ if self.phase == ReaderState::Text => b"\n",
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'!', b'[', ..] => b"]]>",
            [b'<', ..] => {
                let line = self.parser.line();
                return Err(Refusal::new(&rules::TOO_LONG, Place::line(line), ""));
            }
            _ => b"<",
        };
        self.window.skip_until = Some(end);
        if self.phase == ReaderState::Text {
            self.list.lines += 1;
            self.report_at_end(&rules::LOC_TOO_LONG, String::new());
        } else {
            self.parser.skip_unread_part(&mut self.queue);
        }
        Ok(())
    }

    /// Skips to the end of a part that is too long; returns false if the end is
    /// not in the window yet.
    fn skip_part(&mut self) -> bool {
        let Some(end) = self.window.skip_until else { return true };
        let rest = self.window.bytes.get(self.window.start..).unwrap_or_default();
        let report = memchr::memmem::find(rest, end);
        let skipped = match report {
            // Keep the `<` for the next tag.
            Some(at) if end == b"<" => at,
            Some(at) => at + end.len(),
            // Keep bytes that may be the beginning of the end marker.
            None => rest.len().saturating_sub(end.len() - 1),
        };
        self.parser.count_lines(rest.get(..skipped).unwrap_or_default());
        self.window.start += skipped;
        if report.is_some() {
            self.window.skip_until = None;
        }
        report.is_some()
    }

    /// Handles the end of the input.
    fn finish(&mut self) -> Result<(), Refusal> {
        let end = self.source.end().cloned();
        if self.parser.is_empty() && end == Some(EndReason::Complete) {
            return Err(Refusal::new(
                &rules::NOT_A_SITEMAP,
                Place::WHOLE,
                "the file has no root element",
            ));
        }
        self.report_end();
        self.is_truncated |= self.parser.has_many_urls();
        if end == Some(EndReason::Complete) && !self.parser.is_complete() {
            self.report_at_end(&rules::TRUNCATED, String::new());
            self.is_truncated = true;
        }
        self.phase = ReaderState::Over;
        Ok(())
    }

    /// Reports why the input ended early.
    fn report_end(&mut self) {
        match self.source.end().cloned() {
            None | Some(EndReason::Complete) => return,
            Some(EndReason::TooLarge) => {
                let detail = format!("reading stopped after {}", self.limits.bytes);
                self.report_at_end(&rules::SITEMAP_TOO_LARGE, detail);
            }
            Some(EndReason::Damaged(why)) => self.report_at_end(&rules::GZIP_DAMAGED, why),
        }
        self.is_truncated = true;
    }

    fn report_at_end(&mut self, rule: &'static rutter_finding::Rule, detail: String) {
        let line =
            if self.phase == ReaderState::Text { self.list.lines } else { self.parser.line() };
        let finding = Finding::new(rule, Place::line(line.max(1)), detail);
        self.queue.push_back(ParserOutput::Finding(finding));
    }

    fn report_lossy(&mut self) {
        if !std::mem::replace(&mut self.is_lossy, true) {
            let detail = "some bytes could not be decoded".to_owned();
            self.report_at_end(&rules::NOT_UTF8, detail);
        }
    }

    /// Parses the lines of a plain list.
    fn advance_text(&mut self) -> Result<(), Refusal> {
        let is_last = self.source.end().is_some();
        if !self.skip_part() {
            if is_last {
                self.report_end();
                self.phase = ReaderState::Over;
            }
            return Ok(());
        }
        let end = if is_last {
            self.window.bytes.len()
        } else {
            memchr::memrchr2(b'\n', b'\r', &self.window.bytes).map_or(0, |at| at + 1)
        };
        let piece = self.window.bytes.get(self.window.start..end).unwrap_or_default().to_vec();
        if piece.is_empty() && !is_last {
            return self.grow();
        }
        self.window.start = end;
        let mut rest = piece.as_slice();
        while !rest.is_empty() {
            let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            let (line, after) = rest.split_at(length);
            rest = match after {
                [b'\r', b'\n', after @ ..] | [_, after @ ..] => after,
                [] => after,
            };
            self.list.lines += 1;
            if self.parse_list_line(line) {
                let detail = format!("reading stopped after {}", self.limits.urls);
                self.report_at_end(&rules::TOO_MANY_URLS, detail);
                self.stop();
                return Ok(());
            }
        }
        if is_last {
            self.report_end();
            self.phase = ReaderState::Over;
        }
        Ok(())
    }

    /// Parses one line of a list; returns true if the limit is exceeded.
    fn parse_list_line(&mut self, line: &[u8]) -> bool {
        let line = String::from_utf8_lossy(line);
        let loc = line.trim();
        if loc.is_empty() {
            return false;
        }
        let place = Place::line(self.list.lines);
        let mut report = |rule, detail| {
            self.queue.push_back(ParserOutput::Finding(Finding::new(rule, place.clone(), detail)));
        };
        if loc.starts_with('#') {
            report(&rules::LINE_COMMENT, quoted(loc));
            return false;
        }
        if self.limits.loc < loc.chars().count() {
            report(&rules::LOC_TOO_LONG, quoted(loc));
            return false;
        }
        if !is_url(loc) {
            report(&rules::LINE_BAD, quoted(loc));
            return false;
        }
        self.list.urls += 1;
        if self.limits.urls < self.list.urls {
            return true;
        }
        let entry =
            SitemapEntry { loc: loc.to_owned(), line: self.list.lines, ..SitemapEntry::default() };
        self.queue.push_back(ParserOutput::SitemapItem(SitemapItem::Url(entry), self.list.lines));
        false
    }
}
