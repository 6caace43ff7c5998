//! Prepares stored pages for output: every output reads a stored page through [`ReaderView`].
//!
//! Input: a stored line, which may have faults that [`PageReader`] accepts. Output: the page with
//! heading levels clamped (SCP-103) and without URLs that are not http or https (SCP-188), also in
//! unknown members and blocks. The stored line itself is never changed.
//!
//! Rejects lines that are not pages.

use std::borrow::Cow;

use rutter_finding::Refusal;
use serde::Serialize;

use crate::block::Block;
use crate::digest::LineDigest;
use crate::json_tree::JsonTree;
use crate::language::LanguageTag;
use crate::media::RecordingUrls;
use crate::page::Page;
use crate::page_reader::{PageLimits, PageReader};
use crate::text::{CowStr, RawJson, RawObject, UnknownMembers};

/// Limits for stored lines. The number of blocks is limited only in collections.
const STORED: PageLimits = PageLimits { blocks: usize::MAX, ..PageLimits::SPEC };

/// URL schemes that run code or embed data.
const UNSAFE: [&str; 6] = ["javascript", "data", "vbscript", "file", "blob", "filesystem"];

/// A stored page without unsafe URLs and invalid levels.
#[derive(Debug, Clone)]
pub struct ReaderView<'a> {
    /// The page.
    pub page: Page<'a>,
    line: &'a str,
    is_as_stored: bool,
}

impl<'a> ReaderView<'a> {
    /// Reads a stored line; returns `None` if the page is skipped as a whole.
    ///
    /// ```
    /// # use rutter_page::ReaderView;
    /// let line = r#"{"url":"https://a.example/","title":"A","description":"B",
    ///     "modified":"2026-01-01T00:00:00Z","language":"en","content":[
    ///     {"type":"heading","level":9,"text":"C"},
    ///     {"type":"image","url":"data:image/png;base64,AA","alt":"D"}]}"#;
    /// let view = ReaderView::of(line)?.unwrap();
    /// assert!(view.line().ends_with(r#""content":[{"type":"heading","level":6,"text":"C"}]}"#));
    /// # Ok::<(), rutter_finding::Refusal>(())
    /// ```
    pub fn of(line: &'a str) -> Result<Option<Self>, Refusal> {
        let strict = serde_json::from_str::<Page<'a>>(line).ok();
        let is_faultless = strict.is_some();
        let page = match strict {
            Some(page) => page,
            None => match PageReader::new(STORED).read(line, 1, &mut ())? {
                Some(page) => page,
                None => return Ok(None),
            },
        };
        let mut page = page;
        let n_removed = clean_page(&mut page);
        Ok(Some(Self { page, line, is_as_stored: is_faultless && n_removed == 0 }))
    }

    /// Returns the page as one line of JSON: the stored line itself if nothing had to be changed.
    pub fn line(&self) -> Cow<'a, str> {
        if self.is_as_stored { Cow::Borrowed(self.line) } else { Cow::Owned(self.page.to_line()) }
    }

    /// Returns the digest of the content; see [`Page::content_digest`].
    pub fn content_digest(&self) -> LineDigest {
        self.page.content_digest()
    }
}

impl Page<'_> {
    /// Returns the digest of title, description, language and content.
    ///
    /// It does not change when only the author, a date, the canonical URL or Schema.org data
    /// change.
    pub fn content_digest(&self) -> LineDigest {
        #[derive(Serialize)]
        struct DigestInput<'c> {
            title: &'c CowStr<'c>,
            description: &'c CowStr<'c>,
            language: &'c LanguageTag<'c>,
            content: &'c [Block<'c>],
        }
        let Self { title, description, language, content, .. } = self;
        let input = DigestInput { title, description, language, content };
        let json = serde_json::to_vec(&input).expect("a page is always JSON");
        LineDigest::of(&json)
    }
}

