//! Reads, checks and counts page lines.
//!
//! Input: batches from a [`BatchSource`]. Output: each line as a [`PageRecord`], lent to the
//! caller. Rejects lines that are not UTF-8 or not pages (see [`PageReader`]).

use std::io::Read;
use std::time::Instant;

use rutter_finding::{Finding, FindingSink, Place, Refusal};
use rutter_page::{LineDigest, Page, PageHead, PageReader};

use crate::batch::{BatchContent, BatchReader};
use crate::batch_source::{BatchSource, InlineSource, InputSize};
use crate::codec::{Coding, Decoder};
use crate::error::ReadError;
use crate::hash::TextHasher;
use crate::limits::Limits;
use crate::rules;

/// A page and the line it was read from.
#[derive(Debug)]
pub struct PageRecord<'r> {
    /// Line number, counted from 1.
    pub line: u64,
    /// The line as written, without its line end.
    pub text: &'r str,
    /// The parsed page.
    pub page: Page<'r>,
}

impl<'r> PageRecord<'r> {
    /// Returns the address and modification time of the page.
    pub fn head(&self) -> PageHead<'r> {
        PageHead { url: self.page.url.clone(), modified: self.page.modified }
    }

    /// Computes the digest of the line.
    pub fn digest(&self) -> LineDigest {
        LineDigest::of(self.text.as_bytes())
    }
}

/// Counts of lines and pages read so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadCounts {
    /// Number of lines of any type, including line 1.
    pub lines: u64,
    /// Number of usable pages.
    pub pages: u64,
    /// Number of skipped pages; each skipped page has a finding.
    pub skipped: u64,
}

/// Result of [`LineReader::next_unless`].
pub(crate) enum NextPage<T> {
    /// The next line equals the known line.
    Known,
    /// The next line is another page; holds the value that the caller made from the page.
    Taken(T),
}

/// Reads the page lines of one input.
#[derive(Debug)]
pub struct LineReader {
    feed: BatchSource,
    state: LineChecker,
    codings: Vec<Coding>,
    /// Whether reading or decoding has failed.
    has_failed: bool,
}

/// Position of the first page line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadPosition {
    /// Offset of the first page line in the first batch.
    pub(crate) at: usize,
    /// Number of lines before the first page line.
    pub(crate) lines: u64,
    /// Whether a carriage return was reported already.
    pub(crate) has_met_crlf: bool,
}

/// State of reading without the batch itself, so that both can be borrowed at once.
#[derive(Debug)]
struct LineChecker {
    judge: PageReader,
    limits: Limits,
    tally: ReadCounts,
    /// Offset of the next line in the current batch.
    at: usize,
    first_blank: Option<u64>,
    has_met_crlf: bool,
    /// The refusal of this input, if there was one. Further calls return it again.
    refused: Option<Refusal>,
}

/// Page lines of one batch.
#[derive(Debug)]
pub struct PageBatch<'r> {
    bytes: &'r [u8],
    state: &'r mut LineChecker,
}

impl LineReader {
    /// Opens JSON Lines of pages without line 1 of a collection.
    ///
    /// The coding is detected by content. `size` is the size of the input in bytes, if known.
    pub fn open(
        input: impl Read + Send + 'static,
        size: Option<u64>,
        limits: Limits,
    ) -> Result<Self, ReadError> {
        let batch_reader = BatchReader::new(Decoder::open(input, size, limits)?, limits.page);
        let codings = batch_reader.codings().to_vec();
        let feed = BatchSource::Inline(Box::new(InlineSource::new(
            batch_reader,
            TextHasher::default(),
            None,
        )));
        Ok(Self::new(feed, codings, limits, ReadPosition::default()))
    }

    /// Creates a reader for a source whose first lines were processed already.
    pub(crate) fn new(
        feed: BatchSource,
        codings: Vec<Coding>,
        limits: Limits,
        position: ReadPosition,
    ) -> Self {
        let judge = PageReader::new(limits.parts);
        let ReadPosition { at, lines, has_met_crlf } = position;
        let tally = ReadCounts { lines, ..ReadCounts::default() };
        let state = LineChecker {
            judge,
            limits,
            tally,
            at,
            first_blank: None,
            has_met_crlf,
            refused: None,
        };
        Self { feed, state, codings, has_failed: false }
    }

