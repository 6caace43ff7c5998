//! Compares the ARC sitemap with its dated deltas and with the pages of the site.

use std::collections::HashMap;

use rutter_finding::{Finding, Place, quoted};

use super::at_pointer;
use crate::rules;
use crate::site::SiteView;

rutter_finding::rules! {
    ARC_DELTA = "XL046" "arc-delta-contradicts" (warning, "D60") {
        title: "dated delta contradicts the ARC sitemap",
        why: "An agent that follows the deltas gets a different result than an agent that reads the full sitemap.",
        fix: "Build the site again.",
        wrong: r#"A delta of today with `"removed": true` for a page that arc-sitemap.json lists."#,
        right: "Deltas and sitemap of the same build.",
    }
    ARC_DAY_ABSENT = "XL047" "arc-day-absent" (warning, "D60") {
        title: "dated delta that the ARC sitemap announces does not exist",
        why: "Agents cannot determine whether a change is missing.",
        fix: "Build the site again, or correct `deltas`.",
        wrong: r#"`"deltas": {…, "to": "2026-05-02"}`, but no `arc-sitemap-deltas/2026-05-02.json`."#,
        right: "A file for each day with changes from `from` to `to`.",
    }
    ARC_OLD = "XL048" "arc-older-than-pages" (advice, "D84") {
        title: "ARC sitemap was generated before one of its pages changed",
        why: "The file may describe an earlier version of the page.",
        fix: "Build the site again.",
        wrong: r#"`"generated_at": "2026-05-01T00:00:00Z"` in a sitemap with the entry `"lastmod": "2026-05-02T06:00:00Z"`."#,
        right: "A `generated_at` later than every `lastmod`.",
    }
}

/// The maximum number of days with announced deltas that are checked.
const MOST_DAYS: i64 = 400;

pub(super) fn compare(view: &mut SiteView<'_>) {
    let Some(arc) = &view.machine_files.arc else { return };
    let mut findings: Vec<(u32, Finding)> = Vec::new();
    let of_head =
        |name: &str, rule, detail: String| (arc.file, at_pointer(rule, format!("/{name}"), detail));
    if let (Some(home), Some(site)) = (view.home, &arc.head.site)
        && site.trim_end_matches('/') != home.as_str()
    {
        findings.push(of_head("site", &rules::OTHER_SITE, quoted(site)));
    }
    if let (Some(generated), Some(latest)) = (arc.head.generated_at, arc.latest)
        && generated < latest
    {
        let detail = format!("generated at {generated}, the newest page changed at {latest}");
        findings.push(of_head("generated_at", &ARC_OLD, detail));
    }
    for day in announced(view) {
        let is_there = view.machine_files.days.iter().any(|known| known.name == day);
        if !is_there && !view.files.is_live() {
            findings.push(of_head("deltas", &ARC_DAY_ABSENT, day));
        }
    }
    // If several deltas contain a page, the last one counts.
    let mut last: HashMap<&str, (u32, u64, bool, u64)> = HashMap::new();
    for day in &view.machine_files.days {
        for (url, number, is_gone, idx) in &day.entries {
            last.insert(url, (day.file, *number, *is_gone, *idx));
        }
    }
    let mut last: Vec<_> = last.into_iter().collect();
    last.sort_unstable();
    let Some(home) = view.home else { return };
    for (url, (file, number, is_gone, idx)) in last {
        let row = view.rows.find(view.files, home, url).and_then(|at| view.rows.get(at));
        let entry = row.and_then(|row| row.arc.as_ref());
        let what = match (entry, is_gone) {
            (Some(_), true) => "the delta says that the page was removed",
            (None, false) => "the sitemap does not contain the page",
            (Some(entry), false) if entry.hash != number => {
                "the entries in delta and sitemap differ"
            }
            _ => continue,
        };
        let detail = format!("{}: {what}", quoted(url));
        findings.push((
            file,
            Finding::new(
                &ARC_DELTA,
                Place { line: None, pointer: format!("/pages/{idx}") },
                detail,
            ),
        ));
    }
    for (file, finding) in findings {
        view.findings.add(file, finding);
    }
}

/// Returns the days for which the sitemap announces deltas.
fn announced(view: &SiteView<'_>) -> Vec<String> {
    let deltas = view.machine_files.arc.as_ref().and_then(|arc| arc.head.deltas.as_ref());
    let Some(deltas) = deltas else { return Vec::new() };
    let time = |day: &str| rutter_page::Timestamp::parse(&format!("{day}T00:00:00Z")).ok();
    let (Some(mut now), Some(to)) = (time(&deltas.from), time(&deltas.to)) else {
        return Vec::new();
    };
    let mut days = Vec::new();
    for _ in 0..MOST_DAYS {
        if to < now {
            break;
        }
        days.push(now.to_string().chars().take(10).collect());
        now = now.plus_seconds(86_400);
    }
    days
}
