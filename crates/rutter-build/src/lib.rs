//! Builds the machine-readable layers of a website from its built folder.
//!
//! The data's way: [`Plan`] → inventory of names → pages read and compared
//! with the ledger (pass 1) → sitemap, llms.txt and twins from one scan
//! (pass 2) → collections (pass 3) → everything swapped in at once (pass 4).
//! One ledger decides what changed and when; one gate decides what may leave.
//!
//! Refuses: to touch a file it did not write, to let a restricted page out, to
//! move a date without a change, and to leave the folder half built.

mod address_scheme;
mod arc;
mod block;
mod build;
mod chain;
mod collect;
mod dates;
mod error;
mod feed;
mod fit;
mod gate;
mod git;
mod glob;
mod guard;
mod hosts;
mod inject;
mod inventory;
mod journal;
mod ledger;
mod listing;
mod manifest;
mod marked;
mod outcome;
mod own_marks;
mod pack;
mod plan;
mod previous;
mod private;
mod project;
mod publish;
mod read;
mod recall;
mod remember;
pub mod rules;
mod schema;
mod section;
mod served;
mod signs;
mod site_sitemap;
mod sources;
mod spxi;
mod state;
mod table;
mod told;
mod worker;

pub use arc::snapshot_of;
pub use build::build;
pub use error::BuildError;
pub use glob::Glob;
pub use inventory::{SitePage, pages};
pub use marked::places;
pub use outcome::{Excluded, ExcludedPage, Listener, Made, Outcome, SectionOutcome};
pub use plan::{
    Arc, Base, BaseError, Checksum, Declared, Generator, Host, Layers, Oversize, Plan, Privacy,
    SectionRule, Source, Spxi, SurfaceRule, Twins,
};
pub use publish::recover;
pub use remember::{Remembered, is_built_into, remembered};
