//! Captures child elements of an entry as raw XML.
//!
//! A captured element must be valid in any document. Therefore, at the end of the element, all
//! prefixes that it uses but does not declare are declared on its first tag.

use std::collections::VecDeque;

use quick_xml::events::BytesStart;

use super::state::{MarkupToken, ParserPosition, ReturnPosition};
use super::{ParseStep, ParserOutput, SitemapParser};
use crate::namespaces::NamespaceId;
use crate::rules;

impl SitemapParser {
    /// Starts to capture an element.
    pub(super) fn capture(
        &mut self,
        tag: &BytesStart<'_>,
        name: &str,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        if self.limits.extensions <= self.current.entry.extensions.len() {
            self.report_overflow(token, "too many elements of other namespaces", out);
            self.skip(ReturnPosition::Entry);
            return Ok(());
        }
        self.position = ParserPosition::Capture;
        self.elements.nested_depth = self.elements.depth;
        self.captured.raw.clear();
        self.captured.name_end = 1 + name.len();
        self.captured.prefixes.clear();
        self.captured.is_broken = false;
        self.record_prefixes(tag, name, token)?;
        self.append_captured(token, out);
        Ok(())
    }

    /// Records the prefixes of a tag that are declared outside the captured element.
    pub(super) fn record_prefixes(
        &mut self,
        tag: &BytesStart<'_>,
        name: &str,
        token: MarkupToken<'_>,
    ) -> ParseStep {
        let prefix_of = |name: &str| name.split_once(':').map(|(prefix, _)| prefix.to_owned());
        let mut prefixes = vec![prefix_of(name).unwrap_or_default()];
        if name.len() < tag.len() {
            let attributes = self.attributes(tag, token)?;
            let used = attributes.iter().filter_map(|(key, _)| prefix_of(key));
            prefixes.extend(used.filter(|prefix| prefix != "xmlns" && prefix != "xml"));
        }
        for prefix in prefixes {
            match self.namespaces.binding(&prefix) {
                None => self.captured.is_broken = true,
                Some((_, depth)) if self.elements.nested_depth <= depth => {}
                Some((ns, _)) if ns == NamespaceId::NONE => {}
                Some(_) if self.captured.prefixes.contains(&prefix) => {}
                Some(_) => self.captured.prefixes.push(prefix),
            }
        }
        Ok(())
    }

    /// Appends a token to the captured element, if an element is being captured.
    pub(super) fn append_captured(
        &mut self,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) {
        if self.position == ParserPosition::Capture {
            self.captured.raw.push_str(&String::from_utf8_lossy(token.bytes()));
            if self.limits.text < self.captured.raw.len() {
                self.skip_text(token, out);
            }
        }
    }

    /// Inserts the missing declarations and stores the captured element.
    pub(super) fn end_capture(&mut self, token: MarkupToken<'_>, out: &mut VecDeque<ParserOutput>) {
        if self.captured.is_broken || !self.captured.raw.is_char_boundary(self.captured.name_end) {
            return self.report(&rules::UNKNOWN_ELEMENT, token, "undeclared prefix", out);
        }
        let (start, rest) = self.captured.raw.split_at(self.captured.name_end);
        let mut raw = start.to_owned();
        for prefix in &self.captured.prefixes {
            let Some((ns, _)) = self.namespaces.binding(prefix) else { continue };
            let gap = if prefix.is_empty() { "" } else { ":" };
            raw.push_str(" xmlns");
            raw.push_str(gap);
            raw.push_str(prefix);
            raw.push_str("=\"");
            raw.push_str(&quick_xml::escape::escape(self.namespaces.uri(ns)));
            raw.push('"');
        }
        raw.push_str(rest);
        self.current.entry.extensions.push(raw);
    }
}
