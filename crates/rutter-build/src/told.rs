//! What was found while publishing: kept, so that a build that publishes
//! nothing still says what still holds.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use rutter_finding::Rule;

use crate::error::{At, BuildError};
use crate::rules;

/// Keeps findings, one on each line.
#[derive(Debug)]
pub(crate) struct ToldWriter {
    path: PathBuf,
    out: BufWriter<File>,
    /// The first fault; who tells of findings cannot be told of faults.
    fault: Option<io::Error>,
}

impl ToldWriter {
    pub(crate) fn create(path: &Path) -> Result<Self, BuildError> {
        let out = BufWriter::new(File::create(path).at(path)?);
        Ok(Self { path: path.to_owned(), out, fault: None })
    }

    pub(crate) fn push(&mut self, rule: &Rule, place: &str, detail: &str) {
        let line = serde_json::to_string(&(rule.code, place, detail)).expect("texts are JSON");
        if let Err(error) = writeln!(self.out, "{line}") {
            self.fault.get_or_insert(error);
        }
    }

    pub(crate) fn finish(mut self) -> Result<(), BuildError> {
        match self.fault {
            Some(error) => Err(BuildError::Io(self.path, error)),
            None => self.out.flush().at(&self.path),
        }
    }
}

/// Hands over what was kept: rule, place, detail. A cache may be lost.
pub(crate) fn each(path: &Path, take: &mut dyn FnMut(&'static Rule, &str, String)) {
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
