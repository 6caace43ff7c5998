//! Error types of the replica, one per kind of operation.
//!
//! Each error type can contain a [`StorageError`]: a problem of the disk, of the file or with
//! another process. An operation that fails never changes data that was committed before it.

use rutter_finding::{Classify, ErrorClass};
use rutter_page::Timestamp;
use rutter_scp::SectionState;

use crate::model::{DamagedPage, PageRow};

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
    /// Another process did not release the write lock of the file in time.
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
            // A column contains a value of another type than the schema states.
            None => Self::Damaged(error.to_string()),
        }
    }
}

/// The record and the line of a page, or a description of the damage.
pub type PageLine = Result<(PageRow, String), DamagedPage>;

impl From<DamagedPage> for StorageError {
    fn from(damaged: DamagedPage) -> Self {
        Self::Damaged(damaged.to_string())
    }
}

/// Why a replica could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file is not a replica.
    #[error("the file is not a replica")]
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
    /// The file does not exist, and the access mode does not allow Rutter to create it.
    #[error("there is no replica")]
    Missing,
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The cursor belongs to another replica.
    #[error("the cursor belongs to another replica")]
    ForeignCursor,
    /// The cursor is after the last event of the replica; the file was probably restored from a
    /// backup.
    #[error("the cursor is ahead of the replica: event {seq}, but the history ends at {end}")]
    CursorAhead {
        /// Number of the event that the cursor points to.
        seq: u64,
        /// Number of the last event of the history.
        end: u64,
    },
    /// The history no longer contains all events after the cursor.
    #[error("the history does not reach back to the cursor")]
    ExpiredCursor,
    /// The query has no words to search for.
    #[error("the query has no words")]
    EmptyQuery,
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a lease could not be acquired, renewed or released.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// Another process holds the lease of this publisher.
    #[error("busy: {holder} is syncing this site; its lease ends at {until}")]
    Held {
        /// Name of the process that holds the lease.
        holder: String,
        /// When the lease expires, unless its holder renews it.
        until: Timestamp,
    },
    /// Another process took over the lease.
    #[error("lost the lease: another process took over this site")]
    Lost,
    /// The publisher does not exist.
    #[error("the replica does not contain this site")]
    Unknown,
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a write outside of a staging failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Another process took over the lease.
    #[error("lost the lease: another process took over this site")]
    Lost,
    /// A staging of this publisher is open.
    #[error("busy: pages of this site are being staged")]
    Staging,
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why pages could not be staged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StageError {
    /// Another process took over the lease.
    #[error("lost the lease: another process took over this site")]
    Lost,
    /// A staging of this publisher is already open.
    #[error("busy: pages of this site are being staged")]
    Staging,
    /// The snapshot is older than one that was already committed (D23, D26).
    #[error("snapshot of {generated} is a replay: a newer one of {newest} was already accepted")]
    Replay {
        /// Creation time of the snapshot.
        generated: Timestamp,
        /// Creation time of the newest snapshot that was committed.
        newest: Timestamp,
    },
    /// The collection has more pages than the quota of the publisher allows (SCP-184).
    #[error("the site has more pages than the quota of {most} pages per site")]
    Quota {
        /// Maximum number of pages.
        most: u64,
    },
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why a staging could not be committed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Another process took over the lease.
    #[error("lost the lease: another process took over this site")]
    Lost,
    /// The number of staged lines differs from the receipt.
    #[error("{staged} pages were staged, but the collection has {counted}")]
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
        /// State of the section that line 1 of the collection claims.
        claimed: SectionState,
        /// Number of pages that line 1 of the collection claims.
        claimed_pages: u64,
        /// State that the section would have after the commit.
        found: SectionState,
        /// Resulting number of pages.
        pages: u64,
    },
    /// After the commit, the publisher would have more pages than its quota allows (SCP-184).
    #[error("the site would have {pages} pages, more than the quota of {most} pages per site")]
    Quota {
        /// Resulting number of pages.
        pages: u64,
        /// Maximum number of pages.
        most: u64,
    },
    /// The commit would delete too many pages at once and needs a confirmation (D23).
    #[error("the commit is held back: it would delete {deleted} of {pages} pages")]
    MassDeletion {
        /// Number of pages that would be deleted.
        deleted: u64,
        /// Number of pages in the section before the commit.
        pages: u64,
    },
    /// An error of the file or database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Implements the conversion of database errors into error types that contain a [`StorageError`].
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

impl Classify for StorageError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Damaged(_) => ErrorClass::Integrity,
            _ => ErrorClass::Internal,
        }
    }
}

impl Classify for OpenError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::NotAReplica | Self::Newer { .. } => ErrorClass::Integrity,
            Self::Older { .. } | Self::Missing => ErrorClass::Usage,
            Self::Storage(error) => error.class(),
        }
    }
}

impl Classify for QueryError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::ForeignCursor | Self::CursorAhead { .. } | Self::ExpiredCursor => {
                ErrorClass::Integrity
            }
            Self::EmptyQuery => ErrorClass::Usage,
            Self::Storage(error) => error.class(),
        }
    }
}

impl Classify for LeaseError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Held { .. } | Self::Lost | Self::Unknown => ErrorClass::Usage,
            Self::Storage(error) => error.class(),
        }
    }
}

impl Classify for WriteError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Lost | Self::Staging => ErrorClass::Usage,
            Self::Storage(error) => error.class(),
        }
    }
}

impl Classify for StageError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Lost | Self::Staging | Self::Replay { .. } => ErrorClass::Usage,
            Self::Quota { .. } => ErrorClass::Policy,
            Self::Storage(error) => error.class(),
        }
    }
}

impl Classify for CommitError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Lost => ErrorClass::Usage,
            Self::Count { .. } | Self::State { .. } => ErrorClass::Integrity,
            Self::Quota { .. } | Self::MassDeletion { .. } => ErrorClass::Policy,
            Self::Storage(error) => error.class(),
        }
    }
}
