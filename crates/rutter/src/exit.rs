//! Exit codes, and which of them an error means.

use std::io;
use std::process::ExitCode;

use rutter_build::BuildError;
use rutter_scp::{MergeError, ReadError, WriteError};
use rutter_store::{CommitError, LeaseError, OpenError, QueryError, StageError, Storage};
use rutter_sync::VisitError;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Nothing to complain about.
    Clean = 0,
    /// The input could be judged, and something is wrong with it.
    Findings = 1,
    /// Wrong arguments, wrong configuration, a disk that says no.
    Failure = 2,
    /// The network, or a host that is not there.
    Network = 3,
    /// Broken integrity, or a limit was reached.
    Integrity = 4,
    /// A policy forbids it.
    Refused = 5,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// The code for an error, by the gravest cause we know.
    pub(crate) fn of(error: &anyhow::Error) -> Self {
        error.chain().find_map(Self::of_cause).unwrap_or(Self::Failure)
    }

    fn of_storage(storage: &Storage) -> Self {
        if matches!(storage, Storage::Damaged(_)) { Self::Integrity } else { Self::Failure }
    }

    fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Self> {
        if cause.is::<rutter_finding::Refusal>() {
            return Some(Self::Integrity);
        }
        if let Some(rutter_signpost::sitemap::SitemapError::Refused(_)) = cause.downcast_ref() {
            return Some(Self::Integrity);
        }
        if let Some(rutter_arc::ArcError::Refused(_)) = cause.downcast_ref() {
            return Some(Self::Integrity);
        }
        match cause.downcast_ref() {
            Some(rutter_fetch::Cause::Refused(_)) => return Some(Self::Refused),
            Some(rutter_fetch::Cause::Answer(_)) => return Some(Self::Integrity),
            Some(rutter_fetch::Cause::Spool(_)) => return Some(Self::Failure),
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
            Some(VisitError::Paused { .. }) => return Some(Self::Network),
            Some(
                VisitError::Scope { .. }
                | VisitError::Stage(StageError::Quota { .. })
                | VisitError::Commit(CommitError::Quota { .. }),
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
            Some(
                BuildError::Private(_)
                | BuildError::Oversize(_)
                | BuildError::MassDeletion { .. }
                | BuildError::MassExclusion { .. },
            ) => return Some(Self::Refused),
            Some(BuildError::State(..) | BuildError::Previous(..)) => {
                return Some(Self::Integrity);
            }
            // A collection that could not be written has a cause that tells.
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
            | MergeError::Stuck(_) => Some(Self::Integrity),
            MergeError::MassDeletion { .. } | MergeError::Empty => Some(Self::Refused),
            MergeError::Write(error) => Self::of_cause(error),
            _ => None,
        }
    }
}

/// The trouble with a replica that an error speaks of. An error that only
/// passes another on hides it from the chain, so each is opened here.
pub(crate) fn storage_of<'e>(cause: &'e (dyn std::error::Error + 'static)) -> Option<&'e Storage> {
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
        VisitError::Query(QueryError::Storage(storage))
        | VisitError::Write(rutter_store::WriteError::Storage(storage))
        | VisitError::Lease(LeaseError::Storage(storage))
        | VisitError::Stage(StageError::Storage(storage))
        | VisitError::Commit(CommitError::Storage(storage)) => Some(storage),
        _ => None,
    }
}

/// Tells whether an error says that a replica is damaged.
pub(crate) fn is_damage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(storage_of(cause), Some(Storage::Damaged(_))))
}

/// Tells whether whoever reads our output has seen enough.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_every_failed_build_has_its_code() {
        let path = std::path::PathBuf::from("a");
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        for (error, exit) in [
            (BuildError::Private(1), Exit::Refused),
            (BuildError::Oversize(1), Exit::Refused),
            (BuildError::MassDeletion { removed: 21, pages: 30 }, Exit::Refused),
            (BuildError::State(path.clone(), 3), Exit::Integrity),
            (BuildError::Previous(path.clone(), "broken".into()), Exit::Integrity),
            (BuildError::NoPages(path.clone()), Exit::Failure),
            (BuildError::Newer(path.clone()), Exit::Failure),
            (BuildError::Unused("/members/".to_owned()), Exit::Failure),
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
