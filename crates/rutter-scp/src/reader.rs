//! Reads one SCP collection, line by line, in constant memory.
//!
//! Line 1 is read and judged at once; pages are lent as they come; smaller
//! troubles go to the [`FindingSink`]. Whatever the caller does with the
//! pages, only [`Reader::finish`] says that they may be kept.
//!
//! Refuses: to skip a page silently, to read past [`Limits`], and to vouch for
//! a file it has not seen the end of.

use std::io::{self, Read};

use rutter_finding::{Finding, FindingSink, Place, Refusal};
use rutter_page::{Digest, Own, Page};

use crate::batch::{Batch, Cutter, Holds};
use crate::codec::{Coding, Decoder};
use crate::error::ReadError;
use crate::excise::{self, Cut};
use crate::feed::{Feed, Inline, Threaded};
use crate::hash::{Form, TailHash};
use crate::header::Header;
use crate::limits::Limits;
use crate::lines::{Begun, Lent, Lines, Next, Record, Tally};
use crate::rules;

/// How a collection is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Ceilings that nothing exceeds.
    pub limits: Limits,
    /// Size of the input where it is known; makes the ratio check exact from
    /// the first byte.
    pub size: Option<u64>,
    /// Whether a second thread decodes ahead.
    pub threads: Threads,
}

/// How many threads read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Threads {
    /// The caller's alone.
    #[default]
    One,
    /// One more, which decodes ahead and shares the hashing.
    Two,
}

/// Reads a collection.
#[derive(Debug)]
pub struct Reader {
    header: Header,
    line_1: Vec<u8>,
    lines: Lines,
    limits: Limits,
}

/// A collection was read to its end and is what it claims to be.
///
/// Only [`Reader::finish`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// What line 1 said.
    pub header: Header,
    /// How the checksum matched; `None` where there is none.
    pub form: Option<Form>,
    /// Digest of the text with the checksum member absent.
    pub digest: Digest,
    /// Lines, pages, skipped pages.
    pub tally: Tally,
    /// Bytes of the file.
    pub coded: u64,
    /// Bytes of the text.
    pub decoded: u64,
    /// The codings that were undone, outermost first.
    pub codings: Vec<Coding>,
}

impl Reader {
    /// Opens a collection: undoes its coding, reads and judges line 1.
    pub fn open(
        input: impl Read + Send + 'static,
        options: Options,
        sink: &mut dyn FindingSink,
    ) -> Result<Self, ReadError> {
        let Options { limits, size, threads } = options;
        let decoder = Decoder::open(input, size, limits)?;
        let mut cutter = Cutter::new(decoder, limits.metadata);
        let first = cutter.next(Vec::new())?;
        cutter.set_longest_line(limits.page);
        let first = first.ok_or_else(|| refuse(&rules::NO_COLLECTION_LINE, ""))?;
        let Start { header, line_1, begun, cut } = start(&first, &limits, sink)?;

        let mut hash = TailHash::default();
        hash.update_excised(&line_1, cut.as_ref());
        hash.update(first.bytes().get(line_1.len()..).unwrap_or_default());
        let codings = cutter.codings().to_vec();
        let feed = match threads {
            Threads::One => Feed::Inline(Box::new(Inline::new(cutter, hash, Some(first)))),
            Threads::Two => Feed::Threaded(Threaded::new(cutter, hash, Some(first))?),
        };
        let lines = Lines::new(feed, codings, limits, begun);
        Ok(Self { header, line_1, lines, limits })
    }

    /// What line 1 says.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What has been counted so far.
    pub fn tally(&self) -> Tally {
        self.lines.tally()
    }

