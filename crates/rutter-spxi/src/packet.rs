//! Page packets (D68). A packet repeats the claims of the index about an entity and adds details,
//! at a URL derived from the URL of its page.

use rutter_finding::{FindingSink, Place, Refusal, quoted};

use crate::address::page_key;
use crate::graph::{GraphValue, JsonLdGraph};
use crate::index::{Entity, Kernel, ModifiedDate};
use crate::json;
use crate::read::places::{EntityPositions, KernelPositions};
use crate::read::{IndexWalk, MAX_PACKET_BYTES};
use crate::rules;

/// A metadata packet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetadataPacket {
    /// `@id`: URL of the packet.
    pub id: Option<String>,
    /// `url`: URL of the page that the packet describes.
    pub page: Option<String>,
    /// `isPartOf`: URL of the index.
    pub index: Option<String>,
    /// `dateModified`: time of the last change of the packet.
    pub modified: Option<ModifiedDate>,
    /// `spxi:about`: the entities of the page, with the same claims as in the index.
    pub about: Vec<Entity>,
    /// `spxi:holographicKernel`: kernel of the page.
    pub kernel: Option<Kernel>,
    /// `spxi:faq`: questions with their answers.
    pub questions: Vec<PacketQuestion>,
}

/// A question about the page, and the answer of the site owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PacketQuestion {
    /// Text of the question.
    pub question: String,
    /// Text of the answer.
    pub answer: String,
}

/// Which packet to accept. If both fields are `None`, any packet is accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PacketSelector<'a> {
    /// URL of the page that the packet must describe.
    pub page: Option<&'a str>,
    /// URL that the packet was fetched from.
    pub packet: Option<&'a str>,
}

/// Reads a packet.
///
/// Accepts a packet object as in the specification, and an entity object without a packet. Rejects
/// any other document, including a packet of another page: many hosts answer every URL with some
/// document.
///
/// ```
/// # use rutter_spxi::{PacketSelector, read_packet};
/// let text = r#"{"@context": {"@vocab": "https://schema.org/",
///         "mp": "https://metadatapacket.org/vocabulary#"},
///     "@type": ["Person", "mp:IndexedEntity"], "@id": "https://harbour.example/ida",
///     "name": "Ida Holm", "mp:negativeTag": ["NOT the actress"],
///     "mp:semanticIntegrityMarker": ["keeper of the North Light", "wrote the tide book"]}"#;
/// let asked = PacketSelector { page: Some("https://harbour.example/ida"), packet: None };
/// let packet = read_packet(text.as_bytes(), &asked, &mut ()).unwrap();
/// assert_eq!(packet.about[0].entity_type.as_deref(), Some("Person"));
/// let other = PacketSelector { page: Some("https://harbour.example/bo"), packet: None };
/// assert!(read_packet(text.as_bytes(), &other, &mut ()).is_err());
/// ```
pub fn read_packet(
    bytes: &[u8],
    asked: &PacketSelector<'_>,
    sink: &mut dyn FindingSink,
) -> Result<MetadataPacket, Refusal> {
    let document = json::parse(bytes, MAX_PACKET_BYTES, sink)?;
    let graph = JsonLdGraph::build(&document, &rules::PACKET_CONTEXT_REMOTE, sink);
    Ok(packet_of(&graph, asked, sink)?.0)
}

/// Positions of the parts of a packet in its document.
#[derive(Debug, Default)]
pub(crate) struct PacketPositions {
    pub(crate) entities: Vec<EntityPositions>,
    pub(crate) kernel: KernelPositions,
}

