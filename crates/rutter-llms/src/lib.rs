//! Reads, checks and writes llms.txt: Markdown with a title, a summary and
//! sections of links (D82).
//!
//! The `write_` functions write one part after the other to any `Write`;
//! [`parse`] reads both versions of the format, which differ only in how the
//! file is discovered. Text that addresses language models is treated as data.
//!
//! Titles and notes are escaped so that they cannot start another line or link.

#![warn(missing_docs, clippy::disallowed_methods, clippy::indexing_slicing)]

use std::io::{self, Write};

use rutter_finding::{Finding, FindingSink, Place, quoted};

pub mod rules;

/// Maximum size in bytes; a larger file is reported as too large for an index (D89).
const MAX_BYTES: usize = 1_000_000;

/// The part of an llms.txt above its sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LlmsHead<'a> {
    /// The name of the site.
    pub title: &'a str,
    /// One sentence about the site; may be empty.
    pub summary: &'a str,
    /// Further paragraphs about the site.
    pub notes: &'a [&'a str],
}

/// Writes `# title`, `> summary` and the notes as paragraphs.
pub fn write_head(out: &mut impl Write, head: &LlmsHead<'_>) -> io::Result<()> {
    out.write_all(b"# ")?;
    write_line(out, head.title, Escape::Start)?;
    out.write_all(b"\n")?;
    if !head.summary.trim().is_empty() {
        out.write_all(b"\n> ")?;
        write_line(out, head.summary, Escape::Nothing)?;
        out.write_all(b"\n")?;
    }
    for note in head.notes.iter().filter(|note| !note.trim().is_empty()) {
        out.write_all(b"\n")?;
        write_line(out, note, Escape::Start)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes `## title` with an empty line before and after it.
pub fn write_section(out: &mut impl Write, title: &str) -> io::Result<()> {
    out.write_all(b"\n## ")?;
    write_line(out, title, Escape::Start)?;
    out.write_all(b"\n\n")
}

/// Writes `- [title](url): note`, without the colon if the note is empty.
///
/// ```
/// let mut out = Vec::new();
/// rutter_llms::write_link(&mut out, "A [b]", "https://h.example/a b", "c\nd").unwrap();
/// assert_eq!(out, b"- [A \\[b\\]](https://h.example/a%20b): c d\n");
/// ```
pub fn write_link(out: &mut impl Write, title: &str, url: &str, note: &str) -> io::Result<()> {
    out.write_all(b"- [")?;
    let title = if title.trim().is_empty() { url } else { title };
    write_line(out, title, Escape::Brackets)?;
    out.write_all(b"](")?;
    for c in url.trim().chars() {
        match c {
            // An unescaped bracket or space would end the URL.
            '(' => out.write_all(b"%28")?,
            ')' => out.write_all(b"%29")?,
            '<' => out.write_all(b"%3C")?,
            '>' => out.write_all(b"%3E")?,
            ' ' => out.write_all(b"%20")?,
            c if c.is_control() || c.is_whitespace() => {}
            c => out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes())?,
        }
    }
    out.write_all(b")")?;
    if !note.trim().is_empty() {
        out.write_all(b": ")?;
        write_line(out, note, Escape::Nothing)?;
    }
    out.write_all(b"\n")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    Nothing,
    /// Escape brackets and backslashes.
    Brackets,
    /// Escape a first character that would start another Markdown block.
    Start,
}

/// Writes text on one line with white space collapsed to single spaces.
fn write_line(out: &mut impl Write, text: &str, escape: Escape) -> io::Result<()> {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let mut is_first = true;
    for word in words.filter(|word| !word.is_empty()) {
        if !is_first {
            out.write_all(b" ")?;
        } else if escape == Escape::Start && word.starts_with(['#', '>', '-', '*', '+', '`', '~']) {
            out.write_all(b"\\")?;
        }
        is_first = false;
        let mut rest = word.chars().peekable();
        while let Some(c) = rest.next() {
            let next = rest.peek().copied().unwrap_or(' ');
            let is_link = c == ']' && matches!(next, '(' | '[' | ':');
            match c {
                // Raw HTML would take effect wherever the file is rendered.
                '<' => out.write_all(b"&lt;")?,
                '&' if next.is_ascii_alphanumeric() || next == '#' => out.write_all(b"&amp;")?,
                _ => {
                    let is_bracket = matches!(c, '[' | ']' | '\\');
                    if is_link || (escape == Escape::Brackets && is_bracket) {
                        out.write_all(b"\\")?;
                    }
                    out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes())?;
                }
            }
        }
    }
    Ok(())
}

/// A parsed llms.txt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LlmsTxt {
    /// The first level-1 heading.
    pub title: Option<String>,
    /// The quoted text above the first section.
    pub summary: Option<String>,
    /// The level-2 headings and their links.
    pub sections: Vec<LlmsSection>,
}

/// A section of links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LlmsSection {
    /// The heading of the section.
    pub title: String,
    /// The links of the section in file order.
    pub links: Vec<LlmsLink>,
}

/// A link with its note, from a list in llms.txt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlmsLink {
    /// The text of the link.
    pub title: String,
    /// The URL of the link, as written.
    pub url: String,
    /// The text after the link; may be empty.
    pub note: String,
    /// The line number of the link, counted from 1.
    pub line: u64,
}

impl LlmsTxt {
    /// Returns the links of all sections.
    pub fn links(&self) -> impl Iterator<Item = &LlmsLink> {
        self.sections.iter().flat_map(|section| &section.links)
    }
}

