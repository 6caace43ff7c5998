//! Addresses as sitemaps have them: looked at, rarely parsed.

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
