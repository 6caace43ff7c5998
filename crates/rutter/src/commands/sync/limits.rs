//! Arguments of `rutter sync` that limit a crawl.
//!
//! The defaults are the values of [`CrawlLimits`]. URLs beyond a limit are counted and listed with
//! the code of the limit.

use std::sync::LazyLock;
use std::time::Duration;

use rutter_sync::CrawlLimits;

static USUAL: LazyLock<CrawlLimits> = LazyLock::new(CrawlLimits::default);

/// Limits of a crawl.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Crawl limits")]
pub(super) struct CrawlLimitArgs {
    /// Maximum distance of followed links from the home page
    #[arg(long, value_name = "N", default_value_t = USUAL.depth)]
    max_depth: u32,
    /// Maximum number of links to follow from one page
    #[arg(long, value_name = "N", default_value_t = USUAL.links_per_page)]
    max_links: usize,
    /// Maximum length of a linked URL, in bytes
    #[arg(long, value_name = "N", default_value_t = USUAL.url_length)]
    max_url_length: usize,
    /// Maximum number of path segments of a linked URL
    #[arg(long, value_name = "N", default_value_t = USUAL.path_segments)]
    max_path_segments: usize,
    /// Maximum number of equal segments in the path of a URL
    #[arg(long, value_name = "N", default_value_t = USUAL.path_repeats)]
    max_path_repeats: usize,
    /// Maximum number of different queries for one path
    #[arg(long, value_name = "N", default_value_t = USUAL.queries_per_path)]
    max_queries: u32,
    /// Maximum number of URLs in one crawl
    #[arg(long, value_name = "N", default_value_t = USUAL.queue)]
    max_queue: u64,
    /// Maximum number of links to remember for the next sync
    #[arg(long, value_name = "N", default_value_t = USUAL.remembered_links)]
    max_remembered_links: usize,
    /// Maximum number of URLs to read from all sitemaps together
    #[arg(long, value_name = "N", default_value_t = USUAL.sitemap_urls)]
    max_sitemap_urls: usize,
    /// Store variants of a URL as separate pages
    ///
    /// By default, URLs that differ only in tracking parameters, letter case or trailing slashes,
    /// or that name the same canonical URL, are stored as one page.
    #[arg(long)]
    keep_url_variants: bool,
    /// Stop fetching single pages after this many seconds
    ///
    /// By default, there is no time limit. The next sync fetches the remaining pages.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    max_time: Option<u64>,
}

impl CrawlLimitArgs {
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
