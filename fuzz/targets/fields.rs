//! No field of a head may make its reader panic; what is read is what was
//! written, and no wait, range or coding goes beyond its bounds.
#![no_main]

use rutter_fetch::header::{self, Coding, ContentRange, Freshness, LONGEST_RETRY, Validators};
use rutter_fetch::{Hosts, Proxies, decode, shown};
use rutter_page::Timestamp;

const MOST: u64 = 1 << 16;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let now = Timestamp::from_unix_seconds(1_800_000_000).expect("inside the calendar");
    if let Some(wait) = header::retry_after(&text, now) {
        assert!(wait <= LONGEST_RETRY);
    }
    if let Some(tag) = header::etag(&text) {
        assert!(text.contains(&tag) && tag.ends_with('"'));
        let validators = Validators { etag: Some(tag.clone()), last_modified: None };
        assert_eq!(validators.strong_etag().is_some(), !tag.starts_with("W/"));
        let _ = validators.digest();
    }
    if let Some(ContentRange::Part { first, last, total }) = ContentRange::parse(&text) {
        assert!(first <= last && total.is_none_or(|total| last < total));
    }
    let _ = Freshness::parse(Some(&text), Some(&text), now);
    let _ = (header::media_type(&text), header::charset(&text), header::http_date(&text));
    let _ = Coding::parse_list(&text);
    let _ = Proxies::from_lookup(|_| Some(text.clone().into_owned()));
    if let Ok(url) = rutter_fetch::Url::parse(&text) {
        assert!(!shown(&url).chars().any(char::is_control));
        let _ = Hosts::SameSite.allows(&url, &url);
    }
    let declared = text.lines().next();
    for declared in [None, declared] {
        if let Ok(decoded) = decode::whole(bytes, declared, MOST) {
            assert!(decoded.len() as u64 <= MOST);
        }
    }
});
