//! Judges an index as strictly as the specification is written: the document
//! first, then what the rest of the site shows.
//!
//! Bytes are read as a reader reads them; what is beyond form is looked at
//! here. A [`Site`] is what the caller knows of the rest.
//!
//! Refuses: to fetch, to call something fine that nobody looked at.

use std::collections::HashSet;

use rutter_finding::{Finding, FindingSink, Refusal, Rule, quoted};
use rutter_page::{HttpUrl, Timestamp};

use crate::address::{INDEX, doi, origin, origin_of_key, page_key};
use crate::compare;
use crate::graph::{At, Graph};
use crate::index::{Entity, Index, Kernel, distinct};
use crate::json;
use crate::kinds::{self, EntityType};
use crate::packet::{Asked, Packet, packet_of};
use crate::read::{EntitySeen, LARGEST_INDEX, LARGEST_PACKET, Seen, index_of};
use crate::site::Site;
use crate::values::VerificationLevel;
use crate::words::{characters, words};
use crate::write::USUAL_SIZE;
use crate::{processor, rules};

/// Below this an entity has few negative tags (D78).
const FEW_TAGS: usize = 3;
/// Definitions of inner contexts times all definitions that a processor is
/// asked to take: it copies them for each object.
const MOST_DEFINITIONS: usize = 1_000_000;

/// What is given to judge by.
#[derive(Clone, Default)]
#[expect(missing_debug_implementations, reason = "it holds whatever finds pages")]
pub struct Given<'s> {
    /// Where the document was found; its own `@id` counts otherwise.
    pub address: Option<&'s str>,
    /// Names of own types that are documented somewhere (D66).
    pub types: &'s [String],
    /// The time of day; without it no date is in the future.
    pub now: Option<Timestamp>,
    /// The rest of the site.
    pub site: Site<'s>,
}

/// What came of it.
#[derive(Debug)]
pub struct Judged {
    /// The index as a reader sees it.
    pub index: Index,
    /// Statements that a JSON-LD processor finds; `None` where it was not
    /// asked, or refused.
    pub n_statements: Option<usize>,
    /// What was not checked, because nobody looked.
    pub unchecked: Vec<&'static str>,
}

/// Judges an index.
///
/// ```
/// use rutter_spxi::{Given, judge_index};
///
/// let text = r#"{"@context": {"@vocab": "https://schema.org/",
///         "spxi": "https://spxi.dev/vocabulary#"},
///     "@type": "spxi:SemanticIndex", "dateModified": "2026-05-01",
///     "spxi:protocolVersion": "EA-SPXI-SITEMAP-01 v1.0",
///     "spxi:siteKernel": {"@type": "spxi:HolographicKernel",
///         "spxi:compressionSurvivalSummary": "A harbour and its light."},
///     "spxi:hasEntity": [{"@type": "spxi:IndexedEntity",
///         "@id": "https://harbour.example/light", "spxi:entityType": "Place",
///         "spxi:canonicalName": "North Light", "spxi:negativeTag": ["Not a ship"],
///         "spxi:semanticIntegrityMarker": ["a red light", "seen from afar"]}],
///     "spxi:hasSurface": []}"#;
/// let mut findings = Vec::new();
/// judge_index(text.as_bytes(), &Given::default(), &mut findings).unwrap();
/// let tag = findings.iter().find(|it| it.rule.name == "spxi-tag-form").unwrap();
/// assert_eq!(tag.place.pointer, "/spxi:hasEntity/0/spxi:negativeTag/0");
/// ```
pub fn judge_index(
    bytes: &[u8],
    given: &Given<'_>,
    sink: &mut dyn FindingSink,
) -> Result<Judged, Refusal> {
    let document = json::parse(bytes, LARGEST_INDEX, sink)?;
    let graph = Graph::build(&document, &rules::CONTEXT_REMOTE, sink);
    let (index, seen) = index_of(&graph, &document, sink)?;
    let mut unchecked = Vec::new();
    let n_statements = ask_processor(bytes, &graph, given, &mut unchecked, sink);
    let mut judge = Judge { graph: &graph, given, sink };
    judge.head(&index, &seen, bytes.len());
    let home = given.address.or(index.id.as_deref()).and_then(origin);
    judge.entities(&index, &seen, home.as_deref());
    judge.surfaces(&index, &seen, home.as_deref());
    compare::with_site(&graph, &index, &seen, given, &mut unchecked, sink);
    if !unchecked.is_empty() {
        let place = graph.place(At::ROOT);
        sink.report(Finding::new(&rules::NOT_CHECKED, place, unchecked.join(", ")));
    }
    Ok(Judged { index, n_statements, unchecked })
}

