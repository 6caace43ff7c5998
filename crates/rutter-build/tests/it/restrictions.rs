//! Pages that must stay restricted, stay published or keep their URLs when settings, dates or
//! single pages change.

use std::fs;

use rutter_build::{BuildError, BuildPlan};
use rutter_page::Timestamp;

use crate::guard::{build_as_user, permit};
use crate::site::{BASE, Site, page, words};
use crate::spxi::{declares, entity, index};

const SITEMAP: &str = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";

fn sitemap(site: &Site, paths: &[&str]) {
    let urls: Vec<String> =
        paths.iter().map(|path| format!("<url><loc>{BASE}{path}</loc></url>")).collect();
    let urls = urls.concat();
    site.put("sitemap.xml", &format!("{SITEMAP}{urls}</urlset>"));
}

#[test] // D57
fn restricted_path_may_name_the_file_of_a_page() {
    for (file, address, written) in [
        ("members/index.html", "members/", "/members/index.html"),
        ("members/index.html", "members", "/Members/INDEX.html"),
        ("secret.html", "secret", "/secret.html"),
        ("secret.html", "secret/", "/secret.html"),
    ] {
        let mut site = Site::new();
        site.put(file, &page("Home", "Closed", &words(40)));
        for n in 0..4 {
            site.put(&format!("open{n}.html"), &page("Home", "Open", &words(n)));
        }
        let open = if file.starts_with("secret") { ["open0", "open1"] } else { ["open0.html"; 2] };
        sitemap(&site, &[address, open[0], open[1]]);
        site.build_with(|plan| plan.restricted = vec![written.into()]).unwrap();
        assert_eq!(site.row(address)[1], "bare", "{written} for {address}: {}", site.ledger());
        assert!(!site.files().contains_key(&file.replace(".html", ".md")), "{written}");
    }
}

#[test] // D57
fn rejects_restricted_prefix_without_json_lines_page() {
    let mut site = Site::new();
    let file = site.path("pages.jsonl");
    let line = format!(
        "{{\"url\":\"{BASE}members/a\",\"title\":\"A\",\"description\":\"B\",\
         \"modified\":\"2026-01-01T00:00:00Z\",\"language\":\"en\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"T\"}}]}}\n"
    );
    fs::write(&file, format!("{line}{}", line.replace("members/a", "open"))).unwrap();
    let plan = |written: &'static str| {
        let file = file.clone();
        move |plan: &mut BuildPlan| {
            plan.site = file;
            plan.source = rutter_build::SourceKind::Lines;
            plan.restricted = vec![written.into()];
        }
    };
    let missing = site.build_with(plan("/memmbers/"));
    assert!(
        matches!(missing, Err(BuildError::UnusedRestriction(written)) if written == "/memmbers/")
    );
    site.build_with(plan("/members/")).unwrap();
    assert_eq!(site.row("members/a")[1], "bare");
}

#[test] // D58
fn excludes_page_after_its_unavailable_after_date() {
    let mut site = Site::of(4);
    let dated = page("Home", "Offer", &words(70)).replacen(
        "</head>",
        "<meta name=\"robots\" content=\"unavailable_after: 2026-06-01\"></head>",
        1,
    );
    site.put("offer.html", &dated);
    site.build();
    assert_eq!(site.row("offer.html")[1], "public");
    let before = site.row("offer.html")[4].clone();
    // Decided again in every build, and the date does not change.
    assert!(site.build().is_unchanged());
    assert_eq!(site.row("offer.html")[4], before);
    site.now = Timestamp::parse("2026-06-02T00:00:00Z").unwrap();
    site.build();
    assert_ne!(site.row("offer.html")[1], "public");
    assert!(!site.files().contains_key("offer.md"));
}

#[test] // D23
fn stops_when_all_pages_declare_a_login() {
    let mut site = Site::new();
    for n in 0..5 {
        let closed = page("Home", "Page", &words(n));
        let closed = closed.replacen("<body", "<body data-ai-auth-required=\"true\"", 1);
        site.put(&format!("{n}.html"), &closed);
    }
    let refused = site.build_with(|_| {});
    assert!(matches!(refused, Err(BuildError::MassExclusion { excluded: 5, .. })));
    // A path that the site owner restricted is intended.
    let (outcome, _) = site.build_with(|plan| plan.restricted = vec!["/".into()]).unwrap();
    assert_eq!(outcome.pages, 0);
}

#[cfg(unix)]
#[test] // D85
fn keeps_published_page_behind_unreadable_symlink() {
    let mut site = Site::of(6);
    std::os::unix::fs::symlink("docs/0002.html", site.path("site/link.html")).unwrap();
    site.build();
    permit(&site.path("site/docs"), 0o000);
    let built = build_as_user(&mut site, |_| {});
    permit(&site.path("site/docs"), 0o755);
    let (outcome, events) = built.unwrap();
    assert_eq!(outcome.removed, 0, "{:?}", events.findings);
    assert_eq!(events.codes("link.html"), ["BD001"]);
    assert_eq!(site.row("link.html")[1], "public");
}

