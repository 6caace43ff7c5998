//! The signposts of a site: robots.txt, sitemap.xml and llms.txt.
//!
//! [`robots`] reads rules and answers whether an agent may fetch an address,
//! [`sitemap`] streams entries in and out, [`llms`] writes and reads lists of
//! links. All three judge: what is wrong goes to a
//! [`FindingSink`](rutter_finding::FindingSink) with its line.
//!
//! Refuses: to fetch, to know what a foreign element of a sitemap means, and
//! to change what the owner of a file wrote.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

pub mod llms;
pub mod robots;
pub mod rules;
pub mod sitemap;
