//! Reads an index as leniently as it can be understood.
//!
//! Bytes become a [`Graph`], the root is found in it, and its parts are taken
//! over; what has a wrong form or is missing goes to the sink with its place.
//!
//! Refuses: to fetch, to guess a member from another one's words, to take a
//! document for an index that nowhere says it is one.

use std::collections::HashMap;

use rutter_finding::{Finding, FindingSink, Place, Refusal, Rule, quoted};
use rutter_page::Tree;

use crate::graph::{At, Graph, Held, Item, Member, Node};
use crate::index::{Collision, Entity, Index, Kernel, Modified, Party, Surface, distinct};
use crate::json::{self, Value};
use crate::values::{BasinState, CollisionRisk, VerificationLevel};
use crate::{PROTOCOL, kinds, rules};

/// Largest index that is read, in bytes (D89).
pub const LARGEST_INDEX: usize = 5_000_000;
/// Largest packet that is read, in bytes (D89).
pub const LARGEST_PACKET: usize = 1_000_000;

/// Reads an index. What is missing is `None` or empty, and told; members
/// nobody knows are kept.
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
pub fn read_index(bytes: &[u8], sink: &mut dyn FindingSink) -> Result<Index, Refusal> {
    let document = json::parse(bytes, LARGEST_INDEX, sink)?;
    let graph = Graph::build(&document, &rules::CONTEXT_REMOTE, sink);
    Ok(index_of(&graph, &document, sink)?.0)
}

/// How often one object is taken over from the places that name it.
const MOST_FOLLOWED: usize = 16;

/// Where the parts of an index stand in the document.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) root: Option<At>,
    pub(crate) id: Option<At>,
    pub(crate) protocol_doi: Option<At>,
    pub(crate) modified: Option<At>,
    pub(crate) kernel: KernelSeen,
    pub(crate) entities: Vec<EntitySeen>,
    pub(crate) surfaces_at: Option<At>,
    pub(crate) surfaces: Vec<At>,
}

/// Where the parts of a kernel stand.
#[derive(Debug, Default)]
pub(crate) struct KernelSeen {
    pub(crate) at: Option<At>,
    pub(crate) summary: Option<At>,
    pub(crate) specification: Option<At>,
}

/// Where the parts of an entity stand.
#[derive(Debug)]
pub(crate) struct EntitySeen {
    pub(crate) node: usize,
    pub(crate) at: At,
    pub(crate) id: Option<At>,
    pub(crate) kind: Option<At>,
    pub(crate) tags_at: Option<At>,
    pub(crate) tags: Vec<At>,
    pub(crate) markers: Vec<At>,
    pub(crate) verification: Option<At>,
    pub(crate) packet: Option<At>,
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

/// Finds the index in a document and takes it over.
pub(crate) fn index_of(
    graph: &Graph<'_>,
    document: &Value<'_>,
    sink: &mut dyn FindingSink,
) -> Result<(Index, Seen), Refusal> {
    let mut walk = Walk::new(graph, sink);
    let is_index = |node: &Node<'_>| node.is_a("spxi:SemanticIndex");
    let is_like = |node: &Node<'_>| {
        node.types.iter().any(|it| it.ends_with("SemanticIndex"))
            || node.member("spxi:hasEntity").is_some()
            || node.member("spxi:siteKernel").is_some()
    };
    let is_kernel = |node: &Node<'_>| node.is_a("spxi:HolographicKernel");
    let tops = || graph.tops.iter().filter_map(|idx| graph.node(*idx));
    let root = tops()
        .find(|it| is_index(it))
        .or_else(|| tops().find(|it| is_like(it)))
        .or_else(|| tops().find(|it| is_kernel(it)));
    let Some(root) = root else {
        let is_object = matches!(document, Value::Map(_) | Value::List(_));
        let detail = if is_object { "" } else { "it is no object" };
        return Err(Refusal::new(&rules::NOT_AN_INDEX, Place::WHOLE, detail));
    };
    if graph.is_list {
        walk.report(&rules::ROOT_LIST, At::ROOT, "");
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

/// Goes through the parts.
pub(crate) struct Walk<'g, 'v, 's> {
    graph: &'g Graph<'v>,
    sink: &'s mut dyn FindingSink,
    by_id: Option<HashMap<&'g str, Vec<usize>>>,
    /// How often each object was followed to.
    followed: HashMap<usize, usize>,
}

impl<'g, 'v, 's> Walk<'g, 'v, 's> {
    pub(crate) fn new(graph: &'g Graph<'v>, sink: &'s mut dyn FindingSink) -> Self {
        Self { graph, sink, by_id: None, followed: HashMap::new() }
    }

    pub(crate) fn report(&mut self, rule: &'static Rule, at: At, detail: &str) {
        self.sink.report(Finding::new(rule, self.graph.place(at), detail));
    }

