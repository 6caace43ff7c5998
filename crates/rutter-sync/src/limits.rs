//! Limits of a crawl. Every URL that a limit rejects is counted, and listed with the code
//! of the limit (see [`LeftOutReason`](crate::LeftOutReason)).

use std::time::Duration;

/// Limits of a crawl, each with the [`LeftOutReason`](crate::LeftOutReason) code for the
/// URLs that it rejects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawlLimits {
    /// Maximum number of links from the home page to a page (`depth-limit`).
    pub depth: u32,
    /// Maximum length of a URL in bytes (`url-length`).
    pub url_length: usize,
    /// Maximum number of path segments (`path-depth`).
    pub path_segments: usize,
    /// Maximum number of times that one segment occurs in a path (`path-repeats`).
    pub path_repeats: usize,
    /// Maximum number of different queries per path (`queries-limit`).
    pub queries_per_path: u32,
    /// Maximum number of links that are followed from one page (`link-limit`).
    pub links_per_page: usize,
    /// Maximum number of URLs in one crawl (`queue-limit`).
    pub queue: u64,
    /// Maximum number of links that are stored for the next crawl (`remembered-limit`).
    pub remembered_links: usize,
    /// Maximum number of URLs that are read from all sitemaps together (`sitemap-limit`).
    pub sitemap_urls: usize,
    /// Whether URLs that differ only in form, such as by tracking parameters, are merged
    /// into one page (`alias`).
    pub merges_variants: bool,
    /// Time after which a crawl requests no more pages (`time-limit`); `None` for no limit.
    pub time: Option<Duration>,
}

impl Default for CrawlLimits {
    fn default() -> Self {
        Self {
            depth: 100,
            url_length: 2048,
            path_segments: 20,
            path_repeats: 2,
            queries_per_path: 100,
            links_per_page: 10_000,
            queue: 2_000_000,
            remembered_links: 100_000,
            sitemap_urls: 2_000_000,
            merges_variants: true,
            time: None,
        }
    }
}

/// Name of the section of crawled pages. The name contains `@`, which section names of
/// collections cannot contain.
pub(crate) const WEB_SECTION: &str = "@web";
/// Number of replica rows that are read or written together.
pub(crate) const BATCH_ROWS: usize = 10_000;
