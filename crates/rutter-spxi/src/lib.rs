//! SPXI semantic indexes (SPXI-Sitemap 1.0): what each entity of a site is,
//! what it is not, and which of its phrases must survive.
//!
//! [`Index`] and its parts are what an index says, in any of the shapes
//! JSON-LD allows. [`read_index`] and [`read_packet`] take what can be
//! understood, [`judge_index`] and [`judge_packet`] say everything that is
//! wrong, [`Site`] is what a judge may know of the rest of the site.
//! [`IndexWriter`] and [`Packet::to_json`] write. [`kinds`] knows the types of
//! schema.org.
//!
//! Refuses: to fetch anything, to publish a claim nobody made, to call fine
//! what nobody looked at.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod address;
mod compare;
mod context;
mod graph;
mod index;
mod json;
mod judge;
pub mod kinds;
mod marker;
mod packet;
mod processor;
mod read;
#[cfg(test)]
mod round;
pub mod rules;
mod site;
mod values;
mod words;
mod write;

pub use address::{INDEX, PACKET, doi, packet_addresses, packet_path, without_fragment};
pub use index::{Collision, Entity, Index, Kernel, Modified, Party, Surface};
pub use judge::{Given, Judged, judge_index, judge_packet};
pub use marker::MarkerStatus;
pub use packet::{Asked, Packet, Question, read_packet};
pub use read::{LARGEST_INDEX, LARGEST_PACKET, read_index};
pub use site::{AGENTS, AgentSignals, Link, Listed, Look, PageFacts, Pages, Signals, Site};
pub use values::{BasinState, CollisionRisk, VerificationLevel};
pub use words::{characters, words};
pub use write::{IndexWriter, Kept, USUAL_SIZE, Written};

/// The vocabulary behind `spxi:`.
pub const SPXI: &str = "https://spxi.dev/vocabulary#";
/// The vocabulary behind `mp:`, of metadata packets.
pub const MP: &str = "https://metadatapacket.org/vocabulary#";
/// The vocabulary of names without a prefix.
pub const SCHEMA: &str = "https://schema.org/";
/// What `spxi:protocolVersion` says.
pub const PROTOCOL: &str = "EA-SPXI-SITEMAP-01 v1.0";
