//! Checks that layers contain exactly the public pages (D84, D85). Reports pages that a layer
//! lacks, and entries for pages that do not exist or are restricted.

use rutter_fetch::ResourceKind;
use rutter_finding::{Finding, Place, quoted};

use super::{at_pointer, closed_detail, in_line};
use crate::RestrictionReason;
use crate::site::{MediaKind, PageRow, SiteView};

rutter_finding::rules! {
    LISTED_ABSENT = "XL010" "listed-page-absent" (warning, "SPX-039") {
        title: "sitemap lists a page that does not exist",
        why: "Crawlers request the page, get an error and trust the sitemap less.",
        fix: "Delete the entry, or publish the page.",
        wrong: "`<loc>https://harbour.example/old.html</loc>`, and no `old.html` in the folder.",
        right: "Only entries of existing pages.",
    }
    UNLISTED = "XL011" "page-unlisted" (advice, "D84") {
        title: "page is not in the sitemap",
        why: "Crawlers find the page late or never.",
        fix: "Add the page to the sitemap, or mark it noindex.",
        wrong: "`berths.html` in the folder, and no entry in sitemap.xml.",
        right: "`<url><loc>https://harbour.example/berths.html</loc></url>`",
    }
    LISTED_CLOSED = "XL012" "listed-page-closed" (warning, "D85") {
        title: "sitemap lists a page that must not be indexed",
        why: "The sitemap invites crawlers to a page, but the page itself, robots.txt or ARC restricts its use.",
        fix: "Delete the entry, or remove the restriction.",
        wrong: r#"`drafts/plan.html` in sitemap.xml, and `<meta name="robots" content="noindex">` on the page."#,
        right: "Either an entry in the sitemap or noindex on the page.",
    }
    ALTERNATE_ABSENT = "XL013" "alternate-page-absent" (warning, "SPX-042") {
        title: "alternate link in the sitemap leads to a page that does not exist",
        why: "Crawlers request the page and get an error.",
        fix: "Correct the link, or publish the page.",
        wrong in "sitemap.xml": r#"<xhtml:link rel="alternate" hreflang="de" href="https://harbour.example/de/tiden.html"/>"#,
        right: r#"<xhtml:link rel="alternate" hreflang="de" href="https://harbour.example/de/gezeiten.html"/>"#,
    }
    DELIVERED_ABSENT = "XL020" "delivered-page-absent" (warning, "D84") {
        title: "collection contains a page that does not exist",
        why: "Readers store and quote a page that people cannot open.",
        fix: "Build the site again. The build removes deleted pages from the collections.",
        wrong: "The page `https://harbour.example/old.html` is in a collection but was deleted from the site.",
        right: "Collections that were built after the deletion.",
    }
    NOT_DELIVERED = "XL021" "page-not-delivered" (advice, "D84") {
        title: "page is not in any collection",
        why: "Readers of collections never get the page.",
        fix: "Build the site again, or mark the page noindex.",
        wrong: "`berths.html` on the site, but in no collection.",
        right: "Run `rutter build` after adding pages.",
    }
    DELIVERED_UNLISTED = "XL022" "delivered-page-unlisted" (advice, "D84") {
        title: "collection contains a page that is not in the sitemap",
        why: "The collection and the sitemap were written from different lists of pages.",
        fix: "Build the site again.",
        wrong: "A page in `all.scp.zst` that is not in sitemap.xml.",
        right: "Sitemap and collections of the same build.",
    }
    SECTIONS_DIFFER = "XL026" "sections-differ" (warning, "D24") {
        title: "two sections contain the same page with different content",
        why: "The order in which a reader reads the sections decides which version it keeps.",
        fix: "Build the site again, so that all sections have the same version.",
        wrong: "`docs.scp.zst` of Monday next to `all.scp.zst` of Tuesday.",
        right: "All sections of the same build.",
    }
    ARC_ABSENT = "XL040" "arc-page-absent" (warning, "D84") {
        title: "ARC sitemap lists a page that does not exist",
        why: "Agents request the page and get an error.",
        fix: "Build the site again. The build removes deleted pages from the sitemap and lists them in the dated deltas.",
        wrong: r#"`"url": "https://harbour.example/old.html"` in arc-sitemap.json, but no such page."#,
        right: "Entries of existing pages, and removals in the dated deltas.",
    }
    ARC_MISSING = "XL041" "arc-page-missing" (advice, "D84") {
        title: "page has no entry in the ARC sitemap",
        why: "Agents do not know whether they may use the page.",
        fix: "Build the site again.",
        wrong: "`berths.html` on the site, but no entry in arc-sitemap.json.",
        right: r#"`{"url": "https://harbour.example/berths.html", "ai_indexable": true}`"#,
    }
    CONSENT_DIFFERS = "XL043" "consent-differs" (warning, "D85") {
        title: "page or robots.txt restricts the page, but the ARC sitemap allows indexing",
        why: "An agent that reads only one of the two statements acts against the other statement.",
        fix: "Make both statements agree. The most restrictive statement counts.",
        wrong: r#"`<meta name="robots" content="noai">` on a page with `"ai_indexable": true` in arc-sitemap.json."#,
        right: r#"`"ai_indexable": false` for that page."#,
    }
    CLOSED_IN_ARC = "XL044" "closed-in-arc-only" (advice, "D85") {
        title: "only the ARC sitemap restricts this page",
        why: "Crawlers that do not read ARC index the page.",
        fix: "Mark the page itself as noindex or noai, or remove the restriction in ARC.",
        wrong: r#"`"ai_indexable": false` for a page without a robots meta element."#,
        right: r#"The same entry, and `<meta name="robots" content="noai">` on the page."#,
    }
    SURFACE_ABSENT = "XL050" "surface-absent" (warning, "SPX-018") {
        title: "semantic index lists a page that does not exist",
        why: "Readers of the index request the page and get an error.",
        fix: "Build the site again.",
        wrong: "`https://lights.example/west` in `spxi:hasSurface`, but no such page.",
        right: "Only surfaces of existing pages.",
    }
    SURFACE_CLOSED = "XL051" "surface-closed" (warning, "D85") {
        title: "semantic index lists a page that must not be indexed",
        why: "The index invites readers to a page that the page itself, robots.txt or ARC restricts.",
        fix: "Delete the page from the index, or remove the restriction.",
        wrong: "`https://lights.example/drafts/plan` in `spxi:hasSurface`, a page marked noindex.",
        right: "Public pages only.",
    }
    SURFACE_UNLISTED = "XL052" "surface-unlisted" (advice, "SPX-071") {
        title: "semantic index lists a page that is not in the sitemap",
        why: "The index and the sitemap were written from different lists of pages.",
        fix: "Build the site again.",
        wrong: "`https://lights.example/west` in `spxi:hasSurface`, but not in sitemap.xml.",
        right: "The page in both files.",
    }
    TWIN_MISSING = "XL061" "twin-missing" (hint, "D84") {
        title: "page has no Markdown twin, although most pages have one",
        why: "Agents that request Markdown get an error for this page.",
        fix: "Build the site again.",
        wrong: "`tides.md` and `berths.md`, but `museum.html` without `museum.md`.",
        right: "A twin next to every page.",
    }
    CLOSED_DELIVERED = "SE010" "closed-page-delivered" (warning, "D85") {
        title: "collection contains a page that must not be indexed",
        why: "Publishing a page in a collection is consent. Collections are copied and cannot be recalled.",
        fix: "Build the site again, and publish the new collections immediately.",
        wrong: "The page `members/list.html` is marked noindex but is in `all.scp.zst`.",
        right: "Collections without this page, published immediately.",
    }
    CLOSED_TWIN = "SE011" "closed-page-twin" (warning, "D85") {
        title: "page that must not be indexed has a public Markdown twin",
        why: "The twin contains the text without the restrictions of the page.",
        fix: "Delete the twin.",
        wrong: "`members/list.md` next to a `members/list.html` that is marked noindex.",
        right: "No twins of restricted pages.",
    }
}

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
                && !view.machine_files.sitemaps.files.is_empty()
                && !view.machine_files.sitemaps.is_cut,
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
    closed: Option<RestrictionReason>,
    findings: &mut RowFindings,
) {
    let listed = row.listed.and_then(|at| view.machine_files.sitemaps.listed.get(at as usize));
    if let Some((file, listed)) = listed {
        if is_absent(view, facts, row) {
            let finding = in_line(&LISTED_ABSENT, listed.line, quoted(&row.url));
            findings.push((*file, finding));
        } else if let Some(closed) = closed.filter(|closed| RestrictionReason::NoAi < *closed) {
            let detail = closed_detail(&row.url, closed);
            findings.push((*file, in_line(&LISTED_CLOSED, listed.line, detail)));
        }
        for link in &listed.links {
            let is_gone = view.is_own(&link.href)
                && !facts.is_partial
                && view.home.is_some_and(|home| view.files.resolve(home, &link.href).is_none());
            if is_gone {
                let detail = quoted(&link.href);
                findings.push((*file, in_line(&ALTERNATE_ABSENT, listed.line, detail)));
            }
        }
    } else if facts.has_sitemap && closed.is_none() && is_there(view, row) && is_looked_at(row) {
        let file = row.file.unwrap_or_default();
        findings.push((file, Finding::new(&UNLISTED, Place::WHOLE, "")));
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
    closed: Option<RestrictionReason>,
    findings: &mut RowFindings,
) {
    if let Some(scp) = &row.scp {
        let place = |rule, detail: String| {
            (scp.file, Finding::new(rule, Place::pointer(scp.line, "/url"), detail))
        };
        if is_absent(view, facts, row) {
            findings.push(place(&DELIVERED_ABSENT, quoted(&row.url)));
        } else if let Some(closed) = closed {
            findings.push(place(&CLOSED_DELIVERED, closed_detail(&row.url, closed)));
        } else if facts.has_sitemap && row.listed.is_none() {
            findings.push(place(&DELIVERED_UNLISTED, quoted(&row.url)));
        }
        if let Some((_, file, line)) = row.differs {
            let place = Place::pointer(line, "/url");
            findings.push((file, Finding::new(&SECTIONS_DIFFER, place, quoted(&row.url))));
        }
    } else if facts.has_collections
        && closed.is_none()
        && !is_oversize(row)
        && is_there(view, row)
        && is_looked_at(row)
        && (!facts.has_sitemap || row.listed.is_some())
    {
        let file = row.file.unwrap_or_default();
        findings.push((file, Finding::new(&NOT_DELIVERED, Place::WHOLE, "")));
    }
}

fn of_arc(
    view: &SiteView<'_>,
    facts: &SiteFacts,
    row: &PageRow,
    closed: Option<RestrictionReason>,
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
            findings.push((page, Finding::new(&ARC_MISSING, Place::WHOLE, "")));
        }
        return;
    };
    let pointer = format!("/pages/{}", arc.idx);
    if is_absent(view, facts, row) {
        findings.push((file, at_pointer(&ARC_ABSENT, pointer, quoted(&row.url))));
        return;
    }
    let own = row.page.as_ref().and_then(|page| page.closed);
    let own = own.max(view.closed_by_robots(&row.url));
    match (own, arc.closed) {
        (Some(own), None) => {
            let detail = closed_detail(&row.url, own);
            findings.push((file, at_pointer(&CONSENT_DIFFERS, pointer, detail)));
        }
        // The server may require a login, which no file of a folder shows.
        (None, Some(by_arc)) if by_arc != RestrictionReason::Login && is_looked_at(row) => {
            let detail = closed_detail(&row.url, by_arc);
            findings.push((file, at_pointer(&CLOSED_IN_ARC, pointer, detail)));
        }
        _ => {}
    }
}