    fn index(&mut self, root: &'g Node<'v>) -> (Index, Seen) {
        let mut index = Index {
            id: root.id.as_ref().map(|(id, _)| id.to_string()),
            name: self.text(root, "name").map(|(text, _)| text),
            license: self.address(root, "license").map(|(text, _)| text),
            same_as: self.addresses(root, "sameAs").into_iter().map(|(text, _)| text).collect(),
            publisher: self.party(root, "publisher"),
            author: self.party(root, "author"),
            ..Index::default()
        };
        let mut seen = Seen {
            root: Some(root.at),
            id: root.id.as_ref().map(|(_, at)| *at),
            ..Seen::default()
        };
        (index.modified, seen.modified) = self.modified(root);
        if seen.modified.is_none() {
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
        seen.protocol_doi = doi.as_ref().map(|(_, at)| *at);
        index.protocol_doi = doi.map(|(doi, _)| doi);
        self.kernel_of_index(root, &mut index, &mut seen);
        for idx in self.objects(root, "spxi:hasEntity", "spxi:IndexedEntity") {
            if let Some((entity, entity_seen)) = self.entity(idx) {
                index.entities.push(entity);
                seen.entities.push(entity_seen);
            }
        }
        // A list of nothing is as good as none.
        let entities = root.member("spxi:hasEntity");
        if entities.is_none_or(|it| it.items.is_empty()) {
            let at = entities.map_or(root.at, |it| it.at);
            self.report(&rules::ENTITIES_MISSING, at, "");
        }
        seen.surfaces_at = root.member("spxi:hasSurface").map(|member| member.at);
        if seen.surfaces_at.is_none() {
            self.report(&rules::SURFACES_MISSING, root.at, "");
        }
        for idx in self.objects(root, "spxi:hasSurface", "WebPage") {
            if let Some(node) = self.graph.node(idx) {
                index.surfaces.push(self.surface(node));
                seen.surfaces.push(node.at);
            }
        }
        let is_kernel = root.is_a("spxi:HolographicKernel");
        let is_known =
            |name: &str| OF_INDEX.contains(&name) || (is_kernel && OF_KERNEL.contains(&name));
        index.extra = self.extra(root, is_known);
        (index, seen)
    }

    fn kernel_of_index(&mut self, root: &'g Node<'v>, index: &mut Index, seen: &mut Seen) {
        let kernels = self.objects(root, "spxi:siteKernel", "spxi:HolographicKernel");
        let node = match kernels.first() {
            Some(first) => self.graph.node(*first),
            None => {
                if root.member("spxi:siteKernel").is_none_or(|it| it.items.is_empty()) {
                    self.report(&rules::KERNEL_MISSING, root.at, "");
                }
                // Deployed: a kernel alone.
                root.is_a("spxi:HolographicKernel").then_some(root)
            }
        };
        if let Some(second) = kernels.get(1).and_then(|idx| self.graph.node(*idx)) {
            self.report(&rules::MEMBER_FORM, second.at, "there is one kernel for a site");
        }
        if let Some(node) = node {
            let (kernel, kernel_seen) = self.kernel(node);
            index.kernel = Some(kernel);
            seen.kernel = kernel_seen;
        }
    }

    pub(crate) fn kernel(&mut self, node: &'g Node<'v>) -> (Kernel, KernelSeen) {
        self.class(node, "spxi:HolographicKernel");
        let summary = self.text(node, "spxi:compressionSurvivalSummary");
        if summary.is_none() {
            self.report(&rules::SUMMARY_MISSING, node.at, "");
        }
        let specification = self.address(node, "spxi:kernelSpecification");
        let seen = KernelSeen {
            at: Some(node.at),
            summary: summary.as_ref().map(|(_, at)| *at),
            specification: specification.as_ref().map(|(_, at)| *at),
        };
        let kernel = Kernel {
            summary: summary.map(|(text, _)| text),
            specification: specification.map(|(text, _)| text),
        };
        (kernel, seen)
    }

    /// An entity of an index or a packet, with what is missing told.
    pub(crate) fn entity(&mut self, idx: usize) -> Option<(Entity, EntitySeen)> {
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
            // A packet of the other form says it by its type.
            let by_type = node.types.iter().find(|it| is_packet && kinds::is_type(it));
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
        if n_markers < Entity::FEWEST_MARKERS {
            let detail = format!("{n_markers} of {}", Entity::FEWEST_MARKERS);
            self.report(&rules::MARKERS_FEW, markers_at.unwrap_or(node.at), &detail);
        }
        let verification =
            self.verification(node, either("spxi:verificationLevel", "mp:verificationLevel"));
        let packet = self.address(node, "spxi:packetRef");
        let texts = |all: Vec<(String, At)>| all.into_iter().map(|(text, _)| text).collect();
        let mut same_as: Vec<String> = texts(self.addresses(node, "sameAs"));
        let mut dois: Vec<String> = texts(self.addresses(node, "spxi:doi"));
        dois.retain(|doi| !same_as.contains(doi));
        same_as.extend(dois);
        let seen = EntitySeen {
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
        Some((entity, seen))
    }

    /// The name, and whether `name` says nothing more.
    fn entity_name(&mut self, node: &'g Node<'v>, is_packet: bool) -> (Option<String>, bool) {
        let canonical = self.text(node, "spxi:canonicalName");
        let plain = node.member("name").filter(|member| member.items.len() == 1);
        let plain = plain.and_then(|it| it.items.first()).and_then(|it| literal(it));
        match (canonical, plain) {
            (Some((name, _)), plain) => {
                let is_used = plain == Some(name.as_str());
                (Some(name), is_used)
            }
            (None, plain) => {
                let detail = plain.map(|_| "`name` stands in").unwrap_or_default();
                if !(is_packet && plain.is_some()) {
                    self.report(&rules::NAME_MISSING, node.at, detail);
                }
                (plain.map(str::to_owned), plain.is_some())
            }
        }
    }

    fn basin_state(&mut self, node: &'g Node<'v>) -> Option<BasinState> {
        let (word, at) = self.word(node, "spxi:basinState")?;
        let found = BasinState::of_word(&word);
        if found.is_none() {
            let hint = match word.as_str() {
                // Words of the authors' other documents (D72).
                "competitive" | "immanent" => {
                    ", a word of another scale; perhaps contested or sovereign"
                }
                "seedling" | "growing" | "mature" => ", a word of another scale",
                _ if BasinState::of_word(&word.to_ascii_lowercase()).is_some() => {
                    ", which is written in small letters"
                }
                _ => "",
            };
            self.report(&rules::BASIN_WORD, at, &(quoted(&word) + hint));
        }
        found
    }

    fn bdr(&mut self, node: &'g Node<'v>) -> Option<f64> {
        let member = node.member("spxi:bdrEstimate")?;
        let item = member.items.first()?;
        let (shown, found) = match &item.value {
            Held::Number(number) => {
                let share = number.parse::<f64>().ok();
                ((*number).to_owned(), share.filter(|it| (0.0..=1.0).contains(it)))
            }
            Held::Text(text) => (format!("{} is text", quoted(text)), None),
            _ => (String::new(), None),
        };
        // There is no negative zero in a share.
        let found = found.map(|share| if share == 0.0 { 0.0 } else { share });
        if found.is_none() || 1 < member.items.len() {
            self.report(&rules::BDR_FORM, item.at, &shown);
            return None;
        }
        found
    }

    fn verification(&mut self, node: &'g Node<'v>, name: &str) -> Option<(VerificationLevel, At)> {
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

    fn collisions(&mut self, node: &'g Node<'v>) -> Vec<Collision> {
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
            // Packets of the other form name the others only.
            for item in node.member("differentFrom").map_or(&[][..], |it| &it.items) {
                let name = match &item.value {
                    Held::Text(text) => Some(text.to_string()),
                    Held::Node(idx) => self.graph.node(*idx).and_then(|other| {
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

    fn surface(&mut self, node: &'g Node<'v>) -> Surface {
        if !node.types.iter().any(|kind| kinds::is_subtype(kind, "WebPage")) {
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

    fn party(&mut self, node: &'g Node<'v>, name: &str) -> Option<Party> {
        let item = node.member(name)?.items.first()?;
        match &item.value {
            Held::Text(text) => Some(Party { name: Some(text.to_string()), ..Party::default() }),
            Held::Node(idx) => {
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

    /// When it changed, and where that stands.
    pub(crate) fn modified(&mut self, node: &'g Node<'v>) -> (Option<Modified>, Option<At>) {
        let Some((text, at)) = self.text(node, "dateModified") else {
            return (None, node.member("dateModified").map(|member| member.at));
        };
        let found = Modified::parse(&text);
        if found.is_none() {
            self.report(&rules::MODIFIED_FORM, at, &quoted(&text));
        }
        (found, Some(at))
    }

    fn class(&mut self, node: &'g Node<'v>, class: &str) {
        if !node.is_a(class) {
            self.wrong_class(node);
        }
    }

    fn wrong_class(&mut self, node: &'g Node<'v>) {
        let types: Vec<String> = node.types.iter().take(3).map(|it| quoted(it)).collect();
        let detail = if types.is_empty() { "no type".to_owned() } else { types.join(", ") };
        self.report(&rules::NODE_TYPE, node.at, &detail);
    }

    /// The objects of a member; one that is only named is looked up.
    pub(crate) fn objects(&mut self, node: &'g Node<'v>, name: &str, class: &str) -> Vec<usize> {
        let Some(member) = node.member(name) else { return Vec::new() };
        if name != "spxi:siteKernel" {
            self.single(member);
        }
        let mut found = Vec::with_capacity(member.items.len());
        for item in &member.items {
            match &item.value {
                Held::Node(idx) => found.push(self.followed(*idx, class)),
                _ => self.report(&rules::MEMBER_FORM, item.at, "an object is expected"),
            }
        }
        found
    }

    /// The object that a mere name stands for, where the document has it.
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
        // A large object that is named from everywhere would fill memory.
        let n_times = self.followed.entry(*other).or_default();
        *n_times += 1;
        if *n_times <= MOST_FOLLOWED { *other } else { idx }
    }

    /// Tells of a single value where the specification shows a list.
    fn single(&mut self, member: &Member<'v>) {
        if !member.is_list {
            self.report(&rules::NOT_A_LIST, member.at, "");
        }
    }

    /// The only text of a member; an empty one is none.
    pub(crate) fn text(&mut self, node: &'g Node<'v>, name: &str) -> Option<(String, At)> {
        self.one(node, name, literal)
    }

    /// A text or the address of an object.
    pub(crate) fn address(&mut self, node: &'g Node<'v>, name: &str) -> Option<(String, At)> {
        let graph = self.graph;
        self.one(node, name, |item| address(graph, item))
    }

    /// A word of an enumeration; an empty one is a wrong word, not none.
    fn word(&mut self, node: &'g Node<'v>, name: &str) -> Option<(String, At)> {
        let graph = self.graph;
        let found = self.address(node, name);
        found.or_else(|| {
            let items = node.member(name).map_or(&[][..], |it| &it.items);
            items.iter().find_map(|it| Some((address(graph, it)?.to_owned(), it.at)))
        })
    }

    fn one(
        &mut self,
        node: &'g Node<'v>,
        name: &str,
        take: impl Fn(&'g Item<'v>) -> Option<&'g str>,
    ) -> Option<(String, At)> {
        let member = node.member(name)?;
        let mut found: Option<(String, At)> = None;
        for item in &member.items {
            match (take(item), &found) {
                (Some(text), None) if !text.trim().is_empty() => {
                    found = Some((text.to_owned(), item.at));
                }
                (Some(text), None) if text.trim().is_empty() => {}
                (Some(_), _) => {
                    self.report(&rules::MEMBER_FORM, item.at, "one value is expected");
                    break;
                }
                (None, _) => self.report(&rules::MEMBER_FORM, item.at, ""),
            }
        }
        found
    }

    /// All texts of a member.
    pub(crate) fn texts(&mut self, node: &'g Node<'v>, name: &str) -> Vec<(String, At)> {
        self.many(node, name, literal)
    }

    /// All texts of a member, or addresses of objects.
    pub(crate) fn addresses(&mut self, node: &'g Node<'v>, name: &str) -> Vec<(String, At)> {
        let graph = self.graph;
        self.many(node, name, |item| address(graph, item))
    }

    fn many(
        &mut self,
        node: &'g Node<'v>,
        name: &str,
        take: impl Fn(&'g Item<'v>) -> Option<&'g str>,
    ) -> Vec<(String, At)> {
        let Some(member) = node.member(name) else { return Vec::new() };
        if name.ends_with(":negativeTag") || name.ends_with(":semanticIntegrityMarker") {
            self.single(member);
        }
        let mut found = Vec::with_capacity(member.items.len());
        for item in &member.items {
            match take(item) {
                Some(text) if !text.trim().is_empty() => found.push((text.to_owned(), item.at)),
                Some(_) => self.report(&rules::MEMBER_FORM, item.at, "it is empty"),
                None => self.report(&rules::MEMBER_FORM, item.at, ""),
            }
        }
        found
    }

    fn extra(
        &mut self,
        node: &'g Node<'v>,
        is_known: impl Fn(&str) -> bool,
    ) -> Vec<(String, Tree)> {
        let others = node.members.iter().filter(|member| !is_known(&member.name));
        others.map(|member| (member.name.to_string(), self.graph.tree(member))).collect()
    }
}

const OF_KERNEL: [&str; 2] = ["spxi:compressionSurvivalSummary", "spxi:kernelSpecification"];

fn literal<'g>(item: &'g Item<'_>) -> Option<&'g str> {
    if let Held::Text(text) = &item.value { Some(text) } else { None }
}

fn address<'g>(graph: &'g Graph<'_>, item: &'g Item<'_>) -> Option<&'g str> {
    match &item.value {
        Held::Text(text) => Some(text),
        Held::Node(idx) => graph.node(*idx)?.id.as_ref().map(|(id, _)| id.as_ref()),
        _ => None,
    }
}
