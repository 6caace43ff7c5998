//! Why a visit came to nothing at all.
//!
//! Trouble with single files is no reason: it stands in the
//! [`Report`](crate::Report).

use std::io;
use std::path::PathBuf;

use rutter_fetch::FetchError;
use rutter_page::Timestamp;
use rutter_store::{CommitError, LeaseError, QueryError, StageError, WriteError};

/// Why a visit came to nothing. The replica is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VisitError {
    /// The address is not one of a site.
    #[error("cannot sync {0}: it is not an http or https address with a host")]
    Site(String),
    /// A narrower scope would take the content of most pages.
    #[error(
        "cannot narrow the scope of {origin}: {outside} of {pages} pages would lose their content"
    )]
    Scope {
        /// The site.
        origin: String,
        /// Pages that have content and are outside.
        outside: u64,
        /// Pages of the site in the replica.
        pages: u64,
    },
    /// There is nothing of the site that could be audited.
    #[error("{0} is not in the replica: sync it first")]
    Unknown(String),
    /// The site cannot be visited.
    #[error("the site cannot be visited")]
    Fetch(#[from] FetchError),
    /// The site asked to be left alone, and the time has not come.
    #[error("{origin} asked to be left alone until {until}")]
    Paused {
        /// The site.
        origin: String,
        /// Until when.
        until: Timestamp,
    },
    /// Somebody else syncs this site.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// The replica cannot be asked.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// The replica cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Pages cannot be staged.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// What was staged cannot be committed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// A file beside the replica cannot be used.
    #[error("cannot use {}", .0.display())]
    Spool(PathBuf, #[source] io::Error),
    /// What is remembered of the site cannot be read.
    #[error("what is remembered of {0} was written by a later version")]
    Memo(String),
    /// A thread of ours ended before its time.
    #[error("a worker ended before its time")]
    Worker,
}
