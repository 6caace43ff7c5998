//! The history of answers: a file of lines that only grows.
//!
//! One JSON object a line. [`History::read`] is lenient: kinds it does not know
//! are passed by, a broken line is told and left alone. [`Journal`] appends;
//! nobody ever rewrites a line. Texts of answers are not in it, only their
//! digests (see [`Store`](super::Store)).
//!
//! Refuses: to write behind a line that is cut off, to be written by two.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use rutter_finding::{Finding, FindingSink, Place};
use rutter_page::{Digest, Timestamp, Tree};

use super::judge::Scores;
use super::query::Question;
use crate::rules;
use crate::survive::Share;

/// An answer and what was counted in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// When it was given.
    pub date: Timestamp,
    /// The run, or cycle, it belongs to.
    pub run: String,
    /// The `@id` of the entity.
    pub entity: String,
    /// The system that gave it.
    pub system: String,
    /// What was asked.
    pub question: Question,
    /// The digest of the answer's text.
    pub answer: Digest,
    /// The digest of the claims it was counted by.
    pub claims: Digest,
    /// The version of the rules it was counted by.
    pub rules: String,
    /// What survives.
    pub scores: Scores,
}

impl Record {
    /// Whether two records are of the same question in the same run.
    pub fn is_of(&self, run: &str, entity: &str, system: &str, question: Question) -> bool {
        self.question == question
            && self.run == run
            && self.entity == entity
            && self.system == system
    }
}

/// What a person thinks of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rated {
    /// When it was judged.
    pub date: Timestamp,
    /// The run of the answer.
    pub run: String,
    /// The entity it is about.
    pub entity: String,
    /// The system that gave it.
    pub system: String,
    /// What was asked.
    pub question: Question,
    /// From 0 (absent) to 4 (exact); more is taken for 4.
    pub rubric: u8,
}

/// Everything a file of answers holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// Answers, in the order of the file.
    pub records: Vec<Record>,
    /// Judgements of people, likewise.
    pub rated: Vec<Rated>,
    /// Lines of kinds this version does not know.
    pub n_others: usize,
}

impl History {
    /// Reads the lines of a history.
    pub fn read(bytes: &[u8], sink: &mut dyn FindingSink) -> Self {
        let mut history = Self::default();
        let (whole, torn) = whole_lines(bytes);
        for (n, line) in (1..).zip(whole.split(|byte| *byte == b'\n')) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let line = std::str::from_utf8(line).ok().and_then(Tree::parse);
            let taken = line.as_ref().and_then(|line| history.take(line));
            if taken.is_none() {
                sink.report(Finding::new(&rules::BROKEN, Place::line(n), ""));
            }
        }
        if !torn.is_empty() {
            sink.report(Finding::new(&rules::TORN, Place::WHOLE, format!("{} bytes", torn.len())));
        }
        history
    }

    /// Reads a file; one that is not there is empty.
    pub fn open(path: &Path, sink: &mut dyn FindingSink) -> io::Result<Self> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Self::read(&bytes, sink)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    fn take(&mut self, line: &Tree) -> Option<()> {
        match line.get("kind")?.as_str()? {
            "answer" => self.records.push(record_of(line)?),
            "rubric" => self.rated.push(rated_of(line)?),
            _ => self.n_others += 1,
        }
        Some(())
    }

    /// The last record of a question in a run.
    pub fn find(
        &self,
        run: &str,
        entity: &str,
        system: &str,
        question: Question,
    ) -> Option<&Record> {
        self.records.iter().rev().find(|record| record.is_of(run, entity, system, question))
    }
}

/// The lines that are whole, and what is cut off behind them. A last line that
/// lacks only its line end is whole.
fn whole_lines(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (whole, last) = bytes.split_at(end);
    let is_object = |text: &str| matches!(Tree::parse(text), Some(Tree::Map(_)));
    if std::str::from_utf8(last).is_ok_and(is_object) { (bytes, &[]) } else { (whole, last) }
}

fn text(line: &Tree, name: &str) -> Option<String> {
    line.get(name)?.as_str().map(str::to_owned)
}

fn flag(line: &Tree, name: &str) -> Option<bool> {
    if let Tree::Bool(value) = line.get(name)? { Some(*value) } else { None }
}

fn number(line: &Tree, name: &str) -> Option<usize> {
    if let Tree::Number(value) = line.get(name)? { value.parse().ok() } else { None }
}

fn share(line: &Tree, name: &str) -> Option<Share> {
    let value = line.get(name)?;
    let share = Share { kept: number(value, "kept")?, of: number(value, "of")? };
    (share.kept <= share.of).then_some(share)
}

