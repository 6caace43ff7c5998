//! The data types of a replica.
//!
//! A [`Store`](crate::Store) returns them from queries, and a sync passes them to a
//! [`Staging`](crate::Staging).

mod history;
mod page;
mod search;
mod site;
mod staging;
mod url;

pub use history::{
    Change, ChangeBatch, ChangeCounts, ChangeCursor, ChangeKind, HistorySummary, RemovalCause,
    Tombstone,
};
pub use page::{
    ArcRow, DamagedPage, PageCount, PagePosition, PageRow, PageSelection, PageSource, PageTotals,
    WithheldReason,
};
pub use search::{CheckDepth, IndexProgress, MatchKind, SearchHit, SearchResults};
pub use site::{Lease, Publisher, PublisherId, Section};
pub use staging::{
    ClaimedState, CommitOptions, CommitSummary, DownloadRecord, Quota, StagedPage, StagingMode,
    StagingOptions, continues_section,
};
pub use url::{Expiry, NoteKind, NoteValue, ResponseValidators, UrlNote, UrlRecords, Validator};
