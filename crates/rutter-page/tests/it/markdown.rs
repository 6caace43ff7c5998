//! Hostile text in Markdown is rendered as plain text.
//!
//! Every text of `fixtures/markdown/payloads.json` is put into every field of a page. The pages are
//! written to `target/tmp/markdown`, where `cargo xtask markdown` checks them with other renderers
//! and a browser.

use std::fs;
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use rutter_page::{Admonition, BlockMarkup, InlineMark, InlineSpan, Page, PageLimits, PageReader};
use serde_json::{Value, json};

fn payloads() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/markdown/payloads.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Returns a page with the text in each of its fields.
fn page(payload: &str) -> Value {
    let url = "https://harbour.example/a";
    json!({
        "url": url, "title": payload, "description": payload, "author": payload,
        "modified": "2026-05-01T00:00:00Z", "language": "en",
        "content": [
            { "type": "text", "text": payload },
            { "type": "heading", "level": 2, "text": payload },
            { "type": "link", "url": "https://harbour.example/\"onclick=hit('url')", "text": payload },
            { "type": "image", "url": url, "alt": payload },
            { "type": "list", "ordered": false, "items": [payload, format!("    - {payload}")] },
            { "type": "code", "language": payload, "code": payload },
            { "type": "list", "ordered": true, "items": [payload] },
            { "type": "code", "code": format!("let a = 1;\n\n{payload}\n\nlet b = 2;") },
            { "type": "code", "code": "plain" },
            { "type": "table", "rows": [[payload, "b"], ["c", payload]] },
            { "type": "quote", "text": payload, "citation": payload },
            { "type": "video", "name": payload, "url": url, "summary": payload,
                "chapters": [{ "time": 1, "title": payload }], "transcript": payload },
            { "type": "code", "code": payload },
            { "type": "text", "text": format!("word {payload}") },
            { "type": "text", "text": payload },
            { "type": "text", "text": payload },
            { "type": "list", "ordered": false, "items": [payload] },
            { "type": "code", "code": format!("a\n\n{payload}") },
        ],
    })
}

/// Returns markup for the blocks of [`page`]: marks of every kind over the whole text, and the last
/// blocks in an admonition.
fn decoration(page: &Page<'_>, payload: &str) -> Vec<BlockMarkup> {
    let end = u32::try_from(payload.len()).unwrap();
    let span = |mark| InlineSpan { part: 0, start: 0, end, mark };
    let mut rich = vec![BlockMarkup::default(); page.content.len()];
    let n = rich.len();
    rich[0].spans = vec![span(InlineMark::Code)];
    rich[1].spans = vec![span(InlineMark::Link("javascript:hit('mark')".into()))];
    rich[4].spans = vec![span(InlineMark::Code)];
    rich[9].spans = vec![span(InlineMark::Code)];
    rich[10].spans = vec![span(InlineMark::Strong)];
    rich[n - 4].spans = vec![span(InlineMark::Math)];
    rich[n - 3].spans = vec![span(InlineMark::Link("https://harbour.example/(a) b\"".into()))];
    for one in &mut rich[n - 3..] {
        one.note = Some(Admonition { kind: "note".to_owned(), group: 1 });
    }
    rich
}

/// Returns the raw HTML and links that a `CommonMark` renderer finds in Markdown.
fn hazards(markdown: &str) -> Vec<String> {
    let mut found = Vec::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) if html.trim() != "<!-- -->" => {
                found.push(html.to_string());
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. })
                if !dest_url.starts_with("https://harbour.example/") =>
            {
                found.push(dest_url.to_string());
            }
            _ => {}
        }
    }
    found
}

#[test] // SCP-187 SCP-189
fn hostile_text_is_neither_html_nor_a_link() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("markdown");
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).unwrap();
    for (n, payload) in payloads().iter().enumerate() {
        let line = page(payload).to_string();
        let page = PageReader::new(PageLimits::SPEC).read(&line, 1, &mut ()).unwrap().unwrap();
        let (plain, rich) =
            (page.to_markdown(), page.to_rich_markdown(&decoration(&page, payload)));
        for (kind, markdown) in [("plain", plain), ("rich", rich)] {
            assert_eq!(hazards(&markdown), [""; 0], "{payload}\n{markdown}");
            fs::write(folder.join(format!("{n:02}-{kind}.md")), markdown).unwrap();
        }
    }
}

/// Returns the rendered text of the first paragraph.
fn first_paragraph(markdown: &str) -> String {
    let mut text = String::new();
    for event in Parser::new(markdown) {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            Event::End(TagEnd::Paragraph) => text.push(' '),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn rendered_text_equals_the_original() {
    let odd = ["R&D", "a & b", "x &lt; y", "{a=1}", "5 < 6", "Vec<T>", "&", "a\\&b"];
    for text in payloads().iter().map(String::as_str).chain(odd) {
        let seen: String = text.chars().filter(|c| !c.is_control() || c.is_whitespace()).collect();
        let seen = seen.split_whitespace().collect::<Vec<_>>().join(" ");
        let block = json!({ "type": "text", "text": text }).to_string();
        let block: rutter_page::Block<'_> = serde_json::from_str(&block).unwrap();
        assert_eq!(first_paragraph(&block.to_markdown()), seen, "{}", block.to_markdown());
    }
}

#[test]
fn code_is_fenced_unless_it_could_run() {
    let code = |code: &str| {
        let block = json!({ "type": "code", "language": "rust", "code": code }).to_string();
        serde_json::from_str::<rutter_page::Block<'_>>(&block).unwrap().to_markdown()
    };
    for text in ["let a: Vec<T> = b;", "if a < b { c = d }", "HashMap<String, u32>", "x = [1](2)"] {
        assert_eq!(code(text), format!("```rust\n{text}\n```"));
    }
    assert_eq!(code("<b a=1>\n\n  x\n"), "    <b a=1>\n\n      x");
    for text in ["<Script>", "[a](JavaScript:b)", "[a]: data:text/html,x", "{: onclick=a }"] {
        assert_eq!(code(text), format!("    {text}"));
    }
}
