//! Addresses as sitemaps have them: looked at, rarely parsed.

/// Tells whether a text is an absolute http(s) address of characters that
/// addresses may have.
pub(super) fn is_plain_address(text: &str) -> bool {
    let Some(rest) = after_scheme(text) else { return false };
    let is_host = rest.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    is_host
        && rest.bytes().all(|byte| {
            byte.is_ascii_graphic()
                && !matches!(byte, b'<' | b'>' | b'"' | b'{' | b'}' | b'|' | b'\\' | b'^' | b'`')
        })
}

/// Tells whether a parser makes an http(s) address of a text.
pub(super) fn is_address(text: &str) -> bool {
    is_plain_address(text) || rutter_page::HttpUrl::parse(text).is_ok()
}

/// What follows `http://` or `https://`.
pub(super) fn after_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
    is_web.then_some(rest)
}
