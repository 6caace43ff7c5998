//! Parsers of response header fields: validators, ranges, `Retry-After`, cache lifetimes.
//!
//! The input is untrusted text. The result for an invalid value is `None`, never a guess.

use std::fmt;
use std::time::Duration;

use rutter_page::{Digest, Timestamp};
use serde::{Deserialize, Serialize};

use crate::clock::timestamp_of;

/// The validators of a response (SCP-154).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag` as sent, with its quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// `Last-Modified` as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Validators {
    /// Returns whether the response has neither `ETag` nor `Last-Modified`.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }

    /// Returns the strong entity tag, by which a download can be resumed (D11).
    pub fn strong_etag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| tag.starts_with('"'))
    }

    /// Returns the time in `Last-Modified`.
    pub fn modified(&self) -> Option<Timestamp> {
        parse_http_date(self.last_modified.as_deref()?)
    }

    /// Returns the SHA-256 digest in the entity tag, if the tag contains one (D08). The digest is a
    /// hint about the content, not a proof.
    pub fn digest(&self) -> Option<Digest> {
        let tag = self.etag.as_deref()?;
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        let tag = tag.strip_prefix('"')?.strip_suffix('"')?;
        let suffixes = ["--gzip", "--zstd", "-gzip", "-zstd", ";gzip", ";zstd"];
        let bare = suffixes.into_iter().find_map(|suffix| tag.strip_suffix(suffix));
        Digest::parse(bare.unwrap_or(tag))
    }
}

/// Parses an entity tag: a quoted string, optionally prefixed by `W/`.
///
/// ```
/// # use rutter_fetch::header::parse_etag;
/// assert_eq!(parse_etag("W/\"a\"").as_deref(), Some("W/\"a\""));
/// assert_eq!(parse_etag("a b"), None);
/// ```
pub fn parse_etag(text: &str) -> Option<String> {
    let text = text.trim();
    let opaque = text.strip_prefix("W/").unwrap_or(text);
    let inner = opaque.strip_prefix('"')?.strip_suffix('"')?;
    let is_fine = inner.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x7e));
    (is_fine && text.len() <= 1024).then(|| text.to_owned())
}

/// Parses a date in any of the three date formats of HTTP.
pub fn parse_http_date(text: &str) -> Option<Timestamp> {
    timestamp_of(httpdate::parse_http_date(text.trim()).ok()?)
}

/// Maximum `Retry-After` that the client obeys (D11).
pub const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// Parses `Retry-After`, which is a number of seconds or a date. Limits the result to one day.
///
/// ```
/// # use rutter_fetch::header::parse_retry_after;
/// # use rutter_page::Timestamp;
/// # use std::time::Duration;
/// let now = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
/// assert_eq!(parse_retry_after("5", now), Some(Duration::from_secs(5)));
/// let date = "Fri, 01 May 2026 12:01:00 GMT";
/// assert_eq!(parse_retry_after(date, now), Some(Duration::from_secs(60)));
/// assert_eq!(parse_retry_after("soon", now), None);
/// ```
pub fn parse_retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    let wait = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that overflows becomes the maximum, which is limited below.
        Duration::from_secs(text.parse().unwrap_or(u64::MAX))
    } else {
        let seconds = parse_http_date(text)?.seconds_since(now).max(0);
        Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
    };
    Some(wait.min(MAX_RETRY_AFTER))
}

/// A parsed `Content-Range` field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentRange {
    /// A range of bytes, both ends included.
    Part {
        /// Offset of the first byte.
        first: u64,
        /// Offset of the last byte.
        last: u64,
        /// Size of the whole body; `None` for `*`.
        total: Option<u64>,
    },
    /// The requested range is outside of the body.
    Unsatisfied {
        /// Size of the whole body.
        total: u64,
    },
}

impl ContentRange {
    /// Parses `bytes 5-9/10`, `bytes 5-9/*` and `bytes */10`.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.trim().strip_prefix("bytes")?;
        let (range, total) = rest.strip_prefix(' ')?.trim().split_once('/')?;
        let total = if total == "*" { None } else { Some(number(total)?) };
        if range == "*" {
            return total.map(|total| Self::Unsatisfied { total });
        }
        let (first, last) = range.split_once('-')?;
        let (first, last) = (number(first)?, number(last)?);
        let is_fine = first <= last && total.is_none_or(|total| last < total);
        is_fine.then_some(Self::Part { first, last, total })
    }
}

/// Parses a decimal number without sign or spaces; `None` if it overflows.
pub(crate) fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// How long a response may be used without revalidation (SCP-167).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Freshness {
    /// Seconds for which the response is fresh: `max-age`, or `Expires` minus the time of the
    /// response.
    pub max_age: Option<u64>,
    /// Whether the response must be revalidated before each use.
    pub is_no_cache: bool,
}

impl Freshness {
    /// Parses `Cache-Control` and `Expires`; `max-age` takes precedence.
    pub fn parse(control: Option<&str>, expires: Option<&str>, now: Timestamp) -> Self {
        let mut found = Self::default();
        for part in control.unwrap_or_default().split(',').take(32) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "no-cache" | "no-store" => found.is_no_cache = true,
                "max-age" => {
                    found.max_age = found.max_age.or(number(value.trim().trim_matches('"')));
                }
                _ => {}
            }
        }
        if let (None, Some(expires)) = (found.max_age, expires) {
            // An invalid date means that the response is stale.
            let seconds = parse_http_date(expires).map_or(0, |date| date.seconds_since(now).max(0));
            found.max_age = u64::try_from(seconds).ok();
        }
        found
    }
}

