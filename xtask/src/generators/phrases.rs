//! Required phrases and coverage: what of the shared pages is in the Markdown twins.
//!
//! `xtask/generators/content/phrases.tsv` names phrases by page. A phrase is kept where its words
//! stand in this order in the twin of its page. Coverage is the share of a page's words, as a
//! multiset, that are in its twin.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::dialect::{visible_words, without_targets, words};
use super::files_below;

/// The lowest share of words that a page must keep.
const LEAST_COVERAGE: f64 = 0.9;

/// The Markdown twins of a built site, by the page's path without its ending.
pub(super) type Twins = BTreeMap<String, String>;

/// What is kept of the pages of one generator.
pub(super) struct Kept {
    pub(super) n_phrases: usize,
    /// Phrases that are in no twin of their page.
    pub(super) lost: Vec<(String, String)>,
    /// Pages below the least coverage, with their coverage.
    pub(super) thin: Vec<(String, f64)>,
}

/// Reads the twins below the output folder of a build.
pub(super) fn read_twins(folder: &Path) -> anyhow::Result<Twins> {
    let mut twins = Twins::new();
    for name in files_below(folder)? {
        let Some(stem) = name.strip_suffix(".md") else { continue };
        let text = fs::read_to_string(folder.join(&name))?;
        if !text.contains("rutter:twin") {
            continue;
        }
        let stem = stem.strip_suffix(".html").unwrap_or(stem);
        let page = stem.strip_suffix("/index").unwrap_or(stem);
        twins.insert(page.to_owned(), text);
    }
    Ok(twins)
}

/// Compares twins with the shared pages in `content`.
///
/// `extra` is the one page that only some generators have; phrases of other such pages are left out.
pub(super) fn compare(twins: &Twins, content: &Path, extra: Option<&str>) -> anyhow::Result<Kept> {
    let rollback = fs::read_to_string(content.join("rollback.part"))?;
    let mut kept = Kept { n_phrases: 0, lost: Vec::new(), thin: Vec::new() };
    let twin_words = |page: &str| {
        let text = twins.get(page).map(String::as_str).unwrap_or_default();
        words(&without_targets(text))
    };
    let list = fs::read_to_string(content.join("phrases.tsv"))?;
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let Some((page, phrase)) = line.split_once('\t') else { continue };
        let is_shared = page == "install" || content.join(format!("{page}.md")).is_file();
        if !is_shared && extra != Some(page) {
            continue;
        }
        kept.n_phrases += 1;
        let wanted = words(phrase);
        if !twin_words(page).windows(wanted.len()).any(|run| run == wanted) {
            kept.lost.push((page.to_owned(), phrase.to_owned()));
        }
    }
    for page in shared_pages(content)? {
        let text = fs::read_to_string(content.join(format!("{page}.md")))?;
        let coverage = share(&visible_words(&text, &rollback), &twin_words(&page));
        if coverage < LEAST_COVERAGE {
            kept.thin.push((page, coverage));
        }
    }
    Ok(kept)
}

/// Names of the pages that every generator has, without those written in its dialect.
pub(super) fn shared_pages(content: &Path) -> anyhow::Result<Vec<String>> {
    let names = files_below(content)?;
    let pages = names.iter().filter_map(|name| name.strip_suffix(".md"));
    let is_shared = |page: &&str| !page.starts_with("de/") && !page.starts_with("old-");
    Ok(pages.filter(is_shared).map(str::to_owned).collect())
}

/// The share of words that are found, each as often as it is expected.
#[expect(clippy::cast_precision_loss, reason = "pages have few words")]
fn share(expected: &[String], found: &[String]) -> f64 {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in found {
        *counts.entry(word).or_default() += 1;
    }
    let mut n_found = 0_usize;
    for word in expected {
        if let Some(left) = counts.get_mut(word.as_str()).filter(|left| 0 < **left) {
            *left -= 1;
            n_found += 1;
        }
    }
    n_found as f64 / expected.len().max(1) as f64
}
