//! The gate: one place decides what may leave, and how far (D85).

use memchr::memmem;
use rutter_extract::Extraction;
use rutter_page::Timestamp;
use rutter_signpost::robots::Robots;

use crate::inventory::prefix;
use crate::ledger::Sight;
use crate::plan::Plan;

/// Why a page may not leave, or not in every layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Bar {
    /// It asks not to be indexed.
    NoIndex,
    /// It asks not to be used by AI.
    NoAi,
    /// It appears later.
    Scheduled,
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
    /// robots.txt forbids it to everybody.
    Robots,
}

impl Bar {
    const ALL: [Self; 9] = [
        Self::NoIndex,
        Self::NoAi,
        Self::Scheduled,
        Self::Login,
        Self::Redirect,
        Self::Empty,
        Self::Oversize,
        Self::Restricted,
        Self::Robots,
    ];

    /// For people, and for the pack.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::NoIndex => "noindex",
            Self::NoAi => "not for AI",
            Self::Scheduled => "published later",
            Self::Login => "asks for a password",
            Self::Redirect => "redirect",
            Self::Empty => "no text",
            Self::Oversize => "too many blocks",
            Self::Restricted => "restricted",
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
            Self::NoIndex | Self::Login | Self::Restricted | Self::Robots => Sight::Bare,
            Self::Scheduled | Self::Redirect | Self::Empty => Sight::Hidden,
        }
    }
}

/// What the address alone says.
pub(crate) fn of_address(plan: &Plan, robots: &Robots, url: &str) -> Option<Bar> {
    let path = url.get(plan.base.origin().len()..).unwrap_or("/");
    let mut restricted = plan.restricted.iter().map(|written| prefix(&plan.base, written));
    if restricted.any(|prefix| path.starts_with(&prefix)) {
        return Some(Bar::Restricted);
    }
    (!robots.is_allowed("*", path)).then_some(Bar::Robots)
}

/// What the page says of itself; the most restrictive wins.
pub(crate) fn of_page(extraction: &Extraction, bytes: &[u8], now: Timestamp) -> Option<Bar> {
    let facts = &extraction.facts;
    if extraction.page.published.is_some_and(|published| now < published) {
        return Some(Bar::Scheduled);
    }
    if facts.asks("noindex") {
        return Some(Bar::NoIndex);
    }
    if facts.refresh.is_some() && extraction.page.to_text().len() < SHORT {
        return Some(Bar::Redirect);
    }
    if asks_for_password(bytes) && extraction.page.to_text().len() < SHORT {
        return Some(Bar::Login);
    }
    if is_not_for_ai(extraction) {
        return Some(Bar::NoAi);
    }
    if extraction.page.content.is_empty() {
        return Some(Bar::Empty);
    }
    let most = rutter_scp::Limits::SPEC.parts.blocks;
    (most < extraction.page.content.len()).then_some(Bar::Oversize)
}

/// Text below which a form or a way elsewhere is the whole page.
const SHORT: usize = 600;

fn asks_for_password(bytes: &[u8]) -> bool {
    ["type=\"password\"", "type='password'", "type=password", "type=\"PASSWORD\""]
        .iter()
        .any(|form| memmem::find(bytes, form.as_bytes()).is_some())
}

fn is_not_for_ai(extraction: &Extraction) -> bool {
    let is_false = |value: &str| matches!(value.trim(), "false" | "no" | "0");
    let by_meta = extraction.facts.metas.iter().any(|(name, value)| {
        matches!(name.as_str(), "ai_indexable" | "ai-indexable" | "arc:ai_indexable")
            && is_false(&value.to_ascii_lowercase())
    });
    let by_attribute = extraction.annotated.iter().any(|element| {
        matches!(element.element.as_str(), "html" | "body" | "main")
            && element.attributes.iter().any(|(name, value)| {
                name == "data-ai-indexable" && is_false(&value.to_ascii_lowercase())
            })
    });
    extraction.facts.asks("noai") || by_meta || by_attribute
}
