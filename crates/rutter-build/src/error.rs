//! Why a build could not be done.

use std::io;
use std::path::{Path, PathBuf};

use rutter_scp::WriteError;

/// Why a site could not be built. Nothing was published then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A file or folder could not be read or written.
    #[error("{}", .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// Another build holds the state.
    #[error("{}: another build is running", .0.display())]
    Busy(PathBuf),
    /// There is nothing to build.
    #[error("{}: no pages found", .0.display())]
    NoPages(PathBuf),
    /// The state was written by a newer version.
    #[error("{}: written by a newer version of Rutter", .0.display())]
    Newer(PathBuf),
    /// The state cannot be read.
    #[error("{path}: line {line} cannot be read", path = .0.display(), line = .1)]
    State(PathBuf, u64),
    /// The state belongs to another site.
    #[error("{path}: is the state of {theirs}, not of {ours}", path = .0.display(), theirs = .1, ours = .2)]
    OtherSite(PathBuf, String, String),
    /// What must not leave was found, and nobody has looked at it.
    #[error("{0} secrets or personal data found that nobody has acknowledged")]
    Private(u64),
    /// Pages are larger than the format allows, and nobody said to omit them.
    #[error("pages with more blocks than a collection may hold: {0}")]
    Oversize(u64),
    /// A collection could not be written.
    #[error("collection of `{0}`")]
    Collection(String, #[source] WriteError),
    /// A published file that state is rebuilt from is broken.
    #[error("{}: cannot rebuild state from it", .0.display())]
    Previous(PathBuf, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// Pages came in an order or form they must not have.
    #[error("{path}: {why}", path = .0.display(), why = .1)]
    Source(PathBuf, String),
}

/// Adds the path to an error that does not know it.
pub(crate) trait At<T> {
    fn at(self, path: &Path) -> Result<T, BuildError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, BuildError> {
        self.map_err(|error| BuildError::Io(path.to_owned(), error))
    }
}
