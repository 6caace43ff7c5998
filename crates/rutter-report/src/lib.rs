//! Turns findings into reports.
//!
//! Input: one [`FileReport`] for each checked file, and the tables of rules of all crates. A
//! [`RuleRegistry`] finds rules by code and name, and [`explain()`] describes a rule with its
//! examples. [`Baseline`](baseline::Baseline) removes known findings, [`quota`] limits the listed
//! pages, [`layer::scores`] computes points. An [`Outcome`] holds the results of one run;
//! [`ReportFormat::write`](format::ReportFormat::write) prints it, together with the affected lines from
//! [`excerpt`].
//!
//! This crate knows no rule and checks no file.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

pub mod baseline;
pub mod excerpt;
mod explain;
mod file_report;
pub mod fingerprint;
pub mod format;
pub mod layer;
mod locate;
pub mod outcome;
pub mod overview;
pub mod quota;
mod registry;

pub use explain::explain;
pub use file_report::{FileKind, FileReport};
pub use outcome::{CheckedFile, DetailLevel, Outcome};
pub use overview::Overview;
pub use registry::RuleRegistry;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
