//! `rutter spxi status`: what is due (SPXI-Sitemap, X).
//!
//! Markers are looked for now, in the published folder; when AI systems were
//! last asked, the history knows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rutter_check::{Judging, SiteJudging, check_folder};
use rutter_extract::Options;
use rutter_finding::{Mode, Report, Severity, quoted, visible};
use rutter_page::{PageUrl, Timestamp};
use rutter_spxi::{INDEX, Index, MarkerStatus, Modified, read_index, rules};
use rutter_survival::Markers;
use rutter_survival::drown::{History, USUAL_SYSTEMS};
use serde_json::{Value, json};

use super::SiteArgs;
use super::drown::history_of;
use crate::commands::say_findings;
use crate::config::Fault;
use crate::config::entity::Stated;
use crate::exit::Exit;
use crate::output::Output;
use crate::settle::Settled;

const DAY_SECONDS: i64 = 86_400;
/// How often AI systems are to be asked: every quarter.
const QUARTER: i64 = 92;
/// How often the share of right answers is to be estimated: every month.
const MONTH: i64 = 31;

/// What the arguments say.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    site: SiteArgs,
    /// File with what AI systems answered [default: drown/history.jsonl beside the folder of entities]
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// An AI system changed on this day: what was asked before is due again
    #[arg(long, value_name = "DATE")]
    model_updated: Option<String>,
    /// End with 1 where something is due
    #[arg(long)]
    strict: bool,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut Output) -> anyhow::Result<Exit> {
    let settled = args.site.settle(out)?;
    let Some(spxi) = &settled.plan.spxi else { return Err(nothing_declared().into()) };
    let updated = match &args.model_updated {
        Some(text) => Some(day_of(text)?),
        None => None,
    };
    let path = args.history.clone().unwrap_or_else(|| history_of(&settled));
    let mut report = Report::new(Mode::Lenient);
    let history = History::open(&path, &mut report)?;
    say_findings(&path.display().to_string(), &report, out);
    let mut status = Status { now: settled.plan.now, updated, due: Vec::new() };
    let asked = status.tests(&settled, &history);
    status.collisions(&settled, &asked);
    let markers = status.folder(&settled);
    let names: Vec<&str> =
        spxi.entities.iter().filter_map(|one| one.entity.name.as_deref()).collect();
    if args.json {
        writeln!(out.data(), "{:#}", status.document(&names, &asked, &markers))?;
    } else {
        out.data().write_all(status.table(&names, &asked, &markers).as_bytes())?;
    }
    Ok(if args.strict && !status.due.is_empty() { Exit::Findings } else { Exit::Clean })
}

/// What is said where no entity is declared.
pub(super) fn nothing_declared() -> Fault {
    Fault::missing(
        "no entity is declared",
        "write one with `rutter spxi new NAME`, or draft some with `rutter spxi suggest`",
    )
}

fn day_of(text: &str) -> anyhow::Result<Timestamp> {
    let day = Modified::parse(text);
    day.map(|day| day.time).ok_or_else(|| {
        anyhow::anyhow!("--model-updated {}: wanted a date, as in 2026-05-01", visible(text))
    })
}

/// When systems were last asked about each entity, and how many.
type Asked = BTreeMap<String, (Timestamp, usize)>;
/// How many markers of each entity are seen on its page, of how many.
type Seen = BTreeMap<String, (usize, usize)>;

/// What is due, while it is being found out.
struct Status {
    now: Timestamp,
    updated: Option<Timestamp>,
    due: Vec<String>,
}

impl Status {
    fn days_since(&self, time: Timestamp) -> i64 {
        (self.now.unix_seconds() - time.unix_seconds()) / DAY_SECONDS
    }

