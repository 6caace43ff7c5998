//! Checks the canonical links, twin links and language links of pages.

use std::collections::HashSet;

use rutter_finding::{Finding, Place, quoted};
use rutter_page::PageUrl;
use rutter_spxi::SitemapLink;

use super::in_line;
use crate::site::{PageRow, SiteView};

rutter_finding::rules! {
    ALTERNATE_ONE_WAY = "XL014" "alternate-one-way" (advice, "SPX-042") {
        title: "page in another language does not link back",
        why: "Search engines ignore such links unless both pages link to each other.",
        fix: "Link each of the two pages to the other page.",
        wrong: "`/tides.html` links to `/de/gezeiten.html` as its German version, which does not link back.",
        right: "Each of the two pages links to the other.",
    }
    CANONICAL_ELSEWHERE = "XL034" "canonical-elsewhere" (advice, "D30") {
        title: "sitemap or another published file lists a page whose canonical link has another URL",
        why: "Readers treat one of the two URLs as a copy and drop it.",
        fix: "List pages with their canonical URL.",
        wrong: "`/tides?print=1` in the sitemap, although the canonical link of the page is `/tides`.",
        right: "`/tides` in the sitemap.",
    }
    CANONICAL_ABSENT = "XL035" "canonical-absent" (warning, "D30") {
        title: "canonical link of the page leads to a URL that does not exist",
        why: "Search engines request the page at a URL that returns an error.",
        fix: "Correct the canonical link.",
        wrong in "page.html": r#"<link rel="canonical" href="https://harbour.example/tide.html">"#,
        right: r#"<link rel="canonical" href="https://harbour.example/tides.html">"#,
    }
    TWIN_LINK = "XL064" "twin-link-absent" (warning, "D83") {
        title: "page links to a Markdown twin that does not exist",
        why: "Agents request the twin and get an error.",
        fix: "Build the site again, or delete the link.",
        wrong in "page.html": r#"<link rel="alternate" type="text/markdown" href="/tide.md">"#,
        right: r#"<link rel="alternate" type="text/markdown" href="/tides.md">"#,
    }
}

pub(super) fn compare(view: &mut SiteView<'_>) {
    let Some(home) = view.home else { return };
    let mut findings: Vec<(u32, Finding)> = Vec::new();
    let links = AlternateLinks::of(view);
    for (at, row) in (0..).zip(&view.rows.list) {
        let (Some(file), Some(page)) = (row.file, &row.page) else { continue };
        let is_missing = |url: &str| {
            !view.files.is_live() && view.is_own(url) && view.files.resolve(home, url).is_none()
        };
        if let Some(canonical) = page.head.canonical.as_deref().and_then(key) {
            let is_offered = row.listed.is_some() || row.scp.is_some();
            if is_missing(&canonical) {
                let finding = Finding::new(&CANONICAL_ABSENT, Place::WHOLE, quoted(&canonical));
                findings.push((file, finding));
            } else if is_offered && !is_same(view, row, &canonical) {
                let finding = Finding::new(&CANONICAL_ELSEWHERE, Place::WHOLE, quoted(&canonical));
                findings.push((file, finding));
            }
        }
        if let Some(twin) = page.head.twin.as_deref().filter(|twin| is_missing(twin)) {
            findings.push((file, Finding::new(&TWIN_LINK, Place::WHOLE, quoted(twin))));
        }
        one_way(view, &links, at, row, &mut findings);
    }
    for (file, finding) in findings {
        view.findings.add(file, finding);
    }
}

fn key(url: &str) -> Option<String> {
    PageUrl::parse(url).ok().map(|url| url.key().to_owned())
}

/// Returns whether a URL resolves to the page of a row.
fn is_same(view: &SiteView<'_>, row: &PageRow, url: &str) -> bool {
    if *row.url == *url {
        return true;
    }
    let Some(home) = view.home else { return true };
    view.files.resolve(home, url).is_some_and(|file| Some(file) == row.file)
}

/// The alternate links of the sitemap, with the rows of their targets.
struct AlternateLinks {
    pairs: HashSet<(u32, u32)>,
}

impl AlternateLinks {
    /// Resolves every alternate link of the sitemap once.
    fn of(view: &SiteView<'_>) -> Self {
        let all = (0..).zip(&view.rows.list).flat_map(|(at, row)| {
            targets(view, row).filter_map(move |(_, other)| Some((at, other?)))
        });
        Self { pairs: all.collect() }
    }
}

/// Returns the links of the sitemap entry of a page, and their target rows.
fn targets<'v>(
    view: &'v SiteView<'_>,
    row: &PageRow,
) -> impl Iterator<Item = (&'v SitemapLink, Option<u32>)> {
    let listed = row.listed.and_then(|at| view.machine_files.sitemaps.listed.get(at as usize));
    let links = listed.into_iter().flat_map(|(_, listed)| &listed.links);
    let find = |href: &str| view.rows.find(view.files, view.home?, href);
    links.map(move |link| (link, find(&link.href)))
}

/// Reports language links of the sitemap that have no link back.
fn one_way(
    view: &SiteView<'_>,
    links: &AlternateLinks,
    at: u32,
    row: &PageRow,
    findings: &mut Vec<(u32, Finding)>,
) {
    let listed = row.listed.and_then(|at| view.machine_files.sitemaps.listed.get(at as usize));
    let Some((file, listed)) = listed else { return };
    for (link, other) in targets(view, row) {
        let Some(other) = other.filter(|other| *other != at) else { continue };
        let is_listed = view.rows.get(other).is_some_and(|other| other.listed.is_some());
        let leads_back = links.pairs.contains(&(other, at));
        if is_listed && !leads_back && !link.hreflang.starts_with("x-") {
            let detail = quoted(&link.href);
            findings.push((*file, in_line(&ALTERNATE_ONE_WAY, listed.line, detail)));
        }
    }
}
