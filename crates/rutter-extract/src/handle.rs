//! Links that are not quite links: handles of headings, numbers of footnotes,
//! ways to the source and back.

use html5ever::local_name;

use crate::dom::Dom;
use crate::tag::Tag;

/// Classes of links that belong to the page's furniture.
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

/// What a link that is not quite a link is.
#[derive(PartialEq, Eq)]
pub(crate) enum Handle {
    /// It leads somewhere.
    Link,
    /// Its words count, its target does not: the number of a footnote.
    Words,
    /// The handle of a heading, the way to the source, the way back.
    Nothing,
}

pub(crate) fn handle(dom: &Dom, at: u32) -> Handle {
    let href = dom.attr(at, &local_name!("href")).unwrap_or("");
    let class = dom.attr(at, &local_name!("class")).unwrap_or("");
    let is_named = class.split_ascii_whitespace().any(|token| HANDLES.contains(&token));
    let is_within = href.starts_with('#');
    if dom.subtree(at).any(|at| matches!(dom.item(at).tag, Tag::Img | Tag::Picture)) {
        return Handle::Link;
    }
    // Some name the words inside.
    let inner = dom.children(at).find_map(|child| dom.attr(child, &local_name!("class")));
    if inner.is_some_and(|class| class.contains("viewcode-link")) {
        return Handle::Nothing;
    }
    if !is_named && !is_within {
        return Handle::Link;
    }
    let words = dom.words(at);
    let words = words.trim_matches(['[', ']', '(', ')', '\u{fe0e}']);
    let n_chars = words.chars().count();
    let is_symbol = n_chars <= 2 && !words.chars().any(char::is_alphanumeric);
    if is_named && (n_chars <= 2 || matches!(words, "source" | "Source" | "src" | "link" | "Link"))
    {
        return Handle::Nothing;
    }
    if is_within && is_symbol {
        return Handle::Nothing;
    }
    let role = dom.attr(at, &local_name!("role")).unwrap_or("");
    let is_called = ["fn", "ftn", "note", "ref", "cite"].iter().any(|word| href.contains(word))
        || class.contains("footnote")
        || role.starts_with("doc-")
        || dom.ancestors(at).take(3).any(|up| dom.item(up).tag == Tag::Sup);
    let is_footnote = is_called
        && is_within
        && href.starts_with('#')
        && n_chars <= 3
        && (words.chars().all(|c| c.is_ascii_digit()) || n_chars == 1);
    if is_footnote {
        // The letters of the ways back to where a note is called.
        let is_back = href.contains("ref") && !words.chars().all(|c| c.is_ascii_digit());
        return if is_back { Handle::Nothing } else { Handle::Words };
    }
    Handle::Link
}
