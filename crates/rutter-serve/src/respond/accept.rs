//! Content negotiation: `Accept` and `Accept-Encoding` with their q-values (RFC 9110, section 12).
//!
//! Invalid elements are ignored.

use http::HeaderMap;
use http::header::{ACCEPT, ACCEPT_ENCODING, HeaderName};

/// Maximum number of elements that are read from a list header.
const MAX_ENTRIES: usize = 64;

/// Returns whether `Accept-Encoding` accepts gzip with at least the weight of the identity coding.
pub(crate) fn wants_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut identity, mut any) = (None, None, None);
    each(headers, &ACCEPT_ENCODING, |name, weight| {
        if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") {
            gzip = gzip.max(Some(weight));
        } else if name.eq_ignore_ascii_case("identity") {
            identity = identity.max(Some(weight));
        } else if name == "*" {
            any = any.max(Some(weight));
        }
    });
    let gzip = gzip.or(any).unwrap_or(0);
    // An identity coding that is not listed is acceptable, but a listed coding is preferred.
    0 < gzip && identity.or(any).is_none_or(|identity| identity <= gzip)
}

/// Returns whether `Accept` lists Markdown with at least the weight of HTML.
///
/// Browsers do not list Markdown, so a client that lists it prefers it. `*/*` means HTML.
pub(crate) fn wants_markdown(headers: &HeaderMap) -> bool {
    let (mut markdown, mut html, mut text, mut any) = (None, None, None, None);
    each(headers, &ACCEPT, |name, weight| {
        let place = if name.eq_ignore_ascii_case("text/markdown") {
            &mut markdown
        } else if name.eq_ignore_ascii_case("text/html") {
            &mut html
        } else if name.eq_ignore_ascii_case("text/*") {
            &mut text
        } else if name == "*/*" {
            &mut any
        } else {
            return;
        };
        *place = (*place).max(Some(weight));
    });
    let Some(markdown) = markdown else { return false };
    0 < markdown && html.or(text).or(any).unwrap_or(0) <= markdown
}

/// Calls `take` for each element of a list header, with its weight in thousandths.
fn each(headers: &HeaderMap, name: &HeaderName, mut take: impl FnMut(&str, u16)) {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    for element in values.flat_map(|value| value.split(',')).take(MAX_ENTRIES) {
        let mut parts = element.split(';').map(str::trim);
        let Some(name) = parts.next().filter(|name| !name.is_empty()) else { continue };
        let mut weight = Some(1000);
        for part in parts {
            if let Some((key, value)) = part.split_once('=')
                && key.trim().eq_ignore_ascii_case("q")
            {
                weight = thousandths(value.trim());
            }
        }
        if let Some(weight) = weight {
            take(name, weight);
        }
    }
}

/// Parses a q-value such as `0`, `1`, `0.5` or `0.125`; returns it in thousandths.
fn thousandths(text: &str) -> Option<u16> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let is_short = rest.len() <= 3 && rest.bytes().all(|byte| byte.is_ascii_digit());
    let rest: u16 = if is_short { format!("{rest:0<3}").parse().ok()? } else { return None };
    match whole {
        "0" => Some(rest),
        "1" if rest == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test] // ARC-023
    fn chooses_gzip_by_weight() {
        for (values, wanted) in [
            (&[][..], false),
            (&["gzip"], true),
            (&["GZIP"], true),
            (&["gzip;q=0"], false),
            (&["gzip;q=0.000"], false),
            (&["gzip;q=0.5"], true),
            (&["identity, gzip;q=0.5"], false),
            (&["identity;q=0.5, gzip;q=0.5"], true),
            (&["br, zstd"], false),
            (&["*"], true),
            (&["*;q=0"], false),
            (&["*;q=0, gzip"], true),
            (&["gzip;q=0, *"], false),
            (&["deflate", "gzip;q=0.8"], true),
            (&["gzip;q=7"], false),
            (&["gzip;q="], false),
            (&["gzip;q=0.1234"], false),
            (&["gzip;q=1.5"], false),
            (&[",,;q=1,"], false),
        ] {
            assert_eq!(wants_gzip(&with(&ACCEPT_ENCODING, values)), wanted, "{values:?}");
        }
    }

    #[test]
    fn chooses_markdown_if_listed() {
        for (value, wanted) in [
            ("text/markdown", true),
            ("text/markdown, */*", true),
            ("text/markdown, text/html, */*;q=0.1", true),
            ("text/html, text/markdown;q=0.9", false),
            ("text/markdown;q=0.9, text/html;q=0.8", true),
            ("text/markdown; charset=utf-8; q=0.2, text/*;q=0.1", true),
            ("text/markdown;q=0", false),
            ("*/*", false),
            ("text/*", false),
            ("text/html,application/xhtml+xml,*/*;q=0.8", false),
            ("Text/Markdown", true),
            ("text/markdown;q=x", false),
            ("", false),
        ] {
            assert_eq!(wants_markdown(&with(&ACCEPT, &[value])), wanted, "{value}");
        }
    }
}
