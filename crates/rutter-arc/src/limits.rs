//! Size limits for reading ARC documents, and the error type.

use std::io;

use rutter_finding::{Classify, ErrorClass, Refusal};

/// Upper bounds for reading an ARC document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of the document in bytes, after decompression.
    pub bytes: u64,
    /// Maximum number of entries.
    pub pages: u64,
    /// Maximum length of one entry in bytes.
    pub entry: usize,
    /// Maximum length in bytes of the whole document without its entries.
    pub head: usize,
    /// Maximum levels of nesting inside one member of an entry or of the document; at most
    /// [`Limits::MAX_DEPTH`].
    pub depth: usize,
}

impl Limits {
    /// Largest allowed value of `depth`.
    pub const MAX_DEPTH: usize = 100;

    /// The default limits, 2 GB and two million pages (D89).
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

impl Classify for ArcError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Io(_) => ErrorClass::Internal,
            Self::Refused(refusal) => refusal.class(),
        }
    }
}
