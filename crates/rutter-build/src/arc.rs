//! What is said of each page to AI agents: its entry in the ARC sitemap, and
//! when that last changed.
//!
//! An entry is a function of the page's row, its record and the settings, so
//! that the pass that compares entries and the pass that writes them agree.
//!
//! Refuses: to say more of a page that may not leave than its address and what
//! bars it (D56, D57).

use std::fmt;

use rutter_arc::Entry;
use rutter_arc::snapshot::{Document, Element, Snapshot, snapshot};
use rutter_extract::{Extraction, Wishes};
use rutter_finding::{FindingSink, Rule};
use rutter_page::{Digest, LanguageTag, LineDigest, Object, PageUrl, Raw, Str, Timestamp};
use serde::{Deserialize, Serialize};

use crate::gate::{self, Bar};
use crate::inventory::{self, prefix};
use crate::ledger::{Row, Sight};
use crate::pack::{Record, Withheld};
use crate::plan::{Checksum, Plan};

/// Most tags an entry gets.
const MOST_TAGS: usize = 50;

/// What a page gives to its entry; part of its record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Words {
    /// What the owner wants to be said of it; its description where there is
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<String>,
    /// Directives for robots.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) robots: Vec<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) needs_login: bool,
    /// Whether it says itself that AI may use it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) is_for_ai: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) priority: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) snapshot: Option<String>,
    /// Digest of its text, where its bytes are not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) html: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Words {
    /// What is kept of a page that may not leave: nothing made of its text.
    pub(crate) fn bare(wishes: &Wishes, bars: [Option<Bar>; 2]) -> Self {
        let has = |is_so: fn(Bar) -> bool| bars.into_iter().flatten().any(is_so);
        let is_refused = wishes.asks("noindex")
            || wishes.asks("noai")
            || has(|bar| matches!(bar, Bar::NoIndex | Bar::NoAi | Bar::Robots));
        Self {
            robots: wishes.robots.clone(),
            needs_login: has(Bar::needs_login) || wishes.needs_login,
            is_for_ai: wishes.is_for_ai == Some(true) && !is_refused,
            ..Self::default()
        }
    }

    /// What a page that may leave gives.
    pub(crate) fn of(
        extraction: &Extraction,
        snapshot: Option<&Snapshot>,
        wishes: &Wishes,
        bytes: &[u8],
    ) -> Self {
        let facts = &extraction.facts;
        let given = facts.metas.iter().find(|(name, value)| {
            matches!(name.as_str(), "ai_summary" | "ai-summary" | "arc:ai_summary")
                && !value.trim().is_empty()
        });
        let given = given.map(|(_, value)| value.trim().to_owned());
        let annotated = snapshot.and_then(Snapshot::summary).map(str::to_owned);
        // What was made from the text could tell what annotations keep back.
        let is_kept_back = snapshot.is_some_and(|snapshot| !snapshot.contexts().is_empty());
        let is_made = is_made(extraction, &rutter_extract::rules::NO_DESCRIPTION);
        let nothing = (is_kept_back && is_made).then(String::new);
        let mut tags: Vec<String> = Vec::new();
        let categories = snapshot.map(Snapshot::tags).unwrap_or_default();
        // What must be treated with care is said here, too.
        let contexts = snapshot.map(Snapshot::contexts).unwrap_or_default();
        for tag in facts.keywords.iter().map(String::as_str).chain(categories).chain(contexts) {
            push_tag(&mut tags, tag);
        }
        Self {
            summary: given.or(annotated).or(nothing),
            tags,
            robots: wishes.robots.clone(),
            needs_login: false,
            is_for_ai: wishes.is_for_ai == Some(true),
            priority: wishes.priority,
            snapshot: snapshot.map(Snapshot::to_json),
            html: std::str::from_utf8(bytes)
                .is_err()
                .then(|| Digest::of(rutter_extract::decoded(bytes).as_bytes()).to_string()),
        }
    }

    /// Everything that would leave with the entry, to be looked through.
    pub(crate) fn text(&self) -> String {
        let mut text = self.summary.clone().unwrap_or_default();
        for part in self.tags.iter().chain(&self.snapshot) {
            text.push('\n');
            text.push_str(part);
        }
        text
    }
}

