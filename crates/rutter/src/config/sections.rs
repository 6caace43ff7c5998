//! The tables of `rutter.toml`: one struct for each table, with the descriptions of its keys.

pub(crate) mod arc;
pub(crate) mod check;
pub(crate) mod extract;
pub(crate) mod layers;
pub(crate) mod policy;
pub(crate) mod privacy;
pub(crate) mod spxi;
pub(crate) mod top;
