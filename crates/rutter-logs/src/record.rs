//! One request as a server remembers it, and the two lines it can be written
//! as.
//!
//! A line that is written here is printable ASCII and has no line break, so
//! nothing a client sends can begin a second line or steer a terminal
//! (reliability E11). What [`parse`](crate::parse) reads from it is the same
//! record, as far as the form has a place for it.
//!
//! Refuses: to write a secret; a token is named, never shown.

use std::fmt::Write as _;
use std::time::Duration;

use rutter_page::{Own, Str, Timestamp};

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record<'r> {
    /// When it was answered.
    pub time: Timestamp,
    /// Address of the client, or its name where the server looks names up.
    pub client: Str<'r>,
    /// Name of the token or user the client came with.
    pub token: Option<Str<'r>>,
    /// Method; empty where what came was no request.
    pub method: Str<'r>,
    /// Path and query; all that came, where it was no request.
    pub target: Str<'r>,
    /// Such as `HTTP/1.1`; empty where it is not known.
    pub protocol: Str<'r>,
    /// Status of the answer.
    pub status: u16,
    /// Bytes of its body.
    pub bytes: u64,
    /// `Referer` of the request.
    pub referer: Option<Str<'r>>,
    /// `User-Agent` of the request.
    pub user_agent: Option<Str<'r>>,
    /// How long it took; written to the microsecond.
    pub duration: Option<Duration>,
    /// Seconds in `Retry-After` of the answer.
    pub retry_after: Option<u64>,
}

impl<'r> Record<'r> {
    /// A record with what every log has; the rest is unknown.
    pub fn new(time: Timestamp, client: impl Into<Str<'r>>, status: u16) -> Self {
        Self {
            time,
            client: client.into(),
            token: None,
            method: Str::borrowed(""),
            target: Str::borrowed(""),
            protocol: Str::borrowed(""),
            status,
            bytes: 0,
            referer: None,
            user_agent: None,
            duration: None,
            retry_after: None,
        }
    }

