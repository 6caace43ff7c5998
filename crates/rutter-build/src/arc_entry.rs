//! Builds the ARC entry of a page and records when it last changed.
//!
//! Input: the ledger row and the cached record of the page, and the settings. Output: the entry and
//! its version in the ledger. The entry depends on nothing else, so that the pass that compares
//! entries and the pass that writes them build the same entry.
//!
//! The entry of an excluded page contains only its URL and the reason (D56, D57).

use rutter_arc::ArcEntry;
use rutter_arc::snapshot::ArcSnapshot;
use rutter_extract::{Extraction, UsageSignals};
use rutter_finding::Rule;
use rutter_page::{CowStr, Digest, LineDigest, PageUrl, RawJson, RawObject};
use rutter_site::{ArcFields, ExclusionReason, LedgerRow, PageRecord, Visibility, WithheldPage};

use crate::address::prefix;
use crate::plan::{BuildPlan, ChecksumScope};
use crate::{address, exclusion};

/// Maximum number of tags of an ARC entry.
const MAX_TAGS: usize = 50;

/// Returns the members of the entry of an excluded page; none of them comes from the page's
/// content.
pub(crate) fn excluded_fields(
    wishes: &UsageSignals,
    exclusions: [Option<ExclusionReason>; 2],
) -> ArcFields {
    let has = |is_so: fn(ExclusionReason) -> bool| exclusions.into_iter().flatten().any(is_so);
    let is_refused = wishes.asks("noindex")
        || wishes.asks("noai")
        || has(|exclusion| {
            matches!(
                exclusion,
                ExclusionReason::NoIndex | ExclusionReason::NoAi | ExclusionReason::Robots
            )
        });
    ArcFields {
        robots: wishes.robots.clone(),
        needs_login: has(ExclusionReason::needs_login) || wishes.needs_login,
        is_for_ai: wishes.is_for_ai == Some(true) && !is_refused,
        ..ArcFields::default()
    }
}

/// Returns the members of the entry of a public page.
pub(crate) fn public_fields(
    extraction: &Extraction,
    snapshot: Option<&ArcSnapshot>,
    wishes: &UsageSignals,
    bytes: &[u8],
) -> ArcFields {
    let facts = &extraction.facts;
    let given = facts.metas.iter().find(|(name, value)| {
        matches!(name.as_str(), "ai_summary" | "ai-summary" | "arc:ai_summary")
            && !value.trim().is_empty()
    });
    let given = given.map(|(_, value)| value.trim().to_owned());
    let annotated = snapshot.and_then(ArcSnapshot::summary).map(str::to_owned);
    // A generated description could contain text that annotations withhold.
    let has_withheld_text = snapshot.is_some_and(|snapshot| !snapshot.contexts().is_empty());
    let is_generated = is_generated(extraction, &rutter_extract::rules::NO_DESCRIPTION);
    let empty = (has_withheld_text && is_generated).then(String::new);
    let mut tags: Vec<String> = Vec::new();
    let categories = snapshot.map(ArcSnapshot::tags).unwrap_or_default();
    // The kinds of sensitive data that annotations name become tags, too.
    let contexts = snapshot.map(ArcSnapshot::contexts).unwrap_or_default();
    for tag in facts.keywords.iter().map(String::as_str).chain(categories).chain(contexts) {
        push_tag(&mut tags, tag);
    }
    ArcFields {
        summary: given.or(annotated).or(empty),
        tags,
        robots: wishes.robots.clone(),
        needs_login: false,
        is_for_ai: wishes.is_for_ai == Some(true),
        priority: wishes.priority,
        snapshot: snapshot.map(ArcSnapshot::to_json),
        html: std::str::from_utf8(bytes)
            .is_err()
            .then(|| Digest::of(rutter_extract::decoded(bytes).as_bytes()).to_string()),
    }
}

fn push_tag(tags: &mut Vec<String>, tag: &str) {
    let tag = tag.trim();
    let is_known = tags.iter().any(|known| known.eq_ignore_ascii_case(tag));
    if !tag.is_empty() && !is_known && tags.len() < MAX_TAGS {
        tags.push(tag.to_owned());
    }
}

fn is_generated(extraction: &Extraction, rule: &Rule) -> bool {
    extraction.findings.iter().any(|finding| std::ptr::eq(finding.rule, rule))
}

/// Returns whether the path of a page is below one of these path prefixes.
pub(crate) fn is_below<'w>(
    plan: &BuildPlan,
    mut prefixes: impl Iterator<Item = &'w String>,
    url: &str,
) -> bool {
    let path = url.get(plan.base.origin().len()..).unwrap_or("/");
    prefixes.any(|written| rutter_site::is_below(path, &prefix(&plan.base, written)))
}

/// Returns whether the site owner excludes the page from all ARC files.
fn is_unlisted(plan: &BuildPlan, url: &str) -> bool {
    let path = url.get(plan.base.origin().len()..).unwrap_or("/");
    let mut prefixes = plan.arc.unlisted.iter().map(|written| prefix(&plan.base, written));
    prefixes.any(|prefix| address::is_below_or_beside(path, &prefix))
}

