//! Turns XML events into sitemap items and findings.
//!
//! The parser receives the file in pieces that end after a `>`, and keeps the
//! state between pieces: open elements, namespace prefixes, the current entry.
//! Items and findings are produced in file order.

mod capture;
mod elements;
mod entry;
mod fast_path;
mod overflow;
mod state;

use std::collections::VecDeque;
use std::io::BufRead;

use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::events::Event;
use rutter_finding::{Finding, Place, Refusal, Rule, quoted};
use rutter_page::PageUrl;

use self::state::{
    CapturedElement, CurrentEntry, CurrentForeignElement, EntryCount, LineCounter, MarkupToken,
    OpenElements, ParserPosition, RootElement,
};
use crate::namespaces::{NamespaceId, Namespaces};
use crate::rules;
use crate::{SitemapItem, SitemapKind, SitemapLimits};

/// One output of the parser.
pub(super) enum ParserOutput {
    /// An item, and the number of its line.
    SitemapItem(SitemapItem, u64),
    Finding(Finding),
}

/// How far a piece was parsed, and why parsing stopped there.
pub(super) enum PieceProgress {
    /// The piece was parsed to its end.
    Complete,
    /// The piece was parsed up to a tag that is incomplete in this piece.
    Cut,
    /// The piece was parsed up to bytes that are not UTF-8.
    NotUtf8,
}

/// The parser state between pieces.
pub(super) struct SitemapParser {
    limits: SitemapLimits,
    position: ParserPosition,
    elements: OpenElements,
    namespaces: Namespaces,
    root: RootElement,
    /// The base URL of relative URLs.
    base: Option<PageUrl<'static>>,
    count: EntryCount,
    has_blank_start: bool,
    current: CurrentEntry,
    foreign: CurrentForeignElement,
    captured: CapturedElement,
    lines: LineCounter,
}

type ParseStep = Result<(), Refusal>;

impl SitemapParser {
    pub(super) fn new(limits: SitemapLimits) -> Self {
        Self {
            limits,
            position: ParserPosition::Prolog,
            elements: OpenElements::default(),
            namespaces: Namespaces::new(),
            root: RootElement { kind: None, namespace: NamespaceId::SITEMAP },
            base: None,
            count: EntryCount::default(),
            has_blank_start: false,
            current: CurrentEntry::default(),
            foreign: CurrentForeignElement::default(),
            captured: CapturedElement::default(),
            lines: LineCounter { line: 1, counted: 0 },
        }
    }

    pub(super) fn kind(&self) -> Option<SitemapKind> {
        self.root.kind
    }

    /// Resolves relative URLs against `base`.
    pub(super) fn set_base(&mut self, base: PageUrl<'static>) {
        self.base = Some(base);
    }

    /// Returns whether entries were skipped because the limit was reached.
    pub(super) fn has_many_urls(&self) -> bool {
        0 < self.count.skipped
    }

    /// Returns whether the root element was closed.
    pub(super) fn is_complete(&self) -> bool {
        self.position == ParserPosition::After
    }

    /// Returns whether the root element was not found yet.
    pub(super) fn is_empty(&self) -> bool {
        self.position == ParserPosition::Prolog
    }

    /// Returns the line at the end of the last piece.
    pub(super) fn line(&self) -> u64 {
        self.lines.line
    }

