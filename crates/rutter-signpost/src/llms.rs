//! llms.txt: a title, a summary, and sections of links, in Markdown (D82).
//!
//! Writers put one part after the other into any `Write`; [`parse`] reads both
//! versions of the format, which differ only in how the file is found. Text in
//! it that addresses the reading system is data, never an instruction.
//!
//! Refuses: to let a title or a note break out of its line.

use std::io::{self, Write};

use rutter_finding::{Finding, FindingSink, Place, quoted};

use crate::rules;

/// More than this is no index any more (D89).
const MOST_BYTES: usize = 1_000_000;

/// What stands above the sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// Name of the site.
    pub title: &'a str,
    /// One sentence about it; may be empty.
    pub summary: &'a str,
    /// Paragraphs of further explanation.
    pub notes: &'a [&'a str],
}

/// Writes `# title`, `> summary` and the notes as paragraphs.
pub fn write_head(out: &mut impl Write, head: &Head<'_>) -> io::Result<()> {
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

/// Writes `## title` between empty lines.
pub fn write_section(out: &mut impl Write, title: &str) -> io::Result<()> {
    out.write_all(b"\n## ")?;
    write_line(out, title, Escape::Start)?;
    out.write_all(b"\n\n")
}

/// Writes `- [title](url): note`, without the colon where the note is empty.
///
/// ```
/// let mut out = Vec::new();
/// rutter_signpost::llms::write_link(&mut out, "A [b]", "https://h.example/a b", "c\nd").unwrap();
/// assert_eq!(out, b"- [A \\[b\\]](https://h.example/a%20b): c d\n");
/// ```
pub fn write_link(out: &mut impl Write, title: &str, url: &str, note: &str) -> io::Result<()> {
    out.write_all(b"- [")?;
    let title = if title.trim().is_empty() { url } else { title };
    write_line(out, title, Escape::Brackets)?;
    out.write_all(b"](")?;
    for c in url.trim().chars() {
        match c {
            // These would end the address.
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
    /// Brackets and backslashes.
    Brackets,
    /// A first character that would begin another kind of block.
    Start,
}

/// Writes text on one line, white space made single.
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
                // Raw HTML would run where the file is rendered.
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

/// An llms.txt as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Llms {
    /// The first heading of the first level.
    pub title: Option<String>,
    /// The quoted text below it.
    pub summary: Option<String>,
    /// The headings of the second level and their links.
    pub sections: Vec<LlmsSection>,
}

/// A section of links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LlmsSection {
    /// Its heading.
    pub title: String,
    /// Its links, in order.
    pub links: Vec<LlmsLink>,
}

/// A link with its note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlmsLink {
    /// The text of the link.
    pub title: String,
    /// Where it leads.
    pub url: String,
    /// What stands behind it; may be empty.
    pub note: String,
    /// Its line, counted from 1.
    pub line: u64,
}

impl Llms {
    /// Every link of every section.
    pub fn links(&self) -> impl Iterator<Item = &LlmsLink> {
        self.sections.iter().flat_map(|section| &section.links)
    }
}

/// What a line is.
enum Part<'t> {
    Title(&'t str),
    Section(&'t str),
    Quote(&'t str),
    Item(Option<LlmsLink>),
    Text,
    Nothing,
}

/// Reads a file; what is neither heading, quote nor list of links is left out.
pub fn parse(text: &str) -> Llms {
    let mut llms = Llms::default();
    for_each(text, &mut |_, part| match part {
        Part::Title(title) => {
            llms.title.get_or_insert_with(|| unescaped(title));
        }
        Part::Quote(text) if llms.sections.is_empty() => {
            let summary = llms.summary.get_or_insert_default();
            if !summary.is_empty() && !text.is_empty() {
                summary.push(' ');
            }
            summary.push_str(&decoded(&text.replace("\\]", "]")));
        }
        Part::Section(title) => {
            llms.sections.push(LlmsSection { title: unescaped(title), links: Vec::new() });
        }
        Part::Item(Some(link)) => {
            if let Some(section) = llms.sections.last_mut() {
                section.links.push(link);
            }
        }
        _ => {}
    });
    llms
}

/// Judges a file.
pub fn judge(text: &str, sink: &mut dyn FindingSink) {
    if MOST_BYTES < text.len() {
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
    let mut late = None;
    for_each(text, &mut |line, part| {
        let mut found = |rule, detail: String| {
            sink.report(Finding::new(rule, Place::line(line), detail));
        };
        let is_blank = matches!(part, Part::Nothing);
        match part {
            Part::Nothing => {}
            Part::Title(_) => has_title = true,
            Part::Quote(_) => has_summary |= !has_section,
            Part::Section(_) => has_section = true,
            Part::Item(None) if has_section => found(&rules::LLMS_NO_LINK, String::new()),
            Part::Item(Some(link)) if !is_followable(&link.url) => {
                found(&rules::LLMS_BAD_LINK, quoted(&link.url));
            }
            Part::Item(_) | Part::Text => {}
        }
        if !has_title && late.is_none() && !is_blank {
            late = Some(line);
        }
    });
    if !has_title {
        sink.report(Finding::new(&rules::LLMS_NO_TITLE, Place::WHOLE, ""));
    } else if let Some(line) = late {
        sink.report(Finding::new(&rules::LLMS_LATE_TITLE, Place::line(line), ""));
    }
    if !has_summary {
        sink.report(Finding::new(&rules::LLMS_NO_SUMMARY, Place::WHOLE, ""));
    }
}

fn is_followable(url: &str) -> bool {
    url.starts_with('/') || rutter_page::HttpUrl::parse(url).is_ok()
}

/// Hands on every line outside fenced code with what it is.
fn for_each(text: &str, take: &mut dyn FnMut(u64, Part<'_>)) {
    let mut fence: Option<&str> = None;
    for (number, line) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let line = line.trim();
        if let Some(mark) = fence {
            if line.starts_with(mark) {
                fence = None;
            }
            take(number, Part::Text);
            continue;
        }
        fence = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        take(number, part(line, number));
    }
}

fn part(line: &str, number: u64) -> Part<'_> {
    if line.is_empty() {
        return Part::Nothing;
    }
    if let Some(title) = line.strip_prefix("## ") {
        return Part::Section(title.trim());
    }
    if let Some(title) = line.strip_prefix("# ") {
        return Part::Title(title.trim());
    }
    if let Some(text) = line.strip_prefix('>') {
        return Part::Quote(text.trim());
    }
    for mark in ["- ", "* ", "+ "] {
        if let Some(item) = line.strip_prefix(mark) {
            return Part::Item(link(item.trim(), number));
        }
    }
    Part::Text
}

/// Reads `[title](url): note`.
fn link(item: &str, line: u64) -> Option<LlmsLink> {
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
    // A title of the link in quotes is no part of the address.
    let url = url.split_whitespace().next()?.trim_matches(['<', '>']);
    let note = note.trim_start().trim_start_matches([':', '-', '–', '—']).trim();
    let (title, note) = (unescaped(title), decoded(&note.replace("\\]", "]")));
    Some(LlmsLink { title, url: url.to_owned(), note, line })
}

fn unescaped(text: &str) -> String {
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
    decoded(&out)
}

/// Text without the entities that we write.
fn decoded(text: &str) -> String {
    text.replace("&lt;", "<").replace("&amp;", "&")
}
