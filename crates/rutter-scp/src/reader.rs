//! Reads an SCP collection line by line in constant memory.
//!
//! Line 1 is parsed and checked at once; pages are lent to the caller batch by batch; findings go
//! to the [`FindingSink`]. Only [`CollectionReader::finish`] confirms that the pages may be used.
//!
//! Rejects files over [`Limits`] and files with a wrong checksum. Every skipped page is reported.

use std::io::{self, Read};

use rutter_finding::{Finding, FindingSink, Place, Refusal};
use rutter_page::{Digest, IntoOwned, Page};

use crate::batch::{BatchContent, BatchReader, LineBatch};
use crate::batch_source::{BatchSource, InlineSource, ThreadedSource};
use crate::checksum_span::{self, ChecksumSpan};
use crate::codec::{Coding, Decoder};
use crate::error::ReadError;
use crate::hash::{ChecksumForm, TextHasher};
use crate::header::CollectionHeader;
use crate::limits::Limits;
use crate::lines::{LineReader, NextPage, PageBatch, PageRecord, ReadCounts, ReadPosition};
use crate::rules;

/// Options for reading a collection.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions {
    /// Size limits for the file and its parts.
    pub limits: Limits,
    /// Size of the input in bytes, if known. If it is known, the check of the compression ratio is
    /// exact from the first byte.
    pub size: Option<u64>,
    /// Whether a second thread decodes ahead.
    pub threads: ReaderThreads,
}

/// Number of threads that read a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReaderThreads {
    /// Only the calling thread reads the collection.
    #[default]
    One,
    /// A second thread decodes ahead of the calling thread and shares the hashing with it.
    Two,
}

/// Reads a collection page by page.
#[derive(Debug)]
pub struct CollectionReader {
    header: CollectionHeader,
    line_1: Vec<u8>,
    lines: LineReader,
    limits: Limits,
}

/// Proof that a collection was read to its end and verified.
///
/// Only [`CollectionReader::finish`] creates one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadReceipt {
    /// Metadata of the collection, from line 1.
    pub header: CollectionHeader,
    /// Form of the text whose hash matched the checksum; `None` if the collection has no checksum.
    pub form: Option<ChecksumForm>,
    /// Digest of the text without the checksum member.
    pub digest: Digest,
    /// Numbers of lines, pages and skipped pages.
    pub tally: ReadCounts,
    /// Size of the file in bytes.
    pub coded: u64,
    /// Size of the decoded text in bytes.
    pub decoded: u64,
    /// Codings that were decoded, outermost first.
    pub codings: Vec<Coding>,
}

impl CollectionReader {
    /// Opens a collection: detects its coding, parses and checks line 1.
    pub fn open(
        input: impl Read + Send + 'static,
        options: ReadOptions,
        sink: &mut dyn FindingSink,
    ) -> Result<Self, ReadError> {
        let ReadOptions { limits, size, threads } = options;
        let decoder = Decoder::open(input, size, limits)?;
        let mut batch_reader = BatchReader::new(decoder, limits.metadata);
        let first = batch_reader.next(Vec::new())?;
        batch_reader.set_longest_line(limits.page);
        let first = first.ok_or_else(|| refuse(&rules::NO_COLLECTION_LINE, ""))?;
        let FirstBatch { header, line_1, position, cut } = start(&first, &limits, sink)?;

        let mut hash = TextHasher::default();
        hash.update_excised(&line_1, cut.as_ref());
        hash.update(first.bytes().get(line_1.len()..).unwrap_or_default());
        let codings = batch_reader.codings().to_vec();
        let feed = match threads {
            ReaderThreads::One => {
                BatchSource::Inline(Box::new(InlineSource::new(batch_reader, hash, Some(first))))
            }
            ReaderThreads::Two => {
                BatchSource::Threaded(ThreadedSource::new(batch_reader, hash, Some(first))?)
            }
        };
        let lines = LineReader::new(feed, codings, limits, position);
        Ok(Self { header, line_1, lines, limits })
    }

