//! Limits of a discovery run: how many files and bytes it reads.

/// Maximum numbers of files and bytes that a discovery run reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscoveryLimits {
    /// Maximum number of `Sitemap` lines of robots.txt that are followed.
    pub lines: usize,
    /// Maximum number of sitemaps that are read, including the children of indexes.
    pub sitemaps: usize,
    /// Maximum nesting of sitemap indexes (D17).
    pub depth: usize,
    /// Maximum size of all files together, in bytes as transferred.
    pub bytes: u64,
    /// Whether to read the remaining sitemaps of an index after one sitemap with `scp:`
    /// elements.
    pub reads_all: bool,
}

impl DiscoveryLimits {
    /// Limits for an overview of a site.
    pub const BRIEF: Self =
        Self { lines: 20, sitemaps: 10, depth: 3, bytes: 1 << 30, reads_all: false };
    /// Limits that are wide enough to read every sitemap of a large site (D17).
    pub const FULL: Self =
        Self { lines: 1000, sitemaps: 10_000, depth: 3, bytes: 10 << 30, reads_all: true };
}
