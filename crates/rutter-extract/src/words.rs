//! Reads the text of an element, and writes a short label for it.
//!
//! Input: an element of the tree. Output: its text with collapsed white space, or `name#id` or
//! `name.class`. Skips scripts, styles and other elements without text.

use crate::dom::Dom;
use crate::space::{append, collapse, gap, trim_end};
use crate::tag::Tag;

impl Dom {
    /// Returns the text of an element, with collapsed white space and without scripts, styles and
    /// other silent elements.
    pub(crate) fn words(&self, at: u32) -> String {
        let mut out = String::with_capacity(64);
        let mut here = at;
        // End positions of the open block elements, the innermost last.
        let mut ends: Vec<u32> = Vec::new();
        while here < self.item(at).end {
            while ends.last().is_some_and(|end| *end <= here) {
                ends.pop();
                gap(&mut out);
            }
            let item = self.item(here);
            if item.tag == Tag::Text {
                self.append(here, &mut out);
            } else if item.tag.is_silent() && here != at {
                here = item.end;
                continue;
            } else if item.tag.is_block() {
                gap(&mut out);
                ends.push(item.end);
            } else if item.tag == Tag::Br {
                gap(&mut out);
            }
            here += 1;
        }
        out.truncate(trim_end(&out).len());
        out
    }

    /// Writes the first words of an element to `out`: at least `most` bytes, if it has as many.
    pub(crate) fn head(&self, at: u32, most: usize, out: &mut String) {
        out.clear();
        let mut here = at;
        while here < self.item(at).end && out.len() < most {
            let item = self.item(here);
            if item.tag == Tag::Text {
                let text = self.text(here).trim_start();
                let mut end = text.len().min(2 * most);
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                if !out.is_empty() && text.len() < self.text(here).len() {
                    gap(out);
                }
                let text = text.get(..end).unwrap_or(text);
                if item.is_tidy { append(text, out) } else { collapse(text, out) }
            } else if item.tag.is_silent() && here != at {
                here = item.end;
                continue;
            } else if item.tag.is_block() || item.tag == Tag::Br {
                gap(out);
            }
            here += 1;
        }
        out.truncate(trim_end(out).len());
    }

    /// Returns a short selector for an element: its name with its id or its first class.
    pub(crate) fn label(&self, at: u32) -> String {
        let mut label = self.item(at).tag.name().to_owned();
        if let Some(id) = self.attribute(at, "id").filter(|id| !id.is_empty()) {
            label.push('#');
            label.push_str(id);
        } else if let Some(class) =
            self.attribute(at, "class").and_then(|class| class.split_ascii_whitespace().next())
        {
            label.push('.');
            label.push_str(class);
        }
        label
    }
}
