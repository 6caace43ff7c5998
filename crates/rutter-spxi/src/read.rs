//! Reads an index and repairs what can be understood.
//!
//! Input: bytes, parsed into a [`JsonLdGraph`]. Output: the index, and findings for malformed or
//! missing members with their positions. Never accesses the network.
//!
//! Rejects documents that do not declare that they are an index.

use std::collections::HashMap;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule, quoted};
use rutter_page::JsonTree;

use crate::graph::{GraphItem, GraphMember, GraphNode, GraphValue, JsonLdGraph, PlaceId};
use crate::index::{
    Collision, Entity, Kernel, ModifiedDate, Party, SemanticIndex, Surface, distinct,
};
use crate::json::{self, JsonValue};
use crate::values::{BasinState, CollisionRisk, VerificationLevel};
use crate::{PROTOCOL, rules, schema_types};

/// Maximum size in bytes of an index that is read (D89).
pub const MAX_INDEX_BYTES: usize = 5_000_000;
/// Maximum size in bytes of a packet that is read (D89).
pub const MAX_PACKET_BYTES: usize = 1_000_000;

/// Reads an index. Missing members are `None` or empty and are reported; unknown members are kept.
///
/// ```
/// let text = r#"{"@context": {"@vocab": "https://schema.org/",
///         "spxi": "https://spxi.dev/vocabulary#"},
///     "@type": "spxi:SemanticIndex",
///     "spxi:hasEntity": {"@id": "https://harbour.example/light", "name": "North Light"}}"#;
/// let mut findings = Vec::new();
/// let index = rutter_spxi::read_index(text.as_bytes(), &mut findings).unwrap();
/// assert_eq!(index.entities[0].name.as_deref(), Some("North Light"));
/// assert!(index.entities[0].is_incomplete());
/// assert!(findings.iter().any(|it| it.place.pointer == "/spxi:hasEntity"));
/// ```
pub fn read_index(bytes: &[u8], sink: &mut dyn FindingSink) -> Result<SemanticIndex, Refusal> {
    let document = json::parse(bytes, MAX_INDEX_BYTES, sink)?;
    let graph = JsonLdGraph::build(&document, &rules::CONTEXT_REMOTE, sink);
    Ok(index_of(&graph, &document, sink)?.0)
}

/// Maximum number of references through which one object is read.
const MAX_FOLLOWED: usize = 16;

/// Positions of the parts of an index in its document.
#[derive(Debug, Default)]
pub(crate) struct IndexPlaces {
    pub(crate) root: Option<PlaceId>,
    pub(crate) id: Option<PlaceId>,
    pub(crate) protocol_doi: Option<PlaceId>,
    pub(crate) modified: Option<PlaceId>,
    pub(crate) kernel: KernelPlaces,
    pub(crate) entities: Vec<EntityPlaces>,
    pub(crate) surfaces_at: Option<PlaceId>,
    pub(crate) surfaces: Vec<PlaceId>,
}

/// Positions of the parts of a kernel in its document.
#[derive(Debug, Default)]
pub(crate) struct KernelPlaces {
    pub(crate) at: Option<PlaceId>,
    pub(crate) summary: Option<PlaceId>,
    pub(crate) specification: Option<PlaceId>,
}

/// Positions of the parts of an entity in its document.
#[derive(Debug)]
pub(crate) struct EntityPlaces {
    pub(crate) node: usize,
    pub(crate) at: PlaceId,
    pub(crate) id: Option<PlaceId>,
    pub(crate) kind: Option<PlaceId>,
    pub(crate) tags_at: Option<PlaceId>,
    pub(crate) tags: Vec<PlaceId>,
    pub(crate) markers: Vec<PlaceId>,
    pub(crate) verification: Option<PlaceId>,
    pub(crate) packet: Option<PlaceId>,
}

const OF_INDEX: [&str; 11] = [
    "name",
    "dateModified",
    "publisher",
    "author",
    "license",
    "sameAs",
    "spxi:protocolVersion",
    "spxi:protocolDoi",
    "spxi:siteKernel",
    "spxi:hasEntity",
    "spxi:hasSurface",
];

