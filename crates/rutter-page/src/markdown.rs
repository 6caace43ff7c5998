//! A page as Markdown: front matter, then the blocks.
//!
//! Text is escaped so that what was plain text stays plain text: no foreign
//! character becomes markup or HTML where the Markdown is shown. Where the
//! decoration of a block is known, its links, emphasis and code are written.

use std::fmt::Write;

use crate::block::{Block, List, Table};
use crate::media::Chapter;
use crate::page::Page;
use crate::plain::clean;
use crate::rich::{Mark, Rich, Span};
use crate::text::Str;

impl Page<'_> {
    /// The page as Markdown with YAML front matter.
    pub fn to_markdown(&self) -> String {
        self.to_rich_markdown(&[])
    }

    /// The same with the decoration of its blocks, as many as are given.
    pub fn to_rich_markdown(&self, rich: &[Rich]) -> String {
        let mut out = String::from("---\n");
        let mut put = |key: &str, value: &str| {
            // A JSON string is also a YAML string.
            let quoted = serde_json::to_string(&clean(value)).expect("a string is always JSON");
            writeln!(out, "{key}: {quoted}").expect("a string takes everything");
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
        let plain = Rich::default();
        let mut group = None;
        for (idx, block) in self.content.iter().enumerate() {
            let rich = rich.get(idx).unwrap_or(&plain);
            let piece = block.to_rich_markdown(rich);
            if piece.is_empty() {
                continue;
            }
            let piece = piece.trim_end();
            match &rich.note {
                // One box for all blocks of an admonition.
                Some(note) => {
                    let gap = if group == Some(note.group) { ">\n" } else { "\n" };
                    out.push_str(gap);
                    out.push_str(&quote_lines(piece));
                }
                None => {
                    out.push('\n');
                    out.push_str(piece);
                    out.push('\n');
                }
            }
            group = rich.note.as_ref().map(|note| note.group);
        }
        out
    }
}

