//! Decides whether a `time` element is about the page: its publication, its
//! last update, or neither.
//!
//! Input: the element in its tree. Decides by the classes around the element
//! and by the words of its line. Rejects times in the running text.

use html5ever::local_name;

use crate::dom::Dom;
use crate::tag::Tag;

/// What a `time` element is about, where that is the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeRole {
    Publication,
    Update,
}

/// Words before the time of the last change.
const UPDATED: [&str; 20] = [
    "updated",
    "update:",
    "modified",
    "last change",
    "changed on",
    "revised",
    "last edited",
    "edited on",
    "last reviewed",
    "aktualisiert",
    "ge\u{e4}ndert",
    "\u{e4}nderung",
    "stand:",
    "mis \u{e0} jour",
    "mise \u{e0} jour",
    "modifi\u{e9}",
    "actualizado",
    "aggiornato",
    "atualizado",
    "bijgewerkt",
];

/// Words that may stand before the time of publication.
const PUBLISHED: [&str; 12] = [
    "published",
    "posted",
    "ver\u{f6}ffentlicht",
    "publi\u{e9}",
    "publicado",
    "pubblicato",
    "gepubliceerd",
    "created on",
    "written on",
    "issued",
    "released on",
    "date published",
];

/// Tells a time that is about the page from one in its text: by the classes
/// around it, and by the line it stands in.
pub(crate) fn role_of_time(dom: &Dom, at: u32) -> Option<TimeRole> {
    // A line about a page is short.
    const MOST_ITEMS: u32 = 24;
    let classes = dom.ancestors(at).take(3).filter_map(|up| dom.attr(up, &local_name!("class")));
    let classes = classes.map(str::to_ascii_lowercase).collect::<Vec<_>>().join(" ");
    let has = |parts: &[&str]| parts.iter().any(|part| classes.contains(part));
    if has(&["updated", "modified", "lastmod", "last-mod", "revised"]) {
        return Some(TimeRole::Update);
    }
    let line = dom.ancestors(at).skip(1).find(|up| dom.item(*up).tag.is_block())?;
    let is_short = dom.item(line).end - line <= MOST_ITEMS;
    // What the line says before the time.
    let mut before = String::new();
    let from = if is_short { line } else { at.saturating_sub(3).max(line) };
    for here in from..at {
        dom.append(here, &mut before);
    }
    let before = before.to_lowercase();
    let tail = before.trim_end_matches([' ', ':', '\u{a0}']);
    let says = |words: &[&str]| {
        words.iter().any(|word| {
            let word = word.trim_end_matches(':');
            tail.rfind(word).is_some_and(|found| tail.len() - found - word.len() <= 12)
        })
    };
    if says(&UPDATED) {
        return Some(TimeRole::Update);
    }
    let is_said = says(&PUBLISHED)
        || has(&["publish", "pubdate", "entry-date", "post-date", "post__date", "article-date"])
        || dom.attribute(at, "pubdate").is_some();
    // A dateline: nothing but a few words beside the time, right at the title.
    let is_dateline = || {
        let words: usize = dom.words(line).split_whitespace().count();
        let is_listed =
            matches!(dom.item(line).tag, Tag::Li | Tag::Td | Tag::Th | Tag::Dd | Tag::Dt);
        is_short && !is_listed && words <= 12 && is_at_title(dom, line)
    };
    (is_said || is_dateline()).then_some(TimeRole::Publication)
}

/// Whether a line follows the title of the page at once, or shares a header
/// with it.
fn is_at_title(dom: &Dom, line: u32) -> bool {
    let is_title = |at: u32| dom.item(at).tag == Tag::H1;
    let near = |at: u32| dom.preceding(at).take(3).any(is_title);
    let header = dom.ancestors(line).take(4).find(|up| dom.item(*up).tag == Tag::Header);
    near(line)
        || dom.ancestors(line).nth(1).is_some_and(near)
        || header.is_some_and(|header| dom.subtree(header).take(200).any(is_title))
}