    /// Lends a batch of page lines; `None` at the end of the text.
    ///
    /// ```
    /// # use rutter_scp::{Options, Reader};
    /// # let text = "{\"collection\":{\"id\":\"a\",\"section\":\"all\",\"type\":\"snapshot\",\
    /// # \"generated\":\"2026-01-01T00:00:00Z\",\"version\":\"0.1\"}}\n{\"url\":\"https://h.example/\",\
    /// # \"title\":\"t\",\"description\":\"d\",\"modified\":\"2026-01-01T00:00:00Z\",\"language\":\"en\",\
    /// # \"content\":[{\"type\":\"text\",\"text\":\"x\"}]}";
    /// let mut findings = Vec::new();
    /// let mut reader = Reader::open(text.as_bytes(), Options::default(), &mut findings)?;
    /// while let Some(mut batch) = reader.batch(&mut findings)? {
    ///     while let Some(record) = batch.next_page(&mut findings)? {
    ///         assert_eq!(record.page.url.as_str(), "https://h.example/");
    ///     }
    /// }
    /// let receipt = reader.finish(&mut findings)?;
    /// assert_eq!(receipt.tally.pages, 1);
    /// # Ok::<(), rutter_scp::ReadError>(())
    /// ```
    pub fn batch(&mut self, sink: &mut dyn FindingSink) -> Result<Option<Lent<'_>>, ReadError> {
        self.lines.batch(sink)
    }

    /// Hands the next page to `take`; `None` at the end.
    pub fn next<T>(
        &mut self,
        sink: &mut dyn FindingSink,
        take: impl FnOnce(Record<'_>) -> T,
    ) -> Result<Option<T>, ReadError> {
        self.lines.next(sink, take)
    }

    pub(crate) fn next_unless<T>(
        &mut self,
        known: &[u8],
        sink: &mut dyn FindingSink,
        take: impl FnOnce(Record<'_>) -> T,
    ) -> Result<Option<Next<T>>, ReadError> {
        self.lines.next_unless(known, sink, take)
    }

    /// Pages that own what they say, for callers that keep them.
    pub fn pages<'r>(
        &'r mut self,
        sink: &'r mut dyn FindingSink,
    ) -> impl Iterator<Item = Result<Page<'static>, ReadError>> + 'r {
        let mut is_over = false;
        std::iter::from_fn(move || {
            if is_over {
                return None;
            }
            let page = self.next(sink, |record| record.page.own()).transpose();
            is_over = !matches!(page, Some(Ok(_)));
            page
        })
    }

    /// Reads what is left, verifies the whole, and vouches for it.
    pub fn finish(self, sink: &mut dyn FindingSink) -> Result<Receipt, ReadError> {
        self.finish_with(None::<fn() -> io::Result<io::Empty>>, sink)
    }

    /// The same; on a mismatch opens the input again to try the rarer forms of
    /// the checksum (D02).
    pub fn finish_again<R: Read + Send + 'static>(
        self,
        again: impl FnOnce() -> io::Result<R>,
        sink: &mut dyn FindingSink,
    ) -> Result<Receipt, ReadError> {
        self.finish_with(Some(again), sink)
    }

    fn finish_with<R: Read + Send + 'static>(
        mut self,
        again: Option<impl FnOnce() -> io::Result<R>>,
        sink: &mut dyn FindingSink,
    ) -> Result<Receipt, ReadError> {
        while let Some(mut batch) = self.lines.batch(sink)? {
            while batch.next_page(sink)?.is_some() {}
        }
        let tally = self.lines.tally();
        let codings = self.lines.codings().to_vec();
        let (hash, totals) = self.lines.finish();
        let (digest, shorter) = hash.finish();
        let form = match self.header.checksum {
            None => {
                report(sink, &rules::NO_CHECKSUM, Place::line(1), "");
                None
            }
            Some(claimed) if claimed == digest => Some(Form::Excised),
            Some(claimed) if Some(claimed) == shorter => {
                report(sink, &rules::FINAL_NEWLINE, Place::WHOLE, "");
                Some(Form::ExcisedNoNewline)
            }
            Some(claimed) => {
                let form = match again {
                    Some(again) => {
                        rarer_form(again()?, &self.line_1, digest, claimed, self.limits)?
                    }
                    None => None,
                };
                let form = form.ok_or_else(|| {
                    let detail = format!("line 1 says {claimed}, the text gives {digest}");
                    refuse(&rules::CHECKSUM_MISMATCH, detail)
                })?;
                report(sink, &rules::CHECKSUM_FORM, Place::line(1), form.name());
                Some(form)
            }
        };
        Ok(Receipt {
            header: self.header,
            form,
            digest,
            tally,
            coded: totals.coded,
            decoded: totals.decoded,
            codings,
        })
    }
}

/// What the first batch tells.
struct Start {
    header: Header,
    /// Line 1 as it stands, with byte order mark and white space before it,
    /// without line end.
    line_1: Vec<u8>,
    /// Where line 2 begins.
    begun: Begun,
    cut: Option<Cut>,
}