    /// The same record, borrowing nothing.
    pub fn into_owned(self) -> Record<'static> {
        Record {
            time: self.time,
            client: self.client.own(),
            token: self.token.map(Own::own),
            method: self.method.own(),
            target: self.target.own(),
            protocol: self.protocol.own(),
            status: self.status,
            bytes: self.bytes,
            referer: self.referer.map(Own::own),
            user_agent: self.user_agent.map(Own::own),
            duration: self.duration,
            retry_after: self.retry_after,
        }
    }

    /// The record as one JSON object, without a line end.
    ///
    /// Members, in this order: `time` (RFC 3339), `client`, `token`, `method`,
    /// `target`, `protocol`, `status`, `bytes`, `referer`, `user_agent`,
    /// `seconds`, `retry_after`. What is unknown is left out; `time`, `client`,
    /// `method`, `target`, `status` and `bytes` are always there.
    ///
    /// ```
    /// # use rutter_logs::{Record, parse};
    /// # use rutter_page::Timestamp;
    /// let time = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
    /// let record = Record {
    ///     method: "GET".into(),
    ///     target: "/a\u{1b}[31m".into(),
    ///     ..Record::new(time, "192.0.2.1", 404)
    /// };
    /// let line = record.to_json();
    /// assert_eq!(
    ///     line,
    ///     r#"{"time":"2026-05-01T12:00:00Z","client":"192.0.2.1","method":"GET","target":"/a\u001b[31m","status":404,"bytes":0}"#
    /// );
    /// assert_eq!(parse(line.as_bytes()), Ok(record));
    /// ```
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(256);
        let text = |out: &mut String, name: &str, value: &str| {
            let gap = if out.is_empty() { '{' } else { ',' };
            out.push(gap);
            push_string(out, name);
            out.push(':');
            push_string(out, value);
        };
        text(&mut out, "time", &self.time.to_string());
        text(&mut out, "client", &self.client);
        if let Some(token) = &self.token {
            text(&mut out, "token", token);
        }
        text(&mut out, "method", &self.method);
        text(&mut out, "target", &self.target);
        if !self.protocol.is_empty() {
            text(&mut out, "protocol", &self.protocol);
        }
        put(&mut out, format_args!(",\"status\":{},\"bytes\":{}", self.status, self.bytes));
        if let Some(referer) = &self.referer {
            text(&mut out, "referer", referer);
        }
        if let Some(user_agent) = &self.user_agent {
            text(&mut out, "user_agent", user_agent);
        }
        if let Some(duration) = self.duration {
            let (seconds, micros) = (duration.as_secs(), duration.subsec_micros());
            put(&mut out, format_args!(",\"seconds\":{seconds}.{micros:06}"));
        }
        if let Some(seconds) = self.retry_after {
            put(&mut out, format_args!(",\"retry_after\":{seconds}"));
        }
        out.push('}');
        out
    }

    /// The record in the combined form of Apache and nginx, without a line end.
    ///
    /// The form has no place for fractions of a second, for how long it took
    /// and for `Retry-After`; the token stands where those servers write the
    /// user.
    ///
    /// ```
    /// # use rutter_logs::Record;
    /// # use rutter_page::Timestamp;
    /// let time = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
    /// let record = Record {
    ///     method: "GET".into(),
    ///     target: "/".into(),
    ///     protocol: "HTTP/1.1".into(),
    ///     bytes: 512,
    ///     user_agent: Some("curl/8 \"x\"\n".into()),
    ///     ..Record::new(time, "192.0.2.1", 200)
    /// };
    /// assert_eq!(
    ///     record.to_combined(),
    ///     r#"192.0.2.1 - - [01/May/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8 \"x\"\x0a""#
    /// );
    /// ```
    pub fn to_combined(&self) -> String {
        let mut out = String::with_capacity(256);
        push_word(&mut out, &self.client);
        out.push_str(" - ");
        push_word(&mut out, self.token.as_deref().unwrap_or_default());
        out.push_str(" [");
        push_time(&mut out, self.time);
        out.push_str("] \"");
        if !self.method.is_empty() {
            push_escaped(&mut out, &self.method);
            out.push(' ');
        }
        push_escaped(&mut out, &self.target);
        if !self.protocol.is_empty() {
            out.push(' ');
            push_escaped(&mut out, &self.protocol);
        }
        put(&mut out, format_args!("\" {:03} {}", self.status, self.bytes));
        for text in [&self.referer, &self.user_agent] {
            out.push_str(" \"");
            push_escaped(&mut out, text.as_deref().unwrap_or("-"));
            out.push('"');
        }
        out
    }
}

/// Names of months as logs write them.
pub(crate) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Writes `01/May/2026:12:00:00 +0000`.
fn push_time(out: &mut String, time: Timestamp) {
    let text = time.to_string();
    let part = |start: usize, end: usize| text.get(start..end).unwrap_or_default();
    let month = part(5, 7).parse().unwrap_or(1_usize).saturating_sub(1);
    let month = MONTHS.get(month).copied().unwrap_or_default();
    put(out, format_args!("{}/{month}/{}:{} +0000", part(8, 10), part(0, 4), part(11, 19)));
}

/// Writes into memory, which takes everything.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("memory takes everything");
}

/// A JSON string in printable ASCII.
fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    put(out, format_args!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

/// What stands between quotes in a combined line.
fn push_escaped(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'~' => out.push(char::from(byte)),
            byte => put(out, format_args!("\\x{byte:02x}")),
        }
    }
}

/// What stands between spaces in a combined line; a brace in front would make
/// it look like JSON.
fn push_word(out: &mut String, text: &str) {
    if text.is_empty() {
        out.push('-');
    }
    for byte in text.bytes() {
        match byte {
            b'!'..=b'~' if !matches!(byte, b'"' | b'\\' | b'[' | b']' | b'{') => {
                out.push(char::from(byte));
            }
            byte => put(out, format_args!("\\x{byte:02x}")),
        }
    }
}
