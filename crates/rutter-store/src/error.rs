//! What can go wrong, one enumeration for each thing one does with a replica.
//!
//! [`Storage`] is the trouble all of them share: the disk, the file, another
//! process. Whatever is returned, what was committed before is still there.

use rutter_page::Timestamp;
use rutter_scp::State;

use crate::model::{After, PageRow, PublisherId};

/// Trouble with what lies underneath.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Storage {
    /// No room left, or the ceiling of the file is reached.
    #[error("no room left for the replica")]
    Full,
    /// It may only be read.
    #[error("the replica may only be read")]
    ReadOnly,
    /// Another process writes, and did not end in time.
    #[error("the replica is busy: another process writes to it")]
    Busy,
    /// What is in the file cannot be.
    #[error("the replica is damaged: {0}")]
    Damaged(String),
    /// The disk, or the database, says something else.
    #[error("the replica cannot be used")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Storage {
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged(what.into())
    }
}

impl From<rusqlite::Error> for Storage {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match error.sqlite_error_code() {
            Some(Code::DiskFull) => Self::Full,
            Some(Code::ReadOnly) => Self::ReadOnly,
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy,
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Self::Damaged(error.to_string()),
            Some(_) => Self::Other(Box::new(error)),
            // A value of another type than we write.
            None => Self::Damaged(error.to_string()),
        }
    }
}

/// A page whose stored bytes are not the ones that were written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {what}")]
pub struct DamagedPage {
    /// Whose page it is; 0 where its record does not say.
    pub publisher: PublisherId,
    /// Its key.
    pub url: String,
    /// What does not fit.
    pub what: String,
}

impl DamagedPage {
    /// Where a listing goes on behind this page.
    pub fn after(&self) -> After<'_> {
        After { publisher: self.publisher, url: &self.url }
    }
}

/// A page with its line, or what is wrong with it.
pub type PageLine = Result<(PageRow, String), DamagedPage>;

impl From<DamagedPage> for Storage {
    fn from(damaged: DamagedPage) -> Self {
        Self::Damaged(damaged.to_string())
    }
}

/// Why a replica cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file is something else.
    #[error("not a replica")]
    NotAReplica,
    /// A later version of this program wrote it.
    #[error("the replica has format {found}, this program knows formats up to {known}")]
    Newer {
        /// Its format.
        found: u32,
        /// The newest we know.
        known: u32,
    },
    /// An earlier version of this program wrote it, and it was opened for reading only.
    #[error("the replica has format {found} and must be converted to format {known}")]
    Older {
        /// Its format.
        found: u32,
        /// The newest we know.
        known: u32,
    },
    /// There is none, and none may be made.
    #[error("there is no replica")]
    Missing,
    /// Trouble with the file.
    #[error(transparent)]
    Storage(#[from] Storage),
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The cursor is of another replica.
    #[error("the cursor is not of this replica")]
    ForeignCursor,
    /// The cursor is of this replica, which was put back to an older copy.
    #[error("the cursor is ahead of the replica: event {seq}, and the history ends at {end}")]
    CursorAhead {
        /// The event that the cursor names.
        seq: u64,
        /// The last event of the history.
        end: u64,
    },
    /// What happened behind the cursor is no longer known.
    #[error("the history does not reach back to the cursor")]
    ExpiredCursor,
    /// There is nothing to look for in the query.
    #[error("the query has no words")]
    EmptyQuery,
    /// Trouble with the file.
    #[error(transparent)]
    Storage(#[from] Storage),
}

/// Why somebody may not write.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// Somebody else writes this publisher's pages.
    #[error("busy: {holder} syncs this publisher until {until}")]
    Held {
        /// Who.
        holder: String,
        /// Until when, unless it goes on.
        until: Timestamp,
    },
    /// Somebody else has taken over.
    #[error("the lease was lost to somebody else")]
    Lost,
    /// There is no such publisher.
    #[error("no such publisher")]
    Unknown,
    /// Trouble with the file.
    #[error(transparent)]
    Storage(#[from] Storage),
}

/// Why something small was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Somebody else has taken over.
    #[error("the lease was lost to somebody else")]
    Lost,
    /// A staging of this publisher is under way.
    #[error("busy: this publisher is being written")]
    Staging,
    /// Trouble with the file.
    #[error(transparent)]
    Storage(#[from] Storage),
}

/// Why pages cannot be staged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StageError {
    /// Somebody else has taken over.
    #[error("the lease was lost to somebody else")]
    Lost,
    /// A staging of this publisher is under way.
    #[error("busy: this publisher is being written")]
    Staging,
    /// Older than the newest snapshot that was accepted (D23, D26).
    #[error("a snapshot of {generated} is a replay: one of {newest} was accepted")]
    Replay {
        /// When it was made.
        generated: Timestamp,
        /// The newest accepted.
        newest: Timestamp,
    },
    /// It has more pages than the publisher may have (SCP-184).
    #[error("more than {most} pages: beyond the quota of one publisher")]
    Quota {
        /// The quota.
        most: u64,
    },
    /// Trouble with the file.
    #[error(transparent)]
    Storage(#[from] Storage),
}

/// Why what was staged was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Somebody else has taken over.
    #[error("the lease was lost to somebody else")]
    Lost,
    /// Not all that the receipt speaks of was staged.
    #[error("{staged} lines were staged, the receipt speaks of {counted}")]
    Count {
        /// Lines staged.
        staged: u64,
        /// Lines of the receipt.
        counted: u64,
    },
    /// The section is not what the collection says it would be (D95).
    #[error("state is {found} with {pages} pages, named as {claimed} with {claimed_pages}")]
    State {
        /// What line 1 says.
        claimed: State,
        /// Pages by line 1.
        claimed_pages: u64,
        /// What came out.
        found: State,
        /// Pages that came out.
        pages: u64,
    },
    /// The publisher would have more pages than it may (SCP-184).
    #[error("would be {pages} pages: beyond the quota of {most} for one publisher")]
    Quota {
        /// Pages there would be.
        pages: u64,
        /// The quota.
        most: u64,
    },
    /// It would delete too much at once; it waits for somebody's word (D23).
    #[error("would delete {deleted} of {pages} pages; held back")]
    MassDeletion {
        /// Pages that would go.
        deleted: u64,
        /// Pages there are.
        pages: u64,
    },
    /// Trouble with the file.
    #[error(transparent)]
    Storage(#[from] Storage),
}

/// Database errors pass through [`Storage`] into each of the others.
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