    /// Returns the numbers of lines and pages read so far.
    pub fn tally(&self) -> ReadCounts {
        self.state.tally
    }

    /// Returns the codings that were removed, outermost first.
    pub fn codings(&self) -> &[Coding] {
        &self.codings
    }

    /// Returns the current batch if it has lines left, else the next batch; `None` after the last
    /// one.
    ///
    /// After an error, every further call returns an error too.
    pub fn batch(
        &mut self,
        sink: &mut dyn FindingSink,
    ) -> Result<Option<PageBatch<'_>>, ReadError> {
        if let Some(refusal) = &self.state.refused {
            return Err(refusal.clone().into());
        }
        if self.has_failed {
            return Err(std::io::Error::other("reading this input has failed before").into());
        }
        while self.feed.current().is_none_or(|batch| batch.bytes().len() <= self.state.at) {
            let advanced = self.feed.advance();
            match advanced {
                Ok(true) => {}
                Ok(false) => return Ok(None),
                Err(error) => {
                    self.has_failed = true;
                    if let ReadError::Refused(refusal) = &error {
                        self.state.refused = Some(refusal.clone());
                    }
                    return Err(error);
                }
            }
            self.state.at = 0;
            let holds = self.feed.current().map(|batch| batch.holds);
            if matches!(holds, Some(BatchContent::Piece | BatchContent::LastPiece)) {
                self.state.at = usize::MAX;
            }
            if holds == Some(BatchContent::LastPiece) {
                self.state.tally.lines += 1;
                self.state.skip_long(sink);
            }
        }
        let bytes = self.feed.current().map_or(&[][..], |batch| batch.bytes());
        Ok(Some(PageBatch { bytes, state: &mut self.state }))
    }

    /// Passes the next page to `take`. Returns `None` after the last page.
    pub fn next<T>(
        &mut self,
        sink: &mut dyn FindingSink,
        take: impl FnOnce(PageRecord<'_>) -> T,
    ) -> Result<Option<T>, ReadError> {
        loop {
            let Some(mut batch) = self.batch(sink)? else { return Ok(None) };
            if let Some(record) = batch.next_page(sink)? {
                return Ok(Some(take(record)));
            }
        }
    }

    /// Passes the next page to `take`, unless its line equals `known`, which was checked already.
    pub(crate) fn next_unless<T>(
        &mut self,
        known: &[u8],
        sink: &mut dyn FindingSink,
        take: impl FnOnce(PageRecord<'_>) -> T,
    ) -> Result<Option<NextPage<T>>, ReadError> {
        if let Some(mut batch) = self.batch(sink)?
            && batch.skip_known(known)
        {
            return Ok(Some(NextPage::Known));
        }
        Ok(self.next(sink, take)?.map(NextPage::Taken))
    }

    pub(crate) fn finish(self) -> (TextHasher, InputSize) {
        self.feed.finish()
    }
}

impl<'r> PageBatch<'r> {
    /// Returns the next page of this batch; `None` after the last one.
    ///
    /// Skipped pages are reported as findings.
    pub fn next_page(
        &mut self,
        sink: &mut dyn FindingSink,
    ) -> Result<Option<PageRecord<'r>>, ReadError> {
        self.try_next(sink).map_err(|refusal| {
            self.state.refused = Some(refusal.clone());
            refusal.into()
        })
    }

    fn try_next(&mut self, sink: &mut dyn FindingSink) -> Result<Option<PageRecord<'r>>, Refusal> {
        while let Some(text) = self.next_line() {
            let number = self.state.tally.lines;
            let Some(text) = self.state.trim(text, number, sink) else { continue };
            if self.state.limits.page < text.len() {
                self.state.skip_long(sink);
                continue;
            }
            let text = simdutf8::compat::from_utf8(text).map_err(|error| {
                let detail = format!("invalid byte {} of the line", error.valid_up_to() + 1);
                Refusal::new(&rutter_page::rules::INVALID_UTF8, Place::line(number), detail)
            })?;
            if let Some(page) = self.state.read(text, number, sink)? {
                return Ok(Some(PageRecord { line: number, text, page }));
            }
        }
        Ok(None)
    }

    /// Counts the next line without checking it if it equals `known`.
    fn skip_known(&mut self, known: &[u8]) -> bool {
        let rest = self.bytes.get(self.state.at..).unwrap_or_default();
        let is_known = !known.is_empty()
            && rest.strip_prefix(known).is_some_and(|rest| matches!(rest, [] | [b'\n', ..]));
        if is_known {
            self.state.at += (known.len() + 1).min(rest.len());
            self.state.tally.lines += 1;
            self.state.tally.pages += 1;
        }
        is_known
    }

    fn next_line(&mut self) -> Option<&'r [u8]> {
        let rest = self.bytes.get(self.state.at..).filter(|rest| !rest.is_empty())?;
        let (line, step) = match memchr::memchr(b'\n', rest) {
            Some(at) => (rest.get(..at)?, at + 1),
            None => (rest, rest.len()),
        };
        self.state.at += step;
        self.state.tally.lines += 1;
        Some(line)
    }
}

