//! Decides whether a page is excluded, why, and from which layers (D85).
//!
//! Input: the plan, robots.txt, the URL and the extracted page. Output: the [`ExclusionReason`] of
//! the page and the evidence for it. Each reason has a [`Visibility`].

use std::path::Path;

use rutter_extract::{Extraction, UsageSignals, UseRefusal};
use rutter_page::Timestamp;
use rutter_robots::RobotsTxt;
use rutter_site::ExclusionReason;

use crate::address;
use crate::address::prefix;
use crate::plan::BuildPlan;

/// Agent name with which the `meta` elements of a page can address Rutter.
pub(crate) const TOKEN: &str = "rutter";

/// Version of the exclusion rules. A new version makes builds decide the visibility of cached pages
/// again.
pub(crate) const VERSION: u8 = 4;

/// Returns the reason to exclude a page that follows from its URL alone; `None` if there is no such
/// reason.
pub(crate) fn by_url(plan: &BuildPlan, robots: &RobotsTxt, url: &str) -> Option<ExclusionReason> {
    if is_restricted(plan, url) {
        return Some(ExclusionReason::Restricted);
    }
    let path = url.get(plan.base.origin().len()..).unwrap_or("/");
    (!robots.is_allowed("*", path)).then_some(ExclusionReason::Robots)
}

/// Returns whether the site owner restricted the path of a page. Paths are compared percent-decoded
/// and in lower case, because web servers may find a file under any of these spellings.
pub(crate) fn is_restricted(plan: &BuildPlan, url: &str) -> bool {
    if plan.restricted.is_empty() {
        return false;
    }
    let path = normalized(url.get(plan.base.origin().len()..).unwrap_or("/"));
    let mut prefixes =
        plan.restricted.iter().map(|written| normalized(&prefix(&plan.base, written)));
    prefixes.any(|prefix| is_restricted_by(&path, &prefix))
}

/// Returns whether a configured prefix restricts a path. A prefix may also name the file of a page:
/// `/a/index.html` restricts `/a/` and `/a`, and `/b.html` restricts `/b` and `/b/`.
fn is_restricted_by(path: &str, prefix: &str) -> bool {
    if address::is_below_or_beside(path, prefix) {
        return true;
    }
    let endings = [".html", ".htm", ".xhtml", ".md", ".markdown"];
    let Some(stem) = endings.iter().find_map(|ending| prefix.strip_suffix(ending)) else {
        return false;
    };
    let page = match stem.rsplit_once('/') {
        Some((folder, "index" | "_index" | "readme")) => folder,
        _ => stem,
    };
    path.trim_end_matches('/') == page
}

/// Restricted path prefixes that have matched no page URL so far.
#[derive(Debug)]
pub(crate) struct UnusedPrefixes<'p> {
    plan: &'p BuildPlan,
    /// Each unmatched prefix as configured, and in the form in which it is compared.
    left: Vec<(&'p String, String)>,
}

impl<'p> UnusedPrefixes<'p> {
    pub(crate) fn new(plan: &'p BuildPlan) -> Self {
        let left = plan.restricted.iter();
        let left =
            left.map(|written| (written, normalized(&prefix(&plan.base, written)))).collect();
        Self { plan, left }
    }

    /// Removes the restricted prefixes that match a URL.
    pub(crate) fn remove_matching(&mut self, url: &str) {
        if !self.left.is_empty() {
            let path = normalized(url.get(self.plan.base.origin().len()..).unwrap_or("/"));
            self.left.retain(|(_, prefix)| !is_restricted_by(&path, prefix));
        }
    }

    /// Returns the first restricted prefix that has matched no URL.
    pub(crate) fn first(self) -> Option<&'p String> {
        self.left.into_iter().next().map(|(written, _)| written)
    }
}

/// Returns a URL path percent-decoded and in lower case.
fn normalized(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let byte = match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => u8::try_from(16 * high + low).ok(),
            _ => None,
        };
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).to_lowercase()
}

/// Returns the first restricted prefix that matches no file of the site. Such a prefix is probably
/// misspelt, and pages that it should restrict would be published. For JSON Lines,
/// [`UnusedPrefixes`] finds such prefixes while the lines are read.
pub(crate) fn find_unused_restriction(plan: &BuildPlan) -> Option<&String> {
    if plan.source == crate::plan::SourceKind::Lines {
        return None;
    }
    plan.restricted.iter().find(|written| {
        let name = normalized(&prefix(&plan.base, written));
        let name = name.strip_prefix(&normalized(plan.base.path())).unwrap_or(&name).to_owned();
        !has_name(&plan.site, &name)
    })
}

