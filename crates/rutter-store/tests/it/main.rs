//! The replica as its users see it.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop, and say how far it got"
)]

mod books;
mod contract;
mod damage;
mod files;
mod kill;
mod model;
mod records;
mod site;
mod unfollow;
