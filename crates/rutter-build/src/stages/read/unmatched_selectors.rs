//! Finds selectors of the site owner that match no element of any page.
//!
//! Input: for each page that was read or found in the page cache, the selectors that match an
//! element of it. Output: the detail of a finding for each selector of `keep` and `drop` that
//! matched nowhere, and for each path pattern that no page has.

use rutter_extract::{PathExtractSettings, SiteExtractSettings};

use crate::plan::{BuildPlan, SourceKind};

/// The selectors and path patterns of the plan, and which of them matched.
#[derive(Debug)]
pub(crate) struct UnmatchedSelectors<'p> {
    plan: &'p BuildPlan,
    /// For each expected selector, whether it matched an element of a page.
    is_matched: Vec<bool>,
    /// For each path pattern, whether it matched a page.
    is_used: Vec<bool>,
}

impl<'p> UnmatchedSelectors<'p> {
    pub(crate) fn new(plan: &'p BuildPlan) -> Self {
        let SiteExtractSettings { paths, .. } = &plan.extract;
        let is_matched = vec![false; plan.extract.expected().count()];
        Self { plan, is_matched, is_used: vec![false; paths.len()] }
    }

    /// Records a page and the selectors that match an element of it.
    pub(crate) fn note(&mut self, url: &str, matched: &[String]) {
        let control = &self.plan.extract;
        if self.is_matched.is_empty() && self.is_used.is_empty() {
            return;
        }
        let path = path_of(self.plan, url);
        for (entry, is_used) in control.paths.iter().zip(&mut self.is_used) {
            *is_used |= entry.matches(path);
        }
        for ((entry, selector), is_matched) in control.expected().zip(&mut self.is_matched) {
            let is_listed = || matched.iter().any(|it| it == selector.as_str());
            let is_meant = || entry.is_none_or(|entry: &PathExtractSettings| entry.matches(path));
            *is_matched = *is_matched || (is_listed() && is_meant());
        }
    }

    /// Returns the detail of a finding for each selector and each path pattern without a match.
    pub(crate) fn details(&self) -> Vec<String> {
        // Selectors do not apply to JSON Lines, which contain blocks and no HTML.
        if self.plan.source == SourceKind::Lines {
            return Vec::new();
        }
        let control = &self.plan.extract;
        let used = control.paths.iter().zip(&self.is_used);
        let unused: Vec<&PathExtractSettings> =
            used.filter(|(_, is_used)| !**is_used).map(|(entry, _)| entry).collect();
        let mut details: Vec<String> = unused
            .iter()
            .map(|entry| format!("no page has a path that matches `{}`", entry.pattern()))
            .collect();
        for ((entry, selector), is_matched) in control.expected().zip(&self.is_matched) {
            let is_unused = entry.is_some_and(|entry| unused.contains(&entry));
            if *is_matched || is_unused {
                continue;
            }
            let place = entry.map_or_else(
                || "any page".to_owned(),
                |entry| format!("any page of `{}`", entry.pattern()),
            );
            details.push(format!("`{selector}` on {place}"));
        }
        details
    }
}

/// Returns the path of a page relative to the base URL.
pub(crate) fn path_of<'u>(plan: &BuildPlan, url: &'u str) -> &'u str {
    plan.base.strip(url).unwrap_or(url)
}
