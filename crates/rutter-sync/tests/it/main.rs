//! The planner by cases and by random histories; visits to sites of every
//! kind, to such that misbehave, and to such that are not to be visited.

#![expect(clippy::unwrap_used, clippy::format_collect, reason = "a test may stop")]

mod arc_deltas;
mod bay;
mod bounds;
mod cases;
mod codings;
mod consent;
mod damage;
mod detours;
mod faults;
mod histories;
mod lastmod;
mod left_out;
mod lists;
mod messages;
mod mixed;
mod outage;
mod pages;
mod refusals;
mod returns;
mod safety;
mod scope;
mod shells;
mod sitemaps;
mod told;
mod variants;
mod visits;
mod walks;
mod wishes;
