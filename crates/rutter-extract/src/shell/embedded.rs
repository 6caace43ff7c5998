//! Finds the text of a shell in the data of the page: JSON-LD, framework state, a `noscript` copy.
//!
//! Input: the tree of a shell and its metadata. Output: one text, as HTML or as an element.
//! Rejects texts that are short or not prose, and pages with several candidate texts.
//! Scripts are not executed; each source is read once.

use html5ever::local_name;

use super::state::{self, FrameworkState};
use super::{REQUESTS, TextSource};
use crate::dom::Dom;
use crate::json_ld;
use crate::markdown::to_html;
use crate::meta::FoundMetadata;
use crate::tag::Tag;

/// Minimum number of characters of an embedded text that can be the text of the page.
const SHORTEST: usize = 200;
/// Minimum number of sentences of such a text.
const FEWEST_SENTENCES: usize = 2;

/// A text that the page contains outside its elements, or in a `noscript` element.
#[derive(Debug)]
pub(crate) struct EmbeddedText {
    pub(crate) source: TextSource,
    pub(crate) place: EmbeddedPlace,
}

/// The place of an embedded text.
#[derive(Debug)]
pub(crate) enum EmbeddedPlace {
    /// Outside the tree; the value is the text as HTML.
    Outside(String),
    /// In the `noscript` element with this index.
    Element(u32),
}

/// Finds the text of a shell. Framework states longer than `most_json` bytes are not read.
pub(crate) fn find(dom: &Dom, found: &FoundMetadata, most_json: usize) -> Option<EmbeddedText> {
    let outside = |source, html| EmbeddedText { source, place: EmbeddedPlace::Outside(html) };
    if let Some(text) = json_ld::body(&found.json_ld).filter(|text| is_prose(text)) {
        return Some(outside(TextSource::JsonLd, markup_of(text, Markup::of(text))));
    }
    let title = found.title().unwrap_or_default();
    let titles: Vec<&str> =
        std::iter::once(title.as_str()).chain(found.headings.iter().map(String::as_str)).collect();
    for at in (0..dom.len()).filter(|at| dom.item(*at).tag == Tag::Script) {
        let id = dom.attr(at, &local_name!("id")).unwrap_or("");
        let Some(inside) = dom.children(at).next() else { continue };
        let Some(state) = FrameworkState::parse(id, dom.text(inside), most_json) else { continue };
        if let Some(html) = state::text_of(&state, &titles) {
            return Some(outside(state.source, html));
        }
    }
    noscript(dom)
        .map(|at| EmbeddedText { source: TextSource::Noscript, place: EmbeddedPlace::Element(at) })
}

/// Returns the `noscript` element with the most text, if the text is prose and not a request for
/// scripts.
fn noscript(dom: &Dom) -> Option<u32> {
    let mut longest = (0, None);
    // A `noscript` element inside another one is read together with the outer one.
    let mut end = 0;
    for at in (0..dom.len()).filter(|at| dom.item(*at).tag == Tag::Noscript) {
        if at < end {
            continue;
        }
        end = dom.item(at).end;
        let (mut text, mut linked) = (String::new(), 0);
        for inside in dom.subtree(at) {
            let before = text.len();
            dom.append_text(inside, &mut text);
            let is_link = || dom.ancestors(inside).take(4).any(|up| dom.item(up).tag == Tag::A);
            if before < text.len() && is_link() {
                linked += text.len() - before;
            }
        }
        let lower = text.to_lowercase();
        let is_request = text.len() < 2 * SHORTEST && REQUESTS.iter().any(|it| lower.contains(it));
        if longest.0 < text.len() && is_prose(&text) && 2 * linked < text.len() && !is_request {
            longest = (text.len(), Some(at));
        }
    }
    longest.1
}

/// Returns whether a text, without its tags, is long enough and consists of sentences.
pub(super) fn is_prose(text: &str) -> bool {
    const OTHERS: [&str; 9] =
        ["{", "[", "data:", "var ", "const ", "import ", "function", "\"use strict\"", "<svg"];
    let start = text.trim_start();
    if OTHERS.iter().any(|other| start.starts_with(other)) {
        return false;
    }
    let plain = without_tags(text);
    let mut marks = plain.char_indices().filter(|(at, c)| {
        let after = plain.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        matches!(c, '\u{3002}' | '\u{ff01}' | '\u{ff1f}' | '\u{964}')
            || (matches!(c, '.' | '!' | '?') && after.is_none_or(char::is_whitespace))
    });
    let has_sentences = marks.by_ref().take(FEWEST_SENTENCES).count() == FEWEST_SENTENCES;
    has_sentences && SHORTEST <= plain.split_whitespace().map(|word| word.chars().count() + 1).sum()
}

/// Returns a text in which each tag is replaced by a space.
pub(super) fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        out.push(' ');
        rest = from.find('>').map_or("", |end| from.get(end + 1..).unwrap_or(""));
    }
    out.push_str(rest);
    out
}

/// The markup language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    Html,
    Markdown,
    Plain,
}

impl Markup {
    pub(super) fn of(text: &str) -> Self {
        let is_tag = |at: usize| {
            let mut rest = text.get(at + 1..).unwrap_or("").chars();
            rest.next().is_some_and(|c| c == '/' || c.is_ascii_alphabetic())
        };
        let n_tags = text.match_indices('<').filter(|(at, _)| is_tag(*at)).take(2).count();
        let is_marked = |line: &str| {
            let bare = line.trim_start_matches('#');
            (bare.len() < line.len() && bare.starts_with(' '))
                || line.starts_with("- ")
                || line.starts_with("* ")
                || line.starts_with("```")
                || line.contains("](")
        };
        if 2 <= n_tags {
            Self::Html
        } else if 2 <= text.lines().filter(|line| is_marked(line)).take(2).count() {
            Self::Markdown
        } else {
            Self::Plain
        }
    }
}

/// Converts a text to HTML; each line of a plain text becomes a paragraph.
pub(super) fn markup_of(text: &str, markup: Markup) -> String {
    match markup {
        Markup::Html => text.to_owned(),
        Markup::Markdown => to_html(text),
        Markup::Plain => {
            let mut out = String::with_capacity(text.len() + 64);
            for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                out.push_str("<p>");
                escape(line, &mut out);
                out.push_str("</p>\n");
            }
            out
        }
    }
}

/// Appends a text, with its special characters escaped for HTML.
pub(super) fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
}
