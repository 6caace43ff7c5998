//! Planner cases: every `fixtures/plan/*.case` is one.
//!
//! Above `---` are the offer, the replica and the known failures; below it is the plan.
//! Times are days and hours (`7d`, `7d12h`). `UPDATE_EXPECTED=1 cargo test -p rutter-sync
//! cases` writes the actual plans instead.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rutter_page::Timestamp;
use rutter_scp::CollectionKind;
use rutter_scp::advert::AdvertisedCollection as Advert;
use rutter_sync::plan::{
    KnownFailures, LocalSection, PlanOffer, PlanPolicy, PlannedFile, ReplicaSections,
    SectionAction, SectionChoice, SyncPlan, plan,
};

fn monotonic(text: &str) -> Timestamp {
    let (days, hours) = text.split_once('d').unwrap();
    let hours = hours.strip_suffix('h').map_or(0, |hours| hours.parse().unwrap());
    let days: i64 = days.parse().unwrap();
    Timestamp::from_unix_seconds(1_790_000_000 + days * 86_400 + hours * 3600).unwrap()
}

fn redact_url(time: Timestamp) -> String {
    let hours = time.seconds_since(monotonic("0d")).div_euclid(3600);
    match hours.rem_euclid(24) {
        0 => format!("{}d", hours.div_euclid(24)),
        rest => format!("{}d{rest}h", hours.div_euclid(24)),
    }
}

/// Returns the value after a keyword of a line.
fn after<'l>(words: &[&'l str], name: &str) -> Option<&'l str> {
    let at = words.iter().position(|word| *word == name)?;
    words.get(at + 1).copied()
}

fn run(case: &str) -> SyncPlan {
    let mut now = monotonic("0d");
    let mut policy = PlanPolicy::DEFAULT;
    let (mut offer, mut replica, mut failures) =
        (PlanOffer::default(), ReplicaSections::default(), KnownFailures::default());
    for line in case.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |name: &str| after(&words, name).map(|value| value.parse().unwrap());
        let time = |name: &str| after(&words, name).map(monotonic);
        match words.as_slice() {
            [] => {}
            [first, ..] if first.starts_with(';') => {}
            ["now", time] => now = monotonic(time),
            ["largest", size] => policy.largest = size.parse().unwrap(),
            ["wait", seconds] => policy.wait = seconds.parse().unwrap(),
            ["offer", section, kind, span, ..] => {
                let (since, generated) = match span.split_once("..") {
                    Some((since, generated)) => (Some(monotonic(since)), monotonic(generated)),
                    None => (None, monotonic(span)),
                };
                assert_eq!(since.is_some(), *kind == "delta", "{line}");
                let kind =
                    since.map_or(CollectionKind::Snapshot, |since| CollectionKind::Delta { since });
                let expires = time("expires").unwrap_or(generated.plus_seconds(400 * 86_400));
                let coding = after(&words, "coding").unwrap_or("zst");
                let url = format!("https://h.example/{section}/{span}.scp.{coding}");
                offer.add(&Advert {
                    section: (*section).to_owned(),
                    kind,
                    period: None,
                    url,
                    generated,
                    expires,
                    pages: number("pages").unwrap_or(10),
                    size: number("size").unwrap(),
                    checksum: None,
                });
            }
            ["section", section, update] => offer.note_update(section, update),
            ["have", section, ..] => {
                let held = LocalSection {
                    mark: time("mark").unwrap(),
                    snapshot_at: time("snapshot"),
                    deltas_since: number("deltas").unwrap_or(0),
                    pages: number("pages").unwrap_or(10),
                    is_chained: words.contains(&"chained"),
                    mended: time("mended"),
                };
                replica.sections.insert((*section).to_owned(), held);
            }
            ["following", side] => {
                replica.following = Some(match *side {
                    "all" => SectionChoice::All,
                    "sections" => SectionChoice::Sections,
                    "both" => SectionChoice::Both,
                    other => panic!("no side {other}"),
                });
            }
            ["learned", "bad", url] => drop(failures.files.insert((*url).to_owned())),
            ["learned", "host", host] => drop(failures.hosts.insert((*host).to_owned())),
            ["learned", "broken", section] => {
                failures.broken_sections.insert((*section).to_owned());
            }
            other => panic!("no such line: {other:?}"),
        }
    }
    plan(now, &policy, &offer, &replica, &failures)
}

fn plan_text(plan: &SyncPlan) -> String {
    let mut out = format!("follow {:?}\n", plan.following).to_lowercase();
    for name in &plan.unfollow {
        writeln!(out, "unfollow {name}").unwrap();
    }
    if 1 < plan.order.len() {
        writeln!(out, "order {}", plan.order.join(" ")).unwrap();
    }
    for (name, step) in &plan.steps {
        let planned_file = |planned_file: &PlannedFile| {
            let coding = planned_file.url.rsplit('.').next().unwrap_or_default();
            let since = planned_file
                .since
                .map_or(String::new(), |since| format!("{}..", redact_url(since)));
            format!(" {since}{} ({coding})", redact_url(planned_file.generated))
        };
        let way = match &step.way {
            SectionAction::Nothing => "nothing".to_owned(),
            SectionAction::Fallback => "fallback".to_owned(),
            SectionAction::Deltas(deltas) => {
                format!("deltas{}", deltas.iter().map(planned_file).collect::<String>())
            }
            SectionAction::Snapshot(first, then) => {
                let then: String = then.iter().map(planned_file).collect();
                let then = if then.is_empty() { then } else { format!(" then{then}") };
                format!("snapshot{}{then}", planned_file(first))
            }
        };
        let (bytes, requests) = (step.bytes(), step.requests());
        writeln!(out, "{name}: {way}; {}; {bytes} bytes, {requests} requests", step.reason)
            .unwrap();
    }
    out
}

#[test] // SCP-127 SCP-130 SCP-136 SCP-139 SCP-140 SCP-166 SCP-168 SCP-185
fn plans_every_case_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/plan");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(20 <= paths.len());
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let (case, expected) = text.split_once("---\n").unwrap();
        let found = plan_text(&run(case));
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&path, format!("{case}---\n{found}")).unwrap();
        } else {
            assert_eq!(found, expected, "{}", path.display());
        }
    }
}
