//! The planner by cases and by random histories; visits to sites of every
//! kind, to such that misbehave, and to such that are not to be visited.

#![expect(clippy::unwrap_used, clippy::format_collect, reason = "a test may stop")]

mod bay;
mod cases;
mod consent;
mod faults;
mod histories;
mod lists;
mod mixed;
mod pages;
mod returns;
mod safety;
mod sitemaps;
mod told;
mod visits;
mod walks;
