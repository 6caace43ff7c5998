//! Each place where a site may say something.

use rutter_discover::{Bounds, Clue, Memory, Outcome, Rung};
use rutter_testkit::server::Reply;

use crate::{Bay, arc, codes, collection, entry, index, outcome, spxi, urlset};

#[tokio::test] // SCP-110
async fn spec_adverts_are_found_in_the_sitemap() {
    let bay = Bay::new();
    let inner = format!(
        "<scp:version>0.1</scp:version><scp:compression>zstd,gzip</scp:compression>\
         <scp:section name=\"all\" updateFreq=\"daily\" pages=\"5\"/>{}{}{}\
         <scp:delta section=\"all\" period=\"2026-12-02\" url=\"http://harbour.example/d.scp.gz\" \
         generated=\"2026-12-02T00:00:00Z\" expires=\"2028-01-01T00:00:00Z\" pages=\"1\" size=\"10\" \
         since=\"2026-12-01T00:00:00Z\"/>{}",
        collection("http://harbour.example/all.scp.zst", "2026-12-01T00:00:00Z"),
        collection("http://harbour.example/all.scp.gz", "2026-12-01T00:00:00Z"),
        collection("http://harbour.example/all.scp.gz", "2026-12-01T00:00:00Z"),
        entry("/a"),
    );
    bay.robots("Sitemap: http://harbour.example/map.xml\n").xml("/map.xml", &urlset(&inner));
    let found = bay.look().await;
    let scp = &found.offer.scp;
    assert_eq!(scp.version.as_deref(), Some("0.1"));
    assert_eq!(scp.sections[0].name, "all");
    // Two codings are one collection (D06); the same file twice is a fault.
    assert_eq!(scp.collections.len(), 2);
    assert_eq!(scp.collections[0].files.len(), 2);
    assert!(scp.collections[0].since.is_none() && scp.collections[1].since.is_some());
    assert_eq!(codes(&found), ["SC069"]);
    let now = rutter_page::Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
    assert_eq!(found.offer.rung(now).0, Rung::Scp);
    let late = rutter_page::Timestamp::parse("2029-01-01T00:00:00Z").unwrap();
    assert_eq!(found.offer.rung(late).0, Rung::Sitemap);
    assert_eq!(outcome(&found, "/map.xml"), Some((&Outcome::Found("sitemap"), Clue::SitemapLine)));
}

#[tokio::test] // SCP-110 D89
async fn reads_adverts_and_entries_around_an_entry_beyond_a_limit() {
    let bay = Bay::new();
    let many = "<i:image xmlns:i=\"urn:i\"/>".repeat(5000);
    let inner = format!(
        "{}<url><loc>http://harbour.example/large</loc>{many}</url>{}",
        collection("http://harbour.example/all.scp.zst", "2026-12-01T00:00:00Z"),
        entry("/a"),
    );
    bay.robots("Sitemap: http://harbour.example/map.xml\n").xml("/map.xml", &urlset(&inner));
    let found = bay.look().await;
    assert_eq!(found.offer.scp.collections.len(), 1);
    assert_eq!(found.offer.sitemaps[0].n_urls, 2);
    assert_eq!(codes(&found), ["SM032"]);
}

#[tokio::test] // SCP-110
async fn keeps_adverts_of_a_sitemap_that_is_refused_behind_them() {
    let bay = Bay::new();
    let advert = collection("http://harbour.example/all.scp.zst", "2026-12-01T00:00:00Z");
    let text = urlset(&format!("{advert}<url><loc>&nonsense;</loc></url>"));
    bay.robots("Sitemap: http://harbour.example/map.xml\n").xml("/map.xml", &text);
    let found = bay.look().await;
    assert_eq!(found.offer.scp.collections.len(), 1);
    assert_eq!(codes(&found), ["SM003"]);
}

#[tokio::test]
async fn resolves_relative_entries_and_reports_them() {
    let bay = Bay::new();
    let inner = "<url><loc>/tides</loc></url><url><loc>ferry</loc></url>";
    bay.robots("Sitemap: http://harbour.example/maps/map.xml\n")
        .xml("/maps/map.xml", &urlset(inner));
    let found = bay.look().await;
    assert_eq!(found.offer.sitemaps[0].n_urls, 2);
    assert_eq!(codes(&found), ["SM013", "SM013"]);
}

