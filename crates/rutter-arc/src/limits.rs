//! Size limits for reading ARC documents, and the error type.

use std::io;

use rutter_finding::Refusal;

/// Upper bounds for reading a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the document after decompression.
    pub bytes: u64,
    /// Number of entries.
    pub pages: u64,
    /// Bytes of one entry.
    pub entry: usize,
    /// Bytes of everything except the entries.
    pub head: usize,
    /// Levels of nesting inside one member of an entry or of the document; at most
    /// [`Limits::MAX_DEPTH`].
    pub depth: usize,
}

impl Limits {
    /// Maximum value of `depth`.
    pub const MAX_DEPTH: usize = 100;

    /// The limits of D89: 2 GB and two million pages.
    pub const DEFAULT: Self = Self {
        bytes: 2_000_000_000,
        pages: 2_000_000,
        entry: 4 << 20,
        head: 1 << 20,
        depth: Self::MAX_DEPTH,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Reasons why a document could not be read to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArcError {
    /// Reading the input failed. This says nothing about the document itself.
    #[error("cannot read the document")]
    Io(#[from] io::Error),
    /// The document breaks a rule and must not be used.
    #[error(transparent)]
    Refused(#[from] Refusal),
}
