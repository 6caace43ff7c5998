//! Decides whether a date in the body is the publication date of the page, its last update, or
//! neither.
//!
//! Input: a `time` element, or one whose class says that it holds a date. Output: its
//! [`TimeRole`]. Uses the classes around the element and the text of its line. Rejects dates in
//! running text, of comments, events, memberships and copyright lines, in menus, side boxes and
//! boxes about other pages. In the footer of an article or of the site, only dates that are
//! labelled as the last update are accepted.

use html5ever::local_name;

use crate::dom::Dom;
use crate::tag::Tag;

/// The role of a date that belongs to the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeRole {
    Publication,
    Update,
}

/// Words before the time of the last update.
const UPDATED: [&str; 26] = [
    "updated",
    "update:",
    "modified",
    "last change",
    "last changed",
    "changed on",
    "revised",
    "last edited",
    "edited on",
    "last reviewed",
    "aktualisiert",
    "ge\u{e4}ndert",
    "\u{e4}nderung",
    "\u{e4}nderungsdatum",
    "stand:",
    "mis \u{e0} jour",
    "mise \u{e0} jour",
    "modifi\u{e9}",
    "modifi\u{e9}e",
    "actualizado",
    "actualizada",
    "aggiornato",
    "aggiornata",
    "atualizado",
    "atualizada",
    "bijgewerkt",
];

/// Words that may stand before the time of publication.
const PUBLISHED: [&str; 17] = [
    "asked",
    "submitted",
    "published",
    "posted",
    "ver\u{f6}ffentlicht",
    "publi\u{e9}",
    "publi\u{e9}e",
    "publicado",
    "publicada",
    "pubblicato",
    "pubblicata",
    "gepubliceerd",
    "created on",
    "written on",
    "issued",
    "released on",
    "date published",
];

/// Words for the page itself, as in `Page last changed` in the footer of a site.
const PAGE: [&str; 7] =
    ["article", "document", "page", "pagina", "p\u{e1}gina", "seite", "artikel"];

/// Text before a time that is neither the publication nor an update of the page.
const OTHERS: [&str; 17] = [
    "\u{a9}",
    "(c)",
    "born",
    "built",
    "community for",
    "copyright",
    "deadline",
    "due",
    "ends",
    "event",
    "events",
    "expires",
    "generated",
    "joined",
    "since",
    "starts",
    "valid",
];

/// Names of elements that hold comments, answers and reviews.
const COMMENTS: [&str; 7] =
    ["comment", "reply", "replies", "answer", "review", "response", "disqus"];

/// Returns whether an element is part of the comments of readers.
pub(crate) fn is_in_comment(dom: &Dom, at: u32) -> bool {
    dom.ancestors(at).any(|up| {
        !matches!(dom.item(up).tag, Tag::Body | Tag::Html)
            && dom.atoms(up).any(|(name, value)| match *name {
                local_name!("class") | local_name!("id") => {
                    value.len() < 300 && value.split_ascii_whitespace().any(is_comment_name)
                }
                local_name!("itemprop") => is_comment_name(value) || value.ends_with("Answer"),
                local_name!("itemtype") => ["/Comment", "/Answer", "/Review", "/UserComments"]
                    .iter()
                    .any(|kind| value.ends_with(kind)),
                _ => false,
            })
    })
}

/// Returns whether a class or id names comments: `comment`, `comments-area`, `review_body`, but not
/// `reviewed-by`.
fn is_comment_name(token: &str) -> bool {
    let token = token.to_ascii_lowercase();
    COMMENTS.iter().any(|name| {
        token.strip_prefix(name).is_some_and(|rest| {
            let rest = rest.strip_prefix('s').unwrap_or(rest);
            rest.is_empty() || rest.starts_with(['-', '_'])
        })
    })
}

/// Returns whether an element is inside a `nav` or `aside` element.
fn is_aside(dom: &Dom, at: u32) -> bool {
    dom.ancestors(at).any(|up| matches!(dom.item(up).tag, Tag::Nav | Tag::Aside))
}

