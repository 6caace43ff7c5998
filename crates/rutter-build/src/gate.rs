//! The gate: one place decides what may leave, and how far (D85).

use std::path::Path;

use rutter_extract::{Extraction, Refusal, Wishes};
use rutter_page::Timestamp;
use rutter_signpost::robots::Robots;

use crate::inventory::{self, prefix};
use crate::ledger::Sight;
use crate::plan::Plan;

/// What pages call us in a `meta` of our own.
pub(crate) const TOKEN: &str = "rutter";

/// Raised when pages are judged by other evidence, so that cached ones are
/// judged again.
pub(crate) const VERSION: u8 = 3;

/// Why a page may not leave, or not in every layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bar {
    /// It asks not to be indexed.
    NoIndex,
    /// It asks not to be used by AI.
    NoAi,
    /// It appears later.
    Scheduled,
    /// It is not finished.
    Draft,
    /// It asks for a password.
    Login,
    /// It sends readers elsewhere.
    Redirect,
    /// It has no text at all.
    Empty,
    /// It has more blocks than a collection may hold.
    Oversize,
    /// The owner says that it needs a login.
    Restricted,
    /// Something on it is marked sensitive, and nobody approved of it.
    Sensitive,
    /// robots.txt forbids it to everybody.
    Robots,
}

impl Bar {
    const ALL: [Self; 11] = [
        Self::NoIndex,
        Self::NoAi,
        Self::Scheduled,
        Self::Draft,
        Self::Login,
        Self::Redirect,
        Self::Empty,
        Self::Oversize,
        Self::Restricted,
        Self::Sensitive,
        Self::Robots,
    ];

    /// For people, and for the pack.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::NoIndex => "noindex",
            Self::NoAi => "not for AI",
            Self::Scheduled => "published later",
            Self::Draft => "draft",
            Self::Login => "asks for a password",
            Self::Redirect => "redirect",
            Self::Empty => "no text",
            Self::Oversize => "too many blocks",
            Self::Restricted => "restricted",
            Self::Sensitive => "marked sensitive",
            Self::Robots => "disallowed by robots.txt",
        }
    }

    pub(crate) fn of_reason(reason: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|bar| bar.reason() == reason)
    }

    /// How far the page may go nevertheless.
    pub(crate) fn sight(self) -> Sight {
        match self {
            Self::NoAi | Self::Oversize => Sight::Listed,
            Self::NoIndex | Self::Login | Self::Restricted | Self::Sensitive | Self::Robots => {
                Sight::Bare
            }
            Self::Scheduled | Self::Draft | Self::Redirect | Self::Empty => Sight::Hidden,
        }
    }

    /// Whether only those who are let in may see the page (D57).
    pub(crate) fn needs_login(self) -> bool {
        matches!(self, Self::Login | Self::Restricted | Self::Sensitive)
    }
}

/// What the address alone says.
pub(crate) fn of_address(plan: &Plan, robots: &Robots, url: &str) -> Option<Bar> {
    if is_restricted(plan, url) {
        return Some(Bar::Restricted);
    }
    let path = url.get(plan.base.origin().len()..).unwrap_or("/");
    (!robots.is_allowed("*", path)).then_some(Bar::Robots)
}

/// Whether the owner says that a page needs a login. Addresses are compared
/// decoded and in lower case, as `serve` compares names.
pub(crate) fn is_restricted(plan: &Plan, url: &str) -> bool {
    if plan.restricted.is_empty() {
        return false;
    }
    let path = plain(url.get(plan.base.origin().len()..).unwrap_or("/"));
    let mut prefixes = plan.restricted.iter().map(|written| plain(&prefix(&plan.base, written)));
    prefixes.any(|prefix| is_closed_by(&path, &prefix))
}

/// Whether a prefix closes a path. A prefix may also name the file of a page:
/// `/a/index.html` closes `/a/` and `/a`, and `/b.html` closes `/b` and `/b/`.
fn is_closed_by(path: &str, prefix: &str) -> bool {
    if inventory::is_below_or_beside(path, prefix) {
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

/// The prefixes of `restricted` that close none of some addresses.
#[derive(Debug)]
pub(crate) struct UnusedPrefixes<'p> {
    plan: &'p Plan,
    /// As the owner wrote them, and as they are compared.
    left: Vec<(&'p String, String)>,
}

impl<'p> UnusedPrefixes<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        let left = plan.restricted.iter();
        let left = left.map(|written| (written, plain(&prefix(&plan.base, written)))).collect();
        Self { plan, left }
    }

    /// Sees one address of the site.
    pub(crate) fn see(&mut self, url: &str) {
        if !self.left.is_empty() {
            let path = plain(url.get(self.plan.base.origin().len()..).unwrap_or("/"));
            self.left.retain(|(_, prefix)| !is_closed_by(&path, prefix));
        }
    }

    /// The first one that is left.
    pub(crate) fn first(self) -> Option<&'p String> {
        self.left.into_iter().next().map(|(written, _)| written)
    }
}

