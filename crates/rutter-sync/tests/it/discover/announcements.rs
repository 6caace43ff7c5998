//! Every source in which a site may announce a file.

use rutter_sync::discover::{
    AccessMethod, DiscoveryCache, DiscoveryLimits, DiscoverySource, LookupOutcome,
};
use rutter_testkit::server::Reply;

use super::{TestSite, arc, codes, collection, entry, index, outcome, spxi, urlset};

#[tokio::test] // SCP-110
async fn finds_adverts_in_the_sitemap() {
    let site = TestSite::new();
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
    site.robots("Sitemap: http://harbour.example/map.xml\n").xml("/map.xml", &urlset(&inner));
    let found = site.discover().await;
    let scp = &found.offer.scp;
    assert_eq!(scp.version.as_deref(), Some("0.1"));
    assert_eq!(scp.sections[0].name, "all");
    // Two codings are one collection (D06); a duplicate file is a finding.
    assert_eq!(scp.collections.len(), 2);
    assert_eq!(scp.collections[0].files.len(), 2);
    assert!(scp.collections[0].since.is_none() && scp.collections[1].since.is_some());
    assert_eq!(codes(&found), ["SC069"]);
    let now = rutter_page::Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
    assert_eq!(found.offer.choose_method(now).0, AccessMethod::Scp);
    let late = rutter_page::Timestamp::parse("2029-01-01T00:00:00Z").unwrap();
    assert_eq!(found.offer.choose_method(late).0, AccessMethod::Sitemap);
    assert_eq!(
        outcome(&found, "/map.xml"),
        Some((&LookupOutcome::Found("sitemap"), DiscoverySource::SitemapLine))
    );
}

#[tokio::test] // SCP-110 D89
async fn reads_adverts_and_entries_around_an_entry_beyond_a_limit() {
    let site = TestSite::new();
    let many = "<i:image xmlns:i=\"urn:i\"/>".repeat(5000);
    let inner = format!(
        "{}<url><loc>http://harbour.example/large</loc>{many}</url>{}",
        collection("http://harbour.example/all.scp.zst", "2026-12-01T00:00:00Z"),
        entry("/a"),
    );
    site.robots("Sitemap: http://harbour.example/map.xml\n").xml("/map.xml", &urlset(&inner));
    let found = site.discover().await;
    assert_eq!(found.offer.scp.collections.len(), 1);
    assert_eq!(found.offer.sitemaps[0].n_urls, 2);
    assert_eq!(codes(&found), ["SM032"]);
}

#[tokio::test] // SCP-110
async fn keeps_adverts_of_a_sitemap_that_is_refused_behind_them() {
    let site = TestSite::new();
    let advert = collection("http://harbour.example/all.scp.zst", "2026-12-01T00:00:00Z");
    let text = urlset(&format!("{advert}<url><loc>&nonsense;</loc></url>"));
    site.robots("Sitemap: http://harbour.example/map.xml\n").xml("/map.xml", &text);
    let found = site.discover().await;
    assert_eq!(found.offer.scp.collections.len(), 1);
    assert_eq!(codes(&found), ["SM003"]);
}

#[tokio::test]
async fn resolves_relative_entries_and_reports_them() {
    let site = TestSite::new();
    let inner = "<url><loc>/tides</loc></url><url><loc>ferry</loc></url>";
    site.robots("Sitemap: http://harbour.example/maps/map.xml\n")
        .xml("/maps/map.xml", &urlset(inner));
    let found = site.discover().await;
    assert_eq!(found.offer.sitemaps[0].n_urls, 2);
    assert_eq!(codes(&found), ["SM013", "SM013"]);
}

