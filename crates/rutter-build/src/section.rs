//! Chooses the sections of a site, which are groups of pages that share collections.
//!
//! Input: path prefixes of the site owner, else the first path segments with enough pages. Output:
//! the [`Sections`] that the state stores.

use std::collections::BTreeMap;

use rutter_site::{ALL, MAIN, Sections};

use crate::address::prefix;
use crate::plan::{BaseUrl, SectionRule};

/// Minimum number of pages with the same first path segment for which the segment becomes a
/// section.
const FEWEST: usize = 20;
/// Maximum number of sections of a site.
const MOST: usize = 32;

/// Returns the sections that the site owner configured.
pub(crate) fn from_rules(base: &BaseUrl, rules: &[SectionRule]) -> Sections {
    let rule = |rule: &SectionRule| (rule.name.clone(), prefix(base, &rule.prefix));
    Sections::new(rules.iter().map(rule).collect())
}

/// Returns sections for the first path segments with enough pages. If there are too many, the
/// largest sections are chosen.
pub(crate) fn from_segments(base: &BaseUrl, segments: &SegmentCounts) -> Sections {
    let counts = segments.counts.iter().map(|(segment, n_pages)| (segment.as_str(), *n_pages));
    let mut large: Vec<(&str, usize)> = counts.filter(|(_, n_pages)| FEWEST <= *n_pages).collect();
    large.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(other.0)));
    large.truncate(MOST - 1);
    let mut rules: Vec<(String, String)> = Vec::new();
    for (segment, _) in large {
        let mut name = section_name(segment);
        // Two segments may result in the same name, and the names `main` and `all` are reserved.
        while matches!(name.as_str(), MAIN | ALL) || rules.iter().any(|rule| rule.0 == name) {
            name.push('_');
        }
        rules.push((name, format!("{}{segment}/", base.path())));
    }
    Sections::new(rules)
}

/// Returns the section of a page by its URL.
pub(crate) fn of_url<'s>(sections: &'s Sections, base: &BaseUrl, url: &str) -> &'s str {
    sections.of_path(url.get(base.origin().len()..).unwrap_or_default())
}

/// Numbers of pages by first path segment.
#[derive(Debug, Default)]
pub(crate) struct SegmentCounts {
    counts: BTreeMap<String, usize>,
}

impl SegmentCounts {
    pub(crate) fn count(&mut self, base: &BaseUrl, url: &str) {
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

/// Returns a valid section name for a path segment.
fn section_name(segment: &str) -> String {
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
    fn pages_of_small_segments_belong_to_main() {
        let base = BaseUrl::parse("https://h.example/").unwrap();
        let mut urls = vec!["https://h.example/".to_owned(), "https://h.example/about/".to_owned()];
        urls.extend((0..20).map(|n| format!("https://h.example/docs/{n}")));
        urls.extend((0..30).map(|n| format!("https://h.example/all/{n}")));
        urls.extend((0..20).map(|n| format!("https://h.example/%C3%A9/{n}")));
        let mut segments = SegmentCounts::default();
        for url in &urls {
            segments.count(&base, url);
        }
        let sections = from_segments(&base, &segments);
        assert_eq!(sections.names(), ["-C3-A9", "all_", "docs", "main"]);
        assert_eq!(of_url(&sections, &base, "https://h.example/docs/x"), "docs");
        assert_eq!(of_url(&sections, &base, "https://h.example/docs"), "docs");
        assert_eq!(of_url(&sections, &base, "https://h.example/docsets"), "main");
        assert_eq!(sections.prefix("docs"), Some("/docs/"));
    }

    #[test]
    fn longest_prefix_wins() {
        let rule =
            |name: &str, prefix: &str| SectionRule { name: name.into(), prefix: prefix.into() };
        let base = BaseUrl::parse("https://h.example/").unwrap();
        let sections = from_rules(&base, &[rule("docs", "/docs/"), rule("api", "/docs/api/")]);
        assert_eq!(of_url(&sections, &base, "https://h.example/docs/api/a"), "api");
        assert_eq!(of_url(&sections, &base, "https://h.example/docs/a"), "docs");
        assert_eq!(of_url(&sections, &base, "https://h.example/"), "main");
    }
}
