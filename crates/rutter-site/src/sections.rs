//! The sections of a site, as `chain.json` stores them.
//!
//! The state stores the sections, because a page that changes its section is removed from one collection and added to
//! another.

use serde::{Deserialize, Serialize};

/// Name of the section for pages that belong to no other section.
pub const MAIN: &str = "main";
/// Name of the section that contains all pages.
pub const ALL: &str = "all";

/// The sections of a site. Pages that match no rule belong to [`MAIN`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sections {
    /// Name and path prefix of each section; the longest prefix is first.
    rules: Vec<(String, String)>,
}

impl Sections {
    /// Returns sections with these names and path prefixes.
    pub fn new(mut rules: Vec<(String, String)>) -> Self {
        rules.sort_by(|one, other| other.1.len().cmp(&one.1.len()).then_with(|| one.cmp(other)));
        Self { rules }
    }

    /// Returns the names of the sections; `main` is last, unless a rule defines it.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in &self.rules {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names.sort_unstable();
        if !names.contains(&MAIN) {
            names.push(MAIN);
        }
        names
    }

    /// Returns the section of a URL path. The index page of a folder belongs to the section of the
    /// folder even if its URL has no final slash, such as `/docs` for the prefix `/docs/`.
    pub fn of_path(&self, path: &str) -> &str {
        let rule = self.rules.iter().find(|(_, prefix)| is_below(path, prefix));
        rule.map_or(MAIN, |(name, _)| name)
    }

    /// Returns the path prefix of a section; `None` for `main`.
    pub fn prefix(&self, name: &str) -> Option<&str> {
        self.rules.iter().find(|rule| rule.0 == name).map(|rule| rule.1.as_str())
    }

    /// Returns the bit of a section in section masks.
    pub fn bit(&self, name: &str) -> u64 {
        let at = self.names().iter().position(|found| *found == name).unwrap_or(0);
        1 << at.min(62)
    }
}

/// Returns whether a path is below a prefix. The index page of a folder counts with and without a
/// final slash: `/a` is below `/a/`.
pub fn is_below(path: &str, prefix: &str) -> bool {
    path.starts_with(prefix) || prefix.strip_suffix('/') == Some(path)
}
