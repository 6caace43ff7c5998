//! Findings, where they are, who takes them, and the error that is none.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use crate::rule::Rule;

/// Where in an input something was found.
///
/// Shown as `line 7 /content/3/level`; either part may be missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// Line of the decoded text, counted from 1.
    pub line: Option<u64>,
    /// JSON pointer (RFC 6901) into that line; empty for the whole line.
    pub pointer: String,
}

impl Place {
    /// The input as a whole.
    pub const WHOLE: Self = Self { line: None, pointer: String::new() };

    /// A whole line.
    pub fn line(line: u64) -> Self {
        Self { line: Some(line), pointer: String::new() }
    }

    /// A value inside a line.
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

/// One occurrence of a broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: &'static Rule,
    /// Where.
    pub place: Place,
    /// What was seen there; empty where the rule's title says it all.
    pub detail: String,
}

impl Finding {
    /// Puts a finding together.
    pub fn new(rule: &'static Rule, place: Place, detail: impl Into<String>) -> Self {
        Self { rule, place, detail: detail.into() }
    }
}

/// Takes findings; never fails.
pub trait FindingSink {
    /// Takes one finding.
    fn report(&mut self, finding: Finding);
}

impl FindingSink for Vec<Finding> {
    fn report(&mut self, finding: Finding) {
        self.push(finding);
    }
}

/// Lets findings go: for callers that only want what could be read.
impl FindingSink for () {
    fn report(&mut self, _finding: Finding) {}
}

/// The input breaks a rule so badly that it is not used at all.
///
/// It is an error, not a finding: whoever returns it has stopped. A judge that
/// wants to list it beside findings converts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The rule that forbids going on.
    pub rule: &'static Rule,
    /// Where.
    pub place: Place,
    /// What was seen there.
    pub detail: String,
}

impl Refusal {
    /// Puts a refusal together.
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

/// Says how many there are, in the singular where it is one.
pub fn counted(n: u64, what: &str) -> String {
    match what.strip_suffix('y') {
        _ if n == 1 => format!("{n} {what}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{n} {stem}ies"),
        _ => format!("{n} {what}s"),
    }
}

/// Shows foreign text in one short line: quoted, control characters escaped,
/// cut after 60 characters.
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown = String::from("`");
    for c in text.chars().take(LONGEST) {
        if is_hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown.push('`');
    shown
}

/// Leaves out of foreign text what could steer a terminal or hide from a
/// reader: control characters, direction overrides, zero-width characters.
pub fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).collect()
}

/// Shows foreign text whole and in one line: what could steer a terminal or
/// hide from a reader is escaped.
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

/// Tells whether a character steers or hides instead of being seen: control
/// characters, direction marks, zero-width characters, tags.
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
    fn ours_foreign_text_cannot_reach_the_terminal_raw() {
        assert_eq!(quoted("a\u{1b}[31m\nb\u{202e}"), "`a\\u{1b}[31m\\nb\\u{202e}`");
        assert_eq!(quoted(&"x".repeat(100)).chars().count(), 63);
        assert_eq!(visible("a\u{1b}[31m\nb\u{202e}c"), "a[31mbc");
        assert_eq!(
            shown("a\u{1b}[31m\nb\u{202e}c\u{e0041}"),
            "a\\u{1b}[31m\\nb\\u{202e}c\\u{e0041}"
        );
    }
}
