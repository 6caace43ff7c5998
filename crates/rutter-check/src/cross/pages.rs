//! What pages say of addresses: their canonical one, their twin, their other
//! languages.

use rutter_finding::{Finding, Place, quoted};
use rutter_page::PageUrl;

use super::in_line;
use crate::rules;
use crate::site::{Row, View};

pub(super) fn compare(view: &mut View<'_>) {
    let Some(home) = view.home else { return };
    let mut said: Vec<(u32, Finding)> = Vec::new();
    for row in &view.rows.list {
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
        one_way(view, row, &mut said);
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

/// Languages of the sitemap that do not lead back.
fn one_way(view: &View<'_>, row: &Row, said: &mut Vec<(u32, Finding)>) {
    let Some(home) = view.home else { return };
    let listed = row.listed.and_then(|at| view.machine.listed.get(at as usize));
    let Some((file, listed)) = listed else { return };
    for link in listed.links.iter().filter(|link| !link.hreflang.starts_with("x-")) {
        let other = view.rows.find(view.files, home, &link.href).and_then(|at| view.rows.get(at));
        let Some(other) = other.filter(|other| other.url != row.url) else { continue };
        let entry = other.listed.and_then(|at| view.machine.listed.get(at as usize));
        let Some((_, entry)) = entry else { continue };
        let leads_back = entry.links.iter().any(|back| {
            view.rows
                .find(view.files, home, &back.href)
                .and_then(|at| view.rows.get(at))
                .is_some_and(|target| target.url == row.url)
        });
        if !leads_back {
            let detail = quoted(&link.href);
            said.push((*file, in_line(&rules::ALTERNATE_ONE_WAY, listed.line, detail)));
        }
    }
}