const OF_ENTITY: [&str; 18] = [
    "alternateName",
    "description",
    "sameAs",
    "identifier",
    "differentFrom",
    "spxi:entityType",
    "spxi:canonicalName",
    "spxi:negativeTag",
    "spxi:semanticIntegrityMarker",
    "spxi:basinState",
    "spxi:bdrEstimate",
    "spxi:verificationLevel",
    "spxi:packetRef",
    "spxi:disambiguationMatrix",
    "spxi:doi",
    "mp:negativeTag",
    "mp:semanticIntegrityMarker",
    "mp:verificationLevel",
];

/// Finds and reads the index in a document.
pub(crate) fn index_of(
    graph: &JsonLdGraph<'_>,
    document: &JsonValue<'_>,
    sink: &mut dyn FindingSink,
) -> Result<(SemanticIndex, IndexPlaces), Refusal> {
    let mut walk = IndexWalk::new(graph, sink);
    let is_index = |node: &GraphNode<'_>| node.is_a("spxi:SemanticIndex");
    let is_like = |node: &GraphNode<'_>| {
        node.types.iter().any(|it| it.ends_with("SemanticIndex"))
            || node.member("spxi:hasEntity").is_some()
            || node.member("spxi:siteKernel").is_some()
    };
    let is_kernel = |node: &GraphNode<'_>| node.is_a("spxi:HolographicKernel");
    let tops = || graph.tops.iter().filter_map(|idx| graph.node(*idx));
    let root = tops()
        .find(|it| is_index(it))
        .or_else(|| tops().find(|it| is_like(it)))
        .or_else(|| tops().find(|it| is_kernel(it)));
    let Some(root) = root else {
        let is_object = matches!(document, JsonValue::Map(_) | JsonValue::List(_));
        let detail = if is_object { "" } else { "the document is not an object" };
        return Err(Refusal::new(&rules::NOT_AN_INDEX, Place::WHOLE, detail));
    };
    if graph.is_list {
        walk.report(&rules::ROOT_LIST, PlaceId::ROOT, "");
    }
    if let Some(at) = graph.wrapped_at {
        walk.report(&rules::ROOT_GRAPH, at, "");
    }
    if !is_index(root) {
        let types: Vec<String> = root.types.iter().take(3).map(|it| quoted(it)).collect();
        walk.report(&rules::ROOT_TYPE, root.at, &types.join(", "));
    }
    if let Some(second) = tops().filter(|it| is_index(it)).nth(1) {
        walk.report(&rules::TWO_INDEXES, second.at, "");
    }
    Ok(walk.index(root))
}

/// Reads the parts of an index from its graph.
pub(crate) struct IndexWalk<'g, 'v, 's> {
    graph: &'g JsonLdGraph<'v>,
    sink: &'s mut dyn FindingSink,
    by_id: Option<HashMap<&'g str, Vec<usize>>>,
    /// Number of references through which each object was read.
    followed: HashMap<usize, usize>,
}

impl<'g, 'v, 's> IndexWalk<'g, 'v, 's> {
    pub(crate) fn new(graph: &'g JsonLdGraph<'v>, sink: &'s mut dyn FindingSink) -> Self {
        Self { graph, sink, by_id: None, followed: HashMap::new() }
    }

    pub(crate) fn report(&mut self, rule: &'static Rule, at: PlaceId, detail: &str) {
        self.sink.report(Finding::new(rule, self.graph.place(at), detail));
    }

