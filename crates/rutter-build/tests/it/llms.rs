//! llms.txt: order of links, sections, optional pages, and llms-full.txt.

use std::fs;
use std::path::Path;

use rutter_llms::{self as llms, LlmsTxt};

use crate::site::{BASE, Site, page, words};

/// Returns a site of the fixtures.
fn fixture(name: &str) -> Site {
    let site = Site::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/llms").join(name);
    for (path, bytes) in crate::site::files(&from) {
        site.put(&path, std::str::from_utf8(&bytes).unwrap());
    }
    site
}

fn text(site: &Site, name: &str) -> String {
    fs::read_to_string(site.path("out").join(name)).unwrap()
}

fn read(site: &Site) -> LlmsTxt {
    let text = text(site, "llms.txt");
    let mut findings = Vec::new();
    llms::check(&text, &mut findings);
    assert!(findings.is_empty(), "{findings:?}");
    llms::parse(&text)
}

/// Returns the sections with the paths of their links.
fn outline(llms: &LlmsTxt) -> Vec<(String, Vec<String>)> {
    let sections = llms.sections.iter().filter(|it| it.title != "Machine-readable indexes");
    let path = |url: &String| {
        let inside = url.strip_prefix(BASE).unwrap();
        inside.strip_suffix("index.md").or(inside.strip_suffix(".md")).unwrap().to_owned()
    };
    let links =
        |section: &llms::LlmsSection| section.links.iter().map(|it| path(&it.url)).collect();
    sections.map(|section| (section.title.clone(), links(section))).collect()
}

fn expect(site: &Site, wanted: &[(&str, &[&str])]) {
    let found = outline(&read(site));
    let wanted: Vec<(String, Vec<String>)> = wanted
        .iter()
        .map(|(title, links)| {
            ((*title).to_owned(), links.iter().map(|it| (*it).to_owned()).collect())
        })
        .collect();
    assert_eq!(found, wanted);
}

#[test]
fn follows_the_navigation_of_the_home_page() {
    let mut site = fixture("documentation");
    site.build();
    expect(
        &site,
        &[
            ("Pages", &["", "about/"]),
            ("News", &["blog/", "blog/new-glass/"]),
            ("First steps", &["docs/install/", "docs/configure/", "docs/appendix/"]),
            ("Reference", &["reference/options/", "reference/files/", "reference/errors/"]),
            ("More pages", &["imprint/"]),
            ("Optional", &["blog/page/2/", "blog/tags/", "blog/tags/glass/"]),
        ],
    );
    // Restricted pages are not listed.
    assert!(!text(&site, "llms.txt").contains("ember"));
}

#[test]
fn follows_priorities_of_the_sitemap_without_navigation() {
    let mut site = fixture("priorities");
    site.build();
    expect(&site, &[("Pages", &["", "beta", "gamma", "alpha"])]);
}

#[test]
fn lists_old_versions_and_archives_under_optional() {
    let mut site = fixture("versions");
    site.build();
    let found = outline(&read(&site));
    let (title, optional) = found.last().unwrap();
    assert_eq!(title, "Optional");
    assert_eq!(
        *optional,
        [
            "2024/05/",
            "author/anna/",
            "category/steel/",
            "docs/1.0/start/",
            "docs/1.0/use/",
            "docs/next/start/",
            "manual/2.4/",
            "manual/2.4/ropes/",
        ]
    );
    // A single version is current; a post below a year is not an archive.
    let listed: Vec<&String> = found.iter().rev().skip(1).flat_map(|(_, links)| links).collect();
    for path in ["api/v1/lift/", "manual/2.10/ropes/", "docs/start/", "2024/05/hook/"] {
        assert!(listed.iter().any(|it| *it == path), "{path}: {found:?}");
    }
    assert_eq!(found[1].0, "Documentation");
}

