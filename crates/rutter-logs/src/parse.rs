//! Parses one line of a log into an [`AccessRecord`].
//!
//! The format is detected for each line: a line that starts with `{` is JSON (Caddy or Rutter), any
//! other line the common or combined format. Text after the user agent is ignored, so nginx's
//! `main` format and formats with extra fields work too; a leading host name (Apache's
//! `vhost_combined`) is skipped.
//!
//! Rejects: a line without a time, a request or a status, with a [`LineError`] that names the
//! missing part.

mod combined;
mod json;

use std::fmt;

use rutter_page::Timestamp;

use crate::record::AccessRecord;

/// Why a line is not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LineError {
    /// The format is unknown.
    Form,
    /// A JSON object that is not a request.
    Json,
    /// The time is missing or not valid.
    Time,
    /// The status is missing.
    Status,
    /// The line is longer than [`ReadLimits::line`](crate::ReadLimits::line).
    TooLong,
}

impl LineError {
    /// All reasons, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::Form, Self::Json, Self::Time, Self::Status, Self::TooLong];

    /// Returns the code used in machine-readable output.
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

/// Parses one line, without its line end.
///
/// Bytes that are not UTF-8 become U+FFFD.
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

/// The time of the previous line, because consecutive lines often have the same one.
#[derive(Debug, Default)]
pub(crate) struct TimeCache(Option<([u8; combined::TIME], Timestamp)>);

/// Parses one line of a sequence.
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
