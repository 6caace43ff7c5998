//! Checks an index or a packet strictly: first the document, then the rest of the site.
//!
//! Input: bytes, and [`SiteEvidence`] from the caller. Output: findings. Never accesses the
//! network. Checks that lack their evidence are listed and reported.

use std::collections::HashSet;

use rutter_finding::{Finding, FindingSink, Refusal, Rule, quoted};
use rutter_page::{HttpUrl, Timestamp};

use crate::address::{INDEX_FILE, find_doi, origin, origin_of_key, page_key};
use crate::compare;
use crate::graph::JsonLdGraph;
use crate::index::{Entity, Kernel, SemanticIndex, distinct};
use crate::json;
use crate::packet::{MetadataPacket, PacketSelector, packet_of};
use crate::place::PlaceId;
use crate::read::places::{EntityPositions, IndexPositions};
use crate::read::{MAX_INDEX_BYTES, MAX_PACKET_BYTES, index_of};
use crate::schema_types::{self, EntityType};
use crate::site::SiteEvidence;
use crate::values::VerificationLevel;
use crate::words::{count_characters, count_words};
use crate::write::DEFAULT_MAX_BYTES;
use crate::{processor, rules};

/// Minimum number of negative tags; an entity with fewer tags is reported (D78).
const FEW_TAGS: usize = 3;
/// Maximum of a product: the number of definitions in inner contexts, multiplied by the number of
/// all definitions. A processor copies the definitions for each object.
const MAX_DEFINITIONS: usize = 1_000_000;

/// Input of a check, apart from the document.
#[derive(Clone, Default)]
#[expect(missing_debug_implementations, reason = "it holds a trait object")]
pub struct CheckInput<'s> {
    /// Address of the document; if `None`, its `@id` is used.
    pub address: Option<&'s str>,
    /// Custom entity types that the site documents (D66).
    pub types: &'s [String],
    /// The current time. If it is `None`, no date is reported as being in the future.
    pub now: Option<Timestamp>,
    /// Evidence about the rest of the site.
    pub site: SiteEvidence<'s>,
}

/// Result of checking an index.
#[derive(Debug)]
pub struct CheckedIndex {
    /// The index as a reader reads it.
    pub index: SemanticIndex,
    /// Number of statements that a JSON-LD processor found; `None` if the processor did not run or
    /// rejected the document.
    pub n_statements: Option<usize>,
    /// Checks that were not possible because evidence is missing.
    pub unchecked: Vec<&'static str>,
}

/// Checks an index.
///
/// ```
/// use rutter_spxi::{CheckInput, check_index};
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
///         "spxi:semanticIntegrityMarker": ["a red light", "places from afar"]}],
///     "spxi:hasSurface": []}"#;
/// let mut findings = Vec::new();
/// check_index(text.as_bytes(), &CheckInput::default(), &mut findings).unwrap();
/// let tag = findings.iter().find(|it| it.rule.name == "spxi-tag-form").unwrap();
/// assert_eq!(tag.place.pointer, "/spxi:hasEntity/0/spxi:negativeTag/0");
/// ```
pub fn check_index(
    bytes: &[u8],
    given: &CheckInput<'_>,
    sink: &mut dyn FindingSink,
) -> Result<CheckedIndex, Refusal> {
    let document = json::parse(bytes, MAX_INDEX_BYTES, sink)?;
    let graph = JsonLdGraph::build(&document, &rules::CONTEXT_REMOTE, sink);
    let (index, places) = index_of(&graph, &document, sink)?;
    let mut unchecked = Vec::new();
    let n_statements = ask_processor(bytes, &graph, given, &mut unchecked, sink);
    let mut judge = DocumentChecker { graph: &graph, given, sink };
    judge.head(&index, &places, bytes.len());
    let home = given.address.or(index.id.as_deref()).and_then(origin);
    judge.entities(&index, &places, home.as_deref());
    judge.surfaces(&index, &places, home.as_deref());
    compare::with_site(&graph, &index, &places, given, &mut unchecked, sink);
    if !unchecked.is_empty() {
        let place = graph.place(PlaceId::ROOT);
        sink.report(Finding::new(&rules::NOT_CHECKED, place, unchecked.join(", ")));
    }
    Ok(CheckedIndex { index, n_statements, unchecked })
}

