//! Removes secrets from URLs before they are displayed or logged.
//!
//! Input: a URL, or text that contains URLs. Output: the same text without user names and
//! passwords, and with `…` in place of the values of parameters that sign or authorize a request.
//! The cost is O(n) in bytes of the text.

use url::Url;

/// A parameter is secret if its name contains one of these texts.
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

/// A parameter is secret if one of these is a whole word of its name. The word `key` matches `key`,
/// `api_key` and `key-pair-id`, but not `keyword`.
const WORDS: [&str; 10] =
    ["key", "sig", "sign", "auth", "oauth", "pwd", "pass", "sid", "policy", "code"];

/// Maximum length of a parameter name, in bytes; a longer name is not recognized as secret.
const LONGEST_NAME: usize = 128;

/// Formats a URL for display, without user name, password and values of secret parameters.
///
/// ```
/// # use url::Url;
/// let url = Url::parse("https://u:p@h.example/a?page=2&X-Amz-Signature=abc").unwrap();
/// assert_eq!(rutter_fetch::redact_url(&url), "https://h.example/a?page=2&X-Amz-Signature=…");
/// ```
pub fn redact_url(url: &Url) -> String {
    rutter_finding::visible(&redact(url.as_str()))
}

/// Removes secrets from all URLs in a text.
///
/// ```
/// let text = "`https://u:p@h.example/a?keyword=x&sig=abc#top`: status 403";
/// let wanted = "`https://h.example/a?keyword=x&sig=…#top`: status 403";
/// assert_eq!(rutter_fetch::redact(text), wanted);
/// ```
pub fn redact(text: &str) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find([':', '?', '&', ';', '#']) {
        let (before, tail) = rest.split_at(at);
        redacted.push_str(before);
        if let Some(authority) = tail.strip_prefix("://") {
            redacted.push_str("://");
            rest = without_user(authority);
            continue;
        }
        let mut chars = tail.chars();
        let Some(delimiter) = chars.next() else { break };
        redacted.push(delimiter);
        rest = chars.as_str();
        if delimiter == ':' {
            continue;
        }
        if let Some((name, value)) = secret_parameter(rest) {
            redacted.push_str(name);
            redacted.push_str("=…");
            rest = value.get(length_of(value, delimiter)..).unwrap_or_default();
        }
    }
    redacted.push_str(rest);
    redacted
}

/// Returns the text after the user name and password of an authority.
fn without_user(authority: &str) -> &str {
    let end = authority.find(|c: char| is_end(c) || matches!(c, '/' | '?' | '#' | '\\'));
    let host = authority.get(..end.unwrap_or(authority.len())).unwrap_or_default();
    host.rfind('@').and_then(|at| authority.get(at + 1..)).unwrap_or(authority)
}

/// Splits a text that starts with a secret parameter into the parameter's name and the text after
/// `=`; `None` for other parameters.
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

/// Returns the length of a parameter's value at the start of a text. `delimiter` is the character
/// before the parameter.
fn length_of(value: &str, delimiter: char) -> usize {
    let is_over = |c: char| {
        is_end(c) || matches!(c, '&' | '#') || (delimiter == ';' && matches!(c, ';' | '/' | '?'))
    };
    value.find(is_over).unwrap_or(value.len())
}

/// Returns whether a character in a text ends the URL before it.
fn is_end(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_only_secrets() {
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
            assert_eq!(redact(text), wanted, "{text}");
        }
    }
}
