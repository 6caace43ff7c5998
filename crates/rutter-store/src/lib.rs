//! The replica: a local copy of websites with their history.
//!
//! [`Store`] is the interface, [`SqliteStore`] stores the replica in a file, and [`MemoryStore`]
//! keeps it in memory. Pages are written through a [`Staging`], which contains the changes of one
//! section of one publisher. A writer opens the staging, adds pages to it, and commits it with a
//! receipt. Readers see all of its changes or none. A staging that is dropped, or whose process
//! dies, has no effect.
//!
//! ```
//! use rutter_page::{LineDigest, Timestamp};
//! use rutter_store::prelude::*;
//! use rutter_store::{
//!     CommitOptions, MemoryStore, PageSource, Quota, StagedPage, StagingMode, StagingOptions,
//! };
//!
//! let now = Timestamp::parse("2026-05-01T12:00:00Z")?;
//! let store = MemoryStore::new();
//! let publisher = store.register("https://harbour.example", &[])?;
//! let lease = store.lease(publisher, now, now.plus_seconds(600))?;
//! let line = r#"{"url":"https://harbour.example/","title":"Tides"}"#;
//! let mut staging = store.stage(&lease, StagingOptions {
//!     section: "all", mode: StagingMode::Snapshot, generated: now, source: PageSource::Scp,
//!     quota: Quota::DEFAULT, now,
//! })?;
//! staging.add(&StagedPage {
//!     key: "https://harbour.example/", modified: now, digest: LineDigest::of(line.as_bytes()),
//!     title: "Tides", language: "en", line, withheld: None,
//! })?;
//! assert!(store.page("https://harbour.example/")?.is_none());
//! staging.commit(&CommitOptions::plain())?;
//! assert_eq!(store.line("https://harbour.example/")?.as_deref(), Some(line));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rejects stagings that do not match their receipt, two concurrent syncs of one publisher, and
//! files that are not replicas.

mod decide;
mod error;
mod memory;
mod model;
mod records;
mod sqlite;
mod store;
mod words;

pub use decide::{DeletionCheck, check_deletions};
pub use error::{
    CommitError, LeaseError, OpenError, PageLine, QueryError, StageError, StorageError, WriteError,
};
pub use memory::MemoryStore;
pub use model::{
    ArcRow, Change, ChangeBatch, ChangeCounts, ChangeCursor, ChangeKind, CheckDepth, ClaimedState,
    CommitOptions, CommitSummary, DamagedPage, DownloadRecord, Expiry, HistorySummary,
    IndexProgress, Lease, MatchKind, NoteKind, NoteValue, PageCount, PagePosition, PageRow,
    PageSelection, PageSource, PageTotals, Publisher, PublisherId, Quota, RemovalCause,
    ResponseValidators, SearchHit, SearchResults, Section, StagedPage, StagingMode, StagingOptions,
    Tombstone, UrlNote, UrlRecords, Validator, WithheldReason, continues_section,
};
pub use records::{ErasedSite, ErasureResult, SiteRecords, VisitRecord};
pub use sqlite::{AccessMode, SqliteStore, StagingBuffer, StoreOptions, remove_unused};
pub use store::{
    HistoryQueries, LeaseControl, LeasedWrites, PageQueries, SearchIndex, SiteQueries, Staging,
    Store, StoreMaintenance, SyncRecords,
};
pub use words::SearchQuery;

/// The traits of a replica, for code that uses a [`MemoryStore`] or a [`SqliteStore`] itself:
/// `use rutter_store::prelude::*`. Code that gets a `&dyn Store` needs only [`Store`].
pub mod prelude {
    pub use crate::records::SiteRecords;
    pub use crate::store::{
        HistoryQueries, LeaseControl, LeasedWrites, PageQueries, SearchIndex, SiteQueries, Staging,
        Store, StoreMaintenance, SyncRecords,
    };
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
