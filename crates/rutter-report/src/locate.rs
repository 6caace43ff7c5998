//! Finds the value of a JSON pointer (RFC 6901) in the text of a document.
//!
//! The result is only used for display: if the value does not exist, the nearest enclosing value is
//! returned. The text is read once, without recursion.

use std::borrow::Cow;
use std::ops::Range;

/// Returns the byte range of the value of a pointer, or of the object or array that
/// lacks it; `None` if the text is not JSON.
pub(crate) fn locate(text: &[u8], pointer: &str) -> Option<Range<usize>> {
    let mut at = skip_space(text, 0);
    text.get(at)?;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let found = match text.get(at) {
            Some(b'{') => member(text, at, &token),
            Some(b'[') => item(text, at, token.parse().ok()?),
            _ => None,
        };
        let Some(found) = found else {
            // The value is missing, so return the opening bracket of its container.
            return Some(at..text.len().min(at + 1));
        };
        at = found;
    }
    Some(at..skip_value(text, at))
}

/// Returns the start of the value of a member. If the member occurs twice, the last value counts.
fn member(text: &[u8], object: usize, name: &str) -> Option<usize> {
    let mut at = skip_space(text, object + 1);
    let mut found = None;
    while text.get(at) == Some(&b'"') {
        let end = skip_value(text, at);
        let key: Cow<'_, str> = serde_json::from_slice(text.get(at..end)?).ok()?;
        at = skip_space(text, end);
        if text.get(at) != Some(&b':') {
            break;
        }
        at = skip_space(text, at + 1);
        if key == name {
            found = Some(at);
        }
        at = skip_space(text, skip_value(text, at));
        if text.get(at) != Some(&b',') {
            break;
        }
        at = skip_space(text, at + 1);
    }
    found
}

/// Returns the start of an array item.
fn item(text: &[u8], array: usize, idx: usize) -> Option<usize> {
    let mut at = skip_space(text, array + 1);
    for _ in 0..idx {
        at = skip_space(text, skip_value(text, at));
        if text.get(at) != Some(&b',') {
            return None;
        }
        at = skip_space(text, at + 1);
    }
    text.get(at).filter(|byte| **byte != b']').map(|_| at)
}

fn skip_space(text: &[u8], from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns the position after a value, or the end of the text. It is always after `from`.
fn skip_value(text: &[u8], from: usize) -> usize {
    let mut at = from;
    let mut depth = 0_usize;
    loop {
        match text.get(at) {
            None => return text.len(),
            Some(b'"') => at = skip_string(text, at),
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
            }
            Some(b'}' | b']') => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            Some(b',' | b':') => at += 1,
            Some(byte) if byte.is_ascii_whitespace() => at += 1,
            Some(_) => {
                let rest = text.get(at..).unwrap_or_default();
                let is_end = |byte: &u8| b",:]}[{\"".contains(byte) || byte.is_ascii_whitespace();
                at += rest.iter().position(is_end).unwrap_or(rest.len());
            }
        }
        if depth == 0 {
            return at;
        }
    }
}

fn skip_string(text: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    loop {
        match text.get(at) {
            None => return text.len(),
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::locate;

    fn found<'t>(text: &'t str, pointer: &str) -> Option<&'t str> {
        locate(text.as_bytes(), pointer).and_then(|span| text.get(span))
    }

    #[test]
    fn finds_value_of_pointer() {
        let text = r#"{ "a": [1, {"b/c": "x\"]"}, true], "a~": null, "e": {} }"#;
        assert_eq!(found(text, "/a/1/b~1c"), Some(r#""x\"]""#));
        assert_eq!(found(text, "/a/2"), Some("true"));
        assert_eq!(found(text, "/a~0"), Some("null"));
        assert_eq!(found(text, "/e"), Some("{}"));
        assert_eq!(found(text, ""), Some(text));
    }

    #[test]
    fn missing_value_returns_its_container() {
        assert_eq!(found(r#"{"a":{"b":1}}"#, "/a/c"), Some("{"));
        assert_eq!(found("[1,2]", "/7"), Some("["));
    }

    #[test]
    fn stops_at_invalid_text() {
        for text in
            ["", "{", "[", "\"", "{\"a\"", "{\"a\":", "[1,", "{\"a\":\"\\", "}", "nul", ",,"]
        {
            for pointer in ["", "/a", "/0", "/a/b/0"] {
                let span = locate(text.as_bytes(), pointer).unwrap_or_default();
                assert!(span.end <= text.len(), "{text} {pointer}");
            }
        }
    }
}