    fn index(&mut self, root: &'g GraphNode<'v>) -> (SemanticIndex, IndexPlaces) {
        let mut index = SemanticIndex {
            id: root.id.as_ref().map(|(id, _)| id.to_string()),
            name: self.text(root, "name").map(|(text, _)| text),
            license: self.address(root, "license").map(|(text, _)| text),
            same_as: self.addresses(root, "sameAs").into_iter().map(|(text, _)| text).collect(),
            publisher: self.party(root, "publisher"),
            author: self.party(root, "author"),
            ..SemanticIndex::default()
        };
        let mut places = IndexPlaces {
            root: Some(root.at),
            id: root.id.as_ref().map(|(_, at)| *at),
            ..IndexPlaces::default()
        };
        (index.modified, places.modified) = self.modified(root);
        if places.modified.is_none() {
            self.report(&rules::MODIFIED_MISSING, root.at, "");
        }
        match self.text(root, "spxi:protocolVersion") {
            Some((version, at)) => {
                if version != PROTOCOL {
                    self.report(&rules::VERSION_OTHER, at, &quoted(&version));
                }
                index.protocol_version = Some(version);
            }
            None => self.report(&rules::VERSION_MISSING, root.at, ""),
        }
        let doi = self.address(root, "spxi:protocolDoi");
        places.protocol_doi = doi.as_ref().map(|(_, at)| *at);
        index.protocol_doi = doi.map(|(doi, _)| doi);
        self.kernel_of_index(root, &mut index, &mut places);
        for idx in self.objects(root, "spxi:hasEntity", "spxi:IndexedEntity") {
            if let Some((entity, entity_seen)) = self.entity(idx) {
                index.entities.push(entity);
                places.entities.push(entity_seen);
            }
        }
        // An empty list of entities counts as missing.
        let entities = root.member("spxi:hasEntity");
        if entities.is_none_or(|it| it.items.is_empty()) {
            let at = entities.map_or(root.at, |it| it.at);
            self.report(&rules::ENTITIES_MISSING, at, "");
        }
        places.surfaces_at = root.member("spxi:hasSurface").map(|member| member.at);
        if places.surfaces_at.is_none() {
            self.report(&rules::SURFACES_MISSING, root.at, "");
        }
        for idx in self.objects(root, "spxi:hasSurface", "WebPage") {
            if let Some(node) = self.graph.node(idx) {
                index.surfaces.push(self.surface(node));
                places.surfaces.push(node.at);
            }
        }
        let is_kernel = root.is_a("spxi:HolographicKernel");
        let is_known =
            |name: &str| OF_INDEX.contains(&name) || (is_kernel && OF_KERNEL.contains(&name));
        index.extra = self.extra(root, is_known);
        (index, places)
    }

    fn kernel_of_index(
        &mut self,
        root: &'g GraphNode<'v>,
        index: &mut SemanticIndex,
        places: &mut IndexPlaces,
    ) {
        let kernels = self.objects(root, "spxi:siteKernel", "spxi:HolographicKernel");
        let node = match kernels.first() {
            Some(first) => self.graph.node(*first),
            None => {
                if root.member("spxi:siteKernel").is_none_or(|it| it.items.is_empty()) {
                    self.report(&rules::KERNEL_MISSING, root.at, "");
                }
                // Some published documents consist of a kernel without an index.
                root.is_a("spxi:HolographicKernel").then_some(root)
            }
        };
        if let Some(second) = kernels.get(1).and_then(|idx| self.graph.node(*idx)) {
            self.report(&rules::MEMBER_FORM, second.at, "a site has only one kernel");
        }
        if let Some(node) = node {
            let (kernel, kernel_seen) = self.kernel(node);
            index.kernel = Some(kernel);
            places.kernel = kernel_seen;
        }
    }

    pub(crate) fn kernel(&mut self, node: &'g GraphNode<'v>) -> (Kernel, KernelPlaces) {
        self.class(node, "spxi:HolographicKernel");
        let summary = self.text(node, "spxi:compressionSurvivalSummary");
        if summary.is_none() {
            self.report(&rules::SUMMARY_MISSING, node.at, "");
        }
        let specification = self.address(node, "spxi:kernelSpecification");
        let places = KernelPlaces {
            at: Some(node.at),
            summary: summary.as_ref().map(|(_, at)| *at),
            specification: specification.as_ref().map(|(_, at)| *at),
        };
        let kernel = Kernel {
            summary: summary.map(|(text, _)| text),
            specification: specification.map(|(text, _)| text),
        };
        (kernel, places)
    }

