//! What a history says about each entity.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use rutter_finding::{Finding, FindingSink, Place, quoted, visible};
use rutter_page::Tree;

use super::RULES;
use super::basin::{Estimate, Health, estimate};
use super::history::{History, Record};
use super::judge::{Scores, Subject};
use super::query::Question;
use crate::rules;
use crate::survive::{Share, push_rows};

/// A step of γ that nobody announced (D73).
const STEP: f64 = 0.3;
/// Means of tenths are not exact.
const NEAR: f64 = 1e-9;

/// What one run says about all entities.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The run; `None` where the history has none.
    pub run: Option<String>,
    /// Entity by entity.
    pub entities: Vec<EntitySummary>,
}

/// What one run says about an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct EntitySummary {
    /// Its `@id`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The answers, by system and question.
    pub answers: BTreeMap<(String, Question), Scores>,
    /// What people think of them, from 0 to 4.
    pub rubrics: BTreeMap<(String, Question), u8>,
    /// How it is resolved.
    pub estimate: Estimate,
    /// Steps of γ between runs.
    pub changes: Vec<SilentChange>,
}

/// A step of a system's γ between two runs, while the claims stayed.
#[derive(Debug, Clone, PartialEq)]
pub struct SilentChange {
    /// The entity.
    pub entity: String,
    /// The system.
    pub system: String,
    /// The runs.
    pub runs: [String; 2],
    /// γ in each, over the questions answered in both.
    pub gammas: [f64; 2],
}

#[expect(clippy::cast_precision_loss, reason = "nobody asks 2^52 questions")]
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = values.fold((0_usize, 0.0), |(n, sum), value| (n + 1, sum + value));
    (n != 0).then(|| sum / n as f64)
}

impl EntitySummary {
    /// The systems that answered.
    pub fn systems(&self) -> BTreeSet<&str> {
        self.answers.keys().map(|(system, _)| system.as_str()).collect()
    }

    /// The panel γ of a system.
    pub fn gamma_of(&self, system: &str) -> Option<f64> {
        let own = self.answers.iter().filter(|((name, _), _)| name == system);
        mean(own.map(|(_, scores)| scores.gamma()))
    }

    /// The cross-platform γ.
    pub fn gamma(&self) -> Option<f64> {
        mean(self.systems().into_iter().filter_map(|system| self.gamma_of(system)))
    }

    /// The share of markers that survive, over all answers.
    pub fn simsr(&self) -> Option<f64> {
        mean(self.answers.values().map(Scores::simsr))
    }

    /// Answers that resolve the entity, of all.
    pub fn correct(&self) -> Share {
        let kept = self.answers.values().filter(|scores| scores.is_correct()).count();
        Share { kept, of: self.answers.len() }
    }

    /// Answers that keep no marker (SPX-007), of all.
    pub fn lost(&self) -> Share {
        let kept = self.answers.values().filter(|scores| scores.is_loss()).count();
        Share { kept, of: self.answers.len() }
    }
}

/// The records of runs, by their first date and their name.
type Runs<'h> = BTreeMap<(String, &'h str), Vec<&'h Record>>;

