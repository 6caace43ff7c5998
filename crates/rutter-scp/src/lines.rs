//! Page lines, one by one, judged and counted.
//!
//! Batches come from the [`Feed`]; each line is checked to be UTF-8, read by
//! the [`Judge`], and lent to the caller as a [`Record`].

use std::io::Read;
use std::time::Instant;

use rutter_finding::{Finding, FindingSink, Place, Refusal};
use rutter_page::{Head, Judge, LineDigest, Page};

use crate::batch::{Cutter, Holds};
use crate::codec::{Coding, Decoder};
use crate::error::ReadError;
use crate::feed::{Feed, Inline, Totals};
use crate::hash::TailHash;
use crate::limits::Limits;
use crate::rules;

/// A page and the line it was read from.
#[derive(Debug)]
pub struct Record<'r> {
    /// Number of the line, counted from 1.
    pub line: u64,
    /// The line as it was written, without its line end.
    pub text: &'r str,
    /// What it says.
    pub page: Page<'r>,
}

impl<'r> Record<'r> {
    /// Address and modification time, for whoever keeps the line as it is.
    pub fn head(&self) -> Head<'r> {
        Head { url: self.page.url.clone(), modified: self.page.modified }
    }

    /// The line's digest: one more hash of its bytes.
    pub fn digest(&self) -> LineDigest {
        LineDigest::of(self.text.as_bytes())
    }
}

/// What has been counted so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Lines of any kind, line 1 included.
    pub lines: u64,
    /// Pages that could be used.
    pub pages: u64,
    /// Pages that were skipped, each with a finding.
    pub skipped: u64,
}

/// What [`Lines::next_unless`] came upon.
pub(crate) enum Next<T> {
    /// The line that is known.
    Known,
    /// Another page, and what was made of it.
    Taken(T),
}

/// Judged page lines of one input.
#[derive(Debug)]
pub struct Lines {
    feed: Feed,
    state: LineState,
    codings: Vec<Coding>,
    /// Whether the bytes could not be had or decoded to their end.
    has_failed: bool,
}

/// What has been dealt with before the first page line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Begun {
    /// Bytes of the first batch.
    pub(crate) at: usize,
    /// Lines.
    pub(crate) lines: u64,
    /// Whether a carriage return has been reported.
    pub(crate) has_met_crlf: bool,
}

/// Everything about the lines but the bytes, so that both can be borrowed.
#[derive(Debug)]
struct LineState {
    judge: Judge,
    limits: Limits,
    tally: Tally,
    /// Where in the batch at hand the next line begins.
    at: usize,
    first_blank: Option<u64>,
    has_met_crlf: bool,
    /// Why the text was refused, if it was: said again to whoever goes on.
    refused: Option<Refusal>,
}

/// Page lines lent from one batch.
#[derive(Debug)]
pub struct Lent<'r> {
    bytes: &'r [u8],
    state: &'r mut LineState,
}

impl Lines {
    /// Opens JSON Lines of pages, without a collection line before them.
    ///
    /// Coded input is decoded by what it is; `size` is the input's size where
    /// it is known.
    pub fn open(
        input: impl Read + Send + 'static,
        size: Option<u64>,
        limits: Limits,
    ) -> Result<Self, ReadError> {
        let cutter = Cutter::new(Decoder::open(input, size, limits)?, limits.page);
        let codings = cutter.codings().to_vec();
        let feed = Feed::Inline(Box::new(Inline::new(cutter, TailHash::default(), None)));
        Ok(Self::new(feed, codings, limits, Begun::default()))
    }

    /// Goes on with a feed whose first lines have been dealt with.
    pub(crate) fn new(feed: Feed, codings: Vec<Coding>, limits: Limits, begun: Begun) -> Self {
        let judge = Judge::new(limits.parts);
        let Begun { at, lines, has_met_crlf } = begun;
        let tally = Tally { lines, ..Tally::default() };
        let state =
            LineState { judge, limits, tally, at, first_blank: None, has_met_crlf, refused: None };
        Self { feed, state, codings, has_failed: false }
    }

    /// What has been counted so far.
    pub fn tally(&self) -> Tally {
        self.state.tally
    }

    /// The codings that were undone, outermost first.
    pub fn codings(&self) -> &[Coding] {
        &self.codings
    }

