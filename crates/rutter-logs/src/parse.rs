//! Parses one line of an access log into an [`AccessRecord`].
//!
//! The parser detects the format of each line: a line that starts with `{` is JSON (of Caddy or
//! Rutter), any other line has the common or combined format. Text after the user agent is ignored,
//! so nginx's `main` format and formats with extra fields work too; a leading host name (Apache's
//! `vhost_combined`) is skipped.
//!
//! Rejects: a line without a time, a request or a status, with a [`LineError`] that names the
//! missing part.

mod combined;
mod json;

use std::fmt;

use rutter_page::Timestamp;

use crate::record::AccessRecord;

/// Reason why a line of a log is not a valid record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LineError {
    /// The line has no known format.
    Form,
    /// The line starts like a JSON object, but does not describe a request.
    Json,
    /// The time of the request is missing or not valid.
    Time,
    /// The status code of the response is missing or not valid.
    Status,
    /// The line is longer than [`ReadLimits::line`](crate::ReadLimits::line).
    TooLong,
}

impl LineError {
    /// All reasons, in the order in which outputs list them.
    pub const ALL: [Self; 5] = [Self::Form, Self::Json, Self::Time, Self::Status, Self::TooLong];

    /// Returns the code that machine-readable output uses for this reason.
    pub fn code(self) -> &'static str {
        match self {
            Self::Form => "unknown-form",
            Self::Json => "no-request",
            Self::Time => "no-time",
            Self::Status => "no-status",
            Self::TooLong => "too-long",
        }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "unknown format",
            Self::Json => "not a JSON object with a request",
            Self::Time => "no valid time",
            Self::Status => "no status",
            Self::TooLong => "longer than the limit",
        })
    }
}

impl std::error::Error for LineError {}

/// Parses one line of a log, given without its line end.
///
/// Replaces bytes that are not UTF-8 with U+FFFD.
///
/// ```
/// # use rutter_logs::parse;
/// let line = br#"192.0.2.7 - - [01/May/2026:14:00:00 +0200] "GET /a HTTP/2.0" 200 99 "-" "GPTBot/1.2""#;
/// let record = parse(line).unwrap();
/// assert_eq!(record.time.to_string(), "2026-05-01T12:00:00Z");
/// assert_eq!((&*record.target, record.status, record.bytes), ("/a", 200, 99));
/// assert_eq!(record.user_agent.as_deref(), Some("GPTBot/1.2"));
/// ```
pub fn parse(line: &[u8]) -> Result<AccessRecord<'_>, LineError> {
    parse_after(line, &mut TimeCache::default())
}

/// Time of the previous line, as text and parsed, because consecutive lines often have the same
/// time.
#[derive(Debug, Default)]
pub(crate) struct TimeCache(Option<([u8; combined::TIME], Timestamp)>);

/// Parses one line of a log; `last` caches the time of the previous line.
pub(crate) fn parse_after<'l>(
    line: &'l [u8],
    last: &mut TimeCache,
) -> Result<AccessRecord<'l>, LineError> {
    match std::str::from_utf8(line) {
        Ok(text) => parse_text(text, last),
        Err(_) => parse_text(&String::from_utf8_lossy(line), last).map(AccessRecord::into_owned),
    }
}

fn parse_text<'l>(text: &'l str, last: &mut TimeCache) -> Result<AccessRecord<'l>, LineError> {
    let text = text.trim_ascii();
    if text.starts_with('{') { json::parse(text) } else { combined::parse(text, last) }
}