/// Returns whether an element is inside a footer of the article or of the site.
fn is_in_footer(dom: &Dom, at: u32) -> bool {
    let mut above = dom.ancestors(at).map(|up| dom.item(up).tag);
    above.by_ref().take_while(|tag| *tag != Tag::Article).any(|tag| tag == Tag::Footer)
}

/// Returns whether an element is inside a footer of the site: one outside `article` and `main`.
fn is_in_site_footer(dom: &Dom, at: u32) -> bool {
    let mut above = dom.ancestors(at).map(|up| dom.item(up).tag);
    above.by_ref().any(|tag| tag == Tag::Footer)
        && !above.any(|tag| matches!(tag, Tag::Article | Tag::Main))
}

/// Returns whether an element belongs to a box about another page: one with a linked heading, or
/// one with a class such as `teaser`.
fn is_teaser(dom: &Dom, at: u32) -> bool {
    let leads_away = |at: u32| {
        let href = dom.attr(at, &local_name!("href"));
        dom.item(at).tag == Tag::A && href.is_some_and(|href| !href.trim().starts_with('#'))
    };
    let is_linked = |at: u32| {
        matches!(dom.item(at).tag.heading(), Some(2..=6))
            && dom.subtree(at).take(12).any(leads_away)
    };
    let near = |up: u32| dom.preceding(up).take(3).any(is_linked);
    let is_box = |up: u32| {
        !matches!(dom.item(up).tag, Tag::Body | Tag::Html | Tag::Main)
            && dom.attr(up, &local_name!("class")).is_some_and(is_teaser_class)
    };
    dom.ancestors(at).take(4).any(near) || dom.ancestors(at).take(8).any(is_box)
}

/// Returns whether a class names a teaser: `related`, `related-posts`, `teaser__date`.
fn is_teaser_class(class: &str) -> bool {
    class.len() < 300
        && class.split_ascii_whitespace().any(|token| {
            ["related", "recommended", "teaser"].iter().any(|name| {
                token.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name))
                    && token
                        .get(name.len()..)
                        .is_some_and(|it| it.is_empty() || it.starts_with(['-', '_']))
            })
        })
}

/// Returns whether a class says that its element holds the date of a page.
pub(crate) fn is_date_class(class: &str) -> bool {
    const ENDS: [&str; 6] = ["date", "published", "posted-on", "timestamp", "updated", "modified"];
    const WHOLE: [&str; 4] = ["dateline", "pubdate", "lastmod", "postdate"];
    // This function is called for every class of a page, so it allocates nothing.
    let is_end = |token: &str, end: &str| {
        let Some(from) = token.len().checked_sub(end.len()) else { return false };
        token.get(from..).is_some_and(|it| it.eq_ignore_ascii_case(end))
            && token.get(..from).is_some_and(|it| it.is_empty() || it.ends_with(['-', '_']))
    };
    class.len() < 100
        && class.split_ascii_whitespace().any(|token| {
            ENDS.iter().any(|end| is_end(token, end))
                || WHOLE.iter().any(|name| token.eq_ignore_ascii_case(name))
        })
}

/// Returns whether a text is a date with little other text, such as `Updated on 3 May 2024`.
pub(crate) fn is_bare_date(text: &str) -> bool {
    let words = || text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    text.len() <= 60
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && words().count() <= 6
        && !words()
            .any(|word| matches!(word.to_ascii_lowercase().as_str(), "by" | "von" | "par" | "por"))
}

