//! Reads, checks and writes robots.txt, sitemap.xml and llms.txt.
//!
//! [`robots`] parses rules and decides whether an agent may fetch a URL, [`sitemap`] reads and
//! writes entries as streams, [`llms`] reads and writes lists of links. Each module has a `check`
//! function that reports problems, with their lines, to a
//! [`FindingSink`](rutter_finding::FindingSink).
//!
//! The crate does not fetch anything, does not interpret sitemap elements of
//! other namespaces, and never changes lines that a site owner wrote.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

pub mod llms;
pub mod robots;
pub mod rules;
pub mod sitemap;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
