//! Extracts the content of HTML and Markdown pages as typed blocks.
//!
//! Input: bytes and [`ExtractOptions`]. Output: an [`Extraction`]: the SCP page with its blocks, their
//! decoration ([`Rich`](rutter_page::BlockMarkup)), the metadata ([`PageStatements`]), the links, the `data-ai-*`
//! annotations, the visible text and the findings, from one parse. The result depends only on the
//! bytes, the options and a template version.
//!
//! ```
//! use rutter_extract::{ExtractOptions, html};
//! use rutter_page::{PageUrl, Timestamp};
//!
//! let url = PageUrl::parse("https://harbour.example/tides.html").unwrap();
//! let seen = Timestamp::parse("2026-06-01T00:00:00Z").unwrap();
//! let page = b"<html lang=en><title>Tides</title><nav><a href=/>Home</a></nav>
//!     <main><h1>Tides</h1><p>High water is at <b>noon</b>.</main>";
//! let extraction = html(page, &ExtractOptions::new(url, seen));
//! assert_eq!(extraction.page.to_text(), "Tides\n\nHigh water is at noon.\n");
//! assert!(extraction.to_markdown().contains("High water is at **noon**."));
//! ```
//!
//! Text within the [`Limits`] is never truncated, and a page that has text never has empty content.
//! Rejects URLs that are not http(s), and the parts of a page beyond its limits.

#![warn(clippy::disallowed_methods)]
#![expect(clippy::cast_precision_loss, reason = "shares of a page need no more")]

mod address;
mod arc_snapshot;
mod arena;
mod assemble;
mod blocks;
mod boxes;
mod charset;
mod classify;
mod code;
mod code_frame;
mod coverage;
mod date;
mod description;
mod dom;
mod extract_settings;
mod extraction;
mod facts;
mod glob;
mod guard;
mod handle;
mod headline;
mod hint;
mod honesty;
mod inline;
mod json_ld;
mod language;
mod link_blocks;
mod list;
mod login;
mod markdown;
mod media;
mod merge;
mod meta;
mod navigation;
mod note;
mod options;
mod owner;
mod phrase;
mod prune;
mod read;
mod region;
pub mod rules;
pub mod safety;
mod selector;
mod shell;
mod space;
mod streamed;
mod survey;
mod table;
mod tabs;
mod tag;
mod tag_limit;
mod template;
mod template_marks;
mod time_role;
mod title;
mod usage_signals;
mod verdict;
mod visibility;
mod visible_page;
mod words;

pub use arc_snapshot::arc_snapshot;
pub use charset::{decoded, is_charset, is_text};
#[doc(hidden)]
pub use classify::dump::{FeatureDump, dump};
pub use classify::features::{FEATURES, FEATURES_VERSION, Feature};
pub use classify::{PageType, model_version};
pub use coverage::{Coverage, CoverageTally, DroppedPart, PageCoverage};
pub use extract_settings::{PathExtractSettings, SiteExtractSettings};
pub use extraction::{Extraction, PartDecision};
pub use facts::{
    AlternateVersion, AnnotatedElement, HeadLink, PageLink, PageStatements, RobotsMeta,
};
pub use glob::Glob;
pub use honesty::honesty;
pub use markdown::markdown;
pub use merge::merged;
pub use navigation::{NavLink, navigation};
pub use options::{ExtractOptions, LinkBlocks, OwnerSelectors, TemplateChoice};
pub use read::{facts, html};
pub use selector::{Selector, SelectorError};
pub use shell::TextSource;
pub use template::{PageSketch, SAMPLE, TemplateSet, TemplateVersionId, sample_key};
pub use usage_signals::{UsageSignals, UseRefusal};

/// Limits on the size of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum nesting depth of elements. Deeper start tags are ignored, their text is kept.
    pub depth: u32,
    /// Maximum number of elements and runs of text.
    pub nodes: usize,
    /// Maximum number of blocks of a page.
    pub blocks: usize,
    /// Maximum length of a block of JSON-LD, in bytes.
    pub json: usize,
    /// Maximum number of attributes of a tag. Further attributes are ignored.
    pub attributes: usize,
    /// Maximum number of steps of building the tree. Each token, each open element that a token may
    /// be compared with, each element, each attribute and each moved element is one step. The
    /// number depends on the page alone, not on the machine.
    pub steps: u64,
}

impl Limits {
    /// Limits that real pages do not exceed.
    pub const USUAL: Self = Self {
        depth: 400,
        nodes: 8_000_000,
        blocks: 1000,
        json: 1 << 20,
        attributes: 256,
        steps: 2_000_000_000,
    };
}

/// Parses a page and returns the number of nodes of its tree. Benchmarks compare the time of an
/// extraction with the time of this function.
#[doc(hidden)]
pub fn bare_tree(bytes: &[u8]) -> usize {
    arena::bare(&charset::decode(bytes, None).text, &Limits::USUAL)
}
