//! Redirects of one host that do not end.
//!
//! A chain is given up after [`MOST_HOPS`] hops or where it comes back to a URL
//! of its own. The URLs of a chain that did not end are remembered, and after
//! [`FEW`] such chains the host gets [`SHORT`] hops for each request, until a
//! chain ends well: a host whose redirects never end costs few requests.

use std::collections::HashSet;

use url::Url;

use crate::client::MOST_HOPS;
use crate::error::BadAnswer;
use crate::request::Hop;

/// Chains without an end after which a host is suspect.
const FEW: u32 = 2;
/// Hops that a suspect host gets.
const SHORT: usize = 2;
/// URLs that are remembered.
const MOST_URLS: usize = 1_000;

/// What is known of the redirects of a host.
#[derive(Debug, Default)]
pub(crate) struct Endless {
    urls: HashSet<Url>,
    n_chains: u32,
}

impl Endless {
    /// Why a chain is not followed to `next`; `None` where it is.
    pub(crate) fn judge(&mut self, hops: &[Hop], next: &Url) -> Option<BadAnswer> {
        let is_circle = hops.iter().any(|hop| hop.url == *next);
        let most = if FEW <= self.n_chains { SHORT } else { MOST_HOPS };
        if !is_circle && hops.len() <= most && !self.urls.contains(next) {
            return None;
        }
        if is_circle {
            return Some(BadAnswer::RedirectLoop);
        }
        self.n_chains = self.n_chains.saturating_add(1);
        // The first URL may have been mended by the next time.
        let on_the_way = hops.iter().skip(1).map(|hop| &hop.url).chain([next]);
        for url in on_the_way {
            if self.urls.len() < MOST_URLS {
                self.urls.insert(url.clone());
            }
        }
        Some(BadAnswer::TooManyRedirects(most))
    }
}
