//! Monitoring: counters, access records, the access log and findings about clients.

pub(crate) mod access;
pub(crate) mod activity;
pub(crate) mod clients;
pub(crate) mod log;
pub(crate) mod metrics;
pub(crate) mod report;
