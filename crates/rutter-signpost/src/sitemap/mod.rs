//! Sitemaps: entries in, entries out, in constant memory.
//!
//! [`Reader`] takes XML, the same compressed or in another encoding, and plain
//! lists of addresses. [`UrlsetWriter`] and [`write_index`] write what the
//! schema of sitemaps 0.9 asks for, in its order. Elements of other namespaces
//! right under the root travel as [`Foreign`]: what they mean is the business
//! of whoever knows their namespace.
//!
//! Refuses document types and entities. An entry beyond [`Limits`] is reported
//! and the rest of the file is read. Nothing a file points to is loaded.

mod address;
mod bytes;
mod judge;
mod kind;
mod machine;
mod names;
mod read;
mod time;
mod write;

use std::io;

use rutter_finding::Refusal;
use rutter_page::Timestamp;

pub use judge::{Judge, judge};
pub use kind::{is_sitemap, is_url_list};
pub use read::Reader;
pub use write::{Push, SchemaLocation, UrlsetWriter, write_index};

/// Namespace of sitemaps 0.9.
pub const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
/// Namespace of alternate links.
pub const XHTML: &str = "http://www.w3.org/1999/xhtml";
/// Most entries of one file.
pub const MOST_URLS: u64 = 50_000;
/// Most bytes of one file, uncompressed.
pub const MOST_BYTES: u64 = 52_428_800;

/// An element of another namespace right under the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Its namespace.
    pub namespace: String,
    /// Its name without prefix.
    pub name: String,
    /// Its attributes, namespace declarations not among them.
    pub attributes: Vec<(String, String)>,
    /// Its text, trimmed.
    pub text: String,
}

/// A page of the site.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entry {
    /// Its address.
    pub loc: String,
    /// When it changed last; `None` where unknown or unreadable.
    pub lastmod: Option<Timestamp>,
    /// Whether `lastmod` is a date without time (D91).
    pub is_day: bool,
    /// How often it changes.
    pub changefreq: Option<ChangeFreq>,
    /// How it ranks among the pages of its site, 0 to 1.
    pub priority: Option<f32>,
    /// The same page in other languages or forms: `xhtml:link`.
    pub alternates: Vec<AlternateLink>,
    /// Other children as XML that declares its own namespaces, kept for
    /// rewriting: images, videos, news, what we do not know.
    pub extensions: Vec<String>,
    /// Line of its start tag, counted from 1; 0 for an entry of our own.
    pub line: u64,
}

/// Another form of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlternateLink {
    /// Its language; empty where none is given.
    pub hreflang: String,
    /// Its address.
    pub href: String,
    /// Its media type.
    pub media_type: Option<String>,
}

/// How often a page changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeFreq {
    /// With every visit.
    Always,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
    /// Every year.
    Yearly,
    /// It is archived.
    Never,
}

impl ChangeFreq {
    const ALL: [Self; 7] = [
        Self::Always,
        Self::Hourly,
        Self::Daily,
        Self::Weekly,
        Self::Monthly,
        Self::Yearly,
        Self::Never,
    ];

    /// The word in a sitemap.
    pub fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
            Self::Yearly => "yearly",
            Self::Never => "never",
        }
    }

    /// Reads the word, in any case.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|freq| freq.name().eq_ignore_ascii_case(text))
    }
}

/// A sitemap that an index names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// Its address.
    pub loc: String,
    /// When it changed last.
    pub lastmod: Option<Timestamp>,
}

/// What a sitemap holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A page.
    Url(Entry),
    /// Another sitemap.
    Child(Child),
    /// Something of another namespace.
    Foreign(Foreign),
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A list of pages in XML.
    Urlset,
    /// A list of sitemaps.
    Index,
    /// A plain list of addresses.
    Text,
    /// An RSS or Atom feed, read for the pages it names.
    Feed,
}

/// Ceilings for reading a sitemap.
///
/// A part of an entry beyond a limit is left out and the entry is reported;
/// the rest of the file is read. Only `bytes` ends reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes after decompression.
    pub bytes: u64,
    /// Entries.
    pub urls: u64,
    /// Elements in elements.
    pub depth: usize,
    /// Characters of an address.
    pub loc: usize,
    /// Bytes of one text, tag or extension.
    pub text: usize,
    /// Attributes of one tag.
    pub attributes: usize,
    /// Alternate links of one entry.
    pub alternates: usize,
    /// Other children of one entry: images, videos, news, unknown elements.
    pub extensions: usize,
}

impl Limits {
    /// What sitemaps.org allows, and what no honest file needs more of.
    pub const USUAL: Self = Self {
        bytes: MOST_BYTES,
        urls: MOST_URLS,
        depth: 64,
        loc: 2048,
        text: 1 << 20,
        attributes: 256,
        alternates: 4096,
        extensions: 4096,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::USUAL
    }
}

/// Why a sitemap could not be read to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SitemapError {
    /// The bytes could not be had; says nothing about the sitemap.
    #[error("cannot read the sitemap")]
    Io(#[from] io::Error),
    /// The sitemap may not be used further than it was read.
    #[error(transparent)]
    Refused(#[from] Refusal),
}
