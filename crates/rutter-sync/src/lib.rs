//! How a site is visited: what to take, in which order, and why.
//!
//! [`plan`](fn@plan::plan) decides; it reads no clock, opens no connection and
//! changes nothing. Whoever visits a site does what it says, tells it what was
//! learned on the way, and asks again.
//!
//! Refuses: to ask for what was refused before, to lose changes in a gap, and
//! to delete pages of a section that was not read completely.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

pub mod plan;
