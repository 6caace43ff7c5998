//! Turns XML events into sitemap items and findings.
//!
//! The parser receives the file in pieces that end after a `>`, and keeps the
//! state between pieces: open elements, namespace prefixes, the current entry.
//! Items and findings are produced in file order.

mod capture;
mod entry;
mod fast_path;
mod overflow;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::BufRead;

use quick_xml::XmlVersion;
use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::events::attributes::{AttrError, Attribute};
use quick_xml::events::{BytesRef, BytesStart, Event};
use rutter_finding::{Finding, Place, Refusal, Rule, quoted};
use rutter_page::PageUrl;

use crate::namespaces::{NamespaceId, Namespaces, is_known_variant};
use crate::rules;
use crate::{ForeignElement, SitemapEntry, SitemapItem, SitemapKind, SitemapLimits};

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

/// The position of the parser in the element structure of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Prolog,
    Root,
    Entry,
    Field(EntryField),
    /// Inside a child element of an entry that is stored as raw XML.
    Capture,
    Foreign,
    Skip(ReturnPosition),
    After,
}

/// The position to which the parser returns after a skipped element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReturnPosition {
    Root,
    Entry,
    Field(EntryField),
}

/// Fields of an entry in schema order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EntryField {
    Loc,
    Lastmod,
    Changefreq,
    Priority,
}

impl EntryField {
    fn name(self) -> &'static str {
        match self {
            Self::Loc => "loc",
            Self::Lastmod => "lastmod",
            Self::Changefreq => "changefreq",
            Self::Priority => "priority",
        }
    }
}

/// The parser state between pieces.
pub(super) struct SitemapParser {
    limits: SitemapLimits,
    position: Position,
    /// The number of open elements.
    depth: usize,
    /// The depth of the current field, captured, foreign or skipped element.
    nested_depth: usize,
    entry_depth: usize,
    /// The concatenated names of the open elements, and the start of each name.
    open: String,
    starts: Vec<usize>,
    namespaces: Namespaces,
    /// The base URL of relative URLs.
    base: Option<PageUrl<'static>>,
    /// The namespace of the root, which is treated as the sitemap namespace.
    root_namespace: NamespaceId,
    kind: Option<SitemapKind>,
    n_urls: u64,
    has_blank_start: bool,
    /// The number of entries that were skipped because the limit was reached.
    n_skipped: u64,
    /// Whether a part of the current entry was dropped and reported.
    has_overflow: bool,
    entry: SitemapEntry,
    /// The fields of the current entry seen so far, as bits, and the schema position of the latest
    /// one.
    seen: u8,
    latest: u8,
    text: String,
    /// Text of the current entry outside its fields.
    stray_text: String,
    foreign: ForeignElement,
    foreign_line: u64,
    /// The captured extension, and the offset in it at which declarations are inserted.
    raw: String,
    raw_name_end: usize,
    raw_prefixes: Vec<String>,
    is_raw_broken: bool,
    /// The current line, and the number of bytes of the piece that were counted.
    line: u64,
    counted: usize,
}

type ParseStep = Result<(), Refusal>;

impl SitemapParser {
    pub(super) fn new(limits: SitemapLimits) -> Self {
        Self {
            limits,
            position: Position::Prolog,
            depth: 0,
            nested_depth: 0,
            entry_depth: 0,
            open: String::new(),
            starts: Vec::new(),
            namespaces: Namespaces::new(),
            root_namespace: NamespaceId::SITEMAP,
            kind: None,
            n_urls: 0,
            has_blank_start: false,
            n_skipped: 0,
            has_overflow: false,
            base: None,
            entry: SitemapEntry::default(),
            seen: 0,
            latest: 0,
            text: String::new(),
            stray_text: String::new(),
            foreign: ForeignElement {
                namespace: String::new(),
                name: String::new(),
                attributes: Vec::new(),
                text: String::new(),
            },
            foreign_line: 0,
            raw: String::new(),
            raw_name_end: 0,
            raw_prefixes: Vec::new(),
            is_raw_broken: false,
            line: 1,
            counted: 0,
        }
    }

    pub(super) fn kind(&self) -> Option<SitemapKind> {
        self.kind
    }

    /// Resolves relative URLs against `base`.
    pub(super) fn set_base(&mut self, base: PageUrl<'static>) {
        self.base = Some(base);
    }

