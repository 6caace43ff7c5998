//! Reading and judging sitemaps.
//!
//! Every `fixtures/sitemap/*` with an `.expect` beside it is a case: items and
//! findings in the order in which they come.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufReader, Read, Write as _};

use rutter_finding::{Finding, Refusal};
use rutter_signpost::sitemap::{
    Item, Judge, Kind, Limits, MOST_BYTES, Reader, SitemapError, is_sitemap, judge,
};

use crate::{codes, fixtures};

const ROOT: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";

/// Everything a sitemap gives, as text.
fn log(input: &[u8]) -> String {
    let mut log = String::new();
    let mut reader = Reader::new(input, Limits::USUAL);
    let mut judge = Judge::default();
    let tell = |log: &mut String, findings: &mut Vec<Finding>| {
        for code in codes(findings) {
            writeln!(log, "finding {code}").unwrap();
        }
        findings.clear();
    };
    let mut findings = Vec::new();
    loop {
        let next = reader.next(&mut findings);
        tell(&mut log, &mut findings);
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
            Item::Url(entry) => {
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
            Item::Child(child) => {
                let lastmod = child.lastmod.map_or(String::new(), |time| format!(" {time}"));
                writeln!(log, "child {line} {}{lastmod}", child.loc).unwrap();
            }
            Item::Foreign(foreign) => {
                let pairs = foreign.attributes.iter().map(|(key, value)| format!("{key}={value}"));
                let pairs = pairs.collect::<Vec<_>>().join(" ");
                let (namespace, name) = (&foreign.namespace, &foreign.name);
                writeln!(log, "foreign {line} {namespace} {name} [{pairs}] {}", foreign.text)
                    .unwrap();
            }
        }
        judge.see(&item, line, &mut findings);
        tell(&mut log, &mut findings);
    }
    judge.finish(&mut findings);
    tell(&mut log, &mut findings);
    log
}