#[tokio::test] // B13 of reliability.md, D64
async fn ours_sitemap_lines_are_sorted_by_what_they_lead_to() {
    let bay = Bay::new();
    bay.robots(
        "Sitemap: /relative.xml\nSitemap: http://harbour.example/a.xml\n\
         Sitemap: http://harbour.example/odd-name.xml\nSitemap: http://harbour.example/list.txt\n\
         Sitemap: http://harbour.example/gone.xml\nSitemap: http://harbour.example/page.xml\n\
         Sitemap: http://elsewhere.example/b.xml\nSitemap: http://harbour.example/zip.xml.gz\n\
         Sitemap: http://harbour.example/a.xml\n",
    );
    let gz = rutter_testkit::gzip(urlset(&entry("/z")).as_bytes());
    bay.xml("/a.xml", &urlset(&entry("/a")))
        .file("/odd-name.xml", "application/json", arc())
        .file("/list.txt", "text/plain", "http://harbour.example/l1\nhttp://harbour.example/l2\n")
        .file("/page.xml", "text/html", "<!doctype html><title>Not here</title>");
    bay.server.route("/zip.xml.gz", [Reply::ok("application/gzip", gz)]);
    let found = bay.look().await;
    assert!(matches!(outcome(&found, "/a.xml"), Some((Outcome::Found("sitemap"), _))));
    assert!(matches!(outcome(&found, "/odd-name.xml"), Some((Outcome::Found("ARC sitemap"), _))));
    assert!(matches!(outcome(&found, "/list.txt"), Some((Outcome::Found("sitemap"), _))));
    assert!(matches!(outcome(&found, "/zip.xml.gz"), Some((Outcome::Found("sitemap"), _))));
    assert_eq!(outcome(&found, "/gone.xml").unwrap().0, &Outcome::Absent(404));
    assert!(matches!(outcome(&found, "/page.xml"), Some((Outcome::Other(_), _))));
    let foreign = found.looks.iter().find(|look| look.url.contains("elsewhere")).unwrap();
    assert!(matches!(foreign.outcome, Outcome::Refused(_)));
    assert_eq!(found.offer.sitemaps.iter().map(|map| map.n_urls).sum::<u64>(), 4);
    assert_eq!(found.offer.arc.as_ref().unwrap().by, Clue::SitemapLine);
    let mut seen = codes(&found);
    seen.sort_unstable();
    assert_eq!(seen, ["DC001", "DC001", "DC001", "RB005"]);
    // The file is asked for once, however often it is named.
    assert_eq!(bay.server.paths().iter().filter(|path| *path == "/a.xml").count(), 1);
}

#[tokio::test] // B13 of reliability.md
async fn ours_ten_thousand_lines_are_not_followed() {
    let bay = Bay::new();
    let lines: Vec<String> =
        (0..10_000).map(|n| format!("Sitemap: http://harbour.example/{n}.xml\n")).collect();
    bay.robots(&lines.concat());
    let found = bay.look().await;
    assert!(codes(&found).contains(&"DC002"));
    assert!(bay.server.seen().len() < 40, "{}", bay.server.seen().len());
}

#[tokio::test] // B05 of reliability.md, D17
async fn ours_indexes_that_lead_nowhere() {
    let bay = Bay::new();
    bay.xml("/sitemap.xml", &index(&["/sitemap.xml", "/b.xml", "/leaf.xml"]))
        .xml("/b.xml", &index(&["/sitemap.xml", "/c.xml"]))
        .xml("/c.xml", &index(&["/d.xml"]))
        .xml("/d.xml", &index(&["/e.xml"]))
        .xml("/leaf.xml", &urlset(&entry("/a")));
    let found = bay.look().await;
    assert_eq!(found.offer.sitemaps.len(), 1);
    assert_eq!(codes(&found), vec!["DC003"; 3]);
    assert!(!bay.server.paths().contains(&"/d.xml".to_owned()));
    // Sixty thousand children.
    let bay = Bay::new();
    let names: Vec<String> = (0..60_000).map(|n| format!("/{n}.xml")).collect();
    let children: Vec<&str> = names.iter().map(String::as_str).collect();
    bay.xml("/sitemap.xml", &index(&children)).server.fallback(Reply::status(404));
    let found = bay.look().await;
    assert!(codes(&found).contains(&"DC002"));
    assert!(bay.server.seen().len() < 40, "{}", bay.server.seen().len());
}

