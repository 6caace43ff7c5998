//! Parsed content of the files that discovery reads, as values that can be cached.
//!
//! Each [`ParsedFile`] holds what later steps need: links, adverts, counts. The entries of
//! sitemaps go to the [`PageSink`](crate::PageSink) instead.

use rutter_page::Timestamp;
use serde::{Deserialize, Serialize};

/// How a file was discovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DiscoverySource {
    /// The URL was given by the caller.
    Given,
    /// A `Sitemap` line of robots.txt.
    SitemapLine,
    /// An `Allow` line of robots.txt (SPX-057).
    AllowLine,
    /// A sitemap index.
    SitemapIndex,
    /// An `xhtml:link` of a sitemap (SPX-058).
    SitemapLink,
    /// A `link` in the head of the home page (SPX-060).
    HeadLink,
    /// JSON-LD on the home page (D53).
    JsonLd,
    /// A mention in llms.txt (SPX-062).
    LlmsTxt,
    /// The default path of such a file.
    #[serde(rename = "usual-place")]
    DefaultPath,
    /// The default path below `/.well-known/`.
    WellKnown,
}

impl DiscoverySource {
    /// Returns a description for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given URL",
            Self::SitemapLine => "Sitemap line of robots.txt",
            Self::AllowLine => "Allow line of robots.txt",
            Self::SitemapIndex => "sitemap index",
            Self::SitemapLink => "link in a sitemap",
            Self::HeadLink => "link in the head of the home page",
            Self::JsonLd => "JSON-LD on the home page",
            Self::LlmsTxt => "llms.txt",
            Self::DefaultPath => "default path",
            Self::WellKnown => "well-known path",
        }
    }
}

/// Content of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ParsedFile {
    /// A sitemap or an index of sitemaps.
    Sitemap(ParsedSitemap),
    /// An ARC sitemap.
    Arc(ParsedArc),
    /// A pointer to an ARC sitemap.
    ArcPointer {
        /// URL of the ARC sitemap.
        url: String,
    },
    /// An ARC policy.
    Policy,
    /// An SPXI index.
    Spxi,
    /// llms.txt.
    Llms(ParsedLlms),
    /// The home page.
    Home(ParsedHomePage),
}

/// Content of a sitemap.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ParsedSitemap {
    /// Number of entries.
    pub n_urls: u64,
    /// URLs of child sitemaps, up to the limit.
    pub children: Vec<String>,
    /// Number of all child sitemaps.
    pub n_children: u64,
    /// Whether the file is truncated or exceeds a limit.
    pub is_truncated: bool,
    /// The `scp:` elements: name, attributes, text.
    pub adverts: Vec<ParsedAdvert>,
    /// URLs of the SPXI index in links of its entries.
    pub spxi: Vec<String>,
}

/// An `scp:` element: name, attributes, text.
pub type ParsedAdvert = (String, Vec<(String, String)>, String);

/// Metadata and counts of an ARC sitemap.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ParsedArc {
    /// Format version.
    pub version: Option<String>,
    /// When the file was generated.
    pub generated: Option<Timestamp>,
    /// Crawl rate, as written.
    pub crawl_rate: Option<String>,
    /// Contact of the publisher.
    pub contact: Option<String>,
    /// URL template of the daily deltas, with `YYYY-MM-DD` as placeholder.
    pub deltas: Option<String>,
    /// First and last day with a delta.
    pub days: Option<(String, String)>,
    /// Number of entries.
    pub pages: u64,
    /// Entries that may be indexed without a login.
    pub open: u64,
    /// Entries with a snapshot.
    pub snapshots: u64,
}

impl ParsedArc {
    /// Counts an entry.
    pub fn count(&mut self, entry: &rutter_arc::ArcEntry<'_>) {
        self.open += u64::from(entry.consent() == rutter_arc::Consent::Given);
        self.snapshots += u64::from(entry.ai_snapshot.is_some());
    }

    /// Adds the metadata of the document after it was read to its end.
    #[must_use]
    pub fn finish(self, receipt: rutter_arc::ArcReceipt) -> Self {
        let head = receipt.head;
        Self {
            pages: receipt.pages,
            version: head.version,
            generated: head.generated_at,
            crawl_rate: head.crawl_rate,
            contact: head.contact,
            days: head.deltas.as_ref().map(|deltas| (deltas.from.clone(), deltas.to.clone())),
            deltas: head.deltas.map(|deltas| deltas.template),
            open: self.open,
            snapshots: self.snapshots,
        }
    }
}

/// Content of llms.txt.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ParsedLlms {
    /// Title of the file.
    pub title: Option<String>,
    /// Absolute URLs of its links, up to the limit.
    pub links: Vec<String>,
    /// URLs of the SPXI index.
    pub spxi: Vec<String>,
}

/// Announcements of the home page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ParsedHomePage {
    /// Number of links to pages of the same host.
    pub n_links: u64,
    /// URLs of the SPXI index in head links.
    pub spxi: Vec<String>,
    /// URLs of llms.txt in head links.
    pub llms: Vec<String>,
    /// URLs of sitemaps in head links.
    pub sitemaps: Vec<String>,
    /// URLs of the ARC sitemap in JSON-LD.
    pub arc: Vec<String>,
    /// URL of its Markdown version.
    pub markdown: Option<String>,
}

/// Returns the name of the file type, for people.
pub(crate) fn kind_name(parsed: &ParsedFile) -> &'static str {
    match parsed {
        ParsedFile::Sitemap(parsed) if 0 < parsed.n_children => "sitemap index",
        ParsedFile::Sitemap(_) => "sitemap",
        ParsedFile::Arc(_) => "ARC sitemap",
        ParsedFile::ArcPointer { .. } => "pointer to an ARC sitemap",
        ParsedFile::Policy => "ARC policy",
        ParsedFile::Spxi => "SPXI index",
        ParsedFile::Llms(_) => "llms.txt",
        ParsedFile::Home(_) => "home page",
    }
}
