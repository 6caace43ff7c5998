//! The history of answers: an append-only file with one JSON object per line.
//!
//! [`AnswerHistory::read`] is lenient: it skips records of unknown types, and it reports malformed
//! lines but leaves them unchanged. [`HistoryWriter`] appends records. The history contains digests
//! of the answers; an [`AnswerStore`](super::AnswerStore) contains their texts.
//!
//! Rejects a second concurrent writer. A truncated last line is moved to another file before
//! writing.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use rutter_finding::{Finding, FindingSink, Place};
use rutter_page::{Digest, JsonTree, Timestamp};

use super::judge::AnswerScores;
use super::query::StandardQuestion;
use crate::survival::rules;
use crate::survival::survive::KeptShare;

/// An answer and its scores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerRecord {
    /// Time at which the answer was given.
    pub date: Timestamp,
    /// Name of the run that asked the question.
    pub run: String,
    /// `@id` of the entity.
    pub entity: String,
    /// Name of the system that answered.
    pub system: String,
    /// Question that was asked.
    pub question: StandardQuestion,
    /// Digest of the text of the answer.
    pub answer: Digest,
    /// Digest of the claims that the answer was scored against.
    pub claims: Digest,
    /// Version of the scoring rules.
    pub rules: String,
    /// Scores of the answer.
    pub scores: AnswerScores,
}

impl AnswerRecord {
    /// Returns whether the record answers this question about the entity to the system in this run.
    pub fn is_of(&self, run: &str, entity: &str, system: &str, question: StandardQuestion) -> bool {
        self.question == question
            && self.run == run
            && self.entity == entity
            && self.system == system
    }
}

/// Rating of an answer by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanRating {
    /// Time at which the person rated the answer.
    pub date: Timestamp,
    /// Name of the run that asked the question.
    pub run: String,
    /// `@id` of the entity.
    pub entity: String,
    /// Name of the system that answered.
    pub system: String,
    /// Question that was asked.
    pub question: StandardQuestion,
    /// Rating from 0 (the entity is absent) to 4 (exact); a larger value counts as 4.
    pub rubric: u8,
}

/// Content of a history file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerHistory {
    /// Records of answers in file order.
    pub records: Vec<AnswerRecord>,
    /// Ratings by people in file order.
    pub ratings: Vec<HumanRating>,
    /// Number of records of unknown types.
    pub n_unknown: usize,
}

