//! Conditions of a request and what they come to (RFC 9110, 13), and the one
//! range that may be asked for (14).
//!
//! The order is the RFC's: `If-Match`, else `If-Unmodified-Since`; then
//! `If-None-Match`, else `If-Modified-Since` (D07); then `Range`, if `If-Range`
//! agrees. A date in `If-Range` never agrees: we do not know that a file did
//! not change twice within a second, so it is no strong validator, and the
//! whole file is sent; a range of a HEAD means nothing at all. A condition that cannot be read is as if it were not
//! there, but for `If-Match`, which then fails.

use std::ops::Range;

use http::header::{
    HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE,
};
use http::{HeaderMap, HeaderValue, Method};

use crate::date;

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// 200, everything.
    Whole,
    /// 206, these bytes.
    Part(Range<u64>),
    /// 304, nothing.
    Current,
    /// 412: the client thinks of another file.
    Failed,
    /// 416: there are no such bytes.
    NoRange,
}

/// What a file is known by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'k> {
    /// The tag with its quotes.
    pub(crate) tag: Option<&'k str>,
    pub(crate) modified: i64,
    pub(crate) length: u64,
}

/// Whether a request has anything to judge at all.
pub(crate) fn is_plain(headers: &HeaderMap) -> bool {
    let names = [IF_NONE_MATCH, RANGE, IF_MODIFIED_SINCE, IF_MATCH, IF_UNMODIFIED_SINCE];
    !names.iter().any(|name| headers.contains_key(name))
}

/// Judges the conditions of a GET or HEAD.
pub(crate) fn judge(headers: &HeaderMap, method: &Method, known: Known<'_>, now: i64) -> Verdict {
    if headers.contains_key(IF_MATCH) {
        if !is_listed(headers, &IF_MATCH, known.tag, Compare::Strong) {
            return Verdict::Failed;
        }
    } else if let Some(since) = one_date(headers, &IF_UNMODIFIED_SINCE, now)
        && since < known.modified
    {
        return Verdict::Failed;
    }
    if headers.contains_key(IF_NONE_MATCH) {
        if is_listed(headers, &IF_NONE_MATCH, known.tag, Compare::Weak) {
            return Verdict::Current;
        }
    } else if let Some(since) = one_date(headers, &IF_MODIFIED_SINCE, now)
        && known.modified <= since
    {
        return Verdict::Current;
    }
    if *method != Method::GET || !range_counts(headers, known.tag) {
        return Verdict::Whole;
    }
    range(headers, known.length)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compare {
    Strong,
    Weak,
}

/// Whether a tag stands in the lists of a header, or `*` does.
fn is_listed(headers: &HeaderMap, name: &HeaderName, tag: Option<&str>, compare: Compare) -> bool {
    headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).any(|value| {
        if value.trim() == "*" {
            return true;
        }
        let mut rest = value;
        while let Some((is_weak, found, after)) = next_tag(rest) {
            let is_same = Some(found) == tag && (compare == Compare::Weak || !is_weak);
            if is_same {
                return true;
            }
            rest = after;
        }
        false
    })
}

/// The next tag of a list: whether it is weak, itself with its quotes, and the
/// rest; `None` at the end and where the list stops being one.
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
    // Said twice is not said.
    values.next().is_none().then(|| value.clone())
}

fn one_date(headers: &HeaderMap, name: &HeaderName, now: i64) -> Option<i64> {
    date::read(one(headers, name)?.to_str().ok()?, now)
}

/// Whether `If-Range` lets the range count.
fn range_counts(headers: &HeaderMap, tag: Option<&str>) -> bool {
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

/// Judges `Range`. Other units, several ranges and what is no range at all are
/// not obeyed, which is allowed: everything is sent.
fn range(headers: &HeaderMap, length: u64) -> Verdict {
    let Some(value) = one(headers, &RANGE) else { return Verdict::Whole };
    let Some((unit, set)) = value.to_str().ok().and_then(|text| text.split_once('=')) else {
        return Verdict::Whole;
    };
    let set = set.trim();
    if !unit.trim().eq_ignore_ascii_case("bytes") || set.contains(',') {
        return Verdict::Whole;
    }
    let Some((first, last)) = set.split_once('-') else { return Verdict::Whole };
    let (first, last) = (first.trim(), last.trim());
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(first) || !is_number(last) || (first.is_empty() && last.is_empty()) {
        return Verdict::Whole;
    }
    // A number too large for us is larger than any file.
    let number = |text: &str| text.parse::<u64>().unwrap_or(u64::MAX);
    let part = if first.is_empty() {
        let n = number(last).min(length);
        length - n..length
    } else {
        let (first, last) = (number(first), if last.is_empty() { u64::MAX } else { number(last) });
        if last < first {
            return Verdict::Whole;
        }
        first..last.saturating_add(1).min(length)
    };
    if part.is_empty() { Verdict::NoRange } else { Verdict::Part(part) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_lists_of_tags_are_read_to_their_first_fault() {
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
            let found = is_listed(&headers, &IF_NONE_MATCH, Some("\"a\""), Compare::Weak);
            assert_eq!(found, wanted, "{list}");
        }
    }
}
