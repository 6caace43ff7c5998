//! Restricted files: by name, or by a prefix of the name.
//!
//! Restrictions ignore the case of names, because a file system may ignore it.

use super::hash;

/// Extensions of compressed files, and of pages.
const CODINGS: [&str; 4] = [".gz", ".br", ".zst", ".zz"];
const PAGES: [&str; 3] = [".html", ".htm", ".xhtml"];

/// The restricted files of a site.
#[derive(Debug, Default)]
pub(super) struct Restrictions {
    /// Hashes of the lower-case names of restricted files, sorted.
    names: Vec<[u8; 16]>,
    /// Lower-case name prefixes below which everything is restricted.
    prefixes: Vec<String>,
    /// Number of restricted paths: a page counts once, even if it is restricted under several
    /// names.
    n_paths: usize,
}

/// Why a file is restricted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestrictedBy {
    /// Its name, or the name of the page of which it is a form.
    Name,
    /// A prefix of its name; the build may have marked the file as public.
    Prefix,
}

impl Restrictions {
    /// Returns whether any file is restricted.
    pub(super) fn any(&self) -> bool {
        !self.names.is_empty() || !self.prefixes.is_empty()
    }

    pub(super) fn n_paths(&self) -> usize {
        self.n_paths
    }

    /// Restricts a page under each of its possible names. Call [`Self::sort`] after the last page.
    pub(super) fn close(&mut self, names: &[&str]) {
        self.names.extend(names.iter().map(|name| hash(&name.to_lowercase())));
        self.n_paths += 1;
    }

    /// Restricts everything below the prefixes.
    pub(super) fn close_below(&mut self, prefixes: &[String]) {
        self.n_paths = self.n_paths + prefixes.len() - self.prefixes.len();
        self.prefixes = prefixes.iter().map(|prefix| prefix.to_lowercase()).collect();
    }

    /// Sorts the names for lookup.
    pub(super) fn sort(&mut self) {
        self.names.sort_unstable();
        self.names.dedup();
    }

    /// Returns why a file is restricted: by its name, by a prefix, or as the Markdown or compressed
    /// file of a restricted page.
    pub(super) fn find(&self, name: &str) -> Option<RestrictedBy> {
        if !self.any() {
            return None;
        }
        let lower = name.to_lowercase();
        if self.has_prefix_of(&lower) {
            return Some(RestrictedBy::Prefix);
        }
        let is_listed = |name: &str| self.names.binary_search(&hash(name)).is_ok();
        let plain = CODINGS.iter().find_map(|ending| lower.strip_suffix(ending)).unwrap_or(&lower);
        let pages = plain.strip_suffix(".md").map(|stem| PAGES.map(|end| format!("{stem}{end}")));
        let is_restricted = is_listed(&lower)
            || is_listed(plain)
            || pages.is_some_and(|pages| pages.iter().any(|page| is_listed(page)));
        is_restricted.then_some(RestrictedBy::Name)
    }

    /// Returns whether a name is below a restricted prefix.
    pub(super) fn is_below_prefix(&self, name: &str) -> bool {
        !self.prefixes.is_empty() && self.has_prefix_of(&name.to_lowercase())
    }

    fn has_prefix_of(&self, lower: &str) -> bool {
        self.prefixes.iter().any(|prefix| lower.starts_with(prefix.as_str()))
    }
}
