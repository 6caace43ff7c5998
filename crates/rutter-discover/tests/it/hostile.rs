//! Files that say more than anybody can hold, or less than they should.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rutter_discover::{Bounds, Memory, Said};
use rutter_testkit::server::{Framing, Reply};

use crate::{Bay, codes, collection, entry, index, urlset};

#[tokio::test] // D17
async fn ours_findings_do_not_grow_with_the_file() {
    let bay = Bay::new();
    let mut list = "https://harbour.example/a\n".to_owned();
    for n in 0..200_000 {
        list.push_str(if n % 2 == 0 { "x\n" } else { "# y\n" });
    }
    bay.robots("Sitemap: http://harbour.example/list.txt\n").file("/list.txt", "text/plain", &list);
    let found = bay.look().await;
    assert_eq!(found.offer.sitemaps[0].n_urls, 1);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for code in codes(&found) {
        *counts.entry(code).or_default() += 1;
    }
    assert!(2 <= counts.len() && counts.values().all(|count| *count <= 20), "{counts:?}");
}

#[tokio::test] // D17
async fn ours_an_index_of_circles_is_told_some_times_only() {
    let bay = Bay::new();
    let children = vec!["/sitemap.xml"; 5_000];
    let names: Vec<String> = (0..5_000).map(|n| format!("/{n}.xml")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).chain(children).collect();
    bay.xml("/sitemap.xml", &index(&names));
    let bounds = Bounds { depth: 1, ..Bounds::ALL };
    let found = bay.visit_with(&Memory::default(), bounds).await.unwrap();
    let n_circles = codes(&found).into_iter().filter(|code| *code == "DC003").count();
    assert_eq!(n_circles, 1_000);
}

#[tokio::test] // D17
async fn ours_adverts_of_all_files_share_one_budget() {
    let bay = Bay::new();
    let mut robots = String::new();
    for file in 0..3 {
        // One section, so that every file would be looked up among all others.
        let adverts: Vec<String> = (0..6_000)
            .map(|n| {
                let url = format!("http://harbour.example/{file}/{n}.scp");
                collection(
                    &url,
                    &format!("2026-12-01T{:02}:{:02}:{:02}Z", n / 3600, n / 60 % 60, n % 60),
                )
            })
            .collect();
        bay.xml(&format!("/{file}.xml"), &urlset(&format!("{}{}", adverts.concat(), entry("/a"))));
        writeln!(robots, "Sitemap: http://harbour.example/{file}.xml").unwrap();
    }
    bay.robots(&robots);
    let first = bay.visit_with(&Memory::default(), Bounds::ALL).await.unwrap();
    let second = bay.visit_with(&first.memory, Bounds::ALL).await.unwrap();
    for found in [&first, &second] {
        let kept = found.memory.files.values().filter_map(|file| match &file.said {
            Some(Said::Sitemap(said)) => Some(said.adverts.len()),
            _ => None,
        });
        assert_eq!(kept.sum::<usize>(), 10_000);
        let files = found.offer.scp.collections.iter().map(|collection| collection.files.len());
        assert_eq!(files.sum::<usize>(), 10_000);
        // The same moment in two files is one collection.
        assert_eq!(found.offer.scp.collections.len(), 6_000);
        // What was not kept is not taken for absent.
        let cut: Vec<bool> = found.offer.sitemaps.iter().map(|it| it.is_truncated).collect();
        assert_eq!(cut, [false, true, true]);
    }
    assert!(codes(&first).contains(&"DC007"), "{:?}", first.findings);
}

#[tokio::test] // D17
async fn ours_a_list_whose_end_is_not_known_may_be_cut() {
    let list = "http://harbour.example/a\nhttp://harbour.example/b\n";
    let xml = urlset(&entry("/a"));
    for (body, framing, is_cut) in [
        (list, Framing::Length, false),
        (list, Framing::Chunked, false),
        (list, Framing::Close, true),
        // The end of its root is an end.
        (xml.as_str(), Framing::Close, false),
    ] {
        let bay = Bay::new();
        let reply = Reply::ok("text/plain", body).framed(framing.clone());
        bay.server.route("/list", [reply]);
        bay.robots("Sitemap: http://harbour.example/list\n");
        let found = bay.look().await;
        assert_eq!(found.offer.sitemaps[0].is_truncated, is_cut, "{framing:?}");
    }
}
