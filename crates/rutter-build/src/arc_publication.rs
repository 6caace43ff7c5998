//! Decides what the ARC layer publishes: which entries are made, and when sitemap, deltas and policy changed (D60).
//!
//! Input: the plan and the publication record of the last build. Output: the next publication record.

use std::fs;
use std::path::Path;

use rutter_arc::delta::{format_day, parse_day};
use rutter_arc::{ArcPolicy, SitemapHeader};
use rutter_page::{Digest, Timestamp};
use rutter_site::{ArcPublication, StatePaths};

use crate::error::{BuildError, IoErrorContext};
use crate::plan::{BuildPlan, ChecksumScope};

/// Path of the ARC sitemap, relative to the output folder.
pub(crate) const SITEMAP: &str = "arc-sitemap.json";
pub(crate) const POLICY: &str = ".well-known/arc-policy.json";
/// Folder of the ARC deltas, relative to the output folder.
pub(crate) const DELTAS: &str = "arc-sitemap-deltas";

const DAY_SECONDS: i64 = 86_400;

/// Which ARC entries a build makes and compares with the previous entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArcEntryScope {
    /// No entries, because the ARC layer is off.
    Off,
    /// The entries of changed pages.
    Changed,
    /// All entries, because the settings that decide about entries changed.
    All,
}

/// Changes of ARC entries in this build.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ArcChanges {
    /// Time of the last change of any ARC entry.
    pub(crate) last: Option<Timestamp>,
    /// Whether the old ledger contains a version of an ARC entry.
    pub(crate) had_entries: bool,
    /// Whether a page that still exists lost its ARC entry or part of it.
    pub(crate) withdraws_entries: bool,
}

/// Returns a text in quotes, with the escapes of JSON.
fn quoted(text: &str) -> String {
    serde_json::json!(text).to_string()
}

/// Returns a list in brackets. This form and [`option`] are part of the format of `chain.json`, which holds digests of
/// them.
fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn option(text: Option<&String>) -> String {
    text.map_or_else(|| "None".to_owned(), |text| format!("Some({})", quoted(text)))
}

/// Returns a digest of the settings that decide which pages have ARC entries and what the entries
/// contain.
fn entries_digest(plan: &BuildPlan) -> String {
    let arc = &plan.arc;
    let unlisted = list(arc.unlisted.iter().map(|prefix| quoted(prefix)));
    let priority = |(prefix, priority): &(String, f64)| {
        format!("({}, {})", quoted(prefix), serde_json::json!(priority))
    };
    let priorities = list(arc.priorities.iter().map(priority));
    let text = format!("{} {unlisted} {priorities} {}", arc.checksum.name(), arc.lists_restricted);
    Digest::of(text.as_bytes()).to_string()
}

/// Returns a digest of the ARC sitemap's header without its dates.
pub(crate) fn head_digest(head: &SitemapHeader) -> String {
    let text = format!("{} {}", option(head.crawl_rate.as_ref()), option(head.contact.as_ref()));
    Digest::of(text.as_bytes()).to_string()
}

pub(crate) fn head(plan: &BuildPlan, changed: Timestamp) -> SitemapHeader {
    SitemapHeader {
        crawl_rate: plan.arc.crawl_rate.clone(),
        contact: plan.arc.contact.clone(),
        ..SitemapHeader::new(&site_url(plan), changed)
    }
}

/// Returns the ARC policy of the plan without its date.
pub(crate) fn undated_policy(plan: &BuildPlan) -> ArcPolicy {
    let policy = plan.arc.policy.clone();
    let scope = match plan.arc.checksum {
        ChecksumScope::Content => "content",
        ChecksumScope::Html => "html",
    };
    ArcPolicy {
        site: Some(site_url(plan)),
        updated_at: None,
        contact: policy.contact.or_else(|| plan.arc.contact.clone()),
        checksum_scope: Some(scope.to_owned()),
        ..policy
    }
}

pub(crate) fn policy_digest(policy: &ArcPolicy) -> String {
    Digest::of(policy.to_file().as_bytes()).to_string()
}

/// Returns the base URL without its final slash.
pub(crate) fn site_url(plan: &BuildPlan) -> String {
    plan.base.as_str().trim_end_matches('/').to_owned()
}

/// Returns which ARC entries this build must make.
pub(crate) fn entry_scope(plan: &BuildPlan, before: Option<&ArcPublication>) -> ArcEntryScope {
    match before {
        _ if !plan.layers.arc => ArcEntryScope::Off,
        Some(before) if before.entries == entries_digest(plan) => ArcEntryScope::Changed,
        _ => ArcEntryScope::All,
    }
}

