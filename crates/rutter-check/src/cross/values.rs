//! Compares the dates, titles, languages and checksums of a page in all layers (D84).

use rutter_finding::{Finding, Place, quoted};
use rutter_page::{LineDigest, Timestamp};

use super::{at_pointer, in_line};
use crate::rules;
use crate::site::{PageRow, SiteView};

rutter_finding::rules! {
    CHANGED_SINCE = "XL024" "changed-since-build" (advice, "D84") {
        title: "page changed after the layers were built",
        why: "Collections, sitemaps and Markdown twins describe an earlier version of the page.",
        fix: "Build the site again.",
        wrong: "`tides.html` edited after `rutter build`.",
        right: "Run `rutter build` as the last step before publishing.",
    }
    DATE_DIFFERS = "XL030" "dates-differ" (advice, "D84") {
        title: "layers give different dates for the same page",
        why: "Readers that use one of the dates miss changes that another date shows.",
        fix: "Build the site again, so that all layers have the same date.",
        wrong: r#"`<lastmod>2026-05-01</lastmod>` in the sitemap, `"modified": "2026-03-01T08:00:00Z"` in the collection."#,
        right: "Both dates from the same build.",
    }
    DATE_FUTURE = "XL031" "date-in-future" (advice, "D26") {
        title: "modification time in the sitemap is in the future",
        why: "Crawlers ignore such a date, and some ignore all dates of the file.",
        fix: "Correct the clock or the date.",
        wrong in "sitemap.xml": "<lastmod>2099-01-01</lastmod>",
        right: "<lastmod>2026-05-01</lastmod>",
    }
    TITLE_DIFFERS = "XL032" "titles-differ" (advice, "D84") {
        title: "layers give different titles for the same page",
        why: "The page is quoted with a title that it does not have.",
        fix: "Build the site again. The title of the HTML page counts.",
        wrong: r#"`<title>Tides</title>` on the page, `"title": "Port Selk"` in the collection."#,
        right: "The same title in both.",
    }
    ARC_CHECKSUM = "XL042" "arc-checksum-differs" (advice, "D51") {
        title: "checksum in the ARC sitemap matches neither the page in the collection nor the HTML file",
        why: "Agents that compare checksums keep an old copy or fetch the page without need.",
        fix: "Build the site again.",
        wrong: "An `ai_checksum` of the text of last week.",
        right: "`rutter build` after every change.",
    }
}

pub(super) fn compare(view: &mut SiteView<'_>) {
    let mut findings: Vec<(u32, Finding)> = Vec::new();
    for row in &view.rows.list {
        dates(view, row, &mut findings);
        titles(view, row, &mut findings);
        languages(row, &mut findings);
        checksum(view, row, &mut findings);
        if row.page.as_ref().is_some_and(|page| page.is_as_built == Some(false))
            && let Some(file) = row.file
        {
            findings.push((file, Finding::new(&CHANGED_SINCE, Place::WHOLE, "")));
        }
    }
    for (file, finding) in findings {
        view.findings.add(file, finding);
    }
}

fn is_same_day(one: Timestamp, other: Timestamp) -> bool {
    let day = |time: Timestamp| time.unix_seconds().div_euclid(86_400);
    day(one) == day(other)
}