    /// Reads an entity of an index or a packet and reports missing members.
    pub(crate) fn entity(&mut self, idx: usize) -> Option<(Entity, EntityPlaces)> {
        let node = self.graph.node(idx)?;
        let is_packet = node.is_a("mp:IndexedEntity");
        if !is_packet {
            self.class(node, "spxi:IndexedEntity");
        }
        let either = |spxi: &'static str, mp: &'static str| {
            if node.member(spxi).is_none() && node.member(mp).is_some() { mp } else { spxi }
        };
        if node.id.is_none() {
            self.report(&rules::ENTITY_ID_MISSING, node.at, "");
        }
        let kind = self.address(node, "spxi:entityType");
        let mut kind_text = kind.as_ref().map(|(text, _)| text.clone());
        if kind.is_none() {
            // A packet in the other published form states the entity type as its class.
            let by_type = node.types.iter().find(|it| is_packet && schema_types::is_type(it));
            kind_text = by_type.map(ToString::to_string);
            if kind_text.is_none() {
                self.report(&rules::TYPE_MISSING, node.at, "");
            }
        }
        let (name, is_name_used) = self.entity_name(node, is_packet);
        let tags_name = either("spxi:negativeTag", "mp:negativeTag");
        let tags = self.texts(node, tags_name);
        let tags_at = node.member(tags_name).map(|member| member.at);
        if tags.is_empty() {
            self.report(&rules::TAGS_MISSING, tags_at.unwrap_or(node.at), "");
        }
        let markers_name = either("spxi:semanticIntegrityMarker", "mp:semanticIntegrityMarker");
        let markers = self.texts(node, markers_name);
        let markers_at = node.member(markers_name).map(|member| member.at);
        let n_markers = distinct(markers.iter().map(|(text, _)| text.as_str()));
        if n_markers < Entity::MIN_MARKERS {
            let detail = format!("{n_markers} markers, the minimum is {}", Entity::MIN_MARKERS);
            self.report(&rules::MARKERS_FEW, markers_at.unwrap_or(node.at), &detail);
        }
        let verification =
            self.verification(node, either("spxi:verificationLevel", "mp:verificationLevel"));
        let packet = self.address(node, "spxi:packetRef");
        let texts = |all: Vec<(String, PlaceId)>| all.into_iter().map(|(text, _)| text).collect();
        let mut same_as: Vec<String> = texts(self.addresses(node, "sameAs"));
        let mut dois: Vec<String> = texts(self.addresses(node, "spxi:doi"));
        dois.retain(|doi| !same_as.contains(doi));
        same_as.extend(dois);
        let places = EntityPlaces {
            node: idx,
            at: node.at,
            id: node.id.as_ref().map(|(_, at)| *at),
            kind: kind.as_ref().map(|(_, at)| *at),
            tags_at,
            tags: tags.iter().map(|(_, at)| *at).collect(),
            markers: markers.iter().map(|(_, at)| *at).collect(),
            verification: verification.map(|(_, at)| at),
            packet: packet.as_ref().map(|(_, at)| *at),
        };
        let is_known = |name: &str| OF_ENTITY.contains(&name) || (name == "name" && is_name_used);
        let entity = Entity {
            id: node.id.as_ref().map(|(id, _)| id.to_string()),
            entity_type: kind_text,
            name,
            alternate_names: texts(self.texts(node, "alternateName")),
            description: self.text(node, "description").map(|(text, _)| text),
            negative_tags: texts(tags),
            markers: texts(markers),
            basin_state: self.basin_state(node),
            bdr: self.bdr(node),
            verification: verification.map(|(level, _)| level),
            packet_ref: packet.map(|(text, _)| text),
            collisions: self.collisions(node),
            same_as,
            identifiers: texts(self.addresses(node, "identifier")),
            extra: self.extra(node, is_known),
        };
        Some((entity, places))
    }

    /// Returns the name of an entity, and whether the member `name` has no further meaning.
    fn entity_name(&mut self, node: &'g GraphNode<'v>, is_packet: bool) -> (Option<String>, bool) {
        let canonical = self.text(node, "spxi:canonicalName");
        let plain = node.member("name").filter(|member| member.items.len() == 1);
        let plain = plain.and_then(|it| it.items.first()).and_then(|it| literal(it));
        match (canonical, plain) {
            (Some((name, _)), plain) => {
                let is_used = plain == Some(name.as_str());
                (Some(name), is_used)
            }
            (None, plain) => {
                let detail = plain.map(|_| "`name` is used instead").unwrap_or_default();
                if !(is_packet && plain.is_some()) {
                    self.report(&rules::NAME_MISSING, node.at, detail);
                }
                (plain.map(str::to_owned), plain.is_some())
            }
        }
    }

