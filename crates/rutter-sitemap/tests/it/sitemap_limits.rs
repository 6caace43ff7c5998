//! Tests of the limits of the sitemap reader: a valid file is read completely,
//! an entry over a limit is reported, and the rest of the file is read.

use std::fmt::Write as _;

use rutter_finding::Finding;
use rutter_page::PageUrl;
use rutter_sitemap::{SitemapItem, SitemapLimits, SitemapReader, is_url_list};

use crate::codes;

const ROOT: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
    xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\" \
    xmlns:x=\"http://www.w3.org/1999/xhtml\" xmlns:s=\"urn:scp\">";
const FOREIGN: &str = "<s:collection url=\"https://h.example/all.scp\"/>";

fn images(n: usize) -> String {
    (0..n).fold(String::new(), |mut text, n| {
        let loc = format!("https://h.example/{n}.jpg");
        writeln!(text, "<i:image><i:loc>{loc}</i:loc></i:image>").unwrap();
        text
    })
}

fn links(n: usize) -> String {
    (0..n).fold(String::new(), |mut text, n| {
        let href = format!("https://h.example/{n}");
        writeln!(text, "<x:link rel=\"alternate\" hreflang=\"de\" href=\"{href}\"/>").unwrap();
        text
    })
}

/// All items and findings of a sitemap.
struct ReadSitemap {
    locs: Vec<String>,
    n_extensions: Vec<usize>,
    n_alternates: Vec<usize>,
    n_foreign: usize,
    findings: Vec<Finding>,
    is_truncated: bool,
}

fn read(text: &str) -> ReadSitemap {
    let mut reader = SitemapReader::new(text.as_bytes(), SitemapLimits::USUAL);
    let mut whole = ReadSitemap {
        locs: Vec::new(),
        n_extensions: Vec::new(),
        n_alternates: Vec::new(),
        n_foreign: 0,
        findings: Vec::new(),
        is_truncated: false,
    };
    while let Some(item) = reader.next(&mut whole.findings).unwrap() {
        match item {
            SitemapItem::Url(entry) => {
                whole.locs.push(entry.loc);
                whole.n_extensions.push(entry.extensions.len());
                whole.n_alternates.push(entry.alternates.len());
            }
            SitemapItem::Foreign(_) => whole.n_foreign += 1,
            SitemapItem::Child(_) => panic!("no index"),
        }
    }
    whole.is_truncated = reader.is_truncated();
    whole
}

#[test] // D89
fn reads_1000_images_and_1000_alternates_of_one_entry() {
    let text = format!(
        "{ROOT}{FOREIGN}<url><loc>https://h.example/a</loc>{}{}</url>\
         <url><loc>https://h.example/b</loc></url></urlset>",
        images(1000),
        links(1000)
    );
    let whole = read(&text);
    assert_eq!(codes(&whole.findings), [""; 0]);
    assert_eq!(whole.locs, ["https://h.example/a", "https://h.example/b"]);
    assert_eq!((whole.n_extensions, whole.n_alternates), (vec![1000, 0], vec![1000, 0]));
    assert_eq!(whole.n_foreign, 1);
}

/// Reads an entry between two others, with a foreign element on either side;
/// returns the findings about it.
fn between(entry: &str) -> (ReadSitemap, Vec<String>) {
    let text = format!(
        "{ROOT}{FOREIGN}<url><loc>https://h.example/first</loc></url>\n\
         {entry}\n<url><loc>https://h.example/last</loc></url>\n{FOREIGN}</urlset>"
    );
    let whole = read(&text);
    assert_eq!(whole.n_foreign, 2, "{entry:.80}");
    assert_eq!(whole.locs.first().unwrap(), "https://h.example/first", "{entry:.80}");
    assert_eq!(whole.locs.last().unwrap(), "https://h.example/last", "{entry:.80}");
    assert!(!whole.is_truncated);
    let mut found = codes(&whole.findings);
    // The second foreign element is after the entries.
    assert!(found.pop().unwrap().ends_with("SM019"));
    (whole, found)
}

