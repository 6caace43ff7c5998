//! Writes a page as Markdown: front matter, then the blocks.
//!
//! Input: a page, with or without inline markup. Output: Markdown. Text is escaped so that every
//! renderer shows it as text: `<` and `&` as entities (`\\<` is not an escape in Python-Markdown
//! and mistune), other characters with backslashes. Code that could run in a renderer without
//! fenced code blocks is indented instead. Links that are not http or https are written as text.

mod code;
mod inline;

use std::fmt::Write;

use self::code::fenced;
use self::inline::{address, one_line, paragraphs, within_line};
use crate::block::{Block, ListBlock, TableBlock};
use crate::markup::{BlockMarkup, InlineSpan};
use crate::media::Chapter;
use crate::page::Page;
use crate::plain::clean;
use crate::text::CowStr;

impl Page<'_> {
    /// Writes the page as Markdown with YAML front matter. A link block that repeats text of the
    /// block before it becomes a link in that text.
    pub fn to_markdown(&self) -> String {
        self.to_rich_markdown(&self.rich_of_links())
    }

    /// Writes the page as Markdown with the markup of its blocks. Blocks beyond the length of
    /// `rich` are written without markup.
    pub fn to_rich_markdown(&self, rich: &[BlockMarkup]) -> String {
        let mut out = String::from("---\n");
        let mut put = |key: &str, value: &str| {
            // A JSON string is also a YAML string.
            let quoted = serde_json::to_string(&clean(value)).expect("a string is always JSON");
            writeln!(out, "{key}: {}", escape_front_matter(&quoted))
                .expect("writing to a string cannot fail");
        };
        put("title", &self.title);
        put("description", &self.description);
        put("url", self.url.as_str());
        if let Some(canonical) = &self.canonical {
            put("canonical", canonical.as_str());
        }
        if let Some(author) = &self.author {
            put("author", author);
        }
        if let Some(published) = &self.published {
            put("published", &published.to_string());
        }
        put("modified", &self.modified.to_string());
        put("language", self.language.as_str());
        out.push_str("---\n");
        let plain = BlockMarkup::default();
        let mut group = None;
        let mut is_absorbing = false;
        for (idx, block) in self.content.iter().enumerate() {
            let rich = rich.get(idx).unwrap_or(&plain);
            let piece = block.to_rich_markdown(rich);
            if piece.is_empty() || rich.is_repeat {
                continue;
            }
            let mut piece = piece.trim_end().to_owned();
            // After a list or other indented code, indented code would be parsed as a part of it.
            if std::mem::replace(&mut is_absorbing, absorbs_indented_lines(block))
                && piece.starts_with("    ")
            {
                piece.insert_str(0, "<!-- -->\n\n");
            }
            match &rich.note {
                // All blocks of an admonition form one quote.
                Some(note) => {
                    let gap = if group == Some(note.group) { ">\n" } else { "\n" };
                    out.push_str(gap);
                    out.push_str(&quote_lines(&piece));
                }
                None => {
                    out.push('\n');
                    out.push_str(&piece);
                    out.push('\n');
                }
            }
            group = rich.note.as_ref().map(|note| note.group);
        }
        out
    }
}

impl Block<'_> {
    /// Writes the block as Markdown; empty for a block of unknown type.
    pub fn to_markdown(&self) -> String {
        self.to_rich_markdown(&BlockMarkup::default())
    }

    /// Writes the block as Markdown with its markup.
    pub fn to_rich_markdown(&self, rich: &BlockMarkup) -> String {
        match self {
            Self::Text(block) => paragraphs(&block.text, &rich.spans),
            Self::Heading(block) => {
                let marks = "#".repeat(usize::from(block.level.get()));
                format!("{marks} {}", within_line(&block.text, &rich.spans))
            }
            Self::Link(block) => {
                format!("[{}]({})", within_line(&block.text, &[]), address(block.url.as_str()))
            }
            Self::Image(block) => {
                format!("![{}]({})", within_line(&block.alt, &[]), address(block.url.as_str()))
            }
            Self::List(block) => list(block, rich),
            Self::Code(block) => fenced(&block.code, block.language.as_deref()),
            Self::Table(block) => table(block, &rich.spans),
            Self::Quote(block) => {
                let mut text = paragraphs(&block.text, &rich.spans);
                if let Some(citation) = &block.citation {
                    write!(text, "\n\n— {}", within_line(citation, &[]))
                        .expect("writing to a string cannot fail");
                }
                quote_lines(&text)
            }
            Self::Video(block) => media(
                &block.name,
                block.url.first(),
                [&block.summary, &block.transcript],
                block.chapters.as_deref(),
            ),
            Self::Audio(block) => media(
                &block.name,
                block.url.first(),
                [&block.summary, &block.transcript],
                block.chapters.as_deref(),
            ),
            Self::Unknown(_) => String::new(),
        }
    }
}

/// Returns whether indented lines after a block would belong to it.
fn absorbs_indented_lines(block: &Block<'_>) -> bool {
    matches!(block, Block::List(_) | Block::Code(_) | Block::Video(_) | Block::Audio(_))
}

