//! JSON lines: those of our server, and Caddy's.
//!
//! One struct takes both, because their members do not collide: ours has
//! `client` and `target` at the top, Caddy's has them in `request`. An nginx
//! that is told to can write our form as well (docs/logs.md).

use std::borrow::Cow;
use std::time::Duration;

use rutter_page::{Str, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Broken, combined};
use crate::record::Record;

#[derive(Deserialize)]
struct Line<'l> {
    // Ours.
    #[serde(borrow)]
    time: Option<Str<'l>>,
    #[serde(borrow)]
    client: Option<Str<'l>>,
    #[serde(borrow)]
    token: Option<Str<'l>>,
    #[serde(borrow)]
    method: Option<Str<'l>>,
    #[serde(borrow)]
    target: Option<Str<'l>>,
    #[serde(borrow)]
    protocol: Option<Str<'l>>,
    bytes: Option<u64>,
    #[serde(borrow)]
    referer: Option<Str<'l>>,
    #[serde(borrow)]
    user_agent: Option<Str<'l>>,
    #[serde(borrow)]
    seconds: Option<&'l RawValue>,
    retry_after: Option<u64>,
    // Both.
    status: Option<u16>,
    // Caddy's.
    #[serde(borrow)]
    ts: Option<&'l RawValue>,
    #[serde(borrow)]
    request: Option<Request<'l>>,
    #[serde(borrow)]
    duration: Option<&'l RawValue>,
    size: Option<u64>,
    #[serde(borrow)]
    user_id: Option<Str<'l>>,
    #[serde(borrow)]
    resp_headers: Option<Answer<'l>>,
}

#[derive(Deserialize)]
struct Request<'l> {
    #[serde(borrow)]
    client_ip: Option<Str<'l>>,
    #[serde(borrow)]
    remote_ip: Option<Str<'l>>,
    #[serde(borrow)]
    method: Option<Str<'l>>,
    #[serde(borrow)]
    uri: Option<Str<'l>>,
    #[serde(borrow)]
    proto: Option<Str<'l>>,
    #[serde(borrow)]
    headers: Option<Headers<'l>>,
}

#[derive(Default, Deserialize)]
struct Headers<'l> {
    #[serde(borrow, rename = "User-Agent", default)]
    user_agent: Vec<Str<'l>>,
    #[serde(borrow, rename = "Referer", default)]
    referer: Vec<Str<'l>>,
}

#[derive(Deserialize)]
struct Answer<'l> {
    #[serde(borrow, rename = "Retry-After", default)]
    retry_after: Vec<Str<'l>>,
}

pub(super) fn parse(text: &str) -> Result<Record<'_>, Broken> {
    let line: Line<'_> = serde_json::from_str(text).map_err(|_| Broken::Json)?;
    let status = line.status.ok_or(Broken::Status)?;
    if let Some(request) = line.request {
        let time = line.ts.and_then(stamp).ok_or(Broken::Time)?;
        let client = request.client_ip.or(request.remote_ip).ok_or(Broken::Json)?;
        let headers = request.headers.unwrap_or_default();
        let retry_after = line.resp_headers.and_then(|answer| {
            answer.retry_after.first().and_then(|seconds| seconds.trim().parse().ok())
        });
        return Ok(Record {
            token: given(line.user_id),
            method: request.method.ok_or(Broken::Json)?,
            target: request.uri.ok_or(Broken::Json)?,
            protocol: request.proto.unwrap_or_default(),
            bytes: line.size.unwrap_or(0),
            referer: given(headers.referer.into_iter().next()),
            user_agent: given(headers.user_agent.into_iter().next()),
            duration: line.duration.and_then(seconds),
            retry_after,
            ..Record::new(time, client, status)
        });
    }
    let time = line.time.and_then(|text| written(&text)).ok_or(Broken::Time)?;
    Ok(Record {
        token: given(line.token),
        method: line.method.ok_or(Broken::Json)?,
        target: line.target.ok_or(Broken::Json)?,
        protocol: line.protocol.unwrap_or_default(),
        bytes: line.bytes.unwrap_or(0),
        referer: given(line.referer),
        user_agent: given(line.user_agent),
        duration: line.seconds.and_then(seconds),
        retry_after: line.retry_after,
        ..Record::new(time, line.client.ok_or(Broken::Json)?, status)
    })
}

/// A text that says something.
fn given(text: Option<Str<'_>>) -> Option<Str<'_>> {
    text.filter(|text| !matches!(&**text, "" | "-"))
}

/// A time as Caddy writes it: seconds since 1970 as a number, or a text.
fn stamp(raw: &RawValue) -> Option<Timestamp> {
    let text: Option<Cow<'_, str>> = serde_json::from_str(raw.get()).ok();
    if let Some(text) = text {
        return written(&text);
    }
    // A double would lose the last digits of a fraction.
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

/// A time in RFC 3339 (also without a zone, as UTC) or in the common form.
fn written(text: &str) -> Option<Timestamp> {
    let parsed = Timestamp::parse_lenient(text).ok().map(|(time, _)| time);
    parsed.or_else(|| combined::time(text)).or_else(|| slashed(text))
}

/// Caddy's `wall` form: `2026/05/01 12:00:00.250`.
fn slashed(text: &str) -> Option<Timestamp> {
    let text = text.replacen('/', "-", 2);
    Timestamp::parse_lenient(&text).ok().map(|(time, _)| time)
}

/// How long something took, given in seconds.
fn seconds(raw: &RawValue) -> Option<Duration> {
    let number: f64 = serde_json::from_str(raw.get()).ok()?;
    Duration::try_from_secs_f64(number).ok()
}
