//! Tests of reading and writing adverts.

use rutter_page::{Digest, Timestamp};
use rutter_scp::advert::{
    Advert, AdvertisedCollection, AdvertisedSection, NAMESPACE, UpdateFrequency, compare,
};
use rutter_scp::{CollectionHeader, CollectionKind, FormatVersion, rules};

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

#[test] // SCP-106 SCP-107 SCP-108 SCP-109
fn written_adverts_equal_the_read_ones() {
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
fn every_attribute_is_required() {
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

#[test] // SCP-115 SCP-121 D19
fn malformed_values_are_rejected_with_a_reason() {
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
    for value in ["yearly", "Daily", "always"] {
        assert!(read("section", &with(&SECTION, "updateFreq", value)).is_none(), "{value}");
    }
    for (name, value) in [("pages", "-1"), ("pages", "4.5"), ("size", "480k"), ("size", "0x10")] {
        let error = Advert::read("delta", &with(&DELTA, name, value), "").unwrap().unwrap_err();
        assert_eq!((error.attribute, error.value.as_str()), (name, value));
    }
    // Zone-less times are read as UTC, and attribute order does not matter.
    let mut attributes = with(&SNAPSHOT, "generated", "2026-01-15T00:00:00");
    attributes.reverse();
    assert_eq!(read("collection", &attributes), read("collection", &SNAPSHOT));
}

#[test] // D04
fn added_checksum_is_read_and_not_written() {
    let digest = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    let mut attributes = SNAPSHOT.to_vec();
    attributes.push(("checksum", digest));
    let Some(Advert::Collection(collection)) = read("collection", &attributes) else { panic!() };
    assert_eq!(collection.checksum.unwrap().to_string(), digest);
    assert_eq!(Advert::Collection(collection).write().1.len(), 7);
}

#[test] // SCP-122 SCP-123
fn delta_advert_has_period_and_since() {
    let since = Timestamp::parse("2026-01-14T00:00:00Z").unwrap();
    let Some(Advert::Collection(collection)) = read("delta", &DELTA) else { panic!() };
    let AdvertisedCollection { kind, period, url, .. } = collection;
    assert_eq!(kind, CollectionKind::Delta { since });
    assert_eq!(period.as_deref(), Some("2026-01-15"));
    assert_eq!(url, "https://cdn.example/blog-delta.scp.gz");
}

#[test] // SCP-115
fn update_frequencies_are_parsed() {
    for (name, seconds) in
        [("hourly", 3600), ("daily", 86_400), ("weekly", 604_800), ("monthly", 2_592_000)]
    {
        let frequency = UpdateFrequency::parse(name).unwrap();
        assert_eq!((frequency.name(), frequency.seconds()), (name, seconds));
    }
    let section = AdvertisedSection {
        name: "docs".to_owned(),
        update: UpdateFrequency::Weekly,
        pages: 200,
        is_estimate: false,
    };
    assert_eq!(Advert::Section(section).write().1[2].1, "200");
    assert_eq!(Advert::Version(FormatVersion::CURRENT).write().2, "0.1");
}

/// The attributes with another value for one of them.
fn with<'a>(
    attributes: &[(&'a str, &'a str)],
    name: &str,
    value: &'a str,
) -> Vec<(&'a str, &'a str)> {
    attributes.iter().map(|it| if it.0 == name { (it.0, value) } else { *it }).collect()
}

#[test] // SCP-112
fn version_is_two_numbers_with_a_dot() {
    for (text, major, minor) in [("0.1", 0, 1), ("12.345", 12, 345), (" 0.1\n", 0, 1)] {
        let wanted = Advert::Version(FormatVersion { major, minor });
        assert_eq!(Advert::read("version", &[], text), Some(Ok(wanted)), "{text}");
    }
    for text in ["", "1", "0.", ".1", "0.1.2", "a.b", "0,1", "-0.1", "+0.1", "v0.1", "0 .1", "٠.١"]
    {
        let error = Advert::read("version", &[], text).unwrap().unwrap_err();
        assert_eq!((error.attribute, error.value.as_str()), ("", text));
    }
}

#[test] // SCP-113
fn compression_is_a_list_of_lower_case_names() {
    for (text, wanted) in [("gzip", &["gzip"][..]), ("zstd,gzip,br", &["zstd", "gzip", "br"])] {
        let wanted = Advert::Compression(wanted.iter().map(|&it| it.to_owned()).collect());
        assert_eq!(Advert::read("compression", &[], text), Some(Ok(wanted)), "{text}");
    }
    for text in ["", "gzip,", ",gzip", "gzip,,zstd", "GZIP", "gzip zstd", "gzip, zstd", "gz1p"] {
        let error = Advert::read("compression", &[], text).unwrap().unwrap_err();
        assert_eq!((error.attribute, error.value.as_str()), ("", text));
    }
}

#[test] // SCP-116
fn pages_of_a_section_may_be_an_estimate() {
    for (text, pages, is_estimate) in [("~5000", 5000, true), ("5000", 5000, false)] {
        let attributes = with(&SECTION, "pages", text);
        let Some(Advert::Section(section)) = read("section", &attributes) else { panic!("{text}") };
        assert_eq!((section.pages, section.is_estimate), (pages, is_estimate));
        assert_eq!(Advert::Section(section).write().1[2].1, text);
    }
    for text in ["~", "~~5", "5~", "~-5", "about 5", "~ 5"] {
        let attributes = with(&SECTION, "pages", text);
        let error = Advert::read("section", &attributes, "").unwrap().unwrap_err();
        assert_eq!(error.attribute, "pages", "{text}");
    }
}

#[test] // SCP-118
fn type_of_a_collection_is_snapshot_and_nothing_else() {
    assert!(read("collection", &SNAPSHOT).is_some());
    for value in ["delta", "Snapshot", "SNAPSHOT", "snapshots", "full"] {
        let attributes = with(&SNAPSHOT, "type", value);
        let error = Advert::read("collection", &attributes, "").unwrap().unwrap_err();
        assert_eq!((error.attribute, error.value.as_str()), ("type", value));
    }
}

#[test] // SCP-120
fn every_time_is_a_date_and_a_time() {
    for (name, attributes) in [("collection", &SNAPSHOT[..]), ("delta", &DELTA)] {
        for of in ["generated", "expires", "since"] {
            if !attributes.iter().any(|it| it.0 == of) {
                continue;
            }
            for value in
                ["yesterday", "1768435200", "2026-13-15T00:00:00Z", "15.01.2026", "T12:00:00Z"]
            {
                let attributes = with(attributes, of, value);
                let error = Advert::read(name, &attributes, "").unwrap().unwrap_err();
                assert_eq!((error.attribute, error.value.as_str()), (of, value), "{name}");
            }
            let time = |value| {
                let Some(Advert::Collection(read)) = read(name, &with(attributes, of, value))
                else {
                    panic!("{name} {of} {value}")
                };
                match of {
                    "generated" => read.generated,
                    "expires" => read.expires,
                    _ => read.kind.since().unwrap(),
                }
            };
            let wanted = Timestamp::parse("2026-01-15T22:30:00Z").unwrap();
            for value in
                ["2026-01-15T22:30:00Z", "2026-01-16T00:30:00+02:00", "2026-01-15T22:30:00.0"]
            {
                assert_eq!(time(value), wanted, "{name} {of} {value}");
            }
        }
    }
}

#[test] // SCP-194 D04
fn a_checksum_of_the_sitemap_must_be_that_of_the_collection() {
    let text = rutter_testkit::snapshot(&[rutter_testkit::page(0, 1)]);
    let header = crate::read_bytes(text.as_bytes()).2.unwrap().header;
    let own = header.checksum.unwrap();
    let bare = CollectionHeader { checksum: None, ..header.clone() };
    let Some(Advert::Collection(advert)) = read("collection", &with(&SNAPSHOT, "section", "all"))
    else {
        panic!()
    };
    let refused = |claimed: Option<Digest>, header: &CollectionHeader| {
        let advert = AdvertisedCollection {
            checksum: claimed,
            generated: header.generated,
            ..advert.clone()
        };
        compare(&advert, header, None, &mut ()).err().map(|refusal| refusal.rule.code)
    };
    let contradicts = Some(rules::ADVERT_CONTRADICTS.code);
    assert_eq!(refused(None, &header), None);
    assert_eq!(refused(Some(own), &header), None);
    assert_eq!(refused(Some(Digest::of(b"")), &header), contradicts);
    assert_eq!(refused(Some(own), &bare), contradicts);
}
