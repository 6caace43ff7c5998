//! Snapshot of an annotated page: its `data-ai-*` attributes in normal form, as data and as prose.
//!
//! Input: a flat list of elements in document order ([`AnnotatedPage`]); this module does not
//! parse HTML. Output: an [`ArcSnapshot`] for `ai_snapshot`, and findings about the annotations.
//!
//! Never exports values of form fields, text in a personal, sensitive or financial context, or
//! hidden elements.

mod annotations;
mod build;
mod exported_text;
mod members;
mod names;
mod narrative;
mod part_tree;

use std::ops::Range;

use rutter_finding::FindingSink;
use rutter_page::{RawJson, RawObject};

use rutter_page::JsonTree;

/// The data of a page that its snapshot needs.
#[derive(Debug, Clone, Default)]
pub struct AnnotatedPage<'p> {
    /// URL of the page.
    pub url: &'p str,
    /// Text of the `title` element.
    pub title: Option<&'p str>,
    /// Description of the page.
    pub description: Option<&'p str>,
    /// Language of the page.
    pub language: Option<&'p str>,
    /// Keywords of the page.
    pub keywords: &'p [String],
    /// All visible text with collapsed white space.
    pub text: &'p str,
    /// Elements with `data-ai-*` attributes, in document order.
    pub elements: Vec<AnnotatedElement<'p>>,
}

/// An element with `data-ai-*` attributes.
#[derive(Debug, Clone, Default)]
pub struct AnnotatedElement<'p> {
    /// Name of the element, such as `input`.
    pub name: &'p str,
    /// Number of annotated elements around it.
    pub depth: usize,
    /// All attributes of the element.
    pub attributes: &'p [(String, String)],
    /// Text of the element, as a range of [`AnnotatedPage::text`].
    pub text: Range<usize>,
    /// Whether the element or one around it is hidden.
    pub is_hidden: bool,
    /// Text of its `label` element.
    pub label: Option<&'p str>,
    /// Target of `href` or `src`, as an absolute URL.
    pub target: Option<&'p str>,
}

impl<'p> AnnotatedElement<'p> {
    fn attribute(&self, name: &str) -> Option<&'p str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A snapshot in normal form.
#[derive(Debug, Clone, PartialEq)]
pub struct ArcSnapshot {
    tree: JsonTree,
    needs_auth: bool,
}

impl ArcSnapshot {
    /// Returns the snapshot as one line of JSON.
    pub fn to_json(&self) -> String {
        self.tree.to_json()
    }

    /// Returns the snapshot as indented JSON.
    pub fn to_pretty(&self) -> String {
        let mut out = String::new();
        self.tree.to_pretty(0, &mut out);
        out.push('\n');
        out
    }

    /// Returns the snapshot as a JSON object for an entry.
    pub fn to_object(&self) -> Option<RawObject<'static>> {
        RawObject::new(RawJson::parse(&self.to_json()).ok()?)
    }

    /// Returns the snapshot as prose that names every part, field and action of the page.
    pub fn narrative(&self) -> String {
        narrative::narrate(&self.tree)
    }

    /// Returns the summary of the page, for `ai_summary` (E.10).
    pub fn summary(&self) -> Option<&str> {
        self.tree.get("summary").and_then(JsonTree::as_str)
    }

    /// Returns the tags of the page, for `ai_tags` (E.10).
    pub fn tags(&self) -> Vec<&str> {
        let tags = self.tree.get("tags").map_or(&[][..], JsonTree::items);
        tags.iter().filter_map(JsonTree::as_str).collect()
    }

    /// Returns the kinds of sensitive data on the page, sorted (D59).
    pub fn contexts(&self) -> Vec<&str> {
        let words = self.tree.get("ai_context").map_or(&[][..], JsonTree::items);
        words.iter().filter_map(JsonTree::as_str).collect()
    }

    /// Returns whether a part of the page is marked `sensitive`. The page is then treated as one
    /// that needs a login, unless its owner has approved it (D59).
    pub fn needs_auth(&self) -> bool {
        self.needs_auth
    }
}

/// Returns a snapshot that was read from a sitemap as prose; `None` if the snapshot is empty.
pub fn narrative(snapshot: &RawObject<'_>) -> Option<String> {
    let text = narrative::narrate(&JsonTree::parse(snapshot.get())?);
    (!text.trim().is_empty()).then_some(text)
}

/// Extracts the snapshot of a page. Returns `None` if no element of the page is annotated.
///
/// ```
/// use rutter_arc::snapshot::{AnnotatedPage, AnnotatedElement, snapshot};
///
/// let page = [("data-ai-page".to_owned(), "tides".to_owned())];
/// let heading = [("data-ai-heading".to_owned(), "title".to_owned())];
/// let document = AnnotatedPage {
///     url: "https://harbour.example/tides",
///     text: "Tides",
///     elements: vec![
///         AnnotatedElement {
///             name: "body",
///             attributes: &page,
///             text: 0..5,
///             ..AnnotatedElement::default()
///         },
///         AnnotatedElement {
///             name: "h1",
///             depth: 1,
///             attributes: &heading,
///             text: 0..5,
///             ..AnnotatedElement::default()
///         },
///     ],
///     ..AnnotatedPage::default()
/// };
/// let snapshot = snapshot(&document, &mut ()).unwrap();
/// assert!(snapshot.to_json().starts_with(r#"{"page":"tides""#));
/// assert!(snapshot.to_json().contains(r#""title":"Tides""#));
/// ```
pub fn snapshot(document: &AnnotatedPage<'_>, sink: &mut dyn FindingSink) -> Option<ArcSnapshot> {
    build::build(document, sink).map(|(tree, needs_auth)| ArcSnapshot { tree, needs_auth })
}

/// Returns whether a context marks sensitive data.
pub(crate) fn is_sensitive(context: &str) -> bool {
    names::sensitive_words(context).next().is_some()
}
