//! Tests of writing sitemaps and reading them back.

use proptest::prelude::*;
use rutter_page::Timestamp;
use rutter_sitemap::{
    AlternateLink, ChangeFreq, ChildSitemap, ForeignElement, MAX_BYTES, PushOutcome, SitemapEntry,
    SitemapItem, SitemapLimits, SitemapReader, UrlsetWriter, write_index,
};

const SCP: &str = "https://scp-protocol.org/schemas/sitemap/1.0";

fn advert() -> ForeignElement {
    ForeignElement {
        namespace: SCP.into(),
        name: "section".into(),
        attributes: vec![("name".into(), "a \"b\" & <c>\n".into())],
        text: String::new(),
    }
}

fn written(foreign: &[ForeignElement], entries: &[SitemapEntry]) -> String {
    let mut writer = UrlsetWriter::new(Vec::new(), foreign).unwrap();
    for entry in entries {
        assert_eq!(writer.push(entry).unwrap(), PushOutcome::Written);
    }
    assert_eq!(writer.len(), entries.len() as u64);
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn read(text: &str) -> Vec<SitemapItem> {
    let mut findings = Vec::new();
    let mut reader = SitemapReader::new(text.as_bytes(), SitemapLimits::USUAL);
    let mut items = Vec::new();
    while let Some(mut item) = reader.next(&mut findings).unwrap() {
        if let SitemapItem::Url(entry) = &mut item {
            entry.line = 0;
        }
        items.push(item);
    }
    assert_eq!(findings, []);
    assert!(!reader.is_truncated());
    items
}

#[test] // SCP-106 SPX-042 SPX-043 D14
fn writes_elements_in_schema_order() {
    let entry = SitemapEntry {
        loc: "https://harbour.example/?a&b".into(),
        lastmod: Timestamp::parse("2026-05-01T12:00:00Z").ok(),
        changefreq: Some(ChangeFreq::Weekly),
        priority: Some(0.5),
        alternates: vec![AlternateLink {
            hreflang: "x-spxi".into(),
            href: "https://harbour.example/spxi-index.jsonld".into(),
            media_type: Some("application/ld+json".into()),
        }],
        extensions: vec!["<x xmlns=\"urn:x\"/>".into()],
        ..SitemapEntry::default()
    };
    let version = ForeignElement {
        text: "0.1".into(),
        name: "version".into(),
        attributes: vec![],
        ..advert()
    };
    assert_eq!(
        written(&[version], &[entry]),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" \
         xmlns:scp=\"https://scp-protocol.org/schemas/sitemap/1.0\">\n\
         <scp:version>0.1</scp:version>\n\
         <url><loc>https://harbour.example/?a&amp;b</loc><lastmod>2026-05-01T12:00:00Z</lastmod>\
         <changefreq>weekly</changefreq><priority>0.5</priority>\
         <xhtml:link rel=\"alternate\" type=\"application/ld+json\" hreflang=\"x-spxi\" \
         href=\"https://harbour.example/spxi-index.jsonld\"/><x xmlns=\"urn:x\"/></url>\n\
         </urlset>\n"
    );
}

#[test] // D91
fn writes_days_as_days_and_omits_invalid_priorities() {
    let entry = SitemapEntry {
        loc: "https://harbour.example/".into(),
        lastmod: Timestamp::parse("2026-05-01T00:00:00Z").ok(),
        is_day: true,
        priority: Some(f32::NAN),
        ..SitemapEntry::default()
    };
    let text = written(&[], &[entry]);
    assert!(text.contains("<lastmod>2026-05-01</lastmod></url>"), "{text}");
    assert!(!text.contains("xmlns:scp"), "{text}");
}

#[test]
fn replaces_characters_that_xml_cannot_represent() {
    let loc = "https://harbour.example/\u{0}\u{1b}\u{fffe}\u{ffff}é\u{feff}".to_owned();
    let text = written(&[], &[SitemapEntry { loc, ..SitemapEntry::default() }]);
    let wanted = "https://harbour.example/\u{fffd}\u{fffd}\u{fffd}\u{fffd}é\u{feff}</loc>";
    assert!(text.contains(wanted), "{text:?}");
}

#[test] // D17
fn rejects_entries_when_file_is_full() {
    let mut writer = UrlsetWriter::new(std::io::sink(), &[]).unwrap();
    let entry = SitemapEntry { loc: "https://harbour.example/".into(), ..SitemapEntry::default() };
    while writer.push(&entry).unwrap() == PushOutcome::Written {}
    assert_eq!(writer.len(), 50_000);

    let mut writer = UrlsetWriter::new(Vec::new(), &[]).unwrap();
    let entry =
        SitemapEntry { loc: "https://harbour.example/".repeat(100), ..SitemapEntry::default() };
    while writer.push(&entry).unwrap() == PushOutcome::Written {}
    assert!(writer.len() < 50_000);
    // A shorter entry may still fit.
    let short = SitemapEntry { loc: "https://harbour.example/".into(), ..SitemapEntry::default() };
    while writer.push(&short).unwrap() == PushOutcome::Written {}
    let bytes = writer.finish().unwrap().len() as u64;
    assert!(bytes <= MAX_BYTES && MAX_BYTES - 60 < bytes, "{bytes}");
}

#[test] // D17
fn reads_back_written_index() {
    let children = [
        ChildSitemap { loc: "https://harbour.example/1.xml?a&b".into(), lastmod: None },
        ChildSitemap {
            loc: "https://harbour.example/2.xml".into(),
            lastmod: Timestamp::parse("2026-05-01T12:00:00.5Z").ok(),
        },
    ];
    let text = String::from_utf8(write_index(Vec::new(), &children).unwrap()).unwrap();
    let items: Vec<SitemapItem> = children.into_iter().map(SitemapItem::Child).collect();
    assert_eq!(read(&text), items);
}

#[test]
fn keeps_extensions_when_rewriting() {
    let source = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:n='urn:news' \
         xmlns:x='urn:x'><url><loc>https://h.example/</loc><n:news x:a='&lt;'><b c='d'/>\
         <n:t xmlns:n='urn:other'>t &amp; u<![CDATA[<]]></n:t></n:news></url></urlset>";
    let first = read(source);
    let Some(SitemapItem::Url(entry)) = first.first() else { panic!("no entry") };
    let again = read(&written(&[], std::slice::from_ref(entry)));
    assert_eq!(again, first);
    let extension = &entry.extensions[0];
    assert!(extension.starts_with("<n:news xmlns:n=\"urn:news\" xmlns:x=\"urn:x\""), "{extension}");
}

fn text() -> impl Strategy<Value = String> {
    // The reader trims text; characters that XML cannot represent are excluded.
    "[ -~éж\u{1f6a2}\t\n]{0,20}".prop_map(|text| text.trim().to_owned())
}

fn entry() -> impl Strategy<Value = SitemapEntry> {
    let link = ("[a-z-]{0,5}", "[!-;=?-Z_a-z~]{0,9}", proptest::option::of("[a-z/+]{1,9}"))
        .prop_map(|(hreflang, rest, media_type)| AlternateLink {
            hreflang,
            href: format!("https://h.example/{rest}"),
            media_type,
        });
    let freq = prop_oneof![
        Just(ChangeFreq::Always),
        Just(ChangeFreq::Hourly),
        Just(ChangeFreq::Never),
        Just(ChangeFreq::Yearly)
    ];
    (
        "[!#-;=?-Z_a-z~&]{0,30}",
        proptest::option::of((-62_167_219_200_i64..253_402_300_800, 0..1_000_000_000_i128)),
        any::<bool>(),
        proptest::option::of(freq),
        proptest::option::of(0.0_f32..=1.0),
        proptest::collection::vec(link, 0..3),
        text(),
    )
        .prop_map(|(rest, time, is_day, changefreq, priority, alternates, extension)| {
            let nanos = time.map(|(seconds, nanos)| i128::from(seconds) * 1_000_000_000 + nanos);
            let day = 86_400_000_000_000;
            let nanos = nanos.map(|nanos| if is_day { nanos.div_euclid(day) * day } else { nanos });
            let mut escaped = String::new();
            for c in extension.chars() {
                write_char(c, &mut escaped);
            }
            SitemapEntry {
                loc: format!("https://h.example/{rest}"),
                lastmod: nanos.and_then(Timestamp::from_nanos),
                is_day: is_day && nanos.is_some(),
                changefreq,
                priority,
                alternates,
                extensions: vec![format!("<x:y xmlns:x=\"urn:x\">{escaped}</x:y>")],
                line: 0,
            }
        })
}

fn write_char(c: char, out: &mut String) {
    match c {
        '<' => out.push_str("&lt;"),
        '&' => out.push_str("&amp;"),
        c => out.push(c),
    }
}

proptest! {
    #[test] // SCP-106 SPX-039
    fn reads_back_written_sitemap(
        entries in proptest::collection::vec(entry(), 0..8),
        values in proptest::collection::vec(("[a-z]{1,8}", text()), 0..4),
        words in text(),
    ) {
        let mut attributes = values;
        attributes.sort();
        attributes.dedup_by(|a, b| a.0 == b.0);
        attributes.retain(|(key, _)| !key.starts_with("xml"));
        let foreign = [
            ForeignElement { attributes: attributes.clone(), text: words.clone(), ..advert() },
            ForeignElement { namespace: "urn:other".into(), name: "o".into(), attributes, text: words },
        ];
        let mut wanted: Vec<SitemapItem> = foreign.iter().cloned().map(SitemapItem::Foreign).collect();
        wanted.extend(entries.iter().cloned().map(SitemapItem::Url));
        prop_assert_eq!(read(&written(&foreign, &entries)), wanted);
    }
}

/// Returns the paths of all elements.
fn paths(text: &str) -> Vec<String> {
    let (mut open, mut found): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for tag in text.split('<').skip(1).filter(|tag| !tag.starts_with('?')) {
        let (inner, _) = tag.split_once('>').unwrap();
        if inner.starts_with('/') {
            open.pop();
            continue;
        }
        let name = inner.split([' ', '/']).next().unwrap();
        found.push([open.concat(), name.to_owned()].concat());
        if !inner.ends_with('/') {
            open.push(format!("{name} > "));
        }
    }
    assert_eq!(open, [""; 0]);
    found
}

#[test] // SCP-111 D14
fn foreign_elements_are_read_only_below_the_root() {
    let named = |name: &str, text: &str| ForeignElement {
        name: name.into(),
        text: text.into(),
        attributes: vec![("section".into(), "all".into())],
        ..advert()
    };
    let adverts = ["version", "compression", "section", "collection", "delta"];
    let adverts = adverts.map(|name| named(name, if name == "version" { "0.1" } else { "" }));
    let entries: Vec<SitemapEntry> = ["a", "b"]
        .map(|path| SitemapEntry {
            loc: format!("https://harbour.example/{path}"),
            ..SitemapEntry::default()
        })
        .into();
    let text = written(&adverts, &entries);
    let paths = paths(&text);
    let foreign: Vec<&String> = paths.iter().filter(|path| path.contains("scp:")).collect();
    let wanted = adverts.clone().map(|advert| format!("urlset > scp:{}", advert.name));
    assert_eq!(foreign, wanted.iter().collect::<Vec<_>>());
    // Inside an entry they are not returned as foreign elements.
    let inner = text.replace("</loc>", "</loc><scp:collection section=\"evil\"/>");
    let items = read(&inner);
    let found = items.iter().filter(|item| matches!(item, SitemapItem::Foreign(_))).count();
    assert_eq!((found, items.len()), (adverts.len(), adverts.len() + entries.len()));
}
