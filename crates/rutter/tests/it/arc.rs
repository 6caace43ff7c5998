//! Tests of the ARC layer of the example site, with an independent validator of JSON Schema and with
//! `rutter check`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{root, run, stage};

const BUILD: &str = "rutter build target/site --base-url https://harbour.example \
    --out target/public --policy-access allow --policy-retention-days 90 \
    --policy-consumers 'Selk Search;purposes=search+answers'";

/// Creates a copy of the example and builds it, with additional settings.
fn built(more: &str) -> tempfile::TempDir {
    let folder = stage();
    run("cp -r examples/harbour target/site", folder.path());
    build(more, folder.path());
    folder
}

fn build(more: &str, folder: &Path) {
    let said = run(&format!("{BUILD} {more}"), folder);
    assert!(said.contains("pages "), "{said}");
}

/// Returns the published files by path.
fn published(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let top = folder.join("target/public");
    let mut files = BTreeMap::new();
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// Returns the file extension.
fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut text).unwrap();
    text
}

fn sitemap(folder: &Path) -> Value {
    document(folder, "arc-sitemap.json")
}

#[test] // ARC-028 ARC-029 ARC-030 ARC-031
fn example_site_publishes_its_policy() {
    let folder = stage();
    run("rutter build examples/harbour --out target/public --state target/state", folder.path());
    let policy = document(folder.path(), ".well-known/arc-policy.json");
    assert_eq!(policy["access"]["default"], "allow");
    assert_eq!(policy["retention"]["delete_on_removal"], true);
    assert_eq!(policy["approved_consumers"][0]["name"], "Selk Search");
    let said = run("rutter check target/public --state target/state", folder.path());
    assert!(!said.contains("AR08"), "{said}");
}

fn document(folder: &Path, name: &str) -> Value {
    let bytes = fs::read(folder.join("target/public").join(name)).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn entry<'d>(document: &'d Value, path: &str) -> &'d Value {
    let url = format!("https://harbour.example/{path}");
    let pages = document["pages"].as_array().unwrap();
    pages.iter().find(|page| page["url"] == url.as_str()).unwrap()
}

/// The checksums of a sitemap's pages, by address.
fn checksums(document: &Value) -> BTreeMap<String, Value> {
    let pages = document["pages"].as_array().unwrap().iter();
    pages.map(|it| (it["url"].as_str().unwrap().to_owned(), it["ai_checksum"].clone())).collect()
}

