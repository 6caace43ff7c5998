//! Errors of a build.

use std::io;
use std::path::{Path, PathBuf};

use rutter_finding::{Classify, ErrorClass};
use rutter_page::Timestamp;
use rutter_scp::WriteError;
use rutter_site::StateError;

/// An error that stops a build before anything is published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A file or folder cannot be read or written.
    #[error("{}", .0.display())]
    Io(PathBuf, #[source] io::Error),
    /// Another build holds the lock of the state folder.
    #[error("cannot lock `{}`: another build is running", .0.display())]
    Busy(PathBuf),
    /// The site has no pages.
    #[error("cannot build `{}`: no pages found", .0.display())]
    NoPages(PathBuf),
    /// A restricted path prefix matches no page of the site.
    #[error("cannot restrict {}: no page has a path below it", rutter_finding::quoted(.0))]
    UnusedRestriction(String),
    /// The state was written by a newer version.
    #[error("cannot read `{}`: it was written by a newer version of Rutter", .0.display())]
    NewerFormat(PathBuf),
    /// A file of the state is damaged.
    #[error("cannot read `{path}`: line {line} is damaged", path = .0.display(), line = .1)]
    DamagedState(PathBuf, u64),
    /// The state belongs to another site.
    #[error("cannot use `{path}`: it is the state of {theirs}, not of {ours}", path = .0.display(), theirs = .1, ours = .2)]
    OtherSite(PathBuf, String, String),
    /// Pages contain secrets or personal data that are not acknowledged.
    #[error("cannot publish: {0} findings of secrets or personal data are not acknowledged")]
    PrivateData(u64),
    /// Pages have more blocks than a collection may hold, and the settings demand that the build
    /// then stops.
    #[error("cannot publish: {0} pages have more blocks than a collection may hold")]
    Oversize(u64),
    /// The build would remove most published pages.
    #[error("cannot publish: {removed} of {pages} published pages would be removed")]
    MassDeletion {
        /// Number of pages that would be removed.
        removed: u64,
        /// Number of published pages.
        pages: u64,
    },
    /// The build would exclude all or most pages.
    #[error(
        "cannot publish: {excluded} of {pages} pages would be excluded, {of_reason} of them because: {reason}"
    )]
    MassExclusion {
        /// Number of pages that would be excluded and were not excluded before.
        excluded: u64,
        /// Number of pages of the site, without redirects and restricted paths.
        pages: u64,
        /// The most frequent exclusion reason of these pages.
        reason: &'static str,
        /// Number of pages that would be excluded for the most frequent reason.
        of_reason: u64,
    },
    /// A page cannot be read or copied, and the state holds no earlier version of it.
    #[error("cannot read `{0}`, and the state holds no earlier version of it: {1}")]
    Unreadable(String, String),
    /// The state contains times that are later than the time of this build.
    #[error("cannot use the state: it was written at {newest}, but the time is now {now}")]
    FutureState {
        /// The newest time in the state.
        newest: Timestamp,
        /// The time of this build.
        now: Timestamp,
    },
    /// A collection cannot be written.
    #[error("cannot write the collection of section `{0}`")]
    Collection(String, #[source] WriteError),
    /// The state cannot be rebuilt, because a published file is missing or damaged.
    #[error("cannot rebuild the state from `{}`", .0.display())]
    UnusablePrevious(PathBuf, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// The list of written files is lost, and an artifact would replace files that Rutter may have
    /// written.
    #[error(
        "cannot tell which files in `{folder}` Rutter wrote: its list of files is lost, and {n} files have no mark, such as `{first}`",
        folder = .folder.display()
    )]
    Unrecognised {
        /// The output folder.
        folder: PathBuf,
        /// Number of files that an artifact would replace.
        n: u64,
        /// Path of the first of these files.
        first: String,
    },
    /// The source file is not a valid list of pages.
    #[error("cannot read `{path}`: {why}", path = .0.display(), why = .1)]
    InvalidSource(PathBuf, String),
}

impl From<StateError> for BuildError {
    fn from(error: StateError) -> Self {
        match error {
            StateError::Io(path, error) => Self::Io(path, error),
            StateError::Busy(folder) => Self::Busy(folder),
            StateError::NewerFormat(path) => Self::NewerFormat(path),
            StateError::Damaged(path, line) => Self::DamagedState(path, line),
            other => Self::Io(PathBuf::new(), io::Error::other(other)),
        }
    }
}

/// Converts an I/O error into a build error that names the path.
pub(crate) trait IoErrorContext<T> {
    fn at(self, path: &Path) -> Result<T, BuildError>;
}

impl<T> IoErrorContext<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, BuildError> {
        self.map_err(|error| BuildError::Io(path.to_owned(), error))
    }
}

impl Classify for BuildError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::PrivateData(_)
            | Self::Oversize(_)
            | Self::MassDeletion { .. }
            | Self::MassExclusion { .. } => ErrorClass::Policy,
            Self::DamagedState(..) | Self::UnusablePrevious(..) => ErrorClass::Integrity,
            Self::Collection(_, error) => error.class(),
            Self::Io(..) => ErrorClass::Internal,
            Self::Busy(_)
            | Self::NoPages(_)
            | Self::UnusedRestriction(_)
            | Self::NewerFormat(_)
            | Self::OtherSite(..)
            | Self::Unreadable(..)
            | Self::FutureState { .. }
            | Self::Unrecognised { .. }
            | Self::InvalidSource(..) => ErrorClass::Usage,
        }
    }
}
