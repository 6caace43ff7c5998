//! Errors of reading and writing a collection.

use std::io;
use std::path::PathBuf;

use rutter_finding::{Classify, ErrorClass, Refusal};

/// Reasons why a collection could not be read to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Reading the input failed. This says nothing about the collection itself.
    #[error("cannot read the input")]
    Io(#[from] io::Error),
    /// The collection breaks a rule and must not be used.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Classify for ReadError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Io(_) => ErrorClass::Internal,
            Self::Refused(refusal) => refusal.class(),
        }
    }
}

/// Reasons why a collection was not written. No partial file is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The file system returned an error for this path.
    #[error("cannot write {}", .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// A page breaks a rule that collections must keep.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Readers would take the file for a decompression bomb (D34).
    #[error(
        "the collection would compress {0} to 1, and readers reject more than {1} to 1; \
         use a lower level or write plain .scp"
    )]
    Ratio(u64, u64),
    /// The file would exceed the size limit.
    #[error("the collection would have {0} bytes, the limit is {1}; split the section")]
    TooLarge(u64, u64),
    /// An id or section name that readers would reject.
    #[error("`{0}` is not a valid id or section name: use 1 to 255 letters, digits, `-` and `_`")]
    Name(String),
    /// Line 1 would be too long, or would list too many removed pages (D95).
    #[error("{0} removed pages do not fit into a delta; publish a snapshot instead")]
    TooManyRemoved(usize),
}

impl Classify for WriteError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Io(..) => ErrorClass::Internal,
            Self::Name(_) => ErrorClass::Usage,
            Self::Refused(refusal) => refusal.class(),
            Self::Ratio(..) | Self::TooLarge(..) | Self::TooManyRemoved(_) => ErrorClass::Integrity,
        }
    }
}
