//! ARC sitemaps (Appendix E of ARC 2.1): read, judged and written.
//!
//! [`Reader`] streams entries out of JSON in constant memory, [`open`] takes
//! YAML too, [`Judge`] says what is wrong beyond the form, [`JsonWriter`] and
//! [`YamlWriter`] write the same data in two forms, [`mod@pointer`] names the
//! sitemap in JSON-LD. [`mod@delta`] leads from one sitemap to the next,
//! [`policy`] tells who may do what, [`mod@snapshot`] makes the snapshot of an
//! annotated page, as data and as prose.
//!
//! ```
//! use rutter_arc::{Consent, Limits, Reader};
//!
//! let text = r#"{"arc_sitemap_version": "2.1", "site": "https://harbour.example",
//!     "generated_at": "2026-05-01T00:00:00Z", "pages": [
//!     {"url": "https://harbour.example/tides", "ai_indexable": true},
//!     {"url": "https://harbour.example/log", "ai_indexable": "false"}]}"#;
//! let mut findings = Vec::new();
//! let mut reader = Reader::new(text.as_bytes(), Limits::USUAL);
//! let mut allowed = Vec::new();
//! while let Some(consent) = reader.next(&mut findings, |entry| entry.consent()).unwrap() {
//!     allowed.push(consent == Consent::Given);
//! }
//! assert_eq!(allowed, [true, false]);
//! assert_eq!(findings[0].place.pointer, "/pages/1/ai_indexable");
//! ```
//!
//! Refuses: to read anything wrong as consent, to hold a whole document in
//! memory, to pass its [`Limits`], to export what somebody typed into a form.

#![warn(clippy::disallowed_methods, clippy::indexing_slicing)]

mod checksum;
mod consent;
pub mod delta;
mod entry;
mod head;
mod input;
mod judge;
mod limits;
mod open;
pub mod pointer;
pub mod policy;
mod rate;
mod read;
pub mod rules;
mod seen;
pub mod snapshot;
mod strict;
mod tolerant;
mod window;
mod write;
mod yaml;

pub use checksum::is_checksum;
pub use consent::{Consent, Directive, Directives};
pub use entry::{Entry, MOST_TAGS};
pub use head::{Deltas, Head, VERSION};
pub use judge::{Judge, Whole, day_of_name};
pub use limits::{ArcError, Limits};
pub use open::{Form, form, open};
pub use policy::Policy;
pub use rate::CrawlRate;
pub use read::{Reader, Receipt};
pub use write::JsonWriter;
pub use yaml::{MOST_YAML, YamlWriter};
