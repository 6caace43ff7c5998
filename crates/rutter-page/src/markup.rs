//! Inline markup of a block: links, emphasis and code inside its text.
//!
//! The text of an SCP block is plain. The extractor knows more: it produces a [`BlockMarkup`] for
//! each block, which marks byte ranges of the block's strings. Markup is used for the Markdown twin
//! and is not part of the published page object.

use std::sync::Arc;

/// The markup of one block.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockMarkup {
    /// Marked ranges, sorted by part and start. Ranges may be nested, but do not overlap otherwise.
    pub spans: Vec<InlineSpan>,
    /// Number of the first item of a numbered list, if it is not 1.
    pub start: Option<u32>,
    /// The admonition that contains the block.
    pub note: Option<Admonition>,
    /// Whether the block is the caption of an image.
    pub is_caption: bool,
    /// Whether the block is a link block that repeats a link inside the text before it (D45).
    /// Renderers skip such a block.
    pub is_repeat: bool,
}

/// A marked range of a block's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineSpan {
    /// Index of the string in the block: 0 for the text of a block, otherwise the index of the list
    /// item or of the table cell, row by row.
    pub part: u32,
    /// Start of the range, in bytes.
    pub start: u32,
    /// End of the range (exclusive), in bytes.
    pub end: u32,
    /// The kind of markup.
    pub mark: InlineMark,
}

/// The kind of markup of a text range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InlineMark {
    /// Strong or bold.
    Strong,
    /// Emphasised or italic.
    Emphasis,
    /// Code, keyboard input or program output.
    Code,
    /// Struck-through text.
    Struck,
    /// The source of a formula.
    Math,
    /// A link to this absolute URL.
    Link(Arc<str>),
}

/// An admonition, such as a note, a warning or a tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admonition {
    /// The kind in lower case, such as `note`, `warning` or `tip`.
    pub kind: String,
    /// Number of the admonition; blocks with the same number belong together.
    pub group: u32,
}
