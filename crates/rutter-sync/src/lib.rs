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

mod arc;
mod audit;
mod collections;
pub mod consent;
mod context;
mod crawl;
pub mod discover;
mod discovered_entries;
mod error;
mod explain;
mod limits;
mod options;
pub mod plan;
mod report;
mod run;
mod state;
mod syncer;
mod traffic;

pub use audit::{AuditReport, SectionProof};
pub use consent::scope::{Scope, ScopeError, ScopeRules};
pub use crawl::page_snapshot::{ArcSnapshot, SnapshotSource, find_arc_snapshot};
#[doc(hidden)]
pub use crawl::variants::strip_parameters;
pub use error::SyncError;
pub use explain::UsageExplanation;
pub use limits::CrawlLimits;
pub use options::{SyncEvent, SyncObserver, SyncOptions};
pub use report::left_out::{LeftOutReason, LeftOutUrl, list_left_out};
pub use report::{BetterMethod, Problem, ProblemKind, SectionReport, SyncReport};
pub use state::spool_dir::remove_spool;
pub use state::training_terms::TrainingTerms;
pub use syncer::{SyncPreview, Syncer};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