fn start(first: &Batch, limits: &Limits, sink: &mut dyn FindingSink) -> Result<Start, ReadError> {
    let bytes = first.bytes();
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    // White space before line 1 is covered by the checksum and otherwise nothing.
    let rest = bytes.get(mark..).unwrap_or_default();
    let begin = mark + rest.len() - rest.trim_ascii_start().len();
    let n_blank = memchr::memchr_iter(b'\n', bytes.get(..begin).unwrap_or_default()).count() as u64;
    let end = memchr::memchr(b'\n', bytes.get(begin..).unwrap_or_default());
    let end = end.map_or(bytes.len(), |at| begin + at);
    let mut line_1 = bytes.get(..end).unwrap_or_default();
    let number = n_blank + 1;
    let mut has_met_crlf = false;
    if let Some(shorter) = line_1.strip_suffix(b"\r") {
        line_1 = shorter;
        has_met_crlf = true;
    }
    let text = line_1.get(begin..).unwrap_or_default();
    if 0 < mark {
        report(sink, &rules::BYTE_ORDER_MARK, Place::line(1), "");
    }
    if 0 < n_blank && !text.is_empty() {
        report(sink, &rules::BLANK_LINE, Place::line(1), "");
    }
    if bytes.iter().all(u8::is_ascii_whitespace) || text.is_empty() {
        return Err(refuse(&rules::NO_COLLECTION_LINE, "").into());
    }
    if !text.starts_with(b"{") {
        let is_markup = text.starts_with(b"<");
        let detail = if is_markup { "it looks like an HTML or XML page" } else { "" };
        return Err(refuse(&rules::NOT_TEXT, detail).into());
    }
    // In a file of another kind, such as a picture, line ends mean nothing.
    if has_met_crlf {
        report(sink, &rules::CARRIAGE_RETURN, Place::line(number), "");
    }
    if first.holds != Holds::Lines || limits.metadata < line_1.len() {
        let detail = format!("more than {} bytes", limits.metadata);
        return Err(refuse(&rules::METADATA_TOO_LARGE, detail).into());
    }
    let text = std::str::from_utf8(text)
        .map_err(|_| Refusal::new(&rutter_page::rules::INVALID_UTF8, Place::line(number), ""))?;
    let header = Header::parse(text, sink)?;
    let cut = excise::find(line_1);
    let begun = Begun { at: end + 1, lines: number, has_met_crlf };
    Ok(Start { header, line_1: line_1.to_vec(), begun, cut })
}

/// Reads the input once more and tries the forms that need another hash.
fn rarer_form(
    input: impl Read + Send + 'static,
    line_1: &[u8],
    seen: Digest,
    claimed: Digest,
    limits: Limits,
) -> Result<Option<Form>, ReadError> {
    let Some(cut) = excise::find(line_1) else { return Ok(None) };
    let mut zeros = line_1.to_vec();
    zeros.get_mut(cut.digits.clone()).unwrap_or_default().fill(b'0');
    let [mut zeroed, mut literal, mut excised]: [TailHash; 3] = Default::default();
    zeroed.update(&zeros);
    literal.update(line_1);
    excised.update_excised(line_1, Some(&cut));
    let mut cutter = Cutter::new(Decoder::open(input, None, limits)?, 0);
    let mut to_skip = line_1.len();
    let mut buffer = Vec::new();
    while let Some(batch) = cutter.next(buffer)? {
        let n = to_skip.min(batch.bytes().len());
        to_skip -= n;
        let rest = batch.bytes().get(n..).unwrap_or_default();
        zeroed.update(rest);
        literal.update(rest);
        excised.update(rest);
        buffer = batch.into_buffer();
    }
    // The pages came from the first reading; the second must be of the same text.
    if excised.finish().0 != seen {
        return Ok(None);
    }
    let is_claimed = |hash: TailHash| hash.finish().0 == claimed;
    Ok(if is_claimed(zeroed) {
        Some(Form::Zeroed)
    } else if is_claimed(literal) {
        Some(Form::Literal)
    } else {
        None
    })
}

fn refuse(rule: &'static rutter_finding::Rule, detail: impl Into<String>) -> Refusal {
    Refusal::new(rule, Place::WHOLE, detail)
}

fn report(
    sink: &mut dyn FindingSink,
    rule: &'static rutter_finding::Rule,
    place: Place,
    detail: &str,
) {
    sink.report(Finding::new(rule, place, detail));
}