#[test]
fn purge_withdraws_collections_of_former_sections() {
    let mut site = Site::of(60);
    site.build();
    assert!(site.newest("all", "snapshot").is_some());
    site.build_with(|plan| plan.layers.all = false).unwrap();
    site.remove("docs/0002.html");
    let purge = |plan: &mut BuildPlan| (plan.layers.all, plan.purge) = (false, true);
    site.build_with(purge).unwrap();
    for entry in fs::read_dir(site.path("out/scp")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "zst") {
            let (_, lines) = crate::site::read_collection(&path);
            assert!(!lines.iter().any(|line| line.contains("docs/0002.html")), "{path:?}");
        }
    }
}

#[test] // D30
fn unusual_canonical_link_changes_no_other_url() {
    let mut site = Site::new();
    let put = |site: &Site, name: &str, address: &str| {
        let link = format!("<link rel=\"canonical\" href=\"{BASE}{address}\"></head>");
        site.put(
            &format!("{name}.html"),
            &page("Home", name, &words(name.len())).replacen("</head>", &link, 1),
        );
    };
    for name in ["tides", "berths", "pilots"] {
        put(&site, name, name);
    }
    site.build();
    assert_eq!(site.row("tides")[1], "public");
    put(&site, "odd", "odd.html");
    let outcome = site.build();
    assert_eq!((outcome.new, outcome.removed), (1, 0), "{}", site.ledger());
    assert_eq!(site.row("tides")[1], "public");
}

fn in_place(plan: &mut BuildPlan) {
    plan.out = None;
    plan.generator = Some(rutter_build::Generator {
        name: "MkDocs".to_owned(),
        root: None,
        sources: Vec::new(),
    });
}

#[test]
fn removed_page_does_not_restore_a_replaced_sitemap() {
    for index in [None, Some("sitemap-0.xml")] {
        let mut site = Site::new();
        for name in ["tides", "berths", "pilots"] {
            site.put(&format!("{name}.html"), &page("Home", name, &words(name.len())));
        }
        sitemap(&site, &["tides.html", "berths.html", "pilots.html"]);
        if let Some(child) = index {
            fs::rename(site.path("site/sitemap.xml"), site.path("site").join(child)).unwrap();
            let list = format!("<sitemap><loc>{BASE}{child}</loc></sitemap></sitemapindex>");
            let head = SITEMAP.replace("urlset", "sitemapindex");
            site.put("sitemap-index.xml", &format!("{head}{list}"));
        }
        site.build_with(in_place).unwrap();
        site.remove("berths.html");
        for n_removed in [1, 0] {
            let (outcome, events) = site.build_with(in_place).unwrap();
            assert_eq!(outcome.removed, n_removed, "{index:?}: {:?}", events.findings);
            let text = fs::read_to_string(site.path("site/sitemap.xml")).unwrap();
            assert!(text.contains("tides.html") && !text.contains("berths.html"), "{text}");
            assert!(!site.path("site/sitemap-rutter.xml").exists(), "{index:?}");
        }
    }
}

#[test]
fn rejects_damaged_list_of_stored_sitemaps() {
    let mut site = Site::new();
    for name in ["tides", "berths"] {
        site.put(&format!("{name}.html"), &page("Home", name, &words(name.len())));
    }
    let priority = "<url><loc>https://harbour.example/tides.html</loc><priority>0.9</priority></url>\
        <url><loc>https://harbour.example/berths.html</loc></url>";
    site.put("sitemap.xml", &format!("{SITEMAP}{priority}</urlset>"));
    site.build_with(in_place).unwrap();
    let list = site.path("state/sitemaps/list.json");
    let whole = fs::read_to_string(&list).unwrap();
    assert!(site.build_with(in_place).unwrap().0.is_unchanged());
    for damaged in ["", "{", "{\"files\":[]}", &whole.replacen("sitemap.xml", "sitemap.xm1", 1)] {
        fs::write(&list, damaged).unwrap();
        let refused = site.build_with(in_place);
        assert!(matches!(refused, Err(BuildError::DamagedState(..))), "{damaged}");
    }
    fs::write(&list, whole).unwrap();
    assert!(site.build_with(in_place).unwrap().0.is_unchanged());
}

#[test] // SPX-072
fn entity_has_the_published_url_of_its_page() {
    for (address, written) in [
        ("museum/index.html", "museum/"),
        ("museum/index.html", "museum/index.html"),
        ("museum", "museum/#town"),
        ("museum/", "museum"),
        ("museum/", "museum/index.html"),
    ] {
        let mut site = Site::of(4);
        site.put("museum/index.html", &page("Home", "Museum", &words(50)));
        sitemap(&site, &["", "docs/0000.html", "docs/0002.html", "blog/0001.html", address]);
        site.build_with(declares(vec![entity(written, "Museum")])).unwrap();
        let value = index(&site);
        let fragment = written.find('#').map_or("", |at| &written[at..]);
        let id = value["spxi:hasEntity"][0]["@id"].as_str().unwrap_or_default();
        assert_eq!(id, format!("{BASE}{address}{fragment}"), "{written}: {value}");
    }
}
