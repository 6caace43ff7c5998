//! Size limits for reading and writing collections.

use rutter_page::PageLimits;

/// Upper bounds for reading and writing one collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Decoded bytes per coded byte, checked once the text exceeds [`Limits::RATIO_FLOOR`] bytes.
    pub ratio: u64,
    /// Bytes of the file as stored or transferred.
    pub coded: u64,
    /// Bytes after decompression.
    pub decoded: u64,
    /// Bytes of one page line, without its line end.
    pub page: usize,
    /// Bytes of line 1.
    pub metadata: usize,
    /// Blocks and other parts of one page.
    pub parts: PageLimits,
    /// Largest zstd window, as a power of two.
    pub window_log: u32,
    /// Milliseconds that parsing one page may take; half of this is added for every megabyte of
    /// the page.
    pub page_millis: u64,
}

impl Limits {
    /// Files with fewer decoded bytes are not checked against the ratio (D34).
    pub const RATIO_FLOOR: u64 = 1 << 20;

    /// The limits of the SCP 0.1 specification, in decimal units (D35).
    pub const SPEC: Self = Self {
        ratio: 100,
        coded: 50_000_000_000,
        decoded: 500_000_000_000,
        page: 100_000_000,
        metadata: 2 << 20,
        parts: PageLimits::SPEC,
        window_log: 23,
        page_millis: 2000,
    };

    /// The default limits: 2 GB coded and 20 GB decoded.
    pub const DEFAULT: Self = Self { coded: 2_000_000_000, decoded: 20_000_000_000, ..Self::SPEC };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
