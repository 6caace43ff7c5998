//! Whole builds of small sites, from files to files.

#![expect(
    clippy::unwrap_used,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "a test that cannot go on has failed; names of ours are in lower case"
)]

mod arc;
mod collections;
mod flow;
mod gate;
mod loss;
mod merge;
mod site;
mod spxi;
mod tells;
