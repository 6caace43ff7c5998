//! Who is told of each request, and what is told.
//!
//! A [`Record`] goes to every [`AccessSink`] when its answer is over, whether
//! all of it was taken or not. Lines of the log (`log.rs`) are those of
//! `rutter-logs`, so `rutter logs` reads them; no client writes a line of its
//! own.
//!
//! Refuses: to hand on the values of secrets in addresses, and more than a
//! part's longest length.

use std::borrow::Cow;

use rutter_finding::Finding;
use rutter_logs::Record;

use crate::token::PREFIX;

/// Layers of percent-encoding that are looked through.
const MOST_LAYERS: usize = 4;

/// Longest part of a record, in bytes.
const LONGEST: usize = 2048;

/// Takes records of requests. Called by many threads, between answers: it must
/// not wait.
pub trait AccessSink: Send + Sync {
    /// Takes one.
    fn access(&self, record: &Record<'_>);

    /// Takes what is odd about a client from this request on.
    fn odd(&self, _finding: &Finding) {}

    /// Records it could not keep.
    fn lost(&self) -> u64 {
        0
    }
}

/// A part of a request as it may be remembered: not too long.
pub(crate) fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default()
}

/// An address without what is secret in it: values of parameters that are
/// called so, the name and password before a host, and tokens of ours.
pub(crate) fn without_secrets(target: &str) -> String {
    let target = without_tokens(cut(target));
    let mut out = String::with_capacity(target.len());
    let is_end = |c: char| matches!(c, '?' | '&' | ';' | '#');
    let (address, mut rest) = target.split_at(target.find(is_end).unwrap_or(target.len()));
    out.push_str(&without_userinfo(address));
    if address.contains('%') && has_userinfo(address) {
        out.clear();
        let parts = address.split('/').map(|part| if has_userinfo(part) { "***" } else { part });
        out.push_str(&parts.collect::<Vec<_>>().join("/"));
    }
    // A question mark may come again, and a semicolon may part too.
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
                match without_userinfo(value) {
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

/// A text without tokens of ours, wherever they stand in it.
pub(crate) fn without_tokens(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = memchr::memmem::find(rest.as_bytes(), PREFIX.as_bytes()) {
        let (before, found) = rest.split_at(at + PREFIX.len());
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

fn without_userinfo(address: &str) -> Cow<'_, str> {
    let Some(start) = address.find("://").map(|at| at + 3) else { return Cow::Borrowed(address) };
    let (scheme, rest) = address.split_at(start);
    let end = rest.find('/').unwrap_or(rest.len());
    match rest.get(..end).and_then(|host| host.rfind('@')) {
        Some(at) => Cow::Owned(format!("{scheme}***@{}", rest.get(at + 1..).unwrap_or_default())),
        None => Cow::Borrowed(address),
    }
}

/// Whether a text, once decoded, is an address with a name or password in it.
fn has_userinfo(text: &str) -> bool {
    let may_be = text.contains('%') || text.contains('@');
    may_be && matches!(without_userinfo(&decoded(text)), Cow::Owned(_))
}

fn is_secret(key: &str) -> bool {
    let key = decoded(key).to_ascii_lowercase();
    let words = ["token", "secret", "password", "passwd", "signature", "api_key", "apikey", "auth"];
    words.iter().any(|word| key.contains(word)) || matches!(key.as_str(), "key" | "sig" | "code")
}

/// A key as whoever is asked may read it: decoded, also where that was done
/// more than once.
fn decoded(key: &str) -> String {
    let mut bytes = key.as_bytes().to_vec();
    for _ in 0..MOST_LAYERS {
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
    use crate::log::tests::Kept;
    use crate::log::{LogForm, LogWriter};

    fn record() -> Record<'static> {
        let time = Timestamp::parse("1994-11-06T08:49:37Z").unwrap();
        Record {
            token: Some("a partner".into()),
            method: "GET".into(),
            target: without_secrets("/tides?url=x&access_token=hush&KEY=hush").into(),
            protocol: "HTTP/1.1".into(),
            bytes: 12,
            user_agent: Some("Bot \"1\"\r\n\u{1b}[2J\u{202e}é".into()),
            duration: Some(Duration::from_millis(250)),
            ..Record::new(time, "192.0.2.1", 200)
        }
    }

    fn line(form: LogForm, record: &Record<'_>) -> String {
        let kept = Kept::default();
        let log = LogWriter::new(form, Box::new(kept.clone())).unwrap();
        log.access(record);
        log.flush().unwrap();
        kept.text()
    }

    #[test] // reliability E11
    fn ours_a_request_is_one_line_whatever_it_says() {
        let wanted = concat!(
            r#"192.0.2.1 - a\x20partner [06/Nov/1994:08:49:37 +0000] "GET "#,
            r#"/tides?url=x&access_token=***&KEY=*** HTTP/1.1" 200 12 "-" "#,
            r#""Bot \"1\"\x0d\x0a\x1b[2J\xe2\x80\xae\xc3\xa9""#,
            "\n"
        );
        assert_eq!(line(LogForm::Text, &record()), wanted);
        let line = line(LogForm::Json, &record());
        assert!(line.ends_with("}\n") && line.matches('\n').count() == 1);
        assert!(line.trim_end().bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{line}");
        assert!(!line.contains("hush"));
        assert_eq!(rutter_logs::parse(line.trim_end().as_bytes()), Ok(record()));
    }

    #[test] // reliability E11
    fn ours_secrets_are_found_in_every_spelling() {
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
            assert_eq!(without_secrets(target), wanted, "{target}");
        }
        assert_eq!(without_tokens("Bot (rutter_ab rutter_cd)"), "Bot (rutter_*** rutter_***)");
        assert!(matches!(without_tokens("rutter/1.0"), Cow::Borrowed(_)));
    }

    #[test]
    fn ours_long_parts_are_cut() {
        assert_eq!(without_secrets(&format!("/{}", "é".repeat(9000))).len(), LONGEST - 1);
        assert_eq!(without_secrets(&"a".repeat(9000)).len(), LONGEST);
    }
}
