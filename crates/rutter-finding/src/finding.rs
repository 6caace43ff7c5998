//! Findings, their places in the input, and functions that show text of unknown origin safely.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use crate::rule::Rule;

/// A place in an input.
///
/// A place is displayed as `line 7 /content/3/level`; the line or the pointer may be missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// Line of the decoded text, counted from 1.
    pub line: Option<u64>,
    /// JSON pointer (RFC 6901) to a value in that line; empty for the whole line.
    pub pointer: String,
}

impl Place {
    /// The place that means the whole input.
    pub const WHOLE: Self = Self { line: None, pointer: String::new() };

    /// Creates the place of a whole line.
    pub fn line(line: u64) -> Self {
        Self { line: Some(line), pointer: String::new() }
    }

    /// Creates the place of a value inside a line.
    pub fn pointer(line: u64, pointer: impl Into<String>) -> Self {
        Self { line: Some(line), pointer: pointer.into() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.pointer.as_str()) {
            (None, pointer) => f.write_str(pointer),
            (Some(line), "") => write!(f, "line {line}"),
            (Some(line), pointer) => write!(f, "line {line} {pointer}"),
        }
    }
}

/// One violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that the input breaks.
    pub rule: &'static Rule,
    /// Place of the violation in the input.
    pub place: Place,
    /// The value that violates the rule; empty if the title of the rule says enough.
    pub detail: String,
}

impl Finding {
    /// Creates a finding from a rule, a place and a detail.
    pub fn new(rule: &'static Rule, place: Place, detail: impl Into<String>) -> Self {
        Self { rule, place, detail: detail.into() }
    }
}

/// A receiver of findings, which cannot fail.
pub trait FindingSink {
    /// Receives one finding.
    fn report(&mut self, finding: Finding);
}

impl FindingSink for Vec<Finding> {
    fn report(&mut self, finding: Finding) {
        self.push(finding);
    }
}

/// Discards all findings, for callers that need only the readable part of the input.
impl FindingSink for () {
    fn report(&mut self, _finding: Finding) {}
}

/// The violation of a rule that makes the whole input unusable.
///
/// A refusal is an error and not a finding, because the reader that returns it has stopped. Convert
/// a refusal into a [`Finding`] to report it together with other findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The fatal rule that the input breaks.
    pub rule: &'static Rule,
    /// Place of the violation in the input.
    pub place: Place,
    /// The value that violates the rule; may be empty.
    pub detail: String,
}

impl Refusal {
    /// Creates a refusal from a rule, a place and a detail.
    pub fn new(rule: &'static Rule, place: Place, detail: impl Into<String>) -> Self {
        Self { rule, place, detail: detail.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place != Place::WHOLE {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(self.rule.title)?;
        if !self.detail.is_empty() {
            write!(f, ": {}", self.detail)?;
        }
        write!(f, " [{}]", self.rule.code)
    }
}

impl Error for Refusal {}

impl From<Refusal> for Finding {
    fn from(refusal: Refusal) -> Self {
        Self { rule: refusal.rule, place: refusal.place, detail: refusal.detail }
    }
}

/// Formats a count with its noun: `1 page`, `2 pages`, `3 entries`.
pub fn counted(n: u64, what: &str) -> String {
    match what.strip_suffix('y') {
        _ if n == 1 => format!("{n} {what}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{n} {stem}ies"),
        _ => format!("{n} {what}s"),
    }
}

/// Quotes text of unknown origin for a message: in backticks, with hidden characters escaped, cut
/// after 60 characters.
pub fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let mut shown = String::from("`");
    for c in text.chars().take(MAX_CHARS) {
        if is_hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    if text.chars().nth(MAX_CHARS).is_some() {
        shown.push('…');
    }
    shown.push('`');
    shown
}

/// Removes hidden characters from text of unknown origin; see [`is_hidden`].
pub fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).collect()
}

/// Escapes hidden characters in text of unknown origin. Line ends are escaped too, so that the
/// result is a single line.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Returns whether a character could control a terminal or be invisible: control characters,
/// direction marks and overrides, zero-width characters, tag characters.
pub fn is_hidden(c: char) -> bool {
    let is_invisible = matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}');
    c.is_control() || is_invisible
}

#[cfg(test)]
mod tests {
    use super::{quoted, shown, visible};

    #[test] // SCP-187
    fn escapes_or_removes_hidden_characters() {
        assert_eq!(quoted("a\u{1b}[31m\nb\u{202e}"), "`a\\u{1b}[31m\\nb\\u{202e}`");
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), 63);
        assert_eq!(visible("a\u{1b}[31m\nb\u{202e}c"), "a[31mbc");
        assert_eq!(
            shown("a\u{1b}[31m\nb\u{202e}c\u{e0041}"),
            "a\\u{1b}[31m\\nb\\u{202e}c\\u{e0041}"
        );
    }
}
