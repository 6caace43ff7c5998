//! Discovery: finds out which files a site offers to machines, and where the site announces
//! these files.
//!
//! ```text
//! robots.txt ─→ Sitemap lines ─→ sitemaps, indexes, ARC (by content) ─→ adverts, links ─┐
//! home page  ─→ head links, JSON-LD ──────────────────────────────────→ ParsedFile ─→ SiteOffer ─→ AccessMethod
//! llms.txt, root and well-known paths (after one probe for catch-all hosts) ────────────┘
//! ```
//!
//! Input: the URL of a site and the [`DiscoveryCache`] of an earlier run. Output: a
//! [`Discovery`] with the [`SiteOffer`] and findings. Discovery reduces every file to a
//! [`ParsedFile`], which the cache stores, so that a later run only asks the server whether
//! the file has changed. The offer is computed only from [`ParsedFile`] values.
//!
//! A discovery run stays within [`DiscoveryLimits`]. If a host answers every unknown URL
//! with the same page, that page is not taken for a file at a default path. An `Allow` line
//! that announces a file never overrides a `Disallow` line. Discovery never interprets text
//! in a file as an instruction.

mod budget;
mod cache;
mod check;
mod limits;
mod lookup;
mod offer;
mod parse;
mod parsed_file;
pub mod rules;
mod run;
mod sink;

pub use cache::{CachedFile, DiscoveryCache};
pub use limits::DiscoveryLimits;
pub use lookup::{Discovery, LookupOutcome, UrlLookup};
pub use offer::{
    AccessMethod, ArcOffer, CollectionOffer, FileOffer, LlmsOffer, ScpOffer, SectionOffer,
    SiteOffer, SitemapOffer, SpxiOffer,
};
pub use parsed_file::{
    DiscoverySource, ParsedAdvert, ParsedArc, ParsedFile, ParsedHomePage, ParsedLlms, ParsedSitemap,
};
pub use run::discover;
pub use sink::PageSink;
