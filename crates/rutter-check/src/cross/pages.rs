//! Checks the canonical links, twin links and language links of pages.

use std::collections::HashSet;

use rutter_finding::{Finding, Place, quoted};
use rutter_page::PageUrl;
use rutter_spxi::SitemapLink;

use super::in_line;
use crate::rules;
use crate::site::{PageRow, SiteView};

pub(super) fn compare(view: &mut SiteView<'_>) {
    let Some(home) = view.home else { return };
    let mut findings: Vec<(u32, Finding)> = Vec::new();
    let links = AlternateLinks::of(view);
    for (at, row) in (0..).zip(&view.rows.list) {
        let (Some(file), Some(page)) = (row.file, &row.page) else { continue };
        let is_missing = |url: &str| {
            !view.files.is_live() && view.is_own(url) && view.files.resolve(home, url).is_none()
        };
        if let Some(canonical) = page.canonical.as_deref().and_then(key) {
            let is_offered = row.listed.is_some() || row.scp.is_some();
            if is_missing(&canonical) {
                let finding =
                    Finding::new(&rules::CANONICAL_ABSENT, Place::WHOLE, quoted(&canonical));
                findings.push((file, finding));
            } else if is_offered && !is_same(view, row, &canonical) {
                let finding =
                    Finding::new(&rules::CANONICAL_ELSEWHERE, Place::WHOLE, quoted(&canonical));
                findings.push((file, finding));
            }
        }
        if let Some(twin) = page.twin_link.as_deref().filter(|twin| is_missing(twin)) {
            findings.push((file, Finding::new(&rules::TWIN_LINK, Place::WHOLE, quoted(twin))));
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
    let listed = row.listed.and_then(|at| view.machine_files.listed.get(at as usize));
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
    let listed = row.listed.and_then(|at| view.machine_files.listed.get(at as usize));
    let Some((file, listed)) = listed else { return };
    for (link, other) in targets(view, row) {
        let Some(other) = other.filter(|other| *other != at) else { continue };
        let is_listed = view.rows.get(other).is_some_and(|other| other.listed.is_some());
        let leads_back = links.pairs.contains(&(other, at));
        if is_listed && !leads_back && !link.hreflang.starts_with("x-") {
            let detail = quoted(&link.href);
            findings.push((*file, in_line(&rules::ALTERNATE_ONE_WAY, listed.line, detail)));
        }
    }
}
