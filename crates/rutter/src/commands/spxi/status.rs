//! `rutter spxi status`: shows due tests and other problems of the entities of a site
//! (SPXI-Sitemap, X).
//!
//! Input: the settings, the published folder and the history of answers. Searches the published
//! pages for markers, and takes the time of the last test from the history.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rutter_check::{CheckOptions, SiteCheckOptions, check_folder};
use rutter_extract::ExtractOptions;
use rutter_finding::{Report, Severity, Strictness, quoted, visible};
use rutter_page::{PageUrl, Timestamp};
use rutter_spxi::survival::drown::{AnswerHistory, DEFAULT_SYSTEMS};
use rutter_spxi::survival::{MarkerSearch, PageTexts};
use rutter_spxi::{INDEX_FILE, MarkerStatus, ModifiedDate, SemanticIndex, read_index, rules};
use serde_json::{Value, json};

use super::BuiltSiteArgs;
use super::drown::history_of;
use crate::commands::print_findings;
use crate::config::SettingsError;
use crate::config::entity::DeclaredEntity;
use crate::exit::ExitStatus;
use crate::output::Output;
use crate::plan::PlannedBuild;

const DAY_SECONDS: i64 = 86_400;
/// Maximum number of days between two tests with AI systems.
const QUARTER: i64 = 92;
/// Maximum number of days between two estimates of the share of right answers.
const MONTH: i64 = 31;

/// Arguments of `rutter spxi status`.
#[derive(Debug, clap::Args)]
pub(crate) struct EntityStatusArgs {
    #[command(flatten)]
    site: BuiltSiteArgs,
    /// File of scores of `rutter spxi drown`
    ///
    /// Default: drown/history.jsonl beside the folder of entity files.
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Day of the last update of an AI system
    ///
    /// Entities that were tested before this day are due again. Example: 2026-05-01.
    #[arg(long, value_name = "DATE")]
    model_updated: Option<String>,
    /// Return exit code 1 if a test or a correction is due
    #[arg(long)]
    strict: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &EntityStatusArgs, out: &mut Output) -> anyhow::Result<ExitStatus> {
    let settled = args.site.settle(out)?;
    let Some(spxi) = &settled.plan.spxi else { return Err(nothing_declared().into()) };
    let updated = match &args.model_updated {
        Some(text) => Some(day_of(text)?),
        None => None,
    };
    let path = args.history.clone().unwrap_or_else(|| history_of(&settled));
    let mut report = Report::new(Strictness::Lenient);
    let history = AnswerHistory::open(&path, &mut report)?;
    print_findings(&path.display().to_string(), &report, out);
    let mut status = DueList { now: settled.plan.now, updated, due: Vec::new() };
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
    Ok(if args.strict && !status.due.is_empty() { ExitStatus::Findings } else { ExitStatus::Clean })
}

/// Returns the error for settings without entities.
pub(super) fn nothing_declared() -> SettingsError {
    SettingsError::missing(
        "no entity is declared",
        "create one with `rutter spxi new NAME`, or draft some with `rutter spxi suggest`",
    )
}

fn day_of(text: &str) -> anyhow::Result<Timestamp> {
    let day = ModifiedDate::parse(text);
    day.map(|day| day.time).ok_or_else(|| {
        anyhow::anyhow!("--model-updated {}: expected a date, such as 2026-05-01", visible(text))
    })
}

/// By name of the entity: the time of the last test, and the number of AI systems in this test.
type LastTests = BTreeMap<String, (Timestamp, usize)>;
/// By name of the entity: the number of markers that are visible on its page, and the number of all
/// its markers.
type MarkerCounts = BTreeMap<String, (usize, usize)>;

/// Collects due tests and corrections, each as one sentence.
struct DueList {
    now: Timestamp,
    updated: Option<Timestamp>,
    due: Vec<String>,
}

impl DueList {
    fn days_since(&self, time: Timestamp) -> i64 {
        (self.now.unix_seconds() - time.unix_seconds()) / DAY_SECONDS
    }