fn push_tag(tags: &mut Vec<String>, tag: &str) {
    let tag = tag.trim();
    let is_known = tags.iter().any(|known| known.eq_ignore_ascii_case(tag));
    if !tag.is_empty() && !is_known && tags.len() < MOST_TAGS {
        tags.push(tag.to_owned());
    }
}

/// The snapshot of a page; `None` where nothing on it is annotated.
pub fn snapshot_of(extraction: &Extraction, sink: &mut dyn FindingSink) -> Option<Snapshot> {
    if extraction.annotated.is_empty() {
        return None;
    }
    let elements = extraction.annotated.iter().map(|element| Element {
        name: &element.element,
        depth: element.depth,
        attributes: &element.attributes,
        text: element.text.clone(),
        is_hidden: element.is_hidden,
        label: element.label.as_deref(),
        target: element.target.as_deref(),
    });
    // What was made from the text could tell what its annotations keep back.
    let own = |text, rule| Some(text).filter(|_| !is_made(extraction, rule));
    let document = Document {
        url: extraction.page.url.as_str(),
        title: own(&*extraction.page.title, &rutter_extract::rules::NO_TITLE),
        description: own(&*extraction.page.description, &rutter_extract::rules::NO_DESCRIPTION),
        language: extraction.facts.language.as_ref().map(LanguageTag::as_str),
        keywords: &extraction.facts.keywords,
        text: &extraction.visible_text,
        elements: elements.collect(),
    };
    snapshot(&document, sink)
}

fn is_made(extraction: &Extraction, rule: &Rule) -> bool {
    extraction.findings.iter().any(|finding| std::ptr::eq(finding.rule, rule))
}

/// Whether the owner named the beginning of a page's path.
pub(crate) fn is_below<'w>(
    plan: &Plan,
    mut prefixes: impl Iterator<Item = &'w String>,
    url: &str,
) -> bool {
    let path = url.get(plan.base.origin().len()..).unwrap_or("/");
    prefixes.any(|written| inventory::is_below(path, &prefix(&plan.base, written)))
}

/// Whether the owner wants a page in no ARC file.
fn is_unlisted(plan: &Plan, url: &str) -> bool {
    let path = url.get(plan.base.origin().len()..).unwrap_or("/");
    let mut prefixes = plan.arc.unlisted.iter().map(|written| prefix(&plan.base, written));
    prefixes.any(|prefix| inventory::is_below_or_beside(path, &prefix))
}

/// The entry of a page; `None` where nothing is said of it.
pub(crate) fn entry(plan: &Plan, row: &Row, record: &Record) -> Option<Entry<'static>> {
    if is_unlisted(plan, &row.url) {
        return None;
    }
    let url = PageUrl::parse(row.url.clone()).ok()?;
    let words = &record.meta.arc;
    let bar = record.meta.barred.as_deref().and_then(Bar::of_reason);
    // Nobody declared these pages: a public list of them is a map of what is
    // closed (D85 as amended).
    if matches!(bar, Some(Bar::Login | Bar::Robots)) && !plan.arc.lists_restricted {
        return None;
    }
    let is_full = match row.sight {
        Sight::Hidden | Sight::Gone => return None,
        Sight::Public => true,
        // Too large for a collection, and no secret for that.
        Sight::Listed => bar == Some(Bar::Oversize),
        Sight::Bare => false,
    };
    let directives = directives(&words.robots, bar);
    if !is_full {
        // The record may be older than the settings, where a file is unreadable.
        let needs_login = words.needs_login || gate::is_restricted(plan, &row.url);
        let may_be_used = words.needs_login && words.is_for_ai;
        let entry = Entry {
            lastmod: Some(row.modified),
            auth_required: needs_login.then_some(true),
            robots_directive: directives,
            ..Entry::new(url, Some(may_be_used))
        };
        return Some(entry.bare());
    }
    let summary = words.summary.as_ref().unwrap_or(&record.meta.description);
    let mut tags = words.tags.clone();
    if row.section != crate::section::MAIN {
        push_tag(&mut tags, &row.section);
    }
    let snapshot = words.snapshot.as_deref().and_then(|text| Raw::parse(text).ok());
    Some(Entry {
        lastmod: Some(row.modified),
        robots_directive: directives,
        crawl_priority: priority(plan, row).or(words.priority),
        ai_summary: (!summary.is_empty()).then(|| Str::from(summary.clone())),
        ai_tags: tags.into_iter().map(Str::from).collect(),
        ai_checksum: checksum(plan, record).map(Str::from),
        ai_snapshot: snapshot.and_then(Object::new),
        ..Entry::new(url, Some(true))
    })
}

