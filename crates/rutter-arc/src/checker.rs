//! Checks entries that are syntactically valid: consent, privacy, dates, and whether their data
//! belongs into this file.
//!
//! Input: entries from an [`ArcReader`](crate::ArcReader), then its receipt. Secrets and personal
//! data are checked elsewhere, because those checks are the same for every format.

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};
use rutter_page::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::consent::{Consent, RobotsDirective, RobotsDirectives};
use crate::delta::parse_day;
use crate::entry::ArcEntry;
use crate::read::ArcReceipt;
use crate::rules;
use crate::snapshot::is_sensitive;
use rutter_page::JsonTree;

/// Maximum length of a summary in characters.
const MAX_SUMMARY_CHARS: usize = 1000;
/// Tolerated clock error in seconds: one day.
const DAY: i64 = 86_400;

/// What a file is expected to contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedDocument {
    /// The full sitemap.
    Sitemap,
    /// The changes of one day; `None` if the file name is not a day.
    Day(Option<Timestamp>),
}

/// Checks the entries of one document.
#[derive(Debug, Default)]
pub struct SitemapChecker {
    now: Option<Timestamp>,
    /// Index of the first tombstone in the document.
    removed: Option<u64>,
}

impl SitemapChecker {
    /// Creates a checker. If `now` is `None`, no date is reported as being in the future.
    pub fn new(now: Option<Timestamp>) -> Self {
        Self { now, removed: None }
    }

    /// Checks one entry.
    pub fn check_entry(&mut self, entry: &ArcEntry<'_>, idx: u64, sink: &mut dyn FindingSink) {
        let mut report = |rule: &'static Rule, name: &str, detail: String| {
            let slash = if name.is_empty() { "" } else { "/" };
            let pointer = format!("/pages/{idx}{slash}{name}");
            sink.report(Finding::new(rule, Place { line: None, pointer }, detail));
        };
        if entry.removed {
            self.removed = self.removed.or(Some(idx));
            let is_obeyed = entry.ai_indexable != Some(true)
                && entry.directives().has(RobotsDirective::NoIndex);
            if !is_obeyed {
                report(&rules::TOMBSTONE, "removed", String::new());
            }
            return;
        }
        match entry.lastmod {
            None if entry.auth_required != Some(true) => {
                report(&rules::LASTMOD_MISSING, "", String::new());
            }
            Some(time) if self.is_future(time) => {
                report(&rules::FROM_THE_FUTURE, "lastmod", time.to_string());
            }
            _ => {}
        }
        if let Some(text) = &entry.robots_directive {
            let found = RobotsDirectives::parse(text, |word| {
                report(&rules::DIRECTIVE_UNKNOWN, "robots_directive", quoted(word));
            });
            let is_forbidden =
                found.has(RobotsDirective::NoIndex) || found.has(RobotsDirective::NoAi);
            if is_forbidden && entry.ai_indexable == Some(true) {
                report(&rules::CONTRADICTION, "robots_directive", quoted(text));
            }
        }
        if entry.auth_required == Some(true) && entry.has_content() {
            report(&rules::PRIVATE_CONTENT, "auth_required", carried(entry));
        } else if entry.consent() == Consent::Refused && entry.has_content() {
            report(&rules::RESTRICTED_CONTENT, "ai_indexable", carried(entry));
        }
        match &entry.ai_summary {
            None if entry.consent() == Consent::Given => {
                report(&rules::SUMMARY_MISSING, "", String::new());
            }
            // A character has at most four bytes, so the characters of a short text need not be
            // counted.
            Some(text) if MAX_SUMMARY_CHARS < text.len() => {
                let n = text.chars().count();
                if MAX_SUMMARY_CHARS < n {
                    report(
                        &rules::SUMMARY_LONG,
                        "ai_summary",
                        format!("the summary has {n} characters"),
                    );
                }
            }
            _ => {}
        }
        if let Some(snapshot) = &entry.ai_snapshot {
            judge_snapshot(entry, snapshot.get(), &mut report);
        }
    }

    /// Checks the document as a whole, after all entries.
    pub fn finish(
        &self,
        receipt: &ArcReceipt,
        whole: ExpectedDocument,
        sink: &mut dyn FindingSink,
    ) {
        let head = &receipt.head;
        let mut report = |rule: &'static Rule, pointer: String, detail: String| {
            sink.report(Finding::new(rule, Place { line: None, pointer }, detail));
        };
        if let Some(time) = head.generated_at.filter(|time| self.is_future(*time)) {
            report(&rules::FROM_THE_FUTURE, "/generated_at".to_owned(), time.to_string());
        }
        let is_delta = head.is_delta() || matches!(whole, ExpectedDocument::Day(_));
        if !is_delta {
            if let Some(idx) = self.removed {
                report(&rules::TOMBSTONE_PLACE, format!("/pages/{idx}/removed"), String::new());
            }
            return;
        }
        if head.since.is_none() || head.until.is_none() {
            report(&rules::DAY_WINDOW, String::new(), String::new());
        }
        if let (Some(since), Some(until)) = (head.since, head.until)
            && until < since
        {
            let detail = format!("`since` is {since}, `until` is {until}");
            report(&rules::DAY_ORDER, "/since".to_owned(), detail);
        }
        match whole {
            ExpectedDocument::Sitemap => {}
            ExpectedDocument::Day(None) => report(&rules::DAY_NAME, String::new(), String::new()),
            ExpectedDocument::Day(Some(day)) => {
                let is_of_day = |time: Timestamp| (0..=DAY).contains(&time.seconds_since(day));
                if let Some(until) = head.until.filter(|until| !is_of_day(*until)) {
                    report(&rules::DAY_OTHER, "/until".to_owned(), until.to_string());
                }
            }
        }
    }

    fn is_future(&self, time: Timestamp) -> bool {
        self.now.is_some_and(|now| now.plus_seconds(DAY) < time)
    }
}