/// Returns the new publication record of the ARC layer. All pages must have been read before.
pub(crate) fn next_publication(
    plan: &BuildPlan,
    before: Option<&ArcPublication>,
    changes: &ArcChanges,
    stamp: Timestamp,
) -> Option<ArcPublication> {
    if !plan.layers.arc {
        return None;
    }
    let entries_changed = changes.last;
    let (entries, head) = (entries_digest(plan), head_digest(&head(plan, stamp)));
    let policy = policy_digest(&undated_policy(plan));
    let policy_changed = match before {
        Some(before) if before.policy == policy => before.policy_changed,
        _ => stamp,
    };
    let is_changed = match before {
        Some(before) => {
            before.head != head || entries_changed.is_some_and(|at| before.changed < at)
        }
        None => true,
    };
    let (mut changed, mut days, first_published) = match before {
        Some(before) => (before.changed, before.days.clone(), before.first_published),
        None => (stamp, Vec::new(), (!changes.had_entries).then_some(stamp)),
    };
    // The older deltas contain entries that must no longer be published.
    if changes.withdraws_entries {
        days.clear();
    }
    if is_changed {
        changed = stamp;
        add_days(&mut days, stamp, plan.arc.days);
    }
    // Old deltas expire even if this build changes nothing.
    let first =
        format_day(plan.now.plus_seconds(-(i64::from(plan.arc.days.max(1)) - 1) * DAY_SECONDS));
    days.retain(|day| first <= *day);
    Some(ArcPublication { entries, head, changed, policy, policy_changed, days, first_published })
}

/// Adds today and all days since the last ARC delta to the days with deltas, and removes expired
/// days.
fn add_days(days: &mut Vec<String>, today: Timestamp, most: u32) {
    let end = parse_day(&format_day(today)).unwrap_or(today);
    let first = end.plus_seconds(-(i64::from(most.max(1)) - 1) * DAY_SECONDS);
    let next =
        days.last().and_then(|last| parse_day(last)).map(|last| last.plus_seconds(DAY_SECONDS));
    let mut at = next.unwrap_or(end).max(first);
    while at <= end {
        days.push(format_day(at));
        at = at.plus_seconds(DAY_SECONDS);
    }
    let first = format_day(first);
    days.retain(|day| first <= *day);
}

/// Removes the days before the last gap in a list of days.
pub(crate) fn remove_days_before_gap(days: &mut Vec<String>) {
    let is_next = |pair: &[String]| {
        let next =
            pair.first().and_then(|first| parse_day(first)).map(|at| at.plus_seconds(DAY_SECONDS));
        next.map(format_day).as_ref() == pair.get(1)
    };
    let gap = days.windows(2).rposition(|pair| !is_next(pair));
    days.drain(..gap.map_or(0, |at| at + 1));
}

/// Restores lost ARC deltas from the output folder. If a delta is missing in the state and in the
/// output folder, its day and all earlier days are removed.
pub(crate) fn restore_deltas(
    arc: &mut ArcPublication,
    paths: &StatePaths,
    target: &Path,
) -> Result<(), BuildError> {
    let folder = paths.deltas();
    fs::create_dir_all(&folder).at(&folder)?;
    for day in &arc.days {
        let (kept, there) =
            (folder.join(delta_file(day)), target.join(DELTAS).join(delta_file(day)));
        if !kept.exists() && there.exists() {
            rutter_site::copy_atomically(&there, &kept)?;
        }
    }
    let lost = arc.days.iter().rposition(|day| !folder.join(delta_file(day)).exists());
    arc.days.drain(..lost.map_or(0, |at| at + 1));
    for entry in fs::read_dir(&folder).at(&folder)? {
        let path = entry.at(&folder)?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        if !arc.days.iter().any(|day| Some(delta_file(day)) == name) {
            fs::remove_file(&path).at(&path)?;
        }
    }
    Ok(())
}

/// Returns the file name of a day's ARC delta.
pub(crate) fn delta_file(day: &str) -> String {
    format!("{day}.json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::BaseUrl;

    /// Earlier versions hashed the debug form of the settings. With another digest, the ARC sitemap would get a new
    /// date.
    #[test]
    fn digests_of_earlier_versions_stay_valid() {
        let now = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
        let base = BaseUrl::parse("https://harbour.example/").unwrap();
        let mut plan = BuildPlan::new("site".into(), "state".into(), base, now);
        let former = |plan: &BuildPlan| {
            let (arc, head) = (&plan.arc, head(plan, now));
            let entries = format!(
                "{:?} {:?} {:?} {}",
                arc.checksum, arc.unlisted, arc.priorities, arc.lists_restricted
            );
            let head = format!("{:?} {:?}", head.crawl_rate, head.contact);
            [entries, head].map(|text| Digest::of(text.as_bytes()).to_string())
        };
        assert_eq!([entries_digest(&plan), head_digest(&head(&plan, now))], former(&plan));
        plan.arc.checksum = ChecksumScope::Html;
        plan.arc.unlisted = vec!["/a/".into(), "/für \"uns\"/".into()];
        plan.arc.priorities = vec![("/a/".into(), 0.5), ("/b/".into(), 1.0)];
        plan.arc.crawl_rate = Some("1/s".into());
        plan.arc.contact = Some("Jan <jan@harbour.example>".into());
        assert_eq!([entries_digest(&plan), head_digest(&head(&plan, now))], former(&plan));
    }
}
