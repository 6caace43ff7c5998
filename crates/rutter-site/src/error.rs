//! Errors of reading and writing the state of a built site.

use std::io;
use std::path::{Path, PathBuf};

use rutter_finding::{Classify, ErrorClass};

/// An error while the state of a site is read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A file or folder cannot be read or written.
    #[error("{}", .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// Another build holds the lock of the state folder.
    #[error("cannot lock `{}`: another build is running", .0.display())]
    Busy(PathBuf),
    /// The file was written by a newer version.
    #[error("cannot read `{}`: it was written by a newer version of Rutter", .0.display())]
    NewerFormat(PathBuf),
    /// The file is damaged at a line.
    #[error("cannot read `{path}`: line {line} is damaged", path = .0.display(), line = .1)]
    Damaged(PathBuf, u64),
}

impl Classify for StateError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Io(..) => ErrorClass::Internal,
            Self::Busy(_) | Self::NewerFormat(_) => ErrorClass::Usage,
            Self::Damaged(..) => ErrorClass::Integrity,
        }
    }
}

/// Converts an I/O error into a state error that names the path.
pub(crate) trait IoErrorContext<T> {
    fn at(self, path: &Path) -> Result<T, StateError>;
}

impl<T> IoErrorContext<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, StateError> {
        self.map_err(|error| StateError::Io(path.to_owned(), error))
    }
}
