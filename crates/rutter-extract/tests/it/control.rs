//! Owner's control: selectors for what is main content, kept and dropped.

use std::sync::Arc;

use rutter_extract::{
    ExtractOptions, Extraction, Limits, OwnerSelectors, PageSketch, PathExtractSettings, Selector,
    SiteExtractSettings, TemplateChoice, TemplateSet, html,
};

use crate::options;

const PAGE: &str = "<html lang=en><title>Gate</title><body><nav id=menu><a href=/>Home</a></nav>\
    <div class=text><h1>Gate</h1><p>The gate opens twice a day, at half tide, and closes again at the \
    next one.</p><p class=price>Opening it at other times costs forty crowns, paid in advance at the \
    office.</p></div><div class=board><p>The pilots meet every Monday in the net loft, and everybody may \
    listen to what they have to say.</p></div><footer><p class=hours>Open from eight to four.</p></footer>";

fn selectors(texts: &[&str]) -> Vec<Selector> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn read(control: OwnerSelectors) -> Extraction {
    let mut how = options("https://harbour.example/gate");
    how.control = control;
    html(PAGE.as_bytes(), &how)
}

fn has(extraction: &Extraction, code: &str) -> bool {
    extraction.findings.iter().any(|finding| finding.rule.code == code)
}

#[test]
fn main_keeps_nothing_outside_it() {
    let page = read(OwnerSelectors { main: selectors(&[".board"]), ..OwnerSelectors::default() });
    let text = page.page.to_text();
    assert!(text.contains("pilots meet") && !text.contains("forty crowns"), "{text}");
    assert!(!has(&page, "HT020"));
}

#[test]
fn keep_and_drop_are_stronger_than_the_classifier() {
    let control = OwnerSelectors {
        keep: selectors(&["footer .hours"]),
        drop: selectors(&["p.price", ".board"]),
        ..OwnerSelectors::default()
    };
    let page = read(control);
    let text = page.page.to_text();
    assert!(text.contains("Open from eight") && text.contains("twice a day"), "{text}");
    assert!(!text.contains("forty crowns") && !text.contains("pilots"), "{text}");
}

#[test]
fn a_selector_that_matches_nothing_is_a_finding_and_changes_nothing() {
    let page = read(OwnerSelectors { main: selectors(&["#absent"]), ..OwnerSelectors::default() });
    assert!(has(&page, "HT020"));
    assert_eq!(page.page.to_text(), read(OwnerSelectors::default()).page.to_text());
}

#[test]
fn text_lost_inside_main_is_reported_with_its_share_and_its_place() {
    let text = "<p>The gate opens twice a day, at half tide, and closes again at the next.</p>";
    let teaser = |n: usize| {
        format!(
            "<div class=teaser><h4><a href=/posts/{n}>Post {n} about the harbour</a></h4>\
             <p>What the harbour did in its year {n}. <a href=/posts/{n}>Read more</a></p></div>"
        )
    };
    let teasers: String = (1..13).map(teaser).collect();
    let related = format!("<section class=related><h3>Related posts</h3>{teasers}</section>");
    let page = format!("<main><article><h1>Gate</h1>{}</article>{related}</main>", text.repeat(6));
    let mut how = options("https://harbour.example/gate");
    let extraction = html(page.as_bytes(), &how);
    assert!(!extraction.page.to_text().contains("in its year"));
    let lost = extraction.findings.iter().find(|finding| finding.rule.code == "HT019").unwrap();
    assert!(lost.detail.contains(" % of it") && lost.detail.contains("Related posts"), "{lost:?}");
    let coverage = extraction.coverage.unwrap();
    assert!(coverage.share() < 0.8 && coverage.kept < coverage.total, "{coverage:?}");
    assert!(coverage.largest.unwrap().start.starts_with("Related posts"));
    // Parts that the owner drops do not count as lost.
    how.control.drop = selectors(&[".related"]);
    let extraction = html(page.as_bytes(), &how);
    assert!(!has(&extraction, "HT019"));
    let coverage = extraction.coverage.unwrap();
    assert_eq!((coverage.kept, coverage.largest), (coverage.total, None));
}

