//! A state that is lost in part or whole: URLs, sections and files of the site owner.

use std::fmt::Write as _;
use std::fs;

use rutter_build::{BuildPlan, Generator};

use crate::site::{BASE, Site, page, words};

/// Returns a site whose generator links to `/guide` and `/guide/01`, without canonical links.
fn clean_urls() -> Site {
    let site = Site::new();
    let mut paths =
        vec!["index.html".to_owned(), "install.html".to_owned(), "guide/index.html".to_owned()];
    paths.extend((0..25).map(|n| format!("guide/{n:02}.html")));
    let mut entries = String::new();
    for (n, path) in paths.iter().enumerate() {
        site.put(path, &page("Home", &format!("Page {path}"), &words(100 + n)));
        let inside = path.strip_suffix(".html").unwrap();
        let inside = inside.strip_suffix("index").unwrap_or(inside).trim_end_matches('/');
        write!(entries, "<url><loc>{BASE}{inside}</loc></url>").unwrap();
    }
    let sitemap = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
    site.put("sitemap.xml", &format!("{sitemap}{entries}</urlset>\n"));
    site
}

fn in_place(plan: &mut BuildPlan) {
    plan.out = None;
    plan.generator =
        Some(Generator { name: "VitePress".to_owned(), root: None, sources: Vec::new() });
}

#[test]
fn urls_without_extensions_survive_a_lost_state() {
    let mut site = clean_urls();
    site.build_with(in_place).unwrap();
    assert_eq!(site.row("install").len(), site.row("guide/01").len());
    assert!(1 < site.row("install").len(), "{}", site.ledger());
    let before = crate::site::files(&site.path("site"));
    fs::remove_dir_all(site.path("state")).unwrap();
    for _ in 0..2 {
        let (outcome, events) = site.build_with(in_place).unwrap();
        let counts = (outcome.new, outcome.changed, outcome.removed);
        assert_eq!(counts, (0, 0, 0), "{:?}\n{}", events.messages, site.ledger());
    }
    let after = crate::site::files(&site.path("site"));
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert_eq!(after["guide/01.md"], before["guide/01.md"]);
    // The same if the collections are lost, too.
    fs::remove_dir_all(site.path("state")).unwrap();
    fs::remove_dir_all(site.path("site/scp")).unwrap();
    for _ in 0..2 {
        let (outcome, events) = site.build_with(in_place).unwrap();
        assert_eq!(outcome.removed, 0, "{:?}", events.messages);
        assert!(1 < site.row("install").len() && 1 < site.row("guide/01").len());
    }
}

#[test]
fn index_page_without_slash_belongs_to_its_section() {
    let mut site = clean_urls();
    site.build_with(in_place).unwrap();
    let section = |site: &Site, path: &str| site.row(path)[2].clone();
    for path in ["guide", "guide/01", "guide/24"] {
        assert_eq!(section(&site, path), "guide", "{path}");
    }
    assert_eq!(section(&site, "install"), "main");
    // The section is found again in the published files.
    fs::remove_dir_all(site.path("state")).unwrap();
    site.build_with(in_place).unwrap();
    assert_eq!(section(&site, "guide/01"), "guide");
    assert_eq!(section(&site, "guide"), "guide");
}

#[test]
fn files_of_the_site_owner_do_not_stop_a_build_after_a_lost_manifest() {
    for is_whole_state in [false, true] {
        let mut site = Site::of(30);
        let plan = |plan: &mut BuildPlan| plan.out = None;
        site.put("docs/0002.md", "# Mine\n\nNotes of the owner.\n");
        let (_, events) = site.build_with(plan).unwrap();
        assert_eq!(events.codes("docs/0002.md"), ["BD003"]);
        if is_whole_state {
            fs::remove_dir_all(site.path("state")).unwrap();
        } else {
            fs::remove_file(site.path("state/files.tsv")).unwrap();
        }
        site.put("docs/0004.html", &page("Home", "Page 4", &words(5004)));
        let (outcome, events) = site.build_with(plan).unwrap();
        assert_eq!(outcome.changed, 1);
        assert_eq!(events.codes("docs/0002.md"), ["BD003"]);
        let text = |name: &str| fs::read_to_string(site.path("site").join(name)).unwrap();
        assert_eq!(text("docs/0002.md"), "# Mine\n\nNotes of the owner.\n");
        // An outdated Markdown twin is recognised and written again.
        assert!(text("docs/0004.md").contains(&words(5004)));
    }
}
