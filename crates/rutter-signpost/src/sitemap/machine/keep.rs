//! Children of an entry that are kept as they are written.
//!
//! What is kept must be able to stand anywhere, so the prefixes it uses and
//! does not declare itself are declared on its first tag in the end.

use std::collections::VecDeque;

use quick_xml::events::BytesStart;

use super::{At, Back, Machine, Ns, Out, Step, Token};
use crate::rules;

impl Machine {
    /// Begins to keep an element as it is written.
    pub(super) fn capture(
        &mut self,
        tag: &BytesStart<'_>,
        name: &str,
        token: Token<'_>,
        out: &mut VecDeque<Out>,
    ) -> Step {
        if self.limits.extensions <= self.entry.extensions.len() {
            self.report_excess(token, "too many elements of other namespaces", out);
            self.skip(Back::Entry);
            return Ok(());
        }
        self.at = At::Capture;
        self.mark = self.depth;
        self.raw.clear();
        self.raw_name_end = 1 + name.len();
        self.raw_prefixes.clear();
        self.is_raw_broken = false;
        self.note_prefixes(tag, name, token)?;
        self.keep(token, out);
        Ok(())
    }

    /// Remembers prefixes that are declared outside of what is kept.
    pub(super) fn note_prefixes(
        &mut self,
        tag: &BytesStart<'_>,
        name: &str,
        token: Token<'_>,
    ) -> Step {
        let prefix_of = |name: &str| name.split_once(':').map(|(prefix, _)| prefix.to_owned());
        let mut prefixes = vec![prefix_of(name).unwrap_or_default()];
        if name.len() < tag.len() {
            let attributes = self.attributes(tag, token)?;
            let used = attributes.iter().filter_map(|(key, _)| prefix_of(key));
            prefixes.extend(used.filter(|prefix| prefix != "xmlns" && prefix != "xml"));
        }
        for prefix in prefixes {
            match self.names.binding(&prefix) {
                None => self.is_raw_broken = true,
                Some((_, depth)) if self.mark <= depth => {}
                Some((ns, _)) if ns == Ns::NONE => {}
                Some(_) if self.raw_prefixes.contains(&prefix) => {}
                Some(_) => self.raw_prefixes.push(prefix),
            }
        }
        Ok(())
    }

    /// Keeps a token where an element is kept.
    pub(super) fn keep(&mut self, token: Token<'_>, out: &mut VecDeque<Out>) {
        if self.at == At::Capture {
            self.raw.push_str(&String::from_utf8_lossy(token.bytes()));
            if self.limits.text < self.raw.len() {
                self.leave_out_text(token, out);
            }
        }
    }

    /// Declares what the kept element uses, so that it can stand anywhere.
    pub(super) fn end_capture(&mut self, token: Token<'_>, out: &mut VecDeque<Out>) {
        if self.is_raw_broken || !self.raw.is_char_boundary(self.raw_name_end) {
            return self.found(&rules::UNKNOWN_ELEMENT, token, "undeclared prefix", out);
        }
        let (start, rest) = self.raw.split_at(self.raw_name_end);
        let mut raw = start.to_owned();
        for prefix in &self.raw_prefixes {
            let Some((ns, _)) = self.names.binding(prefix) else { continue };
            let gap = if prefix.is_empty() { "" } else { ":" };
            raw.push_str(" xmlns");
            raw.push_str(gap);
            raw.push_str(prefix);
            raw.push_str("=\"");
            raw.push_str(&quick_xml::escape::escape(self.names.uri(ns)));
            raw.push('"');
        }
        raw.push_str(rest);
        self.entry.extensions.push(raw);
    }
}
