//! Which pages may keep their words, by what is said before they are read:
//! hosts, robots.txt with its signals, ARC.
//!
//! A page that may not keeps its row and its digest, so that the section's
//! state can be the publisher's (D95).

use std::collections::BTreeSet;

use rutter_fetch::{RobotsRules, Url};
use rutter_page::PageUrl;
use rutter_signpost::robots::Robots;
use rutter_store::{PublisherId, QueryError, Store, Withheld};

use crate::consent::{Signals, Statement};
use crate::scope::Scope;
use crate::visit::PIECE;

/// The rules for pages, read or delivered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gate {
    /// Hosts with ports, as they stand in addresses.
    hosts: BTreeSet<String>,
    robots: Option<(Robots, String)>,
    signals: Signals,
    /// Pages that ARC closes.
    closed: BTreeSet<String>,
    scope: Scope,
}

impl Gate {
    pub(crate) fn new(origin: &str, aliases: &[String]) -> Self {
        let hosts = aliases.iter().map(String::as_str).chain([origin]).map(host_of);
        Self { hosts: hosts.map(str::to_owned).collect(), ..Self::default() }
    }

    /// Limits the pages that are wanted.
    pub(crate) fn limit(&mut self, scope: Scope) {
        self.scope = scope;
    }

    /// Which pages are wanted.
    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Hosts with ports that belong to the site.
    pub(crate) fn hosts(&self) -> &BTreeSet<String> {
        &self.hosts
    }

    /// Takes robots.txt in, where it has rules. One that could not be had
    /// forbids requests, and says nothing about what is here.
    pub(crate) fn obey(&mut self, rules: &RobotsRules, token: &str) {
        self.robots = match rules {
            RobotsRules::Rules(robots) => Some((robots.clone(), token.to_owned())),
            _ => None,
        };
    }

    /// Takes in the signals of robots.txt. They speak of use, not of requests,
    /// so they hold for delivered pages too, whoever ignores the rules.
    pub(crate) fn heed(&mut self, signals: Signals) {
        self.signals = signals;
    }

    /// What robots.txt signals about a page.
    pub(crate) fn signals(&self, key: &str) -> Vec<Statement> {
        self.signals.about(target_of(key))
    }

    /// Takes in what ARC says, as it lies in the replica.
    pub(crate) fn ask_arc(
        &mut self,
        store: &dyn Store,
        publisher: PublisherId,
    ) -> Result<(), QueryError> {
        self.closed.clear();
        let mut after: Option<String> = None;
        loop {
            let keys = store.arc_closed(publisher, after.as_deref(), PIECE)?;
            let Some(last) = keys.last() else { return Ok(()) };
            after = Some(last.clone());
            self.closed.extend(keys);
        }
    }

    /// Pages that ARC closes.
    pub(crate) fn closed(&self) -> impl Iterator<Item = &str> {
        self.closed.iter().map(String::as_str)
    }

    /// Whether an address belongs to the site (D88).
    pub(crate) fn is_ours(&self, key: &str) -> bool {
        self.hosts.contains(host_of(key))
    }

    /// Why a page may not keep its words.
    pub(crate) fn judge(&self, key: &str) -> Option<Withheld> {
        if !self.is_ours(key) {
            return Some(Withheld::Foreign);
        }
        if self.closed.contains(key) || self.signals.withholds(target_of(key)) {
            return Some(Withheld::Consent);
        }
        let is_forbidden =
            |(robots, token): &(Robots, String)| !robots.is_allowed(token, target_of(key));
        if self.robots.as_ref().is_some_and(is_forbidden) {
            return Some(Withheld::Robots);
        }
        (!self.scope.has_url(key)).then_some(Withheld::Scope)
    }

    /// Why a page in this language may not keep its content.
    pub(crate) fn judge_page(&self, key: &str, language: &str) -> Option<Withheld> {
        let is_inside = self.scope.has_language(language);
        self.judge(key).or((!is_inside).then_some(Withheld::Scope))
    }
}

/// Host and port of an address.
fn host_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Path and query of an address.
pub(crate) fn target_of(key: &str) -> &str {
    let rest = key.split_once("://").map_or(key, |(_, rest)| rest);
    rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/")
}

/// Scheme, host and port of a site.
pub(crate) fn origin_of(site: &Url) -> Option<String> {
    let host = site.host_str()?;
    let scheme = site.scheme();
    let is_web = matches!(scheme, "http" | "https") && !host.is_empty();
    let port = site.port().map(|port| format!(":{port}")).unwrap_or_default();
    is_web.then(|| format!("{scheme}://{host}{port}"))
}

/// The key of an address, where it is one of a page.
pub(crate) fn key_of(address: &str) -> Option<String> {
    PageUrl::parse(address).ok().map(|url| url.key().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D88 D93 SCP-200
    fn spec_only_the_sites_own_open_pages_keep_their_words() {
        let aliases = ["https://www.h.example".to_owned()];
        let mut gate = Gate::new("https://h.example", &aliases);
        let robots = Robots::parse(b"user-agent: rutter\ndisallow: /private");
        gate.obey(&RobotsRules::Rules(robots), "Rutter");
        gate.closed.insert("https://h.example/closed".to_owned());
        for (key, wanted) in [
            ("https://h.example/", None),
            ("https://www.h.example/a?b=c", None),
            ("https://h.example/private/x", Some(Withheld::Robots)),
            ("https://h.example/closed", Some(Withheld::Consent)),
            ("https://h.example:8443/", Some(Withheld::Foreign)),
            ("https://h.example.evil.example/", Some(Withheld::Foreign)),
            ("https://other.example/", Some(Withheld::Foreign)),
        ] {
            assert_eq!(gate.judge(key), wanted, "{key}");
        }
        gate.heed(Signals::of_robots(b"user-agent: *\ncontent-signal: /a ai-input=no", "Rutter"));
        assert_eq!(gate.judge("https://www.h.example/a?b=c"), Some(Withheld::Consent));
        assert_eq!(gate.judge("https://h.example/"), None);
        // A file that could not be had takes nothing away.
        let reason = rutter_fetch::RobotsReason::Unreachable("status 500".into());
        gate.obey(&RobotsRules::Closed(reason), "Rutter");
        assert_eq!(gate.judge("https://h.example/private/x"), None);
    }
}
