//! How survival is measured: which markers of an entity stand in a text, what
//! each step on the way to a reader loses, and what AI systems answer.
//!
//! [`Markers`] looks for the phrases of a whole site in one pass; [`trace`]
//! follows those of one entity from the served document to the summary;
//! [`drown`] puts questions to AI systems and counts what of an entity is left
//! in their answers.
//!
//! Refuses: to ask a model what survived, to name one, to open a connection;
//! only [`drown::System`] starts programs, and only those it is given.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

pub mod drown;
mod fold;
mod markers;
pub mod rules;
mod search;
mod survive;

pub use markers::{Markers, Places};
pub use survive::{Share, Stage, Survival, Survivals, Texts, Traced, trace};
