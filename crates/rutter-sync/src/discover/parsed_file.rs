//! Parsed content of the files that discovery reads, as values that can be cached.
//!
//! A [`ParsedFile`] holds what later steps need: links, adverts, counts. It does not hold
//! the entries of sitemaps, which are passed to the [`PageSink`](crate::discover::PageSink).

use rutter_page::Timestamp;
use serde::{Deserialize, Serialize};

/// How a file was discovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DiscoverySource {
    /// The URL was given by the caller.
    Given,
    /// A `Sitemap` line of robots.txt announces the file.
    SitemapLine,
    /// An `Allow` line of robots.txt names the file (SPX-057).
    AllowLine,
    /// A sitemap index lists the file.
    SitemapIndex,
    /// An `xhtml:link` in a sitemap points to the file (SPX-058).
    SitemapLink,
    /// A `link` element in the head of the home page points to the file (SPX-060).
    HeadLink,
    /// JSON-LD on the home page points to the file (D53).
    JsonLd,
    /// The text of llms.txt mentions the file (SPX-062).
    LlmsTxt,
    /// The file is at the default path for its type.
    #[serde(rename = "usual-place")]
    DefaultPath,
    /// The file is at the default path below `/.well-known/`.
    WellKnown,
}

impl DiscoverySource {
    /// Returns a description of the source for people.
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

/// Parsed content of one file of a site.
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
    /// Number of URLs that the sitemap lists.
    pub n_urls: u64,
    /// URLs of child sitemaps, up to the limits of a run.
    pub children: Vec<String>,
    /// Number of all child sitemaps, including those above the limits.
    pub n_children: u64,
    /// Whether a part of the sitemap is missing: the file is truncated or exceeds a limit.
    pub is_truncated: bool,
    /// The `scp:` elements: name, attributes, text.
    pub adverts: Vec<ParsedAdvert>,
    /// URLs of the SPXI index in `xhtml:link` elements of the entries.
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
    /// Crawl rate, as the sitemap states it.
    pub crawl_rate: Option<String>,
    /// Contact of the publisher.
    pub contact: Option<String>,
    /// URL template of the daily deltas, with `YYYY-MM-DD` as placeholder.
    pub deltas: Option<String>,
    /// First and last day for which a daily delta exists.
    pub days: Option<(String, String)>,
    /// Number of entries.
    pub pages: u64,
    /// Number of entries that allow AI systems to use their page, without a login.
    pub open: u64,
    /// Number of entries with an ARC snapshot.
    pub snapshots: u64,
}

impl ParsedArc {
    /// Adds an entry to the counts.
    pub fn count(&mut self, entry: &rutter_arc::ArcEntry<'_>) {
        self.open += u64::from(entry.consent() == rutter_arc::Consent::Given);
        self.snapshots += u64::from(entry.ai_snapshot.is_some());
    }

    /// Adds the metadata and the number of entries of an ARC sitemap that was read to its
    /// end.
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
    /// Absolute URLs of the links in the file, up to the limit.
    pub links: Vec<String>,
    /// URLs of the SPXI index that the text mentions.
    pub spxi: Vec<String>,
}

/// Announcements of machine-readable files on the home page.
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
    /// URL of the Markdown version of the home page.
    pub markdown: Option<String>,
}

/// Returns the name of the type of a parsed file, for people.
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
