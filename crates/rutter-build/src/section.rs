//! Sections: which pages share collections.
//!
//! Given by the owner as path prefixes, else one for each first path segment
//! that has enough pages. The choice is kept, because a page that moves
//! between sections is a removal here and an addition there.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::inventory::{is_below, prefix};
use crate::plan::{Base, SectionRule};

/// Pages a first path segment needs to be a section.
const FEWEST: usize = 20;
/// Most sections.
const MOST: usize = 32;
/// The section of all other pages.
pub(crate) const MAIN: &str = "main";
/// The section of all pages.
pub(crate) const ALL: &str = "all";

/// The sections of a site, in order; the last one takes what no other does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Sections {
    /// Name and path prefix, longest prefix first.
    rules: Vec<(String, String)>,
}

impl Sections {
    /// What the owner wants.
    pub(crate) fn given(base: &Base, rules: &[SectionRule]) -> Self {
        let rule = |rule: &SectionRule| (rule.name.clone(), prefix(base, &rule.prefix));
        let mut rules: Vec<(String, String)> = rules.iter().map(rule).collect();
        rules.sort_by(|one, other| other.1.len().cmp(&one.1.len()).then_with(|| one.cmp(other)));
        Self { rules }
    }

    /// One for each first path segment with enough pages, the largest first.
    pub(crate) fn found(base: &Base, segments: &Segments) -> Self {
        let counts = segments.counts.iter().map(|(segment, n_pages)| (segment.as_str(), *n_pages));
        let mut large: Vec<(&str, usize)> =
            counts.filter(|(_, n_pages)| FEWEST <= *n_pages).collect();
        large.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(other.0)));
        large.truncate(MOST - 1);
        let mut rules: Vec<(String, String)> = Vec::new();
        for (segment, _) in large {
            let mut name = legal(segment);
            // Two segments may become one name, and some names are taken.
            while matches!(name.as_str(), MAIN | ALL) || rules.iter().any(|rule| rule.0 == name) {
                name.push('_');
            }
            rules.push((name, format!("{}{segment}/", base.path())));
        }
        rules.sort_by(|one, other| other.1.len().cmp(&one.1.len()).then_with(|| one.cmp(other)));
        Self { rules }
    }

    /// The names, `main` last.
    pub(crate) fn names(&self) -> Vec<&str> {
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

    /// The section of an address. Where addresses have no final slash, the index
    /// page of a folder belongs to the folder's section: `/docs` to that of `/docs/`.
    pub(crate) fn of(&self, base: &Base, url: &str) -> &str {
        let path = url.get(base.origin().len()..).unwrap_or_default();
        let rule = self.rules.iter().find(|(_, prefix)| is_below(path, prefix));
        rule.map_or(MAIN, |(name, _)| name)
    }

    /// The path prefix of a section; `None` for `main`.
    pub(crate) fn prefix(&self, name: &str) -> Option<&str> {
        self.rules.iter().find(|rule| rule.0 == name).map(|rule| rule.1.as_str())
    }

    /// The bit that stands for a section in masks.
    pub(crate) fn bit(&self, name: &str) -> u64 {
        let at = self.names().iter().position(|found| *found == name).unwrap_or(0);
        1 << at.min(62)
    }
}

/// How many pages begin with which segment of a path.
#[derive(Debug, Default)]
pub(crate) struct Segments {
    counts: BTreeMap<String, usize>,
}

impl Segments {
    pub(crate) fn count(&mut self, base: &Base, url: &str) {
        let inside = base.strip(url).unwrap_or_default();
        let Some((segment, _)) = inside.split_once('/') else { return };
        match self.counts.get_mut(segment) {
            Some(n_pages) => *n_pages += 1,
            None => {
                self.counts.insert(segment.to_owned(), 1);
            }
        }
    }
}

/// A name that collections may have.
fn legal(segment: &str) -> String {
    let name: String = segment
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' })
        .take(64)
        .collect();
    if name.is_empty() { "section".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_small_segments_stay_together() {
        let base = Base::parse("https://h.example/").unwrap();
        let mut urls = vec!["https://h.example/".to_owned(), "https://h.example/about/".to_owned()];
        urls.extend((0..20).map(|n| format!("https://h.example/docs/{n}")));
        urls.extend((0..30).map(|n| format!("https://h.example/all/{n}")));
        urls.extend((0..20).map(|n| format!("https://h.example/%C3%A9/{n}")));
        let mut segments = Segments::default();
        for url in &urls {
            segments.count(&base, url);
        }
        let sections = Sections::found(&base, &segments);
        assert_eq!(sections.names(), ["-C3-A9", "all_", "docs", "main"]);
        assert_eq!(sections.of(&base, "https://h.example/docs/x"), "docs");
        assert_eq!(sections.of(&base, "https://h.example/docs"), "docs");
        assert_eq!(sections.of(&base, "https://h.example/docsets"), "main");
        assert_eq!(sections.prefix("docs"), Some("/docs/"));
    }

    #[test]
    fn ours_the_longest_prefix_wins() {
        let rule =
            |name: &str, prefix: &str| SectionRule { name: name.into(), prefix: prefix.into() };
        let base = Base::parse("https://h.example/").unwrap();
        let sections = Sections::given(&base, &[rule("docs", "/docs/"), rule("api", "/docs/api/")]);
        assert_eq!(sections.of(&base, "https://h.example/docs/api/a"), "api");
        assert_eq!(sections.of(&base, "https://h.example/docs/a"), "docs");
        assert_eq!(sections.of(&base, "https://h.example/"), "main");
    }
}