#[tokio::test] // D17
async fn ours_looking_stops_at_the_first_child_with_adverts() {
    let bay = Bay::new();
    let advert = collection("http://harbour.example/all.scp", "2026-12-01T00:00:00Z");
    bay.xml("/sitemap.xml", &index(&["/1.xml", "/2.xml"]))
        .xml("/1.xml", &urlset(&format!("{advert}{}", entry("/a"))))
        .xml("/2.xml", &urlset(&entry("/b")));
    assert_eq!(bay.look().await.offer.scp.collections.len(), 1);
    assert!(!bay.server.paths().contains(&"/2.xml".to_owned()));
    let all = bay.visit_with(&Memory::default(), Bounds::ALL).await.unwrap();
    assert_eq!(all.offer.sitemaps.len(), 2);
}

#[tokio::test] // B01 B03 of reliability.md
async fn ours_broken_sitemaps() {
    let bay = Bay::new();
    let cut = urlset(&format!("{}{}", entry("/a"), entry("/b")));
    let (cut, _) = cut.split_at(cut.len() - 20);
    bay.xml("/sitemap.xml", cut);
    let found = bay.look().await;
    assert!(found.offer.sitemaps[0].is_truncated);
    assert!(codes(&found).contains(&"SM006"), "{:?}", found.findings);
    let bay = Bay::new();
    let evil = "<!DOCTYPE urlset [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>";
    bay.xml("/sitemap.xml", &format!("{evil}{}", urlset(&entry("/&a;"))));
    let found = bay.look().await;
    assert_eq!(found.offer.sitemaps, []);
    assert!(!codes(&found).is_empty());
}

/// The five ways to the SPXI index, each alone.
#[tokio::test] // SPX-044 SPX-057 SPX-058 SPX-060 SPX-062
async fn spec_every_way_to_the_spxi_index() {
    let link = "<url><loc>http://harbour.example/a</loc><xhtml:link rel=\"alternate\" \
                hreflang=\"X-SPXI\" href=\"http://harbour.example/deep/spxi-index.jsonld\"/></url>";
    let head = "<link rel=\"alternate\" type=\"application/ld+json\" href=\"/other.jsonld\">\
                <link rel=\"alternate\" type=\"application/ld+json\" href=\"/deep/spxi-index.jsonld\">";
    let agents = "user-agent: GPTBot\nallow: /spxi-index.jsonld\n";
    let mention = "# Harbour\n\nRead [the index](/deep/spxi-index.jsonld) first.\n";
    for (by, place) in [
        (Clue::AllowLine, "/spxi-index.jsonld"),
        (Clue::SitemapLink, "/deep/spxi-index.jsonld"),
        (Clue::HeadLink, "/deep/spxi-index.jsonld"),
        (Clue::LlmsTxt, "/deep/spxi-index.jsonld"),
        (Clue::UsualPlace, "/spxi-index.jsonld"),
        (Clue::WellKnown, "/.well-known/spxi-index.jsonld"),
    ] {
        let bay = Bay::new();
        match by {
            Clue::AllowLine => {
                bay.robots(agents);
            }
            Clue::SitemapLink => {
                bay.xml("/sitemap.xml", &urlset(link));
            }
            Clue::HeadLink => {
                bay.file("/", "text/html", head);
            }
            Clue::LlmsTxt => {
                bay.file("/llms.txt", "text/plain", mention);
            }
            _ => {}
        }
        bay.file(place, "application/ld+json", spxi());
        let found = bay.look().await;
        let offer = found.offer.spxi.as_ref().unwrap();
        assert!(offer.url.ends_with(place), "{by:?}");
        assert_eq!(offer.by, [by]);
    }
    // All of them at once are all told.
    let bay = Bay::new();
    let index = "http://harbour.example/spxi-index.jsonld";
    bay.robots(agents)
        .xml("/sitemap.xml", &urlset(&link.replace("/deep", "")))
        .file("/", "text/html", &head.replace("/deep", ""))
        .file("/llms.txt", "text/plain", &format!("# H\n\n`{index}`\n"))
        .file("/spxi-index.jsonld", "application/ld+json", spxi());
    let offer = bay.look().await.offer.spxi.unwrap();
    assert_eq!(offer.by, [Clue::AllowLine, Clue::SitemapLink, Clue::HeadLink, Clue::LlmsTxt]);
}

