//! Parses log lines in the JSON formats of Rutter and Caddy.
//!
//! [`JsonLine`] matches both formats, because their members do not collide: Rutter's format has
//! `client` and `target` at the top level, Caddy's format has the same facts in `request`.
//! `docs/logs.md` shows how to make nginx write Rutter's format.

use std::borrow::Cow;
use std::time::Duration;

use rutter_page::{CowStr, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{LineError, combined};
use crate::record::AccessRecord;

/// A line of an access log in JSON.
// More than 12 fields: one for each member of the two formats.
#[derive(Deserialize)]
struct JsonLine<'l> {
    // Members of Rutter's format.
    #[serde(borrow)]
    time: Option<CowStr<'l>>,
    #[serde(borrow)]
    client: Option<CowStr<'l>>,
    #[serde(borrow)]
    token: Option<CowStr<'l>>,
    #[serde(borrow)]
    method: Option<CowStr<'l>>,
    #[serde(borrow)]
    target: Option<CowStr<'l>>,
    #[serde(borrow)]
    protocol: Option<CowStr<'l>>,
    bytes: Option<u64>,
    #[serde(borrow)]
    referer: Option<CowStr<'l>>,
    #[serde(borrow)]
    user_agent: Option<CowStr<'l>>,
    #[serde(borrow)]
    seconds: Option<&'l RawValue>,
    retry_after: Option<u64>,
    // Members of both formats.
    status: Option<u16>,
    // Members of Caddy's format.
    #[serde(borrow)]
    ts: Option<&'l RawValue>,
    #[serde(borrow)]
    request: Option<CaddyRequest<'l>>,
    #[serde(borrow)]
    duration: Option<&'l RawValue>,
    size: Option<u64>,
    #[serde(borrow)]
    user_id: Option<CowStr<'l>>,
    #[serde(borrow)]
    resp_headers: Option<CaddyResponseHeaders<'l>>,
}

#[derive(Deserialize)]
struct CaddyRequest<'l> {
    #[serde(borrow)]
    client_ip: Option<CowStr<'l>>,
    #[serde(borrow)]
    remote_ip: Option<CowStr<'l>>,
    #[serde(borrow)]
    method: Option<CowStr<'l>>,
    #[serde(borrow)]
    uri: Option<CowStr<'l>>,
    #[serde(borrow)]
    proto: Option<CowStr<'l>>,
    #[serde(borrow)]
    headers: Option<CaddyHeaders<'l>>,
}

#[derive(Default, Deserialize)]
struct CaddyHeaders<'l> {
    #[serde(borrow, rename = "User-Agent", default)]
    user_agent: Vec<CowStr<'l>>,
    #[serde(borrow, rename = "Referer", default)]
    referer: Vec<CowStr<'l>>,
}

#[derive(Deserialize)]
struct CaddyResponseHeaders<'l> {
    #[serde(borrow, rename = "Retry-After", default)]
    retry_after: Vec<CowStr<'l>>,
}

pub(super) fn parse(text: &str) -> Result<AccessRecord<'_>, LineError> {
    let line: JsonLine<'_> = serde_json::from_str(text).map_err(|_| LineError::Json)?;
    let status = line.status.ok_or(LineError::Status)?;
    if let Some(request) = line.request {
        let time = line.ts.and_then(stamp).ok_or(LineError::Time)?;
        let client = request.client_ip.or(request.remote_ip).ok_or(LineError::Json)?;
        let headers = request.headers.unwrap_or_default();
        let retry_after = line.resp_headers.and_then(|answer| {
            answer.retry_after.first().and_then(|seconds| seconds.trim().parse().ok())
        });
        return Ok(AccessRecord {
            token: non_empty(line.user_id),
            method: request.method.ok_or(LineError::Json)?,
            target: request.uri.ok_or(LineError::Json)?,
            protocol: request.proto.unwrap_or_default(),
            bytes: line.size.unwrap_or(0),
            referer: non_empty(headers.referer.into_iter().next()),
            user_agent: non_empty(headers.user_agent.into_iter().next()),
            duration: line.duration.and_then(seconds),
            retry_after,
            ..AccessRecord::new(time, client, status)
        });
    }
    let time = line.time.and_then(|text| parse_time(&text)).ok_or(LineError::Time)?;
    Ok(AccessRecord {
        token: non_empty(line.token),
        method: line.method.ok_or(LineError::Json)?,
        target: line.target.ok_or(LineError::Json)?,
        protocol: line.protocol.unwrap_or_default(),
        bytes: line.bytes.unwrap_or(0),
        referer: non_empty(line.referer),
        user_agent: non_empty(line.user_agent),
        duration: line.seconds.and_then(seconds),
        retry_after: line.retry_after,
        ..AccessRecord::new(time, line.client.ok_or(LineError::Json)?, status)
    })
}

/// Returns the text; `None` if it is empty or a hyphen.
fn non_empty(text: Option<CowStr<'_>>) -> Option<CowStr<'_>> {
    text.filter(|text| !matches!(&**text, "" | "-"))
}

/// Parses a time that Caddy wrote: a number of seconds since 1970, or a text.
fn stamp(raw: &RawValue) -> Option<Timestamp> {
    let text: Option<Cow<'_, str>> = serde_json::from_str(raw.get()).ok();
    if let Some(text) = text {
        return parse_time(&text);
    }
    // The digits are parsed one by one, because a float would lose the last digits of the fraction.
    let (whole, fraction) = raw.get().split_once('.').unwrap_or((raw.get(), ""));
    let Ok(seconds) = whole.parse::<i64>() else { return None };
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    if digits != fraction.len() {
        let number: f64 = raw.get().parse().ok()?;
        let span = Duration::try_from_secs_f64(number).ok()?;
        return Timestamp::from_nanos(i128::try_from(span.as_nanos()).ok()?);
    }
    let nanos = (0..9).fold(0_i128, |nanos, at| {
        nanos * 10 + fraction.as_bytes().get(at).map_or(0, |byte| i128::from(byte - b'0'))
    });
    Timestamp::from_nanos(i128::from(seconds) * 1_000_000_000 + nanos)
}

/// Parses a time in RFC 3339 (UTC if the zone is missing), in the common log format or in Caddy's
/// `wall` format.
fn parse_time(text: &str) -> Option<Timestamp> {
    let parsed = Timestamp::parse_lenient(text).ok().map(|(time, _)| time);
    parsed.or_else(|| combined::time(text)).or_else(|| slashed(text))
}

/// Parses a time in Caddy's `wall` format, such as `2026/05/01 12:00:00.250`.
fn slashed(text: &str) -> Option<Timestamp> {
    let text = text.replacen('/', "-", 2);
    Timestamp::parse_lenient(&text).ok().map(|(time, _)| time)
}

/// Parses a JSON number as a duration in seconds.
fn seconds(raw: &RawValue) -> Option<Duration> {
    let number: f64 = serde_json::from_str(raw.get()).ok()?;
    Duration::try_from_secs_f64(number).ok()
}
