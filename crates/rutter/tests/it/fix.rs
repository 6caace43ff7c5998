//! Tests of `rutter check --fix`: which findings it fixes, and which files it keeps.

use std::fs;

use crate::names::{rutter, said};

const PAGE: &str = "<!DOCTYPE html><html lang=en><head><title>Tides</title>\
    <meta name=description content='When the water is high.'></head><body><main><h1>Tides</h1>\
    <p>High water is at noon, and low water is six hours and twelve minutes later.</p></main>";

#[test]
fn fix_builds_site_again() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    fs::create_dir(&site).unwrap();
    fs::write(site.join("index.html"), PAGE).unwrap();
    fs::write(
        folder.path().join("rutter.toml"),
        "site = \"site\"\nbase-url = \"https://h.example/\"\n",
    )
    .unwrap();
    assert!(rutter(folder.path(), &["build"]).status.success());
    let clean = rutter(folder.path(), &["check", "site", "--fail-on", "warning"]);
    assert_eq!(clean.status.code(), Some(0), "{}", said(&clean));
    assert!(said(&clean).contains("1 unchanged since the build"), "{}", said(&clean));

    fs::write(site.join("index.html"), PAGE.replace("noon", "one")).unwrap();
    let stale = rutter(folder.path(), &["check", "site", "--fail-on", "warning"]);
    assert_eq!(stale.status.code(), Some(1));
    assert!(said(&stale).contains("XL024"), "{}", said(&stale));

    let mended = rutter(folder.path(), &["check", "site", "--fail-on", "warning", "--fix"]);
    assert_eq!(mended.status.code(), Some(0), "{}", said(&mended));
    assert!(said(&mended).contains("fix: built the site again: "), "{}", said(&mended));
    assert_eq!(fs::read_to_string(site.join("index.html")).unwrap(), PAGE.replace("noon", "one"));
}

#[test] // D81
fn fix_names_sitemap_in_robots_block() {
    let folder = tempfile::tempdir().unwrap();
    let robots = folder.path().join("robots.txt");
    let own = "# mine\nUser-agent: *\nDisallow: /x\n";
    fs::write(folder.path().join("index.html"), PAGE).unwrap();
    fs::write(&robots, own).unwrap();
    let sitemap = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url>\
        <loc>https://h.example/</loc></url></urlset>";
    fs::write(folder.path().join("sitemap.xml"), sitemap).unwrap();
    let args = ["check", ".", "--as", "https://h.example", "--fix", "--format", "concise"];
    let mended = rutter(folder.path(), &args);
    assert!(!said(&mended).contains("XL083"), "{}", said(&mended));
    let text = fs::read_to_string(&robots).unwrap();
    assert!(text.starts_with(own), "{text}");
    assert!(text.contains("# rutter:begin\nSitemap: https://h.example/sitemap.xml\n"), "{text}");
    let again = rutter(folder.path(), &args);
    assert!(!said(&again).contains("fix:"), "{}", said(&again));
    assert_eq!(fs::read_to_string(&robots).unwrap(), text);
}
