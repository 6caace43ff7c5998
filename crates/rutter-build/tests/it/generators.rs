//! Sites in the forms that generators produce: their URLs and their own sitemaps.
//!
//! `cargo xtask generators` builds sites with the real generators; the forms here are copied from
//! those.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};

use rutter_build::{BuildPlan, Generator};
use rutter_sitemap::{ChangeFreq, SitemapEntry, SitemapItem, SitemapLimits, SitemapReader};

use crate::site::{BASE, Site, files, page, read_sitemap, words};

/// Sets the plan to build in the site's own folder.
fn in_place(name: &'static str) -> impl Fn(&mut BuildPlan) {
    move |plan| {
        plan.out = None;
        let generator = Generator { name: name.to_owned(), root: None, sources: Vec::new() };
        plan.generator = (!name.is_empty()).then_some(generator);
    }
}

/// Returns a site with these files, each with a unique text.
fn site_of(paths: &[&str], canonical: Option<&dyn Fn(&str) -> String>) -> Site {
    let site = Site::new();
    for (n, path) in paths.iter().enumerate() {
        let mut text = page("Home", &format!("Page {path}"), &words(100 + n));
        if let Some(canonical) = canonical {
            let link = format!("<link rel=\"canonical\" href=\"{}\"></head>", canonical(path));
            text = text.replace("</head>", &link);
        }
        site.put(path, &text);
    }
    site
}

fn urlset(entries: &[String]) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" \
         xmlns:xhtml=\"http://www.w3.org/1999/xhtml\" \
         xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\">{}</urlset>\n",
        entries.concat()
    )
}

fn loc(path: &str) -> String {
    format!("<url><loc>{BASE}{path}</loc></url>")
}

fn gzip(text: &str) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(text.as_bytes()).unwrap();
    out.finish().unwrap()
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut text).unwrap();
    text
}

fn locs(entries: &[SitemapEntry]) -> BTreeSet<String> {
    entries.iter().filter_map(|entry| entry.loc.strip_prefix(BASE)).map(str::to_owned).collect()
}

