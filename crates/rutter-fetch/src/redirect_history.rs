//! Remembers redirect chains of one host that do not end.
//!
//! A chain is abandoned after [`MAX_REDIRECTS`] redirects or when it returns to one of its URLs.
//! The URLs of abandoned chains are remembered. After [`SUSPECT_AFTER`] such chains, the host gets
//! [`SUSPECT_MAX_REDIRECTS`] redirects per request until a chain ends: a host whose redirects never
//! end costs few requests.

use std::collections::HashSet;

use url::Url;

use crate::client::MAX_REDIRECTS;
use crate::error::BadResponse;
use crate::request::RedirectHop;

/// Abandoned chains after which a host is suspect.
const SUSPECT_AFTER: u32 = 2;
/// Redirects followed on a suspect host.
const SUSPECT_MAX_REDIRECTS: usize = 2;
/// Most URLs remembered.
const MAX_URLS: usize = 1_000;

/// The abandoned redirect chains of a host.
#[derive(Debug, Default)]
pub(crate) struct RedirectHistory {
    urls: HashSet<Url>,
    n_chains: u32,
}

impl RedirectHistory {
    /// Returns why a chain is not followed to `next`; `None` if it is.
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
        // The first URL is not remembered: its redirect may be repaired by the next request.
        let chain_urls = hops.iter().skip(1).map(|hop| &hop.url).chain([next]);
        for url in chain_urls {
            if self.urls.len() < MAX_URLS {
                self.urls.insert(url.clone());
            }
        }
        Some(BadResponse::TooManyRedirects(max_hops))
    }
}
