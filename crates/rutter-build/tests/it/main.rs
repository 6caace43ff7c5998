//! Whole builds of small sites, from files to files.

#![expect(
    clippy::unwrap_used,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "a test that cannot go on has failed; names of ours are in lower case"
)]

mod arc;
mod clauses;
#[cfg(target_os = "linux")]
mod closed_and_kept;
mod collections;
mod flow;
mod gate;
mod generators;
mod guard;
mod llms;
mod loss;
mod lost_state;
mod merge;
mod site;
mod spxi;
mod tells;
