//! Runs the Drowning Test: asks every question to every system once.
//!
//! An answer is stored, then scored, then appended to the history. An interrupted run can be
//! resumed: questions that the history contains are skipped, and stored answers are scored without
//! asking again.

use std::io;

use rutter_finding::{Finding, FindingSink, Place, counted, quoted};
use rutter_page::{Digest, Timestamp};

use super::RULES;
use super::basin::DEFAULT_SYSTEMS;
use super::history::{AnswerRecord, HistoryWriter};
use super::judge::{TestedEntity, judge};
use super::query::{EntityQuestion, StandardQuestion};
use super::store::{AnswerStore, slugs};
use super::system::{AiSystem, AnswerFailure, AnswerSource};
use crate::survival::rules;

/// Number of consecutive failures after which a system is not asked again.
const MAX_FAILURES: usize = 3;

/// A run of the Drowning Test: its name, the entities to test and the AI systems to ask.
#[derive(Debug, Clone, Copy)]
pub struct DrownPlan<'p> {
    /// Name of the run. A run with the same name is resumed.
    pub run: &'p str,
    /// Date that is recorded with each new answer.
    pub date: Timestamp,
    /// The entities to test.
    pub subjects: &'p [TestedEntity],
    /// The systems to ask; their names are unique.
    pub systems: &'p [AiSystem],
}

/// Outcome of one question, for progress display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionOutcome {
    /// The history contains a score for the question already.
    Known,
    /// An answer was stored before and is scored now.
    Counted,
    /// The system answered the question.
    Answered,
    /// The system gave no answer.
    Failed,
}

/// Numbers of questions by outcome.
#[derive(Debug, Default)]
pub struct RunCounts {
    /// Number of questions that the history contained already.
    pub known: usize,
    /// Number of answers that were stored before and are scored now.
    pub counted: usize,
    /// Number of questions that were asked and answered.
    pub answered: usize,
    /// Questions without an answer. The history does not record them.
    pub failed: Vec<FailedQuestion>,
}

/// A question without an answer.
#[derive(Debug)]
pub struct FailedQuestion {
    /// Name of the system.
    pub system: String,
    /// Name of the entity.
    pub entity: String,
    /// The question that was asked.
    pub question: StandardQuestion,
    /// Reason why there is no answer; `None` if the question was not sent, because the system had
    /// failed several times before.
    pub failure: Option<AnswerFailure>,
}

/// Reasons why a run stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrownError {
    /// Two systems have the same name.
    #[error("two AI systems have the name `{0}`")]
    SameName(String),
    /// The history could not be written.
    #[error("cannot write the history file")]
    History(#[source] io::Error),
    /// An answer could not be stored.
    #[error("cannot store the answer")]
    Store(#[source] io::Error),
}

/// Asks all open questions of a run and scores the answers.
pub fn drown(
    plan: &DrownPlan<'_>,
    journal: &mut HistoryWriter,
    store: Option<&AnswerStore>,
    progress: &mut dyn FnMut(&AiSystem, &TestedEntity, StandardQuestion, QuestionOutcome),
    sink: &mut dyn FindingSink,
) -> Result<RunCounts, DrownError> {
    for (n, system) in plan.systems.iter().enumerate() {
        if plan.systems.iter().take(n).any(|other| other.name == system.name) {
            return Err(DrownError::SameName(quoted(&system.name)));
        }
    }
    if plan.systems.len() < DEFAULT_SYSTEMS {
        let detail = counted(plan.systems.len() as u64, "system");
        sink.report(Finding::new(&rules::FEW_SYSTEMS, Place::WHOLE, detail));
    }
    let slugs = slugs(plan.subjects);
    let mut tally = RunCounts::default();
    for system in plan.systems {
        let mut one = SystemRun { plan, system, store, journal, sink, n_failed: 0 };
        for (subject, slug) in plan.subjects.iter().zip(&slugs) {
            for query in &subject.queries {
                let step = one.go(subject, slug, query, &mut tally)?;
                progress(system, subject, query.question, step);
            }
        }
    }
    Ok(tally)
}

/// State of one system during a run.
struct SystemRun<'o> {
    plan: &'o DrownPlan<'o>,
    system: &'o AiSystem,
    store: Option<&'o AnswerStore>,
    journal: &'o mut HistoryWriter,
    sink: &'o mut dyn FindingSink,
    /// Number of consecutive failures of the system.
    n_failed: usize,
}