#[test] // D89
fn reports_entry_over_limit_and_reads_the_rest() {
    let loc = "<loc>https://h.example/large</loc>";
    let large = "x".repeat(2 << 20);
    let split = "x>".repeat(1 << 20);
    let attributes = (0..300).fold(String::new(), |mut text, n| {
        write!(text, " a{n}=\"\"").unwrap();
        text
    });
    let deep = format!("{}{}", "<i:a>".repeat(100), "</i:a>".repeat(100));
    for (entry, is_kept) in [
        (format!("<url>{loc}{}</url>", images(20_000)), true),
        (format!("<url>{loc}{}</url>", links(20_000)), true),
        (format!("<url>{loc}<i:image>{large}</i:image></url>"), true),
        (format!("<url>{loc}<i:image>{split}</i:image></url>"), true),
        (format!("<url>{loc}<i:image><!--{large}--></i:image></url>"), true),
        (format!("<url>{loc}<i:image><![CDATA[{large}]]></i:image></url>"), true),
        (format!("<url>{loc}<i:image{attributes}/></url>"), true),
        (format!("<url>{loc}<i:image><i:x{attributes}/></i:image></url>"), true),
        (format!("<url>{loc}{deep}</url>"), true),
        (format!("<url>{loc}<lastmod>{large}</lastmod></url>"), true),
        (format!("<url>{loc}{large}</url>"), true),
        (format!("<url{attributes}>{loc}</url>"), false),
    ] {
        let (whole, found) = between(&entry);
        assert_eq!(found, ["2 SM032"], "{entry:.80}");
        assert_eq!(whole.locs.len(), if is_kept { 3 } else { 2 }, "{entry:.80}");
    }
    // Without a URL the entry is skipped.
    for text in [&large, &split] {
        let (whole, found) = between(&format!("<url><loc>https://h.example/{text}</loc></url>"));
        assert_eq!((found, whole.locs.len()), (vec!["2 SM032".into(), "2 SM012".into()], 2));
    }
}

#[test] // D89
fn reports_foreign_element_over_limit_and_reads_the_rest() {
    let large = "x".repeat(2 << 20);
    let attributes = (0..300).fold(String::new(), |mut text, n| {
        write!(text, " a{n}=\"\"").unwrap();
        text
    });
    for element in [format!("<s:other>{large}</s:other>"), format!("<s:other{attributes}/>")] {
        let (_, found) = between(&element);
        assert!(found.contains(&"2 SM032".to_owned()), "{found:?}");
    }
}

#[test] // D17 D89
fn reads_foreign_elements_after_the_last_counted_entry() {
    let mut text = format!("{ROOT}\n");
    for n in 0..50_002 {
        writeln!(text, "<url><loc>https://h.example/{n}</loc></url>").unwrap();
    }
    let whole = read(&format!("{text}{FOREIGN}</urlset>"));
    assert_eq!((whole.locs.len(), whole.n_foreign), (50_000, 1));
    assert_eq!(codes(&whole.findings), ["50002 SM007", "50004 SM019"]);
    assert!(whole.is_truncated);
}

#[test] // D89
fn skips_list_line_over_limit() {
    let large = "x".repeat(2 << 20);
    let whole =
        read(&format!("https://h.example/a\nhttps://h.example/{large}\nhttps://h.example/b\n"));
    assert_eq!(whole.locs, ["https://h.example/a", "https://h.example/b"]);
    assert_eq!(codes(&whole.findings), ["2 SM014"]);
}

#[test]
fn resolves_relative_urls_against_sitemap_url() {
    let entries: String =
        ["/a", "b", "//h.example/c", "h.example/d", "../e?x=1", "mailto:x", "#top"]
            .map(|loc| format!("<url><loc>{loc}</loc></url>"))
            .concat();
    let text = format!(
        "{ROOT}{entries}<url><loc>https://h.example/f</loc>\
         <x:link rel=\"alternate\" hreflang=\"de\" href=\"/de/f\"/></url></urlset>"
    );
    let base = PageUrl::parse("https://h.example/maps/sitemap.xml").unwrap();
    let mut reader = SitemapReader::new(text.as_bytes(), SitemapLimits::USUAL).with_base(base);
    let (mut findings, mut locs) = (Vec::new(), Vec::new());
    while let Some(item) = reader.next(&mut findings).unwrap() {
        let SitemapItem::Url(entry) = item else { panic!("{item:?}") };
        locs.extend(entry.alternates.into_iter().map(|link| link.href));
        locs.push(entry.loc);
    }
    let paths = ["a", "maps/b", "c", "d", "e?x=1", "de/f", "f"];
    assert_eq!(locs, paths.map(|path| format!("https://h.example/{path}")));
    let codes: Vec<&str> = findings.iter().map(|finding| finding.rule.code).collect();
    assert_eq!(codes, ["SM013", "SM013", "SM013", "SM013", "SM013", "SM013", "SM013", "SM026"]);
    assert_eq!(findings[1].detail, "`b` is read as `https://h.example/maps/b`");
    // Without a base URL such entries are only reported.
    let whole = read(&text);
    assert_eq!((whole.locs.len(), whole.findings.len()), (1, 8));
}

#[test]
fn distinguishes_url_lists_from_other_files() {
    for (text, wanted) in [
        ("https://h.example/\n", true),
        ("\u{feff}\n# pages\nHTTP://h.example/a", true),
        ("https://h.example/ is our site", false),
        ("https:", false),
        ("{\"collection\":{}}", false),
        ("User-agent: *", false),
        ("", false),
    ] {
        assert_eq!(is_url_list(text.as_bytes()), wanted, "{text}");
    }
    let utf16: Vec<u8> = "https://h.example/\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(is_url_list(&utf16));
}