fn names(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

/// Returns the children of an index by path, with their dates.
fn children(site: &Site, name: &str) -> Vec<(String, Option<String>)> {
    let text = fs::read(site.path("site").join(name)).unwrap();
    let mut reader = SitemapReader::new(text.as_slice(), SitemapLimits::USUAL);
    let mut found = Vec::new();
    while let Some(item) = reader.next(&mut ()).unwrap() {
        if let SitemapItem::Child(child) = item {
            let path = child.loc.strip_prefix(BASE).unwrap().to_owned();
            found.push((path, child.lastmod.map(|date| date.to_string())));
        }
    }
    found
}

const FOLDERS: [&str; 4] =
    ["index.html", "install/index.html", "guide/tides/index.html", "api/index.html"];

#[test] // MkDocs: sitemap.xml and its .gz
fn replaces_generated_sitemap_and_gzip_and_keeps_entries() {
    let mut site = site_of(&FOLDERS, None);
    let image = "<image:image><image:loc>https://harbour.example/a.png</image:loc></image:image>";
    let link =
        "<xhtml:link rel=\"alternate\" hreflang=\"de\" href=\"https://harbour.example/de/\"/>";
    let theirs = urlset(&[
        format!(
            "<url><loc>{BASE}</loc><changefreq>daily</changefreq><priority>0.9</priority>{link}</url>"
        ),
        format!("<url><loc>{BASE}install/</loc><lastmod>2026-01-02</lastmod>{image}</url>"),
        loc("guide/tides/"),
        loc("api/"),
    ]);
    site.put("sitemap.xml", &theirs);
    fs::write(site.path("site/sitemap.xml.gz"), gzip(&theirs)).unwrap();
    let (_, events) = site.build_with(in_place("MkDocs")).unwrap();
    assert!(events.codes("sitemap.xml").is_empty(), "{:?}", events.findings);
    let check = |site: &Site| {
        let made = files(&site.path("site"));
        assert!(!made.contains_key("sitemap-rutter.xml"));
        assert_eq!(gunzip(&made["sitemap.xml.gz"]), made["sitemap.xml"]);
        let (entries, offers) = read_sitemap(&site.path("site/sitemap.xml"));
        assert!(!offers.is_empty());
        assert_eq!(locs(&entries), names(&["", "install/", "guide/tides/", "api/"]));
        let of = |path: &str| entries.iter().find(|it| it.loc == format!("{BASE}{path}")).unwrap();
        assert_eq!(of("").changefreq, Some(ChangeFreq::Daily));
        assert_eq!(of("").priority, Some(0.9));
        assert_eq!(of("").alternates[0].hreflang, "de");
        assert!(of("install/").extensions[0].contains("a.png"));
        let robots = String::from_utf8(made["robots.txt"].clone()).unwrap();
        assert_eq!(robots.matches("/sitemap").count(), 1, "{robots}");
    };
    check(&site);
    // A build without a new run of the generator changes nothing and keeps the entries.
    let before = files(&site.path("site"));
    assert!(site.build_with(in_place("MkDocs")).unwrap().0.is_unchanged());
    assert_eq!(files(&site.path("site")), before);
    site.put("api/index.html", &page("Home", "Changed", &words(900)));
    site.build_with(in_place("MkDocs")).unwrap();
    check(&site);
    // After a new run of the generator, its sitemap is read again.
    site.put("sitemap.xml", &theirs.replace("<priority>0.9", "<priority>0.2"));
    site.build_with(in_place("MkDocs")).unwrap();
    let (entries, _) = read_sitemap(&site.path("site/sitemap.xml"));
    assert_eq!(entries[0].priority, Some(0.2));
}

#[test]
fn keeps_sitemap_with_foreign_urls_and_names_both_in_an_index() {
    let mut site = site_of(&FOLDERS, None);
    let theirs = urlset(&[loc(""), loc("shop/42")]);
    site.put("sitemap.xml", &theirs);
    let (_, events) = site.build_with(in_place("MkDocs")).unwrap();
    let (_, _, detail) = events.findings.iter().find(|it| it.0 == "sitemap.xml").unwrap();
    assert!(detail.contains("shop/42") && detail.contains("sitemap-rutter.xml"), "{detail}");
    let made = files(&site.path("site"));
    assert_eq!(made["sitemap.xml"], theirs.as_bytes());
    let index = children(&site, "sitemap-rutter.xml");
    let names: Vec<&str> = index.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["sitemap-rutter-1.xml", "sitemap.xml"]);
    let (entries, offers) = read_sitemap(&site.path("site/sitemap-rutter-1.xml"));
    assert_eq!((entries.len(), offers.is_empty()), (4, false));
    let robots = String::from_utf8(made["robots.txt"].clone()).unwrap();
    for name in ["sitemap-rutter.xml", "sitemap.xml"] {
        assert!(robots.contains(&format!("Sitemap: {BASE}{name}\n")), "{robots}");
    }
    assert!(site.build_with(in_place("MkDocs")).unwrap().0.is_unchanged());
    // In a separate folder nothing of it is lost either.
    site.build();
    assert_eq!(site.files()["sitemap.xml"], theirs.as_bytes());
    assert!(site.files().contains_key("sitemap-rutter.xml"));
}

#[test]
fn keeps_sitemap_of_unknown_generator_in_its_own_folder_only() {
    let mut site = site_of(&FOLDERS, None);
    let theirs = urlset(&[loc(""), loc("install/"), loc("guide/tides/"), loc("api/")]);
    site.put("sitemap.xml", &theirs);
    let (_, events) = site.build_with(in_place("")).unwrap();
    assert_eq!(events.codes("sitemap.xml"), ["BD003"]);
    assert_eq!(files(&site.path("site"))["sitemap.xml"], theirs.as_bytes());
    // In a separate output folder the sitemap is replaced.
    let (_, events) = site.build_with(|_| {}).unwrap();
    assert!(events.codes("sitemap.xml").is_empty());
    assert!(!site.files().contains_key("sitemap-rutter.xml"));
}

