//! How a site is visited: what to take, in which order, and why.
//!
//! ```text
//! Memo ─→ discover ─→ ARC, SPXI ─→ consent ─→ plan ─→ fetch ─→ spool ─→ verify ─→ staging ─→ commit
//!   ↑                                          ↑         └── learned ──────────┘            │
//!   │                                          └────────────────────────────────            │
//!   └──── pages one by one (sitemap, links, llms.txt) that no collection brings ←───────────┘
//! ```
//!
//! [`Visitor::visit`] is the door; [`plan`](fn@plan::plan) decides what is
//! taken and reads no clock, opens no connection and changes nothing;
//! [`consent`] joins what a site forbids.
//!
//! Refuses: to ask for what was refused before, to lose changes in a gap, to
//! delete pages of a section that was not read completely, to show anything
//! that no receipt stands behind, and to use what the site does not want used.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod apply;
mod arc;
mod audit;
mod census;
mod collect;
pub mod consent;
mod crawl;
mod crew;
mod damage;
mod enforce;
mod error;
mod explain;
mod frontier;
mod gate;
mod hold;
mod keys;
mod layers;
mod leave;
mod left_out;
mod limits;
mod mark;
mod memo;
mod options;
mod page;
pub mod plan;
mod record;
mod report;
mod rest;
mod scope;
mod shelf;
mod shell;
mod snapshot;
mod tally;
mod trap;
mod urls;
mod usage;
mod variants;
mod visit;
mod writer;

pub use audit::{Audit, Proof};
pub use error::VisitError;
pub use explain::Explanation;
pub use left_out::{LeftOut, LeftOutUrl, left_out};
pub use limits::CrawlLimits;
pub use options::{Event, Options, Watcher};
pub use report::{Better, Kind, Report, SectionReport, Trouble};
pub use scope::{Scope, ScopeError, ScopeRules};
pub use shelf::remove_spool;
pub use snapshot::{ArcSnapshot, SnapshotSource, arc_snapshot};
pub use usage::TrainingTerms;
#[doc(hidden)]
pub use variants::stripped;
pub use visit::{Preview, Visitor};
