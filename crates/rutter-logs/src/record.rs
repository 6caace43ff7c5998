//! The record of one request, and the two log formats in which Rutter writes records.
//!
//! Written lines are printable ASCII without line breaks, so a client can neither start a second
//! line nor control a terminal (E11). [`parse`](crate::parse) reads a written line back into the
//! same record, except for fields that the log format does not contain.
//!
//! A record contains the name of a token, never the secret token itself.

use std::fmt::Write as _;
use std::time::Duration;

use rutter_page::{CowStr, IntoOwned, Timestamp};

/// A request and its response, as one line of an access log describes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRecord<'r> {
    /// Time at which the response ended.
    pub time: Timestamp,
    /// IP address of the client, or its host name if the server resolves names.
    pub client: CowStr<'r>,
    /// Name of the token or user that authenticated the request.
    pub token: Option<CowStr<'r>>,
    /// Method of the request; empty if the client did not send a valid request line.
    pub method: CowStr<'r>,
    /// Path and query of the request; the whole request line if it is not valid.
    pub target: CowStr<'r>,
    /// Protocol of the request, such as `HTTP/1.1`; empty if unknown.
    pub protocol: CowStr<'r>,
    /// Status of the response.
    pub status: u16,
    /// Number of bytes of the response body.
    pub bytes: u64,
    /// `Referer` of the request.
    pub referer: Option<CowStr<'r>>,
    /// `User-Agent` of the request.
    pub user_agent: Option<CowStr<'r>>,
    /// Time from request to response; [`AccessRecord::to_json`] writes microseconds.
    pub duration: Option<Duration>,
    /// Seconds in `Retry-After` of the response.
    pub retry_after: Option<u64>,
}

impl<'r> AccessRecord<'r> {
    /// Creates a record with the three fields that every log has; all other fields are empty.
    pub fn new(time: Timestamp, client: impl Into<CowStr<'r>>, status: u16) -> Self {
        Self {
            time,
            client: client.into(),
            token: None,
            method: CowStr::borrowed(""),
            target: CowStr::borrowed(""),
            protocol: CowStr::borrowed(""),
            status,
            bytes: 0,
            referer: None,
            user_agent: None,
            duration: None,
            retry_after: None,
        }
    }

    /// Converts the record into one that borrows nothing.
    pub fn into_owned(self) -> AccessRecord<'static> {
        AccessRecord {
            time: self.time,
            client: self.client.into_owned(),
            token: self.token.map(IntoOwned::into_owned),
            method: self.method.into_owned(),
            target: self.target.into_owned(),
            protocol: self.protocol.into_owned(),
            status: self.status,
            bytes: self.bytes,
            referer: self.referer.map(IntoOwned::into_owned),
            user_agent: self.user_agent.map(IntoOwned::into_owned),
            duration: self.duration,
            retry_after: self.retry_after,
        }
    }

    /// Formats the record as one JSON object, without a line end.
    ///
    /// Members, in this order: `time` (RFC 3339), `client`, `token`, `method`, `target`,
    /// `protocol`, `status`, `bytes`, `referer`, `user_agent`, `seconds`, `retry_after`. Members
    /// with unknown values are omitted; `time`, `client`, `method`, `target`, `status` and `bytes`
    /// are always present.
    ///
    /// ```
    /// # use rutter_logs::{AccessRecord, parse};
    /// # use rutter_page::Timestamp;
    /// let time = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
    /// let record = AccessRecord {
    ///     method: "GET".into(),
    ///     target: "/a\u{1b}[31m".into(),
    ///     ..AccessRecord::new(time, "192.0.2.1", 404)
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

    /// Formats the record in the combined format of Apache and nginx, without a line end.
    ///
    /// The combined format has no fractions of a second, no duration and no `Retry-After`; the name
    /// of the token is written in the field of the user.
    ///
    /// ```
    /// # use rutter_logs::AccessRecord;
    /// # use rutter_page::Timestamp;
    /// let time = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
    /// let record = AccessRecord {
    ///     method: "GET".into(),
    ///     target: "/".into(),
    ///     protocol: "HTTP/1.1".into(),
    ///     bytes: 512,
    ///     user_agent: Some("curl/8 \"x\"\n".into()),
    ///     ..AccessRecord::new(time, "192.0.2.1", 200)
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

/// Names of the months in the common log format.
pub(crate) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Appends a time such as `01/May/2026:12:00:00 +0000` to `out`.
fn push_time(out: &mut String, time: Timestamp) {
    let text = time.to_string();
    let part = |start: usize, end: usize| text.get(start..end).unwrap_or_default();
    let month = part(5, 7).parse().unwrap_or(1_usize).saturating_sub(1);
    let month = MONTHS.get(month).copied().unwrap_or_default();
    put(out, format_args!("{}/{month}/{}:{} +0000", part(8, 10), part(0, 4), part(11, 19)));
}

/// Appends formatted text to `out`.
fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}

/// Appends a text as a JSON string in printable ASCII.
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

/// Appends a text, escaped for a field in quotes of the combined format.
fn push_escaped(out: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'~' => out.push(char::from(byte)),
            byte => put(out, format_args!("\\x{byte:02x}")),
        }
    }
}

/// Appends a text, escaped for a field between spaces of the combined format. Braces are escaped,
/// because a line that starts with a brace would be parsed as JSON.
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
