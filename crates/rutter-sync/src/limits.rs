//! Limits of a crawl. Every URL that a limit excludes is counted and listed with the code
//! of the limit (see [`LeftOutReason`](crate::LeftOutReason)).

use std::time::Duration;

/// Limits of a crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawlLimits {
    /// Maximum number of links from the home page (`depth-limit`).
    pub depth: u32,
    /// Maximum length of a URL in bytes (`url-length`).
    pub url_length: usize,
    /// Maximum number of path segments (`path-depth`).
    pub path_segments: usize,
    /// Maximum number of times that a segment occurs in a path (`path-repeats`).
    pub path_repeats: usize,
    /// Maximum number of different queries per path (`queries-limit`).
    pub queries_per_path: u32,
    /// Maximum number of links that are followed from one page (`link-limit`).
    pub links_per_page: usize,
    /// Maximum number of URLs in one crawl (`queue-limit`).
    pub queue: u64,
    /// Maximum number of links that are stored for the next crawl (`remembered-limit`).
    pub remembered_links: usize,
    /// Maximum number of URLs of all sitemaps together (`sitemap-limit`).
    pub sitemap_urls: usize,
    /// Whether variants of a URL are merged into one page (`alias`).
    pub merges_variants: bool,
    /// Maximum duration of a crawl (`time-limit`); `None` for no limit.
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
