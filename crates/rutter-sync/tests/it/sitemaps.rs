//! Invalid sitemaps: each case is a file, and none of them removes a page.
//!
//! A case begins with directives: `expect kept` (the replica is unchanged) or `expect
//! pages` (the same pages, crawled if necessary), `worst KIND`, `finding CODE`. After a
//! line `---` follows the body; `{adverts}` is the previous offer of the site.

use std::fs;
use std::path::Path;

use rutter_sync::ProblemKind;

use crate::test_site::{TestSite, synced_collection};

#[tokio::test] // SCP-104 SCP-192
async fn invalid_sitemap_removes_no_page() {
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
    let site = TestSite::new();
    let adverts = synced_collection(&site).await;
    let (before, paths) = (site.stored_pages(), site.paths());
    let mut body = body.to_vec();
    while let Some(at) = body.windows(9).position(|it| it == b"{adverts}") {
        body.splice(at..at + 9, adverts.bytes());
    }
    site.file("/sitemap.xml", "application/xml", body);
    let report = site.sync().await;
    assert_eq!(report.removed, 0, "{name}: {report:?}");
    let mut worst = None;
    for line in head.lines() {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("expect", "kept") => assert_eq!(site.stored_pages(), before, "{name}: {report:?}"),
            ("expect", "pages") => {
                let now = site.paths();
                assert!(paths.iter().all(|path| now.contains(path)), "{name}: {now:?}");
            }
            ("worst", "integrity") => worst = Some(ProblemKind::Integrity),
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
