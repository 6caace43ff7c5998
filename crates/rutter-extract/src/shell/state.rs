//! Reads the framework state in a script and finds the text of the page in it.
//!
//! Input: the text of a script. Only JSON is read: `__NEXT_DATA__`, `__NUXT_DATA__`, and
//! `window.__NUXT__=` if its value is JSON. Output: the text. Accepts only texts under a content
//! key (`body`, `contentHtml`). Rejects texts below a key of a menu or of another page.

use serde_json::{Map, Value};

use super::TextSource;
use super::embedded::{Markup, escape, is_prose, markup_of, without_tags};

/// Names of the variables to which scripts assign the state of a framework.
const STATES: [&str; 7] = [
    "window.__NUXT__",
    "window.__INITIAL_STATE__",
    "window.__PRELOADED_STATE__",
    "window.__APOLLO_STATE__",
    "window.__INITIAL_DATA__",
    "window.__remixContext",
    "self.__next_f",
];

/// Keys whose value can be the text of a page, in lower case, without `_` and `-`.
const TEXT_KEYS: [&str; 22] = [
    "body",
    "content",
    "html",
    "markdown",
    "text",
    "articlebody",
    "articlecontent",
    "articlehtml",
    "bodyhtml",
    "bodymarkdown",
    "bodytext",
    "contenthtml",
    "contentmarkdown",
    "contenttext",
    "htmlbody",
    "htmlcontent",
    "maincontent",
    "pagecontent",
    "postcontent",
    "rendered",
    "renderedcontent",
    "richtext",
];

/// Parts of keys whose values are not the text of the page.
const OTHER_KEYS: [&str; 29] = [
    "advert",
    "banner",
    "comment",
    "config",
    "consent",
    "cookie",
    "footer",
    "header",
    "i18n",
    "latest",
    "locale",
    "menu",
    "message",
    "modal",
    "navigation",
    "newsletter",
    "popup",
    "previous",
    "recommend",
    "related",
    "review",
    "seo",
    "setting",
    "sidebar",
    "similar",
    "teaser",
    "theme",
    "translation",
    "trending",
];

/// Maximum number of texts of a state that are compared.
const MOST_TEXTS: usize = 1000;

/// Returns whether a script holds the state of a framework.
pub(super) fn is_state(id: &str, text: &str) -> bool {
    matches!(id, "__NEXT_DATA__" | "__NUXT_DATA__") || {
        let start = text.trim_start();
        let start = start.strip_prefix('(').unwrap_or(start);
        STATES.iter().any(|name| start.starts_with(name))
    }
}

/// The state of a framework, parsed from a script of the page.
#[derive(Debug)]
pub(super) struct FrameworkState {
    pub(super) source: TextSource,
    value: Value,
}

impl FrameworkState {
    /// Parses a state; returns `None` if the script holds no state, or a state that is not JSON.
    pub(super) fn parse(id: &str, text: &str, most: usize) -> Option<Self> {
        if most < text.len() {
            return None;
        }
        let (source, json) = match id {
            "__NEXT_DATA__" => (TextSource::NextData, text),
            "__NUXT_DATA__" => (TextSource::NuxtData, text),
            _ => {
                let rest = text.trim_start().strip_prefix("window.__NUXT__")?.trim_start();
                let rest = rest.strip_prefix('=')?.trim();
                (TextSource::NuxtData, rest.trim_end_matches(';'))
            }
        };
        Some(Self { source, value: serde_json::from_str(json).ok()? })
    }
}

/// A text in a framework state that may be the text of the page.
struct TextCandidate {
    html: String,
    /// Number of letters and digits in the text, without markup.
    n_chars: usize,
    /// First letters and digits of the text, without markup.
    start: String,
    /// Whether the title of the page is in the same object as the text.
    is_titled: bool,
}

/// Returns the text of the page in a framework state, as HTML.
///
/// A text in the same object as the title of the page is preferred. Otherwise the longest text is
/// used, if it is at least twice as long as every other text.
pub(super) fn text_of(state: &FrameworkState, titles: &[&str]) -> Option<String> {
    let mut found = match &state.value {
        Value::Array(flat) if state.source == TextSource::NuxtData => of_flat(flat, titles),
        value => of_tree(value, titles),
    };
    if found.iter().any(|candidate| candidate.is_titled) {
        found.retain(|candidate| candidate.is_titled);
    }
    found.sort_by_key(|candidate| std::cmp::Reverse(candidate.n_chars));
    let (first, others) = found.split_first()?;
    // A state may hold the same text in several markup languages; the copies have the same first
    // letters.
    let rival = others.iter().find(|other| other.start != first.start);
    let is_plain = rival.is_none_or(|rival| 2 * rival.n_chars <= first.n_chars);
    is_plain.then(|| first.html.clone())
}

