//! Checks that layers contain exactly the public pages (D84, D85). Reports pages that a layer
//! lacks, and entries for pages that do not exist or are restricted.

use rutter_fetch::ResourceKind;
use rutter_finding::{Finding, Place, quoted};

use super::{at_pointer, closed_detail, in_line};
use crate::Restriction;
use crate::rules;
use crate::site::{MediaKind, PageRow, SiteView};

/// Findings about a row, each with the index of the file that it belongs to.
type RowFindings = Vec<(u32, Finding)>;

pub(super) fn compare(view: &mut SiteView<'_>) {
    // A folder without pages is not a complete site, so no page can be missing.
    if view.rows.list.iter().all(|row| row.page.is_none()) {
        return;
    }
    let facts = SiteFacts::of(view);
    let mut findings = RowFindings::new();
    for row in &view.rows.list {
        let closed = view.closed(row);
        of_sitemap(view, &facts, row, closed, &mut findings);
        of_collections(view, &facts, row, closed, &mut findings);
        of_arc(view, &facts, row, closed, &mut findings);
        of_index(view, &facts, row, closed, &mut findings);
        of_twin(&facts, row, closed, &mut findings);
    }
    for (file, finding) in findings {
        view.findings.add(file, finding);
    }
}

/// Which layers the site has, and other properties of the whole site.
#[expect(clippy::struct_excessive_bools, reason = "each layer is there or not")]
struct SiteFacts {
    has_sitemap: bool,
    has_collections: bool,
    has_arc: bool,
    has_twins: bool,
    /// Whether pages may exist that are not among the checked files, as on a live site.
    is_partial: bool,
}

impl SiteFacts {
    fn of(view: &SiteView<'_>) -> Self {
        let rows = &view.rows.list;
        let n_public =
            rows.iter().filter(|row| row.listed.is_some() && is_there(view, row)).count();
        let n_twins = rows.iter().filter(|row| row.twin.is_some()).count();
        // Without the base URL, the entries of layers cannot be matched with files.
        let has_home = view.home.is_some_and(|home| !home.is_placeholder());
        let may_lack = !view.files.may_be_more(ResourceKind::Collection);
        Self {
            has_sitemap: has_home
                && !view.machine_files.sitemaps.is_empty()
                && !view.machine_files.is_cut,
            has_collections: has_home && view.machine_files.has_pages && may_lack,
            has_arc: has_home && view.machine_files.arc.is_some(),
            has_twins: 0 < n_twins && n_public < n_twins * 2,
            is_partial: view.files.is_live(),
        }
    }
}

fn is_there(view: &SiteView<'_>, row: &PageRow) -> bool {
    row.file.is_some_and(|file| view.files.get(file).kind == MediaKind::Page)
}

/// Returns whether the page of a row does not exist.
fn is_absent(view: &SiteView<'_>, facts: &SiteFacts, row: &PageRow) -> bool {
    row.file.is_none() && !facts.is_partial && view.is_own(&row.url)
}

fn of_sitemap(
    view: &SiteView<'_>,
    facts: &SiteFacts,
    row: &PageRow,
    closed: Option<Restriction>,
    findings: &mut RowFindings,
) {
    let listed = row.listed.and_then(|at| view.machine_files.listed.get(at as usize));
    if let Some((file, listed)) = listed {
        if is_absent(view, facts, row) {
            let finding = in_line(&rules::LISTED_ABSENT, listed.line, quoted(&row.url));
            findings.push((*file, finding));
        } else if let Some(closed) = closed.filter(|closed| Restriction::NoAi < *closed) {
            let detail = closed_detail(&row.url, closed);
            findings.push((*file, in_line(&rules::LISTED_CLOSED, listed.line, detail)));
        }
        for link in &listed.links {
            let is_gone = view.is_own(&link.href)
                && !facts.is_partial
                && view.home.is_some_and(|home| view.files.resolve(home, &link.href).is_none());
            if is_gone {
                let detail = quoted(&link.href);
                findings.push((*file, in_line(&rules::ALTERNATE_ABSENT, listed.line, detail)));
            }
        }
    } else if facts.has_sitemap && closed.is_none() && is_there(view, row) && is_looked_at(row) {
        let file = row.file.unwrap_or_default();
        findings.push((file, Finding::new(&rules::UNLISTED, Place::WHOLE, "")));
    }
}

/// Returns whether the page of a row was read.
fn is_looked_at(row: &PageRow) -> bool {
    row.page.as_ref().is_some_and(|page| page.digests.iter().any(Option::is_some))
}

/// Returns whether the page of a row is too large for a collection.
fn is_oversize(row: &PageRow) -> bool {
    row.page.as_ref().is_some_and(|page| page.is_oversize)
}