fn of_index(
    view: &SiteView<'_>,
    facts: &SiteFacts,
    row: &PageRow,
    closed: Option<RestrictionReason>,
    findings: &mut RowFindings,
) {
    let Some((file, _)) = &view.machine_files.index else { return };
    let Some(n) = row.surface else { return };
    let pointer = format!("/spxi:hasSurface/{n}/@id");
    let rule = if is_absent(view, facts, row) {
        &SURFACE_ABSENT
    } else if let Some(closed) = closed.filter(|closed| RestrictionReason::NoAi < *closed) {
        let detail = closed_detail(&row.url, closed);
        findings.push((*file, at_pointer(&SURFACE_CLOSED, pointer, detail)));
        return;
    } else if facts.has_sitemap && row.listed.is_none() {
        &SURFACE_UNLISTED
    } else {
        return;
    };
    findings.push((*file, at_pointer(rule, pointer, quoted(&row.url))));
}

fn of_twin(
    facts: &SiteFacts,
    row: &PageRow,
    closed: Option<RestrictionReason>,
    findings: &mut RowFindings,
) {
    match (row.twin, closed) {
        (Some(twin), Some(closed)) => {
            let finding = Finding::new(&CLOSED_TWIN, Place::WHOLE, closed.reason());
            findings.push((twin, finding));
        }
        (None, None)
            if facts.has_twins
                && row.listed.is_some()
                && row.page.is_some()
                && !is_oversize(row) =>
        {
            let file = row.file.unwrap_or_default();
            findings.push((file, Finding::new(&TWIN_MISSING, Place::WHOLE, "")));
        }
        _ => {}
    }
}
