//! Reads, checks and writes ARC sitemaps (Appendix E of ARC 2.1).
//!
//! [`ArcReader`] reads the entries of a JSON sitemap in constant memory; [`open_sitemap`] reads
//! YAML too. [`SitemapChecker`] reports problems beyond the syntax. [`JsonWriter`] and
//! [`YamlWriter`] write the same data in two formats. [`mod@pointer`] is the JSON-LD pointer to a
//! sitemap, [`mod@delta`] computes and applies dated deltas, [`policy`] is the policy file, and
//! [`mod@snapshot`] extracts the snapshot of an annotated page.
//!
//! ```
//! use rutter_arc::{ArcReader, Consent, Limits};
//!
//! let text = r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example",
//!     "generated_at": "2026-05-01T00:00:00Z", "pages": [
//!     {"url": "https://harbour.example/tides", "ai_indexable": true},
//!     {"url": "https://harbour.example/log", "ai_indexable": "false"}]}"#;
//! let mut findings = Vec::new();
//! let mut reader = ArcReader::new(text.as_bytes(), Limits::DEFAULT);
//! let mut allowed = Vec::new();
//! while let Some(consent) = reader.next(&mut findings, |entry| entry.consent()).unwrap() {
//!     allowed.push(consent == Consent::Given);
//! }
//! assert_eq!(allowed, [true, false]);
//! assert_eq!(findings[0].place.pointer, "/pages/1/ai_indexable");
//! ```
//!
//! Rejects documents over [`Limits`]. A malformed value is never read as consent, and values that
//! users typed into form fields are never exported.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod checker;
mod checksum;
mod consent;
pub mod delta;
mod entry;
mod head;
mod input;
mod limits;
mod open;
pub mod pointer;
pub mod policy;
mod rate;
mod read;
pub mod rules;
pub mod snapshot;
mod strict;
mod tolerant;
mod url_register;
mod window;
mod write;
mod yaml;

pub use checker::{ExpectedDocument, SitemapChecker, parse_delta_file_name};
pub use checksum::is_checksum;
pub use consent::{Consent, RobotsDirective, RobotsDirectives};
pub use entry::{ArcEntry, MAX_TAGS};
pub use head::{DeltaAnnouncement, SitemapHeader, VERSION};
pub use limits::{ArcError, Limits};
pub use open::{ArcDocumentKind, detect_format, open_sitemap};
pub use policy::ArcPolicy;
pub use rate::CrawlRate;
pub use read::{ArcReader, ArcReceipt};
pub use write::JsonWriter;
pub use yaml::{MAX_YAML_BYTES, YamlWriter};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