#[test]
fn coverage_is_of_pages_with_text_in_a_landmark() {
    let text = "<p>The gate opens twice a day, at half tide, and closes again at the next.</p>";
    let how = options("https://harbour.example/gate");
    let coverage = |page: String| html(page.as_bytes(), &how).coverage;
    let whole = coverage(format!("<main><h1>Gate</h1>{}</main>", text.repeat(6))).unwrap();
    // Characters that are not white space: 4 of the heading, 57 of each paragraph.
    assert_eq!((whole.kept, whole.total, whole.largest), (4 + 6 * 57, 4 + 6 * 57, None));
    // No landmark, and one with a line or two.
    assert_eq!(coverage(format!("<div><h1>Gate</h1>{}</div>", text.repeat(6))), None);
    assert_eq!(coverage(format!("<main><h1>Gate</h1>{text}</main>")), None);
    // Menus and hidden text are not lost.
    let rest = "<nav><a href=/>Home</a> <a href=/a>All about the gate</a></nav><p hidden>Hidden \
        text of the gate, which no reader sees.</p>";
    let page = format!("<main><h1>Gate</h1>{}{rest}</main>", text.repeat(6));
    let with = coverage(page).unwrap();
    assert_eq!((with.kept, with.total), (whole.total, whole.total));
    assert_eq!(rutter_extract::markdown(b"# Gate\n\nText.\n", &how).coverage, None);
}

#[test]
fn selectors_of_keep_and_drop_say_on_which_pages_they_match() {
    let control = OwnerSelectors {
        keep: selectors(&["footer .hours", ".absent"]),
        drop: selectors(&["p.price", "#absent"]),
        ..OwnerSelectors::default()
    };
    let page = read(control);
    assert_eq!(page.matched, ["footer .hours", "p.price"]);
    // One page says nothing about the site.
    assert!(!has(&page, "HT020"));
}

#[test]
fn main_is_unmatched_where_none_of_its_selectors_matches() {
    let page = read(OwnerSelectors {
        main: selectors(&["#absent", ".board"]),
        ..OwnerSelectors::default()
    });
    assert!(!has(&page, "HT020") && page.page.to_text().contains("pilots meet"));
    let page = read(OwnerSelectors {
        main: selectors(&["#absent", ".none"]),
        ..OwnerSelectors::default()
    });
    let found = page.findings.iter().find(|finding| finding.rule.code == "HT020").unwrap();
    assert_eq!(found.detail, "main `#absent`, `.none`");
}

/// A site of pages with the same footer, and what they have in common.
fn site() -> (Vec<String>, TemplateChoice) {
    let page = |n: usize| {
        let text = format!("Berth {n} is for boats of up to {n} metres, with water and light. ");
        format!(
            "<html lang=en><title>Berth {n}</title><body><main><h1>Berth {n}</h1><p>{}</p>\
             <section><h2>Rules</h2><p>No boat may moor at a berth that another boat has paid \
             for, and the keeper decides.</p></section></main><footer><p class=office>The office \
             is open from eight to four on every day of the week.</p><p>Made by the harbour, all \
             rights reserved for everything that is written here.</p></footer>",
            text.repeat(4)
        )
    };
    let pages: Vec<String> = (1..12).map(page).collect();
    let sketch = |page: &String| PageSketch::of_html(page.as_bytes(), None, &Limits::USUAL);
    let sketches: Vec<PageSketch> = pages.iter().map(sketch).collect();
    let mut templates = TemplateSet::default();
    assert_eq!(templates.adapt(&sketches, &[]), 1);
    (pages, TemplateChoice::Fitting(Arc::new(templates)))
}

#[test]
fn keep_is_stronger_than_the_template_of_the_site() {
    let (pages, template) = site();
    let mut how = options("https://harbour.example/berths/3");
    how.template = template;
    let text = |how: &ExtractOptions| html(pages[2].as_bytes(), how).page.to_text();
    assert!(!text(&how).contains("The office"));
    how.control.keep = selectors(&[".office"]);
    let text = text(&how);
    assert!(text.contains("The office is open") && !text.contains("all rights"), "{text}");
}

#[test]
fn the_explanation_names_selectors_and_the_template() {
    let (pages, template) = site();
    let mut how = options("https://harbour.example/berths/3");
    how.template = template;
    how.explain = true;
    how.control.keep = selectors(&[".office"]);
    how.control.drop = selectors(&["main h1"]);
    let why = html(pages[2].as_bytes(), &how).why;
    let reason = |start: &str| &why.iter().find(|why| why.start.starts_with(start)).unwrap().reason;
    assert_eq!(reason("The office"), "kept by selector `.office`");
    assert_eq!(reason("Berth 3"), "dropped by selector `main h1`");
    assert!(reason("Made by").starts_with("dropped by template"), "{}", reason("Made by"));
    // Repeats, but inside the landmark.
    let repeated = "kept although the same on other pages of the site";
    assert!(reason("No boat may").starts_with(repeated), "{}", reason("No boat may"));
    how.control.main = selectors(&["section"]);
    let why = html(pages[2].as_bytes(), &how).why;
    let outside = "outside the elements named as main content";
    assert!(why.iter().any(|why| why.reason == outside && !why.is_kept));
}

