//! Escapes text from checked files for HTML and XML.

use rutter_finding::shown;

/// Escapes text for HTML elements and quoted attributes, including invisible characters.
pub(crate) fn html(text: &str) -> String {
    markup(&shown(text))
}

/// Escapes text for XML 1.0 elements and quoted attributes. XML 1.0 cannot represent most control
/// characters.
pub(crate) fn xml(text: &str) -> String {
    let is_forbidden = |c: char| matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    markup(&text.replace(is_forbidden, "\u{fffd}"))
}

/// Converts backticks to `code` elements; the text must be escaped already.
pub(crate) fn codes(text: &str) -> String {
    let mut marked = String::new();
    let mut parts = text.split('`');
    marked.push_str(parts.next().unwrap_or_default());
    while let Some(code) = parts.next() {
        match parts.next() {
            Some(rest) => marked.extend(["<code>", code, "</code>", rest]),
            None => marked.extend(["`", code]),
        }
    }
    marked
}

fn markup(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + text.len() / 8);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{codes, html, xml};

    #[test]
    fn converts_backticks_to_code() {
        assert_eq!(codes("a `b` and `c"), "a <code>b</code> and `c");
    }

    #[test]
    fn escapes_markup_and_invisible_characters() {
        let hostile = "</script>--><img src=x onerror='a()'>\"]]>\u{0}\u{1b}\u{202e}\u{200b}";
        let safe = html(hostile);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{202e}', '\u{200b}', '\u{0}', '\u{1b}']));
        assert!(safe.contains("\\u{202e}"));
        let safe = xml(hostile);
        assert!(!safe.contains(['<', '>', '"', '\'', '\u{0}', '\u{1b}']));
    }
}
