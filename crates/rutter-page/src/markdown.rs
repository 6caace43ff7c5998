//! Writes a page as Markdown: front matter, then the blocks.
//!
//! Input: a page, with or without inline markup. Output: Markdown. Text is escaped so that every
//! renderer shows it as text: `<` and `&` as entities (`\\<` is not an escape in Python-Markdown
//! and mistune), other characters with backslashes. Code that could run in a renderer without
//! fenced code blocks is indented instead. Links that are not http or https are written as text.

use std::fmt::Write;

use crate::block::{Block, ListBlock, TableBlock};
use crate::markup::{BlockMarkup, InlineMark, InlineSpan};
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

/// Writes code in a fence that is longer than any run of backticks in it. Code that could run is
/// indented instead, because some renderers do not support fences.
fn fenced(code: &str, language: Option<&str>) -> String {
    let code = clean(code);
    if could_run(&code) {
        let code = code.trim_matches('\n');
        return code.split('\n').fold(String::new(), |mut out, line| {
            let gap = if out.is_empty() { "" } else { "\n" };
            let indent = if line.trim().is_empty() { "" } else { "    " };
            write!(out, "{gap}{indent}{line}").expect("writing to a string cannot fail");
            out
        });
    }
    let mut longest = 0;
    let mut run = 0;
    for c in code.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(3.max(longest + 1));
    let language: String = language
        .unwrap_or("")
        .chars()
        .filter(|c| c.is_alphanumeric() || "+-#._".contains(*c))
        .collect();
    format!("{fence}{language}\n{}\n{fence}", code.trim_end_matches('\n'))
}

/// Returns whether a text could run code if a renderer parsed it as Markdown: it contains a script
/// element, a tag with an attribute value, a link with an unsafe scheme, or an attribute list with
/// an event handler.
fn could_run(code: &str) -> bool {
    let lower = code.to_ascii_lowercase();
    // Scan from the end, so that each byte is checked once.
    let (mut next_equals, mut next_end) = (usize::MAX, usize::MAX);
    for (at, byte) in lower.bytes().enumerate().rev() {
        match byte {
            b'=' => next_equals = at,
            b'>' => next_end = at,
            b'<' => {
                let rest = lower.get(at + 1..).unwrap_or_default();
                let is_tag = rest.starts_with(|c: char| c.is_ascii_alphabetic());
                if is_tag && (next_equals < next_end || rest.starts_with("script")) {
                    return true;
                }
            }
            _ => {}
        }
    }
    let is_handler = |line: &str| {
        line.contains('{') && ["{on", ":on", " on"].iter().any(|start| line.contains(start))
    };
    if lower.lines().any(|line| line.contains('=') && is_handler(line)) {
        return true;
    }
    let is_significant = |c: &char| !c.is_whitespace() && !c.is_control() && *c != '\\';
    let dense: String = lower.chars().filter(is_significant).collect();
    let has = |parts: &[&str]| parts.iter().any(|part| dense.contains(part));
    has(&["](", "]:", "]["]) && has(&["script:", "data:", "&#", "&colon", "&tab", "&newline"])
}

fn quote_lines(text: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        writeln!(out, "> {line}").expect("writing to a string cannot fail");
        out
    })
}

/// Writes text as Markdown and preserves its line breaks and blank lines.
fn paragraphs(text: &str, spans: &[InlineSpan]) -> String {
    let marked =
        if spans.is_empty() { escape_within(&clean(text)) } else { write_marked(text, spans) };
    let lines: Vec<_> = marked.lines().map(|line| escape_start(line.trim().to_owned())).collect();
    lines.join("\n")
}

/// Writes text as Markdown on one line.
fn one_line(text: &str, spans: &[InlineSpan]) -> String {
    escape_start(within_line(text, spans))
}

/// Writes text as Markdown inside a line.
fn within_line(text: &str, spans: &[InlineSpan]) -> String {
    if spans.is_empty() { escape_within(&joined(text)) } else { joined(&write_marked(text, spans)) }
}

