//! The seeded corpus as a website of any size: its pages as JSON Lines.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::corpus::{Language, Rng, page};

/// Where the corpus says its pages are.
const ORIGIN: &str = "https://docs.example";

/// Pages that can be written in two versions.
pub(crate) struct Docs {
    language: Language,
}

impl Docs {
    pub(crate) fn new() -> Self {
        Self { language: Language::new(&mut Rng::new(42)) }
    }

    /// Writes pages as JSON Lines of a site at `origin`; some in version 1.
    pub(crate) fn write_lines(
        &self,
        file: &Path,
        origin: &str,
        n_pages: u64,
        is_changed: impl Fn(u64) -> bool,
    ) -> anyhow::Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        let mut line = String::new();
        for n in 0..n_pages {
            page(&self.language, n, u64::from(is_changed(n)), &mut line);
            writeln!(out, "{}", line.replace(ORIGIN, origin))?;
        }
        Ok(out.flush()?)
    }
}
