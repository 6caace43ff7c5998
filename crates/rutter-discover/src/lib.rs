//! What a site offers to machines, and where it says so.
//!
//! ```text
//! robots.txt ─→ Sitemap lines ─→ sitemaps, indexes, ARC (by content) ─→ adverts, links ─┐
//! home page  ─→ head links, JSON-LD ──────────────────────────────────────────────────→ Said ─→ Offer ─→ Rung
//! llms.txt, root and well-known paths (behind one probe for hosts that have everything) ─┘
//! ```
//!
//! [`discover`] walks; every file becomes [`Said`], a plain value that can be
//! kept, so that a later visit asks only whether it changed. The [`Offer`] is
//! put together from these values alone.
//!
//! Refuses: to walk without bounds ([`Bounds`]), to believe a host that has
//! every file, to let an Allow line override a Disallow line, and to take
//! words in a file for an instruction.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod bounds;
mod memory;
mod offer;
mod read;
mod room;
pub mod rules;
mod said;
mod sink;
mod walk;

pub use bounds::Bounds;
pub use memory::{Memory, Remembered};
pub use offer::{
    ArcOffer, CollectionOffer, FileOffer, LlmsOffer, Offer, Rung, ScpOffer, SectionOffer,
    SitemapOffer, SpxiOffer,
};
pub use said::{AdvertSaid, ArcSaid, Clue, HomeSaid, LlmsSaid, Said, SitemapSaid};
pub use sink::PageSink;
pub use walk::{Discovery, Look, Outcome, discover};