/// Writes text with its markup. Spans that overlap without nesting are ignored.
fn write_marked(text: &str, spans: &[InlineSpan]) -> String {
    let mut out = String::with_capacity(text.len() + 16 * spans.len());
    // Ends and closing marks of the open spans, innermost last.
    let mut open: Vec<(usize, String)> = Vec::new();
    let mut at = 0;
    let put = |out: &mut String, at: &mut usize, to: usize| {
        out.push_str(&escape_within(&clean(text.get(*at..to).unwrap_or(""))));
        *at = to.max(*at);
    };
    for span in spans {
        let (start, end) = (span.start as usize, span.end as usize);
        while let Some((inner_end, _)) = open.last().filter(|(inner_end, _)| *inner_end <= start) {
            put(&mut out, &mut at, *inner_end);
            out.extend(open.pop().map(|(_, close)| close));
        }
        let is_inside = open.last().is_none_or(|(outer_end, _)| end <= *outer_end);
        let Some(inner) = text.get(start..end).filter(|_| is_inside && at <= start) else {
            continue;
        };
        if inner.contains("\n\n") {
            continue;
        }
        put(&mut out, &mut at, start);
        match &span.mark {
            InlineMark::Code => {
                out.push_str(&code_span(inner));
                at = end;
            }
            InlineMark::Math => {
                // A formula that could be parsed as markup is written as code.
                let formula = clean(inner);
                let is_odd = formula.contains(['$', '<', '&', '\n', '`', ']']);
                if is_odd || could_run(&formula) {
                    out.push_str(&code_span(&formula));
                } else {
                    write!(out, "${formula}$").expect("writing to a string cannot fail");
                }
                at = end;
            }
            InlineMark::Strong => open_mark(&mut out, &mut open, "**", end),
            InlineMark::Emphasis => open_mark(&mut out, &mut open, "*", end),
            InlineMark::Struck => open_mark(&mut out, &mut open, "~~", end),
            InlineMark::Link(url) if is_http(url) => {
                // Prevent `![`, which starts an image.
                if out.ends_with('!') {
                    out.insert(out.len() - 1, '\\');
                }
                out.push('[');
                open.push((end, format!("]({})", address(url))));
            }
            InlineMark::Link(_) => {}
        }
    }
    while let Some((end, close)) = open.pop() {
        put(&mut out, &mut at, end);
        out.push_str(&close);
    }
    put(&mut out, &mut at, text.len());
    out
}

fn open_mark(out: &mut String, open: &mut Vec<(usize, String)>, mark: &str, end: usize) {
    // A second mark of the same kind would close the first.
    if open.iter().any(|(_, close)| close == mark) {
        return;
    }
    out.push_str(mark);
    open.push((end, mark.to_owned()));
}

/// Writes inline code with more backticks than it contains.
fn code_span(code: &str) -> String {
    let code = joined(code);
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let gap = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{ticks}{gap}{code}{gap}{ticks}")
}

fn joined(text: &str) -> String {
    let text = clean(text);
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}

fn is_http(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// Escapes a URL for a link target, so that it neither ends the link nor decodes to another URL.
fn address(url: &str) -> String {
    let mut out = String::with_capacity(url.len());
    let mut needs_brackets = false;
    for (at, c) in url.char_indices() {
        match c {
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '"' => out.push_str("%22"),
            '\\' => out.push_str("%5C"),
            '`' => out.push_str("%60"),
            '&' if is_reference(url.get(at..).unwrap_or_default()) => out.push_str("&amp;"),
            c if c.is_control() => {}
            c => {
                needs_brackets |= c.is_whitespace() || c == '(' || c == ')';
                out.push(c);
            }
        }
    }
    if needs_brackets { format!("<{out}>") } else { out }
}

/// Returns whether a text starts with a character reference, such as `&lt;`.
fn is_reference(text: &str) -> bool {
    let name = text.get(1..).unwrap_or_default().split(';').next().unwrap_or_default();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '#';
    name.len() + 1 < text.len() && !name.is_empty() && name.chars().all(is_name)
}

/// Escapes everything that Markdown would parse as markup inside a line.
fn escape_within(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    let mut previous = ' ';
    let mut rest = line.chars().peekable();
    // Attribute lists, which some renderers support, contain an equals sign.
    let has_equals = line.contains('=');
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        let is_markup = match c {
            '\\' | '`' | '*' | '[' | ']' => true,
            // An underscore inside a word is not markup.
            '_' => !(previous.is_alphanumeric() && next.is_alphanumeric()),
            '~' => previous == '~' || next == '~',
            '{' => has_equals || previous == '{' || matches!(next, '{' | '%' | '#' | ':'),
            _ => false,
        };
        previous = c;
        match c {
            // Not every renderer supports a backslash escape of these characters.
            '<' => out.push_str("&lt;"),
            '&' if next.is_ascii_alphanumeric() || next == '#' => out.push_str("&amp;"),
            _ => {
                if is_markup {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }
    out
}

/// Escapes characters that start a heading, a quote, a list, a rule or a table at the start of a
/// line.
fn escape_start(line: String) -> String {
    let n_digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = line.get(n_digits..).unwrap_or("");
    let is_number =
        after.starts_with(". ") || after.starts_with(") ") || matches!(after, "." | ")");
    if 0 < n_digits && is_number {
        let (digits, rest) = line.split_at(n_digits);
        return format!("{digits}\\{rest}");
    }
    if line.starts_with(['#', '>', '-', '+', '=', '|', ':']) { format!("\\{line}") } else { line }
}