#[test] // Astro: an index with a child
fn replaces_generated_index_and_removes_its_children() {
    let mut site = site_of(&FOLDERS, None);
    let index = format!(
        "<?xml version=\"1.0\"?><sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
         <sitemap><loc>{BASE}sitemap-0.xml</loc></sitemap></sitemapindex>"
    );
    site.put("sitemap-index.xml", &index);
    site.put(
        "sitemap-0.xml",
        &urlset(&[loc(""), loc("install/"), loc("guide/tides/"), loc("api/")]),
    );
    for out in [true, false] {
        let (_, events) = site
            .build_with(|plan| {
                in_place("Astro")(plan);
                plan.out = out.then(|| plan.site.with_file_name("out"));
            })
            .unwrap();
        assert!(events.codes("sitemap-index.xml").is_empty());
        let made = files(&site.path(if out { "out" } else { "site" }));
        assert!(!made.contains_key("sitemap-0.xml"), "{out}");
        assert!(made.contains_key("sitemap.xml"));
        let text = String::from_utf8(made["sitemap-index.xml"].clone()).unwrap();
        assert!(text.contains(&format!("<loc>{BASE}sitemap.xml</loc>")), "{text}");
    }
    assert!(site.build_with(in_place("Astro")).unwrap().0.is_unchanged());
}

#[test] // Docusaurus without a slash: `a/index.html` is `/a`
fn takes_urls_from_the_generators_sitemap() {
    for (name, paths, wanted) in [
        (
            "Docusaurus",
            &["index.html", "install/index.html", "guide/tides/index.html"][..],
            &["", "install", "guide/tides"][..],
        ),
        (
            "Docusaurus",
            &["index.html", "install.html", "guide/tides.html"],
            &["", "install", "guide/tides"],
        ),
        (
            "VitePress",
            &["index.html", "install.html", "guide/index.html"],
            &["", "install.html", "guide/"],
        ),
        (
            "Sphinx",
            &["index.html", "install.html", "guide/index.html"],
            &["index.html", "install.html", "guide/index.html"],
        ),
        (
            "Jekyll",
            &["index.html", "about/index.html", "2026/01/02/first.html"],
            &["", "about/", "2026/01/02/first.html"],
        ),
        // One page with an unusual URL.
        ("Eleventy", &["index.html", "a.html", "b.html", "c.html"], &["", "a", "b", "c.html"]),
    ] {
        let mut site = site_of(paths, None);
        let entries: Vec<String> = wanted.iter().map(|path| loc(path)).collect();
        site.put("sitemap.xml", &urlset(&entries));
        for _ in 0..2 {
            site.build_with(in_place(name)).unwrap();
            let (entries, _) = read_sitemap(&site.path("site/sitemap.xml"));
            assert_eq!(locs(&entries), names(wanted), "{name}");
        }
        let llms = fs::read_to_string(site.path("site/llms.txt")).unwrap();
        assert!(llms.starts_with("# Page index.html\n"), "{name}: {llms}");
        let arc = fs::read_to_string(site.path("site/arc-sitemap.json")).unwrap();
        for path in wanted {
            assert!(arc.contains(&format!("\"{BASE}{path}\"")), "{name}: {path}");
        }
    }
}

#[test]
fn takes_urls_from_canonical_links_that_agree() {
    let bare = |path: &str| {
        let path = path.trim_end_matches("index.html").trim_end_matches(".html");
        format!("{BASE}{}", path.trim_end_matches('/'))
    };
    let paths = ["index.html", "install/index.html", "guide/tides/index.html"];
    let mut site = site_of(&paths, Some(&bare));
    // An alias names another page and does not show its own URL.
    let alias = page("Home", "Alias", &words(77))
        .replace("</head>", &format!("<link rel=\"canonical\" href=\"{BASE}install\"></head>"));
    site.put("setup/index.html", &alias);
    site.build();
    let (entries, _) = site.sitemap();
    assert!(locs(&entries).is_superset(&names(&["", "install", "guide/tides"])));
    // A page with another form changes no published URL.
    let other = page("Home", "Other", &words(78))
        .replace("</head>", &format!("<link rel=\"canonical\" href=\"{BASE}other/\"></head>"));
    site.put("other/index.html", &other);
    site.build();
    let (entries, _) = site.sitemap();
    assert!(locs(&entries).is_superset(&names(&["", "install", "guide/tides", "other"])));
    // Without state and published files, such pages have the default URLs of their files.
    fs::remove_dir_all(site.path("state")).unwrap();
    fs::remove_dir_all(site.path("out")).unwrap();
    site.build();
    let (entries, _) = site.sitemap();
    assert!(locs(&entries).is_superset(&names(&["", "install/", "guide/tides/", "other/"])));
}

