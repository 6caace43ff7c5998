//! Removes markup: returns the text of a Markdown document, and of a served HTML document.
//!
//! Rejects no input; malformed markup is read as text.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Returns the text of a Markdown document, one line per block. The values of its front matter
/// come first.
pub(crate) fn of_markdown(markdown: &str) -> String {
    let mut out = String::new();
    let body = front_matter(markdown, &mut out);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(body, options) {
        match event {
            Event::Text(text) | Event::Code(text) => out.push_str(&text),
            Event::SoftBreak | Event::HardBreak => out.push(' '),
            Event::InlineMath(text) | Event::DisplayMath(text) => out.push_str(&text),
            Event::Start(tag) if is_block(&tag) => end_line(&mut out),
            Event::End(tag) if is_block_end(tag) => end_line(&mut out),
            Event::Rule => end_line(&mut out),
            Event::Start(_)
            | Event::End(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
    }
    out
}

fn end_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

fn is_block(tag: &Tag<'_>) -> bool {
    !matches!(
        tag,
        Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. }
    )
}

fn is_block_end(tag: TagEnd) -> bool {
    !matches!(
        tag,
        TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image
    )
}

/// Appends the values of YAML front matter and returns the rest of the document.
fn front_matter<'m>(markdown: &'m str, out: &mut String) -> &'m str {
    let Some(rest) = markdown.strip_prefix("---\n") else { return markdown };
    let Some((matter, body)) = rest.split_once("\n---\n") else { return markdown };
    for line in matter.lines() {
        let Some((_, value)) = line.split_once(": ") else { continue };
        let value = value.trim();
        match serde_json::from_str::<String>(value) {
            Ok(value) => out.push_str(&value.replace('\n', " ")),
            Err(_) => out.push_str(value.trim_matches('\'')),
        }
        out.push('\n');
    }
    body
}

/// Returns the content of a served document in two variants: tags removed, and tags replaced by
/// spaces. Attribute values, scripts and comments follow, one per line.
pub(crate) fn of_document(document: &str) -> [String; 2] {
    let (mut joined, mut apart, mut lines) = (String::new(), String::new(), String::new());
    let mut rest = document;
    let mut is_quoting = true;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        let (text, markup) = rest.split_at(at);
        push_text(text, &mut joined);
        push_text(text, &mut apart);
        let (markup, behind) = cut_markup(markup, &mut is_quoting);
        rest = behind;
        match markup {
            MarkupToken::Text(text) => {
                joined.push_str(text);
                apart.push_str(text);
            }
            MarkupToken::Comment(text) => push_line(text, &mut lines),
            MarkupToken::Tag(tag) => {
                apart.push(' ');
                push_values(tag, &mut lines);
                if let Some(end) = raw_end(tag, rest) {
                    let (inside, behind) = rest.split_at(end);
                    push_line(inside, &mut lines);
                    rest = behind;
                }
            }
        }
    }
    push_text(rest, &mut joined);
    push_text(rest, &mut apart);
    // A text of the document may continue on the next line.
    let whole = |text: String| format!("{}\n{lines}", text.replace('\n', " "));
    [whole(joined), whole(apart)]
}

