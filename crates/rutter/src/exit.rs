//! Exit codes, and the exit code of each error.

use std::io;
use std::process::ExitCode;

use rutter_finding::{Classify, ErrorClass};
use rutter_store::{CommitError, LeaseError, OpenError, QueryError, StageError, StorageError};
use rutter_sync::SyncError;

/// An exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExitStatus {
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

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> Self {
        Self::from(exit as u8)
    }
}

impl ExitStatus {
    /// Returns the exit code for an error: the code of the first cause that has a class.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        error.chain().find_map(class_of).map_or(Self::Failure, Self::of_class)
    }

    fn of_class(class: ErrorClass) -> Self {
        match class {
            ErrorClass::Usage | ErrorClass::Internal => Self::Failure,
            ErrorClass::Network => Self::Network,
            ErrorClass::Integrity => Self::Integrity,
            ErrorClass::Policy => Self::Refused,
        }
    }
}

/// Returns the class of an error of one of the library crates.
fn class_of(cause: &(dyn std::error::Error + 'static)) -> Option<ErrorClass> {
    macro_rules! first_of {
        ($($error:ty),* $(,)?) => {
            None$( .or_else(|| cause.downcast_ref::<$error>().map(Classify::class)) )*
        };
    }
    first_of!(
        rutter_arc::ArcError,
        rutter_build::BuildError,
        rutter_fetch::FailureCause,
        rutter_finding::Refusal,
        rutter_scp::MergeError,
        rutter_scp::ReadError,
        rutter_scp::WriteError,
        rutter_site::StateError,
        rutter_sitemap::SitemapError,
        CommitError,
        LeaseError,
        OpenError,
        QueryError,
        StageError,
        StorageError,
        rutter_store::WriteError,
        SyncError,
    )
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
    if let Some(LeaseError::Storage(storage)) = cause.downcast_ref() {
        return Some(storage);
    }
    if let Some(StageError::Storage(storage)) = cause.downcast_ref() {
        return Some(storage);
    }
    if let Some(CommitError::Storage(storage)) = cause.downcast_ref() {
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
    use rutter_build::BuildError;
    use rutter_scp::WriteError;

    use super::*;

    #[test]
    fn each_build_error_has_its_exit_code() {
        let path = std::path::PathBuf::from("a");
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        for (error, exit) in [
            (BuildError::PrivateData(1), ExitStatus::Refused),
            (BuildError::Oversize(1), ExitStatus::Refused),
            (BuildError::MassDeletion { removed: 21, pages: 30 }, ExitStatus::Refused),
            (BuildError::DamagedState(path.clone(), 3), ExitStatus::Integrity),
            (BuildError::UnusablePrevious(path.clone(), "broken".into()), ExitStatus::Integrity),
            (BuildError::NoPages(path.clone()), ExitStatus::Failure),
            (BuildError::NewerFormat(path.clone()), ExitStatus::Failure),
            (BuildError::UnusedRestriction("/members/".to_owned()), ExitStatus::Failure),
            (BuildError::Io(path, denied()), ExitStatus::Failure),
            (
                BuildError::Collection("a".to_owned(), WriteError::Name("b".to_owned())),
                ExitStatus::Failure,
            ),
        ] {
            let name = error.to_string();
            assert_eq!(ExitStatus::of(&anyhow::Error::from(error)), exit, "{name}");
        }
    }
}