#[test]
fn names_sections_by_their_index_pages() {
    let mut site = Site::new();
    let plain = |title: &str, n: usize| {
        let page = page("Home", title, &words(n));
        let (start, end) = (page.find("<nav>").unwrap(), page.find("</nav>").unwrap() + 6);
        format!("{}{}", &page[..start], &page[end..])
    };
    site.put("index.html", &plain("Harbour", 900));
    site.put("guide.html", &plain("Guide for captains | Harbour", 901));
    for n in 0..25 {
        site.put(&format!("guide/{n:02}.html"), &plain(&format!("Chapter {n}"), n));
        site.put(&format!("sea-charts/{n:02}.html"), &plain(&format!("Chart {n}"), 100 + n));
    }
    site.build();
    let titles: Vec<String> = outline(&read(&site)).into_iter().map(|(title, _)| title).collect();
    assert_eq!(titles, ["Pages", "Guide for captains", "Sea charts"]);
}

#[test]
fn writes_full_text_only_with_the_setting() {
    let mut site = fixture("documentation");
    site.build();
    assert!(!site.path("out/llms-full.txt").exists());
    assert!(!text(&site, "llms.txt").contains("llms-full.txt"));
    let (_, events) = site.build_with(|plan| plan.layers.llms_full = true).unwrap();
    assert!(
        events.findings.iter().all(|found| found.0 != "llms-full.txt"),
        "{:?}",
        events.findings
    );
    let full = text(&site, "llms-full.txt");
    assert!(text(&site, "llms.txt").contains("(https://harbour.example/llms-full.txt)"));
    // The order of llms.txt, the content of every public page, and no restricted page.
    let places =
        ["burning all night", "mount the lamp", "Every switch", "Who is responsible", "by subject"]
            .map(|text| full.find(text).unwrap());
    assert!(places.is_sorted(), "{places:?}");
    assert!(!full.contains("telephone list"));
    assert!(!full.contains("left out"));
    // A second build changes nothing.
    let before = site.files();
    site.build_with(|plan| plan.layers.llms_full = true).unwrap();
    assert_eq!(site.files(), before);
    // It is deleted when the setting is off.
    site.build();
    assert!(!site.path("out/llms-full.txt").exists());
}

#[test]
fn full_text_respects_its_limit_and_counts_missing_pages() {
    let mut site = fixture("documentation");
    let full = |bytes: u64| {
        move |plan: &mut rutter_build::BuildPlan| {
            plan.layers.llms_full = true;
            plan.layers.llms_full_bytes = bytes;
        }
    };
    site.build_with(full(1_000_000)).unwrap();
    let whole = text(&site, "llms-full.txt");
    let mut last = 0;
    for bytes in [0, 300, 700, 1500, 2500, 4000] {
        site.build_with(full(bytes)).unwrap();
        let text = text(&site, "llms-full.txt");
        assert!(text.len() as u64 <= bytes + 400, "{bytes}: {}", text.len());
        let line = text.lines().last().unwrap();
        let n_pages = text.matches("\nSource: ").count();
        assert!(last <= n_pages, "{bytes}");
        last = n_pages;
        if n_pages == 14 {
            assert_eq!(text, whole);
            continue;
        }
        assert!(
            line.contains(&format!("{} of 14 pages are left out", 14 - n_pages)),
            "{bytes}: {line}"
        );
        // The included pages are the first ones of llms.txt.
        let pages = |text: &str| -> Vec<String> {
            text.lines().filter(|line| line.starts_with("Source: ")).map(str::to_owned).collect()
        };
        assert!(pages(&whole).starts_with(&pages(&text)), "{bytes}");
    }
    assert!(last > 5);
}

#[test]
fn keeps_full_text_file_of_the_site_owner() {
    let mut site = fixture("documentation");
    site.put("llms-full.txt", "# Mine\n");
    let (_, events) = site.build_with(|plan| plan.layers.llms_full = true).unwrap();
    assert_eq!(text(&site, "llms-full.txt"), "# Mine\n");
    assert_eq!(events.codes("llms-full.txt"), ["BD003"]);
    assert!(!text(&site, "llms.txt").contains("llms-full.txt"));
}
