//! Reads, checks and writes sitemaps in constant memory.
//!
//! [`SitemapReader`] accepts XML in any encoding, feeds, plain URL lists, and
//! all of these compressed. [`UrlsetWriter`] and [`write_index`] write the
//! elements in the order of the sitemaps 0.9 schema. Elements of other
//! namespaces directly below the root are returned as [`ForeignElement`]
//! without interpretation.
//!
//! Document types and unknown entities are rejected. An entry that exceeds [`SitemapLimits`] is
//! reported, and the rest of the file is read. URLs in a sitemap are never fetched.

#![warn(missing_docs, clippy::disallowed_methods, clippy::indexing_slicing)]

mod byte_source;
mod check;
mod date;
mod detect;
mod namespaces;
mod parser;
mod reader;
pub mod rules;
mod url;
mod writer;

use std::io;

use rutter_finding::{Classify, ErrorClass, Refusal};
use rutter_page::Timestamp;

pub use check::{EntryChecker, check};
pub use detect::{is_sitemap, is_url_list};
pub use reader::SitemapReader;
pub use writer::{PushOutcome, SchemaLocation, UrlsetWriter, write_index};

/// The namespace of sitemaps 0.9.
pub const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
/// The namespace of alternate links.
pub const XHTML: &str = "http://www.w3.org/1999/xhtml";
/// The maximum number of entries in one file.
pub const MAX_URLS: u64 = 50_000;
/// The maximum number of bytes in one file, uncompressed.
pub const MAX_BYTES: u64 = 52_428_800;

/// An element of another namespace directly below the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignElement {
    /// The namespace URI of the element.
    pub namespace: String,
    /// The name of the element without prefix.
    pub name: String,
    /// The attributes of the element without namespace declarations.
    pub attributes: Vec<(String, String)>,
    /// The text of the element without white space at its ends.
    pub text: String,
}

/// A sitemap entry: one page of the site.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SitemapEntry {
    /// The URL of the page.
    pub loc: String,
    /// The modification time of the page; `None` if missing or invalid.
    pub lastmod: Option<Timestamp>,
    /// Whether `lastmod` is a date without a time of day (D91).
    pub is_day: bool,
    /// How often the page changes.
    pub changefreq: Option<ChangeFreq>,
    /// The priority of the page among the pages of the site, from 0 to 1.
    pub priority: Option<f32>,
    /// Alternate versions of the page (`xhtml:link`).
    pub alternates: Vec<AlternateLink>,
    /// Other child elements (images, videos, news, unknown elements) as XML
    /// fragments that declare the namespaces they use.
    pub extensions: Vec<String>,
    /// The line of the start tag, counted from 1; 0 for an entry that was not read from a file.
    pub line: u64,
}

/// An alternate version of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlternateLink {
    /// The language tag of the alternate version; empty if missing.
    pub hreflang: String,
    /// The URL of the alternate version.
    pub href: String,
    /// The media type of the alternate version; `None` if missing.
    pub media_type: Option<String>,
}

/// How often a page changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeFreq {
    /// The page changes each time it is accessed.
    Always,
    /// The page changes every hour.
    Hourly,
    /// The page changes every day.
    Daily,
    /// The page changes every week.
    Weekly,
    /// The page changes every month.
    Monthly,
    /// The page changes every year.
    Yearly,
    /// The page never changes, because it is archived.
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

    /// Returns the value as written in a sitemap.
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

    /// Parses a value of `changefreq` in upper or lower case.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|freq| freq.name().eq_ignore_ascii_case(text))
    }
}

/// A sitemap listed in a sitemap index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildSitemap {
    /// The URL of the sitemap.
    pub loc: String,
    /// The modification time of the sitemap; `None` if missing or invalid.
    pub lastmod: Option<Timestamp>,
}

/// One element of a sitemap.
#[derive(Debug, Clone, PartialEq)]
pub enum SitemapItem {
    /// An entry for a page.
    Url(SitemapEntry),
    /// An entry for another sitemap, in a sitemap index.
    Child(ChildSitemap),
    /// An element of another namespace.
    Foreign(ForeignElement),
}

/// The format of a sitemap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SitemapKind {
    /// An XML list of pages.
    Urlset,
    /// An XML list of sitemaps.
    Index,
    /// A text file with one URL per line.
    Text,
    /// An RSS or Atom feed.
    Feed,
}

/// Limits for reading a sitemap.
///
/// A part of an entry that exceeds a limit is dropped and reported, and the rest of the file is
/// read. The limit `bytes` ends reading; entries over the limit `urls` are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SitemapLimits {
    /// Maximum size of the file in bytes, after decompression.
    pub bytes: u64,
    /// Maximum number of entries.
    pub urls: u64,
    /// Maximum nesting depth of elements.
    pub depth: usize,
    /// Maximum number of characters of a URL.
    pub loc: usize,
    /// Maximum number of bytes of one text, tag or extension element.
    pub text: usize,
    /// Maximum number of attributes of one tag.
    pub attributes: usize,
    /// Maximum number of alternate links of one entry.
    pub alternates: usize,
    /// Maximum number of other child elements of one entry: images, videos, news, unknown elements.
    pub extensions: usize,
}

impl SitemapLimits {
    /// The limits of sitemaps.org, and generous limits for everything else.
    pub const USUAL: Self = Self {
        bytes: MAX_BYTES,
        urls: MAX_URLS,
        depth: 64,
        loc: 2048,
        text: 1 << 20,
        attributes: 256,
        alternates: 4096,
        extensions: 4096,
    };
}

impl Default for SitemapLimits {
    fn default() -> Self {
        Self::USUAL
    }
}

/// The reason why a sitemap could not be read completely.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SitemapError {
    /// Reading the input failed; the sitemap itself may be valid.
    #[error("cannot read the sitemap")]
    Io(#[from] io::Error),
    /// The sitemap is invalid from this point on.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Classify for SitemapError {
    fn class(&self) -> ErrorClass {
        match self {
            Self::Io(_) => ErrorClass::Internal,
            Self::Refused(refusal) => refusal.class(),
        }
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