/// Returns the ARC entry of a page, or `None` if the ARC sitemap does not list the page.
pub(crate) fn entry(
    plan: &BuildPlan,
    row: &LedgerRow,
    record: &PageRecord,
) -> Option<ArcEntry<'static>> {
    if is_unlisted(plan, &row.url) {
        return None;
    }
    let url = PageUrl::parse(row.url.clone()).ok()?;
    let fields = &record.meta.arc;
    let exclusion = record.meta.exclusion.as_deref().and_then(ExclusionReason::parse);
    // The site owner did not name these pages as restricted; a public list would reveal their URLs
    // (D85 as amended).
    if matches!(exclusion, Some(ExclusionReason::Login | ExclusionReason::Robots))
        && !plan.arc.lists_restricted
    {
        return None;
    }
    // A page that needs scripts has no extracted text, so its entry would be empty.
    if exclusion == Some(ExclusionReason::Shell) {
        return None;
    }
    let shows_content = match row.visibility {
        Visibility::Hidden | Visibility::Removed => return None,
        Visibility::Public => true,
        // The page is public, but too large for a collection.
        Visibility::Listed => exclusion == Some(ExclusionReason::Oversize),
        Visibility::AddressOnly => false,
    };
    let directives = directives(&fields.robots, exclusion);
    if !shows_content {
        // The settings are checked again: if a file cannot be read, its record comes from an
        // earlier build, and may be older than the settings.
        let needs_login = fields.needs_login || exclusion::is_restricted(plan, &row.url);
        let may_be_used = fields.needs_login && fields.is_for_ai;
        let entry = ArcEntry {
            lastmod: Some(row.modified),
            auth_required: needs_login.then_some(true),
            robots_directive: directives,
            ..ArcEntry::new(url, Some(may_be_used))
        };
        return Some(entry.without_content());
    }
    let summary = fields.summary.as_ref().unwrap_or(&record.meta.description);
    let mut tags = fields.tags.clone();
    if row.section != rutter_site::MAIN {
        push_tag(&mut tags, &row.section);
    }
    let snapshot = fields.snapshot.as_deref().and_then(|text| RawJson::parse(text).ok());
    Some(ArcEntry {
        lastmod: Some(row.modified),
        robots_directive: directives,
        crawl_priority: priority(plan, row).or(fields.priority),
        ai_summary: (!summary.is_empty()).then(|| CowStr::from(summary.clone())),
        ai_tags: tags.into_iter().map(CowStr::from).collect(),
        ai_checksum: checksum(plan, record).map(CowStr::from),
        ai_snapshot: snapshot.and_then(RawObject::new),
        ..ArcEntry::new(url, Some(true))
    })
}

/// Returns the ARC entry of a page that needs a login, for authenticated partners (D57).
pub(crate) fn partner_entry(
    plan: &BuildPlan,
    row: &LedgerRow,
    record: &PageRecord,
) -> Option<ArcEntry<'static>> {
    if row.visibility != Visibility::AddressOnly || is_unlisted(plan, &row.url) {
        return None;
    }
    let WithheldPage { fields, line } = record.meta.withheld.as_deref()?;
    let url = PageUrl::parse(row.url.clone()).ok()?;
    let forbids = |word: &str| fields.robots.iter().any(|directive| directive == word);
    let may_be_used = !forbids("noindex") && !forbids("noai") && !forbids("none");
    let summary = fields.summary.as_ref().unwrap_or(&record.meta.description);
    let snapshot = fields.snapshot.as_deref().and_then(|text| RawJson::parse(text).ok());
    Some(ArcEntry {
        lastmod: Some(row.modified),
        auth_required: Some(true),
        robots_directive: directives(&fields.robots, None),
        crawl_priority: priority(plan, row).or(fields.priority),
        ai_summary: (!summary.is_empty()).then(|| CowStr::from(summary.clone())),
        ai_tags: fields.tags.iter().cloned().map(CowStr::from).collect(),
        ai_checksum: Some(CowStr::from(Digest::of(line.as_bytes()).to_string())),
        ai_snapshot: snapshot.and_then(RawObject::new),
        ..ArcEntry::new(url, Some(may_be_used))
    })
}

/// Returns the robots directives of a page as one string, including a `noindex` that excludes it.
fn directives(robots: &[String], exclusion: Option<ExclusionReason>) -> Option<CowStr<'static>> {
    let mut all: Vec<&str> = robots.iter().map(String::as_str).collect();
    if exclusion == Some(ExclusionReason::NoIndex) && !all.contains(&"noindex") {
        all.insert(0, "noindex");
    }
    (!all.is_empty()).then(|| CowStr::from(all.join(", ")))
}

fn checksum(plan: &BuildPlan, record: &PageRecord) -> Option<String> {
    match plan.arc.checksum {
        ChecksumScope::Content => {
            (!record.line.is_empty()).then(|| Digest::of(&record.line).to_string())
        }
        ChecksumScope::Html => {
            let source = Some(&record.meta.source).filter(|source| !source.is_empty());
            record.meta.arc.html.as_ref().or(source).cloned()
        }
    }
}

/// Returns the configured priority of the longest path prefix that matches the page.
fn priority(plan: &BuildPlan, row: &LedgerRow) -> Option<f64> {
    let fits = |(written, _): &&(String, f64)| is_below(plan, std::iter::once(written), &row.url);
    let found = plan.arc.priorities.iter().filter(fits);
    found.max_by_key(|(written, _)| written.len()).map(|(_, priority)| *priority)
}

/// Returns the digest of an ARC entry, which identifies its version.
pub(crate) fn digest(entry: &ArcEntry<'_>) -> LineDigest {
    LineDigest::of(entry.to_json().as_bytes())
}