/// The entry of a page that needs a login, for those who are let in (D57).
pub(crate) fn partner_entry(plan: &Plan, row: &Row, record: &Record) -> Option<Entry<'static>> {
    if row.sight != Sight::Bare || is_unlisted(plan, &row.url) {
        return None;
    }
    let Withheld { words, line } = record.meta.withheld.as_deref()?;
    let url = PageUrl::parse(row.url.clone()).ok()?;
    let forbids = |word: &str| words.robots.iter().any(|directive| directive == word);
    let may_be_used = !forbids("noindex") && !forbids("noai") && !forbids("none");
    let summary = words.summary.as_ref().unwrap_or(&record.meta.description);
    let snapshot = words.snapshot.as_deref().and_then(|text| Raw::parse(text).ok());
    Some(Entry {
        lastmod: Some(row.modified),
        auth_required: Some(true),
        robots_directive: directives(&words.robots, None),
        crawl_priority: priority(plan, row).or(words.priority),
        ai_summary: (!summary.is_empty()).then(|| Str::from(summary.clone())),
        ai_tags: words.tags.iter().cloned().map(Str::from).collect(),
        ai_checksum: Some(Str::from(Digest::of(line.as_bytes()).to_string())),
        ai_snapshot: snapshot.and_then(Object::new),
        ..Entry::new(url, Some(may_be_used))
    })
}

/// Directives for robots, as they are written; what bars the page is among them.
fn directives(robots: &[String], bar: Option<Bar>) -> Option<Str<'static>> {
    let mut all: Vec<&str> = robots.iter().map(String::as_str).collect();
    if bar == Some(Bar::NoIndex) && !all.contains(&"noindex") {
        all.insert(0, "noindex");
    }
    (!all.is_empty()).then(|| Str::from(all.join(", ")))
}

fn checksum(plan: &Plan, record: &Record) -> Option<String> {
    match plan.arc.checksum {
        Checksum::Content => {
            (!record.line.is_empty()).then(|| Digest::of(&record.line).to_string())
        }
        Checksum::Html => {
            let source = Some(&record.meta.source).filter(|source| !source.is_empty());
            record.meta.arc.html.as_ref().or(source).cloned()
        }
    }
}

/// The priority of the longest prefix that fits.
fn priority(plan: &Plan, row: &Row) -> Option<f64> {
    let fits = |(written, _): &&(String, f64)| is_below(plan, std::iter::once(written), &row.url);
    let found = plan.arc.priorities.iter().filter(fits);
    found.max_by_key(|(written, _)| written.len()).map(|(_, priority)| *priority)
}

/// What the ledger knows of a page's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Said {
    /// Digest of the entry; `None` for a page that had one and has none now.
    pub(crate) digest: Option<LineDigest>,
    /// When it came to be like that.
    pub(crate) at: Timestamp,
}

/// A column without news.
pub(crate) const NOTHING: &str = "-";

impl Said {
    pub(crate) fn parse(column: &str) -> Option<Self> {
        let (digest, at) = column.split_once('@')?;
        let digest = match digest {
            NOTHING => None,
            digest => Some(LineDigest::parse(digest)?),
        };
        Some(Self { digest, at: Timestamp::parse(at).ok()? })
    }

    /// What the ledger says after an entry was made, or none was.
    pub(crate) fn next(
        old: Option<Self>,
        entry: Option<&Entry<'_>>,
        now: Timestamp,
    ) -> Option<Self> {
        let digest = entry.map(|entry| LineDigest::of(entry.to_json().as_bytes()));
        match old {
            Some(old) if old.digest == digest => Some(old),
            None if digest.is_none() => None,
            _ => Some(Self { digest, at: now }),
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.digest {
            Some(digest) => write!(f, "{digest}@{}", self.at),
            None => write!(f, "{NOTHING}@{}", self.at),
        }
    }
}

/// A column of the ledger.
pub(crate) fn column(said: Option<Said>) -> String {
    said.map_or_else(|| NOTHING.to_owned(), |said| said.to_string())
}
