//! Collects the metadata of a page: all statements of its elements, in document order.
//!
//! Input: the tree. Output: [`FoundMetadata`], whose methods choose between the sources of a value
//! (`meta/choose.rs`).

mod byline;
mod choose;

use html5ever::local_name;

use crate::date;
use crate::dom::Dom;
use crate::facts::HeadLink;
use crate::json_ld::JsonLd;
use crate::meta::byline::{author_in, is_byline};
use crate::tag::Tag;
use crate::time_role::{TimeRole, is_bare_date, is_date_class, is_in_comment, role_of_time};

/// The metadata in the `meta`, `link` and `script` elements and in the body of a page.
#[derive(Debug, Default)]
// More than 12 fields: one field per kind of statement.
pub(crate) struct FoundMetadata {
    /// Names (in lower case) and values of the `meta` elements, in document order.
    pub(crate) metas: Vec<(String, String)>,
    pub(crate) links: Vec<HeadLink>,
    pub(crate) json_ld: Vec<JsonLd>,
    pub(crate) title: Option<String>,
    pub(crate) base: Option<String>,
    pub(crate) lang: Option<String>,
    /// The first headings of level 1 and 2.
    pub(crate) headings: Vec<String>,
    /// Kinds and values of `itemprop` and `rel` attributes in the body.
    props: Vec<(&'static str, String)>,
    /// Number of entries of `props` before the first `h1`.
    n_before: usize,
    /// Number of elements that were examined as authors or dates.
    n_tried: usize,
    times: Vec<String>,
    /// Number of `time` elements that were examined.
    n_times: usize,
    /// Number of JSON-LD blocks that could not be parsed.
    pub(crate) n_broken: usize,
}

impl FoundMetadata {
    pub(crate) fn of(dom: &Dom, most_json: usize) -> Self {
        let mut found = Self::default();
        // Consecutive elements often have the same class.
        let mut last_class = ("", MetadataClass::Other);
        let mut at = 0;
        while at < dom.len() {
            let item = dom.item(at);
            if item.tag == Tag::Text {
                at += 1;
                continue;
            }
            match item.tag {
                // Most elements have no metadata, so this case comes first.
                tag if !says_something(tag) => {}
                Tag::Html => {
                    found.lang = dom
                        .attr(at, &local_name!("lang"))
                        .or_else(|| dom.attribute(at, "xml:lang"))
                        .map(str::to_owned);
                }
                Tag::Title if found.title.is_none() => {
                    found.title = Some(dom.words(at)).filter(|title| !title.is_empty());
                }
                Tag::Base if found.base.is_none() => {
                    found.base = dom.attr(at, &local_name!("href")).map(str::to_owned);
                }
                Tag::Meta => found.meta(dom, at),
                Tag::Link => found.link(dom, at),
                Tag::Script => {
                    found.script(dom, at, most_json);
                    at = item.end;
                    continue;
                }
                Tag::Style | Tag::Svg => {
                    at = item.end;
                    continue;
                }
                Tag::H1 | Tag::H2 if found.headings.len() < 6 => {
                    if item.tag == Tag::H1 && found.n_before == 0 {
                        found.n_before = found.props.len();
                    }
                    found
                        .headings
                        .extend(Some(dom.words(at)).filter(|heading| !heading.is_empty()));
                }
                Tag::Time if found.n_times < 32 => {
                    found.n_times += 1;
                    let value = time_value(dom, at);
                    match role_of_time(dom, at) {
                        Some(TimeRole::Update) => found.props.push(("modified", value)),
                        Some(TimeRole::Publication) => found.times.push(value),
                        None => {}
                    }
                }
                _ => {}
            }
            if found.props.len() < 64 && found.n_tried < 256 {
                found.prop(dom, at, &mut last_class);
            }
            at += 1;
        }
        found
    }

    fn meta(&mut self, dom: &Dom, at: u32) {
        let names = ["name", "property", "http-equiv", "itemprop"];
        let name = names.iter().find_map(|name| dom.attribute(at, name));
        let content = dom.attr(at, &local_name!("content"));
        if let (Some(name), Some(content)) = (name, content) {
            let content = content.split_whitespace().collect::<Vec<_>>().join(" ");
            // One `meta` element may have several names; `dc:title` is stored as `dc.title`.
            for name in name.split_ascii_whitespace() {
                if !content.is_empty() && self.metas.len() < 1000 {
                    let name = name.to_ascii_lowercase();
                    let name =
                        name.strip_prefix("dc:").map(|rest| format!("dc.{rest}")).unwrap_or(name);
                    let name = name
                        .strip_prefix("dcterms:")
                        .map(|rest| format!("dcterms.{rest}"))
                        .unwrap_or(name);
                    self.metas.push((name, content.clone()));
                }
            }
        }
    }

