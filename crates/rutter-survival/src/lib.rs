//! How survival is measured: which markers of an entity stand in a text, what
//! each step on the way to a reader loses, and what AI systems answer.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod fold;
mod markers;
mod search;

pub use markers::{Markers, Places};
