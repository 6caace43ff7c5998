//! Tests of reading and checking sitemaps.
//!
//! Every `fixtures/sitemap/*` with an `.expect` file is a case: items and
//! findings in file order.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufReader, Read, Write as _};

use rutter_finding::{Finding, Refusal};
use rutter_sitemap::{
    EntryChecker, MAX_BYTES, SitemapError, SitemapItem, SitemapKind, SitemapLimits, SitemapReader,
    check, is_sitemap,
};

use crate::{codes, fixtures};

const ROOT: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";

/// Returns all items and findings of a sitemap as text.
fn log(input: &[u8]) -> String {
    let mut log = String::new();
    let mut reader = SitemapReader::new(input, SitemapLimits::USUAL);
    let mut check = EntryChecker::default();
    let append_findings = |log: &mut String, findings: &mut Vec<Finding>| {
        for code in codes(findings) {
            writeln!(log, "finding {code}").unwrap();
        }
        findings.clear();
    };
    let mut findings = Vec::new();
    loop {
        let next = reader.next(&mut findings);
        append_findings(&mut log, &mut findings);
        let item = match next {
            Ok(Some(item)) => item,
            Ok(None) => break,
            Err(SitemapError::Refused(Refusal { rule, place, .. })) => {
                writeln!(log, "refused {} {}", place.line.unwrap_or(0), rule.code).unwrap();
                return log;
            }
            Err(error) => panic!("{error}"),
        };
        let line = reader.line();
        match &item {
            SitemapItem::Url(entry) => {
                assert_eq!(entry.line, line);
                write!(log, "url {line} {}", entry.loc).unwrap();
                if let Some(lastmod) = entry.lastmod {
                    let day = if entry.is_day { "(day)" } else { "" };
                    write!(log, " {lastmod}{day}").unwrap();
                }
                if let Some(freq) = entry.changefreq {
                    write!(log, " {}", freq.name()).unwrap();
                }
                if let Some(priority) = entry.priority {
                    write!(log, " {priority}").unwrap();
                }
                log.push('\n');
                for link in &entry.alternates {
                    write!(log, "  link {} {}", link.hreflang, link.href).unwrap();
                    let kind = link.media_type.as_deref().unwrap_or_default();
                    writeln!(log, " {kind}").unwrap();
                }
                for extension in &entry.extensions {
                    writeln!(log, "  extension {extension}").unwrap();
                }
            }
            SitemapItem::Child(child) => {
                let lastmod = child.lastmod.map_or(String::new(), |time| format!(" {time}"));
                writeln!(log, "child {line} {}{lastmod}", child.loc).unwrap();
            }
            SitemapItem::Foreign(foreign) => {
                let pairs = foreign.attributes.iter().map(|(key, value)| format!("{key}={value}"));
                let pairs = pairs.collect::<Vec<_>>().join(" ");
                let (namespace, name) = (&foreign.namespace, &foreign.name);
                writeln!(log, "foreign {line} {namespace} {name} [{pairs}] {}", foreign.text)
                    .unwrap();
            }
        }
        check.check_item(&item, line, &mut findings);
        append_findings(&mut log, &mut findings);
    }
    check.finish(&mut findings);
    append_findings(&mut log, &mut findings);
    log
}

