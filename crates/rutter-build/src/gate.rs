//! The gate: one place decides what may leave, and how far (D85).

use memchr::memmem;
use rutter_extract::{Annotated, Extraction};
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
    let path = url.get(plan.base.origin().len()..).unwrap_or("/");
    let mut restricted = plan.restricted.iter().map(|written| prefix(&plan.base, written));
    if restricted.any(|prefix| path.starts_with(&prefix)) {
        return Some(Bar::Restricted);
    }
    (!robots.is_allowed("*", path)).then_some(Bar::Robots)
}

/// What a page wishes, in whichever way it says so.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Wishes {
    /// Directives for every robot, in lower case, each once.
    pub(crate) robots: Vec<String>,
    pub(crate) needs_login: bool,
    /// Whether AI may use it; `None` where it does not say.
    pub(crate) is_for_ai: Option<bool>,
    /// From 0 to 1.
    pub(crate) priority: Option<f64>,
}

impl Wishes {
    pub(crate) fn of(extraction: &Extraction) -> Self {
        let mut wishes = Self::default();
        for robots in extraction.facts.robots.iter().filter(|robots| robots.agent == "robots") {
            wishes.direct(robots.directives.iter().map(String::as_str));
        }
        let metas = extraction.facts.metas.iter();
        let metas = metas.map(|(name, value)| (name.strip_prefix("arc:").unwrap_or(name), value));
        let is_page = |element: &&Annotated| {
            matches!(element.element.as_str(), "html" | "body" | "main" | "article")
                || element.attributes.iter().any(|(name, _)| name == "data-ai-page")
        };
        let of_page = extraction.annotated.iter().filter(is_page);
        let attributes = of_page.flat_map(|element| &element.attributes);
        let attributes =
            attributes.filter_map(|(name, value)| Some((name.strip_prefix("data-ai-")?, value)));
        for (name, value) in metas.chain(attributes) {
            let value = value.trim().to_ascii_lowercase();
            match name {
                "ai_indexable" | "ai-indexable" | "indexable" => {
                    // Only the word itself is consent, and one refusal counts.
                    let is_given = value == "true" && wishes.is_for_ai != Some(false);
                    wishes.is_for_ai = Some(is_given);
                }
                "auth_required" | "auth-required" => {
                    wishes.needs_login |= !matches!(value.as_str(), "false" | "no" | "0");
                }
                "robots_directive" | "robots-directive" => {
                    wishes.direct(value.split(',').map(str::trim));
                }
                "crawl_priority" | "crawl-priority" => {
                    let given = value.parse().ok().filter(|given| (0.0..=1.0).contains(given));
                    wishes.priority = given.or(wishes.priority);
                }
                _ => {}
            }
        }
        wishes
    }

    fn direct<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        for word in words {
            // What everybody may do anyway is not worth a word.
            let is_usual = matches!(word, "" | "all" | "index" | "follow");
            if !is_usual && !self.robots.iter().any(|known| known == word) {
                self.robots.push(word.to_owned());
            }
        }
    }

    pub(crate) fn asks(&self, directive: &str) -> bool {
        self.robots.iter().any(|word| {
            word == directive || (word == "none" && matches!(directive, "noindex" | "nofollow"))
        })
    }
}

/// What the page says of itself; the most restrictive wins.
pub(crate) fn of_page(
    extraction: &Extraction,
    wishes: &Wishes,
    is_sensitive: bool,
    bytes: &[u8],
    now: Timestamp,
) -> Option<Bar> {
    let facts = &extraction.facts;
    if extraction.page.published.is_some_and(|published| now < published) {
        return Some(Bar::Scheduled);
    }
    if facts.metas.iter().any(|(name, value)| name == "draft" && value == "true") {
        return Some(Bar::Draft);
    }
    if wishes.needs_login {
        return Some(Bar::Restricted);
    }
    if is_sensitive {
        return Some(Bar::Sensitive);
    }
    if wishes.asks("noindex") {
        return Some(Bar::NoIndex);
    }
    if extraction.only_leads_on() {
        return Some(Bar::Redirect);
    }
    if asks_for_password(bytes) && extraction.is_short() {
        return Some(Bar::Login);
    }
    if wishes.is_for_ai == Some(false) || wishes.asks("noai") {
        return Some(Bar::NoAi);
    }
    if extraction.page.content.is_empty() {
        return Some(Bar::Empty);
    }
    let most = rutter_scp::Limits::SPEC.parts.blocks;
    (most < extraction.page.content.len()).then_some(Bar::Oversize)
}

fn asks_for_password(bytes: &[u8]) -> bool {
    ["type=\"password\"", "type='password'", "type=password", "type=\"PASSWORD\""]
        .iter()
        .any(|form| memmem::find(bytes, form.as_bytes()).is_some())
}
