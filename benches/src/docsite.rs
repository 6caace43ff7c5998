//! The seeded corpus as a website of any size: its pages as JSON Lines.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::corpus::{Language, Rng, page};

/// Origin of the pages of the corpus.
const ORIGIN: &str = "https://docs.example";

/// Pages that can be written in two versions.
pub(crate) struct Docs {
    language: Language,
}

impl Docs {
    pub(crate) fn new() -> Self {
        Self { language: Language::new(&mut Rng::new(42)) }
    }

    /// Writes pages as JSON Lines of a site at `origin`, each in its version; pages without a
    /// version are left out.
    pub(crate) fn write_lines(
        &self,
        file: &Path,
        origin: &str,
        n_pages: u64,
        version: impl Fn(u64) -> Option<u64>,
    ) -> anyhow::Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        let mut line = String::new();
        for n in 0..n_pages {
            let Some(version) = version(n) else { continue };
            page(&self.language, n, version, &mut line);
            writeln!(out, "{}", line.replace(ORIGIN, origin))?;
        }
        Ok(out.flush()?)
    }
}