/// Returns the media type without parameters, in lower case.
pub fn media_type(text: &str) -> String {
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns the charset parameter of a media type.
pub fn charset(text: &str) -> Option<String> {
    text.split(';').skip(1).find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// A content coding that the client can decompress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContentCoding {
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

impl ContentCoding {
    /// Parses `Content-Encoding`; returns an error for an unknown coding.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, UnknownCoding> {
        let mut codings = Vec::new();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.to_ascii_lowercase().as_str() {
                "identity" => {}
                "gzip" | "x-gzip" => codings.push(Self::Gzip),
                "zstd" => codings.push(Self::Zstd),
                _ => return Err(UnknownCoding(rutter_finding::quoted(word))),
            }
        }
        Ok(codings)
    }
}

/// A content coding that the client does not support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCoding(pub String);

impl fmt::Display for UnknownCoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "content coding {} is not supported", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-154 D08
    fn parses_entity_tags_unchanged() {
        for good in ["\"a\"", "W/\"a\"", "\"\"", "\"sha256:00\"", " \"x\" "] {
            assert_eq!(parse_etag(good).as_deref(), Some(good.trim()), "{good}");
        }
        for bad in ["", "a", "\"a", "a\"", "w/\"a\"", "\"a\"b\"", "\"a b\"", "\"a\u{7f}\"", "W/a"] {
            assert_eq!(parse_etag(bad), None, "{bad}");
        }
        let tag = |text: &str| Validators { etag: parse_etag(text), last_modified: None };
        assert_eq!(tag("\"a\"").strong_etag(), Some("\"a\""));
        assert_eq!(tag("W/\"a\"").strong_etag(), None);
        let empty = Digest::of(b"");
        for form in
            [format!("\"{empty}\""), format!("W/\"{empty}-gzip\""), format!("\"{empty};zstd\"")]
        {
            assert_eq!(tag(&form).digest(), Some(empty), "{form}");
        }
        assert_eq!(tag("\"5e-1\"").digest(), None);
    }

    #[test] // SCP-207 D11
    fn parses_retry_after_in_every_form() {
        let now = Timestamp::parse("1994-11-06T08:49:00Z").unwrap();
        for (text, wanted) in [
            ("5", Some(5)),
            ("0", Some(0)),
            ("315360000", Some(86_400)),
            ("99999999999999999999999", Some(86_400)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(37)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(37)),
            ("Sun Nov  6 08:49:37 1994", Some(37)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("Sat, 06 Nov 2094 08:00:00 GMT", Some(86_400)),
            ("-5", None),
            ("5.5", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(parse_retry_after(text, now), wanted.map(Duration::from_secs), "{text}");
        }
    }

    #[test] // RFC 9110, 14.4
    fn parses_content_range() {
        let part = |first, last, total| Some(ContentRange::Part { first, last, total });
        assert_eq!(ContentRange::parse("bytes 5-9/10"), part(5, 9, Some(10)));
        assert_eq!(ContentRange::parse("bytes 5-9/*"), part(5, 9, None));
        let none = ContentRange::Unsatisfied { total: 10 };
        assert_eq!(ContentRange::parse("bytes */10"), Some(none));
        for bad in [
            "",
            "bytes",
            "bytes 5-9",
            "bytes 9-5/10",
            "bytes 5-10/10",
            "bytes -5/10",
            "items 0-1/2",
            "bytes */*",
            "bytes +1-2/3",
            "bytes 0-99999999999999999999/*",
        ] {
            assert_eq!(ContentRange::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn parses_cache_lifetimes() {
        let now = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let read = |control, expires| Freshness::parse(control, expires, now);
        assert_eq!(read(Some("public, Max-Age=\"60\""), None).max_age, Some(60));
        assert!(read(Some("no-cache"), None).is_no_cache);
        let date = "Fri, 01 May 2026 00:01:00 GMT";
        assert_eq!(read(None, Some(date)).max_age, Some(60));
        assert_eq!(read(Some("max-age=5"), Some(date)).max_age, Some(5));
        assert_eq!(read(None, Some("0")).max_age, Some(0));
        assert_eq!(read(Some("max-age=-1"), None).max_age, None);
    }

    #[test] // D05
    fn parses_codings_and_media_types() {
        let read = |text| ContentCoding::parse_list(text).ok();
        assert_eq!(read("gzip"), Some(vec![ContentCoding::Gzip]));
        assert_eq!(read("X-GZIP, zstd"), Some(vec![ContentCoding::Gzip, ContentCoding::Zstd]));
        assert_eq!(read("identity"), Some(vec![]));
        assert_eq!(read("br"), None);
        assert_eq!(charset("text/html; Charset=\"utf-8\"").as_deref(), Some("utf-8"));
        assert_eq!(media_type("Text/HTML; charset=x"), "text/html");
    }
}