fn record_of(line: &Tree) -> Option<Record> {
    let asserts = line.get("asserts").map_or(&[][..], Tree::items);
    let asserts = asserts.iter().map(|it| it.as_str().map(str::to_owned));
    Some(Record {
        date: Timestamp::parse(line.get("date")?.as_str()?).ok()?,
        run: text(line, "run")?,
        entity: text(line, "entity")?,
        system: text(line, "system")?,
        question: Question::of_key(line.get("query")?.as_str()?)?,
        answer: Digest::parse(line.get("answer")?.as_str()?)?,
        claims: Digest::parse(line.get("claims")?.as_str()?)?,
        rules: text(line, "rules")?,
        scores: Scores {
            markers: share(line, "markers")?,
            sentences: share(line, "sentences")?,
            is_named: flag(line, "named")?,
            is_known: flag(line, "known")?,
            asserts: asserts.collect::<Option<_>>()?,
        },
    })
}

fn rated_of(line: &Tree) -> Option<Rated> {
    Some(Rated {
        date: Timestamp::parse(line.get("date")?.as_str()?).ok()?,
        run: text(line, "run")?,
        entity: text(line, "entity")?,
        system: text(line, "system")?,
        question: Question::of_key(line.get("query")?.as_str()?)?,
        rubric: number(line, "rubric")
            .and_then(|it| u8::try_from(it).ok())
            .filter(|it| *it <= 4)?,
    })
}

fn key(
    kind: &str,
    (date, run, entity, system): (Timestamp, &str, &str, &str),
    question: Question,
) -> Vec<(String, Tree)> {
    [
        ("kind", kind),
        ("date", &date.to_string()),
        ("run", run),
        ("entity", entity),
        ("system", system),
        ("query", question.key()),
    ]
    .map(|(name, value)| (name.to_owned(), Tree::text(value)))
    .to_vec()
}

fn line_of_record(record: &Record) -> String {
    let Record { date, run, entity, system, question, answer, claims, rules, scores } = record;
    let mut line = key("answer", (*date, run, entity, system), *question);
    let share = |share: Share| {
        Tree::Map(vec![
            ("kept".to_owned(), Tree::Number(share.kept.to_string())),
            ("of".to_owned(), Tree::Number(share.of.to_string())),
        ])
    };
    let asserts = scores.asserts.iter().map(|it| Tree::text(it.as_str())).collect();
    let members = [
        ("answer", Tree::text(answer.to_string())),
        ("claims", Tree::text(claims.to_string())),
        ("rules", Tree::text(rules.as_str())),
        ("markers", share(scores.markers)),
        ("sentences", share(scores.sentences)),
        // For people and other programs; counted anew by ours.
        ("gamma", Tree::Number(format!("{:.4}", scores.gamma()))),
        ("named", Tree::Bool(scores.is_named)),
        ("known", Tree::Bool(scores.is_known)),
        ("correct", Tree::Bool(scores.is_correct())),
        ("lost", Tree::Bool(scores.is_loss())),
        ("asserts", Tree::List(asserts)),
    ];
    line.extend(members.map(|(name, value)| (name.to_owned(), value)));
    Tree::Map(line).to_json() + "\n"
}

fn line_of_rated(rated: &Rated) -> String {
    let Rated { date, run, entity, system, question, rubric } = rated;
    let mut line = key("rubric", (*date, run, entity, system), *question);
    line.push(("rubric".to_owned(), Tree::Number(rubric.min(&4).to_string())));
    Tree::Map(line).to_json() + "\n"
}

/// A history that is being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    history: History,
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A program that is just starting may hold the file a moment longer.
        self.file.unlock().ok();
    }
}

impl Journal {
    /// Opens a history to go on with it; makes it where there is none.
    ///
    /// A last line that is cut off goes to a file of the same name with
    /// `.torn` behind it. Fails where another run holds the file.
    pub fn open(path: &Path, sink: &mut dyn FindingSink) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        file.try_lock().map_err(|error| match error {
            std::fs::TryLockError::WouldBlock => {
                io::Error::new(io::ErrorKind::WouldBlock, "another run writes this history")
            }
            std::fs::TryLockError::Error(error) => error,
        })?;
        let bytes = std::fs::read(path)?;
        let history = History::read(&bytes, sink);
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

    /// What it holds by now.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Appends an answer; it is on the disk when this returns.
    pub fn append(&mut self, record: Record) -> io::Result<()> {
        self.put(&line_of_record(&record))?;
        self.history.records.push(record);
        Ok(())
    }

    /// Appends what a person thinks of an answer.
    pub fn rate(&mut self, rated: Rated) -> io::Result<()> {
        self.put(&line_of_rated(&rated))?;
        self.history.rated.push(rated);
        Ok(())
    }

    fn put(&mut self, line: &str) -> io::Result<()> {
        let before = self.file.metadata()?.len();
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // Half a line would be told as torn; better none at all.
            self.file.set_len(before)?;
        }
        written
    }
}
