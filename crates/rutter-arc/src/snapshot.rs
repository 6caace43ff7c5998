//! The snapshot of an annotated page: its `data-ai-*` attributes in one normal
//! form (vocabulary 1.3), as data and as prose.
//!
//! Elements come from whoever read the page, as a flat [`Document`] in document
//! order; this crate knows no HTML. The snapshot goes into `ai_snapshot`; what
//! is wrong with the annotations goes to a
//! [`FindingSink`].
//!
//! Refuses: to export what stands in a form field, the text of anything whose
//! context is personal, sensitive or financial, and what is hidden.

mod build;
mod names;
mod narrative;

use std::ops::Range;

use rutter_finding::FindingSink;
use rutter_page::{Object, Raw};

use rutter_page::Tree;

/// An annotated page, as far as its snapshot needs it.
#[derive(Debug, Clone, Default)]
pub struct Document<'p> {
    /// Its address.
    pub url: &'p str,
    /// What its `title` element says.
    pub title: Option<&'p str>,
    /// Its own description.
    pub description: Option<&'p str>,
    /// Its language.
    pub language: Option<&'p str>,
    /// Its keywords.
    pub keywords: &'p [String],
    /// The visible text of all of it, white space collapsed.
    pub text: &'p str,
    /// Its elements with `data-ai-*` attributes, in document order.
    pub elements: Vec<Element<'p>>,
}

/// An element with `data-ai-*` attributes.
#[derive(Debug, Clone, Default)]
pub struct Element<'p> {
    /// Its name, such as `input`.
    pub name: &'p str,
    /// How many annotated elements it lies in.
    pub depth: usize,
    /// All its attributes.
    pub attributes: &'p [(String, String)],
    /// What it says, as a range of [`Document::text`].
    pub text: Range<usize>,
    /// Whether it, or what it lies in, is out of sight.
    pub is_hidden: bool,
    /// What its `label` element says.
    pub label: Option<&'p str>,
    /// Where its `href` or `src` leads, as an absolute address.
    pub target: Option<&'p str>,
}

impl<'p> Element<'p> {
    fn attribute(&self, name: &str) -> Option<&'p str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A snapshot in normal form.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    tree: Tree,
    needs_auth: bool,
}

impl Snapshot {
    /// The snapshot as one line of JSON.
    pub fn to_json(&self) -> String {
        self.tree.to_json()
    }

    /// The snapshot as JSON over several lines.
    pub fn to_pretty(&self) -> String {
        let mut out = String::new();
        self.tree.to_pretty(0, &mut out);
        out.push('\n');
        out
    }

    /// The snapshot as it stands in an entry.
    pub fn to_object(&self) -> Option<Object<'static>> {
        Object::new(Raw::parse(&self.to_json()).ok()?)
    }

    /// The same as prose, which names every part, field and action.
    pub fn narrative(&self) -> String {
        narrative::narrate(&self.tree)
    }

    /// The summary, for `ai_summary` (E.10).
    pub fn summary(&self) -> Option<&str> {
        self.tree.get("summary").and_then(Tree::as_str)
    }

    /// The tags, for `ai_tags` (E.10).
    pub fn tags(&self) -> Vec<&str> {
        let tags = self.tree.get("tags").map_or(&[][..], Tree::items);
        tags.iter().filter_map(Tree::as_str).collect()
    }

    /// The kinds of sensitive data the page has, sorted (D59).
    pub fn contexts(&self) -> Vec<&str> {
        let words = self.tree.get("ai_context").map_or(&[][..], Tree::items);
        words.iter().filter_map(Tree::as_str).collect()
    }

    /// Tells whether something on the page is marked `sensitive`: the entry is
    /// then to be handled as one that needs a login, unless its owner has
    /// approved it (D59).
    pub fn needs_auth(&self) -> bool {
        self.needs_auth
    }
}

/// A snapshot that somebody else made as prose; `None` where it says nothing.
pub fn narrative(snapshot: &Object<'_>) -> Option<String> {
    let text = narrative::narrate(&Tree::parse(snapshot.get())?);
    (!text.trim().is_empty()).then_some(text)
}

/// Makes the snapshot of a page; `None` where nothing on it is annotated.
///
/// ```
/// use rutter_arc::snapshot::{Document, Element, snapshot};
///
/// let page = [("data-ai-page".to_owned(), "tides".to_owned())];
/// let heading = [("data-ai-heading".to_owned(), "title".to_owned())];
/// let document = Document {
///     url: "https://harbour.example/tides",
///     text: "Tides",
///     elements: vec![
///         Element { name: "body", attributes: &page, text: 0..5, ..Element::default() },
///         Element { name: "h1", depth: 1, attributes: &heading, text: 0..5, ..Element::default() },
///     ],
///     ..Document::default()
/// };
/// let snapshot = snapshot(&document, &mut ()).unwrap();
/// assert!(snapshot.to_json().starts_with(r#"{"page":"tides""#));
/// assert!(snapshot.to_json().contains(r#""title":"Tides""#));
/// ```
pub fn snapshot(document: &Document<'_>, sink: &mut dyn FindingSink) -> Option<Snapshot> {
    build::build(document, sink).map(|(tree, needs_auth)| Snapshot { tree, needs_auth })
}

/// Tells whether a context marks something to be treated with care.
pub(crate) fn is_sensitive(context: &str) -> bool {
    names::sensitive_words(context).next().is_some()
}
