//! Evaluates conditional requests (RFC 9110, section 13) and a single byte range (section 14).
//!
//! The order is that of the RFC: `If-Match`, else `If-Unmodified-Since`; then `If-None-Match`, else
//! `If-Modified-Since` (D07); then `Range`, if `If-Range` matches. A date in `If-Range` never
//! matches, because a file may change twice within a second and the date is therefore not a strong
//! validator; the whole file is sent. A range in a HEAD request is ignored. An invalid condition is
//! ignored, except `If-Match`, which then fails.

use std::ops::Range;

use http::header::{
    HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE,
};
use http::{HeaderMap, HeaderValue, Method};

use crate::respond::date;

/// The result of the conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConditionOutcome {
    /// 200 with the whole body.
    Whole,
    /// 206 with these bytes.
    Part(Range<u64>),
    /// 304 without body.
    Current,
    /// 412: the condition names another version of the file.
    Failed,
    /// 416: the range is outside the body.
    NoRange,
}

/// The validators and the length of the current version of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurrentVersion<'k> {
    /// The `ETag` with its quotes.
    pub(crate) tag: Option<&'k str>,
    pub(crate) modified: i64,
    pub(crate) length: u64,
}

/// Returns whether a request has no conditions and no range.
pub(crate) fn is_plain(headers: &HeaderMap) -> bool {
    let names = [IF_NONE_MATCH, RANGE, IF_MODIFIED_SINCE, IF_MATCH, IF_UNMODIFIED_SINCE];
    !names.iter().any(|name| headers.contains_key(name))
}

/// Evaluates the conditions of a GET or HEAD request.
pub(crate) fn evaluate(
    headers: &HeaderMap,
    method: &Method,
    known: CurrentVersion<'_>,
    now: i64,
) -> ConditionOutcome {
    if headers.contains_key(IF_MATCH) {
        if !is_listed(headers, &IF_MATCH, known.tag, TagComparison::Strong) {
            return ConditionOutcome::Failed;
        }
    } else if let Some(since) = one_date(headers, &IF_UNMODIFIED_SINCE, now)
        && since < known.modified
    {
        return ConditionOutcome::Failed;
    }
    if headers.contains_key(IF_NONE_MATCH) {
        if is_listed(headers, &IF_NONE_MATCH, known.tag, TagComparison::Weak) {
            return ConditionOutcome::Current;
        }
    } else if let Some(since) = one_date(headers, &IF_MODIFIED_SINCE, now)
        && known.modified <= since
    {
        return ConditionOutcome::Current;
    }
    if *method != Method::GET || !is_range_allowed(headers, known.tag) {
        return ConditionOutcome::Whole;
    }
    range(headers, known.length)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TagComparison {
    Strong,
    Weak,
}

/// Returns whether a header field lists an `ETag` or contains `*`.
fn is_listed(
    headers: &HeaderMap,
    name: &HeaderName,
    tag: Option<&str>,
    compare: TagComparison,
) -> bool {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        if value.trim() == "*" {
            return true;
        }
        let mut rest = value;
        while let Some((is_weak, found, after)) = next_tag(rest) {
            let is_same = Some(found) == tag && (compare == TagComparison::Weak || !is_weak);
            if is_same {
                return true;
            }
            rest = after;
        }
        false
    })
}

/// Returns the next `ETag` of a list: whether it is weak, the `ETag` with its quotes, and the rest;
/// `None` at the end or at a syntax error.
fn next_tag(text: &str) -> Option<(bool, &str, &str)> {
    let text = text.trim_start_matches([' ', '\t', ',']);
    let (is_weak, text) = match text.strip_prefix("W/") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let end = text.strip_prefix('"')?.find('"')? + 2;
    let (tag, rest) = text.split_at_checked(end)?;
    let is_end = rest.trim_start().is_empty() || rest.trim_start().starts_with(',');
    is_end.then_some((is_weak, tag, rest))
}

fn one(headers: &HeaderMap, name: &HeaderName) -> Option<HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    // A duplicate field is ignored.
    values.next().is_none().then(|| value.clone())
}

fn one_date(headers: &HeaderMap, name: &HeaderName, now: i64) -> Option<i64> {
    date::read(one(headers, name)?.to_str().ok()?, now)
}

/// Returns whether `If-Range` allows the range.
fn is_range_allowed(headers: &HeaderMap, tag: Option<&str>) -> bool {
    if !headers.contains_key(RANGE) {
        return false;
    }
    if !headers.contains_key(IF_RANGE) {
        return true;
    }
    let Some(value) = one(headers, &IF_RANGE) else { return false };
    let Ok(text) = value.to_str() else { return false };
    tag.is_some_and(|tag| text.trim() == tag)
}

/// Evaluates `Range`. Other units, multiple ranges and invalid ranges are ignored, as the RFC
/// allows.
fn range(headers: &HeaderMap, length: u64) -> ConditionOutcome {
    let Some(value) = one(headers, &RANGE) else { return ConditionOutcome::Whole };
    let Some((unit, set)) = value.to_str().ok().and_then(|text| text.split_once('=')) else {
        return ConditionOutcome::Whole;
    };
    let set = set.trim();
    if !unit.trim().eq_ignore_ascii_case("bytes") || set.contains(',') {
        return ConditionOutcome::Whole;
    }
    let Some((first, last)) = set.split_once('-') else { return ConditionOutcome::Whole };
    let (first, last) = (first.trim(), last.trim());
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(first) || !is_number(last) || (first.is_empty() && last.is_empty()) {
        return ConditionOutcome::Whole;
    }
    // A number that overflows is beyond the end of any file.
    let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
    let part = if first.is_empty() {
        let n = number(last).min(length);
        length - n..length
    } else {
        let (first, last) = (number(first), if last.is_empty() { u64::MAX } else { number(last) });
        if last < first {
            return ConditionOutcome::Whole;
        }
        first..last.saturating_add(1).min(length)
    };
    if part.is_empty() { ConditionOutcome::NoRange } else { ConditionOutcome::Part(part) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_etag_lists_up_to_the_first_error() {
        for (list, wanted) in [
            (r#""a""#, true),
            (r#"W/"a""#, true),
            (r#""x", "a""#, true),
            (r#" , ,"x" ,W/"a" ,"#, true),
            (r#""x,\"a""#, false),
            (r#""x, y", "a""#, true),
            ("a", false),
            (r#""a"#, false),
            (r#"w/"a""#, false),
            (r#""b" "a""#, false),
            ("*", true),
            (" * ", true),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, list.parse().unwrap());
            let found = is_listed(&headers, &IF_NONE_MATCH, Some("\"a\""), TagComparison::Weak);
            assert_eq!(found, wanted, "{list}");
        }
    }
}