    /// The quarterly test and the monthly estimate.
    fn tests(&mut self, settled: &Settled, history: &History) -> Asked {
        let mut asked = Asked::new();
        let entities = settled.plan.spxi.iter().flat_map(|spxi| &spxi.entities);
        for entity in entities.map(|declared| &declared.entity) {
            let (Some(id), Some(name)) = (&entity.id, &entity.name) else { continue };
            let shown = quoted(name);
            let own = || history.records.iter().filter(|record| record.entity == *id);
            let Some(last) = own().map(|record| record.date).max() else {
                self.due.push(format!("{shown}: AI systems were never asked"));
                continue;
            };
            let run = own().max_by_key(|record| record.date).map(|record| &record.run);
            let mut systems: Vec<&str> = own()
                .filter(|record| Some(&record.run) == run)
                .map(|record| record.system.as_str())
                .collect();
            systems.sort_unstable();
            systems.dedup();
            asked.insert(name.clone(), (last, systems.len()));
            let days = self.days_since(last);
            if self.updated.is_some_and(|updated| last < updated) {
                self.due.push(format!("{shown}: an AI system changed since it was asked"));
            } else if QUARTER < days {
                self.due.push(format!("{shown}: AI systems were last asked {days} days ago"));
            } else if systems.len() < USUAL_SYSTEMS {
                let n = systems.len();
                self.due.push(format!("{shown}: {n} of {USUAL_SYSTEMS} systems were asked"));
            } else if entity.bdr.is_some() && MONTH < days {
                self.due.push(format!("{shown}: `bdr` was estimated {days} days ago"));
            }
        }
        asked
    }

    /// Collisions nobody has tested, or told crawlers of.
    fn collisions(&mut self, settled: &Settled, asked: &Asked) {
        for stated in &settled.entities {
            self.collisions_of(stated, asked);
        }
    }

    fn collisions_of(&mut self, stated: &Stated, asked: &Asked) {
        let entity = &stated.declared.entity;
        let shown = quoted(stated.name());
        for (collision, noted) in entity.collisions.iter().zip(&stated.noted) {
            let with = collision.with.as_deref().unwrap_or_default();
            // The words that tell it apart: `band` of `Tide House (band)`.
            let said = entity.negative_tags.iter().any(|tag| shares_a_word(tag, with));
            if !said {
                self.due.push(format!("{shown}: no negative tag speaks of {}", quoted(with)));
            }
            let noted = noted.as_deref().and_then(Modified::parse).map(|day| day.time);
            let last = asked.get(stated.name()).map(|(last, _)| *last);
            if let Some(noted) = noted
                && last.is_none_or(|last| last < noted)
            {
                let day = Modified { time: noted, is_day: true };
                self.due.push(format!(
                    "{shown}: {} was noted on {day}, and nobody was asked since",
                    quoted(with)
                ));
            }
        }
    }

    /// What lies in the published folder: the index, its age, its markers.
    fn folder(&mut self, settled: &Settled) -> Seen {
        let plan = &settled.plan;
        let dir = plan.target();
        let bytes = std::fs::read(dir.join(INDEX)).unwrap_or_default();
        let published = read_index(&bytes, &mut ()).ok();
        let Some(published) = published else {
            self.due.push(format!("{}: there is no index; build the site", dir.display()));
            return Seen::new();
        };
        self.words(settled, &published);
        self.rules(dir);
        let mut seen = Seen::new();
        let pages = rutter_build::pages(plan).unwrap_or_default();
        for entity in &published.entities {
            let (Some(id), Some(name)) = (&entity.id, &entity.name) else { continue };
            let url = rutter_spxi::without_fragment(id);
            let Some(page) = pages.iter().find(|page| page.url == url) else { continue };
            let bytes = std::fs::read(dir.join(&page.path)).unwrap_or_default();
            let statuses = look(&bytes, &entity.markers);
            let n_seen = statuses.iter().filter(|it| **it == MarkerStatus::Visible).count();
            seen.insert(name.clone(), (n_seen, statuses.len()));
            for (marker, status) in entity.markers.iter().zip(&statuses) {
                if *status != MarkerStatus::Visible {
                    let (name, marker, word) = (quoted(name), quoted(marker), status.word());
                    self.due.push(format!("{name}: marker {marker} is {word} on its page"));
                }
            }
        }
        seen
    }

    /// Words that changed since the index was built.
    fn words(&mut self, settled: &Settled, published: &Index) {
        let Some(spxi) = &settled.plan.spxi else { return };
        for declared in &spxi.entities {
            let entity = &declared.entity;
            let name = quoted(entity.name.as_deref().unwrap_or_default());
            let known = published.entities.iter().find(|known| known.id == entity.id);
            let Some(known) = known else {
                self.due.push(format!("{name}: is not in the published index"));
                continue;
            };
            let is_same = known.name == entity.name
                && known.entity_type == entity.entity_type
                && known.negative_tags == entity.negative_tags
                && known.markers == entity.markers
                && known.collisions == entity.collisions
                && known.basin_state == entity.basin_state
                && known.bdr == entity.bdr
                && known.verification == entity.verification;
            if !is_same {
                self.due.push(format!("{name}: the published index says something else of it"));
            }
        }
        let summary = |index: &Index| index.kernel.as_ref().and_then(|it| it.summary.clone());
        if summary(published) != summary(&spxi.index) {
            self.due.push("the published index has another kernel".to_owned());
        }
    }

