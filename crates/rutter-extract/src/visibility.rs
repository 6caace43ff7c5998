//! Decides which elements are hidden, from the attributes of the page alone.
//!
//! Input: an element of a [`Dom`]. Output: whether its text is hidden. Style sheets and scripts
//! are not evaluated. Text that one click or the page's own script shows is visible: tab panels,
//! panels of a disclosure, and parts that React streams in behind the page.

use html5ever::local_name;

use crate::dom::Dom;
use crate::hint::{self, ElementHints};
use crate::tag::Tag;

/// Maximum number of items of an `aria-hidden` element that are searched for text blocks.
const MOST_ITEMS: u32 = 128;
/// Hints of menus and of boxes that open over the page.
const OVERLAYS: ElementHints = ElementHints::NOTICE
    .with(ElementHints::NAV)
    .with(ElementHints::SEARCH)
    .with(ElementHints::AD)
    .with(ElementHints::SHARE)
    .with(ElementHints::SLIDES)
    .with(ElementHints::FOOT);

/// Returns whether an element is hidden from readers, or marked by its author as not to be read by
/// programs.
pub(crate) fn is_hidden(dom: &Dom, at: u32) -> bool {
    let (mut is_out, mut is_marked_decoration) = (false, false);
    for (name, value) in dom.atoms(at) {
        match *name {
            local_name!("hidden") => is_out |= is_hidden_value(value),
            local_name!("style") => is_out |= is_style_hidden(value),
            local_name!("aria-hidden") => {
                is_marked_decoration = value.eq_ignore_ascii_case("true");
            }
            _ if dom.is_marked => {
                if matches!(
                    &**name,
                    "data-markdown-ignore" | "data-pagefind-ignore" | "data-nosnippet"
                ) {
                    return true;
                }
            }
            _ => {}
        }
    }
    if is_out {
        return !is_shown_later(dom, at);
    }
    // `aria-hidden` hides an element from screen readers only, so text blocks in it are visible.
    is_marked_decoration && (is_overlay(dom, at) || !has_text_blocks(dom, at) || is_copy(dom, at))
}

/// Returns whether browsers do not show an element before a click, judged by its own attributes and
/// without style sheets. Text that its author only hides from programs is shown.
pub(crate) fn is_unrendered(dom: &Dom, at: u32) -> bool {
    let is_out = dom.atoms(at).any(|(name, value)| match *name {
        local_name!("hidden") => is_hidden_value(value),
        local_name!("style") => is_style_hidden(value),
        _ => false,
    });
    is_out && !is_shown_later(dom, at)
}

/// Browsers show text with `hidden="until-found"` when a search in the page finds it.
fn is_hidden_value(value: &str) -> bool {
    !value.eq_ignore_ascii_case("until-found")
}

/// Returns whether a click or the page's own script shows a hidden element.
fn is_shown_later(dom: &Dom, at: u32) -> bool {
    if is_panel(dom, at) {
        return true;
    }
    // A folded element can be around the panel of an accordion.
    let mut inside = dom.children(at).filter(|child| dom.item(*child).tag != Tag::Text);
    if inside.next().is_some_and(|child| is_panel(dom, child)) && inside.next().is_none() {
        return true;
    }
    let Some(id) = dom.attr(at, &local_name!("id")) else { return false };
    is_streamed(dom, at)
        || (dom.is_controlled(id) && !is_overlay(dom, at) && has_text_blocks(dom, at))
}

/// Returns whether an element is the panel of a tab, or a region with a label.
fn is_panel(dom: &Dom, at: u32) -> bool {
    match dom.attr(at, &local_name!("role")).map(str::trim) {
        Some("tabpanel") => true,
        Some("region") => dom.attribute(at, "aria-labelledby").is_some() && !is_overlay(dom, at),
        _ => false,
    }
}

/// Returns whether an element is a menu or a box that opens over the page.
fn is_overlay(dom: &Dom, at: u32) -> bool {
    if matches!(dom.item(at).tag, Tag::Nav | Tag::Header | Tag::Footer | Tag::Form) {
        return true;
    }
    dom.atoms(at).any(|(name, value)| match *name {
        local_name!("id") | local_name!("class") => hint::of_names(value).has(OVERLAYS),
        local_name!("role") => {
            !matches!(value.trim(), "" | "main" | "region" | "group" | "tabpanel" | "presentation")
        }
        _ => &**name == "aria-modal",
    })
}

/// Returns whether an element is a part that React streamed in, at its place after its placeholder
/// (see [`streamed`](crate::streamed)): `<div hidden id="S:0">`.
pub(crate) fn is_streamed(dom: &Dom, at: u32) -> bool {
    let number = dom.attr(at, &local_name!("id")).and_then(|id| id.strip_prefix("S:"));
    dom.item(at).tag == Tag::Div
        && number.is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_hexdigit()))
        && dom.preceding(at).next().is_some_and(|before| dom.item(before).tag == Tag::Template)
}

/// Returns whether an element begins with the same text as a sibling before it. Carousels repeat
/// their first slides after the last one.
fn is_copy(dom: &Dom, at: u32) -> bool {
    const MOST_SIBLINGS: usize = 16;
    let own = start(dom, at);
    !own.is_empty()
        && dom
            .preceding(at)
            .filter(|before| dom.item(*before).tag != Tag::Text)
            .take(MOST_SIBLINGS)
            .any(|before| start(dom, before) == own)
}

/// Returns the first characters of an element.
fn start(dom: &Dom, at: u32) -> String {
    const LONGEST: usize = 200;
    let end = dom.item(at).end.min(at + MOST_ITEMS);
    let mut text = String::new();
    for here in at..end {
        dom.append_text(here, &mut text);
        if LONGEST < text.len() {
            break;
        }
    }
    text
}

/// Returns whether an element contains paragraphs, headings, definitions or a table.
fn has_text_blocks(dom: &Dom, at: u32) -> bool {
    let end = dom.item(at).end.min(at + MOST_ITEMS);
    (at + 1..end).any(|here| {
        let tag = dom.item(here).tag;
        tag == Tag::P || tag == Tag::Dd || tag == Tag::Table || tag.heading().is_some()
    })
}

fn is_style_hidden(style: &str) -> bool {
    if style.len() < 11 {
        return false;
    }
    style.split(';').any(|rule| {
        let Some((name, value)) = rule.split_once(':') else { return false };
        let (name, value) = (name.trim(), value.trim());
        let starts = |start: &str| {
            value.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
        };
        (name.eq_ignore_ascii_case("display") && starts("none"))
            || (name.eq_ignore_ascii_case("visibility") && starts("hidden"))
    })
}
