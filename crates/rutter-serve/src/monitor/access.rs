//! Access records: the interface for log writers, and the removal of secrets.
//!
//! An [`AccessRecord`] goes to every [`AccessSink`] when its response has ended, complete or not.
//! The crate `rutter-logs` formats the lines of the access log (`log.rs`), so `rutter logs` can
//! parse them. Control characters are escaped, so a client cannot add lines to the log.
//!
//! Secret values in URLs are replaced by `***`, and fields that are too long are truncated.

use std::borrow::Cow;

use rutter_finding::Finding;
use rutter_logs::AccessRecord;

/// Prefix of all access tokens, so that leaked tokens can be found.
pub(crate) const TOKEN_PREFIX: &str = "rutter_";

/// Maximum number of layers of percent-encoding that are decoded to find secrets.
const MAX_LAYERS: usize = 4;

/// Maximum length of a field of a record, in bytes.
const MAX_LENGTH: usize = 2048;

/// Receives access records. The threads that handle requests call the methods, so a method must not
/// block.
pub trait AccessSink: Send + Sync {
    /// Receives one record.
    fn access(&self, record: &AccessRecord<'_>);

    /// Receives a finding about an unusual client.
    fn odd(&self, _finding: &Finding) {}

    /// Returns the number of records that were lost.
    fn lost(&self) -> u64 {
        0
    }
}

/// Truncates a field of a request for the log.
pub(crate) fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_LENGTH)).unwrap_or_default()
}

/// Removes secrets from a URL: values of secret parameters, user names and passwords, and Rutter
/// tokens.
pub(crate) fn redact_secrets(target: &str) -> String {
    let target = redact_tokens(cut(target));
    let mut out = String::with_capacity(target.len());
    let is_end = |c: char| matches!(c, '?' | '&' | ';' | '#');
    let (address, mut rest) = target.split_at(target.find(is_end).unwrap_or(target.len()));
    out.push_str(&redact_userinfo(address));
    if address.contains('%') && has_userinfo(address) {
        out.clear();
        let parts = address.split('/').map(|part| if has_userinfo(part) { "***" } else { part });
        out.push_str(&parts.collect::<Vec<_>>().join("/"));
    }
    // `?` may occur several times, and `;` also separates parameters.
    while let Some(sign) = rest.chars().next() {
        let pair = rest.get(sign.len_utf8()..).unwrap_or_default();
        let (pair, after) = pair.split_at(pair.find(is_end).unwrap_or(pair.len()));
        out.push(sign);
        match pair.split_once('=') {
            Some((key, _)) if is_secret(key) => {
                out.push_str(key);
                out.push_str("=***");
            }
            Some((key, value)) if has_userinfo(value) => {
                out.push_str(key);
                out.push('=');
                match redact_userinfo(value) {
                    Cow::Owned(value) => out.push_str(&value),
                    Cow::Borrowed(_) => out.push_str("***"),
                }
            }
            _ => out.push_str(pair),
        }
        rest = after;
    }
    out
}

/// Removes Rutter tokens from a text.
pub(crate) fn redact_tokens(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest.as_bytes(), TOKEN_PREFIX.as_bytes()) {
        let (before, found) = rest.split_at(at + TOKEN_PREFIX.len());
        let end = found.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(found.len());
        out.push_str(before);
        if 0 < end {
            out.push_str("***");
        }
        rest = found.get(end..).unwrap_or_default();
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn redact_userinfo(address: &str) -> Cow<'_, str> {
    let Some(start) = address.find("://").map(|at| at + 3) else { return Cow::Borrowed(address) };
    let (scheme, rest) = address.split_at(start);
    let end = rest.find('/').unwrap_or(rest.len());
    match rest.get(..end).and_then(|host| host.rfind('@')) {
        Some(at) => Cow::Owned(format!("{scheme}***@{}", rest.get(at + 1..).unwrap_or_default())),
        None => Cow::Borrowed(address),
    }
}

/// Returns whether a text, after decoding, is a URL with a user name or password.
fn has_userinfo(text: &str) -> bool {
    let may_be = text.contains('%') || text.contains('@');
    may_be && matches!(redact_userinfo(&decoded(text)), Cow::Owned(_))
}

fn is_secret(key: &str) -> bool {
    let key = decoded(key).to_ascii_lowercase();
    let words = ["token", "secret", "password", "passwd", "signature", "api_key", "apikey", "auth"];
    words.iter().any(|word| key.contains(word)) || matches!(key.as_str(), "key" | "sig" | "code")
}

