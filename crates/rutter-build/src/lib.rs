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

mod address_scheme;
mod arc_entry;
mod arc_layer;
mod build;
mod cache_match;
mod collections;
mod dates;
mod error;
mod exclusion;
mod git;
mod hosts;
mod inventory;
mod layers;
mod llms_txt;
mod markers;
mod mass_change_guard;
mod name_table;
mod page_reader;
mod partner_pages;
mod plan;
mod publish;
mod read;
pub mod rules;
mod saved_state;
mod schema_org;
mod section;
mod served;
mod site_sitemap;
mod sitemap;
mod sources;
mod spxi_layer;
mod state_rebuild;
mod summary;
mod templates;
mod unmatched_selectors;
mod visibility;

pub use build::build;
pub use error::BuildError;
pub use inventory::SitePage;
pub use plan::{
    ArcSettings, BaseUrl, BaseUrlError, BuildPlan, ChecksumScope, EntityDeclaration, Generator,
    HostKind, Layers, OversizePolicy, PrivacySettings, SectionRule, SourceKind, SpxiSettings,
    SurfaceRule, TwinPolicy,
};
pub use rutter_extract::Glob;
pub use summary::{
    BuildEvents, BuildSummary, CollectionSize, ExcludedPage, ExclusionCount, SectionSummary,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
