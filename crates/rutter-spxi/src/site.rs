//! Evidence about a site, for checking its index.
//!
//! The caller collects the evidence from files or from the network. Evidence that was not collected
//! is distinguished from resources that do not exist.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::index::ModifiedDate;
use crate::marker::MarkerStatus;

/// User agents for which the specification requires robots.txt rules (VI).
pub const AGENTS: [&str; 7] = [
    "GPTBot",
    "ChatGPT-User",
    "Claude-Web",
    "PerplexityBot",
    "CCBot",
    "FacebookBot",
    "Google-Extended",
];

/// Result of looking up a resource (D65).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ResourceLookup<T> {
    /// No lookup was made.
    #[default]
    NotChecked,
    /// The resource is not available; holds the reason.
    Unreachable(String),
    /// The resource was found.
    Found(T),
}

/// Known facts about a site.
#[derive(Clone, Default)]
#[expect(missing_debug_implementations, reason = "it holds a trait object")]
pub struct SiteEvidence<'s> {
    /// All entries of sitemap.xml and its child sitemaps.
    pub sitemap: ResourceLookup<Vec<SitemapEntry>>,
    /// Namespaces of unknown elements in the sitemap, with their line numbers.
    pub foreign: Vec<(u64, String)>,
    /// Statements of robots.txt about the index.
    pub robots: ResourceLookup<RobotsSignals>,
    /// Content of llms.txt.
    pub llms: ResourceLookup<String>,
    /// Source of facts about pages; `None` if pages are not available.
    pub pages: Option<&'s dyn PageLookup>,
}

/// An entry of a sitemap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SitemapEntry {
    /// URL of the page.
    pub url: String,
    /// Time of the last change of the page.
    pub modified: Option<ModifiedDate>,
    /// The `xhtml:link` elements of the entry.
    pub links: Vec<SitemapLink>,
    /// Line number of the entry in the sitemap.
    pub line: u64,
}

/// A link of a sitemap to an alternate form of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SitemapLink {
    /// `hreflang`: language of the alternate form; `x-spxi` for an index.
    pub hreflang: String,
    /// `type`: media type of the alternate form.
    pub media_type: Option<String>,
    /// `href`: URL of the alternate form.
    pub href: String,
}

/// Statements of robots.txt about the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RobotsSignals {
    /// URLs of the sitemaps that robots.txt lists.
    pub sitemaps: Vec<String>,
    /// Statements for each of [`AGENTS`].
    pub agents: Vec<AgentSignals>,
}

/// Statements of robots.txt for one user agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are answers to four questions")]
pub struct AgentSignals {
    /// Name of the user agent.
    pub name: String,
    /// Whether the user agent may fetch the index.
    pub may_fetch: bool,
    /// Whether an Allow line names the index.
    pub names_index: bool,
    /// Whether an Allow line names packets in folders.
    pub names_packets: bool,
    /// Whether an Allow line names the packet of the home page.
    pub names_home_packet: bool,
}

/// Looks up pages by URL without fragment.
pub trait PageLookup {
    /// Looks up facts about a page.
    fn look(&self, url: &str) -> ResourceLookup<PageFacts>;

    /// Returns the status of each marker on a page; `None` if the page was not checked.
    fn markers(&self, url: &str, markers: &[String]) -> Option<Vec<MarkerStatus>>;

    /// Returns every known page and whether its head links to the index; `None` if pages were not
    /// read.
    fn head_links(&self) -> Option<Vec<(String, bool)>>;
}

/// Facts about an existing page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageFacts {
    /// Target URL if the page redirects.
    pub moved_to: Option<String>,
    /// Ids of elements on the page, at least those that URLs of entities use; `None` if not
    /// collected.
    pub fragments: Option<Arc<BTreeSet<String>>>,
}
