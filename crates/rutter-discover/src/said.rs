//! What each file said: plain values that can be kept from visit to visit.

use rutter_page::Timestamp;
use serde::{Deserialize, Serialize};

/// How a place became known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Clue {
    /// The site itself was named.
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
    /// The place where such files usually lie.
    UsualPlace,
    /// The same below `/.well-known/`.
    WellKnown,
}

impl Clue {
    /// In a few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "asked for",
            Self::SitemapLine => "Sitemap line of robots.txt",
            Self::AllowLine => "Allow line of robots.txt",
            Self::SitemapIndex => "sitemap index",
            Self::SitemapLink => "link in a sitemap",
            Self::HeadLink => "link in the head of the home page",
            Self::JsonLd => "JSON-LD on the home page",
            Self::LlmsTxt => "llms.txt",
            Self::UsualPlace => "usual place",
            Self::WellKnown => "well-known place",
        }
    }
}

/// What one file said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Said {
    /// A sitemap or an index of sitemaps.
    Sitemap(SitemapSaid),
    /// An ARC sitemap.
    Arc(ArcSaid),
    /// A pointer to an ARC sitemap.
    ArcPointer {
        /// Where it leads.
        url: String,
    },
    /// An ARC policy.
    Policy,
    /// An SPXI index.
    Spxi,
    /// llms.txt.
    Llms(LlmsSaid),
    /// The home page.
    Home(HomeSaid),
}

/// What a sitemap said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SitemapSaid {
    /// Its entries.
    pub n_urls: u64,
    /// The sitemaps it names, as far as they were kept.
    pub children: Vec<String>,
    /// How many it names.
    pub n_children: u64,
    /// Whether it ended early.
    pub is_truncated: bool,
    /// Its `scp:` elements: name, attributes, text.
    pub adverts: Vec<AdvertSaid>,
    /// Where its entries say that the SPXI index is.
    pub spxi: Vec<String>,
}

/// One `scp:` element: its name, its attributes, its text.
pub type AdvertSaid = (String, Vec<(String, String)>, String);

/// What an ARC sitemap said beside its pages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ArcSaid {
    /// Version of the format.
    pub version: Option<String>,
    /// When it was made.
    pub generated: Option<Timestamp>,
    /// How often crawlers may come, as written.
    pub crawl_rate: Option<String>,
    /// Whom to ask.
    pub contact: Option<String>,
    /// Address of the changes of a day, with `YYYY-MM-DD` in it.
    pub deltas: Option<String>,
    /// First and last day of these.
    pub days: Option<(String, String)>,
    /// Its entries.
    pub pages: u64,
    /// Those that may be indexed without a login.
    pub open: u64,
    /// Those with a snapshot.
    pub snapshots: u64,
}

impl ArcSaid {
    /// Counts an entry.
    pub fn count(&mut self, entry: &rutter_arc::Entry<'_>) {
        self.open += u64::from(entry.consent() == rutter_arc::Consent::Given);
        self.snapshots += u64::from(entry.ai_snapshot.is_some());
    }

    /// Takes over what the whole document says, once it was read to its end.
    #[must_use]
    pub fn finish(self, receipt: rutter_arc::Receipt) -> Self {
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

/// What llms.txt said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LlmsSaid {
    /// Its title.
    pub title: Option<String>,
    /// Its links, made absolute, as far as they were kept.
    pub links: Vec<String>,
    /// Where it says that the SPXI index is.
    pub spxi: Vec<String>,
}

/// What the home page said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HomeSaid {
    /// Links to pages of the same host.
    pub n_links: u64,
    /// Where its head says that the SPXI index is.
    pub spxi: Vec<String>,
    /// Where its head says that llms.txt is.
    pub llms: Vec<String>,
    /// Where its head says that sitemaps are.
    pub sitemaps: Vec<String>,
    /// Where its JSON-LD says that the ARC sitemap is.
    pub arc: Vec<String>,
    /// Its twin in Markdown.
    pub markdown: Option<String>,
}

/// What kind of file said something.
pub(crate) fn kind_of(said: &Said) -> &'static str {
    match said {
        Said::Sitemap(said) if 0 < said.n_children => "sitemap index",
        Said::Sitemap(_) => "sitemap",
        Said::Arc(_) => "ARC sitemap",
        Said::ArcPointer { .. } => "pointer to an ARC sitemap",
        Said::Policy => "ARC policy",
        Said::Spxi => "SPXI index",
        Said::Llms(_) => "llms.txt",
        Said::Home(_) => "home page",
    }
}
