//! What a judge may know of a site beside its index.
//!
//! The caller fills it from files or from the network; a judge only compares.
//! What was not looked at is told apart from what was looked for and not found.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::index::Modified;
use crate::marker::MarkerStatus;

/// The agents that the specification names to robots.txt (VI).
pub const AGENTS: [&str; 7] = [
    "GPTBot",
    "ChatGPT-User",
    "Claude-Web",
    "PerplexityBot",
    "CCBot",
    "FacebookBot",
    "Google-Extended",
];

/// What came of looking for something (D65).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Look<T> {
    /// Nobody looked.
    #[default]
    NotChecked,
    /// It is not there, for this reason.
    Unreachable(String),
    /// It is there.
    Found(T),
}

/// A site as far as it is known.
#[derive(Clone, Default)]
#[expect(missing_debug_implementations, reason = "it holds whatever finds pages")]
pub struct Site<'s> {
    /// Every entry of sitemap.xml, its children included.
    pub sitemap: Look<Vec<Listed>>,
    /// Namespaces of elements in it that sitemaps do not know, with their lines.
    pub foreign: Vec<(u64, String)>,
    /// What robots.txt says about the index.
    pub robots: Look<Signals>,
    /// The text of llms.txt.
    pub llms: Look<String>,
    /// The pages.
    pub pages: Option<&'s dyn Pages>,
}

/// An entry of a sitemap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// Its address.
    pub url: String,
    /// When the page changed.
    pub modified: Option<Modified>,
    /// Its `xhtml:link` elements.
    pub links: Vec<Link>,
    /// Its line.
    pub line: u64,
}

/// A link of a sitemap to another form of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Link {
    /// `hreflang`
    pub hreflang: String,
    /// `type`
    pub media_type: Option<String>,
    /// `href`
    pub href: String,
}

/// What robots.txt says about the index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signals {
    /// The sitemaps it names.
    pub sitemaps: Vec<String>,
    /// What it says to each of [`AGENTS`].
    pub agents: Vec<AgentSignals>,
}

/// What robots.txt says to an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they are answers to four questions")]
pub struct AgentSignals {
    /// Its name.
    pub name: String,
    /// Whether it may fetch the index.
    pub may_fetch: bool,
    /// Whether an Allow line names the index.
    pub names_index: bool,
    /// Whether an Allow line names packets in folders.
    pub names_packets: bool,
    /// Whether an Allow line names the packet of the home page.
    pub names_home_packet: bool,
}

/// Finds pages; addresses come without fragment.
pub trait Pages {
    /// Looks for a page.
    fn look(&self, url: &str) -> Look<PageFacts>;

    /// Where each marker stands on a page; `None` where nobody looked.
    fn markers(&self, url: &str, markers: &[String]) -> Option<Vec<MarkerStatus>>;

    /// Every page that is known, and whether its head links to the index;
    /// `None` where nobody looked.
    fn head_links(&self) -> Option<Vec<(String, bool)>>;
}

/// What is known of a page that is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageFacts {
    /// Where its address led to, if elsewhere.
    pub moved_to: Option<String>,
    /// The names that elements have, at least those that entities of the page
    /// ask for; `None` where nobody looked.
    pub fragments: Option<Arc<BTreeSet<String>>>,
}
