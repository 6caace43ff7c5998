//! A run of the Drowning Test: every question to every system, once.
//!
//! An answer is kept in the store, then counted, then written to the history.
//! A run that was killed goes on where it was: what the history has is not
//! asked again, what the store has is counted and not asked again.

use std::io;

use rutter_finding::{Finding, FindingSink, Place, quoted};
use rutter_page::{Digest, Timestamp};

use super::RULES;
use super::basin::USUAL_SYSTEMS;
use super::history::{Journal, Record};
use super::judge::{Subject, judge};
use super::query::{Query, Question};
use super::store::{Store, slugs};
use super::system::{Failure, Source, System};
use crate::rules;

/// After so many failures in a row a system is not asked again.
const PATIENCE: usize = 3;

/// What is asked, of whom.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'p> {
    /// The run, or cycle: the same name resumes it.
    pub run: &'p str,
    /// What is written as the date of new answers.
    pub date: Timestamp,
    /// The entities.
    pub subjects: &'p [Subject],
    /// The systems; each has a name of its own.
    pub systems: &'p [System],
}

/// What happened to one question, for whoever shows progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The history has it already.
    Known,
    /// The store has the answer; it was counted.
    Counted,
    /// It was asked and answered.
    Answered,
    /// There is no answer.
    Failed,
}

/// What a run did.
#[derive(Debug, Default)]
pub struct Tally {
    /// Questions that were answered in an earlier run of the same name.
    pub known: usize,
    /// Answers that were there, and were counted now.
    pub counted: usize,
    /// Questions that were asked and answered.
    pub answered: usize,
    /// Questions without an answer; nothing is written of them.
    pub failed: Vec<Failed>,
}

/// A question without an answer.
#[derive(Debug)]
pub struct Failed {
    /// Who was asked.
    pub system: String,
    /// About which entity.
    pub entity: String,
    /// What.
    pub question: Question,
    /// Why there is none; `None` where it was not asked any more.
    pub failure: Option<Failure>,
}

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrownError {
    /// Two systems go by one name.
    #[error("two systems are called {0}")]
    SameName(String),
    /// The history cannot be written.
    #[error("cannot write the history")]
    History(#[source] io::Error),
    /// Answers cannot be kept.
    #[error("cannot keep answers")]
    Store(#[source] io::Error),
}

/// Asks what has not been answered yet, and counts.
pub fn drown(
    plan: &Plan<'_>,
    journal: &mut Journal,
    store: Option<&Store>,
    progress: &mut dyn FnMut(&System, &Subject, Question, Step),
    sink: &mut dyn FindingSink,
) -> Result<Tally, DrownError> {
    for (n, system) in plan.systems.iter().enumerate() {
        if plan.systems.iter().take(n).any(|other| other.name == system.name) {
            return Err(DrownError::SameName(quoted(&system.name)));
        }
    }
    if plan.systems.len() < USUAL_SYSTEMS {
        let detail = format!("{}", plan.systems.len());
        sink.report(Finding::new(&rules::FEW_SYSTEMS, Place::WHOLE, detail));
    }
    let slugs = slugs(plan.subjects);
    let mut tally = Tally::default();
    for system in plan.systems {
        let mut one = One { plan, system, store, journal, sink, n_failed: 0 };
        for (subject, slug) in plan.subjects.iter().zip(&slugs) {
            for query in &subject.queries {
                let step = one.go(subject, slug, query, &mut tally)?;
                progress(system, subject, query.question, step);
            }
        }
    }
    Ok(tally)
}

/// One system being asked.
struct One<'o> {
    plan: &'o Plan<'o>,
    system: &'o System,
    store: Option<&'o Store>,
    journal: &'o mut Journal,
    sink: &'o mut dyn FindingSink,
    /// Failures in a row.
    n_failed: usize,
}

impl One<'_> {
    fn go(
        &mut self,
        subject: &Subject,
        slug: &str,
        query: &Query,
        tally: &mut Tally,
    ) -> Result<Step, DrownError> {
        let (run, name, question) = (self.plan.run, &self.system.name, query.question);
        let known = self.journal.history().find(run, &subject.id, name, question);
        let is_same = known.map(|it| it.claims == subject.claims() && it.rules == RULES);
        if is_same == Some(true) {
            tally.known += 1;
            return Ok(Step::Known);
        }
        let kept = match self.store {
            Some(store) => store.get(run, name, slug, question).map_err(DrownError::Store)?,
            None => None,
        };
        // Another entity's answer may lie there, since names can change.
        let kept = kept
            .filter(|text| known.is_none_or(|known| known.answer == Digest::of(text.as_bytes())));
        if let Some(text) = kept {
            // It was given when it was given, whenever it is counted.
            let given = known.map_or(self.plan.date, |known| known.date);
            self.count((subject, given), question, &text)?;
            tally.counted += 1;
            return Ok(Step::Counted);
        }
        if is_same.is_some() {
            self.report(&rules::OTHER_CLAIMS, subject, question, "");
            tally.known += 1;
            return Ok(Step::Known);
        }
        if PATIENCE <= self.n_failed {
            tally.failed.push(self.failed(subject, question, None));
            return Ok(Step::Failed);
        }
        match self.system.ask(slug, query) {
            Ok(answer) => {
                self.n_failed = 0;
                if answer.is_mended {
                    self.report(&rules::NOT_TEXT, subject, question, "");
                }
                if let Some(store) = self.store {
                    let put = store.put(run, name, slug, question, &answer.text);
                    put.map_err(DrownError::Store)?;
                }
                self.count((subject, self.plan.date), question, &answer.text)?;
                tally.answered += 1;
                Ok(Step::Answered)
            }
            Err(failure) => {
                self.report(&rules::NO_ANSWER, subject, question, &failure.to_string());
                if matches!(self.system.source, Source::Program(_)) {
                    self.n_failed += 1;
                    if self.n_failed == PATIENCE {
                        self.report(&rules::GIVEN_UP, subject, question, "");
                    }
                }
                tally.failed.push(self.failed(subject, question, Some(failure)));
                Ok(Step::Failed)
            }
        }
    }

    fn count(
        &mut self,
        (subject, date): (&Subject, Timestamp),
        question: Question,
        text: &str,
    ) -> Result<(), DrownError> {
        let record = Record {
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

    fn failed(&self, subject: &Subject, question: Question, failure: Option<Failure>) -> Failed {
        Failed { system: self.system.name.clone(), entity: subject.id.clone(), question, failure }
    }

    fn report(
        &mut self,
        rule: &'static rutter_finding::Rule,
        subject: &Subject,
        question: Question,
        why: &str,
    ) {
        let gap = if why.is_empty() { "" } else { ": " };
        let (system, name) = (quoted(&self.system.name), quoted(&subject.name));
        let detail = format!("{system}, {name}, {}{gap}{why}", question.key());
        self.sink.report(Finding::new(rule, Place::WHOLE, detail));
    }
}