    /// Checks the quarterly test and the monthly estimate.
    fn tests(&mut self, settled: &PlannedBuild, history: &AnswerHistory) -> LastTests {
        let mut asked = LastTests::new();
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
                self.due.push(format!("{shown}: an AI system was updated after the last test"));
            } else if QUARTER < days {
                self.due.push(format!("{shown}: AI systems were last asked {days} days ago"));
            } else if systems.len() < DEFAULT_SYSTEMS {
                let n = systems.len();
                self.due.push(format!("{shown}: only {n} of {DEFAULT_SYSTEMS} systems were asked"));
            } else if entity.bdr.is_some() && MONTH < days {
                self.due.push(format!("{shown}: `bdr` was estimated {days} days ago"));
            }
        }
        asked
    }

    /// Checks collisions that are not tested or have no negative tag.
    fn collisions(&mut self, settled: &PlannedBuild, asked: &LastTests) {
        for stated in &settled.entities {
            self.collisions_of(stated, asked);
        }
    }

    fn collisions_of(&mut self, stated: &DeclaredEntity, asked: &LastTests) {
        let entity = &stated.declared.entity;
        let shown = quoted(stated.name());
        for (collision, noted) in entity.collisions.iter().zip(&stated.noted) {
            let with = collision.with.as_deref().unwrap_or_default();
            // A negative tag must contain a distinguishing word, such as `band` for `Tide House
            // (band)`.
            let said = entity.negative_tags.iter().any(|tag| shares_a_word(tag, with));
            if !said {
                self.due.push(format!("{shown}: no negative tag mentions {}", quoted(with)));
            }
            let noted = noted.as_deref().and_then(ModifiedDate::parse).map(|day| day.time);
            let last = asked.get(stated.name()).map(|(last, _)| *last);
            if let Some(noted) = noted
                && last.is_none_or(|last| last < noted)
            {
                let day = ModifiedDate { time: noted, is_day: true };
                self.due.push(format!(
                    "{shown}: {} was noted on {day} and not tested since",
                    quoted(with)
                ));
            }
        }
    }

    /// Checks the published folder: the index, its age and the markers on the pages.
    fn folder(&mut self, settled: &PlannedBuild) -> MarkerCounts {
        let plan = &settled.plan;
        let dir = plan.target();
        let bytes = std::fs::read(dir.join(INDEX_FILE)).unwrap_or_default();
        let published = read_index(&bytes, &mut ()).ok();
        let Some(published) = published else {
            self.due.push(format!("{} has no index; build the site", dir.display()));
            return MarkerCounts::new();
        };
        self.words(settled, &published);
        self.rules(dir);
        let mut seen = MarkerCounts::new();
        let pages = plan.list_pages().unwrap_or_default();
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

    /// Compares the settings with the published index.
    fn words(&mut self, settled: &PlannedBuild, published: &SemanticIndex) {
        let Some(spxi) = &settled.plan.spxi else { return };
        for declared in &spxi.entities {
            let entity = &declared.entity;
            let name = quoted(entity.name.as_deref().unwrap_or_default());
            let known = published.entities.iter().find(|known| known.id == entity.id);
            let Some(known) = known else {
                self.due.push(format!("{name}: not in the published index"));
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
                self.due.push(format!("{name}: the published index is out of date"));
            }
        }
        let summary =
            |index: &SemanticIndex| index.kernel.as_ref().and_then(|it| it.summary.clone());
        if summary(published) != summary(&spxi.index) {
            self.due.push("the kernel in the published index is out of date".to_owned());
        }
    }

    /// Checks the index against the rules for freshness and completeness (SPXI-Sitemap, rules 8 and
    /// 9).
    fn rules(&mut self, dir: &Path) {
        let judging = CheckOptions {
            mode: Strictness::Strict,
            now: Some(self.now),
            ..CheckOptions::default()
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let judging =
            SiteCheckOptions { check_options: judging, threads, ..SiteCheckOptions::default() };
        let Ok(outcome) = check_folder(dir, None, Vec::new(), &judging) else { return };
        let findings = outcome.file_reports.iter().filter(|one| one.name == INDEX_FILE);
        let findings = findings.flat_map(|one| one.report.findings());
        for (severity, finding) in findings.filter(|(_, it)| it.rule.layer() == "SX") {
            // Head links are optional, and `folder` reports the markers.
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
                self.due
                    .push(format!("{INDEX_FILE}{place}: {code} {title}{gap}{}", finding.detail));
            }
        }
    }

    fn table(&self, names: &[&str], asked: &LastTests, markers: &MarkerCounts) -> String {
        let mut rows =
            vec![["entity", "markers found", "last asked", "systems"].map(str::to_owned)];
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

    fn document(&self, names: &[&str], asked: &LastTests, markers: &MarkerCounts) -> Value {
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

/// Returns whether a tag contains a word of a name with more than three letters.
fn shares_a_word(tag: &str, with: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let split = text.split(|c: char| !c.is_alphanumeric());
        split.filter(|word| 3 < word.chars().count()).map(str::to_lowercase).collect()
    };
    let said = words(tag);
    words(with).iter().any(|word| said.contains(word))
}

/// Returns the status of each marker on a page.
fn look(bytes: &[u8], markers: &[String]) -> Vec<MarkerStatus> {
    let Ok(url) = PageUrl::parse("http://localhost/") else { return Vec::new() };
    let Some(seen) = Timestamp::from_unix_seconds(0) else { return Vec::new() };
    let page = rutter_extract::html(bytes, &ExtractOptions::new(url, seen));
    let ids: Vec<usize> = (0..markers.len()).collect();
    let visible = page.shown_text();
    let places = PageTexts {
        visible: &visible,
        metas: page.meta_texts(),
        json_ld: page.facts.json_ld.iter().map(String::as_str).collect(),
    };
    MarkerSearch::new(markers.iter().map(String::as_str)).classify(&ids, &places)
}