    /// Freshness and completeness, as a judge sees them (rules 8 and 9).
    fn rules(&mut self, dir: &Path) {
        let judging = Judging { mode: Mode::Strict, now: Some(self.now), ..Judging::default() };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let judging = SiteJudging { judging, threads, types: Vec::new() };
        let Ok(outcome) = check_folder(dir, None, Vec::new(), &judging) else { return };
        let findings = outcome.judgements.iter().filter(|one| one.name == INDEX);
        let findings = findings.flat_map(|one| one.report.findings());
        for (severity, finding) in findings.filter(|(_, it)| it.rule.layer() == "SX") {
            // Links in heads are a choice of the owner's; the table has the markers.
            let is_elsewhere = [
                &rules::HEAD_LINK_MISSING,
                &rules::INDEX_ID_FORM,
                &rules::MARKER_ABSENT,
                &rules::MARKER_HIDDEN,
                &rules::MARKER_NEAR,
            ]
            .contains(&finding.rule);
            if severity != Severity::Note && !is_elsewhere {
                let place = &finding.place.pointer;
                let gap = if finding.detail.is_empty() { "" } else { ": " };
                let (code, title) = (finding.rule.code, finding.rule.title);
                self.due.push(format!("{INDEX}{place}: {code} {title}{gap}{}", finding.detail));
            }
        }
    }

    fn table(&self, names: &[&str], asked: &Asked, markers: &Seen) -> String {
        let mut rows = vec![["entity", "markers seen", "last asked", "systems"].map(str::to_owned)];
        for name in names {
            let seen = markers.get(*name).map_or("-".to_owned(), |(n, of)| format!("{n}/{of}"));
            let (last, systems) = match asked.get(*name) {
                Some((last, n)) => (last.to_string().chars().take(10).collect(), n.to_string()),
                None => ("never".to_owned(), "-".to_owned()),
            };
            rows.push([visible(name), seen, last, systems]);
        }
        let mut text = super::aligned(&rows);
        if self.due.is_empty() {
            text.push_str("\nnothing is due\n");
            return text;
        }
        text.push_str("\ndue:\n");
        for due in &self.due {
            let _ = writeln!(text, "- {due}");
        }
        text
    }

    fn document(&self, names: &[&str], asked: &Asked, markers: &Seen) -> Value {
        let entities: Vec<Value> = names
            .iter()
            .map(|name| {
                let seen = markers.get(*name);
                let asked = asked.get(*name);
                json!({
                    "name": name,
                    "markers_seen": seen.map(|(n, _)| n),
                    "markers": seen.map(|(_, of)| of),
                    "last_asked": asked.map(|(last, _)| last.to_string()),
                    "systems": asked.map(|(_, n)| n),
                })
            })
            .collect();
        json!({ "version": 1, "entities": entities, "due": self.due })
    }
}

/// Whether a tag has a word of a name, other than small ones.
fn shares_a_word(tag: &str, with: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let split = text.split(|c: char| !c.is_alphanumeric());
        split.filter(|word| 3 < word.chars().count()).map(str::to_lowercase).collect()
    };
    let said = words(tag);
    words(with).iter().any(|word| said.contains(word))
}

/// What became of markers on a page.
fn look(bytes: &[u8], markers: &[String]) -> Vec<MarkerStatus> {
    let Ok(url) = PageUrl::parse("http://localhost/") else { return Vec::new() };
    let Some(seen) = Timestamp::from_unix_seconds(0) else { return Vec::new() };
    let page = rutter_extract::html(bytes, &Options::new(url, seen));
    let ids: Vec<usize> = (0..markers.len()).collect();
    let visible = page.shown_text();
    let places = rutter_build::places(&page, &visible);
    Markers::new(markers.iter().map(String::as_str)).look(&ids, &places)
}
