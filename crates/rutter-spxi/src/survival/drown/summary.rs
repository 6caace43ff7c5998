//! Evaluates the history of answers for each entity.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use rutter_finding::{Finding, FindingSink, Place, quoted, visible};
use rutter_page::JsonTree;

use super::RULES;
use super::basin::{BasinEstimate, MarkerHealth, estimate};
use super::history::{AnswerHistory, AnswerRecord};
use super::judge::{AnswerScores, TestedEntity};
use super::query::StandardQuestion;
use crate::survival::rules;
use crate::survival::survive::{KeptShare, push_rows};

/// Minimum change of γ that is reported as a silent change (D73).
const STEP: f64 = 0.3;
/// Tolerance for comparing means of decimal fractions.
const NEAR: f64 = 1e-9;

/// Results of one run for all entities.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Name of the run; `None` if the history contains no run.
    pub run: Option<String>,
    /// Results per entity.
    pub entities: Vec<EntitySummary>,
}

/// Results of one run for one entity.
#[derive(Debug, Clone, PartialEq)]
pub struct EntitySummary {
    /// `@id` of the entity.
    pub id: String,
    /// Name of the entity.
    pub name: String,
    /// Scores by system and question.
    pub answers: BTreeMap<(String, StandardQuestion), AnswerScores>,
    /// Ratings by people, from 0 to 4.
    pub rubrics: BTreeMap<(String, StandardQuestion), u8>,
    /// Estimate of how AI systems resolve the entity.
    pub estimate: BasinEstimate,
    /// Changes of γ between runs.
    pub changes: Vec<SilentChange>,
}

/// A change of the γ of one system between two runs with the same claims.
#[derive(Debug, Clone, PartialEq)]
pub struct SilentChange {
    /// `@id` of the entity.
    pub entity: String,
    /// Name of the system.
    pub system: String,
    /// Names of the earlier and the later run.
    pub runs: [String; 2],
    /// γ in the earlier and the later run, over the questions that were answered in both.
    pub gammas: [f64; 2],
}

#[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52 questions")]
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0_usize, 0.0), |(n, sum), value| (n + 1, sum + value));
    (n != 0).then(|| sum / n as f64)
}

impl EntitySummary {
    /// Returns the names of the systems that answered.
    pub fn systems(&self) -> BTreeSet<&str> {
        self.answers.keys().map(|(system, _)| system.as_str()).collect()
    }

    /// Returns the panel γ of a system.
    pub fn gamma_of(&self, system: &str) -> Option<f64> {
        let own = self.answers.iter().filter(|((name, _), _)| name == system);
        mean(own.map(|(_, scores)| scores.gamma()))
    }

    /// Returns the cross-platform γ: the mean over all systems.
    pub fn gamma(&self) -> Option<f64> {
        mean(self.systems().into_iter().filter_map(|system| self.gamma_of(system)))
    }

    /// Returns the SIMSR: the share of surviving markers over all answers.
    pub fn simsr(&self) -> Option<f64> {
        mean(self.answers.values().map(AnswerScores::simsr))
    }

    /// Returns the share of correct answers.
    pub fn correct(&self) -> KeptShare {
        let kept = self.answers.values().filter(|scores| scores.is_correct()).count();
        KeptShare { kept, of: self.answers.len() }
    }

    /// Returns the share of answers that keep no marker (SPX-007).
    pub fn lost(&self) -> KeptShare {
        let kept = self.answers.values().filter(|scores| scores.is_loss()).count();
        KeptShare { kept, of: self.answers.len() }
    }
}

/// Records by run. The runs are ordered by the date of their first record, then by name.
type RecordsByRun<'h> = BTreeMap<(String, &'h str), Vec<&'h AnswerRecord>>;

/// Returns the changes of γ in a history, ordered by entity, system and run.
///
/// Each run is compared with the run before it, by the date of the first record, over the questions
/// that were answered in both runs. A change of claims or rules starts a new series, which is not
/// compared with the old series.
pub fn silent_changes(history: &AnswerHistory) -> Vec<SilentChange> {
    let mut series: BTreeMap<(&str, &str), RecordsByRun<'_>> = BTreeMap::new();
    let mut starts: BTreeMap<&str, String> = BTreeMap::new();
    for record in &history.records {
        let date = record.date.to_string();
        let start = starts.entry(&record.run).or_insert_with(|| date.clone());
        *start = date.min(start.clone());
    }
    for record in &history.records {
        let start = starts.get(record.run.as_str()).cloned().unwrap_or_default();
        let runs = series.entry((&record.entity, &record.system)).or_default();
        runs.entry((start, &record.run)).or_default().push(record);
    }
    let mut changes = Vec::new();
    for ((entity, system), runs) in series {
        let runs: Vec<(&str, &Vec<&AnswerRecord>)> =
            runs.iter().map(|((_, run), records)| (*run, records)).collect();
        for pair in runs.windows(2) {
            let [(before, old), (behind, new)] = pair else { continue };
            let Some(gammas) = step(old, new) else { continue };
            let [from, to] = gammas;
            if STEP <= (to - from).abs() + NEAR {
                changes.push(SilentChange {
                    entity: entity.to_owned(),
                    system: system.to_owned(),
                    runs: [(*before).to_owned(), (*behind).to_owned()],
                    gammas,
                });
            }
        }
    }
    changes
}