impl Block<'_> {
    /// The block as Markdown; empty for a type we do not know.
    pub fn to_markdown(&self) -> String {
        self.to_rich_markdown(&Rich::default())
    }

    /// The same with its decoration.
    pub fn to_rich_markdown(&self, rich: &Rich) -> String {
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
                        .expect("a string takes everything");
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

fn media(
    name: &str,
    url: &str,
    texts: [&Option<Str<'_>>; 2],
    chapters: Option<&[Chapter<'_>]>,
) -> String {
    let mut out = format!("[{}]({})", within_line(name, &[]), address(url));
    let [summary, transcript] = texts;
    if let Some(summary) = summary {
        write!(out, "\n\n{}", paragraphs(summary, &[])).expect("a string takes everything");
    }
    for (chapter_idx, chapter) in chapters.unwrap_or_default().iter().enumerate() {
        let gap = if chapter_idx == 0 { "\n" } else { "" };
        let (minutes, seconds) = (chapter.time.0 / 60, chapter.time.0 % 60);
        write!(out, "{gap}\n- {minutes}:{seconds:02} {}", within_line(&chapter.title, &[]))
            .expect("a string takes everything");
    }
    if let Some(transcript) = transcript {
        write!(out, "\n\n{}", paragraphs(transcript, &[])).expect("a string takes everything");
    }
    out
}

fn list(block: &List<'_>, rich: &Rich) -> String {
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
        // Deeper items belong to the one above: as far in as its text begins.
        if depth == 0 {
            step = lead.len();
        }
        let indent = if depth == 0 { 0 } else { step + 2 * (depth - 1) };
        let spans = of_part(&rich.spans, part, item.len() - text.len());
        writeln!(out, "{}{lead}{}", " ".repeat(indent), one_line(text, &spans))
            .expect("a string takes everything");
    }
    out
}

/// The spans of one part, their places counted from `start`; spans lie by part.
fn of_part(spans: &[Span], part: u32, start: usize) -> Vec<Span> {
    let start = u32::try_from(start).unwrap_or(u32::MAX);
    let first = spans.partition_point(|span| span.part < part);
    let own = spans.get(first..).unwrap_or_default();
    own.iter()
        .take_while(|span| span.part == part)
        .filter(|span| start <= span.start)
        .map(|span| Span {
            start: span.start - start,
            end: span.end.saturating_sub(start),
            ..span.clone()
        })
        .collect()
}

/// How deep a flattened item lies: two spaces and `- ` for each level.
pub(crate) fn level_of(item: &str) -> (usize, &str) {
    let text = item.trim_start_matches(' ');
    let n_spaces = item.len() - text.len();
    match text.strip_prefix("- ") {
        Some(text) if 2 <= n_spaces => (n_spaces / 2, text),
        _ => (0, item),
    }
}

fn table(block: &Table<'_>, spans: &[Span]) -> String {
    let n_columns = block.rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = String::new();
    let mut part = 0;
    for (row_idx, row) in block.rows.iter().enumerate() {
        for column in 0..n_columns {
            let cell = row.get(column).map_or(String::new(), |cell| {
                part += 1;
                if spans.is_empty() {
                    return within_line(cell, &[]);
                }
                within_line(cell, &of_part(spans, part - 1, 0))
            });
            write!(out, "| {} ", cell.replace('|', "\\|")).expect("a string takes everything");
        }
        out.push_str("|\n");
        if row_idx == 0 {
            out.push_str(&"| --- ".repeat(n_columns));
            out.push_str("|\n");
        }
    }
    out
}

/// Code in a fence longer than any run of backticks inside it.
fn fenced(code: &str, language: Option<&str>) -> String {
    let code = clean(code);
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

fn quote_lines(text: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        writeln!(out, "> {line}").expect("a string takes everything");
        out
    })
}

/// Text as Markdown, its line breaks and blank lines kept.
fn paragraphs(text: &str, spans: &[Span]) -> String {
    let marked = if spans.is_empty() { escape_within(&clean(text)) } else { marked(text, spans) };
    let lines: Vec<_> = marked.lines().map(|line| escape_start(line.trim().to_owned())).collect();
    lines.join("\n")
}

/// Text as Markdown on one line.
fn one_line(text: &str, spans: &[Span]) -> String {
    escape_start(within_line(text, spans))
}

/// The same inside a line that has begun already.
fn within_line(text: &str, spans: &[Span]) -> String {
    if spans.is_empty() { escape_within(&joined(text)) } else { joined(&marked(text, spans)) }
}

/// Text with its marks written out. Spans that do not nest are left out.
fn marked(text: &str, spans: &[Span]) -> String {
    let mut out = String::with_capacity(text.len() + 16 * spans.len());
    // Ends and closing marks of the spans we are in, the innermost last.
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
            Mark::Code => {
                out.push_str(&code_span(inner));
                at = end;
            }
            Mark::Math => {
                // What could be taken for markup is shown as code.
                let formula = clean(inner);
                if formula.contains(['$', '<', '\n', '`']) {
                    out.push_str(&code_span(&formula));
                } else {
                    write!(out, "${formula}$").expect("a string takes everything");
                }
                at = end;
            }
            Mark::Strong => open_mark(&mut out, &mut open, "**", end),
            Mark::Emphasis => open_mark(&mut out, &mut open, "*", end),
            Mark::Struck => open_mark(&mut out, &mut open, "~~", end),
            Mark::Link(url) => {
                // Not a picture.
                if out.ends_with('!') {
                    out.insert(out.len() - 1, '\\');
                }
                out.push('[');
                open.push((end, format!("]({})", address(url))));
            }
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
    // The same mark twice would end the first.
    if open.iter().any(|(_, close)| close == mark) {
        return;
    }
    out.push_str(mark);
    open.push((end, mark.to_owned()));
}

/// Code in more backticks than it holds.
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

/// An address that cannot end the link early.
fn address(url: &str) -> String {
    let is_safe = |c: char| !c.is_control() && !c.is_whitespace() && !"()<>\\".contains(c);
    if url.chars().all(is_safe) {
        return url.to_owned();
    }
    let mut out = String::from("<");
    for c in url.chars() {
        match c {
            '<' => out.push_str("%3C"),
            '>' => out.push_str("%3E"),
            '\\' => out.push_str("%5C"),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out.push('>');
    out
}

/// Puts a backslash before whatever Markdown would take for markup, but for
/// what is markup only at the start of a line.
fn escape_within(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + 8);
    let mut previous = ' ';
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied().unwrap_or(' ');
        let is_markup = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' => true,
            // Inside a word an underscore is just a letter.
            '_' => !(previous.is_alphanumeric() && next.is_alphanumeric()),
            '~' => previous == '~' || next == '~',
            '&' => next.is_ascii_alphanumeric() || next == '#',
            _ => false,
        };
        if is_markup {
            out.push('\\');
        }
        out.push(c);
        previous = c;
    }
    out
}

/// What makes a heading, a quote, a list, a rule or a table only at the start.
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
