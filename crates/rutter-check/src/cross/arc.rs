//! The ARC sitemap against its own dated deltas and the site.

use std::collections::HashMap;

use rutter_finding::{Finding, Place, quoted};

use super::at_pointer;
use crate::rules;
use crate::site::View;

/// Most days between two dates that are looked for.
const MOST_DAYS: i64 = 400;

pub(super) fn compare(view: &mut View<'_>) {
    let Some(arc) = &view.machine.arc else { return };
    let mut said: Vec<(u32, Finding)> = Vec::new();
    let of_head =
        |name: &str, rule, detail: String| (arc.file, at_pointer(rule, format!("/{name}"), detail));
    if let (Some(home), Some(site)) = (view.home, &arc.head.site)
        && site.trim_end_matches('/') != home.as_str()
    {
        said.push(of_head("site", &rules::OTHER_SITE, quoted(site)));
    }
    if let (Some(generated), Some(latest)) = (arc.head.generated_at, arc.latest)
        && generated < latest
    {
        let detail = format!("{generated}, the latest page {latest}");
        said.push(of_head("generated_at", &rules::ARC_OLD, detail));
    }
    for day in announced(view) {
        let is_there = view.machine.days.iter().any(|known| known.name == day);
        if !is_there && !view.files.is_live() {
            said.push(of_head("deltas", &rules::ARC_DAY_ABSENT, day));
        }
    }
    // Of each page the last day that speaks of it counts.
    let mut last: HashMap<&str, (u32, u64, bool, u64)> = HashMap::new();
    for day in &view.machine.days {
        for (url, number, is_gone, idx) in &day.said {
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
            (Some(_), true) => "it says that the page is gone",
            (None, false) => "the sitemap does not have the page",
            (Some(entry), false) if entry.said != number => {
                "the sitemap says something else of the page"
            }
            _ => continue,
        };
        let detail = format!("{}: {what}", quoted(url));
        said.push((
            file,
            Finding::new(
                &rules::ARC_DELTA,
                Place { line: None, pointer: format!("/pages/{idx}") },
                detail,
            ),
        ));
    }
    for (file, finding) in said {
        view.book.say(file, finding);
    }
}

/// Every day that the sitemap announces.
fn announced(view: &View<'_>) -> Vec<String> {
    let deltas = view.machine.arc.as_ref().and_then(|arc| arc.head.deltas.as_ref());
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
