//! Adverts: attributes in, attributes out.

use rutter_page::Timestamp;
use rutter_scp::advert::{Advert, Collection, Frequency, NAMESPACE, Section};
use rutter_scp::{Kind, Version};

const SNAPSHOT: [(&str, &str); 7] = [
    ("section", "blog"),
    ("type", "snapshot"),
    ("url", "https://cdn.example/blog.scp.gz"),
    ("generated", "2026-01-15T00:00:00Z"),
    ("expires", "2026-01-16T00:00:00Z"),
    ("pages", "5247"),
    ("size", "52000000"),
];

const DELTA: [(&str, &str); 8] = [
    ("section", "blog"),
    ("period", "2026-01-15"),
    ("url", "https://cdn.example/blog-delta.scp.gz"),
    ("generated", "2026-01-15T23:00:00Z"),
    ("expires", "2026-01-17T00:00:00Z"),
    ("pages", "47"),
    ("size", "480000"),
    ("since", "2026-01-14T00:00:00Z"),
];

const SECTION: [(&str, &str); 3] = [("name", "blog"), ("updateFreq", "daily"), ("pages", "~5000")];

fn read(name: &str, attributes: &[(&str, &str)]) -> Option<Advert> {
    Advert::read(name, attributes, "").unwrap().ok()
}

#[test] // SCP-106 SCP-107 SCP-108 SCP-109 SCP-112 SCP-113 SCP-116
fn spec_what_is_written_is_what_was_read() {
    assert_eq!(NAMESPACE, "https://scp-protocol.org/schemas/sitemap/1.0");
    for (name, attributes) in
        [("collection", &SNAPSHOT[..]), ("delta", &DELTA), ("section", &SECTION)]
    {
        let advert = read(name, attributes).unwrap();
        let (written_name, written, text) = advert.write();
        let written: Vec<_> =
            written.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!((written_name, written.as_slice(), text.as_str()), (name, attributes, ""));
    }
    for (name, text) in [("version", "0.1"), ("compression", "zstd,gzip")] {
        let advert = Advert::read(name, &[], text).unwrap().unwrap();
        assert_eq!(advert.write(), (name, Vec::new(), text.to_owned()));
    }
    assert!(Advert::read("other", &[], "").is_none());
    for (name, text) in [("version", "1"), ("compression", "zstd;gzip"), ("compression", "")] {
        assert!(Advert::read(name, &[], text).unwrap().is_err(), "{name} {text}");
    }
}

#[test] // SCP-114 SCP-117 SCP-119
fn spec_every_attribute_is_required() {
    for (name, attributes) in
        [("collection", &SNAPSHOT[..]), ("delta", &DELTA), ("section", &SECTION)]
    {
        for missing in attributes {
            let rest: Vec<_> = attributes.iter().filter(|it| *it != missing).copied().collect();
            let error = Advert::read(name, &rest, "").unwrap().unwrap_err();
            assert_eq!(error.attribute, missing.0, "{name}");
        }
    }
}

#[test] // SCP-115 SCP-118 SCP-120 SCP-121 D19
fn spec_bad_values_are_ignored_with_a_reason() {
    let with = |attributes: &[(&'static str, &'static str)], name, value| -> Vec<_> {
        attributes.iter().map(|it| if it.0 == name { (name, value) } else { *it }).collect()
    };
    for (name, value) in [
        ("type", "delta"),
        ("generated", "yesterday"),
        ("pages", "-1"),
        ("pages", "~5"),
        ("size", "100000000000000000000000000000000"),
        ("url", "javascript:alert(1)"),
        ("url", "blog.scp.gz"),
        ("section", "../etc"),
    ] {
        let attributes = with(&SNAPSHOT, name, value);
        let error = Advert::read("collection", &attributes, "").unwrap().unwrap_err();
        assert_eq!((error.attribute, error.value.as_str()), (name, value));
        assert!(error.to_string().contains(name), "{error}");
    }
    assert!(read("section", &with(&SECTION, "updateFreq", "yearly")).is_none());
    // Zone-less times are read as UTC, and attribute order does not matter.
    let mut attributes = with(&SNAPSHOT, "generated", "2026-01-15T00:00:00");
    attributes.reverse();
    assert_eq!(read("collection", &attributes), read("collection", &SNAPSHOT));
}

#[test] // SCP-194 D04
fn ours_a_checksum_somebody_added_is_read_and_not_written() {
    let digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let mut attributes = SNAPSHOT.to_vec();
    attributes.push(("checksum", digest));
    let Some(Advert::Collection(collection)) = read("collection", &attributes) else { panic!() };
    assert_eq!(collection.checksum.unwrap().to_string(), digest);
    assert_eq!(Advert::Collection(collection).write().1.len(), 7);
}

#[test] // SCP-122 SCP-123
fn spec_a_delta_advert_has_its_period_and_since() {
    let since = Timestamp::parse("2026-01-14T00:00:00Z").unwrap();
    let Some(Advert::Collection(collection)) = read("delta", &DELTA) else { panic!() };
    let Collection { kind, period, url, .. } = collection;
    assert_eq!(kind, Kind::Delta { since });
    assert_eq!(period.as_deref(), Some("2026-01-15"));
    assert_eq!(url, "https://cdn.example/blog-delta.scp.gz");
}

#[test] // SCP-115
fn spec_update_frequencies() {
    for (name, seconds) in
        [("hourly", 3600), ("daily", 86_400), ("weekly", 604_800), ("monthly", 2_592_000)]
    {
        let frequency = Frequency::parse(name).unwrap();
        assert_eq!((frequency.name(), frequency.seconds()), (name, seconds));
    }
    let section = Section {
        name: "docs".to_owned(),
        update: Frequency::Weekly,
        pages: 200,
        is_estimate: false,
    };
    assert_eq!(Advert::Section(section).write().1[2].1, "200");
    assert_eq!(Advert::Version(Version::CURRENT).write().2, "0.1");
}
