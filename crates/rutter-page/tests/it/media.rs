//! Video and audio blocks: which forms are accepted and written, and which are rejected.

use proptest::prelude::*;
use rutter_finding::Finding;
use rutter_page::{Block, Page, PageLimits, PageReader, RecordingUrls};
use serde_json::{Value, json};

fn line(block: &Value) -> String {
    json!({
        "url": "https://harbour.example/", "title": "t", "description": "d",
        "modified": "2026-05-01T00:00:00Z", "language": "en", "content": [block, { "type": "text", "text": "after" }],
    })
    .to_string()
}

/// Reads a block; returns the kept block and the rules that it breaks.
fn read(block: &Value) -> (Option<Value>, Vec<&'static str>) {
    let line = line(block);
    let mut findings: Vec<Finding> = Vec::new();
    let page = PageReader::new(PageLimits::SPEC).read(&line, 1, &mut findings).unwrap().unwrap();
    // The strict reader accepts exactly the blocks for which the tolerant one reports nothing.
    assert_eq!(serde_json::from_str::<Page<'_>>(&line).is_ok(), findings.is_empty(), "{block}");
    let kept = page.content.first().filter(|_| 1 < page.content.len());
    let kept = kept.map(|block| serde_json::to_value(block).unwrap());
    (kept, findings.iter().map(|finding| finding.rule.code).collect())
}

#[test] // SCP-065
fn video_url_is_one_url_or_links_with_href_and_media_type() {
    assert_urls("video");
}

#[test] // SCP-072
fn audio_url_is_one_url_or_links_with_href_and_media_type() {
    assert_urls("audio");
}

#[track_caller]
fn assert_urls(kind: &str) {
    let media = |url: Value| json!({ "type": kind, "name": "Lock", "url": url });
    let link = json!({ "href": "https://h.example/v", "mediaType": "video/mp4" });
    let with_rel =
        json!({ "href": "https://h.example/w", "mediaType": "text/html", "rel": "alternate" });
    for url in [
        json!("https://h.example/v.mp4"),
        json!([link]),
        json!([with_rel]),
        json!([link, with_rel, link]),
    ] {
        let block = media(url);
        assert_eq!(read(&block), (Some(block.clone()), vec![]), "{block}");
    }
    for (url, code) in [
        (json!([]), "SC022"),
        (json!(5), "SC022"),
        (json!(null), "SC022"),
        (link.clone(), "SC022"),
        (json!(["https://h.example/v.mp4"]), "SC022"),
        (json!([{ "href": "https://h.example/v" }]), "SC022"),
        (json!([{ "mediaType": "video/mp4" }]), "SC022"),
        (json!([{ "href": "https://h.example/v", "mediaType": 4 }]), "SC022"),
        (
            json!([link, { "href": "https://h.example/v", "mediaType": "video/mp4", "rel": 1 }]),
            "SC022",
        ),
        (json!([link, { "href": "ftp://h.example/v", "mediaType": "video/mp4" }]), "SC024"),
        (json!("ftp://h.example/v"), "SC024"),
    ] {
        assert_eq!(read(&media(url.clone())), (None, vec![code]), "{url}");
    }
    let block = json!({ "type": kind, "name": "Lock" });
    assert_eq!(read(&block), (None, vec!["SC022"]));
    // Both forms keep their order, and the first is the one to show.
    let text = line(&media(json!([with_rel, link])));
    let page = PageReader::new(PageLimits::SPEC).read(&text, 1, &mut ()).unwrap().unwrap();
    let url = match page.content.first() {
        Some(Block::Video(video)) => &video.url,
        Some(Block::Audio(audio)) => &audio.url,
        _ => panic!("{page:?}"),
    };
    assert!(matches!(url, RecordingUrls::Many(links) if links.len() == 2));
    assert_eq!(url.first(), "https://h.example/w");
}

#[test] // SCP-080
fn reports_urls_that_are_not_uris_and_writes_uris() {
    let odd = "https://h.example/a b|c";
    let uri = "https://h.example/a%20b%7Cc";
    for block in [
        json!({ "type": "link", "url": odd, "text": "x" }),
        json!({ "type": "image", "url": odd, "alt": "" }),
        json!({ "type": "video", "name": "x", "url": odd }),
        json!({ "type": "video", "name": "x", "url": [{ "href": odd, "mediaType": "a/b" }] }),
        json!({ "type": "video", "name": "x", "url": uri,
            "captions": [{ "language": "en", "url": odd, "label": "x" }] }),
        json!({ "type": "audio", "name": "x", "url": uri, "icon": { "type": "Image", "url": odd } }),
    ] {
        assert_eq!(read(&block), (Some(block.clone()), vec!["SC029"]), "{block}");
        let text = line(&block);
        let page = PageReader::new(PageLimits::SPEC).read(&text, 1, &mut ()).unwrap().unwrap();
        let wanted: Value = serde_json::from_str(&line(&block).replace(odd, uri)).unwrap();
        let written: Value = serde_json::from_str(&page.with_uris().to_line()).unwrap();
        assert_eq!(written, wanted);
    }
}

fn duration() -> impl Strategy<Value = (Value, bool)> {
    prop_oneof![
        (0..100_u32, 0..60_u32, 0..60_u32)
            .prop_map(|(h, m, s)| (json!(format!("PT{h}H{m}M{s}S")), true)),
        (0..9000_u32, 0..100_u32).prop_map(|(s, part)| (json!(format!("PT{s}.{part}S")), true)),
        "P[0-9]{0,2}[DTHMS]{0,3}".prop_filter_map("a duration after all", |text| {
            rutter_page::MediaDuration::parse(text.as_str()).is_none().then(|| (json!(text), false))
        }),
        Just((json!(320), false)),
    ]
}

fn icon() -> impl Strategy<Value = (Value, bool)> {
    let url = "https://h\\.example/[a-z0-9]{0,6}\\.png";
    prop_oneof![
        url.prop_map(|url| (json!({ "type": "Image", "url": url }), true)),
        url.prop_map(|url| (json!({ "url": url }), true)),
        url.prop_map(|url| (json!({ "type": "Picture", "url": url }), false)),
        url.prop_map(|url| (json!(url), false)),
        Just((json!({ "type": "Image", "url": "javascript:x" }), false)),
    ]
}

fn summary() -> impl Strategy<Value = (Value, bool)> {
    prop_oneof![
        "\\PC{0,12}|[\"\\\\\n]{1,3}".prop_map(|text| (json!(text), true)),
        Just((json!([]), false)),
        Just((json!(1), false)),
    ]
}

proptest! {
    // SCP-073: each of the three is optional, follows the rules of video, is kept if it is valid,
    // and is dropped with a finding if it is not.
    #[test]
    fn audio_and_video_have_optional_duration_icon_and_summary(
        duration in prop::option::of(duration()),
        icon in prop::option::of(icon()),
        summary in prop::option::of(summary()),
    ) {
        for kind in ["audio", "video"] {
            let mut block = json!({ "type": kind, "name": "Foghorn", "url": "https://h.example/f" });
            let mut wanted = block.clone();
            let mut n_wrong = 0;
            for (name, value) in [("duration", &duration), ("icon", &icon), ("summary", &summary)] {
                let Some((value, is_good)) = value else { continue };
                block[name] = value.clone();
                if *is_good {
                    wanted[name] = value.clone();
                } else {
                    n_wrong += 1;
                }
            }
            let (kept, codes) = read(&block);
            prop_assert_eq!(codes, vec!["SC025"; n_wrong]);
            prop_assert_eq!(kept.as_ref(), Some(&wanted));
            // Further round trips change nothing.
            let first = line(&wanted);
            let page: Page<'_> = serde_json::from_str(&first).unwrap();
            let second = page.to_line();
            let again: Page<'_> = serde_json::from_str(&second).unwrap();
            prop_assert_eq!(&again, &page);
            prop_assert_eq!(again.to_line(), second);
        }
    }
}