    /// Returns whether entries were skipped because the limit was reached.
    pub(super) fn has_many_urls(&self) -> bool {
        0 < self.n_skipped
    }

    /// Returns whether the root element was closed.
    pub(super) fn is_complete(&self) -> bool {
        self.position == Position::After
    }

    /// Returns whether the root element was not found yet.
    pub(super) fn is_empty(&self) -> bool {
        self.position == Position::Prolog
    }

    /// Returns the line at the end of the last piece.
    pub(super) fn line(&self) -> u64 {
        self.line
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
        self.counted = 0;
        let (progress, used) = loop {
            let start = byte_position(&xml);
            let event = match xml.read_event() {
                Ok(event) => event,
                Err(error) => match self.classify_error(&error, piece, start, is_last)? {
                    PieceProgress::Complete => break (PieceProgress::Complete, piece.len()),
                    progress => break (progress, start),
                },
            };
            let token = Token { piece, start, end: byte_position(&xml) };
            match event {
                Event::Start(tag) => {
                    self.start(&tag, token, out)?;
                    if self.position == Position::Entry && self.entry_depth == self.depth {
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
        self.line_at(Token { piece, start: used, end: used });
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
        let token = Token { piece, start, end: start };
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

    fn start(
        &mut self,
        tag: &BytesStart<'_>,
        token: Token<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        self.depth += 1;
        let name = tag.name();
        let name: &str = name.as_ref();
        self.starts.push(self.open.len());
        self.open.push_str(name);
        let has_attributes = name.len() < tag.len();
        if (self.limits.depth < self.depth || (has_attributes && self.has_many_attributes(tag)))
            && self.skip_element(token, out)?
        {
            return Ok(());
        }
        if has_attributes {
            self.declare(tag, token)?;
        }
        match self.position {
            Position::Entry => self.start_field(tag, name, token, out),
            Position::Root => self.start_child(tag, name, token, out),
            Position::Prolog => self.start_root(name, token, out),
            Position::Capture => {
                self.record_prefixes(tag, name, token)?;
                self.append_captured(token, out);
                Ok(())
            }
            Position::Field(field) => {
                self.report(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
                self.skip(ReturnPosition::Field(field));
                Ok(())
            }
            Position::Foreign | Position::Skip(_) => Ok(()),
            Position::After => {
                Err(self.refusal(&rules::MALFORMED_XML, token, "element after the root element"))
            }
        }
    }

    /// Processes the namespace declarations of a tag.
    fn declare(&mut self, tag: &BytesStart<'_>, token: Token<'_>) -> ParseStep {
        let raw = tag.attributes_raw().as_bytes();
        if memchr::memmem::find(raw, b"xmlns").is_none() {
            return Ok(());
        }
        for (key, value) in self.attributes(tag, token)? {
            let prefix = match key.strip_prefix("xmlns") {
                Some("") => "",
                Some(rest) => match rest.strip_prefix(':') {
                    Some(prefix) => prefix,
                    None => continue,
                },
                None => continue,
            };
            if self.namespaces.declare(self.depth, prefix, value.trim()).is_none() {
                return Err(self.refusal(&rules::TOO_LONG, token, "too many namespaces"));
            }
        }
        Ok(())
    }

    /// Returns all attributes of a tag with decoded values.
    fn attributes(
        &mut self,
        tag: &BytesStart<'_>,
        token: Token<'_>,
    ) -> Result<Vec<(String, String)>, Refusal> {
        let mut attributes = Vec::new();
        for (n_attributes, attribute) in tag.attributes().enumerate() {
            let (key, value) = self.attribute(attribute, n_attributes, token)?;
            attributes.push((key.to_owned(), value.into_owned()));
        }
        Ok(attributes)
    }

    /// Returns name and decoded value of one attribute.
    fn attribute<'t>(
        &mut self,
        attribute: Result<Attribute<'t>, AttrError>,
        n_attributes: usize,
        token: Token<'_>,
    ) -> Result<(&'t str, Cow<'t, str>), Refusal> {
        if self.limits.attributes <= n_attributes {
            return Err(self.refusal(&rules::TOO_LONG, token, "too many attributes"));
        }
        let read = attribute.map_err(Error::from).and_then(|attribute| {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
            Ok((attribute.key.0, value))
        });
        read.map_err(|error| self.refusal(&rules::MALFORMED_XML, token, error.to_string()))
    }

    fn start_root(
        &mut self,
        name: &str,
        token: Token<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        let (ns, local) = self.namespaces.resolve(name).unwrap_or((NamespaceId::NONE, name));
        let kind = match local {
            "urlset" => SitemapKind::Urlset,
            "sitemapindex" => SitemapKind::Index,
            "rss" | "feed" | "RDF" => SitemapKind::ByteSource,
            _ => {
                let detail = format!("the root element is {}", quoted(name));
                return Err(self.refusal(&rules::NOT_A_SITEMAP, token, detail));
            }
        };
        self.kind = Some(kind);
        self.position = Position::Root;
        self.root_namespace = ns;
        if kind == SitemapKind::ByteSource {
            self.report(&rules::IS_FEED, token, quoted(local), out);
        } else if ns != NamespaceId::SITEMAP {
            let uri = self.namespaces.uri(ns).to_owned();
            let detail = match uri.as_str() {
                "" => "no namespace".to_owned(),
                uri if is_known_variant(uri) => format!("variant {}", quoted(uri)),
                uri => quoted(uri),
            };
            self.report(&rules::NAMESPACE, token, detail, out);
        }
        Ok(())
    }

    fn is_root_namespace(&self, ns: NamespaceId) -> bool {
        ns == self.root_namespace || ns == NamespaceId::SITEMAP
    }

    /// Handles a child element of the root.
    fn start_child(
        &mut self,
        tag: &BytesStart<'_>,
        name: &str,
        token: Token<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        let Some((ns, local)) = self.namespaces.resolve(name) else {
            self.report(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
            self.skip(ReturnPosition::Root);
            return Ok(());
        };
        let is_entry = match self.kind {
            Some(SitemapKind::ByteSource) => matches!(local, "item" | "entry"),
            Some(SitemapKind::Index) => self.is_root_namespace(ns) && local == "sitemap",
            _ => self.is_root_namespace(ns) && local == "url",
        };
        if is_entry && self.limits.urls <= self.n_urls {
            self.n_skipped += 1;
            if self.n_skipped == 1 {
                let detail = format!("entries after the first {} are skipped", self.limits.urls);
                self.report(&rules::TOO_MANY_URLS, token, detail, out);
            }
            self.skip(ReturnPosition::Root);
            return Ok(());
        }
        if is_entry {
            self.n_urls += 1;
            self.has_overflow = false;
            self.position = Position::Entry;
            self.entry_depth = self.depth;
            (self.seen, self.latest) = (0, 0);
            self.stray_text.clear();
            self.entry.line = self.line_at(token);
            return Ok(());
        }
        if self.kind == Some(SitemapKind::ByteSource) {
            return Ok(());
        }
        if self.is_root_namespace(ns) {
            self.report(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
            self.skip(ReturnPosition::Root);
            return Ok(());
        }
        if 0 < self.n_urls {
            self.report(&rules::FOREIGN_LATE, token, quoted(name), out);
        }
        let mut attributes = self.attributes(tag, token)?;
        attributes.retain(|(key, _)| key != "xmlns" && !key.starts_with("xmlns:"));
        self.foreign = ForeignElement {
            namespace: self.namespaces.uri(ns).to_owned(),
            name: local.to_owned(),
            attributes,
            text: String::new(),
        };
        self.foreign_line = self.line_at(token);
        self.position = Position::Foreign;
        self.nested_depth = self.depth;
        Ok(())
    }

    fn skip(&mut self, back: ReturnPosition) {
        self.position = Position::Skip(back);
        self.nested_depth = self.depth;
    }

    fn end(&mut self, name: &str, token: Token<'_>, out: &mut VecDeque<ParserOutput>) -> ParseStep {
        let start = self.starts.pop().unwrap_or(0);
        let opened = self.open.get(start..).unwrap_or_default();
        if self.depth == 0 || opened != name {
            let detail = format!("{} closed by {}", quoted(opened), quoted(name));
            return Err(self.refusal(&rules::MALFORMED_XML, token, detail));
        }
        self.open.truncate(start);
        let depth = self.depth;
        self.depth -= 1;
        match self.position {
            Position::Field(field) if depth == self.nested_depth => {
                let text = std::mem::take(&mut self.text);
                self.end_field(field, &text, token, out);
                self.text = text;
                self.position = Position::Entry;
            }
            Position::Entry if depth == self.entry_depth => {
                self.end_entry(out);
                self.position = Position::Root;
            }
            Position::Capture => {
                // An empty tag was appended already, when its start was processed.
                if token.bytes().starts_with(b"</") {
                    self.append_captured(token, out);
                }
                if depth == self.nested_depth {
                    if self.position == Position::Capture {
                        self.end_capture(token, out);
                    }
                    self.position = Position::Entry;
                }
            }
            Position::Foreign if depth == self.nested_depth => {
                let text = self.foreign.text.trim().to_owned();
                let foreign = ForeignElement { text, ..self.foreign.clone() };
                out.push_back(ParserOutput::SitemapItem(
                    SitemapItem::Foreign(foreign),
                    self.foreign_line,
                ));
                self.position = Position::Root;
            }
            Position::Skip(back) if depth == self.nested_depth => match back {
                ReturnPosition::Root => self.position = Position::Root,
                ReturnPosition::Entry => self.position = Position::Entry,
                ReturnPosition::Field(field) => {
                    self.position = Position::Field(field);
                    self.nested_depth = self.depth;
                }
            },
            Position::Root if depth == 1 => self.position = Position::After,
            _ => {}
        }
        self.namespaces.end_element(depth);
        Ok(())
    }

    fn text(
        &mut self,
        text: &str,
        token: Token<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        let length = match self.position {
            Position::Field(_) => {
                self.text.push_str(text);
                self.text.len()
            }
            Position::Foreign if self.depth == self.nested_depth => {
                self.foreign.text.push_str(text);
                self.foreign.text.len()
            }
            Position::Capture => {
                self.append_captured(token, out);
                0
            }
            // Some sitemaps contain the URL directly in the entry, without `loc`.
            Position::Entry if !is_blank(text) && self.stray_text.len() <= self.limits.text => {
                self.stray_text.push_str(text);
                self.stray_text.len()
            }
            Position::Prolog if is_blank(text) => {
                self.has_blank_start = true;
                0
            }
            Position::Prolog => {
                return Err(self.refusal(
                    &rules::MALFORMED_XML,
                    token,
                    "text before the root element",
                ));
            }
            _ => 0,
        };
        if self.limits.text < length {
            self.skip_text(token, out);
        }
        Ok(())
    }

    /// Handles a predefined entity or a character reference.
    fn reference(
        &mut self,
        name: &BytesRef<'_>,
        token: Token<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        let c = match name.resolve_char_ref() {
            Ok(Some(c)) => Some(c),
            Ok(None) => match &**name {
                "amp" => Some('&'),
                "lt" => Some('<'),
                "gt" => Some('>'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                _ => None,
            },
            Err(_) => None,
        };
        let Some(c) = c else {
            let detail = format!("unknown entity {}", quoted(name));
            return Err(self.refusal(&rules::MALFORMED_XML, token, detail));
        };
        self.text(c.encode_utf8(&mut [0; 4]), token, out)
    }

    /// Returns the line of a token. Every byte is examined once.
    fn line_at(&mut self, token: Token<'_>) -> u64 {
        if let Some(skipped) = token.piece.get(self.counted..token.start) {
            self.line += memchr::memchr_iter(b'\n', skipped).count() as u64;
            self.counted = token.start;
        }
        self.line
    }

    fn report(
        &mut self,
        rule: &'static Rule,
        token: Token<'_>,
        detail: impl Into<String>,
        out: &mut VecDeque<ParserOutput>,
    ) {
        let place = Place::line(self.line_at(token));
        out.push_back(ParserOutput::Finding(Finding::new(rule, place, detail)));
    }

    fn refusal(
        &mut self,
        rule: &'static Rule,
        token: Token<'_>,
        detail: impl Into<String>,
    ) -> Refusal {
        Refusal::new(rule, Place::line(self.line_at(token)), detail)
    }
}

/// The part of a piece that belongs to one XML event.
#[derive(Clone, Copy)]
struct Token<'p> {
    piece: &'p [u8],
    start: usize,
    end: usize,
}

impl<'p> Token<'p> {
    fn bytes(self) -> &'p [u8] {
        self.piece.get(self.start..self.end).unwrap_or_default()
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}

fn byte_position(xml: &quick_xml::Reader<&[u8]>) -> usize {
    usize::try_from(xml.buffer_position()).unwrap_or(usize::MAX)
}