    /// Returns the metadata of the collection.
    pub fn header(&self) -> &CollectionHeader {
        &self.header
    }

    /// Returns the numbers of lines and pages read so far.
    pub fn tally(&self) -> ReadCounts {
        self.lines.tally()
    }

    /// Returns the next batch of page lines, or `None` at the end of the text.
    ///
    /// ```
    /// # use rutter_scp::{ReadOptions, CollectionReader};
    /// # let text = "{\"collection\":{\"id\":\"a\",\"section\":\"all\",\"type\":\"snapshot\",\
    /// # \"generated\":\"2026-01-01T00:00:00Z\",\"version\":\"0.1\"}}\n{\"url\":\"https://h.example/\",\
    /// # \"title\":\"t\",\"description\":\"d\",\"modified\":\"2026-01-01T00:00:00Z\",\"language\":\"en\",\
    /// # \"content\":[{\"type\":\"text\",\"text\":\"x\"}]}";
    /// let mut findings = Vec::new();
    /// let mut reader = CollectionReader::open(text.as_bytes(), ReadOptions::default(), &mut findings)?;
    /// while let Some(mut batch) = reader.batch(&mut findings)? {
    ///     while let Some(record) = batch.next_page(&mut findings)? {
    ///         assert_eq!(record.page.url.as_str(), "https://h.example/");
    ///     }
    /// }
    /// let receipt = reader.finish(&mut findings)?;
    /// assert_eq!(receipt.tally.pages, 1);
    /// # Ok::<(), rutter_scp::ReadError>(())
    /// ```
    pub fn batch(
        &mut self,
        sink: &mut dyn FindingSink,
    ) -> Result<Option<PageBatch<'_>>, ReadError> {
        self.lines.batch(sink)
    }

    /// Passes the next page to `take`. Returns `None` after the last page.
    pub fn next<T>(
        &mut self,
        sink: &mut dyn FindingSink,
        take: impl FnOnce(PageRecord<'_>) -> T,
    ) -> Result<Option<T>, ReadError> {
        self.lines.next(sink, take)
    }

    pub(crate) fn next_unless<T>(
        &mut self,
        known: &[u8],
        sink: &mut dyn FindingSink,
        take: impl FnOnce(PageRecord<'_>) -> T,
    ) -> Result<Option<NextPage<T>>, ReadError> {
        self.lines.next_unless(known, sink, take)
    }

    /// Returns an iterator over owned copies of the pages.
    pub fn pages<'r>(
        &'r mut self,
        sink: &'r mut dyn FindingSink,
    ) -> impl Iterator<Item = Result<Page<'static>, ReadError>> + 'r {
        let mut is_over = false;
        std::iter::from_fn(move || {
            if is_over {
                return None;
            }
            let page = self.next(sink, |record| record.page.into_owned()).transpose();
            is_over = !matches!(page, Some(Ok(_)));
            page
        })
    }

    /// Reads the rest of the input and verifies the whole collection.
    pub fn finish(self, sink: &mut dyn FindingSink) -> Result<ReadReceipt, ReadError> {
        self.finish_with(None::<fn() -> io::Result<io::Empty>>, sink)
    }

    /// Like [`finish`](Self::finish), but if the checksum does not match, opens the input again to
    /// try the less common forms of the checksum (D02).
    pub fn finish_again<R: Read + Send + 'static>(
        self,
        again: impl FnOnce() -> io::Result<R>,
        sink: &mut dyn FindingSink,
    ) -> Result<ReadReceipt, ReadError> {
        self.finish_with(Some(again), sink)
    }

    fn finish_with<R: Read + Send + 'static>(
        mut self,
        again: Option<impl FnOnce() -> io::Result<R>>,
        sink: &mut dyn FindingSink,
    ) -> Result<ReadReceipt, ReadError> {
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
            Some(claimed) if claimed == digest => Some(ChecksumForm::Excised),
            Some(claimed) if Some(claimed) == shorter => {
                report(sink, &rules::FINAL_NEWLINE, Place::WHOLE, "");
                Some(ChecksumForm::ExcisedNoNewline)
            }
            Some(claimed) => {
                let form = match again {
                    Some(again) => {
                        rarer_form(again()?, &self.line_1, digest, claimed, self.limits)?
                    }
                    None => None,
                };
                let form = form.ok_or_else(|| {
                    let detail = format!("line 1 states {claimed}, the text has {digest}");
                    refuse(&rules::CHECKSUM_MISMATCH, detail)
                })?;
                report(sink, &rules::CHECKSUM_FORM, Place::line(1), form.name());
                Some(form)
            }
        };
        Ok(ReadReceipt {
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

/// Result of parsing the first batch.
struct FirstBatch {
    header: CollectionHeader,
    /// Line 1 as written, including a byte order mark and leading white space, without its line
    /// end.
    line_1: Vec<u8>,
    /// Position of line 2.
    position: ReadPosition,
    cut: Option<ChecksumSpan>,
}

fn start(
    first: &LineBatch,
    limits: &Limits,
    sink: &mut dyn FindingSink,
) -> Result<FirstBatch, ReadError> {
    let bytes = first.bytes();
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    // The checksum covers white space before line 1; it has no other effect.
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
    // In a file of another type, such as an image, line ends mean nothing.
    if has_met_crlf {
        report(sink, &rules::CARRIAGE_RETURN, Place::line(number), "");
    }
    if first.holds != BatchContent::Lines || limits.metadata < line_1.len() {
        let detail = format!("more than {} bytes", limits.metadata);
        return Err(refuse(&rules::METADATA_TOO_LARGE, detail).into());
    }
    let text = std::str::from_utf8(text)
        .map_err(|_| Refusal::new(&rutter_page::rules::INVALID_UTF8, Place::line(number), ""))?;
    let header = CollectionHeader::parse(text, sink)?;
    let cut = checksum_span::find(line_1);
    let position = ReadPosition { at: end + 1, lines: number, has_met_crlf };
    Ok(FirstBatch { header, line_1: line_1.to_vec(), position, cut })
}

/// Reads the input a second time and tries the forms of the checksum that need another hash.
fn rarer_form(
    input: impl Read + Send + 'static,
    line_1: &[u8],
    seen: Digest,
    claimed: Digest,
    limits: Limits,
) -> Result<Option<ChecksumForm>, ReadError> {
    let Some(cut) = checksum_span::find(line_1) else { return Ok(None) };
    let mut zeros = line_1.to_vec();
    zeros.get_mut(cut.digits.clone()).unwrap_or_default().fill(b'0');
    let [mut zeroed, mut literal, mut excised]: [TextHasher; 3] = Default::default();
    zeroed.update(&zeros);
    literal.update(line_1);
    excised.update_excised(line_1, Some(&cut));
    let mut batch_reader = BatchReader::new(Decoder::open(input, None, limits)?, 0);
    let mut to_skip = line_1.len();
    let mut buffer = Vec::new();
    while let Some(batch) = batch_reader.next(buffer)? {
        let n = to_skip.min(batch.bytes().len());
        to_skip -= n;
        let rest = batch.bytes().get(n..).unwrap_or_default();
        zeroed.update(rest);
        literal.update(rest);
        excised.update(rest);
        buffer = batch.into_buffer();
    }
    // The pages came from the first reading, so the second reading must have seen the same text.
    if excised.finish().0 != seen {
        return Ok(None);
    }
    let is_claimed = |hash: TextHasher| hash.finish().0 == claimed;
    Ok(if is_claimed(zeroed) {
        Some(ChecksumForm::Zeroed)
    } else if is_claimed(literal) {
        Some(ChecksumForm::Literal)
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
