//! One line of a log as a [`Record`].
//!
//! The form is seen anew in every line: a line that begins with `{` is JSON
//! (Caddy's, or ours), any other the common or combined form. What stands
//! behind the user agent is not read, so nginx's `main` and forms with times
//! at the end work too; a host's name in front (Apache's `vhost_combined`) is
//! passed over.
//!
//! Refuses: to guess. A line without a time, a request or a status is
//! [`Broken`], and says which of them it lacks.

mod combined;
mod json;

use std::fmt;

use rutter_page::Timestamp;

use crate::record::Record;

/// Why a line is no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Broken {
    /// None of the forms we know.
    Form,
    /// It is an object that is no request.
    Json,
    /// There is no time in it, or none that is one.
    Time,
    /// The answer has no status.
    Status,
    /// Longer than [`Limits::line`](crate::Limits::line).
    TooLong,
}

impl Broken {
    /// All reasons, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::Form, Self::Json, Self::Time, Self::Status, Self::TooLong];

    /// The reason for programs.
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

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "not a form we know",
            Self::Json => "not a JSON object with a request",
            Self::Time => "no readable time",
            Self::Status => "no status",
            Self::TooLong => "longer than the limit",
        })
    }
}

impl std::error::Error for Broken {}

/// Reads one line, without its line end.
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
pub fn parse(line: &[u8]) -> Result<Record<'_>, Broken> {
    parse_after(line, &mut Last::default())
}

/// The time of the line before: within a second, lines have the same.
#[derive(Debug, Default)]
pub(crate) struct Last(Option<([u8; combined::TIME], Timestamp)>);

/// Reads one line that follows others.
pub(crate) fn parse_after<'l>(line: &'l [u8], last: &mut Last) -> Result<Record<'l>, Broken> {
    match std::str::from_utf8(line) {
        Ok(text) => parse_text(text, last),
        Err(_) => parse_text(&String::from_utf8_lossy(line), last).map(Record::into_owned),
    }
}

fn parse_text<'l>(text: &'l str, last: &mut Last) -> Result<Record<'l>, Broken> {
    let text = text.trim_ascii();
    if text.starts_with('{') { json::parse(text) } else { combined::parse(text, last) }
}