#[tokio::test] // B13, D64
async fn detects_the_format_of_sitemap_lines() {
    let site = TestSite::new();
    site.robots(
        "Sitemap: /relative.xml\nSitemap: http://harbour.example/a.xml\n\
         Sitemap: http://harbour.example/odd-name.xml\nSitemap: http://harbour.example/list.txt\n\
         Sitemap: http://harbour.example/gone.xml\nSitemap: http://harbour.example/page.xml\n\
         Sitemap: http://elsewhere.example/b.xml\nSitemap: http://harbour.example/zip.xml.gz\n\
         Sitemap: http://harbour.example/a.xml\n",
    );
    let gz = rutter_testkit::gzip(urlset(&entry("/z")).as_bytes());
    site.xml("/a.xml", &urlset(&entry("/a")))
        .file("/odd-name.xml", "application/json", arc())
        .file("/list.txt", "text/plain", "http://harbour.example/l1\nhttp://harbour.example/l2\n")
        .file("/page.xml", "text/html", "<!doctype html><title>Not here</title>");
    site.server.route("/zip.xml.gz", [Reply::ok("application/gzip", gz)]);
    let found = site.discover().await;
    assert!(matches!(outcome(&found, "/a.xml"), Some((LookupOutcome::Found("sitemap"), _))));
    assert!(matches!(
        outcome(&found, "/odd-name.xml"),
        Some((LookupOutcome::Found("ARC sitemap"), _))
    ));
    assert!(matches!(outcome(&found, "/list.txt"), Some((LookupOutcome::Found("sitemap"), _))));
    assert!(matches!(outcome(&found, "/zip.xml.gz"), Some((LookupOutcome::Found("sitemap"), _))));
    assert_eq!(outcome(&found, "/gone.xml").unwrap().0, &LookupOutcome::Absent(404));
    assert!(matches!(outcome(&found, "/page.xml"), Some((LookupOutcome::Other(_), _))));
    let foreign = found.lookups.iter().find(|look| look.url.contains("elsewhere")).unwrap();
    assert!(matches!(foreign.outcome, LookupOutcome::Refused(_)));
    assert_eq!(found.offer.sitemaps.iter().map(|map| map.n_urls).sum::<u64>(), 4);
    assert_eq!(found.offer.arc.as_ref().unwrap().source, DiscoverySource::SitemapLine);
    let mut seen = codes(&found);
    seen.sort_unstable();
    assert_eq!(seen, ["DC001", "DC001", "DC001", "RB005"]);
    // The file is requested once, regardless of the number of announcements.
    assert_eq!(site.server.paths().iter().filter(|path| *path == "/a.xml").count(), 1);
}

#[tokio::test] // B13
async fn bounds_the_number_of_sitemap_lines() {
    let site = TestSite::new();
    let lines: Vec<String> =
        (0..10_000).map(|n| format!("Sitemap: http://harbour.example/{n}.xml\n")).collect();
    site.robots(&lines.concat());
    let found = site.discover().await;
    assert!(codes(&found).contains(&"DC002"));
    assert!(site.server.seen().len() < 40, "{}", site.server.seen().len());
}

#[tokio::test] // B05, D17
async fn reports_cyclic_and_deep_indexes() {
    let site = TestSite::new();
    site.xml("/sitemap.xml", &index(&["/sitemap.xml", "/b.xml", "/leaf.xml"]))
        .xml("/b.xml", &index(&["/sitemap.xml", "/c.xml"]))
        .xml("/c.xml", &index(&["/d.xml"]))
        .xml("/d.xml", &index(&["/e.xml"]))
        .xml("/leaf.xml", &urlset(&entry("/a")));
    let found = site.discover().await;
    assert_eq!(found.offer.sitemaps.len(), 1);
    assert_eq!(codes(&found), vec!["DC003"; 3]);
    assert!(!site.server.paths().contains(&"/d.xml".to_owned()));
    // 60,000 children.
    let site = TestSite::new();
    let names: Vec<String> = (0..60_000).map(|n| format!("/{n}.xml")).collect();
    let children: Vec<&str> = names.iter().map(String::as_str).collect();
    site.xml("/sitemap.xml", &index(&children)).server.fallback(Reply::status(404));
    let found = site.discover().await;
    assert!(codes(&found).contains(&"DC002"));
    assert!(site.server.seen().len() < 40, "{}", site.server.seen().len());
}

