//! Links that a crawl by links keeps for the next crawl.

use std::collections::BTreeMap;

/// URLs that a crawl by links must not lose: a 304 response for an unchanged page does not
/// contain the links of the page.
#[derive(Debug, Default)]
pub(super) struct OpenLinks {
    /// Whether the crawl follows links of pages.
    pub(super) follows: bool,
    /// Number of links from the home page to the current URL.
    pub(super) depth: u32,
    /// URLs without a page and their depth, which a crawl by links keeps for later crawls.
    pub(super) open: BTreeMap<String, u32>,
    /// URLs that are being fetched, and their depth.
    pub(super) pending: BTreeMap<String, u32>,
    /// Number and size in bytes of the extracted pages that a crawl by links has not
    /// committed yet.
    pub(super) unsaved: (usize, usize),
}

impl OpenLinks {
    /// Creates the links of a crawl, which keeps none if it does not follow links.
    pub(super) fn new(follows: bool) -> Self {
        Self { follows, ..Self::default() }
    }

    /// Keeps a URL that is not fetched, if the crawl follows links.
    pub(super) fn keep_unasked(&mut self, key: &str, depth: u32) {
        if self.follows {
            self.open.insert(key.to_owned(), depth);
        }
    }

    /// Keeps a URL without a page for later crawls by links. Returns whether this crawl
    /// follows links.
    pub(super) fn keep_without_page(&mut self, key: &str) -> bool {
        if self.follows {
            self.pending.remove(key);
            self.open.insert(key.to_owned(), self.depth);
        }
        self.follows
    }
}
