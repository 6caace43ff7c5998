//! Stores the findings of the last publication in `told.jsonl`.
//!
//! A build that publishes nothing reads these findings and reports them again. The file is a cache:
//! lines that cannot be parsed are skipped, and a missing file means no findings.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_finding::Rule;

use crate::error::{BuildError, IoErrorContext};
use crate::rules;

/// Writes the findings of a publication, one per line.
#[derive(Debug)]
pub(crate) struct FindingsLogWriter {
    path: PathBuf,
    out: BufWriter<File>,
    /// The first write error. [`Self::finish`] returns it, because `push` is called from callbacks
    /// that cannot fail.
    error: Option<io::Error>,
}

impl FindingsLogWriter {
    pub(crate) fn create(path: &Path) -> Result<Self, BuildError> {
        let out = BufWriter::new(File::create(path).at(path)?);
        Ok(Self { path: path.to_owned(), out, error: None })
    }

    pub(crate) fn push(&mut self, rule: &Rule, place: &str, detail: &str) {
        let line =
            serde_json::to_string(&(rule.code, place, detail)).expect("strings serialize to JSON");
        if let Err(error) = writeln!(self.out, "{line}") {
            self.error.get_or_insert(error);
        }
    }

    pub(crate) fn finish(mut self) -> Result<(), BuildError> {
        match self.error {
            Some(error) => Err(BuildError::Io(self.path, error)),
            None => self.out.flush().at(&self.path),
        }
    }
}

/// Passes the rule, place and detail of each stored finding to `take`.
pub(crate) fn for_each(path: &Path, take: &mut dyn FnMut(&'static Rule, &str, String)) {
    let Ok(file) = File::open(path) else { return };
    for line in BufReader::new(file).lines().map_while(Result::ok) {
        let Ok((code, place, detail)) = serde_json::from_str::<(String, String, String)>(&line)
        else {
            continue;
        };
        if let Some(rule) = rules::ALL.iter().find(|rule| rule.code == code) {
            take(rule, &place, detail);
        }
    }
}