/// Removes unsafe URLs from the members and blocks that are kept unparsed; returns their number.
fn clean_page(page: &mut Page<'_>) -> usize {
    let mut n_removed = clean(&mut page.extra);
    if let Some(schema) = page.schema.take_if(|schema| has_unsafe_url(schema.get())) {
        page.schema = without_unsafe_urls(schema.get());
        n_removed += 1;
    }
    let n_blocks = page.content.len();
    page.content.retain(|block| match block {
        Block::Unknown(unknown) => !has_unsafe_url(unknown.raw.get()),
        _ => true,
    });
    n_removed += n_blocks - page.content.len();
    n_removed + page.content.iter_mut().map(clean_block).sum::<usize>()
}

fn clean_block(block: &mut Block<'_>) -> usize {
    match block {
        Block::Text(block) => clean(&mut block.extra),
        Block::Heading(block) => clean(&mut block.extra),
        Block::Link(block) => clean(&mut block.extra),
        Block::Image(block) => clean(&mut block.extra),
        Block::List(block) => clean(&mut block.extra),
        Block::Code(block) => clean(&mut block.extra),
        Block::Table(block) => clean(&mut block.extra),
        Block::Quote(block) => clean(&mut block.extra),
        Block::Video(block) => {
            let icon = block.icon.as_mut().map_or(0, |icon| clean(&mut icon.extra));
            let captions = block.captions.iter_mut().flatten();
            let captions: usize = captions.map(|it| clean(&mut it.extra)).sum();
            let chapters = block.chapters.iter_mut().flatten();
            let chapters: usize = chapters.map(|it| clean(&mut it.extra)).sum();
            clean(&mut block.extra) + icon + captions + chapters + clean_media(&mut block.url)
        }
        Block::Audio(block) => {
            let icon = block.icon.as_mut().map_or(0, |icon| clean(&mut icon.extra));
            let chapters = block.chapters.iter_mut().flatten();
            let chapters: usize = chapters.map(|it| clean(&mut it.extra)).sum();
            clean(&mut block.extra) + icon + chapters + clean_media(&mut block.url)
        }
        Block::Unknown(_) => 0,
    }
}

fn clean_media(url: &mut RecordingUrls<'_>) -> usize {
    match url {
        RecordingUrls::One(_) => 0,
        RecordingUrls::Many(links) => links.iter_mut().map(|link| clean(&mut link.extra)).sum(),
    }
}

fn clean(extra: &mut UnknownMembers<'_>) -> usize {
    let n_members = extra.len();
    extra.retain(|member| !has_unsafe_url(member.value.get()));
    n_members - extra.len()
}

/// Returns whether a JSON value contains a string that is an unsafe URL. An unreadable value counts
/// as unsafe.
fn has_unsafe_url(json: &str) -> bool {
    // Every such string contains a colon or an escaped colon.
    if !json.contains([':', '\\']) {
        return false;
    }
    JsonTree::parse(json).is_none_or(|tree| holds_unsafe_url(&tree))
}

fn holds_unsafe_url(tree: &JsonTree) -> bool {
    match tree {
        JsonTree::Text(text) => is_unsafe_url(text),
        JsonTree::List(items) => items.iter().any(holds_unsafe_url),
        JsonTree::Map(members) => members.iter().any(|(_, value)| holds_unsafe_url(value)),
        JsonTree::Null | JsonTree::Bool(_) | JsonTree::Number(_) => false,
    }
}

/// Returns the object without the members and items that are unsafe URLs.
fn without_unsafe_urls(json: &str) -> Option<RawObject<'static>> {
    let mut tree = JsonTree::parse(json)?;
    remove_unsafe_urls(&mut tree);
    RawObject::new(RawJson::parse(&tree.to_json()).ok()?)
}

fn remove_unsafe_urls(tree: &mut JsonTree) {
    let is_kept = |value: &mut JsonTree| {
        remove_unsafe_urls(value);
        !matches!(value, JsonTree::Text(text) if is_unsafe_url(text))
    };
    match tree {
        JsonTree::List(items) => items.retain_mut(is_kept),
        JsonTree::Map(members) => members.retain_mut(|(_, value)| is_kept(value)),
        JsonTree::Null | JsonTree::Bool(_) | JsonTree::Number(_) | JsonTree::Text(_) => {}
    }
}