/// Returns whether a text has `word` as a whole word, at most 24 bytes before its end. A word that
/// ends with a colon also matches without the colon, if it is the whole text.
fn ends_with_word(text: &str, word: &str) -> bool {
    const MOST_BEHIND: usize = 24;
    let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_whole = |(from, _): &(usize, &str)| {
        let to = from + word.len();
        let before = text.get(..*from).and_then(|it| it.chars().next_back());
        let behind = text.get(to..).and_then(|it| it.chars().next());
        let (first, last) = (word.chars().next(), word.chars().next_back());
        let goes_on = |one, other| is_letter(one) && is_letter(other);
        !goes_on(before, first) && !goes_on(last, behind)
    };
    let n_most = text.trim_end_matches([' ', ':']).len();
    let is_near =
        |(from, _): &(usize, &str)| n_most.saturating_sub(from + word.len()) <= MOST_BEHIND;
    text.strip_suffix(':').unwrap_or(text).trim() == word.trim_end_matches(':')
        || text.rmatch_indices(word).take_while(is_near).any(|it| is_whole(&it))
}

/// Returns the role of a time, by the classes of the elements around it and by the text of its
/// line; `None` if the time does not belong to the page itself.
pub(crate) fn role_of_time(dom: &Dom, at: u32) -> Option<TimeRole> {
    // A line about the page is short.
    const MOST_ITEMS: u32 = 24;
    let classes = dom.ancestors(at).take(3).filter_map(|up| dom.attr(up, &local_name!("class")));
    let classes = classes.map(str::to_ascii_lowercase).collect::<Vec<_>>().join(" ");
    let has = |parts: &[&str]| parts.iter().any(|part| classes.contains(part));
    let is_event = dom
        .attr(at, &local_name!("itemprop"))
        .is_some_and(|name| name.ends_with("tDate") || name == "endDate");
    if is_event || has(&["event", "countdown", "deadline"]) || is_in_comment(dom, at) {
        return None;
    }
    if is_aside(dom, at) || is_teaser(dom, at) {
        return None;
    }
    let is_of_site = is_in_site_footer(dom, at);
    if !is_of_site && has(&["update", "modified", "lastmod", "last-mod", "revised"]) {
        return Some(TimeRole::Update);
    }
    let line = dom.ancestors(at).skip(1).find(|up| dom.item(*up).tag.is_block())?;
    let is_short = dom.item(line).end - line <= MOST_ITEMS;
    // The text of the line before the date.
    let mut before = String::new();
    let from = if is_short { line } else { at.saturating_sub(6).max(line) };
    for here in from..at {
        dom.append(here, &mut before);
        before.push(' ');
    }
    // The text of the element before its first digit.
    let inside = dom.words(at);
    let own = inside.split(|c: char| c.is_ascii_digit()).next().unwrap_or("");
    if own.len() <= 40 {
        before.push_str(own);
    }
    let before = before.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let says = |words: &[&str]| words.iter().any(|word| ends_with_word(&before, word));
    if says(&UPDATED) {
        return (!is_of_site || says(&PAGE)).then_some(TimeRole::Update);
    }
    if says(&OTHERS) || is_in_footer(dom, at) {
        return None;
    }
    let is_said = says(&PUBLISHED)
        || has(&["publish", "pubdate", "entry-date", "post-date", "post__date", "article-date"])
        || dom.attribute(at, "pubdate").is_some();
    // A dateline has only a few words beside the time and is directly beside the title.
    let is_dateline = || {
        let words: usize = dom.words(line).split_whitespace().count();
        let is_listed =
            matches!(dom.item(line).tag, Tag::Li | Tag::Td | Tag::Th | Tag::Dd | Tag::Dt);
        is_short && !is_listed && words <= 12 && is_at_title(dom, line)
    };
    (is_said || is_dateline()).then_some(TimeRole::Publication)
}

/// Returns whether a line is directly after the title of the page, or in the same header.
fn is_at_title(dom: &Dom, line: u32) -> bool {
    let is_title = |at: u32| dom.item(at).tag == Tag::H1;
    let near = |at: u32| dom.preceding(at).take(3).any(is_title);
    let header = dom.ancestors(line).take(4).find(|up| dom.item(*up).tag == Tag::Header);
    near(line)
        || dom.ancestors(line).nth(1).is_some_and(near)
        || header.is_some_and(|header| dom.subtree(header).take(200).any(is_title))
}
