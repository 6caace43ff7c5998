//! Blocks in files of the site owner, links in heads, and header files.

use std::fs;

use rutter_build::{BaseUrl, HostKind};

use crate::site::{Site, page, words};

#[test] // D81 D83
fn inserting_links_changes_nothing_else() {
    let mut site = Site::of(8);
    site.put("odd.html", "<p>No head here, but a sentence that is long enough to be read.");
    let before = crate::site::files(&site.path("site"));
    let inject = |plan: &mut rutter_build::BuildPlan| {
        plan.out = None;
        plan.layers.inject = true;
    };
    let (outcome, events) = site.build_with(inject).unwrap();
    assert_eq!(outcome.pages, 10);
    assert_eq!(events.codes("odd.html").last(), Some(&"BD010"));
    let text = fs::read_to_string(site.path("site/docs/0002.html")).unwrap();
    assert!(
        text.contains("<link rel=\"alternate\" type=\"text/markdown\" href=\"/docs/0002.md\">")
    );
    assert!(text.contains("<link rel=\"describedby\" href=\"/llms.txt\">"));
    let (start, end) =
        (text.find("<!-- rutter:begin").unwrap(), text.find("end -->\n").unwrap() + 8);
    let without = format!("{}{}", &text[..start], &text[end..]);
    assert_eq!(without.as_bytes(), before["docs/0002.html"]);
    // A second build writes nothing, and no page has changed.
    let files = crate::site::files(&site.path("site"));
    let (outcome, _) = site.build_with(inject).unwrap();
    assert_eq!((outcome.changed, outcome.read), (0, 0));
    assert_eq!(crate::site::files(&site.path("site")), files);
}

#[test] // D81
fn links_are_removed_when_the_setting_is_off() {
    let mut site = Site::of(8);
    site.put("own.html", &page("Home", "Own", &words(900)).replace("</title>", "</title>\n\n\r\n"));
    let before = crate::site::files(&site.path("site"));
    let inject = |wanted: bool| {
        move |plan: &mut rutter_build::BuildPlan| {
            plan.out = None;
            plan.layers.inject = wanted;
        }
    };
    site.build_with(inject(true)).unwrap();
    // The generator has written one of them again meanwhile.
    site.put("docs/0004.html", &page("Home", "Page 4", &words(4004)));
    // The links are also removed from a page that is no longer public.
    let hidden = page("Home", "Page 6", &words(6))
        .replace("<title>", "<meta name=\"robots\" content=\"noindex\"><title>");
    let text = fs::read_to_string(site.path("site/docs/0006.html")).unwrap();
    site.put(
        "docs/0006.html",
        &text.replace("<title>", "<meta name=\"robots\" content=\"noindex\"><title>"),
    );
    site.build_with(inject(true)).unwrap();
    assert_eq!(fs::read_to_string(site.path("site/docs/0006.html")).unwrap(), hidden);

    let (outcome, _) = site.build_with(inject(false)).unwrap();
    assert_eq!((outcome.changed, outcome.removed), (0, 0));
    let after = crate::site::files(&site.path("site"));
    for (name, bytes) in &before {
        match name.as_str() {
            "docs/0004.html" => {
                assert_eq!(after[name], page("Home", "Page 4", &words(4004)).as_bytes());
            }
            "docs/0006.html" => assert_eq!(after[name], hidden.as_bytes()),
            _ => assert_eq!(after[name], *bytes, "{name}"),
        }
    }
    assert!(site.build_with(inject(false)).unwrap().0.is_unchanged());
}

#[cfg(unix)]
#[test] // D81
fn symlinks_of_the_site_owner_are_kept() {
    use std::os::unix::fs::symlink;
    let mut site = Site::of(4);
    let shared = site.path("site/shared");
    fs::create_dir(&shared).unwrap();
    let text = page("Home", "Shared", &words(77));
    fs::write(shared.join("page.html"), &text).unwrap();
    fs::write(shared.join("robots.txt"), "User-agent: *\nDisallow: /shop/\n").unwrap();
    symlink(shared.join("page.html"), site.path("site/shared.html")).unwrap();
    symlink(shared.join("robots.txt"), site.path("site/robots.txt")).unwrap();
    for _ in 0..2 {
        let (outcome, events) = site
            .build_with(|plan| {
                plan.out = None;
                plan.layers.inject = true;
                plan.exclude = vec![rutter_build::Glob::new("shared/")];
            })
            .unwrap();
        assert_eq!(outcome.pages, 6);
        for name in ["shared.html", "robots.txt"] {
            assert!(site.path("site").join(name).is_symlink(), "{name}");
            assert_eq!(events.codes(name), ["BD013"], "{name}");
        }
        assert_eq!(fs::read_to_string(shared.join("page.html")).unwrap(), text);
    }
}

