//! How Rutter speaks about problems.
//!
//! A [`Rule`] is data: a stable code, the clause behind it, how grave it is to
//! a reader and to a judge. A [`Finding`] is one occurrence at a [`Place`].
//! Readers hand findings to a [`FindingSink`] and go on; when they cannot go
//! on they return a [`Refusal`], which is an error and not a finding.
//! A [`Report`] collects findings in bounded memory and knows the verdict.
//!
//! Refuses: to print. Only the `rutter` binary talks to people.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod finding;
mod report;
mod rule;

pub use finding::{
    Finding, FindingSink, Place, Refusal, counted, is_hidden, quoted, shown, visible,
};
pub use report::{Report, Verdict};
pub use rule::{Mode, Rule, Severity};
