//! Rebuilds and edits: which pages Rutter reports as changed.
//!
//! A rebuild with another menu entry, build stamp and theme option must change no page. An edit of one
//! sentence in a section that several pages repeat must change exactly the page with the edit.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::phrases::{Twins, read_twins};

/// A replacement of text in a file below the folder of a generator.
pub(super) struct Edit {
    pub(super) file: &'static str,
    pub(super) from: &'static str,
    pub(super) to: &'static str,
}

/// The sentence that is edited, in one page of those that repeat it.
pub(super) const SENTENCE: (&str, &str) = ("Never roll back while", "Always roll back while");
/// The page with the edited sentence.
pub(super) const EDITED_PAGE: &str = "guide/tides";

impl Edit {
    /// Applies the edit; fails where the file does not have the text.
    pub(super) fn apply(&self, folder: &Path) -> anyhow::Result<()> {
        let path = folder.join(self.file);
        let text = std::fs::read_to_string(&path).with_context(|| self.file.to_owned())?;
        ensure!(text.contains(self.from), "{} does not have `{}`", self.file, self.from);
        Ok(std::fs::write(path, text.replace(self.from, self.to))?)
    }
}

/// A published state of a site: the pages that Rutter calls changed, and all twins.
pub(super) struct Published {
    pub(super) n_changed: u64,
    pub(super) twins: Twins,
}

/// Runs `rutter build` on a generated site.
pub(super) fn publish(rutter: &Path, site: &Path, folder: &Path) -> anyhow::Result<Published> {
    let out = folder.join("out");
    let mut build = Command::new(rutter);
    build.arg("build").arg(site).arg("--out").arg(&out).arg("--state").arg(folder.join("state"));
    build.args(["--base-url", "https://quay.test/", "--json"]);
    let output = build.output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "rutter build failed: {errors}");
    let summary: Value = serde_json::from_slice(&output.stdout)?;
    let count = |key: &str| summary[key].as_u64().unwrap_or(0);
    let n_changed = count("changed") + count("new") + count("removed");
    Ok(Published { n_changed, twins: read_twins(&out)? })
}

/// Names of pages whose twins differ, with the first line that does.
pub(super) fn changed_twins(before: &Twins, after: &Twins) -> Vec<String> {
    let mut changed = Vec::new();
    for (page, new) in after {
        let old = before.get(page).map(String::as_str).unwrap_or_default();
        if old != new {
            let line = new.lines().find(|line| !old.lines().any(|other| other == *line));
            changed.push(format!("{page}: {}", line.unwrap_or("(lines removed)")));
        }
    }
    changed
}
