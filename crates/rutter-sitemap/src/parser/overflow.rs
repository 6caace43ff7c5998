//! Handles parts of a sitemap that exceed [`SitemapLimits`](crate::SitemapLimits).
//!
//! The part is dropped, its entry (or foreign element) is reported once, and parsing continues
//! after the part. Only problems of the whole file are errors: too many attributes on the root
//! element, and extreme nesting.

use std::collections::VecDeque;

use quick_xml::events::BytesStart;
use rutter_finding::{Finding, Place};

use super::state::{MarkupToken, ParserPosition, ReturnPosition};
use super::{ParserOutput, SitemapParser};
use crate::rules;

/// A file is rejected when its elements are nested this many times deeper than the limit.
const DEPTH_FACTOR: usize = 16;
/// The length of the shortest possible attribute, including the space before it.
const SHORTEST_ATTRIBUTE: usize = 5;

impl SitemapParser {
    /// Returns whether a tag has more attributes than the limit.
    pub(super) fn has_many_attributes(&self, tag: &BytesStart<'_>) -> bool {
        if tag.len() / SHORTEST_ATTRIBUTE <= self.limits.attributes {
            return false;
        }
        let mut attributes = tag.attributes();
        // The check for duplicates would compare every attribute with all others.
        attributes.with_checks(false);
        self.limits.attributes < attributes.take(self.limits.attributes + 1).count()
    }

    /// Skips an element that was just opened; returns false if the element is
    /// after the root, which the caller reports.
    pub(super) fn skip_element(
        &mut self,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> Result<bool, rutter_finding::Refusal> {
        if self.limits.depth.saturating_mul(DEPTH_FACTOR) < self.elements.depth {
            return Err(self.refusal(&rules::TOO_DEEP, token, ""));
        }
        match self.position {
            ParserPosition::Root if self.limits.depth < self.elements.depth => {
                return Err(self.refusal(&rules::TOO_DEEP, token, ""));
            }
            ParserPosition::Prolog => {
                return Err(self.refusal(&rules::TOO_LONG, token, "too many attributes"));
            }
            ParserPosition::After => return Ok(false),
            ParserPosition::Skip(_) | ParserPosition::Foreign => {}
            ParserPosition::Root => {
                self.report_overflow(token, "too many attributes", out);
                self.skip(ReturnPosition::Root);
            }
            ParserPosition::Entry => {
                self.report_overflow(token, "too many attributes", out);
                self.skip(ReturnPosition::Entry);
            }
            ParserPosition::Field(field) => {
                self.report_overflow(token, "too many attributes", out);
                self.skip(ReturnPosition::Field(field));
            }
            ParserPosition::Capture => {
                let is_deep = self.limits.depth < self.elements.depth;
                let why = if is_deep { "nested too deeply" } else { "too many attributes" };
                self.report_overflow(token, why, out);
                // Skip to the end of the captured element.
                self.position = ParserPosition::Skip(ReturnPosition::Entry);
            }
        }
        Ok(true)
    }

    /// Skips the field, extension or foreign element whose text is too long.
    pub(super) fn skip_text(&mut self, token: MarkupToken<'_>, out: &mut VecDeque<ParserOutput>) {
        let back = match self.position {
            ParserPosition::Field(_) | ParserPosition::Capture => Some(ReturnPosition::Entry),
            ParserPosition::Foreign => Some(ReturnPosition::Root),
            ParserPosition::Entry => None,
            // The text in these positions is ignored in any case.
            ParserPosition::Prolog
            | ParserPosition::Root
            | ParserPosition::Skip(_)
            | ParserPosition::After => return,
        };
        self.report_overflow(token, "text is too long", out);
        if let Some(back) = back {
            self.position = ParserPosition::Skip(back);
        }
    }

    /// Skips the current element because a part of it is larger than the maximum window.
    pub(crate) fn skip_unread_part(&mut self, out: &mut VecDeque<ParserOutput>) {
        self.skip_text(MarkupToken { piece: b"", start: 0, end: 0 }, out);
    }

    /// Counts the line ends in bytes that were skipped.
    pub(crate) fn count_lines(&mut self, bytes: &[u8]) {
        self.lines.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
    }

    /// Reports a dropped part, once per entry and at the line of the entry.
    pub(super) fn report_overflow(
        &mut self,
        token: MarkupToken<'_>,
        why: &str,
        out: &mut VecDeque<ParserOutput>,
    ) {
        let is_in_entry = !matches!(self.position, ParserPosition::Root | ParserPosition::Foreign);
        if is_in_entry && std::mem::replace(&mut self.current.has_overflow, true) {
            return;
        }
        let line = if is_in_entry { self.current.entry.line } else { self.lines.at(token) };
        out.push_back(ParserOutput::Finding(Finding::new(
            &rules::ENTRY_TOO_LARGE,
            Place::line(line),
            why,
        )));
    }
}