enum MarkupToken<'d> {
    Text(&'d str),
    Comment(&'d str),
    /// The text between the angle brackets.
    Tag(&'d str),
}

/// Splits a document that begins with `<` after its first token.
///
/// After an unclosed quote, quotes are ignored in the rest of the document. Otherwise each further
/// quote would cause a search to the end of the document.
fn cut_markup<'d>(markup: &'d str, is_quoting: &mut bool) -> (MarkupToken<'d>, &'d str) {
    if let Some(inside) = markup.strip_prefix("<!--") {
        let (text, rest) = inside.split_once("-->").unwrap_or((inside, ""));
        return (MarkupToken::Comment(text), rest);
    }
    let begins = markup.as_bytes().get(1).copied().unwrap_or(0);
    if !(begins.is_ascii_alphabetic() || matches!(begins, b'/' | b'!' | b'?')) {
        let (text, rest) = markup.split_at(1);
        return (MarkupToken::Text(text), rest);
    }
    let mut end = is_quoting.then(|| end_of_tag(markup)).flatten();
    if end.is_none() {
        *is_quoting = false;
        end = memchr::memchr(b'>', markup.as_bytes());
    }
    match end {
        Some(end) => {
            let (tag, rest) = (markup.get(1..end), markup.get(end + 1..));
            (MarkupToken::Tag(tag.unwrap_or("")), rest.unwrap_or(""))
        }
        None => (MarkupToken::Text(markup), ""),
    }
}

/// Returns the position of the first `>` outside quotes.
fn end_of_tag(markup: &str) -> Option<usize> {
    let mut quote = None;
    markup.bytes().position(|byte| {
        match (quote, byte) {
            (None, b'>') => return true,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
        false
    })
}

/// Returns the position at which the content of a raw-text element, such as `script`, ends.
fn raw_end(tag: &str, rest: &str) -> Option<usize> {
    let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let end = match name.to_ascii_lowercase().as_str() {
        "script" => "</script",
        "style" => "</style",
        _ => return None,
    };
    let mut from = 0;
    while let Some(at) = memchr::memmem::find(rest.as_bytes().get(from..)?, b"</") {
        let here = rest.get(from + at..)?;
        if here.get(..end.len()).is_some_and(|it| it.eq_ignore_ascii_case(end)) {
            return Some(from + at);
        }
        from += at + 2;
    }
    Some(rest.len())
}

/// Appends the attribute values of a tag, one per line.
fn push_values(tag: &str, out: &mut String) {
    let mut rest = tag;
    while let Some((_, value)) = rest.split_once('=') {
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let (value, behind) = match quote {
            Some(quote) => {
                let inside = value.get(1..).unwrap_or("");
                inside.split_once(quote).unwrap_or((inside, ""))
            }
            None => value.split_once(char::is_whitespace).unwrap_or((value, "")),
        };
        push_line(value, out);
        rest = behind;
    }
}

fn push_line(text: &str, out: &mut String) {
    let mut line = String::new();
    push_text(text, &mut line);
    out.push_str(&line.replace(['\n', '\r'], " "));
    out.push('\n');
}

/// Appends a text with common character references resolved.
fn push_text(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some((before, reference)) = rest.split_once('&') {
        out.push_str(before);
        match resolved(reference) {
            Some((c, behind)) => {
                out.push(c);
                rest = behind;
            }
            None => {
                out.push('&');
                rest = reference;
            }
        }
    }
    out.push_str(rest);
}

fn resolved(reference: &str) -> Option<(char, &str)> {
    let end = reference.bytes().take(10).position(|byte| byte == b';')?;
    let (name, behind) = (reference.get(..end)?, reference.get(end + 1..)?);
    let c = match name.strip_prefix('#') {
        Some(number) => {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
        None => NAMES.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((c, behind))
}

/// Common named references; the visible text covers all others.
const NAMES: [(&str, char); 20] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", '\u{a0}'),
    ("shy", '\u{ad}'),
    ("ndash", '\u{2013}'),
    ("mdash", '\u{2014}'),
    ("lsquo", '\u{2018}'),
    ("rsquo", '\u{2019}'),
    ("sbquo", '\u{201a}'),
    ("ldquo", '\u{201c}'),
    ("rdquo", '\u{201d}'),
    ("bdquo", '\u{201e}'),
    ("laquo", '\u{ab}'),
    ("raquo", '\u{bb}'),
    ("hellip", '\u{2026}'),
    ("copy", '\u{a9}'),
    ("reg", '\u{ae}'),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markdown_text_has_no_syntax() {
        let text = of_markdown(
            "---\ntitle: \"The \\\"Tide\\\" House\"\nmodified: 2026\n---\n\
             # The *Tide* [House](https://x.example \"t\")\n\nOne\ntwo\\\nthree `co de` \\*star\\* &amp;\n\n\
             - **it**em\n- other\n\n> quoted\n\n| a | b |\n| --- | --- |\n| c\\|d | e |\n\n```rs\nlet x;\n```\n\n---\n\n![alt](x.png)\n",
        );
        assert_eq!(
            text,
            "The \"Tide\" House\n2026\nThe Tide House\nOne two three co de *star* &\nitem\nother\n\
             quoted\na\nb\nc|d\ne\nlet x;\nalt\n"
        );
    }

    #[test]
    fn document_text_has_attributes_scripts_and_comments() {
        let [joined, apart] = of_document(
            "<title>T&amp;H</title><meta name=d content='in a \"meta\"'><p>Ti<b>de</b></p><p>House</p>\n\
             <!-- in a comment --><script>if (a<b) x = \"in a script\"</SCRIPT><img alt=\"in &#x61; >tag\" src=x.png>1 < 2 &unknown; <br",
        );
        assert!(joined.starts_with("T&HTideHouse "), "{joined}");
        assert!(apart.starts_with(" T&H   Ti de   House "), "{apart}");
        for text in [&joined, &apart] {
            for part in [
                "in a \"meta\"\n",
                " in a comment \n",
                "(a<b) x = \"in a script\"\n",
                "in a >tag\n",
                "x.png\n",
                "1 < 2 &unknown; <br\n",
            ] {
                assert!(text.contains(part), "{part} in {text}");
            }
        }
    }

    proptest! {
        #[test]
        fn arbitrary_markup_does_not_panic(text in "[<>!/a='\"&;#x -]{0,60}|(<script>|</script|<!--|-->|<a b='|&#x|\n---\n|[*_`#|>]){0,12}") {
            let [joined, apart] = of_document(&text);
            prop_assert!(joined.len() <= 3 * text.len() + 60 && apart.len() <= 4 * text.len() + 60);
            of_markdown(&text);
        }
    }
}
