//! Builds one paragraph: its text with collapsed white space, and its spans.
//!
//! Input: pieces of text, and the starts and ends of marks. Output: a text and its [`InlineSpan`]s.
//! Ignores marks nested deeper than [`DEEPEST`]; their text is kept.

use crate::space::{append, collapse, gap, trim_end, trim_start};
use rutter_page::{InlineMark, InlineSpan};

/// Maximum nesting depth of marks that are kept.
const DEEPEST: usize = 16;

/// The text and the marks of a paragraph under construction.
#[derive(Debug, Default)]
pub(crate) struct InlineText {
    pub(crate) text: String,
    pub(crate) spans: Vec<InlineSpan>,
    /// Open marks with the position at which they begin.
    open: Vec<(InlineMark, usize)>,
    n_breaks: u32,
    /// Number of open marks that are nested deeper than [`DEEPEST`].
    n_ignored: u32,
}

impl InlineText {
    pub(crate) fn push_space(&mut self) {
        gap(&mut self.text);
    }

    pub(crate) fn push(&mut self, text: &str) {
        if text == " " {
            return self.push_space();
        }
        if self.text.is_empty() {
            let text = text.trim_start_matches([' ', '\n', '\t', '\r', '\u{c}', '\u{a0}']);
            if text.is_empty() {
                return;
            }
            self.n_breaks = 0;
            collapse(text, &mut self.text);
            return;
        }
        let before = self.text.len();
        collapse(text, &mut self.text);
        if self.text.get(before..).is_some_and(|new| !new.trim().is_empty()) {
            self.n_breaks = 0;
        }
    }

    /// Appends a text whose runs of white space are already single spaces.
    pub(crate) fn push_tidy(&mut self, text: &str) {
        self.n_breaks = 0;
        let text = if self.text.is_empty() { text.trim_start_matches(' ') } else { text };
        append(text, &mut self.text);
    }

    /// Appends a text and keeps its white space.
    pub(crate) fn push_raw(&mut self, text: &str) {
        self.n_breaks = 0;
        self.text.push_str(text);
    }

    /// Appends a line break; returns whether it is at least the second in a row.
    pub(crate) fn line_break(&mut self) -> bool {
        self.n_breaks += 1;
        let n_trimmed = self.text.trim_end_matches(' ').len();
        self.text.truncate(n_trimmed);
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        1 < self.n_breaks
    }

    pub(crate) fn open(&mut self, mark: InlineMark) {
        if self.open.len() < DEEPEST {
            self.open.push((mark, self.text.len()));
        } else {
            self.n_ignored += 1;
        }
    }

    pub(crate) fn close(&mut self) {
        if 0 < self.n_ignored {
            self.n_ignored -= 1;
        } else if let Some((mark, start)) = self.open.pop() {
            self.span(mark, start);
        }
    }

    fn span(&mut self, mark: InlineMark, start: usize) {
        let Some(inner) = self.text.get(start..) else { return };
        let trimmed = trim_start(inner);
        let start = start + (inner.len() - trimmed.len());
        let end = start + trim_end(trimmed).len();
        if start < end {
            let [start, end] = [start, end].map(|at| u32::try_from(at).unwrap_or(u32::MAX));
            self.spans.push(InlineSpan { part: 0, start, end, mark });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        trim_end(&self.text).is_empty()
    }

    /// Removes text that is only white space, and the spans in it; open marks stay open.
    pub(crate) fn clear(&mut self) {
        for (_, start) in &mut self.open {
            *start = 0;
        }
        self.n_breaks = 0;
        self.text.clear();
        self.spans.clear();
    }

    /// Ends the paragraph and returns its text and spans; open marks continue in the next
    /// paragraph.
    pub(crate) fn take(&mut self) -> (String, Vec<InlineSpan>) {
        for at in (0..self.open.len()).rev() {
            let (mark, start) = self.open[at].clone();
            self.span(mark, start);
            self.open[at].1 = 0;
        }
        self.n_breaks = 0;
        // `self.text` keeps its allocation for the next paragraph.
        let text = trim_end(&self.text).to_owned();
        self.text.clear();
        let mut spans = std::mem::take(&mut self.spans);
        if spans.is_empty() {
            return (text, spans);
        }
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        spans.retain_mut(|span| {
            span.end = span.end.min(end);
            span.start < span.end
        });
        // Marks close from the inside out. Of two spans with the same range, the outer one comes
        // first.
        spans.reverse();
        spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        (text, spans)
    }
}

/// Returns the superscript form of a digit or sign; `None` if it has none.
pub(crate) fn superscript(c: char) -> Option<char> {
    Some(match c {
        '1' => '\u{b9}',
        '2' => '\u{b2}',
        '3' => '\u{b3}',
        '0' | '4'..='9' => char::from_u32(0x2070 + c.to_digit(10)?)?,
        '+' => '\u{207a}',
        '-' | '\u{2212}' => '\u{207b}',
        _ => return None,
    })
}