#[tokio::test] // D17
async fn stops_at_the_first_child_with_adverts() {
    let site = TestSite::new();
    let advert = collection("http://harbour.example/all.scp", "2026-12-01T00:00:00Z");
    site.xml("/sitemap.xml", &index(&["/1.xml", "/2.xml"]))
        .xml("/1.xml", &urlset(&format!("{advert}{}", entry("/a"))))
        .xml("/2.xml", &urlset(&entry("/b")));
    assert_eq!(site.discover().await.offer.scp.collections.len(), 1);
    assert!(!site.server.paths().contains(&"/2.xml".to_owned()));
    let all =
        site.discover_within(&DiscoveryCache::default(), DiscoveryLimits::FULL).await.unwrap();
    assert_eq!(all.offer.sitemaps.len(), 2);
}

#[tokio::test] // B01 B03
async fn handles_invalid_sitemaps() {
    let site = TestSite::new();
    let cut = urlset(&format!("{}{}", entry("/a"), entry("/b")));
    let (cut, _) = cut.split_at(cut.len() - 20);
    site.xml("/sitemap.xml", cut);
    let found = site.discover().await;
    assert!(found.offer.sitemaps[0].is_truncated);
    assert!(codes(&found).contains(&"SM006"), "{:?}", found.findings);
    let site = TestSite::new();
    let evil = "<!DOCTYPE urlset [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>";
    site.xml("/sitemap.xml", &format!("{evil}{}", urlset(&entry("/&a;"))));
    let found = site.discover().await;
    assert_eq!(found.offer.sitemaps, []);
    assert!(!codes(&found).is_empty());
}

/// The five sources of the SPXI index, one at a time.
#[tokio::test] // SPX-044 SPX-057 SPX-058 SPX-060 SPX-062
async fn finds_the_spxi_index_by_every_source() {
    let link = "<url><loc>http://harbour.example/a</loc><xhtml:link rel=\"alternate\" \
                hreflang=\"X-SPXI\" href=\"http://harbour.example/deep/spxi-index.jsonld\"/></url>";
    let head = "<link rel=\"alternate\" type=\"application/ld+json\" href=\"/other.jsonld\">\
                <link rel=\"alternate\" type=\"application/ld+json\" href=\"/deep/spxi-index.jsonld\">";
    let agents = "user-agent: GPTBot\nallow: /spxi-index.jsonld\n";
    let mention = "# Harbour\n\nRead [the index](/deep/spxi-index.jsonld) first.\n";
    for (by, place) in [
        (DiscoverySource::AllowLine, "/spxi-index.jsonld"),
        (DiscoverySource::SitemapLink, "/deep/spxi-index.jsonld"),
        (DiscoverySource::HeadLink, "/deep/spxi-index.jsonld"),
        (DiscoverySource::LlmsTxt, "/deep/spxi-index.jsonld"),
        (DiscoverySource::DefaultPath, "/spxi-index.jsonld"),
        (DiscoverySource::WellKnown, "/.well-known/spxi-index.jsonld"),
    ] {
        let site = TestSite::new();
        match by {
            DiscoverySource::AllowLine => {
                site.robots(agents);
            }
            DiscoverySource::SitemapLink => {
                site.xml("/sitemap.xml", &urlset(link));
            }
            DiscoverySource::HeadLink => {
                site.file("/", "text/html", head);
            }
            DiscoverySource::LlmsTxt => {
                site.file("/llms.txt", "text/plain", mention);
            }
            _ => {}
        }
        site.file(place, "application/ld+json", spxi());
        let found = site.discover().await;
        let offer = found.offer.spxi.as_ref().unwrap();
        assert!(offer.url.ends_with(place), "{by:?}");
        assert_eq!(offer.source, [by]);
    }
    // All of them together are all reported.
    let site = TestSite::new();
    let index = "http://harbour.example/spxi-index.jsonld";
    site.robots(agents)
        .xml("/sitemap.xml", &urlset(&link.replace("/deep", "")))
        .file("/", "text/html", &head.replace("/deep", ""))
        .file("/llms.txt", "text/plain", &format!("# H\n\n`{index}`\n"))
        .file("/spxi-index.jsonld", "application/ld+json", spxi());
    let offer = site.discover().await.offer.spxi.unwrap();
    assert_eq!(
        offer.source,
        [
            DiscoverySource::AllowLine,
            DiscoverySource::SitemapLink,
            DiscoverySource::HeadLink,
            DiscoverySource::LlmsTxt
        ]
    );
}