/// Returns whether a folder contains a file or folder whose path starts with `name`, ignoring case.
/// `name` may also be the path of a page without its file extension.
fn has_name(folder: &Path, name: &str) -> bool {
    let (first, rest) = name.split_once('/').map_or((name, None), |(it, rest)| (it, Some(rest)));
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        // An unreadable folder counts as a match, because the pages below it stay published.
        Err(error) => return error.kind() == std::io::ErrorKind::PermissionDenied,
    };
    entries.filter_map(Result::ok).any(|entry| {
        let found = entry.file_name().to_string_lossy().to_lowercase();
        match rest {
            None => found.starts_with(first),
            Some("") => found == first || found.starts_with(&format!("{first}.")),
            Some(rest) => found == first && has_name(&entry.path(), rest),
        }
    })
}

/// Returns the reason to exclude a page that follows from its content and its statements. If
/// several reasons apply, the most restrictive one is returned.
pub(crate) fn by_page(
    extraction: &Extraction,
    wishes: &UsageSignals,
    (is_sensitive, is_approved): (bool, bool),
    now: Timestamp,
) -> Option<ExclusionReason> {
    let facts = &extraction.facts;
    if extraction.page.published.is_some_and(|published| now < published) {
        return Some(ExclusionReason::Scheduled);
    }
    if facts.metas.iter().any(|(name, value)| name == "draft" && value == "true") {
        return Some(ExclusionReason::Draft);
    }
    let refusal = wishes.refusal(now);
    if refusal == Some(UseRefusal::Login) {
        return Some(ExclusionReason::Restricted);
    }
    if is_sensitive {
        return Some(ExclusionReason::Sensitive);
    }
    if matches!(refusal, Some(UseRefusal::NoIndex | UseRefusal::Expired)) {
        return Some(ExclusionReason::NoIndex);
    }
    if extraction.only_leads_on() {
        return Some(ExclusionReason::Redirect);
    }
    if facts.asks_for_password && !wishes.is_open && !is_approved {
        return Some(ExclusionReason::Login);
    }
    if refusal.is_some() {
        return Some(ExclusionReason::NoAi);
    }
    if extraction.page.content.is_empty() {
        return Some(ExclusionReason::Empty);
    }
    if extraction.needs_scripts {
        return Some(ExclusionReason::Shell);
    }
    let most = rutter_scp::Limits::SPEC.parts.blocks;
    (most < extraction.page.content.len()).then_some(ExclusionReason::Oversize)
}

/// Returns the evidence for an exclusion: the statement or the part of the page that causes it.
pub(crate) fn evidence(
    exclusion: ExclusionReason,
    extraction: &Extraction,
    wishes: &UsageSignals,
) -> String {
    let facts = &extraction.facts;
    match exclusion {
        ExclusionReason::NoAi if wishes.is_for_ai == Some(false) => {
            "ai-indexable is not true".to_owned()
        }
        ExclusionReason::NoIndex if !wishes.asks("noindex") => {
            let time = wishes.unavailable_after;
            time.map_or_else(
                || "robots directives".to_owned(),
                |it| format!("unavailable_after {it}"),
            )
        }
        ExclusionReason::NoIndex | ExclusionReason::NoAi => {
            format!("robots directives: {}", wishes.robots.join(", "))
        }
        ExclusionReason::Scheduled => {
            let by = facts.published_by.as_deref().unwrap_or("publication date");
            facts.published.map_or_else(|| by.to_owned(), |time| format!("{by} {time}"))
        }
        ExclusionReason::Draft => "meta draft".to_owned(),
        ExclusionReason::Login => "the main content is a password form".to_owned(),
        ExclusionReason::Redirect => {
            format!("refresh to {}", facts.leads_to.as_deref().unwrap_or("another page"))
        }
        ExclusionReason::Empty => "the page has no text, title or description".to_owned(),
        ExclusionReason::Shell => {
            let code = rutter_extract::rules::SCRIPT_SHELL.code;
            let shown = extraction.findings.iter().find(|finding| finding.rule.code == code);
            shown.map_or_else(|| "needs scripts".to_owned(), |finding| finding.detail.clone())
        }
        ExclusionReason::Oversize => format!("{} blocks", extraction.page.content.len()),
        ExclusionReason::Restricted if wishes.needs_login => {
            "the page declares auth-required".to_owned()
        }
        ExclusionReason::Sensitive => "data-ai-context is sensitive".to_owned(),
        ExclusionReason::Restricted | ExclusionReason::Robots => {
            evidence_of_url(exclusion).to_owned()
        }
    }
}

/// Returns the evidence for an exclusion that follows from the URL alone.
pub(crate) fn evidence_of_url(exclusion: ExclusionReason) -> &'static str {
    match exclusion {
        ExclusionReason::Robots => "robots.txt",
        _ => "setting `restricted`",
    }
}
