//! Recognises admonitions (notes, warnings, tips) in the markup of documentation generators.
//!
//! Input: an element. Output: the kind of the admonition, its title and its body.
//! Rejects elements whose classes or roles name no known kind.

use html5ever::local_name;

use crate::dom::Dom;
use crate::survey::PageSurvey;
use crate::tag::Tag;

/// Kinds of admonitions, which are also their class names.
const KINDS: &[&str] = &[
    "warning",
    "caution",
    "danger",
    "important",
    "attention",
    "error",
    "tip",
    "hint",
    "info",
    "note",
    "seealso",
    "success",
    "question",
    "example",
    "abstract",
    "todo",
    "deprecated",
    "failure",
    "bug",
    "quote",
];

/// Returns the kind of an admonition; `None` if the element is not an admonition.
pub(crate) fn kind(dom: &Dom, survey: &PageSurvey, at: u32) -> Option<String> {
    let class = dom.attr(at, &local_name!("class"))?;
    if !matches!(
        dom.item(at).tag,
        Tag::Div
            | Tag::Aside
            | Tag::Section
            | Tag::Details
            | Tag::Blockquote
            | Tag::P
            | Tag::Article
    ) {
        return None;
    }
    let is_marked = class.split_ascii_whitespace().any(|token| {
        matches!(
            token,
            "admonition"
                | "admonitionblock"
                | "theme-admonition"
                | "custom-block"
                | "markdown-alert"
                | "callout"
                | "alert"
                | "notice"
                | "message-box"
                | "starlight-aside"
        ) || token.starts_with("markdown-alert-")
    });
    // These classes are also used for other elements, so they count only on a short element.
    let is_bare = |token: &str| {
        matches!(
            token,
            "note"
                | "warning"
                | "tip"
                | "caution"
                | "important"
                | "danger"
                | "seealso"
                | "blockquote-tag"
        )
    };
    let is_small = || survey.sum(dom, at).chars < 3000;
    let is_box = is_marked || (class.split_ascii_whitespace().any(is_bare) && is_small());
    if !is_box {
        return None;
    }
    let mut found = None;
    for token in class.split_ascii_whitespace() {
        let token = token.to_ascii_lowercase();
        for kind in KINDS {
            let is_kind =
                token == *kind || token.strip_suffix(kind).is_some_and(|head| head.ends_with('-'));
            if is_kind {
                found = found.or(Some(*kind));
            }
        }
    }
    // An alert without a known kind is a box of the site's own design.
    let is_alert =
        class.split_ascii_whitespace().any(|token| token == "alert" || token == "notice");
    match found {
        Some(kind) => Some(kind.to_owned()),
        None if is_alert => None,
        None => Some("note".to_owned()),
    }
}

/// Returns the element that holds the title of an admonition. Elements for which `is_skipped` is
/// true, such as captions of code, are not titles.
pub(crate) fn title(dom: &Dom, note: u32, is_skipped: impl Fn(u32) -> bool) -> Option<u32> {
    let is_own = |at: u32| {
        let mut inside = dom.ancestors(at).take_while(|up| *up != note);
        !inside.any(&is_skipped)
    };
    dom.subtree(note).skip(1).take(24).find(|at| is_title(dom, *at) && is_own(*at))
}

fn is_title(dom: &Dom, at: u32) -> bool {
    let item = dom.item(at);
    if item.tag == Tag::Text {
        return false;
    }
    let class = dom.attr(at, &local_name!("class")).unwrap_or("");
    item.tag == Tag::Summary
        || class.split_ascii_whitespace().any(|token| {
            let token = token.to_ascii_lowercase();
            token == "title"
                || token.ends_with("-title")
                || token.contains("admonitionheading")
                || token.ends_with("__title")
        })
}

/// Returns the cell with the text of an admonition that is written as a table.
pub(crate) fn body(dom: &Dom, at: u32) -> Option<u32> {
    let table = dom.children(at).find(|child| dom.item(*child).tag == Tag::Table)?;
    dom.subtree(table).find(|at| {
        dom.item(*at).tag == Tag::Td
            && dom.attr(*at, &local_name!("class")).is_some_and(|class| class.contains("content"))
    })
}

/// Returns the display name of a kind, for admonitions without a title.
pub(crate) fn name(kind: &str) -> String {
    if kind == "seealso" {
        return "See also".to_owned();
    }
    let mut name = kind.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    name
}

/// Returns the title of an admonition, preceded by the kind if the title does not contain it.
pub(crate) fn label(kind: &str, title: &str) -> String {
    let title = title.trim().trim_end_matches(':');
    let lower = title.to_lowercase();
    let names_kind = lower.split(|c: char| !c.is_alphanumeric()).any(|word| KINDS.contains(&word));
    if names_kind || lower == "see also" {
        return if lower == kind { name(kind) } else { title.to_owned() };
    }
    format!("{}: {title}", name(kind))
}
