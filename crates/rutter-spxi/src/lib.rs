//! SPXI semantic indexes (SPXI-Sitemap 1.0): what each entity of a site is,
//! what it is not, and which of its phrases must survive.
//!
//! [`Index`] and its parts are what an index says, in any of the shapes
//! JSON-LD allows; [`IndexWriter`] and [`Packet::to_json`] write them.
//!
//! Refuses: to fetch anything, to publish a claim nobody made.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod address;
mod index;
pub mod kinds;
mod marker;
mod packet;
mod values;
mod words;
mod write;

pub use address::{INDEX, PACKET, packet_path, without_fragment};
pub use index::{Collision, Entity, Index, Kernel, Modified, Party, Surface};
pub use marker::MarkerStatus;
pub use packet::{Packet, Question};
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
