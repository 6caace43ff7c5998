//! Error types of the replica, one per kind of operation.
//!
//! All of them can contain a [`StorageError`]: a problem of the disk, of the file or with another
//! process. An error never affects data that was committed before.

use rutter_page::Timestamp;
use rutter_scp::SectionState;

use crate::model::{PagePosition, PageRow, PublisherId};

/// An error of the underlying file or database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The disk is full, or the file has reached its maximum size.
    #[error("no space left for the replica")]
    Full,
    /// The replica is read-only.
    #[error("the replica is read-only")]
    ReadOnly,
    /// Another process holds the write lock for too long.
    #[error("the replica is busy: another process writes to it")]
    Busy,
    /// The content of the file is invalid.
    #[error("the replica is damaged: {0}")]
    Damaged(String),
    /// Another error of the disk or the database.
    #[error("cannot use the replica")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StorageError {
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }
}

impl From<rusqlite::Error> for StorageError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match error.sqlite_error_code() {
            Some(Code::DiskFull) => Self::Full,
            Some(Code::ReadOnly) => Self::ReadOnly,
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy,
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Self::Damaged(error.to_string()),
            Some(_) => Self::Other(Box::new(error)),
            // A value has another type than was written.
            None => Self::Damaged(error.to_string()),
        }
    }
}

/// A page whose stored data is damaged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {what}")]
pub struct DamagedPage {
    /// The publisher of the page; 0 if its record is unreadable.
    pub publisher: PublisherId,
    /// The key of the page.
    pub url: String,
    /// A description of the damage.
    pub what: String,
}

impl DamagedPage {
    /// Returns the position from which a listing continues after this page.
    pub fn after(&self) -> PagePosition<'_> {
        PagePosition { publisher: self.publisher, url: &self.url }
    }
}

/// A page with its line, or its damage.
pub type PageLine = Result<(PageRow, String), DamagedPage>;

impl From<DamagedPage> for StorageError {
    fn from(damaged: DamagedPage) -> Self {
        Self::Damaged(damaged.to_string())
    }
}

/// An error that prevents opening a replica.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file is not a replica.
    #[error("not a replica")]
    NotAReplica,
    /// A newer version of this program wrote the file.
    #[error("the replica has format {found}, but this program supports formats up to {known}")]
    Newer {
        /// Format of the file.
        found: u32,
        /// Newest supported format.
        known: u32,
    },
    /// An older version of this program wrote the file, and it was opened for reading only.
    #[error("the replica has format {found} and must be converted to format {known}")]
    Older {
        /// Format of the file.
        found: u32,
        /// Newest supported format.
        known: u32,
    },
    /// The file does not exist, and the access mode does not allow creating it.
    #[error("there is no replica")]
    Missing,
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An error of a query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The cursor belongs to another replica.
    #[error("the cursor belongs to another replica")]
    ForeignCursor,
    /// The cursor is newer than the replica, which was probably restored from an older copy.
    #[error("the cursor is ahead of the replica: event {seq}, but the history ends at {end}")]
    CursorAhead {
        /// The event of the cursor.
        seq: u64,
        /// The last event of the history.
        end: u64,
    },
    /// Events after the cursor were already deleted from the history.
    #[error("the history does not reach back to the cursor")]
    ExpiredCursor,
    /// The query has no words to search for.
    #[error("the query has no words")]
    EmptyQuery,
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An error of a lease operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// Another process holds the lease of this publisher.
    #[error("busy: {holder} syncs this publisher until {until}")]
    Held {
        /// The holder of the lease.
        holder: String,
        /// End of the lease, unless it is renewed.
        until: Timestamp,
    },
    /// Another process took over the lease.
    #[error("lost the lease: another process took over this site")]
    Lost,
    /// The publisher does not exist.
    #[error("no such publisher")]
    Unknown,
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An error of a write outside of a staging.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Another process took over the lease.
    #[error("lost the lease: another process took over this site")]
    Lost,
    /// A staging of this publisher is open.
    #[error("busy: pages of this publisher are being staged")]
    Staging,
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An error of staging pages.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StageError {
    /// Another process took over the lease.
    #[error("lost the lease: another process took over this site")]
    Lost,
    /// A staging of this publisher is already open.
    #[error("busy: pages of this publisher are being staged")]
    Staging,
    /// The snapshot is older than the newest one that was accepted (D23, D26).
    #[error("snapshot of {generated} is a replay: a newer one of {newest} was already accepted")]
    Replay {
        /// Creation time of the snapshot.
        generated: Timestamp,
        /// Creation time of the newest accepted snapshot.
        newest: Timestamp,
    },
    /// The collection has more pages than the quota of the publisher allows (SCP-184).
    #[error("more than {most} pages exceed the quota of one publisher")]
    Quota {
        /// Maximum number of pages.
        most: u64,
    },
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// An error of committing a staging.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Another process took over the lease.
    #[error("lost the lease: another process took over this site")]
    Lost,
    /// The number of staged lines differs from the receipt.
    #[error("{staged} lines were staged, but the receipt counts {counted}")]
    Count {
        /// Number of staged lines.
        staged: u64,
        /// Number of lines in the receipt.
        counted: u64,
    },
    /// The section would not have the state that the collection claims (D95).
    #[error(
        "the section would have state {found} with {pages} pages, but the collection claims \
         {claimed} with {claimed_pages}"
    )]
    State {
        /// State that line 1 of the collection claims.
        claimed: SectionState,
        /// Number of pages that line 1 claims.
        claimed_pages: u64,
        /// Resulting state.
        found: SectionState,
        /// Resulting number of pages.
        pages: u64,
    },
    /// The publisher would have more pages than its quota allows (SCP-184).
    #[error("{pages} pages exceed the quota of {most} pages for one publisher")]
    Quota {
        /// Resulting number of pages.
        pages: u64,
        /// Maximum number of pages.
        most: u64,
    },
    /// The commit would delete too many pages at once and needs a confirmation (D23).
    #[error("would delete {deleted} of {pages} pages; held back")]
    MassDeletion {
        /// Number of pages that would be deleted.
        deleted: u64,
        /// Number of pages before.
        pages: u64,
    },
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Converts database errors through [`StorageError`] into the other error types.
macro_rules! from_database {
    ($($name:ident),*) => { $(
        impl From<rusqlite::Error> for $name {
            fn from(error: rusqlite::Error) -> Self {
                Self::Storage(error.into())
            }
        }
    )* };
}

from_database!(OpenError, QueryError, LeaseError, WriteError, StageError, CommitError);
