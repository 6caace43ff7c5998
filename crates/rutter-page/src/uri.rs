//! URI syntax of RFC 3986 for http and https URLs.
//!
//! [`is_uri`] checks each byte once, with a table, because it runs for every URL of every page.
//! [`to_uri`] escapes the bytes of a parsed URL that RFC 3986 forbids: the URL standard of browsers
//! allows `|`, `^`, `[` and lone `%`.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A byte that is not allowed anywhere.
const ODD: u8 = 1;
/// A byte that ends the authority.
const END: u8 = 2;
/// A byte that is allowed only around an IP address.
const BRACKET: u8 = 4;
/// The byte that starts an escape.
const PERCENT: u8 = 8;
/// The byte that starts the fragment.
const HASH: u8 = 16;

/// The class of each byte; 0 for bytes that are allowed everywhere.
#[expect(clippy::indexing_slicing, reason = "a byte below 128 is in the table")]
const CLASSES: [u8; 256] = {
    let mut table = [ODD; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => 0,
            b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' => 0,
            b':' | b'@' => 0,
            b'/' | b'?' => END,
            b'[' | b']' => BRACKET,
            b'%' => PERCENT,
            b'#' => HASH,
            _ => ODD,
        };
        byte += 1;
    }
    table
};

fn class_of(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(ODD)
}

/// Returns whether a text is an http or https URI of RFC 3986.
///
/// ```
/// # use rutter_page::is_uri;
/// assert!(is_uri("https://harbour.example/a%20b?c=d#e"));
/// for text in ["https://h.example/a b", "https://h.example/%zz", "https://h.example/ä", "/a"] {
///     assert!(!is_uri(text), "{text}");
/// }
/// ```
pub fn is_uri(text: &str) -> bool {
    let Some(rest) = after_scheme(text) else { return false };
    // Most URLs contain none of these bytes.
    let classes = rest.iter().fold(0, |classes, byte| classes | class_of(*byte));
    if classes & (ODD | BRACKET | PERCENT | HASH) == 0 {
        return true;
    }
    classes & ODD == 0 && find_fault(rest).is_none()
}

/// Returns the text after `http://` or `https://` of any case.
fn after_scheme(text: &str) -> Option<&[u8]> {
    let bytes = text.as_bytes();
    [&b"https://"[..], b"http://"].into_iter().find_map(|scheme| {
        let (start, rest) = bytes.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}

/// Returns the position of the first byte that is not allowed at its position.
fn find_fault(rest: &[u8]) -> Option<usize> {
    let authority = rest.iter().position(|byte| class_of(*byte) & (END | HASH) != 0);
    let authority = authority.unwrap_or(rest.len());
    let mut has_fragment = false;
    rest.iter().enumerate().position(|(at, byte)| match class_of(*byte) {
        ODD => true,
        BRACKET => authority <= at,
        PERCENT => !is_escape(rest.get(at..).unwrap_or_default()),
        HASH => std::mem::replace(&mut has_fragment, true),
        _ => false,
    })
}

fn is_escape(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

/// Escapes the bytes that RFC 3986 forbids in an http or https URL that a URL parser wrote.
///
/// The result names the same resource.
///
/// ```
/// # use rutter_page::to_uri;
/// assert_eq!(to_uri("https://h.example/a|b?c=[d]&e=5%#f#g"),
/// "https://h.example/a%7Cb?c=%5Bd%5D&e=5%25#f%23g");
/// ```
pub fn to_uri(url: &str) -> Cow<'_, str> {
    let Some(rest) = after_scheme(url).filter(|_| !is_uri(url)) else { return Cow::Borrowed(url) };
    let mut out = url.get(..url.len() - rest.len()).unwrap_or_default().to_owned();
    let mut is_authority = true;
    let mut has_fragment = false;
    for (at, &byte) in rest.iter().enumerate() {
        let class = class_of(byte);
        is_authority &= class & (END | HASH) == 0;
        let is_allowed = match class {
            ODD => false,
            BRACKET => is_authority,
            PERCENT => is_escape(rest.get(at..).unwrap_or_default()),
            HASH => !std::mem::replace(&mut has_fragment, true),
            _ => true,
        };
        if is_allowed {
            out.push(char::from(byte));
        } else {
            // Writing to memory cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test] // SCP-077 SCP-080
    fn accepts_only_uris() {
        for text in [
            "https://h.example",
            "http://h.example:8080/a/b;c=d?e=f/g?h#i/j?k",
            "https://[2001:db8::1]:443/",
            "HTTPS://H.example/%7Ea%E2%82%ac",
            "https://user:pw@h.example/!$&'()*+,;=:@-._~",
        ] {
            assert!(is_uri(text), "{text}");
        }
        for text in [
            "",
            "/a",
            "ftp://h.example/",
            "https://h.example/a b",
            "https://h.example/%zz",
            "https://h.example/%2",
            "https://h.example/%",
            "https://h.example/<x>",
            "https://h.example/ä",
            "https://bücher.example/",
            "https://h.example/a|b",
            "https://h.example/?q={x}",
            "https://h.example/?a[]=1",
            "https://h.example/#a#b",
            "https://h.example/a\\b",
            "https://h.example/\"",
            "https://h.example/^`",
            "https://h.example/a\u{7f}",
        ] {
            assert!(!is_uri(text), "{text}");
        }
    }

    proptest! {
        // SCP-077 SCP-080: every URL that a parser accepts can be written as a URI, and writing it
        // again changes nothing.
        #[test]
        fn every_parsed_url_becomes_a_uri(text in "https?://[a-z]{1,4}\\.example/[ -~éα\u{7f}]{0,24}") {
            if let Ok(url) = url::Url::parse(&text) {
                let uri = to_uri(url.as_str()).into_owned();
                prop_assert!(is_uri(&uri), "{}", uri);
                prop_assert_eq!(to_uri(&uri), uri.as_str());
                let again = url::Url::parse(&uri).expect("a URI parses");
                prop_assert_eq!(again.as_str(), uri.as_str());
                prop_assert_eq!(again.host_str(), url.host_str());
            }
        }
    }
}
