//! Writing sitemaps, and reading back what was written.

use proptest::prelude::*;
use rutter_page::Timestamp;
use rutter_signpost::sitemap::{
    AlternateLink, ChangeFreq, Child, Entry, Foreign, Item, Limits, MOST_BYTES, Push, Reader,
    UrlsetWriter, write_index,
};

const SCP: &str = "https://scp-protocol.org/schemas/sitemap/1.0";

fn advert() -> Foreign {
    Foreign {
        namespace: SCP.into(),
        name: "section".into(),
        attributes: vec![("name".into(), "a \"b\" & <c>\n".into())],
        text: String::new(),
    }
}

fn written(foreign: &[Foreign], entries: &[Entry]) -> String {
    let mut writer = UrlsetWriter::new(Vec::new(), foreign).unwrap();
    for entry in entries {
        assert_eq!(writer.push(entry).unwrap(), Push::Taken);
    }
    assert_eq!(writer.len(), entries.len() as u64);
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn read(text: &str) -> Vec<Item> {
    let mut findings = Vec::new();
    let mut reader = Reader::new(text.as_bytes(), Limits::USUAL);
    let mut items = Vec::new();
    while let Some(mut item) = reader.next(&mut findings).unwrap() {
        if let Item::Url(entry) = &mut item {
            entry.line = 0;
        }
        items.push(item);
    }
    assert_eq!(findings, []);
    assert!(!reader.is_truncated());
    items
}

#[test] // SCP-106 SPX-042 SPX-043 D14
fn spec_the_order_of_the_schema() {
    let entry = Entry {
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
        ..Entry::default()
    };
    let version =
        Foreign { text: "0.1".into(), name: "version".into(), attributes: vec![], ..advert() };
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
fn ours_days_stay_days_and_bad_numbers_are_left_out() {
    let entry = Entry {
        loc: "https://harbour.example/".into(),
        lastmod: Timestamp::parse("2026-05-01T00:00:00Z").ok(),
        is_day: true,
        priority: Some(f32::NAN),
        ..Entry::default()
    };
    let text = written(&[], &[entry]);
    assert!(text.contains("<lastmod>2026-05-01</lastmod></url>"), "{text}");
    assert!(!text.contains("xmlns:scp"), "{text}");
}

#[test]
fn ours_characters_xml_cannot_hold_are_replaced() {
    let loc = "https://harbour.example/\u{0}\u{1b}\u{fffe}\u{ffff}é\u{feff}".to_owned();
    let text = written(&[], &[Entry { loc, ..Entry::default() }]);
    let wanted = "https://harbour.example/\u{fffd}\u{fffd}\u{fffd}\u{fffd}é\u{feff}</loc>";
    assert!(text.contains(wanted), "{text:?}");
}

#[test] // D17
fn spec_a_full_file_takes_nothing_more() {
    let mut writer = UrlsetWriter::new(std::io::sink(), &[]).unwrap();
    let entry = Entry { loc: "https://harbour.example/".into(), ..Entry::default() };
    while writer.push(&entry).unwrap() == Push::Taken {}
    assert_eq!(writer.len(), 50_000);

    let mut writer = UrlsetWriter::new(Vec::new(), &[]).unwrap();
    let entry = Entry { loc: "https://harbour.example/".repeat(100), ..Entry::default() };
    while writer.push(&entry).unwrap() == Push::Taken {}
    assert!(writer.len() < 50_000);
    // A shorter entry may still fit.
    let short = Entry { loc: "https://harbour.example/".into(), ..Entry::default() };
    while writer.push(&short).unwrap() == Push::Taken {}
    let bytes = writer.finish().unwrap().len() as u64;
    assert!(bytes <= MOST_BYTES && MOST_BYTES - 60 < bytes, "{bytes}");
}

#[test] // D17
fn spec_an_index_reads_as_it_was_written() {
    let children = [
        Child { loc: "https://harbour.example/1.xml?a&b".into(), lastmod: None },
        Child {
            loc: "https://harbour.example/2.xml".into(),
            lastmod: Timestamp::parse("2026-05-01T12:00:00.5Z").ok(),
        },
    ];
    let text = String::from_utf8(write_index(Vec::new(), &children).unwrap()).unwrap();
    let items: Vec<Item> = children.into_iter().map(Item::Child).collect();
    assert_eq!(read(&text), items);
}

#[test]
fn ours_extensions_survive_rewriting() {
    let source = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:n='urn:news' \
         xmlns:x='urn:x'><url><loc>https://h.example/</loc><n:news x:a='&lt;'><b c='d'/>\
         <n:t xmlns:n='urn:other'>t &amp; u<![CDATA[<]]></n:t></n:news></url></urlset>";
    let first = read(source);
    let Some(Item::Url(entry)) = first.first() else { panic!("no entry") };
    let again = read(&written(&[], std::slice::from_ref(entry)));
    assert_eq!(again, first);
    let extension = &entry.extensions[0];
    assert!(extension.starts_with("<n:news xmlns:n=\"urn:news\" xmlns:x=\"urn:x\""), "{extension}");
}

fn text() -> impl Strategy<Value = String> {
    // Reading trims; what XML cannot hold does not come back.
    "[ -~éж\u{1f6a2}\t\n]{0,20}".prop_map(|text| text.trim().to_owned())
}

fn entry() -> impl Strategy<Value = Entry> {
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
            Entry {
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
    fn ours_what_is_written_reads_the_same(
        entries in proptest::collection::vec(entry(), 0..8),
        values in proptest::collection::vec(("[a-z]{1,8}", text()), 0..4),
        words in text(),
    ) {
        let mut attributes = values;
        attributes.sort();
        attributes.dedup_by(|a, b| a.0 == b.0);
        attributes.retain(|(key, _)| !key.starts_with("xml"));
        let foreign = [
            Foreign { attributes: attributes.clone(), text: words.clone(), ..advert() },
            Foreign { namespace: "urn:other".into(), name: "o".into(), attributes, text: words },
        ];
        let mut wanted: Vec<Item> = foreign.iter().cloned().map(Item::Foreign).collect();
        wanted.extend(entries.iter().cloned().map(Item::Url));
        prop_assert_eq!(read(&written(&foreign, &entries)), wanted);
    }
}

/// Names of elements with the names of those around them.
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
fn adverts_are_children_of_the_root_and_are_read_nowhere_else() {
    let named = |name: &str, text: &str| Foreign {
        name: name.into(),
        text: text.into(),
        attributes: vec![("section".into(), "all".into())],
        ..advert()
    };
    let adverts = ["version", "compression", "section", "collection", "delta"];
    let adverts = adverts.map(|name| named(name, if name == "version" { "0.1" } else { "" }));
    let entries: Vec<Entry> = ["a", "b"]
        .map(|path| Entry { loc: format!("https://harbour.example/{path}"), ..Entry::default() })
        .into();
    let text = written(&adverts, &entries);
    let paths = paths(&text);
    let foreign: Vec<&String> = paths.iter().filter(|path| path.contains("scp:")).collect();
    let wanted = adverts.clone().map(|advert| format!("urlset > scp:{}", advert.name));
    assert_eq!(foreign, wanted.iter().collect::<Vec<_>>());
    // Inside of an entry they announce nothing.
    let inner = text.replace("</loc>", "</loc><scp:collection section=\"evil\"/>");
    let items = read(&inner);
    let found = items.iter().filter(|item| matches!(item, Item::Foreign(_))).count();
    assert_eq!((found, items.len()), (adverts.len(), adverts.len() + entries.len()));
}