/// Returns whether a text is a URL with an unsafe scheme.
///
/// Like browsers, ignores case, white space and control characters in the scheme.
fn is_unsafe_url(text: &str) -> bool {
    let mut scheme = String::new();
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_control() && !c.is_whitespace()) {
        match c {
            ':' => {
                let rest = text.get(at + 1..).unwrap_or_default();
                return match scheme.as_str() {
                    "data" => is_data(rest),
                    "file" => is_path(rest),
                    "javascript" | "vbscript" => !is_sentence(rest),
                    scheme => UNSAFE.contains(&scheme),
                };
            }
            _ if c.is_ascii_alphanumeric() && scheme.len() < 16 => {
                scheme.push(c.to_ascii_lowercase());
            }
            _ => return false,
        }
    }
    false
}

/// Returns whether the text after `javascript:` is a sentence, as in `JavaScript: the good parts`:
/// words after a space, without the characters of a call, an assignment or an escape.
fn is_sentence(rest: &str) -> bool {
    let is_plain =
        |c: char| c.is_alphanumeric() || c == ' ' || ",.!?'\u{2019}-\u{2013}\u{2014}".contains(c);
    let mut words = rest.split(' ').filter(|word| !word.is_empty());
    rest.starts_with(' ') && rest.chars().all(is_plain) && words.all(|word| word != "new")
}

/// Returns whether the text after `data:` belongs to a URL: it starts with a media type, or has no
/// media type but a `,` or `;`. Other text is a sentence, as in `Data: tides of 2025`.
fn is_data(rest: &str) -> bool {
    let rest: String = rest.chars().filter(|c| !c.is_control()).collect();
    let is_token = |part: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        !part.is_empty() && part.bytes().all(is_part)
    };
    let media_type = rest.split([',', ';']).next().unwrap_or_default().trim();
    let is_type =
        media_type.split_once('/').is_some_and(|(kind, of)| is_token(kind) && is_token(of));
    is_type || (media_type.is_empty() && rest.contains([',', ';']))
}