fn trimmed(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

#[test] // SCP-110 SPX-039 SPX-040 SPX-047 SPX-058 D14 D15 D18 D88 D91
fn spec_fixtures_give_what_they_should() {
    let mut n_cases = 0;
    for entry in fs::read_dir(fixtures().join("sitemap")).unwrap() {
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
fn ours_utf_16_is_read_with_and_without_mark() {
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
fn ours_the_cut_between_windows_changes_nothing() {
    let path = fixtures().join("sitemap/all-fields.xml");
    let text = fs::read_to_string(path).unwrap();
    let wanted = log(text.as_bytes());
    let mut slow = Reader::new(BufReader::with_capacity(1, text.as_bytes()), Limits::USUAL);
    let mut n_items = 0;
    while slow.next(&mut ()).unwrap().is_some() {
        n_items += 1;
    }
    assert_eq!(n_items, 4);
    // The first window ends everywhere once; line numbers move along.
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

fn judged(input: impl Read) -> (Vec<String>, Option<&'static str>) {
    let mut findings = Vec::new();
    let result = judge(BufReader::new(input), &mut findings);
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
fn spec_50_000_entries_are_read_and_no_more() {
    assert_eq!(judged(many(50_000).as_bytes()), (vec![], None));
    let text = many(50_001);
    let mut reader = Reader::new(text.as_bytes(), Limits::USUAL);
    let mut findings = Vec::new();
    let mut n_urls = 0;
    while reader.next(&mut findings).unwrap().is_some() {
        n_urls += 1;
    }
    assert_eq!((n_urls, reader.is_truncated()), (50_000, true));
    assert_eq!(codes(&findings), ["50001 SM007"]);
    assert_eq!(reader.kind(), Some(Kind::Urlset));
    let list = "https://h.example/\n".repeat(50_001);
    assert_eq!(judged(list.as_bytes()).0.last().unwrap(), "50001 SM007");
}

#[test] // D17
fn spec_50_mib_are_read_and_no_more() {
    let comment = format!("<!--{}-->\n", "x".repeat(1 << 16));
    let start = format!("{ROOT}<url><loc>https://h.example/</loc></url>");
    let end = "</urlset>";
    let size = usize::try_from(MOST_BYTES).unwrap();
    let n = (size - start.len() - end.len()) / comment.len();
    let mut text = start + &comment.repeat(n);
    text.push_str(&" ".repeat(size - text.len() - end.len()));
    text.push_str(end);
    assert_eq!(judged(text.as_bytes()), (vec![], None));
    let line = n + 1;
    assert_eq!(judged(format!("{text} ").as_bytes()), (vec![format!("{line} SM008")], None));
}

/// Endless bytes; whoever keeps them all runs out of memory.
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
fn ours_hostile_files_end_soon() {
    let root = || ROOT.as_bytes();
    // A document type is refused before its end is seen.
    let laughs = b"<!DOCTYPE urlset [".chain(Endless(b"<!ENTITY a 'b'>", 0));
    assert_eq!(judged(laughs).1, Some("SM002"));
    assert_eq!(judged(root().chain(Endless(b"<a>", 0))).1, Some("SM004"));
    let tag = root().chain(&b"<url x='"[..]).chain(Endless(b"x>", 0));
    assert_eq!(judged(tag).1, Some("SM005"));
    let attributes = b"<urlset ".chain(Endless(b"xmlns:a='b' ", 0));
    assert_eq!(judged(attributes).1, Some("SM005"));
    let bomb_of_tags = root().chain(&b"<url><x"[..]).chain(Endless(b" ", 0));
    assert_eq!(judged(bomb_of_tags).1, Some("SM005"));
    // Parts of an entry are left out; reading ends with the bytes that are read.
    let link = b"<l:link xmlns:l='http://www.w3.org/1999/xhtml' rel='alternate' href='https://h.example/'/>";
    for (start, endless) in [
        (&b"<!--"[..], &b"x>"[..]),
        (b"<url><loc>", b"a&amp;>"),
        (b"<url>", link),
        (b"<url><x xmlns='urn:x'>", b"<y/>"),
        (b"<url><x xmlns='urn:x'>", b"x"),
    ] {
        let input = BufReader::new(root().chain(start).chain(Endless(endless, 0)));
        let mut reader = Reader::new(input, Limits { bytes: 3 << 20, ..Limits::USUAL });
        let mut findings = Vec::new();
        while reader.next(&mut findings).unwrap().is_some() {}
        assert!(reader.is_truncated());
        assert!(codes(&findings).last().unwrap().ends_with("SM008"), "{findings:?}");
    }
    let list = BufReader::new(b"https://h.example/".chain(Endless(b"x", 0)));
    let mut reader = Reader::new(list, Limits { bytes: 3 << 20, ..Limits::USUAL });
    let mut findings = Vec::new();
    assert_eq!(reader.next(&mut findings).unwrap(), None);
    assert_eq!(codes(&findings), ["1 SM014", "1 SM008"]);
    let bomb = gzip(&[ROOT.as_bytes(), &b" ".repeat(1 << 26)].concat());
    assert_eq!(judged(bomb.as_slice()), (vec!["1 SM008".to_owned(), "0 SM020".to_owned()], None));
}

#[test]
fn ours_damaged_gzip_gives_what_could_be_read() {
    let whole = gzip(many(20_000).as_bytes());
    let cut = &whole[..whole.len() / 2];
    let mut reader = Reader::new(cut, Limits::USUAL);
    let mut findings = Vec::new();
    let mut n_urls = 0;
    while reader.next(&mut findings).unwrap().is_some() {
        n_urls += 1;
    }
    assert!(5_000 < n_urls && reader.is_truncated());
    assert!(codes(&findings).iter().any(|code| code.ends_with("SM031")), "{findings:?}");
}

#[test]
fn ours_sitemaps_are_told_from_other_files() {
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
fn ours_both_roads_read_the_same() {
    let text = fs::read_to_string(fixtures().join("sitemap/all-fields.xml")).unwrap();
    // With prefixes, everything is read by events.
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