#[test]
fn dates_a_child_of_an_index_by_its_own_last_change() {
    let mut site = site_of(&FOLDERS, None);
    let dated = |text: String| {
        text.replace(
            "</head>",
            "<meta property=\"article:modified_time\" content=\"2026-01-02T03:04:05Z\"></head>",
        )
    };
    for (n, path) in FOLDERS.iter().enumerate() {
        site.put(path, &dated(page("Home", &format!("Page {path}"), &words(100 + n))));
    }
    site.put("sitemap.xml", &urlset(&[loc(""), loc("shop/42")]));
    site.build_with(in_place("Hugo")).unwrap();
    let first = site.now.to_string();
    let index = children(&site, "sitemap-rutter.xml");
    // The newest page is of January; the file was written now.
    assert_eq!(index[0], ("sitemap-rutter-1.xml".to_owned(), Some(first.clone())));
    assert_eq!(index[1], ("sitemap.xml".to_owned(), None));
    site.build_with(in_place("Hugo")).unwrap();
    assert_eq!(children(&site, "sitemap-rutter.xml"), index);
    // A removed page changes the file but no date in it.
    site.remove("api/index.html");
    site.put("sitemap.xml", &urlset(&[loc(""), loc("shop/43")]));
    site.build_with(in_place("Hugo")).unwrap();
    let now = Some(site.now.to_string());
    let index = children(&site, "sitemap-rutter.xml");
    assert_eq!(
        index,
        [("sitemap-rutter-1.xml".to_owned(), now.clone()), ("sitemap.xml".to_owned(), now)]
    );
    assert_ne!(index[0].1, Some(first));
}

#[cfg(unix)]
#[test]
fn sitemaps_behind_a_symlink_are_neither_read_nor_removed() {
    let mut site = Site::of(4);
    let shared = site.path("shared");
    fs::create_dir(&shared).unwrap();
    let head = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
    let listed = format!("<urlset {head}><url><loc>{BASE}docs/0002.html</loc></url></urlset>");
    fs::write(shared.join("one.xml"), &listed).unwrap();
    std::os::unix::fs::symlink(&shared, site.path("site/maps")).unwrap();
    let child = format!("<sitemap><loc>{BASE}maps/one.xml</loc></sitemap>");
    site.put("sitemap.xml", &format!("<sitemapindex {head}>{child}</sitemapindex>"));
    // If the sitemap is replaced on request, the part behind the link is not changed.
    site.build_with(|plan| {
        plan.out = None;
        plan.replace = vec!["sitemap.xml".to_owned()];
    })
    .unwrap();
    assert_eq!(fs::read_to_string(shared.join("one.xml")).unwrap(), listed);
    for (name, bytes) in files(&site.path("state")) {
        assert_ne!(bytes, listed.as_bytes(), "{name}");
    }
}

#[test]
fn keeps_a_foreign_sitemap_that_announces_collections() {
    let mut site = Site::of(4);
    let scp = format!("<urlset xmlns:scp=\"{}\" ", rutter_scp::advert::NAMESPACE);
    let version = "<scp:version>0.1</scp:version>".to_owned();
    let foreign = urlset(&[version, loc("docs/0002.html")]).replace("<urlset ", &scp);
    site.put("sitemap.xml", &foreign);
    let (_, events) = site.build_with(in_place("")).unwrap();
    assert_eq!(fs::read_to_string(site.path("site/sitemap.xml")).unwrap(), foreign);
    assert_eq!(events.codes("sitemap.xml"), ["BD003"]);
    assert!(site.path("site/sitemap-rutter.xml").exists());
}

#[test]
fn keeps_generated_sitemap_if_rutters_cannot_be_published() {
    let mut site = Site::of(1001);
    let docs =
        (0..1001).map(|n| format!("{}/{n:04}.html", if n % 2 == 0 { "docs" } else { "blog" }));
    let entries: Vec<String> =
        std::iter::once(loc("")).chain(docs.map(|path| loc(&path))).collect();
    let theirs = urlset(&entries);
    site.put("sitemap.xml", &theirs);
    site.put("sitemap-2.xml", "the owner's");
    let (_, events) = site.build_with(in_place("Hugo")).unwrap();
    assert_eq!(events.codes("sitemap-2.xml"), ["BD003"]);
    assert_eq!(fs::read_to_string(site.path("site/sitemap.xml")).unwrap(), theirs);
    assert_eq!(fs::read_to_string(site.path("site/sitemap-2.xml")).unwrap(), "the owner's");
}