impl LineChecker {
    /// Removes the line end of a line. Returns `None` for a blank line.
    fn trim<'r>(
        &mut self,
        text: &'r [u8],
        number: u64,
        sink: &mut dyn FindingSink,
    ) -> Option<&'r [u8]> {
        let mut text = text;
        if let Some(shorter) = text.strip_prefix(b"\xef\xbb\xbf").filter(|_| number == 1) {
            text = shorter;
            sink.report(Finding::new(&rules::BYTE_ORDER_MARK, Place::line(1), ""));
        }
        if let Some(shorter) = text.strip_suffix(b"\r") {
            text = shorter;
            if !std::mem::replace(&mut self.has_met_crlf, true) {
                sink.report(Finding::new(&rules::CARRIAGE_RETURN, Place::line(number), ""));
            }
        }
        if text.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            self.first_blank.get_or_insert(number);
            return None;
        }
        // Blank lines are allowed only at the end of the file. Another line follows, so report the
        // first blank line.
        if let Some(blank) = self.first_blank.take() {
            sink.report(Finding::new(&rules::BLANK_LINE, Place::line(blank), ""));
        }
        Some(text)
    }

    fn read<'r>(
        &mut self,
        text: &'r str,
        number: u64,
        sink: &mut dyn FindingSink,
    ) -> Result<Option<Page<'r>>, Refusal> {
        /// Minimum length in bytes of a page whose parsing is timed. For a shorter page, reading
        /// the clock would cost more than parsing.
        const TIMED_FROM: usize = 64 << 10;
        let started = (TIMED_FROM < text.len()).then(Instant::now);
        let page = self.judge.read(text, number, sink)?;
        if let Some(started) = started {
            let megabytes = u64::try_from(text.len() / 1_000_000).unwrap_or(u64::MAX);
            let allowed = self.limits.page_millis.saturating_mul(2 + megabytes) / 2;
            if u128::from(allowed) <= started.elapsed().as_millis() {
                let detail =
                    format!("parsing took more than {allowed} ms for {} bytes", text.len());
                return Err(Refusal::new(&rules::PAGE_TOO_SLOW, Place::line(number), detail));
            }
        }
        match page {
            Some(_) => self.tally.pages += 1,
            None => self.tally.skipped += 1,
        }
        Ok(page)
    }

    fn skip_long(&mut self, sink: &mut dyn FindingSink) {
        self.tally.skipped += 1;
        let detail =
            format!("the line has more than {} bytes; the page is skipped", self.limits.page);
        let place = Place::line(self.tally.lines);
        sink.report(Finding::new(&rules::PAGE_TOO_LARGE, place, detail));
    }
}