/// Returns whether the text after `file:` belongs to a URL: a path from the root or from a drive.
/// Other text is a name, as in `File:Quay.jpg`.
fn is_path(rest: &str) -> bool {
    let mut chars = rest.chars().filter(|c| !c.is_control() && !c.is_whitespace());
    match chars.next() {
        Some('/' | '\\') => true,
        Some(c) => c.is_ascii_alphabetic() && matches!(chars.next(), Some(':' | '|')),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(content: &str, rest: &str) -> String {
        format!(
            "{{\"url\":\"https://a.example/\",\"title\":\"A\",\"description\":\"B\",\
             \"modified\":\"2026-01-01T00:00:00Z\",\"language\":\"en\",\"content\":[{content}]{rest}}}"
        )
    }

    #[test] // SCP-103 SCP-188
    fn removes_unsafe_urls_and_clamps_levels() {
        let hostile = [
            r#"{"type":"heading","level":9,"text":"H"}"#,
            r#"{"type":"link","url":"javascript:alert(1)","text":"kept as text"}"#,
            r#"{"type":"image","url":"data:image/svg+xml,x","alt":"I"}"#,
            r#"{"type":"widget","href":" Java\tScript:alert(2)"}"#,
            r#"{"type":"widget","href":"https://a.example/ok"}"#,
            r#"{"type":"text","text":"javascript: a language","onclick":"javascript:alert(3)"}"#,
            r#"{"type":"video","name":"V","url":"javascript:alert(4)"}"#,
        ];
        let rest =
            r#","canonical":"javascript:alert(5)","schema":{"@id":"\u006aavascript:alert(6)"}"#;
        let line = line(&hostile.join(","), rest);
        let view = ReaderView::of(&line).unwrap().unwrap();
        let shown = view.line();
        assert!(!shown.contains("alert") && !shown.contains("data:"), "{shown}");
        assert!(shown.contains("\"level\":6") && shown.contains("kept as text"), "{shown}");
        assert!(shown.contains("https://a.example/ok"), "{shown}");
        // Text is kept, even if it starts like a URL.
        assert!(shown.contains("javascript: a language"), "{shown}");
        // A view of the view is unchanged.
        assert_eq!(ReaderView::of(&shown).unwrap().unwrap().line(), shown);
    }

    #[test] // SCP-188
    fn keeps_sentences_that_start_like_schemes() {
        for text in [
            "Data: tides of 2025",
            "Data: tides, currents; wind",
            "Data: of in/out, tides",
            "data:",
            "File:Quay.jpg",
            "file: see below",
            "javascript: the good parts",
            "JavaScript: what's new? Modules, mostly.",
        ] {
            let rest = format!(
                ",\"schema\":{{\"@type\":\"Dataset\",\"name\":\"{text}\"}},\"x\":\"{text}\""
            );
            let block = format!("{{\"type\":\"widget\",\"label\":\"{text}\"}}");
            let line = line(&block, &rest);
            let view = ReaderView::of(&line).unwrap().unwrap();
            assert_eq!(view.line().matches(text).count(), 3, "{}", view.line());
        }
        for url in [
            "data:text/html,x",
            " DATA:\ttext/html;base64,AA",
            "data: text/html ,x",
            "data:te\nxt/html,x",
            "data:,x",
            "data:;base64,AA",
            "data:image/svg+xml",
            "javascript: alert(1)",
            "javascript:alert",
            "javascript: a=b",
            "javascript: alert`1`",
            "javascript: alert%281%29",
            "javascript: new Widget",
            "java\nscript: the good parts;x()",
            "file:///etc/passwd",
            "FILE:\\\\host\\x",
            "file:c:/x",
            "file:\t/etc",
            "blob:https://a.example/1",
        ] {
            assert!(is_unsafe_url(url), "{url:?}");
        }
    }

    #[test] // SCP-188
    fn removes_only_the_unsafe_members_of_a_schema() {
        let rest = r#","schema":{"@type":"Person","name":"N","url":"javascript:a","n":1.5,"image":["data:image/png;base64,AA","https://a.example/i.png",{"url":"file:///x","caption":"C"}]}"#;
        let line = line("", rest);
        let shown = r#""schema":{"@type":"Person","name":"N","n":1.5,"image":["https://a.example/i.png",{"caption":"C"}]}"#;
        let view = ReaderView::of(&line).unwrap().unwrap();
        assert!(view.line().contains(shown), "{}", view.line());
    }

    #[test]
    fn returns_the_stored_line_of_a_page_without_faults() {
        let line = line(" {\"type\" : \"text\",\"text\":\"T\"}", ",\"x\":[\"http://b.example/\"]");
        assert_eq!(ReaderView::of(&line).unwrap().unwrap().line(), line);
    }

    #[test]
    fn accepts_any_number_of_blocks_in_a_stored_page() {
        let blocks = vec![r#"{"type":"heading","level":0,"text":"T"}"#; 1500].join(",");
        let line = line(&blocks, "");
        assert_eq!(ReaderView::of(&line).unwrap().unwrap().page.content.len(), 1500);
    }

    #[test]
    fn content_digest_changes_only_with_the_content() {
        let base = line(r#"{"type":"text","text":"T"}"#, "");
        let digest = |line: &str| ReaderView::of(line).unwrap().unwrap().content_digest();
        for same in [
            base.replace("2026-01-01", "2026-02-02"),
            line(r#"{"type":"text","text":"T"}"#, ",\"author\":\"Z\""),
            line(r#"{"type":"text","text":"T"}"#, ",\"published\":\"2020-01-01T00:00:00Z\""),
            line(r#"{"type":"text","text":"\u0054"}"#, ""),
        ] {
            assert_eq!(digest(&same), digest(&base), "{same}");
        }
        for other in [
            base.replace("\"T\"", "\"U\""),
            base.replace("\"A\"", "\"AA\""),
            base.replace("\"B\"", "\"BB\""),
            base.replace("\"en\"", "\"de\""),
        ] {
            assert_ne!(digest(&other), digest(&base), "{other}");
        }
    }
}