/// Judges a packet; where it lies or what it is about may be asked for.
pub fn judge_packet(
    bytes: &[u8],
    asked: &Asked<'_>,
    given: &Given<'_>,
    sink: &mut dyn FindingSink,
) -> Result<Packet, Refusal> {
    let document = json::parse(bytes, LARGEST_PACKET, sink)?;
    let graph = Graph::build(&document, &rules::PACKET_CONTEXT_REMOTE, sink);
    let (packet, seen) = packet_of(&graph, asked, sink)?;
    ask_processor(bytes, &graph, given, &mut Vec::new(), sink);
    let mut judge = Judge { graph: &graph, given, sink };
    for (entity, seen) in packet.about.iter().zip(&seen.entities) {
        judge.entity(entity, seen, None);
    }
    if let (Some(kernel), Some(at)) = (&packet.kernel, seen.kernel.summary) {
        judge.summary(kernel, at);
    }
    Ok(packet)
}

/// Rule 1. What stops every processor has been told before.
fn ask_processor(
    bytes: &[u8],
    graph: &Graph<'_>,
    given: &Given<'_>,
    unchecked: &mut Vec<&'static str>,
    sink: &mut dyn FindingSink,
) -> Option<usize> {
    let contexts = &graph.contexts;
    if contexts.is_stopped {
        return None;
    }
    let copied = contexts.n_inner.saturating_mul(contexts.n_terms);
    // A context of a term is taken anew wherever the term stands, and with it
    // every definition that is in force there.
    let in_force = if contexts.n_scoped == 0 { 0 } else { contexts.n_scoped + contexts.n_terms };
    let scoped = in_force.saturating_mul(graph.nodes.len());
    if MOST_DEFINITIONS < copied.saturating_add(scoped) {
        unchecked.push("rule 1 (too many contexts)");
        return None;
    }
    match processor::statements(bytes, given.address) {
        Ok(n_statements) => Some(n_statements),
        Err(message) => {
            let place = graph.place(At::ROOT);
            sink.report(Finding::new(&rules::NOT_JSON_LD, place, quoted(&message)));
            None
        }
    }
}

struct Judge<'g, 'v, 's> {
    graph: &'g Graph<'v>,
    given: &'g Given<'g>,
    sink: &'s mut dyn FindingSink,
}

