//! Reads, checks and writes SPXI semantic indexes (SPXI-Sitemap 1.0): what each entity of a site
//! is, what it is not, and which of its phrases must survive summarization.
//!
//! [`SemanticIndex`] holds the content of an index, independent of its JSON-LD form.
//! [`read_index`] and [`read_packet`] read leniently; [`check_index`] and [`check_packet`] report
//! every violation, using [`SiteEvidence`] about the rest of the site. [`IndexWriter`] and
//! [`MetadataPacket::to_json`] write. [`schema_types`] lists the types of schema.org.
//!
//! Never accesses the network, and never publishes a claim that the owner did not make. Lists every
//! check that was not possible.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod address;
mod checker;
mod compare;
mod context;
mod graph;
mod index;
mod json;
mod marker;
mod packet;
mod place;
mod processor;
mod read;
#[cfg(test)]
mod round_trip;
pub mod rules;
pub mod schema_types;
mod site;
pub mod survival;
mod term_height;
mod values;
mod words;
mod write;

pub use address::{
    INDEX_FILE, PACKET_FILE, find_doi, packet_addresses, packet_path, without_fragment,
};
pub use checker::{CheckInput, CheckedIndex, check_index, check_packet};
pub use index::{Collision, Entity, Kernel, ModifiedDate, Party, SemanticIndex, Surface};
pub use marker::MarkerStatus;
pub use packet::{MetadataPacket, PacketQuestion, PacketSelector, read_packet};
pub use read::{MAX_INDEX_BYTES, MAX_PACKET_BYTES, read_index};
pub use site::{
    AGENTS, AgentSignals, PageFacts, PageLookup, ResourceLookup, RobotsSignals, SiteEvidence,
    SitemapEntry, SitemapLink,
};
pub use values::{BasinState, CollisionRisk, VerificationLevel};
pub use words::{count_characters, count_words};
pub use write::{DEFAULT_MAX_BYTES, IndexWriter, SurfaceDetail, WrittenIndex};

/// Namespace of the prefix `spxi:`.
pub const SPXI: &str = "https://spxi.dev/vocabulary#";
/// Namespace of the prefix `mp:`, used by metadata packets.
pub const MP: &str = "https://metadatapacket.org/vocabulary#";
/// Namespace of names without a prefix.
pub const SCHEMA: &str = "https://schema.org/";
/// Value of `spxi:protocolVersion`.
pub const PROTOCOL: &str = "EA-SPXI-SITEMAP-01 v1.0";

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
