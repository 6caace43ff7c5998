//! Remembers the redirect chains of one host that were too long.
//!
//! The client abandons a chain after [`MAX_REDIRECTS`] redirects, or when the chain returns to one
//! of its URLs. The URLs of chains that were too long are remembered: a chain that reaches one of
//! them is abandoned at once. After [`SUSPECT_AFTER`] such chains, the client follows only
//! [`SUSPECT_MAX_REDIRECTS`] redirects per request to the host, until a chain ends with a response.
//! A host whose redirects never end thus causes few requests.

use std::collections::HashSet;

use url::Url;

use crate::client::MAX_REDIRECTS;
use crate::error::BadResponse;
use crate::request::RedirectHop;

/// Number of abandoned chains after which a host is suspect.
const SUSPECT_AFTER: u32 = 2;
/// Maximum number of redirects that the client follows on a suspect host.
const SUSPECT_MAX_REDIRECTS: usize = 2;
/// Maximum number of URLs that are remembered per host.
const MAX_URLS: usize = 1_000;

/// The abandoned redirect chains of a host.
#[derive(Debug, Default)]
pub(crate) struct RedirectHistory {
    urls: HashSet<Url>,
    n_chains: u32,
}

impl RedirectHistory {
    /// Returns why the client abandons a chain whose next URL is `next`; `None` if the client
    /// follows it.
    pub(crate) fn reason_to_stop(
        &mut self,
        hops: &[RedirectHop],
        next: &Url,
    ) -> Option<BadResponse> {
        let is_circle = hops.iter().any(|hop| hop.url == *next);
        let max_hops =
            if SUSPECT_AFTER <= self.n_chains { SUSPECT_MAX_REDIRECTS } else { MAX_REDIRECTS };
        if !is_circle && hops.len() <= max_hops && !self.urls.contains(next) {
            return None;
        }
        if is_circle {
            return Some(BadResponse::RedirectLoop);
        }
        self.n_chains = self.n_chains.saturating_add(1);
        // The first URL of the chain is not remembered, because the site may repair its redirect
        // before the next request.
        let chain_urls = hops.iter().skip(1).map(|hop| &hop.url).chain([next]);
        for url in chain_urls {
            if self.urls.len() < MAX_URLS {
                self.urls.insert(url.clone());
            }
        }
        Some(BadResponse::TooManyRedirects(max_hops))
    }
}