impl Judge<'_, '_, '_> {
    fn report(&mut self, rule: &'static Rule, at: At, detail: &str) {
        self.sink.report(Finding::new(rule, self.graph.place(at), detail));
    }

    fn head(&mut self, index: &Index, seen: &Seen, size: usize) {
        let root = seen.root.unwrap_or(At::ROOT);
        if USUAL_SIZE < size {
            self.report(&rules::INDEX_LARGE, At::ROOT, &format!("{size} bytes"));
        }
        if let (Some(id), Some(at)) = (&index.id, seen.id) {
            let is_at_root = origin(id).is_some_and(|root| {
                page_key(id).is_some_and(|key| key == format!("{root}/{INDEX}"))
            });
            if !is_at_root {
                self.report(&rules::INDEX_ID_FORM, at, &quoted(id));
            }
        }
        match (&index.protocol_doi, seen.protocol_doi) {
            (Some(text), Some(at)) if doi(text).is_none() => {
                self.report(&rules::PROTOCOL_DOI_FORM, at, &quoted(text));
            }
            (None, _) => self.report(&rules::PROTOCOL_DOI_MISSING, root, ""),
            _ => {}
        }
        let Some(kernel) = &index.kernel else { return };
        if let Some(at) = seen.kernel.summary {
            self.summary(kernel, at);
        }
        match (&kernel.specification, seen.kernel.specification, seen.kernel.at) {
            (Some(text), Some(at), _) if doi(text).is_none() => {
                self.report(&rules::SPECIFICATION_FORM, at, &quoted(text));
            }
            (None, _, Some(at)) => self.report(&rules::SPECIFICATION_MISSING, at, ""),
            _ => {}
        }
    }

    fn summary(&mut self, kernel: &Kernel, at: At) {
        let n_words = words(kernel.summary.as_deref().unwrap_or_default());
        if Kernel::MOST_WORDS < n_words {
            self.report(&rules::SUMMARY_LONG, at, &format!("{n_words} words"));
        }
    }

    fn entities(&mut self, index: &Index, seen: &Seen, home: Option<&str>) {
        let mut ids: HashSet<String> = HashSet::new();
        let kernel_doi = index.kernel.as_ref().and_then(|it| it.specification.as_deref());
        for (entity, seen) in index.entities.iter().zip(&seen.entities) {
            self.entity(entity, seen, kernel_doi);
            if let (Some(id), Some(at)) = (entity.id.as_deref(), seen.id) {
                match page_key(id) {
                    None => self.report(&rules::ENTITY_ID_FORM, at, &quoted(id)),
                    Some(key) => {
                        if is_elsewhere(&key, home) {
                            self.report(&rules::ENTITY_HOST, at, &quoted(id));
                        }
                        let fragment = id.split_once('#').map_or("", |(_, fragment)| fragment);
                        if !ids.insert(format!("{key}#{fragment}")) {
                            self.report(&rules::ENTITY_TWICE, at, &quoted(id));
                        }
                    }
                }
            }
            if seen.packet.is_none() {
                self.report(&rules::PACKET_REF_MISSING, seen.at, "");
            }
            let graph = self.graph;
            for (name, rule) in [
                ("spxi:verificationLevel", &rules::VERIFICATION_MISSING),
                ("spxi:basinState", &rules::BASIN_MISSING),
                ("spxi:bdrEstimate", &rules::BDR_MISSING),
            ] {
                let member = graph.node(seen.node).and_then(|it| it.member(name));
                if member.is_none_or(|it| it.items.is_empty()) {
                    self.report(rule, seen.at, "");
                }
            }
            if entity.collisions.is_empty() {
                self.report(&rules::MATRIX_MISSING, seen.at, "");
            }
        }
    }

    /// What holds for an entity wherever it stands.
    fn entity(&mut self, entity: &Entity, seen: &EntitySeen, kernel_doi: Option<&str>) {
        if let (Some(kind), Some(at)) = (entity.entity_type.as_deref(), seen.kind) {
            self.kind(kind, seen, at);
        }
        for (tag, at) in entity.negative_tags.iter().zip(&seen.tags) {
            // The four characters alone exclude nothing.
            if tag.strip_prefix("NOT ").is_none_or(|rest| rest.trim().is_empty()) {
                self.report(&rules::TAG_FORM, *at, &quoted(tag));
            }
            self.length(&rules::TAG_LONG, tag, *at);
        }
        let n_tags = distinct(entity.negative_tags.iter().map(String::as_str));
        if (1..FEW_TAGS).contains(&n_tags) {
            let detail = n_tags.to_string();
            self.report(&rules::TAGS_FEW, seen.tags_at.unwrap_or(seen.at), &detail);
        }
        for (marker, at) in entity.markers.iter().zip(&seen.markers) {
            self.length(&rules::MARKER_LONG, marker, *at);
        }
        if let (Some(text), Some(at)) = (entity.packet_ref.as_deref(), seen.packet)
            && doi(text).is_none()
            && HttpUrl::parse(text).is_err()
        {
            self.report(&rules::PACKET_REF_FORM, at, &quoted(text));
        }
        if entity.verification == Some(VerificationLevel::DoiAnchored) {
            let texts = entity.same_as.iter().chain(&entity.identifiers).map(String::as_str);
            let all = texts.chain(entity.packet_ref.as_deref()).chain(kernel_doi);
            if all.into_iter().all(|text| doi(text).is_none()) {
                self.report(&rules::DOI_ABSENT, seen.verification.unwrap_or(seen.at), "");
            }
        }
    }

    fn kind(&mut self, kind: &str, seen: &EntitySeen, at: At) {
        let graph = self.graph;
        let is_prefix = |prefix: &str| {
            graph.node(seen.node).is_some_and(|node| graph.contexts.is_prefix(prefix, node.ctx))
        };
        let is_listed = |name: &str| self.given.types.iter().any(|it| it == name);
        let detail = match kinds::entity_type(kind, is_prefix, is_listed) {
            EntityType::Schema(_) | EntityType::Custom => return,
            EntityType::Data => format!("{} is a data type", quoted(kind)),
            EntityType::Unknown => match kinds::nearest(kind) {
                Some(name) => format!("{}, perhaps {name}", quoted(kind)),
                None => quoted(kind),
            },
        };
        self.report(&rules::TYPE_UNKNOWN, at, &detail);
    }

    fn length(&mut self, rule: &'static Rule, text: &str, at: At) {
        // Fewer bytes are fewer characters.
        if Entity::LONGEST < text.len() {
            let n = characters(text);
            if Entity::LONGEST < n {
                self.report(rule, at, &format!("{n} characters"));
            }
        }
    }

    fn surfaces(&mut self, index: &Index, seen: &Seen, home: Option<&str>) {
        let mut keys: HashSet<String> = HashSet::new();
        for (surface, at) in index.surfaces.iter().zip(&seen.surfaces) {
            let Some(id) = surface.id.as_deref() else {
                self.report(&rules::SURFACE_ID_MISSING, *at, "");
                continue;
            };
            match page_key(id) {
                None => self.report(&rules::SURFACE_ID_FORM, *at, &quoted(id)),
                Some(key) => {
                    if is_elsewhere(&key, home) {
                        self.report(&rules::SURFACE_HOST, *at, &quoted(id));
                    }
                    let fragment = id.split_once('#').map_or("", |(_, fragment)| fragment);
                    if !keys.insert(format!("{key}#{fragment}")) {
                        self.report(&rules::SURFACE_TWICE, *at, &quoted(id));
                    }
                }
            }
        }
    }
}

fn is_elsewhere(key: &str, home: Option<&str>) -> bool {
    home.is_some_and(|home| origin_of_key(key) != home)
}
