//! A replica of websites: verified pages at rest, with their history.
//!
//! [`Store`] is the seam, [`SqliteStore`] a file, [`MemoryStore`] the same
//! without one. Pages come in by a [`Staging`], which is opened for one section
//! of one publisher, filled, and committed with a receipt; before that nobody
//! sees any of it, afterwards everybody sees all of it. A staging that is
//! dropped, or whose process dies, never was.
//!
//! ```
//! use rutter_page::{LineDigest, Timestamp};
//! use rutter_store::{Begin, Finish, Item, MemoryStore, Mode, Quota, Source, Store};
//!
//! let now = Timestamp::parse("2026-05-01T12:00:00Z")?;
//! let store = MemoryStore::new();
//! let publisher = store.register("https://harbour.example", &[], "")?;
//! let lease = store.lease(publisher, now, now.plus_seconds(600))?;
//! let line = r#"{"url":"https://harbour.example/","title":"Tides"}"#;
//! let mut staging = store.stage(&lease, Begin {
//!     section: "all", mode: Mode::Snapshot, generated: now, source: Source::Scp,
//!     quota: Quota::USUAL, now,
//! })?;
//! staging.add(&Item {
//!     key: "https://harbour.example/", modified: now, digest: LineDigest::of(line.as_bytes()),
//!     title: "Tides", language: "en", line, withheld: None,
//! })?;
//! assert!(store.page("https://harbour.example/")?.is_none());
//! staging.commit(&Finish::plain())?;
//! assert_eq!(store.line("https://harbour.example/")?.as_deref(), Some(line));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Refuses: to show what no receipt stands behind, to write the same page
//! twice, to let two sync one publisher, to open what it did not write.

mod decide;
mod error;
mod memory;
mod model;
mod records;
mod sqlite;
mod store;
mod words;

pub use decide::{Guard, guard, links};
pub use error::{
    CommitError, DamagedPage, LeaseError, OpenError, PageLine, QueryError, StageError, Storage,
    WriteError,
};
pub use memory::MemoryStore;
pub use model::{
    After, ArcRow, Begin, Cause, Census, Change, ChangeKind, Changes, Claim, Cursor, Depth, Finish,
    Found, Happened, History, Hit, Indexed, Item, Lease, Matched, Mode, Outlook, PageRow,
    PageTotals, Publisher, PublisherId, Quota, Section, Selection, Source, Taken, Tombstone,
    Validator, Withheld,
};
pub use records::{Erased, Forgotten, SiteRecords, VisitRecord};
pub use sqlite::{Access, Options, SqliteStore, Tuning, remove_unused};
pub use store::{Staging, Store};
pub use words::Query;