#[tokio::test] // SPX-057 D80
async fn allow_line_of_another_group_does_not_override_disallow() {
    let site = TestSite::new();
    site.robots(
        "user-agent: GPTBot\nallow: /spxi-index.jsonld\n\nuser-agent: *\ndisallow: /spxi\n",
    )
    .file("/spxi-index.jsonld", "application/ld+json", spxi());
    let found = site.discover().await;
    assert!(matches!(
        outcome(&found, "/spxi-index.jsonld"),
        Some((LookupOutcome::Refused(_), DiscoverySource::AllowLine))
    ));
    assert_eq!(found.offer.spxi, None);
    assert!(!site.server.paths().contains(&"/spxi-index.jsonld".to_owned()));
}

#[tokio::test] // ARC-032 ARC-036 ARC-062 D53 D54
async fn finds_the_arc_sitemap_by_every_source() {
    let pointer = r#"<script type="application/ld+json">{"@context":"https://schema.org","@type":"Dataset",
        "name":"ARC Sitemap","distribution":[{"@type":"DataDownload","encodingFormat":"application/json",
        "contentUrl":"http://harbour.example/deep/arc.json"}]}</script>"#;
    for (by, place) in [
        (DiscoverySource::SitemapLine, "/deep/arc.json"),
        (DiscoverySource::JsonLd, "/deep/arc.json"),
        (DiscoverySource::DefaultPath, "/arc-sitemap.json"),
        (DiscoverySource::WellKnown, "/.well-known/arc-sitemap.json"),
    ] {
        let site = TestSite::new();
        match by {
            DiscoverySource::SitemapLine => {
                site.robots("Sitemap: http://harbour.example/deep/arc.json\n");
            }
            DiscoverySource::JsonLd => {
                site.file("/", "text/html", pointer);
            }
            _ => {}
        }
        site.file(place, "application/json", arc()).file(
            "/.well-known/arc-policy.json",
            "application/json",
            "{\"arc_policy_version\":\"2.1\"}",
        );
        let client = site.client();
        let url = rutter_fetch::Url::parse(super::SITE).unwrap();
        let cache = DiscoveryCache::default();
        let found =
            rutter_sync::discover::discover(&client, &url, &cache, DiscoveryLimits::BRIEF, &mut ())
                .await
                .unwrap();
        let offer = found.offer.arc.as_ref().unwrap();
        assert!(offer.url.ends_with(place) && offer.source == by, "{by:?}");
        assert_eq!((offer.parsed.pages, offer.parsed.open), (2, 1));
        assert!(found.offer.policy.is_some());
        // The crawl rate applies from here on.
        let seen = site.server.seen();
        let last = seen.last().unwrap().moment;
        let at = seen.iter().rposition(|seen| seen.path == place).unwrap();
        if at + 1 < seen.len() {
            assert!(seen[at].moment < last, "{by:?}");
        }
    }
    // Files that do not match the schema are ignored.
    for wrong in [
        "{\"arc_sitemap_version\":\"9.0\",\"pages\":[]}",
        "{\"arc_sitemap_version\":\"2.1\",\"pages\":{}}",
        "{\"arc_sitemap_version\":\"2.1\",\"pages\":[",
        "[]",
        "<!doctype html><title>Lost</title>",
    ] {
        let site = TestSite::new();
        site.file("/arc-sitemap.json", "application/json", wrong);
        assert_eq!(site.discover().await.offer.arc, None, "{wrong}");
    }
    // An invalid entry is not counted, and is reported.
    let site = TestSite::new();
    let entry = r#"{"url":"http://harbour.example/c","ai_indexable":"yes"},{"url":7}"#;
    let text = arc().replace("\"pages\":[", &format!("\"pages\":[{entry},"));
    site.file("/arc-sitemap.json", "application/json", &text);
    let found = site.discover().await;
    let said = &found.offer.arc.as_ref().unwrap().parsed;
    assert_eq!((said.pages, said.open), (3, 1));
    let codes = codes(&found);
    assert!(codes.contains(&"AR037") && 2 <= codes.len(), "{codes:?}");
}

