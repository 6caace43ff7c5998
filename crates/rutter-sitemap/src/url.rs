//! Validates and resolves URLs in sitemaps, and avoids full parsing where possible.

use rutter_page::PageUrl;

/// Returns whether `text` is an absolute http(s) URL in which no character needs percent-encoding.
pub(super) fn is_plain_url(text: &str) -> bool {
    let Some(rest) = after_scheme(text) else { return false };
    let is_host = rest.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    // Without branches, so that the compiler can vectorise the loop.
    let is_bad = |byte: u8| {
        u8::from(!byte.is_ascii_graphic())
            | u8::from(byte == b'<')
            | u8::from(byte == b'>')
            | u8::from(byte == b'"')
            | u8::from(byte == b'{')
            | u8::from(byte == b'}')
            | u8::from(byte == b'|')
            | u8::from(byte == b'\\')
            | u8::from(byte == b'^')
            | u8::from(byte == b'`')
    };
    is_host && rest.bytes().fold(0, |bad, byte| bad | is_bad(byte)) == 0
}

/// Returns whether `text` parses as an http(s) URL.
pub(super) fn is_url(text: &str) -> bool {
    is_plain_url(text) || rutter_page::HttpUrl::parse(text).is_ok()
}

/// Resolves a relative URL against the URL of the sitemap; returns `None` if
/// the result is not an http(s) URL.
///
/// In a sitemap of the host `h.example`, the reference `h.example/a` is treated as a URL without a
/// scheme, not as a relative path.
pub(super) fn resolve(base: &PageUrl<'_>, reference: &str) -> Option<String> {
    let host = reference.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() && !reference.starts_with('/') {
        return None;
    }
    let has_host = host.eq_ignore_ascii_case(base.host());
    let whole = if has_host { format!("//{reference}") } else { reference.to_owned() };
    base.join(&whole).ok().map(|url| url.as_str().to_owned())
}

/// Returns the part of a URL after `http://` or `https://`; `None` for another scheme.
pub(super) fn after_scheme(text: &str) -> Option<&str> {
    let is = |length, scheme: &str| {
        text.get(..length).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if is(8, "https://") {
        return text.get(8..);
    }
    if is(7, "http://") { text.get(7..) } else { None }
}
