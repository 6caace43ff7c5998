//! How much of a foreign file we are willing to take, and why reading stopped.

use std::io;

use rutter_finding::Refusal;

/// Ceilings for reading; nothing exceeds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the document after decompression.
    pub bytes: u64,
    /// Entries.
    pub pages: u64,
    /// Bytes of one entry.
    pub entry: usize,
    /// Bytes of everything beside the entries.
    pub head: usize,
    /// Levels of nesting inside one member of an entry or of the document, at
    /// most [`Limits::DEEPEST`].
    pub depth: usize,
}

impl Limits {
    /// Deepest nesting that can be allowed.
    pub const DEEPEST: usize = 100;

    /// What D89 allows: 2 GB and two million pages.
    pub const USUAL: Self = Self {
        bytes: 2_000_000_000,
        pages: 2_000_000,
        entry: 4 << 20,
        head: 1 << 20,
        depth: Self::DEEPEST,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::USUAL
    }
}

/// Why a document could not be read to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArcError {
    /// The bytes could not be had; says nothing about the document.
    #[error("cannot read the document")]
    Io(#[from] io::Error),
    /// The document may not be used.
    #[error(transparent)]
    Refused(#[from] Refusal),
}