/// Finds and reads the packet in a document.
pub(crate) fn packet_of(
    graph: &JsonLdGraph<'_>,
    asked: &PacketSelector<'_>,
    sink: &mut dyn FindingSink,
) -> Result<(MetadataPacket, PacketPositions), Refusal> {
    let of_class = |classes: &[&str]| {
        let is_of = |idx: &usize| {
            graph.node(*idx).is_some_and(|node| classes.iter().any(|class| node.is_a(class)))
        };
        graph.tops.iter().copied().find(is_of)
    };
    let whole = of_class(&["spxi:PagePacket"]);
    let found = whole.or_else(|| of_class(&["spxi:IndexedEntity", "mp:IndexedEntity"]));
    let Some((idx, root)) = found.and_then(|idx| Some((idx, graph.node(idx)?))) else {
        return Err(Refusal::new(&rules::NOT_A_PACKET, Place::WHOLE, ""));
    };
    let mut walk = IndexWalk::new(graph, sink);
    let id = root.id.as_ref().map(|(id, _)| id.to_string());
    let urls: Vec<String> = walk.addresses(root, "url").into_iter().map(|(url, _)| url).collect();
    let own: Vec<&str> = id.iter().chain(&urls).map(String::as_str).collect();
    if own.is_empty() {
        walk.report(&rules::PACKET_ID_MISSING, root.at, "");
    }
    let wanted: Vec<&str> = asked.page.into_iter().chain(asked.packet).collect();
    let is_same = |one: &str, other: &str| {
        one == other || page_key(one).is_some_and(|key| Some(key) == page_key(other))
    };
    let is_asked = own.iter().any(|own| wanted.iter().any(|wanted| is_same(own, wanted)));
    if !is_asked && !wanted.is_empty() {
        let shown: Vec<String> = own.iter().take(3).map(|own| quoted(own)).collect();
        let place = graph.place(root.at);
        return Err(Refusal::new(&rules::PACKET_OF_ANOTHER, place, shown.join(", ")));
    }
    let page = urls.iter().find(|url| asked.page.is_some_and(|page| is_same(url, page)));
    let page = page.or(urls.first()).cloned();
    let mut places = PacketPositions::default();
    let mut packet =
        MetadataPacket { id, page, modified: walk.modified(root).0, ..MetadataPacket::default() };
    let entities = match whole {
        Some(_) => walk.objects(root, "spxi:about", "spxi:IndexedEntity"),
        None => {
            packet.page = packet.page.or_else(|| packet.id.clone());
            vec![idx]
        }
    };
    for idx in entities {
        if let Some((entity, entity_seen)) = walk.entity(idx) {
            packet.about.push(entity);
            places.entities.push(entity_seen);
        }
    }
    if whole.is_some() {
        packet.index = walk.address(root, "isPartOf").map(|(text, _)| text);
    }
    let kernel = root.member("spxi:holographicKernel").and_then(|member| member.items.first());
    if let Some(GraphValue::Node(idx)) = kernel.map(|item| &item.value)
        && let Some(node) = graph.node(*idx)
    {
        let (kernel, kernel_seen) = walk.kernel(node);
        packet.kernel = Some(kernel);
        places.kernel = kernel_seen;
    }
    packet.questions = questions(&mut walk, graph, root);
    Ok((packet, places))
}

fn questions<'g, 'v>(
    walk: &mut IndexWalk<'g, 'v, '_>,
    graph: &'g JsonLdGraph<'v>,
    root: &'g crate::graph::GraphNode<'v>,
) -> Vec<PacketQuestion> {
    let mut found = Vec::new();
    for item in root.member("spxi:faq").map_or(&[][..], |member| &member.items) {
        let GraphValue::Node(idx) = &item.value else {
            walk.report(&rules::MEMBER_FORM, item.at, "expected an object");
            continue;
        };
        let Some(node) = graph.node(*idx) else { continue };
        let answer = node.member("acceptedAnswer").and_then(|member| member.items.first());
        let answer = match answer.map(|item| &item.value) {
            Some(GraphValue::Node(idx)) => graph.node(*idx).and_then(|it| walk.text(it, "text")),
            _ => None,
        };
        match (walk.text(node, "name"), answer) {
            (Some((question, _)), Some((answer, _))) => {
                found.push(PacketQuestion { question, answer });
            }
            _ => {
                walk.report(&rules::MEMBER_FORM, node.at, "expected a question and its answer");
            }
        }
    }
    found
}