    fn basin_state(&mut self, node: &'g GraphNode<'v>) -> Option<BasinState> {
        let (word, at) = self.word(node, "spxi:basinState")?;
        let found = BasinState::of_word(&word);
        if found.is_none() {
            let hint = match word.as_str() {
                // Keywords from other documents of the authors of SPXI (D72).
                "competitive" | "immanent" => {
                    ", a keyword of another scale; contested or sovereign may be meant"
                }
                "seedling" | "growing" | "mature" => ", a keyword of another scale",
                _ if BasinState::of_word(&word.to_ascii_lowercase()).is_some() => {
                    ", write it in lower case"
                }
                _ => "",
            };
            self.report(&rules::BASIN_WORD, at, &(quoted(&word) + hint));
        }
        found
    }

    fn bdr(&mut self, node: &'g GraphNode<'v>) -> Option<f64> {
        let member = node.member("spxi:bdrEstimate")?;
        let item = member.items.first()?;
        let (shown, found) = match &item.value {
            GraphValue::Number(number) => {
                let share = number.parse::<f64>().ok();
                ((*number).to_owned(), share.filter(|it| (0.0..=1.0).contains(it)))
            }
            GraphValue::Text(text) => (format!("{} is a string", quoted(text)), None),
            _ => (String::new(), None),
        };
        // Convert negative zero to zero.
        let found = found.map(|share| if share == 0.0 { 0.0 } else { share });
        if found.is_none() || 1 < member.items.len() {
            self.report(&rules::BDR_FORM, item.at, &shown);
            return None;
        }
        found
    }

    fn verification(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
    ) -> Option<(VerificationLevel, PlaceId)> {
        let (word, at) = self.word(node, name)?;
        if let Some(level) = VerificationLevel::of_word(&word) {
            return Some((level, at));
        }
        let mapped = VerificationLevel::of_packet_word(&word);
        let detail = match mapped {
            Some(level) => format!("{}, read as {}", quoted(&word), level.word()),
            None => quoted(&word),
        };
        self.report(&rules::VERIFICATION_WORD, at, &detail);
        mapped.map(|level| (level, at))
    }

    fn collisions(&mut self, node: &'g GraphNode<'v>) -> Vec<Collision> {
        let mut found = Vec::new();
        for idx in self.objects(node, "spxi:disambiguationMatrix", "spxi:DisambiguationEntry") {
            let Some(entry) = self.graph.node(idx) else { continue };
            self.class(entry, "spxi:DisambiguationEntry");
            let with = self.address(entry, "spxi:collidesWith").map(|(text, _)| text);
            if with.is_none() {
                self.report(&rules::COLLIDES_MISSING, entry.at, "");
            }
            let attribute = self.text(entry, "spxi:distinguishingAttribute").map(|(text, _)| text);
            if attribute.is_none() {
                self.report(&rules::ATTRIBUTE_MISSING, entry.at, "");
            }
            if entry.member("spxi:collisionRisk").is_none_or(|it| it.items.is_empty()) {
                self.report(&rules::RISK_MISSING, entry.at, "");
            }
            let risk = self.word(entry, "spxi:collisionRisk").and_then(|(word, at)| {
                let risk = CollisionRisk::of_word(&word);
                if risk.is_none() {
                    self.report(&rules::RISK_WORD, at, &quoted(&word));
                }
                risk
            });
            found.push(Collision { with, attribute, risk });
        }
        if node.member("spxi:disambiguationMatrix").is_none() {
            // Packets in the other published form only name the other entities.
            for item in node.member("differentFrom").map_or(&[][..], |it| &it.items) {
                let name = match &item.value {
                    GraphValue::Text(text) => Some(text.to_string()),
                    GraphValue::Node(idx) => self.graph.node(*idx).and_then(|other| {
                        let name = other.member("name").and_then(|it| it.items.first());
                        let name = name.and_then(literal).map(str::to_owned);
                        other.id.as_ref().map(|(id, _)| id.to_string()).or(name)
                    }),
                    _ => None,
                };
                found.extend(
                    name.map(|with| Collision { with: Some(with), ..Collision::default() }),
                );
            }
        }
        found
    }

