//! Discovery: finds out what a site offers to machines, and where it announces it.
//!
//! ```text
//! robots.txt ─→ Sitemap lines ─→ sitemaps, indexes, ARC (by content) ─→ adverts, links ─┐
//! home page  ─→ head links, JSON-LD ──────────────────────────────────→ ParsedFile ─→ SiteOffer ─→ AccessMethod
//! llms.txt, root and well-known paths (after one probe for catch-all hosts) ────────────┘
//! ```
//!
//! Input: the URL of a site and the [`DiscoveryCache`] of an earlier run. Output: a
//! [`Discovery`] with the [`SiteOffer`] and findings. Every file is reduced to a
//! [`ParsedFile`], a serializable value, so that a later run only asks whether the file has
//! changed. The offer is computed from these values alone.
//!
//! A run stays within [`DiscoveryLimits`]. Files of a host that answers every path with the
//! same page are ignored. An `Allow` line never overrides a `Disallow` line, and text in a
//! file is never interpreted as an instruction.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod budget;
mod cache;
mod discover;
mod limits;
mod offer;
mod parse;
mod parsed_file;
pub mod rules;
mod sink;

pub use cache::{CachedFile, DiscoveryCache};
pub use discover::{Discovery, Lookup, LookupOutcome, discover};
pub use limits::DiscoveryLimits;
pub use offer::{
    AccessMethod, ArcOffer, CollectionOffer, FileOffer, LlmsOffer, ScpOffer, SectionOffer,
    SiteOffer, SitemapOffer, SpxiOffer,
};
pub use parsed_file::{
    DiscoverySource, ParsedAdvert, ParsedArc, ParsedFile, ParsedHomePage, ParsedLlms, ParsedSitemap,
};
pub use sink::PageSink;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
