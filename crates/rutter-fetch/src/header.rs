//! Header fields we read ourselves: validators, ranges, waits, lifetimes.
//!
//! All of it is foreign text; what cannot be understood is `None`, never a
//! guess.

use std::fmt;
use std::time::Duration;

use rutter_page::{Digest, Timestamp};
use serde::{Deserialize, Serialize};

use crate::clock::timestamp_of;

/// What a server says about the version it sent (SCP-154).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag` as it was sent, quotes and all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// `Last-Modified` as it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Validators {
    /// Tells whether there is nothing to ask with.
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }

    /// The tag by which a download may be resumed: a strong one (D11).
    pub fn strong_etag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| tag.starts_with('"'))
    }

    /// When the content changed, by the server's own word.
    pub fn modified(&self) -> Option<Timestamp> {
        http_date(self.last_modified.as_deref()?)
    }

    /// The SHA-256 a tag holds, where it holds one (D08); a hint, no proof.
    pub fn digest(&self) -> Option<Digest> {
        let tag = self.etag.as_deref()?;
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        let tag = tag.strip_prefix('"')?.strip_suffix('"')?;
        let suffixes = ["--gzip", "--zstd", "-gzip", "-zstd", ";gzip", ";zstd"];
        let bare = suffixes.into_iter().find_map(|suffix| tag.strip_suffix(suffix));
        Digest::parse(bare.unwrap_or(tag))
    }
}

/// Reads an entity tag: quoted, perhaps with `W/` before it.
///
/// ```
/// # use rutter_fetch::header::etag;
/// assert_eq!(etag("W/\"a\"").as_deref(), Some("W/\"a\""));
/// assert_eq!(etag("a b"), None);
/// ```
pub fn etag(text: &str) -> Option<String> {
    let text = text.trim();
    let opaque = text.strip_prefix("W/").unwrap_or(text);
    let inner = opaque.strip_prefix('"')?.strip_suffix('"')?;
    let is_fine = inner.bytes().all(|byte| matches!(byte, 0x21 | 0x23..=0x7e));
    (is_fine && text.len() <= 1024).then(|| text.to_owned())
}

/// Reads a date in one of the three forms of HTTP.
pub fn http_date(text: &str) -> Option<Timestamp> {
    timestamp_of(httpdate::parse_http_date(text.trim()).ok()?)
}

/// Longest wait that is obeyed as it is asked for (D11).
pub const LONGEST_RETRY: Duration = Duration::from_hours(24);

/// Reads `Retry-After`, in seconds or as a date, held to a day.
///
/// ```
/// # use rutter_fetch::header::retry_after;
/// # use rutter_page::Timestamp;
/// # use std::time::Duration;
/// let now = Timestamp::parse("2026-05-01T12:00:00Z").unwrap();
/// assert_eq!(retry_after("5", now), Some(Duration::from_secs(5)));
/// let date = "Fri, 01 May 2026 12:01:00 GMT";
/// assert_eq!(retry_after(date, now), Some(Duration::from_secs(60)));
/// assert_eq!(retry_after("soon", now), None);
/// ```
pub fn retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    let wait = if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are still a very long time.
        Duration::from_secs(text.parse().unwrap_or(u64::MAX))
    } else {
        let seconds = http_date(text)?.seconds_since(now).max(0);
        Duration::from_secs(u64::try_from(seconds).unwrap_or(0))
    };
    Some(wait.min(LONGEST_RETRY))
}

/// What `Content-Range` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentRange {
    /// These bytes, both ends included, of a whole of this size.
    Part {
        /// The first byte.
        first: u64,
        /// The last byte.
        last: u64,
        /// Size of the whole; `None` for `*`.
        total: Option<u64>,
    },
    /// No bytes: the whole has this size.
    Unsatisfied {
        /// Size of the whole.
        total: u64,
    },
}

impl ContentRange {
    /// Reads `bytes 5-9/10`, `bytes 5-9/*` and `bytes */10`.
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

/// Digits and nothing else, that fit.
pub(crate) fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// How long an answer may be used without asking again (SCP-167).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Freshness {
    /// Seconds from `max-age`, or from `Expires` less the time of the answer.
    pub max_age: Option<u64>,
    /// It must be asked for again every time.
    pub is_no_cache: bool,
}

impl Freshness {
    /// Reads `Cache-Control` and `Expires`; the first wins.
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
            // A date that cannot be read means that it is over.
            let seconds = http_date(expires).map_or(0, |date| date.seconds_since(now).max(0));
            found.max_age = u64::try_from(seconds).ok();
        }
        found
    }
}

/// The media type without parameters, in lower case.
pub fn media_type(text: &str) -> String {
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The charset parameter of a media type.
pub fn charset(text: &str) -> Option<String> {
    text.split(';').skip(1).find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// How bytes were coded for the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coding {
    /// gzip.
    Gzip,
    /// zstd.
    Zstd,
}

impl Coding {
    /// Reads `Content-Encoding`; an unknown word is an error.
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

/// A coding nobody asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCoding(pub String);

impl fmt::Display for UnknownCoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown coding {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // SCP-154 D08
    fn spec_validators_are_kept_as_they_are() {
        for good in ["\"a\"", "W/\"a\"", "\"\"", "\"sha256:00\"", " \"x\" "] {
            assert_eq!(etag(good).as_deref(), Some(good.trim()), "{good}");
        }
        for bad in ["", "a", "\"a", "a\"", "w/\"a\"", "\"a\"b\"", "\"a b\"", "\"a\u{7f}\"", "W/a"] {
            assert_eq!(etag(bad), None, "{bad}");
        }
        let tag = |text: &str| Validators { etag: etag(text), last_modified: None };
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
    fn spec_retry_after_in_every_form() {
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
            assert_eq!(retry_after(text, now), wanted.map(Duration::from_secs), "{text}");
        }
    }

    #[test] // RFC 9110, 14.4
    fn spec_content_range() {
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
    fn spec_lifetimes() {
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
    fn ours_codings() {
        let read = |text| Coding::parse_list(text).ok();
        assert_eq!(read("gzip"), Some(vec![Coding::Gzip]));
        assert_eq!(read("X-GZIP, zstd"), Some(vec![Coding::Gzip, Coding::Zstd]));
        assert_eq!(read("identity"), Some(vec![]));
        assert_eq!(read("br"), None);
        assert_eq!(charset("text/html; Charset=\"utf-8\"").as_deref(), Some("utf-8"));
        assert_eq!(media_type("Text/HTML; charset=x"), "text/html");
    }
}
