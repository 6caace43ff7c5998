//! Why a build could not be done.

use std::io;
use std::path::{Path, PathBuf};

use rutter_page::Timestamp;
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
    /// Nothing of the site is below a path that the owner wants closed.
    #[error("cannot close {}: nothing of the site is below it", rutter_finding::quoted(.0))]
    Unused(String),
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
    /// Pages have more blocks than the format allows, and must not be merged.
    #[error("pages with more blocks than a collection may hold: {0}")]
    Oversize(u64),
    /// Most published pages would be removed.
    #[error("{removed} of {pages} published pages would be removed")]
    MassDeletion {
        /// Pages that would be removed.
        removed: u64,
        /// Pages that are published.
        pages: u64,
    },
    /// All or most pages would be left out.
    #[error("{excluded} of {pages} pages would be left out, {of_reason} of them for: {reason}")]
    MassExclusion {
        /// Pages that would be left out and were not left out before.
        excluded: u64,
        /// Pages of the site, without redirects and restricted paths.
        pages: u64,
        /// The most frequent reason.
        reason: &'static str,
        /// Pages with that reason.
        of_reason: u64,
    },
    /// A page cannot be read or copied, and no earlier version of it can be kept.
    #[error("cannot read {0}, and no earlier version of it can be kept: {1}")]
    Unreadable(String, String),
    /// The state was written later than now.
    #[error("the state was written at {newest}, but now is {now}")]
    Ahead {
        /// The newest time in the state.
        newest: Timestamp,
        /// The time of this build.
        now: Timestamp,
    },
    /// A collection could not be written.
    #[error("collection of `{0}`")]
    Collection(String, #[source] WriteError),
    /// A published file that state is rebuilt from is broken.
    #[error("{}: cannot rebuild state from it", .0.display())]
    Previous(PathBuf, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// Files are in the way that may be ours, and the list of ours is lost.
    #[error(
        "{folder}: cannot tell which files are Rutter's: its list is lost, and {n} have no mark, such as `{first}`",
        folder = .folder.display()
    )]
    Unrecognised {
        /// The output folder.
        folder: PathBuf,
        /// How many files are in the way.
        n: u64,
        /// The first of them.
        first: String,
    },
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
