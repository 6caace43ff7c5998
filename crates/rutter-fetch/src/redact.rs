//! Removes secrets from addresses before they are shown or logged.
//!
//! Input: an address, or text that contains addresses. Output: the same text
//! without user names and passwords, and with `…` in place of the values of
//! parameters that sign or authorise a request. One pass, linear in the text.

use url::Url;

/// Parts of parameter names that mark a secret wherever they occur.
const PARTS: [&str; 14] = [
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "signature",
    "session",
    "apikey",
    "accesskey",
    "authorization",
    "jwt",
    "hmac",
    "x-amz-",
    "x-goog-",
];

/// Words that mark a secret where they are a word of the name: `key`,
/// `api_key`, `key-pair-id`, but not `keyword`.
const WORDS: [&str; 10] =
    ["key", "sig", "sign", "auth", "oauth", "pwd", "pass", "sid", "policy", "code"];

/// Longest parameter name that is recognised, in bytes.
const LONGEST_NAME: usize = 128;

/// Shows an address without user, password and the values of signed or secret
/// parameters.
///
/// ```
/// # use url::Url;
/// let url = Url::parse("https://u:p@h.example/a?page=2&X-Amz-Signature=abc").unwrap();
/// assert_eq!(rutter_fetch::shown(&url), "https://h.example/a?page=2&X-Amz-Signature=…");
/// ```
pub fn shown(url: &Url) -> String {
    rutter_finding::visible(&redacted(url.as_str()))
}

/// Removes secrets from every address in a text.
///
/// ```
/// let text = "`https://u:p@h.example/a?keyword=x&sig=abc#top`: status 403";
/// let wanted = "`https://h.example/a?keyword=x&sig=…#top`: status 403";
/// assert_eq!(rutter_fetch::redacted(text), wanted);
/// ```
pub fn redacted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find([':', '?', '&', ';', '#']) {
        let (before, tail) = rest.split_at(at);
        shown.push_str(before);
        if let Some(authority) = tail.strip_prefix("://") {
            shown.push_str("://");
            rest = without_user(authority);
            continue;
        }
        let mut chars = tail.chars();
        let Some(sign) = chars.next() else { break };
        shown.push(sign);
        rest = chars.as_str();
        if sign == ':' {
            continue;
        }
        if let Some((name, value)) = secret_parameter(rest) {
            shown.push_str(name);
            shown.push_str("=…");
            rest = value.get(length_of(value, sign)..).unwrap_or_default();
        }
    }
    shown.push_str(rest);
    shown
}

/// What follows the user name and password at the beginning of an authority.
fn without_user(authority: &str) -> &str {
    let end = authority.find(|c: char| is_end(c) || matches!(c, '/' | '?' | '#' | '\\'));
    let host = authority.get(..end.unwrap_or(authority.len())).unwrap_or_default();
    host.rfind('@').and_then(|at| authority.get(at + 1..)).unwrap_or(authority)
}

/// Name and the text behind its `=`, where the name is that of a secret.
fn secret_parameter(text: &str) -> Option<(&str, &str)> {
    let bytes = text.as_bytes();
    let end = bytes.iter().take(LONGEST_NAME).position(|byte| {
        !byte.is_ascii_alphanumeric() && !matches!(byte, b'-' | b'_' | b'.' | b'%' | b'[' | b']')
    })?;
    let (name, value) = (text.get(..end)?, text.get(end..)?.strip_prefix('=')?);
    is_secret(name).then_some((name, value))
}

fn is_secret(name: &str) -> bool {
    let decoded = url::form_urlencoded::parse(name.as_bytes()).next();
    let name = decoded.map(|(name, _)| name.to_ascii_lowercase()).unwrap_or_default();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    PARTS.iter().any(|part| name.contains(part)) || words.any(|word| WORDS.contains(&word))
}

/// Bytes of a value that began behind a parameter with this sign.
fn length_of(value: &str, sign: char) -> usize {
    let is_over = |c: char| {
        is_end(c) || matches!(c, '&' | '#') || (sign == ';' && matches!(c, ';' | '/' | '?'))
    };
    value.find(is_over).unwrap_or(value.len())
}

/// Whether a character ends an address in a text.
fn is_end(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_every_secret_and_nothing_else() {
        for (text, wanted) in [
            ("https://h.example/a?b=c&d=e", "https://h.example/a?b=c&d=e"),
            ("https://h.example/?keyword=key&design=1", "https://h.example/?keyword=key&design=1"),
            ("https://h.example/?token=abc&x=1", "https://h.example/?token=…&x=1"),
            ("https://h.example/?x=1&KEY=a;b", "https://h.example/?x=1&KEY=…"),
            ("https://h.example/?%74oken=abc", "https://h.example/?%74oken=…"),
            (
                "https://h.example/?api_key=a&sv=1&sig=b%2F",
                "https://h.example/?api_key=…&sv=1&sig=…",
            ),
            (
                "https://b.s3.example/f.scp?X-Amz-Credential=AK&X-Amz-Signature=0f#x",
                "https://b.s3.example/f.scp?X-Amz-Credential=…&X-Amz-Signature=…#x",
            ),
            ("https://h.example/a;jsessionid=9/b", "https://h.example/a;jsessionid=…/b"),
            ("https://h.example/#access_token=9", "https://h.example/#access_token=…"),
            ("https://u:p@h.example/a@b", "https://h.example/a@b"),
            ("https://u:p@q@h.example", "https://h.example"),
            ("http://[::1]:80/a", "http://[::1]:80/a"),
            (
                "redirect to `https://u:p@h.example/?sig=1` and http://v@i.example?key=2: no",
                "redirect to `https://h.example/?sig=…` and http://i.example?key=… no",
            ),
            ("line 3: Disallow: /", "line 3: Disallow: /"),
            ("ä?tokenü=x&token=ü x", "ä?tokenü=x&token=… x"),
            ("", ""),
        ] {
            assert_eq!(redacted(text), wanted, "{text}");
        }
    }
}
