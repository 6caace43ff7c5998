//! Collections that are wrong in every way we know: each case is a file, and
//! none of them changes the replica.
//!
//! A case begins with lines of words: `expect integrity` or `expect applied`,
//! `says TEXT`, `media TYPE`, `gzip`, `gzip-header`, `cut N`, `append TEXT`.
//! Behind a line `---` stands the body; `@` is a page, `@x` one with other
//! words.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use rutter_sync::Kind;
use rutter_testkit::server::Reply;

use crate::bay::{Bay, advert, page};

#[tokio::test] // SCP-192 SCP-208 SCP-212 SCP-165
async fn spec_a_collection_that_is_wrong_leaves_the_replica_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/faults");
    let mut n_cases = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        run(&name, &fs::read_to_string(&path).unwrap()).await;
        n_cases += 1;
    }
    assert!(18 <= n_cases, "{n_cases}");
}

async fn run(name: &str, text: &str) {
    let (head, body) = text.split_once("---\n").unwrap_or_else(|| panic!("{name}: no body"));
    let body =
        body.trim_end_matches('\n').replace("@x", &page("/a", "xx")).replace('@', &page("/a", "a"));
    let mut bytes = body.into_bytes();
    let mut reply_headers = Vec::new();
    let (mut expect, mut says, mut media) = ("", "", "application/scp");
    let mut n_pages = 1;
    for line in head.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "expect" => expect = rest,
            "says" => says = rest,
            "media" => media = rest,
            "pages" => n_pages = rest.parse().unwrap(),
            "gzip" => bytes = gzip(&bytes),
            "gzip-header" => reply_headers.push(("Content-Encoding", "gzip")),
            "cut" => bytes.truncate(bytes.len() - rest.parse::<usize>().unwrap()),
            "append" => bytes.extend(rest.as_bytes()),
            ";" | "" => {}
            other => panic!("{name}: {other}?"),
        }
    }
    let bay = Bay::new();
    let first = bay.snapshot(1, &[("/a", "a"), ("/b", "b")]);
    bay.sitemap(&[first], &[]);
    bay.visit().await;
    let before = bay.seen();
    let second = advert("/all-2.scp", 2, None, n_pages, bytes.len());
    let mut reply = Reply::file(media, "\"2\"", bytes);
    for (field, value) in reply_headers {
        reply = reply.with(field, value);
    }
    bay.server.route("/all-2.scp", [reply]);
    bay.sitemap(&[second], &[]);
    let report = bay.visit().await;
    let troubles = format!("{:?}", report.troubles);
    match expect {
        "applied" => {
            assert_eq!(report.worst(), None, "{name}: {troubles}");
            assert_ne!(bay.seen(), before, "{name}");
        }
        "integrity" => {
            assert_eq!(report.worst(), Some(Kind::Integrity), "{name}: {troubles}");
            assert_eq!(bay.seen(), before, "{name}");
            assert!(troubles.contains(says), "{name}: {troubles}");
            // And it is in the ledger.
            let publisher = rutter_store::Store::publishers(bay.store.as_ref()).unwrap()[0].id;
            let taken = rutter_store::Store::taken(bay.store.as_ref(), publisher, 1).unwrap();
            assert_ne!(taken[0].outcome, "applied", "{name}");
        }
        other => panic!("{name}: {other}?"),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