/// Escapes a quoted string of the front matter so that it is not markup for a renderer that does
/// not support front matter.
fn escape_front_matter(quoted: &str) -> String {
    let mut out = String::with_capacity(quoted.len());
    let has_equals = quoted.contains('=');
    let mut rest = quoted.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        let is_markup = match c {
            '<' => true,
            '&' => next.is_ascii_alphanumeric() || next == '#',
            ']' => matches!(next, '(' | '[' | ':'),
            '{' => has_equals,
            _ => false,
        };
        if is_markup {
            write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a string cannot fail");
        } else {
            out.push(c);
        }
    }
    out
}

fn media(
    name: &str,
    url: &str,
    texts: [&Option<CowStr<'_>>; 2],
    chapters: Option<&[Chapter<'_>]>,
) -> String {
    let mut out = format!("[{}]({})", within_line(name, &[]), address(url));
    let [summary, transcript] = texts;
    if let Some(summary) = summary {
        write!(out, "\n\n{}", paragraphs(summary, &[])).expect("writing to a string cannot fail");
    }
    for (chapter_idx, chapter) in chapters.unwrap_or_default().iter().enumerate() {
        let gap = if chapter_idx == 0 { "\n" } else { "" };
        let (minutes, seconds) = (chapter.time.0 / 60, chapter.time.0 % 60);
        write!(out, "{gap}\n- {minutes}:{seconds:02} {}", within_line(&chapter.title, &[]))
            .expect("writing to a string cannot fail");
    }
    if let Some(transcript) = transcript {
        write!(out, "\n\n{}", paragraphs(transcript, &[]))
            .expect("writing to a string cannot fail");
    }
    out
}

fn list(block: &ListBlock<'_>, rich: &BlockMarkup) -> String {
    let mut out = String::new();
    let mut number = rich.start.unwrap_or(1).saturating_sub(1);
    let mut step = 2;
    for (part, item) in (0..).zip(&block.items) {
        let (depth, text) = level_of(item);
        let lead = if depth == 0 && block.ordered {
            number = number.saturating_add(1);
            format!("{number}. ")
        } else {
            "- ".to_owned()
        };
        // Nested items are indented to the start of the text of their parent.
        if depth == 0 {
            step = lead.len();
        }
        let indent = if depth == 0 { 0 } else { step + 2 * (depth - 1) };
        let spans = spans_of_part(&rich.spans, part, item.len() - text.len());
        writeln!(out, "{}{lead}{}", " ".repeat(indent), one_line(text, &spans))
            .expect("writing to a string cannot fail");
    }
    out
}

/// Returns the spans of one part, with positions relative to `start`. `spans` are sorted by part.
fn spans_of_part(spans: &[InlineSpan], part: u32, start: usize) -> Vec<InlineSpan> {
    let start = u32::try_from(start).unwrap_or(u32::MAX);
    let first = spans.partition_point(|span| span.part < part);
    let own = spans.get(first..).unwrap_or_default();
    own.iter()
        .take_while(|span| span.part == part)
        .filter(|span| start <= span.start)
        .map(|span| InlineSpan {
            start: span.start - start,
            end: span.end.saturating_sub(start),
            ..span.clone()
        })
        .collect()
}

/// Returns the nesting level and text of a flattened item: two spaces per level, then `- `.
pub(crate) fn level_of(item: &str) -> (usize, &str) {
    let text = item.trim_start_matches(' ');
    let n_spaces = item.len() - text.len();
    match text.strip_prefix("- ") {
        Some(text) if 2 <= n_spaces => (n_spaces / 2, text),
        _ => (0, item),
    }
}

/// Maximum number of empty cells that are added per existing cell of a table, to make all rows
/// equally long.
const MOST_EMPTY: usize = 16;

/// Writes a table with as many columns as its longest row.
///
/// Short rows are filled with empty cells. If one long row among many short rows would make the
/// output too large, they are not filled; the renderer fills them (GFM, section 4.10).
fn table(block: &TableBlock<'_>, spans: &[InlineSpan]) -> String {
    let n_columns = block.rows.iter().map(Vec::len).max().unwrap_or(0);
    let n_cells: usize = block.rows.iter().map(Vec::len).sum();
    let is_filled = n_columns.saturating_mul(block.rows.len()) <= (1 + MOST_EMPTY) * n_cells;
    let mut out = String::new();
    let mut part = 0;
    for (row_idx, row) in block.rows.iter().enumerate() {
        let n_written = if is_filled || row_idx == 0 { n_columns } else { row.len() };
        for column in 0..n_written {
            let cell = row.get(column).map_or(String::new(), |cell| {
                part += 1;
                if spans.is_empty() {
                    return within_line(cell, &[]);
                }
                within_line(cell, &spans_of_part(spans, part - 1, 0))
            });
            write!(out, "| {} ", cell.replace('|', "\\|"))
                .expect("writing to a string cannot fail");
        }
        out.push_str("|\n");
        if row_idx == 0 {
            out.push_str(&"| --- ".repeat(n_columns));
            out.push_str("|\n");
        }
    }
    out
}

fn quote_lines(text: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        writeln!(out, "> {line}").expect("writing to a string cannot fail");
        out
    })
}
