//! What plain text leaves out: links, emphasis and code inside paragraphs.
//!
//! SCP's text is plain. Whoever made a page may know more: a [`Rich`] lies
//! beside each block and says which bytes of its strings are more than plain,
//! so the words exist once and cannot disagree. It is not part of the wire.

use std::sync::Arc;

/// The decoration of one block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rich {
    /// Marked ranges, by part and then by start; they nest or follow one another.
    pub spans: Vec<Span>,
    /// Number of the first item of a numbered list, where it is not 1.
    pub start: Option<u32>,
    /// The admonition the block belongs to.
    pub note: Option<Note>,
    /// Whether it is the caption of a picture.
    pub is_caption: bool,
}

/// A marked range of a block's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Which string of the block: 0 for its text, else the item of a list or
    /// the cell of a table, row by row.
    pub part: u32,
    /// First byte.
    pub start: u32,
    /// Behind the last byte.
    pub end: u32,
    /// What it is.
    pub mark: Mark,
}

/// What a range of text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// Strong or bold.
    Strong,
    /// Emphasised or italic.
    Emphasis,
    /// Code, keys, output.
    Code,
    /// Struck out.
    Struck,
    /// A formula, as its source.
    Math,
    /// A link to this absolute address.
    Link(Arc<str>),
}

/// An admonition: a note, a warning, a tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What kind, in lower case: `note`, `warning`, `tip`.
    pub kind: String,
    /// Blocks with the same number belong together.
    pub group: u32,
}