#[tokio::test] // D74
async fn ignores_files_of_catch_all_hosts() {
    let site = TestSite::new();
    site.server
        .fallback(Reply::ok("text/html", "<title>Home</title><a href=/a>a</a>"))
        .route("/robots.txt", [Reply::status(404)]);
    let found = site.discover().await;
    assert!(codes(&found).contains(&"DC004"));
    assert_eq!((found.offer.arc, found.offer.spxi, found.offer.policy), (None, None, None));
    assert_eq!(found.offer.llms, None);
    // A real file on such a host is accepted.
    site.file("/arc-sitemap.json", "application/json", arc());
    assert!(site.discover().await.offer.arc.is_some());
}

#[tokio::test] // SCP-193 SCP-198 SCP-199 D13
async fn reports_collections_on_other_hosts() {
    let site = TestSite::new();
    let there = collection("https://elsewhere.example/all.scp", "2026-12-01T00:00:00Z");
    site.xml("/sitemap.xml", &urlset(&format!("{there}{}", entry("/a"))));
    let found = site.discover().await;
    assert!(!found.offer.scp.collections[0].files[0].is_allowed);
    assert_eq!(codes(&found), ["DC005"]);
    let now = rutter_page::Timestamp::parse("2027-01-01T00:00:00Z").unwrap();
    assert_eq!(found.offer.choose_method(now).0, AccessMethod::Sitemap);
    // No request was sent to it.
    assert_eq!(site.names.asked().iter().filter(|name| name.contains("elsewhere")).count(), 0);
}

#[tokio::test]
async fn reports_missing_announced_file() {
    let site = TestSite::new();
    site.robots("user-agent: *\nallow: /spxi-index.jsonld\n").file(
        "/spxi-index.jsonld",
        "application/ld+json",
        "{\"@type\":\"Person\"}",
    );
    let found = site.discover().await;
    assert!(codes(&found).contains(&"DC006"));
    assert_eq!(found.offer.spxi, None);
}

#[tokio::test] // B14
async fn reports_malformed_adverts() {
    let site = TestSite::new();
    let good = collection("http://harbour.example/all.scp", "2026-12-01T00:00:00Z");
    let bad = |from: &str, to: &str| good.replace(from, to);
    let inner = [
        bad("size=\"1000\"", "size=\"-1\""),
        bad("pages=\"5\"", "pages=\"~5000\""),
        bad("size=\"1000\"", "size=\"1000000000000000000000000000000\""),
        bad("type=\"snapshot\"", "type=\"other\""),
        "<scp:future/>".to_owned(),
    ];
    site.xml("/sitemap.xml", &urlset(&format!("{}{}", inner.concat(), entry("/a"))));
    let found = site.discover().await;
    assert_eq!(found.offer.scp.collections, []);
    assert_eq!(codes(&found), ["SC067", "SC067", "SC067", "SC067", "SC068"]);
}

#[tokio::test] // D17
async fn reports_reached_byte_limit() {
    let site = TestSite::new();
    let sitemap = urlset(&entry("/a"));
    site.xml("/sitemap.xml", &sitemap);
    let bounds = DiscoveryLimits { bytes: sitemap.len() as u64, ..DiscoveryLimits::BRIEF };
    let found = site.discover_within(&DiscoveryCache::default(), bounds).await.unwrap();
    assert!(codes(&found).contains(&"DC007"), "{:?}", found.findings);
}
