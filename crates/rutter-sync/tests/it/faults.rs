//! Invalid collections: each case is a file, and none of them changes the replica.
//!
//! A case begins with directives: `expect integrity` or `expect applied`, `says TEXT`,
//! `finding CODE`, `has PATH`, `lacks PATH`, `media TYPE`, `gzip`, `gzip-members` (one for
//! each line), `gzip-header`, `crlf`, `utf16`, `hex BYTES`, `cut N`, `append TEXT`. After a
//! line `---` follows the body; `@` is a page, `@x` one with different text, `{fill N}` N
//! letters, `{blocks N}` N blocks.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rutter_sync::ProblemKind;
use rutter_testkit::server::Reply;

use crate::test_site::{TestSite, advert, page, snapshot};

#[tokio::test] // SCP-192 SCP-208 SCP-212
async fn invalid_collection_leaves_the_replica_unchanged() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/faults");
    let mut n_cases = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        run(&name, &fs::read_to_string(&path).unwrap()).await;
        n_cases += 1;
    }
    assert!(40 <= n_cases, "{n_cases}");
}

#[tokio::test] // SCP-165
async fn reports_an_etag_that_holds_another_checksum_than_line_1() {
    let body = snapshot(1, &[("/a", "a"), ("/b", "b")]);
    let (_, rest) = body.split_once("\"checksum\":\"").unwrap();
    let own = rest.split('"').next().unwrap();
    let other = format!("sha256:{}", "0".repeat(64));
    for (tag, is_reported) in [
        (format!("\"{own}\""), false),
        (format!("W/\"{own}\""), false),
        (format!("\"{own}-gzip\""), false),
        ("\"5f3a-1c\"".to_owned(), false),
        (format!("\"{other}\""), true),
        (format!("W/\"{other}-gzip\""), true),
    ] {
        let site = TestSite::new();
        let reply = Reply::file("application/scp", &tag, body.clone().into_bytes());
        site.server.route("/all-1.scp", [reply]);
        site.sitemap(&[advert("/all-1.scp", 1, None, 2, body.len())], &[]);
        let report = site.sync().await;
        // The collection is applied in both cases: line 1 decides.
        assert_eq!(site.paths(), ["/a", "/b"], "{tag}");
        let codes: Vec<&str> = report.findings.iter().map(|(_, it)| it.rule.code).collect();
        assert_eq!(codes.contains(&"SC064"), is_reported, "{tag}: {codes:?}");
    }
}

async fn run(name: &str, text: &str) {
    let (head, body) = text.split_once("---\n").unwrap_or_else(|| panic!("{name}: no body"));
    let body = body.trim_end_matches('\n').replace("@x", &page("/a", "xx"));
    let body = grown(&body.replace('@', &page("/a", "a")));
    let mut bytes = body.into_bytes();
    let mut reply_headers = Vec::new();
    let (mut expect, mut says, mut media) = ("", "", "application/scp");
    let (mut finding, mut has, mut lacks) = ("", vec![], vec![]);
    let mut n_pages = 1;
    for line in head.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "expect" => expect = rest,
            "says" => says = rest,
            "media" => media = rest,
            "pages" => n_pages = rest.parse().unwrap(),
            "finding" => finding = rest,
            "has" => has.push(rest),
            "lacks" => lacks.push(rest),
            "gzip" => bytes = gzip(&bytes),
            "gzip-members" => {
                bytes = bytes.split_inclusive(|byte| *byte == b'\n').flat_map(gzip).collect();
            }
            "crlf" => bytes = String::from_utf8(bytes).unwrap().replace('\n', "\r\n").into(),
            "utf16" => {
                let text = String::from_utf8(bytes).unwrap();
                bytes = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            }
            "hex" => {
                let digit = |at| u8::from_str_radix(&rest[at..at + 2], 16).unwrap();
                bytes = (0..rest.len()).step_by(2).map(digit).collect();
            }
            "gzip-header" => reply_headers.push(("Content-Encoding", "gzip")),
            "cut" => bytes.truncate(bytes.len() - rest.parse::<usize>().unwrap()),
            "append" => bytes.extend(rest.as_bytes()),
            ";" | "" => {}
            other => panic!("{name}: {other}?"),
        }
    }
    let site = TestSite::new();
    let first = site.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    site.sitemap(&[first], &[]);
    site.sync().await;
    let before = site.stored_pages();
    let second = advert("/all-2.scp", 2, None, n_pages, bytes.len());
    let mut reply = Reply::file(media, "\"2\"", bytes);
    for (field, value) in reply_headers {
        reply = reply.with(field, value);
    }
    site.server.route("/all-2.scp", [reply]);
    site.sitemap(&[second], &[]);
    let report = site.sync().await;
    let problems = format!("{:?}", report.problems);
    match expect {
        "applied" => {
            assert_eq!(report.worst(), None, "{name}: {problems}");
            assert_ne!(site.stored_pages(), before, "{name}");
            let codes: Vec<&str> = report.findings.iter().map(|(_, it)| it.rule.code).collect();
            assert!(finding.is_empty() || codes.contains(&finding), "{name}: {codes:?}");
            let paths = site.paths();
            assert!(
                has.iter().all(|path| paths.contains(&(*path).to_owned())),
                "{name}: {paths:?}"
            );
            let is_there = lacks.iter().any(|path| paths.contains(&(*path).to_owned()));
            assert!(!is_there, "{name}: {paths:?}");
        }
        "integrity" => {
            assert_eq!(report.worst(), Some(ProblemKind::Integrity), "{name}: {problems}");
            assert_eq!(site.stored_pages(), before, "{name}");
            assert!(problems.contains(says), "{name}: {problems}");
            // The failure is in the ledger of the replica.
            let publisher =
                rutter_store::SiteQueries::publishers(site.store.as_ref()).unwrap()[0].id;
            let taken =
                rutter_store::SiteQueries::downloads(site.store.as_ref(), publisher, 1).unwrap();
            assert_ne!(taken[0].outcome, "applied", "{name}");
        }
        other => panic!("{name}: {other}?"),
    }
}

/// Expands placeholders for content that is too long for a case file.
fn grown(text: &str) -> String {
    let mut grown = String::new();
    let mut rest = text;
    while let Some(at) = ["{fill ", "{blocks "].iter().filter_map(|it| rest.find(it)).min() {
        let (before, from) = rest.split_at(at);
        let (order, behind) = from[1..].split_once('}').unwrap();
        let (word, n) = order.split_once(' ').unwrap();
        let n: usize = n.parse().unwrap();
        grown.push_str(before);
        match word {
            "fill" => grown.push_str(&"a".repeat(n)),
            _ => grown.push_str(&vec![r#"{"type":"text","text":"x"}"#; n].join(",")),
        }
        rest = behind;
    }
    grown + rest
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
