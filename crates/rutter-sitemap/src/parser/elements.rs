//! Handles start tags, end tags and text by the position of the parser.

use std::borrow::Cow;
use std::collections::VecDeque;

use quick_xml::XmlVersion;
use quick_xml::errors::Error;
use quick_xml::events::attributes::{AttrError, Attribute};
use quick_xml::events::{BytesRef, BytesStart};
use rutter_finding::{Refusal, quoted};

use super::state::{MarkupToken, ParserPosition, ReturnPosition};
use super::{ParseStep, ParserOutput, SitemapParser};
use crate::namespaces::{NamespaceId, is_known_variant};
use crate::{ForeignElement, SitemapItem, SitemapKind, rules};

impl SitemapParser {
    pub(super) fn start(
        &mut self,
        tag: &BytesStart<'_>,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        self.elements.depth += 1;
        let name = tag.name();
        let name: &str = name.as_ref();
        self.elements.starts.push(self.elements.names.len());
        self.elements.names.push_str(name);
        let has_attributes = name.len() < tag.len();
        if (self.limits.depth < self.elements.depth
            || (has_attributes && self.has_many_attributes(tag)))
            && self.skip_element(token, out)?
        {
            return Ok(());
        }
        if has_attributes {
            self.declare(tag, token)?;
        }
        match self.position {
            ParserPosition::Entry => self.start_field(tag, name, token, out),
            ParserPosition::Root => self.start_child(tag, name, token, out),
            ParserPosition::Prolog => self.start_root(name, token, out),
            ParserPosition::Capture => {
                self.record_prefixes(tag, name, token)?;
                self.append_captured(token, out);
                Ok(())
            }
            ParserPosition::Field(field) => {
                self.report(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
                self.skip(ReturnPosition::Field(field));
                Ok(())
            }
            ParserPosition::Foreign | ParserPosition::Skip(_) => Ok(()),
            ParserPosition::After => {
                Err(self.refusal(&rules::MALFORMED_XML, token, "element after the root element"))
            }
        }
    }

    /// Processes the namespace declarations of a tag.
    pub(super) fn declare(&mut self, tag: &BytesStart<'_>, token: MarkupToken<'_>) -> ParseStep {
        let raw = tag.attributes_raw().as_bytes();
        if memchr::memmem::find(raw, b"xmlns").is_none() {
            return Ok(());
        }
        for (key, value) in self.attributes(tag, token)? {
            let prefix = match key.strip_prefix("xmlns") {
                Some("") => "",
                Some(rest) => match rest.strip_prefix(':') {
                    Some(prefix) => prefix,
                    None => continue,
                },
                None => continue,
            };
            if self.namespaces.declare(self.elements.depth, prefix, value.trim()).is_none() {
                return Err(self.refusal(&rules::TOO_LONG, token, "too many namespaces"));
            }
        }
        Ok(())
    }

    /// Returns all attributes of a tag with decoded values.
    pub(super) fn attributes(
        &mut self,
        tag: &BytesStart<'_>,
        token: MarkupToken<'_>,
    ) -> Result<Vec<(String, String)>, Refusal> {
        let mut attributes = Vec::new();
        for (n_attributes, attribute) in tag.attributes().enumerate() {
            let (key, value) = self.attribute(attribute, n_attributes, token)?;
            attributes.push((key.to_owned(), value.into_owned()));
        }
        Ok(attributes)
    }

    /// Returns name and decoded value of one attribute.
    pub(super) fn attribute<'t>(
        &mut self,
        attribute: Result<Attribute<'t>, AttrError>,
        n_attributes: usize,
        token: MarkupToken<'_>,
    ) -> Result<(&'t str, Cow<'t, str>), Refusal> {
        if self.limits.attributes <= n_attributes {
            return Err(self.refusal(&rules::TOO_LONG, token, "too many attributes"));
        }
        let read = attribute.map_err(Error::from).and_then(|attribute| {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0)?;
            Ok((attribute.key.0, value))
        });
        read.map_err(|error| self.refusal(&rules::MALFORMED_XML, token, error.to_string()))
    }

    pub(super) fn start_root(
        &mut self,
        name: &str,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        let (ns, local) = self.namespaces.resolve(name).unwrap_or((NamespaceId::NONE, name));
        let kind = match local {
            "urlset" => SitemapKind::Urlset,
            "sitemapindex" => SitemapKind::Index,
            "rss" | "feed" | "RDF" => SitemapKind::Feed,
            _ => {
                let detail = format!("the root element is {}", quoted(name));
                return Err(self.refusal(&rules::NOT_A_SITEMAP, token, detail));
            }
        };
        self.root.kind = Some(kind);
        self.position = ParserPosition::Root;
        self.root.namespace = ns;
        if kind == SitemapKind::Feed {
            self.report(&rules::IS_FEED, token, quoted(local), out);
        } else if ns != NamespaceId::SITEMAP {
            let uri = self.namespaces.uri(ns).to_owned();
            let detail = match uri.as_str() {
                "" => "no namespace".to_owned(),
                uri if is_known_variant(uri) => format!("variant {}", quoted(uri)),
                uri => quoted(uri),
            };
            self.report(&rules::NAMESPACE, token, detail, out);
        }
        Ok(())
    }

    pub(super) fn is_root_namespace(&self, ns: NamespaceId) -> bool {
        ns == self.root.namespace || ns == NamespaceId::SITEMAP
    }

    /// Handles a child element of the root.
    pub(super) fn start_child(
        &mut self,
        tag: &BytesStart<'_>,
        name: &str,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        let Some((ns, local)) = self.namespaces.resolve(name) else {
            self.report(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
            self.skip(ReturnPosition::Root);
            return Ok(());
        };
        let is_entry = match self.root.kind {
            Some(SitemapKind::Feed) => matches!(local, "item" | "entry"),
            Some(SitemapKind::Index) => self.is_root_namespace(ns) && local == "sitemap",
            _ => self.is_root_namespace(ns) && local == "url",
        };
        if is_entry && self.limits.urls <= self.count.urls {
            self.count.skipped += 1;
            if self.count.skipped == 1 {
                let detail = format!("entries after the first {} are skipped", self.limits.urls);
                self.report(&rules::TOO_MANY_URLS, token, detail, out);
            }
            self.skip(ReturnPosition::Root);
            return Ok(());
        }
        if is_entry {
            self.count.urls += 1;
            self.current.has_overflow = false;
            self.position = ParserPosition::Entry;
            self.elements.entry_depth = self.elements.depth;
            (self.current.seen, self.current.latest) = (0, 0);
            self.current.stray_text.clear();
            self.current.entry.line = self.lines.at(token);
            return Ok(());
        }
        if self.root.kind == Some(SitemapKind::Feed) {
            return Ok(());
        }
        if self.is_root_namespace(ns) {
            self.report(&rules::UNKNOWN_ELEMENT, token, quoted(name), out);
            self.skip(ReturnPosition::Root);
            return Ok(());
        }
        if 0 < self.count.urls {
            self.report(&rules::FOREIGN_LATE, token, quoted(name), out);
        }
        let mut attributes = self.attributes(tag, token)?;
        attributes.retain(|(key, _)| key != "xmlns" && !key.starts_with("xmlns:"));
        self.foreign.element = ForeignElement {
            namespace: self.namespaces.uri(ns).to_owned(),
            name: local.to_owned(),
            attributes,
            text: String::new(),
        };
        self.foreign.line = self.lines.at(token);
        self.position = ParserPosition::Foreign;
        self.elements.nested_depth = self.elements.depth;
        Ok(())
    }

    pub(super) fn skip(&mut self, back: ReturnPosition) {
        self.position = ParserPosition::Skip(back);
        self.elements.nested_depth = self.elements.depth;
    }

    pub(super) fn end(
        &mut self,
        name: &str,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        let start = self.elements.starts.pop().unwrap_or(0);
        let opened = self.elements.names.get(start..).unwrap_or_default();
        if self.elements.depth == 0 || opened != name {
            let detail = format!("{} closed by {}", quoted(opened), quoted(name));
            return Err(self.refusal(&rules::MALFORMED_XML, token, detail));
        }
        self.elements.names.truncate(start);
        let depth = self.elements.depth;
        self.elements.depth -= 1;
        match self.position {
            ParserPosition::Field(field) if depth == self.elements.nested_depth => {
                let text = std::mem::take(&mut self.current.text);
                self.end_field(field, &text, token, out);
                self.current.text = text;
                self.position = ParserPosition::Entry;
            }
            ParserPosition::Entry if depth == self.elements.entry_depth => {
                self.end_entry(out);
                self.position = ParserPosition::Root;
            }
            ParserPosition::Capture => {
                // An empty tag was appended already, when its start was processed.
                if token.bytes().starts_with(b"</") {
                    self.append_captured(token, out);
                }
                if depth == self.elements.nested_depth {
                    if self.position == ParserPosition::Capture {
                        self.end_capture(token, out);
                    }
                    self.position = ParserPosition::Entry;
                }
            }
            ParserPosition::Foreign if depth == self.elements.nested_depth => {
                let text = self.foreign.element.text.trim().to_owned();
                let foreign = ForeignElement { text, ..self.foreign.element.clone() };
                out.push_back(ParserOutput::SitemapItem(
                    SitemapItem::Foreign(foreign),
                    self.foreign.line,
                ));
                self.position = ParserPosition::Root;
            }
            ParserPosition::Skip(back) if depth == self.elements.nested_depth => match back {
                ReturnPosition::Root => self.position = ParserPosition::Root,
                ReturnPosition::Entry => self.position = ParserPosition::Entry,
                ReturnPosition::Field(field) => {
                    self.position = ParserPosition::Field(field);
                    self.elements.nested_depth = self.elements.depth;
                }
            },
            ParserPosition::Root if depth == 1 => self.position = ParserPosition::After,
            _ => {}
        }
        self.namespaces.end_element(depth);
        Ok(())
    }

    pub(super) fn text(
        &mut self,
        text: &str,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        let length = match self.position {
            ParserPosition::Field(_) => {
                self.current.text.push_str(text);
                self.current.text.len()
            }
            ParserPosition::Foreign if self.elements.depth == self.elements.nested_depth => {
                self.foreign.element.text.push_str(text);
                self.foreign.element.text.len()
            }
            ParserPosition::Capture => {
                self.append_captured(token, out);
                0
            }
            // Some sitemaps contain the URL directly in the entry, without `loc`.
            ParserPosition::Entry
                if !is_blank(text) && self.current.stray_text.len() <= self.limits.text =>
            {
                self.current.stray_text.push_str(text);
                self.current.stray_text.len()
            }
            ParserPosition::Prolog if is_blank(text) => {
                self.has_blank_start = true;
                0
            }
            ParserPosition::Prolog => {
                return Err(self.refusal(
                    &rules::MALFORMED_XML,
                    token,
                    "text before the root element",
                ));
            }
            _ => 0,
        };
        if self.limits.text < length {
            self.skip_text(token, out);
        }
        Ok(())
    }

    /// Handles a predefined entity or a character reference.
    pub(super) fn reference(
        &mut self,
        name: &BytesRef<'_>,
        token: MarkupToken<'_>,
        out: &mut VecDeque<ParserOutput>,
    ) -> ParseStep {
        let c = match name.resolve_char_ref() {
            Ok(Some(c)) => Some(c),
            Ok(None) => match &**name {
                "amp" => Some('&'),
                "lt" => Some('<'),
                "gt" => Some('>'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                _ => None,
            },
            Err(_) => None,
        };
        let Some(c) = c else {
            let detail = format!("unknown entity {}", quoted(name));
            return Err(self.refusal(&rules::MALFORMED_XML, token, detail));
        };
        self.text(c.encode_utf8(&mut [0; 4]), token, out)
    }
}

fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}
