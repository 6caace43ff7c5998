//! Classifies links that are not content: heading anchors, footnote numbers, links to the source.
//!
//! Input: an `a` element. Output: a [`LinkTarget`]: keep the link, keep only its text, or drop
//! both.

use html5ever::local_name;

use crate::dom::Dom;
use crate::tag::Tag;

/// Classes of links that are not content.
const HANDLES: [&str; 15] = [
    "headerlink",
    "anchor",
    "permalink",
    "header-anchor",
    "hash-link",
    "heading-link",
    "doc-anchor",
    "direct-link",
    "src",
    "srclink",
    "viewcode-link",
    "viewcode-back",
    "view-source",
    "tooltip",
    "anchorjs-link",
];

/// How a link is converted to text.
#[derive(PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// The text and the URL of the link are kept.
    Link,
    /// The text is kept and the URL is dropped: the number of a footnote.
    Words,
    /// Text and URL are dropped: a heading anchor, a link to the source code, a link back from a
    /// footnote.
    Nothing,
}

pub(crate) fn handle(dom: &Dom, at: u32) -> LinkTarget {
    let href = dom.attr(at, &local_name!("href")).unwrap_or("");
    let class = dom.attr(at, &local_name!("class")).unwrap_or("");
    let is_named = class.split_ascii_whitespace().any(|token| HANDLES.contains(&token));
    let is_within = href.starts_with('#');
    if dom.subtree(at).any(|at| matches!(dom.item(at).tag, Tag::Img | Tag::Picture)) {
        return LinkTarget::Link;
    }
    // Some generators put the class on an element inside the link.
    let inner = dom.children(at).find_map(|child| dom.attr(child, &local_name!("class")));
    if inner.is_some_and(|class| class.contains("viewcode-link")) {
        return LinkTarget::Nothing;
    }
    if !is_named && !is_within {
        return LinkTarget::Link;
    }
    let words = dom.words(at);
    let words = words.trim_matches(['[', ']', '(', ')', '\u{fe0e}']);
    let n_chars = words.chars().count();
    let is_symbol = n_chars <= 2 && !words.chars().any(char::is_alphanumeric);
    if is_named && (n_chars <= 2 || matches!(words, "source" | "Source" | "src" | "link" | "Link"))
    {
        return LinkTarget::Nothing;
    }
    if is_within && is_symbol {
        return LinkTarget::Nothing;
    }
    let role = dom.attr(at, &local_name!("role")).unwrap_or("");
    let is_called = ["fn", "ftn", "note", "ref", "cite"].iter().any(|word| href.contains(word))
        || class.contains("footnote")
        || class == "fn-backref"
        || role.starts_with("doc-")
        || dom.ancestors(at).take(3).any(|up| dom.item(up).tag == Tag::Sup);
    let is_footnote = is_called
        && is_within
        && href.starts_with('#')
        && n_chars <= 3
        && (words.chars().all(|c| c.is_ascii_digit()) || n_chars == 1);
    if is_footnote {
        // Links back from a footnote have a letter as text if the footnote is referenced several
        // times.
        let is_back = href.contains("ref") && !words.chars().all(|c| c.is_ascii_digit());
        return if is_back { LinkTarget::Nothing } else { LinkTarget::Words };
    }
    LinkTarget::Link
}