/// A path decoded and in lower case.
fn plain(path: &str) -> String {
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

/// The first prefix of `restricted` below which nothing is: a misspelt one
/// would leave open what the owner wants closed. Lines are judged as they are
/// read ([`UnusedPrefixes`]).
pub(crate) fn unused_restriction(plan: &Plan) -> Option<&String> {
    if plan.source == crate::plan::Source::Lines {
        return None;
    }
    plan.restricted.iter().find(|written| {
        let name = plain(&prefix(&plan.base, written));
        let name = name.strip_prefix(&plain(plan.base.path())).unwrap_or(&name).to_owned();
        !has_name(&plan.site, &name)
    })
}

/// Whether a file or folder below a folder has a name that begins so, in any
/// case; a page may also be named without its ending.
fn has_name(folder: &Path, name: &str) -> bool {
    let (first, rest) = name.split_once('/').map_or((name, None), |(it, rest)| (it, Some(rest)));
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        // Pages below a folder that cannot be read stay published.
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

/// What the page says of itself; the most restrictive wins.
pub(crate) fn of_page(
    extraction: &Extraction,
    wishes: &Wishes,
    (is_sensitive, is_approved): (bool, bool),
    now: Timestamp,
) -> Option<Bar> {
    let facts = &extraction.facts;
    if extraction.page.published.is_some_and(|published| now < published) {
        return Some(Bar::Scheduled);
    }
    if facts.metas.iter().any(|(name, value)| name == "draft" && value == "true") {
        return Some(Bar::Draft);
    }
    let refusal = wishes.refusal(now);
    if refusal == Some(Refusal::Login) {
        return Some(Bar::Restricted);
    }
    if is_sensitive {
        return Some(Bar::Sensitive);
    }
    if matches!(refusal, Some(Refusal::NoIndex | Refusal::Expired)) {
        return Some(Bar::NoIndex);
    }
    if extraction.only_leads_on() {
        return Some(Bar::Redirect);
    }
    if facts.asks_for_password && !wishes.is_open && !is_approved {
        return Some(Bar::Login);
    }
    if refusal.is_some() {
        return Some(Bar::NoAi);
    }
    if extraction.page.content.is_empty() {
        return Some(Bar::Empty);
    }
    let most = rutter_scp::Limits::SPEC.parts.blocks;
    (most < extraction.page.content.len()).then_some(Bar::Oversize)
}

/// What excludes a page, for people: the statement or the part of the page.
pub(crate) fn evidence(bar: Bar, extraction: &Extraction, wishes: &Wishes) -> String {
    let facts = &extraction.facts;
    match bar {
        Bar::NoAi if wishes.is_for_ai == Some(false) => "ai-indexable is not true".to_owned(),
        Bar::NoIndex if !wishes.asks("noindex") => {
            let time = wishes.unavailable_after;
            time.map_or_else(
                || "robots directives".to_owned(),
                |it| format!("unavailable_after {it}"),
            )
        }
        Bar::NoIndex | Bar::NoAi => format!("robots directives: {}", wishes.robots.join(", ")),
        Bar::Scheduled => {
            let by = facts.published_by.as_deref().unwrap_or("date of publication");
            facts.published.map_or_else(|| by.to_owned(), |time| format!("{by} {time}"))
        }
        Bar::Draft => "meta draft".to_owned(),
        Bar::Login => "password form as main content".to_owned(),
        Bar::Redirect => {
            format!("refresh to {}", facts.leads_to.as_deref().unwrap_or("another page"))
        }
        Bar::Empty => "page without text, title and description".to_owned(),
        Bar::Oversize => format!("{} blocks", extraction.page.content.len()),
        Bar::Restricted if wishes.needs_login => "auth-required of the page".to_owned(),
        Bar::Sensitive => "data-ai-context sensitive".to_owned(),
        Bar::Restricted | Bar::Robots => of_address_by(bar).to_owned(),
    }
}

/// The same for what the address alone says.
pub(crate) fn of_address_by(bar: Bar) -> &'static str {
    match bar {
        Bar::Robots => "robots.txt",
        _ => "setting restricted",
    }
}
