//! Clauses for publishers, checked in the files of a build and without the readers of this project
//! where possible.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;
use rutter_page::Timestamp;
use rutter_scp::advert::UpdateFrequency;
use serde_json::Value;

use crate::site::{BASE, Site, page, words};

/// Returns the lines of every gzip collection by name.
fn collections(site: &Site) -> Vec<(String, Vec<Value>)> {
    let all = site.files().into_iter().filter(|(name, _)| name.ends_with(".scp.gz"));
    all.map(|(name, bytes)| {
        let mut text = String::new();
        GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        (name, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    })
    .collect()
}

/// Returns the start tags of one kind of `scp:` element in the sitemap.
fn elements(site: &Site, name: &str) -> Vec<String> {
    let text = fs::read_to_string(site.path("out/sitemap.xml")).unwrap();
    let start = format!("<scp:{name} ");
    text.lines().filter(|line| line.starts_with(&start)).map(str::to_owned).collect()
}

fn attribute(element: &str, name: &str) -> String {
    let (_, rest) = element.split_once(&format!(" {name}=\"")).unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

#[test] // SCP-009 SCP-010 SCP-011 SCP-012 SCP-013 SCP-014 SCP-016 SCP-018 SCP-031
fn line_1_of_every_published_collection_is_complete() {
    let mut site = Site::of(60);
    for round in 0..3 {
        site.put("docs/0002.html", &page("Home", "Page 2", &words(4000 + round)));
        site.build();
    }
    let all = collections(&site);
    // Four sections, with two deltas for `all` and `docs`.
    let deltas = all.iter().filter(|(name, _)| name.contains("-delta-"));
    assert_eq!(deltas.count(), 4);
    assert!(8 <= all.len(), "{:?}", all.iter().map(|(name, _)| name).collect::<Vec<_>>());
    let mut ids = BTreeSet::new();
    for (name, lines) in &all {
        let collection = &lines[0]["collection"];
        let text = |member: &str| collection[member].as_str().unwrap_or_default().to_owned();
        let id = text("id");
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        assert!(!id.is_empty() && id.bytes().all(is_id), "{name}: {id}");
        assert!(ids.insert(id.clone()), "two collections are called {id}");
        assert!(["all", "blog", "docs", "main"].contains(&&*text("section")), "{name}");
        assert_eq!(text("version"), "0.1", "{name}");
        assert!(text("checksum").starts_with("sha256:"), "{name}");
        let generated = Timestamp::parse(&text("generated")).unwrap();
        assert!(generated <= site.now, "{name}");
        let since = collection.get("since").map(|since| since.as_str().unwrap());
        let kind = text("type");
        assert_eq!(name.contains("-delta-"), kind == "delta", "{name}");
        assert!(kind == "delta" || kind == "snapshot", "{name}: {kind}");
        assert_eq!(since.is_some(), kind == "delta", "{name}");
        assert!(since.is_none_or(|since| Timestamp::parse(since).unwrap() < generated), "{name}");
    }
}

#[test] // SCP-032 SCP-033 SCP-034 SCP-035 SCP-036 SCP-037 SCP-038 SCP-039 SCP-041
fn every_published_page_is_complete() {
    let mut site = Site::of(4);
    let head = "<meta name=\"author\" content=\"Ada Pilot\"><link rel=\"canonical\" \
        href=\"https://harbour.example/full.html\">\
        <meta property=\"article:published_time\" content=\"2026-01-02T03:04:05Z\">";
    let body = "<p>First the lamp was lit.</p><h2>Later</h2><p>Then the fog came in.</p>\
        <ul><li>One horn</li><li>Two bells</li></ul><p>Last of all the boats.</p>";
    let full = page("Home", "Full", &words(7))
        .replace("</head>", &format!("{head}</head>"))
        .replace("</main>", &format!("{body}</main>"));
    site.put("full.html", &full);
    // A page with almost no metadata.
    site.put("bare.html", &format!("<p>{}</p>", words(77)));
    site.build_with(|plan| plan.language = rutter_page::LanguageTag::parse("en")).unwrap();
    let mut n_pages = 0;
    for (name, lines) in collections(&site) {
        for line in &lines[1..] {
            n_pages += 1;
            let text = |member: &str| line[member].as_str().unwrap_or_default();
            assert!(text("url").starts_with(BASE), "{name}: {line}");
            assert!(!text("title").is_empty() && !text("description").is_empty(), "{line}");
            assert!(Timestamp::parse(text("modified")).unwrap() <= site.now, "{line}");
            assert_eq!(text("language"), "en", "{line}");
            assert!(!line["content"].as_array().unwrap().is_empty(), "{line}");
        }
    }
    assert_eq!(n_pages, 7);
    let all = collections(&site).into_iter().find(|(name, _)| name.contains("all-")).unwrap().1;
    let full = all.iter().find(|line| line["url"] == format!("{BASE}full.html")).unwrap();
    assert_eq!(full["author"], "Ada Pilot");
    assert_eq!(full["published"], "2026-01-02T03:04:05Z");
    assert!(full.get("canonical").is_none_or(|it| it == &format!("{BASE}full.html")));
    // Blocks are in reading order.
    let text = full["content"].to_string();
    let places: Vec<usize> = ["First the", "Later", "Then the", "One horn", "Two bells", "Last of"]
        .iter()
        .map(|part| text.find(part).unwrap())
        .collect();
    assert!(places.is_sorted(), "{text}");
}

#[test] // SCP-105 SCP-109 SCP-142
fn collections_are_whole_sections_and_every_one_is_announced() {
    let mut site = Site::of(60);
    site.build();
    site.put("docs/0002.html", &page("Home", "Page 2", &words(5000)));
    site.build();
    // Each file is announced once, and each announced file exists.
    let adverts = [elements(&site, "collection"), elements(&site, "delta")];
    let mut announced: Vec<String> = adverts
        .iter()
        .flatten()
        .map(|it| attribute(it, "url").strip_prefix(BASE).unwrap().to_owned())
        .collect();
    announced.sort();
    let files = site.files();
    let mut there: Vec<&String> = files.keys().filter(|name| name.contains(".scp")).collect();
    there.sort();
    assert_eq!(there, announced.iter().collect::<Vec<_>>());
    assert_eq!(adverts.each_ref().map(Vec::len), [8, 4], "a file for each section and coding");
    // One element per section with the number of its pages.
    let sections: Vec<(String, String)> = elements(&site, "section")
        .iter()
        .map(|it| (attribute(it, "name"), attribute(it, "pages")))
        .collect();
    let wanted = [("blog", "30"), ("docs", "30"), ("main", "1"), ("all", "61")];
    assert_eq!(sections, wanted.map(|(name, n)| (name.to_owned(), n.to_owned())));
    // No file holds a single page: the first snapshots hold whole sections.
    for (name, lines) in collections(&site).iter().filter(|(name, _)| !name.contains("-delta-")) {
        let section = lines[0]["collection"]["section"].as_str().unwrap();
        let n_pages = wanted.iter().find(|(name, _)| *name == section).unwrap().1;
        assert_eq!((lines.len() - 1).to_string(), n_pages, "{name}");
    }
}

#[test] // SCP-123 SCP-129 D29
fn period_of_a_delta_names_its_span() {
    for (update, wanted) in [
        (UpdateFrequency::Hourly, "2026-05-01T14"),
        (UpdateFrequency::Daily, "2026-05-01"),
        (UpdateFrequency::Weekly, "2026-W18"),
        (UpdateFrequency::Monthly, "2026-05"),
    ] {
        let mut site = Site::of(4);
        site.build_with(|plan| plan.update = update).unwrap();
        site.put("docs/0002.html", &page("Home", "Page 2", &words(5000)));
        site.build_with(|plan| plan.update = update).unwrap();
        let deltas = elements(&site, "delta");
        assert!(!deltas.is_empty());
        for delta in deltas {
            assert_eq!(attribute(&delta, "period"), wanted, "{update:?}");
        }
        for section in elements(&site, "section") {
            assert_eq!(attribute(&section, "updateFreq"), update.name());
        }
    }
}

/// Returns a page with a unique text and additional head elements.
fn secret(head: &str, n: usize) -> String {
    page("Home", "Kestrel", &format!("The kestrel file. {}", words(n)))
        .replace("</head>", &format!("{head}</head>"))
}

#[test] // SCP-169 SCP-170 SCP-173 SCP-174 SCP-175
fn pages_that_are_not_public_leave_no_trace_in_any_build() {
    let hidden = [
        ("draft.html", "<meta name=\"draft\" content=\"true\">"),
        (
            "later.html",
            "<meta property=\"article:published_time\" content=\"2030-01-01T00:00:00Z\">",
        ),
        ("noindex.html", "<meta name=\"robots\" content=\"noindex\">"),
        ("members/list.html", ""),
        ("staging/new.html", ""),
        ("gone.html", "<meta http-equiv=\"refresh\" content=\"0; url=/\">"),
    ];
    let mut site = Site::of(8);
    let robots = "User-agent: *\nDisallow: /staging/\n";
    site.put("robots.txt", robots);
    let put = |site: &Site, round: usize| {
        for (n, (name, head)) in hidden.iter().enumerate() {
            site.put(name, &secret(head, 100 * round + n));
        }
    };
    let build = |site: &mut Site| {
        site.build_with(|plan| plan.restricted = vec!["/members/".to_owned()]).unwrap().0
    };
    put(&site, 1);
    let outcome = build(&mut site);
    assert_eq!((outcome.pages, outcome.excluded.iter().map(|why| why.pages).sum()), (9, 6_u64));
    let assert_no_trace =
        |site: &Site| {
            for (name, lines) in collections(site) {
                let text = Value::from(lines).to_string();
                assert!(!text.contains("kestrel") && !text.contains("Kestrel"), "{name}");
                for (path, _) in hidden {
                    assert!(!text.contains(path), "{path} in {name}");
                }
            }
            for name in ["sitemap.xml", "llms.txt"] {
                let text = String::from_utf8(site.files()[name].clone()).unwrap();
                for (path, _) in hidden {
                    let stem = path.strip_suffix(".html").unwrap();
                    assert!(!text.contains(stem), "{path} in {name}");
                }
            }
            assert!(!site.files().keys().any(|name| {
                hidden.iter().any(|(path, _)| *name == path.replace(".html", ".md"))
            }));
        };
    assert_no_trace(&site);
    // The rule of the site owner still excludes such pages from crawling.
    let published = String::from_utf8(site.files()["robots.txt"].clone()).unwrap();
    let published = rutter_robots::RobotsTxt::parse(published.as_bytes());
    assert!(!published.is_allowed("AnyBot", "/staging/new.html"));
    assert!(published.is_allowed("AnyBot", "/docs/0002.html"));
    // Changes of drafts produce no delta, and do not show in the delta of another edit.
    put(&site, 2);
    build(&mut site);
    assert!(!collections(&site).iter().any(|(name, _)| name.contains("-delta-")));
    put(&site, 3);
    site.put("docs/0002.html", &page("Home", "Page 2", &words(5000)));
    build(&mut site);
    let deltas: Vec<Vec<Value>> = collections(&site)
        .into_iter()
        .filter(|(name, _)| name.contains("-delta-"))
        .map(|(_, lines)| lines)
        .collect();
    assert_eq!(deltas.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
    assert_no_trace(&site);
    // A deleted draft leaves no trace.
    site.remove("draft.html");
    site.put("docs/0002.html", &page("Home", "Page 2", &words(5001)));
    build(&mut site);
    assert_no_trace(&site);
}
