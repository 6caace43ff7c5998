//! One entry: its fields, links and what makes it usable.

use std::collections::VecDeque;

use quick_xml::events::BytesStart;
use rutter_finding::{Finding, Place, Refusal, Rule, quoted};

use super::{At, Back, Field, Machine, Ns, Out, Step, Token, plain};
use crate::rules;
use crate::sitemap::address::{is_address, is_plain_address, resolve};
use crate::sitemap::{AlternateLink, ChangeFreq, Child, Item, Kind, time};

impl Machine {
    /// A child of an entry.
    pub(super) fn start_field(
        &mut self,
        tag: &BytesStart<'_>,
        name: &str,
        token: Token<'_>,
        out: &mut VecDeque<Out>,
    ) -> Step {
        let Some((ns, local)) = self.names.resolve(name) else {
            self.found(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
            self.skip(Back::Entry);
            return Ok(());
        };
        if self.kind == Some(Kind::Feed) {
            return self.start_feed_field(tag, local, token);
        }
        let field = match local {
            _ if !self.is_own(ns) => None,
            "loc" => Some(Field::Loc),
            "lastmod" => Some(Field::Lastmod),
            "changefreq" => Some(Field::Changefreq),
            "priority" => Some(Field::Priority),
            _ => None,
        };
        let Some(field) = field else {
            self.latest = u8::MAX;
            if self.is_own(ns) {
                self.found(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
            } else if ns == Ns::XHTML && local == "link" && self.alternate(tag, token, out)? {
                return Ok(());
            }
            return self.capture(tag, name, token, out);
        };
        if self.seen & (1 << field as u8) != 0 {
            self.found(&rules::ELEMENT_TWICE, token, field.name(), out);
            self.skip(Back::Entry);
            return Ok(());
        }
        if field as u8 + 1 < self.latest {
            self.found(&rules::ELEMENT_ORDER, token, field.name(), out);
        }
        self.seen |= 1 << field as u8;
        self.latest = self.latest.max(field as u8 + 1);
        self.begin(field);
        Ok(())
    }

    pub(super) fn begin(&mut self, field: Field) {
        self.at = At::Field(field);
        self.mark = self.depth;
        self.text.clear();
    }

    /// Feeds name their pages by `link` and their changes by `updated`.
    pub(super) fn start_feed_field(
        &mut self,
        tag: &BytesStart<'_>,
        local: &str,
        token: Token<'_>,
    ) -> Step {
        match local {
            "link" if self.entry.loc.is_empty() => {
                let attributes = self.attributes(tag, token)?;
                let value = |name: &str| {
                    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim())
                };
                match (value("href"), value("rel")) {
                    (Some(href), None | Some("alternate")) => {
                        href.clone_into(&mut self.entry.loc);
                        self.skip(Back::Entry);
                    }
                    (Some(_), _) => self.skip(Back::Entry),
                    (None, _) => self.begin(Field::Loc),
                }
            }
            "updated" | "modified" => self.begin(Field::Lastmod),
            _ => self.skip(Back::Entry),
        }
        Ok(())
    }

    /// Reads `xhtml:link`; false where it is another kind of link.
    pub(super) fn alternate(
        &mut self,
        tag: &BytesStart<'_>,
        token: Token<'_>,
        out: &mut VecDeque<Out>,
    ) -> Result<bool, Refusal> {
        let mut link = AlternateLink::default();
        let mut is_alternate = false;
        let mut attributes = tag.attributes();
        // Who writes an attribute twice gets the last.
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
        if !is_address(&link.href)
            && let Some(href) = self.resolve(&link.href)
        {
            let detail = format!("{} is read as {}", quoted(&link.href), quoted(&href));
            self.found(&rules::ALTERNATE_BAD, token, detail, out);
            link.href = href;
        }
        if !is_address(&link.href) {
            self.found(&rules::ALTERNATE_BAD, token, quoted(&link.href), out);
        } else if self.limits.alternates <= self.entry.alternates.len() {
            self.report_excess(token, "too many alternate links", out);
        } else {
            self.entry.alternates.push(link);
        }
        self.skip(Back::Entry);
        Ok(true)
    }

    /// Reads the fields and links right behind an entry's start tag, as long
    /// as they are plain and in order. Gives how many bytes they take.
    ///
    /// Nearly all are like that, and it spares three events for each. Whatever
    /// else there is, and whatever is wrong, is left to the events.
    pub(super) fn plain_children(&mut self, token: Token<'_>, out: &mut VecDeque<Out>) -> usize {
        if !self.is_own(self.names.default()) || self.kind == Some(Kind::Feed) {
            return 0;
        }
        let rest = token.piece.get(token.end..).unwrap_or_default();
        let mut used = 0;
        while let Some((field, text, after)) =
            plain::field(rest.get(used..).unwrap_or_default(), self.limits.text)
        {
            if (field as u8) < self.latest {
                return used;
            }
            self.seen |= 1 << field as u8;
            self.latest = field as u8 + 1;
            let start = token.end + used;
            self.end_field(field, &text, Token { start, end: start, ..token }, out);
            used = rest.len() - after.len();
        }
        while let Some((prefix, link, after)) = plain::link(rest.get(used..).unwrap_or_default()) {
            let is_link = self.names.binding(prefix).is_some_and(|(ns, _)| ns == Ns::XHTML);
            let has_room = self.entry.alternates.len() < self.limits.alternates;
            if !is_link || !has_room || !is_plain_address(&link.href) {
                return used;
            }
            self.latest = u8::MAX;
            self.entry.alternates.push(link);
            used = rest.len() - after.len();
        }
        used
    }

    pub(super) fn end_field(
        &mut self,
        field: Field,
        text: &str,
        token: Token<'_>,
        out: &mut VecDeque<Out>,
    ) {
        let text = text.trim_ascii();
        match field {
            Field::Loc => text.clone_into(&mut self.entry.loc),
            Field::Lastmod => match time::read(text) {
                Some(read) => {
                    self.entry.lastmod = Some(read.time);
                    self.entry.is_day = read.is_day;
                    if read.is_local {
                        let detail = quoted(text);
                        self.found(&rules::LASTMOD_NO_ZONE, token, detail, out);
                    }
                }
                None => self.found(&rules::LASTMOD_BAD, token, quoted(text), out),
            },
            Field::Changefreq => match ChangeFreq::parse(text) {
                Some(freq) => self.entry.changefreq = Some(freq),
                None => self.found(&rules::CHANGEFREQ_BAD, token, quoted(text), out),
            },
            Field::Priority => match priority(text) {
                Some(priority) => self.entry.priority = Some(priority),
                None => self.found(&rules::PRIORITY_BAD, token, quoted(text), out),
            },
        }
    }

    /// The address that a relative one means, where the sitemap's own is known.
    fn resolve(&self, reference: &str) -> Option<String> {
        resolve(self.base.as_ref()?, reference)
    }

    /// Hands an entry on, unless it has no address one could use.
    pub(super) fn end_entry(&mut self, out: &mut VecDeque<Out>) {
        let mut entry = std::mem::take(&mut self.entry);
        let line = entry.line;
        let mut found = |rule: &'static Rule, detail: String| {
            out.push_back(Out::Finding(Finding::new(rule, Place::line(line), detail)));
        };
        if entry.loc.is_empty() {
            let loose = self.loose.trim();
            if !is_plain_address(loose) {
                return found(&rules::LOC_MISSING, String::new());
            }
            found(&rules::LOC_MISSING, "its text is taken instead".to_owned());
            loose.clone_into(&mut entry.loc);
        }
        if self.limits.loc < entry.loc.len() && self.limits.loc < entry.loc.chars().count() {
            return found(&rules::LOC_TOO_LONG, quoted(&entry.loc));
        }
        if !is_plain_address(&entry.loc) {
            if is_address(&entry.loc) {
                found(&rules::LOC_BAD, quoted(&entry.loc));
            } else if let Some(loc) = self.resolve(&entry.loc) {
                let detail = format!("{} is read as {}", quoted(&entry.loc), quoted(&loc));
                found(&rules::LOC_BAD, detail);
                entry.loc = loc;
            } else {
                return found(&rules::LOC_BAD, quoted(&entry.loc));
            }
        }
        let item = match self.kind {
            Some(Kind::Index) => Item::Child(Child { loc: entry.loc, lastmod: entry.lastmod }),
            _ => Item::Url(entry),
        };
        out.push_back(Out::Item(item, line));
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
