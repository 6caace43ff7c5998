//! Converts pages and blocks to plain text, for terminals and search indexes.

use std::fmt::Write;

use crate::block::Block;
use crate::markdown::level_of;
use crate::page::Page;
use crate::text::CowStr;

impl Page<'_> {
    /// Returns the content of the page as plain text.
    ///
    /// Blocks are separated by a blank line, and control characters are removed. Link blocks that
    /// repeat a link of the text before them are omitted.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for (_, block) in self.read_blocks() {
            let piece = block.to_text();
            let piece = piece.trim_end();
            if !piece.is_empty() {
                if !out.is_empty() {
                    out.push_str("\n\n");
                }
                out.push_str(piece);
            }
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }
}

impl Block<'_> {
    /// Returns the text of this block, without markup.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(block) => clean(&block.text),
            Self::Heading(block) => clean(&block.text),
            Self::Link(block) => clean(&block.text),
            Self::Image(block) => clean(&block.alt),
            Self::List(block) => block.items.iter().fold(String::new(), |mut out, item| {
                // A nested item already contains its mark (D45).
                let mark = if level_of(item).0 == 0 { "- " } else { "" };
                writeln!(out, "{mark}{}", clean(item)).expect("writing to a string cannot fail");
                out
            }),
            Self::Code(block) => clean(&block.code),
            Self::Table(block) => block.rows.iter().fold(String::new(), |mut out, row| {
                let cells: Vec<_> = row.iter().map(|cell| clean(cell)).collect();
                out.push_str(&cells.join("\t"));
                out.push('\n');
                out
            }),
            Self::Quote(block) => clean(&block.text),
            Self::Video(block) => {
                join_cleaned([Some(&block.name), block.summary.as_ref(), block.transcript.as_ref()])
            }
            Self::Audio(block) => {
                join_cleaned([Some(&block.name), block.summary.as_ref(), block.transcript.as_ref()])
            }
            Self::Unknown(_) => String::new(),
        }
    }
}

fn join_cleaned(parts: [Option<&CowStr<'_>>; 3]) -> String {
    let parts: Vec<_> = parts.into_iter().flatten().map(|part| clean(part)).collect();
    parts.join("\n\n")
}

/// Removes control characters other than line breaks and tabs, so that foreign text cannot control
/// a terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
