//! What people read on a page, as typed blocks: HTML or Markdown in, an SCP
//! page and findings out.
//!
//! One parse yields everything any layer needs: the page with its blocks, what
//! plain text cannot hold ([`Rich`](rutter_page::Rich)), what the page says about itself
//! ([`Facts`]), its links, its `data-ai-*` annotations and its visible text.
//! Reading is a function of the bytes, the [`Options`] and a template version;
//! nothing else of the site enters.
//!
//! ```
//! use rutter_extract::{Options, html};
//! use rutter_page::{PageUrl, Timestamp};
//!
//! let url = PageUrl::parse("https://harbour.example/tides.html").unwrap();
//! let seen = Timestamp::parse("2026-06-01T00:00:00Z").unwrap();
//! let page = b"<html lang=en><title>Tides</title><nav><a href=/>Home</a></nav>
//!     <main><h1>Tides</h1><p>High water is at <b>noon</b>.</main>";
//! let extraction = html(page, &Options::new(url, seen));
//! assert_eq!(extraction.page.to_text(), "Tides\n\nHigh water is at noon.\n");
//! assert!(extraction.to_markdown().contains("High water is at **noon**."));
//! ```
//!
//! Refuses: to leave a page without text that has some, to cut text, to keep
//! an address that is not http(s), and to exceed its [`Limits`].

#![warn(clippy::disallowed_methods)]
#![expect(clippy::cast_precision_loss, reason = "shares of a page need no more")]

mod address;
mod arena;
mod blocks;
mod charset;
mod classify;
mod code;
mod date;
mod dom;
mod extraction;
mod facts;
mod guard;
mod handle;
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
mod phrase;
mod prune;
mod region;
pub mod rules;
pub mod safety;
mod selector;
mod space;
mod survey;
mod table;
mod tag;
mod tag_limit;
mod template;
mod time_role;
mod verdict;
mod whole;
mod wishes;
mod words;

pub use charset::{decoded, is_charset, is_text};
#[doc(hidden)]
pub use classify::dump::{Dump, dump};
pub use classify::features::{FEATURES, FEATURES_VERSION, Feature};
pub use classify::{PageType, model_version};
pub use extraction::{Control, Extraction, LinkBlocks, Options, Use, Why, facts, html};
pub use facts::{Alternate, Annotated, Facts, HeadLink, PageLink, Robots};
pub use honesty::honesty;
pub use markdown::markdown;
pub use merge::merged;
pub use navigation::{NavLink, navigation};
pub use selector::{Selector, SelectorError};
pub use template::{SAMPLE, Sketch, Templates, VersionId, sample_key};
pub use wishes::{Refusal, Wishes};

/// How much of a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Deepest nesting of elements; deeper tags are ignored, their text is not.
    pub depth: u32,
    /// Most elements and runs of text.
    pub nodes: usize,
    /// Most blocks of a page.
    pub blocks: usize,
    /// Longest block of JSON-LD in bytes.
    pub json: usize,
    /// Most attributes of a tag; those behind are ignored.
    pub attributes: usize,
    /// Most steps of building the tree: a token, an open element it may be
    /// compared with, an element, an attribute and a moved element are one each.
    /// The count depends on the page alone, not on the machine.
    pub steps: u64,
}

impl Limits {
    /// What real pages stay within.
    pub const USUAL: Self = Self {
        depth: 400,
        nodes: 8_000_000,
        blocks: 1000,
        json: 1 << 20,
        attributes: 256,
        steps: 2_000_000_000,
    };
}

/// Builds the bare tree and tells how many nodes it has: what extraction is
/// measured against.
#[doc(hidden)]
pub fn bare_tree(bytes: &[u8]) -> usize {
    arena::bare(&charset::decode(bytes, None).text, &Limits::USUAL)
}
