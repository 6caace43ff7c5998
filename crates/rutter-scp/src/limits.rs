//! How much of a foreign file we are willing to take.

use rutter_page::PageLimits;

/// Ceilings for reading and writing a collection; nothing exceeds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Decoded bytes per coded byte, checked from [`Limits::RATIO_FLOOR`] on.
    pub ratio: u64,
    /// Bytes of the file as it lies on disk or comes over the wire.
    pub coded: u64,
    /// Bytes after decompression.
    pub decoded: u64,
    /// Bytes of one page's line, without line end.
    pub page: usize,
    /// Bytes of line 1.
    pub metadata: usize,
    /// Blocks and parts of one page.
    pub parts: PageLimits,
    /// Largest zstd window, as a power of two.
    pub window_log: u32,
    /// Milliseconds a page may take to read, and half as many more for every
    /// megabyte it has.
    pub page_millis: u64,
}

impl Limits {
    /// Below this many decoded bytes no ratio is a danger (D34).
    pub const RATIO_FLOOR: u64 = 1 << 20;

    /// The ceilings of SCP 0.1, in decimal units (D35).
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

    /// What the programs use unless told otherwise: 2 GB coded, 20 GB decoded.
    pub const DEFAULT: Self = Self { coded: 2_000_000_000, decoded: 20_000_000_000, ..Self::SPEC };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
