//! Arguments of `rutter sync` that bound a crawl.
//!
//! Each has the default of [`CrawlLimits`]; what a bound cuts is counted and
//! listed with its code.

use std::sync::LazyLock;
use std::time::Duration;

use rutter_sync::CrawlLimits;

static USUAL: LazyLock<CrawlLimits> = LazyLock::new(CrawlLimits::default);

/// Bounds of a crawl.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Crawl limits")]
pub(super) struct LimitArgs {
    /// Follow links up to N steps away from the home page
    #[arg(long, value_name = "N", default_value_t = USUAL.depth)]
    max_depth: u32,
    /// Follow at most N links from one page
    #[arg(long, value_name = "N", default_value_t = USUAL.links_per_page)]
    max_links: usize,
    /// Skip URLs longer than N bytes that links lead to
    #[arg(long, value_name = "N", default_value_t = USUAL.url_length)]
    max_url_length: usize,
    /// Skip URLs with more than N path segments that links lead to
    #[arg(long, value_name = "N", default_value_t = USUAL.path_segments)]
    max_path_segments: usize,
    /// Skip URLs whose path has the same segment more than N times
    #[arg(long, value_name = "N", default_value_t = USUAL.path_repeats)]
    max_path_repeats: usize,
    /// Follow at most N different queries of one path
    #[arg(long, value_name = "N", default_value_t = USUAL.queries_per_path)]
    max_queries: u32,
    /// Hold at most N URLs in one crawl
    #[arg(long, value_name = "N", default_value_t = USUAL.queue)]
    max_queue: u64,
    /// Remember at most N links for the next sync
    #[arg(long, value_name = "N", default_value_t = USUAL.remembered_links)]
    max_remembered_links: usize,
    /// Read at most N URLs from all sitemaps together
    #[arg(long, value_name = "N", default_value_t = USUAL.sitemap_urls)]
    max_sitemap_urls: usize,
    /// Store each variant of a URL as a page of its own: tracking parameters,
    /// letter case, trailing slashes, canonical links
    #[arg(long)]
    keep_url_variants: bool,
    /// Stop fetching single pages after N seconds; no bound by default
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    max_time: Option<u64>,
}

impl LimitArgs {
    pub(super) fn limits(&self) -> CrawlLimits {
        CrawlLimits {
            depth: self.max_depth,
            url_length: self.max_url_length,
            path_segments: self.max_path_segments,
            path_repeats: self.max_path_repeats,
            queries_per_path: self.max_queries,
            links_per_page: self.max_links,
            queue: self.max_queue,
            remembered_links: self.max_remembered_links,
            sitemap_urls: self.max_sitemap_urls,
            merges_variants: !self.keep_url_variants,
            time: self.max_time.map(Duration::from_secs),
        }
    }
}
