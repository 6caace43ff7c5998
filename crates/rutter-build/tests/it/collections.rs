//! The bytes of collections.

use std::fs;
use std::path::{Path, PathBuf};

use rutter_scp::{Coding, CollectionWriter, Limits, OutputTarget, StateTracking};

use crate::site::{BASE, Site, page, read_collection, words};

/// Returns a text of this size without repeated sentences.
fn text(page: usize, n_bytes: usize) -> String {
    let mut text = String::new();
    for n in 0.. {
        if n_bytes <= text.len() {
            break;
        }
        text.push_str(&words(page * 10_000 + n));
    }
    text
}

/// Returns the published zstd file of a section.
fn published_file(site: &Site, kind: &str) -> PathBuf {
    let (_, offers) = site.sitemap();
    let offer = offers
        .iter()
        .filter(|offer| offer.kind.name() == kind && offer.url.ends_with(".zst"))
        .max_by_key(|offer| offer.generated)
        .unwrap();
    site.path("out").join(offer.url.strip_prefix(BASE).unwrap())
}

/// Returns the collection compressed at another level, and the size of its content.
fn recompressed(path: &Path, level: u8) -> (Vec<u8>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let (header, lines) = read_collection(path);
    let mut writer =
        CollectionWriter::new(folder.path(), StateTracking::Nothing, Limits::SPEC).unwrap();
    for line in &lines {
        writer.line("", line.as_bytes()).unwrap();
    }
    let target =
        OutputTarget { path: folder.path().join("x.scp.zst"), coding: Coding::Zstd, level };
    let spooled = writer.close().unwrap();
    let decoded = spooled.decoded(&header);
    let written = spooled.finish(header, std::slice::from_ref(&target)).unwrap();
    assert_eq!(written[0].decoded, decoded);
    (fs::read(&target.path).unwrap(), decoded)
}

#[test]
fn small_collections_use_the_highest_level() {
    let mut site = Site::new();
    for n in 0..10 {
        site.put(&format!("{n}.html"), &page("Home", &format!("Page {n}"), &text(n, 60_000)));
    }
    site.build();
    let snapshot = published_file(&site, "snapshot");
    let bytes = fs::read(&snapshot).unwrap();
    let (hard, decoded) = recompressed(&snapshot, 19);
    assert!(decoded <= 1 << 20, "{decoded}");
    assert_eq!(bytes, hard);
    assert_ne!(bytes, recompressed(&snapshot, 9).0);

    // The delta with the new pages is small; the snapshot that is due after such a large delta is
    // not.
    for n in 10..20 {
        site.put(&format!("{n}.html"), &page("Home", &format!("Page {n}"), &text(n, 60_000)));
    }
    site.build();
    let delta = published_file(&site, "delta");
    assert_eq!(fs::read(&delta).unwrap(), recompressed(&delta, 19).0);
    site.put("20.html", &page("Home", "Page 20", &words(20)));
    site.build();
    let snapshot = published_file(&site, "snapshot");
    let (usual, decoded) = recompressed(&snapshot, 9);
    assert!(1 << 20 < decoded, "{decoded}");
    assert_eq!(fs::read(&snapshot).unwrap(), usual);
    assert_ne!(usual, recompressed(&snapshot, 19).0);
}