fn trimmed(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

#[test] // SCP-110 SPX-039 SPX-040 SPX-047 SPX-058 D14 D15 D18 D88 D91
fn reads_all_fixtures_as_expected() {
    let mut n_cases = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending == "expect") {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let expected = fs::read_to_string(path.with_extension("expect")).unwrap();
        assert_eq!(trimmed(&log(&bytes)), trimmed(&expected), "{}", path.display());
        // Compressed, it is the same sitemap.
        assert_eq!(log(&gzip(&bytes)), log(&bytes), "{}", path.display());
        n_cases += 1;
    }
    assert!(18 <= n_cases);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

#[test] // SPX-039
fn reads_utf_16_with_and_without_byte_order_mark() {
    let text = format!("{ROOT}<url><loc>https://harbour.example/ü</loc></url></urlset>");
    let wanted = "finding 1 SM010\nfinding 1 SM013\nurl 1 https://harbour.example/ü\n";
    for text in [text.clone(), format!("\u{feff}{text}")] {
        assert_eq!(log(&utf16(&text, u16::to_le_bytes)), wanted);
        assert_eq!(log(&utf16(&text, u16::to_be_bytes)), wanted);
        assert!(is_sitemap(&utf16(&text, u16::to_be_bytes)));
    }
    let lying = format!("<?xml version=\"1.0\" encoding=\"UTF-16\"?>{ROOT}</urlset>");
    assert_eq!(log(lying.as_bytes()), "finding 1 SM010\nfinding 0 SM020\n");
}

#[test]
fn reads_the_same_for_every_window_boundary() {
    let path = fixtures().join("all-fields.xml");
    let text = fs::read_to_string(path).unwrap();
    let wanted = log(text.as_bytes());
    let mut slow =
        SitemapReader::new(BufReader::with_capacity(1, text.as_bytes()), SitemapLimits::USUAL);
    let mut n_items = 0;
    while slow.next(&mut ()).unwrap().is_some() {
        n_items += 1;
    }
    assert_eq!(n_items, 4);
    // The first window ends at every position once.
    let body = text.split_once("<s:version>").unwrap().1;
    for shift in (64_600..65_600).step_by(3) {
        let padded = text
            .replace(body, &format!("0.1</s:version><!--{}-->{}", ">".repeat(shift), &body[15..]));
        assert_eq!(log(padded.as_bytes()), wanted, "{shift}");
    }
}

fn many(n: usize) -> String {
    let mut text = ROOT.to_owned();
    for n in 0..n {
        writeln!(text, "<url><loc>https://h.example/{n}</loc></url>").unwrap();
    }
    text + "</urlset>"
}

fn check_all(input: impl Read) -> (Vec<String>, Option<&'static str>) {
    let mut findings = Vec::new();
    let result = check(BufReader::new(input), &mut findings);
    let refused = match result {
        Err(SitemapError::Refused(refusal)) => Some(refusal.rule.code),
        result => {
            result.unwrap();
            None
        }
    };
    (codes(&findings), refused)
}

#[test] // D17
fn reads_at_most_50_000_entries() {
    assert_eq!(check_all(many(50_000).as_bytes()), (vec![], None));
    let text = many(50_001);
    let mut reader = SitemapReader::new(text.as_bytes(), SitemapLimits::USUAL);
    let mut findings = Vec::new();
    let mut n_urls = 0;
    while reader.next(&mut findings).unwrap().is_some() {
        n_urls += 1;
    }
    assert_eq!((n_urls, reader.is_truncated()), (50_000, true));
    assert_eq!(codes(&findings), ["50001 SM007"]);
    assert_eq!(reader.kind(), Some(SitemapKind::Urlset));
    let list = "https://h.example/\n".repeat(50_001);
    assert_eq!(check_all(list.as_bytes()).0.last().unwrap(), "50001 SM007");
}

#[test] // D17
fn reads_at_most_50_mib() {
    let comment = format!("<!--{}-->\n", "x".repeat(1 << 16));
    let start = format!("{ROOT}<url><loc>https://h.example/</loc></url>");
    let end = "</urlset>";
    let size = usize::try_from(MAX_BYTES).unwrap();
    let n = (size - start.len() - end.len()) / comment.len();
    let mut text = start + &comment.repeat(n);
    text.push_str(&" ".repeat(size - text.len() - end.len()));
    text.push_str(end);
    assert_eq!(check_all(text.as_bytes()), (vec![], None));
    let line = n + 1;
    assert_eq!(check_all(format!("{text} ").as_bytes()), (vec![format!("{line} SM008")], None));
}

/// Endless input; a reader that stores all of it runs out of memory.
struct Endless(&'static [u8], usize);

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        for byte in out.iter_mut() {
            *byte = self.0[self.1 % self.0.len()];
            self.1 += 1;
        }
        Ok(out.len())
    }
}

