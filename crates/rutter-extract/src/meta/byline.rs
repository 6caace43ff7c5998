//! Recognizes bylines by the classes of elements, and reads the author's name from them.

use crate::dom::Dom;

pub(super) fn is_byline(class: &str) -> bool {
    class.len() < 60
        && class.split_ascii_whitespace().any(|token| {
            token.ends_with("byline")
                || matches!(
                    token,
                    "byline"
                        | "author"
                        | "p-author"
                        | "author-name"
                        | "byline__name"
                        | "byline__author"
                        | "entry-author"
                        | "post-author"
                        | "article-author"
                        | "article__author"
                )
        })
}

/// Returns the author's name in an element about the author.
pub(super) fn author_in(dom: &Dom, at: u32) -> String {
    let name = dom.subtree(at).find(|at| dom.attribute(*at, "itemprop") == Some("name"));
    if let Some(name) = name {
        return dom.attribute(name, "content").map_or_else(|| dom.words(name), str::to_owned);
    }
    match dom.attribute(at, "content") {
        Some(content) => content.to_owned(),
        None => dom.words(at),
    }
}

/// Returns the name in a byline, which may also contain a date or a role.
pub(super) fn only_name(byline: &str) -> String {
    let is_end = |c: char| c.is_ascii_digit() || "\u{2022}|\u{b7}/\n".contains(c);
    let name = byline.split(is_end).next().unwrap_or("").trim();
    let n_words = name.split_whitespace().count();
    if n_words <= 8 { name.to_owned() } else { String::new() }
}

/// Returns a byline without a first word such as "By".
pub(super) fn without_by(name: &str) -> String {
    let name = name.trim();
    for by in ["By ", "by ", "BY ", "Von ", "von ", "Por ", "por ", "Par ", "par "] {
        if let Some(rest) = name.strip_prefix(by) {
            return rest.trim().to_owned();
        }
    }
    name.trim_end_matches([',', '|', '\u{b7}']).trim().to_owned()
}
