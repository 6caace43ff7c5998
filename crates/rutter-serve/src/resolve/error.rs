//! Why a path cannot be resolved.

use crate::resolve::path::PathFault;

/// Why a path has no files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResolveError {
    /// The path is not valid.
    Malformed,
    Missing,
    /// A publication is in progress.
    Publishing,
    /// The system has no more file descriptors or memory.
    Overloaded,
    /// An internal error.
    Internal,
}

impl From<PathFault> for ResolveError {
    fn from(fault: PathFault) -> Self {
        match fault {
            PathFault::Bad => Self::Malformed,
            PathFault::Hidden => Self::Missing,
        }
    }
}

/// Why one attempt to resolve a path ended early.
#[derive(Debug)]
pub(crate) enum ResolveStop {
    Failed(ResolveError),
    /// A file changed while it was read; the next attempt may succeed.
    Changed,
    /// A large file must be hashed first. Requests for the same file have the same number.
    Unread(u64),
}

impl From<ResolveError> for ResolveStop {
    fn from(error: ResolveError) -> Self {
        Self::Failed(error)
    }
}
