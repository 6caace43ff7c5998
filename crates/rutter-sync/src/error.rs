//! Errors that stop a sync. A problem with a single file does not stop a sync; the
//! [`SyncReport`](crate::SyncReport) lists it.

use std::io;
use std::path::PathBuf;

use rutter_fetch::FetchError;
use rutter_finding::{Classify, ErrorClass};
use rutter_page::Timestamp;
use rutter_store::{CommitError, LeaseError, QueryError, StageError, WriteError};

/// An error that stopped a sync. The replica keeps its previous content.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The URL is not an http or https URL with a host.
    #[error("cannot sync `{0}`: not an http or https URL with a host")]
    Site(String),
    /// A narrower scope would remove the content of most pages.
    #[error(
        "cannot narrow the scope of {origin}: {outside} of {pages} pages would lose their content"
    )]
    Scope {
        /// The site.
        origin: String,
        /// Number of pages with content that are outside of the new scope.
        outside: u64,
        /// Number of pages of the site in the replica.
        pages: u64,
    },
    /// The replica has no pages of the site.
    #[error("`{0}` is not in the replica: sync it first")]
    Unknown(String),
    /// The site cannot be reached or refuses requests.
    #[error("cannot sync the site")]
    Fetch(#[from] FetchError),
    /// The site asked for a pause, so no request is allowed before a certain time.
    #[error("{origin} asked to send no requests before {until}")]
    Paused {
        /// The site.
        origin: String,
        /// Earliest time of the next request to the site.
        until: Timestamp,
    },
    /// Another process is syncing the site.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The replica cannot be read.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The replica cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Pages cannot be staged.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Staged pages cannot be committed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// A file in the spool directory cannot be read or written.
    #[error("cannot use the spool file `{}`", .0.display())]
    Spool(PathBuf, #[source] io::Error),
    /// The stored state of the site has a newer format.
    #[error("cannot read the state of {0}: written by a newer version of rutter")]
    StateVersion(String),
    /// A worker thread exited unexpectedly.
    #[error("a worker thread exited unexpectedly")]
    Worker,
}

impl Classify for SyncError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Site(_) | Self::Unknown(_) | Self::StateVersion(_) => ErrorClass::Usage,
            Self::Scope { .. } => ErrorClass::Policy,
            Self::Paused { .. } => ErrorClass::Network,
            Self::Fetch(error) => error.class(),
            Self::Lease(error) => error.class(),
            Self::Query(error) => error.class(),
            Self::Write(error) => error.class(),
            Self::Stage(error) => error.class(),
            Self::Commit(error) => error.class(),
            Self::Spool(..) | Self::Worker => ErrorClass::Internal,
        }
    }
}