    fn surface(&mut self, node: &'g GraphNode<'v>) -> Surface {
        if !node.types.iter().any(|kind| schema_types::is_subtype(kind, "WebPage")) {
            self.wrong_class(node);
        }
        let protects = self.addresses(node, "spxi:protectsEntity");
        Surface {
            id: node.id.as_ref().map(|(id, _)| id.to_string()),
            name: self.text(node, "name").map(|(text, _)| text),
            surface_type: self.text(node, "spxi:surfaceType").map(|(text, _)| text),
            function: self.text(node, "spxi:semanticFunction").map(|(text, _)| text),
            protects: protects.into_iter().map(|(text, _)| text).collect(),
            modified: self.modified(node).0,
        }
    }

    fn party(&mut self, node: &'g GraphNode<'v>, name: &str) -> Option<Party> {
        let item = node.member(name)?.items.first()?;
        match &item.value {
            GraphValue::Text(text) => {
                Some(Party { name: Some(text.to_string()), ..Party::default() })
            }
            GraphValue::Node(idx) => {
                let node = self.graph.node(self.followed(*idx, ""))?;
                Some(Party {
                    kind: node.types.first().map(ToString::to_string),
                    id: node.id.as_ref().map(|(id, _)| id.to_string()),
                    name: self.text(node, "name").map(|(text, _)| text),
                    url: self.address(node, "url").map(|(text, _)| text),
                    identifier: self.address(node, "identifier").map(|(text, _)| text),
                })
            }
            _ => {
                self.report(&rules::MEMBER_FORM, item.at, "");
                None
            }
        }
    }

    /// Returns the date of the last change and its position in the document.
    pub(crate) fn modified(
        &mut self,
        node: &'g GraphNode<'v>,
    ) -> (Option<ModifiedDate>, Option<PlaceId>) {
        let Some((text, at)) = self.text(node, "dateModified") else {
            return (None, node.member("dateModified").map(|member| member.at));
        };
        let found = ModifiedDate::parse(&text);
        if found.is_none() {
            self.report(&rules::MODIFIED_FORM, at, &quoted(&text));
        }
        (found, Some(at))
    }

    fn class(&mut self, node: &'g GraphNode<'v>, class: &str) {
        if !node.is_a(class) {
            self.wrong_class(node);
        }
    }

    fn wrong_class(&mut self, node: &'g GraphNode<'v>) {
        let types: Vec<String> = node.types.iter().take(3).map(|it| quoted(it)).collect();
        let detail = if types.is_empty() { "no type".to_owned() } else { types.join(", ") };
        self.report(&rules::NODE_TYPE, node.at, &detail);
    }

    /// Returns the objects that are the values of a member. References are resolved.
    pub(crate) fn objects(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
        class: &str,
    ) -> Vec<usize> {
        let Some(member) = node.member(name) else { return Vec::new() };
        if name != "spxi:siteKernel" {
            self.single(member);
        }
        let mut found = Vec::with_capacity(member.items.len());
        for item in &member.items {
            match &item.value {
                GraphValue::Node(idx) => found.push(self.followed(*idx, class)),
                _ => self.report(&rules::MEMBER_FORM, item.at, "expected an object"),
            }
        }
        found
    }

    /// Returns the object that a reference points to; without such an object, the reference itself.
    fn followed(&mut self, idx: usize, class: &str) -> usize {
        if !self.graph.is_reference(idx) {
            return idx;
        }
        let graph = self.graph;
        let by_id = self.by_id.get_or_insert_with(|| graph.by_id());
        let Some((id, _)) = graph.node(idx).and_then(|node| node.id.as_ref()) else { return idx };
        let others = by_id.get(id.as_ref()).map_or(&[][..], Vec::as_slice);
        let is_of = |idx: &&usize| graph.node(**idx).is_some_and(|node| node.is_a(class));
        let Some(other) = others.iter().find(is_of).or(others.first()) else { return idx };
        // Many references to one large object would exhaust the memory.
        let n_times = self.followed.entry(*other).or_default();
        *n_times += 1;
        if *n_times <= MAX_FOLLOWED { *other } else { idx }
    }

