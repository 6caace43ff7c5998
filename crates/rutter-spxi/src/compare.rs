//! Compares an index with the rest of its site: rules 2, 4, 8 and 9, and the
//! ways to find it.

use std::collections::{HashMap, HashSet};

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};
use rutter_page::Timestamp;

use crate::address::{INDEX, origin, page_key, without_fragment};
use crate::graph::{At, Graph};
use crate::index::{Entity, Index, Modified};
use crate::judge::Given;
use crate::marker::MarkerStatus;
use crate::read::{EntitySeen, Seen};
use crate::rules;
use crate::site::{Listed, Look, PageFacts, Pages, Signals};

/// Where every vocabulary of SPXI would lie.
const SPXI_HOST: &str = "https://spxi.dev/";

/// Compares with everything that is known.
pub(crate) fn with_site(
    graph: &Graph<'_>,
    index: &Index,
    seen: &Seen,
    given: &Given<'_>,
    unchecked: &mut Vec<&'static str>,
    sink: &mut dyn FindingSink,
) {
    let home = given.address.or(index.id.as_deref()).and_then(origin);
    let mut compare = Compare { graph, index, seen, home, sink };
    match given.site.pages {
        Some(pages) => compare.pages(pages, unchecked),
        None => unchecked.extend(["pages (rule 2)", "markers (rule 4)", "links of pages"]),
    }
    match &given.site.sitemap {
        Look::NotChecked => unchecked.push("sitemap.xml (rules 8 and 9)"),
        Look::Unreachable(why) => compare.report(&rules::SITEMAP_MISSING, At::ROOT, why),
        Look::Found(listed) => compare.sitemap(listed, given.now),
    }
    for (line, namespace) in &given.site.foreign {
        if namespace.starts_with(SPXI_HOST) {
            let detail = format!("sitemap.xml line {line}");
            compare.report(&rules::SITEMAP_ELEMENT, At::ROOT, &detail);
        }
    }
    match &given.site.robots {
        Look::NotChecked => unchecked.push("robots.txt"),
        Look::Unreachable(why) => compare.report(&rules::ROBOTS_SILENT, At::ROOT, why),
        Look::Found(signals) => compare.robots(signals),
    }
    match &given.site.llms {
        Look::NotChecked => unchecked.push("llms.txt"),
        Look::Unreachable(why) => compare.report(&rules::LLMS_SILENT, At::ROOT, why),
        Look::Found(text) => {
            if !names_index(text) {
                compare.report(&rules::LLMS_SILENT, At::ROOT, "");
            }
        }
    }
}

/// Tells whether a text names the index: an address, absolute or from the
/// root, that ends in its name (D82).
fn names_index(text: &str) -> bool {
    let is_end = |c: Option<char>| {
        c.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '%')))
    };
    text.match_indices(INDEX).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + INDEX.len()..).unwrap_or_default();
        // A full stop may end the sentence.
        before.ends_with('/') && is_end(after.trim_start_matches('.').chars().next())
    })
}

struct Compare<'g, 'v, 's> {
    graph: &'g Graph<'v>,
    index: &'g Index,
    seen: &'g Seen,
    home: Option<String>,
    sink: &'s mut dyn FindingSink,
}

impl<'g> Compare<'g, '_, '_> {
    fn report(&mut self, rule: &'static Rule, at: At, detail: &str) {
        self.sink.report(Finding::new(rule, self.graph.place(at), detail));
    }

