//! The planner, by cases and by random histories.

#![expect(clippy::unwrap_used, reason = "a test may stop")]

mod cases;
mod histories;