/// Checks a packet; `asked` may require a certain URL of the packet or of its page.
pub fn check_packet(
    bytes: &[u8],
    asked: &PacketSelector<'_>,
    given: &CheckInput<'_>,
    sink: &mut dyn FindingSink,
) -> Result<MetadataPacket, Refusal> {
    let document = json::parse(bytes, MAX_PACKET_BYTES, sink)?;
    let graph = JsonLdGraph::build(&document, &rules::PACKET_CONTEXT_REMOTE, sink);
    let (packet, places) = packet_of(&graph, asked, sink)?;
    ask_processor(bytes, &graph, given, &mut Vec::new(), sink);
    let mut judge = DocumentChecker { graph: &graph, given, sink };
    for (entity, places) in packet.about.iter().zip(&places.entities) {
        judge.entity(entity, places, None);
    }
    if let (Some(kernel), Some(at)) = (&packet.kernel, places.kernel.summary) {
        judge.summary(kernel, at);
    }
    Ok(packet)
}

/// Checks rule 1 with a JSON-LD processor. Problems that stop every processor were reported before.
fn ask_processor(
    bytes: &[u8],
    graph: &JsonLdGraph<'_>,
    given: &CheckInput<'_>,
    unchecked: &mut Vec<&'static str>,
    sink: &mut dyn FindingSink,
) -> Option<usize> {
    let contexts = &graph.contexts;
    if contexts.is_stopped {
        return None;
    }
    let copied = contexts.n_inner.saturating_mul(contexts.n_terms);
    // A scoped context is applied wherever its term occurs, together with all definitions that are
    // in force there.
    let in_force = if contexts.n_scoped == 0 { 0 } else { contexts.n_scoped + contexts.n_terms };
    let scoped = in_force.saturating_mul(graph.nodes.len());
    if MAX_DEFINITIONS < copied.saturating_add(scoped) {
        unchecked.push("rule 1 (too many contexts)");
        return None;
    }
    match processor::statements(bytes, given.address) {
        Ok(n_statements) => Some(n_statements),
        Err(message) => {
            let place = graph.place(PlaceId::ROOT);
            sink.report(Finding::new(&rules::NOT_JSON_LD, place, quoted(&message)));
            None
        }
    }
}

struct DocumentChecker<'g, 'v, 's> {
    graph: &'g JsonLdGraph<'v>,
    given: &'g CheckInput<'g>,
    sink: &'s mut dyn FindingSink,
}

