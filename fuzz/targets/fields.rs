//! Readers of header fields never panic; a written value is read again, and no wait, range or coding
//! exceeds its limit.
#![no_main]

use rutter_fetch::header::{self, ContentCoding, ContentRange, Freshness, MAX_RETRY_AFTER, Validators};
use rutter_fetch::{HostPolicy, Proxies, decode, redact_url};
use rutter_page::Timestamp;

const MOST: u64 = 1 << 16;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let now = Timestamp::from_unix_seconds(1_800_000_000).expect("inside the calendar");
    if let Some(wait) = header::parse_retry_after(&text, now) {
        assert!(wait <= MAX_RETRY_AFTER);
    }
    if let Some(tag) = header::parse_etag(&text) {
        assert!(text.contains(&tag) && tag.ends_with('"'));
        let validators = Validators { etag: Some(tag.clone()), last_modified: None };
        assert_eq!(validators.strong_etag().is_some(), !tag.starts_with("W/"));
        let _ = validators.digest();
    }
    if let Some(ContentRange::Part { first, last, total }) = ContentRange::parse(&text) {
        assert!(first <= last && total.is_none_or(|total| last < total));
    }
    let _ = Freshness::parse(Some(&text), Some(&text), now);
    let _ = (header::media_type(&text), header::charset(&text), header::parse_http_date(&text));
    let _ = ContentCoding::parse_list(&text);
    let _ = Proxies::from_lookup(|_| Some(text.clone().into_owned()));
    if let Ok(url) = rutter_fetch::Url::parse(&text) {
        assert!(!redact_url(&url).chars().any(char::is_control));
        let _ = HostPolicy::SameSite.allows(&url, &url);
    }
    let declared = text.lines().next();
    for declared in [None, declared] {
        if let Ok(decoded) = decode::decode_all(bytes, declared, MOST) {
            assert!(decoded.len() as u64 <= MOST);
        }
    }
});
