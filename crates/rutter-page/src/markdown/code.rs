//! Writes code blocks, and recognises code that must not run in a renderer.

use std::fmt::Write;

use crate::plain::clean;

/// Writes code in a fence that is longer than any run of backticks in it. Code that could run is
/// indented instead, because some renderers do not support fences.
pub(super) fn fenced(code: &str, language: Option<&str>) -> String {
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
pub(super) fn could_run(code: &str) -> bool {
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
