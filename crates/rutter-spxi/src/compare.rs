//! Compares an index with the rest of its site: rules 2, 4, 8 and 9, and discoverability.

use std::collections::{HashMap, HashSet};

use rutter_finding::{Finding, FindingSink, Place, Rule, quoted};
use rutter_page::Timestamp;

use crate::address::{INDEX_FILE, origin, page_key, without_fragment};
use crate::checker::CheckInput;
use crate::graph::JsonLdGraph;
use crate::index::{Entity, ModifiedDate, SemanticIndex};
use crate::marker::MarkerStatus;
use crate::place::PlaceId;
use crate::read::places::{EntityPositions, IndexPositions};
use crate::rules;
use crate::site::{PageFacts, PageLookup, ResourceLookup, RobotsSignals, SitemapEntry};

/// Host of the URLs of all SPXI namespaces.
const SPXI_HOST: &str = "https://spxi.dev/";

/// Compares the index with all evidence about the site.
pub(crate) fn with_site(
    graph: &JsonLdGraph<'_>,
    index: &SemanticIndex,
    places: &IndexPositions,
    given: &CheckInput<'_>,
    unchecked: &mut Vec<&'static str>,
    sink: &mut dyn FindingSink,
) {
    let home = given.address.or(index.id.as_deref()).and_then(origin);
    let mut compare = IndexSiteChecker { graph, index, places, home, sink };
    match given.site.pages {
        Some(pages) => compare.pages(pages, unchecked),
        None => unchecked.extend(["pages (rule 2)", "markers (rule 4)", "links of pages"]),
    }
    match &given.site.sitemap {
        ResourceLookup::NotChecked => unchecked.push("sitemap.xml (rules 8 and 9)"),
        ResourceLookup::Unreachable(why) => {
            compare.report(&rules::SITEMAP_MISSING, PlaceId::ROOT, why);
        }
        ResourceLookup::Found(listed) => compare.sitemap(listed, given.now),
    }
    for (line, namespace) in &given.site.foreign {
        if namespace.starts_with(SPXI_HOST) {
            let detail = format!("sitemap.xml line {line}");
            compare.report(&rules::SITEMAP_ELEMENT, PlaceId::ROOT, &detail);
        }
    }
    match &given.site.robots {
        ResourceLookup::NotChecked => unchecked.push("robots.txt"),
        ResourceLookup::Unreachable(why) => {
            compare.report(&rules::ROBOTS_SILENT, PlaceId::ROOT, why);
        }
        ResourceLookup::Found(signals) => compare.robots(signals),
    }
    match &given.site.llms {
        ResourceLookup::NotChecked => unchecked.push("llms.txt"),
        ResourceLookup::Unreachable(why) => compare.report(&rules::LLMS_SILENT, PlaceId::ROOT, why),
        ResourceLookup::Found(text) => {
            if !names_index(text) {
                compare.report(&rules::LLMS_SILENT, PlaceId::ROOT, "");
            }
        }
    }
}

/// Returns whether a text contains the address of the index: an absolute URL or a path from the
/// root that ends in the file name of the index (D82).
fn names_index(text: &str) -> bool {
    let is_end = |c: Option<char>| {
        c.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '%')))
    };
    text.match_indices(INDEX_FILE).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + INDEX_FILE.len()..).unwrap_or_default();
        // A sentence may end after the address.
        before.ends_with('/') && is_end(after.trim_start_matches('.').chars().next())
    })
}

struct IndexSiteChecker<'g, 'v, 's> {
    graph: &'g JsonLdGraph<'v>,
    index: &'g SemanticIndex,
    places: &'g IndexPositions,
    home: Option<String>,
    sink: &'s mut dyn FindingSink,
}

impl<'g> IndexSiteChecker<'g, '_, '_> {
    fn report(&mut self, rule: &'static Rule, at: PlaceId, detail: &str) {
        self.sink.report(Finding::new(rule, self.graph.place(at), detail));
    }