fn of_collections(
    view: &SiteView<'_>,
    facts: &SiteFacts,
    row: &PageRow,
    closed: Option<Restriction>,
    findings: &mut RowFindings,
) {
    if let Some(scp) = &row.scp {
        let place = |rule, detail: String| {
            (scp.file, Finding::new(rule, Place::pointer(scp.line, "/url"), detail))
        };
        if is_absent(view, facts, row) {
            findings.push(place(&rules::DELIVERED_ABSENT, quoted(&row.url)));
        } else if let Some(closed) = closed {
            findings.push(place(&rules::CLOSED_DELIVERED, closed_detail(&row.url, closed)));
        } else if facts.has_sitemap && row.listed.is_none() {
            findings.push(place(&rules::DELIVERED_UNLISTED, quoted(&row.url)));
        }
        if let Some((_, file, line)) = row.differs {
            let place = Place::pointer(line, "/url");
            findings.push((file, Finding::new(&rules::SECTIONS_DIFFER, place, quoted(&row.url))));
        }
    } else if facts.has_collections
        && closed.is_none()
        && !is_oversize(row)
        && is_there(view, row)
        && is_looked_at(row)
        && (!facts.has_sitemap || row.listed.is_some())
    {
        let file = row.file.unwrap_or_default();
        findings.push((file, Finding::new(&rules::NOT_DELIVERED, Place::WHOLE, "")));
    }
}

fn of_arc(
    view: &SiteView<'_>,
    facts: &SiteFacts,
    row: &PageRow,
    closed: Option<Restriction>,
    findings: &mut RowFindings,
) {
    let Some(file) = view.machine_files.arc.as_ref().map(|arc| arc.file) else { return };
    let Some(arc) = &row.arc else {
        if facts.has_arc
            && closed.is_none()
            && is_there(view, row)
            && is_looked_at(row)
            && (!facts.has_sitemap || row.listed.is_some())
        {
            let page = row.file.unwrap_or_default();
            findings.push((page, Finding::new(&rules::ARC_MISSING, Place::WHOLE, "")));
        }
        return;
    };
    let pointer = format!("/pages/{}", arc.idx);
    if is_absent(view, facts, row) {
        findings.push((file, at_pointer(&rules::ARC_ABSENT, pointer, quoted(&row.url))));
        return;
    }
    let own = row.page.as_ref().and_then(|page| page.closed);
    let own = own.max(view.closed_by_robots(&row.url));
    match (own, arc.closed) {
        (Some(own), None) => {
            let detail = closed_detail(&row.url, own);
            findings.push((file, at_pointer(&rules::CONSENT_DIFFERS, pointer, detail)));
        }
        // The server may require a login, which no file of a folder shows.
        (None, Some(by_arc)) if by_arc != Restriction::Login && is_looked_at(row) => {
            let detail = closed_detail(&row.url, by_arc);
            findings.push((file, at_pointer(&rules::CLOSED_IN_ARC, pointer, detail)));
        }
        _ => {}
    }
}

fn of_index(
    view: &SiteView<'_>,
    facts: &SiteFacts,
    row: &PageRow,
    closed: Option<Restriction>,
    findings: &mut RowFindings,
) {
    let Some((file, _)) = &view.machine_files.index else { return };
    let Some(n) = row.surface else { return };
    let pointer = format!("/spxi:hasSurface/{n}/@id");
    let rule = if is_absent(view, facts, row) {
        &rules::SURFACE_ABSENT
    } else if let Some(closed) = closed.filter(|closed| Restriction::NoAi < *closed) {
        let detail = closed_detail(&row.url, closed);
        findings.push((*file, at_pointer(&rules::SURFACE_CLOSED, pointer, detail)));
        return;
    } else if facts.has_sitemap && row.listed.is_none() {
        &rules::SURFACE_UNLISTED
    } else {
        return;
    };
    findings.push((*file, at_pointer(rule, pointer, quoted(&row.url))));
}

fn of_twin(
    facts: &SiteFacts,
    row: &PageRow,
    closed: Option<Restriction>,
    findings: &mut RowFindings,
) {
    match (row.twin, closed) {
        (Some(twin), Some(closed)) => {
            let finding = Finding::new(&rules::CLOSED_TWIN, Place::WHOLE, closed.reason());
            findings.push((twin, finding));
        }
        (None, None)
            if facts.has_twins
                && row.listed.is_some()
                && row.page.is_some()
                && !is_oversize(row) =>
        {
            let file = row.file.unwrap_or_default();
            findings.push((file, Finding::new(&rules::TWIN_MISSING, Place::WHOLE, "")));
        }
        _ => {}
    }
}