fn of_tree(root: &Value, titles: &[&str]) -> Vec<TextCandidate> {
    let mut found = Vec::new();
    let mut open: Vec<(&Value, bool)> = vec![(root, false)];
    while let Some((value, above_is_titled)) = open.pop() {
        match value {
            Value::Array(values) => open.extend(values.iter().rev().map(|value| (value, false))),
            Value::Object(object) => {
                // The title may be beside the object with the text: `content: { rendered: … }`.
                let is_titled = above_is_titled || is_titled(object, titles);
                for (key, value) in object {
                    let key = plain_key(key);
                    if is_other(&key) || MOST_TEXTS <= found.len() {
                        continue;
                    }
                    let is_text = TEXT_KEYS.contains(&key.as_str());
                    match text_candidate(value, is_titled).filter(|_| is_text) {
                        Some(candidate) => found.push(candidate),
                        None => open.push((value, is_titled && is_text)),
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Returns the candidates of a flat state, in which the values of members are indices in one list.
fn of_flat(flat: &[Value], titles: &[&str]) -> Vec<TextCandidate> {
    let at = |place: &Value| flat.get(usize::try_from(place.as_u64()?).ok()?);
    let mut found = Vec::new();
    for object in flat.iter().filter_map(Value::as_object) {
        let title = ["title", "headline", "name"].iter().find_map(|key| at(object.get(*key)?));
        let title = title.and_then(Value::as_str).unwrap_or("");
        for (key, place) in object {
            let key = plain_key(key);
            if TEXT_KEYS.contains(&key.as_str())
                && found.len() < MOST_TEXTS
                && let Some(text @ Value::String(_)) = at(place)
            {
                found.extend(text_candidate(text, is_title(title, titles)));
            }
        }
    }
    found
}

fn text_candidate(value: &Value, is_titled: bool) -> Option<TextCandidate> {
    let html = match value {
        Value::String(text) => is_prose(text).then(|| markup_of(text, Markup::of(text)))?,
        Value::Array(_) | Value::Object(_) => {
            let mut html = String::new();
            blocks(value, &mut html);
            is_prose(&html).then_some(html)?
        }
        _ => return None,
    };
    let plain = without_tags(&html);
    let letters = || plain.chars().filter(|c| c.is_alphanumeric());
    Some(TextCandidate {
        n_chars: letters().count(),
        start: letters().take(60).collect(),
        html,
        is_titled,
    })
}

fn plain_key(key: &str) -> String {
    key.chars().take(64).filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

fn is_other(key: &str) -> bool {
    OTHER_KEYS.iter().any(|part| key.contains(part))
        || matches!(key, "nav" | "ads" | "next" | "prev" | "meta")
        || key.starts_with("nextpost")
        || key.starts_with("nextarticle")
}

fn is_titled(object: &Map<String, Value>, titles: &[&str]) -> bool {
    ["title", "headline", "name"].iter().any(|key| match object.get(*key) {
        Some(Value::String(title)) => is_title(title, titles),
        Some(Value::Object(inner)) => {
            inner.get("rendered").and_then(Value::as_str).is_some_and(|it| is_title(it, titles))
        }
        _ => false,
    })
}

/// Returns whether a text is the title of the page.
fn is_title(text: &str, titles: &[&str]) -> bool {
    let key = |text: &str| -> String {
        let letters = text.chars().filter(|c| c.is_alphanumeric()).take(300);
        letters.flat_map(char::to_lowercase).collect()
    };
    let wanted = key(text);
    // A page title often also contains the name of the site.
    let parts = titles.iter().flat_map(|title| {
        std::iter::once(*title).chain(title.split(['|', '-', '\u{2013}', '\u{2014}', '\u{b7}']))
    });
    !wanted.is_empty() && parts.take(64).any(|part| key(part) == wanted)
}

/// Writes a list of editor blocks as HTML; writes nothing if the value is no such list.
///
/// Recognises blocks with `children` or `content` whose leaves have a `text` (or, if the type is
/// `text`, a `value`), and blocks with `data.text`.
fn blocks(value: &Value, out: &mut String) {
    match value {
        Value::Array(values) => {
            for value in values {
                match value {
                    Value::String(text) => out.push_str(&markup_of(text, Markup::of(text))),
                    value => blocks(value, out),
                }
            }
        }
        Value::Object(object) => {
            let Some(kind) = kind_of(object) else { return };
            let style = object.get("style").and_then(Value::as_str).unwrap_or("");
            let inner = object.get("children").or_else(|| object.get("content"));
            if matches!(kind.as_str(), "doc" | "document" | "root") {
                return inner.into_iter().for_each(|inner| blocks(inner, out));
            }
            let tag = tag_of(&kind, style, object);
            let is_outer =
                inner.and_then(Value::as_array).is_some_and(|it| it.iter().any(is_block));
            if is_outer && tag == "p" {
                // The block is a container, such as a column or the body of a table.
                return inner.into_iter().for_each(|inner| children(inner, out));
            }
            out.push('<');
            out.push_str(tag);
            out.push('>');
            match inner.filter(|_| is_outer && !matches!(tag, "pre" | "h1" | "h2" | "h3" | "h4")) {
                Some(inner) => children(inner, out),
                None => leaves(value, out),
            }
            out.push_str("</");
            out.push_str(tag);
            out.push_str(">\n");
        }
        _ => {}
    }
}

/// Writes the content of a block: other blocks, and the text between them.
fn children(inner: &Value, out: &mut String) {
    for value in inner.as_array().into_iter().flatten() {
        if is_block(value) {
            blocks(value, out);
        } else {
            leaves(value, out);
        }
    }
}

/// Returns the type of a block or leaf.
fn kind_of(object: &Map<String, Value>) -> Option<String> {
    let kind = ["nodeType", "type", "_type"].iter().find_map(|key| object.get(*key)?.as_str());
    kind.map(plain_key)
}

/// Returns whether a value inside a block is a block, by its type.
fn is_block(value: &Value) -> bool {
    const BLOCKS: [&str; 22] = [
        "paragraph",
        "p",
        "blockquote",
        "quote",
        "bulletlist",
        "unorderedlist",
        "orderedlist",
        "list",
        "ul",
        "ol",
        "listitem",
        "li",
        "lic",
        "listitemcontent",
        "codeblock",
        "table",
        "tr",
        "td",
        "th",
        "heading",
        "block",
        "column",
    ];
    value.as_object().and_then(kind_of).is_some_and(|kind| {
        BLOCKS.contains(&kind.as_str()) || kind.starts_with("table") || kind.starts_with("heading")
    })
}

fn tag_of(kind: &str, style: &str, object: &Map<String, Value>) -> &'static str {
    let data = object.get("data").or_else(|| object.get("attrs"));
    let level = object.get("level").or_else(|| data?.get("level")).and_then(Value::as_u64);
    let is_heading = kind.starts_with("head");
    let digit =
        |text: &str| text.bytes().last().filter(u8::is_ascii_digit).map(|it| u64::from(it - b'0'));
    let level = match (style.strip_prefix('h'), kind.strip_prefix('h')) {
        (Some(level), _) if level.len() == 1 => digit(level),
        (_, Some(level)) if level.len() == 1 => digit(level),
        _ if is_heading => level.or_else(|| digit(kind)).or(Some(2)),
        _ => None,
    };
    match (level, kind) {
        (Some(1), _) => "h1",
        (Some(2), _) => "h2",
        (Some(3), _) => "h3",
        (Some(_), _) => "h4",
        (_, "bulletlist" | "unorderedlist" | "ul") => "ul",
        (_, "orderedlist" | "ol") => "ol",
        (_, "listitem" | "li") => "li",
        (_, "code" | "codeblock") => "pre",
        (_, "blockquote" | "quote") => "blockquote",
        (_, "table") => "table",
        (_, "tablerow" | "tr") => "tr",
        (_, "tablecell" | "td") => "td",
        (_, "tableheader" | "tableheadercell" | "th") => "th",
        _ if object.contains_key("listItem") => "li",
        _ => "p",
    }
}

/// Writes the text of all leaves of a block.
fn leaves(value: &Value, out: &mut String) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| leaves(value, out)),
        Value::Object(object) => {
            let is_leaf = object.get("nodeType").and_then(Value::as_str) == Some("text");
            let text = object.get("text").or_else(|| object.get("value").filter(|_| is_leaf));
            match text.and_then(Value::as_str) {
                Some(text) if text.contains("</") => out.push_str(text),
                Some(text) => escape(text, out),
                None if kind_of(object).is_some_and(|kind| is_break(&kind)) => out.push_str("<br>"),
                None => {
                    for key in ["children", "content", "data"] {
                        object.get(key).into_iter().for_each(|inner| leaves(inner, out));
                    }
                }
            }
        }
        _ => {}
    }
}

fn is_break(kind: &str) -> bool {
    matches!(kind, "hardbreak" | "linebreak" | "break" | "br")
}