#[test] // D15 D89
fn stops_early_in_hostile_files() {
    let root = || ROOT.as_bytes();
    // A document type is rejected before its end is read.
    let laughs = b"<!DOCTYPE urlset [".chain(Endless(b"<!ENTITY a 'b'>", 0));
    assert_eq!(check_all(laughs).1, Some("SM002"));
    assert_eq!(check_all(root().chain(Endless(b"<a>", 0))).1, Some("SM004"));
    let tag = root().chain(&b"<url x='"[..]).chain(Endless(b"x>", 0));
    assert_eq!(check_all(tag).1, Some("SM005"));
    let attributes = b"<urlset ".chain(Endless(b"xmlns:a='b' ", 0));
    assert_eq!(check_all(attributes).1, Some("SM005"));
    let bomb_of_tags = root().chain(&b"<url><x"[..]).chain(Endless(b" ", 0));
    assert_eq!(check_all(bomb_of_tags).1, Some("SM005"));
    // Parts of an entry are dropped; reading stops at the byte limit.
    let link = b"<l:link xmlns:l='http://www.w3.org/1999/xhtml' rel='alternate' href='https://h.example/'/>";
    for (start, endless) in [
        (&b"<!--"[..], &b"x>"[..]),
        (b"<url><loc>", b"a&amp;>"),
        (b"<url>", link),
        (b"<url><x xmlns='urn:x'>", b"<y/>"),
        (b"<url><x xmlns='urn:x'>", b"x"),
    ] {
        let input = BufReader::new(root().chain(start).chain(Endless(endless, 0)));
        let mut reader =
            SitemapReader::new(input, SitemapLimits { bytes: 3 << 20, ..SitemapLimits::USUAL });
        let mut findings = Vec::new();
        while reader.next(&mut findings).unwrap().is_some() {}
        assert!(reader.is_truncated());
        assert!(codes(&findings).last().unwrap().ends_with("SM008"), "{findings:?}");
    }
    let list = BufReader::new(b"https://h.example/".chain(Endless(b"x", 0)));
    let mut reader =
        SitemapReader::new(list, SitemapLimits { bytes: 3 << 20, ..SitemapLimits::USUAL });
    let mut findings = Vec::new();
    assert_eq!(reader.next(&mut findings).unwrap(), None);
    assert_eq!(codes(&findings), ["1 SM014", "1 SM008"]);
    let bomb = gzip(&[ROOT.as_bytes(), &b" ".repeat(1 << 26)].concat());
    assert_eq!(
        check_all(bomb.as_slice()),
        (vec!["1 SM008".to_owned(), "0 SM020".to_owned()], None)
    );
}

#[test]
fn reads_damaged_gzip_up_to_the_damage() {
    let whole = gzip(many(20_000).as_bytes());
    let cut = &whole[..whole.len() / 2];
    let mut reader = SitemapReader::new(cut, SitemapLimits::USUAL);
    let mut findings = Vec::new();
    let mut n_urls = 0;
    while reader.next(&mut findings).unwrap().is_some() {
        n_urls += 1;
    }
    assert!(5_000 < n_urls && reader.is_truncated());
    assert!(codes(&findings).iter().any(|code| code.ends_with("SM031")), "{findings:?}");
}

#[test]
fn distinguishes_sitemaps_from_other_files() {
    for (text, wanted) in [
        ("<urlset/>", true),
        ("\u{feff}<?xml version='1.0'?>\n<!-- <html> --><a:sitemapindex xmlns:a='x'>", true),
        ("<!DOCTYPE urlset [", true),
        ("<html>", false),
        ("<!doctype html>", false),
        ("{\"collection\":{}}", false),
        ("", false),
        ("<?xml", false),
    ] {
        assert_eq!(is_sitemap(text.as_bytes()), wanted, "{text}");
        assert_eq!(is_sitemap(&gzip(text.as_bytes())), wanted, "{text}");
    }
}

#[test]
fn fast_path_and_event_loop_agree() {
    let text = fs::read_to_string(fixtures().join("all-fields.xml")).unwrap();
    // Prefixed elements always use the event loop.
    let mut long = text.replace("xmlns=\"", "xmlns:sm=\"");
    for name in ["urlset", "url", "loc", "lastmod", "changefreq", "priority"] {
        for end in [">", " ", "\n"] {
            long = long.replace(&format!("<{name}{end}"), &format!("<sm:{name}{end}"));
        }
        long = long.replace(&format!("</{name}>"), &format!("</sm:{name}>"));
    }
    assert!(long.contains("<sm:loc>") && long.contains("</sm:urlset>"));
    assert_eq!(log(long.as_bytes()), log(text.as_bytes()));
    for (from, to) in [
        ("rel=\"alternate\"", "rel=\"canonical\""),
        ("<priority>0.8", "<priority>0.8 "),
        ("hreflang=\"de\"", "hreflang=\"de\" title=\"t\""),
        ("hreflang=\"de\"", "hreflang=\"d&#101;\""),
        ("<changefreq>", "<changefreq >"),
    ] {
        let (short, long) = (text.replace(from, to), long.replace(from, to));
        assert_eq!(log(short.as_bytes()), log(long.as_bytes()), "{to}");
    }
}
