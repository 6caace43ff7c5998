//! Tests of the public interface of the replica.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop, and say how far it got"
)]

mod contract;
mod damage;
mod files;
mod kill;
mod model;
mod records;
mod site;
mod site_data;
mod unfollow;