#[tokio::test] // SPX-057 D80
async fn spec_an_allow_line_for_others_lifts_no_ban() {
    let bay = Bay::new();
    bay.robots("user-agent: GPTBot\nallow: /spxi-index.jsonld\n\nuser-agent: *\ndisallow: /spxi\n")
        .file("/spxi-index.jsonld", "application/ld+json", spxi());
    let found = bay.look().await;
    assert!(matches!(
        outcome(&found, "/spxi-index.jsonld"),
        Some((Outcome::Refused(_), Clue::AllowLine))
    ));
    assert_eq!(found.offer.spxi, None);
    assert!(!bay.server.paths().contains(&"/spxi-index.jsonld".to_owned()));
}

#[tokio::test] // ARC-032 ARC-036 ARC-062 D53 D54
async fn spec_every_way_to_the_arc_sitemap() {
    let pointer = r#"<script type="application/ld+json">{"@context":"https://schema.org","@type":"Dataset",
        "name":"ARC Sitemap","distribution":[{"@type":"DataDownload","encodingFormat":"application/json",
        "contentUrl":"http://harbour.example/deep/arc.json"}]}</script>"#;
    for (by, place) in [
        (Clue::SitemapLine, "/deep/arc.json"),
        (Clue::JsonLd, "/deep/arc.json"),
        (Clue::UsualPlace, "/arc-sitemap.json"),
        (Clue::WellKnown, "/.well-known/arc-sitemap.json"),
    ] {
        let bay = Bay::new();
        match by {
            Clue::SitemapLine => {
                bay.robots("Sitemap: http://harbour.example/deep/arc.json\n");
            }
            Clue::JsonLd => {
                bay.file("/", "text/html", pointer);
            }
            _ => {}
        }
        bay.file(place, "application/json", arc()).file(
            "/.well-known/arc-policy.json",
            "application/json",
            "{\"arc_policy_version\":\"2.1\"}",
        );
        let client = bay.client();
        let site = rutter_fetch::Url::parse(crate::SITE).unwrap();
        let memory = Memory::default();
        let found = rutter_discover::discover(&client, &site, &memory, Bounds::LOOK, &mut ())
            .await
            .unwrap();
        let offer = found.offer.arc.as_ref().unwrap();
        assert!(offer.url.ends_with(place) && offer.by == by, "{by:?}");
        assert_eq!((offer.said.pages, offer.said.open), (2, 1));
        assert!(found.offer.policy.is_some());
        // Its wish for patience is heard from here on.
        let seen = bay.server.seen();
        let last = seen.last().unwrap().moment;
        let at = seen.iter().rposition(|seen| seen.path == place).unwrap();
        if at + 1 < seen.len() {
            assert!(seen[at].moment < last, "{by:?}");
        }
    }
    // What does not fit the schema is not taken.
    for wrong in [
        "{\"arc_sitemap_version\":\"9.0\",\"pages\":[]}",
        "{\"arc_sitemap_version\":\"2.1\",\"pages\":{}}",
        "{\"arc_sitemap_version\":\"2.1\",\"pages\":[",
        "[]",
        "<!doctype html><title>Lost</title>",
    ] {
        let bay = Bay::new();
        bay.file("/arc-sitemap.json", "application/json", wrong);
        assert_eq!(bay.look().await.offer.arc, None, "{wrong}");
    }
    // An entry that does not fit is not counted, and is reported.
    let bay = Bay::new();
    let entry = r#"{"url":"http://harbour.example/c","ai_indexable":"yes"},{"url":7}"#;
    let text = arc().replace("\"pages\":[", &format!("\"pages\":[{entry},"));
    bay.file("/arc-sitemap.json", "application/json", &text);
    let found = bay.look().await;
    let said = &found.offer.arc.as_ref().unwrap().said;
    assert_eq!((said.pages, said.open), (3, 1));
    let codes = codes(&found);
    assert!(codes.contains(&"AR037") && 2 <= codes.len(), "{codes:?}");
}

