//! The loop over XML events: from tags and texts to items and findings.
//!
//! It is handed one piece of the file after the other, cut behind a `>`, and
//! keeps what must be known from one piece to the next: which elements are
//! open, what prefixes mean, the entry that is being read. Items and findings
//! leave in the order in which they stand in the file.

mod entry;
mod excess;
mod keep;
mod plain;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::BufRead;

use quick_xml::XmlVersion;
use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::events::attributes::{AttrError, Attribute};
use quick_xml::events::{BytesRef, BytesStart, Event};
use rutter_finding::{Finding, Place, Refusal, Rule, quoted};
use rutter_page::PageUrl;

use super::names::{Names, Ns, is_variant};
use super::{Entry, Foreign, Item, Kind, Limits};
use crate::rules;

/// What leaves the machine.
pub(super) enum Out {
    /// With its line.
    Item(Item, u64),
    Finding(Finding),
}

/// How far a piece was read.
pub(super) enum Progress {
    /// To its end.
    Whole,
    /// Up to a tag that the piece cuts.
    Cut,
    /// Up to bytes that are not UTF-8.
    NotUtf8,
}

/// Where in the document the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Prolog,
    Root,
    Entry,
    Field(Field),
    /// In a child of an entry that is kept as it is written.
    Capture,
    Foreign,
    Skip(Back),
    After,
}

/// Where a skipped element leads back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Back {
    Root,
    Entry,
    Field(Field),
}

/// Children of an entry, in the order of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    Loc,
    Lastmod,
    Changefreq,
    Priority,
}

impl Field {
    fn name(self) -> &'static str {
        match self {
            Self::Loc => "loc",
            Self::Lastmod => "lastmod",
            Self::Changefreq => "changefreq",
            Self::Priority => "priority",
        }
    }
}

/// State of the loop.
pub(super) struct Machine {
    limits: Limits,
    at: At,
    /// Number of open elements.
    depth: usize,
    /// Depth of the field, capture, foreign or skipped element we are in.
    mark: usize,
    entry_depth: usize,
    /// Names of the open elements, one after the other, and where each begins.
    open: String,
    starts: Vec<usize>,
    names: Names,
    /// What relative addresses are resolved against.
    base: Option<PageUrl<'static>>,
    /// The namespace of the root, which counts as that of sitemaps.
    own: Ns,
    kind: Option<Kind>,
    n_urls: u64,
    has_blank_start: bool,
    /// Entries that were skipped because there are too many.
    n_skipped: u64,
    /// Whether part of the entry was left out and reported.
    is_overfull: bool,
    entry: Entry,
    /// Fields of the entry seen so far, as bits, and the latest place.
    seen: u8,
    latest: u8,
    text: String,
    /// Text of the entry that stands in no field.
    loose: String,
    foreign: Foreign,
    foreign_line: u64,
    /// The extension being kept, and where declarations can be put into it.
    raw: String,
    raw_name_end: usize,
    raw_prefixes: Vec<String>,
    is_raw_broken: bool,
    /// Lines before the piece, and how much of the piece was counted.
    line: u64,
    counted: usize,
}

type Step = Result<(), Refusal>;

