//! Syncs sites: keeps a replica of their pages up to date.
//!
//! ```text
//! SiteState ─→ discover ─→ ARC, SPXI ─→ consent ─→ plan ─→ fetch ─→ spool ─→ verify ─→ staging ─→ commit
//!   ↑                                               ↑         └─ known failures ──┘                  │
//!   │                                               └──────────────────────────────────────────────  │
//!   └──── crawl of pages that no collection delivers (sitemap, links, llms.txt) ←────────────────────┘
//! ```
//!
//! [`Syncer::sync`] is the entry point. [`plan`](fn@plan::plan) decides which files a sync
//! downloads; it is a pure function that reads no clock and opens no connection.
//! [`consent`] combines the usage signals of a site.
//!
//! A file that failed is not requested again in the same sync. A page is deleted only if a
//! verified collection removes it, if every list was read to its end and none contains the
//! page, or if the site reports that the page does not exist. Content of a collection
//! becomes visible only after the whole file is verified. Content that the site does not
//! allow to be used is not stored.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod apply;
mod arc;
mod audit;
mod collect;
pub mod consent;
mod counts;
mod crawl;
mod damage;
pub mod discover;
mod discovered_entries;
mod enforce;
mod error;
mod explain;
mod frontier;
mod lease_guard;
mod left_out;
mod limits;
mod options;
mod page;
mod page_policy;
mod page_writer;
pub mod plan;
mod record;
mod removal;
mod report;
mod scope;
mod shell;
mod site_state;
mod snapshot;
mod spool_dir;
mod syncer;
mod traffic;
mod traps;
mod uncovered_pages;
mod url_note;
mod url_set;
mod urls;
mod usage;
mod variants;
mod worker_pool;

pub use audit::{AuditReport, SectionProof};
pub use error::SyncError;
pub use explain::UsageExplanation;
pub use left_out::{LeftOutReason, LeftOutUrl, list_left_out};
pub use limits::CrawlLimits;
pub use options::{SyncEvent, SyncObserver, SyncOptions};
pub use report::{BetterMethod, Problem, ProblemKind, SectionReport, SyncReport};
pub use scope::{Scope, ScopeError, ScopeRules};
pub use snapshot::{ArcSnapshot, SnapshotSource, find_arc_snapshot};
pub use spool_dir::remove_spool;
pub use syncer::{SyncPreview, Syncer};
pub use usage::TrainingTerms;
#[doc(hidden)]
pub use variants::strip_parameters;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