/// Returns the γ of two runs over the questions that were answered in both, under the same claims
/// and rules.
fn step(old: &[&AnswerRecord], new: &[&AnswerRecord]) -> Option<[f64; 2]> {
    // A later line of a run replaces earlier lines for the same question.
    let last = |records: &[&AnswerRecord], question: StandardQuestion| {
        records.iter().rev().find(|record| record.question == question).copied().cloned()
    };
    let pairs: Vec<(AnswerRecord, AnswerRecord)> = StandardQuestion::ALL
        .into_iter()
        .filter_map(|question| Some((last(old, question)?, last(new, question)?)))
        .filter(|(old, new)| old.claims == new.claims && old.rules == new.rules)
        .collect();
    let from = mean(pairs.iter().map(|(old, _)| old.scores.gamma()))?;
    let to = mean(pairs.iter().map(|(_, new)| new.scores.gamma()))?;
    Some([from, to])
}

impl RunSummary {
    /// Summarizes one run, or the last run if `run` is `None`, and reports silent changes since the
    /// run before it. Answers that were scored with other claims or rules are ignored.
    pub fn of(
        history: &AnswerHistory,
        subjects: &[TestedEntity],
        run: Option<&str>,
        sink: &mut dyn FindingSink,
    ) -> Self {
        let last = || history.records.iter().max_by_key(|it| it.date).map(|it| it.run.as_str());
        let run = run.or_else(last);
        let changes = silent_changes(history);
        let entities = subjects.iter().map(|subject| {
            let mut summary = EntitySummary {
                id: subject.id.clone(),
                name: subject.name.clone(),
                answers: BTreeMap::new(),
                rubrics: BTreeMap::new(),
                estimate: BasinEstimate::Stale { share: subject.bdr, state: subject.basin_state },
                changes: Vec::new(),
            };
            let own = |entity: &str, its_run: &str| entity == subject.id && Some(its_run) == run;
            for record in &history.records {
                let is_same = record.claims == subject.claims() && record.rules == RULES;
                if own(&record.entity, &record.run) && is_same {
                    let key = (record.system.clone(), record.question);
                    summary.answers.insert(key, record.scores.clone());
                }
            }
            for rated in history.ratings.iter().filter(|it| own(&it.entity, &it.run)) {
                summary.rubrics.insert((rated.system.clone(), rated.question), rated.rubric);
            }
            let answers = summary.answers.iter().map(|((system, _), it)| (system.as_str(), it));
            summary.estimate = estimate(answers, (subject.bdr, subject.basin_state));
            let into = changes.iter().filter(|change| {
                let [_, run] = &change.runs;
                own(&change.entity, run)
            });
            summary.changes = into.cloned().collect();
            summary
        });
        let entities: Vec<EntitySummary> = entities.collect();
        for change in entities.iter().flat_map(|entity| &entity.changes) {
            let [from, to] = change.gammas;
            let detail = format!(
                "{} on {}: {from:.2} to {to:.2}",
                quoted(&change.system),
                quoted(&change.entity)
            );
            sink.report(Finding::new(&rules::SILENT_CHANGE, Place::WHOLE, detail));
        }
        Self { run: run.map(str::to_owned), entities }
    }

    /// Returns the results as a table. Each entity has a row per question and a column per system;
    /// totals follow.
    pub fn to_table(&self) -> String {
        let mut out = String::new();
        for entity in &self.entities {
            if !out.is_empty() {
                out.push('\n');
            }
            push_entity(entity, &mut out);
        }
        out
    }

    /// Returns the results as JSON.
    pub fn to_json(&self) -> JsonTree {
        let run = self.run.as_deref().map_or(JsonTree::Null, JsonTree::text);
        let entities = self.entities.iter().map(tree_of).collect();
        map([
            ("run", run),
            ("rules", JsonTree::text(RULES)),
            ("entities", JsonTree::List(entities)),
        ])
    }
}

