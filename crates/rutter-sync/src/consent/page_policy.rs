//! Decides which pages may be stored with content, before the pages are read: by host,
//! robots.txt and its `Content-Signal` lines, ARC entries and scope.
//!
//! A page that is withheld keeps its row and digest, so that the state of its section can
//! equal the state that the publisher claims (D95).

use std::collections::BTreeSet;

use rutter_fetch::{RobotsRules, Url};
use rutter_page::PageUrl;
use rutter_robots::RobotsTxt;
use rutter_store::{PublisherId, QueryError, Store, WithheldReason};

use crate::consent::scope::Scope;
use crate::consent::{RobotsSignals, UsageStatement};
use crate::limits::BATCH_ROWS;

/// The rules that decide which pages are stored with content. They apply to crawled pages
/// and to pages of collections.
#[derive(Debug, Clone, Default)]
pub(crate) struct PagePolicy {
    /// Hosts of the site, with ports as in URLs.
    hosts: BTreeSet<String>,
    robots: Option<(RobotsTxt, String)>,
    signals: RobotsSignals,
    /// Keys of the pages whose ARC entry does not give consent.
    closed: BTreeSet<String>,
    scope: Scope,
}

impl PagePolicy {
    pub(crate) fn new(origin: &str, aliases: &[String]) -> Self {
        let hosts = aliases.iter().map(String::as_str).chain([origin]).map(host_of);
        Self { hosts: hosts.map(str::to_owned).collect(), ..Self::default() }
    }

    /// Sets the scope of the sync.
    pub(crate) fn set_scope(&mut self, scope: Scope) {
        self.scope = scope;
    }

    /// Returns the scope of the sync.
    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Returns the hosts of the site, with ports as in URLs.
    pub(crate) fn hosts(&self) -> &BTreeSet<String> {
        &self.hosts
    }

    /// Sets the rules of robots.txt. If robots.txt could not be fetched, no rule applies to
    /// stored pages; in that case the client already refuses every request.
    pub(crate) fn set_robots(&mut self, rules: &RobotsRules, token: &str) {
        self.robots = match rules {
            RobotsRules::Rules(robots) => Some((robots.clone(), token.to_owned())),
            _ => None,
        };
    }

    /// Sets the `Content-Signal` lines of robots.txt. They concern the use of pages and not
    /// requests, so they apply to pages of collections even if the rules of robots.txt are
    /// ignored for these pages.
    pub(crate) fn set_signals(&mut self, signals: RobotsSignals) {
        self.signals = signals;
    }

    /// Returns the statements of `Content-Signal` lines in robots.txt about a page.
    pub(crate) fn signals(&self, key: &str) -> Vec<UsageStatement> {
        self.signals.about(target_of(key))
    }

    /// Loads from the replica the keys of the pages whose ARC entry does not give consent.
    pub(crate) fn load_arc(
        &mut self,
        store: &dyn Store,
        publisher: PublisherId,
    ) -> Result<(), QueryError> {
        self.closed.clear();
        let mut after: Option<String> = None;
        loop {
            let keys = store.arc_forbidden(publisher, after.as_deref(), BATCH_ROWS)?;
            let Some(last) = keys.last() else { return Ok(()) };
            after = Some(last.clone());
            self.closed.extend(keys);
        }
    }

    /// Returns the keys of the pages whose ARC entry does not give consent.
    pub(crate) fn closed(&self) -> impl Iterator<Item = &str> {
        self.closed.iter().map(String::as_str)
    }

    /// Returns whether a URL belongs to the site (D88).
    pub(crate) fn is_site_url(&self, key: &str) -> bool {
        self.hosts.contains(host_of(key))
    }

    /// Returns the reason why a page may not be stored with content; `None` if it may.
    pub(crate) fn judge(&self, key: &str) -> Option<WithheldReason> {
        if !self.is_site_url(key) {
            return Some(WithheldReason::Foreign);
        }
        if self.closed.contains(key) || self.signals.withholds(target_of(key)) {
            return Some(WithheldReason::Consent);
        }
        let is_forbidden =
            |(robots, token): &(RobotsTxt, String)| !robots.is_allowed(token, target_of(key));
        if self.robots.as_ref().is_some_and(is_forbidden) {
            return Some(WithheldReason::Robots);
        }
        (!self.scope.has_url(key)).then_some(WithheldReason::Scope)
    }

    /// Returns the reason why a page in this language may not be stored with content;
    /// `None` if it may.
    pub(crate) fn withheld_reason_of(&self, key: &str, language: &str) -> Option<WithheldReason> {
        let is_inside = self.scope.has_language(language);
        self.judge(key).or((!is_inside).then_some(WithheldReason::Scope))
    }
}

/// Returns host and port of a URL.
fn host_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Returns path and query of a URL.
pub(crate) fn target_of(key: &str) -> &str {
    let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
    rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/")
}

/// Returns scheme, host and port of a site; `None` if it is not an http or https URL.
pub(crate) fn origin_of(site: &Url) -> Option<String> {
    let host = site.host_str()?;
    let scheme = site.scheme();
    let is_web = matches!(scheme, "http" | "https") && !host.is_empty();
    let port = site.port().map(|port| format!(":{port}")).unwrap_or_default();
    is_web.then(|| format!("{scheme}://{host}{port}"))
}

/// Returns the page key of a URL (D30); `None` if the text is not a valid URL of a page.
pub(crate) fn key_of(address: &str) -> Option<String> {
    PageUrl::parse(address).ok().map(|url| url.key().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D88 D93 SCP-200
    fn stores_content_of_own_open_pages_only() {
        let aliases = ["https://www.h.example".to_owned()];
        let mut page_policy = PagePolicy::new("https://h.example", &aliases);
        let robots = RobotsTxt::parse(b"user-agent: rutter\ndisallow: /private");
        page_policy.set_robots(&RobotsRules::Rules(robots), "Rutter");
        page_policy.closed.insert("https://h.example/closed".to_owned());
        for (key, wanted) in [
            ("https://h.example/", None),
            ("https://www.h.example/a?b=c", None),
            ("https://h.example/private/x", Some(WithheldReason::Robots)),
            ("https://h.example/closed", Some(WithheldReason::Consent)),
            ("https://h.example:8443/", Some(WithheldReason::Foreign)),
            ("https://h.example.evil.example/", Some(WithheldReason::Foreign)),
            ("https://other.example/", Some(WithheldReason::Foreign)),
        ] {
            assert_eq!(page_policy.judge(key), wanted, "{key}");
        }
        page_policy.set_signals(RobotsSignals::of_robots(
            b"user-agent: *\ncontent-signal: /a ai-input=no",
            "Rutter",
        ));
        assert_eq!(page_policy.judge("https://www.h.example/a?b=c"), Some(WithheldReason::Consent));
        assert_eq!(page_policy.judge("https://h.example/"), None);
        // A robots.txt that could not be fetched withholds nothing.
        let reason = rutter_fetch::RobotsReason::Unreachable("status 500".into());
        page_policy.set_robots(&RobotsRules::DisallowAll(reason), "Rutter");
        assert_eq!(page_policy.judge("https://h.example/private/x"), None);
    }
}
