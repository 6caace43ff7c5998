//! A page as plain text, for people without a renderer and for indexes.

use std::fmt::Write;

use crate::block::Block;
use crate::markdown::level_of;
use crate::page::Page;
use crate::text::Str;

impl Page<'_> {
    /// The page's content as plain text: no markup, blocks apart by a blank
    /// line, control characters removed.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for block in &self.content {
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
    /// The words of this block.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(block) => clean(&block.text),
            Self::Heading(block) => clean(&block.text),
            Self::Link(block) => clean(&block.text),
            Self::Image(block) => clean(&block.alt),
            Self::List(block) => block.items.iter().fold(String::new(), |mut out, item| {
                // A nested item brings its own mark (D45).
                let mark = if level_of(item).0 == 0 { "- " } else { "" };
                writeln!(out, "{mark}{}", clean(item)).expect("a string takes everything");
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
                joined([Some(&block.name), block.summary.as_ref(), block.transcript.as_ref()])
            }
            Self::Audio(block) => {
                joined([Some(&block.name), block.summary.as_ref(), block.transcript.as_ref()])
            }
            Self::Unknown(_) => String::new(),
        }
    }
}

fn joined(parts: [Option<&Str<'_>>; 3]) -> String {
    let parts: Vec<_> = parts.into_iter().flatten().map(|part| clean(part)).collect();
    parts.join("\n\n")
}

/// Drops control characters other than line breaks and tabs, so that foreign
/// text cannot steer a terminal.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}