#[test]
fn path_entries_replace_main_and_add_to_keep_and_drop() {
    let control = |main: &[&str], drop: &[&str]| OwnerSelectors {
        main: selectors(main),
        drop: selectors(drop),
        ..OwnerSelectors::default()
    };
    let site = SiteExtractSettings {
        all: control(&["main"], &[".promo"]),
        paths: vec![
            PathExtractSettings::new("/guides/**", control(&[".guide"], &[".toc"])),
            PathExtractSettings::new("/guides/old/**", control(&[], &[".notice"])),
            PathExtractSettings::new("/guides/old/first.html", control(&["#text"], &[])),
        ],
        ..SiteExtractSettings::default()
    };
    for (path, main, drop) in [
        ("blog/a.html", "main", vec![".promo"]),
        ("guides/a.html", ".guide", vec![".promo", ".toc"]),
        ("guides/old/a.html", ".guide", vec![".promo", ".toc", ".notice"]),
        ("guides/old/first.html", "#text", vec![".promo", ".toc", ".notice"]),
        ("guides/?page=2", ".guide", vec![".promo", ".toc"]),
    ] {
        assert_eq!(site.of_path(path), control(&[main], &drop), "{path}");
    }
    let name = |site: &SiteExtractSettings, path: &str| {
        let mut name = Vec::new();
        site.name(path, |bytes| name.extend_from_slice(bytes));
        name
    };
    assert!(name(&SiteExtractSettings::default(), "a").is_empty());
    let other = SiteExtractSettings { paths: site.paths[..1].to_vec(), ..site.clone() };
    assert_eq!(name(&site, "guides/a.html"), name(&other, "guides/a.html"));
    assert_ne!(name(&site, "guides/old/a.html"), name(&other, "guides/old/a.html"));
}

#[test]
fn a_headline_outside_main_obeys_the_owner() {
    let page = "<html lang=en><title>Opening of the gate</title><body><header><h1>Opening of the gate</h1></header>\
        <main><p>The gate opens twice a day, at half tide, and closes again at the next one. Boats wait \
        at the pontoon outside until the light is green.</p></main>";
    let headline = |control: OwnerSelectors| {
        let mut how = options("https://harbour.example/gate");
        how.control = control;
        html(page.as_bytes(), &how).page.to_text().contains("Opening of the gate")
    };
    assert!(headline(OwnerSelectors::default()));
    assert!(!headline(OwnerSelectors {
        drop: selectors(&["header"]),
        ..OwnerSelectors::default()
    }));
    assert!(!headline(OwnerSelectors { main: selectors(&["main"]), ..OwnerSelectors::default() }));
}

#[test]
fn drop_holds_for_an_element_around_the_content() {
    let page = "<html lang=en><title>Prices</title><body><main><div class=internal><article><h1>Prices</h1><p>These prices are for the \
        office only, and may not be shown to anybody else before the first of the month.</p></article></div></main>";
    let mut how = options("https://harbour.example/prices");
    how.control = OwnerSelectors { drop: selectors(&[".internal"]), ..OwnerSelectors::default() };
    let text = html(page.as_bytes(), &how).page.to_text();
    assert!(!text.contains("office only"), "{text}");
}

#[test]
fn all_named_elements_are_the_content() {
    let page = "<html lang=en><title>Gate</title><body><main><h1>Gate</h1><p>The gate opens twice a day, at half tide, and \
        closes again at the next one.</p></main><aside class=terms><p>Terms: you may copy this page.</p></aside>";
    let mut how = options("https://harbour.example/gate");
    how.control =
        OwnerSelectors { main: selectors(&["main", "aside"]), ..OwnerSelectors::default() };
    let text = html(page.as_bytes(), &how).page.to_text();
    assert!(text.contains("twice a day") && text.contains("you may copy"), "{text}");
    assert!("*".parse::<Selector>().is_err());
}
