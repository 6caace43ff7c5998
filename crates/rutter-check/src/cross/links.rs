//! Checks links in machine-readable files: each target must exist and must not be
//! restricted.

use std::collections::{BTreeMap, HashMap};

use rutter_arc::pointer::{self, JsonLdFile};
use rutter_finding::{Finding, Place, quoted};
use rutter_llms as llms;
use rutter_page::find_model_instruction;

use super::{closed_detail, in_line};
use crate::rules;
use crate::site::{SiteView, TargetKind};

rutter_finding::rules! {
    LINK_CLOSED = "XL081" "machine-link-closed" (warning, "D85") {
        title: "machine-readable file links to a page that must not be indexed",
        why: "The link invites agents to a page that the page itself, robots.txt or ARC restricts.",
        fix: "Delete the link, or remove the restriction.",
        wrong: "A link in llms.txt to a page that is marked noindex.",
        right: "Links to public pages only.",
    }
    ROBOTS_SITEMAP = "XL082" "robots-sitemap-absent" (warning, "SPX-048") {
        title: "robots.txt lists a sitemap that does not exist",
        why: "Crawlers request the sitemap, get an error and may miss the existing one.",
        fix: "Correct the line.",
        wrong in "robots.txt": "Sitemap: https://harbour.example/sitemap_index.xml",
        right: "Sitemap: https://harbour.example/sitemap.xml",
    }
    ROBOTS_SILENT = "XL083" "robots-without-sitemap" (advice, "SPX-048") {
        title: "robots.txt does not list the sitemap",
        why: "Crawlers that look for the sitemap in robots.txt do not find it.",
        fix: "Add a `Sitemap:` line.",
        wrong in "robots.txt":
            "User-agent: *",
            "Disallow: /drafts/",
        right:
            "User-agent: *",
            "Disallow: /drafts/",
            "Sitemap: https://harbour.example/sitemap.xml",
    }
    ROBOTS_FORBIDS = "XL084" "machine-file-disallowed" (warning, "D93") {
        title: "robots.txt disallows an announced file for all crawlers",
        why: "Crawlers that obey robots.txt never fetch the file.",
        fix: "Add an `Allow` line for the file, or limit the `Disallow` line to other paths.",
        wrong in "robots.txt":
            "User-agent: *",
            "Disallow: /scp/",
        right:
            "User-agent: *",
            "Disallow: /drafts/",
    }
    DEAD_LINK = "XL087" "dead-link" (advice, "D84") {
        title: "page links to a page or file of the site that does not exist",
        why: "People and crawlers that follow the link get an error.",
        fix: "Correct the link, or publish the target. A redirect in `_redirects` counts as a valid target.",
        wrong: r#"`<a href="/tides.html">` on a site without `tides.html`."#,
        right: r#"`<a href="/tide-tables.html">`, and `tide-tables.html` in the folder."#,
    }
    MISSING_IMAGE = "XL088" "missing-image" (advice, "D84") {
        title: "page references an image of the site that does not exist",
        why: "The page shows a broken image, and collections reference an image that cannot be fetched.",
        fix: "Correct the URL, or publish the image.",
        wrong: r#"`<img src="/images/quay.jpg">` on a site without `images/quay.jpg`."#,
        right: "`images/quay.jpg` in the folder.",
    }
}

pub(super) fn compare(view: &mut SiteView<'_>) {
    let mut findings: Vec<(u32, Finding)> = Vec::new();
    // A folder without pages is not a complete site, so its links cannot be checked.
    let is_site = view.rows.list.iter().any(|row| row.page.is_some());
    of_robots(view, is_site, &mut findings);
    of_llms(view, is_site, &mut findings);
    of_pointer(view, &mut findings);
    of_pages(view, &mut findings);
    for (file, finding) in findings {
        view.findings.add(file, finding);
    }
}

