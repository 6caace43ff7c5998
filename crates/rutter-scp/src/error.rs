//! Why reading or writing stopped.

use std::io;
use std::path::PathBuf;

use rutter_finding::Refusal;

/// Why a collection could not be read to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The bytes could not be had; says nothing about the collection.
    #[error("cannot read the input")]
    Io(#[from] io::Error),
    /// The collection may not be used.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Why a collection was not written. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The disk said no.
    #[error("cannot write {}", .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// A page may not stand in a collection.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The file would look like a decompression bomb to its readers (D34).
    #[error(
        "the collection would compress {0} to 1 and readers refuse more than {1} to 1; \
         use a lower level or write plain .scp"
    )]
    Ratio(u64, u64),
    /// The file would be larger than the limit.
    #[error("the collection would have {0} bytes, at most {1}; split the section")]
    TooLarge(u64, u64),
    /// An id or a section's name that readers would refuse.
    #[error("`{0}` cannot name a collection: letters, digits, hyphen, underscore, at most 255")]
    Name(String),
    /// Line 1 would be too long, or list too many removals (D95).
    #[error("{0} removed pages do not fit a delta; publish the snapshot instead")]
    TooManyRemoved(usize),
}