    /// Reports a single value where the specification requires a list.
    fn single(&mut self, member: &GraphMember<'v>) {
        if !member.is_list {
            self.report(&rules::NOT_A_LIST, member.at, "");
        }
    }

    /// Returns the text of a member that has a single value. An empty text counts as missing.
    pub(crate) fn text(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
    ) -> Option<(String, PlaceId)> {
        self.one(node, name, literal)
    }

    /// Returns the text of a member, or the address of the object that is its value.
    pub(crate) fn address(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
    ) -> Option<(String, PlaceId)> {
        let graph = self.graph;
        self.one(node, name, |item| address(graph, item))
    }

    /// Returns the enumeration keyword of a member. An empty keyword is invalid, not missing.
    fn word(&mut self, node: &'g GraphNode<'v>, name: &str) -> Option<(String, PlaceId)> {
        let graph = self.graph;
        let found = self.address(node, name);
        found.or_else(|| {
            let items = node.member(name).map_or(&[][..], |it| &it.items);
            items.iter().find_map(|it| Some((address(graph, it)?.to_owned(), it.at)))
        })
    }

    fn one(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
        take: impl Fn(&'g GraphItem<'v>) -> Option<&'g str>,
    ) -> Option<(String, PlaceId)> {
        let member = node.member(name)?;
        let mut found: Option<(String, PlaceId)> = None;
        for item in &member.items {
            match (take(item), &found) {
                (Some(text), None) if !text.trim().is_empty() => {
                    found = Some((text.to_owned(), item.at));
                }
                (Some(text), None) if text.trim().is_empty() => {}
                (Some(_), _) => {
                    self.report(&rules::MEMBER_FORM, item.at, "expected one value");
                    break;
                }
                (None, _) => self.report(&rules::MEMBER_FORM, item.at, ""),
            }
        }
        found
    }

    /// Returns all texts of a member.
    pub(crate) fn texts(&mut self, node: &'g GraphNode<'v>, name: &str) -> Vec<(String, PlaceId)> {
        self.many(node, name, literal)
    }

    /// Returns all texts of a member, and the addresses of its objects.
    pub(crate) fn addresses(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
    ) -> Vec<(String, PlaceId)> {
        let graph = self.graph;
        self.many(node, name, |item| address(graph, item))
    }

    fn many(
        &mut self,
        node: &'g GraphNode<'v>,
        name: &str,
        take: impl Fn(&'g GraphItem<'v>) -> Option<&'g str>,
    ) -> Vec<(String, PlaceId)> {
        let Some(member) = node.member(name) else { return Vec::new() };
        if name.ends_with(":negativeTag") || name.ends_with(":semanticIntegrityMarker") {
            self.single(member);
        }
        let mut found = Vec::with_capacity(member.items.len());
        for item in &member.items {
            match take(item) {
                Some(text) if !text.trim().is_empty() => found.push((text.to_owned(), item.at)),
                Some(_) => self.report(&rules::MEMBER_FORM, item.at, "the text is empty"),
                None => self.report(&rules::MEMBER_FORM, item.at, ""),
            }
        }
        found
    }

    fn extra(
        &mut self,
        node: &'g GraphNode<'v>,
        is_known: impl Fn(&str) -> bool,
    ) -> Vec<(String, JsonTree)> {
        let others = node.members.iter().filter(|member| !is_known(&member.name));
        others.map(|member| (member.name.to_string(), self.graph.tree(member))).collect()
    }
}

const OF_KERNEL: [&str; 2] = ["spxi:compressionSurvivalSummary", "spxi:kernelSpecification"];

fn literal<'g>(item: &'g GraphItem<'_>) -> Option<&'g str> {
    if let GraphValue::Text(text) = &item.value { Some(text) } else { None }
}

fn address<'g>(graph: &'g JsonLdGraph<'_>, item: &'g GraphItem<'_>) -> Option<&'g str> {
    match &item.value {
        GraphValue::Text(text) => Some(text),
        GraphValue::Node(idx) => graph.node(*idx)?.id.as_ref().map(|(id, _)| id.as_ref()),
        _ => None,
    }
}