    fn link(&mut self, dom: &Dom, at: u32) {
        let (Some(rel), Some(href)) =
            (dom.attr(at, &local_name!("rel")), dom.attr(at, &local_name!("href")))
        else {
            return;
        };
        let own = |name: &str| dom.attribute(at, name).map(|value| value.trim().to_owned());
        if self.links.len() < 1000 {
            self.links.push(HeadLink {
                rel: rel.to_ascii_lowercase(),
                href: href.to_owned(),
                hreflang: own("hreflang"),
                media_type: own("type"),
                title: own("title"),
            });
        }
    }

    fn script(&mut self, dom: &Dom, at: u32, most: usize) {
        let kind = dom.attr(at, &local_name!("type")).unwrap_or("");
        if !kind.trim().to_ascii_lowercase().starts_with("application/ld+json")
            || 64 <= self.json_ld.len()
        {
            return;
        }
        let source: String = dom.subtree(at).skip(1).map(|at| dom.text(at)).collect();
        match JsonLd::parse(&source, most) {
            Some(block) => self.json_ld.push(block),
            None if source.trim().is_empty() => {}
            None => self.n_broken += 1,
        }
    }

    fn prop<'d>(&mut self, dom: &'d Dom, at: u32, last_class: &mut (&'d str, MetadataClass)) {
        for (name, value) in dom.atoms(at) {
            let kind = match *name {
                local_name!("itemprop") => match value.split_ascii_whitespace().next() {
                    Some("author") => "author",
                    Some("datePublished") => "published",
                    Some("dateModified") => "modified",
                    _ => continue,
                },
                local_name!("rel") if value == "author" && dom.item(at).tag == Tag::A => "author",
                local_name!("class") => {
                    if last_class.0 != value {
                        *last_class = (value, MetadataClass::of(value));
                    }
                    match last_class.1 {
                        MetadataClass::Other => continue,
                        MetadataClass::Byline => "byline",
                        MetadataClass::Date => {
                            self.n_tried += 1;
                            self.dated(dom, at);
                            continue;
                        }
                    }
                }
                _ => continue,
            };
            self.n_tried += 1;
            if kind != "author" && kind != "byline" && is_in_comment(dom, at) {
                continue;
            }
            let value = match kind {
                "published" | "modified" => dom
                    .attribute(at, "content")
                    .or_else(|| dom.attribute(at, "datetime"))
                    .map_or_else(|| dom.words(at), str::to_owned),
                _ => author_in(dom, at),
            };
            if !value.is_empty() && value.len() < 200 {
                self.props.push((kind, value));
            }
        }
    }

    /// Reads the date of an element whose class names a date, but which is not a `time` element.
    fn dated(&mut self, dom: &Dom, at: u32) {
        // A larger element is a list of dates or a part of the page.
        const MOST_ITEMS: u32 = 12;
        let is_small = dom.item(at).end - at <= MOST_ITEMS;
        // An element inside this one is more specific.
        let is_other = |inside: u32| {
            dom.item(inside).tag == Tag::Time
                || dom.attr(inside, &local_name!("class")).is_some_and(is_date_class)
        };
        if !is_small || dom.subtree(at).skip(1).any(is_other) || dom.item(at).tag == Tag::Time {
            return;
        }
        let text = dom.words(at);
        if !is_bare_date(&text) || date::parse(&text).is_none() {
            return;
        }
        match role_of_time(dom, at) {
            Some(TimeRole::Update) => self.props.push(("modified", text)),
            Some(TimeRole::Publication) => self.times.push(text),
            None => {}
        }
    }
}

/// Returns the date of a `time` element; an empty text if its visible text shows another day.
fn time_value(dom: &Dom, at: u32) -> String {
    let shown = dom.words(at);
    let Some(stated) = dom.attribute(at, "datetime") else { return shown };
    let other = date::parse(&shown).filter(|_| is_bare_date(&shown));
    match (date::parse(stated), other) {
        (Some(stated), Some(shown)) if 86_400 * 2 < stated.seconds_since(shown).abs() => {
            String::new()
        }
        _ => stated.to_owned(),
    }
}

/// The kind of metadata that the class of an element indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MetadataClass {
    Other,
    Byline,
    Date,
}

impl MetadataClass {
    fn of(class: &str) -> Self {
        if is_byline(class) {
            Self::Byline
        } else if is_date_class(class) {
            Self::Date
        } else {
            Self::Other
        }
    }
}

/// Returns whether an element with this tag can hold metadata of the page.
fn says_something(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Html
            | Tag::Title
            | Tag::Base
            | Tag::Meta
            | Tag::Link
            | Tag::Script
            | Tag::Style
            | Tag::Svg
            | Tag::H1
            | Tag::H2
            | Tag::Time
    )
}
