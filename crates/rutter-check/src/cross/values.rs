//! What layers say of the same page, value by value: dates, titles,
//! languages, checksums (D84).

use rutter_finding::{Finding, Place, quoted};
use rutter_page::{LineDigest, Timestamp};

use super::{at_pointer, in_line};
use crate::rules;
use crate::site::{Row, View};

pub(super) fn compare(view: &mut View<'_>) {
    let mut said: Vec<(u32, Finding)> = Vec::new();
    for row in &view.rows.list {
        dates(view, row, &mut said);
        titles(view, row, &mut said);
        languages(row, &mut said);
        checksum(view, row, &mut said);
        if row.page.as_ref().is_some_and(|page| page.is_as_built == Some(false))
            && let Some(file) = row.file
        {
            said.push((file, Finding::new(&rules::CHANGED_SINCE, Place::WHOLE, "")));
        }
    }
    for (file, finding) in said {
        view.book.say(file, finding);
    }
}

fn is_same_day(one: Timestamp, other: Timestamp) -> bool {
    let day = |time: Timestamp| time.unix_seconds().div_euclid(86_400);
    day(one) == day(other)
}

/// The collection's date counts; where there is none, that of the ARC sitemap.
fn dates(view: &View<'_>, row: &Row, said: &mut Vec<(u32, Finding)>) {
    let listed = row.listed.and_then(|at| view.machine.listed.get(at as usize));
    let of_arc = row.arc.as_ref().and_then(|arc| arc.lastmod);
    let of_scp = row.scp.as_ref().map(|scp| scp.modified);
    if let Some((file, listed)) = listed
        && let Some(modified) = listed.modified
    {
        if view.judging.judging.now.is_some_and(|now| now.plus_seconds(86_400) < modified.time) {
            let detail = format!("{}: {modified}", quoted(&row.url));
            said.push((*file, in_line(&rules::DATE_FUTURE, listed.line, detail)));
        } else if let Some(other) = of_scp.or(of_arc) {
            let is_same = if modified.is_day {
                is_same_day(modified.time, other)
            } else {
                modified.time == other
            };
            if !is_same {
                let layer = if of_scp.is_some() { "collection" } else { "ARC sitemap" };
                let detail = format!("{}: {modified}, the {layer} has {other}", quoted(&row.url));
                said.push((*file, in_line(&rules::DATE_DIFFERS, listed.line, detail)));
            }
        }
    }
    if let (Some(arc), Some(of_arc), Some(of_scp)) = (&row.arc, of_arc, of_scp)
        && of_arc != of_scp
        && let Some(file) = view.machine.arc.as_ref().map(|arc| arc.file)
    {
        let detail = format!("{}: {of_arc}, the collection has {of_scp}", quoted(&row.url));
        let pointer = format!("/pages/{}/lastmod", arc.idx);
        said.push((file, at_pointer(&rules::DATE_DIFFERS, pointer, detail)));
    }
}

fn titles(view: &View<'_>, row: &Row, said: &mut Vec<(u32, Finding)>) {
    let page = row.page.as_ref().filter(|page| !page.title.is_empty());
    let of_page = page.map(|page| &*page.title);
    let of_scp = row.scp.as_ref().map(|scp| &*scp.title);
    if let (Some(of_page), Some(scp)) = (of_page, &row.scp)
        && plain(of_page) != plain(&scp.title)
    {
        let detail = format!("{}, the page has {}", quoted(&scp.title), quoted(of_page));
        let place = Place::pointer(scp.line, "/title");
        said.push((scp.file, Finding::new(&rules::TITLE_DIFFERS, place, detail)));
    }
    let Some((file, index)) = &view.machine.index else { return };
    let Some(n) = row.surface else { return };
    let surface = index.surfaces.get(n as usize).and_then(|surface| surface.name.as_deref());
    if let (Some(name), Some(title)) = (surface, of_scp.or(of_page))
        // A long title may have been cut.
        && plain(name) != plain(title)
        && title.len() < 200
    {
        let detail = format!("{}, the page has {}", quoted(name), quoted(title));
        let pointer = format!("/spxi:hasSurface/{n}/name");
        said.push((*file, at_pointer(&rules::TITLE_DIFFERS, pointer, detail)));
    }
}

/// A text without what typography changes.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn languages(row: &Row, said: &mut Vec<(u32, Finding)>) {
    let Some(scp) = &row.scp else { return };
    let page = row.page.as_ref().and_then(|page| page.language.as_deref());
    if let Some(own) = page
        && &*scp.language != "und"
        && !own.eq_ignore_ascii_case(&scp.language)
    {
        let url = quoted(&row.url);
        let detail = format!("{url}: {}, the page says {}", quoted(&scp.language), quoted(own));
        let place = Place::pointer(scp.line, "/language");
        said.push((scp.file, Finding::new(&rules::LANGUAGE_DIFFERS, place, detail)));
    }
}

/// A checksum must be that of the delivered line, or of the page's bytes (D51).
fn checksum(view: &View<'_>, row: &Row, said: &mut Vec<(u32, Finding)>) {
    let (Some(arc), Some(file)) = (&row.arc, view.machine.arc.as_ref().map(|arc| arc.file)) else {
        return;
    };
    let Some(claimed) = arc.checksum.as_deref() else { return };
    let Some(digest) = rutter_page::Digest::parse(claimed) else { return };
    let line = digest.0.first_chunk::<16>().map(|sixteen| LineDigest(*sixteen));
    let is_line = row.scp.as_ref().is_some_and(|scp| Some(scp.digest) == line);
    let digests = row.page.as_ref().map(|page| page.digests);
    let is_page = digests.is_some_and(|digests| digests.contains(&Some(digest)));
    // With neither at hand there is nothing to compare with.
    if is_line || is_page || row.scp.is_none() {
        return;
    }
    let pointer = format!("/pages/{}/ai_checksum", arc.idx);
    said.push((file, at_pointer(&rules::ARC_CHECKSUM, pointer, quoted(&row.url))));
}