impl DocumentChecker<'_, '_, '_> {
    fn report(&mut self, rule: &'static Rule, at: PlaceId, detail: &str) {
        self.sink.report(Finding::new(rule, self.graph.place(at), detail));
    }

    fn head(&mut self, index: &SemanticIndex, places: &IndexPositions, size: usize) {
        let root = places.root.unwrap_or(PlaceId::ROOT);
        if DEFAULT_MAX_BYTES < size {
            self.report(&rules::INDEX_LARGE, PlaceId::ROOT, &format!("the index has {size} bytes"));
        }
        if let (Some(id), Some(at)) = (&index.id, places.id) {
            let is_at_root = origin(id).is_some_and(|root| {
                page_key(id).is_some_and(|key| key == format!("{root}/{INDEX_FILE}"))
            });
            if !is_at_root {
                self.report(&rules::INDEX_ID_FORM, at, &quoted(id));
            }
        }
        match (&index.protocol_doi, places.protocol_doi) {
            (Some(text), Some(at)) if find_doi(text).is_none() => {
                self.report(&rules::PROTOCOL_DOI_FORM, at, &quoted(text));
            }
            (None, _) => self.report(&rules::PROTOCOL_DOI_MISSING, root, ""),
            _ => {}
        }
        let Some(kernel) = &index.kernel else { return };
        if let Some(at) = places.kernel.summary {
            self.summary(kernel, at);
        }
        match (&kernel.specification, places.kernel.specification, places.kernel.at) {
            (Some(text), Some(at), _) if find_doi(text).is_none() => {
                self.report(&rules::SPECIFICATION_FORM, at, &quoted(text));
            }
            (None, _, Some(at)) => self.report(&rules::SPECIFICATION_MISSING, at, ""),
            _ => {}
        }
    }

    fn summary(&mut self, kernel: &Kernel, at: PlaceId) {
        let n_words = count_words(kernel.summary.as_deref().unwrap_or_default());
        if Kernel::MAX_WORDS < n_words {
            self.report(&rules::SUMMARY_LONG, at, &format!("the summary has {n_words} words"));
        }
    }

    fn entities(&mut self, index: &SemanticIndex, places: &IndexPositions, home: Option<&str>) {
        let mut ids: HashSet<String> = HashSet::new();
        let kernel_doi = index.kernel.as_ref().and_then(|it| it.specification.as_deref());
        for (entity, places) in index.entities.iter().zip(&places.entities) {
            self.entity(entity, places, kernel_doi);
            if let (Some(id), Some(at)) = (entity.id.as_deref(), places.id) {
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
            if places.packet.is_none() {
                self.report(&rules::PACKET_REF_MISSING, places.at, "");
            }
            let graph = self.graph;
            for (name, rule) in [
                ("spxi:verificationLevel", &rules::VERIFICATION_MISSING),
                ("spxi:basinState", &rules::BASIN_MISSING),
                ("spxi:bdrEstimate", &rules::BDR_MISSING),
            ] {
                let member = graph.node(places.node).and_then(|it| it.member(name));
                if member.is_none_or(|it| it.items.is_empty()) {
                    self.report(rule, places.at, "");
                }
            }
            if entity.collisions.is_empty() {
                self.report(&rules::MATRIX_MISSING, places.at, "");
            }
        }
    }

    /// Checks an entity of an index or a packet.
    fn entity(&mut self, entity: &Entity, places: &EntityPositions, kernel_doi: Option<&str>) {
        if let (Some(kind), Some(at)) = (entity.entity_type.as_deref(), places.kind) {
            self.kind(kind, places, at);
        }
        for (tag, at) in entity.negative_tags.iter().zip(&places.tags) {
            // The prefix `NOT ` alone excludes nothing.
            if tag.strip_prefix("NOT ").is_none_or(|rest| rest.trim().is_empty()) {
                self.report(&rules::TAG_FORM, *at, &quoted(tag));
            }
            self.length(&rules::TAG_LONG, tag, *at);
        }
        let n_tags = distinct(entity.negative_tags.iter().map(String::as_str));
        if (1..FEW_TAGS).contains(&n_tags) {
            let detail = n_tags.to_string();
            self.report(&rules::TAGS_FEW, places.tags_at.unwrap_or(places.at), &detail);
        }
        for (marker, at) in entity.markers.iter().zip(&places.markers) {
            self.length(&rules::MARKER_LONG, marker, *at);
        }
        if let (Some(text), Some(at)) = (entity.packet_ref.as_deref(), places.packet)
            && find_doi(text).is_none()
            && HttpUrl::parse(text).is_err()
        {
            self.report(&rules::PACKET_REF_FORM, at, &quoted(text));
        }
        if entity.verification == Some(VerificationLevel::DoiAnchored) {
            let texts = entity.same_as.iter().chain(&entity.identifiers).map(String::as_str);
            let all = texts.chain(entity.packet_ref.as_deref()).chain(kernel_doi);
            if all.into_iter().all(|text| find_doi(text).is_none()) {
                self.report(&rules::DOI_ABSENT, places.verification.unwrap_or(places.at), "");
            }
        }
    }

    fn kind(&mut self, kind: &str, places: &EntityPositions, at: PlaceId) {
        let graph = self.graph;
        let is_prefix = |prefix: &str| {
            graph.node(places.node).is_some_and(|node| graph.contexts.is_prefix(prefix, node.ctx))
        };
        let is_listed = |name: &str| self.given.types.iter().any(|it| it == name);
        let detail = match schema_types::entity_type(kind, is_prefix, is_listed) {
            EntityType::Schema(_) | EntityType::Custom => return,
            EntityType::Data => format!("{} is a data type", quoted(kind)),
            EntityType::Unknown => match schema_types::nearest(kind) {
                Some(name) => format!("{}; did you mean {name}?", quoted(kind)),
                None => quoted(kind),
            },
        };
        self.report(&rules::TYPE_UNKNOWN, at, &detail);
    }

    fn length(&mut self, rule: &'static Rule, text: &str, at: PlaceId) {
        // A text has at most as many characters as bytes, so a short text need not be counted.
        if Entity::MAX_CHARS < text.len() {
            let n = count_characters(text);
            if Entity::MAX_CHARS < n {
                self.report(rule, at, &format!("the text has {n} characters"));
            }
        }
    }

    fn surfaces(&mut self, index: &SemanticIndex, places: &IndexPositions, home: Option<&str>) {
        let mut keys: HashSet<String> = HashSet::new();
        for (surface, at) in index.surfaces.iter().zip(&places.surfaces) {
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
