//! Addresses as sitemaps have them: looked at, rarely parsed.

use rutter_page::PageUrl;

/// Tells whether a text is an absolute http(s) address of characters that
/// addresses may have.
pub(super) fn is_plain_address(text: &str) -> bool {
    let Some(rest) = after_scheme(text) else { return false };
    let is_host = rest.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    // Without branches, so that the compiler looks at many bytes at once.
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

/// Tells whether a parser makes an http(s) address of a text.
pub(super) fn is_address(text: &str) -> bool {
    is_plain_address(text) || rutter_page::HttpUrl::parse(text).is_ok()
}

/// Resolves a relative address against that of the sitemap; `None` where the
/// result is no http(s) address.
///
/// `h.example/a` in a sitemap of `h.example` lacks its scheme; it is not the
/// path of a file.
pub(super) fn resolve(base: &PageUrl<'_>, reference: &str) -> Option<String> {
    let host = reference.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() && !reference.starts_with('/') {
        return None;
    }
    let has_host = host.eq_ignore_ascii_case(base.host());
    let whole = if has_host { format!("//{reference}") } else { reference.to_owned() };
    base.join(&whole).ok().map(|url| url.as_str().to_owned())
}

/// What follows `http://` or `https://`.
pub(super) fn after_scheme(text: &str) -> Option<&str> {
    let is = |length, scheme: &str| {
        text.get(..length).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if is(8, "https://") {
        return text.get(8..);
    }
    if is(7, "http://") { text.get(7..) } else { None }
}
