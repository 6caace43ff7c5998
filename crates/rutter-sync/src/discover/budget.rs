//! Bounds the memory of a discovery run: limits the findings, adverts and URLs that it
//! keeps.
//!
//! Discovery reads every file to its end, and the publisher decides how long a file is. The
//! memory for the parsed content stays within these limits.

use std::collections::{BTreeMap, HashSet};

use rutter_fetch::Url;
use rutter_finding::{Finding, FindingSink, Rule};

use crate::discover::parsed_file::{ParsedAdvert, ParsedFile, ParsedSitemap};

/// Maximum number of child sitemaps or of links that are kept per file.
const MAX_URLS_PER_FILE: usize = 10_000;
/// Maximum number of findings of one rule that are kept per file, and per run.
const MAX_FINDINGS_PER_FILE: usize = 20;
const MAX_FINDINGS_PER_RUN: usize = 1_000;

/// Number of adverts and bytes that a run may still keep from the content of sitemaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AdvertBudget {
    /// Number of `scp:` elements that may still be kept.
    adverts: usize,
    /// Number of bytes of `scp:` elements and URLs that may still be kept.
    bytes: usize,
}

impl AdvertBudget {
    /// The budget at the start of a run. All adverts of a thousand sections with ten
    /// collections each fit into this budget, and so do all child sitemaps of a large
    /// index.
    pub(crate) const DEFAULT: Self = Self { adverts: 10_000, bytes: 16 << 20 };

    fn take_bytes(&mut self, n_bytes: usize) -> bool {
        let has_budget = n_bytes <= self.bytes;
        if has_budget {
            self.bytes -= n_bytes;
        }
        has_budget
    }

    /// Charges an advert to the budget. Returns false, and charges nothing, if the advert
    /// does not fit.
    pub(crate) fn take_advert(&mut self, (name, attributes, text): &ParsedAdvert) -> bool {
        let fields = attributes.iter().map(|(key, value)| key.len() + value.len());
        let n_bytes = name.len() + text.len() + fields.sum::<usize>();
        if self.adverts == 0 || !self.take_bytes(n_bytes) {
            return false;
        }
        self.adverts -= 1;
        true
    }

    /// Charges the content of a cached file to the budget, and drops adverts and URLs that
    /// do not fit. Returns whether the content is still complete.
    pub(crate) fn trim(&mut self, parsed: &mut ParsedFile) -> bool {
        let ParsedFile::Sitemap(parsed) = parsed else { return true };
        let ParsedSitemap { children, adverts, spxi, .. } = parsed;
        let n_before = children.len() + adverts.len() + spxi.len();
        adverts.retain(|advert| self.take_advert(advert));
        children.retain(|url| self.take_bytes(url.len()));
        spxi.retain(|url| self.take_bytes(url.len()));
        let is_whole = n_before == children.len() + adverts.len() + spxi.len();
        parsed.is_truncated |= !is_whole;
        is_whole
    }
}

/// List of absolute URLs without duplicates, limited by the budget.
#[derive(Debug, Default)]
pub(crate) struct UrlList {
    list: Vec<String>,
    seen: HashSet<String>,
}

impl UrlList {
    /// Resolves `href` against `base` and adds the URL. Returns false if the list or the
    /// budget has no space for a new URL.
    pub(crate) fn add(&mut self, base: &Url, href: &str, budget: &mut AdvertBudget) -> bool {
        let Ok(url) = base.join(href.trim()) else { return true };
        if !matches!(url.scheme(), "http" | "https") || self.seen.contains(url.as_str()) {
            return true;
        }
        if MAX_URLS_PER_FILE <= self.list.len() || !budget.take_bytes(url.as_str().len()) {
            return false;
        }
        self.seen.insert(url.as_str().to_owned());
        self.list.push(url.into());
        true
    }

    pub(crate) fn finish(self) -> Vec<String> {
        self.list
    }
}

/// A sink that keeps a limited number of findings of each rule, per file and per run.
#[derive(Debug, Default)]
pub(crate) struct CappedFindings {
    in_file: BTreeMap<&'static str, usize>,
    in_run: BTreeMap<&'static str, usize>,
    kept: Vec<Finding>,
}

impl CappedFindings {
    /// Returns the findings of the current file and starts the next one.
    pub(crate) fn next_file(&mut self) -> Vec<Finding> {
        self.in_file.clear();
        std::mem::take(&mut self.kept)
    }

    /// Counts a finding of `rule` that the caller keeps. Returns false if the run has
    /// reached the limit for this rule.
    pub(crate) fn admit(&mut self, rule: &Rule) -> bool {
        let in_run = self.in_run.entry(rule.code).or_default();
        *in_run += 1;
        *in_run <= MAX_FINDINGS_PER_RUN
    }
}

impl FindingSink for CappedFindings {
    fn report(&mut self, finding: Finding) {
        let in_file = self.in_file.entry(finding.rule.code).or_default();
        *in_file += 1;
        if *in_file <= MAX_FINDINGS_PER_FILE && self.admit(finding.rule) {
            self.kept.push(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advert(n_bytes: usize) -> ParsedAdvert {
        let fields = vec![("a".repeat(n_bytes / 4), "b".repeat(n_bytes / 4))];
        ("c".repeat(n_bytes / 4), fields, "d".repeat(n_bytes / 4))
    }

    #[test]
    fn bounds_adverts_by_number_and_bytes() {
        let mut budget = AdvertBudget::DEFAULT;
        assert_eq!((0..20_000).filter(|_| budget.take_advert(&advert(40))).count(), 10_000);
        let mut budget = AdvertBudget::DEFAULT;
        assert_eq!((0..40).filter(|_| budget.take_advert(&advert(1 << 20))).count(), 16);
        // The content of a cached file is charged too; what does not fit is dropped, and
        // the file is marked as truncated.
        let adverts = vec![advert(1 << 20); 20];
        let mut parsed = ParsedFile::Sitemap(ParsedSitemap { adverts, ..ParsedSitemap::default() });
        let mut budget = AdvertBudget::DEFAULT;
        assert!(!budget.trim(&mut parsed));
        let ParsedFile::Sitemap(parsed) = parsed else { panic!() };
        assert!(parsed.adverts.len() == 16 && parsed.is_truncated);
    }

    #[test]
    fn keeps_each_url_once_up_to_the_limit() {
        let base = Url::parse("https://harbour.example/").unwrap();
        let (mut kept, mut budget) = (UrlList::default(), AdvertBudget::DEFAULT);
        // A duplicate check in quadratic time would need 10^10 comparisons.
        for round in 0..20 {
            for n in 0..20_000 {
                let is_kept = kept.add(&base, &format!("/{n}"), &mut budget);
                assert_eq!(is_kept, n < 10_000, "{round}");
            }
        }
        assert_eq!(kept.finish().len(), 10_000);
    }
}
