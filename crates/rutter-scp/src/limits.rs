//! Size limits for reading and writing collections.

use rutter_page::PageLimits;

/// Upper bounds for reading and writing one collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of decoded bytes per coded byte, checked once the text exceeds
    /// [`Limits::RATIO_FLOOR`] bytes.
    pub ratio: u64,
    /// Maximum size in bytes of the file as stored or transferred.
    pub coded: u64,
    /// Maximum size in bytes of the file after decompression.
    pub decoded: u64,
    /// Maximum length in bytes of one page line, without its line end.
    pub page: usize,
    /// Maximum length in bytes of line 1.
    pub metadata: usize,
    /// Maximum numbers of blocks and other parts of one page.
    pub parts: PageLimits,
    /// Maximum zstd window size, as an exponent of two.
    pub window_log: u32,
    /// Maximum time in milliseconds for parsing one page. Half of this time is added for every
    /// megabyte of the page.
    pub page_millis: u64,
}

impl Limits {
    /// Size in decoded bytes below which a file is not checked against the ratio (D34).
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
