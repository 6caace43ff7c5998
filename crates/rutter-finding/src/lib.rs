//! Rules, and the findings about input that breaks them.
//!
//! A [`Rule`] is data: a stable code, the clause that it comes from, its severity for each
//! [`Strictness`], and a wrong and a right [example](RuleExample). A [`Finding`] is one violation at a [`Place`] of the input. A reader of a format
//! passes its findings to a [`FindingSink`] and continues; a reader that cannot continue returns a
//! [`Refusal`], which is an error. A [`Report`] collects findings in bounded memory and derives the
//! [`Verdict`].
//!
//! An error type of the other crates implements [`Classify`], so that a program knows its exit code.
//!
//! This crate never prints. Only the `rutter` binary writes to the terminal.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod class;
mod finding;
mod report;
mod rule;

pub use class::{Classify, ErrorClass, error_chain};
pub use finding::{
    Finding, FindingSink, Place, Refusal, counted, is_hidden, quoted, shown, visible,
};
pub use report::{Report, Verdict};
pub use rule::{Rule, RuleExample, Severity, Strictness};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
