//! Parses log lines in the common and combined formats of Apache and nginx.
//!
//! `client ident user [time] "request" status bytes "referer" "agent" …`
//!
//! A user name comes from the client and may contain spaces and brackets, but not an unescaped
//! quote. So the time is the text directly before the first unescaped quote, and no user name can
//! forge the time.

use std::net::IpAddr;

use rutter_page::{CowStr, Timestamp};

use super::{LineError, TimeCache};
use crate::record::{AccessRecord, MONTHS};

/// Length in bytes of a time such as `01/May/2026:14:00:00 +0200`.
pub(super) const TIME: usize = 26;

pub(super) fn parse<'l>(
    text: &'l str,
    last: &mut TimeCache,
) -> Result<AccessRecord<'l>, LineError> {
    let (before, request) = split(text).ok_or(LineError::Form)?;
    let (words, stamp) = before
        .len()
        .checked_sub(TIME)
        .and_then(|at| before.split_at_checked(at))
        .ok_or(LineError::Time)?;
    let time = time_after(stamp, last).ok_or(LineError::Time)?;
    let words = words.strip_suffix('[').ok_or(LineError::Form)?.trim_ascii_end();
    let (client, user) = names(words).ok_or(LineError::Form)?;
    let (request, rest) = quoted(request).ok_or(LineError::Form)?;
    let (status, rest) = word(rest);
    let status = status.parse().ok().filter(|_| status.len() == 3).ok_or(LineError::Status)?;
    let (bytes, rest) = word(rest);
    let (referer, rest) = quoted(rest.trim_ascii_start()).unwrap_or_default();
    let (agent, _) = quoted(rest.trim_ascii_start()).unwrap_or_default();
    let [method, target, protocol] = cut(request).map(unescaped);
    Ok(AccessRecord {
        token: non_empty(user),
        method,
        target,
        protocol,
        bytes: bytes.parse().unwrap_or(0),
        referer: non_empty(referer),
        user_agent: non_empty(agent),
        ..AccessRecord::new(time, unescaped(client), status)
    })
}

/// Splits a line at the first `] "`; returns the text before `] ` and the text from the quote on.
fn split(text: &str) -> Option<(&str, &str)> {
    for at in memchr::memchr_iter(b'"', text.as_bytes()) {
        let (before, rest) = text.split_at_checked(at)?;
        if let Some(before) = before.strip_suffix("] ") {
            return Some((before, rest));
        }
    }
    None
}

/// Returns the client and the user of a line; skips a host name before the client.
fn names(words: &str) -> Option<(&str, &str)> {
    let (first, rest) = word(words);
    let (second, after) = word(rest);
    let is_address = |word: &str| word.parse::<IpAddr>().is_ok();
    // In the common format, the second word is the `ident` field, which is nearly always `-`.
    let has_host = second != "-" && is_address(second) && !is_address(first);
    let (client, rest) = if has_host { (second, word(after).1) } else { (first, after) };
    (!client.is_empty()).then_some((client, rest.trim_ascii()))
}

/// Splits a text into its first word and the rest.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    match memchr::memchr(b' ', text.as_bytes()) {
        Some(at) => text.split_at_checked(at).unwrap_or((text, "")),
        None => (text, ""),
    }
}

/// Returns the unescaped text; `None` if the field is empty or a hyphen.
fn non_empty(text: &str) -> Option<CowStr<'_>> {
    (!matches!(text, "" | "-")).then(|| unescaped(text))
}

/// Splits a request line into method, target and protocol. Text that is not a request line is
/// returned as the target.
fn cut(request: &str) -> [&str; 3] {
    let Some((method, rest)) = request.split_once(' ') else {
        return ["", if request == "-" { "" } else { request }, ""];
    };
    if method.is_empty() || !method.bytes().all(is_token) {
        return ["", request, ""];
    }
    match rest.rsplit_once(' ') {
        Some((target, protocol)) if protocol.starts_with("HTTP/") => [method, target, protocol],
        _ => [method, rest, ""],
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns the text between two quotes, still escaped, and the text after the second quote.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('"')?;
    let bytes = inner.as_bytes();
    let mut at = 0;
    loop {
        let found = at + memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(found) == Some(&b'"') {
            let (inside, rest) = inner.split_at_checked(found)?;
            return Some((inside, rest.get(1..)?));
        }
        at = found + 2;
    }
}

/// Undoes the escapes that servers write: `\"`, `\\`, `\xHH` and C escapes such as `\n`.
fn unescaped(text: &str) -> CowStr<'_> {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return text.into();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let (plain, after) = match (byte, after) {
            (b'\\', [b'x', high, low, after @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, after),
                _ => (byte, rest.get(1..).unwrap_or_default()),
            },
            (b'\\', [b'"', after @ ..]) => (b'"', after),
            (b'\\', [b'\\', after @ ..]) => (b'\\', after),
            (b'\\', [b'n', after @ ..]) => (b'\n', after),
            (b'\\', [b'r', after @ ..]) => (b'\r', after),
            (b'\\', [b't', after @ ..]) => (b'\t', after),
            (b'\\', [b'v', after @ ..]) => (0x0b, after),
            (b'\\', [b'f', after @ ..]) => (0x0c, after),
            (b'\\', [b'b', after @ ..]) => (0x08, after),
            (byte, after) => (byte, after),
        };
        bytes.push(plain);
        rest = after;
    }
    match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into(),
    }
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Parses a time; returns the cached result if the previous line had the same text.
fn time_after(text: &str, last: &mut TimeCache) -> Option<Timestamp> {
    match &last.0 {
        Some((known, time)) if known == text.as_bytes() => Some(*time),
        _ => {
            let time = time(text)?;
            last.0 = text.as_bytes().try_into().ok().map(|text| (text, time));
            Some(time)
        }
    }
}

/// Parses a time such as `01/May/2026:14:00:00 +0200`.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    let bytes: &[u8; TIME] = text.as_bytes().try_into().ok()?;
    let &[d1, d2, b'/', m1, m2, m3, b'/', y1, y2, y3, y4, b':', ref clock @ ..] = bytes else {
        return None;
    };
    let &[h1, h2, b':', n1, n2, b':', s1, s2, b' ', sign, z1, z2, z3, z4] = clock else {
        return None;
    };
    let month = MONTHS.iter().position(|name| name.as_bytes() == [m1, m2, m3])? + 1;
    let month = u8::try_from(month).ok()?;
    let (o1, o2) = (b'0' + month / 10, b'0' + month % 10);
    let iso = [
        y1, y2, y3, y4, b'-', o1, o2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2, sign,
        z1, z2, b':', z3, z4,
    ];
    Timestamp::parse(std::str::from_utf8(&iso).ok()?).ok()
}