impl Machine {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            at: At::Prolog,
            depth: 0,
            mark: 0,
            entry_depth: 0,
            open: String::new(),
            starts: Vec::new(),
            names: Names::new(),
            own: Ns::SITEMAP,
            kind: None,
            n_urls: 0,
            has_blank_start: false,
            n_skipped: 0,
            is_overfull: false,
            base: None,
            entry: Entry::default(),
            seen: 0,
            latest: 0,
            text: String::new(),
            loose: String::new(),
            foreign: Foreign {
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

    pub(super) fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Resolves relative addresses against `base` from here on.
    pub(super) fn set_base(&mut self, base: PageUrl<'static>) {
        self.base = Some(base);
    }

    /// Tells whether entries were skipped because there are too many.
    pub(super) fn has_many_urls(&self) -> bool {
        0 < self.n_skipped
    }

    /// Tells whether the root was closed.
    pub(super) fn is_complete(&self) -> bool {
        self.at == At::After
    }

    /// Tells whether there was no root at all.
    pub(super) fn is_empty(&self) -> bool {
        self.at == At::Prolog
    }

    /// Number of the line where the last piece ended.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Reads a piece; gives how it ended and how many bytes were used.
    pub(super) fn run(
        &mut self,
        piece: &[u8],
        is_last: bool,
        out: &mut VecDeque<Out>,
    ) -> Result<(Progress, usize), Refusal> {
        let mut xml = quick_xml::Reader::from_reader(piece);
        // Names are compared here, because an element may span pieces.
        xml.config_mut().check_end_names = false;
        xml.config_mut().allow_unmatched_ends = true;
        self.counted = 0;
        let (progress, used) = loop {
            let start = position(&xml);
            let event = match xml.read_event() {
                Ok(event) => event,
                Err(error) => match self.trouble(&error, piece, start, is_last)? {
                    Progress::Whole => break (Progress::Whole, piece.len()),
                    progress => break (progress, start),
                },
            };
            let token = Token { piece, start, end: position(&xml) };
            match event {
                Event::Start(tag) => {
                    self.start(&tag, token, out)?;
                    if self.at == At::Entry && self.entry_depth == self.depth {
                        let used = self.plain_children(token, out);
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
                Event::DocType(_) => return Err(self.refused(&rules::DOCTYPE, token, "")),
                Event::Decl(_) => {
                    if self.has_blank_start {
                        self.found(&rules::SPACE_BEFORE_XML, token, "", out);
                    }
                }
                Event::Comment(_) | Event::PI(_) => self.keep(token, out),
                Event::Eof => break (Progress::Whole, piece.len()),
            }
        };
        self.line_at(Token { piece, start: used, end: used });
        Ok((progress, used))
    }

    /// What an error means: a piece that ends too early, or a bad file.
    fn trouble(
        &mut self,
        error: &Error,
        piece: &[u8],
        start: usize,
        is_last: bool,
    ) -> Result<Progress, Refusal> {
        let token = Token { piece, start, end: start };
        let rest = piece.get(start..).unwrap_or_default();
        match error {
            Error::Encoding(_) => Ok(Progress::NotUtf8),
            Error::Syntax(SyntaxError::InvalidBangMarkup) if 3 <= rest.len() => {
                Err(self.refused(&rules::MALFORMED_XML, token, "unknown markup behind `<!`"))
            }
            // A document type is refused before its end is known.
            Error::Syntax(SyntaxError::UnclosedDoctype) => {
                Err(self.refused(&rules::DOCTYPE, token, ""))
            }
            Error::Syntax(_) if is_last => Ok(Progress::Whole),
            Error::Syntax(_) => Ok(Progress::Cut),
            Error::IllFormed(IllFormedError::UnclosedReference) => {
                let after = rest.get(1..).unwrap_or_default();
                if is_last && memchr::memchr2(b'<', b'&', after).is_none() {
                    return Ok(Progress::Whole);
                }
                let shown = quoted(String::from_utf8_lossy(rest).lines().next().unwrap_or(""));
                let detail = format!("unescaped `&` in {shown}");
                Err(self.refused(&rules::MALFORMED_XML, token, detail))
            }
            other => Err(self.refused(&rules::MALFORMED_XML, token, other.to_string())),
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>, token: Token<'_>, out: &mut VecDeque<Out>) -> Step {
        self.depth += 1;
        let name = tag.name();
        let name: &str = name.as_ref();
        self.starts.push(self.open.len());
        self.open.push_str(name);
        let has_attributes = name.len() < tag.len();
        if (self.limits.depth < self.depth || (has_attributes && self.has_many_attributes(tag)))
            && self.leave_out_element(token, out)?
        {
            return Ok(());
        }
        if has_attributes {
            self.declare(tag, token)?;
        }
        match self.at {
            At::Entry => self.start_field(tag, name, token, out),
            At::Root => self.start_child(tag, name, token, out),
            At::Prolog => self.start_root(name, token, out),
            At::Capture => {
                self.note_prefixes(tag, name, token)?;
                self.keep(token, out);
                Ok(())
            }
            At::Field(field) => {
                self.found(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
                self.skip(Back::Field(field));
                Ok(())
            }
            At::Foreign | At::Skip(_) => Ok(()),
            At::After => {
                Err(self.refused(&rules::MALFORMED_XML, token, "an element behind the root"))
            }
        }
    }

    /// Takes the namespace declarations of a tag.
    fn declare(&mut self, tag: &BytesStart<'_>, token: Token<'_>) -> Step {
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
            if self.names.declare(self.depth, prefix, value.trim()).is_none() {
                return Err(self.refused(&rules::TOO_LONG, token, "too many namespaces"));
            }
        }
        Ok(())
    }

    /// All attributes of a tag, values decoded.
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

    /// Name and decoded value of one attribute.
    fn attribute<'t>(
        &mut self,
        attribute: Result<Attribute<'t>, AttrError>,
        n_attributes: usize,
        token: Token<'_>,
    ) -> Result<(&'t str, Cow<'t, str>), Refusal> {
        if self.limits.attributes <= n_attributes {
            return Err(self.refused(&rules::TOO_LONG, token, "too many attributes"));
        }
        let read = attribute.map_err(Error::from).and_then(|attribute| {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
            Ok((attribute.key.0, value))
        });
        read.map_err(|error| self.refused(&rules::MALFORMED_XML, token, error.to_string()))
    }

    fn start_root(&mut self, name: &str, token: Token<'_>, out: &mut VecDeque<Out>) -> Step {
        let (ns, local) = self.names.resolve(name).unwrap_or((Ns::NONE, name));
        let kind = match local {
            "urlset" => Kind::Urlset,
            "sitemapindex" => Kind::Index,
            "rss" | "feed" | "RDF" => Kind::Feed,
            _ => {
                let detail = format!("its root is {}", quoted(name));
                return Err(self.refused(&rules::NOT_A_SITEMAP, token, detail));
            }
        };
        self.kind = Some(kind);
        self.at = At::Root;
        self.own = ns;
        if kind == Kind::Feed {
            self.found(&rules::IS_FEED, token, quoted(local), out);
        } else if ns != Ns::SITEMAP {
            let uri = self.names.uri(ns).to_owned();
            let detail = match uri.as_str() {
                "" => "it has none".to_owned(),
                uri if is_variant(uri) => format!("a variant: {}", quoted(uri)),
                uri => quoted(uri),
            };
            self.found(&rules::NAMESPACE, token, detail, out);
        }
        Ok(())
    }

    fn is_own(&self, ns: Ns) -> bool {
        ns == self.own || ns == Ns::SITEMAP
    }

    /// A child of the root.
    fn start_child(
        &mut self,
        tag: &BytesStart<'_>,
        name: &str,
        token: Token<'_>,
        out: &mut VecDeque<Out>,
    ) -> Step {
        let Some((ns, local)) = self.names.resolve(name) else {
            self.found(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
            self.skip(Back::Root);
            return Ok(());
        };
        let is_entry = match self.kind {
            Some(Kind::Feed) => matches!(local, "item" | "entry"),
            Some(Kind::Index) => self.is_own(ns) && local == "sitemap",
            _ => self.is_own(ns) && local == "url",
        };
        if is_entry && self.limits.urls <= self.n_urls {
            self.n_skipped += 1;
            if self.n_skipped == 1 {
                let detail = format!("entries after the first {} are skipped", self.limits.urls);
                self.found(&rules::TOO_MANY_URLS, token, detail, out);
            }
            self.skip(Back::Root);
            return Ok(());
        }
        if is_entry {
            self.n_urls += 1;
            self.is_overfull = false;
            self.at = At::Entry;
            self.entry_depth = self.depth;
            (self.seen, self.latest) = (0, 0);
            self.loose.clear();
            self.entry.line = self.line_at(token);
            return Ok(());
        }
        if self.kind == Some(Kind::Feed) {
            return Ok(());
        }
        if self.is_own(ns) {
            self.found(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
            self.skip(Back::Root);
            return Ok(());
        }
        if 0 < self.n_urls {
            self.found(&rules::FOREIGN_LATE, token, quoted(name), out);
        }
        let mut attributes = self.attributes(tag, token)?;
        attributes.retain(|(key, _)| key != "xmlns" && !key.starts_with("xmlns:"));
        self.foreign = Foreign {
            namespace: self.names.uri(ns).to_owned(),
            name: local.to_owned(),
            attributes,
            text: String::new(),
        };
        self.foreign_line = self.line_at(token);
        self.at = At::Foreign;
        self.mark = self.depth;
        Ok(())
    }

    fn skip(&mut self, back: Back) {
        self.at = At::Skip(back);
        self.mark = self.depth;
    }

    fn end(&mut self, name: &str, token: Token<'_>, out: &mut VecDeque<Out>) -> Step {
        let start = self.starts.pop().unwrap_or(0);
        let opened = self.open.get(start..).unwrap_or_default();
        if self.depth == 0 || opened != name {
            let detail = format!("{} closed by {}", quoted(opened), quoted(name));
            return Err(self.refused(&rules::MALFORMED_XML, token, detail));
        }
        self.open.truncate(start);
        let depth = self.depth;
        self.depth -= 1;
        match self.at {
            At::Field(field) if depth == self.mark => {
                let text = std::mem::take(&mut self.text);
                self.end_field(field, &text, token, out);
                self.text = text;
                self.at = At::Entry;
            }
            At::Entry if depth == self.entry_depth => {
                self.end_entry(out);
                self.at = At::Root;
            }
            At::Capture => {
                // An empty tag was kept when it began.
                if token.bytes().starts_with(b"</") {
                    self.keep(token, out);
                }
                if depth == self.mark {
                    if self.at == At::Capture {
                        self.end_capture(token, out);
                    }
                    self.at = At::Entry;
                }
            }
            At::Foreign if depth == self.mark => {
                let text = self.foreign.text.trim().to_owned();
                let foreign = Foreign { text, ..self.foreign.clone() };
                out.push_back(Out::Item(Item::Foreign(foreign), self.foreign_line));
                self.at = At::Root;
            }
            At::Skip(back) if depth == self.mark => match back {
                Back::Root => self.at = At::Root,
                Back::Entry => self.at = At::Entry,
                Back::Field(field) => {
                    self.at = At::Field(field);
                    self.mark = self.depth;
                }
            },
            At::Root if depth == 1 => self.at = At::After,
            _ => {}
        }
        self.names.leave(depth);
        Ok(())
    }

    fn text(&mut self, text: &str, token: Token<'_>, out: &mut VecDeque<Out>) -> Step {
        let length = match self.at {
            At::Field(_) => {
                self.text.push_str(text);
                self.text.len()
            }
            At::Foreign if self.depth == self.mark => {
                self.foreign.text.push_str(text);
                self.foreign.text.len()
            }
            At::Capture => {
                self.keep(token, out);
                0
            }
            // Some forget `loc` and write the address right into the entry.
            At::Entry if !is_blank(text) && self.loose.len() <= self.limits.text => {
                self.loose.push_str(text);
                self.loose.len()
            }
            At::Prolog if is_blank(text) => {
                self.has_blank_start = true;
                0
            }
            At::Prolog => {
                return Err(self.refused(&rules::MALFORMED_XML, token, "text before the root"));
            }
            _ => 0,
        };
        if self.limits.text < length {
            self.leave_out_text(token, out);
        }
        Ok(())
    }

    /// An entity: one of the five, or a character by its number.
    fn reference(
        &mut self,
        name: &BytesRef<'_>,
        token: Token<'_>,
        out: &mut VecDeque<Out>,
    ) -> Step {
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
            return Err(self.refused(&rules::MALFORMED_XML, token, detail));
        };
        self.text(c.encode_utf8(&mut [0; 4]), token, out)
    }

    /// The line of a token; every byte is counted once.
    fn line_at(&mut self, token: Token<'_>) -> u64 {
        if let Some(skipped) = token.piece.get(self.counted..token.start) {
            self.line += memchr::memchr_iter(b'\n', skipped).count() as u64;
            self.counted = token.start;
        }
        self.line
    }

    fn found(
        &mut self,
        rule: &'static Rule,
        token: Token<'_>,
        detail: impl Into<String>,
        out: &mut VecDeque<Out>,
    ) {
        let place = Place::line(self.line_at(token));
        out.push_back(Out::Finding(Finding::new(rule, place, detail)));
    }

    fn refused(
        &mut self,
        rule: &'static Rule,
        token: Token<'_>,
        detail: impl Into<String>,
    ) -> Refusal {
        Refusal::new(rule, Place::line(self.line_at(token)), detail)
    }
}

/// Part of a piece.
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

fn position(xml: &quick_xml::Reader<&[u8]>) -> usize {
    usize::try_from(xml.buffer_position()).unwrap_or(usize::MAX)
}
