//! Cases made by hand: every `fixtures/plan/*.case` is one.
//!
//! Above `---` stands what is offered, here and learned; below it the plan.
//! Times are days and hours (`7d`, `7d12h`). `RUTTER_UPDATE=1 cargo test -p
//! rutter-sync cases` writes what was planned instead.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rutter_page::Timestamp;
use rutter_scp::Kind;
use rutter_scp::advert::Collection as Advert;
use rutter_sync::plan::{Following, Held, Learned, Offer, Pick, Plan, Policy, Replica, Way, plan};

fn moment(text: &str) -> Timestamp {
    let (days, hours) = text.split_once('d').unwrap();
    let hours = hours.strip_suffix('h').map_or(0, |hours| hours.parse().unwrap());
    let days: i64 = days.parse().unwrap();
    Timestamp::from_unix_seconds(1_790_000_000 + days * 86_400 + hours * 3600).unwrap()
}

fn shown(time: Timestamp) -> String {
    let hours = time.seconds_since(moment("0d")).div_euclid(3600);
    match hours.rem_euclid(24) {
        0 => format!("{}d", hours.div_euclid(24)),
        rest => format!("{}d{rest}h", hours.div_euclid(24)),
    }
}

/// The value behind a word of a line.
fn after<'l>(words: &[&'l str], name: &str) -> Option<&'l str> {
    let at = words.iter().position(|word| *word == name)?;
    words.get(at + 1).copied()
}

fn run(case: &str) -> Plan {
    let mut now = moment("0d");
    let mut policy = Policy::USUAL;
    let (mut offer, mut replica, mut learned) =
        (Offer::default(), Replica::default(), Learned::default());
    for line in case.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |name: &str| after(&words, name).map(|value| value.parse().unwrap());
        let time = |name: &str| after(&words, name).map(moment);
        match words.as_slice() {
            [] => {}
            [first, ..] if first.starts_with(';') => {}
            ["now", time] => now = moment(time),
            ["largest", size] => policy.largest = size.parse().unwrap(),
            ["wait", seconds] => policy.wait = seconds.parse().unwrap(),
            ["offer", section, kind, span, ..] => {
                let (since, generated) = match span.split_once("..") {
                    Some((since, generated)) => (Some(moment(since)), moment(generated)),
                    None => (None, moment(span)),
                };
                assert_eq!(since.is_some(), *kind == "delta", "{line}");
                let kind = since.map_or(Kind::Snapshot, |since| Kind::Delta { since });
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
                let held = Held {
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
                    "all" => Following::All,
                    "sections" => Following::Sections,
                    "both" => Following::Both,
                    other => panic!("no side {other}"),
                });
            }
            ["learned", "bad", url] => drop(learned.bad.insert((*url).to_owned())),
            ["learned", "host", host] => drop(learned.hosts.insert((*host).to_owned())),
            ["learned", "broken", section] => drop(learned.broken.insert((*section).to_owned())),
            other => panic!("no such line: {other:?}"),
        }
    }
    plan(now, &policy, &offer, &replica, &learned)
}

fn told(plan: &Plan) -> String {
    let mut out = format!("follow {:?}\n", plan.following).to_lowercase();
    for name in &plan.unfollow {
        writeln!(out, "unfollow {name}").unwrap();
    }
    if 1 < plan.order.len() {
        writeln!(out, "order {}", plan.order.join(" ")).unwrap();
    }
    for (name, step) in &plan.steps {
        let pick = |pick: &Pick| {
            let coding = pick.url.rsplit('.').next().unwrap_or_default();
            let since = pick.since.map_or(String::new(), |since| format!("{}..", shown(since)));
            format!(" {since}{} ({coding})", shown(pick.generated))
        };
        let way = match &step.way {
            Way::Nothing => "nothing".to_owned(),
            Way::Fallback => "fallback".to_owned(),
            Way::Deltas(deltas) => format!("deltas{}", deltas.iter().map(pick).collect::<String>()),
            Way::Snapshot(first, then) => {
                let then: String = then.iter().map(pick).collect();
                let then = if then.is_empty() { then } else { format!(" then{then}") };
                format!("snapshot{}{then}", pick(first))
            }
        };
        let (bytes, requests) = (step.bytes(), step.requests());
        writeln!(out, "{name}: {way}; {}; {bytes} bytes, {requests} requests", step.reason)
            .unwrap();
    }
    out
}

#[test] // SCP-127 SCP-130 SCP-136 SCP-139 SCP-140 SCP-166 SCP-168 SCP-185
fn spec_cases_are_planned_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/plan");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(20 <= paths.len());
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        let (case, expected) = text.split_once("---\n").unwrap();
        let found = told(&run(case));
        if std::env::var_os("RUTTER_UPDATE").is_some() {
            fs::write(&path, format!("{case}---\n{found}")).unwrap();
        } else {
            assert_eq!(found, expected, "{}", path.display());
        }
    }
}