fn of_robots(view: &SiteView<'_>, is_site: bool, findings: &mut Vec<(u32, Finding)>) {
    let (Some((file, robots)), Some(home)) = (&view.machine_files.robots, view.home) else {
        return;
    };
    let mut named = Vec::new();
    for (line, url) in robots.sitemaps() {
        match view.files.resolve(home, url) {
            Some(at) => named.push(at),
            None if is_site && view.is_own(url) && !view.files.is_live() => {
                findings.push((*file, in_line(&ROBOTS_SITEMAP, line, quoted(url))));
            }
            None => {}
        }
    }
    let main = view.files.at_root(view.home, "sitemap.xml");
    // For sites with a semantic index, the SX rules check the Sitemap line of robots.txt.
    let is_asked = view.machine_files.index.is_some();
    if let Some(main) = main
        && !named.contains(&main)
        && !is_asked
        && home.is_root()
    {
        findings.push((*file, Finding::new(&ROBOTS_SILENT, Place::WHOLE, "")));
    }
    if !home.is_root() {
        return;
    }
    let machine_files = &view.machine_files;
    let announced = machine_files.sitemaps.files.iter().copied();
    let announced =
        announced.chain(machine_files.sitemaps.adverts.iter().filter_map(|one| one.file));
    let announced = announced.chain(machine_files.arc.iter().map(|arc| arc.file));
    let mut announced: Vec<u32> = announced.collect();
    announced.sort_unstable();
    announced.dedup();
    for at in announced {
        let path = view.files.path(at);
        let url = if view.files.is_live() { path.to_owned() } else { home.join(path) };
        let target = home.target_of(&url).unwrap_or("/");
        let verdict = robots.verdict("*", target);
        if !verdict.is_allowed {
            let line = verdict.rule.map_or(1, |rule| rule.line);
            findings.push((*file, in_line(&ROBOTS_FORBIDS, line, quoted(path))));
        }
    }
}

fn of_llms(view: &SiteView<'_>, is_site: bool, findings: &mut Vec<(u32, Finding)>) {
    let twins = view.rows.list.iter().enumerate();
    let twins: HashMap<u32, usize> = twins.filter_map(|(at, row)| Some((row.twin?, at))).collect();
    for (file, text) in &view.machine_files.llms {
        if let Some(order) = find_model_instruction(text) {
            findings.push((*file, Finding::new(&rules::ORDER, Place::WHOLE, quoted(order))));
        }
        let unseen = rutter_page::HiddenCharacters::count_in(text);
        if !unseen.is_nothing() {
            findings.push((*file, Finding::new(&rules::UNSEEN, Place::WHOLE, unseen.shown())));
        }
        let Some(home) = view.home.filter(|_| is_site) else { continue };
        let parsed = llms::parse(text);
        for link in parsed.links() {
            let (url, line) = (link.url.as_str(), link.line);
            let whole = if url.starts_with('/') {
                format!("{}{url}", home.origin())
            } else {
                url.to_owned()
            };
            let url = whole.split('#').next().unwrap_or_default();
            if !view.is_own(url) || view.files.is_live() {
                continue;
            }
            let Some(at) = view.files.resolve(home, url) else {
                findings.push((*file, in_line(&rules::LINK_BROKEN, line, quoted(url))));
                continue;
            };
            let row = view.rows.find(view.files, home, url).and_then(|at| view.rows.get(at));
            let of_twin = || twins.get(&at).and_then(|at| view.rows.list.get(*at));
            let row = row.or_else(of_twin);
            if let Some(row) = row
                && let Some(closed) = view.closed(row)
            {
                let detail = closed_detail(&row.url, closed);
                findings.push((*file, in_line(&LINK_CLOSED, line, detail)));
            }
        }
    }
}

fn of_pointer(view: &SiteView<'_>, findings: &mut Vec<(u32, Finding)>) {
    let (Some(home), Some(at)) = (view.home, view.files.at_root(view.home, "arc-sitemap.jsonld"))
    else {
        return;
    };
    let Ok((input, _)) = view.files.open(at) else { return };
    let Ok(JsonLdFile::Pointer(pointer)) = pointer::read(input, &mut ()) else { return };
    for url in [Some(pointer.json), pointer.yaml].into_iter().flatten() {
        if view.is_own(&url) && !view.files.is_live() && view.files.resolve(home, &url).is_none() {
            findings.push((at, Finding::new(&rules::LINK_BROKEN, Place::WHOLE, quoted(&url))));
        } else if !view.is_own(&url) {
            findings.push((at, Finding::new(&rules::OTHER_SITE, Place::WHOLE, quoted(&url))));
        }
    }
}

/// Reports each broken target once, on the first page that links to it, because a broken link in a
/// menu occurs on every page.
fn of_pages(view: &SiteView<'_>, findings: &mut Vec<(u32, Finding)>) {
    let mut targets: BTreeMap<(TargetKind, &str), (u32, u64, usize)> = BTreeMap::new();
    for row in &view.rows.list {
        let (Some(file), Some(page)) = (row.file, &row.page) else { continue };
        for one in &page.broken {
            let first = targets.entry((one.kind, &one.url)).or_insert((file, one.line, 0));
            first.2 += 1;
        }
    }
    for ((kind, url), (file, line, n_pages)) in targets {
        let rule = match kind {
            TargetKind::Link => &DEAD_LINK,
            TargetKind::Image => &MISSING_IMAGE,
        };
        let more = match n_pages {
            1 => String::new(),
            n => format!(", on {n} pages"),
        };
        findings.push((file, in_line(rule, line, format!("{}{more}", quoted(url)))));
    }
}
