//! Blocks and pages on the wire.

use rutter_page::{Block, IntoOwned, Page, PageHead, PageLimits, PageReader, RawJson};

const EVERYTHING: &str = include_str!("../../fixtures/render/everything.json");

fn read(line: &str) -> Page<'_> {
    PageReader::new(PageLimits::SPEC).read(line, 1, &mut ()).unwrap().unwrap()
}

#[test] // SCP-053 SCP-054 SCP-055 SCP-056 SCP-057 SCP-058 SCP-059 SCP-060 SCP-061 SCP-062 SCP-063
// SCP-064 SCP-065 SCP-066 SCP-067 SCP-068 SCP-069 SCP-070 SCP-071 SCP-073 SCP-074 SCP-075
fn round_trip_preserves_every_byte() {
    let line = EVERYTHING.trim_end();
    let page = read(line);
    // Unknown blocks and members, and the spaces inside them, included.
    assert_eq!(page.to_line(), line);
    assert_eq!(page.clone().into_owned().to_line(), line);
    let kinds: Vec<&str> = page.content.iter().map(Block::kind).collect();
    assert_eq!(
        kinds,
        [
            "heading",
            "text",
            "link",
            "image",
            "list",
            "list",
            "code",
            "code",
            "table",
            "quote",
            "video",
            "audio",
            "tide-gauge"
        ]
    );
}

#[test] // SCP-002 SCP-032 SCP-041
fn writes_every_page_on_one_line() {
    let mut page = read(EVERYTHING.trim_end()).into_owned();
    page.title = "two\nlines\r\n\u{2028}".to_owned().into();
    page.extra[0].value = RawJson::parse("{\n  \"a\": [1,\r\n 2]\n}").unwrap();
    let line = page.to_line();
    assert!(!line.contains(['\n', '\r']));
    assert_eq!(read(&line), page);
    assert!(RawJson::parse("{").is_err());
}

#[test]
fn reads_url_and_time_without_the_rest() {
    let head = PageHead::of_line(EVERYTHING.trim_end()).unwrap();
    assert_eq!(head.url.key(), "https://harbour.example/docs/tides");
    assert_eq!(head.modified.to_string(), "2026-02-03T04:05:06Z");
    assert_eq!(PageHead::of_line("{\"url\":\"x\"}"), None);
}

#[test] // SCP-040
fn strict_reader_accepts_only_faultless_pages() {
    let perfect = EVERYTHING.trim_end().replace("tide-gauge", "text").replace("depth", "text");
    let perfect = perfect.replace("\"text\":  3.10", "\"text\":\"3.1\"");
    let page: Page<'_> = serde_json::from_str(&perfect).unwrap();
    assert_eq!(page.content.len(), 13);
    for (from, to) in [
        ("\"level\":1", "\"level\":7"),
        ("https://harbour.example/chart.png", "file:///chart.png"),
        ("\"en-GB\"", "\"english language\""),
        ("2026-02-03T04:05:06Z", "2026-02-03"),
        ("PT5M20S", "5 minutes"),
        ("\"title\":", "\"titel\":"),
        ("\"schema\":{", "\"schema\":\"x\",\"y\":{"),
        ("\"ordered\":true", "\"ordered\":\"yes\""),
        ("\"url\":[{", "\"url\":[],\"z\":[{"),
    ] {
        let broken = perfect.replacen(from, to, 1);
        assert_ne!(broken, perfect);
        assert!(serde_json::from_str::<Page<'_>>(&broken).is_err(), "{to}");
    }
}
