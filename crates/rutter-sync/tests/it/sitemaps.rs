//! Sitemaps that are wrong in every way we know: each case is a file, and none
//! of them takes a page away.
//!
//! A case begins with lines of words: `expect kept` (the replica is as it was)
//! or `expect pages` (the same pages, read one by one where need be), `worst
//! KIND`, `finding CODE`. Behind a line `---` stands the body; `{adverts}` is
//! what the site offered before.

use std::fs;
use std::path::Path;

use rutter_sync::Kind;

use crate::bay::{Bay, verified};

#[tokio::test] // SCP-104 SCP-192
async fn spec_a_sitemap_that_is_wrong_takes_no_page_away() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sitemaps");
    let mut n_cases = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        run(&name, &fs::read(&path).unwrap()).await;
        n_cases += 1;
    }
    assert!(18 <= n_cases, "{n_cases}");
}

async fn run(name: &str, case: &[u8]) {
    let at = case.windows(4).position(|it| it == b"---\n").unwrap_or_else(|| panic!("{name}"));
    let (head, body) = (std::str::from_utf8(&case[..at]).unwrap(), &case[at + 4..]);
    let bay = Bay::new();
    let adverts = verified(&bay).await;
    let (before, paths) = (bay.seen(), bay.paths());
    let mut body = body.to_vec();
    while let Some(at) = body.windows(9).position(|it| it == b"{adverts}") {
        body.splice(at..at + 9, adverts.bytes());
    }
    bay.file("/sitemap.xml", "application/xml", body);
    let report = bay.visit().await;
    assert_eq!(report.removed, 0, "{name}: {report:?}");
    let mut worst = None;
    for line in head.lines() {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("expect", "kept") => assert_eq!(bay.seen(), before, "{name}: {report:?}"),
            ("expect", "pages") => {
                let now = bay.paths();
                assert!(paths.iter().all(|path| now.contains(path)), "{name}: {now:?}");
            }
            ("worst", "integrity") => worst = Some(Kind::Integrity),
            ("finding", code) => {
                let codes: Vec<&str> = report.findings.iter().map(|(_, it)| it.rule.code).collect();
                assert!(codes.contains(&code), "{name}: {codes:?}");
            }
            (";", _) => {}
            (word, _) => panic!("{name}: {word}?"),
        }
    }
    assert_eq!(report.worst(), worst, "{name}: {report:?}");
}
