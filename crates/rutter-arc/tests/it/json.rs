//! Tests of JSON sitemaps: member order, limits, consent.

use std::io::Write as _;

use proptest::prelude::*;
use rutter_arc::{
    ArcDocumentKind, ArcEntry, Consent, ExpectedDocument, JsonWriter, Limits, RobotsDirectives,
    SitemapChecker, SitemapHeader, is_checksum,
};
use rutter_finding::Finding;
use rutter_page::{RawJson, RawObject, UnknownMember};

use crate::{document, json, read, time, url};

fn sample() -> SitemapHeader {
    SitemapHeader {
        crawl_rate: Some("1/s".to_owned()),
        contact: Some("crawl@harbour.example".to_owned()),
        ..SitemapHeader::new("https://harbour.example/", time("2026-05-01T00:00:00Z"))
    }
}

pub(crate) fn write(head: &SitemapHeader, entries: &[ArcEntry<'_>]) -> String {
    let mut writer = JsonWriter::new(Vec::new(), head).unwrap();
    for entry in entries {
        writer.push(entry).unwrap();
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

/// Entries as a publisher makes them.
pub(crate) fn entry() -> impl Strategy<Value = ArcEntry<'static>> {
    let text = "[ -~éß\u{1f6a2}\u{2028}\n\"\\\\]{0,20}";
    let words = prop::sample::select(vec!["noindex", "nofollow", "NOAI, noarchive"]);
    let object = prop::sample::select(vec![
        r#"{"page":"a"}"#,
        r#"{"page":"b","sections":[{"name":"x","fields":[{"field":"email"}]}]}"#,
        r#"{"page":"\ud83d\udea2","n":[1,-2.5,1e3,true,null]}"#,
    ]);
    (
        ("[a-z]{1,8}", 0_i64..2_000_000_000, any::<bool>(), prop::option::of(any::<bool>())),
        (prop::option::of(words), prop::option::of(0..=10_u32), prop::option::of(text)),
        (prop::collection::vec(text, 0..4), any::<bool>(), prop::option::of(object)),
        prop::option::of(prop::sample::select(vec!["1", "\"x\"", "[{}]", "null"])),
    )
        .prop_map(|(first, second, third, other)| {
            let lastmod = rutter_page::Timestamp::from_unix_seconds(first.1);
            let extra = other.map(|raw| UnknownMember {
                key: "x-note".to_owned().into(),
                value: RawJson::parse(raw).unwrap(),
            });
            ArcEntry {
                lastmod: lastmod.filter(|_| first.1 % 3 != 0),
                auth_required: first.3,
                robots_directive: second.0.map(Into::into),
                crawl_priority: second.1.map(|tenth| f64::from(tenth) / 10.0),
                ai_summary: second.2.map(Into::into),
                ai_tags: third.0.into_iter().map(Into::into).collect(),
                ai_checksum: third.1.then(|| format!("sha256:{}", "0a".repeat(32)).into()),
                ai_snapshot: third
                    .2
                    .map(|raw| RawObject::new(RawJson::parse(raw).unwrap()).unwrap()),
                extra: extra.into_iter().collect(),
                ..ArcEntry::new(url(&first.0), Some(first.2))
            }
        })
}

proptest! {
    #[test] // ARC-006 ARC-010 ARC-011 ARC-012 ARC-013 ARC-014 ARC-015 ARC-016 ARC-017 ARC-018 ARC-019
    fn written_entries_read_back_unchanged(entries in prop::collection::vec(entry(), 0..6)) {
        let text = write(&sample(), &entries);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(value["pages"].as_array().unwrap().len(), entries.len());
        let got = json(&text);
        prop_assert_eq!(got.result.as_ref().map(|it| it.head.clone()).unwrap(), sample());
        prop_assert!(got.findings.iter().all(|it| it.rule.code == "AR035"), "{:?}", got.findings);
        // Compare texts, because the writer chooses the layout of raw values.
        let texts = |all: &[ArcEntry<'_>]| all.iter().map(ArcEntry::to_json).collect::<Vec<_>>();
        prop_assert_eq!(texts(&got.entries), texts(&entries));
        prop_assert_eq!(write(&sample(), &got.entries), text);
    }

    #[test]
    fn strict_and_tolerant_parsers_agree(entry in entry()) {
        // A name with an escape is read by the tolerant parser with the same result.
        let fast = entry.to_json();
        let slow = fast.replacen("\"url\"", "\"\\u0075rl\"", 1);
        let (fast, slow) = (json(&document(&fast)), json(&document(&slow)));
        prop_assert_eq!(fast.entries, slow.entries);
        prop_assert_eq!(fast.findings, slow.findings);
    }

    #[test]
    fn chunk_sizes_change_nothing(
        entries in prop::collection::vec(entry(), 0..4), size in 1_usize..40,
    ) {
        let text = write(&sample(), &entries);
        let mut findings: Vec<Finding> = Vec::new();
        let mut reader = rutter_arc::ArcReader::new(Slow(text.as_bytes(), size), Limits::DEFAULT);
        let mut n = 0;
        while reader.next(&mut findings, |_| n += 1).unwrap().is_some() {}
        prop_assert_eq!(n, entries.len());
        reader.finish(&mut findings).unwrap();
    }

    #[test]
    fn random_text_never_panics(text in "[{}\\[\\]\",:a-z0-9 _\\\\é-]{0,80}") {
        let _unused = json(&text);
        let _unused = json(&document(&text));
    }
}

/// Gives a few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl std::io::Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.1.min(buffer.len());
        let mut piece = self.0.take(n as u64);
        let n = piece.read(buffer)?;
        self.0 = self.0.get(n..).unwrap_or_default();
        Ok(n)
    }
}

#[test] // ARC-024 ARC-048 C09
fn malformed_value_is_never_consent() {
    let wrong = [
        r#""ai_indexable":"false""#,
        r#""ai_indexable":"true""#,
        r#""ai_indexable":null"#,
        r#""ai_indexable":1"#,
        r#""ai_indexable":[true]"#,
        r#""ai_summary":"nothing said""#,
        r#""ai_indexable":true,"ai_indexable":false"#,
        r#""ai_indexable":false,"ai_indexable":true"#,
        r#""ai_indexable":true,"ai_indexable":"true""#,
        r#""ai_indexable":true,"robots_directive":"NoIndex""#,
        r#""ai_indexable":true,"robots_directive":"nofollow, none""#,
        r#""ai_indexable":true,"robots_directive":["noindex"]"#,
        r#""ai_indexable":true,"robots_directive":"all","robots_directive":"noai""#,
        r#""ai_indexable":true,"auth_required":"yes""#,
        r#""ai_indexable":true,"removed":true"#,
        r#""ai_indexable":true,"removed":"true""#,
    ];
    for members in wrong {
        let page = format!("{{\"url\":\"https://harbour.example/a\",{members}}}");
        let got = json(&document(&page));
        let consents: Vec<Consent> = got.entries.iter().map(ArcEntry::consent).collect();
        assert_eq!(consents, [Consent::Refused], "{members}");
        // A reader passes on every restriction that it read.
        let again = json(&document(&got.entries[0].to_json()));
        assert_eq!(again.entries[0].consent(), Consent::Refused, "{members}");
    }
    let got = json(&document(
        r#"{"url":"https://harbour.example/a","ai_indexable":true,"auth_required":true}"#,
    ));
    assert_eq!(got.entries[0].consent(), Consent::WithLogin);
    let noindex = RobotsDirectives::parse("noindex", |_| {});
    let page = ArcEntry::new(url("a"), Some(true));
    assert_eq!((page.consent(), page.consent_with(noindex)), (Consent::Given, Consent::Refused));
}

#[test] // ARC-042 ARC-043 ARC-044 ARC-045 ARC-046 ARC-047 ARC-049 ARC-050 ARC-051 D50
fn findings_have_code_and_pointer() {
    let page = |members: &str| {
        document(&format!(
            "{{\"url\":\"https://harbour.example/a\",\"ai_indexable\":true,{members}}}"
        ))
    };
    for (members, code, name) in [
        (r#""lastmod":"yesterday""#, "AR041", "lastmod"),
        (r#""lastmod":"2026-05-01""#, "AR041", "lastmod"),
        (r#""ai_summary":null"#, "AR038", "ai_summary"),
        (r#""ai_snapshot":null"#, "AR038", "ai_snapshot"),
        (r#""ai_tags":null"#, "AR038", "ai_tags"),
        (r#""ai_tags":"a""#, "AR039", "ai_tags"),
        (r#""ai_tags":["a",1]"#, "AR046", "ai_tags/1"),
        (r#""ai_snapshot":[]"#, "AR039", "ai_snapshot"),
        (r#""ai_summary":7"#, "AR039", "ai_summary"),
        (r#""ai_checksum":"sha256:af3c...""#, "AR044", "ai_checksum"),
        (r#""crawl_priority":1.01"#, "AR043", "crawl_priority"),
        (r#""crawl_priority":-0.1"#, "AR043", "crawl_priority"),
        (r#""crawl_priority":1e400"#, "AR043", "crawl_priority"),
        (r#""crawl_priority":"0.5""#, "AR039", "crawl_priority"),
        (r#""x":1,"x":2"#, "AR048", "x"),
    ] {
        let got = json(&page(members));
        assert_eq!(got.said(), [(code, &*format!("/pages/0/{name}"))], "{members}");
        assert_eq!(got.entries.len(), 1, "{members}");
        assert!(got.result.is_ok());
    }
    for (text, code) in [
        (r#"{"ai_indexable":true}"#, "AR031"),
        (r#"{"url":"/a","ai_indexable":true}"#, "AR032"),
        (r#"{"url":"ftp://harbour.example/a","ai_indexable":true}"#, "AR033"),
        (
            r#"{"url":"https://harbour.example/a","url":"https://harbour.example/b","ai_indexable":true}"#,
            "AR048",
        ),
        (r#"{"url":"https://www.harbour.example/a","ai_indexable":true}"#, "AR034"),
        (r#"["https://harbour.example/a"]"#, "AR030"),
        ("null", "AR030"),
    ] {
        let got = json(&document(text));
        assert_eq!(got.said()[0].0, code, "{text}");
        assert_eq!(got.entries, [], "{text}");
        let receipt = got.result.unwrap();
        assert_eq!((receipt.pages, receipt.skipped), (0, 1), "{text}");
    }
}

#[test] // ARC-038 D61
fn only_version_2_is_read() {
    let with = |version: &str| document("").replace("\"2.1\"", version);
    for (version, refused, codes) in [
        ("\"2.0\"", None, &[][..]),
        ("\"2.7\"", None, &[]),
        ("\"3.0\"", Some("AR007"), &[]),
        ("\"1.9\"", Some("AR007"), &[]),
        ("3.0", Some("AR007"), &["AR009"]),
        ("2.1", None, &["AR009"]),
        ("\"2\"", None, &["AR009"]),
        ("\"new\"", Some("AR007"), &["AR009"]),
        ("\"\"", Some("AR007"), &["AR009"]),
        ("\" \"", Some("AR007"), &["AR009"]),
        ("\"v2.1\"", Some("AR007"), &["AR009"]),
        ("true", Some("AR007"), &["AR009"]),
        ("{}", Some("AR007"), &["AR009"]),
        ("null", None, &["AR009"]),
    ] {
        let got = json(&with(version));
        assert_eq!(got.refused(), refused, "{version}");
        let said: Vec<&str> = got.said().iter().map(|(code, _)| *code).collect();
        assert_eq!(said, codes, "{version}");
    }
}

#[test] // ARC-042 ARC-052
fn members_in_any_order_and_unknown_members_are_kept() {
    let text = r#" { "pages" : [ {"ai_indexable":true,"x":{"deep":[1]},"url":"https://harbour.example/a"} ] ,
        "crawl_rate":"2/s", "x-note": {"a": [1, 2]}, "deltas":
        {"template":"https://harbour.example/arc-sitemap-deltas/YYYY-MM-DD.json","from":"2026-04-01","to":"2026-05-01"},
        "generated_at":"2026-05-01T00:00:00Z","site":"https://harbour.example/",
        "arc_sitemap_version":"2.1" } "#;
    let got = json(text);
    assert_eq!(got.findings, []);
    let receipt = got.result.unwrap();
    assert_eq!(receipt.head.extra[0].value.get(), r#"{"a": [1, 2]}"#);
    assert_eq!(receipt.head.deltas.unwrap().from, "2026-04-01");
    assert_eq!(receipt.head.site.as_deref(), Some("https://harbour.example"));
    assert_eq!(got.entries[0].extra[0].value.get(), r#"{"deep":[1]}"#);
    // The site is stated after pages of another site.
    let other = json(&text.replace("harbour.example/\"", "port.example/\""));
    assert_eq!(other.said(), [("AR034", "/site")]);
    assert!(other.result.unwrap().is_foreign);
    for missing in ["site", "generated_at", "arc_sitemap_version", "pages"] {
        let text = text.replace(&format!("\"{missing}\""), "\"other\"");
        assert_eq!(json(&text).findings.len(), 1, "{missing}");
    }
}

#[test]
fn rejects_truncated_document_at_any_length() {
    let text = document(r#"{"url":"https://harbour.example/é","ai_indexable":true,"n":[1,2]}"#);
    for end in 0..text.len() {
        let got = read(&text.as_bytes()[..end], ArcDocumentKind::Json, Limits::DEFAULT);
        assert!(matches!(got.refused(), Some("AR005" | "AR003")), "{end} {:?}", got.result);
    }
    assert!(json(&text).result.is_ok());
    for bad in
        ["{} {}", "{},", "{,}", "{\"a\":1,}", "{\"a\" 1}", "{\"pages\":[,]}", "{'a':1}", "nope"]
    {
        assert_eq!(json(bad).refused(), Some("AR001"), "{bad}");
    }
    assert_eq!(json("[]").refused(), Some("AR002"));
    assert_eq!(json("{\"pages\":{}}").refused(), Some("AR015"));
    assert_eq!(json("{\"pages\":[],\"pages\":[]}").refused(), Some("AR017"));
}

#[test]
fn limits_are_enforced() {
    let one = r#"{"url":"https://harbour.example/a","ai_indexable":true,"x":[[[1]]]}"#;
    let text = document(one);
    let refused = |limits| read(text.as_bytes(), ArcDocumentKind::Json, limits).refused();
    let usual = Limits::DEFAULT;
    assert_eq!(refused(usual), None);
    assert_eq!(refused(Limits { bytes: 20, ..usual }), Some("AR004"));
    assert_eq!(refused(Limits { pages: 0, ..usual }), Some("AR021"));
    assert_eq!(refused(Limits { entry: 30, ..usual }), Some("AR023"));
    assert_eq!(refused(Limits { head: 30, ..usual }), Some("AR023"));
    assert_eq!(refused(Limits { depth: 2, ..usual }), Some("AR006"));
    assert_eq!(refused(Limits { depth: 3, ..usual }), None);
    // Deep brackets cost neither stack nor time.
    let pit = document(&format!(
        "{{\"url\":\"https://harbour.example/a\",\"ai_indexable\":true,\"x\":{}{}}}",
        "[".repeat(500_000),
        "]".repeat(500_000)
    ));
    assert_eq!(json(&pit).refused(), Some("AR006"));
    let endless = format!("{{\"x\":\"{}", "a".repeat(2 << 20));
    assert_eq!(json(&endless).refused(), Some("AR023"));
    // A million tags, a million members.
    let tags = vec!["\"t\""; 500_000].join(",");
    let many = format!(
        "{{\"url\":\"https://harbour.example/a\",\"ai_indexable\":true,\"ai_tags\":[{tags}]}}"
    );
    let got = json(&document(&many));
    assert_eq!(got.said(), [("AR045", "/pages/0/ai_tags")]);
    assert_eq!(got.entries[0].ai_tags.len(), 1000);
    let members: Vec<String> = (0..100_000).map(|n| format!(",\"x{n}\":1")).collect();
    let members = members.concat();
    let many = format!("{{\"url\":\"https://harbour.example/a\",\"ai_indexable\":true{members}}}");
    let got = json(&document(&many));
    assert_eq!(got.said(), [("AR026", "/pages/0")]);
    assert_eq!(got.entries[0].extra.len(), 256);
}

#[test]
fn gzip_and_byte_order_marks_are_read() {
    let text = document(r#"{"url":"https://harbour.example/a","ai_indexable":true}"#);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let bytes = gzip.finish().unwrap();
    assert_eq!(read(&bytes, ArcDocumentKind::Json, Limits::DEFAULT).entries.len(), 1);
    assert_eq!(rutter_arc::detect_format(&bytes), Some(ArcDocumentKind::Json));
    let cut = read(&bytes[..bytes.len() - 9], ArcDocumentKind::Json, Limits::DEFAULT);
    assert_eq!(cut.refused(), Some("AR024"));
    assert_eq!(json(&format!("\u{feff}{text}")).said(), [("AR022", "")]);
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(read(&utf16, ArcDocumentKind::Json, Limits::DEFAULT).result.is_err());
    assert_eq!(
        read(b"{\"a\":\"\xff\"}", ArcDocumentKind::Json, Limits::DEFAULT).refused(),
        Some("AR003")
    );
}

#[test]
fn duplicate_page_is_reported() {
    let page = |path: &str| {
        format!("{{\"url\":\"https://harbour.example/{path}\",\"ai_indexable\":true}}")
    };
    let pages = ["c", "a", "b", "a#top", "c"].map(page).join(",");
    let got = json(&document(&pages));
    assert_eq!(got.said(), [("AR035", "/pages/3/url"), ("AR035", "/pages/4/url")]);
    let receipt = got.result.unwrap();
    assert_eq!((receipt.repeated, receipt.is_sorted), (2, false));
    let sorted = json(&document(&["a", "b", "c"].map(page).join(",")));
    assert!(sorted.findings.is_empty() && sorted.result.unwrap().is_sorted);
}

/// Codes and pointers of the findings for one entry.
fn judged(members: &str) -> Vec<(String, String)> {
    let page = format!("{{\"url\":\"https://harbour.example/a\",{members}}}");
    let got = json(&document(&page));
    let mut findings: Vec<Finding> = Vec::new();
    let mut judge = SitemapChecker::new(Some(time("2026-05-01T00:00:00Z")));
    for entry in &got.entries {
        judge.check_entry(entry, 0, &mut findings);
    }
    judge.finish(&got.result.unwrap(), ExpectedDocument::Sitemap, &mut findings);
    let said = |it: Finding| (it.rule.code.to_owned(), it.place.pointer);
    findings.into_iter().map(said).collect()
}

#[test] // ARC-025 ARC-027 ARC-063 C13 D56 D57 D58 D59 D60
fn entries_that_reveal_too_much_are_reported() {
    let full = r#""lastmod":"2026-04-01T00:00:00Z","ai_summary":"x""#;
    for (members, code) in [
        (r#""ai_indexable":true,"auth_required":true,"ai_summary":"x""#, "AR050"),
        (r#""ai_indexable":false,"lastmod":"2026-04-01T00:00:00Z","ai_tags":["a"]"#, "AR049"),
        (&format!(r#""ai_indexable":true,{full},"robots_directive":"noai""#), "AR058"),
        (&format!(r#""ai_indexable":true,{full},"robots_directive":"noindx""#), "AR047"),
        (
            &format!(
                r#""ai_indexable":true,{full},"ai_snapshot":{{"page":"a","ai_context":["sensitive"]}}"#
            ),
            "AR051",
        ),
        (
            &format!(
                r#""ai_indexable":true,{full},"ai_tags":["Sensitive"],"ai_snapshot":{{"page":"a"}}"#
            ),
            "AR051",
        ),
        (
            &format!(
                r#""ai_indexable":true,{full},"ai_snapshot":{{"page":"a","sections":[{{"fields":[{{"field":"email","value":"a"}}]}}]}}"#
            ),
            "AR052",
        ),
        (&format!(r#""ai_indexable":true,{full},"ai_snapshot":{{"title":"a"}}"#), "AR053"),
        (r#""ai_indexable":true,"lastmod":"2026-06-01T00:00:00Z","ai_summary":"x""#, "AR025"),
        (r#""ai_indexable":true,"ai_summary":"x""#, "AR042"),
        (r#""ai_indexable":true,"lastmod":"2026-04-01T00:00:00Z""#, "AR054"),
        (r#""ai_indexable":true,"removed":true,"robots_directive":"noindex""#, "AR059"),
        (r#""ai_indexable":false,"removed":true,"robots_directive":"noindex""#, "AR060"),
    ] {
        let said = judged(members);
        assert!(said.iter().any(|(found, _)| found == code), "{members}: {said:?}");
    }
    assert_eq!(judged(&format!(r#""ai_indexable":true,{full}"#)), []);
    let bare = ArcEntry { ai_summary: Some("x".into()), ..ArcEntry::new(url("a"), Some(false)) }
        .without_content();
    assert!(!bare.has_content());
    let secret = ArcEntry {
        auth_required: Some(true),
        lastmod: Some(time("2026-05-01T00:00:00Z")),
        ..ArcEntry::new(url("a"), Some(true))
    };
    let line = secret.without_content().to_json();
    assert_eq!(
        line,
        r#"{"url":"https://harbour.example/a","ai_indexable":true,"auth_required":true}"#
    );
}

#[test] // ARC-015 D51
fn checksum_length_matches_its_algorithm() {
    assert!(is_checksum(&rutter_page::Digest::of(b"<html>...</html>").to_string()));
    for bad in
        ["", "sha256:", "af3c", "sha256:af3c...", "crc:00", &format!("sha256:{}", "g".repeat(64))]
    {
        assert!(!is_checksum(bad), "{bad}");
    }
}

proptest! {
    #[test] // ARC-012 ARC-048 C09
    fn only_the_boolean_true_is_consent(
        value in prop::sample::select(vec![
            "true", "false", "null", "0", "1", "\"true\"", "\"\"", "[]", "[true]", "{}", "1e0", "\"yes\"",
        ]),
        auth in prop::sample::select(vec!["", "true", "false", "null", "\"false\"", "0", "{}"]),
        robots in prop::sample::select(vec!["", "\"\"", "\"all\"", "\"NOINDEX\"", "\"none\"", "7", "[]"]),
    ) {
        let mut members = format!("\"ai_indexable\":{value}");
        for (name, value) in [("auth_required", auth), ("robots_directive", robots)] {
            if !value.is_empty() {
                members = format!("{members},\"{name}\":{value}");
            }
        }
        let page = format!("{{\"url\":\"https://harbour.example/a\",{members}}}");
        let got = json(&document(&page));
        let is_open = matches!(auth, "" | "false" | "null") && matches!(robots, "" | "\"\"" | "\"all\"");
        let is_given = got.entries.iter().any(|entry| entry.consent() == Consent::Given);
        prop_assert_eq!(is_given, value == "true" && is_open, "{}", members);
    }
}
