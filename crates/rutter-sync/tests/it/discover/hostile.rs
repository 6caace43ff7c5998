//! Files that are too large, and files that are incomplete.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rutter_sync::discover::{DiscoveryCache, DiscoveryLimits, ParsedFile};
use rutter_testkit::server::{Framing, Reply};

use super::{TestSite, codes, collection, entry, index, urlset};

#[tokio::test] // D17
async fn bounds_findings_per_file() {
    let site = TestSite::new();
    let mut list = "https://harbour.example/a\n".to_owned();
    for n in 0..200_000 {
        list.push_str(if n % 2 == 0 { "x\n" } else { "# y\n" });
    }
    site.robots("Sitemap: http://harbour.example/list.txt\n").file(
        "/list.txt",
        "text/plain",
        &list,
    );
    let found = site.discover().await;
    assert_eq!(found.offer.sitemaps[0].n_urls, 1);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for code in codes(&found) {
        *counts.entry(code).or_default() += 1;
    }
    assert!(2 <= counts.len() && counts.values().all(|count| *count <= 20), "{counts:?}");
}

#[tokio::test] // D17
async fn bounds_reports_of_sitemap_cycles() {
    let site = TestSite::new();
    let children = vec!["/sitemap.xml"; 5_000];
    let names: Vec<String> = (0..5_000).map(|n| format!("/{n}.xml")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).chain(children).collect();
    site.xml("/sitemap.xml", &index(&names));
    let bounds = DiscoveryLimits { depth: 1, ..DiscoveryLimits::FULL };
    let found = site.discover_within(&DiscoveryCache::default(), bounds).await.unwrap();
    let n_circles = codes(&found).into_iter().filter(|code| *code == "DC003").count();
    assert_eq!(n_circles, 1_000);
}

#[tokio::test] // D17
async fn all_adverts_share_one_budget() {
    let site = TestSite::new();
    let mut robots = String::new();
    for file in 0..3 {
        // One section, so that every file is compared with all others.
        let adverts: Vec<String> = (0..6_000)
            .map(|n| {
                let url = format!("http://harbour.example/{file}/{n}.scp");
                collection(
                    &url,
                    &format!("2026-12-01T{:02}:{:02}:{:02}Z", n / 3600, n / 60 % 60, n % 60),
                )
            })
            .collect();
        site.xml(&format!("/{file}.xml"), &urlset(&format!("{}{}", adverts.concat(), entry("/a"))));
        writeln!(robots, "Sitemap: http://harbour.example/{file}.xml").unwrap();
    }
    site.robots(&robots);
    let first =
        site.discover_within(&DiscoveryCache::default(), DiscoveryLimits::FULL).await.unwrap();
    let second = site.discover_within(&first.cache, DiscoveryLimits::FULL).await.unwrap();
    for found in [&first, &second] {
        let kept = found.cache.files.values().filter_map(|file| match &file.parsed {
            Some(ParsedFile::Sitemap(said)) => Some(said.adverts.len()),
            _ => None,
        });
        assert_eq!(kept.sum::<usize>(), 10_000);
        let files = found.offer.scp.collections.iter().map(|collection| collection.files.len());
        assert_eq!(files.sum::<usize>(), 10_000);
        // The same time in two files is one collection.
        assert_eq!(found.offer.scp.collections.len(), 6_000);
        // A dropped entry does not count as missing.
        let cut: Vec<bool> = found.offer.sitemaps.iter().map(|it| it.is_truncated).collect();
        assert_eq!(cut, [false, true, true]);
    }
    assert!(codes(&first).contains(&"DC007"), "{:?}", first.findings);
}

#[tokio::test] // D17
async fn url_list_of_unknown_length_may_be_truncated() {
    let list = "http://harbour.example/a\nhttp://harbour.example/b\n";
    let xml = urlset(&entry("/a"));
    for (body, framing, is_cut) in [
        (list, Framing::Length, false),
        (list, Framing::Chunked, false),
        (list, Framing::Close, true),
        // The end tag of the root shows that the file is complete.
        (xml.as_str(), Framing::Close, false),
    ] {
        let site = TestSite::new();
        let reply = Reply::ok("text/plain", body).framed(framing.clone());
        site.server.route("/list", [reply]);
        site.robots("Sitemap: http://harbour.example/list\n");
        let found = site.discover().await;
        assert_eq!(found.offer.sitemaps[0].is_truncated, is_cut, "{framing:?}");
    }
}