/// The content of one line.
enum LineContent<'t> {
    Title(&'t str),
    Section(&'t str),
    Quote(&'t str),
    Item(Option<LlmsLink>),
    Text,
    Nothing,
}

/// Parses an llms.txt; a line that is not a heading, a quote or a link is ignored.
pub fn parse(text: &str) -> LlmsTxt {
    let mut llms = LlmsTxt::default();
    for_each_line(text, &mut |_, parse_line| match parse_line {
        LineContent::Title(title) => {
            llms.title.get_or_insert_with(|| unescape(title));
        }
        LineContent::Quote(text) if llms.sections.is_empty() => {
            let summary = llms.summary.get_or_insert_default();
            if !summary.is_empty() && !text.is_empty() {
                summary.push(' ');
            }
            summary.push_str(&decode_entities(&text.replace("\\]", "]")));
        }
        LineContent::Section(title) => {
            llms.sections.push(LlmsSection { title: unescape(title), links: Vec::new() });
        }
        LineContent::Item(Some(parse_link)) => {
            if let Some(section) = llms.sections.last_mut() {
                section.links.push(parse_link);
            }
        }
        _ => {}
    });
    llms
}

/// Checks an llms.txt and reports problems to `sink`.
pub fn check(text: &str, sink: &mut dyn FindingSink) {
    if MAX_BYTES < text.len() {
        let detail = format!("{} bytes", text.len());
        sink.report(Finding::new(&rules::LLMS_TOO_LARGE, Place::WHOLE, detail));
    }
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let is_html = ["<!doctype", "<html", "<head", "<body"]
        .iter()
        .any(|tag| start.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag)));
    if is_html {
        sink.report(Finding::new(&rules::LLMS_IS_HTML, Place::line(1), ""));
        return;
    }
    let (mut has_title, mut has_summary, mut has_section) = (false, false, false);
    let mut early_text = None;
    for_each_line(text, &mut |line, parse_line| {
        let mut report = |rule, detail: String| {
            sink.report(Finding::new(rule, Place::line(line), detail));
        };
        let is_blank = matches!(parse_line, LineContent::Nothing);
        match parse_line {
            LineContent::Nothing => {}
            LineContent::Title(_) => has_title = true,
            LineContent::Quote(_) => has_summary |= !has_section,
            LineContent::Section(_) => has_section = true,
            LineContent::Item(None) if has_section => report(&rules::LLMS_NO_LINK, String::new()),
            LineContent::Item(Some(parse_link)) if !is_usable_target(&parse_link.url) => {
                report(&rules::LLMS_BAD_LINK, quoted(&parse_link.url));
            }
            LineContent::Item(_) | LineContent::Text => {}
        }
        if !has_title && early_text.is_none() && !is_blank {
            early_text = Some(line);
        }
    });
    if !has_title {
        sink.report(Finding::new(&rules::LLMS_NO_TITLE, Place::WHOLE, ""));
    } else if let Some(line) = early_text {
        sink.report(Finding::new(&rules::LLMS_LATE_TITLE, Place::line(line), ""));
    }
    if !has_summary {
        sink.report(Finding::new(&rules::LLMS_NO_SUMMARY, Place::WHOLE, ""));
    }
}

fn is_usable_target(url: &str) -> bool {
    url.starts_with('/') || rutter_page::HttpUrl::parse(url).is_ok()
}

/// Calls `visit` with every line and its content. Fenced code counts as plain text.
fn for_each_line(text: &str, visit: &mut dyn FnMut(u64, LineContent<'_>)) {
    let mut fence: Option<&str> = None;
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim();
        if let Some(mark) = fence {
            if line.starts_with(mark) {
                fence = None;
            }
            visit(number, LineContent::Text);
            continue;
        }
        fence = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        visit(number, parse_line(line, number));
    }
}

fn parse_line(line: &str, number: u64) -> LineContent<'_> {
    if line.is_empty() {
        return LineContent::Nothing;
    }
    if let Some(title) = line.strip_prefix("## ") {
        return LineContent::Section(title.trim());
    }
    if let Some(title) = line.strip_prefix("# ") {
        return LineContent::Title(title.trim());
    }
    if let Some(text) = line.strip_prefix('>') {
        return LineContent::Quote(text.trim());
    }
    for mark in ["- ", "* ", "+ "] {
        if let Some(item) = line.strip_prefix(mark) {
            return LineContent::Item(parse_link(item.trim(), number));
        }
    }
    LineContent::Text
}

/// Parses `[title](url): note`.
fn parse_link(item: &str, line: u64) -> Option<LlmsLink> {
    let start = item.find('[')?;
    let rest = item.get(start + 1..)?;
    let (mut depth, mut end, mut is_escaped) = (1_u32, None, false);
    for (at, c) in rest.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            end = Some(at);
            break;
        }
    }
    let (title, rest) = rest.split_at(end?);
    let rest = rest.strip_prefix("](")?;
    let (url, note) = rest.split_once(')')?;
    // A quoted link title after the URL is not part of the URL.
    let url = url.split_whitespace().next()?.trim_matches(['<', '>']);
    let note = note.trim_start().trim_start_matches([':', '-', '–', '—']).trim();
    let (title, note) = (unescape(title), decode_entities(&note.replace("\\]", "]")));
    Some(LlmsLink { title, url: url.to_owned(), note, line })
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(next) if c == '\\' && next.is_ascii_punctuation() => {}
            _ => out.push(c),
        }
        if c == '\\'
            && let Some(next) = chars.next_if(char::is_ascii_punctuation)
        {
            out.push(next);
        }
    }
    decode_entities(&out)
}

/// Decodes the entities that `write_line` writes.
fn decode_entities(text: &str) -> String {
    text.replace("&lt;", "<").replace("&amp;", "&")
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
