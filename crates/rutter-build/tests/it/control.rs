//! Selectors of the site owner and link blocks, from one build to the next.

use std::fs;

use rutter_build::BuildPlan;
use rutter_extract::{
    LinkBlocks, OwnerSelectors, PathExtractSettings, Selector, SiteExtractSettings,
};

use crate::site::{Site, words};

fn selectors(texts: &[&str]) -> Vec<Selector> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn dropping(texts: &[&str]) -> OwnerSelectors {
    OwnerSelectors { drop: selectors(texts), ..OwnerSelectors::default() }
}

/// A site of guides and posts; each page has an offer and a link in its text.
fn site() -> Site {
    let site = Site::new();
    let page = |title: &str, n: usize| {
        format!(
            "<!doctype html><html lang=en><head><title>{title}</title></head><body>\
             <main><h1>{title}</h1><p>{} See <a href=/guides/0.html>the first guide</a>.</p>\
             <p class=offer>Book berth {n} before the end of the month and pay half of the fee.</p>\
             </main></body></html>",
            words(n)
        )
    };
    site.put("index.html", &page("Home", 1000));
    for n in 0..6 {
        site.put(&format!("guides/{n}.html"), &page(&format!("Guide {n}"), n));
        site.put(&format!("posts/{n}.html"), &page(&format!("Post {n}"), 100 + n));
    }
    site
}

fn line(site: &Site, path: &str) -> String {
    let (_, lines) = site.newest("all", "snapshot").unwrap();
    let start = format!("{{\"url\":\"https://harbour.example/{path}\"");
    lines.into_iter().find(|line| line.starts_with(&start)).unwrap()
}

#[test]
fn selector_for_a_path_changes_only_matching_pages() {
    let mut site = site();
    site.build();
    let ledger = site.ledger();
    let row = |ledger: &str, path: &str| {
        let is_it = |line: &&str| line.contains(&format!("{path}\t"));
        ledger.lines().find(is_it).unwrap().to_owned()
    };
    let with = |plan: &mut BuildPlan| {
        plan.extract.paths = vec![PathExtractSettings::new("/guides/**", dropping(&[".offer"]))];
    };
    let (outcome, events) = site.build_with(with).unwrap();
    assert_eq!((outcome.read, outcome.changed, outcome.new), (6, 6, 0));
    assert!(events.findings.iter().all(|(_, code, _)| *code != "HT020"));
    let after = site.ledger();
    assert_ne!(row(&ledger, "guides/1.html"), row(&after, "guides/1.html"));
    assert_eq!(row(&ledger, "posts/1.html"), row(&after, "posts/1.html"));
    // Unchanged settings read no page again; without them the result is as before.
    let (outcome, _) = site.build_with(with).unwrap();
    assert_eq!((outcome.read, outcome.changed), (0, 0));
    let outcome = site.build();
    assert_eq!((outcome.read, outcome.changed), (6, 6));
}

#[test]
fn trusted_times_do_not_hide_a_changed_selector() {
    let mut site = site();
    site.build_with(|plan| plan.trust_mtime = true).unwrap();
    let (outcome, _) = site
        .build_with(|plan| {
            plan.trust_mtime = true;
            plan.extract.all = dropping(&[".offer"]);
        })
        .unwrap();
    assert_eq!(outcome.changed, 13);
}

#[test]
fn selector_without_a_match_is_one_finding() {
    let mut site = site();
    let with = |plan: &mut BuildPlan| {
        plan.extract = SiteExtractSettings {
            all: OwnerSelectors { keep: selectors(&[".absent"]), ..dropping(&[".offer"]) },
            paths: vec![
                PathExtractSettings::new("/posts/**", dropping(&["#banner", ".offer"])),
                PathExtractSettings::new("/news/**", dropping(&[".offer"])),
            ],
            ..SiteExtractSettings::default()
        };
    };
    // The same for pages from the cache.
    for n_read in [13, 0] {
        let (outcome, events) = site.build_with(with).unwrap();
        assert_eq!(outcome.read, n_read);
        let found = events.findings.iter().filter(|(_, code, _)| *code == "HT020");
        let found: Vec<_> = found.map(|(place, _, detail)| (&**place, &**detail)).collect();
        assert_eq!(
            found,
            [
                ("[extract]", "no page has a path that matches `/news/**`"),
                ("[extract]", "`.absent` on any page"),
                ("[extract]", "`#banner` on any page of `/posts/**`"),
            ]
        );
    }
}

#[test]
fn main_selector_without_a_match_is_a_finding_of_the_page() {
    let mut site = site();
    let page = fs::read_to_string(site.path("site/posts/3.html")).unwrap();
    site.put("posts/3.html", &page.replace("<main>", "<div>").replace("</main>", "</div>"));
    let (_, events) = site.build_with(|plan| plan.extract.all.main = selectors(&["main"])).unwrap();
    let found = events.findings.iter().filter(|(_, code, _)| *code == "HT020");
    let found: Vec<_> = found.map(|(place, _, detail)| (&**place, &**detail)).collect();
    assert_eq!(found, [("posts/3.html", "main `main`")]);
    assert!(line(&site, "posts/3.html").contains("Book berth"));
}

#[test] // SCP-055
fn links_are_published_unless_they_are_turned_off() {
    let mut site = site();
    site.build();
    let link = "{\"type\":\"link\",\"url\":\"https://harbour.example/guides/0.html\",\"text\":\"the first guide\"}";
    assert!(line(&site, "posts/3.html").contains(link), "{}", line(&site, "posts/3.html"));
    // A link to the page itself is not published.
    assert!(!line(&site, "guides/0.html").contains("\"type\":\"link\""));
    let twin = fs::read_to_string(site.path("out/posts/3.md")).unwrap();
    let body = twin.split("---\n").nth(2).unwrap();
    assert_eq!(body.matches("the first guide").count(), 1, "{twin}");
    let off = |plan: &mut BuildPlan| plan.extract.links = LinkBlocks::Lone;
    let (outcome, _) = site.build_with(off).unwrap();
    assert_eq!((outcome.changed, outcome.read), (12, 13));
}

#[test]
fn pages_published_without_link_blocks_keep_their_lines() {
    let mut site = site();
    site.build_with(|plan| plan.extract.links = LinkBlocks::Lone).unwrap();
    let ledger = site.ledger();
    // Without the cache, a line of an older version is still kept.
    fs::remove_file(site.path("state/pages.pack")).unwrap();
    let outcome = site.build();
    assert_eq!((outcome.read, outcome.changed), (13, 0));
    assert_eq!(site.ledger(), ledger);
    let outcome = site.build();
    assert_eq!((outcome.read, outcome.changed), (0, 0));
}
