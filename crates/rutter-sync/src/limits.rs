//! Bounds of a crawl. Every URL that one of them cuts is counted and listed
//! with the code of the bound (see [`LeftOut`](crate::LeftOut)).

use std::time::Duration;

/// How far a crawl goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawlLimits {
    /// Links from the home page (`depth-limit`).
    pub depth: u32,
    /// Bytes of a URL (`url-length`).
    pub url_length: usize,
    /// Segments of a path (`path-depth`).
    pub path_segments: usize,
    /// How often one segment may stand in a path (`path-repeats`).
    pub path_repeats: usize,
    /// Different queries of one path (`queries-limit`).
    pub queries_per_path: u32,
    /// Links that are followed from one page (`link-limit`).
    pub links_per_page: usize,
    /// URLs that one crawl can hold (`queue-limit`).
    pub queue: u64,
    /// Links that are remembered for the next crawl (`remembered-limit`).
    pub remembered_links: usize,
    /// URLs that are read from all sitemaps together (`sitemap-limit`).
    pub sitemap_urls: usize,
    /// Whether variants of a URL are one page (`alias`).
    pub merges_variants: bool,
    /// How long one crawl may take (`time-limit`); no bound without it.
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