#[test] // D92
fn site_below_a_path_reports_lines_for_the_root() {
    let mut site = Site::of(5);
    let base = BaseUrl::parse("https://harbour.example/repo").unwrap();
    let (_, events) = site.build_with(|plan| plan.base = base).unwrap();
    let (place, code, detail) = events.findings.iter().find(|found| found.1 == "BD007").unwrap();
    assert_eq!((place.as_str(), *code), ("robots.txt", "BD007"));
    let [xml, arc] = ["sitemap.xml", "arc-sitemap.json"]
        .map(|name| format!("Sitemap: https://harbour.example/repo/{name}"));
    assert_eq!(*detail, format!("{xml}, {arc}"));
    let files = site.files();
    assert!(!files.contains_key("robots.txt") && files.contains_key("arc-sitemap.json"));
    assert!(!files.keys().any(|name| name.starts_with(".well-known")));
    assert!(site.ledger().contains("https://harbour.example/repo/docs/0002.html"));
}

#[test]
fn header_files_set_types_and_codings() {
    let mut site = Site::of(5);
    site.put("_headers", "/x\n  X-Mine: yes\n");
    site.build_with(|plan| plan.layers.headers = Some(HostKind::Netlify)).unwrap();
    let text = fs::read_to_string(site.path("out/_headers")).unwrap();
    assert!(text.starts_with("/x\n  X-Mine: yes\n"));
    assert!(
        text.contains(
            "/scp/*.scp.zst\n  Content-Type: application/scp\n  Content-Encoding: zstd\n"
        )
    );
    site.build_with(|plan| plan.layers.headers = Some(HostKind::Nginx)).unwrap();
    let text = fs::read_to_string(site.path("state/nginx.conf")).unwrap();
    assert!(text.contains("default_type \"application/scp\""));
}

#[test]
fn long_llms_txt_is_split_by_section() {
    let mut site = Site::new();
    for n in 0..400 {
        let folder = if n % 2 == 0 { "docs" } else { "blog" };
        site.put(
            &format!("{folder}/{n:04}.html"),
            &page("Home", &format!("A page about the matter numbered {n}"), &words(n))
                .replace("About", "What the harbour office has to say about"),
        );
    }
    site.put("index.html", &page("Home", "Harbour", &words(9000)));
    site.build();
    let files = site.files();
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    let main = text("llms.txt");
    assert!(main.len() < 50_000);
    assert!(main.contains("(https://harbour.example/docs/llms.txt)"));
    assert_eq!(text("docs/llms.txt").matches("\n- [").count(), 200);
    assert!(text("llms-main.txt").contains("https://harbour.example/index.md"));
    for name in ["llms.txt", "docs/llms.txt"] {
        let mut findings = Vec::new();
        rutter_llms::check(&text(name), &mut findings);
        assert!(findings.is_empty(), "{findings:?}");
    }
}

#[test]
fn collections_may_be_announced_in_a_separate_sitemap() {
    let mut site = Site::of(10);
    site.build_with(|plan| plan.layers.separate_sitemap = true).unwrap();
    let (entries, offers) = site.sitemap();
    assert_eq!((entries.len(), offers.len()), (11, 0));
    let (entries, offers) = crate::site::read_sitemap(&site.path("out/sitemap-scp.xml"));
    assert_eq!(entries.len(), 1);
    assert_eq!(offers.len(), 2);
    let robots = fs::read_to_string(site.path("out/robots.txt")).unwrap();
    assert_eq!(robots.matches("Sitemap: ").count(), 3);
}

#[test] // SCP-124 D15
fn sitemaps_may_name_schema_locations() {
    let mut site = Site::of(6);
    site.build();
    let sitemap = |site: &Site| fs::read_to_string(site.path("out/sitemap.xml")).unwrap();
    assert!(!sitemap(&site).contains("schemaLocation"));
    site.build_with(|plan| plan.layers.schema_location = true).unwrap();
    let text = sitemap(&site);
    let root = text.lines().find(|line| line.starts_with("<urlset")).unwrap();
    assert!(root.contains("xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""), "{root}");
    let pairs = "xsi:schemaLocation=\"http://www.sitemaps.org/schemas/sitemap/0.9 \
                 http://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd \
                 https://scp-protocol.org/schemas/sitemap/1.0 \
                 https://scp-protocol.org/schemas/sitemap/1.0/sitemap-extension.xsd\"";
    assert!(root.contains(pairs), "{root}");
    // It has no findings and announces the same collections.
    assert_eq!(site.sitemap().0.len(), 7);
    // A sitemap without announcements names only the schema of sitemaps.
    site.build_with(|plan| {
        plan.layers.schema_location = true;
        plan.layers.collections = false;
    })
    .unwrap();
    let text = sitemap(&site);
    assert!(text.contains("schemaLocation") && !text.contains("scp-protocol.org"), "{text}");
}
