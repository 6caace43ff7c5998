//! What pages say of addresses: their canonical one, their twin, their other
//! languages.

use std::collections::HashSet;

use rutter_finding::{Finding, Place, quoted};
use rutter_page::PageUrl;
use rutter_spxi::Link;

use super::in_line;
use crate::rules;
use crate::site::{Row, View};

pub(super) fn compare(view: &mut View<'_>) {
    let Some(home) = view.home else { return };
    let mut said: Vec<(u32, Finding)> = Vec::new();
    let links = Links::of(view);
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
                said.push((file, finding));
            } else if is_offered && !is_same(view, row, &canonical) {
                let finding =
                    Finding::new(&rules::CANONICAL_ELSEWHERE, Place::WHOLE, quoted(&canonical));
                said.push((file, finding));
            }
        }
        if let Some(twin) = page.twin_link.as_deref().filter(|twin| is_missing(twin)) {
            said.push((file, Finding::new(&rules::TWIN_LINK, Place::WHOLE, quoted(twin))));
        }
        one_way(view, &links, at, row, &mut said);
    }
    for (file, finding) in said {
        view.book.say(file, finding);
    }
}

fn key(url: &str) -> Option<String> {
    PageUrl::parse(url).ok().map(|url| url.key().to_owned())
}

/// Whether an address stands for the page of a row.
fn is_same(view: &View<'_>, row: &Row, url: &str) -> bool {
    if *row.url == *url {
        return true;
    }
    let Some(home) = view.home else { return true };
    view.files.resolve(home, url).is_some_and(|file| Some(file) == row.file)
}

/// Which pages the sitemap links with which others, both by number.
struct Links {
    pairs: HashSet<(u32, u32)>,
}

impl Links {
    /// Every link is followed once.
    fn of(view: &View<'_>) -> Self {
        let all = (0..).zip(&view.rows.list).flat_map(|(at, row)| {
            targets(view, row).filter_map(move |(_, other)| Some((at, other?)))
        });
        Self { pairs: all.collect() }
    }
}

/// Links of a page's entry, and the pages they lead to.
fn targets<'v>(view: &'v View<'_>, row: &Row) -> impl Iterator<Item = (&'v Link, Option<u32>)> {
    let listed = row.listed.and_then(|at| view.machine.listed.get(at as usize));
    let links = listed.into_iter().flat_map(|(_, listed)| &listed.links);
    let find = |href: &str| view.rows.find(view.files, view.home?, href);
    links.map(move |link| (link, find(&link.href)))
}

/// Languages of the sitemap that do not lead back.
fn one_way(view: &View<'_>, links: &Links, at: u32, row: &Row, said: &mut Vec<(u32, Finding)>) {
    let listed = row.listed.and_then(|at| view.machine.listed.get(at as usize));
    let Some((file, listed)) = listed else { return };
    for (link, other) in targets(view, row) {
        let Some(other) = other.filter(|other| *other != at) else { continue };
        let is_listed = view.rows.get(other).is_some_and(|other| other.listed.is_some());
        let leads_back = links.pairs.contains(&(other, at));
        if is_listed && !leads_back && !link.hreflang.starts_with("x-") {
            let detail = quoted(&link.href);
            said.push((*file, in_line(&rules::ALTERNATE_ONE_WAY, listed.line, detail)));
        }
    }
}