/// Parses the day in the name of a file in the folder of dated deltas.
///
/// Returns `None` for a file outside this folder, and `Some(None)` if the name is not a day.
pub fn parse_delta_file_name(name: &str) -> Option<Option<Timestamp>> {
    let mut parts = name.rsplit(['/', '\\']);
    let file = parts.next().unwrap_or_default();
    let file = file.strip_suffix(".gz").unwrap_or(file);
    let stem = file.strip_suffix(".json").or_else(|| file.strip_suffix(".yaml"))?;
    let is_in_folder = parts.next() == Some("arc-sitemap-deltas");
    let day = parse_day(stem);
    (is_in_folder || day.is_some()).then_some(day)
}

fn carried(entry: &ArcEntry<'_>) -> String {
    let all = [
        ("ai_summary", entry.ai_summary.is_some()),
        ("ai_tags", !entry.ai_tags.is_empty()),
        ("ai_checksum", entry.ai_checksum.is_some()),
        ("ai_snapshot", entry.ai_snapshot.is_some()),
    ];
    let names: Vec<&str> = all.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
    names.join(", ")
}

fn judge_snapshot(
    entry: &ArcEntry<'_>,
    snapshot: &str,
    report: &mut dyn FnMut(&'static Rule, &str, String),
) {
    #[derive(Deserialize)]
    struct TopLevelMember {
        page: Option<IgnoredAny>,
    }
    let has_page =
        serde_json::from_str::<TopLevelMember>(snapshot).is_ok_and(|top| top.page.is_some());
    if !has_page {
        report(&rules::SNAPSHOT_PAGE, "ai_snapshot", String::new());
    }
    let is_tagged = entry.ai_tags.iter().any(|tag| tag.eq_ignore_ascii_case("sensitive"));
    let has_context = snapshot.contains("context");
    let has_value = snapshot.contains("\"value\"");
    // Few snapshots contain a context or a value, and only those are parsed.
    let tree = (has_context || has_value).then(|| JsonTree::parse(snapshot)).flatten();
    let is_marked = tree.as_ref().is_some_and(|tree| {
        let context = tree.get("ai_context");
        let words = context.into_iter().flat_map(|it| std::iter::once(it).chain(it.items()));
        words.filter_map(JsonTree::as_str).any(|word| word.eq_ignore_ascii_case("sensitive"))
    });
    if (is_tagged || is_marked) && entry.auth_required != Some(true) {
        report(&rules::SENSITIVE_SNAPSHOT, "ai_snapshot", String::new());
    }
    if let Some(tree) = tree.filter(|_| has_value) {
        fields_with_values(&tree, "ai_snapshot", report);
    }
}

/// Finds form fields with a value that a user typed.
fn fields_with_values(
    tree: &JsonTree,
    path: &str,
    report: &mut dyn FnMut(&'static Rule, &str, String),
) {
    for (name, value) in tree.members() {
        let path = crate::tolerant::pointer(path, name);
        for (n, item) in value.items().iter().enumerate() {
            let path = format!("{path}/{n}");
            if name == "fields" && item.get("value").is_some_and(|it| *it != JsonTree::Null) {
                let context = item.get("context").and_then(JsonTree::as_str).unwrap_or_default();
                let detail = if is_sensitive(context) { quoted(context) } else { String::new() };
                report(&rules::FIELD_VALUE, &path, detail);
            }
            fields_with_values(item, &path, report);
        }
        fields_with_values(value, &path, report);
    }
}
