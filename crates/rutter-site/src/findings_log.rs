//! Stores the findings of the last publication in `told.jsonl`.
//!
//! A build that publishes nothing reads these findings and reports them again. The file is a cache:
//! lines that cannot be parsed are skipped, and a missing file means no findings.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{IoErrorContext, StateError};

/// Writes the findings of a publication, one per line.
#[derive(Debug)]
pub struct FindingsLogWriter {
    path: PathBuf,
    out: BufWriter<File>,
    /// The first write error. [`Self::finish`] returns it, because `push` is called from callbacks
    /// that cannot fail.
    error: Option<io::Error>,
}

impl FindingsLogWriter {
    /// Creates the file.
    pub fn create(path: &Path) -> Result<Self, StateError> {
        let out = BufWriter::new(File::create(path).at(path)?);
        Ok(Self { path: path.to_owned(), out, error: None })
    }

    /// Adds a finding, given by the code of its rule, its place and its detail.
    pub fn push(&mut self, code: &str, place: &str, detail: &str) {
        let line =
            serde_json::to_string(&(code, place, detail)).expect("strings serialize to JSON");
        if let Err(error) = writeln!(self.out, "{line}") {
            self.error.get_or_insert(error);
        }
    }

    /// Closes the file. Returns the first error of any `push`.
    pub fn finish(mut self) -> Result<(), StateError> {
        match self.error {
            Some(error) => Err(StateError::Io(self.path, error)),
            None => self.out.flush().at(&self.path),
        }
    }
}

/// Passes the rule code, place and detail of each stored finding to `take`.
pub fn for_each_finding(path: &Path, take: &mut dyn FnMut(&str, &str, String)) {
    let Ok(file) = File::open(path) else { return };
    for line in BufReader::new(file).lines().map_while(Result::ok) {
        if let Ok((code, place, detail)) = serde_json::from_str::<(String, String, String)>(&line) {
            take(&code, &place, detail);
        }
    }
}
