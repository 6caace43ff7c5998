//! Whole builds of small sites, comparing input and output files.

#![expect(
    clippy::unwrap_used,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "a test that cannot go on has failed; names of artifacts are in lower case"
)]

mod arc;
mod changes;
mod clauses;
mod collections;
mod control;
mod coverage;
mod exclusion;
mod findings;
mod generators;
mod guard;
mod llms;
mod lost_state;
mod merge;
mod recovery;
#[cfg(target_os = "linux")]
mod restrictions;
mod site;
mod spxi;
mod upgrade;