/// Compares the dates of other layers with the date in the collection, or else in the ARC sitemap.
fn dates(view: &SiteView<'_>, row: &PageRow, findings: &mut Vec<(u32, Finding)>) {
    let listed = row.listed.and_then(|at| view.machine_files.sitemaps.listed.get(at as usize));
    let of_arc = row.arc.as_ref().and_then(|arc| arc.lastmod);
    let of_scp = row.scp.as_ref().map(|scp| scp.modified);
    if let Some((file, listed)) = listed
        && let Some(modified) = listed.modified
    {
        if view
            .options
            .check_options
            .now
            .is_some_and(|now| now.plus_seconds(86_400) < modified.time)
        {
            let detail = format!("{}: {modified}", quoted(&row.url));
            findings.push((*file, in_line(&DATE_FUTURE, listed.line, detail)));
        } else if let Some(other) = of_scp.or(of_arc) {
            let is_same = if modified.is_day {
                is_same_day(modified.time, other)
            } else {
                modified.time == other
            };
            if !is_same {
                let layer = if of_scp.is_some() { "collection" } else { "ARC sitemap" };
                let detail = format!("{}: {modified}, the {layer} has {other}", quoted(&row.url));
                findings.push((*file, in_line(&DATE_DIFFERS, listed.line, detail)));
            }
        }
    }
    if let (Some(arc), Some(of_arc), Some(of_scp)) = (&row.arc, of_arc, of_scp)
        && of_arc != of_scp
        && let Some(file) = view.machine_files.arc.as_ref().map(|arc| arc.file)
    {
        let detail = format!("{}: {of_arc}, the collection has {of_scp}", quoted(&row.url));
        let pointer = format!("/pages/{}/lastmod", arc.idx);
        findings.push((file, at_pointer(&DATE_DIFFERS, pointer, detail)));
    }
}

fn titles(view: &SiteView<'_>, row: &PageRow, findings: &mut Vec<(u32, Finding)>) {
    let page = row.page.as_ref().filter(|page| !page.title.is_empty());
    let of_page = page.map(|page| &*page.title);
    let of_scp = row.scp.as_ref().map(|scp| &*scp.title);
    if let (Some(of_page), Some(scp)) = (of_page, &row.scp)
        && plain(of_page) != plain(&scp.title)
    {
        let detail = format!("{}, the page has {}", quoted(&scp.title), quoted(of_page));
        let place = Place::pointer(scp.line, "/title");
        findings.push((scp.file, Finding::new(&TITLE_DIFFERS, place, detail)));
    }
    let Some((file, index)) = &view.machine_files.index else { return };
    let Some(n) = row.surface else { return };
    let surface = index.surfaces.get(n as usize).and_then(|surface| surface.name.as_deref());
    if let (Some(name), Some(title)) = (surface, of_scp.or(of_page))
        // A long title may be truncated.
        && plain(name) != plain(title)
        && title.len() < 200
    {
        let detail = format!("{}, the page has {}", quoted(name), quoted(title));
        let pointer = format!("/spxi:hasSurface/{n}/name");
        findings.push((*file, at_pointer(&TITLE_DIFFERS, pointer, detail)));
    }
}

/// Replaces every sequence of white space with one space.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn languages(row: &PageRow, findings: &mut Vec<(u32, Finding)>) {
    let Some(scp) = &row.scp else { return };
    let page = row.page.as_ref().and_then(|page| page.language.as_deref());
    if let Some(own) = page
        && &*scp.language != "und"
        && !own.eq_ignore_ascii_case(&scp.language)
    {
        let url = quoted(&row.url);
        let detail = format!("{url}: {}, the page says {}", quoted(&scp.language), quoted(own));
        let place = Place::pointer(scp.line, "/language");
        findings.push((scp.file, Finding::new(&rules::LANGUAGE_DIFFERS, place, detail)));
    }
}

/// Reports a checksum that matches neither the line in the collection nor the bytes of the page
/// (D51).
fn checksum(view: &SiteView<'_>, row: &PageRow, findings: &mut Vec<(u32, Finding)>) {
    let (Some(arc), Some(file)) = (&row.arc, view.machine_files.arc.as_ref().map(|arc| arc.file))
    else {
        return;
    };
    let Some(claimed) = arc.checksum.as_deref() else { return };
    let Some(digest) = rutter_page::Digest::parse(claimed) else { return };
    let line = digest.0.first_chunk::<16>().map(|sixteen| LineDigest(*sixteen));
    let is_line = row.scp.as_ref().is_some_and(|scp| Some(scp.digest) == line);
    let digests = row.page.as_ref().map(|page| page.digests);
    let is_page = digests.is_some_and(|digests| digests.contains(&Some(digest)));
    // The checksum matches, or no collection contains the page.
    if is_line || is_page || row.scp.is_none() {
        return;
    }
    let pointer = format!("/pages/{}/ai_checksum", arc.idx);
    findings.push((file, at_pointer(&ARC_CHECKSUM, pointer, quoted(&row.url))));
}
