//! Parses the fields and links of one entry, and decides whether the entry is usable.

use std::collections::VecDeque;

use quick_xml::events::BytesStart;
use rutter_finding::{Finding, Place, Refusal, Rule, quoted};

use super::state::{EntryField, MarkupToken, ParserPosition, ReturnPosition};
use super::{ParseStep, ParserOutput, SitemapParser, fast_path};
use crate::namespaces::NamespaceId;
use crate::rules;
use crate::url::{is_plain_url, is_url, resolve};
use crate::{AlternateLink, ChangeFreq, ChildSitemap, SitemapItem, SitemapKind, date};

impl SitemapParser {
    /// Handles a child element of an entry.
    pub(super) fn start_field(
        &mut self,
        tag: &BytesStart<'_>,
        name: &str,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        let Some((ns, local)) = self.namespaces.resolve(name) else {
            self.report(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
            self.skip(ReturnPosition::Entry);
            return Ok(());
        };
        if self.root.kind == Some(SitemapKind::Feed) {
            return self.start_feed_field(tag, local, token);
        }
        let field = match local {
            _ if !self.is_root_namespace(ns) => None,
            "loc" => Some(EntryField::Loc),
            "lastmod" => Some(EntryField::Lastmod),
            "changefreq" => Some(EntryField::Changefreq),
            "priority" => Some(EntryField::Priority),
            _ => None,
        };
        let Some(field) = field else {
            self.current.latest = u8::MAX;
            if self.is_root_namespace(ns) {
                self.report(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
            } else if ns == NamespaceId::XHTML
                && local == "link"
                && self.alternate(tag, token, out)?
            {
                return Ok(());
            }
            return self.capture(tag, name, token, out);
        };
        if self.current.seen & (1 << field as u8) != 0 {
            self.report(&rules::ELEMENT_TWICE, token, field.name(), out);
            self.skip(ReturnPosition::Entry);
            return Ok(());
        }
        if field as u8 + 1 < self.current.latest {
            self.report(&rules::ELEMENT_ORDER, token, field.name(), out);
        }
        self.current.seen |= 1 << field as u8;
        self.current.latest = self.current.latest.max(field as u8 + 1);
        self.begin(field);
        Ok(())
    }

    pub(super) fn begin(&mut self, field: EntryField) {
        self.position = ParserPosition::Field(field);
        self.elements.nested_depth = self.elements.depth;
        self.current.text.clear();
    }

    /// Handles a child element of a feed entry: `link` and `updated`.
    pub(super) fn start_feed_field(
        &mut self,
        tag: &BytesStart<'_>,
        local: &str,
        token: MarkupToken<'_>,
    ) -> ParseStep {
        match local {
            "link" if self.current.entry.loc.is_empty() => {
                let attributes = self.attributes(tag, token)?;
                let value = |name: &str| {
                    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim())
                };
                match (value("href"), value("rel")) {
                    (Some(href), None | Some("alternate")) => {
                        href.clone_into(&mut self.current.entry.loc);
                        self.skip(ReturnPosition::Entry);
                    }
                    (Some(_), _) => self.skip(ReturnPosition::Entry),
                    (None, _) => self.begin(EntryField::Loc),
                }
            }
            "updated" | "modified" => self.begin(EntryField::Lastmod),
            _ => self.skip(ReturnPosition::Entry),
        }
        Ok(())
    }

    /// Parses an `xhtml:link` element; returns false if it is not an alternate link.
    pub(super) fn alternate(
        &mut self,
        tag: &BytesStart<'_>,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> Result<bool, Refusal> {
        let mut link = AlternateLink::default();
        let mut is_alternate = false;
        let mut attributes = tag.attributes();
        // A duplicate attribute is not an error; its last value counts.
        attributes.with_checks(false);
        for (n_attributes, attribute) in attributes.enumerate() {
            let (key, value) = self.attribute(attribute, n_attributes, token)?;
            match key {
                "rel" => {
                    let mut words = value.split_ascii_whitespace();
                    is_alternate = words.any(|word| word.eq_ignore_ascii_case("alternate"));
                }
                "hreflang" => value.trim_ascii().clone_into(&mut link.hreflang),
                "href" => value.trim_ascii().clone_into(&mut link.href),
                "type" => link.media_type = Some(value.trim_ascii().to_owned()),
                _ => {}
            }
        }
        if !is_alternate {
            return Ok(false);
        }
        if !is_url(&link.href)
            && let Some(href) = self.resolve(&link.href)
        {
            let detail = format!("{} is read as {}", quoted(&link.href), quoted(&href));
            self.report(&rules::ALTERNATE_BAD, token, detail, out);
            link.href = href;
        }
        if !is_url(&link.href) {
            self.report(&rules::ALTERNATE_BAD, token, quoted(&link.href), out);
        } else if self.limits.alternates <= self.current.entry.alternates.len() {
            self.report_overflow(token, "too many alternate links", out);
        } else {
            self.current.entry.alternates.push(link);
        }
        self.skip(ReturnPosition::Entry);
        Ok(true)
    }

    /// Parses the fields and links directly after the start tag of an entry, as long as they are
    /// simple and in schema order. Returns the number of bytes used.
    ///
    /// Nearly all entries are simple, and this function saves three XML events per field. The event
    /// loop handles all other entries, including those with errors.
    pub(super) fn parse_plain_children(
        &mut self,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> usize {
        if !self.is_root_namespace(self.namespaces.default())
            || self.root.kind == Some(SitemapKind::Feed)
        {
            return 0;
        }
        let rest = token.piece.get(token.end..).unwrap_or_default();
        let mut used = 0;
        while let Some((field, text, after)) =
            fast_path::field(rest.get(used..).unwrap_or_default(), self.limits.text)
        {
            if (field as u8) < self.current.latest {
                return used;
            }
            self.current.seen |= 1 << field as u8;
            self.current.latest = field as u8 + 1;
            let start = token.end + used;
            self.end_field(field, &text, MarkupToken { start, end: start, ..token }, out);
            used = rest.len() - after.len();
        }
        while let Some((prefix, link, after)) =
            fast_path::link(rest.get(used..).unwrap_or_default())
        {
            let is_link =
                self.namespaces.binding(prefix).is_some_and(|(ns, _)| ns == NamespaceId::XHTML);
            let is_below_limit = self.current.entry.alternates.len() < self.limits.alternates;
            if !is_link || !is_below_limit || !is_plain_url(&link.href) {
                return used;
            }
            self.current.latest = u8::MAX;
            self.current.entry.alternates.push(link);
            used = rest.len() - after.len();
        }
        used
    }

    pub(super) fn end_field(
        &mut self,
        field: EntryField,
        text: &str,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) {
        let text = text.trim_ascii();
        match field {
            EntryField::Loc => text.clone_into(&mut self.current.entry.loc),
            EntryField::Lastmod => match date::read(text) {
                Some(read) => {
                    self.current.entry.lastmod = Some(read.time);
                    self.current.entry.is_day = read.is_day;
                    if read.is_local {
                        let detail = quoted(text);
                        self.report(&rules::LASTMOD_NO_ZONE, token, detail, out);
                    }
                }
                None => self.report(&rules::LASTMOD_BAD, token, quoted(text), out),
            },
            EntryField::Changefreq => match ChangeFreq::parse(text) {
                Some(freq) => self.current.entry.changefreq = Some(freq),
                None => self.report(&rules::CHANGEFREQ_BAD, token, quoted(text), out),
            },
            EntryField::Priority => match priority(text) {
                Some(priority) => self.current.entry.priority = Some(priority),
                None => self.report(&rules::PRIORITY_BAD, token, quoted(text), out),
            },
        }
    }

    /// Resolves a relative URL if the URL of the sitemap is known.
    fn resolve(&self, reference: &str) -> Option<String> {
        resolve(self.base.as_ref()?, reference)
    }

    /// Outputs the entry, unless it has no usable URL.
    pub(super) fn end_entry(&mut self, out: &mut VecDeque<ParserOutput>) {
        let mut entry = std::mem::take(&mut self.current.entry);
        let line = entry.line;
        let mut report = |rule: &'static Rule, detail: String| {
            out.push_back(ParserOutput::Finding(Finding::new(rule, Place::line(line), detail)));
        };
        if entry.loc.is_empty() {
            let stray_text = self.current.stray_text.trim();
            if !is_plain_url(stray_text) {
                return report(&rules::LOC_MISSING, String::new());
            }
            report(&rules::LOC_MISSING, "the text of the entry is used instead".to_owned());
            stray_text.clone_into(&mut entry.loc);
        }
        if self.limits.loc < entry.loc.len() && self.limits.loc < entry.loc.chars().count() {
            return report(&rules::LOC_TOO_LONG, quoted(&entry.loc));
        }
        if !is_plain_url(&entry.loc) {
            if is_url(&entry.loc) {
                report(&rules::LOC_BAD, quoted(&entry.loc));
            } else if let Some(loc) = self.resolve(&entry.loc) {
                let detail = format!("{} is read as {}", quoted(&entry.loc), quoted(&loc));
                report(&rules::LOC_BAD, detail);
                entry.loc = loc;
            } else {
                return report(&rules::LOC_BAD, quoted(&entry.loc));
            }
        }
        let item = match self.root.kind {
            Some(SitemapKind::Index) => {
                SitemapItem::Child(ChildSitemap { loc: entry.loc, lastmod: entry.lastmod })
            }
            _ => SitemapItem::Url(entry),
        };
        out.push_back(ParserOutput::SitemapItem(item, line));
    }
}

fn priority(text: &str) -> Option<f32> {
    if let &[b'0', b'.', tenths @ b'0'..=b'9'] = text.as_bytes() {
        return Some(f32::from(tenths - b'0') / 10.0);
    }
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
    let priority: f32 = text.parse().ok().filter(|_| is_decimal)?;
    (0.0..=1.0).contains(&priority).then_some(priority)
}
