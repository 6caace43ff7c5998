//! The state that the parser keeps from one piece of the file to the next: open elements, current
//! entry, current foreign element and line count.

use crate::namespaces::NamespaceId;
use crate::{ForeignElement, SitemapEntry, SitemapKind};

/// The position of the parser in the element structure of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParserPosition {
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
pub(super) enum ReturnPosition {
    Root,
    Entry,
    Field(EntryField),
}

/// Fields of an entry in schema order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EntryField {
    Loc,
    Lastmod,
    Changefreq,
    Priority,
}

impl EntryField {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Loc => "loc",
            Self::Lastmod => "lastmod",
            Self::Changefreq => "changefreq",
            Self::Priority => "priority",
        }
    }
}

/// The open elements.
#[derive(Default)]
pub(super) struct OpenElements {
    /// The number of open elements.
    pub(super) depth: usize,
    /// The depth of the current field, captured, foreign or skipped element.
    pub(super) nested_depth: usize,
    pub(super) entry_depth: usize,
    /// The concatenated names of the open elements, and the start of each name.
    pub(super) names: String,
    pub(super) starts: Vec<usize>,
}

/// The root element of the document.
pub(super) struct RootElement {
    pub(super) kind: Option<SitemapKind>,
    /// The namespace of the root, which is treated as the sitemap namespace.
    pub(super) namespace: NamespaceId,
}

/// The number of entries.
#[derive(Default)]
pub(super) struct EntryCount {
    pub(super) urls: u64,
    /// The number of entries that were skipped because the limit was reached.
    pub(super) skipped: u64,
}

/// The entry that is being parsed.
#[derive(Default)]
pub(super) struct CurrentEntry {
    pub(super) entry: SitemapEntry,
    /// The fields seen so far, as bits, and the schema position of the latest one.
    pub(super) seen: u8,
    pub(super) latest: u8,
    /// Text of the current field.
    pub(super) text: String,
    /// Text of the entry outside its fields.
    pub(super) stray_text: String,
    /// Whether a part of the entry was dropped and reported.
    pub(super) has_overflow: bool,
}

/// The element of another namespace that is being parsed.
pub(super) struct CurrentForeignElement {
    pub(super) element: ForeignElement,
    pub(super) line: u64,
}

impl Default for CurrentForeignElement {
    fn default() -> Self {
        let element = ForeignElement {
            namespace: String::new(),
            name: String::new(),
            attributes: Vec::new(),
            text: String::new(),
        };
        Self { element, line: 0 }
    }
}

/// The child element of an entry that is being captured as raw XML.
#[derive(Default)]
pub(super) struct CapturedElement {
    pub(super) raw: String,
    /// The offset in `raw` at which declarations are inserted.
    pub(super) name_end: usize,
    pub(super) prefixes: Vec<String>,
    pub(super) is_broken: bool,
}

/// Counts lines.
pub(super) struct LineCounter {
    /// The current line.
    pub(super) line: u64,
    /// The number of bytes of the piece that were counted.
    pub(super) counted: usize,
}

impl LineCounter {
    /// Returns the line of a token. Every byte is examined once.
    pub(super) fn at(&mut self, token: MarkupToken<'_>) -> u64 {
        if let Some(skipped) = token.piece.get(self.counted..token.start) {
            self.line += memchr::memchr_iter(b'\n', skipped).count() as u64;
            self.counted = token.start;
        }
        self.line
    }
}

/// The part of a piece that belongs to one XML event.
#[derive(Clone, Copy)]
pub(super) struct MarkupToken<'p> {
    pub(super) piece: &'p [u8],
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'p> MarkupToken<'p> {
    pub(super) fn bytes(self) -> &'p [u8] {
        self.piece.get(self.start..self.end).unwrap_or_default()
    }
}