impl SystemRun<'_> {
    fn go(
        &mut self,
        subject: &TestedEntity,
        slug: &str,
        query: &EntityQuestion,
        tally: &mut RunCounts,
    ) -> Result<QuestionOutcome, DrownError> {
        let (run, name, question) = (self.plan.run, &self.system.name, query.question);
        let known = self.journal.history().find(run, &subject.id, name, question);
        let is_same = known.map(|it| it.claims == subject.claims() && it.rules == RULES);
        if is_same == Some(true) {
            tally.known += 1;
            return Ok(QuestionOutcome::Known);
        }
        let kept = match self.store {
            Some(store) => store.get(run, name, slug, question).map_err(DrownError::Store)?,
            None => None,
        };
        // After a change of names, the file may belong to another entity, so compare the digests.
        let kept = kept
            .filter(|text| known.is_none_or(|known| known.answer == Digest::of(text.as_bytes())));
        if let Some(text) = kept {
            // A stored answer keeps its original date.
            let given = known.map_or(self.plan.date, |known| known.date);
            self.count((subject, given), question, &text)?;
            tally.counted += 1;
            return Ok(QuestionOutcome::Counted);
        }
        if is_same.is_some() {
            self.report(&rules::OTHER_CLAIMS, subject, question, "");
            tally.known += 1;
            return Ok(QuestionOutcome::Known);
        }
        if MAX_FAILURES <= self.n_failed {
            tally.failed.push(self.failed(subject, question, None));
            return Ok(QuestionOutcome::Failed);
        }
        match self.system.ask(slug, query) {
            Ok(answer) => {
                self.n_failed = 0;
                if answer.is_lossy {
                    self.report(&rules::NOT_TEXT, subject, question, "");
                }
                if let Some(store) = self.store {
                    let put = store.put(run, name, slug, question, &answer.text);
                    put.map_err(DrownError::Store)?;
                }
                self.count((subject, self.plan.date), question, &answer.text)?;
                tally.answered += 1;
                Ok(QuestionOutcome::Answered)
            }
            Err(failure) => {
                self.report(&rules::NO_ANSWER, subject, question, &failure.to_string());
                if matches!(self.system.source, AnswerSource::Program(_)) {
                    self.n_failed += 1;
                    if self.n_failed == MAX_FAILURES {
                        self.report(&rules::GIVEN_UP, subject, question, "");
                    }
                }
                tally.failed.push(self.failed(subject, question, Some(failure)));
                Ok(QuestionOutcome::Failed)
            }
        }
    }

    fn count(
        &mut self,
        (subject, date): (&TestedEntity, Timestamp),
        question: StandardQuestion,
        text: &str,
    ) -> Result<(), DrownError> {
        let record = AnswerRecord {
            date,
            run: self.plan.run.to_owned(),
            entity: subject.id.clone(),
            system: self.system.name.clone(),
            question,
            answer: Digest::of(text.as_bytes()),
            claims: subject.claims(),
            rules: RULES.to_owned(),
            scores: judge(subject, question, text),
        };
        self.journal.append(record).map_err(DrownError::History)
    }

    fn failed(
        &self,
        subject: &TestedEntity,
        question: StandardQuestion,
        failure: Option<AnswerFailure>,
    ) -> FailedQuestion {
        FailedQuestion {
            system: self.system.name.clone(),
            entity: subject.id.clone(),
            question,
            failure,
        }
    }

    fn report(
        &mut self,
        rule: &'static rutter_finding::Rule,
        subject: &TestedEntity,
        question: StandardQuestion,
        why: &str,
    ) {
        let gap = if why.is_empty() { "" } else { ": " };
        let (system, name) = (quoted(&self.system.name), quoted(&subject.name));
        let detail = format!("{system}, {name}, {}{gap}{why}", question.key());
        self.sink.report(Finding::new(rule, Place::WHOLE, detail));
    }
}