    /// Parses a piece; returns its progress and the number of bytes used.
    pub(super) fn run(
        &mut self,
        piece: &[u8],
        is_last: bool,
        out: &mut VecDeque<ParserOutput>,
    ) -> Result<(PieceProgress, usize), Refusal> {
        let mut xml = quick_xml::Reader::from_reader(piece);
        // This parser compares the names of start and end tags itself, because an element may span
        // pieces.
        xml.config_mut().check_end_names = false;
        xml.config_mut().allow_unmatched_ends = true;
        self.lines.counted = 0;
        let (progress, used) = loop {
            let start = byte_position(&xml);
            let event = match xml.read_event() {
                Ok(event) => event,
                Err(error) => match self.classify_error(&error, piece, start, is_last)? {
                    PieceProgress::Complete => break (PieceProgress::Complete, piece.len()),
                    progress => break (progress, start),
                },
            };
            let token = MarkupToken { piece, start, end: byte_position(&xml) };
            match event {
                Event::Start(tag) => {
                    self.start(&tag, token, out)?;
                    if self.position == ParserPosition::Entry
                        && self.elements.entry_depth == self.elements.depth
                    {
                        let used = self.parse_plain_children(token, out);
                        xml.stream().consume(used);
                    }
                }
                Event::End(tag) => self.end(tag.name().as_ref(), token, out)?,
                Event::Empty(tag) => {
                    self.start(&tag, token, out)?;
                    self.end(tag.name().as_ref(), token, out)?;
                }
                Event::Text(text) => self.text(&text, token, out)?,
                Event::CData(text) => self.text(&text, token, out)?,
                Event::GeneralRef(name) => self.reference(&name, token, out)?,
                Event::DocType(_) => return Err(self.refusal(&rules::DOCTYPE, token, "")),
                Event::Decl(_) => {
                    if self.has_blank_start {
                        self.report(&rules::SPACE_BEFORE_XML, token, "", out);
                    }
                }
                Event::Comment(_) | Event::PI(_) => self.append_captured(token, out),
                Event::Eof => break (PieceProgress::Complete, piece.len()),
            }
        };
        self.lines.at(MarkupToken { piece, start: used, end: used });
        Ok((progress, used))
    }

    /// Decides whether an XML error means an incomplete piece or an invalid file.
    fn classify_error(
        &mut self,
        error: &Error,
        piece: &[u8],
        start: usize,
        is_last: bool,
    ) -> Result<PieceProgress, Refusal> {
        let token = MarkupToken { piece, start, end: start };
        let rest = piece.get(start..).unwrap_or_default();
        match error {
            Error::Encoding(_) => Ok(PieceProgress::NotUtf8),
            Error::Syntax(SyntaxError::InvalidBangMarkup) if 3 <= rest.len() => {
                Err(self.refusal(&rules::MALFORMED_XML, token, "unknown markup after `<!`"))
            }
            // Reject a document type before its end is read.
            Error::Syntax(SyntaxError::UnclosedDoctype) => {
                Err(self.refusal(&rules::DOCTYPE, token, ""))
            }
            Error::Syntax(_) if is_last => Ok(PieceProgress::Complete),
            Error::Syntax(_) => Ok(PieceProgress::Cut),
            Error::IllFormed(IllFormedError::UnclosedReference) => {
                let after = rest.get(1..).unwrap_or_default();
                if is_last && memchr::memchr2(b'<', b'&', after).is_none() {
                    return Ok(PieceProgress::Complete);
                }
                let excerpt = quoted(String::from_utf8_lossy(rest).lines().next().unwrap_or(""));
                let detail = format!("unescaped `&` in {excerpt}");
                Err(self.refusal(&rules::MALFORMED_XML, token, detail))
            }
            other => Err(self.refusal(&rules::MALFORMED_XML, token, other.to_string())),
        }
    }

    fn report(
        &mut self,
        rule: &'static Rule,
        token: MarkupToken<'_>,
        detail: impl Into<String>,
        out: &mut VecDeque<ParserOutput>,
    ) {
        let place = Place::line(self.lines.at(token));
        out.push_back(ParserOutput::Finding(Finding::new(rule, place, detail)));
    }

    fn refusal(
        &mut self,
        rule: &'static Rule,
        token: MarkupToken<'_>,
        detail: impl Into<String>,
    ) -> Refusal {
        Refusal::new(rule, Place::line(self.lines.at(token)), detail)
    }
}

fn byte_position(xml: &quick_xml::Reader<&[u8]>) -> usize {
    usize::try_from(xml.buffer_position()).unwrap_or(usize::MAX)
}
