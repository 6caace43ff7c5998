//! Reads an index leniently: repairs malformed members whose meaning is clear.
//!
//! Input: bytes, parsed into a [`JsonLdGraph`]. Output: the index, and findings for malformed or
//! missing members with their positions. Never accesses the network.
//!
//! Rejects documents that do not declare that they are an index.

mod entity;
mod members;
pub(crate) mod places;

use std::collections::HashMap;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule, quoted};

use self::places::{IndexPositions, KernelPositions};
use crate::graph::{GraphNode, GraphValue, JsonLdGraph};
use crate::index::{Kernel, ModifiedDate, Party, SemanticIndex, Surface};
use crate::json::{self, JsonValue};
use crate::place::PlaceId;
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

/// Finds and reads the index in a document.
pub(crate) fn index_of(
    graph: &JsonLdGraph<'_>,
    document: &JsonValue<'_>,
    sink: &mut dyn FindingSink,
) -> Result<(SemanticIndex, IndexPositions), Refusal> {
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

    fn index(&mut self, root: &'g GraphNode<'v>) -> (SemanticIndex, IndexPositions) {
        let mut index = SemanticIndex {
            id: root.id.as_ref().map(|(id, _)| id.to_string()),
            name: self.text(root, "name").map(|(text, _)| text),
            license: self.address(root, "license").map(|(text, _)| text),
            same_as: self.addresses(root, "sameAs").into_iter().map(|(text, _)| text).collect(),
            publisher: self.party(root, "publisher"),
            author: self.party(root, "author"),
            ..SemanticIndex::default()
        };
        let mut places = IndexPositions {
            root: Some(root.at),
            id: root.id.as_ref().map(|(_, at)| *at),
            ..IndexPositions::default()
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
        places: &mut IndexPositions,
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

    pub(crate) fn kernel(&mut self, node: &'g GraphNode<'v>) -> (Kernel, KernelPositions) {
        self.class(node, "spxi:HolographicKernel");
        let summary = self.text(node, "spxi:compressionSurvivalSummary");
        if summary.is_none() {
            self.report(&rules::SUMMARY_MISSING, node.at, "");
        }
        let specification = self.address(node, "spxi:kernelSpecification");
        let places = KernelPositions {
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
}

const OF_KERNEL: [&str; 2] = ["spxi:compressionSurvivalSummary", "spxi:kernelSpecification"];
