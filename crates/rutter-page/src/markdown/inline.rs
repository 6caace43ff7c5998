//! Writes text with its inline markup, and escapes everything else that Markdown would parse.

use std::fmt::Write;

use super::code::could_run;
use crate::markup::{InlineMark, InlineSpan};
use crate::plain::clean;

/// Writes text as Markdown and preserves its line breaks and blank lines.
pub(super) fn paragraphs(text: &str, spans: &[InlineSpan]) -> String {
    let marked =
        if spans.is_empty() { escape_within(&clean(text)) } else { write_marked(text, spans) };
    let lines: Vec<_> = marked.lines().map(|line| escape_start(line.trim().to_owned())).collect();
    lines.join("\n")
}

/// Writes text as Markdown on one line.
pub(super) fn one_line(text: &str, spans: &[InlineSpan]) -> String {
    escape_start(within_line(text, spans))
}

/// Writes text as Markdown inside a line.
pub(super) fn within_line(text: &str, spans: &[InlineSpan]) -> String {
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
pub(super) fn address(url: &str) -> String {
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