impl AnswerHistory {
    /// Parses the lines of a history.
    pub fn read(bytes: &[u8], sink: &mut dyn FindingSink) -> Self {
        let mut history = Self::default();
        let (whole, torn) = whole_lines(bytes);
        for (n, line) in (1..).zip(whole.split(|byte| *byte == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let line = std::str::from_utf8(line).ok().and_then(JsonTree::parse);
            let taken = line.as_ref().and_then(|line| history.take(line));
            if taken.is_none() {
                sink.report(Finding::new(&rules::BROKEN, Place::line(n), ""));
            }
        }
        if !torn.is_empty() {
            let detail = format!("the incomplete line has {} bytes", torn.len());
            sink.report(Finding::new(&rules::TORN, Place::WHOLE, detail));
        }
        history
    }

    /// Reads a history file. A missing file counts as an empty history.
    pub fn open(path: &Path, sink: &mut dyn FindingSink) -> io::Result<Self> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Self::read(&bytes, sink)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    fn take(&mut self, line: &JsonTree) -> Option<()> {
        match line.get("kind")?.as_str()? {
            "answer" => self.records.push(record_of(line)?),
            "rubric" => self.ratings.push(rating_of(line)?),
            _ => self.n_unknown += 1,
        }
        Some(())
    }

    /// Returns the last record of a question about an entity to a system in a run.
    pub fn find(
        &self,
        run: &str,
        entity: &str,
        system: &str,
        question: StandardQuestion,
    ) -> Option<&AnswerRecord> {
        self.records.iter().rev().find(|record| record.is_of(run, entity, system, question))
    }
}

/// Splits a file into its complete lines and a truncated rest. A last line that lacks only its line
/// end counts as complete.
fn whole_lines(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (whole, last) = bytes.split_at(end);
    let is_object = |text: &str| matches!(JsonTree::parse(text), Some(JsonTree::Map(_)));
    if std::str::from_utf8(last).is_ok_and(is_object) { (bytes, &[]) } else { (whole, last) }
}

fn text(line: &JsonTree, name: &str) -> Option<String> {
    line.get(name)?.as_str().map(str::to_owned)
}

fn flag(line: &JsonTree, name: &str) -> Option<bool> {
    if let JsonTree::Bool(value) = line.get(name)? { Some(*value) } else { None }
}

fn number(line: &JsonTree, name: &str) -> Option<usize> {
    if let JsonTree::Number(value) = line.get(name)? { value.parse().ok() } else { None }
}

fn share(line: &JsonTree, name: &str) -> Option<KeptShare> {
    let value = line.get(name)?;
    let share = KeptShare { kept: number(value, "kept")?, of: number(value, "of")? };
    (share.kept <= share.of).then_some(share)
}

fn record_of(line: &JsonTree) -> Option<AnswerRecord> {
    let asserts = line.get("asserts").map_or(&[][..], JsonTree::items);
    let asserts = asserts.iter().map(|it| it.as_str().map(str::to_owned));
    Some(AnswerRecord {
        date: Timestamp::parse(line.get("date")?.as_str()?).ok()?,
        run: text(line, "run")?,
        entity: text(line, "entity")?,
        system: text(line, "system")?,
        question: StandardQuestion::of_key(line.get("query")?.as_str()?)?,
        answer: Digest::parse(line.get("answer")?.as_str()?)?,
        claims: Digest::parse(line.get("claims")?.as_str()?)?,
        rules: text(line, "rules")?,
        scores: AnswerScores {
            markers: share(line, "markers")?,
            sentences: share(line, "sentences")?,
            is_named: flag(line, "named")?,
            is_known: flag(line, "known")?,
            asserts: asserts.collect::<Option<_>>()?,
        },
    })
}

fn rating_of(line: &JsonTree) -> Option<HumanRating> {
    Some(HumanRating {
        date: Timestamp::parse(line.get("date")?.as_str()?).ok()?,
        run: text(line, "run")?,
        entity: text(line, "entity")?,
        system: text(line, "system")?,
        question: StandardQuestion::of_key(line.get("query")?.as_str()?)?,
        rubric: number(line, "rubric")
            .and_then(|it| u8::try_from(it).ok())
            .filter(|it| *it <= 4)?,
    })
}

fn key(
    kind: &str,
    (date, run, entity, system): (Timestamp, &str, &str, &str),
    question: StandardQuestion,
) -> Vec<(String, JsonTree)> {
    [
        ("kind", kind),
        ("date", &date.to_string()),
        ("run", run),
        ("entity", entity),
        ("system", system),
        ("query", question.key()),
    ]
    .map(|(name, value)| (name.to_owned(), JsonTree::text(value)))
    .to_vec()
}

fn line_of_record(record: &AnswerRecord) -> String {
    let AnswerRecord { date, run, entity, system, question, answer, claims, rules, scores } =
        record;
    let mut line = key("answer", (*date, run, entity, system), *question);
    let share = |share: KeptShare| {
        JsonTree::Map(vec![
            ("kept".to_owned(), JsonTree::Number(share.kept.to_string())),
            ("of".to_owned(), JsonTree::Number(share.of.to_string())),
        ])
    };
    let asserts = scores.asserts.iter().map(|it| JsonTree::text(it.as_str())).collect();
    let members = [
        ("answer", JsonTree::text(answer.to_string())),
        ("claims", JsonTree::text(claims.to_string())),
        ("rules", JsonTree::text(rules.as_str())),
        ("markers", share(scores.markers)),
        ("sentences", share(scores.sentences)),
        // People and other programs read this value; this crate recomputes it.
        ("gamma", JsonTree::Number(format!("{:.4}", scores.gamma()))),
        ("named", JsonTree::Bool(scores.is_named)),
        ("known", JsonTree::Bool(scores.is_known)),
        ("correct", JsonTree::Bool(scores.is_correct())),
        ("lost", JsonTree::Bool(scores.is_loss())),
        ("asserts", JsonTree::List(asserts)),
    ];
    line.extend(members.map(|(name, value)| (name.to_owned(), value)));
    JsonTree::Map(line).to_json() + "\n"
}

fn line_of_rating(rating: &HumanRating) -> String {
    let HumanRating { date, run, entity, system, question, rubric } = rating;
    let mut line = key("rubric", (*date, run, entity, system), *question);
    line.push(("rubric".to_owned(), JsonTree::Number(rubric.min(&4).to_string())));
    JsonTree::Map(line).to_json() + "\n"
}

/// Appends records to a history file.
#[derive(Debug)]
pub struct HistoryWriter {
    file: File,
    history: AnswerHistory,
}

impl Drop for HistoryWriter {
    fn drop(&mut self) {
        // Unlock explicitly: a child process that is being started may still have the file open.
        self.file.unlock().ok();
    }
}

impl HistoryWriter {
    /// Opens a history for appending and creates it if it does not exist.
    ///
    /// A truncated last line is moved to a file with the suffix `.torn`. Fails if another process
    /// has the file open for writing.
    pub fn open(path: &Path, sink: &mut dyn FindingSink) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        file.try_lock().map_err(|error| match error {
            std::fs::TryLockError::WouldBlock => {
                io::Error::new(io::ErrorKind::WouldBlock, "another run is writing this history")
            }
            std::fs::TryLockError::Error(error) => error,
        })?;
        let bytes = std::fs::read(path)?;
        let history = AnswerHistory::read(&bytes, sink);
        let (whole, torn) = whole_lines(&bytes);
        if !torn.is_empty() {
            let mut aside = path.as_os_str().to_owned();
            aside.push(".torn");
            let mut aside = OpenOptions::new().append(true).create(true).open(aside)?;
            aside.write_all(torn)?;
            aside.write_all(b"\n")?;
            aside.sync_all()?;
            file.set_len(whole.len() as u64)?;
        } else if whole.last().is_some_and(|byte| *byte != b'\n') {
            file.write_all(b"\n")?;
        }
        file.sync_all()?;
        Ok(Self { file, history })
    }

    /// Returns the current content of the history.
    pub fn history(&self) -> &AnswerHistory {
        &self.history
    }

    /// Appends the record of an answer. When this function returns, the line is on disk.
    pub fn append(&mut self, record: AnswerRecord) -> io::Result<()> {
        self.put(&line_of_record(&record))?;
        self.history.records.push(record);
        Ok(())
    }

    /// Appends a rating. When this function returns, the line is on disk.
    pub fn rate(&mut self, rating: HumanRating) -> io::Result<()> {
        self.put(&line_of_rating(&rating))?;
        self.history.ratings.push(rating);
        Ok(())
    }

    fn put(&mut self, line: &str) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // Remove a partially written line.
            self.file.set_len(before)?;
        }
        written
    }
}