    /// Returns the entities that have a URL, with the positions of the URLs in the document.
    fn entities(
        &self,
    ) -> impl Iterator<Item = (&'g Entity, &'g EntityPositions, &'g str, PlaceId)> + use<'g> {
        let all = self.index.entities.iter().zip(&self.places.entities);
        all.filter_map(|(entity, places)| Some((entity, places, entity.id.as_deref()?, places.id?)))
    }

    fn pages(&mut self, pages: &dyn PageLookup, unchecked: &mut Vec<&'static str>) {
        let (mut is_page_unseen, mut is_marker_unseen) = (false, false);
        for (entity, places, id, at) in self.entities() {
            let url = without_fragment(id);
            if page_key(url).is_none() {
                continue;
            }
            match pages.look(url) {
                ResourceLookup::NotChecked => is_page_unseen = true,
                ResourceLookup::Unreachable(why) => self.report(&rules::UNREACHABLE, at, &why),
                ResourceLookup::Found(facts) => {
                    self.page(id, at, &facts);
                    match pages.markers(url, &entity.markers) {
                        None => is_marker_unseen = true,
                        Some(all) => self.markers(entity, places, &all),
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
                self.report(&rules::HEAD_LINK_MISSING, PlaceId::ROOT, &quoted(&page));
            }
        }
    }

    fn page(&mut self, id: &str, at: PlaceId, facts: &PageFacts) {
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

    fn markers(&mut self, entity: &Entity, places: &EntityPositions, statuses: &[MarkerStatus]) {
        for ((marker, at), status) in entity.markers.iter().zip(&places.markers).zip(statuses) {
            let (rule, detail) = match status {
                MarkerStatus::Visible => continue,
                MarkerStatus::Near(found) => (&rules::MARKER_NEAR, quoted(found)),
                MarkerStatus::MetaOnly => {
                    (&rules::MARKER_HIDDEN, format!("{} is only in a meta element", quoted(marker)))
                }
                MarkerStatus::JsonLdOnly => {
                    (&rules::MARKER_HIDDEN, format!("{} is only in JSON-LD", quoted(marker)))
                }
                MarkerStatus::Absent => (&rules::MARKER_ABSENT, quoted(marker)),
            };
            self.report(rule, *at, &detail);
        }
    }

    fn sitemap(&mut self, listed: &[SitemapEntry], now: Option<Timestamp>) {
        let own =
            |url: &str| self.home.as_ref().is_none_or(|home| origin(url).as_ref() == Some(home));
        let own: Vec<&SitemapEntry> = listed.iter().filter(|one| own(&one.url)).collect();
        self.freshness(&own, now);
        let surfaces: HashSet<String> = self
            .index
            .surfaces
            .iter()
            .filter_map(|surface| page_key(surface.id.as_deref()?))
            .collect();
        let surfaces_at = self.places.surfaces_at.or(self.places.root).unwrap_or(PlaceId::ROOT);
        let mut by_key: HashMap<String, &SitemapEntry> = HashMap::new();
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
        let mut reported: HashSet<String> = HashSet::new();
        for (_, _, id, at) in self.entities() {
            let Some(key) = page_key(id) else { continue };
            let is_own = self.home.as_ref().is_none_or(|home| origin(id).as_ref() == Some(home));
            if !is_own || reported.contains(&key) {
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
            reported.insert(key);
        }
    }

    /// Checks rule 8. Compares days if one of the two dates is a day (D76).
    fn freshness(&mut self, listed: &[&SitemapEntry], now: Option<Timestamp>) {
        let Some(of_index) = self.index.modified else { return };
        let is_past = |it: &ModifiedDate| now.is_none_or(|now| it.time <= now);
        let latest = listed.iter().filter_map(|one| one.modified).filter(is_past);
        let Some(latest) = latest.max_by_key(|it| it.time) else { return };
        let is_stale = if of_index.is_day || latest.is_day {
            day(of_index) < day(latest)
        } else {
            of_index.time < latest.time
        };
        if is_stale {
            let at = self.places.modified.or(self.places.root).unwrap_or(PlaceId::ROOT);
            self.report(
                &rules::STALE,
                at,
                &format!("the index changed on {of_index}, the newest page on {latest}"),
            );
        }
    }

    fn robots(&mut self, signals: &RobotsSignals) {
        if signals.sitemaps.is_empty() {
            self.report(&rules::ROBOTS_SITEMAP, PlaceId::ROOT, "");
        }
        let names = |is: &dyn Fn(&&crate::site::AgentSignals) -> bool| {
            let names: Vec<&str> =
                signals.agents.iter().filter(is).map(|agent| agent.name.as_str()).collect();
            names.join(", ")
        };
        let forbidden = names(&|agent| !agent.may_fetch);
        if !forbidden.is_empty() {
            self.report(&rules::ROBOTS_FORBIDS, PlaceId::ROOT, &forbidden);
        }
        let silent = names(&|agent| agent.may_fetch && !agent.names_index);
        if !silent.is_empty() {
            self.report(&rules::ROBOTS_SILENT, PlaceId::ROOT, &silent);
        }
        let has_packets = self.index.entities.iter().any(|entity| entity.packet_ref.is_some());
        let missing =
            names(&|agent| agent.names_index && !(agent.names_packets && agent.names_home_packet));
        if has_packets && !missing.is_empty() {
            self.report(&rules::ROBOTS_PACKETS, PlaceId::ROOT, &missing);
        }
    }
}

/// Returns whether a link of a sitemap is meant to lead to an index.
fn is_meant(link: &crate::site::SitemapLink) -> bool {
    link.hreflang.eq_ignore_ascii_case("x-spxi")
        || without_fragment(&link.href).ends_with(&format!("/{INDEX_FILE}"))
}

/// Returns the URL of the index: its own `@id`, or the default URL at the root of the site.
fn place_of(index: &SemanticIndex, home: Option<&str>) -> Option<String> {
    let own = index.id.as_deref().and_then(page_key).filter(|key| key.ends_with(INDEX_FILE));
    own.or_else(|| home.map(|home| format!("{home}/{INDEX_FILE}")))
}

/// Returns a description of what is wrong with a link from a sitemap to the index.
fn fault(link: &crate::site::SitemapLink, place: Option<&str>) -> Option<String> {
    let is_address = page_key(&link.href)
        .is_some_and(|key| place.is_none_or(|place| key == place) && key.ends_with(INDEX_FILE));
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

fn day(modified: ModifiedDate) -> i64 {
    modified.time.unix_seconds().div_euclid(86_400)
}