/// The steps of γ in a history, in the order of entities, systems and runs.
///
/// Runs are compared with the one before them, by their first date, over the
/// questions that both have an answer to. Other claims or other rules begin a
/// new series, which is not compared with the old one.
pub fn silent_changes(history: &History) -> Vec<SilentChange> {
    let mut series: BTreeMap<(&str, &str), Runs<'_>> = BTreeMap::new();
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
        let runs: Vec<(&str, &Vec<&Record>)> =
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

/// γ of two runs over what both answered by the same claims and rules.
fn step(old: &[&Record], new: &[&Record]) -> Option<[f64; 2]> {
    // Later lines of a run are counted anew and stand for earlier ones.
    let last = |records: &[&Record], question: Question| {
        records.iter().rev().find(|record| record.question == question).copied().cloned()
    };
    let pairs: Vec<(Record, Record)> = Question::ALL
        .into_iter()
        .filter_map(|question| Some((last(old, question)?, last(new, question)?)))
        .filter(|(old, new)| old.claims == new.claims && old.rules == new.rules)
        .collect();
    let from = mean(pairs.iter().map(|(old, _)| old.scores.gamma()))?;
    let to = mean(pairs.iter().map(|(_, new)| new.scores.gamma()))?;
    Some([from, to])
}

impl Summary {
    /// Sums one run up, or the last one; tells of silent changes into it.
    /// Answers that were counted by other claims or rules are left out.
    pub fn of(
        history: &History,
        subjects: &[Subject],
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
                estimate: Estimate::Stale { share: subject.bdr, state: subject.basin_state },
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
            for rated in history.rated.iter().filter(|it| own(&it.entity, &it.run)) {
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

    /// A table for people: for each entity its questions by system, then what
    /// they come to.
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

    /// Everything as JSON.
    pub fn to_json(&self) -> Tree {
        let run = self.run.as_deref().map_or(Tree::Null, Tree::text);
        let entities = self.entities.iter().map(tree_of).collect();
        map([("run", run), ("rules", Tree::text(RULES)), ("entities", Tree::List(entities))])
    }
}

fn push_entity(entity: &EntitySummary, out: &mut String) {
    let systems: Vec<&str> = entity.systems().into_iter().collect();
    let head = [entity.name.as_str()].into_iter().chain(systems.iter().copied());
    let mut rows: Vec<Vec<String>> = vec![head.map(visible).collect()];
    // Without an answer there is only the name.
    for question in Question::ALL.into_iter().filter(|_| !systems.is_empty()) {
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
    let health = simsr.map_or(String::new(), |simsr| format!(" ({})", Health::of(simsr).word()));
    let estimate = match &entity.estimate {
        Estimate::Fresh { share, state } => {
            format!("BDR {:.2}, suggested state {}", share.value(), state.word())
        }
        Estimate::Stale { share, state } => format!(
            "BDR {}, state {}: kept from before, too few answers",
            number(*share),
            state.map_or("-", rutter_spxi::BasinState::word)
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
    .expect("a string takes everything");
    for change in &entity.changes {
        let ([before, behind], [from, to]) = (&change.runs, change.gammas);
        writeln!(
            out,
            "silent change of {}: gamma {from:.2} in {} to {to:.2} in {}",
            visible(&change.system),
            visible(before),
            visible(behind)
        )
        .expect("a string takes everything");
    }
}

fn verdict(scores: &Scores) -> &'static str {
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

fn map<const N: usize>(members: [(&str, Tree); N]) -> Tree {
    Tree::Map(members.map(|(name, value)| (name.to_owned(), value)).to_vec())
}

fn decimal(value: Option<f64>) -> Tree {
    value.map_or(Tree::Null, |value| Tree::Number(format!("{value:.4}")))
}

fn tree_of(entity: &EntitySummary) -> Tree {
    let share = |share: Share| {
        let number = |n: usize| Tree::Number(n.to_string());
        map([("kept", number(share.kept)), ("of", number(share.of))])
    };
    let answers = entity.answers.iter().map(|((system, question), scores)| {
        let rubric = entity.rubrics.get(&(system.clone(), *question));
        map([
            ("system", Tree::text(system.as_str())),
            ("query", Tree::text(question.key())),
            ("gamma", decimal(Some(scores.gamma()))),
            ("markers", share(scores.markers)),
            ("sentences", share(scores.sentences)),
            ("named", Tree::Bool(scores.is_named)),
            ("known", Tree::Bool(scores.is_known)),
            ("correct", Tree::Bool(scores.is_correct())),
            ("lost", Tree::Bool(scores.is_loss())),
            (
                "asserts",
                Tree::List(scores.asserts.iter().map(|it| Tree::text(it.as_str())).collect()),
            ),
            ("rubric", rubric.map_or(Tree::Null, |it| Tree::Number(it.to_string()))),
        ])
    });
    let systems = entity.systems().into_iter().map(|system| {
        map([("name", Tree::text(system)), ("gamma", decimal(entity.gamma_of(system)))])
    });
    let changes = entity.changes.iter().map(|change| {
        let ([before, behind], [from, to]) = (&change.runs, change.gammas);
        map([
            ("system", Tree::text(change.system.as_str())),
            ("from", Tree::text(before.as_str())),
            ("to", Tree::text(behind.as_str())),
            ("gamma_from", decimal(Some(from))),
            ("gamma_to", decimal(Some(to))),
        ])
    });
    let (is_stale, bdr, state) = match &entity.estimate {
        Estimate::Fresh { share, state } => (false, Some(share.value()), Some(*state)),
        Estimate::Stale { share, state } => (true, *share, *state),
    };
    let simsr = entity.simsr();
    map([
        ("id", Tree::text(entity.id.as_str())),
        ("name", Tree::text(entity.name.as_str())),
        ("gamma", decimal(entity.gamma())),
        ("simsr", decimal(simsr)),
        ("health", simsr.map_or(Tree::Null, |simsr| Tree::text(Health::of(simsr).word()))),
        ("correct", share(entity.correct())),
        ("lost", share(entity.lost())),
        ("bdr", decimal(bdr)),
        ("basin_state", state.map_or(Tree::Null, |state| Tree::text(state.word()))),
        ("stale", Tree::Bool(is_stale)),
        ("systems", Tree::List(systems.collect())),
        ("answers", Tree::List(answers.collect())),
        ("silent_changes", Tree::List(changes.collect())),
    ])
}