#[test] // ARC-005 ARC-020 ARC-021 ARC-028 ARC-067
fn published_sitemaps_are_valid_and_equal_in_all_formats() {
    let folder = built("");
    let files = published(folder.path());
    let schema = fs::read(root().join("conformance/schema/arc-sitemap-2.1.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let validator =
        jsonschema::draft7::options().should_validate_formats(true).build(&schema).unwrap();
    let mut judged = Vec::new();
    for (name, bytes) in files.iter().filter(|(name, _)| name.contains("arc-sitemap")) {
        let document: Value = match ending(name) {
            "gz" => {
                let plain = &files[name.trim_end_matches(".gz")];
                assert_eq!(&gunzip(bytes), plain, "{name}");
                continue;
            }
            "yaml" => serde_saphyr::from_str(std::str::from_utf8(bytes).unwrap()).unwrap(),
            // A pointer is not a sitemap.
            "jsonld" => continue,
            _ => serde_json::from_slice(bytes).unwrap(),
        };
        let faults: Vec<String> =
            validator.iter_errors(&document).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{name}: {faults:?}");
        if !name.starts_with("arc-sitemap-deltas") {
            assert_eq!(document, sitemap(folder.path()), "{name}");
        }
        judged.push(name.as_str());
    }
    let all = [
        ".well-known/arc-sitemap.json",
        "arc-sitemap-deltas/2026-11-01.json",
        "arc-sitemap.json",
        "arc-sitemap.yaml",
    ];
    assert_eq!(judged, all);
    for name in all {
        assert!(files.contains_key(&format!("{name}.gz")), "{name}");
    }
    assert_eq!(files[".well-known/arc-sitemap.json"], files["arc-sitemap.json"]);
    let robots = String::from_utf8(files["robots.txt"].clone()).unwrap();
    assert!(robots.contains("\nSitemap: https://harbour.example/arc-sitemap.json\n"), "{robots}");
    let pointer = document(folder.path(), "arc-sitemap.jsonld");
    assert_eq!(pointer["url"], "https://harbour.example/arc-sitemap.json");
    let policy = document(folder.path(), ".well-known/arc-policy.json");
    assert_eq!(policy["access"]["default"], "allow");
    assert_eq!(policy["retention"]["max_days"], 90);
    assert_eq!(policy["approved_consumers"][0]["purposes"][1], "answers");

    let said = run(
        "cd target/public && rutter check arc-sitemap.* arc-sitemap-deltas/* .well-known/*",
        folder.path(),
    );
    let n_files = files.keys().filter(|name| name.contains("arc-")).count();
    let clean = said.lines().filter(|line| line.contains(": accepted") && !line.contains("warn"));
    // The last line is the summary.
    assert_eq!((clean.count(), said.lines().count()), (n_files, n_files + 1), "{said}");
}

#[test] // ARC-001 ARC-002 ARC-054 ARC-055
fn entries_match_page_snapshots() {
    let folder = built("");
    let sitemap = sitemap(folder.path());
    for path in ["museum/friends.html", "shop/tide-table-2027.html"] {
        let page = format!("examples/harbour/{path} --url https://harbour.example/{path}");
        let said = run(&format!("rutter arc snapshot {page}"), folder.path());
        let snapshot: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(entry(&sitemap, path)["ai_snapshot"], snapshot);
        assert_eq!(entry(&sitemap, path)["ai_summary"], snapshot["summary"]);
        assert!(snapshot["summary"].as_str().is_some_and(|it| !it.is_empty()), "{path}");
    }
    let plans = &entry(&sitemap, "shop/tide-table-2027.html")["ai_snapshot"]["sections"][0];
    assert_eq!(plans["groups"][2]["price"], "€4.00 a year, including tax");
    let form = &entry(&sitemap, "museum/friends.html")["ai_snapshot"];
    assert_eq!(form["ai_context"][0], "personal");
    assert_eq!(form["sections"][0]["fields"][1]["label"], "E-mail address");
    assert_eq!(form["sections"][0]["actions"][0]["intent"], "join");
    // The page has no statement about AI and no annotations.
    assert_eq!(entry(&sitemap, "museum/collection.html")["ai_indexable"], true);
    assert_eq!(entry(&sitemap, "drafts/pilot-boat.html")["ai_indexable"], false);

    build("--arc=false", folder.path());
    let left = published(folder.path());
    assert!(!left.keys().any(|name| name.contains("arc-")), "{:?}", left.keys());
}

#[test] // ARC-025 ARC-063
fn only_url_of_restricted_page_is_published() {
    let folder = stage();
    run("cp -r examples/harbour target/site", folder.path());
    let page = "<html lang=en><title>Wages</title><body data-ai-page=wages><main><h1>Wages</h1>\
        <p data-ai-content=wages data-ai-context=sensitive>The winchman earns 3120 a month.</p>\
        <p>Paid on the last working day, as the log of the office has it.</p></main>";
    fs::write(folder.path().join("target/site/wages.html"), page).unwrap();
    build("", folder.path());
    let sitemap = sitemap(folder.path());
    for path in ["museum/members.html", "wages.html"] {
        let url = format!("https://harbour.example/{path}");
        let bare = serde_json::json!({ "url": url, "ai_indexable": false, "auth_required": true });
        assert_eq!(entry(&sitemap, path), &bare);
    }
    // Only the pages themselves have their content.
    let files = published(folder.path());
    assert!(!files.contains_key("museum/members.md") && !files.contains_key("wages.md"));
    let mut n_collections = 0;
    for (name, bytes) in &files {
        if matches!(name.as_str(), "museum/members.html" | "wages.html") || ending(name) == "zst" {
            continue;
        }
        let bytes = if ending(name) == "gz" { gunzip(bytes) } else { bytes.clone() };
        let text = String::from_utf8_lossy(&bytes);
        for word in ["Wilma Reyn", "strand winder", "Rota of the rope walk", "winchman", "Wages"] {
            assert!(!text.contains(word), "{name}: {word}");
        }
        if name.contains("arc-sitemap") {
            assert!(!text.contains('@') || ending(name) == "jsonld", "{name}");
        }
        if name.ends_with(".scp.gz") {
            n_collections += 1;
            assert!(!text.contains("{\"url\":\"https://harbour.example/museum/members.html"));
        }
        if matches!(name.as_str(), "sitemap.xml" | "llms.txt") {
            assert!(!text.contains("members") && !text.contains("wages"), "{name}");
        }
    }
    assert_eq!(n_collections, 1);
    // Both codings of a collection have the same pages.
    let pages = "rutter scp inspect --pages target/public/scp/*.scp";
    let said = run(&format!("{pages}.zst"), folder.path());
    assert_eq!(said, run(&format!("{pages}.gz"), folder.path()));
    assert!(said.contains("friends.html") && !said.contains("members.html"), "{said}");
}

#[test] // ARC-041
fn delta_of_day_has_entries_with_changed_checksum() {
    let folder = built("");
    let before = checksums(&sitemap(folder.path()));
    run("sed -i.old 's/noon/midday/' target/site/blog/foghorn-returns.html", folder.path());
    fs::remove_file(folder.path().join("target/site/blog/foghorn-returns.html.old")).unwrap();
    // A new menu changes the bytes of a page, but not its entry.
    run("sed -i.old 's/>Museum</>The museum</' target/site/shop/tide-clock.html", folder.path());
    fs::remove_file(folder.path().join("target/site/shop/tide-clock.html.old")).unwrap();
    let said = run(&format!("SOURCE_DATE_EPOCH=1793577600 {BUILD}"), folder.path());
    assert!(said.contains("1 changed"), "{said}");
    let after = checksums(&sitemap(folder.path()));
    let changed: Vec<&String> =
        after.iter().filter(|(url, it)| before[*url] != **it).map(|(url, _)| url).collect();
    assert_eq!(changed, ["https://harbour.example/blog/foghorn-returns.html"]);
    let day = checksums(&document(folder.path(), "arc-sitemap-deltas/2026-11-02.json"));
    assert_eq!(day.keys().collect::<Vec<_>>(), changed);
}

#[test] // ARC-053
fn html_checksum_is_that_of_the_file() {
    let folder = built("--arc-checksum html");
    let sitemap = sitemap(folder.path());
    for path in ["museum/friends.html", "shop/tide-clock.html"] {
        let bytes = fs::read(root().join("examples/harbour").join(path)).unwrap();
        let digest = rutter_page::Digest::of(&bytes).to_string();
        assert!(digest.starts_with("sha256:") && digest.len() == 71, "{digest}");
        assert_eq!(entry(&sitemap, path)["ai_checksum"], digest);
    }
    let policy = document(folder.path(), ".well-known/arc-policy.json");
    assert_eq!(policy["checksum_scope"], "html");
}