    /// Lends the batch at hand, or the next one; `None` at the end.
    ///
    /// What is left of a batch that was not read to its end is lent again.
    ///
    /// After an error every further call is an error too.
    pub fn batch(&mut self, sink: &mut dyn FindingSink) -> Result<Option<Lent<'_>>, ReadError> {
        if let Some(refusal) = &self.state.refused {
            return Err(refusal.clone().into());
        }
        if self.has_failed {
            return Err(std::io::Error::other("reading has failed before").into());
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
            if matches!(holds, Some(Holds::Piece | Holds::LastPiece)) {
                self.state.at = usize::MAX;
            }
            if holds == Some(Holds::LastPiece) {
                self.state.tally.lines += 1;
                self.state.skip_long(sink);
            }
        }
        let bytes = self.feed.current().map_or(&[][..], |batch| batch.bytes());
        Ok(Some(Lent { bytes, state: &mut self.state }))
    }

    /// Hands the next page to `take`; `None` at the end.
    pub fn next<T>(
        &mut self,
        sink: &mut dyn FindingSink,
        take: impl FnOnce(Record<'_>) -> T,
    ) -> Result<Option<T>, ReadError> {
        loop {
            let Some(mut batch) = self.batch(sink)? else { return Ok(None) };
            if let Some(record) = batch.next_page(sink)? {
                return Ok(Some(take(record)));
            }
        }
    }

    /// Hands the next page to `take`, unless its line is `known`: then it has
    /// been judged elsewhere.
    pub(crate) fn next_unless<T>(
        &mut self,
        known: &[u8],
        sink: &mut dyn FindingSink,
        take: impl FnOnce(Record<'_>) -> T,
    ) -> Result<Option<Next<T>>, ReadError> {
        if let Some(mut batch) = self.batch(sink)?
            && batch.skip_known(known)
        {
            return Ok(Some(Next::Known));
        }
        Ok(self.next(sink, take)?.map(Next::Taken))
    }

    pub(crate) fn finish(self) -> (TailHash, Totals) {
        self.feed.finish()
    }
}

impl<'r> Lent<'r> {
    /// The next page of this batch; `None` when it is used up.
    ///
    /// Pages that are skipped leave a finding and are passed over.
    pub fn next_page(
        &mut self,
        sink: &mut dyn FindingSink,
    ) -> Result<Option<Record<'r>>, ReadError> {
        self.try_next(sink).map_err(|refusal| {
            self.state.refused = Some(refusal.clone());
            refusal.into()
        })
    }

    fn try_next(&mut self, sink: &mut dyn FindingSink) -> Result<Option<Record<'r>>, Refusal> {
        while let Some(text) = self.next_line() {
            let number = self.state.tally.lines;
            let Some(text) = self.state.trim(text, number, sink) else { continue };
            if self.state.limits.page < text.len() {
                self.state.skip_long(sink);
                continue;
            }
            let text = simdutf8::compat::from_utf8(text).map_err(|error| {
                let detail = format!("at byte {} of the line", error.valid_up_to() + 1);
                Refusal::new(&rutter_page::rules::INVALID_UTF8, Place::line(number), detail)
            })?;
            if let Some(page) = self.state.read(text, number, sink)? {
                return Ok(Some(Record { line: number, text, page }));
            }
        }
        Ok(None)
    }

    /// Counts the next line without judging it, where it is `known`.
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

impl LineState {
    /// Takes line ends off; `None` for a blank line.
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
        // Blank lines at the end are nothing; this one was not at the end.
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
        /// Below this a page cannot take long, and the clock costs more.
        const TIMED_FROM: usize = 64 << 10;
        let started = (TIMED_FROM < text.len()).then(Instant::now);
        let page = self.judge.read(text, number, sink)?;
        if let Some(started) = started {
            let megabytes = u64::try_from(text.len() / 1_000_000).unwrap_or(u64::MAX);
            let allowed = self.limits.page_millis.saturating_mul(2 + megabytes) / 2;
            if u128::from(allowed) <= started.elapsed().as_millis() {
                let detail = format!("more than {allowed} ms for {} bytes", text.len());
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
        let detail = format!("more than {} bytes, skipped", self.limits.page);
        let place = Place::line(self.tally.lines);
        sink.report(Finding::new(&rules::PAGE_TOO_LARGE, place, detail));
    }
}
