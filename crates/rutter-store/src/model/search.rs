//! Results of the full-text search, of indexing, and of a check of the replica.

use super::page::DamagedPage;
use super::page::PageRow;

/// One page of a search result.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// Record of the page.
    pub page: PageRow,
    /// Excerpt of the page's text; the matches are enclosed in `[` and `]`.
    pub snippet: String,
    /// Rank of the page; a lower number is a better match.
    pub rank: f64,
    /// Words of the query that the page does not contain.
    pub missing: Vec<String>,
}

rutter_page::named_values! {
    /// Which words of a query the found pages contain.
    MatchKind {
        /// All words of the query.
        All = "all",
        /// All words of the query, some of them corrected.
        Corrected = "corrected",
        /// Some of the words of the query; no page contains all of them.
        Some = "some",
    }
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResults {
    /// The found pages, best match first.
    pub hits: Vec<SearchHit>,
    /// Which words of the query the found pages contain.
    pub matched: MatchKind,
    /// Words that no page contains, each with the word that was searched instead.
    pub corrections: Vec<(String, String)>,
    /// Pages that match and cannot be read.
    pub damaged: Vec<DamagedPage>,
}

impl Default for SearchResults {
    fn default() -> Self {
        let (hits, damaged, corrections) = (Vec::new(), Vec::new(), Vec::new());
        Self { hits, matched: MatchKind::All, corrections, damaged }
    }
}

/// The progress of full-text indexing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexProgress {
    /// Number of pages that the call indexed.
    pub pages: u64,
    /// Whether the index contains all events of the history.
    pub is_current: bool,
    /// Damaged pages, which are not in the index.
    pub damaged: Vec<DamagedPage>,
}

/// How thoroughly a replica is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// The check reads all records.
    Records,
    /// The check also decompresses the content of every page and verifies its digest.
    Content,
}