/// Decodes percent-encoding, up to [`MAX_LAYERS`] layers.
fn decoded(key: &str) -> String {
    let mut bytes = key.as_bytes().to_vec();
    for _ in 0..MAX_LAYERS {
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        while let [first, after @ ..] = rest {
            let digit = |at: usize| {
                let digit = after.get(at).and_then(|byte| char::from(*byte).to_digit(16))?;
                u8::try_from(digit).ok()
            };
            let byte = if *first == b'%' { digit(0).zip(digit(1)) } else { None };
            out.push(byte.map_or(*first, |(high, low)| high << 4 | low));
            rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
        }
        if out.len() == bytes.len() {
            break;
        }
        bytes = out;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rutter_page::Timestamp;

    use super::*;
    use crate::monitor::log::tests::CapturedOutput;
    use crate::monitor::log::{AccessLogFormat, LogWriter};

    fn record() -> AccessRecord<'static> {
        let time = Timestamp::parse("1994-11-06T08:49:37Z").unwrap();
        AccessRecord {
            token: Some("a partner".into()),
            method: "GET".into(),
            target: redact_secrets("/tides?url=x&access_token=hush&KEY=hush").into(),
            protocol: "HTTP/1.1".into(),
            bytes: 12,
            user_agent: Some("Bot \"1\"\r\n\u{1b}[2J\u{202e}é".into()),
            duration: Some(Duration::from_millis(250)),
            ..AccessRecord::new(time, "192.0.2.1", 200)
        }
    }

    fn line(form: AccessLogFormat, record: &AccessRecord<'_>) -> String {
        let kept = CapturedOutput::default();
        let log = LogWriter::new(form, Box::new(kept.clone())).unwrap();
        log.access(record);
        log.flush().unwrap();
        kept.text()
    }

    #[test] // E11
    fn writes_each_request_as_one_line() {
        let wanted = concat!(
            r#"192.0.2.1 - a\x20partner [06/Nov/1994:08:49:37 +0000] "GET "#,
            r#"/tides?url=x&access_token=***&KEY=*** HTTP/1.1" 200 12 "-" "#,
            r#""Bot \"1\"\x0d\x0a\x1b[2J\xe2\x80\xae\xc3\xa9""#,
            "\n"
        );
        assert_eq!(line(AccessLogFormat::Text, &record()), wanted);
        let line = line(AccessLogFormat::Json, &record());
        assert!(line.ends_with("}\n") && line.matches('\n').count() == 1);
        assert!(line.trim_end().bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{line}");
        assert!(!line.contains("hush"));
        assert_eq!(rutter_logs::parse(line.trim_end().as_bytes()), Ok(record()));
    }

    #[test] // E11
    fn removes_secrets_in_every_encoding() {
        for (target, wanted) in [
            ("/a?token=hush", "/a?token=***"),
            ("/a?%74oken=hush&b=c", "/a?%74oken=***&b=c"),
            ("/a?%2574oken=hush", "/a?%2574oken=***"),
            ("/a?x=1?token=hush", "/a?x=1?token=***"),
            ("/a?x=1;token=hush;y", "/a?x=1;token=***;y"),
            ("/a;token=hush?b", "/a;token=***?b"),
            ("https://b.example/#access_token=hush", "https://b.example/#access_token=***"),
            ("https://me:hush@b.example/c@d?e", "https://***@b.example/c@d?e"),
            ("https://hush@b.example", "https://***@b.example"),
            ("https://hush:a@b:c@d.example/", "https://***@d.example/"),
            ("/a?x=http%3A%2F%2Fu%3Ahush%40h%2F&y=1", "/a?x=***&y=1"),
            ("/a?x=http%253A%252F%252Fu%253Ahush%2540h%252F", "/a?x=***"),
            ("/a?x=http://u:hush@h/b&y=1", "/a?x=http://***@h/b&y=1"),
            ("/p/http%3A%2F%2Fu%3Ahush%40h%2F/c", "/p/***/c"),
            ("/a?x=http%3A%2F%2Fh%2F%40b&mail=a%40b", "/a?x=http%3A%2F%2Fh%2F%40b&mail=a%40b"),
            ("/rutter_0123abcdef/x", "/rutter_***/x"),
            ("/a?b=rutter_0123abcdef", "/a?b=rutter_***"),
            ("/a?b=%7", "/a?b=%7"),
            ("/a?=&&=?;b", "/a?=&&=?;b"),
            ("/é?é=é&keys=1", "/é?é=é&keys=1"),
            ("/rutter_/guide", "/rutter_/guide"),
        ] {
            assert_eq!(redact_secrets(target), wanted, "{target}");
        }
        assert_eq!(redact_tokens("Bot (rutter_ab rutter_cd)"), "Bot (rutter_*** rutter_***)");
        assert!(matches!(redact_tokens("rutter/1.0"), Cow::Borrowed(_)));
    }

    #[test]
    fn truncates_long_parts() {
        assert_eq!(redact_secrets(&format!("/{}", "é".repeat(9000))).len(), MAX_LENGTH - 1);
        assert_eq!(redact_secrets(&"a".repeat(9000)).len(), MAX_LENGTH);
    }
}
