//! Extraction settings of the site owner, for all pages and by path.
//!
//! Input: selectors and path patterns. Output: the [`OwnerSelectors`] of one page, and bytes that
//! identify it, for callers that cache extracted pages.

use crate::glob::Glob;
use crate::options::{ExtractOptions, LinkBlocks, OwnerSelectors};
use crate::selector::Selector;

/// Extraction settings of a site.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SiteExtractSettings {
    /// Settings for all pages.
    pub all: OwnerSelectors,
    /// Settings for pages whose path matches a pattern, in the order of the configuration.
    pub paths: Vec<PathExtractSettings>,
    /// Selects the links that become blocks.
    pub links: LinkBlocks,
}

/// Settings for the pages whose path matches a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathExtractSettings {
    pattern: String,
    glob: Glob,
    control: OwnerSelectors,
}

impl PathExtractSettings {
    /// Creates settings for pages whose path below the site matches the pattern.
    pub fn new(pattern: &str, control: OwnerSelectors) -> Self {
        Self { pattern: pattern.to_owned(), glob: Glob::new(pattern), control }
    }

    /// Returns the pattern in its original form.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns whether a page has these settings, by its path below the site.
    pub fn matches(&self, path: &str) -> bool {
        let path = path.split(['?', '#']).next().unwrap_or(path);
        self.glob.matches(path.trim_start_matches('/'))
    }

    /// Returns the settings for matching pages, which apply in addition to those for all pages.
    pub fn control(&self) -> &OwnerSelectors {
        &self.control
    }
}

impl SiteExtractSettings {
    /// Returns the settings for a page, by its path below the site. If several entries match, the
    /// last one with a `main` selector is used; the `keep` and `drop` selectors of all of them are
    /// added to those for all pages.
    ///
    /// ```
    /// # use rutter_extract::{OwnerSelectors, PathExtractSettings, SiteExtractSettings};
    /// let main = |text: &str| OwnerSelectors { main: vec![text.parse().unwrap()], ..OwnerSelectors::default() };
    /// let site = SiteExtractSettings {
    ///     all: main("main"),
    ///     paths: vec![PathExtractSettings::new("/guides/**", main(".guide"))],
    ///     ..SiteExtractSettings::default()
    /// };
    /// assert_eq!(site.of_path("guides/a.html"), main(".guide"));
    /// assert_eq!(site.of_path("blog/a.html"), main("main"));
    /// ```
    pub fn of_path(&self, path: &str) -> OwnerSelectors {
        let mut control = self.all.clone();
        for entry in self.paths.iter().filter(|entry| entry.matches(path)) {
            let OwnerSelectors { main, keep, drop } = &entry.control;
            if !main.is_empty() {
                control.main.clone_from(main);
            }
            control.keep.extend_from_slice(keep);
            control.drop.extend_from_slice(drop);
        }
        control
    }

    /// Sets the options of a page that depend on the settings, by its path below the site.
    pub fn apply(&self, path: &str, options: &mut ExtractOptions) {
        options.control = self.of_path(path);
        options.links = self.links;
    }

    /// Passes bytes to `take` that change exactly when the settings for the page change. Passes no
    /// bytes if all settings have their default values.
    pub fn name(&self, path: &str, mut take: impl FnMut(&[u8])) {
        if *self == Self::default() {
            return;
        }
        if self.links == LinkBlocks::Lone {
            take(b"links off\0");
        }
        let OwnerSelectors { main, keep, drop } = self.of_path(path);
        for (kind, selectors) in [("main ", main), ("keep ", keep), ("drop ", drop)] {
            for selector in selectors {
                take(kind.as_bytes());
                take(selector.as_str().as_bytes());
                take(&[0]);
            }
        }
    }

    /// Returns the `keep` and `drop` selectors, which should match an element of at least one page,
    /// each with its entry; the entry is `None` for settings of all pages.
    pub fn expected(&self) -> impl Iterator<Item = (Option<&PathExtractSettings>, &Selector)> {
        let all = [(None, &self.all)].into_iter();
        let all = all.chain(self.paths.iter().map(|entry| (Some(entry), &entry.control)));
        all.flat_map(|(entry, control)| {
            control.keep.iter().chain(&control.drop).map(move |selector| (entry, selector))
        })
    }
}
