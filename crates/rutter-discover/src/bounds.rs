//! How far a walk around a site goes.

/// How far a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// `Sitemap` lines that are followed.
    pub lines: usize,
    /// Sitemaps that are read, children of indexes included.
    pub sitemaps: usize,
    /// Floors of indexes (D17).
    pub depth: usize,
    /// Bytes of all files together, on the wire.
    pub bytes: u64,
    /// Whether sitemaps are read on after the first with `scp:` elements.
    pub reads_all: bool,
}

impl Bounds {
    /// Enough to see what there is.
    pub const LOOK: Self =
        Self { lines: 20, sitemaps: 10, depth: 3, bytes: 1 << 30, reads_all: false };
    /// Enough to read every sitemap of a large site (D17).
    pub const ALL: Self =
        Self { lines: 1000, sitemaps: 10_000, depth: 3, bytes: 10 << 30, reads_all: true };
}
