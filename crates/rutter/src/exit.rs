//! Exit codes, and the exit code of each error.

use std::io;
use std::process::ExitCode;

use rutter_build::BuildError;
use rutter_scp::{MergeError, ReadError, WriteError};
use rutter_site::StateError;
use rutter_store::{CommitError, LeaseError, OpenError, QueryError, StageError, StorageError};
use rutter_sync::SyncError;

/// An exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Success.
    Clean = 0,
    /// The input was processed and has problems.
    Findings = 1,
    /// Wrong arguments, wrong settings or an input or output error.
    Failure = 2,
    /// A network error.
    Network = 3,
    /// Verification failed, or a limit was exceeded.
    Integrity = 4,
    /// Refused by a policy.
    Refused = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// Returns the exit code for an error: the code of the first cause that has an exit code.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        error.chain().find_map(Self::of_cause).unwrap_or(Self::Failure)
    }

    fn of_storage(storage: &StorageError) -> Self {
        if matches!(storage, StorageError::Damaged(_)) { Self::Integrity } else { Self::Failure }
    }

    fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Self> {
        if cause.is::<rutter_finding::Refusal>() {
            return Some(Self::Integrity);
        }
        if let Some(rutter_sitemap::SitemapError::Refused(_)) = cause.downcast_ref() {
            return Some(Self::Integrity);
        }
        if let Some(rutter_arc::ArcError::Refused(_)) = cause.downcast_ref() {
            return Some(Self::Integrity);
        }
        match cause.downcast_ref() {
            Some(rutter_fetch::FailureCause::Refused(_)) => return Some(Self::Refused),
            Some(rutter_fetch::FailureCause::Response(_)) => return Some(Self::Integrity),
            Some(rutter_fetch::FailureCause::Spool(_)) => return Some(Self::Failure),
            Some(_) => return Some(Self::Network),
            None => {}
        }
        if let Some(storage) = storage_of(cause) {
            return Some(Self::of_storage(storage));
        }
        match cause.downcast_ref() {
            Some(OpenError::NotAReplica | OpenError::Newer { .. }) => return Some(Self::Integrity),
            Some(_) => return Some(Self::Failure),
            None => {}
        }
        match cause.downcast_ref() {
            Some(
                QueryError::ForeignCursor
                | QueryError::CursorAhead { .. }
                | QueryError::ExpiredCursor,
            ) => return Some(Self::Integrity),
            Some(_) => return Some(Self::Failure),
            None => {}
        }
        match cause.downcast_ref() {
            Some(SyncError::Paused { .. }) => return Some(Self::Network),
            Some(
                SyncError::Scope { .. }
                | SyncError::Stage(StageError::Quota { .. })
                | SyncError::Commit(CommitError::Quota { .. }),
            ) => return Some(Self::Refused),
            _ => {}
        }
        if let Some(CommitError::MassDeletion { .. }) = cause.downcast_ref() {
            return Some(Self::Refused);
        }
        if let Some(ReadError::Refused(_)) = cause.downcast_ref() {
            return Some(Self::Integrity);
        }
        match cause.downcast_ref() {
            Some(StateError::Damaged(..)) => return Some(Self::Integrity),
            Some(_) => return Some(Self::Failure),
            None => {}
        }
        match cause.downcast_ref() {
            Some(
                BuildError::PrivateData(_)
                | BuildError::Oversize(_)
                | BuildError::MassDeletion { .. }
                | BuildError::MassExclusion { .. },
            ) => return Some(Self::Refused),
            Some(BuildError::DamagedState(..) | BuildError::UnusablePrevious(..)) => {
                return Some(Self::Integrity);
            }
            // The cause of `BuildError::Collection` determines the exit code.
            Some(BuildError::Collection(..)) | None => {}
            Some(_) => return Some(Self::Failure),
        }
        match cause.downcast_ref() {
            Some(WriteError::Io(..) | WriteError::Name(_)) => return Some(Self::Failure),
            Some(_) => return Some(Self::Integrity),
            None => {}
        }
        match cause.downcast_ref()? {
            MergeError::Gap { .. }
            | MergeError::State { .. }
            | MergeError::Skipped { .. }
            | MergeError::StaleModified(_) => Some(Self::Integrity),
            MergeError::MassDeletion { .. } | MergeError::Empty => Some(Self::Refused),
            MergeError::Write(error) => Self::of_cause(error),
            _ => None,
        }
    }
}

/// Returns the storage error inside an error. The chain of causes does not contain the inner error
/// of a transparent error, so each transparent error is matched here.
pub(crate) fn storage_of<'e>(
    cause: &'e (dyn std::error::Error + 'static),
) -> Option<&'e StorageError> {
    if let Some(storage) = cause.downcast_ref() {
        return Some(storage);
    }
    if let Some(OpenError::Storage(storage)) = cause.downcast_ref() {
        return Some(storage);
    }
    if let Some(QueryError::Storage(storage)) = cause.downcast_ref() {
        return Some(storage);
    }
    if let Some(rutter_store::WriteError::Storage(storage)) = cause.downcast_ref() {
        return Some(storage);
    }
    match cause.downcast_ref()? {
        SyncError::Query(QueryError::Storage(storage))
        | SyncError::Write(rutter_store::WriteError::Storage(storage))
        | SyncError::Lease(LeaseError::Storage(storage))
        | SyncError::Stage(StageError::Storage(storage))
        | SyncError::Commit(CommitError::Storage(storage)) => Some(storage),
        _ => None,
    }
}

/// Returns whether an error reports a damaged replica.
pub(crate) fn is_damage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(storage_of(cause), Some(StorageError::Damaged(_))))
}

/// Returns whether an error is a closed output pipe.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_build_error_has_its_exit_code() {
        let path = std::path::PathBuf::from("a");
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        for (error, exit) in [
            (BuildError::PrivateData(1), Exit::Refused),
            (BuildError::Oversize(1), Exit::Refused),
            (BuildError::MassDeletion { removed: 21, pages: 30 }, Exit::Refused),
            (BuildError::DamagedState(path.clone(), 3), Exit::Integrity),
            (BuildError::UnusablePrevious(path.clone(), "broken".into()), Exit::Integrity),
            (BuildError::NoPages(path.clone()), Exit::Failure),
            (BuildError::NewerFormat(path.clone()), Exit::Failure),
            (BuildError::UnusedRestriction("/members/".to_owned()), Exit::Failure),
            (BuildError::Io(path, denied()), Exit::Failure),
            (
                BuildError::Collection("a".to_owned(), WriteError::Name("b".to_owned())),
                Exit::Failure,
            ),
        ] {
            let name = error.to_string();
            assert_eq!(Exit::of(&anyhow::Error::from(error)), exit, "{name}");
        }
    }
}
