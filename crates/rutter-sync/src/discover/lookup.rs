//! What discovery requested, and what came of it.

use rutter_fetch::Url;
use rutter_finding::Finding;
use serde::Serialize;

use crate::discover::cache::DiscoveryCache;
use crate::discover::offer::SiteOffer;
use crate::discover::parsed_file::DiscoverySource;

/// Result of a discovery run for one site.
#[derive(Debug, Clone)]
pub struct Discovery {
    /// URL of the home page: scheme, host and port of the site.
    pub site: Url,
    /// All URLs that the run looked up, in order.
    pub lookups: Vec<UrlLookup>,
    /// What the site offers to machines.
    pub offer: SiteOffer,
    /// Findings, each with the URL of the file that it concerns.
    pub findings: Vec<(String, Finding)>,
    /// Cache for the next discovery run.
    pub cache: DiscoveryCache,
    /// Number of bytes of all response bodies, as transferred.
    pub wire_bytes: u64,
    /// Number of child sitemaps that were not read because an earlier one has collections.
    pub n_unread: u64,
}

impl Discovery {
    /// Returns why a policy refused a request; `None` if no request was refused. The reason
    /// for the home page takes precedence over the reasons for other URLs.
    pub fn refusal(&self) -> Option<&str> {
        let refused = self.lookups.iter().filter_map(|lookup| match &lookup.outcome {
            LookupOutcome::Refused(why) => Some((lookup.url != self.site.as_str(), why.as_str())),
            _ => None,
        });
        refused.min_by_key(|(is_other, _)| *is_other).map(|(_, why)| why)
    }
}

/// One URL that discovery looked up, by a request or in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UrlLookup {
    /// The URL; secrets in it are redacted.
    pub url: String,
    /// How the URL was discovered.
    #[serde(rename = "by")]
    pub source: DiscoverySource,
    /// What discovery found at the URL.
    #[serde(flatten)]
    pub outcome: LookupOutcome,
    /// Status code of the response, if there was one.
    #[serde(skip)]
    pub status: Option<u16>,
}

/// What discovery found at one URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", content = "detail", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LookupOutcome {
    /// The URL has a file of the type that this name describes.
    Found(&'static str),
    /// The file, with this type, has not changed since the last run.
    Unchanged(&'static str),
    /// The file, with this type, is taken from the cache without a request.
    #[serde(rename = "remembered")]
    Cached(&'static str),
    /// The file does not exist: the server answered with this status code.
    Absent(u16),
    /// The response is not a file of the expected type; the text describes its content.
    Other(String),
    /// A policy refused the request, for the reason in the text.
    Refused(String),
    /// The request failed, for the reason in the text.
    Failed(String),
}

/// How often discovery requests a URL.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckInterval {
    /// The URL is requested in every run: an announced file, or the default sitemap.
    Always,
    /// The URL is requested at most once a week: the home page, or a default path.
    Weekly,
}