fn push_entity(entity: &EntitySummary, out: &mut String) {
    let systems: Vec<&str> = entity.systems().into_iter().collect();
    let head = [entity.name.as_str()].into_iter().chain(systems.iter().copied());
    let mut rows: Vec<Vec<String>> = vec![head.map(visible).collect()];
    // If there are no answers, print only the name of the entity.
    for question in StandardQuestion::ALL.into_iter().filter(|_| !systems.is_empty()) {
        let cells = systems.iter().map(|system| {
            let key = ((*system).to_owned(), question);
            let Some(scores) = entity.answers.get(&key) else { return "-".to_owned() };
            let rubric = entity.rubrics.get(&key).map_or(String::new(), |it| format!(" [{it}]"));
            format!("{:.2} {}{rubric}", scores.gamma(), verdict(scores))
        });
        rows.push([question.key().to_owned()].into_iter().chain(cells).collect());
    }
    if !systems.is_empty() {
        let panel = systems.iter().map(|system| number(entity.gamma_of(system)));
        rows.push(["gamma".to_owned()].into_iter().chain(panel).collect());
    }
    push_rows(&rows, out);
    let simsr = entity.simsr();
    let health =
        simsr.map_or(String::new(), |simsr| format!(" ({})", MarkerHealth::of(simsr).word()));
    let estimate = match &entity.estimate {
        BasinEstimate::Fresh { share, state } => {
            format!("BDR {:.2}, suggested state {}", share.value(), state.word())
        }
        BasinEstimate::Stale { share, state } => format!(
            "BDR {}, state {} (previous values: too few answers)",
            number(*share),
            state.map_or("-", crate::BasinState::word)
        ),
    };
    writeln!(
        out,
        "gamma {}, SIMSR {}{health}, correct {}, lost {}, {estimate}",
        number(entity.gamma()),
        number(simsr),
        entity.correct(),
        entity.lost()
    )
    .expect("writing to a string never fails");
    for change in &entity.changes {
        let ([before, behind], [from, to]) = (&change.runs, change.gammas);
        writeln!(
            out,
            "silent change of {}: gamma {from:.2} in {} to {to:.2} in {}",
            visible(&change.system),
            visible(before),
            visible(behind)
        )
        .expect("writing to a string never fails");
    }
}

fn verdict(scores: &AnswerScores) -> &'static str {
    match scores {
        scores if scores.is_correct() && scores.is_loss() => "right, no marker",
        scores if scores.is_correct() => "right",
        scores if !scores.asserts.is_empty() => "other",
        scores if !scores.is_known => "unknown",
        _ => "wrong",
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

fn map<const N: usize>(members: [(&str, JsonTree); N]) -> JsonTree {
    JsonTree::Map(members.map(|(name, value)| (name.to_owned(), value)).to_vec())
}

fn decimal(value: Option<f64>) -> JsonTree {
    value.map_or(JsonTree::Null, |value| JsonTree::Number(format!("{value:.4}")))
}

fn tree_of(entity: &EntitySummary) -> JsonTree {
    let share = |share: KeptShare| {
        let number = |n: usize| JsonTree::Number(n.to_string());
        map([("kept", number(share.kept)), ("of", number(share.of))])
    };
    let answers = entity.answers.iter().map(|((system, question), scores)| {
        let rubric = entity.rubrics.get(&(system.clone(), *question));
        map([
            ("system", JsonTree::text(system.as_str())),
            ("query", JsonTree::text(question.key())),
            ("gamma", decimal(Some(scores.gamma()))),
            ("markers", share(scores.markers)),
            ("sentences", share(scores.sentences)),
            ("named", JsonTree::Bool(scores.is_named)),
            ("known", JsonTree::Bool(scores.is_known)),
            ("correct", JsonTree::Bool(scores.is_correct())),
            ("lost", JsonTree::Bool(scores.is_loss())),
            (
                "asserts",
                JsonTree::List(
                    scores.asserts.iter().map(|it| JsonTree::text(it.as_str())).collect(),
                ),
            ),
            ("rubric", rubric.map_or(JsonTree::Null, |it| JsonTree::Number(it.to_string()))),
        ])
    });
    let systems = entity.systems().into_iter().map(|system| {
        map([("name", JsonTree::text(system)), ("gamma", decimal(entity.gamma_of(system)))])
    });
    let changes = entity.changes.iter().map(|change| {
        let ([before, behind], [from, to]) = (&change.runs, change.gammas);
        map([
            ("system", JsonTree::text(change.system.as_str())),
            ("from", JsonTree::text(before.as_str())),
            ("to", JsonTree::text(behind.as_str())),
            ("gamma_from", decimal(Some(from))),
            ("gamma_to", decimal(Some(to))),
        ])
    });
    let (is_stale, bdr, state) = match &entity.estimate {
        BasinEstimate::Fresh { share, state } => (false, Some(share.value()), Some(*state)),
        BasinEstimate::Stale { share, state } => (true, *share, *state),
    };
    let simsr = entity.simsr();
    map([
        ("id", JsonTree::text(entity.id.as_str())),
        ("name", JsonTree::text(entity.name.as_str())),
        ("gamma", decimal(entity.gamma())),
        ("simsr", decimal(simsr)),
        (
            "health",
            simsr.map_or(JsonTree::Null, |simsr| JsonTree::text(MarkerHealth::of(simsr).word())),
        ),
        ("correct", share(entity.correct())),
        ("lost", share(entity.lost())),
        ("bdr", decimal(bdr)),
        ("basin_state", state.map_or(JsonTree::Null, |state| JsonTree::text(state.word()))),
        ("stale", JsonTree::Bool(is_stale)),
        ("systems", JsonTree::List(systems.collect())),
        ("answers", JsonTree::List(answers.collect())),
        ("silent_changes", JsonTree::List(changes.collect())),
    ])
}