    /// Entities whose address is one, and where that stands.
    fn entities(
        &self,
    ) -> impl Iterator<Item = (&'g Entity, &'g EntitySeen, &'g str, At)> + use<'g> {
        let all = self.index.entities.iter().zip(&self.seen.entities);
        all.filter_map(|(entity, seen)| Some((entity, seen, entity.id.as_deref()?, seen.id?)))
    }

    fn pages(&mut self, pages: &dyn Pages, unchecked: &mut Vec<&'static str>) {
        let (mut is_page_unseen, mut is_marker_unseen) = (false, false);
        for (entity, seen, id, at) in self.entities() {
            let url = without_fragment(id);
            if page_key(url).is_none() {
                continue;
            }
            match pages.look(url) {
                Look::NotChecked => is_page_unseen = true,
                Look::Unreachable(why) => self.report(&rules::UNREACHABLE, at, &why),
                Look::Found(facts) => {
                    self.page(id, at, &facts);
                    match pages.markers(url, &entity.markers) {
                        None => is_marker_unseen = true,
                        Some(all) => self.markers(entity, seen, &all),
                    }
                }
            }
        }
        unchecked.extend(is_page_unseen.then_some("some pages (rule 2)"));
        unchecked.extend(is_marker_unseen.then_some("some markers (rule 4)"));
        let Some(links) = pages.head_links() else {
            unchecked.push("links of pages");
            return;
        };
        for (page, has_link) in links {
            if !has_link {
                self.report(&rules::HEAD_LINK_MISSING, At::ROOT, &quoted(&page));
            }
        }
    }

    fn page(&mut self, id: &str, at: At, facts: &PageFacts) {
        if let Some(other) = &facts.moved_to {
            self.report(&rules::REDIRECTED, at, &quoted(other));
        }
        if let (Some((_, fragment)), Some(names)) = (id.split_once('#'), &facts.fragments)
            && !fragment.is_empty()
            && !names.contains(fragment)
        {
            self.report(&rules::FRAGMENT_ABSENT, at, &quoted(fragment));
        }
    }

    fn markers(&mut self, entity: &Entity, seen: &EntitySeen, statuses: &[MarkerStatus]) {
        for ((marker, at), status) in entity.markers.iter().zip(&seen.markers).zip(statuses) {
            let (rule, detail) = match status {
                MarkerStatus::Visible => continue,
                MarkerStatus::Near(found) => (&rules::MARKER_NEAR, quoted(found)),
                MarkerStatus::MetaOnly => {
                    (&rules::MARKER_HIDDEN, format!("{} in a meta element", quoted(marker)))
                }
                MarkerStatus::JsonLdOnly => {
                    (&rules::MARKER_HIDDEN, format!("{} in JSON-LD", quoted(marker)))
                }
                MarkerStatus::Absent => (&rules::MARKER_ABSENT, quoted(marker)),
            };
            self.report(rule, *at, &detail);
        }
    }

    fn sitemap(&mut self, listed: &[Listed], now: Option<Timestamp>) {
        let own =
            |url: &str| self.home.as_ref().is_none_or(|home| origin(url).as_ref() == Some(home));
        let own: Vec<&Listed> = listed.iter().filter(|one| own(&one.url)).collect();
        self.freshness(&own, now);
        let surfaces: HashSet<String> = self
            .index
            .surfaces
            .iter()
            .filter_map(|surface| page_key(surface.id.as_deref()?))
            .collect();
        let surfaces_at = self.seen.surfaces_at.or(self.seen.root).unwrap_or(At::ROOT);
        let mut by_key: HashMap<String, &Listed> = HashMap::new();
        for one in own {
            let Some(key) = page_key(&one.url) else { continue };
            if !surfaces.contains(&key) {
                self.report(&rules::SURFACE_LACKING, surfaces_at, &quoted(&one.url));
            }
            by_key.entry(key).or_insert(one);
            for link in one.links.iter().filter(|link| is_meant(link)) {
                if let Some(wrong) =
                    fault(link, place_of(self.index, self.home.as_deref()).as_deref())
                {
                    let detail = format!("{wrong}, sitemap.xml line {}", one.line);
                    let place = Place::WHOLE;
                    self.sink.report(Finding::new(&rules::SITEMAP_LINK_FORM, place, detail));
                }
            }
        }
        let mut told: HashSet<String> = HashSet::new();
        for (_, _, id, at) in self.entities() {
            let Some(key) = page_key(id) else { continue };
            let is_own = self.home.as_ref().is_none_or(|home| origin(id).as_ref() == Some(home));
            if !is_own || told.contains(&key) {
                continue;
            }
            match by_key.get(&key) {
                None => self.report(&rules::ENTITY_UNLISTED, at, &quoted(id)),
                Some(one) if !one.links.iter().any(is_meant) => {
                    let detail = format!("sitemap.xml line {}", one.line);
                    self.report(&rules::SITEMAP_LINK_MISSING, at, &detail);
                }
                Some(_) => {}
            }
            told.insert(key);
        }
    }

    /// Rule 8, by days where one of the two is a day (D76).
    fn freshness(&mut self, listed: &[&Listed], now: Option<Timestamp>) {
        let Some(of_index) = self.index.modified else { return };
        let is_past = |it: &Modified| now.is_none_or(|now| it.time <= now);
        let latest = listed.iter().filter_map(|one| one.modified).filter(is_past);
        let Some(latest) = latest.max_by_key(|it| it.time) else { return };
        let is_stale = if of_index.is_day || latest.is_day {
            day(of_index) < day(latest)
        } else {
            of_index.time < latest.time
        };
        if is_stale {
            let at = self.seen.modified.or(self.seen.root).unwrap_or(At::ROOT);
            self.report(&rules::STALE, at, &format!("{of_index}, the latest page {latest}"));
        }
    }

    fn robots(&mut self, signals: &Signals) {
        if signals.sitemaps.is_empty() {
            self.report(&rules::ROBOTS_SITEMAP, At::ROOT, "");
        }
        let names = |is: &dyn Fn(&&crate::site::AgentSignals) -> bool| {
            let names: Vec<&str> =
                signals.agents.iter().filter(is).map(|agent| agent.name.as_str()).collect();
            names.join(", ")
        };
        let forbidden = names(&|agent| !agent.may_fetch);
        if !forbidden.is_empty() {
            self.report(&rules::ROBOTS_FORBIDS, At::ROOT, &forbidden);
        }
        let silent = names(&|agent| agent.may_fetch && !agent.names_index);
        if !silent.is_empty() {
            self.report(&rules::ROBOTS_SILENT, At::ROOT, &silent);
        }
        let has_packets = self.index.entities.iter().any(|entity| entity.packet_ref.is_some());
        let missing =
            names(&|agent| agent.names_index && !(agent.names_packets && agent.names_home_packet));
        if has_packets && !missing.is_empty() {
            self.report(&rules::ROBOTS_PACKETS, At::ROOT, &missing);
        }
    }
}

/// Whether a link of a sitemap is meant to lead to an index.
fn is_meant(link: &crate::site::Link) -> bool {
    link.hreflang.eq_ignore_ascii_case("x-spxi")
        || without_fragment(&link.href).ends_with(&format!("/{INDEX}"))
}

/// Where the index lies: where it says so itself, else at the root.
fn place_of(index: &Index, home: Option<&str>) -> Option<String> {
    let own = index.id.as_deref().and_then(page_key).filter(|key| key.ends_with(INDEX));
    own.or_else(|| home.map(|home| format!("{home}/{INDEX}")))
}

/// What is wrong with such a link.
fn fault(link: &crate::site::Link, place: Option<&str>) -> Option<String> {
    let is_address = page_key(&link.href)
        .is_some_and(|key| place.is_none_or(|place| key == place) && key.ends_with(INDEX));
    if link.hreflang != "x-spxi" {
        Some(format!("hreflang {}", quoted(&link.hreflang)))
    } else if link.media_type.as_deref() != Some("application/ld+json") {
        Some(format!("type {}", quoted(link.media_type.as_deref().unwrap_or_default())))
    } else if !is_address {
        Some(format!("href {}", quoted(&link.href)))
    } else {
        None
    }
}

fn day(modified: Modified) -> i64 {
    modified.time.unix_seconds().div_euclid(86_400)
}