#[tokio::test] // D74
async fn ours_hosts_that_have_every_file() {
    let bay = Bay::new();
    bay.server
        .fallback(Reply::ok("text/html", "<title>Home</title><a href=/a>a</a>"))
        .route("/robots.txt", [Reply::status(404)]);
    let found = bay.look().await;
    assert!(codes(&found).contains(&"DC004"));
    assert_eq!((found.offer.arc, found.offer.spxi, found.offer.policy), (None, None, None));
    assert_eq!(found.offer.llms, None);
    // A real file on such a host is believed.
    bay.file("/arc-sitemap.json", "application/json", arc());
    assert!(bay.look().await.offer.arc.is_some());
}

#[tokio::test] // SCP-193 SCP-198 SCP-199 D13
async fn spec_collections_elsewhere_are_told_and_not_used() {
    let bay = Bay::new();
    let there = collection("https://elsewhere.example/all.scp", "2026-12-01T00:00:00Z");
    bay.xml("/sitemap.xml", &urlset(&format!("{there}{}", entry("/a"))));
    let found = bay.look().await;
    assert!(!found.offer.scp.collections[0].files[0].is_allowed);
    assert_eq!(codes(&found), ["DC005"]);
    let now = rutter_page::Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
    assert_eq!(found.offer.rung(now).0, Rung::Sitemap);
    // Nobody asked it for anything.
    assert_eq!(bay.names.asked().iter().filter(|name| name.contains("elsewhere")).count(), 0);
}

#[tokio::test]
async fn ours_an_announced_file_that_is_not_there() {
    let bay = Bay::new();
    bay.robots("user-agent: *\nallow: /spxi-index.jsonld\n").file(
        "/spxi-index.jsonld",
        "application/ld+json",
        "{\"@type\":\"Person\"}",
    );
    let found = bay.look().await;
    assert!(codes(&found).contains(&"DC006"));
    assert_eq!(found.offer.spxi, None);
}

#[tokio::test] // B14 of reliability.md
async fn ours_adverts_without_sense() {
    let bay = Bay::new();
    let good = collection("http://harbour.example/all.scp", "2026-12-01T00:00:00Z");
    let bad = |from: &str, to: &str| good.replace(from, to);
    let inner = [
        bad("size=\"1000\"", "size=\"-1\""),
        bad("pages=\"5\"", "pages=\"~5000\""),
        bad("size=\"1000\"", "size=\"1000000000000000000000000000000\""),
        bad("type=\"snapshot\"", "type=\"other\""),
        "<scp:future/>".to_owned(),
    ];
    bay.xml("/sitemap.xml", &urlset(&format!("{}{}", inner.concat(), entry("/a"))));
    let found = bay.look().await;
    assert_eq!(found.offer.scp.collections, []);
    assert_eq!(codes(&found), ["SC067", "SC067", "SC067", "SC067", "SC068"]);
}

#[tokio::test] // D17
async fn ours_a_walk_that_may_fetch_no_more_says_so() {
    let bay = Bay::new();
    let sitemap = urlset(&entry("/a"));
    bay.xml("/sitemap.xml", &sitemap);
    let bounds = Bounds { bytes: sitemap.len() as u64, ..Bounds::LOOK };
    let found = bay.visit_with(&Memory::default(), bounds).await.unwrap();
    assert!(codes(&found).contains(&"DC007"), "{:?}", found.findings);
}
