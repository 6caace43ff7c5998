//! Tests of YAML sitemaps.

use proptest::prelude::*;
use rutter_arc::{
    ArcDocumentKind, ArcEntry, DeltaAnnouncement, Limits, MAX_YAML_BYTES, SitemapHeader, YamlWriter,
};

use crate::json::{entry, write};
use crate::{json, read, time, url};

fn to_yaml(head: &SitemapHeader, entries: &[ArcEntry<'_>]) -> String {
    let mut writer = YamlWriter::new(Vec::new(), head).unwrap();
    for entry in entries {
        writer.push(entry).unwrap();
    }
    String::from_utf8(writer.finish().unwrap().unwrap()).unwrap()
}

fn yaml(text: &str) -> crate::Read {
    read(text.as_bytes(), ArcDocumentKind::Yaml, Limits::DEFAULT)
}

proptest! {
    #[test] // ARC-004 ARC-008 ARC-009
    fn yaml_and_json_hold_the_same_data(entries in prop::collection::vec(entry(), 0..5)) {
        let deltas = DeltaAnnouncement {
            template: rutter_arc::delta::delta_template("https://harbour.example/"),
            from: "2026-04-02".to_owned(),
            to: "2026-05-01".to_owned(),
        };
        let head = SitemapHeader {
            deltas: Some(deltas),
            ..SitemapHeader::new("https://harbour.example", time("2026-05-01T00:00:00Z"))
        };
        let from_json = json(&write(&head, &entries));
        let from_yaml = yaml(&to_yaml(&head, &entries));
        let texts = |all: &[ArcEntry<'_>]| -> Vec<serde_json::Value> {
            all.iter().map(|it| serde_json::from_str(&it.to_json()).unwrap()).collect()
        };
        prop_assert_eq!(texts(&from_yaml.entries), texts(&from_json.entries));
        prop_assert_eq!(from_yaml.result.unwrap().head, from_json.result.unwrap().head);
    }

    #[test]
    fn random_yaml_never_panics(text in "[-{}\\[\\]\",:&*!#%|>a-z0-9 \n_]{0,80}") {
        let _unused = yaml(&text);
    }
}

#[test] // ARC-008 E.3.3
fn sample_of_the_specification_is_read() {
    let text = "arc_sitemap_version: \"2.1\"\nsite: \"https://example.com\"\n\
        generated_at: \"2025-11-09T08:00:00Z\"\npages:\n  - url: \"https://example.com/signup\"\n    \
        lastmod: \"2025-11-08T12:00:00Z\"\n    ai_indexable: true\n    \
        ai_tags: [\"signup\",\"onboarding\"]\n    ai_checksum: \"sha256:af3c...\"\n";
    let got = yaml(text);
    assert_eq!(got.said(), [("AR044", "/pages/0/ai_checksum")]);
    assert_eq!(got.entries[0].ai_indexable, Some(true));
    assert_eq!(rutter_arc::detect_format(text.as_bytes()), Some(ArcDocumentKind::Yaml));
}

#[test] // C11 D63
fn yaml_traps_are_rejected_or_read_as_text() {
    let page = |rest: &str| {
        format!(
            "arc_sitemap_version: '2.1'\nsite: https://harbour.example\n\
             generated_at: 2026-05-01T00:00:00Z\npages:\n- url: https://harbour.example/a\n{rest}"
        )
    };
    for (rest, code) in [
        ("  ai_indexable: &a true\n  x: *a\n", "AR071"),
        ("  ai_indexable: *a\n", "AR071"),
        ("  ai_indexable: !!bool true\n", "AR071"),
        ("  x: !!python/object/apply:os.system ['ls']\n", "AR071"),
        ("  ai_indexable: true\n  ai_indexable: false\n", "AR073"),
        ("  <<: {ai_indexable: true}\n  <<: {}\n", "AR073"),
        ("  ? [a, b]\n  : 1\n", "AR070"),
        ("\tai_indexable: true\n", "AR070"),
        ("  ai_indexable: true\n---\nx: 1\n", "AR070"),
    ] {
        let got = yaml(&page(rest));
        assert_eq!(got.refused(), Some(code), "{rest} {:?}", got.result);
    }
    assert_eq!(yaml(&format!("%YAML 1.1\n---\n{}", page(""))).refused(), Some("AR071"));
    // Words that other YAML versions read as booleans or numbers are text.
    for word in ["yes", "no", "on", "off", "y", "0b1", "1_000", "0o7", "0x1f", ".inf", "True "] {
        let got = yaml(&page(&format!("  ai_indexable: {word}\n")));
        let is_true = word == "True ";
        let codes: Vec<&str> = got.said().iter().map(|(code, _)| *code).collect();
        assert_eq!(codes.contains(&"AR037"), !is_true, "{word} {codes:?}");
        assert_eq!(got.entries[0].ai_indexable == Some(true), is_true, "{word}");
    }
    let bomb = format!("x: {}{}", "[".repeat(5000), "]".repeat(5000));
    assert!(matches!(yaml(&bomb).refused(), Some("AR006" | "AR070")), "{:?}", yaml(&bomb).result);
}

#[test] // D63
fn yaml_over_the_limit_is_neither_written_nor_read() {
    let head = SitemapHeader::new("https://harbour.example", time("2026-05-01T00:00:00Z"));
    let mut writer = YamlWriter::new(Vec::new(), &head).unwrap();
    let summary = "x".repeat(100_000);
    let entry =
        ArcEntry { ai_summary: Some(summary.into()), ..ArcEntry::new(url("a"), Some(true)) };
    for _ in 0..100 {
        writer.push(&entry).unwrap();
    }
    assert!(writer.is_too_large());
    assert!(writer.finish().unwrap().is_none());
    // Found by fuzzing: escapes make a key longer than YAML allows.
    let key = "\t".repeat(600);
    let value = rutter_page::RawJson::parse("1").unwrap();
    let extra = vec![rutter_page::UnknownMember { key: key.into(), value }];
    let mut writer = YamlWriter::new(Vec::new(), &SitemapHeader { extra, ..head }).unwrap();
    writer.push(&ArcEntry::new(url("a"), Some(true))).unwrap();
    assert!(writer.finish().unwrap().is_none());
    let text = format!("x: \"{}\"\n", "a".repeat(MAX_YAML_BYTES));
    assert_eq!(yaml(&text).refused(), Some("AR072"));
    let keys: Vec<String> = (0..10_001).map(|n| format!("k{n}: 1\n")).collect();
    assert_eq!(yaml(&keys.concat()).refused(), Some("AR070"));
}
