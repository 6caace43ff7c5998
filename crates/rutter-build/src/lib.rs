//! Builds the machine-readable layers of a website from its built folder.
//!
//! Input: a [`BuildPlan`]. [`build`] lists the pages, reads those that changed (pass 1), writes the
//! sitemap, llms.txt and the Markdown twins (pass 2) and the collections (pass 3), and then
//! publishes all files in one transaction (pass 4). The ledger in the state folder decides which
//! pages changed and when.
//!
//! A build never overwrites files that Rutter did not write, never publishes restricted pages, and
//! never changes the date of an unchanged page. An interrupted build leaves the published files
//! unchanged, or the next command completes it.

mod address;
mod arc_entry;
mod arc_publication;
mod build;
mod entities;
mod error;
mod exclusion;
mod finding_counter;
mod layers;
mod name_table;
mod plan;
pub mod rules;
mod section;
mod stages;
mod staging;
mod state;
mod summary;

pub use build::build;
pub use error::BuildError;
pub use plan::{
    ArcSettings, BaseUrl, BaseUrlError, BuildPlan, ChecksumScope, EntityDeclaration, Generator,
    HostKind, Layers, OversizePolicy, PrivacySettings, SectionRule, SourceKind, SpxiSettings,
    SurfaceRule, TwinPolicy,
};
pub use rutter_extract::Glob;
pub use stages::inventory::SitePage;
pub use summary::{
    BuildEvents, BuildSummary, CollectionSize, ExcludedPage, ExclusionCount, SectionSummary,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
