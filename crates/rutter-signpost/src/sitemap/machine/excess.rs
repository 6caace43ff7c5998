//! Parts of a sitemap beyond [`Limits`](crate::sitemap::Limits).
//!
//! The part is left out, the entry (or the element of another namespace) that
//! has it is reported once, and reading goes on behind it. Refuses only what
//! concerns the whole file: its root, and elements nested without end.

use std::collections::VecDeque;

use quick_xml::events::BytesStart;
use rutter_finding::{Finding, Place};

use super::{At, Back, Machine, Out, Token};
use crate::rules;

/// Elements may be nested this many times deeper than the limit before the
/// file is refused.
const DEPTHS: usize = 16;
/// Bytes of the shortest attribute and the space before it.
const SHORTEST_ATTRIBUTE: usize = 5;

impl Machine {
    /// Tells whether a tag has more attributes than the limit allows.
    pub(super) fn has_many_attributes(&self, tag: &BytesStart<'_>) -> bool {
        if tag.len() / SHORTEST_ATTRIBUTE <= self.limits.attributes {
            return false;
        }
        let mut attributes = tag.attributes();
        // The check for duplicates compares every attribute with all others.
        attributes.with_checks(false);
        self.limits.attributes < attributes.take(self.limits.attributes + 1).count()
    }

    /// Leaves out an element that was just opened. False where it is not part
    /// of anything that can be left out.
    pub(super) fn leave_out_element(
        &mut self,
        token: Token<'_>,
        out: &mut VecDeque<Out>,
    ) -> Result<bool, rutter_finding::Refusal> {
        if self.limits.depth.saturating_mul(DEPTHS) < self.depth {
            return Err(self.refused(&rules::TOO_DEEP, token, ""));
        }
        match self.at {
            At::Root if self.limits.depth < self.depth => {
                return Err(self.refused(&rules::TOO_DEEP, token, ""));
            }
            At::Prolog => return Err(self.refused(&rules::TOO_LONG, token, "too many attributes")),
            At::After => return Ok(false),
            At::Skip(_) | At::Foreign => {}
            At::Root => {
                self.report_excess(token, "too many attributes", out);
                self.skip(Back::Root);
            }
            At::Entry => {
                self.report_excess(token, "too many attributes", out);
                self.skip(Back::Entry);
            }
            At::Field(field) => {
                self.report_excess(token, "too many attributes", out);
                self.skip(Back::Field(field));
            }
            At::Capture => {
                let is_deep = self.limits.depth < self.depth;
                let why = if is_deep { "nested too deeply" } else { "too many attributes" };
                self.report_excess(token, why, out);
                // Up to the end of the element that was being kept.
                self.at = At::Skip(Back::Entry);
            }
        }
        Ok(true)
    }

    /// Leaves out the field, extension or foreign element whose text is too long.
    pub(super) fn leave_out_text(&mut self, token: Token<'_>, out: &mut VecDeque<Out>) {
        let back = match self.at {
            At::Field(_) | At::Capture => Some(Back::Entry),
            At::Foreign => Some(Back::Root),
            At::Entry => None,
            // Nothing is read there anyway.
            At::Prolog | At::Root | At::Skip(_) | At::After => return,
        };
        self.report_excess(token, "a text is too long", out);
        if let Some(back) = back {
            self.at = At::Skip(back);
        }
    }

    /// The same for a part that was too long to be read at all.
    pub(in crate::sitemap) fn leave_out_part(&mut self, out: &mut VecDeque<Out>) {
        self.leave_out_text(Token { piece: b"", start: 0, end: 0 }, out);
    }

    /// Counts the lines of bytes that were not read.
    pub(in crate::sitemap) fn count_lines(&mut self, bytes: &[u8]) {
        self.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
    }

    /// Reports what is left out: once for an entry, at its line.
    pub(super) fn report_excess(&mut self, token: Token<'_>, why: &str, out: &mut VecDeque<Out>) {
        let is_in_entry = !matches!(self.at, At::Root | At::Foreign);
        if is_in_entry && std::mem::replace(&mut self.is_overfull, true) {
            return;
        }
        let line = if is_in_entry { self.entry.line } else { self.line_at(token) };
        out.push_back(Out::Finding(Finding::new(&rules::ENTRY_TOO_LARGE, Place::line(line), why)));
    }
}
